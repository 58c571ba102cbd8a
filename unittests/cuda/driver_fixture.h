/* The simulated driver, opened by dlopen as programs open a driver, with its functions by name.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_DRIVER_FIXTURE_H
#define VYRE_UNITTESTS_DRIVER_FIXTURE_H

#include "../test.h"
#include "simulator.h"

#define CUDA_SYM(name, parameters) typedef cuda_result cuda_function_##name parameters;
#include "targets/cuda/sim/driver/more_symbols.def"

typedef struct driver_api {
#define CUDA_SYM(name, parameters) cuda_function_##name *name;
#include "targets/cuda/api/symbols.def"
#define CUDA_SYM(name, parameters) cuda_function_##name *name;
#include "targets/cuda/sim/driver/more_symbols.def"
  vyre_cuda_sim_fail_function *set_failure;
  vyre_cuda_sim_has_failed_function *has_failed;
  vyre_cuda_sim_count_function *count;
  vyre_cuda_sim_messages_function *messages;
  vyre_cuda_sim_clear_function *clear;
} driver_api;

extern driver_api cu;
extern void *driver_library;
extern cuda_context driver_context; /* the test's context, which is current */
extern cuda_module driver_module;   /* the module of driver_text in that context */
extern const char driver_text[];    /* the kernels of all tests */

/* Opens the library.  The setup of a test program. */
int driver_open(void **state);
/* Set up a test with cuInit, a context and the module, and tear these down.  The driver must then have no message. */
int driver_setup(void **state);
int driver_teardown(void **state);
#define DRIVER_TEST(name) TEST_WITH(name, driver_setup, driver_teardown)
/* Destroys the context, and first the module if `result` is CUDA_OK.  Asserts that destroying the context returns `result`. */
void driver_end(cuda_result result);
/* Asserts that the driver's only message is one line that contains `words`, and clears it. */
void driver_reported(const char *words);
/* Restarts the driver with the environment variable set to `value`, and creates a new context and module. */
void driver_restart(void **state, const char *variable, const char *value);

/* Returns a kernel of the module by its name. */
cuda_function driver_kernel(const char *name);
/* Launches one block of that kernel, without dynamic shared memory. */
cuda_result driver_launch(const char *name, unsigned threads, cuda_stream stream, void **parameters);
/* Launches the kernel `add`: data[i] += addend, for `count` words. */
void driver_add(cuda_address data, uint32_t count, uint32_t addend, cuda_stream stream);
cuda_stream driver_stream(void); /* returns a new non-blocking stream */
cuda_event driver_event(void);
cuda_address driver_memory(size_t size);
uint32_t *driver_pinned(size_t size);
/* Returns 64 zero bytes of mapped host memory, and their address on the device. */
void *driver_mapped(cuda_address *address);

/* Two streams with events and memory, for tests with streams_setup. */
enum { STREAM_WORDS = 1000 };
typedef struct driver_streams {
  cuda_stream one, two;
  cuda_event event, back;
  cuda_address memory, other; /* STREAM_WORDS words each */
  uint32_t *pinned, *result;  /* STREAM_WORDS words each */
} driver_streams;

extern driver_streams s;
int streams_setup(void **state);
int streams_teardown(void **state);
#define STREAMS_TEST(name) TEST_WITH(name, streams_setup, streams_teardown)

#define OK(call) assert_int_equal((call), CUDA_OK)
/* Asserts that the call returns that code, and that the driver reports `words`. */
#define REFUSED(call, code, words)  \
  do {                              \
    assert_int_equal((call), code); \
    driver_reported(words);         \
  } while (0)

#endif
