/* Random layouts of storage: structs with members of all types, gaps, arrays of any stride, row-major and column-major matrices.
 *
 * Each invocation accesses its own element of an array of structs, and a private copy of the element.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "random_program.h"

#include "base/round.h"
#include "internal.h"

#define MOST_MEMBERS 5u
#define MOST_BYTES   192u /* before the last member, so that an element has at most RANDOM_WORDS words */

static vyre_type
stored_type(generator *g)
{
  const vyre_type type = random_type(g);
  return VYRE_TYPE_KIND(type) == VYRE_BOOL ? U32 : type;
}

static vyre_type_id random_struct(generator *g, uint32_t most);

static vyre_type_id
random_member(generator *g, uint32_t most)
{
  vyre_kind kind;
  switch (below(g, 6)) {
  case 0: {
    const vyre_type_id element = stored_type(g);
    return vyre_type_array(g->m, element, 2, VYRE_NONE, vyre_type_stride(g->m, element) * (1 + below(g, 2)));
  }
  case 1: {
    class_kind(g, VYRE_CLASS_FLOAT, &kind);
    const vyre_type column = VYRE_TYPE(kind, 2 + below(g, 3));
    const uint32_t columns = 2 + below(g, 3), more = below(g, 2);
    const bool row_major = below(g, 2);
    const uint32_t stride = vyre_type_get(g->m, vyre_type_matrix(g->m, column, columns, 0, row_major)).stride;
    return vyre_type_matrix(g->m, column, columns, stride * (1 + more), row_major);
  }
  case 2:
    return most > 2 ? random_struct(g, 2) : U32;
  default:
    return stored_type(g);
  }
}

static vyre_type_id
random_struct(generator *g, uint32_t most)
{
  static const char *const names[MOST_MEMBERS] = {"a", "b", "c", "d", "e"};
  vyre_member members[MOST_MEMBERS];
  const uint32_t wanted = 1 + below(g, most);
  uint32_t count = 0;
  for (uint32_t end = 0; count < wanted; count++) {
    const vyre_type_id type = random_member(g, most);
    const vyre_type_info info = vyre_type_get(g->m, type);
    const uint32_t offset = (uint32_t)round_up(end, info.align) + (below(g, 3) ? 0 : info.align);
    if (count && offset + info.size > MOST_BYTES)
      break;
    members[count] = (vyre_member){vyre_string_intern(g->m, names[count], 1), type, offset, 0};
    end = offset + info.size;
  }
  return vyre_type_struct(g->m, vyre_string_intern(g->m, "Layout", 6), members, count, 0);
}

/* Extends the path to a random value. */
static vyre_row
walk(generator *g, vyre_row at, vyre_type_id *type)
{
  for (;;) {
    const vyre_type_info info = vyre_type_get(g->m, *type);
    const bool is_array = info.form == VYRE_FORM_ARRAY;
    if (info.form == VYRE_FORM_VALUE)
      return at;
    const uint32_t k = below(g, info.count);
    *type = info.form == VYRE_FORM_STRUCT ? info.members[k].type : info.element;
    at = is_array && below(g, 2) ? path(g, at, index_below(g, info.count)) : vyre_build_at_literal(&g->b, at, k);
  }
}

/* Loads or stores a value, or a lane of it. */
static void
access_value(generator *g, vyre_row at, vyre_type_id type)
{
  at = walk(g, at, &type);
  vyre_type value_type = (vyre_type)type;
  if (VYRE_TYPE_LANES(value_type) > 1 && below(g, 4) == 0) {
    at = path(g, at, index_below(g, VYRE_TYPE_LANES(value_type)));
    value_type = VYRE_TYPE(VYRE_TYPE_KIND(value_type), 1);
  }
  if (below(g, 5) < 3)
    vyre_build_store(&g->b, at, value(g, value_type), 0);
  else
    store_out(g, vyre_build_load(&g->b, at, 0));
}

