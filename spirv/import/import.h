/* Functions of the SPIR-V importer, by file.  state.h has the data.
 *
 *  read.c: the whole module: header, byte order, one program for each entry point
 *  declare.c: one pass over the module's instructions: names, decorations, types, constants, variables
 *  types.c, constants.c: translates types and constants
 *  verbatim.c: programs of modules that vyre does not support
 *  opaque.c: opaque types and instructions
 *  reflection.c: instructions that only tools read
 *  scan.c: reads functions: their blocks, stores, calls and dynamically indexed variables
 *  stages.c: entry points of other stages than compute
 *  nonuniform.c: propagates NonUniform to the accesses that need it
 *  reach.c: the functions that an entry point calls, the edges of their blocks, and the variables that calls store to
 *  growth.c: limits the size of the module after inlining
 *  flow.c: walks the blocks of a function structurally
 *  loops.c, switches.c, arms.c, returns.c: constructs; arms.c finds the block where the arms of a selection meet
 *  functions.c: inlines calls
 *  instructions.c, operations.c, subgroups.c, glsl450.c: translate single instructions
 *  values.c: composite values: lists of leaves, each a scalar, a vector or a matrix column
 *  aggregates.c: composite values that are kept in memory
 *  pointers.c, memory.c, atomics.c: access chains, loads, stores, copies, atomics
 *  locals.c, lanes.c: function variables and phis as values; joins
 *  debug.c, debug_values.c: source lines and their scopes; values of source variables
 *
 * Errors: `status` keeps the first error.  After it, functions may return without effect, and the walk stops at the next
 * instruction.  Functions that can fail return NULL, false or 0 then, unless their comments name another value.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_FRONTEND_SPIRV_IMPORT_H
#define VYRE_FRONTEND_SPIRV_IMPORT_H

#include "spirv/import/state.h"

/* Returns a builder that appends rows of the current instruction at the current position.  Copies single fields, because a copy of
 * all of `b` would wait for a recent store to it. */
static inline vyre_builder
import_builder(const import *m)
{
  return (vyre_builder){.module = m->module, .program = m->program, .scope = m->b.scope, .line = m->b.line, .column = m->b.column};
}
/* Returns a builder that inserts rows before the row `mark`; the rows belong to no instruction. */
static inline vyre_builder
import_builder_at(const import *m, uint32_t mark)
{
  return (vyre_builder){.module = m->module, .program = m->program, .region = m->program, .before = mark};
}

/* A function that is called only on errors. */
#define COLD __attribute__((cold))
/* A slow path, which must not be inlined into its fast path. */
#define APART __attribute__((noinline))

#define AT(type_, list_, index) (((type_ *)(list_).data) + (index))

/* ---- read.c ---- */
/* Keeps the error if it is the first: "OpXxx at word N (file:line): ...".  Adds a fix if the message has none.  Returns false. */
COLD bool import_fail(import *m, const char *format, ...) VYRE_PRINTF(2, 3);
/* Keeps the error that memory ran out, if it is the first.  Returns false. */
COLD bool import_fail_memory(import *m);
/* Fails as import_fail does, for a module that may be valid but that vyre does not support.  import_verbatim may then keep it. */
#define import_uncovered(m, ...) ((m)->uncovered |= !(m)->status, import_fail((m), __VA_ARGS__))
static inline bool
failed(const import *m)
{
  return m->status != NULL;
}
/* Allocates memory that lives until the import ends. */
void *import_memory_of(import *m, size_t bytes);
bool list_grow(import *m, list *l, size_t size, uint32_t more);
/* Appends `more` uninitialized elements of `size` bytes, and returns the first. */
static inline void *
list_add(import *m, list *l, size_t size, uint32_t more)
{
  if (l->capacity - l->count < more && !list_grow(m, l, size, more))
    return NULL;
  void *added = (char *)l->data + (size_t)l->count * size;
  l->count += more;
  return added;
}

static inline bool
list_add_word(import *m, list *l, uint32_t word)
{
  uint32_t *added = list_add(m, l, sizeof(uint32_t), 1);
  if (added)
    *added = word;
  return added != NULL;
}

