/* Memory: layouts, spaces, bounds, atomics, copies, lengths; validated, run, and compared.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "export_support.h"

#include <spirv/unified1/spirv.h>

static vyre_row
at(export_case *c, vyre_row path, vyre_row index)
{
  return vyre_build_at(&c->b, path, index);
}

static vyre_row
member(export_case *c, vyre_row path, uint32_t index)
{
  return vyre_build_at_literal(&c->b, path, index);
}

static vyre_row
load(export_case *c, vyre_row path)
{
  return vyre_build_load(&c->b, path, 0);
}

static vyre_row
lid(export_case *c)
{
  return vyre_build(&c->b, VYRE_OP_lindex, U32, 0, 0, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
}

static void
barrier(export_case *c)
{
  vyre_build_barrier(&c->b, VYRE_ORDER(SpvScopeWorkgroup, SpvScopeWorkgroup, 0x108));
}

/* struct { p f32x3; n u32; cols mat3x2 column major; rows mat2x3 row major; few u32x2[3]; many struct { v f32; w u32x2 }[] } */
static vyre_type_id
particle_type(vyre_module *module, uint32_t flags)
{
  const vyre_type f32x2 = VYRE_TYPE(VYRE_F32, 2), f32x3 = VYRE_TYPE(VYRE_F32, 3), u32x2 = VYRE_TYPE(VYRE_U32, 2);
  const vyre_member inner[2] = {{vyre_string_intern(module, "v", 1), F32, VYRE_OFFSET_AUTO, 0},
                                {vyre_string_intern(module, "w", 1), u32x2, VYRE_OFFSET_AUTO, 0}};
  const vyre_type_id element = vyre_type_struct(module, vyre_string_intern(module, "Inner", 5), inner, 2, 0);
  const vyre_member members[6] = {
      {vyre_string_intern(module, "p", 1), f32x3, VYRE_OFFSET_AUTO, 0},
      {vyre_string_intern(module, "n", 1), U32, VYRE_OFFSET_AUTO, VYRE_ACCESS_COHERENT},
      {vyre_string_intern(module, "cols", 4), vyre_type_matrix(module, f32x2, 3, 16, false), 16, 0},
      {vyre_string_intern(module, "rows", 4), vyre_type_matrix(module, f32x3, 2, 8, true), 64, 0},
      {vyre_string_intern(module, "few", 3), vyre_type_array(module, u32x2, 3, VYRE_NONE, 8), VYRE_OFFSET_AUTO, 0},
      {vyre_string_intern(module, "many", 4), vyre_type_runtime_array(module, element, 0), VYRE_OFFSET_AUTO, 0},
  };
  return vyre_type_struct(module, vyre_string_intern(module, "Particle", 8), members, 6, flags);
}

TEST(structs_matrices_arrays)
{
  for (uint32_t mode = 0; mode < 2; mode++) {
    export_case c;
    export_open(&c, mode);
    const vyre_row p = vyre_build_buffer(&c.b, particle_type(c.module, mode ? VYRE_TYPE_BLOCK : 0), VYRE_SPACE_STORAGE,
                                         VYRE_ACCESS_NO_WRITE | VYRE_ACCESS_RESTRICT, 0, 0);
    const vyre_row small = vyre_build_imm(&c.b, VYRE_OP_and, c.gid, mode ? 1 : 7);
    export_output(&c, load(&c, member(&c, p, 0)));
    export_output(&c, load(&c, at(&c, member(&c, p, 0), small)));
    export_output(&c, load(&c, member(&c, p, 1)));
    for (uint32_t i = 0; i < 3; i++)
      export_output(&c, load(&c, member(&c, member(&c, p, 2), i)));
    for (uint32_t i = 0; i < 2; i++)
      export_output(&c, load(&c, member(&c, member(&c, p, 3), i)));
    export_output(&c, load(&c, at(&c, member(&c, member(&c, p, 3), 1), small)));
    export_output(&c, load(&c, at(&c, member(&c, p, 4), small)));
    const vyre_row many = member(&c, p, 5);
    export_output(&c, vyre_build_unary(&c.b, VYRE_OP_length, many));
    const vyre_row index = mode ? c.gid : vyre_build_imm(&c.b, VYRE_OP_mul, c.gid, 300);
    export_output(&c, load(&c, member(&c, at(&c, many, index), 0)));
    export_output(&c, load(&c, at(&c, member(&c, at(&c, many, index), 1), small)));
    export_run(&c, NULL);
    export_close(&c);
  }
}

