/* The ops that the kernel computes by a row of their own, and the cases of the kernel with these rows.
 *
 * Values of bool, i32, u32 and f32 use rows of these kinds.  Exact ops on all other kinds use the evaluator of passes/cf, which
 * computes with u64 only.  So the kernel needs no type of 8 or 16 bits and no f64, and no meaning is written here.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "natives.h"

#include "vyre/ir.h"

#include "eval/lanes.h"

#include <inttypes.h>
#include <pthread.h>

enum { MOST_NATIVES = 512 };

/* How the row of a native op is written. */
typedef enum shape {
  SHAPE_LANES,   /* op x, y, z */
  SHAPE_CONVERT, /* op x : T */
  SHAPE_BITFIELD,
  SHAPE_LDEXP,
  SHAPE_PARTS,  /* a part of op x */
  SHAPE_PACK,   /* op join x, y and so on */
  SHAPE_UNPACK, /* a lane of op x */
  SHAPE_HALVES, /* op x, y, z on f16, whose bits are in %x and so on */
} shape;

static struct {
  program_native of[MOST_NATIVES];
  shape shapes[MOST_NATIVES];
  uint32_t count;
} natives;
static pthread_once_t is_listed = PTHREAD_ONCE_INIT;

static const vyre_kind kinds[] = {VYRE_BOOL, VYRE_I32, VYRE_U32, VYRE_F32};

static void
add(uint32_t op, vyre_kind from, vyre_kind to, uint32_t part, shape form)
{
  natives.of[natives.count] = (program_native){op, from, to, part};
  natives.shapes[natives.count++] = form;
}

static bool
is_field(uint32_t op)
{
  return op == VYRE_OP_ubfe || op == VYRE_OP_sbfe;
}

/* Returns the kind whose case computes the op on a kind.  An op on either signedness computes the same bits for both. */
static vyre_kind
computed_as(uint32_t op, vyre_kind kind)
{
  return kind == VYRE_I32 && op != VYRE_OP_convert && vyre_class_has((vyre_class)vyre_op_infos[op].klass, VYRE_U32) ? VYRE_U32
                                                                                                                    : kind;
}

/* Adds an op on lanes, for each kind that it has. */
static void
add_lanes(uint32_t op)
{
  const vyre_op_info *info = &vyre_op_infos[op];
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    const bool is_same = info->rule == VYRE_RULE_SAME || is_field(op), is_other = computed_as(op, kinds[i]) != kinds[i];
    if (vyre_class_has((vyre_class)info->klass, kinds[i]) && !is_other && (is_same || info->rule == VYRE_RULE_BOOL))
      add(op, kinds[i], is_same ? kinds[i] : VYRE_BOOL, 0, SHAPE_LANES);
  }
}

static void
add_conversions(void)
{
  for (size_t i = 1; i < sizeof kinds / sizeof *kinds; i++)
    for (size_t k = 1; k < sizeof kinds / sizeof *kinds; k++)
      add(VYRE_OP_convert, kinds[i], kinds[k], 0, SHAPE_CONVERT);
}

static uint32_t
lanes_of_packed(uint32_t op)
{
  const bool is_bytes =
      op == VYRE_OP_packsnorm4x8 || op == VYRE_OP_packunorm4x8 || op == VYRE_OP_unpacksnorm4x8 || op == VYRE_OP_unpackunorm4x8;
  return is_bytes ? 4 : 2;
}

static void
list(void)
{
  for (uint32_t op = 0; op < VYRE_OP__COUNT; op++)
    if (vyre_op_infos[op].text && vyre_eval_is_lanewise((vyre_opcode)op) && op != VYRE_OP_select && op != VYRE_OP_convert)
      add_lanes(op);
  add_conversions();
  add(VYRE_OP_bfi, VYRE_U32, VYRE_U32, 0, SHAPE_BITFIELD);
  add(VYRE_OP_ldexp, VYRE_F32, VYRE_F32, 0, SHAPE_LDEXP);
  for (uint32_t part = 0; part < 2; part++) {
    add(VYRE_OP_frexp, VYRE_F32, part ? VYRE_I32 : VYRE_F32, part, SHAPE_PARTS);
    add(VYRE_OP_modf, VYRE_F32, VYRE_F32, part, SHAPE_PARTS);
  }
  for (uint32_t op = VYRE_OP_packsnorm4x8; op <= VYRE_OP_packhalf2x16; op++)
    add(op, VYRE_F32, VYRE_U32, 0, SHAPE_PACK);
  for (uint32_t op = VYRE_OP_unpacksnorm4x8; op <= VYRE_OP_unpackhalf2x16; op++)
    for (uint32_t lane = 0; lane < lanes_of_packed(op); lane++)
      add(op, VYRE_U32, VYRE_F32, lane, SHAPE_UNPACK);
  for (uint32_t op = 0; op < VYRE_OP_dot; op++)
    if (vyre_op_infos[op].text && vyre_op_infos[op].fold == VYRE_FOLD_LIBM && vyre_op_infos[op].rule == VYRE_RULE_SAME)
      add(op, VYRE_F16, VYRE_F16, 0, SHAPE_HALVES);
}

