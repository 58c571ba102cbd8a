/* The log of items: a sequence of records with checksums.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/megakernel_host.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "vyre/io.h"

#define MAGIC 0xdeadbeefu

/* Byte offsets in a record. */
enum {
  AT_KIND = 4,
  AT_NUMBER = 8,
  AT_TIME = 16,
  AT_STATE = 24,
  AT_REASON = 28,
  AT_OP = 32,
  AT_TENANT = 36,
  AT_PRIORITY = 40,
  AT_ARGS = 44
};
enum { AT_SUM = VYRE_MEGA_LOG_RECORD - 8 };

struct vyre_mega_log {
  int file;
  uint64_t items, records;
  char *path;
  pthread_mutex_t lock;
};

static void
put32(unsigned char *to, size_t at, uint32_t value)
{
  value = htole32(value);
  memcpy(to + at, &value, sizeof value);
}

static void
put64(unsigned char *to, size_t at, uint64_t value)
{
  value = htole64(value);
  memcpy(to + at, &value, sizeof value);
}

static uint32_t
get32(const unsigned char *from, size_t at)
{
  uint32_t value;
  memcpy(&value, from + at, sizeof value);
  return le32toh(value);
}

static uint64_t
get64(const unsigned char *from, size_t at)
{
  uint64_t value;
  memcpy(&value, from + at, sizeof value);
  return le64toh(value);
}

static void
make_header(unsigned char out[VYRE_MEGA_LOG_HEADER])
{
  memset(out, 0, VYRE_MEGA_LOG_HEADER);
  memcpy(out, "VRRL0002", 8);
  put32(out, 8, 2);
  put64(out, 24, XXH64(out, 24, 0));
}

/* ---- reading ------------------------------------------------------------------------------------------------------------- */

static bool
is_good(const unsigned char *record)
{
  return get32(record, 0) == MAGIC && get64(record, AT_SUM) == XXH64(record, AT_SUM, 0);
}

static bool
may_be_item(uint32_t priority, uint32_t tenant)
{
  return priority < VYRE_MEGA_LEVELS && tenant < VYRE_MEGA_TENANTS;
}

/* Adds a record.  Returns false if it contradicts the records before it. */
static bool
add_record(vyre_mega_logs *logs, const unsigned char *record)
{
  const uint64_t number = get64(record, AT_NUMBER);
  vyre_mega_logged *item = &logs->items[number < logs->count ? number : logs->count];
  if (get32(record, AT_KIND) == VYRE_MEGA_LOG_END) {
    if (number >= logs->count || item->has_ended)
      return false;
    item->has_ended = true;
    item->state = get32(record, AT_STATE);
    item->reason = get32(record, AT_REASON);
    return true;
  }
  if (get32(record, AT_KIND) != VYRE_MEGA_LOG_ITEM || number != logs->count ||
      !may_be_item(get32(record, AT_PRIORITY), get32(record, AT_TENANT)))
    return false;
  *item = (vyre_mega_logged){.ns = get64(record, AT_TIME),
                             .item = {get32(record, AT_OP), get32(record, AT_TENANT), get32(record, AT_PRIORITY), {0}}};
  for (uint32_t i = 0; i < VYRE_MEGA_ARGS; i++)
    item->item.args[i] = get32(record, AT_ARGS + 4 * (size_t)i);
  logs->count++;
  return true;
}

static vyre_status
read_all(const char *path, const vyre_bytes *bytes, vyre_mega_logs *out)
{
  const unsigned char *data = (const unsigned char *)bytes->data;
  unsigned char header[VYRE_MEGA_LOG_HEADER];
  make_header(header);
  if (bytes->size < sizeof header || memcmp(data, header, sizeof header) != 0)
    return VYRE_ERROR(VYRE_CODE_INPUT, "%s: not a log of a megakernel's items\nFix: choose a file that vyre-mega -log wrote", path);
  const size_t most = (bytes->size - sizeof header) / VYRE_MEGA_LOG_RECORD;
  out->items = calloc(most + 1, sizeof *out->items);
  if (!out->items)
    return VYRE_OUT_OF_MEMORY("for a log");
  size_t n = 0;
  while (n < most && is_good(data + sizeof header + n * VYRE_MEGA_LOG_RECORD) &&
         add_record(out, data + sizeof header + n * VYRE_MEGA_LOG_RECORD))
    n++;
  out->bytes = sizeof header + n * VYRE_MEGA_LOG_RECORD;
  out->dropped = bytes->size - out->bytes;
  return VYRE_OK;
}

vyre_status
vyre_mega_log_read(const char *path, vyre_mega_logs *out)
{
  vyre_bytes bytes = {0};
  *out = (vyre_mega_logs){0};
  vyre_status status = vyre_file_read_as(path, VYRE_FILE_PLAIN, &bytes);
  if (!status)
    status = read_all(path, &bytes, out);
  vyre_bytes_free(&bytes);
  return status;
}

void
vyre_mega_logs_free(vyre_mega_logs *logs)
{
  free(logs->items);
  *logs = (vyre_mega_logs){0};
}

/* ---- writing ------------------------------------------------------------------------------------------------------------- */

static vyre_status
failed(const char *path, const char *what)
{
  return VYRE_ERROR(VYRE_CODE_INPUT, "%s: cannot be %s: %s\nFix: choose a writable path", path, what, strerror(errno));
}

