/* The interpreter's errors: the program, the row, its source location and the invocation. Also memory allocation, because its
 * failure is an error, too.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *
interp_describe_row(const interp *ip, uint32_t row, char text[INTERP_TEXT])
{
  const char *name = vyre_row_name(ip->module, (vyre_row){row});
  const char *op = vyre_op_infos[VYRE_ROW_OP(ip->view->op[row])].text;
  vyre_string file;
  uint32_t line, column;
  char place[INTERP_TEXT / 2] = "", end[16] = "";
  if (vyre_row_line(ip->module, (vyre_row){row}, &file, &line, &column)) {
    if (column)
      snprintf(end, sizeof end, ":%" PRIu32, column);
    snprintf(place, sizeof place, ", %s:%" PRIu32 "%s", vyre_string_text(ip->module, file), line, end);
  }
  snprintf(text, INTERP_TEXT, "row %" PRIu32 " (%s%s%.80s%s)", row, op ? op : "?", name ? " %" : "", name ? name : "", place);
  return text;
}

const char *
interp_describe_invocation(const interp *ip, const uint32_t local[3], const uint32_t group[3], char text[INTERP_TEXT])
{
  snprintf(text, INTERP_TEXT, "invocation (%u, %u, %u) of workgroup (%u, %u, %u), global (%u, %u, %u)", local[0], local[1],
           local[2], group[0], group[1], group[2], group[0] * ip->local[0] + local[0], group[1] * ip->local[1] + local[1],
           group[2] * ip->local[2] + local[2]);
  return text;
}

const char *
interp_describe_buffer(const interp *ip, uint32_t row, char text[INTERP_TEXT])
{
  const char *name = vyre_row_name(ip->module, (vyre_row){row});
  if (name)
    snprintf(text, INTERP_TEXT, "buffer %%%s", name);
  else
    snprintf(text, INTERP_TEXT, "the buffer in row %" PRIu32, row);
  return text;
}

bool
interp_fail(interp *ip, uint32_t row, uint64_t invocation, const char *fix, const char *format, ...)
{
  char what[4 * INTERP_TEXT], where[INTERP_TEXT], who[INTERP_TEXT] = "";
  const char *program = vyre_row_name(ip->module, ip->dispatch->program);
  va_list arguments;
  if (ip->status)
    return false;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  if (invocation < ip->count) {
    uint32_t local[3], group[3];
    place_invocation(ip, (uint32_t)invocation, local, group);
    interp_describe_invocation(ip, local, group, who);
  }
  ip->status = VYRE_ERROR(VYRE_CODE_INPUT, "program @%s, %s: %s%s%s\nFix: %s", program ? program : "?",
                          interp_describe_row(ip, row, where), what, *who ? " " : "", who, fix);
  return false;
}

bool
interp_defined(interp *ip, uint32_t row, uint32_t operand, const uint64_t *active, const char *as_what)
{
  if (!ip->report)
    return true;
  for_each_active(ip, active, i)
  {
    const uint32_t origin = ip->origin[(size_t)(operand - ip->begin) * ip->count + i];
    char where[INTERP_TEXT];
    if (origin != 0)
      return interp_fail(ip, row, i, "guard the row, or run without reporting what is undefined",
                         "undefined: %s comes from %s, which is undefined on its operands, in", as_what,
                         interp_describe_row(ip, origin, where));
  }
  return true;
}

bool
interp_out_of_bounds(interp *ip, uint32_t row, uint64_t invocation, const buffer_state *buffer, uint64_t address)
{
  char name[INTERP_TEXT], element[32] = "";
  const bool is_known = !buffer->descriptors || (address != NOWHERE && address / FARTHEST < buffer->descriptor_count);
  interp_describe_buffer(ip, buffer->row, name);
  if (buffer->descriptors && is_known)
    snprintf(element, sizeof element, "[%" PRIu64 "]", address / FARTHEST);
  if (ip->report && is_known && !buffer->owned && !descriptor_at(buffer, address).data)
    return interp_fail(ip, row, invocation, "bind it, or keep control from the access",
                       "undefined: the access to %s%s, which is not bound, in", name, element);
  return interp_fail(ip, row, invocation,
                     ip->report ? "guard the access, or run without reporting what is undefined"
                                : "guard the access, or run without checking bounds",
                     "%sthe access to %s%s is out of bounds in", ip->report ? "undefined: " : "", name, element);
}

void *
interp_allocate(interp *ip, size_t count, size_t size)
{
  void *memory = NULL;
  if (count == 0)
    count = 1;
  if (size <= SIZE_MAX / 2 / count)
    memory = ip->allocator->resize(ip->allocator->user, NULL, 0, count * size);
  if (memory)
    memset(memory, 0, count * size);
  else if (!ip->status)
    ip->status =
        VYRE_ERROR(VYRE_CODE_INPUT,
                   "out of memory for a workgroup of %" PRIu32 " invocations\nFix: use a smaller workgroup or program", ip->count);
  return memory;
}

void
interp_free(interp *ip, void *memory, size_t count, size_t size)
{
  if (memory)
    ip->allocator->resize(ip->allocator->user, memory, (count ? count : 1) * size, 0);
}
