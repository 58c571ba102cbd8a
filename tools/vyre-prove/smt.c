/* Writes a claim in SMT-LIB.
 *
 * Each lane of a rule's node is a definition, n<node>.<lane>, over the rule's variables, v.<name>.<lane>.  For relaxed programs
 * u<node> is whether the node is undefined, as in docs/ir.md: if an operand is undefined, or the op is undefined for its operands.
 * A select is undefined only if its condition or the chosen operand is.  Variables may be undefined, constants may not.  An op
 * without a term is an uninterpreted function.
 *
 * Floats are FloatingPoint, whose only NaN equals itself.  If a rule uses the bits of floats, they are bit vectors.  Then the
 * result of an op is a constant of its own, and a NaN has the canonical bits.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "smt/smt.h"
#include "prove.h"

#include "vyre/ir.h"

#include <inttypes.h>
#include <string.h>

typedef struct writer {
  FILE *to;
  const question *q;
  const rules_rule *rule;
  bool raw;
} writer;

static vyre_kind
kind_of(const writer *w, uint32_t id)
{
  return w->q->kinds[w->rule->nodes[id].kind];
}

static uint32_t
lanes_of(const writer *w, uint32_t id)
{
  const rules_node *node = &w->rule->nodes[id];
  return node->constant || node->lanes == 0 ? 1 : w->q->lanes;
}

/* Returns whether the node is computed when the rule matches, as in a strict program.  In the pattern it is a row. */
static bool
is_computed(const writer *w, uint32_t id)
{
  return w->rule->nodes[id].constant && id > w->rule->pattern;
}

static const char *
suffix_of(vyre_kind kind, char out[8])
{
  snprintf(out, 8, ".%c%u", kind == VYRE_BOOL ? 'b' : vyre_kind_is_float(kind) ? 'f' : 'i', vyre_kind_bits(kind));
  return out;
}

/* ---- values ---------------------------------------------------------------------------------------------------------- */

static void
put_bits(FILE *to, vyre_kind kind, uint64_t bits)
{
  if (kind == VYRE_BOOL)
    fputs(bits ? "true" : "false", to);
  else
    fprintf(to, "#x%0*" PRIx64, (int)vyre_kind_bits(kind) / 4, bits);
}

static void
put_literal(const writer *w, vyre_kind kind, uint64_t bits)
{
  const bool is_float = vyre_kind_is_float(kind) && !w->raw;
  if (is_float)
    smt_term(w->to, kind, "((_ to_fp $E $S) ", "");
  put_bits(w->to, kind, bits);
  if (is_float)
    fputc(')', w->to);
}

/* Writes the name of a lane of a node. */
static void
put_name(const writer *w, uint32_t id, uint32_t lane)
{
  const rules_node *node = &w->rule->nodes[id];
  if (lane >= lanes_of(w, id))
    lane = 0;
  if (node->sort == RULES_VARIABLE || node->sort == RULES_CONSTANT)
    fprintf(w->to, "v.%s.%u", w->rule->variables[node->variable].name, lane);
  else
    fprintf(w->to, "n%u.%u", id, lane);
}

/* Writes the same as an operand of an op, with bits converted to floats. */
static void
put_operand(const writer *w, uint32_t id, uint32_t lane)
{
  const bool convert = w->raw && vyre_kind_is_float(kind_of(w, id));
  fputc(' ', w->to);
  if (convert)
    smt_term(w->to, kind_of(w, id), "((_ to_fp $E $S) ", "");
  put_name(w, id, lane);
  if (convert)
    fputc(')', w->to);
}

/* ---- functions ------------------------------------------------------------------------------------------------------- */

/* Returns whether put_special writes the op inline. */
static bool
is_special(uint32_t op)
{
  return op == VYRE_OP_select || op == VYRE_OP_bitcast || op == VYRE_OP_any || op == VYRE_OP_all || op == VYRE_OP_splat ||
         op == VYRE_OP_lane || op == VYRE_OP_insert || op == VYRE_OP_tuple;
}

/* Writes the name of a function: the op and the kinds of its result and operands. */
static void
put_function(const writer *w, char letter, uint32_t id)
{
  const rules_node *node = &w->rule->nodes[id];
  fprintf(w->to, "%c.%s.%u", letter, vyre_op_infos[node->op].text, kind_of(w, id));
  for (uint32_t k = 0; k < node->operands; k++)
    fprintf(w->to, ".%u", kind_of(w, node->operand[k]));
}

