/* A program to run: loaded, checked, and reflected: its buffers, its specialization constants, the words that a driver is given.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "vyre/glsl.h"
#include "vyre/spirv.h"
#include "vyre/text.h"
#include "vyre/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

run_layout
run_program_layout(const run_program *program)
{
  return (run_layout){program->module, program->specs, program->spec_count};
}

/* ---- loading ------------------------------------------------------------------------------------------------------------- */

/* A SPIR-V module of the other byte order becomes one of this machine's. */
static void
swap_words(vyre_bytes *words)
{
  uint32_t first;
  memcpy(&first, words->data, 4);
  if (first != 0x03022307)
    return;
  for (size_t at = 0; at + 4 <= words->size; at += 4) {
    uint32_t word;
    memcpy(&word, words->data + at, 4);
    word = __builtin_bswap32(word);
    memcpy(words->data + at, &word, 4);
  }
}

static vyre_status
verify(const vyre_module *module)
{
  vyre_verify_errors errors = {0};
  vyre_bytes text = {0};
  vyre_status status = vyre_verify(module, &errors);
  if (status) {
    vyre_status printed = vyre_verify_print(module, &errors, &text);
    if (!printed && text.data)
      fwrite(text.data, 1, text.size, stderr);
    status = vyre_status_join(status, printed);
  }
  vyre_bytes_free(&text);
  vyre_verify_errors_free(&errors);
  return status;
}

/* The module, and the input's own SPIR-V if the input is SPIR-V or GLSL. */
static vyre_status
load(run_program *program, vyre_bytes *file, const run_options *options, vyre_diagnostics diagnostics)
{
  VYRE_TRY(vyre_module_create(NULL, 0, &program->module));
  VYRE_TRY(vyre_file_read(program->path, file));
  vyre_glsl_options glsl = {
      .include_dirs = options->glsl.include_dirs.names,
      .include_dir_count = options->glsl.include_dirs.count,
      .defines = options->glsl.defines.names,
      .define_count = options->glsl.defines.count,
      .target_env = options->target_env,
      .debug = true, /* names and lines for messages */
      .include_root = options->glsl.include_root,
      .most_memory = (uint32_t)options->glsl.memory.value,
      .most_seconds = (uint32_t)options->glsl.seconds.value,
      .most_expansion = (uint32_t)options->glsl.expansion.value,
  };
  vyre_input_kind kind = vyre_input_detect(program->path, file->data, file->size);
  if (kind == VYRE_INPUT_GLSL)
    VYRE_TRY(vyre_glsl_compile(file->data, file->size, program->path, &glsl, diagnostics, &program->words));
  else if (kind == VYRE_INPUT_SPIRV)
    VYRE_TRY(vyre_bytes_append(&program->words, file->data, file->size));
  const vyre_bytes *source = program->words.size ? &program->words : file;
  const char *data = source->data ? source->data : "";
  if (kind == VYRE_INPUT_VIR) /* what is said of its rows points at the text */
    VYRE_TRY(vyre_text_parse_lines(program->module, data, source->size, program->path, diagnostics));
  else
    VYRE_TRY(vyre_input_parse(program->module, program->path, data, source->size, &glsl, diagnostics, &kind));
  VYRE_TRY(verify(program->module));
  if (program->words.size)
    swap_words(&program->words);
  return VYRE_OK;
}

/* ---- which program ------------------------------------------------------------------------------------------------------- */

static const char *
entry_name(run_program *program, uint32_t row)
{
  vyre_program_info *info = vyre_program_info_of(program->module, (vyre_row){row});
  const char *name = vyre_row_name(program->module, (vyre_row){row});
  return info->entry ? vyre_string_text(program->module, info->entry) : name ? name : "";
}

static bool
is_named(run_program *program, uint32_t row, const char *name)
{
  const char *own = vyre_row_name(program->module, (vyre_row){row});
  return strcmp(entry_name(program, row), name) == 0 || (own && strcmp(own, name) == 0);
}

