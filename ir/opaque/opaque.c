/* Opaque rows and types: the operands that their words need, the types of their values, and building them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/opaque.h"

#include "table/result.h"
#include "table/table.h"
#include "vyre/view.h"

#define MOST_LEAVES (1u << 24)

uint32_t
vyre_type_leaves(const vyre_module *module, vyre_type_id type)
{
  const vyre_type_info info = vyre_type_get(module, type);
  uint64_t count = 0;
  switch (info.form) {
  case VYRE_FORM_VALUE:
  case VYRE_FORM_WORDS:
    return 1;
  case VYRE_FORM_MATRIX:
    return info.count;
  case VYRE_FORM_ARRAY:
    if (info.count_row || (info.flags & VYRE_TYPE_RUNTIME))
      return UINT32_MAX;
    count = (uint64_t)info.count * vyre_type_leaves(module, info.element);
    break;
  case VYRE_FORM_STRUCT:
    for (uint32_t i = 0; i < info.count && count <= MOST_LEAVES; i++)
      count += vyre_type_leaves(module, info.members[i].type);
    break;
  }
  return count > MOST_LEAVES ? UINT32_MAX : (uint32_t)count;
}

vyre_type_id
vyre_type_leaf(const vyre_module *module, vyre_type_id type, uint32_t leaf)
{
  for (;;) {
    const vyre_type_info info = vyre_type_get(module, type);
    uint32_t count;
    switch (info.form) {
    case VYRE_FORM_VALUE:
    case VYRE_FORM_WORDS:
      return leaf == 0 ? type : 0;
    case VYRE_FORM_MATRIX:
      return leaf < info.count ? info.element : 0;
    case VYRE_FORM_ARRAY:
      count = vyre_type_leaves(module, info.element);
      if (count == 0 || count == UINT32_MAX || leaf / count >= info.count)
        return 0;
      leaf %= count;
      type = info.element;
      break;
    case VYRE_FORM_STRUCT: {
      uint32_t i = 0;
      for (; i < info.count && leaf >= (count = vyre_type_leaves(module, info.members[i].type)); i++)
        leaf -= count;
      if (i == info.count)
        return 0;
      type = info.members[i].type;
      break;
    }
    }
  }
}

uint32_t
vyre_words_operands(const vyre_module *module, vyre_type_id words)
{
  const vyre_type_info info = vyre_type_get(module, words);
  uint64_t count = 0;
  for (uint32_t i = 0; info.form == VYRE_FORM_WORDS && i < info.count && count <= MOST_LEAVES; i++)
    if (info.members[i].access == VYRE_WORD_VALUE)
      count += info.members[i].type ? vyre_type_leaves(module, info.members[i].type) : 1;
  return count > MOST_LEAVES ? UINT32_MAX : (uint32_t)count;
}

/* ---- rows ---- */

const char *
vyre_row_instruction(const vyre_module *module, vyre_row row)
{
  const vyre_view *v = vyre_module_view(module);
  const bool is_opaque = vyre_op_is_opaque((vyre_opcode)VYRE_ROW_OP(v->op[row.id]));
  const vyre_type_info words = vyre_type_get(module, is_opaque ? v->imm[row.id] : 0);
  return words.form == VYRE_FORM_WORDS ? vyre_words_name(words.flags) : NULL;
}

static vyre_type_id
opaque_result(const vyre_module *module, uint32_t row)
{
  const vyre_type_info info = vyre_type_get(module, module->column[COLUMN_IMM][row]);
  return info.form == VYRE_FORM_WORDS ? info.element : 0;
}

static vyre_type_id part_type_id(const vyre_module *module, uint32_t row, uint32_t k, uint32_t depth);

