/* Reads a SPIR-V module: its header and byte order, its declarations, then one program for each compute entry point.
 *
 * Limits: constants of state.h; an error names the limit.  Cost: linear in the instructions after inlining.  Loops add the blocks
 * in them once per enclosing loop.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/import/import.h"
#include "vyre/environment.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool
import_fail(import *m, const char *format, ...)
{
  if (m->status)
    return false;
  char what[600];
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof(what), format, args);
  va_end(args);
  const bool has_fix = m->uncovered || strstr(what, "\nFix: ");
  const char *fix = has_fix ? "" : "\nFix: check the module with spirv-val";
  if (m->at < 5 || m->at >= m->word_count) {
    m->status = VYRE_ERROR(VYRE_CODE_INPUT, "%s: %s%s", m->path, what, fix);
    return false;
  }
  char place[400] = "";
  for (uint32_t at = m->function; m->function && at < m->at; at += m->words[at] >> 16)
    import_line(m, at); /* import_scan does not read line instructions */
  if (m->where.file)
    snprintf(place, sizeof(place), " (%.300s:%u)", vyre_string_text(m->module, m->where.file), m->b.line);
  m->status = VYRE_ERROR(VYRE_CODE_INPUT, "%s: %s at word %u%s: %s%s", m->path, import_op_name(m->words[m->at] & 0xffffu), m->at,
                         place, what, fix);
  return false;
}

bool
import_fail_memory(import *m)
{
  if (!m->status)
    m->status = VYRE_OUT_OF_MEMORY("while reading SPIR-V");
  return false;
}

/* ---- memory: a chunk borrowed from the module, then chunks that live until the import ends ---- */

#define CHUNK_BYTES 0x8000u

typedef struct chunk {
  struct chunk *next;
  size_t size;
} chunk;

static bool
add_chunk(import *m, size_t bytes)
{
  size_t size = sizeof(chunk) + bytes;
  chunk *c = m->allocator->resize(m->allocator->user, NULL, 0, size);
  if (!c)
    return import_fail_memory(m);
  *c = (chunk){m->chunks, size};
  m->chunks = c;
  m->chunk_at = (char *)(c + 1);
  m->chunk_left = bytes;
  m->chunk_bytes += bytes;
  return true;
}

void *
import_memory_of(import *m, size_t bytes)
{
  bytes = (bytes + 15) & ~(size_t)15;
  if (m->chunk_left < bytes && !add_chunk(m, bytes > CHUNK_BYTES / 2 ? bytes + CHUNK_BYTES : CHUNK_BYTES))
    return NULL;
  void *memory = m->chunk_at;
  m->chunk_at += bytes;
  m->chunk_left -= bytes;
  return memory;
}

bool
list_grow(import *m, list *l, size_t size, uint32_t more)
{
  const uint64_t need = (uint64_t)l->count + more, times = l->capacity < 4096 ? 4 : 2;
  uint64_t capacity = l->capacity ? times * l->capacity : 64;
  while (capacity < need)
    capacity *= 2;
  if (capacity > UINT32_MAX / 4)
    return import_fail_memory(m);
  void *data = import_memory_of(m, (size_t)capacity * size);
  if (!data)
    return false;
  if (l->count)
    memcpy(data, l->data, l->count * size);
  l->data = data;
  l->capacity = (uint32_t)capacity;
  return true;
}

static void
free_all(import *m)
{
  if (m->borrowed)
    vyre_module_return_room(m->module, m->chunk_bytes);
  for (chunk *c = m->chunks, *next; c; c = next) {
    next = c->next;
    m->allocator->resize(m->allocator->user, c, c->size, 0);
  }
  if (m->ids_reserved)
    m->allocator->release(m->allocator->user, m->ids, m->ids_size);
  if (m->words_owned)
    m->allocator->resize(m->allocator->user, m->words, (size_t)m->word_count * sizeof(uint32_t), 0);
}

