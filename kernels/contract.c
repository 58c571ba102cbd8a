/* Checks the contract of phases (docs/gpu-passes.md, "The contract"): for each access, the ways by which its row is reached
 * (reach.h).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "reach.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct checker {
  const kernel_expansion *expansion;
  kernel_file *file;
  kernel_reach reach;
  const vyre_view *v;
  kernel_function *phase;
  uint64_t written;                     /* names whose own element the phase writes */
  uint64_t scattered, loose;            /* names that it scatters to; loose: at rows that may be visited before the current row */
  uint32_t scatters[KERNEL_MOST_NAMES]; /* by name: the atomic op that scatters to it */
  bool good;
} checker;

/* Reports an error.  The message names the phase, because the row may be in a function that several phases call. */
static void refuse(checker *k, uint32_t row, const char *fix, const char *format, ...) VYRE_PRINTF(4, 5);

static void
refuse(checker *k, uint32_t row, const char *fix, const char *format, ...)
{
  char message[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  k->good = kernel_error_at(k->expansion, k->reach.module, row, fix, "phase @%.*s: %s", (int)k->phase->name.length,
                            k->file->text + k->phase->name.at, message);
}

/* An access with its name, in words for messages and as a bit for sets. */
typedef struct access {
  kernel_access to;
  const kernel_name *name;
  uint64_t bit; /* of the name in a set of names */
  char word[64];
} access;

static bool
read_access(const checker *k, uint32_t row, access *out)
{
  if (!kernel_access_of(&k->reach, row, &out->to))
    return false;
  const kernel_name *n = out->name = out->to.name;
  out->bit = UINT64_C(1) << out->to.number;
  snprintf(out->word, sizeof out->word, "%%%.*s", n->word ? (int)strlen(n->word) : (int)n->text.length,
           n->word ? n->word : k->file->text + n->text.at);
  return true;
}

/* Returns whether the access is surely at the phase's own row. */
static bool
is_own_element(const checker *k, const access *at)
{
  const uint32_t row = at->to.index ? kernel_row_of_element(&k->reach, at->to.index, at->name->stride) : 0;
  return row && kernel_is_own_row(&k->reach, row);
}

static void
check_store(checker *k, uint32_t row, bool note)
{
  access at;
  if (!read_access(k, row, &at))
    return;
  const kernel_name *n = at.name;
  if (note) {
    k->written |= at.bit;
    return;
  }
  if (n->kind == KERNEL_LINK)
    refuse(k, row, "a CPU pass may move rows", "a phase cannot create or move rows, so it cannot write %s", at.word);
  else if (n->kind == KERNEL_COUNTER)
    refuse(k, row, "atomic_add to its element 0", "a phase cannot store to a counter");
  else if (n->kind == KERNEL_VERDICT)
    refuse(k, row, "atomic_umin to its element 0", "a phase cannot store to a verdict");
  else if (n->kind != KERNEL_CORE && n->kind != KERNEL_SIDE)
    refuse(k, row, NULL, "%s is read-only", at.word);
  else if (!is_own_element(k, &at))
    refuse(k, row, "scatter to a side column by atomic_umin, atomic_umax, atomic_or, atomic_and or atomic_add",
           "%s is written at another row than the phase's own", at.word);
  else if (kernel_leads_to_operand(n) && (k->reach.ways[k->v->b[row]] & REACH_ANY) != 0)
    refuse(k, row, NULL, "the value written to %s is computed, but must be a row", at.word);
}

/* Returns the ways to rows that are visited after the current row, in that direction. */
static uint8_t
visited_later(vyre_direction direction)
{
  return direction == VYRE_DIRECTION_DOWN ? REACH_OPERANDS : direction == VYRE_DIRECTION_OUTWARD ? REACH_AROUND : 0;
}

static bool
is_used(const checker *k, uint32_t row)
{
  const vyre_view *v = k->v;
  for (uint32_t user = row + 1; user < k->reach.end; user++)
    if (v->a[user] == row || v->b[user] == row || v->c[user] == row)
      return true;
  return false;
}

static void
check_atomic(checker *k, uint32_t row, uint32_t op, bool note)
{
  access at;
  if (!read_access(k, row, &at))
    return;
  const kernel_name *n = at.name;
  if (note) {
    const uint8_t ways = kernel_ways_of_index(&k->reach, &at.to);
    if (!(k->scattered & at.bit))
      k->scatters[at.name - k->file->names] = op;
    k->scattered |= at.bit;
    if (n->stride != 1 || (ways & (REACH_NAMED | REACH_ANY)))
      k->phase->scattered_afar |= at.bit;
    if (n->stride != 1 || (ways & ~visited_later(k->phase->direction)))
      k->loose |= at.bit;
    return;
  }
  const bool commutes = op == VYRE_OP_atomic_add || op == VYRE_OP_atomic_umin || op == VYRE_OP_atomic_umax ||
                        op == VYRE_OP_atomic_or || op == VYRE_OP_atomic_and;
  if (n->kind != KERNEL_SIDE && n->kind != KERNEL_COUNTER && n->kind != KERNEL_VERDICT)
    refuse(k, row, "scatter to a side column", "%s is not a side column", at.word);
  else if (n->kind == KERNEL_COUNTER ? op != VYRE_OP_atomic_add : n->kind == KERNEL_VERDICT ? op != VYRE_OP_atomic_umin : !commutes)
    refuse(k, row, NULL, "%s: the result depends on the order of rows; %s", vyre_op_infos[op].text,
           n->kind == KERNEL_COUNTER   ? "use atomic_add for a counter"
           : n->kind == KERNEL_VERDICT ? "use atomic_umin for a verdict"
                                       : "use add, umin, umax, or, and");
  else if (k->written & at.bit)
    refuse(k, row, "write it in one phase, and scatter in another one", "%s is both written and scattered to", at.word);
  else if (k->scatters[n - k->file->names] != op)
    refuse(k, row, "use two phases", "%s is scattered to by both %s and %s, whose order matters", at.word,
           vyre_op_infos[k->scatters[n - k->file->names]].text, vyre_op_infos[op].text);
  else if (is_used(k, row))
    refuse(k, row, "read the column in a phase after this one", "the result of an atomic depends on the order of rows");
}

/* Returns the ways to rows that are visited before the current row, in that direction. */
static uint8_t
visited_earlier(vyre_direction direction)
{
  return direction == VYRE_DIRECTION_UP       ? REACH_OWN | REACH_OPERANDS
         : direction == VYRE_DIRECTION_INWARD ? REACH_OWN | REACH_AROUND
                                              : REACH_OWN;
}

/* Records a load in the phase's sets, which later decide whether programs are independent.  `ways` are those of the index. */
static void
note_load(checker *k, const access *at, uint8_t ways)
{
  const bool is_own = is_own_element(k, at);
  k->phase->read |= at->bit;
  if (!is_own)
    k->phase->read_elsewhere |= at->bit;
  if (!is_own && (at->name->stride != 1 || (ways & (REACH_NAMED | REACH_ANY))))
    k->phase->read_afar |= at->bit;
}

static void
check_load(checker *k, uint32_t row)
{
  access at;
  if (!read_access(k, row, &at))
    return;
  const kernel_name *n = at.name;
  const uint8_t ways = kernel_ways_of_index(&k->reach, &at.to);
  note_load(k, &at, ways);
  const bool of_a_row = n->kind == KERNEL_CORE || n->kind == KERNEL_LINK || n->kind == KERNEL_ANALYSIS;
  if (n->kind == KERNEL_COUNTER || n->kind == KERNEL_VERDICT)
    refuse(k, row, "pass values between phases in a side column", "phases cannot read %s", at.word);
  else if ((k->scattered & at.bit) && ((k->loose & at.bit) || !is_own_element(k, &at)))
    refuse(k, row, "read it in a phase after this one", "%s is read by the phase that scatters to it", at.word);
  else if (of_a_row && (ways & REACH_ANY))
    refuse(k, row, NULL, "%s of a row that is reached neither over operands and parents nor from a side column", at.word);
  else if (of_a_row && (ways & REACH_NAMED) && n->kind != KERNEL_CORE)
    refuse(k, row, NULL, "%s cannot be read at a row from a side column, only op, imm, imm_hi, a, b and c", at.word);
  else if ((k->written & at.bit) && n->stride == 1 && (ways & ~visited_earlier(k->phase->direction)))
    refuse(k, row, "write to a side column, and copy it in a phase after this one",
           "%s of a row that may be writing it at the same time", at.word);
  else if ((k->written & at.bit) && n->stride > 1 && !is_own_element(k, &at))
    refuse(k, row, "read it in a phase after this one", "%s of a row that may be writing it at the same time", at.word);
}

static bool
is_forbidden(const checker *k, uint32_t row, uint32_t op)
{
  const uint32_t flags = vyre_op_infos[op].flags;
  return op == VYRE_OP_barrier || op == VYRE_OP_trap || op == VYRE_OP_copy || op == VYRE_OP_async_copy ||
         op == VYRE_OP_async_wait || op == VYRE_OP_length || vyre_op_is_opaque(op) || (flags & VYRE_OP_CONVERGENT) != 0 ||
         (VYRE_ROW_FLAGS(k->v->op[row]) & (VYRE_ROW_VOLATILE | VYRE_ROW_COHERENT)) != 0;
}

/* Refuses floats, whose results differ between devices, and narrow integers, which some devices lack. */
static bool
is_for_every_device(uint32_t type)
{
  const vyre_kind kind = (vyre_kind)VYRE_TYPE_KIND(type);
  return !vyre_kind_is_float(kind) && vyre_kind_bits(kind) != 8 && vyre_kind_bits(kind) != 16;
}

static void
check_rows(checker *k, bool note)
{
  const vyre_view *v = k->v;
  for (uint32_t row = k->reach.program; row < k->reach.end; row++) {
    const uint32_t op = vyre_op_of(v, row);
    const bool is_load = op == VYRE_OP_load || op == VYRE_OP_atomic_load;
    if (op == VYRE_OP_store)
      check_store(k, row, note);
    else if (vyre_op_is_atomic(op) && !is_load)
      check_atomic(k, row, op, note);
    else if (is_load && !note)
      check_load(k, row);
    else if (is_load)
      continue;
    else if (!note && is_forbidden(k, row, op))
      refuse(k, row, NULL, "a row function cannot use other invocations or whole buffers: %s", vyre_op_infos[op].text);
    else if (!note && !is_for_every_device(VYRE_ROW_TYPE(v->op[row])))
      refuse(k, row, NULL, "a phase can only compute with bool and integers of 32 and 64 bits, not %s", vyre_op_infos[op].text);
  }
}

/* Records the steps that the contract proves to be in bounds. */
static void
note_bounds(const kernel_reach *reach, char *in_bounds)
{
  const vyre_view *v = reach->v;
  for (uint32_t row = reach->program; row < reach->end; row++) {
    const uint32_t op = vyre_op_of(v, row), path = v->a[row];
    kernel_access at;
    if ((op == VYRE_OP_load || op == VYRE_OP_store || vyre_op_is_atomic(op)) && vyre_op_of(v, path) == VYRE_OP_at)
      in_bounds[path] = !kernel_access_of(reach, row, &at) || kernel_access_is_in_bounds(reach, &at);
  }
}

static void
check_phase(checker *k, kernel_function *phase)
{
  k->phase = phase;
  k->written = k->scattered = k->loose = 0;
  check_rows(k, true);
  check_rows(k, false);
  phase->written = k->written | k->scattered;
  phase->scattered = k->scattered;
}

/* Checks that phases use memory, and that phases which write the table count their changes, by which the manager detects a change.
 */
static void
check_pass(checker *k)
{
  kernel_file *file = k->file;
  const kernel_function *writer = NULL;
  bool counts = false;
  for (uint32_t i = 0; i < file->function_count; i++)
    for (uint32_t name = 0; name < file->name_count; name++) {
      if ((file->functions[i].written >> name & 1) == 0)
        continue;
      writer = file->names[name].kind == KERNEL_CORE ? &file->functions[i] : writer;
      counts |= file->names[name].kind == KERNEL_COUNTER && file->names[name].label.length != 0;
    }
  uint8_t memory[KERNEL_MOST_NAMES];
  if (kernel_memory(file, memory) == 0)
    k->good = kernel_error(file, k->phase->name, NULL, "the phases use no column and no other memory");
  if (writer && !counts)
    k->good =
        kernel_error(file, writer->name,
                     "declare counter %changed \"rows changed\", and execute atomic_add %changed[0], 1u32 where a row changes",
                     "the phases write the table, but do not count changes in a counter with a label");
}

vyre_status
kernel_check(kernel_expansion *expansion, const vyre_module *module)
{
  const vyre_view *v = vyre_module_view(module);
  checker k = {.expansion = expansion, .file = expansion->file, .v = v, .good = true};
  VYRE_TRY(kernel_reach_create(expansion->file, module, &k.reach));
  vyre_status status = vyre_bytes_append(&expansion->in_bounds, k.reach.ways, v->rows); /* allocates; the bytes are still zero */
  uint32_t function = 0;
  for (uint32_t program = status ? 0 : v->first[0]; program; program = v->next[program]) {
    kernel_reach_program(&k.reach, program);
    while (function < k.file->function_count && !k.file->functions[function].is_phase)
      function++;
    /* The programs NAME_rows are first, in the order of phases.  The programs NAME_listed call the same phases, so only their
     * bounds are noted. */
    if (function < k.file->function_count)
      check_phase(&k, &k.file->functions[function++]);
    note_bounds(&k.reach, expansion->in_bounds.data);
  }
  kernel_reach_free(&k.reach);
  if (!status && k.good)
    check_pass(&k);
  if (status || k.good)
    return status;
  return VYRE_ERROR(
      VYRE_CODE_INPUT,
      "%s: a phase breaks the contract of phases\nFix: correct the marked places; docs/gpu-passes.md describes the contract",
      expansion->file->path);
}
