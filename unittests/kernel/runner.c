/* Docs at runner.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "runner.h"

#include "vyre/io.h"
#include "vyre/run.h"

static const vyre_target_ops *const ops = &vyre_target_vulkan;

enum { MOST_COPIES = KERNEL_MOST_NAMES + 8 };

/* ---- kernels ------------------------------------------------------------------------------------------------------------- */

static void
compile(runner *r, const kernel_device *device, vyre_kernel *out)
{
  static const vyre_kernel_slot slots[] = {{.kind = VYRE_SLOT_STORAGE}, {.binding = 1, .kind = VYRE_SLOT_STORAGE}};
  for (uint32_t i = 0; !r->target && i < device->count; i++)
    out[i].id = i;
  for (uint32_t i = 0; r->target && i < device->count; i++) {
    vyre_bytes code = {0};
    const char *name = vyre_row_name(device->module, (vyre_row){device->kernels[i].program});
    must(kernel_device_write(device, i, &code));
    const vyre_kernel_desc desc = {.label = name,
                                   .form = VYRE_KERNEL_SPIRV,
                                   .code = code.data,
                                   .size = code.size,
                                   .entry = KERNEL_ENTRY,
                                   .workgroup = {KERNEL_WORKGROUP, 1, 1},
                                   .slots = slots,
                                   .slot_count = 2,
                                   .push_size = sizeof((plan_entry *)0)->push};
    must(ops->compile(r->target, &desc, &out[i]));
    vyre_bytes_free(&code);
  }
}

static void
print_diagnostic(void *user, const vyre_diagnostic *diagnostic)
{
  char text[2000];
  (void)user;
  vyre_diagnostic_format(diagnostic, text, sizeof text);
  print_message("%s", text);
}

void
runner_open(runner *r, const vyre_target_options *options)
{
  const char *path = VYRE_SOURCE "/codegen/kernel/order.vir";
  vyre_bytes text = {0};
  *r = (runner){0};
  if (options)
    must(ops->open(options, NULL, &r->target));
  must(vyre_file_read(path, &text));
  must(kernel_device_parse(text.data, text.size, path, (vyre_diagnostics){print_diagnostic, NULL}, &r->order));
  vyre_bytes_free(&text);
  assert_int_equal(r->order.count, ORDER__COUNT);
  compile(r, &r->order, r->kernels);
}

void
runner_close(runner *r)
{
  kernel_device_free(&r->order);
  if (r->target)
    must(ops->close(r->target));
}

void
runner_load(runner *r, phases *p, runner_pass *out)
{
  *out = (runner_pass){.p = p};
  must(kernel_device_create(&p->file, NULL, &out->device));
  out->kernels = calloc(out->device.count, sizeof *out->kernels);
  compile(r, &out->device, out->kernels);
}

void
runner_unload(runner *r, runner_pass *pass)
{
  for (uint32_t i = 0; r->target && i < pass->device.count; i++)
    must(ops->release(r->target, pass->kernels[i]));
  free(pass->kernels);
  kernel_device_free(&pass->device);
}

/* ---- submissions --------------------------------------------------------------------------------------------------------- */

/* What is to be submitted. */
typedef struct batch {
  runner *r;
  const runner_pass *pass;
  const plan_arena *arena;
  vyre_range whole[2]; /* the arena, which has the constants too */
  uint32_t *words;     /* the arena, of the interpreter */
  vyre_upload uploads[MOST_COPIES];
  vyre_read reads[MOST_COPIES];
  vyre_step *steps;
  uint32_t upload_count, read_count, step_count, step_capacity;
  bool is_filled; /* the arena is zero */
  runner_figures *figures;
} batch;

static vyre_range
words_at(const batch *b, uint32_t word, uint32_t count)
{
  return (vyre_range){b->whole[0].buffer, word * UINT64_C(4), count * UINT64_C(4)};
}

static void
upload(batch *b, uint32_t word, uint32_t count, const uint32_t *data)
{
  if (count)
    b->uploads[b->upload_count++] = (vyre_upload){words_at(b, word, count), data};
}

static void
read_back(batch *b, uint32_t word, uint32_t count, uint32_t *data)
{
  if (count)
    b->reads[b->read_count++] = (vyre_read){words_at(b, word, count), data};
}

/* Of the pass; the interpreter's numbers begin after those of order.vir. */
static vyre_kernel
kernel_of(const batch *b, uint32_t kernel)
{
  return b->r->target ? b->pass->kernels[kernel] : (vyre_kernel){kernel + ORDER__COUNT};
}

