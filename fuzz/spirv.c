/* Fuzz target: SPIR-V.  A module that is read and verifies is passed to every function that takes a module.  If spirv-val accepts
 * the input, the import must succeed, the module must verify, and spirv-val must accept the exported module.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <spirv-tools/libspirv.h>
#include <stdio.h>
#include <string.h>

#include "vyre/spirv.h"
#include "vyre/verify.h"

#define MOST_IDS 4096u

/* Returns whether spirv-val accepts the words by `rules`, those of Vulkan or those of SPIR-V alone.  Stores the message, which may
 * be a warning, in *out.  The caller frees the message. */
static bool
is_valid(spv_target_env rules, const void *words, size_t size, spv_diagnostic *out)
{
  static spv_context contexts[2];
  spv_context *context = &contexts[rules == SPV_ENV_VULKAN_1_2];
  spv_const_binary_t binary = {words, size / 4};
  if (!*context)
    *context = spvContextCreate(rules);
  *out = NULL;
  return spvValidate(*context, &binary, out) == SPV_SUCCESS;
}

/* Returns whether the import succeeds.  Aborts if the import refuses a module that spirv-val accepts, unless memory ran out. */
static bool
is_read(vyre_module *module, const uint8_t *data, size_t size)
{
  vyre_status status = vyre_spirv_read(module, data, size, "input");
  if (status && !vyre_status_is_out_of_memory(status)) {
    spv_diagnostic message;
    const bool valid = is_valid(SPV_ENV_UNIVERSAL_1_6, data, size, &message);
    spvDiagnosticDestroy(message);
    if (valid)
      fuzz_require(status, "a valid module is not read");
  }
  return fuzz_allow(status, "reading");
}

static void
check_written(const vyre_module *module)
{
  vyre_bytes words = {0};
  spv_diagnostic message = NULL;
  if (fuzz_allow(vyre_spirv_write(module, 0, NULL, &words), "writing") &&
      !is_valid(SPV_ENV_VULKAN_1_2, words.data, words.size, &message)) {
    FILE *file = fopen("fuzz-spirv-written.spv", "wb");
    if (file) {
      fwrite(words.data, 1, words.size, file);
      fclose(file);
    }
    fuzz_fail("what was written from a valid module is not: %s (fuzz-spirv-written.spv)", message ? message->error : "?");
  }
  spvDiagnosticDestroy(message);
  vyre_bytes_free(&words);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  vyre_module *module = fuzz_module(0);
  vyre_verify_errors errors = {0};
  if (!is_read(module, data, size) || !fuzz_allow(vyre_module_seal(module, NULL), "sealing"))
    return 0;
  spv_diagnostic message;
  bool valid = is_valid(SPV_ENV_VULKAN_1_2, data, size, &message);
  spvDiagnosticDestroy(message);
  vyre_status status = vyre_verify(module, &errors);
  if (status && valid)
    fuzz_require(status, "a valid module does not verify");
  if (fuzz_allow(status, "verifying")) {
    if (valid)
      check_written(module);
    fuzz_exercise(module, false);
  }
  vyre_verify_errors_free(&errors);
  return 0;
}

/* Stores the word offsets of up to MOST_IDS instructions in `starts`.  Returns their number. */
static size_t
scan(const uint32_t *words, size_t count, uint32_t starts[MOST_IDS])
{
  size_t found = 0;
  for (size_t at = 5; at < count && found < MOST_IDS && words[at] >> 16; at += words[at] >> 16)
    starts[found++] = (uint32_t)at;
  return found;
}

/* Changes operands or opcodes, and removes or copies instructions. */
size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t capacity, unsigned seed)
{
  static uint32_t words[1 << 16], starts[MOST_IDS];
  uint64_t random = seed;
  size_t count = size / 4, found;
  if (count < 8 || count >= sizeof words / 8 || fuzz_random(&random, 8) == 0)
    return LLVMFuzzerMutate(data, size, capacity);
  memcpy(words, data, count * 4);
  for (uint32_t times = 1 + fuzz_random(&random, 3); times--;) {
    found = scan(words, count, starts);
    if (found < 2)
      break;
    size_t at = starts[fuzz_random(&random, (uint32_t)found)], length = words[at] >> 16;
    size_t to = starts[fuzz_random(&random, (uint32_t)found)];
    if (at + length > count)
      break;
    switch (fuzz_random(&random, 8)) {
    case 0: /* removes the instruction */
      memmove(words + at, words + at + length, (count - at - length) * 4);
      count -= length;
      break;
    case 1: { /* copies the instruction before another instruction */
      uint32_t copy[64];
      if (length > 64 || (count + length) * 4 > capacity || count + length > sizeof words / 4)
        break;
      memcpy(copy, words + at, length * 4);
      memmove(words + to + length, words + to, (count - to) * 4);
      memcpy(words + to, copy, length * 4);
      count += length;
      break;
    }
    case 2: /* uses the opcode of another instruction */
      words[at] = (words[at] & 0xffff0000u) | (words[to] & 0xffffu);
      break;
    case 3: /* stores a small number in an operand */
      if (length > 1)
        words[at + 1 + fuzz_random(&random, (uint32_t)length - 1)] = fuzz_random(&random, 40);
      break;
    case 4:
      if (length > 1)
        words[at + 1 + fuzz_random(&random, (uint32_t)length - 1)] ^= 1u << fuzz_random(&random, 32);
      break;
    default: /* stores an id, or the first operand of another instruction, in an operand */
      if (length > 1)
        words[at + 1 + fuzz_random(&random, (uint32_t)length - 1)] =
            fuzz_random(&random, 2) && to + 1 < count ? words[to + 1] : fuzz_random(&random, words[3] ? words[3] : 1);
      break;
    }
  }
  if (count * 4 > capacity)
    return LLVMFuzzerMutate(data, size, capacity);
  memcpy(data, words, count * 4);
  return count * 4;
}
