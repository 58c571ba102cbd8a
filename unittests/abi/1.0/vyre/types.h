/* Types of the plugin interface 1.0, frozen: include/vyre/types.h as it was, without its comments.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TYPES_H
#define VYRE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VYRE_OPSET_VERSION 1u
#define VYRE_OPSET_ANY     UINT32_MAX

#define VYRE_OP__ROOM 1024u

typedef enum vyre_opcode {
#define VYRE_OP(number, id, text, operands, class, rule, flags, undefined, fold, cost, laws) VYRE_OP_##id = number,
#include "vyre/ops.def"
} vyre_opcode;

static inline bool
vyre_op_is_atomic(uint32_t op)
{
  return op >= VYRE_OP_atomic_load && op <= VYRE_OP_atomic_fmax;
}

static inline bool
vyre_op_is_subgroup(uint32_t op)
{
  return op >= VYRE_OP_subgroup_elect && op <= VYRE_OP_subgroup_xor;
}

typedef enum vyre_kind {
  VYRE_VOID = 0,
  VYRE_BOOL = 1,
  VYRE_I8 = 2,
  VYRE_U8 = 3,
  VYRE_I16 = 4,
  VYRE_U16 = 5,
  VYRE_I32 = 6,
  VYRE_U32 = 7,
  VYRE_I64 = 8,
  VYRE_U64 = 9,
  VYRE_F16 = 10,
  VYRE_F32 = 11,
  VYRE_F64 = 12,
  VYRE_TUPLE = 13,
  VYRE_PATH = 14,
  VYRE_OPAQUE = 15,
  VYRE_KIND__COUNT
} vyre_kind;

#define VYRE_KIND__ROOM 64u

typedef uint8_t vyre_type;

#define VYRE_TYPE(kind, lanes) ((vyre_type)((unsigned)(kind) << 2 | ((unsigned)(lanes)-1u)))
#define VYRE_TYPE_KIND(type)   ((vyre_kind)((type) >> 2))
#define VYRE_TYPE_LANES(type)  ((3u & (uint32_t)(type)) + 1u)

static inline bool
vyre_kind_is_scalar(vyre_kind kind)
{
  return kind >= VYRE_BOOL && kind <= VYRE_F64;
}

static inline bool
vyre_kind_is_float(vyre_kind kind)
{
  return kind >= VYRE_F16 && kind <= VYRE_F64;
}

static inline bool
vyre_kind_is_int(vyre_kind kind)
{
  return kind >= VYRE_I8 && kind <= VYRE_U64;
}

static inline bool
vyre_kind_is_signed(vyre_kind kind)
{
  return vyre_kind_is_int(kind) && ((unsigned)kind & 1u) == 0;
}

static inline uint32_t
vyre_kind_bits(vyre_kind kind)
{
  static const uint8_t bits[VYRE_KIND__COUNT] = {0, 1, 8, 8, 16, 16, 32, 32, 64, 64, 16, 32, 64, 0, 0, 0};
  return (unsigned)kind < VYRE_KIND__COUNT ? bits[kind] : 0;
}

#define VYRE_ROW(opcode, type, flags) ((uint32_t)(opcode) | (uint32_t)(type) << 16 | (uint32_t)(flags) << 24)
#define VYRE_ROW_OP(word)             (0xffffu & (word))
#define VYRE_ROW_TYPE(word)           ((vyre_type)((word) >> 16 & 0xffu))
#define VYRE_ROW_FLAGS(word)          ((word) >> 24)

typedef enum vyre_row_flag {
  VYRE_ROW_IMM = 1,
  VYRE_ROW_DECO = 2,
  VYRE_ROW_EXACT = 4,
  VYRE_ROW_RELAXED = 8,
  VYRE_ROW_VOLATILE = 16,
  VYRE_ROW_COHERENT = 32,
  VYRE_ROW_NONUNIFORM = 64,
} vyre_row_flag;

typedef enum vyre_op_flag {
  VYRE_OP_PURE = 1 << 0,
  VYRE_OP_COMMUTES = 1 << 1,
  VYRE_OP_ASSOC = 1 << 2,
  VYRE_OP_TAKES_IMM = 1 << 3,
  VYRE_OP_READS = 1 << 4,
  VYRE_OP_WRITES = 1 << 5,
  VYRE_OP_EFFECT = 1 << 6,
  VYRE_OP_CONVERGENT = 1 << 7,
  VYRE_OP_IDENTITY = 1 << 8,
  VYRE_OP_REGIONS = 1 << 9,
  VYRE_OP_REGION = 1 << 10,
  VYRE_OP_ENDS = 1 << 11,
  VYRE_OP_INTERFACE = 1 << 12,
} vyre_op_flag;

typedef enum vyre_class {
  VYRE_CLASS_NONE,
  VYRE_CLASS_ANY,
  VYRE_CLASS_BOOL,
  VYRE_CLASS_UINT,
  VYRE_CLASS_SINT,
  VYRE_CLASS_INT,
  VYRE_CLASS_FLOAT,
  VYRE_CLASS_NUM,
  VYRE_CLASS_BITS,
} vyre_class;

static inline bool
vyre_class_has(vyre_class klass, vyre_kind kind)
{
  enum { bools = 0x2, uints = 0x2a8, sints = 0x154, ints = uints | sints, floats = 0x1c00 };
  static const uint16_t kinds[] = {0, bools | ints | floats, bools, uints, sints, ints, floats, ints | floats, ints | bools};
  return (unsigned)kind < VYRE_KIND__COUNT && (kinds[klass] >> kind & 1) != 0;
}

typedef enum vyre_rule { VYRE_RULE_VOID, VYRE_RULE_SAME, VYRE_RULE_BOOL, VYRE_RULE_FREE, VYRE_RULE_OWN } vyre_rule;

typedef enum vyre_undefined {
  VYRE_UNDEFINED_NEVER,
  VYRE_UNDEFINED_OUT_OF_BOUNDS,
  VYRE_UNDEFINED_DIV_BY_0,
  VYRE_UNDEFINED_DIV_OVERFLOW,
  VYRE_UNDEFINED_SHIFT_RANGE,
  VYRE_UNDEFINED_BITFIELD_RANGE,
  VYRE_UNDEFINED_LANE_RANGE,
  VYRE_UNDEFINED_NAN_OPERAND,
  VYRE_UNDEFINED_CLAMP_RANGE,
  VYRE_UNDEFINED_FLOAT_RANGE,
  VYRE_UNDEFINED_DOMAIN,
  VYRE_UNDEFINED_LANES,
} vyre_undefined;

typedef enum vyre_fold { VYRE_FOLD_NONE, VYRE_FOLD_LIBM, VYRE_FOLD_EXACT } vyre_fold;

typedef enum vyre_self { VYRE_SELF_NONE, VYRE_SELF_ZERO, VYRE_SELF_ONE, VYRE_SELF_LEFT } vyre_self;

typedef enum vyre_absorbs {
  VYRE_ABSORBS_NONE,
  VYRE_ABSORBS_ZERO,
  VYRE_ABSORBS_ONES,
  VYRE_ABSORBS_LEAST,
  VYRE_ABSORBS_GREATEST,
} vyre_absorbs;

static inline uint64_t
vyre_absorbs_bits(vyre_absorbs absorbs, vyre_kind kind)
{
  const uint64_t ones = UINT64_MAX >> (64 - vyre_kind_bits(kind));
  return absorbs == VYRE_ABSORBS_ZERO    ? 0
         : absorbs == VYRE_ABSORBS_ONES  ? ones
         : absorbs == VYRE_ABSORBS_LEAST ? ones ^ ones >> 1
                                         : ones >> 1;
}

typedef enum vyre_compares {
  VYRE_COMPARES_LESS = 1,
  VYRE_COMPARES_EQUAL = 2,
  VYRE_COMPARES_GREATER = 4,
  VYRE_COMPARES_UNORDERED = 8,
  VYRE_COMPARES_UNSIGNED = 16,
  VYRE_COMPARES_SIGNED = 32,
  VYRE_COMPARES_EITHER = VYRE_COMPARES_UNSIGNED | VYRE_COMPARES_SIGNED,
  VYRE_COMPARES_FLOAT = 64,
} vyre_compares;
#define VYRE_COMPARES_OUTCOMES(compares) ((uint32_t)(compares)&15u)
#define VYRE_COMPARES_ORDER(compares)    ((uint32_t)(compares) & ~15u)

typedef struct vyre_op_info {
  const char *text;
  uint16_t flags;
  uint8_t operands;
  uint8_t klass;
  uint8_t rule;
  uint8_t undefined;
  uint8_t fold;
  uint8_t cost;
  uint16_t mirrored;
  uint16_t inverse;
  uint16_t combines;
  uint8_t compares;
  uint8_t self;
  uint8_t absorbs;
  uint8_t opset;
} vyre_op_info;

static inline bool
vyre_op_has_version(const vyre_op_info *info)
{
  return (info->flags & (VYRE_OP_READS | VYRE_OP_IDENTITY)) == VYRE_OP_READS;
}

static inline bool
vyre_op_is_invocation(uint32_t op)
{
  return op >= VYRE_OP_gid && op <= VYRE_OP_subgroup_lt_mask;
}

static inline bool
vyre_op_is_opaque(uint32_t op)
{
  return op >= VYRE_OP_opaque && op <= VYRE_OP_opaque_write;
}

static inline vyre_type
vyre_invocation_type(uint32_t op)
{
  return VYRE_TYPE(VYRE_U32, op >= VYRE_OP_subgroup_eq_mask ? 4 : op < VYRE_OP_lindex ? 3 : 1);
}

typedef struct vyre_row {
  uint32_t id;
} vyre_row;

#define VYRE_NONE ((vyre_row){0})

#define VYRE_JOIN 0x80000000u

typedef struct vyre_join {
  uint32_t row;
  uint32_t first, count;
} vyre_join;

typedef struct vyre_part {
  uint32_t version;
  uint32_t edge;
} vyre_part;

typedef struct vyre_view {
  uint32_t struct_size;
  uint32_t rows;
  const uint32_t *op, *imm, *imm_hi, *a, *b, *c;
  const uint32_t *parent, *prev, *next, *first, *last;
  const vyre_op_info *op_infos;
  const uint32_t *loop;
  const uint32_t *loop_next;
  const uint32_t *loop_exit;
  const uint32_t *end;
  const uint32_t *level;
  const uint32_t *depth;
  const uint32_t *hash;
  const uint32_t *canonical;
  const uint32_t *version;
  const vyre_join *joins;
  const vyre_part *parts;
  uint32_t join_count, part_count;
  uint32_t op_count;
  uint32_t op_info_stride;
} vyre_view;

static inline const vyre_op_info *
vyre_op_info_of(const vyre_view *view, uint32_t op)
{
  return (const vyre_op_info *)(const void *)((const char *)view->op_infos + (size_t)op * view->op_info_stride);
}

#define VYRE_VERSIONS  (1u << 0)
#define VYRE_LOOPS     (1u << 1)
#define VYRE_DOMINANCE (1u << 2)
#define VYRE_LEVELS    (1u << 3)
#define VYRE_ANALYSES  (VYRE_VERSIONS | VYRE_LOOPS | VYRE_DOMINANCE | VYRE_LEVELS)

#define VYRE_HASHES  (1u << 4)
#define VYRE_CLASSES (1u << 5)
#define VYRE_COLUMNS (VYRE_HASHES | VYRE_CLASSES)

typedef enum vyre_role { VYRE_THEN, VYRE_ELSE, VYRE_BODY, VYRE_CONTINUING, VYRE_BLOCK } vyre_role;

typedef enum vyre_program_mode {
  VYRE_PROGRAM_RELAXED = 1,
  VYRE_PROGRAM_FLUSH_32 = 2,
  VYRE_PROGRAM_TO_ZERO_32 = 4,
  VYRE_PROGRAM_FLUSH_16 = 8,
  VYRE_PROGRAM_TO_ZERO_16 = 16,
  VYRE_PROGRAM_FLUSH_64 = 32,
  VYRE_PROGRAM_TO_ZERO_64 = 64,
  VYRE_PROGRAM_FLOAT_MODES = 126,
} vyre_program_mode;

typedef enum vyre_float_control {
  VYRE_FLOAT_DENORM_PRESERVE = 1,
  VYRE_FLOAT_DENORM_FLUSH = 2,
  VYRE_FLOAT_SIGNED_ZERO_INF_NAN = 4,
  VYRE_FLOAT_ROUND_EVEN = 8,
  VYRE_FLOAT_ROUND_TO_ZERO = 16,
} vyre_float_control;
#define VYRE_FLOAT_CONTROLS(kind, controls) ((uint32_t)(controls) << (5u * ((uint32_t)(kind) - (uint32_t)VYRE_F16)))
#define VYRE_FLOAT_CONTROLS_ALL             0x7fffu

static inline uint32_t
vyre_mode_flush(vyre_kind kind)
{
  return kind == VYRE_F16   ? VYRE_PROGRAM_FLUSH_16
         : kind == VYRE_F32 ? VYRE_PROGRAM_FLUSH_32
         : kind == VYRE_F64 ? VYRE_PROGRAM_FLUSH_64
                            : 0;
}

static inline uint32_t
vyre_mode_to_zero(vyre_kind kind)
{
  return kind == VYRE_F16   ? VYRE_PROGRAM_TO_ZERO_16
         : kind == VYRE_F32 ? VYRE_PROGRAM_TO_ZERO_32
         : kind == VYRE_F64 ? VYRE_PROGRAM_TO_ZERO_64
                            : 0;
}

typedef enum vyre_space {
  VYRE_SPACE_STORAGE,
  VYRE_SPACE_UNIFORM,
  VYRE_SPACE_PUSH,
  VYRE_SPACE_WORKGROUP,
  VYRE_SPACE_PRIVATE,
  VYRE_SPACE_CONSTANT,
  VYRE_SPACE_HANDLE,
  VYRE_SPACE__COUNT
} vyre_space;

typedef enum vyre_access {
  VYRE_ACCESS_NO_WRITE = 1 << 8,
  VYRE_ACCESS_NO_READ = 1 << 9,
  VYRE_ACCESS_COHERENT = 1 << 10,
  VYRE_ACCESS_VOLATILE = 1 << 11,
  VYRE_ACCESS_RESTRICT = 1 << 12,
  VYRE_ACCESS_ALIASED = 1 << 13,
} vyre_access;

#define VYRE_BUFFER_SPACE(imm_hi) ((vyre_space)(15u & (imm_hi)))

typedef enum vyre_type_form {
  VYRE_FORM_VALUE,
  VYRE_FORM_MATRIX,
  VYRE_FORM_ARRAY,
  VYRE_FORM_STRUCT,
  VYRE_FORM_WORDS
} vyre_type_form;

typedef enum vyre_type_flag {
  VYRE_TYPE_ROW_MAJOR = 1,
  VYRE_TYPE_BLOCK = 2,
  VYRE_TYPE_RUNTIME = 4,
  VYRE_TYPE_BUFFER_BLOCK = 8,
} vyre_type_flag;

#define VYRE_ALIAS_SHARED (UINT32_C(1) << 31)

#define VYRE_ORDER(execution, memory, semantics) ((uint32_t)(semantics) << 16 | (uint32_t)(memory) << 8 | (uint32_t)(execution))
#define VYRE_ORDER_EXECUTION(imm)                (255u & (imm))
#define VYRE_ORDER_MEMORY(imm)                   ((imm) >> 8 & 255u)
#define VYRE_ORDER_SEMANTICS(imm)                ((imm) >> 16)
#define VYRE_SEMANTICS                           0xffdeu

#define VYRE_NONTEMPORAL    0x1u
#define VYRE_NON_PRIVATE    0x20u
#define VYRE_MAKE_AVAILABLE 0x2000u
#define VYRE_MAKE_VISIBLE   0x4000u
#define VYRE_SHARING        (VYRE_NON_PRIVATE | VYRE_MAKE_AVAILABLE | VYRE_MAKE_VISIBLE)

#define VYRE_CASE_DEFAULT 1u

#define VYRE_TUPLE_OF(count, type) ((uint32_t)(count) | (uint32_t)(type) << 16)
#define VYRE_TUPLE_COUNT(imm)      (0xffffu & (imm))
#define VYRE_TUPLE_TYPE(imm)       ((vyre_type)((imm) >> 16 & 0xffu))

typedef enum vyre_group { VYRE_GROUP_REDUCE, VYRE_GROUP_INCLUSIVE, VYRE_GROUP_EXCLUSIVE, VYRE_GROUP_CLUSTERED } vyre_group;
#define VYRE_GROUP(group, cluster) ((uint32_t)(group) | (uint32_t)(cluster) << 8)
#define VYRE_GROUP_OF(imm)         (255u & (imm))
#define VYRE_GROUP_CLUSTER(imm)    ((imm) >> 8)

typedef enum vyre_quad { VYRE_QUAD_HORIZONTAL, VYRE_QUAD_VERTICAL, VYRE_QUAD_DIAGONAL } vyre_quad;

typedef enum vyre_hint {
  VYRE_HINT_FLATTEN = 1,
  VYRE_HINT_DONT_FLATTEN = 2,
  VYRE_HINT_UNROLL = 1,
  VYRE_HINT_DONT_UNROLL = 2,
  VYRE_HINT_DEPENDENCY_INFINITE = 4,
  VYRE_HINT_DEPENDENCY_LENGTH = 8,
  VYRE_HINT_MIN_ITERATIONS = 16,
  VYRE_HINT_MAX_ITERATIONS = 32,
  VYRE_HINT_ITERATION_MULTIPLE = 64,
  VYRE_HINT_PEEL_COUNT = 128,
  VYRE_HINT_PARTIAL_COUNT = 256,
  VYRE_HINT_LITERALS = 0x1f8,
} vyre_hint;
#define VYRE_HINT_BITS        9u
#define VYRE_DECORATION_HINTS 0xfffffffeu

#define VYRE_DECORATION_MODULE 0xffffffffu

#define VYRE_SHUFFLE_LANE(imm, lane) ((imm) >> (4u * (lane)) & 7u)

#ifdef __cplusplus
}
#endif
#endif