/* ---- verbatim.c ---- */
/* Fails as unsupported if the module has no compute entry point. */
void import_find_compute(import *m);
/* Replaces the failed programs by programs that hold the module's words, and clears the error.  Keeps the error if an instruction
 * extends past the end of the module. */
void import_verbatim(import *m, uint32_t first_program, vyre_type_id first_type);

/* ---- declare.c ---- */
bool import_declare(import *m);
COLD bool import_fail_words(import *m, uint32_t words);
COLD void import_drop(import *m, const char *what); /* Adds `what` to the remark about dropped instructions, once. */
/* Checks that the instruction at m->at has at least `words` words. */
static inline bool
import_needs(import *m, uint32_t words)
{
  return m->words[m->at] >> 16 >= words || import_fail_words(m, words);
}
COLD id_info *import_fail_id(import *m, uint32_t id);
/* Returns the data of a defined id. */
static inline id_info *
import_id(import *m, uint32_t id)
{
  return id < m->bound && m->ids[id].kind != ID_NONE ? &m->ids[id] : import_fail_id(m, id);
}
COLD bool import_fail_definition(import *m, uint32_t id);
/* Defines the id as the result of the instruction at m->at.  `type` is the id of its type, or 0. */
static inline bool
import_define(import *m, uint32_t id, id_kind kind, uint32_t type)
{
  if (id == 0 || id >= m->bound || m->ids[id].kind != ID_NONE)
    return import_fail_definition(m, id);
  id_info *info = &m->ids[id];
  info->kind = (uint8_t)kind;
  info->def = m->at;
  info->type = type;
  info->t = m->ids[type].t;
  info->flags |= m->ids[type].flags & ID_OPAQUE;
  return true;
}
const char *import_op_name(uint32_t op);
COLD bool import_fail_truncated(import *m);
/* Checks that the instruction at m->at ends within the module. */
static inline bool
import_whole(import *m)
{
  uint32_t count = m->words[m->at] >> 16;
  return (count != 0 && count <= m->word_count - m->at) || import_fail_truncated(m);
}
/* Returns the flag of an id that the decoration sets, or 0 if it sets no flag. */
uint16_t import_flag(uint32_t decoration);
/* Gets the value of the id's decoration.  Returns false if the id does not have the decoration. */
bool import_decoration(const import *m, uint32_t id, uint32_t kind, uint32_t *out);
const char *import_name(const import *m, uint32_t id, size_t *out_length); /* Returns NULL if the id has no name. */
bool import_name_row(import *m, uint32_t row, uint32_t id);                /* Returns whether the id has a name. */
/* Returns the string at `word` of an instruction that ends at `end`, or NULL if it is not terminated. */
const char *import_text(const import *m, uint32_t word, uint32_t end, size_t *out_length);

COLD void import_drop_set(import *m, uint32_t set); /* Drops the instructions of the set. */

/* ---- reflection.c ---- */
void import_keep_reflection(import *m); /* Keeps the instructions in `reflected`, after all declarations. */

/* ---- debug.c ---- */
void import_line(import *m, uint32_t at); /* For OpLine, OpNoLine, DebugLine, DebugNoLine, DebugScope, DebugNoScope. */
/* Keeps the non-semantic instruction at m->at if it is a valid one of NonSemantic.Shader.DebugInfo.100. */
void import_keep_debug(import *m, const uint32_t *words, uint32_t count);
/* Returns whether the OpExtInst is non-semantic or debug information. */
bool import_is_nonsemantic(const import *m, const uint32_t *words);
/* A position in the source, which is saved around an inlined call. */
typedef struct import_place {
  vyre_scope_info where, around;
  vyre_scope scope;
  uint32_t line, column;
} import_place;
/* Starts an inlined call: its rows have the call's position until they have one of their own. */
import_place import_enter_call(import *m);
void import_leave_call(import *m, const import_place *place);
void import_forget_place(import *m);
/* Returns the number of the kept instruction of NonSemantic.Shader.DebugInfo.100 with result `id`, or UINT32_MAX if there is none.
 */
