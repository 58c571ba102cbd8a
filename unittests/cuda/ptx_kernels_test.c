/* Compares random C, compiled by clang's NVPTX back end and run by the simulator, to the same C on the host.
 *
 * The C has expressions, branches, loops, local and shared arrays, and calls.  A kernel has phases with barriers between them.
 * In a phase, threads read one half of a shared array and write the other.  The C has no undefined behavior: shifts are masked,
 * divisors are not 0, and floats are in range before they become integers.  It also avoids results that depend on the device.
 * Stored NaNs have one pattern, and there is no float minimum or maximum.  There is no 64-bit rotation, because clang 14 does not
 * mask its amount.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../budget.h"
#include "../test.h"
#include "ptx_fixture.h"
#include "vyre/io.h"

#include <dlfcn.h>
#include <unistd.h>

enum { KERNELS = 20, FILES = 15, THREADS = 64, OUT = 16, IN = 64, WORDS = THREADS * OUT };

/* ---- random kernels ------------------------------------------------------------------------------------------------------ */

typedef struct generator {
  FILE *file;
  uint64_t random;
  uint32_t names; /* number of loops, whose variables have numbers */
} generator;

typedef enum kind { INT, UNSIGNED, LONG, WIDE, FLOAT, DOUBLE, KINDS } kind;

static const char *const types[KINDS] = {"int", "unsigned", "long long", "unsigned long long", "float", "double"};
static const char letters[] = "iulwfd"; /* by kind, of variables and of marks in texts */
static const char arrays[] = "iiwwfd";  /* the letters of input arrays */

/* Texts have these marks:
 *   @i @u @l @w @f @d   an expression of that kind
 *   @k @s               an expression of the text's kind, or of the unsigned kind of its size
 *   @x @y @z            an expression of a random kind of integers, of any kind, or of floats
 *   @T @L @A            the type, the letter and the array of the text's kind
 *   @M @F               31 or 63; the suffix of functions of floats
 *   @# @2 @N            a number below 64; 0 or 1; a new number for each text
 *   @C @S @0            a constant; a statement; a statement without nested statements */
#define COUNT(texts) (sizeof(texts) / sizeof *(texts))

static const char *const integers[] = {"(@k << (@Mu & @u))",
                                       "(@k >> (@Mu & @u))",
                                       "(@k / (1 + (255 & @s)))",
                                       "(@k % (1 + (255 & @s)))",
                                       "(@s / (1u | @s))",
                                       "(@s % (1u | @s))",
                                       "(@y < @x ? @k : @k)",
                                       "(@T)(@x)",
                                       "(@T)(signed char)(@k)",
                                       "(@T)(unsigned char)(@k)",
                                       "(@T)(short)(@k)",
                                       "(@T)(unsigned short)(@k)",
                                       "(@T)whole(@z)",
                                       "(@T)__builtin_popcountll(@w)",
                                       "(@T)turned(@w)",
                                       "(@T)zeros(@u)",
                                       "(@T)help_i(@i, @i)",
                                       "(@T)help_w(@w, @i)",
                                       "(@T)(((unsigned long long)@u * (unsigned long long)@u) >> (31u & @u))",
                                       "(@k + @k)",
                                       "(@k - @k)",
                                       "(@k * @k)",
                                       "(@k & @k)",
                                       "(@k | @k)",
                                       "(@k ^ @k)"};
static const char *const floats[] = {"__builtin_fma@F(@k, @k, @k)",
                                     "(@T)(@y)",
                                     "__builtin_fabs@F(@k)",
                                     "(@k < @k ? @k : - @k)",
                                     "(@k >= @k ? @k : - @k)",
                                     "root@F(@k)",
                                     "(@k + @k)",
                                     "(@k - @k)",
                                     "(@k * @k)",
                                     "(@k / @k)"};
static const char *const leaves[] = {
    "@C", "in_@A[(t + @#u) & 63u]", "@L@2", "@L@2", "(@T)t", "(@T)in_b[(t * 3u + @#u) & 63u]", "(@T)SHARED(from, (t + @#u) & 63u)",
};
static const char *const constants[] = {"0",     "1",          "2",          "31",         "32",   "255",
                                        "65535", "0x7fffffff", "0x80000000", "0xffffffff", "4711", "99999"};
static const char *const float_constants[] = {"0.5", "1.0", "-3.25", "1e-3", "7.0", "1e10", "0.0", "-1.0"};
#define LOOP "for (unsigned n@N = 0, e@N = 7u & @u; n@N < e@N; n@N++) {\nu0 += n@N;\n@S@S"
#define SWITCH \
  "switch (7u & @u) {\ncase 0:\n@0break;\ncase 1:\n@0__attribute__((fallthrough));\ncase 2:\n@0break;\ncase 3:\n@0break;\n"
