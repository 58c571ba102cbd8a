/* Runs a sequence on the CPU: its entries one after the other, in the call that submits it.
 *
 * The workgroups of a compiled kernel are divided into ranges, which the threads share. Results do not depend on the assignment:
 * kernels may not depend on the order of workgroups, and an in_order kernel is one range. The interpreter's atomics are plain
 * loads and stores, so a .vir program runs on one thread.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cpu.h"

#include "vyre/run.h"

#include <inttypes.h>
#include <string.h>

enum { INVOCATIONS_A_PART = 4096 }; /* fewer are not worth waking a thread */

typedef struct cpu_submission {
  vyre_target *target;
  const vyre_sequence *sequence;
  vyre_timing *timing;
  uint64_t deadline;     /* by clock_now, or 0 if there is none */
  vyre_repeat_end *ends; /* owned; written to the caller at the end */
  uint64_t *step_ns;     /* owned; the same, or NULL if the caller has none */
} cpu_submission;

static unsigned char *
bytes_at(const vyre_target *target, const vyre_range *range, uint64_t *out_size)
{
  const target_buffer *buffer = target_buffer_get(target, range->buffer);
  const cpu_memory *memory = buffer->memory;
  *out_size = target_range_size(buffer, range);
  return memory->data + range->offset;
}

static uint32_t
word_at(const vyre_target *target, const vyre_range *range, uint32_t index)
{
  uint64_t size;
  uint32_t word;
  memcpy(&word, bytes_at(target, range, &size) + index * sizeof word, sizeof word);
  return word;
}

/* ---- compiled kernels ---------------------------------------------------------------------------------------------------- */

/* A range of workgroups for one thread. */
typedef struct cpu_part {
  uint64_t first, count;
  uint32_t fault;
} cpu_part;

/* The parts of a grid. */
typedef struct cpu_parts {
  const cpu_kernel *kernel;
  const uint32_t *groups;
  uint32_t count;
  cpu_part parts[CPU_MOST_PARTS];
} cpu_parts;

static void
run_part(void *user, uint32_t number)
{
  cpu_parts *all = user;
  cpu_part *part = &all->parts[number];
  const vyre_c_dispatch dispatch = {
      {all->groups[0], all->groups[1], all->groups[2]}, part->first, part->count, all->kernel->buffers};
  part->fault = all->kernel->function.run(&dispatch);
}

static uint32_t
count_parts(const vyre_target *target, const cpu_kernel *kernel, uint64_t groups)
{
  const uint32_t threads = cpu_pool_threads(target->pool), *size = kernel->base.workgroup;
  const uint64_t in_group = (uint64_t)size[0] * size[1] * size[2];
  const uint64_t worth = in_group >= INVOCATIONS_A_PART ? groups : groups / (INVOCATIONS_A_PART / (in_group ? in_group : 1));
  if (threads == 1 || worth < 2 || kernel->function.in_order)
    return 1;
  return worth < 4 * threads ? (uint32_t)worth : 4 * threads;
}

/* Binds the step's ranges. The buffer of a slot with several descriptors is an array of vyre_c_buffer. */
static void
bind_buffers(const vyre_target *target, cpu_kernel *kernel, const vyre_step *step)
{
  uint32_t range = 0;
  for (uint32_t i = 0; i < kernel->base.slot_count; i++) {
    const vyre_kernel_slot *slot = &kernel->base.slots[i];
    const uint32_t count = target_slot_count(slot), first = range;
    if (slot->kind == VYRE_SLOT_PUSH) {
      kernel->buffers[i] = (vyre_c_buffer){kernel->push, kernel->base.push_size};
      continue;
    }
    for (; range < first + count; range++) {
      uint64_t size;
      kernel->elements[range].data = bytes_at(target, &step->buffers[range], &size);
      kernel->elements[range].bytes = (size_t)size;
    }
    kernel->buffers[i] = count == 1 ? kernel->elements[first] : (vyre_c_buffer){&kernel->elements[first], count};
  }
}

