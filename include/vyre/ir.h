/* The table: modules, types, building, editing, sealing. types.h describes rows, docs/ir.md the meaning of ops.
 *
 * Threads: a module belongs to one thread at a time. Different modules share nothing. Ownership: a module owns everything in it,
 * and copies strings that are passed in. Errors: building fails only if memory runs out, and the module remembers this. The failed
 * builder call and all later ones return row 0, and vyre_module_status returns the error. So building code checks once, at its end.
 * Builders do not check operands; the verifier does.
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

/* One more than the greatest op number. Numbers in gaps are not ops. The value grows with the op set, so plugins do not see it. */
enum {
#define VYRE_OP(number, id, ...) VYRE_OP__NUMBER_##id = number,
#include "vyre/ops.def"
  VYRE_OP__COUNT
};

extern const vyre_op_info vyre_op_infos[VYRE_OP__COUNT];
/* Returns the op with the text, or VYRE_OP_null. */
vyre_opcode vyre_op_find(const char *text, size_t length);

/* Return the version of the library, such as "1.2.0", and that of its op set. Those of the headers are macros of the build system and
 * VYRE_OPSET_VERSION; a program may run with a newer library. */
const char *vyre_version(void);
uint32_t vyre_opset_version(void);

/* ---- module ----------------------------------------------------------------------------------------------------------------- */

/* Creates an empty module. `max_rows` is the most rows that it may have, or 0 for 2^28. The allocator is copied; NULL means the
 * default.
 *
 * Address space is reserved for sixteen times the rows of the module and for at least a million rows, or for fewer if the system
 * refuses. While a module is built, its columns move to more space when they need it, and the view gets the new addresses. Building
 * ends when the module is sealed, and begins again with vyre_module_reserve. Outside building, columns move only in
 * vyre_module_seal, so a pass may hold their addresses. A pass that makes more rows than there is room for fails with an
 * out-of-memory error. */
VYRE_MUST_USE vyre_status vyre_module_create(const vyre_allocator *allocator, uint32_t max_rows, vyre_module **out);
/* Frees the module and everything in it. Does nothing to NULL. */
void vyre_module_destroy(vyre_module *module);
/* Announces that about `rows` rows will be built. Columns may move now and until the module is sealed. */
void vyre_module_reserve(vyre_module *module, uint32_t rows);
/* Makes the module empty and keeps its memory. For many small programs this is much cheaper than new modules, whose first use
 * causes page faults. */
void vyre_module_clear(vyre_module *module);
/* The most rows that a large SPIR-V module may become when it is read into this module (spirv.h), as a multiple of its words. The
 * default is VYRE_MODULE_GROWTH, and 0 counts as 1. vyre_module_clear keeps the value. */
#define VYRE_MODULE_GROWTH 8u
void vyre_module_set_growth(vyre_module *module, uint32_t times);
uint32_t vyre_module_growth(const vyre_module *module);
/* Whether a vector that loops or branches change stays one `var` when SPIR-V is read into this module. Otherwise it becomes a `var`
 * for each lane, so that passes and drivers optimize the lanes separately, with more instructions. The default is false, and
 * vyre_module_clear keeps the value. */
void vyre_module_set_keeps_vectors(vyre_module *module, bool keeps);
bool vyre_module_keeps_vectors(const vyre_module *module);
/* Returns the columns. The view lives as long as the module. */
const vyre_view *vyre_module_view(const vyre_module *module);
const vyre_allocator *vyre_module_allocator(const vyre_module *module);
/* Lends scratch memory of at least `least` bytes, and stores its size. The module keeps the memory between users and lends it to
 * one at a time. Returns NULL if it is already lent, or if memory runs out. */
void *vyre_module_borrow(vyre_module *module, size_t least, size_t *out_bytes);
/* Ends a loan. `wanted` is the number of bytes that would have been enough; the next borrower gets that much. */
void vyre_module_return_room(vyre_module *module, size_t wanted);
/* Returns VYRE_OK, or the failure since creation or the last clear: out of memory, or the error of vyre_module_fail. Each call
 * makes a new status. */
