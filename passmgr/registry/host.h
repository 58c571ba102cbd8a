/* The parts of the host table, and the checks of arguments in host.c and host_data.c.
 *
 * A call with an invalid argument does nothing and fails the module.  The manager reports the failure after the run, with the
 * plugin and the pass.  The checks are always made, because each takes one or two comparisons.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSMGR_REGISTRY_HOST_H
#define VYRE_PASSMGR_REGISTRY_HOST_H

#include "context.h"

/* Fails the module because the argument `what` of the call is not a row. */
void vyre_host_refuse(const vyre_module *module, const char *call, const char *what, uint32_t row);
/* Checks that a path leads to a buffer.  A pass may have created a cycle. */
bool vyre_host_is_path(const vyre_module *module, const char *call, uint32_t path);
/* Checks that a row is in a region, so that another row may be inserted before it. */
bool vyre_host_is_placed(const vyre_module *module, const char *call, const char *what, uint32_t row);
/* Checks that the op of an op word exists. */
bool vyre_host_is_op(const vyre_module *module, const char *call, uint32_t word);
/* Returns `given`: whether a required pointer is not NULL.  Fails the module if the pointer is NULL. */
bool vyre_host_is_given(const vyre_module *module, const char *call, const char *what, bool given);

/* Checks that the row exists or is 0.  The row may be dead. */
static inline bool
vyre_host_is_known(const vyre_module *module, const char *call, const char *what, uint32_t row)
{
  if (row < vyre_module_view(module)->rows)
    return true;
  vyre_host_refuse(module, call, what, row);
  return false;
}

/* Checks that the row exists and is not dead. */
static inline bool
vyre_host_is_there(const vyre_module *module, const char *call, const char *what, uint32_t row)
{
  const vyre_view *view = vyre_module_view(module);
  if (row < view->rows && VYRE_ROW_OP(view->op[row]) != VYRE_OP_null)
    return true;
  vyre_host_refuse(module, call, what, row);
  return false;
}

/* Functions of vyre_host in host_data.c. */
const char *vyre_host_name(const vyre_module *module, uint32_t row);
void vyre_host_set_name(vyre_module *module, uint32_t row, const char *name);
uint32_t vyre_host_line(const vyre_module *module, uint32_t row, const char **out_file, uint32_t *out_column);
const uint32_t *vyre_host_decorations(const vyre_module *module, uint32_t row, uint32_t *out_count);
void vyre_host_set_decorations(vyre_module *module, uint32_t row, const uint32_t *words, uint32_t count);
uint32_t vyre_host_hints(const vyre_module *module, uint32_t row, uint32_t out_literals[VYRE_HINT_BITS]);
void vyre_host_set_hints(vyre_module *module, uint32_t row, uint32_t hints, const uint32_t literals[VYRE_HINT_BITS]);
uint32_t vyre_host_path_type(const vyre_module *module, uint32_t path);
bool vyre_host_type_info(const vyre_module *module, uint32_t type, vyre_memory_type *out);
bool vyre_host_member_info(const vyre_module *module, uint32_t type, uint32_t index, vyre_memory_member *out);
void vyre_host_cost(vyre_pass_ctx *ctx, uint32_t op, vyre_type type, vyre_cost *out);
vyre_status vyre_host_param_file(vyre_pass_ctx *ctx, const char *name, const char **out, size_t *out_size);
uint32_t vyre_host_clone(vyre_module *module, uint32_t row, uint32_t before, uint32_t *map, uint32_t map_rows);

#endif
