/* Running a program: the description of a dispatch, and the interpreter, which is the reference meaning.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_RUN_H
#define VYRE_RUN_H

#include "vyre/cost.h"
#include "vyre/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vyre_binding {
  vyre_row buffer;  /* a storage, uniform or push buffer of the program */
  void *data;       /* borrowed; laid out as the buffer's type says; NULL: the descriptor is left unbound */
  size_t size;      /* bytes; a runtime array's length follows from it */
  uint32_t element; /* of an array of descriptors, with the last index the fastest; several may have one memory; 0 of any other */
} vyre_binding;

typedef struct vyre_spec_value {
  uint32_t id;
  uint64_t bits;
} vyre_spec_value;

typedef struct vyre_dispatch {
  vyre_row program;
  uint32_t groups[3];
  const vyre_binding *bindings;
  uint32_t binding_count;
  const vyre_spec_value *specs;
  uint32_t spec_count;
  /* Of the grid's workgroups only those from `first` on, `count` of them, numbered with x fastest: not of a program whose
   * workgroups meet at barriers.  0, 0: all. */
  uint64_t first, count;
} vyre_dispatch;

/* The value of a const or spec row, or of pure rows over them, under these specialization values.  False: not constant. */
bool vyre_constant_value(const vyre_module *module, vyre_row row, const vyre_spec_value *specs, uint32_t spec_count, uint64_t *out);
/* The workgroup size under these specialization values. */
bool vyre_workgroup_size(const vyre_module *module, vyre_row program, const vyre_spec_value *specs, uint32_t spec_count,
                         uint32_t out[3]);

typedef struct vyre_interp_options {
  uint64_t steps;                    /* row executions of one invocation before it counts as endless; 0: 2^28 */
  bool report_undefined;             /* stop at an undefined row of a relaxed program */
  uint32_t subgroup;                 /* lanes of a subgroup, a power of two of at most 128; 0: 32 */
  bool check_bounds;                 /* stop at an access out of bounds, of a strict program too */
  bool check_races;                  /* stop at a data race: see below */
  bool weigh;                        /* count the work: */
  const vyre_cost_model *cost_model; /* ... by it.  Borrowed.  NULL: vyre's own */
} vyre_interp_options;

/* A data race: two invocations access the same bytes, one at least writes, not both atomically, and nothing orders the two
 * accesses; or an access meets an async copy that was not waited for.  Invocations of a subgroup or workgroup are ordered by its
 * barriers, all by barriers of the grid, for the memory that a barrier's semantics name; and any by an acquire (of an atomic, or of
 * a barrier after one) that sees a release.
 *
 * What is reported is a race.  Not all races are reported: only accesses of this run are seen; an acquire counts as ordered after
 * all that any invocation did before the release; a memory barrier anywhere in the program lets each barrier of a workgroup or grid
 * order the memory that it names, wherever it is; atomics order whatever their scope; of two atomic writes, or of an atomic
 * and a plain load, by one invocation the earlier may be forgotten; so may readers that only a barrier of their subgroup orders;
 * an invocation that returned counts as having reached the barriers after that, and an inactive lane as having reached those of its
 * subgroup.
 *
 * Memory: 32 bytes a byte that is touched, in blocks of 256 bytes (four times that where the program's types have 8-bit scalars).
 */

typedef struct vyre_interp_stats {
  uint64_t rows; /* row executions, each lane of the mask counted */
  uint64_t work; /* a model: the issue of each row, once for each subgroup that has an active invocation there; 0: not weighed */
} vyre_interp_stats;

/* Runs the grid; the bindings' data are read and written in place.  A buffer that is used and has no binding is an error that
 * names it. What a binding leaves unbound, and elements of an array of descriptors without one, may not be touched: a relaxed
 * program is undefined there; a strict one finds 0 bytes.  An array of descriptors whose length is open ends after its last
 * binding.
 *
 * With report_undefined, workgroup memory that nothing wrote and that has no initializer has no value, nor has unset private
 * memory: a load there gives an undefined value.
 *
 * Errors (INPUT) name the program, the row and its name, its source line if known, and the invocation: a barrier not
 * reached by all, the step budget, a trap; and where the options ask for it an undefined row, an access out of bounds, a data race.
 * stats may be NULL.  The module must be sealed and verified. */
VYRE_MUST_USE vyre_status vyre_interp_run(const vyre_module *module, const vyre_dispatch *dispatch,
                                          const vyre_interp_options *options, vyre_interp_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
