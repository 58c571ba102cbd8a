/* Options of programs as C: buffers that the caller declares in bounds, atomics of one call and of threads, and parts of a grid.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_c.h"

#include "vyre/text.h"
#include "vyre/verify.h"

#include <dlfcn.h>
#include <pthread.h>

enum { WORDS = 64, GROUPS = 24, THREADS = 4, MANY = 2000000 };

static vyre_module *
parse(const char *text)
{
  vyre_module *module;
  vyre_verify_errors errors = {0};
  assert_ok(vyre_module_create(NULL, 1u << 16, &module), "module");
  assert_ok(vyre_text_parse(module, text, strlen(text), "test", (vyre_diagnostics){0}), "parse");
  assert_ok(vyre_verify(module, &errors), "verify");
  vyre_verify_errors_free(&errors);
  assert_ok(vyre_module_seal(module, NULL), "seal");
  return module;
}

static void
fill(uint32_t words[][WORDS], uint32_t count)
{
  for (uint32_t b = 0; b < count; b++)
    for (uint32_t i = 0; i < WORDS; i++)
      words[b][i] = i * 7 % 19 + b;
}

/* Asserts that a program with `count` buffers computes the same in the interpreter and as C.  Returns whether the C contains
 * `has`. */
static bool
compare(const char *text, const vyre_c_options *options, uint32_t count, bool parts, const char *has)
{
  static uint32_t number = 1000;
  uint32_t wanted[4][WORDS], got[4][WORDS];
  vyre_bytes c = {0};
  vyre_module *module = parse(text);
  const vyre_row program = {vyre_module_view(module)->first[0]};
  vyre_binding bindings[4];
  const vyre_dispatch dispatch = {.program = program, .groups = {GROUPS, 1, 1}, .bindings = bindings, .binding_count = count};
  fill(wanted, count);
  fill(got, count);
  for (uint32_t i = 0; i < count; i++)
    bindings[i] = (vyre_binding){vyre_c_buffer_row(module, program, i), wanted[i], sizeof wanted[i], 0};
  assert_ok(vyre_interp_run(module, &dispatch, NULL, NULL), "interpret");
  assert_ok(vyre_c_write(module, program, options, &c), "C");
  void *library = compile_c(&c, number++);
  for (uint32_t i = 0; i < count; i++)
    bindings[i].data = got[i];
  assert_int_equal(run_c(library, module, &dispatch, parts), 0);
  assert_memory_equal(got, wanted, count * sizeof wanted[0]);
  const bool found = strstr(c.data, has) != NULL;
  dlclose(library);
  vyre_bytes_free(&c);
  vyre_module_destroy(module);
  return found;
}

/* Some accesses to %y and %z are out of bounds.  The index of %t has the bound of the array's type. */
static const char checked[] = "program @p workgroup(4, 1, 1) {\n"
                              "  buffer %x : u32[] storage rw set(0) binding(0) buffer %y : u32[] storage rw set(0) binding(1)\n"
                              "  buffer %z : u32[8] storage rw set(0) binding(2)\n"
                              "  buffer %t : u32[4] constant = [7u32, 9u32, 11u32, 13u32] %i = and gid.x, 63u32 %v = load %x[%i]\n"
                              "  atomic_add %x[%i], load(%t[lid.x]) store %y[mul(%i, 2u32)], add(%v, load(%z[%i]))\n"
                              "}\n";

/* Returns a zero byte for each row of the module, owned by the caller. */
static uint8_t *
no_bounds(const vyre_module *module)
{
  uint8_t *in_bounds = calloc(vyre_module_view(module)->rows, 1);
  assert_non_null(in_bounds);
  return in_bounds;
}

TEST(accesses_to_in_bounds_buffers_are_not_checked)
{
  vyre_module *module = parse(checked);
  const vyre_view *v = vyre_module_view(module);
  uint8_t *in_bounds = no_bounds(module);
  const vyre_c_options vouched = {.struct_size = sizeof vouched, .in_bounds = in_bounds};
  in_bounds[vyre_c_buffer_row(module, (vyre_row){v->first[0]}, 0).id] = 1;
  for (uint32_t row = 1; row < v->rows; row++)
    if (VYRE_ROW_OP(v->op[row]) == VYRE_OP_buffer && VYRE_BUFFER_SPACE(v->imm_hi[row]) == VYRE_SPACE_CONSTANT)
      in_bounds[row] = 1;
  vyre_module_destroy(module);
  assert_true(compare(checked, NULL, 3, true, "x_n"));
  assert_true(compare(checked, NULL, 3, true, "lx < 4u ?"));
  assert_false(compare(checked, &vouched, 3, true, "x_n"));
  assert_false(compare(checked, &vouched, 3, true, "lx < 4u ?"));
  assert_true(compare(checked, &vouched, 3, false, "y_n"));
  assert_true(compare(checked, &vouched, 3, false, "z_n"));
  free(in_bounds);
}

