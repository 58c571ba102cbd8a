/* Kept data: read-only data that many sequences use, found by its contents.
 *
 * The key of a set is a hash of its domain, the device's features, and the sizes and bytes of its parts. A set with the same key
 * is compared byte by byte with the host's copy, so different contents with equal keys are different sets. There are tens of
 * sets, so the list is searched linearly. The holders of a set are the calls of `keep` without a `drop`. A set without holders
 * stays for the next `keep` within a budget. A set with holders, or used by a submission in flight, is never removed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base.h"

#include <inttypes.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

typedef struct target_kept {
  struct target_kept *next;
  XXH128_hash_t key;
  uint64_t domain;
  uint64_t holders;
  uint64_t dropped_at; /* when the last holder dropped the set, in drops of this base */
  uint64_t bytes;      /* of all parts */
  uint32_t count;
  vyre_device_buffer *buffers; /* in the set's own allocation */
  unsigned char *data;         /* in it too: the parts, one after the other */
} target_kept;

static size_t
set_size(uint32_t count, uint64_t bytes)
{
  return sizeof(target_kept) + sizeof(vyre_device_buffer) * (size_t)count + (size_t)bytes;
}

/* ---- finding ------------------------------------------------------------------------------------------------------------- */

static XXH128_hash_t
key_of(const target_base *base, uint64_t domain, const vyre_static *parts, uint32_t count)
{
  XXH3_state_t state;
  XXH3_INITSTATE(&state);
  XXH3_128bits_reset(&state);
  const uint64_t head[] = {domain, base->info.features, base->info.subgroup, count};
  XXH3_128bits_update(&state, head, sizeof head);
  for (uint32_t i = 0; i < count; i++) {
    XXH3_128bits_update(&state, &parts[i].size, sizeof parts[i].size);
    XXH3_128bits_update(&state, parts[i].data, (size_t)parts[i].size);
  }
  XXH128_hash_t key = XXH3_128bits_digest(&state);
  key.low64 &= base->kept_key_mask;
  key.high64 &= base->kept_key_mask;
  return key;
}

static bool
holds(const vyre_target *target, const target_kept *set, uint64_t domain, const vyre_static *parts, uint32_t count)
{
  if (set->domain != domain || set->count != count)
    return false;
  const unsigned char *data = set->data;
  for (uint32_t i = 0; i < count; i++) {
    const uint64_t size = target_buffer_get(target, set->buffers[i])->size;
    if (size != parts[i].size || memcmp(data, parts[i].data, (size_t)size) != 0)
      return false;
    data += size;
  }
  return true;
}

/* ---- the budget ---------------------------------------------------------------------------------------------------------- */

uint64_t
target_kept_budget(const target_base *base)
{
  return base->has_budgets ? base->kept_budget : base->info.memory / 32;
}

static bool
is_idle(const vyre_target *target, const target_kept *set)
{
  bool is_free = set->holders == 0;
  for (uint32_t i = 0; i < set->count && is_free; i++)
    is_free = target_buffer_get(target, set->buffers[i])->in_flight == 0;
  return is_free;
}

/* Returns the link to the largest set that may be removed, or NULL if there is none. Of sets with equal size, it is the one
 * dropped first. */
static target_kept **
find_victim(vyre_target *target)
{
  target_kept **best = NULL;
  for (target_kept **at = &target_base_of(target)->kept; *at; at = &(*at)->next) {
    if (!is_idle(target, *at))
      continue;
    if (!best || (*at)->bytes > (*best)->bytes || ((*at)->bytes == (*best)->bytes && (*at)->dropped_at < (*best)->dropped_at))
      best = at;
  }
  return best;
}

