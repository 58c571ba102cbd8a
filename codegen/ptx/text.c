/* Registers and instructions as text.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

static const char *const prefixes[REG__COUNT] = {"", "%p", "%h", "%r", "%d"};
static const char *const specials[] = {"%tid.x",   "%tid.y",    "%tid.z",    "%ctaid.x",  "%ctaid.y",
                                       "%ctaid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z", "%laneid"};

const char *
pgen_format(char text[64], const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, 64, format, arguments);
  va_end(arguments);
  return text;
}

reg
pgen_new(gen *g, reg_class klass)
{
  return (reg){klass, g->made[klass]++, 0};
}

void
pgen_put_reg(gen *g, reg r)
{
  if (r.klass == REG_LITERAL)
    pgen_put(g, r.bits < 65536 ? "%" PRIu64 : r.bits >> 63 ? "0x%" PRIx64 "U" : "0x%" PRIx64, r.bits);
  else if (r.klass == REG_FLOAT)
    pgen_put(g, "0f%08" PRIx64, r.bits);
  else if (r.klass == REG_DOUBLE)
    pgen_put(g, "0d%016" PRIx64, r.bits);
  else if (r.klass == REG_LABEL)
    pgen_put(g, "$L%u", r.number);
  else if (r.klass == REG_SPECIAL)
    pgen_put(g, "%s", specials[r.number]);
  else
    pgen_put(g, "%s%u", prefixes[r.klass], r.number);
}

void
pgen_code(gen *g, const char *op, const reg *regs, size_t count)
{
  pgen_put(g, "\t");
  if (g->guard.klass == REG_PRED) {
    pgen_put(g, g->unless ? "@!" : "@");
    pgen_put_reg(g, g->guard);
    pgen_put(g, " ");
    g->guard = (reg){0};
  }
  pgen_put(g, "%s", op);
  for (size_t i = 0; i < count; i++) {
    pgen_put(g, i ? ", " : " ");
    pgen_put_reg(g, regs[i]);
  }
  pgen_put(g, ";\n");
}

reg
pgen_make(gen *g, reg_class klass, const char *op, const reg *regs, size_t count)
{
  reg all[6];
  all[0] = pgen_new(g, klass);
  memcpy(all + 1, regs, count * sizeof(reg));
  pgen_code(g, op, all, count + 1);
  return all[0];
}

void
pgen_when(gen *g, reg p, bool unless)
{
  g->guard = p;
  g->unless = unless;
}

uint32_t
pgen_new_label(gen *g)
{
  return ++g->labels;
}

void
pgen_label(gen *g, uint32_t label)
{
  pgen_put(g, "$L%u:\n", label);
}

void
pgen_branch(gen *g, uint32_t label)
{
  CODE(g, "bra", (reg){REG_LABEL, label, 0});
}

void
pgen_branch_if(gen *g, reg p, uint32_t label)
{
  pgen_when(g, p, false);
  pgen_branch(g, label);
}

void
pgen_branch_unless(gen *g, reg p, uint32_t label)
{
  pgen_when(g, p, true);
  pgen_branch(g, label);
}

/* ---- values --------------------------------------------------------------------------------------------------------------- */

reg
pgen_literal(gen *g, vyre_kind kind, uint64_t bits)
{
  if (kind == VYRE_BOOL)
    return PRED(g, "setp.ne.u32", lit(bits != 0), lit(0));
  if (kind == VYRE_F16)
    return MAKE16(g, "mov.b16", lit(bits));
  return kind == VYRE_F32 ? f32_lit((uint32_t)bits) : kind == VYRE_F64 ? (reg){REG_DOUBLE, 0, bits} : lit(bits);
}

static const char *
move_of(reg_class klass)
{
  return klass == REG_PRED ? "mov.pred" : klass == REG_16 ? "mov.b16" : klass == REG_32 ? "mov.b32" : "mov.b64";
}

void
pgen_move(gen *g, reg to, reg from)
{
  const char *op = move_of(to.klass);
  if (from.klass == REG_FLOAT)
    op = "mov.f32";
  else if (from.klass == REG_DOUBLE)
    op = "mov.f64";
  else if (from.klass == REG_SPECIAL)
    op = "mov.u32";
  CODE(g, op, to, from);
}

reg
pgen_copy(gen *g, reg_class klass, reg from)
{
  const reg to = pgen_new(g, klass);
  pgen_move(g, to, from);
  return to;
}

reg
pgen_in_register(gen *g, reg_class klass, reg r)
{
  return is_reg(r) ? r : pgen_copy(g, klass, r);
}

reg
pgen_and(gen *g, reg p, reg q)
{
  if (p.klass == REG_NONE || q.klass == REG_NONE)
    return p.klass == REG_NONE ? q : p;
  return PRED(g, "and.pred", p, q);
}

reg
pgen_not(gen *g, reg p)
{
  return PRED(g, "not.pred", p);
}

reg
pgen_select(gen *g, reg_class klass, reg yes, reg no, reg p)
{
  if (klass == REG_PRED) {
    const reg if_true = PRED(g, "and.pred", yes, p), if_false = PRED(g, "and.pred", no, pgen_not(g, p));
    return PRED(g, "or.pred", if_true, if_false);
  }
  yes.klass = is_reg(yes) ? yes.klass : REG_LITERAL; /* selp has operands of bits */
  no.klass = is_reg(no) ? no.klass : REG_LITERAL;
  return pgen_make(g, klass, klass == REG_16 ? "selp.b16" : klass == REG_32 ? "selp.b32" : "selp.b64", REGS(yes, no, p));
}
