/* Value numbering of rows and joins: see values.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "values.h"

vyre_status
values_make(values *n, vyre_pass_ctx *ctx, const vyre_view *view)
{
  const size_t nodes = (size_t)view->rows + view->join_count, bytes = sizeof(uint32_t);
  uint32_t largest = 0;
  *n = (values){.v = view, .rows = view->rows, .joins = 1};
  for (uint32_t program = view->first[0]; program; program = view->next[program])
    if (vyre_program_end(view, program) - program > largest)
      largest = vyre_program_end(view, program) - program;
  n->klass = ctx->host->alloc(ctx, bytes * nodes);
  n->kept = ctx->host->alloc(ctx, bytes * nodes);
  n->seen = ctx->host->alloc(ctx, bytes * view->rows);
  bool good = n->klass && n->kept && n->seen;
  for (uint32_t i = 0; i < 3 && good; i++) {
    n->gates[i] = ctx->host->alloc(ctx, bytes * (view->join_count + 1));
    good = n->gates[i] != NULL;
  }
  good = good && first_make(&n->table, ctx, largest + view->join_count);
  return good ? VYRE_OK : ctx->host->out_of_memory(ctx);
}

void
values_begin_program(values *n, uint32_t program, uint32_t end)
{
  const vyre_view *v = n->v;
  uint32_t last;
  while (n->joins < v->join_count && v->joins[n->joins].row < program) /* joins that no read needed */
    n->joins++;
  for (last = n->joins; last < v->join_count && v->joins[last].row < end;)
    last++;
  first_begin(&n->table, end - program + last - n->joins);
  n->program = program;
  n->first_join = n->joins;
  n->rows_of_program = end - program;
}

/* ---- keys ---------------------------------------------------------------------------------------------------------------- */

static inline uint64_t
pair(uint32_t low, uint32_t high)
{
  return low | (uint64_t)high << 32;
}

static inline values_key
key_of_row(const values *n, uint32_t row)
{
  const vyre_view *v = n->v;
  const uint32_t word = v->op[row], a = n->klass[v->a[row]], b = n->klass[v->b[row]];
  const bool swap =
      b != 0 && a > b && (vyre_op_info_of(v, VYRE_ROW_OP(word))->flags & VYRE_OP_COMMUTES) != 0; /* an immediate leaves b 0 */
  return (values_key){
      {pair(word, v->imm[row]), pair(v->imm_hi[row] | n->seen[row], swap ? b : a), pair(swap ? a : b, n->klass[v->c[row]])}};
}

static values_key
key_of(const values *n, uint32_t node)
{
  const vyre_view *v = n->v;
  if (node >= n->rows) {
    const uint32_t join = node - n->rows;
    return (values_key){{VYRE_OP_if, pair(0, n->gates[0][join]), pair(n->gates[1][join], n->gates[2][join])}};
  }
  if (vyre_op_of(v, node) == VYRE_OP_var) /* the class of a variable is its initial zero; unset ones are not looked up */
    return (values_key){{VYRE_ROW(VYRE_OP_const, VYRE_ROW_TYPE(v->op[node]), 0), 0, 0}};
  return key_of_row(n, node);
}

static inline uint32_t
hash_of(values_key k)
{
  const uint64_t hash = k.pair[0] * UINT64_C(0x9e3779b97f4a7c15) + k.pair[1] * UINT64_C(0xc2b2ae3d27d4eb4f) +
                        k.pair[2] * UINT64_C(0x165667b19e3779f9);
  return (uint32_t)(hash >> 32 ^ hash);
}

static uint32_t
node_of(const values *n, uint32_t number)
{
  return number < n->rows_of_program ? n->program + number : n->rows + n->first_join + number - n->rows_of_program;
}

static uint32_t
number_of(const values *n, uint32_t node)
{
  return node < n->rows ? node - n->program : n->rows_of_program + node - n->rows - n->first_join;
}

/* Returns whether the numbered value has the key of the value being looked up, which has no row to compare with. */
static bool
is_wanted(void *user, uint32_t number, uint32_t wanted)
{
  const values *n = user;
  const values_key key = key_of(n, node_of(n, number));
  (void)wanted;
  return memcmp(&key, &n->wanted, sizeof key) == 0;
}

static first_key
wanted_key(void *user, uint32_t wanted)
{
  first_key key;
  (void)wanted;
  memcpy(&key, &((const values *)user)->wanted, sizeof key);
  return key;
}