/* Strict: what is out of bounds reads zero and writes nothing, in every space. */
TEST(bounds_are_kept)
{
  static const vyre_space spaces[2] = {VYRE_SPACE_PRIVATE, VYRE_SPACE_WORKGROUP};
  for (size_t s = 0; s < 2; s++) {
    export_case c;
    export_open(&c, 0);
    const vyre_type_id row_type = vyre_type_array(c.module, VYRE_TYPE(VYRE_I32, 2), 3, VYRE_NONE, 0);
    const vyre_row table = vyre_build_buffer(&c.b, vyre_type_array(c.module, row_type, 4, VYRE_NONE, 0), spaces[s], 0, 0, 0);
    const vyre_row edge = export_input(&c, U32), signed_edge = export_input(&c, I32);
    /* each invocation has a row of its own; the second index may be anywhere */
    const vyre_row own = at(&c, table, lid(&c));
    for (uint32_t i = 0; i < 3; i++)
      vyre_build_store(&c.b, member(&c, own, i), vyre_build_const(&c.b, VYRE_TYPE(VYRE_I32, 2), 100 + i), 0);
    vyre_build_store(&c.b, at(&c, at(&c, own, edge), signed_edge), vyre_build_const(&c.b, I32, 7), 0);
    vyre_build_store(&c.b, member(&c, own, 5), vyre_build_const(&c.b, VYRE_TYPE(VYRE_I32, 2), 8), 0);
    for (uint32_t i = 0; i < 4; i++)
      export_output(&c, load(&c, member(&c, own, i)));
    export_output(&c, load(&c, at(&c, own, edge)));
    export_output(&c, load(&c, at(&c, at(&c, own, signed_edge), edge)));
    /* buffers of the length that is bound */
    export_output(&c, load(&c, at(&c, c.in, edge)));
    export_output(&c, load(&c, at(&c, c.in, signed_edge)));
    export_output(&c, load(&c, member(&c, c.in, EXPORT_SLOTS * EXPORT_INVOCATIONS)));
    const vyre_row far = vyre_build_imm(&c.b, VYRE_OP_or, edge, 0x80000000u);
    vyre_build_store(&c.b, at(&c, c.out, far), export_u32(&c, 1), 0);
    const vyre_row old = vyre_build(&c.b, VYRE_OP_atomic_add, U32, 0, VYRE_ORDER(0, SpvScopeDevice, 0), 0, at(&c, c.out, far),
                                    export_u32(&c, 1), VYRE_NONE);
    export_output(&c, old);
    export_run(&c, NULL);
    export_close(&c);
  }
}

/* Memory is zero at the start, workgroup memory too in a strict program; scalars, bools and structs of them. */
TEST(memory_starts_zero)
{
  export_case c;
  export_open(&c, 0);
  const vyre_member members[2] = {{0, BOOL, VYRE_OFFSET_AUTO, 0}, {0, F32, VYRE_OFFSET_AUTO, 0}};
  const vyre_type_id pair = vyre_type_struct(c.module, 0, members, 2, 0);
  const vyre_row scalar = vyre_build_buffer(&c.b, U32, VYRE_SPACE_WORKGROUP, 0, 0, 0);
  const vyre_row one = vyre_build_buffer(&c.b, pair, VYRE_SPACE_WORKGROUP, 0, 0, 0);
  const vyre_row tile = vyre_build_buffer(&c.b, vyre_type_array(c.module, pair, 11, VYRE_NONE, 0), VYRE_SPACE_WORKGROUP, 0, 0, 0);
  const vyre_row own = vyre_build_buffer(&c.b, vyre_type_array(c.module, pair, 3, VYRE_NONE, 0), VYRE_SPACE_PRIVATE, 0, 0, 0);
  export_output(&c, load(&c, scalar));
  export_output(&c, load(&c, member(&c, one, 1)));
  for (uint32_t i = 0; i < 11; i += 5) {
    export_output(&c, load(&c, member(&c, member(&c, tile, i), 0)));
    export_output(&c, load(&c, member(&c, member(&c, tile, i), 1)));
  }
  export_output(&c, load(&c, member(&c, at(&c, own, lid(&c)), 0)));
  barrier(&c);
  vyre_build_store(&c.b, member(&c, at(&c, tile, lid(&c)), 0), vyre_build_imm(&c.b, VYRE_OP_eq, lid(&c), 1), 0);
  barrier(&c);
  const vyre_row other = vyre_build_imm(&c.b, VYRE_OP_xor, lid(&c), 3);
  export_output(&c, load(&c, member(&c, at(&c, tile, other), 0)));
  export_run(&c, NULL);
  export_close(&c);
}

