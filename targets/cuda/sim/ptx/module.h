/* A parsed module: one dense array of decoded instructions, and what they name.
 *
 * Registers of a function are numbered from 0; slots after them are its constants (immediate values and addresses of variables), so
 * that each source operand is a slot.  A function has one frame: PTX that calls itself is refused.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CUDA_SIM_PTX_MODULE_H
#define VYRE_CUDA_SIM_PTX_MODULE_H

#include "targets/cuda/sim/ptx.h"

/* Words of instructions; types are the first of them. */
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
  PTX_CLASS_OTHER,  /* in registers of bits alone */
  PTX_CLASS_PAIR,   /* two integers, in registers of integers or bits */
} ptx_class;

/* Of a type; 0 of another word. */
uint32_t ptx_bits(ptx_word type);
ptx_class ptx_class_of(ptx_word type);
const char *ptx_word_text(ptx_word word);

typedef struct ptx_insn ptx_insn;
/* Results of one lane from its operands; values are zero-extended, or sign-extended for a wider register to cut. */
typedef void ptx_eval(const ptx_insn *insn, const uint64_t *s, uint64_t *d);

/* What an instruction is beside a function of its operands. */
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
  PTX_DO_BARRIER, /* of a block */
  PTX_DO_WARP,    /* .sync of some lanes of a warp */
  PTX_DO_ACTIVE,
  PTX_DO_FENCE,
  PTX_DO_SLEEP,
  PTX_DO_NOTHING,
} ptx_action;

/* Lanes of a warp that do one instruction together. */
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
  uint8_t what, with; /* the operation of several that the name has: a comparison, an atomic's, a shuffle's; and a second one */
  uint8_t round, space, order, scope;
  uint8_t vector; /* elements of a load or store */
  uint8_t d_count, s_count;
  uint8_t negated; /* bit k: source k is a predicate that is negated */
  uint8_t d_bits[PTX_DESTINATIONS];
  bool is_leader; /* lanes from elsewhere may come here */
  bool is_guarded, guard_is_negated;
  uint32_t guard;
  uint32_t d[PTX_DESTINATIONS]; /* registers; PTX_NO_SLOT: nowhere */
  uint32_t s[PTX_SOURCES];      /* slots; an access's address is the first */
  int64_t offset;               /* added to the address */
  uint32_t target;              /* of a branch; of a call: its record; of a table: its first entry; of SPECIAL: which */
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

/* ---- what instructions name ---------------------------------------------------------------------------------------------- */

typedef struct ptx_variable {
  const char *name;
  ptx_word space, type;
  uint64_t size, align;
  bool is_extern, is_array; /* extern shared: dynamic */
  bool is_kernel_parameter;
  uint32_t index;  /* of globals, or of the module's shared variables */
  uint32_t offset; /* of parameters and local ones: in the kernel's parameters, or in the function's part of a lane's memory */
  unsigned char *initial;
} ptx_variable;

typedef enum ptx_constant_kind {
  PTX_CONSTANT_VALUE,
  PTX_CONSTANT_GLOBAL, /* value + address of global `index` */
  PTX_CONSTANT_SHARED, /* value + offset of shared variable `index` */
  PTX_CONSTANT_LANE,   /* value + where this function's part of a lane's memory begins */
} ptx_constant_kind;

typedef struct ptx_constant {
  ptx_constant_kind kind;
  uint32_t index;
  uint64_t value;
} ptx_constant;

/* A value that a call hands over: a register, or bytes of a variable in a lane's memory. */
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
  uint32_t first, count; /* instructions */
  uint32_t register_count;
  uint8_t *register_types; /* ptx_word */
  ptx_constant *constants;
  uint32_t constant_count;
  uint32_t lane_bytes; /* local variables and parameters of calls */
  ptx_passed *parameters, *results;
  uint32_t parameter_count, result_count;
  uint32_t parameter_bytes; /* of a kernel */
  uint32_t required[3], most_threads;
  uint32_t *shared; /* indices of variables that it names */
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
  ptx_frame *frames;       /* of each function of the module */
  uint32_t *shared_offset; /* of each shared variable */
  uint32_t register_slots, lane_bytes, lane_stride, call_depth;
  ptx_kernel_info info;
};

/* Memory that goes with the module. */
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
  uint32_t *tables; /* brx.idx: instructions */
  uint32_t table_count, table_room;
  ptx_kernel *kernels;
  uint32_t kernel_count;
};

/* Zeroed; NULL: no memory is left. */
void *ptx_new(ptx_module *module, size_t size);

/* ---- addresses ----------------------------------------------------------------------------------------------------------- */

/* Where .shared and .local memory is among generic addresses; what else there is, is device memory.  Nothing is below the first
 * byte's offset, so that a null pointer is no address. */
#define PTX_SHARED_WINDOW UINT64_C(0x1000000000000000)
#define PTX_LOCAL_WINDOW  UINT64_C(0x2000000000000000)
#define PTX_PARAM_WINDOW  UINT64_C(0x3000000000000000)
#define PTX_WINDOW_SIZE   UINT64_C(0x0000000080000000)
enum { PTX_SHARED_START = 1024, PTX_LOCAL_START = 4096, PTX_LANE_PARAMETERS = 0x40000000 };

#endif
