/* Registered programs of a live kernel, and the memory of programs and buffers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "programs.h"

#include "base/options.h"
#include "base/round.h"
#include "protocol/words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEFAULT_MEMORY = 16 << 20, DEFAULT_PROGRAMS = 256, DEFAULT_SCRATCH = 512 << 10, DEFAULT_SLOTS = 64 };

/* ---- start and stop ------------------------------------------------------------------------------------------------------- */

static void
fill_defaults(vyre_mega_programs_options *o)
{
  o->memory = round_up(o->memory ? o->memory : DEFAULT_MEMORY, (uint64_t)sysconf(_SC_PAGESIZE));
  o->programs = o->programs ? o->programs : DEFAULT_PROGRAMS;
  o->scratch = (uint32_t)round_up(o->scratch ? o->scratch : DEFAULT_SCRATCH, ROOM_ALIGN);
  o->slots = o->slots ? o->slots : DEFAULT_SLOTS;
}

/* Returns the size of a workgroup: one subgroup, whose lanes interpret an item together, or 1 if lanes cannot vote. */
static uint32_t
choose_size(const vyre_device_info *info)
{
  const uint32_t needed = VYRE_DEVICE_SUBGROUP_BASIC | VYRE_DEVICE_SUBGROUP_VOTE | VYRE_DEVICE_SUBGROUP_BALLOT;
  const bool is_device = (info->forms & (1u << VYRE_KERNEL_SPIRV | 1u << VYRE_KERNEL_PTX)) != 0;
  return is_device && info->subgroup && (info->subgroup_operations & needed) == needed ? info->subgroup : 1;
}

static vyre_status
create_kernel(vyre_mega_programs *p, const vyre_target_ops *ops, vyre_target *target)
{
  vyre_device_info info;
  ops->describe(target, &info);
  if ((info.forms >> VYRE_KERNEL_SPIRV & 1) != 0 && (info.features & VYRE_DEVICE_INT64) == 0)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "megakernel: %s has no 64-bit integers, with which the interpreter of programs computes\n"
                      "Fix: choose another device, or compile the programs",
                      info.name);
  const vyre_mega_options options = {
      .struct_size = sizeof options,
      .program = {.build = p->options.by_priority ? VYRE_MEGA_PERSISTENT_BY_PRIORITY : VYRE_MEGA_PERSISTENT, .has_programs = true},
      .slots = p->options.slots,
      .workgroup = choose_size(&info),
      .groups = p->options.groups,
      .threads = p->options.groups,
      .recovery = p->options.recovery};
  return vyre_mega_create(ops, target, &options, &p->mega);
}

static void
put(vyre_mega_programs *p, size_t word, uint32_t value)
{
  word_put(p->image, word, value);
}

/* Divides the memory: header, entries, contexts, bindings, and the rest for programs and buffers. */
static vyre_status
lay_out(vyre_mega_programs *p)
{
  const vyre_mega_programs_options *o = &p->options;
  const uint64_t entries = round_up(PROGRAM_HEAD_SIZE * 4, ROOM_ALIGN),
                 contexts = round_up(entries + (uint64_t)o->programs * 64, ROOM_ALIGN);
  p->contexts = contexts;
  p->stride = round_up(PROGRAM_CONTEXT_SIZE * 4, ROOM_ALIGN) + o->scratch;
  p->bindings = contexts + p->stride * p->mega->groups;
  p->room.begin = p->bindings + (uint64_t)o->slots * PROGRAM_MOST_BUFFERS * 8;
  p->room.end = o->memory;
  if (o->memory >= (UINT64_C(1) << 33) || p->room.begin > o->memory)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "megakernel: %" PRIu64 " bytes of memory, but %" PRIu32 " workgroups with %" PRIu32
                      " bytes of scratch each, and "
                      "%" PRIu32 " programs, need %" PRIu64 " and permit less than 2^33\n"
                      "Fix: choose more memory, less scratch or fewer groups",
                      o->memory, p->mega->groups, o->scratch, o->programs, p->room.begin);
  put(p, PROGRAM_HEAD_WORDS, (uint32_t)(o->memory / 4));
  put(p, PROGRAM_HEAD_ENTRIES, p->entries_at = (uint32_t)(entries / 4));
  put(p, PROGRAM_HEAD_COUNT, o->programs);
  put(p, PROGRAM_HEAD_CONTEXTS, (uint32_t)(contexts / 4));
  put(p, PROGRAM_HEAD_CONTEXT_COUNT, p->mega->groups);
  put(p, PROGRAM_HEAD_CONTEXT_WORDS, (uint32_t)(p->stride / 4));
  put(p, PROGRAM_HEAD_HOST, (uint32_t)(p->bindings / 4));
  return VYRE_OK;
}

