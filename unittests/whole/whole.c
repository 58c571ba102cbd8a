/* See whole.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "whole.h"

#include <stdlib.h>
#include <string.h>

#define MOST_BINDINGS 16u

static const char pipeline_text[] = "default<O2>,repeat<2>(canon,cf,dce),expand,verify";

static vyre_status
load_plugins(whole *w)
{
  if (w->shared)
    return VYRE_OK;
  VYRE_TRY(vyre_registry_create(w->allocator, &w->registry));
  return vyre_registry_load_folder(w->registry, VYRE_TEST_PASSES, VYRE_ORIGIN_CORE);
}

static vyre_status
list_passes(whole *w)
{
  return w->shared ? VYRE_OK : vyre_registry_list(w->registry, &w->out);
}

static vyre_status
help(whole *w)
{
  return w->shared ? VYRE_OK : vyre_registry_help(w->registry, "fixpoint", &w->out);
}

static vyre_status
parse_pipeline(whole *w)
{
  if (w->shared)
    return VYRE_OK;
  return vyre_pipeline_parse(w->registry, pipeline_text, sizeof(pipeline_text) - 1, "-passes", &w->pipeline);
}

static vyre_status
print_pipeline(whole *w)
{
  return w->shared ? VYRE_OK : vyre_pipeline_print(w->pipeline, &w->out);
}

static vyre_status
read_input(whole *w)
{
  vyre_input_kind kind;
  VYRE_TRY(vyre_module_create(w->allocator, 1u << 16, &w->module));
  VYRE_TRY(vyre_input_read(w->module, w->path, NULL, w->diagnostics, &kind));
  return vyre_module_status(w->module);
}

/* Makes moved rows and dead rows, more than the columns have room for, and seals. */
static vyre_status
seal(whole *w)
{
  const vyre_view *v = vyre_module_view(w->module);
  for (uint32_t program = v->first[0]; program; program = v->next[program]) {
    vyre_builder b = {.module = w->module};
    vyre_builder_at_end(&b, (vyre_row){program});
    vyre_row x = vyre_build_const(&b, VYRE_TYPE(VYRE_U64, 1), program);
    vyre_builder_before(&b, (vyre_row){v->next[x.id]});
    for (uint32_t i = 0; i < 2000; i++)
      vyre_row_kill(w->module, vyre_build_unary(&b, VYRE_OP_not, x));
    vyre_row_set_name(w->module, x, "x", 1);
  }
  return vyre_module_seal(w->module, NULL);
}

static vyre_status
check(whole *w)
{
  const vyre_pipeline_options options = {.struct_size = sizeof options};
  return vyre_module_check(w->module, &options);
}

static vyre_status
versions(whole *w)
{
  VYRE_TRY(vyre_module_make_analyses(w->module, VYRE_VERSIONS));
  return vyre_verify_analyses(w->module, VYRE_VERSIONS);
}

static vyre_status
analyses(whole *w)
{
  VYRE_TRY(vyre_module_make_analyses(w->module, VYRE_ANALYSES));
  return vyre_verify_analyses(w->module, VYRE_ANALYSES);
}

static vyre_status
clone(whole *w)
{
  return vyre_module_clone(w->module, &w->copy);
}

/* Prints with the module's allocator. */
static vyre_status
print_module(void *user, const vyre_observation *at)
{
  vyre_bytes text = {.allocator = vyre_module_allocator(at->module)};
  (void)user;
  vyre_status status = vyre_text_print(at->module, NULL, &text);
  vyre_bytes_free(&text);
  return status;
}

static vyre_status
run_passes(whole *w)
{
  const vyre_pipeline_options options = {.struct_size = sizeof options,
                                         .verify_each = true,
                                         .check_changed = true,
                                         .observe = print_module,
                                         .diagnostics = w->diagnostics};
  return vyre_pipeline_run(w->shared ? w->shared : w->pipeline, w->copy, &options);
}

static vyre_status
print(whole *w)
{
  return vyre_text_print(w->copy, NULL, &w->out);
}

static vyre_status
write_vir0(whole *w)
{
  static const vyre_vir0_named section = {"test.section", "what is in it", 13, true};
  w->file.allocator = w->allocator;
  return vyre_vir0_write(w->copy, &section, 1, &w->file);
}

static vyre_status
read_vir0(whole *w)
{
  VYRE_TRY(vyre_module_create(w->allocator, 1u << 16, &w->read));
  return vyre_vir0_read(w->read, w->file.data, w->file.size, "file", NULL, 0);
}

