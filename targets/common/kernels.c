/* Kernels: the checks of their descriptions, their common state, and their handles.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base.h"
#include "vyre/environment.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_DESCRIPTORS = 1 << 20 /* of a kernel, whatever the device's limits are */ };

/* ---- checks -------------------------------------------------------------------------------------------------------------- */

static vyre_status
refuse(const target_base *base, const vyre_kernel_desc *desc, const char *what, uint64_t wanted, uint64_t limit, const char *fix)
{
  return TARGET_REJECTED("%s: kernel '%s' needs %" PRIu64 " %s, but the device '%s' allows %" PRIu64 "\nFix: %s", base->hooks->name,
                         desc->label, wanted, what, base->info.name, limit, fix);
}

static vyre_status
check_form(const target_base *base, const vyre_kernel_desc *desc)
{
  static const char *const names[] = {
      [VYRE_KERNEL_SPIRV] = "SPIR-V", [VYRE_KERNEL_PTX] = "PTX", [VYRE_KERNEL_C] = "C", [VYRE_KERNEL_VIR] = ".vir"};
  const uint32_t form = (uint32_t)desc->form;
  const bool is_known = form < VYRE_KERNEL_FORM__COUNT;
  if (!is_known || !(base->info.forms >> form & 1u)) {
    char list[64] = "";
    for (uint32_t i = 0; i < VYRE_KERNEL_FORM__COUNT; i++) {
      if (base->info.forms >> i & 1u)
        strcat(strcat(list, list[0] ? ", " : ""), names[i]);
    }
    return TARGET_REJECTED("%s: kernel '%s' is %s\nFix: use a form that this target accepts: %s", base->hooks->name, desc->label,
                           is_known ? names[form] : "of an unknown form", list[0] ? list : "none");
  }
  const size_t size = form == VYRE_KERNEL_C     ? sizeof(vyre_kernel_function)
                      : form == VYRE_KERNEL_VIR ? sizeof(vyre_kernel_program)
                                                : desc->size;
  const bool needs_entry = form == VYRE_KERNEL_SPIRV || form == VYRE_KERNEL_PTX;
  if (!desc->code || desc->size != size || (needs_entry && !desc->entry))
    return VYRE_ERROR(
        VYRE_CODE_INPUT,
        "%s: kernel '%s' has no code, no entry point, or code of %zu bytes instead of %zu\nFix: set code, size and entry",
        base->hooks->name, desc->label, desc->size, size);
  return VYRE_OK;
}

static vyre_status
check_workgroup(const target_base *base, const vyre_kernel_desc *desc)
{
  static const char *const axes[] = {"invocations in x of a workgroup", "invocations in y of a workgroup",
                                     "invocations in z of a workgroup"};
  static const char fix[] =
      "make the workgroup smaller (a specialization constant, or the shader's local_size), or use the interpreter";
  uint64_t product = 1;
  for (uint32_t i = 0; i < 3; i++) {
    if (desc->workgroup[i] == 0)
      return VYRE_ERROR(VYRE_CODE_INPUT,
                        "%s: kernel '%s' has a workgroup of 0 invocations\nFix: use a size of at least 1 in each dimension",
                        base->hooks->name, desc->label);
    if (desc->workgroup[i] > base->info.max_workgroup[i])
      return refuse(base, desc, axes[i], desc->workgroup[i], base->info.max_workgroup[i], fix);
    product *= desc->workgroup[i]; /* below 2^64: the product so far is within a 32-bit limit */
    if (product > base->info.max_invocations)
      return refuse(base, desc, "invocations of a workgroup", product, base->info.max_invocations, fix);
  }
  return VYRE_OK;
}

