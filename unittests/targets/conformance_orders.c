/* Fills, uploads and reads of a sequence, and their order.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "conformance.h"

/* Fills buffers of 3 and 2 bytes, and uploads one of 2 bytes. */
CONFORM(fills_and_uploads_may_have_any_size, 0)
{
  const vyre_range three = whole(buffer_of(c, 3)), two = whole(buffer_of(c, 2)), up = whole(buffer_of(c, 2));
  const vyre_fill fills[] = {{three, 0x11111111}, {two, 0x22222222}};
  const unsigned char bytes[] = {0xa5, 0x5a};
  const vyre_upload upload = {up, bytes};
  unsigned char out[3][4];
  const vyre_read reads[] = {{three, out[0]}, {two, out[1]}, {up, out[2]}};
  const vyre_sequence sequence = (vyre_sequence){FILLS(fills, 2), UPLOADS(&upload, 1), READS(reads, 3)};
  memset(out, 0xee, sizeof out);
  const vyre_timing timing = submit(c, sequence);
  assert_memory_equal(out[0], "\x11\x11\x11\xee", 4);
  assert_memory_equal(out[1], "\x22\x22\xee\xee", 4);
  assert_memory_equal(out[2], "\xa5\x5a\xee\xee", 4);
  assert_int_equal(timing.bytes_filled, 5);
  assert_int_equal(timing.bytes_up, 2);
  assert_int_equal(timing.bytes_down, 7);
  assert_int_equal(timing.waits, 1);
  assert_int_equal(timing.launches, 0);
}

/* A later fill or upload overwrites an earlier one.  Uploads follow all fills, and reads follow all uploads. */
CONFORM(the_later_entry_wins, 0)
{
  const uint32_t first[4] = {1, 2, 3, 4}, second[2] = {8, 9};
  const vyre_device_buffer buffer = buffer_of(c, 32);
  const vyre_fill fills[] = {{whole(buffer), 5}, {words_of(buffer, 4, 2), 6}, {words_of(buffer, 5, 3), 7}};
  const vyre_upload uploads[] = {{words_of(buffer, 0, 4), first}, {words_of(buffer, 1, 2), second}};
  static const uint32_t wanted[8] = {1, 8, 9, 4, 6, 7, 7, 7};
  uint32_t out[8], part[2];
  const vyre_read reads[] = {{whole(buffer), out}, {words_of(buffer, 3, 2), part}};
  submit(c, (vyre_sequence){FILLS(fills, 3), UPLOADS(uploads, 2), READS(reads, 2)});
  assert_memory_equal(out, wanted, sizeof wanted);
  assert_memory_equal(part, wanted + 3, sizeof part);
}

CONFORM(a_fill_repeats_its_word, 0)
{
  const vyre_device_buffer buffer = buffer_of(c, 15);
  const vyre_fill fills[] = {{whole(buffer), 0}, {{buffer, 4, 0}, 0x04030201}};
  static const unsigned char wanted[15] = {0, 0, 0, 0, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3};
  unsigned char out[15];
  const vyre_read read = {whole(buffer), out};
  submit(c, (vyre_sequence){FILLS(fills, 2), READS(&read, 1)});
  assert_memory_equal(out, wanted, sizeof wanted);
}

/* Fills of zeros and of other words upload nothing. */
CONFORM(a_fill_uploads_nothing, 0)
{
  const vyre_device_buffer buffer = buffer_of(c, 64);
  static const uint32_t words[] = {0, 0xa5a5a5a5};
  uint32_t out[16];
  const vyre_read read = {whole(buffer), out};
  memset(out, 0xff, sizeof out);
  assert_ok(vyre_target_write(c->ops, c->target, buffer, 0, 0, out));
  for (uint32_t i = 0; i < 2; i++) {
    const vyre_fill fill = {whole(buffer), words[i]};
    const vyre_timing timing = submit(c, (vyre_sequence){FILLS(&fill, 1), READS(&read, 1)});
    assert_int_equal(timing.bytes_up, 0);
    assert_int_equal(timing.bytes_filled, 64);
    assert_int_equal(timing.waits, 1);
    for (uint32_t k = 0; k < 16; k++)
      assert_int_equal(out[k], words[i]);
  }
}

