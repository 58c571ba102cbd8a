/* Docs at spirv_opt.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv_opt.h"

#include "tool_options.h"

#include <string.h>

typedef struct flag {
  const char *name, *pass, *remark;
} flag;

static const flag flags[] = {
#define SPIRV_OPT(name, pass, remark) {name, pass, remark},
#include "spirv_opt.def"
};

static vyre_status
add(tool_options *o, const char *pass)
{
  return vyre_bytes_printf(&o->others, "%s%s", o->others.size ? "," : "", pass);
}

vyre_status
spirv_opt_add_level(const char *value, void *fields)
{
  static const char words[] = "0123s";
  vyre_status status = VYRE_OK;
  if (strncmp(value, "config", 6) == 0 && spirv_opt_add_flag("Oconfig", 7, fields, &status))
    return status;
  const char *found = value[0] && !value[1] ? strchr(words, value[0]) : NULL;
  if (!found)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-O is -O, -O0, -O1, -O2, -O3 or -Os, not -O%.200s\nFix: use one of these levels", value);
  return add(fields, *found == '0' ? "default<O0>" : *found == '1' ? "default<O1>" : "default<O2>");
}

bool
spirv_opt_add_flag(const char *name, size_t length, void *fields, vyre_status *out_status)
{
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
    const flag *f = &flags[i];
    if (strlen(f->name) != length || memcmp(f->name, name, length) != 0)
      continue;
    if (!f->pass)
      *out_status = VYRE_ERROR(VYRE_CODE_USAGE, "--%s of spirv-opt is not supported: %s\nFix: leave it out", f->name, f->remark);
    else if (f->pass[0])
      *out_status = add(fields, f->pass);
    return true;
  }
  return false;
}
