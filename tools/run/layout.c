/* The scalars of a buffer: their offsets, their paths, and conversions from and to text.
 *
 * Lengths from specialization constants have the values of the run.  A walk stays within the buffer's bytes, even if the types are
 * larger.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- scalars ------------------------------------------------------------------------------------------------------------- */

uint64_t
run_scalar_get(const void *data, vyre_kind kind)
{
  const unsigned char *bytes = data;
  uint64_t bits = 0;
  for (uint32_t i = vyre_kind_bytes(kind); i-- > 0;)
    bits = bits << 8 | bytes[i]; /* little-endian, as memory in SPIR-V on all supported hosts */
  return bits;
}

void
run_scalar_put(void *data, vyre_kind kind, uint64_t bits)
{
  unsigned char *bytes = data;
  for (uint32_t i = 0; i < vyre_kind_bytes(kind); i++)
    bytes[i] = (unsigned char)(bits >> 8 * i);
}

double
run_float_value(vyre_kind kind, uint64_t bits)
{
  if (kind == VYRE_F64) {
    double value;
    memcpy(&value, &bits, 8);
    return value;
  }
  if (kind == VYRE_F32) {
    float value;
    uint32_t word = (uint32_t)bits;
    memcpy(&value, &word, 4);
    return (double)value;
  }
  double fraction = (double)(bits & 0x3ff), exponent = (double)(bits >> 10 & 0x1f); /* f16 */
  double value = exponent == 31  ? (fraction > 0 ? (double)NAN : (double)INFINITY)
                 : exponent == 0 ? ldexp(fraction, -24)
                                 : ldexp(fraction + 1024, (int)exponent - 25);
  return bits >> 15 & 1 ? -value : value;
}

static uint64_t
half_bits(double value)
{
  uint64_t sign = signbit(value) ? 0x8000 : 0;
  double magnitude = fabs(value);
  int exponent = 0;
  if (isnan(value))
    return sign | 0x7e00;
  if (magnitude == 0)
    return sign;
  if (magnitude >= 65520.0) /* halfway between the largest half, 65504, and 65536 */
    return sign | 0x7c00;
  (void)frexp(magnitude, &exponent);
  exponent = exponent < -13 ? -13 : exponent; /* denormals have the steps of the least normal exponent */
  /* The value in steps of 2^(exponent - 11).  If rounding reaches the next exponent, the sum below carries into it. */
  uint64_t steps = (uint64_t)rint(ldexp(magnitude, 11 - exponent));
  return sign | ((uint64_t)(exponent + 13) * 1024 + steps);
}

uint64_t
run_float_bits(vyre_kind kind, double value)
{
  if (kind == VYRE_F64) {
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return bits;
  }
  if (kind == VYRE_F16)
    return half_bits(value);
  float single = (float)value;
  uint32_t bits;
  memcpy(&bits, &single, 4);
  return bits;
}

static bool
reads_back(const char *text, vyre_kind kind, uint64_t bits)
{
  uint64_t again;
  return vyre_scalar_parse(text, strlen(text), kind, &again) && again == bits;
}

/* Prints the fewest digits that read back as the same value.  Only very large and very small values have an exponent. */
static void
print_float(vyre_kind kind, uint64_t bits, char out[48])
{
  double value = run_float_value(kind, bits);
  int digits = kind == VYRE_F64 ? 17 : kind == VYRE_F32 ? 9 : 5;
  bool is_moderate = fabs(value) >= 1e-4 && fabs(value) < 1e9;
  for (int precision = 1; precision <= digits; precision++) {
    snprintf(out, 48, "%.*g", precision, value);
    if (reads_back(out, kind, bits) && !(is_moderate && strchr(out, 'e')))
      break;
  }
}

void
run_scalar_print(vyre_kind kind, uint64_t bits, char out[48])
{
  uint32_t width = vyre_kind_bits(kind);
  if (vyre_kind_is_float(kind)) {
    if (isnan(run_float_value(kind, bits)))
      snprintf(out, 48, "nan");
    else
      print_float(kind, bits, out);
  } else if (vyre_kind_is_signed(kind)) {
    snprintf(out, 48, "%" PRId64, (int64_t)(bits << (64 - width)) >> (64 - width));
  } else {
    snprintf(out, 48, "%" PRIu64, bits);
  }
}

