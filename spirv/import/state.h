/* What the SPIR-V importer knows: of the module that it reads, of the functions in it, and of the program that it makes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_FRONTEND_SPIRV_STATE_H
#define VYRE_FRONTEND_SPIRV_STATE_H

#include "vyre/ir.h"
#include "vyre/opaque.h"
#include "vyre/spirv.h"

#include <spirv/unified1/spirv.h>

#define IMPORT_MAX_DEPTH    1000u /* regions, calls and types in each other */
#define IMPORT_MAX_LEAVES   4096u /* of one composite value */
#define IMPORT_LOCAL_LEAVES 64u   /* a variable of more is a private buffer */
#define IMPORT_COPY_LEAVES  4u    /* what has more of them is copied by one row where that can be */
#define NONE                UINT32_MAX

/* Instructions that older headers lack (ir/opaque/newer.def). */
enum {
  IMPORT_EXT_INST_FORWARD = 4433,        /* OpExtInstWithForwardRefsKHR */
  IMPORT_CONSTANT_REPLICATE = 4461,      /* OpConstantCompositeReplicateEXT: one constituent is all of them */
  IMPORT_SPEC_CONSTANT_REPLICATE = 4462, /* OpSpecConstantCompositeReplicateEXT */
  IMPORT_CONSTRUCT_REPLICATE = 4463,     /* OpCompositeConstructReplicateEXT */
  IMPORT_ABORT = 5121,                   /* OpAbortKHR */
};
enum { IMPORT_DECORATION_STRIDE_ID = 5124, IMPORT_DECORATION_OFFSET_ID = 5125 }; /* ArrayStrideIdEXT, OffsetIdEXT */

typedef enum id_kind {
  ID_NONE,
  ID_STRING,
  ID_SET,   /* value: 1 GLSL.std.450, 2 NonSemantic or debug information, 3 NonSemantic.Shader.DebugInfo.100, 0 another */
  ID_GROUP, /* of decorations; or an instruction of a set: value is 1 + its number, where it is kept */
  ID_TYPE,
  ID_CONSTANT, /* value: its row or, of several leaves, index of `constant_leaves`; made when first used in a program */
  ID_GLOBAL,   /* a module's variable; value: index of `pointers` */
  ID_FUNCTION, /* value: index of `functions` */
  ID_LABEL,    /* value: index of `blocks` */
  ID_LOCAL,    /* a result in a function; value: row, index of `leaves`, or index of `pointers`, by its type */
  ID_KINDS
} id_kind;

/* What `value` is, if the id has one now: if `epoch` is that of its kind in `epochs`. */
typedef enum id_holds { HOLDS_LEAVES, HOLDS_ROW, HOLDS_POINTER, HOLDS_MEMORY } id_holds; /* memory: index of `globals` */

/* Flags of an id. */
enum {
  ID_EXACT = 1,
  ID_RELAXED = 2,
  ID_NONUNIFORM = 4,
  ID_BLOCK = 8,
  ID_BUFFER_BLOCK = 16,
  ID_SPEC = 32, /* a constant that specialization changes */
  ID_NAMED = 128,
  ID_LITERAL = 64,    /* a plain integer constant: `root` is import_literal's */
  ID_ACCESS = 0x3f00, /* vyre_access bits */
};

struct spv_type;

typedef struct id_info {
  struct spv_type *t; /* a type: itself; else that of `type`, NULL if it has none */
  uint32_t def;       /* first word of its instruction; 0: not defined */
  uint32_t type;      /* id of its type; 0: it has none */
  uint32_t value;     /* by kind */
  uint32_t epoch;     /* of value: the program (constants), the instance (locals) */
  uint32_t root;      /* pointers: the variable or parameter it leads to, index of `roots`; phis: first leaf, or of memory index of
                       * `globals`; or a literal */
  uint8_t kind;
  uint8_t holds; /* id_holds; a type: of its values */
  uint16_t flags;
} id_info;

/* Data of an id that is rarely used. */
typedef struct id_notes {
  uint32_t name;        /* first word of its OpName; 0: none */
  uint32_t decorations; /* first of its list; 0: none */
} id_notes;

typedef struct decoration {
  uint32_t next;
  uint32_t member; /* NONE: the id's own */
  uint32_t kind, value;
} decoration;

typedef enum type_form {
  FORM_VOID,
  FORM_VALUE, /* scalar or vector */
  FORM_MATRIX,
  FORM_ARRAY,
  FORM_RUNTIME,
  FORM_STRUCT,
  FORM_POINTER,
  FORM_FUNCTION,
} type_form;

