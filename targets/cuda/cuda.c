/* The CUDA target: its table, its hooks inside their context, open, close, and recovery from a loss.
 *
 * A sticky error ends the context, and often the process's use of CUDA. Recovery tries one new context. If that fails, the
 * message says that the process must be restarted. The objects of a lost context are lost with it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cuda.h"
#include "base/options.h"
#include "vyre/environment.h"

#include <string.h>

/* ---- hooks --------------------------------------------------------------------------------------------------------------- */

/* Calls a hook while the target's context is current. */
#define IN_CONTEXT(target, call)     \
  do {                               \
    VYRE_TRY(cuda_enter(target));    \
    return cuda_leave(target, call); \
  } while (0)

/* Calls a hook that frees or finishes something. On a lost context the hook changes only the host's state. */
#define ENDS_IN_CONTEXT(target, call)                                              \
  do {                                                                             \
    if ((target)->base.lost || (target)->base.hangs)                               \
      return call;                                                                 \
    vyre_status entered = cuda_enter(target);                                      \
    vyre_status ended = call;                                                      \
    return entered ? vyre_status_join(entered, ended) : cuda_leave(target, ended); \
  } while (0)

static vyre_status
destroy(vyre_target *target, void *memory)
{
  ENDS_IN_CONTEXT(target, cuda_destroy(target, memory));
}

static vyre_status
release(vyre_target *target, target_kernel *kernel)
{
  ENDS_IN_CONTEXT(target, cuda_release(target, kernel));
}

static vyre_status
finish(vyre_target *target, void *work, vyre_timing *timing)
{
  ENDS_IN_CONTEXT(target, target_work_finish(target, work, timing));
}

static vyre_status
poll(vyre_target *target, void *work, bool *out_done)
{
  if (target->base.lost)
    return cuda_poll(target, work, out_done); /* makes no driver call in this case */
  IN_CONTEXT(target, cuda_poll(target, work, out_done));
}

static vyre_status
run(vyre_target *target, const vyre_sequence *sequence, vyre_timing *timing)
{
  IN_CONTEXT(target, target_work_run(target, sequence, timing));
}

/* Hooks that create something: if leaving the context fails, the new object is destroyed. */
static vyre_status
create(vyre_target *target, uint64_t size, void **out)
{
  VYRE_TRY(cuda_enter(target));
  vyre_status status = cuda_create(target, size, out), left = cuda_leave(target, status);
  return left && !status ? vyre_status_join(left, destroy(target, *out)) : left;
}

static vyre_status
import(vyre_target *target, void *data, uint64_t size, void **out)
{
  VYRE_TRY(cuda_enter(target));
  vyre_status status = cuda_import(target, data, size, out), left = cuda_leave(target, status);
  return left && !status ? vyre_status_join(left, destroy(target, *out)) : left;
}

static vyre_status
compile(vyre_target *target, const vyre_kernel_desc *desc, target_kernel **out)
{
  VYRE_TRY(cuda_enter(target));
  vyre_status status = cuda_compile(target, desc, out), left = cuda_leave(target, status);
  return left && !status ? vyre_status_join(left, release(target, *out)) : left;
}

static vyre_status
start(vyre_target *target, const vyre_sequence *sequence, void **out)
{
  vyre_timing timing = {0};
  VYRE_TRY(cuda_enter(target));
  vyre_status status = target_work_start(target, sequence, out), left = cuda_leave(target, status);
  return left && !status ? vyre_status_join(left, finish(target, *out, &timing)) : left;
}

/* ---- open and close ------------------------------------------------------------------------------------------------------ */

/* Destroys unused works, the control module and the context. */
static vyre_status
close_context(vyre_target *target)
{
  const bool is_there = target->context && !target->base.lost && !target->base.hangs;
  vyre_status status = is_there ? cuda_enter(target) : VYRE_OK;
  target_works_destroy(target);
  if (is_there && target->control)
    status = vyre_status_join(status, CUDA_CALL(target, cuModuleUnload, (target->control), "closing a target"));
  if (is_there)
    status = cuda_leave(target, status);
  target->control = NULL;
  target->control_prepare = target->control_end = NULL;
  cuda_context_close(target);
  return status;
}

static vyre_status
close_target(vyre_target *target)
{
  VYRE_FOREIGN_CALL;
  if (!target)
    return VYRE_OK;
  if (target->base.hangs)
    return VYRE_OK; /* running work uses everything until the process ends */
  const vyre_allocator allocator = target->base.allocator;
  vyre_status status = target_base_close(target);
  status = cuda_join_messages(target, vyre_status_join(status, close_context(target)));
  target_files_close(&target->files);
  target_shape_free(&target->base, &target->base.shape);
  if (!target->was_left)
    cuda_library_close(&target->library);
  vyre_release(&allocator, target, sizeof *target);
  return status;
}

