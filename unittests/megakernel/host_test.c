/* The host's services for a live kernel: tenants, telemetry, the log of items.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "live_items.h"
#include "vyre/io.h"
#include "vyre/megakernel_host.h"

#include <endian.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define ANY 0xffffffffu
enum { SLOTS = 32 };

static vyre_mega_tenants *tenants; /* of the live kernel */

static world *
start(void)
{
  world *w = live_start(VYRE_MEGA_PERSISTENT, SLOTS,
                        (vyre_mega_live_options){.struct_size = sizeof(vyre_mega_live_options), .observables = 8});
  ok(vyre_mega_tenants_create(w->live, &tenants));
  return w;
}

static void
stop(world *w)
{
  vyre_mega_tenants_destroy(tenants);
  live_stop(w, NULL, NULL);
}

static uint32_t
add(uint32_t most, uint32_t quota)
{
  uint32_t tenant;
  ok(vyre_mega_tenants_add(tenants, most, quota, &tenant));
  return tenant;
}

/* Publishes an item of the tenant's window.  It ends as a FAULT, because no handler has its op code. */
static void
publish(uint32_t tenant, vyre_mega_published wanted, vyre_mega_ticket *ticket)
{
  vyre_mega_published published;
  ok(vyre_mega_tenants_publish(tenants, tenant, &ITEM(.op = vyre_mega_window(tenant) + 5), ticket, &published));
  assert_int_equal(published, wanted);
}

static vyre_mega_slot
await(uint32_t tenant, vyre_mega_ticket ticket)
{
  vyre_mega_slot slot;
  for (bool ended = false; !ended; sched_yield())
    ok(vyre_mega_tenants_poll(tenants, tenant, ticket, &slot, &ended));
  return slot;
}

static void
are_under_way(uint32_t tenant, uint32_t count)
{
  assert_int_equal(vyre_mega_tenants_under_way(tenants, tenant), count);
}

/* ---- tenants ------------------------------------------------------------------------------------------------------------- */

TEST(tenants_have_separate_windows_of_op_codes)
{
  world *w = start();
  vyre_mega_ticket ticket;
  vyre_mega_published published;
  uint32_t tenant;
  for (uint32_t i = 1; i < VYRE_MEGA_TENANTS; i++) {
    assert_int_equal(add(1, ANY), i);
    assert_false(vyre_mega_op_is_system(vyre_mega_window(i)));
    assert_false(vyre_mega_op_is_system(vyre_mega_window(i) + VYRE_MEGA_WINDOW_SIZE - 1));
    assert_true(vyre_mega_window(i) >= vyre_mega_window(i - 1) + VYRE_MEGA_WINDOW_SIZE);
  }
  refused(vyre_mega_tenants_add(tenants, 1, ANY, &tenant), "28 tenants already");
  assert_int_equal(tenant, 0);
  const uint32_t wrong[] = {0, 8, vyre_mega_window(3) - 1, vyre_mega_window(4), VYRE_MEGA_OP_SHUT_DOWN};
  for (uint32_t i = 0; i < 5; i++)
    refused(vyre_mega_tenants_publish(tenants, 3, &ITEM(.op = wrong[i]), &ticket, &published), "does not belong to tenant 3");
  refused(vyre_mega_tenants_publish(tenants, 0, &ITEM(.op = 0), &ticket, &published), "no tenant 0");
  refused(vyre_mega_tenants_publish(tenants, 29, &ITEM(.op = 0), &ticket, &published), "no tenant 29");
  publish(28, VYRE_MEGA_IS_PUBLISHED, &ticket);
  const vyre_mega_slot slot = await(28, ticket);
  assert_int_equal(slot.item.tenant, 28);
  assert_int_equal(slot.reason, VYRE_MEGA_REASON_OP);
  refused(vyre_mega_tenants_add(tenants, 0, ANY, &tenant), "0 items at once");
  stop(w);
}

