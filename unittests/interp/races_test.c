/* Data races: programs with a race, whose report names both rows and invocations, and similar programs without a race.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "interp_fixture.h"

#define HEAD                                        \
  "program @p workgroup(4, 1, 1) {\n"               \
  "  buffer %x : u32[] storage set(0) binding(0)\n" \
  "  buffer %f : u32[] storage set(0) binding(1)\n" \
  "  buffer %b : u8[] storage set(0) binding(2)\n"  \
  "  buffer %y : u32[] storage set(0) binding(1)\n" \
  "  buffer %tile : u32[16] workgroup\n"            \
  "  buffer %own : u32[16] private\n"               \
  "  %i = lindex\n"                                 \
  "  %g = gid.x\n"                                  \
  "  %w = wid.x\n" /* the body begins in line 11 */

static uint32_t x[64], f[64];
static uint8_t b[64];

static launch
launch_of(const char *text, uint32_t groups)
{
  memset(x, 0, sizeof x);
  memset(f, 0, sizeof f);
  return (launch){.text = text,
                  .groups = {groups, 1, 1},
                  .buffers = {{"x", x, sizeof x}, {"f", f, sizeof f}, {"b", b, sizeof b}},
                  .options = {.check_races = true, .steps = 10000}};
}

static void
clean(const char *text, uint32_t groups)
{
  launch l = launch_of(text, groups);
  vyre_status status = launch_run(&l);
  if (status)
    fail_msg("%s\n%s", vyre_status_text(status), text);
}

/* Returns the text with $1 and $2 replaced.  The text is valid until the next call. */
static const char *
fill_template(const char *text, const char *first, const char *second)
{
  static char out[4096];
  size_t size = 0;
  for (; *text && size + 512 < sizeof out; text++)
    if (*text == '$')
      size += (size_t)snprintf(out + size, sizeof out - size, "%s", *++text == '1' ? first : second);
    else
      out[size++] = *text;
  out[size] = '\0';
  return out;
}

/* Asserts that the report names both accesses in this order, and that the program runs if races are not checked. */
static void
races(const char *text, uint32_t groups, const char *where, const char *before, const char *after)
{
  launch l = launch_of(text, groups);
  launch_fails(&l, where, before, after);
  l = launch_of(text, groups);
  l.options.check_races = false;
  launch_ok(&l);
}

TEST(a_missing_barrier_is_a_race)
{
  races(HEAD "  store %tile[%i], %i\n"
             "  %v = load %tile[umod(add(%i, 1u32), 4u32)]\n"
             "}\n",
        2, "program @p, row", "(load %v, test.vir:12:3): data race on byte 4 of buffer %tile: written by row",
        "(store, test.vir:11:3) of invocation (1, 0, 0) of workgroup (0, 0, 0), global (1, 0, 0), then read, with nothing that "
        "orders the two, by invocation (0, 0, 0) of workgroup (0, 0, 0), global (0, 0, 0)");
  clean(HEAD "  store %tile[%i], %i\n"
             "  barrier\n"
             "  %v = load %tile[umod(add(%i, 1u32), 4u32)]\n"
             "}\n",
        2);
  /* the store of the next iteration */
  races(HEAD "  for %k = 0u32 to 3u32 {\n"
             "    store %tile[%i], %k\n"
             "    barrier\n"
             "    %v = load %tile[sub(3u32, %i)]\n"
             "  }\n"
             "}\n",
        1, "(store, test.vir:12:5)", "read by row", "then written");
  clean(HEAD "  for %k = 0u32 to 3u32 {\n"
             "    store %tile[%i], %k\n"
             "    barrier\n"
             "    %v = load %tile[sub(3u32, %i)]\n"
             "    barrier\n"
             "  }\n"
             "}\n",
        1);
}

