/* Computes the ways by which a phase reaches the rows whose columns it accesses.  The ways are: the phase's own row, over operands,
 * over parents, over both, or from a side column.
 *
 * The memory of the file is storage buffers of KERNEL_MEMORY_SET, with numbers of names as bindings.  A value is the phase's own
 * row if its name begins with KERNEL_OWN_ROW.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CODEGEN_KERNEL_REACH_H
#define VYRE_CODEGEN_KERNEL_REACH_H

#include "kernel.h"
#include "vyre/view.h"

/* A set of ways.  The empty set means row 0, or a value that is not used as a row. */
enum {
  REACH_OWN = 1,
  REACH_OPERANDS = 2,  /* transitive operands of the own row */
  REACH_AROUND = 4,    /* transitive parents of the own row */
  REACH_BOTH = 8,      /* parents of operands, or operands of parents */
  REACH_NAMED = 16,    /* from a side column or an analysis, or an operand of such a row */
  REACH_OPCODE = 32,   /* not a row, but the op of a valid row */
  REACH_ANY = 32 | 64, /* any other value */

  /* Surely a row.  Values of side columns and analyses need not be rows. */
  REACH_SURELY = REACH_OWN | REACH_OPERANDS | REACH_AROUND | REACH_BOTH
};

typedef struct kernel_reach {
  const kernel_file *file;
  const vyre_module *module;
  const vyre_view *v;
  uint32_t program, end; /* the current program; its rows end before `end` */
  uint32_t *ways;        /* by row of the module: for each lane a byte with the ways (REACH_OWN and so on); owned */
  uint32_t rows;
} kernel_reach;

VYRE_MUST_USE vyre_status kernel_reach_create(const kernel_file *file, const vyre_module *module, kernel_reach *out);
void kernel_reach_free(kernel_reach *reach);
/* Finds the ways of the program's rows.  O(rows * ways). */
void kernel_reach_program(kernel_reach *reach, uint32_t program);

/* An access to the file's memory: its name, and the row that computes the index, or 0 if the index is `literal`. */
typedef struct kernel_access {
  const kernel_name *name;
  uint32_t number; /* the number of the name */
  uint32_t index;
  uint64_t literal;
} kernel_access;

/* Stores the access of a load, store or atomic row.  Returns false if the row accesses memory without a name of the file. */
bool kernel_access_of(const kernel_reach *reach, uint32_t row, kernel_access *out);
/* Returns the ways by which the row that the index names is reached. */
uint8_t kernel_ways_of_index(const kernel_reach *reach, const kernel_access *access);
/* Returns the row that computes r of an index r or r * stride + n, or 0 for another index. */
uint32_t kernel_row_of_element(const kernel_reach *reach, uint32_t index, uint32_t stride);
/* Returns whether the name is %a, %b or %c. */
bool kernel_leads_to_operand(const kernel_name *name);
bool kernel_is_own_row(const kernel_reach *reach, uint32_t row);
/* Returns whether the ways prove that the access is in bounds. */
bool kernel_access_is_in_bounds(const kernel_reach *reach, const kernel_access *access);

#endif
