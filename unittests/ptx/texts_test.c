/* Compares programs of `.vir` text as PTX in the simulator to the interpreter.  Each combination of an op with its kinds, groups
 * and float modes is a program.  Also checks the instructions in the PTX.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "eval_shape.h"
#include "run_ptx.h"

#include "eval/scalar.h"

#include "vyre/text.h"

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

/* By binding: bindings 0 and 2 have elements of the tested kind, binding 1 has u32. */
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
  for (uint32_t at = 0; at < sizeof m->bytes[1]; at += 4) { /* flags: 32 that are set, then 32 of which about a quarter are set */
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

/* Returns whether two results are equal.  A NaN of a relaxed program may have any bits.  Its atomic additions of f32 may flush
 * denormal operands and sums to zero. */
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

/* Compares a program, and asserts that its PTX contains `has` and does not contain `has_not`, either of which may be NULL. */
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
    fail_msg("no %s in the PTX of\n%s\n%s", has, text, out.data);
  if (has_not && strstr(out.data, has_not))
    fail_msg("there is %s in the PTX of\n%s\n%s", has_not, text, out.data);
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

static const struct combination {
  const char *text;
  bool integers, floats, in_steps; /* kinds of the operand, and whether lanes combine in steps, not in a loop over the lanes */
} combinations[] = {{"add", true, false, true},  {"add", false, true, false}, {"mul", true, false, true},
                    {"mul", false, true, false}, {"umin", true, false, true}, {"umax", true, false, true},
                    {"smin", true, false, true}, {"smax", true, false, true}, {"fmin", false, true, true},
                    {"fmax", false, true, true}, {"and", true, false, true},  {"or", true, false, true},
                    {"xor", true, false, true}};

static void
check_combination(const struct combination *c, const struct named *kind, const char *mode, const char *group, uint32_t sm)
{
  char text[1024]; /* for sm_90, the second subgroup has 8 lanes */
  const bool is_short = vyre_kind_bits(kind->kind) == 32 && c->integers && sm >= 80 && !*group && strcmp(c->text, "mul") != 0;
  snprintf(text, sizeof text,
           "program @p %sworkgroup(%u, 1, 1) {\n"
           "  buffer %%a : %s[] storage set(0) binding(0)\n  buffer %%f : u32[] storage set(0) binding(1)\n"
           "  buffer %%out : %s[] storage set(0) binding(2)\n"
           "  %%i = gid.x\n  %%v = load %%a[%%i]\n  %%w = load %%a[add(%%i, %uu32)]\n  %%x = join %%v, %%w\n  %%g = load %%f[%%i]\n"
           "  if ne %%g, 0u32 {\n    %%r = subgroup_%s(%%x) %s\n"
           "    store %%out[%%i], lane(%%r, 0u32)\n    store %%out[add(%%i, %uu32)], lane(%%r, 1u32)\n  }\n}\n",
           mode, sm == 90 ? 40 : 64, kind->text, kind->text, COUNT, c->text, group, COUNT);
  /* A loop over the lanes finds the next lane by neg.s32. */
  check(text, kind->kind, sm, is_short ? "redux.sync" : "shfl.sync.idx", c->in_steps ? "neg.s32" : NULL);
}

TEST(lanes_combine_as_in_the_interpreter)
{
  static const char *const groups[] = {"", "inclusive", "exclusive", "clustered(1)", "clustered(2)", "clustered(8)"};
  uint32_t count = 0;
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

/* A relaxed program uses the device's atomic addition unless it has a float mode. */
TEST(float_atomics_keep_float_modes)
{
  static const char *const native[] = {"add.noftz.f16", "add.f32", "add.f64"};
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

TEST(integer_atomics_combine_as_in_the_interpreter)
{
  static const char *const ops[] = {"add", "sub", "and", "or", "xor", "exchange", "umin", "umax", "smin", "smax"};
  for (uint32_t k = 4; k < 8; k++)
    for (uint32_t i = 0; i < 10; i++)
      if (i < 6 || vyre_kind_is_signed(kinds[k].kind) == (i >= 8))
        check_atomic(ops[i], &kinds[k], "", false, NULL, NULL);
}

/* ---- vectors ---------------------------------------------------------------------------------------------------------------- */

/* Compares copies of vectors in an array at offset `head` with a stride, through private or workgroup memory.  Checks the width
 * of the accesses. */
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

TEST(aligned_vectors_are_one_access)
{
  static const uint32_t heads[] = {4, 8, 16, 24}, strides[] = {8, 12, 16, 20, 24, 32};
  for (uint32_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    for (uint32_t lanes = 2; lanes <= 4; lanes++)
      for (uint32_t i = 0; i < sizeof heads / sizeof *heads * (sizeof strides / sizeof *strides); i++)
        check_vector(&kinds[k], lanes, heads[i % 4], strides[i / 4], i % 2 ? "private" : "workgroup", i % 3 != 0);
}

/* ---- bits ------------------------------------------------------------------------------------------------------------------- */

/* Casts each number of lanes of each kind to each kind and number of lanes with as many bits. */
TEST(bitcasts_between_lane_widths_keep_all_bits)
{
  for (uint32_t from = 0; from < sizeof kinds / sizeof *kinds; from++)
    for (uint32_t to = 0; to < sizeof kinds / sizeof *kinds; to++)
      for (uint32_t lanes = 1; lanes <= 4; lanes++) {
        char text[1024], source[16], result[16];
        const uint32_t bits = lanes * vyre_kind_bits(kinds[from].kind), count = bits / vyre_kind_bits(kinds[to].kind);
        if (count == 0 || count > 4 || count * vyre_kind_bits(kinds[to].kind) != bits)
          continue;
        snprintf(source, sizeof source, lanes > 1 ? "%sx%u" : "%s", kinds[from].text, lanes);
        snprintf(result, sizeof result, count > 1 ? "%sx%u" : "%s", kinds[to].text, count);
        snprintf(text, sizeof text,
                 "program @p workgroup(64, 1, 1) {\n"
                 "  buffer %%a : %s[] storage set(0) binding(0)\n  buffer %%out : %s[] storage set(0) binding(2)\n"
                 "  %%i = gid.x\n  store %%out[%%i], bitcast(load(%%a[%%i]) : %s)\n}\n",
                 source, result, result);
        check(text, kinds[to].kind, 75, NULL, NULL);
      }
}

/* ---- matrices --------------------------------------------------------------------------------------------------------------- */

/* Compares accesses to columns and elements.  Matrices of the same type are also copied whole. */
static void
check_matrix(const struct named *kind, uint32_t columns, uint32_t rows, const char *from, const char *to)
{
  char text[2048];
  const char *copied = from == to ? "  copy %out[%i].m, %a[add(%i, 1u32)].m\n" : "";
  snprintf(text, sizeof text,
           "struct @A { m : mat%u(%sx%u%s) }\nstruct @B { m : mat%u(%sx%u%s) }\n"
           "program @p workgroup(64, 1, 1) {\n"
           "  buffer %%a : @A[] storage set(0) binding(0)\n  buffer %%out : @B[] storage set(0) binding(2)\n"
           "  %%i = gid.x\n  %%r = umod %%i, %uu32\n%s"
           "  store %%out[%%i].m[0], load(%%a[%%i].m[%u])\n  store %%out[%%i].m[%u], load(%%a[%%i].m[0])\n"
           "  store %%out[%%i].m[0][%%r], load(%%a[%%i].m[1][%u])\n}\n",
           columns, kind->text, rows, from, columns, kind->text, rows, to, rows, copied, columns - 1, columns - 1, rows - 1);
  check(text, kind->kind, 75, NULL, NULL);
}

TEST(matrices_are_read_and_written_in_both_layouts)
{
  static const char *const layouts[] = {"", ", row_major"};
  for (uint32_t k = 8; k < 11; k++)
    for (uint32_t columns = 2; columns <= 4; columns++)
      for (uint32_t rows = 2; rows <= 4; rows++)
        for (uint32_t i = 0; i < 4; i++)
          check_matrix(&kinds[k], columns, rows, layouts[i % 2], layouts[i / 2]);
}

/* ---- descriptors ------------------------------------------------------------------------------------------------------------ */

/* Some elements are bound, some are not, and some are beyond the end.  Descriptors are parameters for sm_75, and a table for
 * sm_90. */
TEST(elements_of_open_arrays_of_buffers_are_found)
{
  static const char text[] = "struct @B block { n : u32, all : u32[] }\n"
                             "program @p workgroup(64, 1, 1) {\n"
                             "  buffer %a : @B[] storage set(0) binding(0)\n  buffer %out : u32[] storage set(0) binding(2)\n"
                             "  %i = gid.x\n  %k = umod %i, 5u32\n"
                             "  store %out[%i], load(%a[%k].all[%i])\n"
                             "  store %out[add(%i, 128u32)], length %a[%k].all\n"
                             "  store %out[add(%i, 256u32)], load(%a[sub(%k, 2u32)].n)\n"
                             "  store %out[add(%i, 384u32)], load(%a[3u32].n)\n"
                             "  store %out[add(%i, 512u32)], load(%a[0u32].all[%i])\n}\n";
  check(text, VYRE_U32, 75, ".b8 buffers[64]", "a table");
  check(text, VYRE_U32, 90, ".b8 buffers[32]", NULL);
}

/* ---- orders ----------------------------------------------------------------------------------------------------------------- */

/* Checks the orders of accesses to global and shared memory, with words at the buffers, a member or the rows. */
static void
check_access(const char *buffer, const char *member, const char *row, const char *global, const char *shared)
{
  char text[2048], has[64], plain[64];
  snprintf(text, sizeof text,
           "struct @A { head : u32, all : u32[64]%s }\n"
           "program @p relaxed workgroup(64, 1, 1) {\n"
           "  buffer %%a : @A storage rw%s set(0) binding(0)\n  buffer %%out : @A storage rw%s set(0) binding(2)\n"
           "  buffer %%own : @A workgroup%s\n  %%l = lindex\n  %%k = and sub(%%l, 1u32), 63u32\n"
           "  %%v = load%s %%a.all[%%l]\n  store%s %%own.all[%%l], %%v\n  barrier workgroup\n"
           "  %%w = load%s %%own.all[%%k]\n  if ult(%%l, 32u32) {\n"
           "    store%s %%out.all[%%l], %%w\n    copy%s %%out.all[add(%%l, 32u32)], %%a.all[%%l]\n  }\n}\n",
           member, buffer, buffer, buffer, row, row, row, row, row);
  for (uint32_t k = 0; k < 3; k++) {
    const char *op = k == 1 ? "st" : "ld", *order = k == 2 ? shared : global, *space = k == 2 ? "shared" : "global";
    snprintf(has, sizeof has, "%s%s.%s.b32", op, order, space);
    snprintf(plain, sizeof plain, "%s.%s.b32", op, space);
    check(text, VYRE_U32, 75, has, *order ? plain : NULL);
  }
}

TEST(accesses_have_the_order_of_their_row_buffer_or_member)
{
  check_access("", "", "", "", "");
  for (uint32_t k = 0; k < 3; k++) {
    const char *word[3] = {"", "", ""};
    word[k] = " coherent";
    check_access(word[0], word[1], word[2], ".relaxed.gpu", ".relaxed.cta");
    word[k] = " volatile";
    check_access(word[0], word[1], word[2], ".volatile", ".volatile");
    word[k] = " coherent volatile";
    check_access(word[0], word[1], word[2], ".volatile", ".volatile");
  }
}

/* Atomics of storage buffers by order.  The instruction's order is `loads` if it only reads, `stores` if it only writes, and
 * `both` otherwise; NULL if the combination is invalid. */
static const struct ordered {
  const char *words, *loads, *stores, *both, *fence;
} ordered[] = {{"", "relaxed", "relaxed", "relaxed", NULL},
               {" acquire", "acquire", NULL, "acquire", NULL},
               {" release", NULL, "release", "release", NULL},
               {" acq_rel", NULL, NULL, "acq_rel", NULL},
               {" seq_cst", "acquire", "release", "acq_rel", "fence.sc"}};
static const struct scoped {
  const char *words, *scope;
} scoped[] = {{"cross_device", "sys"}, {"device", "gpu"},   {"queue_family", "gpu"},
              {"workgroup", "cta"},    {"subgroup", "cta"}, {"invocation", "cta"}};

static void
check_ordered(const char *row, const char *op, const char *order, const struct ordered *o, const struct scoped *s)
{
  char text[1024], has[64];
  if (!order)
    return;
  snprintf(text, sizeof text,
           "program @p workgroup(64, 1, 1) {\n"
           "  buffer %%a : u32[] storage rw set(0) binding(0)\n  buffer %%out : u32[] storage rw set(0) binding(2)\n"
           "  %%i = gid.x\n  %%v = load %%a[%%i]\n  %s %s%s%s\n}\n",
           row, s->words, o->words, *o->words ? " uniform_memory" : "");
  snprintf(has, sizeof has, "%s.%s.%s.global", op, order, s->scope);
  const bool is_fenced = o->fence && strcmp(s->words, "invocation") != 0;
  check(text, VYRE_U32, 75, has, is_fenced ? NULL : "fence");
  if (!is_fenced)
    return;
  snprintf(has, sizeof has, "%s.%s", o->fence, s->scope);
  check(text, VYRE_U32, 75, has, NULL);
}

TEST(atomics_have_the_order_and_scope_of_their_row)
{
  for (uint32_t i = 0; i < sizeof ordered / sizeof *ordered; i++)
    for (uint32_t k = 0; k < sizeof scoped / sizeof *scoped; k++) {
      const struct ordered *o = &ordered[i];
      if (i == 0 && k == 0) /* the row of an atomic without words */
        continue;
      check_ordered("%w = atomic_load %out[%i]", "ld", o->loads, o, &scoped[k]);
      check_ordered("atomic_store %out[%i], %v", "st", o->stores, o, &scoped[k]);
      check_ordered("%w = atomic_add %out[%i], %v", "atom", o->both, o, &scoped[k]);
      check_ordered("%w = atomic_exchange %out[%i], %v", "atom", o->both, o, &scoped[k]);
    }
  check_ordered("%w = atomic_add %out[%i], %v", "atom", "relaxed", &ordered[0], &(struct scoped){"", "gpu"});
}

/* Barriers by execution and memory scope.  Fences are on both sides of the barrier if the memory scope is wider than the
 * execution scope, or the order is seq_cst. */
TEST(barriers_order_the_memory_of_their_scope)
{
  static const struct {
    const char *words, *has, *has_not;
  } cases[] = {
      {"workgroup", "bar.sync 0;\n", "fence"},
      {"subgroup", "bar.warp.sync", "fence"},
      {"workgroup workgroup acq_rel workgroup_memory", "bar.sync 0;\n", "fence"},
      {"workgroup subgroup acq_rel workgroup_memory", "bar.sync 0;\n", "fence"},
      {"workgroup device acq_rel uniform_memory", "\tfence.acq_rel.gpu;\n\tbar.sync 0;\n\tfence.acq_rel.gpu;\n", NULL},
      {"workgroup queue_family acquire uniform_memory", "\tfence.acq_rel.gpu;\n\tbar.sync 0;\n\tfence.acq_rel.gpu;\n", NULL},
      {"workgroup cross_device release uniform_memory", "\tfence.acq_rel.sys;\n\tbar.sync 0;\n\tfence.acq_rel.sys;\n", NULL},
      {"workgroup workgroup seq_cst workgroup_memory", "\tfence.sc.cta;\n\tbar.sync 0;\n\tfence.sc.cta;\n", NULL},
      {"workgroup device", "bar.sync 0;\n", "fence"},
      {"invocation device acquire uniform_memory", "\tfence.acq_rel.gpu;\n", "bar."},
      {"invocation workgroup seq_cst uniform_memory", "\tfence.sc.cta;\n", "bar."},
      {"invocation invocation acq_rel uniform_memory", NULL, "fence"}};
  for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[512];
    snprintf(text, sizeof text,
             "program @p workgroup(64, 1, 1) {\n  buffer %%out : u32[] storage rw set(0) binding(2)\n"
             "  store %%out[gid.x], 1u32\n  barrier %s\n}\n",
             cases[i].words);
    check(text, VYRE_U32, 75, cases[i].has, cases[i].has_not);
  }
}
