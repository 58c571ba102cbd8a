/* Declarations of a function: the dispatch's buffers, the program's own memory, tables, and the state of a workgroup.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- buffers -------------------------------------------------------------------------------------------------------------- */

bool
cgen_is_alone(const cgen *g, uint32_t row)
{
  const uint32_t slot = code_slot_of(&g->w, row);
  if (g->v->imm_hi[row] & VYRE_ACCESS_ALIASED)
    return false;
  for (uint32_t other = g->v->first[g->program]; other; other = g->v->next[other])
    if (other != row && cgen_is(g, other, VYRE_OP_buffer) && code_is_outside(&g->w, other) && code_slot_of(&g->w, other) == slot)
      return false;
  return true;
}

/* Writes " *   buffers[0]: %x, storage, set 0, binding 0" for each buffer. */
void
cgen_note_buffers(cgen *g)
{
  static const char *const spaces[VYRE_SPACE__COUNT] = {"storage", "uniform", "push constants", "", "", "", ""};
  char name[CODE_NAME];
  for (uint32_t row = g->v->first[g->program]; row; row = g->v->next[row]) {
    if (!cgen_is(g, row, VYRE_OP_buffer) || !code_is_outside(&g->w, row))
      continue;
    const uint32_t slot = code_slot_of(&g->w, row);
    const vyre_space space = VYRE_BUFFER_SPACE(g->v->imm_hi[row]);
    const vyre_buffer_info *info = code_buffer_info(&g->w, row);
    if (code_buffer_row(g->module, g->program, true, slot) != row)
      continue;
    cgen_put(g, "\n *   buffers[%u]: %s, %s", slot, cgen_name(g, row, name), spaces[space]);
    if (space != VYRE_SPACE_PUSH)
      cgen_put(g, ", set %u, binding %u", info->set, info->binding);
  }
}

static bool
is_used_outside(const cgen *g, uint32_t row)
{
  return cgen_is(g, row, VYRE_OP_buffer) && code_is_outside(&g->w, row) && g->w.uses[row - g->program] != 0;
}

void
cgen_put_buffers(cgen *g, bool parameters)
{
  char name[CODE_NAME];
  for (uint32_t row = g->v->first[g->program]; row; row = g->v->next[row]) {
    if (!is_used_outside(g, row) || vyre_buffer_descriptor_steps(g->module, row))
      continue;
    if (parameters)
      cgen_put(g, ", %suint8_t *%s%s", (g->v->imm_hi[row] & VYRE_ACCESS_NO_WRITE) != 0 ? "const " : "",
               cgen_is_alone(g, row) ? "restrict " : "", cgen_name(g, row, name));
    else
      cgen_put(g, ", d->buffers[%u].data", code_slot_of(&g->w, row));
  }
}

void
cgen_declare_outside(cgen *g)
{
  char name[CODE_NAME], size[CODE_NAME + 2];
  for (uint32_t row = g->v->first[g->program]; row; row = g->v->next[row]) {
    if (!is_used_outside(g, row))
      continue;
    const uint32_t slot = code_slot_of(&g->w, row);
    snprintf(size, sizeof(size), "%s_n", cgen_name(g, row, name));
    if (vyre_buffer_descriptor_steps(g->module, row)) {
      if (cgen_body_has(g, name))
        cgen_line(g, "const vyre_c_buffer %s = d->buffers[%u];", name, slot);
    } else if (cgen_body_has(g, size))
      cgen_line(g, "const uint64_t %s = %s ? d->buffers[%u].bytes : 0;", size, name, slot);
    else if (!cgen_body_has(g, name))
      cgen_line(g, "(void)%s;", name);
  }
}

/* ---- tables --------------------------------------------------------------------------------------------------------------- */

typedef struct table {
  cgen *g;
  vyre_kind kind; /* the kind of all scalars; VOID if they differ */
  bool finite, any;
  uint32_t written;
} table;

static bool
is_finite(vyre_kind kind, uint64_t bits)
{
  const uint64_t exponents = kind == VYRE_F32 ? 0x7f800000u : UINT64_C(0x7ff) << 52;
  return (kind != VYRE_F32 && kind != VYRE_F64) || (bits & exponents) != exponents;
}

static void
survey_scalar(void *user, uint64_t offset, vyre_kind kind, uint64_t bits)
{
  table *t = user;
  (void)offset;
  t->kind = !t->any || t->kind == kind ? kind : VYRE_VOID;
  t->finite = t->finite && is_finite(kind, bits);
  t->any = true;
}

static void
begin_unit(cgen *g, table *t)
{
  cgen_put(g, t->written % 8 == 0 ? t->written ? ",\n    " : "\n    " : ", ");
  t->written++;
}

/* Writes the zero bytes up to the offset.  Does nothing in a table of scalars of one kind, which has no gaps. */
static void
put_gap(cgen *g, table *t, uint64_t offset)
{
  while (t->kind == VYRE_VOID && t->written < offset) {
    begin_unit(g, t);
    cgen_put(g, "0x00");
  }
}

