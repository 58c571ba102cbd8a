/* Replaces loads of a private copy by loads of the copied memory.
 *
 * Front ends copy structs and arrays that a function takes by value.  If the copy is indexed by a variable, simplify cannot replace
 * its loads by the copied values, so each call stores all elements and loads one.  This pass loads the element from the source:
 *
 *     %x = load %u.m.sizes[0]                        %v = load %u.m.sizes[%i]
 *     %y = load %u.m.sizes[1]
 *     store %copy[0], %x                  becomes
 *     store %copy[1], %y
 *     %v = load %copy[%i]
 *
 * The copied part is the path up to the first step that is not a literal.  From the load's version, the pass follows the stores
 * backward until each scalar and vector of that part was stored.  Each stored value must be a load from the same place of one
 * source.  dce removes the stores and loads that become unused.  O(rows + loads * (stores of a copy + writes skipped)).
 *
 * A source is uniform memory, push constants, a constant table or storage memory.  The copy must be in the same loop as the load,
 * because drivers unroll loops and keep small copies in registers.  Nothing in the module may write the source or memory that may
 * alias it.  `readonly` does not suffice, because another binding may be the same memory.
 *
 * A `copy` row copies a part whole.  Loads with literal indices use the source of a `copy` row, too, because
 * simplify does not follow `copy` rows.
 *
 * Limits: a part of at most MOST_PARTS scalars and vectors, if they were stored one by one.  The walk ends at a join.  Decorated,
 * volatile and coherent accesses are not replaced.
 *
 * Requires: versions, dominance.  Preserves: nothing.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../state/written.h"

enum { MOST_STEPS = 16, MOST_PARTS = 256, MOST_WRITES = 512, FEW_WRITES = 64 };

/* The steps of a path after a prefix, in order. */
typedef struct steps {
  uint32_t rows[MOST_STEPS], count;
} steps;

/* A copied part, and its source if the walk found a store to the part. */
typedef struct copy {
  uint32_t part;   /* the path of the part, in private memory */
  steps to_part;   /* the steps of `part` after the buffer */
  uint32_t kept;   /* number of steps of `to_part` that lead to the place that was copied from `source` */
  uint32_t source; /* the path of the source, or 0 before the first store */
  uint32_t parts;  /* scalars and vectors in the part */
  uint32_t found;  /* scalars and vectors whose store was found */
  uint64_t is_found[MOST_PARTS / 64];
} copy;

typedef struct uncopier {
  const vyre_host *host;
  vyre_module *module;
  const vyre_view *v;
  written written;
} uncopier;

/* ---- paths and types ----------------------------------------------------------------------------------------------------- */

static bool
is_literal_step(const vyre_view *v, uint32_t at)
{
  return (VYRE_ROW_FLAGS(v->op[at]) & VYRE_ROW_IMM) != 0;
}

/* Lists the steps of the path after `prefix`.  Returns false for more than MOST_STEPS, or if `prefix` does not begin the path. */
static bool
list_steps(const vyre_view *v, uint32_t path, uint32_t prefix, steps *out)
{
  uint32_t count = 0;
  for (uint32_t at = path; at != prefix; at = v->a[at], count++)
    if (vyre_op_of(v, at) != VYRE_OP_at || count == MOST_STEPS)
      return false;
  out->count = count;
  for (uint32_t at = path; count > 0; at = v->a[at])
    out->rows[--count] = at;
  return true;
}

/* Returns whether two steps are always equal. */
static bool
are_equal_steps(const vyre_view *v, uint32_t x, uint32_t y)
{
  return is_literal_step(v, x) == is_literal_step(v, y) && v->b[x] == v->b[y] && (!is_literal_step(v, x) || v->imm[x] == v->imm[y]);
}

/* Returns whether two paths always lead to the same place. */
static bool
are_equal_paths(const vyre_view *v, uint32_t x, uint32_t y)
{
  for (; x != y; x = v->a[x], y = v->a[y])
    if (vyre_op_of(v, x) != VYRE_OP_at || vyre_op_of(v, y) != VYRE_OP_at || !are_equal_steps(v, x, y))
      return false;
  return true;
}

static bool
type_info(const uncopier *u, uint32_t type, vyre_memory_type *out)
{
  *out = (vyre_memory_type){.struct_size = sizeof *out};
  return u->host->type_info(u->module, type, out);
}

/* Returns the type of the part of a type that step `index` of a path selects: an element, a column, a lane or a member.  Returns 0
 * if the type has no such part. */
