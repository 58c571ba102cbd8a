/* Internals of the GLSL generator.
 *
 *   survey.c     inlined and named rows
 *   control.c    regions as statements; jumps from any depth
 *   values.c     values as expressions; operators.c: operators and functions of one type; functions.c: helper functions
 *   subgroups.c  subgroup operations
 *   memory.c     paths, loads, stores, atomics, barriers; assign.c: whole values
 *   types.c      types and literals; layout.c: std140, std430 and scalar; declare.c: structs, buffers, constants
 *   names.c      identifiers
 *   refuse.c     modules that GLSL cannot express
 *   write.c      the whole shader
 *
 * The declarations, the helper functions and main are separate texts.  main adds helper functions and extensions, so the texts
 * are joined at the end.
 *
 * `status` keeps the first error.  Text written after it is discarded.
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
  GLSL_UNUSED, /* no text */
  GLSL_NAMED,  /* a statement that defines a name */
  GLSL_INLINE, /* an expression in its users */
} glsl_form;

/* How tightly an expression binds.  Greater values bind tighter. */
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
  uint32_t depth;   /* of the scope that the jump leaves or continues */
  bool goes_on;     /* a `continue`, not a `break` */
} glsl_flag;

/* A construct that a jump may leave. */
typedef struct glsl_scope {
  glsl_scope_kind kind;
  uint32_t row;
  uint32_t indent;           /* of its first line */
  size_t before, inside;     /* offsets in the text: before the scope, and at the start of a loop's body */
  const char *leave, *go_on; /* identifiers of flags, or NULL */
  glsl_flag *tests;          /* flags of outer scopes that are set in it */
  uint32_t test_count, test_capacity;
} glsl_scope;

typedef enum glsl_layout { GLSL_STD430, GLSL_STD140, GLSL_SCALAR, GLSL_LAYOUT__COUNT } glsl_layout;

typedef struct glsl_placed {
  uint32_t size, align; /* bytes, by a layout */
  bool fits;            /* equal to the module's layout of the type */
} glsl_placed;

typedef struct glsl {
  const vyre_module *module;
  const vyre_view *v;
  const vyre_allocator *allocator;
  vyre_status status;
  uint32_t program, end; /* its rows: from `program` to before `end` */
  bool strict;
  uint32_t extensions; /* bits by glsl_extension */

  /* by row - program */
  uint32_t *uses, *user;       /* the number of users, and the first in program order */
  uint32_t *place;             /* of an inlined row: the statement that contains its text */
  uint32_t *writes;            /* number of rows so far over which no read may move */
  const char **name, **second; /* identifiers: of the row, and of its second result */
  uint8_t *form, *level, *chain;
  uint8_t *twice;   /* its text would be repeated */
  uint8_t *pinned;  /* a length or the workgroup size depends on it, so it is a constant of the module */
  uint8_t *goes_on; /* of loops: there is a `continue` to it */
  uint8_t *left;    /* of blocks and switches: there is a `leave` to it */
  uint8_t *read;    /* of buffers: there is a read of it */
  uint32_t *words_memory, *types_memory;
  const char **names_memory;
  uint8_t *bytes_memory;
  uint32_t first_body; /* the first row that is not a declaration */

  /* text */
  vyre_bytes *out; /* destination of glsl_put: one of the texts below */
  vyre_bytes body, functions, declarations, structs, constants;
  uint32_t indent;
  bool defines_constants; /* the definition being written is a constant of the module */
  bool folds;             /* in an expression that compilers fold in double, so that literals must be exact as doubles */

  struct glsl_word *words; /* identifiers in use: a hash table of names.c */
  uint32_t next_unnamed;

  glsl_placed *layouts;      /* by type id - 256, and layout */
  const char **struct_names; /* by type id - 256: NULL if not declared */
  uint32_t *member_names;    /* by type id - 256: index in `members` of its first member's name, or 0 */
  uint32_t *measured;        /* by type id - 256: uses of its lengths are recorded */
  uint32_t *bare;            /* by type id - 256: a block without a name, whose members are global names */
  const char **members;
  uint32_t member_count, member_capacity;

  glsl_scope *scopes;
  uint32_t depth, scope_capacity;
} glsl;

/* ---- write.c ---- */
void *glsl_resize(glsl *g, void *memory, size_t old_size, size_t new_size);
bool glsl_grow(glsl *g, void *array, uint32_t *capacity, uint32_t needed, size_t size); /* does nothing after an error */
bool glsl_fail(glsl *g, uint32_t row, const char *format, ...) VYRE_PRINTF(3, 4);
void glsl_put(glsl *g, const char *format, ...) VYRE_PRINTF(2, 3);
void glsl_put_text(glsl *g, const char *text, size_t length);
void glsl_begin_line(glsl *g); /* writes the indentation */
void glsl_need(glsl *g, glsl_extension extension);
void glsl_need_kind(glsl *g, vyre_kind kind); /* requires the kind's extension */

