/* Random kernels: expressions, branches, loops, local and shared arrays, calls.
 *
 * What C leaves open is kept out: shifts are masked, divisors are not 0, floats are clamped before they become integers; and what a
 * device may do otherwise: NaNs have one pattern when they are stored, float minimum and maximum are left out, and so are 64-bit
 * rotations, whose amounts clang 14 forgets to mask.  A kernel is
 * some phases with barriers between; threads share one array's half in a phase and write the other.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ptx_generate.h"

#include <stdarg.h>

typedef struct generator {
  FILE *file;
  uint64_t random;
  uint32_t names; /* of loops */
} generator;

typedef enum kind { INT, UNSIGNED, LONG, WIDE, FLOAT, DOUBLE, KINDS } kind;

static const char *const types[KINDS] = {"int", "unsigned", "long long", "unsigned long long", "float", "double"};
static const char letters[KINDS] = {'i', 'u', 'l', 'w', 'f', 'd'};

static uint32_t
draw(generator *g, uint32_t below)
{
  g->random = g->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(g->random >> 33) % below;
}

static void __attribute__((format(printf, 2, 3))) put(generator *g, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  vfprintf(g->file, format, arguments);
  va_end(arguments);
}

static void expression(generator *g, kind k, uint32_t depth);

static void
constant(generator *g, kind k)
{
  static const char *const floats[] = {"0.5", "1.0", "-3.25", "1e-3", "7.0", "1e10", "0.0", "-1.0"};
  static const uint32_t edges[] = {0, 1, 2, 31, 32, 255, 65535, 0x7fffffff, 0x80000000, 0xffffffff};
  const uint32_t value = draw(g, 2) ? edges[draw(g, 10)] : draw(g, 100000);
  if (k >= FLOAT)
    put(g, k == FLOAT ? "%sf" : "%s", floats[draw(g, 8)]);
  else if (k >= LONG)
    put(g, "(%s)0x%xull", types[k], value);
  else
    put(g, "(%s)0x%xu", types[k], value);
}

static void
leaf(generator *g, kind k)
{
  switch (draw(g, 5)) {
  case 0:
    constant(g, k);
    return;
  case 1:
    put(g, "in_%c[(t + %uu) & 63u]", k == UNSIGNED ? 'i' : k == LONG ? 'w' : letters[k], draw(g, 64));
    return;
  case 2:
    if (k == UNSIGNED || k == INT) {
      put(g, draw(g, 2) ? "t" : "in_b[(t * 3u + %uu) & 63u]", draw(g, 64));
      return;
    }
    break;
  case 3:
    if (k == WIDE) {
      put(g, "SHARED(from, (t + %uu) & 63u)", draw(g, 64));
      return;
    }
    break;
  default:
    break;
  }
  put(g, "%c%u", letters[k], draw(g, 2));
}

static void
pair(generator *g, const char *format_a, kind a, const char *between, kind b, const char *end, uint32_t depth)
{
  put(g, "%s", format_a);
  expression(g, a, depth);
  put(g, "%s", between);
  expression(g, b, depth);
  put(g, "%s", end);
}

static void
integer(generator *g, kind k, uint32_t depth)
{
  static const char *const plain[] = {"+", "-", "*", "&", "|", "^"};
  const uint32_t bits = k >= LONG ? 63 : 31;
  const kind same_unsigned = k >= LONG ? WIDE : UNSIGNED;
  char text[64];
  switch (draw(g, 14)) {
  case 0:
    pair(g, "(", k, k >= LONG ? " << (63ull & (unsigned long long)" : " << (31u & (unsigned)", UNSIGNED, "))", depth);
    return;
  case 1:
    snprintf(text, sizeof text, " >> (%uu & ", bits);
    pair(g, "(", k, text, UNSIGNED, "))", depth);
    return;
  case 2:
    pair(g, "(", k, draw(g, 2) ? " / (1 + (255 & " : " % (1 + (255 & ", same_unsigned, ")))", depth);
    return;
  case 3:
    pair(g, "(", same_unsigned, draw(g, 2) ? " / (1u | " : " % (1u | ", same_unsigned, "))", depth);
    return;
  case 4:
    put(g, "(");
    expression(g, (kind)draw(g, KINDS), depth);
    put(g, " < ");
    expression(g, (kind)draw(g, FLOAT), depth);
    pair(g, " ? ", k, " : ", k, ")", depth);
    return;
  case 5:
    put(g, "(%s)(", types[k]);
    expression(g, (kind)draw(g, FLOAT), depth);
    put(g, ")");
    return;
  case 6:
    put(g, "(%s)(%s)(", types[k],
        draw(g, 2)   ? (draw(g, 2) ? "signed char" : "unsigned char")
        : draw(g, 2) ? "short"
                     : "unsigned short");
    expression(g, k, depth);
    put(g, ")");
    return;
  case 7:
    put(g, "(%s)whole(", types[k]);
    expression(g, draw(g, 2) ? FLOAT : DOUBLE, depth);
    put(g, ")");
    return;
  case 8:
    put(g, "(%s)%s(", types[k], draw(g, 2) ? "__builtin_popcountll" : "turned");
    expression(g, WIDE, depth);
    put(g, ")");
    return;
  case 9:
    put(g, "(%s)zeros(", types[k]);
    expression(g, UNSIGNED, depth);
    put(g, ")");
    return;
  case 10:
    pair(g, k >= LONG ? "help_w(" : "help_i(", k >= LONG ? WIDE : INT, ", ", INT, ")", depth);
    return;
  case 11:
    put(g, "(%s)(((unsigned long long)", types[k]);
    expression(g, UNSIGNED, depth);
    pair(g, " * (unsigned long long)", UNSIGNED, ") >> (31u & ", UNSIGNED, "))", depth);
    return;
  default:
    snprintf(text, sizeof text, " %s ", plain[draw(g, 6)]);
    pair(g, "(", k, text, k, ")", depth);
    return;
  }
}