static void
add_step(batch *b, const plan_entry *e)
{
  if (b->step_count == b->step_capacity) {
    b->step_capacity = b->step_capacity ? b->step_capacity * 2 : 256;
    b->steps = realloc(b->steps, b->step_capacity * sizeof *b->steps);
  }
  b->steps[b->step_count++] =
      (vyre_step){.kernel = e->kernel < ORDER__COUNT ? b->r->kernels[e->kernel] : kernel_of(b, e->kernel - ORDER__COUNT),
                  .buffers = b->whole,
                  .buffer_count = 2,
                  .push = e->push,
                  .push_size = sizeof e->push,
                  .groups = {e->groups, 1, 1}};
}

/* The step by the interpreter. */
static void
interpret(const batch *b, const vyre_step *step)
{
  const bool is_order = step->kernel.id < ORDER__COUNT;
  const kernel_device *device = is_order ? &b->r->order : &b->pass->device;
  const uint32_t program = device->kernels[is_order ? step->kernel.id : step->kernel.id - ORDER__COUNT].program;
  const vyre_view *v = vyre_module_view(device->module);
  const vyre_interp_options options = {.check_bounds = true, .check_races = true};
  uint32_t push[8];
  memcpy(push, step->push, sizeof push);
  vyre_binding bindings[4];
  uint32_t count = 0;
  for (uint32_t row = v->first[program]; row; row = v->next[row]) {
    const bool is_buffer = VYRE_ROW_OP(v->op[row]) == VYRE_OP_buffer;
    if (is_buffer && VYRE_BUFFER_SPACE(v->imm_hi[row]) == VYRE_SPACE_PUSH)
      bindings[count++] = (vyre_binding){{row}, push, sizeof push, 0};
    else if (is_buffer && VYRE_BUFFER_SPACE(v->imm_hi[row]) == VYRE_SPACE_STORAGE)
      bindings[count++] = (vyre_binding){{row}, b->words, b->arena->words * sizeof(uint32_t), 0};
  }
  const vyre_dispatch dispatch = {
      .program = {program}, .groups = {step->groups[0], 1, 1}, .bindings = bindings, .binding_count = count};
  must(vyre_interp_run(device->module, &dispatch, &options, NULL));
}

static void
submit_to_interpreter(batch *b)
{
  for (uint32_t i = 0; i < b->upload_count; i++)
    memcpy((char *)b->words + b->uploads[i].range.offset, b->uploads[i].data, b->uploads[i].range.size);
  for (uint32_t i = 0; i < b->step_count; i++)
    interpret(b, &b->steps[i]);
  for (uint32_t i = 0; i < b->read_count; i++)
    memcpy(b->reads[i].data, (char *)b->words + b->reads[i].range.offset, b->reads[i].range.size);
}

static vyre_timing
submit_to_device(batch *b)
{
  const vyre_fill zero = {b->whole[0], 0};
  const vyre_sequence sequence = {.fills = &zero,
                                  .fill_count = b->is_filled ? 0 : 1,
                                  .uploads = b->uploads,
                                  .upload_count = b->upload_count,
                                  .steps = b->steps,
                                  .step_count = b->step_count,
                                  .reads = b->reads,
                                  .read_count = b->read_count};
  vyre_timing timing;
  must(ops->submit(b->r->target, &sequence, &timing));
  b->is_filled = true;
  return timing;
}

static void
submit(batch *b)
{
  vyre_timing timing = {0};
  if (b->r->target)
    timing = submit_to_device(b);
  else
    submit_to_interpreter(b);
  b->upload_count = b->read_count = b->step_count = 0;
  b->figures->submits++;
  b->figures->launches += timing.launches;
  b->figures->device_ns += timing.device_ns;
  b->figures->host_ns += timing.host_ns;
}

/* Entries one after the other; what depends on a word waits for it. */
static void
run_entries(batch *b, const plan *p, uint32_t first, uint32_t end)
{
  for (uint32_t i = first; i < end; i++) {
    const plan_entry *e = &p->entries[i];
    if (e->kind == PLAN_STEP) {
      add_step(b, e);
      continue;
    }
    for (uint32_t k = 0; e->kind == PLAN_REPEAT && k < e->times; k++)
      run_entries(b, p, i + 1, e->end);
    for (bool again = e->kind == PLAN_REPEAT_WHILE; again;) {
      uint32_t before, after;
      read_back(b, e->word, 1, &before);
      submit(b);
      run_entries(b, p, i + 1, e->end);
      read_back(b, e->word, 1, &after);
      submit(b);
      again = after != before;
    }
    i = e->end - 1;
  }
}

