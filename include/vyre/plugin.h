/* The pass plugin ABI.  This header alone is enough to write a plugin: it imports nothing, and calls back through the host table.
 *
 * A plugin is a shared object with one exported function, vyre_plugin_query_v1, that returns a static const descriptor.
 *
 *   static vyre_status run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out) { ... }
 *   static const vyre_pass unroll = {.struct_size = sizeof(vyre_pass), .name = "acme.unroll", .summary = "...", .run = run};
 *   VYRE_PLUGIN("acme", "1.0", &unroll)
 *
 * Threads: query is called once, by one thread.  run may be called by several threads at once, each with its own context and
 * module.
 *
 * Versions.  The version of this interface is VYRE_PLUGIN_ABI, not the product's.  1.0 is frozen; in all of 1.x:
 *  - What there is stays as it is: no field, function, constant or meaning is changed or taken away.  Whatever is added (a field, a
 *    host function, a flag, an analysis, an op set) raises the minor number.
 *  - A host loads plugins of its own major number that need no newer minor one: `abi` of the descriptor is the least version that
 *    the plugin needs.  VYRE_PLUGIN says that of this header; a plugin that asks VYRE_HAS before it uses what is newer says less.
 *  - Structs that cross the border start with struct_size, the size that their writer knew, or their array has a stride.
 *  - Fields are appended, after the end of the struct with its padding.  Neither side reads a field past struct_size: what an
 *    older plugin lacks is zero, and what a newer one has beyond the host's struct must be zero, or it is refused by name.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PLUGIN_H
#define VYRE_PLUGIN_H

#include "vyre/phases.h"
#include "vyre/status.h"
#include "vyre/types.h"
#include "vyre/view.h" /* helpers: inline, so that a plugin imports nothing */

