/* Values known before a program runs: const and spec rows, and pure rows over them.
 *
 * Visits operands depth first, with an explicit stack and a hash table of known rows, so that a deep or shared expression costs no
 * more than its rows. A const or spec row itself needs no memory.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/environment.h"

#include "base/grow.h"
#include "vyre/eval.h"
#include "vyre/run.h"

#include "row.h"
#include "scalar.h"

#define HASH_NONFATAL_OOM         1
#define uthash_malloc(size)       f->allocator->resize(f->allocator->user, NULL, 0, size)
#define uthash_free(memory, size) vyre_release(f->allocator, memory, size)
#include <uthash.h>

typedef enum progress { OPEN, CONSTANT, VARYING } progress;

typedef struct cell {
  UT_hash_handle hh;
  uint32_t row;
  progress progress;
  vyre_value values[VYRE_EVAL_PARTS];
} cell;

typedef struct folder {
  const vyre_module *module;
  const vyre_view *view;
  const vyre_allocator *allocator;
  const vyre_spec_value *specs;
  uint32_t spec_count;
  cell *cells; /* a hash table by row */
  cell **stack;
  uint32_t depth, stack_capacity;
} folder;

static bool
literal_of(const folder *f, uint32_t row, uint64_t *out)
{
  const uint32_t op = VYRE_ROW_OP(f->view->op[row]);
  const vyre_kind kind = row_kind(f->view, row);
  uint64_t bits = (uint64_t)f->view->imm_hi[row] << 32 | f->view->imm[row];
  if (op != VYRE_OP_const && op != VYRE_OP_spec)
    return false;
  if (op == VYRE_OP_spec && f->spec_count) {
    const uint32_t id = vyre_row_spec_id(f->module, (vyre_row){row});
    for (uint32_t i = 0; i < f->spec_count; i++)
      if (f->specs[i].id == id)
        bits = f->specs[i].bits;
  }
  *out = kind == VYRE_BOOL ? bits != 0 : bits & bits_mask(vyre_kind_bits(kind));
  return true;
}

/* Returns the row's cell, or an empty cell of row 0 if there is none. */
static const cell *
find_cell(const folder *f, uint32_t row)
{
  static const cell none;
  const cell *known;
  HASH_FIND_INT(f->cells, &row, known);
  return known ? known : &none;
}

static bool
push_cell(folder *f, uint32_t row)
{
  if (!vyre_grow(f->allocator, &f->stack, &f->stack_capacity, f->depth + 1, sizeof *f->stack))
    return false;
  cell *fresh = vyre_allocate(f->allocator, sizeof *fresh);
  if (!fresh)
    return false;
  fresh->row = row;
  HASH_ADD_INT(f->cells, row, fresh);
  if (!fresh->hh.tbl) {
    vyre_release(f->allocator, fresh, sizeof *fresh);
    return false;
  }
  f->stack[f->depth++] = fresh;
  return true;
}

static void
free_all(folder *f)
{
  cell *known, *next;
  HASH_ITER(hh, f->cells, known, next)
  {
    HASH_DEL(f->cells, known);
    vyre_release(f->allocator, known, sizeof *known);
  }
  vyre_release(f->allocator, f->stack, f->stack_capacity * sizeof *f->stack);
}

/* Makes an operand from known cells. `parts` is memory for the parts of a tuple. */
static void
operand_of(const folder *f, uint32_t id, vyre_eval_operand *out, vyre_value parts[VYRE_EVAL_PARTS])
{
  const vyre_view *v = f->view;
  const vyre_type type = VYRE_ROW_TYPE(v->op[id]);
  *out = (vyre_eval_operand){.type = type};
  if (id == 0)
    return;
  out->value = parts;
  if (VYRE_TYPE_KIND(type) != VYRE_TUPLE) {
    parts[0] = find_cell(f, id)->values[0];
    return;
  }
  const uint32_t count = VYRE_TUPLE_COUNT(v->imm[id]);
  out->parts = count < VYRE_EVAL_PARTS ? count : VYRE_EVAL_PARTS;
  out->part_type = VYRE_TUPLE_TYPE(v->imm[id]);
  for (uint32_t k = 0; k < out->parts; k++)
    parts[k] =
        VYRE_ROW_OP(v->op[id]) == VYRE_OP_tuple ? find_cell(f, vyre_tuple_part(v, id, k))->values[0] : find_cell(f, id)->values[k];
}