static vyre_status
run_parts(cpu_submission *s, cpu_parts *all)
{
  cpu_pool_run(s->target->pool, all->count, run_part, all);
  for (uint32_t i = 0; i < all->count; i++)
    if (all->parts[i].fault)
      return VYRE_ERROR(VYRE_CODE_INPUT,
                        "cpu: kernel '%s' stopped at fault %" PRIu32
                        ": a trap, or a barrier that only a part of a workgroup reached\n"
                        "Fix: find the comment with this number in the kernel's C, and avoid this path",
                        all->kernel->base.label, all->parts[i].fault);
  return VYRE_OK;
}

static vyre_status
run_function(cpu_submission *s, cpu_kernel *kernel, const vyre_step *step, const uint32_t groups[3], uint64_t first, uint64_t count)
{
  cpu_parts all; /* not initialized, because most of it is not used */
  all.kernel = kernel;
  all.groups = groups;
  all.count = count_parts(s->target, kernel, count);
  bind_buffers(s->target, kernel, step);
  for (uint32_t i = 0; i < all.count; i++) {
    const uint64_t end = first + count / all.count * (i + 1) + count % all.count * (i + 1) / all.count;
    const uint64_t start = i ? all.parts[i - 1].first + all.parts[i - 1].count : first;
    all.parts[i] = (cpu_part){start, end - start, 0};
  }
  return run_parts(s, &all);
}

/* ---- programs of .vir ---------------------------------------------------------------------------------------------------- */

static vyre_status
run_program(cpu_submission *s, cpu_kernel *kernel, const vyre_step *step, const uint32_t groups[3], uint64_t first, uint64_t count)
{
  const bool checks = s->target->validate;
  for (uint32_t i = 0; i < kernel->binding_count; i++) {
    const cpu_binding *from = &kernel->bindings[i];
    uint64_t size = kernel->base.push_size;
    void *data = from->range == UINT32_MAX ? (void *)kernel->push : bytes_at(s->target, &step->buffers[from->range], &size);
    kernel->bound[i] = (vyre_binding){{from->row}, data, (size_t)size, from->element};
  }
  const vyre_dispatch dispatch = {.program = {kernel->program.row},
                                  .groups = {groups[0], groups[1], groups[2]},
                                  .bindings = kernel->bound,
                                  .binding_count = kernel->binding_count,
                                  .specs = kernel->specs,
                                  .spec_count = kernel->spec_count,
                                  .first = first,
                                  .count = count};
  const vyre_interp_options options = {
      .struct_size = sizeof options, .subgroup = kernel->program.subgroup, .report_undefined = checks, .check_races = checks};
  return vyre_status_note(vyre_interp_run(kernel->program.module, &dispatch, &options, NULL), "cpu: in kernel '%s'",
                          kernel->base.label);
}

/* ---- steps --------------------------------------------------------------------------------------------------------------- */

/* Stores the groups of a step, or returns an error if an indirect step has too many. */
static vyre_status
read_groups(const cpu_submission *s, const target_kernel *kernel, const vyre_step *step, uint32_t groups[3])
{
  memcpy(groups, step->groups, sizeof step->groups);
  for (uint32_t k = 0; k < 3 && step->indirect.buffer.id; k++) {
    groups[k] = word_at(s->target, &step->indirect, k);
    if (groups[k] > step->groups[k])
      return VYRE_ERROR(VYRE_CODE_INPUT,
                        "cpu: kernel '%s': the buffer of indirect groups has %" PRIu32 " in %c, but the step allows %" PRIu32 "\n"
                        "Fix: write fewer groups into the buffer, or raise the step's groups",
                        kernel->label, groups[k], "xyz"[k], step -> groups[k]);
  }
  return VYRE_OK;
}

