/* What a phase may do: docs/gpu-passes.md, "The contract".
 *
 * Of each value that may be a row it is found how that row is reached: as the row at hand, over operands, over parents, over both,
 * or from a side column.  A variable has what all its sets bring, so the rows are gone through until nothing more comes about. Then
 * each access is looked at.  O(rows * ways).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernel.h"
#include "vyre/view.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* How a row is reached; a set of these.  None: it is row 0, or no row at all that is used as one. */
enum {
  OWN = 1,
  OPERANDS = 2, /* operands of the row at hand, and of those */
  AROUND = 4,   /* the row's parent, and parents of that */
  BOTH = 8,     /* parents of operands, and the other way round */
  NAMED = 16,   /* a side column or an analysis says so, or an operand of such a row */
  ANY = 32,     /* anything else */
  OPCODE = 64,  /* no row, but the number of an op: of a row that is surely one */

  SURELY = OWN | OPERANDS | AROUND | BOTH /* it is a row: what side columns and analyses hold may be none */
};

typedef struct checker {
  const kernel_expansion *expansion;
  kernel_file *file;
  const vyre_module *module;
  const vyre_view *v;
  kernel_function *phase;
  uint32_t program, end, own;           /* own: the row that is computed as the one at hand */
  uint32_t *ways;                       /* by row: a byte a lane */
  uint64_t written;                     /* names whose own element the phase writes */
  uint64_t scattered, loose;            /* loose: ... to rows that need not have their turn after the row at hand */
  uint32_t scatters[KERNEL_MOST_NAMES]; /* the op by which, of each name */
  bool good;
  char *in_bounds; /* kernel_expansion's */
} checker;

/* What is wrong may stand in a function that several phases call. */
static void refuse(checker *k, uint32_t row, const char *fix, const char *format, ...) VYRE_PRINTF(4, 5);