/* Each read returns the bytes of its range and no others. */
CONFORM(reads_return_their_ranges, 0)
{
  unsigned char ramps[2][32], out[3][8];
  vyre_device_buffer buffers[2];
  for (uint32_t i = 0; i < 2; i++) {
    for (uint32_t k = 0; k < 32; k++)
      ramps[i][k] = (unsigned char)(i * 100 + k);
    buffers[i] = buffer_of(c, 32);
    assert_ok(vyre_target_write(c->ops, c->target, buffers[i], 0, 0, ramps[i]));
  }
  const vyre_read reads[] = {{{buffers[0], 4, 4}, out[0]}, {{buffers[1], 2, 3}, out[1]}, {{buffers[0], 12, 5}, out[2]}};
  memset(out, 0xee, sizeof out);
  const vyre_timing timing = submit(c, (vyre_sequence){READS(reads, 3)});
  assert_memory_equal(out[0], "\x04\x05\x06\x07\xee\xee\xee\xee", 8);
  assert_memory_equal(out[1], "\x66\x67\x68\xee\xee\xee\xee\xee", 8);
  assert_memory_equal(out[2], "\x0c\x0d\x0e\x0f\x10\xee\xee\xee", 8);
  assert_int_equal(timing.waits, 1);
  assert_int_equal(timing.bytes_down, 12);
  assert_int_equal(timing.bytes_up, 0);
}

CONFORM(thousands_of_reads_cost_one_wait, 0)
{
  enum { RANGES = 2048, BUFFERS = 8, BYTES = 64 };
  static unsigned char contents[BUFFERS][BYTES], out[RANGES][17];
  static vyre_read reads[RANGES];
  vyre_device_buffer buffers[BUFFERS];
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < BUFFERS; i++) {
    for (uint32_t k = 0; k < BYTES; k++)
      contents[i][k] = (unsigned char)(i * 31 + k * 7);
    buffers[i] = buffer_of(c, BYTES);
    assert_ok(vyre_target_write(c->ops, c->target, buffers[i], 0, 0, contents[i]));
  }
  memset(out, 0xee, sizeof out);
  for (uint32_t i = 0; i < RANGES; i++) {
    reads[i] = (vyre_read){{buffers[(5 * i + i / 11) % BUFFERS], 7 * i % 48, i % 16 + 1}, out[i]};
    bytes += reads[i].range.size;
  }
  const vyre_timing timing = submit(c, (vyre_sequence){READS(reads, RANGES)});
  for (uint32_t i = 0; i < RANGES; i++) {
    assert_memory_equal(out[i], contents[(5 * i + i / 11) % BUFFERS] + 7 * i % 48, i % 16 + 1);
    assert_int_equal(out[i][i % 16 + 1], 0xee);
  }
  assert_int_equal(timing.waits, 1);
  assert_int_equal(timing.bytes_down, bytes);
}

/* Ranges overlap and have odd offsets. */
CONFORM(uploads_go_to_their_ranges, 0)
{
  const vyre_device_buffer buffer = buffer_of(c, 16);
  const vyre_fill fill = {whole(buffer), 0};
  const vyre_upload uploads[] = {{{buffer, 1, 5}, "ABCDE"}, {{buffer, 3, 2}, "xy"}, {{buffer, 13, 0}, "end"}};
  unsigned char out[16];
  const vyre_read read = {whole(buffer), out};
  submit(c, (vyre_sequence){FILLS(&fill, 1), UPLOADS(uploads, 3), READS(&read, 1)});
  assert_memory_equal(out, "\0ABxyE\0\0\0\0\0\0\0end", 16);
}
