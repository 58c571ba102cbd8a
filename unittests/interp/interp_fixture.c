/* Runs `.vir` texts for the tests of the interpreter.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../status.h"
#include "../test_allocator.h"
#include "interp_fixture.h"

#include "vyre/text.h"
#include "vyre/verify.h"

static void
print_diagnostic(void *user, const vyre_diagnostic *diagnostic)
{
  (void)user;
  print_error("%u:%u: %s\n", diagnostic->line, diagnostic->column, diagnostic->message);
}

static vyre_row
row_named(const vyre_module *module, const char *name)
{
  const vyre_view *v = vyre_module_view(module);
  for (uint32_t row = 1; row < v->rows; row++) {
    const char *its = vyre_row_name(module, (vyre_row){row});
    if (its && strlen(its) == strcspn(name, "[") && strncmp(its, name, strlen(its)) == 0 &&
        VYRE_ROW_OP(v->op[row]) == VYRE_OP_buffer)
      return (vyre_row){row};
  }
  fail_msg("no buffer %%%s", name);
  return VYRE_NONE;
}

static uint32_t
element_named(const char *name)
{
  const char *index = strchr(name, '[');
  return index ? (uint32_t)strtoul(index + 1, NULL, 10) : 0;
}

/* The module of a launch, and its dispatch. */
typedef struct prepared {
  vyre_module *module;
  vyre_binding bindings[6];
  vyre_dispatch dispatch;
} prepared;

static void
prepare(const launch *l, const vyre_allocator *allocator, prepared *out)
{
  uint32_t count = 0;
  assert_ok(vyre_module_create(allocator, 0, &out->module));
  assert_ok(vyre_text_parse_lines(out->module, l->text, strlen(l->text), "test.vir", (vyre_diagnostics){print_diagnostic, NULL}));
  vyre_verify_errors errors = {0};
  assert_ok(vyre_verify(out->module, &errors));
  vyre_verify_errors_free(&errors);
  for (const bound *b = l->buffers; count < 6 && b->name; b++)
    out->bindings[count++] = (vyre_binding){row_named(out->module, b->name), b->data, b->size, element_named(b->name)};
  out->dispatch =
      (vyre_dispatch){.program = {vyre_module_view(out->module)->first[0]},
                      .groups = {l->groups[0] ? l->groups[0] : 1, l->groups[1] ? l->groups[1] : 1, l->groups[2] ? l->groups[2] : 1},
                      .bindings = out->bindings,
                      .binding_count = count,
                      .specs = l->specs,
                      .spec_count = l->spec_count,
                      .first = l->first,
                      .count = l->count};
}

vyre_status
launch_run(launch *l)
{
  prepared p;
  prepare(l, NULL, &p);
  l->options.struct_size = sizeof l->options;
  vyre_status status = vyre_interp_run(p.module, &p.dispatch, &l->options, &l->stats);
  vyre_module_destroy(p.module);
  return status;
}

void
launch_without_memory(const launch *l)
{
  vyre_interp_options options = l->options;
  options.struct_size = sizeof options;
  bool good = false;
  for (uint64_t n = 1; !good; n++) {
    test_memory memory;
    const vyre_allocator allocator = test_allocator(&memory, 0);
    prepared p;
    prepare(l, &allocator, &p);
    const size_t before = memory.out;
    memory.calls = 0;
    memory.fail_at = n;
    vyre_status status = vyre_interp_run(p.module, &p.dispatch, &options, NULL);
    good = memory.calls < n;
    if (good != !status || (status && !strstr(vyre_status_text(status), "memory")))
      fail_msg("allocation %llu: %s", (unsigned long long)n, status ? vyre_status_text(status) : "no error");
    assert_int_equal(memory.out, before);
    assert_true(!good || n > 10);
    vyre_status_free(status);
    vyre_module_destroy(p.module);
  }
}

void
launch_ok(launch *l)
{
  vyre_status status = launch_run(l);
  assert_ok(status);
}

void
launch_fails(launch *l, const char *word1, const char *word2, const char *word3)
{
  const char *words[3] = {word1, word2, word3};
  vyre_status status = launch_run(l);
  assert_non_null(status);
  const char *text = vyre_status_text(status);
  for (uint32_t i = 0; i < 3; i++)
    if (!strstr(text, words[i]))
      fail_msg("\"%s\" does not contain \"%s\"", text, words[i]);
  if (!strstr(text, "\nFix: "))
    fail_msg("\"%s\" has no line that begins with Fix", text);
  assert_int_equal(vyre_status_code(status), VYRE_CODE_INPUT);
  vyre_status_free(status);
}

void
launch_check(const launch_case *cases, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    launch l = cases[i].launch;
    if (cases[i].words[0])
      launch_fails(&l, cases[i].words[0], cases[i].words[1], cases[i].words[2]);
    else
      launch_ok(&l);
  }
}
