/* Keeps modules that are not supported.
 *
 * Each compute entry point becomes a program of one `verbatim` row, which the exporter writes unchanged.  Without compute entry
 * points, each entry point of any stage does; without any entry point, as in a library, the module itself does.  Such programs are
 * not optimized, and the input's remark has the reason.  The only check is that all instructions are within the module.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/import/import.h"

#include <string.h>

/* Returns whether all instructions end within the module, so that they can be walked. */
static bool
is_whole(const import *m)
{
  uint32_t count;
  for (uint32_t at = 5; at < m->word_count; at += count) {
    count = m->words[at] >> 16;
    if (count == 0 || count > m->word_count - at)
      return false;
  }
  return true;
}

/* Returns the word of the first instruction with that opcode and that operand, or 0 if there is none before an instruction of no
 * words. */
static uint32_t
find(const import *m, uint32_t opcode, uint32_t operand, uint32_t index)
{
  for (uint32_t at = 5; at < m->word_count && m->words[at] >> 16 != 0; at += m->words[at] >> 16)
    if ((m->words[at] & 0xffffu) == opcode && m->words[at] >> 16 > index && m->words[at + index] == operand)
      return at;
  return 0;
}

/* Returns the value, or default value, of an integer constant, or 1 if it is computed. */
static uint32_t
constant_of(const import *m, uint32_t id)
{
  for (uint32_t at = 5; at < m->word_count; at += m->words[at] >> 16) {
    uint32_t op = m->words[at] & 0xffffu;
    if ((op == SpvOpConstant || op == SpvOpSpecConstant) && m->words[at] >> 16 > 3 && m->words[at + 2] == id)
      return m->words[at + 3] ? m->words[at + 3] : 1;
  }
  return 1;
}

/* Finds the workgroup size, ignoring specialization. */
static void
find_size(const import *m, uint32_t entry_id, uint32_t out[3])
{
  const uint32_t *words = m->words;
  out[0] = out[1] = out[2] = 1;
  for (uint32_t at = 5; at < m->word_count; at += words[at] >> 16) {
    uint32_t op = words[at] & 0xffffu, count = words[at] >> 16;
    if (op == SpvOpDecorate && count > 3 && words[at + 2] == SpvDecorationBuiltIn && words[at + 3] == SpvBuiltInWorkgroupSize) {
      uint32_t size = find(m, SpvOpSpecConstantComposite, words[at + 1], 2);
      size = size ? size : find(m, SpvOpConstantComposite, words[at + 1], 2);
      for (uint32_t k = 0; size && words[size] >> 16 > 5 && k < 3; k++)
        out[k] = constant_of(m, words[size + 3 + k]);
      return;
    }
    if ((op != SpvOpExecutionMode && op != SpvOpExecutionModeId) || count < 6 || words[at + 1] != entry_id)
      continue;
    for (uint32_t k = 0; k < 3; k++)
      if (words[at + 2] == SpvExecutionModeLocalSize)
        out[k] = words[at + 3 + k] ? words[at + 3 + k] : 1;
      else if (words[at + 2] == SpvExecutionModeLocalSizeId)
        out[k] = constant_of(m, words[at + 3 + k]);
  }
}

/* Makes a program for the entry point at word `at`, or for the module if `at` is 0.  `words` is a list of (number, count, words)
 * with the module as its one decoration. */
static void
make_program(import *m, uint32_t at, const uint32_t *words)
{
  size_t length = 0;
  const char *name = at ? import_text(m, at + 3, at + (m->words[at] >> 16), &length) : "module";
  uint32_t size[3] = {1, 1, 1};
  vyre_row rows[3];
  vyre_builder b = {0};
  if (at)
    find_size(m, m->words[at + 2], size);
  vyre_build_program(m->module, name ? name : "main", VYRE_PROGRAM_RELAXED, m->input, &b);
  for (uint32_t k = 0; k < 3; k++)
    rows[k] = vyre_build_const(&b, VYRE_TYPE(VYRE_U32, 1), size[k]);
  vyre_build_workgroup(&b, rows[0], rows[1], rows[2]);
  vyre_row row = vyre_build(&b, VYRE_OP_verbatim, 0, 0, 0, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  vyre_row_set_decorations(m->module, row, words, m->word_count + 2);
}

/* Makes a program for each compute entry point, or for each entry point of any stage.  Returns the number of programs. */
static uint32_t
make_programs(import *m, bool compute, const uint32_t *words)
{
  uint32_t programs = 0;
  for (uint32_t at = 5; at < m->word_count; at += m->words[at] >> 16) {
    if ((m->words[at] & 0xffffu) != SpvOpEntryPoint || m->words[at] >> 16 < 4 ||
        (compute && m->words[at + 1] != SpvExecutionModelGLCompute))
      continue;
    make_program(m, at, words);
    programs++;
  }
  return programs;
}

void
import_find_compute(import *m)
{
  uint32_t first = 0;
  m->at = 5;
  for (uint32_t count; m->at < m->word_count; m->at += count) {
    const uint32_t *words = m->words + m->at, op = words[0] & 0xffffu;
    count = words[0] >> 16;
    if (!import_whole(m))
      return;
    if (op == SpvOpEntryPoint && count > 1 && words[1] == SpvExecutionModelGLCompute)
      return;
    if (op == SpvOpEntryPoint && first == 0)
      first = m->at;
    if (op >= SpvOpTypeVoid && op <= SpvOpFunction) /* entry points precede all declarations */
      break;
  }
  m->at = first ? first : find(m, SpvOpCapability, SpvCapabilityLinkage, 1);
  if (first)
    import_uncovered(m, "no entry point is a compute shader (GLCompute)");
  else if (m->at)
    import_uncovered(m, "a library without entry points");
  else
    import_fail(m, "no entry point\nFix: give a module with a compute shader");
}

void
import_verbatim(import *m, uint32_t first_program, vyre_type_id first_type)
{
  if (!is_whole(m) || vyre_status_is_out_of_memory(m->status))
    return;
  for (uint32_t row = first_program, next; row; row = next) {
    next = m->view->next[row];
    vyre_row_kill(m->module, (vyre_row){row});
  }
  vyre_type_forget(m->module, first_type); /* array lengths may be rows of those programs */
  size_t bytes = ((size_t)m->word_count + 2) * sizeof(uint32_t);
  uint32_t *words = m->allocator->resize(m->allocator->user, NULL, 0, bytes);
  if (!words) {
    vyre_status_free(m->status);
    m->status = VYRE_OUT_OF_MEMORY("for a module's words");
    return;
  }
  words[0] = VYRE_DECORATION_MODULE;
  words[1] = m->word_count;
  memcpy(words + 2, m->words, (size_t)m->word_count * sizeof(uint32_t));
  if (make_programs(m, true, words) == 0 && make_programs(m, false, words) == 0)
    make_program(m, 0, words);
  m->allocator->resize(m->allocator->user, words, bytes, 0);
  const char *why = vyre_status_text(m->status);
  vyre_string remark = vyre_string_intern(m->module, why, strcspn(why, "\n"));
  vyre_module_input(m->module, m->input)->remark = remark;
  vyre_status_free(m->status);
  m->status = VYRE_OK;
}
