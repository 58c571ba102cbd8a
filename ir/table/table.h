/* The module's internals, for the files of ir/ that build, edit and seal it. All other code uses the view.
 *
 * Memory of a module: one reservation holds the columns. Each column is a stretch of it, committed from its start as the table
 * grows. The reservation has room for many times the module's rows (room.c), not for max_rows.
 *
 *     | op ... | imm ... | imm_hi ... | a ... | ... | last ... | name ... | line ... | file ... | extra ... | loop ... | ...
 *       44 bytes a row, always                                  16 bytes a row, each stretch only once    analyses: 4 bytes a row
 *                                                               one of its cells is set                   each, once it was made
 *
 * Stretch k starts k cache lines into its first page, so that the cells of one row fall into different cache sets. Side columns and
 * analysis columns are zero after the last row, so making a row does not write them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_TABLE_H
#define VYRE_IR_TABLE_H

#include "analysis/versions.h"
#include "vyre/ir.h"

#if defined(__x86_64__) || defined(__i386__)
#define TABLE_PAGE 4096u
#else
#define TABLE_PAGE 65536u /* the greatest page size in use */
#endif
#define TABLE_MAX_ROWS (1u << 28)

/* Room: columns cannot move inside a pass. So a pass may make sixteen rows for each existing one, and at least a million. That is
 * 92 bytes of address space for each row, at least 97 MB for a module. If sealing finds less than fourfold room, it makes more. */
#define TABLE_ROOM_LEAST (1u << 20)
#define TABLE_ROOM_TIMES 16u
#define TABLE_ROOM_LOW   4u

/* The view's columns, the side columns, and the columns of analyses. */
typedef enum table_column {
  COLUMN_OP,
  COLUMN_IMM,
  COLUMN_IMM_HI,
  COLUMN_A,
  COLUMN_B,
  COLUMN_C,
  COLUMN_PARENT,
  COLUMN_PREV,
  COLUMN_NEXT,
  COLUMN_FIRST,
  COLUMN_LAST,
  COLUMN_SIDE,               /* the first side column */
  COLUMN_NAME = COLUMN_SIDE, /* a string */
  COLUMN_LINE,               /* a source line, or 0 */
  COLUMN_PLACE,              /* vyre_scope << 10 | column, at most 1023 */
  COLUMN_EXTRA,              /* an index into `extras` */
  COLUMN_ANALYSIS,           /* the first column of an analysis */
  COLUMN_VERSION = COLUMN_ANALYSIS,
  COLUMN_LOOP,
  COLUMN_LOOP_NEXT,
  COLUMN_LOOP_EXIT,
  COLUMN_END,
  COLUMN_LEVEL,
  COLUMN_DEPTH,
  COLUMN_HASH,
  COLUMN_CANONICAL,
  COLUMN__COUNT
} table_column;

/* Masks of columns: those of op words, payloads and operands, and all columns of the view's table. */
#define TABLE_WROTE_CONTENTS ((1u << COLUMN_PARENT) - 1)
#define TABLE_WROTE_TABLE    ((1u << COLUMN_SIDE) - 1)
_Static_assert(COLUMN__COUNT <= 32, "vyre_module.written has a bit for each column");

#define TABLE_PLACE_BITS 10u /* bits of the column in COLUMN_PLACE */
#define TABLE_LINE_BYTES 64u
#define TABLE_STAGGER    (COLUMN__COUNT * TABLE_LINE_BYTES)

/* Data that few rows have. */
typedef struct table_extra {
  uint32_t spec_id;                       /* UINT32_MAX if the row has none */
  uint32_t decorations, decoration_count; /* range of `decoration_words` */
  uint32_t info;                          /* index into `programs` or `buffers`, by the row's op, or UINT32_MAX */
} table_extra;

typedef struct table_program {
  vyre_program_info info;
  uint32_t tops;       /* vyre_module.tops when the fields up to own_one were valid */
  uint32_t last_const; /* new const and spec rows follow this row, or come first if it is 0 */
  uint32_t last_decl;  /* new var and buffer rows follow this row, or last_const if it is 0 */
  uint32_t workgroup;  /* the workgroup row, or 0 */
  uint32_t own_one;    /* the const row that vyre_build_program made, while nothing else uses it */
  vyre_string given;   /* in a batch: its original name */
} table_program;

