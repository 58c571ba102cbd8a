/* The SPIR-V importer's internals: its functions, by file.  Their data is in state.h.
 *
 * read.c     the whole module: header, byte order, one program an entry point
 * debug.c, debug_values.c   source lines and their scopes; what variables of the source have which values
 * declare.c  one pass over the module's instructions: names, decorations, types, constants, variables
 * types.c, constants.c      what they become
 * scan.c     the functions in it: blocks, what is stored where, what is indexed by values, calls
 * stages.c   entry points of other stages than compute
 * nonuniform.c    carries NonUniform to the accesses that need it
 * reach.c    what an entry point reaches: edges between blocks, and what a call means for the caller's variables
 * growth.c   bounds how much that may become
 * flow.c     walks the blocks of a function structurally; arms.c finds where arms meet; functions.c inlines calls
 * instructions.c, operations.c, glsl450.c    one instruction each
 * values.c   composite values: lists of leaves, each a scalar, a vector or a matrix column
 * aggregates.c   composite values that are kept in memory
 * pointers.c, memory.c      access chains, loads, stores, copies, atomics
 * locals.c   function variables and phis as values; joins
 *
 * Errors: the first one is kept in `status`; then every function may do nothing, and the walk stops at the next instruction.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_FRONTEND_SPIRV_IMPORT_H
#define VYRE_FRONTEND_SPIRV_IMPORT_H

#include "spirv/import/state.h"

/* Rows made with it are of the instruction at hand, and go where it is put.  Field by field: a copy of `b`, which has just been
 * written to, waits for that. */
static inline vyre_builder
import_builder(const import *m)
{
  return (vyre_builder){.module = m->module, .program = m->program, .scope = m->b.scope, .line = m->b.line, .column = m->b.column};
}
/* Rows of no instruction, before one of the marks. */
static inline vyre_builder
import_builder_at(const import *m, uint32_t mark)
{
  return (vyre_builder){.module = m->module, .program = m->program, .region = m->program, .before = mark};
}

/* For functions that are called only on errors. */
#define COLD __attribute__((cold))
/* For functions that a fast path falls back on: not to be inlined into it. */
#define APART __attribute__((noinline))

#define AT(type_, list_, index) (((type_ *)(list_).data) + (index))

/* ---- read.c ---- */
/* Keeps the first error: "OpXxx at word N (file:line): ...".  False, always. */
COLD bool import_fail(import *m, const char *format, ...) VYRE_PRINTF(2, 3);
/* The same if the module may be valid, but vyre does not cover it: then it goes out word for word. */
#define import_uncovered(m, ...) ((m)->uncovered |= !(m)->status, import_fail((m), __VA_ARGS__))
static inline bool
failed(const import *m)
{
  return m->status != NULL;
}
/* Lives until the import ends; NULL: failed. */
void *import_memory_of(import *m, size_t bytes);
bool list_grow(import *m, list *l, size_t size, uint32_t more);
/* Room for `more` elements at the end; NULL: failed. */
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
/* A module without a compute entry point is not covered. */
void import_find_compute(import *m);
/* Replaces what failed by programs that hold the module's words.  The error stays if instructions are not within the module. */
void import_verbatim(import *m, uint32_t first_program, vyre_type_id first_type);

