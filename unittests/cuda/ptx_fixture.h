/* Parses and runs PTX texts, for tests of the simulator's PTX.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PTX_FIXTURE_H
#define PTX_FIXTURE_H

#include "ptx.h"

enum { PTX_TEST_MEMORIES = 8 };

/* Device memory, whose address differs from the host's. */
typedef struct ptx_test_memory {
  uint64_t address, size;
  void *data;
  bool is_read_only;
} ptx_test_memory;

typedef struct ptx_test {
  const char *text;
  const ptx_module *module; /* NULL to parse the text */
  const char *kernel;       /* NULL for "k" */
  uint32_t sm;              /* 0 for 100, the device's architecture */
  ptx_test_memory memories[PTX_TEST_MEMORIES];
  unsigned char parameters[512];
  ptx_launch launch; /* a 0 in grid and block counts as 1 */
  /* results */
  char log[256];
  ptx_counts counts;
  ptx_fault fault;
} ptx_test;

/* Returns the device address of memory k. */
uint64_t ptx_test_address(uint32_t k);
/* Adds memory k to the device, and sets parameter k to its address. */
void ptx_test_buffer(ptx_test *test, uint32_t k, void *data, uint64_t size);
/* Parses a text for an architecture, 0 for the device's.  Returns NULL on an error, which is in `log`, of `size` bytes. */
ptx_module *ptx_test_parse(const char *text, uint32_t sm, char *log, size_t size);
/* Parses and runs the text.  Returns false on an error, which is in the log or the fault. */
bool ptx_test_run(ptx_test *test);
/* Asserts that the text runs without a fault. */
void ptx_test_ok(ptx_test *test);
/* Asserts that the text ends with that fault, in that line (0 for any line), and that the fault's text contains `words`. */
void ptx_test_fails(ptx_test *test, ptx_fault_kind kind, uint32_t line, const char *words);
/* Asserts that the text is refused, and that the log contains `words`. */
void ptx_test_refused(const char *text, const char *words);

/* The head of each text. */
#define PTX_HEAD ".version 7.8\n.target sm_75\n.address_size 64\n"

#endif
