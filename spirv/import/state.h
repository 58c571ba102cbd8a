/* Data of the SPIR-V importer: about the module that it reads, the functions in it, and the program that it makes.
 *
 * Lists own their elements until the import ends.  A pair `x, x_count` in a struct is a range of the list `x` of `import`.  Words
 * are indices into `words`, where instructions begin unless noted.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_FRONTEND_SPIRV_STATE_H
#define VYRE_FRONTEND_SPIRV_STATE_H

#include "vyre/ir.h"
#include "vyre/opaque.h"
#include "vyre/spirv.h"

#include <spirv/unified1/spirv.h>

#define IMPORT_MAX_DEPTH    1000u /* depth of nested regions, calls or types */
#define IMPORT_MAX_LEAVES   4096u /* leaves of one composite value */
#define IMPORT_LOCAL_LEAVES 64u   /* variables with more leaves are private buffers */
#define IMPORT_COPY_LEAVES  4u    /* values with more leaves are copied by one row where possible */
#define NONE                UINT32_MAX

/* Instructions that older SPIR-V headers lack (ir/opaque/newer.def). */
enum {
  IMPORT_EXT_INST_FORWARD = 4433,        /* OpExtInstWithForwardRefsKHR */
  IMPORT_CONSTANT_REPLICATE = 4461,      /* OpConstantCompositeReplicateEXT, which repeats one constituent */
  IMPORT_SPEC_CONSTANT_REPLICATE = 4462, /* OpSpecConstantCompositeReplicateEXT */
  IMPORT_CONSTRUCT_REPLICATE = 4463,     /* OpCompositeConstructReplicateEXT */
  IMPORT_ABORT = 5121,                   /* OpAbortKHR */
};
enum { IMPORT_DECORATION_STRIDE_ID = 5124, IMPORT_DECORATION_OFFSET_ID = 5125 }; /* ArrayStrideIdEXT, OffsetIdEXT */

typedef enum id_kind {
  ID_NONE,
  ID_STRING,
  ID_SET,   /* `value`: 1 GLSL.std.450, 2 NonSemantic or debug information, 3 NonSemantic.Shader.DebugInfo.100, 0 another set */
  ID_GROUP, /* a decoration group; or a kept instruction of a set, whose `value` is 1 + its number */
  ID_TYPE,
  ID_CONSTANT, /* `value`: its row or, if it has several leaves, index in `constant_leaves`; made at the first use in a program */
  ID_GLOBAL,   /* a module-scope variable; `value`: index in `pointers` */
  ID_FUNCTION, /* `value`: index in `functions` */
  ID_LABEL,    /* `value`: index in `blocks` */
  ID_LOCAL,    /* a result in a function; `value`: depending on `holds`, a row, or an index in `leaves` or `pointers` */
  ID_KINDS
} id_kind;

/* The meaning of `value`.  The id has a value only if its `epoch` equals the epoch of its kind in `epochs`. */
typedef enum id_holds { HOLDS_LEAVES, HOLDS_ROW, HOLDS_POINTER, HOLDS_MEMORY } id_holds; /* HOLDS_MEMORY: index in `globals` */

/* Flags of an id. */
enum {
  ID_EXACT = 1,
  ID_RELAXED = 2,
  ID_NONUNIFORM = 4,
  ID_BLOCK = 8,
  ID_BUFFER_BLOCK = 16,
  ID_SPEC = 32, /* a constant that depends on specialization */
  ID_NAMED = 128,
  ID_LITERAL = 64,    /* a plain integer constant: `root` is its value, as import_literal returns it */
  ID_ACCESS = 0x3f00, /* mask of the vyre_access bits */
  ID_OPAQUE = 0x4000, /* an opaque type, or an id of such a type */
};

struct spv_type;

typedef struct id_info {
  struct spv_type *t; /* the type itself if the id is a type; otherwise the type of `type`, or NULL if it has none */
  uint32_t def;       /* word of its instruction, or 0 if it is not defined */
  uint32_t type;      /* id of its type, or 0 if it has none */
  uint32_t value;     /* meaning by `kind` and `holds` */
  uint32_t epoch;     /* epoch of `value`: number of the program (constants) or of the instance (locals) */
  /* pointers: variable or parameter that it leads to, index in `roots`; phis: first leaf, or index in `globals` if in memory; plain
   * integer constants: value */
  uint32_t root;
  uint8_t kind;
  uint8_t holds; /* id_holds; of a type: id_holds of its values */
  uint16_t flags;
} id_info;

