/* The interpreter and the targets by name, and their devices.
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
  printf("  %-12s the reference semantics of vyre (default)\n", interpreter);
  for (const run_target *at = vyre_targets; *at; at++)
    printf("  %-12s %s\n", (*at)->name, (*at)->summary);
}

/* ---- devices ------------------------------------------------------------------------------------------------------------- */

/* Returns the options of a target.  Texts are borrowed from `options` and `folder`, which has MOST_PATH bytes.  -device and
 * -library apply only to -target, because another target has other devices. */
static vyre_target_options
target_options(const run_options *options, run_target target, char *folder)
{
  static char program[] = "vyre-run";
  const bool is_named = !options->target || target == options->target;
  vyre_target_options out = option_device_fill(&options->on, folder, MOST_PATH);
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
                          "-list-devices lists the devices, -device= chooses one, -target=interpreter needs none%s",
                          options->on.validate ? ", -validate requires the target's checks" : "");
}

vyre_status
run_device_describe(const run_options *options, run_target target, vyre_device_info *out)
{
  vyre_target *device;
  VYRE_TRY(run_device_open(options, target, &device));
  target->describe(device, out);
  return target->close(device);
}

typedef struct bit_word {
  uint32_t bit;
  const char *word;
} bit_word;

static void
print_words(const char *title, const bit_word *words, uint32_t count, uint32_t bits)
{
  printf("   %s:", title);
  for (uint32_t i = 0; i < count; i++)
    if (bits & words[i].bit)
      printf(" %s", words[i].word);
  printf("%s\n", bits ? "" : " none");
}
#define WORDS(title, words, bits) print_words(title, words, sizeof words / sizeof *words, bits)

static const bit_word types[] = {{VYRE_DEVICE_INT8, "int8"},
                                 {VYRE_DEVICE_INT16, "int16"},
                                 {VYRE_DEVICE_INT64, "int64"},
                                 {VYRE_DEVICE_FLOAT16, "float16"},
                                 {VYRE_DEVICE_FLOAT64, "float64"}};
static const bit_word atomics[] = {
    {VYRE_DEVICE_ATOMIC_INT64, "int64"},           {VYRE_DEVICE_ATOMIC_F16, "f16"}, {VYRE_DEVICE_ATOMIC_F16_ADD, "f16-add"},
    {VYRE_DEVICE_ATOMIC_F16_MINMAX, "f16-minmax"}, {VYRE_DEVICE_ATOMIC_F32, "f32"}, {VYRE_DEVICE_ATOMIC_F32_ADD, "f32-add"},
    {VYRE_DEVICE_ATOMIC_F32_MINMAX, "f32-minmax"}, {VYRE_DEVICE_ATOMIC_F64, "f64"}, {VYRE_DEVICE_ATOMIC_F64_ADD, "f64-add"},
    {VYRE_DEVICE_ATOMIC_F64_MINMAX, "f64-minmax"}};
static const bit_word capabilities[] = {{VYRE_TARGET_IMAGES, "images"},        {VYRE_TARGET_GRID_BARRIERS, "grid-barriers"},
                                        {VYRE_TARGET_IMPORT, "import"},        {VYRE_TARGET_ADDRESSES, "addresses"},
                                        {VYRE_TARGET_PARTS, "parts"},          {VYRE_TARGET_INDIRECT, "indirect"},
                                        {VYRE_TARGET_ASYNC, "async"},          {VYRE_TARGET_DEVICE_TIME, "device-time"},
                                        {VYRE_TARGET_EMULATED, "emulated"},    {VYRE_TARGET_SHARED, "shared"},
                                        {VYRE_TARGET_STATISTICS, "statistics"}};
static const bit_word queues[] = {{VYRE_DEVICE_QUEUE_COMPUTE, "compute"}, {VYRE_DEVICE_QUEUE_TRANSFER, "transfer"}};
static const bit_word subgroups[] = {
    {VYRE_DEVICE_SUBGROUP_BASIC, "basic"},           {VYRE_DEVICE_SUBGROUP_VOTE, "vote"},
    {VYRE_DEVICE_SUBGROUP_ARITHMETIC, "arithmetic"}, {VYRE_DEVICE_SUBGROUP_BALLOT, "ballot"},
    {VYRE_DEVICE_SUBGROUP_SHUFFLE, "shuffle"},       {VYRE_DEVICE_SUBGROUP_SHUFFLE_RELATIVE, "shuffle-relative"},
    {VYRE_DEVICE_SUBGROUP_CLUSTERED, "clustered"},   {VYRE_DEVICE_SUBGROUP_QUAD, "quad"}};
