/* A Vulkan library for tests: the real library, with a compiler that crashes or ends the process.
 *
 * VYRE_CRASH_AT is the number of the process's compute pipeline that crashes, from 1.  VYRE_CRASH_BY selects the event: segv
 * (the default), abort, exit, kill, thread (another thread crashes).  VYRE_CRASH_ONCE names a file, which the
 * crash creates: no crash happens if the file exists.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <vulkan/vulkan_core.h>

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance instance, const char *name);

static PFN_vkGetDeviceProcAddr real_device;
static PFN_vkCreateComputePipelines real_pipelines;
static int made; /* number of compute pipelines made so far */

static void *
crash(void *unused)
{
  raise(SIGSEGV);
  return unused;
}

static void
end(const char *by)
{
  pthread_t thread;
  if (strcmp(by, "abort") == 0)
    abort();
  if (strcmp(by, "exit") == 0)
    exit(0);
  if (strcmp(by, "kill") == 0)
    kill(getpid(), SIGKILL);
  if (strcmp(by, "thread") != 0)
    crash(NULL);
  if (pthread_create(&thread, NULL, crash, NULL) == 0)
    pthread_join(thread, NULL);
}

/* Returns whether no process has created `file` before, and creates the file.  Returns 1 if `file` is NULL. */
static int
is_first(const char *file)
{
  const int made_now = file ? open(file, O_CREAT | O_EXCL, 0600) : 0;
  if (made_now > 0)
    close(made_now);
  return made_now >= 0;
}

static VKAPI_ATTR VkResult VKAPI_CALL
create_pipelines(VkDevice device, VkPipelineCache cache, uint32_t count, const VkComputePipelineCreateInfo *infos,
                 const VkAllocationCallbacks *allocator, VkPipeline *out)
{
  const char *at = getenv("VYRE_CRASH_AT"), *by = getenv("VYRE_CRASH_BY");
  if (at && ++made == atoi(at) && is_first(getenv("VYRE_CRASH_ONCE")))
    end(by ? by : "segv");
  return real_pipelines(device, cache, count, infos, allocator, out);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
get_device(VkDevice device, const char *name)
{
  const PFN_vkVoidFunction found = real_device(device, name);
  if (strcmp(name, "vkCreateComputePipelines") == 0) {
    real_pipelines = (PFN_vkCreateComputePipelines)found;
    return (PFN_vkVoidFunction)create_pipelines;
  }
  return found;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
vkGetInstanceProcAddr(VkInstance instance, const char *name)
{
  static PFN_vkGetInstanceProcAddr real;
  if (!real) {
    void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "vkGetInstanceProcAddr") : NULL;
    if (!symbol)
      return NULL;
    memcpy(&real, &symbol, sizeof real);
  }
  const PFN_vkVoidFunction found = real(instance, name);
  if (!found || strcmp(name, "vkGetDeviceProcAddr") != 0)
    return found;
  real_device = (PFN_vkGetDeviceProcAddr)found;
  return (PFN_vkVoidFunction)get_device;
}
