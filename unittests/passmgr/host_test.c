/* Invalid calls of the host.  Each call with an invalid argument has no effect, and ends the run with an error that names plugin,
 * pass and call.  Random calls, valid and invalid, never end the process.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../pipeline.h"

static const char text[] = "program @p workgroup(64, 1, 1) {\n"
                           "  buffer %x : u32[] storage rw set(0) binding(0) buffer %t : u32[4] private %i = gid.x\n"
                           "  %v = load %x[%i]\n"
                           "  for %k = 0u32 to 4u32 step 1u32 { %l = load %t[%k] if ult %l, %v { store %t[%k], add(%l, %v) } }\n"
                           "  store %x[%i], add(%v, 1u32)\n"
                           "}\n"
                           "struct @S { a : u32, b : f32x2 }\n"
                           "program @q {\n"
                           "  buffer %s : @S[3] private var %r : u32\n"
                           "  loop max_iterations(9) {\n"
                           "    %g = get %r deco(5318, 1, 7) set %r, xor(%g, 5u32)\n"
                           "  } continuing {\n"
                           "    breakif ugt(get(%r), 3u32)\n"
                           "  }\n"
                           "}\n";

/* The action of the pass, set by each test. */
static void (*act)(vyre_pass_ctx *ctx, vyre_module *module);

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  *out = VYRE_CHANGED;
  act(ctx, module);
  return VYRE_OK;
}

static const vyre_param params[] = {{sizeof(vyre_param), VYRE_PARAM_UINT, "n", "s", 0, UINT32_MAX, 0x7fffffff, NULL},
                                    {sizeof(vyre_param), VYRE_PARAM_TEXT, "file", "s", 0, 0, 0, "FILE"}};
static const vyre_pass pass = {
    .struct_size = sizeof(vyre_pass), .name = "t.do", .summary = "s", .params = params, .param_count = 2, .run = run};
VYRE_PLUGIN("t", "1", &pass)

static vyre_registry *registry;
static vyre_pipeline *pipeline;

static int
begin(void **state)
{
  (void)state;
  registry = registry_with(vyre_plugin_query_v1, "t.so", VYRE_ORIGIN_OUTSIDE);
  assert_ok(vyre_pipeline_parse(registry, "t.do", 4, "-passes", &pipeline));
  return 0;
}

static int
end(void **state)
{
  (void)state;
  vyre_pipeline_destroy(pipeline);
  vyre_registry_destroy(registry);
  return 0;
}

/* ---- calls with one wrong argument --------------------------------------------------------------------------------------- */

enum { BEYOND = 100000, ROWS = 256 };

#define ADD  find_op(m, VYRE_OP_add)
#define AT   find_op(m, VYRE_OP_at)
#define WORD VYRE_ROW(VYRE_OP_add, VYRE_TYPE(VYRE_U32, 1), 0)

