/* Declarations above main: specialization constants, structs, blocks, shared memory, tables.  Declarations in main: private
 * memory and variables.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "glsl.h"

#include <string.h>

/* ---- structs ---- */

const char *
glsl_member_name(glsl *g, vyre_type_id type, uint32_t k)
{
  const vyre_type_info info = vyre_type_get(g->module, type);
  const char *own = vyre_string_text(g->module, info.members[k].name);
  uint32_t *names = &g->member_names[type - 256];
  if (*names == 0) { /* names all members at once */
    const uint32_t first = g->member_count, need = first + info.count;
    if (!glsl_grow(g, &g->members, &g->member_capacity, need, sizeof *g->members))
      return own;
    g->member_count = need;
    *names = first;
    for (uint32_t i = 0; i < info.count; i++)
      g->members[first + i] = glsl_identifier(g, vyre_string_text(g->module, info.members[i].name), g->bare[type - 256] ? 0 : type);
  }
  return g->members[*names + k];
}

const char *
glsl_struct_name(glsl *g, vyre_type_id type)
{
  const char **name = &g->struct_names[type - 256];
  const vyre_type_info info = vyre_type_get(g->module, type);
  if (*name)
    return *name;
  const char *own = vyre_string_text(g->module, info.name);
  *name = glsl_identifier(g, *own ? own : "Struct", 0);
  vyre_bytes text = {.allocator = g->allocator}, *out = g->out;
  g->out = &text;
  glsl_put(g, "struct %s {\n", *name);
  for (uint32_t k = 0; k < info.count; k++) {
    glsl_put(g, "  ");
    glsl_declarator(g, info.members[k].type, glsl_member_name(g, type, k)); /* may put its own structs above */
    glsl_put(g, ";\n");
  }
  glsl_put(g, "};\n\n");
  g->out = &g->structs;
  glsl_put_text(g, text.data, text.size);
  g->out = out;
  vyre_bytes_free(&text);
  return *name;
}

static void
put_type(glsl *g, vyre_type_id type)
{
  const vyre_type_info info = vyre_type_get(g->module, type);
  char name[16];
  switch (info.form) {
  case VYRE_FORM_VALUE:
    glsl_put(g, "%s", glsl_value_type(g, (vyre_type)type));
    return;
  case VYRE_FORM_MATRIX:
    glsl_put(g, "%s", glsl_matrix_type(g, (vyre_type)info.element, info.count, name));
    return;
  case VYRE_FORM_ARRAY:
    put_type(g, info.element);
    return;
  case VYRE_FORM_STRUCT:
    glsl_put(g, "%s", glsl_struct_name(g, type));
    return;
  case VYRE_FORM_WORDS:
    glsl_fail(g, 0, "images, pointers and the like cannot be written as GLSL\nFix: write SPIR-V");
    return;
  }
}

static void
put_dimensions(glsl *g, vyre_type_id type)
{
  for (vyre_type_info info = vyre_type_get(g->module, type); info.form == VYRE_FORM_ARRAY;
       info = vyre_type_get(g->module, info.element)) {
    if (info.flags & VYRE_TYPE_RUNTIME)
      glsl_put(g, "[]");
    else if (info.count_row)
      glsl_put(g, "[%s]", glsl_row_name(g, info.count_row));
    else
      glsl_put(g, "[%u]", info.count);
  }
}

void
glsl_declarator(glsl *g, vyre_type_id type, const char *name)
{
  char copy[96]; /* `name` moves when the type makes identifiers */
  strncpy(copy, name, sizeof(copy) - 1);
  copy[sizeof(copy) - 1] = '\0';
  put_type(g, type);
  glsl_put(g, " %s", copy);
  put_dimensions(g, type);
}

/* ---- blocks ---- */

bool
glsl_is_anonymous(const glsl *g, uint32_t buffer)
{
  const vyre_type_info info = vyre_type_get(g->module, g->v->imm[buffer]);
  const vyre_space space = VYRE_BUFFER_SPACE(g->v->imm_hi[buffer]);
  const char *name = vyre_row_name(g->module, (vyre_row){buffer});
  const bool is_block = space == VYRE_SPACE_STORAGE || space == VYRE_SPACE_UNIFORM || space == VYRE_SPACE_PUSH;
  return is_block && info.form == VYRE_FORM_STRUCT && name && strcmp(name, vyre_string_text(g->module, info.name)) == 0;
}

