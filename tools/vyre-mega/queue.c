/* A queue as text, with an item on each line.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "mega.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *name;
  uint32_t op;
} ops[] = {{"nop", VYRE_MEGA_OP_NOP},     {"store", VYRE_MEGA_OP_STORE}, {"add", VYRE_MEGA_OP_ADD},
           {"load", VYRE_MEGA_OP_LOAD},   {"swap", VYRE_MEGA_OP_SWAP},   {"copy", VYRE_MEGA_OP_COPY},
           {"fence", VYRE_MEGA_OP_FENCE}, {"print", VYRE_MEGA_OP_PRINT}, {"shutdown", VYRE_MEGA_OP_SHUT_DOWN}};

static bool
read_number(const char *word, uint32_t *out)
{
  char *end;
  const unsigned long long value = strtoull(word, &end, 0);
  *out = (uint32_t)value;
  return word[0] >= '0' && word[0] <= '9' && *end == '\0' && value <= UINT32_MAX;
}

static bool
read_op(const char *word, uint32_t *out)
{
  for (uint32_t i = 0; i < sizeof ops / sizeof *ops; i++)
    if (strcmp(word, ops[i].name) == 0) {
      *out = ops[i].op;
      return true;
    }
  return read_number(word, out);
}

static bool
read_priority(const char *word, uint32_t *out)
{
  for (uint32_t i = 0; i < VYRE_MEGA_LEVELS; i++)
    if (strcmp(word, vyre_mega_priority_text(i)) == 0) {
      *out = i;
      return true;
    }
  return read_number(word, out) && *out < VYRE_MEGA_LEVELS;
}

/* Reads a word after the op code.  Returns false if it is not valid. */
static bool
read_word(const char *word, uint32_t *args, vyre_mega_item *item)
{
  if (strncmp(word, "tenant=", 7) == 0)
    return read_number(word + 7, &item->tenant);
  if (strncmp(word, "priority=", 9) == 0)
    return read_priority(word + 9, &item->priority);
  return *args < VYRE_MEGA_ARGS && read_number(word, &item->args[(*args)++]);
}

static vyre_status
read_line(const char *path, mega_line *line)
{
  char copy[1024], *rest = copy;
  uint32_t args = 0, words = 0;
  if (line->length >= sizeof copy)
    return VYRE_ERROR(VYRE_CODE_INPUT, "%s:%" PRIu32 ": the line is too long\nFix: give an op code and at most 12 arguments", path,
                      line->number);
  memcpy(copy, line->text, line->length);
  copy[line->length] = '\0';
  line->item = (vyre_mega_item){.priority = VYRE_MEGA_NORMAL};
  for (char *word; (word = strtok_r(rest, " \t\r", &rest)); words++)
    if (words ? !read_word(word, &args, &line->item) : !read_op(word, &line->item.op))
      return VYRE_ERROR(VYRE_CODE_INPUT,
                        "%s:%" PRIu32 ": '%s' is not %s\n"
                        "Fix: write OP [tenant=N] [priority=NAME] ARGUMENT..., with a code or a name, and at most 12 numbers",
                        path, line->number, word, words ? "a tenant, priority or argument" : "an op code");
  return VYRE_OK;
}

static vyre_status
read_lines(const char *path, mega_queue *queue)
{
  const char *at = queue->text.data;
  for (uint32_t number = 1; at && *at; number++) {
    const size_t length = strcspn(at, "\n"), used = strcspn(at, "#\n");
    mega_line line = {.number = number, .text = at + strspn(at, " \t\r"), .length = used};
    line.length -= (size_t)(line.text - at) < used ? (size_t)(line.text - at) : used;
    while (line.length && strchr(" \t\r", line.text[line.length - 1]))
      line.length--;
    if (line.length) {
      VYRE_TRY(read_line(path, &line));
      queue->lines[queue->count++] = line;
    }
    at += length + (at[length] == '\n');
  }
  return VYRE_OK;
}