static bool
same_function(const writer *w, uint32_t x, uint32_t y)
{
  const rules_node *l = &w->rule->nodes[x], *r = &w->rule->nodes[y];
  if (l->sort != RULES_OP || l->op != r->op || kind_of(w, x) != kind_of(w, y))
    return false;
  for (uint32_t k = 0; k < l->operands; k++)
    if (kind_of(w, l->operand[k]) != kind_of(w, r->operand[k]))
      return false;
  return true;
}

/* Writes the head of a definition, or of a declaration for an uninterpreted function. */
static void
put_head(const writer *w, char letter, uint32_t id, bool defined)
{
  const rules_node *node = &w->rule->nodes[id];
  fputs(defined ? "(define-fun " : "(declare-fun ", w->to);
  put_function(w, letter, id);
  fputs(" (", w->to);
  for (uint32_t k = 0; k < node->operands; k++) {
    const bool tuple = kind_of(w, node->operand[k]) == VYRE_TUPLE; /* of a bfi: z and z1 */
    for (uint32_t part = 0; part < (tuple ? 2u : 1u); part++) {
      if (defined)
        fprintf(w->to, part ? "(%c1 " : "(%c ", "xyz"[k]);
      smt_sort(w->to, tuple ? VYRE_U32 : kind_of(w, node->operand[k]), false);
      fputs(defined ? ")" : " ", w->to);
    }
  }
  fputs(") ", w->to);
  if (letter == 'u')
    fputs("Bool", w->to);
  else
    smt_sort(w->to, kind_of(w, id), false);
  fputc(' ', w->to);
}

static void
define_function(const writer *w, uint32_t id)
{
  const rules_node *node = &w->rule->nodes[id];
  const vyre_kind from = kind_of(w, node->operand[0]);
  const smt_op *op = smt_find((vyre_opcode)node->op, from);
  const bool converts = node->op == VYRE_OP_convert, defined = op || converts;
  const bool never = vyre_op_infos[node->op].undefined == VYRE_UNDEFINED_NEVER;
  char suffix[8];
  suffix_of(from, suffix);
  for (uint32_t part = 0; part < 2; part++) {
    const bool undefined = part == 1;
    put_head(w, undefined ? 'u' : 'f', id, defined || (undefined && never));
    if (converts)
      smt_convert(w->to, from, kind_of(w, id), undefined, suffix);
    else if (op)
      smt_term(w->to, from, !undefined ? op->result : op->relaxed ? op->relaxed : "false", suffix);
    else if (undefined && never)
      fputs("false", w->to);
    fputs(")\n", w->to);
  }
}

static void
define_functions(const writer *w)
{
  bool known[VYRE_KIND__COUNT * 2] = {false};
  for (uint32_t id = 1; id < w->rule->node_count; id++) {
    const vyre_kind kind = kind_of(w, id);
    const vyre_kind index = vyre_kind_is_int(kind) ? vyre_kind_with_sign(kind, false) : kind;
    char suffix[8];
    if (kind == VYRE_TUPLE || known[index])
      continue;
    known[index] = true;
    smt_prelude(w->to, kind, false, suffix_of(kind, suffix));
  }
  for (uint32_t id = 1; id < w->rule->node_count; id++) {
    bool done = w->rule->nodes[id].sort != RULES_OP || is_special(w->rule->nodes[id].op);
    for (uint32_t other = 1; other < id && !done; other++)
      done = same_function(w, other, id);
    if (!done)
      define_function(w, id);
  }
}

/* ---- nodes ----------------------------------------------------------------------------------------------------------- */

static void
put_arguments(const writer *w, const rules_node *node, uint32_t lane)
{
  for (uint32_t k = 0; k < node->operands; k++) {
    const rules_node *operand = &w->rule->nodes[node->operand[k]];
    if (operand->sort == RULES_OP && operand->op == VYRE_OP_tuple) {
      put_operand(w, operand->operand[0], 0);
      put_operand(w, operand->operand[1], 0);
    } else {
      put_operand(w, node->operand[k], lane);
    }
  }
}

/* Writes the beginning of (ite (= index k) ...): `lane` chooses a lane, `insert` chooses the new value for this lane. */
static void
put_index(const writer *w, uint32_t index, uint32_t k)
{
  fputs("(ite (= ", w->to);
  put_name(w, index, 0);
  fprintf(w->to, " (_ bv%u 32)) ", k);
}

