/* Compares kernels that nvcc compiles, on the simulated driver, to the same C on the host.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver_fixture.h"

#include <math.h>
#include <unistd.h>

enum { BLOCKS = 2, BLOCK = 64, THREADS = BLOCKS * BLOCK, SOURCES = 3 * THREADS };

static cuda_module module;
static cuda_address device_out, device_in;

/* ---- expressions --------------------------------------------------------------------------------------------------------- */

#define EACH(name, type, bound, expression)                                                                           \
  static void host_##name(void *out, const void *in)                                                                  \
  {                                                                                                                   \
    for (int i = 0; i < THREADS; i++) {                                                                               \
      const type x = ((const type *)in)[3 * i], y = ((const type *)in)[3 * i + 1], z = ((const type *)in)[3 * i + 2]; \
      (void)z, (void)y;                                                                                               \
      ((type *)out)[i] = expression;                                                                                  \
    }                                                                                                                 \
  }
#include "nvcc_kernels.def"

typedef struct expression {
  const char *name, *type;
  uint32_t size, bound;
  void (*host)(void *out, const void *in);
} expression;

static const expression expressions[] = {
#define EACH(name, type, bound, expression) {#name, #type, sizeof(type), bound, host_##name},
#include "nvcc_kernels.def"
};

/* Fills the sources with numbers of many sizes, without NaN and infinity, for which results may differ. */
static void
fill(const expression *e, void *in)
{
  uint64_t random = 11;
  for (uint32_t i = 0; i < SOURCES; i++) {
    const uint64_t bits = test_random_bits(&random) >> test_random_bits(&random) % 60;
    const double value = (double)(int32_t)test_random_bits(&random) / (double)(1u << test_random_bits(&random) % 31);
    const float single = (float)value;
    if (e->type[0] != 'd' && e->type[0] != 'f')
      memcpy((char *)in + i * e->size, &bits, e->size);
    else if (e->size == sizeof value)
      memcpy((char *)in + i * e->size, &value, e->size);
    else
      memcpy((char *)in + i * e->size, &single, e->size);
  }
}

static bool
is_near(const expression *e, const void *got, const void *wanted)
{
  int64_t a = 0, b = 0;
  int32_t a32, b32;
  if (e->size == sizeof a) {
    memcpy(&a, got, sizeof a);
    memcpy(&b, wanted, sizeof b);
  } else {
    memcpy(&a32, got, sizeof a32);
    memcpy(&b32, wanted, sizeof b32);
    a = a32;
    b = b32;
  }
  return a == b || (e->bound && (a < 0) == (b < 0) && a - b <= (int64_t)e->bound && b - a <= (int64_t)e->bound);
}

static cuda_function
kernel(const char *name)
{
  cuda_function found;
  OK(cu.cuModuleGetFunction(&found, module, name));
  return found;
}

static void
run(const char *name, uint32_t blocks, const void *in, size_t in_size, void *out, size_t out_size, bool is_cooperative)
{
  void *parameters[] = {&device_out, &device_in};
  OK(cu.cuMemcpyHtoD_v2(device_in, in, in_size));
  OK(cu.cuMemcpyHtoD_v2(device_out, out, out_size));
  if (is_cooperative)
    OK(cu.cuLaunchCooperativeKernel(kernel(name), blocks, 1, 1, BLOCK, 1, 1, 0, NULL, parameters));
  else
    OK(cu.cuLaunchKernel(kernel(name), blocks, 1, 1, BLOCK, 1, 1, 0, NULL, parameters, NULL));
  const cuda_result result = cu.cuMemcpyDtoH_v2(out, device_out, out_size);
  if (result != CUDA_OK)
    fail_msg("%s: %s", name, cu.messages());
}

TEST(expressions_compute_the_same_as_the_host)
{
  static _Alignas(8) unsigned char in[8 * SOURCES], out[8 * THREADS], wanted[8 * THREADS];
  for (size_t k = 0; k < sizeof expressions / sizeof *expressions; k++) {
    const expression *e = &expressions[k];
    fill(e, in);
    memset(out, 0, sizeof out);
    e->host(wanted, in);
    run(e->name, BLOCKS, in, sizeof in, out, sizeof out, false);
    for (uint32_t i = 0; i < THREADS; i++)
      if (!is_near(e, &out[i * e->size], &wanted[i * e->size])) {
        uint64_t a = 0, b = 0;
        memcpy(&a, &out[i * e->size], e->size);
        memcpy(&b, &wanted[i * e->size], e->size);
        fail_msg("%s, thread %u: 0x%llx, not 0x%llx", e->name, i, (unsigned long long)a, (unsigned long long)b);
      }
  }
}

