/* `wakes`: asked in a fixpoint from the second time on, with what was edited since the pass last began; who says no is not run.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "vyre/ir.h"
#include "vyre/passmgr.h"

/* `edit` gives the sum another operand as long as `edits_left` lasts, and takes a row out with the last edit; `watch` looks on, and
 * is a letter in `told`: w, a run; then n or y, what it says when it is asked, behind how many rows were edited by others. */
static char told[200];
static uint32_t edits_left, own_edits;
static bool says_yes, says_broken;
static enum { LOOKS, SETS, KILLS } asked_does; /* what `watch` does with the module when it is asked */

static void
note(const char *text)
{
  assert_true(strlen(told) + strlen(text) < sizeof told);
  strcat(told, text);
}

static uint32_t
find(const vyre_view *v, uint32_t op)
{
  for (uint32_t row = 1; row < v->rows; row++)
    if (VYRE_ROW_OP(v->op[row]) == op)
      return row;
  return 0;
}

static vyre_status
run_edit(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  const uint32_t sum = find(v, VYRE_OP_add);
  *out = edits_left ? VYRE_CHANGED : VYRE_UNCHANGED;
  if (edits_left == 0)
    return VYRE_OK;
  ctx->host->set_operand(module, sum, 0, v->a[sum] == v->b[sum] ? find(v, VYRE_OP_gid) + 1 : v->b[sum]);
  if (--edits_left == 0)
    ctx->host->kill(module, find(v, VYRE_OP_mul));
  return VYRE_OK;
}

static vyre_status
run_watch(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  note("w");
  assert_non_null(v->end);
  *out = own_edits ? VYRE_CHANGED : VYRE_UNCHANGED;
  for (; own_edits; own_edits--)
    ctx->host->set_operand(module, find(v, VYRE_OP_sub), 0, v->b[find(v, VYRE_OP_sub)]);
  return VYRE_OK;
}

static vyre_status
watch_wakes(vyre_pass_ctx *ctx, const vyre_module *module, const vyre_edits *edits, bool *out)
{
  const vyre_view *v = ctx->host->view(module);
  const char digits[4] = {(char)('0' + edits->count - edits->own), edits->kinds & VYRE_EDIT_GONE_VALUE ? 'g' : '\0'};
  assert_null(v->end); /* no analysis was made for it */
  assert_non_null(ctx->host->alloc(ctx, 100));
  for (uint32_t i = edits->own; i < edits->count; i++)
    assert_int_equal(VYRE_ROW_OP(v->op[edits->rows[i]]), VYRE_OP_add);
  for (uint32_t i = 0; i < edits->own; i++)
    assert_int_equal(VYRE_ROW_OP(v->op[edits->rows[i]]), VYRE_OP_sub);
  if (asked_does == SETS)
    ctx->host->set_operand((vyre_module *)module, find(v, VYRE_OP_sub), 0, v->b[find(v, VYRE_OP_sub)]);
  if (asked_does == KILLS)
    ctx->host->kill((vyre_module *)module, find(v, VYRE_OP_sub));
  note(digits);
  note(says_yes ? "y" : "n");
  *out = says_yes;
  return says_broken ? ctx->host->error(ctx, 0, "it is broken") : VYRE_OK;
}

#define PASS(id, text, ...) \
  static const vyre_pass id = {.struct_size = sizeof(vyre_pass), .name = "w." text, .summary = "s", __VA_ARGS__}
PASS(edit, "edit", .run = run_edit);
PASS(watcher, "watch", .run = run_watch, .requires_ = VYRE_DOMINANCE, .wakes = watch_wakes);

static const vyre_plugin *
query(const vyre_host *host)
{
  static const vyre_pass *const passes[] = {&edit, &watcher};
  static const vyre_plugin plugin = {.struct_size = sizeof(vyre_plugin),
                                     .abi = VYRE_PLUGIN_ABI,
                                     .name = "w",
                                     .version = "1",
                                     .opset_min = VYRE_OPSET_VERSION,
                                     .opset_max = VYRE_OPSET_VERSION,
                                     .passes = passes,
                                     .pass_count = 2};
  (void)host;
  return &plugin;
}

