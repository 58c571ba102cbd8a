/* The initial contents of buffers: sizes, bytes, and the default grid.
 *
 * Both programs of a comparison get the same bytes.  Random values depend only on the seed, the buffer's binding and the element's
 * index.  Floats are in [-1, 1), integers in 0..255 (signed: -128..127), so that they can be indices and counts.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- contents ------------------------------------------------------------------------------------------------------------ */

typedef enum contents_kind {
  CONTENTS_RANDOM,
  CONTENTS_BITS,
  CONTENTS_ZERO,
  CONTENTS_IOTA,
  CONTENTS_VALUES,
  CONTENTS_FILE
} contents_kind;

typedef struct source {
  contents_kind kind;
  uint64_t seed;
  const char *text; /* values, or path of the file */
} source;

static vyre_status
parse_contents(const run_setting *setting, uint64_t seed, source *out)
{
  static const struct {
    const char *text;
    contents_kind kind;
  } kinds[] = {{"random", CONTENTS_RANDOM}, {"bits", CONTENTS_BITS}, {"zero", CONTENTS_ZERO}, {"iota", CONTENTS_IOTA}};
  *out = (source){CONTENTS_RANDOM, seed, NULL};
  if (!setting)
    return VYRE_OK;
  const char *value = setting->value;
  if (strncmp(value, "values:", 7) == 0) {
    *out = (source){CONTENTS_VALUES, 0, value + 7};
    return VYRE_OK;
  }
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    size_t length = strlen(kinds[i].text);
    if (strncmp(value, kinds[i].text, length) != 0 || (value[length] && value[length] != ':'))
      continue;
    out->kind = kinds[i].kind;
    if (!value[length])
      return VYRE_OK;
    char *end;
    errno = 0;
    out->seed = strtoull(value + length + 1, &end, 0);
    if (out->kind > CONTENTS_BITS || end == value + length + 1 || *end || errno || value[length + 1] == '-')
      return VYRE_ERROR(VYRE_CODE_USAGE,
                        "-buffer %.*s: '%s' is invalid\nFix: give random:SEED, bits:SEED, zero, iota, values:V,V or a file",
                        (int)setting->name_length, setting->name, value);
    return VYRE_OK;
  }
  *out = (source){CONTENTS_FILE, 0, value};
  return VYRE_OK;
}

static uint64_t
count_values(const char *text)
{
  uint64_t count = 1;
  for (; *text; text++)
    count += *text == ',';
  return count;
}

typedef struct generator {
  run_data *data;
  source contents;
  uint64_t key;
  const char *at;  /* the next value in the text; NULL at its end */
  const char *bad; /* the first value that does not have its element's type */
  vyre_kind bad_kind;
} generator;

/* Mixes a counter as in splitmix64, so that each element can be computed alone. */
static uint64_t
mixed(uint64_t value)
{
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
  value = (value ^ value >> 27) * 0x94d049bb133111ebu;
  return value ^ value >> 31;
}

/* Hashes the key of a buffer without a binding. */
static uint64_t
hash_text(const char *text)
{
  uint64_t hash = 0;
  for (; text && *text; text++)
    hash = mixed(hash + (unsigned char)*text);
  return hash;
}

static uint64_t
random_value(const generator *g, uint64_t index, vyre_kind kind)
{
  uint64_t bits = mixed(g->key + (index + 1) * 0x9e3779b97f4a7c15u);
  if (kind == VYRE_BOOL)
    return bits & 1;
  if (g->contents.kind == CONTENTS_BITS)
    return bits >> (64 - vyre_kind_bits(kind));
  if (vyre_kind_is_float(kind)) {
    const double value = kind == VYRE_F16 ? (double)(bits >> 53) * 0x1p-10 - 1.0        /* 11 bits: exact */
                                          : (double)(bits >> 40) * 0x1p-23 - 1.0;       /* 24 bits: exact in f32 too */
    return run_float_bits(kind, g->data->buffer->image.is_depth ? fabs(value) : value); /* depths are from 0 on */
  }
  return vyre_kind_is_signed(kind) ? (bits >> 56) - 128 : bits >> 56;
}

static bool
next_value(generator *g, vyre_kind kind, uint64_t *out)
{
  *out = 0;
  if (!g->at)
    return true;
  size_t length = strcspn(g->at, ",");
  if (!vyre_scalar_parse(g->at, length, kind, out)) {
    g->bad = g->at;
    g->bad_kind = kind;
    return false;
  }
  g->at = g->at[length] ? g->at + length + 1 : NULL;
  return true;
}

