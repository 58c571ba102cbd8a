/* Modules in tests: parses, prints and searches them.  Each function fails the test on an error.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_MODULE_H
#define VYRE_UNITTESTS_MODULE_H

#include "status.h"

#include "vyre/ir.h"
#include "vyre/text.h"

#define BOOL  VYRE_TYPE(VYRE_BOOL, 1)
#define U32   VYRE_TYPE(VYRE_U32, 1)
#define I32   VYRE_TYPE(VYRE_I32, 1)
#define F32   VYRE_TYPE(VYRE_F32, 1)
#define F32X2 VYRE_TYPE(VYRE_F32, 2)
#define F32X3 VYRE_TYPE(VYRE_F32, 3)
#define F32X4 VYRE_TYPE(VYRE_F32, 4)

static inline vyre_row
row_of(uint32_t id)
{
  return (vyre_row){id};
}

static inline vyre_module *
new_module(void)
{
  vyre_module *module;
  assert_ok(vyre_module_create(NULL, 0, &module));
  return module;
}

/* Appends the message to `user`, a vyre_bytes, as a line "line:column: message | fix". */
static inline void
note_message(void *user, const vyre_diagnostic *d)
{
  assert_ok(vyre_bytes_printf(user, "%u:%u: %s%s%s\n", d->line, d->column, d->message, d->fix ? " | " : "", d->fix ? d->fix : ""));
}

/* Adds the programs of a text to the module. */
static inline void
parse_into(vyre_module *module, const char *text)
{
  vyre_bytes messages = {0};
  vyre_status status = vyre_text_parse(module, text, strlen(text), "test.vir", (vyre_diagnostics){note_message, &messages});
  if (status)
    fail_msg("%s\n%s\n%s", vyre_status_text(status), messages.data, text);
  vyre_bytes_free(&messages);
}

static inline vyre_module *
parse(const char *text)
{
  vyre_module *module = new_module();
  parse_into(module, text);
  return module;
}

/* Returns the text of the module, owned by the caller. */
static inline vyre_bytes
print(const vyre_module *module, const vyre_text_options *options)
{
  vyre_bytes out = {0};
  assert_ok(vyre_text_print(module, options, &out));
  return out;
}

static inline void
assert_prints(const vyre_module *module, const vyre_text_options *options, const char *wanted)
{
  vyre_bytes text = print(module, options);
  assert_string_equal(text.data, wanted);
  vyre_bytes_free(&text);
}

/* Returns the first row of that operation. */
static inline uint32_t
find_op(const vyre_module *module, vyre_opcode op)
{
  const vyre_view *v = vyre_module_view(module);
  for (uint32_t row = 1; row < v->rows; row++)
    if (VYRE_ROW_OP(v->op[row]) == (uint32_t)op)
      return row;
  fail_msg("there is no %s", vyre_op_infos[op].text);
  return 0;
}

/* Returns the first row of that name. */
static inline uint32_t
find_name(const vyre_module *module, const char *name)
{
  for (uint32_t row = 1; row < vyre_module_view(module)->rows; row++)
    if (vyre_row_name(module, row_of(row)) && strcmp(vyre_row_name(module, row_of(row)), name) == 0)
      return row;
  fail_msg("there is no row '%s'", name);
  return 0;
}

#endif
