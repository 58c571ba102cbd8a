/* Refuses modules with properties that GLSL text cannot express.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "glsl.h"

#include "common.h"

#define LASTING (VYRE_ACCESS_COHERENT | VYRE_ACCESS_VOLATILE)

static bool
refuse_modes(glsl *g)
{
  static const struct {
    uint32_t mode;
    const char *name;
  } names[] = {{35, "SubgroupSize"},
               {4459, "DenormPreserve"},
               {4460, "DenormFlushToZero"},
               {4461, "SignedZeroInfNanPreserve"},
               {4462, "RoundingModeRTE"},
               {4463, "RoundingModeRTZ"},
               {4421, "SubgroupUniformControlFlowKHR"}};
  const vyre_word_list *modes = &vyre_program_info_of((vyre_module *)g->module, (vyre_row){g->program})->modes;
  if (g->v->imm[g->program] & VYRE_PROGRAM_FLOAT_MODES)
    return glsl_fail(g, g->program, "GLSL cannot request flushed denormals or rounding toward zero\nFix: write SPIR-V");
  if (modes->count < 3)
    return true;
  for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
    if (names[i].mode == modes->words[2])
      return glsl_fail(g, g->program, "GLSL has no execution mode %s\nFix: write SPIR-V", names[i].name);
  return glsl_fail(g, g->program, "GLSL has no execution mode with SPIR-V's number %u\nFix: write SPIR-V", modes->words[2]);
}

/* ---- memory ---- */

/* Returns the access bits of all members in a type.  Excludes those of a block's own members, which the text declares. */
static uint32_t
members_access(const glsl *g, vyre_type_id type, bool is_block)
{
  const vyre_type_info info = vyre_type_get(g->module, type);
  uint32_t access = 0;
  if (info.form == VYRE_FORM_ARRAY)
    return members_access(g, info.element, is_block);
  for (uint32_t k = 0; info.form == VYRE_FORM_STRUCT && k < info.count; k++)
    access |= (is_block ? 0 : info.members[k].access) | members_access(g, info.members[k].type, false);
  return access;
}

static bool
refuse_buffer(glsl *g, uint32_t row)
{
  const uint32_t access = g->v->imm_hi[row];
  const vyre_space space = VYRE_BUFFER_SPACE(access);
  const bool is_struct = vyre_type_get(g->module, g->v->imm[row]).form == VYRE_FORM_STRUCT;
  if (space == VYRE_SPACE_WORKGROUP && (access & VYRE_ACCESS_ALIASED) != 0 && is_struct)
    return glsl_fail(g, row, "GLSL output has no workgroup blocks that share their memory\nFix: write SPIR-V");
  const uint32_t lost = members_access(g, g->v->imm[row], space == VYRE_SPACE_STORAGE) | (space == VYRE_SPACE_STORAGE ? 0 : access);
  if (lost & (space == VYRE_SPACE_WORKGROUP ? (uint32_t)VYRE_ACCESS_VOLATILE : LASTING)) /* shared memory is coherent */
    return glsl_fail(g, row,
                     "GLSL has volatile and coherent only for storage buffers and members of their blocks\n"
                     "Fix: write SPIR-V");
  return true;
}

/* Returns the access bits that the text declares for a path: those of its buffer and of the block's member. */
static uint32_t
declared_access(const glsl *g, uint32_t path)
{
  const uint32_t buffer = vyre_path_buffer(g->module, (vyre_row){path}).id;
  const vyre_space space = VYRE_BUFFER_SPACE(g->v->imm_hi[buffer]);
  uint32_t first = 0; /* the step into the block */
  for (uint32_t at = path; glsl_is(g, at, VYRE_OP_at); at = g->v->a[at])
    if (vyre_type_get(g->module, vyre_path_type(g->module, (vyre_row){g->v->a[at]})).form == VYRE_FORM_STRUCT)
      first = at;
  if (space != VYRE_SPACE_STORAGE)
    return space == VYRE_SPACE_WORKGROUP ? VYRE_ACCESS_COHERENT : 0;
  if (!first)
    return g->v->imm_hi[buffer];
  const vyre_type_info block = vyre_type_get(g->module, vyre_path_type(g->module, (vyre_row){g->v->a[first]}));
  const uint32_t index = VYRE_ROW_FLAGS(g->v->op[first]) & VYRE_ROW_IMM ? g->v->imm[first] : g->v->imm[g->v->b[first]];
  return g->v->imm_hi[buffer] | (index < block.count ? block.members[index].access : 0);
}

static bool
refuse_access(glsl *g, uint32_t row, uint32_t path)
{
  const uint32_t flags = VYRE_ROW_FLAGS(g->v->op[row]), access = flags ? declared_access(g, path) : 0;
  if (flags & VYRE_ROW_VOLATILE && !(access & VYRE_ACCESS_VOLATILE))
    return glsl_fail(g, row, "GLSL has no volatile access to memory that is not declared volatile\nFix: write SPIR-V");
  if (flags & VYRE_ROW_COHERENT && !(access & VYRE_ACCESS_COHERENT))
    return glsl_fail(g, row, "GLSL has no coherent access to memory that is not declared coherent\nFix: write SPIR-V");
  return true;
}

static bool
refuse_order(glsl *g, uint32_t row)
{
  const uint32_t lost = VYRE_ORDER_SEMANTICS(g->v->imm[row]) & 0xe000u; /* MakeAvailable, MakeVisible, Volatile */
  return lost == 0 || glsl_fail(g, row, "GLSL has no memory order with SPIR-V's bits 0x%x\nFix: write SPIR-V", lost);
}

/* ---- values ---- */

static bool
refuse_decorations(glsl *g, uint32_t row)
{
  uint32_t count = 0;
  const uint32_t *words = vyre_row_decorations(g->module, (vyre_row){row}, &count);
  for (uint32_t at = 0; words && at + 2 <= count; at += 2 + words[at + 1]) {
    const uint32_t which = words[at];
    const bool changes_nothing = which == 40 || which == 4469 || which == 4470 || which == 5635 || which == 5636;
    if (which == 39) /* FPRoundingMode */
      return glsl_fail(g, row, "GLSL has no conversion with a rounding mode (FPRoundingMode)\nFix: write SPIR-V");
    if (!changes_nothing) /* FPFastMathMode, NoSignedWrap, NoUnsignedWrap, UserSemantic, UserTypeGOOGLE */
      return glsl_fail(g, row, "GLSL has no decoration with SPIR-V's number %u\nFix: write SPIR-V", which);
  }
  return true;
}

bool
glsl_refuse(glsl *g)
{
  const vyre_view *v = g->v;
  g->status = code_refuse_opaque(g->module, g->program, "GLSL");
  if (g->status || !refuse_modes(g))
    return false;
  for (uint32_t row = g->program + 1; row < g->end && !g->status; row++) {
    const vyre_opcode op = glsl_opcode(g, row);
    const bool copies = op == VYRE_OP_copy || op == VYRE_OP_async_copy;
    if (op == VYRE_OP_buffer)
      refuse_buffer(g, row);
    else if (op == VYRE_OP_load || op == VYRE_OP_store || copies || vyre_op_is_atomic(op))
      refuse_access(g, row, v->a[row]);
    else if (op >= VYRE_OP_gid && VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_DECO)
      refuse_decorations(g, row);
    if (copies)
      refuse_access(g, row, v->b[row]);
    if (op == VYRE_OP_barrier || vyre_op_is_atomic(op))
      refuse_order(g, row);
  }
  return !g->status;
}