static inline uint32_t
import_kept_number(const import *m, uint32_t id)
{
  return id < m->bound && m->ids[id].kind == ID_GROUP && m->ids[id].value ? m->ids[id].value - 1 : UINT32_MAX;
}
/* Returns whether the words are that instruction of NonSemantic.Shader.DebugInfo.100, with at least `count` words. */
bool import_is_debug(const import *m, const uint32_t *words, uint32_t instruction, uint32_t count);

/* ---- debug_values.c ---- */
void import_debug_declare(import *m, const uint32_t *words);
void import_debug_value(import *m, const uint32_t *words);
/* Records that a source variable (leaf.debug) gets the value of `row`.  import_debug_set records that the row `set` gives it that
 * value: at the current position, or before the construct `next` if `next` is not 0. */
void import_debug_write(import *m, uint32_t variable, uint32_t row);
void import_debug_set(import *m, uint32_t variable, uint32_t set, uint32_t row, uint32_t next);
/* Marks rows with the variables whose values they are, after all vars and buffers have been made. */
void import_debug_finish(import *m);
/* Records that `lane` of the variable's var is moved to a var of its own, and that `lane_set` replaces `set` for that lane. */
void import_debug_lane_var(import *m, uint32_t variable, uint32_t var, uint32_t lane);
void import_debug_lane_set(import *m, uint32_t variable, uint32_t set, uint32_t lane_set, uint32_t lane);

/* ---- types.c ---- */
bool import_declare_type(import *m, uint32_t op);
COLD spv_type *import_fail_type(import *m, uint32_t id);
/* Returns the type with that id. */
static inline spv_type *
import_type(import *m, uint32_t id)
{
  return id < m->bound && m->ids[id].kind == ID_TYPE ? m->ids[id].t : import_fail_type(m, id);
}
spv_type *import_large_type(import *m, spv_type *t, uint32_t id);
/* Returns the type of a result: its number of leaves is known and not too large. */
static inline spv_type *
import_value_type(import *m, uint32_t id)
{
  spv_type *t = import_type(m, id);
  return !t || t->form == FORM_VALUE ? t : import_large_type(m, t, id);
}
vyre_type_id import_make_type(import *m, uint32_t id, uint32_t matrix_stride, bool row_major);
vyre_string import_struct_name(import *m, uint32_t id); /* Returns the struct's name, or 0 if it has none. */
/* Returns the type of step `index` into `id`, and the step's first leaf, or 0 if there is no such step. */
uint32_t import_step_type(import *m, uint32_t id, uint32_t index, uint32_t *out_leaf);
uint32_t import_step_in(import *m, const spv_type *t, uint32_t index, uint32_t *out_leaf);
vyre_type import_leaf_type(import *m, uint32_t id, uint32_t k);
/* Returns the id of the leaf's type, or of its matrix if the leaf is a column. */
uint32_t import_leaf_id(import *m, uint32_t id, uint32_t k);
uint32_t import_zero(import *m, uint32_t id, uint32_t k); /* Returns a zero for leaf k of a value that SPIR-V leaves undefined. */
/* Returns an unset value for leaf k, from the start of the program. */
uint32_t import_undefined(import *m, uint32_t id, uint32_t k);

/* ---- opaque.c ---- */
static inline bool
import_is_opaque_type(const spv_type *t)
{
  return t->form == FORM_VALUE && VYRE_TYPE_KIND(t->value) == VYRE_OPAQUE;
}
bool import_opaque_type(import *m, spv_type *t); /* Reads the declaration at m->at. */
vyre_type_id import_make_opaque_type(import *m, uint32_t id);
/* Returns whether the id is a value or constant of opaque type. */
static inline bool
import_is_opaque(const import *m, uint32_t id)
{
  return id < m->bound && (m->ids[id].flags & ID_OPAQUE) && m->ids[id].kind != ID_TYPE;
}
bool import_needs_opaque(const import *m, uint32_t op, const uint32_t *words, uint32_t count);
/* Returns whether the group operation has another scope than the subgroup, or works on a partition. */
bool import_is_other_group(import *m, uint32_t op, const uint32_t *words, uint32_t count);
/* Appends the instruction at m->at as an opaque row. */
bool import_opaque(import *m);
bool import_matrix_length(import *m, uint32_t type, uint32_t id, uint32_t matrix); /* OpCooperativeMatrixLengthNV of a type. */
/* Loads through a pointer to a component of an opaque value if `row` is 0.  Otherwise stores `row` through it. */
uint32_t import_access_component(import *m, uint32_t pointer_index, uint32_t row);
bool import_opaque_constant(import *m, id_info *info);
uint32_t import_opaque_null(import *m, uint32_t type, uint32_t op);
bool import_same_leaves(import *m, uint32_t a, uint32_t b);