/* Marks the scratch of each context beyond its first bytes as without data, or these bytes as in use. */
static void
set_scratch(vyre_mega_programs *p, uint64_t bytes, bool is_idle)
{
  const uint64_t used = round_up(PROGRAM_CONTEXT_SIZE * 4 + bytes, ROOM_ALIGN);
  for (uint32_t k = 0; k < p->mega->groups; k++) {
    const uint64_t at = p->contexts + k * p->stride;
    live_memory_set_idle(p->live, is_idle ? at + used : at, is_idle ? p->stride - used : used, is_idle);
  }
}

static vyre_status
begin(vyre_mega_programs *p, const vyre_target_ops *ops, vyre_target *target, const vyre_mega_programs_options *options)
{
  VYRE_TRY(vyre_options_read(&p->options, sizeof p->options, options, "vyre_mega_programs_options"));
  fill_defaults(&p->options);
  if (p->options.compile_target ? p->options.compile_target == target : p->options.compile_after != 0)
    return VYRE_ERROR(
        VYRE_CODE_INPUT,
        "megakernel: compiled items need a target of their own, because the live kernel uses its target until it is stopped\n"
        "Fix: open the target a second time, and set `compile_target` to it");
  VYRE_TRY(create_kernel(p, ops, target));
  p->image = aligned_alloc((size_t)sysconf(_SC_PAGESIZE), p->options.memory);
  p->entries = calloc(p->options.programs, sizeof *p->entries);
  p->items = calloc(p->options.slots, sizeof *p->items);
  if (!p->image || !p->entries || !p->items)
    return VYRE_OUT_OF_MEMORY("for the programs of a megakernel");
  memset(p->image, 0, p->options.memory);
  VYRE_TRY(lay_out(p));
  const live_memory memory = {.image = p->image, .size = p->options.memory, .used = (size_t)p->room.begin};
  const vyre_mega_live_options live = {.struct_size = sizeof live, .slice = p->options.slice};
  VYRE_TRY(live_start(p->mega, &live, &memory, &p->live));
  set_scratch(p, 0, true);
  return p->options.compile_target ? programs_start_worker(p) : VYRE_OK;
}

static vyre_status
destroy(vyre_mega_programs *p, vyre_mega_control *control, vyre_mega_stats *stats)
{
  vyre_status status = programs_stop_worker(p);
  const bool is_left = p->live && live_may_be_written(p->live);
  if (p->live)
    status = vyre_status_join(status, vyre_mega_live_stop(p->live, control, stats));
  status = vyre_status_join(status, vyre_mega_destroy(p->mega));
  if (!is_left)
    free(p->image); /* otherwise an abandoned kernel may still write it */
  free(p->entries);
  free(p->items);
  free(p->room.ranges);
  pthread_cond_destroy(&p->changed);
  pthread_mutex_destroy(&p->lock);
  free(p);
  return status;
}

vyre_status
vyre_mega_programs_start(const vyre_target_ops *ops, vyre_target *target, const vyre_mega_programs_options *options,
                         vyre_mega_programs **out)
{
  *out = NULL;
  vyre_mega_programs *p = calloc(1, sizeof *p);
  if (!p)
    return VYRE_OUT_OF_MEMORY("for the programs of a megakernel");
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->changed, NULL);
  vyre_status status = begin(p, ops, target, options);
  if (status)
    return vyre_status_join(status, destroy(p, NULL, NULL));
  *out = p;
  return VYRE_OK;
}

vyre_status
vyre_mega_programs_stop(vyre_mega_programs *programs, vyre_mega_control *control, vyre_mega_stats *stats)
{
  return programs ? destroy(programs, control, stats) : VYRE_OK;
}

vyre_mega_live *
vyre_mega_programs_live(vyre_mega_programs *programs)
{
  return programs->live;
}

/* ---- programs ------------------------------------------------------------------------------------------------------------- */

