/* Internals of the PTX generator.
 *
 *   write.c      the whole module, the head of a kernel, unsupported programs
 *   text.c       registers and instructions as text
 *   survey.c     used rows, floats whose bits are used, and wide constructs
 *   start.c      the start of a kernel: parameters, the block's workgroup, the program's own memory
 *   rows.c       dispatch of rows to their functions; composition, built-ins
 *   integers.c, bits.c, floats.c, convert.c, vectors.c, pack.c: arithmetic
 *   math/        functions without an instruction: singles.c of f32; exponents.c and angles.c of f64
 *   parts.c      remainders, exponents and signs of f64
 *   paths.c      locations as addresses and guards; memory.c, copies.c, atomics.c, barriers.c
 *   control.c    control flow of lanes that need not reconverge; wide.c: of lanes that must
 *   subgroups.c  subgroup operations
 *
 * A scalar is a register: bool a predicate, f16 .b16, a type of 64 bits .b64, all others .b32.  Integers of 8 and 16 bits are
 * zero-extended in a .b32, whatever their sign.  Signed uses extend the sign.  An f16 is computed as an f32 in a .b32 register
 * (`number`), and rounded once to the value.  This is exact for + - * / and sqrt.  A vector is a register for each lane, so
 * moving lanes needs no instruction.
 *
 * Lanes that must reconverge, for a subgroup operation, use masks.  `mask` is the register with a bit for each lane that
 * executes the rows being written.  The code never queries the hardware's active lanes, so results do not depend on the
 * schedule (wide.c).
 *
 * At most one argument of a call, and one element of an initializer, writes instructions or allocates registers, because C does
 * not define their order (lit-tests/house/order.py).  Other results go to local variables first.
 *
 * `status` keeps the first error.  Text written after it is discarded.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CODEGEN_PTX_INTERNAL_H
#define VYRE_CODEGEN_PTX_INTERNAL_H

#include "common.h"
#include "vyre/ir.h"
#include "vyre/ptx.h"
#include "vyre/view.h"

#include <string.h>

typedef enum reg_class {
  REG_NONE,
  REG_PRED,
  REG_16,
  REG_32,
  REG_64,
  REG__COUNT,
  REG_LITERAL = REG__COUNT, /* an integer's bits */
  REG_FLOAT,                /* an f32's bits, as a literal of PTX */
  REG_DOUBLE,
  REG_LABEL,
  REG_SPECIAL, /* %tid.x and the like, by index */
} reg_class;

/* An operand of an instruction. */
typedef struct reg {
  reg_class klass;
  uint32_t number;
  uint64_t bits;
} reg;

enum { TID_X, TID_Y, TID_Z, CTAID_X, CTAID_Y, CTAID_Z, NCTAID_X, NCTAID_Y, NCTAID_Z, LANEID };

/* Registers of a binding. */
typedef struct pgen_slot {
  reg base, bytes;
} pgen_slot;

typedef struct gen {
  const vyre_module *module;
  const vyre_view *v;
  const vyre_ptx_options *options;
  code_writer w;
  uint32_t program, end; /* its rows: from `program` to before `end` */
  uint32_t nests;        /* number of constructs in the program */
  uint32_t local[3], count;
  uint32_t sm;
  bool strict, approximate;
  bool wide;         /* lanes must reconverge, so there are masks */
  bool grid_barrier; /* there is a barrier of the whole grid */
  bool ends_early;   /* invocations that return still wait at grid barriers */
  const char *kernel;

  /* by row - program */
  uint32_t *values; /* index in `regs` of the row's first register, or 0 before the row is defined */
  uint8_t *seen;    /* a float whose bits are used, not only its value */
  uint8_t *is_wide; /* a construct at whose end lanes reconverge */
  uint8_t *leaks;   /* a construct with a jump to beyond its end */

  uint32_t *offsets; /* by buffer row - program: the offset in workgroup memory */
  pgen_slot *slots;  /* by binding */
  uint32_t slot_count;
  uint64_t shared_bytes;
  uint32_t push_bytes, descriptors;

  reg *regs;
  uint32_t reg_count, reg_capacity;
  uint32_t made[REG__COUNT], labels;
  reg guard; /* a predicate, of the next instruction */
  bool unless;
  reg mask, where;
  reg wid[3], groups[3], lid[3], lindex, dispatch;
  reg ended; /* of `ends_early`: not 0 if the invocation returned; next_grid is the next barrier or the end */
  uint32_t next_grid;
  uint32_t join;       /* label of lanes that leave the region of the innermost wide construct */
  reg stays;           /* of a wide loop: whether the lane executes the next iteration */
  uint32_t after_case; /* of a narrow switch: label of the next case */
  reg next_case;       /* of a wide switch: number of the case that a lane executes; at_case is the one being written */
  uint32_t at_case;
  uint32_t *exits, *agains; /* by row - program: labels of a narrow construct */
  uint32_t faults;

  vyre_bytes body, tables; /* the writer's `out` is one of them */
} gen;

