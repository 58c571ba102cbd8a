/* The steps of versions in nested constructs: at most MOST_STEPS for each row and each level of the nest.
 *
 * The parts of the state graph are compiled again for this test with a counter at each edge between basic blocks.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "vyre/ir.h"
#include "vyre/text.h"

enum { MOST_STEPS = 40 };

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

TEST(steps_of_versions_are_bounded_by_rows_times_depth)
{
  static const uint32_t depths[] = {50, 100, 200, 400, 800};
  for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++)
    for (size_t k = 0; k < sizeof(depths) / sizeof(*depths); k++) {
      vyre_bytes text = {0};
      vyre_module *module;
      vyre_diagnostics diagnostics = {0};
      write_nest(&text, &families[i], depths[k]);
      assert_null(vyre_module_create(NULL, 1u << 16, &module));
      assert_null(vyre_text_parse(module, text.data, text.size, "nest.vir", diagnostics));
      steps = 0;
      assert_null(vyre_module_make_analyses(module, VYRE_VERSIONS));
      const uint64_t rows = vyre_module_view(module)->rows, most = MOST_STEPS * rows * depths[k];
      print_message("%s, depth %u: %llu steps for %llu rows\n", families[i].name, depths[k], (unsigned long long)steps,
                    (unsigned long long)rows);
      assert_true(steps > rows);
      assert_true(steps <= most);
      vyre_module_destroy(module);
      vyre_bytes_free(&text);
    }
}
