/* SPDX-License-Identifier: Apache-2.0 */
#include "export_support.h"

#include "vyre/run.h"
#include "vyre/verify.h"

#include <inttypes.h>
#include <spirv-tools/libspirv.h>
#include <spirv/unified1/spirv.h>

#ifdef EXPORT_THROUGH_GLSL
#include "../glsl/accepts.h"
#include "vyre/cross.h"
#endif

static vyre_target *device; /* NULL if the tests of the program use no device */

int
export_device_open(void **state)
{
  (void)state;
  vyre_status status = vyre_target_vulkan.open(NULL, NULL, &device);
  const bool failed = status != VYRE_OK;
  if (failed)
    print_error("%s\n", vyre_status_text(status));
  vyre_status_free(status);
  return failed ? -1 : 0; /* a failure skips all tests of the group, and fails it */
}

int
export_device_close(void **state)
{
  (void)state;
  vyre_status_free(device ? vyre_target_vulkan.close(device) : NULL);
  return 0;
}

void
export_must(vyre_status status)
{
  if (status)
    print_error("%s\n", vyre_status_text(status));
  assert_true(status == VYRE_OK);
}

static vyre_row
word_index(export_case *c, uint32_t slot)
{
  return slot ? vyre_build_imm(&c->b, VYRE_OP_add, c->base, slot) : c->base;
}

static void
open_case(export_case *c, uint32_t mode, uint32_t workgroup)
{
  *c = (export_case){.workgroup = {workgroup, 1, 1}, .groups = EXPORT_INVOCATIONS / workgroup};
  export_must(vyre_module_create(NULL, 1u << 20, &c->module));
  const uint32_t input = vyre_module_add_input(c->module, "test.vir");
  c->program = vyre_build_program(c->module, "main", mode, input, &c->b);
  const vyre_row size = vyre_build_const(&c->b, U32, workgroup), one = vyre_build_const(&c->b, U32, 1);
  vyre_build_workgroup(&c->b, size, one, one);
  const vyre_type_id words = vyre_type_runtime_array(c->module, U32, 4);
  c->in = vyre_build_buffer(&c->b, words, VYRE_SPACE_STORAGE, VYRE_ACCESS_NO_WRITE, 0, 0);
  c->out = vyre_build_buffer(&c->b, words, VYRE_SPACE_STORAGE, 0, 0, 1);
  vyre_row_set_name(c->module, c->in, "in", 2);
  vyre_row_set_name(c->module, c->out, "out", 3);
  c->gid =
      vyre_build_lane(&c->b, vyre_build(&c->b, VYRE_OP_gid, VYRE_TYPE(VYRE_U32, 3), 0, 0, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE), 0);
  c->base = vyre_build_imm(&c->b, VYRE_OP_mul, c->gid, EXPORT_SLOTS);
}

void
export_open(export_case *c, uint32_t mode)
{
  open_case(c, mode, 4);
}

void
export_open_wide(export_case *c, uint32_t mode)
{
  open_case(c, mode, EXPORT_INVOCATIONS);
}

const vyre_device_info *
export_device(void)
{
  static vyre_device_info info;
  info = (vyre_device_info){.subgroup = 8, .subgroup_operations = UINT32_MAX, .shared_atomics = UINT32_MAX};
  if (device)
    vyre_target_vulkan.describe(device, &info);
  return &info;
}

void
export_close(export_case *c)
{
  vyre_bytes_free(&c->code);
  vyre_module_destroy(c->module);
}

vyre_row
export_u32(export_case *c, uint32_t value)
{
  return vyre_build_const(&c->b, U32, value);
}