vyre_status
target_kept_trim(vyre_target *target, uint64_t bytes)
{
  target_base *base = target_base_of(target);
  vyre_status status = VYRE_OK;
  while (base->bytes_idle > bytes) {
    target_kept **at = find_victim(target), *set = at ? *at : NULL;
    if (!set)
      break;
    *at = set->next;
    status = vyre_status_join(status, target_subtract(base, &base->bytes_idle, set->bytes, "bytes of kept sets without holders"));
    status = vyre_status_join(status, target_subtract(base, &base->counters.bytes_kept, set->bytes, "bytes of kept sets"));
    status = vyre_status_join(status, target_subtract(base, &base->counters.sets_kept, 1, "kept sets"));
    base->counters.kept_evictions++;
    for (uint32_t i = 0; i < set->count; i++)
      status = vyre_status_join(status, target_buffer_release(target, set->buffers[i]));
    vyre_release(&base->allocator, set, set_size(set->count, set->bytes));
    if (status)
      break;
  }
  return status;
}

void
target_kept_forget(target_base *base)
{
  while (base->kept) {
    target_kept *set = base->kept;
    base->kept = set->next;
    vyre_release(&base->allocator, set, set_size(set->count, set->bytes));
  }
  base->bytes_idle = base->counters.bytes_kept = base->counters.sets_kept = base->counters.sets_held = 0;
}

/* ---- keep ---------------------------------------------------------------------------------------------------------------- */

static vyre_status
check_parts(const target_base *base, const vyre_static *parts, uint32_t count, uint64_t *out_bytes)
{
  *out_bytes = 0;
  if (count == 0)
    return VYRE_ERROR(VYRE_CODE_INPUT, "%s: a set of kept data has no parts\nFix: pass at least one part", base->hooks->name);
  for (uint32_t i = 0; i < count; i++) {
    if (!parts[i].data || parts[i].size == 0 || parts[i].size > base->info.max_buffer || parts[i].size > SIZE_MAX / 4 - *out_bytes)
      return VYRE_ERROR(VYRE_CODE_INPUT,
                        "%s: part %u of %u of kept data has %" PRIu64 " bytes, but the device '%s' allocates at most %" PRIu64
                        " at once\n"
                        "Fix: pass the data of each part, at least 1 byte and not more than the limit",
                        base->hooks->name, i, count, parts[i].data ? parts[i].size : 0, base->info.name, base->info.max_buffer);
    *out_bytes += parts[i].size;
  }
  return VYRE_OK;
}

/* Uploads all parts in one sequence. Frees the buffers after a failure. */
static vyre_status
upload_parts(vyre_target *target, const vyre_static *parts, uint32_t count, const vyre_device_buffer *buffers)
{
  const target_base *base = target_base_of(target);
  const size_t size = sizeof(vyre_upload) * (size_t)count;
  vyre_upload *uploads = vyre_allocate(&base->allocator, size);
  vyre_status status = uploads ? VYRE_OK : VYRE_OUT_OF_MEMORY("for the uploads of kept data");
  if (uploads) {
    for (uint32_t i = 0; i < count; i++)
      uploads[i] = (vyre_upload){{buffers[i], 0, 0}, parts[i].data};
    status = target_submit(target, &(vyre_sequence){.uploads = uploads, .upload_count = count}, NULL);
    vyre_release(&base->allocator, uploads, size);
  }
  return status ? vyre_status_join(status, target_free_many(target, buffers, count)) : VYRE_OK;
}

