/* Runs a sequence of passes.  sequence.h describes it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sequence.h"
#include "base/clock.h"

#include "base/grow.h"
#include "phases.h"
#include "sequence_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Iterations of a repeat in one submission to a device, where skipped iterations are not free.  Small repeats in levels have fewer,
 * because there are many of them.  bench/README.md has measurements. */
enum { MOST_ITERATIONS = 8, FEW_ITERATIONS = 4, FEW_ROWS = 1024 };

void *
sequence_allocate(const sequence *s, size_t count, size_t size)
{
  return s->ctx->host->alloc(s->ctx, (count ? count : 1) * size);
}

/* ---- memory -------------------------------------------------------------------------------------------------------------- */

static bool
is_shared(const vyre_phase_memory *memory)
{
  return memory->kind == VYRE_MEMORY_COLUMN || memory->kind == VYRE_MEMORY_FACT;
}

/* Returns the number of the round, from 0, that has the context with that index. */
static uint32_t
round_of(const sequence *s, uint32_t context)
{
  uint32_t round = 0;
  while (s->rounds && context >= s->rounds->ends[round])
    round++;
  return round;
}

/* Returns the number of the memory's block, which may be shared with another pass.  Returns UINT32_MAX if an allocation fails. */
static uint32_t
add_block(sequence *s, const vyre_context *context, uint32_t round, uint32_t index)
{
  const vyre_phase_memory *memory = &context->record->pass.phases->memory[index];
  const vyre_phase_source *source = &context->record->sources[index];
  vyre_c_buffer *buffer = &context->memory[index];
  const bool is_given = (context->given >> index & 1) != 0;
  const bool is_input = is_given && buffer->data && !vyre_phases_write(context->record->pass.phases, index);
  const bool is_unused =
      !s->rows.on_host && memory->kind == VYRE_MEMORY_SIDE && !vyre_phases_use(context->record->pass.phases, index);
  uint32_t at = s->block_count;
  if (s->rows.on_host && !buffer->data && buffer->bytes) {
    buffer->data = sequence_allocate(s, buffer->bytes, 1);
    if (!buffer->data)
      return UINT32_MAX;
  }
  for (uint32_t i = 0; i < s->block_count && (is_shared(memory) || is_input); i++)
    at = s->blocks[i].host == buffer->data ? i : at;
  if (at == s->block_count) {
    if (!vyre_grow(s->allocator, &s->blocks, &s->block_capacity, s->block_count + 1, sizeof *s->blocks))
      return UINT32_MAX;
    s->blocks[s->block_count++] =
        (sequence_block){.host = buffer->data,
                         .words = is_unused ? 0 : buffer->bytes / sizeof(uint32_t),
                         .is_constant = memory->kind == VYRE_MEMORY_FACT || memory->kind == VYRE_MEMORY_TABLE,
                         .column = memory->kind == VYRE_MEMORY_COLUMN ? source : NULL,
                         .is_kept = is_input,
                         .round = round,
                         .is_loss_of_versions = vyre_phases_is_loss(memory),
                         .start = memory->kind == VYRE_MEMORY_VERDICT ? UINT32_MAX : 0,
                         .is_uploaded = (memory->kind == VYRE_MEMORY_COLUMN && !source->provides) ||
                                        (is_given && memory->kind != VYRE_MEMORY_TABLE)};
  }
  const bool is_asked = memory->kind == VYRE_MEMORY_COUNTER || memory->kind == VYRE_MEMORY_VERDICT;
  s->blocks[at].is_read_back |=
      is_asked || (memory->kind == VYRE_MEMORY_COLUMN && vyre_phases_write(context->record->pass.phases, index) &&
                   !(s->rounds && source->provides));
  return at;
}

static bool
add_blocks(sequence *s, sequence_member *m)
{
  const uint32_t round = round_of(s, (uint32_t)(m - s->members));
  const vyre_phases *phases = m->pass.phases;
  uint32_t whiles = 0;
  m->whiles = vyre_plan_number_of_while(phases, phases->step_count);
  m->blocks = sequence_allocate(s, phases->memory_count, sizeof *m->blocks);
  m->counters = sequence_allocate(s, m->whiles, sizeof *m->counters);
  m->words = sequence_allocate(s, m->whiles, sizeof *m->words);
  if (!m->blocks || !m->counters || !m->words)
    return false;
  for (uint32_t i = 0; i < phases->memory_count; i++) {
    m->blocks[i] = add_block(s, m->context, round, i);
    if (m->blocks[i] == UINT32_MAX)
      return false;
  }
  for (uint32_t i = 0; i < phases->step_count; i++)
    if (phases->steps[i].kind == VYRE_STEP_REPEAT_WHILE)
      m->counters[whiles++] = m->blocks[phases->steps[i].memory];
  s->while_count += whiles;
  return true;
}

