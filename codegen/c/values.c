/* Values as expressions, a lane at a time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include <inttypes.h>

/* ---- parentheses ---------------------------------------------------------------------------------------------------------- */

static bool
is_word(char c)
{
  return code_is_word(c) || c == '.';
}

/* Returns the text after the bracket that closes the first one. */
static const char *
behind_bracket(const char *text)
{
  uint32_t depth = 0;
  do {
    depth += *text == '(' || *text == '[';
    depth -= *text == ')' || *text == ']';
    text++;
  } while (*text && depth > 0);
  return text;
}

/* Returns whether the text is a name, a number or a call, perhaps in brackets or after a cast, so that no operator around it
 * binds tighter. */
static bool
is_tight(const char *text)
{
  if (*text == '(') {
    text = behind_bracket(text);
    if (!*text)
      return true;
  }
  if (!is_word(*text) && *text != '(')
    return false;
  while (is_word(*text) || *text == '(' || *text == '[' || (text[0] == '-' && text[1] == '>'))
    text = *text == '(' || *text == '[' ? behind_bracket(text) : text + (*text == '-' ? 2 : 1);
  return *text == '\0';
}

/* Puts parentheses around the text from `start` on, if it needs them. */
static void
tighten(cgen *g, size_t start)
{
  if (g->w.status || is_tight(g->w.out->data + start))
    return;
  cgen_put(g, "()");
  if (g->w.status)
    return;
  memmove(g->w.out->data + start + 1, g->w.out->data + start, g->w.out->size - start - 2);
  g->w.out->data[start] = '(';
}

/* ---- built-ins ------------------------------------------------------------------------------------------------------------ */

static void
put_local(cgen *g, uint32_t k)
{
  const uint32_t *size = g->local;
  const uint32_t inner = k == 0 ? 1 : k == 1 ? size[0] : size[0] * size[1];
  if (size[k] == 1)
    cgen_put(g, "0u");
  else if (!g->wide)
    cgen_put(g, "l%c", "xyz"[k]);
  else if (g->count == size[k])
    cgen_put(g, "li");
  else if (inner == 1)
    cgen_put(g, "li %% %uu", size[k]);
  else if (inner * size[k] == g->count)
    cgen_put(g, "li / %uu", inner);
  else
    cgen_put(g, "li / %uu %% %uu", inner, size[k]);
}

void
cgen_put_lindex(cgen *g)
{
  if (g->wide) {
    cgen_put(g, "li");
    return;
  }
  const char *plus = "";
  for (uint32_t k = 0, inner = 1; k < 3; inner *= g->local[k++]) {
    if (g->local[k] == 1)
      continue;
    cgen_put(g, "%sl%c", plus, "xyz"[k]);
    if (inner > 1)
      cgen_put(g, " * %uu", inner);
    plus = " + ";
  }
  cgen_put(g, *plus ? "" : "0u");
}

static void
put_tight_index(cgen *g)
{
  const size_t start = g->w.out->size;
  cgen_put_lindex(g);
  tighten(g, start);
}

static void
put_mask(cgen *g, vyre_opcode op, uint32_t word)
{
  cgen_call(g, "lanes", VYRE_U32);
  cgen_put(g, "%uu, ", word);
  if (op == VYRE_OP_subgroup_le_mask || op == VYRE_OP_subgroup_lt_mask) {
    cgen_put(g, "0u");
  } else {
    put_tight_index(g);
    cgen_put(g, " %% %uu%s", g->subgroup, op == VYRE_OP_subgroup_gt_mask ? " + 1u" : "");
  }
  cgen_put(g, ", ");
  if (op == VYRE_OP_subgroup_ge_mask || op == VYRE_OP_subgroup_gt_mask) {
    cgen_put(g, "%uu)", g->subgroup);
  } else {
    put_tight_index(g);
    cgen_put(g, " %% %uu%s)", g->subgroup, op == VYRE_OP_subgroup_lt_mask ? "" : " + 1u");
  }
}

