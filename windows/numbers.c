/* Implements conversion of numbers in the "C" locale (locale.h), and memmem (string.h).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

char vyre_locale_c[] = "C";

/* Sets the thread's locale for numbers.  Returns NULL if "C" is already set, otherwise the name of the previous locale.  Passing
 * that name to uselocale restores the previous locale, and frees the name. */
locale_t
uselocale(locale_t wanted)
{
  if (!wanted || (wanted == vyre_locale_c && strcmp(localeconv()->decimal_point, ".") == 0))
    return NULL;
  _configthreadlocale(_ENABLE_PER_THREAD_LOCALE);
  locale_t before = wanted == vyre_locale_c ? strdup(setlocale(LC_NUMERIC, NULL)) : NULL;
  setlocale(LC_NUMERIC, wanted);
  if (!before)
    free(wanted);
  return before;
}

double
strtod_l(const char *text, char **end, locale_t locale)
{
  locale_t before = uselocale(locale);
  const double value = __mingw_strtod(text, end);
  uselocale(before);
  return value;
}

float
strtof_l(const char *text, char **end, locale_t locale)
{
  locale_t before = uselocale(locale);
  const float value = __mingw_strtof(text, end);
  uselocale(before);
  return value;
}

void *
memmem(const void *where, size_t size, const void *what, size_t length)
{
  for (const char *at = where; size >= length; at++, size--)
    if (memcmp(at, what, length) == 0)
      return (void *)(size_t)at;
  return NULL;
}
