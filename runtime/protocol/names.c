/* What states, priorities and reasons are called, and which op codes are whose.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/megakernel.h"

const char *
vyre_mega_state_text(uint32_t state)
{
  static const char *const texts[] = {"EMPTY", "PUBLISHED", "CLAIMED", "DONE", "WAIT_IO", "YIELD", "REQUEUE", "FAULT"};
  return state < VYRE_MEGA_STATE__COUNT ? texts[state] : "unknown";
}

const char *
vyre_mega_priority_text(uint32_t priority)
{
  static const char *const texts[] = {"CRITICAL", "HIGH", "NORMAL", "LOW", "IDLE"};
  return priority < VYRE_MEGA_LEVELS ? texts[priority] : "unknown";
}

const char *
vyre_mega_reason_text(uint32_t reason)
{
  static const char *const texts[VYRE_MEGA_REASON__COUNT] = {
      "no reason",
      "no handler has this op code",
      "there is no such tenant",
      "the tenant's quota is used up",
      "a control word that items may not use",
      "there are too few observables for the result",
      "a packed slot whose operations do not fit",
      "only tenant 0 may",
      "the read failed",
      "nobody did the read in time",
      "a handler gave what is no result",
      "the device was lost while it was under way",
  };
  const uint32_t code = reason & 0xffff;
  return code < VYRE_MEGA_REASON__COUNT ? texts[code] : code >= VYRE_MEGA_REASON_USER ? "the handler's own reason" : "unknown";
}

bool
vyre_mega_op_is_system(uint32_t op)
{
  return op >> 31 || op <= VYRE_MEGA_OP_FENCE || (op >= 0xfff0 && op <= 0xffff);
}

bool
vyre_mega_op_is_builtin(uint32_t op)
{
  return op <= VYRE_MEGA_OP_FENCE || op == VYRE_MEGA_OP_PACKED || op == VYRE_MEGA_OP_PRINT || op == VYRE_MEGA_OP_SHUT_DOWN;
}

bool
vyre_mega_state_is_active(uint32_t state)
{
  return state == VYRE_MEGA_PUBLISHED || state == VYRE_MEGA_CLAIMED || (state >= VYRE_MEGA_WAIT_IO && state <= VYRE_MEGA_REQUEUE);
}
