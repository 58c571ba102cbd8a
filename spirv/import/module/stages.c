/* Keeps the entry points of other stages than compute verbatim, with everything that they need.
 *
 * A module may hold shaders of all stages.  Only the functions that compute entry points call are read.  The instructions that the
 * other entry points need are found by marking ids: the functions that they reach, and the declarations that these use.  The marked
 * instructions are appended to the input's list of kept words, in the module's order, after its strings and sources.  The exporter
 * writes them with new ids.
 *
 * Cost: the words of the module, once for each function on the longest chain of calls and each declaration that is used before its
 * definition.
 *
 * A module stays verbatim if it has
 *   - a function that is an entry point of a compute shader and of another stage,
 *   - a workgroup size that mesh shaders share,
 *   - decoration groups,
 *   - switches, if it may have 64-bit integers, or
 *   - instructions that the grammar lacks.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/import/import.h"

#include <stdio.h>
#include <string.h>

/* used by a compute entry point; used by another entry point; defined by a kept instruction */
enum { CALLED = 1, NEEDED = 2, THERE = 4 };

typedef struct body {
  uint32_t start, end; /* first word of OpFunction; first word after OpFunctionEnd */
  uint8_t walked;      /* CALLED and NEEDED bits with which its words are marked */
} body;

typedef struct declaration {
  uint32_t at;
  bool kept;
} declaration;

typedef struct stages {
  import *m;
  uint8_t *kinds;
  list bodies, declarations;
} stages;

static bool
find_bodies(stages *s)
{
  import *m = s->m;
  const uint32_t first = m->at;
  body *b = NULL;
  for (; m->at < m->word_count; m->at += m->words[m->at] >> 16) {
    const uint32_t op = m->words[m->at] & 0xffffu;
    if (!import_whole(m))
      return false;
    if (op == SpvOpFunction) {
      b = import_needs(m, 5) ? list_add(m, &s->bodies, sizeof(body), 1) : NULL;
      if (!b)
        return false;
      *b = (body){m->at, m->at, 0};
    }
    if (b)
      b->end = m->at + (m->words[m->at] >> 16);
    if (op == SpvOpFunctionEnd)
      b = NULL;
  }
  m->at = first;
  return true;
}

static bool
find_declarations(stages *s)
{
  import *m = s->m;
  for (uint32_t at = 5; at < m->first_function; at += m->words[at] >> 16) {
    const uint32_t op = m->words[at] & 0xffffu;
    if (op == SpvOpGroupDecorate || op == SpvOpGroupMemberDecorate)
      return import_uncovered(m, "groups of decorations are not supported in a module of several stages");
    declaration *d = list_add(m, &s->declarations, sizeof(declaration), 1);
    if (!d)
      return false;
    *d = (declaration){at, false};
  }
  return true;
}

static bool
mark_id(import *m, uint32_t id, uint8_t bit)
{
  if (id == 0 || id >= m->bound)
    return import_fail(m, "id %u is outside of the bound %u", id, m->bound);
  m->marks[id] |= bit;
  return true;
}

static bool
declares_wide(import *m)
{
  const vyre_word_list *l = &vyre_module_input(m->module, m->input)->capabilities;
  for (uint32_t k = 0; k < l->count; k++)
    if (l->words[k] == SpvCapabilityInt64)
      return true;
  return false;
}

/* Marks all ids of the instruction at m->at. */
static bool
mark_ids(stages *s)
{
  import *m = s->m;
  const uint32_t *words = m->words + m->at, count = words[0] >> 16, op = words[0] & 0xffffu;
  if (!vyre_words_kinds(words, count, s->kinds))
    return import_uncovered(m, "its operands are not supported in a module of several stages");
  if (op == SpvOpSwitch && declares_wide(m))
    return import_uncovered(m, "not supported in other stages than compute if integers may have 64 bits");
  for (uint32_t k = 1; k < count; k++)
    if (s->kinds[k] != VYRE_WORD_KIND_LITERAL && !mark_id(m, words[k], NEEDED))
      return false;
  return true;
}