#define pgen_resize(g, ...) code_resize(&(g)->w, __VA_ARGS__)
#define pgen_fail(g, ...)   code_fail(&(g)->w, __VA_ARGS__)
#define pgen_put(g, ...)    code_put(&(g)->w, __VA_ARGS__)

/* ---- rows ---- */
#define op_of(g, row)           code_op((g)->v, (row))
#define type_of(g, row)         code_row_type((g)->v, (row))
#define kind_of(g, row)         VYRE_TYPE_KIND(code_row_type((g)->v, (row)))
#define lanes_of(g, row)        ((uint32_t)VYRE_TYPE_LANES(code_row_type((g)->v, (row))))
#define has_literal(g, row)     code_has_literal((g)->v, (row))
#define pgen_right_kind(g, row) VYRE_TYPE_KIND(code_right_type((g)->v, (row)))

static inline bool
is_narrow(vyre_kind kind)
{
  return vyre_kind_bits(kind) < 32;
}

static inline bool
is_long(vyre_kind kind)
{
  return vyre_kind_bits(kind) == 64;
}

static inline reg_class
class_of(vyre_kind kind)
{
  return kind == VYRE_BOOL ? REG_PRED : kind == VYRE_F16 ? REG_16 : is_long(kind) ? REG_64 : REG_32;
}

/* ---- text.c ---- */
reg pgen_new(gen *g, reg_class klass);
void pgen_put_reg(gen *g, reg r);
/* Writes "op r0, r1, ...;".  Uses the guard up if there is one. */
void pgen_code(gen *g, const char *op, const reg *regs, size_t count);
reg pgen_make(gen *g, reg_class klass, const char *op, const reg *regs, size_t count);
#define REGS(...)          (const reg[]){__VA_ARGS__}, sizeof((const reg[]){__VA_ARGS__}) / sizeof(reg)
#define CODE(g, op, ...)   pgen_code((g), (op), REGS(__VA_ARGS__))
#define PRED(g, op, ...)   pgen_make((g), REG_PRED, (op), REGS(__VA_ARGS__))
#define MAKE16(g, op, ...) pgen_make((g), REG_16, (op), REGS(__VA_ARGS__))
#define MAKE32(g, op, ...) pgen_make((g), REG_32, (op), REGS(__VA_ARGS__))
#define MAKE64(g, op, ...) pgen_make((g), REG_64, (op), REGS(__VA_ARGS__))
/* Guards the next instruction: it executes if p is true, or false if `unless`.  A p that is not a register removes the guard. */
void pgen_when(gen *g, reg p, bool unless);
uint32_t pgen_new_label(gen *g);
void pgen_label(gen *g, uint32_t label);
void pgen_branch(gen *g, uint32_t label);
void pgen_branch_if(gen *g, reg p, uint32_t label);
void pgen_branch_unless(gen *g, reg p, uint32_t label);
const char *pgen_format(char text[64], const char *format, ...) VYRE_PRINTF(2, 3); /* "add.%s" */

static inline reg
lit(uint64_t bits)
{
  return (reg){REG_LITERAL, 0, bits};
}

static inline reg
f32_lit(uint32_t bits)
{
  return (reg){REG_FLOAT, 0, bits};
}

static inline reg
f64_lit(double value)
{
  reg r = {REG_DOUBLE, 0, 0};
  memcpy(&r.bits, &value, sizeof value);
  return r;
}

static inline reg
special(uint32_t which)
{
  return (reg){REG_SPECIAL, which, 0};
}

static inline bool
is_reg(reg r)
{
  return r.klass > REG_NONE && r.klass < REG__COUNT;
}

