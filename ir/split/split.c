/* Splits a program at its grid barriers: surveys it, then makes a copy of the module for each segment.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "split.h"

#include "vyre/view.h"

#include <string.h>

uint32_t
vyre_grid_barriers(const vyre_module *module, vyre_row program)
{
  const vyre_view *v = vyre_module_view(module);
  uint32_t count = 0;
  for (uint32_t row = program.id; row < vyre_program_end(v, program.id); row++)
    count += VYRE_ROW_OP(v->op[row]) == VYRE_OP_barrier && VYRE_ORDER_EXECUTION(v->imm[row]) == 1;
  return count;
}

static vyre_status
make_segments(const split *s, vyre_segments *out)
{
  const uint32_t count = s->cut_count + 1;
  out->modules = out->allocator.resize(out->allocator.user, NULL, 0, count * sizeof(*out->modules));
  if (!out->modules)
    return VYRE_OUT_OF_MEMORY("for the segments of a program");
  memset(out->modules, 0, count * sizeof(*out->modules));
  out->count = count;
  out->invocation_words = s->invocation_words;
  out->group_words = s->group_words;
  out->set = s->set;
  out->binding = s->binding;
  for (uint32_t i = 0; i < count; i++) {
    VYRE_TRY(vyre_module_clone(s->module, &out->modules[i]));
    VYRE_TRY(vyre_status_note(split_make(s, i, out->modules[i]), "while making segment %u of %u", i + 1, count));
  }
  return VYRE_OK;
}

vyre_status
vyre_split_grid(const vyre_module *module, vyre_row program, vyre_segments *out)
{
  VYRE_TRY(vyre_module_status(module));
  if (!vyre_module_is_sealed(module))
    return VYRE_ERROR(VYRE_CODE_INTERNAL, "only a sealed module can be split");
  const vyre_view *v = vyre_module_view(module);
  const vyre_allocator allocator = *vyre_module_allocator(module);
  split s = {.module = module, .view = v, .program = program.id, .end = vyre_program_end(v, program.id), .row_count = v->rows};
  const size_t rows = s.row_count * sizeof(*s.rows), cuts = (size_t)vyre_grid_barriers(module, program) * sizeof(*s.cuts);
  vyre_segments made = {.allocator = allocator};
  s.rows = allocator.resize(allocator.user, NULL, 0, rows + cuts);
  if (!s.rows)
    return VYRE_OUT_OF_MEMORY("to split a program");
  memset(s.rows, 0, rows + cuts);
  s.cuts = (uint32_t *)(s.rows + s.row_count);
  vyre_status status = split_survey(&s);
  if (!status)
    status = make_segments(&s, &made);
  allocator.resize(allocator.user, s.rows, rows + cuts, 0);
  if (status)
    vyre_segments_free(&made);
  else
    *out = made;
  return status;
}

bool
vyre_segments_bytes(const vyre_segments *segments, const uint32_t groups[3], const uint32_t workgroup[3], uint64_t *out)
{
  const uint64_t most = UINT64_C(1) << 32;
  uint64_t count = 1, size = 1;
  *out = 0;
  if (segments->invocation_words == 0 && segments->group_words == 0)
    return true;
  for (uint32_t i = 0; i < 3; i++) {
    if ((groups[i] && count > most / groups[i]) || (workgroup[i] && size > most / workgroup[i]))
      return false;
    count *= groups[i];
    size *= workgroup[i];
  }
  if (size && count > most / size)
    return false;
  const uint64_t own = count * size, words = segments->invocation_words, shared = segments->group_words;
  if ((words && own > most / words) || (shared && count > most / shared) || own * words + count * shared > most)
    return false;
  *out = (own * words + count * shared) * 4;
  *out = *out ? *out : 4;
  return true;
}

void
vyre_segments_free(vyre_segments *segments)
{
  const vyre_allocator *a = &segments->allocator;
  for (uint32_t i = 0; i < segments->count; i++)
    vyre_module_destroy(segments->modules[i]);
  if (segments->modules)
    a->resize(a->user, segments->modules, segments->count * sizeof(*segments->modules), 0);
  *segments = (vyre_segments){0};
}
