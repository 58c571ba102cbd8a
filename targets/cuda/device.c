/* Lists the devices, chooses one, and opens its context.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cuda.h"

#include <inttypes.h>
#include <stdio.h>

enum { MOST_REGISTERS = 255 /* of an invocation, on every architecture from sm_75 on */ };

/* ---- properties ---------------------------------------------------------------------------------------------------------- */

static vyre_status
read_attribute(const cuda_library *library, cuda_device device, cuda_device_attribute attribute, uint32_t *out)
{
  int value = 0;
  VYRE_TRY(CUDA_QUERY(library, cuDeviceGetAttribute, (&value, attribute, device), "reading attribute %d of device %d",
                      (int)attribute, device));
  *out = value < 0 ? 0 : (uint32_t)value;
  return VYRE_OK;
}

/* Fills in the features that codegen/ptx implements for every architecture. */
static void
fill_features(vyre_device_info *info)
{
  const uint32_t floats = VYRE_FLOAT_DENORM_PRESERVE | VYRE_FLOAT_SIGNED_ZERO_INF_NAN | VYRE_FLOAT_ROUND_EVEN;
  info->features = VYRE_DEVICE_INT8 | VYRE_DEVICE_INT16 | VYRE_DEVICE_INT64 | VYRE_DEVICE_FLOAT16 | VYRE_DEVICE_FLOAT64 |
                   VYRE_DEVICE_STORAGE16 | VYRE_DEVICE_UNIFORM16 | VYRE_DEVICE_PUSH16 | VYRE_DEVICE_STORAGE8 |
                   VYRE_DEVICE_UNIFORM8 | VYRE_DEVICE_PUSH8 | VYRE_DEVICE_SUBGROUP_TYPES;
  info->storage_atomics = info->shared_atomics =
      VYRE_DEVICE_ATOMIC_INT64 | VYRE_DEVICE_ATOMIC_F16 | VYRE_DEVICE_ATOMIC_F16_ADD | VYRE_DEVICE_ATOMIC_F16_MINMAX |
      VYRE_DEVICE_ATOMIC_F32 | VYRE_DEVICE_ATOMIC_F32_ADD | VYRE_DEVICE_ATOMIC_F32_MINMAX | VYRE_DEVICE_ATOMIC_F64 |
      VYRE_DEVICE_ATOMIC_F64_ADD | VYRE_DEVICE_ATOMIC_F64_MINMAX;
  info->subgroup_operations = VYRE_DEVICE_SUBGROUP_BASIC | VYRE_DEVICE_SUBGROUP_VOTE | VYRE_DEVICE_SUBGROUP_ARITHMETIC |
                              VYRE_DEVICE_SUBGROUP_BALLOT | VYRE_DEVICE_SUBGROUP_SHUFFLE | VYRE_DEVICE_SUBGROUP_SHUFFLE_RELATIVE |
                              VYRE_DEVICE_SUBGROUP_CLUSTERED | VYRE_DEVICE_SUBGROUP_QUAD;
  info->float_controls =
      VYRE_FLOAT_CONTROLS(VYRE_F16, floats) | VYRE_FLOAT_CONTROLS(VYRE_F32, floats) | VYRE_FLOAT_CONTROLS(VYRE_F64, floats);
  info->free_float_controls = true;
  info->forms = 1u << VYRE_KERNEL_PTX;
  info->queues = VYRE_DEVICE_QUEUE_COMPUTE | VYRE_DEVICE_QUEUE_TRANSFER;
}

static vyre_status
fill_limits(const cuda_library *library, cuda_device device, vyre_device_info *info)
{
  static const cuda_device_attribute blocks[] = {CUDA_MAX_BLOCK_X, CUDA_MAX_BLOCK_Y, CUDA_MAX_BLOCK_Z},
                                     grids[] = {CUDA_MAX_GRID_X, CUDA_MAX_GRID_Y, CUDA_MAX_GRID_Z};
  for (uint32_t i = 0; i < 3; i++) {
    VYRE_TRY(read_attribute(library, device, blocks[i], &info->max_workgroup[i]));
    VYRE_TRY(read_attribute(library, device, grids[i], &info->max_groups[i]));
  }
  VYRE_TRY(read_attribute(library, device, CUDA_MAX_THREADS_PER_BLOCK, &info->max_invocations));
  VYRE_TRY(read_attribute(library, device, CUDA_MAX_SHARED_PER_BLOCK, &info->max_shared));
  VYRE_TRY(read_attribute(library, device, CUDA_WARP_SIZE, &info->subgroup));
  if (info->max_shared > VYRE_PTX_SHARED)
    info->max_shared = VYRE_PTX_SHARED;
  size_t bytes = 0;
  VYRE_TRY(CUDA_QUERY(library, cuDeviceTotalMem_v2, (&bytes, device), "reading the memory size of device %d", device));
  info->memory = info->budget = info->max_buffer = info->max_storage = info->max_uniform = bytes;
  info->max_push = VYRE_PTX_PARAMETERS / 2; /* the rest is for buffers */
  info->storage_align = info->uniform_align = VYRE_PTX_ALIGN;
  return VYRE_OK;
}

