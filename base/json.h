/* Text in JSON.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_BASE_JSON_H
#define VYRE_BASE_JSON_H

#include "vyre/status.h"

/* Appends it in quotes.  What is no UTF-8, as names of files and of SPIR-V may have it, becomes U+FFFD. */
VYRE_MUST_USE vyre_status vyre_json_text(const char *text, vyre_bytes *out);

#endif