#ifdef __cplusplus
extern "C" {
#endif

#define VYRE_ABI(major, minor) ((major)*65536u + (minor))
#define VYRE_PLUGIN_ABI        VYRE_ABI(1, 2)

typedef struct vyre_module vyre_module;
typedef struct vyre_pass_ctx vyre_pass_ctx;

typedef uint32_t vyre_result;
#define VYRE_UNCHANGED 0u
#define VYRE_CHANGED   1u

/* Analyses (types.h: VYRE_VERSIONS, VYRE_LOOPS, VYRE_DOMINANCE, VYRE_LEVELS; a pass asks them through view.h) are made fresh by
 * the manager before a pass that requires them, and dropped after a pass that changed without preserving them.  So are columns
 * (VYRE_HASHES, VYRE_CLASSES): those by running the pass that provides them. */

/* Parameters: `name<factor=4;quiet>`.  The manager checks text against this table before any input is read. */
typedef enum vyre_param_type {
  VYRE_PARAM_FLAG = 1,
  VYRE_PARAM_UINT = 2,
  VYRE_PARAM_WORD = 3,
  VYRE_PARAM_TEXT = 4, /* host->param_text; a file's path: host->param_file */
} vyre_param_type;

typedef struct vyre_param {
  uint32_t struct_size;
  uint32_t type; /* vyre_param_type */
  const char *name;
  const char *summary;
  uint64_t minimum, maximum, fallback; /* UINT: range and default; FLAG: default 0 or 1 */
  const char *words; /* WORD: what is allowed, "fast|small"; the first is the default.  TEXT: what help calls it, "FILE" */
} vyre_param;

/* What a GPU pass promises, so that it may stand in a sequence on a device with what is before and after it. */
typedef enum vyre_pass_flag {
  /* `prepare` reads what no pass by phases changes: parameters, how many rows there are, programs, pinned rows. */
  VYRE_PASS_PREPARES_EARLY = 1,
  /* Each operand that it gives a row has a lower level than the row: it was reached over the row's operands, or there is none. */
  VYRE_PASS_KEEPS_ORDER = 2,
  /* Outside of `levels by` its phases leave the same table whatever the order of rows is: directions save time, or satisfy the
   * kernel compiler. */
  VYRE_PASS_ANY_ORDER = 4,
} vyre_pass_flag;

typedef struct vyre_pass {
  uint32_t struct_size;
  uint32_t flags;        /* vyre_pass_flag */
  const char *name;      /* core: "dce"; others: "plugin.pass" */
  const char *long_name; /* an alias, NULL: none */
  const char *summary;   /* one line */
  const char *help;      /* more, for -help-pass; NULL: none */
  const vyre_param *params;
  uint32_t param_count;
  uint32_t requires_; /* analyses */
  uint32_t preserves; /* analyses still right after a change */
  uint32_t provides;  /* of VYRE_COLUMNS: it fills them, changes nothing, and has no parameters */
  vyre_status (*run)(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out); /* NULL: its phases are all of it */
  /* A GPU pass: what vyre-kernelc made of its kernel file.  If its phases write columns of the table, it changed the module if one
   * of its labelled counters is not zero.  Where there is a `run` as well, that is its form for a CPU, and does the same to every
   * bit. */
  const vyre_phases *phases;
  /* Before the first phase: gives tables and side columns their contents (host->memory).  NULL: there is nothing to give. */
  vyre_status (*prepare)(vyre_pass_ctx *ctx, const vyre_module *module);
  /* After the last one, before rows that died are removed: turns a verdict into an error (host->memory, host->error).  NULL: none.
   */
  vyre_status (*finish)(vyre_pass_ctx *ctx, const vyre_module *module);
} vyre_pass;

typedef struct vyre_plugin {
  uint32_t struct_size;
  uint32_t abi; /* the least version that it needs */
  const char *name;
  const char *version;
  /* The op sets that it can do with: it is refused by a host of an older one than opset_min, and its passes do not run on a module
   * with a row newer than opset_max (the run fails).  VYRE_OPSET_ANY: it takes rows that it does not know by their ops' flags. */
  uint32_t opset_min, opset_max;
  const vyre_pass *const *passes;
  uint32_t pass_count;
} vyre_plugin;

/* A type of memory: of a buffer, or of a part of one.  A type's number below 256 is a scalar or vector, the vyre_type itself; other
 * numbers are the module's own, and mean nothing after the run.  The asker fills in struct_size; the host fills the rest, as far
 * as the asker knows the struct. */
typedef struct vyre_memory_type {
  uint32_t struct_size;
  uint32_t form;      /* vyre_type_form; WORDS: an image and the like, of which only the size is told */
  uint32_t flags;     /* vyre_type_flag */
  uint32_t element;   /* the type of an array's elements, of a matrix's columns; of a value itself */
  uint32_t count;     /* an array's length (0: a row gives it, or the buffer's size), a matrix's columns, a struct's members */
  uint32_t count_row; /* of an array: the row that gives its length; 0: none */
  uint32_t stride;    /* bytes from one element, or column (row if row major), to the next */
  uint32_t size;      /* bytes; what a row or the buffer's size decides counts 0 */
  const char *name;   /* of a struct, else ""; until a name is set or a row is cloned */
} vyre_memory_type;

typedef struct vyre_memory_member {
  uint32_t struct_size;
  uint32_t type;
  uint32_t offset;  /* bytes */
  uint32_t access;  /* vyre_access bits */
  const char *name; /* "": none; until a name is set or a row is cloned */
} vyre_memory_member;

/* What the host offers.  A module handed to run is sealed: id order is program order.  A pass that makes, moves or removes rows
 * leaves sealing to the manager. */
typedef struct vyre_host {
  uint32_t struct_size;
  uint32_t abi;
  const vyre_view *(*view)(const vyre_module *module); /* columns do not move while the pass runs; rows grows */

  /* errors and messages */
  vyre_status (*error)(vyre_pass_ctx *ctx, uint32_t row, const char *message); /* copies; row 0: at no row */
  void (*remark)(vyre_pass_ctx *ctx, uint32_t row, const char *message);
  void (*count)(vyre_pass_ctx *ctx, const char *name, uint64_t amount); /* a statistic; the name is static */

  /* scratch memory for this run, zeroed; freed by the manager.  NULL: out of memory (return host->error or out_of_memory) */
  void *(*alloc)(vyre_pass_ctx *ctx, size_t bytes);
  vyre_status (*out_of_memory)(vyre_pass_ctx *ctx);

  /* parameters, by the pass's table; flags are 0 or 1, words the index among `words` */
  uint64_t (*param)(vyre_pass_ctx *ctx, const char *name);

  /* Rows, ops, parameters and addresses that a call names are checked: if one does not exist, nothing is done and the run fails. */

  /* edits, each O(1) but where said; row 0 back: out of memory, which the manager reports after the run */
  uint32_t (*insert_row)(vyre_module *module, uint32_t before, uint32_t op, uint32_t imm, uint32_t imm_hi, uint32_t a, uint32_t b,
                         uint32_t c);
  uint32_t (*constant)(vyre_module *module, uint32_t near_row, vyre_type type,
                       uint64_t bits); /* of near_row's program, at its top; bits beyond the type's are left out */
  void (*rewrite)(vyre_module *module, uint32_t row, uint32_t op, uint32_t imm, uint32_t imm_hi, uint32_t a, uint32_t b,
                  uint32_t c);
  void (*set_operand)(vyre_module *module, uint32_t row, uint32_t which, uint32_t operand);
  void (*move_before)(vyre_module *module, uint32_t row, uint32_t before);
  void (*kill)(vyre_module *module, uint32_t row);     /* and all in it: O(rows in it) */
  void (*forward)(vyre_module *module, uint32_t *fwd); /* uses of row i become uses of fwd[i]; O(rows) */

  /* facts */
  /* A pure row on literal operands (tuple-free): true and the lanes (a splat or not) if folding gives one right result. */
  bool (*fold)(const vyre_module *module, uint32_t row, vyre_type *out_type, uint64_t out_lanes[4]);
  /* Rows that types' lengths use: pinned.  Calls back for each such type. */
  void (*each_pinned)(const vyre_module *module, void (*pin)(void *user, uint32_t row), void *user);

  /* A column that the pass provides (one bit of VYRE_COLUMNS), to be filled: an element a row, the first of row 0, none of them
   * known.  NULL: out of memory, or the pass does not provide it. */
  uint32_t *(*column)(vyre_pass_ctx *ctx, uint32_t which);
  /* Whether what the path (buffer or `at`) leads to is surely in bounds: every step within a literal length, and the memory of a
   * size that the program declares (any but storage). */
  bool (*in_bounds)(const vyre_module *module, uint32_t path);
  /* The same as fold, as if operand i were the literal given[i] (4 lanes); NULL: the operand itself.  Rows of kind tuple: false. */
  bool (*fold_given)(const vyre_module *module, uint32_t row, const uint64_t *const given[3], uint64_t out_lanes[4]);
  /* out, an element a row: of each buffer row the first one that may be the same memory, and VYRE_ALIAS_SHARED where accesses to it
   * or to a part of it are coherent or volatile.  False: out of memory. */
  bool (*aliases)(const vyre_module *module, uint32_t *out);
  /* Whether what the path (buffer or `at`) leads to in private memory or a table is one literal in all its lanes at the start. */
  bool (*initial)(const vyre_module *module, uint32_t path, uint64_t *out_bits);

  /* A parameter that is a text, as long as the run; empty where it was not given. */
  const char *(*param_text)(vyre_pass_ctx *ctx, const char *name);
  /* What this run preserved beside `preserves`: analyses that hold for the rows that are left, whatever it changed. */
  void (*preserved)(vyre_pass_ctx *ctx, uint32_t analyses);
  /* How many steps of a path from the buffer row select a descriptor in an array of them; 0: it is one.  Two elements of such an
   * array may be one memory, whatever their indices are. */
  uint32_t (*descriptor_steps)(const vyre_module *module, uint32_t buffer);
  /* Memory of the pass's phases by its name.  In `prepare`: a table, a side column of any size or an array of counters, which
   * gets so many words, or a side column with its elements of all rows (words: 0); all zero, to be filled.  In `finish`: a counter
   * or a verdict (words: 0), as the phases left it.  NULL: out of memory, or there is no such name. */
  uint32_t *(*memory)(vyre_pass_ctx *ctx, const char *name, uint32_t words);

  /* What is kept beside the columns.  An address that comes back holds until one of these is set or a row is cloned. */

  const char *(*name)(const vyre_module *module, uint32_t row); /* NULL: it has none */
  /* Copies; NULL, "": none.  Not of a program.  If another row of the program has that name, sealing adds a number to the later
   * one's. */
  void (*set_name)(vyre_module *module, uint32_t row, const char *name);
  /* The source line, from 1 on, that the row came from; 0: none is known. */
  uint32_t (*line)(const vyre_module *module, uint32_t row, const char **out_file, uint32_t *out_column);
  /* A list of (decoration, operand count, operands...), SPIR-V's numbers; NULL: none. */
  const uint32_t *(*decorations)(const vyre_module *module, uint32_t row, uint32_t *out_count);
  /* Copies; it replaces what there is, and sets or clears the flag VYRE_ROW_DECO.  Not of rows that have hints. */
  void (*set_decorations)(vyre_module *module, uint32_t row, const uint32_t *words, uint32_t count);
  /* The hints (vyre_hint) of an `if`, `switch`, `for` or `loop`, and by their bits' numbers the literals of those that have one. */
  uint32_t (*hints)(const vyre_module *module, uint32_t row, uint32_t out_literals[VYRE_HINT_BITS]);
  void (*set_hints)(vyre_module *module, uint32_t row, uint32_t hints, const uint32_t literals[VYRE_HINT_BITS]);

  /* The type of what a path (buffer or `at`) leads to; 0: the row is no path. */
  uint32_t (*path_type)(const vyre_module *module, uint32_t path);
  /* False: there is no such type or member, and the run fails. */
  bool (*type_info)(const vyre_module *module, uint32_t type, vyre_memory_type *out);
  bool (*member_info)(const vyre_module *module, uint32_t type, uint32_t index, vyre_memory_member *out);

  /* A copy of the row and all that is in it, before another row of the program that is not in it.  `map` has an element for each of
   * the first map_rows rows, among them all that are in it.  An operand becomes map[operand], where that is there and not 0.  Of
   * each row in it map[row] becomes the copy, so that what is used in it is the copy's own.  A region is copied by copying its rows
   * in turn with one map, where the element of a `body` is what stands for its index.  Names, lines, decorations and hints follow.
   * Regions alone and what a program declares cannot be copied. */
  uint32_t (*clone)(vyre_module *module, uint32_t row, uint32_t before, uint32_t *map, uint32_t map_rows);

  /* Since 1.1, as what follows.  As insert_row: the last row of a region.  From then on an `if`, `for`, `loop` or `block` that one
   * of the two makes has its region rows, which are empty. */
  uint32_t (*append_row)(vyre_module *module, uint32_t region, uint32_t op, uint32_t imm, uint32_t imm_hi, uint32_t a, uint32_t b,
                         uint32_t c);
  /* A `buffer` of near_row's program, an array of scalars or vectors with std430's stride: of `count` elements, in private or
   * workgroup memory; or in storage, where 0 are as many as there is memory, at a set and binding that no other buffer of the
   * program has. */
  uint32_t (*add_buffer)(vyre_module *module, uint32_t near_row, vyre_type element, uint32_t count, uint32_t space_and_access,
                         uint32_t set, uint32_t binding);

  /* What a row of the op costs by the run's cost model, where it works on values of that type (vyre_row_works_on).  The same in
   * each run that is given the same model, wherever passes run. */
  void (*cost)(vyre_pass_ctx *ctx, uint32_t op, vyre_type type, vyre_cost *out);

  /* Reads the text file whose path is the value of a text parameter: a regular file, without its byte order mark.  The text ends
   * with a zero byte, which *out_size does not count, and lives as long as the run.  *out is NULL if the parameter is not given.
   * Returns an error that names the file if it cannot be read, or if the pipeline is not trusted to read files.  The pass returns
   * that error. */
  vyre_status (*param_file)(vyre_pass_ctx *ctx, const char *name, const char **out, size_t *out_size);
} vyre_host;

typedef const vyre_plugin *(*vyre_plugin_query)(const vyre_host *host);

#define VYRE_PLUGIN_ENTRY "vyre_plugin_query_v1"

/* The host table of a run. */
struct vyre_pass_ctx {
  uint32_t struct_size;
  const vyre_host *host;
  /* what follows belongs to the manager */
};

/* Whether the writer of a struct that came over the border knew this field: VYRE_HAS(vyre_host, ctx->host, fold). */
#define VYRE_HAS(type, object, field) ((object)->struct_size >= offsetof(type, field) + sizeof(((type *)0)->field))

#if UINTPTR_MAX == UINT64_MAX
#if defined(__cplusplus)
#define VYRE_LAYOUT(condition) static_assert(condition, "the plugin ABI is frozen")
#else
#define VYRE_LAYOUT(condition) _Static_assert(condition, "the plugin ABI is frozen")
#endif
VYRE_LAYOUT(sizeof(vyre_param) == 56 && offsetof(vyre_param, minimum) == 24 && offsetof(vyre_param, words) == 48);
VYRE_LAYOUT(sizeof(vyre_pass) == 96 && offsetof(vyre_pass, params) == 40 && offsetof(vyre_pass, run) == 64);
VYRE_LAYOUT(offsetof(vyre_phases, kernels) == 40 && sizeof(vyre_phases) == 56 && sizeof(vyre_phase_kernels) == 40);
VYRE_LAYOUT(sizeof(vyre_phase_memory) == 24 && sizeof(vyre_phase) == 48 && sizeof(vyre_phase_step) == 20 &&
            sizeof(vyre_phase_kernel) == 16);
VYRE_LAYOUT(sizeof(vyre_op_info) == 32 && offsetof(vyre_op_info, opset) == 25 && sizeof(vyre_join) == 12 && sizeof(vyre_part) == 8);
VYRE_LAYOUT(sizeof(vyre_memory_type) == 40 && sizeof(vyre_memory_member) == 24 && sizeof(vyre_pass_ctx) == 16);
VYRE_LAYOUT(sizeof(vyre_cost) == 16);
VYRE_LAYOUT(offsetof(vyre_view, op_infos) == 96 && offsetof(vyre_view, op_info_stride) == 204 && sizeof(vyre_view) == 208);
VYRE_LAYOUT(sizeof(vyre_plugin) == 48 && offsetof(vyre_plugin, opset_min) == 24 && offsetof(vyre_plugin, pass_count) == 40);
#undef VYRE_LAYOUT
#endif

#if defined(_WIN32)
#define VYRE_PLUGIN_VISIBLE __declspec(dllexport)
#elif defined(__GNUC__)
#define VYRE_PLUGIN_VISIBLE __attribute__((visibility("default")))
#else
#define VYRE_PLUGIN_VISIBLE
#endif
#if defined(__cplusplus)
#define VYRE_PLUGIN_EXPORT extern "C" VYRE_PLUGIN_VISIBLE
#else
#define VYRE_PLUGIN_EXPORT VYRE_PLUGIN_VISIBLE
#endif

/* What VYRE_PLUGIN says the plugin needs; a plugin may define them before it includes this header.  A plugin that uses what is
 * newer only where VYRE_HAS says that the host has it needs less: VYRE_ABI(1, 0).  One that takes rows which it does not know by
 * their ops' flags alone has VYRE_OPSET_ANY as the last op set. */
#ifndef VYRE_PLUGIN_NEEDS
#define VYRE_PLUGIN_NEEDS VYRE_PLUGIN_ABI
#endif
#ifndef VYRE_PLUGIN_OPSETS
#define VYRE_PLUGIN_OPSETS VYRE_OPSET_VERSION, VYRE_OPSET_VERSION /* the first, the last */
#endif

/* Defines the entry of a plugin with these passes (pointers to vyre_pass). */
#define VYRE_PLUGIN(plugin_name, plugin_version, ...)                                   \
  VYRE_PLUGIN_EXPORT const vyre_plugin *vyre_plugin_query_v1(const vyre_host *host);    \
  VYRE_PLUGIN_EXPORT const vyre_plugin *vyre_plugin_query_v1(const vyre_host *host)     \
  {                                                                                     \
    static const vyre_pass *const passes[] = {__VA_ARGS__};                             \
    /* by position: C++17 has no designated initializers */                             \
    static const vyre_plugin plugin = {sizeof(vyre_plugin),                             \
                                       VYRE_PLUGIN_NEEDS,                               \
                                       plugin_name,                                     \
                                       plugin_version,                                  \
                                       VYRE_PLUGIN_OPSETS,                              \
                                       passes,                                          \
                                       (uint32_t)(sizeof(passes) / sizeof(passes[0]))}; \
    (void)host;                                                                         \
    return &plugin;                                                                     \
  }

#ifdef __cplusplus
}
#endif
#endif
