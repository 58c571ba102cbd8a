/* Tenants of a live kernel.  A word for each tenant has flags for existing and revoked tenants, and the number of items in
 * flight.  One compare and swap reserves room for an item, or finds that there is none.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/megakernel_host.h"

#include "live.h"

#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

enum { IS_THERE = 1 << 30, IS_REVOKED = 1 << 29, COUNT = IS_REVOKED - 1 };
enum { SPINS = 64, LEAST_PARK = 2, MOST_PARK = 50 /* microseconds */ };

struct vyre_mega_tenants {
  vyre_mega_live *live;
  uint32_t words[VYRE_MEGA_TENANTS], most[VYRE_MEGA_TENANTS];
};

uint32_t
vyre_mega_window(uint32_t tenant)
{
  return VYRE_MEGA_WINDOW_BASE + tenant * VYRE_MEGA_WINDOW_SIZE;
}

static uint32_t
word_of(const vyre_mega_tenants *t, uint32_t tenant)
{
  return tenant && tenant < VYRE_MEGA_TENANTS ? __atomic_load_n(&t->words[tenant], __ATOMIC_ACQUIRE) : 0;
}

static vyre_status
check(const vyre_mega_tenants *t, uint32_t tenant)
{
  if (word_of(t, tenant) & IS_THERE)
    return VYRE_OK;
  return VYRE_ERROR(VYRE_CODE_INPUT, "megakernel: there is no tenant %" PRIu32 "\nFix: use a tenant that was added", tenant);
}

vyre_status
vyre_mega_tenants_create(vyre_mega_live *live, vyre_mega_tenants **out)
{
  *out = calloc(1, sizeof **out);
  if (!*out)
    return VYRE_OUT_OF_MEMORY("for tenants");
  (*out)->live = live;
  return VYRE_OK;
}

void
vyre_mega_tenants_destroy(vyre_mega_tenants *t)
{
  free(t);
}

vyre_status
vyre_mega_tenants_add(vyre_mega_tenants *t, uint32_t most, uint32_t quota, uint32_t *out_tenant)
{
  *out_tenant = 0;
  if (most == 0 || most > COUNT)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "megakernel: a tenant cannot have %" PRIu32 " items at once\n"
                      "Fix: choose 1 to %d",
                      most, COUNT);
  for (uint32_t tenant = 1; tenant < VYRE_MEGA_TENANTS; tenant++) {
    uint32_t none = 0;
    /* revoked until its quota and mask are set */
    if (!__atomic_compare_exchange_n(&t->words[tenant], &none, IS_THERE | IS_REVOKED, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
      continue;
    t->most[tenant] = most;
    vyre_status status = vyre_mega_live_set(t->live, VYRE_MEGA_QUOTAS + tenant, quota);
    if (!status)
      status = vyre_mega_live_set(t->live, VYRE_MEGA_MASKS + tenant, 1);
    __atomic_store_n(&t->words[tenant], status ? 0 : IS_THERE, __ATOMIC_RELEASE);
    *out_tenant = status ? 0 : tenant;
    return status;
  }
  return VYRE_ERROR(VYRE_CODE_INPUT, "megakernel: there are %d tenants already\nFix: revoke one and quiesce it",
                    VYRE_MEGA_TENANTS - 1);
}

/* Reserves room for one more item.  Returns false if there is none, or the tenant is revoked. */
static bool
reserve(vyre_mega_tenants *t, uint32_t tenant)
{
  uint32_t word = word_of(t, tenant);
  do {
    if (!(word & IS_THERE) || (word & IS_REVOKED) || (word & COUNT) >= t->most[tenant])
      return false;
  } while (!__atomic_compare_exchange_n(&t->words[tenant], &word, word + 1, true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
  return true;
}

vyre_status
vyre_mega_tenants_publish(vyre_mega_tenants *t, uint32_t tenant, const vyre_mega_item *item, vyre_mega_ticket *ticket,
                          vyre_mega_published *out)
{
  vyre_mega_item own = *item;
  bool published = false;
  *out = VYRE_MEGA_IS_HELD_BACK;
  VYRE_TRY(check(t, tenant));
  if (word_of(t, tenant) & IS_REVOKED)
    return VYRE_ERROR(VYRE_CODE_INPUT, "megakernel: tenant %" PRIu32 " was revoked\nFix: use another tenant", tenant);
  if (item->op - vyre_mega_window(tenant) >= VYRE_MEGA_WINDOW_SIZE)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "megakernel: the op code 0x%" PRIx32 " does not belong to tenant %" PRIu32 "\n"
                      "Fix: use 0x%" PRIx32 " to 0x%" PRIx32,
                      item->op, tenant, vyre_mega_window(tenant), vyre_mega_window(tenant) + VYRE_MEGA_WINDOW_SIZE - 1);
  if (!ticket)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "megakernel: an item of tenant %" PRIu32 " without a ticket would never end\n"
                      "Fix: pass a ticket",
                      tenant);
  if (!reserve(t, tenant))
    return VYRE_OK;
  own.tenant = tenant;
  vyre_status status = vyre_mega_live_publish(t->live, &own, ticket, &published);
  if (!published)
    __atomic_fetch_sub(&t->words[tenant], 1, __ATOMIC_ACQ_REL);
  VYRE_TRY(status);
  *out = published ? VYRE_MEGA_IS_PUBLISHED : VYRE_MEGA_RING_IS_FULL;
  return VYRE_OK;
}

vyre_status
vyre_mega_tenants_poll(vyre_mega_tenants *t, uint32_t tenant, vyre_mega_ticket ticket, vyre_mega_slot *out, bool *out_ended)
{
  *out_ended = false;
  VYRE_TRY(check(t, tenant));
  if (ticket.slot >= t->live->slots ||
      live_word(t->live->images[1], (size_t)ticket.slot * VYRE_MEGA_SLOT_WORDS + VYRE_MEGA_SLOT_TENANT) != tenant)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "megakernel: the item in slot %" PRIu32 " does not belong to tenant %" PRIu32 "\n"
                      "Fix: use the tenant's own tickets",
                      ticket.slot, tenant);
  VYRE_TRY(vyre_mega_live_poll(t->live, ticket, out, out_ended));
  if (*out_ended)
    __atomic_fetch_sub(&t->words[tenant], 1, __ATOMIC_ACQ_REL);
  return VYRE_OK;
}

