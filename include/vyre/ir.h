/* The table: module, types, building, editing, sealing.  types.h says what a row is, docs/ir.md what an op means.
 *
 * Threads: a module belongs to one thread at a time; different modules never share anything.  Ownership: a module owns all that is
 * in it; strings passed in are copied.  Errors: building fails only when memory runs out, and that is remembered: the builder call
 * that had no memory and all later ones return row 0, and vyre_module_status tells.  So building code checks once, at its end.
 * Wrong operands are not checked here: the verifier does that.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_H
#define VYRE_IR_H

#include "vyre/status.h"
#include "vyre/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vyre_module vyre_module;

/* One more than the greatest number; numbers in gaps are not ops.  It grows, so it is hidden from plugins. */
enum {
#define VYRE_OP(number, id, ...) VYRE_OP__NUMBER_##id = number,
#include "vyre/ops.def"
  VYRE_OP__COUNT
};

extern const vyre_op_info vyre_op_infos[VYRE_OP__COUNT];
/* The op of that text, or VYRE_OP_null. */
vyre_opcode vyre_op_find(const char *text, size_t length);

/* ---- module ----------------------------------------------------------------------------------------------------------------- */

/* max_rows 0: 2^28.  The allocator is copied; NULL: the default.
 *
 * Address space is reserved for many times the rows of the module (sixteen times, for a million at least), or less if that is
 * refused.  While a module is built, until it is sealed for the first time and again from vyre_module_reserve on, its columns
 * move to more space when they need it: the view has the new addresses.  Otherwise columns move in vyre_module_seal alone,
 * so that a pass may hold their addresses; making more rows than there is room for is out of memory. */
VYRE_MUST_USE vyre_status vyre_module_create(const vyre_allocator *allocator, uint32_t max_rows, vyre_module **out);
void vyre_module_destroy(vyre_module *module);
/* Says that about so many rows will be built; columns may move, now and until the module is sealed. */
void vyre_module_reserve(vyre_module *module, uint32_t rows);
/* Back to empty, keeping its memory: for many small programs this is much cheaper than new modules, whose columns begin with page
 * faults. */
void vyre_module_clear(vyre_module *module);
/* How many times its words a large SPIR-V module may become when it is read into this one (spirv.h): VYRE_MODULE_GROWTH by
 * default; 0 counts as 1.  Clearing does not change it. */
#define VYRE_MODULE_GROWTH 8u
void vyre_module_set_growth(vyre_module *module, uint32_t times);
uint32_t vyre_module_growth(const vyre_module *module);
const vyre_view *vyre_module_view(const vyre_module *module);
const vyre_allocator *vyre_module_allocator(const vyre_module *module);
/* Scratch memory of at least that many bytes, which the module keeps from one user to the next; one user has it at a time.  NULL:
 * no memory, or it is in use. */
void *vyre_module_borrow(vyre_module *module, size_t least, size_t *out_bytes);
/* `wanted`: how much would have been enough, for the next user. */
void vyre_module_give_back(vyre_module *module, size_t wanted);
/* OK, or what failed since creation or the last clear: memory, or vyre_module_fail.  A new status each call. */
VYRE_MUST_USE vyre_status vyre_module_status(const vyre_module *module);
/* Fails it (until it is cleared) with that message, of up to 200 bytes, because of an invalid edit.  The first message
 * stays. */
void vyre_module_fail(vyre_module *module, const char *format, ...) VYRE_PRINTF(2, 3);
const char *vyre_module_fault(const vyre_module *module); /* that message; NULL: none */
/* Bytes committed for columns and side tables. */
size_t vyre_module_bytes(const vyre_module *module);
/* Bytes of address space reserved for columns, committed or not. */
size_t vyre_module_reserved_bytes(const vyre_module *module);

/* ---- strings ------------------------------------------------------------------------------------------------------------- */

/* Interned text: equal texts have equal ids; 0 is "". */
typedef uint32_t vyre_string;
vyre_string vyre_string_intern(vyre_module *module, const char *text, size_t length);
const char *vyre_string_text(const vyre_module *module, vyre_string string); /* terminated; never NULL; moves when interning */