/* Tables and private memory with first contents. */
TEST(initializers)
{
  for (uint32_t mode = 0; mode < 2; mode++) {
    export_case c;
    export_open(&c, mode);
    const vyre_member members[3] = {{0, U32, VYRE_OFFSET_AUTO, 0},
                                    {0, VYRE_TYPE(VYRE_F32, 2), VYRE_OFFSET_AUTO, 0},
                                    {0, vyre_type_matrix(c.module, VYRE_TYPE(VYRE_F32, 2), 2, 8, false), VYRE_OFFSET_AUTO, 0}};
    const vyre_type_id element = vyre_type_struct(c.module, 0, members, 3, 0);
    uint32_t words[4 * 7];
    for (uint32_t i = 0; i < 4 * 7; i++)
      words[i] = 0x3f800000u + (i << 16);
    const uint32_t contents = vyre_module_add_initializer(c.module, words, 4 * 7);
    const uint32_t zeros[2] = {0, 0};
    const uint32_t nothing = vyre_module_add_initializer(c.module, zeros, 2);
    const vyre_type_id array = vyre_type_array(c.module, element, 4, VYRE_NONE, 0);
    const vyre_row table = vyre_build_buffer(&c.b, array, VYRE_SPACE_CONSTANT, 0, 0, 0);
    const vyre_row own = vyre_build_buffer(&c.b, array, VYRE_SPACE_PRIVATE, 0, 0, 0);
    const vyre_row empty = vyre_build_buffer(&c.b, vyre_type_array(c.module, U32, 2, VYRE_NONE, 0), VYRE_SPACE_CONSTANT, 0, 0, 0);
    vyre_buffer_info_of(c.module, table)->initializer = contents;
    vyre_buffer_info_of(c.module, own)->initializer = contents;
    vyre_buffer_info_of(c.module, empty)->initializer = nothing;
    const vyre_row index = lid(&c);
    export_output(&c, load(&c, member(&c, at(&c, table, index), 0)));
    export_output(&c, load(&c, member(&c, at(&c, table, index), 1)));
    export_output(&c, load(&c, member(&c, member(&c, at(&c, table, index), 2), 1)));
    vyre_build_store(&c.b, member(&c, at(&c, own, index), 0), export_u32(&c, 5), 0);
    for (uint32_t i = 0; i < 4; i++)
      export_output(&c, load(&c, member(&c, member(&c, own, i), 0)));
    export_output(&c, load(&c, member(&c, empty, 1)));
    export_run(&c, NULL);
    export_close(&c);
  }
}

TEST(copies_of_aggregates)
{
  for (uint32_t mode = 0; mode < 2; mode++) {
    export_case c;
    export_open(&c, mode);
    const vyre_member members[3] = {{0, VYRE_TYPE(VYRE_F32, 3), VYRE_OFFSET_AUTO, 0},
                                    {0, vyre_type_array(c.module, U32, 2, VYRE_NONE, 4), VYRE_OFFSET_AUTO, 0},
                                    {0, U32, VYRE_OFFSET_AUTO, 0}};
    const vyre_type_id element = vyre_type_struct(c.module, 0, members, 3, 0);
    const vyre_type_id elements = vyre_type_runtime_array(c.module, element, 0);
    const vyre_row in = vyre_build_buffer(&c.b, elements, VYRE_SPACE_STORAGE, VYRE_ACCESS_NO_WRITE, 0, 0);
    const vyre_row out = vyre_build_buffer(&c.b, elements, VYRE_SPACE_STORAGE, 0, 0, 1);
    const vyre_row own = vyre_build_buffer(&c.b, vyre_type_array(c.module, element, 2, VYRE_NONE, 0), VYRE_SPACE_PRIVATE, 0, 0, 0);
    const vyre_row far = mode ? c.gid : vyre_build_imm(&c.b, VYRE_OP_mul, c.gid, 50);
    const vyre_row bit = vyre_build_imm(&c.b, VYRE_OP_and, c.gid, 1), target = vyre_build_imm(&c.b, VYRE_OP_mul, c.gid, 3);
    const vyre_row next = vyre_build_imm(&c.b, VYRE_OP_add, target, 1);
    vyre_build(&c.b, VYRE_OP_copy, VYRE_TYPE(VYRE_VOID, 1), 0, 0, 0, at(&c, own, bit), at(&c, in, far), VYRE_NONE);
    vyre_build(&c.b, VYRE_OP_copy, VYRE_TYPE(VYRE_VOID, 1), 0, 0, 0, member(&c, own, 1), at(&c, own, bit), VYRE_NONE);
    vyre_build(&c.b, VYRE_OP_copy, VYRE_TYPE(VYRE_VOID, 1), 0, 0, 0, at(&c, out, target), member(&c, own, 1), VYRE_NONE);
    vyre_build(&c.b, VYRE_OP_copy, VYRE_TYPE(VYRE_VOID, 1), 0, 0, 0, at(&c, out, next), at(&c, in, far), VYRE_NONE);
    export_run(&c, NULL);
    assert_true(!export_is_direct() || mode == 0 || export_count(&c, SpvOpCopyMemory) == 2);
    export_close(&c);
  }
}

