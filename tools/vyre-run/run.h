/* vyre-run's own declarations: what its files share.
 *
 * A run is: options, one or two programs (loaded, reflected), the buffers they have in common with their first contents, an
 * execution of each, and then printing, writing and comparing.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TOOLS_RUN_H
#define VYRE_TOOLS_RUN_H

#include "option_rows.h"

#include "vyre/glsl.h"
#include "vyre/io.h"
#include "vyre/passmgr.h"
#include "vyre/run.h"
#include "vyre/target.h"

/* ---- options.c ----------------------------------------------------------------------------------------------------------- */

typedef const vyre_target_ops *run_target; /* NULL: the interpreter */

/* NAME=VALUE as given. */
typedef struct run_setting {
  const char *name; /* not terminated: */
  size_t name_length;
  const char *value;
} run_setting;

typedef struct run_settings {
  run_setting *items;
  uint32_t count;
} run_settings;

typedef struct run_tolerance {
  bool is_set, in_ulps;
  double limit;
} run_tolerance;

typedef struct run_options {
  const char *input;   /* of inputs */
  const char *compare; /* NULL: none */
  const char *profile; /* the source whose lines are shown; NULL: none */
  run_target target, compare_target;
  const char *entry;
  bool has_groups;
  uint32_t groups[3];
  run_settings buffers, sizes, binds, specs, writes;
  run_settings prints; /* value NULL */
  run_tolerance tolerance;
  option_number steps, subgroup; /* 0: not said */
  const char *undefined, *stats, *help;
  bool report_undefined; /* of undefined */
  bool check_bounds, check_races, isolate, time, device_stats, list_devices, version;
  bool has_compare_target;
  option_device on;
  const char *stats_file;         /* NULL: standard error */
  vyre_stats_format stats_format; /* of stats */
  vyre_report *report;            /* owned by main; what targets counted.  NULL: nobody asks */
  option_glsl glsl;
  vyre_glsl_env target_env; /* of glsl.target_env */
  name_list inputs;
  option_texts responses;
} run_options;

/* Lists are allocated; run_options_free ends them.  USAGE for an unknown option or a wrong value. */
VYRE_MUST_USE vyre_status run_options_parse(int argc, char **argv, run_options *out);
void run_options_free(run_options *options);
void run_options_help(const run_options *options);

/* ---- layout.c: the scalars of a buffer, in order ------------------------------------------------------------------------- */

typedef struct run_layout {
  const vyre_module *module;
  const vyre_spec_value *specs; /* borrowed */
  uint32_t spec_count;
} run_layout;

typedef struct run_shape {
  uint64_t fixed;  /* bytes without the runtime array's elements */
  uint64_t offset; /* of the runtime array, if there is one */
  uint32_t stride; /* of its elements; 0: there is none */
} run_shape;

/* Of an array; 0 of a runtime array. */
uint64_t run_layout_length(const run_layout *layout, const vyre_type_info *info);
run_shape run_layout_shape(const run_layout *layout, vyre_type_id type);

/* One scalar; false stops the walk. */
typedef bool (*run_visit)(void *user, uint64_t index, uint64_t offset, vyre_kind kind);

/* Each scalar that is wholly within `size` bytes, by its index from 0; returns how many were visited. */
uint64_t run_layout_each(const run_layout *layout, vyre_type_id type, uint64_t size, run_visit visit, void *user);

/* One pointer; false stops the walk. */
typedef bool (*run_visit_pointer)(void *user, uint64_t offset, vyre_type_id type);

/* Each pointer, or other value of an opaque type, that is wholly within `size` bytes. */
void run_layout_pointers(const run_layout *layout, vyre_type_id type, uint64_t size, run_visit_pointer visit, void *user);

/* How the scalar at `offset` is reached: "[3].pos.x". */
void run_layout_path(const run_layout *layout, vyre_type_id type, uint64_t offset, char *out, size_t capacity);

