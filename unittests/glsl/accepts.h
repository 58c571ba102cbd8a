/* Compiles texts of SPIRV-Cross.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_GLSL_ACCEPTS_H
#define VYRE_UNITTESTS_GLSL_ACCEPTS_H

#include "../test.h"
#include "vyre/glsl.h"

/* Messages of glslang that are known for texts of SPIRV-Cross, with their causes. */
static const char *const glsl_known_messages[] = {
    "index out of range",    /* a constant index beyond the array, in code that is never executed */
    "undeclared identifier", /* a value of an inner block that is used after it, or a second constant with the id of a workgroup
                                side */
};

typedef struct glsl_messages {
  bool is_known; /* the first message is known */
  char first[256];
} glsl_messages;

static inline void
glsl_keep_message(void *user, const vyre_diagnostic *diagnostic)
{
  glsl_messages *all = user;
  if (all->first[0])
    return;
  snprintf(all->first, sizeof all->first, "%u: %s", diagnostic->line, diagnostic->message);
  for (size_t i = 0; i < sizeof glsl_known_messages / sizeof *glsl_known_messages; i++)
    all->is_known |= strstr(all->first, glsl_known_messages[i]) != NULL;
}

/* Compiles a text.  Returns false if glslang refuses it for a known cause.  Another refusal fails the test. */
static inline bool
glsl_accepts(const vyre_bytes *text, vyre_bytes *out)
{
  glsl_messages all = {0};
  vyre_status status =
      vyre_glsl_compile(text->data, text->size, "written.glsl", NULL, (vyre_diagnostics){glsl_keep_message, &all}, out);
  const bool accepts = status == NULL;
  for (size_t at = 0; !accepts && !all.is_known && at < text->size; at += 1000) /* cmocka cuts longer messages */
    print_error("%.1000s", text->data + at);
  if (!accepts && !all.is_known)
    fail_msg("%s, %s", vyre_status_text(status), all.first);
  vyre_status_free(status);
  return accepts;
}

#endif
