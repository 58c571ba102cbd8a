/* Implements driver_fixture.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver_fixture.h"

#include "../vulkan/bundle.h"

#include <dlfcn.h>

driver_api cu;
void *driver_library;
cuda_context driver_context;
cuda_module driver_module;

const char driver_text[] = //
    ".version 7.8\n.target sm_75\n.address_size 64\n"
    ".visible .global .align 4 .u32 counter = 7;\n"
    ".visible .entry add(.param .u64 data, .param .u32 count, .param .u32 addend)\n{\n"
    "  .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .pred %p<2>;\n"
    "  ld.param.u64 %rd1, [data]; ld.param.u32 %r1, [count]; ld.param.u32 %r2, [addend];\n"
    "  mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x; mad.lo.u32 %r3, %r3, %r4, %r5;\n"
    "  setp.ge.u32 %p1, %r3, %r1; @%p1 ret;\n"
    "  mul.wide.u32 %rd2, %r3, 4; add.s64 %rd1, %rd1, %rd2;\n"
    "  ld.global.u32 %r4, [%rd1]; add.u32 %r4, %r4, %r2; st.global.u32 [%rd1], %r4;\n"
    "  ret;\n}\n"
    /* Tries compare-and-swap of word 0 with a value that it never has, until word 1 is not 0. */
    ".visible .entry clash(.param .u64 words)\n{\n"
    "  .reg .pred %p<2>;\n  .reg .b32 %r<5>;\n  .reg .b64 %d<2>;\n"
    "  ld.param.u64 %d1, [words];\n"
    "  mov.u32 %r1, 0xffffffff;\n"
    "AGAIN:\n"
    "  atom.relaxed.sys.global.cas.b32 %r2, [%d1], %r1, %r1;\n"
    "  ld.relaxed.sys.global.u32 %r3, [%d1+4];\n"
    "  setp.eq.u32 %p1, %r3, 0;\n"
    "  @%p1 bra AGAIN;\n"
    "  ret;\n}\n"
    /* Sets word 1 to 1, waits until word 0 is not 0, and stores word 0 plus 1 to word 2. */
    ".visible .entry bell(.param .u64 words)\n{\n"
    "  .reg .b32 %r<4>; .reg .b64 %rd<2>; .reg .pred %p<2>;\n"
    "  ld.param.u64 %rd1, [words]; mov.u32 %r1, 1; st.release.sys.global.u32 [%rd1+4], %r1;\n"
    "$ring: ld.acquire.sys.global.u32 %r2, [%rd1]; setp.eq.u32 %p1, %r2, 0; @!%p1 bra $rung; nanosleep.u32 100; bra $ring;\n"
    "$rung: add.u32 %r2, %r2, 1; st.release.sys.global.u32 [%rd1+8], %r2; ret;\n}\n"
    /* Each block adds 1 to word 0, and waits until all blocks did. */
    ".visible .entry meet(.param .u64 words)\n{\n"
    "  .reg .b32 %r<4>; .reg .b64 %rd<2>; .reg .pred %p<2>;\n"
    "  ld.param.u64 %rd1, [words]; mov.u32 %r3, %nctaid.x; atom.acq_rel.gpu.global.add.u32 %r1, [%rd1], 1;\n"
    "$wait: ld.acquire.gpu.global.u32 %r2, [%rd1]; setp.lt.u32 %p1, %r2, %r3; @%p1 bra $wait;\n"
    "  ret;\n}\n"
    ".visible .entry stops()\n{\n  trap;\n}\n"
    ".visible .entry wide() .reqntid 64\n{\n  ret;\n}\n"
    ".visible .entry load(.param .u64 at)\n{\n"
    "  .reg .b32 %r<2>; .reg .b64 %rd<2>;\n"
    "  ld.param.u64 %rd1, [at]; ld.global.u32 %r1, [%rd1]; ret;\n}\n"
    ".visible .entry count()\n{\n"
    "  .reg .b32 %r<2>; .reg .b64 %rd<2>;\n"
    "  mov.u64 %rd1, counter; ld.global.u32 %r1, [%rd1]; add.u32 %r1, %r1, 1; st.global.u32 [%rd1], %r1; ret;\n}\n"
    ".visible .entry shares()\n{\n"
    "  .shared .align 4 .b8 room[49152]; .reg .b32 %r<4>;\n"
    "  mov.u32 %r1, %tid.x; mov.u32 %r2, room; mad.lo.u32 %r3, %r1, 4, %r2; st.shared.u32 [%r3], %r1; ret;\n}\n";

static void *
find(const char *name)
{
  void *symbol = dlsym(driver_library, name);
  if (!symbol)
    fail_msg("the library lacks %s", name);
  return symbol;
}

int
driver_open(void **state)
{
  (void)state;
  driver_library = dlopen(test_file("lib/" CUDA_SIM_LIBRARY), RTLD_NOW | RTLD_LOCAL);
  if (!driver_library)
    fail_msg("%s", dlerror());
#define CUDA_SYM(name, parameters) *(void **)(void *)&cu.name = find(#name);
#include "targets/cuda/api/symbols.def"
#define CUDA_SYM(name, parameters) *(void **)(void *)&cu.name = find(#name);
#include "targets/cuda/sim/driver/more_symbols.def"
  *(void **)(void *)&cu.set_failure = find("vyre_cuda_sim_fail");
  *(void **)(void *)&cu.has_failed = find("vyre_cuda_sim_has_failed");
  *(void **)(void *)&cu.count = find("vyre_cuda_sim_count");
  *(void **)(void *)&cu.messages = find("vyre_cuda_sim_messages");
  *(void **)(void *)&cu.clear = find("vyre_cuda_sim_clear");
  return 0;
}

