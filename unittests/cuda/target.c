/* What tests of the CUDA target share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test_allocator.h"
#include "target.h"

#include "bundle.h"
#include "messages.h"

#include <dlfcn.h>

test_simulator sim;

static const vyre_target_ops *const ops = &vyre_target_cuda;
static test_memory memory; /* of the target */

static bool
find(void *library, const char *name, void *out)
{
  void *symbol = dlsym(library, name);
  memcpy(out, &symbol, sizeof symbol);
  return symbol != NULL;
}

int
test_find_simulator(void **state)
{
  (void)state;
  void *library = dlopen(test_file(SIMULATOR), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    print_error("%s\n", dlerror());
  return library && find(library, "vyre_cuda_sim_fail", &sim.make_fail) &&
                 find(library, "vyre_cuda_sim_has_failed", &sim.has_failed) && find(library, "vyre_cuda_sim_count", &sim.count) &&
                 find(library, "vyre_cuda_sim_messages", &sim.messages) && find(library, "vyre_cuda_sim_clear", &sim.clear)
             ? 0
             : -1;
}

void
test_ok(vyre_status status)
{
  if (status)
    print_error("%s\n", vyre_status_text(status));
  assert_null(status);
}

void
test_refused(vyre_status status, const char *word)
{
  const char *text = vyre_status_text(status);
  if (!status || strncmp(text, "cuda: ", 6) != 0 || !strstr(text, word) || !has_fix(text))
    fail_msg("'%s' was to be said, and this was: %s", word, text);
  vyre_status_free(status);
}

vyre_target *
test_open(const vyre_target_options *options)
{
  vyre_target_options own = options ? *options : (vyre_target_options){0};
  const vyre_allocator allocator = test_allocator(&memory, 0);
  vyre_target *target;
  own.library = test_file(SIMULATOR);
  sim.clear();
  test_ok(ops->open(&own, &allocator, &target));
  return target;
}

void
test_close(vyre_target *target)
{
  test_ok(ops->close(target));
  assert_int_equal(memory.out, 0);
  assert_string_equal(sim.messages(), "");
}

vyre_kernel
test_compile(vyre_target *target, test_kernel kernel)
{
  vyre_kernel made;
  test_ok(ops->supports(target, test_kernel_desc(kernel)));
  test_ok(ops->compile(target, test_kernel_desc(kernel), &made));
  return made;
}

vyre_device_buffer
test_buffer(vyre_target *target, uint32_t words, uint32_t value)
{
  vyre_device_buffer buffer;
  test_ok(ops->allocate(target, words * sizeof value, &buffer));
  const vyre_fill fill = {{buffer, 0, 0}, value};
  test_ok(ops->submit(target, &(vyre_sequence){.fills = &fill, .fill_count = 1}, NULL));
  return buffer;
}

vyre_range
test_range(vyre_device_buffer buffer)
{
  return (vyre_range){buffer, 0, 0};
}

vyre_range
test_words(vyre_device_buffer buffer, uint32_t first, uint32_t count)
{
  return (vyre_range){buffer, first * sizeof(uint32_t), count * sizeof(uint32_t)};
}

typedef struct asked {
  const char *name;
  uint64_t value;
  bool is_found;
} asked;

static void
take_metric(void *user, const char *name, uint64_t value)
{
  asked *a = user;
  if (strcmp(name, a->name) == 0)
    *a = (asked){name, value, true};
}

uint64_t
test_metric(const vyre_target *target, const char *name)
{
  asked a = {.name = name};
  ops->metrics(target, take_metric, &a);
  if (!a.is_found)
    fail_msg("there is no counter '%s'", name);
  return a.value;
}

vyre_step
test_step(vyre_kernel kernel, const vyre_range *range, uint32_t groups, const uint32_t *push)
{
  return (vyre_step){
      .kernel = kernel, .buffers = range, .buffer_count = 1, .push = push, .push_size = push ? 4 : 0, .groups = {groups, 1, 1}};
}

vyre_status
test_run_wild(vyre_target *target)
{
  const uint64_t nowhere = 0x1000;
  const vyre_range range = test_range(test_buffer(target, 16, 0));
  const vyre_kernel wild = test_compile(target, TEST_WILD);
  const vyre_step step = {
      .kernel = wild, .buffers = &range, .buffer_count = 1, .push = &nowhere, .push_size = sizeof nowhere, .groups = {1, 1, 1}};
  return ops->submit(target, &(vyre_sequence){.steps = &step, .step_count = 1}, NULL);
}