/* name, call, beginning of its message */
#define BAD_CALLS(X)                                                                                                   \
  X(insert_before, h->insert_row(m, BEYOND, WORD, 0, 0, 0, 0, 0),                                                      \
    "host->insert_row: before is row 100000, but the module has rows 1 to ")                                           \
  X(insert_null, h->insert_row(m, 0, WORD, 0, 0, 0, 0, 0), "host->insert_row: before is row 0, ")                      \
  X(insert_program, h->insert_row(m, 1, WORD, 0, 0, 0, 0, 0), "host->insert_row: before is row 1, a program, ")        \
  X(insert_op, h->insert_row(m, ADD, VYRE_OP__COUNT, 0, 0, 0, 0, 0), "host->insert_row: there is no op ")              \
  X(insert_no_op, h->insert_row(m, ADD, 0xffff, 0, 0, 0, 0, 0), "host->insert_row: there is no op 65535")              \
  X(insert_a, h->insert_row(m, ADD, WORD, 0, 0, BEYOND, 0, 0), "host->insert_row: operand a is row 100000, ")          \
  X(insert_b, h->insert_row(m, ADD, WORD, 0, 0, 0, BEYOND, 0), "host->insert_row: operand b is row 100000, ")          \
  X(insert_c, h->insert_row(m, ADD, WORD, 0, 0, 0, 0, UINT32_MAX), "host->insert_row: operand c is row 4294967295, ")  \
  X(append_region, h->append_row(m, BEYOND, WORD, 0, 0, 0, 0, 0), "host->append_row: region is row 100000, ")          \
  X(append_no_region, h->append_row(m, ADD, WORD, 0, 0, 0, 0, 0), "host->append_row: row ")                            \
  X(append_control, h->append_row(m, find_op(m, VYRE_OP_if), WORD, 0, 0, 0, 0, 0), "host->append_row: row ")           \
  X(append_op, h->append_row(m, 1, VYRE_OP__COUNT, 0, 0, 0, 0, 0), "host->append_row: there is no op ")                \
  X(append_a, h->append_row(m, 1, WORD, 0, 0, BEYOND, 0, 0), "host->append_row: operand a is row 100000, ")            \
  X(buffer_row, h->add_buffer(m, BEYOND, 28, 0, 0, 1, 0), "host->add_buffer: near_row is row 100000, ")                \
  X(buffer_type, h->add_buffer(m, ADD, VYRE_TYPE(VYRE_BOOL, 1), 0, 0, 1, 0),                                           \
    "host->add_buffer: a buffer cannot have elements of type 4")                                                       \
  X(buffer_path, h->add_buffer(m, ADD, VYRE_TYPE(VYRE_PATH, 1), 0, 0, 1, 0),                                           \
    "host->add_buffer: a buffer cannot have elements of type 56")                                                      \
  X(buffer_none, h->add_buffer(m, ADD, 28, 0, VYRE_SPACE_PRIVATE, 0, 0),                                               \
    "host->add_buffer: a buffer of 0 elements cannot be in space 4")                                                   \
  X(buffer_space, h->add_buffer(m, ADD, 28, 4, VYRE_SPACE_PUSH, 0, 0),                                                 \
    "host->add_buffer: a buffer of 4 elements cannot be in space 2")                                                   \
  X(buffer_taken, h->add_buffer(m, ADD, 28, 4, 0, 0, 0), "host->add_buffer: set 0, binding 0 is that of row ")         \
  X(constant_row, h->constant(m, BEYOND, VYRE_TYPE(VYRE_U32, 1), 1), "host->constant: near_row is row 100000, ")       \
  X(constant_type, h->constant(m, ADD, VYRE_TYPE(VYRE_PATH, 1), 1), "host->constant: type 56 has no literals")         \
  X(rewrite_row, h->rewrite(m, BEYOND, WORD, 0, 0, 0, 0, 0), "host->rewrite: row is row 100000, ")                     \
  X(rewrite_op, h->rewrite(m, ADD, VYRE_OP__COUNT, 0, 0, 0, 0, 0), "host->rewrite: there is no op ")                   \
  X(rewrite_operand, h->rewrite(m, ADD, WORD, 0, 0, 1, BEYOND, 0), "host->rewrite: operand b is row 100000, ")         \
  X(operand_row, h->set_operand(m, BEYOND, 0, 1), "host->set_operand: row is row 100000, ")                            \
  X(operand_which, h->set_operand(m, ADD, 3, 1), "host->set_operand: operand 3 does not exist, only 0 to 2")           \
  X(operand_operand, h->set_operand(m, ADD, 0, BEYOND), "host->set_operand: operand is row 100000, ")                  \
  X(move_row, h->move_before(m, BEYOND, ADD), "host->move_before: row is row 100000, ")                                \
  X(move_before, h->move_before(m, ADD, BEYOND), "host->move_before: before is row 100000, ")                          \
  X(move_nowhere, h->move_before(m, ADD, 0), "host->move_before: before is row 0, ")                                   \
  X(move_inside, h->move_before(m, find_op(m, VYRE_OP_for), find_op(m, VYRE_OP_if)), "host->move_before: row ")        \
  X(move_into, h->move_before(m, find_op(m, VYRE_OP_for), find_op(m, VYRE_OP_body)), "host->move_before: row ")        \
  X(kill_row, h->kill(m, BEYOND), "host->kill: row is row 100000, ")                                                   \
  X(kill_null, h->kill(m, 0), "host->kill: row is row 0, ")                                                            \
  X(forward_null, h->forward(m, NULL), "host->forward: fwd is NULL")                                                   \
  X(fold_row, h->fold(m, BEYOND, &type, lanes), "host->fold: row is row 100000, ")                                     \
  X(fold_null, h->fold(m, ADD, &type, NULL), "host->fold: out_type or out_lanes is NULL")                              \
  X(given_row, h->fold_given(m, BEYOND, none, lanes), "host->fold_given: row is row 100000, ")                         \
  X(given_null, h->fold_given(m, ADD, NULL, lanes), "host->fold_given: given or out_lanes is NULL")                    \
  X(pinned_null, h->each_pinned(m, NULL, NULL), "host->each_pinned: pin is NULL")                                      \
  X(cost_op, h->cost(ctx, VYRE_OP__COUNT, VYRE_TYPE(VYRE_U32, 1), &cost), "host->cost: there is no op ")               \
  X(cost_type, h->cost(ctx, VYRE_OP_add, VYRE_TYPE(16, 1), &cost), "host->cost: there is no type 64")                  \
  X(cost_out, h->cost(ctx, VYRE_OP_add, VYRE_TYPE(VYRE_U32, 1), NULL), "host->cost: out, or its struct_size, is NULL") \
  X(in_bounds, h->in_bounds(m, BEYOND), "host->in_bounds: path is row 100000, ")                                       \
  X(ring, (h->set_operand(m, AT, 0, AT), h->in_bounds(m, AT)), "host->in_bounds: path is row ")                        \
  X(aliases, h->aliases(m, NULL), "host->aliases: out is NULL")                                                        \
  X(initial_row, h->initial(m, BEYOND, lanes), "host->initial: path is row 100000, ")                                  \
  X(initial_null, h->initial(m, find_op(m, VYRE_OP_buffer), NULL), "host->initial: out_bits is NULL")                  \
  X(count_null, h->count(ctx, NULL, 1), "host->count: name is NULL")                                                   \
  X(param_null, h->param(ctx, NULL), "host->param: the pass has no parameter '(NULL)'")                                \
  X(param_other, h->param(ctx, "m"), "host->param: the pass has no parameter 'm'")                                     \
  X(text_of_number, h->param_text(ctx, "n"), "host->param_text: the pass has no text parameter 'n'")                   \
  X(name_row, h->name(m, BEYOND), "host->name: row is row 100000, ")                                                   \
  X(set_name_row, h->set_name(m, 0, "n"), "host->set_name: row is row 0, ")                                            \
  X(set_name_program, h->set_name(m, 1, "n"), "host->set_name: row 1, program, keeps its name")                        \
  X(line_row, h->line(m, BEYOND, &word_text, &words[0]), "host->line: row is row 100000, ")                            \
  X(line_null, h->line(m, ADD, NULL, &words[0]), "host->line: out_file or out_column is NULL")                         \
  X(line_column, h->line(m, ADD, &word_text, NULL), "host->line: out_file or out_column is NULL")                      \
  X(deco_row, h->decorations(m, BEYOND, &words[0]), "host->decorations: row is row 100000, ")                          \
  X(deco_null, h->decorations(m, ADD, NULL), "host->decorations: out_count is NULL")                                   \
  X(set_deco_row, h->set_decorations(m, BEYOND, words, 2), "host->set_decorations: row is row 100000, ")               \
  X(set_deco_null, h->set_decorations(m, ADD, NULL, 2), "host->set_decorations: words is NULL")                        \
  X(set_deco_odd, h->set_decorations(m, ADD, words, 1), "host->set_decorations: the 1 words for row ")                 \
  X(set_deco_long, h->set_decorations(m, ADD, words, 2), "host->set_decorations: the 2 words for row ")                \
  X(set_deco_count, h->set_decorations(m, ADD, huge, 4), "host->set_decorations: the 4 words for row ")                \
  X(set_deco_own, h->set_decorations(m, ADD, own, 2), "host->set_decorations: the 2 words for row ")                   \
  X(set_deco_loop, h->set_decorations(m, find_op(m, VYRE_OP_loop), NULL, 0), "host->set_decorations: row ")            \
  X(hints_row, h->hints(m, BEYOND, words), "host->hints: row is row 100000, ")                                         \
  X(hints_null, h->hints(m, find_op(m, VYRE_OP_for), NULL), "host->hints: out_literals is NULL")                       \
  X(hints_add, h->hints(m, ADD, words), "host->hints: row ")                                                           \
  X(set_hints_row, h->set_hints(m, BEYOND, 1, NULL), "host->set_hints: row is row 100000, ")                           \
  X(set_hints_null, h->set_hints(m, find_op(m, VYRE_OP_for), 32, NULL), "host->set_hints: literals is NULL")           \
  X(set_hints_add, h->set_hints(m, ADD, 1, NULL), "host->set_hints: row ")                                             \
  X(path_row, h->path_type(m, BEYOND), "host->path_type: path is row 100000, ")                                        \
  X(type_none, h->type_info(m, 0, &info), "host->type_info: there is no type 0")                                       \
  X(type_beyond, h->type_info(m, BEYOND, &info), "host->type_info: there is no type 100000")                           \
  X(type_null, h->type_info(m, 4, NULL), "host->type_info: out, or its struct_size, is NULL")                          \
  X(type_size, h->type_info(m, 4, &no_info), "host->type_info: out, or its struct_size, is NULL")                      \
  X(member_type, h->member_info(m, BEYOND, 0, &member), "host->member_info: there is no type 100000")                  \
  X(member_value, h->member_info(m, 4, 0, &member), "host->member_info: type 4 has no member 0")                       \
  X(clone_row, h->clone(m, BEYOND, ADD, map, ROWS), "host->clone: row is row 100000, ")                                \
  X(clone_program, h->clone(m, 1, ADD, map, ROWS), "host->clone: row is row 1, a program, ")                           \
  X(clone_before, h->clone(m, ADD, 0, map, ROWS), "host->clone: before is row 0, ")                                    \
  X(clone_null, h->clone(m, ADD, ADD, NULL, ROWS), "host->clone: map is NULL")                                         \
  X(clone_body, h->clone(m, find_op(m, VYRE_OP_body), ADD, map, ROWS), "host->clone: row ")                            \
  X(clone_buffer, h->clone(m, find_op(m, VYRE_OP_buffer), ADD, map, ROWS), "host->clone: row ")                        \
  X(clone_var, h->clone(m, find_op(m, VYRE_OP_var), find_op(m, VYRE_OP_loop), map, ROWS), "host->clone: row ")         \
  X(clone_inside, h->clone(m, find_op(m, VYRE_OP_for), ADD, map, ROWS), "host->clone: row ")                           \
  X(clone_away, h->clone(m, find_op(m, VYRE_OP_xor), ADD, map, ROWS), "host->clone: row ")                             \
  X(clone_small, h->clone(m, ADD, ADD, map, ADD), "host->clone: row ")                                                 \
  X(clone_map, (map[v->a[ADD]] = BEYOND, h->clone(m, ADD, ADD, map, ROWS)), "host->clone: an element of map is row 100000, ")

