/* Opcodes, scalar kinds, the packing of a row's op word, the payloads of rows, and the view through which passes read columns.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TYPES_H
#define VYRE_TYPES_H

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "vyre runs on little-endian systems only"
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the op set. Each new op, row flag or scalar kind raises it. Nothing is ever removed, renumbered or changed in
 * meaning. */
#define VYRE_OPSET_VERSION 2u
#define VYRE_OPSET_ANY     UINT32_MAX /* as a plugin's last op set: it handles unknown ops by their flags */

/* An upper bound of op numbers, in this op set and in all later ones. A plugin's array indexed by op has this many elements,
 * because a host may have more ops than the plugin was built with (vyre_view.op_count). */
#define VYRE_OP__ROOM 1024u

/* The limits of a program, which the verifier checks. The pass `limits` has the same meanings and may be given lower numbers. */
#define VYRE_MOST_ROWS    16777216u /* rows of a program, including its own row */
#define VYRE_MOST_DEPTH   1048576u  /* rows of a path over operands, including both ends */
#define VYRE_MOST_NESTING 1023u     /* control rows within each other. SPIR-V has the same limit */

typedef enum vyre_opcode {
#define VYRE_OP(number, id, text, operands, class, rule, flags, undefined, fold, cost, laws) VYRE_OP_##id = number,
#include "vyre/ops.def"
} vyre_opcode;

static inline bool
vyre_op_is_atomic(uint32_t op)
{
  return op >= VYRE_OP_atomic_load && op <= VYRE_OP_atomic_fmax;
}

/* Returns whether the op combines lanes of a subgroup. Subgroup built-ins do not: vyre_op_is_invocation. */
static inline bool
vyre_op_is_subgroup(uint32_t op)
{
  return op >= VYRE_OP_subgroup_elect && op <= VYRE_OP_subgroup_xor;
}

/* Scalar kinds. The numbers are frozen with the op set. A type byte is a kind and 1 to 4 lanes: kind << 2 | lanes - 1. A plugin's
 * array indexed by kind has VYRE_KIND__ROOM elements. A kind that is newer than the plugin counts as one without bits and class. */
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
  VYRE_TUPLE = 13,  /* several results: VYRE_TUPLE_* */
  VYRE_PATH = 14,   /* an address: a `buffer` or an `at` row */
  VYRE_OPAQUE = 15, /* an image, a pointer and the like: vyre/opaque.h */
  VYRE_KIND__COUNT
} vyre_kind;

#define VYRE_KIND__ROOM 64u

typedef uint8_t vyre_type;

#define VYRE_TYPE(kind, lanes) ((vyre_type)((unsigned)(kind) << 2 | ((unsigned)(lanes)-1u)))
#define VYRE_TYPE_KIND(type)   ((vyre_kind)((type) >> 2))
#define VYRE_TYPE_LANES(type)  ((3u & (uint32_t)(type)) + 1u)

/* Returns whether vectors may have lanes of the kind: bool, integers and floats. */
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

/* Returns the integer kind with the same number of bits and the given sign. */
static inline vyre_kind
vyre_kind_with_sign(vyre_kind kind, bool is_signed)
{
  return (vyre_kind)(is_signed ? (unsigned)kind & ~1u : (unsigned)kind | 1u);
}

/* Returns the bits of a scalar: 1 for bool, 0 if the kind is not a scalar. In memory a bool has 4 bytes. */
static inline uint32_t
vyre_kind_bits(vyre_kind kind)
{
  static const uint8_t bits[VYRE_KIND__COUNT] = {0, 1, 8, 8, 16, 16, 32, 32, 64, 64, 16, 32, 64, 0, 0, 0};
  return (unsigned)kind < VYRE_KIND__COUNT ? bits[kind] : 0;
}

/* Returns the bytes of a scalar in memory, or 0 if the kind is not a scalar. */
static inline uint32_t
vyre_kind_bytes(vyre_kind kind)
{
  return kind == VYRE_BOOL ? 4 : vyre_kind_bits(kind) / 8;
}

