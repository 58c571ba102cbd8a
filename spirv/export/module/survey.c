/* Surveys a program before it is written: finds how rows are used, in one pass over its rows, and lists the events for live.c.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/export/control/control.h"

#include "vyre/view.h"

/* ---- events ---- */

/* Lists an event.  `events` has room for two by row: one of the row itself, and its end. */
static inline void
put_event(vyre_spv *s, uint32_t what, uint32_t event)
{
  s->events.data[s->events.count++] = what * VYRE_SPV_EVENTS + event;
}

/* Lists the ends of the open constructs and regions that do not contain the next event. */
static void
end_open(vyre_spv *s, uint32_t parent)
{
  for (; s->open != parent; s->open = s->parent[s->open]) {
    const bool is_region = (vyre_op_flags_of(s->view, s->open) & VYRE_OP_REGION) != 0;
    put_event(s, s->open, is_region ? VYRE_SPV_ENDS_REGION : VYRE_SPV_ENDS);
    s->inside -= !is_region;
  }
}

/* Lists an event of a row.  Programs without vars need no events; vars are declared before the first one. */
static inline void
list_event(vyre_spv *s, uint32_t row, uint32_t what, uint32_t event)
{
  if (s->vars.count) {
    if (s->open != s->parent[row])
      end_open(s, s->parent[row]);
    put_event(s, what, event);
  }
}

/* Lists the start of a construct or region. */
static void
list_start(vyre_spv *s, uint32_t row, uint32_t event, uint32_t constructs)
{
  if (!s->vars.count)
    return;
  list_event(s, row, row, event);
  s->open = row;
  s->inside += constructs;
  if (s->inside > s->deepest)
    s->deepest = s->inside;
}

/* Lists a get or set of a value as an event, and counts the words of the var's gets and sets if it becomes a variable. */
static inline void
survey_var(vyre_spv *s, uint32_t row, uint32_t event, uint32_t words)
{
  const uint32_t var = s->a[row], at = var - s->base;
  if (var > s->base && var < row && vyre_spv_opcode(s, var) == VYRE_OP_var) {
    s->aux[at] += words;
    list_event(s, row, s->id[at], event);
  } else
    vyre_spv_fail(s, "a %s of row %u, which is not a var\nFix: verify the module before writing it",
                  vyre_op_infos[vyre_spv_opcode(s, row)].text, var);
}

/* ---- uses ---- */

static void
mark_use(vyre_spv *s, uint32_t row, uint16_t use)
{
  if (row > s->base && row < s->end)
    s->use[row - s->base] |= use;
}

static bool
is_left_by_leave(vyre_opcode op)
{
  return op == VYRE_OP_loop || op == VYRE_OP_for || op == VYRE_OP_switch || op == VYRE_OP_block;
}

/* Counts an edge to the construct's merge block. */
static void
survey_edge(vyre_spv *s, uint32_t construct)
{
  s->aux[construct - s->base] += VYRE_SPV_EDGE_WORDS;
}

static void
survey_break(vyre_spv *s, uint32_t row)
{
  uint32_t at = s->parent[row];
  while (at > s->base && !vyre_row_is_loop(s->view, at))
    at = s->parent[at];
  if (at > s->base) {
    survey_edge(s, at);
    if (vyre_spv_opcode(s, row) == VYRE_OP_continue && s->parent[s->parent[row]] != at)
      s->use[at - s->base] |= VYRE_SPV_CONTINUED;
  } else
    vyre_spv_fail(s, "a jump outside of any loop\nFix: verify the module before writing it");
}

/* Counts an edge to the construct's merge block, for an outer target. */
static void
survey_crossing(vyre_spv *s, uint32_t construct, uint32_t target)
{
  survey_edge(s, construct);
  if (s->id[construct - s->base] == target) /* the same target as the leave before it */
    return;
  s->id[construct - s->base] = target;
  vyre_spv_push(s, &s->crossed, construct);
  vyre_spv_push(s, &s->crossed, target);
}

