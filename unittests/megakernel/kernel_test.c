/* The kernel: each op code, each fault, tenants, packed slots, the debug log, IO, handlers, priorities and fairness.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../hang.h"
#include "mega.h"

enum { PLAIN = 16 }; /* slots of most tests, because another number needs another kernel */

typedef void way_body(world *w);

static void
each_way(way_body *body, vyre_mega_program program, uint32_t slots, uint32_t observables)
{
  for (const way *how = ways; how->name; how++) {
    world *w = world_in_way(how, program, slots, observables);
    print_message("  %s\n", how->name);
    body(w);
    world_free(w);
    hang_progress();
  }
}

/* Defines a test that runs with each element of `ways`. */
#define EACH_WAY(name, program, slots, observables)     \
  static void name##_body(world *w);                    \
  TEST(name)                                            \
  {                                                     \
    each_way(name##_body, program, slots, observables); \
  }                                                     \
  static void name##_body(world *w)

static const vyre_mega_program once = {.build = VYRE_MEGA_ONCE};

/* An item, and the reason of its fault, or 0 if it is done. */
typedef struct trial {
  vyre_mega_item item;
  uint32_t reason;
} trial;

/* Runs the items in one launch, in slots from 0 on, and checks their results. */
static void
try_items(world *w, const trial *trials, uint32_t count)
{
  for (uint32_t slot = 0; slot < count; slot++)
    put(w, slot, trials[slot].item);
  go(w);
  for (uint32_t slot = 0; slot < count; slot++)
    if (trials[slot].reason)
      is_fault(w, slot, trials[slot].reason);
    else
      is_done(w, slot);
}
#define TRY(w, trials) try_items(w, trials, sizeof(trials) / sizeof *(trials))

/* ---- op codes ------------------------------------------------------------------------------------------------------------ */

EACH_WAY(each_op_code_has_its_effect, once, PLAIN, 200)
{
  w->control[162] = 1000;
  w->control[165] = 5;
  memcpy(w->control + 170, (uint32_t[]){1, 2, 3, 4}, 16);
  static const trial trials[] = {
      {{.op = 0}, 0},
      {{.op = 1, .args = {77, 161}}, 0},
      {{.op = 2, .args = {0xffffffff, 162}}, 0},
      {{.op = 3, .args = {2, 3}}, 0},
      {{.op = 4, .args = {165, 5, 9}}, 0},
      {{.op = 4, .args = {166, 5, 9}}, 0},
      {{.op = 5, .args = {170, 180, 4}}, 0},
      {{.op = 7, .args = {3, 4711}}, 0},
      {{.op = 1, .args = {13, 145}}, 0}, /* scratch */
      {{.op = 5, .args = {0, 145, 0}}, 0},
  };
  TRY(w, trials);
  assert_int_equal(state_of(w, 10), VYRE_MEGA_EMPTY);
  assert_int_equal(w->control[161], 77);
  assert_int_equal(w->control[162], 999);
  assert_int_equal(w->control[163], 3);
  assert_int_equal(w->control[165], 9);
  assert_int_equal(w->control[160 + 165], 5);
  assert_int_equal(w->control[166], 0);
  assert_int_equal(w->control[160 + 166], 0);
  assert_memory_equal(w->control + 180, ((uint32_t[]){1, 2, 3, 4, 0}), 20);
  assert_int_equal(w->control[128], 1);
  assert_int_equal(w->control[160], 4711);
  assert_int_equal(w->control[145], 13);
  assert_int_equal(w->results.control.done, 10);
  assert_int_equal(w->results.control.faults, 0);
  assert_memory_equal(w->results.control.metrics, ((uint32_t[]){1, 2, 1, 1, 2, 2, 0, 1, 0}), 36);
  assert_int_equal(w->results.control.served[0], 10);
  assert_int_equal(w->results.control.quotas[0], 1000000 - 10);
}

EACH_WAY(accesses_to_forbidden_words_are_faults, once, PLAIN, 8)
{
  enum { END = 160 + 8 };
  static const trial trials[] = {
      {{.op = 1, .args = {1, 0}}, 4},   /* SHUTDOWN */
      {{.op = 1, .args = {1, 144}}, 4}, /* the last word before scratch */
      {{.op = 1, .args = {1, END}}, 4},
      {{.op = 2, .args = {1, 32}}, 4}, /* a quota */
      {{.op = 3, .args = {END, 0}}, 4},
      {{.op = 3, .args = {0, 8}}, 5},
      {{.op = 3, .args = {0, 0xffffff60}}, 5}, /* adding 160 gives 0 */
      {{.op = 4, .args = {3, 0, 0}}, 4},
      {{.op = 4, .args = {160, 0, 1}}, 5}, /* the result would be word 320 */
      {{.op = 5, .args = {0, 160, 9}}, 4},
      {{.op = 5, .args = {0, 161, 0xffffffff}}, 4},
      {{.op = 5, .args = {0xffffffff, 161, 2}}, 4},
      {{.op = 5, .args = {0, 144, 1}}, 4},
      {{.op = 6}, 1},
      {{.op = 99}, 1},
      {{.op = 1, .args = {8, END - 1}}, 0},
  };
  TRY(w, trials);
  assert_int_equal(w->results.control.faults, 15);
  assert_int_equal(w->results.control.done, 1);
  assert_int_equal(w->control[0], 0);
  for (uint32_t i = 145; i < 160 + 7; i++)
    assert_int_equal(w->control[i], 0);
}

EACH_WAY(results_without_observables_are_faults, once, PLAIN, 0)
{
  static const trial trials[] = {{{.op = 7, .args = {1, 2}}, VYRE_MEGA_REASON_OBSERVABLE},
                                 {{.op = 3}, VYRE_MEGA_REASON_OBSERVABLE},
                                 {{.op = 1, .args = {5, 159}}, 0},
                                 {{.op = 1, .args = {5, 160}}, VYRE_MEGA_REASON_WORD}};
  TRY(w, trials);
  assert_int_equal(w->results.control.epoch, 0);
  assert_int_equal(w->control[159], 5);
}

EACH_WAY(only_tenant_0_may_shut_the_kernel_down, once, PLAIN, 0)
{
  put(w, 0, ITEM(.op = VYRE_MEGA_OP_SHUT_DOWN, .tenant = 1));
  go(w);
  is_fault(w, 0, VYRE_MEGA_REASON_PERMISSION);
  assert_false(w->results.control.is_shut_down);
  put(w, 0, ITEM(.op = VYRE_MEGA_OP_SHUT_DOWN));
  go(w);
  is_done(w, 0);
  assert_true(w->results.control.is_shut_down);
  put(w, 0, ITEM(.op = 0));
  go(w);
  assert_int_equal(state_of(w, 0), VYRE_MEGA_PUBLISHED);
}

/* ---- tenants ------------------------------------------------------------------------------------------------------------- */

EACH_WAY(tenants_have_masks_and_quotas, once, PLAIN, 0)
{
  static const uint32_t bad[] = {29, 31, 32, 61, 64, 0xffffffff};
  for (uint32_t i = 0; i < 6; i++) {
    put(w, i, ITEM(.op = 0));
    w->ring[i * 16 + 2] = bad[i];
  }
  put(w, 6, ITEM(.op = 0, .tenant = 28));
  put(w, 7, ITEM(.op = 0, .tenant = 5));
  for (uint32_t i = 8; i < 12; i++)
    put(w, i, ITEM(.op = 0, .tenant = 6));
  put(w, 12, ITEM(.op = 0, .tenant = 7));
  w->control[3 + 5] = 0;
  w->control[32 + 6] = 3;
  w->control[32 + 7] = 0xffffffff;
  go(w);
  for (uint32_t i = 0; i < 6; i++)
    is_fault(w, i, VYRE_MEGA_REASON_TENANT);
  is_done(w, 6);
  is_done(w, 12);
  assert_int_equal(state_of(w, 7), VYRE_MEGA_PUBLISHED);
  uint32_t done = 0;
  for (uint32_t i = 8; i < 12; i++) {
    done += state_of(w, i) == VYRE_MEGA_DONE;
    if (state_of(w, i) != VYRE_MEGA_DONE)
      is_fault(w, i, VYRE_MEGA_REASON_QUOTA);
  }
  assert_int_equal(done, 3);
  assert_int_equal(w->results.control.quotas[6], 0);
  assert_int_equal(w->results.control.quotas[7], 0xffffffff);
  assert_int_equal(w->results.control.served[28], 1);
  assert_int_equal(w->results.control.served[6], 4);
  assert_int_equal(w->results.control.served[31], 0);
  w->control[3 + 5] = 1;
  go(w);
  is_done(w, 7);
}

/* ---- packed slots, the debug log ----------------------------------------------------------------------------------------- */

static vyre_mega_item
packed(const vyre_mega_packed *operations, uint32_t count)
{
  vyre_mega_item item = {.op = VYRE_MEGA_OP_PACKED};
  ok(vyre_mega_pack(operations, count, item.args));
  return item;
}

EACH_WAY(packed_slots_run_all_their_operations, once, PLAIN, 8)
{
  const vyre_mega_packed good[] = {{1, {11, 160, 0}}, {2, {12, 161, 0}}, {0, {0, 0, 0}}};
  const vyre_mega_packed bad[] = {{1, {13, 162, 0}}, {99, {0, 0, 0}}, {1, {14, 163, 0}}};
  const trial trials[] = {
      {packed(good, 3), 0},
      {packed(bad, 3), VYRE_MEGA_REASON_OP | 1 << 16},
      {{.op = VYRE_MEGA_OP_PACKED}, VYRE_MEGA_REASON_PACKED},
      {{.op = VYRE_MEGA_OP_PACKED, .args = {5}}, VYRE_MEGA_REASON_PACKED},
      {{.op = VYRE_MEGA_OP_PACKED, .args = {0x00000b02}}, VYRE_MEGA_REASON_PACKED},
      {{.op = VYRE_MEGA_OP_PACKED, .args = {0x08010a02, 0, 99, 164}}, VYRE_MEGA_REASON_PACKED},
      /* Four operations, of which two have the same arguments. */
      {{.op = VYRE_MEGA_OP_PACKED, .args = {0x00020904, 0x06020302, 0x00000602, 1, 165, 0, 1, 165, 0, 1, 165, 0}}, 0},
  };
  TRY(w, trials);
  assert_memory_equal(w->control + 160, ((uint32_t[]){11, 12, 13, 0, 0, 4, 0}), 28);
  assert_memory_equal(w->results.control.metrics, ((uint32_t[]){1, 2, 5, 0}), 16);
}

EACH_WAY(a_full_debug_log_counts_lost_records, once, 40, 0)
{
  uint32_t seen[80] = {0};
  for (uint32_t i = 0; i < 40; i++)
    put(w, i, ITEM(.op = VYRE_MEGA_OP_PRINT, .args = {7, i, i * i}));
  go(w);
  assert_int_equal(w->results.record_count, 40);
  for (uint32_t i = 0; i < 40; i++) {
    const vyre_mega_record *r = &w->results.records[i];
    assert_int_equal(r->format, 7);
    assert_int_equal(r->args[1], r->args[0] * r->args[0]);
    assert_int_equal(r->base, r->args[0] * 16);
    seen[r->args[0]]++;
  }
  for (uint32_t i = 0; i < 40; i++)
    assert_int_equal(seen[i], 1);
  assert_int_equal(w->results.control.debug_lost, 0);
  for (uint32_t i = 0; i < 40; i++)
    put(w, i, ITEM(.op = VYRE_MEGA_OP_PRINT, .args = {7, i, i * i}));
  go(w);
  assert_int_equal(w->results.record_count, 64);
  assert_int_equal(w->debug[0], 256);
  assert_int_equal(w->results.control.debug_lost, 16);
  assert_int_equal(w->results.control.done, 80);
}

/* ---- IO ------------------------------------------------------------------------------------------------------------------ */

EACH_WAY(load_misses_publish_wait_and_time_out, once, PLAIN, 0)
{
  uint32_t requests[64], count;
  bool claimed;
  for (uint32_t slot = 0; slot < 4; slot++)
    put(w, slot, ITEM(.op = VYRE_MEGA_OP_LOAD_MISS, .args = {100 + slot, 200, 300, 400, 500, slot == 3 ? 2 : 0}));
  go(w);
  ok(vyre_mega_io_poll(w->io, sizeof w->io, requests, &count));
  assert_int_equal(count, 4);
  for (uint32_t i = 0; i < 4; i++) {
    vyre_mega_io request;
    ok(vyre_mega_io_read(w->io, sizeof w->io, requests[i], &request));
    assert_int_equal(state_of(w, i), VYRE_MEGA_WAIT_IO);
    assert_int_equal(request.op, VYRE_MEGA_IO_READ);
    assert_int_equal(request.source, 100 + request.tag);
    assert_int_equal(request.destination, 200);
    assert_int_equal(request.bytes, 300);
    assert_true(request.offset == (400 | UINT64_C(500) << 32));
    if (request.tag > 1)
      continue; /* these requests are never completed */
    ok(vyre_mega_io_claim(w->io, sizeof w->io, requests[i], &claimed));
    ok(vyre_mega_io_complete(w->io, sizeof w->io, &requests[i], (int64_t[]){request.tag == 0 ? 77 : -5}, 1));
  }
  go(w);
  is_done(w, 0);
  is_fault(w, 1, VYRE_MEGA_REASON_IO);
  assert_int_equal(w->ring[14], 77);
  assert_int_equal(w->ring[16 + 14], 5);
  assert_int_equal(state_of(w, 3), VYRE_MEGA_WAIT_IO);
  go(w);
  go(w);
  is_fault(w, 3, VYRE_MEGA_REASON_IO_PATIENCE);
  assert_int_equal(state_of(w, 2), VYRE_MEGA_WAIT_IO);
  ok(vyre_mega_io_poll(w->io, sizeof w->io, requests, &count));
  assert_int_equal(count, 1); /* the request of slot 2; completed and cancelled requests are EMPTY */
  assert_int_equal(w->results.control.quotas[0], 1000000 - 4);
}

EACH_WAY(a_full_io_queue_loses_no_item, once, 72, 0)
{
  uint32_t seen[72] = {0};
  for (uint32_t slot = 0; slot < 72; slot++)
    put(w, slot, ITEM(.op = VYRE_MEGA_OP_LOAD_MISS, .args = {slot, 0, 0, 0, 0, 1}));
  go(w);
  uint32_t waiting = 0;
  for (uint32_t slot = 0; slot < 72; slot++)
    waiting += state_of(w, slot) == VYRE_MEGA_WAIT_IO;
  assert_int_equal(waiting, 64);
  assert_int_equal(w->results.states[VYRE_MEGA_REQUEUE], 8);
  for (uint32_t i = 0; i < 64; i++)
    seen[w->io[i * 8 + 7]]++; /* each request has its own slot */
  for (uint32_t slot = 0; slot < 72; slot++)
    assert_int_equal(seen[slot], state_of(w, slot) == VYRE_MEGA_WAIT_IO);
  go(w);
  go(w);
  for (uint32_t slot = 0; slot < 72; slot++)
    is_fault(w, slot, VYRE_MEGA_REASON_IO_PATIENCE);
}

#ifdef MEGA_CUDA /* the simulator runs each launch by another schedule */
/* More lanes than the queue has slots claim slots at the same time. */
EACH_WAY(a_request_has_one_owner, once, 512, 0)
{
  enum { ROUNDS = 8 };
  for (uint32_t round = 0; round < ROUNDS; round++) {
    bool has_asked[VYRE_MEGA_IO_SLOTS] = {false};
    uint32_t waiting = 0;
    world_reset(w);
    for (uint32_t slot = 0; slot < w->slots; slot++)
      put(w, slot, ITEM(.op = VYRE_MEGA_OP_LOAD_MISS, .args = {slot, 0, 0, 0, 0, UINT32_MAX}));
    go(w);
    for (uint32_t slot = 0; slot < w->slots; slot++) {
      const uint32_t request = w->ring[slot * 16 + 14];
      if (state_of(w, slot) != VYRE_MEGA_WAIT_IO)
        continue;
      assert_in_range(request, 1, VYRE_MEGA_IO_SLOTS);
      if (has_asked[request - 1] || w->io[(request - 1) * 8 + 7] != slot)
        fail_msg("slot %u waits for request %u, which is that of slot %u", slot, request - 1, w->io[(request - 1) * 8 + 7]);
      has_asked[request - 1] = true;
      waiting++;
    }
    assert_in_range(waiting, 1, VYRE_MEGA_IO_SLOTS);
  }
}

#endif

EACH_WAY(an_abandoned_claimed_request_is_emptied_at_its_end, once, PLAIN, 0)
{
  uint32_t request, count;
  bool claimed;
  put(w, 0, ITEM(.op = VYRE_MEGA_OP_LOAD_MISS, .args = {1, 0, 0, 0, 0, 1}));
  go(w);
  ok(vyre_mega_io_poll(w->io, sizeof w->io, &request, &count));
  ok(vyre_mega_io_claim(w->io, sizeof w->io, request, &claimed));
  go(w);
  go(w);
  is_fault(w, 0, VYRE_MEGA_REASON_IO_PATIENCE);
  assert_int_equal(w->io[request * 8 + 6], VYRE_MEGA_CLAIMED); /* only the host may change the state */
  assert_int_equal(w->io[request * 8], VYRE_MEGA_IO_GIVEN_UP);
  ok(vyre_mega_io_complete(w->io, sizeof w->io, &request, (int64_t[]){0}, 1));
  assert_int_equal(w->io[request * 8 + 6], VYRE_MEGA_EMPTY);
}

/* ---- handlers ------------------------------------------------------------------------------------------------------------ */

#define HANDLER(name)                                                                                                          \
  "func @" name "(%control : path u32[], %ring : path u32[], %debug : path u32[], %io : path u32[], %base : u32, %op : u32,\n" \
  "               %a0 : u32, %a1 : u32, %a2 : u32) -> u32 {\n"

static const char functions[] =
    /* Records the order in which items begin. */
    HANDLER("note") "  %at = atomic_add %control[160], 1u32\n"
                    "  if ult(%at, sub(length(%control), 161u32)) { store %control[add(%at, 161u32)], %a0 }\n"
                    "  return 0u32\n}\n" HANDLER("fail") "  return %a0\n}\n"
    /* Yields until it runs for the a0-th time, then stores the sum of all twelve arguments. */
    HANDLER("again") "  var %sum : u32\n"
                     "  %times = atomic_add %control[160], 1u32\n"
                     "  if ult(add(%times, 1u32), %a0) { return 0x80000005u32 }\n"
                     "  for %i = 0u32 to 12u32 step 1u32 {\n"
                     "    set %sum, add(get(%sum), load(%ring[add(add(%base, 4u32), %i)]))\n"
                     "  }\n"
                     "  store %control[161], get(%sum)\n"
                     "  store %control[162], %op\n"
                     "  return 0u32\n}\n";

static const vyre_mega_handler handlers[] = {{8, "note"}, {9, "fail"}, {0x40000000, "again"}};

static vyre_mega_program
with_handlers(vyre_mega_build build)
{
  return (vyre_mega_program){.build = build, .source = functions, .handlers = handlers, .handler_count = 3};
}

EACH_WAY(users_add_handlers, with_handlers(VYRE_MEGA_ONCE), PLAIN, 8)
{
  const vyre_mega_packed inner[] = {{8, {3, 0, 0}}, {9, {0x80000005, 0, 0}}};
  static const trial trials[] = {
      {{.op = 9, .args = {256}}, 256},
      {{.op = 9, .args = {0xffff}}, 0xffff},
      {{.op = 9, .args = {0x10000}}, VYRE_MEGA_REASON_RESULT},
      {{.op = 9, .args = {0x80000001}}, VYRE_MEGA_REASON_RESULT},
      {{.op = 9, .args = {0}}, 0},
      {{.op = 10}, VYRE_MEGA_REASON_OP},
  };
  put(w, 6, ITEM(.op = 0x40000000, .args = {3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
  TRY(w, trials);
  assert_int_equal(state_of(w, 6), VYRE_MEGA_YIELD);
  go(w);
  assert_int_equal(state_of(w, 6), VYRE_MEGA_YIELD);
  go(w);
  is_done(w, 6);
  assert_int_equal(w->control[160], 3);
  assert_int_equal(w->control[161], 14);
  assert_int_equal(w->control[162], 0x40000000);
  assert_int_equal(w->results.control.done, 2);
  assert_int_equal(w->results.control.quotas[0], 1000000 - 7);
  put(w, 7, packed(inner, 2));
  go(w);
  is_fault(w, 7, VYRE_MEGA_REASON_RESULT | 1 << 16);
}

static const vyre_mega_program with_fused = {.build = VYRE_MEGA_ONCE, .source = functions, .fused = "note"};

EACH_WAY(a_program_is_fused_into_the_kernel, with_fused, PLAIN, 8)
{
  for (uint32_t i = 0; i < 4; i++)
    put(w, i, ITEM(.op = 50 + i, .args = {i}));
  go(w);
  assert_int_equal(w->control[160], 4);
  for (uint32_t i = 0; i < 4; i++)
    is_done(w, i);
}

static const vyre_mega_handler sum = {77, "sum"};
static const vyre_mega_program with_data = {
    .build = VYRE_MEGA_ONCE,
    .source = "func @sum(%control : path u32[], %ring : path u32[], %debug : path u32[], %io : path u32[], %data : path u32[],\n"
              "          %base : u32, %op : u32, %a0 : u32, %a1 : u32, %a2 : u32) -> u32 {\n"
              "  store %data[%a2], add(load(%data[%a0]), load(%data[%a1]))\n"
              "  return 0u32\n}\n",
    .handlers = &sum,
    .handler_count = 1,
    .has_data = true};

EACH_WAY(handlers_have_a_data_buffer, with_data, PLAIN, 0)
{
  uint32_t words[] = {5, 6, 0};
  vyre_device_buffer buffer;
  ok(ops->allocate(w->target, sizeof words, &buffer));
  ok(vyre_target_write(ops, w->target, buffer, 0, sizeof words, words));
  put(w, 0, ITEM(.op = 77, .args = {0, 1, 2}));
  vyre_mega_input input = input_of(w);
  refused(vyre_mega_dispatch(w->mega, &input, &w->output, NULL), "data");
  input.data = (vyre_range){buffer, 0, sizeof words};
  ok(vyre_mega_dispatch(w->mega, &input, &w->output, NULL));
  ok(vyre_target_read(ops, w->target, buffer, 0, sizeof words, words));
  assert_int_equal(words[2], 11);
}

TEST(wrong_handlers_and_sizes_are_refused)
{
  static const struct {
    vyre_mega_handler handlers[2];
    uint32_t count, slots, workgroup;
    const char *message;
  } cases[] = {
      {{{7, "note"}}, 1, 4, 0, "0x7, which is reserved"},
      {{{8, "note() return"}}, 1, 4, 0, "not a function name"},
      {{{8, "note"}, {8, "note"}}, 2, 4, 0, "two handlers for the op code 8"},
      {{{8, "no_such"}}, 1, 4, 0, "no_such"},
      {{{8, "note"}}, 1, 0, 0, "0 slots"},
      {{{8, "note"}}, 1, 6, 4, "not a multiple"},
      {{{8, "note"}}, 1, 1 << 20, 1 << 20, "1048576 invocations"},
  };
  world *w = world_make(4, 0);
  for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    vyre_mega *mega;
    const vyre_mega_options options = {
        .struct_size = sizeof options,
        .program = {.source = functions, .handlers = cases[i].handlers, .handler_count = cases[i].count},
        .slots = cases[i].slots,
        .workgroup = cases[i].workgroup};
    refused(vyre_mega_create(ops, w->target, &options, &mega), cases[i].message);
    assert_null(mega);
  }
  world_free(w);
}

/* ---- priorities and fairness --------------------------------------------------------------------------------------------- */

/* Each of the five partitions has ten slots. */
EACH_WAY(items_of_all_priorities_run, with_handlers(VYRE_MEGA_BY_PRIORITY), 50, 60)
{
  for (uint32_t i = 0; i < 50; i++)
    put(w, i, ITEM(.op = 8, .priority = i / 10, .args = {i}));
  go(w);
  uint32_t seen[50] = {0};
  for (uint32_t i = 0; i < 50; i++) {
    is_done(w, i);
    seen[w->control[161 + i]]++;
  }
  for (uint32_t i = 0; i < 50; i++)
    assert_int_equal(seen[i], 1);
  for (uint32_t level = 0; level < 5; level++)
    assert_int_equal(w->results.control.priorities[level], 10);
  assert_int_equal(w->results.control.done, 50);
  assert_int_equal(w->control[160], 50);
}

/* Returns a megakernel with one lane, which runs items in a fixed order. */
static world *
world_of_one_lane(uint32_t observables)
{
  return world_with((vyre_mega_options){.struct_size = sizeof(vyre_mega_options),
                                        .program = with_handlers(VYRE_MEGA_BY_PRIORITY),
                                        .slots = 200,
                                        .workgroup = 1,
                                        .groups = 1,
                                        .threads = 1},
                    observables);
}

/* After 16 items of CRITICAL and HIGH, an item of another priority runs. */
TEST(lower_priorities_do_not_starve)
{
  world *w = world_of_one_lane(130);
  for (uint32_t i = 0; i < 40; i++) { /* 80 of CRITICAL and HIGH, 40 of NORMAL */
    put(w, i, ITEM(.op = 8, .priority = 0, .args = {0}));
    put(w, 40 + i, ITEM(.op = 8, .priority = 1, .args = {1}));
    put(w, 80 + i, ITEM(.op = 8, .priority = 2, .args = {2}));
  }
  go(w);
  uint32_t in_a_row = 0, others = 0;
  for (uint32_t i = 0; i < 120; i++) {
    const uint32_t level = w->control[161 + i];
    in_a_row = level < 2 ? in_a_row + 1 : 0;
    others += level == 2;
    assert_true(in_a_row <= 16);
    if (level == 2 && others <= 5)
      assert_int_equal(i, others * 17 - 1);
  }
  assert_int_equal(w->results.control.done, 120);
  world_free(w);
}

/* The four CRITICAL items exceed the limit of 16, because 13 already ran.  Other lanes then delay their HIGH items. */
EACH_WAY(delayed_items_are_done_in_the_same_launch, with_handlers(VYRE_MEGA_BY_PRIORITY), 40, 0)
{
  w->control[135] = 13;
  for (uint32_t i = 0; i < 4; i++) {
    put(w, i, ITEM(.op = 0, .priority = 0));
    put(w, 12 + i, ITEM(.op = 0, .priority = 1));
  }
  go(w);
  for (uint32_t i = 0; i < 4; i++) {
    is_done(w, i);
    is_done(w, 12 + i);
  }
}

/* The 150 items of one tenant are in slots before the 3 items of another one. */
TEST(a_busy_tenant_does_not_starve_others)
{
  world *w = world_of_one_lane(160);
  ok(vyre_mega_control_set(w->control, vyre_mega_control_size(w->observables), 129 + 1, 200)); /* all slots are CRITICAL */
  for (uint32_t i = 2; i < 6; i++)
    ok(vyre_mega_control_set(w->control, vyre_mega_control_size(w->observables), 129 + i, 200));
  for (uint32_t i = 0; i < 150; i++)
    put(w, i, ITEM(.op = 8, .tenant = 1, .args = {1}));
  for (uint32_t i = 150; i < 153; i++)
    put(w, i, ITEM(.op = 8, .tenant = 2, .args = {2}));
  go(w);
  for (uint32_t i = 0; i < 153; i++)
    assert_int_equal(w->control[161 + i], i >= 64 && i < 67 ? 2 : 1);
  assert_int_equal(w->results.control.done, 153);
  world_free(w);
}

/* Items that yield forever or wait for their tenant do not keep a launch running. */
EACH_WAY(a_launch_ends_without_progress, with_handlers(VYRE_MEGA_BY_PRIORITY), 50, 8)
{
  w->control[3 + 4] = 0;
  put(w, 0, ITEM(.op = 0x40000000, .args = {0xffffffff}));
  put(w, 1, ITEM(.op = 0, .tenant = 4));
  put(w, 49, ITEM(.op = 0));
  go(w);
  assert_int_equal(state_of(w, 0), VYRE_MEGA_YIELD);
  assert_int_equal(state_of(w, 1), VYRE_MEGA_PUBLISHED);
  is_done(w, 49);
}

/* ---- words that the host writes ------------------------------------------------------------------------------------------ */

/* A device's atomic read-modify-write could undo a write by the host, so the kernel only loads and stores slots. */
TEST(slots_have_no_atomic_read_modify_write)
{
  for (uint32_t build = 0; build < VYRE_MEGA_BUILD__COUNT; build++) {
    vyre_bytes text = {0};
    uint32_t swaps = 0;
    ok(vyre_mega_source(&(vyre_mega_program){.build = build}, &(vyre_mega_form){0}, &text));
    ok(vyre_bytes_append(&text, "", 1));
    for (const char *at = (const char *)text.data; (at = strstr(at, "atomic_")); at++) {
      if (!strncmp(at, "atomic_load", 11) || !strncmp(at, "atomic_store", 12))
        continue;
      swaps++;
      if (!strncmp(strchr(at, '%'), "%ring", 5) || !strncmp(strchr(at, '%'), "%io", 3))
        fail_msg("the kernel has %.60s", at);
    }
    assert_true(swaps > 8);
    vyre_bytes_free(&text);
  }
}

TEST_MAIN(NULL, device_end)