static bool
generate(void *user, uint64_t index, uint64_t offset, vyre_kind kind)
{
  generator *g = user;
  uint64_t bits = 0;
  if (g->contents.kind == CONTENTS_VALUES) {
    if (!next_value(g, kind, &bits))
      return false;
  } else if (g->contents.kind == CONTENTS_IOTA) {
    bits = kind == VYRE_BOOL ? index & 1 : vyre_kind_is_float(kind) ? run_float_bits(kind, (double)index) : index;
  } else {
    bits = random_value(g, index, kind);
  }
  run_scalar_put(g->data->initial + offset, kind, bits);
  return true;
}

static vyre_status
fill_data(run_data *data, const source *contents)
{
  const run_buffer *buffer = data->buffer;
  char name[128];
  run_buffer_describe(buffer, name, sizeof name);
  if (contents->kind == CONTENTS_ZERO)
    return VYRE_OK;
  uint64_t place = buffer->space == VYRE_SPACE_PUSH ? UINT64_MAX : (uint64_t)buffer->set << 32 | buffer->binding;
  generator g = {
      .data = data,
      .contents = *contents,
      .key = mixed(mixed(contents->seed) ^ place ^ mixed(buffer->element) ^ mixed(hash_text(buffer->key))),
      .at = contents->text,
  };
  run_layout layout = run_program_layout(data->program);
  run_layout_each(&layout, buffer->type, data->size, generate, &g);
  if (g.bad)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-buffer %s: '%.*s' is not a value of its element's type\nFix: give %s", name,
                      (int)strcspn(g.bad, ","), g.bad, vyre_scalar_range(g.bad_kind));
  if (contents->kind == CONTENTS_VALUES && g.at)
    return VYRE_ERROR(VYRE_CODE_USAGE,
                      "-buffer %s: '%.*s' is beyond the end of its %zu bytes\nFix: give fewer values, or a larger -size", name,
                      (int)strcspn(g.at, ","), g.at, data->size);
  return VYRE_OK;
}

/* ---- sizes --------------------------------------------------------------------------------------------------------------- */

static vyre_status
parse_size(const run_data *data, const run_setting *setting, uint64_t *out)
{
  const run_shape *shape = &data->buffer->shape;
  char *end;
  errno = 0;
  uint64_t count = strtoull(setting->value, &end, 0);
  bool is_bytes = strcmp(end, "b") == 0;
  if (end == setting->value || errno || setting->value[0] == '-' || (*end && !is_bytes))
    return VYRE_ERROR(VYRE_CODE_USAGE, "-size %.*s: '%s' is not a size\nFix: give a number of elements, or of bytes as in 4096b",
                      (int)setting->name_length, setting->name, setting->value);
  if (!is_bytes && !shape->stride)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-size %.*s: the buffer has a fixed size of %" PRIu64 " bytes\nFix: leave the option out",
                      (int)setting->name_length, setting->name, shape->fixed);
  if (!is_bytes &&
      (__builtin_mul_overflow(count, (uint64_t)shape->stride, out) || __builtin_add_overflow(*out, shape->offset, out)))
    *out = UINT64_MAX;
  if (is_bytes)
    *out = count;
  if (*out < shape->fixed || *out == 0)
    return VYRE_ERROR(VYRE_CODE_USAGE,
                      "-size %.*s: %s makes %" PRIu64 " bytes, but the buffer has at least %" PRIu64
                      "\nFix: make it larger, or leave -size out",
                      (int)setting->name_length, setting->name, setting->value, *out, shape->fixed ? shape->fixed : 1);
  return VYRE_OK;
}

typedef struct scalar_count {
  uint64_t count;
} scalar_count;

static bool
count_scalar(void *user, uint64_t index, uint64_t offset, vyre_kind kind)
{
  (void)offset;
  (void)kind;
  ((scalar_count *)user)->count = index + 1;
  return true;
}

/* Returns the length of the runtime array that `count` scalars need. */
static uint64_t
elements_for(const run_data *data, uint64_t count)
{
  run_layout layout = run_program_layout(data->program);
  const run_shape *shape = &data->buffer->shape;
  scalar_count without = {0}, with = {0};
  run_layout_each(&layout, data->buffer->type, shape->offset, count_scalar, &without);
  run_layout_each(&layout, data->buffer->type, shape->offset + shape->stride, count_scalar, &with);
  uint64_t each = with.count > without.count ? with.count - without.count : 1;
  return count > without.count ? (count - without.count + each - 1) / each : 1;
}