static const char two_paths[] = "program @p {\n"
                                "  buffer %x : u32[] storage rw set(0) binding(0)\n"
                                "  store %x[and(gid.x, 3u32)], load(%x[add(gid.x, 4u32)])\n"
                                "}\n";

/* The store's path is in bounds by the option; the load's path of the same buffer is checked. */
TEST(accesses_by_in_bounds_paths_are_not_checked)
{
  vyre_module *module = parse(two_paths);
  const vyre_view *v = vyre_module_view(module);
  uint8_t *in_bounds = no_bounds(module);
  for (uint32_t row = 1; row < v->rows; row++)
    if (VYRE_ROW_OP(v->op[row]) == VYRE_OP_store)
      in_bounds[v->a[row]] = 1;
  vyre_module_destroy(module);
  assert_true(compare(two_paths, NULL, 1, true, "if ("));
  assert_false(
      compare(two_paths, &(vyre_c_options){.struct_size = sizeof(vyre_c_options), .in_bounds = in_bounds}, 1, true, "if ("));
  assert_true(compare(two_paths, &(vyre_c_options){.struct_size = sizeof(vyre_c_options), .in_bounds = in_bounds}, 1, true,
                      " ? vyre_load_u32("));
  free(in_bounds);
}

static const char copied[] = "program @p {\n"
                             "  struct @S { n : u32, v : u32[3] }\n"
                             "  buffer %x : @S[] storage rw set(0) binding(0)\n"
                             "  buffer %y : @S[] storage rw set(0) binding(1)\n"
                             "  copy %y[gid.x], %x[and(gid.x, 7u32)]\n"
                             "}\n";

TEST(copies_from_in_bounds_buffers_are_not_checked)
{
  vyre_module *module = parse(copied);
  uint8_t *in_bounds = no_bounds(module);
  in_bounds[vyre_c_buffer_row(module, (vyre_row){vyre_module_view(module)->first[0]}, 0).id] = 1;
  vyre_module_destroy(module);
  assert_true(compare(copied, NULL, 2, true, "x_n"));
  assert_false(compare(copied, &(vyre_c_options){.struct_size = sizeof(vyre_c_options), .in_bounds = in_bounds}, 2, true, "x_n"));
  free(in_bounds);
}

/* Each workgroup has one invocation, so the order and the result of each atomic are known. */
static const char atomics[] = "program @p {\n"
                              "  buffer %x : u32[] storage rw set(0) binding(0) buffer %y : i32[] storage rw set(0) binding(1)\n"
                              "  buffer %f : f32[] storage rw set(0) binding(2) buffer %out : u32[] storage rw set(0) binding(3)\n"
                              "  %g = gid.x %at = and mul(%g, 5u32), 3u32 %v = xor mul(%g, 0x9e3779b1u32), 0x5555u32\n"
                              "  %s = bitcast(%v : i32) %n = convert(%s : f32) %a = atomic_add %x[%at], %v\n"
                              "  %b = atomic_sub %x[add(%at, 4u32)], %v %c = atomic_or %x[add(%at, 8u32)], %g\n"
                              "  %d = atomic_and %x[add(%at, 12u32)], not(%g) %e = atomic_xor %x[add(%at, 16u32)], %v\n"
                              "  %h = atomic_umin %x[add(%at, 20u32)], %v %i = atomic_umax %x[add(%at, 24u32)], %v\n"
                              "  %j = atomic_exchange %x[add(%at, 28u32)], %v %k = atomic_smin %y[%at], %s\n"
                              "  %l = atomic_smax %y[add(%at, 4u32)], %s %m = atomic_fadd %f[%at], %n\n"
                              "  %o = atomic_fmax %f[add(%at, 4u32)], %n %q = atomic_or %x[add(%at, 32u32)], %g acq_rel\n"
                              "  %r = atomic_umin %x[add(%at, 36u32)], %g release\n"
                              "  %sum = add add(add(%a, %b), add(%c, %d)), add(add(%e, %h), add(%i, %j))\n"
                              "  %both = bitcast(add(%k, %l) : u32) %bits = xor bitcast(%m : u32), bitcast(%o : u32)\n"
                              "  store %out[%g], add(add(%sum, add(%q, %r)), xor(%both, %bits))\n"
                              "}\n";