static void
refuse(checker *k, uint32_t row, const char *fix, const char *format, ...)
{
  char message[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  k->good = kernel_error_at(k->expansion, k->module, row, fix, "phase @%.*s: %s", (int)k->phase->name.length,
                            k->file->text + k->phase->name.at, message);
}

/* ---- accesses ------------------------------------------------------------------------------------------------------------ */

/* Of memory that the phases share: whose it is, and the row that computes the index; 0: that is `literal`. */
typedef struct access {
  const kernel_name *name;
  uint64_t bit; /* of the name in a set of names */
  uint32_t index;
  uint64_t literal;
  char word[64]; /* the name as text */
} access;

/* False: it is memory of the phase's own. */
static bool
read_access(const checker *k, uint32_t row, access *out)
{
  const vyre_view *v = k->v;
  const uint32_t path = v->a[row], buffer = vyre_op_of(v, path) == VYRE_OP_at ? v->a[path] : path;
  if (VYRE_BUFFER_SPACE(v->imm_hi[buffer]) != VYRE_SPACE_STORAGE)
    return false;
  const uint32_t name = vyre_buffer_info_of((vyre_module *)k->module, (vyre_row){buffer})->binding;
  if (name >= k->file->name_count)
    return false; /* the list of rows: all of it is gone through */
  const kernel_name *n = &k->file->names[name];
  *out = (access){n, UINT64_C(1) << name, v->b[path], vyre_row_imm(v, path), ""};
  snprintf(out->word, sizeof out->word, "%%%.*s", n->word ? (int)strlen(n->word) : (int)n->text.length,
           n->word ? n->word : k->file->text + n->text.at);
  return true;
}

static bool
is_column(const kernel_name *name, const char *word)
{
  return name->word && strcmp(name->word, word) == 0;
}

static bool
leads_to_operand(const kernel_name *name)
{
  return is_column(name, "a") || is_column(name, "b") || is_column(name, "c");
}

/* ---- how rows are reached ------------------------------------------------------------------------------------------------ */

/* What a column holds of rows that are reached so. */
static uint8_t
ways_of_element(const kernel_name *name, uint8_t index)
{
  uint8_t ways = 0;
  if (name->kind == KERNEL_SIDE || name->kind == KERNEL_ANALYSIS)
    return NAMED;
  if (leads_to_operand(name)) {
    ways |= (index & (OWN | OPERANDS)) != 0 ? OPERANDS : 0;
    ways |= (index & (AROUND | BOTH)) != 0 ? BOTH : 0;
    ways |= (index & NAMED) != 0 ? NAMED : 0;
    return ways | (index & ANY);
  }
  if (!is_column(name, "parent"))
    return ANY;
  ways |= (index & (OWN | AROUND)) != 0 ? AROUND : 0;
  ways |= (index & (OPERANDS | BOTH)) != 0 ? BOTH : 0;
  return ways | ((index & (NAMED | ANY)) != 0 ? ANY : 0);
}

static uint8_t
ways_of_scalar(const checker *k, uint32_t row)
{
  return (uint8_t)k->ways[row];
}

static uint8_t
ways_of_index(const checker *k, const access *at)
{
  return at->index ? ways_of_scalar(k, at->index) : at->literal ? ANY : 0;
}

static uint32_t
ways_of_load(const checker *k, uint32_t row)
{
  access at;
  return read_access(k, row, &at) ? ways_of_element(at.name, ways_of_index(k, &at)) : ANY;
}

static uint32_t
lanes_of(const checker *k, uint32_t row)
{
  return VYRE_TYPE_LANES(VYRE_ROW_TYPE(k->v->op[row]));
}

static uint32_t
ways_of_join(const checker *k, uint32_t row)
{
  const uint32_t operands[3] = {k->v->a[row], k->v->b[row], k->v->c[row]};
  uint32_t ways = 0;
  for (uint32_t i = 0, lane = 0; i < 3 && operands[i]; lane += lanes_of(k, operands[i]), i++)
    ways |= k->ways[operands[i]] << 8 * lane;
  return ways;
}

/* Of one that is computed: what any of them is. */
static uint32_t
ways_of_lane(const checker *k, uint32_t row)
{
  const vyre_view *v = k->v;
  const uint32_t ways = k->ways[v->a[row]];
  if ((VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM) != 0)
    return v->imm[row] < 4 ? ways >> 8 * v->imm[row] & 0xffu : 0;
  return (ways | ways >> 8 | ways >> 16 | ways >> 24) & 0xffu;
}

/* The low half of the op word of a row. */
static bool
is_opcode(const checker *k, uint32_t row)
{
  const vyre_view *v = k->v;
  access at;
  if ((VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM) == 0 || vyre_row_imm(v, row) != 0xffffu ||
      vyre_op_of(v, v->a[row]) != VYRE_OP_load || !read_access(k, v->a[row], &at) || !is_column(at.name, "op"))
    return false;
  return (ways_of_index(k, &at) & ~SURELY) == 0;
}

static uint32_t
ways_of(const checker *k, uint32_t row)
{
  const vyre_view *v = k->v;
  if (row == k->own)
    return OWN;
  switch (vyre_op_of(v, row)) {
  case VYRE_OP_load:
    return ways_of_load(k, row);
  case VYRE_OP_join:
    return ways_of_join(k, row);
  case VYRE_OP_lane:
    return ways_of_lane(k, row);
  case VYRE_OP_insert: /* in some lane */
    return k->ways[v->a[row]] | k->ways[v->b[row]] * 0x01010101u;
  case VYRE_OP_get:
    return k->ways[v->a[row]];
  case VYRE_OP_select:
    return k->ways[v->b[row]] | k->ways[v->c[row]];
  case VYRE_OP_and:
    return is_opcode(k, row) ? OPCODE | ANY : ANY * 0x01010101u;
  case VYRE_OP_const:
    return vyre_row_imm(v, row) ? ANY * 0x01010101u : 0;
  case VYRE_OP_var:
    return k->ways[row];
  default:
    return ANY * 0x01010101u;
  }
}

static void
find_ways(checker *k)
{
  const vyre_view *v = k->v;
  for (bool more = true; more;) {
    more = false;
    for (uint32_t row = k->program; row < k->end; row++) {
      const bool is_set = vyre_op_of(v, row) == VYRE_OP_set;
      const uint32_t of = is_set ? v->a[row] : row;
      const uint32_t ways = is_set ? k->ways[of] | k->ways[v->b[row]] : ways_of(k, row);
      more |= ways != k->ways[of];
      k->ways[of] = ways;
    }
  }
}

/* ---- what is done with them ---------------------------------------------------------------------------------------------- */

/* What computes the row of an element of `stride`, as r, or r * stride + n; 0: the index is none such. */
static uint32_t
row_of_element(const checker *k, uint32_t index, uint32_t stride)
{
  const vyre_view *v = k->v;
  const bool has_imm = (VYRE_ROW_FLAGS(v->op[index]) & VYRE_ROW_IMM) != 0;
  if (stride <= 1)
    return stride ? index : 0;
  if (vyre_op_of(v, index) == VYRE_OP_add && has_imm && vyre_row_imm(v, index) < stride)
    index = v->a[index];
  const bool is_product =
      vyre_op_of(v, index) == VYRE_OP_mul && (VYRE_ROW_FLAGS(v->op[index]) & VYRE_ROW_IMM) != 0 && vyre_row_imm(v, index) == stride;
  return is_product ? v->a[index] : 0;
}

/* It is the row itself, not what may be that or row 0. */
static bool
is_own_element(const checker *k, uint32_t index, uint32_t stride)
{
  return row_of_element(k, index, stride) == k->own;
}

/* Rows are in bounds; so is the first word of what has one, or one a row. */
static bool
is_in_bounds(const checker *k, const access *at)
{
  const kernel_name *n = at->name;
  if (n->kind == KERNEL_TABLE || n->stride == 0)
    return false;
  if (n->kind == KERNEL_FACT)
    return at->index && k->ways[at->index] == (OPCODE | ANY);
  if (at->index == 0)
    return at->literal < n->stride;
  const uint32_t row = n->kind == KERNEL_COUNTER || n->kind == KERNEL_VERDICT ? 0 : row_of_element(k, at->index, n->stride);
  return row && (ways_of_scalar(k, row) & ~SURELY) == 0;
}

static void
find_bounds(checker *k)
{
  const vyre_view *v = k->v;
  for (uint32_t row = k->program; row < k->end; row++) {
    const uint32_t op = vyre_op_of(v, row);
    access at;
    if ((op == VYRE_OP_load || op == VYRE_OP_store || vyre_op_is_atomic(op)) && vyre_op_of(v, v->a[row]) == VYRE_OP_at)
      k->in_bounds[v->a[row]] = !read_access(k, row, &at) || is_in_bounds(k, &at);
  }
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
    refuse(k, row, "a CPU pass may move rows", "a phase makes and moves no rows: %s is not written", at.word);
  else if (n->kind == KERNEL_COUNTER)
    refuse(k, row, "atomic_add to its element 0", "a counter is added to, not written");
  else if (n->kind == KERNEL_VERDICT)
    refuse(k, row, "atomic_umin to its element 0", "of a verdict the least is kept, nothing else is written");
  else if (n->kind != KERNEL_CORE && n->kind != KERNEL_SIDE)
    refuse(k, row, NULL, "%s is read alone", at.word);
  else if (!is_own_element(k, at.index, n->stride))
    refuse(k, row, "scatter to a side column by atomic_umin, atomic_umax, atomic_or, atomic_and or atomic_add",
           "%s is written elsewhere than at the phase's row", at.word);
}

/* Rows that have their turn after the row at hand, in that direction. */
static uint8_t
have_their_turn(kernel_direction direction)
{
  return direction == KERNEL_DOWN ? OPERANDS : direction == KERNEL_OUTWARD ? AROUND : 0;
}

static bool
is_used(const checker *k, uint32_t row)
{
  const vyre_view *v = k->v;
  for (uint32_t user = row + 1; user < k->end; user++)
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
    const uint8_t ways = ways_of_index(k, &at);
    if (!(k->scattered & at.bit))
      k->scatters[at.name - k->file->names] = op;
    k->scattered |= at.bit;
    if (n->stride != 1 || (ways & (NAMED | ANY)))
      k->phase->scattered_afar |= at.bit;
    if (n->stride != 1 || (ways & ~have_their_turn(k->phase->direction)))
      k->loose |= at.bit;
    return;
  }
  const bool commutes = op == VYRE_OP_atomic_add || op == VYRE_OP_atomic_umin || op == VYRE_OP_atomic_umax ||
                        op == VYRE_OP_atomic_or || op == VYRE_OP_atomic_and;
  if (n->kind != KERNEL_SIDE && n->kind != KERNEL_COUNTER && n->kind != KERNEL_VERDICT)
    refuse(k, row, "scatter to a side column", "%s is no side column", at.word);
  else if (n->kind == KERNEL_COUNTER ? op != VYRE_OP_atomic_add : n->kind == KERNEL_VERDICT ? op != VYRE_OP_atomic_umin : !commutes)
    refuse(k, row, NULL, "%s: the result depends on the order of rows; %s", vyre_op_infos[op].text,
           n->kind == KERNEL_COUNTER   ? "to a counter is added by atomic_add"
           : n->kind == KERNEL_VERDICT ? "a verdict takes atomic_umin"
                                       : "what commutes is add, umin, umax, or, and");
  else if (k->written & at.bit)
    refuse(k, row, "let one phase write it, and another one scatter", "%s is both written and scattered to", at.word);
  else if (k->scatters[n - k->file->names] != op)
    refuse(k, row, "let one phase do the one, and another one the other", "%s is scattered to by %s and by %s, whose order matters",
           at.word, vyre_op_infos[k->scatters[n - k->file->names]].text, vyre_op_infos[op].text);
  else if (is_used(k, row))
    refuse(k, row, "read the column in a phase after this one", "what an atomic returns depends on the order of rows");
}

