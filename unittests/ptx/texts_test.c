/* Programs as `.vir` text, one for each combination of an op with kinds, groups and float modes that it may have: the simulator has
 * the interpreter's bytes.  And the PTX has the instructions that are meant to be in it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "eval_shape.h"
#include "run_ptx.h"

#include "eval/scalar.h"

#include "vyre/text.h"

#include <stdio.h>
#include <string.h>

#define COUNT 128u /* invocations: two workgroups */

#define FLUSH "flush_f16 flush_f32 flush_f64 "
#define CUT   "rtz_f16 rtz_f32 rtz_f64 "

static const struct named {
  const char *text;
  vyre_kind kind;
} kinds[] = {{"u8", VYRE_U8},   {"i8", VYRE_I8},   {"u16", VYRE_U16}, {"i16", VYRE_I16}, {"u32", VYRE_U32}, {"i32", VYRE_I32},
             {"u64", VYRE_U64}, {"i64", VYRE_I64}, {"f16", VYRE_F16}, {"f32", VYRE_F32}, {"f64", VYRE_F64}};
static const uint32_t architectures[] = {75, 80, 90, 100};
static const char *const modes[] = {"", FLUSH, CUT, FLUSH CUT};

/* By binding: 0 and 2 are of the kind, 1 of u32. */
typedef struct memory {
  _Alignas(16) uint8_t bytes[3][COUNT * 40];
} memory;

static uint32_t
size_of(vyre_kind kind)
{
  return vyre_kind_bits(kind) / 8;
}

static void
fill(memory *m, vyre_kind kind)
{
  const uint32_t size = size_of(kind);
  for (uint32_t at = 0; at < sizeof m->bytes[0]; at += size) {
    const uint64_t x = eval_random(), y = eval_random();
    memcpy(m->bytes[0] + at, &x, size);
    memcpy(m->bytes[2] + at, &y, size);
  }
  for (uint32_t at = 0; at < sizeof m->bytes[1]; at += 4) { /* many lanes, few, and all */
    const uint32_t few = at / 4 % 64 < 32 ? 0 : 3, flag = (eval_random() >> 8 & few) == 0;
    memcpy(m->bytes[1] + at, &flag, 4);
  }
}

static uint64_t
read(const memory *m, vyre_kind kind, uint32_t at)
{
  uint64_t bits = 0;
  memcpy(&bits, m->bytes[2] + at, size_of(kind));
  return bits;
}

/* A relaxed program's NaN has any bits, and where it adds f32 atomically denormals may be zeros: both operands and the sum. */
static bool
is_same(vyre_kind kind, bool relaxed, uint64_t a, uint64_t b)
{
  if (a == b || !relaxed || !vyre_kind_is_float(kind))
    return a == b;
  const double x = double_of_lane(kind, a), y = double_of_lane(kind, b);
  return (isnan(x) && isnan(y)) || (kind == VYRE_F32 && fabs(x - y) < 0x1p-124);
}

static void
run(const vyre_module *module, const ptx_program *ptx, memory *m, uint32_t seed, const char *text)
{
  vyre_binding bindings[3];
  vyre_row row;
  vyre_dispatch dispatch = {.program = {vyre_module_view(module)->first[0]}, .groups = {COUNT / 64, 1, 1}, .bindings = bindings};
  for (uint32_t k = 0; (row = vyre_ptx_buffer_row(module, dispatch.program, k)).id; k++)
    bindings[dispatch.binding_count++] =
        (vyre_binding){row, m->bytes[vyre_buffer_info_of((vyre_module *)(uintptr_t)module, row)->binding], sizeof m->bytes[0], 0};
  if (ptx)
    assert_int_equal(run_ptx(ptx, module, &dispatch, seed, false, text), 0);
  else
    assert_ok(vyre_interp_run(module, &dispatch, NULL, NULL), text);
}