static vyre_status
run_step(cpu_submission *s, const vyre_step *step)
{
  cpu_kernel *kernel = (cpu_kernel *)(void *)target_kernel_get(s->target, step->kernel);
  uint32_t groups[3];
  VYRE_TRY(read_groups(s, &kernel->base, step, groups));
  const uint64_t all = (uint64_t)groups[0] * groups[1] * groups[2]; /* below 2^64: max_groups */
  const bool is_part = step->first || step->count;
  const uint64_t first = is_part ? step->first : 0, count = is_part ? step->count : all;
  if (all == 0 || count == 0)
    return VYRE_OK;
  if (kernel->base.push_size)
    memcpy(kernel->push, step->push, kernel->base.push_size);
  VYRE_TRY(kernel->form == VYRE_KERNEL_C ? run_function(s, kernel, step, groups, first, count)
                                         : run_program(s, kernel, step, groups, first, count));
  s->timing->launches++;
  if (s->deadline && clock_now() > s->deadline)
    return VYRE_ERROR(VYRE_CODE_DEVICE,
                      "cpu: the sequence did not finish within %" PRIu32 " seconds, in kernel '%s'\n"
                      "Fix: submit less work at once, or raise the timeout",
                      s->target->base.timeout, kernel->base.label);
  return VYRE_OK;
}

/* Returns the number of steps, from this one on, that are parts of one grid and may run at the same time. 1 means that the step
 * runs alone. */
static uint32_t
count_beside(const cpu_submission *s, const vyre_step *step, uint32_t most)
{
  const target_kernel *kernel = target_kernel_get(s->target, step->kernel);
  uint32_t count = 1;
  if (((const cpu_kernel *)(const void *)kernel)->form != VYRE_KERNEL_C || kernel->push_size || step->indirect.buffer.id)
    return 1;
  while (count < most && count < CPU_MOST_PARTS && step[count].beside && step[count].kernel.id == step->kernel.id &&
         !step[count].indirect.buffer.id && step[count].count &&
         memcmp(step[count].groups, step->groups, sizeof step->groups) == 0 &&
         memcmp(step[count].buffers, step->buffers, step->buffer_count * sizeof *step->buffers) == 0)
    count++;
  return step->count ? count : 1;
}

/* Runs each step as one part. So several threads can run an in_order kernel. */
static vyre_status
run_beside(cpu_submission *s, const vyre_step *steps, uint32_t count)
{
  cpu_kernel *kernel = (cpu_kernel *)(void *)target_kernel_get(s->target, steps->kernel);
  cpu_parts all; /* not initialized, because most of it is not used */
  all.kernel = kernel;
  all.groups = steps->groups;
  all.count = count;
  bind_buffers(s->target, kernel, steps);
  for (uint32_t i = 0; i < count; i++)
    all.parts[i] = (cpu_part){steps[i].first, steps[i].count, 0};
  s->timing->launches += count;
  return run_parts(s, &all);
}

static vyre_status
run_steps(cpu_submission *s, uint32_t first, uint32_t count)
{
  for (uint32_t i = first, together; i < first + count; i += together) {
    const vyre_step *step = &s->sequence->steps[i];
    together = count_beside(s, step, first + count - i);
    const uint64_t start = s->step_ns ? clock_now() : 0;
    VYRE_TRY(vyre_status_note(together > 1 ? run_beside(s, step, together) : run_step(s, step), "in step %" PRIu32, i));
    if (s->step_ns)
      s->step_ns[i] += clock_now() - start; /* steps that run together count for the first */
  }
  return VYRE_OK;
}

static vyre_status
run_repeat(cpu_submission *s, const vyre_repeat *repeat, vyre_repeat_end *end)
{
  const bool has_word = repeat->until.buffer.id != 0;
  while (end->iterations < repeat->times) {
    VYRE_TRY(run_steps(s, repeat->first, repeat->count));
    end->iterations++;
    if (!has_word)
      continue;
    end->word = word_at(s->target, &repeat->until, 0);
    if (end->word == 0)
      break;
  }
  return VYRE_OK;
}