/* Computes the row's value. Its operands are known. */
static progress
evaluate(folder *f, uint32_t row, vyre_value values[VYRE_EVAL_PARTS])
{
  const vyre_view *v = f->view;
  const uint32_t word = v->op[row], op = VYRE_ROW_OP(word);
  const uint32_t ids[3] = {v->a[row], v->b[row], v->c[row]};
  vyre_eval_operand operands[3];
  vyre_value parts[3][VYRE_EVAL_PARTS], literal;
  uint64_t bits;
  bool undefined;
  if (literal_of(f, row, &bits)) {
    for (uint32_t i = 0; i < 4; i++)
      values[0].lane[i] = bits;
    return CONSTANT;
  }
  if (op == VYRE_OP_tuple)
    return CONSTANT; /* users read its operands */
  if (op == VYRE_OP_part) {
    const uint32_t tuple = v->a[row], k = v->imm[row];
    if (k >= VYRE_TUPLE_COUNT(v->imm[tuple]))
      return VARYING;
    if (VYRE_ROW_OP(v->op[tuple]) == VYRE_OP_tuple)
      values[0] = find_cell(f, vyre_tuple_part(v, tuple, k))->values[0];
    else if (k < VYRE_EVAL_PARTS)
      values[0] = find_cell(f, tuple)->values[k];
    return CONSTANT;
  }
  for (uint32_t k = 0; k < 3; k++)
    operand_of(f, ids[k], &operands[k], parts[k]);
  if (VYRE_ROW_FLAGS(word) & VYRE_ROW_IMM) {
    for (uint32_t i = 0; i < 4; i++)
      literal.lane[i] = (uint64_t)v->imm_hi[row] << 32 | v->imm[row];
    operands[1] = (vyre_eval_operand){.value = &literal, .type = immediate_type(v, row)};
  }
  return vyre_eval_here(word, v->imm[row], v->imm_hi[row], operands, values, &undefined) ? CONSTANT : VARYING;
}

/* Computes the cells of the row and its operands. Returns false if memory runs out. */
static bool
compute_cells(folder *f, uint32_t root)
{
  const vyre_view *v = f->view;
  if (!push_cell(f, root))
    return false;
  while (f->depth) {
    cell *open = f->stack[f->depth - 1];
    const uint32_t row = open->row;
    const uint32_t ids[3] = {v->a[row], v->b[row], v->c[row]};
    const uint32_t op = VYRE_ROW_OP(v->op[row]);
    bool varying = op != VYRE_OP_spec && (v->op_infos[op].flags & VYRE_OP_PURE) == 0;
    bool waits = false;
    for (uint32_t k = 0; k < 3 && !varying; k++) {
      if (ids[k] == 0)
        continue;
      const cell *known = find_cell(f, ids[k]);
      varying = known->row != 0 && known->progress != CONSTANT; /* an open cell is a cycle */
      if (known->row == 0) {
        if (!push_cell(f, ids[k]))
          return false;
        waits = true;
        break;
      }
    }
    if (waits)
      continue;
    vyre_value values[VYRE_EVAL_PARTS] = {{{0}}};
    const progress result = varying ? VARYING : evaluate(f, row, values);
    open->progress = result;
    memcpy(open->values, values, sizeof values);
    f->depth--;
  }
  return true;
}

bool
vyre_constant_value(const vyre_module *module, vyre_row row, const vyre_spec_value *specs, uint32_t spec_count, uint64_t *out)
{
  const vyre_view *view = vyre_module_view(module);
  folder f = {.module = module, .view = view, .allocator = vyre_module_allocator(module), .specs = specs, .spec_count = spec_count};
  *out = 0;
  if (row.id == 0 || row.id >= view->rows)
    return false;
  if (literal_of(&f, row.id, out))
    return true;
  VYRE_OWN_ENVIRONMENT;
  const vyre_kind kind = row_kind(view, row.id);
  bool known = false;
  if (kind != VYRE_TUPLE && kind != VYRE_PATH && kind != VYRE_VOID && compute_cells(&f, row.id)) {
    const cell *result = find_cell(&f, row.id);
    known = result->progress == CONSTANT;
    *out = known ? result->values[0].lane[0] : 0;
  }
  free_all(&f);
  return known;
}

bool
vyre_workgroup_size(const vyre_module *module, vyre_row program, const vyre_spec_value *specs, uint32_t spec_count, uint32_t out[3])
{
  const vyre_view *v = vyre_module_view(module);
  out[0] = out[1] = out[2] = 0;
  if (program.id == 0 || program.id >= v->rows || VYRE_ROW_OP(v->op[program.id]) != VYRE_OP_program)
    return false;
  uint32_t row = v->first[program.id];
  while (row && VYRE_ROW_OP(v->op[row]) != VYRE_OP_workgroup)
    row = v->next[row];
  if (row == 0)
    return false;
  const uint32_t ids[3] = {v->a[row], v->b[row], v->c[row]};
  for (uint32_t k = 0; k < 3; k++) {
    uint64_t size;
    if (!vyre_constant_value(module, (vyre_row){ids[k]}, specs, spec_count, &size))
      return false;
    out[k] = (uint32_t)size;
  }
  return true;
}
