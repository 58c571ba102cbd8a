/* Values of specialization constants, given as text.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/run.h"

#include "vyre/environment.h"
#include "vyre/verify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "scalar.h"

/* ---- scalars ------------------------------------------------------------------------------------------------------------- */

/* Refuses a finite number that rounds to an infinity. */
static bool
parse_float(const char *text, vyre_kind kind, uint64_t *out)
{
  char *end;
  VYRE_OWN_ENVIRONMENT;
  if (kind == VYRE_F32)
    *out = bits_of_float(strtof(text, &end));
  else
    *out = lane_of_double(kind, strtod(text, &end));
  const char first = text[*text == '-'];
  const bool is_finite = first != 'i' && first != 'I';
  return *end == '\0' && !(is_finite && isinf(double_of_lane(kind, *out)));
}

static bool
parse_int(const char *text, vyre_kind kind, uint64_t *out)
{
  const uint64_t mask = bits_mask(vyre_kind_bits(kind));
  const char *digits = text + (*text == '-');
  const bool is_hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
  const int base = is_hex ? 16 : 10;
  char *end;
  errno = 0;
  if (*text == '-') {
    const long long value = strtoll(text, &end, base);
    *out = (uint64_t)value & mask;
    return *end == '\0' && !errno && vyre_kind_is_signed(kind) && value >= -(long long)(mask >> 1) - 1;
  }
  *out = strtoull(text, &end, base);
  /* A hexadecimal number has all bits, including the sign bit. */
  return *end == '\0' && !errno && *out <= (vyre_kind_is_signed(kind) && !is_hex ? mask >> 1 : mask);
}

bool
vyre_scalar_parse(const char *text, size_t length, vyre_kind kind, uint64_t *out)
{
  char copy[64];
  if (length == 0 || length >= sizeof copy || text[0] == ' ' || text[0] == '+')
    return false;
  memcpy(copy, text, length);
  copy[length] = '\0';
  if (vyre_kind_is_float(kind))
    return parse_float(copy, kind, out);
  if (vyre_kind_is_int(kind))
    return parse_int(copy, kind, out);
  *out = strcmp(copy, "true") == 0 || strcmp(copy, "1") == 0;
  return *out || strcmp(copy, "false") == 0 || strcmp(copy, "0") == 0;
}

const char *
vyre_scalar_range(vyre_kind kind)
{
  switch (kind) {
  case VYRE_I8:
    return "a number from -128 to 127";
  case VYRE_U8:
    return "a number from 0 to 255";
  case VYRE_I16:
    return "a number from -32768 to 32767";
  case VYRE_U16:
    return "a number from 0 to 65535";
  case VYRE_I32:
    return "a number from -2147483648 to 2147483647";
  case VYRE_U32:
    return "a number from 0 to 4294967295";
  case VYRE_I64:
    return "a number from -9223372036854775808 to 9223372036854775807";
  case VYRE_U64:
    return "a number from 0 to 18446744073709551615";
  case VYRE_F16:
    return "a number from -65504 to 65504, inf, -inf or nan";
  case VYRE_F32:
    return "a number from -3.4028235e38 to 3.4028235e38, inf, -inf or nan";
  case VYRE_F64:
    return "a number from -1.7976931348623157e308 to 1.7976931348623157e308, inf, -inf or nan";
  default:
    return "true or false";
  }
}

/* ---- constants ----------------------------------------------------------------------------------------------------------- */

uint32_t
vyre_spec_find(const vyre_module *module, uint32_t program, uint32_t after, const char *name, size_t length)
{
  const vyre_view *v = vyre_module_view(module);
  char *end;
  const unsigned long id = strtoul(name, &end, 10);
  const bool is_id = name[0] >= '0' && name[0] <= '9' && (size_t)(end - name) == length;
  for (uint32_t row = after ? v->next[after] : v->first[program]; row; row = v->next[row]) {
    if (VYRE_ROW_OP(v->op[row]) != VYRE_OP_spec)
      continue;
    const char *own = vyre_row_name(module, (vyre_row){row});
    if (is_id ? vyre_row_spec_id(module, (vyre_row){row}) == id : own && strlen(own) == length && memcmp(own, name, length) == 0)
      return row;
  }
  return 0;
}

/* Sets the default of each constant with the setting's name or id.  Sets *found if the module has the
 * constant. */
