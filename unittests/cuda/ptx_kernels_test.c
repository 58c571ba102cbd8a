/* Kernels that a compiler wrote: random C through clang's NVPTX back end, and the same C on the host.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../budget.h"
#include "../test.h"
#include "ptx_fixture.h"
#include "ptx_generate.h"

#include <dlfcn.h>
#include <unistd.h>

enum { KERNELS = 20, FILES = 15, WORDS = GENERATED_THREADS * GENERATED_OUT };

typedef void host_kernel(uint64_t *out, const int *i, const uint64_t *w, const float *f, const double *d, const unsigned char *b);

typedef struct inputs {
  int i[GENERATED_IN];
  uint64_t w[GENERATED_IN];
  float f[GENERATED_IN];
  double d[GENERATED_IN];
  unsigned char b[GENERATED_IN];
} inputs;

static uint64_t
next(uint64_t *random)
{
  *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *random >> 32 ^ *random;
}

static void
fill(inputs *in, uint64_t seed)
{
  static const float edges[] = {0, -0.0f, 1, -1, 0x1p-149f, 0x1p127f, -0x1p-126f, 1e30f};
  for (uint32_t k = 0; k < GENERATED_IN; k++) {
    in->i[k] = (int)next(&seed) >> next(&seed) % 32;
    in->w[k] = next(&seed) >> next(&seed) % 64;
    in->f[k] = k < 8 ? edges[k] : (float)((double)(int32_t)next(&seed) / 65536);
    in->d[k] = k < 8 ? (double)edges[7 - k] : (double)(int64_t)next(&seed) / 1e9;
    in->b[k] = (unsigned char)next(&seed);
  }
}

static char *
read_file(const char *path)
{
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  fseek(file, 0, SEEK_END);
  const long size = ftell(file);
  rewind(file);
  char *text = calloc(1, (size_t)size + 1);
  assert_non_null(text);
  assert_int_equal(fread(text, 1, (size_t)size, file), size);
  fclose(file);
  return text;
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
  ptx_test t = {.module = module, .kernel = name, .launch = {.block = {GENERATED_THREADS}, .seed = seed}};
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
      fail_msg("kernel %s, seed %llu, thread %u: word %u is 0x%llx, not 0x%llx", name, (unsigned long long)seed, k / GENERATED_OUT,
               k % GENERATED_OUT, (unsigned long long)out[k], (unsigned long long)expected[k]);
}

static void
compare_file(uint64_t seed, const char *folder)
{
  char path[128], command[2048];
  snprintf(path, sizeof path, "%s/k%llu.cu", folder, (unsigned long long)seed);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  ptx_generate(file, seed, KERNELS);
  fclose(file);
  /* Both at once.  The host's is not optimised: that takes longer than all else, and its results are to be those of the C. */
  snprintf(command, sizeof command,
           CLANG
           " -x cuda --cuda-device-only --cuda-gpu-arch=sm_75 -nocudainc -nocudalib -w -fwrapv -ffp-contract=off -O%llu -S %s "
           "-o %s.ptx & " CLANG " -x c++ -fPIC -shared -w -fwrapv -ffp-contract=off -O0 -fno-math-errno %s -o %s.so -lm && wait $!",
           (unsigned long long)(seed % 4), path, path, path, path);
  assert_int_equal(system(command), 0);
  snprintf(command, sizeof command, "%s.ptx", path);
  char *ptx = read_file(command), log[256];
  ptx_module *module = ptx_test_parse(ptx, 0, log, sizeof log);
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
  free(ptx);
}

TEST(random_kernels_compute_what_the_host_does)
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