static void
put_special(const writer *w, uint32_t id, uint32_t lane)
{
  const rules_node *node = &w->rule->nodes[id];
  const uint32_t a = node->operand[0], b = node->operand[1], c = node->operand[2];
  switch ((uint32_t)node->op) {
  case VYRE_OP_select:
    fputs("(ite ", w->to);
    put_name(w, a, lane);
    fputc(' ', w->to);
    put_name(w, b, lane);
    fputc(' ', w->to);
    put_name(w, c, lane);
    fputc(')', w->to);
    break;
  case VYRE_OP_any:
  case VYRE_OP_all:
    fputs(node->op == VYRE_OP_any ? "(or false" : "(and true", w->to);
    for (uint32_t i = 0; i < lanes_of(w, a); i++) {
      fputc(' ', w->to);
      put_name(w, a, i);
    }
    fputc(')', w->to);
    break;
  case VYRE_OP_lane:
    for (uint32_t i = 0; i < lanes_of(w, a); i++) {
      put_index(w, b, i);
      put_name(w, a, i);
      fputc(' ', w->to);
    }
    put_literal(w, kind_of(w, id), 0);
    for (uint32_t i = 0; i < lanes_of(w, a); i++)
      fputc(')', w->to);
    break;
  case VYRE_OP_insert:
    put_index(w, c, lane);
    put_name(w, b, 0);
    fputc(' ', w->to);
    put_name(w, a, lane);
    fputc(')', w->to);
    break;
  default: /* bitcast, splat: the bits, the one lane */
    put_name(w, a, lane);
    break;
  }
}

/* Defines the bits of an op's float result: those of the number, or the canonical NaN. */
static void
define_bits(const writer *w, uint32_t id, uint32_t lane)
{
  const vyre_kind kind = kind_of(w, id);
  const uint64_t quiet = kind == VYRE_F16 ? 0x7e00 : kind == VYRE_F32 ? 0x7fc00000 : UINT64_C(0x7ff8000000000000);
  fprintf(w->to, "(declare-const n%u.%u ", id, lane);
  smt_sort(w->to, kind, true);
  fputs(")\n(assert (let ((r (", w->to);
  put_function(w, 'f', id);
  put_arguments(w, &w->rule->nodes[id], lane);
  fprintf(w->to, "))) (ite (fp.isNaN r) (= n%u.%u ", id, lane);
  put_bits(w->to, kind, quiet);
  smt_term(w->to, kind, ") (= ((_ to_fp $E $S) ", "");
  fprintf(w->to, "n%u.%u) r))))\n", id, lane);
}

static void
define_value(const writer *w, uint32_t id)
{
  const rules_node *node = &w->rule->nodes[id];
  const vyre_kind kind = kind_of(w, id);
  if (node->sort == RULES_VARIABLE || node->sort == RULES_CONSTANT || kind == VYRE_TUPLE)
    return;
  for (uint32_t lane = 0; lane < lanes_of(w, id); lane++) {
    if (w->raw && vyre_kind_is_float(kind) && node->sort == RULES_OP && !is_special(node->op)) {
      define_bits(w, id, lane);
      continue;
    }
    fprintf(w->to, "(define-fun n%u.%u () ", id, lane);
    smt_sort(w->to, kind, w->raw);
    fputc(' ', w->to);
    if (node->sort == RULES_LITERAL) {
      put_literal(w, kind, rules_literal_bits(node, kind));
    } else if (is_special(node->op)) {
      put_special(w, id, lane);
    } else {
      fputc('(', w->to);
      put_function(w, 'f', id);
      put_arguments(w, node, lane);
      fputc(')', w->to);
    }
    fputs(")\n", w->to);
  }
}

/* ---- undefined values of relaxed programs ---------------------------------------------------------------------------- */

static void
put_op_undefined(const writer *w, uint32_t id)
{
  const rules_node *node = &w->rule->nodes[id];
  if (node->op == VYRE_OP_lane || node->op == VYRE_OP_insert) {
    fputs(" (bvuge ", w->to);
    put_name(w, node->operand[node->op == VYRE_OP_lane ? 1 : 2], 0);
    fprintf(w->to, " (_ bv%u 32))", lanes_of(w, node->operand[0]));
  }
  for (uint32_t lane = 0; lane < lanes_of(w, id) && !is_special(node->op); lane++) {
    fputs(" (", w->to);
    put_function(w, 'u', id);
    put_arguments(w, node, lane);
    fputc(')', w->to);
  }
}

