/* The simulated driver as programs use it: opened by dlopen, its functions found by name.
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
extern cuda_context driver_context; /* of a test, current */
extern cuda_module driver_module;   /* of driver_text, loaded there */
extern const char driver_text[];    /* the kernels of all tests */

/* Opens the library for a group. */
int driver_open(void **state);
/* Begin a test with cuInit, a context and the module, and end them, after which the driver must have no message. */
int driver_setup(void **state);
int driver_teardown(void **state);
#define DRIVER_TEST(name) TEST_WITH(name, driver_setup, driver_teardown)
/* Destroys the context, which returns that result, and, if it is CUDA_OK, its module. */
void driver_end(cuda_result result);
/* Requires that the driver's only message is one line with these words, and clears it. */
void driver_told(const char *words);
/* Ends the test's context and module, and makes others, by a driver with that variable of the environment. */
void driver_restart(void **state, const char *variable, const char *value);

/* A kernel of the module by its name. */
cuda_function driver_kernel(const char *name);
/* One block of that kernel, without dynamic shared memory. */
cuda_result driver_launch(const char *name, unsigned threads, cuda_stream stream, void **parameters);
/* data[i] += addend, of as many words: the kernel `add`. */
void driver_add(cuda_address data, uint32_t count, uint32_t addend, cuda_stream stream);
cuda_stream driver_stream(void); /* a new one that blocks nobody */
cuda_event driver_event(void);
cuda_address driver_memory(size_t size);
uint32_t *driver_pinned(size_t size);
/* Returns 64 bytes of mapped host memory, all 0, and their address on the device. */
void *driver_mapped(cuda_address *address);

/* Two streams with what they work on, for tests that begin with streams_setup. */
enum { STREAM_WORDS = 1000 };
typedef struct driver_streams {
  cuda_stream one, two;
  cuda_event event, back;
  cuda_address memory, other; /* of STREAM_WORDS words, as the next ones */
  uint32_t *pinned, *result;
} driver_streams;

extern driver_streams s;
int streams_setup(void **state);
int streams_teardown(void **state);
#define STREAMS_TEST(name) TEST_WITH(name, streams_setup, streams_teardown)

#define OK(call) assert_int_equal((call), CUDA_OK)
/* The call returns that code, and the driver says why. */
#define REFUSED(call, code, words)  \
  do {                              \
    assert_int_equal((call), code); \
    driver_told(words);             \
  } while (0)

#endif
