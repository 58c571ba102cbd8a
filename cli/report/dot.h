/* Programs as graphs for Graphviz.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_REPORT_DOT_H
#define VYRE_CLI_REPORT_DOT_H

#include "vyre/ir.h"

/* Appends all programs of a sealed module in the language of Graphviz.  Rows are nodes, a row with children is a box, and edges
 * lead from a value to its users. */
VYRE_MUST_USE vyre_status dot_write(const vyre_module *module, vyre_bytes *out);

#endif
