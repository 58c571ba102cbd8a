/* What the files of the SPIR-V writer share: its state, and how instructions are appended.
 *
 * A module is written in one walk over the rows of each program of the input, in program order.  Every section of a SPIR-V module
 * is a growing array of words; they are put together at the end.  What a row became is in arrays by row (`id`, `aux`, `use`),
 * which are of the program at hand: index row - base.  Types, constants and variables are interned by their words, so that equal
 * ones of several programs are one.
 *
 * Errors: the first one is kept in `status` (or `out_of_memory` is set) and everything after it goes on harmlessly: appending
 * always has room, ids are 0.  The walk looks once a row.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CODEGEN_SPIRV_EXPORT_H
#define VYRE_CODEGEN_SPIRV_EXPORT_H

#include "vyre/opaque.h"
#include "vyre/spirv.h"

#include <spirv/unified1/spirv.h>
#include <spirv/unified1/GLSL.std.450.h>

/* What is called only where something is wrong. */
#define VYRE_SPV_COLD __attribute__((cold))

typedef struct vyre_spv_words {
  uint32_t *data;
  size_t count, capacity;
} vyre_spv_words;

/* `use`: what is known of a row of the program at hand. */
enum {
  VYRE_SPV_USED_POINTER = 1,  /* a path that memory is accessed through: needs its access chain */
  VYRE_SPV_USED_MATRIX = 2,   /* a tuple that is used as a matrix */
  VYRE_SPV_LEFT = 4,          /* a block or switch that some `leave` names */
  VYRE_SPV_ONE_LANE = 4,      /* a place of which one lane is all that is used; no block is one */
  VYRE_SPV_WRAPPED = 16,      /* a buffer that is the one member of a struct made for it */
  VYRE_SPV_IN_BOUNDS = 64,    /* a buffer of which the caller vouches that no access is out of bounds */
  VYRE_SPV_BRANCH = 32,       /* a path whose guard needs a branch: a runtime array may be empty */
  VYRE_SPV_EITHER_SIGN = 256, /* an integer in the other sign's type, for users that take either: no instruction */
  VYRE_SPV_SPECIALIZED = 128, /* a specialization constant, or OpSpecConstantOp over such */
  VYRE_SPV_HAS_TAIL = 512,    /* a construct whose tail each of its edges takes itself (tails.c) */
  VYRE_SPV_IN_MEMORY = 2048,  /* a var that is a variable of the function (demote.c) */
};

/* gid to subgroup_lt_mask. */
enum { VYRE_SPV_PLACES = VYRE_OP_subgroup_lt_mask - VYRE_OP_gid + 1 };

/* A join of the state graph. */
typedef struct vyre_spv_join {
  uint32_t var;  /* 0: it is no value */
  uint32_t id;   /* 0: zero, as at the start */
  uint32_t same; /* what it always is, as a version; 0: nothing else */
  uint32_t seen; /* the join that it was last looked at for */
} vyre_spv_join;

/* A control construct being written that can be left. */
typedef struct vyre_spv_scope {
  uint32_t row;
  uint32_t kind;                          /* VYRE_SPV_LOOP, VYRE_SPV_SWITCH */
  uint32_t merge, next;                   /* labels; next: a loop's continue target */
  uint32_t known;                         /* ids below it are known wherever it is left; 0: all that there are so far */
  vyre_spv_words merge_edges, next_edges; /* that lead there */
} vyre_spv_scope;

enum { VYRE_SPV_LOOP, VYRE_SPV_SWITCH };

