/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_WINDOWS_LOCALE_H
#define VYRE_WINDOWS_LOCALE_H

#include_next <locale.h>

/* The name of a locale.  Only the numbers of the current thread are affected.  The locale is "C", or the one before uselocale. */
typedef char *locale_t;
#define LC_ALL_MASK                 0
#define LC_NUMERIC_MASK             0
#define newlocale(mask, name, base) vyre_locale_c
#define freelocale(locale)          ((void)(locale))
extern char vyre_locale_c[];
locale_t uselocale(locale_t locale);
double strtod_l(const char *text, char **end, locale_t locale);
float strtof_l(const char *text, char **end, locale_t locale);

#endif
