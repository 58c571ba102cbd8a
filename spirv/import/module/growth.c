/* Limits how much larger than its SPIR-V a module may become.
 *
 * The importer replaces each call by the function's body, and each composite by its leaves.  So 17 functions that each call the
 * next one twice produce the last one 65,536 times.  The limit is the greater of VYRE_SPIRV_FREE_WORDS and vyre_module_growth times
 * the module's words.  A module over the limit is not supported.
 *
 * Words after inlining are counted over the call graph before any function is read, so refusing a module costs nothing.  Words of
 * debug instructions do not count.  Composites are counted as they are made: leaves, and rows, each of which becomes at least two
 * words of SPIR-V.
 *
 * Cost: calls.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/import/import.h"

#define MOST_WORDS ((uint64_t)1 << 40) /* counts saturate here, so that sums of two counts do not overflow */

static uint64_t
sum(uint64_t a, uint64_t b)
{
  return a + b < MOST_WORDS ? a + b : MOST_WORDS;
}

void
import_bound_growth(import *m)
{
  const uint64_t times = vyre_module_growth(m->module), asked = times * m->word_count;
  const uint64_t most = asked > VYRE_SPIRV_FREE_WORDS ? asked : VYRE_SPIRV_FREE_WORDS;
  const uint64_t rows = m->view->rows + most / 2, leaves = 8 * most;
  m->most_words = most;
  m->most_rows = rows < UINT32_MAX ? (uint32_t)rows : UINT32_MAX;
  m->most_leaves = leaves < UINT32_MAX ? (uint32_t)leaves : UINT32_MAX;
}

void
import_count_words(import *m, function *f)
{
  f->inlined = f->end - f->start - f->debug_words;
  for (uint32_t k = 0; k < f->call_count; k++) {
    const uint32_t *call = m->words + *AT(uint32_t, m->calls, f->calls + k);
    f->inlined = sum(f->inlined, AT(function, m->functions, m->ids[call[3]].value)->inlined);
  }
}

/* Fails with a message of one line, because it becomes the module's remark. */
static bool
too_large(import *m, uint64_t words, const char *what)
{
  return import_uncovered(
      m, "%s would have %s%llu words, but %llu are allowed %s (Fix: raise the maximum growth, a multiple of its words)", what,
      words < MOST_WORDS ? "" : "more than ", (unsigned long long)words, (unsigned long long)m->most_words,
      m->most_words > VYRE_SPIRV_FREE_WORDS ? "by the maximum growth" : "in any module");
}

bool
import_may_inline(import *m, const function *f)
{
  m->inlined = sum(m->inlined, f->inlined);
  return m->inlined <= m->most_words || too_large(m, m->inlined, "with its calls inlined the module");
}

bool
import_too_many_leaves(import *m)
{
  return too_large(m, m->most_words + 1, "with composites and variables split the module");
}
