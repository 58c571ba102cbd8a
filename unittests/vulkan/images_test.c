/* Images of the Vulkan target: what goes into one comes out of it, of every format and shape; what cannot be one is refused; and
 * buffers have addresses.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "bundle.h"
#include "messages.h"
#include "vulkan.h"

#include <spirv-tools/libspirv.h>

static const vyre_target_ops *const ops = &vyre_target_vulkan;
static spv_binary code;
static vyre_target *target;

/* Does nothing. */
static const char text[] = "OpCapability Shader\n"
                           "OpMemoryModel Logical GLSL450\n"
                           "OpEntryPoint GLCompute %main \"main\"\n"
                           "OpExecutionMode %main LocalSize 1 1 1\n"
                           "%void = OpTypeVoid\n"
                           "%function = OpTypeFunction %void\n"
                           "%main = OpFunction %void None %function\n"
                           "%entry = OpLabel\n"
                           "OpReturn\n"
                           "OpFunctionEnd\n";

static const struct {
  const char *name;
  uint32_t size; /* of a texel */
} formats[] = {
#define VYRE_TEXEL(number, name, kind, lanes, vulkan) [number] = {name, SIZE_##kind * lanes},
#define SIZE_I8                                       1
#define SIZE_U8                                       1
#define SIZE_I16                                      2
#define SIZE_U16                                      2
#define SIZE_F16                                      2
#define SIZE_I32                                      4
#define SIZE_U32                                      4
#define SIZE_F32                                      4
#define SIZE_I64                                      8
#define SIZE_U64                                      8
#include "vyre/texels.def"
};

enum { FORMATS = sizeof formats / sizeof formats[0], RGBA32F = 1, R32F = 3, MOST = 1 << 16 };

static int
prepare(void **state)
{
  (void)state;
  spv_context context = spvContextCreate(SPV_ENV_VULKAN_1_2);
  spv_result_t result = spvTextToBinary(context, text, strlen(text), &code, NULL);
  spvContextDestroy(context);
  const vyre_target_options options = {.library = test_library(VULKAN_LIBRARY), .validate = test_validates()};
  return result == SPV_SUCCESS && ops->open(&options, NULL, &target) == VYRE_OK ? 0 : -1;
}

static int
finish(void **state)
{
  (void)state;
  uint32_t left = 0; /* of images, whose kernels were all released */
  for (uint32_t i = 0; i < target->queues[VULKAN_COMPUTE].hazards.count; i++)
    left += target->queues[VULKAN_COMPUTE].hazards.uses[i].image != VK_NULL_HANDLE;
  if (left)
    print_error("%u uses of images are left\n", left);
  spvBinaryDestroy(code);
  return ops->close(target) == VYRE_OK && left == 0 ? 0 : -1;
}

static vyre_status
compile(const vyre_kernel_slot *slots, uint32_t count, vyre_kernel *out)
{
  vyre_kernel_desc desc = {.label = "nothing",
                           .code = code->code,
                           .size = code->wordCount * 4,
                           .entry = "main",
                           .workgroup = {1, 1, 1},
                           .slots = slots,
                           .slot_count = count};
  return ops->compile(target, &desc, out);
}

static void
assert_refused(const vyre_kernel_slot *slot, const char *word)
{
  vyre_kernel kernel;
  vyre_status status = compile(slot, 1, &kernel);
  if (vyre_status_code(status) != VYRE_CODE_INPUT || !strstr(vyre_status_text(status), word) ||
      !strstr(vyre_status_text(status), "Fix:"))
    fail_msg("%d '%s' instead of '%s'", (int)vyre_status_code(status), vyre_status_text(status), word);
  vyre_status_free(status);
}

static uint32_t
image_size(vyre_slot_kind kind, const vyre_image *image)
{
  const uint32_t texels =
      kind == VYRE_SLOT_STORAGE_TEXELS ? image->extent[0] : image->extent[0] * image->extent[1] * image->extent[2] * image->layers;
  return texels * formats[image->format].size;
}