/* ---- the passes ---------------------------------------------------------------------------------------------------------- */

/* Checks each side column that has the levels of a step. */
static vyre_status
check_own_levels(const sequence *s, const sequence_member *m)
{
  const vyre_phases *phases = m->pass.phases;
  for (uint32_t i = 0; i < phases->step_count; i++) {
    const vyre_phase_step *step = &phases->steps[i];
    if (step->kind == VYRE_STEP_LEVELS && step->times && !vyre_plan_are_levels(s->rows.view, m->context->memory[step->memory].data))
      return VYRE_ERROR(VYRE_CODE_INPUT,
                        "pass '%s': `prepare` sets a row's level that is not above the levels of its operands" VYRE_PASS_FIX,
                        m->context->record->pass.name);
  }
  return VYRE_OK;
}

static void
divide_rows(sequence *s)
{
  s->rows.most_iterations = s->device->info.max_iterations;
  vyre_plan_rows_count(&s->rows);
  s->rows.on_host = s->device->threads > 0;
  if (s->rows.on_host)
    vyre_plan_rows_part(&s->rows, s->device->threads);
}

/* Makes the members, their blocks, and the orders that they use. */
static vyre_status
add_members(sequence *s, vyre_context *contexts)
{
  bool is_rewired = false, good = true;
  s->members = sequence_allocate(s, s->count, sizeof *s->members);
  if (!s->members)
    return VYRE_OUT_OF_MEMORY("for a sequence of passes");
  for (uint32_t i = 0; i < s->count && good; i++) {
    sequence_member *m = &s->members[i];
    m->context = &contexts[i];
    m->pass = (plan_pass){.phases = contexts[i].record->pass.phases, .memory = contexts[i].memory, .is_rewired = is_rewired};
    m->pass.kernels = s->rows.on_host ? NULL : vyre_phases_kernels(m->pass.phases, s->device->info.forms);
    is_rewired |= vyre_plan_writes_operands(m->pass.phases);
    VYRE_TRY(check_own_levels(s, m));
    good = add_blocks(s, m) && vyre_plan_add_orders(&s->plan, &m->pass);
  }
  return good ? VYRE_OK : VYRE_OUT_OF_MEMORY("for a sequence of passes");
}

/* ---- submissions --------------------------------------------------------------------------------------------------------- */

typedef struct submission {
  sequence *s;
  vyre_repeat *repeats;
  vyre_repeat_end *ends;
  uint64_t *iterations; /* so far, by repeat of the plan */
  uint64_t *step_ns;    /* nanoseconds of each step in the last submission; NULL without a report */
  bool is_begun;        /* fills and uploads are done */
  vyre_timing timing;   /* sum over all submissions */
} submission;

static void
add_timing(vyre_timing *to, const vyre_timing *from)
{
  to->waits += from->waits;
  to->launches += from->launches;
  to->bytes_up += from->bytes_up;
  to->bytes_down += from->bytes_down;
}

/* Returns the number of iterations after which a repeat counts as endless.  Each iteration should settle something for a row. */
static uint32_t
most_iterations(const sequence *s)
{
  return VYRE_PHASE_ITERATIONS + VYRE_PHASE_ITERATIONS_A_ROW * s->rows.view->rows; /* at most 2^28 rows: ir.h */
}

static uint32_t
iterations_at_once(const sequence *s, const plan_repeat *repeat)
{
  const plan_step *first = &s->plan.steps[repeat->first], *last = first + repeat->count - 2; /* before the compare */
  if (s->rows.on_host)
    return most_iterations(s);
  const bool in_levels = first->kind == PLAN_LIST && last->kind == PLAN_LIST;
  return in_levels && first->count < FEW_ROWS ? FEW_ITERATIONS : MOST_ITERATIONS;
}

/* Reports the time of each pass.  A device measures how long a step took, but not when.  So a step begins at the end of the step
 * before it. */
static void
report_steps(const submission *u, uint32_t first, uint32_t count, uint64_t start)
{
  const sequence *s = u->s;
  const plan_step *steps = s->plan.steps + first;
  for (uint32_t i = 0; i < count && u->step_ns;) {
    const vyre_context *context = s->members[steps[i].pass].context;
    const uint32_t pass = steps[i].pass;
    uint64_t took = 0;
    for (; i < count && steps[i].pass == pass; i++)
      took += u->step_ns[i];
    vyre_report_device_add(context->options.report, context->record->pass.name, start, took);
    start += took;
  }
}

