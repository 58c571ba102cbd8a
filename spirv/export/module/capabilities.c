/* Declares the capabilities and extensions of a module.  A module from SPIR-V keeps its own, which suffice for its types.  Only
 * Float16 is added, if a pass made rows that compute with f16.
 *
 * Instructions declare their needs when they are written.  For types, arithmetic and storage have separate capabilities.  A buffer
 * needs those of the kinds in its type.
 *
 * Cost: one pass over the types of the module, and one over the input's buffers.  For Float16, one over the rows.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/export/export.h"

#include <string.h>

enum { NARROW_8 = 1u << VYRE_I8 | 1u << VYRE_U8, NARROW_16 = 1u << VYRE_I16 | 1u << VYRE_U16 | 1u << VYRE_F16 };

static const char NON_SEMANTIC[] = "SPV_KHR_non_semantic_info";

/* Returns whether the instruction has `skip` words, followed by a text with that beginning. */
static bool
is_named(const uint32_t *words, uint32_t skip, const char *begin, size_t length)
{
  const uint32_t count = words[0] >> 16;
  size_t all;
  const char *text = vyre_words_string(words + skip, count > skip ? count - skip : 0, &all);
  return text && strncmp(text, begin, length) == 0;
}

/* Returns whether an instruction before word `start` equals the one from there to the end. */
static bool
repeats(const vyre_spv_words *words, size_t start)
{
  const size_t count = words->count - start;
  for (size_t at = 0; at < start; at += words->data[at] >> 16)
    if (words->data[at] >> 16 == count && memcmp(words->data + at, words->data + start, count * 4) == 0)
      return true;
  return false;
}

bool
vyre_spv_declares(const vyre_spv *s, uint32_t capability)
{
  for (size_t at = 0; at + 1 < s->capabilities.count; at += 2)
    if (s->capabilities.data[at + 1] == capability)
      return true;
  return false;
}

static void
need_extension(vyre_spv *s, const char *extension)
{
  const size_t start = s->extensions.count;
  vyre_spv_text(s, &s->extensions, SpvOpExtension, NULL, 0, extension);
  if (!s->out_of_memory && repeats(&s->extensions, start))
    s->extensions.count = start;
}

void
vyre_spv_input_extensions(vyre_spv *s, const vyre_word_list *extensions)
{
  for (uint32_t at = 0; at < extensions->count; at += extensions->words[at] >> 16) {
    const uint32_t *words = extensions->words + at, count = words[0] >> 16;
    if (!is_named(words, 1, NON_SEMANTIC, sizeof(NON_SEMANTIC)))
      vyre_spv_append(s, &s->extensions, words, count);
  }
}

void
vyre_spv_set_extension(vyre_spv *s)
{
  bool any = false;
  for (size_t at = 0; at < s->imports.count && !any; at += s->imports.data[at] >> 16)
    any = is_named(s->imports.data + at, 2, "NonSemantic.", 12);
  if (any && s->version < 0x10600)
    need_extension(s, NON_SEMANTIC);
}

void
vyre_spv_need(vyre_spv *s, uint32_t capability, uint32_t version, const char *extension)
{
  if (!vyre_spv_declares(s, capability))
    vyre_spv_instruction(s, &s->capabilities, SpvOpCapability, &capability, 1);
  if (extension && s->version < version)
    need_extension(s, extension);
}

uint32_t
vyre_spv_kind_capability(vyre_kind kind)
{
  static const uint8_t capabilities[VYRE_KIND__COUNT] = {
      [VYRE_I8] = SpvCapabilityInt8,     [VYRE_U8] = SpvCapabilityInt8,     [VYRE_I16] = SpvCapabilityInt16,
      [VYRE_U16] = SpvCapabilityInt16,   [VYRE_I64] = SpvCapabilityInt64,   [VYRE_U64] = SpvCapabilityInt64,
      [VYRE_F16] = SpvCapabilityFloat16, [VYRE_F64] = SpvCapabilityFloat64,
  };
  return kind < VYRE_KIND__COUNT ? capabilities[kind] : 0;
}

/* Returns whether the row computes with f16.  Capabilities for memory permit only loads, stores and conversions of floats. */
static bool
computes_f16(const vyre_spv *s, uint32_t row)
{
  const uint32_t word = s->op[row], op = VYRE_ROW_OP(word);
  const bool is_f16 = VYRE_TYPE_KIND(VYRE_ROW_TYPE(word)) == VYRE_F16;
  if (op == VYRE_OP_convert)
    return is_f16 && vyre_kind_is_int(VYRE_TYPE_KIND(vyre_spv_row_type(s, s->a[row])));
  if (op >= VYRE_OP_feq && op <= VYRE_OP_isinf)
    return VYRE_TYPE_KIND(vyre_spv_row_type(s, s->a[row])) == VYRE_F16;
  return is_f16 && (op >= VYRE_OP_join && op <= VYRE_OP_outer) && op != VYRE_OP_bitcast;
}