#define AS_ACT(name, call, message)                                                                                           \
  static void act_##name(vyre_pass_ctx *ctx, vyre_module *m)                                                                  \
  {                                                                                                                           \
    static const uint64_t *const none[3];                                                                                     \
    const vyre_host *h = ctx->host;                                                                                           \
    const vyre_view *v = h->view(m);                                                                                          \
    uint64_t lanes[4];                                                                                                        \
    vyre_type type;                                                                                                           \
    uint32_t words[9] = {42, 1}, map[ROWS] = {0};                                                                             \
    static const uint32_t huge[] = {42, UINT32_MAX, 1, 1}, own[] = {VYRE_DECORATION_HINTS, 0};                                \
    const char *word_text;                                                                                                    \
    vyre_memory_type info = {.struct_size = sizeof info}, no_info = {.struct_size = 4};                                       \
    vyre_memory_member member = {.struct_size = sizeof member};                                                               \
    vyre_cost cost = {.struct_size = sizeof cost};                                                                            \
    (void)v, (void)none, (void)lanes, (void)type, (void)words, (void)map, (void)huge, (void)own, (void)word_text, (void)info, \
        (void)no_info, (void)member, (void)cost;                                                                              \
    (void)(call);                                                                                                             \
  }
BAD_CALLS(AS_ACT)

