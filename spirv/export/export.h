/* State of the SPIR-V exporter, and functions that append instructions.
 *
 * A module is written in one walk over the rows of each program of the input, in program order.  Each section of a SPIR-V module is
 * a growing array of words; the arrays are joined at the end.  `id`, `aux` and `use` are arrays by row of the current program, with
 * index row - base.  Types, constants and variables are interned by their words, so that programs share equal ones.
 *
 * Errors: `status` keeps the first error, or `out_of_memory` is set.  After it, functions continue without effect: appending always
 * has room, and ids are 0.  The walk checks for errors once per row.  Functions return ids, or 0 on failure, unless noted.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CODEGEN_SPIRV_EXPORT_H
#define VYRE_CODEGEN_SPIRV_EXPORT_H

#include "vyre/opaque.h"
#include "vyre/spirv.h"

#include <spirv/unified1/spirv.h>
#include <spirv/unified1/GLSL.std.450.h>

/* A function that is called only on errors. */
#define VYRE_SPV_COLD __attribute__((cold))

typedef struct vyre_spv_words {
  uint32_t *data;
  size_t count, capacity;
} vyre_spv_words;

/* Bits of `use`, for a row of the current program. */
enum {
  VYRE_SPV_USED_POINTER = 1,  /* a path of a memory access, which needs an access chain */
  VYRE_SPV_USED_MATRIX = 2,   /* a tuple that is used as a matrix */
  VYRE_SPV_LEFT = 4,          /* a block or switch that some `leave` leaves */
  VYRE_SPV_ONE_LANE = 4,      /* a built-in of which only one lane is used; never a block, so it shares the bit */
  VYRE_SPV_CONTINUED = 8,     /* a loop with a `continue` in an arm */
  VYRE_SPV_WRAPPED = 16,      /* a buffer that is wrapped in a struct as its only member */
  VYRE_SPV_IN_BOUNDS = 64,    /* a buffer whose accesses the caller guarantees to be in bounds */
  VYRE_SPV_BRANCH = 32,       /* a path whose guard needs a branch, because a runtime array may be empty */
  VYRE_SPV_EITHER_SIGN = 256, /* an integer of the other signedness without an instruction, because its users accept either */
  VYRE_SPV_SPECIALIZED = 128, /* a specialization constant, or an OpSpecConstantOp on specialization constants */
  VYRE_SPV_HAS_TAIL = 512,    /* a construct whose edges all execute its tail (tails.c) */
  VYRE_SPV_HAS_JOINS = 1024,  /* a construct or region whose `aux` is the index of its joins */
  VYRE_SPV_IN_MEMORY = 2048,  /* a var that is a function variable in SPIR-V (demote.c) */
};

/* Number of built-ins, gid to subgroup_lt_mask. */
enum { VYRE_SPV_PLACES = VYRE_OP_subgroup_lt_mask - VYRE_OP_gid + 1 };

/* An open construct that jumps can leave. */
typedef struct vyre_spv_scope {
  uint32_t row;
  uint32_t kind;                          /* VYRE_SPV_LOOP or VYRE_SPV_SWITCH */
  uint32_t merge, next;                   /* labels; next: a loop's continue target */
  uint32_t known;                         /* smaller ids dominate all jumps out of it; 0: all ids so far do */
  size_t changes;                         /* of the values of vars, before it */
  vyre_spv_words merge_edges, next_edges; /* edges to `merge` and to `next` */
} vyre_spv_scope;

enum { VYRE_SPV_LOOP, VYRE_SPV_SWITCH };

