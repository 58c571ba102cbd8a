/* The steps of versions in nested constructs: at most MOST_STEPS for each row and each level of the nest. The steps and the memory
 * in constructs with many variables and many exits: at most MOST_STEPS and MOST_BYTES for each row.
 *
 * The parts of the state graph are compiled again for this test with a counter at each edge between basic blocks.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test_allocator.h"
#include "vyre/ir.h"
#include "vyre/text.h"

enum { MOST_STEPS = 60, MOST_BYTES = 100 };

static uint64_t steps;

void __sanitizer_cov_trace_pc(void);

void
__sanitizer_cov_trace_pc(void)
{
  steps++;
}

typedef struct family {
  const char *name, *open, *close; /* texts of one level; `#` becomes the level, `$` the number of another level's variable */
} family;

static const family families[] = {
    {"for, a set before", "for %k# = 0u32 to %i { set %v#, add(get(%v$), %k#)\n", "}\n"},
    {"for, a set after", "for %k# = 0u32 to %i {\n", "set %v#, add(get(%v$), 1u32) }\n"},
    {"loop", "loop { if uge(get(%v#), %i) { break }\n", "} continuing { set %v#, add(get(%v$), 1u32) }\n"},
    {"if", "if ult(%i, #u32) { set %v#, add(get(%v$), 1u32)\n", "} else { set %v#, 2u32 }\n"},
    {"else if", "if eq(%i, #u32) { set %v#, add(get(%v$), 1u32) } else {\n", "}\n"},
    {"block, left from inside", "block %b# { set %v#, add(get(%v$), 1u32) if eq(get(%v#), #u32) { leave %b0 }\n", "}\n"},
    {"continue", "for %k# = 0u32 to %i { if eq(get(%v#), %k#) { continue } set %v#, add(get(%v$), 1u32)\n", "}\n"},
    {"return", "for %k# = 0u32 to %i { if eq(get(%v#), %k#) { return } set %v#, add(get(%v$), 1u32)\n", "}\n"},
};

static void
append(vyre_bytes *out, const char *text, uint32_t level, uint32_t depth)
{
  for (; *text; text++)
    if (*text == '#' || *text == '$')
      assert_null(vyre_bytes_printf(out, "%u", *text == '#' ? level : level * 7 % depth));
    else
      assert_null(vyre_bytes_append(out, text, 1));
}

static void
write_nest(vyre_bytes *out, const family *f, uint32_t depth)
{
  append(out, "program @p workgroup(8, 1, 1) {\nbuffer %y : u32[] storage rw set(0) binding(0)\n%i = gid.x\n", 0, 1);
  for (uint32_t i = 0; i < depth; i++)
    append(out, "var %v# : u32\n", i, depth);
  for (uint32_t i = 0; i < depth; i++)
    append(out, f->open, i, depth);
  for (uint32_t i = depth; i-- > 0;)
    append(out, f->close, i, depth);
  for (uint32_t i = 0; i < depth; i++)
    append(out, "store %y[#], get(%v#)\n", i, depth);
  append(out, "}\n", 0, 1);
}

/* Parses the text, and makes its versions. */
static uint64_t
count_steps(vyre_bytes *text, const char *name, uint32_t size, test_memory *memory)
{
  const vyre_allocator allocator = test_allocator(memory, 0);
  vyre_module *module;
  vyre_diagnostics diagnostics = {0};
  assert_null(vyre_module_create(&allocator, 1u << 20, &module));
  assert_null(vyre_text_parse(module, text->data, text->size, "steps.vir", diagnostics));
  const uint64_t rows = vyre_module_view(module)->rows, before = memory->out;
  memory->peak = before;
  steps = 0;
  assert_null(vyre_module_make_analyses(module, VYRE_VERSIONS));
  memory->peak -= before;
  print_message("%s, %u: %llu steps and %llu bytes for %llu rows\n", name, size, (unsigned long long)steps,
                (unsigned long long)memory->peak, (unsigned long long)rows);
  assert_true(steps > rows);
  vyre_module_destroy(module);
  vyre_bytes_free(text);
  return rows;
}