int
driver_setup(void **state)
{
  (void)state;
  cu.set_failure(NULL, 0, CUDA_OK);
  cu.clear();
  OK(cu.cuInit(0));
  OK(cu.cuCtxCreate_v2(&driver_context, 0, 0));
  char log[256] = "";
  cuda_jit_option options[] = {CUDA_JIT_ERROR_LOG, CUDA_JIT_ERROR_LOG_SIZE};
  void *values[] = {log, (void *)(uintptr_t)sizeof log};
  if (cu.cuModuleLoadDataEx(&driver_module, driver_text, 2, options, values) != CUDA_OK)
    fail_msg("%s", log);
  return 0;
}

void
driver_end(cuda_result result)
{
  if (result == CUDA_OK)
    OK(cu.cuModuleUnload(driver_module));
  assert_int_equal(cu.cuCtxDestroy_v2(driver_context), result);
  driver_context = NULL;
}

int
driver_teardown(void **state)
{
  (void)state;
  if (driver_context)
    driver_end(CUDA_OK);
  assert_string_equal(cu.messages(), "");
  return 0;
}

void
driver_restart(void **state, const char *variable, const char *value)
{
  driver_end(CUDA_OK);
  setenv(variable, value, 1);
  driver_setup(state);
  unsetenv(variable);
}

void
driver_reported(const char *words)
{
  const char *text = cu.messages(), *end = strchr(text, '\n');
  if (!strstr(text, words) || !end || end[1])
    fail_msg("expected one line with \"%s\", but the messages are: \"%s\"", words, text);
  cu.clear();
}

cuda_function
driver_kernel(const char *name)
{
  cuda_function function;
  OK(cu.cuModuleGetFunction(&function, driver_module, name));
  return function;
}

cuda_result
driver_launch(const char *name, unsigned threads, cuda_stream stream, void **parameters)
{
  return cu.cuLaunchKernel(driver_kernel(name), 1, 1, 1, threads, 1, 1, 0, stream, parameters, NULL);
}

void
driver_add(cuda_address data, uint32_t count, uint32_t addend, cuda_stream stream)
{
  void *parameters[] = {&data, &count, &addend};
  OK(cu.cuLaunchKernel(driver_kernel("add"), (count + 63) / 64, 1, 1, 64, 1, 1, 0, stream, parameters, NULL));
  data = count = addend = 0; /* the launch copies its parameters */
}

cuda_stream
driver_stream(void)
{
  cuda_stream stream;
  OK(cu.cuStreamCreate(&stream, CUDA_STREAM_NON_BLOCKING));
  return stream;
}

cuda_event
driver_event(void)
{
  cuda_event event;
  OK(cu.cuEventCreate(&event, CUDA_EVENT_DEFAULT));
  return event;
}

cuda_address
driver_memory(size_t size)
{
  cuda_address address;
  OK(cu.cuMemAlloc_v2(&address, size));
  return address;
}

uint32_t *
driver_pinned(size_t size)
{
  void *memory;
  OK(cu.cuMemHostAlloc(&memory, size, 0));
  return memory;
}

void *
driver_mapped(cuda_address *address)
{
  void *memory;
  OK(cu.cuMemHostAlloc(&memory, 64, CUDA_HOST_ALLOC_MAPPED));
  OK(cu.cuMemHostGetDevicePointer_v2(address, memory, 0));
  memset(memory, 0, 64);
  return memory;
}

driver_streams s;

int
streams_setup(void **state)
{
  enum { BYTES = STREAM_WORDS * 4 };
  driver_setup(state);
  s = (driver_streams){driver_stream(),      driver_stream(),      driver_event(),       driver_event(),
                       driver_memory(BYTES), driver_memory(BYTES), driver_pinned(BYTES), driver_pinned(BYTES)};
  OK(cu.cuMemsetD32Async(s.memory, 0, STREAM_WORDS, s.one));
  OK(cu.cuMemsetD32Async(s.other, 0, STREAM_WORDS, s.one));
  OK(cu.cuStreamSynchronize(s.one));
  cu.clear();
  return 0;
}

int
streams_teardown(void **state)
{
  OK(cu.cuStreamSynchronize(s.one));
  OK(cu.cuStreamSynchronize(s.two));
  OK(cu.cuStreamDestroy_v2(s.one));
  OK(cu.cuStreamDestroy_v2(s.two));
  OK(cu.cuEventDestroy_v2(s.event));
  OK(cu.cuEventDestroy_v2(s.back));
  OK(cu.cuMemFree_v2(s.memory));
  OK(cu.cuMemFree_v2(s.other));
  OK(cu.cuMemFreeHost(s.pinned));
  OK(cu.cuMemFreeHost(s.result));
  return driver_teardown(state);
}
