/* Address space of a module: the amount that is reserved, moves of columns, and refused reservations.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test_allocator.h"
#include "ir_test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MEGA (1u << 20)

/* Returns a module whose allocator has `most` bytes of address space. */
static vyre_module *
module_within(test_memory *memory, size_t most)
{
  vyre_module *m;
  const vyre_allocator allocator = test_allocator(memory, 0);
  memory->most = most;
  assert_ok(vyre_module_create(&allocator, 0, &m));
  return m;
}

static uint32_t
bytes_a_row(void)
{
  vyre_module *m;
  assert_null(vyre_module_create(NULL, MEGA, &m));
  const uint32_t bytes = (uint32_t)(vyre_module_reserved_bytes(m) / MEGA);
  vyre_module_destroy(m);
  assert_in_range(bytes, 44, 128);
  return bytes;
}

/* Appends a chain of rows, each of which adds its number to the previous row. */
static vyre_row
add_rows(vyre_builder *b, vyre_row last, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++)
    last = vyre_build(b, VYRE_OP_add, U32, VYRE_ROW_IMM, last.id + 1, 0, last, VYRE_NONE, VYRE_NONE);
  return last;
}

static void
check_rows(const vyre_module *m, uint32_t first, uint32_t last)
{
  const vyre_view *v = vyre_module_view(m);
  for (uint32_t row = first + 1; row <= last; row++)
    if (v->a[row] != row - 1 || v->imm[row] != row || v->prev[row] != row - 1 || v->next[row - 1] != row)
      fail_msg("row %u is (%u, %u)", row, v->a[row], v->imm[row]);
}

TEST(a_new_module_reserves_little)
{
  const uint32_t row = bytes_a_row();
  vyre_module *m = new_module();
  assert_in_range(vyre_module_reserved_bytes(m), (size_t)row * MEGA, (size_t)(row + 1) * MEGA);
  vyre_module_destroy(m);
  assert_null(vyre_module_create(NULL, 100, &m));
  assert_true(vyre_module_reserved_bytes(m) < 1 << 20);
  vyre_module_destroy(m);
}

/* A module that is being built may have any size.  A sealed module has room for sixteen times its rows. */
TEST(columns_move_while_a_module_is_built)
{
  const uint32_t row = bytes_a_row();
  vyre_module *m = new_module();
  vyre_builder b;
  vyre_build_program(m, "p", 0, 0, &b);
  const vyre_row first = build_value(&b), last = add_rows(&b, first, 3 * MEGA);
  vyre_row_set_name(m, last, "last", 4);
  assert_null(vyre_module_status(m));
  assert_null(vyre_module_seal(m, NULL));
  assert_true(vyre_module_reserved_bytes(m) >= (size_t)row * 48 * MEGA);
  check_rows(m, first.id, last.id);
  assert_string_equal(vyre_row_name(m, last), "last");
  vyre_module *copy;
  assert_null(vyre_module_clone(m, &copy));
  check_rows(copy, first.id, last.id);
  vyre_module_destroy(copy);
  vyre_module_clear(m); /* builds again in the same room */
  vyre_build_program(m, "p", 0, 0, &b);
  check_rows(m, first.id, add_rows(&b, build_value(&b), MEGA).id);
  vyre_module_destroy(m);
}

/* Asserts that no column moved. */
static void
check_same_place(const vyre_view *before, const vyre_module *m)
{
  vyre_view after = *vyre_module_view(m);
  after.rows = before->rows;
  assert_memory_equal(before, &after, sizeof(after));
}

typedef struct page_watch {
  const vyre_module *module;
  const uint32_t *op;
  uint32_t calls;
} page_watch;

/* Asserts that the columns did not move yet. */
static void
note_release(void *user)
{
  page_watch *w = user;
  assert_ptr_equal(vyre_module_view(w->module)->op, w->op);
  w->calls++;
}

