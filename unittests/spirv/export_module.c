/* The module as a whole: versions, kept words that are not SPIR-V, options, and errors.  lit-tests/Export/module.test shows the
 * other contents around programs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test_allocator.h"
#include "export_support.h"

#include "vyre/text.h"

#include <spirv/unified1/spirv.h>

static void
parse(export_case *c, const char *text)
{
  *c = (export_case){0};
  export_must(vyre_module_create(NULL, 1u << 16, &c->module));
  export_must(vyre_text_parse(c->module, text, strlen(text), "test.vir", (vyre_diagnostics){0}));
}

static bool
has_capability(const export_case *c, uint32_t capability)
{
  const uint32_t *words = (const uint32_t *)(const void *)c->code.data;
  for (size_t at = 5; (words[at] & 0xffff) == SpvOpCapability; at += 2)
    if (words[at + 1] == capability)
      return true;
  return false;
}

static void
expect_error(export_case *c, const char *part)
{
  vyre_bytes code = {0};
  export_must(vyre_module_status(c->module));
  export_must(vyre_module_seal(c->module, NULL));
  vyre_status status = vyre_spirv_write(c->module, 0, NULL, &code);
  assert_non_null(status);
  assert_int_equal(vyre_status_code(status), VYRE_CODE_INPUT);
  if (!strstr(vyre_status_text(status), part))
    fail_msg("'%s' is not in: %s", part, vyre_status_text(status));
  assert_int_equal(code.size, 0);
  vyre_status_free(status);
  vyre_bytes_free(&code);
  export_close(c);
}

/* The module has the interfaces, storage classes and extensions for narrow memory that its version of SPIR-V requires. */
TEST(every_version_is_valid)
{
  for (uint32_t version = 0x10300; version <= 0x10500; version += 0x100) {
    export_case c;
    parse(&c, "struct @Narrow { a : u8, b : u16, c : f32 }\nstruct @Wide { d : f64, f : f32 }\nstruct @Push { h : f16, i : u32 }\n"
              "struct @Old buffer_block { data : u32[4] }\n"
              "program @main workgroup(4, 1, 1) {\n  buffer %n : @Narrow storage rw set(1) binding(0)\n"
              "  buffer %d : @Wide storage ro set(1) binding(1)\n  buffer %p : @Push push\n"
              "  buffer %u : @Narrow uniform set(1) binding(2)\n  buffer %tile : u32[4] workgroup\n"
              "  buffer %old : @Old storage rw set(1) binding(3)\n  buffer %own : u32[4] private\n"
              "  %g = gid.x\n  %w = add %g, 3u32\n"
              "  %x = load %u.a\n  store %n.a, %x\n  %c = load %u.b\n  store %n.b, %c\n  %f = load %d.f\n"
              "  %dd = load %d.d\n  %h = load %p.h\n  store %tile[lindex], %g\n  barrier workgroup\n  store %own[lindex], %w\n"
              "  store %old.data[lindex], bitcast(%f : u32)\n  store %n.c, add(convert(%h : f32), convert(%dd : f32))\n}\n");
    vyre_module_input(c.module, 0)->spirv_version = version;
    vyre_module_input(c.module, 0)->memory = SpvMemoryModelGLSL450;
    export_write(&c);
    const uint32_t written = ((const uint32_t *)(const void *)c.code.data)[1];
    assert_int_equal(written, version);
    static const uint32_t narrow[5] = {SpvCapabilityStorageBuffer8BitAccess, SpvCapabilityUniformAndStorageBuffer8BitAccess,
                                       SpvCapabilityStorageBuffer16BitAccess, SpvCapabilityUniformAndStorageBuffer16BitAccess,
                                       SpvCapabilityStoragePushConstant16};
    for (uint32_t i = 0; i < 5; i++)
      assert_true(has_capability(&c, narrow[i]));
    assert_false(has_capability(&c, SpvCapabilityStoragePushConstant8));
    export_close(&c);
  }
}

/* Two entry points that shared a variable still share it.  Each has its own interface, and rows of one variable are one
 * variable. */
