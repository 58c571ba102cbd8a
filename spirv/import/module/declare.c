/* Reads the declarations in one pass over the module's instructions.  scan.c reads the functions.
 *
 * Cost: linear in the words.  Checks that each instruction ends within the module, so later readers need not.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/import/import.h"

#include <string.h>

const char *
import_op_name(uint32_t op)
{
  const char *name = vyre_words_full_name(op);
  return name ? name : "an unknown instruction";
}

bool
import_fail_words(import *m, uint32_t words)
{
  return import_fail(m, "%u words, but the instruction needs at least %u", m->words[m->at] >> 16, words);
}

id_info *
import_fail_id(import *m, uint32_t id)
{
  if (id == 0 || id >= m->bound)
    import_fail(m, "id %u is outside of the bound %u", id, m->bound);
  else
    import_fail(m, "id %u is not defined before it is used", id);
  return NULL;
}

bool
import_fail_definition(import *m, uint32_t id)
{
  if (id == 0 || id >= m->bound)
    return import_fail(m, "id %u is outside of the bound %u", id, m->bound);
  return import_fail(m, "id %u is defined a second time", id);
}

bool
import_fail_truncated(import *m)
{
  return import_fail(m, "%u words, but %u are left of the module\nFix: check whether the file was cut short", m->words[m->at] >> 16,
                     m->word_count - m->at);
}

const char *
import_text(const import *m, uint32_t word, uint32_t end, size_t *out_length)
{
  return vyre_words_string(m->words + word, word < end ? end - word : 0, out_length);
}

const char *
import_name(const import *m, uint32_t id, size_t *out_length)
{
  uint32_t at = m->notes[id].name;
  if (!at)
    return NULL;
  const char *text = import_text(m, at + 2, at + (m->words[at] >> 16), out_length);
  return *out_length ? text : NULL;
}

bool
import_decoration(const import *m, uint32_t id, uint32_t kind, uint32_t *out)
{
  for (uint32_t i = m->notes[id].decorations; i; i = AT(decoration, m->decorations, i)->next) {
    const decoration *d = AT(decoration, m->decorations, i);
    if (d->member == NONE && d->kind == kind) {
      *out = d->value;
      return true;
    }
  }
  return false;
}

uint16_t
import_flag(uint32_t kind)
{
  switch (kind) {
  case SpvDecorationNoContraction:
    return ID_EXACT;
  case SpvDecorationRelaxedPrecision:
    return ID_RELAXED;
  case SpvDecorationNonUniform:
    return ID_NONUNIFORM;
  case SpvDecorationBlock:
    return ID_BLOCK;
  case SpvDecorationBufferBlock:
    return ID_BUFFER_BLOCK;
#define SPV_ACCESS(access, decoration) \
  case SpvDecoration##decoration:      \
    return VYRE_ACCESS_##access;
#include "spirv/ops.def"
  default:
    return 0;
  }
}

/* Records a decoration.  The id may be defined later, so only the bound is checked. */
static bool
decorate(import *m, uint32_t id, uint32_t member, uint32_t kind, uint32_t value)
{
  if (id == 0 || id >= m->bound)
    return import_fail(m, "id %u is outside of the bound %u", id, m->bound);
  if (member == NONE)
    m->ids[id].flags |= import_flag(kind);
  if (m->decorations.count == 0 && !list_add(m, &m->decorations, sizeof(decoration), 1))
    return false;
  decoration *d = list_add(m, &m->decorations, sizeof(decoration), 1);
  if (!d)
    return false;
  *d = (decoration){m->notes[id].decorations, member, kind, value};
  m->notes[id].decorations = m->decorations.count - 1;
  m->has_nonuniform |= kind == SpvDecorationNonUniform;
  m->volatile_images |= kind == SpvDecorationVolatile && member == NONE;
  m->shares_memory |= kind == SpvDecorationCoherent || kind == SpvDecorationVolatile;
  if (kind == SpvDecorationBuiltIn && value == SpvBuiltInWorkgroupSize && member == NONE)
    m->workgroup_size = id;
  return true;
}

static bool
decorate_group(import *m, const uint32_t *words, uint32_t count, uint32_t stride)
{
  if (!import_id(m, words[1]))
    return false;
  for (uint32_t k = 2; k + stride <= count; k += stride)
    for (uint32_t i = m->notes[words[1]].decorations; i; i = AT(decoration, m->decorations, i)->next) {
      decoration d = *AT(decoration, m->decorations, i);
      if (m->decorations.count > 8u * m->word_count)
        return import_uncovered(m, "more decorations than vyre supports");
      if (!decorate(m, words[k], stride == 2 ? words[k + 1] : NONE, d.kind, d.value))
        return false;
    }
  return true;
}

