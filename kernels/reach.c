/* SPDX-License-Identifier: Apache-2.0 */
#include "reach.h"

#include <string.h>

/* ---- accesses ------------------------------------------------------------------------------------------------------------ */

bool
kernel_access_of(const kernel_reach *k, uint32_t row, kernel_access *out)
{
  const vyre_view *v = k->v;
  const uint32_t path = v->a[row], buffer = vyre_op_of(v, path) == VYRE_OP_at ? v->a[path] : path;
  if (vyre_op_of(v, buffer) != VYRE_OP_buffer || VYRE_BUFFER_SPACE(v->imm_hi[buffer]) != VYRE_SPACE_STORAGE)
    return false;
  const vyre_buffer_info *info = vyre_buffer_info_of((vyre_module *)k->module, (vyre_row){buffer});
  if (info->set != KERNEL_MEMORY_SET)
    return false;
  *out = (kernel_access){&k->file->names[info->binding], info->binding, v->b[path], v->imm[path]};
  return true;
}

bool
kernel_is_own_row(const kernel_reach *k, uint32_t row)
{
  const char *name = vyre_row_name(k->module, (vyre_row){row});
  return name && strncmp(name, KERNEL_OWN_ROW, strlen(KERNEL_OWN_ROW)) == 0;
}

static bool
is_column(const kernel_name *name, const char *word)
{
  return name->word && strcmp(name->word, word) == 0;
}

bool
kernel_leads_to_operand(const kernel_name *name)
{
  return is_column(name, "a") || is_column(name, "b") || is_column(name, "c");
}

/* ---- ways ---------------------------------------------------------------------------------------------------------------- */

/* Returns the ways of a column's elements at rows of the given ways. */
static uint8_t
ways_of_element(const kernel_name *name, uint8_t index)
{
  uint8_t ways = 0;
  if (name->kind == KERNEL_SIDE || name->kind == KERNEL_ANALYSIS)
    return REACH_NAMED;
  if (kernel_leads_to_operand(name)) {
    ways |= (index & (REACH_OWN | REACH_OPERANDS)) != 0 ? REACH_OPERANDS : 0;
    ways |= (index & (REACH_AROUND | REACH_BOTH)) != 0 ? REACH_BOTH : 0;
    ways |= (index & REACH_NAMED) != 0 ? REACH_NAMED : 0;
    return ways | ((index & REACH_ANY) != 0 ? REACH_ANY : 0);
  }
  if (!is_column(name, "parent"))
    return REACH_ANY;
  ways |= (index & (REACH_OWN | REACH_AROUND)) != 0 ? REACH_AROUND : 0;
  ways |= (index & (REACH_OPERANDS | REACH_BOTH)) != 0 ? REACH_BOTH : 0;
  return ways | ((index & (REACH_NAMED | REACH_ANY)) != 0 ? REACH_ANY : 0);
}

static uint8_t
ways_of_scalar(const kernel_reach *k, uint32_t row)
{
  return (uint8_t)k->ways[row];
}

uint8_t
kernel_ways_of_index(const kernel_reach *k, const kernel_access *at)
{
  return at->index ? ways_of_scalar(k, at->index) : at->literal ? REACH_ANY : 0;
}

static uint32_t
ways_of_load(const kernel_reach *k, uint32_t row)
{
  kernel_access at;
  return kernel_access_of(k, row, &at) ? ways_of_element(at.name, kernel_ways_of_index(k, &at)) : REACH_ANY;
}

static uint32_t
lanes_of(const kernel_reach *k, uint32_t row)
{
  return VYRE_TYPE_LANES(VYRE_ROW_TYPE(k->v->op[row]));
}

static uint32_t
ways_of_join(const kernel_reach *k, uint32_t row)
{
  const uint32_t operands[3] = {k->v->a[row], k->v->b[row], k->v->c[row]};
  uint32_t ways = 0;
  for (uint32_t i = 0, lane = 0; i < 3 && operands[i]; lane += lanes_of(k, operands[i]), i++)
    ways |= k->ways[operands[i]] << 8 * lane;
  return ways;
}

/* Returns the ways of a `lane` row: those of the selected lane, or of all lanes if the index is not a literal. */
static uint32_t
ways_of_lane(const kernel_reach *k, uint32_t row)
{
  const vyre_view *v = k->v;
  const uint32_t ways = k->ways[v->a[row]];
  if ((VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM) != 0)
    return v->imm[row] < 4 ? ways >> 8 * v->imm[row] & 0xffu : 0;
  return (ways | ways >> 8 | ways >> 16 | ways >> 24) & 0xffu;
}