static const bit_word controls[] = {{VYRE_FLOAT_DENORM_PRESERVE, "keep-denormals"},
                                    {VYRE_FLOAT_DENORM_FLUSH, "flush-denormals"},
                                    {VYRE_FLOAT_SIGNED_ZERO_INF_NAN, "keep-signed-zero-inf-nan"},
                                    {VYRE_FLOAT_ROUND_EVEN, "round-to-even"},
                                    {VYRE_FLOAT_ROUND_TO_ZERO, "round-to-zero"}};

/* Prints "NAME: N UNIT", or "NAME: unknown". */
static void
print_known(const char *name, double value, const char *unit, bool is_measured, const char *end)
{
  if (value > 0)
    printf("%s: %.5g%s%s%s", name, value, unit, is_measured ? " (measured)" : "", end);
  else
    printf("%s: unknown%s", name, end);
}

static void
print_profile(const vyre_device_info *info)
{
  printf("   ");
  print_known("compute units", info->compute_units, "", false, "; ");
  print_known("registers of each", info->registers, "", false, "; ");
  print_known("registers of an invocation", info->max_registers, "", false, "\n   ");
  print_known("L1 cache", (double)info->l1_cache / 1024, " KiB", false, "; ");
  print_known("L2 cache", (double)info->l2_cache / 1024, " KiB", false, "; ");
  print_known("bandwidth", (double)info->bandwidth / 1e9, " GB/s", info->measured & VYRE_DEVICE_MEASURED_BANDWIDTH, "; ");
  print_known("launch", (double)info->launch_ns / 1e3, " us", info->measured & VYRE_DEVICE_MEASURED_LAUNCH, "\n");
}

/* The devices of a listing. */
typedef struct listing {
  run_target target;
  const char *cache; /* or NULL */
} listing;

static void
print_device(void *user, const vyre_device_info *given)
{
  const listing *of = user;
  const vyre_target_ops *target = of->target;
  vyre_device_info known = *given;
  const vyre_device_info *info = &known;
  if (!known.measured)
    vyre_target_recall(target, of->cache, &known);
  static const char *const kinds[] = {"other", "discrete GPU", "integrated GPU", "virtual GPU", "CPU"};
  printf("%s %u: %s (%s)%s\n", target->name, info->index, info->name, kinds[info->kind],
         info->usable ? "" : ", not usable: lacks required features");
  printf("   driver: %s%s%s\n   memory: %" PRIu64 " MiB, %" PRIu64
         " MiB of it for this process; workgroups of at most %u invocations, %u bytes shared; subgroups of %u\n",
         info->driver, info->architecture[0] ? "; compiles for " : "", info->architecture, info->memory >> 20, info->budget >> 20,
         info->max_invocations, info->max_shared, info->subgroup);
  print_profile(info);
  WORDS("types", types, info->features & 31u);
  WORDS("atomics in storage buffers", atomics, info->storage_atomics);
  WORDS("atomics in workgroup memory", atomics, info->shared_atomics);
  WORDS("subgroup operations", subgroups, info->subgroup_operations);
  for (uint32_t k = 0; k < 3; k++) {
    char title[40];
    snprintf(title, sizeof(title), "float controls of %u bits", 16u << k);
    WORDS(title, controls, info->float_controls >> 5 * k & 31u);
  }
  if (!info->free_float_controls)
    printf("   float controls of different widths depend on each other\n");
  WORDS("capabilities", capabilities, info->capabilities);
  WORDS("queues", queues, info->queues);
  printf("   ranges: storage buffers of at most %" PRIu64 " bytes, uniform buffers %" PRIu64 ", push constants %u\n",
         info->max_storage, info->max_uniform, info->max_push);
}

/* Measures the device that the options choose. */
static vyre_status
measure(const run_options *options, run_target target, const char *cache, vyre_device_info *out)
{
  vyre_target *device;
  VYRE_TRY(run_device_open(options, target, &device));
  vyre_status status = vyre_target_measure(target, device, cache, out);
  return vyre_status_join(status, target->close(device));
}

static vyre_status
list_target(const run_options *options, run_target target)
{
  char folder[MOST_PATH];
  const vyre_target_options given = target_options(options, target, folder);
  listing all = {target, given.cache};
  vyre_device_info info;
  if (target->list && !options->measure)
    return target->list(&given, print_device, &all);
  VYRE_TRY(options->measure ? measure(options, target, given.cache, &info) : run_device_describe(options, target, &info));
  print_device(&all, &info);
  return VYRE_OK;
}

/* Lists the devices of -target, or of all targets, of which those without devices are not an error. */
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
