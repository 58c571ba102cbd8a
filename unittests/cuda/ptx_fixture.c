/* Implements ptx_fixture.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "ptx_fixture.h"

enum { NEWEST_SM = 100, NEWEST_VERSION = 90 };

uint64_t
ptx_test_address(uint32_t k)
{
  return UINT64_C(0x700000000) + k * UINT64_C(0x10000000);
}

void
ptx_test_buffer(ptx_test *test, uint32_t k, void *data, uint64_t size)
{
  const uint64_t address = ptx_test_address(k);
  test->memories[k] = (ptx_test_memory){address, size, data, false};
  memcpy(test->parameters + 8 * k, &address, 8);
}

static void *
find(void *user, uint64_t address, uint64_t size, bool is_write)
{
  const ptx_test *test = user;
  for (uint32_t k = 0; k < PTX_TEST_MEMORIES; k++) {
    const ptx_test_memory *m = &test->memories[k];
    if (address >= m->address && address - m->address <= m->size && m->size - (address - m->address) >= size &&
        !(is_write && m->is_read_only))
      return (char *)m->data + (address - m->address);
  }
  return NULL;
}

/* Adds memory for the module's variables.  Returns false if there are more than `room`. */
static bool
add_globals(ptx_test *test, const ptx_module *module, uint64_t *addresses, uint32_t room)
{
  const uint32_t count = ptx_global_count(module);
  if (count > room)
    return false;
  for (uint32_t i = 0; i < count; i++) {
    const ptx_global *g = ptx_global_get(module, i);
    uint32_t k = PTX_TEST_MEMORIES - 1 - i;
    addresses[i] = ptx_test_address(k);
    test->memories[k] = (ptx_test_memory){addresses[i], g->size, calloc(1, g->size + 1), g->is_const};
    if (g->initial)
      memcpy(test->memories[k].data, g->initial, g->size);
  }
  return true;
}

ptx_module *
ptx_test_parse(const char *text, uint32_t sm, char *log, size_t size)
{
  return ptx_module_parse(text, strlen(text), sm ? sm : NEWEST_SM, NEWEST_VERSION, log, size);
}

bool
ptx_test_run(ptx_test *test)
{
  uint64_t addresses[4];
  ptx_module *own = test->module ? NULL : ptx_test_parse(test->text, test->sm, test->log, sizeof test->log);
  const ptx_module *module = own ? own : test->module;
  if (!module)
    return false;
  const ptx_kernel *kernel = ptx_kernel_find(module, test->kernel ? test->kernel : "k");
  assert_non_null(kernel);
  assert_true(add_globals(test, module, addresses, 4));
  test->launch.kernel = kernel;
  test->launch.parameters = test->parameters;
  test->launch.memory = (ptx_memory){.user = test, .find = find, .globals = addresses};
  for (uint32_t i = 0; i < 3; i++) {
    test->launch.grid[i] += !test->launch.grid[i];
    test->launch.block[i] += !test->launch.block[i];
  }
  const bool is_good = ptx_run(&test->launch, &test->counts, &test->fault);
  for (uint32_t i = 0; i < ptx_global_count(module); i++)
    free(test->memories[PTX_TEST_MEMORIES - 1 - i].data);
  ptx_module_free(own);
  return is_good;
}

void
ptx_test_ok(ptx_test *test)
{
  if (!ptx_test_run(test))
    fail_msg("refused: '%s', or fault %d in line %u: '%s', thread %u, address 0x%llx", test->log, (int)test->fault.kind,
             test->fault.line, test->fault.text, test->fault.thread[0], (unsigned long long)test->fault.address);
}

void
ptx_test_fails(ptx_test *test, ptx_fault_kind kind, uint32_t line, const char *words)
{
  assert_false(ptx_test_run(test));
  if (test->fault.kind != kind || (line && test->fault.line != line) || !strstr(test->fault.text, words))
    fail_msg("refused: '%s', or fault %d in line %u: '%s', not %d in line %u with '%s'", test->log, (int)test->fault.kind,
             test->fault.line, test->fault.text, (int)kind, line, words);
}

void
ptx_test_refused(const char *text, const char *words)
{
  char log[256];
  ptx_module *module = ptx_test_parse(text, 0, log, sizeof log);
  if (module || !strstr(log, words))
    fail_msg("'%s' is not in '%s', of:\n%s", words, module ? "(accepted)" : log, text);
  ptx_module_free(module);
}
