/* Where programs run: the interpreter, or one of the targets, which are known by their list alone.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST_PATH = 4096 };

static const char interpreter[] = "interpreter";

bool
run_target_parse(const char *text, run_target *out)
{
  *out = vyre_target_find(text);
  return *out || strcmp(text, interpreter) == 0;
}

const char *
run_target_name(run_target target)
{
  return target ? target->name : "the interpreter";
}

void
run_targets_print(void)
{
  printf("  %-12s vyre's reference meaning (default)\n", interpreter);
  for (const run_target *at = vyre_targets; *at; at++)
    printf("  %-12s %s\n", (*at)->name, (*at)->summary);
}

/* ---- devices ------------------------------------------------------------------------------------------------------------- */

/* Its texts are the options' and the folder's, which is MOST_PATH long.  -device and -library are of -target; another target that
 * is compared with has its own defaults, as one target's devices say nothing to another. */
static vyre_target_options
target_options(const run_options *options, run_target target, char *folder)
{
  static char program[] = "vyre-run";
  const bool is_named = !options->target || target == options->target;
  vyre_target_options out = option_device_take(&options->on, folder, MOST_PATH);
  if (!is_named)
    out.library = out.device = NULL;
  out.remark = vyre_target_remark;
  out.remark_user = program;
  out.statistics = options->device_stats;
  return out;
}

vyre_status
run_device_open(const run_options *options, run_target target, vyre_target **out)
{
  char folder[MOST_PATH];
  const vyre_target_options given = target_options(options, target, folder);
  return vyre_status_note(target->open(&given, NULL, out),
                          "-list-devices shows what there is, -device= chooses one, -target=interpreter needs none%s",
                          options->on.validate ? ", -validate asked for checks" : "");
}

vyre_status
run_device_describe(const run_options *options, run_target target, vyre_device_info *out)
{
  vyre_target *device;
  VYRE_TRY(run_device_open(options, target, &device));
  target->describe(device, out);
  return target->close(device);
}

static void
print_words(const char *title, const char *const *words, uint32_t count, uint32_t bits)
{
  printf("   %s:", title);
  for (uint32_t i = 0; i < count; i++)
    if (bits >> i & 1u)
      printf(" %s", words[i]);
  printf("%s\n", bits ? "" : " none");
}

static void
print_device(void *user, const vyre_device_info *info)
{
  const vyre_target_ops *target = user;
  static const char *const kinds[] = {"other", "discrete GPU", "integrated GPU", "virtual GPU", "CPU"};
  static const char *const types[] = {"int8", "int16", "int64", "float16", "float64"};
  static const char *const atomics[] = {"int64",      "f16", "f16-add", "f16-minmax", "f32", "f32-add",
                                        "f32-minmax", "f64", "f64-add", "f64-minmax"}; /* ORDER: vyre_device_atomic */
  static const char *const capabilities[] = {
      "images", "grid-barriers", "import",   "addresses", "parts",     "indirect",
      "async",  "device-time",   "emulated", "shared",    "statistics"}; /* ORDER: vyre_target_capability */
  static const char *const queues[] = {"compute", "transfer"};           /* ORDER: vyre_device_queue */
  static const char *const subgroups[] = {"basic",     "vote", "arithmetic", "ballot", "shuffle", "shuffle-relative",
                                          "clustered", "quad"}; /* ORDER: vyre_device_subgroup */
  static const char *const controls[] = {"keep-denormals", "flush-denormals", "keep-signed-zero-inf-nan", "round-to-even",
                                         "round-to-zero"}; /* ORDER: types.h */
  printf("%s %u: %s (%s)%s\n", target->name, info->index, info->name, kinds[info->kind],
         info->usable ? "" : ", not usable: lacks what the target needs");
  printf("   driver: %s%s%s\n   memory: %" PRIu64 " MiB, %" PRIu64
         " MiB of it for this process; workgroups of at most %u invocations, %u bytes shared; subgroups of %u\n",
         info->driver, info->architecture[0] ? "; compiles for " : "", info->architecture, info->memory >> 20, info->budget >> 20,
         info->max_invocations, info->max_shared, info->subgroup);
  print_words("types", types, 5, info->features & 31u);
  print_words("atomics in storage buffers", atomics, 10, info->storage_atomics);
  print_words("atomics in workgroup memory", atomics, 10, info->shared_atomics);
  print_words("subgroup operations", subgroups, 8, info->subgroup_operations);
  for (uint32_t k = 0; k < 3; k++) {
    char title[40];
    snprintf(title, sizeof(title), "float controls of %u bits", 16u << k);
    print_words(title, controls, 5, info->float_controls >> 5 * k & 31u);
  }
  if (!info->free_float_controls)
    printf("   float controls of one kind bind another's\n");
  print_words("capabilities", capabilities, 11, info->capabilities);
  print_words("queues", queues, 2, info->queues);
  printf("   ranges: storage buffers of at most %" PRIu64 " bytes, uniform buffers %" PRIu64 ", push constants %u\n",
         info->max_storage, info->max_uniform, info->max_push);
}

static vyre_status
list_target(const run_options *options, run_target target)
{
  char folder[MOST_PATH];
  const vyre_target_options given = target_options(options, target, folder);
  vyre_device_info info;
  if (target->list)
    return target->list(&given, print_device, (void *)(uintptr_t)target);
  VYRE_TRY(run_device_describe(options, target, &info));
  print_device((void *)(uintptr_t)target, &info);
  return VYRE_OK;
}

/* Of the target that was named; else of all, and one that has none is no error. */
vyre_status
run_list_devices(const run_options *options)
{
  if (options->target)
    return list_target(options, options->target);
  for (const run_target *at = vyre_targets; *at; at++) {
    vyre_status status = list_target(options, *at);
    const char *text = vyre_status_text(status);
    if (status)
      printf("%.*s\n", (int)strcspn(text, "\n"), text);
    vyre_status_free(status);
  }
  return VYRE_OK;
}