/* ---- constants.c ---- */
bool import_is_null(const import *m, uint32_t id);
/* Returns whether the constant composite repeats one constituent. */
static inline bool
import_is_replicate(uint32_t op)
{
  return op == IMPORT_CONSTANT_REPLICATE || op == IMPORT_SPEC_CONSTANT_REPLICATE;
}
bool import_declare_constant(import *m, uint32_t op);
/* Declares the constants from m->at on that are plain numbers without errors.  Returns the number of their words. */
uint32_t import_declare_numbers(import *m);
bool import_constant(import *m, id_info *info, uint32_t id); /* Makes the constant's value in the current program. */
/* Gets the value of a plain integer constant, UINT32_MAX if it has more than 32 bits.  Returns false for other ids. */
static inline bool
import_literal(const import *m, uint32_t id, uint32_t *out)
{
  bool literal = id < m->bound && (m->ids[id].flags & ID_LITERAL);
  *out = literal ? m->ids[id].root : 0;
  return literal;
}
/* Returns the number of words of a literal of that kind. */
static inline uint32_t
import_literal_words(vyre_kind kind)
{
  return vyre_kind_bits(kind) == 64 ? 2 : 1;
}
/* Returns the bits of a literal of that kind. */
static inline uint64_t
import_literal_bits(const uint32_t *words, vyre_kind kind)
{
  uint32_t bits = vyre_kind_bits(kind);
  if (bits == 64)
    return words[0] | (uint64_t)words[1] << 32;
  return bits == 32 ? words[0] : words[0] & ((1u << bits) - 1u); /* narrow signed literals are sign-extended in their word */
}
/* Makes the value of a plain number in the current program.  Returns its row, or 0 for other constants. */
static inline uint32_t
import_number(import *m, id_info *info)
{
  const uint32_t *words = m->words + info->def;
  if ((words[0] & 0xffffu) != SpvOpConstant || !info->t->literal_words)
    return 0;
  const vyre_type type = info->t->value;
  info->epoch = m->epochs[ID_CONSTANT];
  info->value = vyre_build_const(&m->b, type, import_literal_bits(words + 3, VYRE_TYPE_KIND(type))).id;
  return info->value;
}
bool import_constant_words(import *m, uint32_t id, list *out); /* Appends the constant's words as an initializer. */
/* Returns a builder at the program's start, for rows whose operands are all constant. */
static inline vyre_builder
import_top(const import *m)
{
  return import_builder_at(m, m->first_decl);
}

/* ---- stages.c ---- */
/* At the first function: keeps the globals that entry points of other stages need. */
bool import_stages(import *m);
bool import_is_called(const import *m, uint32_t id); /* Returns whether a compute entry point calls the function. */

/* ---- scan.c ---- */
bool import_scan(import *m); /* Scans the function that starts at m->at, and sets m->at to its end. */
/* Returns the variable or parameter that pointer `to` leads to, or NULL if it is not tracked. */
static inline root *
scan_root(import *m, uint32_t to)
{
  const id_info *info = &m->ids[to < m->bound ? to : 0];
  return info->holds == HOLDS_POINTER && info->root ? AT(root, m->roots, info->root) : NULL;
}
/* Records a store through `to` to `r`.  `constant` is the id of the constant if it sets the whole variable, or 0. */
void scan_stores_to(import *m, root *r, uint32_t to, uint32_t constant);
/* Records that the function, and thus each caller, stores to the private variable. */
bool scan_note_private(import *m, function *f, uint32_t root_index);
/* Records a copy of one whole variable or parameter to another.  Other pointers are ignored. */
bool scan_note_copy(import *m, uint32_t to, uint32_t from);

