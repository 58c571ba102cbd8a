/* Finds the state that crosses each cut, before any segment is made.
 *
 * Rows are in program order. So segments are ranges of rows, and a value that crosses a cut is in a region that contains the cut.
 * Two walks suffice: one forward, operands first, for the roles of rows, and one backward for their last uses.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "split.h"

#include "vyre/view.h"

#include <stdio.h>

static uint32_t
op_of(const split *s, uint32_t row)
{
  return VYRE_ROW_OP(s->view->op[row]);
}

vyre_status
split_refuse(const split *s, uint32_t row, const char *what, const char *fix)
{
  const char *name = vyre_row_name(s->module, (vyre_row){s->program}), *own = vyre_row_name(s->module, (vyre_row){row});
  char place[300] = "";
  vyre_string file;
  uint32_t line, column;
  if (vyre_row_line(s->module, (vyre_row){row}, &file, &line, &column))
    snprintf(place, sizeof place, ", %s:%u:%u", vyre_string_text(s->module, file), line, column);
  return VYRE_ERROR(VYRE_CODE_INPUT, "program @%s, row %u (%s%s%s%s): %s\nFix: %s", name ? name : "", row,
                    vyre_op_infos[op_of(s, row)].text, own ? " %" : "", own ? own : "", place, what, fix);
}

/* ---- cuts ------------------------------------------------------------------------------------------------------------------ */

static bool
is_cut(const split *s, uint32_t row)
{
  return op_of(s, row) == VYRE_OP_barrier && VYRE_ORDER_EXECUTION(s->view->imm[row]) == 1;
}

/* Adds a cut. Every invocation must reach it exactly once, so only blocks may be around it. */
static vyre_status
add_cut(split *s, uint32_t cut)
{
  for (uint32_t region = s->view->parent[cut]; region != s->program;) {
    const uint32_t around = s->view->parent[region];
    if (op_of(s, around) != VYRE_OP_block) {
      char what[120];
      snprintf(what, sizeof what, "a barrier for the whole grid is in %s '%s', where the program cannot be cut into segments",
               op_of(s, around) == VYRE_OP_if ? "an" : "a", vyre_op_infos[op_of(s, around)].text);
      return split_refuse(s, cut, what,
                          "put the barrier at the top of the program, outside of branches and loops, or run it on a target that "
                          "has such barriers");
    }
    s->rows[region].role = s->rows[around].role = SPLIT_CONTAINER;
    region = s->view->parent[around];
  }
  s->cuts[s->cut_count++] = cut;
  return VYRE_OK;
}

/* Checks a `leave`: leaving a block before a barrier in it would skip the barrier. */
static vyre_status
check_leave(const split *s, uint32_t row)
{
  const uint32_t next = s->rows[row].segment, block = s->view->a[row];
  if (next == s->cut_count || s->cuts[next] > s->rows[block].end)
    return VYRE_OK;
  return split_refuse(s, s->cuts[next], "a barrier for the whole grid is in a block that the program may leave before it",
                      "put the barrier after the block, or run the program on a target that has such barriers");
}

static vyre_status
find_cuts(split *s)
{
  for (uint32_t row = s->end - 1; row > s->program; row--) {
    split_row *around = &s->rows[s->view->parent[row]];
    if (s->rows[row].end == 0)
      s->rows[row].end = row;
    if (around->end < s->rows[row].end)
      around->end = s->rows[row].end;
  }
  for (uint32_t row = s->program; row < s->end; row++) {
    s->rows[row].segment = s->cut_count;
    if (is_cut(s, row))
      VYRE_TRY(add_cut(s, row));
  }
  for (uint32_t row = s->program; row < s->end; row++)
    if (op_of(s, row) == VYRE_OP_leave)
      VYRE_TRY(check_leave(s, row));
  return VYRE_OK;
}

/* ---- roles of rows --------------------------------------------------------------------------------------------------------- */

/* Returns whether a row can be recomputed exactly. Integers can. Floats may differ, because the driver chooses their contraction
 * for each kernel. The position of an invocation in its subgroup may differ, too. */
static bool
is_simple(const split *s, uint32_t row)
{
  const uint32_t operands[] = {s->view->a[row], s->view->b[row], s->view->c[row]};
  const vyre_kind kind = VYRE_TYPE_KIND(VYRE_ROW_TYPE(s->view->op[row]));
  if (kind != VYRE_BOOL && !vyre_kind_is_int(kind))
    return false;
  for (uint32_t i = 0; i < 3; i++) {
    const uint32_t op = op_of(s, operands[i]);
    const split_role role = (split_role)s->rows[operands[i]].role;
    const bool is_of_subgroup = vyre_op_is_invocation(op) && op >= VYRE_OP_subgroup_lane;
    if (operands[i] && (is_of_subgroup || (role != SPLIT_ANEW && role != SPLIT_FIXED)))
      return false;
  }
  return true;
}