static void
floating(generator *g, kind k, uint32_t depth)
{
  static const char *const plain[] = {" + ", " - ", " * ", " / "};
  const char *suffix = k == FLOAT ? "f" : "";
  switch (draw(g, 8)) {
  case 0:
    put(g, "__builtin_fma%s(", suffix);
    expression(g, k, depth);
    pair(g, ", ", k, ", ", k, ")", depth);
    return;
  case 1:
    put(g, "(%s)(", types[k]);
    expression(g, (kind)draw(g, KINDS), depth);
    put(g, ")");
    return;
  case 2:
    put(g, "__builtin_fabs%s(", suffix);
    expression(g, k, depth);
    put(g, ")");
    return;
  case 3:
    put(g, "(");
    expression(g, k, depth);
    put(g, draw(g, 2) ? " < " : " >= ");
    expression(g, k, depth);
    pair(g, " ? ", k, " : - ", k, ")", depth);
    return;
  case 4:
    put(g, "root%s(", suffix);
    expression(g, k, depth);
    put(g, ")");
    return;
  default:
    pair(g, "(", k, plain[draw(g, 4)], k, ")", depth);
    return;
  }
}

static void
expression(generator *g, kind k, uint32_t depth)
{
  if (depth == 0 || draw(g, 5) == 0)
    leaf(g, k);
  else if (k >= FLOAT)
    floating(g, k, depth - 1);
  else
    integer(g, k, depth - 1);
}

static void statements(generator *g, uint32_t depth, uint32_t count);

static void
statement(generator *g, uint32_t depth)
{
  const kind k = (kind)draw(g, KINDS);
  uint32_t name;
  switch (depth ? draw(g, 9) : 8) {
  case 0:
    pair(g, "if (", INT, " < ", INT, ") {\n", 1);
    statements(g, depth - 1, 2);
    put(g, "} else {\n");
    statements(g, depth - 1, 1);
    put(g, "}\n");
    return;
  case 1:
    name = g->names++;
    put(g, "for (unsigned n%u = 0, e%u = 7u & ", name, name);
    expression(g, UNSIGNED, 1);
    put(g, "; n%u < e%u; n%u++) {\nu0 += n%u;\n", name, name, name, name);
    statements(g, depth - 1, 2);
    if (draw(g, 2)) {
      pair(g, "if (", UNSIGNED, " < ", UNSIGNED, draw(g, 2) ? ") break;\n" : ") continue;\n", 1);
      statement(g, 0);
    }
    put(g, "}\n");
    return;
  case 2:
    put(g, "switch (7u & ");
    expression(g, UNSIGNED, 1);
    put(g, ") {\n");
    for (uint32_t c = 0; c < 6; c++) {
      put(g, "case %u:\n", c);
      statement(g, 0);
      put(g, draw(g, 4) ? "break;\n" : "__attribute__((fallthrough));\n");
    }
    put(g, "default:\n");
    statement(g, 0);
    put(g, "}\n");
    return;
  case 3:
    put(g, "here[7u & ");
    expression(g, UNSIGNED, 1);
    put(g, "] = ");
    expression(g, UNSIGNED, 2);
    put(g, ";\n");
    return;
  case 4:
    put(g, "u%u = here[7u & ", draw(g, 2));
    expression(g, UNSIGNED, 1);
    put(g, "];\n");
    return;
  default:
    put(g, "%c%u = ", letters[k], draw(g, 2));
    expression(g, k, 3);
    put(g, ";\n");
    return;
  }
}

static void
statements(generator *g, uint32_t depth, uint32_t count)
{
  while (count--)
    statement(g, depth);
}

