/* Writes a module: header, entry points, sections, and the programs of one input.
 *
 * A module from SPIR-V keeps the input's version, capabilities, extensions, memory model and execution modes (capabilities.c).  A
 * module from text is SPIR-V 1.3 for Vulkan: Shader, GLSL450, storage buffers.
 *
 * Cost: linear in the rows of the input's programs.  Limits: if one program of an input has specialization constants in its
 * workgroup size, all programs have the same size, because SPIR-V 1.3 has one WorkgroupSize for all.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/export/control/control.h"
#include "base/options.h"
#include "spirv/export/debug/debug.h"
#include "vyre/environment.h"

#include <string.h>

#define VERSION_OF_TEXT 0x00010300u

static void
write_workgroup(vyre_spv *s, uint32_t row, uint32_t entry)
{
  const uint32_t rows[3] = {s->a[row], s->b[row], s->c[row]};
  uint32_t mode[5] = {entry, SpvExecutionModeLocalSize, 1, 1, 1}, ids[3];
  bool literal = true;
  s->row = row;
  for (int i = 0; i < 3; i++) {
    uint64_t value = 1;
    ids[i] = vyre_spv_pinned(s, rows[i]);
    if (vyre_spv_opcode(s, rows[i]) != VYRE_OP_const)
      literal = false;
    else
      value = s->imm[rows[i]];
    /* Specialization overrides this default: a literal, or the default of a spec row. */
    if (vyre_spv_opcode(s, rows[i]) == VYRE_OP_spec && s->imm[rows[i]])
      value = s->imm[rows[i]];
    mode[2 + i] = (uint32_t)value;
    s->workgroup_key[i] = ids[i];
  }
  vyre_spv_instruction(s, &s->modes, SpvOpExecutionMode, mode, 5);
  if (vyre_spv_failed(s))
    return;
  uint32_t size = 0;
  if (!literal) {
    const uint32_t operands[4] = {vyre_spv_value_type(s, VYRE_TYPE(VYRE_U32, 3)), ids[0], ids[1], ids[2]};
    bool fresh;
    size = vyre_spv_intern(s, SpvOpSpecConstantComposite, true, operands, 4, NULL, 0, &fresh);
    if (fresh) {
      const uint32_t decoration[3] = {size, SpvDecorationBuiltIn, SpvBuiltInWorkgroupSize};
      vyre_spv_instruction(s, &s->decorations, SpvOpDecorate, decoration, 3);
    }
  }
  if (s->workgroup_seen && s->workgroup_size != size)
    vyre_spv_fail(s, "programs of one input have different workgroup sizes, and one size has a specialization constant\n"
                     "Fix: write each program as a module of its own");
  s->workgroup_size = size;
  s->workgroup_seen = true;
  s->row = 0;
}

static bool
has_mode(const vyre_word_list *modes, uint32_t mode, uint32_t width)
{
  for (uint32_t at = 0; at < modes->count && modes->words[at] >> 16; at += modes->words[at] >> 16)
    if (at + 3 < modes->count && modes->words[at + 2] == mode && modes->words[at + 3] == width)
      return true;
  return false;
}

/* Writes the float modes of a kind: those of the program, and those that make floats exact if it is strict and the caller permits
 * them. */