/* ---- sizes --------------------------------------------------------------------------------------------------------------- */

uint64_t
run_layout_length(const run_layout *layout, const vyre_type_info *info)
{
  uint64_t length = info->count;
  if (info->count_row &&
      !vyre_constant_value(layout->module, (vyre_row){info->count_row}, layout->specs, layout->spec_count, &length))
    return 0;
  return length;
}

static uint64_t
saturated_product(uint64_t a, uint64_t b)
{
  uint64_t product;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX / 2 : product;
}

/* Returns the bytes without elements of runtime arrays. */
static uint64_t
fixed_size(const run_layout *layout, vyre_type_id type)
{
  vyre_type_info info = vyre_type_get(layout->module, type);
  switch (info.form) {
  case VYRE_FORM_ARRAY:
    return info.flags & VYRE_TYPE_RUNTIME ? 0 : saturated_product(run_layout_length(layout, &info), info.stride);
  case VYRE_FORM_STRUCT: {
    uint64_t size = info.size;
    for (uint32_t i = 0; i < info.count; i++) {
      uint64_t end = vyre_type_get(layout->module, type).members[i].offset;
      end += fixed_size(layout, vyre_type_get(layout->module, type).members[i].type);
      size = end > size ? end : size;
    }
    return size;
  }
  default:
    return info.size;
  }
}

run_shape
run_layout_shape(const run_layout *layout, vyre_type_id type)
{
  run_shape shape = {.fixed = fixed_size(layout, type)};
  vyre_type_info info = vyre_type_get(layout->module, type);
  if (info.form == VYRE_FORM_STRUCT && info.count) {
    shape.offset = info.members[info.count - 1].offset;
    info = vyre_type_get(layout->module, info.members[info.count - 1].type);
  }
  if (info.form == VYRE_FORM_ARRAY && info.flags & VYRE_TYPE_RUNTIME)
    shape.stride = info.stride;
  return shape;
}

/* ---- walks --------------------------------------------------------------------------------------------------------------- */

typedef struct walk {
  const run_layout *layout;
  uint64_t size, index;
  run_visit visit; /* one of the two */
  run_visit_pointer at_pointer;
  void *user;
  bool is_stopped;
} walk;

static void
walk_scalar(walk *w, vyre_kind kind, uint64_t offset)
{
  uint32_t size = vyre_kind_bytes(kind);
  if (w->is_stopped || !w->visit || size == 0 || offset > w->size || size > w->size - offset)
    return;
  w->is_stopped = !w->visit(w->user, w->index, offset, kind);
  w->index++;
}

static void
walk_type(walk *w, vyre_type_id type, uint64_t offset)
{
  vyre_type_info info = vyre_type_get(w->layout->module, type);
  if (info.form == VYRE_FORM_VALUE) {
    vyre_kind kind = VYRE_TYPE_KIND((vyre_type)type);
    for (uint32_t lane = 0; lane < VYRE_TYPE_LANES((vyre_type)type); lane++)
      walk_scalar(w, kind, offset + (uint64_t)lane * vyre_kind_bytes(kind));
  } else if (info.form == VYRE_FORM_MATRIX) {
    vyre_kind kind = VYRE_TYPE_KIND((vyre_type)info.element);
    uint32_t lanes = VYRE_TYPE_LANES((vyre_type)info.element);
    for (uint32_t i = 0; i < info.count * lanes; i++) {
      uint64_t column = i / lanes, lane = i % lanes;
      uint64_t major = info.flags & VYRE_TYPE_ROW_MAJOR ? lane : column, minor = info.flags & VYRE_TYPE_ROW_MAJOR ? column : lane;
      walk_scalar(w, kind, offset + major * info.stride + minor * vyre_kind_bytes(kind));
    }
  } else if (info.form == VYRE_FORM_ARRAY) {
    uint64_t length = info.flags & VYRE_TYPE_RUNTIME ? UINT64_MAX : run_layout_length(w->layout, &info);
    for (uint64_t i = 0; i < length && info.stride && !w->is_stopped && offset < w->size; i++, offset += info.stride) {
      if (info.flags & VYRE_TYPE_RUNTIME && info.stride > w->size - offset)
        return; /* an incomplete last element does not count */
      walk_type(w, info.element, offset);
    }
  } else if (info.form == VYRE_FORM_WORDS && w->at_pointer && offset <= w->size && info.size <= w->size - offset) {
    w->is_stopped = !w->at_pointer(w->user, offset, type);
  } else if (info.form == VYRE_FORM_STRUCT) {
    for (uint32_t i = 0; i < info.count && !w->is_stopped; i++) {
      vyre_member member = vyre_type_get(w->layout->module, type).members[i];
      walk_type(w, member.type, offset + member.offset);
    }
  }
}

