/* Writes the `.vir` text of the programs around phases for a device.  A program chooses the rows of each invocation.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

#include <string.h>

typedef struct writer {
  const kernel_file *file;
  vyre_bytes *text, *kernels;
  uint32_t turns, repeats, ranges; /* numbers of the current program, for unique names */
  uint32_t range;                  /* the current rows: 0 for those of the program, otherwise the number of a loop over levels */
  uint64_t shared;                 /* counters in workgroup memory, of the repetitions of a kernel by program */
  uint32_t counter;                /* the counter of the current repetition, or UINT32_MAX */
} writer;

static const char arguments[] =
    "\nstruct @\"row arguments\" block { head : u32, first : u32, count : u32 }\n"
    "struct @\"program arguments\" block { head : u32, order : u32, starts : u32, firsts : u32, level : u32, levels : u32 }\n";

#define ADD(...) VYRE_TRY(vyre_bytes_printf(w->text, __VA_ARGS__))

static vyre_status
add_name(writer *w, uint32_t name)
{
  const kernel_name *n = &w->file->names[name];
  return vyre_bytes_printf(w->text, "%%%.*s", n->word ? (int)strlen(n->word) : (int)n->text.length,
                           n->word ? n->word : w->file->text + n->text.at);
}

/* Appends the beginning of a program: the declarations of its memory, and the load of the arena's head.  Memory that its phases do
 * not write is read through a second, read-only buffer over the same memory, so that drivers may reorder these loads. */
static vyre_status
begin_program(writer *w, kernel_device_kernel kernel, uint64_t names, uint64_t written)
{
  const kernel_function *phase = &w->file->functions[kernel.index];
  const bool by_program = kernel.scope != KERNEL_OF_ROWS;
  VYRE_TRY(vyre_bytes_append(w->kernels, &kernel, sizeof kernel));
  if (kernel.scope == KERNEL_OF_PASS)
    ADD("\nprogram @\"all steps");
  else if (kernel.scope == KERNEL_OF_LEVELS)
    ADD("\nprogram @\"levels %u", kernel.index);
  else
    ADD("\nprogram @\"%.*s", (int)phase->name.length, w->file->text + phase->name.at);
  ADD("%s\" entry \"" KERNEL_ENTRY "\" {\n"
      "  spec %%\"the width\" : u32 = %uu32 id(%d)\n"
      "  workgroup %%\"the width\", 1u32, 1u32\n"
      "  buffer %%\"the arena\" : u32[] storage rw set(0) binding(0)\n"
      "  buffer %%\"unwritten memory\" : u32[] storage ro restrict set(0) binding(0)\n"
      "  buffer %%\"the constants\" : u32[] storage ro restrict set(0) binding(1)\n"
      "  buffer %%\"the arguments\" : @\"%s arguments\" push\n",
      by_program ? " by program" : "", KERNEL_WORKGROUP, KERNEL_WORKGROUP_SPEC, by_program ? "program" : "row");
  for (uint32_t i = 0; i < w->file->name_count; i++)
    if (names >> i & 1) {
      ADD("  buffer ");
      VYRE_TRY(add_name(w, i));
      ADD(" : u32[] storage %s set(%d) binding(%u)\n", written >> i & 1 ? "rw" : "ro", KERNEL_MEMORY_SET, i);
    }
  for (uint32_t i = 0; i < w->file->name_count; i++)
    if (w->shared >> i & 1) /* phases access a placeholder in storage, which device.c replaces */
      ADD("  buffer %%\"" KERNEL_SHARED "%u\" : u32[1] workgroup\n"
          "  buffer %%\"added here to %u\" : u32[] storage rw set(%d) binding(%u)\n"
          "  var %%\"before %u\" : u32\n"
          "  var %%\"iterations %u\" : u32\n",
          i, i, KERNEL_SHARED_SET, i, i, i);
  w->turns = w->repeats = w->ranges = w->range = 0;
  w->counter = UINT32_MAX;
  return vyre_bytes_printf(w->text, "  %%\"where the head is\" = load %%\"the arguments\".head\n");
}