TEST(a_tenant_at_its_limit_does_not_block_others)
{
  world *w = start();
  vyre_mega_ticket tickets[3], more;
  bool published;
  const uint32_t tenant = add(3, ANY), other = add(SLOTS, ANY);
  live_set(w, VYRE_MEGA_MASKS + tenant, 0);
  for (uint32_t i = 0; i < 3; i++)
    publish(tenant, VYRE_MEGA_IS_PUBLISHED, &tickets[i]);
  publish(tenant, VYRE_MEGA_IS_HELD_BACK, &more);
  are_under_way(tenant, 3);
  publish(other, VYRE_MEGA_IS_PUBLISHED, &more);
  await(other, more);
  /* An item that a full ring refuses does not count for the tenant. */
  live_set(w, VYRE_MEGA_MASKS + 9, 0);
  for (uint32_t i = 3; i < SLOTS; i++)
    ok(vyre_mega_live_publish(w->live, &ITEM(.tenant = 9), NULL, &published));
  publish(other, VYRE_MEGA_RING_IS_FULL, &more);
  are_under_way(other, 0);
  live_set(w, VYRE_MEGA_MASKS + 9, 1);
  live_set(w, VYRE_MEGA_MASKS + tenant, 1);
  await(tenant, tickets[0]);
  are_under_way(tenant, 2);
  publish(tenant, VYRE_MEGA_IS_PUBLISHED, &tickets[0]);
  for (uint32_t i = 0; i < 3; i++)
    await(tenant, tickets[i]);
  stop(w);
}

/* Items of a tenant do not change the counts of another one. */
TEST(tickets_belong_to_their_tenants)
{
  world *w = start();
  vyre_mega_ticket ticket, hosts;
  vyre_mega_published published;
  vyre_mega_slot slot;
  bool ended;
  const uint32_t tenant = add(1, ANY), other = add(1, ANY);
  publish(tenant, VYRE_MEGA_IS_PUBLISHED, &ticket);
  ok(vyre_mega_live_publish(w->live, &ITEM(.op = 0), &hosts, &ended));
  ok(vyre_mega_live_drain(w->live));
  refused(vyre_mega_tenants_poll(tenants, other, ticket, &slot, &ended), "does not belong to tenant 2");
  refused(vyre_mega_tenants_poll(tenants, other, hosts, &slot, &ended), "does not belong to tenant 2");
  refused(vyre_mega_tenants_poll(tenants, other, (vyre_mega_ticket){.slot = SLOTS}, &slot, &ended), "does not belong to tenant 2");
  assert_false(ended);
  are_under_way(other, 0);
  await(tenant, ticket);
  refused(vyre_mega_tenants_publish(tenants, tenant, &ITEM(.op = vyre_mega_window(tenant)), NULL, &published), "a ticket");
  are_under_way(tenant, 0);
  stop(w);
}

TEST(a_revoked_tenant_quiesces_and_its_number_is_reused)
{
  world *w = start();
  vyre_mega_ticket ticket, more;
  vyre_mega_published published;
  const uint32_t tenant = add(3, 2);
  live_set(w, VYRE_MEGA_MASKS + tenant, 0);
  publish(tenant, VYRE_MEGA_IS_PUBLISHED, &ticket);
  refused(vyre_mega_tenants_quiesce(tenants, tenant, 1), "still publishes");
  ok(vyre_mega_tenants_revoke(tenants, tenant));
  refused(vyre_mega_tenants_publish(tenants, tenant, &ITEM(.op = vyre_mega_window(tenant)), &more, &published), "was revoked");
  refused(vyre_mega_tenants_quiesce(tenants, tenant, 1), "still has 1 items in flight");
  live_set(w, VYRE_MEGA_MASKS + tenant, 1);
  await(tenant, ticket);
  ok(vyre_mega_tenants_quiesce(tenants, tenant, 0));
  refused(vyre_mega_tenants_revoke(tenants, tenant), "no tenant 1");
  assert_int_equal(add(3, 1), tenant);
  /* The new tenant has its own quota. */
  publish(tenant, VYRE_MEGA_IS_PUBLISHED, &ticket);
  assert_int_equal(await(tenant, ticket).reason, VYRE_MEGA_REASON_OP);
  publish(tenant, VYRE_MEGA_IS_PUBLISHED, &ticket);
  assert_int_equal(await(tenant, ticket).reason, VYRE_MEGA_REASON_QUOTA);
  stop(w);
}