static vyre_row
shared_array(export_case *c, vyre_type type)
{
  return vyre_build_buffer(&c->b, vyre_type_array(c->module, type, 4, VYRE_NONE, 0), VYRE_SPACE_WORKGROUP, 0, 0, 0);
}

static uint32_t
capability_count(const export_case *c, uint32_t capability)
{
  const uint32_t *words = (const uint32_t *)(const void *)c->code.data;
  uint32_t count = 0;
  for (size_t at = 5; (words[at] & 0xffff) == SpvOpCapability; at += 2)
    count += words[at + 1] == capability;
  return count;
}

TEST(atomics)
{
  static const vyre_opcode ops[] = {VYRE_OP_atomic_add,  VYRE_OP_atomic_sub,     VYRE_OP_atomic_umin, VYRE_OP_atomic_umax,
                                    VYRE_OP_atomic_smin, VYRE_OP_atomic_smax,    VYRE_OP_atomic_and,  VYRE_OP_atomic_or,
                                    VYRE_OP_atomic_xor,  VYRE_OP_atomic_exchange};
  for (uint32_t k = 0; k < 4; k++) {
    export_case c;
    export_open(&c, k & 1);
    const vyre_type unsigned_ = k & 2 ? VYRE_TYPE(VYRE_U64, 1) : U32, signed_ = k & 2 ? VYRE_TYPE(VYRE_I64, 1) : I32;
    const vyre_row words = shared_array(&c, unsigned_), ints = shared_array(&c, signed_);
    const vyre_row own = at(&c, words, lid(&c)), own_int = at(&c, ints, lid(&c));
    const uint32_t order = VYRE_ORDER(0, SpvScopeWorkgroup, 0);
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
      const bool is_signed = i % 2 == 0; /* what the op reads is its name's, not the type's */
      const vyre_type type = is_signed ? signed_ : unsigned_;
      const vyre_row path = is_signed ? own_int : own;
      vyre_build_store(&c.b, path, export_input(&c, type), 0);
      export_output(&c, vyre_build(&c.b, ops[i], type, 0, order, 0, path, export_input(&c, type), VYRE_NONE));
      export_output(&c, vyre_build(&c.b, VYRE_OP_atomic_load, type, 0, order, 0, path, VYRE_NONE, VYRE_NONE));
    }
    vyre_build(&c.b, VYRE_OP_atomic_store, VYRE_TYPE(VYRE_VOID, 1), 0, order, 0, own, vyre_build_const(&c.b, unsigned_, 5),
               VYRE_NONE);
    for (uint32_t i = 5; i < 7; i++)
      export_output(&c, vyre_build(&c.b, VYRE_OP_atomic_compare_exchange, unsigned_, 0, order, 0, own,
                                   vyre_build_const(&c.b, unsigned_, 9), vyre_build_const(&c.b, unsigned_, i)));
    export_output(&c, load(&c, own));
    export_run(&c, NULL);
    assert_int_equal(capability_count(&c, SpvCapabilityInt64Atomics), k >> 1);
    export_close(&c);
  }
}

/* Load, store, exchange, add, min and max of floats, in workgroup memory and in buffers; f32 also on the device. */
/* Whether the device at hand has the ops of float_atomics, of a kind, in workgroup memory: exchange, add, and min and max. */
static bool
device_has(vyre_kind kind, size_t ops)
{
  const uint32_t has = export_device()->shared_atomics >> 3 * (kind - VYRE_F16); /* each kind has three bits (target.h) */
  return (has & VYRE_DEVICE_ATOMIC_F16) && (ops < 2 || (has & VYRE_DEVICE_ATOMIC_F16_ADD)) &&
         (ops < 3 || (has & VYRE_DEVICE_ATOMIC_F16_MINMAX));
}