static bool
declare_entry(import *m, const uint32_t *words, uint32_t count)
{
  if (!import_needs(m, 4))
    return false;
  if (words[1] != SpvExecutionModelGLCompute) {
    uint32_t *stage = list_add(m, &m->stages, sizeof(uint32_t), 1);
    if (stage)
      *stage = m->at;
    return stage != NULL;
  }
  size_t length;
  if (!import_text(m, m->at + 3, m->at + count, &length))
    return import_fail(m, "a name is not terminated");
  if (words[2] == 0 || words[2] >= m->bound)
    return import_fail(m, "id %u is outside of the bound %u", words[2], m->bound);
  entry *e = list_add(m, &m->entries, sizeof(entry), 1);
  if (!e)
    return false;
  *e = (entry){.id = words[2], .function = words[2], .word = m->at, .local = {1, 1, 1}};
  return true;
}

static bool
declare_mode(import *m, const uint32_t *words, uint32_t op)
{
  if (!import_needs(m, 3))
    return false;
  bool size = words[2] == SpvExecutionModeLocalSize || words[2] == SpvExecutionModeLocalSizeId;
  uint32_t *mode = list_add(m, &m->modes, sizeof(uint32_t), 1);
  if (!mode || (size && !import_needs(m, 6)))
    return false;
  *mode = m->at;
  for (uint32_t i = 0; i < m->entries.count; i++) {
    entry *e = AT(entry, m->entries, i);
    if (e->id != words[1])
      continue;
    if (words[2] == SpvExecutionModeLocalSize)
      memcpy(e->local, words + 3, sizeof(e->local));
    else if (words[2] == SpvExecutionModeLocalSizeId)
      e->local_ids = m->at + 3;
    else if (op == SpvOpExecutionModeId)
      return import_uncovered(m, "execution mode %u is not supported", words[2]);
  }
  return true;
}

void
import_drop(import *m, const char *what)
{
  static const char others[] = "and others";
  const size_t used = strlen(m->dropped), end = sizeof(others) - 1;
  if (strstr(m->dropped, what) || (used >= end && strcmp(m->dropped + used - end, others) == 0))
    return;
  if (used + 2 + strlen(what) + 2 + sizeof(others) > sizeof(m->dropped))
    what = others;
  const size_t more = strlen(what);
  memcpy(m->dropped + used, ", ", 2);
  memcpy(m->dropped + used + (used ? 2 : 0), what, more + 1);
}

static bool
declare_set(import *m, const uint32_t *words, uint32_t count)
{
  size_t length = 0;
  const char *text = import_text(m, m->at + 2, m->at + count, &length);
  if (!text || !import_define(m, words[1], ID_SET, 0))
    return import_fail(m, "a name is not terminated");
  const bool is_debug_info = strcmp(text, VYRE_DEBUG_SET) == 0;
  m->ids[words[1]].value = strcmp(text, "GLSL.std.450") == 0 ? 1 : is_debug_info ? 3 : vyre_words_set_says_nothing(text) ? 2 : 0;
  return true;
}

void
import_drop_set(import *m, uint32_t set)
{
  size_t length;
  const uint32_t def = m->ids[set].def;
  const char *text = import_text(m, def + 2, def + (m->words[def] >> 16), &length);
  if (text)
    import_drop(m, text);
}

static bool
declare_variable(import *m, const uint32_t *words)
{
  if (!import_needs(m, 4))
    return false;
  spv_type *t = import_type(m, words[1]);
  if (!t)
    return false;
  if (t->form != FORM_POINTER || t->count != words[3])
    return import_fail(m, "type %u is not a pointer type of the variable's storage class", words[1]);
  if (!import_define(m, words[2], ID_GLOBAL, words[1]))
    return false;
  m->ids[words[2]].holds = HOLDS_POINTER;
  if (words[3] == SpvStorageClassPrivate) {
    root *r = list_add(m, &m->roots, sizeof(root), 1);
    if (!r)
      return false;
    *r = (root){.id = words[2]};
    if (words[0] >> 16 > 4 && words[4] < m->bound && m->ids[words[4]].kind == ID_CONSTANT && !(m->ids[words[4]].flags & ID_SPEC)) {
      r->flags = ROOT_WRITTEN | ROOT_CONSTANT;
      r->constant = words[4];
    }
    m->ids[words[2]].root = m->roots.count - 1;
  }
  uint32_t *v = list_add(m, &m->variables, sizeof(uint32_t), 1);
  if (v)
    *v = words[2];
  return v != NULL;
}

static vyre_input *
input_of(import *m)
{
  return vyre_module_input(m->module, m->input);
}

static bool
keep(import *m, vyre_word_list *l, uint32_t from)
{
  uint32_t count = m->words[m->at] >> 16;
  if (count > from)
    vyre_word_list_append(m->module, l, m->words + m->at + from, count - from);
  return true;
}