typedef struct spv_type {
  uint8_t form;
  vyre_type value; /* value: itself; matrix: the column */
  bool sized;      /* the number of leaves is known */
  bool has_pointer, has_runtime;
  bool has_matrix; /* arrays: of matrices at last */
  uint8_t depth;
  uint32_t element;  /* id: component, column, element, pointee, returned */
  uint32_t count;    /* lanes, columns, elements (0: specialization gives it), members, parameters; pointer: storage class */
  uint32_t length;   /* array: id of the length */
  uint32_t members;  /* struct, function: first in `members` */
  uint32_t leaves;   /* NONE: too many */
  uint32_t stride;   /* arrays and pointers: ArrayStride; structs: of the first array of them that has one; 0: none */
  vyre_type_id made; /* in the program `epoch` */
  uint32_t epoch;
  bool being_made; /* an opaque type whose words are being read */
  bool forward;    /* a pointer that is named but not declared yet */
  bool is_named;   /* a struct that pointers in it mean by its name */
} spv_type;

typedef struct spv_member {
  uint32_t type;
  uint32_t leaf;   /* first, in the struct */
  uint32_t offset; /* VYRE_OFFSET_AUTO: none given */
  uint32_t matrix_stride;
  uint32_t access;
  uint32_t name;    /* first word of its OpMemberName */
  uint32_t builtin; /* NONE: none */
  bool row_major;
} spv_member;

enum { ROOT_DYNAMIC = 1, ROOT_WRITTEN = 2, ROOT_CONSTANT = 4, ROOT_PARTS = 8 }; /* indexed by values; ...; accessed in parts */

/* All of one variable is stored to another. */
typedef struct root_copy {
  uint32_t from, to;
} root_copy;

/* A variable of the function or private storage class, or a parameter that is a pointer: what all functions scanned do with it. */
typedef struct root {
  uint32_t id;
  uint32_t flags; /* ROOT_CONSTANT: all stores so far are of `constant`, whole */
  uint32_t constant;
  uint32_t global, epoch; /* the buffer that it is in the program `epoch` */
} root;

typedef struct block {
  uint32_t label;                       /* id */
  uint32_t start;                       /* first word after the label */
  uint32_t merge;                       /* first word of OpLoopMerge or OpSelectionMerge; 0: none */
  uint32_t end;                         /* first word of the terminator */
  uint32_t successors, successor_count; /* in `successors`: block indices */
  uint32_t writes, write_count;         /* in `writes`: words of the instructions that store */
  uint32_t preds;
  uint32_t phis;       /* how many, at its start */
  uint32_t visited;    /* the instance that walked it */
  uint32_t stamp;      /* of searches */
  uint32_t case_index; /* of the switch being made, where stamp says so */
  uint32_t function;
  bool is_loop;   /* merge is an OpLoopMerge */
  bool is_target; /* a merge block, a continue target or a switch's target */
} block;

typedef struct function {
  uint32_t id, start;           /* first word of OpFunction */
  uint32_t end;                 /* first word of OpFunctionEnd */
  uint32_t line;                /* the OpLine right before it; 0: none */
  uint32_t state;               /* 0 read, 1 what it calls is being reached, 2 reached */
  uint32_t params, param_count; /* in `params`: ids */
  uint32_t blocks, block_count;
  uint32_t phis, phi_count;                  /* in `phis`: ids */
  uint32_t privates, private_count;          /* in `privates`: roots of private variables that it or what it calls stores to */
  uint32_t calls, call_count;                /* in `calls`: words of its calls */
  enum { CLOSED, OPEN_AT_START, OPEN } open; /* while it is read: in a block, that has phis alone or not */
  bool leaves_early;                         /* a return that is not the end of the body */
  bool may_share;                            /* arms.c: arms of some selection may lead to one block */
  uint32_t debug_words;                      /* in it: without them it is the same */
  uint64_t inlined;                          /* its words, with those of its callees for each call (growth.c) */

  bool active;
  bool has_last_words; /* memory.c */
} function;

typedef enum pointer_base {
  BASE_NOTHING, /* an index out of bounds: reads zero */
  BASE_LEAVES,
  BASE_BUFFER,
  BASE_VALUE, /* a built-in */
} pointer_base;

#define POINTER_NONUNIFORM 0x4000u /* in `access`, beside vyre_access bits */