/* ---- declare.c ---- */
bool import_declare(import *m);
COLD bool import_lacks(import *m, uint32_t words);
COLD void import_drop(import *m, const char *what); /* said once */
/* The instruction at m->at has so many words, or it fails. */
static inline bool
import_needs(import *m, uint32_t words)
{
  return m->words[m->at] >> 16 >= words || import_lacks(m, words);
}
COLD id_info *import_no_id(import *m, uint32_t id);
/* Defined, or NULL and failed. */
static inline id_info *
import_id(import *m, uint32_t id)
{
  return id < m->bound && m->ids[id].kind != ID_NONE ? &m->ids[id] : import_no_id(m, id);
}
COLD bool import_not_defined(import *m, uint32_t id);
/* type: 0, or a type. */
static inline bool
import_define(import *m, uint32_t id, id_kind kind, uint32_t type)
{
  if (id == 0 || id >= m->bound || m->ids[id].kind != ID_NONE)
    return import_not_defined(m, id);
  id_info *info = &m->ids[id];
  info->kind = (uint8_t)kind;
  info->def = m->at;
  info->type = type;
  info->t = m->ids[type].t;
  return true;
}
const char *import_op_name(uint32_t op);
COLD bool import_part(import *m);
/* The instruction at m->at is within the module, or the import fails. */
static inline bool
import_whole(import *m)
{
  uint32_t count = m->words[m->at] >> 16;
  return (count != 0 && count <= m->word_count - m->at) || import_part(m);
}
/* The flag of an id that the decoration sets; 0: it sets none. */
uint16_t import_flag(uint32_t decoration);
/* The value of the id's decoration; false: it has none. */
bool import_decoration(const import *m, uint32_t id, uint32_t kind, uint32_t *out);
const char *import_name(const import *m, uint32_t id, size_t *out_length); /* NULL: none */
bool import_name_row(import *m, uint32_t row, uint32_t id);                /* whether the id has one */
const char *import_text(const import *m, uint32_t word, uint32_t end,
                        size_t *out_length); /* a string of an instruction; NULL: not terminated */

COLD void import_drop_set(import *m, uint32_t set); /* instructions of the set */

/* ---- reflection.c ---- */
void import_keep_reflection(import *m); /* all that is in `reflected`; the declarations have been read */

/* ---- debug.c ---- */
void import_line(import *m, uint32_t at); /* OpLine, OpNoLine, DebugLine, DebugNoLine, DebugScope, DebugNoScope */
/* The instruction at m->at, of a set that says nothing: kept, if it is of the one for shaders and is as it should be. */
void import_keep_debug(import *m, const uint32_t *words, uint32_t count);
bool import_says_nothing(const import *m, const uint32_t *words); /* an instruction of such a set */
/* Where the importer is in the source: what a call keeps. */
typedef struct import_place {
  vyre_scope_info where, around;
  vyre_scope scope;
  uint32_t line, column;
} import_place;
import_place import_enter_call(import *m); /* what follows is inlined here, and has this place until it says its own */
void import_leave_call(import *m, const import_place *place);
void import_forget_place(import *m);
/* The number of the instruction of the set for shaders that was kept as `id`; UINT32_MAX: none was. */
static inline uint32_t
import_kept_number(const import *m, uint32_t id)
{
  return id < m->bound && m->ids[id].kind == ID_GROUP && m->ids[id].value ? m->ids[id].value - 1 : UINT32_MAX;
}
/* Whether they are an instruction of that number of the set for shaders, of `count` words or more. */
bool import_is_debug(const import *m, const uint32_t *words, uint32_t instruction, uint32_t count);

/* ---- debug_values.c ---- */
void import_debug_declare(import *m, const uint32_t *words); /* DebugDeclare */
void import_debug_value(import *m, const uint32_t *words);   /* DebugValue */
/* The variable that a leaf is (leaf.debug) takes the value of `row`; and a `set` of its var is made where that is its value, or
 * before the construct `next`, if that is not 0. */
void import_debug_write(import *m, uint32_t variable, uint32_t row);
void import_debug_set(import *m, uint32_t variable, uint32_t set, uint32_t row, uint32_t next);
void import_debug_finish(import *m); /* vars and buffers have been made: rows get what they are values of */
/* A lane of a var that holds the variable has one of its own; and its `set` comes in the place of the other. */
void import_debug_lane_var(import *m, uint32_t variable, uint32_t var, uint32_t lane);
void import_debug_lane_set(import *m, uint32_t variable, uint32_t set, uint32_t lane_set, uint32_t lane);