static batch
open_batch(runner *r, const runner_pass *pass, const plan_arena *arena, runner_figures *figures)
{
  batch b = {.r = r, .pass = pass, .arena = arena, .figures = figures};
  if (r->target)
    must(ops->allocate(r->target, arena->words * UINT64_C(4), &b.whole[0].buffer));
  else
    b.words = calloc(arena->words, sizeof *b.words);
  b.whole[1] = b.whole[0];
  return b;
}

static void
close_batch(batch *b)
{
  if (b->r->target)
    must(ops->free(b->r->target, b->whole[0].buffer));
  free(b->words);
  free(b->steps);
}

static void
upload_columns(batch *b, const vyre_view *v)
{
  upload(b, b->arena->op, v->rows, v->op);
  upload(b, b->arena->keys[0], v->rows, v->level);
  upload(b, b->arena->keys[1], v->rows, v->depth);
}

/* ---- sequences ----------------------------------------------------------------------------------------------------------- */

/* The first submission: all memory goes up, orders are made; `starts` are to be freed. */
static void
prepare(batch *b, const phases_memory *m, const vyre_view *v, uint32_t *starts[ORDERS])
{
  uint8_t memory[KERNEL_MOST_NAMES];
  const uint32_t count = kernel_memory(&b->pass->p->file, memory);
  uint32_t *head = malloc((count ? count : 1) * 2 * sizeof *head);
  plan orders = {0};
  for (uint32_t i = 0; i < KERNEL_MOST_NAMES; i++)
    if (memory[i] != UINT8_MAX) {
      head[memory[i] * 2] = b->arena->memory[i];
      head[memory[i] * 2 + 1] = m->counts[i];
      upload(b, b->arena->memory[i], m->counts[i], m->words[i]);
    }
  upload(b, b->arena->head, count * 2, head);
  upload_columns(b, v);
  plan_orders(b->arena, &orders);
  run_entries(b, &orders, 0, orders.count);
  for (uint32_t i = 0; i < ORDERS; i++)
    if (b->arena->orders[i].is_used && (i & BY_PROGRAM) == 0) {
      starts[i] = malloc((v->rows + 1) * sizeof *starts[i]);
      read_back(b, b->arena->orders[i].starts, v->rows + 1, starts[i]);
    }
  submit(b);
  plan_free(&orders);
  free(head);
}

void
runner_run(runner *r, const runner_pass *pass, phases_memory *m, const vyre_view *v, bool by_program, runner_figures *figures)
{
  plan_arena arena;
  plan sequence = {0};
  uint32_t *starts[ORDERS] = {0}, zero = 1;
  plan_lay(pass->p, m, v, plan_find_orders(pass->p, &pass->device, by_program), &arena);
  batch b = open_batch(r, pass, &arena, figures);
  prepare(&b, m, v, starts);
  plan_sequence(pass->p, &pass->device, &arena, starts, by_program, &sequence);
  run_entries(&b, &sequence, 0, sequence.count);
  for (uint32_t i = 0; i < KERNEL_MOST_NAMES; i++)
    if (m->words[i])
      read_back(&b, arena.memory[i], m->counts[i], m->words[i]);
  read_back(&b, KERNEL_ARENA_ZERO, 1, &zero);
  submit(&b);
  assert_int_equal(zero, 0);
  plan_free(&sequence);
  close_batch(&b);
  for (uint32_t i = 0; i < ORDERS; i++)
    free(starts[i]);
}

void
runner_order(runner *r, const vyre_view *v, uint32_t which, uint32_t **out_order, uint32_t **out_starts, uint32_t **out_firsts)
{
  static const phases none = {0};
  const phases_memory no_memory = {0};
  plan_arena arena;
  plan orders = {0};
  runner_figures figures = {0};
  plan_lay(&none, &no_memory, v, 1u << which, &arena);
  batch b = open_batch(r, NULL, &arena, &figures);
  *out_order = malloc(v->rows * sizeof(uint32_t));
  *out_starts = malloc((v->rows + 1) * sizeof(uint32_t));
  *out_firsts = malloc((arena.programs + 1) * sizeof(uint32_t));
  upload_columns(&b, v);
  plan_orders(&arena, &orders);
  run_entries(&b, &orders, 0, orders.count);
  read_back(&b, arena.orders[which].order, v->rows, *out_order);
  read_back(&b, arena.orders[which].starts, v->rows + 1, *out_starts);
  read_back(&b, arena.orders[which].firsts, arena.programs + 1, *out_firsts);
  submit(&b);
  plan_free(&orders);
  close_batch(&b);
}
