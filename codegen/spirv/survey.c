/* The survey of a program before it is written: which vars are set in each construct that can be left, the last row that asks for
 * each var, and which rows are used how.  One pass over its rows, most of which tell nothing.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "control.h"

#include <string.h>

static uint32_t
new_value(vyre_spv *s, uint32_t row, uint32_t last_get)
{
  if (s->value_count == s->value_capacity) {
    const uint32_t capacity = s->value_capacity ? s->value_capacity * 2 : 64;
    vyre_spv_var *vars = vyre_spv_memory(s, capacity * sizeof(*vars));
    if (!vars)
      return 0;
    if (s->value_count)
      memcpy(vars, s->vars, s->value_count * sizeof(*vars));
    s->vars = vars;
    s->value_capacity = capacity;
  }
  s->vars[s->value_count] = (vyre_spv_var){.row = row, .last_get = last_get};
  return s->value_count++;
}

/* `open` holds pairs: a value that is written, and what that write reaches.  0: whatever follows; a construct's row: what follows
 * that; NOWHERE: nothing. */
#define NOWHERE UINT32_MAX

static void
push_write(vyre_spv *s, uint32_t value)
{
  vyre_spv_push(s, &s->open, value);
  vyre_spv_push(s, &s->open, 0);
}

/* The value of the var that a get or set names. */
static vyre_spv_var *
survey_var(vyre_spv *s, uint32_t row)
{
  const uint32_t var = s->a[row];
  if (var > s->base && var < row && vyre_spv_opcode(s, var) == VYRE_OP_var)
    return &s->vars[s->aux[var - s->base]];
  s->row = row;
  vyre_spv_fail(s, "a %s of row %u, which is no var\nFix: verify the module before writing it",
                vyre_op_infos[vyre_spv_opcode(s, row)].text, var);
  return NULL;
}

static void
use_pointer(vyre_spv *s, uint32_t path)
{
  if (path > s->base && path < s->end)
    s->use[path - s->base] |= VYRE_SPV_USED_POINTER;
}

static void
use_matrix(vyre_spv *s, uint32_t row)
{
  if (row > s->base && row < s->end)
    s->use[row - s->base] |= VYRE_SPV_USED_MATRIX;
}

static bool
is_left_by_leave(vyre_opcode op)
{
  return op == VYRE_OP_loop || op == VYRE_OP_for || op == VYRE_OP_switch || op == VYRE_OP_block;
}

/* A leave writes its target's flag, if it has to cross another construct: a branch leaves the innermost loop, or the innermost
 * construct where no loop is left.  `aux`: the construct to leave instead of the target, as nothing is between their ends but a
 * tail. */
static void
survey_leave(vyre_spv *s, uint32_t row)
{
  uint32_t target = s->a[row], first = 0;
  bool in_loop = false;
  if (target <= s->base || target >= s->end)
    return;
  for (uint32_t at = s->parent[row]; at > s->base; at = s->parent[at]) {
    const vyre_opcode op = vyre_spv_opcode(s, at);
    const bool is_loop = op == VYRE_OP_loop || op == VYRE_OP_for;
    if (!is_left_by_leave(op))
      continue;
    if (!first || (is_loop && !in_loop))
      first = at;
    in_loop |= is_loop;
    if (at == target)
      break;
  }
  if (first != target && vyre_spv_take_tail(s, first, target))
    target = s->aux[row - s->base] = first;
  s->use[target - s->base] |= VYRE_SPV_LEFT;
  if (first == target)
    return;
  if (!(s->use[target - s->base] & VYRE_SPV_CROSSED)) {
    s->use[target - s->base] |= VYRE_SPV_CROSSED;
    s->id[target - s->base] = new_value(s, target, UINT32_MAX);
  }
  push_write(s, s->id[target - s->base]);
}

/* What follows the jump that a region ends with: 0 is what follows the region, and a loop's next round. */
static uint32_t
reach_of(const vyre_spv *s, uint32_t last)
{
  uint32_t at;
  switch (last ? vyre_spv_opcode(s, last) : VYRE_OP_null) {
  case VYRE_OP_return:
  case VYRE_OP_trap:
    return NOWHERE;
  case VYRE_OP_leave:
    return s->a[last];
  case VYRE_OP_break:
    for (at = s->parent[last]; at > s->base; at = s->parent[at])
      if (vyre_spv_opcode(s, at) == VYRE_OP_loop || vyre_spv_opcode(s, at) == VYRE_OP_for)
        return at;
    return 0;
  default:
    return 0;
  }
}

