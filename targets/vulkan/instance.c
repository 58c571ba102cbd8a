/* The loader library, the instance, and the messenger of the validation layer. The layer also checks synchronization and best
 * practices.
 *
 * limits: needs Vulkan 1.2, for SPIR-V 1.5.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vulkan.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const char validation_layer[] = "VK_LAYER_KHRONOS_validation";

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

void
vulkan_lock(void)
{
  pthread_mutex_lock(&loading);
}

void
vulkan_unlock(void)
{
  pthread_mutex_unlock(&loading);
}

/* Names of warnings that are ignored. Errors with these names are reported. */
static const char *const ignored_warnings[] = {
    /* Validation enables two debugging extensions on purpose. */
    "UNASSIGNED-BestPractices-vkCreateInstance-specialuse-extension-debugging",
    /* Modules older than SPIR-V 1.3 use subgroup extensions. Without them a driver may reject such modules. */
    "UNASSIGNED-BestPractices-vkCreateDevice-deprecated-extension",
    /* Each buffer has its own memory, so that it can be freed separately. targets/common reuses freed buffers. */
    "UNASSIGNED-BestPractices-vkAllocateMemory-small-allocation",
    "UNASSIGNED-BestPractices-vkAllocateMemory-too-many-objects",
    "UNASSIGNED-BestPractices-vkBindMemory-small-dedicated-allocation",
    /* The target's contract allows steps with 0 workgroups, which do nothing. */
    "UNASSIGNED-BestPractices-vkCmdDispatch-group-count-zero",
    /* Kernel statistics are for developers, and are enabled only on request. */
    "UNASSIGNED-BestPractices-vkCreateDevice-specialuse-extension-devtools",
    /* Images stay in the general layout, which copies and all uses by kernels allow. */
    "UNASSIGNED-CoreValidation-DrawState-InvalidImageLayout",
    /* result.c reports errors of functions. A failing query for a format's support is not an error. */
    "UNASSIGNED-BestPractices-Error-Result",
};

static bool
is_ignored(VkDebugUtilsMessageSeverityFlagBitsEXT severity, const char *name)
{
  for (size_t i = 0; name && severity == VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT &&
                     i < sizeof ignored_warnings / sizeof *ignored_warnings;
       i++)
    if (strcmp(name, ignored_warnings[i]) == 0)
      return true;
  return false;
}

/* Appends a message. Needs no lock: layers call it only during a call of the target, and one thread uses a target at a time. */
static VKAPI_ATTR VkBool32 VKAPI_CALL
receive_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity, VkDebugUtilsMessageTypeFlagsEXT types,
                const VkDebugUtilsMessengerCallbackDataEXT *data, void *user)
{
  vulkan_messages *messages = user;
  (void)types;
  if (is_ignored(severity, data->pMessageIdName))
    return VK_FALSE;
  messages->count++;
  size_t room = sizeof messages->text - messages->length;
  int written = snprintf(messages->text + messages->length, room, "%s\n", data->pMessage ? data->pMessage : "(no text)");
  if (written > 0 && (size_t)written < room)
    messages->length += (size_t)written;
  else
    messages->text[messages->length] = '\0'; /* without room for its text, the message is only counted */
  return VK_FALSE;
}

static VkDebugUtilsMessengerCreateInfoEXT
messenger_info(vulkan_messages *messages)
{
  return (VkDebugUtilsMessengerCreateInfoEXT){
      .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
      .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
      /* Not GENERAL: the loader uses it for installed drivers without a device. */
      .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT,
      .pfnUserCallback = receive_message,
      .pUserData = messages,
  };
}

static vyre_status
open_library(const char *name, void **out)
{
  const char *path = name ? name : "libvulkan.so.1";
  *out = NULL;
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return VYRE_ERROR(VYRE_CODE_DEVICE,
                      "vulkan: no library: %s\n"
                      "Fix: install the Vulkan loader and a driver (Debian: libvulkan1 mesa-vulkan-drivers), or use another target",
                      dlerror());
  void *symbol = dlsym(library, "vkGetInstanceProcAddr");
  if (!symbol) {
    dlclose(library);
    return VYRE_ERROR(VYRE_CODE_DEVICE,
                      "vulkan: no symbol: the library '%s' lacks vkGetInstanceProcAddr\n"
                      "Fix: name a Vulkan loader (libvulkan.so.1), or use another target",
                      path);
  }
  PFN_vkGetInstanceProcAddr handler = NULL;
  memcpy(&handler, &symbol, sizeof handler); /* ISO C has no cast from object to function pointer */
  volkInitializeCustom(handler);
  *out = library;
  return VYRE_OK;
}

static vyre_status
missing_symbol(const char *name)
{
  return VYRE_ERROR(VYRE_CODE_DEVICE,
                    "vulkan: no symbol: the library lacks %s\n"
                    "Fix: install a Vulkan loader for version 1.2 or later, or use another target",
                    name);
}

static vyre_status
check_version(void)
{
  if (!vkCreateInstance)
    return missing_symbol("vkCreateInstance");
  if (!vkEnumerateInstanceLayerProperties)
    return missing_symbol("vkEnumerateInstanceLayerProperties");
  if (!vkEnumerateInstanceVersion) /* since Vulkan 1.1 */
    return missing_symbol("vkEnumerateInstanceVersion");
  uint32_t version = 0;
  VYRE_TRY(vulkan_status(NULL, vkEnumerateInstanceVersion(&version), "vkEnumerateInstanceVersion", "reading the loader's version"));
  if (version < VK_API_VERSION_1_2)
    return VYRE_ERROR(VYRE_CODE_DEVICE,
                      "vulkan: the loader is for Vulkan %u.%u, vyre needs 1.2\n"
                      "Fix: install a newer Vulkan loader, or use another target",
                      VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version));
  return VYRE_OK;
}

