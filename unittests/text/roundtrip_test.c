/* print(parse(x)) is a fixed point over the corpus, which contains every op of the table, and over small texts.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "text_test.h"
#include "vyre/verify.h"

/* The verifier accepts the texts, except literals, which have types that no op accepts. */
TEST(the_corpus_is_a_fixed_point_and_valid)
{
  for (size_t i = 0; i < CORPUS_COUNT; i++) {
    vyre_module *module = parse_corpus(corpus[i]);
    vyre_verify_errors errors = {0};
    vyre_bytes printed = check_fixed_point(module);
    assert_true(vyre_module_is_sealed(module));
    if (strcmp(corpus[i], "literals") != 0)
      assert_ok(vyre_verify(module, &errors));
    vyre_verify_errors_free(&errors);
    vyre_bytes_free(&printed);
    vyre_module_destroy(module);
  }
}

/* Finds new ops without a text in the corpus.  Each op is parsed, printed, and parsed again. */
TEST(every_op_is_in_the_corpus)
{
  bool seen[VYRE_OP__COUNT] = {false};
  for (size_t i = 0; i < CORPUS_COUNT; i++) {
    vyre_module *module = parse_corpus(corpus[i]);
    vyre_bytes printed = print(module, NULL);
    vyre_module *again = parse(printed.data);
    const vyre_view *v = vyre_module_view(again);
    for (uint32_t row = 1; row < v->rows; row++)
      seen[VYRE_ROW_OP(v->op[row])] = true;
    vyre_module_destroy(again);
    vyre_module_destroy(module);
    vyre_bytes_free(&printed);
  }
  for (uint32_t op = 1; op < VYRE_OP__COUNT; op++)
    if (vyre_op_infos[op].text && !seen[op])
      fail_msg("no text of the corpus has the op %s", vyre_op_infos[op].text);
}

/* Builds each op with a fixed number of values on operands of any type.  The text keeps the operands. */
TEST(plain_ops_are_read_as_printed)
{
  for (uint32_t op = VYRE_OP_add; op < VYRE_OP__COUNT; op++) {
    const vyre_op_info *info = &vyre_op_infos[op];
    if (!info->text || (info->rule != VYRE_RULE_SAME && info->rule != VYRE_RULE_BOOL))
      continue;
    vyre_module *module = new_module();
    vyre_builder b;
    vyre_build_program(module, "p", 0, vyre_module_add_input(module, "p"), &b);
    vyre_row value = vyre_build_invocation(&b, VYRE_OP_lindex);
    vyre_row name[3];
    for (uint32_t i = 0; i < 3; i++) {
      name[i] = vyre_build_convert(&b, VYRE_OP_splat, VYRE_TYPE(VYRE_U32, 3), value);
      vyre_row_set_name(module, name[i], i == 0 ? "x" : i == 1 ? "y" : "z", 1);
    }
    vyre_type type = info->rule == VYRE_RULE_SAME ? VYRE_TYPE(VYRE_U32, 3) : VYRE_TYPE(VYRE_BOOL, 3);
    uint32_t flags = VYRE_ROW_EXACT | VYRE_ROW_RELAXED;
    vyre_row row = vyre_build(&b, (vyre_opcode)op, type, flags, 0, 0, name[0], info->operands > 1 ? name[1] : VYRE_NONE,
                              info->operands > 2 ? name[2] : VYRE_NONE);
    vyre_row_set_name(module, row, "r", 1);
    assert_null(vyre_module_seal(module, NULL));
    vyre_bytes text = print(module, NULL);
    char wanted[128];
    snprintf(wanted, sizeof(wanted), "  %%r = %s exact relaxed %%x%s%s\n", info->text, info->operands > 1 ? ", %y" : "",
             info->operands > 2 ? ", %z" : "");
    assert_non_null(strstr(text.data, wanted));
    vyre_module *again = parse(text.data);
    const vyre_view *v = vyre_module_view(again), *w = vyre_module_view(module);
    assert_int_equal(v->rows, w->rows);
    for (uint32_t i = 1; i < v->rows; i++) {
      assert_int_equal(v->op[i], w->op[i]);
      assert_int_equal(v->a[i], w->a[i]);
      assert_int_equal(v->b[i], w->b[i]);
      assert_int_equal(v->c[i], w->c[i]);
    }
    vyre_bytes_free(&text);
    vyre_module_destroy(again);
    vyre_module_destroy(module);
  }
}