typedef struct table_type {
  vyre_type_info info; /* without `members` */
  uint32_t members;    /* index of the first one in `members` */
  uint32_t length_row; /* the last pure row from which a length in the type is computed, or 0 */
  uint32_t extent;     /* vyre_type_extent */
} table_type;

typedef struct table_scope {
  vyre_scope_info info;
  uint32_t depth; /* nesting depth of the scopes that it names */
} table_scope;

typedef struct table_initializer {
  uint32_t offset, count;
} table_initializer;

/* A hash set with linear probing. 0 is an empty slot, and the key of an entry is found through its index. It is not uthash because
 * indices are dense numbers into arrays that move. With a uthash entry for each string, parsing a text of names takes 30 % longer
 * (bench-ir, "parse (names)"), and each constant that is built is a lookup. */
typedef struct table_set {
  uint32_t *slots;
  uint32_t capacity; /* a power of two, or 0 */
  uint32_t count;
} table_set;

struct vyre_module {
  vyre_view view; /* first, because a view is cast to its module */
  uint32_t *column[COLUMN__COUNT];
  uint32_t capacity;            /* rows that fit into the committed part of every view column */
  uint32_t side[COLUMN__COUNT]; /* side column or analysis: one more than the last row that may be nonzero */
  uint32_t made;                /* analyses whose columns are computed; sealing clears bits, other changes do not */
  size_t committed[COLUMN__COUNT];
  size_t accessible[COLUMN__COUNT]; /* bytes of each stretch that need no commit: at least `committed`, more in a reused space */
  uint32_t written;                 /* mask of columns that were written since their generations were set; all if not sealed */
  uint64_t generation[COLUMN__COUNT];
  uint32_t kept_analyses; /* analyses that describe the table unless it was written since; generation.c */
  vyre_state_graph graph; /* of versions; its column is COLUMN_VERSION */
  uint32_t max_rows;
  uint32_t room; /* rows that fit into the reserved part of every column */
  bool building; /* not sealed since it was empty or reserved: columns may move, as no pass holds their addresses */
  uint32_t growth;
  bool keeps_vectors;
  bool failed;
  bool rows_failed; /* failed at max_rows, or at `room` while columns may not move */
  char fault[200];  /* the message of an invalid edit, or "" */
  bool sealed;
  bool only_lost;                 /* since the last seal rows were only removed: ids are in program order */
  uint32_t sealed_rows;           /* the number of rows after the last seal, or 0 */
  uint32_t moved_from, moved_to;  /* the rows that edits since the last seal moved or removed, apart from new rows */
  bool lost_versions;             /* the last seal dropped a row that a version refers to */
  bool names_dirty;               /* a name was set or moved since names were made unique */
  uint32_t tops;                  /* increases when the tops of programs may have changed without an update of their data */
  uint32_t consts_tops;           /* `tops` of `consts` */
  void (*on_release)(void *user); /* called once before `space` is released; NULL if there is none */
  void *on_release_user;
  char *space;
  size_t stretch; /* bytes from one column to the next */
  vyre_allocator allocator;
  size_t heap_bytes; /* bytes of side tables */
  void *kept;        /* scratch memory that vyre_module_borrow lends to one user at a time */
  size_t kept_bytes;
  bool lent;

  char *texts; /* interned texts with their zero bytes; a string is an offset */
  uint32_t texts_size, texts_capacity;
  table_set strings;

  table_set consts; /* rows that vyre_build_const and vyre_build_invocation may return again */

  table_type *types; /* from id 256 on */
  uint32_t type_count, type_capacity;
  vyre_member *members;
  uint32_t member_count, member_capacity;
  table_set type_set; /* type ids */

  table_scope *scopes; /* scopes of lines; 0 is unused */
  uint32_t scope_count, scope_capacity, last_scope;
  table_set scope_set;
  vyre_input *inputs;
  uint32_t input_count, input_capacity;
  table_program *programs;
  uint32_t program_count, program_capacity;
  vyre_buffer_info *buffers;
  uint32_t buffer_count, buffer_capacity;
  table_extra *extras; /* 0 is unused */
  uint32_t extra_count, extra_capacity;
  uint32_t *decoration_words;
  uint32_t decoration_count, decoration_capacity;
  uint32_t *initializer_words;
  uint32_t initializer_word_count, initializer_word_capacity;
  table_initializer *initializers;
  uint32_t initializer_count, initializer_capacity;