/* has, has_not: what is in the PTX, and what is not; NULL: nothing is said. */
static void
check(const char *text, vyre_kind kind, uint32_t sm, const char *has, const char *has_not)
{
  static memory is, wanted;
  static uint32_t seed;
  vyre_module *module;
  vyre_bytes out = {0};
  assert_ok(vyre_module_create(NULL, 0, &module), "module");
  assert_ok(vyre_text_parse(module, text, strlen(text), "test.vir", (vyre_diagnostics){0}), text);
  const uint32_t program = vyre_module_view(module)->first[0];
  const bool relaxed = (vyre_module_view(module)->imm[program] & VYRE_PROGRAM_RELAXED) != 0;
  fill(&is, kind);
  wanted = is;
  run(module, NULL, &wanted, 0, text);
  write_ptx(module, program, sm, &out);
  assert_ok(vyre_bytes_append(&out, "", 1), "memory");
  if (has && !strstr(out.data, has))
    fail_msg("no %s in what is written of\n%s\n%s", has, text, out.data);
  if (has_not && strstr(out.data, has_not))
    fail_msg("a %s in what is written of\n%s\n%s", has_not, text, out.data);
  out.size--;
  ptx_program ptx = parse_ptx(&out, sm);
  run(module, &ptx, &is, seed++, text);
  for (uint32_t at = 0; at < sizeof is.bytes[2]; at += size_of(kind))
    if (!is_same(kind, relaxed, read(&is, kind, at), read(&wanted, kind, at)))
      fail_msg("at %u there is 0x%llx, not 0x%llx, of\n%s", at, (unsigned long long)read(&is, kind, at),
               (unsigned long long)read(&wanted, kind, at), text);
  free_ptx(&ptx);
  vyre_bytes_free(&out);
  vyre_module_destroy(module);
}

/* ---- subgroups -------------------------------------------------------------------------------------------------------------- */

/* Of which kinds: integers, floats, those with a sign. */
static const struct combination {
  const char *text;
  bool integers, floats, in_steps;
} combinations[] = {{"add", true, false, true},  {"add", false, true, false}, {"mul", true, false, true},
                    {"mul", false, true, false}, {"umin", true, false, true}, {"umax", true, false, true},
                    {"smin", true, false, true}, {"smax", true, false, true}, {"fmin", false, true, true},
                    {"fmax", false, true, true}, {"and", true, false, true},  {"or", true, false, true},
                    {"xor", true, false, true}};

static void
check_combination(const struct combination *c, const struct named *kind, const char *mode, const char *group, uint32_t sm)
{
  char text[1024]; /* of sm_90 the second subgroup has 8 lanes */
  const bool is_short = vyre_kind_bits(kind->kind) == 32 && c->integers && sm >= 80 && !*group && strcmp(c->text, "mul") != 0;
  snprintf(text, sizeof text,
           "program @p %sworkgroup(%u, 1, 1) {\n"
           "  buffer %%a : %s[] storage set(0) binding(0)\n  buffer %%f : u32[] storage set(0) binding(1)\n"
           "  buffer %%out : %s[] storage set(0) binding(2)\n"
           "  %%i = gid.x\n  %%v = load %%a[%%i]\n  %%w = load %%a[add(%%i, %uu32)]\n  %%x = join %%v, %%w\n  %%g = load %%f[%%i]\n"
           "  if ne %%g, 0u32 {\n    %%r = subgroup_%s(%%x) %s\n"
           "    store %%out[%%i], lane(%%r, 0u32)\n    store %%out[add(%%i, %uu32)], lane(%%r, 1u32)\n  }\n}\n",
           mode, sm == 90 ? 40 : 64, kind->text, kind->text, COUNT, c->text, group, COUNT);
  /* Which lane is next in a loop over them is found by that. */
  check(text, kind->kind, sm, is_short ? "redux.sync" : "shfl.sync.idx", c->in_steps ? "neg.s32" : NULL);
}

static void
lanes_are_combined_as_the_interpreter_does(void **state)
{
  static const char *const groups[] = {"", "inclusive", "exclusive", "clustered(1)", "clustered(2)", "clustered(8)"};
  uint32_t count = 0;
  (void)state;
  for (uint32_t i = 0; i < sizeof combinations / sizeof *combinations; i++)
    for (uint32_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
      const bool is_float = vyre_kind_is_float(kinds[k].kind);
      if (!(is_float ? combinations[i].floats : combinations[i].integers))
        continue;
      for (uint32_t group = 0; group < sizeof groups / sizeof *groups; group++)
        for (uint32_t mode = 0; mode < (is_float ? 4u : 1u); mode++)
          check_combination(&combinations[i], &kinds[k], modes[mode], groups[group], architectures[(count++ + group) % 4]);
    }
}

/* ---- atomics ---------------------------------------------------------------------------------------------------------------- */

