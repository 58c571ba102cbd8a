/* Parses ops by the op table: operands, flags, types, memory orders and decorations.
 *
 * Ops with a syntax of their own have special cases: const, at, part, tuple, shuffle, opaque ops and invocation ids.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "op.h"

#include "literal.h"
#include "parser.h"
#include "vyre/opaque.h"
#include "subgroup.h"
#include "vyre/dot.h"

#include <string.h>

/* ---- op names ---- */

static uint32_t
hash_op(const char *text, uint32_t length)
{
  uint32_t hash = length;
  for (uint32_t i = 0; i < length; i++)
    hash = (hash ^ (uint8_t)text[i]) * 0x01000193u;
  return hash ^ hash >> 15;
}

void
text_fill_ops(text_parser *p)
{
  for (uint32_t op = 1; op < VYRE_OP__COUNT; op++) {
    const char *text = vyre_op_infos[op].text;
    if (!text)
      continue;
    uint32_t slot = hash_op(text, (uint32_t)strlen(text));
    while (p->ops[slot % TEXT_OP_SLOTS].op)
      slot++;
    p->ops[slot % TEXT_OP_SLOTS] = (text_op_slot){(uint16_t)op, (uint16_t)strlen(text)};
  }
}

vyre_opcode
text_op_at(const text_parser *p, const text_token *token)
{
  const char *text = p->lexer.text + token->start;
  for (uint32_t slot = hash_op(text, token->length); p->ops[slot % TEXT_OP_SLOTS].op; slot++) {
    text_op_slot found = p->ops[slot % TEXT_OP_SLOTS];
    if (found.length == token->length && memcmp(vyre_op_infos[found.op].text, text, token->length) == 0)
      return (vyre_opcode)found.op;
  }
  return VYRE_OP_null;
}

/* ---- flags, orders, decorations ---- */

static uint32_t
bit_of_word(const text_parser *p, const text_bit_word *words)
{
  if (p->lexer.token.kind != TOKEN_WORD)
    return 0;
  for (; words->word; words++)
    if (text_is_word(p, words->word))
      return words->bits;
  return 0;
}

static uint32_t
parse_flags(text_parser *p)
{
  uint32_t flags = 0;
  for (uint32_t bit; (bit = bit_of_word(p, text_flag_words)) != 0; flags |= bit)
    text_lex(&p->lexer);
  return flags;
}

static bool
scope_of_word(const text_parser *p, uint32_t *out)
{
  for (*out = 0; text_scope_words[*out]; ++*out)
    if (text_is_word(p, text_scope_words[*out]))
      return true;
  return false;
}

bool
text_parse_order(text_parser *p, vyre_opcode op, uint32_t *out)
{
  uint32_t scopes[2] = {0, 0};
  uint32_t scope_count = 0, semantics = 0;
  bool any = false;
  *out = text_default_order(op);
  while (!p->lexer.token.first_on_line && p->lexer.token.kind == TOKEN_WORD) {
    uint32_t scope;
    uint32_t bit = bit_of_word(p, text_semantics_words);
    if (text_is_word(p, "order")) {
      text_lex(&p->lexer);
      return text_expect_mark(p, '(') && text_expect_integer(p, UINT32_MAX, out) && text_expect_mark(p, ')');
    }
    if (bit) {
      semantics |= bit;
    } else if (scope_of_word(p, &scope)) {
      if (scope_count == (op == VYRE_OP_barrier ? 2u : 1u))
        return text_error_token(p, NULL, "too many scopes");
      scopes[scope_count++] = scope;
    } else {
      break;
    }
    any = true;
    text_lex(&p->lexer);
  }
  if (!any)
    return true;
  if (op == VYRE_OP_copy)
    *out = VYRE_ORDER(scopes[0], scopes[0], semantics);
  else if (op != VYRE_OP_barrier)
    *out = VYRE_ORDER(0, scope_count ? scopes[0] : VYRE_ORDER_MEMORY(*out), semantics);
  else if (scope_count == 1 && !semantics)
    *out = VYRE_ORDER(scopes[0], scopes[0], text_barrier_semantics(scopes[0]));
  else
    *out = VYRE_ORDER(scope_count ? scopes[0] : 2, scope_count == 2 ? scopes[1] : scope_count ? scopes[0] : 2, semantics);
  return true;
}

