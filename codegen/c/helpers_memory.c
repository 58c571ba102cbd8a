/* Texts of helper functions on memory, on waiting invocations, and on masks of lanes.
 *
 * Loads and stores use memcpy, so that the memory may have any type.  Atomics need a typed pointer, which may alias any type.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#define LOAD(kind, type)                                                                                  \
  {                                                                                                       \
    "load", kind,                                                                                         \
        type "\nNAME(const uint8_t *from)\n{\n  " type " value;\n  memcpy(&value, from, sizeof value);\n" \
             "  return value;\n}\n"                                                                       \
  }
#define STORE(kind, type)                                                                                 \
  {                                                                                                       \
    "store", kind, "void\nNAME(uint8_t *to, " type " value)\n{\n  memcpy(to, &value, sizeof value);\n}\n" \
  }

/* Combines a value with memory: `old` is the previous content, `new` the next.  $M is the integer that holds the kind.
 * `alone`: no other thread accesses the memory, so the update need not be atomic. */
#define ATOMIC "$M\nNAME(uint8_t *at, $M value, int order, bool alone)\n{\n  typedef $M __attribute__((may_alias)) word;\n"

/* Updates memory by a compiler builtin. */
#define FETCH(name, expression, call)                                                                            \
  {                                                                                                              \
    name, VYRE_VOID,                                                                                             \
        ATOMIC "  word *const to = (word *)(void *)at;\n  if (!alone)\n    return " call "(to, value, order);\n" \
               "  const $M old = *to;\n  *to = " expression ";\n  return old;\n}\n"                              \
  }

/* Updates that often change nothing.  A relaxed update without change is only a load, which leaves the cache line shared. */
#define COMBINE_BY(name, expression, change)                                                                               \
  {                                                                                                                        \
    name, VYRE_VOID,                                                                                                       \
        ATOMIC "  word *const to = (word *)(void *)at;\n  $M old = alone ? *to : __atomic_load_n(to, __ATOMIC_RELAXED);\n" \
               "  $M new = " expression ";\n  if (alone)\n    *to = new;\n  else " change "  return old;\n}\n"             \
  }
#define MAY_CHANGE "(new != old || order != __ATOMIC_RELAXED)"
#define COMBINE(name, expression)                                                                                        \
  COMBINE_BY(name, expression,                                                                                           \
             "\n    while (" MAY_CHANGE " && !__atomic_compare_exchange_n(to, &old, new, 0, order, __ATOMIC_RELAXED))\n" \
             "      new = " expression ";\n")
#define COMBINE_ONCE(name, expression, call) \
  COMBINE_BY(name, expression, "if (" MAY_CHANGE ")\n    old = " call "(to, value, order);\n")

