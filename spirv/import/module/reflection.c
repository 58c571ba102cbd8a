/* Keeps the reflection of a module, which tools read and which does not change its meaning.  Reflection is string decorations,
 * decorations with ids (user types, semantics, counter buffers), and NonSemantic instructions before the functions.
 *
 * Each instruction is appended to the input's list of kept words, in a form without the input's ids (words.h).  Its operands may be
 * variables, types, scalar constants, strings, entry points and kept instructions.  An instruction with another operand is dropped.
 *
 * Cost: linear in the words of these instructions, and at most MOST_STEPS steps to find structs in the types of variables.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/import/import.h"

#include <string.h>

#define MOST_STEPS (1u << 22)

typedef struct reflector {
  import *m;
  list record;    /* words of the current instruction */
  uint32_t *seen; /* by id: the search that last visited the type */
  uint32_t search, steps;
  uint32_t path[256], depth;
} reflector;

static bool
append_record(reflector *r, vyre_reflected kind, const uint32_t *words, uint32_t count)
{
  if (!list_add_word(r->m, &r->record, (uint32_t)kind | count << 8))
    return false;
  for (uint32_t k = 0; k < count; k++)
    if (!list_add_word(r->m, &r->record, words[k]))
      return false;
  return true;
}

/* ---- structs: the path to a struct from a variable ---- */

/* Finds the type `wanted` in `type`, and leaves the steps to it in `path`. */
static bool
find_struct(reflector *r, uint32_t type, uint32_t wanted)
{
  import *m = r->m;
  const spv_type *t = m->ids[type].kind == ID_TYPE ? m->ids[type].t : NULL;
  if (type == wanted)
    return true;
  if (!t || r->seen[type] == r->search || r->depth == sizeof(r->path) / sizeof(*r->path) || r->steps++ > MOST_STEPS)
    return false;
  r->seen[type] = r->search;
  const bool is_array = t->form == FORM_ARRAY || t->form == FORM_RUNTIME;
  const uint32_t parts = is_array ? 1 : t->form == FORM_STRUCT ? t->count : 0;
  for (uint32_t k = 0; k < parts; k++) {
    r->path[r->depth++] = is_array ? VYRE_REFLECTED_ELEMENT : k;
    if (find_struct(r, is_array ? t->element : AT(spv_member, m->members, t->members + k)->type, wanted))
      return true;
    r->depth--;
  }
  return false;
}

static bool
put_struct(reflector *r, uint32_t variable, uint32_t type)
{
  import *m = r->m;
  const spv_type *t = m->ids[variable].t;
  r->search++;
  r->path[0] = variable;
  r->depth = 1;
  return t && t->form == FORM_POINTER && find_struct(r, t->element, type) &&
         append_record(r, VYRE_REFLECTED_STRUCT, r->path, r->depth);
}

static bool
is_struct(const import *m, uint32_t id)
{
  return id < m->bound && m->ids[id].kind == ID_TYPE && m->ids[id].t->form == FORM_STRUCT;
}

/* ---- operands ---- */

static bool
put_constant(reflector *r, uint32_t id)
{
  const import *m = r->m;
  const id_info *info = &m->ids[id];
  const uint32_t *words = m->words + info->def, op = words[0] & 0xffffu, count = words[0] >> 16;
  if (!info->t || info->t->form != FORM_VALUE || VYRE_TYPE_LANES(info->t->value) != 1 ||
      !vyre_kind_is_scalar(VYRE_TYPE_KIND(info->t->value)))
    return false;
  uint32_t operands[3] = {info->t->value, 0, 0};
  const uint32_t bits = vyre_kind_bits(VYRE_TYPE_KIND(info->t->value));
  if (op == SpvOpConstant && count > 3 + (bits == 64)) {
    operands[1] = bits < 32 ? words[3] & ((1u << bits) - 1) : words[3];
    operands[2] = bits == 64 ? words[4] : 0;
  } else if (op == SpvOpConstantTrue) {
    operands[1] = 1;
  } else if (op != SpvOpConstantFalse && op != SpvOpConstantNull) {
    return false;
  }
  return append_record(r, VYRE_REFLECTED_CONSTANT, operands, 3);
}

/* Puts the name of the entry point whose function is `id`. */
static bool
put_entry(reflector *r, uint32_t id)
{
  import *m = r->m;
  for (uint32_t i = 0; i < m->entries.count; i++) {
    const entry *e = AT(entry, m->entries, i);
    size_t length;
    if (e->function == id && import_text(m, e->word + 3, e->word + (m->words[e->word] >> 16), &length))
      return append_record(r, VYRE_REFLECTED_ENTRY, m->words + e->word + 3, (uint32_t)(length / 4 + 1));
  }
  return false;
}

static bool
put_variable(reflector *r, uint32_t id)
{
  uint32_t builtin;
  if (import_decoration(r->m, id, SpvDecorationBuiltIn, &builtin))
    return append_record(r, VYRE_REFLECTED_BUILTIN, &builtin, 1);
  return append_record(r, VYRE_REFLECTED_VARIABLE, &id, 1);
}