static void
act_forward_beyond(vyre_pass_ctx *ctx, vyre_module *m)
{
  const uint32_t rows = ctx->host->view(m)->rows;
  uint32_t *fwd = ctx->host->alloc(ctx, rows * sizeof(*fwd));
  assert_non_null(fwd);
  for (uint32_t row = 0; row < rows; row++)
    fwd[row] = row;
  fwd[rows - 1] = rows;
  ctx->host->forward(m, fwd);
}

static void
act_dead(vyre_pass_ctx *ctx, vyre_module *m)
{
  const uint32_t add = ADD;
  ctx->host->kill(m, add);
  ctx->host->set_operand(m, add, 0, 1);
}

static void
fails_with(void (*what)(vyre_pass_ctx *ctx, vyre_module *module), const char *message, bool verify_each)
{
  static const char start[] = "plugin 't' pass 't.do' (t.so) made an invalid call of its host: ";
  const vyre_pipeline_options options = {.struct_size = sizeof options, .verify_each = verify_each};
  vyre_module *module = parse(text);
  act = what;
  vyre_status status = vyre_pipeline_run(pipeline, module, &options);
  const char *got = vyre_status_text(status);
  if (strncmp(got, start, sizeof(start) - 1) != 0 || strncmp(got + sizeof(start) - 1, message, strlen(message)) != 0)
    fail_msg("the message is '%s', not '%s%s'", got, start, message);
  assert_error(status, VYRE_CODE_INPUT, "\nFix: ");
  vyre_module_clear(module); /* makes the module usable again */
  assert_null(vyre_module_status(module));
  vyre_module_destroy(module);
}