vyre_row
export_input(export_case *c, vyre_type type)
{
  vyre_row lanes[4];
  const vyre_kind kind = VYRE_TYPE_KIND(type);
  const uint32_t count = VYRE_TYPE_LANES(type);
  for (uint32_t i = 0; i < count; i++) {
    assert_true(c->loads < EXPORT_SLOTS);
    lanes[i] = vyre_build_load(&c->b, vyre_build_at(&c->b, c->in, word_index(c, c->loads++)), 0);
    if (kind == VYRE_BOOL) {
      lanes[i] = vyre_build_imm(&c->b, VYRE_OP_ne, lanes[i], 0);
    } else if (vyre_kind_bits(kind) == 64) { /* both halves are the same word, so that edges occur in 64 bits too */
      const vyre_row halves[2] = {lanes[i], lanes[i]};
      lanes[i] = vyre_build_convert(&c->b, VYRE_OP_bitcast, VYRE_TYPE(kind, 1), vyre_build_join(&c->b, halves, 2));
    } else if (vyre_kind_bits(kind) < 32) { /* the low part of a word or the high one */
      const vyre_kind plain = vyre_kind_bits(kind) == 8 ? VYRE_U8 : VYRE_U16;
      if (i & 1)
        lanes[i] = vyre_build_imm(&c->b, VYRE_OP_ushr, lanes[i], 32 - vyre_kind_bits(kind));
      lanes[i] = vyre_build_convert(&c->b, VYRE_OP_convert, VYRE_TYPE(plain, 1), lanes[i]);
      if (kind != plain)
        lanes[i] = vyre_build_convert(&c->b, VYRE_OP_bitcast, VYRE_TYPE(kind, 1), lanes[i]);
    } else if (kind != VYRE_U32)
      lanes[i] = vyre_build_convert(&c->b, VYRE_OP_bitcast, VYRE_TYPE(kind, 1), lanes[i]);
  }
  return vyre_build_join(&c->b, lanes, count);
}

static vyre_type
type_of(const export_case *c, vyre_row row)
{
  return VYRE_ROW_TYPE(vyre_module_view(c->module)->op[row.id]);
}

void
export_output(export_case *c, vyre_row value)
{
  vyre_type type = type_of(c, value);
  const vyre_kind kind = VYRE_TYPE_KIND(type);
  const uint32_t bits = vyre_kind_bits(kind), fixed = c->fixed;
  if (bits == 64 && VYRE_TYPE_LANES(type) > 1) { /* stores one lane at a time, each as two words */
    for (uint32_t i = 0; i < VYRE_TYPE_LANES(type); i++, c->fixed += fixed != 0)
      export_output(c, vyre_build_lane(&c->b, value, i));
    c->fixed = fixed;
    return;
  }
  if (bits == 64) {
    type = VYRE_TYPE(VYRE_U32, 2);
    value = vyre_build_convert(&c->b, VYRE_OP_bitcast, type, value);
  } else if (bits == 8 || bits == 16) {
    const vyre_type plain = VYRE_TYPE(bits == 8 ? VYRE_U8 : VYRE_U16, VYRE_TYPE_LANES(type));
    if (type != plain)
      value = vyre_build_convert(&c->b, VYRE_OP_bitcast, plain, value);
    type = VYRE_TYPE(VYRE_U32, VYRE_TYPE_LANES(type));
    value = vyre_build_convert(&c->b, VYRE_OP_convert, type, value);
  }
  for (uint32_t i = 0; i < VYRE_TYPE_LANES(type); i++) {
    vyre_row lane = VYRE_TYPE_LANES(type) == 1 ? value : vyre_build_lane(&c->b, value, i);
    if (VYRE_TYPE_KIND(type) == VYRE_BOOL)
      lane = vyre_build_select(&c->b, lane, export_u32(c, 1), export_u32(c, 0));
    else if (VYRE_TYPE_KIND(type) != VYRE_U32)
      lane = vyre_build_convert(&c->b, VYRE_OP_bitcast, U32, lane);
    assert_true(c->stores < EXPORT_SLOTS);
    export_slot *slot = &c->slots[c->stores];
    *slot = c->to_come;
    slot->bits = kind == VYRE_F16 ? 16 : kind != VYRE_F64 ? 32 : i == 0 ? 64 : 0;
    slot->fixed = fixed == 0 || kind == VYRE_F64 ? fixed : fixed + i;
    vyre_build_store(&c->b, vyre_build_at(&c->b, c->out, word_index(c, c->stores++)), lane, 0);
  }
}

void
export_fixed_where(export_case *c, vyre_row where)
{
  const export_slot own = c->to_come;
  const uint32_t first = c->stores + 1;
  c->to_come = (export_slot){.label = own.label};
  c->fixed = 0;
  if (where.id)
    export_output(c, where);
  c->to_come = own;
  c->fixed = where.id ? first : 0;
}

