/* Images of the Vulkan target.  For each format and shape, reads return the uploaded bytes.  Invalid descriptions and ranges are
 * refused.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "bundle.h"
#include "../messages.h"
#include "vulkan.h"

static const vyre_target_ops *const ops = &vyre_target_vulkan;
static vyre_target *target;

/* A module whose function `main` does nothing. */
static const uint32_t nothing[] = {
    0x07230203, 0x00010300, 0,          5,          0,    /* SPIR-V 1.3, ids below 5 */
    0x00020011, 1,          0x0003000e, 0,          1,    /* OpCapability Shader, OpMemoryModel Logical GLSL450 */
    0x0005000f, 5,          3,          0x6e69616d, 0,    /* OpEntryPoint GLCompute %3 "main" */
    0x00060010, 3,          17,         1,          1, 1, /* OpExecutionMode %3 LocalSize 1 1 1 */
    0x00020013, 1,          0x00030021, 2,          1,    /* %1 = OpTypeVoid, %2 = OpTypeFunction %1 */
    0x00050036, 1,          3,          0,          2,    /* %3 = OpFunction %1 None %2 */
    0x000200f8, 4,          0x000100fd, 0x00010038,       /* %4 = OpLabel, OpReturn, OpFunctionEnd */
};

static const struct {
  const char *name, *kind; /* "F32" */
  uint32_t lanes;
} formats[] = {
#define VYRE_TEXEL(number, name, kind, lanes, vulkan) [number] = {name, #kind, lanes},
#include "vyre/texels.def"
};

enum { FORMATS = sizeof formats / sizeof formats[0], RGBA32F = 1, R32F = 3, MOST = 1 << 16 };

/* The initializer of an image. */
#define IMAGE(dimension, texel, x, y, z, layer_count) \
  .dim = VYRE_IMAGE_##dimension, .format = texel, .extent = {x, y, z}, .layers = layer_count

static int
prepare(void **state)
{
  (void)state;
  const vyre_target_options options = {
      .struct_size = sizeof options, .library = test_library(VULKAN_LIBRARY), .validate = test_validates()};
  assert_ok(ops->open(&options, NULL, &target));
  return 0;
}

/* Closes the target.  Its list of uses must have no images, because all kernels were released. */
static int
finish(void **state)
{
  (void)state;
  uint32_t left = 0;
  for (uint32_t i = 0; i < target->queues[VULKAN_COMPUTE].hazards.count; i++)
    left += target->queues[VULKAN_COMPUTE].hazards.uses[i].image != VK_NULL_HANDLE;
  if (left)
    print_error("%u uses of images are left\n", left);
  assert_ok(ops->close(target));
  return left ? -1 : 0;
}

static vyre_status
compile(const vyre_kernel_slot *slots, uint32_t count, vyre_kernel *out)
{
  const vyre_kernel_desc desc = {.label = "nothing",
                                 .code = nothing,
                                 .size = sizeof nothing,
                                 .entry = "main",
                                 .workgroup = {1, 1, 1},
                                 .slots = slots,
                                 .slot_count = count};
  return ops->compile(target, &desc, out);
}

/* ---- uploads and reads --------------------------------------------------------------------------------------------------- */

/* Uploads two images, and reads them after a kernel that changes nothing. */
static void
check_bytes(vyre_slot_kind kind, const vyre_image *image, vyre_kernel kernel)
{
  static unsigned char data[MOST], got[MOST];
  const uint32_t *extent = image->extent, rows = extent[1] * extent[2] * image->layers;
  const uint32_t texel = (uint32_t)atoi(formats[image->format].kind + 1) / 8 * formats[image->format].lanes;
  const uint32_t size = texel * extent[0] * (kind == VYRE_SLOT_STORAGE_TEXELS ? 1 : rows);
  const uint32_t second = (size + 15) & ~15u;
  vyre_device_buffer buffer;
  assert_true(size > 0 && size <= MOST / 2);
  for (uint32_t i = 0; i < 2 * size; i++)
    data[i] = (unsigned char)((i * 37 + i / 256 + image->format) & 0x3f); /* no NaNs, no denormals that a driver may flush */
  memset(got, 0, sizeof got);
  assert_ok(ops->allocate(target, second + size, &buffer));
  const vyre_range ranges[] = {{buffer, 0, size}, {buffer, second, size}};
  const vyre_upload uploads[] = {{ranges[0], data}, {ranges[1], data + size}};
  const vyre_step step = {.kernel = kernel, .buffers = ranges, .buffer_count = 2, .groups = {1, 1, 1}};
  const vyre_read reads[] = {{ranges[0], got}, {ranges[1], got + size}};
  const vyre_sequence sequence = {NULL, 0, uploads, 2, &step, 1, reads, 2, NULL, 0, NULL, NULL};
  assert_ok(ops->submit(target, &sequence, NULL));
  if (memcmp(got, data, (size_t)2 * size) != 0)
    fail_msg("%s, dimension %u, %u layers: other bytes", formats[image->format].name, (uint32_t)image->dim, image->layers);
  assert_ok(ops->free(target, buffer));
}

/* Checks the bytes of an image.  Returns false if the device does not support the image. */
static bool
keeps_bytes(vyre_slot_kind kind, const vyre_image *image)
{
  const vyre_image images[] = {*image, *image};
  const vyre_kernel_slot slots[] = {{.binding = 1, .kind = kind, .count = 2, .images = images, .sampler = VYRE_SAMPLER_LINEAR},
                                    {.binding = 2, .kind = VYRE_SLOT_SAMPLER, .count = 3}};
  vyre_kernel kernel;
  vyre_status status = compile(slots, 2, &kernel);
  if (status) {
    assert_fails(status, VYRE_CODE_INPUT, "does not support", "");
    return false;
  }
  check_bytes(kind, image, kernel);
  assert_ok(ops->release(target, kernel));
  return true;
}

