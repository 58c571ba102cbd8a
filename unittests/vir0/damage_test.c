/* A damaged file is refused with message and position.  A damaged file with right hashes is refused or results in a valid module.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../budget.h"
#include "sample.h"

static vyre_module *target;

static int
make_target(void **state)
{
  (void)state;
  target = new_module();
  return 0;
}

static int
free_target(void **state)
{
  (void)state;
  vyre_module_destroy(target);
  return 0;
}

/* Returns whether the file is refused as input, with a Fix line or by the verifier.  The module is then empty. */
static bool
refused(const char *data, size_t size)
{
  vyre_module_clear(target);
  vyre_status status = vyre_vir0_read(target, data, size, "f", NULL, 0);
  if (!status)
    return false;
  assert_error(status, VYRE_CODE_INPUT, strstr(vyre_status_text(status), "\nFix: ") ? "" : "while verifying 'f'");
  assert_int_equal(target->view.rows, 1);
  assert_null(vyre_module_status(target));
  return true;
}

/* Calls refused() on a copy of exactly that size, so that sanitizers find reads beyond it. */
static bool
refused_copy(const char *data, size_t size)
{
  char *copy = malloc(size ? size : 1);
  assert_non_null(copy);
  memcpy(copy, data, size);
  bool is = refused(copy, size);
  free(copy);
  return is;
}

static vyre_bytes
small_file(void)
{
  vyre_module *m = parse("program @p {\n  buffer %x : u32[4] storage rw set(0) binding(0)\n  store %x[0], 1u32\n}\n");
  vyre_bytes file = sample_write(m);
  vyre_module_destroy(m);
  return file;
}

TEST(every_changed_byte_is_found)
{
  vyre_bytes file = small_file();
  assert_false(refused(file.data, file.size));
  for (size_t at = 0; at < file.size; at += budget_step()) {
    static const unsigned char bits[] = {0xff, 1, 0x80};
    for (int i = 0; i < 3; i++) {
      file.data[at] = (char)(file.data[at] ^ (char)bits[i]);
      if (!refused(file.data, file.size))
        fail_msg("byte %zu changed by 0x%x is accepted", at, bits[i]);
      file.data[at] = (char)(file.data[at] ^ (char)bits[i]);
    }
  }
  for (size_t size = 0; size < file.size; size += budget_step())
    if (!refused_copy(file.data, size))
      fail_msg("the first %zu bytes are accepted", size);
  assert_null(vyre_bytes_append(&file, "\0\0\0\0", 4));
  assert_true(refused(file.data, file.size));
  vyre_bytes_free(&file);
}

/* Asserts that a module that was read can be printed, and written and read again. */
static void
use_target(void)
{
  vyre_bytes text = {0}, words = {0}, file = sample_write(target);
  vyre_module *again = sample_read(&file);
  sample_compare(target, again);
  assert_null(vyre_text_print(target, NULL, &text));
  for (uint32_t i = 0; i < vyre_module_input_count(target); i++)
    vyre_status_free(vyre_spirv_write(target, i, NULL, &words));
  vyre_module_destroy(again);
  vyre_bytes_free(&file);
  vyre_bytes_free(&text);
  vyre_bytes_free(&words);
}

static void
try_word(vyre_bytes *file, size_t at, uint32_t value, uint32_t *accepted)
{
  uint32_t before;
  memcpy(&before, file->data + at, 4);
  if (before == value)
    return;
  memcpy(file->data + at, &value, 4);
  sample_rehash(file);
  if (!refused(file->data, file->size)) {
    use_target();
    ++*accepted;
  }
  memcpy(file->data + at, &before, 4);
}

