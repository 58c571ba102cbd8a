/* Implements target.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test_allocator.h"
#include "target.h"

#include "bundle.h"
#include "../messages.h"

#include <dlfcn.h>

test_simulator sim;

static const vyre_target_ops *const ops = &vyre_target_cuda;
static test_memory memory; /* of the target */

/* ---- kernels ------------------------------------------------------------------------------------------------------------- */

#define HEAD ".version 7.8\n.target sm_75\n.address_size 64\n"

/* Each kernel begins as vyre/ptx.h requires: a block computes its workgroup, and ends if it has none.
 *
 * %d1 is the dispatch, %d2 the workgroup's number, %d3 the number of workgroups, %d10 the address of x and %d11 its bytes. */
#define KERNEL_TEXT(name, before, parameters, lanes, text)                                                           \
  HEAD before ".visible .entry " name "(.param .u64 dispatch" parameters ")\n.reqntid " #lanes ", 1, 1\n{\n"         \
              ".reg .pred %p<12>; .reg .b32 %r<40>; .reg .b64 %d<40>;\n"                                             \
              "ld.param.u64 %d1, [dispatch]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %ctaid.z;\n" \
              "mov.u32 %r4, %nctaid.x; mov.u32 %r5, %nctaid.y; mov.u32 %r6, %nctaid.z;\n"                            \
              "mad.lo.u32 %r7, %r3, %r5, %r2; mad.lo.u32 %r7, %r7, %r4, %r1; cvt.u64.u32 %d2, %r7;\n"                \
              "mul.lo.u32 %r8, %r4, %r5; mul.lo.u32 %r8, %r8, %r6; cvt.u64.u32 %d3, %r8;\n"                          \
              "setp.eq.u64 %p1, %d1, 0; @%p1 bra GO;\n"                                                              \
              "ld.global.u32 %r9, [%d1+12]; setp.ne.u32 %p2, %r9, 0; @%p2 bra DONE;\n"                               \
              "ld.global.u64 %d4, [%d1+24]; setp.ge.u64 %p3, %d2, %d4; @%p3 bra DONE;\n"                             \
              "ld.global.u64 %d5, [%d1+16]; add.u64 %d2, %d2, %d5;\n"                                                \
              "ld.global.u32 %r4, [%d1]; ld.global.u32 %r5, [%d1+4]; ld.global.u32 %r6, [%d1+8];\n"                  \
              "mul.lo.u32 %r8, %r4, %r5; mul.lo.u32 %r8, %r8, %r6; cvt.u64.u32 %d3, %r8;\n"                          \
              "GO: ld.param.u64 %d10, [buffers]; ld.param.u64 %d11, [buffers+8];\n" text "DONE: ret;\n}\n"

#define BUFFERS(bytes) ", .param .align 8 .b8 buffers[" #bytes "]"
#define PUSH(bytes)    ", .param .align 16 .b8 push[" #bytes "]"

static const vyre_kernel_slot slots[] = {{.kind = VYRE_SLOT_STORAGE}, {.binding = 1, .kind = VYRE_SLOT_STORAGE}};

#define KERNEL(name, lanes, buffer_count, push_bytes, before, parameters, text)                                        \
  {                                                                                                                    \
    .label = name, .form = VYRE_KERNEL_PTX, .code = KERNEL_TEXT(name, before, parameters, lanes, text),                \
    .size = sizeof(KERNEL_TEXT(name, before, parameters, lanes, text)) - 1, .entry = name, .workgroup = {lanes, 1, 1}, \
    .slots = slots, .slot_count = buffer_count, .push_size = push_bytes                                                \
  }