/* Submits all steps from `first` on, and all repeats from `first_repeat` on, because earlier repeats are done.  Only the first
 * submission has uploads.  Every submission has readbacks, and the data of the last submission is final. */
static vyre_status
submit(submission *u, uint32_t first, uint32_t first_repeat)
{
  sequence *s = u->s;
  const plan *p = &s->plan;
  for (uint32_t i = first_repeat; i < p->repeat_count; i++)
    u->repeats[i] =
        (vyre_repeat){p->repeats[i].first - first, p->repeats[i].count, iterations_at_once(s, &p->repeats[i]), s->until[i]};
  const vyre_sequence what = {.fills = s->fills,
                              .fill_count = u->is_begun ? 0 : s->fill_count,
                              .uploads = s->uploads,
                              .upload_count = u->is_begun ? 0 : s->upload_count,
                              .steps = s->steps + first,
                              .step_count = p->step_count - first,
                              .reads = s->reads,
                              .read_count = s->read_count,
                              .repeats = u->repeats + first_repeat,
                              .repeat_count = p->repeat_count - first_repeat,
                              .ends = u->ends + first_repeat,
                              .step_ns = u->step_ns};
  vyre_timing timing;
  VYRE_TRY(s->device->ops->submit(s->device->target, &what, &timing));
  u->is_begun = true;
  add_timing(&u->timing, &timing);
  report_steps(u, first, what.step_count, timing.device_start_ns ? timing.device_start_ns : clock_now() - timing.device_ns);
  return VYRE_OK;
}

/* Returns the error of a `repeat while` of that number that does not end. */
static vyre_status
report_endless(const sequence *s, const sequence_member *m, uint32_t number)
{
  uint32_t step = 0;
  while (vyre_plan_number_of_while(m->pass.phases, step + 1) <= number)
    step++;
  return VYRE_ERROR(VYRE_CODE_INPUT, "pass '%s': its phases still add to counter '%.100s' in iteration %" PRIu32 VYRE_PASS_FIX,
                    m->context->record->pass.name, m->pass.phases->memory[m->pass.phases->steps[step].memory].name,
                    most_iterations(s));
}

static vyre_status
check_iterations(submission *u, uint32_t repeat)
{
  const plan_repeat *r = &u->s->plan.repeats[repeat];
  u->iterations[repeat] += u->ends[repeat].iterations;
  return u->iterations[repeat] < most_iterations(u->s) ? VYRE_OK : report_endless(u->s, &u->s->members[r->pass], r->number);
}

/* Checks the repeats that end on the device. */
static vyre_status
check_endless(const sequence *s)
{
  for (uint32_t i = 0; i < s->count && s->endless[1]; i++)
    if (s->members[i].head == s->endless[1] && s->members[i].whiles)
      return report_endless(s, &s->members[i], 0);
  return VYRE_OK;
}

/* Submits until all repeats are done.  A repeat that is not done ends its submission and begins the next one. */
static vyre_status
submit_until_done(submission *u)
{
  const plan *p = &u->s->plan;
  uint32_t repeat = 0, first = 0;
  for (;;) {
    VYRE_TRY(submit(u, first, repeat));
    while (repeat < p->repeat_count && u->ends[repeat].word == 0)
      repeat++;
    if (repeat == p->repeat_count)
      return VYRE_OK;
    VYRE_TRY(check_iterations(u, repeat));
    first = p->repeats[repeat].first;
  }
}

static uint64_t
held_words(const vyre_read *read)
{
  return (read->range.size + sizeof(uint64_t) - 1) / sizeof(uint64_t);
}

/* Submits all steps, and reads columns back late if the sequence is lazy.  If there may be several submissions, readbacks reach the
 * host's memory after the last one.  So if the device is lost, the sequence can restart from the host's memory. */
