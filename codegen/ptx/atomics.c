/* Atomics.  PTX has atomics of integers.  Those of floats are loops of compare-exchange, which keep denormals and make a NaN
 * canonical.  The device's own f32 addition to global memory flushes denormals, so only relaxed programs without a float mode
 * use it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include <inttypes.h>

/* Formats "acq_rel.gpu".  Drops the parts of an order that the operation cannot have. */
static const char *
order_of(uint32_t imm, bool reads, bool writes, char text[64])
{
  const uint32_t semantics = VYRE_ORDER_SEMANTICS(imm);
  const bool acquires = reads && (semantics & (PTX_ACQUIRE | PTX_ACQ_REL | PTX_SEQ_CST));
  const bool releases = writes && (semantics & (PTX_RELEASE | PTX_ACQ_REL | PTX_SEQ_CST));
  const uint32_t scope = imm == 0 ? 1 : VYRE_ORDER_MEMORY(imm); /* device scope by default */
  return pgen_format(text, "%s.%s",
                     acquires   ? releases ? "acq_rel" : "acquire"
                     : releases ? "release"
                                : "relaxed",
                     pgen_scope(scope));
}

static void
put_access(gen *g, address a)
{
  pgen_put(g, a.offset ? "[%%d%u+%" PRIu64 "]" : "[%%d%u]", a.base.number, a.offset);
}

/* Returns a value as bits in a register, the operand of an exchange. */
static reg
word_of(gen *g, uint32_t row)
{
  return pgen_in_register(g, class_of(kind_of(g, row)), pgen_value(g, row, 0));
}

static void
put_exchange(gen *g, reg old, const char *order, address a, vyre_kind kind, const char *op, reg b, reg c)
{
  pgen_put(g, "\tatom.%s.%s.%s.", order, a.space, op);
  pgen_put(g, "b%u ", vyre_kind_bits(kind));
  pgen_put_reg(g, old);
  pgen_put(g, ", ");
  put_access(g, a);
  pgen_put(g, ", ");
  pgen_put_reg(g, b);
  if (c.klass) {
    pgen_put(g, ", ");
    pgen_put_reg(g, c);
  }
  pgen_put(g, ";\n");
}

/* Writes a loop that computes the new value from the old one, until the exchange finds the old value unchanged. */
static void
put_loop(gen *g, uint32_t row, reg old, const char *order, address a, vyre_kind kind)
{
  const vyre_opcode op = op_of(g, row);
  const uint32_t again = pgen_new_label(g);
  const reg seen = pgen_new(g, class_of(kind)), operand = word_of(g, g->v->b[row]);
  char text[64];
  pgen_move(g, old, pgen_load_scalar(g, pgen_format(text, "ld.relaxed.%s", strrchr(order, '.') + 1), kind, a, (reg){0}));
  pgen_label(g, again);
  pgen_move(g, seen, old);
  const reg wanted = op == VYRE_OP_atomic_exchange
                         ? operand
                         : pgen_combine_floats(g, (vyre_opcode)vyre_op_infos[op].combines, kind, seen, operand);
  put_exchange(g, old, order, a, kind, "cas", seen, wanted);
  pgen_branch_if(g, PRED(g, pgen_format(text, "setp.ne.b%u", vyre_kind_bits(kind)), old, seen), again);
}

