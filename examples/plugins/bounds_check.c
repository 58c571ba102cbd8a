/* An example of a pass that instruments a program: records accesses out of bounds in a buffer.
 *
 * Before each load, store, copy, atomic and `length` with a step that may be out of bounds, an `if` compares the step's index with
 * the length.  If the index is out of bounds, the invocation writes a record to the storage buffer `bounds`, an array of words:
 *
 *   word 0                number of accesses out of bounds, also without room for their records
 *   8 * k, for k from 1   line and column of the source (0 if unknown), row, gid.x, gid.y, gid.z, index, length
 *
 * The access itself does not change.  The buffer must contain zeros at first: vyre-run -buffer=bounds=zero -print=bounds.
 *
 * Limits: steps into an array of descriptors without a length, and steps after them, are not checked.  Cost: a comparison and a
 * branch for each step that may be out of bounds.
 *
 * Requires: nothing.  Preserves: nothing.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <vyre/plugin.h>

enum { WORDS = 8, U32 = VYRE_TYPE(VYRE_U32, 1), BOOL = VYRE_TYPE(VYRE_BOOL, 1), PATH = VYRE_TYPE(VYRE_PATH, 1) };

typedef struct checker {
  vyre_pass_ctx *ctx;
  const vyre_host *host;
  vyre_module *module;
  const vyre_view *v;
  uint32_t log, program; /* the buffer, and its program */
} checker;

/* A place for new rows: before a row, or at the end of a region. */
typedef struct place {
  uint32_t before, region;
} place;

static uint32_t
make(const checker *c, place at, uint32_t word, uint32_t imm, uint32_t imm_hi, uint32_t a, uint32_t b)
{
  if (at.region)
    return c->host->append_row(c->module, at.region, word, imm, imm_hi, a, b, 0);
  return c->host->insert_row(c->module, at.before, word, imm, imm_hi, a, b, 0);
}

/* Creates an operation on u32 with a literal as the right operand. */
static uint32_t
make_with_literal(const checker *c, place at, uint32_t op, uint32_t a, uint32_t literal)
{
  return make(c, at, VYRE_ROW(op, U32, VYRE_ROW_IMM), literal, 0, a, 0);
}

static uint32_t
literal(const checker *c, uint32_t value)
{
  return c->host->constant(c->module, c->log, U32, value);
}

static vyre_type
type_of(const checker *c, uint32_t row)
{
  return VYRE_ROW_TYPE(c->v->op[row]);
}

/* Converts an index or a length from i32 to u32, so that a negative index exceeds every length. */
static uint32_t
as_unsigned(const checker *c, place at, uint32_t value)
{
  return type_of(c, value) == U32 ? value : make(c, at, VYRE_ROW(VYRE_OP_bitcast, U32, 0), 0, 0, value, 0);
}

/* Returns a row with the number of elements that the step chooses from.  Returns 0 for a member, or if the number is unknown. */
static uint32_t
length_at(const checker *c, place at, uint32_t step)
{
  vyre_memory_type type = {.struct_size = sizeof type};
  const uint32_t memory = c->v->a[step];
  if (!c->host->type_info(c->module, c->host->path_type(c->module, memory), &type) || type.form == VYRE_FORM_STRUCT)
    return 0;
  if (type.form == VYRE_FORM_VALUE)
    return literal(c, VYRE_TYPE_LANES(type.element));
  if (type.count_row)
    return type.count_row;
  if (type.count)
    return literal(c, type.count);
  const uint32_t buffer = vyre_buffer_of(c->v, memory);
  const bool is_memory = type.form == VYRE_FORM_ARRAY && c->host->descriptor_steps(c->module, buffer) == 0;
  return is_memory ? make(c, at, VYRE_ROW(VYRE_OP_length, U32, 0), 0, 0, memory, 0) : 0;
}

/* Writes the words of a record, from the word `first` on. */
static void
write_record(const checker *c, place at, uint32_t first, uint32_t access, uint32_t index, uint32_t length)
{
  const char *file;
  uint32_t column = 0, words[WORDS];
  const uint32_t line = c->host->line(c->module, access, &file, &column);
  const uint32_t gid = make(c, at, VYRE_ROW(VYRE_OP_gid, VYRE_TYPE(VYRE_U32, 3), 0), 0, 0, 0, 0);
  words[0] = literal(c, line);
  words[1] = literal(c, line ? column : 0);
  words[2] = literal(c, access);
  for (uint32_t k = 0; k < 3; k++)
    words[3 + k] = make(c, at, VYRE_ROW(VYRE_OP_lane, U32, VYRE_ROW_IMM), k, 0, gid, 0);
  words[6] = index;
  words[7] = length;
  for (uint32_t k = 0; k < WORDS; k++) {
    const uint32_t word = make_with_literal(c, at, VYRE_OP_add, first, k);
    const uint32_t path = make(c, at, VYRE_ROW(VYRE_OP_at, PATH, 0), 0, U32, c->log, word);
    make(c, at, VYRE_ROW(VYRE_OP_store, 0, 0), 0, 0, path, words[k]);
  }
}

