/* Checks the phases of a pass, and prepares and finishes their runs.  phases.h describes the functions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "phases.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

_Static_assert((int)VYRE_PHASE_SPIRV == (int)VYRE_KERNEL_SPIRV && (int)VYRE_PHASE_PTX == (int)VYRE_KERNEL_PTX,
               "vyre_phase_form must have the values of vyre_kernel_form");

enum {
  MOST_MEMORY = 64 /* bits of vyre_context.given */,
  MOST_STEPS = 1024,
  MOST_TIMES = 1024 /* product of nested repeats */,
  MOST_STRIDE = 16
};

/* ---- names --------------------------------------------------------------------------------------------------------------- */

static const struct {
  const char *name;
  uint32_t offset, analysis;
} columns[] = {
    {"op", offsetof(vyre_view, op), 0},
    {"imm", offsetof(vyre_view, imm), 0},
    {"imm_hi", offsetof(vyre_view, imm_hi), 0},
    {"a", offsetof(vyre_view, a), 0},
    {"b", offsetof(vyre_view, b), 0},
    {"c", offsetof(vyre_view, c), 0},
    {"parent", offsetof(vyre_view, parent), 0},
    {"prev", offsetof(vyre_view, prev), 0},
    {"next", offsetof(vyre_view, next), 0},
    {"first", offsetof(vyre_view, first), 0},
    {"last", offsetof(vyre_view, last), 0},
    {"version", offsetof(vyre_view, version), VYRE_VERSIONS},
    {"loop", offsetof(vyre_view, loop), VYRE_LOOPS},
    {"end", offsetof(vyre_view, end), VYRE_DOMINANCE},
    {"level", offsetof(vyre_view, level), VYRE_LEVELS},
    {"depth", offsetof(vyre_view, depth), VYRE_LEVELS},
    {"hash", offsetof(vyre_view, hash), VYRE_HASHES},
    {"canonical", offsetof(vyre_view, canonical), VYRE_CLASSES},
};

uint32_t
vyre_column_analysis(const char *name)
{
  uint32_t analysis = 0;
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    analysis |= strcmp(columns[i].name, name) == 0 ? columns[i].analysis : 0;
  return analysis;
}

bool
vyre_phases_write(const vyre_phases *phases, uint32_t memory)
{
  bool is = false;
  for (uint32_t i = 0; i < phases->phase_count; i++)
    for (uint32_t k = 0; k < phases->phases[i].use_count; k++)
      is = is || (phases->phases[i].uses[k] == memory && phases->phases[i].writes[k]);
  return is;
}

bool
vyre_phases_use(const vyre_phases *phases, uint32_t memory)
{
  bool does = false;
  for (uint32_t i = 0; i < phases->phase_count; i++)
    for (uint32_t k = 0; k < phases->phases[i].use_count; k++)
      does = does || phases->phases[i].uses[k] == memory;
  return does;
}

bool
vyre_phases_is_loss(const vyre_phase_memory *memory)
{
  return memory->kind == VYRE_MEMORY_COUNTER && memory->stride == 1 && strcmp(memory->name, "loses_versions") == 0;
}

/* Returns whether each phase has a kernel over rows. */
static bool
are_complete(const vyre_phase_kernels *kernels, uint32_t phases)
{
  bool are = kernels->rows && kernels->programs && kernels->levels;
  for (uint32_t i = 0; i < phases && are; i++)
    are = kernels->rows[i].code != NULL;
  return are;
}

const vyre_phase_kernels *
vyre_phases_kernels(const vyre_phases *phases, uint32_t forms)
{
  const uint32_t count = VYRE_HAS(vyre_phases, phases, kernels_count) && phases->kernels ? phases->kernels_count : 0;
  for (uint32_t i = 0; i < count; i++) {
    const vyre_phase_kernels *kernels = phases->kernels[i];
    if (kernels && VYRE_HAS(vyre_phase_kernels, kernels, levels) && kernels->version >= VYRE_PHASE_KERNELS_VERSION &&
        kernels->version <= VYRE_PHASE_KERNELS_PASS_HEAD && kernels->form < VYRE_KERNEL_FORM__COUNT &&
        (forms >> kernels->form & 1) && are_complete(kernels, phases->phase_count))
      return kernels;
  }
  return NULL;
}

uint32_t
vyre_phases_head_words(const vyre_phases *phases, const vyre_phase_kernels *kernels)
{
  return kernels->version == VYRE_PHASE_KERNELS_PASS_HEAD ? 2 * phases->memory_count : 0;
}

/* Fields of vyre_op_info that phases can read. */
#define FACTS(X) \
  X(flags) X(operands) X(klass) X(rule) X(fold) X(cost) X(mirrored) X(inverse) X(combines) X(compares) X(self) X(absorbs)

