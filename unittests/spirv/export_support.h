/* Programs that tests build or read from files.  They are written as SPIR-V, validated by spirv-val, and run on the interpreter
 * and, if there is a device, on Vulkan.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_SUPPORT_H
#define EXPORT_SUPPORT_H

#include "../test.h"

#include "vyre/ir.h"
#include "vyre/run.h"
#include "vyre/spirv.h"
#include "vyre/target.h"

#define EXPORT_INVOCATIONS 16u  /* four workgroups of four */
#define EXPORT_SLOTS       256u /* words of input and of output for each invocation */
#define EXPORT_WORDS       (EXPORT_INVOCATIONS * EXPORT_SLOTS)
#define EXPORT_BINDINGS    3u

#define U32  VYRE_TYPE(VYRE_U32, 1)
#define I32  VYRE_TYPE(VYRE_I32, 1)
#define F32  VYRE_TYPE(VYRE_F32, 1)
#define BOOL VYRE_TYPE(VYRE_BOOL, 1)

/* The treatment of denormals that is allowed to a device that is not a processor.  Processors keep denormals. */
typedef enum export_denormals {
  EXPORT_DENORMALS_FLUSHED, /* kept, or flushed as by the interpreter */
  EXPORT_DENORMALS_KEPT,    /* the same, but kept if the module has DenormPreserve */
  EXPORT_DENORMALS_ALIKE,   /* also any zero or denormal for another one: some lanes may be flushed */
} export_denormals;

/* A word of output, and the rules by which it is compared. */
typedef struct export_slot {
  uint32_t tolerance; /* largest difference of floats in the last place; UINT32_MAX if the word is not compared */
  bool zeros_agree;   /* whether -0 equals +0: Vulkan promises neither without SignedZeroInfNanPreserve */
  /* For a device that is not a processor, to which Vulkan allows more ("Precision and Operation of SPIR-V Instructions"): */
  uint32_t device_tolerance; /* as `tolerance` */
  export_denormals denormals;
  uint32_t fixed;    /* 1 + the number of the word that is 0 if any result is allowed, or 0 if there is no such word */
  uint32_t bits;     /* width of the float: 16, 32 (also of other values), or 64 with the next word, whose own bits are 0 */
  const char *label; /* name of the op for messages */
} export_slot;

/* The bytes of bindings 0, 1 and 2 of set 0. */
typedef struct export_memory {
  uint32_t words[EXPORT_BINDINGS][EXPORT_WORDS];
} export_memory;

/* A module with one program.  Its buffers `in` and `out`, u32[], have bindings 0 and 1; `base` is the first word of the
 * invocation in both. */
typedef struct export_case {
  vyre_module *module;
  vyre_builder b;
  vyre_row program, in, out, gid, base;
  uint32_t workgroup[3], groups;
  uint32_t sizes[EXPORT_BINDINGS]; /* in bytes, or 0 for all words */
  uint32_t loads, stores;          /* used words of `in` and `out` */
  export_slot to_come;             /* template of the next outputs' slots; their `bits` and `fixed` are set separately */
  uint32_t fixed;                  /* `fixed` of the next slots, set by export_fixed_where */
  bool not_on_device;              /* the device lacks something that the program needs */
  bool interpreted;                /* only interpreted, because the device runs similar cases */
  bool may_lack;                   /* the device may lack something, which its compiler reports */
  bool has_domain;                 /* some functions are undefined outside a domain in strict programs too */
  export_slot slots[EXPORT_SLOTS];
  vyre_bytes code; /* set by export_write */
} export_case;

/* Begins a case with workgroups of four invocations.  `mode` is 0 for strict, or VYRE_PROGRAM_RELAXED. */
void export_open(export_case *c, uint32_t mode);
/* Begins a case with one workgroup of all invocations, for subgroup rows. */
void export_open_wide(export_case *c, uint32_t mode);
/* Returns the open device, or one with all operations if there is none. */
const vyre_device_info *export_device(void);
void export_close(export_case *c);
/* Loads a value from the next input words.  A bool is true if its word is not zero. */
vyre_row export_input(export_case *c, vyre_type type);
/* Stores a value in the next output words. */
void export_output(export_case *c, vyre_row value);
/* Applies to the next outputs, which have as many lanes as `where`: if a lane of `where` is false, a device that is not a
 * processor may compute any value there.  VYRE_NONE ends the effect. */
void export_fixed_where(export_case *c, vyre_row where);
vyre_row export_u32(export_case *c, uint32_t value);
void export_must(vyre_status status);
/* Seals, verifies and writes the module, and validates the written one. */
void export_write(export_case *c);
/* Calls export_write, runs the program everywhere, and compares.  If `words` is NULL, the inputs are edge cases. */
void export_run(export_case *c, const uint32_t *words);
/* Interprets the program on a copy of `in`, with the device's subgroup size.  Returns an error if the program has buffers outside
 * of export_memory. */
vyre_status export_interpret(const export_case *c, const export_memory *in, export_memory *out, vyre_interp_options options);
/* Runs the written module on the interpreter and on the device, and compares. */
void export_run_everywhere(export_case *c, const export_memory *in, const export_memory *expected);
/* Returns how often an opcode occurs in the written module. */
uint32_t export_count(const export_case *c, uint32_t opcode);
/* Returns whether vyre's SPIR-V writer wrote the module, so that its opcodes can be counted. */
bool export_is_direct(void);
/* Opens and closes the Vulkan device for all tests of a program. */
int export_device_open(void **state);
int export_device_close(void **state);
/* Runs spirv-val, and prints the module if it is invalid. */
void export_validate(const vyre_bytes *code);

#endif