/* Puts an operand.  A struct is found from `variable` or, if that is 0, from the first variable that contains it. */
static bool
put_id(reflector *r, uint32_t id, uint32_t variable)
{
  import *m = r->m;
  const id_info *info = &m->ids[id < m->bound ? id : 0];
  uint32_t type = VYRE_TYPE(VYRE_VOID, 1);
  switch ((id_kind)info->kind) {
  case ID_STRING:
    return append_record(r, VYRE_REFLECTED_STRING, &id, 1);
  case ID_CONSTANT:
    return put_constant(r, id);
  case ID_GLOBAL:
    return put_variable(r, id);
  case ID_GROUP:
    return append_record(r, VYRE_REFLECTED_INSTRUCTION, &id, 1);
  case ID_TYPE:
    if (is_struct(m, id)) {
      for (uint32_t k = 0; k < m->variables.count && !variable; k++)
        if (put_struct(r, *AT(uint32_t, m->variables, k), id))
          return true;
      return variable && put_struct(r, variable, id);
    }
    if (info->t->form != FORM_VOID && (info->t->form != FORM_VALUE || import_is_opaque_type(info->t)))
      return false;
    type = info->t->form == FORM_VALUE ? info->t->value : type;
    return append_record(r, VYRE_REFLECTED_TYPE, &type, 1);
  default:
    return put_entry(r, id);
  }
}

/* ---- instructions ---- */

static bool
keep(reflector *r, uint32_t op, uint32_t result)
{
  const uint32_t head[5] = {(r->record.count + 5) << 16 | SpvOpExtInst, 0, result, VYRE_REFLECTED_SET, op};
  if (r->record.count + 5 > 0xffff)
    return false;
  vyre_word_list *kept = &vyre_module_input(r->m->module, r->m->input)->kept;
  vyre_word_list_append(r->m->module, kept, head, 5);
  vyre_word_list_append(r->m->module, kept, r->record.data, r->record.count);
  return true;
}

/* Keeps an instruction of a NonSemantic set. */
static bool
keep_instruction(reflector *r, const uint32_t *words, uint32_t count)
{
  import *m = r->m;
  const uint32_t set = m->ids[words[3]].def;
  size_t length = 0;
  const char *name = import_text(m, set + 2, set + (m->words[set] >> 16), &length);
  if (!name || strncmp(name, "NonSemantic.", 12) != 0 || m->ids[words[1]].t->form != FORM_VOID)
    return false;
  r->record.count = 0;
  bool right = append_record(r, VYRE_REFLECTED_NAME, m->words + set + 2, (uint32_t)(length / 4 + 1)) &&
               append_record(r, VYRE_REFLECTED_LITERAL, words + 4, 1);
  for (uint32_t k = 5; k < count && right; k++)
    right = put_id(r, words[k], 0);
  return right && keep(r, SpvOpExtInst, words[2]);
}

/* Keeps a decoration of a variable, or of a struct in the variable `from`. */
static bool
keep_decoration(reflector *r, const uint32_t *words, uint32_t count, uint32_t from)
{
  const uint32_t op = words[0] & 0xffffu, literals = op == SpvOpMemberDecorateString ? 2 : 1;
  r->record.count = 0;
  bool right = put_id(r, words[1], from) &&
               append_record(r, VYRE_REFLECTED_LITERAL, words + 2, op == SpvOpDecorateId ? literals : count - 2);
  for (uint32_t k = 3; k < count && right && op == SpvOpDecorateId; k++)
    right = put_id(r, words[k], 0);
  return right && keep(r, op, 0);
}

/* Keeps a struct's decorations once for each variable that contains it, because variables may be removed. */
static bool
keep_decorations(reflector *r, const uint32_t *words, uint32_t count)
{
  import *m = r->m;
  bool any = false;
  if (words[1] < m->bound && m->ids[words[1]].kind == ID_GLOBAL)
    return keep_decoration(r, words, count, 0);
  for (uint32_t k = 0; k < m->variables.count && is_struct(m, words[1]); k++)
    any |= keep_decoration(r, words, count, *AT(uint32_t, m->variables, k));
  return any;
}

void
import_keep_reflection(import *m)
{
  reflector r = {.m = m, .record = m->reflected_words};
  if (m->reflected.count)
    r.seen = import_memory_of(m, m->bound * sizeof(*r.seen));
  if (r.seen)
    memset(r.seen, 0, m->bound * sizeof(*r.seen));
  for (uint32_t k = 0; k < m->reflected.count && !failed(m); k++) {
    const uint32_t *words = m->words + *AT(uint32_t, m->reflected, k), op = words[0] & 0xffffu, count = words[0] >> 16;
    if (op == SpvOpExtInst) {
      if (!keep_instruction(&r, words, count))
        import_drop_set(m, words[3]);
    } else if (!keep_decorations(&r, words, count) && op != SpvOpDecorateId) {
      import_drop(m, "decorations that are strings");
    }
  }
  m->reflected_words = r.record;
}
