/* Registers, constants and labels of a table.
 *
 * Registers are allocated by liveness, in one walk over the code.  A register that is defined before a loop and used in it stays
 * live until the loop ends.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "lower.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_CODE = 1 << 20, MOST_SCRATCH = 0x8000, SEARCHED = 2048 /* words of the pool that are searched for a constant */ };

/* ---- lists ---------------------------------------------------------------------------------------------------------------- */

void *
lower_push(lowerer *l, list *to, const void *item, size_t size)
{
  if (to->count == to->capacity) {
    const uint32_t capacity = to->capacity ? to->capacity * 2 : 64;
    void *items = realloc(to->items, capacity * size);
    if (!items) {
      if (!l->w.status)
        l->w.status = VYRE_OUT_OF_MEMORY("for the table of a program");
      return NULL;
    }
    to->items = items;
    to->capacity = capacity;
  }
  memcpy((char *)to->items + to->count * size, item, size);
  return (char *)to->items + to->count++ * size;
}

bool
lower_fail(lowerer *l, uint32_t row, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  if (!l->w.status)
    l->w.status = code_error(l->w.module, l->program, row, format, arguments);
  va_end(arguments);
  return false;
}

static uint32_t *
words_of(const list *l)
{
  return l->items;
}

/* ---- constants ------------------------------------------------------------------------------------------------------------ */

operand
lower_constant(lowerer *l, uint64_t bits, bool is_wide)
{
  const uint32_t words[2] = {(uint32_t)bits, (uint32_t)(bits >> 32)}, count = is_wide ? 2 : 1;
  const uint32_t *pool = words_of(&l->pool);
  for (uint32_t i = l->pool.count > SEARCHED ? l->pool.count - SEARCHED : 0; i + count <= l->pool.count; i++)
    if (memcmp(pool + i, words, count * sizeof *words) == 0)
      return OPERAND_POOL | i;
  const uint32_t at = l->pool.count;
  for (uint32_t i = 0; i < count; i++)
    lower_push(l, &l->pool, &words[i], sizeof *words);
  return OPERAND_POOL | at;
}

operand
lower_high(operand low)
{
  return (low & OPERAND_POOL) != 0 ? low + 1 : low | OPERAND_HIGH;
}

/* ---- registers ------------------------------------------------------------------------------------------------------------ */

static virtual_register *
register_of(const lowerer *l, operand o)
{
  const uint32_t number = o & ~OPERAND_HIGH;
  return (o & OPERAND_POOL) == 0 && number < l->registers.count ? (virtual_register *)l->registers.items + number : NULL;
}

operand
lower_register(lowerer *l, bool is_wide)
{
  const virtual_register made = {.first = UINT32_MAX, .is_wide = is_wide};
  lower_push(l, &l->registers, &made, sizeof made);
  return l->registers.count ? l->registers.count - 1 : 0;
}

/* Notes that the next instruction reads or writes the register. */
static void
touch(lowerer *l, operand o)
{
  virtual_register *r = register_of(l, o);
  const uint32_t now = l->code.count;
  if (!r)
    return;
  r->first = r->first == UINT32_MAX ? now : r->first;
  r->last = now;
  for (uint32_t i = 0; i < l->loops.count; i++) {
    const uint32_t loop = words_of(&l->loops)[i];
    if (words_of(&l->loop_ends)[loop * 2] <= r->first)
      continue;
    const uint32_t pair[2] = {o & ~OPERAND_HIGH, loop};
    const uint32_t *last = l->ends.count ? (const uint32_t *)l->ends.items + (size_t)(l->ends.count - 1) * 2 : NULL;
    if (!last || last[0] != pair[0] || last[1] != pair[1])
      lower_push(l, &l->ends, pair, sizeof pair);
    return;
  }
}

/* Return whether J or K is an operand. */
static bool
reads_j(const instruction *i)
{
  const uint32_t op = i->op & PROGRAM_OP_MASK;
  return op >= PROGRAM_NATIVE || (op == PROGRAM_ATOMIC && (i->op & PROGRAM_CHOOSES) != 0);
}

static bool
reads_k(const instruction *i)
{
  return (i->op & PROGRAM_OP_MASK) == PROGRAM_EVAL && i->i == VYRE_OP_bfi;
}