static void
put_invocation(cgen *g, vyre_opcode op, uint32_t lane)
{
  const char axis = "xyzz"[lane & 3u];
  switch ((uint32_t)op) {
  case VYRE_OP_gid:
    if (g->local[lane] == 1) {
      cgen_put(g, "w%c", axis);
      return;
    }
    cgen_put(g, "w%c * %uu + ", axis, g->local[lane]);
    put_local(g, lane);
    return;
  case VYRE_OP_lid:
    put_local(g, lane);
    return;
  case VYRE_OP_wid:
    cgen_put(g, "w%c", axis);
    return;
  case VYRE_OP_groups:
    cgen_put(g, "d->groups[%u]", lane);
    return;
  case VYRE_OP_lindex:
    cgen_put_lindex(g);
    return;
  case VYRE_OP_subgroup_lane:
    put_tight_index(g);
    cgen_put(g, " %% %uu", g->subgroup);
    return;
  case VYRE_OP_subgroup_id:
    put_tight_index(g);
    cgen_put(g, " / %uu", g->subgroup);
    return;
  case VYRE_OP_subgroup_size:
    cgen_put(g, "%uu", g->subgroup);
    return;
  case VYRE_OP_subgroups:
    cgen_put(g, "%uu", (g->count + g->subgroup - 1) / g->subgroup);
    return;
  default:
    put_mask(g, op, lane);
    return;
  }
}

/* ---- composition ---------------------------------------------------------------------------------------------------------- */

static void
put_lane(cgen *g, uint32_t row)
{
  const uint32_t a = g->v->a[row], b = g->v->b[row], lanes = cgen_lanes(g, a);
  uint64_t index = 0;
  if (code_right_constant(&g->w, row, &index)) {
    if (index < lanes)
      cgen_value(g, a, (uint32_t)index, false);
    else
      cgen_literal(g, cgen_kind(g, row), 0);
    return;
  }
  for (uint32_t k = 0; k < lanes; k++) {
    cgen_value(g, b, 0, true);
    cgen_put(g, " == %uu ? ", k);
    cgen_value(g, a, k, true);
    cgen_put(g, " : ");
  }
  cgen_literal(g, cgen_kind(g, row), 0);
}

static void
put_insert(cgen *g, uint32_t row, uint32_t lane)
{
  uint64_t index = 0;
  if (code_constant(&g->w, g->v->c[row], &index)) {
    cgen_value(g, index == lane ? g->v->b[row] : g->v->a[row], index == lane ? 0 : lane, false);
    return;
  }
  cgen_value(g, g->v->c[row], 0, true);
  cgen_put(g, " == %uu ? ", lane);
  cgen_value(g, g->v->b[row], 0, true);
  cgen_put(g, " : ");
  cgen_value(g, g->v->a[row], lane, true);
}

static void
put_join(cgen *g, uint32_t row, uint32_t lane)
{
  const uint32_t operands[3] = {g->v->a[row], g->v->b[row], g->v->c[row]};
  uint32_t k = 0;
  for (; k < 2 && lane >= cgen_lanes(g, operands[k]); k++)
    lane -= cgen_lanes(g, operands[k]);
  cgen_value(g, operands[k], lane, false);
}

static void
put_shuffle(cgen *g, uint32_t row, uint32_t lane)
{
  const uint32_t from = VYRE_SHUFFLE_LANE(g->v->imm[row], lane), side = from < 4 ? g->v->a[row] : g->v->b[row];
  if (side != 0 && (from & 3u) < cgen_lanes(g, side))
    cgen_value(g, side, from & 3u, false);
  else
    cgen_literal(g, cgen_kind(g, row), 0);
}

/* Writes a select of integers of 32 and 64 bits as a function without a branch.  Compilers emit none for two literals either. */
static void
put_select(cgen *g, uint32_t row, uint32_t lane)
{
  const uint32_t a = g->v->a[row];
  const vyre_kind kind = cgen_kind(g, row);
  uint64_t bits;
  if (vyre_kind_is_int(kind) && vyre_kind_bits(kind) >= 32 &&
      !(code_constant(&g->w, g->v->b[row], &bits) && code_constant(&g->w, g->v->c[row], &bits))) {
    cgen_call(g, "select", kind);
    cgen_value(g, a, cgen_lanes(g, a) > 1 ? lane : 0, false);
    cgen_put(g, ", ");
    cgen_value(g, g->v->b[row], lane, false);
    cgen_put(g, ", ");
    cgen_value(g, g->v->c[row], lane, false);
    cgen_put(g, ")");
    return;
  }
  cgen_value(g, a, cgen_lanes(g, a) > 1 ? lane : 0, true);
  cgen_put(g, " ? ");
  cgen_value(g, g->v->b[row], lane, true);
  cgen_put(g, " : ");
  cgen_value(g, g->v->c[row], lane, true);
}