TEST(wrong_arguments_are_named)
{
  for (int verify_each = 0; verify_each < 2; verify_each++) {
#define CHECK(name, call, message) fails_with(act_##name, message, verify_each != 0);
    BAD_CALLS(CHECK)
    fails_with(act_forward_beyond, "host->forward: an element of fwd is row ", verify_each != 0);
    fails_with(act_dead, "host->set_operand: row is row ", verify_each != 0);
  }
}

/* Only the first invalid call is reported.  Later calls have no effect. */
static void
act_twice(vyre_pass_ctx *ctx, vyre_module *m)
{
  act_kill_row(ctx, m);
  act_move_row(ctx, m);
  assert_int_equal(ctx->host->insert_row(m, find_op(m, VYRE_OP_add), WORD, 0, 0, 0, 0, 0), 0);
}

TEST(the_first_invalid_call_is_reported)
{
  fails_with(act_twice, "host->kill: row is row 100000, but ", false);
}

/* ---- data beside the columns --------------------------------------------------------------------------------------------- */

static void
act_with_data(vyre_pass_ctx *ctx, vyre_module *m)
{
  const vyre_host *h = ctx->host;
  const vyre_view *v = h->view(m);
  const uint32_t get = find_op(m, VYRE_OP_get), loop = find_op(m, VYRE_OP_loop);
  static const uint32_t two[] = {42, 0, 5318, 2, 8, 9};
  uint32_t count, literals[VYRE_HINT_BITS];
  /* decorations */
  assert_memory_equal(h->decorations(m, get, &count), ((const uint32_t[]){5318, 2, 1, 7}), 4 * sizeof(uint32_t));
  assert_int_equal(count, 4);
  h->set_decorations(m, get, two, 6);
  assert_memory_equal(h->decorations(m, get, &count), two, sizeof two);
  h->set_decorations(m, get, NULL, 0);
  assert_null(h->decorations(m, get, &count));
  assert_int_equal(VYRE_ROW_FLAGS(v->op[get]), 0);
  h->set_decorations(m, get, two, 6);
  /* hints: literals by the number of their bit; a literal that a damaged row lacks is 0 */
  assert_int_equal(h->hints(m, loop, literals), VYRE_HINT_MAX_ITERATIONS);
  assert_int_equal(literals[5], 9);
  assert_int_equal(literals[4], 0);
  literals[7] = 3;
  literals[4] = 77;
  h->set_hints(m, loop, VYRE_HINT_UNROLL | VYRE_HINT_MAX_ITERATIONS | VYRE_HINT_PEEL_COUNT, literals);
  memset(literals, 0xff, sizeof literals);
  assert_int_equal(h->hints(m, loop, literals), VYRE_HINT_UNROLL | VYRE_HINT_MAX_ITERATIONS | VYRE_HINT_PEEL_COUNT);
  assert_int_equal(literals[0], 0);
  assert_int_equal(literals[4], 0);
  assert_int_equal(literals[5], 9);
  assert_int_equal(literals[7], 3);
  h->set_hints(m, loop, VYRE_HINT_DONT_UNROLL, NULL);
  assert_int_equal(h->hints(m, loop, literals), VYRE_HINT_DONT_UNROLL);
  h->rewrite(m, loop, v->op[loop], VYRE_HINT_PEEL_COUNT, 0, 0, 0, 0);
  assert_int_equal(h->hints(m, loop, literals), VYRE_HINT_PEEL_COUNT);
  assert_int_equal(literals[7], 0);
  h->set_hints(m, loop, 0, NULL);
  /* names and lines */
  assert_string_equal(h->name(m, get), "g");
  h->set_name(m, get, "v");
  assert_string_equal(h->name(m, get), "v");
  h->set_name(m, get, NULL);
  assert_null(h->name(m, get));
  h->set_name(m, get, "again");
  const char *file;
  uint32_t column;
  vyre_row_set_line(m, (vyre_row){get}, vyre_string_intern(m, "x.comp", 6), 12, 3);
  assert_int_equal(h->line(m, get, &file, &column), 12);
  assert_string_equal(file, "x.comp");
  assert_int_equal(column, 3);
  assert_int_equal(h->line(m, loop, &file, &column), 0);
  assert_string_equal(file, "");
}