/* Two of them, through a kernel that changes nothing.  The range is another before the step than what is read after it. */
static void
assert_comes_back(vyre_slot_kind kind, const vyre_image *image, vyre_kernel kernel)
{
  static unsigned char data[MOST], got[MOST];
  const uint32_t size = image_size(kind, image);
  assert_true(size > 0 && size <= MOST / 2);
  for (uint32_t i = 0; i < 2 * size; i++)
    data[i] = (unsigned char)((i * 37 + i / 256 + image->format) & 0x3f); /* no NaNs, no denormals that a driver may flush */
  const uint32_t second = (size + 15) & ~15u;
  vyre_device_buffer buffer;
  assert_ok(ops->allocate(target, second + size, &buffer));
  const vyre_range ranges[] = {{buffer, 0, size}, {buffer, second, size}};
  const vyre_upload uploads[] = {{ranges[0], data}, {ranges[1], data + size}};
  const vyre_step step = {.kernel = kernel, .buffers = ranges, .buffer_count = 2, .groups = {1, 1, 1}};
  const vyre_read reads[] = {{ranges[0], got}, {ranges[1], got + size}};
  const vyre_sequence sequence = {
      .uploads = uploads, .upload_count = 2, .steps = &step, .step_count = 1, .reads = reads, .read_count = 2};
  memset(got, 0, sizeof got);
  assert_ok(ops->submit(target, &sequence, NULL));
  if (memcmp(got, data, (size_t)2 * size) != 0)
    fail_msg("%s, dimension %u, %u layers: other bytes", formats[image->format].name, (uint32_t)image->dim, image->layers);
  assert_ok(ops->free(target, buffer));
}

static bool
runs(vyre_slot_kind kind, const vyre_image *image)
{
  const vyre_image images[] = {*image, *image};
  const vyre_kernel_slot slots[] = {{.binding = 1, .kind = kind, .count = 2, .images = images, .sampler = VYRE_SAMPLER_LINEAR},
                                    {.binding = 2, .kind = VYRE_SLOT_SAMPLER, .count = 3}};
  vyre_kernel kernel;
  vyre_status status = compile(slots, 2, &kernel);
  if (status) { /* not every device has every format */
    assert_non_null(strstr(vyre_status_text(status), "cannot have"));
    vyre_status_free(status);
    return false;
  }
  assert_comes_back(kind, image, kernel);
  assert_ok(ops->release(target, kernel));
  return true;
}

TEST(what_goes_in_comes_out_of_every_format)
{
  const vyre_slot_kind kinds[] = {VYRE_SLOT_STORAGE_IMAGE, VYRE_SLOT_STORAGE_TEXELS, VYRE_SLOT_SAMPLED_IMAGE, VYRE_SLOT_COMBINED};
  for (uint32_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
    uint32_t count = 0;
    for (uint32_t format = 1; format < FORMATS; format++) {
      const vyre_image image = {.dim = VYRE_IMAGE_2D, .format = format, .extent = {7, 5, 1}, .layers = 1};
      count += runs(kinds[k], &image);
    }
    assert_true(count >= 15);
  }
}

TEST(what_goes_in_comes_out_of_every_shape)
{
  const vyre_image images[] = {
      {.dim = VYRE_IMAGE_1D, .format = RGBA32F, .extent = {9, 1, 1}, .layers = 1},
      {.dim = VYRE_IMAGE_1D, .arrayed = true, .format = R32F, .extent = {9, 1, 1}, .layers = 3},
      {.dim = VYRE_IMAGE_2D, .arrayed = true, .format = R32F, .extent = {5, 4, 1}, .layers = 3},
      {.dim = VYRE_IMAGE_3D, .format = R32F, .extent = {5, 4, 3}, .layers = 1},
      {.dim = VYRE_IMAGE_CUBE, .format = R32F, .extent = {4, 4, 1}, .layers = 6},
      {.dim = VYRE_IMAGE_CUBE, .arrayed = true, .format = R32F, .extent = {4, 4, 1}, .layers = 12},
  };
  for (uint32_t i = 0; i < sizeof images / sizeof images[0]; i++)
    assert_true(runs(VYRE_SLOT_STORAGE_IMAGE, &images[i]));
  const vyre_image depth = {.dim = VYRE_IMAGE_2D, .is_depth = true, .format = R32F, .extent = {4, 4, 1}, .layers = 1};
  assert_true(runs(VYRE_SLOT_COMBINED, &depth));
}

