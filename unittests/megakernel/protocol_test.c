/* The megakernel's protocol: each word of each table, images of older systems, and invalid images.
 *
 * The tests use the numbers in the images instead of the header's names, so that a changed name fails a test.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"

#include "vyre/megakernel.h"

static void
ok(vyre_status status)
{
  if (status)
    print_error("%s\n", vyre_status_text(status));
  assert_null(status);
}

static void
refused(vyre_status status, const char *word)
{
  const char *text = vyre_status_text(status);
  if (!status || !strstr(text, word) || !strstr(text, "\nFix: ") || vyre_status_code(status) != VYRE_CODE_INPUT)
    fail_msg("expected '%s', but the message is: %s", word, text);
  vyre_status_free(status);
}

/* ---- control ------------------------------------------------------------------------------------------------------------- */

TEST(a_new_control_image_has_these_words)
{
  uint32_t words[163], expected[163] = {0};
  memset(words, 0xff, sizeof words);
  ok(vyre_mega_control_encode(&(vyre_mega_control_desc){.is_shut_down = true, .tenants = 40, .slots = 23, .observables = 3}, words,
                              sizeof words));
  expected[0] = 1;
  expected[2] = 3;
  for (uint32_t i = 3; i < 32; i++)
    expected[i] = 0xffffffff;
  for (uint32_t i = 32; i < 64; i++)
    expected[i] = 1000000;
  /* Each priority has a fifth of 23 slots, 4, and NORMAL also has the remaining three. */
  memcpy(expected + 129, (uint32_t[]){0, 4, 8, 15, 19, 23}, 24);
  assert_memory_equal(words, expected, sizeof words);
  ok(vyre_mega_control_validate(words, sizeof words, 23));
}

TEST(few_tenants_have_few_masks)
{
  uint32_t words[160];
  ok(vyre_mega_control_encode(&(vyre_mega_control_desc){.tenants = 2}, words, sizeof words));
  assert_int_equal(words[0], 0);
  assert_int_equal(words[4], 0xffffffff);
  assert_int_equal(words[5], 0);
  assert_int_equal(words[33], 1000000);
  assert_int_equal(words[34], 0);
  ok(vyre_mega_control_encode(&(vyre_mega_control_desc){.tenants = 31}, words, sizeof words));
  assert_int_equal(words[31], 0xffffffff);
  assert_int_equal(words[32 + 30], 1000000);
  assert_int_equal(words[32 + 31], 0);
}

/* Sets word i to 1000 + i, except for the observables' number, which is validated. */
static void
count_up(uint32_t words[165])
{
  for (uint32_t i = 0; i < 165; i++)
    words[i] = 1000 + i;
  words[2] = 3;
}

TEST(each_control_word_is_decoded)
{
  uint32_t words[165];
  vyre_mega_control control;
  count_up(words);
  ok(vyre_mega_control_decode(words, sizeof words, &control));
  assert_true(control.is_shut_down);
  assert_int_equal(control.done, 1001);
  for (uint32_t i = 0; i < 29; i++)
    assert_int_equal(control.masks[i], 1003 + i);
  for (uint32_t i = 0; i < 32; i++) {
    assert_int_equal(control.quotas[i], 1032 + i);
    assert_int_equal(control.served[i], 1064 + i);
    assert_int_equal(control.metrics[i], 1096 + i);
  }
  assert_int_equal(control.epoch, 1128);
  for (uint32_t i = 0; i < 6; i++)
    assert_int_equal(control.partitions[i], 1129 + i);
  assert_int_equal(control.starvation, 1135);
  for (uint32_t i = 0; i < 5; i++)
    assert_int_equal(control.priorities[i], 1136 + i);
  assert_int_equal(control.debug_lost, 1141);
  assert_int_equal(control.faults, 1142);
  assert_int_equal(control.slice, 1143);
  assert_int_equal(control.doorbell, 1144);
  assert_int_equal(control.observables, 5);
  words[0] = 0;
  ok(vyre_mega_control_decode(words, sizeof words, &control));
  assert_false(control.is_shut_down);
}

