/* What pm and expand share: the walk in program order that keeps operands up to date, the rows they leave alone, user's rules.
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
  uint32_t rows;             /* when the sweep began */
  uint32_t *forward;         /* NULL until the first row is forwarded; then an element a row */
  uint8_t *pinned;           /* a bit a row; NULL: none is */
  rules_scope scope;         /* of the program that the sweep is in */
  const uint32_t *tables[2]; /* built in, the user's (NULL: none) */
  uint64_t *used;            /* of each rule built in */
  uint64_t users, rewritten, replaced;
  bool changed, lost; /* lost: there was no memory */
} rules_sweep;

/* Replaces the root by the replacement of a match.  False: not here; the next match is tried. */
typedef bool (*rules_apply)(rules_sweep *s, void *user, const uint32_t *table, const rules_match *match, vyre_status *out_status);

/* Every row, until no rule matches there: in program order, operands kept up to date; or backward, which sees a row before
 * its operands, and where no row may be forwarded or become a literal. */
typedef enum rules_order { RULES_FORWARD_ORDER, RULES_BACKWARD_ORDER } rules_order;
vyre_status rules_sweep_run(rules_sweep *s, rules_order order, rules_apply apply, void *user);

/* The same in parts, for a caller with a walk of its own.  Begin: memory, pinned rows.  In a program whose scope is set, each row
 * in turn: its operands, forwarded and as immediates; and one use of a rule there, after which the row is another one, or
 * forwarded.  False: there is none. */
vyre_status rules_sweep_begin(rules_sweep *s);
void rules_sweep_operands(rules_sweep *s, uint32_t row);
bool rules_sweep_step(rules_sweep *s, uint32_t row, rules_apply apply, void *user, vyre_status *out_status);

/* Whether a rule may apply there: at most rows none does. */
static inline bool
rules_sweep_may_step(const rules_sweep *s, uint32_t row)
{
  return rules_may_match(s->tables[0], s->v, s->scope, row) || (s->tables[1] && rules_may_match(s->tables[1], s->v, s->scope, row));
}

/* Whether a type's length or a workgroup's size is made of the row. */
static inline bool
rules_sweep_is_pinned(const rules_sweep *s, uint32_t row)
{
  return s->pinned && (s->pinned[row / 8] >> row % 8 & 1) != 0;
}

/* pm's rules: the replacement is an operand, a literal, or one row. */
bool rules_apply_in_place(rules_sweep *s, void *user, const uint32_t *table, const rules_match *match, vyre_status *out_status);

/* RULES_FORWARD and RULES_LITERALLY.  False: the types differ. */
bool rules_sweep_replace(rules_sweep *s, const uint32_t *table, const rules_match *match, vyre_status *out_status);

/* The root becomes this row; a literal right operand is in imm (flag IMM in `flags`). */
void rules_sweep_rewrite(rules_sweep *s, const rules_match *match, uint32_t op, uint32_t flags, uint64_t imm, uint32_t a,
                         uint32_t b, uint32_t c);

/* The parameter that pm and expand have. */
#define RULES_PARAM                                                              \
  {                                                                              \
    .struct_size = sizeof(vyre_param), .type = VYRE_PARAM_TEXT, .name = "rules", \
    .summary = "a file of rules, used beside vyre's own", .words = "FILE",       \
  }
/* The table of the file that the user gave; words NULL: none. */
vyre_status rules_read_user(vyre_pass_ctx *ctx, rules_use use, rules_table *out);

/* Counts and names of the rules that were used, for -stats. */
void rules_sweep_report(const rules_sweep *s, const char *const *names, uint32_t count);
/* The rules alone. */
void rules_sweep_report_rules(const rules_sweep *s, const char *const *names, uint32_t count);

#endif