static vyre_status
set_default(vyre_module *module, const char *setting, const char *path, bool *found)
{
  const vyre_view *v = vyre_module_view(module);
  const size_t length = strcspn(setting, "=");
  const char *value = setting + length + (setting[length] == '=');
  for (uint32_t program = v->first[0]; program; program = v->next[program])
    for (uint32_t row = 0; (row = vyre_spec_find(module, program, row, setting, length)) != 0;) {
      const vyre_kind kind = VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[row]));
      uint64_t bits;
      if (!vyre_scalar_parse(value, strlen(value), kind, &bits))
        return VYRE_ERROR(VYRE_CODE_INPUT,
                          "%s: '%.200s' is not a value of the specialization constant '%.*s'\n"
                          "Fix: give %s",
                          path, value, (int)length, setting, vyre_scalar_range(kind));
      vyre_row_rewrite(module, (vyre_row){row}, v->op[row], (uint32_t)bits, (uint32_t)(bits >> 32), VYRE_NONE, VYRE_NONE,
                       VYRE_NONE);
      *found = true;
    }
  return VYRE_OK;
}

static bool
is_spec(const vyre_view *v, uint32_t row)
{
  return VYRE_ROW_OP(v->op[row]) == VYRE_OP_spec;
}

/* Replaces each specialization constant by a constant. */
static vyre_status
freeze(vyre_module *module)
{
  const vyre_view *v = vyre_module_view(module);
  const vyre_allocator *allocator = vyre_module_allocator(module);
  const uint32_t rows = v->rows;
  uint32_t most = rows; /* rows, including the constants that freeze adds */
  for (uint32_t row = 1; row < rows; row++)
    most += is_spec(v, row);
  const size_t size = sizeof(uint32_t) * most;
  uint32_t *forward = allocator->resize(allocator->user, NULL, 0, size);
  if (!forward)
    return VYRE_OUT_OF_MEMORY("to specialize a module");
  for (uint32_t row = 0; row < most; row++)
    forward[row] = row;
  for (uint32_t program = v->first[0]; program; program = v->next[program]) {
    vyre_builder builder = {.module = module};
    vyre_builder_at_end(&builder, (vyre_row){program});
    for (uint32_t row = v->first[program]; row; row = v->next[row])
      if (is_spec(v, row))
        forward[row] = vyre_build_const(&builder, VYRE_ROW_TYPE(v->op[row]), v->imm[row] | (uint64_t)v->imm_hi[row] << 32).id;
  }
  vyre_module_forward(module, forward);
  for (uint32_t row = 1; row < rows; row++)
    if (is_spec(v, row))
      vyre_row_kill(module, (vyre_row){row});
  allocator->resize(allocator->user, forward, size, 0);
  return VYRE_OK;
}

/* Refuses a module that is kept unchanged, and a module with entry points of other stages. */
static vyre_status
check_converted(vyre_module *module, const char *path)
{
  const size_t length = strlen(path);
  for (uint32_t i = 0; i < vyre_module_input_count(module); i++) {
    const vyre_input *input = vyre_module_input(module, i);
    if (!input->remark && !input->stages)
      continue;
    const char *why = vyre_string_text(module, input->remark ? input->remark : input->stages);
    if (strncmp(why, path, length) == 0 && strncmp(why + length, ": ", 2) == 0)
      why += length + 2;
    return VYRE_ERROR(VYRE_CODE_INPUT, "%s: %s%.*s\nFix: leave out the values, or set them in the source", path,
                      input->remark ? "the module is kept unchanged, so it cannot be specialized: "
                                    : "only compute shaders can be specialized, but the module has: ",
                      (int)strcspn(why, "\n"), why);
  }
  return VYRE_OK;
}

vyre_status
vyre_module_specialize(vyre_module *module, const vyre_specialization *s, const char *path)
{
  if (s->count + s->optional_count == 0 && !s->freeze)
    return VYRE_OK;
  VYRE_TRY(check_converted(module, path));
  for (uint32_t i = 0; i < s->optional_count; i++)
    VYRE_TRY(set_default(module, s->optional[i], path, &(bool){false}));
  for (uint32_t i = 0; i < s->count; i++) {
    bool found = false;
    VYRE_TRY(set_default(module, s->values[i], path, &found));
    if (!found)
      return VYRE_ERROR(VYRE_CODE_INPUT, "%s: there is no specialization constant '%.*s'\nFix: name one by its name or id", path,
                        (int)strcspn(s->values[i], "="), s->values[i]);
  }
  if (s->freeze)
    VYRE_TRY(freeze(module));
  VYRE_TRY(vyre_module_seal(module, NULL));
  vyre_verify_errors errors = {0};
  vyre_status status = vyre_verify(module, &errors);
  vyre_verify_errors_free(&errors);
  return status;
}