TEST(words_and_observables_are_read_and_set)
{
  uint32_t words[165], value;
  count_up(words);
  for (uint32_t i = 0; i < 165; i++) {
    ok(vyre_mega_control_word(words, sizeof words, i, &value));
    assert_int_equal(value, words[i]);
  }
  for (uint32_t i = 0; i < 5; i++) {
    ok(vyre_mega_observable(words, sizeof words, i, &value));
    assert_int_equal(value, 1160 + i);
  }
  refused(vyre_mega_control_word(words, sizeof words, 165, &value), "no word 165");
  refused(vyre_mega_observable(words, sizeof words, 5, &value), "no word 165");
  refused(vyre_mega_observable(words, sizeof words, UINT32_MAX, &value), "no word");
  assert_int_equal(value, 0);
  ok(vyre_mega_control_set(words, sizeof words, 164, 7));
  assert_int_equal(words[164], 7);
  refused(vyre_mega_control_set(words, sizeof words, 165, 7), "no word 165");
}

TEST(metrics_omit_zeros)
{
  uint32_t words[160] = {0}, count;
  vyre_mega_metric metrics[32];
  words[96] = 5;
  words[96 + 31] = 6;
  words[95] = words[128] = 9;
  ok(vyre_mega_metrics(words, sizeof words, metrics, &count));
  assert_int_equal(count, 2);
  assert_int_equal(metrics[0].op, 0);
  assert_int_equal(metrics[0].count, 5);
  assert_int_equal(metrics[1].op, 31);
  assert_int_equal(metrics[1].count, 6);
}

TEST(wrong_control_images_are_refused)
{
  uint32_t words[161], value;
  vyre_mega_control control;
  assert_int_equal(vyre_mega_control_size(0), 640);
  assert_int_equal(vyre_mega_control_size(1048576), 640 + 4 * 1048576);
  assert_int_equal(vyre_mega_control_size(1048577), 0);
  ok(vyre_mega_control_encode(&(vyre_mega_control_desc){.slots = 10, .observables = 1}, words, sizeof words));
  refused(vyre_mega_control_validate(words, 639, 0), "not a multiple of 4");
  refused(vyre_mega_control_validate(words, 636, 0), "636 bytes");
  refused(vyre_mega_control_validate((char *)words + 1, 640, 0), "not aligned");
  refused(vyre_mega_control_validate(NULL, 640, 0), "there is no control image");
  refused(vyre_mega_control_word(words, 8, 0, &value), "8 bytes");
  refused(vyre_mega_control_encode(&(vyre_mega_control_desc){.slots = 10}, words, sizeof words), "needs 640");
  refused(vyre_mega_control_encode(&(vyre_mega_control_desc){.observables = UINT32_MAX}, words, sizeof words), "but needs");
  refused(vyre_mega_control_encode(&(vyre_mega_control_desc){.slots = 1048577, .observables = 1}, words, sizeof words),
          "1048577 slots");
  ok(vyre_mega_control_validate(words, sizeof words, 10));
  refused(vyre_mega_control_validate(words, sizeof words, 11), "word 134");
  words[131] = 9;
  refused(vyre_mega_control_validate(words, sizeof words, 10), "word 132");
  words[131] = 4;
  words[129] = 1;
  refused(vyre_mega_control_validate(words, sizeof words, 10), "word 129");
  ok(vyre_mega_control_validate(words, sizeof words, 0));
  words[2] = 4;
  refused(vyre_mega_control_decode(words, sizeof words, &control), "word 2");
}

/* ---- ring ---------------------------------------------------------------------------------------------------------------- */

