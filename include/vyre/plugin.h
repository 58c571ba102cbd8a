/* The pass plugin ABI. This header is enough to write a plugin: a plugin imports no symbols, and calls back through the host table.
 *
 * A plugin is a shared object with one exported function, vyre_plugin_query_v1, that returns a static const descriptor.
 *
 *     static vyre_status run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out) { ... }
 *     static const vyre_pass unroll = {.struct_size = sizeof(vyre_pass), .name = "acme.unroll", .summary = "...", .run = run};
 *     VYRE_PLUGIN("acme", "1.0", &unroll)
 *
 * Threads: one thread calls query once. Several threads may call run at once, each with its own context and module.
 *
 * Versions. VYRE_PLUGIN_ABI is the version of this interface, not of the product. 1.0 is frozen. The following holds for all of
 * 1.x.
 * - Fields, functions, constants and their meanings are not removed or changed. An addition (a field, a host function, a flag, an
 *   analysis, an op set) raises the minor number.
 * - A host loads plugins of its own major number that need its minor number or an older one. The descriptor's `abi` is the least
 *   version that the plugin needs. VYRE_PLUGIN sets the version of this header. A plugin that uses newer fields only after VYRE_HAS
 *   may set an older one (VYRE_PLUGIN_NEEDS).
 * - A struct that crosses the interface begins with struct_size, the size that its writer knew, or its array has a stride.
 * - Fields are appended after the end of the struct with its padding. Neither side reads a field past struct_size. Fields that an
 *   older plugin lacks count as zero. Fields that the host does not know must be zero; otherwise the host refuses the plugin and
 *   names the field.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PLUGIN_H
#define VYRE_PLUGIN_H

#include "vyre/phases.h"
#include "vyre/status.h"
#include "vyre/types.h"
#include "vyre/view.h" /* inline helpers: a plugin imports no symbols */

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

/* Analyses are types.h's VYRE_VERSIONS, VYRE_LOOPS, VYRE_DOMINANCE and VYRE_LEVELS; view.h has their queries. The manager computes
 * them before a pass that requires them, and drops them after a pass that changed the module without preserving them. It treats
 * columns (VYRE_HASHES, VYRE_CLASSES) in the same way, and computes them with the pass that provides them. */

/* Parameters: `name<factor=4;quiet>`. The manager checks the pipeline text against this table before it reads any input. */
typedef enum vyre_param_type {
  VYRE_PARAM_FLAG = 1,
  VYRE_PARAM_UINT = 2,
  VYRE_PARAM_WORD = 3,
  VYRE_PARAM_TEXT = 4, /* a text (host->param_text) or the path of a file (host->param_file) */
} vyre_param_type;

typedef struct vyre_param {
  uint32_t struct_size;
  uint32_t type; /* vyre_param_type */
  const char *name;
  const char *summary;
  uint64_t minimum, maximum, fallback; /* UINT: range and default; FLAG: the default, 0 or 1 */
  const char *words; /* WORD: the allowed words, "fast|small", the first being the default; TEXT: the placeholder in help, "FILE" */
} vyre_param;

/* Guarantees of a pass. The first three apply to GPU passes, and allow them to run in one sequence on a device with the passes before
 * and after it. */
typedef enum vyre_pass_flag {
  /* `prepare` reads only data that no pass with phases changes: parameters, the number of rows, programs, pinned rows. */
  VYRE_PASS_PREPARES_EARLY = 1,
  /* Each new operand of a row has a lower level than the row: it was found by following the row's operands, or is 0. */
  VYRE_PASS_KEEPS_ORDER = 2,
  /* Outside of `levels by`, the phases leave the same table in any order of rows. Directions only save time, or satisfy the kernel
   * compiler. */
  VYRE_PASS_ANY_ORDER = 4,
  /* `run` accepts tables with removed rows. A removed row has the op `null`, and its other cells are undefined. No other row refers to
   * it. The ids of the other rows are in program order. The manager may then seal the module after the pass instead of before it. */
  VYRE_PASS_SKIPS_REMOVED = 8,
} vyre_pass_flag;

typedef struct vyre_pass {
  uint32_t struct_size;
  uint32_t flags;        /* vyre_pass_flag */
  const char *name;      /* "dce" for core passes, "plugin.pass" for others */
  const char *long_name; /* an alias, or NULL */
  const char *summary;   /* one line */
  const char *help;      /* a longer text for -help-pass, or NULL */
  const vyre_param *params;
  uint32_t param_count;
  uint32_t requires_; /* analyses and columns */
  uint32_t preserves; /* analyses that stay valid after a change */
  uint32_t provides;  /* the VYRE_COLUMNS that the pass fills; it then changes nothing and has no parameters */
  vyre_status (*run)(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out); /* NULL if the pass consists of its phases */
  /* A GPU pass: the output of vyre-kernelc for its kernel file. If phases write columns of the table, the module counts as changed
   * if a labelled counter is not zero. If there is a `run` too, it is the CPU form of the pass and must give the same bits. */
  const vyre_phases *phases;
  /* Fills tables and side columns (host->memory) before the first phase. NULL if there are none to fill. */
  vyre_status (*prepare)(vyre_pass_ctx *ctx, const vyre_module *module);
  /* Turns a verdict into an error (host->memory, host->error) after the last phase, before dead rows are removed. May be NULL. */
  vyre_status (*finish)(vyre_pass_ctx *ctx, const vyre_module *module);
} vyre_pass;

