/* Kernels: checks before work, handles, specialization values, faults, statistics.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "conformance.h"

#include "bundle.h"

/* Asserts that `supports` and `compile` return the same error, and that no kernel is compiled. */
static void
check_refusal(const conform *c, const vyre_kernel_desc *desc, const char *word)
{
  vyre_kernel kernel = {7};
  const uint64_t compiles = metric(c, "compiles");
  refused(c, c->ops->supports(c->target, desc), VYRE_CODE_INPUT, word);
  refused(c, c->ops->compile(c->target, desc, &kernel), VYRE_CODE_INPUT, word);
  assert_int_equal(kernel.id, 0);
  assert_int_equal(metric(c, "compiles"), compiles);
}

CONFORM(unsupported_forms_are_refused_by_name, 0)
{
  static const char *const names[] = {"SPIR-V", "PTX", "C", ".vir"};
  static const uint64_t code[64];
  for (uint32_t form = 0; form < VYRE_KERNEL_FORM__COUNT; form++) {
    const vyre_kernel_desc desc = {.label = "mine",
                                   .form = (vyre_kernel_form)form,
                                   .code = code,
                                   .size = sizeof code,
                                   .entry = "main",
                                   .workgroup = {1, 1, 1}};
    char word[64];
    snprintf(word, sizeof word, "kernel 'mine' is %s", names[form]);
    if (!(c->info.forms >> form & 1))
      check_refusal(c, &desc, word);
  }
  const vyre_kernel_desc none = {.label = "mine", .form = VYRE_KERNEL_FORM__COUNT, .code = code, .size = 4, .workgroup = {1, 1, 1}};
  check_refusal(c, &none, "an unknown form");
}

CONFORM(wrong_descriptions_are_refused, NEEDS_KERNELS)
{
  static const vyre_kernel_slot twice[] = {{.kind = VYRE_SLOT_STORAGE}, {.kind = VYRE_SLOT_UNIFORM}};
  static const vyre_kernel_slot unknown[] = {{.kind = (vyre_slot_kind)99}};
  const vyre_kernel_spec odd = {.id = 1, .size = 3};
  conform_desc d;
  describe_kernel(c, "add", &d);
  assert_ok(c->ops->supports(c->target, &d.desc));
  vyre_kernel_desc desc = d.desc;
  desc.code = NULL;
  check_refusal(c, &desc, "no code");
  desc = d.desc;
  desc.workgroup[1] = 0;
  check_refusal(c, &desc, "0 invocations");
  desc = d.desc;
  desc.workgroup[0] = c->info.max_workgroup[0];
  desc.workgroup[1] = c->info.max_invocations / c->info.max_workgroup[0] + 1;
  check_refusal(c, &desc, "invocations of a workgroup");
  desc = d.desc;
  desc.push_size = c->info.max_push + 4;
  check_refusal(c, &desc, "bytes of push constants");
  desc.push_size = 6;
  check_refusal(c, &desc, "multiple of 4");
  desc = d.desc;
  desc.slots = twice;
  desc.slot_count = 2;
  check_refusal(c, &desc, "two slots");
  desc.slots = unknown;
  desc.slot_count = 1;
  check_refusal(c, &desc, "kind 99");
  desc = d.desc;
  desc.specs = &odd;
  desc.spec_count = 1;
  check_refusal(c, &desc, "1, 2, 4 or 8");
  free_description(&d);
}

/* These errors are visible only in the code. */
CONFORM(wrong_code_is_refused, NEEDS_KERNELS)
{
  conform_desc d;
  describe_kernel(c, "add", &d);
  vyre_kernel_desc desc = d.desc;
  desc.size -= c->form == VYRE_KERNEL_PTX ? 2 : 1; /* a text may lack the end of its last line */
  check_refusal(c, &desc, "kernel 'add'");
  if (c->form == VYRE_KERNEL_VIR) {
    desc = d.desc;
    desc.slot_count = 1;
    check_refusal(c, &desc, "binding 1");
    desc = d.desc;
    desc.workgroup[0] = 32;
    check_refusal(c, &desc, "32 x 1 x 1");
    desc.workgroup[0] = 128;
    check_refusal(c, &desc, "128 x 1 x 1");
    d.program.subgroup = 48;
    check_refusal(c, &d.desc, "48 lanes");
    d.program.subgroup = 256;
    check_refusal(c, &d.desc, "256 lanes");
    d.program.subgroup = 0;
    d.program.row++;
    check_refusal(c, &d.desc, "not a program");
    d.program.row = 1u << 20;
    check_refusal(c, &d.desc, "not a program");
  }
  free_description(&d);
}