TEST(moves_and_releases_of_columns_are_watched)
{
  vyre_module *m = new_module();
  vyre_builder b;
  void *start;
  size_t bytes;
  vyre_build_program(m, "p", 0, 0, &b);
  page_watch watch = {.module = m, .op = vyre_module_view(m)->op};
  vyre_module_watch_pages(m, note_release, &watch);
  vyre_row last = add_rows(&b, build_value(&b), 1000);
  vyre_module_column_pages(m, watch.op, &start, &bytes);
  assert_true((const char *)start <= (const char *)watch.op);
  assert_true((const char *)start + bytes >= (const char *)(watch.op + vyre_module_view(m)->rows));
  memset((char *)start + bytes - 1, 0, 1); /* accessible */
  assert_int_equal(watch.calls, 0);
  last = add_rows(&b, last, 3 * MEGA);
  assert_ptr_not_equal(vyre_module_view(m)->op, watch.op);
  assert_int_equal(watch.calls, 1); /* later moves have no watch */
  watch.op = vyre_module_view(m)->op;
  vyre_module_watch_pages(m, note_release, &watch);
  vyre_module_destroy(m);
  assert_int_equal(watch.calls, 2);
}

TEST(columns_of_a_sealed_module_do_not_move)
{
  vyre_module *m = new_module();
  vyre_builder b;
  vyre_build_program(m, "p", 0, 0, &b);
  const vyre_row first = build_value(&b);
  assert_null(vyre_module_seal(m, NULL));
  const vyre_view before = *vyre_module_view(m);
  b = (vyre_builder){.module = m};
  vyre_builder_at_end(&b, row_of(1));
  const vyre_row last = add_rows(&b, first, MEGA - first.id - 1); /* a million rows after five */
  assert_null(vyre_module_status(m));
  check_same_place(&before, m);
  assert_int_equal(build_gid(&b).id, 0);
  assert_error(vyre_module_status(m), VYRE_CODE_INPUT, "out of memory: a module has 1048576 rows, and no room for more");
  assert_error(vyre_module_status(m), VYRE_CODE_INPUT, "Fix: ");
  check_same_place(&before, m);
  check_rows(m, first.id, last.id);
  assert_error(vyre_module_seal(m, NULL), VYRE_CODE_INPUT, "");
  vyre_module_destroy(m);
}

/* A module that grows from seal to seal never fills its room.  vyre_module_reserve makes more room at once. */
TEST(sealing_makes_room)
{
  vyre_module *m = new_module();
  vyre_builder b;
  vyre_build_program(m, "p", 0, 0, &b);
  const vyre_row first = build_value(&b);
  vyre_row last = first;
  for (uint32_t count = MEGA / 16; last.id < 4 * MEGA; count = last.id) {
    assert_null(vyre_module_seal(m, NULL));
    b = (vyre_builder){.module = m};
    vyre_builder_at_end(&b, row_of(1));
    last = add_rows(&b, last, count);
    assert_null(vyre_module_status(m));
  }
  assert_null(vyre_module_seal(m, NULL));
  check_rows(m, first.id, last.id);
  const size_t reserved = vyre_module_reserved_bytes(m);
  vyre_module_reserve(m, last.id * 32);
  assert_true(vyre_module_reserved_bytes(m) > reserved);
  check_rows(m, first.id, last.id);
  vyre_module_destroy(m);
}

/* Room that is not needed yet leaves as much address space to the rest of the program. */
TEST(a_refused_reservation_is_reduced)
{
  const size_t row = bytes_a_row();
  test_memory s;
  vyre_module *m = module_within(&s, row * MEGA);
  assert_in_range(vyre_module_reserved_bytes(m), row * MEGA / 8, row * MEGA / 2);
  assert_true(s.refused > 0);
  vyre_builder b;
  vyre_build_program(m, "p", 0, 0, &b);
  const vyre_row first = build_value(&b), last = add_rows(&b, first, MEGA / 8); /* without sixteenfold room */
  assert_null(vyre_module_seal(m, NULL));
  assert_true(vyre_module_reserved_bytes(m) >= row * last.id);
  check_rows(m, first.id, last.id);
  vyre_module_destroy(m);
  assert_int_equal(s.reserved, 0);
}