TEST(a_published_slot_has_these_words)
{
  uint32_t words[32], expected[32] = {0};
  const vyre_mega_item item = {.op = 77, .tenant = 28, .priority = 4, .args = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}};
  vyre_mega_slot slot;
  memset(words, 0xff, sizeof words);
  assert_int_equal(vyre_mega_ring_size(2), 128);
  ok(vyre_mega_ring_encode(2, words, sizeof words));
  assert_memory_equal(words, expected, sizeof words);
  ok(vyre_mega_publish(words, sizeof words, 1, &item));
  memcpy(expected + 16, (uint32_t[]){1, 77, 28, 4, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 64);
  assert_memory_equal(words, expected, sizeof words);
  ok(vyre_mega_slot_read(words, sizeof words, 1, &slot));
  assert_int_equal(slot.state, VYRE_MEGA_PUBLISHED);
  assert_memory_equal(&slot.item, &item, sizeof item);
  assert_int_equal(slot.reason, 0);
  words[16] = 7;
  ok(vyre_mega_slot_read(words, sizeof words, 1, &slot));
  assert_int_equal(slot.reason, 12);
  /* Publishing overwrites the whole slot. */
  ok(vyre_mega_publish(words, sizeof words, 1, &(vyre_mega_item){.op = 0}));
  for (uint32_t i = 17; i < 32; i++)
    assert_int_equal(words[i], 0);
}

TEST(the_host_writes_only_slots_that_it_owns)
{
  static const bool is_hosts[] = {true, false, false, true, false, false, false, true};
  static const bool is_active[] = {false, true, true, false, true, true, true, false};
  static const char *const names[] = {"EMPTY", "PUBLISHED", "CLAIMED", "DONE", "WAIT_IO", "YIELD", "REQUEUE", "FAULT"};
  for (uint32_t s = 0; s < 8; s++) {
    uint32_t words[16] = {s};
    assert_string_equal(vyre_mega_state_text(s), names[s]);
    assert_int_equal(vyre_mega_state_is_active(s), is_active[s]);
    if (is_hosts[s])
      ok(vyre_mega_publish(words, 64, 0, &(vyre_mega_item){.op = 9}));
    else
      refused(vyre_mega_publish(words, 64, 0, &(vyre_mega_item){.op = 9}), names[s]);
    assert_int_equal(words[0], is_hosts[s] ? 1 : s);
    words[0] = s;
    if (s == 3 || s == 7)
      ok(vyre_mega_recycle(words, 64, 0));
    else
      refused(vyre_mega_recycle(words, 64, 0), names[s]);
    assert_int_equal(words[0], s == 3 || s == 7 ? 0 : s);
  }
  assert_string_equal(vyre_mega_state_text(8), "unknown");
  assert_false(vyre_mega_state_is_active(8));
}

TEST(op_codes_are_built_in_reserved_or_free)
{
  static const struct {
    uint32_t op;
    bool is_system, is_builtin;
  } ops[] = {{0, true, true},
             {1, true, true},
             {2, true, true},
             {3, true, true},
             {4, true, true},
             {5, true, true},
             {6, true, true},
             {7, true, true},
             {8, false, false},
             {0xffef, false, false},
             {0xfff0, true, false},
             {0xfffc, true, false},
             {0xfffd, true, false},
             {0xfffe, true, true},
             {0xffff, true, false},
             {0x10000, false, false},
             {0x40100000, false, false},
             {0x7fffffff, false, false},
             {0x80000000, true, false},
             {0x80000001, true, true},
             {0xfffffffe, true, false},
             {0xffffffff, true, true}};
  for (uint32_t i = 0; i < sizeof ops / sizeof *ops; i++) {
    uint32_t words[16] = {0};
    const vyre_mega_item item = {.op = ops[i].op};
    assert_int_equal(vyre_mega_op_is_system(ops[i].op), ops[i].is_system);
    assert_int_equal(vyre_mega_op_is_builtin(ops[i].op), ops[i].is_builtin);
    if (ops[i].is_system && !ops[i].is_builtin)
      refused(vyre_mega_publish(words, 64, 0, &item), "is reserved");
    else
      ok(vyre_mega_publish(words, 64, 0, &item));
    words[0] = 0;
    if (ops[i].op == 0xfffd)
      ok(vyre_mega_publish_io(words, 64, 0, &item));
  }
}

