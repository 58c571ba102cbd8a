/* Estimates costs, and chooses the CPU or the device for a sequence.  choose.h describes the estimate.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "choose.h"
#include "base/clock.h"

#include "passmgr/registry/context.h"
#include "base/grow.h"
#include "phases.h"
#include "plan.h"
#include "sequence_parts.h"

#include <string.h>

enum {
  PLAIN_ROW = 40,         /* ns per row for a pass that has not run on the CPU yet */
  LEVELS_ROW = 7,         /* ns per row for levels, which plain C does not need: bench/README.md */
  WORTH_ASKING = 1000000, /* ns on the CPU, below which a sequence runs there without asking for a device */
  OPENING = 100000000,    /* ns of such sequences after which a device is opened, because opening takes about as long */
  REPEATED = 3,           /* estimated iterations of `repeat while` */
  REPEATED_IN_LEVELS = 1, /* estimated iterations of `repeat while` in levels, which have few rows */
  TRANSFER = 4 << 20,     /* bytes of a measured transfer */
  VISITED = 1 << 18,      /* rows of the measured kernel */
  LAUNCHED = 64,          /* kernels of the measured launches */
  HEAVY = 8               /* estimated work of a phase as a multiple of the measured kernel's, until a sequence has run */
};

/* ---- the work of a sequence ---------------------------------------------------------------------------------------------- */

typedef struct counting {
  const vyre_phases *phases;
  const vyre_phase_kernels *kernels;
  const plan_rows *rows;
  uint32_t levels;
  device_work *work;
} counting;

/* Returns the dispatches of a directed phase, or of levels with `turns` kernels a level. */
static double
count_launches(const counting *c, const vyre_phase_kernel *by_program, double turns)
{
  if (!c->rows->by_program || !by_program->code)
    return turns * c->levels;
  return (c->levels + PLAN_LEVELS_AT_ONCE - 1) / PLAN_LEVELS_AT_ONCE;
}

/* Returns the number of kernels a level.  Each iteration of `repeat while` ends with a compare. */
static double
count_turns(const vyre_phases *phases, uint32_t first, uint32_t end)
{
  double turns = 0;
  for (uint32_t i = first; i < end; i++) {
    const vyre_phase_step *step = &phases->steps[i];
    if (step->kind == VYRE_STEP_RUN) {
      turns++;
      continue;
    }
    const double inner = count_turns(phases, i + 1, step->end);
    turns += step->kind == VYRE_STEP_REPEAT ? inner * step->times : (inner + 1) * REPEATED_IN_LEVELS;
    i = step->end - 1;
  }
  return turns;
}

static void
count_steps(const counting *c, uint32_t first, uint32_t end, double times)
{
  const double rows = c->rows->view->rows;
  for (uint32_t i = first; i < end; i++) {
    const vyre_phase_step *step = &c->phases->steps[i];
    if (step->kind == VYRE_STEP_RUN) {
      const bool flat = c->phases->phases[step->phase].direction == VYRE_DIRECTION_FLAT;
      c->work->launches += times * (flat ? 1 : count_launches(c, &c->kernels->programs[step->phase], 1));
      c->work->visits += times * rows;
      continue;
    }
    if (step->kind == VYRE_STEP_LEVELS) {
      const double turns = count_turns(c->phases, i + 1, step->end);
      c->work->launches += times * count_launches(c, &c->kernels->levels[i], turns);
      c->work->visits += times * turns * rows;
    } else {
      const bool is_while = step->kind == VYRE_STEP_REPEAT_WHILE;
      count_steps(c, i + 1, step->end, times * (is_while ? REPEATED : step->times));
      c->work->launches += is_while ? times * REPEATED : 0;
    }
    i = step->end - 1;
  }
}

/* Returns whether the order with the key is on the device since the last sequence. */
static bool
has_order(const vyre_device *device, vyre_module *module, const uint32_t *key)
{
  const uint64_t generation = vyre_module_generation(module, key);
  bool has = false;
  for (uint32_t i = 0; i < device->order_count; i++)
    has = has || (generation && device->orders[i].generation == generation && device->orders[i].epoch == device->epoch);
  return has;
}