static const struct {
  const char *text, *printed;
} forms[] = {
    /* nested operations become rows */
    {"store %x[add(%i, 1u32)], mul(load %x[%i], 2.0f32)",
     "  %0 = add %i, 1u32\n  %1 = load %x[%i]\n  %2 = mul %1, 2.0f32\n  store %x[%0], %2\n"},
    {"if ult %i, 3u32 { }", "  %0 = ult %i, 3u32\n  if %0 {\n  }\n"},
    {"%a = select(eq(%i, 0u32), %i, neg %i)", "  %0 = eq %i, 0u32\n  %1 = neg %i\n  %a = select %0, %i, %1\n"},
    /* literals: right operands in the row, others as rows of their own that are printed at their uses */
    {"%a = sub 3u32, %i", "  %a = sub 3u32, %i\n"},
    {"%c = const 3u32\n%a = sub %c, %i\n%b = sub %i, %c", "  %c = const 3u32\n  %a = sub %c, %i\n  %b = sub %i, 3u32\n"},
    {"%c = 3u32", "  %c = const 3u32\n"},
    {"%5 = const 3u32\n%a = sub %5, %i", "  %a = sub 3u32, %i\n"},
    /* lanes */
    {"%a = lane gid, 1u32\n%b = lane gid, 5u32\n%c = lane gid, %i\n%d = lid.z",
     "  %a = gid.y\n  %b = lane gid, 5u32\n  %c = lane gid, %i\n  %d = lid.z\n"},
    {"%g = gid\n%a = %g.x\n%b = gid.y", "  %g = gid\n  %a = %g.x\n  %b = gid.y\n"},
    {"%v = splat %i : u32x3\n%a = %v.z\n%b = lane 7u32x2, 1u32",
     "  %v = splat %i : u32x3\n  %a = %v.z\n  %b = lane 7u32x2, 1u32\n"},
    {"%v = splat %i : u32x3\n%s = shuffle %v, [2, 0, 1]", "  %v = splat %i : u32x3\n  %s = shuffle %v, [2, 0, 1] : u32x3\n"},
    {"%\"a\\x1Eb\" = neg %i", "  %\"a\\x1eb\" = neg %i\n"},
    /* names and numbers */
    {"%\"0\" = neg %i\n%a = neg(neg %\"0\")", "  %\"0\" = neg %i\n  %0 = neg %\"0\"\n  %a = neg %0\n"},
    {"%9 = neg %i\n%a = neg %9\n%3 = neg %9", "  %0 = neg %i\n  %a = neg %0\n  %1 = neg %0\n"},
    {"%4000000000 = neg %i\n%a = neg %4000000000", "  %0 = neg %i\n  %a = neg %0\n"},
    {"%b = %i\n%a = neg %b", "  %a = neg %i\n"},
    {"neg %i", "  %0 = neg %i\n"},
    /* a tuple of many parts is one statement */
    {"%t = tuple %i, %i, %i, %i, %i, %i, %i", "  %t = tuple %i, %i, %i, %i, %i, %i, %i\n"},
    {"%r = tuple %i, %i\n%t = tuple %i, %i, %r\n%u = part %t, 3\n%w = part %r, 0",
     "  %r = tuple %i, %i\n  %t = tuple %i, %i, %r\n  %u = part %t, 3\n  %w = part %r, 0\n"},
    /* optional words */
    {"barrier", "  barrier workgroup\n"},
    {"barrier workgroup", "  barrier workgroup\n"},
    {"barrier device", "  barrier device\n"},
    {"barrier device device acq_rel workgroup_memory uniform_memory", "  barrier device\n"},
    {"barrier device device acq_rel workgroup_memory", "  barrier device device acq_rel workgroup_memory\n"},
    {"async_copy %x[0], %x[%i]", "  async_copy %x[0], %x[%i]\n"},
    {"async_wait", "  async_wait\n"},
    {"if true { async_wait }", "  if true {\n    async_wait\n  }\n"},
    {"async_wait\n%a = %i\nasync_wait 4294967295", "  async_wait\n  async_wait 4294967295\n"},
    {"async_wait(2)\nasync_wait(0)\nasync_wait()", "  async_wait 2\n  async_wait\n  async_wait\n"},
    {"for %k = -3i8 to 3i8 { }", "  for %k = -3i8 to 3i8 step 1i8 {\n  }\n"},
    {"barrier workgroup workgroup", "  barrier workgroup workgroup\n"},
    {"barrier workgroup workgroup acq_rel workgroup_memory", "  barrier workgroup\n"},
    {"barrier order(0x80010203)", "  barrier subgroup workgroup volatile_memory nontemporal\n"},
    {"barrier order(0x80000209)", "  barrier order(2147484169)\n"},
    {"%a = load %x[0] order(0x20000)", "  %a = load %x[0] acquire\n"},
    {"for %k = 0u32 to %i { }", "  for %k = 0u32 to %i step 1u32 {\n  }\n"},
    {"if true { } else { }", "  if true {\n  }\n"},
    {"loop { break } continuing { }", "  loop {\n    break\n  }\n"},
    {"if true { trap } else if false { trap } else { return }",
     "  if true {\n    trap\n  } else {\n    if false {\n      trap\n    } else {\n      return\n    }\n  }\n"},
    {"if dont_flatten flatten eq %i, 0u32 { }", "  %0 = eq %i, 0u32\n  if flatten dont_flatten %0 {\n  }\n"},
    {"for partial_count(4) unroll peel_count(0xffffffff) %k = 0u32 to %i { }",
     "  for unroll peel_count(4294967295) partial_count(4) %k = 0u32 to %i step 1u32 {\n  }\n"},
    {"loop iteration_multiple(5) max_iterations(4) min_iterations(3) dependency_length(2) dependency_infinite dont_unroll { break "
     "}",
     "  loop dont_unroll dependency_infinite dependency_length(2) min_iterations(3) max_iterations(4) iteration_multiple(5) {\n"
     "    break\n  }\n"},
    {"if true { } else if flatten false { trap }", "  if true {\n  } else {\n    if flatten false {\n      trap\n    }\n  }\n"},
    {"%s = switch flatten %i { default { leave %s } }", "  %s = switch flatten %i {\n    default {\n      leave %s\n    }\n  }\n"},
    {"switch dont_flatten %i { }", "  switch dont_flatten %i {\n  }\n"},
    {"block %b { }\nblock { }", "  block %b {\n  }\n  block {\n  }\n"},
    {"switch %i { case 1u32, default { fallthrough } case 2u32 { } }",
     "  switch %i {\n    case 1u32, default {\n      fallthrough\n    }\n    case 2u32 {\n    }\n  }\n"},
    {"barrier device acq_rel workgroup_memory", "  barrier device device acq_rel workgroup_memory\n"},
    {"barrier device workgroup acq_rel workgroup_memory uniform_memory",
     "  barrier device workgroup acq_rel uniform_memory workgroup_memory\n"},
    {"%a = load %x[0] order(131589)", "  %a = load %x[0] order(131589)\n"}, /* has the execution scope of a barrier */
    {"%a = subgroup_add %i inclusive\n%b = subgroup_add %i exclusive\n%c = subgroup_add %i clustered(4)\n%d = subgroup_add %i",
     "  %a = subgroup_add %i inclusive\n  %b = subgroup_add %i exclusive\n  %c = subgroup_add %i clustered(4)\n"
     "  %d = subgroup_add %i\n"},
    /* rows with more flags or types than their short form has */
    {"%5 = gid relaxed\n%a = %5.x", "  %0 = gid relaxed\n  %a = %0.x\n"},
    {"%a = lane relaxed gid, 1u32", "  %a = lane relaxed gid, 1u32\n"},
    {"%a = lane gid, 1i32", "  %a = gid.y\n"},
    {"%5 = tuple %i, %i\n%6 = tuple %i, %i, %5\n%u = part %6, 3\n%w = part %5, 0",
     "  %0 = tuple %i, %i\n  %1 = tuple %i, %i, %0\n  %u = part %1, 3\n  %w = part %0, 0\n"},
    {"%w = convert %i : u64\n%a = add %w, 4294967298u64", "  %w = convert %i : u64\n  %a = add %w, 4294967298u64\n"},
    /* names that need quotes, also names that end with an escape, and names that begin like another */
    {"%\"a\\x1e\" = neg %i", "  %\"a\\x1e\" = neg %i\n"},
    {"%\"a\\x7f\" = neg %i", "  %\"a\\x7f\" = neg %i\n"},
    {"%\"9x\" = neg %i", "  %\"9x\" = neg %i\n"},
    {"%\"a b c\" = neg %i\n%\"a b\" = not %i\n%ab = neg %\"a b\"\n%a = not %ab",
     "  %\"a b c\" = neg %i\n  %\"a b\" = not %i\n  %ab = neg %\"a b\"\n  %a = not %ab\n"},
    {"for %k = 0u64 to 4u64 { }", "  for %k = 0u64 to 4u64 step 1u64 {\n  }\n"},
    {"%s = switch %i { default { leave %s } }", "  %s = switch %i {\n    default {\n      leave %s\n    }\n  }\n"},
};

