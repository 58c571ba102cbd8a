/* The simulated driver as a program has it: opened by dlopen, its functions found by name.
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
extern cuda_context driver_context; /* a test's, current */
extern cuda_module driver_module;   /* of driver_text, loaded there */
extern const char driver_text[];    /* the kernels of all tests */

/* Of a group: opens the library. */
int driver_open(void **state);
/* Of a test: cuInit by the environment as it is, a context, the module; and their end, after which nothing may have been told. */
int driver_setup(void **state);
int driver_teardown(void **state);
/* Ends the context as a test does that has lost it: cuCtxDestroy_v2 returns that. */
void driver_end(cuda_result result);
/* Just this was told, in one line with these words; and it is forgotten. */
void driver_told(const char *words);

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

#define OK(call) assert_int_equal((call), CUDA_OK)

#endif