static vyre_status
call(writer *w, const kernel_function *phase, uint32_t turn)
{
  ADD("  @%.*s(%%\"" KERNEL_OWN_ROW " %u\"", (int)phase->name.length, w->file->text + phase->name.at, turn);
  for (uint32_t i = 0; i < w->file->name_count; i++)
    if (phase->names >> i & 1) {
      ADD(", ");
      VYRE_TRY(i == w->counter ? vyre_bytes_printf(w->text, "%%\"added here to %u\"", i) : add_name(w, i));
    }
  return vyre_bytes_printf(w->text, ")\n");
}

/* ---- kernels by row ------------------------------------------------------------------------------------------------------ */

static vyre_status
add_listed(writer *w, uint32_t function)
{
  const kernel_function *phase = &w->file->functions[function];
  VYRE_TRY(begin_program(w, (kernel_device_kernel){KERNEL_OF_ROWS, function, 0}, phase->names, phase->written));
  const bool is_flat = phase->direction == VYRE_DIRECTION_FLAT;
  ADD("  if ult gid.x, load %%\"the arguments\".count {\n"
      "  %%\"" KERNEL_OWN_ROW " 0\" = %sadd(gid.x, load %%\"the arguments\".first)%s\n",
      is_flat ? "" : "load %\"unwritten memory\"[", is_flat ? "" : "]");
  VYRE_TRY(call(w, phase, 0));
  return vyre_bytes_printf(w->text, "  }\n}\n");
}

/* ---- kernels by program -------------------------------------------------------------------------------------------------- */

/* Appends a loop over the current rows, and a barrier.  The invocations of the workgroup divide the rows among themselves.  Outside
 * of levels the rows are all those of the program.  They are numbered like their places in the order of all programs, without row
 * 0. */
static vyre_status
add_turn(writer *w, uint32_t function)
{
  const uint32_t turn = w->turns++;
  ADD("  for %%\"turn %u\" = add(%%\"the first %u\", lindex) to %%\"the end %u\" step %%\"the width\" {\n"
      "  %%\"" KERNEL_OWN_ROW " %u\" = %sadd(%s, %%\"turn %u\")%s\n",
      turn, w->range, w->range, turn, w->range ? "load %\"unwritten memory\"[" : "", w->range ? "%\"the order\"" : "1u32", turn,
      w->range ? "]" : "");
  VYRE_TRY(call(w, &w->file->functions[function], turn));
  return vyre_bytes_printf(w->text, "  }\n  barrier workgroup workgroup acq_rel uniform_memory%s\n",
                           w->counter == UINT32_MAX ? "" : " workgroup_memory");
}

/* Begins a loop over the levels of the program from `from` to before `to`, in the direction.  Their rows become the current ones.
 */
static vyre_status
begin_levels(writer *w, vyre_direction direction, const char *from, const char *to)
{
  const bool from_end = direction == VYRE_DIRECTION_DOWN || direction == VYRE_DIRECTION_OUTWARD;
  const uint32_t n = w->range = ++w->ranges;
  ADD("  for %%\"the level %u\" = %s to %s {\n"
      "  %%\"the start %u\" = %s(add(%%\"the starts\", %s), %%\"the level %u\")\n"
      "  %%\"the first %u\" = load %%\"unwritten memory\"[%%\"the start %u\"]\n"
      "  %%\"the end %u\" = load %%\"unwritten memory\"[add(%%\"the start %u\", 1u32)]\n",
      n, from, to, n, from_end ? "sub" : "add", from_end ? "sub(%\"the levels' end\", 1u32)" : "%\"the levels\"", n, n, n, n, n);
  return VYRE_OK;
}

static vyre_status
end_levels(writer *w)
{
  w->range = 0;
  return vyre_bytes_printf(w->text, "  }\n");
}

static vyre_status add_turns(writer *w, uint32_t first, uint32_t end);