/* The op word, bit 31 to bit 0:  | flags 8 | type 8 | opcode 16 | */
#define VYRE_ROW(opcode, type, flags) ((uint32_t)(opcode) | (uint32_t)(type) << 16 | (uint32_t)(flags) << 24)
#define VYRE_ROW_OP(word)             (0xffffu & (word))
#define VYRE_ROW_TYPE(word)           ((vyre_type)((word) >> 16 & 0xffu))
#define VYRE_ROW_FLAGS(word)          ((word) >> 24)

typedef enum vyre_row_flag {
  VYRE_ROW_IMM = 1,       /* The right operand is the literal in imm and imm_hi, splatted; b is 0. */
  VYRE_ROW_DECO = 2,      /* The row has decorations and is never equal to another row. */
  VYRE_ROW_EXACT = 4,     /* NoContraction, `precise` */
  VYRE_ROW_RELAXED = 8,   /* RelaxedPrecision */
  VYRE_ROW_VOLATILE = 16, /* Memory row: every access happens, and no two loads are equal. */
  VYRE_ROW_COHERENT = 32, /* Memory row: writes of other invocations are visible. */
  VYRE_ROW_NONUNIFORM = 64,
} vyre_row_flag;

/* The flags of an op. ops.def says what each means. */
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
  enum { /* bit k is kind k */
    BOOLS = 1 << VYRE_BOOL,
    SIGNEDS = 1 << VYRE_I8 | 1 << VYRE_I16 | 1 << VYRE_I32 | 1 << VYRE_I64,
    UNSIGNEDS = 1 << VYRE_U8 | 1 << VYRE_U16 | 1 << VYRE_U32 | 1 << VYRE_U64,
    INTS = SIGNEDS | UNSIGNEDS,
    FLOATS = 1 << VYRE_F16 | 1 << VYRE_F32 | 1 << VYRE_F64
  };
  static const uint16_t kinds[] = {0, BOOLS | INTS | FLOATS, BOOLS, UNSIGNEDS, SIGNEDS, INTS, FLOATS, INTS | FLOATS, BOOLS | INTS};
  return (unsigned)klass < sizeof(kinds) / sizeof(*kinds) && (unsigned)kind < VYRE_KIND__COUNT && (kinds[klass] >> kind & 1) != 0;
}

typedef enum vyre_rule { VYRE_RULE_VOID, VYRE_RULE_SAME, VYRE_RULE_BOOL, VYRE_RULE_FREE, VYRE_RULE_OWN } vyre_rule;

typedef enum vyre_undefined {
  VYRE_UNDEFINED_NEVER,
  VYRE_UNDEFINED_OUT_OF_BOUNDS,
  VYRE_UNDEFINED_DIV_BY_0,
  VYRE_UNDEFINED_DIV_OVERFLOW,   /* division by 0, or MIN by -1 */
  VYRE_UNDEFINED_SHIFT_RANGE,    /* count >= bits */
  VYRE_UNDEFINED_BITFIELD_RANGE, /* offset + count > bits */
  VYRE_UNDEFINED_LANE_RANGE,
  VYRE_UNDEFINED_NAN_OPERAND,
  VYRE_UNDEFINED_CLAMP_RANGE, /* low > high; for fclamp also a NaN; for smoothstep low >= high */
  VYRE_UNDEFINED_FLOAT_RANGE, /* float to integer: the value is a NaN or does not fit */
  VYRE_UNDEFINED_DOMAIN,      /* where GLSL.std.450 says "undefined" */
  VYRE_UNDEFINED_LANES, /* subgroup: a lane that is inactive or out of range, a lane or value that must be uniform and is not, a
                         * cluster that is too large */
  VYRE_UNDEFINED_DOT_OVERFLOW, /* sdot, udot and sudot with operand c: a product or the sum of the products does not fit the result
                                * type */
} vyre_undefined;

typedef enum vyre_fold { VYRE_FOLD_NONE, VYRE_FOLD_LIBM, VYRE_FOLD_EXACT } vyre_fold;

/* The result of an op on two equal operands, integers or bool. */
typedef enum vyre_self { VYRE_SELF_NONE, VYRE_SELF_ZERO, VYRE_SELF_ONE, VYRE_SELF_LEFT } vyre_self;

