/* GLSL out: internals.
 *
 * survey.c     which rows are written where they are used, and which get a name
 * control.c    regions as statements; leaving from any depth
 * values.c     values as expressions; operators.c those of one type; functions.c the GLSL functions that some of them call
 * subgroups.c  what the lanes of a subgroup do together
 * memory.c     paths, loads, stores, atomics, barriers; assign.c whole values
 * types.c      types and literals; layout.c std140, std430 and scalar; declare.c structs, buffers, constants
 * names.c      identifiers
 * write.c      the whole shader
 *
 * The text of main is written first, and notes what must be declared above it.
 *
 * Errors: the first one is kept in `status`; what is written after it is thrown away.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CODEGEN_GLSL_GLSL_H
#define VYRE_CODEGEN_GLSL_GLSL_H

#include "vyre/glsl.h"
#include "vyre/ir.h"
#include "vyre/view.h"

typedef enum glsl_extension {
  GLSL_INT8,
  GLSL_INT16,
  GLSL_INT64,
  GLSL_FLOAT16,
  GLSL_FLOAT64,
  GLSL_ATOMIC_INT64,
  GLSL_ATOMIC_FLOAT,
  GLSL_ATOMIC_FLOAT2,
  GLSL_SCOPES,
  GLSL_NULL_INITIALIZER,
  GLSL_SCALAR_LAYOUT,
  GLSL_SUBGROUP_BASIC,
  GLSL_SUBGROUP_VOTE,
  GLSL_SUBGROUP_BALLOT,
  GLSL_SUBGROUP_SHUFFLE,
  GLSL_SUBGROUP_RELATIVE,
  GLSL_SUBGROUP_ARITHMETIC,
  GLSL_SUBGROUP_CLUSTERED,
  GLSL_SUBGROUP_QUAD,
  GLSL_SUBGROUP_INT8,
  GLSL_SUBGROUP_INT16,
  GLSL_SUBGROUP_INT64,
  GLSL_SUBGROUP_FLOAT16,
  GLSL_CONTROL_HINTS,
  GLSL_NONUNIFORM,
  GLSL_EXTENSION__COUNT
} glsl_extension;

/* How a row is written. */
typedef enum glsl_form {
  GLSL_UNUSED, /* not at all */
  GLSL_NAMED,  /* a statement that defines a name */
  GLSL_INLINE, /* an expression in its user */
} glsl_form;

/* How tightly an expression binds; the greater the tighter. */
typedef enum glsl_precedence {
  GLSL_COMMA,
  GLSL_CHOICE,
  GLSL_LOGIC,
  GLSL_BITS,
  GLSL_COMPARE,
  GLSL_SHIFT,
  GLSL_SUM,
  GLSL_PRODUCT,
  GLSL_UNARY,
  GLSL_POSTFIX,
} glsl_precedence;

typedef enum glsl_scope_kind { GLSL_LOOP, GLSL_SWITCH, GLSL_BLOCK } glsl_scope_kind;

typedef struct glsl_flag {
  const char *name; /* an identifier */
  uint32_t depth;   /* of the scope it leaves or goes on with */
  bool goes_on;     /* continue, not break */
} glsl_flag;

/* A construct that a jump may leave. */
typedef struct glsl_scope {
  glsl_scope_kind kind;
  uint32_t row;
  uint32_t indent;           /* of the line that begins it */
  size_t before, inside;     /* offsets in the text: before it; a loop: at the start of its body */
  const char *leave, *go_on; /* identifiers of flags; NULL: none */
  glsl_flag *tests;          /* what is set in it for scopes further out */
  uint32_t test_count, test_capacity;
} glsl_scope;

typedef enum glsl_layout { GLSL_STD430, GLSL_STD140, GLSL_SCALAR, GLSL_LAYOUT__COUNT } glsl_layout;

typedef struct glsl_placed {
  uint32_t size, align; /* bytes, by a layout */
  bool fits;            /* the module's type lies so too */
} glsl_placed;