uint64_t run_scalar_get(const void *data, vyre_kind kind);
void run_scalar_put(void *data, vyre_kind kind, uint64_t bits);
uint32_t run_scalar_size(vyre_kind kind);
/* A float's value, exactly; and the bits of a value, rounded to nearest even. */
double run_float_value(vyre_kind kind, uint64_t bits);
uint64_t run_float_bits(vyre_kind kind, double value);
/* False: the text is no value of that kind. */
bool run_scalar_parse(const char *text, size_t length, vyre_kind kind, uint64_t *out);
/* The shortest text that reads back as the same value. */
void run_scalar_print(vyre_kind kind, uint64_t bits, char out[48]);

/* ---- program.c: the program ---------------------------------------------------------------------------------------------- */

/* One descriptor, an element of a (set, binding), or the push constants: all buffer rows of it.  An image is a buffer of texels. */
typedef struct run_buffer {
  vyre_space space;
  vyre_slot_kind kind; /* but of the push constants */
  uint32_t set, binding;
  uint32_t element;
  bool is_element;   /* of an array of descriptors */
  vyre_image image;  /* of images and texels */
  uint32_t sampler;  /* vyre_sampler */
  vyre_row row;      /* the first of its rows */
  const char *name;  /* the row's; "" none */
  const char *block; /* its struct's; "" none */
  vyre_type_id type;
  bool is_writable;
  run_shape shape;
  /* Of buffers that pointers lead to, which come after all others: */
  char *path, *key; /* owned; "push.next", and what identifies it in another program; NULL: of other buffers */
  uint32_t holder;  /* the buffer whose pointer leads to it first */
} run_buffer;

/* A pointer in a buffer, and the buffer that it leads to. */
typedef struct run_pointer {
  uint32_t holder, target; /* of the program's buffers */
  uint64_t offset;
} run_pointer;

typedef struct run_program {
  const char *path;
  vyre_module *module;
  vyre_bytes words; /* the SPIR-V that a driver is given: the input's own, or what vyre writes */
  vyre_row row;
  const char *entry;
  uint32_t workgroup[3];
  run_buffer *buffers;
  uint32_t buffer_count;
  run_pointer *pointers;
  uint32_t pointer_count;
  vyre_spec_value *specs;
  uint32_t spec_count;
} run_program;

VYRE_MUST_USE vyre_status run_program_load(const char *path, const run_options *options, vyre_diagnostics diagnostics,
                                           run_program *out);
void run_program_free(run_program *program);
run_layout run_program_layout(const run_program *program);
/* "'x' (set 0 binding 1)" */
void run_buffer_describe(const run_buffer *buffer, char *out, size_t capacity);
/* The shortest that names it: "x", "maps[2]", "0.1", "push". */
void run_buffer_name(const run_buffer *buffer, char *out, size_t capacity);
/* The name of an array is that of all its elements. */
bool run_buffer_is(const run_buffer *buffer, const char *name, size_t length);
/* The last setting for it; NULL: none. */
const run_setting *run_setting_find(const run_settings *settings, const run_buffer *buffer);
bool run_buffer_same(const run_buffer *a, const run_buffer *b);

/* ---- images.c ------------------------------------------------------------------------------------------------------------ */

/* Images and texels, whose size is not their type's. */
static inline bool
run_buffer_is_image(const run_buffer *buffer)
{
  return buffer->kind >= VYRE_SLOT_STORAGE_TEXELS && buffer->kind <= VYRE_SLOT_COMBINED;
}

/* How the handle in out->row, of an image or sampler type, is bound. */
VYRE_MUST_USE vyre_status run_handle_take(const run_program *program, vyre_type_id type, run_buffer *out);
/* Its extent, and the type of its texels in memory. */
VYRE_MUST_USE vyre_status run_image_size(run_program *program, const run_options *options, run_buffer *buffer);

/* ---- pointers.c ---------------------------------------------------------------------------------------------------------- */

/* What a pointer of that type leads to; 0: it is no address of a buffer. */
vyre_type_id run_pointee(const vyre_module *module, vyre_type_id type);
run_shape run_buffer_shape(const run_layout *layout, vyre_type_id type);
/* The pointers in the program's buffers, and the buffers behind them. */
VYRE_MUST_USE vyre_status run_pointers_take(run_program *program);

