/* Opcodes, scalar kinds, the packing of a row's op word, and the view that passes read columns through.
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

/* Each op, row flag and scalar kind that is added raises it; nothing is ever taken away, renumbered, or given another meaning. */
#define VYRE_OPSET_VERSION 2u
#define VYRE_OPSET_ANY     UINT32_MAX /* as the last op set of a plugin: it takes rows that it does not know by their ops' flags */

/* Numbers of ops are below it, in this op set and in every later one.  A plugin's array by op has so many elements: the number of
 * ops when it is built says nothing about the module it is given (view.op_count does). */
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

/* Whether the op is an operation of a subgroup's lanes together; its built-ins are not: vyre_op_is_invocation. */
static inline bool
vyre_op_is_subgroup(uint32_t op)
{
  return op >= VYRE_OP_subgroup_elect && op <= VYRE_OP_subgroup_xor;
}

/* A scalar kind and 1 to 4 lanes in a byte: kind << 2 | lanes - 1.  The numbers are frozen with the op set.  There is room for
 * VYRE_KIND__ROOM kinds: a plugin's array by kind has so many elements.  A kind that it does not know has no bits and no class. */
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
  VYRE_TUPLE = 13,  /* several results; VYRE_TUPLE_* below say of what */
  VYRE_PATH = 14,   /* an address: a buffer row, or `at` */
  VYRE_OPAQUE = 15, /* an image, a pointer and the like: vyre/opaque.h */
  VYRE_KIND__COUNT
} vyre_kind;

#define VYRE_KIND__ROOM 64u

typedef uint8_t vyre_type;

#define VYRE_TYPE(kind, lanes) ((vyre_type)((unsigned)(kind) << 2 | ((unsigned)(lanes)-1u)))
#define VYRE_TYPE_KIND(type)   ((vyre_kind)((type) >> 2))
#define VYRE_TYPE_LANES(type)  ((3u & (uint32_t)(type)) + 1u)

/* Whether lanes have it: bool, integers, floats. */
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

/* Returns the integer kind of as many bits with that sign. */
static inline vyre_kind
vyre_kind_with_sign(vyre_kind kind, bool is_signed)
{
  return (vyre_kind)(is_signed ? (unsigned)kind & ~1u : (unsigned)kind | 1u);
}

/* Bits of a scalar: 1 for bool (in memory it has no size of its own: 4 bytes), 0 for what is no scalar. */
static inline uint32_t
vyre_kind_bits(vyre_kind kind)
{
  static const uint8_t bits[VYRE_KIND__COUNT] = {0, 1, 8, 8, 16, 16, 32, 32, 64, 64, 16, 32, 64, 0, 0, 0};
  return (unsigned)kind < VYRE_KIND__COUNT ? bits[kind] : 0;
}

/* Returns the bytes of a scalar in memory, 0 for what is not a scalar. */
static inline uint32_t
vyre_kind_bytes(vyre_kind kind)
{
  return kind == VYRE_BOOL ? 4 : vyre_kind_bits(kind) / 8;
}

/* The op word:  | flags 8 | type 8 | opcode 16 |   (bit 31 ... bit 0) */
#define VYRE_ROW(opcode, type, flags) ((uint32_t)(opcode) | (uint32_t)(type) << 16 | (uint32_t)(flags) << 24)
#define VYRE_ROW_OP(word)             (0xffffu & (word))
#define VYRE_ROW_TYPE(word)           ((vyre_type)((word) >> 16 & 0xffu))
#define VYRE_ROW_FLAGS(word)          ((word) >> 24)

typedef enum vyre_row_flag {
  VYRE_ROW_IMM = 1,       /* the right operand is the literal in imm, imm_hi (a splat); b is 0 */
  VYRE_ROW_DECO = 2,      /* decorations in the side table: never equal to another row */
  VYRE_ROW_EXACT = 4,     /* NoContraction, `precise` */
  VYRE_ROW_RELAXED = 8,   /* RelaxedPrecision */
  VYRE_ROW_VOLATILE = 16, /* a memory row: each access happens, each load is new */
  VYRE_ROW_COHERENT = 32, /* a memory row: other invocations' writes are seen */
  VYRE_ROW_NONUNIFORM = 64,
} vyre_row_flag;