TEST(rows_fail_when_no_address_space_is_left)
{
  const size_t row = bytes_a_row();
  test_memory s;
  vyre_module *m = module_within(&s, row * MEGA / 4);
  vyre_builder b;
  vyre_build_program(m, "p", 0, 0, &b);
  const vyre_row first = build_value(&b), last = add_rows(&b, first, MEGA);
  assert_int_equal(last.id, 0);
  const uint32_t rows = vyre_module_view(m)->rows; /* the old room and the new room exist at once */
  assert_in_range(rows, MEGA / 20, MEGA / 4);
  check_rows(m, first.id, rows - 1);
  assert_error(vyre_module_status(m), VYRE_CODE_INPUT, "out of memory");
  vyre_module_clear(m); /* works for a smaller program */
  vyre_build_program(m, "p", 0, 0, &b);
  check_rows(m, first.id, add_rows(&b, build_value(&b), 1000).id);
  assert_null(vyre_module_seal(m, NULL));
  vyre_module_destroy(m);
  assert_int_equal(s.reserved, 0);

  const vyre_allocator none = test_allocator(&s, 0);
  s.most = 100;
  vyre_status status = vyre_module_create(&none, 0, &m);
  assert_null(m);
  assert_non_null(strstr(vyre_status_text(status), "\nFix: "));
  assert_error(status, VYRE_CODE_INPUT, "the address space does not suffice");
}