VYRE_MUST_USE vyre_status vyre_module_status(const vyre_module *module);
/* Fails the module, until it is cleared, because of an invalid edit. The message has up to 199 bytes. Only the first message is
 * kept. */
void vyre_module_fail(vyre_module *module, const char *format, ...) VYRE_PRINTF(2, 3);
/* Returns the message of the invalid edit, or NULL if there was none. */
const char *vyre_module_fault(const vyre_module *module);
/* Returns the bytes committed for columns and side tables. */
size_t vyre_module_bytes(const vyre_module *module);
/* Returns the bytes of address space reserved for columns, committed or not. */
size_t vyre_module_reserved_bytes(const vyre_module *module);

/* ---- strings ------------------------------------------------------------------------------------------------------------- */

/* An interned text. Equal texts have equal ids; 0 is "". */
typedef uint32_t vyre_string;
/* Returns the id of the text, which ends at `length` bytes or at a zero byte. Returns 0 if memory runs out. */
vyre_string vyre_string_intern(vyre_module *module, const char *text, size_t length);
/* Returns the terminated text, never NULL. Interning moves it. */
const char *vyre_string_text(const vyre_module *module, vyre_string string);

/* ---- types of memory ----------------------------------------------------------------------------------------------------- */

/* The id of a type. An id below 256 is a scalar or vector: the vyre_type byte itself. From 256 on, it is an entry of the module's
 * type table. Equal types have equal ids.
 *
 * Every type has a complete layout: explicit, as SPIR-V's Offset, ArrayStride and MatrixStride give it, or std430's. Types in
 * spaces without a layout (workgroup, private, constant) have one too; the exporter omits it there. */
typedef uint32_t vyre_type_id;  /* forms and flags: types.h */
enum { VYRE_FIRST_TYPE = 256 }; /* the first id of the type table */

typedef struct vyre_member {
  vyre_string name;
  vyre_type_id type;
  uint32_t offset; /* in bytes */
  uint32_t access; /* vyre_access bits of the member */
} vyre_member;

typedef struct vyre_type_info {
  vyre_type_form form;
  uint32_t flags;             /* vyre_type_flag */
  vyre_type_id element;       /* array: its element; matrix: its column vector; value: the type itself */
  uint32_t count;             /* array: length, or 0 if a row gives it or it is a runtime array; matrix: columns; struct: members */
  uint32_t count_row;         /* array: the row that gives its length (const, spec, or computed from them), or 0; seal keeps it */
  uint32_t stride;            /* array, matrix: bytes from one element (column, or row if row major) to the next */
  uint32_t align;             /* in bytes, by std430 */
  uint32_t size;              /* in bytes, padded by std430; runtime arrays and arrays whose length is a row count as empty */
  const vyre_member *members; /* struct: borrowed; adding types moves them */
  vyre_string name;           /* struct: or 0 */
} vyre_type_info;

/* Returns the description of a type. An unknown id gives a type of size 0. */
vyre_type_info vyre_type_get(const vyre_module *module, vyre_type_id type);
uint32_t vyre_type_count(const vyre_module *module); /* Returns one more than the greatest type id. Ids from 256 on are dense. */
/* The functions below return the id of a type, and make it if the module lacks it. Return 0 if memory runs out. Stride 0 means
 * std430's. If `count_row` is not 0, it is the array's length, and the type belongs to the row's program. */
vyre_type_id vyre_type_array(vyre_module *module, vyre_type_id element, uint32_t count, vyre_row count_row, uint32_t stride);
vyre_type_id vyre_type_runtime_array(vyre_module *module, vyre_type_id element, uint32_t stride);
vyre_type_id vyre_type_matrix(vyre_module *module, vyre_type column, uint32_t columns, uint32_t stride, bool row_major);
#define VYRE_OFFSET_AUTO UINT32_MAX /* a member's offset: the std430 offset after the member before it */
vyre_type_id vyre_type_struct(vyre_module *module, vyre_string name, const vyre_member *members, uint32_t count, uint32_t flags);
/* Returns a struct type with a default stride of arrays of it. Structs with different default strides are different types. Stride 0
 * means std430's. */
