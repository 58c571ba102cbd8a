/* Calls of functions that recurse into nested code, with a large stack.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/environment.h"

#include <pthread.h>

#define DEEP_BYTES (16u << 20) /* reserved address space; SPIR-V of 990 nested ifs uses less than 384 KB */

typedef struct deep_call {
  void (*function)(void *);
  void *argument;
} deep_call;

static void *
run(void *argument)
{
  VYRE_OWN_ENVIRONMENT;
  const deep_call *call = argument;
  call->function(call->argument);
  return NULL;
}

vyre_status
vyre_call_nested(uint32_t nests, void (*function)(void *argument), void *argument)
{
  if (nests <= VYRE_SHALLOW_NESTS) {
    function(argument);
    return VYRE_OK;
  }
  deep_call call = {function, argument};
  pthread_attr_t attributes;
  pthread_t thread;
  int error = pthread_attr_init(&attributes);
  if (!error) {
    error = pthread_attr_setstacksize(&attributes, DEEP_BYTES);
    error = error ? error : pthread_create(&thread, &attributes, run, &call);
    pthread_attr_destroy(&attributes);
  }
  if (error)
    return VYRE_OUT_OF_MEMORY("for the stack of a thread");
  pthread_join(thread, NULL);
  return VYRE_OK;
}