void
export_validate(const vyre_bytes *code)
{
  spv_context context = spvContextCreate(SPV_ENV_VULKAN_1_2);
  const uint32_t *words = (const uint32_t *)(const void *)code->data;
  spv_const_binary_t binary = {words, code->size / 4};
  spv_diagnostic diagnostic = NULL;
  const spv_result_t result = spvValidate(context, &binary, &diagnostic);
  if (result != SPV_SUCCESS) {
    print_error("spirv-val: word %zu: %s\n", diagnostic ? diagnostic->position.index : 0,
                diagnostic ? diagnostic->error : "invalid");
    spv_text text = NULL;
    spvBinaryToText(context, words, code->size / 4, SPV_BINARY_TO_TEXT_OPTION_INDENT | SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES,
                    &text, NULL);
    if (text)
      print_error("%s\n", text->str);
    spvTextDestroy(text);
  }
  spvDiagnosticDestroy(diagnostic);
  spvContextDestroy(context);
  assert_int_equal(result, SPV_SUCCESS);
}

#ifdef EXPORT_THROUGH_GLSL
/* Returns whether a module of glslang is valid.  It orders some operations of specialization constants wrongly. */
static bool
is_valid(const vyre_bytes *code)
{
  spv_context context = spvContextCreate(SPV_ENV_VULKAN_1_2);
  spv_const_binary_t binary = {(const uint32_t *)(const void *)code->data, code->size / 4};
  const bool valid = spvValidate(context, &binary, NULL) == SPV_SUCCESS;
  spvContextDestroy(context);
  return valid;
}

/* Writes SPIR-V through GLSL of SPIRV-Cross.  Leaves the code empty if SPIRV-Cross or glslang cannot. */
static void
write_through_glsl(export_case *c)
{
  const vyre_cross_options cross = {.struct_size = sizeof cross, .language = VYRE_CROSS_GLSL};
  vyre_bytes words = {0}, text = {0};
  export_must(vyre_spirv_write(c->module, 0, NULL, &words));
  vyre_status status = vyre_cross_write(words.data, words.size, "exported", &cross, &text);
  vyre_bytes_free(&words);
  if (status && strstr(vyre_status_text(status), "cannot be written as GLSL")) {
    if (getenv("VYRE_TEST_VERBOSE"))
      print_message("left out: %s\n", vyre_status_text(status));
    vyre_status_free(status);
    return;
  }
  export_must(status);
  if (!glsl_accepts(&text, &c->code) || !is_valid(&c->code))
    c->code.size = 0;
  vyre_bytes_free(&text);
}
#endif

void
export_write(export_case *c)
{
  export_must(vyre_module_status(c->module));
  export_must(vyre_module_seal(c->module, NULL));
  vyre_verify_errors errors = {0};
  export_must(vyre_verify(c->module, &errors));
  vyre_verify_errors_free(&errors);
  c->program.id = vyre_module_view(c->module)->first[0];
#ifdef EXPORT_THROUGH_GLSL
  write_through_glsl(c);
#else
  const vyre_spirv_options options = {.struct_size = sizeof options,
                                      .float_controls = c->not_on_device ? 0 : export_device()->float_controls};
  export_must(vyre_spirv_write(c->module, 0, &options, &c->code));
  export_validate(&c->code);
  /* a second write gives the same bytes */
  vyre_bytes again = {0};
  export_must(vyre_spirv_write(c->module, 0, &options, &again));
  assert_int_equal(again.size, c->code.size);
  assert_memory_equal(again.data, c->code.data, again.size);
  vyre_bytes_free(&again);
#endif
}

uint32_t
export_count(const export_case *c, uint32_t opcode)
{
  const uint32_t *words = (const uint32_t *)(const void *)c->code.data;
  uint32_t count = 0;
  for (size_t at = 5; at < c->code.size / 4; at += words[at] >> 16)
    count += (words[at] & 0xffff) == opcode;
  return count;
}

bool
export_is_direct(void)
{
#ifdef EXPORT_THROUGH_GLSL
  return false;
#else
  return true;
#endif
}

/* ---- running ---- */