/* What is known by a few words, and the id that was made of it. */
enum {
  VYRE_SPV_A_SCALAR = 1,     /* bits, kind */
  VYRE_SPV_A_POINTER,        /* storage class, type's id */
  VYRE_SPV_A_TYPE,           /* vyre_type_id, mode */
  VYRE_SPV_LISTED,           /* in the interface of a program: program row, variable's id */
  VYRE_SPV_A_SET,            /* of instructions: vyre_string */
  VYRE_SPV_AN_INPUT,         /* that no op gives: built-in's number, pointer's id */
  VYRE_SPV_A_ZERO,           /* vyre_type_id: 1 + what it has */
  VYRE_SPV_A_STRUCT,         /* with layout, written: vyre_string of its name */
  VYRE_SPV_A_STRING,         /* of what the input kept: its id there */
  VYRE_SPV_A_KEPT,           /* a string or debug instruction's id there: 1 + where it is */
  VYRE_SPV_A_DEBUG,          /* the same: what was written for it; 0: DebugInfoNone */
  VYRE_SPV_A_DEBUG_VARIABLE, /* a variable's id there */
  VYRE_SPV_A_DEFINITION,     /* a function's id there: 1, where its DebugFunctionDefinition was written */
  VYRE_SPV_A_SOURCE,         /* vyre_string */
  VYRE_SPV_VALUES, /* the scope of a variable of the source, program: how many of its values there are; UINT32_MAX: nothing is told
                      of it */
  VYRE_SPV_LAST_VALUE,     /* the same: the order of the last one of these */
  VYRE_SPV_WRITES,         /* a buffer: how many rows write to it */
  VYRE_SPV_AN_INLINED_AT,  /* caller, line, call */
  VYRE_SPV_A_VARIABLE_ROW, /* a variable's id there: a row of it */
  VYRE_SPV_AN_ENTRY,       /* program row: its function */
  VYRE_SPV_A_REFLECTED,    /* the result there of an instruction that tools read: what was written for it */
  VYRE_SPV_A_DECORATION,   /* one that tools read: its target and number, 1 + member; 1, where it was written */
  VYRE_SPV_A_VARIABLE,     /* the last, as the set is added: the input's id and pointer's id, binding */
};
#define VYRE_SPV_FIRST_MADE 128u
#define VYRE_SPV_SMALL      32u /* integers of 32 bits below it are found without a search */
typedef struct vyre_spv_made {
  uint64_t a;
  uint32_t b, what; /* what 0: the slot is free */
  uint32_t id;
} vyre_spv_made;

#define VYRE_SPV_DEPTH 1023u /* SPIR-V's universal limit for nested constructs */

/* Where the code being written comes from. */
typedef struct vyre_spv_position {
  vyre_scope scope;
  uint32_t line, column; /* line 0: nobody knows */
} vyre_spv_position;