/* A region ends: if by a jump, the one in it, what was written in it reaches only what that jump goes to. */
static void
survey_close_region(vyre_spv *s, uint32_t region, size_t start, uint32_t jumps)
{
  const uint32_t reach = reach_of(s, s->last[region]);
  if (jumps > (reach != NOWHERE))
    return;
  for (size_t i = start; reach && i < s->open.count; i += 2)
    if (s->open.data[i + 1] == 0)
      s->open.data[i + 1] = reach;
}

/* What its tail sets, an edge to its merge block sets. */
static void
survey_tail(vyre_spv *s, uint32_t construct)
{
  if (!(s->use[construct - s->base] & VYRE_SPV_HAS_TAIL))
    return;
  for (uint32_t row = s->next[construct]; row; row = s->next[row]) {
    const vyre_spv_var *const var = vyre_spv_opcode(s, row) == VYRE_OP_set ? survey_var(s, row) : NULL;
    if (!var)
      continue;
    vyre_spv_push(s, &s->open, (uint32_t)(var - s->vars));
    vyre_spv_push(s, &s->open, construct);
  }
}

/* A construct that can be left ends: its part of `open`, without repetitions, is kept in `written`, those that reach the back edge
 * of a loop first, and stays for the construct around it. */
static void
survey_close(vyre_spv *s, uint32_t row, size_t start)
{
  const bool crossed = (s->use[row - s->base] & VYRE_SPV_CROSSED) != 0;
  survey_tail(s, row);
  uint32_t *const open = s->open.data;
  size_t kept = start;
  for (size_t i = start; i < s->open.count; i += 2) {
    const uint32_t value = open[i], reach = open[i + 1], seen = s->vars[value].seen;
    if (crossed && value == s->id[row - s->base])
      continue;
    if (seen >= start && seen < kept && open[seen] == value) {
      if (open[seen + 1] != reach)
        open[seen + 1] = 0;
      continue;
    }
    s->vars[value].seen = (uint32_t)kept;
    open[kept++] = value;
    open[kept++] = reach;
  }
  s->open.count = kept;
  s->aux[row - s->base] = (uint32_t)s->written.count;
  uint32_t *written = vyre_spv_reserve(s, &s->written, 2 + (kept - start) / 2), heads = 0, next = 2;
  if (!written)
    return;
  for (int tail = 0; tail < 2; tail++)
    for (size_t i = start; i < kept; i += 2) {
      const bool head = open[i + 1] == 0 && vyre_spv_opcode(s, s->vars[open[i]].row) == VYRE_OP_var;
      heads += head && !tail;
      if (head == !tail)
        written[next++] = open[i];
    }
  written[0] = next - 2;
  written[1] = heads;
  for (size_t i = start; i < kept; i += 2)
    if (open[i + 1] == row)
      open[i + 1] = 0;
}

/* Rows with children that the survey stands in, from the outermost construct that can be left on: three words each, the row, where
 * its part of `open` begins, the jumps before it.  What is written elsewhere needs no list. */
static void
survey_end(vyre_spv *s, const uint32_t open[3])
{
  const uint32_t row = open[0];
  const vyre_opcode op = vyre_spv_opcode(s, row);
  if (vyre_spv_failed(s))
    return;
  if (is_left_by_leave(op))
    survey_close(s, row, open[1]);
  else if (op != VYRE_OP_if)
    survey_close_region(s, row, open[1], s->jumps - open[2]);
}

static void
survey_leave_to(vyre_spv *s, uint32_t parent)
{
  vyre_spv_words *const nest = &s->scratch;
  if (nest->count == 0)
    return;
  while (nest->count && nest->data[nest->count - 3] != parent) {
    nest->count -= 3;
    survey_end(s, nest->data + nest->count);
  }
  if (nest->count == 0)
    s->open.count = 0;
}

static void
survey_enter(vyre_spv *s, uint32_t row)
{
  uint32_t *const entry = vyre_spv_room(s, &s->scratch, 3);
  entry[0] = row;
  entry[1] = (uint32_t)s->open.count;
  entry[2] = s->jumps;
}

/* Place by place, `aux` counts the lanes that are taken of it. */
static void
survey_lane(vyre_spv *s, uint32_t row)
{
  const uint32_t place = s->a[row];
  if (place > s->base && place < row && vyre_op_is_invocation(vyre_spv_opcode(s, place)) && vyre_spv_flag(s, row, VYRE_ROW_IMM) &&
      s->imm[row] < VYRE_TYPE_LANES(vyre_spv_row_type(s, place)) && VYRE_TYPE_LANES(vyre_spv_row_type(s, place)) > 1 &&
      s->aux[place - s->base]++ == 0)
    vyre_spv_push(s, &s->places, place);
}

/* A place that one row alone uses, which takes a lane of it.  Of most places either several lanes are taken or none, and equal
 * places are one; where they are not, MANY_PLACES bounds the work. */
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

/* Of a relaxed program: the guards of a strict one choose between values of one type. */
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

