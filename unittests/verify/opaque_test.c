/* Opaque rows: the states that they see and make, and what the verifier says of words and operands that do not fit together.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "scene.h"

#include "vyre/opaque.h"

#define IMAGE_BARRIER VYRE_ORDER(2, 2, 0x808)

enum { TYPE_IMAGE = 25, TYPE_POINTER = 32, LOAD = 61, STORE = 62, IMAGE_READ = 98, IMAGE_WRITE = 99, UNKNOWN = 65000 };

static vyre_type_id
words(scene *k, uint32_t opcode, vyre_type_id result, uint32_t values)
{
  const vyre_member value = {.access = VYRE_WORD_VALUE}, list[4] = {value, value, value, value};
  return vyre_type_words(k->x.m, opcode, result, VYRE_MODE_BARE, list, values);
}

static vyre_row
image(scene *k, uint32_t binding, uint32_t access)
{
  const vyre_member format = {.access = VYRE_WORD_LITERAL, .offset = 4};
  const vyre_type_id type = vyre_type_words(k->x.m, TYPE_IMAGE, 0, VYRE_MODE_BARE, &format, 1);
  return vyre_build_buffer(&k->x.b, type, VYRE_SPACE_HANDLE, access, 3, binding);
}

static vyre_row
handle(scene *k, vyre_row buffer)
{
  return expect(k, vyre_build(&k->x.b, VYRE_OP_load, VYRE_TYPE(VYRE_OPAQUE, 1), 0, 0, 0, buffer, NONE, NONE), buffer);
}

static vyre_row
opaque(scene *k, vyre_opcode op, uint32_t opcode, vyre_type_id result, vyre_row a, vyre_row b)
{
  const vyre_row operands[2] = {a, b};
  const uint32_t count = b.id ? 2 : a.id ? 1 : 0;
  return vyre_build_opaque(&k->x.b, op, words(k, opcode, result, count), operands, count, 0);
}

static void
read(scene *k, vyre_row image_row, vyre_row seen)
{
  expect(k, opaque(k, VYRE_OP_opaque_read, IMAGE_READ, F32, image_row, NONE), seen);
}

TEST(an_image_has_a_state_of_its_own)
{
  scene k;
  (void)state;
  start(&k);
  vyre_row one = image(&k, 0, 0), other = image(&k, 1, 0);
  vyre_row x = handle(&k, one), y = handle(&k, other);
  read(&k, x, one);
  vyre_row w = opaque(&k, VYRE_OP_opaque_write, IMAGE_WRITE, 0, x, k.five);
  read(&k, x, w);
  read(&k, y, other);
  load(&k, k.x.out, k.x.out);
  store(&k, k.x.out);
  read(&k, x, w);
  handle(&k, one); /* a handle does not change */
  vyre_row barrier = vyre_build_barrier(&k.x.b, IMAGE_BARRIER);
  read(&k, y, barrier);
  load(&k, k.x.in, k.x.in);
  finish(&k);
}

/* What is not known writes all memory, but no vars; a read through a pointer sees all writes. */
TEST(what_is_not_known_touches_all_memory)
{
  scene k;
  (void)state;
  start(&k);
  vyre_row one = image(&k, 0, 0);
  vyre_row x = handle(&k, one);
  get(&k, k.s, k.s);
  vyre_row all = opaque(&k, VYRE_OP_opaque, UNKNOWN, 0, k.five, NONE);
  read(&k, x, all);
  load(&k, k.x.out, all);
  get(&k, k.s, k.s);
  const vyre_member literal_word = {.access = VYRE_WORD_LITERAL, .offset = 5349};
  const vyre_type_id type = vyre_type_words(k.x.m, TYPE_POINTER, 0, VYRE_MODE_BARE, &literal_word, 1);
  vyre_row pointer = opaque(&k, VYRE_OP_opaque_pure, 117, type, k.five, NONE);
  vyre_row far = opaque(&k, VYRE_OP_opaque_read, LOAD, F32, pointer, NONE);
  expect(&k, far, all);
  vyre_row w = store(&k, k.x.out);
  expect(&k, opaque(&k, VYRE_OP_opaque_read, LOAD, F32, pointer, NONE), w);
  w = opaque(&k, VYRE_OP_opaque_write, STORE, 0, pointer, k.five);
  load(&k, k.x.out, w);
  read(&k, x, w);
  w = opaque(&k, VYRE_OP_opaque_write, IMAGE_WRITE, 0, x, k.five);
  expect(&k, opaque(&k, VYRE_OP_opaque_read, LOAD, F32, pointer, NONE), w);
  finish(&k);
}

