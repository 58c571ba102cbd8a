/* Host-side helpers for a live megakernel: tenants with a range of op codes each, a log of items for replay, and telemetry.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_MEGAKERNEL_HOST_H
#define VYRE_MEGAKERNEL_HOST_H

#include "vyre/megakernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- tenants ------------------------------------------------------------------------------------------------------------- */

/* A registry of tenants of a live kernel. Tenant 0 is the host's own. Every other tenant has 2^20 op codes that no other tenant may
 * publish. Any thread may call these functions except create and destroy. */
typedef struct vyre_mega_tenants vyre_mega_tenants;

#define VYRE_MEGA_WINDOW_BASE 0x40000000u /* the window of tenant t begins at this + t * VYRE_MEGA_WINDOW_SIZE */
#define VYRE_MEGA_WINDOW_SIZE 0x00100000u

/* Returns the first op code of a tenant's window. */
uint32_t vyre_mega_window(uint32_t tenant);

/* Creates a registry. The live kernel must outlive it, and must have masks and quotas for all tenants. */
VYRE_MUST_USE vyre_status vyre_mega_tenants_create(vyre_mega_live *live, vyre_mega_tenants **out);
void vyre_mega_tenants_destroy(vyre_mega_tenants *tenants); /* Does nothing to NULL. */
/* Adds a tenant that may have `most` items in flight and may begin `quota` items in all (all ones for any number). Returns an error
 * if all numbers are in use. */
VYRE_MUST_USE vyre_status vyre_mega_tenants_add(vyre_mega_tenants *tenants, uint32_t most, uint32_t quota, uint32_t *out_tenant);

typedef enum vyre_mega_published {
  VYRE_MEGA_IS_PUBLISHED,
  VYRE_MEGA_RING_IS_FULL, /* try again later */
  VYRE_MEGA_IS_HELD_BACK  /* the tenant has its most items in flight; poll for the end of one first */
} vyre_mega_published;

/* Publishes an item for a tenant, which it sets in the item. Returns an error if the op code is not in the tenant's window, if the
 * tenant was revoked, or if `ticket` is NULL. An item is in flight until its tenant has polled its end. */
VYRE_MUST_USE vyre_status vyre_mega_tenants_publish(vyre_mega_tenants *tenants, uint32_t tenant, const vyre_mega_item *item,
                                                    vyre_mega_ticket *ticket, vyre_mega_published *out);
/* Polls like vyre_mega_live_poll. An item that ended is no longer in flight. Another tenant's ticket is an error. */
VYRE_MUST_USE vyre_status vyre_mega_tenants_poll(vyre_mega_tenants *tenants, uint32_t tenant, vyre_mega_ticket ticket,
                                                 vyre_mega_slot *out, bool *out_ended);
/* Returns the number of the tenant's items in flight, or 0 for an invalid tenant. */
uint32_t vyre_mega_tenants_under_way(const vyre_mega_tenants *tenants, uint32_t tenant);
/* Revokes a tenant: from now on its publish calls fail. */
VYRE_MUST_USE vyre_status vyre_mega_tenants_revoke(vyre_mega_tenants *tenants, uint32_t tenant);
/* Waits until a revoked tenant has no items in flight, and frees its number. Returns an error after the timeout, or if the tenant
 * was not revoked. */
VYRE_MUST_USE vyre_status vyre_mega_tenants_quiesce(vyre_mega_tenants *tenants, uint32_t tenant, uint32_t milliseconds);

/* ---- a log --------------------------------------------------------------------------------------------------------------- */

/* A file of published items in order, and of their ends. Each record of 104 bytes has a checksum. Reading ends at the first damaged
 * or incomplete record; all records before it are valid. Little endian:
 *
 *     header, 32 bytes   "VRRL0002", version 2, 0 (u32), 0 (u64), checksum of these 24 (u64)
 *     record             magic 0xDEADBEEF, kind (u32), number of the item (u64), nanoseconds since 1970 (u64), state, reason, op,
 *                        tenant, priority, 12 arguments (u32), 4 bytes of 0, checksum of the 96 before it (u64)
 *
 * Checksums are XXH64 with seed 0. Any thread may append. */
typedef struct vyre_mega_log vyre_mega_log;

typedef enum vyre_mega_log_kind { VYRE_MEGA_LOG_ITEM = 1, VYRE_MEGA_LOG_END = 2 } vyre_mega_log_kind;

enum { VYRE_MEGA_LOG_HEADER = 32, VYRE_MEGA_LOG_RECORD = 104, VYRE_MEGA_LOG_MOST = 1048576 /* records */ };

typedef struct vyre_mega_logged {
  uint64_t ns; /* time of publication, in nanoseconds since 1970 */
  vyre_mega_item item;
  bool has_ended; /* whether the log has the item's end; if so, state and reason are set */
  uint32_t state, reason;
} vyre_mega_logged;

/* The valid part of a log. */
typedef struct vyre_mega_logs {
  vyre_mega_logged *items; /* owned, indexed by item number */
  uint64_t count;
  uint64_t bytes;   /* valid bytes */
  uint64_t dropped; /* bytes after the valid ones */
} vyre_mega_logs;

/* Creates a log, or opens an existing one to append to its valid part. Truncates the rest of the file. */
VYRE_MUST_USE vyre_status vyre_mega_log_open(const char *path, vyre_mega_log **out);
VYRE_MUST_USE vyre_status vyre_mega_log_item(vyre_mega_log *log, const vyre_mega_item *item, uint64_t *out_number);
VYRE_MUST_USE vyre_status vyre_mega_log_end(vyre_mega_log *log, uint64_t number, const vyre_mega_slot *slot);
/* Closes a log. If it returns VYRE_OK, everything is on the disk. Does nothing to NULL. */
VYRE_MUST_USE vyre_status vyre_mega_log_close(vyre_mega_log *log);
/* Reads a log. A file without a valid header is an error. */
VYRE_MUST_USE vyre_status vyre_mega_log_read(const char *path, vyre_mega_logs *out);
void vyre_mega_logs_free(vyre_mega_logs *logs);

/* ---- telemetry ----------------------------------------------------------------------------------------------------------- */

/* A snapshot of a live kernel. */
typedef struct vyre_mega_telemetry {
  uint64_t ns; /* time of the snapshot by a monotonic clock */
  uint32_t slots, states[VYRE_MEGA_STATE__COUNT];
  uint32_t depth; /* slots that do not belong to the host: waiting and in flight */
  vyre_mega_control control;
} vyre_mega_telemetry;

/* The difference between two snapshots. */
typedef struct vyre_mega_window_stats {
  uint64_t ns;
  uint32_t done, faults;
  double rate;       /* items that ended, per second */
  double occupancy;  /* of the ring at the end of the interval, 0 to 1 */
  bool is_idle;      /* no work at the end of the interval, and no item ended */
  bool may_be_stuck; /* work exists, but no item ended; causes are a tenant's mask, unserved IO, or a hanging kernel */
} vyre_mega_window_stats;

VYRE_MUST_USE vyre_status vyre_mega_telemetry_read(vyre_mega_live *live, vyre_mega_telemetry *out);
vyre_mega_window_stats vyre_mega_window_between(const vyre_mega_telemetry *from, const vyre_mega_telemetry *to);
/* Appends the snapshot in Prometheus' text format. */
VYRE_MUST_USE vyre_status vyre_mega_telemetry_text(const vyre_mega_telemetry *telemetry, vyre_bytes *out);

#ifdef __cplusplus
}
#endif
#endif