static uint32_t
swap_bytes(uint32_t word)
{
  return word >> 24 | (word >> 8 & 0xff00u) | (word << 8 & 0xff0000u) | word << 24;
}

bool
vyre_spirv_is(const void *data, size_t size)
{
  uint32_t magic;
  if (size < sizeof(magic))
    return false;
  memcpy(&magic, data, sizeof(magic));
  return magic == SpvMagicNumber || swap_bytes(magic) == SpvMagicNumber;
}

/* Sets `words` in the host's byte order.  Uses the caller's memory if it is aligned and has that order; otherwise copies it. */
static bool
set_words(import *m, const void *data, size_t size)
{
  if (!vyre_spirv_is(data, size))
    return import_fail(m, "not a SPIR-V module, because it does not begin with the magic number 0x07230203\n"
                          "Fix: give a SPIR-V module, such as glslang or spirv-as write");
  if (size % sizeof(uint32_t) != 0)
    return import_fail(m, "a size of %zu bytes is not a multiple of 4\nFix: check whether the file was cut short", size);
  if (size / sizeof(uint32_t) > UINT32_MAX / 8)
    return import_fail(m, "a module of %zu bytes is larger than the supported 2 GiB", size);
  uint32_t count = (uint32_t)(size / sizeof(uint32_t));
  uint32_t magic;
  memcpy(&magic, data, sizeof(magic));
  if (magic == SpvMagicNumber && (uintptr_t)data % _Alignof(uint32_t) == 0) {
    m->words = (uint32_t *)(uintptr_t)data; /* never written to */
    m->word_count = count;
    return true;
  }
  m->words = m->allocator->resize(m->allocator->user, NULL, 0, size);
  if (!m->words) {
    m->status = VYRE_OUT_OF_MEMORY("for SPIR-V words");
    return false;
  }
  m->words_owned = true;
  m->word_count = count;
  memcpy(m->words, data, size);
  if (magic != SpvMagicNumber)
    for (uint32_t i = 0; i < count; i++)
      m->words[i] = swap_bytes(m->words[i]);
  return true;
}

/* Allocates `ids` and `notes`, zeroed.  A sparse module's ids are in reserved memory, of which only used pages are backed. */
static bool
make_ids(import *m)
{
  m->ids_size = (size_t)m->bound * (sizeof(id_info) + sizeof(id_notes));
  if (m->bound / 4 <= m->word_count) {
    m->ids = import_memory_of(m, m->ids_size);
    if (!m->ids)
      return false;
    memset(m->ids, 0, m->ids_size);
  } else {
    m->ids = m->allocator->reserve(m->allocator->user, m->ids_size);
    m->ids_reserved = m->ids != NULL;
    if (!m->ids || !m->allocator->commit(m->allocator->user, m->ids, 0, m->ids_size)) {
      m->status = VYRE_OUT_OF_MEMORY("for SPIR-V ids");
      return false;
    }
  }
  m->notes = (id_notes *)(m->ids + m->bound);
  m->epochs[ID_TYPE] = NONE; /* types have no value */
  import_bound_growth(m);
  return true;
}

static bool
read_header(import *m)
{
  if (m->word_count < 5)
    return import_fail(
        m, "a SPIR-V module of %u word%s is truncated, because the header has 5\nFix: check whether the file was cut short",
        m->word_count, m->word_count == 1 ? "" : "s");
  m->version = m->words[1];
  m->bound = m->words[3];
  if (m->version < 0x10000u || m->version > 0x10600u || (m->version & 0xff0000ffu) != 0)
    return import_fail(m, "SPIR-V version word 0x%08x is not supported (1.0 to 1.6 are)\nFix: compile for SPIR-V 1.6 or earlier",
                       m->version);
  if (m->bound == 0 || m->bound > VYRE_WORDS_MOST_IDS)
    return import_fail(m, "an id bound of %u is outside of 1 to %u", m->bound, VYRE_WORDS_MOST_IDS);
  return true;
}