/* Inserts the check of a step before the access. */
static void
check_step(const checker *c, uint32_t access, uint32_t step, uint32_t length)
{
  const vyre_host *host = c->host;
  const place here = {.before = access};
  uint32_t index = c->v->b[step];
  if (VYRE_ROW_FLAGS(c->v->op[step]) & VYRE_ROW_IMM)
    index = literal(c, c->v->imm[step]);
  index = as_unsigned(c, here, index);
  length = as_unsigned(c, here, length);
  const uint32_t out = make(c, here, VYRE_ROW(VYRE_OP_uge, BOOL, 0), 0, 0, index, length);
  const place in = {.region = c->v->first[make(c, here, VYRE_ROW(VYRE_OP_if, 0, 0), 0, 0, out, 0)]};
  const uint32_t count = make(c, in, VYRE_ROW(VYRE_OP_at, PATH, VYRE_ROW_IMM), 0, U32, c->log, 0);
  const uint32_t before =
      make(c, in, VYRE_ROW(VYRE_OP_atomic_add, U32, 0), VYRE_ORDER(0, 1, 0), 0, count, literal(c, 1)); /* device, relaxed */
  const uint32_t record = make_with_literal(c, in, VYRE_OP_add, before, 1);
  const uint32_t words = make(c, in, VYRE_ROW(VYRE_OP_length, U32, 0), 0, 0, c->log, 0);
  const uint32_t room =
      make(c, in, VYRE_ROW(VYRE_OP_ult, BOOL, 0), 0, 0, record, make_with_literal(c, in, VYRE_OP_udiv, words, WORDS));
  const place there = {.region = c->v->first[make(c, in, VYRE_ROW(VYRE_OP_if, 0, 0), 0, 0, room, 0)]};
  write_record(c, there, make_with_literal(c, there, VYRE_OP_mul, record, WORDS), access, index, length);
  host->count(c->ctx, "steps checked", 1);
}

/* Checks all steps of a path, from the buffer on. */
static bool
check_path(checker *c, uint32_t access, uint32_t path)
{
  if (VYRE_ROW_OP(c->v->op[path]) != VYRE_OP_at || c->host->in_bounds(c->module, path))
    return false;
  bool has_changed = check_path(c, access, c->v->a[path]);
  const uint32_t length = length_at(c, (place){.before = access}, path);
  const bool is_literal = (VYRE_ROW_FLAGS(c->v->op[path]) & VYRE_ROW_IMM) != 0;
  if (!length || (is_literal && vyre_row_is_const(c->v, length) && c->v->imm[path] < vyre_row_imm(c->v, length)))
    return has_changed;
  check_step(c, access, path, length);
  return true;
}

/* Returns the number of paths of an access: operand a, and b of a copy. */
static uint32_t
paths_of(const vyre_view *v, uint32_t row)
{
  switch (vyre_op_of(v, row)) {
  case VYRE_OP_load:
  case VYRE_OP_store:
  case VYRE_OP_length:
    return 1;
  case VYRE_OP_copy:
  case VYRE_OP_async_copy:
    return 2;
  default:
    return vyre_op_is_atomic((vyre_opcode)vyre_op_of(v, row)) ? 1 : 0;
  }
}

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  checker c = {.ctx = ctx, .host = ctx->host, .module = module, .v = ctx->host->view(module)};
  const uint32_t rows = c.v->rows; /* new rows come after these */
  *out = VYRE_UNCHANGED;
  for (uint32_t row = 1; row < rows; row++) {
    const uint32_t paths = paths_of(c.v, row), program = paths ? vyre_program_of(c.v, row) : 0;
    const uint32_t operands[2] = {c.v->a[row], c.v->b[row]};
    for (uint32_t k = 0; k < paths; k++) {
      if (VYRE_ROW_OP(c.v->op[operands[k]]) != VYRE_OP_at || c.host->in_bounds(module, operands[k]))
        continue;
      if (program != c.program) {
        c.program = program;
        c.log = c.host->add_buffer(module, row, U32, 0, VYRE_SPACE_STORAGE, (uint32_t)c.host->param(ctx, "set"),
                                   (uint32_t)c.host->param(ctx, "binding"));
        c.host->set_name(module, c.log, "bounds");
        *out = VYRE_CHANGED;
      }
      if (check_path(&c, row, operands[k]))
        *out = VYRE_CHANGED;
    }
  }
  return VYRE_OK;
}

static const vyre_param params[] = {
    {sizeof(vyre_param), VYRE_PARAM_UINT, "set", "the descriptor set of the buffer", 0, UINT32_MAX, 3, NULL},
    {sizeof(vyre_param), VYRE_PARAM_UINT, "binding", "the binding of the buffer", 0, UINT32_MAX, 0, NULL},
};

static const vyre_pass bounds_check = {
    .struct_size = sizeof(vyre_pass),
    .name = "acme.bounds-check",
    .summary = "record accesses out of bounds in a buffer",
    .params = params,
    .param_count = sizeof(params) / sizeof(params[0]),
    .run = run,
};

VYRE_PLUGIN("acme", "1.0", &bounds_check)