TEST(wrong_items_are_refused)
{
  uint32_t words[32] = {0}, before[32] = {0};
  vyre_mega_item items[3] = {{.op = 9}, {.op = 9}, {.op = 9}};
  vyre_mega_slot slot;
  refused(vyre_mega_publish(words, 128, 0, &(vyre_mega_item){.tenant = 29}), "tenant 29");
  refused(vyre_mega_publish(words, 128, 0, &(vyre_mega_item){.priority = 5}), "priority 5");
  refused(vyre_mega_publish(words, 128, 2, items), "no slot 2");
  refused(vyre_mega_slot_read(words, 128, UINT32_MAX, &slot), "no slot");
  refused(vyre_mega_publish_many(words, 128, 0, items, 3), "item 2");
  items[1].tenant = 99;
  refused(vyre_mega_publish_many(words, 128, 0, items, 2), "tenant 99");
  assert_memory_equal(words, before, sizeof words);
  items[1].tenant = 0;
  ok(vyre_mega_publish_many(words, 128, 0, items, 2));
  assert_int_equal(words[0], 1);
  assert_int_equal(words[16], 1);
}

TEST(wrong_rings_are_refused)
{
  uint32_t words[32] = {0}, counts[8];
  assert_int_equal(vyre_mega_ring_size(1048577), 0);
  assert_int_equal(vyre_mega_ring_size(0), 0);
  refused(vyre_mega_ring_encode(1, words, 128), "needs 64");
  refused(vyre_mega_ring_encode(0, words, 0), "needs 0");
  refused(vyre_mega_ring_validate(words, 128, 3), "needs 192");
  refused(vyre_mega_ring_count(words, 100, counts), "100 bytes");
  refused(vyre_mega_ring_count(words, 0, counts), "0 bytes");
  words[16] = 8;
  refused(vyre_mega_ring_validate(words, 128, 2), "slot 1 has the state 8");
  refused(vyre_mega_ring_count(words, 128, counts), "slot 1 has the state 8");
  for (uint32_t i = 0; i < 8; i++)
    assert_int_equal(counts[i], 0);
  words[16] = 7;
  words[0] = 2;
  ok(vyre_mega_ring_validate(words, 128, 2));
  ok(vyre_mega_ring_count(words, 128, counts));
  for (uint32_t i = 0; i < 8; i++)
    assert_int_equal(counts[i], i == 2 || i == 7);
}

TEST(priorities_and_reasons_have_names)
{
  static const char *const priorities[] = {"CRITICAL", "HIGH", "NORMAL", "LOW", "IDLE", "unknown"};
  for (uint32_t i = 0; i < 6; i++)
    assert_string_equal(vyre_mega_priority_text(i), priorities[i]);
  for (uint32_t i = 0; i < VYRE_MEGA_REASON__COUNT; i++)
    for (uint32_t k = 0; k < i; k++)
      assert_string_not_equal(vyre_mega_reason_text(i), vyre_mega_reason_text(k));
  assert_string_equal(vyre_mega_reason_text(1), "no handler has this op code");
  assert_string_equal(vyre_mega_reason_text(0x20001), "no handler has this op code");
  assert_string_equal(vyre_mega_reason_text(255), "unknown");
  assert_string_equal(vyre_mega_reason_text(256), "the handler's own reason");
}

/* ---- packed -------------------------------------------------------------------------------------------------------------- */

TEST(a_packed_payload_has_these_bytes)
{
  const vyre_mega_packed operations[] = {{1, {10, 11, 12}}, {2, {13, 14, 15}}, {255, {16, 17, 18}}};
  const unsigned char head[] = {3, 9, 1, 0, 2, 3, 255, 6};
  uint32_t payload[12], count;
  vyre_mega_packed out[4];
  ok(vyre_mega_pack(operations, 3, payload));
  assert_memory_equal(payload, head, sizeof head);
  for (uint32_t i = 0; i < 9; i++)
    assert_int_equal(payload[2 + i], 10 + i);
  assert_int_equal(payload[11], 0);
  ok(vyre_mega_unpack(payload, out, &count));
  assert_int_equal(count, 3);
  assert_memory_equal(out, operations, sizeof operations);
  ok(vyre_mega_pack(operations, 1, payload));
  assert_int_equal(payload[0], 0x00010301);
  assert_int_equal(payload[1], 10);
}