enum { THREADS = 4, EACH = 200, MOST = 7 };

typedef struct publisher {
  uint32_t tenant, ended;
  bool is_wrong;
} publisher;

static void *
publish_some(void *user)
{
  publisher *p = user;
  while (p->ended < EACH && !p->is_wrong) {
    const vyre_mega_item item = {.op = vyre_mega_window(p->tenant)};
    vyre_mega_ticket ticket;
    vyre_mega_published published;
    vyre_mega_slot slot;
    bool ended = false;
    vyre_status status = vyre_mega_tenants_publish(tenants, p->tenant, &item, &ticket, &published);
    p->is_wrong |= vyre_mega_tenants_under_way(tenants, p->tenant) > MOST;
    while (!status && published == VYRE_MEGA_IS_PUBLISHED && !ended) {
      status = vyre_mega_tenants_poll(tenants, p->tenant, ticket, &slot, &ended);
      sched_yield();
    }
    p->is_wrong |= status != NULL;
    p->ended += ended;
    vyre_status_free(status);
  }
  return NULL;
}

TEST(threads_may_share_a_tenant)
{
  world *w = start();
  publisher publishers[THREADS];
  pthread_t threads[THREADS];
  const uint32_t tenant = add(MOST, ANY);
  for (uint32_t i = 0; i < THREADS; i++) {
    publishers[i] = (publisher){.tenant = tenant};
    assert_int_equal(pthread_create(&threads[i], NULL, publish_some, &publishers[i]), 0);
  }
  for (uint32_t i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  for (uint32_t i = 0; i < THREADS; i++)
    assert_false(publishers[i].is_wrong);
  are_under_way(tenant, 0);
  ok(vyre_mega_tenants_revoke(tenants, tenant));
  ok(vyre_mega_tenants_quiesce(tenants, tenant, 0));
  stop(w);
}

/* ---- telemetry ----------------------------------------------------------------------------------------------------------- */

TEST(telemetry_counts_slots_and_items)
{
  world *w = start();
  vyre_mega_telemetry idle, stuck, still, done;
  vyre_bytes text = {0};
  bool published;
  ok(vyre_mega_telemetry_read(w->live, &idle));
  assert_int_equal(idle.states[VYRE_MEGA_EMPTY], SLOTS);
  assert_int_equal(idle.depth, 0);
  live_set(w, VYRE_MEGA_MASKS + 3, 0);
  for (uint32_t i = 0; i < 8; i++)
    ok(vyre_mega_live_publish(w->live, &ITEM(.op = i ? 1 : 6, .tenant = 3, .args = {1, 160}), NULL, &published));
  ok(vyre_mega_telemetry_read(w->live, &stuck));
  ok(vyre_mega_telemetry_read(w->live, &still));
  assert_int_equal(stuck.depth, 8);
  assert_int_equal(stuck.states[VYRE_MEGA_PUBLISHED], 8);
  live_set(w, VYRE_MEGA_MASKS + 3, 1);
  ok(vyre_mega_live_drain(w->live));
  do /* a launch updates the counts in its last step */
    ok(vyre_mega_telemetry_read(w->live, &done));
  while (done.control.done + done.control.faults < 8 || done.control.metrics[1] < 7);
  const vyre_mega_window_stats nothing = vyre_mega_window_between(&idle, &idle), waits = vyre_mega_window_between(&stuck, &still);
  const vyre_mega_window_stats all = vyre_mega_window_between(&still, &done);
  assert_true(nothing.is_idle && !nothing.may_be_stuck && nothing.rate == 0);
  assert_true(!waits.is_idle && waits.may_be_stuck && waits.occupancy == 0.25);
  assert_true(!all.is_idle && !all.may_be_stuck && all.occupancy == 0 && all.rate > 0);
  vyre_mega_telemetry busy = done;
  busy.depth = 3;
  assert_false(vyre_mega_window_between(&still, &busy).may_be_stuck); /* because items ended */
  assert_int_equal(all.done, 7);
  assert_int_equal(all.faults, 1);
  ok(vyre_bytes_printf(&text, "before\n"));
  ok(vyre_mega_telemetry_text(&done, &text));
  static const char *const lines[] = {"before\n# HELP vyre_mega_done_total ",
                                      "\n# TYPE vyre_mega_done_total counter\nvyre_mega_done_total 7\n",
                                      "\nvyre_mega_faults_total 1\n",
                                      "\nvyre_mega_queue_depth 0\n",
                                      "\nvyre_mega_slots_by_state{state=\"DONE\"} 7\n",
                                      "\nvyre_mega_slots_by_state{state=\"FAULT\"} 1\n",
                                      "\nvyre_mega_op_total{op=\"1\"} 7\n",
                                      "\nvyre_mega_priority_total{priority=\"CRITICAL\"} 0\n"};
  for (uint32_t i = 0; i < sizeof lines / sizeof *lines; i++)
    if (!strstr(text.data, lines[i]))
      fail_msg("'%s' is not in:\n%s", lines[i], text.data);
  assert_null(strstr(text.data, "op=\"2\"")); /* counts of 0 are omitted */
  vyre_bytes_free(&text);
  stop(w);
}

/* ---- the log ------------------------------------------------------------------------------------------------------------- */

#ifdef MEGA_CPU /* the log does not depend on the target */

enum { ITEMS = 5 };

static char path[64];

static vyre_mega_item
item_of(uint32_t i)
{
  vyre_mega_item item = {.op = i, .tenant = i + 1, .priority = i % 5};
  for (uint32_t k = 0; k < VYRE_MEGA_ARGS; k++)
    item.args[k] = i * 100 + k;
  return item;
}

static void
append(uint32_t first, uint32_t count)
{
  vyre_mega_log *log;
  ok(vyre_mega_log_open(path, &log));
  for (uint32_t i = first; i < first + count; i++) {
    uint64_t number;
    const vyre_mega_item item = item_of(i);
    ok(vyre_mega_log_item(log, &item, &number));
    assert_int_equal(number, i);
    if (i % 2)
      ok(vyre_mega_log_end(log, number, &(vyre_mega_slot){.state = VYRE_MEGA_FAULT, .reason = i}));
  }
  ok(vyre_mega_log_close(log));
}

static void
log_has(uint64_t items, uint64_t dropped)
{
  vyre_mega_logs logs;
  ok(vyre_mega_log_read(path, &logs));
  assert_int_equal(logs.count, items);
  assert_int_equal(logs.dropped, dropped);
  for (uint32_t i = 0; i < items; i++) {
    const vyre_mega_item item = item_of(i);
    assert_memory_equal(&logs.items[i].item, &item, sizeof item);
    assert_true(logs.items[i].ns > 0);
    if (logs.items[i].has_ended)
      assert_int_equal(logs.items[i].reason, i);
  }
  vyre_mega_logs_free(&logs);
}

static void
make_path(void)
{
  strcpy(path, "/tmp/vyre-log-XXXXXX");
  const int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
}

TEST(a_log_keeps_appended_items)
{
  vyre_mega_logs logs;
  make_path();
  append(0, ITEMS);
  append(ITEMS, 2);
  log_has(ITEMS + 2, 0);
  ok(vyre_mega_log_read(path, &logs));
  for (uint32_t i = 0; i < logs.count; i++)
    assert_int_equal(logs.items[i].has_ended, i % 2);
  assert_int_equal(logs.bytes, 32 + 104 * (ITEMS + 2 + 3));
  vyre_mega_logs_free(&logs);
  unlink(path);
}

/* The log is cut at each byte, and each byte is changed.  Records before the damage are read, and later appends follow them. */
TEST(a_damaged_log_keeps_the_records_before_the_damage)
{
  vyre_bytes whole = {0};
  make_path();
  append(0, 2);
  ok(vyre_file_read(path, &whole));
  assert_int_equal(whole.size, 32 + 3 * 104);
  for (size_t size = 32; size <= whole.size; size++) {
    const size_t records = (size - 32) / 104;
    ok(vyre_file_write(path, whole.data, size));
    log_has(records < 2 ? records : 2, size - 32 - records * 104);
    if (size % 50 == 0) {
      append((uint32_t)(records < 2 ? records : 2), 1);
      log_has((records < 2 ? records : 2) + 1, 0);
    }
  }
  for (size_t at = 0; at < whole.size; at++) {
    whole.data[at] ^= 0x10;
    ok(vyre_file_write(path, whole.data, whole.size));
    vyre_mega_logs logs;
    vyre_mega_log *log;
    if (at < 32) {
      refused(vyre_mega_log_read(path, &logs), "not a log of a megakernel's items");
      refused(vyre_mega_log_open(path, &log), "not a log of a megakernel's items");
      assert_null(log);
    } else {
      const size_t records = (at - 32) / 104;
      log_has(records < 2 ? records : 2, whole.size - 32 - records * 104);
      if (at % 16 == 0) {
        append(0, 0); /* opening truncates the log */
        log_has(records < 2 ? records : 2, 0);
      }
    }
    whole.data[at] ^= 0x10;
  }
  vyre_bytes_free(&whole);
  unlink(path);
}

TEST(invalid_logs_are_refused)
{
  vyre_mega_logs logs;
  vyre_mega_log *log;
  refused(vyre_mega_log_open("/nowhere/log", &log), "cannot be opened");
  vyre_status status = vyre_mega_log_read("/nowhere/log", &logs);
  assert_non_null(status);
  vyre_status_free(status);
  ok(vyre_mega_log_close(NULL));
  make_path();
  append(0, 1);
  ok(vyre_mega_log_open(path, &log)); /* the end of an item that is not in the log */
  ok(vyre_mega_log_end(log, 1, &(vyre_mega_slot){.state = VYRE_MEGA_DONE}));
  ok(vyre_mega_log_close(log));
  log_has(1, 104);
  unlink(path);
}

/* The records have valid checksums. */
TEST(items_with_invalid_fields_are_refused)
{
  enum { PRIORITY = 32 + 40, TENANT = 32 + 36, SUM = 32 + 96 };
  static const struct {
    size_t at;
    unsigned char value;
  } cases[] = {{PRIORITY, VYRE_MEGA_LEVELS}, {PRIORITY + 3, 0x80}, {TENANT, VYRE_MEGA_TENANTS}};
  vyre_mega_log *log;
  uint64_t number;
  for (uint32_t i = 0; i < 3; i++) {
    vyre_bytes whole = {0};
    make_path();
    append(0, 1);
    ok(vyre_file_read(path, &whole));
    whole.data[cases[i].at] = (char)cases[i].value;
    const uint64_t sum = htole64(XXH64(whole.data + 32, SUM - 32, 0));
    memcpy(whole.data + SUM, &sum, sizeof sum);
    ok(vyre_file_write(path, whole.data, whole.size));
    log_has(0, 104);
    vyre_bytes_free(&whole);
    ok(vyre_mega_log_open(path, &log));
    refused(vyre_mega_log_item(log, &ITEM(.priority = VYRE_MEGA_LEVELS), &number), "no item has priority 5");
    refused(vyre_mega_log_item(log, &ITEM(.tenant = VYRE_MEGA_TENANTS), &number), "tenant 29");
    ok(vyre_mega_log_close(log));
    unlink(path);
  }
}

/* The disk is full for one append. */
TEST(a_partial_record_is_overwritten)
{
  const vyre_mega_item items[] = {item_of(0), item_of(1), item_of(2)};
  vyre_mega_log *log;
  struct rlimit whole, small;
  uint64_t number;
  make_path();
  ok(vyre_mega_log_open(path, &log));
  ok(vyre_mega_log_item(log, &items[0], &number));
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &whole), 0);
  small = (struct rlimit){32 + 104 + 50, whole.rlim_max};
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  vyre_status status = vyre_mega_log_item(log, &items[1], &number);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &whole), 0);
  refused(status, "cannot be written");
  for (uint32_t i = 1; i < 3; i++) {
    ok(vyre_mega_log_item(log, &items[i], &number));
    assert_int_equal(number, i);
  }
  ok(vyre_mega_log_close(log));
  log_has(3, 0);
  unlink(path);
  assert_int_equal(mkfifo(path, 0600), 0);
  refused(vyre_mega_log_open(path, &log), "cannot be opened");
  unlink(path);
}

#endif

TEST_MAIN(NULL, device_end)