/* The literal that is an op's result if one of its operands is that literal, on integers and bool. */
typedef enum vyre_absorbs {
  VYRE_ABSORBS_NONE,
  VYRE_ABSORBS_ZERO,
  VYRE_ABSORBS_ONES,
  VYRE_ABSORBS_LEAST, /* of signed integers */
  VYRE_ABSORBS_GREATEST,
} vyre_absorbs;

/* Returns the bits of the literal. `kind` is an integer or bool, and `absorbs` is not VYRE_ABSORBS_NONE. */
static inline uint64_t
vyre_absorbs_bits(vyre_absorbs absorbs, vyre_kind kind)
{
  const uint64_t ones = UINT64_MAX >> (64 - vyre_kind_bits(kind));
  return absorbs == VYRE_ABSORBS_ZERO    ? 0
         : absorbs == VYRE_ABSORBS_ONES  ? ones
         : absorbs == VYRE_ABSORBS_LEAST ? ones ^ ones >> 1
                                         : ones >> 1;
}

/* Bits of a comparison: the outcomes for which it is true, and how its operands are ordered. Integers have the outcomes LESS, EQUAL
 * and GREATER. */
typedef enum vyre_compares {
  VYRE_COMPARES_LESS = 1,
  VYRE_COMPARES_EQUAL = 2,
  VYRE_COMPARES_GREATER = 4,
  VYRE_COMPARES_UNORDERED = 8, /* an operand is a NaN */
  VYRE_COMPARES_UNSIGNED = 16,
  VYRE_COMPARES_SIGNED = 32,
  VYRE_COMPARES_EITHER = VYRE_COMPARES_UNSIGNED | VYRE_COMPARES_SIGNED, /* eq and ne */
  VYRE_COMPARES_FLOAT = 64,
} vyre_compares;
#define VYRE_COMPARES_OUTCOMES(compares) ((uint32_t)(compares)&15u)
#define VYRE_COMPARES_ORDER(compares)    ((uint32_t)(compares) & ~15u)

typedef struct vyre_op_info {
  const char *text; /* NULL if no op has the number */
  uint16_t flags;
  uint8_t operands;
  uint8_t klass;     /* vyre_class */
  uint8_t rule;      /* vyre_rule */
  uint8_t undefined; /* vyre_undefined */
  uint8_t fold;      /* vyre_fold */
  uint8_t cost;
  uint16_t mirrored; /* comparison: the op that gives the same result with a and b exchanged; otherwise 0 */
  uint16_t inverse;  /* comparison: the op that gives the opposite result */
  uint16_t combines; /* atomic or subgroup op: the op that combines two values; otherwise 0 */
  uint8_t compares;  /* vyre_compares, or 0 if the op is not a comparison */
  uint8_t self;      /* vyre_self; for comparisons, of integers */
  uint8_t absorbs;   /* vyre_absorbs */
  uint8_t opset;     /* the op set that introduced the op */
} vyre_op_info;

/* Returns whether rows of the op have a version: reads that may be equal to other reads. */
static inline bool
vyre_op_has_version(const vyre_op_info *info)
{
  return (info->flags & (VYRE_OP_READS | VYRE_OP_IDENTITY)) == VYRE_OP_READS;
}

/* Returns whether the op is a built-in: gid to subgroup_lt_mask. */
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

/* Returns the type of a built-in. */
static inline vyre_type
vyre_invocation_type(uint32_t op)
{
  return VYRE_TYPE(VYRE_U32, op >= VYRE_OP_subgroup_eq_mask ? 4 : op < VYRE_OP_lindex ? 3 : 1);
}

/* The cost of a row on a GPU, by the cost model (docs/cost-model.md). A plugin sets struct_size before it calls the host. */
typedef struct vyre_cost {
  uint32_t struct_size;
  uint32_t issue;     /* quarters of the time for which a 32-bit addition occupies a GPU's lanes */
  uint32_t latency;   /* cycles until the result is available */
  uint32_t registers; /* 32-bit registers that hold the result */
} vyre_cost;

/* A row id; 0 is the null row. Loops over columns use a plain uint32_t. */
typedef struct vyre_row {
  uint32_t id;
} vyre_row;

#define VYRE_NONE ((vyre_row){0})

/* A version with this bit set is VYRE_JOIN | index of a join, where edges bring different states together (docs/ir.md, "Versions").
 * Any other version is a row. The joins of a program are adjacent. Each follows the joins among its parts, except those that a back
 * edge brings. vyre_join and vyre_part never get more fields; additions become arrays beside them. */