/* The columns of ops.def, at run time. */
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

/* Returns whether operands of the class may have the kind. */
static inline bool
vyre_class_has(vyre_class klass, vyre_kind kind)
{
  switch (klass) {
  case VYRE_CLASS_NONE:
    break;
  case VYRE_CLASS_ANY:
    return vyre_kind_is_scalar(kind);
  case VYRE_CLASS_BOOL:
    return kind == VYRE_BOOL;
  case VYRE_CLASS_UINT:
    return vyre_kind_is_int(kind) && !vyre_kind_is_signed(kind);
  case VYRE_CLASS_SINT:
    return vyre_kind_is_signed(kind);
  case VYRE_CLASS_INT:
    return vyre_kind_is_int(kind);
  case VYRE_CLASS_FLOAT:
    return vyre_kind_is_float(kind);
  case VYRE_CLASS_NUM:
    return vyre_kind_is_int(kind) || vyre_kind_is_float(kind);
  case VYRE_CLASS_BITS:
    return vyre_kind_is_int(kind) || kind == VYRE_BOOL;
  }
  return false;
}

typedef enum vyre_rule { VYRE_RULE_VOID, VYRE_RULE_SAME, VYRE_RULE_BOOL, VYRE_RULE_FREE, VYRE_RULE_OWN } vyre_rule;

typedef enum vyre_undefined {
  VYRE_UNDEFINED_NEVER,
  VYRE_UNDEFINED_OUT_OF_BOUNDS,
  VYRE_UNDEFINED_DIV_BY_0,
  VYRE_UNDEFINED_DIV_OVERFLOW,   /* by 0, or MIN by -1 */
  VYRE_UNDEFINED_SHIFT_RANGE,    /* count >= bits */
  VYRE_UNDEFINED_BITFIELD_RANGE, /* offset + count > bits */
  VYRE_UNDEFINED_LANE_RANGE,
  VYRE_UNDEFINED_NAN_OPERAND,
  VYRE_UNDEFINED_CLAMP_RANGE, /* low > high; fclamp: or a NaN; smoothstep: low >= high */
  VYRE_UNDEFINED_FLOAT_RANGE, /* float to int: the value does not fit, or NaN */
  VYRE_UNDEFINED_DOMAIN,      /* where GLSL.std.450 says "undefined" */
  VYRE_UNDEFINED_LANES, /* subgroup: a lane that is inactive or none, lanes that differ where they must not, a large cluster */
  VYRE_UNDEFINED_DOT_OVERFLOW, /* sdot and its like with operand c: a product or a sum of products exceeds the result's type */
} vyre_undefined;

typedef enum vyre_fold { VYRE_FOLD_NONE, VYRE_FOLD_LIBM, VYRE_FOLD_EXACT } vyre_fold;

/* The result of an op whose operands are one and the same integer or bool. */
typedef enum vyre_self { VYRE_SELF_NONE, VYRE_SELF_ZERO, VYRE_SELF_ONE, VYRE_SELF_LEFT } vyre_self;

/* The literal that is an op's result, on integers or bool, as soon as one operand is that literal. */
typedef enum vyre_absorbs {
  VYRE_ABSORBS_NONE,
  VYRE_ABSORBS_ZERO,
  VYRE_ABSORBS_ONES,
  VYRE_ABSORBS_LEAST, /* signed */
  VYRE_ABSORBS_GREATEST,
} vyre_absorbs;

/* The bits of that literal; the kind is an integer or bool, and it is not NONE. */
static inline uint64_t
vyre_absorbs_bits(vyre_absorbs absorbs, vyre_kind kind)
{
  const uint64_t ones = UINT64_MAX >> (64 - vyre_kind_bits(kind));
  return absorbs == VYRE_ABSORBS_ZERO    ? 0
         : absorbs == VYRE_ABSORBS_ONES  ? ones
         : absorbs == VYRE_ABSORBS_LEAST ? ones ^ ones >> 1
                                         : ones >> 1;
}