/* Returns a literal of the kind.  PTX has none for bool and f16, so these are registers. */
reg pgen_literal(gen *g, vyre_kind kind, uint64_t bits);
reg pgen_in_register(gen *g, reg_class klass, reg r);
void pgen_move(gen *g, reg to, reg from);
reg pgen_copy(gen *g, reg_class klass, reg from); /* a new register */
reg pgen_select(gen *g, reg_class klass, reg yes, reg no, reg p);
reg pgen_and(gen *g, reg p, reg q); /* of predicates; REG_NONE stands for true */
reg pgen_not(gen *g, reg p);

/* ---- survey.c ---- */
void pgen_survey(gen *g);

/* ---- start.c ---- */
void pgen_start(gen *g);
void pgen_put_memory(gen *g); /* declarations of local and shared memory */
void pgen_invocation(gen *g, uint32_t row);
reg pgen_lindex(gen *g);

/* ---- rows.c ---- */
void pgen_region(gen *g, uint32_t region);
reg pgen_value(gen *g, uint32_t row, uint32_t lane);
reg pgen_part(gen *g, uint32_t row, uint32_t part, uint32_t lane); /* of a row whose type is a tuple */
reg pgen_right(gen *g, uint32_t row, uint32_t lane);
void pgen_define(gen *g, uint32_t row, uint32_t lane, reg r);
void pgen_define_part(gen *g, uint32_t row, uint32_t part, uint32_t lane, reg r);

/* ---- integers.c, bits.c ---- */
/* These functions return false for rows of other kinds.  *out receives the result of one lane. */
bool pgen_integer(gen *g, uint32_t row, uint32_t lane, reg *out);
bool pgen_integer_dot(gen *g, uint32_t row);
bool pgen_integer_pair(gen *g, uint32_t row);
bool pgen_bits(gen *g, uint32_t row, uint32_t lane, reg *out);
/* Returns the result of an integer or bool operation by which atomics and subgroups combine. */
reg pgen_combine_integers(gen *g, vyre_opcode op, vyre_kind kind, reg a, reg b);
reg pgen_signed(gen *g, vyre_kind kind, reg r);                                            /* sign-extends 8 or 16 bits */
reg pgen_cut(gen *g, vyre_kind kind, reg r);                                               /* truncates to 8 or 16 bits */
reg pgen_int_op(gen *g, vyre_kind kind, const char *name, const char *sign, reg a, reg b); /* "name.s32", by sign and width */

/* ---- floats.c ---- */
bool pgen_float(gen *g, uint32_t row, uint32_t lane, reg *out);
/* Returns the register to compute with: an f32 for an f16. */
reg pgen_number(gen *g, vyre_kind kind, reg value);
reg pgen_flushed(gen *g, vyre_kind kind, reg value);     /* denormals are zero if the program flushes them */
reg pgen_number_of(gen *g, uint32_t row, uint32_t lane); /* flushed if the program flushes */
reg pgen_number_literal(vyre_kind kind, double value);
/* Returns the result of "add.rn.f32".  If `step`, rounds it to the kind, because it is an operand of another operation. */
reg pgen_float_op(gen *g, vyre_kind kind, const char *name, reg a, reg b, bool step);
reg pgen_float_unary(gen *g, vyre_kind kind, const char *name, reg a, bool step);
/* Returns the result of "add.rz.f64" if the kind rounds toward zero, otherwise of "add.rn.f64".  An f64 result that is rounded
 * to the kind afterwards is correctly rounded only if both roundings have the same direction. */
reg pgen_wide_op(gen *g, vyre_kind kind, const char *name, reg a, reg b);
reg pgen_float_compare(gen *g, vyre_kind kind, const char *relation, reg a, reg b);
/* Returns a number as the value of a row: rounded and flushed, and with a canonical NaN if the row's bits are used. */
reg pgen_float_result(gen *g, uint32_t row, vyre_kind kind, reg number);
reg pgen_canonical(gen *g, vyre_kind kind, reg value);
bool pgen_cuts(const gen *g, vyre_kind kind); /* Returns whether the program rounds the kind toward zero. */
/* Returns the result of add, mul, nmin or nmax on values, with a canonical NaN. */
reg pgen_combine_floats(gen *g, vyre_opcode op, vyre_kind kind, reg a, reg b);
/* Convert a number to f64 and back. */
reg pgen_widen(gen *g, vyre_kind kind, reg number);
reg pgen_narrow(gen *g, vyre_kind kind, reg wide);

/* ---- singles.c: rsqrt, sin, exp and the like, of f32 ---- */
bool pgen_single(gen *g, vyre_opcode op, reg a, reg b, reg *out); /* Returns false for other ops. */