TEST(wrong_packed_payloads_are_refused)
{
  uint32_t payload[12], count;
  vyre_mega_packed out[4] = {{0, {0, 0, 0}}};
  refused(vyre_mega_pack(out, 0, payload), "0 packed operations");
  refused(vyre_mega_pack(out, 4, payload), "4 packed operations");
  out[0].op = 256;
  refused(vyre_mega_pack(out, 1, payload), "0x100");
  memset(payload, 0, sizeof payload);
  refused(vyre_mega_unpack(payload, out, &count), "0 operations");
  payload[0] = 5;
  refused(vyre_mega_unpack(payload, out, &count), "5 operations");
  payload[0] = 0x00000b02; /* 2 words of head, and 11 of arguments */
  refused(vyre_mega_unpack(payload, out, &count), "11 words");
  payload[0] = 0x08000a02; /* the arguments of operation 0 would be words 10 to 12 */
  refused(vyre_mega_unpack(payload, out, &count), "operation 0");
  assert_int_equal(count, 0);
  payload[0] = 0x07000a02;
  ok(vyre_mega_unpack(payload, out, &count));
  /* Four operations have a head of three words, and share argument words. */
  memcpy(payload, (unsigned char[]){4, 9, 0, 0, 0, 3, 0, 6, 0, 6, 0, 0}, 12);
  ok(vyre_mega_unpack(payload, out, &count));
  assert_int_equal(count, 4);
}

/* ---- debug log ----------------------------------------------------------------------------------------------------------- */

TEST(debug_records_are_decoded)
{
  uint32_t words[257], count;
  vyre_mega_record records[64];
  memset(words, 0xff, sizeof words);
  ok(vyre_mega_debug_encode(words, sizeof words));
  for (uint32_t i = 0; i < 257; i++)
    assert_int_equal(words[i], 0);
  ok(vyre_mega_debug_decode(words, sizeof words, records, &count));
  assert_int_equal(count, 0);
  for (uint32_t i = 1; i < 257; i++)
    words[i] = i;
  words[0] = 8;
  ok(vyre_mega_debug_decode(words, sizeof words, records, &count));
  assert_int_equal(count, 2);
  assert_memory_equal(&records[1], ((uint32_t[]){5, 6, 7, 8}), 16);
  words[0] = 256;
  ok(vyre_mega_debug_decode(words, sizeof words, records, &count));
  assert_int_equal(count, 64);
  /* Older kernels write a length beyond the end. */
  words[0] = 400;
  ok(vyre_mega_debug_decode(words, sizeof words, records, &count));
  assert_int_equal(count, 64);
  assert_int_equal(records[63].base, 256);
  words[0] = 6;
  refused(vyre_mega_debug_decode(words, sizeof words, records, &count), "6 words");
  refused(vyre_mega_debug_validate(words, 1024), "needs 1028");
  refused(vyre_mega_debug_encode(words, 1024), "needs 1028");
}

/* ---- IO queue ------------------------------------------------------------------------------------------------------------ */