/* Fills in the profile. The memory transfers data twice a clock. */
static vyre_status
fill_profile(const cuda_library *library, cuda_device device, vyre_device_info *info)
{
  uint32_t clock, bits, l2; /* kHz, bits, bytes */
  VYRE_TRY(read_attribute(library, device, CUDA_MULTIPROCESSORS, &info->compute_units));
  VYRE_TRY(read_attribute(library, device, CUDA_REGISTERS_PER_MULTIPROCESSOR, &info->registers));
  VYRE_TRY(read_attribute(library, device, CUDA_L2_CACHE, &l2));
  VYRE_TRY(read_attribute(library, device, CUDA_MEMORY_CLOCK, &clock));
  VYRE_TRY(read_attribute(library, device, CUDA_MEMORY_BUS, &bits));
  info->l2_cache = l2;
  info->bandwidth = 2 * (uint64_t)clock * 1000 * (bits / 8);
  info->max_registers = MOST_REGISTERS;
  return VYRE_OK;
}

static vyre_status
fill_capabilities(const cuda_library *library, cuda_device_choice *choice)
{
  uint32_t major, minor, mode, cooperative, registers, maps, integrated;
  vyre_device_info *info = &choice->info;
  VYRE_TRY(read_attribute(library, choice->handle, CUDA_CAPABILITY_MAJOR, &major));
  VYRE_TRY(read_attribute(library, choice->handle, CUDA_CAPABILITY_MINOR, &minor));
  VYRE_TRY(read_attribute(library, choice->handle, CUDA_COMPUTE_MODE, &mode));
  VYRE_TRY(read_attribute(library, choice->handle, CUDA_COOPERATIVE_LAUNCH, &cooperative));
  VYRE_TRY(read_attribute(library, choice->handle, CUDA_HOST_REGISTER_SUPPORTED, &registers));
  VYRE_TRY(read_attribute(library, choice->handle, CUDA_CAN_MAP_HOST_MEMORY, &maps));
  VYRE_TRY(read_attribute(library, choice->handle, CUDA_INTEGRATED, &integrated));
  choice->sm = 10 * major + minor;
  info->kind = integrated ? VYRE_DEVICE_INTEGRATED : VYRE_DEVICE_DISCRETE;
  info->usable =
      choice->sm >= VYRE_PTX_SM_LEAST && mode != CUDA_MODE_PROHIBITED && info->subgroup == VYRE_PTX_SUBGROUP && maps != 0;
  info->capabilities = VYRE_TARGET_ADDRESSES | VYRE_TARGET_PARTS | VYRE_TARGET_INDIRECT | VYRE_TARGET_ASYNC |
                       VYRE_TARGET_STATISTICS | VYRE_TARGET_DEVICE_TIME | (cooperative ? VYRE_TARGET_GRID_BARRIERS : 0) |
                       (registers && maps ? VYRE_TARGET_IMPORT : 0) | (library->is_emulated ? VYRE_TARGET_EMULATED : 0);
  snprintf(info->driver, sizeof info->driver, "%s for CUDA %d.%d", library->is_emulated ? "simulated driver" : "NVIDIA driver",
           library->version / 1000, library->version % 1000 / 10);
  snprintf(info->architecture, sizeof info->architecture, "sm_%u", choice->sm);
  return VYRE_OK;
}

