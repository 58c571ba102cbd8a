/* Runs a program before and after a pipeline, and compares the results.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "vyre/spirv.h"
#include "vyre/text.h"
#include "vyre/verify.h"

#include <stdio.h>
#include <string.h>

const char *
verdict_text(verdict of)
{
  static const char *const texts[] = {"fine",
                                      "the program itself is invalid",
                                      "a pass failed",
                                      "the output does not run",
                                      "the output computes other results",
                                      "the output has undefined behavior that the program does not have",
                                      "the output differs if the program is read from text and phases run",
                                      "the output differs after SPIR-V export and import"};
  return texts[of];
}

/* Frees the status and returns whether it is OK.  Otherwise copies its text. */
static bool
is_ok(vyre_status status, char message[256])
{
  if (!status)
    return true;
  snprintf(message, 256, "%s", vyre_status_text(status));
  vyre_status_free(status);
  return false;
}

/* Verifies after each pass only without a device, because verified passes do not form sequences. */
static vyre_status
run_pipeline(const trial *t, vyre_device *device, vyre_module *module)
{
  const vyre_pipeline_options options = {.struct_size = sizeof options,
                                         .verify_each = !device,
                                         .check_changed = true,
                                         .report = device ? NULL : t->report,
                                         .device = device,
                                         .cost_model = t->cost_model};
  vyre_pipeline *pipeline;
  VYRE_TRY(vyre_pipeline_parse(t->registry, t->pipeline, strlen(t->pipeline), "-passes", &pipeline));
  vyre_status status = vyre_pipeline_run(pipeline, module, &options);
  vyre_pipeline_destroy(pipeline);
  return status;
}

static verdict
compare_memory(const trial *t, const vyre_module *after, uint32_t unbound, const random_memory *wanted, char message[256])
{
  random_memory got;
  if (!is_ok(random_program_run(after, t->seed, false, unbound, &got), message))
    return VERDICT_RUN;
  const uint32_t *is = (const uint32_t *)&got, *was = (const uint32_t *)wanted;
  for (uint32_t i = 0; i < sizeof got / sizeof *is; i++)
    if (is[i] != was[i]) {
      snprintf(message, 256, "word %u of memory is 0x%08x, was 0x%08x", i, is[i], was[i]);
      return VERDICT_RESULT;
    }
  return VERDICT_FINE;
}

/* Compares the results with another initial value of unset variables, unless it makes the behavior of the program undefined. */
static verdict
compare_other_start(const trial *t, const vyre_module *program, const vyre_module *after, uint32_t unbound, char message[256])
{
  const vyre_view *v = vyre_module_view(program);
  random_memory wanted, unused;
  unbound |= RANDOM_OTHER_START;
  if ((v->imm[v->first[0]] & VYRE_PROGRAM_RELAXED) == 0 ||
      !is_ok(random_program_run(program, t->seed, true, unbound, &unused), message) ||
      !is_ok(random_program_run(program, t->seed, false, unbound, &wanted), message))
    return VERDICT_FINE;
  return compare_memory(t, after, unbound, &wanted, message);
}

/* Compares the results of a program without undefined behavior. */
static verdict
compare(const trial *t, const vyre_module *after, uint32_t unbound, const random_memory *wanted, char message[256])
{
  random_memory got;
  const verdict found = compare_memory(t, after, unbound, wanted, message);
  if (found != VERDICT_FINE)
    return found;
  return is_ok(random_program_run(after, t->seed, true, unbound, &got), message) ? VERDICT_FINE : VERDICT_UNDEFINED;
}

/* Prints and parses the program, and runs the pipeline on the device: by phases if passes have them, neighbours as one sequence. */
static vyre_status
run_text(const trial *t, const vyre_module *program, vyre_bytes *out)
{
  vyre_bytes text = {0};
  vyre_module *module;
  VYRE_TRY(vyre_module_create(NULL, 0, &module));
  vyre_status status = vyre_text_print(program, NULL, &text);
  if (!status)
    status = vyre_text_parse(module, text.data, text.size, "text", (vyre_diagnostics){0});
  if (!status)
    status = run_pipeline(t, t->device, module);
  if (!status)
    status = vyre_text_print(module, NULL, out);
  vyre_bytes_free(&text);
  vyre_module_destroy(module);
  return status;
}

