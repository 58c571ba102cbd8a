/* Running a program: the description of a dispatch, and the interpreter, which defines the meaning of programs.
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
  void *data;       /* borrowed, in the layout of the buffer's type; NULL leaves the descriptor unbound */
  size_t size;      /* in bytes; determines a runtime array's length */
  uint32_t element; /* array of descriptors: index, the last dimension fastest; several elements may share memory; otherwise 0 */
} vyre_binding;

typedef struct vyre_spec_value {
  uint32_t id;
  uint64_t bits;
} vyre_spec_value;

/* Returns the first specialization constant of a program after the row `after` (0: of all) that has this name or this id, or 0. The
 * name is not terminated. */
uint32_t vyre_spec_find(const vyre_module *module, uint32_t program, uint32_t after, const char *name, size_t length);
/* Converts the text of a value: a decimal number, which may begin with zeros, a hexadecimal number after 0x, inf, nan, true or
 * false. Returns false if the text is not a value of that kind, or if a finite number is out of the kind's range. */
bool vyre_scalar_parse(const char *text, size_t length, vyre_kind kind, uint64_t *out);
/* Returns the values of a kind, for messages: "a number from -128 to 127". */
const char *vyre_scalar_range(vyre_kind kind);

/* Values of specialization constants: "NAME=VALUE" or "ID=VALUE", with a VALUE for vyre_scalar_parse. All is borrowed. */
typedef struct vyre_specialization {
  const char *const *values; /* the module must have each of these constants */
  uint32_t count;
  const char *const *optional; /* the module may lack these constants; `values` override them */
  uint32_t optional_count;
  bool freeze; /* makes all specialization constants ordinary constants */
} vyre_specialization;

/* Sets the defaults of specialization constants in all programs. The module is sealed before and after. `path` is for messages.
 * Returns INPUT if the module lacks a constant of `values`, if a value does not fit its type, or if a part of the module is not
 * converted. After an error the module may only be cleared or destroyed. O(rows). */
VYRE_MUST_USE vyre_status vyre_module_specialize(vyre_module *module, const vyre_specialization *values, const char *path);

typedef struct vyre_dispatch {
  vyre_row program;
  uint32_t groups[3];
  const vyre_binding *bindings;
  uint32_t binding_count;
  const vyre_spec_value *specs;
  uint32_t spec_count;
  /* Runs only `count` workgroups from number `first` on, numbered with x fastest. Not for programs with barriers for the whole
   * grid. 0, 0 means all. */
  uint64_t first, count;
} vyre_dispatch;

/* Computes a const or spec row, or pure rows over them, for these specialization values. Returns false if the row is not
 * constant. */
bool vyre_constant_value(const vyre_module *module, vyre_row row, const vyre_spec_value *specs, uint32_t spec_count, uint64_t *out);
/* Computes the workgroup size for these specialization values. Returns false if it is not constant. */
bool vyre_workgroup_size(const vyre_module *module, vyre_row program, const vyre_spec_value *specs, uint32_t spec_count,
                         uint32_t out[3]);

typedef struct vyre_interp_options {
  size_t struct_size;                /* sizeof(vyre_interp_options) */
  uint64_t steps;                    /* most row executions of one invocation, after which it counts as endless; 0 for 2^28 */
  bool report_undefined;             /* stop at an undefined row of a relaxed program */
  uint32_t subgroup;                 /* lanes of a subgroup, a power of two up to 128, or 0 for 32 */
  bool check_bounds;                 /* stop at an access out of bounds, in strict programs too */
  bool check_races;                  /* stop at a data race: see below */
  bool weigh;                        /* count the work */
  const vyre_cost_model *cost_model; /* for `weigh`; borrowed, NULL for vyre's own */
  uint64_t unset;                    /* the initial bits of each lane of an unset var, of which a lane has the lowest */
} vyre_interp_options;

/* A data race: two invocations access the same bytes, at least one of them writes, not both accesses are atomic, and nothing orders
 * them. An access during an async copy that was not waited for is a race, too. The barriers of a subgroup or workgroup order its
 * invocations, and grid barriers order all, for the memory that a barrier's semantics name. An acquire (of an atomic, or of a
 * barrier after one) that sees a release orders any two.
 *
 * Every reported race is a race, but not all races are reported:
 * - Only accesses of this run are seen.
 * - An acquire counts as ordered after everything that any invocation did before the release.
 * - A memory barrier anywhere in the program makes every workgroup or grid barrier order the memory that it names.
 * - Atomics order regardless of their scope.
 * - Of two atomic writes, or of an atomic and a plain load, by one invocation, the earlier may be forgotten. So may readers that
 *   only a barrier of their subgroup orders.
 * - An invocation that returned counts as having reached all later barriers, and an inactive lane those of its subgroup.
 *
 * Memory: 32 bytes for each byte that is accessed, in blocks of 256 bytes (four times that if the program's types have 8-bit
 * scalars). */

typedef struct vyre_interp_stats {
  uint64_t rows; /* row executions, one for each active lane */
  uint64_t work; /* issue cost of each row, once for each subgroup with an active invocation; 0 without `weigh` */
} vyre_interp_stats;

/* Runs the grid. Reads and writes the bindings' data in place. A used buffer without a binding is an error that names it. An
 * unbound descriptor, or an element of an array of descriptors without a binding, has 0 bytes in a strict program; accessing it is
 * undefined in a relaxed one. An array of descriptors with an open length ends after its last binding.
 *
 * With report_undefined, workgroup memory without initializer and unset private memory have no value until they are written; loads
 * from them give undefined values.
 *
 * Errors (INPUT) name the program, the row and its name, its source line if known, and the invocation. They are a barrier that not
 * all invocations reach, too many steps, and a trap. Options add undefined rows, accesses out of bounds and data races. stats may
 * be NULL. The module must be sealed and verified. */
VYRE_MUST_USE vyre_status vyre_interp_run(const vyre_module *module, const vyre_dispatch *dispatch,
                                          const vyre_interp_options *options, vyre_interp_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