/* ---- types of memory ----------------------------------------------------------------------------------------------------- */

/* A type id below 256 is a scalar or vector: the vyre_type byte itself.  From 256 on it is an entry of the module's type table.
 * Each type has a complete layout: explicit as SPIR-V's Offset, ArrayStride and MatrixStride say, or std430's.  Spaces that carry
 * no layout (workgroup, private, constant) use it all the same; the exporter leaves it out there.  Equal types have equal ids. */
typedef uint32_t vyre_type_id; /* vyre_type_form, vyre_type_flag: types.h */

typedef struct vyre_member {
  vyre_string name;
  vyre_type_id type;
  uint32_t offset; /* bytes */
  uint32_t access; /* vyre_access bits of this member */
} vyre_member;

typedef struct vyre_type_info {
  vyre_type_form form;
  uint32_t flags;             /* vyre_type_flag */
  vyre_type_id element;       /* array: its element; matrix: its column vector; value: itself */
  uint32_t count;             /* array: length, 0 if a row gives it or it is a runtime array; matrix: columns; struct: members */
  uint32_t count_row;         /* array: the row (const, spec, or computed from them) that gives its length, else 0; kept by seal */
  uint32_t stride;            /* array, matrix: bytes from one element (column; row if row major) to the next */
  uint32_t align;             /* bytes, by std430 */
  uint32_t size;              /* bytes, padded by std430; a runtime array counts 0 elements, a length given by a row counts 0 */
  const vyre_member *members; /* struct: borrowed, moves when types are added */
  vyre_string name;           /* struct */
} vyre_type_info;

vyre_type_info vyre_type_get(const vyre_module *module, vyre_type_id type);
uint32_t vyre_type_count(const vyre_module *module); /* one more than the greatest id; ids from 256 on are used densely */
/* stride 0: std430's.  Rows as lengths make types of one program. */
vyre_type_id vyre_type_array(vyre_module *module, vyre_type_id element, uint32_t count, vyre_row count_row, uint32_t stride);
vyre_type_id vyre_type_runtime_array(vyre_module *module, vyre_type_id element, uint32_t stride);
vyre_type_id vyre_type_matrix(vyre_module *module, vyre_type column, uint32_t columns, uint32_t stride, bool row_major);
#define VYRE_OFFSET_AUTO UINT32_MAX /* a member's offset: that of std430, after the member before it */
vyre_type_id vyre_type_struct(vyre_module *module, vyre_string name, const vyre_member *members, uint32_t count, uint32_t flags);
/* The same, with the default stride of arrays of it (0: std430's): a distinct type. */
vyre_type_id vyre_type_struct_apart(vyre_module *module, vyre_string name, const vyre_member *members, uint32_t count,
                                    uint32_t flags, uint32_t stride);
/* Returns the bytes from the start of a type to the end of its last scalar: `size` without the padding at its end.  Elements of an
 * array may be that close, and members of a struct.  Lengths count as in `size`. */
uint32_t vyre_type_extent(const vyre_module *module, vyre_type_id type);
/* The default stride of arrays of that element type. */
uint32_t vyre_type_stride(const vyre_module *module, vyre_type_id element);
/* Drops the types from this id on: nothing may use them. */
void vyre_type_forget(vyre_module *module, vyre_type_id first);
/* The type that a path step into `type` reaches: a member, an element, a column, a lane.  0: there is none.  An element or lane may
 * be out of range, where an index became a literal. */
vyre_type_id vyre_type_step(const vyre_module *module, vyre_type_id type, uint32_t index);

/* ---- inputs, programs, buffers: what the side tables hold ---------------------------------------------------------------- */

/* One file that programs came from.  `words` of each list are owned by the module. */
typedef struct vyre_word_list {
  uint32_t *words;
  uint32_t count, capacity;
} vyre_word_list;