/* Kinds of interned results.  A comment lists the words of the key, and after `id:` the interned number if it is not an id. */
enum {
  VYRE_SPV_A_SCALAR = 1,     /* bits, kind */
  VYRE_SPV_A_POINTER,        /* storage class, id of the type */
  VYRE_SPV_A_TYPE,           /* vyre_type_id, mode */
  VYRE_SPV_LISTED,           /* interface of a program: program row, id of the variable */
  VYRE_SPV_A_SET,            /* instruction set: vyre_string */
  VYRE_SPV_AN_INPUT,         /* built-in without an op: BuiltIn number, id of the pointer type */
  VYRE_SPV_A_ZERO,           /* vyre_type_id; the interned id is 1 + the type's HAS_ bits (zeros.c) */
  VYRE_SPV_A_STRUCT,         /* written struct with layout: vyre_string of its name */
  VYRE_SPV_A_STRING,         /* string of the input: its id in the input */
  VYRE_SPV_A_KEPT,           /* kept string or debug instruction: its id in the input; id: 1 + its index */
  VYRE_SPV_A_DEBUG,          /* kept debug instruction: its id in the input, 0: DebugInfoNone, UINT32_MAX: DebugExpression */
  VYRE_SPV_A_DEBUG_VARIABLE, /* id of a variable in the input */
  VYRE_SPV_A_DEFINITION,     /* id of a function in the input; id: 1 if its DebugFunctionDefinition is written */
  VYRE_SPV_A_SOURCE,         /* vyre_string */
  VYRE_SPV_VALUES,     /* program and scope of a source variable; id: number of its values, or UINT32_MAX if they are not shown */
  VYRE_SPV_LAST_VALUE, /* program and scope of a source variable; id: order of its last value */
  VYRE_SPV_WRITES,     /* buffer; id: number of rows that write to it */
  VYRE_SPV_AN_INLINED_AT,  /* caller, line, call */
  VYRE_SPV_A_VARIABLE_ROW, /* id of a variable in the input; id: a row of the variable */
  VYRE_SPV_AN_ENTRY,       /* program row; id: its function */
  VYRE_SPV_A_REFLECTED,    /* result of a reflection instruction in the input */
  VYRE_SPV_A_RESULT,       /* hash of an instruction's words, opcode; `results` instead of an id */
  VYRE_SPV_A_DECORATION,   /* reflection decoration: target and number, 1 + member; id: 1 if it is written */
  VYRE_SPV_A_VARIABLE,     /* must be last, because the set is added: id in the input and id of the pointer type, binding */
};
#define VYRE_SPV_SMALL 32u /* smaller 32-bit integers are found without a search */
typedef struct vyre_spv_made {
  uint64_t a;
  uint32_t b, what; /* what: kind */
  union {
    struct vyre_spv_result *results; /* the first one with these keys (words.c) */
    uint32_t id;
  };
} vyre_spv_made;

#define VYRE_SPV_DEPTH 1023u /* SPIR-V's universal limit for nested constructs */

/* The source position of the code being written. */
typedef struct vyre_spv_position {
  vyre_scope scope;
  uint32_t line, column; /* line: 0 if unknown */
} vyre_spv_position;

