/* Programs as C, compiled and run.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_c.h"

#include "vyre/text.h"

#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

double compile_seconds;

static const char *
text_from_environment(const char *name, const char *fallback)
{
  const char *text = getenv(name);
  return text ? text : fallback;
}

void
assert_ok(vyre_status status, const char *what)
{
  if (status)
    print_error("%s: %s\n", what, vyre_status_text(status));
  assert_null(status);
}

double
seconds_now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void *
compile_c(const vyre_bytes *text, uint32_t number)
{
  char source[64], object[64], command[512];
  const double start = seconds_now();
  snprintf(source, sizeof source, "/tmp/vyre-unit-c-%ld-%u.c", (long)getpid(), number);
  snprintf(object, sizeof object, "/tmp/vyre-unit-c-%ld-%u.so", (long)getpid(), number);
  FILE *file = fopen(source, "w");
  assert_non_null(file);
  assert_int_equal(fwrite(text->data, 1, text->size, file), text->size);
  assert_int_equal(fclose(file), 0);
  snprintf(command, sizeof command,
           "%s -std=c17 -Wall -Wextra -Wconversion -Werror %s -ffp-contract=off -fPIC -shared -o %s %s -lm",
           text_from_environment("VYRE_TEST_CC", VYRE_TEST_CC), text_from_environment("VYRE_TEST_CFLAGS", "-O1"), object, source);
  if (system(command) != 0)
    fail_msg("command failed: %s", command);
  void *library = dlopen(object, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    fail_msg("%s", dlerror());
  if (!getenv("VYRE_TEST_KEEP")) {
    unlink(source);
    unlink(object);
  }
  compile_seconds += seconds_now() - start;
  return library;
}

/* Converts a dispatch's bindings to those of C.  The elements of an array of descriptors are adjacent. */
static void
fill_buffers(const vyre_module *module, const vyre_dispatch *d, vyre_c_buffer *buffers, vyre_c_buffer *elements)
{
  vyre_row row;
  uint32_t used = 0;
  for (uint32_t k = 0; (row = vyre_c_buffer_row(module, d->program, k)).id; k++) {
    const bool several = vyre_buffer_descriptor_steps(module, row.id) != 0;
    const uint32_t first = used;
    for (uint32_t i = 0; i < d->binding_count; i++) {
      const vyre_c_buffer one = {d->bindings[i].data, d->bindings[i].size};
      if (d->bindings[i].buffer.id != row.id)
        continue;
      if (several)
        elements[used++] = one;
      else
        buffers[k] = one;
    }
    if (several)
      buffers[k] = (vyre_c_buffer){&elements[first], used - first};
  }
}

uint32_t
run_c(void *library, const vyre_module *module, const vyre_dispatch *d, bool parts)
{
  vyre_c_buffer buffers[MOST_BUFFERS] = {{0}}, elements[MOST_BUFFERS] = {{0}};
  const uint64_t count = (uint64_t)d->groups[0] * d->groups[1] * d->groups[2];
  const char *name = vyre_row_name(module, d->program);
  program_function function;
  *(void **)&function = dlsym(library, name);
  if (!function)
    fail_msg("there is no %s", name);
  fill_buffers(module, d, buffers, elements);
  const vyre_c_dispatch first = {{d->groups[0], d->groups[1], d->groups[2]}, 0, parts ? 1 : count, buffers};
  const vyre_c_dispatch others = {{d->groups[0], d->groups[1], d->groups[2]}, 1, count - 1, buffers};
  const uint32_t fault = function(&first);
  return fault || !parts ? fault : function(&others);
}

void
print_program(const vyre_module *module, uint32_t program)
{
  vyre_bytes text = {0};
  const vyre_text_options options = {.struct_size = sizeof options, .program = program, .rows = true};
  if (!vyre_text_print(module, &options, &text))
    print_error("%s\n", text.data);
  vyre_bytes_free(&text);
}