/* ---- cooperation --------------------------------------------------------------------------------------------------------- */

TEST(cooperating_threads_compute_the_same_as_the_host)
{
  uint32_t in[THREADS], out[THREADS], sums[BLOCKS] = {0}, folded[4] = {0};
  uint64_t random = 3, wide[BLOCKS];
  for (uint32_t i = 0; i < THREADS; i++) {
    in[i] = (uint32_t)test_random_bits(&random) >> test_random_bits(&random) % 30;
    sums[i / BLOCK] += in[i];
    folded[0] += in[i];
    folded[1] = in[i] > folded[1] ? in[i] : folded[1];
    folded[2] ^= in[i];
    folded[3] += in[i] & 7;
  }
  memset(out, 0, sizeof out);
  run("sum_block", BLOCKS, in, sizeof in, out, sizeof out, false);
  assert_memory_equal(out, sums, sizeof sums);
  memset(wide, 0, sizeof wide);
  run("sum_block_wide", BLOCKS, in, sizeof in, wide, sizeof wide, false);
  for (uint32_t b = 0; b < BLOCKS; b++) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < BLOCK; i++)
      sum += in[b * BLOCK + i];
    assert_true(wide[b] == sum);
  }
  memset(out, 0, sizeof out);
  run("sum_atomic", BLOCKS, in, sizeof in, out, sizeof out, false);
  assert_memory_equal(out, folded, sizeof folded);
  run("turn_shared", BLOCKS, in, sizeof in, out, sizeof out, false);
  for (uint32_t i = 0; i < THREADS; i++)
    assert_int_equal(out[i], in[i / BLOCK * BLOCK + i % 8 * 8 + i % BLOCK / 8]);
  in[70] = 7;
  run("vote_warp", BLOCKS, in, sizeof in, out, sizeof out, false);
  for (uint32_t warp = 0; warp < THREADS; warp += 32) {
    uint32_t odd = 0, any = 0;
    for (uint32_t i = warp; i < warp + 32; i++)
      any = any || in[i] == 7;
    for (uint32_t i = warp; i < warp + 32; odd += in[i++] & 1)
      assert_int_equal(out[i], odd + (any ? 1000 : 0));
  }
}

TEST(a_grid_waits_at_its_barrier)
{
  enum { MANY = 7 };
  const uint32_t none = 0;
  uint32_t out[2 * MANY + 1] = {0};
  run("meet_grid", MANY, &none, sizeof none, out, sizeof out, true);
  for (uint32_t b = 0; b < MANY; b++)
    assert_int_equal(out[MANY + 1 + b], (b + 1) % MANY * ((b + 1) % MANY) + 1);
}

/* ---- the compiler -------------------------------------------------------------------------------------------------------- */

static int
setup(void **state)
{
  char text[64] = "/tmp/vyre-nvcc-XXXXXX", command[1024], log[512] = "";
  setenv("VYRE_CUDA_SIM_DRIVER", "13000", 1); /* nvcc writes the PTX version of its toolkit */
  driver_open(state);
  driver_setup(state);
  const int file = mkstemp(text);
  assert_true(file >= 0);
  snprintf(command, sizeof command, "'%s' -arch=sm_80 -fmad=false -ptx '%s' -o %s", NVCC, KERNELS, text);
  assert_int_equal(system(command), 0);
  const off_t size = lseek(file, 0, SEEK_END);
  char *ptx = calloc(1, (size_t)size + 1);
  assert_non_null(ptx);
  assert_int_equal(pread(file, ptx, (size_t)size, 0), size);
  close(file);
  unlink(text);
  cuda_jit_option options[] = {CUDA_JIT_ERROR_LOG, CUDA_JIT_ERROR_LOG_SIZE};
  void *values[] = {log, (void *)(uintptr_t)sizeof log};
  if (cu.cuModuleLoadDataEx(&module, ptx, 2, options, values) != CUDA_OK)
    fail_msg("%s", log);
  free(ptx);
  device_in = driver_memory(8 * SOURCES);
  device_out = driver_memory(8 * THREADS);
  return 0;
}

static int
teardown(void **state)
{
  OK(cu.cuMemFree_v2(device_in));
  OK(cu.cuMemFree_v2(device_out));
  OK(cu.cuModuleUnload(module));
  return driver_teardown(state);
}

int
main(void)
{
  if (!*NVCC) {
    puts("nvcc is missing: install NVIDIA's toolkit, or set CUDA_PATH to its folder");
    return 0;
  }
  return test_run(setup, teardown);
}