/* Parses `deco(decoration, operands...)`, repeated. Each is stored as the decoration, the number of operands and the operands. */
bool
text_parse_decorations(text_parser *p, uint32_t row)
{
  uint32_t base = p->stack.count;
  bool good = true;
  while (good && text_accept_word(p, "deco")) {
    uint32_t word;
    good = text_expect_mark(p, '(') && text_expect_integer(p, UINT32_MAX, &word) && text_push_word(p, &p->stack, word);
    uint32_t count_at = p->stack.count;
    good = good && text_push_word(p, &p->stack, 0);
    while (good && text_accept_mark(p, ','))
      good = text_expect_integer(p, UINT32_MAX, &word) && text_push_word(p, &p->stack, word);
    good = good && text_expect_mark(p, ')');
    if (good)
      p->stack.data[count_at] = p->stack.count - count_at - 1;
  }
  if (good && row && p->stack.count > base)
    vyre_row_set_decorations(p->module, (vyre_row){row}, p->stack.data + base, p->stack.count - base);
  p->stack.count = base;
  return good;
}

/* ---- operands by the op table ---- */

typedef struct op_reader {
  vyre_opcode op;
  text_token token;
  bool parentheses;
  bool is_statement;
  uint32_t flags;
  text_operand operands[3];
  uint32_t count; /* number of operands, including those beyond three */
  uint32_t lanes; /* packed lanes of a shuffle, or the number after the operands */
  uint32_t lane_count;
  vyre_type type; /* given after a colon, or VYRE_VOID */
} op_reader;

static bool
parse_lane_list(text_parser *p, op_reader *r)
{
  text_lex(&p->lexer);
  do {
    uint32_t lane;
    if (r->lane_count == 4)
      return text_error_token(p, NULL, "a shuffle has at most 4 lanes");
    if (!text_expect_integer(p, 7, &lane))
      return false;
    r->lanes |= lane << 4 * r->lane_count++;
  } while (text_accept_mark(p, ','));
  return text_expect_mark(p, ']');
}

static uint32_t
least_operands(vyre_opcode op)
{
  uint32_t most = vyre_op_infos[op].operands;
  return op == VYRE_OP_join || vyre_op_is_int_dot(op) ? 2 : op == VYRE_OP_shuffle || op == VYRE_OP_tuple ? 1 : most;
}

/* Parses one operand. The operands of a tuple are pushed onto the stack because their number is not limited. */
static bool
parse_next_operand(text_parser *p, op_reader *r)
{
  text_operand other;
  text_operand *operand = r->op == VYRE_OP_tuple || r->count >= 3 ? &other : &r->operands[r->count];
  if (r->op == VYRE_OP_shuffle && r->count && text_is_mark(p, '['))
    return parse_lane_list(p, r);
  if (text_accepts_number(r->op) && r->count == vyre_op_infos[r->op].operands) {
    r->count++;
    return text_expect_integer(p, r->op == VYRE_OP_part ? UINT16_MAX : UINT32_MAX, &r->lanes);
  }
  if (!text_parse_operand(p, operand))
    return false;
  if (r->op == VYRE_OP_tuple) {
    const vyre_kind kind = VYRE_TYPE_KIND(operand->type);
    if (kind != VYRE_TUPLE && kind != VYRE_PATH) /* opaque rows have paths as operands */
      text_require_value(p, operand);
    r->operands[0].bad |= operand->bad;
    if (!text_push_word(p, &p->stack, text_row_of(p, operand)))
      return false;
  }
  r->count++;
  return true;
}

static bool
parse_operands(text_parser *p, op_reader *r)
{
  uint32_t most = vyre_op_infos[r->op].operands + (text_accepts_number(r->op) ? 1u : 0u);
  if (r->parentheses && text_is_mark(p, ')'))
    return true;
  if (!r->parentheses && (most == 0 || (least_operands(r->op) == 0 && (p->lexer.token.first_on_line || text_is_mark(p, '}')))))
    return true;
  bool open_ended = r->parentheses || r->is_statement;
  if (!open_ended && least_operands(r->op) != vyre_op_infos[r->op].operands)
    return text_error(p, r->token.start, r->token.length, NULL, "inside an expression %s needs parentheses",
                      vyre_op_infos[r->op].text);
  do {
    if (!parse_next_operand(p, r))
      return false;
    if (!open_ended && r->count == most)
      return true;
  } while (text_accept_mark(p, ','));
  if (!open_ended)
    return text_expected(p, "','");
  return true;
}

