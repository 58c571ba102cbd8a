/* Programs made by tests, or of files: written as SPIR-V, accepted by spirv-val, and run on the interpreter and on Vulkan where
 * there is a device.
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

/* What a device that is no processor may make of denormals; others keep them. */
typedef enum export_denormals {
  EXPORT_DENORMALS_FLUSHED, /* what the interpreter makes of the program when it flushes them, too */
  EXPORT_DENORMALS_KEPT,    /* the same, but where the module says DenormPreserve */
  EXPORT_DENORMALS_ALIKE,   /* a zero or any of them for one of them, too: some of the lanes' are flushed */
} export_denormals;

/* A word of output, and what it is compared by. */
typedef struct export_slot {
  uint32_t tolerance; /* floats differ by at most so many in the last place; UINT32_MAX: outputs are not compared */
  bool zeros_agree;   /* -0 and +0 are one: Vulkan promises neither without SignedZeroInfNanPreserve */
  /* On a device that is no processor, where Vulkan leaves more open ("Precision and Operation of SPIR-V Instructions"): */
  uint32_t device_tolerance; /* as `tolerance` */
  export_denormals denormals;
  uint32_t fixed;    /* the number of a word and 1: where that is 0, anything; 0: there is none */
  uint32_t bits;     /* of the float: 16, 32 (and of what is none), 64 with the next word, whose own are 0 */
  const char *label; /* what a difference is reported under */
} export_slot;

/* The bytes of bindings 0, 1 and 2 of set 0. */
typedef struct export_memory {
  uint32_t words[EXPORT_BINDINGS][EXPORT_WORDS];
} export_memory;

/* A module with one program: buffers `in` and `out`, u32[], at bindings 0 and 1, and the first of the invocation's words in both.
 */
typedef struct export_case {
  vyre_module *module;
  vyre_builder b;
  vyre_row program, in, out, gid, base;
  uint32_t workgroup[3], groups;
  uint32_t sizes[EXPORT_BINDINGS]; /* in bytes; 0: of all words */
  uint32_t loads, stores;          /* words of `in` and `out` that are used */
  export_slot to_come;             /* what holds for the outputs to come, but `bits` and `fixed` */
  uint32_t fixed;                  /* export_fixed_where */
  bool not_on_device;              /* which lacks what the program needs */
  bool interpreted;                /* only: the device runs others of its kind */
  bool may_lack;                   /* likewise, which is known only when the device compiles it */
  bool has_domain;                 /* of functions, outside of which a strict program leaves open what it computes */
  export_slot slots[EXPORT_SLOTS];
  vyre_bytes code; /* after export_write */
} export_case;

/* mode: 0 strict, VYRE_PROGRAM_RELAXED.  Workgroups of four. */
void export_open(export_case *c, uint32_t mode);
/* One workgroup of all invocations, for what is done in subgroups. */
void export_open_wide(export_case *c, uint32_t mode);
/* The device at hand; one with all operations if there is none. */
const vyre_device_info *export_device(void);
void export_close(export_case *c);
/* The next input words as a value; bool: not zero. */
vyre_row export_input(export_case *c, vyre_type type);
/* A value to the next output words. */
void export_output(export_case *c, vyre_row value);
/* Of the outputs to come, which have as many lanes: where a lane of these bools is false, Vulkan leaves that of a device that is no
 * processor open.  VYRE_NONE: nowhere. */
void export_fixed_where(export_case *c, vyre_row where);
vyre_row export_u32(export_case *c, uint32_t value);
void export_must(vyre_status status);
/* Seals, writes, and has it validated. */
void export_write(export_case *c);
/* The same; then runs it wherever that can be, and compares.  `words` may be NULL: inputs are then made to be edge cases. */
void export_run(export_case *c, const uint32_t *words);
/* Interprets it over the bytes of `in`, which stay; options.subgroup is the device's.  An error if it has buffers that are not of
 * export_memory. */
vyre_status export_interpret(const export_case *c, const export_memory *in, export_memory *out, vyre_interp_options options);
/* Runs what was written wherever that can be, and compares. */
void export_run_everywhere(export_case *c, const export_memory *in, const export_memory *expected);
/* How often an opcode occurs in the written module. */
uint32_t export_count(const export_case *c, uint32_t opcode);
/* Whether that is what vyre's own SPIR-V writer wrote, whose opcodes can be counted. */
bool export_is_direct(void);
/* Opens and closes the Vulkan device for all tests of a program. */
int export_device_open(void **state);
int export_device_close(void **state);
/* spirv-val's verdict; prints the module if it is not accepted. */
void export_validate(const vyre_bytes *code);

#endif