/* When a comparison is true, and how it reads its operands: bits of both.  Integers are either LESS, EQUAL or GREATER. */
typedef enum vyre_compares {
  VYRE_COMPARES_LESS = 1,
  VYRE_COMPARES_EQUAL = 2,
  VYRE_COMPARES_GREATER = 4,
  VYRE_COMPARES_UNORDERED = 8, /* one of them is a NaN */
  VYRE_COMPARES_UNSIGNED = 16,
  VYRE_COMPARES_SIGNED = 32,
  VYRE_COMPARES_EITHER = VYRE_COMPARES_UNSIGNED | VYRE_COMPARES_SIGNED, /* eq and ne */
  VYRE_COMPARES_FLOAT = 64,
} vyre_compares;
#define VYRE_COMPARES_OUTCOMES(compares) ((uint32_t)(compares)&15u)
#define VYRE_COMPARES_ORDER(compares)    ((uint32_t)(compares) & ~15u)

typedef struct vyre_op_info {
  const char *text; /* NULL: the number is no op */
  uint16_t flags;
  uint8_t operands;
  uint8_t klass;     /* vyre_class */
  uint8_t rule;      /* vyre_rule */
  uint8_t undefined; /* vyre_undefined */
  uint8_t fold;      /* vyre_fold */
  uint8_t cost;
  uint16_t mirrored; /* of a comparison: the one that is equal with operands exchanged; 0: it is none */
  uint16_t inverse;  /* of a comparison: its negation */
  uint16_t combines; /* of an atomic and a subgroup operation: the op that combines two values; 0: none */
  uint8_t compares;  /* vyre_compares; 0: it is no comparison */
  uint8_t self;      /* vyre_self; of comparisons of integers, too */
  uint8_t absorbs;   /* vyre_absorbs */
  uint8_t opset;     /* the op set that it came with */
} vyre_op_info;

/* Whether rows of the op have a version: reads that may be equal to other reads. */
static inline bool
vyre_op_has_version(const vyre_op_info *info)
{
  return (info->flags & (VYRE_OP_READS | VYRE_OP_IDENTITY)) == VYRE_OP_READS;
}

/* Whether the op is a built-in: gid and the like. */
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

/* The type of that built-in. */
static inline vyre_type
vyre_invocation_type(uint32_t op)
{
  return VYRE_TYPE(VYRE_U32, op >= VYRE_OP_subgroup_eq_mask ? 4 : op < VYRE_OP_lindex ? 3 : 1);
}

/* What a row costs on a GPU, by the cost model (docs/cost-model.md).  Asked through a host table, the asker fills in struct_size.
 */
typedef struct vyre_cost {
  uint32_t struct_size;
  uint32_t issue;     /* quarters of the time that an addition of 32 bits keeps a GPU's lanes busy */
  uint32_t latency;   /* cycles until what needs the result may begin */
  uint32_t registers; /* of 32 bits, that the result takes while it is kept */
} vyre_cost;

/* A row id.  0 is the null row: "none".  Hot loops over columns use a plain uint32_t. */
typedef struct vyre_row {
  uint32_t id;
} vyre_row;

#define VYRE_NONE ((vyre_row){0})

/* A version that is no row: the join of the states that edges bring (docs/ir.md, "Versions").  VYRE_JOIN | its index.
 * The joins of a program are adjacent, each after those that its parts are, but for what a loop carries around.  A join and a part
 * never get another field: what is added about them will be arrays beside theirs. */
#define VYRE_JOIN 0x80000000u

typedef struct vyre_join {
  uint32_t row;          /* the construct that it follows, or the region that it is the head of */
  uint32_t first, count; /* its parts */
} vyre_join;

/* What an edge brings.  An `if` and a head have all edges, the one from before it first, then in program order; a `switch`, a
 * `block` and a loop have those that bring another version than the one before it, and last, if there are others, that one. */