typedef struct vyre_spv {
  vyre_module *module; /* never changed: side tables are reached through it */
  const vyre_view *view;
  const uint32_t *op, *imm, *imm_hi, *a, *b, *c, *parent, *next, *first, *last;
  const vyre_string *row_names;
  uint32_t named, lined; /* rows that may have a name, a line; 0: none are written */
  const vyre_allocator *allocator;
  struct vyre_spv_chunk *chunks;
  char *chunk_at;
  size_t chunk_left;
  vyre_status status;
  bool out_of_memory;
  bool failed; /* either */
  bool strip;
  uint32_t float_controls;  /* that may be asked for */
  const uint8_t *in_bounds; /* by row of the module; NULL: none */
  bool shared_blocks;       /* the input declares that workgroup memory has layouts */
  uint32_t input;
  uint32_t version;
  uint32_t memory_model;
  uint32_t next_id;

  /* sections, in the module's order */
  vyre_spv_words capabilities, extensions, imports, entries, modes, strings, names, processed, decorations, globals, code;
  bool constant; /* rows become constants and OpSpecConstantOp */
  bool plain;    /* neither that nor a strict program: an instruction is its words */

  /* interning */
  struct vyre_spv_interned *interned;
  vyre_spv_made *made; /* open addressing: vyre_spv_made_of */
  uint32_t made_count, made_slots;
  vyre_spv_made first_made[VYRE_SPV_FIRST_MADE]; /* enough for most modules */
  vyre_spv_made no_made;                         /* where there is no memory */
  uint32_t small[2][VYRE_SPV_SMALL];             /* ids of i32 and u32 constants; 0: none yet */
  uint32_t value_types[256];
  uint32_t glsl;
  uint32_t builtins[VYRE_SPV_PLACES]; /* by op - VYRE_OP_gid */
  uint32_t workgroup_size;            /* the WorkgroupSize composite, if there is one */
  uint32_t workgroup_key[3];
  bool workgroup_seen;

  /* the program at hand */
  uint32_t program, base, end, count; /* its rows: count of them, from base on, up to end */
  uint32_t row;                       /* being written */
  bool strict, exact;
  bool specialized;    /* it has specialization constants */
  uint32_t sure_block; /* runs with each pipeline that is made of the module: the first block, of a program alone; 0: none */
  uint32_t *id, *aux;
  uint16_t *use;
  uint32_t capacity;
  vyre_spv_words interface;
  uint32_t builtins_used;

  /* control */
  uint32_t block;         /* label of the block being written */
  bool dead;              /* nothing is being written: after a jump */
  bool fell;              /* the case ended with a fallthrough */
  uint32_t breakif;       /* the row that ended the continuing region; 0: none */
  uint32_t continuing;    /* how many continuing regions are around */
  uint32_t nesting;       /* regions around */
  uint32_t nests;         /* constructs of the program, by the survey */
  vyre_state_graph graph; /* of the program's vars; its column has an element for each row of the module */
  vyre_spv_join *joins;   /* by join of the graph */
  vyre_spv_words carried; /* ids that edges bring to the joins after a construct; 0: zero */
  uint32_t carry;         /* where those of the next edge begin; 0: parts of joins say what it brings */
  uint64_t phi_words;     /* that all joins may come to */
  vyre_spv_words crossed; /* pairs, of the survey: a construct, and the target of a leave that goes through its merge block */
  vyre_spv_words leaving; /* pairs: a target of leaves that go on after the construct being closed, what they carry */
  bool has_vars;
  bool resigned;         /* some row may have VYRE_SPV_EITHER_SIGN */
  vyre_spv_words places; /* rows of places that lanes are taken of */
  vyre_spv_scope *scopes;
  uint32_t depth, scope_capacity;
  vyre_spv_position here, before; /* of what is written next; of what was before the last change, at line_start */
  vyre_spv_words forward;         /* (id, storage class, stride, vyre_string): pointers to structs that are not written yet */
  size_t line_start, line_end;    /* of the code, where the last OpLine, or what is in its place, was written */
  uint32_t debug_set, debug_void; /* 0: the input has no debug instructions */
  bool has_values;                /* rows of the program are values of variables of the source */
  bool is_silent;                 /* nothing is told: what is written is an arm of which the edge from its head is all */
  vyre_spv_words files;           /* pairs: vyre_string, id */
  vyre_spv_words kept_strings;    /* pairs: its index in the input's debug list, id */
  const vyre_word_list *debug;    /* what is kept */
  vyre_spv_words scratch, marks;
} vyre_spv;

/* ---- words.c ---- */

/* Memory that lives until the export ends; NULL: out of memory. */
void *vyre_spv_memory(vyre_spv *s, size_t bytes);
void vyre_spv_free(vyre_spv *s); /* all of it */
bool vyre_spv_grow(vyre_spv *s, vyre_spv_words *words, size_t count);
VYRE_SPV_COLD uint32_t *vyre_spv_nowhere(void);
/* Room for `count` (at most 16) words at the end, always valid. */
static inline uint32_t *
vyre_spv_room(vyre_spv *s, vyre_spv_words *words, size_t count)
{
  if (words->capacity - words->count < count && !vyre_spv_grow(s, words, count))
    return vyre_spv_nowhere();
  uint32_t *at = words->data + words->count;
  words->count += count;
  return at;
}
/* Room for any number of words at the end; NULL: out of memory. */
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
  for (size_t i = 0; i < count; i++) /* they are few */
    words->data[words->count + i] = data[i];
  words->count += count;
}
/* An instruction with a string after `count` operands. */
void vyre_spv_text(vyre_spv *s, vyre_spv_words *words, uint32_t opcode, const uint32_t *operands, size_t count, const char *text);
/* An instruction of any number of operands, and of at most 15. */
void vyre_spv_long_instruction(vyre_spv *s, vyre_spv_words *words, uint32_t opcode, const uint32_t *operands, size_t count);
static inline void
vyre_spv_instruction(vyre_spv *s, vyre_spv_words *words, uint32_t opcode, const uint32_t *operands, size_t count)
{
  uint32_t *at = vyre_spv_room(s, words, 1 + count);
  at[0] = (uint32_t)(1 + count) << 16 | opcode;
  for (size_t i = 0; i < count; i++)
    at[1 + i] = operands[i];
}
/* A result: operands begin with its type if `typed`; `extra` words tell results apart that the instruction does not. */
uint32_t vyre_spv_intern(vyre_spv *s, uint32_t opcode, bool typed, const uint32_t *operands, size_t count, const uint32_t *extra,
                         size_t extra_count, bool *out_fresh);
