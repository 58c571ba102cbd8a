/* Counts instructions and lanes of SPIR-V modules, and compares vyre's output with the peers' output.
 *
 * A lane is one number that an invocation computes or moves.  An operation whose result is a vector of four counts four, and
 * one with a matrix, an array or a struct counts its scalars.  A store or copy counts the stored scalars, and an instruction
 * without a result counts one.  Instructions that only rename values are free: composites built, extracted from and shuffled,
 * copies of values, undefined values.  So are instructions that only mark blocks (labels, merges, jumps, returns), local
 * variables, lines and debug information.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "reduction.h"

#include "vyre/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  OP_UNDEF = 1,
  OP_LINE = 8,
  OP_EXT_INST_IMPORT = 11,
  OP_EXT_INST = 12,
  OP_TYPE_VECTOR = 23,
  OP_TYPE_MATRIX = 24,
  OP_TYPE_ARRAY = 28,
  OP_TYPE_STRUCT = 30,
  OP_TYPE_POINTER = 32,
  OP_CONSTANT = 43,
  OP_SPEC_CONSTANT = 50,
  OP_FUNCTION = 54,
  OP_FUNCTION_PARAMETER = 55,
  OP_FUNCTION_END = 56,
  OP_VARIABLE = 59,
  OP_STORE = 62,
  OP_COPY_MEMORY = 63,
  OP_VECTOR_SHUFFLE = 79,
  OP_COMPOSITE_CONSTRUCT = 80,
  OP_COMPOSITE_EXTRACT = 81,
  OP_COMPOSITE_INSERT = 82,
  OP_COPY_OBJECT = 83,
  OP_LOOP_MERGE = 246,
  OP_SELECTION_MERGE = 247,
  OP_LABEL = 248,
  OP_BRANCH = 249,
  OP_RETURN = 253,
  OP_UNREACHABLE = 255,
  OP_NO_LINE = 317,
};

static bool
is_frame(uint32_t op)
{
  return op == OP_FUNCTION || op == OP_FUNCTION_PARAMETER || op == OP_LABEL || op == OP_LINE || op == OP_NO_LINE;
}

static bool
is_free(uint32_t op)
{
  return op == OP_UNDEF || op == OP_VARIABLE || (op >= OP_VECTOR_SHUFFLE && op <= OP_COPY_OBJECT) ||
         (op >= OP_LOOP_MERGE && op <= OP_BRANCH) || (op >= OP_RETURN && op <= OP_UNREACHABLE);
}

/* Facts about an id.  Types have lanes and a pointee, values have a type, and constants have bits. */
typedef struct meaning {
  uint32_t lanes, points_to, type, bits;
} meaning;

static void
learn(const uint32_t *words, uint32_t op, uint32_t length, meaning *of)
{
  switch (op) {
  case OP_TYPE_VECTOR:
  case OP_TYPE_MATRIX:
    of[words[1]].lanes = of[words[2]].lanes * words[3];
    break;
  case OP_TYPE_ARRAY:
    of[words[1]].lanes = of[words[2]].lanes * of[words[3]].bits;
    break;
  case OP_TYPE_STRUCT:
    of[words[1]].lanes = 0;
    for (uint32_t i = 2; i < length; i++)
      of[words[1]].lanes += of[words[i]].lanes;
    break;
  case OP_TYPE_POINTER:
    of[words[1]].points_to = words[3];
    break;
  case OP_CONSTANT:
  case OP_SPEC_CONSTANT:
    of[words[2]].bits = words[3];
    break;
  default:
    break;
  }
}

/* Returns the lanes of the value that an instruction computes or stores.  Records the type of its result. */
static uint32_t
lanes_of(const uint32_t *words, uint32_t op, uint32_t length, meaning *of, uint8_t *kinds)
{
  if (op == OP_STORE)
    return of[of[words[2]].type].lanes;
  if (op == OP_COPY_MEMORY)
    return of[of[of[words[1]].type].points_to].lanes;
  if (length < 3 || !vyre_words_kinds(words, length, kinds) || kinds[1] != VYRE_WORD_KIND_TYPE || kinds[2] != VYRE_WORD_KIND_RESULT)
    return 1;
  of[words[2]].type = words[1];
  return of[words[1]].lanes;
}

void
reduction_measure(reduction *r, size_t at, reduction_form form, const uint32_t *words, size_t count)
{
  reduction_size *size = &r->entries[at].sizes[form];
  const uint32_t bound = words[3];
  meaning *of = calloc(bound, sizeof *of);
  uint8_t *kinds = malloc(UINT16_MAX);
  bool inside = false;
  uint32_t debug = 0; /* id of the imported NonSemantic instruction set, 0 if there is none */
  memset(size, 0, sizeof *size);
  for (uint32_t id = 0; id < bound; id++)
    of[id].lanes = 1;
  for (size_t i = 5; i < count && (words[i] >> 16) != 0; i += words[i] >> 16) {
    const uint32_t *inst = words + i, op = inst[0] & 0xffffu, length = inst[0] >> 16;
    learn(inst, op, length, of);
    if (op == OP_EXT_INST_IMPORT && strncmp((const char *)(inst + 2), "NonSemantic", 11) == 0)
      debug = inst[1];
    inside = op == OP_FUNCTION || (inside && op != OP_FUNCTION_END);
    if (op == OP_FUNCTION_END || (op == OP_EXT_INST && inst[3] == debug))
      continue;
    const uint32_t width = lanes_of(inst, op, length, of, kinds);
    if (!inside || is_frame(op))
      continue;
    size->instructions++;
    if (!is_free(op)) {
      size->lanes += width;
      r->by_op[form][op] += width;
    }
  }
  free(kinds);
  free(of);
}

