/* Sets programs aside that a fixpoint is done with.  retire.h describes the functions.
 *
 * Programs are compared by hashes of their rows, with rows numbered from the program on.  O(rows) for each round.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "retire.h"

#include "base/grow.h"
#include "vyre/batch.h"
#include "vyre/view.h"

static bool
is_branch_on_constant(const vyre_view *v, uint32_t row)
{
  const uint32_t op = vyre_op_of(v, row);
  return (op == VYRE_OP_if || op == VYRE_OP_switch || op == VYRE_OP_breakif) && vyre_op_of(v, v->a[row]) == VYRE_OP_const;
}

static bool
has_branch_on_constant(const vyre_view *v, uint32_t program)
{
  const uint32_t end = vyre_program_end(v, program);
  uint32_t row = program;
  while (row < end && !is_branch_on_constant(v, row))
    row++;
  return row < end;
}

static inline uint64_t
pair(uint32_t low, uint32_t high)
{
  return low | (uint64_t)high << 32;
}

/* Returns the hash of everything that a pass can change in a program.  The links of a sealed module follow from parents. */
static uint64_t
hash_program(const vyre_module *module, uint32_t program)
{
  const vyre_view *v = vyre_module_view(module);
  const uint32_t end = vyre_program_end(v, program), base = program - 1;
  uint32_t named, lined;
  const uint32_t *names = vyre_module_names(module, &named), *lines = vyre_module_lines(module, &lined);
  uint64_t hash = end - program;
  for (uint32_t row = program; row < end; row++) {
    const uint32_t a = v->a[row] ? v->a[row] - base : 0, b = v->b[row] ? v->b[row] - base : 0, c = v->c[row] ? v->c[row] - base : 0;
    uint64_t sum = pair(v->op[row], v->imm[row]) * UINT64_C(0x9e3779b97f4a7c15);
    sum += pair(v->imm_hi[row], a) * UINT64_C(0xc2b2ae3d27d4eb4f) + pair(b, c) * UINT64_C(0x165667b19e3779f9);
    sum += (v->parent[row] ? v->parent[row] - base : 0) * UINT64_C(0xd6e8feb86659fd93);
    sum += pair(row < named ? names[row] : 0, row < lined ? lines[row] : 0) * UINT64_C(0xa0761d6478bd642f);
    hash = (hash ^ sum ^ sum >> 32) * UINT64_C(0xff51afd7ed558ccd);
    hash ^= hash >> 29;
    if ((VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_DECO) == 0)
      continue;
    uint32_t count;
    const uint32_t *words = vyre_row_decorations(module, (vyre_row){row}, &count);
    for (uint32_t i = 0; i < count; i++)
      hash = (hash ^ words[i]) * UINT64_C(0xff51afd7ed558ccd);
  }
  return hash;
}

vyre_status
vyre_retirement_begin(run *r, bool by_branches, vyre_retirement *out)
{
  if (!by_branches)
    VYRE_TRY(vyre_run_seal(r)); /* hashes are of sealed programs */
  const vyre_allocator *allocator = vyre_module_allocator(r->module);
  const vyre_view *v = vyre_module_view(r->module);
  const uint32_t programs = vyre_count_programs(v);
  vyre_retirement *t = out;
  *t = (vyre_retirement){.r = r, .by_branches = by_branches, .programs = programs, .left = programs, .outer = r->aside};
  t->done = vyre_allocate(allocator, (programs + 1) * sizeof *t->done);
  t->leaves = vyre_allocate(allocator, (programs + 1) * sizeof *t->leaves);
  t->hashes = by_branches ? NULL : vyre_allocate(allocator, (programs + 1) * sizeof *t->hashes);
  t->changed = by_branches ? NULL : vyre_allocate(allocator, (programs + 1) * sizeof *t->changed);
  if (!t->done || !t->leaves || (!by_branches && (!t->hashes || !t->changed)))
    return vyre_status_join(VYRE_OUT_OF_MEMORY("to run a pipeline"), vyre_retirement_end(t, false));
  return VYRE_OK;
}

void
vyre_retirement_begin_round(vyre_retirement *t)
{
  const vyre_view *v = vyre_module_view(t->r->module);
  for (uint32_t program = v->first[0], i = 0; program && !t->by_branches && !t->is_hashed; program = v->next[program])
    t->hashes[i++] = hash_program(t->r->module, program);
  t->is_hashed = true;
}