static vyre_status
no_program(run_program *program, const char *wanted)
{
  const vyre_view *view = vyre_module_view(program->module);
  vyre_bytes names = {0};
  vyre_status status = VYRE_OK;
  for (uint32_t row = view->first[0]; row && !status; row = view->next[row])
    status = vyre_bytes_printf(&names, "%s%s", names.size ? ", " : "", entry_name(program, row));
  if (status) {
    vyre_bytes_free(&names);
    return status;
  }
  if (!view->first[0])
    status = VYRE_ERROR(VYRE_CODE_INPUT, "%s: no program in it\nFix: give a file with a compute program", program->path);
  else if (wanted)
    status = VYRE_ERROR(VYRE_CODE_USAGE, "%s: no program '%s'; there are: %s\nFix: name one of them with -entry", program->path,
                        wanted, names.data);
  else
    status = VYRE_ERROR(VYRE_CODE_USAGE, "%s: several programs: %s\nFix: name one of them with -entry", program->path, names.data);
  vyre_bytes_free(&names);
  return status;
}

static vyre_status
choose_program(run_program *program, const char *wanted)
{
  const vyre_view *view = vyre_module_view(program->module);
  uint32_t first = view->first[0], found = 0;
  if (!wanted && first && !view->next[first])
    found = first;
  for (uint32_t row = first; wanted && row && !found; row = view->next[row])
    found = is_named(program, row, wanted) ? row : 0;
  if (!found)
    return no_program(program, wanted);
  program->row = (vyre_row){found};
  program->entry = entry_name(program, found);
  return VYRE_OK;
}

/* ---- specialization ------------------------------------------------------------------------------------------------------ */

static uint32_t
find_spec(const run_program *program, const run_setting *setting)
{
  const vyre_view *view = vyre_module_view(program->module);
  char *end;
  unsigned long id = strtoul(setting->name, &end, 10);
  bool is_id = (size_t)(end - setting->name) == setting->name_length;
  for (uint32_t row = view->first[program->row.id]; row; row = view->next[row]) {
    if (VYRE_ROW_OP(view->op[row]) != VYRE_OP_spec)
      continue;
    const char *name = vyre_row_name(program->module, (vyre_row){row});
    if (is_id ? vyre_row_spec_id(program->module, (vyre_row){row}) == id
              : name && strlen(name) == setting->name_length && memcmp(name, setting->name, setting->name_length) == 0)
      return row;
  }
  return 0;
}

static vyre_status
take_specs(run_program *program, const run_options *options, bool is_strict)
{
  const vyre_view *view = vyre_module_view(program->module);
  program->specs = calloc((size_t)options->specs.count + 1, sizeof *program->specs);
  if (!program->specs)
    return VYRE_OUT_OF_MEMORY("for specialization constants");
  for (uint32_t i = 0; i < options->specs.count; i++) {
    const run_setting *setting = &options->specs.items[i];
    uint32_t row = find_spec(program, setting);
    if (!row && !is_strict)
      continue;
    if (!row)
      return VYRE_ERROR(VYRE_CODE_USAGE, "-spec: %s has no specialization constant '%.*s'\nFix: name one by its name or its id",
                        program->path, (int)setting->name_length, setting->name);
    uint64_t bits;
    if (!run_scalar_parse(setting->value, strlen(setting->value), VYRE_TYPE_KIND(VYRE_ROW_TYPE(view->op[row])), &bits))
      return VYRE_ERROR(VYRE_CODE_USAGE,
                        "-spec %.*s: '%s' is no value of its type\nFix: a number that the type holds, or true, false",
                        (int)setting->name_length, setting->name, setting->value);
    program->specs[program->spec_count++] = (vyre_spec_value){vyre_row_spec_id(program->module, (vyre_row){row}), bits};
  }
  return VYRE_OK;
}

/* ---- buffers, images, samplers
 * ------------------------------------------------------------------------------------------------------------- */

enum { MOST_DESCRIPTORS = 65536 }; /* of one array */

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

/* By set and binding, push constants last. */
static bool
stands_before(const run_buffer *a, const run_buffer *b)
{
  if (a->space == VYRE_SPACE_PUSH || b->space == VYRE_SPACE_PUSH)
    return b->space == VYRE_SPACE_PUSH && a->space != VYRE_SPACE_PUSH;
  if (a->set != b->set || a->binding != b->binding)
    return a->set < b->set || (a->set == b->set && a->binding < b->binding);
  return a->element < b->element;
}

static vyre_status
declared_twice(const run_program *program, const run_buffer *buffer)
{
  char name[128];
  run_buffer_describe(buffer, name, sizeof name);
  return VYRE_ERROR(VYRE_CODE_INPUT, "%s: %s is declared twice, as two things\nFix: give each a binding of its own", program->path,
                    name);
}

