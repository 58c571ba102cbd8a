/* Structs of options of programs that were compiled with other headers, for each public function that reads one.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../module.h"
#include "../status.h"

#include <limits.h>

#include "vyre/megakernel_io.h"
#include "vyre/vyre.h"

static const char text[] = "program @main workgroup(1, 1, 1) {\n}\n";

static vyre_module *module;
static vyre_registry *registry;
static vyre_pipeline *pipeline;
static vyre_target *target;
static vyre_mega *mega;

static int
set_up(void **state)
{
  const vyre_mega_options options = {.struct_size = sizeof options, .slots = 16};
  (void)state;
  module = parse(text);
  assert_ok(vyre_module_seal(module, NULL));
  assert_ok(vyre_registry_create(NULL, &registry));
  assert_ok(vyre_pipeline_parse(registry, "verify", 6, "passes", &pipeline));
  assert_ok(vyre_target_cpu.open(NULL, NULL, &target));
  assert_ok(vyre_mega_create(&vyre_target_cpu, target, &options, &mega));
  return 0;
}

static int
tear_down(void **state)
{
  (void)state;
  vyre_optimize_end();
  assert_ok(vyre_mega_destroy(mega));
  assert_ok(vyre_target_cpu.close(target));
  vyre_pipeline_destroy(pipeline);
  vyre_registry_destroy(registry);
  vyre_module_destroy(module);
  return 0;
}

/* ---- the functions --------------------------------------------------------------------------------------------------------- */

/* Defines a function that calls a public function with options, and discards the output. */
#define WRITER(name, expr)               \
  static vyre_status name(const void *o) \
  {                                      \
    vyre_bytes out = {0};                \
    vyre_status status = expr;           \
    vyre_bytes_free(&out);               \
    return status;                       \
  }

WRITER(write_c, vyre_c_write(module, VYRE_NONE, o, &out))
WRITER(write_ptx, vyre_ptx_write(module, VYRE_NONE, o, &out))
WRITER(write_spirv, vyre_spirv_write(module, 0, o, &out))
WRITER(print_text, vyre_text_print(module, o, &out))
WRITER(print_schedule, vyre_pipeline_print_schedule(pipeline, o, &out))
WRITER(optimize, vyre_optimize(o, text, sizeof text - 1, &out))
/* The next two are refused after their options are read, without a process. */
WRITER(write_cross, vyre_cross_write("", 0, "none", o, &out))
WRITER(compile, vyre_glsl_compile("", (size_t)INT_MAX + 1, "long", o, (vyre_diagnostics){0}, &out))

static vyre_status
read_input(const void *o)
{
  vyre_module *made = new_module();
  vyre_input_kind kind;
  vyre_status status = vyre_input_parse(made, "test.vir", text, sizeof text - 1, o, (vyre_diagnostics){0}, &kind);
  vyre_module_destroy(made);
  return status;
}

static vyre_status
run_pipeline(const void *o)
{
  return vyre_pipeline_run(pipeline, module, o);
}

static vyre_status
check_module(const void *o)
{
  return vyre_module_check(module, o);
}

static vyre_status
interpret(const void *o)
{
  const vyre_dispatch dispatch = {.program = {vyre_module_view(module)->first[0]}, .groups = {1, 1, 1}};
  return vyre_interp_run(module, &dispatch, o, NULL);
}

static vyre_status
open_target(const void *o)
{
  vyre_target *opened;
  vyre_status status = vyre_target_cpu.open(o, NULL, &opened);
  return status ? status : vyre_target_cpu.close(opened);
}

static vyre_status
open_device(const void *o)
{
  vyre_device *device;
  vyre_status status = vyre_device_open(&vyre_target_cpu, o, NULL, &device);
  return status ? status : vyre_device_close(device);
}

static vyre_status
create_mega(const void *o)
{
  vyre_mega *made;
  vyre_status status = vyre_mega_create(&vyre_target_cpu, target, o, &made);
  return status ? status : vyre_mega_destroy(made);
}

/* Is refused after its options are read, because the build of `mega` is not persistent. */
static vyre_status
start_live(const void *o)
{
  vyre_mega_live *live;
  return vyre_mega_live_start(mega, o, &live);
}

static vyre_status
start_pump(const void *o)
{
  static uint32_t queue[VYRE_MEGA_IO_SLOTS * VYRE_MEGA_IO_WORDS];
  vyre_mega_pump *pump;
  vyre_status status = vyre_mega_pump_start(queue, sizeof queue, o, &pump);
  if (!status)
    vyre_mega_pump_stop(pump, NULL);
  return status;
}