enum { COLUMNS = 1, ROWS = 2 };

/* Returns the layout of the matrices in a type: COLUMNS, ROWS, both or neither. */
static unsigned
matrix_order(const glsl *g, vyre_type_id type)
{
  const vyre_type_info info = vyre_type_get(g->module, type);
  if (info.form == VYRE_FORM_MATRIX)
    return info.flags & VYRE_TYPE_ROW_MAJOR ? ROWS : COLUMNS;
  if (info.form == VYRE_FORM_ARRAY)
    return matrix_order(g, info.element);
  unsigned all = 0;
  for (uint32_t k = 0; info.form == VYRE_FORM_STRUCT && k < info.count && all != (COLUMNS | ROWS); k++)
    all |= matrix_order(g, info.members[k].type);
  return all;
}

static void
put_access(glsl *g, uint32_t access)
{
  static const struct {
    uint32_t bit;
    const char *word;
  } words[] = {{VYRE_ACCESS_NO_WRITE, "readonly "},
               {VYRE_ACCESS_NO_READ, "writeonly "},
               {VYRE_ACCESS_COHERENT, "coherent "},
               {VYRE_ACCESS_VOLATILE, "volatile "},
               {VYRE_ACCESS_RESTRICT, "restrict "}};
  for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
    if (access & words[i].bit)
      glsl_put(g, "%s", words[i].word);
}

static const char *
choose_layout(glsl *g, uint32_t buffer, vyre_type_id type, glsl_layout *out)
{
  static const glsl_layout storage[] = {GLSL_STD430, GLSL_SCALAR, GLSL_STD140}, uniform[] = {GLSL_STD140, GLSL_SCALAR, GLSL_STD430};
  static const char *const names[] = {"std430", "std140", "scalar"};
  const bool is_uniform = VYRE_BUFFER_SPACE(g->v->imm_hi[buffer]) == VYRE_SPACE_UNIFORM;
  const glsl_layout *order = is_uniform ? uniform : storage;
  for (uint32_t i = 0; i < GLSL_LAYOUT__COUNT; i++) {
    *out = order[i];
    if (!glsl_layout_fits_block(g, type, order[i]))
      continue;
    if (order[i] == GLSL_SCALAR || (is_uniform && order[i] == GLSL_STD430))
      glsl_need(g, GLSL_SCALAR_LAYOUT);
    return names[order[i]];
  }
  glsl_fail(g, buffer, "GLSL has no layout with the offsets and strides of this buffer's type\nFix: write SPIR-V");
  return "";
}

static void
put_member(glsl *g, vyre_type_id type, const char *name, uint32_t access, uint32_t offset, uint32_t natural, uint32_t buffer)
{
  const unsigned order = matrix_order(g, type);
  if (order == (COLUMNS | ROWS))
    glsl_fail(g, buffer, "GLSL has no struct with both row-major and column-major matrices\nFix: write SPIR-V");
  glsl_put(g, "  ");
  if (offset != natural)
    glsl_put(g, "layout(offset = %u) ", offset);
  if (order == ROWS)
    glsl_put(g, "layout(row_major) ");
  put_access(g, access);
  glsl_declarator(g, type, name);
  glsl_put(g, ";\n");
}

/* Writes an empty line, unless there is one. */
static void
end_paragraph(glsl *g)
{
  if (g->out->size > 1 && g->out->data[g->out->size - 2] != '\n')
    glsl_put(g, "\n");
}

/* Returns the type that is bound to a descriptor of the buffer. */
static vyre_type_id
bound_type(const glsl *g, uint32_t buffer)
{
  vyre_type_id type = g->v->imm[buffer];
  for (uint32_t k = vyre_buffer_descriptor_steps(g->module, buffer); k > 0; k--)
    type = vyre_type_get(g->module, type).element;
  return type;
}