/* An image and a sampler at one binding are one descriptor; other kinds that differ cannot share one. */
static vyre_status
join_handles(const run_program *program, const run_buffer *buffer, run_buffer *old)
{
  const bool is_sampler = buffer->kind == VYRE_SLOT_SAMPLER;
  const run_buffer *image = is_sampler ? old : buffer, *sampler = is_sampler ? buffer : old;
  if (sampler->kind == VYRE_SLOT_SAMPLER && (image->kind == VYRE_SLOT_SAMPLED_IMAGE || image->kind == VYRE_SLOT_COMBINED)) {
    const uint32_t bits = sampler->sampler;
    *old = *image;
    old->kind = VYRE_SLOT_COMBINED;
    old->sampler = bits;
    return VYRE_OK;
  }
  if (buffer->kind == old->kind && buffer->image.dim == old->image.dim && buffer->image.arrayed == old->image.arrayed &&
      buffer->image.is_depth == old->image.is_depth && buffer->image.format == old->image.format)
    return VYRE_OK;
  return declared_twice(program, old);
}

/* Rows of one descriptor are one buffer: its type is the one that has a runtime array, or else the longest. */
static vyre_status
add_buffer(run_program *program, const run_buffer *buffer)
{
  for (uint32_t i = 0; i < program->buffer_count; i++) {
    run_buffer *old = &program->buffers[i];
    if (!run_buffer_same(old, buffer))
      continue;
    bool is_writable = old->is_writable || buffer->is_writable;
    if (buffer->kind > VYRE_SLOT_UNIFORM || old->kind > VYRE_SLOT_UNIFORM)
      VYRE_TRY(join_handles(program, buffer, old));
    else if (buffer->kind != old->kind)
      return declared_twice(program, old);
    else if (buffer->shape.stride ? !old->shape.stride : !old->shape.stride && buffer->shape.fixed > old->shape.fixed)
      *old = *buffer;
    old->is_writable = is_writable;
    return VYRE_OK;
  }
  uint32_t at = program->buffer_count++;
  for (; at > 0 && stands_before(buffer, &program->buffers[at - 1]); at--)
    program->buffers[at] = program->buffers[at - 1];
  program->buffers[at] = *buffer;
  return VYRE_OK;
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

/* The element type of a binding's array, and its length: handles, or blocks.  A runtime array gets a default
 * length. */
static vyre_type_id
descriptor_type(const run_program *program, vyre_space space, vyre_type_id type, uint64_t *out_count)
{
  enum { DEFAULT_DESCRIPTORS = 4 };
  const run_layout layout = run_program_layout(program);
  uint64_t count = 1;
  vyre_type_id element = type;
  vyre_type_info info = vyre_type_get(program->module, type);
  for (; info.form == VYRE_FORM_ARRAY; info = vyre_type_get(program->module, element)) {
    const uint64_t length = info.flags & VYRE_TYPE_RUNTIME ? DEFAULT_DESCRIPTORS : run_layout_length(&layout, &info);
    count = length > MOST_DESCRIPTORS / count ? MOST_DESCRIPTORS + 1 : count * (length ? length : 1);
    element = info.element;
  }
  const bool is_block = info.form == VYRE_FORM_STRUCT && info.flags & (VYRE_TYPE_BLOCK | VYRE_TYPE_BUFFER_BLOCK);
  const bool is_array = space == VYRE_SPACE_HANDLE || (is_block && space != VYRE_SPACE_PUSH);
  *out_count = is_array ? count : 1;
  return is_array ? element : type;
}

/* The buffer, image or sampler that all descriptors of a buffer row are like. */
static vyre_status
take_row(run_program *program, uint32_t row, vyre_type_id type, run_buffer *out)
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
  };
  if (space == VYRE_SPACE_HANDLE)
    return run_handle_take(program, type, out);
  out->shape = run_buffer_shape(&layout, type);
  if (!holds_opaque(program->module, type))
    return VYRE_OK;
  return VYRE_ERROR(VYRE_CODE_INPUT,
                    "%s: %%%s is a buffer that holds what is neither data nor an address\nFix: run a program without it",
                    program->path, name ? name : "?");
}

