/* The parts of a program's run: reflection of buffers, their initial contents, the interpreter, and a comparison of results.  Also
 * the description of the program as a kernel, and a driver's statistics of the kernel.
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

/* NAME=VALUE of an option. */
typedef struct run_setting {
  const char *name; /* not terminated */
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

enum { RUN_ELEMENTS = 1024 }; /* default of `elements` */

/* The settings of a run. */
typedef struct run_setup {
  run_settings buffers, sizes, binds, specs;
  uint64_t seed;     /* seed of the contents of buffers without a setting */
  uint64_t elements; /* number of elements of runtime arrays without a setting */
  bool has_groups;
  uint32_t groups[3];
  uint64_t steps; /* this field and the next six are as in vyre_interp_options */
  uint32_t subgroup;
  bool report_undefined, check_bounds, check_races, weigh;
  uint64_t unset;                    /* as in vyre_interp_options */
  const vyre_cost_model *cost_model; /* borrowed */
  run_tolerance tolerance;
} run_setup;

/* Frees the lists of settings. */
void run_setup_free(run_setup *setup);

/* ---- layout.c: the scalars of a buffer ----------------------------------------------------------------------------------- */

typedef struct run_layout {
  const vyre_module *module;
  const vyre_spec_value *specs; /* borrowed */
  uint32_t spec_count;
} run_layout;

typedef struct run_shape {
  uint64_t fixed;  /* bytes without the runtime array's elements */
  uint64_t offset; /* offset of the runtime array, if there is one */
  uint32_t stride; /* stride of the runtime array, or 0 if there is none */
} run_shape;

/* Returns the length of an array.  Returns 0 for a runtime array, and for a length without a value. */
uint64_t run_layout_length(const run_layout *layout, const vyre_type_info *info);
run_shape run_layout_shape(const run_layout *layout, vyre_type_id type);

/* Visits a scalar.  Returning false stops the walk. */
typedef bool (*run_visit)(void *user, uint64_t index, uint64_t offset, vyre_kind kind);

/* Visits each scalar of the type that is wholly within `size` bytes, with its index from 0.  Returns the number of visited
 * scalars. */
uint64_t run_layout_each(const run_layout *layout, vyre_type_id type, uint64_t size, run_visit visit, void *user);

/* Visits a pointer.  Returning false stops the walk. */
typedef bool (*run_visit_pointer)(void *user, uint64_t offset, vyre_type_id type);

/* Visits each value of an opaque type, such as a pointer, that is wholly within `size` bytes. */
void run_layout_pointers(const run_layout *layout, vyre_type_id type, uint64_t size, run_visit_pointer visit, void *user);

/* Writes the path of the scalar at `offset`, such as "[3].pos.x". */
void run_layout_path(const run_layout *layout, vyre_type_id type, uint64_t offset, char *out, size_t capacity);

uint64_t run_scalar_get(const void *data, vyre_kind kind);
void run_scalar_put(void *data, vyre_kind kind, uint64_t bits);
/* Converts the bits of a float exactly. */
double run_float_value(vyre_kind kind, uint64_t bits);
/* Returns the bits of a value, rounded to nearest even. */
uint64_t run_float_bits(vyre_kind kind, double value);
/* Writes the shortest text that reads back as the same value. */
void run_scalar_print(vyre_kind kind, uint64_t bits, char out[48]);

/* ---- program.c: the program ---------------------------------------------------------------------------------------------- */

/* All buffer rows of one descriptor, which is an element of a (set, binding), or of the push constants.  The data of an image is an
 * array of texels. */
typedef struct run_buffer {
  vyre_space space;
  vyre_slot_kind kind; /* except for push constants */
  uint32_t set, binding;
  uint32_t element;
  bool is_element;   /* the descriptor is an element of an array */
  vyre_image image;  /* for images and texels */
  uint32_t sampler;  /* vyre_sampler */
  vyre_row row;      /* the first buffer row */
  const char *name;  /* name of the row, or "" */
  const char *block; /* name of its struct, or "" */
  vyre_type_id type;
  bool is_writable;
  run_shape shape;           /* its `fixed` is the maximum over all declarations of the descriptor */
  const vyre_module *module; /* borrowed, of the row */
  /* Only for buffers that pointers lead to, which follow all others: */
  char *path, *key; /* owned; "push.next", and a key that finds the buffer in another program; NULL for other buffers */
  uint32_t holder;  /* the first buffer with a pointer to it */
} run_buffer;

enum { RUN_BINDINGS_APART = 512 }; /* distance to the next binding for a declaration that cannot share a descriptor */
enum { RUN_OPEN_DESCRIPTORS = 4 }; /* elements of a runtime array of descriptors */

/* A pointer in a buffer, and the buffer that it leads to. */
typedef struct run_pointer {
  uint32_t holder, target; /* indices in the program's buffers */
  uint64_t offset;
} run_pointer;

typedef struct run_program {
  const char *path;    /* borrowed */
  vyre_module *module; /* owned */
  vyre_bytes words;    /* SPIR-V for the driver: the input itself, or the output of vyre */
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

/* Fills in all fields except path, module, row and words, of which the first three must be set.  With `has_specs`, each
 * specialization constant of the setup must exist. */
VYRE_MUST_USE vyre_status run_program_reflect(run_program *program, const run_setup *setup, bool has_specs);
/* Returns the name of the program for -entry. */
const char *run_entry_name(const vyre_module *module, vyre_row row);
void run_program_free(run_program *program);
run_layout run_program_layout(const run_program *program);
/* Writes a description of the buffer, such as "'x' (set 0 binding 1)". */
void run_buffer_describe(const run_buffer *buffer, char *out, size_t capacity);
/* Writes the shortest name of the buffer that options accept, such as "x", "maps[2]", "0.1" or "push". */
void run_buffer_name(const run_buffer *buffer, char *out, size_t capacity);
/* Returns whether the buffer has the name.  All elements of an array have the array's name. */
bool run_buffer_is(const run_buffer *buffer, const char *name, size_t length);
/* Returns the last setting for the buffer, or NULL if there is none. */
const run_setting *run_setting_find(const run_settings *settings, const run_buffer *buffer);
/* Returns whether the buffers of two programs are the same descriptor or have the same key. */
bool run_buffer_same(const run_buffer *a, const run_buffer *b);

/* ---- images.c ------------------------------------------------------------------------------------------------------------ */

/* Returns whether the buffer is an image or a texel buffer, whose size is not in its type. */
static inline bool
run_buffer_is_image(const run_buffer *buffer)
{
  return buffer->kind >= VYRE_SLOT_STORAGE_TEXELS && buffer->kind <= VYRE_SLOT_COMBINED;
}

/* Sets the kind, image and sampler of the handle in out->row, by its type and its uses. */
VYRE_MUST_USE vyre_status run_handle_resolve(const run_program *program, vyre_type_id type, run_buffer *out);
/* Sets the image's extent, by -size or the defaults, and the type of its texels in memory. */
VYRE_MUST_USE vyre_status run_image_size(run_program *program, const run_setup *setup, run_buffer *buffer);

/* ---- pointers.c ---------------------------------------------------------------------------------------------------------- */

/* Returns the type that a pointer of that type leads to, or 0 if it is not an address of a buffer. */
vyre_type_id run_pointee(const vyre_module *module, vyre_type_id type);
/* As run_layout_shape, but a runtime array with pointers gets a fixed length. */
run_shape run_buffer_shape(const run_layout *layout, vyre_type_id type);
/* Adds the pointers in the program's buffers, and the buffers that they lead to. */
VYRE_MUST_USE vyre_status run_pointers_add(run_program *program);

/* ---- data.c: the initial contents of buffers ----------------------------------------------------------------------------- */

typedef struct run_data {
  const run_program *program; /* the program with the layout */
  const run_buffer *buffer;
  size_t size;
  unsigned char *initial; /* owned */
} run_data;

typedef struct run_inputs {
  run_data *items;
  uint32_t count;
  uint32_t groups[3];
} run_inputs;

/* Makes data for the buffers of `first`, and for those that only `second` has, which may be NULL. */
VYRE_MUST_USE vyre_status run_inputs_make(const run_setup *setup, const run_program *first, const run_program *second,
                                          run_inputs *out);
/* Returns the index of a buffer's data, which must exist. */
uint32_t run_inputs_find(const run_inputs *inputs, const run_buffer *buffer);
/* Returns an error of code USAGE if a setting has no buffer, or with `is_one` several.  `option` is its name for the message. */
VYRE_MUST_USE vyre_status run_inputs_check(const run_inputs *inputs, const run_settings *settings, const char *option, bool is_one);
void run_inputs_free(run_inputs *inputs);

/* ---- interpret.c --------------------------------------------------------------------------------------------------------- */

/* The contents of each input after the run.  Inputs that the program does not have are unchanged. */
typedef struct run_results {
  unsigned char **items;
  uint32_t count;
} run_results;

/* Copies the initial contents. */
VYRE_MUST_USE vyre_status run_results_copy(const run_inputs *inputs, run_results *out);
void run_results_free(run_results *results);
/* Returns an error of code INPUT with a `fix` if the program has images, samplers or addresses, which the interpreter does not
 * support. */
VYRE_MUST_USE vyre_status run_check_plain(const run_program *program, const char *fix);
/* Runs the program on the interpreter, with `results` as the memory of buffers.  stats may be NULL. */
VYRE_MUST_USE vyre_status run_interpret(const run_setup *setup, const run_program *program, const run_inputs *inputs,
                                        run_results *results, vyre_interp_stats *stats);

/* ---- compare.c ----------------------------------------------------------------------------------------------------------- */

typedef struct run_comparison {
  run_tolerance tolerance;
  uint32_t buffers;                      /* buffers that a program may write */
  uint64_t elements, differing, changed; /* all elements; those that differ; those that the first program changed */
  double largest;                        /* largest difference within the tolerance */
  const run_data *where;                 /* buffer of the first difference, or NULL; the next fields describe the element */
  uint64_t index, offset, first_bits, second_bits;
  vyre_kind kind;
} run_comparison;

/* Compares scalars bit for bit or within the setup's tolerance.  All NaNs are equal.  Padding is not compared. */
void run_compare(const run_setup *setup, const run_inputs *inputs, const run_program *first, const run_results *first_results,
                 const run_program *second, const run_results *second_results, run_comparison *out);
/* Writes the place of the first difference, such as "'out' (set 0 binding 1), element 3, [3].x". */
void run_comparison_place(const run_comparison *c, char *out, size_t capacity);

/* ---- kernel.c ------------------------------------------------------------------------------------------------------------ */

/* Appends the SPIR-V that an input is or is compiled to, in the byte order of the host.  Appends nothing for .vir and VIR0. */
VYRE_MUST_USE vyre_status run_words_read(vyre_input_kind kind, const vyre_bytes *file, const char *path,
                                         const vyre_glsl_options *options, vyre_diagnostics diagnostics, vyre_bytes *out);
/* Writes SPIR-V for a target that accepts it, unless the program has words or has barriers for the whole grid. */
VYRE_MUST_USE vyre_status run_program_write(run_program *program, const vyre_device_info *info);

/* A program's kernel for a target to compile.  Lists belong to the kernel, words and names to the program. */
typedef struct run_kernel {
  vyre_kernel_desc desc;
  vyre_kernel_slot *slots; /* owned, as all lists are */
  vyre_image *images;      /* one for each descriptor */
  vyre_kernel_spec *specs;
  uint32_t *ranges; /* the program's buffer for each range of a step */
  uint32_t slot_count, descriptor_count, range_count;
  vyre_kernel_program vir; /* code of form VIR */
  vyre_bytes ptx;          /* code of form PTX; owned */
} run_kernel;

/* Describes the program as a kernel.  *out must not be moved, because the description points into it.  Call run_kernel_free after a
 * failure, too. */
VYRE_MUST_USE vyre_status run_kernel_describe(const vyre_target_ops *ops, vyre_target *target, const run_program *program,
                                              run_kernel *out);
void run_kernel_free(run_kernel *kernel);

/* ---- figures.c ----------------------------------------------------------------------------------------------------------- */

enum { RUN_COMPILES = 5, RUN_MOST_FIGURES = 128, RUN_FIGURE_NAME = 128 };

typedef struct run_figure {
  char name[RUN_FIGURE_NAME];
  char *text; /* owned; a description */
  vyre_figure_kind kind;
  uint64_t u64; /* the value, in the field of the kind */
  double f64;
  bool is_true;
} run_figure;

/* A driver's statistics of one kernel.  Initialize the struct with zeros. */
typedef struct run_figures {
  run_figure items[RUN_MOST_FIGURES]; /* figures of the last compilation */
  uint32_t count, left_out;
  uint64_t compile_ns[RUN_COMPILES];
  uint32_t compiles;
} run_figures;

/* Disables the drivers' own caches of compiled code.  Call it before the target is opened. */
void run_figures_begin(void);
/* Compiles the kernel and reads its statistics.  May be called RUN_COMPILES times. */
VYRE_MUST_USE vyre_status run_figures_query(const vyre_target_ops *ops, vyre_target *target, const run_kernel *kernel,
                                            run_figures *out);
/* Compiles the kernels by turns, each several times.  The note of an error has the kernel's label and entry. */
VYRE_MUST_USE vyre_status run_figures_query_all(const vyre_target_ops *ops, vyre_target *target, const run_kernel *const *kernels,
                                                uint32_t count, run_figures *const *out);
/* Returns the median time of a compilation, in nanoseconds. */
uint64_t run_figures_median(run_figures *figures);
const run_figure *run_figures_find(const run_figures *figures, const char *name);
double run_figure_number(const run_figure *figure);
void run_figures_free(run_figures *figures);

#endif