static void
write_float_modes(vyre_spv *s, const vyre_word_list *modes, uint32_t entry, vyre_kind kind)
{
  static const struct {
    uint32_t bit, mode, capability;
  } controls[] = {{VYRE_FLOAT_DENORM_PRESERVE, SpvExecutionModeDenormPreserve, SpvCapabilityDenormPreserve},
                  {VYRE_FLOAT_DENORM_FLUSH, SpvExecutionModeDenormFlushToZero, SpvCapabilityDenormFlushToZero},
                  {VYRE_FLOAT_SIGNED_ZERO_INF_NAN, SpvExecutionModeSignedZeroInfNanPreserve, SpvCapabilitySignedZeroInfNanPreserve},
                  {VYRE_FLOAT_ROUND_EVEN, SpvExecutionModeRoundingModeRTE, SpvCapabilityRoundingModeRTE},
                  {VYRE_FLOAT_ROUND_TO_ZERO, SpvExecutionModeRoundingModeRTZ, SpvCapabilityRoundingModeRTZ}};
  const bool flushes = (s->imm[s->program] & vyre_mode_flush(kind)) != 0,
             cuts = (s->imm[s->program] & vyre_mode_to_zero(kind)) != 0;
  uint32_t asked = 0;
  if (s->strict && s->value_types[VYRE_TYPE(kind, 1)])
    asked = s->float_controls >> (5u * (uint32_t)(kind - VYRE_F16)) &
            (VYRE_FLOAT_SIGNED_ZERO_INF_NAN | VYRE_FLOAT_DENORM_PRESERVE | VYRE_FLOAT_ROUND_EVEN);
  if (flushes)
    asked = (asked & ~(uint32_t)VYRE_FLOAT_DENORM_PRESERVE) | VYRE_FLOAT_DENORM_FLUSH;
  if (cuts)
    asked = (asked & ~(uint32_t)VYRE_FLOAT_ROUND_EVEN) | VYRE_FLOAT_ROUND_TO_ZERO;
  for (uint32_t i = 0; i < sizeof controls / sizeof *controls; i++) {
    const uint32_t operands[3] = {entry, controls[i].mode, vyre_kind_bits(kind)};
    if (!(asked & controls[i].bit) || has_mode(modes, operands[1], operands[2]))
      continue;
    vyre_spv_instruction(s, &s->modes, SpvOpExecutionMode, operands, 3);
    vyre_spv_need(s, controls[i].capability, 0x10400, "SPV_KHR_float_controls");
  }
}

/* Writes the input's execution modes, and the modes of a program from text. */
static void
write_modes(vyre_spv *s, const vyre_program_info *info, uint32_t entry)
{
  const vyre_word_list *modes = &info->modes;
  for (uint32_t at = 0; at < modes->count;) {
    const uint32_t count = modes->words[at] >> 16;
    if (count < 3 || count > modes->count - at)
      break;
    vyre_spv_push(s, &s->modes, modes->words[at]);
    vyre_spv_push(s, &s->modes, entry);
    vyre_spv_append(s, &s->modes, modes->words + at + 2, count - 2);
    at += count;
  }
  for (vyre_kind kind = VYRE_VOID; kind < VYRE_KIND__COUNT; kind++)
    if (vyre_kind_is_float(kind))
      write_float_modes(s, modes, entry, kind);
}

static void
write_entry(vyre_spv *s, const vyre_program_info *info, uint32_t entry)
{
  const char *name = info->entry ? vyre_string_text(s->module, info->entry) : vyre_row_name(s->module, (vyre_row){s->program});
  const uint32_t operands[2] = {SpvExecutionModelGLCompute, entry};
  const size_t start = s->entries.count;
  vyre_spv_made_of(s, VYRE_SPV_AN_ENTRY, s->program, 0)->id = entry;
  if (!name)
    name = "main";
  vyre_spv_text(s, &s->entries, SpvOpEntryPoint, operands, 2, name);
  for (uint32_t i = 0; i < VYRE_SPV_PLACES; i++)
    if (s->builtins_used & 1u << i)
      vyre_spv_push(s, &s->entries, s->builtins[i]);
  vyre_spv_append(s, &s->entries, s->interface.data, s->interface.count);
  if (vyre_spv_failed(s))
    return;
  const size_t count = s->entries.count - start;
  if (count > 0xffff)
    vyre_spv_fail(s, "an interface of %zu variables", s->interface.count);
  s->entries.data[start] = (uint32_t)count << 16 | SpvOpEntryPoint;
  if (s->names.count) /* a module without names gets no built-in names */
    vyre_spv_text(s, &s->names, SpvOpName, &entry, 1, name);
}

/* Begins a program: zeroes the arrays by row. */
static void
open_program(vyre_spv *s, uint32_t program, uint32_t rows)
{
  s->program = program;
  s->base = program;
  s->end = s->next[program] ? s->next[program] : rows;
  s->strict = !(s->imm[program] & VYRE_PROGRAM_RELAXED);
  s->plain = !s->strict;
  const uint32_t count = s->count = s->end - s->base;
  if (count > s->capacity) {
    s->capacity = count > s->capacity * 2 ? count : s->capacity * 2;
    s->id = vyre_spv_memory(s, (size_t)s->capacity * 4);
    s->aux = vyre_spv_memory(s, (size_t)s->capacity * 4);
    s->use = vyre_spv_memory(s, (size_t)s->capacity * sizeof(*s->use));
  }
  if (s->code.capacity - s->code.count < (size_t)count * 4) /* a usual upper bound */
    (void)vyre_spv_grow(s, &s->code, (size_t)count * 4);
  if (s->out_of_memory)
    return;
  memset(s->id, 0, (size_t)count * 4);
  memset(s->aux, 0, (size_t)count * 4);
  memset(s->use, 0, (size_t)count * sizeof(*s->use));
  for (uint32_t i = 0; i < count && s->in_bounds; i++)
    s->use[i] |= s->in_bounds[s->base + i] ? VYRE_SPV_IN_BOUNDS : 0;
  s->interface.count = 0;
  s->builtins_used = 0;
  s->depth = s->nesting = s->carry = 0;
  s->dead = s->fell = s->specialized = s->demoted = s->resigned = false;
  s->continuing = s->breakif = 0;
  s->carried.count = s->changes.count = 0;
  vyre_spv_push(s, &s->carried, 0); /* index 0 means none */
}