vyre_type_id vyre_type_struct_apart(vyre_module *module, vyre_string name, const vyre_member *members, uint32_t count,
                                    uint32_t flags, uint32_t stride);
/* Returns the bytes from the start of a type to the end of its last scalar: `size` without the padding at its end. Elements of an
 * array and members of a struct may be that close. Lengths count as in `size`. */
uint32_t vyre_type_extent(const vyre_module *module, vyre_type_id type);
/* Returns the default stride of arrays of the element type, in bytes. */
uint32_t vyre_type_stride(const vyre_module *module, vyre_type_id element);
/* Removes the types from id `first` on. Nothing may use them. */
void vyre_type_forget(vyre_module *module, vyre_type_id first);
/* Returns the type that a path step into `type` reaches: a member, an element, a column or a lane. Returns 0 if there is none. An
 * element or lane may be out of range, because an index can become a literal. */
vyre_type_id vyre_type_step(const vyre_module *module, vyre_type_id type, uint32_t index);

/* ---- inputs, programs, buffers: the contents of side tables -------------------------------------------------------------- */

/* A growing list of words, owned by the module. */
typedef struct vyre_word_list {
  uint32_t *words;
  uint32_t count, capacity;
} vyre_word_list;

typedef struct vyre_input {
  vyre_string path;
  uint32_t spirv_version;      /* the header word, or 0 if the input is not SPIR-V */
  uint32_t addressing, memory; /* operands of OpMemoryModel */
  vyre_word_list capabilities; /* operands of OpCapability */
  vyre_word_list extensions;   /* whole OpExtension instructions, in order */
  vyre_string remark;          /* why the input's programs are verbatim, or 0 if they are not */
  vyre_string dropped;         /* parts without effect on results that the reader omitted, or 0 */
  vyre_string stages;          /* names of the entry points of other stages than compute, which are in `kept`, or 0 */
  vyre_word_list kept;         /* whole instructions with ids: OpSource, debug information, reflection, other stages (words.h) */
  uint32_t first_program;      /* sealed module: the input's first program row, or 0; the others follow by next_program */
} vyre_input;

/* Adds an input and returns its index, or UINT32_MAX if memory runs out. */
uint32_t vyre_module_add_input(vyre_module *module, const char *path);
uint32_t vyre_module_input_count(const vyre_module *module);
vyre_input *vyre_module_input(vyre_module *module, uint32_t index); /* Returns the input. Adding inputs moves it. */
void vyre_word_list_append(vyre_module *module, vyre_word_list *list, const uint32_t *words, uint32_t count);

typedef struct vyre_program_info {
  uint32_t input;        /* index of the input that the program came from */
  uint32_t next_program; /* sealed module: the next program row of the same input, or 0 */
  vyre_word_list modes;  /* OpExecutionMode instructions except LocalSize, with 0 as the entry point's id */
  vyre_string entry;     /* the entry point's name in its input if the program had to be renamed; otherwise 0 */
} vyre_program_info;

typedef struct vyre_buffer_info {
  uint32_t set, binding; /* storage and uniform buffers */
  uint32_t spirv_id;     /* the same for all rows of one SPIR-V variable, or 0 */
  uint32_t initializer;  /* constant and private buffers: index of the initializer in the module, or UINT32_MAX for zero */
} vyre_buffer_info;

/* Return the information of a program or buffer row, never NULL. If the row has none or memory ran out, they return a scratch
 * object. Adding programs or buffers moves the result. */
vyre_program_info *vyre_program_info_of(vyre_module *module, vyre_row program);
vyre_buffer_info *vyre_buffer_info_of(vyre_module *module, vyre_row buffer);
/* Adds an initializer and returns its index, or UINT32_MAX if memory runs out. The words are scalars in layout order without gaps.
 * A 64-bit scalar has two words, a smaller one has one. */
uint32_t vyre_module_add_initializer(vyre_module *module, const uint32_t *words, uint32_t count);
const uint32_t *vyre_module_initializer(const vyre_module *module, uint32_t index, uint32_t *out_count);

/* ---- scopes: the source scopes of lines ---------------------------------------------------------------------------------- */

