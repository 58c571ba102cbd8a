/* What a host keeps beside a live kernel: tenants, the log of items, telemetry.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../hang.h"
#include "mega.h"
#include "vyre/io.h"
#include "vyre/megakernel_host.h"

#include <endian.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define ITEM(...) ((vyre_mega_item){__VA_ARGS__})

#define ANY 0xffffffffu
enum { SLOTS = 32 };

typedef struct living {
  world *w;
  vyre_mega *mega;
  vyre_mega_live *live;
  vyre_mega_tenants *tenants;
} living;

static living
start(void)
{
  living l = {.w = world_make(SLOTS, 0)};
  vyre_mega_options options = {.program = {.build = VYRE_MEGA_PERSISTENT}, .slots = SLOTS};
#ifdef MEGA_CUDA /* each lane takes a simulator's time */
  options.workgroup = 32;
  options.groups = 1;
#endif
  ok(vyre_mega_create(ops, l.w->target, &options, &l.mega));
  ok(vyre_mega_live_start(l.mega, &(vyre_mega_live_options){.observables = 8}, &l.live));
  ok(vyre_mega_tenants_create(l.live, &l.tenants));
  return l;
}

static void
stop(living *l)
{
  vyre_mega_tenants_destroy(l->tenants);
  ok(vyre_mega_live_stop(l->live, NULL, NULL));
  ok(vyre_mega_destroy(l->mega));
  world_free(l->w);
}

static uint32_t
add(const living *l, uint32_t most, uint32_t quota)
{
  uint32_t tenant;
  ok(vyre_mega_tenants_add(l->tenants, most, quota, &tenant));
  return tenant;
}

/* No program has a handler for a window's op codes here: they end FAULT. */
static vyre_mega_published
publish(const living *l, uint32_t tenant, vyre_mega_ticket *ticket)
{
  vyre_mega_published published;
  ok(vyre_mega_tenants_publish(l->tenants, tenant, &ITEM(.op = vyre_mega_window(tenant) + 5), ticket, &published));
  return published;
}

static vyre_mega_slot
await(const living *l, uint32_t tenant, vyre_mega_ticket ticket)
{
  vyre_mega_slot slot;
  for (bool ended = false; !ended; sched_yield())
    ok(vyre_mega_tenants_poll(l->tenants, tenant, ticket, &slot, &ended));
  return slot;
}

/* ---- tenants ------------------------------------------------------------------------------------------------------------- */

TEST(tenants_have_windows_that_fit)
{
  living l = start();
  vyre_mega_ticket ticket;
  vyre_mega_published published;
  uint32_t tenant;
  for (uint32_t i = 1; i < VYRE_MEGA_TENANTS; i++) {
    assert_int_equal(add(&l, 1, ANY), i);
    assert_false(vyre_mega_op_is_system(vyre_mega_window(i)));
    assert_false(vyre_mega_op_is_system(vyre_mega_window(i) + VYRE_MEGA_WINDOW_SIZE - 1));
    assert_true(vyre_mega_window(i) >= vyre_mega_window(i - 1) + VYRE_MEGA_WINDOW_SIZE);
  }
  refused(vyre_mega_tenants_add(l.tenants, 1, ANY, &tenant), "28 tenants already");
  assert_int_equal(tenant, 0);
  const uint32_t wrong[] = {0, 8, vyre_mega_window(3) - 1, vyre_mega_window(4), VYRE_MEGA_OP_SHUT_DOWN};
  for (uint32_t i = 0; i < 5; i++)
    refused(vyre_mega_tenants_publish(l.tenants, 3, &ITEM(.op = wrong[i]), &ticket, &published), "none of tenant 3's");
  refused(vyre_mega_tenants_publish(l.tenants, 0, &ITEM(.op = 0), &ticket, &published), "no tenant 0");
  refused(vyre_mega_tenants_publish(l.tenants, 29, &ITEM(.op = 0), &ticket, &published), "no tenant 29");
  assert_int_equal(publish(&l, 28, &ticket), VYRE_MEGA_IS_PUBLISHED);
  const vyre_mega_slot slot = await(&l, 28, ticket);
  assert_int_equal(slot.item.tenant, 28);
  assert_int_equal(slot.reason, VYRE_MEGA_REASON_OP);
  refused(vyre_mega_tenants_add(l.tenants, 0, ANY, &tenant), "0 items at once");
  stop(&l);
}