const cgen_helper cgen_memory_helpers[] = {
    LOAD(VYRE_U8, "uint8_t"),
    LOAD(VYRE_U16, "uint16_t"),
    LOAD(VYRE_U32, "uint32_t"),
    LOAD(VYRE_U64, "uint64_t"),
    LOAD(VYRE_F16, "uint16_t"),
    LOAD(VYRE_F32, "float"),
    LOAD(VYRE_F64, "double"),
    {"load", VYRE_BOOL,
     "bool\nNAME(const uint8_t *from)\n{\n  uint32_t word;\n  memcpy(&word, from, sizeof word);\n  return word != 0;\n}\n"},
    STORE(VYRE_U8, "uint8_t"),
    STORE(VYRE_U16, "uint16_t"),
    STORE(VYRE_U32, "uint32_t"),
    STORE(VYRE_U64, "uint64_t"),
    STORE(VYRE_F16, "uint16_t"),
    STORE(VYRE_F32, "float"),
    STORE(VYRE_F64, "double"),
    {"store", VYRE_BOOL,
     "void\nNAME(uint8_t *to, bool value)\n{\n  const uint32_t word = value;\n  memcpy(to, &word, sizeof word);\n}\n"},
    /* the number of elements of a runtime array */
    {"length", VYRE_U64,
     "uint64_t\nNAME(uint64_t bytes, uint64_t head, uint64_t stride)\n{\n"
     "  return head < bytes ? (bytes - head) / stride : 0;\n}\n"},
    /* how many of the `count` numbers from `first` on are below the limit */
    {"inside", VYRE_U64,
     "uint32_t\nNAME(uint32_t count, uint64_t limit, uint32_t first)\n{\n"
     "  return limit <= first ? 0 : limit - first < count ? (uint32_t)(limit - first) : count;\n}\n"},
    /* an element of an array of descriptors */
    {"element", VYRE_U64,
     "vyre_c_buffer\nNAME(const vyre_c_buffer *array, bool there, uint64_t which)\n{\n"
     "  const vyre_c_buffer none = {0, 0};\n"
     "  return there && which < array->bytes && ((const vyre_c_buffer *)array->data)[which].data\n"
     "             ? ((const vyre_c_buffer *)array->data)[which]\n             : none;\n}\n"},
    {"atomic_load", VYRE_VOID,
     "$M\nNAME(uint8_t *at, int order)\n{\n  typedef $M __attribute__((may_alias)) word;\n"
     "  return __atomic_load_n((word *)(void *)at, order);\n}\n"},
    {"atomic_store", VYRE_VOID,
     "void\nNAME(uint8_t *at, $M value, int order)\n{\n  typedef $M __attribute__((may_alias)) word;\n"
     "  __atomic_store_n((word *)(void *)at, value, order);\n}\n"},
    {"atomic_compare_exchange", VYRE_VOID,
     "$M\nNAME(uint8_t *at, $M value, $M old, int order, int otherwise)\n{\n  typedef $M __attribute__((may_alias)) word;\n"
     "  __atomic_compare_exchange_n((word *)(void *)at, &old, value, 0, order, otherwise);\n  return old;\n}\n"},
    FETCH("atomic_exchange", "value", "__atomic_exchange_n"),
    FETCH("atomic_add", "($M)(old + value)", "__atomic_fetch_add"),
    FETCH("atomic_sub", "($M)(old - value)", "__atomic_fetch_sub"),
    FETCH("atomic_xor", "($M)(old ^ value)", "__atomic_fetch_xor"),
    COMBINE_ONCE("atomic_and", "($M)(old & value)", "__atomic_fetch_and"),
    COMBINE_ONCE("atomic_or", "($M)(old | value)", "__atomic_fetch_or"),
    COMBINE("atomic_umin", "@umin(old, value)"),
    COMBINE("atomic_umax", "@umax(old, value)"),
    COMBINE("atomic_smin", "@smin(old, value)"),
    COMBINE("atomic_smax", "@smax(old, value)"),
    COMBINE("atomic_fadd", "$D(@result($I(old) + $I(value)))"),
    COMBINE("atomic_fmin", "$D(@result(@fmin($I(old), $I(value))))"),
    COMBINE("atomic_fmax", "$D(@result(@fmax($I(old), $I(value))))"),
    /* ---- states of invocations: 0 is active ---- */
    {"move", VYRE_U16,
     "void\nNAME(uint16_t *where, uint32_t count, uint16_t from, uint16_t to)\n{\n"
     "  for (uint32_t i = 0; i < count; i++)\n    where[i] = where[i] == from ? to : where[i];\n}\n"},
    {"any_here", VYRE_U16,
     "bool\nNAME(const uint16_t *where, uint32_t count)\n{\n  bool any = false;\n"
     "  for (uint32_t i = 0; i < count; i++)\n    any = any || where[i] == 0;\n  return any;\n}\n"},
    /* whether some are active, and others neither active nor returned (1) */
    {"apart", VYRE_U16,
     "bool\nNAME(const uint16_t *where, uint32_t count)\n{\n  bool here = false, elsewhere = false;\n"
     "  for (uint32_t i = 0; i < count; i++) {\n    here = here || where[i] == 0;\n"
     "    elsewhere = elsewhere || where[i] > 1;\n  }\n  return here && elsewhere;\n}\n"},
    /* ---- masks of lanes: four words of 32 bits ---- */
    /* the bits of a word for the lanes from `from` to before `to` */
    {"lanes", VYRE_U32,
     "uint32_t\nNAME(uint32_t word, uint32_t from, uint32_t to)\n{\n  uint32_t mask = 0;\n"
     "  for (uint32_t bit = 0; bit < 32; bit++)\n"
     "    mask |= (uint32_t)(32 * word + bit >= from && 32 * word + bit < to) << bit;\n  return mask;\n}\n"},
    {"ballot_bit", VYRE_U32,
     "bool\nNAME(uint32_t x, uint32_t y, uint32_t z, uint32_t w, uint32_t lane, uint32_t size)\n{\n"
     "  const uint32_t word = lane < 32 ? x : lane < 64 ? y : lane < 96 ? z : w;\n"
     "  return lane < size && (word >> (lane & 31u) & 1u) != 0;\n}\n"},
    {"ballot_count", VYRE_U32,
     "uint32_t\nNAME(uint32_t x, uint32_t y, uint32_t z, uint32_t w, uint32_t size)\n{\n  uint32_t count = 0;\n"
     "  for (uint32_t lane = 0; lane < size; lane++)\n    count += #ballot_bit_u32(x, y, z, w, lane, size);\n  return count;\n}\n"},
    {"ballot_findlsb", VYRE_U32,
     "uint32_t\nNAME(uint32_t x, uint32_t y, uint32_t z, uint32_t w, uint32_t size)\n{\n"
     "  for (uint32_t lane = 0; lane < size; lane++)\n    if (#ballot_bit_u32(x, y, z, w, lane, size))\n      return lane;\n"
     "  return UINT32_MAX;\n}\n"},
    {"ballot_findmsb", VYRE_U32,
     "uint32_t\nNAME(uint32_t x, uint32_t y, uint32_t z, uint32_t w, uint32_t size)\n{\n"
     "  for (uint32_t lane = size; lane-- > 0;)\n    if (#ballot_bit_u32(x, y, z, w, lane, size))\n      return lane;\n"
     "  return UINT32_MAX;\n}\n"},
    {NULL, 0, NULL}};
