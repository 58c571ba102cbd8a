/* Splits loop-carried vectors: a variable of a vector type becomes one variable per lane, and each `get` becomes a join of the
 * lanes.
 *
 * Drivers keep a phi of several lanes together, and split and join it in each iteration, although they compute with single lanes
 * anyway.
 *
 * Cost: the variables' sets and gets.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/import/import.h"

/* Gets the lanes of a value as rows. */
static void
extract_lanes(import *m, vyre_builder *b, uint32_t row, uint32_t count, vyre_row *out)
{
  const vyre_view *v = m->view;
  const vyre_opcode op = (vyre_opcode)VYRE_ROW_OP(v->op[row]);
  const uint32_t operands[3] = {v->a[row], v->b[row], v->c[row]};
  const vyre_type scalar = VYRE_TYPE(VYRE_TYPE_KIND(import_row_type(m, row)), 1);
  uint32_t n = 0;
  if (op == VYRE_OP_join) {
    for (uint32_t k = 0; k < 3 && operands[k]; k++) {
      const uint32_t lanes = VYRE_TYPE_LANES(import_row_type(m, operands[k]));
      if (lanes > 1)
        extract_lanes(m, b, operands[k], lanes, out + n);
      else
        out[n] = (vyre_row){operands[k]};
      n += lanes;
    }
    return;
  }
  for (; n < count; n++)
    if (op == VYRE_OP_const)
      out[n] = vyre_build_const(b, scalar, v->imm[row] | (uint64_t)v->imm_hi[row] << 32);
    else
      out[n] = op == VYRE_OP_splat ? (vyre_row){operands[0]} : vyre_build_lane(b, (vyre_row){row}, n);
}

/* Returns a builder before the row, with the row's line but not its debug values. */
static vyre_builder
builder_before(const import *m, uint32_t row)
{
  vyre_builder b = {.module = m->module, .program = m->program};
  vyre_string file;
  if (vyre_row_line(m->module, (vyre_row){row}, &file, &b.line, &b.column)) {
    vyre_scope_info scope = vyre_scope_get(m->module, vyre_row_scope(m->module, (vyre_row){row}));
    scope.values = 0;
    b.scope = vyre_scope_intern(m->module, &scope);
  }
  vyre_builder_before(&b, (vyre_row){row});
  return b;
}

/* Replaces the `get` by a join of `get` rows of the lanes' variables. */
static void
split_get(import *m, uint32_t row, const leaf *l, const vyre_row vars[4])
{
  const uint32_t count = VYRE_TYPE_LANES(l->type);
  vyre_builder b = builder_before(m, row);
  vyre_row lanes[4] = {VYRE_NONE, VYRE_NONE, VYRE_NONE, VYRE_NONE};
  for (uint32_t k = 0; k < count; k++)
    lanes[k] = vyre_build_get(&b, vars[k]);
  if (count == 4) { /* a join has at most three operands */
    lanes[0] = vyre_build_join(&b, lanes, 2);
    lanes[1] = lanes[2];
    lanes[2] = lanes[3];
  }
  vyre_row_rewrite(m->module, (vyre_row){row}, VYRE_ROW(VYRE_OP_join, import_row_type(m, row), 0), 0, 0, lanes[0], lanes[1],
                   lanes[2]);
}

static void
split_set(import *m, uint32_t row, const leaf *l, const vyre_row vars[4])
{
  const uint32_t count = VYRE_TYPE_LANES(l->type);
  vyre_builder b = builder_before(m, row);
  vyre_row lanes[4];
  extract_lanes(m, &b, m->view->b[row], count, lanes);
  for (uint32_t k = 0; k < count; k++) {
    const uint32_t set = vyre_build_set(&b, vars[k], lanes[k]).id;
    if (l->debug)
      import_debug_lane_set(m, l->debug - 1, row, set, k);
  }
  vyre_row_kill(m->module, (vyre_row){row});
}

/* Returns the variables of a leaf's lanes.  Makes them at the leaf's first use.  `vars` has four variables for each leaf. */
static const vyre_row *
vars_of(import *m, list *vars, leaf *l)
{
  if (l->edge == 0) { /* here `edge` is 1 + the index of the leaf's variables */
    l->edge = vars->count / 4 + 1;
    vyre_row *made = list_add(m, vars, sizeof(vyre_row), 4);
    for (uint32_t k = 0; made && k < VYRE_TYPE_LANES(l->type); k++) {
      made[k] = vyre_build_unset_var(&m->b, VYRE_TYPE(VYRE_TYPE_KIND(l->type), 1));
      if (l->name)
        import_name_row(m, made[k].id, l->name);
      if (l->debug)
        import_debug_lane_var(m, l->debug - 1, made[k].id, k);
    }
  }
  return failed(m) ? NULL : AT(vyre_row, *vars, (l->edge - 1) * 4);
}

void
locals_split(import *m)
{
  list vars = {0};
  for (uint32_t pass = 0; pass < 2; pass++) { /* gets first, so that a set of a get uses the lanes of the join */
    const list *rows = pass == 0 ? &m->got : &m->sets;
    for (uint32_t k = 0; k < rows->count && !failed(m); k++) {
      const set_row *s = AT(set_row, *rows, k);
      leaf *l = AT(leaf, m->locals, s->leaf);
      const vyre_row *of = l->carried && s->row ? vars_of(m, &vars, l) : NULL;
      if (of)
        (pass == 0 ? split_get : split_set)(m, s->row, l, of);
    }
  }
}
