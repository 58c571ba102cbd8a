/* SHA-256 of files, as they are read: a live megakernel's items read the chunks (LOAD_MISS) and hash them (a handler, sha256.vir),
 * of several files side by side.  The host tells items what to do next, and sees no byte of a file where the device and it have
 * memory in common.
 *
 *   example-hash [-target=NAME] [-device=NAME] FILE...     prints what sha256sum prints
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <vyre/io.h>
#include <vyre/megakernel_io.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LANES = 8, CHUNK = 16384, REGION = CHUNK + 128, SLOTS = 32, MOST_FILES = 1024, OP_HASH = 8 };
/* The data buffer, in words: constants, a state of each lane, a region of each. */
enum {
  STATES = 64,
  REGIONS = STATES + LANES * 8,
  DATA_WORDS = REGIONS + LANES * REGION / 4,
  DATA = (DATA_WORDS * 4 + 4095) / 4096 * 4096
};

/* vyre-megac's, of sha256.vir. */
struct vyre_c_dispatch;
uint32_t hash_kernel(const struct vyre_c_dispatch *dispatch);
extern const char hash_text[];

/* Fractions of the cube roots of the first 64 primes. */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
    0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
    0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
    0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

/* A file that is under way. */
typedef struct lane {
  uint32_t file; /* its number */
  uint64_t offset;
  bool is_there, is_reading, is_last;
  vyre_mega_ticket ticket;
} lane;

typedef struct hasher {
  const vyre_target_ops *ops;
  vyre_target *target;
  vyre_mega *mega;
  vyre_mega_live *live;
  unsigned char *memory;
  vyre_range data;
  int files[MOST_FILES];
  char **names;
  uint32_t count, next, failures;
  lane lanes[LANES];
} hasher;

static vyre_status
publish(hasher *h, lane *l, vyre_mega_item item)
{
  for (bool published = false; !published; sched_yield())
    VYRE_TRY(vyre_mega_live_publish(h->live, &item, &l->ticket, &published));
  return VYRE_OK;
}

static vyre_status
read_chunk(hasher *h, lane *l)
{
  const uint32_t number = (uint32_t)(l - h->lanes);
  l->is_reading = true;
  return publish(h, l,
                 (vyre_mega_item){.op = VYRE_MEGA_OP_LOAD_MISS,
                                  .args = {l->file, number, CHUNK, (uint32_t)l->offset, (uint32_t)(l->offset >> 32), UINT32_MAX}});
}

static vyre_status
hash_chunk(hasher *h, lane *l, uint32_t bytes)
{
  const uint32_t number = (uint32_t)(l - h->lanes);
  const uint32_t which = (l->offset == 0 ? 1u : 0u) | (bytes < CHUNK ? 2u : 0u);
  const uint64_t all = l->offset + bytes;
  l->is_reading = false;
  l->is_last = bytes < CHUNK;
  l->offset = all;
  return publish(h, l,
                 (vyre_mega_item){.op = OP_HASH,
                                  .args = {REGIONS + number * (REGION / 4), bytes, STATES + number * 8, which, (uint32_t)all,
                                           (uint32_t)(all >> 32), number * 8}});
}

static vyre_status
print_sum(hasher *h, const lane *l)
{
  for (uint32_t i = 0; i < 8; i++) {
    uint32_t word;
    VYRE_TRY(vyre_mega_live_word(h->live, VYRE_MEGA_OBSERVABLES + (uint32_t)(l - h->lanes) * 8 + i, &word));
    printf("%08x", word);
  }
  printf("  %s\n", h->names[l->file]);
  return VYRE_OK;
}

/* What an item that ended leads to. */
static vyre_status
go_on(hasher *h, lane *l, const vyre_mega_slot *slot)
{
  if (slot->state != VYRE_MEGA_DONE) {
    fprintf(stderr, "example-hash: %s: %s\n", h->names[l->file],
            slot->reason == VYRE_MEGA_REASON_IO ? strerror((int)slot->item.args[10]) : vyre_mega_reason_text(slot->reason));
    h->failures++;
    l->is_there = false;
    return VYRE_OK;
  }
  if (l->is_reading)
    return hash_chunk(h, l, slot->item.args[10]);
  if (!l->is_last)
    return read_chunk(h, l);
  l->is_there = false;
  return print_sum(h, l);
}

