/* Writes a program as the text of a compute shader.  The cost is linear in the rows, and in the text after inserted flags
 * (control.c).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "glsl.h"

#include "base/grow.h"
#include "vyre/environment.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const extension_names[GLSL_EXTENSION__COUNT] = {
    [GLSL_INT8] = "GL_EXT_shader_explicit_arithmetic_types_int8",
    [GLSL_INT16] = "GL_EXT_shader_explicit_arithmetic_types_int16",
    [GLSL_INT64] = "GL_EXT_shader_explicit_arithmetic_types_int64",
    [GLSL_FLOAT16] = "GL_EXT_shader_explicit_arithmetic_types_float16",
    [GLSL_FLOAT64] = "GL_EXT_shader_explicit_arithmetic_types_float64",
    [GLSL_ATOMIC_INT64] = "GL_EXT_shader_atomic_int64",
    [GLSL_ATOMIC_FLOAT] = "GL_EXT_shader_atomic_float",
    [GLSL_ATOMIC_FLOAT2] = "GL_EXT_shader_atomic_float2",
    [GLSL_SCOPES] = "GL_KHR_memory_scope_semantics",
    [GLSL_NULL_INITIALIZER] = "GL_EXT_null_initializer",
    [GLSL_SCALAR_LAYOUT] = "GL_EXT_scalar_block_layout",
    [GLSL_SUBGROUP_BASIC] = "GL_KHR_shader_subgroup_basic",
    [GLSL_SUBGROUP_VOTE] = "GL_KHR_shader_subgroup_vote",
    [GLSL_SUBGROUP_BALLOT] = "GL_KHR_shader_subgroup_ballot",
    [GLSL_SUBGROUP_SHUFFLE] = "GL_KHR_shader_subgroup_shuffle",
    [GLSL_SUBGROUP_RELATIVE] = "GL_KHR_shader_subgroup_shuffle_relative",
    [GLSL_SUBGROUP_ARITHMETIC] = "GL_KHR_shader_subgroup_arithmetic",
    [GLSL_SUBGROUP_CLUSTERED] = "GL_KHR_shader_subgroup_clustered",
    [GLSL_SUBGROUP_QUAD] = "GL_KHR_shader_subgroup_quad",
    [GLSL_SUBGROUP_INT8] = "GL_EXT_shader_subgroup_extended_types_int8",
    [GLSL_SUBGROUP_INT16] = "GL_EXT_shader_subgroup_extended_types_int16",
    [GLSL_SUBGROUP_INT64] = "GL_EXT_shader_subgroup_extended_types_int64",
    [GLSL_SUBGROUP_FLOAT16] = "GL_EXT_shader_subgroup_extended_types_float16",
    [GLSL_CONTROL_HINTS] = "GL_EXT_control_flow_attributes",
    [GLSL_NONUNIFORM] = "GL_EXT_nonuniform_qualifier",
};

void *
glsl_resize(glsl *g, void *memory, size_t old_size, size_t new_size)
{
  if (new_size == 0 ? !memory : g->status != NULL) /* fails after an error */
    return NULL;
  void *result = g->allocator->resize(g->allocator->user, memory, old_size, new_size);
  if (!result && new_size && !g->status)
    g->status = VYRE_OUT_OF_MEMORY("while writing GLSL");
  return result;
}

bool
glsl_grow(glsl *g, void *array, uint32_t *capacity, uint32_t needed, size_t size)
{
  if (g->status) /* fails after an error */
    return false;
  if (!vyre_grow(g->allocator, array, capacity, needed, size))
    g->status = VYRE_OUT_OF_MEMORY("while writing GLSL");
  return !g->status;
}

bool
glsl_fail(glsl *g, uint32_t row, const char *format, ...)
{
  char text[512];
  const char *name = vyre_row_name(g->module, (vyre_row){g->program}), *own = vyre_row_name(g->module, (vyre_row){row});
  va_list arguments;
  if (g->status)
    return false;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  g->status = VYRE_ERROR(VYRE_CODE_INPUT, "program @%s, row %" PRIu32 "%s%s: %s%s", name ? name : "?", row, own ? " %" : "",
                         own ? own : "", text, strstr(text, "\nFix:") ? "" : "\nFix: write SPIR-V");
  return false;
}

void
glsl_put_text(glsl *g, const char *text, size_t length)
{
  if (!g->status && length)
    g->status = vyre_bytes_append(g->out, text, length);
}

void
glsl_put(glsl *g, const char *format, ...)
{
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  glsl_put_text(g, text, length < 0 ? 0 : (size_t)length < sizeof(text) ? (size_t)length : sizeof(text) - 1);
}

void
glsl_begin_line(glsl *g)
{
  for (uint32_t i = 0; i < g->indent && i < 20; i++)
    glsl_put_text(g, "  ", 2);
}

void
glsl_need(glsl *g, glsl_extension extension)
{
  if (extension < GLSL_EXTENSION__COUNT)
    g->extensions |= 1u << extension;
}

/* ---- the whole ---- */

#define WORD_COLUMNS 4
#define BYTE_COLUMNS 8