/* Records the constructs that a leave crosses. */
static void
survey_leave(vyre_spv *s, uint32_t row)
{
  const uint32_t target = s->a[row];
  uint32_t at = s->parent[row];
  for (; at > s->base && at != target; at = s->parent[at])
    if (is_left_by_leave(vyre_spv_opcode(s, at)))
      survey_crossing(s, at, target);
  if (at <= s->base || !is_left_by_leave(vyre_spv_opcode(s, at))) {
    vyre_spv_fail(s, "leave of row %u, which does not contain it\nFix: verify the module before writing it", target);
    return;
  }
  survey_edge(s, target);
  vyre_spv_push(s, &s->leaves, row);
}

/* Marks the construct to whose end a leave jumps, which is its target unless a tail leads there.  Then it is the innermost loop
 * that the leave crosses, or the innermost construct if the leave crosses no loop. */
static void
mark_left(vyre_spv *s, uint32_t row)
{
  const uint32_t target = s->a[row];
  uint32_t first = 0;
  bool in_loop = false;
  for (uint32_t at = s->parent[row]; at != s->parent[target]; at = s->parent[at]) {
    const bool is_loop = vyre_row_is_loop(s->view, at);
    if (is_left_by_leave(vyre_spv_opcode(s, at)) && (!first || (is_loop && !in_loop)))
      first = at;
    in_loop |= is_loop;
  }
  const bool has_tail = first != target && vyre_spv_claim_tail(s, first, target);
  s->use[(has_tail ? first : target) - s->base] |= VYRE_SPV_LEFT;
}

/* Counts the words of the phis that joins after the targets of leaves need in crossed merge blocks. */
static void
survey_crossed(vyre_spv *s)
{
  const uint32_t *const pairs = s->crossed.data;
  for (size_t i = 0; i < s->crossed.count; i++)
    s->id[pairs[i] - s->base] = 0;
  for (size_t i = 0; i < s->crossed.count; i += 2) {
    uint32_t *const sum = &s->id[pairs[i + 1] - s->base];
    const uint64_t words = (uint64_t)*sum + VYRE_SPV_PHI_WORDS + s->aux[pairs[i] - s->base];
    *sum = words < UINT32_MAX ? (uint32_t)words : UINT32_MAX;
  }
}

/* Counts in `aux` the lanes of a built-in that are used. */
static void
survey_lane(vyre_spv *s, uint32_t row)
{
  const uint32_t place = s->a[row];
  if (place > s->base && place < row && vyre_op_is_invocation(vyre_spv_opcode(s, place)) && vyre_spv_flag(s, row, VYRE_ROW_IMM) &&
      s->imm[row] < VYRE_TYPE_LANES(vyre_spv_row_type(s, place)) && VYRE_TYPE_LANES(vyre_spv_row_type(s, place)) > 1 &&
      s->aux[place - s->base]++ == 0)
    vyre_spv_push(s, &s->places, place);
}

/* Marks built-ins that have one user, which uses one lane.  Usually either several lanes are used or the whole built-in, and equal
 * built-ins are one row; MANY_PLACES limits the work otherwise. */
static void
survey_places(vyre_spv *s)
{
  enum { MANY_PLACES = 32 };
  for (size_t i = 0; i < s->places.count; i++) {
    const uint32_t place = s->places.data[i], lanes = i < MANY_PLACES ? s->aux[place - s->base] : 0;
    uint32_t uses = 0;
    s->aux[place - s->base] = 0;
    for (uint32_t row = place + 1; row < s->end && lanes == 1; row++)
      uses += (uint32_t)(s->a[row] == place) + (uint32_t)(s->b[row] == place) + (uint32_t)(s->c[row] == place);
    if (uses == 1)
      s->use[place - s->base] |= VYRE_SPV_ONE_LANE;
  }
}

/* Marks integers whose sign may change.  Only in relaxed programs, because guards of strict ones select between values of one type.
 */
static void
survey_sign(vyre_spv *s, uint32_t row)
{
  const vyre_type from = vyre_spv_row_type(s, s->a[row]), to = vyre_spv_row_type(s, row);
  if (!s->plain || !vyre_kind_is_int(VYRE_TYPE_KIND(from)) || !vyre_kind_is_int(VYRE_TYPE_KIND(to)) || from == to ||
      VYRE_TYPE_LANES(from) != VYRE_TYPE_LANES(to) || VYRE_ROW_FLAGS(s->op[row]) != 0 ||
      vyre_kind_bits(VYRE_TYPE_KIND(from)) != vyre_kind_bits(VYRE_TYPE_KIND(to)))
    return;
  s->use[row - s->base] |= VYRE_SPV_EITHER_SIGN;
  s->resigned = true;
}