/* Checks that text and phases do not change the output of the pipeline. */
static verdict
compare_text(const trial *t, const vyre_module *program, const vyre_module *after, char message[256])
{
  vyre_bytes wanted = {0}, got = {0};
  verdict found = VERDICT_FINE;
  if (!is_ok(vyre_text_print(after, NULL, &wanted), message) || !is_ok(run_text(t, program, &got), message)) {
    found = VERDICT_TEXT;
  } else if (wanted.size != got.size || memcmp(wanted.data, got.data, got.size) != 0) {
    size_t at = 0;
    while (at < got.size && wanted.data[at] == got.data[at])
      at++;
    while (at && got.data[at - 1] != '\n')
      at--;
    snprintf(message, 256, "'%.*s', of the text '%.*s'", (int)strcspn(wanted.data + at, "\n"), wanted.data + at,
             (int)strcspn(got.data + at, "\n"), got.data + at);
    found = VERDICT_TEXT;
  }
  vyre_bytes_free(&wanted);
  vyre_bytes_free(&got);
  return found;
}

/* Returns whether an operation is undefined outside of its domain, as pow of negative numbers.  In a strict program such a row has
 * a value, but SPIR-V has no guard for it. */
static bool
has_domain(const vyre_module *module)
{
  const vyre_view *v = vyre_module_view(module);
  bool found = false;
  for (uint32_t row = 1; row < v->rows; row++)
    found = found || vyre_op_infos[VYRE_ROW_OP(v->op[row])].undefined == VYRE_UNDEFINED_DOMAIN;
  return found;
}

/* Writes the output as SPIR-V, reads it and runs it.  Programs that SPIR-V cannot express, as with a float function of 64 bits, are
 * not failures.  SPIR-V has no unbound descriptors as strict programs do, so all descriptors are bound. */
static verdict
compare_spirv(const trial *t, const vyre_module *after, uint32_t unbound, const random_memory *wanted, char message[256])
{
  const vyre_view *v = vyre_module_view(after);
  const bool is_strict = (v->imm[v->first[0]] & VYRE_PROGRAM_RELAXED) == 0;
  vyre_bytes words = {0};
  vyre_module *again = NULL;
  verdict found = VERDICT_FINE;
  random_memory bound;
  if (is_strict && unbound) {
    unbound = 0;
    wanted = &bound;
    if (!is_ok(random_program_run(after, t->seed, false, 0, &bound), message))
      return VERDICT_RUN;
  }
  vyre_status status = vyre_spirv_write(after, 0, NULL, &words);
  const bool refused = status && vyre_status_code(status) == VYRE_CODE_INPUT;
  if (!status)
    status = vyre_module_create(NULL, 1u << 20, &again);
  if (!status)
    status = vyre_spirv_read(again, words.data, words.size, "spirv");
  if (!status)
    status = vyre_module_seal(again, NULL);
  if (!is_ok(status, message))
    found = refused ? VERDICT_FINE : VERDICT_SPIRV;
  else if ((is_strict && has_domain(after) ? compare_memory : compare)(t, again, unbound, wanted, message) != VERDICT_FINE)
    found = VERDICT_SPIRV;
  vyre_bytes_free(&words);
  vyre_module_destroy(again);
  return found;
}

verdict
check_program(const trial *t, const vyre_module *program, char message[256])
{
  vyre_verify_errors errors = {.allocator = vyre_module_allocator(program)};
  random_memory wanted, unused;
  vyre_module *after;
  const bool verified = is_ok(vyre_verify(program, &errors), message);
  vyre_verify_errors_free(&errors);
  if (!verified || !is_ok(random_program_run(program, t->seed, false, 0, &wanted), message))
    return VERDICT_PROGRAM;
  char why[256];
  const bool defined = is_ok(random_program_run(program, t->seed, true, 0, &unused), why);
  const uint32_t unbound = defined ? random_program_unbound(program, t->seed) : 0;
  if (unbound && !is_ok(random_program_run(program, t->seed, false, unbound, &wanted), message))
    return VERDICT_PROGRAM;
  if (!is_ok(vyre_module_clone(program, &after), message))
    return VERDICT_PROGRAM;
  verdict found = VERDICT_PASS;
  if (is_ok(run_pipeline(t, NULL, after), message)) /* undefined behavior permits any result */
    found = defined ? compare(t, after, unbound, &wanted, message) : VERDICT_FINE;
  if (found == VERDICT_FINE && defined)
    found = compare_other_start(t, program, after, unbound, message);
  if (found == VERDICT_FINE && defined)
    found = compare_spirv(t, after, unbound, &wanted, message);
  if (found == VERDICT_FINE && t->text)
    found = compare_text(t, program, after, message);
  vyre_module_destroy(after);
  return found;
}