/* Writes the function and the entry point of a program, after its survey. */
static void
write_function(void *argument)
{
  vyre_spv *s = argument;
  const uint32_t program = s->program;
  const vyre_program_info *info = vyre_program_info_of(s->module, (vyre_row){program});
  const uint32_t entry = s->next_id++;
  const uint32_t void_type = vyre_spv_value_type(s, VYRE_TYPE(VYRE_VOID, 1));
  const uint32_t function_type = vyre_spv_intern(s, SpvOpTypeFunction, false, &void_type, 1, NULL, 0, NULL);
  const uint32_t function[4] = {void_type, entry, SpvFunctionControlMaskNone, function_type};
  s->here.line = 0;
  vyre_spv_line(s, program);
  vyre_spv_instruction(s, &s->code, SpvOpFunction, function, 4);
  vyre_spv_label(s, s->next_id++);
  s->sure_block = vyre_module_input(s->module, s->input)->first_program == program && !info->next_program ? s->block : 0;
  for (size_t i = 0; i < s->declared.count && !vyre_spv_failed(s); i++) {
    const uint32_t row = s->declared.data[i];
    s->row = row;
    if (vyre_spv_opcode(s, row) == VYRE_OP_workgroup)
      write_workgroup(s, row, entry);
    else if (vyre_spv_opcode(s, row) == VYRE_OP_buffer)
      vyre_spv_buffer(s, row);
    else
      vyre_spv_demoted_var(s, row);
  }
  s->row = 0;
  if (!vyre_spv_failed(s))
    vyre_spv_memory_start(s);
  if (s->debug_set)
    vyre_spv_debug_definition(s, entry);
  vyre_spv_find_values(s);
  vyre_spv_declare_variables(s);
  vyre_spv_region(s, program);
  s->row = 0;
  if (vyre_spv_failed(s))
    return;
  if (!s->dead)
    vyre_spv_instruction(s, &s->code, SpvOpReturn, NULL, 0);
  vyre_spv_instruction(s, &s->code, SpvOpFunctionEnd, NULL, 0);
  write_modes(s, info, entry);
  write_entry(s, info, entry);
}

static void
write_program(vyre_spv *s)
{
  vyre_spv_row_capabilities(s);
  vyre_spv_survey(s);
  if (vyre_spv_failed(s))
    return;
  const vyre_status status = vyre_call_nested(s->nests, write_function, s);
  s->status = vyre_status_join(s->status, status);
  s->failed |= s->status != VYRE_OK;
}

/* Writes the parts that come from the input: capabilities, extensions, kept debug information. */
static void
write_head(vyre_spv *s, const vyre_input *input)
{
  for (uint32_t i = 0; i < input->capabilities.count; i++)
    vyre_spv_instruction(s, &s->capabilities, SpvOpCapability, &input->capabilities.words[i], 1);
  if (input->capabilities.count == 0)
    vyre_spv_need(s, SpvCapabilityShader, 0, NULL);
  vyre_spv_input_extensions(s, &input->extensions);
  vyre_spv_debug(s, input);
}