/* Returns the number of orders that are uploaded: by levels of operands and by depth. */
static uint32_t
count_orders(const vyre_device *device, const vyre_pass_record *const *passes, uint32_t count, vyre_module *module)
{
  const vyre_view *view = vyre_module_view(module);
  bool by_level = false, by_depth = false;
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t k = 0; k < passes[i]->pass.phases->phase_count; k++) {
      const uint32_t direction = passes[i]->pass.phases->phases[k].direction;
      by_level |= direction == VYRE_DIRECTION_UP || direction == VYRE_DIRECTION_DOWN;
      by_depth |= direction == VYRE_DIRECTION_INWARD || direction == VYRE_DIRECTION_OUTWARD;
    }
  by_level = by_level && !has_order(device, module, view->level);
  by_depth = by_depth && !has_order(device, module, view->depth);
  return (uint32_t)by_level + (uint32_t)by_depth;
}

/* Counts each uploaded column once, each order, and each column that is read back.  The masks have a bit for each field of
 * vyre_view. */
static void
count_bytes(const vyre_device *device, const vyre_pass_record *const *passes, uint32_t count, vyre_module *module,
            device_work *work)
{
  const vyre_view *view = vyre_module_view(module);
  const uint32_t rows = view->rows;
  uint64_t up = 0, down = 0;
  for (uint32_t i = 0; i < count; i++) {
    const vyre_phases *phases = passes[i]->pass.phases;
    for (uint32_t k = 0; k < phases->memory_count; k++) {
      const uint64_t bit = UINT64_C(1) << passes[i]->sources[k].column / sizeof(uint32_t *);
      if (phases->memory[k].kind != VYRE_MEMORY_COLUMN)
        continue;
      up |= passes[i]->sources[k].provides ? 0 : bit;
      down |= vyre_phases_write(phases, k) ? bit : 0;
    }
  }
  for (uint32_t i = 0; i < device->column_count && device->rows == rows; i++) {
    const device_column *held = &device->columns[i];
    const uint32_t *column;
    memcpy(&column, (const char *)view + held->column, sizeof column);
    if (column && held->generation == vyre_module_generation(module, column))
      up &= ~(UINT64_C(1) << held->column / sizeof(uint32_t *));
  }
  work->bytes_up =
      (double)((uint32_t)__builtin_popcountll(up) + count_orders(device, passes, count, module)) * rows * sizeof(uint32_t);
  work->bytes_down = (double)__builtin_popcountll(down) * rows * sizeof(uint32_t);
}

/* Counts the phases of the passes, and for each of several rounds a comparison and a copy of the columns (rounds.c). */
static void
count_work(vyre_device *device, const choice *what, const plan_rows *rows, uint32_t levels)
{
  const vyre_pass_record *const *passes = what->passes;
  const uint32_t count = what->count, comparisons = what->rounds > 1 ? 2 * what->rounds : 0;
  device->asked.launches = comparisons;
  device->asked.visits = (double)comparisons * rows->view->rows;
  for (uint32_t i = 0; i < count; i++) {
    const vyre_phases *phases = passes[i]->pass.phases;
    const counting c = {phases, vyre_phases_kernels(phases, device->info.forms), rows, levels, &device->asked};
    const double launches = device->asked.launches;
    count_steps(&c, 0, phases->step_count, 1);
    if (vyre_plan_runs_whole(rows, &(plan_pass){.phases = phases, .kernels = c.kernels}))
      device->asked.launches = launches + 1;
  }
}

/* Returns the estimated nanoseconds of the last sequence without its visits. */
static double
overhead_of(const vyre_device *device)
{
  const device_costs *c = &device->costs;
  const device_work *w = &device->asked;
  return c->wait + c->launch * w->launches + c->byte_up * w->bytes_up + c->byte_down * w->bytes_down;
}

/* ---- constants ----------------------------------------------------------------------------------------------------------- */

/* Measures the shortest of five submissions. */
static vyre_status
time_sequence(vyre_device *device, const vyre_sequence *what, double *out)
{
  for (uint32_t i = 0; i < 5; i++) {
    const uint64_t start = clock_now();
    VYRE_TRY(device->ops->submit(device->target, what, NULL));
    const double ns = (double)(clock_now() - start);
    *out = i == 0 || ns < *out ? ns : *out;
  }
  return VYRE_OK;
}