/* Returns whether the value is the low half of the op word of a row. */
static bool
is_opcode(const kernel_reach *k, uint32_t row)
{
  const vyre_view *v = k->v;
  kernel_access at;
  if ((VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM) == 0 || vyre_row_imm(v, row) != 0xffffu ||
      vyre_op_of(v, v->a[row]) != VYRE_OP_load || !kernel_access_of(k, v->a[row], &at) || !is_column(at.name, "op"))
    return false;
  return (kernel_ways_of_index(k, &at) & ~REACH_SURELY) == 0;
}

static uint32_t
ways_of(const kernel_reach *k, uint32_t row)
{
  const vyre_view *v = k->v;
  if (kernel_is_own_row(k, row))
    return REACH_OWN;
  switch (vyre_op_of(v, row)) {
  case VYRE_OP_load:
    return ways_of_load(k, row);
  case VYRE_OP_join:
    return ways_of_join(k, row);
  case VYRE_OP_lane:
    return ways_of_lane(k, row);
  case VYRE_OP_insert: /* into an unknown lane */
    return k->ways[v->a[row]] | k->ways[v->b[row]] * 0x01010101u;
  case VYRE_OP_get:
    return k->ways[v->a[row]];
  case VYRE_OP_select:
    return k->ways[v->b[row]] | k->ways[v->c[row]];
  case VYRE_OP_and:
    return is_opcode(k, row) ? REACH_OPCODE : REACH_ANY * 0x01010101u;
  case VYRE_OP_const:
    return vyre_row_imm(v, row) ? REACH_ANY * 0x01010101u : 0;
  case VYRE_OP_var:
    return k->ways[row];
  default:
    return REACH_ANY * 0x01010101u;
  }
}

/* A variable has the ways of all its sets, so the rows are visited until nothing changes. */
void
kernel_reach_program(kernel_reach *k, uint32_t program)
{
  const vyre_view *v = k->v;
  k->program = program;
  k->end = v->next[program] ? v->next[program] : k->rows; /* excludes rows that were added later */
  for (bool more = true; more;) {
    more = false;
    for (uint32_t row = k->program; row < k->end; row++) {
      const bool is_set = vyre_op_of(v, row) == VYRE_OP_set;
      const uint32_t of = is_set ? v->a[row] : row;
      const uint32_t ways = is_set ? k->ways[of] | k->ways[v->b[row]] : ways_of(k, row);
      more |= ways != k->ways[of];
      k->ways[of] = ways;
    }
  }
}

/* ---- bounds -------------------------------------------------------------------------------------------------------------- */

uint32_t
kernel_row_of_element(const kernel_reach *k, uint32_t index, uint32_t stride)
{
  const vyre_view *v = k->v;
  const bool has_imm = (VYRE_ROW_FLAGS(v->op[index]) & VYRE_ROW_IMM) != 0;
  if (stride <= 1)
    return stride ? index : 0;
  if (vyre_op_of(v, index) == VYRE_OP_add && has_imm && vyre_row_imm(v, index) < stride)
    index = v->a[index];
  const bool is_product =
      vyre_op_of(v, index) == VYRE_OP_mul && (VYRE_ROW_FLAGS(v->op[index]) & VYRE_ROW_IMM) != 0 && vyre_row_imm(v, index) == stride;
  return is_product ? v->a[index] : 0;
}

/* Returns whether the access is in bounds: an element of a valid row, or the first word of memory that has one. */
bool
kernel_access_is_in_bounds(const kernel_reach *k, const kernel_access *at)
{
  const kernel_name *n = at->name;
  if (n->kind == KERNEL_TABLE || n->stride == 0)
    return false;
  if (n->kind == KERNEL_FACT)
    return at->index && k->ways[at->index] == REACH_OPCODE;
  if (at->index == 0)
    return at->literal < n->stride;
  const uint32_t row = n->kind == KERNEL_COUNTER || n->kind == KERNEL_VERDICT ? 0 : kernel_row_of_element(k, at->index, n->stride);
  return row && (ways_of_scalar(k, row) & ~REACH_SURELY) == 0;
}

/* ---- memory -------------------------------------------------------------------------------------------------------------- */

vyre_status
kernel_reach_create(const kernel_file *file, const vyre_module *module, kernel_reach *out)
{
  const vyre_allocator *allocator = vyre_module_allocator(module);
  const uint32_t rows = vyre_module_view(module)->rows;
  *out = (kernel_reach){.file = file, .module = module, .v = vyre_module_view(module), .rows = rows};
  out->ways = allocator->resize(allocator->user, NULL, 0, rows * sizeof *out->ways);
  if (!out->ways)
    return VYRE_OUT_OF_MEMORY("while checking phases");
  memset(out->ways, 0, rows * sizeof *out->ways);
  return VYRE_OK;
}

void
kernel_reach_free(kernel_reach *reach)
{
  const vyre_allocator *allocator = reach->ways ? vyre_module_allocator(reach->module) : NULL;
  if (allocator)
    allocator->resize(allocator->user, reach->ways, reach->rows * sizeof *reach->ways, 0);
  reach->ways = NULL;
}
