/* A program's run, but for running it on a device: the program's buffers (reflected), what they hold at first, the interpreter, and
 * a comparison of what is in them afterwards; and the program as a kernel, and what a driver tells of that.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TOOLS_RUN_PARTS_H
#define VYRE_TOOLS_RUN_PARTS_H

#include "vyre/glsl.h"
#include "vyre/io.h"
#include "vyre/passmgr.h"
#include "vyre/run.h"
#include "vyre/target.h"

/* ---- the setup ----------------------------------------------------------------------------------------------------------- */

/* NAME=VALUE as given. */
typedef struct run_setting {
  const char *name; /* not terminated: */
  size_t name_length;
  const char *value;
} run_setting;

typedef struct run_settings {
  run_setting *items;
  uint32_t count, capacity;
} run_settings;

typedef struct run_tolerance {
  bool is_set, in_ulps;
  double limit;
} run_tolerance;

enum { RUN_ELEMENTS = 1024 }; /* the usual `elements` */

/* What a run is of, beside the program. */
typedef struct run_setup {
  run_settings buffers, sizes, binds, specs;
  uint64_t seed;     /* of what buffers hold that no setting names */
  uint64_t elements; /* of runtime arrays that no setting names */
  bool has_groups;
  uint32_t groups[3];
  uint64_t steps; /* as in vyre_interp_options, and so are these: */
  uint32_t subgroup;
  bool report_undefined, check_bounds, check_races, weigh;
  const vyre_cost_model *cost_model; /* borrowed */
  run_tolerance tolerance;
} run_setup;

/* The owned lists of settings. */
void run_setup_free(run_setup *setup);

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
  run_shape shape;           /* `fixed` is the most that any declaration of the descriptor has */
  const vyre_module *module; /* borrowed, of the row */
  /* Of buffers that pointers lead to, which come after all others: */
  char *path, *key; /* owned; "push.next", and what identifies it in another program; NULL: of other buffers */
  uint32_t holder;  /* the buffer whose pointer leads to it first */
} run_buffer;

enum { RUN_BINDINGS_APART = 512 }; /* from a binding to that of a declaration that cannot share its descriptor */
enum { RUN_OPEN_DESCRIPTORS = 4 }; /* elements of an array of descriptors whose length is open */

/* A pointer in a buffer, and the buffer that it leads to. */
typedef struct run_pointer {
  uint32_t holder, target; /* of the program's buffers */
  uint64_t offset;
} run_pointer;

typedef struct run_program {
  const char *path;    /* borrowed */
  vyre_module *module; /* owned */
  vyre_bytes words;    /* the SPIR-V that a driver is given: the input's own, or what vyre writes */
  vyre_row row;
  const char *entry;
  uint32_t workgroup[3];
  run_buffer *buffers;
  uint32_t buffer_count, buffer_capacity;
  run_pointer *pointers;
  uint32_t pointer_count, pointer_capacity;
  vyre_spec_value *specs;
  uint32_t spec_count;
} run_program;

/* program->path, module and row are there: the rest but `words` is found.  `has_specs`: a specialization constant that the setup
 * names and the program does not have is an error. */
VYRE_MUST_USE vyre_status run_program_reflect(run_program *program, const run_setup *setup, bool has_specs);
/* By which -entry names it. */
const char *run_entry_name(const vyre_module *module, vyre_row row);
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
VYRE_MUST_USE vyre_status run_image_size(run_program *program, const run_setup *setup, run_buffer *buffer);

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
VYRE_MUST_USE vyre_status run_inputs_make(const run_setup *setup, const run_program *first, const run_program *second,
                                          run_inputs *out);
/* Of a buffer that they have. */
uint32_t run_inputs_find(const run_inputs *inputs, const run_buffer *buffer);
/* USAGE: a setting is of no buffer.  `option` is for the message; `is_one`: a setting is of one buffer alone. */
VYRE_MUST_USE vyre_status run_inputs_check(const run_inputs *inputs, const run_settings *settings, const char *option, bool is_one);
void run_inputs_free(run_inputs *inputs);

/* ---- interpret.c --------------------------------------------------------------------------------------------------------- */