typedef struct vyre_plugin {
  uint32_t struct_size;
  uint32_t abi; /* the least version that the plugin needs */
  const char *name;
  const char *version;
  /* The op sets that the plugin supports. A host with an op set older than opset_min refuses the plugin. On a module with a row
   * newer than opset_max, the run fails. With VYRE_OPSET_ANY as opset_max, the passes handle unknown rows by the flags of their
   * ops. */
  uint32_t opset_min, opset_max;
  const vyre_pass *const *passes;
  uint32_t pass_count;
} vyre_plugin;

/* A type of memory: of a buffer or of a part of one. A type id below 256 is a scalar or vector, the vyre_type itself. Other ids
 * belong to the module and are invalid after the run. The caller sets struct_size; the host fills only the fields within it. */
typedef struct vyre_memory_type {
  uint32_t struct_size;
  uint32_t form;      /* vyre_type_form; of WORDS, an image and the like, only the size is known */
  uint32_t flags;     /* vyre_type_flag */
  uint32_t element;   /* array: type of its elements; matrix: type of its columns; value: the type itself */
  uint32_t count;     /* array: length, or 0 if a row or the buffer's size gives it; matrix: columns; struct: members */
  uint32_t count_row; /* array: the row that gives its length, or 0 */
  uint32_t stride;    /* bytes from one element, or column (row if row major), to the next */
  uint32_t size;      /* bytes; arrays whose length a row or the buffer's size gives count as empty */
  const char *name;   /* struct: name, otherwise ""; valid until a name is set or a row is cloned */
} vyre_memory_type;

typedef struct vyre_memory_member {
  uint32_t struct_size;
  uint32_t type;
  uint32_t offset;  /* in bytes */
  uint32_t access;  /* vyre_access bits */
  const char *name; /* "" if it has none; valid until a name is set or a row is cloned */
} vyre_memory_member;

/* The functions of the host. The module that run gets is sealed: id order is program order. A pass that makes, moves or removes
 * rows leaves sealing to the manager. */