CONFORM(images_are_refused_without_the_capability, NEEDS_KERNELS)
{
  static const vyre_image image = {.dim = VYRE_IMAGE_2D, .format = 33, .extent = {4, 4, 1}, .layers = 1};
  const vyre_kernel_slot slot = {.kind = VYRE_SLOT_STORAGE_IMAGE, .images = &image};
  conform_desc d;
  describe_kernel(c, "add", &d);
  d.desc.slots = &slot;
  d.desc.slot_count = 1;
  if (!(c->info.capabilities & VYRE_TARGET_IMAGES))
    check_refusal(c, &d.desc, "an image");
  free_description(&d);
}

CONFORM(a_kernel_is_valid_from_compile_to_release, NEEDS_KERNELS)
{
  const vyre_range range = whole(buffer_of_zeros(c, 4));
  const uint64_t compiles = metric(c, "compiles");
  const vyre_kernel kernel = kernel_of(c, "mark"), other = kernel_of(c, "mark");
  vyre_step step = step_of(kernel, &range, 2);
  const vyre_sequence sequence = {STEPS(&step, 1)};
  assert_int_not_equal(kernel.id, other.id);
  assert_int_equal(metric(c, "compiles"), compiles + 2);
  submit(c, sequence);
  assert_ok(c->ops->release(c->target, kernel));
  refused(c, c->ops->submit(c->target, &sequence, NULL), VYRE_CODE_INPUT, "not a kernel of this target");
  refused(c, c->ops->release(c->target, kernel), VYRE_CODE_INPUT, "not a kernel of this target");
  refused(c, c->ops->release(c->target, (vyre_kernel){0}), VYRE_CODE_INPUT, "not a kernel of this target");
  step.kernel = other;
  submit(c, sequence);
  const vyre_kernel again = kernel_of(c, "mark"); /* a freed handle is not reused */
  assert_true(again.id != kernel.id && again.id != other.id);
}

static void
submit_special(const conform *c, const vyre_kernel_spec *specs, uint32_t spec_count, uint32_t width, uint32_t out[8])
{
  conform_desc d;
  const vyre_range range = whole(buffer_of_zeros(c, 8));
  const vyre_read read = {range, out};
  vyre_kernel kernel;
  describe_kernel(c, "special", &d);
  d.desc.specs = specs;
  d.desc.spec_count = spec_count;
  d.desc.workgroup[0] = width;
  assert_ok(c->ops->compile(c->target, &d.desc, &kernel));
  const vyre_step step = step_of(kernel, &range, 2);
  submit(c, (vyre_sequence){STEPS(&step, 1), READS(&read, 1)});
  assert_ok(c->ops->release(c->target, kernel));
  free_description(&d);
}

CONFORM(specialization_values_are_set_at_compilation, NEEDS_KERNELS | NEEDS_SPECS)
{
  const vyre_kernel_spec specs[] = {{7, 4, 5}, {9, 4, 3}, {1000, 4, 9}}; /* an id that the program lacks is ignored */
  uint32_t out[8];
  submit_special(c, NULL, 0, 1, out);
  for (uint32_t i = 0; i < 8; i++)
    assert_int_equal(out[i], i < 2 ? (i + 1) * 2 : 0);
  submit_special(c, specs, 3, 3, out);
  for (uint32_t i = 0; i < 8; i++)
    assert_int_equal(out[i], i < 6 ? (i + 1) * 5 : 0);
}

CONFORM(slots_of_every_kind_reach_the_kernel, NEEDS_KERNELS)
{
  const uint32_t first[4] = {1, 2, 3, 4}, second[4] = {10, 20, 30, 40};
  uint32_t table[16] = {0}, out[4];
  table[13] = 7;
  const vyre_range ranges[] = {whole(buffer_with(c, first, 4)), whole(buffer_with(c, second, 4)), whole(buffer_with(c, table, 16)),
                               whole(buffer_of(c, sizeof out))};
  const vyre_step step = {.kernel = kernel_of(c, "gather"), .buffers = ranges, .buffer_count = 4, .groups = {4, 1, 1}};
  const vyre_read read = {ranges[3], out};
  submit(c, (vyre_sequence){STEPS(&step, 1), READS(&read, 1)});
  for (uint32_t i = 0; i < 4; i++)
    assert_int_equal(out[i], (first[i] + second[i]) * 7);
}