uint32_t
vyre_mega_tenants_under_way(const vyre_mega_tenants *t, uint32_t tenant)
{
  return word_of(t, tenant) & COUNT;
}

vyre_status
vyre_mega_tenants_revoke(vyre_mega_tenants *t, uint32_t tenant)
{
  VYRE_TRY(check(t, tenant));
  __atomic_fetch_or(&t->words[tenant], IS_REVOKED, __ATOMIC_ACQ_REL);
  return VYRE_OK;
}

static void
park(uint32_t turns)
{
  const uint32_t more = turns < SPINS ? 0 : turns - SPINS;
  const long microseconds = more < MOST_PARK - LEAST_PARK ? LEAST_PARK + (long)more : MOST_PARK;
  if (turns < SPINS)
    sched_yield();
  else
    nanosleep(&(struct timespec){.tv_nsec = microseconds * 1000}, NULL);
}

vyre_status
vyre_mega_tenants_quiesce(vyre_mega_tenants *t, uint32_t tenant, uint32_t milliseconds)
{
  const uint64_t end = clock_now() + milliseconds * UINT64_C(1000000);
  VYRE_TRY(check(t, tenant));
  if (!(word_of(t, tenant) & IS_REVOKED))
    return VYRE_ERROR(VYRE_CODE_INPUT, "megakernel: tenant %" PRIu32 " still publishes\nFix: revoke it first", tenant);
  for (uint32_t turns = 0;; turns++) {
    uint32_t quiet = IS_THERE | IS_REVOKED;
    if (__atomic_compare_exchange_n(&t->words[tenant], &quiet, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      return VYRE_OK;
    if (clock_now() >= end)
      return VYRE_ERROR(VYRE_CODE_INPUT,
                        "megakernel: tenant %" PRIu32 " still has %" PRIu32 " items in flight after %" PRIu32 " ms\n"
                        "Fix: poll each until its end, or wait longer",
                        tenant, quiet & COUNT, milliseconds);
    park(turns);
  }
}
