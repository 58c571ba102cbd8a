/* Writing of texts as JSON strings.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <string.h>

/* Returns the length in bytes of the UTF-8 character at the start of the text, or 0 if the character is not valid. */
static size_t
utf8_length(const char *text)
{
  const unsigned char *at = (const unsigned char *)text;
  const size_t length = at[0] < 0x80 ? 1 : at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : at[0] < 0xf5 ? 4 : 0;
  for (size_t i = 1; i < length; i++)
    if ((at[i] & 0xc0) != 0x80)
      return 0;
  const bool is_long = (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xf0 && at[1] < 0x90);
  const bool is_none =
      (at[0] == 0xed && at[1] >= 0xa0) || (at[0] == 0xf4 && at[1] >= 0x90); /* surrogates, and numbers above U+10FFFF */
  return is_long || is_none ? 0 : length;
}

vyre_status
vyre_json_text(const char *text, vyre_bytes *out)
{
  if (!text)
    return vyre_bytes_append(out, "null", 4);
  VYRE_TRY(vyre_bytes_append(out, "\"", 1));
  while (*text) {
    const size_t length = utf8_length(text);
    if (length == 0)
      VYRE_TRY(vyre_bytes_append(out, "\\ufffd", 6));
    else if ((unsigned char)*text < ' ')
      VYRE_TRY(vyre_bytes_printf(out, "\\u%04x", (unsigned)*text));
    else if (*text == '"' || *text == '\\')
      VYRE_TRY(vyre_bytes_printf(out, "\\%c", *text));
    else
      VYRE_TRY(vyre_bytes_append(out, text, length));
    text += length ? length : 1;
  }
  return vyre_bytes_append(out, "\"", 1);
}

vyre_status
vyre_json_member(const char *before, const char *key, const char *text, vyre_bytes *out)
{
  VYRE_TRY(vyre_bytes_printf(out, "%s\"%s\": ", before, key));
  return vyre_json_text(text, out);
}