uint64_t
run_layout_each(const run_layout *layout, vyre_type_id type, uint64_t size, run_visit visit, void *user)
{
  walk w = {.layout = layout, .size = size, .visit = visit, .user = user};
  walk_type(&w, type, 0);
  return w.index;
}

void
run_layout_pointers(const run_layout *layout, vyre_type_id type, uint64_t size, run_visit_pointer visit, void *user)
{
  walk w = {.layout = layout, .size = size, .at_pointer = visit, .user = user};
  walk_type(&w, type, 0);
}

static void append_path(char *out, size_t capacity, const char *format, ...) VYRE_PRINTF(3, 4);

static void
append_path(char *out, size_t capacity, const char *format, ...)
{
  size_t length = strlen(out);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(out + length, capacity - length, format, arguments);
  va_end(arguments);
}

/* Appends one step of the path to the scalar at *offset.  Returns false after the last step. */
static bool
path_step(const run_layout *layout, vyre_type_id *type, uint64_t *offset, char *out, size_t capacity)
{
  vyre_type_info info = vyre_type_get(layout->module, *type);
  if (info.form == VYRE_FORM_VALUE) {
    uint32_t size = vyre_kind_bytes(VYRE_TYPE_KIND((vyre_type)*type));
    if (VYRE_TYPE_LANES((vyre_type)*type) > 1 && size)
      append_path(out, capacity, ".%c", "xyzw"[*offset / size & 3]);
    return false;
  }
  if (info.form == VYRE_FORM_MATRIX) {
    uint32_t size = vyre_kind_bytes(VYRE_TYPE_KIND((vyre_type)info.element));
    uint64_t major = info.stride ? *offset / info.stride : 0, minor = info.stride ? *offset % info.stride / size : 0;
    bool is_row_major = info.flags & VYRE_TYPE_ROW_MAJOR;
    append_path(out, capacity, "[%" PRIu64 "].%c", is_row_major ? minor : major, "xyzw"[(is_row_major ? major : minor) & 3]);
    return false;
  }
  if (info.form == VYRE_FORM_ARRAY) {
    if (!info.stride)
      return false;
    append_path(out, capacity, "[%" PRIu64 "]", *offset / info.stride);
    *offset %= info.stride;
    *type = info.element;
    return true;
  }
  for (uint32_t i = info.form == VYRE_FORM_STRUCT ? info.count : 0; i-- > 0;) {
    vyre_member member = info.members[i];
    if (member.offset > *offset)
      continue;
    const char *name = vyre_string_text(layout->module, member.name);
    if (*name)
      append_path(out, capacity, ".%s", name);
    else
      append_path(out, capacity, ".%u", i);
    *offset -= member.offset;
    *type = member.type;
    return true;
  }
  return false;
}

void
run_layout_path(const run_layout *layout, vyre_type_id type, uint64_t offset, char *out, size_t capacity)
{
  out[0] = '\0';
  while (path_step(layout, &type, &offset, out, capacity))
    continue;
}
