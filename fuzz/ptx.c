/* Fuzz target: PTX, read by the simulator of an NVIDIA GPU.  A text is refused with a line and a reason, or each of its kernels
 * runs to its end.  A kernel accesses nothing outside the memory that it was given, and each fault has a text.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "ptx.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS = 1024, THREADS = 48, MOST_PARAMETERS = 4096, MOST_BYTES = 49152, MOST_TURNS = 1 };

#define START UINT64_C(0x7f0000000000)

static uint64_t memory[WORDS], globals[WORDS];
static uint32_t turns;

static void *
find(void *user, uint64_t address, uint64_t size, bool is_write)
{
  (void)user, (void)is_write;
  if (address < START || address - START > sizeof memory || size > sizeof memory - (address - START))
    return NULL;
  return (uint8_t *)memory + (address - START);
}

static bool
goes_on(void *user, bool spins)
{
  (void)user;
  return !spins && ++turns < MOST_TURNS;
}

/* Launches the kernel as a driver would.  Does nothing if the kernel exceeds the limits of a device. */
static void
launch(const ptx_kernel *kernel, uint64_t seed)
{
  static uint64_t parameters[MOST_PARAMETERS / 8];
  ptx_kernel_info info;
  ptx_counts counts;
  ptx_fault fault = {0};
  ptx_kernel_describe(kernel, &info);
  const uint32_t *block = info.required;
  if (info.parameter_bytes > MOST_PARAMETERS || info.shared_bytes > MOST_BYTES || info.local_bytes > MOST_BYTES ||
      (block[0] && (uint64_t)block[0] * block[1] * block[2] > THREADS))
    return;
  for (uint32_t i = 0; i < MOST_PARAMETERS / 8; i++)
    parameters[i] = START + i % 4 * 1024;
  const ptx_launch how = {.kernel = kernel,
                          .grid = {2, 1, 1},
                          .block = {block[0] ? block[0] : THREADS, block[0] ? block[1] : 1, block[0] ? block[2] : 1},
                          .dynamic_shared = info.uses_dynamic_shared ? 256 : 0,
                          .parameters = parameters,
                          .memory = {.find = find, .globals = globals},
                          .is_cooperative = (seed & 1) != 0,
                          .seed = seed,
                          .goes_on = goes_on};
  turns = 0;
  if (!ptx_run(&how, &counts, &fault) && (fault.kind == PTX_FAULT_NONE || fault.text[0] == 0))
    fuzz_fail("kernel '%s' failed without a reason", info.name);
}

static void
launch_all(const ptx_module *module, const char *text, uint64_t seed)
{
  const uint32_t count = ptx_global_count(module);
  char name[256];
  for (uint32_t i = 0; i < count && i < WORDS; i++)
    globals[i] = START + 512 * (i % 8);
  for (const char *at = strstr(text, ".entry"); at && count <= WORDS; at = strstr(at, ".entry")) {
    at += strlen(".entry");
    at += strspn(at, " \t\r\n");
    const size_t length = strcspn(at, " \t\r\n(");
    if (length >= sizeof name)
      continue;
    memcpy(name, at, length);
    name[length] = 0;
    const ptx_kernel *kernel = ptx_kernel_find(module, name);
    if (kernel)
      launch(kernel, seed);
  }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static const uint32_t architectures[] = {75, 80, 90, 100};
  char log[512] = "", *text = malloc(size + 1);
  if (!text)
    return 0;
  memcpy(text, data, size);
  text[size] = 0;
  const uint64_t seed = size * 2654435761u + (size ? data[size / 2] : 0);
  for (uint32_t i = 0; i < sizeof memory / sizeof *memory; i++)
    memory[i] = (i * 37u + seed) % 251;
  ptx_module *module = ptx_module_parse(text, size, architectures[size % 4], 90, log, sizeof log);
  if (module)
    launch_all(module, text, seed);
  else if (strncmp(log, "line ", 5) != 0 && strcmp(log, "out of memory") != 0)
    fuzz_fail("refused with '%s'", log);
  ptx_module_free(module);
  free(text);
  return 0;
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t capacity, unsigned seed)
{
  return fuzz_mutate_text(data, size, capacity, seed);
}