/* Others write to a coherent image meanwhile: each read is a state of its own. */
TEST(reads_of_a_coherent_image_differ)
{
  scene k;
  (void)state;
  start(&k);
  vyre_row one = image(&k, 0, VYRE_ACCESS_COHERENT);
  vyre_row x = handle(&k, one);
  vyre_row first = opaque(&k, VYRE_OP_opaque_read, IMAGE_READ, F32, x, NONE);
  expect(&k, first, one);
  read(&k, x, first);
  finish(&k);
}

static void
refused(scene *k, const char *part)
{
  vyre_verify_errors errors = {0};
  vyre_status status = vyre_verify(k->x.m, &errors);
  bool said = false;
  for (uint32_t i = 0; i < errors.count; i++)
    said = said || strstr(errors.errors[i].message, part);
  if (!said)
    print_message("'%s' is not in: %s\n", part, vyre_status_text(status));
  assert_true(said);
  vyre_status_free(status);
  vyre_verify_errors_free(&errors);
  fixture_close(&k->x);
}

TEST(what_does_not_fit_is_refused)
{
  scene k;
  (void)state;
  start(&k);
  vyre_build_opaque(&k.x.b, VYRE_OP_opaque, words(&k, UNKNOWN, 0, 2), &k.five, 1, 0);
  refused(&k, "has 1 operands, but its instruction takes 2");
  start(&k);
  vyre_build(&k.x.b, VYRE_OP_opaque, F32, 0, words(&k, UNKNOWN, 0, 0), 0, NONE, NONE, NONE);
  refused(&k, "has type f32, but its instruction's result is no type");
  start(&k);
  vyre_build(&k.x.b, VYRE_OP_opaque, 0, 0, 7, 0, NONE, NONE, NONE);
  refused(&k, "has type 7 as its instruction, which is none");
  start(&k);
  vyre_build_store(&k.x.b, image(&k, 0, 0), handle(&k, image(&k, 1, 0)), 0);
  refused(&k, "which holds handles");
  start(&k);
  vyre_build_buffer(&k.x.b, F32, VYRE_SPACE_HANDLE, 0, 0, 0);
  refused(&k, "handle space holds opaque types and arrays of them");
  start(&k);
  vyre_build(&k.x.b, VYRE_OP_var, VYRE_TYPE(VYRE_OPAQUE, 1), 0, 0, 0, NONE, NONE, NONE);
  refused(&k, "which is no opaque type");
  start(&k);
  const vyre_type_id type = words(&k, TYPE_IMAGE, 0, 0);
  vyre_build_set(&k.x.b, vyre_build_opaque_var(&k.x.b, type), handle(&k, image(&k, 1, 0)));
  refused(&k, "whose opaque type is another");
  start(&k);
  const vyre_member bad = {.access = VYRE_WORD_TYPE, .type = 1000};
  vyre_type_words(k.x.m, UNKNOWN, 0, VYRE_MODE_BARE, &bad, 1);
  refused(&k, "its words are no instruction's");
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_image_has_a_state_of_its_own),
      cmocka_unit_test(what_is_not_known_touches_all_memory),
      cmocka_unit_test(reads_of_a_coherent_image_differ),
      cmocka_unit_test(what_does_not_fit_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
