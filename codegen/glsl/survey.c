/* Chooses the rows that are inlined and the rows that are named statements.
 *
 * Rows are visited from the last to the first, so that the users of a row precede it.  A row is inlined if it has no name and
 * one use, in the same region.  The user's text must contain the row once, and the expression must stay shallow.  Between a
 * read and the statement nothing may write.  Constants, built-ins, paths, tuples, parts, lengths and unnamed lanes at a
 * literal index are inlined always, except in long chains.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "glsl.h"

#include "codegen/common/common.h"

#include <string.h>

#define DEEPEST       4u
#define LONGEST_CHAIN 64u /* of rows that are always inlined */

static const vyre_op_info *
info_of(const glsl *g, uint32_t row)
{
  return &vyre_op_infos[VYRE_ROW_OP(g->v->op[row])];
}

static bool
is_bool_vector(const glsl *g, uint32_t row)
{
  const vyre_type type = glsl_row_type(g, row);
  return VYRE_TYPE_KIND(type) == VYRE_BOOL && VYRE_TYPE_LANES(type) > 1;
}

bool
glsl_is_componentwise(const glsl *g, uint32_t row)
{
  const vyre_type type = glsl_row_type(g, row);
  switch (VYRE_ROW_OP(g->v->op[row])) {
  case VYRE_OP_and:
  case VYRE_OP_or:
  case VYRE_OP_xor:
    return is_bool_vector(g, row);
  case VYRE_OP_select: {
    const vyre_kind kind = VYRE_TYPE_KIND(type);
    const bool has_mix = kind == VYRE_BOOL || kind == VYRE_I32 || kind == VYRE_U32 || kind == VYRE_F32 || kind == VYRE_F64;
    return !has_mix && VYRE_TYPE_LANES(glsl_row_type(g, g->v->a[row])) > 1;
  }
  case VYRE_OP_fone:
  case VYRE_OP_fueq:
    return true;
  default:
    return false;
  }
}

/* GLSL compilers fold constant expressions, and reject an index that is then out of bounds. */
bool
glsl_is_constant_expression(const glsl *g, uint32_t row, unsigned depth)
{
  const vyre_op_info *info = info_of(g, row);
  const uint32_t operands[3] = {g->v->a[row], g->v->b[row], g->v->c[row]};
  if (glsl_is(g, row, VYRE_OP_const) || glsl_is(g, row, VYRE_OP_spec))
    return true;
  if (glsl_is(g, row, VYRE_OP_lane) && glsl_is(g, operands[0], VYRE_OP_const))
    return true; /* all its lanes are equal */
  if (!(info->flags & VYRE_OP_PURE) || info->operands == 0 || depth > 2 * DEEPEST)
    return false;
  for (uint32_t k = 0; k < 3; k++)
    if (operands[k] && !glsl_is_constant_expression(g, operands[k], depth + 1))
      return false;
  return true;
}

/* Returns whether the text of the row repeats that operand, or needs it as a name. */
static bool
mentions_twice(const glsl *g, uint32_t row, uint32_t operand)
{
  const vyre_view *v = g->v;
  switch (VYRE_ROW_OP(v->op[row])) {
  case VYRE_OP_at: /* a strict program checks its indices, and a path may be used twice */
    return operand == v->b[row] &&
           (g->strict || g->uses[row - g->program] > 1 || g->twice[row - g->program] || glsl_is_constant_expression(g, operand, 0));
  case VYRE_OP_lane:
    return operand == v->a[row] ? g->uses[row - g->program] > 1 || !(info_of(g, operand)->flags & VYRE_OP_READS)
                                : g->strict || glsl_is_constant_expression(g, operand, 0);
  case VYRE_OP_insert:
    return operand == v->c[row] && (g->strict || glsl_is_constant_expression(g, operand, 0));
  case VYRE_OP_shuffle:
    return true;
  case VYRE_OP_for:
    return true; /* the operands would be computed in each iteration */
  case VYRE_OP_uaddc:
  case VYRE_OP_usubb:
  case VYRE_OP_umulx:
  case VYRE_OP_smulx:
    return true;
  case VYRE_OP_bitcast: /* perhaps in pieces */
    return VYRE_TYPE_LANES(glsl_row_type(g, operand)) > 1 && VYRE_TYPE_LANES(glsl_row_type(g, row)) > 1 &&
           VYRE_TYPE_LANES(glsl_row_type(g, operand)) != VYRE_TYPE_LANES(glsl_row_type(g, row));
  case VYRE_OP_sdot:
  case VYRE_OP_udot:
  case VYRE_OP_sudot:
    return operand != v->c[row];
  case VYRE_OP_copy: /* checks the bounds of both sides */
    return true;
  default:
    if (g->strict && vyre_op_is_subgroup(VYRE_ROW_OP(v->op[row])))
      return true;
    return glsl_is_componentwise(g, row) || glsl_reads_otherwise(g, row);
  }
}