static vyre_status
check_slot(const target_base *base, const vyre_kernel_desc *desc, uint32_t index)
{
  const vyre_kernel_slot *slot = &desc->slots[index];
  const bool has_kind = slot->kind < VYRE_SLOT__COUNT || (slot->kind == VYRE_SLOT_PUSH && desc->form == VYRE_KERNEL_C);
  if (!has_kind || target_slot_count(slot) > MOST_DESCRIPTORS)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "%s: kernel '%s': set %u binding %u has %u descriptors of kind %u\n"
                      "Fix: use a vyre_slot_kind, and at most %d descriptors",
                      base->hooks->name, desc->label, slot->set, slot->binding, target_slot_count(slot), (uint32_t)slot->kind,
                      MOST_DESCRIPTORS);
  if (slot->kind >= VYRE_SLOT_STORAGE_TEXELS && slot->kind <= VYRE_SLOT_SAMPLER && !(base->info.capabilities & VYRE_TARGET_IMAGES))
    return TARGET_REJECTED(
        "%s: kernel '%s': set %u binding %u is texels, an image or a sampler, which the device '%s' does not support\n"
        "Fix: use buffers, or another device",
        base->hooks->name, desc->label, slot->set, slot->binding, base->info.name);
  for (uint32_t k = 0; k < index && slot->kind != VYRE_SLOT_PUSH; k++) {
    const vyre_kernel_slot *other = &desc->slots[k];
    if (other->kind != VYRE_SLOT_PUSH && other->set == slot->set && other->binding == slot->binding)
      return VYRE_ERROR(VYRE_CODE_INPUT,
                        "%s: kernel '%s' has two slots for set %u binding %u\n"
                        "Fix: use one slot for each set and binding",
                        base->hooks->name, desc->label, slot->set, slot->binding);
  }
  return VYRE_OK;
}

vyre_status
target_check_kernel(const vyre_target *target, const vyre_kernel_desc *desc)
{
  const target_base *base = target_base_of_const(target);
  VYRE_TRY(target_ready(target));
  VYRE_TRY(check_form(base, desc));
  VYRE_TRY(check_workgroup(base, desc));
  uint64_t descriptors = 0;
  for (uint32_t i = 0; i < desc->slot_count; i++) {
    VYRE_TRY(check_slot(base, desc, i));
    descriptors += target_slot_count(&desc->slots[i]);
  }
  if (descriptors > MOST_DESCRIPTORS)
    return refuse(base, desc, "descriptors", descriptors, MOST_DESCRIPTORS, "use fewer descriptors");
  if (desc->push_size > base->info.max_push)
    return refuse(base, desc, "bytes of push constants", desc->push_size, base->info.max_push,
                  "move some of them to a uniform buffer");
  if (desc->push_size % 4)
    return VYRE_ERROR(VYRE_CODE_INPUT, "%s: kernel '%s' has %u bytes of push constants\nFix: use a multiple of 4",
                      base->hooks->name, desc->label, desc->push_size);
  for (uint32_t i = 0; i < desc->spec_count; i++) {
    uint32_t size = desc->specs[i].size;
    if (size != 1 && size != 2 && size != 4 && size != 8)
      return VYRE_ERROR(VYRE_CODE_INPUT,
                        "%s: kernel '%s': specialization constant %u has %u bytes\nFix: use a size of 1, 2, 4 or 8 bytes",
                        base->hooks->name, desc->label, desc->specs[i].id, size);
  }
  return VYRE_OK;
}

/* Checks a copy of the description, which always has a label. */
static vyre_status
check(vyre_target *target, const vyre_kernel_desc *desc, vyre_kernel_desc *named)
{
  const target_base *base = target_base_of(target);
  *named = *desc;
  if (!named->label)
    named->label = "(no name)";
  VYRE_TRY(target_check_kernel(target, named));
  return base->hooks->check_kernel ? vyre_status_mark_rejected(base->hooks->check_kernel(target, named)) : VYRE_OK;
}

vyre_status
target_supports(vyre_target *target, const vyre_kernel_desc *desc)
{
  vyre_kernel_desc named;
  return check(target, desc, &named);
}

/* ---- kernels ------------------------------------------------------------------------------------------------------------- */

vyre_status
target_kernel_init(vyre_target *target, const vyre_kernel_desc *desc, target_kernel *kernel)
{
  const vyre_allocator *allocator = &target_base_of(target)->allocator;
  kernel->label = vyre_copy_text(allocator, desc->label);
  if (!kernel->label)
    return VYRE_OUT_OF_MEMORY("for a kernel of a target");
  if (desc->slot_count) {
    kernel->slots = vyre_allocate(allocator, sizeof *kernel->slots * desc->slot_count);
    if (!kernel->slots)
      return VYRE_OUT_OF_MEMORY("for a kernel of a target");
  }
  kernel->slot_count = desc->slot_count;
  for (uint32_t i = 0; i < desc->slot_count; i++) {
    kernel->slots[i] = desc->slots[i];
    kernel->slots[i].images = NULL;
    if (desc->slots[i].kind == VYRE_SLOT_PUSH)
      continue;
    kernel->descriptor_count += target_slot_count(&desc->slots[i]);
    kernel->range_count += desc->slots[i].kind == VYRE_SLOT_SAMPLER ? 0 : target_slot_count(&desc->slots[i]);
  }
  kernel->push_size = desc->push_size;
  memcpy(kernel->workgroup, desc->workgroup, sizeof kernel->workgroup);
  return VYRE_OK;
}