typedef struct vyre_host {
  uint32_t struct_size;
  uint32_t abi;
  /* Returns the columns. They do not move while the pass runs; `rows` grows. */
  const vyre_view *(*view)(const vyre_module *module);

  /* errors and messages */
  /* Returns an error at a row, or at no row if `row` is 0. Copies the message. */
  vyre_status (*error)(vyre_pass_ctx *ctx, uint32_t row, const char *message);
  void (*remark)(vyre_pass_ctx *ctx, uint32_t row, const char *message);
  void (*count)(vyre_pass_ctx *ctx, const char *name,
                uint64_t amount); /* Adds to a statistic. `name` must stay valid while the plugin is loaded. */

  /* Returns zeroed scratch memory for this run, which the manager frees, or NULL if memory runs out. The pass then returns
   * host->out_of_memory or host->error. */
  void *(*alloc)(vyre_pass_ctx *ctx, size_t bytes);
  /* Returns the error for memory that ran out. */
  vyre_status (*out_of_memory)(vyre_pass_ctx *ctx);

  /* Returns a parameter: 0 or 1 for a flag, the index in `words` for a word. */
  uint64_t (*param)(vyre_pass_ctx *ctx, const char *name);

  /* The host checks the rows, ops, parameters and addresses that a call gets. If one does not exist, the call does nothing and the
   * run fails. */

  /* Edits are O(1) unless a comment says otherwise. They return row 0 if memory runs out, and the manager reports that after the
   * run. */
  uint32_t (*insert_row)(vyre_module *module, uint32_t before, uint32_t op, uint32_t imm, uint32_t imm_hi, uint32_t a, uint32_t b,
                         uint32_t c);
  /* Returns the const row of near_row's program with these bits, at the program's top. Bits beyond the type's are ignored. */
  uint32_t (*constant)(vyre_module *module, uint32_t near_row, vyre_type type, uint64_t bits);
  void (*rewrite)(vyre_module *module, uint32_t row, uint32_t op, uint32_t imm, uint32_t imm_hi, uint32_t a, uint32_t b,
                  uint32_t c);
  void (*set_operand)(vyre_module *module, uint32_t row, uint32_t which, uint32_t operand);
  void (*move_before)(vyre_module *module, uint32_t row, uint32_t before);
  void (*kill)(vyre_module *module, uint32_t row);     /* Removes the row and all rows in it. O(rows in it). */
  void (*forward)(vyre_module *module, uint32_t *fwd); /* Replaces uses of row i by fwd[i]. O(rows). */

  /* facts */
  /* Computes a pure row on literal operands. Returns true and the lanes if every device gives the same result. Not for rows of kind
   * tuple. */
  bool (*fold)(const vyre_module *module, uint32_t row, vyre_type *out_type, uint64_t out_lanes[4]);
  /* Calls `pin` for each pinned row: the rows that compute a workgroup's size or an array's length. */
  void (*each_pinned)(const vyre_module *module, void (*pin)(void *user, uint32_t row), void *user);

  /* Returns a column that the pass provides (one bit of VYRE_COLUMNS), with an element for each row, the first for row 0. The
   * contents are undefined. Returns NULL if memory runs out, or if the pass does not provide the column. */
  uint32_t *(*column)(vyre_pass_ctx *ctx, uint32_t which);
  /* Returns whether the location that a path (`buffer` or `at`) leads to is surely in bounds. Every step must be within a literal
   * length, and the memory of a size that the program declares, which excludes storage. */
  bool (*in_bounds)(const vyre_module *module, uint32_t path);
  /* Computes a row like fold, as if operand i were the literal given[i], 4 lanes. If given[i] is NULL, the operand itself counts.
   * Returns false for rows of kind tuple. */
  bool (*fold_given)(const vyre_module *module, uint32_t row, const uint64_t *const given[3], uint64_t out_lanes[4]);
  /* Computes which buffers may be the same memory. `out` has an element for each row. The element of a buffer is the first buffer
   * row that may be the same memory. VYRE_ALIAS_SHARED is added if accesses to it or to a part of it are coherent or volatile.
   * Returns false if memory runs out. */
  bool (*aliases)(const vyre_module *module, uint32_t *out);
  /* Returns whether the location that a path (`buffer` or `at`) leads to, in private memory or a constant table, initially has the
   * same literal in all lanes. */
  bool (*initial)(const vyre_module *module, uint32_t path, uint64_t *out_bits);

  /* Returns a text parameter, or "" if it is not given. It lives as long as the run. */
  const char *(*param_text)(vyre_pass_ctx *ctx, const char *name);
  /* Declares analyses that this run preserved in addition to `preserves`: they are valid for the remaining rows despite the
   * changes. */
  void (*preserved)(vyre_pass_ctx *ctx, uint32_t analyses);
  /* Returns how many steps of a path from the buffer row select a descriptor in an array of descriptors, or 0 for a single
   * descriptor. Two elements of such an array may be the same memory, even if their indices differ. */
  uint32_t (*descriptor_steps)(const vyre_module *module, uint32_t buffer);
  /* Returns memory of the pass's phases by its name, or NULL if memory runs out or the name is unknown. In `prepare`, `words` is
   * the size of a table, of an array of counters, or of a side column with stride 0. It is 0 for a side column with elements for
   * all rows. The memory is zeroed, and the pass fills it. In `finish`, `words` is 0, and the memory is a counter or a verdict as
   * the phases left it. */
  uint32_t *(*memory)(vyre_pass_ctx *ctx, const char *name, uint32_t words);

  /* Side tables. A returned pointer is valid until a name or decoration is set, or a row is cloned. */

  const char *(*name)(const vyre_module *module, uint32_t row); /* NULL if the row has none */
  /* Sets the name of a row that is not a program; NULL and "" remove it. Copies the name. If another row of the program has that
   * name, sealing adds a number to the later one's. */
  void (*set_name)(vyre_module *module, uint32_t row, const char *name);
  /* Returns the source line that the row came from, from 1, or 0 if it is unknown. */
  uint32_t (*line)(const vyre_module *module, uint32_t row, const char **out_file, uint32_t *out_column);
  /* Returns a list of (decoration, operand count, operands...) with SPIR-V's numbers, or NULL if there are none. */
  const uint32_t *(*decorations)(const vyre_module *module, uint32_t row, uint32_t *out_count);
  /* Replaces the row's decorations, and sets or clears the flag VYRE_ROW_DECO. Copies the words. Not for rows that have hints. */
  void (*set_decorations)(vyre_module *module, uint32_t row, const uint32_t *words, uint32_t count);
  /* Returns the hints (vyre_hint) of an `if`, `switch`, `for` or `loop`. The literal of the hint with bit 1 << k is
   * out_literals[k]. */
  uint32_t (*hints)(const vyre_module *module, uint32_t row, uint32_t out_literals[VYRE_HINT_BITS]);
  void (*set_hints)(vyre_module *module, uint32_t row, uint32_t hints, const uint32_t literals[VYRE_HINT_BITS]);

  /* Returns the type of the location that a path (`buffer` or `at`) leads to, or 0 if the row is not a path. */
  uint32_t (*path_type)(const vyre_module *module, uint32_t path);
  /* Describe a type or a struct member. If it does not exist, they return false and the run fails. */
  bool (*type_info)(const vyre_module *module, uint32_t type, vyre_memory_type *out);
  bool (*member_info)(const vyre_module *module, uint32_t type, uint32_t index, vyre_memory_member *out);

  /* Copies a row and all rows in it to before a row of the same program that is not in it. `map` has map_rows elements and covers
   * all copied rows. An operand is replaced by map[operand] if that exists and is not 0. map[row] becomes the copy of each copied
   * row, so uses inside the copy refer to the copy. To copy a region, clone its rows in order with one map, in which the element of
   * a `body` is the replacement of the loop index. Names, lines, decorations and hints are copied. Region rows, and declarations of
   * a program, cannot be copied. */
  uint32_t (*clone)(vyre_module *module, uint32_t row, uint32_t before, uint32_t *map, uint32_t map_rows);

  /* The functions from here on exist since 1.1. Appends a row to a region like insert_row. Since 1.1, an `if`, `for`, `loop` or
   * `block` that either function makes has its region rows, which are empty. */
  uint32_t (*append_row)(vyre_module *module, uint32_t region, uint32_t op, uint32_t imm, uint32_t imm_hi, uint32_t a, uint32_t b,
                         uint32_t c);
  /* Adds a `buffer` to near_row's program: an array of `count` scalars or vectors with std430's stride. It is in private, workgroup
   * or storage memory. In storage, the set and binding must be unused in the program, and a count of 0 means a runtime array. */
  uint32_t (*add_buffer)(vyre_module *module, uint32_t near_row, vyre_type element, uint32_t count, uint32_t space_and_access,
                         uint32_t set, uint32_t binding);

  /* Computes the cost of a row of the op on values of the type (vyre_row_works_on), by the run's cost model. The same model gives
   * the same costs in every run, wherever passes run. */
  void (*cost)(vyre_pass_ctx *ctx, uint32_t op, vyre_type type, vyre_cost *out);

  /* Reads the text file whose path is a text parameter: a regular file, without its byte order mark. The text ends with a zero
   * byte, which *out_size does not count, and lives as long as the run. *out is NULL if the parameter is not given. Returns an
   * error that names the file if it cannot be read, or if the pipeline may not read files. The pass returns that error. */
  vyre_status (*param_file)(vyre_pass_ctx *ctx, const char *name, const char **out, size_t *out_size);
} vyre_host;

