/* Writing of texts as JSON strings.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_BASE_JSON_H
#define VYRE_BASE_JSON_H

#include "vyre/status.h"

/* Appends a text in quotes, or null for NULL.  Bytes that are not UTF-8, which names of files and of SPIR-V may have, become
 * U+FFFD. */
VYRE_MUST_USE vyre_status vyre_json_text(const char *text, vyre_bytes *out);
/* Appends `before`, the key in quotes, a colon and the text. */
VYRE_MUST_USE vyre_status vyre_json_member(const char *before, const char *key, const char *text, vyre_bytes *out);

#endif