static uint64_t
scratch_words(const program_table *t)
{
  return (uint64_t)(t->registers + t->privates + 1) * t->lanes + t->shared;
}

static vyre_status
check_scratch(const vyre_mega_programs *p, const program_table *t)
{
  const uint64_t words = scratch_words(t);
  if (words * 4 <= p->options.scratch)
    return VYRE_OK;
  return VYRE_ERROR(VYRE_CODE_INPUT,
                    "megakernel: the program needs %" PRIu64 " bytes of scratch (%" PRIu32 " registers and %" PRIu32
                    " words of private memory for each of %" PRIu32 " invocations), but the kernel has %" PRIu32 "\n"
                    "Fix: start with more `scratch`",
                    words * 4, t->registers, t->privates, t->lanes, p->options.scratch);
}

/* Writes code, pool and entry.  The generation is written last, because a kernel may read the entry meanwhile. */
static vyre_status
write_program(vyre_mega_programs *p, uint32_t number, const program_table *t, program_kernel *kernel)
{
  registered *r = &p->entries[number];
  const uint64_t entry = (p->entries_at + (uint64_t)number * PROGRAM_ENTRY_SIZE) * 4;
  const uint64_t code = (uint64_t)t->length * PROGRAM_INSTRUCTION * 4, pool = (uint64_t)t->pool_words * 4;
  VYRE_TRY(room_take(&p->room, code + pool, "a program's table", &r->at));
  const uint32_t words[PROGRAM_ENTRY_SIZE] = {[PROGRAM_ENTRY_CODE] = (uint32_t)(r->at / 4),
                                              [PROGRAM_ENTRY_LENGTH] = t->length,
                                              [PROGRAM_ENTRY_POOL] = (uint32_t)((r->at + code) / 4),
                                              [PROGRAM_ENTRY_POOL_WORDS] = t->pool_words,
                                              [PROGRAM_ENTRY_REGISTERS] = t->registers,
                                              [PROGRAM_ENTRY_LANES] = t->lanes,
                                              [PROGRAM_ENTRY_PRIVATES] = t->privates,
                                              [PROGRAM_ENTRY_SHARED] = t->shared,
                                              [PROGRAM_ENTRY_BUFFERS] = t->buffers};
  p->generations = p->generations == UINT32_MAX ? 1 : p->generations + 1;
  *r = (registered){.is_used = true,
                    .generation = p->generations,
                    .at = r->at,
                    .length = t->length,
                    .lanes = t->lanes,
                    .buffers = t->buffers,
                    .kernel = kernel};
  set_scratch(p, scratch_words(t) * 4, false);
  live_memory_write(p->live, r->at, t->code, code);
  live_memory_write(p->live, r->at + code, t->pool, pool);
  live_memory_write(p->live, entry, words, sizeof words);
  live_memory_write(p->live, entry, &r->generation, sizeof r->generation);
  return VYRE_OK;
}

static vyre_status
add_program(vyre_mega_programs *p, const program_table *t, program_kernel *kernel, uint32_t *out)
{
  uint32_t number = 0;
  VYRE_TRY(check_scratch(p, t));
  while (number < p->options.programs && p->entries[number].is_used)
    number++;
  if (number == p->options.programs)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "megakernel: %" PRIu32 " programs are registered, which is the most\n"
                      "Fix: remove a program and wait for its items, or start with more `programs`",
                      number);
  VYRE_TRY(write_program(p, number, t, kernel));
  *out = number;
  return VYRE_OK;
}

vyre_status
vyre_mega_programs_register(vyre_mega_programs *programs, const vyre_module *module, vyre_row program,
                            const vyre_mega_program_options *options, uint32_t *out)
{
  vyre_mega_program_options o = {0};
  program_table table;
  if (options)
    VYRE_TRY(vyre_options_read(&o, sizeof o, options, "vyre_mega_program_options"));
  const program_lowering how = {.subgroup = o.subgroup ? o.subgroup : 32,
                                .specs = o.specs,
                                .spec_count = o.spec_count,
                                .open_descriptors = o.open_descriptors,
                                .has_no_halves = mega_has_no_halves(programs->mega)};
  program_kernel *kernel = NULL;
  VYRE_TRY(program_lower(module, program, &how, &table));
  vyre_status status = programs->has_worker ? program_kernel_make(module, program, &how, &table, &kernel) : VYRE_OK;
  if (!status) {
    programs_lock(programs);
    status = programs_unlock(programs, add_program(programs, &table, kernel, out));
  }
  if (status)
    status = vyre_status_join(status, program_kernel_destroy(&programs->device, kernel));
  program_table_free(&table);
  return status;
}

