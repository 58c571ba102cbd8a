/* The interface of a program: its buffers, images, samplers and specialization constants.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_parts.h"

#include "base/grow.h"

#include <spirv/unified1/spirv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

run_layout
run_program_layout(const run_program *program)
{
  return (run_layout){program->module, program->specs, program->spec_count};
}

const char *
run_entry_name(const vyre_module *module, vyre_row row)
{
  const vyre_program_info *info = vyre_program_info_of((vyre_module *)module, row);
  const char *name = vyre_row_name(module, row);
  return info->entry ? vyre_string_text(module, info->entry) : name ? name : "";
}

/* ---- specialization ------------------------------------------------------------------------------------------------------ */

static vyre_status
set_specs(run_program *program, const run_setup *setup, bool is_strict)
{
  const vyre_view *view = vyre_module_view(program->module);
  program->specs = calloc((size_t)setup->specs.count + 1, sizeof *program->specs);
  if (!program->specs)
    return VYRE_OUT_OF_MEMORY("for specialization constants");
  for (uint32_t i = 0; i < setup->specs.count; i++) {
    const run_setting *setting = &setup->specs.items[i];
    uint32_t row = vyre_spec_find(program->module, program->row.id, 0, setting->name, setting->name_length);
    if (!row && !is_strict)
      continue;
    if (!row)
      return VYRE_ERROR(VYRE_CODE_USAGE, "-spec: %s has no specialization constant '%.*s'\nFix: name one by its name or its id",
                        program->path, (int)setting->name_length, setting->name);
    const vyre_kind kind = VYRE_TYPE_KIND(VYRE_ROW_TYPE(view->op[row]));
    uint64_t bits;
    if (!vyre_scalar_parse(setting->value, strlen(setting->value), kind, &bits))
      return VYRE_ERROR(VYRE_CODE_USAGE, "-spec %.*s: '%s' is not a value of its type\nFix: give %s", (int)setting->name_length,
                        setting->name, setting->value, vyre_scalar_range(kind));
    program->specs[program->spec_count++] = (vyre_spec_value){vyre_row_spec_id(program->module, (vyre_row){row}), bits};
  }
  return VYRE_OK;
}

/* ---- buffers, images, samplers ------------------------------------------------------------------------------------------- */

enum { MOST_DESCRIPTORS = 65536 }; /* elements of one array */

static bool
members_are_read_only(const vyre_module *module, vyre_type_id type)
{
  vyre_type_info info = vyre_type_get(module, type);
  if (info.form != VYRE_FORM_STRUCT || info.count == 0)
    return false;
  for (uint32_t i = 0; i < info.count; i++) {
    if (!(info.members[i].access & VYRE_ACCESS_NO_WRITE))
      return false;
  }
  return true;
}

static const char *
block_name(const vyre_module *module, vyre_type_id type)
{
  vyre_type_info info = vyre_type_get(module, type);
  return info.form == VYRE_FORM_STRUCT && info.name ? vyre_string_text(module, info.name) : "";
}

bool
run_buffer_same(const run_buffer *a, const run_buffer *b)
{
  if (a->key || b->key)
    return a->key && b->key && strcmp(a->key, b->key) == 0;
  if (a->space == VYRE_SPACE_PUSH || b->space == VYRE_SPACE_PUSH)
    return a->space == b->space;
  return a->set == b->set && a->binding == b->binding && a->element == b->element;
}

/* Orders buffers by set, binding and element, push constants last. */
static bool
is_before(const run_buffer *a, const run_buffer *b)
{
  if (a->space == VYRE_SPACE_PUSH || b->space == VYRE_SPACE_PUSH)
    return b->space == VYRE_SPACE_PUSH && a->space != VYRE_SPACE_PUSH;
  if (a->set != b->set || a->binding != b->binding)
    return a->set < b->set || (a->set == b->set && a->binding < b->binding);
  return a->element < b->element;
}

/* Returns whether two declarations of one binding can be one descriptor: blocks of one kind, handles of one type, or an image and
 * its sampler. */