void
lower_append(lowerer *l, instruction how)
{
  if (l->w.status)
    return;
  if (l->code.count == MOST_CODE) {
    lower_fail(l, l->program, "the program needs more than %d instructions\nFix: compile the program as a kernel", MOST_CODE);
    return;
  }
  if ((how.op & PROGRAM_OP_MASK) >= PROGRAM_JUMP_IF) {
    touch(l, how.x);
    touch(l, how.y);
    touch(l, how.z);
    if (reads_j(&how))
      touch(l, how.j);
    if (reads_k(&how))
      touch(l, how.k);
  }
  if ((how.op & PROGRAM_HAS_RESULT) != 0)
    touch(l, how.to);
  lower_push(l, &l->code, &how, sizeof how);
}

operand
lower_emit(lowerer *l, uint32_t op, bool is_wide, instruction how)
{
  how.op = op | PROGRAM_HAS_RESULT | (is_wide ? PROGRAM_IS_WIDE : 0);
  how.to = lower_register(l, is_wide);
  lower_append(l, how);
  return how.to;
}

/* Fills operands that an op lacks. */
static instruction
unary(lowerer *l, operand x)
{
  const operand zero = lower_word(l, 0);
  return (instruction){.x = x, .y = zero, .z = zero};
}

void
lower_move(lowerer *l, operand to, operand from, bool is_wide)
{
  instruction how = unary(l, from);
  how.op = PROGRAM_MOVE | PROGRAM_HAS_RESULT;
  how.to = to;
  lower_append(l, how);
  if (is_wide)
    lower_move(l, lower_high(to), lower_high(from), false);
}

operand
lower_select(lowerer *l, operand condition, operand yes, operand no, bool is_wide)
{
  instruction how = {.op = PROGRAM_SELECT | PROGRAM_HAS_RESULT, .to = lower_register(l, is_wide), condition, yes, no, 0, 0, 0};
  lower_append(l, how);
  if (is_wide)
    lower_append(l, (instruction){how.op, lower_high(how.to), condition, lower_high(yes), lower_high(no), 0, 0, 0});
  return how.to;
}

/* ---- labels and loops ----------------------------------------------------------------------------------------------------- */

label
lower_label(lowerer *l)
{
  const uint32_t nowhere = UINT32_MAX;
  lower_push(l, &l->labels, &nowhere, sizeof nowhere);
  return l->labels.count - 1;
}

void
lower_place(lowerer *l, label at)
{
  if (at < l->labels.count)
    words_of(&l->labels)[at] = l->code.count;
}

void
lower_open(lowerer *l)
{
  const uint32_t number = l->loop_ends.count, ends[2] = {l->code.count, UINT32_MAX};
  lower_push(l, &l->loop_ends, ends, sizeof ends);
  lower_push(l, &l->loops, &number, sizeof number);
}

void
lower_close(lowerer *l)
{
  if (l->w.status || l->loops.count == 0)
    return;
  const uint32_t loop = words_of(&l->loops)[--l->loops.count];
  words_of(&l->loop_ends)[loop * 2 + 1] = l->code.count ? l->code.count - 1 : 0;
}

void
lower_begin_loop(lowerer *l, operand count, counted *out)
{
  *out = (counted){lower_register(l, false), count, lower_label(l), lower_label(l)};
  lower_move(l, out->index, lower_word(l, 0), false);
  lower_open(l);
  lower_place(l, out->head);
  const operand more = lower_u32(l, VYRE_OP_ult, out->index, count);
  lower_append(l, (instruction){.op = PROGRAM_JUMP_IF, .x = more, .y = more, .z = more, .i = out->end, .j = out->end, .k = 0});
}

void
lower_end_loop(lowerer *l, counted *loop)
{
  lower_move(l, loop->index, lower_u32(l, VYRE_OP_add, loop->index, lower_word(l, 1)), false);
  lower_append(l, (instruction){.op = PROGRAM_LOOP, .i = loop->head});
  lower_close(l);
  lower_place(l, loop->end);
  lower_append(l, (instruction){.op = PROGRAM_JOIN, .j = UINT32_MAX});
}

/* ---- values --------------------------------------------------------------------------------------------------------------- */

operand
lower_lane(const lowerer *l, uint32_t row, uint32_t lane)
{
  const uint32_t at = l->values[row - l->program];
  return at && at - 1 + lane < l->operands.count ? words_of(&l->operands)[at - 1 + lane] : OPERAND_POOL;
}

operand
lower_part(const lowerer *l, uint32_t tuple, uint32_t part, uint32_t lane)
{
  if (code_op(l->v, tuple) == VYRE_OP_tuple)
    return lower_lane(l, vyre_tuple_part(l->v, tuple, part), lane);
  return lower_lane(l, tuple, part * 4 + lane);
}

