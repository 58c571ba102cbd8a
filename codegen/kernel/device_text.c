/* The programs around phases for a device, as `.vir`: which rows an invocation takes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

#include <string.h>

typedef struct writer {
  const kernel_file *file;
  vyre_bytes *text, *kernels;
  uint32_t turns, repeats; /* of the program at hand: names in it are unique */
} writer;

static const char arguments[] = "\nstruct @listed.arguments block { head : u32, first : u32, count : u32 }\n"
                                "struct @programs.arguments block { head : u32, order : u32, starts : u32, firsts : u32 }\n";

#define ADD(...) VYRE_TRY(vyre_bytes_printf(w->text, __VA_ARGS__))

static vyre_status
add_name(writer *w, uint32_t name)
{
  const kernel_name *n = &w->file->names[name];
  return vyre_bytes_printf(w->text, "%%%.*s", n->word ? (int)strlen(n->word) : (int)n->text.length,
                           n->word ? n->word : w->file->text + n->text.at);
}

/* The head of a program, to where its memory is declared and its head is known.  What its phases do not write is read by way of a
 * buffer of its own, the same memory: so a driver may load it when and how it likes. */
static vyre_status
begin_program(writer *w, kernel_device_kernel kernel, uint64_t names, uint64_t written)
{
  const kernel_function *phase = &w->file->functions[kernel.index];
  VYRE_TRY(vyre_bytes_append(w->kernels, &kernel, sizeof kernel));
  if (kernel.is_levels)
    ADD("\nprogram @levels_%u", kernel.index);
  else
    ADD("\nprogram @%.*s", (int)phase->name.length, w->file->text + phase->name.at);
  ADD("%s workgroup(%d, 1, 1) {\n"
      "  buffer %%\"the arena\" : u32[] storage rw set(0) binding(0)\n"
      "  buffer %%\"what is not written\" : u32[] storage ro restrict set(0) binding(0)\n"
      "  buffer %%\"the arguments\" : @%s.arguments push\n",
      kernel.by_program ? "_programs" : "", KERNEL_WORKGROUP, kernel.by_program ? "programs" : "listed");
  for (uint32_t i = 0; i < w->file->name_count; i++)
    if (names >> i & 1) {
      ADD("  buffer ");
      VYRE_TRY(add_name(w, i));
      ADD(" : u32[] storage %s set(1) binding(%u)\n", written >> i & 1 ? "rw" : "ro", i);
    }
  w->turns = w->repeats = 0;
  return vyre_bytes_printf(w->text, "  %%\"where the head is\" = load %%\"the arguments\".head\n");
}

static vyre_status
call(writer *w, const kernel_function *phase, uint32_t turn)
{
  ADD("  @%.*s(%%\"" KERNEL_OWN_ROW " %u\"", (int)phase->name.length, w->file->text + phase->name.at, turn);
  for (uint32_t i = 0; i < w->file->name_count; i++)
    if (phase->names >> i & 1) {
      ADD(", ");
      VYRE_TRY(add_name(w, i));
    }
  return vyre_bytes_printf(w->text, ")\n");
}

/* ---- a row an invocation ------------------------------------------------------------------------------------------------- */

static vyre_status
add_listed(writer *w, uint32_t function)
{
  const kernel_function *phase = &w->file->functions[function];
  VYRE_TRY(begin_program(w, (kernel_device_kernel){false, false, function, 0}, phase->names, phase->written));
  const bool is_flat = phase->direction == KERNEL_FLAT;
  ADD("  if ult gid.x, load %%\"the arguments\".count {\n"
      "  %%\"" KERNEL_OWN_ROW " 0\" = %sadd(gid.x, load %%\"the arguments\".first)%s\n",
      is_flat ? "" : "load %\"what is not written\"[", is_flat ? "" : "]");
  VYRE_TRY(call(w, phase, 0));
  return vyre_bytes_printf(w->text, "  }\n}\n");
}

/* ---- a program a workgroup ----------------------------------------------------------------------------------------------- */