static bool
can_join(const run_buffer *a, const run_buffer *b)
{
  if (a->kind <= VYRE_SLOT_UNIFORM || b->kind <= VYRE_SLOT_UNIFORM)
    return a->kind == b->kind;
  if ((a->kind == VYRE_SLOT_SAMPLER) != (b->kind == VYRE_SLOT_SAMPLER)) {
    const vyre_slot_kind image = a->kind == VYRE_SLOT_SAMPLER ? b->kind : a->kind;
    return image == VYRE_SLOT_SAMPLED_IMAGE || image == VYRE_SLOT_COMBINED;
  }
  return a->kind == b->kind && a->image.dim == b->image.dim && a->image.arrayed == b->image.arrayed &&
         a->image.is_depth == b->image.is_depth && a->image.format == b->image.format;
}

/* Joins an image and a sampler at one binding to one descriptor. */
static void
join_handles(const run_buffer *buffer, run_buffer *old)
{
  if ((buffer->kind == VYRE_SLOT_SAMPLER) == (old->kind == VYRE_SLOT_SAMPLER))
    return;
  const uint32_t bits = buffer->kind == VYRE_SLOT_SAMPLER ? buffer->sampler : old->sampler;
  if (old->kind == VYRE_SLOT_SAMPLER)
    *old = *buffer;
  old->kind = VYRE_SLOT_COMBINED;
  old->sampler = bits;
}

/* Joins buffer rows of one descriptor.  The type with a runtime array is kept, otherwise the longest. */
static void
join_blocks(const run_buffer *buffer, run_buffer *old)
{
  const uint64_t fixed = buffer->shape.fixed > old->shape.fixed ? buffer->shape.fixed : old->shape.fixed;
  if (buffer->shape.stride ? !old->shape.stride : !old->shape.stride && buffer->shape.fixed > old->shape.fixed)
    *old = *buffer;
  old->shape.fixed = fixed;
}

static void
add_buffer(run_program *program, const run_buffer *buffer)
{
  for (uint32_t i = 0; i < program->buffer_count; i++) {
    run_buffer *old = &program->buffers[i];
    if (!run_buffer_same(old, buffer))
      continue;
    bool is_writable = old->is_writable || buffer->is_writable;
    if (buffer->kind > VYRE_SLOT_UNIFORM)
      join_handles(buffer, old);
    else
      join_blocks(buffer, old);
    old->is_writable = is_writable;
    return;
  }
  uint32_t at = program->buffer_count++;
  for (; at > 0 && is_before(buffer, &program->buffers[at - 1]); at--)
    program->buffers[at] = program->buffers[at - 1];
  program->buffers[at] = *buffer;
}

/* Changes the binding of a variable in the SPIR-V that a driver is given.  Returns false if no OpDecorate sets it. */
static bool
decorate_again(const run_program *program, uint32_t variable, uint32_t binding)
{
  uint32_t *words = (uint32_t *)(void *)program->words.data; /* allocated, thus aligned */
  const size_t count = program->words.size / sizeof *words;
  for (size_t at = 5; at + 3 < count && words[at] >> 16; at += words[at] >> 16) {
    if ((words[at] & 0xffffu) == SpvOpDecorate && words[at + 1] == variable && words[at + 2] == SpvDecorationBinding) {
      words[at + 3] = binding;
      return true;
    }
  }
  return count == 0;
}

/* Returns whether a declaration can have a binding: nothing else declares it, or a buffer that the declaration can join. */
static bool
is_free(const run_program *program, const run_buffer *buffer, uint32_t binding)
{
  const vyre_view *view = vyre_module_view(program->module);
  for (uint32_t i = 0; i < program->buffer_count; i++) {
    const run_buffer *old = &program->buffers[i];
    if (old->space != VYRE_SPACE_PUSH && old->set == buffer->set && old->binding == binding)
      return can_join(buffer, old);
  }
  for (uint32_t row = view->first[program->row.id]; row && binding != buffer->binding; row = view->next[row]) {
    const vyre_buffer_info *info = vyre_buffer_info_of(program->module, (vyre_row){row});
    if (VYRE_ROW_OP(view->op[row]) == VYRE_OP_buffer && info->set == buffer->set && info->binding == binding)
      return false;
  }
  return true;
}

/* Moves a declaration that cannot share the descriptor of its binding to a free binding.  HLSL has register numbers for each kind
 * of resource, and compilers make bindings of them as they are. */
