/* Processes several inputs: the variants of one, and batches.
 *
 * In a batch each input is read into a module of its own and then added to the batch, so that an unreadable input does not affect
 * the others.  Before it is written, it is taken out again.  If the pipeline reports an error or a remark for a batch, the inputs
 * are processed again one by one, so that each message belongs to one input.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "process_steps.h"

#include "cli/inputs/specialize.h"
#include "tools/run/guard.h"

#include <stdlib.h>
#include <string.h>

/* The most rows of a batch.  On a device a large batch keeps all processors busy.  Plain C gains nothing from more rows, and loses
 * in fixpoints, which visit all programs until the slowest one is done. */
#define BATCH_DEVICE_ROWS (1u << 20)
#define BATCH_PLAIN_ROWS  (1u << 12)

/* ---- variants ------------------------------------------------------------------------------------------------------------ */

/* Makes a variant of the input.  The first one that is not cached reads the input into p->module and sets *is_read.  Returns false
 * if the input cannot be read. */
static bool
process_variant(const process *p, work *w, source *from, bool *is_read)
{
  vyre_stopwatch watch;
  vyre_module *copy = NULL;
  vyre_stopwatch_start(&watch, NULL, "(input)");
  if (from->page)
    w->status = page_begin(from->page, from->path);
  if (w->status || process_find_cached(p, w, from))
    return true;
  if (!*is_read) {
    w->status = process_read_input(p, p->module, w, from);
    from->kind = w->kind;
  }
  if (w->status)
    return false;
  *is_read = true;
  w->kind = from->kind;
  w->status = vyre_module_clone(p->module, &copy);
  if (!w->status)
    w->status = specialize(p->options, w->variant, copy, from->path);
  if (!w->status)
    w->status = process_run_input(p, copy, w, from);
  w->status = vyre_status_note(w->status, "variant '%s'", p->options->variants.items[w->variant].name);
  process_keep_cached(p, w, from);
  vyre_module_destroy(copy);
  vyre_report_add_input(w->report, w->path, &watch);
  return true;
}

/* Makes the variants of one input, which is compiled and read once.  If it cannot be read, the first variant has the message. */
static void
process_variants(const process *p, work *works, uint32_t count)
{
  source from = {0};
  const work *failed = NULL;
  bool is_read = false;
  guard_input(p->is_apart ? NULL : works[0].path);
  for (uint32_t i = 0; i < count; i++) {
    work *w = &works[i];
    if (w->is_left_out)
      continue;
    process_find_source(p, w, &w->said, &from);
    if (failed)
      w->reported_code = (int)vyre_status_code(failed->status);
    else if (!process_variant(p, w, &from, &is_read))
      failed = w;
  }
  vyre_module_clear(p->module);
  vyre_bytes_free(&from.bytes);
  vyre_bytes_free(&from.words);
  guard_input(NULL);
}

/* ---- a batch ------------------------------------------------------------------------------------------------------------- */

/* The inputs in the batch, as indices of `works` and `sources`. */
typedef struct together {
  const process *process;
  work *works;
  source *sources;
  uint32_t *members;
  uint32_t count;
} together;

static void
note_message(void *user, const vyre_diagnostic *diagnostic)
{
  (void)diagnostic;
  *(bool *)user = true;
}

/* Runs the batch.  Returns false if there were messages, which may belong to any input. */
static bool
run_together(const together *b, vyre_report *report, vyre_bytes *printed)
{
  bool heard = false;
  vyre_module *module = vyre_batch_module(b->process->batch);
  vyre_status status = process_run_passes(b->process, module, report, (vyre_diagnostics){note_message, &heard},
                                          b->works[b->members[0]].path, printed, NULL);
  if (!status)
    status = vyre_module_seal(module, NULL); /* without passes it is not sealed yet */
  const bool right = !status && !heard;
  vyre_status_free(status);
  return right;
}