/* A type without result type, new, whose id was given before. */
void vyre_spv_intern_as(vyre_spv *s, uint32_t opcode, const uint32_t *operands, size_t count, const uint32_t *extra,
                        size_t extra_count, uint32_t id);
VYRE_SPV_COLD bool vyre_spv_grow_made(vyre_spv *s);
/* The slot of those words; it moves when others come.  id 0: it is new, and is the caller's to fill.  Its own open addressing, as
 * rows ask for their types here: with uthash export takes 4 % more (bench-shaders, "of import and export"). */
static inline vyre_spv_made *
vyre_spv_made_of(vyre_spv *s, uint32_t what, uint64_t a, uint32_t b)
{
  if (s->made_count >= s->made_slots / 4 * 3 && !vyre_spv_grow_made(s))
    return &s->no_made;
  const uint64_t hash = (a ^ (b + ((uint64_t)what << 32)) * 0xc2b2ae3d27d4eb4fu) * 0x9e3779b97f4a7c15u;
  for (uint32_t slot = (uint32_t)(hash >> 40);; slot++) {
    vyre_spv_made *made = &s->made[slot & (s->made_slots - 1)];
    if (made->a == a && made->b == b && made->what == what)
      return made;
    if (!made->what) {
      *made = (vyre_spv_made){a, b, what, 0};
      s->made_count++;
      return made;
    }
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
/* The id of a row that has been written, as an operand. */
static inline uint32_t
vyre_spv_value(vyre_spv *s, uint32_t row)
{
  const uint32_t at = row - s->base;
  if (at >= s->count || !s->id[at])
    return vyre_spv_no_value(s, row);
  return s->id[at];
}
/* Where the id of that constant is kept; NULL: it is not one of those. */
static inline uint32_t *
vyre_spv_small(vyre_spv *s, vyre_type type, uint64_t bits)
{
  if (bits >= VYRE_SPV_SMALL)
    return NULL;
  return type == VYRE_TYPE(VYRE_U32, 1) ? &s->small[1][bits] : type == VYRE_TYPE(VYRE_I32, 1) ? &s->small[0][bits] : NULL;
}
uint32_t vyre_spv_splat_here(vyre_spv *s, vyre_type type, uint64_t bits);
/* The right operand: a row's id, or the literal as a constant of `type`. */
static inline uint32_t
vyre_spv_right(vyre_spv *s, uint32_t row, vyre_type type)
{
  if (!vyre_spv_flag(s, row, VYRE_ROW_IMM))
    return vyre_spv_value(s, s->b[row]);
  const uint32_t *const small = vyre_spv_small(s, type, vyre_spv_payload(s, row));
  return small && *small ? *small : vyre_spv_splat_here(s, type, vyre_spv_payload(s, row));
}
/* Writes a row that gives a value (ops.c). */
void vyre_spv_row(vyre_spv *s, uint32_t row);
/* What a row becomes with its guards in a strict program; 0: nothing but the plain instruction (guards.c). */
uint32_t vyre_spv_guarded(vyre_spv *s, uint32_t row);
uint32_t vyre_spv_guarded_lane(vyre_spv *s, uint32_t vector, vyre_type type, uint32_t index, uint32_t index_row);
uint32_t vyre_spv_guarded_insert(vyre_spv *s, uint32_t vector, vyre_type type, uint32_t value, uint32_t index, uint32_t index_row);

uint32_t vyre_spv_convert(vyre_spv *s, uint32_t row);
uint32_t vyre_spv_bitcast(vyre_spv *s, uint32_t row);
/* A row of an op that SPIR-V has at 32 bits alone, at another width (widths.c); 0: it is none. */
uint32_t vyre_spv_other_width(vyre_spv *s, uint32_t row);

/* A row of an op that SPIR-V has at no width, made of those it has (expand.c). */
uint32_t vyre_spv_expanded(vyre_spv *s, uint32_t row);
/* The saturating sum of two integer values of a type (expand.c). */
uint32_t vyre_spv_saturated_sum(vyre_spv *s, vyre_type type, uint32_t a, uint32_t b);
/* An integer dot product (dot.c). */
uint32_t vyre_spv_int_dot(vyre_spv *s, uint32_t row);

/* ---- opaque.c ---- */

void vyre_spv_opaque(vyre_spv *s, uint32_t row);
uint32_t vyre_spv_opaque_part(vyre_spv *s, uint32_t row);
void vyre_spv_survey_opaque(vyre_spv *s, uint32_t row);
/* The struct `id` called `name` is written, with its layout: pointers to it get their types. */
void vyre_spv_resolve(vyre_spv *s, vyre_string name, uint32_t id);
/* At the end: the structs that were never written, for nothing leads into them, get a stand-in each. */
void vyre_spv_resolve_rest(vyre_spv *s);
uint32_t vyre_spv_words_type(vyre_spv *s, vyre_type_id type); /* written anew; vyre_spv_type keeps it */
bool vyre_spv_has_pointers(vyre_spv *s, vyre_type_id type);

/* ---- debug.c ---- */

void vyre_spv_debug(vyre_spv *s, const vyre_input *input); /* what was kept of the input's */
/* The new id of the input's string `id`, which is written now if it was not; 0: there is none. */
uint32_t vyre_spv_string(vyre_spv *s, uint32_t id);
uint32_t vyre_spv_string_of(vyre_spv *s, vyre_string text); /* an OpString, one a text */
void vyre_spv_new_line(vyre_spv *s, uint32_t row);
/* The line of what is written next is the row's. */
static inline void
vyre_spv_line(vyre_spv *s, uint32_t row)
{
  if (s->lined)
    vyre_spv_new_line(s, row);
}
/* The name of a row for what was made of it. */
static inline void
vyre_spv_name(vyre_spv *s, uint32_t row, uint32_t id)
{
  if (row < s->named && s->row_names[row])
    vyre_spv_text(s, &s->names, SpvOpName, &id, 1, vyre_string_text(s->module, s->row_names[row]));
}
void vyre_spv_decorate_as(vyre_spv *s, uint32_t row, uint32_t id);
/* Decorations and the name of a row, for the instruction or variable that was made for it. */
static inline void
vyre_spv_describe(vyre_spv *s, uint32_t row, uint32_t id)
{
  if (VYRE_ROW_FLAGS(s->op[row]) & (VYRE_ROW_EXACT | VYRE_ROW_RELAXED | VYRE_ROW_NONUNIFORM | VYRE_ROW_DECO))
    vyre_spv_decorate_as(s, row, id);
  vyre_spv_name(s, row, id);
}
void vyre_spv_other_names(vyre_spv *s); /* of built-ins, at the end */

/* ---- demote.c ---- */

void vyre_spv_demoted_var(vyre_spv *s, uint32_t var); /* its OpVariable, at the program's start */

/* ---- stages.c ---- */

/* What the input kept of other stages than compute, after all programs. */
void vyre_spv_stages(vyre_spv *s, const vyre_input *input);

/* ---- verbatim.c ---- */

/* The module that the input's programs came from, where it was kept word for word; NULL: it was not. */
const uint32_t *vyre_spv_verbatim(vyre_module *module, uint32_t input, uint32_t *out_count);

/* ---- instructions ---- */

/* An operation as a constant, or in a strict program. */
uint32_t vyre_spv_special_op(vyre_spv *s, uint32_t opcode, uint32_t type, const uint32_t *operands, size_t count);
/* An instruction of at most 13 operands with a result. */
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
/* The same of one, two and three operands, word by word: an array that is filled and copied at once is waited for. */
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
/* Scalar bool `condition` as `lanes` lanes, where OpSelect needs it. */
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
/* Of a value, opaque ones too. */
static inline uint32_t
vyre_spv_type_of_row(vyre_spv *s, uint32_t row)
{
  const vyre_type type = vyre_spv_row_type(s, row);
  return VYRE_TYPE_KIND(type) == VYRE_OPAQUE ? vyre_spv_opaque_type_of(s, row) : vyre_spv_value_type(s, type);
}
uint32_t vyre_spv_matrix_type(vyre_spv *s, vyre_type column, uint32_t columns);
uint32_t vyre_spv_struct_of(vyre_spv *s, const uint32_t *members, uint32_t count); /* a result of several values */
uint32_t vyre_spv_pointer(vyre_spv *s, uint32_t storage_class, uint32_t type);
bool vyre_spv_is_descriptor_array(vyre_spv *s, vyre_type_id type);
/* The struct {type} that a buffer which is no struct is put in. */
uint32_t vyre_spv_wrapper(vyre_spv *s, vyre_type_id type);
/* A struct of that name whose members are not needed. */
void vyre_spv_stand_in(vyre_spv *s, vyre_string name);

uint32_t vyre_spv_scalar(vyre_spv *s, vyre_kind kind, uint64_t bits);
uint32_t vyre_spv_constant(vyre_spv *s, vyre_type type, uint64_t bits); /* a splat */
uint32_t vyre_spv_u32(vyre_spv *s, uint32_t value);
uint32_t vyre_spv_null(vyre_spv *s, uint32_t type);
/* A constant of the lanes' bits. */
uint32_t vyre_spv_lanes(vyre_spv *s, vyre_type type, const uint64_t lanes[4]);
/* The same where an instruction may be written. What the module may hold in memory alone, as its capabilities are, has no
 * constants: it is converted from 32 bits (convert.c). */
uint32_t vyre_spv_lanes_here(vyre_spv *s, vyre_type type, const uint64_t lanes[4]);
/* The lanes of a const row, or of joins of such; false: not constant. */
bool vyre_spv_const_lanes(vyre_spv *s, uint32_t row, uint64_t lanes[4]);
/* The words of a literal of that kind, as SPIR-V has it; how many. */
uint32_t vyre_spv_literal(vyre_kind kind, uint64_t bits, uint32_t out[2]);
/* The unsigned integer of the same width. */
static inline vyre_kind
vyre_spv_bits_kind(vyre_kind kind)
{
  const uint32_t bits = vyre_kind_bits(kind);
  return bits == 8 ? VYRE_U8 : bits == 16 ? VYRE_U16 : bits == 64 ? VYRE_U64 : VYRE_U32;
}
uint32_t vyre_spv_spec(vyre_spv *s, uint32_t row);
/* specialize.c: ops, of integers and bools, of which a row may become OpSpecConstantOp though nothing needs it to, and whether a
 * row does. */
extern const bool vyre_spv_may_specialize[VYRE_OP__COUNT];
bool vyre_spv_is_specialized(const vyre_spv *s, uint32_t row);
/* The row as a constant of the module: const, spec, or OpSpecConstantOp over them. */
uint32_t vyre_spv_pinned(vyre_spv *s, uint32_t row);
/* The constant that an initializer's words make of a type without layout. */
uint32_t vyre_spv_initializer(vyre_spv *s, vyre_type_id type, uint32_t initializer);

/* ---- capabilities.c ---- */

/* What is written needs the capability, and in versions before `version`, the extension: declared, where they are not yet. */
void vyre_spv_need(vyre_spv *s, uint32_t capability, uint32_t version, const char *extension);
bool vyre_spv_declares(const vyre_spv *s, uint32_t capability);
/* Returns the capability for constants and arithmetic of a kind, or 0 if none is needed; the other one of 8 and 16 bits alone. */
uint32_t vyre_spv_kind_capability(vyre_kind kind);
static inline uint32_t
vyre_spv_narrow_capability(vyre_kind kind)
{
  return vyre_kind_bits(kind) <= 16 ? vyre_spv_kind_capability(kind) : 0;
}

/* The input's extensions, but for that of non-semantic sets: it goes with the last of them, and comes where one was written. */
void vyre_spv_input_extensions(vyre_spv *s, const vyre_word_list *extensions);
void vyre_spv_set_extension(vyre_spv *s);

/* Capabilities and extensions that a module from text needs for the types in it. */
void vyre_spv_type_capabilities(vyre_spv *s);

/* ---- memory.c, addresses.c, variables.c, zeros.c ---- */

void vyre_spv_memory_row(vyre_spv *s, uint32_t row);
uint32_t vyre_spv_pointer_to(vyre_spv *s, uint32_t path); /* the id of a path, as an operand */
void vyre_spv_buffer(vyre_spv *s, uint32_t row);
/* There is an OpConstantNull of the type that all can read: no pointer is in it, nor an array that specialization sizes. */
bool vyre_spv_has_null(vyre_spv *s, vyre_type_id type);
/* The start: private memory without such a null made zero; of strict programs lengths of runtime arrays, and workgroup memory. */
void vyre_spv_memory_start(vyre_spv *s);
/* gid and its like: the value of a built-in variable, or one lane of it. */
uint32_t vyre_spv_place(vyre_spv *s, vyre_opcode op);
uint32_t vyre_spv_place_lane(vyre_spv *s, vyre_opcode op, uint32_t lane);

/* Returns the variable of the built-in of that number in SPIR-V, or 0 if it was not written. */
uint32_t vyre_spv_builtin(const vyre_spv *s, uint32_t builtin);

/* ---- reflection.c ---- */

void vyre_spv_reflection(vyre_spv *s); /* after all programs */

/* ---- subgroup.c ---- */

/* A row that combines what lanes have: subgroup_elect to subgroup_xor. */
uint32_t vyre_spv_subgroup(vyre_spv *s, uint32_t row);

/* ---- order.c ---- */

typedef struct vyre_spv_order {
  uint32_t scope, semantics;
  uint32_t unequal; /* of an exchange that fails */
  bool empty;       /* a barrier that orders nothing: none is written */
} vyre_spv_order;
vyre_spv_order vyre_spv_atomic_order(const vyre_spv *s, vyre_opcode op, uint32_t imm, uint32_t scope_if_none);
vyre_spv_order vyre_spv_barrier_order(const vyre_spv *s, uint32_t imm);

/* ---- control.c ---- */

/* What is written where, and which rows are used how: one pass over the program's rows. */
void vyre_spv_survey(vyre_spv *s);
void vyre_spv_region(vyre_spv *s, uint32_t region);

/* ---- blocks.c ---- */

void vyre_spv_label(vyre_spv *s, uint32_t label);
void vyre_spv_branch(vyre_spv *s, uint32_t label);
/* A guard's `if`: the instructions to be done are written between begin and end; the result is a phi of `value` and `otherwise`, if
 * type.
 */
typedef struct vyre_spv_branching {
  uint32_t head, merge;
} vyre_spv_branching;
vyre_spv_branching vyre_spv_if_begin(vyre_spv *s, uint32_t condition);
uint32_t vyre_spv_if_end(vyre_spv *s, vyre_spv_branching branching, uint32_t type, uint32_t value, uint32_t otherwise);

#endif