/* Returns whether the module may have f16 in memory. */
static bool
may_store_f16(const vyre_spv *s)
{
  static const uint32_t capabilities[] = {SpvCapabilityStorageBuffer16BitAccess, SpvCapabilityUniformAndStorageBuffer16BitAccess,
                                          SpvCapabilityStoragePushConstant16, SpvCapabilityStorageInputOutput16,
                                          SpvCapabilityWorkgroupMemoryExplicitLayout16BitAccessKHR};
  bool any = false;
  for (size_t i = 0; i < sizeof capabilities / sizeof capabilities[0]; i++)
    any |= vyre_spv_declares(s, capabilities[i]);
  return any;
}

void
vyre_spv_row_capabilities(vyre_spv *s)
{
  if (vyre_module_input(s->module, s->input)->capabilities.count == 0 || vyre_spv_declares(s, SpvCapabilityFloat16))
    return;
  const bool may_store = may_store_f16(s);
  uint32_t row = s->base + 1;
  while (row < s->end && VYRE_TYPE_KIND(vyre_spv_row_type(s, row)) != VYRE_F16) /* operands precede their users */
    row++;
  for (; row < s->end; row++)
    if (computes_f16(s, row) || (!may_store && VYRE_TYPE_KIND(vyre_spv_row_type(s, row)) == VYRE_F16)) {
      vyre_spv_need(s, SpvCapabilityFloat16, 0, NULL);
      return;
    }
}

/* Returns the kinds, as bits, in a type.  `kinds` has them for types from 256 on; a type's parts precede it. */
static uint32_t
kinds_in(const vyre_spv_words *kinds, vyre_type_id type)
{
  if (type < 256)
    return 1u << VYRE_TYPE_KIND((vyre_type)type);
  return type - 256 < kinds->count ? kinds->data[type - 256] : 0;
}

static void
fill_kinds(vyre_spv *s, vyre_spv_words *kinds)
{
  const uint32_t count = vyre_type_count(s->module);
  for (uint32_t type = 256; type < count && !s->out_of_memory; type++) {
    const vyre_type_info info = vyre_type_get(s->module, type);
    uint32_t mask = 0;
    if (info.form != VYRE_FORM_STRUCT)
      mask = kinds_in(kinds, info.element);
    for (uint32_t i = 0; info.form == VYRE_FORM_STRUCT && i < info.count; i++)
      mask |= kinds_in(kinds, info.members[i].type);
    vyre_spv_push(s, kinds, mask);
  }
}

/* Finds the kinds in the input's buffers of each space. */
static void
kinds_of_spaces(vyre_spv *s, uint32_t out[VYRE_SPACE_PUSH + 1])
{
  vyre_spv_words kinds = {0};
  fill_kinds(s, &kinds);
  for (uint32_t program = vyre_module_input(s->module, s->input)->first_program; program;
       program = vyre_program_info_of(s->module, (vyre_row){program})->next_program)
    for (uint32_t row = s->first[program]; row; row = s->next[row]) {
      if (vyre_spv_opcode(s, row) != VYRE_OP_buffer)
        continue;
      const uint32_t space = VYRE_BUFFER_SPACE(s->imm_hi[row]);
      if (space <= VYRE_SPACE_PUSH)
        out[space] |= kinds_in(&kinds, s->imm[row]);
    }
}

void
vyre_spv_type_capabilities(vyre_spv *s)
{
  static const struct {
    uint32_t space, narrow, capability;
  } storage[] = {{VYRE_SPACE_STORAGE, NARROW_16, SpvCapabilityStorageBuffer16BitAccess},
                 {VYRE_SPACE_UNIFORM, NARROW_16, SpvCapabilityUniformAndStorageBuffer16BitAccess},
                 {VYRE_SPACE_PUSH, NARROW_16, SpvCapabilityStoragePushConstant16},
                 {VYRE_SPACE_STORAGE, NARROW_8, SpvCapabilityStorageBuffer8BitAccess},
                 {VYRE_SPACE_UNIFORM, NARROW_8, SpvCapabilityUniformAndStorageBuffer8BitAccess},
                 {VYRE_SPACE_PUSH, NARROW_8, SpvCapabilityStoragePushConstant8}};
  uint32_t narrow = 0;
  for (vyre_kind kind = VYRE_VOID; kind < VYRE_KIND__COUNT; kind++) {
    const uint32_t capability = s->value_types[VYRE_TYPE(kind, 1)] ? vyre_spv_kind_capability(kind) : 0;
    if (!capability)
      continue;
    vyre_spv_need(s, capability, 0, NULL);
    narrow |= 1u << kind;
  }
  if (!(narrow & (NARROW_8 | NARROW_16)))
    return;
  uint32_t kinds[VYRE_SPACE_PUSH + 1] = {0};
  kinds_of_spaces(s, kinds);
  for (size_t i = 0; i < sizeof(storage) / sizeof(storage[0]); i++) {
    if (!(kinds[storage[i].space] & storage[i].narrow))
      continue;
    const bool bytes = storage[i].narrow == NARROW_8; /* SPIR-V 1.3 includes 16 bits */
    vyre_spv_need(s, storage[i].capability, 0x10500, bytes ? "SPV_KHR_8bit_storage" : NULL);
  }
}