static vyre_status
submit_all(submission *u)
{
  sequence *s = u->s;
  vyre_device *device = s->device;
  uint64_t words = 0;
  if (s->rows.on_host || (s->plan.repeat_count == 0 && s->late_count == 0))
    return submit_until_done(u);
  vyre_read *reads = s->reads, *held = sequence_allocate(s, s->read_count, sizeof *held);
  for (uint32_t i = 0; i < s->read_count; i++)
    words += held_words(&reads[i]);
  if (!held || words > UINT32_MAX || !vyre_grow(&device->allocator, &device->held, &device->held_capacity, (uint32_t)words, 8))
    return VYRE_OUT_OF_MEMORY("for a sequence of passes");
  uint64_t *at = device->held;
  for (uint32_t i = 0; i < s->read_count; at += held_words(&reads[i]), i++)
    held[i] = (vyre_read){reads[i].range, at};
  s->reads = held;
  vyre_status status = submit_until_done(u);
  vyre_timing timing = {0};
  if (!status && s->late_count)
    status = vyre_readback_late(s, &timing);
  add_timing(&u->timing, &timing);
  for (uint32_t i = 0; i < s->read_count && !status; i++)
    memcpy(reads[i].data, held[i].data, reads[i].range.size);
  return status;
}

/* Marks the columns that the sequence writes in the host's memory, unless they are read back late. */
static void
mark_written(const sequence *s)
{
  for (uint32_t i = 0; i < s->block_count; i++)
    if (s->blocks[i].column && s->blocks[i].is_read_back && !s->is_lazy)
      vyre_module_mark_written(s->module, s->blocks[i].host);
}

/* Returns the first pass that uses levels which may be older than its operands, or NULL.  Passes with VYRE_PASS_ANY_ORDER do not
 * need levels. */
static const vyre_pass *
find_user_of_old_levels(const sequence *s)
{
  for (uint32_t i = 0; i < s->count; i++) {
    const vyre_pass *pass = &s->members[i].context->record->pass;
    if (!(pass->flags & VYRE_PASS_ANY_ORDER) && vyre_plan_uses_old_levels(&s->plan, &s->members[i].pass))
      return pass;
  }
  return NULL;
}

/* Checks that the levels are valid for the operands that rows have after the sequence. */
static vyre_status
check_old_levels(const sequence *s)
{
  const vyre_pass *pass = s->extent == SEQUENCE_READ_NONE ? NULL : find_user_of_old_levels(s);
  const vyre_view *view = s->rows.view;
  if (!pass || (s->extent == SEQUENCE_READ_LIST ? vyre_changes_are_levels(s) : vyre_plan_are_levels(view, view->level)))
    return VYRE_OK;
  return VYRE_ERROR(
      VYRE_CODE_INPUT,
      "pass '%s': its phases or those of an earlier pass changed operands, so the levels that it uses are no longer above "
      "those of all operands\nFix: move the pass before those that change operands",
      pass->name);
}

static void
report_transfers(const vyre_device *device, const vyre_timing *timing, vyre_report *to)
{
  if (device->threads)
    return;
  vyre_report_count_add(to, "(device)", "sequences", 1);
  vyre_report_count_add(to, "(device)", "host waits", timing->waits);
  vyre_report_count_add(to, "(device)", "kernels launched", timing->launches);
  vyre_report_count_add(to, "(device)", "bytes up", timing->bytes_up);
  vyre_report_count_add(to, "(device)", "bytes down", timing->bytes_down);
}

/* ---- all of it ----------------------------------------------------------------------------------------------------------- */

static vyre_status
run_plan(sequence *s, bool *out_fits)
{
  submission u = {.s = s};
  if (!s->rows.on_host) {
    vyre_readback_choose(s);
    vyre_changes_choose(s);
    VYRE_TRY(vyre_rounds_begin(s, out_fits));
    if (*out_fits)
      VYRE_TRY(vyre_arena_lay_out(s, out_fits));
  }
  if (!*out_fits)
    return VYRE_OK;
  if (s->changes.count)
    vyre_plan_add_own(&s->plan, PLAN_SAVE, 0, 0);
  if (s->turns.columns)
    vyre_plan_add_own(&s->plan, PLAN_COPY, 0, 0);
  for (uint32_t i = 0; i < s->count; i++) {
    vyre_plan_add(&s->plan, &s->members[i].pass, i);
    vyre_rounds_add_steps(s, i);
  }
  if (s->changes.count)
    vyre_plan_add_own(&s->plan, PLAN_PACK, s->count - 1, 0);
  u.repeats = sequence_allocate(s, s->plan.repeat_count, sizeof *u.repeats);
  u.ends = sequence_allocate(s, s->plan.repeat_count, sizeof *u.ends);
  u.iterations = sequence_allocate(s, s->plan.repeat_count, sizeof *u.iterations);
  u.step_ns = s->members[0].context->options.report && !s->rows.on_host
                  ? sequence_allocate(s, s->plan.step_count, sizeof *u.step_ns)
                  : NULL;
  if (s->plan.no_memory || !u.repeats || !u.ends || !u.iterations)
    return VYRE_OUT_OF_MEMORY("for a sequence of passes");
  VYRE_TRY(s->rows.on_host ? vyre_direct_build(s) : vyre_arena_build(s));
  mark_written(s);
  VYRE_TRY(submit_all(&u));
  VYRE_TRY(check_endless(s));
  VYRE_TRY(check_old_levels(s));
  vyre_rounds_end(s);
  report_transfers(s->device, &u.timing, s->members[0].context->options.report);
  return VYRE_OK;
}