typedef struct glsl {
  const vyre_module *module;
  const vyre_view *v;
  const vyre_allocator *allocator;
  vyre_status status;
  uint32_t program, end; /* its rows: from program to before end */
  bool strict;
  uint32_t extensions; /* bits by glsl_extension */

  /* by row less program */
  uint32_t *uses, *user;       /* how many, and the first of them */
  uint32_t *place;             /* of a row in its user: the statement where it ends up */
  uint32_t *writes;            /* rows so far that a read may not be moved over */
  const char **name, **second; /* identifiers; that of the second result */
  uint8_t *form, *level, *chain;
  uint8_t *twice;   /* its text would be repeated */
  uint8_t *pinned;  /* a length or the workgroup size depends on it: a constant of the module's */
  uint8_t *goes_on; /* loops: some `continue` is meant for it */
  uint8_t *left;    /* blocks and switches: some `leave` is */
  uint8_t *read;    /* buffers: something reads it */
  uint32_t *words_memory, *types_memory;
  const char **names_memory;
  uint8_t *bytes_memory;
  uint32_t first_body; /* the first row that is no declaration */

  /* text */
  vyre_bytes *out; /* where put() writes: one of these */
  vyre_bytes body, functions, declarations, structs, constants;
  uint32_t indent;
  bool defines_constants; /* definitions are of constants of the module */
  bool folds;             /* in an expression that compilers compute, in double: literals are exact as doubles too */

  struct glsl_word *words; /* identifiers taken: a hash table of names.c */
  uint32_t next_unnamed;

  glsl_placed *layouts;      /* by type id less 256, and layout */
  const char **struct_names; /* by type id less 256: NULL: not declared */
  uint32_t *member_names;    /* by type id less 256: first of its members' in `members`; 0: none */
  uint32_t *measured;        /* by type id less 256: its lengths are known to be used */
  uint32_t *bare;            /* by type id less 256: a block without a name, whose members are called as variables are */
  const char **members;
  uint32_t member_count, member_capacity;

  glsl_scope *scopes;
  uint32_t depth, scope_capacity;
} glsl;

/* ---- write.c ---- */
void *glsl_resize(glsl *g, void *memory, size_t old_size, size_t new_size);
bool glsl_grow(glsl *g, void *array, uint32_t *capacity, uint32_t needed, size_t size); /* as vyre_grow; nothing after an error */
bool glsl_fail(glsl *g, uint32_t row, const char *format, ...) VYRE_PRINTF(3, 4);
void glsl_put(glsl *g, const char *format, ...) VYRE_PRINTF(2, 3);
void glsl_put_text(glsl *g, const char *text, size_t length);
void glsl_begin_line(glsl *g); /* indentation */
void glsl_need(glsl *g, glsl_extension extension);
void glsl_need_kind(glsl *g, vyre_kind kind); /* what the kind takes */

/* ---- names.c: identifiers, which stay where they are until the end ---- */
/* An identifier like `base` that nothing else in the scope has: 0, or the struct type whose members it is one of. */
const char *glsl_identifier(glsl *g, const char *base, uint32_t scope);
bool glsl_take_word(glsl *g, const char *word); /* false if it is taken already */
void glsl_free_words(glsl *g);
/* That of a row; made from its name when first asked for. */
const char *glsl_row_name(glsl *g, uint32_t row);

/* ---- types.c ---- */
const char *glsl_value_type(glsl *g, vyre_type type); /* "vec3" */
const char *glsl_matrix_type(glsl *g, vyre_type column, uint32_t columns, char buffer[16]);
void glsl_literal(glsl *g, vyre_type type, uint64_t bits);
vyre_type glsl_row_type(const glsl *g, uint32_t row);
bool glsl_is(const glsl *g, uint32_t row, vyre_opcode op);
uint64_t glsl_payload(const glsl *g, uint32_t row); /* a literal's bits */

static inline vyre_opcode
glsl_opcode(const glsl *g, uint32_t row)
{
  return (vyre_opcode)VYRE_ROW_OP(g->v->op[row]);
}

/* Whether the right operand is a literal in the row itself. */
static inline bool
glsl_has_literal(const glsl *g, uint32_t row)
{
  return (VYRE_ROW_FLAGS(g->v->op[row]) & VYRE_ROW_IMM) != 0;
}

/* Parentheses, if there have to be. */
static inline void
glsl_open(glsl *g, bool parenthesis)
{
  if (parenthesis)
    glsl_put_text(g, "(", 1);
}

static inline void
glsl_close(glsl *g, bool parenthesis)
{
  if (parenthesis)
    glsl_put_text(g, ")", 1);
}