static vyre_status
write_spirv(whole *w)
{
  for (uint32_t input = 0; input < vyre_module_input_count(w->read); input++)
    VYRE_TRY(vyre_spirv_write(w->read, input, NULL, &w->out));
  return VYRE_OK;
}

static vyre_status
write_glsl(whole *w)
{
  vyre_bytes words = {.allocator = w->allocator};
  vyre_status status = vyre_spirv_write(w->read, 0, NULL, &words);
  if (!status)
    status = vyre_cross_write(words.data, words.size, "whole.spv", NULL, &w->out);
  vyre_bytes_free(&words);
  if (status && strstr(vyre_status_text(status), "out of memory"))
    return status;
  vyre_status_free(status); /* a text holds one entry point */
  return VYRE_OK;
}

static vyre_status
interpret_program(whole *w, uint32_t program)
{
  const vyre_view *v = vyre_module_view(w->copy);
  vyre_binding bindings[MOST_BINDINGS];
  const vyre_interp_options options = {.struct_size = sizeof options, .steps = 1u << 16};
  vyre_dispatch dispatch = {.program = {program}, .groups = {1, 1, 1}, .bindings = bindings};
  for (uint32_t row = v->first[program]; row && dispatch.binding_count < MOST_BINDINGS; row = v->next[row]) {
    if (VYRE_ROW_OP(v->op[row]) != VYRE_OP_buffer || VYRE_BUFFER_SPACE(v->imm_hi[row]) > VYRE_SPACE_PUSH)
      continue;
    size_t bytes = (size_t)vyre_type_get(w->copy, v->imm[row]).size + 256; /* 256 bytes for elements of a runtime array */
    bindings[dispatch.binding_count++] = (vyre_binding){{row}, calloc(1, bytes), bytes, 0};
  }
  vyre_status status = vyre_interp_run(w->copy, &dispatch, &options, NULL);
  for (uint32_t i = 0; i < dispatch.binding_count; i++) {
    if (!status)
      status = vyre_bytes_append(&w->out, bindings[i].data, bindings[i].size);
    free(bindings[i].data);
  }
  return status;
}

static vyre_status
interpret(whole *w)
{
  const vyre_view *v = vyre_module_view(w->copy);
  for (uint32_t program = v->first[0]; program; program = v->next[program])
    VYRE_TRY(interpret_program(w, program));
  return VYRE_OK;
}

/* Puts a barrier before the last row of each program, and splits the first program. */
static vyre_status
split_grid(whole *w)
{
  const vyre_view *v = vyre_module_view(w->copy);
  vyre_module *module;
  vyre_segments segments;
  VYRE_TRY(vyre_module_clone(w->copy, &module));
  vyre_builder b = {.module = module};
  for (uint32_t program = v->first[0]; program; program = v->next[program]) {
    vyre_builder_before(&b, (vyre_row){v->last[program]});
    vyre_build_barrier(&b, VYRE_ORDER(1, 1, 0x148u));
  }
  vyre_status status = vyre_module_status(module);
  if (!status)
    status = vyre_module_seal(module, NULL);
  if (!status)
    status = vyre_split_grid(module, (vyre_row){vyre_module_view(module)->first[0]}, &segments);
  if (!status)
    vyre_segments_free(&segments);
  vyre_module_destroy(module);
  return status;
}

const whole_step whole_steps[] = {
    {"loading plugins", load_plugins},
    {"listing passes", list_passes},
    {"explaining a pass", help},
    {"parsing a pipeline", parse_pipeline},
    {"printing a pipeline", print_pipeline},
    {"reading", read_input},
    {"sealing", seal},
    {"verifying", check},
    {"making versions", versions},
    {"making analyses", analyses},
    {"cloning", clone},
    {"running passes", run_passes},
    {"printing", print},
    {"writing VIR0", write_vir0},
    {"reading VIR0", read_vir0},
    {"writing SPIR-V", write_spirv},
    {"interpreting", interpret},
    {"splitting", split_grid},
    {"writing GLSL", write_glsl}, /* the last one, because each later failure would write it again */
};

const unsigned whole_step_count = sizeof(whole_steps) / sizeof(*whole_steps);

vyre_status
whole_run(whole *w)
{
  for (unsigned i = 0; i < whole_step_count; i++)
    VYRE_TRY(vyre_status_note(whole_steps[i].run(w), "while %s", whole_steps[i].name));
  return VYRE_OK;
}

void
whole_free(whole *w)
{
  vyre_module_destroy(w->module);
  vyre_module_destroy(w->copy);
  vyre_module_destroy(w->read);
  vyre_pipeline_destroy(w->pipeline);
  vyre_registry_destroy(w->registry);
  vyre_bytes_free(&w->file);
  vyre_bytes_free(&w->out);
}