/* Binds the buffers of bindings 0 to 2 in set 0.  Returns true if the program has any other buffer. */
static bool
has_other_buffers(const export_case *c, export_memory *memory, vyre_binding bindings[16], uint32_t *out_count)
{
  const vyre_view *view = vyre_module_view(c->module);
  *out_count = 0;
  for (uint32_t row = view->first[c->program.id]; row; row = view->next[row]) {
    if (VYRE_ROW_OP(view->op[row]) != VYRE_OP_buffer || VYRE_BUFFER_SPACE(view->imm_hi[row]) > VYRE_SPACE_PUSH)
      continue;
    const vyre_buffer_info *info = vyre_buffer_info_of(c->module, (vyre_row){row});
    if (VYRE_BUFFER_SPACE(view->imm_hi[row]) == VYRE_SPACE_PUSH || info->set || info->binding >= EXPORT_BINDINGS ||
        vyre_buffer_descriptor_steps(c->module, row) || *out_count == 16)
      return true;
    const uint32_t size = c->sizes[info->binding];
    bindings[(*out_count)++] =
        (vyre_binding){{row}, memory->words[info->binding], size ? size : sizeof memory->words[info->binding], 0};
  }
  return false;
}

vyre_status
export_interpret(const export_case *c, const export_memory *in, export_memory *out, vyre_interp_options options)
{
  vyre_binding bindings[16];
  uint32_t count;
  *out = *in;
  if (has_other_buffers(c, out, bindings, &count))
    return VYRE_ERROR(VYRE_CODE_INPUT, "it has other buffers");
  const vyre_dispatch dispatch = {.program = c->program, .groups = {c->groups, 1, 1}, .bindings = bindings, .binding_count = count};
  options.subgroup = export_device()->subgroup;
  return vyre_interp_run(c->module, &dispatch, &options, NULL);
}

/* Runs the program on the device.  Returns false if the device lacks something that the case allows it to lack. */
static bool
run_on_device(const export_case *c, const export_memory *in, export_memory *out)
{
  static const vyre_kernel_slot slots[EXPORT_BINDINGS] = {{.binding = 0}, {.binding = 1}, {.binding = 2}};
  const vyre_kernel_desc desc = {.label = "test",
                                 .form = VYRE_KERNEL_SPIRV,
                                 .code = c->code.data,
                                 .size = c->code.size,
                                 .entry = "main",
                                 .workgroup = {c->workgroup[0], c->workgroup[1], c->workgroup[2]},
                                 .slots = slots,
                                 .slot_count = EXPORT_BINDINGS};
  vyre_kernel kernel;
  vyre_range ranges[EXPORT_BINDINGS] = {0};
  vyre_upload uploads[EXPORT_BINDINGS];
  vyre_read reads[EXPORT_BINDINGS];
  vyre_status status = vyre_target_vulkan.compile(device, &desc, &kernel);
  if (c->may_lack && status && strstr(vyre_status_text(status), "which the device")) {
    vyre_status_free(status);
    return false;
  }
  export_must(status);
  *out = *in;
  for (uint32_t i = 0; i < EXPORT_BINDINGS; i++) {
    const uint32_t size = c->sizes[i] ? c->sizes[i] : (uint32_t)sizeof out->words[i];
    export_must(vyre_target_vulkan.allocate(device, size, &ranges[i].buffer));
    uploads[i] = (vyre_upload){ranges[i], in->words[i]};
    reads[i] = (vyre_read){ranges[i], out->words[i]};
  }
  const vyre_step step = {.kernel = kernel, .buffers = ranges, .buffer_count = EXPORT_BINDINGS, .groups = {c->groups, 1, 1}};
  const vyre_sequence sequence = {.uploads = uploads,
                                  .upload_count = EXPORT_BINDINGS,
                                  .steps = &step,
                                  .step_count = 1,
                                  .reads = reads,
                                  .read_count = EXPORT_BINDINGS};
  export_must(vyre_target_vulkan.submit(device, &sequence, NULL));
  export_must(vyre_target_vulkan.release(device, kernel));
  for (uint32_t i = 0; i < EXPORT_BINDINGS; i++)
    export_must(vyre_target_vulkan.free(device, ranges[i].buffer));
  return true;
}

/* Returns a float of `bits` bits from its words. */
static uint64_t
value_at(const uint32_t *words, uint32_t bits)
{
  return bits == 64 ? words[0] | (uint64_t)words[1] << 32 : words[0];
}

static uint64_t
magnitude(uint32_t bits, uint64_t value)
{
  return value & ((UINT64_C(1) << (bits - 1)) - 1);
}

/* NaNs are greater than an infinity. */
static bool
is_nan(uint32_t bits, uint64_t value)
{
  return magnitude(bits, value) > (bits == 16 ? 0x7c00u : bits == 32 ? 0x7f800000u : 0x7ff0000000000000u);
}