typedef struct vyre_part {
  uint32_t version;
  uint32_t edge; /* the region whose end brings it, or the jump; the construct: it comes from before it, or from a `for`'s test */
} vyre_part;

/* The columns of a module, read only.  They move where it is sealed and while it is built (ir.h), never inside a pass; `rows`
 * grows. One row over the columns:
 *
 *    op                 imm  imm_hi  a  b  c  parent  prev  next  first  last
 *   | flags|type|op |   payload     operands   structure: the region it is in, its neighbours, a region's children
 *
 * A row with op 0 is dead (row 0 always is).  Row 0's first and last are the module's programs.
 *
 * After them come columns of analyses (docs/ir.md, "Loops, dominance, levels"), each NULL unless its analysis was made and is
 * shown: a pass sees those that it requires.  They describe the module as it was when they were made, and are 0 for rows made
 * since; helpers over them: view.h. */
typedef struct vyre_view {
  uint32_t struct_size;
  uint32_t rows; /* row 0 counted */
  const uint32_t *op, *imm, *imm_hi, *a, *b, *c;
  const uint32_t *parent, *prev, *next, *first, *last;
  const vyre_op_info *op_infos; /* of every op that a row can have, also those newer than the plugin: vyre_op_info_of */
  const uint32_t *loop;         /* VYRE_LOOPS: the innermost `for` or `loop` row around it; 0: none */
  const uint32_t *loop_next;    /* of a loop the next one, inner ones before outer; of row 0 the first; else 0 */
  const uint32_t *loop_exit;    /* of a loop: the first row directly in its body that may end an iteration early; 0: none */
  const uint32_t *end;          /* VYRE_DOMINANCE: the last row in it; itself where there is none */
  const uint32_t *level;        /* VYRE_LEVELS: steps of the longest path over operands to a row that has none */
  const uint32_t *depth;        /* rows around it: 0 of a program, 1 of its children */
  const uint32_t *hash;         /* VYRE_HASHES: a hash of its value: equal rows have equal ones */
  const uint32_t *canonical;    /* VYRE_CLASSES: the smallest row of its program that is equal to it */
  const uint32_t *version;      /* VYRE_VERSIONS: of a read the state that it sees, of a write of memory the one before it */
  const vyre_join *joins;       /* VYRE_VERSIONS: by index; 0 is none */
  const vyre_part *parts;
  uint32_t join_count, part_count;
  uint32_t op_count;       /* one more than the greatest number of an op in this host; at most VYRE_OP__ROOM */
  uint32_t op_info_stride; /* bytes from one of op_infos to the next: those of a newer host are larger */
} vyre_view;

/* What is known of an op below view->op_count. */
static inline const vyre_op_info *
vyre_op_info_of(const vyre_view *view, uint32_t op)
{
  return (const vyre_op_info *)(const void *)((const char *)view->op_infos + (size_t)op * view->op_info_stride);
}

/* Analyses: what the library makes of a module. */
#define VYRE_VERSIONS  (1u << 0)
#define VYRE_LOOPS     (1u << 1)
#define VYRE_DOMINANCE (1u << 2)
#define VYRE_LEVELS    (1u << 3)
#define VYRE_ANALYSES  (VYRE_VERSIONS | VYRE_LOOPS | VYRE_DOMINANCE | VYRE_LEVELS) /* all there are */

/* Columns that a pass makes of a module, and that are required like analyses.  The pass that provides one may require analyses, and
 * the columns before it. */
#define VYRE_HASHES  (1u << 4)
#define VYRE_CLASSES (1u << 5)
#define VYRE_COLUMNS (VYRE_HASHES | VYRE_CLASSES)

/* Region roles: imm of a `region` row. */
typedef enum vyre_role { VYRE_THEN, VYRE_ELSE, VYRE_BODY, VYRE_CONTINUING, VYRE_BLOCK } vyre_role;