/* Returns whether the row is a conversion to another width or to a float, whose instruction gives the sign of its operand. */
static bool
is_converted(const vyre_spv *s, uint32_t row)
{
  if (vyre_spv_opcode(s, row) != VYRE_OP_convert)
    return false;
  const vyre_kind from = VYRE_TYPE_KIND(vyre_spv_row_type(s, s->a[row])), to = VYRE_TYPE_KIND(vyre_spv_row_type(s, row));
  return (vyre_kind_is_float(to) || vyre_kind_bits(from) != vyre_kind_bits(to));
}

static inline void
require_sign(vyre_spv *s, uint32_t row, uint32_t operand)
{
  if (operand - s->base < row - s->base)
    s->use[operand - s->base] &= (uint16_t)~VYRE_SPV_EITHER_SIGN;
}

/* Clears VYRE_SPV_EITHER_SIGN of the operands of a row whose instruction requires their signs. */
static inline void
survey_exact(vyre_spv *s, uint32_t row)
{
  require_sign(s, row, s->a[row]);
  require_sign(s, row, s->b[row]);
  require_sign(s, row, s->c[row]);
}

/* The effects of an op on the survey; most have none. */
enum {
  NOTHING,
  DECLARED,
  VAR,
  GET,
  SET,
  LEAVE,
  BREAK,
  NEST,
  REGION,
  BODY,
  JUMP,
  POINTER_A,
  POINTERS_AB,
  MATRIX_A,
  MATRIX_B,
  MATRICES_AB,
  LANE,
  SIGN,
  OPAQUE
};

static const uint8_t surveys[VYRE_OP__COUNT] = {
    [VYRE_OP_workgroup] = DECLARED,
    [VYRE_OP_buffer] = DECLARED,
    [VYRE_OP_var] = VAR,
    [VYRE_OP_get] = GET,
    [VYRE_OP_set] = SET,
    [VYRE_OP_leave] = LEAVE,
    [VYRE_OP_break] = BREAK,
    [VYRE_OP_continue] = BREAK,
    [VYRE_OP_return] = JUMP,
    [VYRE_OP_trap] = JUMP,
    [VYRE_OP_fallthrough] = JUMP,
    [VYRE_OP_breakif] = JUMP,
    [VYRE_OP_if] = NEST,
    [VYRE_OP_for] = NEST,
    [VYRE_OP_loop] = NEST,
    [VYRE_OP_switch] = NEST,
    [VYRE_OP_block] = NEST,
    [VYRE_OP_region] = REGION,
    [VYRE_OP_body] = BODY,
    [VYRE_OP_case] = REGION,
    [VYRE_OP_load] = POINTER_A,
    [VYRE_OP_store] = POINTER_A,
#define SPV_ATOMIC(op, instruction) [VYRE_OP_##op] = POINTER_A,
#include "spirv/ops.def"
    [VYRE_OP_copy] = POINTERS_AB,
    [VYRE_OP_async_copy] = POINTERS_AB,
    [VYRE_OP_matvec] = MATRIX_A,
    [VYRE_OP_transpose] = MATRIX_A,
    [VYRE_OP_determinant] = MATRIX_A,
    [VYRE_OP_inverse] = MATRIX_A,
    [VYRE_OP_vecmat] = MATRIX_B,
    [VYRE_OP_matmat] = MATRICES_AB,
    [VYRE_OP_lane] = LANE,
    [VYRE_OP_convert] = SIGN,
    [VYRE_OP_bitcast] = SIGN,
    [VYRE_OP_opaque] = OPAQUE,
    [VYRE_OP_opaque_pure] = OPAQUE,
    [VYRE_OP_opaque_read] = OPAQUE,
    [VYRE_OP_opaque_write] = OPAQUE,
};

enum { TAKES_ANY = false, TAKES_INT = true, TAKES_EITHER = true };