/* Rarely used data of an id. */
typedef struct id_notes {
  uint32_t name;        /* word of its OpName, or 0 */
  vyre_string string;   /* its name in the module, or 0 if no row has it yet */
  uint32_t decorations; /* first in `decorations`, or 0 */
} id_notes;

typedef struct decoration {
  uint32_t next;
  uint32_t member; /* number, or NONE if the decoration is on the id itself */
  uint32_t kind, value;
} decoration;

typedef enum type_form {
  FORM_VOID,
  FORM_VALUE,
  FORM_MATRIX,
  FORM_ARRAY,
  FORM_RUNTIME,
  FORM_STRUCT,
  FORM_POINTER,
  FORM_FUNCTION,
} type_form;

typedef struct spv_type {
  uint8_t form;
  vyre_type value; /* FORM_VALUE: the type itself; FORM_MATRIX: the column's type */
  bool sized;      /* `leaves` is known */
  bool has_pointer, has_runtime;
  bool has_matrix; /* arrays: the innermost element is a matrix */
  uint8_t depth;
  uint8_t literal_words; /* words of a literal of the type, which is an integer or a float; otherwise 0 */
  uint32_t element;      /* id of the component, column, element, pointee or return type */
  /* lanes, columns, elements (0 if specialization sets the length), members or parameters; pointers: storage class */
  uint32_t count;
  uint32_t length;  /* arrays: id of the length */
  uint32_t members; /* structs, functions: first in `members` */
  uint32_t leaves;  /* number of leaves; NONE if it is over IMPORT_MAX_LEAVES */
  /* bytes; arrays and pointers: ArrayStride; structs: ArrayStride of the first member that is an array; 0 if there is none */
  uint32_t stride;
  vyre_type_id made; /* type in the module for the program `epoch` */
  uint32_t epoch;
  bool being_made; /* an opaque type, while its words are read */
  bool forward;    /* a pointer that is forward declared, but not declared yet */
  bool is_named;   /* a struct to which pointers in it refer by name */
} spv_type;

typedef struct spv_member {
  uint32_t type;
  uint32_t leaf;   /* index of the member's first leaf in the struct */
  uint32_t offset; /* bytes, or VYRE_OFFSET_AUTO */
  uint32_t matrix_stride;
  uint32_t access;
  uint32_t name;    /* word of its OpMemberName, or 0 */
  uint32_t builtin; /* BuiltIn number, or NONE */
  bool row_major;
} spv_member;

/* dynamically indexed; stored to; see `constant`; accessed in parts */
enum { ROOT_DYNAMIC = 1, ROOT_WRITTEN = 2, ROOT_CONSTANT = 4, ROOT_PARTS = 8 };

/* A store of the whole of one variable to another; both are indices in `roots`. */
typedef struct root_copy {
  uint32_t from, to;
} root_copy;

/* A function or private variable, or a pointer parameter: how the functions scanned so far use it. */
typedef struct root {
  uint32_t id;
  uint32_t flags; /* ROOT_CONSTANT: each store so far sets the whole variable to `constant` */
  uint32_t constant;
  uint32_t global, epoch; /* its buffer in the program `epoch`, index in `globals` */
} root;

typedef struct block {
  uint32_t label;
  uint32_t start;                       /* first word after the label */
  uint32_t merge;                       /* word of its OpLoopMerge or OpSelectionMerge, or 0 */
  uint32_t end;                         /* word of the terminator */
  uint32_t successors, successor_count; /* block indices */
  uint32_t writes, write_count;         /* words of the instructions that store */
  uint32_t preds;
  uint32_t phis;       /* number of phis at its start */
  uint32_t visited;    /* instance that last walked it */
  uint32_t stamp;      /* mark of the last search */
  uint32_t case_index; /* index of the case in the switch being made, if `stamp` is current */
  uint32_t function;
  bool is_loop;   /* `merge` is an OpLoopMerge */
  bool is_target; /* a merge block, a continue target or a switch target */
  bool is_shared; /* arms of a selection meet there (arms.c) */
} block;