/* Returns vyre_row_type_id. `depth` limits parts of parts, because the rows of a damaged module may form a cycle. */
static vyre_type_id
row_type_id(const vyre_module *module, vyre_row row, uint32_t depth)
{
  const vyre_view *v = &module->view;
  if (row.id >= v->rows)
    return 0;
  const vyre_type type = VYRE_ROW_TYPE(v->op[row.id]);
  if (VYRE_TYPE_KIND(type) != VYRE_OPAQUE)
    return type;
  switch (VYRE_ROW_OP(v->op[row.id])) {
  case VYRE_OP_opaque:
  case VYRE_OP_opaque_pure:
  case VYRE_OP_opaque_read:
  case VYRE_OP_opaque_write:
    return opaque_result(module, row.id);
  case VYRE_OP_var:
    return v->imm[row.id];
  case VYRE_OP_get:
    return v->a[row.id] < v->rows ? v->imm[v->a[row.id]] : 0;
  case VYRE_OP_load:
    return v->a[row.id] < v->rows ? vyre_path_type(module, (vyre_row){v->a[row.id]}) : 0;
  case VYRE_OP_part:
    return depth < 64 ? part_type_id(module, v->a[row.id], v->imm[row.id], depth + 1) : 0;
  default:
    return 0;
  }
}

static vyre_type_id
part_type_id(const vyre_module *module, uint32_t row, uint32_t k, uint32_t depth)
{
  const vyre_view *v = &module->view;
  if (row >= v->rows)
    return 0;
  if (vyre_op_is_opaque(VYRE_ROW_OP(v->op[row])))
    return vyre_type_leaf(module, opaque_result(module, row), k);
  if (table_op_is(module, row, VYRE_OP_frexp))
    return v->a[row] < v->rows ? result_frexp_part(VYRE_ROW_TYPE(v->op[v->a[row]]), k) : 0;
  if (!table_op_is(module, row, VYRE_OP_tuple))
    return VYRE_TUPLE_TYPE(v->imm[row]);
  return k < VYRE_TUPLE_COUNT(v->imm[row]) ? row_type_id(module, (vyre_row){vyre_tuple_part(v, row, k)}, depth) : 0;
}

vyre_type_id
vyre_row_type_id(const vyre_module *module, vyre_row row)
{
  return row_type_id(module, row, 0);
}

vyre_type_id
vyre_part_type_id(const vyre_module *module, vyre_row tuple, uint32_t k)
{
  return part_type_id(module, tuple.id, k, 0);
}

uint32_t
vyre_opaque_count(const vyre_view *view, uint32_t row)
{
  const uint32_t rest = view->c[row];
  if (rest == 0 || rest >= view->rows)
    return view->b[row] ? 2 : view->a[row] ? 1 : 0;
  return VYRE_ROW_OP(view->op[rest]) == VYRE_OP_tuple ? 2 + VYRE_TUPLE_COUNT(view->imm[rest]) : 3;
}

uint32_t
vyre_opaque_operand(const vyre_view *view, uint32_t row, uint32_t k)
{
  if (k < 2)
    return k == 0 ? view->a[row] : view->b[row];
  uint32_t tuple = view->c[row];
  if (tuple >= view->rows)
    return 0;
  if (VYRE_ROW_OP(view->op[tuple]) != VYRE_OP_tuple)
    return k == 2 ? tuple : 0;
  return vyre_tuple_part(view, tuple, k - 2);
}

vyre_row
vyre_build_opaque(vyre_builder *builder, vyre_opcode op, vyre_type_id words, const vyre_row *operands, uint32_t count,
                  uint32_t flags)
{
  vyre_row abc[3] = {VYRE_NONE, VYRE_NONE, VYRE_NONE};
  const vyre_type_id result = vyre_type_get(builder->module, words).element;
  const vyre_type_form form = vyre_type_get(builder->module, result).form;
  vyre_type type = (vyre_type)result;
  if (form == VYRE_FORM_WORDS)
    type = VYRE_TYPE(VYRE_OPAQUE, 1);
  else if (form != VYRE_FORM_VALUE)
    type = VYRE_TYPE(VYRE_TUPLE, 1);
  for (uint32_t k = 0; k < count && k < 3; k++)
    abc[k] = operands[k];
  if (count > 3)
    abc[2] = vyre_build_tuple(builder, operands + 2, count - 2);
  return vyre_build(builder, op, type, flags, words, 0, abc[0], abc[1], abc[2]);
}

vyre_row
vyre_build_opaque_var(vyre_builder *builder, vyre_type_id type)
{
  vyre_row row = vyre_build_var(builder, VYRE_TYPE(VYRE_OPAQUE, 1));
  if (row.id)
    builder->module->column[COLUMN_IMM][row.id] = type;
  return row;
}
