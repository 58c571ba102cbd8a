/* The structural hash: equal rows have equal hashes.
 *
 * A value's hash is made of its op word (type and flags in it), its payload (the version of a read is there) and the hashes of its
 * operands; where the op commutes, in either order.  A row that equals only itself (vyre/view.h: vyre_row_is_value) has the hash of
 * its id. So a row needs only its own columns and its operands' hashes, and rows of one operand level are independent.
 *
 * Limits: 32 bits, in 32-bit arithmetic; rows that differ may have equal hashes, so nothing may be decided by them
 * alone. O(rows).
 *
 * requires: versions      provides: hashes      changes nothing
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/plugin.h"

/* Every bit of x into the low bits and the high ones. */
static uint32_t
mix(uint32_t x)
{
  x ^= x >> 15;
  x *= 0xb5297a4du;
  return x ^ x >> 14;
}

/* By masks, without branches: neither a row's op nor which operand's hash is less is predictable. */
static uint32_t
hash_row(const vyre_view *v, const uint32_t *hash, uint32_t row)
{
  const uint32_t a = hash[v->a[row]], b = hash[v->b[row]], c = hash[v->c[row]];
  const uint32_t commutes = (vyre_op_flags_of(v, row) & VYRE_OP_COMMUTES) / VYRE_OP_COMMUTES;
  const uint32_t swap = 0u - (commutes & (uint32_t)(a > b)), left = a ^ ((a ^ b) & swap), right = a ^ b ^ left;
  const uint32_t own = v->op[row] * 0x68e31da5u + v->imm[row] * 0x1b56c4e9u + (v->imm_hi[row] | v->version[row]) * 0x7feb352du;
  const uint32_t value = own + left * 0x2c1b3c6du + right * 0x297a2d39u + c * 0x846ca68bu;
  const uint32_t is_value = 0u - (uint32_t)vyre_row_is_value(v, row);
  return mix((value & is_value) | (row * 0x9e3779b1u & ~is_value));
}

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  uint32_t *hash = ctx->host->column(ctx, VYRE_HASHES);
  *out = VYRE_UNCHANGED;
  if (!hash)
    return ctx->host->out_of_memory(ctx);
  hash[0] = 0;
  for (uint32_t row = 1; row < v->rows; row++)
    hash[row] = hash_row(v, hash, row);
  return VYRE_OK;
}

extern const vyre_phases shash_phases;

static const vyre_pass shash = {
    .struct_size = sizeof(vyre_pass),
    .name = "shash",
    .long_name = "structural-hash",
    .summary = "the hash column: rows that are equal values have equal hashes",
    .help = "Made of each row's op, type, flags, literals and versions and its operands' hashes.  cid uses it to find equal rows.",
    .requires_ = VYRE_VERSIONS,
    .preserves = VYRE_ANALYSES | VYRE_COLUMNS,
    .provides = VYRE_HASHES,
    .run = run,
    .phases = &shash_phases,
};
VYRE_PLUGIN("shash", "1.0", &shash)