static const vyre_kernel_desc kernels[TEST_KERNELS] = {
    [TEST_DIGIT] = KERNEL("digit", 1, 1, 4, "", BUFFERS(16) PUSH(4),
                          "ld.param.u32 %r20, [push]; ld.global.u32 %r21, [%d10]; mad.lo.u32 %r21, %r21, 3, %r20;\n"
                          "st.global.u32 [%d10], %r21;\n"),
    [TEST_MARK] = KERNEL("mark", 2, 1, 0, "", BUFFERS(16),
                         "mov.u32 %r20, %tid.x; setp.ne.u32 %p4, %r20, 0; @%p4 bra DONE;\n"
                         "shl.b64 %d20, %d2, 2; add.u64 %d21, %d20, 4; setp.gt.u64 %p5, %d21, %d11; @%p5 bra DONE;\n"
                         "add.u64 %d22, %d10, %d20; cvt.u32.u64 %r21, %d2; add.u32 %r21, %r21, 1; st.global.u32 [%d22], %r21;\n"),
    [TEST_DOWN] = KERNEL("down", 1, 1, 0, "", BUFFERS(16),
                         "ld.global.u32 %r20, [%d10]; setp.eq.u32 %p4, %r20, 0; @%p4 bra DONE;\n"
                         "sub.u32 %r20, %r20, 1; st.global.u32 [%d10], %r20;\n"),
    [TEST_ADD] =
        KERNEL("add", 64, 2, 4, "", BUFFERS(32) PUSH(4),
               "ld.param.u64 %d12, [buffers+16]; ld.param.u64 %d13, [buffers+24];\n"
               "mov.u32 %r20, %tid.x; cvt.u64.u32 %d20, %r20; mad.lo.u64 %d20, %d2, 64, %d20; shl.b64 %d20, %d20, 2;\n"
               "add.u64 %d21, %d20, 4; setp.gt.u64 %p4, %d21, %d11; @%p4 bra DONE; setp.gt.u64 %p4, %d21, %d13; @%p4 bra DONE;\n"
               "ld.param.u32 %r21, [push]; add.u64 %d22, %d10, %d20; ld.global.u32 %r22, [%d22];\n"
               "add.u32 %r22, %r22, %r21; add.u64 %d23, %d12, %d20; st.global.u32 [%d23], %r22;\n"),
    /* An acquire of system scope sees the host's store, and the host sees the kernel's release. */
    [TEST_BELL] = KERNEL("bell", 1, 1, 0, "", BUFFERS(16),
                         "AGAIN: ld.acquire.sys.global.u32 %r20, [%d10]; setp.ne.u32 %p4, %r20, 0; @%p4 bra RUNG;\n"
                         "nanosleep.u32 1000; bra AGAIN;\n"
                         "RUNG: st.release.sys.global.u32 [%d10+4], %r20;\n"),
    /* A grid barrier by the words `arrived` (36) and `generation` (40) of the dispatch. */
    [TEST_MEET] = KERNEL("meet", 1, 2, 0, "// grid barrier\n", BUFFERS(32),
                         "ld.param.u64 %d12, [buffers+16]; shl.b64 %d20, %d2, 2; add.u64 %d21, %d10, %d20;\n"
                         "cvt.u32.u64 %r20, %d2; add.u32 %r20, %r20, 1; st.global.u32 [%d21], %r20;\n"
                         "ld.acquire.gpu.global.u32 %r21, [%d1+40]; atom.acq_rel.gpu.global.add.u32 %r22, [%d1+36], 1;\n"
                         "add.u32 %r22, %r22, 1; setp.ne.u32 %p4, %r22, %r8; @%p4 bra WAIT;\n"
                         "mov.u32 %r23, 0; st.relaxed.gpu.global.u32 [%d1+36], %r23;\n"
                         "add.u32 %r24, %r21, 1; st.release.gpu.global.u32 [%d1+40], %r24; bra OVER;\n"
                         "WAIT: ld.acquire.gpu.global.u32 %r25, [%d1+40]; setp.ne.u32 %p5, %r25, %r21; @%p5 bra OVER;\n"
                         "nanosleep.u32 100; bra WAIT;\n"
                         "OVER: add.u64 %d22, %d2, 1; rem.u64 %d22, %d22, %d3; shl.b64 %d22, %d22, 2; add.u64 %d22, %d10, %d22;\n"
                         "ld.relaxed.gpu.global.u32 %r26, [%d22]; add.u64 %d23, %d12, %d20; st.global.u32 [%d23], %r26;\n"),
    [TEST_TRAP] =
        KERNEL("trap_at", 1, 1, 0, "// fault 3: workgroup 1\n", BUFFERS(16),
               "setp.ne.u64 %p4, %d2, 1; @%p4 bra DONE; mov.u32 %r20, 3; red.relaxed.gpu.global.max.u32 [%d1+32], %r20;\n"),
    [TEST_WILD] = KERNEL("wild", 1, 1, 8, "", BUFFERS(16) PUSH(8),
                         "ld.param.u64 %d20, [push]; mov.u32 %r20, 1; st.global.u32 [%d20], %r20;\n"),
};

const vyre_kernel_desc *
test_kernel_desc(test_kernel kernel)
{
  return &kernels[kernel];
}

/* ---- the simulator and its targets ---------------------------------------------------------------------------------------- */

static bool
find(void *library, const char *name, void *out)
{
  void *symbol = dlsym(library, name);
  memcpy(out, &symbol, sizeof symbol);
  return symbol != NULL;
}