  /* returned if memory runs out, so that callers need no check */
  vyre_input no_input;
  table_program no_program;
  vyre_buffer_info no_buffer;
};

/* ---- room.c: address space ---- */

/* Makes room for `need` rows, or for up to `wish` rows. `need` exceeds the present room. Returns false if memory runs out; then
 * nothing is changed. */
bool table_need_room(vyre_module *module, uint32_t need, uint32_t wish);
/* Makes room for `wish` rows, or for as many as possible. */
void table_wish_room(vyre_module *module, uint32_t wish);
/* Makes more room if little is left. */
void table_seal_room(vyre_module *module);
size_t table_room_bytes(const vyre_module *module);
/* Releases the module's space, or keeps it for another module. */
void table_release_room(vyre_module *module);
/* Makes the bytes from `old_bytes` to `bytes` of a stretch accessible and zero. Returns false if memory runs out. */
bool table_commit(const vyre_allocator *a, char *stretch, size_t *accessible, size_t old_bytes, size_t bytes);

/* Returns the room for a module with `rows` rows. */
static inline uint32_t
table_room_for(uint32_t rows)
{
  if (rows >= TABLE_MAX_ROWS / TABLE_ROOM_TIMES)
    return TABLE_MAX_ROWS;
  return rows * TABLE_ROOM_TIMES > TABLE_ROOM_LEAST ? rows * TABLE_ROOM_TIMES : TABLE_ROOM_LEAST;
}

/* ---- table.c: memory ---- */

/* Marks the module as failed. All builder calls do nothing from now on. */
void table_fail(vyre_module *module);
/* Makes room for one more row. */
bool table_grow(vyre_module *module);
/* Makes room for `rows` rows in a module without rows. */
bool table_grow_to(vyre_module *module, uint32_t rows);
/* Grows a side column to include `row`. */
bool table_grow_side(vyre_module *module, table_column column, uint32_t row);
/* Grows an analysis column to the size of the table. */
bool table_grow_analysis(vyre_module *module, table_column column);
/* Makes room for `count` elements of `size` bytes in *array, and updates *array and *capacity. Returns false if the module
 * failed. */
bool table_array_grow(vyre_module *module, void *array, uint32_t *capacity, uint64_t count, size_t size);
void table_array_free(vyre_module *module, void *array, uint32_t *capacity, size_t size);
void *table_resize(vyre_module *module, void *memory, size_t old_size, size_t new_size);

/* Enlarges the set. `hash` computes the hash of an entry. Returns false if memory runs out. */
bool table_set_enlarge(vyre_module *module, table_set *set, uint64_t (*hash)(const vyre_module *module, uint32_t entry));
/* Makes room for one more entry. */
static inline bool
table_set_grow(vyre_module *module, table_set *set, uint64_t (*hash)(const vyre_module *module, uint32_t entry))
{
  return (set->count < set->capacity / 4 * 3 && !module->failed) || table_set_enlarge(module, set, hash);
}
/* Adds an entry. The set has room for it. */
static inline void
table_set_add(table_set *set, uint64_t hash, uint32_t entry)
{
  const uint32_t mask = set->capacity - 1;
  uint32_t slot = (uint32_t)hash & mask;
  while (set->slots[slot])
    slot = (slot + 1) & mask;
  set->slots[slot] = entry;
  set->count++;
}
void table_set_free(vyre_module *module, table_set *set);
void table_set_clear(table_set *set);

/* ---- side.c ---- */
/* Returns the row's extra data, which it makes if there is none, or NULL if memory runs out. */
table_extra *table_extra_of(vyre_module *module, uint32_t row);
/* Returns cleared data for a row that is not a program. */
table_program *table_no_program(vyre_module *module);
bool table_add_program_info(vyre_module *module, uint32_t row, uint32_t input);
bool table_add_buffer_info(vyre_module *module, uint32_t row, uint32_t set, uint32_t binding);
void table_clear_side(vyre_module *module);
bool table_clone_side(const vyre_module *from, vyre_module *to);

/* Makes each input's list of programs. O(programs). */
void table_link_inputs(vyre_module *module);

