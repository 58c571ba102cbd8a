/* The kernels of control.c.
 *
 * The kernels are written in PTX, because they have two dozen instructions each and none depends on an architecture.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cuda.h"

/* Copies the groups of an indirect step from its buffer, unless the steps are stopped. Runs as one thread.
 *
 *     task: control memory, the step's dispatch, the three words, then the step's number + 1 and the most groups on each axis */
#define PREPARE                                                          \
  ".visible .entry vyre_control_prepare(.param .align 8 .b8 task[40])\n" \
  "{\n"                                                                  \
  "  .reg .pred %p<5>;\n"                                                \
  "  .reg .b32 %r<10>;\n"                                                \
  "  .reg .b64 %d<7>;\n"                                                 \
  "  ld.param.u64 %d1, [task];\n"                                        \
  "  ld.param.u64 %d2, [task+8];\n"                                      \
  "  ld.param.u64 %d3, [task+16];\n"                                     \
  "  ld.param.u32 %r1, [task+24];\n"                                     \
  "  ld.param.u32 %r2, [task+28];\n"                                     \
  "  ld.param.u32 %r3, [task+32];\n"                                     \
  "  ld.param.u32 %r4, [task+36];\n"                                     \
  "  cvta.to.global.u64 %d1, %d1;\n"                                     \
  "  cvta.to.global.u64 %d2, %d2;\n"                                     \
  "  cvta.to.global.u64 %d3, %d3;\n"                                     \
  "  ld.global.u32 %r5, [%d1];      // stopped\n"                        \
  "  setp.ne.u32 %p1, %r5, 0;\n"                                         \
  "  @%p1 bra NOTHING;\n"                                                \
  "  ld.global.u32 %r5, [%d3];\n"                                        \
  "  ld.global.u32 %r6, [%d3+4];\n"                                      \
  "  ld.global.u32 %r7, [%d3+8];\n"                                      \
  "  setp.gt.u32 %p1, %r5, %r2;\n"                                       \
  "  setp.gt.u32 %p2, %r6, %r3;\n"                                       \
  "  setp.gt.u32 %p3, %r7, %r4;\n"                                       \
  "  or.pred %p1, %p1, %p2;\n"                                           \
  "  or.pred %p1, %p1, %p3;\n"                                           \
  "  @%p1 bra TOO_MANY;\n"                                               \
  "  st.global.u32 [%d2], %r5;\n"                                        \
  "  st.global.u32 [%d2+4], %r6;\n"                                      \
  "  st.global.u32 [%d2+8], %r7;\n"                                      \
  "  mul.wide.u32 %d4, %r5, %r6;\n"                                      \
  "  cvt.u64.u32 %d5, %r7;\n"                                            \
  "  mul.lo.u64 %d4, %d4, %d5;\n"                                        \
  "  st.global.u64 [%d2+24], %d4;   // count\n"                          \
  "  setp.eq.u64 %p4, %d4, 0;\n"                                         \
  "  @%p4 bra DONE;\n"                                                   \
  "  ld.global.u32 %r8, [%d1+8];    // launches\n"                       \
  "  add.u32 %r8, %r8, 1;\n"                                             \
  "  st.global.u32 [%d1+8], %r8;\n"                                      \
  "  bra DONE;\n"                                                        \
  "TOO_MANY:\n"                                                          \
  "  mov.u32 %r9, 1;\n"                                                  \
  "  st.global.u32 [%d1], %r9;\n"                                        \
  "  st.global.u32 [%d1+4], %r1;    // which step it was\n"              \
  "NOTHING:\n"                                                           \
  "  mov.u64 %d6, 0;\n"                                                  \
  "  st.global.u64 [%d2+24], %d6;\n"                                     \
  "DONE:\n"                                                              \
  "  ret;\n"                                                             \
  "}\n"