typedef struct vyre_input {
  vyre_string path;
  uint32_t spirv_version;      /* header word, 0: not from SPIR-V */
  uint32_t addressing, memory; /* OpMemoryModel */
  vyre_word_list capabilities; /* operand words */
  vyre_word_list extensions;   /* whole instructions: OpExtension; kept in order */
  vyre_string remark;          /* why its programs are verbatim; 0: they are not */
  vyre_string dropped;         /* what was left out when it was read and changes no result; 0: nothing */
  vyre_string stages;          /* its entry points of other stages than compute, which are in `kept`; 0: there are none */
  vyre_word_list kept;    /* whole instructions: OpSource and the like, debug information and reflection as words.h has them, and
                             what entry points of other stages need, with ids */
  uint32_t first_program; /* its programs, in a sealed module: this row, then by next_program; 0: none */
} vyre_input;

uint32_t vyre_module_add_input(vyre_module *module, const char *path); /* index; UINT32_MAX: no memory */
uint32_t vyre_module_input_count(const vyre_module *module);
vyre_input *vyre_module_input(vyre_module *module, uint32_t index); /* moves when inputs are added */
void vyre_word_list_append(vyre_module *module, vyre_word_list *list, const uint32_t *words, uint32_t count);

typedef struct vyre_program_info {
  uint32_t input;        /* which input it came from */
  uint32_t next_program; /* in a sealed module: the next program row of that input; 0: none */
  vyre_word_list modes;  /* OpExecutionMode instructions but LocalSize, the entry point's id word 0 */
  vyre_string entry;     /* the entry point's name in its input, if the program had to be renamed; 0: the program's */
} vyre_program_info;

typedef struct vyre_buffer_info {
  uint32_t set, binding; /* storage, uniform */
  uint32_t spirv_id;     /* rows of one SPIR-V variable carry its id; 0: none */
  uint32_t initializer;  /* constant, private: index of its words in the module, UINT32_MAX: zero */
} vyre_buffer_info;

/* Both move when programs or buffers are added; never NULL (a scratch one if the row has none, or memory ran out). */
vyre_program_info *vyre_program_info_of(vyre_module *module, vyre_row program);
vyre_buffer_info *vyre_buffer_info_of(vyre_module *module, vyre_row buffer);
/* Initializer: scalars in layout order without gaps, 32-bit words (64-bit scalars take two, smaller ones one). */
uint32_t vyre_module_add_initializer(vyre_module *module, const uint32_t *words, uint32_t count);
const uint32_t *vyre_module_initializer(const vyre_module *module, uint32_t index, uint32_t *out_count);

/* ---- scopes: what lines are in ------------------------------------------------------------------------------------------- */

/* What a row's place is in.  Equal ones have equal numbers; 0: none.  What a scope is says which fields it has; others are 0:
 *
 *   a place      file, alone or with entity (a function or block), caller, call_line, call; values, if the row there has one
 *   a variable   entity, caller, call_line, call: of the source, in that call of its function
 *   a part       variable, index: 1 + which of its members, elements, columns or lanes
 *   a value      variable, index; values: the row's one before; order, depth, where it matters when the row is executed
 *
 * A row with a value is what the variable, or part, is given there; a `set` sets it to that; a `var` or buffer holds it at all
 * times. Passes take values along and know nothing of it, so each says how to find out that some are missing: index, how many rows
 * are values of the variable, of its parts, and of what it is a part of (of a buffer: how many rows write to it); order, which
 * grows from value to value; depth, 1 + the loops and arms around the row. */
typedef uint32_t vyre_scope;
#define VYRE_SCOPE_VALUES 64u   /* variables that a row is the value of; more are not told */
#define VYRE_SCOPE_DEPTH  1023u /* callers around a scope, parts of parts, values of a row; those beyond it are left out */
typedef struct vyre_scope_info {
  vyre_string file;
  uint32_t entity;     /* the debug instruction that says what it is, by its id in `kept` of the program's input; 0: a file alone */
  vyre_scope caller;   /* what it was inlined into; 0: nothing */
  uint32_t call_line;  /* of the call there */
  uint32_t call;       /* a number that tells calls of one line apart */
  vyre_scope variable; /* or a part of one */
  uint32_t index;
  vyre_scope values; /* the last one of the row's */
  uint32_t order, depth;
} vyre_scope_info;