static split_role
role_of(const split *s, uint32_t row)
{
  const uint32_t op = op_of(s, row), flags = vyre_op_infos[op].flags;
  const vyre_kind kind = VYRE_TYPE_KIND(VYRE_ROW_TYPE(s->view->op[row]));
  switch (op) {
  case VYRE_OP_program:
  case VYRE_OP_const:
  case VYRE_OP_spec:
  case VYRE_OP_var:
  case VYRE_OP_buffer:
  case VYRE_OP_workgroup:
    return SPLIT_FIXED;
  case VYRE_OP_tuple:
  case VYRE_OP_at:
    return SPLIT_ANEW;
  case VYRE_OP_load: /* a handle never changes */
    return VYRE_BUFFER_SPACE(s->view->imm_hi[vyre_buffer_of(s->view, s->view->a[row])]) == VYRE_SPACE_HANDLE ? SPLIT_ANEW
                                                                                                             : SPLIT_VALUE;
  case VYRE_OP_opaque_pure:
    return kind == VYRE_OPAQUE ? SPLIT_ANEW : SPLIT_VALUE;
  default:
    if (vyre_op_is_invocation(op))
      return SPLIT_FIXED;
    return (flags & VYRE_OP_PURE) != 0 && is_simple(s, row) ? SPLIT_ANEW : SPLIT_VALUE;
  }
}

static void
fix_row(split *s, uint32_t row)
{
  if (row > s->program && row < s->end)
    s->rows[row].role = SPLIT_FIXED;
}

/* Marks the operands of the workgroup's size and of array lengths as fixed. */
static void
fix_declarations(split *s)
{
  const vyre_view *v = s->view;
  for (uint32_t type = 256; type < vyre_type_count(s->module); type++)
    fix_row(s, vyre_type_get(s->module, type).count_row);
  for (uint32_t row = s->end - 1; row > s->program; row--)
    if (s->rows[row].role == SPLIT_FIXED) {
      fix_row(s, v->a[row]);
      fix_row(s, v->b[row]);
      fix_row(s, v->c[row]);
    }
}

/* ---- memory ---------------------------------------------------------------------------------------------------------------- */

uint32_t
split_accessed(const split *s, uint32_t row, uint32_t operand, bool *out_reads, bool *out_writes)
{
  const uint32_t op = op_of(s, row);
  if (op_of(s, operand) == VYRE_OP_var) {
    *out_reads = op != VYRE_OP_set;
    *out_writes = op != VYRE_OP_get;
    return operand;
  }
  if (op == VYRE_OP_at || VYRE_TYPE_KIND(VYRE_ROW_TYPE(s->view->op[operand])) != VYRE_PATH)
    return 0;
  const uint32_t buffer = vyre_buffer_of(s->view, operand);
  const vyre_space space = VYRE_BUFFER_SPACE(s->view->imm_hi[buffer]);
  *out_reads = true;
  *out_writes = op != VYRE_OP_load && op != VYRE_OP_length && op != VYRE_OP_atomic_load;
  return space == VYRE_SPACE_PRIVATE || space == VYRE_SPACE_WORKGROUP ? buffer : 0;
}

static void
note_accesses(split *s, uint32_t row)
{
  const uint32_t operands[] = {s->view->a[row], s->view->b[row], s->view->c[row]};
  for (uint32_t i = 0; i < 3; i++) {
    bool reads = false, writes = false;
    const uint32_t memory = split_accessed(s, row, operands[i], &reads, &writes);
    const uint32_t segment = s->rows[row].segment;
    split_row *of = &s->rows[memory];
    if (memory == 0)
      continue;
    if (writes && segment < of->first_write)
      of->first_write = segment;
    if (reads && segment > of->last_read)
      of->last_read = segment;
    if (s->rows[row].role == SPLIT_ANEW) /* through a tuple or a pointer, later accesses are possible anywhere */
      of->last_read = s->cut_count;
  }
}

static vyre_status
assign_words(split *s, uint32_t row, uint32_t own, uint32_t *words)
{
  if (own > UINT32_MAX / 2 - *words)
    return split_refuse(s, row, "more than 2^31 words would have to be kept across barriers", "keep less across the barrier");
  s->rows[row].slot = *words;
  *words += own;
  return VYRE_OK;
}

static vyre_status
keep_memory(split *s, uint32_t row)
{
  const split_row *of = &s->rows[row];
  const bool is_var = op_of(s, row) == VYRE_OP_var;
  const bool is_shared = !is_var && VYRE_BUFFER_SPACE(s->view->imm_hi[row]) == VYRE_SPACE_WORKGROUP;
  uint32_t *words = is_shared ? &s->group_words : &s->invocation_words;
  if (of->first_write >= of->last_read)
    return VYRE_OK;
  const uint32_t own = is_var ? split_words(s->module, row) : split_memory_words(s->module, s->view->imm[row]);
  if (own == 0)
    return split_refuse(s, row,
                        "it is written before a barrier for the whole grid and read after it, and cannot be kept: it does "
                        "not consist of numbers, or its length is not literal",
                        "give it a literal length, or write it anew after the barrier");
  if (is_shared && (s->view->imm_hi[row] & VYRE_ACCESS_ALIASED) != 0)
    return split_refuse(s, row,
                        "it is 'aliased' workgroup memory, written before a barrier for the whole grid and accessed after it",
                        "give it memory of its own, or write it anew after the barrier");
  return assign_words(s, row, own, words);
}