/* ---- types.c ---- */
/* Returns the id of a type, equal to an existing one unless `apart` is set, or 0 if memory runs out. `members` must not point into
 * the module. */
vyre_type_id table_add_type(vyre_module *module, const vyre_type_info *info, const vyre_member *members, bool apart);
/* Renumbers the rows of array lengths. Types that become equal remain distinct. */
void table_remap_types(vyre_module *module, const uint32_t *map);
/* Recomputes table_length_row of each type, after rows of array lengths were replaced. */
void table_find_lengths(vyre_module *module);
/* Returns the last row from which a length in the type is computed, unless it is a spec row, or 0. */
uint32_t table_length_row(const vyre_module *module, vyre_type_id type);

/* Computes align and size from the other fields. */
void table_size_type(const vyre_module *module, vyre_type_info *info, const vyre_member *members);

/* Build the sets over arrays that were filled from outside. They return false if an entry is duplicated (or an empty string), or if
 * memory runs out; then the module failed. Types need the rows. */
bool table_index_strings(vyre_module *module);
/* Also computes the depth of each scope. A scope must follow the scopes that it names. */
bool table_index_scopes(vyre_module *module);
bool table_index_types(vyre_module *module);

/* ---- seal.c ---- */
/* Returns whether every row already has its dense id. The module may have invalid links. */
bool table_is_dense(const vyre_module *module);

/* ---- tops.c: the top of programs ---- */
/* Marks the program's top as known. Removes the const rows of tops that are no longer known. */
void table_start_top(vyre_module *module, table_program *info);
/* Returns the data of the builder's program, whose top is known, or NULL if memory runs out or the builder is in no program. */
table_program *table_top_of(vyre_builder *builder);
/* Removes a const row from the set, before it changes or moves. */
void table_forget_const(vyre_module *module, uint32_t row);
/* Updates the data about a program's top before a row is unlinked. */
void table_leave_top(vyre_module *module, uint32_t row);

/* ---- names.c ---- */
/* Makes names unique. The module is in program order. */
bool table_unique_names(vyre_module *module);

/* ---- inline: links and rows ---- */

static inline bool
table_op_is(const vyre_module *module, uint32_t row, vyre_opcode op)
{
  return VYRE_ROW_OP(module->column[COLUMN_OP][row]) == (uint32_t)op;
}

/* Returns whether rows of the op are shared by all their users at a program's top: const rows and built-ins. */
static inline bool
table_is_shared(uint32_t word)
{
  const uint32_t op = VYRE_ROW_OP(word);
  return op == VYRE_OP_const || vyre_op_is_invocation(op);
}

/* Returns the flags of the op of an op word. */
static inline uint32_t
table_word_flags(uint32_t word)
{
  return VYRE_ROW_OP(word) < VYRE_OP__COUNT ? vyre_op_infos[VYRE_ROW_OP(word)].flags : 0;
}

static inline uint32_t
table_flags(const vyre_module *module, uint32_t row)
{
  return table_word_flags(module->column[COLUMN_OP][row]);
}

/* Returns whether the right operand of a row with the op word and a can become a literal: `operand` is a const row of the right
 * type. */
static inline bool
table_takes_imm(const vyre_module *module, uint32_t word, uint32_t a, uint32_t operand)
{
  uint32_t right = module->column[COLUMN_OP][operand];
  if (VYRE_ROW_OP(right) != VYRE_OP_const || VYRE_ROW_OP(word) >= VYRE_OP__COUNT)
    return false;
  if ((vyre_op_infos[VYRE_ROW_OP(word)].flags & VYRE_OP_TAKES_IMM) == 0)
    return false;
  vyre_type type = VYRE_ROW_TYPE(right);
  if (VYRE_ROW_OP(word) == VYRE_OP_at || VYRE_ROW_OP(word) == VYRE_OP_lane)
    return type == VYRE_TYPE(VYRE_U32, 1) || type == VYRE_TYPE(VYRE_I32, 1);
  return type == VYRE_ROW_TYPE(module->column[COLUMN_OP][a]);
}