static const char *const fact_names[] = {
#define NAME(field) "op_" #field,
    FACTS(NAME)
#undef NAME
};

enum { FACT_COUNT = sizeof fact_names / sizeof *fact_names };

static uint32_t facts[FACT_COUNT][VYRE_OP__COUNT];
static pthread_once_t facts_once = PTHREAD_ONCE_INIT;

static void
make_facts(void)
{
  for (uint32_t op = 0; op < VYRE_OP__COUNT; op++) {
    uint32_t fact = 0;
#define FIELD(field) facts[fact++][op] = (uint32_t)vyre_op_infos[op].field;
    FACTS(FIELD)
#undef FIELD
  }
}

/* ---- the descriptor ------------------------------------------------------------------------------------------------------ */

static bool
resolve_memory(vyre_pass_record *record, uint32_t index)
{
  const vyre_phase_memory *memory = &record->pass.phases->memory[index];
  vyre_phase_source *out = &record->sources[index];
  *out = (vyre_phase_source){0};
  if (memory->kind <= VYRE_MEMORY_FACT && memory->stride != 1)
    return false;
  for (size_t i = 0; i < sizeof columns / sizeof *columns && memory->kind == VYRE_MEMORY_COLUMN; i++)
    if (strcmp(columns[i].name, memory->name) == 0) {
      out->column = columns[i].offset;
      out->analysis = columns[i].analysis;
      out->provides = columns[i].analysis & record->pass.provides;
      out->is_of_another = (columns[i].analysis & ~record->pass.provides) != 0;
      record->phase_analyses |= columns[i].analysis & ~record->pass.provides;
      return true;
    }
  for (; memory->kind == VYRE_MEMORY_FACT && out->fact < FACT_COUNT; out->fact++)
    if (strcmp(fact_names[out->fact], memory->name) == 0)
      return true;
  return memory->kind > VYRE_MEMORY_FACT && memory->kind <= VYRE_MEMORY_VERDICT && memory->stride <= MOST_STRIDE &&
         (memory->stride >= 1 || memory->kind == VYRE_MEMORY_SIDE || (memory->kind == VYRE_MEMORY_COUNTER && !memory->label));
}

static bool
is_phase_valid(const vyre_phases *phases, const vyre_phase *phase)
{
  if (!phase->name || !phase->rows || !phase->listed || phase->direction > VYRE_DIRECTION_OUTWARD ||
      phase->use_count > phases->memory_count || (phase->use_count && (!phase->uses || !phase->writes)))
    return false;
  for (uint32_t i = 0; i < phase->use_count; i++)
    if (phase->uses[i] >= phases->memory_count)
      return false;
  return true;
}

typedef struct step_walk {
  const vyre_phases *phases;
  bool in_levels, in_while;
  uint32_t direction; /* direction of the enclosing VYRE_STEP_LEVELS */
  uint64_t times;     /* product of the counts of the enclosing repeats */
} step_walk;

/* Returns the direction of the first phase among the steps, or FLAT if there is none. */
static uint32_t
first_direction(const vyre_phases *phases, uint32_t at, uint32_t end)
{
  while (at < end && phases->steps[at].kind != VYRE_STEP_RUN)
    at++;
  return at < end && phases->steps[at].phase < phases->phase_count ? phases->phases[phases->steps[at].phase].direction
                                                                   : VYRE_DIRECTION_FLAT;
}

/* Returns whether the steps from `at` to `end` are valid.  Levels contain no levels, and their phases have one direction.  `repeat
 * while` contains no `repeat while`, because a target's repeats do not nest (target.h). */
static bool
are_steps_valid(step_walk w, uint32_t at, uint32_t end)
{
  const vyre_phases *phases = w.phases;
  while (at < end) {
    const vyre_phase_step *step = &phases->steps[at];
    const bool is_levels = step->kind == VYRE_STEP_LEVELS, is_while = step->kind == VYRE_STEP_REPEAT_WHILE;
    if (step->kind == VYRE_STEP_RUN) {
      if (step->phase >= phases->phase_count || (w.in_levels && phases->phases[step->phase].direction != w.direction))
        return false;
      at++;
      continue;
    }
    if (step->kind > VYRE_STEP_REPEAT_WHILE || step->end <= at + 1 || step->end > end || (w.in_levels && is_levels) ||
        (w.in_while && is_while))
      return false;
    if (is_levels && step->times &&
        (step->memory >= phases->memory_count || phases->memory[step->memory].kind != VYRE_MEMORY_SIDE ||
         phases->memory[step->memory].stride != 1))
      return false;
    if (is_while && (step->memory >= phases->memory_count || phases->memory[step->memory].kind != VYRE_MEMORY_COUNTER ||
                     phases->memory[step->memory].stride == 0))
      return false;
    const uint32_t direction = is_levels ? first_direction(phases, at + 1, step->end) : w.direction;
    const uint64_t times = w.times * (step->kind == VYRE_STEP_REPEAT ? step->times : 1);
    if ((is_levels && direction == VYRE_DIRECTION_FLAT) || times > MOST_TIMES ||
        !are_steps_valid((step_walk){phases, w.in_levels || is_levels, w.in_while || is_while, direction, times}, at + 1,
                         step->end))
      return false;
    at = step->end;
  }
  return true;
}