#define VYRE_JOIN 0x80000000u

typedef struct vyre_join {
  uint32_t row;          /* the construct before the join, or the region whose head the join is */
  uint32_t first, count; /* range of vyre_view.parts */
} vyre_join;

/* The version that an edge brings to a join. After an `if` and at a head there is a part for every edge: first the edge from before
 * the construct, then the others in program order. After a `switch`, `block` or loop there is a part for every edge that brings
 * another version than the one before the construct. If other edges exist, one last part stands for all of them. */
typedef struct vyre_part {
  uint32_t version;
  uint32_t edge; /* the region at whose end control leaves, or the jump; the construct itself for the edge from before it or from a
                  * `for`'s test */
} vyre_part;

/* The columns of a module, read only. They move when the module is sealed and while it is built (ir.h), never inside a pass. `rows`
 * grows when rows are made. One row over the columns:
 *
 *     op                 imm  imm_hi  a  b  c  parent  prev  next  first  last
 *     | flags|type|op |   payload     operands   structure: the enclosing region, the neighbours, a region's children
 *
 * A row with op 0 is dead; row 0 always is. The first and last children of row 0 are the module's first and last programs.
 *
 * The columns of analyses (docs/ir.md, "Loops, dominance, levels") are NULL unless the analysis was made and is shown. A pass sees
 * the analyses that it requires. They describe the module as it was when they were made, and are 0 for newer rows. view.h has
 * helpers that read them. */
typedef struct vyre_view {
  uint32_t struct_size;
  uint32_t rows; /* including row 0 */
  const uint32_t *op, *imm, *imm_hi, *a, *b, *c;
  const uint32_t *parent, *prev, *next, *first, *last;
  const vyre_op_info *op_infos; /* by op, with a stride: vyre_op_info_of; includes ops newer than the plugin */
  const uint32_t *loop;         /* VYRE_LOOPS: the innermost `for` or `loop` around the row, or 0 */
  const uint32_t *loop_next;    /* of a loop, the next loop, inner ones before outer ones; of row 0, the first loop; otherwise 0 */
  const uint32_t *loop_exit;    /* of a loop, the first row directly in its body that may end an iteration early, or 0 */
  const uint32_t *end;          /* VYRE_DOMINANCE: the last row inside the row, or the row itself */
  const uint32_t *level;        /* VYRE_LEVELS: steps on the longest path over operands to a row without operands */
  const uint32_t *depth;        /* number of rows around the row: 0 for a program, 1 for its children */
  const uint32_t *hash;         /* VYRE_HASHES: a hash of the row's value; equal rows have equal hashes */
  const uint32_t *canonical;    /* VYRE_CLASSES: the smallest row of the program that is equal to the row */
  const uint32_t *version;      /* VYRE_VERSIONS: of a read, the state that it sees; of a write of memory, the state before it */
  const vyre_join *joins;       /* VYRE_VERSIONS: by index, from 1 */
  const vyre_part *parts;
  uint32_t join_count, part_count;
  uint32_t op_count;       /* one more than the greatest op number of the host, at most VYRE_OP__ROOM */
  uint32_t op_info_stride; /* bytes from one element of op_infos to the next */
} vyre_view;

/* Returns the facts about an op that is less than view->op_count. */
static inline const vyre_op_info *
vyre_op_info_of(const vyre_view *view, uint32_t op)
{
  return (const vyre_op_info *)(const void *)((const char *)view->op_infos + (size_t)op * view->op_info_stride);
}

/* Analyses that the library computes. */
#define VYRE_VERSIONS  (1u << 0)
#define VYRE_LOOPS     (1u << 1)
#define VYRE_DOMINANCE (1u << 2)
#define VYRE_LEVELS    (1u << 3)
#define VYRE_ANALYSES  (VYRE_VERSIONS | VYRE_LOOPS | VYRE_DOMINANCE | VYRE_LEVELS) /* all of them */

/* Columns that a pass computes. Passes require them as they require analyses. The pass that provides a column may require analyses
 * and the columns listed before it. */