/* Takes an input out of the batch and writes it.  Returns false if that fails. */
static bool
finish_member(const together *b, uint32_t member)
{
  const process *p = b->process;
  work *w = &b->works[b->members[member]];
  vyre_status status = vyre_batch_extract(p->batch, member, p->taken);
  const bool taken = !status;
  vyre_status_free(status);
  if (taken)
    w->status = process_make_output(p, p->taken, w, &b->sources[b->members[member]]);
  if (taken)
    process_keep_cached(p, w, &b->sources[b->members[member]]);
  vyre_module_clear(p->taken);
  return taken;
}

static void
process_again(const together *b, uint32_t member)
{
  work *w = &b->works[b->members[member]];
  w->said.size = w->output.size = 0;
  process_alone(b->process, b->process->taken, w, &b->sources[b->members[member]]);
}

/* Runs the batch and empties it. */
static void
finish_together(together *b)
{
  if (b->count == 0)
    return;
  work *first = &b->works[b->members[0]];
  vyre_report *report = NULL;
  vyre_bytes printed = {0};
  vyre_status status = first->report ? vyre_report_create_like(first->report, NULL, &report) : VYRE_OK;
  process_print_heading(b->process, "; *** inputs from '", first->path, &printed);
  const bool right = !status && run_together(b, report, &printed);
  if (right && report)
    vyre_report_add(first->report, report);
  if (right && printed.size)
    process_print(&first->said, printed.data, printed.size);
  for (uint32_t i = 0; i < b->count; i++)
    if (!right || !finish_member(b, i))
      process_again(b, i);
  vyre_status_free(status);
  vyre_report_destroy(report);
  vyre_bytes_free(&printed);
  vyre_batch_clear(b->process->batch);
  b->count = 0;
}

static uint32_t
most_rows(const process *p)
{
  const uint32_t room = p->device ? vyre_device_most_rows(p->device) : 0;
  return room == 0 ? BATCH_PLAIN_ROWS : room < BATCH_DEVICE_ROWS ? room : BATCH_DEVICE_ROWS;
}

/* Reads an input and adds it to the batch.  An input that fills a batch is processed alone. */
static void
add_input(together *b, uint32_t index)
{
  const process *p = b->process;
  work *w = &b->works[index];
  source *from = &b->sources[index];
  const uint32_t most = most_rows(p);
  process_find_source(p, w, &w->said, from);
  if (process_find_cached(p, w, from))
    return;
  w->status = process_read_input(p, p->module, w, from);
  if (!w->status && vyre_module_view(p->module)->rows >= most) {
    process_print_heading(p, "; *** input '", w->path, &w->said);
    w->status = process_run_input(p, p->module, w, from);
    process_keep_cached(p, w, from);
  } else if (!w->status) {
    if (vyre_module_view(p->module)->rows > most - vyre_module_view(vyre_batch_module(p->batch))->rows)
      finish_together(b);
    vyre_status status = vyre_batch_add(p->batch, p->module);
    b->members[b->count++] = index;
    if (status) /* the inputs of the batch are processed one by one */
      finish_together(b);
    vyre_status_free(status);
  }
  vyre_module_clear(p->module);
}

void
process_inputs(const process *p, work *works, uint32_t count, bool at_once)
{
  if (p->options->variants.count) {
    process_variants(p, works, count);
    return;
  }
  together b = {.process = p, .works = works, .sources = calloc(count, sizeof(*b.sources))};
  b.members = calloc(count, sizeof(*b.members));
  for (uint32_t i = 0; i < count; i++) {
    if (!b.sources || !b.members) {
      works[i].status = VYRE_OUT_OF_MEMORY("for the inputs");
    } else if (works[i].is_left_out) {
      continue;
    } else if (count > 1) {
      add_input(&b, i);
    } else {
      process_find_source(p, &works[i], at_once && !p->cache ? NULL : &works[i].said, &b.sources[i]);
      process_alone(p, p->module, &works[i], &b.sources[i]);
    }
  }
  finish_together(&b);
  for (uint32_t i = 0; i < count && b.sources; i++) {
    vyre_bytes_free(&b.sources[i].bytes);
    vyre_bytes_free(&b.sources[i].words);
  }
  free(b.sources);
  free(b.members);
}