static bool
check_count(text_parser *p, op_reader *r)
{
  uint32_t most = vyre_op_infos[r->op].operands + (text_accepts_number(r->op) ? 1u : 0u);
  uint32_t least = least_operands(r->op) + (r->op == VYRE_OP_part ? 1u : 0u);
  if (r->op == VYRE_OP_tuple)
    most = UINT16_MAX;
  if (r->count >= least && r->count <= most)
    return true;
  const char *text = vyre_op_infos[r->op].text;
  bool runs_on =
      !r->parentheses && !p->lexer.token.first_on_line && p->lexer.token.kind != TOKEN_MARK && p->lexer.token.kind != TOKEN_END;
  if (r->count < least && runs_on)
    return text_expected(p, "','");
  if (least == most)
    return text_error(p, r->token.start, r->token.length, NULL, "%s takes %u operand%s, but has %u", text, most,
                      most == 1 ? "" : "s", r->count);
  return text_error(p, r->token.start, r->token.length, NULL, "%s takes %u to %u operands, but has %u", text, least, most,
                    r->count);
}

/* ---- checks of operands ---- */

static void
check_need(text_parser *p, op_reader *r, uint32_t k)
{
  static const char *const wanted[] = {"a value", "a location in memory", "a var", "a tuple"};
  text_operand *operand = &r->operands[k];
  text_need need = text_need_of(r->op, k);
  if (operand->bad || need == NEED_VALUE) {
    text_require_value(p, operand);
    return;
  }
  uint32_t op = operand->literal ? (uint32_t)VYRE_OP_const : VYRE_ROW_OP(p->view->op[operand->row]);
  vyre_kind kind = operand->literal ? VYRE_VOID : VYRE_TYPE_KIND(operand->type);
  bool good = need == NEED_PATH ? kind == VYRE_PATH : need == NEED_TUPLE ? kind == VYRE_TUPLE : op == VYRE_OP_var;
  if (good)
    return;
  char text[160];
  const char *fix = need == NEED_PATH && op == VYRE_OP_var ? "use get and set for a var" : NULL;
  text_error(p, operand->start, operand->length, fix, "%s needs %s here, but '%.*s' is %s", vyre_op_infos[r->op].text, wanted[need],
             operand->length < 60 ? (int)operand->length : 60, p->lexer.text + operand->start, text_describe(p, operand, text));
  operand->bad = true;
}

/* Checks the type of a literal right operand. It becomes the row's imm, which does not store its type. */
static void
check_immediate(text_parser *p, op_reader *r)
{
  text_operand *right = &r->operands[1];
  vyre_type want = r->operands[0].type;
  char left_text[48];
  char right_text[48];
  if (right->bad || r->operands[0].bad || (!right->literal && VYRE_ROW_OP(p->view->op[right->row]) != VYRE_OP_const))
    return;
  if (r->op == VYRE_OP_lane) {
    if (right->type != VYRE_TYPE(VYRE_U32, 1) && right->type != VYRE_TYPE(VYRE_I32, 1))
      right->bad = !text_error(p, right->start, right->length, NULL, "the number of a lane must be u32 or i32, but is %s",
                               vyre_text_type(right->type, right_text));
    return;
  }
  if (right->type == want)
    return;
  const char *fix = VYRE_TYPE_KIND(want) == VYRE_TYPE_KIND(right->type) ? "append x2 to x4 to a literal for several lanes" : NULL;
  text_error(p, right->start, right->length, fix, "the left operand of %s is %s, but the literal is %s", vyre_op_infos[r->op].text,
             vyre_text_type(want, left_text), vyre_text_type(right->type, right_text));
  right->bad = true;
}