static uint32_t
type_inside(const uncopier *u, const vyre_memory_type *info, uint32_t type, uint32_t index)
{
  vyre_memory_member member = {.struct_size = sizeof member};
  switch ((vyre_type_form)info->form) {
  case VYRE_FORM_VALUE:
    return VYRE_TYPE_LANES(type) > 1 ? VYRE_TYPE(VYRE_TYPE_KIND(type), 1) : 0;
  case VYRE_FORM_STRUCT:
    return index < info->count && u->host->member_info(u->module, type, index, &member) ? member.type : 0;
  case VYRE_FORM_ARRAY:
  case VYRE_FORM_MATRIX:
    return info->element;
  default:
    return 0;
  }
}

/* Returns the number of scalars and vectors in a type with the shape of `like`.  Two types have the same shape if the same paths
 * are in bounds of both.  Returns 0 if the shapes differ, or if the number exceeds MOST_PARTS. */
static uint32_t
count_parts(const uncopier *u, uint32_t type, uint32_t like)
{
  vyre_memory_type x, y;
  if (!type_info(u, type, &x) || !type_info(u, like, &y) || x.form != y.form)
    return 0;
  if (x.form == VYRE_FORM_VALUE)
    return type == like;
  if (x.form == VYRE_FORM_WORDS || x.count == 0 || x.count != y.count || x.count > MOST_PARTS)
    return 0;
  if (x.form != VYRE_FORM_STRUCT) {
    const uint32_t each = count_parts(u, x.element, y.element);
    return each * x.count <= MOST_PARTS ? each * x.count : 0;
  }
  uint32_t sum = 0;
  for (uint32_t i = 0; i < x.count; i++) {
    const uint32_t each = count_parts(u, type_inside(u, &x, type, i), type_inside(u, &y, like, i));
    if (each == 0 || sum + each > MOST_PARTS)
      return 0;
    sum += each;
  }
  return sum;
}

/* Returns the index of a scalar or vector among those of the type.  The literal steps of `path` from `first` on lead to the scalar
 * or vector.  Returns MOST_PARTS if these steps lead to another type, or if the index exceeds the limit. */
static uint32_t
part_at(const uncopier *u, uint32_t type, const steps *path, uint32_t first)
{
  uint32_t before = 0;
  for (uint32_t i = first; i < path->count; i++) {
    const uint32_t step = u->v->imm[path->rows[i]];
    vyre_memory_type info;
    if (!type_info(u, type, &info) || info.form == VYRE_FORM_VALUE || step >= info.count)
      return MOST_PARTS;
    for (uint32_t k = 0; info.form == VYRE_FORM_STRUCT && k < step; k++) {
      const uint32_t member = type_inside(u, &info, type, k);
      before += count_parts(u, member, member);
    }
    type = type_inside(u, &info, type, step);
    before += info.form == VYRE_FORM_STRUCT ? 0 : step * count_parts(u, type, type);
  }
  vyre_memory_type info;
  return type_info(u, type, &info) && info.form == VYRE_FORM_VALUE && before < MOST_PARTS ? before : MOST_PARTS;
}

/* ---- the copy ------------------------------------------------------------------------------------------------------------ */

static bool
is_plain(const vyre_view *v, uint32_t access)
{
  return (VYRE_ROW_FLAGS(v->op[access]) & (VYRE_ROW_DECO | VYRE_ROW_VOLATILE | VYRE_ROW_COHERENT)) == 0;
}

/* Returns whether a later load of `path` may replace the read of `path` by the row `load`: nothing may write the memory. */
static bool
is_source(const uncopier *u, uint32_t load, uint32_t path)
{
  const vyre_view *v = u->v;
  const uint32_t buffer = vyre_buffer_of(v, path);
  if (vyre_op_of(v, buffer) != VYRE_OP_buffer || !is_plain(v, load) || (u->written.alias[buffer] & VYRE_ALIAS_SHARED) != 0 ||
      written_has(&u->written, buffer))
    return false;
  const vyre_space space = VYRE_BUFFER_SPACE(v->imm_hi[buffer]);
  return space == VYRE_SPACE_UNIFORM || space == VYRE_SPACE_PUSH || space == VYRE_SPACE_CONSTANT || space == VYRE_SPACE_STORAGE;
}

/* Returns the path of the part's source if a store of `value` to `path`, a path in the part, copies that place of the source.
 * Otherwise returns 0. */