TEST(a_tenant_is_held_back_by_its_own_items)
{
  living l = start();
  vyre_mega_ticket tickets[3], more;
  bool published;
  const uint32_t tenant = add(&l, 3, ANY), other = add(&l, SLOTS, ANY);
  ok(vyre_mega_live_set(l.live, VYRE_MEGA_MASKS + tenant, 0));
  for (uint32_t i = 0; i < 3; i++)
    assert_int_equal(publish(&l, tenant, &tickets[i]), VYRE_MEGA_IS_PUBLISHED);
  assert_int_equal(publish(&l, tenant, &more), VYRE_MEGA_IS_HELD_BACK);
  assert_int_equal(vyre_mega_tenants_under_way(l.tenants, tenant), 3);
  assert_int_equal(publish(&l, other, &more), VYRE_MEGA_IS_PUBLISHED);
  await(&l, other, more);
  /* A ring that is full takes no room of the tenant's. */
  ok(vyre_mega_live_set(l.live, VYRE_MEGA_MASKS + 9, 0));
  for (uint32_t i = 3; i < SLOTS; i++)
    ok(vyre_mega_live_publish(l.live, &ITEM(.tenant = 9), NULL, &published));
  assert_int_equal(publish(&l, other, &more), VYRE_MEGA_RING_IS_FULL);
  assert_int_equal(vyre_mega_tenants_under_way(l.tenants, other), 0);
  ok(vyre_mega_live_set(l.live, VYRE_MEGA_MASKS + 9, 1));
  ok(vyre_mega_live_set(l.live, VYRE_MEGA_MASKS + tenant, 1));
  await(&l, tenant, tickets[0]);
  assert_int_equal(vyre_mega_tenants_under_way(l.tenants, tenant), 2);
  assert_int_equal(publish(&l, tenant, &tickets[0]), VYRE_MEGA_IS_PUBLISHED);
  for (uint32_t i = 0; i < 3; i++)
    await(&l, tenant, tickets[i]);
  stop(&l);
}

/* Counts of one are not changed by items of another. */
TEST(tickets_are_their_tenants)
{
  living l = start();
  vyre_mega_ticket ticket, hosts;
  vyre_mega_published published;
  vyre_mega_slot slot;
  bool ended;
  const uint32_t tenant = add(&l, 1, ANY), other = add(&l, 1, ANY);
  assert_int_equal(publish(&l, tenant, &ticket), VYRE_MEGA_IS_PUBLISHED);
  ok(vyre_mega_live_publish(l.live, &ITEM(.op = 0), &hosts, &ended));
  ok(vyre_mega_live_drain(l.live));
  refused(vyre_mega_tenants_poll(l.tenants, other, ticket, &slot, &ended), "none of tenant 2's");
  refused(vyre_mega_tenants_poll(l.tenants, other, hosts, &slot, &ended), "none of tenant 2's");
  refused(vyre_mega_tenants_poll(l.tenants, other, (vyre_mega_ticket){.slot = SLOTS}, &slot, &ended), "none of tenant 2's");
  assert_false(ended);
  assert_int_equal(vyre_mega_tenants_under_way(l.tenants, other), 0);
  await(&l, tenant, ticket);
  refused(vyre_mega_tenants_publish(l.tenants, tenant, &ITEM(.op = vyre_mega_window(tenant)), NULL, &published), "a ticket");
  assert_int_equal(vyre_mega_tenants_under_way(l.tenants, tenant), 0);
  stop(&l);
}

TEST(what_is_revoked_becomes_quiet_and_its_number_is_free)
{
  living l = start();
  vyre_mega_ticket ticket, more;
  vyre_mega_published published;
  const uint32_t tenant = add(&l, 3, 2);
  ok(vyre_mega_live_set(l.live, VYRE_MEGA_MASKS + tenant, 0));
  assert_int_equal(publish(&l, tenant, &ticket), VYRE_MEGA_IS_PUBLISHED);
  refused(vyre_mega_tenants_quiesce(l.tenants, tenant, 1), "still publishes");
  ok(vyre_mega_tenants_revoke(l.tenants, tenant));
  refused(vyre_mega_tenants_publish(l.tenants, tenant, &ITEM(.op = vyre_mega_window(tenant)), &more, &published), "was revoked");
  refused(vyre_mega_tenants_quiesce(l.tenants, tenant, 1), "has 1 items under way still");
  ok(vyre_mega_live_set(l.live, VYRE_MEGA_MASKS + tenant, 1));
  await(&l, tenant, ticket);
  ok(vyre_mega_tenants_quiesce(l.tenants, tenant, 0));
  refused(vyre_mega_tenants_revoke(l.tenants, tenant), "no tenant 1");
  assert_int_equal(add(&l, 3, 1), tenant);
  /* Its quota is its own. */
  assert_int_equal(publish(&l, tenant, &ticket), VYRE_MEGA_IS_PUBLISHED);
  assert_int_equal(await(&l, tenant, ticket).reason, VYRE_MEGA_REASON_OP);
  assert_int_equal(publish(&l, tenant, &ticket), VYRE_MEGA_IS_PUBLISHED);
  assert_int_equal(await(&l, tenant, ticket).reason, VYRE_MEGA_REASON_QUOTA);
  stop(&l);
}

enum { THREADS = 4, EACH = 200, MOST = 7 };