/* Sealing may move columns of analyses, too. */
TEST(columns_of_analyses_move_with_the_others)
{
  const size_t row = bytes_a_row();
  test_memory s;
  vyre_module *m = module_within(&s, row * MEGA / 8);
  vyre_builder b;
  vyre_build_program(m, "p", 0, 0, &b);
  vyre_build_for(&b, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  const vyre_row first = build_value(&b), last = add_rows(&b, first, 30000);
  assert_null(vyre_module_seal(m, NULL));
  assert_null(vyre_module_make_analyses(m, VYRE_LEVELS));
  uint32_t *hashes = vyre_module_open_column(m, VYRE_HASHES);
  for (uint32_t i = 0; i <= last.id; i++)
    hashes[i] = i * 7;
  vyre_module_show_analyses(m, VYRE_LEVELS | VYRE_HASHES);
  const vyre_view *v = vyre_module_view(m);
  const uint32_t *before = v->level;
  s.most = row * 16 * MEGA; /* more room is available now */
  assert_null(vyre_module_seal(m, NULL));
  assert_ptr_not_equal(v->level, before);
  assert_null(v->loop);
  check_rows(m, first.id, last.id);
  for (uint32_t i = first.id; i <= last.id; i++)
    if (v->level[i] != i - first.id + 1 || v->hash[i] != i * 7)
      fail_msg("row %u: level %u, hash %u", i, v->level[i], v->hash[i]);
  vyre_module_destroy(m);
}

/* The parser keeps no addresses of columns: with the least possible room it builds the same module. */
TEST(columns_may_move_at_every_row_of_a_parse)
{
  static const char head[] = "struct @S { a : f32x4, b : u32[8] }\n"
                             "func @f(%x : f32, %p : path @S) -> f32 { if flt %x, 0.0f32 { return 1.0f32 } store %p.a[1], %x\n"
                             "return add(%x, load %p.a[2]) }\n";
  static const char text[] = " relaxed workgroup(4, 1, 1) {\n"
                             "  spec %n : u32 = 4u32 id(3)\n  buffer %s : @S[] storage set(0) binding(0)\n  var %v : f32x4\n"
                             "  for %k = 0u32 to %n {\n    %x = @f(load %s[%k].a[0], %s[add(%k, gid.x)])\n"
                             "    set %v, join(join(%x, 2.0f32), mul(%x, %x), 4.0f32)\n"
                             "    switch %k { case 1u32, 2u32, 3u32, 4u32, 5u32 { store %s[lindex].a, get(%v) } default { } }\n"
                             "    store %s[7].b[and(%k, 7u32)], length %s\n  }\n}\n";
  vyre_bytes source = {0}, texts[2];
  assert_null(vyre_bytes_append(&source, head, sizeof(head) - 1));
  for (int i = 0; i < 100; i++)
    assert_null(vyre_bytes_printf(&source, "program @p%d%s", i, text));
  for (int tight = 0; tight < 2; tight++) {
    test_memory s;
    const vyre_allocator allocator = test_allocator(&s, 0);
    vyre_module *m, *copy;
    s.most_reservations = tight ? 1 : UINT32_MAX;
    assert_ok(vyre_module_create(&allocator, 0, &m));
    s.most_reservations = tight ? 2 : UINT32_MAX; /* the old room and the new room: each request is reduced to the need */
    parse_into(m, source.data);
    texts[tight] = print(m, NULL);
    s.most_reservations = UINT32_MAX;
    assert_ok(vyre_module_clone(m, &copy));
    assert_true(!tight || s.refused > 20);
    vyre_module_destroy(m);
    vyre_module_destroy(copy);
    assert_int_equal(s.reserved, 0);
  }
  assert_same_bytes(texts[0], texts[1]);
  vyre_bytes_free(&source);
}

/* Returns a module of `rows` rows that has values in each side column and each column of analyses. */
static vyre_module *
full_module(uint32_t rows)
{
  vyre_module *m = new_module();
  vyre_builder b;
  vyre_build_program(m, "p", 0, 0, &b);
  const vyre_row first = build_value(&b), last = add_rows(&b, first, rows);
  for (uint32_t row = first.id; row <= last.id; row++) {
    vyre_row_set_name(m, row_of(row), "some", 4);
    vyre_row_set_line(m, row_of(row), 0, row, 1);
  }
  assert_null(vyre_module_seal(m, NULL));
  assert_null(vyre_module_make_analyses(m, VYRE_VERSIONS | VYRE_LEVELS));
  memset(vyre_module_open_column(m, VYRE_HASHES), 0xff, (last.id + 1) * sizeof(uint32_t));
  return m;
}

/* Skips a test of kept memory in a build with sanitizers, which keeps no memory. */
static void
skip_without_kept_memory(void)
{
#ifdef VYRE_SANITIZED
  skip(); /* these builds keep no memory of destroyed modules */
#endif
}

/* A new module gets the memory of a destroyed one, cleared to zero. */
TEST(memory_of_a_destroyed_module_is_reused)
{
  enum { ROWS = 5000 };
  skip_without_kept_memory();
  vyre_module *m = full_module(ROWS);
  const uint32_t *const before = vyre_module_view(m)->op;
  vyre_module_destroy(m);
  m = new_module();
  assert_ptr_equal(vyre_module_view(m)->op, before);
  vyre_builder b;
  vyre_build_program(m, "p", 0, 0, &b);
  const vyre_row first = build_value(&b), last = add_rows(&b, first, 2 * ROWS);
  vyre_row_set_name(m, last, "last", 4);
  vyre_row_set_line(m, last, 0, 7, 1);
  assert_null(vyre_module_seal(m, NULL));
  check_rows(m, first.id, last.id);
  for (uint32_t row = first.id; row < last.id; row++) {
    assert_null(vyre_row_name(m, row_of(row)));
    assert_false(vyre_row_line(m, row_of(row), &(vyre_string){0}, &(uint32_t){0}, &(uint32_t){0}));
  }
  assert_string_equal(vyre_row_name(m, last), "last");
  const uint32_t *hashes = vyre_module_open_column(m, VYRE_HASHES);
  for (uint32_t row = 0; row <= last.id; row++)
    assert_int_equal(hashes[row], 0);
  vyre_module_destroy(m);
}

/* Returns the bytes of address space of this process. */
static size_t
address_space(void)
{
  unsigned long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  assert_non_null(file);
  assert_int_equal(fscanf(file, "%lu", &pages), 1);
  fclose(file);
  return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* At most four spaces of destroyed modules are kept, and none of which much was used. */
TEST(little_memory_of_destroyed_modules_is_kept)
{
  enum { MODULES = 12, LARGE = 100000 };
  skip_without_kept_memory();
  const size_t one = bytes_a_row() * (size_t)MEGA, before = address_space();
  vyre_module *modules[MODULES];
  for (uint32_t i = 0; i < MODULES; i++)
    modules[i] = new_module();
  const size_t full = address_space();
  assert_true(full >= before + (MODULES - 4) * one);
  for (uint32_t i = 0; i < MODULES; i++)
    vyre_module_destroy(modules[i]);
  const size_t kept = address_space();
  assert_in_range(full - kept, (MODULES - 4) * one, MODULES * one);
  vyre_builder b;
  vyre_module *large = new_module();
  vyre_build_program(large, "p", 0, 0, &b);
  add_rows(&b, build_value(&b), LARGE);
  vyre_module_destroy(large);
  assert_true(address_space() + one / 2 < kept);
}

/* Spaces of an unusual size are not kept permanently: the oldest space is replaced by the last one. */
TEST(the_last_memory_is_kept)
{
  enum { OTHERS = 6 };
  skip_without_kept_memory();
  for (uint32_t i = 0; i < OTHERS; i++) {
    vyre_module *m;
    assert_null(vyre_module_create(NULL, (MEGA >> 4) + (i + 1) * 4096, &m));
    const uint32_t *const op = vyre_module_view(m)->op;
    vyre_module_destroy(m);
    assert_null(vyre_module_create(NULL, (MEGA >> 4) + (i + 1) * 4096, &m));
    assert_ptr_equal(vyre_module_view(m)->op, op);
    vyre_module_destroy(m);
  }
}

/* Kept memory is released if address space is short. */
TEST(kept_memory_is_released_if_address_space_is_short)
{
  skip_without_kept_memory();
  vyre_module *modules[4], *m;
  for (uint32_t i = 0; i < 4; i++)
    modules[i] = new_module();
  for (uint32_t i = 0; i < 4; i++)
    vyre_module_destroy(modules[i]);
  struct rlimit old;
  assert_int_equal(getrlimit(RLIMIT_AS, &old), 0);
  const struct rlimit tight = {address_space() + (16 << 20), old.rlim_max};
  assert_int_equal(setrlimit(RLIMIT_AS, &tight), 0);
  vyre_status status = vyre_module_create(NULL, MEGA / 2, &m);
  assert_int_equal(setrlimit(RLIMIT_AS, &old), 0);
  assert_null(status);
  assert_true(vyre_module_reserved_bytes(m) >= bytes_a_row() * (size_t)MEGA / 2);
  vyre_module_destroy(m);
}

/* Allocates static memory for a forked process, in which the lock of a sanitizer's allocator may be held.  Nothing is freed. */
static void *
resize_static(void *user, void *memory, size_t old_size, size_t new_size)
{
  static _Alignas(max_align_t) char bytes[1 << 16];
  static size_t used;
  (void)user;
  char *fresh = bytes + used;
  used += (new_size + 15) & ~(size_t)15;
  if (new_size == 0 || used > sizeof bytes)
    return NULL;
  if (memory)
    memcpy(fresh, memory, old_size < new_size ? old_size : new_size);
  return fresh;
}

static void *
create_modules(void *user)
{
  atomic_bool *ends = user;
  while (!atomic_load(ends))
    vyre_module_destroy(new_module());
  return NULL;
}

/* A process that is forked while other threads create modules can create modules. */
TEST(a_forked_process_creates_modules)
{
  enum { FORKS = 400, SECONDS = 10, THREADS = 4 };
  pthread_t threads[THREADS];
  atomic_bool ends = false;
  vyre_allocator allocator = *vyre_allocator_default();
  allocator.resize = resize_static;
  for (uint32_t i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, create_modules, &ends), 0);
  for (uint32_t i = 0; i < FORKS; i++) {
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
      vyre_module *m;
      alarm(SECONDS);
      vyre_status status = vyre_module_create(&allocator, 0, &m);
      vyre_module_destroy(m);
      _exit(status != NULL);
    }
    int end;
    assert_int_equal(waitpid(child, &end, 0), child);
    assert_int_equal(end, 0);
  }
  atomic_store(&ends, true);
  for (uint32_t i = 0; i < THREADS; i++)
    assert_int_equal(pthread_join(threads[i], NULL), 0);
}