typedef struct vyre_spv {
  vyre_module *module; /* read only, for access to side tables */
  const vyre_view *view;
  const uint32_t *op, *imm, *imm_hi, *a, *b, *c, *parent, *next, *first, *last;
  const vyre_string *row_names;
  uint32_t named, lined; /* limits of the rows that may have a name, a line; 0 if none are written */
  const vyre_allocator *allocator;
  struct vyre_spv_chunk *chunks;
  char *chunk_at;
  size_t chunk_left;
  vyre_status status;
  bool out_of_memory;
  bool failed; /* `status` is set, or `out_of_memory` */
  bool strip;
  uint32_t float_controls;  /* float controls that the module may require */
  const uint8_t *in_bounds; /* by row of the module, or NULL; borrowed */
  bool shared_blocks;       /* the input declares that workgroup memory has layouts */
  uint32_t input, version, memory_model, next_id;

  /* sections, in the module's order */
  vyre_spv_words capabilities, extensions, imports, entries, modes, strings, names, processed, decorations, globals, code;
  bool constant; /* rows become constants and OpSpecConstantOp */
  bool plain;    /* not `constant`, and not a strict program: operations need no further words */

  /* interning */
  vyre_spv_made **made, *new_made; /* open addressing (vyre_spv_made_of), and `made_left` unused entries */
  uint32_t made_slots, made_left;
  vyre_spv_made no_made;             /* the result of vyre_spv_made_of if memory ran out */
  uint32_t small[2][VYRE_SPV_SMALL]; /* ids of i32 and u32 constants, or 0 */
  uint32_t value_types[256];
  uint32_t glsl;
  uint32_t builtins[VYRE_SPV_PLACES]; /* by op - VYRE_OP_gid */
  uint32_t workgroup_size;            /* the WorkgroupSize composite, or 0 */
  uint32_t workgroup_key[3];
  bool workgroup_seen;

  /* the current program */
  uint32_t program, base, end, count; /* row numbers: base to end, `count` of them */
  uint32_t row;                       /* being written */
  bool strict, exact;
  bool specialized;    /* it has specialization constants */
  uint32_t sure_block; /* label of the first block of the only program, which each pipeline executes; otherwise 0 */
  uint32_t *id, *aux;
  uint16_t *use;
  uint32_t capacity;
  vyre_spv_words interface;
  uint32_t builtins_used;

  /* control */
  uint32_t block;               /* label of the current block */
  bool dead, fell;              /* the block has ended with a jump; the case ended with a fallthrough */
  uint32_t breakif;             /* the row that ended the continuing region, or 0 */
  uint32_t continuing, nesting; /* numbers of enclosing continuing regions, and of enclosing regions */
  uint32_t nests, loops;        /* numbers of constructs in the program, and of loops among them, from the survey */
  vyre_spv_words declared;      /* rows of the workgroup, the buffers, and the vars that are function variables */
  bool demoted;                 /* there are vars that are function variables */
  vyre_spv_words vars;          /* rows of the vars that are values */
  vyre_spv_words events;        /* from the survey: gets, sets, jumps, starts and ends of constructs and regions (control.h) */
  uint32_t open;                /* the innermost construct, region or program around the last event */
  uint32_t inside, deepest;     /* numbers of constructs around the last event, and the most around an event */
  vyre_spv_words joins;         /* from live.c: row of a construct or region, number of vars, vars */
  vyre_spv_words changes;       /* pairs: var, its value before a change */
  vyre_spv_words carried;       /* ids that edges bring to joins, or 0 for zero */
  uint32_t carry;               /* index in `carried` of the next edge's values; 0 if it brings the current values */
  vyre_spv_words crossed;       /* from the survey, pairs: a construct, and the target of a leave that crosses it */
  vyre_spv_words leaves;        /* rows, from the survey */
  /* pairs: a target of leaves that continue after the construct being closed, and the index of their values */
  vyre_spv_words leaving;
  bool resigned;         /* some row may have VYRE_SPV_EITHER_SIGN */
  vyre_spv_words places; /* rows of built-ins of which lanes are used */
  vyre_spv_scope *scopes;
  uint32_t depth, scope_capacity;
  vyre_spv_position here, before; /* position of the next instruction; position before the last change at `line_start` */
  vyre_spv_words forward;         /* (id, storage class, stride, vyre_string): pointers to structs that are not written yet */
  size_t line_start, line_end;    /* range of words in `code` with the last OpLine or DebugLine */
  uint32_t debug_set, debug_void; /* 0 if the input has no debug instructions */
  bool has_values;                /* rows of the program are values of source variables */
  bool is_silent;                 /* writes no debug values: the code is of an arm that becomes only an edge */
  vyre_spv_words files;           /* pairs: vyre_string of a file's name, id of its OpString */
  vyre_spv_words kept_strings;    /* pairs: index in the input's debug list, id in the output */
  const vyre_word_list *debug;    /* the input's kept instructions; borrowed */
  vyre_spv_words scratch, marks;
} vyre_spv;

/* ---- words.c ---- */