/* ---- types.c ---- */
bool import_declare_type(import *m, uint32_t op);
COLD spv_type *import_no_type(import *m, uint32_t id);
/* NULL and failed: no type. */
static inline spv_type *
import_type(import *m, uint32_t id)
{
  return id < m->bound && m->ids[id].kind == ID_TYPE ? m->ids[id].t : import_no_type(m, id);
}
spv_type *import_large_type(import *m, spv_type *t, uint32_t id);
/* Of a result: known leaves, not too many. */
static inline spv_type *
import_value_type(import *m, uint32_t id)
{
  spv_type *t = import_type(m, id);
  return !t || t->form == FORM_VALUE ? t : import_large_type(m, t, id);
}
vyre_type_id import_make_type(import *m, uint32_t id, uint32_t matrix_stride, bool row_major);
vyre_string import_struct_name(import *m, uint32_t id); /* 0: it has none */
/* The type of step `index` into `id`, and its first leaf there; 0: there is none. */
uint32_t import_step_type(import *m, uint32_t id, uint32_t index, uint32_t *out_leaf);
uint32_t import_step_in(import *m, const spv_type *t, uint32_t index, uint32_t *out_leaf);
vyre_type import_leaf_type(import *m, uint32_t id, uint32_t k);
uint32_t import_leaf_id(import *m, uint32_t id, uint32_t k); /* of the type it has, or of the matrix it is a column of */
uint32_t import_zero(import *m, uint32_t id, uint32_t k);    /* a row that leaf k may be where nothing else is known */

/* ---- opaque.c ---- */
bool import_is_opaque_type(const spv_type *t);
bool import_opaque_type(import *m, spv_type *t); /* the declaration at m->at */
vyre_type_id import_make_opaque_type(import *m, uint32_t id);
bool import_takes_opaque(const import *m, uint32_t op, const uint32_t *words, uint32_t count);
/* A group operation of another scope than the subgroup, or of a partition. */
bool import_is_other_group(import *m, uint32_t op, const uint32_t *words, uint32_t count);
bool import_opaque(import *m);                                                     /* the instruction at m->at as an opaque row */
bool import_matrix_length(import *m, uint32_t type, uint32_t id, uint32_t matrix); /* OpCooperativeMatrixLengthNV of a type */
/* Loads what a pointer to a component of an opaque value leads to (row 0), or stores `row` there.  0: failed. */
uint32_t import_access_component(import *m, uint32_t pointer_index, uint32_t row);
bool import_opaque_constant(import *m, id_info *info, uint32_t id);
uint32_t import_opaque_null(import *m, uint32_t type, uint32_t op);
bool import_same_leaves(import *m, uint32_t a, uint32_t b);

/* ---- constants.c ---- */
bool import_is_null(const import *m, uint32_t id);
/* A constant composite of which one constituent is all. */
static inline bool
import_is_replicate(uint32_t op)
{
  return op == IMPORT_CONSTANT_REPLICATE || op == IMPORT_SPEC_CONSTANT_REPLICATE;
}
bool import_declare_constant(import *m, uint32_t op);
bool import_constant(import *m, id_info *info, uint32_t id); /* makes it in this program */
/* A plain integer constant of any width as 32 bits: what does not fit is UINT32_MAX. */
static inline bool
import_literal(const import *m, uint32_t id, uint32_t *out)
{
  bool literal = id < m->bound && (m->ids[id].flags & ID_LITERAL);
  *out = literal ? m->ids[id].root : 0;
  return literal;
}
/* The bits of a literal of that kind at `words`; how many words it has. */
uint64_t import_literal_bits(const uint32_t *words, vyre_kind kind);
uint32_t import_literal_words(vyre_kind kind);
bool import_constant_words(import *m, uint32_t id, list *out); /* as an initializer */
/* Rows that only constants feed go here. */
static inline vyre_builder
import_top(const import *m)
{
  return import_builder_at(m, m->first_decl);
}

/* ---- stages.c ---- */
bool import_stages(import *m);                       /* at the first function: keeps what entry points of other stages need */
bool import_is_called(const import *m, uint32_t id); /* by a compute entry point */

/* ---- scan.c ---- */
bool import_scan(import *m); /* the function that begins at m->at; m->at is its end then */
/* The variable or parameter that pointer `to` leads to; NULL: none that is followed. */
static inline root *
scan_root(import *m, uint32_t to)
{
  const id_info *info = &m->ids[to < m->bound ? to : 0];
  return info->holds == HOLDS_POINTER && info->root ? AT(root, m->roots, info->root) : NULL;
}
/* A store through `to`, which leads to r; whole of a constant: `constant`, else 0. */
void scan_stores_to(import *m, root *r, uint32_t to, uint32_t constant);
/* A private variable that a function stores to is a store of its callers too. */
bool scan_note_private(import *m, function *f, uint32_t root_index);
/* All that the one pointer leads to is copied to the other: if both are variables, as they are declared. */
bool scan_note_copy(import *m, uint32_t to, uint32_t from);