/* Appends a loop that ends when an iteration of this program adds nothing.  Barriers ensure that all invocations read the same
 * count.  After too many iterations the loop ends, too, and stores the head at VYRE_PHASE_ENDLESS. */
static vyre_status
add_while(writer *w, uint32_t at)
{
  const kernel_step *step = &w->file->steps[at];
  const uint32_t counter = step->name, number = w->repeats++;
  ADD("  set %%\"iterations %u\", 0u32\n  loop {\n", counter);
  w->counter = counter;
  VYRE_TRY(add_turns(w, at + 1, step->end));
  w->counter = UINT32_MAX;
  return vyre_bytes_printf(w->text,
                           "  %%\"added by %u\" = load %%\"added here to %u\"[0]\n"
                           "  barrier workgroup workgroup acq_rel workgroup_memory\n"
                           "  if eq %%\"added by %u\", get %%\"before %u\" { break }\n"
                           "  set %%\"before %u\", %%\"added by %u\"\n"
                           "  set %%\"iterations %u\", add(get %%\"iterations %u\", 1u32)\n"
                           "  if uge get %%\"iterations %u\", %%\"most iterations\" {\n"
                           "    atomic_umax %%\"the arena\"[%uu32], %%\"where the head is\"\n    break\n  }\n  }\n",
                           number, counter, number, counter, counter, number, counter, counter, counter, VYRE_PHASE_ENDLESS);
}

/* Begins a loop over all levels of the program.  Only the kernel of a pass has more than one such loop. */
static vyre_status
begin_all_levels(writer *w, uint32_t function)
{
  return begin_levels(w, w->file->functions[function].direction, "0u32", "sub(%\"the levels' end\", %\"the levels\")");
}

/* Appends a phase over the current rows.  Outside of `levels`, a phase with a direction visits them level by level. */
static vyre_status
add_run(writer *w, uint32_t function)
{
  if (w->range || w->file->functions[function].direction == VYRE_DIRECTION_FLAT)
    return add_turn(w, function);
  VYRE_TRY(begin_all_levels(w, function));
  VYRE_TRY(add_turn(w, function));
  return end_levels(w);
}

/* Returns the function of the first phase in the step. */
static uint32_t
first_function(const kernel_file *file, uint32_t step)
{
  while (step + 1 < file->step_count && file->steps[step].kind != VYRE_STEP_RUN)
    step++;
  return file->steps[step].phase;
}

static vyre_status
add_turns(writer *w, uint32_t first, uint32_t end)
{
  for (uint32_t i = first; i < end; i++) {
    const kernel_step *step = &w->file->steps[i];
    switch (step->kind) {
    case VYRE_STEP_RUN:
      VYRE_TRY(add_run(w, step->phase));
      continue;
    case VYRE_STEP_LEVELS:
      VYRE_TRY(begin_all_levels(w, first_function(w->file, i)));
      VYRE_TRY(add_turns(w, i + 1, step->end));
      VYRE_TRY(end_levels(w));
      break;
    case VYRE_STEP_REPEAT_WHILE:
      VYRE_TRY(add_while(w, i));
      break;
    default:
      ADD("  for %%\"repeat %u\" = 0u32 to %uu32 {\n", w->repeats++, step->times);
      VYRE_TRY(add_turns(w, i + 1, step->end));
      ADD("  }\n");
    }
    i = step->end - 1;
  }
  return VYRE_OK;
}

/* Appends the loads of the arguments: where the program's rows and levels are. */
static vyre_status
load_program(writer *w)
{
  ADD("  %%\"the order\" = load %%\"the arguments\".order\n"
      "  %%\"the starts\" = load %%\"the arguments\".starts\n"
      "  %%\"the program\" = add(wid.x, load %%\"the arguments\".firsts)\n"
      "  %%\"the levels\" = load %%\"unwritten memory\"[%%\"the program\"]\n"
      "  %%\"the levels' end\" = load %%\"unwritten memory\"[add(%%\"the program\", 1u32)]\n");
  if (w->shared)
    ADD("  %%\"its rows\" = sub(load(%%\"unwritten memory\"[add(%%\"the starts\", %%\"the levels' end\")]), "
        "load(%%\"unwritten memory\"[add(%%\"the starts\", %%\"the levels\")]))\n"
        "  %%\"most iterations\" = add(%uu32, mul(%uu32, %%\"its rows\"))\n",
        VYRE_PHASE_ITERATIONS, VYRE_PHASE_ITERATIONS_A_ROW);
  return VYRE_OK;
}

