/* The inputs are those of vyre-run -seed=N, so that vyre-run can show a counterexample again.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "validate.h"

#include "cli/process.h"
#include "run_parts.h"
#include "vyre/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Limits.  MOST_STEPS is the number of rows that an invocation may execute in the module before the pass.  In the module after the
 * pass, more than MOST_STEPS_AFTER rows count as an endless loop.  LARGE_ELEMENTS is the number of elements of runtime arrays in
 * enlarged inputs.  MOST_BYTES limits the buffers of a program, of which there are several copies. */
enum { MOST_STEPS = 1 << 20, MOST_STEPS_AFTER = 1 << 26, LARGE_ELEMENTS = 65536, MOST_BYTES = 1 << 28 };

typedef enum verdict { VERDICT_CORRECT, VERDICT_INCORRECT, VERDICT_UNPROVED, VERDICT_UNSUPPORTED } verdict;

/* The second initial value of unset variables.  The first one is 0. */
#define OTHER_START UINT64_C(0xa5c35a3ca5c35a3d)

/* A program before and after the run of a pass, and the results so far. */
typedef struct pair {
  run_program before, after;
  uint64_t correct; /* number of inputs with equal results */
  run_setup setup;  /* the first input with another verdict */
  char why[600];    /* its reason */
} pair;

/* Sets the reason to `what` and the first line of the status, without its advice.  Frees the status. */
static void
set_reason(pair *p, const char *what, vyre_status status)
{
  const char *text = vyre_status_text(status);
  const char *end = strstr(text, "\nFix:");
  snprintf(p->why, sizeof p->why, "%s%.*s", what, end ? (int)(end - text) : (int)strlen(text), text);
  for (char *c = p->why; *c; c++)
    *c = *c == '\n' ? ' ' : *c;
  vyre_status_free(status);
}

/* Returns whether the buffers fit into MOST_BYTES if runtime arrays have so many elements. */
static bool
fits(const run_program *program, uint64_t elements)
{
  uint64_t left = MOST_BYTES;
  for (uint32_t i = 0; i < program->buffer_count; i++) {
    const run_shape *shape = &program->buffers[i].shape;
    if (shape->fixed > left || (shape->stride && elements > (left - shape->fixed) / shape->stride))
      return false;
    left -= shape->fixed + elements * shape->stride;
  }
  return true;
}

/* ---- one input ----------------------------------------------------------------------------------------------------------- */

static bool
is_used(const vyre_view *view, uint32_t row, uint32_t end)
{
  for (uint32_t user = row + 1; user < end; user++)
    if (view->a[user] == row || view->b[user] == row || view->c[user] == row)
      return true;
  return false;
}

static bool
has_unset_var(const run_program *program)
{
  const vyre_view *view = vyre_module_view(program->module);
  bool found = false;
  for (uint32_t row = view->first[program->row.id]; row && !found; row = view->next[row])
    found = VYRE_ROW_OP(view->op[row]) == VYRE_OP_var && (view->imm_hi[row] & VYRE_ACCESS_UNSET) != 0;
  return found;
}

/* Returns whether the result may depend on the order of atomics.  Commuting atomics of one kind whose results are not used give the
 * same result in any order. */
static bool
depends_on_order(const run_program *program)
{
  const vyre_view *view = vyre_module_view(program->module);
  const uint32_t end = vyre_program_end(view, program->row.id);
  uint32_t kind = 0;
  for (uint32_t row = program->row.id; row < end; row++) {
    const uint32_t op = VYRE_ROW_OP(view->op[row]);
    if (!vyre_op_is_atomic(op))
      continue;
    if (op < VYRE_OP_atomic_add || op > VYRE_OP_atomic_xor || (kind && op != kind) || is_used(view, row, end))
      return true;
    kind = op;
  }
  return false;
}

/* Runs the program on a copy of the inputs.  The copy exists also after a failure. */
static vyre_status
run_once(const run_setup *setup, const run_program *program, const run_inputs *inputs, run_results *out)
{
  VYRE_TRY(run_results_copy(inputs, out));
  return run_interpret(setup, program, inputs, out, NULL);
}

static verdict
differs(const run_comparison *c, pair *p)
{
  char place[400], a[48], b[48];
  run_comparison_place(c, place, sizeof place);
  run_scalar_print(c->kind, c->first_bits, a);
  run_scalar_print(c->kind, c->second_bits, b);
  const int digits = (int)(2 * vyre_kind_bytes(c->kind));
  const bool is_open = depends_on_order(&p->before);
  snprintf(p->why, sizeof p->why,
           "%s, byte %" PRIu64 ": %s (0x%0*" PRIx64 ") before, %s (0x%0*" PRIx64 ") after; %" PRIu64 " of %" PRIu64
           " elements differ%s",
           place, c->offset, a, digits, c->first_bits, b, digits, c->second_bits, c->differing, c->elements,
           is_open ? ", which may be due to the order of atomics" : "");
  return is_open ? VERDICT_UNPROVED : VERDICT_INCORRECT;
}