uint32_t
program_native_count(void)
{
  pthread_once(&is_listed, list);
  return natives.count;
}

program_native
program_native_at(uint32_t number)
{
  pthread_once(&is_listed, list);
  return natives.of[number];
}

uint32_t
program_native_find(uint32_t op, vyre_kind from, vyre_kind to, uint32_t part)
{
  const uint32_t count = program_native_count();
  to = to == from ? computed_as(op, to) : to;
  from = computed_as(op, from);
  for (uint32_t i = 0; i < count; i++) {
    const program_native *n = &natives.of[i];
    if (n->op == op && n->from == from && n->to == to && n->part == part)
      return i;
  }
  return UINT32_MAX;
}

bool
program_evaluates(uint32_t op, vyre_kind from, vyre_kind to)
{
  const vyre_op_info *info = &vyre_op_infos[op];
  if (op == VYRE_OP_convert)
    return vyre_class_has(VYRE_CLASS_NUM, from) && vyre_class_has(VYRE_CLASS_NUM, to);
  return info->fold == VYRE_FOLD_EXACT && vyre_eval_is_lanewise((vyre_opcode)op) && vyre_class_has((vyre_class)info->klass, from) &&
         (info->rule == VYRE_RULE_BOOL ? to == VYRE_BOOL : to == from && (info->rule == VYRE_RULE_SAME || is_field(op)));
}

/* ---- cases of the kernel -------------------------------------------------------------------------------------------------- */

/* Returns the suffix of an operand's name in the kernel: %x has the bits, %xb, %xi and %xf the values. */
static const char *
suffix_of(vyre_kind kind)
{
  return kind == VYRE_BOOL ? "b" : kind == VYRE_I32 ? "i" : kind == VYRE_F32 ? "f" : "";
}

static vyre_status
put_row(vyre_bytes *out, uint32_t number)
{
  static const char *const names[] = {"x", "y", "z"};
  const program_native *n = &natives.of[number];
  const vyre_op_info *info = &vyre_op_infos[n->op];
  const char *suffix = suffix_of(n->from);
  switch (natives.shapes[number]) {
  case SHAPE_CONVERT:
    return vyre_bytes_printf(out, "convert(%%x%s : %s)", suffix, n->to == VYRE_I32 ? "i32" : n->to == VYRE_U32 ? "u32" : "f32");
  case SHAPE_BITFIELD:
    return vyre_bytes_printf(out, "bfi(%%x%s, %%y%s, tuple(%%z, %%d))", suffix, suffix);
  case SHAPE_LDEXP:
    return vyre_bytes_printf(out, "ldexp(%%xf, %%yi)");
  case SHAPE_PACK:
    return vyre_bytes_printf(
        out, lanes_of_packed(n->op) == 4 ? "%s(join(join(%%xf, %%yf), join(%%zf, %%df)))" : "%s(join(%%xf, %%yf))", info->text);
  case SHAPE_UNPACK:
    return vyre_bytes_printf(out, "lane(%s(%%x), %" PRIu32 "u32)", info->text, n->part);
  case SHAPE_PARTS:
    VYRE_TRY(vyre_bytes_printf(out, "part("));
    break;
  case SHAPE_HALVES:
    VYRE_TRY(vyre_bytes_printf(out, "bitcast(%s(", info->text));
    for (uint32_t k = 0; k < info->operands && k < 3; k++)
      VYRE_TRY(vyre_bytes_printf(out, "%sbitcast(convert(%%%s : u16) : f16)", k ? ", " : "", names[k]));
    return vyre_bytes_printf(out, ") : u16)");
  case SHAPE_LANES:
    break;
  }
  VYRE_TRY(vyre_bytes_printf(out, "%s(", info->text));
  for (uint32_t k = 0; k < info->operands && k < 3; k++)
    VYRE_TRY(vyre_bytes_printf(out, "%s%%%s%s", k ? ", " : "", names[k], k && is_field(n->op) ? "" : suffix));
  VYRE_TRY(vyre_bytes_printf(out, ")"));
  return natives.shapes[number] == SHAPE_PARTS ? vyre_bytes_printf(out, ", %" PRIu32 ")", n->part) : VYRE_OK;
}

vyre_status
program_put_natives(bool has_halves, vyre_bytes *out)
{
  const uint32_t count = program_native_count();
  for (uint32_t i = 0; i < count; i++) {
    const vyre_kind to = natives.of[i].to;
    if (to == VYRE_F16 && !has_halves)
      continue;
    VYRE_TRY(vyre_bytes_printf(out, "case %" PRIu32 "u32 { set %%r, %s", PROGRAM_NATIVE + i,
                               to == VYRE_BOOL  ? "select("
                               : to == VYRE_F16 ? "convert("
                               : to == VYRE_U32 ? ""
                                                : "bitcast("));
    VYRE_TRY(put_row(out, i));
    VYRE_TRY(vyre_bytes_printf(out, "%s }\n", to == VYRE_BOOL ? ", 1u32, 0u32)" : to == VYRE_U32 ? "" : " : u32)"));
  }
  return VYRE_OK;
}