/* Calls with structs of other sizes.  The host writes only the fields of an older struct, and clears the unknown fields of a
 * newer one. */
static void
act_with_types(vyre_pass_ctx *ctx, vyre_module *m)
{
  const vyre_host *h = ctx->host;
  const vyre_view *v = h->view(m);
  struct {
    vyre_memory_type known;
    uint32_t newer;
  } info = {{.struct_size = sizeof info}, 5};
  uint32_t buffer = 0;
  for (uint32_t row = 1; row < v->rows; row++)
    buffer = vyre_op_of(v, row) == VYRE_OP_buffer ? row : buffer; /* the last buffer */
  const uint32_t array = h->path_type(m, buffer);
  assert_int_equal(h->path_type(m, find_op(m, VYRE_OP_for)), 0);
  assert_true(h->type_info(m, array, &info.known));
  assert_int_equal(info.newer, 0);
  assert_int_equal(info.known.form, VYRE_FORM_ARRAY);
  assert_int_equal(info.known.count, 3);
  assert_int_equal(info.known.stride, 16);
  assert_int_equal(info.known.size, 48);
  const uint32_t element = info.known.element;
  info.known.struct_size = offsetof(vyre_memory_type, count);
  info.known.count = 1234;
  assert_true(h->type_info(m, element, &info.known));
  assert_int_equal(info.known.form, VYRE_FORM_STRUCT);
  assert_int_equal(info.known.count, 1234);
  assert_int_equal(info.known.struct_size, offsetof(vyre_memory_type, count));
  vyre_memory_member member = {.struct_size = sizeof member};
  assert_true(h->member_info(m, element, 1, &member));
  assert_string_equal(member.name, "b");
  assert_int_equal(member.offset, 8);
  assert_int_equal(member.type, VYRE_TYPE(VYRE_F32, 2));
  assert_false(h->member_info(m, element, 2, &member));
}