TEST(atomics_of_one_call_and_of_parts_compute_the_same)
{
  assert_true(compare(atomics, NULL, 4, false, "__ATOMIC_RELAXED, alone)"));
  assert_true(compare(atomics, NULL, 4, true, "__ATOMIC_ACQ_REL, false)"));
}

static const char shared[] = "program @shared {\n"
                             "  buffer %sum : u32[] storage rw set(0) binding(0)\n"
                             "  atomic_add %sum[0], 1u32\n"
                             "  atomic_or %sum[1], shl(1u32, and(gid.x, 31u32))\n"
                             "  atomic_umin %sum[2], sub(4000000u32, gid.x)\n"
                             "  atomic_umax %sum[3], gid.x\n"
                             "  atomic_xor %sum[4], gid.x\n"
                             "}\n";

typedef struct part {
  program_function function;
  vyre_c_dispatch dispatch;
} part;

static void *
run_part(void *user)
{
  const part *p = user;
  assert_int_equal(p->function(&p->dispatch), 0);
  return NULL;
}

/* Each thread runs a part of the grid. */
TEST(threads_lose_no_atomic_operations)
{
  vyre_module *module = parse(shared);
  vyre_bytes c = {0};
  uint32_t sum[5] = {0, 0, UINT32_MAX, 0, 0};
  const vyre_c_buffer buffer = {sum, sizeof sum};
  pthread_t threads[THREADS];
  part parts[THREADS];
  uint32_t all = 0;
  assert_ok(vyre_c_write(module, VYRE_NONE, NULL, &c), "C");
  void *library = compile_c(&c, 2000);
  for (uint32_t i = 0; i < THREADS; i++) {
    parts[i].dispatch = (vyre_c_dispatch){{MANY, 1, 1}, (uint64_t)i * MANY / THREADS, MANY / THREADS, &buffer};
    *(void **)&parts[i].function = dlsym(library, "shared");
    assert_int_equal(pthread_create(&threads[i], NULL, run_part, &parts[i]), 0);
  }
  for (uint32_t i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  for (uint32_t i = 0; i < MANY; i++)
    all ^= i;
  assert_int_equal(sum[0], MANY);
  assert_int_equal(sum[1], UINT32_MAX);
  assert_int_equal(sum[2], 4000000 - (MANY - 1));
  assert_int_equal(sum[3], MANY - 1);
  assert_int_equal(sum[4], all);
  dlclose(library);
  vyre_bytes_free(&c);
  vyre_module_destroy(module);
}

static const char grid[] = "program @grid {\n"
                           "  buffer %out : u32[] storage rw set(0) binding(0)\n"
                           "  %at = add gid.x, mul(add(gid.y, mul(gid.z, 2u32)), 3u32) atomic_add %out[%at], add(%at, 1u32)\n"
                           "}\n";

/* The parts have each size from 1 to 12, so they begin and end anywhere in a line of the grid. */
TEST(parts_run_each_workgroup_once)
{
  vyre_module *module = parse(grid);
  vyre_bytes c = {0};
  program_function function;
  assert_ok(vyre_c_write(module, VYRE_NONE, NULL, &c), "C");
  void *library = compile_c(&c, 2001);
  *(void **)&function = dlsym(library, "grid");
  for (uint32_t size = 1; size <= 12; size++) {
    uint32_t out[13] = {0};
    const vyre_c_buffer buffer = {out, sizeof out};
    vyre_c_dispatch d = {{3, 2, 2}, 0, 0, &buffer};
    assert_int_equal(function(&d), 0);
    assert_int_equal(out[0], 0);
    for (; d.first < 12; d.first += size) {
      d.count = 12 - d.first < size ? 12 - d.first : size;
      assert_int_equal(function(&d), 0);
    }
    for (uint32_t i = 0; i < 12; i++)
      assert_int_equal(out[i], i + 1);
    assert_int_equal(out[12], 0);
  }
  dlclose(library);
  vyre_bytes_free(&c);
  vyre_module_destroy(module);
}
