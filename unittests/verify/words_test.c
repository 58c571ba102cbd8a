/* What the verifier says of opaque types, rows and variables that do not fit together.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "vyre/opaque.h"
#include "vyre/verify.h"

#define U32    VYRE_TYPE(VYRE_U32, 1)
#define F32    VYRE_TYPE(VYRE_F32, 1)
#define OPAQUE VYRE_TYPE(VYRE_OPAQUE, 1)

enum { OP_TYPE_POINTER = 32, OP_TYPE_SAMPLER = 26, OP_LOAD = 61, OP_STORE = 62, OP_SELECT = 169 };

typedef struct fixture {
  vyre_module *m;
  vyre_builder b;
  vyre_type_id pointer, sampler, load, store; /* load: of a u32 through an opaque pointer */
  vyre_row node, number;
} fixture;

static void
start(fixture *f)
{
  assert_null(vyre_module_create(NULL, 1000, &f->m));
  vyre_build_program(f->m, "p", VYRE_PROGRAM_RELAXED, vyre_module_add_input(f->m, "p"), &f->b);
  const vyre_member target[2] = {{.access = VYRE_WORD_LITERAL, .offset = 5349}, {.access = VYRE_WORD_TYPE, .type = U32}};
  f->pointer = vyre_type_words(f->m, OP_TYPE_POINTER, 0, VYRE_MODE_BARE, target, 2);
  f->sampler = vyre_type_words(f->m, OP_TYPE_SAMPLER, 0, VYRE_MODE_BARE, NULL, 0);
  const vyre_member values[2] = {{.access = VYRE_WORD_VALUE}, {.access = VYRE_WORD_VALUE}};
  f->load = vyre_type_words(f->m, OP_LOAD, U32, VYRE_MODE_BARE, values, 1);
  f->store = vyre_type_words(f->m, OP_STORE, 0, VYRE_MODE_BARE, values, 2);
  const vyre_row at = vyre_build_opaque_var(&f->b, f->pointer);
  f->node = vyre_build_get(&f->b, at);
  f->number = vyre_build(&f->b, VYRE_OP_lindex, U32, 0, 0, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
}

/* `part`: of a message that must be there; NULL: none may be. */
static void
end(fixture *f, const char *part)
{
  vyre_verify_errors errors = {0};
  bool found = false;
  assert_null(vyre_module_seal(f->m, NULL));
  vyre_status status = vyre_verify(f->m, &errors);
  for (uint32_t k = 0; part && k < errors.count; k++)
    found = found || strstr(errors.errors[k].message, part);
  if (part ? !found : status != VYRE_OK)
    fail_msg("%s: %s", part ? part : "nothing", errors.count ? errors.errors[0].message : "no error");
  vyre_status_free(status);
  vyre_verify_errors_free(&errors);
  vyre_module_destroy(f->m);
}

static vyre_row
load(fixture *f)
{
  return vyre_build_opaque(&f->b, VYRE_OP_opaque_read, f->load, &f->node, 1, 0);
}

static void
set_payload(fixture *f, vyre_row row, uint32_t imm, uint32_t imm_hi)
{
  const vyre_view *v = vyre_module_view(f->m);
  vyre_row_rewrite(f->m, row, v->op[row.id], imm, imm_hi, (vyre_row){v->a[row.id]}, (vyre_row){v->b[row.id]},
                   (vyre_row){v->c[row.id]});
}

TEST(rows_are_what_their_words_say)
{
  fixture f;
  start(&f);
  const vyre_row both[2] = {f.node, load(&f)};
  vyre_build_opaque(&f.b, VYRE_OP_opaque_write, f.store, both, 2, 0);
  end(&f, NULL);
  start(&f);
  set_payload(&f, load(&f), U32, 0);
  end(&f, "as its instruction, which is none");
  start(&f);
  const vyre_row row = vyre_build_opaque(&f.b, VYRE_OP_opaque_write, f.store, (const vyre_row[2]){f.node, f.number}, 2, 0);
  set_payload(&f, row, f.store, 1);
  end(&f, "has imm_hi 0x1, which means nothing there");
  start(&f);
  vyre_build_opaque(&f.b, VYRE_OP_opaque_write, f.store, &f.node, 1, 0);
  end(&f, "has 1 operands, but its instruction takes 2");
  start(&f);
  vyre_build_opaque(&f.b, VYRE_OP_opaque_read, f.load, (const vyre_row[2]){f.node, f.number}, 2, 0);
  end(&f, "has 2 operands, but its instruction takes 1");
  start(&f);
  vyre_build(&f.b, VYRE_OP_opaque_write, 0, 0, f.store, 0, VYRE_NONE, f.number, VYRE_NONE);
  end(&f, "has no operand 0, but later ones");
  start(&f);
  vyre_build(&f.b, VYRE_OP_opaque_read, F32, 0, f.load, 0, f.node, VYRE_NONE, VYRE_NONE);
  end(&f, "has type f32, but its instruction's result is u32");
  start(&f);
  vyre_build(&f.b, VYRE_OP_opaque, F32, 0, vyre_type_words(f.m, 65000, 0, VYRE_MODE_BARE, NULL, 0), 0, VYRE_NONE, VYRE_NONE,
             VYRE_NONE);
  end(&f, "has type f32, but its instruction's result is no type");
}

/* Returns a buffer of handles, and its handle. */
static vyre_row
handle(fixture *f, vyre_type_id type, vyre_row *out_buffer)
{
  *out_buffer = vyre_build_buffer(&f->b, type, VYRE_SPACE_HANDLE, 0, 0, 0);
  return vyre_build(&f->b, VYRE_OP_load, OPAQUE, 0, 0, 0, *out_buffer, VYRE_NONE, VYRE_NONE);
}

TEST(handles_have_their_own_memory)
{
  fixture f;
  vyre_row buffer;
  start(&f);
  const vyre_row value = handle(&f, f.sampler, &buffer);
  vyre_build_store(&f.b, buffer, value, 0);
  end(&f, "which holds handles");
  start(&f);
  vyre_build_buffer(&f.b, F32, VYRE_SPACE_HANDLE, 0, 0, 0);
  end(&f, "handle space holds opaque types and arrays of them");
}

TEST(composites_are_of_their_parts)
{
  for (uint32_t wrong = 0; wrong < 2; wrong++) {
    fixture f;
    start(&f);
    const vyre_member members[2] = {{0, F32, VYRE_OFFSET_AUTO, 0}, {0, U32, VYRE_OFFSET_AUTO, 0}};
    const vyre_type_id pair = vyre_type_struct(f.m, vyre_string_intern(f.m, "Pair", 4), members, 2, 0);
    const vyre_member word = {.access = VYRE_WORD_VALUE, .type = pair};
    const vyre_type_id words = vyre_type_words(f.m, OP_SELECT, U32, VYRE_MODE_BARE, &word, 1);
    const vyre_row one = vyre_build_const(&f.b, F32, 0x3f800000);
    const vyre_row parts[2] = {wrong ? f.number : one, f.number};
    vyre_build_opaque(&f.b, VYRE_OP_opaque, words, parts, 2, 0);
    end(&f, wrong ? "which does not fit there" : NULL);
  }
}

TEST(variables_hold_one_opaque_type)
{
  fixture f;
  start(&f);
  vyre_build_opaque_var(&f.b, U32);
  end(&f, "as that of its values, which is no opaque type");
  start(&f);
  vyre_build(&f.b, VYRE_OP_var, OPAQUE, 0, 0, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  end(&f, "which is no opaque type");
  start(&f);
  vyre_row buffer;
  vyre_build_set(&f.b, vyre_build_opaque_var(&f.b, f.sampler), handle(&f, f.pointer, &buffer));
  end(&f, "whose opaque type is another");
  start(&f);
  set_payload(&f, vyre_build_var(&f.b, U32), f.pointer, 0);
  end(&f, "as that of its values, which is no opaque one's");
  start(&f);
  set_payload(&f, vyre_build_var(&f.b, U32), 0, 3);
  end(&f, "has imm_hi 0x3, which means nothing there");
}

/* A damaged row is told once, and not followed by those that use it. */
TEST(loads_from_nowhere_are_not_followed)
{
  fixture f;
  start(&f);
  vyre_row buffer;
  vyre_build_set(&f.b, vyre_build_opaque_var(&f.b, f.pointer), handle(&f, f.pointer, &buffer));
  assert_null(vyre_module_seal(f.m, NULL));
  const vyre_view *v = vyre_module_view(f.m);
  uint32_t load = v->rows - 1;
  while (VYRE_ROW_OP(v->op[load]) != VYRE_OP_load)
    load--;
  ((uint32_t *)v->a)[load] = 0x7f000000;
  vyre_verify_errors errors = {0};
  vyre_status status = vyre_verify(f.m, &errors);
  assert_non_null(status);
  assert_int_equal(errors.count, 1);
  vyre_status_free(status);
  vyre_verify_errors_free(&errors);
  vyre_module_destroy(f.m);
}

TEST(words_are_an_instruction_s)
{
  static const vyre_member wrong[] = {
      {.access = VYRE_WORD_LENGTH, .type = U32},
      {.access = VYRE_WORD_LENGTH, .type = 256}, /* no array */
      {.access = VYRE_WORD__COUNT},
      {.access = VYRE_WORD_LITERAL, .type = U32},
      {.access = VYRE_WORD_TYPE, .type = U32, .offset = VYRE_MODE_BLOCK + 1},
      {.access = VYRE_WORD_TYPE, .type = 255},
      {.access = VYRE_WORD_TYPE, .offset = VYRE_MODE_BLOCK}, /* void has no layout */
      {.access = VYRE_WORD_CONSTANT, .type = VYRE_TYPE(VYRE_U32, 2)},
  };
  for (uint32_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
    fixture f;
    start(&f);
    vyre_type_words(f.m, OP_TYPE_POINTER, 0, VYRE_MODE_BARE, &wrong[k], 1);
    end(&f, "its words are no instruction's");
  }
  static const vyre_member of_none[] = {
      {.access = VYRE_WORD_LITERAL}, {.access = VYRE_WORD_TYPE, .type = U32}, {.access = VYRE_WORD_STRIDE}};
  static const vyre_member of_two[] = {
      {.access = VYRE_WORD_LITERAL}, {.access = VYRE_WORD_STRIDE, .offset = 4}, {.access = VYRE_WORD_TYPE, .type = U32}};
  static const vyre_member *const misplaced[] = {of_none, of_two};
  for (uint32_t k = 0; k < 2; k++) {
    fixture f;
    start(&f);
    vyre_type_words(f.m, OP_TYPE_POINTER, 0, VYRE_MODE_BARE, misplaced[k], 3);
    end(&f, "its words are no instruction's");
  }
  fixture f;
  start(&f);
  vyre_type_words(f.m, 0x10000, 0, VYRE_MODE_BARE, NULL, 0);
  end(&f, "its words are no instruction's");
}
