/* The prelude: functions that every kernel file may call, with the facts about rows that vyre/view.h has for C.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernel.h"

#include <string.h>

static const char *const prelude[] = {
    "func @row.op(%row : u32) -> u32 { return and(load %op[%row], 0xffffu32) }\n",
    "func @row.type(%row : u32) -> u32 { return and(ushr(load %op[%row], 16u32), 0xffu32) }\n",
    "func @row.kind(%row : u32) -> u32 { return ushr(@row.type(%row), 2u32) }\n",
    "func @row.lanes(%row : u32) -> u32 { return add(and(@row.type(%row), 3u32), 1u32) }\n",
    "func @row.flags(%row : u32) -> u32 { return ushr(load %op[%row], 24u32) }\n",
    "func @row.marked(%row : u32, %flags : u32) -> bool { return ne(and(@row.flags(%row), %flags), 0u32) }\n",
    "func @row.is(%row : u32, %what : u32) -> bool { return ne(and(load %op_flags[@row.op(%row)], %what), 0u32) }\n",
    "func @row.is_const(%row : u32) -> bool { return eq(@row.op(%row), @op.const) }\n",
    "func @row.is_value(%row : u32) -> bool {\n"
    "  %facts = load %op_flags[@row.op(%row)]\n"
    "  %pure = ne and(%facts, @is.pure), 0u32\n"
    "  %reads = eq and(%facts, or(@is.reads, @is.identity)), @is.reads\n"
    "  return and(or(%pure, %reads), not @row.marked(%row, or(@flag.deco, @flag.volatile)))\n"
    "}\n",
    /* An index of %version is expanded to a call of this function (expand.c). */
    "func @row.if_accesses(%row : u32) -> u32 { return select(@row.is(%row, or(@is.reads, @is.writes)), %row, 0u32) }\n",
    "func @row.is_invocation(%row : u32) -> bool {\n"
    "  %what = @row.op(%row)\n"
    "  return and(uge(%what, @op.gid), ule(%what, @op.subgroup_lt_mask))\n"
    "}\n",
    /* The program of a row; the buffer of a path, or the row itself if it is not a path. */
    "func @row.program(%row : u32) -> u32 {\n"
    "  var %at : u32\n"
    "  set %at, %row\n"
    "  loop {\n"
    "    %around = load %parent[get %at]\n"
    "    if eq %around, 0u32 { break }\n"
    "    set %at, %around\n"
    "  }\n"
    "  return get %at\n"
    "}\n"
    "func @row.buffer(%path : u32) -> u32 {\n"
    "  var %at : u32\n"
    "  set %at, %path\n"
    "  loop {\n"
    "    %now = get %at\n"
    "    if ne @row.op(%now), @op.at { break }\n"
    "    set %at, load(%a[%now])\n"
    "  }\n"
    "  return get %at\n"
    "}\n"
    /* If operand b of %row is a const row, makes it an immediate (docs/ir.md, "The table"). */
    "func @row.take_immediate(%row : u32) {\n"
    "  %right = load %b[%row]\n"
    "  if eq %right, 0u32 { return }\n"
    "  if not and(@row.is_const(%right), @row.is(%row, @is.takes_imm)) { return }\n"
    "  %type = @row.type(%right)\n"
    "  %is_at = eq @row.op(%row), @op.at\n"
    "  %is_index = or %is_at, eq(@row.op(%row), @op.lane)\n"
    "  %good = select %is_index, or(eq(%type, 28u32), eq(%type, 24u32)), eq(%type, @row.type(load %a[%row]))\n"
    "  if not %good { return }\n"
    "  store %imm[%row], load %imm[%right]\n"
    "  if not %is_at { store %imm_hi[%row], load %imm_hi[%right] }\n"
    "  store %b[%row], 0u32\n"
    "  store %op[%row], or(load(%op[%row]), shl(@flag.imm, 24u32))\n"
    "}\n",
};

vyre_status
kernel_add_prelude(vyre_bytes *text)
{
  for (size_t i = 0; i < sizeof prelude / sizeof *prelude; i++)
    VYRE_TRY(vyre_bytes_append(text, prelude[i], strlen(prelude[i])));
  return VYRE_OK;
}