static void
put_scalar(void *user, uint64_t offset, vyre_kind kind, uint64_t bits)
{
  table *t = user;
  cgen *g = t->g;
  const uint32_t size = vyre_kind_bytes(kind);
  const uint32_t units = t->kind == VYRE_VOID ? size : 1;
  put_gap(g, t, offset);
  for (uint32_t k = 0; k < units; k++) {
    begin_unit(g, t);
    if (t->kind == VYRE_VOID)
      cgen_put(g, "0x%02x", (uint32_t)(bits >> (8 * k)) & 0xffu);
    else if (vyre_kind_is_float(kind) && t->finite && kind != VYRE_F16)
      cgen_literal(g, kind, bits);
    else
      cgen_literal(g, size == 8 ? VYRE_U64 : VYRE_U32, bits);
  }
}

/* Writes the buffer's initial contents as a table above the function. */
static void
put_table(cgen *g, uint32_t buffer)
{
  vyre_bytes *out = g->w.out;
  char name[CODE_NAME];
  table t = {.g = g, .finite = true};
  code_image image = code_image_of(&g->w, buffer);
  if (code_buffer_size(&g->w, buffer) > CGEN_MOST_STATE) {
    cgen_fail(g, buffer,
              "a table has %" PRIu64 " bytes, but at most 4 MiB are allowed\n"
              "Fix: pass it as a buffer of the dispatch",
              code_buffer_size(&g->w, buffer));
    return;
  }
  code_image_walk(&g->w, &image, g->v->imm[buffer], survey_scalar, &t);
  const vyre_kind kind = t.kind;
  const uint32_t size = kind == VYRE_VOID ? 1 : vyre_kind_bytes(kind);
  const bool is_float = (kind == VYRE_F32 || kind == VYRE_F64) && t.finite;
  g->w.out = &g->tables;
  cgen_mark(g, &g->table_marks, CGEN_MARK_BLOCK);
  cgen_put(g, "static const %s %s_%s_n[] = {",
           is_float    ? cgen_type_name(kind)
           : size == 8 ? "uint64_t"
           : size == 4 ? "uint32_t"
           : size == 2 ? "uint16_t"
                       : "uint8_t",
           g->function, cgen_name(g, buffer, name));
  code_image_walk(&g->w, &image, g->v->imm[buffer], put_scalar, &t);
  put_gap(g, &t, code_buffer_size(&g->w, buffer));
  cgen_put(g, t.any ? "};\n\n" : "0};\n\n");
  g->w.out = out;
}

/* ---- memory of the program's own ------------------------------------------------------------------------------------------ */

static uint64_t
bytes_of(const cgen *g, uint32_t buffer)
{
  const uint64_t size = code_buffer_size(&g->w, buffer);
  return size ? size : 1;
}

/* Declares a field or array of bytes, and adds its size to the stack's use. */
static void
declare_bytes(cgen *g, uint32_t buffer, const char *zero)
{
  char name[CODE_NAME];
  const bool overlaid = code_is_overlaid(&g->w, buffer),
             each = g->wide && VYRE_BUFFER_SPACE(g->v->imm_hi[buffer]) == VYRE_SPACE_PRIVATE;
  cgen_begin_line(g);
  if (g->w.out == &g->body)
    cgen_mark(g, &g->marks, CGEN_MARK_LINE);
  cgen_put(g, "_Alignas(16) uint8_t %s", overlaid ? "shared_n" : cgen_name(g, buffer, name));
  if (each)
    cgen_put(g, "[%u]", g->count);
  cgen_put(g, "[%" PRIu64 "]%s;\n", bytes_of(g, buffer), zero);
  g->state_bytes += bytes_of(g, buffer) * (each ? g->count : 1);
}

static void
put_image(cgen *g, uint32_t buffer)
{
  char name[CODE_NAME];
  cgen_begin_line(g);
  cgen_put(g, "memcpy(");
  cgen_put_buffer(g, buffer);
  cgen_put(g, ", %s_%s_n, %" PRIu64 ");\n", g->function, cgen_name(g, buffer, name), code_buffer_size(&g->w, buffer));
}

void
cgen_declare_shared(cgen *g)
{
  const vyre_view *v = g->v;
  bool overlaid = false;
  for (uint32_t row = v->first[g->program]; row && !g->w.status; row = v->next[row]) {
    if (code_is_in(&g->w, row, VYRE_SPACE_CONSTANT) || (code_is_in(&g->w, row, VYRE_SPACE_PRIVATE) && code_has_image(&g->w, row)))
      put_table(g, row);
    if (g->wide && code_is_in(&g->w, row, VYRE_SPACE_PRIVATE) && code_has_image(&g->w, row)) {
      cgen_line(g, "for (uint32_t li = 0; li < %uu; li++)", g->count);
      g->indent++;
      put_image(g, row);
      g->indent--;
    }
    if (g->wide || !code_is_in(&g->w, row, VYRE_SPACE_WORKGROUP) || (overlaid && code_is_overlaid(&g->w, row)))
      continue;
    overlaid = overlaid || code_is_overlaid(&g->w, row);
    declare_bytes(g, row, " = {0}");
  }
}