/* Returns whether the value is a zero or a denormal. */
static bool
is_tiny(uint32_t bits, uint64_t value)
{
  return magnitude(bits, value) < (bits == 16 ? 0x0400u : bits == 32 ? 0x00800000u : 0x0010000000000000u);
}

static int64_t
place_in_order(uint32_t bits, uint64_t value)
{
  const int64_t place = (int64_t)magnitude(bits, value);
  return value >> (bits - 1) & 1 ? -place : place;
}

static bool
agree(const export_slot *slot, uint32_t tolerance, uint64_t a, uint64_t b)
{
  const uint32_t bits = slot->bits;
  if (a == b || tolerance == UINT32_MAX || (is_nan(bits, a) && is_nan(bits, b)))
    return true;
  const int64_t left = place_in_order(bits, a), right = place_in_order(bits, b);
  if (slot->zeros_agree && left == 0 && right == 0)
    return true;
  if (!tolerance || is_nan(bits, a) || is_nan(bits, b))
    return false;
  return (left > right ? (uint64_t)left - (uint64_t)right : (uint64_t)right - (uint64_t)left) <= tolerance;
}

/* Returns whether the module has DenormPreserve for floats of that width. */
static bool
preserves_denormals(const export_case *c, uint32_t bits)
{
  const uint32_t *words = (const uint32_t *)(const void *)c->code.data;
  for (size_t at = 5; at < c->code.size / 4; at += words[at] >> 16)
    if ((words[at] & 0xffffu) == SpvOpExecutionMode && words[at + 2] == SpvExecutionModeDenormPreserve && words[at + 3] == bits)
      return true;
  return false;
}

/* Returns whether Vulkan allows the result to a device that is not a processor.  `flushed` is the result without denormals. */
static bool
device_may(const export_case *c, const export_slot *slot, uint64_t expected, uint64_t flushed, uint64_t found)
{
  const uint32_t exact = slot->tolerance, open = slot->device_tolerance, tolerance = exact > open ? exact : open;
  if (agree(slot, tolerance, expected, found))
    return true;
  switch (slot->denormals) {
  case EXPORT_DENORMALS_ALIKE:
    return is_tiny(slot->bits, expected) && is_tiny(slot->bits, found);
  case EXPORT_DENORMALS_KEPT:
    if (preserves_denormals(c, slot->bits))
      return false;
    break;
  default:
    break;
  }
  return agree(slot, tolerance, flushed, found);
}

/* Compares the words of binding 1 by their slots, and all other words exactly.  `flushed` is NULL if results must be exact. */
static void
compare(const export_case *c, const char *what, const export_memory *expected, const export_memory *flushed,
        const export_memory *found)
{
  unsigned differ = 0;
  for (uint32_t i = 0; i < EXPORT_BINDINGS * EXPORT_WORDS; i++) {
    static const export_slot unused = {.bits = 32};
    const uint32_t binding = i / EXPORT_WORDS, at = i % EXPORT_WORDS, number = at % EXPORT_SLOTS;
    const export_slot *slot = binding == 1 && number < c->stores ? &c->slots[number] : &unused;
    if (slot->bits == 0) /* the second word of a 64-bit value */
      continue;
    const uint64_t right = value_at(expected->words[binding] + at, slot->bits),
                   got = value_at(found->words[binding] + at, slot->bits);
    if (agree(slot, slot->tolerance, right, got))
      continue;
    if (flushed && ((slot->fixed && expected->words[1][at - number + slot->fixed - 1] == 0) ||
                    device_may(c, slot, right, value_at(flushed->words[binding] + at, slot->bits), got)))
      continue;
    if (differ++ < 64)
      print_error("%s: %s: binding %u, word %u (of invocation %u word %u): expected 0x%08" PRIx64 ", found 0x%08" PRIx64 "\n", what,
                  slot->label ? slot->label : "", binding, at, at / EXPORT_SLOTS, number, right, got);
  }
  assert_int_equal(differ, 0);
}