/* Sets every word of every section and of the section table to suspicious values, and corrects the hashes. */
TEST(damage_with_right_hashes_is_handled)
{
  vyre_module *m = sample_new();
  if (*state)
    sample_add_scopes(m);
  vyre_bytes file = sample_write(m);
  const uint32_t rows = m->view.rows;
  uint32_t accepted = 0;
  for (size_t at = 8; at + 4 <= file.size; at += 4 * budget_step()) {
    if (at == offsetof(vyre_vir0_header, sections))
      continue; /* the number of sections determines the size of the hashed part */
    uint32_t word;
    memcpy(&word, file.data + at, 4);
    const uint32_t values[] = {0,          1,           3,         255, rows - 1, rows, word + 1, word - 1, word ^ 0x80000000u,
                               UINT32_MAX, 0x7fffffffu, word + 256};
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
      try_word(&file, at, values[i], &accepted);
  }
  assert_true(accepted > 0); /* for example another name, line or binding */
  sample_rehash(&file);
  assert_false(refused(file.data, file.size));
  vyre_bytes_free(&file);
  vyre_module_destroy(m);
}
TEST_OF(damage_with_right_hashes_is_handled, target);

/* ---- messages -------- */

static vyre_vir0_section *
section_of(vyre_bytes *file, uint32_t kind)
{
  vyre_vir0_header *header = (vyre_vir0_header *)(void *)file->data;
  vyre_vir0_section *sections = (vyre_vir0_section *)(void *)(header + 1);
  for (uint32_t i = 0; i < header->sections; i++)
    if (sections[i].kind == kind)
      return &sections[i];
  fail_msg("no section %u", kind);
  return NULL;
}

