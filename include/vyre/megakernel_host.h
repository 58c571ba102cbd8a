/* What a host keeps beside a live megakernel: tenants with a window of op codes each, a log of items to run them again, and
 * telemetry.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_MEGAKERNEL_HOST_H
#define VYRE_MEGAKERNEL_HOST_H

#include "vyre/megakernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- tenants ------------------------------------------------------------------------------------------------------------- */

/* A registry of tenants of a live kernel.  Tenant 0 is the host's own; others, from 1 on, have 2^20 op codes each, which no other
 * may publish.  Any thread may call these, but create and destroy. */
typedef struct vyre_mega_tenants vyre_mega_tenants;

#define VYRE_MEGA_WINDOW_BASE 0x40000000u /* a tenant's window begins at this + its number * the width: below the system's */
#define VYRE_MEGA_WINDOW_SIZE 0x00100000u

/* The first op code of a tenant's window. */
uint32_t vyre_mega_window(uint32_t tenant);

/* The live kernel stays until the registry was destroyed, and has masks and quotas of all tenants. */
VYRE_MUST_USE vyre_status vyre_mega_tenants_create(vyre_mega_live *live, vyre_mega_tenants **out);
void vyre_mega_tenants_destroy(vyre_mega_tenants *tenants); /* NULL is ignored */
/* A new one, of whom `most` items may be under way at once, and who may begin `quota` of them in all (all ones: any number).  An
 * error where all numbers are in use. */
VYRE_MUST_USE vyre_status vyre_mega_tenants_add(vyre_mega_tenants *tenants, uint32_t most, uint32_t quota, uint32_t *out_tenant);

typedef enum vyre_mega_published {
  VYRE_MEGA_IS_PUBLISHED,
  VYRE_MEGA_RING_IS_FULL, /* try again later */
  VYRE_MEGA_IS_HELD_BACK  /* the tenant has as many under way as it may: ask for the end of one first */
} vyre_mega_published;

/* Its tenant is set; its op code is one of the window, else it is an error, as it is of a tenant that was revoked, and without a
 * ticket: an item is under way until its tenant has polled its end. */
VYRE_MUST_USE vyre_status vyre_mega_tenants_publish(vyre_mega_tenants *tenants, uint32_t tenant, const vyre_mega_item *item,
                                                    vyre_mega_ticket *ticket, vyre_mega_published *out);
/* As vyre_mega_live_poll, and an item that ended is no longer under way.  Another tenant's ticket is an error. */
VYRE_MUST_USE vyre_status vyre_mega_tenants_poll(vyre_mega_tenants *tenants, uint32_t tenant, vyre_mega_ticket ticket,
                                                 vyre_mega_slot *out, bool *out_ended);
/* Items whose end nobody has been told; 0 of what is no tenant. */
uint32_t vyre_mega_tenants_under_way(const vyre_mega_tenants *tenants, uint32_t tenant);
/* From now on it publishes nothing. */
VYRE_MUST_USE vyre_status vyre_mega_tenants_revoke(vyre_mega_tenants *tenants, uint32_t tenant);
/* Waits until nothing of it is under way, then its number is free.  An error after so many milliseconds, and of one that was not
 * revoked. */
VYRE_MUST_USE vyre_status vyre_mega_tenants_quiesce(vyre_mega_tenants *tenants, uint32_t tenant, uint32_t milliseconds);

/* ---- a log --------------------------------------------------------------------------------------------------------------- */

/* A file of the items that were published, in their order, and of how they ended.  Each record of 104 bytes has a checksum: what is
 * damaged, or was not written whole, ends what is read, and all before it is good.  Little endian:
 *
 *   header, 32 bytes   "VRRL0002", version 2, 0 (u32), 0 (u64), checksum of these 24 (u64)
 *   record             magic 0xDEADBEEF, kind (u32), number of the item (u64), nanoseconds since 1970 (u64), state, reason, op,
 *                      tenant, priority, 12 arguments (u32), 4 bytes of 0, checksum of the 96 before it (u64)
 *
 * Checksums are XXH64 with seed 0.  Any thread may append. */
typedef struct vyre_mega_log vyre_mega_log;

typedef enum vyre_mega_log_kind { VYRE_MEGA_LOG_ITEM = 1, VYRE_MEGA_LOG_END = 2 } vyre_mega_log_kind;

enum { VYRE_MEGA_LOG_HEADER = 32, VYRE_MEGA_LOG_RECORD = 104, VYRE_MEGA_LOG_MOST = 1048576 /* records */ };

typedef struct vyre_mega_logged {
  uint64_t ns; /* when it was published */
  vyre_mega_item item;
  bool has_ended; /* and then how: */
  uint32_t state, reason;
} vyre_mega_logged;

/* What is good of a log. */
typedef struct vyre_mega_logs {
  vyre_mega_logged *items; /* owned, by number */
  uint64_t count;
  uint64_t bytes;   /* that are good */
  uint64_t dropped; /* bytes after them */
} vyre_mega_logs;

/* A new file, or one that goes on after what is good of it: what is damaged is cut off. */
VYRE_MUST_USE vyre_status vyre_mega_log_open(const char *path, vyre_mega_log **out);
VYRE_MUST_USE vyre_status vyre_mega_log_item(vyre_mega_log *log, const vyre_mega_item *item, uint64_t *out_number);
VYRE_MUST_USE vyre_status vyre_mega_log_end(vyre_mega_log *log, uint64_t number, const vyre_mega_slot *slot);
/* All of it is on the disk when this is OK.  NULL is ignored. */
VYRE_MUST_USE vyre_status vyre_mega_log_close(vyre_mega_log *log);
/* A file that has no header is an error. */
VYRE_MUST_USE vyre_status vyre_mega_log_read(const char *path, vyre_mega_logs *out);
void vyre_mega_logs_free(vyre_mega_logs *logs);

/* ---- telemetry ----------------------------------------------------------------------------------------------------------- */

/* A live kernel as it is now. */
typedef struct vyre_mega_telemetry {
  uint64_t ns; /* of a clock that only goes forward */
  uint32_t slots, states[VYRE_MEGA_STATE__COUNT];
  uint32_t depth; /* slots that are not the host's: what waits, and what is under way */
  vyre_mega_control control;
} vyre_mega_telemetry;

/* Between two of them. */
typedef struct vyre_mega_window_stats {
  uint64_t ns;
  uint32_t done, faults;
  double rate;       /* items that ended a second */
  double occupancy;  /* of the ring at its end, 0 to 1 */
  bool is_idle;      /* nothing was there to do at its end, and nothing ended */
  bool may_be_stuck; /* something is there, and nothing ended: a mask, IO, or a kernel that hangs */
} vyre_mega_window_stats;

VYRE_MUST_USE vyre_status vyre_mega_telemetry_take(vyre_mega_live *live, vyre_mega_telemetry *out);
vyre_mega_window_stats vyre_mega_window_between(const vyre_mega_telemetry *from, const vyre_mega_telemetry *to);
/* Appends it in Prometheus' text format. */
VYRE_MUST_USE vyre_status vyre_mega_telemetry_text(const vyre_mega_telemetry *telemetry, vyre_bytes *out);

#ifdef __cplusplus
}
#endif
#endif