static vyre_status
make_set(vyre_target *target, uint64_t domain, const vyre_static *parts, uint32_t count, uint64_t bytes, target_kept **out)
{
  target_base *base = target_base_of(target);
  const size_t size = set_size(count, bytes);
  target_kept *set = target_resize(&base->allocator, NULL, 0, size);
  if (!set)
    return VYRE_OUT_OF_MEMORY("for a kept set");
  vyre_device_buffer *buffers = (vyre_device_buffer *)(void *)(set + 1);
  *set = (target_kept){
      .domain = domain, .bytes = bytes, .count = count, .buffers = buffers, .data = (unsigned char *)(buffers + count)};
  uint64_t *sizes = vyre_allocate(&base->allocator, sizeof(uint64_t) * (size_t)count);
  vyre_status status = sizes ? VYRE_OK : VYRE_OUT_OF_MEMORY("for a kept set");
  unsigned char *data = set->data;
  for (uint32_t i = 0; sizes && i < count; i++) {
    sizes[i] = parts[i].size;
    memcpy(data, parts[i].data, (size_t)parts[i].size);
    data += parts[i].size;
  }
  if (sizes) {
    status = target_allocate_many(target, sizes, count, buffers);
    vyre_release(&base->allocator, sizes, sizeof(uint64_t) * (size_t)count);
  }
  if (!status)
    status = upload_parts(target, parts, count, buffers);
  if (status)
    vyre_release(&base->allocator, set, size);
  else
    *out = set;
  return status;
}

static vyre_status
add_set(vyre_target *target, target_kept *set, XXH128_hash_t key)
{
  target_base *base = target_base_of(target);
  vyre_status status = target_add(base, &base->counters.bytes_kept, set->bytes, "bytes of kept sets");
  if (status) {
    status = vyre_status_join(status, target_free_many(target, set->buffers, set->count));
    vyre_release(&base->allocator, set, set_size(set->count, set->bytes));
    return status;
  }
  set->key = key;
  set->holders = 1;
  set->next = base->kept;
  base->kept = set;
  base->counters.sets_kept++;
  base->counters.sets_held++;
  base->counters.kept_misses++;
  for (uint32_t i = 0; i < set->count; i++)
    target_buffer_get(target, set->buffers[i])->kept = set;
  return VYRE_OK;
}

vyre_status
target_keep(vyre_target *target, uint64_t domain, const vyre_static *parts, uint32_t count, vyre_device_buffer *out,
            bool *out_found)
{
  target_base *base = target_base_of(target);
  for (uint32_t i = 0; i < count; i++)
    out[i] = (vyre_device_buffer){0};
  if (out_found)
    *out_found = false;
  VYRE_TRY(target_ready(target));
  uint64_t bytes;
  VYRE_TRY(check_parts(base, parts, count, &bytes));
  const XXH128_hash_t key = key_of(base, domain, parts, count);
  target_kept *set = base->kept;
  while (set && (!XXH128_isEqual(set->key, key) || !holds(target, set, domain, parts, count)))
    set = set->next;
  if (set) {
    if (set->holders == 0)
      VYRE_TRY(target_subtract(base, &base->bytes_idle, bytes, "bytes of kept sets without holders"));
    base->counters.sets_held += set->holders == 0;
    set->holders++;
    base->counters.kept_hits++;
    if (out_found)
      *out_found = true;
  } else {
    VYRE_TRY(make_set(target, domain, parts, count, bytes, &set));
    VYRE_TRY(add_set(target, set, key));
  }
  memcpy(out, set->buffers, sizeof *out * count);
  return VYRE_OK;
}

/* ---- drop ---------------------------------------------------------------------------------------------------------------- */

vyre_status
target_drop(vyre_target *target, const vyre_device_buffer *parts, uint32_t count)
{
  target_base *base = target_base_of(target);
  const target_buffer *first = count ? target_buffer_get(target, parts[0]) : NULL;
  target_kept *set = first ? first->kept : NULL;
  if (!set || set->count != count || memcmp(set->buffers, parts, sizeof *parts * count) != 0 || set->holders == 0)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "%s: the %u buffers from %" PRIu64 " are not a kept set with holders\n"
                      "Fix: drop all buffers that one keep returned, in order, once for each keep",
                      base->hooks->name, count, count ? parts[0].id : 0);
  if (--set->holders != 0)
    return VYRE_OK;
  set->dropped_at = ++base->drops;
  base->counters.sets_held--;
  VYRE_TRY(target_add(base, &base->bytes_idle, set->bytes, "bytes of kept sets without holders"));
  return target_kept_trim(target, target_kept_budget(base));
}