/* ---- reach.c ---- */
bool import_reach(import *m, uint32_t function);  /* Finds all functions that the entry point's function calls. */
void import_share_memory(import *m);              /* Puts variables in memory if they are copied whole from or to memory. */
uint32_t import_block(import *m, uint32_t label); /* Returns the index of the block, or NONE on failure. */
/* Returns the index of the block, for a label that import_reach has checked. */
static inline uint32_t
import_target(const import *m, uint32_t label)
{
  return m->ids[label].value;
}

/* ---- growth.c ---- */
void import_bound_growth(import *m);
void import_count_words(import *m, function *f); /* Counts the function's words after inlining; the callees have been counted. */
/* Returns whether the entry point's inlined body, added to the earlier ones, stays within the limit. */
bool import_may_inline(import *m, const function *f);
COLD bool import_too_many_leaves(import *m); /* Returns false. */

/* ---- nonuniform.c ---- */
void import_spread_nonuniform(import *m); /* After all declarations. */

/* ---- values.c ---- */
typedef struct spv_value {
  uint32_t type;
  uint32_t count;
  const uint32_t *leaves; /* Rows that may not be visible at the current position.  The pointer is valid until leaves are added. */
} spv_value;
bool import_value(import *m, uint32_t id, spv_value *out);
uint32_t import_row_made(import *m, uint32_t id);
bool import_is_visible(const import *m, uint32_t row);
uint32_t import_visible_from(import *m, uint32_t row);
/* Returns the row, or a `get` of its value if the row's region has ended. */
static inline uint32_t
import_visible(import *m, uint32_t row)
{
  uint32_t parent = m->view->parent[row];
  return parent == m->region || parent == m->program ? row : import_visible_from(m, row);
}
/* Returns the row of a value of one leaf, or 0 if it was not made or is not visible here. */
static inline uint32_t
import_row_at_hand(const import *m, uint32_t id)
{
  const id_info *info = &m->ids[id < m->bound ? id : 0];
  if (info->holds != HOLDS_ROW || info->epoch != m->epochs[info->kind])
    return 0;
  const uint32_t parent = m->view->parent[info->value];
  return parent == m->region || parent == m->program || import_is_visible(m, info->value) ? info->value : 0;
}
/* Returns the row of a value of one leaf, visible here. */
static inline uint32_t
import_row(import *m, uint32_t id)
{
  const uint32_t row = import_row_at_hand(m, id);
  return row ? row : import_row_made(m, id);
}
uint32_t import_leaf(import *m, uint32_t id, uint32_t k); /* Returns the row of leaf k, visible here. */
void import_name_value(import *m, uint32_t id, uint32_t row);
static inline void
import_set(import *m, uint32_t id, uint32_t row)
{
  id_info *info = &m->ids[id];
  info->value = row;
  info->epoch = m->epochs[info->kind];
  if (info->flags & ID_NAMED)
    import_name_value(m, id, row);
}
uint32_t *import_set_leaves(import *m, uint32_t id, uint32_t count); /* The caller must fill them at once. */
static inline vyre_type
import_row_type(const import *m, uint32_t row)
{
  return VYRE_ROW_TYPE(m->view->op[row]);
}
/* Casts a row whose operands are all constant, at the program's start. */
uint32_t import_cast_top(import *m, uint32_t row, vyre_type type);
uint32_t import_cast(import *m, uint32_t row, vyre_type type); /* Appends a bitcast if the types differ. */
/* Converts an integer scalar to an index: u32 if `is_unsigned`, otherwise i32.  A wider value that does not fit becomes all ones.
 */
uint32_t import_index(import *m, uint32_t row, bool is_unsigned);
/* Converts a count of bits to the unsigned kind, with the same number of lanes. */
uint32_t import_bit_count(import *m, uint32_t row, vyre_kind kind);
uint32_t import_matrix(import *m, uint32_t id); /* Returns the matrix as a tuple row. */
void import_set_matrix(import *m, uint32_t id, uint32_t type, uint32_t tuple);
bool import_composite(import *m, uint32_t op, uint32_t type, uint32_t id, const uint32_t *args, uint32_t count);