static bool
make_columns(glsl *g)
{
  const size_t rows = g->end - g->program, types = vyre_type_count(g->module) > 256 ? vyre_type_count(g->module) - 256 : 1;
  uint32_t **const wide[WORD_COLUMNS] = {&g->uses, &g->user, &g->place, &g->writes};
  uint8_t **const narrow[BYTE_COLUMNS] = {&g->form, &g->level, &g->chain, &g->twice, &g->pinned, &g->goes_on, &g->left, &g->read};
  g->words_memory = glsl_resize(g, NULL, 0, WORD_COLUMNS * rows * sizeof(uint32_t));
  g->bytes_memory = glsl_resize(g, NULL, 0, BYTE_COLUMNS * rows);
  g->types_memory = glsl_resize(g, NULL, 0, 3 * types * sizeof(uint32_t));
  g->names_memory = glsl_resize(g, NULL, 0, (2 * rows + types) * sizeof(*g->names_memory));
  if (!g->words_memory || !g->bytes_memory || !g->types_memory || !g->names_memory)
    return false;
  memset(g->words_memory, 0, WORD_COLUMNS * rows * sizeof(uint32_t));
  memset(g->bytes_memory, 0, BYTE_COLUMNS * rows);
  memset(g->types_memory, 0, 3 * types * sizeof(uint32_t));
  memset(g->names_memory, 0, (2 * rows + types) * sizeof(*g->names_memory));
  for (size_t i = 0; i < WORD_COLUMNS; i++)
    *wide[i] = g->words_memory + i * rows;
  for (size_t i = 0; i < BYTE_COLUMNS; i++)
    *narrow[i] = g->bytes_memory + i * rows;
  g->name = g->names_memory;
  g->second = g->names_memory + rows;
  g->struct_names = g->names_memory + 2 * rows;
  g->member_names = g->types_memory;
  g->bare = g->types_memory + types;
  g->measured = g->types_memory + 2 * types;
  g->member_count = 1; /* index 0 means none */
  return glsl_layouts_make(g);
}

/* Writes the program's name as a comment.  Replaces characters that could end or continue the line. */
static void
write_name(glsl *g)
{
  const char *name = vyre_row_name(g->module, (vyre_row){g->program});
  glsl_put(g, "// @");
  for (; name && *name; name++)
    glsl_put_text(g, strchr("\\?", *name) || (unsigned char)*name < ' ' ? "_" : name, 1);
  glsl_put(g, "\n");
}

static void
write_head(glsl *g)
{
  glsl_put(g, "#version 460\n");
  write_name(g);
  for (uint32_t i = 0; i < GLSL_EXTENSION__COUNT; i++)
    if (g->extensions >> i & 1)
      glsl_put(g, "#extension %s : require\n", extension_names[i]);
  glsl_put(g, "\n");
}

static void
write_program(glsl *g, vyre_bytes *out)
{
  if (!make_columns(g))
    return;
  if (!glsl_refuse(g))
    return;
  glsl_survey(g);
  glsl_declare(g); /* first, so that interface names stay unchanged */
  g->out = &g->body;
  g->indent = 1;
  glsl_declare_locals(g);
  glsl_region(g, g->program);
  if (g->status)
    return;
  g->out = out;
  g->indent = 0;
  write_head(g);
  glsl_put_text(g, g->constants.data, g->constants.size);
  glsl_put_text(g, g->structs.data, g->structs.size);
  glsl_put_text(g, g->declarations.data, g->declarations.size);
  glsl_put_text(g, g->functions.data, g->functions.size);
  glsl_put(g, "void main()\n{\n");
  glsl_put_text(g, g->body.data, g->body.size);
  glsl_put(g, "}\n");
}

static void
free_all(glsl *g)
{
  const size_t rows = g->end - g->program, types = vyre_type_count(g->module) > 256 ? vyre_type_count(g->module) - 256 : 1;
  while (g->depth > 0) {
    glsl_scope *scope = &g->scopes[--g->depth];
    glsl_resize(g, scope->tests, scope->test_capacity * sizeof(*scope->tests), 0);
  }
  glsl_resize(g, g->scopes, g->scope_capacity * sizeof(*g->scopes), 0);
  glsl_free_words(g);
  glsl_resize(g, g->members, g->member_capacity * sizeof(*g->members), 0);
  glsl_resize(g, g->words_memory, WORD_COLUMNS * rows * sizeof(uint32_t), 0);
  glsl_resize(g, g->bytes_memory, BYTE_COLUMNS * rows, 0);
  glsl_resize(g, g->types_memory, 3 * types * sizeof(uint32_t), 0);
  glsl_resize(g, g->names_memory, (2 * rows + types) * sizeof(*g->names_memory), 0);
  glsl_resize(g, g->layouts, (size_t)(vyre_type_count(g->module) - 256) * GLSL_LAYOUT__COUNT * sizeof(*g->layouts), 0);
  vyre_bytes_free(&g->body);
  vyre_bytes_free(&g->functions);
  vyre_bytes_free(&g->declarations);
  vyre_bytes_free(&g->structs);
  vyre_bytes_free(&g->constants);
}

vyre_status
vyre_glsl_write(const vyre_module *module, vyre_row program, vyre_bytes *out)
{
  VYRE_OWN_ENVIRONMENT;
  const vyre_view *v = vyre_module_view(module);
  const size_t start = out->size;
  glsl g = {.module = module, .v = v, .allocator = vyre_module_allocator(module), .program = program.id};
  g.end = vyre_program_end(v, program.id);
  g.strict = (v->imm[program.id] & VYRE_PROGRAM_RELAXED) == 0;
  g.body.allocator = g.functions.allocator = g.declarations.allocator = g.structs.allocator = g.constants.allocator = g.allocator;
  if (!vyre_module_is_sealed(module))
    return VYRE_ERROR(VYRE_CODE_INTERNAL, "writing GLSL of a module that is not sealed");
  write_program(&g, out);
  free_all(&g);
  return vyre_bytes_undo(out, start, g.status);
}