static vyre_status
settle_binding(run_program *program, uint32_t row, run_buffer *buffer)
{
  char name[128];
  uint32_t binding = buffer->binding;
  while (buffer->space != VYRE_SPACE_PUSH && !is_free(program, buffer, binding))
    binding += RUN_BINDINGS_APART;
  if (binding == buffer->binding)
    return VYRE_OK;
  vyre_buffer_info *info = vyre_buffer_info_of(program->module, (vyre_row){row});
  run_buffer_describe(buffer, name, sizeof name);
  info->binding = buffer->binding = binding;
  if (decorate_again(program, info->spirv_id, binding))
    return VYRE_OK;
  return VYRE_ERROR(VYRE_CODE_INPUT,
                    "%s: %s needs a binding of its own, because another descriptor has that one\n"
                    "Fix: decorate the variable itself with Binding, not a decoration group",
                    program->path, name);
}

static bool
holds_opaque(const vyre_module *module, vyre_type_id type)
{
  vyre_type_info info = vyre_type_get(module, type);
  for (; info.form == VYRE_FORM_ARRAY; info = vyre_type_get(module, type))
    type = info.element;
  bool holds = info.form == VYRE_FORM_WORDS && !run_pointee(module, type);
  for (uint32_t i = 0; info.form == VYRE_FORM_STRUCT && i < info.count && !holds; i++)
    holds = holds_opaque(module, vyre_type_get(module, type).form == VYRE_FORM_STRUCT ? info.members[i].type : 0);
  return holds;
}

/* Returns the type of a descriptor in an array of handles or blocks.  *out_count is the length, a default one for a runtime array.
 */
static vyre_type_id
descriptor_type(const run_program *program, vyre_space space, vyre_type_id type, uint64_t *out_count)
{
  const run_layout layout = run_program_layout(program);
  uint64_t count = 1;
  vyre_type_id element = type;
  vyre_type_info info = vyre_type_get(program->module, type);
  for (; info.form == VYRE_FORM_ARRAY; info = vyre_type_get(program->module, element)) {
    const uint64_t length = info.flags & VYRE_TYPE_RUNTIME ? RUN_OPEN_DESCRIPTORS : run_layout_length(&layout, &info);
    count = length > MOST_DESCRIPTORS / count ? MOST_DESCRIPTORS + 1 : count * (length ? length : 1);
    element = info.element;
  }
  const bool is_block = info.form == VYRE_FORM_STRUCT && info.flags & (VYRE_TYPE_BLOCK | VYRE_TYPE_BUFFER_BLOCK);
  const bool is_array = space == VYRE_SPACE_HANDLE || (is_block && space != VYRE_SPACE_PUSH);
  *out_count = is_array ? count : 1;
  return is_array ? element : type;
}

/* Describes the descriptors of a buffer row, which differ only in `element`. */
static vyre_status
describe_row(run_program *program, uint32_t row, vyre_type_id type, run_buffer *out)
{
  const vyre_view *view = vyre_module_view(program->module);
  const run_layout layout = run_program_layout(program);
  const vyre_space space = VYRE_BUFFER_SPACE(view->imm_hi[row]);
  const vyre_buffer_info *info = vyre_buffer_info_of(program->module, (vyre_row){row});
  const char *name = vyre_row_name(program->module, (vyre_row){row});
  const bool is_read_only = (space != VYRE_SPACE_STORAGE && space != VYRE_SPACE_HANDLE) ||
                            view->imm_hi[row] & VYRE_ACCESS_NO_WRITE || members_are_read_only(program->module, type);
  *out = (run_buffer){
      .space = space,
      .kind = space == VYRE_SPACE_UNIFORM ? VYRE_SLOT_UNIFORM : VYRE_SLOT_STORAGE,
      .set = info->set,
      .binding = info->binding,
      .row = {row},
      .name = name ? name : "",
      .block = block_name(program->module, type),
      .type = type,
      .is_writable = !is_read_only,
      .module = program->module,
  };
  if (space == VYRE_SPACE_HANDLE)
    return run_handle_resolve(program, type, out);
  out->shape = run_buffer_shape(&layout, type);
  if (!holds_opaque(program->module, type))
    return VYRE_OK;
  return VYRE_ERROR(VYRE_CODE_INPUT,
                    "%s: buffer %%%s has a member that is neither data nor an address\nFix: run a program without it",
                    program->path, name ? name : "?");
}

