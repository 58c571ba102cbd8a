/* Lowering of a program to a table (table.h).
 *
 *   lower.c          registers, constants, labels; allocates the registers and writes the table
 *   lower_control.c  regions, jumps, barriers
 *   lower_memory.c   buffers, paths, loads, stores, copies, atomics
 *   lower_rows.c     rows that compute on one lane
 *   lower_vectors.c  functions on vectors and matrices
 *   lower_groups.c   subgroup rows
 *
 * A value is a list of operands, one for each lane, or for a tuple those of each part.  Rows that only arrange lanes have no code.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_RUNTIME_LOWER_H
#define VYRE_RUNTIME_LOWER_H

#include "codegen/common/common.h"
#include "table.h"
#include "vyre/dot.h"

/* An operand while a table is made: a register, not yet allocated, or a word of the pool. */
typedef uint32_t operand;
#define OPERAND_POOL 0x80000000u
#define OPERAND_HIGH 0x40000000u /* the upper half of a register with 64 bits */

typedef uint32_t label; /* of an instruction */

typedef struct instruction {
  uint32_t op; /* with flags */
  operand to, x, y, z;
  uint32_t i, j, k;
} instruction;

/* A register is live from its first to its last instruction. */
typedef struct virtual_register {
  uint32_t first, last, slot;
  bool is_wide;
} virtual_register;

/* A list that grows. */
typedef struct list {
  void *items;
  uint32_t count, capacity;
} list;

typedef struct frame {
  struct frame *outer;
  uint32_t row; /* the construct, or 0 for the program */
  bool is_loop;
  label end, again; /* for `break` and `leave`; for `continue` and `fallthrough` */
} frame;

typedef struct lowerer {
  code_writer w;
  const vyre_view *v;
  uint32_t program, end;
  uint32_t subgroup, size[3], lanes;
  bool has_no_halves;
  uint32_t *values; /* by row - program: 1 plus the index of its first operand in `operands` */
  uint32_t *spot;   /* by row - program, of a buffer: 1 plus the word of its descriptor in the pool */
  list code, registers, operands, labels, pool;
  list loops; /* the first instruction of each open loop */
  list ends;  /* registers that are live until a loop ends: pairs of a register and the loop's number */
  list loop_ends;
  uint32_t privates, shared; /* words */
  uint32_t buffers;          /* that items bind */
} lowerer;

/* ---- lower.c ---- */
/* Appends an item to a list and returns its address.  Records an error if memory runs out and returns NULL. */
void *lower_push(lowerer *l, list *to, const void *item, size_t size);
bool lower_fail(lowerer *l, uint32_t row, const char *format, ...) VYRE_PRINTF(3, 4);
/* Returns the words of a constant in the pool. */
operand lower_constant(lowerer *l, uint64_t bits, bool is_wide);
static inline operand
lower_word(lowerer *l, uint32_t word)
{
  return lower_constant(l, word, false);
}
operand lower_high(operand low); /* the upper half of a wide operand */
operand lower_register(lowerer *l, bool is_wide);
/* Appends an instruction with a new register as result. */
operand lower_emit(lowerer *l, uint32_t op, bool is_wide, instruction how);
/* Appends an instruction that writes a register, or none if its op has no HAS_RESULT. */
void lower_append(lowerer *l, instruction how);
void lower_move(lowerer *l, operand to, operand from, bool is_wide);
operand lower_select(lowerer *l, operand condition, operand yes, operand no, bool is_wide);

label lower_label(lowerer *l);
void lower_place(lowerer *l, label at); /* places the label at the next instruction */
/* Emits a loop of `count` iterations that all active lanes make.  begin returns the operand with the iteration's number. */
typedef struct counted {
  operand index, count;
  label head, end;
} counted;
void lower_begin_loop(lowerer *l, operand count, counted *out);
void lower_end_loop(lowerer *l, counted *loop);
void lower_open(lowerer *l); /* the code up to lower_close is repeated */
void lower_close(lowerer *l);

/* Return the operand of a lane of a row; set the operands of a row. */
operand lower_lane(const lowerer *l, uint32_t row, uint32_t lane);
operand lower_part(const lowerer *l, uint32_t tuple, uint32_t part, uint32_t lane);
void lower_define(lowerer *l, uint32_t row, const operand *lanes, uint32_t count);
static inline bool
lower_is_wide(vyre_kind kind)
{
  return vyre_kind_bits(kind) == 64;
}

/* ---- lower_rows.c ---- */
/* Emits one lane of an op.  Operands that the op lacks are ignored. */
operand lower_op(lowerer *l, uint32_t row, uint32_t op, vyre_kind from, vyre_kind to, operand x, operand y, operand z);
static inline operand
lower_u32(lowerer *l, uint32_t op, operand x, operand y)
{
  const vyre_op_info *info = &vyre_op_infos[op];
  return lower_op(l, l->program, op, VYRE_U32, info->rule == VYRE_RULE_BOOL ? VYRE_BOOL : VYRE_U32, x, y, x);
}
/* Emits a row that computes on a lane, or rearranges lanes. */
void lower_value(lowerer *l, uint32_t row);
operand lower_lane_index(lowerer *l); /* the lane in the workgroup */

/* ---- lower_vectors.c ---- */
void lower_vector(lowerer *l, uint32_t row);

/* ---- lower_memory.c ---- */
bool lower_plan_memory(lowerer *l);  /* describes the buffers */
void lower_start_memory(lowerer *l); /* emits code that fills workgroup and private memory */
void lower_access(lowerer *l, uint32_t row);

/* ---- lower_control.c ---- */
void lower_program(lowerer *l);

/* ---- lower_groups.c ---- */
void lower_group(lowerer *l, uint32_t row);

/* ---- the table ---- */

enum { PROGRAM_MOST_BUFFERS = 64 };

/* A binding of the program: `count` buffers of an item from number `first` on. */
typedef struct program_slot {
  uint32_t set, binding, first, count;
  uint64_t least; /* bytes of each buffer, without an array of open length */
  bool is_push, is_uniform, is_read_only;
} program_slot;

typedef struct program_table {
  uint32_t *code;      /* owned */
  uint32_t *pool;      /* owned */
  program_slot *slots; /* owned */
  uint32_t length, pool_words, registers, lanes, privates, shared, buffers, slot_count;
  uint32_t size[3]; /* of a workgroup */
} program_table;

typedef struct program_lowering {
  uint32_t subgroup; /* lanes of a subgroup */
  const vyre_spec_value *specs;
  uint32_t spec_count;
  bool has_no_halves;        /* as in vyre_mega_form */
  uint32_t open_descriptors; /* as in vyre_mega_program_options */
} program_lowering;

/* Makes the table of a program of a sealed, verified module.  A relaxed program has the meaning of a strict one.  Errors (INPUT)
 * name the row that cannot be interpreted. */
VYRE_MUST_USE vyre_status program_lower(const vyre_module *module, vyre_row program, const program_lowering *how,
                                        program_table *out);
void program_table_free(program_table *table);

#endif