void
target_kernel_free(vyre_target *target, target_kernel *kernel)
{
  const vyre_allocator *allocator = &target_base_of(target)->allocator;
  vyre_release(allocator, kernel->slots, sizeof *kernel->slots * kernel->slot_count);
  vyre_release_text(allocator, kernel->label);
  *kernel = (target_kernel){0};
}

target_kernel *
target_kernel_get(const vyre_target *target, vyre_kernel kernel)
{
  return target_handles_get(&target_base_of_const(target)->kernels, kernel.id);
}

vyre_status
target_no_such_kernel(const vyre_target *target, uint64_t id)
{
  return VYRE_ERROR(VYRE_CODE_INPUT,
                    "%s: %" PRIu64 " is not a kernel of this target, or it was released\n"
                    "Fix: use a kernel that was compiled and not released",
                    target_base_of_const(target)->hooks->name, id);
}

vyre_status
target_compile(vyre_target *target, const vyre_kernel_desc *desc, vyre_kernel *out)
{
  VYRE_OWN_ENVIRONMENT;
  target_base *base = target_base_of(target);
  *out = (vyre_kernel){0};
  vyre_kernel_desc named;
  VYRE_TRY(check(target, desc, &named));
  target_kernel *kernel;
  target_call_hook(base, VYRE_DRIVER_COMPILES, named.label);
  vyre_status status = vyre_status_mark_rejected(base->hooks->compile(target, &named, &kernel));
  target_call_end();
  VYRE_TRY(status);
  status = target_handles_add(base, &base->kernels, kernel, &out->id);
  if (status)
    return vyre_status_join(status, base->hooks->release(target, kernel));
  base->counters.compiles++;
  return VYRE_OK;
}

vyre_status
target_release(vyre_target *target, vyre_kernel handle)
{
  target_base *base = target_base_of(target);
  target_kernel *kernel = target_kernel_get(target, handle);
  if (!kernel)
    return target_no_such_kernel(target, handle.id);
  if (kernel->in_flight)
    return VYRE_ERROR(VYRE_CODE_INPUT, "%s: kernel '%s' is used by a submission in flight\nFix: wait for the submission first",
                      base->hooks->name, kernel->label);
  target_handles_remove(&base->kernels, handle.id);
  return base->hooks->release(target, kernel);
}

vyre_status
target_statistics(vyre_target *target, vyre_kernel handle, void (*emit)(void *user, const vyre_kernel_figure *figure), void *user)
{
  const target_base *base = target_base_of(target);
  VYRE_TRY(target_ready(target));
  if (!(base->info.capabilities & VYRE_TARGET_STATISTICS) || !base->hooks->statistics)
    return VYRE_ERROR(VYRE_CODE_DEVICE,
                      "%s: the driver of the device '%s' has no statistics of kernels\n"
                      "Fix: use a device whose driver reports statistics (for Vulkan: VK_KHR_pipeline_executable_properties)",
                      base->hooks->name, base->info.name);
  if (!base->statistics_only)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "%s: the target was opened to run kernels, so it has no statistics\n"
                      "Fix: open a target with the option for statistics",
                      base->hooks->name);
  const target_kernel *kernel = target_kernel_get(target, handle);
  if (!kernel)
    return target_no_such_kernel(target, handle.id);
  emit(user, &(vyre_kernel_figure){.part = "",
                                   .name = "compile_ns",
                                   .text = "nanoseconds that the driver took to compile the kernel",
                                   .kind = VYRE_FIGURE_U64,
                                   .u64 = kernel->compile_ns});
  return base->hooks->statistics(target, kernel, emit, user);
}