void
lower_define(lowerer *l, uint32_t row, const operand *lanes, uint32_t count)
{
  l->values[row - l->program] = l->operands.count + 1;
  for (uint32_t k = 0; k < count; k++)
    lower_push(l, &l->operands, &lanes[k], sizeof *lanes);
}

/* ---- allocation ----------------------------------------------------------------------------------------------------------- */

/* Free slots, single ones and pairs. */
typedef struct slots {
  list single, pairs;
  uint32_t most;
} slots;

static uint32_t
take_slot(lowerer *l, slots *s, bool is_wide)
{
  if (is_wide && s->pairs.count)
    return words_of(&s->pairs)[--s->pairs.count];
  if (!is_wide && s->single.count)
    return words_of(&s->single)[--s->single.count];
  if (!is_wide && s->pairs.count) {
    const uint32_t pair = words_of(&s->pairs)[--s->pairs.count], other = pair + 1;
    lower_push(l, &s->single, &other, sizeof other);
    return pair;
  }
  s->most += is_wide ? 2 : 1;
  return s->most - (is_wide ? 2 : 1);
}

static void
free_slot(lowerer *l, slots *s, const virtual_register *r)
{
  lower_push(l, r->is_wide ? &s->pairs : &s->single, &r->slot, sizeof r->slot);
}

/* Lists registers by their last instruction.  heads[i] is 1 plus the first register that ends at instruction i. */
static bool
list_ends(lowerer *l, uint32_t *heads, uint32_t *nexts)
{
  for (uint32_t i = 0; i < l->ends.count; i++) {
    const uint32_t *pair = (const uint32_t *)l->ends.items + (size_t)i * 2;
    virtual_register *r = register_of(l, pair[0]);
    const uint32_t end = words_of(&l->loop_ends)[pair[1] * 2 + 1];
    r->last = r->last < end ? end : r->last;
  }
  for (uint32_t k = 0; k < l->registers.count; k++) {
    const virtual_register *r = register_of(l, k);
    if (r->first == UINT32_MAX)
      continue;
    nexts[k] = heads[r->last];
    heads[r->last] = k + 1;
  }
  return !l->w.status;
}

/* Allocates slots.  The result of READ_LANE must not replace its operand, which other lanes read. */
static uint32_t
allocate(lowerer *l)
{
  slots s = {0};
  uint32_t *heads = calloc(l->code.count + 1, sizeof *heads), *nexts = calloc(l->registers.count + 1, sizeof *nexts);
  if (!heads || !nexts)
    l->w.status = l->w.status ? l->w.status : VYRE_OUT_OF_MEMORY("for the table of a program");
  else if (list_ends(l, heads, nexts))
    for (uint32_t i = 0; i < l->code.count; i++) {
      const instruction *at = (const instruction *)l->code.items + i;
      virtual_register *to = (at->op & PROGRAM_HAS_RESULT) != 0 ? register_of(l, at->to) : NULL;
      const bool begins = to && to->first == i, is_late = (at->op & PROGRAM_OP_MASK) != PROGRAM_READ_LANE;
      if (begins && !is_late)
        to->slot = take_slot(l, &s, to->is_wide);
      for (uint32_t k = heads[i]; k; k = nexts[k - 1])
        if (register_of(l, k - 1) != to)
          free_slot(l, &s, register_of(l, k - 1));
      if (begins && is_late)
        to->slot = take_slot(l, &s, to->is_wide);
      if (to && to->last == i)
        free_slot(l, &s, to);
    }
  free(heads);
  free(nexts);
  free(s.single.items);
  free(s.pairs.items);
  return s.most ? s.most : 1;
}

/* ---- writing -------------------------------------------------------------------------------------------------------------- */

static uint32_t
slot_of(const lowerer *l, operand o)
{
  const virtual_register *r = register_of(l, o);
  return r ? r->slot + ((o & OPERAND_HIGH) != 0) : o;
}

static uint32_t
place_of(const lowerer *l, uint32_t at)
{
  return at < l->labels.count ? words_of(&l->labels)[at] : l->code.count;
}