/* Rows that had their turn before the row at hand, in that direction. */
static uint8_t
had_their_turn(kernel_direction direction)
{
  return direction == KERNEL_UP ? OWN | OPERANDS : direction == KERNEL_INWARD ? OWN | AROUND : OWN;
}

/* For those who ask whether programs may go different ways. */
static void
note_load(checker *k, const access *at, uint8_t ways)
{
  const bool is_own = at->name->stride == 1 ? at->index == k->own : is_own_element(k, at->index, at->name->stride);
  k->phase->read |= at->bit;
  if (!is_own)
    k->phase->read_elsewhere |= at->bit;
  if (!is_own && (at->name->stride != 1 || (ways & (NAMED | ANY))))
    k->phase->read_afar |= at->bit;
}

static void
check_load(checker *k, uint32_t row)
{
  access at;
  if (!read_access(k, row, &at))
    return;
  const kernel_name *n = at.name;
  const uint8_t ways = ways_of_index(k, &at);
  note_load(k, &at, ways);
  const bool of_a_row = n->kind == KERNEL_CORE || n->kind == KERNEL_LINK || n->kind == KERNEL_ANALYSIS;
  if (n->kind == KERNEL_COUNTER || n->kind == KERNEL_VERDICT)
    refuse(k, row, "put what phases tell each other into a side column", "%s is not read by phases", at.word);
  else if ((k->scattered & at.bit) && ((k->loose & at.bit) || at.index != k->own))
    refuse(k, row, "read it in a phase after this one", "%s is read by the phase that scatters to it", at.word);
  else if (of_a_row && (ways & ANY))
    refuse(k, row, NULL, "%s of a row that is reached neither over operands and parents nor from a side column", at.word);
  else if (of_a_row && (ways & NAMED) && n->kind != KERNEL_CORE)
    refuse(k, row, NULL, "of a row that a side column names only op, imm, imm_hi, a, b and c are read, not %s", at.word);
  else if ((k->written & at.bit) && n->stride == 1 && (ways & ~had_their_turn(k->phase->direction)))
    refuse(k, row, "write to a side column, and copy it in a phase after this one",
           "%s of a row that may be writing it at the same time", at.word);
  else if ((k->written & at.bit) && n->stride > 1 && !is_own_element(k, at.index, n->stride))
    refuse(k, row, "read it in a phase after this one", "%s of a row that may be writing it at the same time", at.word);
}

