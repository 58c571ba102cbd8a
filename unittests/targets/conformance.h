/* The conformance suite: what every target does, one source linked against each.  docs/targets.md tells how to use it.
 *
 * Tests share a target, as a driver may take long to open one, in a process which is not the runner's and ends where one of them
 * fails or crashes: the next ones have another.  A test runs once for each form of kernel that the target takes; one without
 * kernels runs once.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_CONFORMANCE_H
#define VYRE_UNITTESTS_CONFORMANCE_H

#include "../status.h"

#include "vyre/target.h"

/* The library that targets are opened with. */
#ifndef CONFORM_LIBRARY
#define CONFORM_LIBRARY NULL
#endif

/* What a test needs beyond vyre_target_capability. */
enum {
  NEEDS_KERNELS = 1 << 16, /* any */
  NEEDS_SPECS = 1 << 17,   /* specialization values, given when a kernel is compiled */
  NEEDS_FAULTS = 1 << 18,  /* a program that stops at a fault fails its submission */
  NEEDS_ITS_OWN = 1 << 19, /* a target where nothing was done before it, and nothing is after */
};

enum { NO_FORM = VYRE_KERNEL_FORM__COUNT };

/* A test's own. */
typedef struct conform {
  const vyre_target_ops *ops;
  vyre_target *target;
  vyre_device_info info;
  vyre_kernel_form form; /* of its kernels; NO_FORM: it has none */
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

/* It failed with that code, its text has the target's name first, this word, and a Fix line without a program's options. */
void refused(const conform *c, vyre_status status, vyre_code code, const char *word);
/* The counter of that name. */
uint64_t metric(const conform *c, const char *name);

vyre_target *open_another(const conform *c);
vyre_device_buffer buffer_of(const conform *c, uint64_t size);
/* A buffer with these words. */
vyre_device_buffer buffer_with(const conform *c, const uint32_t *words, uint32_t count);
/* A buffer of zeros. */
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

/* A description of a program of the suite (kernels.vir, special.vir, grid.vir) in the test's form, to be freed.  `specs` may be
 * NULL. */
typedef struct conform_desc {
  vyre_kernel_desc desc;
  struct vyre_module *module;
  vyre_kernel_function function;
  vyre_kernel_program program;
  vyre_kernel_spec specs[4];
  vyre_bytes words; /* of SPIR-V, or the text of PTX */
  char entry[32];   /* of PTX */
} conform_desc;

void describe_kernel(const conform *c, const char *name, conform_desc *out);
void free_description(conform_desc *desc);
/* Compiled; its module stays until the process ends. */
vyre_kernel kernel_of(const conform *c, const char *name);
/* A step of one buffer. */
vyre_step step_of(vyre_kernel kernel, const vyre_range *range, uint32_t groups);

#endif
