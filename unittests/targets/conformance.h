/* The conformance suite: behavior of every target.  The source is linked against each target.  docs/targets.md describes its use.
 *
 * Tests share a target, because a driver may take long to open one.  They run in a separate process, which ends if a test fails or
 * crashes.  Later tests run in a new process.  A test with kernels runs once for each form of the target, other tests run once.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_CONFORMANCE_H
#define VYRE_UNITTESTS_CONFORMANCE_H

#include "../status.h"

#include "vyre/target.h"

/* The library of the target's options. */
#ifndef CONFORM_LIBRARY
#define CONFORM_LIBRARY NULL
#endif

/* Needs of a test beyond vyre_target_capability. */
enum {
  NEEDS_KERNELS = 1 << 16, /* kernels of some form */
  NEEDS_SPECS = 1 << 17,   /* specialization values, set when a kernel is compiled */
  NEEDS_FAULTS = 1 << 18,  /* a program that stops at a fault fails its submission */
  NEEDS_ITS_OWN = 1 << 19, /* a new target that no other test uses */
};

enum { NO_FORM = VYRE_KERNEL_FORM__COUNT };

/* The argument of a test. */
typedef struct conform {
  const vyre_target_ops *ops;
  vyre_target *target;
  vyre_device_info info;
  vyre_kernel_form form; /* form of the test's kernels, or NO_FORM if there are none */
} conform;

typedef struct conform_test {
  const char *name;
  void (*run)(conform *c);
  uint32_t needs;
} conform_test;

/* Defines a test and adds it to the suite. */
#define CONFORM(function, needs)                                \
  static void function(conform *c);                             \
  __attribute__((constructor)) static void add_##function(void) \
  {                                                             \
    conform_add((conform_test){#function, function, needs});    \
  }                                                             \
  static void function(conform *c)

void conform_add(conform_test test);

/* ---- conformance_help.c -------------------------------------------------------------------------------------------------- */

/* Asserts that the status has that code, and frees it.  The text must begin with the target's name, contain `word`, and have a
 * Fix line without options of a program. */
void refused(const conform *c, vyre_status status, vyre_code code, const char *word);
/* Returns the counter `name`. */
uint64_t metric(const conform *c, const char *name);

vyre_target *open_another(const conform *c);
vyre_device_buffer buffer_of(const conform *c, uint64_t size);
/* Returns a buffer with these words. */
vyre_device_buffer buffer_with(const conform *c, const uint32_t *words, uint32_t count);
/* Returns a buffer of `count` zero words. */
vyre_device_buffer buffer_of_zeros(const conform *c, uint32_t count);
vyre_range whole(vyre_device_buffer buffer);
vyre_range words_of(vyre_device_buffer buffer, uint32_t first, uint32_t count);
void read_words(const conform *c, vyre_device_buffer buffer, uint32_t *out, uint32_t count);

/* Entries of a sequence. */
#define FILLS(pointer, number)        .fills = (pointer), .fill_count = (number)
#define UPLOADS(pointer, number)      .uploads = (pointer), .upload_count = (number)
#define STEPS(pointer, number)        .steps = (pointer), .step_count = (number)
#define READS(pointer, number)        .reads = (pointer), .read_count = (number)
#define REPEATS(pointer, number, out) .repeats = (pointer), .repeat_count = (number), .ends = (out)

/* Submits the sequence, which must succeed. */
vyre_timing submit(const conform *c, vyre_sequence sequence);

/* A description of a program of the suite (kernels.vir, special.vir, grid.vir), in the vyre_kernel_form that the test uses. */
typedef struct conform_desc {
  vyre_kernel_desc desc;
  struct vyre_module *module;
  vyre_kernel_function function;
  vyre_kernel_program program;
  vyre_kernel_spec specs[4];
  vyre_bytes words; /* SPIR-V or PTX */
  char entry[32];   /* name of the PTX kernel */
} conform_desc;

void describe_kernel(const conform *c, const char *name, conform_desc *out);
void free_description(conform_desc *desc);
/* Compiles a program of the suite.  Its module stays until the process ends. */
vyre_kernel kernel_of(const conform *c, const char *name);
/* Returns a step with one buffer. */
vyre_step step_of(vyre_kernel kernel, const vyre_range *range, uint32_t groups);

#endif
