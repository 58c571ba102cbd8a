/* Implements forms.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "forms.h"

#include "grown.h"
#include "random_program.h"
#include "vyre/batch.h"

#include <stdlib.h>

static vyre_registry *registry;

const char *const forms_pipelines[] = {"canon",
                                       "cf",
                                       "cid,cse",
                                       "cse",
                                       "dce",
                                       "dce<interface>",
                                       "pm",
                                       "limits<rows=150>",
                                       "limits<depth=9>",
                                       "limits<nesting=1>",
                                       "simplify",
                                       "simplify,dce,simplify",
                                       "canon,cf,pm,cid,cse,dce",
                                       "fixpoint(canon,cf,pm)",
                                       "fixpoint(canon,cf,cprop,pm,shash,expand,cid)",
                                       "repeat<2>(simplify)",
                                       "sweeps.seen,canon,cf,pm,sweeps.seen,simplify,sweeps.seen",
                                       "repeat<3>(simplify,sweeps.seen),cid,cse",
                                       "sweeps.everything",
                                       "fixpoint(canon,cf,shash,cid,pm,dce),cse",
                                       "repeat<6>(pm,cf,cid,dce),fixpoint<max=3>(canon,dce)",
                                       "default<O2>",
                                       NULL};
_Static_assert(sizeof forms_pipelines / sizeof *forms_pipelines == FORMS_PIPELINES + 1, "FORMS_PIPELINES is wrong");

vyre_target_options
forms_options(const vyre_target_ops *target)
{
  const bool is_simulated = strcmp(target->name, "cuda") == 0 && !test_on_device(), is_vulkan = strcmp(target->name, "vulkan") == 0;
  return (vyre_target_options){.struct_size = sizeof(vyre_target_options),
                               .device = is_simulated ? "sim" : NULL,
                               .validate = is_simulated || (is_vulkan && test_validates())};
}

void
forms_open(form *forms, uint32_t count)
{
  static const char *const passes[] = {"canon", "cf",   "cid",    "cprop", "cse",       "dbe",   "dce",      "early", "expand",
                                       "dse",   "licm", "limits", "pm",    "remainder", "shash", "simplify", "uncopy"};
  assert_ok(vyre_registry_create(NULL, &registry));
  for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
    assert_ok(vyre_registry_load(registry, test_file("lib/vyre/passes/%s.so", passes[i]), VYRE_ORIGIN_CORE));
  assert_ok(vyre_registry_load(registry, test_file("lit-tests/plugins/sweeps.so"), VYRE_ORIGIN_OUTSIDE));
  assert_ok(vyre_registry_load(registry, test_file("lit-tests/plugins/rounds.so"), VYRE_ORIGIN_OUTSIDE));
  for (uint32_t i = 0; i < count; i++) {
    vyre_target_options options = forms_options(forms[i].target);
    options.threads = forms[i].threads;
    assert_ok(vyre_device_open(forms[i].target, &options, NULL, &forms[i].device));
    if (forms[i].by_program)
      forms[i].device->info.max_iterations = 0;
    if (forms[i].by_level && !forms[i].device->info.max_iterations)
      forms[i].device->info.max_iterations = FORMS_BOUND;
    if (forms[i].lazy)
      forms[i].device->lazy_bytes = 0;
    if (forms[i].workgroup)
      forms[i].device->program_workgroup = forms[i].workgroup;
    if (forms[i].room)
      forms[i].device->info.max_storage = forms[i].room;
  }
}

void
forms_close(form *forms, uint32_t count)
{
  vyre_registry_destroy(registry);
  for (uint32_t i = 0; i < count; i++)
    assert_ok(vyre_device_close(forms[i].device));
}

const vyre_registry *
forms_registry(void)
{
  return registry;
}

/* ---- one run ------------------------------------------------------------------------------------------------------------- */

/* Returns whether the line of a report depends on the form.  Those are counts of a device, and cid's comparisons in a hash table
 * that its phases do not have. */
static bool
is_of_its_form(const char *line, size_t length)
{
  static const char *const words[] = {"comparisons", "(device)", "no pass counted"};
  bool is = false;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    is = is || memmem(line, length, words[i], strlen(words[i]));
  return is;
}

/* Returns the module or the error, followed by the counts if `counts` is set.  A module that runs in parts has separate counts for
 * each part. */
static vyre_bytes
run_form(const vyre_bytes *input, const char *text, const form *f, bool counts)
{
  vyre_bytes out = {0}, stats = {0};
  vyre_module *module = new_module();
  vyre_report *report;
  assert_ok(vyre_vir0_read(module, input->data, input->size, "input", NULL, 0));
  assert_ok(vyre_report_create(NULL, &report));
  const vyre_pipeline_options options = {.struct_size = sizeof options,
                                         .verify_each = f && !f->fused,
                                         .check_changed = !f || !f->lazy,
                                         .report = report,
                                         .device = f ? f->device : NULL};
  vyre_status status = run_passes(registry, text, module, &options);
  if (status)
    assert_ok(vyre_bytes_printf(&out, "%s", vyre_status_text(status)));
  else
    assert_ok(vyre_vir0_write(module, NULL, 0, &out));
  vyre_status_free(status);
  assert_ok(vyre_report_stats(report, VYRE_STATS_TEXT, &stats));
  for (const char *line = stats.data, *end; counts && line && *line; line = end) {
    const size_t length = strcspn(line, "\n");
    end = line + length + (line[length] != 0);
    if (!is_of_its_form(line, length))
      assert_ok(vyre_bytes_append(&out, line, length + 1));
  }
  vyre_bytes_free(&stats);
  vyre_report_destroy(report);
  vyre_module_destroy(module);
  return out;
}

