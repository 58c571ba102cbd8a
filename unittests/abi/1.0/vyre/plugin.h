/* The plugin interface 1.0, frozen: include/vyre/plugin.h as it was, without its comments.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PLUGIN_H
#define VYRE_PLUGIN_H

#include "vyre/phases.h"
#include "vyre/status.h"
#include "vyre/types.h"
#include "vyre/view.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VYRE_ABI(major, minor) ((major)*65536u + (minor))
#define VYRE_PLUGIN_ABI        VYRE_ABI(1, 0)

typedef struct vyre_module vyre_module;
typedef struct vyre_pass_ctx vyre_pass_ctx;

typedef uint32_t vyre_result;
#define VYRE_UNCHANGED 0u
#define VYRE_CHANGED   1u

typedef enum vyre_param_type {
  VYRE_PARAM_FLAG = 1,
  VYRE_PARAM_UINT = 2,
  VYRE_PARAM_WORD = 3,
  VYRE_PARAM_TEXT = 4,
} vyre_param_type;

typedef struct vyre_param {
  uint32_t struct_size;
  uint32_t type;
  const char *name;
  const char *summary;
  uint64_t minimum, maximum, fallback;
  const char *words;
} vyre_param;

typedef enum vyre_pass_flag {
  VYRE_PASS_PREPARES_EARLY = 1,
  VYRE_PASS_KEEPS_ORDER = 2,
  VYRE_PASS_ANY_ORDER = 4,
} vyre_pass_flag;

typedef struct vyre_pass {
  uint32_t struct_size;
  uint32_t flags;
  const char *name;
  const char *long_name;
  const char *summary;
  const char *help;
  const vyre_param *params;
  uint32_t param_count;
  uint32_t requires_;
  uint32_t preserves;
  uint32_t provides;
  vyre_status (*run)(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out);
  const vyre_phases *phases;
  vyre_status (*prepare)(vyre_pass_ctx *ctx, const vyre_module *module);
  vyre_status (*finish)(vyre_pass_ctx *ctx, const vyre_module *module);
} vyre_pass;

typedef struct vyre_plugin {
  uint32_t struct_size;
  uint32_t abi;
  const char *name;
  const char *version;
  uint32_t opset_min, opset_max;
  const vyre_pass *const *passes;
  uint32_t pass_count;
} vyre_plugin;

typedef struct vyre_memory_type {
  uint32_t struct_size;
  uint32_t form;
  uint32_t flags;
  uint32_t element;
  uint32_t count;
  uint32_t count_row;
  uint32_t stride;
  uint32_t size;
  const char *name;
} vyre_memory_type;

typedef struct vyre_memory_member {
  uint32_t struct_size;
  uint32_t type;
  uint32_t offset;
  uint32_t access;
  const char *name;
} vyre_memory_member;

typedef struct vyre_host {
  uint32_t struct_size;
  uint32_t abi;
  const vyre_view *(*view)(const vyre_module *module);
  vyre_status (*error)(vyre_pass_ctx *ctx, uint32_t row, const char *message);
  void (*remark)(vyre_pass_ctx *ctx, uint32_t row, const char *message);
  void (*count)(vyre_pass_ctx *ctx, const char *name, uint64_t amount);
  void *(*alloc)(vyre_pass_ctx *ctx, size_t bytes);
  vyre_status (*out_of_memory)(vyre_pass_ctx *ctx);
  uint64_t (*param)(vyre_pass_ctx *ctx, const char *name);
  uint32_t (*insert_row)(vyre_module *module, uint32_t before, uint32_t op, uint32_t imm, uint32_t imm_hi, uint32_t a, uint32_t b,
                         uint32_t c);
  uint32_t (*constant)(vyre_module *module, uint32_t near_row, vyre_type type,
                       uint64_t bits);
  void (*rewrite)(vyre_module *module, uint32_t row, uint32_t op, uint32_t imm, uint32_t imm_hi, uint32_t a, uint32_t b,
                  uint32_t c);
  void (*set_operand)(vyre_module *module, uint32_t row, uint32_t which, uint32_t operand);
  void (*move_before)(vyre_module *module, uint32_t row, uint32_t before);
  void (*kill)(vyre_module *module, uint32_t row);
  void (*forward)(vyre_module *module, uint32_t *fwd);
  bool (*fold)(const vyre_module *module, uint32_t row, vyre_type *out_type, uint64_t out_lanes[4]);
  void (*each_pinned)(const vyre_module *module, void (*pin)(void *user, uint32_t row), void *user);
  uint32_t *(*column)(vyre_pass_ctx *ctx, uint32_t which);
  bool (*in_bounds)(const vyre_module *module, uint32_t path);
  bool (*fold_given)(const vyre_module *module, uint32_t row, const uint64_t *const given[3], uint64_t out_lanes[4]);
  bool (*aliases)(const vyre_module *module, uint32_t *out);
  bool (*initial)(const vyre_module *module, uint32_t path, uint64_t *out_bits);
  const char *(*param_text)(vyre_pass_ctx *ctx, const char *name);
  void (*preserved)(vyre_pass_ctx *ctx, uint32_t analyses);
  uint32_t (*descriptor_steps)(const vyre_module *module, uint32_t buffer);
  uint32_t *(*memory)(vyre_pass_ctx *ctx, const char *name, uint32_t words);
  const char *(*name)(const vyre_module *module, uint32_t row);
  void (*set_name)(vyre_module *module, uint32_t row, const char *name);
  uint32_t (*line)(const vyre_module *module, uint32_t row, const char **out_file, uint32_t *out_column);
  const uint32_t *(*decorations)(const vyre_module *module, uint32_t row, uint32_t *out_count);
  void (*set_decorations)(vyre_module *module, uint32_t row, const uint32_t *words, uint32_t count);
  uint32_t (*hints)(const vyre_module *module, uint32_t row, uint32_t out_literals[VYRE_HINT_BITS]);
  void (*set_hints)(vyre_module *module, uint32_t row, uint32_t hints, const uint32_t literals[VYRE_HINT_BITS]);
  uint32_t (*path_type)(const vyre_module *module, uint32_t path);
  bool (*type_info)(const vyre_module *module, uint32_t type, vyre_memory_type *out);
  bool (*member_info)(const vyre_module *module, uint32_t type, uint32_t index, vyre_memory_member *out);
  uint32_t (*clone)(vyre_module *module, uint32_t row, uint32_t before, uint32_t *map, uint32_t map_rows);
} vyre_host;

typedef const vyre_plugin *(*vyre_plugin_query)(const vyre_host *host);

#define VYRE_PLUGIN_ENTRY "vyre_plugin_query_v1"

struct vyre_pass_ctx {
  uint32_t struct_size;
  const vyre_host *host;
};

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
VYRE_LAYOUT(offsetof(vyre_view, op_infos) == 96 && offsetof(vyre_view, op_info_stride) == 204 && sizeof(vyre_view) == 208);
VYRE_LAYOUT(sizeof(vyre_plugin) == 48 && offsetof(vyre_plugin, opset_min) == 24 && offsetof(vyre_plugin, pass_count) == 40);
#undef VYRE_LAYOUT
#endif

#if defined(__GNUC__)
#define VYRE_PLUGIN_VISIBLE __attribute__((visibility("default")))
#else
#define VYRE_PLUGIN_VISIBLE
#endif
#if defined(__cplusplus)
#define VYRE_PLUGIN_EXPORT extern "C" VYRE_PLUGIN_VISIBLE
#else
#define VYRE_PLUGIN_EXPORT VYRE_PLUGIN_VISIBLE
#endif

#ifndef VYRE_PLUGIN_NEEDS
#define VYRE_PLUGIN_NEEDS VYRE_PLUGIN_ABI
#endif
#ifndef VYRE_PLUGIN_OPSETS
#define VYRE_PLUGIN_OPSETS VYRE_OPSET_VERSION, VYRE_OPSET_VERSION
#endif

#define VYRE_PLUGIN(plugin_name, plugin_version, ...)                                   \
  VYRE_PLUGIN_EXPORT const vyre_plugin *vyre_plugin_query_v1(const vyre_host *host);    \
  VYRE_PLUGIN_EXPORT const vyre_plugin *vyre_plugin_query_v1(const vyre_host *host)     \
  {                                                                                     \
    static const vyre_pass *const passes[] = {__VA_ARGS__};                             \
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