bool
vyre_phases_resolve(vyre_pass_record *record, const char **out_why)
{
  const vyre_phases *phases = record->pass.phases;
  *out_why = "they are not as vyre-kernelc of this version makes them\nFix: build the plugin with this version's vyre-kernelc";
  if (phases->struct_size < offsetof(vyre_phases, kernels) || phases->memory_count > MOST_MEMORY ||
      phases->step_count > MOST_STEPS || !phases->memory || !phases->phases || !phases->steps)
    return false;
  for (uint32_t i = 0; i < phases->memory_count; i++)
    if (!phases->memory[i].name || !resolve_memory(record, i)) {
      *out_why = "they use memory that this host does not know\nFix: build the plugin with this version's vyre-kernelc";
      return false;
    }
  for (uint32_t i = 0; i < phases->phase_count; i++) {
    const vyre_phase *phase = &phases->phases[i];
    if (!is_phase_valid(phases, phase))
      return false;
    for (uint32_t k = 0; k < phase->use_count; k++) {
      const vyre_phase_source *source = &record->sources[phase->uses[k]];
      if (!phase->writes[k] || phases->memory[phase->uses[k]].kind != VYRE_MEMORY_COLUMN)
        continue;
      if (source->is_of_another) {
        *out_why = "they write a column that the pass does not make\nFix: name it in the pass's `provides`, too";
        return false;
      }
      record->phases_write |= !source->provides;
    }
  }
  for (uint32_t i = 0; i < phases->step_count; i++)
    record->phase_analyses |= phases->steps[i].kind == VYRE_STEP_LEVELS && phases->steps[i].times == 0 ? VYRE_LEVELS : 0;
  return are_steps_valid((step_walk){.phases = phases, .times = 1}, 0, phases->step_count);
}

/* ---- a run ---------------------------------------------------------------------------------------------------------------- */

/* Returns whether `prepare` chooses the number of words. */
static bool
has_any_size(const vyre_phase_memory *memory)
{
  return memory->kind == VYRE_MEMORY_TABLE || memory->stride == 0;
}

/* Returns whether the memory has the levels of a step.  The host reads such levels before the phases run. */
static bool
holds_levels(const vyre_phases *phases, uint32_t index)
{
  bool does = false;
  for (uint32_t i = 0; i < phases->step_count; i++)
    does |= phases->steps[i].kind == VYRE_STEP_LEVELS && phases->steps[i].times && phases->steps[i].memory == index;
  return does;
}

/* Sets the memory's data and size.  A side column without levels gets memory only on request, because a device fills it with 0. */
static bool
set_memory(vyre_context *context, const vyre_view *view, uint32_t index)
{
  const vyre_phase_memory *memory = &context->record->pass.phases->memory[index];
  const vyre_phase_source *source = &context->record->sources[index];
  vyre_c_buffer *buffer = &context->memory[index];
  buffer->bytes = memory->kind == VYRE_MEMORY_FACT   ? sizeof *facts
                  : has_any_size(memory)             ? 0
                  : memory->kind <= VYRE_MEMORY_SIDE ? (size_t)view->rows * memory->stride * sizeof(uint32_t)
                                                     : sizeof(uint32_t);
  if (memory->kind == VYRE_MEMORY_FACT) {
    buffer->data = facts[source->fact];
  } else if (source->provides) {
    uint32_t *column = context->base.host->column(&context->base, source->provides);
    if (column)
      column[0] = 0; /* the null row's element */
    buffer->data = column;
  } else if (memory->kind == VYRE_MEMORY_COLUMN) {
    memcpy(&buffer->data, (const char *)view + source->column, sizeof buffer->data);
  } else if (memory->kind == VYRE_MEMORY_SIDE && !holds_levels(context->record->pass.phases, index)) {
    return true;
  } else if (buffer->bytes) {
    buffer->data = context->base.host->alloc(&context->base, buffer->bytes);
    if (buffer->data && memory->kind == VYRE_MEMORY_VERDICT)
      memset(buffer->data, 0xff, buffer->bytes);
  }
  return buffer->data || buffer->bytes == 0;
}

