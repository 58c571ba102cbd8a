/* A parsed module: an array of decoded instructions, and the functions and variables that they use.
 *
 * The registers of a function are slots from 0 on. Its constants (immediate values and addresses of variables) are the slots after
 * them, so that each source operand is a slot. A function has one frame, so recursion is rejected.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CUDA_SIM_PTX_MODULE_H
#define VYRE_CUDA_SIM_PTX_MODULE_H

#include "targets/cuda/sim/ptx.h"

/* Words of instructions. Types come first. */
typedef enum ptx_word {
  PTX_NO_WORD,
#define PTX_TYPE(id, bits, class) PTX_##id,
#define PTX_WORD(id, text, group) PTX_##id,
#include "targets/cuda/sim/ptx/words.def"
  PTX_WORD__COUNT
} ptx_word;

typedef enum ptx_class {
  PTX_CLASS_NONE,
  PTX_CLASS_PREDICATE,
  PTX_CLASS_BITS,
  PTX_CLASS_UNSIGNED,
  PTX_CLASS_SIGNED,
  PTX_CLASS_FLOAT,
  PTX_CLASS_PACKED, /* two f16, in registers of that type or of bits */
  PTX_CLASS_OTHER,  /* in registers of bits only */
  PTX_CLASS_PAIR,   /* two integers, in registers of integers or bits */
} ptx_class;

/* Returns the bits of a type, or 0 if the word is not a type. */
uint32_t ptx_bits(ptx_word type);
ptx_class ptx_class_of(ptx_word type);
const char *ptx_word_text(ptx_word word);

typedef struct ptx_insn ptx_insn;
/* Computes the results of one lane from its operands. Operands are zero-extended. Signed results are sign-extended; writing them to
 * a register truncates them. */
typedef void ptx_eval(const ptx_insn *insn, const uint64_t *s, uint64_t *d);

/* The kind of execution. All kinds but EVAL are more than a function of the operands. */
typedef enum ptx_action {
  PTX_DO_EVAL,
  PTX_DO_SPECIAL, /* mov of a special register */
  PTX_DO_LOAD,
  PTX_DO_STORE,
  PTX_DO_ATOM,
  PTX_DO_BRANCH,
  PTX_DO_TABLE, /* brx.idx */
  PTX_DO_CALL,
  PTX_DO_RETURN,
  PTX_DO_EXIT,
  PTX_DO_TRAP,
  PTX_DO_BARRIER, /* an arrival at a barrier of the block */
  PTX_DO_WARP,    /* a .sync instruction of lanes of a warp */
  PTX_DO_ACTIVE,
  PTX_DO_FENCE,
  PTX_DO_SLEEP,
  PTX_DO_NOTHING,
} ptx_action;

/* Operations that lanes of a warp execute together. */
typedef enum ptx_together {
  PTX_SYNC_NONE,
  PTX_SYNC_WAIT, /* bar.warp.sync */
  PTX_SYNC_SHUFFLE,
  PTX_SYNC_VOTE,
  PTX_SYNC_MATCH,
  PTX_SYNC_REDUCE,
  PTX_SYNC_ELECT,
} ptx_together;

/* A row of the instruction table: forms.def. */
typedef struct ptx_form {
  const char *name, *words, *operands;
  uint16_t version, sm;
  uint8_t action;
  uint8_t together;
  ptx_eval *eval;
} ptx_form;

#define PTX_NO_SLOT UINT32_MAX
enum { PTX_DESTINATIONS = 4, PTX_SOURCES = 6, PTX_WARP = 32 };

struct ptx_insn {
  ptx_eval *eval;
  uint64_t words[(PTX_WORD__COUNT + 63) / 64];
  uint8_t action, together;
  uint8_t type[3];    /* ptx_word: types in the order of the words */
  uint8_t what, with; /* ptx_word: the operation, such as a comparison, and a second one that combines with it */
  uint8_t round, space, order, scope;
  uint8_t vector; /* elements of a vector load or store, or 0 */
  uint8_t d_count, s_count;
  uint8_t negated; /* bit k: source k is a negated predicate */
  uint8_t d_bits[PTX_DESTINATIONS];
  bool is_leader; /* whether lanes can reach the instruction other than from the one before it */
  bool is_guarded, guard_is_negated;
  uint32_t guard;
  uint32_t d[PTX_DESTINATIONS]; /* registers, or PTX_NO_SLOT to discard the result */
  uint32_t s[PTX_SOURCES];      /* slots; the address of an access comes first */
  int64_t offset;               /* added to the address */
  uint32_t target;              /* branch: instruction; call: index of the ptx_call; table: first entry; SPECIAL: ptx_special */
  uint32_t target_count;
  uint32_t line;
};

