/* Assembles the kernel's text from the files of runtime/kernel.  Words that begin with a dollar are replaced.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "source.h"

#include "programs/natives.h"
#include "signature.h"
#include "protocol/words.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

typedef struct writer {
  const vyre_mega_program *program;
  const vyre_mega_form *form;
  const mega_part *part;
  vyre_bytes *out;
} writer;

static const char buffers[] = "buffer %control : u32[] storage rw set(0) binding(0)\n"
                              "  buffer %ring : u32[] storage rw set(0) binding(1)\n"
                              "  buffer %debug : u32[] storage rw set(0) binding(2)\n"
                              "  buffer %io : u32[] storage rw set(0) binding(3)\n";
static const char data_buffer[] = "  buffer %data : u32[] storage rw set(0) binding(4)\n";
static const char stage_buffer[] = "  buffer %stage : u32[] storage rw set(0) binding(5)\n";

static bool
is_persistent(const vyre_mega_program *p)
{
  return p->build == VYRE_MEGA_PERSISTENT || p->build == VYRE_MEGA_PERSISTENT_BY_PRIORITY;
}

static bool
has_priorities(const vyre_mega_program *p)
{
  return p->build == VYRE_MEGA_BY_PRIORITY || p->build == VYRE_MEGA_PERSISTENT_BY_PRIORITY;
}

/* ---- operations ---------------------------------------------------------------------------------------------------------- */

static vyre_status
put_call(const writer *w, const char *function)
{
  return vyre_bytes_printf(w->out, "@%s(%%control, %%ring, %%debug, %%io, %s%%base, %%op, %%a0, %%a1, %%a2)",
                           mega_function_name(function), w->program->has_data || w->program->has_programs ? "%data, " : "");
}

static vyre_status put_text(const writer *w, const char *text);

/* Writes the call of handler `i`, or the row that stages its item. */
static vyre_status
put_handler(const writer *w, uint32_t i, const char *function)
{
  if (w->part->is_staged && w->part->is_staged[i])
    return vyre_bytes_printf(w->out, "@mega_stage(%%ring, %%stage, %%base, %%op)");
  return put_call(w, function);
}

/* Writes whether an item's op code has another function than that of the handler `part->handler`. */
static vyre_status
put_is_other(const writer *w)
{
  const vyre_mega_program *p = w->program;
  uint32_t count = 0;
  if (p->fused)
    return vyre_bytes_printf(w->out, "false");
  for (uint32_t i = 0; i < p->handler_count; i++)
    if (mega_is_same_function(p, i, w->part->handler)) {
      VYRE_TRY(vyre_bytes_printf(w->out, "and(ne(%%op, %" PRIu32 "u32), ", p->handlers[i].op));
      count++;
    }
  VYRE_TRY(vyre_bytes_printf(w->out, "true"));
  for (; count; count--)
    VYRE_TRY(vyre_bytes_printf(w->out, ")"));
  return VYRE_OK;
}

/* Writes a switch over the op codes of the protocol and of the handlers, because the compiler can make a switch a jump table. */
static vyre_status
put_switch(const writer *w)
{
  static const char cases[] = "switch %op {\n"
                              "    case $OP_NOPu32 { }\n"
                              "    case $OP_STOREu32 { set %result, @mega_store(%control, %a0, %a1) }\n"
                              "    case $OP_ADDu32 { set %result, @mega_add(%control, %a0, %a1) }\n"
                              "    case $OP_LOADu32 { set %result, @mega_load(%control, %a0, %a1) }\n"
                              "    case $OP_SWAPu32 { set %result, @mega_swap(%control, %a0, %a1, %a2) }\n"
                              "    case $OP_COPYu32 { set %result, @mega_copy(%control, %a0, %a1, %a2) }\n"
                              "    case $OP_FENCEu32 { set %result, @mega_fence(%control, %a1) }\n"
                              "    case $OP_LOAD_MISSu32 { set %result, @mega_load_miss(%control, %ring, %io, %base, %state) }\n"
                              "    case $OP_PRINTu32 { set %result, @mega_print(%control, %debug, %base, %a0, %a1, %a2) }\n"
                              "    case $OP_SHUT_DOWNu32 { set %result, @mega_shut_down(%control, %ring, %base) }\n";
  VYRE_TRY(put_text(w, cases));
  for (uint32_t i = 0; i < w->program->handler_count; i++) {
    VYRE_TRY(vyre_bytes_printf(w->out, "    case %" PRIu32 "u32 { set %%result, ", w->program->handlers[i].op));
    VYRE_TRY(put_handler(w, i, w->program->handlers[i].function));
    VYRE_TRY(vyre_bytes_printf(w->out, " }\n"));
  }
  if (w->program->has_programs)
    VYRE_TRY(put_text(w, "    case $OP_PROGRAMu32 { set %result, @program_visit(%ring, %data, %base) }\n"));
  return put_text(w, "    default { set %result, $REASON_OPu32 }\n  }");
}

