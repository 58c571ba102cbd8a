/* A program as a graph for people to look at.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_REPORT_DOT_H
#define VYRE_CLI_REPORT_DOT_H

#include "vyre/ir.h"

/* Appends all programs of a sealed module in Graphviz' language: rows are nodes, what has rows in it is a box, edges lead from a
 * value to its users. */
VYRE_MUST_USE vyre_status dot_write(const vyre_module *module, vyre_bytes *out);

#endif