/* Writes all bytes.  The next record overwrites one that was written in part. */
static vyre_status
put(const vyre_mega_log *log, uint64_t at, const unsigned char *data, size_t size)
{
  while (size) {
    const ssize_t written = pwrite(log->file, data, size, (off_t)at);
    if (written < 0 && errno != EINTR)
      return failed(log->path, "written");
    const size_t more = written < 0 ? 0 : (size_t)written;
    at += more;
    data += more;
    size -= more;
  }
  return VYRE_OK;
}

static vyre_status
begin(vyre_mega_log *log)
{
  unsigned char header[VYRE_MEGA_LOG_HEADER];
  vyre_mega_logs logs = {0};
  const off_t size = lseek(log->file, 0, SEEK_END);
  if (size == 0) {
    make_header(header);
    return put(log, 0, header, sizeof header);
  }
  if (size < 0)
    return failed(log->path, "appended to");
  vyre_status status = vyre_mega_log_read(log->path, &logs);
  log->items = logs.count;
  log->records = logs.bytes / VYRE_MEGA_LOG_RECORD; /* the header is shorter than a record */
  if (!status && ftruncate(log->file, (off_t)logs.bytes) != 0)
    status = failed(log->path, "truncated at the damage");
  vyre_mega_logs_free(&logs);
  return status;
}

vyre_status
vyre_mega_log_open(const char *path, vyre_mega_log **out)
{
  *out = NULL;
  vyre_mega_log *log = calloc(1, sizeof *log);
  if (!log)
    return VYRE_OUT_OF_MEMORY("for a log");
  *log = (vyre_mega_log){.file = vyre_file_open(VYRE_FILE_HERE, path, VYRE_FILE_UPDATES), .path = strdup(path)};
  pthread_mutex_init(&log->lock, NULL);
  vyre_status status = !log->path ? VYRE_OUT_OF_MEMORY("for a log") : log->file < 0 ? failed(path, "opened") : begin(log);
  if (status)
    return vyre_status_join(status, vyre_mega_log_close(log));
  *out = log;
  return VYRE_OK;
}

static vyre_status
append_record(vyre_mega_log *log, unsigned char record[VYRE_MEGA_LOG_RECORD])
{
  if (log->records >= VYRE_MEGA_LOG_MOST)
    return VYRE_ERROR(VYRE_CODE_INPUT, "%s: the log is full: it has %d records\nFix: use another file", log->path,
                      VYRE_MEGA_LOG_MOST);
  put32(record, 0, MAGIC);
  put64(record, AT_SUM, XXH64(record, AT_SUM, 0));
  VYRE_TRY(put(log, VYRE_MEGA_LOG_HEADER + log->records * VYRE_MEGA_LOG_RECORD, record, VYRE_MEGA_LOG_RECORD));
  log->records++;
  return VYRE_OK;
}

vyre_status
vyre_mega_log_item(vyre_mega_log *log, const vyre_mega_item *item, uint64_t *out_number)
{
  unsigned char record[VYRE_MEGA_LOG_RECORD] = {0};
  struct timespec now;
  if (!may_be_item(item->priority, item->tenant))
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "%s: no item has priority %" PRIu32 " and tenant %" PRIu32 "\n"
                      "Fix: log an item that can be published",
                      log->path, item->priority, item->tenant);
  clock_gettime(CLOCK_REALTIME, &now);
  put32(record, AT_KIND, VYRE_MEGA_LOG_ITEM);
  put64(record, AT_TIME, (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec);
  put32(record, AT_STATE, VYRE_MEGA_PUBLISHED);
  put32(record, AT_OP, item->op);
  put32(record, AT_TENANT, item->tenant);
  put32(record, AT_PRIORITY, item->priority);
  for (uint32_t i = 0; i < VYRE_MEGA_ARGS; i++)
    put32(record, AT_ARGS + 4 * (size_t)i, item->args[i]);
  pthread_mutex_lock(&log->lock);
  put64(record, AT_NUMBER, log->items);
  vyre_status status = append_record(log, record);
  if (!status)
    *out_number = log->items++;
  pthread_mutex_unlock(&log->lock);
  return status;
}

vyre_status
vyre_mega_log_end(vyre_mega_log *log, uint64_t number, const vyre_mega_slot *slot)
{
  unsigned char record[VYRE_MEGA_LOG_RECORD] = {0};
  put32(record, AT_KIND, VYRE_MEGA_LOG_END);
  put64(record, AT_NUMBER, number);
  put32(record, AT_STATE, slot->state);
  put32(record, AT_REASON, slot->reason);
  pthread_mutex_lock(&log->lock);
  vyre_status status = append_record(log, record);
  pthread_mutex_unlock(&log->lock);
  return status;
}

vyre_status
vyre_mega_log_close(vyre_mega_log *log)
{
  vyre_status status = VYRE_OK;
  if (!log)
    return VYRE_OK;
  if (log->file >= 0) {
    if (fsync(log->file) != 0 && errno != EINVAL)
      status = failed(log->path, "synchronized");
    close(log->file);
  }
  pthread_mutex_destroy(&log->lock);
  free(log->path);
  free(log);
  return status;
}
