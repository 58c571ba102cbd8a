/* Buffers: sizes, the pool, many at once, and memory of the caller.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "bundle.h"
#include "conformance.h"

CONFORM(invalid_sizes_are_refused, NEEDS_ITS_OWN)
{
  vyre_device_buffer buffer = {7};
  refused(c, c->ops->allocate(c->target, 0, &buffer), VYRE_CODE_INPUT, "0 bytes");
  assert_int_equal(buffer.id, 0);
  if (c->info.max_buffer < UINT64_MAX)
    refused(c, c->ops->allocate(c->target, c->info.max_buffer + 1, &buffer), VYRE_CODE_INPUT, "at most");
  refused(c, c->ops->allocate(c->target, UINT64_MAX, &buffer), VYRE_CODE_INPUT, "buffer");
  assert_int_equal(buffer.id, 0);
  assert_int_equal(metric(c, "buffers_live"), 0);
  assert_int_equal(metric(c, "bytes_live"), 0);
}

CONFORM(buffers_of_any_size_keep_their_bytes, 0)
{
  static const uint64_t sizes[] = {1, 2, 3, 4, 5, 7, 63, 64, 65, 4095, 100003};
  for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    unsigned char *bytes = malloc(sizes[i]), *back = calloc(1, sizes[i] + 1);
    for (uint64_t k = 0; k < sizes[i]; k++)
      bytes[k] = (unsigned char)(k * 7 + i);
    vyre_device_buffer buffer = buffer_of(c, sizes[i]);
    assert_ok(vyre_target_write(c->ops, c->target, buffer, 0, sizes[i], bytes));
    assert_ok(vyre_target_read(c->ops, c->target, buffer, 0, 0, back));
    assert_memory_equal(bytes, back, sizes[i]);
    assert_int_equal(back[sizes[i]], 0);
    assert_ok(c->ops->free(c->target, buffer));
    free(bytes);
    free(back);
  }
}

/* Counters of memory. */
typedef struct figures {
  uint64_t allocations, reuses, buffers_live, bytes_live, buffers_pooled, bytes_pooled;
} figures;

static void
expect(const conform *c, figures is)
{
  assert_int_equal(metric(c, "allocations"), is.allocations);
  assert_int_equal(metric(c, "reuses"), is.reuses);
  assert_int_equal(metric(c, "buffers_live"), is.buffers_live);
  assert_int_equal(metric(c, "bytes_live"), is.bytes_live);
  assert_int_equal(metric(c, "buffers_pooled"), is.buffers_pooled);
  assert_int_equal(metric(c, "bytes_pooled"), is.bytes_pooled);
}

CONFORM(freed_buffers_are_reused_for_the_same_size, NEEDS_ITS_OWN)
{
  expect(c, (figures){0});
  const vyre_device_buffer a = buffer_of(c, 64), b = buffer_of(c, 64);
  expect(c, (figures){2, 0, 2, 128, 0, 0});
  assert_ok(c->ops->free(c->target, a));
  expect(c, (figures){2, 0, 1, 64, 1, 64});
  const vyre_device_buffer smaller = buffer_of(c, 60);
  expect(c, (figures){3, 0, 2, 124, 1, 64});
  const vyre_device_buffer again = buffer_of(c, 64);
  expect(c, (figures){3, 1, 3, 188, 0, 0});
  assert_int_not_equal(again.id, a.id); /* the old handle stays stale */
  refused(c, c->ops->free(c->target, a), VYRE_CODE_INPUT, "not a buffer of this target");
  assert_ok(c->ops->free(c->target, b));
  assert_ok(c->ops->free(c->target, smaller));
  assert_ok(c->ops->free(c->target, again));
  expect(c, (figures){3, 1, 0, 0, 3, 188});
}

CONFORM(allocate_many_allocates_all_or_none, NEEDS_ITS_OWN)
{
  const uint64_t good[] = {4, 8, 12}, bad[] = {4, 8, 0};
  vyre_device_buffer out[3] = {{1}, {2}, {3}};
  refused(c, c->ops->allocate_many(c->target, bad, 3, out), VYRE_CODE_INPUT, "0 bytes");
  for (uint32_t i = 0; i < 3; i++)
    assert_int_equal(out[i].id, 0);
  expect(c, (figures){2, 0, 0, 0, 2, 12}); /* the allocated buffers are in the pool */
  assert_ok(c->ops->allocate_many(c->target, good, 3, out));
  expect(c, (figures){3, 2, 3, 24, 0, 0});
  for (uint32_t i = 0; i < 3; i++)
    for (uint32_t k = 0; k < i; k++)
      assert_int_not_equal(out[i].id, out[k].id);
  assert_ok(c->ops->free_many(c->target, out, 3));
  expect(c, (figures){3, 2, 0, 0, 3, 24});
  assert_ok(c->ops->allocate_many(c->target, good, 0, out));
  assert_ok(c->ops->free_many(c->target, out, 0));
}