TEST(statements_print_in_their_canonical_form)
{
  static const char head[] = "program @p workgroup(1, 1, 1) {\n  buffer %x : f32[] storage rw set(0) binding(0)\n  %i = lindex\n";
  for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
    vyre_bytes text = {0}, wanted = {0};
    assert_ok(vyre_bytes_printf(&text, "%s%s\n}\n", head, forms[i].text));
    assert_ok(vyre_bytes_printf(&wanted, "%s%s}\n", head, forms[i].printed));
    vyre_module *module = parse(text.data);
    check_prints(module, wanted.data);
    vyre_bytes_free(&wanted);
    vyre_bytes_free(&text);
    vyre_module_destroy(module);
  }
}

/* Whole texts, and their printed form if it differs. */
static const struct {
  const char *text, *printed;
} wholes[] = {
    {"struct @Node block { value : f32x4, next : spirv TypePointer(5349, type u32), more : spirv TypePointer(5349, type u32)[2] }\n"
     "\n"
     "program @images relaxed workgroup(8, 8, 1) {\n"
     "  buffer %in : spirv TypeImage(type f32, 1, 0, 0, 0, 2, 4) handle ro set(0) binding(0)\n"
     "  buffer %maps : spirv TypeSampledImage(type spirv TypeImage(type f32, 1, 0, 0, 0, 1, 0))[] handle set(1) binding(0)\n"
     "  %place = splat 1i32 : i32x2\n"
     "  %image = load %in\n"
     "  %texel = opaque_read relaxed ImageRead(%image, %place) : f32x4\n"
     "  opaque_write ImageWrite(%image, %place, %texel)\n"
     "}\n"
     "\n"
     "program @pointers relaxed workgroup(64, 1, 1) {\n"
     "  buffer %push : @Node push\n"
     "  var %at : spirv TypePointer(5349, type u32)\n"
     "  %first = load %push.next\n"
     "  set %at, %first\n"
     "  %node = get %at\n"
     "  %old = opaque_read Load(%node, 2, 4) : u32\n"
     "  opaque_write volatile Store(%node, %old, 3, 4)\n"
     "  %both = opaque ExtInst(set \"SomeVendor.set\", 12, make layout @Node { 0.0f32x4, %node, %node, %node }, const 7u32, 9) : "
     "layout @Node\n"
     "  %value = part %both, 0\n"
     "  %bare = opaque ExtInst(set \"SomeVendor.set\", 13, make @Node { %value, %node, %node, %node }, named \"k\") : block @Node\n"
     "  opaque 65000()\n"
     "}\n",
     NULL},
    {"struct @Old buffer_block { v : f32x4[] }\n"
     "struct @Gaps { \"\" : u32, \"\" : u32, a : u32 }\n"
     "struct @a { x : u32 }\n"
     "struct @a.b { x : f32 }\n\n"
     "program @p flush_f32 entry \"main\" workgroup(4, 2, 1) {\n"
     "  buffer %old : @Old storage ro set(1) binding(2) id(1)\n"
     "  buffer %gaps : @Gaps[1] storage rw set(0) binding(0)\n"
     "  buffer %first : @a storage rw set(0) binding(1)\n"
     "  buffer %second : @a.b storage rw set(0) binding(2)\n"
     "  buffer %wide : u64[2] constant = [4294967298u64, 1u64]\n"
     "  buffer %matrix : mat2(f64x2) constant = [1.0f64, 0.1f64, -2.5f64, 4.0f64]\n"
     "  %0 = load %old.v[0]\n"
     "  %1 = load %gaps[0].a\n"
     "  store %gaps[0][1], %1\n"
     "  %2 = load %second.x\n"
     "  store %first.x, %1\n"
     "}\n\n"
     "program @q workgroup(1, 1, 1) {\n"
     "  buffer %0 : u32[1] workgroup\n"
     "  store %0[0], 3u32\n"
     "}\n",
     NULL},
    {"program @p {\n"
     "  spec %n : u32 = 4u32 id(0)\n"
     "  workgroup %n, 1u32, 1u32\n"
     "  struct @Inner { more : u32[2][%n] }\n"
     "  struct @Outer { inner : @Inner[3], last : u32 }\n"
     "  buffer %a : @Outer workgroup\n"
     "  buffer %b : @Inner[2] workgroup\n"
     "  store %a.inner[2].more[1][0], 1u32\n"
     "}\n",
     NULL},
    {"program @p {\n"
     "  %n = const 8u32\n"
     "  workgroup %n, 1u32, 1u32\n"
     "}\n",
     NULL},
    {"program @p workgroup(1, 1, 1) {\n"
     "  var %0 : u32\n"
     "  buffer %1 : u32 workgroup\n"
     "  set %0, 1u32\n"
     "}\n",
     NULL},
    /* A return before the last statement leaves a block.  A return as the last statement is the value itself. */
    {"func @early(%c : bool, %v : u32) -> u32 { if %c { return 1u32 }\n return %v }\n"
     "func @late(%v : u32) -> u32 { return neg(%v) }\n"
     "program @p { buffer %x : u32[] storage rw set(0) binding(0)\n %i = lindex\n"
     " store %x[0], @early(eq(%i, 0u32), %i)\n store %x[1], @late(%i) }",
     "program @p workgroup(1, 1, 1) {\n  buffer %x : u32[] storage rw set(0) binding(0)\n  var %0 : u32\n  %i = lindex\n"
     "  %1 = eq %i, 0u32\n  block %2 {\n    if %1 {\n      set %0, 1u32\n      leave %2\n    }\n    set %0, %i\n    leave %2\n  }\n"
     "  %3 = get %0\n  store %x[0], %3\n  %4 = neg %i\n  store %x[1], %4\n}\n"},
    /* Rows that compute constants for later declarations keep their places, and so do the declarations. */
    {"program @p workgroup(1, 1, 1) {\n  spec %n : u32 = 4u32 id(0)\n  buffer %a : u32[%n] workgroup\n  %m = add %n, 1u32\n"
     "  %j = join 1i32, 0i32\n  buffer %b : u32[%m] workgroup\n  buffer %c : u32 workgroup\n  var %v : u32\n  %k = mul %m, %n\n"
     "  buffer %d : u32[%k] workgroup\n  store %c, %k\n}\n",
     NULL},
    /* A late declaration moves to the top, also if earlier declarations follow the rows that were computed for them. */
    {"program @p { %i = lindex\n buffer %a : u32 workgroup\n store %a, %i }",
     "program @p workgroup(1, 1, 1) {\n  buffer %a : u32 workgroup\n  %i = lindex\n  store %a, %i\n}\n"},
    {"program @p { spec %n : u32 = 4u32 id(0)\n %m = add %n, 1u32\n buffer %a : u32[%m] workgroup\n %i = lindex\n"
     " buffer %b : u32 workgroup\n store %b, %i }",
     "program @p workgroup(1, 1, 1) {\n  spec %n : u32 = 4u32 id(0)\n  %m = add %n, 1u32\n  buffer %b : u32 workgroup\n"
     "  buffer %a : u32[%m] workgroup\n  %i = lindex\n  store %b, %i\n}\n"},
    /* `set` is a statement and a word of buffers.  A workgroup buffer has no set, and may be the declaration before the
     * statement. */
    {"program @p workgroup(1, 1, 1) {\n  var %v : u32\n  buffer %a : u32 workgroup\n  set %v, 1u32\n}\n", NULL},
};