static vyre_status
put_operation(const writer *w)
{
  if (!w->program->fused)
    return put_switch(w);
  VYRE_TRY(vyre_bytes_printf(w->out, "set %%result, "));
  return put_handler(w, 0, w->program->fused);
}

/* ---- text ---------------------------------------------------------------------------------------------------------------- */

static const struct {
  const char *name;
  uint32_t value;
} words[] = {
#define MEGA_WORD(name, value) {#name, value},
#include "kernel/words.def"
};

static bool
has_data_buffer(const vyre_mega_program *p)
{
  return p->has_data || p->has_programs;
}

/* Writes the turn of an interpreted item after a round.  Its iterations count against the limit of a launch. */
static vyre_status
put_turn(const writer *w)
{
  if (!w->program->has_programs)
    return VYRE_OK;
  VYRE_TRY(vyre_bytes_printf(w->out, "%%turn = @program_turn(%%control, %%data, sub(%" PRIu32 "u32, get(%%work)))\n",
                             w->form->iterations ? w->form->iterations : INT32_MAX));
  return put_text(w, "    set %work, add(get(%work), select(eq($ITERATIONSu32, 0u32), 0u32, ushr(%turn, 2u32)))\n"
                     "    %came = or(%visited, and(%turn, 3u32))");
}

#define IS(text) (length == sizeof(text) - 1 && memcmp(word, text, length) == 0)

/* Writes a word of the text for staged items.  Sets *out_found to false if it is not such a word. */
static vyre_status
put_word_of_stages(const writer *w, const char *word, size_t length, bool *out_found)
{
  const bool is_staged = w->part->is_staged != NULL;
  *out_found = true;
  if (IS("RESET"))
    return vyre_bytes_printf(w->out, "%s", is_staged ? "if eq(gid.x, 0u32) { store %stage[0], 0u32 }" : "");
  if (IS("STAGE_CHECK"))
    return is_staged ? put_text(w, "if eq(get(%result), $THEN_STAGEu32) {\n"
                                   "    if eq(load(%stage[@mega_mark(%slot)]), $STAGEDu32) { return 4u32 }\n  }")
                     : VYRE_OK;
  if (IS("IS_OTHER"))
    return put_is_other(w);
  if (IS("CALL"))
    return put_call(w, w->program->fused ? w->program->fused : w->program->handlers[w->part->handler].function);
  *out_found = false;
  return VYRE_OK;
}