TEST(steps_of_versions_are_bounded_by_rows_times_depth)
{
  static const uint32_t depths[] = {50, 100, 200, 400, 800};
  for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++)
    for (size_t k = 0; k < sizeof(depths) / sizeof(*depths); k++) {
      vyre_bytes text = {0};
      test_memory memory;
      write_nest(&text, &families[i], depths[k]);
      const uint64_t rows = count_steps(&text, families[i].name, depths[k], &memory);
      assert_true(steps <= MOST_STEPS * rows * depths[k]);
    }
}

/* Texts before, for each variable, and after, in turns. The outer loop keeps all variables in use. */
static const char *const wide[][8] = {
    {"one state at all exits", "for %o = 0u32 to %i {\n", "set %v#, 1u32\n", "loop {\n", "set %v#, add(get(%v#), 2u32)\n", "",
     "if eq(%i, #u32) { break }\n", "} continuing { } }\n"},
    {"a state at each exit", "for %o = 0u32 to %i {\n", "set %v#, 1u32\n", "loop {\n", "set %v#, add(get(%v#), 2u32)\n", "",
     "if eq(%i, #u32) { set %v#, 3u32 break }\n", "} continuing { } }\n"},
    {"sets between exits", "for %o = 0u32 to %i {\n", "set %v#, 1u32\n", "block %b {\n", "set %v#, add(get(%v#), 2u32)\n", "",
     "set %v#, 3u32\nif eq(%i, #u32) { leave %b }\n", "} }\n"},
    {"sets of one variable between exits", "for %o = 0u32 to %i {\n", "set %v#, 1u32\n", "block %b {\n",
     "set %v#, add(get(%v#), 2u32)\n", "", "set %v0, #u32\nif eq(%i, #u32) { leave %b }\n", "} }\n"},
    {"states of two exits in turn", "for %o = 0u32 to %i {\n", "set %v#, 1u32\n", "block %a { block %b {\n",
     "if eq(%i, #u32) { set %v#, 3u32 leave %a }\n", "", "if eq(%i, #u32) { set %v#, 4u32 leave %b }\n", "} } }\n"},
    {"a state in each case", "", "set %v#, 1u32\n", "switch %i {\n", "case #u32 {\nset %v#, 3u32 }\n", "}\n",
     "store %y[#], get(%v#)\n", ""},
    {"a state of each leave", "", "set %v#, 1u32\n", "block %b {\n", "if eq(%i, #u32) { set %v#, 3u32 leave %b }\n", "}\n",
     "store %y[#], get(%v#)\n", ""},
};

TEST(steps_and_memory_of_versions_are_bounded_by_rows)
{
  static const uint32_t widths[] = {1000, 2000, 4000, 8000};
  for (size_t i = 0; i < sizeof(wide) / sizeof(*wide); i++)
    for (size_t k = 0; k < sizeof(widths) / sizeof(*widths); k++) {
      vyre_bytes text = {0};
      test_memory memory;
      append(&text, "program @p workgroup(8, 1, 1) {\nbuffer %y : u32[] storage rw set(0) binding(0)\n%i = gid.x\n", 0, 1);
      for (uint32_t n = 0; n < widths[k]; n++)
        append(&text, "var %v# : u32\n", n, widths[k]);
      for (size_t part = 1; part < 8; part++)
        for (uint32_t n = 0; n < (part % 2 ? 1 : widths[k]); n++)
          append(&text, wide[i][part], n, widths[k]);
      append(&text, "}\n", 0, 1);
      const uint64_t rows = count_steps(&text, wide[i][0], widths[k], &memory);
      assert_true(steps <= MOST_STEPS * rows);
      assert_true(memory.peak <= MOST_BYTES * rows);
    }
}