/* Runs the sequence.  If the device is lost, the host's memory is unchanged. */
static vyre_status
run_once(vyre_device *device, vyre_context *contexts, uint32_t count, sequence_rounds *rounds, vyre_module *module, bool *out_fits)
{
  sequence s = {.device = device,
                .allocator = vyre_module_allocator(module),
                .module = module,
                .ctx = &contexts[0].base,
                .rows = {.view = vyre_module_view(module)},
                .count = count,
                .rounds = rounds};
  s.plan = (plan){.allocator = &device->allocator,
                  .rows = &s.rows,
                  .module = module,
                  .kept = device->orders,
                  .kept_count = device->order_count};
  *out_fits = true;
  if (s.rows.view->rows < 2)
    return VYRE_OK;
  divide_rows(&s);
  vyre_status status = add_members(&s, contexts);
  if (!status)
    status = run_plan(&s, out_fits);
  status = vyre_status_join(status, vyre_direct_end(&s));
  status = vyre_status_join(status, vyre_arena_end(&s, !status && *out_fits));
  vyre_release(s.allocator, s.blocks, s.block_capacity * sizeof *s.blocks);
  vyre_plan_free(&s.plan);
  return status;
}

/* Opens the lost device again and runs the sequence once more.  Frees `status`, the error of the first try, unless the device
 * cannot be opened. */
static vyre_status
run_again(vyre_device *device, vyre_context *contexts, uint32_t count, sequence_rounds *rounds, vyre_module *module,
          vyre_status status, bool *out_fits)
{
  vyre_status again = vyre_device_recover(device);
  if (again)
    return vyre_status_join(status, again);
  vyre_status_free(status);
  vyre_report_count_add(contexts[0].options.report, "(device)", "recoveries", 1);
  return vyre_status_note(run_once(device, contexts, count, rounds, module, out_fits),
                          "on a device that was lost in this sequence before, and opened again for a second try");
}

/* Closes a device that was chosen by cost and lost twice, with a remark. */
static vyre_status
close_lost_device(vyre_device *device, vyre_status status)
{
  char text[400];
  snprintf(text, sizeof text, "%s: the device '%s' was lost twice, so passes continue on the CPU", device->ops->name,
           device->info.name);
  if (device->options.remark)
    device->options.remark(device->options.remark_user, text);
  vyre_status_free(status);
  vyre_status_free(vyre_device_close_target(device));
  return VYRE_OK;
}

vyre_status
vyre_sequence_run(vyre_device *device, vyre_context *contexts, uint32_t count, sequence_rounds *rounds, vyre_module *module,
                  bool *out_fits)
{
  vyre_status status = run_once(device, contexts, count, rounds, module, out_fits);
  if (status && vyre_device_is_lost(device))
    status = run_again(device, contexts, count, rounds, module, status, out_fits);
  if (status && device->choices && vyre_device_is_lost(device)) {
    *out_fits = false;
    status = close_lost_device(device, status);
  }
  return vyre_context_own(&contexts[0].base, status);
}

vyre_status
vyre_sequence_fetch(vyre_device *device, vyre_module *module, uint32_t analyses, vyre_report *report, uint32_t *out_missing)
{
  vyre_timing timing = {0};
  vyre_status status = vyre_readback_pending(device, module, analyses, &timing, out_missing);
  if (!status) {
    vyre_report_count_add(report, "(device)", "host waits", timing.waits);
    vyre_report_count_add(report, "(device)", "bytes down", timing.bytes_down);
    return VYRE_OK;
  }
  if (!vyre_device_is_lost(device))
    return status;
  vyre_status again = vyre_device_recover(device);
  if (again && device->choices)
    return close_lost_device(device, vyre_status_join(status, again));
  if (again)
    return vyre_status_join(status, again);
  vyre_status_free(status);
  vyre_report_count_add(report, "(device)", "recoveries", 1);
  return VYRE_OK;
}
