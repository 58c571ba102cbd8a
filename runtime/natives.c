/* The programs without handlers, compiled to C during vyre's build.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "mega.h"

struct vyre_c_dispatch;
uint32_t mega_native_once(const struct vyre_c_dispatch *dispatch);
uint32_t mega_native_priority(const struct vyre_c_dispatch *dispatch);
uint32_t mega_native_persistent(const struct vyre_c_dispatch *dispatch);
uint32_t mega_native_persistent_priority(const struct vyre_c_dispatch *dispatch);
uint32_t mega_programs_priority(const struct vyre_c_dispatch *dispatch);
uint32_t mega_programs_persistent(const struct vyre_c_dispatch *dispatch);
uint32_t mega_programs_persistent_priority(const struct vyre_c_dispatch *dispatch);

const vyre_kernel_function mega_natives[VYRE_MEGA_BUILD__COUNT] = {
    [VYRE_MEGA_ONCE] = {.run = mega_native_once},
    [VYRE_MEGA_BY_PRIORITY] = {.run = mega_native_priority},
    [VYRE_MEGA_PERSISTENT] = {.run = mega_native_persistent},
    [VYRE_MEGA_PERSISTENT_BY_PRIORITY] = {.run = mega_native_persistent_priority},
};

const vyre_kernel_function mega_program_natives[VYRE_MEGA_BUILD__COUNT] = {
    [VYRE_MEGA_BY_PRIORITY] = {.run = mega_programs_priority},
    [VYRE_MEGA_PERSISTENT] = {.run = mega_programs_persistent},
    [VYRE_MEGA_PERSISTENT_BY_PRIORITY] = {.run = mega_programs_persistent_priority},
};