static vyre_status
find_size(run_data *data, uint64_t elements, const run_setting *setting, const source *contents, const vyre_bytes *file,
          uint64_t *out)
{
  const run_shape *shape = &data->buffer->shape;
  if (setting && !run_buffer_is_image(data->buffer))
    return parse_size(data, setting, out);
  *out = shape->fixed;
  if (contents->kind == CONTENTS_FILE && shape->stride)
    *out = file->size > shape->fixed ? file->size : shape->fixed;
  else if (shape->stride) {
    elements = contents->kind == CONTENTS_VALUES ? elements_for(data, count_values(contents->text)) : elements;
    *out = shape->offset + elements * shape->stride;
    *out = *out > shape->fixed ? *out : shape->fixed;
  }
  return VYRE_OK;
}

/* ---- one buffer ---------------------------------------------------------------------------------------------------------- */

/* Makes the contents.  *room is the number of bytes that buffers may still have.  It is checked here, because an allocation beyond
 * the machine's memory can succeed and fail only when used. */
static vyre_status
make_with_file(const run_setup *setup, const source *contents, const vyre_bytes *file, uint64_t at_least, uint64_t *room,
               run_data *data)
{
  char name[128];
  run_buffer_describe(data->buffer, name, sizeof name);
  uint64_t size = 0;
  VYRE_TRY(find_size(data, setup->elements, run_setting_find(&setup->sizes, data->buffer), contents, file, &size));
  size = size > at_least ? size : at_least;
  if (size == 0)
    return VYRE_ERROR(VYRE_CODE_INPUT, "%s: %s has 0 bytes\nFix: give its arrays a length", data->program->path, name);
  if (contents->kind == CONTENTS_FILE && file->size > size)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "-buffer %s: '%s' has %zu bytes, but the buffer %" PRIu64 "\nFix: give a shorter file, or a larger -size",
                      name, contents->text, file->size, size);
  if (size > *room)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "%s has %" PRIu64 " bytes, but its contents before and after the run must fit into this machine's memory, "
                      "which has room for %" PRIu64 "\nFix: make it smaller with -size",
                      name, size, *room);
  *room -= size;
  data->initial = size > SIZE_MAX / 2 ? NULL : calloc(1, size);
  if (!data->initial)
    return VYRE_ERROR(VYRE_CODE_INPUT, "out of memory for %s, %" PRIu64 " bytes\nFix: make it smaller with -size", name, size);
  data->size = size;
  if (contents->kind != CONTENTS_FILE)
    return fill_data(data, contents);
  if (file->size)
    memcpy(data->initial, file->data, file->size);
  return VYRE_OK;
}

static vyre_status
make_data(const run_setup *setup, uint64_t at_least, uint64_t *room, run_data *data)
{
  source contents;
  VYRE_TRY(parse_contents(run_setting_find(&setup->buffers, data->buffer), setup->seed, &contents));
  vyre_bytes file = {0};
  vyre_status status = contents.kind == CONTENTS_FILE ? vyre_file_read(contents.text, &file) : VYRE_OK;
  if (!status)
    status = make_with_file(setup, &contents, &file, at_least, room, data);
  vyre_bytes_free(&file);
  return status;
}

/* ---- all buffers --------------------------------------------------------------------------------------------------------- */

uint32_t
run_inputs_find(const run_inputs *inputs, const run_buffer *buffer)
{
  uint32_t i = 0;
  while (i + 1 < inputs->count && !run_buffer_same(inputs->items[i].buffer, buffer))
    i++;
  return i;
}

static const run_buffer *
find_same(const run_program *program, const run_buffer *buffer)
{
  for (uint32_t i = 0; program && i < program->buffer_count; i++) {
    if (run_buffer_same(&program->buffers[i], buffer))
      return &program->buffers[i];
  }
  return NULL;
}

vyre_status
run_inputs_check(const run_inputs *inputs, const run_settings *settings, const char *option, bool is_one)
{
  for (uint32_t i = 0; i < settings->count; i++) {
    uint32_t found = 0;
    vyre_bytes names = {0};
    for (uint32_t k = 0; k < inputs->count; k++) {
      char name[128];
      run_buffer_describe(inputs->items[k].buffer, name, sizeof name);
      found += run_buffer_is(inputs->items[k].buffer, settings->items[i].name, settings->items[i].name_length);
      vyre_status_free(vyre_bytes_printf(&names, "%s%s", k ? ", " : "", name)); /* without memory the list is shorter */
    }
    vyre_status status = VYRE_OK;
    if (found > 1 && is_one)
      status = VYRE_ERROR(VYRE_CODE_USAGE, "-%s: '%.*s' names %u buffers\nFix: name one of them, as in %.*s[0]", option,
                          (int)settings->items[i].name_length, settings->items[i].name, found, (int)settings->items[i].name_length,
                          settings->items[i].name);
    if (!found)
      status = VYRE_ERROR(VYRE_CODE_USAGE, "-%s: no buffer '%.*s'; there are: %s\nFix: name one of them, or SET.BINDING, or push",
                          option, (int)settings->items[i].name_length, settings->items[i].name, names.data ? names.data : "none");
    vyre_bytes_free(&names);
    VYRE_TRY(status);
  }
  return VYRE_OK;
}