/* Runs all steps. A repeat whose word is not 0 at its end stops the sequence. */
static vyre_status
run_all_steps(cpu_submission *s)
{
  const vyre_sequence *q = s->sequence;
  uint32_t at = 0;
  for (uint32_t i = 0; i < q->repeat_count; i++) {
    VYRE_TRY(run_steps(s, at, q->repeats[i].first - at));
    VYRE_TRY(vyre_status_note(run_repeat(s, &q->repeats[i], &s->ends[i]), "in repeat %" PRIu32, i));
    if (s->ends[i].word) /* unfinished, so later steps may not run */
      return VYRE_OK;
    at = q->repeats[i].first + q->repeats[i].count;
  }
  return run_steps(s, at, q->step_count - at);
}

/* ---- the sequence -------------------------------------------------------------------------------------------------------- */

static void
fill(const vyre_target *target, const vyre_fill *fill, vyre_timing *timing)
{
  uint64_t size;
  unsigned char *to = bytes_at(target, &fill->range, &size);
  for (uint64_t i = 0; i + sizeof fill->value <= size; i += sizeof fill->value)
    memcpy(to + i, &fill->value, sizeof fill->value);
  memcpy(to + (size & ~(uint64_t)3), &fill->value, size & 3);
  timing->bytes_filled += size;
}

static vyre_status
run_entries(cpu_submission *s)
{
  const vyre_sequence *q = s->sequence;
  uint64_t size;
  for (uint32_t i = 0; i < q->fill_count; i++)
    fill(s->target, &q->fills[i], s->timing);
  for (uint32_t i = 0; i < q->upload_count; i++) {
    unsigned char *to = bytes_at(s->target, &q->uploads[i].range, &size);
    memcpy(to, q->uploads[i].data, size);
    s->timing->bytes_up += size;
  }
  VYRE_TRY(run_all_steps(s));
  for (uint32_t i = 0; i < q->read_count; i++) {
    const unsigned char *from = bytes_at(s->target, &q->reads[i].range, &size);
    memcpy(q->reads[i].data, from, size);
    s->timing->bytes_down += size;
  }
  for (uint32_t i = 0; i < q->repeat_count; i++) {
    q->ends[i] = s->ends[i];
    s->timing->bytes_down += sizeof *q->ends;
  }
  if (s->step_ns)
    memcpy(q->step_ns, s->step_ns, sizeof *q->step_ns * q->step_count);
  return VYRE_OK;
}

/* Allocates the results, which are written only after the whole sequence succeeded. */
static vyre_status
allocate_results(cpu_submission *s, size_t ends, size_t times)
{
  const vyre_allocator *allocator = &s->target->base.allocator;
  if (ends) {
    s->ends = vyre_allocate(allocator, ends);
    if (!s->ends)
      return VYRE_OUT_OF_MEMORY("for the ends of repeats");
  }
  if (times) {
    s->step_ns = vyre_allocate(allocator, times);
    if (!s->step_ns)
      return VYRE_OUT_OF_MEMORY("for the times of steps");
  }
  return VYRE_OK;
}

vyre_status
cpu_run(vyre_target *target, const vyre_sequence *sequence, vyre_timing *timing)
{
  const vyre_allocator *allocator = &target->base.allocator;
  const uint64_t start = clock_now();
  const size_t ends = sizeof(vyre_repeat_end) * sequence->repeat_count,
               times = sequence->step_ns ? sizeof *sequence->step_ns * sequence->step_count : 0;
  cpu_submission s = {.target = target, .sequence = sequence, .timing = timing};
  s.deadline = target->base.timeout ? start + target->base.timeout * UINT64_C(1000000000) : 0;
  vyre_status status = allocate_results(&s, ends, times);
  status = status ? status : run_entries(&s);
  vyre_release(allocator, s.ends, ends);
  vyre_release(allocator, s.step_ns, times);
  timing->waits = timing->batches = 1;
  timing->device_start_ns = start;
  timing->device_ns = clock_now() - start;
  return status;
}