static bool
check_operands(text_parser *p, op_reader *r)
{
  bool bad = r->operands[0].bad;
  uint32_t count = r->op == VYRE_OP_tuple ? 0 : text_accepts_number(r->op) ? vyre_op_infos[r->op].operands : r->count;
  for (uint32_t k = 0; k < count; k++)
    check_need(p, r, k);
  if (vyre_op_infos[r->op].flags & VYRE_OP_TAKES_IMM && r->op != VYRE_OP_at)
    check_immediate(p, r);
  for (uint32_t k = 0; k < count; k++)
    bad |= r->operands[k].bad;
  return !bad;
}

/* ---- rows ---- */

/* Sets `out` to a row that was just built. */
static void
set_result(text_parser *p, text_operand *out, vyre_row row)
{
  out->row = row.id;
  out->fresh = true;
  out->type = row.id ? text_type_of(p, row.id) : VYRE_VOID;
  if (!row.id)
    text_no_memory(p);
}

/* Builds a tuple of the rows on the parser's stack from `base` on. The last row may be a tuple row, which then holds the remaining
 * parts of the new tuple. */
static void
build_tuple(text_parser *p, op_reader *r, uint32_t base, text_operand *out)
{
  uint32_t count = r->count;
  uint32_t *rows = p->stack.data + base;
  uint32_t rest = 0;
  for (uint32_t i = 0; i < count && !rest; i++) {
    if (VYRE_TYPE_KIND(text_type_of(p, rows[i])) != VYRE_TUPLE)
      continue;
    if (i + 1 < count || count < 3 || count % 2 == 0) {
      out->bad = !text_error(p, r->token.start, r->token.length, NULL, "a tuple cannot be a part of a tuple");
      return;
    }
    rest = rows[i];
  }
  uint32_t imm = VYRE_TUPLE_OF(0, 0);
  vyre_row row = {rest};
  if (rest) {
    imm = p->view->imm[rest];
    count--;
  } else {
    vyre_row parts[3];
    uint32_t tail = count <= 3 ? count : count % 2 ? 3 : 2;
    for (uint32_t i = 0; i < tail; i++)
      parts[i] = (vyre_row){rows[count - tail + i]};
    row = vyre_build_tuple(&p->builder, parts, tail);
    imm = p->view->imm[row.id];
    count -= tail;
  }
  for (; count && row.id; count -= 2) {
    vyre_type type = VYRE_TUPLE_TYPE(imm);
    bool same = text_type_of(p, rows[count - 2]) == type && text_type_of(p, rows[count - 1]) == type;
    uint32_t parts_now = VYRE_TUPLE_COUNT(imm) + 2;
    if (parts_now > UINT16_MAX) {
      out->bad = !text_error(p, r->token.start, r->token.length, NULL, "a tuple has at most 65535 parts");
      return;
    }
    imm = VYRE_TUPLE_OF(parts_now, same ? type : 0);
    row = vyre_build(&p->builder, VYRE_OP_tuple, VYRE_TYPE(VYRE_TUPLE, 1), 0, imm, 0, (vyre_row){rows[count - 2]},
                     (vyre_row){rows[count - 1]}, row);
  }
  set_result(p, out, row);
}

static void
build_part(text_parser *p, op_reader *r, text_operand *out)
{
  uint32_t tuple = r->operands[0].row;
  vyre_type type = text_part_type(p, tuple, r->lanes);
  uint32_t count = vyre_op_is_opaque(VYRE_ROW_OP(p->view->op[tuple]))
                       ? vyre_type_leaves(p->module, vyre_type_get(p->module, p->view->imm[tuple]).element)
                       : VYRE_TUPLE_COUNT(p->view->imm[tuple]);
  if (r->lanes >= count || type == VYRE_VOID) {
    out->bad = !text_error(p, r->token.start, r->token.length, NULL, "the tuple only has parts 0 to %u", count ? count - 1 : 0);
    return;
  }
  if (VYRE_TYPE_KIND(type) == VYRE_PATH) {
    out->bad =
        !text_error(p, r->token.start, r->token.length, "use the location directly", "part %u is a location in memory", r->lanes);
    return;
  }
  set_result(p, out, vyre_build(&p->builder, VYRE_OP_part, type, r->flags, r->lanes, 0, (vyre_row){tuple}, VYRE_NONE, VYRE_NONE));
}

