/* The coverage of a run: ops, types, changes of passes, and the size of the output.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void
coverage_add_program(coverage *c, const vyre_module *program, uint32_t features)
{
  const vyre_view *v = vyre_module_view(program);
  c->programs++;
  c->strict += (v->imm[v->first[0]] & VYRE_PROGRAM_RELAXED) == 0;
  for (uint32_t i = 0; i < RANDOM_FEATURES; i++)
    c->features[i] += features >> i & 1u;
  for (uint32_t row = 1; row < v->rows; row++) {
    c->ops[VYRE_ROW_OP(v->op[row])]++;
    c->types[VYRE_ROW_TYPE(v->op[row])]++;
  }
}

void
coverage_add_passes(coverage *c, const vyre_registry *registry, const vyre_report *report)
{
  for (uint32_t i = 0; i < vyre_registry_pass_count(registry) && i < 64; i++) {
    uint64_t changed, runs = vyre_report_runs(report, vyre_registry_pass(registry, i).pass->name, &changed);
    c->passes[i].ran += runs != 0;
    c->passes[i].changed += changed != 0;
  }
}

/* Returns whether programs can have the op: the interpreter must support it. */
static bool
is_wanted(uint32_t op)
{
  return vyre_op_infos[op].text && op != VYRE_OP_null && op != VYRE_OP_verbatim && !vyre_op_is_opaque(op);
}

static double
share(uint64_t part, uint64_t whole)
{
  return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void
print_types(const coverage *c)
{
  static const char *const kinds[] = {"void", "bool", "i8",  "u8",  "i16", "u16",   "i32", "u32",
                                      "i64",  "u64",  "f16", "f32", "f64", "tuple", "path"};
  printf("\nrows by type and lanes\n");
  for (uint32_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++) {
    if (!vyre_kind_is_scalar((vyre_kind)kind))
      continue;
    printf("  %-6s", kinds[kind]);
    for (uint32_t lanes = 1; lanes <= 4; lanes++)
      printf(" %10" PRIu64, c->types[VYRE_TYPE(kind, lanes)]);
    printf("\n");
  }
}

void
coverage_print(const coverage *c, const vyre_registry *registry)
{
  uint32_t met = 0, all = 0;
  uint64_t rows = 0, least = UINT64_MAX;
  const char *rare = "";
  for (uint32_t op = 0; op < VYRE_OP__COUNT; op++)
    if (is_wanted(op)) {
      all++;
      met += c->ops[op] != 0;
      rows += c->ops[op];
      if (c->ops[op] < least) {
        least = c->ops[op];
        rare = vyre_op_infos[op].text;
      }
    }
  printf("%" PRIu64 " programs, %" PRIu64 " of them strict; %" PRIu64 " without undefined behavior; %.1f rows each\n", c->programs,
         c->strict, c->defined, c->programs ? (double)rows / (double)c->programs : 0);
  printf("programs with communicating lanes %" PRIu64 ", control nested %u deep %" PRIu64 ", extreme exponents %" PRIu64
         ", workgroups of several dimensions %" PRIu64 ", layouts %" PRIu64 ", many jumps %" PRIu64 "\n",
         c->features[0], RANDOM_DEPTH, c->features[1], c->features[2], c->features[3], c->features[4], c->features[5]);
  printf("%u of %u ops, %s %" PRIu64 " times%s", met, all, rare, least, met < all ? "; missing:" : "");
  for (uint32_t op = 0; op < VYRE_OP__COUNT; op++)
    if (is_wanted(op) && c->ops[op] == 0)
      printf(" %s", vyre_op_infos[op].text);
  printf("\n%.1f %% of the rows remain in %" PRIu64 " programs after default<O2>\n", share(c->rows_after, c->rows_before),
         c->measured);
  print_types(c);
  printf("\npass            programs    changed\n");
  for (uint32_t i = 0; i < vyre_registry_pass_count(registry) && i < 64; i++)
    if (c->passes[i].ran)
      printf("  %-12s %10" PRIu64 " %9.1f %%\n", vyre_registry_pass(registry, i).pass->name, c->passes[i].ran,
             share(c->passes[i].changed, c->passes[i].ran));
}