static bool
is_forbidden(const checker *k, uint32_t row, uint32_t op)
{
  const uint32_t flags = vyre_op_infos[op].flags;
  return op == VYRE_OP_barrier || op == VYRE_OP_trap || op == VYRE_OP_copy || op == VYRE_OP_async_copy ||
         op == VYRE_OP_async_wait || op == VYRE_OP_length || (flags & VYRE_OP_CONVERGENT) != 0 ||
         (VYRE_ROW_FLAGS(k->v->op[row]) & (VYRE_ROW_VOLATILE | VYRE_ROW_COHERENT)) != 0;
}

static void
check_rows(checker *k, bool note)
{
  const vyre_view *v = k->v;
  for (uint32_t row = k->program; row < k->end; row++) {
    const uint32_t op = vyre_op_of(v, row);
    if (op == VYRE_OP_store)
      check_store(k, row, note);
    else if (vyre_op_is_atomic(op))
      check_atomic(k, row, op, note);
    else if (op == VYRE_OP_load && !note)
      check_load(k, row);
    else if (!note && is_forbidden(k, row, op))
      refuse(k, row, NULL, "a row function knows nothing of other invocations and of memory as a whole: %s",
             vyre_op_infos[op].text);
  }
}

static uint32_t
own_row(const checker *k)
{
  for (uint32_t row = k->program; row < k->end; row++) {
    const char *name = vyre_row_name(k->module, (vyre_row){row});
    if (name && strcmp(name, KERNEL_OWN_ROW) == 0)
      return row;
  }
  return 0;
}

