/* Writes the `.vir` text of the programs around phases for a device.  A program chooses the rows of each invocation.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

#include <string.h>

typedef struct writer {
  const kernel_file *file;
  vyre_bytes *text, *kernels;
  uint32_t turns, repeats; /* numbers of the current program, for unique names */
  uint64_t shared;         /* counters in workgroup memory, of the repetitions of a kernel by program */
  uint32_t counter;        /* the counter of the current repetition, or UINT32_MAX */
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
  VYRE_TRY(vyre_bytes_append(w->kernels, &kernel, sizeof kernel));
  if (kernel.is_levels)
    ADD("\nprogram @\"levels %u", kernel.index);
  else
    ADD("\nprogram @\"%.*s", (int)phase->name.length, w->file->text + phase->name.at);
  ADD("%s\" entry \"" KERNEL_ENTRY "\" {\n"
      "  spec %%\"the width\" : u32 = %uu32 id(%d)\n"
      "  workgroup %%\"the width\", 1u32, 1u32\n"
      "  buffer %%\"the arena\" : u32[] storage rw set(0) binding(0)\n"
      "  buffer %%\"what is not written\" : u32[] storage ro restrict set(0) binding(0)\n"
      "  buffer %%\"the constants\" : u32[] storage ro restrict set(0) binding(1)\n"
      "  buffer %%\"the arguments\" : @\"%s arguments\" push\n",
      kernel.by_program ? " by program" : "", KERNEL_WORKGROUP, KERNEL_WORKGROUP_SPEC, kernel.by_program ? "program" : "row");
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
          "  var %%\"before %u\" : u32\n",
          i, i, KERNEL_SHARED_SET, i, i);
  w->turns = w->repeats = 0;
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
  VYRE_TRY(begin_program(w, (kernel_device_kernel){false, false, function, 0}, phase->names, phase->written));
  const bool is_flat = phase->direction == VYRE_DIRECTION_FLAT;
  ADD("  if ult gid.x, load %%\"the arguments\".count {\n"
      "  %%\"" KERNEL_OWN_ROW " 0\" = %sadd(gid.x, load %%\"the arguments\".first)%s\n",
      is_flat ? "" : "load %\"what is not written\"[", is_flat ? "" : "]");
  VYRE_TRY(call(w, phase, 0));
  return vyre_bytes_printf(w->text, "  }\n}\n");
}

/* ---- kernels by program -------------------------------------------------------------------------------------------------- */

/* Appends a loop over the rows of a level, and a barrier.  The invocations of the workgroup divide the rows among themselves. */
static vyre_status
add_turn(writer *w, uint32_t function)
{
  const uint32_t turn = w->turns++;
  ADD("  for %%\"turn %u\" = add(%%\"the first\", lindex) to %%\"the end\" step %%\"the width\" {\n"
      "  %%\"" KERNEL_OWN_ROW " %u\" = load %%\"what is not written\"[add(%%\"the order\", %%\"turn %u\")]\n",
      turn, turn, turn);
  VYRE_TRY(call(w, &w->file->functions[function], turn));
  return vyre_bytes_printf(w->text, "  }\n  barrier workgroup workgroup acq_rel uniform_memory%s\n",
                           w->counter == UINT32_MAX ? "" : " workgroup_memory");
}

static vyre_status add_turns(writer *w, uint32_t first, uint32_t end);

/* Appends a loop that ends when an iteration of this program adds nothing.  Barriers ensure that all invocations read the same
 * count. */
static vyre_status
add_while(writer *w, uint32_t at)
{
  const kernel_step *step = &w->file->steps[at];
  const uint32_t counter = step->name, number = w->repeats++;
  ADD("  loop {\n");
  w->counter = counter;
  VYRE_TRY(add_turns(w, at + 1, step->end));
  w->counter = UINT32_MAX;
  return vyre_bytes_printf(w->text,
                           "  %%\"added by %u\" = load %%\"added here to %u\"[0]\n"
                           "  barrier workgroup workgroup acq_rel workgroup_memory\n"
                           "  if eq %%\"added by %u\", get %%\"before %u\" { break }\n"
                           "  set %%\"before %u\", %%\"added by %u\"\n  }\n",
                           number, counter, number, counter, counter, number);
}