/* ---- exponents.c, angles.c, parts.c: of f64 ---- */
reg pgen_polynomial(gen *g, reg x, const double *coefficients, size_t count); /* the highest coefficient first */
reg pgen_exp(gen *g, reg x);
reg pgen_exp2(gen *g, reg x);
reg pgen_log(gen *g, reg x);
reg pgen_log2(gen *g, reg x);
reg pgen_pow(gen *g, reg x, reg y);
reg pgen_hyperbolic(gen *g, vyre_opcode op, reg x);
reg pgen_area(gen *g, vyre_opcode op, reg x);
reg pgen_sin_cos(gen *g, vyre_opcode op, reg x);
reg pgen_atan(gen *g, reg x);
reg pgen_atan2(gen *g, reg y, reg x);
reg pgen_remainder(gen *g, vyre_kind kind, reg x, reg y, bool of_right);
reg pgen_ldexp(gen *g, vyre_kind kind, reg x, reg n);
void pgen_frexp(gen *g, reg x, reg *out_significand, reg *out_exponent);
reg pgen_copysign(gen *g, reg magnitude, reg sign);

/* ---- convert.c, pack.c, vectors.c ---- */
reg pgen_convert(gen *g, uint32_t row, uint32_t lane);
void pgen_bitcast(gen *g, uint32_t row);
void pgen_pack(gen *g, uint32_t row);
bool pgen_vector(gen *g, uint32_t row);
bool pgen_matrix(gen *g, uint32_t row);

/* ---- paths.c ---- */
/* A resolved path. */
typedef struct place {
  code_place at;
  vyre_space space;
  reg base, bytes; /* address and size of the chosen or bound buffer */
} place;

/* A memory operand: [base + offset]. */
typedef struct address {
  reg base;
  const char *space; /* the state space in PTX: "global", "shared", "local" */
  uint64_t offset;
} address;

bool pgen_place_of(gen *g, uint32_t path, place *out);
void pgen_open_place(gen *g, place *p);           /* loads the descriptor before the access */
reg pgen_terms_in_bounds(gen *g, const place *p); /* a predicate, or REG_NONE if always true */
reg pgen_in_bounds(gen *g, const place *p, uint64_t bytes);
address pgen_address(gen *g, const place *p);
address pgen_address_after(gen *g, address a, uint64_t more);
uint64_t pgen_alignment(const gen *g, const place *p); /* the largest power of two that divides the address */
void pgen_length(gen *g, uint32_t row);

/* ---- memory.c, copies.c, atomics.c, barriers.c ---- */
void pgen_load(gen *g, uint32_t row);
void pgen_store(gen *g, uint32_t row);
/* Formats "ld", "ld.relaxed.gpu" or "ld.volatile" for an access of that row. */
const char *pgen_manner(const gen *g, uint32_t row, const place *p, const char *op, char text[64]);
/* Returns a loaded scalar, by "ld.global" and the like.  Returns zero where the guard is false. */
reg pgen_load_scalar(gen *g, const char *how, vyre_kind kind, address a, reg guard);
void pgen_store_scalar(gen *g, const char *how, vyre_kind kind, address a, reg value, reg guard);
void pgen_copy_row(gen *g, uint32_t row);
void pgen_atomic(gen *g, uint32_t row);
void pgen_barrier(gen *g, uint32_t row);
void pgen_barrier_of_workgroup(gen *g);
const char *pgen_scope(uint32_t scope); /* "cta" */
void pgen_fence(gen *g, uint32_t semantics, uint32_t scope);
enum { PTX_ACQUIRE = 0x2, PTX_RELEASE = 0x4, PTX_ACQ_REL = 0x8, PTX_SEQ_CST = 0x10, PTX_ORDERS = 0x1e };

/* ---- control.c, wide.c ---- */
void pgen_construct(gen *g, uint32_t row);
void pgen_jump(gen *g, uint32_t row);
reg pgen_for_test(gen *g, uint32_t row);
uint32_t pgen_body_of(const gen *g, uint32_t loop);
void pgen_for_begin(gen *g, uint32_t row);
void pgen_for_step(gen *g, uint32_t row);
/* Returns whether the selector is a label of the case.  Returns REG_NONE if the case has no labels. */
reg pgen_case_test(gen *g, uint32_t row, uint32_t region);
void pgen_wide_construct(gen *g, uint32_t row);
void pgen_wide_jump(gen *g, uint32_t row);

/* ---- subgroups.c ---- */
void pgen_subgroup(gen *g, uint32_t row);

#endif