static bool
result_type(text_parser *p, op_reader *r, vyre_type *out_type, uint32_t *out_imm)
{
  if (r->op == VYRE_OP_shuffle) {
    *out_type = VYRE_TYPE(VYRE_TYPE_KIND(r->operands[0].type), r->lane_count ? r->lane_count : 1);
    *out_imm = r->lanes;
    if (r->lane_count == 0)
      return text_error(p, r->token.start, r->token.length, "write [0, 1] for the first two lanes",
                        "shuffle needs a list of lanes");
    if (r->type && r->type != *out_type)
      return text_error(p, r->token.start, r->token.length, NULL,
                        "the type does not match the result of shuffle, which has %u lane%s", r->lane_count,
                        r->lane_count == 1 ? "" : "s");
    return true;
  }
  if (vyre_op_infos[r->op].rule == VYRE_RULE_FREE) {
    *out_type = r->type;
    *out_imm = 0;
    return r->type || text_error(p, r->token.start, r->token.length, "write it after a colon, as in ': f32'",
                                 "%s needs the type of its result", vyre_op_infos[r->op].text);
  }
  return text_infer(p, r->op, &r->token, r->operands, r->count, out_type, out_imm);
}

static void
build_row(text_parser *p, op_reader *r, uint32_t payload, text_operand *out)
{
  vyre_type type;
  uint32_t imm = 0, imm_hi = 0, flags = r->flags;
  vyre_row rows[3] = {VYRE_NONE, VYRE_NONE, VYRE_NONE};
  if (!result_type(p, r, &type, &imm)) {
    out->bad = true;
    return;
  }
  bool immediate = (vyre_op_infos[r->op].flags & VYRE_OP_TAKES_IMM) && r->operands[1].literal;
  for (uint32_t k = 0; k < vyre_op_infos[r->op].operands && k < r->count; k++) {
    if (k == 1 && immediate)
      continue;
    rows[k].id = text_row_of(p, &r->operands[k]);
    if (!rows[k].id)
      return;
  }
  if (immediate) {
    flags |= VYRE_ROW_IMM;
    imm = (uint32_t)r->operands[1].bits;
    imm_hi = (uint32_t)(r->operands[1].bits >> 32);
  } else if (text_has_order(r->op) || text_has_group(r->op)) {
    imm = payload;
  } else if (text_accepts_number(r->op)) {
    imm = r->lanes;
  }
  set_result(p, out, vyre_build(&p->builder, r->op, type, flags, imm, imm_hi, rows[0], rows[1], rows[2]));
  out->type = type;
}

/* Parses `const` as a statement, which builds a row of its own. */
static bool
parse_const(text_parser *p, op_reader *r, text_operand *out)
{
  uint64_t bits;
  vyre_type type;
  if (!text_parse_literal(p, &type, &bits) || (r->parentheses && !text_expect_mark(p, ')')))
    return false;
  out->bad = type == 0;
  if (!out->bad)
    set_result(p, out,
               vyre_build(&p->builder, VYRE_OP_const, type, r->flags, (uint32_t)bits, (uint32_t)(bits >> 32), VYRE_NONE, VYRE_NONE,
                          VYRE_NONE));
  return true;
}

/* Parses `at %x[%i]`. The row of the path's last step becomes the result. */
static bool
parse_at(text_parser *p, op_reader *r, text_operand *out)
{
  text_operand path;
  if (!text_parse_operand(p, &path) || (r->parentheses && !text_expect_mark(p, ')')))
    return false;
  bool is_step = !path.bad && !path.literal && path.fresh && VYRE_TYPE_KIND(path.type) == VYRE_PATH;
  if (!path.bad && !is_step)
    text_error(p, path.start, path.length, "write at %x[0], for example", "at needs a path with a step");
  out->bad = !is_step;
  if (out->bad)
    return true;
  const vyre_view *v = p->view;
  uint32_t row = path.row;
  if (r->flags)
    vyre_row_rewrite(p->module, (vyre_row){row}, v->op[row] | r->flags << 24, v->imm[row], v->imm_hi[row], (vyre_row){v->a[row]},
                     (vyre_row){v->b[row]}, VYRE_NONE);
  set_result(p, out, (vyre_row){row});
  return true;
}