static void
put_part(cgen *g, uint32_t row, uint32_t lane)
{
  const uint32_t tuple = g->v->a[row], k = g->v->imm[row];
  if (cgen_is(g, tuple, VYRE_OP_tuple))
    cgen_value(g, vyre_tuple_part(g->v, tuple, k), lane, false);
  else
    cgen_put_name(g, tuple, k, cgen_lanes(g, row) > 1 ? lane : UINT32_MAX);
}

/* any, all */
static void
put_vote(cgen *g, uint32_t row)
{
  const uint32_t a = g->v->a[row];
  for (uint32_t k = 0; k < cgen_lanes(g, a); k++) {
    cgen_put(g, k == 0 ? "" : cgen_is(g, row, VYRE_OP_any) ? " || " : " && ");
    cgen_value(g, a, k, true);
  }
}

/* ---- bits ----------------------------------------------------------------------------------------------------------------- */

static void
put_bits(cgen *g, uint32_t row, uint32_t lane)
{
  const vyre_kind kind = cgen_kind(g, row);
  const bool is_float = kind == VYRE_F32 || kind == VYRE_F64;
  if (is_float)
    cgen_call(g, "bits", kind);
  cgen_value(g, row, lane, !is_float);
  cgen_put(g, is_float ? ")" : "");
}

static void
put_bitcast(cgen *g, uint32_t row, uint32_t lane)
{
  const uint32_t a = g->v->a[row];
  const vyre_kind kind = cgen_kind(g, row);
  const uint32_t from = vyre_kind_bits(cgen_kind(g, a)), to = vyre_kind_bits(kind);
  const bool is_float = kind == VYRE_F32 || kind == VYRE_F64;
  const char *unsigned_type = to == 64 ? "uint64_t" : to == 32 ? "uint32_t" : to == 16 ? "uint16_t" : "uint8_t";
  if (is_float)
    cgen_call(g, "of_bits", kind);
  if (from == to) {
    put_bits(g, a, lane);
  } else if (from > to) {
    const uint32_t each = from / to;
    cgen_put(g, "(%s)(", unsigned_type);
    put_bits(g, a, lane / each);
    cgen_put(g, " >> %uu)", lane % each * to);
  } else {
    cgen_put(g, to == 16 ? "(uint16_t)(" : "");
    for (uint32_t k = 0; k < to / from; k++) {
      cgen_put(g, k ? " | (%s)" : "(%s)", to == 64 ? "uint64_t" : "uint32_t");
      put_bits(g, a, lane * (to / from) + k);
      if (k)
        cgen_put(g, " << %uu", k * from);
    }
    cgen_put(g, to == 16 ? ")" : "");
  }
  cgen_put(g, is_float ? ")" : "");
}

/* ---- all ------------------------------------------------------------------------------------------------------------------ */

void
cgen_right(cgen *g, uint32_t row, uint32_t lane, bool tight)
{
  uint64_t bits;
  if (cgen_has_literal(g, row) && code_right_constant(&g->w, row, &bits))
    cgen_literal(g, VYRE_TYPE_KIND(code_right_type(g->v, row)), bits);
  else
    cgen_value(g, g->v->b[row], lane, tight);
}