vyre_status
programs_check(const vyre_mega_programs *p, uint32_t program)
{
  if (program < p->options.programs && p->entries[program].is_used && !p->entries[program].is_removed)
    return VYRE_OK;
  return VYRE_ERROR(VYRE_CODE_INPUT, "megakernel: program %" PRIu32 " is not registered\nFix: register it first", program);
}

/* Frees the memory of a removed program if no item is in flight. */
void
programs_free(vyre_mega_programs *p, uint32_t program)
{
  registered *r = &p->entries[program];
  if (!r->is_removed || r->in_flight)
    return;
  room_give(&p->room, r->at);
  if (r->kernel) {
    r->kernel->next = p->unused;
    p->unused = r->kernel;
    pthread_cond_broadcast(&p->changed);
  }
  free(r->reason);
  *r = (registered){0};
}

static vyre_status
remove_program(vyre_mega_programs *p, uint32_t program)
{
  VYRE_TRY(programs_check(p, program));
  live_memory_write(p->live, (p->entries_at + (uint64_t)program * PROGRAM_ENTRY_SIZE) * 4, NULL, 4);
  p->entries[program].is_removed = true;
  programs_free(p, program);
  return VYRE_OK;
}

vyre_status
vyre_mega_programs_remove(vyre_mega_programs *programs, uint32_t program)
{
  programs_lock(programs);
  return programs_unlock(programs, remove_program(programs, program));
}

vyre_status
vyre_mega_programs_describe(vyre_mega_programs *programs, uint32_t program, uint32_t *out_buffers, uint32_t *out_instructions)
{
  programs_lock(programs);
  vyre_status status = programs_check(programs, program);
  if (!status) {
    *out_buffers = programs->entries[program].buffers;
    *out_instructions = programs->entries[program].length;
  }
  return programs_unlock(programs, status);
}

/* ---- memory --------------------------------------------------------------------------------------------------------------- */

vyre_status
vyre_mega_programs_allocate(vyre_mega_programs *programs, uint64_t size, vyre_mega_range *out)
{
  programs_lock(programs);
  *out = (vyre_mega_range){0, size};
  vyre_status status = room_take(&programs->room, size, "a buffer", &out->at);
  if (!status)
    live_memory_write(programs->live, out->at, NULL, size);
  return programs_unlock(programs, status);
}

vyre_status
vyre_mega_programs_free(vyre_mega_programs *programs, vyre_mega_range range)
{
  programs_lock(programs);
  return programs_unlock(
      programs, room_give(&programs->room, range.at)
                    ? VYRE_OK
                    : VYRE_ERROR(VYRE_CODE_INPUT, "megakernel: no range begins at byte %" PRIu64 "\nFix: free it once", range.at));
}

vyre_status
programs_check_range(const vyre_mega_programs *p, vyre_mega_range range)
{
  if (room_has(&p->room, range.at, range.size) && range.at % 4 == 0)
    return VYRE_OK;
  return VYRE_ERROR(VYRE_CODE_INPUT,
                    "megakernel: %" PRIu64 " bytes at %" PRIu64 " are not whole words' start in an allocated range\n"
                    "Fix: use a part of a range of vyre_mega_programs_allocate that begins at a multiple of 4 bytes",
                    range.size, range.at);
}

vyre_status
vyre_mega_programs_write(vyre_mega_programs *programs, vyre_mega_range range, const void *data)
{
  programs_lock(programs);
  vyre_status status = programs_check_range(programs, range);
  if (!status)
    live_memory_write(programs->live, range.at, data, range.size);
  return programs_unlock(programs, status);
}

vyre_status
vyre_mega_programs_read(vyre_mega_programs *programs, vyre_mega_range range, void *out)
{
  programs_lock(programs);
  vyre_status status = programs_check_range(programs, range);
  if (!status)
    live_memory_read(programs->live, range.at, out, range.size);
  return programs_unlock(programs, status);
}
