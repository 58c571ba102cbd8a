/* Names of states, priorities and reasons, and the classes of op codes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/megakernel.h"

const char *
vyre_mega_state_text(uint32_t state)
{
  static const char *const texts[VYRE_MEGA_STATE__COUNT] = {
      [VYRE_MEGA_EMPTY] = "EMPTY",     [VYRE_MEGA_PUBLISHED] = "PUBLISHED", [VYRE_MEGA_CLAIMED] = "CLAIMED",
      [VYRE_MEGA_DONE] = "DONE",       [VYRE_MEGA_WAIT_IO] = "WAIT_IO",     [VYRE_MEGA_YIELD] = "YIELD",
      [VYRE_MEGA_REQUEUE] = "REQUEUE", [VYRE_MEGA_FAULT] = "FAULT",
  };
  return state < VYRE_MEGA_STATE__COUNT ? texts[state] : "unknown";
}

const char *
vyre_mega_priority_text(uint32_t priority)
{
  static const char *const texts[VYRE_MEGA_LEVELS] = {
      [VYRE_MEGA_CRITICAL] = "CRITICAL", [VYRE_MEGA_HIGH] = "HIGH", [VYRE_MEGA_NORMAL] = "NORMAL",
      [VYRE_MEGA_LOW] = "LOW",           [VYRE_MEGA_IDLE] = "IDLE",
  };
  return priority < VYRE_MEGA_LEVELS ? texts[priority] : "unknown";
}

const char *
vyre_mega_reason_text(uint32_t reason)
{
  static const char *const texts[VYRE_MEGA_REASON__COUNT] = {
      [VYRE_MEGA_REASON_NONE] = "no reason",
      [VYRE_MEGA_REASON_OP] = "no handler has this op code",
      [VYRE_MEGA_REASON_TENANT] = "there is no such tenant",
      [VYRE_MEGA_REASON_QUOTA] = "the tenant's quota is used up",
      [VYRE_MEGA_REASON_WORD] = "a control word that items may not use",
      [VYRE_MEGA_REASON_OBSERVABLE] = "there are too few observables for the result",
      [VYRE_MEGA_REASON_PACKED] = "a packed slot whose operations do not fit",
      [VYRE_MEGA_REASON_PERMISSION] = "only tenant 0 may do this",
      [VYRE_MEGA_REASON_IO] = "the read failed",
      [VYRE_MEGA_REASON_IO_PATIENCE] = "the read was not served in time",
      [VYRE_MEGA_REASON_RESULT] = "a handler returned a value that is not a result",
      [VYRE_MEGA_REASON_LOST] = "the device was lost or out of memory while the item ran",
      [VYRE_MEGA_REASON_PROGRAM] = "the program was removed, or its table is damaged",
      [VYRE_MEGA_REASON_BUFFER] = "a buffer of the item is not in the memory for buffers",
      [VYRE_MEGA_REASON_STEPS] = "the item has not ended after its number of steps",
      [VYRE_MEGA_REASON_TRAP] = "the program executed a trap",
      [VYRE_MEGA_REASON_BARRIER] = "not all invocations of a workgroup reached a barrier",
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