/* The instruction of a conversion says how it reads an integer of another width, or that of a float. */
static bool
is_converted(const vyre_spv *s, uint32_t row)
{
  const vyre_kind from = VYRE_TYPE_KIND(vyre_spv_row_type(s, s->a[row])), to = VYRE_TYPE_KIND(vyre_spv_row_type(s, row));
  return vyre_spv_opcode(s, row) == VYRE_OP_convert && (vyre_kind_is_float(to) || vyre_kind_bits(from) != vyre_kind_bits(to));
}

/* A row that takes its operands as they are. */
static void
survey_exact(vyre_spv *s, uint32_t row)
{
  const uint32_t operands[3] = {s->a[row], s->b[row], s->c[row]};
  for (int i = 0; i < 3; i++)
    if (operands[i] > s->base && operands[i] < row)
      s->use[operands[i] - s->base] &= (uint16_t)~VYRE_SPV_EITHER_SIGN;
}

/* What a row tells the survey; most tell nothing. */
enum {
  NOTHING,
  VAR,
  GET,
  SET,
  LEAVE,
  JUMP,
  REGION,
  CONSTRUCT,
  POINTER_A,
  POINTERS_AB,
  MATRIX_A,
  MATRIX_B,
  MATRICES_AB,
  LANE,
  SIGN,
  OPAQUE,
  EITHER = 0x80 /* beside them: no operand is an integer whose sign tells the instruction something */
};

static const uint8_t tells[VYRE_OP__COUNT] = {
    [VYRE_OP_var] = VAR | EITHER,
    [VYRE_OP_get] = GET | EITHER,
    [VYRE_OP_set] = SET,
    [VYRE_OP_leave] = LEAVE,
    [VYRE_OP_break] = JUMP,
    [VYRE_OP_continue] = JUMP,
    [VYRE_OP_fallthrough] = JUMP,
    [VYRE_OP_if] = REGION | EITHER,
    [VYRE_OP_region] = REGION | EITHER,
    [VYRE_OP_body] = REGION,
    [VYRE_OP_case] = REGION,
    [VYRE_OP_for] = CONSTRUCT,
    [VYRE_OP_loop] = CONSTRUCT,
    [VYRE_OP_switch] = CONSTRUCT,
    [VYRE_OP_block] = CONSTRUCT,
    [VYRE_OP_load] = POINTER_A | EITHER,
    [VYRE_OP_store] = POINTER_A,
    [VYRE_OP_atomic_load] = POINTER_A,
    [VYRE_OP_atomic_store] = POINTER_A,
    [VYRE_OP_atomic_exchange] = POINTER_A,
    [VYRE_OP_atomic_compare_exchange] = POINTER_A,
    [VYRE_OP_atomic_add] = POINTER_A,
    [VYRE_OP_atomic_sub] = POINTER_A,
    [VYRE_OP_atomic_umin] = POINTER_A,
    [VYRE_OP_atomic_umax] = POINTER_A,
    [VYRE_OP_atomic_smin] = POINTER_A,
    [VYRE_OP_atomic_smax] = POINTER_A,
    [VYRE_OP_atomic_and] = POINTER_A,
    [VYRE_OP_atomic_or] = POINTER_A,
    [VYRE_OP_atomic_xor] = POINTER_A,
    [VYRE_OP_atomic_fadd] = POINTER_A,
    [VYRE_OP_atomic_fmin] = POINTER_A,
    [VYRE_OP_atomic_fmax] = POINTER_A,
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
    /* Ops that SPIR-V takes operands of either sign for: what they do is said by the instruction. */
    [VYRE_OP_add] = EITHER,
    [VYRE_OP_sub] = EITHER,
    [VYRE_OP_mul] = EITHER,
    [VYRE_OP_neg] = EITHER,
    [VYRE_OP_sdiv] = EITHER,
    [VYRE_OP_srem] = EITHER,
    [VYRE_OP_smod] = EITHER,
    [VYRE_OP_and] = EITHER,
    [VYRE_OP_or] = EITHER,
    [VYRE_OP_xor] = EITHER,
    [VYRE_OP_not] = EITHER,
    [VYRE_OP_shl] = EITHER,
    [VYRE_OP_ushr] = EITHER,
    [VYRE_OP_sshr] = EITHER,
    [VYRE_OP_eq] = EITHER,
    [VYRE_OP_ne] = EITHER,
    [VYRE_OP_ult] = EITHER,
    [VYRE_OP_ule] = EITHER,
    [VYRE_OP_ugt] = EITHER,
    [VYRE_OP_uge] = EITHER,
    [VYRE_OP_slt] = EITHER,
    [VYRE_OP_sle] = EITHER,
    [VYRE_OP_sgt] = EITHER,
    [VYRE_OP_sge] = EITHER,
    [VYRE_OP_at] = EITHER,
    /* Those of what is met often whose operands, if any, are floats. */
    [VYRE_OP_const] = EITHER,
    [VYRE_OP_spec] = EITHER,
    [VYRE_OP_buffer] = EITHER,
    [VYRE_OP_fdiv] = EITHER,
    [VYRE_OP_fma] = EITHER,
    [VYRE_OP_feq] = EITHER,
    [VYRE_OP_fne] = EITHER,
    [VYRE_OP_flt] = EITHER,
    [VYRE_OP_fle] = EITHER,
    [VYRE_OP_fgt] = EITHER,
    [VYRE_OP_fge] = EITHER,
    [VYRE_OP_fone] = EITHER,
    [VYRE_OP_isnan] = EITHER,
    [VYRE_OP_fabs] = EITHER,
    [VYRE_OP_fmin] = EITHER,
    [VYRE_OP_fmax] = EITHER,
    [VYRE_OP_nmin] = EITHER,
    [VYRE_OP_nmax] = EITHER,
    [VYRE_OP_fclamp] = EITHER,
    [VYRE_OP_floor] = EITHER,
    [VYRE_OP_sqrt] = EITHER,
    [VYRE_OP_exp] = EITHER,
    [VYRE_OP_dot] = EITHER,
    [VYRE_OP_gid] = EITHER,
    [VYRE_OP_lid] = EITHER,
    [VYRE_OP_wid] = EITHER,
    [VYRE_OP_lindex] = EITHER,
};