static bool
add_input(import *m)
{
  m->input = vyre_module_add_input(m->module, m->path);
  if (m->input == UINT32_MAX) {
    m->status = VYRE_OUT_OF_MEMORY("for an input");
    return false;
  }
  vyre_module_input(m->module, m->input)->spirv_version = m->version;
  return true;
}

static uint32_t
program_mode(import *m, const entry *e)
{
  uint32_t mode = VYRE_PROGRAM_RELAXED;
  for (uint32_t k = 0; k < m->modes.count; k++) {
    uint32_t at = *AT(uint32_t, m->modes, k);
    if ((m->words[at] & 0xffffu) != SpvOpExecutionMode || m->words[at] >> 16 < 4 || m->words[at + 1] != e->id)
      continue;
    const uint32_t width = m->words[at + 3];
    const vyre_kind kind = width == 16 ? VYRE_F16 : width == 32 ? VYRE_F32 : width == 64 ? VYRE_F64 : VYRE_VOID;
    if (m->words[at + 2] == SpvExecutionModeDenormFlushToZero)
      mode |= vyre_mode_flush(kind);
    if (m->words[at + 2] == SpvExecutionModeRoundingModeRTZ)
      mode |= vyre_mode_to_zero(kind);
  }
  return mode;
}

/* Keeps all execution modes except the size, for the exporter.  Word 1 of each, the entry point, becomes 0. */
static void
keep_modes(import *m, const entry *e)
{
  vyre_program_info *info = vyre_program_info_of(m->module, (vyre_row){m->program});
  for (uint32_t k = 0; k < m->modes.count; k++) {
    uint32_t at = *AT(uint32_t, m->modes, k), op = m->words[at] & 0xffffu, count = m->words[at] >> 16;
    if (op != SpvOpExecutionMode || count < 3 || m->words[at + 1] != e->id || m->words[at + 2] == SpvExecutionModeLocalSize)
      continue;
    uint32_t zero = 0;
    vyre_word_list_append(m->module, &info->modes, &m->words[at], 1);
    vyre_word_list_append(m->module, &info->modes, &zero, 1);
    vyre_word_list_append(m->module, &info->modes, &m->words[at + 2], count - 2);
  }
}

/* Returns component k of the constant with BuiltIn WorkgroupSize, or 0 on failure. */
static uint32_t
size_component(import *m, uint32_t k)
{
  uint32_t id = m->workgroup_size;
  const id_info *info = import_id(m, id);
  if (!info || info->kind != ID_CONSTANT) {
    import_uncovered(m, "id %u has the decoration WorkgroupSize, but is not a constant", id);
    return 0;
  }
  const uint32_t *words = m->words + info->def;
  const spv_type *t = import_type(m, info->type);
  if (!t || t->form != FORM_VALUE || t->value != VYRE_TYPE(VYRE_U32, 3)) {
    import_uncovered(m, "WorkgroupSize %u is not a vector of 3 unsigned integers", id);
    return 0;
  }
  if ((words[0] & 0xffffu) == SpvOpConstantComposite || (words[0] & 0xffffu) == SpvOpSpecConstantComposite)
    return import_row(m, words[3 + k]);
  vyre_builder b = import_top(m);
  return vyre_build_lane(&b, (vyre_row){import_row(m, id)}, k).id;
}

/* Returns the row of a side that LocalSizeId names, or 0 on failure. */
static uint32_t
local_size(import *m, uint32_t id)
{
  const id_info *info = import_id(m, id);
  const spv_type *t = info && info->kind == ID_CONSTANT ? info->t : NULL;
  if (t && t->form == FORM_VALUE && (t->value == VYRE_TYPE(VYRE_U32, 1) || t->value == VYRE_TYPE(VYRE_I32, 1)))
    return import_cast_top(m, import_row(m, id), VYRE_TYPE(VYRE_U32, 1));
  import_uncovered(m, "dimension %u of the workgroup is not a constant integer of 32 bits", id);
  return 0;
}