/* Allocates memory that lives until the export ends.  Returns NULL if out of memory. */
void *vyre_spv_memory(vyre_spv *s, size_t bytes);
void vyre_spv_free(vyre_spv *s); /* frees all memory of the export */
bool vyre_spv_grow(vyre_spv *s, vyre_spv_words *words, size_t count);
VYRE_SPV_COLD uint32_t *vyre_spv_nowhere(void);
/* Returns room for `count` words at the end; never NULL.  `count` is at most 16. */
static inline uint32_t *
vyre_spv_room(vyre_spv *s, vyre_spv_words *words, size_t count)
{
  if (words->capacity - words->count < count && !vyre_spv_grow(s, words, count))
    return vyre_spv_nowhere();
  uint32_t *at = words->data + words->count;
  words->count += count;
  return at;
}
/* Returns room for any number of words at the end, or NULL if out of memory. */
static inline uint32_t *
vyre_spv_reserve(vyre_spv *s, vyre_spv_words *words, size_t count)
{
  if (words->capacity - words->count < count && !vyre_spv_grow(s, words, count))
    return NULL;
  words->count += count;
  return words->data + words->count - count;
}
static inline void
vyre_spv_push(vyre_spv *s, vyre_spv_words *words, uint32_t word)
{
  *vyre_spv_room(s, words, 1) = word;
}
static inline void
vyre_spv_append(vyre_spv *s, vyre_spv_words *words, const uint32_t *data, size_t count)
{
  if (words->capacity - words->count < count && !vyre_spv_grow(s, words, count))
    return;
  for (size_t i = 0; i < count; i++) /* not memcpy, because they are few */
    words->data[words->count + i] = data[i];
  words->count += count;
}
/* Appends an instruction with a string after `count` operands. */
void vyre_spv_text(vyre_spv *s, vyre_spv_words *words, uint32_t opcode, const uint32_t *operands, size_t count, const char *text);
/* Appends an instruction with any number of operands; vyre_spv_instruction accepts at most 15. */
void vyre_spv_long_instruction(vyre_spv *s, vyre_spv_words *words, uint32_t opcode, const uint32_t *operands, size_t count);
static inline void
vyre_spv_instruction(vyre_spv *s, vyre_spv_words *words, uint32_t opcode, const uint32_t *operands, size_t count)
{
  uint32_t *at = vyre_spv_room(s, words, 1 + count);
  at[0] = (uint32_t)(1 + count) << 16 | opcode;
  for (size_t i = 0; i < count; i++)
    at[1 + i] = operands[i];
}
/* Returns the id of an interned result.  `operands` begin with its type if `typed`; `extra` words are part of the key. */
uint32_t vyre_spv_intern(vyre_spv *s, uint32_t opcode, bool typed, const uint32_t *operands, size_t count, const uint32_t *extra,
                         size_t extra_count, bool *out_fresh);
/* Interns a new type with an id that was allocated before. */
void vyre_spv_intern_as(vyre_spv *s, uint32_t opcode, const uint32_t *operands, size_t count, const uint32_t *extra,
                        size_t extra_count, uint32_t id);
bool vyre_spv_grow_made(vyre_spv *s);
static inline uint32_t
vyre_spv_made_hash(uint32_t what, uint64_t a, uint32_t b)
{
  return (uint32_t)((a ^ (b + ((uint64_t)what << 32)) * 0xc2b2ae3d27d4eb4fu) * 0x9e3779b97f4a7c15u >> 40);
}
/* Returns the entry of the key.  In a new entry, `id` and `results` are 0, and the caller sets one. */
static inline vyre_spv_made *
vyre_spv_made_of(vyre_spv *s, uint32_t what, uint64_t a, uint32_t b)
{
  if (s->made_left == 0 && !vyre_spv_grow_made(s))
    return &s->no_made;
  for (uint32_t slot = vyre_spv_made_hash(what, a, b);; slot++) {
    vyre_spv_made **const made = &s->made[slot & (s->made_slots - 1)];
    if (!*made) {
      s->made_left--;
      *made = s->new_made++;
      **made = (vyre_spv_made){a, b, what, {NULL}};
      return *made;
    }
    if ((*made)->a == a && (*made)->b == b && (*made)->what == what)
      return *made;
  }
}
VYRE_SPV_COLD void vyre_spv_fail(vyre_spv *s, const char *format, ...) VYRE_PRINTF(2, 3);
static inline bool
vyre_spv_failed(const vyre_spv *s)
{
  return s->failed;
}

/* ---- rows ---- */

static inline vyre_opcode
vyre_spv_opcode(const vyre_spv *s, uint32_t row)
{
  return (vyre_opcode)VYRE_ROW_OP(s->op[row]);
}

static inline vyre_type
vyre_spv_row_type(const vyre_spv *s, uint32_t row)
{
  return VYRE_ROW_TYPE(s->op[row]);
}

static inline bool
vyre_spv_flag(const vyre_spv *s, uint32_t row, uint32_t flag)
{
  return (VYRE_ROW_FLAGS(s->op[row]) & flag) != 0;
}

static inline uint64_t
vyre_spv_payload(const vyre_spv *s, uint32_t row)
{
  return s->imm[row] | (uint64_t)s->imm_hi[row] << 32;
}