typedef struct pointer {
  uint8_t base;
  bool has_lane, lane_literal; /* a component of the vector there; of buffers only after a column */
  bool has_column;             /* a matrix column that a value picks: `column`, of the `columns` there; or, if these are 0, a
                                * component of an opaque value */
  bool single;                 /* it leads to a scalar or vector, whole: */
  vyre_type value;             /* of this type */
  uint16_t access;
  uint32_t type;                  /* id of what it points to */
  uint32_t first;                 /* leaf; built-in: its number; buffer: index of `globals` */
  uint32_t column, columns, lane; /* rows, or a literal lane; built-in: column is its variable's id */
  uint32_t steps, step_count;     /* buffer: in `steps` */
  uint32_t path;                  /* the row last made for it */
} pointer;

typedef struct step {
  uint32_t index; /* literal or row */
  bool literal;
} step;

/* A variable that is a buffer. */
typedef struct global {
  uint32_t id;
  uint32_t row;         /* in the program; 0: not made yet */
  uint32_t initializer; /* id of a constant, for constant buffers; 0: none */
  uint32_t members;     /* list of its at rows by member; 0: none */
  vyre_space space;
} global;

typedef struct member_made {
  uint32_t member, row, next;
} member_made;

typedef struct leaf {
  uint32_t current; /* row; 0: in the var */
  uint32_t var;     /* row; 0: none yet, or none of its own */
  uint32_t logged;  /* the region in which its change is in the log */
  uint32_t loop;    /* the innermost loop that may store to it */
  uint32_t edge;    /* mark of searches */
  uint32_t count;   /* while ways are joined: those that changed it; else 0 */
  uint32_t gets;
  uint32_t name;   /* id */
  uint32_t opaque; /* id of its type, where the module has opaque ones */
  uint32_t debug;  /* what it is in the source: 1 + the index of a debug_variable; 0: nothing */
  vyre_type type;
  bool dirty;   /* the var does not hold current */
  bool wanted;  /* it is set or read as a var */
  bool carried; /* lanes.c: its lanes have a var each */
} leaf;

/* A variable of the source, or a part of one, in an instance of its function. */
typedef struct debug_variable {
  vyre_scope scope, place; /* itself; where it is declared */
  uint32_t line;           /* there */
  pointer_base base;       /* leaf, buffer, or nothing: values alone */
  uint32_t at;             /* index of it */
  uint32_t writes;         /* values that it was given */
  uint32_t after;          /* the rows that there were at the last of them */
  uint32_t last;           /* index of it in `debug_values` */
  uint32_t rows, sets;     /* at the end: those that are its values, and the sets among them */
  bool lost;               /* one of its values cannot be told */
} debug_variable;

typedef struct debug_value {
  uint32_t variable, row, before; /* `before`: index of the variable's last one; NONE */
  uint32_t after;                 /* the rows that there were */
  enum {
    DEBUG_OWN,   /* the row was made for it: since the last store, in the region at hand */
    DEBUG_FIRST, /* it is older, but nothing was told before, and nothing comes around again */
    DEBUG_UNSET, /* it is older, or a literal: to be told by a `set` */
    DEBUG_SET,   /* it has such a `set`, with nothing between */
  } kind;
  bool in_loop;
  bool with_row; /* where the row is run it is given, too, or the variable is not in scope: no loop comes between */
} debug_value;

typedef struct change {
  uint32_t leaf, current, logged;
  bool dirty, store;
} change;

typedef enum construct_kind { CONSTRUCT_IF, CONSTRUCT_SWITCH, CONSTRUCT_LOOP, CONSTRUCT_BLOCK } construct_kind;
typedef enum loop_phase { PHASE_BODY, PHASE_INLINE, PHASE_CONTINUING } loop_phase;

typedef struct construct {
  uint8_t kind, phase;
  bool continued;       /* loop: something goes to its continuing region */
  uint32_t merge, next; /* blocks; next: the continue target; switch: the case being walked */
  uint32_t header;
  uint32_t row, block_row;    /* block_row: made around it when it must be left from inside; 0: none */
  uint32_t region;            /* running off the end of this one goes to merge (if, switch, function) or next (loop) */
  uint32_t depth;             /* of `open` where its regions begin */
  uint32_t mark;              /* of the log, at its start */
  uint32_t leaf_limit;        /* leaves from this index on are younger than it */
  uint32_t edges;             /* to its end; loop: breaks */
  uint32_t leaves;            /* block, switch: jumps that leave it */
  uint32_t joined;            /* list of leaves changed on some edge */
  uint32_t cases, case_count; /* switch: in `cases` */
  uint32_t fell, fell_leaves; /* switch: the case that the last one falls into, or NONE; the leaves changed on that way */
  uint32_t case_block;        /* switch: the block in the case being walked that is left to fall into the next one; 0: none */
} construct;

