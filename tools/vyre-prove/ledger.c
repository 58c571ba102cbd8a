/* The ledger: a text file, a line a rule, in the order of the rules.
 *
 * A rule's hash is that of its text without comments and spaces: moving it or laying it out anew changes nothing.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "prove.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

typedef struct line {
  uint64_t hash;
  uint64_t points; /* of each question that z3 left open; 0: proven */
  char name[RULES_NAME];
} line;

struct ledger {
  uint32_t count;
  line lines[RULES_MOST];
};

static uint64_t
hash_of(const rules_rule *rule)
{
  char text[4096];
  size_t length = 0;
  bool comment = false;
  for (uint32_t i = 0; i < rule->length && length < sizeof text; i++) {
    const char c = rule->text[i];
    comment = c == ';' || (comment && c != '\n');
    if (!comment && !isspace((unsigned char)c))
      text[length++] = c;
  }
  return XXH3_64bits(text, length);
}

ledger *
ledger_read(const char *file, bool may_be_missing, FILE *report)
{
  ledger *made = calloc(1, sizeof *made);
  FILE *in = fopen(file, "r");
  char text[256], word[32];
  if (!made)
    abort();
  if (!in) {
    if (errno == ENOENT && may_be_missing)
      return made;
    fprintf(report, "vyre-prove: error: cannot read the ledger '%s': %s\nFix: -update writes it\n", file, strerror(errno));
    free(made);
    return NULL;
  }
  for (uint32_t number = 1; fgets(text, sizeof text, in); number++) {
    line *l = &made->lines[made->count];
    if (text[0] == '#' || text[0] == '\n')
      continue;
    if (made->count == RULES_MOST || sscanf(text, "%16" SCNx64 " %31s %47s", &l->hash, word, l->name) != 3 ||
        (strcmp(word, "proven") != 0 && sscanf(word, "checked=%" SCNu64, &l->points) != 1)) {
      fprintf(report,
              "%s:%u: error: expected a hash, 'proven' or 'checked=N', and a rule's name\nFix: scripts/prove.sh writes it anew\n",
              file, number);
      fclose(in);
      free(made);
      return NULL;
    }
    made->count++;
  }
  fclose(in);
  return made;
}

bool
ledger_has(const ledger *known, const rules_rule *rule, uint64_t *out_points)
{
  const uint64_t hash = hash_of(rule);
  for (uint32_t i = 0; i < known->count; i++)
    if (known->lines[i].hash == hash && strcmp(known->lines[i].name, rule->name) == 0) {
      *out_points = known->lines[i].points;
      return true;
    }
  return false;
}

bool
ledger_write(const char *file, const rules_set *set, const bool *holds, const uint64_t *points, FILE *report)
{
  FILE *out = fopen(file, "w");
  if (!out) {
    fprintf(report, "vyre-prove: error: cannot write the ledger '%s': %s\nFix: give -ledger a file that can be written\n", file,
            strerror(errno));
    return false;
  }
  fputs("# Rules that hold, by the hash of their text: proven by z3, or checked by evaluating at so many points a question\n# (all "
        "there are, where the variables have 24 bits or fewer together) where it has no answer in its time.\n"
        "# scripts/prove.sh writes this file.  SPDX-License-Identifier: Apache-2.0\n",
        out);
  for (uint32_t i = 0; i < set->count; i++) {
    if (!holds[i])
      continue;
    fprintf(out, "%016" PRIx64, hash_of(&set->rules[i]));
    if (points[i])
      fprintf(out, " checked=%" PRIu64 " %s\n", points[i], set->rules[i].name);
    else
      fprintf(out, " proven %s\n", set->rules[i].name);
  }
  if (fclose(out) == 0)
    return true;
  fprintf(report, "vyre-prove: error: cannot write the ledger '%s': %s\nFix: give -ledger a file that can be written\n", file,
          strerror(errno));
  return false;
}

uint32_t
ledger_stale(const ledger *known, const rules_set *set, FILE *report)
{
  uint32_t stale = 0;
  for (uint32_t i = 0; i < known->count; i++) {
    bool found = false;
    for (uint32_t k = 0; k < set->count && !found; k++)
      found = strcmp(set->rules[k].name, known->lines[i].name) == 0 && hash_of(&set->rules[k]) == known->lines[i].hash;
    if (!found)
      fprintf(report, "%s: the ledger has a rule of that name that is no more\nFix: scripts/prove.sh writes it anew\n",
              known->lines[i].name);
    stale += !found;
  }
  return stale;
}

void
ledger_free(ledger *known)
{
  free(known);
}
