/* Text in JSON.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSMGR_JSON_H
#define VYRE_PASSMGR_JSON_H

#include "vyre/status.h"

/* Appends it in quotes. */
VYRE_MUST_USE vyre_status vyre_json_text(const char *text, vyre_bytes *out);

#endif