TEST(whole_texts_print_in_their_canonical_form)
{
  for (size_t i = 0; i < sizeof(wholes) / sizeof(*wholes); i++) {
    vyre_module *module = parse(wholes[i].text);
    check_prints(module, wholes[i].printed ? wholes[i].printed : wholes[i].text);
    vyre_module_destroy(module);
  }
}

/* A value that several rows use in place is one row, and prints the same. */
TEST(rows_of_one_program_share_gid)
{
  static const char text[] = "program @p {\n  %a = gid.x\n  %b = gid.y\n  %c = lid.x\n}\n";
  vyre_module *module = parse(text);
  const vyre_view *v = vyre_module_view(module);
  uint32_t gids = 0;
  for (uint32_t row = 1; row < v->rows; row++)
    gids += VYRE_ROW_OP(v->op[row]) == VYRE_OP_gid;
  assert_int_equal(gids, 1);
  vyre_module_destroy(module);
}

TEST(texts_add_to_a_module)
{
  vyre_module *module = new_module();
  for (uint32_t i = 0; i < 3; i++)
    assert_null(vyre_text_parse(module, "program @p { }\n", 15, i == 1 ? "b.vir" : NULL, (vyre_diagnostics){0}));
  assert_int_equal(vyre_module_input_count(module), 3);
  check_prints(module, "program @p workgroup(1, 1, 1) {\n}\n\nprogram @p_1 workgroup(1, 1, 1) {\n}\n\n"
                       "program @p_2 workgroup(1, 1, 1) {\n}\n");
  vyre_module_destroy(module);
}

