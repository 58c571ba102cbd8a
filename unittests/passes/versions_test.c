/* Versions are sound: rows with equal columns and equal versions have equal values.
 *
 * In random programs, the test replaces every row that equals a visible earlier row by that row.  The program must compute the
 * same.  The test uses only the rule in docs/ir.md, "Versions", and no pass.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "random_run.h"

static bool
may_be_equal(const vyre_view *v, uint32_t row)
{
  const vyre_op_info *info = vyre_op_info_of(v, VYRE_ROW_OP(v->op[row]));
  return (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_DECO) == 0 && ((info->flags & VYRE_OP_PURE) || vyre_op_has_version(info));
}

static bool
are_equal(const vyre_view *v, uint32_t x, uint32_t y)
{
  return v->op[x] == v->op[y] && v->imm[x] == v->imm[y] && v->imm_hi[x] == v->imm_hi[y] && v->version[x] == v->version[y] &&
         v->a[x] == v->a[y] && v->b[x] == v->b[y] && v->c[x] == v->c[y];
}

/* Returns whether x is visible at `row`, which is after x. */
static bool
sees(const vyre_view *v, uint32_t row, uint32_t x)
{
  uint32_t region = v->parent[row];
  while (region && region != v->parent[x])
    region = v->parent[region];
  return region != 0;
}

/* Maps rows to equal rows above them, and counts merged reads of memory and of lanes.  Returns false if it merged no row. */
static bool
merge(vyre_module *module, uint32_t *fwd, uint64_t merged[2])
{
  const vyre_view *v = vyre_module_view(module);
  bool any = false;
  for (uint32_t row = 0; row < v->rows; row++) {
    fwd[row] = row;
    for (uint32_t x = 1; x < row && fwd[row] == row && may_be_equal(v, row); x++)
      if (fwd[x] == x && are_equal(v, x, row) && sees(v, row, x))
        fwd[row] = x;
    if (fwd[row] == row)
      continue;
    any = true;
    if (vyre_op_has_version(vyre_op_info_of(v, VYRE_ROW_OP(v->op[row]))))
      merged[(vyre_op_info_of(v, VYRE_ROW_OP(v->op[row]))->flags & VYRE_OP_CONVERGENT) != 0]++;
  }
  return any;
}

/* Merges rows until no equal rows remain, and kills merged rows.  The ids and versions of other rows do not change. */
static void
merge_all(vyre_module *module, uint64_t merged[2])
{
  const vyre_view *v = vyre_module_view(module);
  uint32_t *fwd = calloc(v->rows, sizeof *fwd);
  assert_non_null(fwd);
  while (merge(module, fwd, merged)) {
    uint32_t *own = malloc(v->rows * sizeof *own);
    assert_non_null(own);
    memcpy(own, fwd, v->rows * sizeof *own);
    vyre_module_forward(module, fwd);
    for (uint32_t row = 1; row < v->rows; row++)
      if (own[row] != row)
        vyre_row_kill(module, (vyre_row){row});
    free(own);
  }
  free(fwd);
}

TEST(equal_rows_have_equal_values)
{
  uint32_t seed = budget_number("VYRE_SEED", 1), runs = budget_runs(600);
  uint64_t merged[2] = {0, 0};
  for (uint32_t end = seed + runs; seed != end; seed++) {
    vyre_module *module = random_module(seed, seed & 1), *before;
    memory wanted, got;
    run_program(module, seed, "as built", &wanted);
    assert_ok(vyre_module_clone(module, &before), "clone", seed);
    assert_ok(vyre_module_make_analyses(module, VYRE_VERSIONS), "versions", seed);
    merge_all(module, merged);
    assert_ok(vyre_module_seal(module, NULL), "seal", seed);
    run_program(module, seed, "merged", &got);
    if (memcmp(&got, &wanted, sizeof got) != 0) {
      print_error("seed %u\n", seed);
      print_module(before);
      print_module(module);
      fail();
    }
    vyre_module_destroy(before);
    vyre_module_destroy(module);
  }
  print_message("%llu reads of memory and %llu of lanes were merged\n", (unsigned long long)merged[0],
                (unsigned long long)merged[1]);
  assert_true(merged[0] > runs && merged[1] > runs / 4);
}