/* Returns the verdict if the program after the pass stops with `checked`, an undefined behaviour or a data race.  A race may have
 * been undetected before the pass.  All other stops are faults of the pass. */
static verdict
diagnose(const run_setup *setup, const run_inputs *inputs, const run_results *before, vyre_status checked, pair *p)
{
  const bool is_open = depends_on_order(&p->before);
  run_setup without = *setup;
  run_results after = {0};
  run_comparison c;
  verdict found = is_open ? VERDICT_UNPROVED : VERDICT_INCORRECT;
  without.check_races = without.report_undefined = false;
  vyre_status status = run_once(&without, &p->after, inputs, &after);
  if (status) {
    set_reason(p, "after the run it fails: ", status);
    vyre_status_free(checked);
  } else if (run_compare(setup, inputs, &p->before, before, &p->after, &after, &c), c.where) {
    found = differs(&c, p);
    vyre_status_free(checked);
  } else {
    run_results_free(&after);
    without.report_undefined = true;
    status = run_once(&without, &p->after, inputs, &after);
    found = status ? found : VERDICT_UNPROVED;
    set_reason(p, status ? "after the run it is undefined, but not before: " : "after the run: ", status ? status : checked);
    vyre_status_free(status ? checked : NULL);
  }
  run_results_free(&after);
  return found;
}

/* Replaces the bytes of `results` that depend on unset variables, because they differ between `before` and `other`. */
static void
ignore_unset(const run_inputs *inputs, const run_results *before, const run_results *other, run_results *results)
{
  for (uint32_t i = 0; i < inputs->count && other->items; i++)
    for (size_t at = 0; at < inputs->items[i].size; at++)
      if (before->items[i][at] != other->items[i][at])
        results->items[i][at] = before->items[i][at];
}

/* Compares the results after the run with those before it.  `other` has those with OTHER_START, or nothing. */
static verdict
check_after(const run_setup *setup, const run_inputs *inputs, const run_results *before, const run_results *other, pair *p)
{
  run_results after = {0};
  run_comparison c;
  verdict found = VERDICT_CORRECT;
  vyre_status status = run_once(setup, &p->after, inputs, &after);
  if (status) {
    found = diagnose(setup, inputs, before, status, p);
  } else {
    ignore_unset(inputs, before, other, &after);
    run_compare(setup, inputs, &p->before, before, &p->after, &after, &c);
    found = c.where ? differs(&c, p) : VERDICT_CORRECT;
  }
  run_results_free(&after);
  return found;
}

/* Enlarges the inputs for a program that accesses more elements than it has invocations, such as an image of 255 by 255. */
static vyre_status
enlarge(run_setup *setup, const pair *p, run_inputs *inputs)
{
  setup->has_groups = true;
  memcpy(setup->groups, inputs->groups, sizeof setup->groups);
  setup->elements = LARGE_ELEMENTS;
  run_inputs_free(inputs);
  return run_inputs_make(setup, &p->before, &p->after, inputs);
}

static vyre_status
check_input(run_setup *setup, pair *p, verdict *out)
{
  run_inputs inputs;
  run_results before = {0}, other = {0};
  VYRE_TRY(run_inputs_make(setup, &p->before, &p->after, &inputs));
  vyre_status status = run_once(setup, &p->before, &inputs, &before);
  if (status && fits(&p->before, LARGE_ELEMENTS) && fits(&p->after, LARGE_ELEMENTS)) {
    vyre_status_free(status);
    run_results_free(&before);
    VYRE_TRY(enlarge(setup, p, &inputs));
    status = run_once(setup, &p->before, &inputs, &before);
  }
  *out = VERDICT_UNPROVED;
  if (!status && has_unset_var(&p->before)) {
    setup->unset = OTHER_START;
    status = run_once(setup, &p->before, &inputs, &other);
    setup->unset = 0;
  }
  setup->steps = MOST_STEPS_AFTER;
  if (status)
    set_reason(p, "before the run: ", status);
  else
    *out = check_after(setup, &inputs, &before, &other, p);
  if (*out == VERDICT_CORRECT && other.items) {
    setup->unset = OTHER_START;
    *out = check_after(setup, &inputs, &other, &before, p);
  }
  run_results_free(&other);
  run_results_free(&before);
  run_inputs_free(&inputs);
  return VYRE_OK;
}

/* ---- one program --------------------------------------------------------------------------------------------------------- */

static vyre_status
reflect(run_program *program, vyre_module *module, uint32_t row)
{
  static const run_setup none = {0};
  *program = (run_program){.path = "the program", .module = module, .row = {row}};
  VYRE_TRY(run_program_reflect(program, &none, false));
  if (!fits(program, RUN_ELEMENTS))
    return VYRE_ERROR(VYRE_CODE_INPUT, "its buffers are larger than %d MiB\nFix: declare smaller arrays", MOST_BYTES >> 20);
  return run_check_plain(program, "choose a device with -target");
}