/* ---- names.c: identifiers, which stay valid until the end ---- */
/* Returns an identifier like `base` that is unique in the scope.  The scope is 0, or a struct type for its members. */
const char *glsl_identifier(glsl *g, const char *base, uint32_t scope);
bool glsl_reserve_word(glsl *g, const char *word); /* false if it is in use */
void glsl_free_words(glsl *g);
/* Returns a row's identifier.  Makes it from the row's name on first use. */
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

/* Returns whether the right operand is a literal in the row itself. */
static inline bool
glsl_has_literal(const glsl *g, uint32_t row)
{
  return (VYRE_ROW_FLAGS(g->v->op[row]) & VYRE_ROW_IMM) != 0;
}

/* Writes a parenthesis if there must be one. */
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
/* Returns the offset at which the layout puts a member of that type after `at` bytes. */
uint32_t glsl_layout_place(const glsl *g, vyre_type_id type, uint32_t at, glsl_layout layout);
/* Returns whether a block of that type with explicit member offsets can have the module's layout. */
bool glsl_layout_fits_block(const glsl *g, vyre_type_id type, glsl_layout layout);

/* ---- declare.c ---- */
/* Writes a declarator of the type: "Particle p[4]". */
void glsl_declarator(glsl *g, vyre_type_id type, const char *name);
void glsl_declare(glsl *g); /* writes all declarations above main into `declarations` and other texts */
const char *glsl_struct_name(glsl *g, vyre_type_id type);
const char *glsl_member_name(glsl *g, vyre_type_id type, uint32_t k);
/* Returns whether a block has no name of its own, so that its members are global names.  Such a block is named like its type. */
bool glsl_is_anonymous(const glsl *g, uint32_t buffer);
/* Declares main's private memory and vars. */
void glsl_declare_locals(glsl *g);

/* ---- refuse.c ---- */
bool glsl_refuse(glsl *g); /* false and an error if GLSL cannot express the program */

/* ---- survey.c ---- */
void glsl_survey(glsl *g);
bool glsl_is_constant_expression(const glsl *g, uint32_t row, unsigned depth); /* callers pass depth 0 */
/* Returns whether devices must not fuse the row with others. */
bool glsl_is_precise(const glsl *g, uint32_t row);
/* Returns whether a row on vectors is written component by component. */
bool glsl_is_componentwise(const glsl *g, uint32_t row);

/* ---- operators.c ---- */
void glsl_arithmetic(glsl *g, uint32_t row, glsl_precedence least);
void glsl_arguments(glsl *g, uint32_t row);                    /* "a, b)" */
void glsl_component(glsl *g, uint32_t operand, uint32_t lane); /* "v.x" */

/* ---- values.c ---- */
void glsl_operand_literal(glsl *g, vyre_type type, uint64_t bits, glsl_precedence least);
void glsl_value(glsl *g, uint32_t row, glsl_precedence least);
/* Writes the right operand, which is a row or a literal. */
void glsl_right(glsl *g, uint32_t row, vyre_type type, glsl_precedence least);
void glsl_expression(glsl *g, uint32_t row, glsl_precedence least);
/* Writes a statement that defines the row's name. */
void glsl_define(glsl *g, uint32_t row);
bool glsl_is_pair(const glsl *g, uint32_t row); /* it has two results, so its parts are names */

/* ---- functions.c: writes "name(" of a helper function, and the function above main on first use ---- */
void glsl_call(glsl *g, const char *function, vyre_type type);
void glsl_call_convert(glsl *g, vyre_type from, vyre_type to); /* float to integer, saturating */

/* ---- subgroups.c ---- */
const char *glsl_subgroup_builtin(glsl *g, vyre_opcode op); /* "gl_SubgroupSize", or NULL for other ops */
bool glsl_subgroup(glsl *g, uint32_t row);                  /* false for other rows */

/* ---- memory.c ---- */
void glsl_path(glsl *g, uint32_t path);
void glsl_load(glsl *g, uint32_t row, glsl_precedence least);
void glsl_memory_statement(glsl *g, uint32_t row);
/* Returns whether an atomic reads signed memory as unsigned, or unsigned memory as signed. */
bool glsl_reads_otherwise(const glsl *g, uint32_t row);

/* ---- assign.c ---- */
/* Returns whether a length in the type depends on specialization.  Such a value is assigned element by element and has no
 * initializer. */
bool glsl_is_sized_late(const glsl *g, vyre_type_id type);
/* Writes statements, in a block: `to = from;`, or zero if `from` is NULL. */
void glsl_assign(glsl *g, vyre_type_id type, const char *to, const char *from);
void glsl_zero(glsl *g, uint32_t buffer);          /* assigns zero to a whole buffer */
char *glsl_detach_text(glsl *g, vyre_bytes *text); /* a copy to be freed, or NULL if out of memory; frees `text` */
void glsl_free_text(glsl *g, char *text);

/* ---- control.c ---- */
void glsl_region(glsl *g, uint32_t region);

#endif
