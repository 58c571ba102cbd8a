/* The op table as data: the rows of ops.def by number.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/ir.h"

#include <assert.h>
#include <string.h>

enum {
  OPS = 0
#define VYRE_OP(number, ...) +1
#include "vyre/ops.def"
};
static_assert(VYRE_OP__COUNT <= VYRE_OP__ROOM, "plugins size arrays by VYRE_OP__ROOM, which is part of their ABI");
static_assert(
    VYRE_OPSET_VERSION == 2 && OPS == 256 && VYRE_OP__COUNT == 344,
    "A new op makes a new op set. Its number is greater than all others. Raise VYRE_OPSET_VERSION and the minor number of "
    "VYRE_PLUGIN_ABI, set its op set in .opset below, then change these numbers.");

#define PURE       VYRE_OP_PURE
#define COMMUTES   VYRE_OP_COMMUTES
#define ASSOC      VYRE_OP_ASSOC
#define TAKES_IMM  VYRE_OP_TAKES_IMM
#define READS      VYRE_OP_READS
#define WRITES     VYRE_OP_WRITES
#define EFFECT     VYRE_OP_EFFECT
#define CONVERGENT VYRE_OP_CONVERGENT
#define IDENTITY   VYRE_OP_IDENTITY
#define REGIONS    VYRE_OP_REGIONS
#define REGION     VYRE_OP_REGION
#define ENDS       VYRE_OP_ENDS
#define INTERFACE  VYRE_OP_INTERFACE

#define LT VYRE_COMPARES_LESS
#define EQ VYRE_COMPARES_EQUAL
#define GT VYRE_COMPARES_GREATER
#define UN VYRE_COMPARES_UNORDERED

/* Laws: the fields that they set. */
#define NONE
#define SELF(it)     , .self = VYRE_SELF_##it
#define ABSORBS(it)  , .absorbs = VYRE_ABSORBS_##it
#define COMBINES(op) , .combines = VYRE_OP_##op
#define COMPARES(order, when, mirror, negation)                                                              \
  , .mirrored = VYRE_OP_##mirror, .inverse = VYRE_OP_##negation, .compares = VYRE_COMPARES_##order | (when), \
    .self = SELF_OF_##order(when)
#define SELF_OF_UNSIGNED(when) ((when)&EQ ? VYRE_SELF_ONE : VYRE_SELF_ZERO)
#define SELF_OF_SIGNED         SELF_OF_UNSIGNED
#define SELF_OF_EITHER         SELF_OF_UNSIGNED
#define SELF_OF_FLOAT(when)    VYRE_SELF_NONE

const vyre_op_info vyre_op_infos[VYRE_OP__COUNT] = {
#define VYRE_OP(number, id, string, count, class, result, bits, when, folds, quarters, laws) \
  [number] = {.text = string,                                                                \
              .flags = bits,                                                                 \
              .operands = count,                                                             \
              .klass = VYRE_CLASS_##class,                                                   \
              .rule = VYRE_RULE_##result,                                                    \
              .undefined = VYRE_UNDEFINED_##when,                                            \
              .fold = VYRE_FOLD_##folds,                                                     \
              .cost = quarters laws,                                                         \
              .opset = (number) >= VYRE_OP_sdot ? 2 : 1},
#include "vyre/ops.def"
};

vyre_opcode
vyre_op_find(const char *text, size_t length)
{
  for (uint32_t op = 1; op < VYRE_OP__COUNT; op++) {
    const char *name = vyre_op_infos[op].text;
    if (name && strncmp(name, text, length) == 0 && name[length] == '\0')
      return (vyre_opcode)op;
  }
  return VYRE_OP_null;
}

const char *
vyre_version(void)
{
  return VYRE_VERSION;
}

uint32_t
vyre_opset_version(void)
{
  return VYRE_OPSET_VERSION;
}