VYRE_SPV_COLD uint32_t vyre_spv_no_value(vyre_spv *s, uint32_t row);
/* Returns the id of a row that has been written, as an operand. */
static inline uint32_t
vyre_spv_value(vyre_spv *s, uint32_t row)
{
  const uint32_t at = row - s->base;
  if (at >= s->count || !s->id[at])
    return vyre_spv_no_value(s, row);
  return s->id[at];
}
/* Returns the element of `small` for the constant, or NULL if the constant is not a small 32-bit integer. */
static inline uint32_t *
vyre_spv_small(vyre_spv *s, vyre_type type, uint64_t bits)
{
  if (bits >= VYRE_SPV_SMALL)
    return NULL;
  return type == VYRE_TYPE(VYRE_U32, 1) ? &s->small[1][bits] : type == VYRE_TYPE(VYRE_I32, 1) ? &s->small[0][bits] : NULL;
}
uint32_t vyre_spv_splat_here(vyre_spv *s, vyre_type type, uint64_t bits);
/* Returns the right operand: the id of row b, or the literal as a constant of `type`. */
static inline uint32_t
vyre_spv_right(vyre_spv *s, uint32_t row, vyre_type type)
{
  if (!vyre_spv_flag(s, row, VYRE_ROW_IMM))
    return vyre_spv_value(s, s->b[row]);
  const uint32_t *const small = vyre_spv_small(s, type, vyre_spv_payload(s, row));
  return small && *small ? *small : vyre_spv_splat_here(s, type, vyre_spv_payload(s, row));
}
/* Writes a row that has a value (ops.c). */
void vyre_spv_row(vyre_spv *s, uint32_t row);
/* Writes a row with the guards that a strict program needs, or returns 0 if it needs none (guards.c). */
uint32_t vyre_spv_guarded(vyre_spv *s, uint32_t row);
uint32_t vyre_spv_guarded_lane(vyre_spv *s, uint32_t vector, vyre_type type, uint32_t index, uint32_t index_row);
uint32_t vyre_spv_guarded_insert(vyre_spv *s, uint32_t vector, vyre_type type, uint32_t value, uint32_t index, uint32_t index_row);

uint32_t vyre_spv_convert(vyre_spv *s, uint32_t row);
uint32_t vyre_spv_bitcast(vyre_spv *s, uint32_t row);
/* Writes a row of an op that SPIR-V only has at 32 bits, at another width (widths.c).  Returns 0 for other rows. */
uint32_t vyre_spv_other_width(vyre_spv *s, uint32_t row);

/* Writes a row of an op that SPIR-V does not have, as other instructions (expand.c). */
uint32_t vyre_spv_expanded(vyre_spv *s, uint32_t row);
/* Returns the saturating sum of two integers of a type (expand.c). */
uint32_t vyre_spv_saturated_sum(vyre_spv *s, vyre_type type, uint32_t a, uint32_t b);
/* Writes an integer dot product (dot.c). */
uint32_t vyre_spv_int_dot(vyre_spv *s, uint32_t row);

/* ---- opaque.c ---- */

void vyre_spv_opaque(vyre_spv *s, uint32_t row);
uint32_t vyre_spv_opaque_part(vyre_spv *s, uint32_t row);
void vyre_spv_survey_opaque(vyre_spv *s, uint32_t row);
/* Completes the types of the pointers to the struct `id` called `name`, which has been written with its layout. */
void vyre_spv_resolve(vyre_spv *s, vyre_string name, uint32_t id);
/* At the end: writes empty structs for pointers whose structs were not written, because no access uses them. */
void vyre_spv_resolve_rest(vyre_spv *s);
uint32_t vyre_spv_words_type(vyre_spv *s, vyre_type_id type); /* always writes it; vyre_spv_type reuses it */
bool vyre_spv_has_pointers(vyre_spv *s, vyre_type_id type);

/* ---- debug.c ---- */