/* Writes an atomic that PTX has. */
static void
put_integer(gen *g, uint32_t row, reg old, const char *order, address a, vyre_kind kind)
{
  const vyre_opcode op = op_of(g, row);
  const uint32_t bits = vyre_kind_bits(kind);
  const char *name = "add.u";
  reg b = word_of(g, g->v->b[row]);
  if (op == VYRE_OP_atomic_sub)
    b = bits == 64 ? MAKE64(g, "neg.s64", b) : MAKE32(g, "neg.s32", b);
  else if (op == VYRE_OP_atomic_umin || op == VYRE_OP_atomic_umax)
    name = op == VYRE_OP_atomic_umin ? "min.u" : "max.u";
  else if (op == VYRE_OP_atomic_smin || op == VYRE_OP_atomic_smax)
    name = op == VYRE_OP_atomic_smin ? "min.s" : "max.s";
  else if (op != VYRE_OP_atomic_add)
    name = op == VYRE_OP_atomic_and ? "and.b" : op == VYRE_OP_atomic_or ? "or.b" : "xor.b";
  if (vyre_kind_is_float(kind))
    name = kind == VYRE_F16 ? "add.noftz.f" : "add.f";
  pgen_put(g, "\tatom.%s.%s.%s%u ", order, a.space, name, bits);
  pgen_put_reg(g, old);
  pgen_put(g, ", ");
  put_access(g, a);
  pgen_put(g, ", ");
  pgen_put_reg(g, b);
  pgen_put(g, ";\n");
}

static void
put_atomic(gen *g, uint32_t row, reg old, address a, vyre_kind kind)
{
  const vyre_opcode op = op_of(g, row);
  const bool reads = op != VYRE_OP_atomic_store, writes = op != VYRE_OP_atomic_load, is_float = op >= VYRE_OP_atomic_fadd;
  const bool has_mode = (g->v->imm[g->program] & (vyre_mode_flush(kind) | vyre_mode_to_zero(kind))) != 0;
  const bool native = op == VYRE_OP_atomic_fadd && !g->strict && !has_mode;
  char order[64], text[64];
  order_of(g->v->imm[row], reads, writes, order);
  if (op == VYRE_OP_atomic_load) {
    pgen_move(g, old, pgen_load_scalar(g, pgen_format(text, "ld.%s", order), kind, a, (reg){0}));
  } else if (op == VYRE_OP_atomic_store) {
    pgen_store_scalar(g, pgen_format(text, "st.%s", order), kind, a, pgen_value(g, g->v->b[row], 0), (reg){0});
  } else if (op == VYRE_OP_atomic_compare_exchange) {
    const reg replacement = word_of(g, g->v->b[row]);
    put_exchange(g, old, order, a, kind, "cas", word_of(g, g->v->c[row]), replacement);
  } else if (op == VYRE_OP_atomic_exchange && kind != VYRE_F16) {
    put_exchange(g, old, order, a, kind, "exch", word_of(g, g->v->b[row]), (reg){0});
  } else if ((is_float && !native) || op == VYRE_OP_atomic_exchange) {
    put_loop(g, row, old, order, a, kind);
  } else {
    put_integer(g, row, old, order, a, kind);
  }
}

void
pgen_atomic(gen *g, uint32_t row)
{
  const vyre_opcode op = op_of(g, row);
  const bool is_value = op != VYRE_OP_atomic_store;
  place p;
  if (!pgen_place_of(g, g->v->a[row], &p))
    return;
  const vyre_kind kind = VYRE_TYPE_KIND((vyre_type)p.at.type);
  const reg old = pgen_new(g, class_of(kind));
  if (is_value)
    pgen_define(g, row, 0, old);
  if (p.at.never) {
    pgen_move(g, old, lit(0));
    return;
  }
  pgen_open_place(g, &p);
  const reg guard = pgen_in_bounds(g, &p, vyre_kind_bytes(kind));
  const uint32_t after = pgen_new_label(g);
  if (guard.klass) {
    pgen_move(g, old, lit(0));
    pgen_branch_unless(g, guard, after);
  }
  if (VYRE_ORDER_SEMANTICS(g->v->imm[row]) & PTX_SEQ_CST)
    pgen_fence(g, PTX_SEQ_CST, VYRE_ORDER_MEMORY(g->v->imm[row]));
  put_atomic(g, row, old, pgen_address_after(g, pgen_address(g, &p), 0), kind);
  if (guard.klass)
    pgen_label(g, after);
}