/* Parses an op such as gid. Its uses share one row of the program. Uses with flags, and statements with a name or decorations,
 * build rows of their own. */
static bool
parse_invocation(text_parser *p, op_reader *r, text_operand *out)
{
  bool alone = r->is_statement && !text_is_mark(p, '.');
  p->in_body = true; /* rows computed from it are not part of the declarations */
  if (r->flags || (alone && (p->named || text_is_word(p, "deco"))))
    build_row(p, r, 0, out);
  else
    set_result(p, out, vyre_build_invocation(&p->builder, r->op));
  return true;
}

static bool
parse_special(text_parser *p, op_reader *r, text_operand *out, bool *out_done)
{
  *out_done = true;
  if (r->op == VYRE_OP_const)
    return parse_const(p, r, out);
  if (r->op == VYRE_OP_at)
    return parse_at(p, r, out);
  if (vyre_op_is_opaque(r->op))
    return text_parse_opaque(p, r->op, r->flags, out) && (!r->parentheses || text_expect_mark(p, ')'));
  if (vyre_op_is_invocation(r->op) && !r->parentheses)
    return parse_invocation(p, r, out);
  *out_done = false;
  if (r->op < VYRE_OP_barrier)
    return text_error(p, r->token.start, r->token.length, NULL, "%s is a statement, not a value", vyre_op_infos[r->op].text);
  if (!r->is_statement && vyre_op_infos[r->op].rule == VYRE_RULE_VOID)
    return text_error(p, r->token.start, r->token.length, NULL, "%s does not produce a value", vyre_op_infos[r->op].text);
  return true;
}

/* Sets single fields because compilers clear the whole struct with a slow string instruction, which would dominate the run time. */
static void
start_reader(op_reader *r, vyre_opcode op, const text_token *token, bool is_statement)
{
  r->op = op;
  r->token = *token;
  r->parentheses = false;
  r->is_statement = is_statement;
  r->flags = 0;
  for (uint32_t i = 0; i < 3; i++)
    r->operands[i] = (text_operand){0};
  r->count = 0;
  r->lanes = 0;
  r->lane_count = 0;
  r->type = 0;
}

bool
text_parse_op(text_parser *p, vyre_opcode op, bool is_statement, text_operand *out)
{
  op_reader r;
  start_reader(&r, op, &p->lexer.token, is_statement);
  text_lex(&p->lexer);
  r.flags = parse_flags(p);
  r.parentheses = text_accept_mark(p, '(');
  bool done;
  bool known = parse_special(p, &r, out, &done);
  if (!known || done)
    return known && !p->stop;
  uint32_t base = p->stack.count;
  uint32_t payload = 0;
  bool good = parse_operands(p, &r);
  /* A type after an operand without parentheses belongs to the enclosing op, unless this op requires one. */
  bool takes_type = r.parentheses || p->depth <= 1 || vyre_op_infos[op].rule == VYRE_RULE_FREE;
  if (good && takes_type && text_accept_mark(p, ':'))
    good = text_parse_scalar_type(p, &r.type);
  good = good && (!r.parentheses || text_expect_mark(p, ')'));
  if (good && text_has_order(op))
    good = text_parse_order(p, op, &payload);
  else if (good && text_has_group(op))
    good = text_parse_group(p, op, &payload);
  out->length = p->lexer.behind - out->start;
  if (good && r.type && vyre_op_infos[op].rule != VYRE_RULE_FREE)
    good = text_error(p, r.token.start, r.token.length, "remove the type", "the type of %s follows from its operands",
                      vyre_op_infos[op].text);
  if (good && (!check_count(p, &r) || !check_operands(p, &r)))
    out->bad = true;
  else if (good && op == VYRE_OP_tuple)
    build_tuple(p, &r, base, out);
  else if (good && op == VYRE_OP_part)
    build_part(p, &r, out);
  else if (good)
    build_row(p, &r, payload, out);
  p->stack.count = base;
  return good && !p->stop;
}