TEST(what_is_no_image_is_refused)
{
  const vyre_image good = {.dim = VYRE_IMAGE_2D, .format = R32F, .extent = {4, 4, 1}, .layers = 1};
  vyre_image bad = good;
  vyre_kernel_slot slot = {.set = 1, .binding = 2, .kind = VYRE_SLOT_STORAGE_IMAGE, .images = &bad};
  bad.format = 0;
  assert_refused(&slot, "set 1 binding 2 is no image: format 0, dimension 1, 4 x 4 x 1 texels, 1 layers");
  bad.format = FORMATS;
  assert_refused(&slot, "is no image");
  const vyre_image shapes[] = {
      {.dim = VYRE_IMAGE_2D, .format = R32F, .extent = {4, 0, 1}, .layers = 1},
      {.dim = VYRE_IMAGE_2D, .format = R32F, .extent = {4, 4, 2}, .layers = 1},
      {.dim = VYRE_IMAGE_2D, .format = R32F, .extent = {4, 4, 1}, .layers = 0},
      {.dim = VYRE_IMAGE_2D, .format = R32F, .extent = {4, 4, 1}, .layers = 2},
      {.dim = VYRE_IMAGE_1D, .format = R32F, .extent = {4, 4, 1}, .layers = 1},
      {.dim = VYRE_IMAGE_CUBE, .format = R32F, .extent = {4, 5, 1}, .layers = 6},
      {.dim = VYRE_IMAGE_CUBE, .arrayed = true, .format = R32F, .extent = {4, 4, 1}, .layers = 8},
      {.dim = VYRE_IMAGE_3D, .arrayed = true, .format = R32F, .extent = {4, 4, 4}, .layers = 1},
      {.dim = VYRE_IMAGE_2D, .is_depth = true, .format = RGBA32F, .extent = {4, 4, 1}, .layers = 1},
      {.dim = VYRE_IMAGE__COUNT, .format = R32F, .extent = {4, 4, 1}, .layers = 1},
  };
  for (uint32_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
    bad = shapes[i];
    assert_refused(&slot, "is no image");
  }
  bad = good;
  bad.extent[0] = UINT32_MAX;
  assert_refused(&slot, "is a storage image of r32f, 4294967295 x 4 x 1 texels, 1 layers, which the device '");
  slot.kind = VYRE_SLOT_UNIFORM_TEXELS;
  assert_refused(&slot, "is uniform texels of r32f, ");
  slot.images = NULL;
  assert_refused(&slot, "an image without size and format");
  slot.kind = VYRE_SLOT__COUNT;
  assert_refused(&slot, "is 1 descriptors of kind 8");
  slot = (vyre_kernel_slot){.kind = VYRE_SLOT_SAMPLER, .count = UINT32_MAX};
  assert_refused(&slot, "is 4294967295 descriptors of kind 7");
}

TEST(a_range_that_does_not_fit_its_image_is_refused)
{
  const vyre_image image = {.dim = VYRE_IMAGE_2D, .format = R32F, .extent = {4, 4, 1}, .layers = 1};
  const vyre_kernel_slot slot = {.kind = VYRE_SLOT_STORAGE_IMAGE, .images = &image};
  vyre_kernel kernel;
  vyre_device_buffer buffer;
  assert_ok(compile(&slot, 1, &kernel));
  assert_ok(ops->allocate(target, 128, &buffer));
  const vyre_range ranges[] = {{buffer, 0, 60}, {buffer, 0, 0}, {buffer, 8, 64}};
  for (uint32_t i = 0; i < 3; i++) {
    const vyre_step step = {.kernel = kernel, .buffers = &ranges[i], .buffer_count = 1, .groups = {1, 1, 1}};
    const vyre_sequence sequence = {.steps = &step, .step_count = 1};
    vyre_status status = ops->submit(target, &sequence, NULL);
    assert_int_equal(vyre_status_code(status), VYRE_CODE_INPUT);
    assert_non_null(strstr(vyre_status_text(status), "takes 64 bytes of texels"));
    vyre_status_free(status);
  }
  assert_ok(ops->release(target, kernel));
  assert_ok(ops->free(target, buffer));
}

TEST(buffers_have_addresses_of_their_own)
{
  vyre_device_buffer buffers[2];
  uint64_t addresses[2];
  for (uint32_t i = 0; i < 2; i++) {
    assert_ok(ops->allocate(target, 4096, &buffers[i]));
    vyre_status status = ops->address(target, buffers[i], &addresses[i]);
    if (status) { /* not every device has them */
      assert_non_null(strstr(vyre_status_text(status), "(bufferDeviceAddress)"));
      vyre_status_free(status);
      return;
    }
  }
  const uint64_t low = addresses[0] < addresses[1] ? addresses[0] : addresses[1];
  assert_true(low != 0 && addresses[0] + addresses[1] - 2 * low >= 4096);
  assert_ok(ops->free(target, buffers[0]));
  vyre_status status = ops->address(target, buffers[0], &addresses[0]);
  assert_int_equal(vyre_status_code(status), VYRE_CODE_INPUT);
  assert_non_null(strstr(vyre_status_text(status), "no buffer of this target"));
  vyre_status_free(status);
}

TEST_MAIN(prepare, finish)