/* ---- tables ------------------------------------------------------------------------------------------------------------------ */

static const char *const form_names[REDUCTION_FORMS] = {"before", "vyre", "like", "-O"};

static bool
is_compared(const reduction_entry *e, reduction_form peer)
{
  return !e->refused[REDUCTION_VYRE] && !e->refused[peer];
}

static double
change(size_t before, size_t after)
{
  return before ? 100.0 * ((double)after - (double)before) / (double)before : 0;
}

static void
print_each(const reduction *r)
{
  printf("\nlanes of each shader\n%9s %9s %9s %9s\n", form_names[0], form_names[1], form_names[2], form_names[3]);
  for (size_t i = 0; i < r->count; i++) {
    const reduction_entry *e = &r->entries[i];
    for (int form = 0; form < REDUCTION_FORMS; form++)
      if (e->refused[form])
        printf("%9s ", "refused");
      else
        printf("%9zu ", e->sizes[form].lanes);
    printf(" %s\n", e->path);
  }
}

static void
print_sums(const reduction *r, reduction_form peer)
{
  reduction_size sums[REDUCTION_FORMS] = {{0}};
  size_t helped = 0, equal = 0, worse = 0, refused = 0;
  for (size_t i = 0; i < r->count; i++) {
    const reduction_entry *e = &r->entries[i];
    if (!is_compared(e, peer)) {
      refused++;
      continue;
    }
    for (int form = 0; form < REDUCTION_FORMS; form++) {
      sums[form].instructions += e->sizes[form].instructions;
      sums[form].lanes += e->sizes[form].lanes;
    }
    helped += e->sizes[REDUCTION_VYRE].lanes < e->sizes[peer].lanes;
    equal += e->sizes[REDUCTION_VYRE].lanes == e->sizes[peer].lanes;
    worse += e->sizes[REDUCTION_VYRE].lanes > e->sizes[peer].lanes;
  }
  const reduction_size *before = &sums[REDUCTION_BEFORE], *ours = &sums[REDUCTION_VYRE], *its = &sums[peer];
  printf("%-6s %10zu %10zu %6.1f%% %10zu %6.1f%% %10zu %10zu %6.1f%% %10zu %6.1f%% %7zu %7zu %7zu %7zu\n", form_names[peer],
         before->instructions, ours->instructions, change(before->instructions, ours->instructions), its->instructions,
         change(before->instructions, its->instructions), before->lanes, ours->lanes, change(before->lanes, ours->lanes),
         its->lanes, change(before->lanes, its->lanes), helped, equal, worse, refused);
}

/* Prints the shaders for which vyre's lanes exceed the peer's by the most, worst first. */
static void
print_worst(const reduction *r, reduction_form peer)
{
  enum { MOST = 10 };
  const reduction_entry *worst[MOST + 1];
  size_t count = 0;
  for (size_t i = 0; i < r->count; i++) {
    const reduction_entry *e = &r->entries[i];
    if (!is_compared(e, peer) || e->sizes[REDUCTION_VYRE].lanes <= e->sizes[peer].lanes)
      continue;
    const size_t more = e->sizes[REDUCTION_VYRE].lanes - e->sizes[peer].lanes;
    size_t at = count;
    for (; at > 0 && worst[at - 1]->sizes[REDUCTION_VYRE].lanes - worst[at - 1]->sizes[peer].lanes < more; at--)
      worst[at] = worst[at - 1];
    worst[at] = e;
    count += count < MOST;
  }
  for (size_t i = 0; i < count; i++)
    printf("%s%9s %9zu %9zu %9zu %+9.1f%%  %s\n", i ? "" : "\nlargest beside its peer\n", form_names[peer],
           worst[i]->sizes[REDUCTION_BEFORE].lanes, worst[i]->sizes[REDUCTION_VYRE].lanes, worst[i]->sizes[peer].lanes,
           change(worst[i]->sizes[peer].lanes, worst[i]->sizes[REDUCTION_VYRE].lanes), worst[i]->path);
}

static void
print_ops(const reduction *r)
{
  printf("\nlanes by instruction\n%-26s %9s %9s %9s %9s\n", "", form_names[0], form_names[1], form_names[2], form_names[3]);
  for (uint32_t op = 0; op < 1 << 16; op++) {
    const size_t most = r->by_op[REDUCTION_BEFORE][op] + r->by_op[REDUCTION_VYRE][op] + r->by_op[REDUCTION_LIKE][op];
    const char *name = vyre_words_name(op);
    if (most)
      printf("%-26s %9zu %9zu %9zu %9zu\n", name ? name : "?", r->by_op[REDUCTION_BEFORE][op], r->by_op[REDUCTION_VYRE][op],
             r->by_op[REDUCTION_LIKE][op], r->by_op[REDUCTION_O][op]);
  }
}

void
reduction_print(const reduction *r, bool each, bool ops)
{
  if (each)
    print_each(r);
  printf("\n%-6s %10s %10s %7s %10s %7s %10s %10s %7s %10s %7s %7s %7s %7s %7s\n", "peer", "inst", "vyre", "", "peer", "", "lanes",
         "vyre", "", "peer", "", "helped", "equal", "worse", "refused");
  print_sums(r, REDUCTION_LIKE);
  print_sums(r, REDUCTION_O);
  print_worst(r, REDUCTION_LIKE);
  print_worst(r, REDUCTION_O);
  if (ops)
    print_ops(r);
}
