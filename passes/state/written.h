/* The memory that a module's rows write, by alias class.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_STATE_WRITTEN_H
#define VYRE_PASSES_STATE_WRITTEN_H

#include "vyre/plugin.h"

typedef struct written {
  const vyre_view *v;
  uint32_t *alias; /* by row, the alias class of a buffer, with VYRE_ALIAS_SHARED if the buffer is shared */
  bool *classes;   /* by alias class, whether a row writes the class; by program, whether a row may write any memory */
} written;

/* Initializes an empty record.  Returns false if memory runs out. */
static inline bool
written_make(written *w, vyre_pass_ctx *ctx, vyre_module *module)
{
  w->v = ctx->host->view(module);
  w->alias = ctx->host->alloc(ctx, w->v->rows * sizeof(uint32_t));
  w->classes = ctx->host->alloc(ctx, w->v->rows * sizeof(bool));
  return w->alias && w->classes && ctx->host->aliases(module, w->alias);
}

/* Returns the path through which the row writes, or 0 if the path is unknown.  An opaque_write of an image writes through the path
 * of the image. */
static inline uint32_t
written_path(const vyre_view *v, uint32_t row)
{
  uint32_t path = v->a[row];
  if (vyre_op_of(v, row) == VYRE_OP_opaque_write) {
    while (vyre_op_is_opaque(vyre_op_of(v, path)) && VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[path])) == VYRE_OPAQUE)
      path = v->a[path];
    const uint32_t buffer = vyre_op_of(v, path) == VYRE_OP_load ? vyre_buffer_of(v, v->a[path]) : 0;
    return VYRE_BUFFER_SPACE(v->imm_hi[buffer]) == VYRE_SPACE_HANDLE ? v->a[path] : 0;
  }
  return VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[path])) == VYRE_PATH ? path : 0;
}

/* Records the memory that the row writes.  Barriers write no memory. */
static inline void
written_add(written *w, uint32_t row)
{
  const uint32_t op = vyre_op_of(w->v, row);
  if ((vyre_op_flags_of(w->v, row) & VYRE_OP_WRITES) == 0 || op == VYRE_OP_set)
    return;
  const bool is_opaque = vyre_op_is_opaque(op) || op == VYRE_OP_verbatim;
  const uint32_t path = is_opaque && op != VYRE_OP_opaque_write ? 0 : written_path(w->v, row);
  if (path)
    w->classes[w->alias[vyre_buffer_of(w->v, path)] & ~VYRE_ALIAS_SHARED] = true;
  else if (is_opaque)
    w->classes[vyre_program_of(w->v, row)] = true;
}

/* Returns whether a recorded row of the buffer's program may write the buffer. */
static inline bool
written_has(const written *w, uint32_t buffer)
{
  const uint32_t program = vyre_program_of(w->v, buffer);
  return program == 0 || w->classes[program] || w->classes[w->alias[buffer] & ~VYRE_ALIAS_SHARED];
}

#endif
