/* Laws of the op table, proven by z3 on the terms.  An op commutes and is associative if ops.def has the flag.  On the narrowest
 * kind, z3 refutes the law of an op without the flag.  Results for equal operands and absorbing literals are those of ops.def.
 *
 * Limits: f16 represents all floats, because z3 decides its laws in moments and the terms of f32 and f64 have the same text.
 * Associativity of umulsat is proven for 8 bits only, because products of products of more bits take z3 too long.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fold.h"

#include "smt/smt.h"

#include <stdlib.h>
#include <string.h>

#define B (1u << VYRE_BOOL)
#define I (1u << VYRE_U8 | 1u << VYRE_U16 | 1u << VYRE_U32 | 1u << VYRE_U64)
#define F (1u << VYRE_F16)

/* A claim that two terms are equal for all operands, or, if `holds` is false, that they are not. */
typedef struct claim {
  const fold_case *c;
  const char *left, *right;
  const char *name;
  bool holds;
} claim;

typedef struct claims {
  claim list[2048];
  uint32_t count;
} claims;

static void
add(claims *to, claim it)
{
  if (to->count == sizeof to->list / sizeof *to->list)
    abort();
  to->list[to->count++] = it;
}

/* Returns whether the case has exactly two scalar operands, of one kind. */
static bool
is_binary(const fold_case *c)
{
  return c->inputs == 2 && c->in[0] == c->in[1];
}

/* Adds the SELF and ABSORBS columns of integers and bools.  The terms define the literals' names. */
static void
collect_literals(const fold_case *c, claims *to)
{
  static const char *const literals[][2] = {
      {NULL, NULL}, {"(r0 x zero)", "zero"}, {"(r0 x ones)", "ones"}, {"(r0 x smin)", "smin"}, {"(r0 x smax)", "smax"}};
  const vyre_op_info *info = &vyre_op_infos[c->op];
  const bool of_bools = c->kind == VYRE_BOOL, to_bool = VYRE_TYPE_KIND(c->type) == VYRE_BOOL;
  if (info->self == VYRE_SELF_LEFT)
    add(to, (claim){c, "(r0 x x)", "x", "is the operand if both operands are equal", true});
  else if (info->self)
    add(to, (claim){c, "(r0 x x)", info->self == VYRE_SELF_ONE ? (to_bool ? "true" : "one") : (to_bool ? "false" : "zero"),
                    "is a literal if both operands are equal", true});
  if (info->absorbs == VYRE_ABSORBS_ONES && of_bools)
    add(to, (claim){c, "(r0 x true)", "true", "absorbs true", true});
  else if (info->absorbs)
    add(to, (claim){c, literals[info->absorbs][0], literals[info->absorbs][1], "absorbs its literal", true});
}

static void
collect(const fold_list *list, claims *to)
{
  for (uint32_t i = 0; i < list->count; i++) {
    const fold_case *c = &list->cases[i];
    const uint32_t flags = vyre_op_infos[c->op].flags;
    const bool narrow = c->kind == VYRE_BOOL || c->kind == VYRE_U8 || c->kind == VYRE_F16;
    if (!(B >> c->kind & 1) && !(I >> c->kind & 1) && !(F >> c->kind & 1))
      continue;
    if (is_binary(c) && (flags & VYRE_OP_COMMUTES || narrow)) {
      add(to, (claim){c, "(r0 x y)", "(r0 y x)", "commutes", flags & VYRE_OP_COMMUTES});
      if (c->outputs == 2 && flags & VYRE_OP_COMMUTES)
        add(to, (claim){c, "(r1 x y)", "(r1 y x)", "commutes in its second part", true});
    }
    if (is_binary(c) && !vyre_kind_is_float(c->kind) && vyre_op_infos[c->op].rule == VYRE_RULE_SAME &&
        ((flags & VYRE_OP_ASSOC && c->op != VYRE_OP_umulsat) || narrow))
      add(to, (claim){c, "(r0 (r0 x y) z)", "(r0 x (r0 y z))", "is associative", flags & VYRE_OP_ASSOC});
    if (is_binary(c) && !vyre_kind_is_float(c->kind))
      collect_literals(c, to);
  }
}

static void
write_claims(FILE *to, void *context)
{
  const claims *all = context;
  for (uint32_t i = 0; i < all->count; i++) {
    const claim *it = &all->list[i];
    fprintf(to, "; %s\n%s", it->c->name, it->c->terms);
    for (char name = 'x'; name <= 'z'; name++) {
      fprintf(to, "(declare-const %c ", name);
      smt_sort(to, it->c->in[0], false);
      fputs(")\n", to);
    }
    fprintf(to, "(assert (distinct %s %s))\n(check-sat)\n(reset)\n", it->left, it->right);
  }
}

bool
fold_laws(FILE *report, fold_counts *out)
{
  fold_list list = {0};
  claims *all = calloc(1, sizeof *all);
  if (!all)
    abort();
  fold_lanes(&list, 1, 64, false);
  fold_lanes(&list, 16, 64, true);
  collect(&list, all);
  *out = (fold_counts){.cases = all->count};
  char *answer = smt_solve(write_claims, all, report);
  const char *at = answer;
  for (uint32_t i = 0; answer && i < all->count; i++) {
    const claim *it = &all->list[i];
    const size_t length = strcspn(at, "\n");
    const bool proven = length == 5 && !strncmp(at, "unsat", 5), refuted = length == 3 && !strncmp(at, "sat", 3);
    if (it->holds ? !proven : !refuted) {
      fprintf(report, "%s: the law '%s' holds by ops.def: %s, but z3 answers %.*s to its negation\n", it->c->name, it->name,
              it->holds ? "yes" : "no", (int)length, at);
      out->wrong++;
    }
    at += length + (at[length] != 0);
  }
  const bool answered = answer;
  free(answer);
  free(all);
  fold_list_free(&list);
  return answered;
}