vyre_status
mega_queue_read(const char *path, mega_queue *out)
{
  size_t lines = 1;
  *out = (mega_queue){0};
  VYRE_TRY(vyre_file_read_as(path, VYRE_FILE_TEXT, &out->text));
  for (size_t i = 0; i < out->text.size; i++)
    lines += out->text.data[i] == '\n';
  out->lines = calloc(lines, sizeof *out->lines);
  if (!out->lines)
    return VYRE_OUT_OF_MEMORY("for a queue");
  VYRE_TRY(read_lines(path, out));
  if (out->count == 0)
    return VYRE_ERROR(VYRE_CODE_INPUT, "%s: the file has no items\nFix: write an item on each line, such as: store 77 160", path);
  return VYRE_OK;
}

/* Writes the item as a line of a queue, without zeros at the end. */
static vyre_status
write_line(const vyre_mega_item *item, vyre_bytes *out)
{
  uint32_t args = VYRE_MEGA_ARGS;
  VYRE_TRY(vyre_bytes_printf(out, "%" PRIu32, item->op));
  while (args && item->args[args - 1] == 0)
    args--;
  for (uint32_t i = 0; i < args; i++)
    VYRE_TRY(vyre_bytes_printf(out, " %" PRIu32, item->args[i]));
  if (item->tenant)
    VYRE_TRY(vyre_bytes_printf(out, " tenant=%" PRIu32, item->tenant));
  return item->priority == VYRE_MEGA_NORMAL ? VYRE_OK
                                            : vyre_bytes_printf(out, " priority=%s", vyre_mega_priority_text(item->priority));
}

static vyre_status
copy_log(const vyre_mega_logs *logs, mega_queue *out)
{
  out->lines = calloc(logs->count + 1, sizeof *out->lines);
  if (!out->lines)
    return VYRE_OUT_OF_MEMORY("for a queue");
  for (; out->count < logs->count; out->count++) {
    const vyre_mega_logged *logged = &logs->items[out->count];
    const size_t size = out->text.size;
    VYRE_TRY(write_line(&logged->item, &out->text));
    out->lines[out->count] = (mega_line){.item = logged->item,
                                         .number = out->count + 1,
                                         .length = out->text.size - size,
                                         .is_known = logged->has_ended,
                                         .state = logged->state,
                                         .reason = logged->reason};
  }
  const char *at = out->text.data;
  for (uint32_t i = 0; i < out->count; at += out->lines[i++].length)
    out->lines[i].text = at;
  return VYRE_OK;
}

/* Returns an error if the log is damaged before its end or has no items.  An incomplete last record is not an error, because a
 * stopped run leaves one. */
static vyre_status
check_log(const char *path, const vyre_mega_logs *logs)
{
  if (logs->count && logs->dropped < VYRE_MEGA_LOG_RECORD)
    return VYRE_OK;
  if (logs->dropped == 0)
    return VYRE_ERROR(VYRE_CODE_INPUT, "%s: the log has no items\nFix: give the log of a run that had items", path);
  return VYRE_ERROR(
      VYRE_CODE_INPUT,
      "%s: the record at byte %" PRIu64 ", after %" PRIu64 " item%s, is damaged, and %" PRIu64 " bytes cannot be read\n"
      "Fix: use another copy of the log, or its first %" PRIu64 " bytes, which are a log of the items before the damage",
      path, logs->bytes, logs->count, logs->count == 1 ? "" : "s", logs->dropped, logs->bytes);
}

vyre_status
mega_queue_replay(const char *path, mega_queue *out, uint64_t *out_dropped)
{
  vyre_mega_logs logs;
  *out = (mega_queue){0};
  VYRE_TRY(vyre_mega_log_read(path, &logs));
  *out_dropped = logs.dropped;
  vyre_status status = check_log(path, &logs);
  if (!status)
    status = copy_log(&logs, out);
  vyre_mega_logs_free(&logs);
  return status;
}

void
mega_queue_free(mega_queue *queue)
{
  free(queue->lines);
  vyre_bytes_free(&queue->text);
}