void vyre_spv_debug(vyre_spv *s, const vyre_input *input); /* writes the input's kept debug instructions */
/* Returns the new id of the input's string `id`, which is written if necessary, or 0 if there is none. */
uint32_t vyre_spv_string(vyre_spv *s, uint32_t id);
uint32_t vyre_spv_string_of(vyre_spv *s, vyre_string text); /* one OpString per text */
void vyre_spv_new_line(vyre_spv *s, uint32_t row);
/* Sets the source position to the row's, for the next instruction. */
static inline void
vyre_spv_line(vyre_spv *s, uint32_t row)
{
  if (s->lined)
    vyre_spv_new_line(s, row);
}
/* Gives the row's name to the id. */
static inline void
vyre_spv_name(vyre_spv *s, uint32_t row, uint32_t id)
{
  if (row < s->named && s->row_names[row])
    vyre_spv_text(s, &s->names, SpvOpName, &id, 1, vyre_string_text(s->module, s->row_names[row]));
}
void vyre_spv_decorate_as(vyre_spv *s, uint32_t row, uint32_t id);
/* Adds the row's decorations and name to the id. */
static inline void
vyre_spv_describe(vyre_spv *s, uint32_t row, uint32_t id)
{
  if (VYRE_ROW_FLAGS(s->op[row]) & (VYRE_ROW_EXACT | VYRE_ROW_RELAXED | VYRE_ROW_NONUNIFORM | VYRE_ROW_DECO))
    vyre_spv_decorate_as(s, row, id);
  vyre_spv_name(s, row, id);
}
void vyre_spv_other_names(vyre_spv *s); /* names of built-ins, at the end */

/* ---- stages.c ---- */

/* Writes the kept entry points of other stages than compute, after all programs. */
void vyre_spv_stages(vyre_spv *s, const vyre_input *input);

/* ---- verbatim.c ---- */

/* Returns the words of the module that the input's programs came from, or NULL if the input was not kept verbatim. */
const uint32_t *vyre_spv_verbatim(vyre_module *module, uint32_t input, uint32_t *out_count);

/* ---- instructions ---- */

/* Appends an operation as a constant, or with the decorations of a strict program. */
uint32_t vyre_spv_special_op(vyre_spv *s, uint32_t opcode, uint32_t type, const uint32_t *operands, size_t count);
/* Appends an operation with at most 13 operands, and returns the id of its result. */
static inline uint32_t
vyre_spv_op(vyre_spv *s, uint32_t opcode, uint32_t type, const uint32_t *operands, size_t count)
{
  if (!s->plain)
    return vyre_spv_special_op(s, opcode, type, operands, count);
  uint32_t *words = vyre_spv_room(s, &s->code, 3 + count);
  words[0] = (uint32_t)(3 + count) << 16 | opcode;
  words[1] = type;
  for (size_t i = 0; i < count; i++)
    words[3 + i] = operands[i];
  return words[2] = s->next_id++;
}
/* vyre_spv_op for one, two and three operands.  Write single words, because copying an array that was just filled would stall. */
static inline uint32_t
vyre_spv_op1(vyre_spv *s, uint32_t opcode, uint32_t type, uint32_t a)
{
  if (!s->plain)
    return vyre_spv_special_op(s, opcode, type, &a, 1);
  uint32_t *words = vyre_spv_room(s, &s->code, 4);
  words[0] = 4u << 16 | opcode;
  words[1] = type;
  words[3] = a;
  return words[2] = s->next_id++;
}
static inline uint32_t
vyre_spv_op2(vyre_spv *s, uint32_t opcode, uint32_t type, uint32_t a, uint32_t b)
{
  if (!s->plain)
    return vyre_spv_special_op(s, opcode, type, (const uint32_t[]){a, b}, 2);
  uint32_t *words = vyre_spv_room(s, &s->code, 5);
  words[0] = 5u << 16 | opcode;
  words[1] = type;
  words[3] = a;
  words[4] = b;
  return words[2] = s->next_id++;
}
static inline uint32_t
vyre_spv_op3(vyre_spv *s, uint32_t opcode, uint32_t type, uint32_t a, uint32_t b, uint32_t c)
{
  if (!s->plain)
    return vyre_spv_special_op(s, opcode, type, (const uint32_t[]){a, b, c}, 3);
  uint32_t *words = vyre_spv_room(s, &s->code, 6);
  words[0] = 6u << 16 | opcode;
  words[1] = type;
  words[3] = a;
  words[4] = b;
  words[5] = c;
  return words[2] = s->next_id++;
}
uint32_t vyre_spv_ext(vyre_spv *s, uint32_t function, uint32_t type, const uint32_t *operands, size_t count);
/* Appends OpSelect.  Extends a scalar `condition` to a vector if OpSelect requires it. */
uint32_t vyre_spv_select(vyre_spv *s, vyre_type type, uint32_t condition, vyre_type condition_type, uint32_t yes, uint32_t no);
void vyre_spv_decorate(vyre_spv *s, uint32_t id, uint32_t decoration);