/* Combines the effects of the phases of a step. */
static void
join_phases(const kernel_file *file, uint32_t first, uint32_t end, kernel_function *out)
{
  *out = (kernel_function){0};
  for (uint32_t i = first; i < end; i++) {
    const kernel_function *f = &file->functions[file->steps[i].phase];
    if (file->steps[i].kind != VYRE_STEP_RUN)
      continue;
    out->names |= f->names;
    out->written |= f->written;
    out->scattered |= f->scattered;
    out->read |= f->read;
    out->read_elsewhere |= f->read_elsewhere;
    out->read_afar |= f->read_afar;
    out->scattered_afar |= f->scattered_afar;
    out->direction = f->direction;
  }
}

/* Returns whether programs are independent of each other during the step.  Rows that are reached over operands and parents belong
 * to the same program, or are row 0, which phases only scatter to. */
static bool
are_programs_apart(const kernel_function *f)
{
  return (f->read_afar & f->written) == 0 && (f->scattered & f->read_elsewhere) == 0 && (f->scattered_afar & f->read) == 0;
}

static uint64_t
counters_of_whiles(const kernel_file *file, uint32_t first, uint32_t end)
{
  uint64_t names = 0;
  for (uint32_t i = first; i < end; i++)
    names |= file->steps[i].kind == VYRE_STEP_REPEAT_WHILE ? UINT64_C(1) << file->steps[i].name : 0;
  return names;
}

/* Appends text that adds the workgroup's counters to the counters of the pass. */
static vyre_status
end_program(writer *w)
{
  for (uint32_t i = 0; i < w->file->name_count; i++)
    if (w->shared >> i & 1) {
      ADD("  if and eq(lindex, 0u32), ne(get %%\"before %u\", 0u32) { atomic_add ", i);
      VYRE_TRY(add_name(w, i));
      ADD("[0], get %%\"before %u\" }\n", i);
    }
  return vyre_bytes_printf(w->text, "}\n");
}

/* Appends the kernel by program of a phase, or of the steps of `levels` from `first` to before `end`.  In a repetition a program
 * does not wait for other programs.  The author declares with `apart` that this is right. */
static vyre_status
add_by_program(writer *w, kernel_device_kernel kernel, const kernel_function *joined, uint32_t first, uint32_t end)
{
  const bool is_levels = kernel.scope == KERNEL_OF_LEVELS;
  const bool is_apart = w->file->is_apart || (is_levels && w->file->steps[kernel.index].is_apart);
  const uint64_t shared = counters_of_whiles(w->file, first, end);
  if (!is_apart && (shared || !are_programs_apart(joined)))
    return VYRE_OK;
  w->shared = shared;
  VYRE_TRY(begin_program(w, kernel, joined->names | shared, joined->written | shared));
  VYRE_TRY(load_program(w));
  ADD("  %%\"the from\" = load %%\"the arguments\".level\n"
      "  %%\"the to\" = umin(add(%%\"the from\", load %%\"the arguments\".levels), sub(%%\"the levels' end\", %%\"the "
      "levels\"))\n");
  VYRE_TRY(begin_levels(w, joined->direction, "%\"the from\"", "%\"the to\""));
  VYRE_TRY(is_levels ? add_turns(w, first, end) : add_turn(w, kernel.index));
  VYRE_TRY(end_levels(w));
  VYRE_TRY(end_program(w));
  w->shared = 0;
  return VYRE_OK;
}