static bool
walk(stages *s, uint32_t start, uint32_t end, uint8_t bit)
{
  import *m = s->m;
  for (m->at = start; m->at < end; m->at += m->words[m->at] >> 16) {
    const uint32_t *words = m->words + m->at;
    const bool calls = (words[0] & 0xffffu) == SpvOpFunctionCall;
    if (bit == NEEDED ? !mark_ids(s) : calls && (!import_needs(m, 4) || !mark_id(m, words[3], bit)))
      return false;
  }
  return true;
}

/* Marks the functions that marked ones call, transitively. */
static bool
reach(stages *s, uint8_t bit)
{
  import *m = s->m;
  for (bool more = true; more;) {
    more = false;
    for (uint32_t k = 0; k < s->bodies.count; k++) {
      body *b = AT(body, s->bodies, k);
      const uint32_t id = m->words[b->start + 2];
      if (id >= m->bound || !(m->marks[id] & bit) || (b->walked & bit))
        continue;
      b->walked |= bit;
      more = true;
      if (!walk(s, b->start, b->end, bit))
        return false;
    }
  }
  return true;
}

/* Returns whether an instruction before the functions belongs to a marked id. */
static bool
is_needed(const import *m, uint32_t at)
{
  const uint32_t *words = m->words + at, count = words[0] >> 16, op = words[0] & 0xffffu;
  const uint32_t shape = vyre_words_shape(op), result = shape == 3 ? 2 : 1;
  uint32_t id = count > 1 ? words[1] : 0;
  switch (op) {
  case SpvOpEntryPoint:
    return words[1] != SpvExecutionModelGLCompute;
  case SpvOpString: /* all strings are kept */
  case SpvOpCapability:
  case SpvOpMemoryModel:
  case SpvOpSource:
  case SpvOpLine:
    return false;
  case SpvOpName:
  case SpvOpMemberName:
  case SpvOpExecutionMode:
  case SpvOpExecutionModeId:
  case SpvOpDecorate:
  case SpvOpDecorateId:
  case SpvOpDecorateString:
  case SpvOpMemberDecorate:
  case SpvOpMemberDecorateString:
  case SpvOpTypeForwardPointer:
    break;
  default:
    id = shape && count > result ? words[result] : 0;
  }
  return id < m->bound && (m->marks[id] & NEEDED);
}

/* Keeps the declarations that kept instructions need.  Walks backwards, because most declarations precede their uses.  Walks again
 * until nothing changes, because a forward pointer is used before its declaration. */
static bool
mark_declarations(stages *s)
{
  import *m = s->m;
  for (bool more = true; more;) {
    more = false;
    for (uint32_t k = s->declarations.count; k-- > 0;) {
      declaration *d = AT(declaration, s->declarations, k);
      if (d->kept || !is_needed(m, d->at))
        continue;
      d->kept = more = true;
      m->at = d->at;
      if (!mark_ids(s))
        return false;
    }
  }
  return true;
}

static const char *
stage_name(uint32_t model)
{
  static const char *const names[] = {"Vertex", "TessellationControl", "TessellationEvaluation", "Geometry", "Fragment"};
  if (model < sizeof(names) / sizeof(*names))
    return names[model];
  switch (model) {
  case SpvExecutionModelKernel:
    return "Kernel";
  case SpvExecutionModelTaskNV:
  case SpvExecutionModelTaskEXT:
    return "Task";
  case SpvExecutionModelMeshNV:
  case SpvExecutionModelMeshEXT:
    return "Mesh";
  default:
    return model >= SpvExecutionModelRayGenerationKHR && model <= SpvExecutionModelCallableKHR ? "ray tracing" : "another stage";
  }
}

static bool
is_function(const stages *s, uint32_t id)
{
  for (uint32_t k = 0; k < s->bodies.count; k++)
    if (s->m->words[AT(body, s->bodies, k)->start + 2] == id)
      return true;
  return false;
}