/* Writes a block.  An array of descriptors is an array of blocks. */
static void
put_block(glsl *g, uint32_t buffer)
{
  const vyre_view *v = g->v;
  const vyre_type_id type = bound_type(g, buffer);
  const vyre_type_info info = vyre_type_get(g->module, type);
  const vyre_space space = VYRE_BUFFER_SPACE(v->imm_hi[buffer]);
  const vyre_buffer_info *place = vyre_buffer_info_of((vyre_module *)g->module, (vyre_row){buffer});
  const bool is_struct = info.form == VYRE_FORM_STRUCT;
  glsl_layout layout;
  const char *name = choose_layout(g, buffer, type, &layout);
  end_paragraph(g);
  if (space == VYRE_SPACE_PUSH)
    glsl_put(g, "layout(%s, push_constant) ", name);
  else
    glsl_put(g, "layout(%s, set = %u, binding = %u) ", name, place->set, place->binding);
  const uint32_t declared =
      g->read[buffer - g->program] ? ~(uint32_t)VYRE_ACCESS_NO_READ : ~0u; /* some compilers declare NonReadable for reads */
  put_access(g, v->imm_hi[buffer] & (space == VYRE_SPACE_STORAGE ? declared : 0u));
  const char *own = vyre_string_text(g->module, info.name);
  const char *block = glsl_identifier(g, is_struct && *own ? own : "Block", 0);
  glsl_put(g, "%s %s {\n", space == VYRE_SPACE_STORAGE ? "buffer" : "uniform", block);
  if (!is_struct)
    put_member(g, type, glsl_row_name(g, buffer), 0, 0, 0, buffer);
  for (uint32_t k = 0, at = 0; is_struct && k < info.count; k++) {
    const vyre_member *m = &info.members[k];
    const uint32_t natural = glsl_layout_place(g, m->type, at, layout);
    put_member(g, m->type, glsl_member_name(g, type, k), m->access & ~v->imm_hi[buffer] & declared, m->offset, natural, buffer);
    at = m->offset + glsl_layout_of(g, m->type, layout).size;
  }
  glsl_put(g, "}");
  if (is_struct && !glsl_is_anonymous(g, buffer))
    glsl_put(g, " %s", glsl_row_name(g, buffer));
  if (type != v->imm[buffer])
    put_dimensions(g, v->imm[buffer]);
  if (vyre_type_get(g->module, v->imm[buffer]).flags & VYRE_TYPE_RUNTIME && type != v->imm[buffer])
    glsl_need(g, GLSL_NONUNIFORM);
  glsl_put(g, ";\n\n");
}

/* ---- initializers ---- */

/* Writes the value that begins at `words`.  Returns the number of its words. */
static uint32_t
put_initializer(glsl *g, vyre_type_id type, const uint32_t *words, uint32_t count)
{
  const vyre_type_info info = vyre_type_get(g->module, type);
  uint32_t used = 0;
  if (info.form == VYRE_FORM_VALUE && VYRE_TYPE_LANES((vyre_type)type) == 1) {
    const bool wide = vyre_kind_bits(VYRE_TYPE_KIND((vyre_type)type)) == 64;
    const uint64_t bits = count ? words[0] | (wide && count > 1 ? (uint64_t)words[1] << 32 : 0) : 0;
    glsl_literal(g, (vyre_type)type, bits);
    return wide ? 2 : 1;
  }
  put_type(g, type);
  if (info.form == VYRE_FORM_ARRAY)
    put_dimensions(g, type);
  glsl_put(g, "(");
  const uint32_t parts = info.form == VYRE_FORM_VALUE ? VYRE_TYPE_LANES((vyre_type)type) : info.count;
  for (uint32_t k = 0; k < parts; k++) {
    const vyre_type_id part = info.form == VYRE_FORM_STRUCT  ? info.members[k].type
                              : info.form == VYRE_FORM_VALUE ? VYRE_TYPE(VYRE_TYPE_KIND((vyre_type)type), 1)
                                                             : info.element;
    glsl_put(g, k ? ", " : "");
    used += put_initializer(g, part, words + (used < count ? used : count), used < count ? count - used : 0);
  }
  glsl_put(g, ")");
  return used;
}