/* Returns whether phases have a direction, and all of these use the same levels: `level`, `depth`, or a side column. */
static bool
has_one_order(const kernel_file *file)
{
  uint32_t orders = 0, order = UINT32_MAX;
  for (uint32_t i = 0; i < file->step_count; i++) {
    const kernel_step *step = &file->steps[i];
    const vyre_direction direction = file->functions[first_function(file, i)].direction;
    const bool is_levels = step->kind == VYRE_STEP_LEVELS;
    if ((step->kind != VYRE_STEP_RUN && !is_levels) || direction == VYRE_DIRECTION_FLAT)
      continue;
    const bool by_depth = direction == VYRE_DIRECTION_INWARD || direction == VYRE_DIRECTION_OUTWARD;
    const uint32_t own = is_levels && step->times ? 2 + step->name : by_depth;
    orders += own != order;
    order = own;
    i = is_levels ? step->end - 1 : i;
  }
  return orders == 1;
}

/* Appends the kernel of the whole pass, and stores in *out_added whether the pass can have one. */
static vyre_status
add_pass(writer *w, bool *out_added)
{
  const kernel_file *file = w->file;
  kernel_function joined;
  join_phases(file, 0, file->step_count, &joined);
  const uint64_t shared = counters_of_whiles(file, 0, file->step_count);
  *out_added = has_one_order(file) && (file->is_apart || (shared == 0 && are_programs_apart(&joined)));
  if (!*out_added)
    return VYRE_OK;
  w->shared = shared;
  VYRE_TRY(begin_program(w, (kernel_device_kernel){KERNEL_OF_PASS, 0, 0}, joined.names | shared, joined.written | shared));
  VYRE_TRY(load_program(w));
  ADD("  %%\"the first 0\" = load %%\"unwritten memory\"[add(%%\"the starts\", %%\"the levels\")]\n"
      "  %%\"the end 0\" = load %%\"unwritten memory\"[add(%%\"the starts\", %%\"the levels' end\")]\n");
  VYRE_TRY(add_turns(w, 0, file->step_count));
  VYRE_TRY(end_program(w));
  w->shared = 0;
  return VYRE_OK;
}

/* Returns whether the sequence runs the phase outside of `levels`. */
static bool
runs_by_itself(const kernel_file *file, uint32_t function)
{
  for (uint32_t i = 0; i < file->step_count; i++) {
    const kernel_step *step = &file->steps[i];
    if (step->kind == VYRE_STEP_RUN && step->phase == function)
      return true;
    i = step->kind == VYRE_STEP_LEVELS ? step->end - 1 : i;
  }
  return false;
}

vyre_status
kernel_add_device_programs(const kernel_file *file, vyre_bytes *text, vyre_bytes *kernels)
{
  writer state = {.file = file, .text = text, .kernels = kernels}, *w = &state;
  ADD("%s", arguments);
  for (uint32_t i = 0; i < file->function_count; i++)
    if (file->functions[i].is_phase)
      VYRE_TRY(add_listed(w, i));
  bool has_pass;
  VYRE_TRY(add_pass(w, &has_pass));
  if (has_pass)
    return VYRE_OK;
  for (uint32_t i = 0; i < file->function_count; i++)
    if (file->functions[i].is_phase && file->functions[i].direction != VYRE_DIRECTION_FLAT && runs_by_itself(file, i))
      VYRE_TRY(add_by_program(w, (kernel_device_kernel){KERNEL_OF_PROGRAM, i, 0}, &file->functions[i], 0, 0));
  for (uint32_t i = 0; i < file->step_count; i++)
    if (file->steps[i].kind == VYRE_STEP_LEVELS) {
      kernel_function joined;
      join_phases(file, i + 1, file->steps[i].end, &joined);
      VYRE_TRY(add_by_program(w, (kernel_device_kernel){KERNEL_OF_LEVELS, i, 0}, &joined, i + 1, file->steps[i].end));
    }
  return VYRE_OK;
}