static double
excess_of(double ns, double base, double parts)
{
  return ns > base ? (ns - base) / parts : 0;
}

/* Measures compare.vir.  The arena begins with zeros, a head of three memories, and the counter.  The two side columns follow. */
static vyre_status
measure_kernels(vyre_device *device)
{
  enum { HEAD = 2, COUNTED = 8, FIRST = 16 };
  device_costs *costs = &device->costs;
  const vyre_phase_kernels *kernels = vyre_phases_kernels(&compare_phases, device->info.forms);
  const uint32_t head = vyre_phases_head_words(&compare_phases, kernels);
  const uint32_t push_size = (uint32_t)((DEVICE_PUSH_ROWS + head) * sizeof(uint32_t));
  uint32_t words[FIRST] = {0}, push[2][FIRST] = {{HEAD, 1, 1}, {HEAD, 1, VISITED - 1}};
  for (uint32_t i = 0, at = FIRST; i < compare_phases.memory_count; i++) {
    const bool is_counted = compare_phases.memory[i].kind == VYRE_MEMORY_TABLE;
    words[HEAD + 2 * i] = is_counted ? COUNTED : at;
    words[HEAD + 2 * i + 1] = is_counted ? 1 : VISITED;
    at += is_counted ? 0 : VISITED;
  }
  for (uint32_t i = 0; i < 2; i++)
    memcpy(&push[i][DEVICE_PUSH_ROWS], &words[HEAD], head * sizeof(uint32_t));
  const vyre_range whole[2] = {{.buffer = device->arena}, {.buffer = device->arena}};
  const vyre_upload upload = {{device->arena, 0, sizeof words}, words};
  vyre_step steps[LAUNCHED];
  for (uint32_t i = 0; i < LAUNCHED; i++)
    steps[i] = (vyre_step){.buffers = whole, .buffer_count = 2, .push = push[0], .push_size = push_size, .groups = {1, 1, 1}};
  VYRE_TRY(vyre_device_kernel(device, &kernels->rows[0], kernels->form, false, push_size, "(measure)", &steps[0].kernel));
  for (uint32_t i = 1; i < LAUNCHED; i++)
    steps[i].kernel = steps[0].kernel;
  double ns;
  VYRE_TRY(
      time_sequence(device, &(vyre_sequence){.uploads = &upload, .upload_count = 1, .steps = steps, .step_count = LAUNCHED}, &ns));
  costs->launch = excess_of(ns, costs->wait, LAUNCHED);
  steps[0].push = push[1];
  steps[0].groups[0] = VISITED / DEVICE_WORKGROUP;
  VYRE_TRY(time_sequence(device, &(vyre_sequence){.uploads = &upload, .upload_count = 1, .steps = steps, .step_count = 1}, &ns));
  costs->visit = HEAVY * excess_of(ns, costs->wait + costs->launch, VISITED);
  return VYRE_OK;
}

static vyre_status
measure_costs(vyre_device *device)
{
  device_costs *costs = &device->costs;
  double ns;
  VYRE_TRY(vyre_device_reserve(device, TRANSFER));
  char *bytes = vyre_allocate(&device->allocator, TRANSFER);
  if (!bytes)
    return VYRE_OUT_OF_MEMORY("to measure a device");
  const vyre_range word = {device->arena, 0, sizeof(uint32_t)}, all = {device->arena, 0, TRANSFER};
  vyre_status status = time_sequence(device, &(vyre_sequence){.reads = &(vyre_read){word, bytes}, .read_count = 1}, &costs->wait);
  if (!status)
    status = time_sequence(device, &(vyre_sequence){.uploads = &(vyre_upload){all, bytes}, .upload_count = 1}, &ns);
  if (!status) {
    costs->byte_up = excess_of(ns, costs->wait, TRANSFER);
    status = time_sequence(device, &(vyre_sequence){.reads = &(vyre_read){all, bytes}, .read_count = 1}, &ns);
  }
  if (!status) {
    costs->byte_down = excess_of(ns, costs->wait, TRANSFER);
    status = measure_kernels(device);
  }
  vyre_release(&device->allocator, bytes, TRANSFER);
  return status;
}

/* ---- the device ---------------------------------------------------------------------------------------------------------- */

/* Returns whether the device is usable, and measures its costs.  The CPU target is not usable.  Other devices that are the CPU or a
 * simulator are never faster, so the options must name them. */
