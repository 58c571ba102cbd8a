/* Scalar cases of lane by lane ops, each expected value written by hand.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "eval_cases.h"

/* clang-format off */

/* f32 by bits */
#define P0     0x00000000
#define N0     0x80000000
#define TINY   0x00000001 /* the least denormal */
#define DENORM 0x007fffff
#define NORMAL 0x00800000
#define HALF   0x3f000000
#define ONE    0x3f800000
#define ONE_5  0x3fc00000
#define TWO    0x40000000
#define TWO_5  0x40200000
#define THREE  0x40400000
#define FOUR   0x40800000
#define FIVE   0x40a00000
#define FIVE_5 0x40b00000
#define SIX    0x40c00000
#define EIGHT  0x41000000
#define BIG    0x7f7fffff
#define INF    0x7f800000
#define QNAN   0x7fc00000
#define SNAN   0x7f800001
#define ANAN   0xffc12345 /* quiet, with a payload and a sign */
#define MINUS(x) ((x) ^ 0x80000000u)

#define MIN32 0x80000000
#define MAX32 0x7fffffff
#define MIN64 (UINT64_C(1) << 63)
#define NEG(x) ((uint32_t)(-(int32_t)(x)))
#define ALL 0xffffffff

#define U1(op, a, want)          {VYRE_OP_##op, VYRE_U32, VYRE_VOID, a, 0, 0, want, false}
#define U2(op, a, b, want)       {VYRE_OP_##op, VYRE_U32, VYRE_VOID, a, b, 0, want, false}
#define U3(op, a, b, c, want)    {VYRE_OP_##op, VYRE_U32, VYRE_VOID, a, b, c, want, false}
#define U2X(op, a, b, want)      {VYRE_OP_##op, VYRE_U32, VYRE_VOID, a, b, 0, want, true}
#define U3X(op, a, b, c, want)   {VYRE_OP_##op, VYRE_U32, VYRE_VOID, a, b, c, want, true}
#define I1(op, a, want)          {VYRE_OP_##op, VYRE_I32, VYRE_VOID, a, 0, 0, want, false}
#define I2(op, a, b, want)       {VYRE_OP_##op, VYRE_I32, VYRE_VOID, a, b, 0, want, false}
#define I3(op, a, b, c, want)    {VYRE_OP_##op, VYRE_I32, VYRE_VOID, a, b, c, want, false}
#define I2X(op, a, b, want)      {VYRE_OP_##op, VYRE_I32, VYRE_VOID, a, b, 0, want, true}
#define I3X(op, a, b, c, want)   {VYRE_OP_##op, VYRE_I32, VYRE_VOID, a, b, c, want, true}
#define B1(op, a, want)          {VYRE_OP_##op, VYRE_BOOL, VYRE_VOID, a, 0, 0, want, false}
#define B2(op, a, b, want)       {VYRE_OP_##op, VYRE_BOOL, VYRE_VOID, a, b, 0, want, false}
#define F1(op, a, want)          {VYRE_OP_##op, VYRE_F32, VYRE_VOID, a, 0, 0, want, false}
#define F1X(op, a, want)         {VYRE_OP_##op, VYRE_F32, VYRE_VOID, a, 0, 0, want, true}
#define F2(op, a, b, want)       {VYRE_OP_##op, VYRE_F32, VYRE_VOID, a, b, 0, want, false}
#define F2X(op, a, b, want)      {VYRE_OP_##op, VYRE_F32, VYRE_VOID, a, b, 0, want, true}
#define F3(op, a, b, c, want)    {VYRE_OP_##op, VYRE_F32, VYRE_VOID, a, b, c, want, false}
#define F3X(op, a, b, c, want)   {VYRE_OP_##op, VYRE_F32, VYRE_VOID, a, b, c, want, true}
#define K2(op, kind, a, b, want) {VYRE_OP_##op, VYRE_##kind, VYRE_VOID, a, b, 0, want, false}
#define K2X(op, kind, a, b, want) {VYRE_OP_##op, VYRE_##kind, VYRE_VOID, a, b, 0, want, true}
#define K3(op, kind, a, b, c, want) {VYRE_OP_##op, VYRE_##kind, VYRE_VOID, a, b, c, want, false}
#define K1(op, kind, a, want)    {VYRE_OP_##op, VYRE_##kind, VYRE_VOID, a, 0, 0, want, false}
#define CONV(from, to, a, want)  {VYRE_OP_convert, VYRE_##from, VYRE_##to, a, 0, 0, want, false}
#define CONVX(from, to, a, want) {VYRE_OP_convert, VYRE_##from, VYRE_##to, a, 0, 0, want, true}

