/* The texts of the kernel: runtime/kernel/NAME.vir, and for `eval` the evaluator of the
 * pass cf.  NUL-terminated.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_RUNTIME_SOURCE_H
#define VYRE_RUNTIME_SOURCE_H

extern const char mega_text_alone[], mega_text_together[], mega_text_handlers[], mega_text_item[], mega_text_once[],
    mega_text_rounds[], mega_text_programs[], mega_text_eval[];

#endif