/* Adds the descriptors of a buffer row if they are of the kind. */
static vyre_status
add_descriptors(run_program *program, const run_setup *setup, uint32_t row, vyre_slot_kind kind)
{
  const vyre_view *view = vyre_module_view(program->module);
  const vyre_space space = VYRE_BUFFER_SPACE(view->imm_hi[row]);
  const vyre_type_id whole = view->imm[row];
  uint64_t count;
  const vyre_type_id type = descriptor_type(program, space, whole, &count);
  run_buffer buffer;
  VYRE_TRY(describe_row(program, row, type, &buffer));
  if (buffer.kind != kind)
    return VYRE_OK;
  if (count > MOST_DESCRIPTORS)
    return VYRE_ERROR(VYRE_CODE_INPUT, "%s: %%%s is an array of more than %d descriptors\nFix: make it shorter", program->path,
                      buffer.name[0] ? buffer.name : "?", MOST_DESCRIPTORS);
  if (!vyre_grow(NULL, &program->buffers, &program->buffer_capacity, program->buffer_count + count, sizeof *program->buffers))
    return VYRE_OUT_OF_MEMORY("for the buffers");
  VYRE_TRY(settle_binding(program, row, &buffer));
  buffer.is_element = type != whole;
  for (buffer.element = 0; buffer.element < count; buffer.element++) {
    if (run_buffer_is_image(&buffer))
      VYRE_TRY(run_image_size(program, setup, &buffer));
    add_buffer(program, &buffer);
  }
  return VYRE_OK;
}

static vyre_status
add_kind(run_program *program, const run_setup *setup, vyre_slot_kind kind)
{
  const vyre_view *view = vyre_module_view(program->module);
  for (uint32_t row = view->first[program->row.id]; row; row = view->next[row]) {
    const vyre_space space = VYRE_BUFFER_SPACE(view->imm_hi[row]);
    if (VYRE_ROW_OP(view->op[row]) == VYRE_OP_verbatim)
      return VYRE_ERROR(VYRE_CODE_INPUT,
                        "%s: the module is kept unchanged, so its buffers are unknown\nFix: remove the unsupported instruction "
                        "that vyre-passmgr -v reports for this file",
                        program->path);
    if (VYRE_ROW_OP(view->op[row]) == VYRE_OP_buffer && (space <= VYRE_SPACE_PUSH || space == VYRE_SPACE_HANDLE))
      VYRE_TRY(add_descriptors(program, setup, row, kind));
  }
  return VYRE_OK;
}

/* Adds the kinds in a fixed order, so that two compared modules move resources of one binding to the same new bindings. */
static vyre_status
add_buffers(run_program *program, const run_setup *setup)
{
  for (uint32_t kind = 0; kind < VYRE_SLOT__COUNT; kind++)
    VYRE_TRY(add_kind(program, setup, (vyre_slot_kind)kind));
  return VYRE_OK;
}

void
run_buffer_name(const run_buffer *buffer, char *out, size_t capacity)
{
  const char *name = buffer->name[0] ? buffer->name : buffer->block;
  char element[16] = "";
  if (buffer->path) {
    snprintf(out, capacity, "%s", buffer->path);
    return;
  }
  if (buffer->is_element)
    snprintf(element, sizeof element, "[%u]", buffer->element);
  if (name[0])
    snprintf(out, capacity, "%s%s", name, element);
  else if (buffer->space == VYRE_SPACE_PUSH)
    snprintf(out, capacity, "push");
  else
    snprintf(out, capacity, "%u.%u%s", buffer->set, buffer->binding, element);
}

void
run_buffer_describe(const run_buffer *buffer, char *out, size_t capacity)
{
  char name[96];
  run_buffer_name(buffer, name, sizeof name);
  const bool has_name = buffer->name[0] || buffer->block[0];
  if (buffer->path)
    snprintf(out, capacity, "'%s' (by address)", buffer->path);
  else if (buffer->space == VYRE_SPACE_PUSH)
    snprintf(out, capacity, has_name ? "push constants '%s'" : "push constants", name);
  else if (has_name)
    snprintf(out, capacity, "'%s' (set %u binding %u)", name, buffer->set, buffer->binding);
  else if (buffer->is_element)
    snprintf(out, capacity, "(set %u binding %u element %u)", buffer->set, buffer->binding, buffer->element);
  else
    snprintf(out, capacity, "(set %u binding %u)", buffer->set, buffer->binding);
}