/* Writes a variable that is memory: "uint t[4] = {}". */
static void
put_variable(glsl *g, uint32_t buffer, const char *word, bool zero)
{
  const vyre_buffer_info *info = vyre_buffer_info_of((vyre_module *)g->module, (vyre_row){buffer});
  glsl_put(g, "%s", word);
  glsl_declarator(g, g->v->imm[buffer], glsl_row_name(g, buffer));
  uint32_t count = 0;
  const uint32_t *words = info->initializer != UINT32_MAX ? vyre_module_initializer(g->module, info->initializer, &count) : NULL;
  if (words && count) {
    glsl_put(g, " = ");
    (void)put_initializer(g, g->v->imm[buffer], words, count);
  } else if (zero || info->initializer != UINT32_MAX) { /* an initializer without words is zero */
    glsl_need(g, GLSL_NULL_INITIALIZER);
    glsl_put(g, " = {}");
  }
  glsl_put(g, ";\n");
}

/* Returns whether a buffer is declared in main: private memory, or a table of zeros whose length depends on specialization. */
static bool
is_local(const glsl *g, uint32_t row)
{
  const vyre_space space = VYRE_BUFFER_SPACE(g->v->imm_hi[row]);
  return glsl_is(g, row, VYRE_OP_buffer) &&
         (space == VYRE_SPACE_PRIVATE || (space == VYRE_SPACE_CONSTANT && glsl_is_sized_late(g, g->v->imm[row])));
}

/* ---- all ---- */

/* Returns the first used specialization constant of that number other than `row`.  Returns 0 if no other
 * constant has it. */
static uint32_t
other_of_id(const glsl *g, uint32_t id, uint32_t row)
{
  for (uint32_t r = g->v->first[g->program]; r && id != UINT32_MAX; r = g->v->next[r])
    if (r != row && glsl_is(g, r, VYRE_OP_spec) && g->uses[r - g->program] && vyre_row_spec_id(g->module, (vyre_row){r}) == id)
      return r;
  return 0;
}

/* Returns whether the constant is a dimension of the workgroup size and another constant has the same number.  GLSL allows a
 * number once, so the constant is defined by gl_WorkGroupSize. */
static bool
is_side(const glsl *g, uint32_t row)
{
  const vyre_view *v = g->v;
  uint32_t size = v->first[g->program];
  while (size && !glsl_is(g, size, VYRE_OP_workgroup))
    size = v->next[size];
  return size && (v->a[size] == row || v->b[size] == row || v->c[size] == row) &&
         other_of_id(g, vyre_row_spec_id(g->module, (vyre_row){row}), row) != 0;
}

static void
put_spec(glsl *g, uint32_t row)
{
  const uint32_t id = vyre_row_spec_id(g->module, (vyre_row){row}), other = other_of_id(g, id, row);
  const vyre_type type = glsl_row_type(g, row);
  if (is_side(g, row))
    return; /* put_workgroup defines it */
  if (other && other < row && !is_side(g, other)) {
    if (glsl_row_type(g, other) != type || glsl_payload(g, other) != glsl_payload(g, row))
      glsl_fail(g, row, "two specialization constants with number %u differ in type or value\nFix: write SPIR-V", id);
    glsl_put(g, "const %s %s = ", glsl_value_type(g, type), glsl_row_name(g, row));
    glsl_put(g, "%s;\n", glsl_row_name(g, other));
    return;
  }
  if (id != UINT32_MAX)
    glsl_put(g, "layout(constant_id = %u) ", id);
  glsl_put(g, "const %s %s = ", glsl_value_type(g, type), glsl_row_name(g, row));
  glsl_literal(g, type, glsl_payload(g, row));
  glsl_put(g, ";\n");
}

/* Writes local_size_x = 64, or the id of a specialization constant. */
static void
put_workgroup(glsl *g, uint32_t row)
{
  const uint32_t sizes[3] = {g->v->a[row], g->v->b[row], g->v->c[row]};
  glsl_put(g, "layout(");
  for (uint32_t k = 0; k < 3; k++) {
    const bool spec = glsl_is(g, sizes[k], VYRE_OP_spec) && vyre_row_spec_id(g->module, (vyre_row){sizes[k]}) != UINT32_MAX;
    if (!spec && !glsl_is(g, sizes[k], VYRE_OP_const) && !glsl_is(g, sizes[k], VYRE_OP_spec))
      glsl_fail(g, row, "GLSL has no workgroup size that is computed from specialization constants\nFix: write SPIR-V");
    glsl_put(g, "%slocal_size_%c = %u", k ? ", " : "", "xyz"[k], g -> v -> imm[sizes[k]]);
    if (spec)
      glsl_put(g, ", local_size_%c_id = %u", "xyz"[k], vyre_row_spec_id(g->module, (vyre_row){sizes[k]}));
  }
  glsl_put(g, ") in;\n");
  for (uint32_t k = 0; k < 3; k++)
    if (glsl_is(g, sizes[k], VYRE_OP_spec) && g->uses[sizes[k] - g->program] && is_side(g, sizes[k]))
      glsl_put(g, "const uint %s = gl_WorkGroupSize.%c;\n", glsl_row_name(g, sizes[k]), "xyz"[k]);
}