/* Returns whether the round is the program's last.  Updates its hash. */
static bool
is_done(vyre_retirement *t, uint32_t number, uint32_t program)
{
  if (t->by_branches)
    return !has_branch_on_constant(vyre_module_view(t->r->module), program);
  const uint64_t hash = hash_program(t->r->module, program), before = t->hashes[number];
  t->hashes[number] = hash;
  return hash == before;
}

/* Drops analyses, because programs are set aside or put back. */
static void
drop_analyses(run *r)
{
  vyre_module_drop_analyses(r->module, r->fresh, r->options.check_changed);
  r->fresh = 0;
}

static vyre_status
set_aside(run *r, const bool *programs)
{
  VYRE_TRY(vyre_run_seal(r));
  const vyre_allocator *allocator = vyre_module_allocator(r->module);
  run_aside *aside = vyre_allocate(allocator, sizeof *aside);
  if (!aside)
    return VYRE_OUT_OF_MEMORY("to set programs aside");
  drop_analyses(r);
  vyre_status status = vyre_module_set_aside(r->module, programs, &aside->rows);
  if (status) {
    vyre_release(allocator, aside, sizeof *aside);
    return status;
  }
  aside->outer = r->aside;
  r->aside = aside;
  return VYRE_OK;
}

/* Ends the round for the programs in t->leaves.  Returns whether they are set aside. */
static bool
retire(vyre_retirement *t, bool leave)
{
  uint32_t leaving = 0;
  for (uint32_t i = 0; i < t->programs; i++)
    leaving += t->leaves[i];
  if (!t->by_branches && leaving == t->left)
    leaving = 0; /* a pass reported a change, but changed no row */
  for (uint32_t i = 0; i < t->programs && leaving; i++)
    t->done[i] |= t->leaves[i];
  t->left -= leaving;
  if (!leave || !leaving || !t->left)
    return false;
  vyre_report_count_add(t->r->options.report, "fixpoint", "programs retired", leaving);
  return true;
}

vyre_status
vyre_retirement_end_round(vyre_retirement *t, bool leave, bool *out_again)
{
  const vyre_view *v = vyre_module_view(t->r->module);
  uint32_t i = 0;
  for (uint32_t program = v->first[0]; program && i < t->programs; program = v->next[program], i++)
    t->leaves[i] = !t->done[i] && is_done(t, i, program);
  const bool any = retire(t, leave);
  *out_again = t->left > 0;
  return any ? set_aside(t->r, t->leaves) : VYRE_OK;
}

vyre_status
vyre_retirement_end_rounds(vyre_retirement *t, uint32_t rounds, bool again, bool leave, bool *out_again)
{
  bool any = false;
  t->is_hashed = false;
  for (uint32_t i = 0; i < t->programs; i++)
    t->changed[i] = t->done[i] ? UINT32_MAX : t->changed[i];
  for (uint32_t round = 1; round < rounds + again; round++) {
    for (uint32_t i = 0; i < t->programs; i++)
      t->leaves[i] = !t->done[i] && t->changed[i] < round;
    any |= retire(t, leave || round < rounds);
  }
  *out_again = again && t->left > 0;
  for (uint32_t i = 0; i < t->programs; i++)
    t->leaves[i] = t->done[i] && t->changed[i] != UINT32_MAX;
  return any && *out_again && leave ? set_aside(t->r, t->leaves) : VYRE_OK;
}

vyre_status
vyre_retirement_end(vyre_retirement *t, bool is_good)
{
  run *r = t->r;
  const vyre_allocator *allocator = vyre_module_allocator(r->module);
  vyre_status status = VYRE_OK;
  r->changes += r->aside != t->outer && t->by_branches; /* the passes may change the other programs again */
  while (r->aside != t->outer) {
    run_aside *aside = r->aside;
    drop_analyses(r);
    if (is_good && !status)
      status = vyre_module_put_back(r->module, aside->rows);
    r->aside = aside->outer;
    vyre_aside_destroy(aside->rows);
    vyre_release(allocator, aside, sizeof *aside);
  }
  vyre_release(allocator, t->done, (t->programs + 1) * sizeof *t->done);
  vyre_release(allocator, t->leaves, (t->programs + 1) * sizeof *t->leaves);
  vyre_release(allocator, t->changed, (t->programs + 1) * sizeof *t->changed);
  vyre_release(allocator, t->hashes, (t->programs + 1) * sizeof *t->hashes);
  return status;
}