TEST(an_io_request_has_these_words)
{
  uint32_t words[16] = {0};
  const vyre_mega_io request = {
      .op = 2, .source = 11, .destination = 12, .offset = UINT64_C(0x1234567890abcdef), .bytes = 13, .tag = 14};
  vyre_mega_io out;
  assert_int_equal(vyre_mega_io_size(64), 2048);
  assert_int_equal(vyre_mega_io_size(65), 0);
  ok(vyre_mega_io_publish(words, 64, 1, &request));
  for (uint32_t i = 0; i < 8; i++)
    assert_int_equal(words[i], 0);
  assert_memory_equal(words + 8, ((uint32_t[]){2, 11, 12, 0x90abcdef, 0x12345678, 13, 1, 14}), 32);
  ok(vyre_mega_io_read(words, 64, 1, &out));
  assert_int_equal(out.state, 1);
  out.state = 0;
  assert_memory_equal(&out, &request, sizeof out);
  for (uint32_t op = 0; op < 5; op++) {
    words[6] = 0;
    if (op == 0 || op == 4)
      refused(vyre_mega_io_publish(words, 64, 0, &(vyre_mega_io){.op = op}), "no IO operation");
    else
      ok(vyre_mega_io_publish(words, 64, 0, &(vyre_mega_io){.op = op}));
  }
}

TEST(an_io_slot_goes_through_its_states)
{
  uint32_t words[24] = {0}, slots[64], count;
  bool claimed;
  ok(vyre_mega_io_publish(words, 96, 0, &(vyre_mega_io){.op = 1}));
  ok(vyre_mega_io_publish(words, 96, 2, &(vyre_mega_io){.op = 1}));
  refused(vyre_mega_io_publish(words, 96, 2, &(vyre_mega_io){.op = 1}), "PUBLISHED");
  ok(vyre_mega_io_poll(words, 96, slots, &count));
  assert_int_equal(count, 2);
  assert_int_equal(slots[0], 0);
  assert_int_equal(slots[1], 2);
  refused(vyre_mega_io_complete(words, 96, slots, (int64_t[]){1, 1}, 2), "PUBLISHED");
  ok(vyre_mega_io_claim(words, 96, 0, &claimed));
  assert_true(claimed);
  ok(vyre_mega_io_claim(words, 96, 0, &claimed));
  assert_false(claimed);
  /* IO slot 2 is not claimed, so no slot is completed. */
  refused(vyre_mega_io_complete(words, 96, slots, (int64_t[]){1, 1}, 2), "IO slot 2");
  assert_int_equal(words[6], 2);
  ok(vyre_mega_io_claim(words, 96, 2, &claimed));
  refused(vyre_mega_io_complete(words, 96, (uint32_t[]){0, 0}, (int64_t[]){1, 1}, 2), "twice");
  refused(vyre_mega_io_complete(words, 96, slots, (int64_t[]){1, -4096}, 2), "IO slot 2 has the invalid result -4096");
  refused(vyre_mega_io_complete(words, 96, slots, (int64_t[]){INT64_C(1) << 32, 1}, 2), "IO slot 0 has the invalid result");
  assert_int_equal(words[6], 2);
  refused(vyre_mega_io_recycle(words, 96, 0), "CLAIMED");
  ok(vyre_mega_io_complete(words, 96, slots, (int64_t[]){UINT32_MAX, -4095}, 2));
  assert_int_equal(words[6], 16);
  assert_int_equal(words[22], 17);
  assert_int_equal(words[5], UINT32_MAX);
  assert_int_equal(words[21], 4095);
  ok(vyre_mega_io_recycle(words, 96, 0));
  ok(vyre_mega_io_recycle(words, 96, 2));
  assert_int_equal(words[6], 0);
  assert_int_equal(words[22], 0);
  refused(vyre_mega_io_recycle(words, 96, 2), "EMPTY");
}