vyre_status
kernel_check(kernel_expansion *expansion, const vyre_module *module)
{
  const vyre_view *v = vyre_module_view(module);
  const vyre_allocator *allocator = vyre_module_allocator(module);
  checker k = {.expansion = expansion, .file = expansion->file, .module = module, .v = v, .good = true};
  const size_t bytes = v->rows * sizeof *k.ways;
  k.ways = allocator->resize(allocator->user, NULL, 0, bytes);
  if (!k.ways)
    return VYRE_OUT_OF_MEMORY("while checking phases");
  memset(k.ways, 0, bytes);
  vyre_status status = vyre_bytes_append(&expansion->in_bounds, k.ways, v->rows); /* as many zeros */
  if (status) {
    allocator->resize(allocator->user, k.ways, bytes, 0);
    return status;
  }
  k.in_bounds = expansion->in_bounds.data;
  k.program = v->first[0]; /* the first programs are phases, in their order */
  for (uint32_t i = 0; i < k.file->function_count; i++) {
    k.phase = &k.file->functions[i];
    if (!k.phase->is_phase)
      continue;
    k.end = v->next[k.program] ? v->next[k.program] : v->rows;
    k.written = k.scattered = k.loose = 0;
    k.own = own_row(&k);
    find_ways(&k);
    check_rows(&k, true);
    check_rows(&k, false);
    find_bounds(&k);
    k.phase->written = k.written | k.scattered;
    k.phase->scattered = k.scattered;
    k.program = v->next[k.program];
  }
  for (; k.program; k.program = v->next[k.program]) { /* the same over lists */
    k.end = v->next[k.program] ? v->next[k.program] : v->rows;
    k.own = own_row(&k);
    find_ways(&k);
    find_bounds(&k);
  }
  allocator->resize(allocator->user, k.ways, bytes, 0);
  return k.good ? VYRE_OK : VYRE_ERROR(VYRE_CODE_INPUT, "%s: a phase does what phases may not", expansion->file->path);
}