/* ---- reach.c ---- */
bool import_reach(import *m, uint32_t function);  /* an entry point calls it, and what it calls */
void import_share_memory(import *m);              /* variables of which all is copied from or to memory are memory */
uint32_t import_block(import *m, uint32_t label); /* NONE: failed */
/* The same of the label of a branch or merge in a function that is reached: that it is one of the function's was checked. */
static inline uint32_t
import_target(const import *m, uint32_t label)
{
  return m->ids[label].value;
}

/* ---- growth.c ---- */
void import_bound_growth(import *m);
void import_count_words(import *m, function *f); /* what it calls has been counted */
/* Whether the body of an entry point, its calls inlined, is within the bound, with those before it. */
bool import_may_inline(import *m, const function *f);
COLD bool import_too_many_leaves(import *m); /* false, always */

/* ---- nonuniform.c ---- */
void import_spread_nonuniform(import *m); /* once all is declared */

/* ---- values.c ---- */
typedef struct spv_value {
  uint32_t type;
  uint32_t count;
  const uint32_t *leaves; /* not looked at for visibility; moves when leaves are added */
} spv_value;
bool import_value(import *m, uint32_t id, spv_value *out);
uint32_t import_row_made(import *m, uint32_t id);
bool import_is_visible(const import *m, uint32_t row); /* locals.c */
uint32_t import_visible_from(import *m, uint32_t row);
/* The row, or a get of its value if its region has ended. */
static inline uint32_t
import_visible(import *m, uint32_t row)
{
  uint32_t parent = m->view->parent[row];
  return parent == m->region || parent == m->program ? row : import_visible_from(m, row);
}
/* The row of a value of one leaf, if it was made and is visible here; else 0. */
static inline uint32_t
import_row_at_hand(const import *m, uint32_t id)
{
  const id_info *info = &m->ids[id < m->bound ? id : 0];
  if (info->holds != HOLDS_ROW || info->epoch != m->epochs[info->kind])
    return 0;
  const uint32_t parent = m->view->parent[info->value];
  return parent == m->region || parent == m->program || import_is_visible(m, info->value) ? info->value : 0;
}
/* The row of a value of one leaf, visible here; 0: failed. */
static inline uint32_t
import_row(import *m, uint32_t id)
{
  const uint32_t row = import_row_at_hand(m, id);
  return row ? row : import_row_made(m, id);
}
uint32_t import_leaf(import *m, uint32_t id, uint32_t k); /* leaf k, visible */
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
uint32_t *import_set_leaves(import *m, uint32_t id, uint32_t count); /* to be filled at once */
static inline vyre_type
import_row_type(const import *m, uint32_t row)
{
  return VYRE_ROW_TYPE(m->view->op[row]);
}
uint32_t import_cast_top(import *m, uint32_t row, vyre_type type); /* of what constants feed: at the program's top */
uint32_t import_cast(import *m, uint32_t row, vyre_type type);     /* bitcast where it differs; 0: failed */
/* An integer scalar as an index, i32 or u32 (u32 if `is_unsigned`): wider ones that do not fit are all ones.  0: failed. */
uint32_t import_index(import *m, uint32_t row, bool is_unsigned);
/* A count of bits, as many lanes as it has: unsigned, of that kind. */
uint32_t import_bit_count(import *m, uint32_t row, vyre_kind kind);
uint32_t import_matrix(import *m, uint32_t id); /* its tuple row */
void import_set_matrix(import *m, uint32_t id, uint32_t type, uint32_t tuple);
bool import_composite(import *m, uint32_t op, uint32_t type, uint32_t id, const uint32_t *args, uint32_t count);

