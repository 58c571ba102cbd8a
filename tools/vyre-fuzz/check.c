/* One program through one pipeline, run before and after.
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
                                      "the program itself is wrong",
                                      "a pass failed",
                                      "what came out does not run",
                                      "it computes something else",
                                      "something undefined runs that did not run before",
                                      "of its text, by phases, the pipeline makes something else",
                                      "as SPIR-V, read again, it is something else"};
  return texts[of];
}

/* Takes the status; whether there was none. */
static bool
settle(vyre_status status, char message[256])
{
  if (!status)
    return true;
  snprintf(message, 256, "%s", vyre_status_text(status));
  vyre_status_free(status);
  return false;
}

/* Passes that are verified one by one are in no sequence: on a device the last one is. */
static vyre_status
run_pipeline(const trial *t, vyre_device *device, vyre_module *module)
{
  const vyre_pipeline_options options = {.verify_each = !device,
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
  if (!settle(random_program_run(after, t->seed, false, unbound, &got), message))
    return VERDICT_RUN;
  const uint32_t *is = (const uint32_t *)&got, *was = (const uint32_t *)wanted;
  for (uint32_t i = 0; i < sizeof got / sizeof *is; i++)
    if (is[i] != was[i]) {
      snprintf(message, 256, "word %u of memory is 0x%08x, was 0x%08x", i, is[i], was[i]);
      return VERDICT_RESULT;
    }
  return VERDICT_FINE;
}

/* Of a program in which nothing undefined ran. */
static verdict
compare(const trial *t, const vyre_module *after, uint32_t unbound, const random_memory *wanted, char message[256])
{
  random_memory got;
  const verdict found = compare_memory(t, after, unbound, wanted, message);
  if (found != VERDICT_FINE)
    return found;
  return settle(random_program_run(after, t->seed, true, unbound, &got), message) ? VERDICT_FINE : VERDICT_UNDEFINED;
}

/* The program by way of its text, through the pipeline, and by phases where passes have them, neighbours as one sequence. */
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

/* Text keeps all that a pipeline depends on, and phases do what plain C does: its result is the same. */
static verdict
compare_text(const trial *t, const vyre_module *program, const vyre_module *after, char message[256])
{
  vyre_bytes wanted = {0}, got = {0};
  verdict found = VERDICT_FINE;
  if (!settle(vyre_text_print(after, NULL, &wanted), message) || !settle(run_text(t, program, &got), message)) {
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

/* Whether some row is undefined outside of its operation's domain, as pow is of negative numbers: in a strict program it has a
 * value, but nothing guards it in SPIR-V. */
static bool
has_domain(const vyre_module *module)
{
  const vyre_view *v = vyre_module_view(module);
  bool found = false;
  for (uint32_t row = 1; row < v->rows; row++)
    found = found || vyre_op_infos[VYRE_ROW_OP(v->op[row])].undefined == VYRE_UNDEFINED_DOMAIN;
  return found;
}

/* What came out, by way of SPIR-V: written, read and run.  What SPIR-V cannot say (a float function of 64 bits, say) is no failure.
 * Nor can it say that a descriptor is bound to nothing, as a strict program may ask: it is run with all of them. */
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
    if (!settle(random_program_run(after, t->seed, false, 0, &bound), message))
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
  if (!settle(status, message))
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
  const bool verified = settle(vyre_verify(program, &errors), message);
  vyre_verify_errors_free(&errors);
  if (!verified || !settle(random_program_run(program, t->seed, false, 0, &wanted), message))
    return VERDICT_PROGRAM;
  char why[256];
  const bool defined = settle(random_program_run(program, t->seed, true, 0, &unused), why);
  const uint32_t unbound = defined ? random_program_unbound(program, t->seed) : 0;
  if (unbound && !settle(random_program_run(program, t->seed, false, unbound, &wanted), message))
    return VERDICT_PROGRAM;
  if (!settle(vyre_module_clone(program, &after), message))
    return VERDICT_PROGRAM;
  verdict found = VERDICT_PASS;
  if (settle(run_pipeline(t, NULL, after), message)) /* where something undefined ran nothing is promised */
    found = defined ? compare(t, after, unbound, &wanted, message) : VERDICT_FINE;
  if (found == VERDICT_FINE && defined)
    found = compare_spirv(t, after, unbound, &wanted, message);
  if (found == VERDICT_FINE && t->text)
    found = compare_text(t, program, after, message);
  vyre_module_destroy(after);
  return found;
}