/* The rows of a level of a program, by all invocations of the workgroup, which then meet. */
static vyre_status
add_turn(writer *w, uint32_t function)
{
  const uint32_t turn = w->turns++;
  ADD("  for %%\"turn %u\" = add(%%\"first\", lindex) to %%\"end\" step %uu32 {\n"
      "  %%\"" KERNEL_OWN_ROW " %u\" = load %%\"what is not written\"[add(%%\"order\", %%\"turn %u\")]\n",
      turn, KERNEL_WORKGROUP, turn, turn);
  VYRE_TRY(call(w, &w->file->functions[function], turn));
  return vyre_bytes_printf(w->text, "  }\n  barrier workgroup workgroup acq_rel uniform_memory\n");
}

static vyre_status
add_turns(writer *w, uint32_t first, uint32_t end)
{
  for (uint32_t i = first; i < end; i++) {
    const kernel_step *step = &w->file->steps[i];
    if (step->kind == KERNEL_RUN) {
      VYRE_TRY(add_turn(w, step->phase));
      continue;
    }
    ADD("  for %%\"repeat %u\" = 0u32 to %uu32 {\n", w->repeats++, step->times);
    VYRE_TRY(add_turns(w, i + 1, step->end));
    ADD("  }\n");
    i = step->end - 1;
  }
  return VYRE_OK;
}

static vyre_status
begin_levels(writer *w, kernel_direction direction)
{
  const bool from_end = direction == KERNEL_DOWN || direction == KERNEL_OUTWARD;
  ADD("  %%\"order\" = load %%\"the arguments\".order\n"
      "  %%\"starts\" = load %%\"the arguments\".starts\n"
      "  %%\"program\" = add(wid.x, load %%\"the arguments\".firsts)\n"
      "  %%\"levels\" = load %%\"what is not written\"[%%\"program\"]\n"
      "  %%\"levels' end\" = load %%\"what is not written\"[add(%%\"program\", 1u32)]\n"
      "  for %%\"level\" = %%\"levels\" to %%\"levels' end\" {\n"
      "  %%\"start\" = add(%%\"starts\", %s)\n"
      "  %%\"first\" = load %%\"what is not written\"[%%\"start\"]\n"
      "  %%\"end\" = load %%\"what is not written\"[add(%%\"start\", 1u32)]\n",
      from_end ? "sub(sub(add(%\"levels\", %\"levels' end\"), 1u32), %\"level\")" : "%\"level\"");
  return VYRE_OK;
}

static vyre_status
add_phase_by_program(writer *w, uint32_t function)
{
  const kernel_function *phase = &w->file->functions[function];
  VYRE_TRY(begin_program(w, (kernel_device_kernel){false, true, function, 0}, phase->names, phase->written));
  VYRE_TRY(begin_levels(w, phase->direction));
  VYRE_TRY(add_turn(w, function));
  return vyre_bytes_printf(w->text, "  }\n}\n");
}

/* Names of the phases in `levels`; 0: it has no form by program. */
static uint64_t
names_of_levels(const kernel_file *file, uint32_t levels, kernel_direction *out, uint64_t *out_written)
{
  uint64_t names = 0;
  *out_written = 0;
  for (uint32_t i = levels + 1; i < file->steps[levels].end; i++) {
    const kernel_step *step = &file->steps[i];
    if (step->kind == KERNEL_REPEAT_WHILE)
      return 0;
    if (step->kind == KERNEL_RUN) {
      names |= file->functions[step->phase].names;
      *out_written |= file->functions[step->phase].written;
      *out = file->functions[step->phase].direction;
    }
  }
  return names;
}

static vyre_status
add_levels(writer *w, uint32_t levels)
{
  kernel_direction direction = KERNEL_UP;
  uint64_t written;
  const uint64_t names = names_of_levels(w->file, levels, &direction, &written);
  if (!names)
    return VYRE_OK;
  VYRE_TRY(begin_program(w, (kernel_device_kernel){true, true, levels, 0}, names, written));
  VYRE_TRY(begin_levels(w, direction));
  VYRE_TRY(add_turns(w, levels + 1, w->file->steps[levels].end));
  return vyre_bytes_printf(w->text, "  }\n}\n");
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
    if (file->functions[i].is_phase && file->functions[i].direction != KERNEL_FLAT)
      VYRE_TRY(add_phase_by_program(w, i));
  for (uint32_t i = 0; i < file->step_count; i++)
    if (file->steps[i].kind == KERNEL_LEVELS)
      VYRE_TRY(add_levels(w, i));
  return VYRE_OK;
}
