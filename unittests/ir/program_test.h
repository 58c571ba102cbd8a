/* A module for each test: MODULE_TEST defines a test of the empty module `m`, PROGRAM_TEST one of a module that has the empty
 * program `program`, to which `b` appends rows.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_PROGRAM_TEST_H
#define VYRE_IR_PROGRAM_TEST_H

#include "ir_test.h"

#define MODULE_TEST(name)  TEST_WITH(name, make_module, end_module)
#define PROGRAM_TEST(name) TEST_WITH(name, make_program, end_module)

static vyre_module *m;
static const vyre_view *v;
static vyre_builder b;
static vyre_row program;

static inline int
make_module(void **state)
{
  (void)state;
  m = new_module();
  v = vyre_module_view(m);
  return 0;
}

static inline int
make_program(void **state)
{
  make_module(state);
  program = vyre_build_program(m, "p", VYRE_PROGRAM_RELAXED, 0, &b);
  return 0;
}

static int
end_module(void **state)
{
  (void)state;
  vyre_module_destroy(m);
  return 0;
}

/* Seals the module and sets `b` to append to the first program.  `map` may be NULL. */
static inline void
seal(uint32_t *map)
{
  assert_ok(vyre_module_seal(m, map));
  b = (vyre_builder){.module = m};
  vyre_builder_at_end(&b, row_of(1));
}

#endif