/* Program mode bits: imm of a `program` row. */
typedef enum vyre_program_mode {
  VYRE_PROGRAM_RELAXED = 1,    /* undefined where ops.def says so; else strict */
  VYRE_PROGRAM_FLUSH_32 = 2,   /* denormals of f32 are flushed */
  VYRE_PROGRAM_TO_ZERO_32 = 4, /* f32 rounds toward zero */
  VYRE_PROGRAM_FLUSH_16 = 8,   /* the same of f16, f64 */
  VYRE_PROGRAM_TO_ZERO_16 = 16,
  VYRE_PROGRAM_FLUSH_64 = 32,
  VYRE_PROGRAM_TO_ZERO_64 = 64,
  VYRE_PROGRAM_FLOAT_MODES = 126, /* any of them: no float is folded, no float rule holds */
} vyre_program_mode;

/* What SPIR-V can ask of a device's floats, for each kind: bits that VYRE_FLOAT_CONTROLS shifts to their kind. */
typedef enum vyre_float_control {
  VYRE_FLOAT_DENORM_PRESERVE = 1,
  VYRE_FLOAT_DENORM_FLUSH = 2,
  VYRE_FLOAT_SIGNED_ZERO_INF_NAN = 4, /* kept */
  VYRE_FLOAT_ROUND_EVEN = 8,
  VYRE_FLOAT_ROUND_TO_ZERO = 16,
} vyre_float_control;
#define VYRE_FLOAT_CONTROLS(kind, controls) ((uint32_t)(controls) << (5u * ((uint32_t)(kind) - (uint32_t)VYRE_F16)))
#define VYRE_FLOAT_CONTROLS_ALL             0x7fffu

/* The mode bits that are about a float kind; 0 for what is none. */
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

/* Address space (imm_hi bits 0..3 of a `buffer` row) and access (bits 8..). */
typedef enum vyre_space {
  VYRE_SPACE_STORAGE,
  VYRE_SPACE_UNIFORM,
  VYRE_SPACE_PUSH,
  VYRE_SPACE_WORKGROUP,
  VYRE_SPACE_PRIVATE,
  VYRE_SPACE_CONSTANT,
  VYRE_SPACE_HANDLE, /* images, samplers and the like, given from outside */
  VYRE_SPACE__COUNT
} vyre_space;

typedef enum vyre_access {
  VYRE_ACCESS_NO_WRITE = 1 << 8, /* ro */
  VYRE_ACCESS_NO_READ = 1 << 9,  /* wo */
  VYRE_ACCESS_COHERENT = 1 << 10,
  VYRE_ACCESS_VOLATILE = 1 << 11,
  VYRE_ACCESS_RESTRICT = 1 << 12,
  VYRE_ACCESS_ALIASED = 1 << 13,
  VYRE_ACCESS_UNSET = 1 << 14, /* private memory of a relaxed program that holds no value until it is stored */
} vyre_access;

#define VYRE_BUFFER_SPACE(imm_hi) ((vyre_space)(15u & (imm_hi)))

/* What a type of memory is (host->type_info). */
typedef enum vyre_type_form {
  VYRE_FORM_VALUE,
  VYRE_FORM_MATRIX,
  VYRE_FORM_ARRAY,
  VYRE_FORM_STRUCT,
  VYRE_FORM_WORDS
} vyre_type_form;

typedef enum vyre_type_flag {
  VYRE_TYPE_ROW_MAJOR = 1,    /* matrix */
  VYRE_TYPE_BLOCK = 2,        /* struct: Block */
  VYRE_TYPE_RUNTIME = 4,      /* array: its length is the buffer's */
  VYRE_TYPE_BUFFER_BLOCK = 8, /* struct: BufferBlock (SPIR-V before 1.3) */
} vyre_type_flag;

/* Of an alias class, which is named by its first buffer row: accesses to the buffer, or to a part of it, are coherent or volatile.
 */
#define VYRE_ALIAS_SHARED (UINT32_C(1) << 31)

/* Scope and order of a memory row or barrier, in imm:  semantics << 16 | memory scope << 8 | execution scope.
 * Scopes are SPIR-V's numbers (Device 1, Workgroup 2, Subgroup 3, Invocation 4), semantics SPIR-V's mask (16 bits);
 * an execution scope of Invocation is a pure memory barrier.  Loads and stores have 0 (plain) but for their row flags. */
