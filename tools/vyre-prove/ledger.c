/* The ledger: a text file with a line for each rule, in the order of the rules.
 *
 * The hash covers a rule's text without comments and spaces, so a rule can be moved and formatted.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "prove.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vyre/io.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

typedef struct line {
  uint64_t hash;
  uint64_t points; /* evaluated for each question that z3 left open; 0 if all are proven */
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
  vyre_bytes bytes = {0};
  char word[32];
  if (!made)
    abort();
  if (may_be_missing && access(file, F_OK) != 0 && errno == ENOENT)
    return made;
  vyre_status status = vyre_file_read_as(file, VYRE_FILE_TEXT | VYRE_FILE_PLAIN, &bytes);
  if (status) {
    status = vyre_status_add_fix(status, VYRE_CODE_INPUT, "write the ledger with -update");
    fprintf(report, "vyre-prove: error: the ledger: %s\n", vyre_status_text(status));
    vyre_status_free(status);
    free(made);
    return NULL;
  }
  uint32_t number = 1;
  for (char *text = bytes.size ? bytes.data : NULL, *next; text && *text; text = next, number++) {
    line *l = &made->lines[made->count];
    char *end = text + strcspn(text, "\n");
    next = end + (*end == '\n');
    *end = '\0';
    if (text[0] == '#' || text[0] == '\0')
      continue;
    if (made->count == RULES_MOST || sscanf(text, "%16" SCNx64 " %31s %47s", &l->hash, word, l->name) != 3 ||
        (strcmp(word, "proven") != 0 && sscanf(word, "checked=%" SCNu64, &l->points) != 1)) {
      fprintf(report,
              "%s:%u: error: expected a hash, 'proven' or 'checked=N', and a rule's name\nFix: write the ledger with "
              "scripts/prove.sh\n",
              file, number);
      vyre_bytes_free(&bytes);
      free(made);
      return NULL;
    }
    made->count++;
  }
  vyre_bytes_free(&bytes);
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
  vyre_bytes text = {0};
  vyre_status status = vyre_bytes_printf(
      &text,
      "# Rules that hold, by the hash of their text: proven by z3, or checked by evaluating at so many points a question\n# (all "
      "there are, where the variables have 24 bits or fewer together) where it has no answer in its time.\n"
      "# scripts/prove.sh writes this file.  SPDX-License-Identifier: Apache-2.0\n");
  for (uint32_t i = 0; i < set->count && !status; i++) {
    const uint64_t hash = hash_of(&set->rules[i]);
    if (!holds[i])
      continue;
    status = points[i] ? vyre_bytes_printf(&text, "%016" PRIx64 " checked=%" PRIu64 " %s\n", hash, points[i], set->rules[i].name)
                       : vyre_bytes_printf(&text, "%016" PRIx64 " proven %s\n", hash, set->rules[i].name);
  }
  if (!status)
    status = vyre_file_write(file, text.data, text.size);
  vyre_bytes_free(&text);
  status = vyre_status_add_fix(status, VYRE_CODE_INPUT, "give -ledger a file that can be written");
  if (status)
    fprintf(report, "vyre-prove: error: the ledger: %s\n", vyre_status_text(status));
  const bool is_written = status == VYRE_OK;
  vyre_status_free(status);
  return is_written;
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
      fprintf(report, "%s: this rule of the ledger has changed or was removed\nFix: write the ledger with scripts/prove.sh\n",
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