static vyre_status
put_word(const writer *w, const char *word, size_t length)
{
  const bool has_data = has_data_buffer(w->program), has_programs = w->program->has_programs;
  const bool has_stage = w->part->is_staged != NULL;
  bool found;
  vyre_status status = put_word_of_stages(w, word, length, &found);
  if (found || status)
    return status;
  if (IS("SCOPE"))
    return vyre_bytes_printf(w->out, "%s", w->form->is_device_scope ? "device" : "cross_device");
  if (IS("RELAXED")) /* `cross_device` alone is 0, which means device scope */
    return vyre_bytes_printf(w->out, "%s", w->form->is_device_scope ? "device" : "cross_device uniform_memory");
  if (IS("PARAMETERS"))
    return vyre_bytes_printf(w->out, "%%control : path u32[], %%ring : path u32[], %%debug : path u32[], %%io : path u32[]%s%s",
                             has_data ? ", %data : path u32[]" : "", has_stage ? ", %stage : path u32[]" : "");
  if (IS("ARGUMENTS"))
    return vyre_bytes_printf(w->out, "%%control, %%ring, %%debug, %%io%s%s", has_data ? ", %data" : "",
                             has_stage ? ", %stage" : "");
  if (IS("BUFFERS"))
    return vyre_bytes_printf(w->out, "%s%s%s", buffers, has_data ? data_buffer : "", has_stage ? stage_buffer : "");
  if (IS("WORK"))
    return vyre_bytes_printf(w->out, "%s", has_programs ? "var %work : u32" : "");
  if (IS("CAME"))
    return vyre_bytes_printf(w->out, "%s", has_programs ? "%visited" : "%came");
  if (IS("TURN"))
    return put_turn(w);
  if (IS("ITERATIONS"))
    return vyre_bytes_printf(w->out, "%" PRIu32, w->form->iterations);
  if (IS("PROGRAM_NATIVES"))
    return program_put_natives(!w->form->has_no_halves, w->out);
  if (IS("OPERATION"))
    return put_operation(w);
  if (IS("SIZE"))
    return vyre_bytes_printf(w->out, "%" PRIu32, w->form->workgroup ? w->form->workgroup : 1);
  if (IS("GRID_BARRIER"))
    return vyre_bytes_printf(w->out, "%s", w->form->meets ? "barrier device" : "");
  if (IS("TOGETHER"))
    return vyre_bytes_printf(w->out, "%s",
                             w->form->workgroup > 1 ? "barrier workgroup workgroup acq_rel uniform_memory workgroup_memory" : "");
  if (IS("LEVELS"))
    return vyre_bytes_printf(w->out, "%d", has_priorities(w->program) ? VYRE_MEGA_LEVELS : 1);
  if (IS("PRIORITY"))
    return vyre_bytes_printf(w->out, "%s", has_priorities(w->program) ? "true" : "false");
  if (IS("LIVE"))
    return vyre_bytes_printf(w->out, "%s", is_persistent(w->program) ? "true" : "false");
  if (IS("PARTITION"))
    return vyre_bytes_printf(w->out, "%s",
                             has_priorities(w->program) ? "return load(%shared[add(%level, 2u32)])"
                                                        : "return select(eq(%level, 0u32), 0u32, %slots)");
#undef IS
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strlen(words[i].name) == length && memcmp(words[i].name, word, length) == 0)
      return vyre_bytes_printf(w->out, "%" PRIu32, words[i].value);
  return VYRE_ERROR(VYRE_CODE_INTERNAL,
                    "megakernel: internal error: unknown word $%.*s in its text\n"
                    "Fix: report this as a bug of vyre",
                    (int)length, word);
}

static bool
is_letter(char c)
{
  return (c >= 'A' && c <= 'Z') || c == '_';
}

static vyre_status
put_text(const writer *w, const char *text)
{
  for (const char *dollar; (dollar = strchr(text, '$'));) {
    const char *word = dollar + 1;
    size_t length = 0;
    VYRE_TRY(vyre_bytes_append(w->out, text, (size_t)(dollar - text)));
    while (is_letter(word[length]))
      length++;
    VYRE_TRY(put_word(w, word, length));
    text = word + length;
  }
  return vyre_bytes_append(w->out, text, strlen(text));
}

/* ---- checks -------------------------------------------------------------------------------------------------------------- */

/* Returns whether `text` is only a name, so that the source can safely contain it. */
static bool
is_name(const char *text)
{
  size_t i = 0;
  text = mega_function_name(text);
  if (!text)
    return false;
  while (isalnum((unsigned char)text[i]) || text[i] == '_' || text[i] == '.')
    i++;
  return i > 0 && text[i] == '\0' && !isdigit((unsigned char)text[0]) && text[0] != '.';
}