/* Returns the first node with the key n->wanted, whose hash is `hash`. */
static __attribute__((noinline)) uint32_t
find_wanted(values *n, uint32_t node, uint32_t hash)
{
  const uint32_t first = first_find(&n->table, number_of(n, node), hash, is_wanted, wanted_key, n);
  n->out_of_memory |= first == 0;
  return first ? node_of(n, first) : node;
}

/* Returns the first node equal to this one, which is itself if it is new.  `number` is its number. */
static inline uint32_t
find_first(values *n, uint32_t node, uint32_t number, values_key key)
{
  const uint32_t hash = hash_of(key);
  if (first_add_new(&n->table, number, hash))
    return node;
  n->wanted = key;
  return find_wanted(n, node, hash);
}

/* Returns the first node equal to this variable or join. */
static uint32_t
find_first_state(values *n, uint32_t node)
{
  return find_first(n, node, number_of(n, node), key_of(n, node));
}

uint32_t
values_of_row(values *n, uint32_t row)
{
  return find_first(n, row, row - n->program, key_of_row(n, row));
}

/* ---- joins --------------------------------------------------------------------------------------------------------------- */

/* Returns the class of a variable's value in a version.  Returns 0 if literal conditions make it unreachable, or for a version
 * of memory. */
static uint32_t
class_of_state(values *n, uint32_t version)
{
  const vyre_view *v = n->v;
  if ((version & VYRE_JOIN) != 0)
    return n->klass[n->rows + (version & ~VYRE_JOIN)];
  switch (vyre_op_of(v, version)) {
  case VYRE_OP_set:
    return n->klass[v->b[version]];
  case VYRE_OP_var:
    if (n->klass[version] == 0)
      n->klass[version] = vyre_var_is_zero(v, version) ? find_first_state(n, version) : version;
    return n->klass[version];
  default:
    return 0;
  }
}

/* Returns the class of the value from an arm of the `if`, or 0 if a literal condition makes the arm unreachable. */
static uint32_t
class_from_arm(values *n, const vyre_join *join, uint32_t arm)
{
  const vyre_view *v = n->v;
  const uint32_t condition = v->a[join->row];
  if (vyre_row_is_const(v, condition) && (v->imm[condition] != 0) != (arm == v->first[join->row]))
    return 0;
  for (uint32_t i = 0; i < join->count; i++)
    if (v->parts[join->first + i].edge == arm)
      return class_of_state(n, v->parts[join->first + i].version);
  return 0;
}

static uint32_t
class_of_gate(values *n, uint32_t index, const vyre_join *join)
{
  const vyre_view *v = n->v;
  const uint32_t yes = class_from_arm(n, join, v->first[join->row]), no = class_from_arm(n, join, v->last[join->row]);
  if (yes == no || no == 0)
    return yes;
  if (yes == 0)
    return no;
  n->gates[0][index] = n->klass[v->a[join->row]];
  n->gates[1][index] = yes;
  n->gates[2][index] = no;
  return find_first_state(n, n->rows + index);
}

/* Returns the class on which all reachable parts agree, or the join's own class if they differ. */
static uint32_t
class_of_parts(values *n, uint32_t index, const vyre_join *join)
{
  const vyre_part *parts = n->v->parts + join->first;
  uint32_t all = 0;
  for (uint32_t i = 0; i < join->count; i++) {
    const uint32_t brought = class_of_state(n, parts[i].version);
    if (all && brought && brought != all)
      return n->rows + index;
    all = brought ? brought : all;
  }
  return all;
}

static uint32_t
class_of_join(values *n, uint32_t index)
{
  const vyre_view *v = n->v;
  const vyre_join *join = &v->joins[index];
  const bool is_head = (vyre_op_flags_of(v, join->row) & VYRE_OP_REGION) != 0;
  if (is_head && vyre_row_is_loop(v, v->parent[join->row]))
    return n->rows + index;
  return vyre_op_of(v, join->row) == VYRE_OP_if ? class_of_gate(n, index, join) : class_of_parts(n, index, join);
}

uint32_t
values_of_state(values *n, uint32_t version)
{
  if ((version & VYRE_JOIN) != 0) /* a join's parts come before it */
    for (; n->joins <= (version & ~VYRE_JOIN); n->joins++)
      if (!n->constructs[n->joins].is_memory)
        n->klass[n->rows + n->joins] = class_of_join(n, n->joins);
  return class_of_state(n, version);
}