#define VYRE_HASHES  (1u << 4)
#define VYRE_CLASSES (1u << 5)
#define VYRE_COLUMNS (VYRE_HASHES | VYRE_CLASSES)

/* Region roles: imm of a `region` row. */
typedef enum vyre_role { VYRE_THEN, VYRE_ELSE, VYRE_BODY, VYRE_CONTINUING, VYRE_BLOCK } vyre_role;

/* Program mode bits: imm of a `program` row. */
typedef enum vyre_program_mode {
  VYRE_PROGRAM_RELAXED = 1,    /* undefined where ops.def says so; otherwise strict */
  VYRE_PROGRAM_FLUSH_32 = 2,   /* f32 denormals are flushed */
  VYRE_PROGRAM_TO_ZERO_32 = 4, /* f32 rounds toward zero */
  VYRE_PROGRAM_FLUSH_16 = 8,   /* the same for f16 and f64 */
  VYRE_PROGRAM_TO_ZERO_16 = 16,
  VYRE_PROGRAM_FLUSH_64 = 32,
  VYRE_PROGRAM_TO_ZERO_64 = 64,
  VYRE_PROGRAM_FLOAT_MODES = 126, /* If any is set, no float is folded and no float rule applies. */
} vyre_program_mode;

/* The float controls that SPIR-V can require of a device, for one kind. VYRE_FLOAT_CONTROLS shifts them to the bits of a kind. */
typedef enum vyre_float_control {
  VYRE_FLOAT_DENORM_PRESERVE = 1,
  VYRE_FLOAT_DENORM_FLUSH = 2,
  VYRE_FLOAT_SIGNED_ZERO_INF_NAN = 4, /* signed zeros, infinities and NaNs are preserved */
  VYRE_FLOAT_ROUND_EVEN = 8,
  VYRE_FLOAT_ROUND_TO_ZERO = 16,
} vyre_float_control;
#define VYRE_FLOAT_CONTROLS(kind, controls) ((uint32_t)(controls) << (5u * ((uint32_t)(kind) - (uint32_t)VYRE_F16)))
#define VYRE_FLOAT_CONTROLS_ALL             0x7fffu

/* Returns the mode bit that flushes denormals of a float kind, or 0 if the kind is not a float. */
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

/* Address space: imm_hi bits 0 to 3 of a `buffer` row. Access: the bits from 8 on. */
typedef enum vyre_space {
  VYRE_SPACE_STORAGE,
  VYRE_SPACE_UNIFORM,
  VYRE_SPACE_PUSH,
  VYRE_SPACE_WORKGROUP,
  VYRE_SPACE_PRIVATE,
  VYRE_SPACE_CONSTANT,
  VYRE_SPACE_HANDLE, /* images, samplers and the like, bound from outside */
  VYRE_SPACE__COUNT
} vyre_space;

typedef enum vyre_access {
  VYRE_ACCESS_NO_WRITE = 1 << 8, /* `ro` */
  VYRE_ACCESS_NO_READ = 1 << 9,  /* `wo` */
  VYRE_ACCESS_COHERENT = 1 << 10,
  VYRE_ACCESS_VOLATILE = 1 << 11,
  VYRE_ACCESS_RESTRICT = 1 << 12,
  VYRE_ACCESS_ALIASED = 1 << 13,
  /* Relaxed programs: private memory without a value until it is stored. On a `var`, in imm_hi: the initial value of each lane is
   * arbitrary, not zero. */
  VYRE_ACCESS_UNSET = 1 << 14,
} vyre_access;

#define VYRE_BUFFER_SPACE(imm_hi) ((vyre_space)(15u & (imm_hi)))

/* The form of a type of memory: vyre_type_info.form and host->type_info. */
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
  VYRE_TYPE_RUNTIME = 4,      /* array whose length follows from the buffer's size */
  VYRE_TYPE_BUFFER_BLOCK = 8, /* struct: BufferBlock, SPIR-V before 1.3 */
} vyre_type_flag;

/* A bit of an alias class: accesses to the class or to a part of it are coherent or volatile. The other bits are the class's first
 * buffer row. */
#define VYRE_ALIAS_SHARED (UINT32_C(1) << 31)

