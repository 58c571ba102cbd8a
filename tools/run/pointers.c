/* Buffers that a program reaches by addresses: each pointer in a buffer or in the push constants leads to a buffer of its own.
 *
 * A pointer to a type on its own path, as in a linked list, leads back to the buffer of that type.  So the number of buffers is
 * finite.
 *
 * limits: a runtime array of structs with pointers has 4 elements.  Addresses that a program computes from integers are refused.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_parts.h"

#include "base/grow.h"
#include "vyre/opaque.h"
#include "vyre/view.h"

#include <inttypes.h>
#include <spirv/unified1/spirv.h>
#include <stdarg.h>
#include <stdio.h>

enum { MOST_BUFFERS = 1024, MOST_NESTED = 8, DEFAULT_ELEMENTS = 4 };

/* ---- types --------------------------------------------------------------------------------------------------------------- */

static vyre_type_id
find_struct(const vyre_module *module, vyre_string name)
{
  for (vyre_type_id type = 256; type < vyre_type_count(module); type++) {
    const vyre_type_info info = vyre_type_get(module, type);
    if (info.form == VYRE_FORM_STRUCT && info.name == name)
      return type;
  }
  return 0;
}

vyre_type_id
run_pointee(const vyre_module *module, vyre_type_id type)
{
  const vyre_type_info info = vyre_type_get(module, type);
  if (info.form != VYRE_FORM_WORDS || info.flags != SpvOpTypePointer || info.count < 2 ||
      info.members[0].offset != SpvStorageClassPhysicalStorageBuffer)
    return 0;
  return info.members[1].access == VYRE_WORD_NAMED ? find_struct(module, info.members[1].name) : info.members[1].type;
}

static bool
note_pointer(void *user, uint64_t offset, vyre_type_id type)
{
  (void)offset;
  (void)type;
  *(bool *)user = true;
  return false;
}

run_shape
run_buffer_shape(const run_layout *layout, vyre_type_id type)
{
  run_shape shape = run_layout_shape(layout, type);
  vyre_type_info info = vyre_type_get(layout->module, type);
  if (info.form == VYRE_FORM_STRUCT && info.count)
    info = vyre_type_get(layout->module, info.members[info.count - 1].type);
  bool holds_pointers = false;
  if (shape.stride)
    run_layout_pointers(layout, info.element, shape.stride, note_pointer, &holds_pointers);
  if (holds_pointers)
    shape = (run_shape){.fixed = shape.offset + (uint64_t)shape.stride * DEFAULT_ELEMENTS};
  return shape;
}

/* ---- buffers ------------------------------------------------------------------------------------------------------------- */

typedef struct search {
  run_program *program;
  uint32_t holder;
  vyre_status status;
} search;

/* Reserves room for a pointer and a buffer. */
static vyre_status
grow_lists(run_program *program)
{
  const bool has_room =
      vyre_grow(NULL, &program->buffers, &program->buffer_capacity, program->buffer_count + 1, sizeof *program->buffers) &&
      vyre_grow(NULL, &program->pointers, &program->pointer_capacity, program->pointer_count + 1, sizeof *program->pointers);
  return has_room ? VYRE_OK : VYRE_OUT_OF_MEMORY("for the buffers");
}

static char *formatted(const char *format, ...) VYRE_PRINTF(1, 2);

/* Returns allocated text, or NULL if an allocation fails. */
static char *
formatted(const char *format, ...)
{
  char *text;
  va_list arguments;
  va_start(arguments, format);
  const int length = vasprintf(&text, format, arguments);
  va_end(arguments);
  return length < 0 ? NULL : text;
}

static vyre_status
name_pointed(const run_layout *layout, const run_buffer *holder, uint64_t offset, run_buffer *out)
{
  char name[256], path[256];
  run_buffer_name(holder, name, sizeof name);
  run_layout_path(layout, holder->type, offset, path, sizeof path);
  out->path = formatted("%s%s", name, path);
  if (holder->key)
    out->key = formatted("%s+%" PRIu64, holder->key, offset);
  else if (holder->space == VYRE_SPACE_PUSH)
    out->key = formatted("push+%" PRIu64, offset);
  else
    out->key = formatted("%u.%u[%u]+%" PRIu64, holder->set, holder->binding, holder->element, offset);
  return out->path && out->key ? VYRE_OK : VYRE_OUT_OF_MEMORY("for the buffers");
}

static vyre_status
add_pointed(run_program *program, uint32_t holder, uint64_t offset, vyre_type_id pointee)
{
  const run_layout layout = run_program_layout(program);
  VYRE_TRY(grow_lists(program));
  run_pointer *pointer = &program->pointers[program->pointer_count++];
  *pointer = (run_pointer){.holder = holder, .offset = offset, .target = program->buffer_count};
  uint32_t depth = 0;
  for (const run_buffer *at = &program->buffers[holder]; at->path; at = &program->buffers[at->holder], depth++) {
    if (at->type != pointee)
      continue;
    pointer->target = (uint32_t)(at - program->buffers);
    return VYRE_OK;
  }
  if (program->buffer_count >= MOST_BUFFERS || depth >= MOST_NESTED)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "%s: its pointers lead to more than %d buffers, or more than %d deep\nFix: use fewer pointers", program->path,
                      MOST_BUFFERS, MOST_NESTED);
  run_buffer *buffer = &program->buffers[program->buffer_count++];
  *buffer = (run_buffer){
      .space = VYRE_SPACE_STORAGE,
      .name = "",
      .block = "",
      .type = pointee,
      .is_writable = true,
      .holder = holder,
      .shape = run_buffer_shape(&layout, pointee),
  };
  return name_pointed(&layout, &program->buffers[holder], offset, buffer);
}

static bool
add_pointer(void *user, uint64_t offset, vyre_type_id type)
{
  search *s = user;
  s->status = add_pointed(s->program, s->holder, offset, run_pointee(s->program->module, type));
  return s->status == VYRE_OK;
}

/* Refuses addresses that the program computes from integers, because their buffers are unknown. */
static vyre_status
check_addresses(const run_program *program)
{
  const vyre_view *view = vyre_module_view(program->module);
  const uint32_t end = vyre_program_end(view, program->row.id);
  for (uint32_t row = program->row.id; row < end; row++) {
    if (!vyre_op_is_opaque(VYRE_ROW_OP(view->op[row])))
      continue;
    const vyre_type_info info = vyre_type_get(program->module, view->imm[row]);
    if (info.flags == SpvOpConvertUToPtr || (info.flags == SpvOpBitcast && run_pointee(program->module, info.element)))
      return VYRE_ERROR(VYRE_CODE_INPUT,
                        "%s: computes addresses from integers, so their buffers are unknown\nFix: declare the integers as buffer "
                        "references",
                        program->path);
  }
  return VYRE_OK;
}

vyre_status
run_pointers_add(run_program *program)
{
  const run_layout layout = run_program_layout(program);
  VYRE_TRY(check_addresses(program));
  for (search s = {.program = program}; s.holder < program->buffer_count; s.holder++) { /* also the buffers that are added */
    const run_buffer buffer = program->buffers[s.holder];
    if (buffer.kind <= VYRE_SLOT_UNIFORM)
      run_layout_pointers(&layout, buffer.type, buffer.shape.fixed, add_pointer, &s);
    VYRE_TRY(s.status);
  }
  return VYRE_OK;
}