static inline bool
ptx_has(const ptx_insn *insn, ptx_word word)
{
  return insn->words[word / 64] >> word % 64 & 1;
}

/* Special registers. */
typedef enum ptx_special {
#define PTX_SPECIAL(id, text, type, version, sm) PTX_SPECIAL_##id,
#include "targets/cuda/sim/ptx/specials.def"
  PTX_SPECIAL__COUNT
} ptx_special;

/* ---- variables, constants and functions ---------------------------------------------------------------------------------- */

typedef struct ptx_variable {
  const char *name;
  ptx_word space, type;
  uint64_t size, align;
  bool is_extern, is_array; /* extern shared variables are dynamic */
  bool is_kernel_parameter;
  uint32_t index;  /* in the module's globals or shared variables */
  uint32_t offset; /* in the kernel's parameters, or for other parameters and local variables in the function's lane memory */
  unsigned char *initial;
} ptx_variable;

typedef enum ptx_constant_kind {
  PTX_CONSTANT_VALUE,
  PTX_CONSTANT_GLOBAL, /* value + address of global `index` */
  PTX_CONSTANT_SHARED, /* value + offset of shared variable `index` */
  PTX_CONSTANT_LANE,   /* value + offset of the function's frame in a lane's memory */
} ptx_constant_kind;

typedef struct ptx_constant {
  ptx_constant_kind kind;
  uint32_t index;
  uint64_t value;
} ptx_constant;

/* A parameter or result of a call: a register, or bytes of a variable in a lane's memory. */
typedef struct ptx_passed {
  bool is_memory;
  uint8_t bits;
  uint32_t slot, offset, size;
} ptx_passed;

typedef struct ptx_function ptx_function;

typedef struct ptx_call {
  ptx_function *callee;
  uint32_t line;
  ptx_passed *arguments, *results;
  uint32_t argument_count, result_count;
} ptx_call;

struct ptx_function {
  const char *name;
  bool is_entry, has_body, is_visited;
  uint32_t index, line;
  uint32_t first, count; /* range of instructions */
  uint32_t register_count;
  uint8_t *register_types; /* ptx_word */
  ptx_constant *constants;
  uint32_t constant_count;
  uint32_t lane_bytes; /* local variables and parameters of calls */
  ptx_passed *parameters, *results;
  uint32_t parameter_count, result_count;
  uint32_t parameter_bytes; /* of a kernel */
  uint32_t required[3], most_threads;
  uint32_t *shared; /* owned: indices of the shared variables that the function uses */
  uint32_t shared_count;
  ptx_call *calls;
  uint32_t call_count;
};

typedef struct ptx_frame {
  bool is_reached;
  uint32_t register_base, lane_base;
} ptx_frame;

struct ptx_kernel {
  const ptx_module *module;
  const ptx_function *function;
  ptx_frame *frames;       /* for each function of the module */
  uint32_t *shared_offset; /* for each shared variable of the module */
  uint32_t register_slots, lane_bytes, lane_stride, call_depth;
  ptx_kernel_info info;
};

/* An allocation that is freed with the module. Its data follow. */
typedef struct ptx_chunk {
  struct ptx_chunk *next;
} ptx_chunk;

struct ptx_module {
  ptx_chunk *chunks;
  uint32_t version, sm;
  ptx_insn *code;
  uint32_t code_count, code_room;
  ptx_function **functions;
  uint32_t function_count, function_room;
  ptx_variable **shared;
  uint32_t shared_count, shared_room;
  ptx_global *globals;
  uint32_t global_count, global_room;
  uint32_t *tables; /* owned: target instructions of brx.idx */
  uint32_t table_count, table_room;
  ptx_kernel *kernels;
  uint32_t kernel_count;
};

/* Allocates zeroed memory that is freed with the module. Returns NULL if memory runs out. */
void *ptx_new(ptx_module *module, size_t size);

/* ---- addresses ----------------------------------------------------------------------------------------------------------- */

/* Windows of shared, local and parameter memory in generic addresses. All other addresses are device memory. Offsets of shared and
 * local memory begin above 0, so that a null pointer is invalid. */
#define PTX_SHARED_WINDOW UINT64_C(0x1000000000000000)
#define PTX_LOCAL_WINDOW  UINT64_C(0x2000000000000000)
#define PTX_PARAM_WINDOW  UINT64_C(0x3000000000000000)
#define PTX_WINDOW_SIZE   UINT64_C(0x0000000080000000)
enum { PTX_SHARED_START = 1024, PTX_LOCAL_START = 4096, PTX_LANE_PARAMETERS = 0x40000000 };

#endif
