/* Runs PTX texts: what the tests of the simulator's PTX share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PTX_FIXTURE_H
#define PTX_FIXTURE_H

#include "ptx.h"

enum { PTX_TEST_MEMORIES = 8 };

/* Memory of the device's at an address that is not the host's. */
typedef struct ptx_test_memory {
  uint64_t address, size;
  void *data;
  bool is_read_only;
} ptx_test_memory;

typedef struct ptx_test {
  const char *text;
  const ptx_module *module; /* NULL: the text is parsed */
  const char *kernel;       /* NULL: "k" */
  uint32_t sm;              /* 0: 100, the device's */
  ptx_test_memory memories[PTX_TEST_MEMORIES];
  unsigned char parameters[512];
  ptx_launch launch; /* what is 0 in grid and block is 1 */
  /* out */
  char log[256];
  ptx_counts counts;
  ptx_fault fault;
} ptx_test;

/* The address of memory k, which the kernel is given as a parameter. */
uint64_t ptx_test_address(uint32_t k);
/* Gives the kernel memory as its parameter of that number, and of the test's memories. */
void ptx_test_buffer(ptx_test *test, uint32_t k, void *data, uint64_t size);
/* For an architecture, 0 as above.  NULL: the log, of `size` bytes, says why. */
ptx_module *ptx_test_parse(const char *text, uint32_t sm, char *log, size_t size);
/* Parses and runs.  False: the log or the fault says why. */
bool ptx_test_run(ptx_test *test);
/* Must run without a fault. */
void ptx_test_ok(ptx_test *test);
/* Must end with that fault, in that line of the text (0: in any), with `words` in its text. */
void ptx_test_fails(ptx_test *test, ptx_fault_kind kind, uint32_t line, const char *words);
/* Must be refused, with `words` in the log. */
void ptx_test_refused(const char *text, const char *words);

/* The head of every text. */
#define PTX_HEAD ".version 7.8\n.target sm_75\n.address_size 64\n"

#endif
