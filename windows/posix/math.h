/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_WINDOWS_MATH_H
#define VYRE_WINDOWS_MATH_H

#include_next <math.h>

/* Equals rint, because the rounding mode is never changed. */
#define roundeven rint
/* fma with one rounding (fma.c). */
double vyre_fma(double a, double b, double c);
float vyre_fmaf(float a, float b, float c);
#define fma  vyre_fma
#define fmaf vyre_fmaf

#endif
