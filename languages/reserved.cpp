/* Names that a text must not give to a value: SPIRV-Cross renames variables and functions, but not values.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "compile.h"

#include <cstring>

namespace
{

/* Keywords and functions of GLSL, HLSL and MSL, between spaces. */
const char reserved[] =
    " "
    "abs acos acosh active all any as_type asdouble asfloat asin asinh asint asm asuint atan atanh atomicAdd "
    "atomicAnd atomicCompSwap atomicExchange atomicLoad atomicMax atomicMin atomicOr atomicStore atomicXor "
    "atomic_uint attribute auto barrier bitCount bitfieldExtract bitfieldInsert bitfieldReverse bool bool2 bool3 "
    "bool4 break buffer case cast cbuffer ceil centroid char clamp class coherent column_major common compile const "
    "constant constexpr continue controlBarrier cos cosh countbits cross ddx ddy default degrees delete determinant "
    "device discard distance do dot double doubleBitsToInt64 doubleBitsToUint64 dword else enum equal exp exp2 "
    "extern external fabs faceforward false filter findLSB findMSB fixed flat float float16BitsToInt16 "
    "float16BitsToUint16 floatBitsToInt floatBitsToUint floor fma fmax fmin for frac fract fragment frexp friend "
    "goto greaterThan greaterThanEqual groupMemoryBarrier half half2 half3 half4 highp if imulExtended in inline "
    "inout input int int16BitsToFloat16 int64BitsToDouble intBitsToFloat interface invariant inverse inversesqrt "
    "isinf isnan kernel layout ldexp length lerp lessThan lessThanEqual line lineadj linear log log2 long lowp mad "
    "matrix matrixCompMult max mediump memoryBarrier memoryBarrierBuffer memoryBarrierShared metal min min16float "
    "min16int min16uint mix mod modf mutable namespace new noinline nointerpolation noperspective normalize not "
    "notEqual operator out outerProduct output pack16 pack32 pack64 packDouble2x32 packHalf2x16 packSnorm2x16 "
    "packSnorm4x8 packUint2x32 packUnorm2x16 packUnorm4x8 packoffset partition patch pixelfragment point pow "
    "precise precision private protected ptrdiff_t public radians rcp readonly reflect refract register resource "
    "restrict return round roundEven row_major rsqrt sample sampler saturate select shared short sign signed sin "
    "sincos sinh size_t sizeof smooth smoothstep snorm sqrt stateblock static step string struct subroutine superp "
    "switch tan tanh tbuffer technique template texture this thread threadgroup throw transpose triangle true trunc "
    "try typedef typename uaddCarry uchar uint uint16BitsToFloat16 uint64BitsToDouble uint8_t uintBitsToFloat "
    "umulExtended uniform union unorm unpack16 unpack32 unpack8 unpackDouble2x32 unpackHalf2x16 unpackSnorm2x16 "
    "unpackSnorm4x8 unpackUint2x32 unpackUnorm2x16 unpackUnorm4x8 unsigned ushort using using_namespace usubBorrow "
    "varying vector vertex virtual void volatile wchar_t while writeonly ";

/* Returns whether a word begins like a type: perhaps a letter, the type's name, and a digit, Buffer or Cube. */
bool
begins_like_type(const std::string &word)
{
  static const char *const types[] = {"vec",  "8vec",  "16vec", "64vec",   "mat",     "16mat", "int",
                                      "uint", "float", "image", "sampler", "texture", "double"};
  for (const char *type : types)
    for (size_t skip = 0; skip < 2 && skip < word.size(); skip++) {
      const size_t length = std::strlen(type);
      if (word.compare(skip, length, type) != 0)
        continue;
      const char *behind = word.c_str() + skip + length;
      if ((*behind >= '0' && *behind <= '9') || std::strncmp(behind, "Buffer", 6) == 0 || std::strncmp(behind, "Cube", 4) == 0)
        return true;
    }
  return false;
}

} // namespace

bool
cross_is_reserved(const std::string &name)
{
  return std::strstr(reserved, (" " + name + " ").c_str()) || name.compare(0, 8, "subgroup") == 0 || begins_like_type(name);
}