static void
write_instruction(const lowerer *l, uint32_t number, uint32_t *out)
{
  const instruction *at = (const instruction *)l->code.items + number;
  const uint32_t op = at->op & PROGRAM_OP_MASK;
  const bool reads = op == PROGRAM_JUMP_IF || op >= PROGRAM_LANE, has_target = op >= PROGRAM_JUMP && op <= PROGRAM_LOOP;
  out[PROGRAM_OP] = at->op;
  out[PROGRAM_TO] = (at->op & PROGRAM_HAS_RESULT) != 0 ? slot_of(l, at->to) : 0;
  out[PROGRAM_X] = reads ? slot_of(l, at->x) : 0;
  out[PROGRAM_Y] = reads ? slot_of(l, at->y) : 0;
  out[PROGRAM_Z] = reads ? slot_of(l, at->z) : 0;
  out[PROGRAM_I] = has_target && at->i != PROGRAM_NEVER ? place_of(l, at->i) : at->i;
  /* Without another place, execution continues at the next instruction. */
  out[PROGRAM_J] = has_target ? at->j == UINT32_MAX ? number + 1 : place_of(l, at->j) : reads_j(at) ? slot_of(l, at->j) : at->j;
  out[PROGRAM_K] = reads_k(at) ? slot_of(l, at->k) : at->k;
}

static bool
is_read_only(const lowerer *l, uint32_t buffer)
{
  const uint32_t access = l->v->imm_hi[buffer];
  return VYRE_BUFFER_SPACE(access) != VYRE_SPACE_STORAGE || (access & VYRE_ACCESS_NO_WRITE) != 0;
}

/* Returns the bytes up to the last scalar of a type, where an array of open length is empty. */
static uint64_t
least_bytes(const lowerer *l, vyre_type_id type)
{
  const vyre_type_info info = vyre_type_get(l->w.module, type);
  uint64_t end = 0;
  if (info.form == VYRE_FORM_ARRAY) {
    const uint64_t count = info.flags & VYRE_TYPE_RUNTIME ? 0 : code_count_of(&l->w, type);
    return count ? (count - 1) * info.stride + least_bytes(l, info.element) : 0;
  }
  if (info.form != VYRE_FORM_STRUCT)
    return vyre_type_extent(l->w.module, type);
  for (uint32_t i = 0; i < info.count; i++) {
    const uint64_t own = info.members[i].offset + least_bytes(l, info.members[i].type);
    end = own > end ? own : end;
  }
  return end;
}

/* Returns the type of a buffer, or that of the elements of an array of buffers. */
static vyre_type_id
bound_type(const lowerer *l, uint32_t buffer)
{
  vyre_type_id type = l->v->imm[buffer];
  for (uint32_t k = vyre_buffer_descriptor_steps(l->w.module, buffer); k > 0; k--)
    type = vyre_type_get(l->w.module, type).element;
  return type;
}

/* Lists the bindings.  A binding is read-only if all its buffers are. */
static vyre_status
write_slots(lowerer *l, program_table *out)
{
  while (code_buffer_row(l->w.module, l->program, true, out->slot_count))
    out->slot_count++;
  out->slots = calloc((size_t)out->slot_count + 1, sizeof *out->slots);
  if (!out->slots)
    return VYRE_OUT_OF_MEMORY("for the table of a program");
  for (uint32_t k = 0; k < out->slot_count; k++) {
    const uint32_t row = code_buffer_row(l->w.module, l->program, true, k), first = code_first_descriptor(&l->w, k);
    const vyre_buffer_info *info = code_buffer_info(&l->w, row);
    const vyre_space space = VYRE_BUFFER_SPACE(l->v->imm_hi[row]);
    out->slots[k] = (program_slot){.set = info->set,
                                   .binding = info->binding,
                                   .first = first,
                                   .count = code_first_descriptor(&l->w, k + 1) - first,
                                   .is_push = space == VYRE_SPACE_PUSH,
                                   .is_uniform = space == VYRE_SPACE_UNIFORM,
                                   .is_read_only = true};
  }
  for (uint32_t row = l->v->first[l->program]; row; row = l->v->next[row]) {
    if (code_op(l->v, row) != VYRE_OP_buffer || !code_is_outside(&l->w, row))
      continue;
    program_slot *slot = &out->slots[code_slot_of(&l->w, row)];
    uint64_t least = least_bytes(l, bound_type(l, row));
    if (slot->is_push && least < code_buffer_size(&l->w, row))
      least = code_buffer_size(&l->w, row); /* kernels declare push constants with the padding at their end */
    slot->is_read_only = slot->is_read_only && is_read_only(l, row);
    slot->least = least > slot->least ? least : slot->least;
  }
  return VYRE_OK;
}