TEST(programs_share_variables)
{
  for (uint32_t version = 0x10300; version <= 0x10500; version += 0x200) {
    export_case c;
    parse(&c, "program @main relaxed workgroup(4, 1, 1) {\n  buffer %out : u32[] storage rw set(0) binding(1) id(77)\n"
              "  store %out[gid.x], 1u32\n}\n"
              "program @other relaxed workgroup(4, 1, 1) {\n  buffer %out : u32[] storage rw set(0) binding(1) id(77)\n"
              "  buffer %again : u32[] storage rw set(0) binding(1) id(77)\n  buffer %t : u32[8] workgroup\n"
              "  store %t[lindex], 1u32\n  store %out[lindex], 2u32\n  store %again[lindex], 3u32\n}\n");
    vyre_module_input(c.module, 0)->spirv_version = version;
    vyre_module_input(c.module, 0)->memory = SpvMemoryModelGLSL450;
    export_write(&c);
    const uint32_t *words = (const uint32_t *)(const void *)c.code.data;
    uint32_t lengths[2] = {0}, entries = 0;
    for (size_t at = 5; at < c.code.size / 4; at += words[at] >> 16)
      if ((words[at] & 0xffff) == SpvOpEntryPoint && entries < 2)
        lengths[entries++] = words[at] >> 16;
    assert_int_equal(entries, 2);
    assert_int_equal(export_count(&c, SpvOpVariable), 4);
    /* header, model, id, name of two words, then gid, out; or lindex, out, t */
    assert_int_equal(lengths[0], version >= 0x10400 ? 5 + 2 : 5 + 1);
    assert_int_equal(lengths[1], version >= 0x10400 ? 5 + 3 : 5 + 1);
    export_close(&c);
  }
}

/* The module of an input contains nothing of other inputs. */
TEST(other_inputs_are_not_written)
{
  export_case c;
  export_open(&c, 0);
  const vyre_row byte = vyre_build_convert(&c.b, VYRE_OP_convert, VYRE_TYPE(VYRE_U8, 1), c.gid); /* 8-bit arithmetic */
  export_output(&c, vyre_build_convert(&c.b, VYRE_OP_convert, U32, byte));
  vyre_builder b;
  vyre_build_program(c.module, "second", 0, vyre_module_add_input(c.module, "second.vir"), &b);
  const vyre_type stored[2] = {VYRE_TYPE(VYRE_F64, 1), VYRE_TYPE(VYRE_U8, 1)};
  for (uint32_t i = 0; i < 2; i++)
    vyre_build_store(&b, vyre_build_buffer(&b, stored[i], VYRE_SPACE_STORAGE, 0, 0, i), vyre_build_const(&b, stored[i], 0), 0);
  export_write(&c);
  assert_int_equal(export_count(&c, SpvOpEntryPoint), 1);
  assert_false(has_capability(&c, SpvCapabilityFloat64) || has_capability(&c, SpvCapabilityStorageBuffer8BitAccess));
  export_close(&c);
}

