/* vyre-folds: compares vyre_eval to z3's values of the terms that define the ops.
 *
 *   vyre-folds [-random=N] ints8 | ints | floats | convert | moves | laws | missing     exits with 0 if all agree
 *   vyre-folds -emit ...                                                                only prints the SMT-LIB
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fold.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool
fill(fold_list *list, const char *area)
{
  if (!strcmp(area, "ints8"))
    fold_lanes(list, 1, 8, false);
  else if (!strcmp(area, "ints"))
    fold_lanes(list, 16, 64, false);
  else if (!strcmp(area, "floats"))
    fold_lanes(list, 16, 64, true);
  else if (!strcmp(area, "convert"))
    fold_convert(list);
  else if (!strcmp(area, "moves"))
    fold_moves(list);
  else if (!strcmp(area, "missing"))
    for (const char *const *a = (const char *const[]){"ints8", "ints", "floats", "convert", "moves", NULL}; *a; a++)
      fill(list, *a);
  else
    return false;
  return true;
}

static void
emit(const fold_list *list, uint32_t random)
{
  for (uint32_t i = 0; i < list->count; i++) {
    uint32_t count;
    uint64_t *points = fold_points(&list->cases[i], random, &count);
    fold_write(stdout, &list->cases[i], vyre_eval, points, count, false);
    puts("(reset)");
    free(points);
  }
}

int
main(int argc, char **argv)
{
  uint32_t random = 1000;
  bool emits = false;
  const char *area = "";
  for (int i = 1; i < argc; i++) {
    if (!strncmp(argv[i], "-random=", 8))
      random = (uint32_t)strtoul(argv[i] + 8, NULL, 10);
    else if (!strcmp(argv[i], "-emit"))
      emits = true;
    else
      area = argv[i];
  }
  fold_list list = {0};
  fold_counts counts = {0};
  const bool laws = !strcmp(area, "laws");
  if (!laws && !fill(&list, area)) {
    fprintf(stderr, "usage: vyre-folds [-random=N] [-emit] ints8 | ints | floats | convert | moves | laws | missing\n");
    return 2;
  }
  bool answered = true;
  if (emits)
    emit(&list, random);
  else if (!strcmp(area, "missing"))
    counts = (fold_counts){.cases = list.count, .wrong = fold_missing(&list, stderr)};
  else if (laws)
    answered = fold_laws(stderr, &counts);
  else
    answered = fold_check(&list, vyre_eval, random, stderr, &counts);
  fold_list_free(&list);
  if (!emits)
    printf("%s: %u cases, %" PRIu64 " points, %u wrong\n", area, counts.cases, counts.points, counts.wrong);
  return answered && !counts.wrong ? 0 : 1;
}
