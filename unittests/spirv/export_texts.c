/* Small programs for what is easily got wrong: each is validated, read back, run wherever that can be, and compared.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "export_support.h"

#include <spirv/unified1/spirv.h>

#define BUFFERS                                          \
  "  buffer %in : u32[] storage ro set(0) binding(0)\n"  \
  "  buffer %out : u32[] storage rw set(0) binding(1)\n" \
  "  var %a : u32\n  var %b : u32\n"
#define PLACE            "  %g = gid.x\n  %o = mul %g, 256u32\n  %w = load %in[%o]\n"
#define STRICT           "program @main workgroup(4, 1, 1) {\n" BUFFERS PLACE
#define RELAXED          "program @main relaxed workgroup(4, 1, 1) {\n" BUFFERS PLACE
#define OUT(slot, value) "  store %out[add(%o, " #slot "u32)], " value "\n"

static void
run_text(const char *text)
{
  export_case c;
  export_parse(&c, text);
  export_run(&c, NULL);
  export_close(&c);
}

/* Bounds beyond the greatest signed number, and below zero. */
TEST(loops_count_as_their_type_does)
{
  run_text(STRICT "  for %k = 2147483646u32 to 2147483650u32 {\n    %x = get %a\n    set %a, add(mul(%x, 3u32), %k)\n  }\n"
                  "  for %i = -2i32 to 3i32 {\n    %y = get %b\n    set %b, add(mul(%y, 3u32), bitcast(%i : u32))\n  }\n"
                  "  %ra = get %a\n  %rb = get %b\n" OUT(0, "%ra") OUT(1, "%rb") "}\n");
}

TEST(jumps_in_the_other_arm)
{
  run_text(RELAXED "  for %k = 0u32 to 9u32 {\n    if ult %k, %g {\n    } else {\n      break\n    }\n"
                   "    %x = get %a\n    set %a, add(%x, 1u32)\n  }\n"
                   "  for %l = 0u32 to 9u32 {\n    if ult %l, %g {\n    } else {\n      continue\n    }\n"
                   "    %y = get %b\n    set %b, add(%y, %l)\n  }\n"
                   "  %ra = get %a\n  %rb = get %b\n" OUT(0, "%ra") OUT(1, "%rb") "}\n");
}

/* An index that is out of its array may not reach into the next one, wherever it is in the path. */
TEST(each_index_has_its_bound)
{
  run_text("program @main workgroup(4, 1, 1) {\n" BUFFERS
           "  buffer %t : u32[4][4] constant = [100u32, 101u32, 102u32, 103u32, 104u32, 105u32, 106u32, 107u32, 108u32, 109u32, "
           "110u32, 111u32, 112u32, 113u32, 114u32, 115u32]\n"
           "  buffer %p : u32[3][4] private\n" PLACE "  %s = ushr %g, 2u32\n"
           "  %x = load %t[%g][%s]\n  %y = load %t[%s][%g]\n  %z = load %t[%g][%g]\n"
           "  for %k = 0u32 to 3u32 {\n    for %l = 0u32 to 4u32 {\n      store %p[%k][%l], add(shl(%k, 4u32), %l)\n    }\n  }\n"
           "  store %p[%g][%s], 77u32\n  store %p[%s][%g], 78u32\n"
           "  %v = load %p[1][1]\n  %u = load %p[2][0]\n" OUT(0, "%x") OUT(1, "%y") OUT(2, "%z") OUT(3, "%v") OUT(4, "%u") "}\n");
}

TEST(tables_of_wide_numbers)
{
  run_text("program @main workgroup(4, 1, 1) {\n" BUFFERS
           "  buffer %t : u64[4] constant = [4294967298u64, 18446744073709551615u64, 1152921504606846976u64, 7u64]\n"
           "  buffer %v : f64x2[2] constant = [1.0f64, 0.1f64, -2.5f64, 1e300f64]\n" PLACE "  %x = load %t[and(%g, 3u32)]\n"
           "  %xx = bitcast %x : u32x2\n  %y = load %v[and(%g, 1u32)]\n  %yy = bitcast %y.y : u32x2\n" OUT(0, "%xx.x")
               OUT(1, "%xx.y") OUT(2, "%yy.x") OUT(3, "%yy.y") "}\n");
}

/* Types that differ in their layout alone. */
TEST(layouts_are_told_apart)
{
  run_text("struct @A { x : u32, y : u32 @8 }\nstruct @B { x : u32, y : u32 @16 }\nprogram @main workgroup(4, 1, 1) {\n"
           "  buffer %near : @A storage ro set(0) binding(0)\n  buffer %far : @B storage ro set(0) binding(0)\n"
           "  buffer %four : u32[4, stride 4] storage ro set(0) binding(0)\n"
           "  buffer %eight : u32[4, stride 8] storage ro set(0) binding(0)\n"
           "  buffer %m : mat2(f32x2, stride 8) storage ro set(0) binding(0)\n"
           "  buffer %n : mat2(f32x2, stride 16) storage ro set(0) binding(0)\n" BUFFERS PLACE
           "  %p = load %near.y\n  %q = load %far.y\n  %r = load %four[%g]\n  %s = load %eight[%g]\n  %t = load %m[1]\n"
           "  %u = load %n[1]\n" OUT(0, "%p") OUT(1, "%q") OUT(2, "%r") OUT(3, "%s") OUT(4, "bitcast(%t.y : u32)")
               OUT(5, "bitcast(%u.y : u32)") "}\n");
}