static const char *const statements[] = {
    "if (@i < @i) {\n@S@S} else {\n@S}\n",
    LOOP "}\n",
    LOOP "if (@u < @u) break;\n@0}\n",
    LOOP "if (@u < @u) continue;\n@0}\n",
    SWITCH "case 4:\n@0__attribute__((fallthrough));\ndefault:\n@0}\n",
};
static const char *const plain_statements[] = {
    "@L@2 = @k;\n", "@L@2 = @k;\n", "@L@2 = @k;\n", "@L@2 = @k;\n", "here[7u & @u] = @u;\n", "u@2 = here[7u & @u];\n",
};

static void put(generator *g, const char *text, kind k, uint32_t depth);

static void
put_one(generator *g, const char *const *texts, size_t count, kind k, uint32_t depth)
{
  put(g, texts[test_random(&g->random, (uint32_t)count)], k, depth);
}

static void
put_expression(generator *g, kind k, uint32_t depth)
{
  if (depth == 0 || test_random(&g->random, 5) == 0)
    put_one(g, leaves, COUNT(leaves), k, 0);
  else if (k >= FLOAT)
    put_one(g, floats, COUNT(floats), k, depth - 1);
  else
    put_one(g, integers, COUNT(integers), k, depth - 1);
}

static void
put_statement(generator *g, uint32_t depth)
{
  const kind k = (kind)test_random(&g->random, KINDS);
  if (depth && test_random(&g->random, 2))
    put_one(g, statements, COUNT(statements), k, depth - 1);
  else
    put_one(g, plain_statements, COUNT(plain_statements), k, 2);
}

static void
put_constant(generator *g, kind k)
{
  if (k >= FLOAT)
    fprintf(g->file, "(%s)%s", types[k], float_constants[test_random(&g->random, COUNT(float_constants))]);
  else
    fprintf(g->file, "(%s)%su", types[k], constants[test_random(&g->random, COUNT(constants))]);
}

/* Writes the text for the kind.  `depth` is the most nesting of its expressions and statements. */
static void
put(generator *g, const char *text, kind k, uint32_t depth)
{
  const bool is_wide = k == LONG || k == WIDE;
  const uint32_t name = strstr(text, "@N") ? g->names++ : 0;
  for (const char *at = text; *at; at++) {
    if (*at != '@') {
      fputc(*at, g->file);
      continue;
    }
    const char mark = *++at, *letter = strchr(letters, mark);
    if (letter)
      put_expression(g, (kind)(letter - letters), depth);
    else if (mark == 'k')
      put_expression(g, k, depth);
    else if (mark == 's')
      put_expression(g, is_wide ? WIDE : UNSIGNED, depth);
    else if (mark == 'x')
      put_expression(g, (kind)test_random(&g->random, FLOAT), depth);
    else if (mark == 'y')
      put_expression(g, (kind)test_random(&g->random, KINDS), depth);
    else if (mark == 'z')
      put_expression(g, test_random(&g->random, 2) ? FLOAT : DOUBLE, depth);
    else if (mark == 'C')
      put_constant(g, k);
    else if (mark == 'S' || mark == '0')
      put_statement(g, mark == 'S' ? depth : 0);
    else if (mark == 'T')
      fputs(types[k], g->file);
    else if (mark == 'L' || mark == 'A')
      fputc((mark == 'L' ? letters : arrays)[k], g->file);
    else if (mark == 'M')
      fputs(is_wide ? "63" : "31", g->file);
    else if (mark == 'F')
      fputs(k == FLOAT ? "f" : "", g->file);
    else
      fprintf(g->file, "%u", mark == 'N' ? name : test_random(&g->random, mark == '2' ? 2 : 64));
  }
}

static void
put_phase(generator *g, uint32_t number)
{
  fprintf(g->file, "PHASE(%u) {\nconst unsigned from = %u, to = %u;\nunsigned here[8] = {0};\n(void)from;\n", number, number & 1,
          ~number & 1);
  for (kind k = 0; k < KINDS; k++)
    put(g, "@T @L0 = (@T)(t * @#u + @#u), @L1 = (@T)in_@A[t & 63u];\n", k, 0);
  for (uint32_t count = 4 + test_random(&g->random, 5); count > 0; count--)
    put_statement(g, 3);
  fprintf(g->file, "SHARED(to, t) = w0 ^ (unsigned long long)u1 ^ here[t & 7u];\n");
  for (uint32_t i = 0; i < 2 * KINDS; i++)
    fprintf(g->file, i % KINDS >= FLOAT ? "out[t * 16u + %u] ^= bits(%c%u);\n" : "out[t * 16u + %u] += (unsigned long long)%c%u;\n",
            i, letters[i % KINDS], i / KINDS);
  fprintf(g->file, "}\nNEXT\n");
}

/* The arrays have the types of their letters.  in_i is also for unsigned, and in_w for both kinds of 64 bits. */
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

/* Writes kernels k0, k1 and so on.  Each has OUT output words of 64 bits for each thread, and input arrays of IN elements.  On
 * the host, a call runs all threads. */
static void
generate(FILE *file, uint64_t seed)
{
  generator g = {.file = file, .random = seed};
  fputs(head, file);
  for (uint32_t k = 0; k < KERNELS; k++) {
    fprintf(file,
            "KERNEL k%u(word *out, const int *in_i, const word *in_w, const float *in_f, const double *in_d, const unsigned char "
            "*in_b) {\nBEGIN\n",
            k);
    for (uint32_t phases = 1 + test_random(&g.random, 3), p = 0; p < phases; p++)
      put_phase(&g, p);
    fprintf(file, "}\n");
  }
}