static vyre_status
hash_all(hasher *h)
{
  uint32_t busy = 0;
  do {
    busy = 0;
    for (lane *l = h->lanes; l < h->lanes + LANES; l++) {
      vyre_mega_slot slot;
      bool ended = false;
      if (!l->is_there && h->next < h->count) {
        *l = (lane){.file = h->next++, .is_there = true};
        VYRE_TRY(read_chunk(h, l));
      }
      if (l->is_there)
        VYRE_TRY(vyre_mega_live_poll(h->live, l->ticket, &slot, &ended));
      if (ended)
        VYRE_TRY(go_on(h, l, &slot));
      busy += l->is_there;
    }
    sched_yield();
  } while (busy || h->next < h->count);
  return VYRE_OK;
}

/* ---- start and end ------------------------------------------------------------------------------------------------------- */

static vyre_status
go_live(hasher *h)
{
  static const vyre_mega_handler handler = {OP_HASH, "sha256"};
  static vyre_mega_region regions[LANES];
  const vyre_mega_options options = {
      .program = {.build = VYRE_MEGA_PERSISTENT, .source = hash_text, .handlers = &handler, .handler_count = 1, .has_data = true},
      .slots = SLOTS,
      .native = {.run = hash_kernel}};
  const vyre_mega_pump_options io = {.files = h->files, .file_count = h->count, .regions = regions, .region_count = LANES};
  for (uint32_t i = 0; i < LANES; i++) {
    const uint64_t at = (REGIONS + (uint64_t)i * (REGION / 4)) * 4;
    regions[i] = (vyre_mega_region){.data = h->memory + at, .size = REGION, .at = at};
  }
  VYRE_TRY(vyre_target_write(h->ops, h->target, h->data.buffer, 0, sizeof constants, constants));
  VYRE_TRY(vyre_mega_create(h->ops, h->target, &options, &h->mega));
  VYRE_TRY(
      vyre_mega_live_start(h->mega, &(vyre_mega_live_options){.observables = LANES * 8, .data = h->data, .io = &io}, &h->live));
  return vyre_mega_live_set(h->live, VYRE_MEGA_QUOTAS, UINT32_MAX);
}

static vyre_status
run(hasher *h, const char *device)
{
  const vyre_target_options options = {.device = device};
  vyre_device_info info;
  h->memory = aligned_alloc(4096, DATA);
  if (!h->memory)
    return VYRE_OUT_OF_MEMORY("for chunks");
  memset(h->memory, 0, DATA);
  VYRE_TRY(h->ops->open(&options, NULL, &h->target));
  h->ops->describe(h->target, &info);
  h->data.size = DATA;
  vyre_status status = info.capabilities & VYRE_TARGET_IMPORT ? h->ops->import(h->target, h->memory, DATA, &h->data.buffer)
                                                              : h->ops->allocate(h->target, DATA, &h->data.buffer);
  if (!status)
    status = go_live(h);
  if (!status)
    status = hash_all(h);
  if (h->live)
    status = vyre_status_join(status, vyre_mega_live_stop(h->live, NULL, NULL));
  status = vyre_status_join(status, vyre_mega_destroy(h->mega));
  return vyre_status_join(status, h->ops->close(h->target));
}

int
main(int count, char **arguments)
{
  static hasher h;
  const char *device = NULL, *target = "cpu";
  int first = 1;
  for (; first < count && arguments[first][0] == '-' && arguments[first][1]; first++) {
    if (strncmp(arguments[first], "-target=", 8) == 0)
      target = arguments[first] + 8;
    else if (strncmp(arguments[first], "-device=", 8) == 0)
      device = arguments[first] + 8;
    else
      target = ""; /* there is none of that name */
  }
  h.ops = vyre_target_find(target);
  h.names = arguments + first;
  h.count = count > first ? (uint32_t)(count - first) : 0;
  if (!h.ops || h.count == 0 || h.count > MOST_FILES) {
    fprintf(stderr, "usage: example-hash [-target=NAME] [-device=NAME] FILE...\n");
    return 2;
  }
  for (uint32_t i = 0; i < h.count; i++) /* what cannot be opened has an errno when it is read */
    h.files[i] = vyre_file_open(VYRE_FILE_HERE, h.names[i], VYRE_FILE_READS);
  vyre_status status = run(&h, device);
  if (status)
    fprintf(stderr, "example-hash: %s\n", vyre_status_text(status));
  const int code = status ? (int)vyre_status_code(status) : h.failures != 0;
  vyre_status_free(status);
  free(h.memory);
  for (uint32_t i = 0; i < h.count; i++)
    if (h.files[i] >= 0)
      close(h.files[i]);
  return code;
}