TEST(stores_race_with_each_other)
{
  races(HEAD "  store %x[0], %i\n}\n", 1, "data race on byte 0 of buffer %x: written by row", "of invocation (0, 0, 0)",
        "then written");
  races(HEAD "  store %x[%i], %i\n}\n", 2, "byte 0 of buffer %x", "of invocation (0, 0, 0) of workgroup (0, 0, 0)",
        "by invocation (0, 0, 0) of workgroup (1, 0, 0), global (4, 0, 0)");
  clean(HEAD "  store %x[%g], %i\n  store %x[%g], %g\n  %v = load %x[%g]\n}\n", 4);
  clean(HEAD "  %v = load %x[0]\n  %u = load %x[0]\n}\n", 4);                  /* only reads */
  clean(HEAD "  store %own[0], %i\n  store %tile[%i], %i\n}\n", 4);            /* separate memory */
  clean(HEAD "  store %x[add(%g, 1000u32)], %i\n  store %x[100], %i\n}\n", 4); /* out of bounds: not stored */
  races(HEAD "  if eq %w, 1u32 { store %x[2], %i } else { %v = load %x[2] }\n}\n", 2, "read by row", "(load %v", "then written");
}

/* Buffer rows of one set and binding share their memory. */
TEST(aliased_buffers_race)
{
  races(HEAD "  store %f[%i], %i\n  %v = load %y[0]\n}\n", 1, "data race on byte 0 of buffer %y", "written by row", "(store");
}

/* The columns of a row-major matrix are interleaved in memory. */
TEST(columns_of_a_row_major_matrix_do_not_race)
{
  clean("struct @M { m : mat2(f32x2, stride 16, row_major) }\nprogram @p workgroup(2, 1, 1) {\n"
        "  buffer %x : @M storage set(0) binding(0)\n  buffer %f : u32[] storage set(0) binding(1)\n"
        "  buffer %b : u8[] storage set(0) binding(2)\n  %i = lindex\n  %s = convert %i : f32\n  %v = join %s, %s\n"
        "  if eq %i, 0u32 { store %x.m[0], %v } else { store %x.m[1], %v }\n}\n",
        1);
}

TEST(races_are_found_per_byte)
{
  clean(HEAD "  store %b[%g], 1u8\n}\n", 4);
  races(HEAD "  store %b[ushr(%g, 1u32)], 1u8\n}\n", 1, "data race on byte 0 of buffer %b", "invocation (0, 0, 0)",
        "invocation (1, 0, 0)");
  races(HEAD "  store %b[add(udiv(%g, 3u32), 6u32)], 1u8\n}\n", 1, "data race on byte 6 of buffer %b", "written", "written");
}

