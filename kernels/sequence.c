/* Reads the sequence of a kernel file.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "read.h"

static kernel_step *
add_step(kernel_reader *r, vyre_phase_step_kind kind)
{
  if (r->file->step_count == KERNEL_MOST_STEPS) {
    kernel_error(r->file, kernel_here(r), NULL, "the sequence has more than %d steps", KERNEL_MOST_STEPS);
    return NULL;
  }
  r->file->steps[r->file->step_count] = (kernel_step){.kind = kind};
  return &r->file->steps[r->file->step_count++];
}

static bool
read_phase_step(kernel_reader *r)
{
  const kernel_function *phase = kernel_find_function(r->file, &r->lexer.token);
  if (!phase || !phase->is_phase)
    return kernel_error(r->file, kernel_here(r), "write the sequence after its phases", "there is no phase %.*s",
                        (int)r->lexer.token.length, r->file->text + r->lexer.token.start);
  kernel_step *step = add_step(r, VYRE_STEP_RUN);
  if (step)
    step->phase = (uint32_t)(phase - r->file->functions);
  text_lex(&r->lexer);
  return step != NULL;
}

/* Reads repeat 4 { } or repeat while %again { }. */
static bool
read_repeat(kernel_reader *r)
{
  kernel_step *step = add_step(r, VYRE_STEP_REPEAT);
  text_lex(&r->lexer);
  const kernel_text where = kernel_here(r);
  if (!step || !kernel_accept_word(r, "while"))
    return step && kernel_parse_integer(r, 1, KERNEL_MOST_TIMES, &step->times);
  if (r->in_while)
    return kernel_error(r->file, where, "let the phases of both add to one counter, and repeat all of them while it grows",
                        "repeat while cannot be nested, because targets cannot nest repetitions");
  step->kind = VYRE_STEP_REPEAT_WHILE;
  step->name = kernel_find_name(r->file, &r->lexer.token, r->file->text);
  if (step->name == UINT32_MAX || r->file->names[step->name].kind != KERNEL_COUNTER || r->file->names[step->name].stride == 0)
    return kernel_expected(r, "a number, or the name of a counter");
  text_lex(&r->lexer);
  return true;
}

/* Reads levels { }, levels by %turn { } or levels apart by %turn { }. */
static bool
read_levels(kernel_reader *r)
{
  kernel_step *step = add_step(r, VYRE_STEP_LEVELS);
  text_lex(&r->lexer);
  if (!step)
    return false;
  step->is_apart = kernel_accept_word(r, "apart");
  if (!kernel_accept_word(r, "by"))
    return true;
  step->times = 1;
  step->name = kernel_find_name(r->file, &r->lexer.token, r->file->text);
  if (step->name == UINT32_MAX || r->file->names[step->name].kind != KERNEL_SIDE || r->file->names[step->name].stride != 1)
    return kernel_expected(r, "the name of a side column");
  text_lex(&r->lexer);
  return true;
}

static bool
read_steps(kernel_reader *r, uint32_t depth)
{
  if (!kernel_is_mark(r, '{'))
    return kernel_expected(r, "'{'");
  const kernel_text start = kernel_here(r);
  text_lex(&r->lexer);
  while (!kernel_accept_mark(r, '}')) {
    const uint32_t step = r->file->step_count;
    const bool in_while = r->in_while;
    const uint32_t times = r->times;
    const kernel_text where = kernel_here(r);
    if (r->lexer.token.kind == TOKEN_GLOBAL) {
      if (!read_phase_step(r))
        return false;
      continue;
    }
    if (r->lexer.token.kind == TOKEN_END)
      return kernel_error(r->file, start, NULL, "this '{' is not closed");
    if (depth == 8)
      return kernel_error(r->file, kernel_here(r), NULL, "steps nest deeper than 8");
    if (kernel_is_word(r, "repeat")   ? !read_repeat(r)
        : kernel_is_word(r, "levels") ? !read_levels(r)
                                      : !kernel_expected(r, "a phase, levels or repeat"))
      return false;
    r->in_while |= r->file->steps[step].kind == VYRE_STEP_REPEAT_WHILE;
    r->times *= r->file->steps[step].kind == VYRE_STEP_REPEAT ? r->file->steps[step].times : 1;
    if (r->times > KERNEL_MOST_TIMES)
      return kernel_error(r->file, where, "use repeat while", "nested repeats multiply to %u, more than %d", r->times,
                          KERNEL_MOST_TIMES);
    if (!read_steps(r, depth + 1))
      return false;
    r->in_while = in_while;
    r->times = times;
    r->file->steps[step].end = r->file->step_count;
  }
  return true;
}

/* Checks that the phases of `levels` have one direction. */
static bool
check_levels(kernel_reader *r, kernel_text where)
{
  kernel_file *file = r->file;
  for (uint32_t i = 0; i < file->step_count; i++) {
    const kernel_step *levels = &file->steps[i];
    const kernel_function *first = NULL;
    for (uint32_t k = i + 1; levels->kind == VYRE_STEP_LEVELS && k < levels->end; k++) {
      if (file->steps[k].kind == VYRE_STEP_LEVELS)
        return kernel_error(file, where, NULL, "levels cannot be nested");
      if (file->steps[k].kind != VYRE_STEP_RUN)
        continue;
      const kernel_function *phase = &file->functions[file->steps[k].phase];
      first = first ? first : phase;
      if (phase->direction == VYRE_DIRECTION_FLAT || phase->direction != first->direction)
        return kernel_error(file, phase->name, "move it out of levels, or give it the direction of the others",
                            "the phases of levels must have one direction, which is not flat");
    }
  }
  return true;
}

bool
kernel_read_sequence(kernel_reader *r)
{
  const kernel_text where = kernel_here(r);
  text_lex(&r->lexer);
  if (r->file->step_count)
    return kernel_error(r->file, where, NULL, "there are two sequences");
  r->file->is_apart = kernel_accept_word(r, "apart");
  return read_steps(r, 0) && check_levels(r, where);
}
