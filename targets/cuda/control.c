/* Control memory: data of steps that the device reads and changes, for repeats with `until` and indirect steps.
 *
 * Each step has a vyre_ptx_dispatch (vyre/ptx.h) in the submission's control memory. Small kernels change the dispatches between
 * steps. Before an indirect step, a kernel copies the number of groups from the buffer. After an iteration, a kernel reads the
 * repeat's word, counts the iteration, and stops the repeat's steps if the word is 0. So iterations that were already enqueued do
 * nothing. If the word is not 0 after the last enqueued iteration, all later steps are stopped, and the host detects this in the
 * results. So a repeat needs one wait for each CUDA_MOST_ITERATIONS iterations.
 *
 * Control memory is uploaded before the steps and read after them:
 *
 *     stopped | fault | launches | - | for each repeat: iterations, word | padding to 16 bytes | for each step: vyre_ptx_dispatch
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cuda.h"

#include <inttypes.h>
#include <string.h>

enum { STOPPED, FAULT, LAUNCHES, HEAD_WORDS = 4, REPEAT_WORDS = 2, END_THREADS = 64 };

/* The parameters of the kernels in control_text.c. */
typedef struct prepare_task {
  uint64_t control, step, source;
  uint32_t number, most[3];
} prepare_task;

typedef struct end_task {
  uint64_t control, repeat, source, first, later;
  uint32_t count, later_count, is_last, unused;
} end_task;

_Static_assert(sizeof(vyre_ptx_dispatch) == 48 && offsetof(vyre_ptx_dispatch, stops) == 12 &&
                   offsetof(vyre_ptx_dispatch, count) == 24 && sizeof(prepare_task) == 40 && sizeof(end_task) == 56,
               "control_text.c has other offsets");

static uint64_t
repeat_offset(uint32_t repeat)
{
  return sizeof(uint32_t) * (HEAD_WORDS + REPEAT_WORDS * (uint64_t)repeat);
}

static uint64_t
step_offset(const vyre_sequence *sequence, uint32_t step)
{
  return (repeat_offset(sequence->repeat_count) + 15) / 16 * 16 + sizeof(vyre_ptx_dispatch) * (uint64_t)step;
}

uint64_t
cuda_control_size(const vyre_sequence *sequence)
{
  return step_offset(sequence, sequence->step_count);
}

cuda_address
cuda_control_dispatch(const cuda_submission *submission, uint32_t step)
{
  return submission->control + step_offset(&submission->work.sequence, step);
}

bool
cuda_has_dispatch(const vyre_target *target, const cuda_submission *submission, uint32_t index)
{
  const vyre_step *step = &submission->work.sequence.steps[index];
  const cuda_kernel *kernel = cuda_kernel_get(target, step->kernel);
  return index >= submission->work.first_controlled || step->indirect.buffer.id || step->count || kernel->text.has_grid_barriers ||
         kernel->text.has_faults;
}

/* ---- memory and kernels -------------------------------------------------------------------------------------------------- */

static vyre_status
load_kernels(vyre_target *target)
{
  if (!target->control)
    VYRE_TRY(cuda_module_load(target, "cuda's control", cuda_control_text, NULL, &target->control));
  VYRE_TRY(CUDA_CALL(target, cuModuleGetFunction, (&target->control_prepare, target->control, "vyre_control_prepare"),
                     "finding a control kernel"));
  return CUDA_CALL(target, cuModuleGetFunction, (&target->control_end, target->control, "vyre_control_end"),
                   "finding a control kernel");
}

vyre_status
cuda_control_ensure(vyre_target *target, cuda_submission *submission)
{
  const vyre_sequence *sequence = &submission->work.sequence;
  bool needs_kernels = false;
  for (uint32_t i = 0; i < sequence->step_count && !needs_kernels; i++)
    needs_kernels = sequence->steps[i].indirect.buffer.id != 0;
  for (uint32_t i = 0; i < sequence->repeat_count && !needs_kernels; i++)
    needs_kernels = sequence->repeats[i].until.buffer.id != 0;
  if (needs_kernels && !target->control_end)
    VYRE_TRY(load_kernels(target));
  const uint64_t size = cuda_control_size(sequence);
  if (size <= submission->control_size)
    return VYRE_OK;
  target_recorded_destroy_all(target, &submission->work); /* recordings contain its address */
  if (submission->control) {
    const cuda_address old = submission->control;
    target->bytes_staged -= submission->control_size;
    submission->control = 0;
    submission->control_size = 0;
    VYRE_TRY(cuda_memory_free(target, old));
  }
  VYRE_TRY(cuda_memory_allocate(target, 2 * size, &submission->control));
  submission->control_size = 2 * size;
  target->bytes_staged += 2 * size;
  return VYRE_OK;
}

/* ---- uploads ------------------------------------------------------------------------------------------------------------- */