static bool
is_usable(vyre_device *device)
{
  const bool is_processor = device->info.kind == VYRE_DEVICE_CPU || (device->info.capabilities & VYRE_TARGET_EMULATED);
  if (device->threads || !vyre_phases_kernels(&compare_phases, device->info.forms) || (is_processor && !device->options.device))
    return false;
  vyre_status status = measure_costs(device);
  vyre_status_free(status);
  return !status;
}

/* Opens the first usable device.  It is not an error if there is none. */
static void
open_first_usable(vyre_device *device)
{
  device->is_tried = true;
  for (const vyre_target_ops *const *at = device->choices; *at && !device->ops; at++) {
    vyre_status status = vyre_device_open_target(device, *at);
    if (!status && !is_usable(device))
      status = vyre_device_close_target(device);
    vyre_status_free(status);
  }
}

/* ---- the choice ---------------------------------------------------------------------------------------------------------- */

static device_plain *
find_plain(const vyre_device *device, const vyre_pass_record *record)
{
  for (uint32_t i = 0; i < device->plain_count; i++)
    if (device->plain[i].record == record)
      return &device->plain[i];
  return NULL;
}

static double
cost_here(const vyre_device *device, const choice *what, uint32_t rows)
{
  double ns = 0;
  for (uint32_t i = 0; i < what->count; i++) {
    const device_plain *plain = find_plain(device, what->passes[i]);
    ns += (plain ? plain->row : PLAIN_ROW) * rows;
  }
  return ns;
}

/* Returns the estimated nanoseconds of the passes on the device.  Stores their work for vyre_choose_learn_there. */
static double
cost_there(vyre_device *device, const choice *what, vyre_module *module, uint32_t levels, const plan_rows *rows)
{
  device->asked = (device_work){0};
  count_bytes(device, what->passes, what->count, module, &device->asked);
  count_work(device, what, rows, levels);
  return overhead_of(device) + device->costs.visit * device->asked.visits;
}

bool
vyre_choose_may(vyre_device *device, const choice *what, vyre_module *module, bool has_levels)
{
  const vyre_view *view = vyre_module_view(module);
  plan_rows rows = {.view = view, .most_iterations = device->info.max_iterations};
  const double here = cost_here(device, what, view->rows);
  if (here < WORTH_ASKING || (device->is_tried && !device->ops))
    return false;
  device->owed += device->is_tried ? 0 : here;
  if (!device->is_tried && device->owed >= OPENING)
    open_first_usable(device);
  bool may = device->ops && view->rows <= vyre_device_most_rows(device);
  for (uint32_t i = 0; i < what->count && may; i++)
    may = vyre_phases_kernels(what->passes[i]->pass.phases, device->info.forms) != NULL;
  if (!may)
    return false;
  vyre_plan_rows_count(&rows);
  return cost_there(device, what, module, 1, &rows) + (has_levels ? 0 : (double)LEVELS_ROW * view->rows) < here;
}

bool
vyre_choose(vyre_device *device, const choice *what, vyre_module *module)
{
  const vyre_view *view = vyre_module_view(module);
  plan_rows rows = {.view = view, .most_iterations = device->info.max_iterations};
  uint32_t levels = 0;
  vyre_plan_rows_count(&rows);
  for (uint32_t row = 1; row < view->rows; row++)
    levels = view->level[row] >= levels ? view->level[row] + 1 : levels;
  return vyre_plan_rows_fit(&rows) && cost_there(device, what, module, levels, &rows) < cost_here(device, what, view->rows);
}

void
vyre_choose_learn_here(vyre_device *device, const vyre_pass_record *record, uint32_t rows, uint64_t ns)
{
  device_plain *plain = find_plain(device, record);
  if (!plain) {
    if (!vyre_grow(&device->allocator, &device->plain, &device->plain_capacity, device->plain_count + 1, sizeof *device->plain))
      return;
    plain = &device->plain[device->plain_count++];
    plain->record = record;
  }
  plain->row = (double)ns / rows;
}

void
vyre_choose_learn_there(vyre_device *device, uint64_t ns)
{
  if (device->asked.visits > 0)
    device->costs.visit = excess_of((double)ns, overhead_of(device), device->asked.visits);
}