/* ---- types.c, constants.c ---- */

uint32_t vyre_spv_new_value_type(vyre_spv *s, vyre_type type);
static inline uint32_t
vyre_spv_value_type(vyre_spv *s, vyre_type type)
{
  return s->value_types[type] ? s->value_types[type] : vyre_spv_new_value_type(s, type);
}
uint32_t vyre_spv_type(vyre_spv *s, vyre_type_id type, vyre_mode mode);
uint32_t vyre_spv_opaque_type_of(vyre_spv *s, uint32_t row);
/* Returns the type of a value, which may be opaque. */
static inline uint32_t
vyre_spv_type_of_row(vyre_spv *s, uint32_t row)
{
  const vyre_type type = vyre_spv_row_type(s, row);
  return VYRE_TYPE_KIND(type) == VYRE_OPAQUE ? vyre_spv_opaque_type_of(s, row) : vyre_spv_value_type(s, type);
}
uint32_t vyre_spv_matrix_type(vyre_spv *s, vyre_type column, uint32_t columns);
/* result type of an instruction with several values */
uint32_t vyre_spv_struct_of(vyre_spv *s, const uint32_t *members, uint32_t count);
uint32_t vyre_spv_pointer(vyre_spv *s, uint32_t storage_class, uint32_t type);
bool vyre_spv_is_descriptor_array(vyre_spv *s, vyre_type_id type);
/* Returns the struct {type} that wraps a buffer of another type than a struct. */
uint32_t vyre_spv_wrapper(vyre_spv *s, vyre_type_id type);
/* Writes a struct of that name whose members are not needed. */
void vyre_spv_write_placeholder(vyre_spv *s, vyre_string name);

uint32_t vyre_spv_scalar(vyre_spv *s, vyre_kind kind, uint64_t bits);
uint32_t vyre_spv_constant(vyre_spv *s, vyre_type type, uint64_t bits); /* with the same bits in each lane */
uint32_t vyre_spv_u32(vyre_spv *s, uint32_t value);
uint32_t vyre_spv_null(vyre_spv *s, uint32_t type);
/* Returns a constant with the bits of each lane. */
uint32_t vyre_spv_lanes(vyre_spv *s, vyre_type type, const uint64_t lanes[4]);
/* Gets the const row of each lane of a join of const rows.  Returns false for other joins. */
bool vyre_spv_const_rows(const vyre_spv *s, uint32_t join, uint32_t rows[4]);
/* Returns a constant with the const row of each lane, where instructions may be written.  A type that the module's capabilities
 * permit only in memory has no constants, so the value is converted from 32 bits (convert.c). */
uint32_t vyre_spv_const_here(vyre_spv *s, vyre_type type, const uint32_t rows[4]);
/* Writes the words of a literal of that kind to `out`, and returns their number. */
uint32_t vyre_spv_literal(vyre_kind kind, uint64_t bits, uint32_t out[2]);
/* Returns the unsigned integer kind of the same width. */
static inline vyre_kind
vyre_spv_bits_kind(vyre_kind kind)
{
  const uint32_t bits = vyre_kind_bits(kind);
  return bits == 8 ? VYRE_U8 : bits == 16 ? VYRE_U16 : bits == 64 ? VYRE_U64 : VYRE_U32;
}
uint32_t vyre_spv_spec(vyre_spv *s, uint32_t row);
/* specialize.c: ops on integers and bools whose rows may become OpSpecConstantOp although no use requires it. */
extern const bool vyre_spv_may_specialize[VYRE_OP__COUNT];
bool vyre_spv_is_specialized(const vyre_spv *s, uint32_t row);
/* Returns the row as a constant of the module: const, spec, or OpSpecConstantOp on constants. */
uint32_t vyre_spv_pinned(vyre_spv *s, uint32_t row);
/* Returns the constant of an initializer's words, of a type without layout. */
uint32_t vyre_spv_initializer(vyre_spv *s, vyre_type_id type, uint32_t initializer);