static bool
goes_inside_always(const glsl *g, uint32_t row)
{
  switch (VYRE_ROW_OP(g->v->op[row])) {
  case VYRE_OP_const:
  case VYRE_OP_at:
  case VYRE_OP_tuple:
  case VYRE_OP_part:
    return true;
  case VYRE_OP_lane:
    return (VYRE_ROW_FLAGS(g->v->op[row]) & VYRE_ROW_IMM) && vyre_row_name(g->module, (vyre_row){row}) == NULL;
  case VYRE_OP_length:
    return true;
  default:
    return info_of(g, row)->operands == 0 && (info_of(g, row)->flags & VYRE_OP_PURE); /* gid and the like */
  }
}

bool
glsl_is_precise(const glsl *g, uint32_t row)
{
  const uint32_t op = g->v->op[row];
  if (vyre_kind_is_int(VYRE_TYPE_KIND(VYRE_ROW_TYPE(op))))
    return false;
  switch (VYRE_ROW_OP(op)) {
  case VYRE_OP_add:
  case VYRE_OP_sub:
  case VYRE_OP_mul:
    return g->strict || (VYRE_ROW_FLAGS(op) & VYRE_ROW_EXACT);
  default:
    return (VYRE_ROW_FLAGS(op) & VYRE_ROW_EXACT) != 0;
  }
}

/* Returns whether the row may be an expression inside another. */
static bool
may_go_inside(const glsl *g, uint32_t row)
{
  const uint32_t op = g->v->op[row], flags = info_of(g, row)->flags;
  if (vyre_row_name(g->module, (vyre_row){row}) || glsl_is_precise(g, row))
    return false;
  if (VYRE_TYPE_KIND(VYRE_ROW_TYPE(op)) == VYRE_TUPLE || VYRE_ROW_OP(op) == VYRE_OP_insert)
    return false;
  if (VYRE_ROW_OP(op) == VYRE_OP_load)
    return (VYRE_ROW_FLAGS(op) & VYRE_ROW_VOLATILE) == 0;
  return (flags & VYRE_OP_PURE) || VYRE_ROW_OP(op) == VYRE_OP_get;
}

static bool
stays_in_the_program_head(const glsl *g, uint32_t row)
{
  return g->v->parent[row] == g->program && row < g->first_body;
}

static void
choose(glsl *g, uint32_t row, uint32_t user, bool twice)
{
  const uint32_t i = row - g->program, place = g->place[i];
  const bool reads = (info_of(g, row)->flags & VYRE_OP_READS) != 0;
  g->form[i] = GLSL_NAMED;
  const bool picks = glsl_is(g, row, VYRE_OP_lane) || glsl_is(g, row, VYRE_OP_part);
  const bool named = picks && (g->chain[i] > LONGEST_CHAIN || g->pinned[i] || (twice && glsl_is_constant_expression(g, row, 0)));
  if (goes_inside_always(g, row) && !named) {
    g->form[i] = GLSL_INLINE;
    return;
  }
  if (g->uses[i] != 1 || twice || !may_go_inside(g, row) || stays_in_the_program_head(g, row) ||
      g->v->parent[place] != g->v->parent[row])
    return;
  if (reads && g->writes[place - 1 - g->program] != g->writes[i])
    return;
  if (g->level[user - g->program] >= DEEPEST && g->form[user - g->program] == GLSL_INLINE)
    return;
  g->form[i] = GLSL_INLINE;
}

/* Records the use of `operand` by `row`, whose form is known. */
static void
use(glsl *g, uint32_t row, uint32_t operand)
{
  const uint32_t i = operand - g->program, user = row - g->program;
  if (operand <= g->program)
    return;
  const bool inside = g->form[user] == GLSL_INLINE;
  g->uses[i]++;
  g->pinned[i] |= g->pinned[user];
  g->twice[i] |= mentions_twice(g, row, operand);
  g->user[i] = row;
  g->place[i] = inside && g->place[user] ? g->place[user] : row;
  if (inside && goes_inside_always(g, row) && g->uses[user] > 1)
    g->twice[i] = true; /* its text repeats wherever the row's text does */
  g->chain[i] = inside ? (uint8_t)(g->chain[user] + (g->chain[user] < UINT8_MAX)) : 0;
  g->level[i] = inside && !goes_inside_always(g, row) ? (uint8_t)(g->level[user] + 1) : inside ? g->level[user] : 0;
}

static bool
is_root(const glsl *g, uint32_t row)
{
  const uint32_t flags = info_of(g, row)->flags, op = VYRE_ROW_OP(g->v->op[row]);
  return (flags & (VYRE_OP_EFFECT | VYRE_OP_WRITES | VYRE_OP_REGION | VYRE_OP_INTERFACE)) != 0 || op == VYRE_OP_var;
}