/* Copies the scalars and vectors of a value one by one, mostly all of them and from their own places. */
static void
copy_parts(generator *g, vyre_row from, vyre_row to, vyre_type_id type)
{
  const vyre_type_info info = vyre_type_get(g->m, type);
  if (info.form == VYRE_FORM_VALUE && below(g, 24))
    vyre_build_store(&g->b, to, vyre_build_load(&g->b, from, 0), 0);
  for (uint32_t i = 0; info.form != VYRE_FORM_VALUE && i < info.count; i++) {
    const bool is_struct = info.form == VYRE_FORM_STRUCT;
    const uint32_t other = !is_struct && below(g, 24) == 0 ? 0 : i;
    copy_parts(g, vyre_build_at_literal(&g->b, from, other), vyre_build_at_literal(&g->b, to, i),
               is_struct ? info.members[i].type : info.element);
  }
}

/* Copies an array of constant memory, and loads an element of the copy, perhaps in a loop. */
void
load_from_copy(generator *g)
{
  const bool is_push = below(g, 2);
  const vyre_type type = is_push ? U32 : VYRE_TYPE(VYRE_F32, 4);
  const vyre_row source = is_push ? g->push : vyre_build_at_literal(&g->b, g->uniform, 1);
  const vyre_type_id array = vyre_type_array(g->m, type, is_push ? 4 : 2, VYRE_NONE, 0);
  const vyre_row copy = vyre_build_buffer(&g->b, array, VYRE_SPACE_PRIVATE, 0, 0, 0);
  const bool is_copied_first = below(g, 2);
  const bool is_whole = is_push && below(g, 4) == 0; /* by one row: the types are equal */
  if (is_copied_first && is_whole)
    row(g, VYRE_OP_copy, 0, 0, copy, source, VYRE_NONE);
  else if (is_copied_first)
    copy_parts(g, source, copy, array);
  const vyre_row control = below(g, 3) ? begin_for(g, 2) : begin_if(g, value(g, BOOL));
  if (!is_copied_first && is_whole)
    row(g, VYRE_OP_copy, 0, 0, copy, source, VYRE_NONE);
  else if (!is_copied_first)
    copy_parts(g, source, copy, array);
  if (below(g, 3) == 0)
    access_value(g, copy, array);
  access_value(g, copy, array);
  store_out(g, vyre_build_load(&g->b, path(g, copy, index_below(g, is_push ? 4 : 2)), 0));
  vyre_builder_leave(&g->b, control);
  store_out(g, vyre_build_load(&g->b, path(g, copy, index_below(g, is_push ? 4 : 2)), 0));
}

void
access_layouts(generator *g)
{
  const vyre_type_id type = random_struct(g, MOST_MEMBERS);
  const vyre_type_info info = vyre_type_get(g->m, type);
  const uint32_t stride = (uint32_t)round_up(info.size, info.align) + (below(g, 3) ? 0 : info.align), count = 4 + below(g, 6);
  const vyre_row buffer =
      vyre_build_buffer(&g->b, vyre_type_runtime_array(g->m, type, stride), VYRE_SPACE_STORAGE, 0, 0, RANDOM_LAYOUT_BINDING);
  const vyre_row own = vyre_build_imm(&g->b, VYRE_OP_ushr, g->base, 6), element = path(g, buffer, own);
  const vyre_row copy = vyre_build_buffer(&g->b, type, VYRE_SPACE_PRIVATE, 0, 0, 0);
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t how = below(g, 8);
    if (how == 0)
      row(g, VYRE_OP_copy, 0, 0, element, copy, VYRE_NONE);
    else if (how == 1)
      row(g, VYRE_OP_copy, 0, 0, copy, element, VYRE_NONE);
    else if (how == 2)
      copy_parts(g, element, copy, type);
    else
      access_value(g, how < 5 ? copy : element, type);
  }
}