static const struct {
  uint32_t kind, word, value; /* a word of a section */
  const char *message;
} damages[] = {
    {VYRE_VIR0_OP, 0, 1, "section 'op', entry 0 (byte 1792): row 0 must be empty, but has 0x1 there"},
    {VYRE_VIR0_OP, 2, 0xfff0, "while verifying 'f'"},
    {VYRE_VIR0_A, 5, 4000, "while verifying 'f'"},
    {VYRE_VIR0_PARENT, 2, 9, "section 'parent', entry 0"},
    {VYRE_VIR0_NEXT, 3, 2, "the links of rows do not put them in program order"},
    {VYRE_VIR0_NAME, 1, 2, "section 'name', entry 1"},
    {VYRE_VIR0_NAME, 1, 4000, "4000 is not a string"},
    {VYRE_VIR0_NAME, 0, 1, "section 'name', entry 0"},
    {VYRE_VIR0_PLACE, 2, 90 << 10, "there are 2 scopes"},
    {VYRE_VIR0_STRINGS, 0, 0x61616161, "section 'strings', entry 0 (byte 4480): a zero byte is missing"},
    {VYRE_VIR0_STRINGS, 1, 0, "a text is empty or duplicated"},
    {VYRE_VIR0_FILES, 0, 0, "section 'files', entry 0"},
    {VYRE_VIR0_FILES, 1, 12, "section 'files', entry"},
    {VYRE_VIR0_TYPES, 0, 0, "form 0 with flags 0x1 is invalid"},
    {VYRE_VIR0_TYPES, 1, 2, "form 1 with flags 0x2 is invalid"},
    {VYRE_VIR0_TYPES, 2, 256, "its element is type 256, which does not precede it"},
    {VYRE_VIR0_TYPES, 7, 4, "alignment 16 and size 4 should be 16 and 48"},
    {VYRE_VIR0_TYPES, 4, 1, "it has the lengths 3 and row 1"},
    {VYRE_VIR0_TYPES, 9 * 2 + 3, 4, "it has 4 members, but 3 are left"},
    {VYRE_VIR0_TYPES, 9 * 2 + 3, 2, "section 'members', entry 2"},
    {VYRE_VIR0_MEMBERS, 1, 300, "member 0 is of type 300, which does not precede it"},
    {VYRE_VIR0_MEMBERS, 0, 2, "section 'types', entry 2"},
    {VYRE_VIR0_INPUTS, 0, 2, "section 'inputs', entry 0"},
    {VYRE_VIR0_INPUTS, 4, 0xffffffff, "section 'input words', entry 20 (byte "},
    {VYRE_VIR0_INPUTS, 13, 4, "0x00020004 does not start a whole instruction"},
    {VYRE_VIR0_INPUT_WORDS, 2, 0x00ff000a, "0x00ff000a does not start a whole instruction"},
    {VYRE_VIR0_INPUT_WORDS, 5, 4, "0x00000004 does not start a whole instruction"},
    {VYRE_VIR0_PROGRAMS, 0, 2, "it is of input 2, but there are 2"},
    {VYRE_VIR0_PROGRAMS, 1, 2, "section 'programs', entry 0"},
    {VYRE_VIR0_PROGRAM_WORDS, 3, 0x00020010, "section 'program words', entry 3"},
    {VYRE_VIR0_BUFFERS, 11, 7, "it has initializer 7, but there are 2"},
    {VYRE_VIR0_INITIALIZERS, 0, 100, "it has 100 words, but 4 are left"},
    {VYRE_VIR0_INITIALIZERS, 0, 2, "section 'initializer words', entry 3"},
    {VYRE_VIR0_EXTRAS, 0, 0, "section 'extras', entry 0"},
    {VYRE_VIR0_EXTRAS, 0, 5000, "row 5000 after row 0"},
    {VYRE_VIR0_EXTRAS, 3, 0, "section 'programs', entry 1"},
    {VYRE_VIR0_EXTRAS, 7, 1, "the section of programs or buffers has no entry for row"},
    {VYRE_VIR0_EXTRAS, 2, 6, "section 'decoration words', entry 6 (byte 5656): it ends, but 6 more words are needed"},
    {VYRE_VIR0_OP, 2, VYRE_ROW(VYRE_OP_spec, U32, VYRE_ROW_DECO),
     "section 'op', entry 2 (byte 1800): it has the flag of decorations, but has no decorations"},
    {VYRE_VIR0_OP, 11, VYRE_ROW(VYRE_OP_load, F32, 0),
     "section 'op', entry 11 (byte 1836): it has decorations, but not their flag"},
    {VYRE_VIR0_DECORATION_WORDS, 1, 9, "section 'decoration words', entry 0"},
    {VYRE_VIR0_SCOPES, 10, 2, "a scope is duplicated, or precedes a scope that it names"},
    {VYRE_VIR0_SCOPES, 10, 9, "a scope is duplicated, or precedes a scope that it names"},
    {VYRE_VIR0_SCOPES, 45, 0, "a scope is duplicated, or precedes a scope that it names"},
    {VYRE_VIR0_SCOPES, 22, 3, "a scope is duplicated, or precedes a scope that it names"},
    {VYRE_VIR0_SCOPES, 42, 5, "a scope is duplicated, or precedes a scope that it names"},
    {VYRE_VIR0_SCOPES, 42, 9, "a scope is duplicated, or precedes a scope that it names"},
};

/* Asserts that the file is refused with the message. */
static void
assert_refused(const vyre_bytes *file, const char *message)
{
  vyre_module_clear(target);
  assert_error(vyre_vir0_read(target, file->data, file->size, "f", NULL, 0), VYRE_CODE_INPUT, message);
  assert_int_equal(target->view.rows, 1);
}

/* Changes one word of a file of the sample, and asserts that the file is refused with the message.  The word is at byte `at` of
 * the file or, if `kind` is not 0, of the section. */
static void
assert_damage_refused(uint32_t kind, size_t at, uint32_t value, bool hash, const char *message)
{
  vyre_module *m = sample_new();
  if (kind == VYRE_VIR0_SCOPES)
    sample_add_scopes(m);
  vyre_bytes file = sample_write(m);
  memcpy(file.data + (kind ? section_of(&file, kind)->offset : 0) + at, &value, 4);
  if (hash)
    sample_rehash(&file);
  assert_refused(&file, message);
  vyre_bytes_free(&file);
  vyre_module_destroy(m);
}

TEST(messages_have_section_and_entry)
{
  for (size_t i = 0; i < sizeof(damages) / sizeof(*damages); i++)
    assert_damage_refused(damages[i].kind, 4 * (size_t)damages[i].word, damages[i].value, true, damages[i].message);
}

