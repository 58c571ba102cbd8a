/* SPDX-License-Identifier: Apache-2.0 */
#include "dot.h"

#include "vyre/opaque.h"
#include "vyre/text.h"
#include "vyre/words.h"

#include <inttypes.h>
#include <stdio.h>

/* Appends a name.  Names from SPIR-V may contain any characters. */
static vyre_status
escape(const char *text, vyre_bytes *out)
{
  for (; *text; text++)
    VYRE_TRY(vyre_bytes_printf(out, "%s%c", *text == '"' || *text == '\\' ? "\\" : "", *text < ' ' && *text >= 0 ? ' ' : *text));
  return VYRE_OK;
}

static bool
has_value(uint32_t op)
{
  const uint32_t rule = vyre_op_infos[VYRE_ROW_OP(op)].rule;
  return rule != VYRE_RULE_VOID && VYRE_TYPE_KIND(VYRE_ROW_TYPE(op)) != VYRE_VOID;
}

/* Appends the label of a row: "%i = add u32", "store", "const 7u32". */
static vyre_status
print_label(const vyre_module *module, uint32_t row, vyre_bytes *out)
{
  const vyre_view *view = vyre_module_view(module);
  const uint32_t op = VYRE_ROW_OP(view->op[row]);
  const vyre_type type = VYRE_ROW_TYPE(view->op[row]);
  const char *name = vyre_row_name(module, (vyre_row){row});
  const char *opcode = vyre_op_is_opaque(op) ? vyre_words_name(vyre_type_get(module, view->imm[row]).flags) : NULL;
  char text[48];
  if (name) {
    VYRE_TRY(vyre_bytes_printf(out, "%s", op == VYRE_OP_program ? "@" : "%"));
    VYRE_TRY(escape(name, out));
    VYRE_TRY(vyre_bytes_printf(out, " = "));
  }
  VYRE_TRY(vyre_bytes_printf(out, "%s", opcode ? opcode : vyre_op_infos[op].text));
  if (op == VYRE_OP_const) {
    vyre_text_literal(type, (uint64_t)view->imm_hi[row] << 32 | view->imm[row], text);
    return vyre_bytes_printf(out, " %s", text);
  }
  if (!has_value(view->op[row]))
    return VYRE_OK;
  VYRE_TRY(vyre_bytes_printf(out, " %s", vyre_text_type(type, text)));
  if (!(VYRE_ROW_FLAGS(view->op[row]) & VYRE_ROW_IMM))
    return VYRE_OK;
  if (op == VYRE_OP_at || op == VYRE_OP_lane) /* the immediate is an index, without the type of the operand */
    return vyre_bytes_printf(out, ", %" PRIu32, view->imm[row]);
  const vyre_type literal = VYRE_TYPE(VYRE_TYPE_KIND(VYRE_ROW_TYPE(view->op[view->a[row]])), 1);
  return vyre_bytes_printf(out, ", %s", vyre_text_literal(literal, (uint64_t)view->imm_hi[row] << 32 | view->imm[row], text));
}

static vyre_status
print_edges(const vyre_view *view, uint32_t row, vyre_bytes *out)
{
  const uint32_t op = VYRE_ROW_OP(view->op[row]);
  const uint32_t operands[3] = {view->a[row], view->b[row], view->c[row]};
  const uint32_t count = vyre_op_is_opaque(op) ? vyre_opaque_count(view, row) : vyre_op_infos[op].operands;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t from = vyre_op_is_opaque(op) ? vyre_opaque_operand(view, row, i) : i < 3 ? operands[i] : 0;
    if (from && from < view->rows)
      VYRE_TRY(vyre_bytes_printf(out, "  r%" PRIu32 " -> r%" PRIu32 "\n", from, row));
  }
  return VYRE_OK;
}

/* Appends nodes in program order.  A row with children is the first node of its box. */
static vyre_status
print_nodes(const vyre_module *module, vyre_bytes *out)
{
  const vyre_view *view = vyre_module_view(module);
  for (uint32_t row = view->first[0], parent = 0; row;) {
    if (view->first[row])
      VYRE_TRY(vyre_bytes_printf(out, "  subgraph cluster_%" PRIu32 " {\n", row));
    VYRE_TRY(vyre_bytes_printf(out, "  r%" PRIu32 " [label=\"", row));
    VYRE_TRY(print_label(module, row, out));
    VYRE_TRY(vyre_bytes_printf(out, "\"]\n"));
    uint32_t next = view->first[row];
    if (!next)
      next = view->next[row];
    for (parent = view->parent[row]; !next && parent; parent = view->parent[parent]) {
      VYRE_TRY(vyre_bytes_printf(out, "  }\n"));
      next = view->next[parent];
    }
    row = next;
  }
  return VYRE_OK;
}

static vyre_status
print_graph(const vyre_module *module, vyre_bytes *out)
{
  const vyre_view *view = vyre_module_view(module);
  VYRE_TRY(vyre_bytes_printf(out, "digraph program {\n  node [shape=box, fontname=monospace]\n"));
  VYRE_TRY(print_nodes(module, out));
  for (uint32_t row = 1; row < view->rows; row++)
    if (VYRE_ROW_OP(view->op[row]))
      VYRE_TRY(print_edges(view, row, out));
  return vyre_bytes_printf(out, "}\n");
}

vyre_status
dot_write(const vyre_module *module, vyre_bytes *out)
{
  const size_t before = out->size;
  return vyre_bytes_undo(out, before, print_graph(module, out));
}