static vyre_status
check_layer(const vyre_allocator *allocator)
{
  uint32_t count = 0;
  VYRE_TRY(vulkan_status(NULL, vkEnumerateInstanceLayerProperties(&count, NULL), "vkEnumerateInstanceLayerProperties",
                         "counting the installed layers"));
  size_t size = sizeof(VkLayerProperties) * ((size_t)count + 1);
  VkLayerProperties *layers = vyre_allocate(allocator, size);
  if (!layers)
    return VYRE_OUT_OF_MEMORY("for the list of Vulkan layers");
  VkResult result = vkEnumerateInstanceLayerProperties(&count, layers);
  bool found = false;
  for (uint32_t i = 0; result == VK_SUCCESS && i < count; i++)
    found = found || strcmp(layers[i].layerName, validation_layer) == 0;
  vyre_release(allocator, layers, size);
  return found ? VYRE_OK : vulkan_status(NULL, VK_ERROR_LAYER_NOT_PRESENT, "vkCreateInstance", "requesting %s", validation_layer);
}

static vyre_status
copy_functions(vulkan_instance *instance)
{
  volkLoadInstanceOnly(instance->handle);
  const char *missing = NULL;
#define VULKAN_INSTANCE_SYM(name) \
  instance->call.name = name;     \
  if (!name && !missing)          \
    missing = #name;
#include "symbols.def"
  instance->call.vkGetPhysicalDeviceCalibrateableTimeDomainsEXT = vkGetPhysicalDeviceCalibrateableTimeDomainsEXT;
  return missing ? missing_symbol(missing) : VYRE_OK;
}

static vyre_status
open_messenger(vulkan_instance *instance)
{
  if (!vkCreateDebugUtilsMessengerEXT || !vkDestroyDebugUtilsMessengerEXT)
    return missing_symbol("vkCreateDebugUtilsMessengerEXT");
  instance->destroy_messenger = vkDestroyDebugUtilsMessengerEXT;
  VkDebugUtilsMessengerCreateInfoEXT info = messenger_info(instance->messages);
  return vulkan_status(NULL, vkCreateDebugUtilsMessengerEXT(instance->handle, &info, NULL, &instance->messenger),
                       "vkCreateDebugUtilsMessengerEXT", "to receive the validation layer's messages");
}

static vyre_status
fill_instance(const vyre_target_options *options, const vyre_allocator *allocator, vulkan_instance *instance)
{
  VYRE_TRY(open_library(options->library, &instance->library));
  VYRE_TRY(check_version());
  const char *layer = validation_layer;
  const char *const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME, VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME};
  const VkValidationFeatureEnableEXT more[] = {VK_VALIDATION_FEATURE_ENABLE_BEST_PRACTICES_EXT,
                                               VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
  VkApplicationInfo application = {
      .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
      .pApplicationName = "vyre",
      .pEngineName = "vyre",
      .apiVersion = VK_API_VERSION_1_2,
  };
  VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
  VkDebugUtilsMessengerCreateInfoEXT messenger;
  VkValidationFeaturesEXT features = {.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
                                      .enabledValidationFeatureCount = VULKAN_LEAKS_CHECKED ? 1 : 2,
                                      .pEnabledValidationFeatures = more};
  if (options->validate) {
    VYRE_TRY(check_layer(allocator));
    instance->messages = vyre_allocate(allocator, sizeof *instance->messages);
    if (!instance->messages)
      return VYRE_OUT_OF_MEMORY("for the validation layer's messages");
    messenger = messenger_info(instance->messages); /* for messages while the instance is created or destroyed */
    features.pNext = &messenger;
    info.pNext = &features;
    info.enabledLayerCount = 1;
    info.ppEnabledLayerNames = &layer;
    info.enabledExtensionCount = sizeof extensions / sizeof *extensions;
    info.ppEnabledExtensionNames = extensions;
  }
  VULKAN_LEAKS_BEGIN();
  VkResult result = vkCreateInstance(&info, NULL, &instance->handle);
  VULKAN_LEAKS_END();
  if (result == VK_ERROR_INCOMPATIBLE_DRIVER) /* the loader found no driver */
    return vulkan_no_device();
  VYRE_TRY(vulkan_status(NULL, result, "vkCreateInstance", "requesting Vulkan 1.2%s",
                         options->validate ? " with the validation layer" : ""));
  VYRE_TRY(copy_functions(instance));
  return options->validate ? open_messenger(instance) : VYRE_OK;
}

vyre_status
vulkan_instance_open(const vyre_target_options *options, const vyre_allocator *allocator, vulkan_instance *out)
{
  *out = (vulkan_instance){0};
  vulkan_instance instance = {0};
  vyre_status status = fill_instance(options, allocator, &instance);
  status = vulkan_collect_messages(instance.messages, status);
  if (status)
    return vyre_status_join(status, vulkan_instance_close(&instance, allocator));
  *out = instance;
  return VYRE_OK;
}

vyre_status
vulkan_instance_close(vulkan_instance *instance, const vyre_allocator *allocator)
{
  if (instance->messenger)
    instance->destroy_messenger(instance->handle, instance->messenger, NULL);
  if (instance->handle && instance->call.vkDestroyInstance)
    instance->call.vkDestroyInstance(instance->handle, NULL);
  vyre_status status = vulkan_collect_messages(instance->messages, VYRE_OK);
  vyre_release(allocator, instance->messages, sizeof *instance->messages);
  if (instance->library)
    dlclose(instance->library);
  *instance = (vulkan_instance){0};
  return status;
}