void
cgen_declare_own(cgen *g)
{
  const vyre_view *v = g->v;
  char name[CODE_NAME];
  for (uint32_t row = v->first[g->program]; row; row = v->next[row]) {
    if (code_is_in(&g->w, row, VYRE_SPACE_PRIVATE)) {
      declare_bytes(g, row, code_has_image(&g->w, row) ? "" : " = {0}");
      if (code_has_image(&g->w, row))
        put_image(g, row);
    }
    if (!cgen_is(g, row, VYRE_OP_var) || !g->w.uses[row - g->program])
      continue;
    const uint32_t lanes = cgen_lanes(g, row);
    for (uint32_t k = 0; k < lanes; k++) {
      cgen_begin_line(g);
      cgen_mark(g, &g->marks, CGEN_MARK_LINE);
      cgen_put(g, "%s %s", cgen_type_name(cgen_kind(g, row)), cgen_name(g, row, name));
      cgen_put(g, lanes > 1 ? "_%c = " : " = ", "xyzw"[k]);
      cgen_literal(g, cgen_kind(g, row), 0);
      cgen_put(g, ";\n");
    }
  }
}

/* ---- the state of a workgroup --------------------------------------------------------------------------------------------- */

static void
declare_field(cgen *g, uint32_t row)
{
  vyre_type type = cgen_row_type(g, row);
  const bool several = VYRE_TYPE_KIND(type) == VYRE_TUPLE;
  const uint32_t parts = several ? cgen_parts(g, row, &type, 0) : 1;
  char name[CODE_NAME];
  cgen_name(g, row, name);
  for (uint32_t part = 0; part < parts; part++) {
    if (several)
      cgen_parts(g, row, &type, part);
    const vyre_kind kind = VYRE_TYPE_KIND(type);
    const uint32_t lanes = VYRE_TYPE_LANES(type);
    cgen_begin_line(g);
    cgen_put(g, "%s ", cgen_type_name(kind));
    for (uint32_t lane = 0; lane < lanes; lane++) {
      cgen_put(g, lane ? ", %s" : "%s", name);
      if (several)
        cgen_put(g, "_%u", part);
      if (lanes > 1)
        cgen_put(g, "_%c", "xyzw"[lane]);
      cgen_put(g, "[%u]", g->count);
    }
    cgen_put(g, ";\n");
    g->state_bytes += (uint64_t)g->count * lanes * (kind == VYRE_BOOL ? 1 : vyre_kind_bytes(kind));
  }
}

void
cgen_declare_state(cgen *g)
{
  const vyre_view *v = g->v;
  vyre_bytes *out = g->w.out;
  const uint32_t indent = g->indent;
  bool overlaid = false;
  g->w.out = &g->state;
  g->indent = 1;
  if (g->parks) {
    cgen_line(g, "uint16_t where[%u];", g->count);
    g->state_bytes += (uint64_t)g->count * 2;
  }
  for (uint32_t row = g->program + 1; row < g->end && !g->w.status; row++) {
    const bool is_var = cgen_is(g, row, VYRE_OP_var);
    if (g->spilled[row - g->program] && (!is_var || g->w.uses[row - g->program]))
      declare_field(g, row);
    if (v->parent[row] != g->program ||
        (!code_is_in(&g->w, row, VYRE_SPACE_WORKGROUP) && !code_is_in(&g->w, row, VYRE_SPACE_PRIVATE)))
      continue;
    if (!(overlaid && code_is_overlaid(&g->w, row)))
      declare_bytes(g, row, "");
    overlaid = overlaid || code_is_overlaid(&g->w, row);
  }
  g->indent = indent;
  g->w.out = out;
}

void
cgen_put_states(cgen *g)
{
  uint32_t count = 2;
  cgen_put(g, "  enum { HERE, RETURNED");
  for (uint32_t row = g->program + 1; row < g->end; row++) {
    const uint32_t number = row - g->program, flags = vyre_op_infos[cgen_op(g, row)].flags;
    if (!cgen_is_wide(g, row))
      continue;
    if (cgen_is(g, row, VYRE_OP_case))
      cgen_put(g, ", IN_%u", number);
    else if (flags & VYRE_OP_REGIONS)
      cgen_put(g, ", LEFT_%u, AGAIN_%u, ELSE_%u", number, number, number);
    count += 3;
  }
  cgen_put(g, " };\n");
  if (count > UINT16_MAX)
    cgen_fail(g, g->program, "too much control flow around barriers and subgroup operations\nFix: make the program smaller");
}