typedef struct function {
  uint32_t id, start;           /* word of OpFunction */
  uint32_t end;                 /* word of OpFunctionEnd */
  uint32_t line;                /* word of the OpLine just before the function, or 0 */
  uint32_t state;               /* of import_reach: 0 not visited, 1 its callees are being visited, 2 finished */
  uint32_t params, param_count; /* ids */
  uint32_t blocks, block_count;
  uint32_t phis, phi_count;                  /* ids */
  uint32_t privates, private_count;          /* indices in `roots`: private variables that it or a callee stores to */
  uint32_t calls, call_count;                /* words of its OpFunctionCalls */
  enum { CLOSED, OPEN_AT_START, OPEN } open; /* during the scan: outside a block, after only phis in a block, later in a block */
  bool leaves_early;                         /* has a return that is not at the end of its body */
  bool may_share;                            /* arms of a selection may lead to one block (arms.c) */
  uint32_t debug_words;                      /* words of debug instructions in it */
  uint64_t inlined;                          /* words after inlining, which count callees once per call (growth.c) */

  bool active;
  bool has_last_words; /* `last_words` is set for it (memory.c) */
} function;

typedef enum pointer_base {
  BASE_NOTHING, /* an index out of bounds: reads as zero */
  BASE_LEAVES,
  BASE_BUFFER,
  BASE_VALUE, /* a built-in */
} pointer_base;

#define POINTER_NONUNIFORM 0x4000u /* a bit of `access` in addition to the vyre_access bits */

typedef struct pointer {
  uint8_t base;
  bool has_lane, lane_literal; /* it leads to one component of a vector; for buffers, only below a column */
  /* it leads to a dynamically indexed column: `column` of `columns`; or, if both are 0, to a component of an opaque value */
  bool has_column;
  bool single; /* it leads to a whole scalar or vector, of type `value` */
  vyre_type value;
  uint16_t access;
  uint32_t type;                  /* id of the pointee's type */
  uint32_t first;                 /* BASE_LEAVES: leaf; BASE_VALUE: BuiltIn number; BASE_BUFFER: index in `globals` */
  uint32_t column, columns, lane; /* rows, or a literal lane; BASE_VALUE: `column` is the variable's id */
  uint32_t steps, step_count;     /* BASE_BUFFER only */
  uint32_t path;                  /* the row last made for it */
} pointer;

typedef struct step {
  uint32_t index; /* literal or row */
  bool literal;
} step;

/* A variable that is a buffer. */
typedef struct global {
  uint32_t id;
  uint32_t row;         /* row in the current program, or 0 if the buffer is not made yet */
  uint32_t initializer; /* id of a constant, for constant buffers, or 0 */
  uint32_t members;     /* its `at` rows by member, first in `members_made`, or 0 */
  vyre_space space;
} global;

typedef struct member_made {
  uint32_t member, row, next;
} member_made;

/* The current value of an unset variable of a function that is called in a loop.  Its var holds a value of the iteration before. */
#define LEAF_UNSET UINT32_MAX

typedef struct leaf {
  uint32_t current; /* row of its value, 0 if the value is in the var, or LEAF_UNSET */
  uint32_t var;     /* row, or 0 if it has no var yet or only vars of its lanes */
  uint32_t logged;  /* serial of the region in which its change is in `log` */
  uint32_t loop;    /* serial of the innermost loop that may store to it */
  uint32_t edge;    /* mark of searches */
  uint32_t count;   /* during a join: edges that changed it; otherwise 0 */
  uint32_t gets;
  uint32_t name;   /* id */
  uint32_t opaque; /* id of its type, if the module has opaque types */
  uint32_t debug;  /* 1 + index in `debug_variables`, or 0 */
  vyre_type type;
  bool dirty;   /* the var does not hold `current` */
  bool wanted;  /* some row sets or gets its var */
  bool carried; /* each of its lanes has a var (lanes.c) */
} leaf;