vyre_bytes
forms_run(const vyre_bytes *input, const char *text, const form *f)
{
  return run_form(input, text, f, true);
}

bool
forms_compare(const char *what, uint32_t seed, const vyre_bytes *input, const char *text, const form *forms, uint32_t count)
{
  vyre_bytes plain = forms_run(input, text, NULL), uncounted = run_form(input, text, NULL, false);
  /* The counts follow the module in `plain`. */
  const bool changed = plain.size < input->size || memcmp(plain.data, input->data, input->size) != 0;
  for (uint32_t i = 0; i < count; i++) {
    const vyre_bytes *expected = forms[i].room ? &uncounted : &plain;
    vyre_bytes other = run_form(input, text, &forms[i], expected == &plain);
    if (other.size != expected->size || memcmp(other.data, expected->data, expected->size) != 0)
      fail_msg("%s %u: %s %s differs from its plain C: %.300s", what, seed, text, forms[i].name, (const char *)other.data);
    vyre_bytes_free(&other);
  }
  vyre_bytes_free(&plain);
  vyre_bytes_free(&uncounted);
  return changed;
}

/* ---- batches ------------------------------------------------------------------------------------------------------------- */

static vyre_module *
module_of(const vyre_bytes *input)
{
  vyre_module *module = new_module();
  assert_ok(vyre_vir0_read(module, input->data, input->size, "input", NULL, 0));
  return module;
}

static bool
is_same_alone(const vyre_registry *passes, const vyre_bytes *input, const char *text, vyre_batch *batch, uint32_t entry)
{
  vyre_module *alone = module_of(input), *together = new_module();
  assert_ok(run_passes(passes, text, alone, NULL));
  assert_ok(vyre_batch_extract(batch, entry, together));
  vyre_bytes a = binary_of(alone), b = binary_of(together);
  const bool is_same = a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
  vyre_bytes_free(&a);
  vyre_bytes_free(&b);
  vyre_module_destroy(alone);
  vyre_module_destroy(together);
  return is_same;
}

uint32_t
forms_find_neighbour(const vyre_registry *passes, const vyre_bytes *inputs, uint32_t count, const char *text, const form *f,
                     uint64_t *retired)
{
  vyre_batch *batch;
  vyre_report *report;
  uint32_t found = 0;
  assert_ok(vyre_batch_create(NULL, &batch));
  assert_ok(vyre_report_create(NULL, &report));
  for (uint32_t i = 0; i < count; i++) {
    vyre_module *module = module_of(&inputs[i]);
    assert_ok(vyre_batch_add(batch, module));
    vyre_module_destroy(module);
  }
  const vyre_pipeline_options options = {
      .struct_size = sizeof options, .no_fuse = f && !f->fused, .report = report, .device = f ? f->device : NULL};
  assert_ok(run_passes(passes, text, vyre_batch_module(batch), &options));
  *retired += vyre_report_count(report, "fixpoint", "programs retired");
  while (found < count && is_same_alone(passes, &inputs[found], text, batch, found))
    found++;
  vyre_report_destroy(report);
  vyre_batch_destroy(batch);
  return found;
}

void
forms_compare_batches(uint32_t modules, const form *forms, uint32_t count)
{
  static const char *const texts[] = {"fixpoint(canon,cf,pm)",
                                      "fixpoint(canon,cf,shash,cid,cse,pm,dce)",
                                      "fixpoint(canon,cf,shash,cid,pm,dce),cse",
                                      "fixpoint<max=2;on-limit=quiet>(pm,canon)",
                                      "repeat<2>(fixpoint(simplify,fixpoint(canon,dce)),cid)",
                                      "default<O2>",
                                      "default<O3>"};
  vyre_bytes *inputs = calloc(modules, sizeof *inputs);
  for (uint32_t i = 0; i < modules; i++)
    inputs[i] = i % 8 == 7 ? forms_grown(60, 20) : forms_random(500 + i, 1 + i % 2);
  uint64_t all = 0;
  for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
    uint64_t retired = 0;
    for (uint32_t i = 0; i <= count; i++) {
      const form *f = i ? &forms[i - 1] : NULL;
      const uint32_t found = forms_find_neighbour(registry, inputs, modules, texts[k], f, &retired);
      if (found < modules)
        fail_msg("%s: module %u depends on its neighbours, %s", texts[k], found, f ? f->name : "as plain C");
    }
    print_message("%s: %u programs retired\n", texts[k], (uint32_t)retired);
    all += retired;
  }
  assert_true(all > modules);
  for (uint32_t i = 0; i < modules; i++)
    vyre_bytes_free(&inputs[i]);
  free(inputs);
}

/* ---- modules ------------------------------------------------------------------------------------------------------------- */

/* Returns the binary form of the module, which it seals, checks and destroys. */
static vyre_bytes
binary_and_destroy(vyre_module *module)
{
  assert_ok(vyre_module_seal(module, NULL));
  assert_ok(vyre_module_check(module, NULL));
  vyre_bytes bytes = binary_of(module);
  vyre_module_destroy(module);
  return bytes;
}

vyre_bytes
forms_random(uint32_t seed, uint32_t programs)
{
  vyre_module *module = new_module();
  for (uint32_t i = 0; i < programs; i++)
    random_program_build(module, seed * 1000u + i, i & 3u);
  return binary_and_destroy(module);
}

vyre_bytes
forms_grown(uint32_t rows, uint32_t rows_a_program)
{
  vyre_module *module = new_module();
  grow_to(module, rows, rows_a_program);
  return binary_and_destroy(module);
}