typedef const vyre_plugin *(*vyre_plugin_query)(const vyre_host *host);

#define VYRE_PLUGIN_ENTRY "vyre_plugin_query_v1"

/* The context of a run. */
struct vyre_pass_ctx {
  uint32_t struct_size;
  const vyre_host *host;
  /* private fields of the manager follow */
};

/* Whether the writer of a struct knew the field: VYRE_HAS(vyre_host, ctx->host, fold). */
#define VYRE_HAS(type, object, field) ((object)->struct_size >= offsetof(type, field) + sizeof(((type *)0)->field))

#if UINTPTR_MAX == UINT64_MAX
#if defined(__cplusplus)
#define VYRE_LAYOUT(condition) static_assert(condition, "the plugin ABI is frozen")
#else
#define VYRE_LAYOUT(condition) _Static_assert(condition, "the plugin ABI is frozen")
#endif
VYRE_LAYOUT(sizeof(vyre_param) == 56 && offsetof(vyre_param, minimum) == 24 && offsetof(vyre_param, words) == 48);
VYRE_LAYOUT(sizeof(vyre_pass) == 96 && offsetof(vyre_pass, params) == 40 && offsetof(vyre_pass, run) == 64);
VYRE_LAYOUT(offsetof(vyre_phases, kernels) == 40 && offsetof(vyre_phases, flags) == 56 &&
            offsetof(vyre_phase_kernels, pass) == 40);
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

/* The version and op sets that VYRE_PLUGIN declares. A plugin may define them before it includes this header. A plugin that uses
 * newer fields only after VYRE_HAS may need less: VYRE_ABI(1, 0). One that handles unknown rows by the flags of their ops has
 * VYRE_OPSET_ANY as its last op set. */
#ifndef VYRE_PLUGIN_NEEDS
#define VYRE_PLUGIN_NEEDS VYRE_PLUGIN_ABI
#endif
#ifndef VYRE_PLUGIN_OPSETS
#define VYRE_PLUGIN_OPSETS VYRE_OPSET_VERSION, VYRE_OPSET_VERSION /* the first, the last */
#endif

/* Defines the entry point of a plugin with these passes (pointers to vyre_pass). */
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