/* Records the use of rows that are lengths in a type.  Visits each type once. */
static void
use_lengths(glsl *g, vyre_type_id type, uint32_t buffer)
{
  if (type < 256 || g->measured[type - 256])
    return;
  g->measured[type - 256] = 1;
  const vyre_type_info info = vyre_type_get(g->module, type);
  for (uint32_t k = 0; info.form == VYRE_FORM_STRUCT && k < info.count; k++)
    use_lengths(g, info.members[k].type, buffer);
  if (info.form != VYRE_FORM_ARRAY)
    return;
  use_lengths(g, info.element, buffer);
  if (!info.count_row)
    return;
  use(g, buffer, info.count_row);
  g->pinned[info.count_row - g->program] = 1;
}

static bool
begins_body(const glsl *g, uint32_t row)
{
  const uint32_t op = VYRE_ROW_OP(g->v->op[row]);
  return !(op == VYRE_OP_const || op == VYRE_OP_spec || op == VYRE_OP_workgroup || op == VYRE_OP_buffer || op == VYRE_OP_var ||
           vyre_op_is_invocation(op));
}

/* Returns whether a row of the head is computed from constants and specialization constants only. */
static bool
is_constant(const glsl *g, uint32_t row)
{
  const vyre_view *v = g->v;
  const uint32_t operands[3] = {v->a[row], v->b[row], v->c[row]};
  if (!(info_of(g, row)->flags & VYRE_OP_PURE) || info_of(g, row)->operands == 0)
    return false;
  for (uint32_t k = 0; k < 3; k++)
    if (operands[k] && (operands[k] >= g->first_body || vyre_op_is_invocation(VYRE_ROW_OP(v->op[operands[k]]))))
      return false;
  return true;
}

/* Finds the first row of the body.  Rows before it are declarations, or constant expressions that declarations use. */
static void
find_body(glsl *g)
{
  const vyre_view *v = g->v;
  uint32_t row = v->first[g->program], last_declaration = 0;
  for (uint32_t r = row; r; r = v->next[r]) {
    const uint32_t op = VYRE_ROW_OP(v->op[r]);
    if (op == VYRE_OP_spec || op == VYRE_OP_workgroup || op == VYRE_OP_buffer || op == VYRE_OP_var)
      last_declaration = r;
  }
  g->first_body = last_declaration ? v->next[last_declaration] : row;
  while (g->first_body && !begins_body(g, g->first_body))
    g->first_body = v->next[g->first_body];
  if (!g->first_body)
    g->first_body = g->end;
  for (; row && row < g->first_body; row = v->next[row])
    if (begins_body(g, row) && !is_constant(g, row)) {
      g->first_body = row;
      return;
    }
}

/* Marks loops with a `continue`, and constructs with a `leave`. */
static void
find_jumps(glsl *g)
{
  const vyre_view *v = g->v;
  for (uint32_t row = g->program; row < g->end; row++) {
    if (glsl_is(g, row, VYRE_OP_leave))
      g->left[v->a[row] - g->program] = 1;
    else if (glsl_is(g, row, VYRE_OP_continue))
      g->goes_on[vyre_loop_around(v, row) - g->program] = 1;
  }
}

/* Marks buffers that are read, whatever their declaration. */
static void
find_reads(glsl *g)
{
  const vyre_view *v = g->v;
  for (uint32_t row = g->program; row < g->end; row++) {
    const vyre_opcode op = glsl_opcode(g, row);
    const uint32_t from = op == VYRE_OP_load || op == VYRE_OP_atomic_load  ? v->a[row]
                          : op == VYRE_OP_copy || op == VYRE_OP_async_copy ? v->b[row]
                                                                           : 0;
    if (from)
      g->read[vyre_path_buffer(g->module, (vyre_row){from}).id - g->program] = 1;
  }
}

void
glsl_survey(glsl *g)
{
  const vyre_view *v = g->v;
  find_body(g);
  find_reads(g);
  code_count_writes(g->v, g->program, g->end, g->writes);
  find_jumps(g);
  for (uint32_t row = g->end; row-- > g->program + 1;) {
    const uint32_t i = row - g->program;
    if (g->uses[i] == 0 && !is_root(g, row)) {
      g->form[i] = GLSL_UNUSED;
      continue;
    }
    if (is_root(g, row))
      g->form[i] = GLSL_NAMED;
    else
      choose(g, row, g->user[i], g->twice[i] != 0);
    if (glsl_is(g, row, VYRE_OP_workgroup)) /* the declaration has its operands' values or ids */
      continue;
    if (glsl_is(g, row, VYRE_OP_buffer))
      use_lengths(g, v->imm[row], row);
    use(g, row, v->a[row]);
    use(g, row, v->b[row]);
    use(g, row, v->c[row]);
  }
}