/* The first so many ops. */
static void
open_float_atomics(export_case *c, uint32_t mode, vyre_kind kind, size_t count)
{
  static const vyre_opcode ops[4] = {VYRE_OP_atomic_exchange, VYRE_OP_atomic_fadd, VYRE_OP_atomic_fmin, VYRE_OP_atomic_fmax};
  const vyre_type type = VYRE_TYPE(kind, 1);
  export_open(c, mode);
  const vyre_row own = at(c, shared_array(c, type), lid(c));
  const uint32_t order = VYRE_ORDER(0, SpvScopeWorkgroup, 0);
  c->to_come.zeros_agree = true; /* which of -0 and +0 is less, devices do not say */
  for (size_t i = 0; i < count; i++) {
    vyre_build_store(&c->b, own, export_input(c, type), 0);
    export_output(c, vyre_build(&c->b, ops[i], type, 0, order, 0, own, export_input(c, type), VYRE_NONE));
    export_output(c, vyre_build(&c->b, VYRE_OP_atomic_load, type, 0, order, 0, own, VYRE_NONE, VYRE_NONE));
  }
  vyre_build(&c->b, VYRE_OP_atomic_store, VYRE_TYPE(VYRE_VOID, 1), 0, order, 0, own, export_input(c, type), VYRE_NONE);
  export_output(c, load(c, own));
}

/* Of f32 also on the device, as many as it has. */
TEST(float_atomics)
{
  static const uint32_t capabilities[3][2] = {{SpvCapabilityAtomicFloat16AddEXT, SpvCapabilityAtomicFloat16MinMaxEXT},
                                              {SpvCapabilityAtomicFloat32AddEXT, SpvCapabilityAtomicFloat32MinMaxEXT},
                                              {SpvCapabilityAtomicFloat64AddEXT, SpvCapabilityAtomicFloat64MinMaxEXT}};
  for (uint32_t k = 0; k < 6; k++) {
    const vyre_kind kind = (vyre_kind)(VYRE_F16 + k / 2);
    export_case c;
    open_float_atomics(&c, k & 1, kind, 4);
    c.not_on_device = !device_has(kind, 4);
    if (kind == VYRE_F32)
      export_run(&c, NULL);
    else
      export_write(&c);
    for (uint32_t i = 0; i < 6; i++)
      assert_int_equal(capability_count(&c, capabilities[i / 2][i & 1]), i / 2 == k / 2);
    assert_true(!export_is_direct() || export_count(&c, SpvOpExtension) - 2 <= 3 - 2); /* and that of float controls */
    export_close(&c);
    size_t count = 4;
    while (count && !device_has(kind, count))
      count--;
    if (kind != VYRE_F32 || count == 4)
      continue;
    print_message("the device has %zu of 4 atomics of f32 in workgroup memory: the others are not run there\n", count);
    open_float_atomics(&c, k & 1, kind, count);
    c.not_on_device = count == 0;
    export_run(&c, NULL);
    export_close(&c);
  }
}

/* Orders and barriers as they are given; a release becomes nothing where an exchange fails. */
TEST(orders)
{
  export_case c;
  export_open(&c, VYRE_PROGRAM_RELAXED);
  const vyre_row path = at(&c, c.out, c.base);
  static const uint32_t semantics[4] = {0, 0x42, 0x44, 0x48};
  for (int i = 0; i < 4; i++)
    vyre_build(&c.b, VYRE_OP_atomic_compare_exchange, U32, 0, VYRE_ORDER(0, SpvScopeDevice, semantics[i]), 0, path,
               export_u32(&c, 9), export_u32(&c, 0));
  vyre_build(&c.b, VYRE_OP_atomic_add, U32, 0, 0, 0, path, export_u32(&c, 9), VYRE_NONE); /* no scope given */
  vyre_build_barrier(&c.b, VYRE_ORDER(SpvScopeInvocation, SpvScopeDevice, 0x48));
  vyre_build_barrier(&c.b, VYRE_ORDER(SpvScopeWorkgroup, SpvScopeWorkgroup, 0x108));
  export_write(&c);
  assert_true(!export_is_direct() || export_count(&c, SpvOpMemoryBarrier) == 1);
  assert_true(!export_is_direct() || export_count(&c, SpvOpControlBarrier) == 1);
  export_close(&c);
}

TEST_MAIN(export_device_open, export_device_close)
