/* The texts.  Each begins as vyre/ptx.h asks for: blocks find out which workgroup they are, and whether they are to do anything.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

#include <string.h>

#define HEAD ".version 7.8\n.target sm_75\n.address_size 64\n"

#define ENTRY(name, more, lanes)                                                        \
  ".visible .entry " name "(.param .u64 dispatch" more ")\n.reqntid " #lanes ", 1, 1\n" \
  "{\n"                                                                                 \
  "  .reg .pred %p<12>;\n"                                                              \
  "  .reg .b32 %r<40>;\n"                                                               \
  "  .reg .b64 %d<40>;\n"

#define BUFFERS(n) ", .param .align 8 .b8 buffers[" #n "]"
#define PUSH(n)    ", .param .align 16 .b8 push[" #n "]"

/* %d1: the dispatch, %d2: the workgroup's number, %d3: how many workgroups there are. */
#define BEGIN                          \
  "  ld.param.u64 %d1, [dispatch];\n"  \
  "  mov.u32 %r1, %ctaid.x;\n"         \
  "  mov.u32 %r2, %ctaid.y;\n"         \
  "  mov.u32 %r3, %ctaid.z;\n"         \
  "  mov.u32 %r4, %nctaid.x;\n"        \
  "  mov.u32 %r5, %nctaid.y;\n"        \
  "  mov.u32 %r6, %nctaid.z;\n"        \
  "  mad.lo.u32 %r7, %r3, %r5, %r2;\n" \
  "  mad.lo.u32 %r7, %r7, %r4, %r1;\n" \
  "  cvt.u64.u32 %d2, %r7;\n"          \
  "  mul.lo.u32 %r8, %r4, %r5;\n"      \
  "  mul.lo.u32 %r8, %r8, %r6;\n"      \
  "  cvt.u64.u32 %d3, %r8;\n"          \
  "  setp.eq.u64 %p1, %d1, 0;\n"       \
  "  @%p1 bra GO;\n"                   \
  "  ld.global.u32 %r9, [%d1+12];\n"   \
  "  setp.ne.u32 %p2, %r9, 0;\n"       \
  "  @%p2 bra DONE;\n"                 \
  "  ld.global.u64 %d4, [%d1+24];\n"   \
  "  setp.ge.u64 %p3, %d2, %d4;\n"     \
  "  @%p3 bra DONE;\n"                 \
  "  ld.global.u64 %d5, [%d1+16];\n"   \
  "  add.u64 %d2, %d2, %d5;\n"         \
  "  ld.global.u32 %r4, [%d1];\n"      \
  "  ld.global.u32 %r5, [%d1+4];\n"    \
  "  ld.global.u32 %r6, [%d1+8];\n"    \
  "  mul.lo.u32 %r8, %r4, %r5;\n"      \
  "  mul.lo.u32 %r8, %r8, %r6;\n"      \
  "  cvt.u64.u32 %d3, %r8;\n"          \
  "GO:\n"

#define END "DONE:\n  ret;\n}\n"

/* %d10: x's address, %d11: its bytes; of y %d12, %d13. */
#define X "  ld.param.u64 %d10, [buffers];\n  ld.param.u64 %d11, [buffers+8];\n"
#define Y "  ld.param.u64 %d12, [buffers+16];\n  ld.param.u64 %d13, [buffers+24];\n"

static const char digit[] = HEAD ENTRY("digit", BUFFERS(16) PUSH(4), 1) BEGIN X "  ld.param.u32 %r20, [push];\n"
                                                                                "  ld.global.u32 %r21, [%d10];\n"
                                                                                "  mad.lo.u32 %r21, %r21, 3, %r20;\n"
                                                                                "  st.global.u32 [%d10], %r21;\n" END;

static const char mark[] = HEAD ENTRY("mark", BUFFERS(16), 2) BEGIN X "  mov.u32 %r20, %tid.x;\n"
                                                                      "  setp.ne.u32 %p4, %r20, 0;\n"
                                                                      "  @%p4 bra DONE;\n"
                                                                      "  shl.b64 %d20, %d2, 2;\n"
                                                                      "  add.u64 %d21, %d20, 4;\n"
                                                                      "  setp.gt.u64 %p5, %d21, %d11;\n"
                                                                      "  @%p5 bra DONE;\n"
                                                                      "  add.u64 %d22, %d10, %d20;\n"
                                                                      "  cvt.u32.u64 %r21, %d2;\n"
                                                                      "  add.u32 %r21, %r21, 1;\n"
                                                                      "  st.global.u32 [%d22], %r21;\n" END;

static const char down[] = HEAD ENTRY("down", BUFFERS(16), 1) BEGIN X "  ld.global.u32 %r20, [%d10];\n"
                                                                      "  setp.eq.u32 %p4, %r20, 0;\n"
                                                                      "  @%p4 bra DONE;\n"
                                                                      "  sub.u32 %r20, %r20, 1;\n"
                                                                      "  st.global.u32 [%d10], %r20;\n" END;

static const char add[] = HEAD ENTRY("add", BUFFERS(32) PUSH(4), 64) BEGIN X Y "  mov.u32 %r20, %tid.x;\n"
                                                                               "  cvt.u64.u32 %d20, %r20;\n"
                                                                               "  mad.lo.u64 %d20, %d2, 64, %d20;\n"
                                                                               "  shl.b64 %d20, %d20, 2;\n"
                                                                               "  add.u64 %d21, %d20, 4;\n"
                                                                               "  setp.gt.u64 %p4, %d21, %d11;\n"
                                                                               "  @%p4 bra DONE;\n"
                                                                               "  setp.gt.u64 %p4, %d21, %d13;\n"
                                                                               "  @%p4 bra DONE;\n"
                                                                               "  ld.param.u32 %r21, [push];\n"
                                                                               "  add.u64 %d22, %d10, %d20;\n"
                                                                               "  ld.global.u32 %r22, [%d22];\n"
                                                                               "  add.u32 %r22, %r22, %r21;\n"
                                                                               "  add.u64 %d23, %d12, %d20;\n"
                                                                               "  st.global.u32 [%d23], %r22;\n" END;

