/* SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"

#include "base/suggest.h"

static const char *
best(const char *word, const char *const *candidates)
{
  vyre_suggestion near = {.word = word, .length = strlen(word)};
  for (; *candidates; candidates++)
    vyre_suggest_qualified(&near, *candidates);
  return near.best ? near.best : "(none)";
}

TEST(near_misses_are_found)
{
  static const char *const names[] = {"canon", "cf", "dce", "licm", "acme.unroll", "const-fold", NULL};
  assert_string_equal(best("canno", names), "canon");           /* swapped */
  assert_string_equal(best("cano", names), "canon");            /* missing */
  assert_string_equal(best("cannon", names), "canon");          /* one extra */
  assert_string_equal(best("dcf", names), "cf");                /* as near as "dce", and first */
  assert_string_equal(best("CONST_FOLD", names), "const-fold"); /* case and separator */
  assert_string_equal(best("acm.unroll", names), "acme.unroll");
  assert_string_equal(best("unrol", names), "acme.unroll"); /* after the plugin's name */
}

TEST(distant_words_are_not_found)
{
  static const char *const names[] = {"canon", "cf", "dce", NULL};
  assert_string_equal(best("inline", names), "(none)");
  assert_string_equal(best("x", names), "(none)"); /* one edit is the whole word */
  assert_string_equal(best("", names), "(none)");
  char word[200];
  memset(word, 'c', sizeof(word) - 1);
  word[sizeof(word) - 1] = '\0';
  assert_string_equal(best(word, names), "(none)"); /* too long to be compared */
}