static uint32_t
source_of(const uncopier *u, const copy *c, const steps *path, uint32_t value)
{
  const vyre_view *v = u->v;
  if (vyre_op_of(v, value) != VYRE_OP_load || !is_source(u, value, v->a[value]))
    return 0;
  uint32_t source = v->a[value];
  for (uint32_t i = path->count; i-- > c->to_part.count; source = v->a[source])
    if (vyre_op_of(v, source) != VYRE_OP_at || !is_literal_step(v, source) || v->imm[source] != v->imm[path->rows[i]])
      return 0;
  return source;
}

/* Records a `copy` row.  Returns whether the row copied the part from a source, and no later store to the part was found. */
static bool
add_copy_row(const uncopier *u, copy *c, const steps *path, uint32_t row)
{
  const vyre_view *v = u->v;
  if (c->found || path->count > c->to_part.count || !is_source(u, row, v->b[row]))
    return false;
  c->source = v->b[row];
  c->kept = path->count;
  return true;
}

/* Records a store to the part.  Returns false if the store does not copy from the source of the other stores. */
static bool
add_store(const uncopier *u, copy *c, const steps *path, uint32_t store)
{
  const vyre_view *v = u->v;
  const uint32_t type = u->host->path_type(u->module, c->part);
  for (uint32_t i = c->to_part.count; i < path->count; i++)
    if (!is_literal_step(v, path->rows[i]))
      return false;
  const uint32_t part = part_at(u, type, path, c->to_part.count);
  if (part == MOST_PARTS)
    return false;
  uint64_t *const word = &c->is_found[part / 64], bit = UINT64_C(1) << part % 64;
  if (*word & bit) /* a later store replaced the value */
    return true;
  const uint32_t source = source_of(u, c, path, v->b[store]);
  if (source == 0 || (c->source && !are_equal_paths(v, source, c->source)))
    return false;
  if (c->source == 0) {
    c->source = source;
    c->kept = c->to_part.count;
    c->parts = count_parts(u, type, u->host->path_type(u->module, source));
  }
  *word |= bit;
  c->found++;
  return c->parts != 0;
}

typedef enum place { PLACE_OUTSIDE, PLACE_INSIDE, PLACE_AROUND, PLACE_UNKNOWN } place;

/* Returns the place that a path leads to, relative to the part. */
static place
place_of(const vyre_view *v, const copy *c, const steps *path)
{
  for (uint32_t i = 0; i < c->to_part.count; i++) {
    if (i == path->count)
      return PLACE_AROUND;
    if (!is_literal_step(v, path->rows[i]))
      return PLACE_UNKNOWN;
    if (v->imm[path->rows[i]] != v->imm[c->to_part.rows[i]])
      return PLACE_OUTSIDE;
  }
  return path->count == c->to_part.count ? PLACE_AROUND : PLACE_INSIDE;
}

/* Returns whether loads from the source cost less than the copy that the write is a part of.  If the write is outside of the load's
 * loop, a driver may unroll the loop and keep the copy in registers, and storage memory would be read in each iteration. */
static bool
is_costly_copy(const uncopier *u, uint32_t write, uint32_t load)
{
  const vyre_view *v = u->v;
  if (vyre_loop_around(v, write) == vyre_loop_around(v, load))
    return true;
  return vyre_op_of(v, write) == VYRE_OP_copy && VYRE_BUFFER_SPACE(v->imm_hi[vyre_buffer_of(v, v->b[write])]) != VYRE_SPACE_STORAGE;
}

/* Follows the stores before the load.  Returns whether the stores copied the whole part from one source. */
static bool
find_source(const uncopier *u, copy *c, uint32_t load)
{
  const vyre_view *v = u->v;
  const uint32_t buffer = vyre_buffer_of(v, c->part);
  const bool is_literal = c->part == v->a[load];
  uint32_t version = v->version[load];
  for (uint32_t i = 0; i < (is_literal ? FEW_WRITES : MOST_WRITES) && (version & VYRE_JOIN) == 0;
       i++, version = v->version[version]) {
    const uint32_t op = vyre_op_of(v, version);
    steps path;
    if ((op != VYRE_OP_store && op != VYRE_OP_copy) || !is_plain(v, version) || !list_steps(v, v->a[version], buffer, &path))
      return false;
    const place where = place_of(v, c, &path);
    if (where == PLACE_OUTSIDE)
      continue;
    if (!is_costly_copy(u, version, load))
      return false;
    if (op == VYRE_OP_copy && where == PLACE_AROUND)
      return add_copy_row(u, c, &path, version) && vyre_row_dominates(v, c->source, load);
    if (op == VYRE_OP_copy || is_literal || where == PLACE_UNKNOWN || path.count < c->to_part.count ||
        !add_store(u, c, &path, version))
      return false;
    if (c->found == c->parts)
      return vyre_row_dominates(v, c->source, load);
  }
  return false;
}