static void
write_step(const vyre_step *step, vyre_ptx_dispatch *out)
{
  const uint64_t all = (uint64_t)step->groups[0] * step->groups[1] * step->groups[2];
  *out = (vyre_ptx_dispatch){
      .groups = {step->groups[0], step->groups[1], step->groups[2]},
      .first = step->first,
      .count = step->count ? step->count : all, /* of an indirect step until its groups are known */
  };
}

void
cuda_control_write(const vyre_target *target, cuda_submission *submission)
{
  const vyre_sequence *sequence = &submission->work.sequence;
  unsigned char *image = submission->up.host;
  const uint64_t size = cuda_control_size(sequence);
  (void)target;
  if (submission->work.is_first) {
    memset(image, 0, size);
    for (uint32_t i = 0; i < sequence->step_count; i++) {
      vyre_ptx_dispatch dispatch;
      write_step(&sequence->steps[i], &dispatch);
      memcpy(image + step_offset(sequence, i), &dispatch, sizeof dispatch);
    }
    return;
  }
  /* Continues a repeat, and lets it and all later steps run. */
  memcpy(image, submission->down.host, size);
  memset(image + STOPPED * sizeof(uint32_t), 0, sizeof(uint32_t));
  for (uint32_t i = submission->work.at.step; i < sequence->step_count; i++)
    memset(image + step_offset(sequence, i) + offsetof(vyre_ptx_dispatch, stops), 0, sizeof(uint32_t));
}

/* ---- commands ------------------------------------------------------------------------------------------------------------ */

static vyre_status
launch_control(vyre_target *target, cuda_submission *submission, cuda_function function, uint32_t threads, const void *task,
               uint32_t size)
{
  const cuda_launch launch = {
      .function = function, .grid = {1, 1, 1}, .block = {threads, 1, 1}, .data = task, .size = size, .parameter_count = 1};
  return cuda_enqueue_launch(target, submission, &launch, "cuda's control");
}

vyre_status
cuda_control_enqueue_prepare(vyre_target *target, cuda_submission *submission, uint32_t index)
{
  const vyre_step *step = &submission->work.sequence.steps[index];
  uint64_t size;
  const prepare_task task = {
      .control = submission->control,
      .step = cuda_control_dispatch(submission, index),
      .source = cuda_range_address(target, &step->indirect, &size),
      .number = index + 1,
      .most = {step->groups[0], step->groups[1], step->groups[2]},
  };
  return launch_control(target, submission, target->control_prepare, 1, &task, sizeof task);
}

vyre_status
cuda_control_enqueue_end(vyre_target *target, cuda_submission *submission, uint32_t index, bool is_last)
{
  const vyre_sequence *sequence = &submission->work.sequence;
  const vyre_repeat *repeat = &sequence->repeats[index];
  const uint32_t end = repeat->first + repeat->count;
  uint64_t size;
  const end_task task = {
      .control = submission->control,
      .repeat = submission->control + repeat_offset(index),
      .source = cuda_range_address(target, &repeat->until, &size),
      .first = cuda_control_dispatch(submission, repeat->first),
      .later = cuda_control_dispatch(submission, end),
      .count = repeat->count,
      .later_count = sequence->step_count - end,
      .is_last = is_last,
  };
  return launch_control(target, submission, target->control_end, END_THREADS, &task, sizeof task);
}

/* ---- results ------------------------------------------------------------------------------------------------------------- */

static uint32_t
word_read(const target_work *work, uint64_t offset)
{
  uint32_t word;
  memcpy(&word, (const char *)((const cuda_submission *)(const void *)work)->down.host + offset, sizeof word);
  return word;
}

vyre_repeat_end
cuda_control_repeat(const target_work *work, uint32_t repeat)
{
  const uint64_t offset = repeat_offset(repeat);
  return (vyre_repeat_end){word_read(work, offset), word_read(work, offset + sizeof(uint32_t))};
}

uint32_t
cuda_control_launches(const target_work *work)
{
  return word_read(work, LAUNCHES * sizeof(uint32_t));
}

vyre_status
cuda_control_status(const vyre_target *target, const cuda_submission *submission)
{
  const vyre_sequence *sequence = &submission->work.sequence;
  if (!submission->work.is_controlled)
    return VYRE_OK;
  const uint32_t wrong = word_read(&submission->work, FAULT * sizeof(uint32_t));
  if (wrong && wrong <= sequence->step_count)
    return target_too_many_groups(target, sequence, wrong - 1);
  for (uint32_t i = 0; i < sequence->step_count; i++) {
    const uint32_t fault = word_read(&submission->work, step_offset(sequence, i) + offsetof(vyre_ptx_dispatch, fault));
    if (fault)
      return vyre_status_note(VYRE_ERROR(VYRE_CODE_INPUT,
                                         "cuda: kernel '%s' stopped at a trap: fault %" PRIu32 " of its PTX text\n"
                                         "Fix: find the comment with this fault in the text, and avoid this path",
                                         target_kernel_get(target, sequence->steps[i].kernel)->label, fault),
                              "in step %" PRIu32, i);
  }
  return VYRE_OK;
}