/* Appends the workgroup size: WorkgroupSize if the module has one, otherwise LocalSizeId if present, otherwise LocalSize. */
static bool
make_size(import *m, const entry *e)
{
  vyre_type type = VYRE_TYPE(VYRE_U32, 1);
  vyre_row size[3];
  for (uint32_t k = 0; k < 3; k++) {
    if (m->workgroup_size)
      size[k].id = size_component(m, k);
    else if (e->local_ids)
      size[k].id = local_size(m, m->words[e->local_ids + k]);
    else
      size[k] = vyre_build_const(&m->b, type, e->local[k]);
    if (failed(m))
      return false;
    const vyre_view *v = vyre_module_view(m->module);
    if (VYRE_ROW_OP(v->op[size[k].id]) == VYRE_OP_const && v->imm[size[k].id] == 0)
      return import_uncovered(m, "dimension %u of the workgroup is 0, but must be at least 1", k);
  }
  vyre_build_workgroup(&m->b, size[0], size[1], size[2]);
  return true;
}

/* Begins the entry point's program.  Two rows mark insertion positions, and are killed at the end: rows of constants go before
 * `first_decl`; addresses and built-ins go before `first_body`. */
static void
begin_program(import *m, const entry *e)
{
  size_t length = 0;
  const char *name = import_text(m, e->word + 3, e->word + (m->words[e->word] >> 16), &length);
  (void)length;
  m->program = vyre_build_program(m->module, name, program_mode(m, e), m->input, &m->b).id;
  import_forget_place(m);
  const uint32_t line = AT(function, m->functions, m->ids[e->function].value)->line;
  if (line) {
    import_line(m, line);
    vyre_row_set_place(m->module, (vyre_row){m->program}, m->b.scope, m->b.line, m->b.column);
    import_forget_place(m); /* the first rows belong to the declarations */
  }
  m->epochs[ID_CONSTANT] = m->epochs[ID_GLOBAL] = ++m->program_epoch;
  m->epochs[ID_LOCAL] = NONE;
  m->first_decl = vyre_build_var(&m->b, VYRE_TYPE(VYRE_U32, 1)).id;
  m->first_body = vyre_build_jump(&m->b, VYRE_OP_trap, VYRE_NONE).id;
  memset(m->builtins, 0, sizeof(m->builtins));
  memset(m->unset, 0, sizeof(m->unset));
  m->serial = m->serial_last = 1;
  m->loop = 0;
  m->escapes = NULL;
  list *lists[] = {&m->pointers,
                   &m->steps,
                   &m->leaves,
                   &m->constant_leaves,
                   &m->members_made,
                   &m->locals,
                   &m->log,
                   &m->constructs,
                   &m->open,
                   &m->joins,
                   &m->sets,
                   &m->loop_writes,
                   &m->got,
                   &m->wanted,
                   &m->cases,
                   &m->case_labels,
                   &m->stack,
                   &m->globals,
                   &m->debug_variables,
                   &m->debug_values,
                   &m->debug_sets};
  for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
    lists[i]->count = 0;
  uint32_t *open = list_add(m, &m->open, sizeof(uint32_t), 1);
  if (open)
    *open = m->program;
  list_add(m, &m->leaves, sizeof(uint32_t), 1);
  list_add(m, &m->constant_leaves, sizeof(uint32_t), 1);
  m->region = m->program;
}

/* Puts the program's workgroup buffers in the order of their variables.  Drivers lay them out in that order, and a buffer's offset
 * decides how its accesses are vectorized.  Buffers were made at their first use, those of specialized sizes last. */