static vyre_status
take_descriptors(run_program *program, const run_options *options, uint32_t row, uint32_t *capacity)
{
  const vyre_view *view = vyre_module_view(program->module);
  const vyre_space space = VYRE_BUFFER_SPACE(view->imm_hi[row]);
  const vyre_type_id whole = view->imm[row];
  uint64_t count;
  const vyre_type_id type = descriptor_type(program, space, whole, &count);
  run_buffer buffer;
  VYRE_TRY(take_row(program, row, type, &buffer));
  if (count > MOST_DESCRIPTORS)
    return VYRE_ERROR(VYRE_CODE_INPUT, "%s: %%%s is an array of more than %d descriptors\nFix: make it shorter", program->path,
                      buffer.name[0] ? buffer.name : "?", MOST_DESCRIPTORS);
  if (program->buffer_count + count > *capacity) {
    const uint32_t grown = program->buffer_count + (uint32_t)count + 16;
    run_buffer *buffers = realloc(program->buffers, sizeof *buffers * grown);
    if (!buffers)
      return VYRE_OUT_OF_MEMORY("for the buffers");
    program->buffers = buffers;
    *capacity = grown;
  }
  buffer.is_element = type != whole;
  for (buffer.element = 0; buffer.element < count; buffer.element++) {
    if (run_buffer_is_image(&buffer))
      VYRE_TRY(run_image_size(program, options, &buffer));
    VYRE_TRY(add_buffer(program, &buffer));
  }
  return VYRE_OK;
}

static vyre_status
take_buffers(run_program *program, const run_options *options)
{
  const vyre_view *view = vyre_module_view(program->module);
  uint32_t capacity = 0;
  for (uint32_t row = view->first[program->row.id]; row; row = view->next[row]) {
    const vyre_space space = VYRE_BUFFER_SPACE(view->imm_hi[row]);
    if (VYRE_ROW_OP(view->op[row]) == VYRE_OP_verbatim)
      return VYRE_ERROR(VYRE_CODE_INPUT,
                        "%s: the module is kept word for word, so its buffers are not known\nFix: vyre-passmgr tells what in it "
                        "is not covered: leave that out",
                        program->path);
    if (VYRE_ROW_OP(view->op[row]) == VYRE_OP_buffer && (space <= VYRE_SPACE_PUSH || space == VYRE_SPACE_HANDLE))
      VYRE_TRY(take_descriptors(program, options, row, &capacity));
  }
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
    if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0)
      return true;
  }
  return false;
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

/* SPIR-V for a target that takes it, unless the input was that; a strict program asks for floats that are as exact as the device
 * can have them. */
static vyre_status
write_words(run_program *program, const run_options *options, run_target target, uint32_t input)
{
  vyre_spirv_options spirv = {0};
  vyre_device_info info;
  if (!target || program->words.size)
    return VYRE_OK;
  VYRE_TRY(run_device_describe(options, target, &info));
  if (!(info.forms >> VYRE_KERNEL_SPIRV & 1))
    return VYRE_OK;
  if (!(vyre_module_view(program->module)->imm[program->row.id] & VYRE_PROGRAM_RELAXED))
    spirv.float_controls = info.free_float_controls ? info.float_controls : 0;
  return vyre_spirv_write(program->module, input, &spirv, &program->words);
}

static vyre_status
fill_program(run_program *program, vyre_bytes *file, const run_options *options, vyre_diagnostics diagnostics)
{
  bool is_second = program->path == options->compare && options->compare != options->input;
  VYRE_TRY(load(program, file, options, diagnostics));
  VYRE_TRY(choose_program(program, options->entry));
  VYRE_TRY(take_specs(program, options, !is_second)); /* what compares may have lost a constant that it does not use */
  VYRE_TRY(take_buffers(program, options));
  VYRE_TRY(run_pointers_take(program));
  if (!vyre_workgroup_size(program->module, program->row, program->specs, program->spec_count, program->workgroup))
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "%s: the workgroup's size is not constant\nFix: make it of constants and specialization constants",
                      program->path);
  uint32_t input = vyre_program_info_of(program->module, program->row)->input;
  VYRE_TRY(write_words(program, options, is_second ? options->compare_target : options->target, input));
  return options->compare == options->input ? write_words(program, options, options->compare_target, input) : VYRE_OK;
}

vyre_status
run_program_load(const char *path, const run_options *options, vyre_diagnostics diagnostics, run_program *out)
{
  *out = (run_program){.path = path};
  vyre_bytes file = {0};
  vyre_status status = fill_program(out, &file, options, diagnostics);
  vyre_bytes_free(&file);
  if (status)
    run_program_free(out);
  return status;
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
