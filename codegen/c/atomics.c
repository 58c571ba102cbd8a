/* Atomics and fences.
 *
 * Atomics ignore their scope: other threads may run other workgroups, so every order holds for all threads.  Parts of an order
 * that the operation cannot have, such as a release of a load, are dropped.  A workgroup runs on one thread, so an update of
 * its own memory is not an atomic instruction.  If one call runs all workgroups, neither is a relaxed update of a buffer.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#define ACQUIRE 0x2u
#define RELEASE 0x4u
#define BOTH    0x8u
#define SEQ_CST 0x10u

static const char *
order_of(uint32_t imm, bool reads, bool writes)
{
  const uint32_t semantics = VYRE_ORDER_SEMANTICS(imm);
  const bool acquires = reads && (semantics & (ACQUIRE | BOTH)), releases = writes && (semantics & (RELEASE | BOTH));
  if (semantics & SEQ_CST)
    return "__ATOMIC_SEQ_CST";
  return acquires ? releases ? "__ATOMIC_ACQ_REL" : "__ATOMIC_ACQUIRE" : releases ? "__ATOMIC_RELEASE" : "__ATOMIC_RELAXED";
}

/* Writes a value as its bits in memory. */
static void
put_word(cgen *g, uint32_t row)
{
  const vyre_kind kind = cgen_kind(g, row);
  const bool is_float = kind == VYRE_F32 || kind == VYRE_F64;
  if (is_float)
    cgen_call(g, "bits", kind);
  cgen_value(g, row, 0, false);
  cgen_put(g, is_float ? ")" : "");
}

static void
put_call(cgen *g, uint32_t row, const cgen_place *p)
{
  const vyre_view *v = g->v;
  const vyre_opcode op = cgen_op(g, row);
  const bool reads = op != VYRE_OP_atomic_store, writes = op != VYRE_OP_atomic_load;
  const char *order = order_of(v->imm[row], reads, writes);
  cgen_call(g, vyre_op_infos[op].text, VYRE_TYPE_KIND((vyre_type)p->at.type));
  cgen_put_address(g, p, 0);
  if (v->b[row]) {
    cgen_put(g, ", ");
    put_word(g, v->b[row]);
  }
  if (v->c[row]) {
    cgen_put(g, ", ");
    put_word(g, v->c[row]);
  }
  cgen_put(g, ", %s", order);
  if (op == VYRE_OP_atomic_compare_exchange)
    cgen_put(g, ", %s", order_of(v->imm[row], true, false));
  else if (reads && writes)
    cgen_put(g, ", %s",
             !code_is_outside(&g->w, p->at.buffer)    ? "true"
             : strcmp(order, "__ATOMIC_RELAXED") == 0 ? "alone"
                                                      : "false");
  cgen_put(g, ")");
}

void
cgen_atomic(cgen *g, uint32_t row)
{
  const bool is_value = g->w.uses[row - g->program] != 0;
  cgen_place p;
  if (!cgen_place_of(g, row, g->v->a[row], &p))
    return;
  const vyre_kind kind = VYRE_TYPE_KIND((vyre_type)p.at.type);
  const bool is_float = kind == VYRE_F32 || kind == VYRE_F64, narrow = vyre_kind_bits(kind) < 32;
  const uint64_t size = vyre_kind_bytes(kind);
  const bool bounded = cgen_put_bounds(g, &p, size, true);
  cgen_open_place(g, &p);
  if (!is_value && p.at.never)
    return;
  if (is_value)
    cgen_begin_definition(g, row, kind, UINT32_MAX, UINT32_MAX);
  else
    cgen_begin_line(g);
  if (!is_value && bounded)
    cgen_put(g, "if (");
  else if (is_value && narrow)
    cgen_put(g, "(uint16_t)(");
  if (bounded && !p.at.never)
    cgen_put_bounds(g, &p, size, false);
  if (bounded && !p.at.never)
    cgen_put(g, is_value ? " ? " : ") ");
  if (!p.at.never) {
    if (is_value && is_float)
      cgen_call(g, "of_bits", kind);
    put_call(g, row, &p);
    cgen_put(g, is_value && is_float ? ")" : "");
  }
  if (is_value && bounded) {
    cgen_put(g, p.at.never ? "" : " : ");
    cgen_literal(g, kind, 0);
  }
  cgen_put(g, is_value && narrow ? ");\n" : ";\n");
}

/* Writes a barrier's fence for memory that other workgroups see.  A workgroup runs on one thread, so narrower scopes need
 * none. */
void
cgen_fence(cgen *g, uint32_t row)
{
  const uint32_t imm = g->v->imm[row], scope = VYRE_ORDER_MEMORY(imm);
  const uint32_t orders = ACQUIRE | RELEASE | BOTH | SEQ_CST;
  if ((VYRE_ORDER_SEMANTICS(imm) & orders) != 0 && scope != 2 && scope != 3 && scope != 4)
    cgen_line(g, "__atomic_thread_fence(%s);", order_of(imm, true, true));
}