static void
expression(cgen *g, uint32_t row, uint32_t lane)
{
  const vyre_opcode op = cgen_op(g, row);
  /* clang-format off */
  switch ((uint32_t)op) {
  case VYRE_OP_get: cgen_put_name(g, g->v->a[row], UINT32_MAX, cgen_lanes(g, row) > 1 ? lane : UINT32_MAX); return;
  case VYRE_OP_part: put_part(g, row, lane); return;
  case VYRE_OP_join: put_join(g, row, lane); return;
  case VYRE_OP_splat: cgen_value(g, g->v->a[row], 0, false); return;
  case VYRE_OP_lane: put_lane(g, row); return;
  case VYRE_OP_insert: put_insert(g, row, lane); return;
  case VYRE_OP_shuffle: put_shuffle(g, row, lane); return;
  case VYRE_OP_select: put_select(g, row, lane); return;
  case VYRE_OP_any: case VYRE_OP_all: put_vote(g, row); return;
  case VYRE_OP_bitcast: put_bitcast(g, row, lane); return;
  case VYRE_OP_convert: cgen_convert(g, row, lane); return;
  default: break;
  }
  /* clang-format on */
  if (vyre_op_is_invocation(op))
    put_invocation(g, op, lane);
  else if (!cgen_subgroup_value(g, row, lane) && !cgen_vector(g, row, lane) && !cgen_float(g, row, lane) &&
           !cgen_integer(g, row, lane))
    cgen_fail(g, row, "'%s' of these types cannot be written as C\nFix: report this as a bug of vyre", vyre_op_infos[op].text);
}

/* Returns whether the text must be cast to the row's type.  C promotes operands of 8 and 16 bits to int, so a conditional
 * expression of them has the type int. */
static bool
is_cut(const cgen *g, uint32_t row)
{
  const vyre_opcode op = cgen_op(g, row);
  const vyre_kind kind = cgen_kind(g, row);
  return (op == VYRE_OP_select || op == VYRE_OP_lane || op == VYRE_OP_insert) && kind != VYRE_F32 && vyre_kind_bits(kind) < 32 &&
         kind != VYRE_BOOL;
}

static void
put_expression(cgen *g, uint32_t row, uint32_t lane)
{
  const size_t start = g->w.out->size;
  if (g->inside && g->known[row - g->program]) {
    cgen_put(g, g->known[row - g->program] == CGEN_TRUE ? "true" : "false");
    return;
  }
  if (is_cut(g, row))
    cgen_put(g, "(%s)", cgen_type_name(cgen_kind(g, row)));
  const size_t inner = g->w.out->size;
  expression(g, row, lane);
  if (inner != start)
    tighten(g, inner);
}

void
cgen_value(cgen *g, uint32_t row, uint32_t lane, bool tight)
{
  const size_t start = g->w.out->size;
  uint64_t bits;
  if (code_constant(&g->w, row, &bits))
    cgen_literal(g, cgen_kind(g, row), bits);
  else if (cgen_form_of(g, row) == CGEN_INLINE)
    put_expression(g, row, lane);
  else
    cgen_put_name(g, row, UINT32_MAX, cgen_lanes(g, row) > 1 ? lane : UINT32_MAX);
  if (tight)
    tighten(g, start);
}

/* ---- statements that define ------------------------------------------------------------------------------------------------- */

void
cgen_begin_definition(cgen *g, uint32_t row, vyre_kind kind, uint32_t part, uint32_t lane)
{
  cgen_begin_line(g);
  if (!g->spilled[row - g->program]) {
    cgen_mark(g, &g->marks, vyre_op_is_atomic(cgen_op(g, row)) ? CGEN_MARK_CALL : CGEN_MARK_LINE);
    cgen_put(g, "const %s ", cgen_type_name(kind));
  }
  cgen_put_name(g, row, part, lane);
  cgen_put(g, " = ");
}

void
cgen_define(cgen *g, uint32_t row)
{
  vyre_type type = cgen_row_type(g, row);
  const bool several = VYRE_TYPE_KIND(type) == VYRE_TUPLE;
  const uint32_t parts = several ? cgen_parts(g, row, &type, 0) : 1;
  for (uint32_t k = 0; k < parts && !g->w.status; k++) {
    if (several)
      cgen_parts(g, row, &type, k);
    for (uint32_t lane = 0; lane < VYRE_TYPE_LANES(type); lane++) {
      cgen_begin_definition(g, row, VYRE_TYPE_KIND(type), several ? k : UINT32_MAX, VYRE_TYPE_LANES(type) > 1 ? lane : UINT32_MAX);
      if (several)
        cgen_part_of(g, row, k, lane);
      else
        put_expression(g, row, lane);
      cgen_put(g, ";\n");
    }
  }
}