/* ---- comparison ---------------------------------------------------------------------------------------------------------- */

typedef void host_kernel(uint64_t *out, const int *i, const uint64_t *w, const float *f, const double *d, const unsigned char *b);

typedef struct inputs {
  int i[IN];
  uint64_t w[IN];
  float f[IN];
  double d[IN];
  unsigned char b[IN];
} inputs;

static void
fill(inputs *in, uint64_t seed)
{
  static const float edges[] = {0, -0.0f, 1, -1, 0x1p-149f, 0x1p127f, -0x1p-126f, 1e30f};
  for (uint32_t k = 0; k < IN; k++) {
    in->i[k] = (int)test_random_bits(&seed) >> test_random_bits(&seed) % 32;
    in->w[k] = test_random_bits(&seed) >> test_random_bits(&seed) % 64;
    in->f[k] = k < 8 ? edges[k] : (float)((double)(int32_t)test_random_bits(&seed) / 65536);
    in->d[k] = k < 8 ? (double)edges[7 - k] : (double)(int64_t)test_random_bits(&seed) / 1e9;
    in->b[k] = (unsigned char)test_random_bits(&seed);
  }
}

static void
compare(const ptx_module *module, void *library, uint32_t kernel, uint64_t seed)
{
  char name[16];
  inputs in;
  uint64_t out[WORDS], expected[WORDS] = {0};
  snprintf(name, sizeof name, "k%u", kernel);
  void *symbol = dlsym(library, name);
  assert_non_null(symbol);
  host_kernel *host;
  memcpy(&host, &symbol, sizeof host);
  fill(&in, seed);
  memset(out, 0, sizeof out);
  ptx_test t = {.module = module, .kernel = name, .launch = {.block = {THREADS}, .seed = seed}};
  ptx_test_buffer(&t, 0, out, sizeof out);
  ptx_test_buffer(&t, 1, in.i, sizeof in.i);
  ptx_test_buffer(&t, 2, in.w, sizeof in.w);
  ptx_test_buffer(&t, 3, in.f, sizeof in.f);
  ptx_test_buffer(&t, 4, in.d, sizeof in.d);
  ptx_test_buffer(&t, 5, in.b, sizeof in.b);
  ptx_test_ok(&t);
  host(expected, in.i, in.w, in.f, in.d, in.b);
  for (uint32_t k = 0; k < WORDS; k++)
    if (out[k] != expected[k])
      fail_msg("kernel %s, seed %llu, thread %u: word %u is 0x%llx, not 0x%llx", name, (unsigned long long)seed, k / OUT, k % OUT,
               (unsigned long long)out[k], (unsigned long long)expected[k]);
}

static void
compare_file(uint64_t seed, const char *folder)
{
  char path[128], command[2048];
  snprintf(path, sizeof path, "%s/k%llu.cu", folder, (unsigned long long)seed);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  generate(file, seed);
  fclose(file);
  /* Both compilers run at once.  The host's does not optimize, because that takes long and its results are the reference. */
  snprintf(command, sizeof command,
           CLANG
           " -x cuda --cuda-device-only --cuda-gpu-arch=sm_75 -nocudainc -nocudalib -w -fwrapv -ffp-contract=off -O%llu -S %s "
           "-o %s.ptx & " CLANG " -x c++ -fPIC -shared -w -fwrapv -ffp-contract=off -O0 -fno-math-errno %s -o %s.so -lm && wait $!",
           (unsigned long long)(seed % 4), path, path, path, path);
  assert_int_equal(system(command), 0);
  char log[256];
  vyre_bytes ptx = {0};
  snprintf(command, sizeof command, "%s.ptx", path);
  assert_null(vyre_file_read_as(command, VYRE_FILE_TEXT, &ptx));
  ptx_module *module = ptx_module_parse(ptx.data, ptx.size, 100, 90, log, sizeof log);
  if (!module)
    fail_msg("refused: '%s'", log);
  snprintf(command, sizeof command, "%s.so", path);
  void *library = dlopen(command, RTLD_NOW);
  assert_non_null(library);
  for (uint32_t k = 0; k < KERNELS; k++)
    for (uint64_t input = 0; input < 3; input++)
      compare(module, library, k, seed * 100 + input);
  dlclose(library);
  ptx_module_free(module);
  vyre_bytes_free(&ptx);
}

TEST(random_kernels_compute_the_same_as_the_host)
{
  char folder[] = "/tmp/vyre-ptx-XXXXXX", command[64];
  if (!*CLANG)
    fail_msg("there is no clang with an NVPTX back end\nFix: scripts/install-packages.sh");
  assert_non_null(mkdtemp(folder));
  for (uint64_t seed = 1; seed <= budget_part(FILES); seed++)
    compare_file(seed, folder);
  snprintf(command, sizeof command, "rm -r %s", folder);
  assert_int_equal(system(command), 0);
}
