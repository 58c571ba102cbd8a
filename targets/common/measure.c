/* Measures the properties of a device that no driver reports, once, and keeps the result in the cache folder.
 *
 * The bandwidth is that of fills. The launch time is that of a whole submission: from the call of `submit` with one step of one
 * workgroup, whose kernel does nothing, to its return. Both are the best of several rounds, so that other work on the machine
 * changes them little.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { ROUNDS = 16, FILL_ROUNDS = 4, MOST_BYTES = 64 << 20 };

/* ---- the kernel ---------------------------------------------------------------------------------------------------------- */

/* A compute shader with the entry point "main", 1 x 1 x 1 invocations, and no instructions but a return. */
static const uint32_t spirv[] = {0x07230203, 0x00010300, 0,          6,          0,    /* header */
                                 0x00020011, 1,                                        /* Capability Shader */
                                 0x0003000e, 0,          1,                            /* MemoryModel Logical GLSL450 */
                                 0x0005000f, 5,          4,          0x6e69616d, 0,    /* EntryPoint %4 "main" */
                                 0x00060010, 4,          17,         1,          1, 1, /* LocalSize 1 1 1 */
                                 0x00020013, 2,                                        /* %2 = TypeVoid */
                                 0x00030021, 3,          2,                            /* %3 = TypeFunction %2 */
                                 0x00050036, 2,          4,          0,          3,    /* %4 = Function */
                                 0x000200f8, 5,          0x000100fd, 0x00010038};      /* Label Return FunctionEnd */

static const char ptx[] = ".version 7.8\n.target sm_75\n.address_size 64\n"
                          ".visible .entry main(.param .u64 dispatch)\n.reqntid 1, 1, 1\n{\n  ret;\n}\n";

static uint32_t
do_nothing(const struct vyre_c_dispatch *dispatch)
{
  (void)dispatch;
  return 0;
}

static const vyre_kernel_function function = {.run = do_nothing};

/* Describes the kernel in a form of the device. Returns false if the device has none of them. */
static bool
describe_kernel(const vyre_device_info *info, vyre_kernel_desc *out)
{
  *out = (vyre_kernel_desc){.label = "launch time", .entry = "main", .workgroup = {1, 1, 1}};
  if (info->forms >> VYRE_KERNEL_SPIRV & 1) {
    out->form = VYRE_KERNEL_SPIRV;
    out->code = spirv;
    out->size = sizeof spirv;
  } else if (info->forms >> VYRE_KERNEL_PTX & 1) {
    out->form = VYRE_KERNEL_PTX;
    out->code = ptx;
    out->size = sizeof ptx - 1;
  } else if (info->forms >> VYRE_KERNEL_C & 1) {
    out->form = VYRE_KERNEL_C;
    out->code = &function;
    out->size = sizeof function;
  } else {
    return false;
  }
  return true;
}

/* ---- measurements -------------------------------------------------------------------------------------------------------- */

/* Stores the least time of several submissions: the device's if `of_device` is set and the device reports it, otherwise the host's.
 */
static vyre_status
time_submissions(const vyre_target_ops *ops, vyre_target *target, const vyre_sequence *sequence, uint32_t rounds, bool of_device,
                 uint64_t *out_ns)
{
  vyre_timing timing;
  *out_ns = UINT64_MAX;
  VYRE_TRY(ops->submit(target, sequence, &timing)); /* later submissions reuse what it allocated */
  for (uint32_t i = 0; i < rounds; i++) {
    VYRE_TRY(ops->submit(target, sequence, &timing));
    const uint64_t ns = of_device && timing.device_ns ? timing.device_ns : timing.host_ns;
    *out_ns = ns && ns < *out_ns ? ns : *out_ns;
  }
  *out_ns = *out_ns == UINT64_MAX ? 0 : *out_ns;
  return VYRE_OK;
}

static vyre_status
measure_launch(const vyre_target_ops *ops, vyre_target *target, vyre_device_info *info)
{
  vyre_kernel_desc desc;
  vyre_kernel kernel;
  if (!describe_kernel(info, &desc))
    return VYRE_OK;
  VYRE_TRY(ops->compile(target, &desc, &kernel));
  const vyre_step step = {.kernel = kernel, .groups = {1, 1, 1}};
  const vyre_sequence sequence = {.steps = &step, .step_count = 1};
  vyre_status status = time_submissions(ops, target, &sequence, ROUNDS, false, &info->launch_ns);
  return vyre_status_join(status, ops->release(target, kernel));
}