static void
put_select_undefined(const writer *w, const rules_node *node)
{
  fprintf(w->to, " u%u", node->operand[0]);
  for (uint32_t lane = 0; lane < lanes_of(w, node->operand[0]); lane++) {
    fputs(" (ite ", w->to);
    put_name(w, node->operand[0], lane);
    fprintf(w->to, " u%u u%u)", node->operand[1], node->operand[2]);
  }
}

static void
define_undefined(const writer *w, uint32_t id)
{
  const rules_node *node = &w->rule->nodes[id];
  fprintf(w->to, "(define-fun u%u () Bool (or false", id);
  if (node->sort == RULES_VARIABLE) {
    fprintf(w->to, " undefined.%s", w->rule->variables[node->variable].name);
  } else if (node->sort == RULES_OP && !is_computed(w, id)) {
    if (node->op == VYRE_OP_select)
      put_select_undefined(w, node);
    for (uint32_t k = 0; k < node->operands && node->op != VYRE_OP_select; k++)
      fprintf(w->to, " u%u", node->operand[k]);
    put_op_undefined(w, id);
  }
  fputs("))\n", w->to);
}

/* ---- the claim ------------------------------------------------------------------------------------------------------- */

static void
declare_variables(const writer *w)
{
  for (uint32_t v = 0; v < w->rule->variable_count; v++) {
    const rules_variable *variable = &w->rule->variables[v];
    for (uint32_t lane = 0; lane < lanes_of(w, variable->node); lane++) {
      fprintf(w->to, "(declare-const v.%s.%u ", variable->name, lane);
      smt_sort(w->to, kind_of(w, variable->node), w->raw);
      fputs(")\n", w->to);
    }
    if (w->q->relaxed && !variable->constant)
      fprintf(w->to, "(declare-const undefined.%s Bool)\n", variable->name);
  }
}

static void
put_equal(const writer *w, uint32_t lane)
{
  const uint32_t left = w->rule->pattern, right = w->rule->replacement;
  const bool bits = w->raw && vyre_kind_is_float(kind_of(w, left));
  if (bits) {
    fputs(" (or (and (fp.isNaN", w->to);
    put_operand(w, left, lane);
    fputs(") (fp.isNaN", w->to);
    put_operand(w, right, lane);
    fputs("))", w->to);
  }
  fputs(" (= ", w->to);
  put_name(w, left, lane);
  fputc(' ', w->to);
  put_name(w, right, lane);
  fputs(bits ? "))" : ")", w->to);
}

void
question_write(FILE *to, const question *q)
{
  writer w = {.to = to, .q = q, .rule = q->rule};
  for (uint32_t id = 1; id < w.rule->node_count; id++)
    w.raw = w.raw || (w.rule->nodes[id].sort == RULES_OP && w.rule->nodes[id].op == VYRE_OP_bitcast);
  define_functions(&w);
  declare_variables(&w);
  for (uint32_t id = 1; id < w.rule->node_count; id++) {
    define_value(&w, id);
    if (q->relaxed)
      define_undefined(&w, id);
  }
  for (uint32_t k = 0; k < w.rule->condition_count; k++) {
    fputs("(assert ", to);
    put_name(&w, w.rule->conditions[k], 0);
    fputs(")\n", to);
  }
  if (q->relaxed)
    fprintf(to, "(assert (not u%u))\n", w.rule->pattern);
  fputs("(assert (not (and true", to);
  if (q->relaxed)
    fprintf(to, " (not u%u)", w.rule->replacement);
  for (uint32_t lane = 0; lane < lanes_of(&w, w.rule->pattern) || lane < lanes_of(&w, w.rule->replacement); lane++)
    put_equal(&w, lane);
  fputs(")))\n(check-sat)\n", to);
}

void
question_write_values(FILE *to, const question *q)
{
  const writer w = {.to = to, .q = q, .rule = q->rule};
  fputs("(get-value (", to);
  for (uint32_t v = 0; v < w.rule->variable_count; v++) {
    const rules_variable *variable = &w.rule->variables[v];
    for (uint32_t lane = 0; lane < lanes_of(&w, variable->node); lane++)
      fprintf(to, "v.%s.%u ", variable->name, lane);
    if (q->relaxed && !variable->constant)
      fprintf(to, "undefined.%s ", variable->name);
  }
  put_name(&w, w.rule->pattern, 0);
  fputc(' ', to);
  put_name(&w, w.rule->replacement, 0);
  fputs("))\n", to);
}