/* The source scope of a row, interned; 0 if the row has none. There are four kinds, by the fields that are set; the other fields
 * are 0:
 *
 *     a place      file, alone or with entity (a function or block), caller, call_line, call; values, if the row has values.
 *     a variable   entity, caller, call_line, call: a source variable in that call of its function.
 *     a part       variable, index: 1 + the index of a member, element, column or lane of the variable.
 *     a value      variable, index; values: the row's previous value; order and depth if execution order matters.
 *
 * A value says that the row is the value of the variable or part from there on. A `set` assigns it; a `var` or `buffer` holds it at
 * all times. Passes carry values along without reading them, so each value records how to detect missing ones. `index` is the
 * number of rows that are values of the variable, of its parts and of its parents; for a buffer, the number of rows that write it.
 * `order` grows from value to value. `depth` is 1 + the number of loops and arms around the row. */
typedef uint32_t vyre_scope;
#define VYRE_SCOPE_VALUES 64u   /* most variables that one row is the value of; more are dropped */
#define VYRE_SCOPE_DEPTH  1023u /* most callers around a scope, nested parts, or values of a row; more are dropped */
typedef struct vyre_scope_info {
  vyre_string file;
  uint32_t entity;     /* id of the debug instruction in `kept` that describes the scope, or 0 if only `file` is set */
  vyre_scope caller;   /* the scope that the call is in, if the function was inlined, or 0 */
  uint32_t call_line;  /* line of the call in the caller */
  uint32_t call;       /* distinguishes calls on the same line */
  vyre_scope variable; /* or a part of one */
  uint32_t index;
  vyre_scope values; /* the row's last value */
  uint32_t order, depth;
} vyre_scope_info;