static vyre_status
check(const vyre_mega_program *p)
{
  if ((uint32_t)p->build >= VYRE_MEGA_BUILD__COUNT)
    return VYRE_ERROR(VYRE_CODE_INPUT, "megakernel: unknown build %d\nFix: use a value of vyre_mega_build", (int)p->build);
  if (p->has_programs && (p->build == VYRE_MEGA_ONCE || p->fused))
    return VYRE_ERROR(VYRE_CODE_INPUT, "megakernel: a kernel that interprets programs needs rounds, and no fused handler\n"
                                       "Fix: choose another build than ONCE, and handlers instead of `fused`");
  if (p->fused && !is_name(p->fused))
    return VYRE_ERROR(VYRE_CODE_INPUT, "megakernel: '%s' is not a function name\nFix: use letters, digits, dots and _", p->fused);
  for (uint32_t i = 0; i < p->handler_count; i++) {
    const vyre_mega_handler *h = &p->handlers[i];
    if (vyre_mega_op_is_system(h->op))
      return VYRE_ERROR(VYRE_CODE_INPUT,
                        "megakernel: handler %" PRIu32 " is for the op code 0x%" PRIx32 ", which is reserved\n"
                        "Fix: use 8 to 0xffef, or a code from 0x10000 on without the high bit",
                        i, h->op);
    if (!is_name(h->function))
      return VYRE_ERROR(VYRE_CODE_INPUT,
                        "megakernel: handler %" PRIu32 " has '%s', which is not a function name\n"
                        "Fix: use letters, digits, dots and _",
                        i, h->function ? h->function : "");
    for (uint32_t k = 0; k < i; k++)
      if (p->handlers[k].op == h->op)
        return VYRE_ERROR(VYRE_CODE_INPUT, "megakernel: two handlers for the op code %" PRIu32 "\nFix: keep one of them", h->op);
  }
  return VYRE_OK;
}

/* Writes the functions of handlers, and those that they may call. */
static vyre_status
put_functions(const writer *w)
{
  VYRE_TRY(put_text(w, mega_text_handlers));
  return w->program->source ? vyre_bytes_printf(w->out, "%s\n", w->program->source) : VYRE_OK;
}

static vyre_status
put_kernel(const writer *w)
{
  VYRE_TRY(put_functions(w));
  if (w->program->has_programs) {
    VYRE_TRY(vyre_bytes_append(w->out, mega_text_eval, strlen(mega_text_eval)));
    VYRE_TRY(put_text(w, mega_text_programs));
  }
  if (w->part->is_staged)
    VYRE_TRY(put_text(w, mega_text_stage));
  VYRE_TRY(put_text(w, mega_text_end));
  VYRE_TRY(put_text(w, mega_text_item));
  return put_text(w, w->program->build == VYRE_MEGA_ONCE ? mega_text_once : mega_text_rounds);
}

static vyre_status
put_all(const writer *w)
{
  VYRE_TRY(put_text(w, w->form->is_together ? mega_text_together : mega_text_alone));
  if (w->part->kind == MEGA_PART_KERNEL)
    return put_kernel(w);
  VYRE_TRY(put_text(w, mega_text_stage));
  VYRE_TRY(w->part->kind == MEGA_PART_GRID ? put_functions(w) : put_text(w, mega_text_end));
  return put_text(w, w->part->kind == MEGA_PART_GRID ? mega_text_grid : mega_text_grid_end);
}

vyre_status
mega_source(const vyre_mega_program *program, const vyre_mega_form *form, const mega_part *part, vyre_bytes *out)
{
  const writer w = {program, form, part, out};
  const size_t size = out->size;
  VYRE_TRY(check(program));
  VYRE_TRY(mega_check_signatures(program));
  return vyre_bytes_undo(out, size, put_all(&w));
}

vyre_status
vyre_mega_source(const vyre_mega_program *program, const vyre_mega_form *form, vyre_bytes *out)
{
  return mega_source(program, form, &(mega_part){.kind = MEGA_PART_KERNEL}, out);
}