static void
check_atomic(const char *op, const struct named *kind, const char *mode, bool relaxed, const char *has, const char *has_not)
{
  char text[1024];
  snprintf(text, sizeof text,
           "program @p %s%sworkgroup(64, 1, 1) {\n"
           "  buffer %%a : %s[] storage set(0) binding(0)\n  buffer %%out : %s[] storage set(0) binding(2)\n"
           "  %%i = gid.x\n  %%v = load %%a[%%i]\n  %%old = atomic_%s %%out[%%i], %%v\n"
           "  store %%out[add(%%i, %uu32)], %%old\n}\n",
           relaxed ? "relaxed " : "", mode, kind->text, kind->text, op, COUNT);
  check(text, kind->kind, 75, has, has_not);
}

/* A relaxed program takes the device's addition, if no float mode asks for another. */
static void
atomics_of_floats_keep_modes(void **state)
{
  static const char *const native[] = {"add.noftz.f16", "add.f32", "add.f64"};
  (void)state;
  for (uint32_t k = 0; k < 3; k++)
    for (uint32_t mode = 0; mode < 4; mode++)
      for (uint32_t relaxed = 0; relaxed < 2; relaxed++) {
        const struct named *kind = &kinds[8 + k];
        char atomic[64];
        snprintf(atomic, sizeof atomic, "global.%s", native[k]);
        const bool is_native = relaxed && mode == 0;
        check_atomic("fadd", kind, modes[mode], relaxed != 0, is_native ? atomic : "cas", is_native ? "cas" : atomic);
        check_atomic("fmin", kind, modes[mode], relaxed != 0, "cas", NULL);
        check_atomic("fmax", kind, modes[mode], relaxed != 0, "cas", NULL);
        check_atomic("exchange", kind, modes[mode], relaxed != 0, k == 0 ? "cas" : "exch", NULL);
      }
}

/* ---- vectors ---------------------------------------------------------------------------------------------------------------- */

/* Where a vector's bytes are: an element of an array, one after a number of bytes, in memory of the kernel's own. */
static void
check_vector(const struct named *kind, uint32_t lanes, uint32_t head, uint32_t stride, const char *own, bool is_guarded)
{
  char text[2048], vector[32], access[64];
  const uint32_t size = vyre_kind_bits(kind->kind) / 8, half = 2 * size, whole = 4 * size;
  const uint32_t common = (head | stride | 16) & (0 - (head | stride | 16)), least = (lanes + lanes % 2) * size;
  if (stride < least || head % size || stride % size)
    return;
  const uint32_t width = lanes == 4 && whole <= 16 && common % whole == 0 ? 4 : half <= 16 && common % half == 0 ? 2 : 1;
  snprintf(vector, sizeof vector, "%sx%u", kind->text, lanes);
  snprintf(text, sizeof text,
           "struct @E stride %u { v : %s @0 }\n"
           "struct @A { head : u8 @0, all : @E[%u] @%u }\n"
           "program @p %sworkgroup(64, 1, 1) {\n"
           "  buffer %%a : @A storage set(0) binding(0)\n  buffer %%out : @A storage set(0) binding(2)\n"
           "  buffer %%before : u8[65] %s\n  buffer %%own : %s[64] %s\n  %%i = gid.x\n  %%l = lindex\n  store %%before[%%l], 7u8\n"
           "  %%v = load %%a.all[%%i].v\n  store %%own[%%l], %%v\n  %%w = load %%own[%%l]\n"
           "  store %%out.all[%%i].v, %%w\n}\n",
           stride, vector, is_guarded ? COUNT - 1 : COUNT, head, is_guarded ? "" : "relaxed ", own, vector, own);
  snprintf(access, sizeof access, "ld.global%s.", width == 4 ? ".v4" : width == 2 ? ".v2" : "");
  check(text, kind->kind, 75, access, width == 1 ? "global.v" : NULL);
}

static void
vectors_are_one_access_where_they_are_aligned(void **state)
{
  static const uint32_t heads[] = {4, 8, 16, 24}, strides[] = {8, 12, 16, 20, 24, 32};
  (void)state;
  for (uint32_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    for (uint32_t lanes = 2; lanes <= 4; lanes++)
      for (uint32_t i = 0; i < sizeof heads / sizeof *heads * (sizeof strides / sizeof *strides); i++)
        check_vector(&kinds[k], lanes, heads[i % 4], strides[i / 4], i % 2 ? "private" : "workgroup", i % 3 != 0);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(lanes_are_combined_as_the_interpreter_does),
                                     cmocka_unit_test(atomics_of_floats_keep_modes),
                                     cmocka_unit_test(vectors_are_one_access_where_they_are_aligned)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