/* ---- the pass ------------------------------------------------------------------------------------------------------------ */

/* Returns the part of the path before its first variable index.  Returns 0 if all steps are literals. */
static uint32_t
literal_prefix(const vyre_view *v, uint32_t path)
{
  uint32_t prefix = 0;
  for (; vyre_op_of(v, path) == VYRE_OP_at; path = v->a[path])
    if (!is_literal_step(v, path))
      prefix = v->a[path];
  return prefix;
}

/* Returns the part that the load reads: all that a variable index may select, or the loaded value itself if no index is variable.
 * Returns 0 if the load is not from private memory that only this module's rows access. */
static uint32_t
part_of(const vyre_view *v, uint32_t row)
{
  if (!is_plain(v, row))
    return 0;
  const uint32_t prefix = literal_prefix(v, v->a[row]), part = prefix ? prefix : v->a[row], buffer = vyre_buffer_of(v, part);
  if (vyre_op_of(v, buffer) != VYRE_OP_buffer || VYRE_BUFFER_SPACE(v->imm_hi[buffer]) != VYRE_SPACE_PRIVATE ||
      (v->imm_hi[buffer] & (VYRE_ACCESS_ALIASED | VYRE_ACCESS_VOLATILE)) != 0)
    return 0;
  return part;
}

static bool
has_copy(const vyre_view *v, uint32_t program)
{
  uint32_t row = program;
  const uint32_t end = vyre_program_end(v, program);
  while (row < end && vyre_op_of(v, row) != VYRE_OP_copy)
    row++;
  return row < end;
}

/* Makes the load read the source.  Does nothing if memory runs out. */
static void
load_from_source(const uncopier *u, const copy *c, uint32_t load)
{
  const vyre_view *v = u->v;
  uint32_t path = c->source;
  steps behind;
  if (!list_steps(v, v->a[load], vyre_buffer_of(v, c->part), &behind))
    return;
  for (uint32_t i = c->kept; i < behind.count; i++) {
    const uint32_t step = behind.rows[i], type = u->host->path_type(u->module, path);
    vyre_memory_type info;
    if (!type_info(u, type, &info))
      return;
    path = u->host->insert_row(u->module, load, v->op[step], v->imm[step], type_inside(u, &info, type, v->imm[step]), path,
                               v->b[step], 0);
    if (path == 0)
      return;
  }
  u->host->set_operand(u->module, load, 0, path);
}

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  uncopier u = {.host = ctx->host, .module = module, .v = ctx->host->view(module)};
  const vyre_view *v = u.v;
  const uint32_t rows = v->rows;
  uint64_t loads = 0;
  uint32_t searched = 0; /* the program that `has_copies` describes */
  bool has_copies = false;
  *out = VYRE_UNCHANGED;
  for (uint32_t row = 1; row < rows; row++) {
    const uint32_t part = vyre_op_of(v, row) == VYRE_OP_load ? part_of(v, row) : 0;
    if (part == 0)
      continue;
    if (part == v->a[row] && searched != vyre_program_of(v, row)) {
      searched = vyre_program_of(v, row);
      has_copies = has_copy(v, searched);
    }
    copy c = {.part = part};
    if ((part == v->a[row] && !has_copies) || !list_steps(v, c.part, vyre_buffer_of(v, c.part), &c.to_part))
      continue;
    if (!u.written.v) {
      if (!written_make(&u.written, ctx, module))
        return ctx->host->out_of_memory(ctx);
      for (uint32_t i = 1; i < rows; i++)
        written_add(&u.written, i);
    }
    if (!find_source(&u, &c, row))
      continue;
    load_from_source(&u, &c, row);
    loads++;
  }
  ctx->host->count(ctx, "loads from the source of a copy", loads);
  *out = loads ? VYRE_CHANGED : VYRE_UNCHANGED;
  return VYRE_OK;
}

static const vyre_pass uncopy = {
    .struct_size = sizeof(vyre_pass),
    .flags = VYRE_PASS_SKIPS_REMOVED,
    .name = "uncopy",
    .summary = "load from the source of a private copy",
    .help =
        "A load with a variable index from a private copy of uniform memory, push constants or a constant table becomes a load of\n"
        "that memory, if the copy is whole and nothing writes the memory.  dce removes the copy.",
    .requires_ = VYRE_VERSIONS | VYRE_DOMINANCE,
    .run = run,
};
VYRE_PLUGIN("uncopy", "1.0", &uncopy)