int
test_find_simulator(void **state)
{
  (void)state;
  void *library = dlopen(test_file(SIMULATOR), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    print_error("%s\n", dlerror());
  return library && find(library, "vyre_cuda_sim_fail", &sim.make_fail) &&
                 find(library, "vyre_cuda_sim_has_failed", &sim.has_failed) && find(library, "vyre_cuda_sim_count", &sim.count) &&
                 find(library, "vyre_cuda_sim_messages", &sim.messages) && find(library, "vyre_cuda_sim_clear", &sim.clear)
             ? 0
             : -1;
}

void
test_ok(vyre_status status)
{
  if (status)
    print_error("%s\n", vyre_status_text(status));
  assert_null(status);
}

void
test_refused(vyre_status status, const char *word)
{
  const char *text = vyre_status_text(status);
  if (!status || strncmp(text, "cuda: ", 6) != 0 || !strstr(text, word) || !has_fix(text))
    fail_msg("expected '%s', but the message is: %s", word, text);
  vyre_status_free(status);
}

vyre_target *
test_open(const vyre_target_options *options)
{
  vyre_target_options own = options ? *options : (vyre_target_options){.struct_size = sizeof(vyre_target_options)};
  const vyre_allocator allocator = test_allocator(&memory, 0);
  vyre_target *target;
  own.library = test_file(SIMULATOR);
  sim.clear();
  test_ok(ops->open(&own, &allocator, &target));
  return target;
}

void
test_close(vyre_target *target)
{
  test_ok(ops->close(target));
  assert_int_equal(memory.out, 0);
  assert_string_equal(sim.messages(), "");
}

vyre_kernel
test_compile(vyre_target *target, test_kernel kernel)
{
  vyre_kernel made;
  test_ok(ops->supports(target, test_kernel_desc(kernel)));
  test_ok(ops->compile(target, test_kernel_desc(kernel), &made));
  return made;
}

vyre_device_buffer
test_buffer(vyre_target *target, uint32_t words, uint32_t value)
{
  vyre_device_buffer buffer;
  test_ok(ops->allocate(target, words * sizeof value, &buffer));
  const vyre_fill fill = {{buffer, 0, 0}, value};
  test_ok(ops->submit(target, &(vyre_sequence){.fills = &fill, .fill_count = 1}, NULL));
  return buffer;
}

vyre_range
test_range(vyre_device_buffer buffer)
{
  return (vyre_range){buffer, 0, 0};
}

vyre_range
test_words(vyre_device_buffer buffer, uint32_t first, uint32_t count)
{
  return (vyre_range){buffer, first * sizeof(uint32_t), count * sizeof(uint32_t)};
}

typedef struct asked {
  const char *name;
  uint64_t value;
  bool is_found;
} asked;

static void
take_metric(void *user, const char *name, uint64_t value)
{
  asked *a = user;
  if (strcmp(name, a->name) == 0)
    *a = (asked){name, value, true};
}

uint64_t
test_metric(const vyre_target *target, const char *name)
{
  asked a = {.name = name};
  ops->metrics(target, take_metric, &a);
  if (!a.is_found)
    fail_msg("there is no counter '%s'", name);
  return a.value;
}

vyre_step
test_step(vyre_kernel kernel, const vyre_range *range, uint32_t groups, const uint32_t *push)
{
  return (vyre_step){
      .kernel = kernel, .buffers = range, .buffer_count = 1, .push = push, .push_size = push ? 4 : 0, .groups = {groups, 1, 1}};
}

vyre_status
test_submit(vyre_target *target, const vyre_step *step, vyre_range range, uint32_t *words)
{
  const vyre_read read = {range, words};
  return ops->submit(target, &(vyre_sequence){.steps = step, .step_count = 1, .reads = &read, .read_count = 1}, NULL);
}

void
test_works(vyre_target *target)
{
  const uint32_t push = 2;
  uint32_t out = 0;
  const vyre_range range = test_range(test_buffer(target, 1, 5));
  const vyre_step step = test_step(test_compile(target, TEST_DIGIT), &range, 1, &push);
  test_ok(test_submit(target, &step, range, &out));
  assert_int_equal(out, 17);
}

vyre_step
test_wild_step(vyre_target *target, const vyre_range *range)
{
  static const uint64_t nowhere = 0x1000;
  vyre_step step = test_step(test_compile(target, TEST_WILD), range, 1, NULL);
  step.push = &nowhere;
  step.push_size = sizeof nowhere;
  return step;
}

vyre_status
test_run_wild(vyre_target *target)
{
  uint32_t words[16];
  const vyre_range range = test_range(test_buffer(target, 16, 0));
  const vyre_step step = test_wild_step(target, &range);
  return test_submit(target, &step, range, words);
}