/* ---- data.c: what buffers hold at first ---------------------------------------------------------------------------------- */

typedef struct run_data {
  const run_program *program; /* whose layout it has */
  const run_buffer *buffer;
  size_t size;
  unsigned char *initial; /* owned */
} run_data;

typedef struct run_inputs {
  run_data *items;
  uint32_t count;
  uint32_t groups[3];
} run_inputs;

/* For the buffers of `first`, and those that only `second` (may be NULL) has. */
VYRE_MUST_USE vyre_status run_inputs_make(const run_options *options, const run_program *first, const run_program *second,
                                          run_inputs *out);
void run_inputs_free(run_inputs *inputs);

/* ---- kernel.c ------------------------------------------------------------------------------------------------------------ */

/* What a target is given to compile; its lists are the kernel's, its words and names the program's. */
typedef struct run_kernel {
  vyre_kernel_desc desc;
  vyre_kernel_slot *slots; /* owned, as all lists are */
  vyre_image *images;      /* one for each descriptor */
  vyre_kernel_spec *specs;
  uint32_t *ranges; /* the program's buffer for each range that a step gives */
  uint32_t slot_count, descriptor_count, range_count;
  vyre_kernel_program vir; /* of a kernel of that form */
  vyre_bytes ptx;          /* likewise; owned */
} run_kernel;

/* It stays where it is; to be freed after a failure, too. */
VYRE_MUST_USE vyre_status run_kernel_describe(const run_options *options, const vyre_target_ops *ops, vyre_target *target,
                                              const run_program *program, run_kernel *out);
VYRE_MUST_USE vyre_status run_kernel_compile(const vyre_target_ops *ops, vyre_target *target, const run_kernel *kernel,
                                             vyre_kernel *out);
void run_kernel_free(run_kernel *kernel);
/* Lanes of a subgroup where .vir is run; 0: the default. */
VYRE_MUST_USE vyre_status run_subgroup_size(const run_options *options, const run_program *program, uint32_t *out);

/* ---- execute.c ----------------------------------------------------------------------------------------------------------- */

/* The contents of each of the inputs afterwards; unchanged for one that the program does not have. */
typedef struct run_results {
  unsigned char **items;
  uint32_t count;
} run_results;

VYRE_MUST_USE vyre_status run_execute(const run_options *options, run_target target, const run_program *program,
                                      const run_inputs *inputs, run_results *out);
void run_results_free(run_results *results);

/* ---- targets.c ----------------------------------------------------------------------------------------------------------- */

/* False: there is none of that name. */
bool run_target_parse(const char *text, run_target *out);
/* "cpu"; "the interpreter". */
const char *run_target_name(run_target target);
/* All names, a line each. */
void run_targets_print(void);
VYRE_MUST_USE vyre_status run_list_devices(const run_options *options);
/* The target's device that the options name. */
VYRE_MUST_USE vyre_status run_device_open(const run_options *options, run_target target, vyre_target **out);
VYRE_MUST_USE vyre_status run_device_describe(const run_options *options, run_target target, vyre_device_info *out);

/* ---- statistics.c -------------------------------------------------------------------------------------------------------- */

/* Prints what the target's driver makes of one program, or (`second` not NULL) of two side by side. */
VYRE_MUST_USE vyre_status run_statistics(const run_options *options, const run_program *first, const run_program *second);

/* ---- profile.c ----------------------------------------------------------------------------------------------------------- */

/* Prints how often each line of the source ran. */
VYRE_MUST_USE vyre_status run_profile(const run_options *options, const run_program *program, const run_inputs *inputs,
                                      const run_results *results);

/* ---- report.c ------------------------------------------------------------------------------------------------------------ */

VYRE_MUST_USE vyre_status run_report(const run_options *options, const run_inputs *inputs, const run_results *results);
/* Prints the verdict. */
VYRE_MUST_USE vyre_status run_compare(const run_options *options, const run_inputs *inputs, const run_program *first,
                                      const run_results *first_results, const run_program *second,
                                      const run_results *second_results, bool *out_equal);

#endif