/* A printed layout has only the parts that the text had. */
TEST(layouts_print_as_written)
{
  static const char text[] = "struct @S block { r : mat3(f32x3, stride 32, row_major), m : mat3(f32x3), v : f32x3, s : f32 }\n\n"
                             "program @p workgroup(1, 1, 1) {\n  buffer %s : @S storage rw set(0) binding(0)\n}\n";
  vyre_module *module = parse(text);
  const vyre_type_id type = vyre_module_view(module)->imm[find_op(module, VYRE_OP_buffer)];
  check_prints(module, text);
  assert_int_equal(vyre_type_get(module, vyre_type_step(module, type, 1)).stride, 16);
  assert_int_equal(vyre_type_get(module, type).members[3].offset, 156);
  vyre_module_destroy(module);
}

/* Omitted layouts are std430.  The expected offsets and strides were computed by hand. */
TEST(omitted_layouts_are_std430)
{
  static const char text[] = "struct @S { a : f32, v : f32x3, b : f32, p : f32x3[2], r : mat2(f32x4, row_major), c : mat2(f32x4), "
                             "h : f32, t : mat4(f32x2, row_major), w : mat3(f32x2), at : f32 @400, next : f32, tail : f32x3[] }\n\n"
                             "program @p workgroup(1, 1, 1) {\n  buffer %s : @S storage rw set(0) binding(0)\n}\n";
  static const uint32_t offsets[] = {0, 16, 28, 32, 64, 96, 128, 144, 176, 400, 404, 416};
  static const uint32_t strides[] = {4, 4, 4, 16, 8, 16, 4, 16, 8, 4, 4, 16};
  vyre_module *module = parse(text);
  const vyre_type_info info = vyre_type_get(module, vyre_module_view(module)->imm[find_op(module, VYRE_OP_buffer)]);
  check_prints(module, text);
  assert_int_equal(info.count, 12);
  for (uint32_t i = 0; i < 12; i++) {
    assert_int_equal(info.members[i].offset, offsets[i]);
    assert_int_equal(vyre_type_get(module, info.members[i].type).stride, strides[i]);
  }
  vyre_module_destroy(module);
}