static const struct function {
  const char *name; /* of the struct */
  size_t size;
  vyre_status (*call)(const void *options);
} functions[] = {
#define READS(type, call)     \
  {                           \
#type, sizeof(type), call \
  }
    READS(vyre_c_options, write_c),
    READS(vyre_cross_options, write_cross),
    READS(vyre_glsl_options, compile),
    READS(vyre_glsl_options, read_input),
    READS(vyre_interp_options, interpret),
    READS(vyre_mega_live_options, start_live),
    READS(vyre_mega_options, create_mega),
    READS(vyre_mega_pump_options, start_pump),
    READS(vyre_optimize_options, optimize),
    READS(vyre_pipeline_options, check_module),
    READS(vyre_pipeline_options, run_pipeline),
    READS(vyre_ptx_options, write_ptx),
    READS(vyre_schedule_options, print_schedule),
    READS(vyre_spirv_options, write_spirv),
    READS(vyre_target_options, open_device),
    READS(vyre_target_options, open_target),
    READS(vyre_text_options, print_text),
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* ---- the tests ------------------------------------------------------------------------------------------------------------- */

enum { ADDED = 64 }; /* bytes of fields of a newer version */

/* Asserts that the function does the same as with a complete struct of default options. */
static void
assert_defaults(const struct function *f, const void *options)
{
  unsigned char complete[512] = {0};
  assert_true(f->size <= sizeof complete);
  memcpy(complete, &f->size, sizeof f->size);
  vyre_status expected = f->call(complete), status = f->call(options);
  assert_string_equal(vyre_status_text(status), vyre_status_text(expected));
  assert_null(strstr(vyre_status_text(expected), "struct_size"));
  vyre_status_free(expected);
  vyre_status_free(status);
}

/* Returns a struct of zeros with that struct_size, in a block of as many bytes as `bytes`.  Bytes from `used` on are 0xff. */
static unsigned char *
make(size_t struct_size, size_t used, size_t bytes)
{
  unsigned char *options = calloc(1, bytes);
  assert_non_null(options);
  memset(options + used, 0xff, bytes - used);
  memcpy(options, &struct_size, sizeof struct_size);
  return options;
}

TEST(a_struct_without_its_size_is_refused)
{
  for (uint32_t i = 0; i < FUNCTIONS; i++) {
    const struct function *f = &functions[i];
    const size_t wrong[] = {0, 1, sizeof(void *)};
    for (uint32_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
      unsigned char *options = make(wrong[k], f->size, f->size);
      char message[128];
      snprintf(message, sizeof message, "struct_size of %s is %zu, too small for an option\nFix: set it to sizeof(%s)", f->name,
               wrong[k], f->name);
      assert_error(f->call(options), VYRE_CODE_USAGE, message);
      free(options);
    }
  }
}

TEST(fields_that_an_older_struct_lacks_have_their_defaults)
{
  const size_t used = 2 * sizeof(size_t); /* the first option, or several */
  for (uint32_t i = 0; i < FUNCTIONS; i++) {
    const struct function *f = &functions[i];
    unsigned char *options = make(used, used, f->size), *alone = make(used, used, used);
    assert_true(used < f->size);
    assert_defaults(f, options);
    assert_defaults(f, alone);
    free(options);
    free(alone);
  }
}

TEST(fields_of_an_older_struct_are_read)
{
  struct {
    size_t struct_size;
    uint32_t program;
    bool lines;
  } older = {sizeof older, 99, false};
  assert_error(print_text(&older), VYRE_CODE_INPUT, "the program row 99 is out of range");
}

TEST(fields_of_a_newer_struct_must_be_zero)
{
  for (uint32_t i = 0; i < FUNCTIONS; i++) {
    const struct function *f = &functions[i];
    const size_t size = f->size + ADDED;
    unsigned char *options = make(size, size, size);
    char message[128];
    assert_defaults(f, options);
    options[size - 1] = 1;
    snprintf(message, sizeof message, "an option of %s after the %zu bytes that this library knows is set", f->name, f->size);
    assert_error(f->call(options), VYRE_CODE_USAGE, message);
    free(options);
  }
}

/* No byte of these structs is read after the size that the library knows. */
TEST(an_implausible_size_is_refused)
{
  for (uint32_t i = 0; i < FUNCTIONS; i++) {
    unsigned char *options = make(SIZE_MAX, functions[i].size, functions[i].size);
    assert_error(functions[i].call(options), VYRE_CODE_USAGE, "that this library knows is set");
    free(options);
  }
}

TEST(a_pump_of_a_live_kernel_has_a_size)
{
  const vyre_mega_options options = {.struct_size = sizeof options, .program = {.build = VYRE_MEGA_PERSISTENT}, .slots = 16};
  const vyre_mega_pump_options io = {.files = NULL};
  const vyre_mega_live_options live_options = {.struct_size = sizeof live_options, .io = &io};
  vyre_mega *persistent;
  vyre_mega_live *live;
  assert_ok(vyre_mega_create(&vyre_target_cpu, target, &options, &persistent));
  assert_error(vyre_mega_live_start(persistent, &live_options, &live), VYRE_CODE_USAGE,
               "struct_size of vyre_mega_pump_options is 0");
  assert_ok(vyre_mega_destroy(persistent));
}

TEST_MAIN(set_up, tear_down)