static vyre_status
write_table(lowerer *l, program_table *out)
{
  out->registers = allocate(l);
  VYRE_TRY(l->w.status);
  out->length = l->code.count;
  out->pool_words = l->pool.count;
  out->code = malloc((size_t)out->length * PROGRAM_INSTRUCTION * sizeof *out->code);
  out->pool = l->pool.items;
  l->pool.items = NULL;
  if (!out->code || !out->pool)
    return VYRE_OUT_OF_MEMORY("for the table of a program");
  for (uint32_t i = 0; i < out->length; i++)
    write_instruction(l, i, out->code + (size_t)i * PROGRAM_INSTRUCTION);
  out->lanes = l->lanes;
  out->privates = l->privates;
  out->shared = l->shared;
  out->buffers = l->buffers;
  memcpy(out->size, l->size, sizeof out->size);
  VYRE_TRY(write_slots(l, out));
  if (out->registers >= MOST_SCRATCH || out->privates >= 2 * MOST_SCRATCH || out->shared >= 2 * MOST_SCRATCH)
    return VYRE_ERROR(
        VYRE_CODE_INPUT,
        "the program needs %u registers, %u words of private and %u words of workgroup memory, but an interpreted one "
        "has fewer than %d, %d and %d\nFix: compile the program",
        (unsigned)out->registers, (unsigned)out->privates, (unsigned)out->shared, MOST_SCRATCH, 2 * MOST_SCRATCH, 2 * MOST_SCRATCH);
  return VYRE_OK;
}

void
program_table_free(program_table *table)
{
  free(table->code);
  free(table->pool);
  free(table->slots);
  *table = (program_table){0};
}

/* ---- entry ---------------------------------------------------------------------------------------------------------------- */

static bool
begin(lowerer *l, const program_lowering *how)
{
  uint32_t **const words[] = {&l->w.uses, &l->values, &l->spot};
  const uint32_t mode = l->v->imm[l->program];
  if (mode & VYRE_PROGRAM_FLOAT_MODES)
    return lower_fail(l, l->program, "the program has float modes\nFix: remove them, or compile it");
  if (how->subgroup == 0 || how->subgroup > 128 || (how->subgroup & (how->subgroup - 1)) != 0)
    return lower_fail(l, l->program, "a subgroup cannot have %u lanes\nFix: choose a power of two from 1 to 128", how->subgroup);
  if (!vyre_workgroup_size(l->w.module, (vyre_row){l->program}, how->specs, how->spec_count, l->size))
    return lower_fail(l, l->program, "the workgroup size is not constant\nFix: set the specialization constants");
  const uint64_t lanes = (uint64_t)l->size[0] * l->size[1] * l->size[2];
  if (lanes == 0 || lanes > 1024)
    return lower_fail(l, l->program,
                      "a workgroup has %llu invocations, and an interpreted one has 1 to 1024\n"
                      "Fix: choose another size",
                      (unsigned long long)lanes);
  l->lanes = (uint32_t)lanes;
  l->w.status = code_refuse_opaque(l->w.module, l->program, "a table");
  if (l->w.status || !code_lay_out(&l->w) || !code_make_columns(&l->w, words, 3, NULL, 0))
    return false;
  for (uint32_t row = l->program + 1; row < l->end; row++) {
    const uint32_t ids[3] = {l->v->a[row], l->v->b[row], l->v->c[row]};
    for (uint32_t k = 0; k < 3; k++)
      if (ids[k] >= l->program && ids[k] < l->end)
        l->w.uses[ids[k] - l->program]++;
  }
  return true;
}

vyre_status
program_lower(const vyre_module *module, vyre_row program, const program_lowering *how, program_table *out)
{
  const vyre_view *v = vyre_module_view(module);
  lowerer l = {.v = v,
               .program = program.id,
               .end = vyre_program_end(v, program.id),
               .subgroup = how->subgroup,
               .has_no_halves = how->has_no_halves};
  l.w = (code_writer){.module = module,
                      .program = program.id,
                      .end = l.end,
                      .v = v,
                      .task = "while making the table of a program",
                      .specs = how->specs,
                      .spec_count = how->spec_count,
                      .has_push = true,
                      .open_descriptors = how->open_descriptors ? how->open_descriptors : CODE_UNBOUNDED};
  *out = (program_table){0};
  if (begin(&l, how))
    lower_program(&l);
  vyre_status status = l.w.status;
  if (!status)
    status = write_table(&l, out);
  code_writer_free(&l.w);
  list *const lists[] = {&l.code, &l.registers, &l.operands, &l.labels, &l.pool, &l.loops, &l.ends, &l.loop_ends};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    free(lists[i]->items);
  if (status)
    program_table_free(out);
  return status;
}