/* Ops without an integer operand whose signedness affects the instruction. */
static const bool accepts_either_sign[VYRE_OP__COUNT] = {
#define SPV_OP(op, instruction, kinds, operands, sort, form, writer) [VYRE_OP_##op] = TAKES_##kinds,
#define SPV_ALSO(op, instruction, kinds, operands, sort, form)
#include "spirv/ops.def"
    [VYRE_OP_var] = true,    [VYRE_OP_get] = true,  [VYRE_OP_if] = true,
    [VYRE_OP_region] = true, [VYRE_OP_load] = true, [VYRE_OP_at] = true,
};

static inline void
survey_row(vyre_spv *s, uint32_t row, uint32_t survey)
{
  s->row = row;
  switch (survey) {
  case DECLARED:
    vyre_spv_push(s, &s->declared, row);
    break;
  case VAR:
    s->id[row - s->base] = (uint32_t)s->vars.count;
    vyre_spv_push(s, &s->vars, row);
    break;
  case GET:
    survey_var(s, row, VYRE_SPV_GETS, VYRE_SPV_GET_WORDS);
    break;
  case SET:
    survey_var(s, row, VYRE_SPV_SETS, VYRE_SPV_SET_WORDS);
    break;
  case LEAVE:
  case BREAK:
  case JUMP:
    if (survey == LEAVE)
      survey_leave(s, row);
    else if (survey == BREAK)
      survey_break(s, row);
    list_event(s, row, row, VYRE_SPV_JUMPS);
    break;
  case NEST:
    s->nests++;
    s->loops += vyre_row_is_loop(s->view, row);
    list_start(s, row, VYRE_SPV_BEGINS, 1);
    break;
  case REGION:
    survey_edge(s, s->parent[row]);
    list_start(s, row, VYRE_SPV_BEGINS_REGION, 0);
    break;
  case BODY:
    list_start(s, row, VYRE_SPV_BEGINS_REGION, 0);
    break;
  case POINTERS_AB:
    mark_use(s, s->b[row], VYRE_SPV_USED_POINTER);
    mark_use(s, s->a[row], VYRE_SPV_USED_POINTER);
    break;
  case POINTER_A:
    mark_use(s, s->a[row], VYRE_SPV_USED_POINTER);
    break;
  case MATRICES_AB:
    mark_use(s, s->a[row], VYRE_SPV_USED_MATRIX);
    mark_use(s, s->b[row], VYRE_SPV_USED_MATRIX);
    break;
  case MATRIX_A:
    mark_use(s, s->a[row], VYRE_SPV_USED_MATRIX);
    break;
  case MATRIX_B:
    mark_use(s, s->b[row], VYRE_SPV_USED_MATRIX);
    break;
  case LANE:
    survey_lane(s, row);
    break;
  case SIGN:
    survey_sign(s, row);
    break;
  case OPAQUE:
    vyre_spv_survey_opaque(s, row);
    break;
  default:
    break;
  }
}

static void
survey_rows(vyre_spv *s)
{
  const uint32_t *const op = s->op, end = s->end;
  s->crossed.count = s->leaves.count = s->places.count = s->declared.count = s->vars.count = s->events.count = 0;
  s->nests = s->loops = s->inside = s->deepest = 0;
  s->open = s->program;
  if (!vyre_spv_reserve(s, &s->events, (size_t)s->count * 2))
    return;
  s->events.count = 0;
  for (uint32_t row = s->base + 1; row < end; row++) {
    const uint32_t code = VYRE_ROW_OP(op[row]), survey = surveys[code];
    if (s->resigned && !accepts_either_sign[code] && !is_converted(s, row))
      survey_exact(s, row);
    if (survey == NOTHING)
      continue;
    survey_row(s, row, survey);
    if (vyre_spv_failed(s))
      return;
  }
  if (s->vars.count)
    end_open(s, s->program);
  survey_crossed(s);
  survey_places(s);
}

void
vyre_spv_survey(vyre_spv *s)
{
  survey_rows(s);
  if (s->vars.count && !vyre_spv_failed(s))
    vyre_spv_find_joins(s);
  if (s->vars.count && !vyre_spv_failed(s))
    vyre_spv_demote(s);
  for (size_t i = 0; i < s->leaves.count && !vyre_spv_failed(s); i++)
    mark_left(s, s->leaves.data[i]);
  if (s->vars.count && !vyre_spv_failed(s))
    vyre_spv_begin_vars(s);
}