/* A source variable, or a part of one, in an instance of its function. */
typedef struct debug_variable {
  vyre_scope scope, place; /* the variable; the place of its declaration */
  uint32_t line;           /* line of its declaration */
  pointer_base base;       /* leaf, buffer, or nothing if it only has values */
  uint32_t at;             /* index of the leaf or buffer */
  uint32_t writes;         /* number of values that it got */
  uint32_t after;          /* number of rows when it last got a value */
  uint32_t last;           /* index of its last value in `debug_values` */
  uint32_t rows, sets;     /* at the end: rows that are its values, and sets among them */
  bool lost;               /* one of its values cannot be expressed */
} debug_variable;

typedef struct debug_value {
  uint32_t variable, row, before; /* `before`: index of the variable's previous value, or NONE */
  uint32_t after;                 /* number of rows when the variable got the value */
  enum {
    DEBUG_OWN,   /* a row that was made for the value: after the last store, in the current region */
    DEBUG_FIRST, /* another row, which is the variable's first value outside loops */
    DEBUG_UNSET, /* another row, or a literal: needs a `set` */
    DEBUG_SET,   /* has its `set`; no row with an effect is between the value and the `set` */
  } kind;
  bool in_loop;
  bool with_row; /* when the row runs, the variable gets the value or is not in scope: no loop is entered or left between them */
} debug_value;

typedef struct change {
  uint32_t leaf, current, logged;
  bool dirty, store;
} change;

typedef enum construct_kind { CONSTRUCT_IF, CONSTRUCT_SWITCH, CONSTRUCT_LOOP, CONSTRUCT_BLOCK } construct_kind;
typedef enum loop_phase { PHASE_BODY, PHASE_INLINE, PHASE_CONTINUING } loop_phase;

typedef struct construct {
  uint8_t kind, phase;
  bool continued;       /* loops: some edge leads to its continuing region */
  uint32_t merge, next; /* blocks; next: the continue target; switches: the current case */
  uint32_t header;
  uint32_t row, block_row;    /* block_row: a block around it, made for a jump to its end from inside, or 0 */
  uint32_t region;            /* its end continues at `merge` (if, switch, function) or `next` (loop) */
  uint32_t depth;             /* size of `open` where its regions begin */
  uint32_t mark;              /* size of `log` at its start */
  uint32_t leaf_limit;        /* leaves from this index on were added after its start */
  uint32_t edges;             /* number of edges to its end; loops: breaks */
  uint32_t leaves;            /* blocks, switches: number of jumps that leave it */
  uint32_t joined;            /* list of leaves that some edge changed, first in `joins` */
  uint32_t cases, case_count; /* switches only */
  /* switches: the case that the current one falls into, or NONE; list of leaves that the edges to it changed */
  uint32_t fell, fell_leaves;
  uint32_t case_block; /* switches: a block in the current case that a jump leaves to fall into the next case, or 0 */
} construct;

typedef struct joined {
  uint32_t leaf, next;
} joined;

typedef struct switch_case {
  uint32_t block;
  uint32_t labels, label_count; /* list, first in `case_labels` */
  bool is_default, done;
} switch_case;

typedef struct case_label {
  uint64_t literal;
  uint32_t next;
} case_label;

typedef struct set_row {
  uint32_t row, leaf;
} set_row;

typedef struct entry {
  uint32_t id, function, word;
  uint32_t local[3];
  uint32_t local_ids; /* word of LocalSizeId's first operand, or 0 */
} entry;

typedef struct instance {
  uint32_t function;
  uint32_t epoch;
  uint32_t constructs;           /* first of its own constructs */
  uint32_t result, result_count; /* leaves of the result if it returns early, or NONE */
  /* otherwise index of the result's rows in `leaves`, or NONE; both are indices in `globals` if the result is in memory */
  uint32_t returned;
  bool is_entry;
} instance;

typedef struct list {
  void *data;
  uint32_t count, capacity;
} list;