TEST(images_of_each_format_keep_their_bytes)
{
  static const vyre_slot_kind kinds[] = {VYRE_SLOT_STORAGE_IMAGE, VYRE_SLOT_STORAGE_TEXELS, VYRE_SLOT_SAMPLED_IMAGE,
                                         VYRE_SLOT_COMBINED};
  for (uint32_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
    uint32_t count = 0;
    for (uint32_t format = 1; format < FORMATS; format++) {
      const vyre_image image = {IMAGE(2D, format, 7, 5, 1, 1)};
      count += keeps_bytes(kinds[k], &image);
    }
    assert_true(count >= 15); /* a device need not support all formats */
  }
}

TEST(images_of_each_shape_keep_their_bytes)
{
  static const vyre_image images[] = {
      {IMAGE(1D, RGBA32F, 9, 1, 1, 1)},
      {IMAGE(1D, R32F, 9, 1, 1, 3), .arrayed = true},
      {IMAGE(2D, R32F, 5, 4, 1, 3), .arrayed = true},
      {IMAGE(3D, R32F, 5, 4, 3, 1)},
      {IMAGE(CUBE, R32F, 4, 4, 1, 6)},
      {IMAGE(CUBE, R32F, 4, 4, 1, 12), .arrayed = true},
  };
  static const vyre_image depth = {IMAGE(2D, R32F, 4, 4, 1, 1), .is_depth = true};
  for (uint32_t i = 0; i < sizeof images / sizeof images[0]; i++)
    assert_true(keeps_bytes(VYRE_SLOT_STORAGE_IMAGE, &images[i]));
  assert_true(keeps_bytes(VYRE_SLOT_COMBINED, &depth));
}

/* ---- refused descriptions ------------------------------------------------------------------------------------------------ */

static void
refuse(const vyre_kernel_slot *slot, const char *word)
{
  vyre_kernel kernel;
  assert_fails(compile(slot, 1, &kernel), VYRE_CODE_INPUT, word, "");
}

TEST(invalid_descriptions_are_refused)
{
  static const vyre_image bad[] = {
      {IMAGE(2D, 0, 4, 4, 1, 1)},
      {IMAGE(2D, FORMATS, 4, 4, 1, 1)},
      {IMAGE(2D, R32F, 4, 0, 1, 1)},
      {IMAGE(2D, R32F, 4, 4, 2, 1)},
      {IMAGE(2D, R32F, 4, 4, 1, 0)},
      {IMAGE(2D, R32F, 4, 4, 1, 2)},
      {IMAGE(1D, R32F, 4, 4, 1, 1)},
      {IMAGE(CUBE, R32F, 4, 5, 1, 6)},
      {IMAGE(CUBE, R32F, 4, 4, 1, 8), .arrayed = true},
      {IMAGE(3D, R32F, 4, 4, 4, 1), .arrayed = true},
      {IMAGE(2D, RGBA32F, 4, 4, 1, 1), .is_depth = true},
      {IMAGE(_COUNT, R32F, 4, 4, 1, 1)},
  };
  static const vyre_image wide = {IMAGE(2D, R32F, UINT32_MAX, 4, 1, 1)};
  static const struct {
    vyre_kernel_slot slot;
    const char *word;
  } slots[] = {
      {{.set = 1, .binding = 2, .kind = VYRE_SLOT_STORAGE_IMAGE, .images = bad},
       "set 1 binding 2 is not a valid image: format 0, dimension 1, 4 x 4 x 1 texels, 1 layers"},
      {{.kind = VYRE_SLOT_STORAGE_IMAGE, .images = &wide},
       "is a storage image of r32f, 4294967295 x 4 x 1 texels, 1 layers, which the device '"},
      {{.kind = VYRE_SLOT_UNIFORM_TEXELS, .images = &wide}, "is uniform texels of r32f, "},
      {{.kind = VYRE_SLOT_UNIFORM_TEXELS}, "an image without size and format"},
      {{.kind = VYRE_SLOT__COUNT}, "has 1 descriptors of kind 8"},
      {{.kind = VYRE_SLOT_SAMPLER, .count = UINT32_MAX}, "has 4294967295 descriptors of kind 7"},
  };
  for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    refuse(&(vyre_kernel_slot){.kind = VYRE_SLOT_STORAGE_IMAGE, .images = &bad[i]}, "is not a valid image");
  for (uint32_t i = 0; i < sizeof slots / sizeof slots[0]; i++)
    refuse(&slots[i].slot, slots[i].word);
}

TEST(a_range_that_does_not_fit_its_image_is_refused)
{
  static const vyre_image image = {IMAGE(2D, R32F, 4, 4, 1, 1)};
  const vyre_kernel_slot slot = {.kind = VYRE_SLOT_STORAGE_IMAGE, .images = &image};
  vyre_kernel kernel;
  vyre_device_buffer buffer;
  assert_ok(compile(&slot, 1, &kernel));
  assert_ok(ops->allocate(target, 128, &buffer));
  const vyre_range ranges[] = {{buffer, 0, 60}, {buffer, 0, 0}, {buffer, 8, 64}};
  for (uint32_t i = 0; i < 3; i++) {
    const vyre_step step = {.kernel = kernel, .buffers = &ranges[i], .buffer_count = 1, .groups = {1, 1, 1}};
    assert_fails(ops->submit(target, &(vyre_sequence){.steps = &step, .step_count = 1}, NULL), VYRE_CODE_INPUT,
                 "needs 64 bytes of texels", "");
  }
  assert_ok(ops->release(target, kernel));
  assert_ok(ops->free(target, buffer));
}

TEST_MAIN(prepare, finish)