/* ---- pointers.c ---- */
bool import_make_globals(import *m, const entry *e);
bool import_variable(import *m);
bool import_access_chain(import *m);
/* Returns its index, or NONE on failure. */
uint32_t import_add_global(import *m, uint32_t id, vyre_space space, uint32_t initializer);
uint32_t import_global_row(import *m, uint32_t global); /* Returns the row of the buffer, which is made if necessary. */
COLD pointer *import_fail_pointer(import *m, uint32_t id);
/* Returns the pointer with that id.  It is valid until pointers are added. */
static inline pointer *
import_pointer(import *m, uint32_t id)
{
  const id_info *info = &m->ids[id < m->bound ? id : 0];
  return info->holds == HOLDS_POINTER && info->epoch == m->epochs[info->kind] ? AT(pointer, m->pointers, info->value)
                                                                              : import_fail_pointer(m, id);
}
uint32_t import_builtin(import *m, const pointer *p);
uint32_t import_path(import *m, uint32_t pointer_index); /* Returns the path of a pointer to a buffer. */
/* Gets the leaves that a store through `id` may change, from its constant indices.  Returns false if it changes no leaf. */
bool import_pointer_range(import *m, uint32_t id, uint32_t *out_first, uint32_t *out_count);

/* ---- atomics.c ---- */
bool import_atomic(import *m, uint32_t op, const uint32_t *words);

/* ---- memory.c ---- */
bool import_load(import *m, const uint32_t *words); /* Loads a composite, or a part of a vector. */
/* Loads a whole scalar or vector, as most loads do. */
uint32_t import_load_single(import *m, uint32_t pointer_index, uint32_t operands);
/* Returns the index of the memory operands at word `at` of the instruction, or 0 if there are none. */
uint32_t import_memory_operands(import *m, const uint32_t *words, uint32_t at);
bool import_store(import *m, const uint32_t *words);
bool import_copy_memory(import *m, const uint32_t *words);
bool import_array_length(import *m, const uint32_t *words);
/* Returns the flags of a row that accesses the memory of `p`. */
uint32_t import_access_flags(import *m, const pointer *p, uint32_t operands, bool writes);
bool import_is_plain_path(const pointer *p); /* Returns whether it leads to a buffer and has no dynamically indexed column. */
bool import_is_read_only(vyre_space space);
/* Pushes loads of all leaves at `path` onto the stack if `from` is NULL.  Otherwise stores the rows of the stack from *from on. */
bool import_tree(import *m, uint32_t path, uint32_t type, uint32_t flags, uint32_t imm, uint32_t *from);
/* Makes the rows of the stack from `first` on the id's value, and pops them. */
bool import_pop_stack(import *m, uint32_t id, uint32_t first);
/* Stores a value that is kept in memory. */
bool import_store_aggregate(import *m, uint32_t to_id, uint32_t id, uint32_t operands);
/* Stores the rows of the stack from `first` on through the pointer, one for each leaf. */
bool import_store_leaves(import *m, uint32_t pointer_index, uint32_t first, uint32_t operands);

/* ---- aggregates.c ---- */
/* Returns whether values of the type are kept in memory. */
static inline bool
import_is_in_memory(const spv_type *t)
{
  return (t->form == FORM_ARRAY || t->form == FORM_STRUCT) && (!t->sized || t->leaves > IMPORT_MAX_LEAVES) && !t->has_pointer &&
         !t->has_runtime;
}
uint32_t import_memory_row(import *m, uint32_t id); /* Returns the buffer of a value that is kept in memory. */
/* Sets the id's value to a new buffer, and copies `path` to it unless `path` is 0. */
bool import_set_memory(import *m, uint32_t id, uint32_t path, uint32_t flags, uint32_t imm);
bool import_share_value(import *m, uint32_t id, uint32_t from); /* Sets the id's value to the value of `from`. */
/* Copies between two paths, which may have different layouts.  `flags` and `imm` are those of the `copy` rows. */
void import_copy_rows(import *m, uint32_t to, uint32_t from, uint32_t flags, uint32_t imm);
bool import_store_memory(import *m, uint32_t to_id, uint32_t id, uint32_t flags, uint32_t imm);
/* Returns whether the constant may be a table of its words: it has no specialization constant and no struct whose size
 * specialization changes. */