/* Returns the scope, or 0 if the info is empty or there are too many scopes. */
vyre_scope vyre_scope_intern(vyre_module *module, const vyre_scope_info *info);
vyre_scope_info vyre_scope_get(const vyre_module *module, vyre_scope scope);
static inline vyre_scope
vyre_scope_of_file(vyre_module *module, vyre_string file)
{
  const vyre_scope_info info = {file, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  return vyre_scope_intern(module, &info);
}

/* ---- names, lines, decorations, spec ids: side columns, kept by edits and seal ------------------------------------------- */

/* Sets a row's name, given as text or as an interned string. Length 0 or string 0 removes the name. Seal makes names unique in their program, and program
 * names in the module. In program order the first row keeps its name, and later ones get a suffix. */
void vyre_row_set_name(vyre_module *module, vyre_row row, const char *name, size_t length);
void vyre_row_set_name_string(vyre_module *module, vyre_row row, vyre_string name);
/* Returns the name, or NULL if the row has none. Interning strings moves it. */
const char *vyre_row_name(const vyre_module *module, vyre_row row);
/* Return the columns of names and of lines, for reading all rows. A cell is 0 if the row has none. The columns have *out_rows
 * elements, and later rows have none. Setting a name or line may change *out_rows, but never moves the column. */
const vyre_string *vyre_module_names(const vyre_module *module, uint32_t *out_rows);
const uint32_t *vyre_module_lines(const vyre_module *module, uint32_t *out_rows);
/* Sets a row's source location. Line 0 removes it. */
void vyre_row_set_place(vyre_module *module, vyre_row row, vyre_scope scope, uint32_t line, uint32_t column);
static inline void
vyre_row_set_line(vyre_module *module, vyre_row row, vyre_string file, uint32_t line, uint32_t column)
{
  vyre_row_set_place(module, row, line ? vyre_scope_of_file(module, file) : 0, line, column);
}
/* Stores the row's source location, or zeros. Returns whether it has one. Columns above 1023 are stored as 1023. */
bool vyre_row_line(const vyre_module *module, vyre_row row, vyre_string *out_file, uint32_t *out_line, uint32_t *out_column);
vyre_scope vyre_row_scope(const vyre_module *module, vyre_row row); /* Returns the scope of the row's line, or 0. */
void vyre_row_set_spec_id(vyre_module *module, vyre_row row, uint32_t spec_id);
/* Returns the row's spec id, or UINT32_MAX if it has none; 0 is a valid id. */
uint32_t vyre_row_spec_id(const vyre_module *module, vyre_row row);
/* Sets a row's decorations: a list of (decoration, operand count, operands...) with SPIR-V's numbers. Sets or clears flag DECO. */
void vyre_row_set_decorations(vyre_module *module, vyre_row row, const uint32_t *words, uint32_t count);
const uint32_t *vyre_row_decorations(const vyre_module *module, vyre_row row, uint32_t *out_count);

/* ---- building: rows are appended at the end of the current region -------------------------------------------------------- */

/* A cursor: the place of the next row. vyre_builder_at_end and vyre_builder_before set it. A builder is for one program;
 * vyre_builder_at_end of another program switches to that. If `program` is 0, it is found when it is needed, in O(depth). Sealing
 * renumbers rows and invalidates builders. */
typedef struct vyre_builder {
  vyre_module *module;
  uint32_t program;      /* const rows are interned in this program */
  uint32_t region;       /* the parent of new rows */
  uint32_t before;       /* new rows precede this row, or are last in the region if it is 0 */
  vyre_scope scope;      /* scope of the line given to new rows */
  uint32_t line, column; /* of new rows; line 0 for none */
} vyre_builder;

/* Appends a program to the module, with a workgroup row of (1, 1, 1) and its vyre_program_info. Sets *out to the program's end and
 * returns the program's row. The builder keeps a program's top in order: const and spec rows, the workgroup row, buffers and
 * vars. */
vyre_row vyre_build_program(vyre_module *module, const char *name, uint32_t mode, uint32_t input, vyre_builder *out);
void vyre_builder_at_end(vyre_builder *builder, vyre_row region);
void vyre_builder_before(vyre_builder *builder, vyre_row row);

/* Builds any row. If the op TAKES_IMM and b is a const row of the right type, the row becomes immediate. Nothing else is changed or
 * checked. */
vyre_row vyre_build(vyre_builder *builder, vyre_opcode op, vyre_type type, uint32_t flags, uint32_t imm, uint32_t imm_hi,
                    vyre_row a, vyre_row b, vyre_row c);
/* Returns the program's const row with these bits in every lane. It is interned, at the program's top. */
vyre_row vyre_build_const(vyre_builder *builder, vyre_type type, uint64_t bits);
/* Returns the program's row for a built-in, gid to subgroup_lt_mask. It is interned, at the program's top. */
vyre_row vyre_build_invocation(vyre_builder *builder, vyre_opcode op);
/* Build declarations and constants of a specialization. Their rows are at the top of the program. */
vyre_row vyre_build_spec(vyre_builder *builder, vyre_type type, uint64_t bits, uint32_t spec_id);
vyre_row vyre_build_var(vyre_builder *builder, vyre_type type);
/* Builds a var whose initial value is arbitrary. The program is relaxed. */
vyre_row vyre_build_unset_var(vyre_builder *builder, vyre_type type);
vyre_row vyre_build_buffer(vyre_builder *builder, vyre_type_id type, vyre_space space, uint32_t access, uint32_t set,
                           uint32_t binding);
/* Sets the operands of the workgroup row, and moves the row after them. */
void vyre_build_workgroup(vyre_builder *builder, vyre_row x, vyre_row y, vyre_row z);
/* Build a row with one or two operands whose type follows from them. */
vyre_row vyre_build_unary(vyre_builder *builder, vyre_opcode op, vyre_row a);
vyre_row vyre_build_binary(vyre_builder *builder, vyre_opcode op, vyre_row a, vyre_row b);
vyre_row vyre_build_imm(vyre_builder *builder, vyre_opcode op, vyre_row a, uint64_t bits); /* The right operand is a literal. */
vyre_row vyre_build_select(vyre_builder *builder, vyre_row condition, vyre_row yes, vyre_row no);
vyre_row vyre_build_lane(vyre_builder *builder, vyre_row vector, uint32_t lane);
vyre_row vyre_build_convert(vyre_builder *builder, vyre_opcode convert_or_bitcast, vyre_type type, vyre_row a);
/* Convert between u16, the bits of a bf16, and f32, lane by lane, as several rows (docs/ir.md). pack rounds to nearest even and gives
 * 0x7fc0 for a NaN. */
vyre_row vyre_build_pack_bf16(vyre_builder *builder, vyre_row value);
vyre_row vyre_build_unpack_bf16(vyre_builder *builder, vyre_row bits);
/* Returns scalars and vectors combined to a vector of 1 to 4 lanes: the only part itself, a splat of equal parts, or `join` rows.
 * Four parts become join(join(p0, p1), p2, p3). */
vyre_row vyre_build_join(vyre_builder *builder, const vyre_row *parts, uint32_t count);
/* Builds tuple(p0, p1, p2), or (p0, p1, tuple of the rest) for more than three parts. */
vyre_row vyre_build_tuple(vyre_builder *builder, const vyre_row *parts, uint32_t count);
/* Returns part k: an operand if `tuple` is a tuple row, otherwise a new `part` row. */
vyre_row vyre_build_part(vyre_builder *builder, vyre_row tuple, uint32_t k, vyre_type type);
/* Build a path step into member, element, column or lane `index`. */
vyre_row vyre_build_at(vyre_builder *builder, vyre_row path, vyre_row index);
vyre_row vyre_build_at_literal(vyre_builder *builder, vyre_row path, uint32_t index);
/* Returns the type of the location that a path (a buffer or an at row) leads to. */
vyre_type_id vyre_path_type(const vyre_module *module, vyre_row path);
vyre_row vyre_path_buffer(const vyre_module *module, vyre_row path);
/* Returns how many steps of a path from the buffer row select a descriptor. They are the arrays around a block in storage or
 * uniform space, or around a handle. Returns 0 if the row is a single descriptor or the program's own memory. Two descriptors of an
 * array may be the same memory. */
uint32_t vyre_buffer_descriptor_steps(const vyre_module *module, uint32_t buffer);
/* Loads a scalar or vector. The caller adds the flags that the buffer's declaration requires. A matrix is loaded column by
 * column. */
vyre_row vyre_build_load(vyre_builder *builder, vyre_row path, uint32_t flags);
vyre_row vyre_build_store(vyre_builder *builder, vyre_row path, vyre_row value, uint32_t flags);
vyre_row vyre_build_get(vyre_builder *builder, vyre_row var);
vyre_row vyre_build_set(vyre_builder *builder, vyre_row var, vyre_row value);

/* Control: build the row and its regions, and move the builder into the first region. `if` has then and else; `for` has a body,
 * which is the index; `loop` has a body and a continuing region; `block` has one region. `switch` has none until cases are added.
 * vyre_builder_leave moves the builder to after the row. */
vyre_row vyre_build_if(vyre_builder *builder, vyre_row condition);
vyre_row vyre_build_for(vyre_builder *builder, vyre_row from, vyre_row to, vyre_row step);
vyre_row vyre_build_loop(vyre_builder *builder);
vyre_row vyre_build_block(vyre_builder *builder);
vyre_row vyre_build_switch(vyre_builder *builder, vyre_row selector);
vyre_row vyre_build_case(vyre_builder *builder, vyre_row switch_row, vyre_row labels, bool is_default);
vyre_row vyre_region_of(const vyre_module *module, vyre_row control, uint32_t k); /* Returns the k-th region row, or row 0. */
void vyre_builder_leave(vyre_builder *builder, vyre_row control);
/* Sets the hints of a control row (vyre_hint) and the literals of the hints that have one, lowest bit first. */
void vyre_row_set_hints(vyre_module *module, vyre_row control, uint32_t hints, const uint32_t *literals);
const uint32_t *vyre_row_hint_literals(const vyre_module *module, vyre_row control, uint32_t *out_count);
/* Returns the word of hint bit 1 << k in text and GLSL, or NULL if rows of the op have no such hint. */
const char *vyre_hint_word(vyre_opcode op, uint32_t k);
vyre_row vyre_build_jump(vyre_builder *builder, vyre_opcode op, vyre_row target_or_condition);
vyre_row vyre_build_barrier(vyre_builder *builder, uint32_t order);

/* ---- editing: O(1) each unless a comment says otherwise ------------------------------------------------------------------ */

/* Replaces op word, payload and operands. Without flag DECO, the decorations are removed. If b is now a const row and the op
 * TAKES_IMM, the row becomes immediate. */
void vyre_row_rewrite(vyre_module *module, vyre_row row, uint32_t op, uint32_t imm, uint32_t imm_hi, vyre_row a, vyre_row b,
                      vyre_row c);
void vyre_row_set_operand(vyre_module *module, vyre_row row, unsigned which, vyre_row operand); /* 0 for a, 1 for b, 2 for c */
/* Removes the row and everything in it from its region. The row is not dead yet. */
void vyre_row_unlink(vyre_module *module, vyre_row row);
void vyre_row_insert(vyre_module *module, vyre_row row, vyre_row region,
                     vyre_row before); /* Inserts an unlinked row; last in the region if `before` is 0. */
/* Moves the row, with everything in it, to before another row. */
void vyre_row_move_before(vyre_module *module, vyre_row row, vyre_row before);
/* Moves the row and all rows after it in its region, which is not a program, to another region of the program: before `before`, or
 * last if that is 0. The other region is not in one of these rows. Does nothing for row 0. O(rows moved). */
void vyre_rows_move(vyre_module *module, vyre_row first, vyre_row region, vyre_row before);
void vyre_row_kill(vyre_module *module, vyre_row row); /* Unlinks the row, and makes it and everything in it dead. O(rows in it). */
/* Restores the invariants after columns op, imm, imm_hi, a, b and c were written directly. Rows that became `null` are unlinked
 * with everything in them, and rows that no longer read or write state lose their version. O(rows). */
void vyre_module_settle_rows(vyre_module *module);
/* Returns the type that a literal right operand has in a row with the op word and operand a: that of a, or u32 for `at` and `lane`.
 * Returns VYRE_VOID if a literal is not allowed. */
vyre_type vyre_row_right_type(const vyre_module *module, uint32_t op, vyre_row a);
/* Replaces every use of row i, including lengths of types, by fwd[i]. fwd[i] == i means no change, and chains are followed.
 * Operands that become const rows become immediates. `fwd` has an element for each row and is overwritten. O(rows). */
void vyre_module_forward(vyre_module *module, uint32_t *fwd);

/* Numbers rows densely in program order and drops dead and unlinked rows. A second seal changes nothing. `map` may be NULL.
 * Otherwise it has an element for each old row, which is set to the new id, or 0 for a dropped row. O(rows). */
VYRE_MUST_USE vyre_status vyre_module_seal(vyre_module *module, uint32_t *map);
bool vyre_module_is_sealed(const vyre_module *module);
/* Forgets the const rows and the places of new ones at the tops of programs, which the builder finds again. So where it puts a row
 * depends on the module alone, not on earlier edits. */
void vyre_module_forget_tops(vyre_module *module);
/* Returns whether the last seal dropped a row that was the version of a kept row. */
bool vyre_module_lost_versions(const vyre_module *module);
/* Returns whether removed rows are the only reason to seal: the remaining rows keep their ids, in program order, and no name
 * changed. If the module has versions, no version is a removed row. */
bool vyre_module_has_only_gaps(const vyre_module *module);
/* Copies a row and everything in it to before a row of the same program that is not in it. `map` has map_rows elements and covers
 * all copied rows. Sets map[row] to the copy for each copied row, and writes no other element. An operand is replaced by
 * map[operand] if that exists and is not 0. Copies names, which seal makes unique, source lines and decorations. Returns row 0 if
 * memory runs out. O(rows in it). */
vyre_row vyre_row_clone(vyre_module *module, vyre_row row, vyre_row before, uint32_t *map, uint32_t map_rows);
/* Returns the next row in program order in the tree under `root`: the first child, otherwise the row that follows. Returns 0 at the
 * end. */
uint32_t vyre_row_after(const vyre_view *view, uint32_t row, uint32_t root);
/* Returns the number of loops and conditional constructs around the row; `block`s do not count. O(depth). */
uint32_t vyre_row_depth(const vyre_view *view, uint32_t row);
/* Creates a sealed copy. */
VYRE_MUST_USE vyre_status vyre_module_clone(const vyre_module *module, vyre_module **out);
/* Exchanges the contents of two modules, but not max_rows and growth. Both have the same allocator. */
void vyre_module_swap(vyre_module *a, vyre_module *b);

/* ---- facts about rows ---------------------------------------------------------------------------------------------------- */

/* Computes a pure row on literal operands. Returns false if it is not constant or may not be folded. The row is not a tuple.
 * O(1). */
bool vyre_row_fold(const vyre_module *module, uint32_t row, vyre_type *out_type, uint64_t out_lanes[4]);
/* Computes the row as if operand i were the literal given[i], 4 lanes. If given[i] is NULL, the operand itself counts. */
bool vyre_row_fold_given(const vyre_module *module, uint32_t row, const uint64_t *const given[3], uint64_t out_lanes[4]);
/* Returns whether the location that the path leads to is surely in bounds. O(steps). */
bool vyre_path_in_bounds(const vyre_module *module, uint32_t path);
/* Returns whether the path's location, in private memory or a constant table, initially has the same literal in all lanes. O(steps
 * and the members before them). */
bool vyre_path_initial(const vyre_module *module, uint32_t path, uint64_t *out_bits);

/* ---- analyses over the table --------------------------------------------------------------------------------------------- */

/* Computes which buffers may be the same memory. `out` has an element for each row. A buffer's element is set to its alias class:
 * the first buffer row of the class, perhaps with VYRE_ALIAS_SHARED. Returns false if memory runs out. */
bool vyre_aliases_compute(const vyre_module *module, uint32_t *out);
/* Recomputes analyses (VYRE_VERSIONS | VYRE_LOOPS ...: types.h) of a sealed, verified module and shows them: the view has their
 * columns. A change invalidates them, which is not detected. Sealing renumbers rows, so it drops all analyses but versions. Loops,
 * dominance and levels are linear in rows. Versions are linear in rows times the nesting of the loops that write. */
VYRE_MUST_USE vyre_status vyre_module_make_analyses(vyre_module *module, uint32_t analyses);
/* Returns one of the VYRE_COLUMNS of a sealed module for writing: an element for each row, the first for row 0.
 * vyre_module_show_analyses shows it. Returns NULL if the column does not exist. If memory runs out, the module fails and the
 * result is NULL. */
uint32_t *vyre_module_open_column(vyre_module *module, uint32_t which);
/* Makes the view show exactly those of `analyses` that exist. Computes and drops none. */
void vyre_module_show_analyses(vyre_module *module, uint32_t analyses);
/* Removes the analyses' columns from the view. If `poison` is set, overwrites them with UINT32_MAX, so that a stale use is found at
 * once. */
void vyre_module_drop_analyses(vyre_module *module, uint32_t analyses, bool poison);
/* Hides all analyses, and drops all but `analyses`, which must describe the sealed module. vyre_module_kept_analyses returns the
 * kept analyses that are still valid. Edits, vyre_program_info_of and vyre_buffer_info_of make all of them invalid. */
void vyre_module_keep_analyses(vyre_module *module, uint32_t analyses);
uint32_t vyre_module_kept_analyses(vyre_module *module);
/* Returns the write generation of a column of the view, also of a hidden analysis: a number that changes when the column is
 * written, and that is different in each module. The table of a module that is not sealed counts as written. */
uint64_t vyre_module_generation(vyre_module *module, const uint32_t *column);
/* Marks a column as written. Call it after writing a column directly. */
void vyre_module_mark_written(vyre_module *module, const uint32_t *column);
/* Stores the address space of a column: the bytes from *start on that are accessible. They contain the column. */
void vyre_module_column_pages(const vyre_module *module, const uint32_t *column, void **start, size_t *bytes);
/* Registers a function that is called once, before columns move or their memory is released. NULL removes it. An earlier function
 * with another `user` is called immediately. */
void vyre_module_watch_pages(vyre_module *module, void (*function)(void *user), void *user);

#ifdef __cplusplus
}
#endif
#endif