static vyre_status
measure_bandwidth(const vyre_target_ops *ops, vyre_target *target, vyre_device_info *info)
{
  uint64_t size = MOST_BYTES, ns;
  size = info->max_buffer < size ? info->max_buffer : size;
  size = (info->budget / 8 < size ? info->budget / 8 : size) & ~UINT64_C(3);
  vyre_device_buffer buffer;
  if (size == 0)
    return VYRE_OK;
  VYRE_TRY(ops->allocate(target, size, &buffer));
  const vyre_fill fill = {.range = {.buffer = buffer}, .value = 0x5a5a5a5a};
  const vyre_sequence sequence = {.fills = &fill, .fill_count = 1};
  vyre_status status = time_submissions(ops, target, &sequence, FILL_ROUNDS, true, &ns);
  if (!status && ns)
    info->bandwidth = (uint64_t)((double)size * 1e9 / (double)ns);
  return vyre_status_join(status, ops->free(target, buffer));
}

static vyre_status
measure(const vyre_target_ops *ops, vyre_target *target, vyre_device_info *info)
{
  VYRE_TRY(measure_launch(ops, target, info));
  info->measured |= info->launch_ns ? VYRE_DEVICE_MEASURED_LAUNCH : 0;
  if (info->bandwidth)
    return VYRE_OK; /* reported by the driver */
  VYRE_TRY(measure_bandwidth(ops, target, info));
  info->measured |= info->bandwidth ? VYRE_DEVICE_MEASURED_BANDWIDTH : 0;
  return VYRE_OK;
}

/* ---- the cache ----------------------------------------------------------------------------------------------------------- */

typedef struct measurements {
  uint64_t bandwidth, launch_ns;
  uint32_t measured;
} measurements;

/* Computes the key of a device from the target, the device's name and driver, and its sizes. */
static void
make_key(const vyre_target_ops *ops, const vyre_device_info *info, uint64_t out[2])
{
  const char *const texts[] = {ops->name, info->name, info->driver, info->architecture};
  XXH3_state_t state;
  XXH3_INITSTATE(&state);
  XXH3_128bits_reset(&state);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    XXH3_128bits_update(&state, texts[i], strlen(texts[i]) + 1);
  const uint64_t sizes[] = {info->memory, info->compute_units, info->l1_cache, info->l2_cache};
  XXH3_128bits_update(&state, sizes, sizeof sizes);
  const XXH128_hash_t hash = XXH3_128bits_digest(&state);
  out[0] = hash.low64;
  out[1] = hash.high64;
}

static vyre_status
open_files(const vyre_target_ops *ops, const char *cache, target_files *out)
{
  const vyre_target_options options = {.cache = cache};
  *out = (target_files){.allocator = vyre_allocator_default(),
                        .target = ops->name,
                        .ending = ".measured",
                        .magic = {'v', 'y', 'r', 'e', 'm', 'e', 'a', 's'},
                        .version = 1};
  return target_files_open(out, &options);
}

bool
vyre_target_recall(const vyre_target_ops *ops, const char *cache, vyre_device_info *info)
{
  target_files files;
  uint64_t key[2], size = 0;
  void *data = NULL;
  make_key(ops, info, key);
  vyre_status status = open_files(ops, cache, &files);
  const bool is_found = !status && target_files_are_kept(&files) && target_files_read(&files, key, NULL, NULL, &data, &size);
  if (is_found && size == sizeof(measurements)) {
    measurements found;
    memcpy(&found, data, sizeof found);
    if (found.measured & VYRE_DEVICE_MEASURED_BANDWIDTH)
      info->bandwidth = found.bandwidth;
    info->launch_ns = found.launch_ns;
    info->measured = found.measured;
  }
  if (is_found)
    vyre_release(files.allocator, data, (size_t)size + 1);
  target_files_close(&files);
  vyre_status_free(status); /* out of memory counts as a cache miss */
  return is_found && size == sizeof(measurements);
}

vyre_status
vyre_target_measure(const vyre_target_ops *ops, vyre_target *target, const char *cache, vyre_device_info *out)
{
  ops->describe(target, out);
  if (vyre_target_recall(ops, cache, out))
    return VYRE_OK;
  VYRE_TRY(vyre_status_note(measure(ops, target, out), "while measuring the device '%s'", out->name));
  target_files files;
  uint64_t key[2];
  const measurements made = {out->bandwidth, out->launch_ns, out->measured};
  make_key(ops, out, key);
  vyre_status status = open_files(ops, cache, &files);
  if (!status && target_files_are_kept(&files))
    target_files_write(&files, key, &made, sizeof made);
  target_files_close(&files);
  return status;
}