TEST(barriers_order_the_memory_that_they_name)
{
  static const char shape[] = HEAD "  store %x[%i], %i\n"
                                   "  store %tile[%i], %i\n"
                                   "  $1\n"
                                   "  %t = load %tile[sub(3u32, %i)]\n"
                                   "  %v = load %x[sub(3u32, %i)]\n"
                                   "}\n";
  static const struct {
    const char *barriers, *races_on;
  } cases[] = {
      {"barrier", "buffer %x"},
      {"barrier workgroup workgroup acq_rel uniform_memory workgroup_memory", NULL},
      {"barrier workgroup device acq_rel uniform_memory", "buffer %tile"},
      {"barrier workgroup workgroup", "buffer %tile"}, /* waits, but orders no memory */
      {"barrier workgroup invocation acq_rel uniform_memory workgroup_memory", "buffer %tile"},
      {"barrier invocation device acq_rel uniform_memory workgroup_memory", "buffer %tile"}, /* does not wait */
      {"barrier invocation device acq_rel uniform_memory\n  barrier", NULL},
      {"barrier\n  barrier invocation device acq_rel uniform_memory", NULL},
      {"barrier device", NULL},
      {"barrier device workgroup acq_rel uniform_memory workgroup_memory", NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const char *text = fill_template(shape, cases[i].barriers, "");
    if (cases[i].races_on)
      races(text, 1, cases[i].races_on, "written by row", "(store");
    else
      clean(text, 1);
  }
}

TEST(only_a_barrier_of_the_grid_orders_workgroups)
{
  static const char shape[] = HEAD "  store %x[%g], %i\n"
                                   "  $1\n"
                                   "  %v = load %x[umod(add(%g, 4u32), 12u32)]\n"
                                   "}\n";
  clean(fill_template(shape, "barrier device", ""), 3);
  races(fill_template(shape, "barrier workgroup device acq_rel uniform_memory", ""), 3,
        "data race on byte 16 of buffer %x: read by row", "of workgroup (0, 0, 0)", "of workgroup (1, 0, 0)");
  races(fill_template(shape, "barrier device workgroup acq_rel uniform_memory", ""), 3, "data race on byte 16 of buffer %x",
        "of workgroup (1, 0, 0)", "of workgroup (0, 0, 0)");
  /* The barrier does not order the rows after it. */
  races(HEAD "  barrier device\n  store %x[%g], %i\n  %v = load %x[umod(add(%g, 4u32), 12u32)]\n}\n", 3,
        "data race on byte 16 of buffer %x: written by row", "of workgroup (1, 0, 0)",
        "by invocation (0, 0, 0) of workgroup (0, 0, 0)");
}

/* A subgroup barrier orders only the lanes of its subgroup. */
TEST(a_subgroup_barrier_orders_its_subgroup)
{
  static const char shape[] = HEAD "  store %tile[%i], %i\n  store %x[%g], %i\n  $1\n"
                                   "  %v = load %tile[xor(%i, $2)]\n  %u = load %x[xor(%g, $2)]\n}\n";
  static const char both[] = "barrier subgroup subgroup acq_rel uniform_memory workgroup_memory";
  for (uint32_t size = 2; size <= 4; size += 2) {
    launch l = launch_of(fill_template(shape, both, size == 2 ? "1u32" : "2u32"), 2);
    l.options.subgroup = size;
    launch_ok(&l);
    l = launch_of(fill_template(shape, "barrier subgroup", size == 2 ? "1u32" : "2u32"), 2); /* orders only workgroup memory */
    l.options.subgroup = size;
    launch_fails(&l, "data race", "buffer %x", "invocation (0, 0, 0)");
    l = launch_of(fill_template(shape, "barrier workgroup subgroup acq_rel uniform_memory workgroup_memory", "1u32"), 2);
    l.options.subgroup = size;
    launch_fails(&l, "data race", "buffer %tile", "invocation (0, 0, 0)"); /* it waits for more invocations than it orders */
  }
  launch l = launch_of(fill_template(shape, both, "2u32"), 2);
  l.options.subgroup = 2;
  launch_fails(&l, "data race", "buffer %tile", "invocation (2, 0, 0)");
}

TEST(atomics_do_not_race_with_atomics)
{
  clean(HEAD "  %a = atomic_add %x[0], 1u32\n  %c = atomic_load %x[0]\n  atomic_store %x[0], 3u32\n}\n", 3);
  races(HEAD "  %a = atomic_add %x[0], 1u32\n  %v = load %x[0]\n}\n", 1,
        "(load %v, test.vir:12:3): data race on byte 0 of buffer %x", "(atomic_add %a, test.vir:11:3)", "then read, with");
  races(HEAD "  if eq %g, 0u32 { store %x[0], 7u32 }\n  %a = atomic_add %x[0], 1u32\n}\n", 1, "written by row", "(store",
        "then written atomically");
  races(HEAD "  %v = load %x[0]\n  if eq %g, 9u32 { %a = atomic_add %x[0], 1u32 }\n}\n", 3, "read by row", "(load",
        "then written atomically");
  /* A failed exchange only reads. */
  clean(HEAD "  %v = load %x[0]\n  %a = atomic_compare_exchange %x[0], 1u32, 77u32\n}\n", 2);
  races(HEAD "  %v = load %x[0]\n  %a = atomic_compare_exchange %x[0], 1u32, 0u32\n}\n", 2, "read by row", "(load",
        "then written atomically");
  clean(HEAD "  %v = load %x[0]\n  %a = atomic_load %x[0]\n}\n", 2);
}

/* A release orders earlier accesses before an acquire that reads its value, also in another workgroup. */
TEST(an_acquire_is_ordered_after_its_release)
{
  static const char shape[] = HEAD "  if eq %w, 0u32 {\n"
                                   "    if eq %i, 0u32 {\n"
                                   "      store %x[5], 9u32\n"
                                   "      $1\n"
                                   "    }\n"
                                   "  } else {\n"
                                   "    $2\n"
                                   "    if eq %s, 1u32 { %v = load %x[5] }\n"
                                   "  }\n"
                                   "}\n";
  static const struct {
    const char *release, *acquire;
    bool races;
  } cases[] = {
      {"atomic_store %f[0], 1u32 device release uniform_memory", "%s = atomic_load %f[0] device acquire uniform_memory", false},
      {"%r = atomic_add %f[0], 1u32 device acq_rel uniform_memory", "%s = atomic_add %f[0], 0u32 device acq_rel uniform_memory",
       false},
      {"atomic_store %f[0], 1u32", "%s = atomic_load %f[0] device acquire uniform_memory", true},
      {"atomic_store %f[0], 1u32 device release uniform_memory", "%s = atomic_load %f[0]", true},
      {"atomic_store %f[1], 1u32 device release uniform_memory\n atomic_store %f[0], 1u32",
       "%s = atomic_load %f[0] device acquire uniform_memory", true},
      {"barrier invocation device release uniform_memory\n atomic_store %f[0], 1u32",
       "%s = atomic_load %f[0]\n barrier invocation device acquire uniform_memory", false},
      {"atomic_store %f[0], 1u32\n barrier invocation device release uniform_memory",
       "%s = atomic_load %f[0]\n barrier invocation device acquire uniform_memory", true},
      {"barrier invocation device release uniform_memory\n atomic_store %f[0], 1u32",
       "barrier invocation device acquire uniform_memory\n %s = atomic_load %f[0]", true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const char *text = fill_template(shape, cases[i].release, cases[i].acquire);
    if (cases[i].races)
      races(text, 2, "data race on byte 20 of buffer %x", "of workgroup (0, 0, 0)", "of workgroup (1, 0, 0)");
    else
      clean(text, 2);
  }
  /* A workgroup barrier passes on the order that one of the invocations has acquired. */
  clean(HEAD "  if eq %w, 0u32 {\n"
             "    if eq %i, 2u32 { store %x[5], 9u32  atomic_store %f[0], 1u32 device release uniform_memory }\n"
             "  } else {\n"
             "    if eq %i, 1u32 { %s = atomic_load %f[0] device acquire uniform_memory  store %tile[0], %s }\n"
             "    barrier\n"
             "    %t = load %tile[0]\n"
             "    if eq %t, 1u32 { %v = load %x[5] }\n"
             "  }\n"
             "}\n",
        2);
}

/* The write races with any one of several readers, because the shadow records each of them. */
TEST(every_reader_is_recorded)
{
  for (uint32_t reader = 0; reader < 8; reader++)
    for (uint32_t writer = 0; writer < 8; writer++) {
      char readers[64], name[64], of_writer[32];
      if (reader == writer)
        continue;
      snprintf(readers, sizeof readers, "or(eq(%%g, %uu32), eq(%%g, %uu32))", reader, writer);
      snprintf(of_writer, sizeof of_writer, "eq(%%g, %uu32)", writer);
      snprintf(name, sizeof name, "by invocation (%u, 0, 0) of workgroup (%u, 0, 0)", writer % 4, writer / 4);
      races(fill_template(HEAD "  if $1 { %v = load %x[0] }\n"
                               "  barrier device invocation acq_rel uniform_memory\n" /* makes the workgroups run side by side */
                               "  if $2 { %u = load %x[0] }\n"
                               "  if $2 { store %x[0], 1u32 }\n"
                               "}\n",
                          readers, of_writer),
            2, "read by row", "then written", name);
    }
}

TEST(async_copies_last_until_their_wait)
{
  clean(HEAD "  async_copy %tile[%i], %x[%g]\n  async_wait\n  %v = load %tile[%i]\n  store %x[%g], %v\n}\n", 2);
  races(HEAD "  async_copy %tile[%i], %x[%g]\n  %v = load %tile[%i]\n  async_wait\n}\n", 1,
        "(load %v, test.vir:12:3): data race on byte 0 of buffer %tile: written until its wait by row",
        "(async_copy, test.vir:11:3) of invocation (0, 0, 0)", "then read");
  races(HEAD "  async_copy %own[1], %x[%g]\n  store %own[1], 4u32\n}\n", 1, "byte 4 of buffer %own: written until its wait",
        "then written", "wait for the async copy");
  races(HEAD "  async_copy %own[1], %x[%g]\n  store %x[%g], 4u32\n}\n", 1, "byte 0 of buffer %x: read until its wait",
        "then written", "invocation (0, 0, 0)");
  clean(HEAD "  async_copy %own[1], %x[%g]\n  %v = load %x[%g]\n  async_copy %own[2], %x[%g]\n}\n", 1);
  /* async_wait 1 does not wait for the last copy. */
  clean(HEAD "  async_copy %own[0], %x[0]\n  async_copy %own[1], %x[1]\n  async_wait 1\n  %v = load %own[0]\n  async_wait\n"
             "  %u = load %own[1]\n}\n",
        1);
  races(HEAD "  async_copy %own[0], %x[0]\n  async_copy %own[1], %x[1]\n  async_wait 1\n  %v = load %own[1]\n}\n", 1,
        "test.vir:14:3", "(async_copy, test.vir:12:3)", "then read");
  races(HEAD "  async_copy %own[0], %x[0]\n  async_wait 1\n  %v = load %own[0]\n}\n", 1, "test.vir:13:3", "written until its wait",
        "then read");
  /* Other invocations may load copied elements only after a barrier that follows the wait. */
  races(HEAD "  async_copy %tile[%i], %x[%g]\n  async_wait\n  %v = load %tile[sub(3u32, %i)]\n}\n", 1, "written by row",
        "(async_copy", "then read");
  clean(HEAD "  async_copy %tile[%i], %x[%g]\n  async_wait\n  barrier\n  %v = load %tile[sub(3u32, %i)]\n}\n", 2);
  races(HEAD "  async_copy %tile[%i], %x[%g]\n  barrier\n  async_wait\n  %v = load %tile[sub(3u32, %i)]\n}\n", 1, "written by row",
        "(async_copy", "then read");
  races(HEAD "  async_copy %tile[%i], %x[%g]\n  barrier\n  %v = load %tile[sub(3u32, %i)]\n}\n", 1, "written until its wait",
        "(async_copy", "then read");
  /* A copy races with earlier stores of other invocations. */
  races(HEAD "  store %tile[%i], 1u32\n  async_copy %tile[sub(3u32, %i)], %x[%g]\n}\n", 1, "(async_copy, test.vir:12:3)",
        "written by row", "then written");
  clean(HEAD "  async_copy %tile[%i], %x[%g]\n}\n", 3); /* ends with its workgroup; the next workgroup has another tile */
  clean(HEAD "  for %k = 0u32 to 20u32 { async_copy %own[0], %x[%k]  async_copy %own[1], %x[%k]  async_wait }\n}\n", 3);
}

TEST(copies_are_accesses)
{
  races(HEAD "  copy %tile[%i], %x[%g]\n  copy %own[0], %tile[sub(3u32, %i)]\n}\n", 1, "(copy, test.vir:12:3)",
        "(copy, test.vir:11:3)", "then read");
}

/* Blocks of the shadow are added at the first access to their memory, and reports name the right bytes. */
TEST(races_in_large_memory_are_found)
{
  enum { WORDS = 100000 };
  static uint32_t big[WORDS];
  static const char text[] = "program @p workgroup(100, 1, 1) {\n"
                             "  buffer %x : u32[] storage set(0) binding(0)\n"
                             "  for %k = 0u32 to 1000u32 { store %x[add(mul(%k, 100u32), lindex)], %k }\n"
                             "  if eq lindex, 99u32 { store %x[77700], 1u32 }\n"
                             "}\n";
  launch l = {.text = text, .buffers = {{"x", big, sizeof big}}, .options = {.check_races = true}};
  launch_fails(&l, "data race on byte 310800 of buffer %x", "of invocation (0, 0, 0)", "by invocation (99, 0, 0)");
}

/* ---- out of memory -------------------------------------------------------------------------------------------------- */

TEST(each_allocation_of_a_run_may_fail)
{
  static uint32_t data[64 * 40];
  const launch l = {
      .text = "program @p relaxed {\n"
              "  spec %n : u32 = 32u32 id(7) %size = mul %n, 1u32 workgroup %size, 1u32, 1u32\n"
              "  buffer %x : u32[] storage set(0) binding(0)\n"
              "  buffer %tile : u32[%size] workgroup buffer %own : u32[64] private buffer %two : u32[2] private = [3u32, 4u32]\n"
              "  store %tile[lindex], load(%two[1])\n"
              "  for %k = 0u32 to 40u32 {\n"
              "    async_copy %own[%k], %x[add(mul(%k, 64u32), lindex)]\n"
              "    async_copy %x[add(mul(%k, 64u32), add(lindex, 32u32))], %own[63]\n"
              "    async_wait 20\n"
              "  }\n"
              "  %m = inverse tuple(1.0f32x2, join(1.0f32, 2.0f32))\n"
              "}\n",
      .buffers = {{"x", data, sizeof data}},
      .options = {.check_races = true, .report_undefined = true}};
  launch_without_memory(&l);
}