/* Ends an iteration. If the word is 0, the repeat's steps are stopped; otherwise, after the last iteration, all later steps. Runs
 * as 64 threads.
 *
 *     task: control memory, the repeat's two words, the word that ends it, the dispatches of its first step and of the first later
 *     step, then the number of its steps, the number of later steps, and whether no iteration follows */
#define END                                                                    \
  ".visible .entry vyre_control_end(.param .align 8 .b8 task[56])\n"           \
  "{\n"                                                                        \
  "  .reg .pred %p<8>;\n"                                                      \
  "  .reg .b32 %r<12>;\n"                                                      \
  "  .reg .b64 %d<8>;\n"                                                       \
  "  ld.param.u64 %d1, [task];\n"                                              \
  "  ld.param.u64 %d2, [task+8];\n"                                            \
  "  ld.param.u64 %d3, [task+16];\n"                                           \
  "  ld.param.u64 %d4, [task+24];\n"                                           \
  "  ld.param.u64 %d5, [task+32];\n"                                           \
  "  ld.param.u32 %r1, [task+40];\n"                                           \
  "  ld.param.u32 %r2, [task+44];\n"                                           \
  "  ld.param.u32 %r3, [task+48];\n"                                           \
  "  cvta.to.global.u64 %d1, %d1;\n"                                           \
  "  cvta.to.global.u64 %d2, %d2;\n"                                           \
  "  cvta.to.global.u64 %d3, %d3;\n"                                           \
  "  cvta.to.global.u64 %d4, %d4;\n"                                           \
  "  cvta.to.global.u64 %d5, %d5;\n"                                           \
  "  ld.global.u32 %r4, [%d1];      // stopped\n"                              \
  "  ld.global.u32 %r5, [%d4+12];   // the repeat is over\n"                   \
  "  ld.global.u32 %r6, [%d3];      // the word\n"                             \
  "  bar.sync 0;                    // all have read what one thread writes\n" \
  "  or.b32 %r4, %r4, %r5;\n"                                                  \
  "  setp.ne.u32 %p1, %r4, 0;\n"                                               \
  "  @%p1 bra DONE;\n"                                                         \
  "  mov.u32 %r7, %tid.x;\n"                                                   \
  "  setp.eq.u32 %p2, %r6, 0;\n"                                               \
  "  setp.ne.u32 %p3, %r3, 0;\n"                                               \
  "  setp.ne.u32 %p4, %r7, 0;\n"                                               \
  "  @%p4 bra STOPS;\n"                                                        \
  "  ld.global.u32 %r8, [%d2];      // iterations\n"                           \
  "  add.u32 %r8, %r8, 1;\n"                                                   \
  "  st.global.u32 [%d2], %r8;\n"                                              \
  "  st.global.u32 [%d2+4], %r6;\n"                                            \
  "  @%p2 bra STOPS;\n"                                                        \
  "  @!%p3 bra STOPS;\n"                                                       \
  "  mov.u32 %r9, 1;\n"                                                        \
  "  st.global.u32 [%d1], %r9;\n"                                              \
  "STOPS:\n"                                                                   \
  "  @%p2 bra OWN;\n"                                                          \
  "  @!%p3 bra DONE;\n"                                                        \
  "  mov.u64 %d4, %d5;\n"                                                      \
  "  mov.u32 %r1, %r2;\n"                                                      \
  "OWN:\n"                                                                     \
  "  setp.ge.u32 %p5, %r7, %r1;\n"                                             \
  "  @%p5 bra DONE;\n"                                                         \
  "  mad.wide.u32 %d6, %r7, 48, %d4;\n"                                        \
  "  mov.u32 %r10, 1;\n"                                                       \
  "  st.global.u32 [%d6+12], %r10;\n"                                          \
  "  add.u32 %r7, %r7, 64;\n"                                                  \
  "  bra OWN;\n"                                                               \
  "DONE:\n"                                                                    \
  "  ret;\n"                                                                   \
  "}\n"

const char cuda_control_text[] = ".version 7.8\n"
                                 ".target sm_75\n"
                                 ".address_size 64\n" PREPARE END;