/* Merges the uses of aliased workgroup memory: data written to one buffer may be read from another. */
static void
join_aliased(split *s)
{
  uint32_t first_write = UINT32_MAX, last_read = 0;
  for (uint32_t round = 0; round < 2; round++)
    for (uint32_t row = s->view->first[s->program]; row; row = s->view->next[row]) {
      split_row *of = &s->rows[row];
      if (op_of(s, row) != VYRE_OP_buffer || VYRE_BUFFER_SPACE(s->view->imm_hi[row]) != VYRE_SPACE_WORKGROUP ||
          (s->view->imm_hi[row] & VYRE_ACCESS_ALIASED) == 0)
        continue;
      if (round == 0) {
        first_write = of->first_write < first_write ? of->first_write : first_write;
        last_read = of->last_read > last_read ? of->last_read : last_read;
      } else {
        of->first_write = first_write;
        of->last_read = last_read;
      }
    }
}

/* ---- values ---------------------------------------------------------------------------------------------------------------- */

/* Records the last segment that needs each operand. The operands of a recomputed row are needed wherever that row is. */
static void
note_uses(split *s, uint32_t row)
{
  const uint32_t operands[] = {s->view->a[row], s->view->b[row], s->view->c[row]};
  const split_row *of = &s->rows[row];
  const uint32_t where = of->role == SPLIT_ANEW && of->last_read > of->segment ? of->last_read : of->segment;
  for (uint32_t i = 0; i < 3; i++) {
    split_row *used = &s->rows[operands[i]];
    if (operands[i] && (used->role == SPLIT_VALUE || used->role == SPLIT_ANEW) && used->last_read < where)
      used->last_read = where;
  }
}

static vyre_status
keep_value(split *s, uint32_t row)
{
  const split_row *of = &s->rows[row];
  if (of->role != SPLIT_VALUE || of->last_read <= of->segment)
    return VYRE_OK;
  const uint32_t words = split_words(s->module, row);
  if (words == 0)
    return split_refuse(s, row, "its value is used after a barrier for the whole grid, and cannot be kept: it is not a number",
                        "compute it after the barrier");
  return assign_words(s, row, words, &s->invocation_words);
}

/* ---- the whole survey ------------------------------------------------------------------------------------------------------ */

/* Chooses a free binding in the descriptor set of another buffer, because devices support that set. */
static vyre_status
choose_binding(split *s)
{
  bool found = false;
  for (uint32_t row = s->view->first[s->program]; row; row = s->view->next[row]) {
    const vyre_space space = VYRE_BUFFER_SPACE(s->view->imm_hi[row]);
    if (op_of(s, row) != VYRE_OP_buffer ||
        (space != VYRE_SPACE_STORAGE && space != VYRE_SPACE_UNIFORM && space != VYRE_SPACE_HANDLE))
      continue;
    const vyre_buffer_info *info = vyre_buffer_info_of((vyre_module *)(uintptr_t)s->module, (vyre_row){row});
    if (!found)
      s->set = info->set;
    if (info->set == s->set && info->binding == UINT32_MAX)
      return split_refuse(s, row,
                          "the buffer that keeps values across barriers needs a binding after this one, and this is the last",
                          "give it a smaller binding");
    if (info->set == s->set && info->binding >= s->binding)
      s->binding = info->binding + 1;
    found = true;
  }
  return VYRE_OK;
}

vyre_status
split_survey(split *s)
{
  s->first_return = UINT32_MAX;
  for (uint32_t row = 0; row < s->row_count; row++) {
    s->rows[row].slot = SPLIT_NO_SLOT;
    s->rows[row].first_write = UINT32_MAX;
  }
  VYRE_TRY(find_cuts(s));
  for (uint32_t row = s->program; row < s->end; row++) {
    if (s->rows[row].role != SPLIT_CONTAINER)
      s->rows[row].role = (uint8_t)role_of(s, row);
    if (split_is_end(op_of(s, row)) && s->rows[row].segment < s->first_return)
      s->first_return = s->rows[row].segment;
    note_accesses(s, row);
  }
  fix_declarations(s);
  join_aliased(s);
  for (uint32_t row = s->end - 1; row > s->program; row--)
    note_uses(s, row);
  for (uint32_t row = s->program + 1; row < s->end; row++) {
    const uint32_t op = op_of(s, row);
    VYRE_TRY(op == VYRE_OP_var || op == VYRE_OP_buffer ? keep_memory(s, row) : keep_value(s, row));
  }
  if (s->first_return < s->cut_count)
    s->returned = s->invocation_words++;
  return choose_binding(s);
}