/* The host's store is seen by an acquire of the whole system's scope, and it sees the kernel's release. */
static const char bell[] = HEAD ENTRY("bell", BUFFERS(16), 1) BEGIN X "AGAIN:\n"
                                                                      "  ld.acquire.sys.global.u32 %r20, [%d10];\n"
                                                                      "  setp.ne.u32 %p4, %r20, 0;\n"
                                                                      "  @%p4 bra RUNG;\n"
                                                                      "  nanosleep.u32 1000;\n"
                                                                      "  bra AGAIN;\n"
                                                                      "RUNG:\n"
                                                                      "  st.release.sys.global.u32 [%d10+4], %r20;\n" END;

/* A barrier of the grid by the words arrived (36) and generation (40). */
static const char meet[] =
    HEAD "// grid barrier\n" ENTRY("meet", BUFFERS(32), 1) BEGIN X Y "  shl.b64 %d20, %d2, 2;\n"
                                                                     "  add.u64 %d21, %d10, %d20;\n"
                                                                     "  cvt.u32.u64 %r20, %d2;\n"
                                                                     "  add.u32 %r20, %r20, 1;\n"
                                                                     "  st.global.u32 [%d21], %r20;\n"
                                                                     "  ld.acquire.gpu.global.u32 %r21, [%d1+40];\n"
                                                                     "  atom.acq_rel.gpu.global.add.u32 %r22, [%d1+36], 1;\n"
                                                                     "  add.u32 %r22, %r22, 1;\n"
                                                                     "  setp.ne.u32 %p4, %r22, %r8;\n"
                                                                     "  @%p4 bra WAIT;\n"
                                                                     "  mov.u32 %r23, 0;\n"
                                                                     "  st.relaxed.gpu.global.u32 [%d1+36], %r23;\n"
                                                                     "  add.u32 %r24, %r21, 1;\n"
                                                                     "  st.release.gpu.global.u32 [%d1+40], %r24;\n"
                                                                     "  bra OVER;\n"
                                                                     "WAIT:\n"
                                                                     "  ld.acquire.gpu.global.u32 %r25, [%d1+40];\n"
                                                                     "  setp.ne.u32 %p5, %r25, %r21;\n"
                                                                     "  @%p5 bra OVER;\n"
                                                                     "  nanosleep.u32 100;\n"
                                                                     "  bra WAIT;\n"
                                                                     "OVER:\n"
                                                                     "  add.u64 %d22, %d2, 1;\n"
                                                                     "  rem.u64 %d22, %d22, %d3;\n"
                                                                     "  shl.b64 %d22, %d22, 2;\n"
                                                                     "  add.u64 %d22, %d10, %d22;\n"
                                                                     "  ld.relaxed.gpu.global.u32 %r26, [%d22];\n"
                                                                     "  add.u64 %d23, %d12, %d20;\n"
                                                                     "  st.global.u32 [%d23], %r26;\n" END;

static const char trap[] =
    HEAD "// fault 3: workgroup 1\n" ENTRY("trap_at", BUFFERS(16), 1) BEGIN X "  setp.ne.u64 %p4, %d2, 1;\n"
                                                                              "  @%p4 bra DONE;\n"
                                                                              "  mov.u32 %r20, 3;\n"
                                                                              "  red.relaxed.gpu.global.max.u32 "
                                                                              "[%d1+32], %r20;\n" END;

static const char wild[] = HEAD ENTRY("wild", BUFFERS(16) PUSH(8), 1) BEGIN X "  ld.param.u64 %d20, [push];\n"
                                                                              "  mov.u32 %r20, 1;\n"
                                                                              "  st.global.u32 [%d20], %r20;\n" END;

static const vyre_kernel_slot slots[] = {{.kind = VYRE_SLOT_STORAGE}, {.binding = 1, .kind = VYRE_SLOT_STORAGE}};

#define KERNEL(name, text, lanes, buffers, push)                                                                              \
  {                                                                                                                           \
    .label = name, .form = VYRE_KERNEL_PTX, .code = text, .size = sizeof text - 1, .entry = name, .workgroup = {lanes, 1, 1}, \
    .slots = slots, .slot_count = buffers, .push_size = push                                                                  \
  }

const vyre_kernel_desc *
test_kernel_desc(test_kernel kernel)
{
  static const vyre_kernel_desc all[TEST_KERNELS] = {
      [TEST_DIGIT] = KERNEL("digit", digit, 1, 1, 4), [TEST_MARK] = KERNEL("mark", mark, 2, 1, 0),
      [TEST_DOWN] = KERNEL("down", down, 1, 1, 0),    [TEST_ADD] = KERNEL("add", add, 64, 2, 4),
      [TEST_BELL] = KERNEL("bell", bell, 1, 1, 0),    [TEST_MEET] = KERNEL("meet", meet, 1, 2, 0),
      [TEST_TRAP] = KERNEL("trap_at", trap, 1, 1, 0), [TEST_WILD] = KERNEL("wild", wild, 1, 1, 8),
  };
  return &all[kernel];
}