static bool
declare_names(import *m, uint32_t op, const uint32_t *words, uint32_t count)
{
  size_t length;
  uint32_t text = op == SpvOpName ? 2 : 3;
  if (!import_needs(m, text + 1))
    return false;
  if (words[1] == 0 || words[1] >= m->bound)
    return import_fail(m, "id %u is outside of the bound %u", words[1], m->bound);
  bool ends = words[count - 1] >> 24 == 0; /* usually the last byte is the terminating zero */
  if (!ends && !import_text(m, m->at + text, m->at + count, &length))
    return import_fail(m, "a name is not terminated");
  if (op == SpvOpName) {
    m->notes[words[1]].name = m->at;
    m->ids[words[1]].flags |= ID_NAMED;
    return true;
  }
  /* kept as a decoration of the member, whose value is the word of OpMemberName */
  return decorate(m, words[1], words[2], NONE, m->at);
}

/* Returns whether the decoration is in a range of those of SPIRV-Headers 1.3.239.  The importer keeps them or may drop them. */
static bool
is_known_decoration(uint32_t kind)
{
  static const struct {
    uint16_t first, last;
  } known[] = {{0, 47},      {4469, 4470}, {4487, 4488}, {4999, 4999}, {5248, 5256}, {5271, 5273}, {5285, 5285},
               {5300, 5300}, {5355, 5356}, {5386, 5386}, {5398, 5401}, {5599, 5636}, {5822, 5836}, {5899, 6140}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (kind >= known[i].first && kind <= known[i].last)
      return true;
  return false;
}

static bool
declare_decoration(import *m, uint32_t op, const uint32_t *words, uint32_t count)
{
  const bool of_member = op == SpvOpMemberDecorate, decorates = of_member || op == SpvOpDecorate || op == SpvOpDecorateId;
  const uint32_t kind = decorates && count > 2u + of_member ? words[2 + of_member] : 0;
  if (!is_known_decoration(kind) && kind != IMPORT_DECORATION_STRIDE_ID && kind != IMPORT_DECORATION_OFFSET_ID)
    return import_uncovered(m, "decoration %u is unknown", kind);
  switch (op) {
  case SpvOpDecorate:
  case SpvOpDecorateId:
    if (count > 2 && (words[2] == IMPORT_DECORATION_STRIDE_ID || words[2] == IMPORT_DECORATION_OFFSET_ID))
      return import_uncovered(m, "a layout with constants as offsets or strides is not supported");
    return import_needs(m, 3) && decorate(m, words[1], NONE, words[2], count > 3 ? words[3] : 0);
  case SpvOpMemberDecorate:
    return import_needs(m, 4) && decorate(m, words[1], words[2], words[3], count > 4 ? words[4] : 0);
  case SpvOpDecorationGroup:
    return import_needs(m, 2) && import_define(m, words[1], ID_GROUP, 0);
  case SpvOpGroupDecorate:
    return import_needs(m, 2) && decorate_group(m, words, count, 1);
  default:
    return import_needs(m, 2) && decorate_group(m, words, count, 2);
  }
}

/* Reads an OpExtInst outside functions. */
static bool
declare_instruction(import *m, const uint32_t *words, uint32_t count)
{
  if (!import_needs(m, 5) || !import_type(m, words[1]))
    return false;
  if (words[3] >= m->bound || m->ids[words[3]].kind != ID_SET || m->ids[words[3]].value < 2)
    return import_fail(m, "only instructions of sets of debug information may be outside of functions");
  if (!import_define(m, words[2], ID_GROUP, words[1]))
    return false;
  if (m->ids[words[3]].value == 2)
    return list_add_word(m, &m->reflected, m->at);
  if (!m->first_function)
    import_keep_debug(m, words, count);
  return true;
}

/* Reads an instruction before the functions. */
static bool
declare(import *m, uint32_t op, const uint32_t *words, uint32_t count)
{
  vyre_input *input;
  switch (op) {
  case SpvOpNop:
    return true;
  case SpvOpCapability:
    return import_needs(m, 2) && keep(m, &input_of(m)->capabilities, 1);
  case SpvOpExtension:
    return keep(m, &input_of(m)->extensions, 0);
  case SpvOpExtInstImport:
    return import_needs(m, 3) && declare_set(m, words, count);
  case SpvOpMemoryModel:
    if (!import_needs(m, 3))
      return false;
    input = input_of(m);
    input->addressing = words[1];
    input->memory = words[2];
    return true;
  case SpvOpEntryPoint:
    return declare_entry(m, words, count);
  case SpvOpExecutionMode:
  case SpvOpExecutionModeId:
    return declare_mode(m, words, op);
  case SpvOpString:
    return import_needs(m, 3) && import_define(m, words[1], ID_STRING, 0) && keep(m, &input_of(m)->kept, 0);
  case SpvOpSource:
  case SpvOpSourceContinued:
  case SpvOpSourceExtension:
  case SpvOpModuleProcessed:
    return keep(m, &input_of(m)->kept, 0);
  case SpvOpName:
  case SpvOpMemberName:
    return declare_names(m, op, words, count);
  case SpvOpDecorateId:
    return declare_decoration(m, op, words, count) && list_add_word(m, &m->reflected, m->at);
  case SpvOpDecorate:
  case SpvOpMemberDecorate:
  case SpvOpDecorationGroup:
  case SpvOpGroupDecorate:
  case SpvOpGroupMemberDecorate:
    return declare_decoration(m, op, words, count);
  case SpvOpDecorateString:
  case SpvOpMemberDecorateString:
    return import_needs(m, op == SpvOpDecorateString ? 4 : 5) && list_add_word(m, &m->reflected, m->at);
  case SpvOpLine:
  case SpvOpNoLine:
    import_line(m, m->at);
    return true;
  case SpvOpVariable:
    return declare_variable(m, words);
  case SpvOpExtInst:
    return declare_instruction(m, words, count);
  case IMPORT_EXT_INST_FORWARD: /* only in NonSemantic sets */
    return import_needs(m, 5) && import_define(m, words[2], ID_GROUP, words[1]);
  default:
    break;
  }
  if (op >= SpvOpTypeVoid && op <= SpvOpTypeForwardPointer)
    return import_declare_type(m, op);
  if ((op >= SpvOpConstantTrue && op <= SpvOpSpecConstantOp) || op == SpvOpUndef || import_is_replicate(op))
    return import_declare_constant(m, op);
  if (vyre_words_is_type(op))
    return import_declare_type(m, op);
  if (!vyre_words_name(op))
    return import_uncovered(m, "instruction number %u is unknown", op);
  return import_uncovered(m, "not supported outside of functions\nFix: remove the code that needs this instruction");
}

/* Starts reading the functions, at the first OpFunction. */
static bool
begin_functions(import *m)
{
  m->first_function = m->at;
  return m->stages.count == 0 || import_stages(m);
}

/* Reads the function at m->at and sets m->at to its end.  Skips functions that only other stages call. */
static bool
read_function(import *m)
{
  if (!m->marks || import_is_called(m, m->words[m->at + 2]))
    return import_scan(m);
  while (m->at < m->word_count && (m->words[m->at] & 0xffffu) != SpvOpFunctionEnd)
    m->at += m->words[m->at] >> 16; /* stages.c has checked the word counts */
  return m->at < m->word_count || import_fail(m, "no OpFunctionEnd follows\nFix: check whether the file was cut short");
}

bool
import_declare(import *m)
{
  if (!list_add(m, &m->roots, sizeof(root), 1)) /* index 0 means none */
    return false;
  uint32_t count;
  for (m->at = 5; m->at < m->word_count; m->at += count) {
    const uint32_t *words = m->words + m->at;
    uint32_t op = words[0] & 0xffffu;
    count = words[0] >> 16;
    if (!import_whole(m))
      return false;
    if (op == SpvOpConstant && !m->first_function) {
      const uint32_t numbers = import_declare_numbers(m);
      if (numbers == 0 && !import_declare_constant(m, op))
        return false;
      count = numbers ? numbers : count;
    } else if (op == SpvOpFunction) {
      if (!m->first_function && !begin_functions(m))
        return false;
      if (!read_function(m))
        return false;
      count = m->words[m->at] >> 16;
    } else if (m->first_function && op == SpvOpExtInst) {
      if (!declare_instruction(m, words, count))
        return false;
    } else if (op == SpvOpLine || op == SpvOpNoLine || op == SpvOpNop) {
      if (!m->first_function)
        import_line(m, m->at);
      if (op == SpvOpLine)
        m->last_line = m->at;
    } else if (m->first_function) {
      return import_fail(m, "is outside of a function");
    } else if (!declare(m, op, words, count)) {
      return false;
    }
  }
  m->at = 0;
  m->where.file = 0;
  if (!m->first_function)
    return import_fail(m, "no function");
  import_spread_nonuniform(m);
  import_keep_reflection(m);
  return !failed(m);
}

bool
import_name_row(import *m, uint32_t row, uint32_t id)
{
  size_t length;
  id_notes *notes = &m->notes[id];
  const char *name = notes->name && !notes->string ? import_name(m, id, &length) : NULL;
  if (name)
    notes->string = vyre_string_intern(m->module, name, length);
  if (notes->string)
    vyre_row_set_name_string(m->module, (vyre_row){row}, notes->string);
  return name || notes->string;
}