static vyre_module *
make_module(void)
{
  vyre_module *module;
  vyre_builder b;
  assert_null(vyre_module_create(NULL, 0, &module));
  vyre_build_program(module, "p", 0, 0, &b);
  vyre_row id = vyre_build(&b, VYRE_OP_gid, VYRE_TYPE(VYRE_U32, 3), 0, 0, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  vyre_row x = vyre_build_lane(&b, id, 0), y = vyre_build_lane(&b, id, 1);
  vyre_build_binary(&b, VYRE_OP_add, x, y);
  vyre_build_binary(&b, VYRE_OP_mul, x, y);
  vyre_build_binary(&b, VYRE_OP_sub, x, y);
  assert_null(vyre_module_seal(module, NULL));
  return module;
}

static vyre_status
run_text(const char *text)
{
  vyre_registry *registry;
  vyre_pipeline *pipeline;
  const vyre_pipeline_options options = {.check_changed = true};
  assert_null(vyre_registry_create(NULL, &registry));
  assert_null(vyre_registry_add(registry, query, "w.so", VYRE_ORIGIN_OUTSIDE));
  assert_null(vyre_pipeline_parse(registry, text, strlen(text), "-passes", &pipeline));
  vyre_module *module = make_module();
  told[0] = '\0';
  vyre_status status = vyre_pipeline_run(pipeline, module, &options);
  vyre_module_destroy(module);
  vyre_pipeline_destroy(pipeline);
  vyre_registry_destroy(registry);
  return status;
}

static void
expect(const char *text, uint32_t edits, const char *wanted)
{
  edits_left = edits;
  assert_null(run_text(text));
  assert_string_equal(told, wanted);
}

static void
who_is_not_woken_is_not_run(void **state)
{
  (void)state;
  says_yes = false;
  expect("fixpoint(w.watch,w.edit)", 3, "w1n1n1gn"); /* what was seen once is not told again */
  expect("fixpoint(w.edit,w.watch)", 3, "w1n1gn");   /* in the last round nothing was edited */
  says_yes = true;
  expect("fixpoint(w.watch,w.edit)", 3, "w1yw1yw1gyw");
  expect("fixpoint(w.watch,w.edit)", 0, "w");
}

static void
who_edits_is_told_of_it(void **state)
{
  (void)state;
  says_yes = false;
  own_edits = 1;
  expect("fixpoint(w.watch,w.edit)", 0, "w0n");
  own_edits = 1;
  expect("fixpoint(w.watch,w.edit)", 1, "w1gn");
}

static void
elsewhere_nobody_is_asked(void **state)
{
  (void)state;
  says_yes = false;
  expect("w.watch,w.edit,w.watch,repeat<2>(w.edit,w.watch)", 3, "wwww");
  expect("w.watch,w.edit,fixpoint(w.watch,w.edit),w.watch", 2, "ww1gnw"); /* what was before the fixpoint is not its matter */
  expect("fixpoint(w.edit,fixpoint(w.watch,w.edit))", 4, "w1n1n1gn");
  expect("repeat<2>(fixpoint(w.watch,w.edit))", 2, "w1n1gn"); /* the second time it is settled: nothing changed since */
  expect("repeat<2>(fixpoint<1;quiet>(w.watch,w.edit))", 5, "ww");
}

static void
a_failure_is_one_of_the_pass(void **state)
{
  (void)state;
  says_broken = true;
  edits_left = 1;
  vyre_status status = run_text("fixpoint(w.watch,w.edit)");
  says_broken = false;
  assert_string_equal(vyre_status_text(status), "pass 'w.watch': it is broken\n  in pass 'w.watch', run 3 of the pipeline");
  vyre_status_free(status);
}

static void
who_is_asked_only_looks(void **state)
{
  (void)state;
  says_yes = false;
  for (asked_does = SETS; asked_does <= KILLS; asked_does++) {
    edits_left = 2;
    vyre_status status = run_text("fixpoint(w.watch,w.edit)");
    assert_string_equal(vyre_status_text(status), "pass 'w.watch' (w.so) changed the module in 'wakes', where it may only look\n"
                                                  "  in pass 'w.watch', run 3 of the pipeline");
    vyre_status_free(status);
  }
  asked_does = LOOKS;
}

int
main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(who_is_not_woken_is_not_run), cmocka_unit_test(who_edits_is_told_of_it),
                                     cmocka_unit_test(elsewhere_nobody_is_asked), cmocka_unit_test(a_failure_is_one_of_the_pass),
                                     cmocka_unit_test(who_is_asked_only_looks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