/* Scopes and semantics of a memory row or barrier, in imm: semantics << 16 | memory scope << 8 | execution scope. Scopes are
 * SPIR-V's numbers (Device 1, Workgroup 2, Subgroup 3, Invocation 4). Semantics are SPIR-V's mask, 16 bits. A barrier with
 * execution scope Invocation only orders memory. Plain loads and stores have 0. */
#define VYRE_ORDER(execution, memory, semantics) ((uint32_t)(semantics) << 16 | (uint32_t)(memory) << 8 | (uint32_t)(execution))
#define VYRE_ORDER_EXECUTION(imm)                (255u & (imm))
#define VYRE_ORDER_MEMORY(imm)                   ((imm) >> 8 & 255u)
#define VYRE_ORDER_SEMANTICS(imm)                ((imm) >> 16)
#define VYRE_SEMANTICS                           0xffdeu /* the valid bits: order, kinds of memory, available, visible, volatile */
/* Bits in the imm of a load, store or copy. There, VYRE_ORDER has the scope in which a copy's source is made visible, the scope in
 * which stored data is made available or loaded data visible, and these bits. Without a bit of VYRE_SHARING, a `coherent` access is
 * shared with the queue family. */
#define VYRE_NONTEMPORAL    0x1u
#define VYRE_NON_PRIVATE    0x20u
#define VYRE_MAKE_AVAILABLE 0x2000u
#define VYRE_MAKE_VISIBLE   0x4000u
#define VYRE_SHARING        (VYRE_NON_PRIVATE | VYRE_MAKE_AVAILABLE | VYRE_MAKE_VISIBLE)

/* imm of a `case`: 1 if the case is also the default. Operand a is 0 (default alone), a const row, or a tuple of const rows. */
#define VYRE_CASE_DEFAULT 1u

/* imm of a row of kind tuple: the number of parts, and their common type, or 0 if their types differ. */
#define VYRE_TUPLE_OF(count, type) ((uint32_t)(count) | (uint32_t)(type) << 16)
#define VYRE_TUPLE_COUNT(imm)      (0xffffu & (imm))
#define VYRE_TUPLE_TYPE(imm)       ((vyre_type)((imm) >> 16 & 0xffu))

/* How a subgroup row combines lanes: imm of subgroup_add to subgroup_xor. subgroup_ballot_count has the first three,
 * subgroup_rotate has 0 (the whole subgroup) or clustered. The cluster size, a power of two, is in the bits from 8 on, and is 0 if
 * the row is not clustered. */
typedef enum vyre_group { VYRE_GROUP_REDUCE, VYRE_GROUP_INCLUSIVE, VYRE_GROUP_EXCLUSIVE, VYRE_GROUP_CLUSTERED } vyre_group;
#define VYRE_GROUP(group, cluster) ((uint32_t)(group) | (uint32_t)(cluster) << 8)
#define VYRE_GROUP_OF(imm)         (255u & (imm))
#define VYRE_GROUP_CLUSTER(imm)    ((imm) >> 8)

/* Operand b of subgroup_quad_swap, a const row. */
typedef enum vyre_quad { VYRE_QUAD_HORIZONTAL, VYRE_QUAD_VERTICAL, VYRE_QUAD_DIAGONAL } vyre_quad;

/* Hints for the driver's compiler, with SPIR-V's numbers: imm of `if` and `switch` (the first two), and of `for` and `loop` (the
 * others). Hints change no result. Some are promises about iterations, which a pass that breaks them removes. The literals of hints
 * are one decoration of the row, VYRE_DECORATION_HINTS, lowest bit first. */
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
  VYRE_HINT_LITERALS = 0x1f8, /* the hints that have a literal */
} vyre_hint;
#define VYRE_HINT_BITS        9u
#define VYRE_DECORATION_HINTS 0xfffffffeu

/* The decoration of a `verbatim` row: all words of the SPIR-V module that the program came from. The row is alone in its
 * program. */
#define VYRE_DECORATION_MODULE 0xffffffffu

/* imm of a shuffle: 4 bits for each result lane, lane 0 lowest. 0 to 3 select a lane of a, 4 to 7 one of b. */
#define VYRE_SHUFFLE_LANE(imm, lane) ((imm) >> (4u * (lane)) & 7u)

#ifdef __cplusplus
}
#endif
#endif