/* Clones a loop twice.  Both copies have the rows, names, lines and decorations of the loop. */
static void
act_clone(vyre_pass_ctx *ctx, vyre_module *m)
{
  const vyre_host *h = ctx->host;
  const vyre_view *v = h->view(m);
  const uint32_t loop = find_op(m, VYRE_OP_loop), get = find_op(m, VYRE_OP_get), rows = v->rows;
  uint32_t map[ROWS] = {0}, count, column;
  const char *file;
  vyre_row_set_line(m, (vyre_row){get}, vyre_string_intern(m, "x.comp", 6), 12, 3);
  for (int copy = 0; copy < 2; copy++) {
    const uint32_t clone = h->clone(m, loop, loop, map, rows);
    assert_int_equal(map[loop], clone);
    assert_int_equal(v->next[clone], loop);
    const uint32_t inner = map[get];
    assert_true(inner >= rows);
    assert_true(v->parent[v->parent[inner]] == clone);
    assert_int_equal(v->a[inner], v->a[get]); /* the var, which is outside of the loop */
    assert_string_equal(h->name(m, inner), "g");
    assert_int_equal(h->line(m, inner, &file, &column), 12);
    assert_string_equal(file, "x.comp");
    assert_int_equal(column, 3);
    assert_memory_equal(h->decorations(m, inner, &count), ((const uint32_t[]){5318, 2, 1, 7}), 4 * sizeof(uint32_t));
    uint32_t literals[VYRE_HINT_BITS];
    assert_int_equal(h->hints(m, clone, literals), VYRE_HINT_MAX_ITERATIONS);
    assert_int_equal(literals[5], 9);
    for (uint32_t row = vyre_body_first(v, clone); row; row = vyre_body_next(v, clone, row))
      assert_true(v->a[row] == 0 || v->a[row] >= rows || vyre_op_of(v, v->a[row]) == VYRE_OP_var);
  }
}

/* An operand that is mapped to a constant becomes a literal in normal form.  A row may be cloned in front of itself. */
static void
act_clone_with_literal(vyre_pass_ctx *ctx, vyre_module *m)
{
  const vyre_host *h = ctx->host;
  const vyre_view *v = h->view(m);
  const uint32_t less = find_op(m, VYRE_OP_ult);
  uint32_t map[ROWS] = {0};
  map[v->b[less]] = h->constant(m, less, VYRE_TYPE(VYRE_U32, 1), UINT64_C(0x700000009));
  const uint32_t clone = h->clone(m, less, less, map, ROWS);
  assert_int_equal(v->next[clone], less);
  assert_int_equal(v->a[clone], v->a[less]);
  assert_int_equal(v->b[clone], 0);
  assert_int_equal(VYRE_ROW_FLAGS(v->op[clone]), VYRE_ROW_IMM);
  assert_int_equal(vyre_row_imm(v, clone), 9); /* truncated to u32 */
}

static void
succeeds_with(void (*what)(vyre_pass_ctx *ctx, vyre_module *module))
{
  const vyre_pipeline_options options = {.struct_size = sizeof options, .verify_each = true};
  vyre_module *module = parse(text);
  act = what;
  assert_ok(vyre_pipeline_run(pipeline, module, &options));
  vyre_module_destroy(module);
}

TEST(data_beside_the_columns_is_read_and_set)
{
  succeeds_with(act_with_data);
  succeeds_with(act_clone);
  succeeds_with(act_clone_with_literal);
  fails_with(act_with_types, "host->member_info: type ", true);
}

