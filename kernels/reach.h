/* How the programs around phases reach the rows whose columns they access: as the row at hand, over operands, over parents, over
 * both, or from a side column.
 *
 * The file's memory are storage buffers of set 1, with names' numbers as bindings.  A row at hand is a row whose name begins with
 * KERNEL_OWN_ROW.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CODEGEN_KERNEL_REACH_H
#define VYRE_CODEGEN_KERNEL_REACH_H

#include "kernel.h"
#include "vyre/view.h"

/* A set of ways.  None: it is row 0, or no row at all that is used as one. */
enum {
  REACH_OWN = 1,
  REACH_OPERANDS = 2,  /* operands of the row at hand, and of those */
  REACH_AROUND = 4,    /* the row's parent, and parents of that */
  REACH_BOTH = 8,      /* parents of operands, and the other way round */
  REACH_NAMED = 16,    /* a side column or an analysis says so, or an operand of such a row */
  REACH_OPCODE = 32,   /* no row, but the number of an op: of a row that is surely one */
  REACH_ANY = 32 | 64, /* anything else */

  /* It is a row: what side columns and analyses hold may be none. */
  REACH_SURELY = REACH_OWN | REACH_OPERANDS | REACH_AROUND | REACH_BOTH
};

typedef struct kernel_reach {
  const kernel_file *file;
  const vyre_module *module;
  const vyre_view *v;
  uint32_t program, end; /* of the one at hand: its rows end before `end` */
  uint32_t *ways;        /* by row of the module: a byte a lane; owned */
  uint32_t rows;
} kernel_reach;

VYRE_MUST_USE vyre_status kernel_reach_create(const kernel_file *file, const vyre_module *module, kernel_reach *out);
void kernel_reach_free(kernel_reach *reach);
/* Of the program's rows.  O(rows * ways). */
void kernel_reach_program(kernel_reach *reach, uint32_t program);

/* An access to the file's memory: whose it is, and the row that computes the index; 0: that is `literal`. */
typedef struct kernel_access {
  const kernel_name *name;
  uint32_t number; /* of the name */
  uint32_t index;
  uint64_t literal;
} kernel_access;

/* Of a load, store or atomic row.  False: it is other memory. */
bool kernel_access_of(const kernel_reach *reach, uint32_t row, kernel_access *out);
/* Ways of the row that the index is. */
uint8_t kernel_ways_of_index(const kernel_reach *reach, const kernel_access *access);
/* What computes the row of an element of `stride`, as r, or r * stride + n; 0: the index is none such. */
uint32_t kernel_row_of_element(const kernel_reach *reach, uint32_t index, uint32_t stride);
/* %a, %b or %c. */
bool kernel_leads_to_operand(const kernel_name *name);
bool kernel_is_own_row(const kernel_reach *reach, uint32_t row);
/* Whether that alone says that the access is in bounds. */
bool kernel_access_is_in_bounds(const kernel_reach *reach, const kernel_access *access);

#endif