/* ---- layout.c ---- */
bool glsl_layouts_make(glsl *g);
glsl_placed glsl_layout_of(const glsl *g, vyre_type_id type, glsl_layout layout);
/* Where the layout puts a member of that type that comes after `at` bytes. */
uint32_t glsl_layout_place(const glsl *g, vyre_type_id type, uint32_t at, glsl_layout layout);
/* Whether a block of that type, its members given offsets, can be laid out as the module says. */
bool glsl_layout_fits_block(const glsl *g, vyre_type_id type, glsl_layout layout);

/* ---- declare.c ---- */
/* "Particle p[4]": a declarator of the type. */
void glsl_declarator(glsl *g, vyre_type_id type, const char *name);
void glsl_declare(glsl *g); /* all that is above main and its functions, into `declarations` */
const char *glsl_struct_name(glsl *g, vyre_type_id type);
const char *glsl_member_name(glsl *g, vyre_type_id type, uint32_t k);
/* Whether a block is written without a name of its own, its members as if they were variables: one that is called like its type. */
bool glsl_is_anonymous(const glsl *g, uint32_t buffer);
/* main's own: private arrays and vars. */
void glsl_declare_locals(glsl *g);

/* ---- refuse.c ---- */
bool glsl_refuse(glsl *g); /* false, and an error: the text would lose a part of the program's meaning */

/* ---- survey.c ---- */
void glsl_survey(glsl *g);
bool glsl_is_constant_expression(const glsl *g, uint32_t row, unsigned depth); /* depth 0 */
/* Whether a device may not fuse the row with others. */
bool glsl_is_precise(const glsl *g, uint32_t row);
/* Whether a row on vectors is written component by component. */
bool glsl_is_componentwise(const glsl *g, uint32_t row);

/* ---- operators.c ---- */
void glsl_arithmetic(glsl *g, uint32_t row, glsl_precedence least);
void glsl_arguments(glsl *g, uint32_t row);                    /* "a, b)" */
void glsl_component(glsl *g, uint32_t operand, uint32_t lane); /* "v.x" */

/* ---- values.c ---- */
void glsl_operand_literal(glsl *g, vyre_type type, uint64_t bits, glsl_precedence least);
void glsl_value(glsl *g, uint32_t row, glsl_precedence least);
/* The right operand, be it a row or a literal. */
void glsl_right(glsl *g, uint32_t row, vyre_type type, glsl_precedence least);
void glsl_expression(glsl *g, uint32_t row, glsl_precedence least);
/* A row that is a statement: defines its name. */
void glsl_define(glsl *g, uint32_t row);
bool glsl_is_pair(const glsl *g, uint32_t row); /* two results: parts are names */

/* ---- functions.c: "name(" of a function that is written above main once it is asked for ---- */
void glsl_call(glsl *g, const char *function, vyre_type type);
void glsl_call_convert(glsl *g, vyre_type from, vyre_type to); /* float to integer, saturating */

/* ---- subgroups.c ---- */
const char *glsl_subgroup_builtin(glsl *g, vyre_opcode op); /* "gl_SubgroupSize"; NULL: it is none */
bool glsl_subgroup(glsl *g, uint32_t row);                  /* false: the row is none */

/* ---- memory.c ---- */
void glsl_path(glsl *g, uint32_t path);
void glsl_load(glsl *g, uint32_t row, glsl_precedence least);
void glsl_memory_statement(glsl *g, uint32_t row);
/* Whether an atomic reads signed memory as unsigned, or unsigned as signed. */
bool glsl_reads_otherwise(const glsl *g, uint32_t row);

/* ---- assign.c ---- */
/* Whether a length in the type is specialization's: then it is assigned element by element, and has no initializer. */
bool glsl_is_sized_late(const glsl *g, vyre_type_id type);
/* Statements, in a block: `to = from;`, or zero (from NULL). */
void glsl_assign(glsl *g, vyre_type_id type, const char *to, const char *from);
void glsl_zero(glsl *g, uint32_t buffer);        /* the same of a whole buffer */
char *glsl_take_text(glsl *g, vyre_bytes *text); /* as a string of its own, to be freed; NULL: failed */
void glsl_free_text(glsl *g, char *text);

/* ---- control.c ---- */
void glsl_region(glsl *g, uint32_t region);

#endif