/* Relaxed programs are written without guards: what they define is computed by the right instruction. */
TEST(relaxed_ops_on_what_they_define)
{
  run_text(RELAXED "  %d = or and(%w, 7u32), 1u32\n  %i = bitcast %w : i32\n  %n = bitcast %d : i32\n  %sh = and %w, 31u32\n" OUT(
      0, "udiv(%w, %d)") OUT(1, "umod(%w, %d)") OUT(2, "bitcast(sdiv(%i, %n) : u32)") OUT(3, "shl(%w, %sh)") OUT(4, "ushr(%w, %sh)")
               OUT(5, "bitcast(sshr(%i, bitcast(%sh : i32)) : u32)") OUT(6, "ubfe(%w, and(%w, 7u32), 9u32)")
                   OUT(7, "bitcast(sbfe(%i, and(%w, 7u32), 9u32) : u32)") OUT(8, "uclamp(%w, 5u32, 50u32)")
                       OUT(9, "bitcast(sclamp(%i, -5i32, 50i32) : u32)") "}\n");
  /* Vulkan leaves open what is left of negative numbers. */
  export_case c;
  export_parse(&c, RELAXED "  %i = bitcast %w : i32\n" OUT(0, "bitcast(smod(%i, 7i32) : u32)") "}\n");
  export_write(&c);
  assert_int_equal(export_count(&c, SpvOpSMod), 1);
  export_close(&c);
  export_parse(&c, RELAXED "  %i = bitcast %w : i32\n" OUT(0, "bitcast(srem(%i, 7i32) : u32)") "}\n");
  export_write(&c);
  assert_int_equal(export_count(&c, SpvOpSRem), 1);
  export_close(&c);
}

/* As far as there are lanes, and one further. */
TEST(shuffles_reach_the_first_lane)
{
  run_text(STRICT "  %v = add %g, 100u32\n" OUT(0, "subgroup_shuffle_up(%v, subgroup_lane)")
               OUT(1, "subgroup_shuffle_up(%v, add(subgroup_lane, 1u32))") "}\n");
}

/* Specialization constants are one each, however alike; one without an id is one too. */
TEST(specializations_are_told_apart)
{
  export_case c;
  export_parse(&c, "program @main workgroup(4, 1, 1) {\n  spec %m : u32 = 4u32 id(0)\n  spec %n : u32 = 4u32 id(1)\n"
                   "  spec %p : bool = true id(2)\n  spec %q : bool = true id(3)\n  spec %r : u32 = 4u32\n" BUFFERS PLACE OUT(
                       0, "add(mul(%m, 16u32), %n)") OUT(1, "select(%p, 1u32, 0u32)") OUT(2, "select(%q, 1u32, 0u32)")
                       OUT(3, "%r") "}\n");
  export_run(&c, NULL);
  assert_int_equal(export_count(&c, SpvOpSpecConstant), 3);
  assert_int_equal(export_count(&c, SpvOpSpecConstantTrue), 2);
  const uint32_t *words = (const uint32_t *)(const void *)c.code.data;
  uint32_t ids = 0;
  for (size_t at = 5; at < c.code.size / 4; at += words[at] >> 16)
    if ((words[at] & 0xffff) == SpvOpDecorate && words[at + 2] == SpvDecorationSpecId)
      ids |= 1u << words[at + 3];
  assert_int_equal(ids, 15);
  export_close(&c);
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

/* What each version of SPIR-V wants: interfaces, storage classes, extensions for narrow memory.  An older one has its own. */
TEST(every_version_is_valid)
{
  for (uint32_t version = 0x10300; version <= 0x10500; version += 0x100) {
    export_case c;
    export_parse(
        &c, "struct @Narrow { a : u8, b : u16, c : f32 }\nstruct @Wide { d : f64, f : f32 }\nstruct @Push { h : f16, i : u32 }\n"
            "struct @Old buffer_block { data : u32[4] }\n"
            "program @main workgroup(4, 1, 1) {\n  buffer %n : @Narrow storage rw set(1) binding(0)\n"
            "  buffer %d : @Wide storage ro set(1) binding(1)\n  buffer %p : @Push push\n"
            "  buffer %u : @Narrow uniform set(1) binding(2)\n  buffer %tile : u32[4] workgroup\n"
            "  buffer %old : @Old storage rw set(1) binding(3)\n  buffer %own : u32[4] private\n" BUFFERS PLACE
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

/* One input's module has nothing of another's. */
TEST(other_inputs_stay_out)
{
  export_case c;
  export_open(&c, 0);
  const vyre_row byte = vyre_build_convert(&c.b, VYRE_OP_convert, VYRE_TYPE(VYRE_U8, 1), c.gid); /* computes with bytes */
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

TEST_MAIN(export_device_open, export_device_close)
