/* Messages, counters of calls, and calls that tests make fail.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/driver/driver.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIM_EXPORT __attribute__((visibility("default")))
SIM_EXPORT vyre_cuda_sim_fail_function vyre_cuda_sim_fail;
SIM_EXPORT vyre_cuda_sim_has_failed_function vyre_cuda_sim_has_failed;
SIM_EXPORT vyre_cuda_sim_count_function vyre_cuda_sim_count;
SIM_EXPORT vyre_cuda_sim_messages_function vyre_cuda_sim_messages;
SIM_EXPORT vyre_cuda_sim_clear_function vyre_cuda_sim_clear;

static const char *const names[] = {
#define SIM_CALL(id, name) name,
#include "targets/cuda/sim/driver/calls.def"
};

static uint64_t counts[SIM_CALLS];

static struct {
  sim_call call;   /* or SIM_CALLS for none */
  uint64_t number; /* of the call that fails, counted from 1 since vyre_cuda_sim_fail; 0 if each call fails */
  uint64_t calls;
  cuda_result code;
  bool has_failed;
} failure = {.call = SIM_CALLS};

static char *text, *returned; /* owned: all messages, and the copy that vyre_cuda_sim_messages returned last */
static size_t length, capacity;

const char *
sim_call_name(sim_call call)
{
  return names[call];
}

static sim_call
find_call(const char *name)
{
  uint32_t i = 0;
  while (i < SIM_CALLS && strcmp(names[i], name) != 0)
    i++;
  return (sim_call)i;
}

cuda_result
sim_called(sim_call call)
{
  counts[call]++;
  if (failure.call != call || (++failure.calls != failure.number && failure.number))
    return CUDA_OK;
  failure.has_failed = true;
  return failure.code;
}

void
sim_report(const char *format, ...)
{
  char line[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  fprintf(stderr, "simulated CUDA driver: %s\n", line);
  const size_t size = strlen(line) + 1;
  if (length + size + 1 > capacity) {
    const size_t wanted = (length + size + 1) * 2;
    char *grown = realloc(text, wanted);
    if (!grown)
      abort();
    text = grown;
    capacity = wanted;
  }
  length += (size_t)snprintf(text + length, size + 1, "%s\n", line);
}

bool
vyre_cuda_sim_fail(const char *name, uint64_t number, cuda_result code)
{
  const sim_call call = name && *name ? find_call(name) : SIM_CALLS;
  const bool is_known = !name || !*name || call != SIM_CALLS;
  pthread_mutex_lock(&sim.lock);
  failure.call = call;
  failure.number = number;
  failure.calls = 0;
  failure.code = code;
  failure.has_failed = false;
  pthread_mutex_unlock(&sim.lock);
  return is_known;
}

void
sim_fail_from(const char *said)
{
  char name[SIM_LABEL];
  const char *code = strrchr(said, ':'), *number = code;
  while (number && number > said && number[-1] != ':')
    number--;
  const size_t size = number && number > said ? (size_t)(number - said) - 1 : 0;
  if (!size || size >= sizeof name) {
    sim_report("VYRE_CUDA_SIM_FAIL=%s is not NAME:NUMBER:CODE", said);
    return;
  }
  memcpy(name, said, size);
  name[size] = 0;
  failure.call = find_call(name);
  failure.number = strtoull(number, NULL, 10);
  failure.calls = 0;
  failure.code = (cuda_result)strtol(code + 1, NULL, 10);
  failure.has_failed = false;
  if (failure.call == SIM_CALLS)
    sim_report("VYRE_CUDA_SIM_FAIL: unknown call '%s'", name);
}

bool
vyre_cuda_sim_has_failed(void)
{
  pthread_mutex_lock(&sim.lock);
  const bool result = failure.has_failed;
  pthread_mutex_unlock(&sim.lock);
  return result;
}

uint64_t
vyre_cuda_sim_count(const char *name)
{
  const sim_call call = find_call(name);
  uint64_t result = UINT64_MAX;
  pthread_mutex_lock(&sim.lock);
#define SIM_COUNTER(id, meaning) \
  if (strcmp(name, #id) == 0)    \
    result = sim.counters.id;
#include "targets/cuda/sim/driver/counters.def"
  if (call != SIM_CALLS)
    result = counts[call];
  pthread_mutex_unlock(&sim.lock);
  return result;
}

const char *
vyre_cuda_sim_messages(void)
{
  pthread_mutex_lock(&sim.lock);
  sim_context_any(sim_watch_report, NULL);
  free(returned);
  returned = length ? strdup(text) : NULL;
  pthread_mutex_unlock(&sim.lock);
  return returned ? returned : "";
}

void
vyre_cuda_sim_clear(void)
{
  pthread_mutex_lock(&sim.lock);
  sim_context_any(sim_watch_report, NULL);
  free(text);
  free(returned);
  text = returned = NULL;
  length = capacity = 0;
  memset(counts, 0, sizeof counts);
  memset(&sim.counters, 0, sizeof sim.counters);
  pthread_mutex_unlock(&sim.lock);
}
