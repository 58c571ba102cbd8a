/* The sweep that pm, expand and simplify share: it keeps operands up to date, skips pinned rows, and reads the user's rules.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_RULES_SWEEP_H
#define VYRE_PASSES_RULES_SWEEP_H

#include "rules_table.h"
#include "vyre/plugin.h"

typedef struct rules_sweep {
  vyre_pass_ctx *ctx;
  const vyre_host *host;
  vyre_module *module;
  const vyre_view *v;
  uint32_t rows;             /* at the start of the sweep */
  uint32_t *forward;         /* by row, its replacement; NULL until a row is forwarded */
  bool *pinned;              /* by row, NULL if none is pinned */
  rules_scope scope;         /* facts of the current program */
  const uint32_t *tables[2]; /* the built-in table and the user's, which may be NULL */
  uint32_t *used;            /* uses of each built-in rule */
  uint32_t users;            /* uses of the rules of the user's file */
  uint32_t hits;             /* uses of all rules */
  uint64_t rewritten, replaced;
  bool changed, lost; /* lost: memory ran out */
} rules_sweep;

/* Applies a match to its root.  Returns false if the rule cannot be applied there, and the next match is tried. */
typedef bool (*rules_apply)(rules_sweep *s, void *user, const uint32_t *table, const rules_match *match, vyre_status *out_status);

/* Sweeps all rows: updates each row's operands, and applies rules to it until none matches.  Backward order visits a row before
 * its operands, and then no row may be forwarded or become a literal. */
typedef enum rules_order { RULES_FORWARD_ORDER, RULES_BACKWARD_ORDER } rules_order;
vyre_status rules_sweep_run(rules_sweep *s, rules_order order, rules_apply apply, void *user);

/* The parts of a sweep, for a caller with its own walk.  `begin` allocates memory and pins rows.  The caller sets the scope of
 * each program.  `operands` replaces a row's forwarded operands and makes immediates.  `step` applies one rule to a row, which
 * is then rewritten or forwarded, and returns false if no rule applies. */
vyre_status rules_sweep_begin(rules_sweep *s);
void rules_sweep_operands(rules_sweep *s, uint32_t row);
bool rules_sweep_step(rules_sweep *s, uint32_t row, rules_apply apply, void *user, vyre_status *out_status);

/* Returns whether a rule may apply to the row.  For most rows none does. */
static inline bool
rules_sweep_may_step(const rules_sweep *s, uint32_t row)
{
  return rules_may_match(s->tables[0], s->v, s->scope, row) || (s->tables[1] && rules_may_match(s->tables[1], s->v, s->scope, row));
}

/* Returns whether a type's length or a workgroup's size depends on the row. */
static inline bool
rules_sweep_is_pinned(const rules_sweep *s, uint32_t row)
{
  return s->pinned && s->pinned[row];
}

/* Applies a rule of pm, whose replacement is an operand, a literal, or one row. */
bool rules_apply_in_place(rules_sweep *s, void *user, const uint32_t *table, const rules_match *match, vyre_status *out_status);

/* Replaces the root by an existing row (RULES_FORWARD) or by a literal (RULES_LITERALLY).  Returns false if the existing row has
 * another type than the root, or if the root is nonuniform. */
bool rules_sweep_replace(rules_sweep *s, const uint32_t *table, const rules_match *match, vyre_status *out_status);

/* Rewrites the root.  A literal right operand is passed in imm, with VYRE_ROW_IMM in `flags`. */
void rules_sweep_rewrite(rules_sweep *s, const rules_match *match, uint32_t op, uint32_t flags, uint64_t imm, uint32_t a,
                         uint32_t b, uint32_t c);

/* The parameter of pm, expand and simplify. */
#define RULES_PARAM                                                                 \
  {                                                                                 \
    .struct_size = sizeof(vyre_param), .type = VYRE_PARAM_TEXT, .name = "rules",    \
    .summary = "a file of rules to apply after the built-in ones", .words = "FILE", \
  }
/* Reads the table of the user's file.  Its words are NULL if the user gave none. */
vyre_status rules_read_user(vyre_pass_ctx *ctx, rules_use use, rules_table *out);

/* Reports the counters of the sweep, and the uses of each rule, for -stats. */
void rules_sweep_report(const rules_sweep *s, const char *const *names, uint32_t count);
/* Reports the uses of the file's rules, and of each built-in rule, for -stats. */
void rules_report_uses(vyre_pass_ctx *ctx, uint32_t users, const uint32_t *used, const char *const *names, uint32_t count);

#endif