static vyre_status
put_together(vyre_spv *s, const vyre_input *input, vyre_bytes *out)
{
  const uint32_t header[5] = {SpvMagicNumber, s->version, 0, s->next_id, 0};
  const uint32_t model[2] = {input->spirv_version ? input->addressing : SpvAddressingModelLogical, s->memory_model};
  vyre_spv_words memory = {0};
  vyre_spv_other_names(s);
  if (s->glsl)
    vyre_spv_text(s, &s->imports, SpvOpExtInstImport, &s->glsl, 1, "GLSL.std.450");
  vyre_spv_instruction(s, &memory, SpvOpMemoryModel, model, 2);
  const vyre_spv_words *const sections[] = {&s->capabilities, &s->extensions,  &s->imports, &memory,
                                            &s->entries,      &s->modes,       &s->strings, &s->names,
                                            &s->processed,    &s->decorations, &s->globals, &s->code};
  const size_t section_count = sizeof(sections) / sizeof(sections[0]);
  size_t size = sizeof(header);
  for (size_t i = 0; i < section_count; i++)
    size += sections[i]->count * 4;
  const size_t before = out->size;
  vyre_status status = s->out_of_memory ? VYRE_OUT_OF_MEMORY("writing SPIR-V") : vyre_bytes_reserve(out, out->size + size);
  if (!status)
    status = vyre_bytes_append(out, header, sizeof(header));
  for (size_t i = 0; i < section_count && !status; i++)
    if (sections[i]->count)
      status = vyre_bytes_append(out, sections[i]->data, sections[i]->count * 4);
  if (status)
    out->size = before;
  return status;
}

vyre_status
vyre_spirv_write(const vyre_module *module, uint32_t input, const vyre_spirv_options *options, vyre_bytes *out)
{
  VYRE_OWN_ENVIRONMENT;
  vyre_spirv_options o;
  VYRE_TRY(vyre_options_read(&o, sizeof o, options, "vyre_spirv_options"));
  /* Accessors of side tables have a non-const parameter; the module is not changed. */
  vyre_module *borrowed = (vyre_module *)(uintptr_t)module;
  const vyre_view *view = vyre_module_view(module);
  if (input >= vyre_module_input_count(module))
    return VYRE_ERROR(VYRE_CODE_INTERNAL, "spirv: input %u of %u", input, vyre_module_input_count(module));
  if (!vyre_module_is_sealed(module))
    return VYRE_ERROR(VYRE_CODE_INTERNAL, "spirv: the module is not sealed");
  uint32_t count;
  const uint32_t *words = vyre_spv_verbatim(borrowed, input, &count);
  if (words)
    return vyre_bytes_append(out, words, (size_t)count * sizeof(uint32_t));
  const vyre_input *from = vyre_module_input(borrowed, input);
  vyre_spv s = {.module = borrowed,
                .view = view,
                .op = view->op,
                .imm = view->imm,
                .imm_hi = view->imm_hi,
                .a = view->a,
                .b = view->b,
                .c = view->c};
  s.parent = view->parent;
  s.next = view->next;
  s.first = view->first;
  s.last = view->last;
  s.allocator = vyre_module_allocator(module);
  s.strip = o.strip;
  s.row_names = vyre_module_names(module, &s.named);
  (void)vyre_module_lines(module, &s.lined);
  if (s.strip)
    s.named = s.lined = 0;
  s.float_controls = o.float_controls;
  s.in_bounds = o.in_bounds;
  s.input = input;
  s.version = from->spirv_version ? from->spirv_version : VERSION_OF_TEXT;
  s.memory_model = from->spirv_version ? from->memory : SpvMemoryModelGLSL450;
  s.next_id = 1;
  for (uint32_t i = 0; i < from->capabilities.count; i++)
    s.shared_blocks |= from->capabilities.words[i] == SpvCapabilityWorkgroupMemoryExplicitLayoutKHR;
  write_head(&s, from);
  for (uint32_t program = from->first_program; program && !vyre_spv_failed(&s);
       program = vyre_program_info_of(borrowed, (vyre_row){program})->next_program) {
    open_program(&s, program, view->rows);
    if (!vyre_spv_failed(&s))
      write_program(&s);
  }
  if (!from->first_program && !vyre_spv_failed(&s)) {
    s.failed = true;
    s.status = VYRE_ERROR(VYRE_CODE_INPUT, "spirv: '%s' has no program\nFix: give an input with an entry point",
                          vyre_string_text(module, from->path));
  }
  vyre_spv_end_debug(&s);
  vyre_spv_reflection(&s);
  vyre_spv_resolve_rest(&s);
  vyre_spv_stages(&s, from);
  vyre_spv_set_extension(&s);
  if (from->capabilities.count == 0)
    vyre_spv_type_capabilities(&s);
  vyre_status status = s.status;
  if (!status)
    status = put_together(&s, from, out);
  vyre_spv_free(&s);
  return status;
}