/* Readers of a text stop at a zero byte, so the file must have one at the end of texts. */
TEST(texts_must_end_with_a_zero_byte)
{
  vyre_module *m = sample_new();
  vyre_bytes file = sample_write(m);
  const vyre_vir0_section *strings = section_of(&file, VYRE_VIR0_STRINGS);
  file.data[strings->offset + strings->size - 1] = 'x';
  sample_rehash(&file);
  assert_refused(&file, "a zero byte is missing");
  vyre_bytes_free(&file);
  vyre_module_destroy(m);
}

/* Words of the header and of the section table, by their byte in the file. */
static const struct {
  uint32_t at, value;
  bool hash;
  const char *message;
} heads[] = {
    {0, 0, false, "'f' is not a VIR0 file: it does not start with VIR0"},
    {4, 0x04030201, false, "was written on a machine with the other byte order"},
    {4, 0, false, "the byte order mark is 0x00000000 (byte 4)"},
    {8, 2, false, "has VIR0 version 2, but this vyre reads version 1"},
    {8, 0, false, "has VIR0 version 0, but this vyre reads version 1"},
    {12, 99, true, "is written with op set 99, but this vyre knows op set "},
    {12, 99, false, "header and section table do not have the hash 0x"},
    {16, 64, true, "instead of 64 (byte"},
    {24, 4000, false, "it is too small for a table of 4000 sections (byte 24)"},
    {28, 3, true, "words for 3 rows"},
    {32, 63, true, "header and section entries of 63 and 64 bytes"},
    {48, 5, true, "a reserved field is 0x5"},
    {64, 999, true, "has a section 'op' (kind 999) that its reader must understand, but this one does not\nFix: "},
    {64, 2, true, "the file has two sections 'imm'"},
    {68, 2, true, "section 'op' has unknown flags 0x2, 0x0 (byte 64)"},
    {72, 0, true, "section 'op' has offset 0"},
    {72, 1860, true, "section 'op' has offset 1860"},
    {80, 7, true, "section 'op' has 7 bytes, not a multiple of 4"},
    {80, 1u << 30, true, "section 'op' has offset"},
    {88, 24, true, "section 'op' has the alignment 24"},
    {88, 1, true, "section 'op' has the alignment 1"},
    {92, 1, true, "section 'op' has unknown flags 0x0, 0x1"},
    {104, 0, true, "section 0 has an invalid name"},
    {124, 0x61616161, true, "section 0 has an invalid name"},
};

TEST(header_and_section_table_are_checked)
{
  for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++)
    assert_damage_refused(0, heads[i].at, heads[i].value, heads[i].hash, heads[i].message);
}

/* A section of an unknown kind is skipped if it is optional. */
TEST(optional_kinds_are_skipped)
{
  vyre_module *m = sample_new();
  vyre_bytes file = {0};
  assert_null(vyre_vir0_write(m, &(vyre_vir0_named){"later", "data", 4, true}, 1, &file));
  section_of(&file, VYRE_VIR0_NAMED)->kind = 500;
  sample_rehash(&file);
  assert_false(refused(file.data, file.size));
  sample_compare(m, target);
  section_of(&file, 500)->flags = 0;
  sample_rehash(&file);
  assert_true(refused(file.data, file.size));
  vyre_bytes_free(&file);
  vyre_module_destroy(m);
}

/* All columns are empty, but row 0 must exist. */
TEST(row_0_is_required)
{
  vyre_bytes file = small_file();
  ((vyre_vir0_header *)(void *)file.data)->rows = 0;
  for (uint32_t kind = VYRE_VIR0_OP; kind <= VYRE_VIR0_LAST; kind++) {
    vyre_vir0_section *section = section_of(&file, kind);
    memset(file.data + section->offset, 0, section->size);
    section->size = 0;
  }
  sample_rehash(&file);
  assert_refused(&file, "row 0 is missing");
  vyre_bytes_free(&file);
}

TEST_MAIN(make_target, free_target)