static void
free_program(run_program *program)
{
  program->module = NULL; /* borrowed here */
  run_program_free(program);
}

static vyre_status
check_inputs(const validator *v, pair *p, verdict *out)
{
  *out = VERDICT_CORRECT;
  for (uint64_t input = 1; input <= v->inputs && *out != VERDICT_INCORRECT; input++) {
    run_setup setup = {.seed = input, .elements = RUN_ELEMENTS, .steps = MOST_STEPS, .report_undefined = true, .check_races = true};
    pair try = *p;
    verdict found;
    VYRE_TRY(check_input(&setup, &try, &found));
    p->correct += found == VERDICT_CORRECT;
    if (found == VERDICT_CORRECT || (*out != VERDICT_CORRECT && found != VERDICT_INCORRECT))
      continue; /* only the first input with a worse verdict is reported */
    *out = found;
    p->setup = setup;
    memcpy(p->why, try.why, sizeof p->why);
  }
  return VYRE_OK;
}

/* Prints "run 3: canon: @main: correct on 4 of 4 inputs". */
static vyre_status
print_verdict(const validator *v, const vyre_observation *at, const char *program, const pair *p, verdict found)
{
  vyre_bytes text = {0};
  vyre_status status = vyre_bytes_printf(&text, "run %" PRIu64 ": %s: @%s: ", at->run, at->text, program);
  if (!status && p->correct)
    status = vyre_bytes_printf(&text, "correct on %" PRIu64 " of %" PRIu64 " inputs%s", p->correct, v->inputs,
                               found == VERDICT_CORRECT ? "\n" : ", ");
  if (!status && found == VERDICT_UNPROVED)
    status = vyre_bytes_printf(&text, "unproved on input %" PRIu64 ": %s\n", p->setup.seed, p->why);
  else if (!status && found == VERDICT_UNSUPPORTED)
    status = vyre_bytes_printf(&text, "unsupported: %s\n", p->why);
  if (!status)
    process_print(v->said, text.data, text.size);
  vyre_bytes_free(&text);
  return status;
}

static vyre_status
incorrect_error(const char *program, const pair *p)
{
  const vyre_view *view = vyre_module_view(p->before.module);
  const bool is_one = view->next[view->first[0]] == 0;
  char larger[96] = "";
  if (p->setup.has_groups)
    snprintf(larger, sizeof larger, " -elements=%" PRIu64 " -groups=%" PRIu32 ",%" PRIu32 ",%" PRIu32, p->setup.elements,
             p->setup.groups[0], p->setup.groups[1], p->setup.groups[2]);
  return VYRE_ERROR(VYRE_CODE_INPUT,
                    "-tv: incorrect, on input %" PRIu64 " of @%s: %s\n"
                    "Fix: report the pass; with two files of -dump-dir, vyre-run BEFORE -compare AFTER -seed=%" PRIu64
                    "%s%s%s shows the difference",
                    p->setup.seed, program, p->why, p->setup.seed, larger, is_one ? "" : " -entry=", is_one ? "" : program);
}

static vyre_status
check_program(const validator *v, const vyre_observation *at, vyre_module *after, uint32_t first, uint32_t second)
{
  pair p = {0};
  verdict found = VERDICT_UNSUPPORTED;
  vyre_status status = reflect(&p.before, v->before, first);
  if (!status)
    status = reflect(&p.after, after, second);
  if (status) {
    set_reason(&p, "", status);
    status = VYRE_OK;
  } else {
    status = check_inputs(v, &p, &found);
  }
  const char *name = run_entry_name(v->before, (vyre_row){first});
  if (!status)
    status = found == VERDICT_INCORRECT ? incorrect_error(name, &p) : print_verdict(v, at, name, &p, found);
  free_program(&p.before);
  free_program(&p.after);
  return status;
}

/* ---- all programs -------------------------------------------------------------------------------------------------------- */

vyre_status
validator_observe(validator *v, const vyre_observation *at)
{
  vyre_module *after = NULL;
  vyre_status status = VYRE_OK;
  if (at->when == VYRE_OBSERVE_BEFORE || (at->when == VYRE_OBSERVE_AFTER && !at->changed))
    return VYRE_OK;
  VYRE_TRY(vyre_module_clone(at->module, &after));
  uint32_t first = v->before ? vyre_module_view(v->before)->first[0] : 0, second = vyre_module_view(after)->first[0];
  while (first && second && !status) {
    status = check_program(v, at, after, first, second);
    first = vyre_module_view(v->before)->next[first];
    second = vyre_module_view(after)->next[second];
  }
  if (!status && v->before && (first || second))
    status = VYRE_ERROR(VYRE_CODE_INPUT, "-tv: incorrect: the module has %s programs than before the run\nFix: report the pass",
                        first ? "fewer" : "more");
  vyre_module_destroy(v->before);
  v->before = after;
  return status;
}

void
validator_end(validator *v)
{
  vyre_module_destroy(v->before);
}