/* A row of control flow, or one that writes a var. */
static void
survey_control(vyre_spv *s, uint32_t row, uint32_t tell)
{
  vyre_spv_words *const nest = &s->scratch;
  vyre_spv_var *var;
  survey_leave_to(s, s->parent[row]);
  s->edges += tell != SET;
  switch (tell) {
  case SET:
    if (vyre_spv_is_in_memory(s, row))
      break;
    var = survey_var(s, row);
    s->sets++;
    if (var && nest->count)
      push_write(s, (uint32_t)(var - s->vars));
    break;
  case LEAVE:
    survey_leave(s, row);
    s->jumps++;
    break;
  case JUMP:
    s->jumps++;
    break;
  default:
    if (tell == CONSTRUCT || nest->count)
      survey_enter(s, row);
    break;
  }
}

static void
survey_row(vyre_spv *s, uint32_t row, uint32_t tell)
{
  vyre_spv_var *var;
  switch (tell) {
  case NOTHING:
    break;
  case VAR:
    if (s->use[row - s->base] & VYRE_SPV_IN_MEMORY)
      break;
    s->aux[row - s->base] = new_value(s, row, 0);
    break;
  case GET:
    if (vyre_spv_is_in_memory(s, row))
      break;
    var = survey_var(s, row);
    if (var)
      var->last_get = row;
    break;
  case POINTERS_AB:
    use_pointer(s, s->b[row]);
    use_pointer(s, s->a[row]);
    break;
  case POINTER_A:
    use_pointer(s, s->a[row]);
    break;
  case MATRICES_AB:
    use_matrix(s, s->a[row]);
    use_matrix(s, s->b[row]);
    break;
  case MATRIX_A:
    use_matrix(s, s->a[row]);
    break;
  case MATRIX_B:
    use_matrix(s, s->b[row]);
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
    survey_control(s, row, tell);
    break;
  }
}

/* Until the phis of the vars may be too many, if they may become variables. */
static bool
survey_rows(vyre_spv *s, bool may_demote)
{
  const uint32_t *const op = s->op, end = s->end;
  s->value_count = s->jumps = s->sets = s->edges = 0;
  s->scratch.count = s->open.count = s->written.count = s->places.count = 0;
  for (uint32_t row = s->base + 1; row < end; row++) {
    const uint32_t tell = tells[VYRE_ROW_OP(op[row])];
    if (tell == EITHER)
      continue;
    if (s->resigned && !(tell & EITHER) && !is_converted(s, row))
      survey_exact(s, row);
    survey_row(s, row, tell & ~(uint32_t)EITHER);
    if (vyre_spv_failed(s))
      return true;
    if (may_demote && (tell & ~(uint32_t)EITHER) == SET && vyre_spv_may_demote(s, s->sets, s->edges))
      return false;
  }
  if (may_demote && vyre_spv_may_demote(s, s->sets, s->edges))
    return false;
  survey_leave_to(s, 0);
  survey_places(s);
  return true;
}

void
vyre_spv_survey(vyre_spv *s)
{
  if (survey_rows(s, true))
    return;
  (void)vyre_spv_demote(s);
  if (!vyre_spv_failed(s))
    (void)survey_rows(s, false);
}
