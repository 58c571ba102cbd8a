/* Assigns whole values, and zero.
 *
 * GLSL neither assigns nor initializes an array whose length depends on specialization.  Such an array is written element by
 * element.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "glsl.h"

#include <string.h>

char *
glsl_detach_text(glsl *g, vyre_bytes *text)
{
  char *copy = glsl_resize(g, NULL, 0, text->size + 1);
  if (copy) {
    if (text->size)
      memcpy(copy, text->data, text->size);
    copy[text->size] = '\0';
  }
  vyre_bytes_free(text);
  return copy;
}

void
glsl_free_text(glsl *g, char *text)
{
  glsl_resize(g, text, text ? strlen(text) + 1 : 0, 0);
}

bool
glsl_is_sized_late(const glsl *g, vyre_type_id type)
{
  const vyre_type_info info = vyre_type_get(g->module, type);
  if (info.form == VYRE_FORM_ARRAY)
    return info.count_row || glsl_is_sized_late(g, info.element);
  for (uint32_t k = 0; info.form == VYRE_FORM_STRUCT && k < info.count; k++)
    if (glsl_is_sized_late(g, info.members[k].type))
      return true;
  return false;
}

/* Returns `path` followed by an index or a member.  Returns NULL if `path` is NULL. */
static char *
step_of(glsl *g, const char *path, const char *before, const char *step, const char *behind)
{
  const char *const parts[] = {path, before, step, behind};
  vyre_bytes *out = g->out, text = {.allocator = g->allocator};
  if (!path)
    return NULL;
  g->out = &text;
  for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
    glsl_put_text(g, parts[i], strlen(parts[i]));
  g->out = out;
  return glsl_detach_text(g, &text);
}

static void
assign_step(glsl *g, vyre_type_id type, const char *to, const char *from, const char *before, const char *step, const char *behind)
{
  char *there = step_of(g, to, before, step, behind), *value = step_of(g, from, before, step, behind);
  if (!g->status)
    glsl_assign(g, type, there, value);
  glsl_free_text(g, value);
  glsl_free_text(g, there);
}

static void
assign_elements(glsl *g, const vyre_type_info *array, const char *to, const char *from)
{
  const char *index = glsl_identifier(g, "k", 0);
  glsl_begin_line(g);
  glsl_put(g, "for (uint %s = 0u; %s < ", index, index);
  if (array->count_row)
    glsl_put(g, glsl_row_type(g, array->count_row) == VYRE_TYPE(VYRE_U32, 1) ? "%s" : "uint(%s)",
             glsl_row_name(g, array->count_row));
  else
    glsl_put(g, "%uu", array->count);
  glsl_put(g, "; %s++) {\n", index);
  g->indent++;
  assign_step(g, array->element, to, from, "[", index, "]");
  g->indent--;
  glsl_begin_line(g);
  glsl_put(g, "}\n");
}

static void
assign_zero(glsl *g, vyre_type_id type, const char *to)
{
  const vyre_type_info info = vyre_type_get(g->module, type);
  if (info.form == VYRE_FORM_VALUE) {
    glsl_begin_line(g);
    glsl_put_text(g, to, strlen(to));
    glsl_put(g, " = ");
    glsl_literal(g, (vyre_type)type, 0);
    glsl_put(g, ";\n");
    return;
  }
  const char *zero = glsl_identifier(g, "zero", 0);
  glsl_need(g, GLSL_NULL_INITIALIZER);
  glsl_begin_line(g);
  glsl_declarator(g, type, zero);
  glsl_put(g, " = {};\n");
  glsl_begin_line(g);
  glsl_put_text(g, to, strlen(to));
  glsl_put(g, " = %s;\n", zero);
}

void
glsl_assign(glsl *g, vyre_type_id type, const char *to, const char *from)
{
  const vyre_type_info info = vyre_type_get(g->module, type);
  if (g->status)
    return;
  if (info.form == VYRE_FORM_ARRAY && glsl_is_sized_late(g, type)) {
    assign_elements(g, &info, to, from);
  } else if (info.form == VYRE_FORM_STRUCT && glsl_is_sized_late(g, type)) {
    for (uint32_t k = 0; k < info.count; k++) {
      const char *name = glsl_member_name(g, type, k);
      assign_step(g, vyre_type_get(g->module, type).members[k].type, to, from, ".", name, "");
    }
  } else if (!from) {
    assign_zero(g, type, to);
  } else {
    glsl_begin_line(g);
    glsl_put_text(g, to, strlen(to));
    glsl_put(g, " = ");
    glsl_put_text(g, from, strlen(from));
    glsl_put(g, ";\n");
  }
}

void
glsl_zero(glsl *g, uint32_t buffer)
{
  char *name = step_of(g, glsl_row_name(g, buffer), "", "", ""); /* a copy, because the name may move */
  glsl_assign(g, g->v->imm[buffer], name, NULL);
  glsl_free_text(g, name);
}