typedef struct joined {
  uint32_t leaf, next;
} joined;

typedef struct switch_case {
  uint32_t block;
  uint32_t labels, label_count; /* list of label_nodes */
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
  uint32_t local_ids; /* word of LocalSizeId's first operand; 0: none */
} entry;

typedef struct instance {
  uint32_t function;
  uint32_t epoch;
  uint32_t constructs;           /* where its own begin */
  uint32_t result, result_count; /* leaves of the result, if it leaves early; NONE: it has none */
  uint32_t returned;             /* otherwise the index of its rows in `leaves`, or NONE; both index `globals` if it is in memory */
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
  bool has_opaque;      /* some type is opaque */
  bool volatile_images; /* some variable is volatile */
  bool has_nonuniform;  /* some id is decorated so */
  bool shares_memory;   /* some member or variable is coherent or volatile */
  bool uncovered;       /* status is of a module that is right, but not covered */

  uint32_t *words; /* native order */
  uint32_t word_count, bound, version;
  bool words_owned;
  uint32_t at; /* the instruction being read */
  id_info *ids;
  id_notes *notes; /* by id, after `ids` */
  size_t ids_size;
  bool ids_reserved;
  struct chunk *chunks;
  char *chunk_at;
  size_t chunk_left, chunk_bytes;
  void *borrowed; /* of the module; NULL: nothing */

  list decorations, members, globals, roots, entries, functions, blocks, successors, writes, params, phis, privates, calls,
      root_copies;
  list constants;                  /* ids of specialization constants */
  list modes;                      /* words of OpExecutionMode */
  list stages;                     /* words of OpEntryPoint, of other stages than compute */
  uint32_t *last_words;            /* by id: the last word of its function that names it (memory.c); NULL until the first query */
  uint8_t *marks;                  /* by id, if there are entry points of other stages: stages.c */
  list variables;                  /* ids of the module's variables */
  list reflected, reflected_words; /* words of what reflection.c keeps; those of one instruction */
  list pointers, steps, leaves, constant_leaves, members_made;
  list debug_variables, debug_values;
  list debug_sets;   /* set_rows, of variables */
  list debug_order;  /* at the end, by row: where it is in its program */
  list debug_places; /* by scope: where in `debug_variables` it was last put; it is there only if that says so */
  list got;          /* set_rows of the gets */
  list wanted;       /* leaves that have a var, as they came */
  list locals, log, constructs, open, joins, sets, loop_writes, cases, case_labels, stack;
  struct escape *escapes;  /* of the program being made: a hash table of locals.c */
  uint32_t workgroup_size; /* id of the constant with BuiltIn WorkgroupSize; 0: none */
  uint32_t first_function; /* word; 0: none yet */
  uint32_t nests;          /* merge instructions and calls: bounds the depth of nested code */
  uint32_t function;       /* the first word of the one being read; 0: none */

  /* the program being made */
  vyre_builder b;
  uint32_t input;
  uint32_t program, program_epoch;
  uint32_t epochs[ID_KINDS];       /* of values that hold now: constants' is the program, locals' the instance */
  uint32_t first_decl, first_body; /* marks: rows go before them */
  uint32_t builtins[VYRE_OP_subgroup_lt_mask - VYRE_OP_gid + 1];
  uint64_t inlined;                /* words of all programs so far, after inlining */
  uint64_t most_words;             /* growth.c: of them */
  uint32_t most_rows, most_leaves; /* of the table, and of values in a program */
  uint32_t copied;                 /* word of an OpStore that copies what pointer copied_from leads to; 0: none */
  uint32_t copied_from, copied_operands;
  uint32_t rows_before; /* rows from here on are the current instruction's */
  uint32_t stored;      /* rows from here on were made after the last OpStore or OpLabel */
  uint32_t labelled;    /* the same, after the last OpLabel */
  uint32_t epoch_last;  /* instances */
  uint32_t serial;      /* the region being filled */
  uint32_t serial_last;
  uint32_t loop; /* serial of the innermost loop */
  uint32_t stamp;
  uint32_t region;
  uint32_t call_depth;
  uint32_t from;    /* the block being walked */
  uint32_t decides; /* the condition of the `if` whose arm begins with the edge at hand; 0: none */
  bool decides_true;
  instance *instance;
  uint32_t last_line;     /* word of the last OpLine before the functions or between them; 0: none */
  char dropped[400];      /* what is left out, for a remark */
  vyre_scope_info where;  /* the scope of what follows; its line is the builder's */
  vyre_scope_info around; /* where the body being walked was inlined: caller, call_line and call */
} import;

#endif