#define VYRE_ORDER(execution, memory, semantics) ((uint32_t)(semantics) << 16 | (uint32_t)(memory) << 8 | (uint32_t)(execution))
#define VYRE_ORDER_EXECUTION(imm)                (255u & (imm))
#define VYRE_ORDER_MEMORY(imm)                   ((imm) >> 8 & 255u)
#define VYRE_ORDER_SEMANTICS(imm)                ((imm) >> 16)
#define VYRE_SEMANTICS                           0xffdeu /* the bits that mean something: order, kinds of memory, available, visible, volatile */
/* The imm of a load, store or copy, too: VYRE_ORDER(where the copy's source is made visible, where what is stored is made available
 * or what is loaded visible, these bits).  Without the bits of VYRE_SHARING, what is `coherent` is shared with the queue family. */
#define VYRE_NONTEMPORAL    0x1u
#define VYRE_NON_PRIVATE    0x20u
#define VYRE_MAKE_AVAILABLE 0x2000u
#define VYRE_MAKE_VISIBLE   0x4000u
#define VYRE_SHARING        (VYRE_NON_PRIVATE | VYRE_MAKE_AVAILABLE | VYRE_MAKE_VISIBLE)

/* imm of a `case`: 1 if the default is entered here too.  Its a is 0 (default alone), a const row, or a tuple of const rows. */
#define VYRE_CASE_DEFAULT 1u

/* imm of a row of kind tuple: how many parts, and the type of each where they are all of one type (else 0). */
#define VYRE_TUPLE_OF(count, type) ((uint32_t)(count) | (uint32_t)(type) << 16)
#define VYRE_TUPLE_COUNT(imm)      (0xffffu & (imm))
#define VYRE_TUPLE_TYPE(imm)       ((vyre_type)((imm) >> 16 & 0xffu))

/* Which lanes a subgroup row combines: in imm of subgroup_add to subgroup_xor; of subgroup_ballot_count the first three; of
 * subgroup_rotate 0 (the whole subgroup) or clustered.  The cluster's size, a power of two, is there where it is clustered, else 0.
 */
typedef enum vyre_group { VYRE_GROUP_REDUCE, VYRE_GROUP_INCLUSIVE, VYRE_GROUP_EXCLUSIVE, VYRE_GROUP_CLUSTERED } vyre_group;
#define VYRE_GROUP(group, cluster) ((uint32_t)(group) | (uint32_t)(cluster) << 8)
#define VYRE_GROUP_OF(imm)         (255u & (imm))
#define VYRE_GROUP_CLUSTER(imm)    ((imm) >> 8)

/* b of a subgroup_quad_swap, a const row. */
typedef enum vyre_quad { VYRE_QUAD_HORIZONTAL, VYRE_QUAD_VERTICAL, VYRE_QUAD_DIAGONAL } vyre_quad;

/* imm of `if` and `switch`, and of `for` and `loop`: what the program asks of the driver's compiler, with SPIR-V's numbers.  Hints
 * change no result, but some are promises (dependencies, least and most iterations), which a pass that breaks them removes.  Some
 * of a loop have a literal: the literals are the one decoration of the row, with this number, lowest bit first. */
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
  VYRE_HINT_LITERALS = 0x1f8, /* those with a literal */
} vyre_hint;
#define VYRE_HINT_BITS        9u
#define VYRE_DECORATION_HINTS 0xfffffffeu

/* A `verbatim` row is alone in its program: the module that the program came from, word for word, is the one entry of its
 * decorations, which has this number. */
#define VYRE_DECORATION_MODULE 0xffffffffu

/* imm of a shuffle: 4 bits a result lane, lane 0 lowest: 0..3 of a, 4..7 of b. */
#define VYRE_SHUFFLE_LANE(imm, lane) ((imm) >> (4u * (lane)) & 7u)

#ifdef __cplusplus
}
#endif
#endif