TEST(abandoned_io_requests_are_emptied)
{
  uint32_t words[16] = {0}, slots[VYRE_MEGA_IO_SLOTS], count;
  bool claimed;
  refused(vyre_mega_io_abandon(words, 64, 1), "EMPTY");
  /* The next poll empties an unclaimed request, and completion empties a claimed one.  The requester must not write the state. */
  ok(vyre_mega_io_publish(words, 64, 0, &(vyre_mega_io){.op = 1}));
  ok(vyre_mega_io_publish(words, 64, 1, &(vyre_mega_io){.op = 1}));
  ok(vyre_mega_io_claim(words, 64, 1, &claimed));
  ok(vyre_mega_io_abandon(words, 64, 0));
  ok(vyre_mega_io_abandon(words, 64, 1));
  assert_int_equal(words[0], VYRE_MEGA_IO_GIVEN_UP);
  assert_int_equal(words[6], VYRE_MEGA_PUBLISHED);
  assert_int_equal(words[14], VYRE_MEGA_CLAIMED);
  refused(vyre_mega_io_abandon(words, 64, 1), "CLAIMED");
  refused(vyre_mega_io_recycle(words, 64, 1), "CLAIMED");
  ok(vyre_mega_io_poll(words, 64, slots, &count));
  assert_int_equal(count, 0);
  assert_int_equal(words[6], VYRE_MEGA_EMPTY);
  assert_int_equal(words[14], VYRE_MEGA_CLAIMED);
  ok(vyre_mega_io_complete(words, 64, (uint32_t[]){1}, (int64_t[]){9}, 1));
  assert_int_equal(words[14], VYRE_MEGA_EMPTY);
  /* A completed request is emptied by the requester, or by the next poll if the requester cancels it before seeing the
   * completion. */
  for (uint32_t i = 0; i < 2; i++) {
    ok(vyre_mega_io_publish(words, 64, 1, &(vyre_mega_io){.op = 1}));
    ok(vyre_mega_io_claim(words, 64, 1, &claimed));
    ok(vyre_mega_io_complete(words, 64, (uint32_t[]){1}, (int64_t[]){i ? -9 : 9}, 1));
    words[8] = VYRE_MEGA_IO_GIVEN_UP;
    refused(vyre_mega_io_abandon(words, 64, 1), i ? "ERROR" : "OK");
    ok(vyre_mega_io_poll(words, 64, slots, &count));
    assert_int_equal(words[14], VYRE_MEGA_EMPTY);
  }
  ok(vyre_mega_io_publish(words, 64, 1, &(vyre_mega_io){.op = 1}));
  ok(vyre_mega_io_claim(words, 64, 1, &claimed));
  ok(vyre_mega_io_complete(words, 64, (uint32_t[]){1}, (int64_t[]){9}, 1));
  ok(vyre_mega_io_abandon(words, 64, 1));
  assert_int_equal(words[14], VYRE_MEGA_EMPTY);
}

TEST(wrong_io_queues_are_refused)
{
  uint32_t words[520] = {0}, count;
  vyre_mega_io out;
  bool claimed;
  refused(vyre_mega_io_encode(0, words, 0), "needs 0");
  refused(vyre_mega_io_encode(2, words, 32), "needs 64");
  refused(vyre_mega_io_validate(words, 0), "0 bytes");
  refused(vyre_mega_io_validate(words, 48), "48 bytes");
  refused(vyre_mega_io_validate(words, 65 * 32), "2080 bytes");
  ok(vyre_mega_io_validate(words, 2048));
  refused(vyre_mega_io_read(words, 64, 2, &out), "no slot 2");
  refused(vyre_mega_io_claim(words, 64, 2, &claimed), "no slot 2");
  words[0] = 1;
  words[6] = 0x12;
  refused(vyre_mega_io_read(words, 64, 0, &out), "state 18");
  refused(vyre_mega_io_validate(words, 64), "IO slot 0");
  refused(vyre_mega_io_poll(words, 48, words + 100, &count), "48 bytes");
  /* In a queue in use, a slot with an invalid state ends with an error, and the other slots continue. */
  ok(vyre_mega_io_publish(words, 64, 1, &(vyre_mega_io){.op = 1}));
  ok(vyre_mega_io_poll(words, 64, words + 100, &count));
  assert_int_equal(count, 1);
  assert_int_equal(words[100], 1);
  assert_int_equal(words[6], VYRE_MEGA_IO_ERROR);
  assert_int_equal(words[5], 5); /* EIO */
  ok(vyre_mega_io_validate(words, 64));
}