/* Names the kept entry points in the remark, and checks that shared functions can be kept. */
static bool
name_entries(const stages *s)
{
  import *m = s->m;
  char text[400] = "";
  for (uint32_t k = 0; k < m->stages.count; k++) {
    const uint32_t at = *AT(uint32_t, m->stages, k), *words = m->words + at;
    const size_t used = strlen(text);
    size_t length;
    const char *name = import_text(m, at + 3, at + (words[0] >> 16), &length);
    snprintf(text + used, sizeof(text) - used, "%s'%.100s' (%s)", used ? ", " : "", name ? name : "", stage_name(words[1]));
    m->at = at;
    if (!is_function(s, words[2]))
      return import_fail(m, "id %u is not a function", words[2]);
  }
  for (uint32_t i = 0; i < m->entries.count; i++) { /* debug instructions of another stage may also use a compute entry point */
    const entry *e = AT(entry, m->entries, i);
    m->at = e->word;
    if (m->marks[e->function] & NEEDED)
      return import_uncovered(m, "function %u is an entry point of several stages, which is not supported", e->function);
  }
  if (m->workgroup_size && (m->marks[m->workgroup_size] & NEEDED))
    return import_uncovered(m, "a WorkgroupSize that several stages share is not supported");
  vyre_module_input(m->module, m->input)->stages = vyre_string_intern(m->module, text, strlen(text));
  return true;
}

/* Appends whole instructions to the kept words. */
static void
keep_words(import *m, uint32_t start, uint32_t end)
{
  vyre_word_list_append(m->module, &vyre_module_input(m->module, m->input)->kept, m->words + start, end - start);
  for (uint32_t at = start; at < end; at += m->words[at] >> 16) {
    const uint32_t shape = vyre_words_shape(m->words[at] & 0xffffu);
    if (shape)
      m->marks[m->words[at + (shape == 3 ? 2 : 1)]] |= THERE; /* mark_ids has checked the ids */
  }
}

static bool
keep_needed(const stages *s)
{
  import *m = s->m;
  for (uint32_t k = 0; k < s->declarations.count; k++) {
    const uint32_t at = AT(declaration, s->declarations, k)->at, *words = m->words + at;
    if (AT(declaration, s->declarations, k)->kept)
      keep_words(m, at, at + (words[0] >> 16));
    else if ((words[0] & 0xffffu) == SpvOpString && words[0] >> 16 > 1 && words[1] < m->bound)
      m->marks[words[1]] |= THERE;
  }
  for (uint32_t k = 0; k < s->bodies.count; k++) {
    const body *b = AT(body, s->bodies, k);
    if (b->walked & NEEDED)
      keep_words(m, b->start, b->end);
  }
  for (uint32_t id = 1; id < m->bound; id++) /* debug instructions may use any id */
    if ((m->marks[id] & (NEEDED | THERE)) == NEEDED)
      return import_uncovered(m, "id %u of a compute shader is used by another stage, which is not supported", id);
  return true;
}

bool
import_stages(import *m)
{
  const uint32_t first = m->at;
  stages s = {.m = m, .kinds = import_memory_of(m, 0x10000)};
  m->marks = import_memory_of(m, m->bound);
  if (!s.kinds || !m->marks)
    return false;
  memset(m->marks, 0, m->bound);
  if (!find_bodies(&s) || !find_declarations(&s))
    return false;
  for (uint32_t k = 0; k < m->entries.count; k++)
    if (!mark_id(m, AT(entry, m->entries, k)->function, CALLED))
      return false;
  for (uint32_t k = 0; k < m->stages.count; k++) {
    m->at = *AT(uint32_t, m->stages, k);
    if (!mark_ids(&s))
      return false;
  }
  const bool done = reach(&s, CALLED) && reach(&s, NEEDED) && mark_declarations(&s) && name_entries(&s) && keep_needed(&s);
  m->at = first;
  return done;
}

bool
import_is_called(const import *m, uint32_t id)
{
  return id >= m->bound || (m->marks[id] & CALLED);
}