bool import_may_be_table(const import *m, uint32_t id);
vyre_type_id import_table_type(import *m, uint32_t id);
/* Returns whether the result, or the operand `from`, is kept in memory.  import_aggregate handles such an instruction. */
bool import_uses_memory(const import *m, uint32_t type, uint32_t from);
bool import_aggregate(import *m, uint32_t op, uint32_t type, uint32_t id, const uint32_t *args, uint32_t count);

/* ---- locals.c ---- */
uint32_t locals_add(import *m, uint32_t type, uint32_t name); /* Returns the first leaf, or NONE on failure. */
/* After locals_add in a function that is called in a loop: the leaves do not keep the values of the call before. */
void locals_unset(import *m, uint32_t first);
uint32_t locals_get(import *m, uint32_t leaf);
uint32_t locals_current(import *m, uint32_t leaf); /* Returns the leaf's current row, or 0 if its value is in the var. */
static inline uint32_t
locals_read(import *m, uint32_t index)
{
  const uint32_t current = locals_current(m, index);
  return current ? import_visible(m, current) : locals_get(m, index);
}
void locals_write(import *m, uint32_t leaf, uint32_t row);
void locals_undo(import *m, uint32_t mark);
/* Records the edge from the current position to the end of construct c.  Adds the leaves changed on the edge to `list`, unless it
 * is NULL. */
void locals_edge(import *m, uint32_t c, uint32_t *list);
void locals_join(import *m, uint32_t c);      /* Joins the edges to the end of c. */
void locals_fall(import *m, uint32_t c);      /* Joins at the start of a case that the case before it falls into. */
void locals_to_var(import *m, uint32_t leaf); /* From here on, the leaf's var holds its value. */
void locals_split(import *m);
void locals_finish(import *m); /* Removes sets that no `get` reads. */

/* ---- flow.c, loops.c, switches.c: constructs are passed by index, because adding one may move them ---- */
#define CONSTRUCT(m, index) AT(construct, (m)->constructs, index)
void flow_walk(import *m, uint32_t block, bool header);
uint32_t flow_push(import *m, construct_kind kind, uint32_t row);
void flow_pop(import *m);
void flow_open(import *m, uint32_t region, uint32_t *out_serial);
void flow_close(import *m, uint32_t mark, uint32_t serial);
void flow_hints(import *m, uint32_t merge, uint32_t row); /* Copies the hints of the merge instruction to the control row. */
void flow_jump_out(import *m, uint32_t c);                /* Jumps to the end of c, from anywhere in it. */
/* Records that a region was put around the regions of c that are open from `depth` on. */
void flow_opened(import *m, uint32_t c, uint32_t depth, uint32_t region);
/* Follows the edge from the current block; returns the block to walk next, or NONE. */
uint32_t flow_edge(import *m, uint32_t target);
uint32_t flow_goto(import *m, uint32_t target); /* As flow_edge, for edges without phis. */
void flow_phi_stores(import *m, uint32_t target);
uint32_t flow_loop(import *m, uint32_t header);
uint32_t flow_switch(import *m, uint32_t block);
/* Returns whether `target` is another case of switch c, and if so continues there. */
bool flow_falls(import *m, uint32_t c, uint32_t target);
bool flow_may_share(const import *m, const function *f);
/* Returns the block that both arms lead to, or NONE. */
uint32_t flow_shared(import *m, uint32_t yes, uint32_t no, uint32_t merge);
/* Returns the word of the first OpPhi at or after `at`. */
uint32_t flow_next_phi(const import *m, uint32_t at);

/* ---- functions.c ---- */
bool import_call(import *m);
bool import_entry_body(import *m, uint32_t function);
/* `id` is 0 if it returns no value; `reached` is false for OpUnreachable. */
void import_return(import *m, uint32_t id, bool reached);

/* ---- returns.c ---- */
/* Removes a closed block, or a closed switch with only a default, if none of its `leaves` jumps leaves it any more. */
void import_nest_returns(import *m, uint32_t row, uint32_t leaves);