/* ---- capabilities.c ---- */

/* Declares the capability and, in versions before `version`, the extension, unless they are declared. */
void vyre_spv_need(vyre_spv *s, uint32_t capability, uint32_t version, const char *extension);
bool vyre_spv_declares(const vyre_spv *s, uint32_t capability);
/* Returns the capability for constants and arithmetic of a kind, or 0 if it needs none. */
uint32_t vyre_spv_kind_capability(vyre_kind kind);
/* As vyre_spv_kind_capability for kinds of 8 and 16 bits.  Returns 0 for other kinds. */
static inline uint32_t
vyre_spv_narrow_capability(vyre_kind kind)
{
  return vyre_kind_bits(kind) <= 16 ? vyre_spv_kind_capability(kind) : 0;
}

/* Writes the input's extensions, without that of non-semantic sets, which vyre_spv_set_extension writes. */
void vyre_spv_input_extensions(vyre_spv *s, const vyre_word_list *extensions);
void vyre_spv_set_extension(vyre_spv *s);

/* Declares Float16 if a row of the program computes with f16, which a pass may have made so. */
void vyre_spv_row_capabilities(vyre_spv *s);

/* Declares the capabilities and extensions of the types in a module from text. */
void vyre_spv_type_capabilities(vyre_spv *s);

/* ---- memory.c, addresses.c, variables.c, zeros.c ---- */

void vyre_spv_memory_row(vyre_spv *s, uint32_t row);
uint32_t vyre_spv_pointer_to(vyre_spv *s, uint32_t path); /* the id of a path, as an operand */
void vyre_spv_buffer(vyre_spv *s, uint32_t row);
/* Returns whether an OpConstantNull of the type is valid and all tools support it: it has no pointers or specialized arrays. */
bool vyre_spv_has_null(vyre_spv *s, vyre_type_id type);
/* Writes zeros to private memory whose type has no OpConstantNull.  In strict programs, does the same for workgroup memory, and
 * reads the lengths of runtime arrays. */
void vyre_spv_memory_start(vyre_spv *s);
/* Returns the value of a built-in variable, or one lane of it. */
uint32_t vyre_spv_place(vyre_spv *s, vyre_opcode op);
uint32_t vyre_spv_place_lane(vyre_spv *s, vyre_opcode op, uint32_t lane);

/* Returns the variable of the SPIR-V built-in, or 0 if it was not written. */
uint32_t vyre_spv_builtin(const vyre_spv *s, uint32_t builtin);

/* ---- reflection.c ---- */

void vyre_spv_reflection(vyre_spv *s); /* after all programs */

/* ---- subgroup.c ---- */

/* Writes a subgroup row: subgroup_elect to subgroup_xor. */
uint32_t vyre_spv_subgroup(vyre_spv *s, uint32_t row);

/* ---- order.c ---- */

typedef struct vyre_spv_order {
  uint32_t scope, semantics;
  uint32_t unequal; /* semantics of a compare exchange that fails */
  bool empty;       /* a barrier that orders nothing, and is not written */
} vyre_spv_order;
vyre_spv_order vyre_spv_atomic_order(const vyre_spv *s, vyre_opcode op, uint32_t imm, uint32_t scope_if_none);
vyre_spv_order vyre_spv_barrier_order(const vyre_spv *s, uint32_t imm);

/* ---- control.c ---- */

/* Finds in one pass over the program's rows how rows are used. */
void vyre_spv_survey(vyre_spv *s);
void vyre_spv_region(vyre_spv *s, uint32_t region);

/* ---- blocks.c ---- */

void vyre_spv_label(vyre_spv *s, uint32_t label);
void vyre_spv_branch(vyre_spv *s, uint32_t label);
/* A guard's `if`.  The guarded instructions are written between begin and end.  If `type`, the result is a phi of `value` and
 * `otherwise`. */
typedef struct vyre_spv_branching {
  uint32_t head, merge;
} vyre_spv_branching;
vyre_spv_branching vyre_spv_if_begin(vyre_spv *s, uint32_t condition);
uint32_t vyre_spv_if_end(vyre_spv *s, vyre_spv_branching branching, uint32_t type, uint32_t value, uint32_t otherwise);

#endif