static bool
is_text(const char *text, const char *name, size_t length)
{
  return strlen(text) == length && memcmp(text, name, length) == 0;
}

/* Returns whether another declaration of the descriptor, or its struct, has the name. */
static bool
is_declared_as(const run_buffer *buffer, const char *name, size_t length)
{
  if (!buffer->module || buffer->kind > VYRE_SLOT_UNIFORM || buffer->space == VYRE_SPACE_PUSH)
    return false;
  vyre_module *module = (vyre_module *)(uintptr_t)buffer->module; /* only read */
  const vyre_view *view = vyre_module_view(module);
  for (uint32_t row = view->first[view->parent[buffer->row.id]]; row; row = view->next[row]) {
    if (VYRE_ROW_OP(view->op[row]) != VYRE_OP_buffer || VYRE_BUFFER_SPACE(view->imm_hi[row]) > VYRE_SPACE_UNIFORM)
      continue;
    const vyre_buffer_info *info = vyre_buffer_info_of(module, (vyre_row){row});
    const char *own = vyre_row_name(module, (vyre_row){row});
    vyre_type_id type = view->imm[row];
    for (uint32_t k = vyre_buffer_descriptor_steps(module, row); k > 0; k--)
      type = vyre_type_get(module, type).element;
    if (info->set == buffer->set && info->binding == buffer->binding &&
        (is_text(own ? own : "", name, length) || is_text(block_name(module, type), name, length)))
      return true;
  }
  return false;
}

bool
run_buffer_is(const run_buffer *buffer, const char *name, size_t length)
{
  if (buffer->path)
    return strlen(buffer->path) == length && memcmp(buffer->path, name, length) == 0;
  char number[32], element[16];
  snprintf(number, sizeof number, "%u.%u", buffer->set, buffer->binding);
  const size_t element_length = (size_t)snprintf(element, sizeof element, "[%u]", buffer->element);
  if (buffer->is_element && length > element_length && memcmp(name + length - element_length, element, element_length) == 0)
    length -= element_length;
  const char *names[] = {buffer->name, buffer->block, buffer->space == VYRE_SPACE_PUSH ? "push" : number};
  for (size_t i = 0; i < 3; i++) {
    if (is_text(names[i], name, length))
      return true;
  }
  return is_declared_as(buffer, name, length);
}

const run_setting *
run_setting_find(const run_settings *settings, const run_buffer *buffer)
{
  const run_setting *found = NULL; /* the last one wins */
  for (uint32_t i = 0; i < settings->count; i++) {
    if (run_buffer_is(buffer, settings->items[i].name, settings->items[i].name_length))
      found = &settings->items[i];
  }
  return found;
}

/* ---- all of it ----------------------------------------------------------------------------------------------------------- */

vyre_status
run_program_reflect(run_program *program, const run_setup *setup, bool has_specs)
{
  program->entry = run_entry_name(program->module, program->row);
  VYRE_TRY(set_specs(program, setup, has_specs));
  VYRE_TRY(add_buffers(program, setup));
  VYRE_TRY(run_pointers_add(program));
  if (!vyre_workgroup_size(program->module, program->row, program->specs, program->spec_count, program->workgroup))
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "%s: the workgroup's size is not constant\nFix: make it of constants and specialization constants",
                      program->path);
  return VYRE_OK;
}

void
run_program_free(run_program *program)
{
  for (uint32_t i = 0; i < program->buffer_count; i++) {
    free(program->buffers[i].path);
    free(program->buffers[i].key);
  }
  free(program->buffers);
  free(program->pointers);
  free(program->specs);
  vyre_bytes_free(&program->words);
  vyre_module_destroy(program->module);
  *program = (run_program){0};
}

void
run_setup_free(run_setup *setup)
{
  free(setup->buffers.items);
  free(setup->sizes.items);
  free(setup->binds.items);
  free(setup->specs.items);
}