static bool
set_memories(vyre_context *context, const vyre_view *view)
{
  const vyre_phases *phases = context->record->pass.phases;
  context->memory = context->base.host->alloc(&context->base, phases->memory_count * sizeof *context->memory);
  pthread_once(&facts_once, make_facts);
  for (uint32_t i = 0; i < phases->memory_count && context->memory; i++)
    if (!set_memory(context, view, i))
      return false;
  return context->memory != NULL;
}

vyre_status
vyre_phases_begin(vyre_context *context, const vyre_module *module)
{
  const vyre_pass *pass = &context->record->pass;
  vyre_pass_ctx *ctx = &context->base;
  if (!set_memories(context, vyre_module_view(module)))
    return ctx->host->out_of_memory(ctx);
  return pass->prepare ? pass->prepare(ctx, module) : VYRE_OK;
}

vyre_status
vyre_phases_begin_again(vyre_context *context, const vyre_context *first)
{
  const vyre_phases *phases = context->record->pass.phases;
  vyre_pass_ctx *ctx = &context->base;
  context->memory = ctx->host->alloc(ctx, phases->memory_count * sizeof *context->memory);
  for (uint32_t i = 0; i < phases->memory_count && context->memory; i++) {
    const uint32_t kind = phases->memory[i].kind;
    vyre_c_buffer *buffer = &context->memory[i];
    *buffer = first->memory[i];
    if (kind < VYRE_MEMORY_COUNTER || buffer->bytes == 0)
      continue;
    buffer->data = ctx->host->alloc(ctx, buffer->bytes);
    if (!buffer->data)
      return ctx->host->out_of_memory(ctx);
    memcpy(buffer->data, first->memory[i].data, buffer->bytes);
  }
  context->given = first->given;
  return context->memory ? VYRE_OK : ctx->host->out_of_memory(ctx);
}

/* Adds the labelled counters to the report. */
static vyre_result
report_counters(const vyre_context *context)
{
  const vyre_phases *phases = context->record->pass.phases;
  vyre_result result = VYRE_UNCHANGED;
  for (uint32_t i = 0; i < phases->memory_count; i++) {
    const vyre_phase_memory *memory = &phases->memory[i];
    if (memory->kind != VYRE_MEMORY_COUNTER || !memory->label)
      continue;
    const uint32_t value = *(const uint32_t *)context->memory[i].data;
    vyre_report_count_add(context->options.report, context->record->pass.name, memory->label, value);
    result = value && context->record->phases_write ? VYRE_CHANGED : result;
  }
  return result;
}

vyre_status
vyre_phases_end(vyre_context *context, const vyre_module *module, vyre_result *out)
{
  const vyre_pass *pass = &context->record->pass;
  *out = report_counters(context);
  for (uint32_t i = 0; i < pass->phases->memory_count; i++)
    if (vyre_phases_is_loss(&pass->phases->memory[i]) && *(const uint32_t *)context->memory[i].data == 0)
      context->preserved |= VYRE_VERSIONS;
  context->swept = true;
  return pass->finish ? pass->finish(&context->base, module) : VYRE_OK;
}

uint32_t *
vyre_phases_memory(vyre_pass_ctx *ctx, const char *name, uint32_t words)
{
  vyre_context *context = vyre_context_of(ctx);
  const vyre_phases *phases = context->record->pass.phases;
  for (uint32_t i = 0; context->memory && name && i < phases->memory_count; i++) {
    const uint32_t kind = phases->memory[i].kind;
    vyre_c_buffer *buffer = &context->memory[i];
    if (strcmp(phases->memory[i].name, name) != 0)
      continue;
    const bool any_size = has_any_size(&phases->memory[i]);
    if (context->swept ? kind != VYRE_MEMORY_COUNTER && kind != VYRE_MEMORY_VERDICT : kind != VYRE_MEMORY_SIDE && !any_size)
      break;
    if (any_size && !context->swept && buffer->bytes == 0)
      buffer->bytes = words * sizeof(uint32_t);
    if (!buffer->data && buffer->bytes)
      buffer->data = ctx->host->alloc(ctx, buffer->bytes);
    buffer->bytes = buffer->data ? buffer->bytes : 0;
    context->given |= context->swept ? 0 : UINT64_C(1) << i;
    return buffer->data;
  }
  vyre_module_fail(context->module,
                   "host->memory: '%.100s' is not a table or side column in `prepare`, and not a counter or verdict in "
                   "`finish`",
                   name ? name : "(NULL)");
  return NULL;
}