static vyre_status
describe(const cuda_library *library, uint32_t index, cuda_device_choice *choice)
{
  *choice = (cuda_device_choice){.info.index = index};
  VYRE_TRY(CUDA_QUERY(library, cuDeviceGet, (&choice->handle, (int)index), "opening device %u", index));
  VYRE_TRY(CUDA_QUERY(library, cuDeviceGetName, (choice->info.name, sizeof choice->info.name, choice->handle),
                      "reading the name of device %u", index));
  choice->info.name[sizeof choice->info.name - 1] = '\0';
  VYRE_TRY(CUDA_QUERY(library, cuDeviceGetUuid_v2, (&choice->uuid, choice->handle), "reading the UUID of device %u", index));
  fill_features(&choice->info);
  VYRE_TRY(fill_limits(library, choice->handle, &choice->info));
  VYRE_TRY(fill_profile(library, choice->handle, &choice->info));
  return fill_capabilities(library, choice);
}

vyre_status
cuda_devices_emit(const cuda_library *library, void (*emit)(void *user, const cuda_device_choice *choice), void *user)
{
  int count = 0;
  VYRE_TRY(CUDA_QUERY(library, cuDeviceGetCount, (&count), "counting devices"));
  if (count <= 0)
    return cuda_no_device("the driver finds none");
  for (uint32_t i = 0; i < (uint32_t)count; i++) {
    cuda_device_choice choice;
    VYRE_TRY(describe(library, i, &choice));
    emit(user, &choice);
  }
  return VYRE_OK;
}

/* ---- choice -------------------------------------------------------------------------------------------------------------- */

typedef struct search {
  const char *wanted;
  cuda_device_choice best;
  bool is_found;
  char names[1024]; /* of all devices, truncated if there are very many */
  size_t length;
} search;

static void
consider(void *user, const cuda_device_choice *choice)
{
  search *s = user;
  const vyre_device_info *info = &choice->info;
  const size_t room = sizeof s->names - s->length;
  const int written = snprintf(s->names + s->length, room, "%s%u '%s'%s", s->length ? ", " : "", info->index, info->name,
                               info->usable ? "" : " (older than sm_75, or not usable for computing)");
  s->length += written > 0 && (size_t)written < room ? (size_t)written : 0;
  if (!info->usable || (s->wanted && !target_device_matches(info, s->wanted)))
    return;
  if (!s->is_found || (s->best.info.kind == VYRE_DEVICE_INTEGRATED && info->kind == VYRE_DEVICE_DISCRETE))
    s->best = *choice;
  s->is_found = true;
}

vyre_status
cuda_device_choose(const cuda_library *library, const char *wanted, cuda_device_choice *out)
{
  search s = {.wanted = wanted};
  VYRE_TRY(cuda_devices_emit(library, consider, &s));
  if (s.is_found) {
    *out = s.best;
    return VYRE_OK;
  }
  return VYRE_ERROR(VYRE_CODE_DEVICE,
                    "cuda: no device: none that fits %s%s%s; there are: %s\n"
                    "Fix: name one of these by index, by its kind or by a part of its name, or use another target",
                    wanted ? "'" : "what vyre needs", wanted ? wanted : "", wanted ? "'" : "", s.names);
}

/* ---- the context --------------------------------------------------------------------------------------------------------- */

vyre_status
cuda_context_open(vyre_target *target)
{
  cuda_context popped;
  VYRE_TRY(CUDA_CALL(target, cuCtxCreate_v2, (&target->context, CUDA_CONTEXT_AUTO | CUDA_CONTEXT_MAP_HOST, target->choice.handle),
                     "opening '%s'", target->choice.info.name));
  size_t left = 0, total = 0;
  vyre_status status = CUDA_CALL(target, cuMemGetInfo_v2, (&left, &total), "reading the free memory");
  target->choice.info.budget = left;
  target->base.info = target->choice.info;
  return vyre_status_join(status, CUDA_CALL(target, cuCtxPopCurrent_v2, (&popped), "leaving a new context"));
}

void
cuda_context_close(vyre_target *target)
{
  if (target->context && !target->base.hangs) /* a hanging context is left to the process */
    target->library.call.cuCtxDestroy_v2(target->context);
  target->context = NULL;
}

vyre_status
cuda_enter(vyre_target *target)
{
  return CUDA_CALL(target, cuCtxPushCurrent_v2, (target->context), "entering the target's context");
}

vyre_status
cuda_leave(vyre_target *target, vyre_status status)
{
  cuda_context popped;
  const cuda_result result = target->library.call.cuCtxPopCurrent_v2(&popped);
  if (status && target->base.lost) /* every call of a lost context has the same error */
    return status;
  status = vyre_status_join(status, cuda_status(target, result, "cuCtxPopCurrent_v2", "leaving the target's context"));
  return cuda_join_messages(target, status);
}