CONFORM(free_many_frees_all_valid_buffers, NEEDS_ITS_OWN)
{
  const uint64_t sizes[] = {4, 8, 12};
  vyre_device_buffer out[3];
  assert_ok(c->ops->allocate_many(c->target, sizes, 3, out));
  assert_ok(c->ops->free(c->target, out[1]));
  refused(c, c->ops->free_many(c->target, out, 3), VYRE_CODE_INPUT, "not a buffer of this target");
  expect(c, (figures){3, 0, 0, 0, 3, 24});
}

CONFORM(the_callers_memory_is_a_buffer, NEEDS_ITS_OWN | VYRE_TARGET_IMPORT)
{
  static _Alignas(4096) uint32_t words[4096];
  uint32_t back[4096];
  vyre_device_buffer buffer;
  refused(c, c->ops->import(c->target, words, 0, &buffer), VYRE_CODE_INPUT, "0 bytes");
  refused(c, c->ops->import(c->target, NULL, 64, &buffer), VYRE_CODE_INPUT, "over memory at NULL");
  for (uint32_t apart = c->info.storage_align / 2; apart; apart /= 2)
    refused(c, c->ops->import(c->target, (char *)words + apart, 64, &buffer), VYRE_CODE_INPUT, "Fix: align the memory");
  for (uint32_t i = 0; i < 4096; i++)
    words[i] = i * 3;
  assert_ok(c->ops->import(c->target, words, sizeof words, &buffer));
  read_words(c, buffer, back, 4096);
  assert_memory_equal(words, back, sizeof words);
  const vyre_fill fill = {words_of(buffer, 16, 4), 0x11223344};
  submit(c, (vyre_sequence){FILLS(&fill, 1)});
  for (uint32_t i = 0; i < 4096; i++)
    assert_int_equal(words[i], i >= 16 && i < 20 ? 0x11223344 : i * 3);
  assert_ok(c->ops->free(c->target, buffer));
  assert_int_equal(words[16], 0x11223344);
  assert_int_equal(metric(c, "buffers_pooled"), 0); /* imported memory is never pooled */
}

CONFORM(buffers_have_addresses, VYRE_TARGET_ADDRESSES)
{
  uint64_t a = 0, b = 0;
  const vyre_device_buffer first = buffer_of(c, 64), second = buffer_of(c, 64);
  assert_ok(c->ops->address(c->target, first, &a));
  assert_ok(c->ops->address(c->target, second, &b));
  assert_true(a && b && (a + 64 <= b || b + 64 <= a));
  refused(c, c->ops->address(c->target, (vyre_device_buffer){0}, &a), VYRE_CODE_INPUT, "not a buffer of this target");
}

/* A target without a capability has no function for it, or a function that returns an error. */
CONFORM(missing_capabilities_are_refused, 0)
{
  uint32_t words[64];
  vyre_device_buffer buffer;
  if (!(c->info.capabilities & VYRE_TARGET_ADDRESSES))
    assert_null(c->ops->address);
  if (!(c->info.capabilities & VYRE_TARGET_IMPORT) && c->ops->import)
    refused(c, c->ops->import(c->target, words, sizeof words, &buffer), VYRE_CODE_INPUT, "cannot use memory of the caller");
}

/* ---- close --------------------------------------------------------------------------------------------------------------- */

static size_t bytes_out; /* bytes in use of the counting allocator */

static void *
resize_counted(void *user, void *memory, size_t old_size, size_t new_size)
{
  void *now = vyre_allocator_default()->resize(user, memory, old_size, new_size);
  if (now || new_size == 0)
    bytes_out += new_size - old_size;
  return now;
}

CONFORM(close_frees_everything, 0)
{
  vyre_allocator allocator = *vyre_allocator_default();
  allocator.resize = resize_counted;
  const vyre_static part = {"kept", 4};
  vyre_device_buffer buffer, set;
  vyre_ticket ticket;
  vyre_target *target;
  const vyre_target_options options = {.struct_size = sizeof options, .library = test_library(CONFORM_LIBRARY)};
  assert_ok(c->ops->open(&options, &allocator, &target));
  assert_true(bytes_out != 0);
  assert_ok(c->ops->allocate(target, 100, &buffer));
  assert_ok(c->ops->keep(target, 1, &part, 1, &set, NULL));
  const vyre_fill fill = {whole(buffer), 1};
  assert_ok(c->ops->begin(target, &(vyre_sequence){FILLS(&fill, 1)}, &ticket));
  assert_ok(c->ops->close(target));
  assert_int_equal(bytes_out, 0);
  assert_ok(c->ops->close(NULL));
}