/* ---- pointers.c ---- */
bool import_make_globals(import *m, const entry *e);
bool import_variable(import *m); /* OpVariable in a function */
bool import_access_chain(import *m);
uint32_t import_add_global(import *m, uint32_t id, vyre_space space, uint32_t initializer); /* NONE: failed */
uint32_t import_global_row(import *m, uint32_t global); /* its buffer, made if need be; 0: failed */
COLD pointer *import_no_pointer(import *m, uint32_t id);
/* Moves when pointers are added. */
static inline pointer *
import_pointer(import *m, uint32_t id)
{
  const id_info *info = &m->ids[id < m->bound ? id : 0];
  return info->holds == HOLDS_POINTER && info->epoch == m->epochs[info->kind] ? AT(pointer, m->pointers, info->value)
                                                                              : import_no_pointer(m, id);
}
uint32_t import_builtin(import *m, const pointer *p);    /* a built-in's row */
uint32_t import_path(import *m, uint32_t pointer_index); /* of a buffer pointer: a row; 0: failed */
/* The leaves that a store through `id` may change, by the constant indices; false: none. */
bool import_pointer_range(import *m, uint32_t id, uint32_t *out_first, uint32_t *out_count);

/* ---- atomics.c ---- */
bool import_atomic(import *m, uint32_t op, const uint32_t *words);

/* ---- memory.c ---- */
bool import_load(import *m, const uint32_t *words); /* of what is no scalar or vector, whole */
/* A scalar or vector that a pointer leads to, whole: what most loads are of.  0: failed. */
uint32_t import_load_single(import *m, uint32_t pointer_index, uint32_t operands);
uint32_t import_memory_operands(import *m, const uint32_t *words, uint32_t at); /* at word `at` of an instruction; 0: none */
bool import_store(import *m, const uint32_t *words);
bool import_copy_memory(import *m, const uint32_t *words);
bool import_array_length(import *m, const uint32_t *words);
/* The flags of a row that accesses what `p` leads to. */
uint32_t import_access_flags(import *m, const pointer *p, uint32_t operands, bool writes);
bool import_is_plain_path(const pointer *p); /* of a buffer, without a column that a value picks */
bool import_is_read_only(vyre_space space);
/* Loads all leaves at `path` onto the stack, or stores them from `*from` on.  `from` is NULL for loads. */
bool import_tree(import *m, uint32_t path, uint32_t type, uint32_t flags, uint32_t imm, uint32_t *from);
/* The id's value: the rows that the stack has from `first` on, which are removed. */
bool import_take_stack(import *m, uint32_t id, uint32_t first);
/* Stores a value that is kept in memory. */
bool import_store_aggregate(import *m, uint32_t to_id, uint32_t id, uint32_t operands);
/* Stores the rows at `stack` from `first` on, the leaves of what the pointer leads to. */
bool import_store_leaves(import *m, uint32_t pointer_index, uint32_t first, uint32_t operands);

/* ---- aggregates.c ---- */
bool import_is_in_memory(const spv_type *t);        /* its values are kept in memory */
uint32_t import_memory_row(import *m, uint32_t id); /* of such a value: its buffer; 0: failed */
/* The id's value: a new buffer, to which `path` is copied; path 0: nothing is. */
bool import_set_memory(import *m, uint32_t id, uint32_t path, uint32_t flags, uint32_t imm);
bool import_share_value(import *m, uint32_t id, uint32_t from); /* the id's value: that of `from` */
void import_copy_rows(import *m, uint32_t to, uint32_t from);   /* of two paths, which may have different layouts */
bool import_store_memory(import *m, uint32_t to_id, uint32_t id, uint32_t flags, uint32_t imm);
/* Whether a table of the constant's words can be its value: it is plain, and no struct in it has a specialized size. */
bool import_may_be_table(const import *m, uint32_t id);
vyre_type_id import_table_type(import *m, uint32_t id);
/* Whether the result, or the operand `from`, is kept in memory; and that instruction. */
bool import_takes_memory(const import *m, uint32_t type, uint32_t from);
bool import_aggregate(import *m, uint32_t op, uint32_t type, uint32_t id, const uint32_t *args, uint32_t count);