/* The contents of each of the inputs afterwards; unchanged for one that the program does not have. */
typedef struct run_results {
  unsigned char **items;
  uint32_t count;
} run_results;

/* The inputs' contents. */
VYRE_MUST_USE vyre_status run_results_copy(const run_inputs *inputs, run_results *out);
void run_results_free(run_results *results);
/* INPUT: it has what the interpreter is not given, such as images. */
VYRE_MUST_USE vyre_status run_check_plain(const run_program *program);
/* Runs it over `results`.  stats may be NULL. */
VYRE_MUST_USE vyre_status run_interpret(const run_setup *setup, const run_program *program, const run_inputs *inputs,
                                        run_results *results, vyre_interp_stats *stats);

/* ---- compare.c ----------------------------------------------------------------------------------------------------------- */

typedef struct run_comparison {
  run_tolerance tolerance;
  uint32_t buffers;                      /* that one of the programs writes */
  uint64_t elements, differing, changed; /* changed: by the first */
  double largest;                        /* difference that the tolerance let pass */
  const run_data *where;                 /* of the first that differs; NULL: none */
  uint64_t index, offset, first_bits, second_bits;
  vyre_kind kind;
} run_comparison;

/* Scalar by scalar, not padding; bit for bit or within the setup's tolerance, but for NaNs, whose bits are open: any two are equal.
 */
void run_compare(const run_setup *setup, const run_inputs *inputs, const run_program *first, const run_results *first_results,
                 const run_program *second, const run_results *second_results, run_comparison *out);
/* "'out' (set 0 binding 1), element 3, [3].x" */
void run_comparison_place(const run_comparison *c, char *out, size_t capacity);

/* ---- kernel.c ------------------------------------------------------------------------------------------------------------ */

/* The SPIR-V that an input is or is compiled to, in this machine's byte order; nothing of .vir and VIR0. */
VYRE_MUST_USE vyre_status run_words_take(vyre_input_kind kind, const vyre_bytes *file, const char *path,
                                         const vyre_glsl_options *options, vyre_diagnostics diagnostics, vyre_bytes *out);
/* SPIR-V for a target that takes it, unless the program has words or has barriers for the whole grid. */
VYRE_MUST_USE vyre_status run_program_write(run_program *program, const vyre_device_info *info);

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
VYRE_MUST_USE vyre_status run_kernel_describe(const vyre_target_ops *ops, vyre_target *target, const run_program *program,
                                              run_kernel *out);
void run_kernel_free(run_kernel *kernel);

/* ---- figures.c ----------------------------------------------------------------------------------------------------------- */

enum { RUN_COMPILES = 5, RUN_MOST_FIGURES = 128, RUN_FIGURE_NAME = 128 };

typedef struct run_figure {
  char name[RUN_FIGURE_NAME];
  char *text; /* owned; what it is */
  vyre_figure_kind kind;
  uint64_t u64; /* of its kind */
  double f64;
  bool is_true;
} run_figure;

/* What a driver tells of one kernel; zero at first. */
typedef struct run_figures {
  run_figure items[RUN_MOST_FIGURES]; /* of the compilation that was last asked */
  uint32_t count, left_out;
  uint64_t compile_ns[RUN_COMPILES];
  uint32_t compiles;
} run_figures;

/* Before the target is opened, for statistics: from now on drivers find nothing that they kept by themselves. */
void run_figures_begin(void);
/* Compiles it once more; at most RUN_COMPILES times. */
VYRE_MUST_USE vyre_status run_figures_ask(const vyre_target_ops *ops, vyre_target *target, const run_kernel *kernel,
                                          run_figures *out);
/* Each some times, by turns.  A failure's note names the kernel's label and entry. */
VYRE_MUST_USE vyre_status run_figures_ask_all(const vyre_target_ops *ops, vyre_target *target, const run_kernel *const *kernels,
                                              uint32_t count, run_figures *const *out);
/* What compiling took, the median; nanoseconds. */
uint64_t run_figures_median(run_figures *figures);
const run_figure *run_figures_find(const run_figures *figures, const char *name);
double run_figure_number(const run_figure *figure);
void run_figures_free(run_figures *figures);

#endif