/* Fills the input with values that often reveal errors: ends of ranges, zeros, NaN, infinities, small integers, and noise. */
static void
edge_cases(uint32_t words[EXPORT_WORDS])
{
  static const uint32_t edges[] = {0,          1,          2,          3,          31,         32,         33,         0x7fffffff,
                                   0x80000000, 0xffffffff, 0xfffffffe, 0x3f800000, 0xbf800000, 0x40490fdb, 0x7f800000, 0xff800000,
                                   0x7fc00000, 0x3f000000, 0x4f000000, 0x4f800000, 0xcf000000, 0x00800000, 0xc0a00000, 0x42c80000};
  uint32_t noise = 12345;
  for (uint32_t i = 0; i < EXPORT_WORDS; i++) {
    noise = noise * 1664525u + 1013904223u;
    words[i] = noise >> 30 ? edges[(noise >> 8) % (sizeof(edges) / sizeof(edges[0]))] : noise;
  }
}

/* Interprets the program with flushed denormals. */
static void
interpret_flushed(const export_case *c, const export_memory *in, export_memory *out)
{
  uint32_t *mode = (uint32_t *)(uintptr_t)&vyre_module_view(c->module)->imm[c->program.id];
  const uint32_t own = *mode;
  *mode |= VYRE_PROGRAM_FLUSH_16 | VYRE_PROGRAM_FLUSH_32 | VYRE_PROGRAM_FLUSH_64;
  export_must(export_interpret(c, in, out, (vyre_interp_options){.struct_size = sizeof(vyre_interp_options)}));
  *mode = own;
}

/* Reads the module back, runs it, and writes it again. */
static void
round_trip(const export_case *c, const export_memory *in, const export_memory *expected)
{
  static export_memory found;
  export_case again = *c;
  again.code = (vyre_bytes){0};
  export_must(vyre_module_create(NULL, 1u << 20, &again.module));
  export_must(vyre_spirv_read(again.module, c->code.data, c->code.size, "again.spv"));
  export_must(vyre_module_seal(again.module, NULL));
  vyre_verify_errors errors = {0};
  vyre_status status = vyre_verify(again.module, &errors);
  if (status) {
    vyre_bytes text = {0};
    export_must(vyre_verify_print(again.module, &errors, &text));
    print_error("%s\n", text.data);
    vyre_bytes_free(&text);
  }
  export_must(status);
  vyre_verify_errors_free(&errors);
  again.program.id = vyre_module_view(again.module)->first[0];
  /* a strict program contains all guards against undefined results, except for functions with a domain; GLSL of SPIRV-Cross
   * computes lanes that it does not select, which the interpreter reports */
  bool defined = export_is_direct() && !c->has_domain && !(vyre_module_view(c->module)->imm[c->program.id] & VYRE_PROGRAM_RELAXED);
  for (uint32_t i = 0; i < c->stores; i++)
    defined = defined && c->slots[i].tolerance != UINT32_MAX;
  export_must(export_interpret(&again, in, &found,
                               (vyre_interp_options){.struct_size = sizeof(vyre_interp_options), .report_undefined = defined}));
  compare(c, "read back", expected, NULL, &found);
  export_must(vyre_spirv_write(again.module, 0, NULL, &again.code));
  export_validate(&again.code);
  vyre_bytes_free(&again.code);
  vyre_module_destroy(again.module);
}

/* Returns whether the case also runs on the device.  Under a sanitizer only one case of 16 does, because the driver's compiler
 * needs three times as long there. */
static bool
runs_on_device(const export_case *c)
{
#ifdef VYRE_SANITIZED
  enum { ONE_OF = 16 };
  static unsigned cases;
  if (cases++ % ONE_OF)
    return false;
#endif
  return device && !c->not_on_device && !c->interpreted;
}

void
export_run_everywhere(export_case *c, const export_memory *in, const export_memory *expected)
{
  static export_memory flushed, found;
  round_trip(c, in, expected);
  if (!runs_on_device(c) || !run_on_device(c, in, &found))
    return;
  const bool is_processor = export_device()->kind == VYRE_DEVICE_CPU; /* computes exactly what the interpreter computes */
  if (!is_processor)
    interpret_flushed(c, in, &flushed);
  compare(c, "Vulkan", expected, is_processor ? NULL : &flushed, &found);
}

void
export_run(export_case *c, const uint32_t *words)
{
  static export_memory in, expected;
  memset(&in, 0xee, sizeof in);
  if (words)
    memcpy(in.words[0], words, sizeof in.words[0]);
  else
    edge_cases(in.words[0]);
  export_write(c);
  if (!c->code.size)
    return;
  export_must(export_interpret(c, &in, &expected, (vyre_interp_options){.struct_size = sizeof(vyre_interp_options)}));
  export_run_everywhere(c, &in, &expected);
}
