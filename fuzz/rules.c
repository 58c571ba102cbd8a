/* Fuzz target: rules.  Each accepted rule has types for which its constants can be computed, and makes a program cheaper.  The
 * rules compile to tables, which are applied to a program with rows of all kinds.  Printed rules that are read again must equal
 * the first rules.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "rules_table.h"
#include "vyre/text.h"

enum { MOST_BYTES = 64 << 20, MOST_TYPINGS = 50 };

typedef struct block {
  struct block *next;
  size_t bytes;
} block;

static block *blocks;
static size_t taken;

static void *
take(void *user, size_t bytes)
{
  (void)user;
  if (bytes > MOST_BYTES - taken)
    return NULL;
  block *fresh = calloc(1, sizeof *fresh + bytes);
  if (!fresh)
    return NULL;
  fresh->next = blocks;
  blocks = fresh;
  taken += bytes;
  return fresh + 1;
}

static void
free_blocks(void)
{
  while (blocks) {
    block *next = blocks->next;
    free(blocks);
    blocks = next;
  }
  taken = 0;
}

static const char program[] =
    "program @p relaxed { var %s : u32x2 var %t : f32 var %b : boolx2\n"
    "%a = get %s %c = add(mul(%a, 3u32x2), 0u32x2) %d = sub(shl(%c, %a), %a) %e = ult %c, %d\n"
    "%f = select %e, %c, %d %g = and(or(not(%f), %a), 7u32x2) %h = udiv(umod(%g, 5u32x2), %a)\n"
    "%x = get %t %y = mul(neg(%x), 2.0f32) %z = select(flt(%x, %y), fma(%x, %y, -0.0f32), fabs(floor(%y)))\n"
    "%n = convert(convert(%h : i64x2) : u8x2) %o = bitcast(%x : u32) %p = ubfe(%o, 3u32, 4u32) %q = bfi(%p, %o, tuple(1u32, "
    "2u32))\n"
    "set %s, rotl(%f, %g) set %t, nmin(%z, %x) set %b, not(eq(%e, truex2)) }\n";

static const vyre_view *
program_view(void)
{
  static vyre_module *module;
  if (module)
    return vyre_module_view(module);
  fuzz_require(vyre_module_create(NULL, 0, &module), "creating");
  fuzz_require(vyre_text_parse(module, program, strlen(program), "program", (vyre_diagnostics){0}), "parsing");
  fuzz_require(vyre_module_seal(module, NULL), "sealing");
  return vyre_module_view(module);
}

static void
try_rule(const rules_rule *rule)
{
  vyre_kind kinds[RULES_KINDS] = {0};
  uint64_t out, values[RULES_VARIABLES] = {0, 1, 2, 3, UINT64_MAX, 7, 8, 31};
  if (!rules_shrinks(rule, NULL))
    fuzz_fail("rule %s does not shrink", rule->name);
  for (uint32_t i = 0; i < MOST_TYPINGS && rules_next_typing(rule, kinds); i++)
    for (uint32_t node = 1; node < rule->node_count; node++) {
      const uint32_t bits = vyre_kind_bits(kinds[rule->nodes[node].kind]);
      if (rule->nodes[node].constant && bits && rules_evaluate(rule, node, kinds, values, &out) &&
          rule->nodes[node].sort == RULES_LITERAL && (out & ~(UINT64_MAX >> (64 - bits))) != 0)
        fuzz_fail("rule %s: a literal has more bits than its kind", rule->name);
    }
}

static void
walk(const rules_set *set, rules_use use)
{
  const vyre_view *v = program_view();
  const rules_scope scope = rules_scope_of(VYRE_PROGRAM_RELAXED);
  rules_table table;
  rules_error error;
  if (!rules_compile((rules_memory){take, NULL}, set, use, &table, &error))
    return;
  for (uint32_t row = 1; row < v->rows; row++) {
    rules_match m;
    if (!rules_may_match(table.words, v, scope, row))
      continue;
    for (uint32_t candidate = 0; rules_find(table.words, v, row, scope, candidate, &m); candidate = m.candidate + 1)
      if (m.rule >= set->count || m.reg[0] != row)
        fuzz_fail("row %u matches rule %u", row, m.rule);
  }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  rules_set set = {0};
  rules_errors errors;
  const bool good = rules_parse((rules_memory){take, NULL}, "input", (const char *)data, size, &set, &errors);
  if (good != (errors.count == 0))
    fuzz_fail("%u errors", errors.count);
  for (uint32_t i = 0; i < rules_errors_kept(&errors); i++) {
    const rules_error *error = &errors.items[i];
    if (!error->line || !error->column || !error->message[0] || !error->fix[0])
      fuzz_fail("an error says too little: %s", error->message);
  }
  for (uint32_t i = 0; i < set.count; i++)
    try_rule(&set.rules[i]);
  if (set.count) {
    walk(&set, RULES_FOR_PM);
    walk(&set, RULES_FOR_EXPAND);
  }
  free_blocks();
  return 0;
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t capacity, unsigned seed)
{
  return fuzz_mutate_text(data, size, capacity, seed);
}