const eval_case eval_cases[] = {
  /* integers */
  U2(add, 3, 4, 7), U2(add, ALL, 1, 0), I2(add, MAX32, 1, MIN32), K2(add, U8, 0xff, 2, 1), K2(add, U64, UINT64_MAX, 1, 0),
  U2(sub, 3, 4, ALL), I2(sub, MIN32, 1, MAX32), K2(sub, I16, 0, 1, 0xffff),
  U2(mul, 0x10000, 0x10000, 0), I2(mul, NEG(3), 5, NEG(15)), U2(mul, ALL, ALL, 1), K2(mul, U64, UINT64_MAX, 3, UINT64_MAX - 2),
  U1(neg, 1, ALL), I1(neg, MIN32, MIN32), I1(neg, NEG(7), 7), K1(neg, I8, 0x80, 0x80),
  U2(udiv, 7, 2, 3), U2(udiv, ALL, 1, ALL), U2X(udiv, 7, 0, ALL), U2X(udiv, 0, 0, ALL), K2(udiv, U8, 200, 7, 28),
  U2(umod, 7, 2, 1), U2X(umod, 7, 0, 0), U2(umod, ALL, 10, 5),
  I2(sdiv, NEG(7), 2, NEG(3)), I2(sdiv, 7, NEG(2), NEG(3)), I2X(sdiv, 7, 0, ALL), I2X(sdiv, MIN32, ALL, MIN32), I2(sdiv, 5, ALL, NEG(5)),
  I2(sdiv, MIN32, 2, 0xc0000000),
  I2(srem, NEG(7), 2, ALL), I2(srem, 7, NEG(2), 1), I2X(srem, 7, 0, 0), I2X(srem, MIN32, ALL, 0), I2(srem, 7, ALL, 0),
  I2(smod, NEG(7), 2, 1), I2(smod, 7, NEG(2), ALL), I2(smod, NEG(6), 3, 0), I2X(smod, 7, 0, 0), I2X(smod, MIN32, ALL, 0),
  I2(smod, NEG(7), NEG(2), ALL), I2(smod, 1, NEG(5), NEG(4)),
  /* which the processor would trap at */
  K2X(sdiv, I64, MIN64, UINT64_MAX, MIN64), K2X(srem, I64, MIN64, UINT64_MAX, 0), K2X(smod, I64, MIN64, UINT64_MAX, 0),
  I1(sabs, NEG(5), 5), I1(sabs, 5, 5), I1(sabs, MIN32, MIN32), K1(sabs, I8, 0xff, 1),
  I1(ssign, NEG(5), ALL), I1(ssign, 0, 0), I1(ssign, 9, 1), I1(ssign, MIN32, ALL), K1(ssign, I8, 0x80, 0xff),
  U2(umin, 1, ALL, 1), U2(umax, 1, ALL, ALL), I2(smin, 1, ALL, ALL), I2(smax, 1, ALL, 1), I2(smin, MIN32, MAX32, MIN32),
  U3(uclamp, 5, 1, 3, 3), U3(uclamp, 0, 1, 3, 1), U3(uclamp, 2, 1, 3, 2), U3X(uclamp, 2, 3, 1, 1), U3(uclamp, ALL, 1, 3, 3),
  I3(sclamp, NEG(5), NEG(1), 3, NEG(1)), I3(sclamp, 5, NEG(1), 3, 3), I3X(sclamp, 0, 3, NEG(3), NEG(3)),
  U2(umulhi, ALL, ALL, 0xfffffffe), K2(umulhi, U8, 0x10, 0x10, 1), K2(umulhi, U64, UINT64_MAX, UINT64_MAX, UINT64_MAX - 1),
  I2(smulhi, MIN32, MIN32, 0x40000000), I2(smulhi, ALL, 1, ALL), I2(smulhi, ALL, ALL, 0), K2(smulhi, I16, 0x8000, 0x7fff, 0xc000),
  K2(smulhi, I64, UINT64_C(1) << 63, UINT64_C(1) << 63, UINT64_C(1) << 62),
  U2(uaddsat, ALL, 1, ALL), U2(uaddsat, ALL - 1, 1, ALL), U2(uaddsat, 3, 4, 7), K2(uaddsat, U64, UINT64_MAX, 1, UINT64_MAX),
  I2(saddsat, MAX32, 1, MAX32), I2(saddsat, MIN32, ALL, MIN32), I2(saddsat, MIN32, MAX32, ALL), K2(saddsat, I8, 0x7f, 0x7f, 0x7f),
  K2(saddsat, I64, INT64_MAX, 1, INT64_MAX),
  U2(usubsat, 3, 4, 0), U2(usubsat, 4, 3, 1), I2(ssubsat, MIN32, 1, MIN32), I2(ssubsat, 0, MIN32, MAX32), I2(ssubsat, 3, 4, ALL),
  K2(ssubsat, I64, INT64_MAX, UINT64_MAX, INT64_MAX),
  U2(umulsat, 0x10000, 0x10000, ALL), U2(umulsat, 0xffff, 0x10001, ALL), K2(umulsat, U8, 16, 15, 240), K2(umulsat, U8, 16, 16, 255),
  I2(smulsat, MIN32, ALL, MAX32), I2(smulsat, MIN32, 2, MIN32), I2(smulsat, NEG(3), 5, NEG(15)), K2(smulsat, I8, 0xf0, 8, 0x80),
  K2(smulsat, I64, UINT64_C(1) << 63, UINT64_MAX, INT64_MAX),
  U2(uabsdiff, 3, 5, 2), U2(uabsdiff, 0, ALL, ALL), I2(sabsdiff, NEG(3), 5, 8), I2(sabsdiff, MIN32, MAX32, ALL), I2(sabsdiff, MAX32, ALL, MIN32),
  /* bits */
  U2(rotl, 0x80000001, 1, 3), U2(rotl, 5, 32, 5), U2(rotl, 0xf0000000, 36, 0xf), K2(rotl, U8, 0x81, 4, 0x18), K2(rotl, U64, 1, 63, UINT64_C(1) << 63),
  U2(rotr, 1, 1, MIN32), U2(rotr, 5, 0, 5), I2(rotr, 0xf, ALL, 0x1e), K2(rotr, I16, 1, 1, 0x8000), K2(rotr, U64, 1, 1, UINT64_C(1) << 63),
  U2(and, 0xff00ff00, 0x0ff00ff0, 0x0f000f00), U2(or, 0xf0, 0x0f, 0xff), U2(xor, 0xff, 0x0f, 0xf0), U1(not, 0, ALL), K1(not, U8, 1, 0xfe),
  B2(and, 1, 0, 0), B2(and, 1, 1, 1), B2(or, 1, 0, 1), B2(or, 0, 0, 0), B2(xor, 1, 1, 0), B2(xor, 0, 1, 1), B1(not, 0, 1), B1(not, 1, 0),
  U2(shl, 1, 31, MIN32), U2X(shl, 1, 32, 1), U2X(shl, 1, 33, 2), U2X(shl, 3, ALL, MIN32), K2(shl, U64, 1, 63, UINT64_C(1) << 63),
  U2(ushr, MIN32, 31, 1), I2(ushr, MIN32, 4, 0x08000000), U2X(ushr, 2, 33, 1),
  I2(sshr, MIN32, 31, ALL), U2(sshr, 0xf0000000, 4, 0xff000000), I2(sshr, 16, 2, 4), I2X(sshr, NEG(8), 34, NEG(2)),
  K2(sshr, I8, 0x80, 3, 0xf0),
  U1(bitcount, 0, 0), U1(bitcount, ALL, 32), U1(bitcount, 0x80000001, 2), K1(bitcount, I8, 0xff, 8),
  U1(bitrev, 1, MIN32), U1(bitrev, 0x00000006, 0x60000000), K1(bitrev, U8, 0x01, 0x80), K1(bitrev, U16, 0x0003, 0xc000),
  U1(findlsb, 0, ALL), U1(findlsb, 8, 3), U1(findlsb, MIN32, 31),
  U1(findumsb, 0, ALL), U1(findumsb, 8, 3), U1(findumsb, ALL, 31), U1(findumsb, 1, 0),
  I1(findsmsb, 0, ALL), I1(findsmsb, ALL, ALL), I1(findsmsb, 8, 3), I1(findsmsb, NEG(8), 2), I1(findsmsb, MIN32, 30),
  U3(ubfe, 0x12345678, 8, 8, 0x56), U3(ubfe, ALL, 0, 32, ALL), U3(ubfe, ALL, 4, 0, 0), U3X(ubfe, 0xf0000000, 28, 8, 0xf),
  U3X(ubfe, ALL, 40, 4, 0), U3(ubfe, ALL, 32, 0, 0), U3X(ubfe, ALL, 1, ALL, MAX32),
  I3(sbfe, 0x00000080, 0, 8, 0xffffff80), I3(sbfe, 0x00000040, 0, 8, 0x40), U3(sbfe, 0xf0, 4, 4, ALL), I3X(sbfe, 0x80000000, 31, 9, ALL),
  I3X(sbfe, ALL, 99, 1, 0), I3(sbfe, ALL, 3, 0, 0),
  /* compares */
  U2(eq, 5, 5, 1), U2(eq, 5, 6, 0), B2(eq, 1, 1, 1), B2(eq, 0, 1, 0), U2(ne, 5, 6, 1), B2(ne, 1, 1, 0), I2(ne, ALL, ALL, 0),
  U2(ult, 1, ALL, 1), I2(ult, 1, ALL, 1), U2(ult, 2, 2, 0), U2(ule, 2, 2, 1), U2(ule, 3, 2, 0), U2(ugt, ALL, 1, 1), U2(ugt, 1, 1, 0),
  U2(uge, 1, 1, 1), U2(uge, 0, 1, 0),
  I2(slt, ALL, 1, 1), U2(slt, ALL, 1, 1), I2(slt, 1, 1, 0), I2(sle, MIN32, MAX32, 1), I2(sle, 2, 1, 0), I2(sgt, 1, ALL, 1), I2(sgt, 1, 1, 0),
  I2(sge, 1, 1, 1), I2(sge, MIN32, 0, 0), K2(slt, I8, 0x80, 0x7f, 1), K2(slt, I64, UINT64_MAX, 0, 1),
  F2(feq, ONE, ONE, 1), F2(feq, P0, N0, 1), F2(feq, QNAN, QNAN, 0), F2(fne, QNAN, QNAN, 1), F2(fne, ONE, ONE, 0), F2(fne, ONE, TWO, 1),
  F2(fone, QNAN, ONE, 0), F2(fone, ONE, TWO, 1), F2(fone, P0, N0, 0), F2(fueq, QNAN, ONE, 1), F2(fueq, ONE, TWO, 0), F2(fueq, P0, N0, 1),
  F2(flt, ONE, TWO, 1), F2(flt, TINY, NORMAL, 1), F2(flt, N0, P0, 0), F2(flt, QNAN, ONE, 0), F2(fle, N0, P0, 1), F2(fle, ONE, QNAN, 0),
  F2(fle, TWO, ONE, 0), F2(fgt, INF, BIG, 1), F2(fgt, ONE, QNAN, 0), F2(fgt, ONE, ONE, 0), F2(fge, ONE, ONE, 1), F2(fge, SNAN, ONE, 0),
  F2(fult, ONE, QNAN, 1), F2(fult, ONE, ONE, 0), F2(fult, ONE, TWO, 1), F2(fule, QNAN, ONE, 1), F2(fule, TWO, ONE, 0), F2(fule, ONE, ONE, 1),
  F2(fugt, QNAN, ONE, 1), F2(fugt, ONE, TWO, 0), F2(fugt, TWO, ONE, 1), F2(fuge, QNAN, QNAN, 1), F2(fuge, ONE, TWO, 0), F2(fuge, ONE, ONE, 1),
  F1(isnan, SNAN, 1), F1(isnan, ANAN, 1), F1(isnan, INF, 0), F1(isnan, P0, 0), F1(isinf, INF, 1), F1(isinf, MINUS(INF), 1), F1(isinf, QNAN, 0),
  F1(isinf, BIG, 0),
  /* float arithmetic */
  F2(add, 0x3dcccccd, 0x3e4ccccd, 0x3e99999a), F2(add, BIG, BIG, INF), F2(add, INF, MINUS(INF), QNAN), F2(add, P0, N0, P0), F2(add, N0, N0, N0),
  F2(add, DENORM, TINY, NORMAL), F2(add, ANAN, ONE, QNAN), F2(add, 0x4b800000, ONE, 0x4b800000),
  F2(sub, ONE, ONE, P0), F2(sub, INF, INF, QNAN), F2(sub, NORMAL, TINY, DENORM), F2(sub, N0, P0, N0),
  F2(mul, TWO, MINUS(THREE), MINUS(SIX)), F2(mul, P0, INF, QNAN), F2(mul, NORMAL, HALF, 0x00400000), F2(mul, TINY, HALF, P0),
  F2(mul, TINY, 0x3f000001, TINY), F2(mul, BIG, TWO, INF), F2(mul, N0, ONE, N0),
  F1(neg, P0, N0), F1(neg, ONE, MINUS(ONE)), F1(neg, ANAN, QNAN), F1(neg, INF, MINUS(INF)),
  F2(fdiv, ONE, THREE, 0x3eaaaaab), F2(fdiv, ONE, P0, INF), F2(fdiv, ONE, N0, MINUS(INF)), F2(fdiv, P0, P0, QNAN), F2(fdiv, NORMAL, TWO, 0x00400000),
  F2(frem, MINUS(FIVE_5), TWO, MINUS(ONE_5)), F2(frem, FIVE_5, MINUS(TWO), ONE_5), F2(frem, ONE, P0, QNAN), F2(frem, ONE, INF, ONE),
  F2(fmod, MINUS(FIVE_5), TWO, HALF), F2(fmod, FIVE_5, MINUS(TWO), MINUS(HALF)), F2(fmod, FOUR, MINUS(TWO), N0), F2(fmod, ONE, P0, QNAN),
  F3(fma, TWO, THREE, ONE, 0x40e00000), F3(fma, 0x3f800800, 0x3f800800, 0x0d800000, 0x3f801001), F3(fma, INF, P0, ONE, QNAN),
  F3(fma, BIG, TWO, MINUS(INF), MINUS(INF)), F3(fma, ONE, N0, N0, N0),
  F1(fabs, MINUS(ONE), ONE), F1(fabs, N0, P0), F1(fabs, ANAN, QNAN), F1(fsign, MINUS(TWO), MINUS(ONE)), F1(fsign, TINY, ONE), F1(fsign, N0, N0),
  F1(fsign, P0, P0), F1(fsign, QNAN, P0),
  F2(nmin, N0, P0, N0), F2(nmin, P0, N0, N0), F2(nmin, QNAN, ONE, ONE), F2(nmin, ONE, SNAN, ONE), F2(nmin, QNAN, SNAN, QNAN), F2(nmin, ONE, TWO, ONE),
  F2(nmax, N0, P0, P0), F2(nmax, P0, N0, P0), F2(nmax, ANAN, ONE, ONE), F2(nmax, MINUS(INF), QNAN, MINUS(INF)), F2(nmax, ONE, TWO, TWO),
  F2(fmin, ONE, TWO, ONE), F2X(fmin, QNAN, ONE, ONE), F2(fmin, P0, N0, N0), F2X(fmax, ONE, QNAN, ONE), F2(fmax, ONE, TWO, TWO), F2(fmax, N0, P0, P0),
  F3(fclamp, FIVE, ONE, TWO, TWO), F3(fclamp, P0, ONE, TWO, ONE), F3X(fclamp, ONE, TWO, P0, P0), F3X(fclamp, QNAN, ONE, TWO, ONE),
  F3(nclamp, QNAN, ONE, TWO, ONE), F3(nclamp, ONE_5, ONE, TWO, ONE_5), F3X(nclamp, ONE, TWO, P0, P0),
  /* half and double: rounded once, to their kind */
  K2(add, F16, 0x3c00, 0x3c00, 0x4000), K2(add, F16, 0x7bff, 0x7bff, 0x7c00), K2(add, F16, 0x6800, 0x3c00, 0x6800), K2(add, F16, 0x6801, 0x3c00, 0x6802),
  K2(mul, F16, 0x0001, 0x3800, 0x0000), K2(mul, F16, 0x0003, 0x3800, 0x0002), K2(fdiv, F16, 0x3c00, 0x4200, 0x3555), K2(sub, F16, 0x7c00, 0x7c00, 0x7e00),
  K2(add, F64, UINT64_C(0x3ff0000000000000), UINT64_C(0x3ff0000000000000), UINT64_C(0x4000000000000000)),
  K2(sub, F64, UINT64_C(0x7ff0000000000000), UINT64_C(0x7ff0000000000000), UINT64_C(0x7ff8000000000000)),
  /* conversions */
  CONV(F32, I32, MINUS(TWO_5), NEG(2)), CONV(F32, I32, 0x4effffff, 0x7fffff80), CONVX(F32, I32, 0x4f000000, MAX32), CONV(F32, I32, 0xcf000000, MIN32),
  CONVX(F32, I32, MINUS(BIG), MIN32), CONVX(F32, I32, QNAN, 0), CONVX(F32, I32, INF, MAX32),
  CONV(F32, U32, TWO_5, 2), CONV(F32, U32, MINUS(HALF), 0), CONVX(F32, U32, MINUS(ONE), 0), CONV(F32, U32, 0x4f7fffff, 0xffffff00),
  CONVX(F32, U32, 0x4f800000, ALL), CONVX(F32, U32, ANAN, 0), CONVX(F32, U32, MINUS(INF), 0), CONVX(F32, U8, 0x43800000, 0xff), CONV(F32, I8, 0xc3000000, 0x80),
  CONV(U32, F32, 0x01000001, 0x4b800000), CONV(U32, F32, ALL, 0x4f800000), CONV(I32, F32, ALL, MINUS(ONE)), CONV(I32, F32, MIN32, 0xcf000000),
  CONV(U64, F32, UINT64_C(0x8000008000000001), 0x5f000001), CONV(I64, F32, UINT64_MAX, MINUS(ONE)), CONV(U32, F16, 65520, 0x7c00), CONV(U32, F16, 65519, 0x7bff),
  CONV(I32, I64, ALL, UINT64_MAX), CONV(U32, I64, ALL, UINT64_C(0xffffffff)), CONV(I64, I32, UINT64_C(0x1ffffffff), ALL), CONV(I8, U32, 0x80, 0xffffff80),
  CONV(I32, U32, ALL, ALL), CONV(F32, F16, ONE, 0x3c00), CONV(F32, F16, SNAN, 0x7e00), CONV(F32, F16, 0x477ff000, 0x7c00), CONV(F32, F16, 0x477fefff, 0x7bff),
  CONV(F32, F16, 0x33800000, 0x0001), CONV(F32, F16, 0x33000000, 0x0000), CONV(F32, F16, 0x33000001, 0x0001), CONV(F16, F32, 0x0001, 0x33800000),
  CONV(F16, F32, 0xfc00, MINUS(INF)), CONV(F64, F32, UINT64_C(0x3ff0000010000000), ONE), CONV(F64, F32, UINT64_C(0x3ff0000010000001), 0x3f800001),
  F1(quantize16, ONE, ONE), F1(quantize16, 0x3f801000, ONE), F1(quantize16, 0x3f801001, 0x3f802000), F1(quantize16, 0x477ff000, INF),
  F1(quantize16, 0x387fffff, P0), F1(quantize16, 0xb8000000, N0), F1(quantize16, 0x38800000, 0x38800000), F1(quantize16, ANAN, QNAN),
  /* rounding */
  F1(round, TWO_5, TWO), F1(round, ONE_5, TWO), F1(round, MINUS(HALF), N0), F1(roundeven, TWO_5, TWO), F1(roundeven, 0x3f000001, ONE),
  F1(roundeven, MINUS(TWO_5), MINUS(TWO)), F1(roundeven, SNAN, QNAN), F1(trunc, MINUS(TWO_5), MINUS(TWO)), F1(trunc, MINUS(HALF), N0),
  F1(floor, MINUS(HALF), MINUS(ONE)), F1(floor, TWO_5, TWO), F1(floor, TINY, P0), F1(ceil, TWO_5, THREE), F1(ceil, MINUS(HALF), N0), F1(ceil, TINY, ONE),
  F1(fract, TWO_5, HALF), F1(fract, MINUS(TWO_5), HALF), F1(fract, INF, QNAN), F1(fract, 0xaedbe6ff, ONE),
  F1(sqrt, TWO, 0x3fb504f3), F1(sqrt, N0, N0), F1X(sqrt, MINUS(ONE), QNAN), F1(sqrt, TINY, 0x1a3504f3), F1(sqrt, INF, INF),
  F1(rsqrt, FOUR, HALF), F1(rsqrt, TWO, 0x3f3504f3), F1X(rsqrt, P0, INF), F1X(rsqrt, MINUS(ONE), QNAN),
  F1(radians, 0x42b40000, 0x3fc90fdb), F1(degrees, ONE, 0x42652ee1),
  /* libm, rounded once */
  F1(sin, P0, P0), F1(sin, ONE, 0x3f576aa4), F1(sin, INF, QNAN), F1(cos, ONE, 0x3f0a5140), F1(tan, ONE, 0x3fc75923), F1(asin, HALF, 0x3f060a92),
  F1X(asin, TWO, QNAN), F1(acos, HALF, 0x3f860a92), F1X(acos, MINUS(TWO), QNAN), F1(atan, ONE, 0x3f490fdb), F1(sinh, ONE, 0x3f966cfe),
  F1(cosh, ONE, 0x3fc583ab), F1(tanh, ONE, 0x3f42f7d6), F1(asinh, ONE, 0x3f61a1b3), F1(acosh, TWO, 0x3fa89214), F1X(acosh, HALF, QNAN),
  F1(atanh, HALF, 0x3f0c9f54), F1X(atanh, ONE, INF), F1X(atanh, TWO, QNAN), F1(exp, ONE, 0x402df854), F1(exp, MINUS(INF), P0), F1(exp2, THREE, EIGHT),
  F1(exp2, HALF, 0x3fb504f3), F1(log, 0x41200000, 0x40135d8e), F1X(log, P0, MINUS(INF)), F1(log2, EIGHT, THREE), F1X(log2, MINUS(ONE), QNAN),
  F2(atan2, ONE, MINUS(ONE), 0x4016cbe4), F2X(atan2, P0, P0, P0), F2(atan2, P0, ONE, P0), F2(atan2, ONE, P0, 0x3fc90fdb), F2(pow, TWO, HALF, 0x3fb504f3), F2X(pow, P0, P0, ONE), F2X(pow, MINUS(TWO), TWO, FOUR),
  F2(step, ONE, HALF, P0), F2(step, ONE, ONE, ONE), F2(step, ONE, TWO, ONE), F2(step, QNAN, ONE, ONE),
  F3(fmix, ONE, THREE, HALF, TWO), F3(fmix, ONE, THREE, P0, ONE), F3(fmix, ONE, THREE, ONE, THREE),
  K3(fmix, F16, 0x3c57, 0x4304, 0x36ed, 0x4045), /* rounded once it would be 0x4044 */
  F3(smoothstep, P0, TWO, ONE, HALF), F3(smoothstep, P0, TWO, FIVE, ONE), F3(smoothstep, P0, FOUR, ONE, 0x3e200000), F3X(smoothstep, TWO, ONE, ONE_5, HALF),
  F3X(smoothstep, ONE, ONE, ONE, P0),
  F2(ldexp, ONE, 3, EIGHT), F2(ldexp, ONE, NEG(149), TINY), F2(ldexp, ONE, NEG(150), P0), F2(ldexp, ONE, MAX32, INF), F2(ldexp, THREE, MIN32, P0),
  F2(ldexp, TINY, 149, ONE),
};

const uint32_t eval_case_count = sizeof eval_cases / sizeof eval_cases[0];
