/* Docs at patterns.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "patterns.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static vyre_status
append_matches(name_list *to, const char *pattern, option_texts *texts)
{
  glob_t found;
  vyre_status status = VYRE_OK;
  const int ended = glob(pattern, 0, NULL, &found);
  if (ended == GLOB_NOMATCH)
    return VYRE_ERROR(VYRE_CODE_USAGE,
                      "no file matches '%s'\nFix: in a pattern * matches any text, ? one character, [ab] one of the characters",
                      pattern);
  if (ended)
    return VYRE_ERROR(VYRE_CODE_INPUT, "cannot search for files that match '%s'\nFix: make its folders readable", pattern);
  for (size_t i = 0; i < found.gl_pathc && !status; i++)
    status = name_list_append_copy(to, found.gl_pathv[i], texts);
  globfree(&found);
  return status;
}

vyre_status
patterns_expand(name_list *inputs, option_texts *texts)
{
  name_list all = {0};
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < inputs->count && !status; i++) {
    const char *input = inputs->names[i];
    const bool is_pattern = strpbrk(input, "*?[") && access(input, F_OK) != 0;
    status = is_pattern ? append_matches(&all, input, texts) : name_list_append(&all, input);
  }
  if (status) {
    free(all.names);
    return status;
  }
  free(inputs->names);
  *inputs = all;
  return VYRE_OK;
}