/* ---- random calls --------------------------------------------------------------------------------------------------------- */

static uint64_t random_state;

/* Returns mostly a row of the module, sometimes 0, and sometimes a row beyond its end. */
static uint32_t
some_row(const vyre_view *v)
{
  const uint32_t kind = test_random(&random_state, 40);
  return kind == 0 ? v->rows + test_random(&random_state, 3) : kind == 1 ? 0 : test_random(&random_state, v->rows);
}

static uint32_t
some_word(void)
{
  return VYRE_ROW(test_random(&random_state, VYRE_OP__COUNT), test_random(&random_state, 64),
                  test_random(&random_state, 3) ? 0 : test_random(&random_state, 256));
}

static void
act_randomly(vyre_pass_ctx *ctx, vyre_module *m)
{
  const vyre_host *h = ctx->host;
  const vyre_view *v = h->view(m);
  for (uint32_t calls = 1 + test_random(&random_state, 3); calls > 0; calls--) {
    const uint32_t a = some_row(v), b = some_row(v), c = some_row(v), d = some_row(v), imm = test_random(&random_state, 300);
    uint64_t lanes[4];
    vyre_type type;
    uint32_t map[ROWS] = {0}, words[VYRE_HINT_BITS] = {test_random(&random_state, 99), test_random(&random_state, 3), b, c};
    const char *file;
    switch (test_random(&random_state, 17)) {
    case 0:
      h->insert_row(m, a, some_word(), imm, 0, b, c, d);
      break;
    case 1:
      h->rewrite(m, a, some_word(), imm, 0, b, c, d);
      break;
    case 2:
      h->set_operand(m, a, test_random(&random_state, 4), b);
      break;
    case 3:
      h->move_before(m, a, b);
      break;
    case 4:
      h->kill(m, a);
      break;
    case 5:
      h->constant(m, a, (vyre_type)test_random(&random_state, 64), imm);
      break;
    case 6:
      (void)h->fold(m, a, &type, lanes);
      break;
    case 7:
      (void)h->in_bounds(m, a);
      break;
    case 8:
      map[test_random(&random_state, ROWS)] = some_row(v);
      (void)h->clone(m, a, b, map, test_random(&random_state, 8) ? ROWS : test_random(&random_state, ROWS));
      break;
    case 9:
      h->set_decorations(m, a, words, test_random(&random_state, VYRE_HINT_BITS));
      break;
    case 10:
      h->set_hints(m, a, test_random(&random_state, 4) ? 1u << test_random(&random_state, 9) : imm, words);
      break;
    case 11:
      h->set_name(m, a, test_random(&random_state, 2) ? "k" : NULL);
      break;
    case 12:
      (void)h->hints(m, a, words);
      (void)h->line(m, b, &file, words);
      break;
    case 13:
      (void)h->type_info(m, h->path_type(m, a), &(vyre_memory_type){.struct_size = sizeof(vyre_memory_type)});
      break;
    case 14:
      (void)h->append_row(m, a, some_word(), imm, 0, b, c, d);
      break;
    case 15:
      (void)h->add_buffer(m, a, (vyre_type)test_random(&random_state, 64), test_random(&random_state, 3),
                          test_random(&random_state, 8), test_random(&random_state, 2), test_random(&random_state, 2));
      break;
    default:
      (void)h->initial(m, a, lanes);
      break;
    }
  }
}

TEST(random_calls_end_in_a_status)
{
  const vyre_pipeline_options options = {.struct_size = sizeof options, .verify_each = true};
  vyre_module *module = parse(text);
  uint32_t failed = 0;
  act = act_randomly;
  for (uint32_t round = 0; round < 30000; round++) {
    random_state = round;
    vyre_module_clear(module);
    parse_into(module, text);
    vyre_status status = vyre_pipeline_run(pipeline, module, &options);
    failed += status != VYRE_OK;
    vyre_status_free(status);
  }
  vyre_module_destroy(module);
  assert_true(failed > 3000 && failed < 29000);
}

TEST_MAIN(begin, end)