static void
order_shared(import *m)
{
  for (uint32_t k = 0; k < m->variables.count && !failed(m); k++) {
    const id_info *info = &m->ids[*AT(uint32_t, m->variables, k)];
    if (info->kind != ID_GLOBAL || info->epoch != m->program_epoch)
      continue;
    const pointer *p = AT(pointer, m->pointers, info->value);
    const global *g = p->base == BASE_BUFFER ? AT(global, m->globals, p->first) : NULL;
    if (g && g->space == VYRE_SPACE_WORKGROUP && g->row)
      vyre_row_move_before(m->module, (vyre_row){g->row}, (vyre_row){m->first_decl});
  }
}

static bool
read_entry(import *m, const entry *e)
{
  m->at = e->word;
  if (!import_id(m, e->function))
    return false;
  if (m->ids[e->function].kind != ID_FUNCTION)
    return import_fail(m, "id %u is not a function", e->function);
  uint32_t f = m->ids[e->function].value;
  if (!import_reach(m, f))
    return false;
  m->at = e->word;
  if (!import_may_inline(m, AT(function, m->functions, f)))
    return false;
  import_share_memory(m);
  m->at = e->word;
  begin_program(m, e);
  keep_modes(m, e);
  for (uint32_t i = 0; i < m->constants.count && !failed(m); i++) {
    spv_value v;
    (void)import_value(m, *AT(uint32_t, m->constants, i), &v);
  }
  if (failed(m) || !make_size(m, e) || !import_make_globals(m, e) || !import_entry_body(m, f))
    return false;
  locals_finish(m);
  order_shared(m);
  vyre_row_kill(m->module, (vyre_row){m->first_decl});
  vyre_row_kill(m->module, (vyre_row){m->first_body});
  return !failed(m);
}

/* Makes the programs of a module whose declarations are read. */
static void
read_entries(void *argument)
{
  import *m = argument;
  for (uint32_t i = 0; i < m->entries.count; i++) {
    entry e = *AT(entry, m->entries, i);
    if (!read_entry(m, &e))
      return;
  }
}

static void
read_all(import *m, const void *data, size_t size)
{
  if (!set_words(m, data, size) || !read_header(m))
    return;
  vyre_module_reserve(m->module, m->word_count * 4); /* estimate: sixteen rows per instruction of about four words, no inlining */
  if (!make_ids(m) || !add_input(m))
    return;
  import_find_compute(m);
  if (failed(m) || !import_declare(m))
    return;
  const vyre_status status = vyre_call_nested(m->nests, read_entries, m);
  m->status = vyre_status_join(m->status, status);
}

/* Reads the module if `why` is NULL.  Otherwise keeps it verbatim, and `why` is the reason. */
static vyre_status
read_or_keep(vyre_module *module, const void *data, size_t size, const char *path, const char *why)
{
import m = {.module = module, .view = vyre_module_view(module), .allocator = vyre_module_allocator(module) };
  m.path = path ? path : "SPIR-V";
  const uint32_t last = m.view->last[0], types = vyre_type_count(module);
  m.borrowed = m.chunk_at = vyre_module_borrow(module, CHUNK_BYTES, &m.chunk_left);
  m.chunk_bytes = m.chunk_left;
  if (!why)
    read_all(&m, data, size);
  else if (set_words(&m, data, size) && read_header(&m) && add_input(&m))
    import_uncovered(&m, "%s", why);
  if (m.uncovered)
    import_verbatim(&m, last ? m.view->next[last] : m.view->first[0], types);
  else if (m.dropped[0])
    vyre_module_input(module, m.input)->dropped = vyre_string_intern(module, m.dropped, strlen(m.dropped));
  free_all(&m);
  return vyre_status_join(m.status, vyre_module_status(module));
}

vyre_status
vyre_spirv_read(vyre_module *module, const void *data, size_t size, const char *path)
{
  VYRE_OWN_ENVIRONMENT;
  return read_or_keep(module, data, size, path, NULL);
}

vyre_status
vyre_spirv_keep(vyre_module *module, const void *data, size_t size, const char *path, const char *why)
{
  return read_or_keep(module, data, size, path, why);
}