typedef struct import {
  vyre_module *module;
  const vyre_view *view;
  const vyre_allocator *allocator;
  const char *path;
  vyre_status status;
  bool has_opaque;
  bool volatile_images;
  bool has_nonuniform;
  bool shares_memory; /* some member or variable is coherent or volatile */
  bool uncovered;     /* `status` is about a valid module that vyre does not support */

  uint32_t *words; /* words of the module in the host's byte order */
  uint32_t word_count, bound, version;
  bool words_owned;
  uint32_t at; /* word of the current instruction */
  id_info *ids;
  id_notes *notes; /* by id; in the allocation of `ids` */
  size_t ids_size;
  bool ids_reserved;
  struct chunk *chunks;
  char *chunk_at;
  size_t chunk_left, chunk_bytes;
  void *borrowed; /* memory borrowed from the module as the first chunk, or NULL */

  list decorations, members, globals, roots, entries, functions, blocks, successors, writes, params, phis, privates, calls,
      root_copies;
  list constants;                  /* ids of specialization constants */
  list modes;                      /* words of OpExecutionMode */
  list stages;                     /* words of OpEntryPoint, for other stages than compute */
  uint32_t *last_words;            /* by id: the last word of its function that uses it (memory.c); NULL until the first query */
  uint8_t *marks;                  /* by id, if there are entry points of other stages (stages.c) */
  list variables;                  /* ids of module-scope variables */
  list reflected, reflected_words; /* words of instructions that reflection.c keeps; buffer for one instruction */
  list pointers, steps, leaves, constant_leaves, members_made;
  list debug_variables, debug_values;
  list debug_sets;   /* set_rows whose `leaf` is an index in `debug_variables` */
  list debug_order;  /* at the end, by row: its position in program order */
  list debug_places; /* by scope: a possible index in `debug_variables`, which must be verified */
  list got;          /* set_rows of `get` rows */
  list wanted;       /* leaves that have a var, in order of their first use */
  list locals, log, constructs, open, joins, sets, loop_writes, cases, case_labels, stack;
  struct escape *escapes;  /* hash table of locals.c, for the current program */
  uint32_t workgroup_size; /* id of the constant with BuiltIn WorkgroupSize, or 0 */
  uint32_t first_function; /* word of the first OpFunction, or 0 before it is read */
  uint32_t nests;          /* number of merge instructions and calls, which bounds the nesting depth */
  uint32_t function;       /* word of the OpFunction being read, or 0 */

  /* The program that is being imported. */
  vyre_builder b;
  uint32_t input;
  uint32_t program, program_epoch;
  uint32_t epochs[ID_KINDS];       /* current epoch of each kind: constants have the program's, locals the instance's */
  uint32_t first_decl, first_body; /* rows before which declarations and the body's first rows are inserted */
  uint32_t builtins[VYRE_OP_subgroup_lt_mask - VYRE_OP_gid + 1];
  uint32_t unset[VYRE_KIND__COUNT]; /* rows of an unset value, or 0 */
  uint64_t inlined;                 /* words of all programs so far, after inlining */
  uint64_t most_words;              /* limit of `inlined` (growth.c) */
  uint32_t most_rows, most_leaves;  /* limits of the module's rows, and of leaves in a program */
  uint32_t copied;                  /* word of an OpStore that copies the pointee of `copied_from`, or 0 */
  uint32_t copied_from, copied_operands;
  uint32_t copied_value; /* the loaded value, or an OpCopyLogical of it */
  uint32_t rows_before;  /* first row of the current instruction */
  uint32_t stored;       /* first row that was made after the last OpStore or OpLabel */
  uint32_t labelled;     /* first row that was made after the last OpLabel */
  uint32_t epoch_last;   /* last used epoch of an instance */
  uint32_t serial;       /* serial of the region being filled */
  uint32_t serial_last;
  uint32_t loop; /* serial of the innermost loop */
  uint32_t stamp;
  uint32_t region;
  uint32_t call_depth;
  uint32_t from;    /* the block being walked */
  uint32_t decides; /* condition of the `if` whose arm begins with the current edge, or 0 */
  bool decides_true;
  instance *instance;
  uint32_t last_line;     /* word of the last OpLine outside functions, or 0 */
  char dropped[400];      /* names of dropped instructions, for a remark */
  vyre_scope_info where;  /* current scope; its line is the builder's */
  vyre_scope_info around; /* where the current body was inlined: caller, call_line and call */
} import;

#endif