/* ---- locals.c ---- */
uint32_t locals_add(import *m, uint32_t type, uint32_t name); /* first leaf; NONE: failed */
uint32_t locals_get(import *m, uint32_t leaf);
static inline uint32_t
locals_read(import *m, uint32_t index)
{
  uint32_t current = AT(leaf, m->locals, index)->current;
  return current ? import_visible(m, current) : locals_get(m, index);
}
void locals_write(import *m, uint32_t leaf, uint32_t row);
void locals_undo(import *m, uint32_t mark);
/* What the path that ends here leaves for the end of construct c; the leaves it changed are added to `list`, if there is one. */
void locals_edge(import *m, uint32_t c, uint32_t *list);
void locals_join(import *m, uint32_t c);      /* after c */
void locals_fall(import *m, uint32_t c);      /* at the start of a case that is fallen into */
void locals_to_var(import *m, uint32_t leaf); /* its value is in its var from here on */
void locals_split(import *m);                 /* lanes.c */
void locals_finish(import *m);                /* drops what no get reads */

/* ---- flow.c, loops.c, switches.c: constructs by their index, for they move when one is added ---- */
#define CONSTRUCT(m, index) AT(construct, (m)->constructs, index)
void flow_walk(import *m, uint32_t block, bool header);
uint32_t flow_push(import *m, construct_kind kind, uint32_t row);
void flow_pop(import *m);
void flow_open(import *m, uint32_t region, uint32_t *out_serial);
void flow_close(import *m, uint32_t mark, uint32_t serial);
void flow_hints(import *m, uint32_t merge, uint32_t row); /* of the merge instruction, to the control row */
void flow_jump_out(import *m, uint32_t c);                /* to its end, from anywhere in it */
void flow_opened(import *m, uint32_t c, uint32_t depth,
                 uint32_t region);              /* a region put around what is open from `depth` on, in c */
uint32_t flow_edge(import *m, uint32_t target); /* from the block being walked: the block to go on with, or NONE */
uint32_t flow_goto(import *m, uint32_t target); /* the same without phis */
void flow_phi_stores(import *m, uint32_t target);
uint32_t flow_loop(import *m, uint32_t header);
uint32_t flow_switch(import *m, uint32_t block);
bool flow_falls(import *m, uint32_t c, uint32_t target); /* whether `target` is another case of switch c; then goes on there */
bool flow_may_share(const import *m, const function *f); /* arms.c */
uint32_t flow_shared(import *m, uint32_t yes, uint32_t no, uint32_t merge); /* the block that both arms lead to; NONE: none */
uint32_t flow_next_phi(const import *m, uint32_t at);                       /* the first OpPhi at or after this word */

/* ---- functions.c ---- */
bool import_call(import *m);
bool import_entry_body(import *m, uint32_t function);
void import_return(import *m, uint32_t id, bool reached); /* id 0: no value; reached: false for OpUnreachable */

/* ---- returns.c ---- */
/* A block, or a switch of a default alone, that is closed; it goes if none of so many jumps leaves it any more. */
void import_nest_returns(import *m, uint32_t row, uint32_t leaves);

/* ---- instructions.c ---- */
bool import_instructions(import *m, uint32_t at, uint32_t end); /* the words of a block from `at` to `end` */

/* ---- operations.c: the table ---- */
typedef struct operation {
  uint16_t vyre; /* 0: none */
  uint8_t form, operands;
  uint8_t read, write; /* kinds */
} operation;
#define IMPORT_OPERATIONS (SpvOpBitCount + 1)
extern const operation import_operations[IMPORT_OPERATIONS]; /* by SPIR-V's number; extensions have more */
const operation *import_operation_of(uint32_t op);           /* NULL: it is none */
bool import_operation(import *m, const operation *o, uint32_t type, uint32_t id, const uint32_t *args, uint32_t count);
/* Returns the type that an op of the class computes on if its operands or its result have `type`. */
vyre_type import_work_type(vyre_class klass, vyre_type type);
/* A vyre row on rows: casts operands to what the op takes and the result to `type`.  0: failed. */
uint32_t import_emit(import *m, vyre_opcode op, vyre_type type, uint32_t flags, const uint32_t *rows, uint32_t count);
/* Of a row that is the id's value. */
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