typedef struct publisher {
  const living *l;
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
    vyre_status status = vyre_mega_tenants_publish(p->l->tenants, p->tenant, &item, &ticket, &published);
    p->is_wrong |= vyre_mega_tenants_under_way(p->l->tenants, p->tenant) > MOST;
    while (!status && published == VYRE_MEGA_IS_PUBLISHED && !ended) {
      status = vyre_mega_tenants_poll(p->l->tenants, p->tenant, ticket, &slot, &ended);
      sched_yield();
    }
    p->is_wrong |= status != NULL;
    p->ended += ended;
    vyre_status_free(status);
  }
  return NULL;
}

TEST(threads_share_a_tenant)
{
  living l = start();
  publisher publishers[THREADS];
  pthread_t threads[THREADS];
  const uint32_t tenant = add(&l, MOST, ANY);
  for (uint32_t i = 0; i < THREADS; i++) {
    publishers[i] = (publisher){.l = &l, .tenant = tenant};
    assert_int_equal(pthread_create(&threads[i], NULL, publish_some, &publishers[i]), 0);
  }
  for (uint32_t i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  for (uint32_t i = 0; i < THREADS; i++)
    assert_false(publishers[i].is_wrong);
  assert_int_equal(vyre_mega_tenants_under_way(l.tenants, tenant), 0);
  ok(vyre_mega_tenants_revoke(l.tenants, tenant));
  ok(vyre_mega_tenants_quiesce(l.tenants, tenant, 0));
  stop(&l);
}

/* ---- telemetry ----------------------------------------------------------------------------------------------------------- */

TEST(telemetry_is_what_there_is)
{
  living l = start();
  vyre_mega_telemetry idle, stuck, still, done;
  vyre_bytes text = {0};
  bool published;
  ok(vyre_mega_telemetry_take(l.live, &idle));
  assert_int_equal(idle.states[VYRE_MEGA_EMPTY], SLOTS);
  assert_int_equal(idle.depth, 0);
  ok(vyre_mega_live_set(l.live, VYRE_MEGA_MASKS + 3, 0));
  for (uint32_t i = 0; i < 8; i++)
    ok(vyre_mega_live_publish(l.live, &ITEM(.op = i ? 1 : 6, .tenant = 3, .args = {1, 160}), NULL, &published));
  ok(vyre_mega_telemetry_take(l.live, &stuck));
  ok(vyre_mega_telemetry_take(l.live, &still));
  assert_int_equal(stuck.depth, 8);
  assert_int_equal(stuck.states[VYRE_MEGA_PUBLISHED], 8);
  ok(vyre_mega_live_set(l.live, VYRE_MEGA_MASKS + 3, 1));
  ok(vyre_mega_live_drain(l.live));
  do /* counts are a launch's last step */
    ok(vyre_mega_telemetry_take(l.live, &done));
  while (done.control.done + done.control.faults < 8 || done.control.metrics[1] < 7);
  const vyre_mega_window_stats nothing = vyre_mega_window_between(&idle, &idle), waits = vyre_mega_window_between(&stuck, &still);
  const vyre_mega_window_stats all = vyre_mega_window_between(&still, &done);
  assert_true(nothing.is_idle && !nothing.may_be_stuck && nothing.rate == 0);
  assert_true(!waits.is_idle && waits.may_be_stuck && waits.occupancy == 0.25);
  assert_true(!all.is_idle && !all.may_be_stuck && all.occupancy == 0 && all.rate > 0);
  vyre_mega_telemetry busy = done;
  busy.depth = 3;
  assert_false(vyre_mega_window_between(&still, &busy).may_be_stuck); /* some ended */
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
  assert_null(strstr(text.data, "op=\"2\"")); /* of which there was none */
  vyre_bytes_free(&text);
  stop(&l);
}

/* ---- the log ------------------------------------------------------------------------------------------------------------- */

#ifdef MEGA_CPU /* which has to do with no target */

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

TEST(a_log_has_what_was_appended)
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

/* Cut at each byte, and each byte wrong: what is before the damage is good, and appending goes on after that. */
TEST(damage_ends_a_log_and_no_more)
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
      refused(vyre_mega_log_read(path, &logs), "no log of a megakernel's items");
      refused(vyre_mega_log_open(path, &log), "no log of a megakernel's items");
      assert_null(log);
    } else {
      const size_t records = (at - 32) / 104;
      log_has(records < 2 ? records : 2, whole.size - 32 - records * 104);
      if (at % 16 == 0) {
        append(0, 0); /* which cuts it */
        log_has(records < 2 ? records : 2, 0);
      }
    }
    whole.data[at] ^= 0x10;
  }
  vyre_bytes_free(&whole);
  unlink(path);
}

TEST(what_cannot_be_a_log_is_refused)
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
  ok(vyre_mega_log_open(path, &log)); /* records that make no sense after those before them */
  ok(vyre_mega_log_end(log, 1, &(vyre_mega_slot){.state = VYRE_MEGA_DONE}));
  ok(vyre_mega_log_close(log));
  log_has(1, 104);
  unlink(path);
}

/* A record with a right checksum is not one that can be trusted. */
TEST(no_item_has_what_no_item_can_have)
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

/* A disk that is full for a while. */
TEST(a_record_that_was_not_written_whole_is_written_over)
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