/* ---- instructions.c ---- */
/* Reads the instructions of a block from word `at` to word `end`. */
bool import_instructions(import *m, uint32_t at, uint32_t end);

/* ---- operations.c ---- */
typedef enum op_form {
  OP_PLAIN,   /* operands of one type, in the family of `read` if set; the result by the op's rule */
  OP_CONVERT, /* reads the operand as `read`, writes `write`, then casts the result */
  OP_BITCAST,
  OP_SCALE,  /* a vector or matrix times a scalar */
  OP_REDUCE, /* a bool from a bool vector: any or all */
  OP_DOT,
  OP_INT_DOT, /* with an accumulator if there are three operands */
  OP_PAIR,    /* a struct of two results */
  OP_FIELD,   /* bit fields */
  OP_MATVEC,
  OP_VECMAT,
  OP_MATMAT,
  OP_TRANSPOSE,
  OP_OUTER,
} op_form;

typedef struct operation {
  uint16_t vyre; /* vyre_opcode, or 0 if there is none */
  uint8_t form, operands;
  uint8_t read, write; /* kinds of the operands and of the result, as KIND_ values */
} operation;
#define IMPORT_OPERATIONS (SpvOpBitCount + 1)
extern const operation import_operations[IMPORT_OPERATIONS]; /* By SPIR-V opcode; the table has no higher opcodes. */
const operation *import_operation_of(uint32_t op);           /* Returns NULL if the opcode is not an operation. */
bool import_operation(import *m, const operation *o, uint32_t type, uint32_t id, const uint32_t *args, uint32_t count);
/* Returns whether `read` of the table permits an operand of the kind. */
static inline bool
import_may_read(const operation *o, vyre_kind kind)
{
  static const uint8_t classes[] = {[VYRE_BOOL] = VYRE_CLASS_BOOL, [VYRE_U32] = VYRE_CLASS_INT, [VYRE_F32] = VYRE_CLASS_FLOAT};
  return !o->read || vyre_class_has((vyre_class)classes[o->read], kind);
}

/* Translates an operation with one or two operands whose type is that of the op and of the result.  Returns 0 in other cases. */
static inline uint32_t
import_plain(import *m, const operation *o, vyre_type type, uint32_t flags, uint32_t a, uint32_t b)
{
  const vyre_op_info *info = &vyre_op_infos[o->vyre];
  const vyre_type base = import_row_type(m, a);
  if (type != (info->rule == VYRE_RULE_BOOL ? VYRE_TYPE(VYRE_BOOL, VYRE_TYPE_LANES(base)) : base))
    return 0;
  if ((b && import_row_type(m, b) != base) || !vyre_class_has((vyre_class)info->klass, VYRE_TYPE_KIND(base)))
    return 0;
  return vyre_build(&m->b, (vyre_opcode)o->vyre, type, flags, 0, 0, (vyre_row){a}, (vyre_row){b}, VYRE_NONE).id;
}
/* Returns the type that an op of the class computes on if its operands or its result have `type`. */
vyre_type import_work_type(vyre_class klass, vyre_type type);
/* Appends an op: casts the operands to the types that it requires, and the result to `type`. */
uint32_t import_emit(import *m, vyre_opcode op, vyre_type type, uint32_t flags, const uint32_t *rows, uint32_t count);
/* Returns the flags of a row that computes the id's value. */
static inline uint32_t
import_row_flags(const import *m, uint32_t id)
{
  const uint32_t flags = m->ids[id].flags & (ID_EXACT | ID_RELAXED | ID_NONUNIFORM);
  if (!flags)
    return 0;
  return (flags & ID_EXACT ? (uint32_t)VYRE_ROW_EXACT : 0u) | (flags & ID_RELAXED ? (uint32_t)VYRE_ROW_RELAXED : 0u) |
         (flags & ID_NONUNIFORM ? (uint32_t)VYRE_ROW_NONUNIFORM : 0u);
}

/* ---- subgroups.c ---- */
bool import_is_subgroup(uint32_t op);
bool import_subgroup(import *m, uint32_t op);

/* ---- glsl450.c ---- */
bool import_glsl450(import *m, uint32_t type, uint32_t id, uint32_t function, const uint32_t *args, uint32_t count);

#endif