static void
phase(generator *g, uint32_t number)
{
  put(g, "PHASE(%u) {\nconst unsigned from = %u, to = %u;\nunsigned here[8] = {0};\n(void)from;\n", number, number & 1,
      ~number & 1);
  for (uint32_t k = 0; k < KINDS; k++)
    put(g, "%s %c0 = (%s)(t * %uu + %uu), %c1 = (%s)in_%c[t & 63u];\n", types[k], letters[k], types[k], draw(g, 100), draw(g, 100),
        letters[k], types[k],
        k == UNSIGNED ? 'i'
        : k == LONG   ? 'w'
                      : letters[k]);
  statements(g, 3, 4 + draw(g, 5));
  put(g, "SHARED(to, t) = w0 ^ (unsigned long long)u1 ^ here[t & 7u];\n");
  for (uint32_t k = 0; k < KINDS; k++)
    put(g, k >= FLOAT ? "out[t * 16u + %u] ^= bits(%c0);\n" : "out[t * 16u + %u] += (unsigned long long)%c0;\n", k, letters[k]);
  for (uint32_t k = 0; k < KINDS; k++)
    put(g, k >= FLOAT ? "out[t * 16u + %u] ^= bits(%c1);\n" : "out[t * 16u + %u] += (unsigned long long)%c1;\n", 6 + k, letters[k]);
  put(g, "}\nNEXT\n");
}

/* The arrays' types are those of the letters; w is for both of 64 bits. */
static const char head[] =
    "typedef unsigned long long word;\n"
    "#ifdef __CUDA__\n"
    "#define HELP static __attribute__((device)) __attribute__((noinline))\n"
    "#define KERNEL extern \"C\" __attribute__((global)) void\n"
    "#define BEGIN __attribute__((shared)) static word shared_words[128]; const unsigned t = __nvvm_read_ptx_sreg_tid_x();\\\n"
    "  shared_words[t] = shared_words[64 + t] = t; __syncthreads();\n"
    "#define SHARED(half, at) shared_words[(half) * 64u + (at)]\n"
    "#define PHASE(n)\n"
    "#define NEXT __syncthreads();\n"
    "#define ROOTF(x) __nvvm_sqrt_rn_f(x)\n"
    "#define ROOT(x) __nvvm_sqrt_rn_d(x)\n"
    "#define TABLE __attribute__((device)) static const\n"
    "#else\n"
    "#define HELP static __attribute__((noinline))\n"
    "#define KERNEL extern \"C\" void\n"
    "#define BEGIN word shared_words[128]; for (unsigned t = 0; t < 64; t++) shared_words[t] = shared_words[64 + t] = t;\n"
    "#define SHARED(half, at) shared_words[(half) * 64u + (at)]\n"
    "#define PHASE(n) for (unsigned t = 0; t < 64; t++)\n"
    "#define NEXT\n"
    "#define ROOTF(x) __builtin_sqrtf(x)\n"
    "#define ROOT(x) __builtin_sqrt(x)\n"
    "#define TABLE static const\n"
    "#endif\n"
    "TABLE int primes[16] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};\n"
    "HELP int help_i(int a, int b) { return a * primes[b & 15] ^ (a >> (b & 31)); }\n"
    "HELP word help_w(word a, int b) { return (a << (b & 63)) ^ (a >> (b & 31)); }\n"
    "HELP word bits(float x) { unsigned b; __builtin_memcpy(&b, &x, 4); return x != x ? 0x7fc00000u : b; }\n"
    "HELP word bits(double x) { word b; __builtin_memcpy(&b, &x, 8); return x != x ? 0x7ff8000000000000ull : b; }\n"
    "HELP long long whole(double x) { return x > -1e9 && x < 1e9 ? (long long)x : 7; }\n"
    "HELP int whole(float x) { return x > -1e6f && x < 1e6f ? (int)x : 7; }\n"
    "HELP unsigned zeros(unsigned x) { return x ? __builtin_clz(x) + __builtin_ctz(x) : 99; }\n"
    "HELP word turned(word x) { return __builtin_bitreverse64(x) ^ __builtin_bswap32((unsigned)x); }\n"
    "HELP float rootf(float x) { return ROOTF(__builtin_fabsf(x)); }\n"
    "HELP double root(double x) { return ROOT(__builtin_fabs(x)); }\n";

void
ptx_generate(FILE *file, uint64_t seed, uint32_t kernels)
{
  generator g = {.file = file, .random = seed};
  put(&g, "%s", head);
  for (uint32_t k = 0; k < kernels; k++) {
    put(&g,
        "KERNEL k%u(word *out, const int *in_i, const word *in_w, const float *in_f, const double *in_d, const unsigned char "
        "*in_b) "
        "{\nBEGIN\n",
        k);
    const uint32_t phases = 1 + draw(&g, 3);
    for (uint32_t p = 0; p < phases; p++)
      phase(&g, p);
    put(&g, "}\n");
  }
}