vyre_scope vyre_scope_intern(vyre_module *module, const vyre_scope_info *info); /* 0: of nothing, or there are too many */
vyre_scope_info vyre_scope_get(const vyre_module *module, vyre_scope scope);
static inline vyre_scope
vyre_scope_of_file(vyre_module *module, vyre_string file)
{
  const vyre_scope_info info = {file, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  return vyre_scope_intern(module, &info);
}

/* ---- names, lines, decorations, spec ids: side columns, kept through edits and seal -------------------------------------- */

/* A row's name; length 0: none.  Seal makes names unique in their program (program names: in the module): in program order, the
 * first row keeps its name, later ones get a suffix. */
void vyre_row_set_name(vyre_module *module, vyre_row row, const char *name, size_t length);
const char *vyre_row_name(const vyre_module *module, vyre_row row); /* NULL: none; moves when strings are interned */
/* The columns themselves, for reading all rows: the names (0: none), and the lines (0: none).  They have *out_rows elements;
 * later rows have none.  Setting one may change *out_rows, never move the column. */
const vyre_string *vyre_module_names(const vyre_module *module, uint32_t *out_rows);
const uint32_t *vyre_module_lines(const vyre_module *module, uint32_t *out_rows);
void vyre_row_set_place(vyre_module *module, vyre_row row, vyre_scope scope, uint32_t line, uint32_t column); /* line 0: none */
static inline void
vyre_row_set_line(vyre_module *module, vyre_row row, vyre_string file, uint32_t line, uint32_t column)
{
  vyre_row_set_place(module, row, line ? vyre_scope_of_file(module, file) : 0, line, column);
}
bool vyre_row_line(const vyre_module *module, vyre_row row, vyre_string *out_file, uint32_t *out_line, uint32_t *out_column);
vyre_scope vyre_row_scope(const vyre_module *module, vyre_row row); /* of its line */
void vyre_row_set_spec_id(vyre_module *module, vyre_row row, uint32_t spec_id);
uint32_t vyre_row_spec_id(const vyre_module *module, vyre_row row); /* UINT32_MAX: none (0 is an id) */
/* Decorations: a list of (decoration, operand count, operands...), SPIR-V's numbers; sets flag DECO if the list is not empty. */
void vyre_row_set_decorations(vyre_module *module, vyre_row row, const uint32_t *words, uint32_t count);
const uint32_t *vyre_row_decorations(const vyre_module *module, vyre_row row, uint32_t *out_count);

/* ---- building: rows are appended at the end of the current region -------------------------------------------------------- */

/* A cursor: where the next row goes.  vyre_builder_at_end(region) and before(row) set it; program 0 is found when it is needed, in
 * O(depth).  A builder is for one program (at_end(another program) changes it); after a seal, which renumbers, make a new one. */
typedef struct vyre_builder {
  vyre_module *module;
  uint32_t program;      /* its const rows are interned here */
  uint32_t region;       /* new rows are children of it */
  uint32_t before;       /* before this row; 0: at the end */
  vyre_scope scope;      /* of the line given to new rows */
  uint32_t line, column; /* 0: none */
} vyre_builder;

/* A new program at the end of the module: its row, the info, and a workgroup row of (1, 1, 1) are made; the builder is at its
 * end.  The builder orders a program's top: const and spec rows; the workgroup row; buffers and vars.  Operands come first
 * there too: vyre_build_workgroup moves the row after its operands where pure rows over spec rows give the size. */
vyre_row vyre_build_program(vyre_module *module, const char *name, uint32_t mode, uint32_t input, vyre_builder *out);
void vyre_builder_at_end(vyre_builder *builder, vyre_row region);
void vyre_builder_before(vyre_builder *builder, vyre_row row);

/* Any row.  If op TAKES_IMM and b is a const row, the row becomes immediate.  Nothing else is changed or checked. */
vyre_row vyre_build(vyre_builder *builder, vyre_opcode op, vyre_type type, uint32_t flags, uint32_t imm, uint32_t imm_hi,
                    vyre_row a, vyre_row b, vyre_row c);
/* A splat const row of this program: interned, at the program's top. */
vyre_row vyre_build_const(vyre_builder *builder, vyre_type type, uint64_t bits);
/* A built-in, gid to subgroup_lt_mask: one row of this program for all users, at its top. */
vyre_row vyre_build_invocation(vyre_builder *builder, vyre_opcode op);
vyre_row vyre_build_spec(vyre_builder *builder, vyre_type type, uint64_t bits, uint32_t spec_id); /* at the top, as are: */
vyre_row vyre_build_var(vyre_builder *builder, vyre_type type);
vyre_row vyre_build_buffer(vyre_builder *builder, vyre_type_id type, vyre_space space, uint32_t access, uint32_t set,
                           uint32_t binding);
void vyre_build_workgroup(vyre_builder *builder, vyre_row x, vyre_row y, vyre_row z); /* sets the workgroup row's operands */
/* One-operand and two-operand rows whose type follows from ops.def (SAME, BOOL). */
vyre_row vyre_build_unary(vyre_builder *builder, vyre_opcode op, vyre_row a);
vyre_row vyre_build_binary(vyre_builder *builder, vyre_opcode op, vyre_row a, vyre_row b);
vyre_row vyre_build_imm(vyre_builder *builder, vyre_opcode op, vyre_row a, uint64_t bits); /* right operand a literal */
vyre_row vyre_build_select(vyre_builder *builder, vyre_row condition, vyre_row yes, vyre_row no);
vyre_row vyre_build_lane(vyre_builder *builder, vyre_row vector, uint32_t lane);
vyre_row vyre_build_convert(vyre_builder *builder, vyre_opcode convert_or_bitcast, vyre_type type, vyre_row a);
/* Scalars and vectors side by side, 1 to 4 lanes in all: the row itself, a splat, or joins (4 parts: join(join(p0, p1), p2, p3)).
 */
vyre_row vyre_build_join(vyre_builder *builder, const vyre_row *parts, uint32_t count);
/* n parts: tuple(p0, p1, p2), or (p0, p1, tuple of the rest). */
vyre_row vyre_build_tuple(vyre_builder *builder, const vyre_row *parts, uint32_t count);
/* Part k: an operand of a tuple row itself, else a `part` row. */
vyre_row vyre_build_part(vyre_builder *builder, vyre_row tuple, uint32_t k, vyre_type type);
/* Paths: into member, element, column or lane `index`, literal or row. */
vyre_row vyre_build_at(vyre_builder *builder, vyre_row path, vyre_row index);
vyre_row vyre_build_at_literal(vyre_builder *builder, vyre_row path, uint32_t index);
/* The type of what a path (buffer or at row) names. */
vyre_type_id vyre_path_type(const vyre_module *module, vyre_row path);
vyre_row vyre_path_buffer(const vyre_module *module, vyre_row path);
/* How many steps of a path from the buffer row select a descriptor: the arrays around a block in storage or uniform space, or
 * around a handle.  0: the row is one descriptor, or memory of the program's own.  Two descriptors of an array may be one memory.
 */
uint32_t vyre_buffer_descriptor_steps(const vyre_module *module, uint32_t buffer);
/* A scalar or vector load; flags and access of the buffer's declaration are the caller's.  (Matrices: one load a column.) */
vyre_row vyre_build_load(vyre_builder *builder, vyre_row path, uint32_t flags);
vyre_row vyre_build_store(vyre_builder *builder, vyre_row path, vyre_row value, uint32_t flags);
vyre_row vyre_build_get(vyre_builder *builder, vyre_row var);
vyre_row vyre_build_set(vyre_builder *builder, vyre_row var, vyre_row value);

/* Control: makes the row and its region rows; the builder goes into the first region.  `if`: then, else.  `for`: body (the index).
 * `loop`: body, continuing.  `block`: its region.  `switch`: none, cases are added.  vyre_builder_leave puts the builder after the
 * row. */
vyre_row vyre_build_if(vyre_builder *builder, vyre_row condition);
vyre_row vyre_build_for(vyre_builder *builder, vyre_row from, vyre_row to, vyre_row step);
vyre_row vyre_build_loop(vyre_builder *builder);
vyre_row vyre_build_block(vyre_builder *builder);
vyre_row vyre_build_switch(vyre_builder *builder, vyre_row selector);
vyre_row vyre_build_case(vyre_builder *builder, vyre_row switch_row, vyre_row labels, bool is_default);
vyre_row vyre_region_of(const vyre_module *module, vyre_row control, uint32_t k); /* its k-th region row */
void vyre_builder_leave(vyre_builder *builder, vyre_row control);
/* Hints of a control row (vyre_hint) and, for those that have one, their literals, lowest bit first. */
void vyre_row_set_hints(vyre_module *module, vyre_row control, uint32_t hints, const uint32_t *literals);
const uint32_t *vyre_row_hint_literals(const vyre_module *module, vyre_row control, uint32_t *out_count);
/* The word of hint bit 1 << k in text and GLSL; NULL: rows of that op have no such hint. */
const char *vyre_hint_word(vyre_opcode op, uint32_t k);
vyre_row vyre_build_jump(vyre_builder *builder, vyre_opcode op, vyre_row target_or_condition);
vyre_row vyre_build_barrier(vyre_builder *builder, uint32_t order);

/* ---- editing: O(1) each but where said ----------------------------------------------------------------------------------- */

/* op word, payload and operands at once; without flag DECO the decorations are removed; the row becomes immediate if b is now a
 * const row and the op TAKES_IMM. */
void vyre_row_rewrite(vyre_module *module, vyre_row row, uint32_t op, uint32_t imm, uint32_t imm_hi, vyre_row a, vyre_row b,
                      vyre_row c);
void vyre_row_set_operand(vyre_module *module, vyre_row row, unsigned which, vyre_row operand); /* 0 a, 1 b, 2 c */
void vyre_row_unlink(vyre_module *module, vyre_row row); /* out of its region, with all in it; not dead yet */
void vyre_row_insert(vyre_module *module, vyre_row row, vyre_row region,
                     vyre_row before); /* an unlinked row; before 0: at the end */
void vyre_row_move_before(vyre_module *module, vyre_row row, vyre_row before);
void vyre_row_kill(vyre_module *module, vyre_row row); /* unlinks it and makes it and all in it dead: O(rows in it) */
/* After rows were written through op, imm, imm_hi, a, b and c themselves: those that became `null` leave their regions (each with
 * all in it), those that see no state any more have no version.  O(rows). */
void vyre_module_settle_rows(vyre_module *module);
/* The type that the right operand of a row with that op word and a has, if it may be a literal: that of a, u32 for `at` and
 * `lane`; VYRE_VOID if it may not. */
vyre_type vyre_row_right_type(const vyre_module *module, uint32_t op, vyre_row a);
/* Every use of row i, by lengths of types too, becomes a use of fwd[i] (i: no change); chains are followed; operands that become
 * const rows become immediates.  One sweep: O(rows).  fwd has an element a row and is overwritten. */
void vyre_module_forward(vyre_module *module, uint32_t *fwd);

/* Numbers rows densely in program order and drops dead and unlinked rows; a second seal changes nothing.  Linear.  `map`, if not
 * NULL, has an element for each row before, and gets its new id (0: dropped). */
VYRE_MUST_USE vyre_status vyre_module_seal(vyre_module *module, uint32_t *map);
bool vyre_module_is_sealed(const vyre_module *module);
/* Whether it dropped a row that was the version of a row that is left. */
bool vyre_module_lost_versions(const vyre_module *module);
/* A copy of the row and all that is in it, before another row, which is not in it, of the same program.  The map has map_rows
 * elements, among them all rows that are copied: map[row] becomes the copy of each of these, and no other element is written.
 * Operands that are among them become the copies, others map[operand], where that is there and not 0.  Names, which become unique
 * in seal, source lines and decorations follow.  No row: out of memory.  O(rows in it). */
vyre_row vyre_row_clone(vyre_module *module, vyre_row row, vyre_row before, uint32_t *map, uint32_t map_rows);
/* The next row in program order (a row, then what is in it, then what follows), within the tree under `root`; 0 at the end. */
uint32_t vyre_row_after(const vyre_view *view, uint32_t row, uint32_t root);
/* How many loops and arms are around it: constructs, but for `block`s.  O(depth). */
uint32_t vyre_row_depth(const vyre_view *view, uint32_t row);
/* A copy, sealed. */
VYRE_MUST_USE vyre_status vyre_module_clone(const vyre_module *module, vyre_module **out);
/* Each is the other afterwards, but for max_rows and growth.  Both have the same allocator. */
void vyre_module_swap(vyre_module *a, vyre_module *b);

/* ---- facts about rows ---------------------------------------------------------------------------------------------------- */

/* The value of a pure row (tuple-free) on literal operands.  False: it has none, or folding may not give it.  O(1). */
bool vyre_row_fold(const vyre_module *module, uint32_t row, vyre_type *out_type, uint64_t out_lanes[4]);
/* The same, as if operand i were the literal given[i] (4 lanes); NULL: the operand itself. */
bool vyre_row_fold_given(const vyre_module *module, uint32_t row, const uint64_t *const given[3], uint64_t out_lanes[4]);
/* Whether what the path leads to is surely in bounds.  O(steps). */
bool vyre_path_in_bounds(const vyre_module *module, uint32_t path);
/* Whether what the path leads to in private memory or a table is one literal in all its lanes at the start.  O(steps, and the
 * members before them). */
bool vyre_path_initial(const vyre_module *module, uint32_t path, uint64_t *out_bits);

/* ---- analyses over the table --------------------------------------------------------------------------------------------- */

/* Which buffers may be the same memory: out has an element a row, and gets for each buffer its class, the first buffer row in it,
 * perhaps with VYRE_ALIAS_SHARED.  False: out of memory. */
bool vyre_aliases_compute(const vyre_module *module, uint32_t *out);
/* Makes analyses (VYRE_VERSIONS | VYRE_LOOPS ...: types.h) of a sealed, verified module anew, and shows them: from here on the view
 * has their columns.  A change makes them wrong, which is not detected; sealing renumbers rows and so drops all but versions.
 * Loops, dominance and levels are linear in rows, without scratch; versions in rows times the nesting of what loops write. */
VYRE_MUST_USE vyre_status vyre_module_make_analyses(vyre_module *module, uint32_t analyses);
/* One of VYRE_COLUMNS of a sealed module, to be filled: an element a row, the first of row 0.  vyre_module_show_analyses shows it.
 * NULL: no memory, and the module failed; or there is no such column. */
uint32_t *vyre_module_open_column(vyre_module *module, uint32_t which);
/* The view has the columns of these, of those that are made, and of no others; none is made or lost. */
void vyre_module_show_analyses(vyre_module *module, uint32_t analyses);
/* Their columns leave the view.  poison: they are overwritten with UINT32_MAX, versions too, so that a stale use shows at
 * once. */
void vyre_module_drop_analyses(vyre_module *module, uint32_t analyses, bool poison);

/* A state graph in memory of the caller's.  Owns joins and parts; the column is an element a row, of the caller's. */
typedef struct vyre_state_graph {
  uint32_t *version;
  vyre_join *joins;
  vyre_part *parts;
  uint32_t join_count, join_capacity, part_count, part_capacity;
} vyre_state_graph;

/* Gives joins and parts back. */
void vyre_state_graph_free(vyre_state_graph *graph, const vyre_allocator *allocator);

/* Of a join that is about to get its parts: the var, the construct or head, how many edges lead there.  False: it gets none. */
typedef bool (*vyre_join_filter)(void *user, uint32_t var, uint32_t row, uint32_t edges);
/* Of one program of a sealed, verified module, the versions of its gets alone and the joins that they see.  Of the column only the
 * program's rows are written, and no other rows are looked at. */
VYRE_MUST_USE vyre_status vyre_versions_of_vars(const vyre_module *module, uint32_t program, vyre_join_filter filter, void *user,
                                                vyre_state_graph *out);

#ifdef __cplusplus
}
#endif
#endif