/* A fault fails the submission and writes no reads.  The target stays usable. */
CONFORM(a_fault_of_a_program_is_an_error, NEEDS_ITS_OWN | NEEDS_KERNELS | NEEDS_FAULTS)
{
  uint32_t words[256] = {0}, back[256];
  const vyre_range range = whole(buffer_with(c, words, 256));
  vyre_step step = step_of(kernel_of(c, "fault"), &range, 4);
  const vyre_read read = {range, back};
  const vyre_sequence sequence = {STEPS(&step, 1), READS(&read, 1)};
  memset(back, 0x77, sizeof back);
  vyre_status status = c->ops->submit(c->target, &sequence, NULL);
  assert_non_null(strstr(vyre_status_text(status), "trap"));
  assert_non_null(strstr(vyre_status_text(status), "Fix:"));
  assert_error(status, VYRE_CODE_INPUT, "kernel 'fault'");
  for (uint32_t i = 0; i < 256; i++)
    assert_int_equal(back[i], 0x77777777);
  step.groups[0] = 1;
  submit(c, sequence);
  for (uint32_t i = 0; i < 256; i++)
    assert_true(back[i] == 1 || i >= 64);
  assert_false(c->ops->is_lost(c->target));
}

CONFORM(workgroups_wait_at_grid_barriers, NEEDS_KERNELS | VYRE_TARGET_GRID_BARRIERS)
{
  const vyre_range ranges[] = {whole(buffer_of(c, 64)), whole(buffer_of(c, 64))};
  uint32_t out[16];
  const vyre_step step = {.kernel = kernel_of(c, "meet"), .buffers = ranges, .buffer_count = 2, .groups = {4, 1, 1}};
  const vyre_read read = {ranges[1], out};
  submit(c, (vyre_sequence){STEPS(&step, 1), READS(&read, 1)});
  for (uint32_t i = 0; i < 16; i++)
    assert_int_equal(out[i], (i + 4) % 16 + 1);
}

/* ---- statistics ---------------------------------------------------------------------------------------------------------- */

typedef struct figures {
  uint32_t count;
  uint64_t compile_ns, most;
  char names[64][96];
} figures;

static void
take_figure(void *user, const vyre_kernel_figure *figure)
{
  figures *f = user;
  assert_non_null(figure->part);
  assert_non_null(figure->text);
  assert_true(figure->name[0] != '\0' && f->count < 64);
  if (f->count == 0) {
    assert_string_equal(figure->name, "compile_ns");
    assert_int_equal(figure->kind, VYRE_FIGURE_U64);
    f->compile_ns = figure->u64;
  } else if (figure->u64 > f->most) {
    f->most = figure->u64;
  }
  snprintf(f->names[f->count], sizeof f->names[0], "%s: %s", figure->part, figure->name);
  for (uint32_t i = 0; i < f->count; i++)
    assert_string_not_equal(f->names[i], f->names[f->count]);
  f->count++;
}

/* Checks a target that is opened for statistics.  Each compile call compiles, even of the same code, and no kernel can run. */
static void
looks_at_kernels(const conform *c)
{
  const uint32_t words[4] = {1, 2, 3, 4};
  const vyre_target_options options = {
      .struct_size = sizeof options, .library = test_library(CONFORM_LIBRARY), .validate = test_validates(), .statistics = true};
  conform looking = *c;
  vyre_kernel kernel, others[2];
  conform_desc d;
  assert_ok(c->ops->open(&options, NULL, &looking.target));
  describe_kernel(&looking, "mark", &d);
  assert_ok(c->ops->compile(looking.target, &d.desc, &kernel));
  for (uint32_t i = 0; i < 3; i++) {
    figures f = {0};
    if (i)
      assert_ok(c->ops->compile(looking.target, &d.desc, &others[i - 1]));
    assert_ok(c->ops->statistics(looking.target, i ? others[i - 1] : kernel, take_figure, &f));
    assert_true(f.count > 1 && f.compile_ns > 0 && f.most > 0);
  }
  const vyre_range range = whole(buffer_with(&looking, words, 4));
  const vyre_step step = step_of(kernel, &range, 1);
  refused(c, c->ops->submit(looking.target, &(vyre_sequence){STEPS(&step, 1)}, NULL), VYRE_CODE_INPUT, "for statistics only");
  assert_ok(c->ops->release(looking.target, kernel));
  figures f = {0};
  refused(c, c->ops->statistics(looking.target, kernel, take_figure, &f), VYRE_CODE_INPUT, "not a kernel of this target");
  assert_int_equal(f.count, 0);
  free_description(&d);
  assert_ok(c->ops->close(looking.target));
}

CONFORM(statistics_describe_a_compiled_kernel, NEEDS_KERNELS)
{
  figures f = {0};
  const bool can = c->info.capabilities & VYRE_TARGET_STATISTICS;
  refused(c, c->ops->statistics(c->target, kernel_of(c, "mark"), take_figure, &f), can ? VYRE_CODE_INPUT : VYRE_CODE_DEVICE,
          can ? "to run kernels" : "has no statistics");
  assert_int_equal(f.count, 0);
  if (can)
    looks_at_kernels(c);
}