/* Writes a constant.  Constants precede the structs, whose lengths may use them. */
static void
put_constant(glsl *g, uint32_t row)
{
  vyre_bytes *out = g->out;
  const uint32_t i = row - g->program;
  g->out = &g->constants;
  if (glsl_is(g, row, VYRE_OP_workgroup)) {
    put_workgroup(g, row);
  } else if (glsl_is(g, row, VYRE_OP_spec) && g->uses[i]) {
    put_spec(g, row);
  } else if (g->pinned[i] && g->form[i] == GLSL_NAMED && row < g->first_body && !glsl_is(g, row, VYRE_OP_spec)) {
    g->defines_constants = true;
    glsl_define(g, row);
    g->defines_constants = false;
  }
  g->out = out;
}

void
glsl_declare(glsl *g)
{
  const vyre_view *v = g->v;
  vyre_bytes *out = g->out;
  g->out = &g->declarations;
  for (uint32_t row = v->first[g->program]; row; row = v->next[row])
    if (glsl_is(g, row, VYRE_OP_buffer) && glsl_is_anonymous(g, row))
      g->bare[v->imm[row] - 256] = 1;
  for (uint32_t row = v->first[g->program]; row && !g->status; row = v->next[row]) {
    const vyre_space space = VYRE_BUFFER_SPACE(v->imm_hi[row]);
    put_constant(g, row);
    if (!glsl_is(g, row, VYRE_OP_buffer) || is_local(g, row))
      continue;
    if (space == VYRE_SPACE_STORAGE || space == VYRE_SPACE_UNIFORM || space == VYRE_SPACE_PUSH)
      put_block(g, row);
    else if (space == VYRE_SPACE_WORKGROUP)
      put_variable(g, row, "shared ", false);
    else if (space == VYRE_SPACE_CONSTANT)
      put_variable(g, row, "const ", true);
  }
  end_paragraph(g);
  g->out = &g->constants;
  end_paragraph(g);
  g->out = out;
}

/* Zeroes shared memory in the first invocation of a strict program. */
static void
zero_shared(glsl *g)
{
  const vyre_view *v = g->v;
  bool any = false;
  for (uint32_t row = v->first[g->program]; row && g->strict; row = v->next[row]) {
    if (!glsl_is(g, row, VYRE_OP_buffer) || VYRE_BUFFER_SPACE(v->imm_hi[row]) != VYRE_SPACE_WORKGROUP)
      continue;
    if (!any)
      glsl_put(g, "  if (gl_LocalInvocationIndex == 0u) {\n");
    any = true;
    g->indent++;
    glsl_zero(g, row);
    g->indent--;
  }
  if (any)
    glsl_put(g, "  }\n  barrier();\n");
}

void
glsl_declare_locals(glsl *g)
{
  const vyre_view *v = g->v;
  for (uint32_t row = v->first[g->program]; row; row = v->next[row]) {
    if (glsl_is(g, row, VYRE_OP_var)) {
      const vyre_type type = glsl_row_type(g, row);
      glsl_begin_line(g);
      glsl_put(g, "%s %s = ", glsl_value_type(g, type), glsl_row_name(g, row));
      glsl_literal(g, type, 0);
      glsl_put(g, ";\n");
    } else if (is_local(g, row)) {
      const bool late = glsl_is_sized_late(g, v->imm[row]);
      glsl_begin_line(g);
      put_variable(g, row, "", !late);
      if (late)
        glsl_zero(g, row);
    }
  }
  zero_shared(g);
}