static vyre_status
add_turns(writer *w, uint32_t first, uint32_t end)
{
  for (uint32_t i = first; i < end; i++) {
    const kernel_step *step = &w->file->steps[i];
    if (step->kind == VYRE_STEP_RUN) {
      VYRE_TRY(add_turn(w, step->phase));
      continue;
    }
    if (step->kind == VYRE_STEP_REPEAT_WHILE) {
      VYRE_TRY(add_while(w, i));
    } else {
      ADD("  for %%\"repeat %u\" = 0u32 to %uu32 {\n", w->repeats++, step->times);
      VYRE_TRY(add_turns(w, i + 1, step->end));
      ADD("  }\n");
    }
    i = step->end - 1;
  }
  return VYRE_OK;
}

static vyre_status
begin_levels(writer *w, vyre_direction direction)
{
  const bool from_end = direction == VYRE_DIRECTION_DOWN || direction == VYRE_DIRECTION_OUTWARD;
  ADD("  %%\"the order\" = load %%\"the arguments\".order\n"
      "  %%\"the starts\" = load %%\"the arguments\".starts\n"
      "  %%\"the program\" = add(wid.x, load %%\"the arguments\".firsts)\n"
      "  %%\"the levels\" = load %%\"what is not written\"[%%\"the program\"]\n"
      "  %%\"the levels' end\" = load %%\"what is not written\"[add(%%\"the program\", 1u32)]\n"
      "  %%\"the from\" = load %%\"the arguments\".level\n"
      "  %%\"the to\" = umin(add(%%\"the from\", load %%\"the arguments\".levels), sub(%%\"the levels' end\", %%\"the levels\"))\n"
      "  %%\"the levels from there\" = add(%%\"the starts\", %s)\n"
      "  for %%\"the level\" = %%\"the from\" to %%\"the to\" {\n"
      "  %%\"the start\" = %s(%%\"the levels from there\", %%\"the level\")\n"
      "  %%\"the first\" = load %%\"what is not written\"[%%\"the start\"]\n"
      "  %%\"the end\" = load %%\"what is not written\"[add(%%\"the start\", 1u32)]\n",
      from_end ? "sub(%\"the levels' end\", 1u32)" : "%\"the levels\"", from_end ? "sub" : "add");
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
  ADD("  }\n");
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
  const bool is_apart = kernel.is_levels && w->file->steps[kernel.index].is_apart;
  const uint64_t shared = counters_of_whiles(w->file, first, end);
  if (!is_apart && (shared || !are_programs_apart(joined)))
    return VYRE_OK;
  w->shared = shared;
  VYRE_TRY(begin_program(w, kernel, joined->names | shared, joined->written | shared));
  VYRE_TRY(begin_levels(w, joined->direction));
  VYRE_TRY(kernel.is_levels ? add_turns(w, first, end) : add_turn(w, kernel.index));
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
  for (uint32_t i = 0; i < file->function_count; i++)
    if (file->functions[i].is_phase && file->functions[i].direction != VYRE_DIRECTION_FLAT && runs_by_itself(file, i))
      VYRE_TRY(add_by_program(w, (kernel_device_kernel){false, true, i, 0}, &file->functions[i], 0, 0));
  for (uint32_t i = 0; i < file->step_count; i++)
    if (file->steps[i].kind == VYRE_STEP_LEVELS) {
      kernel_function joined;
      join_phases(file, i + 1, file->steps[i].end, &joined);
      VYRE_TRY(add_by_program(w, (kernel_device_kernel){true, true, i, 0}, &joined, i + 1, file->steps[i].end));
    }
  return VYRE_OK;
}