/* The words that an input keeps for other stages may come from a .vir file, and need not be valid SPIR-V. */
TEST(invalid_kept_words_are_refused)
{
  static const struct {
    uint32_t words[4], count;
    const char *message;
  } cases[] = {
      {{2u << 16 | SpvOpTypeVoid, 1, 2u << 16 | 0x7fffu, 1},
       4,
       "instruction 32767 of the entry points of other stages is not valid SPIR-V"},
      {{2u << 16 | SpvOpTypeVoid, 0x400000u}, 2, "has the invalid id 4194304"},
      {{2u << 16 | SpvOpTypeVoid, 0}, 2, "has the invalid id 0"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    export_case c;
    export_open(&c, VYRE_PROGRAM_RELAXED);
    vyre_word_list_append(c.module, &vyre_module_input(c.module, 0)->kept, cases[i].words, cases[i].count);
    expect_error(&c, cases[i].message);
  }
}

/* Accesses to buffers that the options declare in bounds have no guards, and need no length.  Other accesses keep them. */
TEST(accesses_in_bounds_have_no_guards)
{
  for (uint32_t declared = 0; declared < 3; declared++) {
    export_case c;
    parse(&c, "program @main {\n"
              "  buffer %in : u32[] storage ro set(0) binding(0) buffer %out : u32[] storage rw set(0) binding(1)\n"
              "  store %out[gid.x], load(%in[add(gid.x, 5u32)]) atomic_add %out[gid.y], 1u32\n"
              "}\n");
    const vyre_view *v = vyre_module_view(c.module);
    uint8_t in_bounds[64] = {0};
    uint32_t count = 0;
    assert_true(v->rows <= sizeof in_bounds);
    for (uint32_t row = v->first[v->first[0]]; row; row = v->next[row])
      if (VYRE_ROW_OP(v->op[row]) == VYRE_OP_buffer)
        in_bounds[row] = count++ < declared;
    const vyre_spirv_options options = {.struct_size = sizeof options, .in_bounds = in_bounds};
    export_must(vyre_spirv_write(c.module, 0, &options, &c.code));
    export_validate(&c.code);
    assert_int_equal(export_count(&c, SpvOpArrayLength), 2 - declared);
    assert_int_equal(export_count(&c, SpvOpSelectionMerge), declared == 0 ? 3 : declared == 1 ? 2 : 0);
    export_close(&c);
  }
}

TEST(modules_that_spirv_cannot_express_are_refused)
{
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"program @main { %s = sin convert(gid.x : f64) }\n", "no 'sin' of 64 bits"},
      {"program @main { buffer %x : bool[] storage set(0) binding(2) }\n", "a bool in memory that the host shares has no layout"},
      {"program @main { buffer %x : u32[] workgroup }\n", "runtime array"},
      {"program @a { spec %n : u32 = 4u32 id(0) workgroup %n, 1u32, 1u32 }\nprogram @b { }\n", "different workgroup sizes"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    export_case c;
    parse(&c, cases[i].text);
    expect_error(&c, cases[i].message);
  }
  export_case empty = {0};
  export_must(vyre_module_create(NULL, 1u << 10, &empty.module));
  vyre_module_add_input(empty.module, "empty.vir"); /* an input without a program */
  expect_error(&empty, "empty.vir");
}

/* ---- every allocation fails once ---- */

TEST(each_allocation_may_fail)
{
  static const char head[] = "struct @S { p : f32x3, m : mat2(f32x2), n : u32[3] }\n";
  static const char text[] = /* many programs, because small ones fit into one allocation */
      "buffer %x : @S[] storage rw set(0) binding(0) buffer %t : u32[16] workgroup buffer %q : u32[4] private var %v : u32\n"
      "%i = gid.x\n"
      "block %b {\n"
      "  for %k = 0u32 to %i step 1u32 {\n"
      "    %g = get %v %h = add %g, %k set %v, %h %c = ugt %h, 9u32 if %c { leave %b }\n"
      "    switch %h { case 1u32, 2u32, 3u32, 4u32 { store %q[%k], %h fallthrough } default { store %x[%k].n[%h], %h } }\n"
      "  }\n"
      "}\n"
      "%w = get %v store %t[%w], %w }\n";
  test_memory heap;
  vyre_allocator allocator = test_allocator(&heap, 0);
  vyre_module *module;
  export_must(vyre_module_create(&allocator, 1u << 16, &module));
  vyre_bytes source = {0};
  export_must(vyre_bytes_append(&source, head, sizeof(head) - 1));
  for (int program = 0; program < 60; program++)
    export_must(vyre_bytes_printf(&source, "program @a%d workgroup(4, 1, 1) {\n%s", program, text));
  export_must(vyre_text_parse(module, source.data, source.size, "a.vir", (vyre_diagnostics){0}));
  vyre_bytes_free(&source);
  const size_t live = heap.out;
  heap.sticky = true;
  for (uint64_t n = 1;; n++) {
    vyre_bytes code = {.allocator = &allocator};
    heap.calls = 0;
    heap.fail_at = n;
    vyre_status status = vyre_spirv_write(module, 0, NULL, &code);
    heap.fail_at = 0;
    if (!status) {
      export_validate(&code);
      vyre_bytes_free(&code);
      assert_true(n > 6);
      break;
    }
    assert_non_null(strstr(vyre_status_text(status), "out of memory"));
    assert_int_equal(code.size, 0);
    vyre_status_free(status);
    vyre_bytes_free(&code);
    assert_int_equal(heap.out, live);
  }
  assert_int_equal(heap.out, live);
  vyre_module_destroy(module);
}