/* Chooses one invocation a texel of written images, otherwise one an element of the longest runtime array along x. */
static void
choose_groups(const run_setup *setup, const run_program *program, run_inputs *inputs)
{
  uint64_t invocations = 1, groups[3] = {1, 1, 1}, longest = 0;
  bool has_images = false;
  for (uint32_t i = 0; i < 3; i++)
    invocations *= program->workgroup[i] ? program->workgroup[i] : 1;
  for (uint32_t i = 0; i < inputs->count; i++) {
    const run_buffer *buffer = inputs->items[i].buffer;
    const uint64_t elements = buffer->shape.stride ? (inputs->items[i].size - buffer->shape.offset) / buffer->shape.stride : 0;
    longest = elements > longest ? elements : longest;
    if (!run_buffer_is_image(buffer) || !buffer->is_writable)
      continue;
    const uint32_t axis = buffer->image.dim == VYRE_IMAGE_1D ? 1 : 2; /* of the layers */
    for (uint32_t k = 0; k < 3; k++) {
      const uint64_t texels = (uint64_t)buffer->image.extent[k] * (k == axis ? buffer->image.layers : 1);
      const uint64_t size = program->workgroup[k] ? program->workgroup[k] : 1, wanted = (texels + size - 1) / size;
      groups[k] = wanted > groups[k] ? wanted : groups[k];
    }
    has_images = true;
  }
  if (!has_images && longest)
    groups[0] = (longest + invocations - 1) / invocations;
  for (uint32_t i = 0; i < 3; i++)
    inputs->groups[i] = groups[i] > 65535 ? 65535 : (uint32_t)groups[i];
  if (setup->has_groups)
    memcpy(inputs->groups, setup->groups, sizeof inputs->groups);
}

static vyre_status
fill_inputs(const run_setup *setup, const run_program *first, const run_program *second, run_inputs *inputs)
{
  uint32_t most = first->buffer_count + (second ? second->buffer_count : 0);
  inputs->items = calloc((size_t)most + 1, sizeof *inputs->items);
  if (!inputs->items)
    return VYRE_OUT_OF_MEMORY("for the buffers");
  for (uint32_t i = 0; i < first->buffer_count; i++) {
    if (first->buffers[i].kind != VYRE_SLOT_SAMPLER)
      inputs->items[inputs->count++] = (run_data){.program = first, .buffer = &first->buffers[i]};
  }
  for (uint32_t i = 0; second && i < second->buffer_count; i++) {
    if (!find_same(first, &second->buffers[i]) && second->buffers[i].kind != VYRE_SLOT_SAMPLER)
      inputs->items[inputs->count++] = (run_data){.program = second, .buffer = &second->buffers[i]};
  }
  VYRE_TRY(run_inputs_check(inputs, &setup->buffers, "buffer", false));
  VYRE_TRY(run_inputs_check(inputs, &setup->sizes, "size", false));
  VYRE_TRY(run_inputs_check(inputs, &setup->binds, "bind", false));
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  uint64_t room = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page / (second ? 3 : 2) : UINT64_MAX;
  for (uint32_t i = 0; i < inputs->count; i++) {
    const run_buffer *other = find_same(second, inputs->items[i].buffer);
    VYRE_TRY(make_data(setup, other ? other->shape.fixed : 0, &room, &inputs->items[i]));
  }
  choose_groups(setup, first, inputs);
  return VYRE_OK;
}

vyre_status
run_inputs_make(const run_setup *setup, const run_program *first, const run_program *second, run_inputs *out)
{
  *out = (run_inputs){0};
  vyre_status status = fill_inputs(setup, first, second, out);
  if (status)
    run_inputs_free(out);
  return status;
}

void
run_inputs_free(run_inputs *inputs)
{
  for (uint32_t i = 0; i < inputs->count; i++)
    free(inputs->items[i].initial);
  free(inputs->items);
  *inputs = (run_inputs){0};
}