/* Opens a new context. Objects of a hanging context are not freed. */
static vyre_status
reopen(vyre_target *target)
{
  target->was_left = target->was_left || target->base.hangs;
  vyre_status_free(close_context(target)); /* the context is lost, so every error is expected */
  target->base.hangs = false;
  vyre_status status = cuda_context_open(target);
  return status ? vyre_status_note(status,
                                   "the context was lost, and the driver cannot create a new one: the process must be restarted")
                : VYRE_OK;
}

static vyre_status
statistics(vyre_target *target, const target_kernel *kernel, void (*emit)(void *user, const vyre_kernel_figure *figure), void *user)
{
  IN_CONTEXT(target, cuda_statistics(target, kernel, emit, user));
}

static vyre_status
find_address(vyre_target *target, vyre_device_buffer buffer, uint64_t *out)
{
  target_lock(target);
  return target_unlock_with(target, cuda_find_address(target, buffer, out));
}

static vyre_status
count_resident(vyre_target *target, vyre_kernel handle, uint64_t *out_groups)
{
  VYRE_TRY(target_ready(target));
  if (!target_kernel_get(target, handle))
    return target_no_such_kernel(target, handle.id);
  const cuda_kernel *kernel = cuda_kernel_get(target, handle);
  *out_groups = kernel->text.has_grid_barriers ? kernel->most_blocks : UINT64_MAX;
  return VYRE_OK;
}

static vyre_status
resident(vyre_target *target, vyre_kernel handle, uint64_t *out_groups)
{
  target_lock(target);
  return target_unlock_with(target, count_resident(target, handle, out_groups));
}

static const target_hooks hooks = {
    .name = "cuda",
    .create = create,
    .destroy = destroy,
    .compile = compile,
    .release = release,
    .run = run,
    .check_kernel = cuda_check_kernel,
    .import = import,
    .start = start,
    .poll = poll,
    .finish = finish,
    .reopen = reopen,
    .statistics = statistics,
    .work = &cuda_works,
};

static vyre_status
open_parts(vyre_target *target, const vyre_target_options *options)
{
  target->base.statistics_only = options->statistics;
  VYRE_TRY(cuda_cache_open(target, options));
  VYRE_TRY(cuda_library_open(options, &target->library));
  VYRE_TRY(cuda_device_choose(&target->library, cuda_wanted_device(options), &target->choice));
  target->base.info = target->choice.info;
  cuda_cache_identify(target);
  target->validates = options->validate && target->library.messages;
  return cuda_context_open(target);
}

static vyre_status
open_target(const vyre_target_options *options, const vyre_allocator *allocator, vyre_target **out)
{
  VYRE_FOREIGN_CALL;
  *out = NULL;
  vyre_target_options o;
  VYRE_TRY(vyre_options_read(&o, sizeof o, options, "vyre_target_options"));
  const vyre_allocator own = allocator ? *allocator : *vyre_allocator_default();
  vyre_target *target = vyre_allocate(&own, sizeof *target);
  if (!target)
    return VYRE_OUT_OF_MEMORY("for a CUDA target");
  target_base_init(&target->base, &hooks, &own);
  target->base.timeout = o.timeout;
  target->base.is_shared = o.shared;
  target->most_iterations = CUDA_MOST_ITERATIONS;
  target_call_begin(hooks.name, "", VYRE_DRIVER_OPENS, "");
  vyre_status status = open_parts(target, &o);
  target_call_end();
  if (status)
    return vyre_status_join(status, close_target(target));
  *out = target;
  return VYRE_OK;
}

typedef struct listing {
  void (*emit)(void *user, const vyre_device_info *info);
  void *user;
} listing;

static void
emit_info(void *user, const cuda_device_choice *choice)
{
  const listing *l = user;
  l->emit(l->user, &choice->info);
}

static vyre_status
list_devices(const vyre_target_options *options, void (*emit)(void *user, const vyre_device_info *info), void *user)
{
  VYRE_FOREIGN_CALL;
  vyre_target_options o;
  VYRE_TRY(vyre_options_read(&o, sizeof o, options, "vyre_target_options"));
  cuda_library library;
  listing l = {emit, user};
  VYRE_TRY(cuda_library_open(&o, &library));
  vyre_status status = cuda_devices_emit(&library, emit_info, &l);
  cuda_library_close(&library);
  return status;
}

const vyre_target_ops vyre_target_cuda = {
    .struct_size = sizeof(vyre_target_ops),
    .name = "cuda",
    .open = open_target,
    .close = close_target,
    TARGET_OPERATIONS,
    .list = list_devices,
    .address = find_address,
    .import = locked_import,
    .summary = "PTX on an NVIDIA GPU",
    .hangs = target_hangs,
    .resident = resident,
};