/* Makes `row` immediate if its b is a const row of the right type. An `at` row keeps imm_hi, its type. */
static inline void
table_normalize(vyre_module *module, uint32_t row)
{
  uint32_t *const *column = module->column;
  uint32_t b = column[COLUMN_B][row];
  if (b == 0 || !table_takes_imm(module, column[COLUMN_OP][row], column[COLUMN_A][row], b))
    return;
  column[COLUMN_IMM][row] = column[COLUMN_IMM][b];
  if (VYRE_ROW_OP(column[COLUMN_OP][row]) != VYRE_OP_at)
    column[COLUMN_IMM_HI][row] = column[COLUMN_IMM_HI][b];
  column[COLUMN_B][row] = 0;
  column[COLUMN_OP][row] |= (uint32_t)VYRE_ROW_IMM << 24;
}

/* Links an unlinked row into `region`, before `before`, or at the end if that is 0. */
static inline void
table_link(vyre_module *module, uint32_t row, uint32_t region, uint32_t before)
{
  uint32_t *const *column = module->column;
  uint32_t prev = before ? column[COLUMN_PREV][before] : column[COLUMN_LAST][region];
  column[COLUMN_PARENT][row] = region;
  column[COLUMN_PREV][row] = prev;
  column[COLUMN_NEXT][row] = before;
  if (prev)
    column[COLUMN_NEXT][prev] = row;
  else
    column[COLUMN_FIRST][region] = row;
  if (before)
    column[COLUMN_PREV][before] = row;
  else
    column[COLUMN_LAST][region] = row;
  module->sealed = module->only_lost = false;
}

/* Makes a row in `region`, before `before`, or at the end if that is 0. The table has room for it. */
static inline uint32_t
table_put_row(vyre_module *module, uint32_t region, uint32_t before, uint32_t word, uint32_t imm, uint32_t imm_hi, uint32_t a,
              uint32_t b, uint32_t c)
{
  uint32_t row = module->view.rows++;
  uint32_t *const *column = module->column;
  column[COLUMN_OP][row] = word;
  column[COLUMN_IMM][row] = imm;
  column[COLUMN_IMM_HI][row] = imm_hi;
  column[COLUMN_A][row] = a;
  column[COLUMN_B][row] = b;
  column[COLUMN_C][row] = c;
  column[COLUMN_FIRST][row] = 0;
  column[COLUMN_LAST][row] = 0;
  table_link(module, row, region, before);
  return row;
}

/* Makes a row like table_put_row, but makes room for it first. Returns 0 if memory runs out. */
static inline uint32_t
table_new_row(vyre_module *module, uint32_t region, uint32_t before, uint32_t word, uint32_t imm, uint32_t imm_hi, uint32_t a,
              uint32_t b, uint32_t c)
{
  if (module->view.rows >= module->capacity && !table_grow(module))
    return 0;
  return table_put_row(module, region, before, word, imm, imm_hi, a, b, c);
}

/* Returns the cell of a side column, or 0 if it was never written. */
static inline uint32_t
table_side(const vyre_module *module, table_column column, uint32_t row)
{
  return row < module->side[column] ? module->column[column][row] : 0;
}

/* Returns the data of the program, or stand-in data if the row is not a program. */
static inline table_program *
table_program_of(vyre_module *module, uint32_t program)
{
  const uint32_t extra = table_side(module, COLUMN_EXTRA, program);
  const uint32_t info = extra ? module->extras[extra].info : UINT32_MAX;
  return info < module->program_count && table_op_is(module, program, VYRE_OP_program) ? &module->programs[info]
                                                                                       : table_no_program(module);
}

/* Returns the first row from `row` on whose cell in a side column is not 0, or `rows` if there is none. */
static inline uint32_t
table_next_cell(const uint32_t *cells, uint32_t row, uint32_t rows)
{
  while (rows - row >= 4 && (cells[row] | cells[row + 1] | cells[row + 2] | cells[row + 3]) == 0)
    row += 4;
  while (row < rows && cells[row] == 0)
    row++;
  return row;
}

static inline void
table_set_side(vyre_module *module, table_column column, uint32_t row, uint32_t value)
{
  if (row >= module->side[column]) {
    const size_t bytes = TABLE_STAGGER + ((size_t)row + 1) * sizeof(uint32_t);
    if (!value || (module->committed[column] < bytes && !table_grow_side(module, column, row)))
      return;
    module->side[column] = row + 1;
  }
  module->column[column][row] = value;
}

#endif
