// SPDX-License-Identifier: Apache-2.0
//! A pass: `not(not x)` is x.
//!
//! Requires: nothing. Preserves: nothing. O(rows).
use vyre_plugin::{sys, Pass, Result, Run, View};

struct Nots;

fn is_plain_not(view: &View, row: u32) -> bool {
    view.opcode(row) == sys::VYRE_OP_not && view.flags(row) & sys::VYRE_ROW_DECO == 0
}

impl Pass for Nots {
    const NAME: &'static str = "rusty.nots";
    const SUMMARY: &'static str = "not(not x) is x";

    fn run(run: &mut Run) -> Result<bool> {
        let view = run.view();
        let forwards = run.alloc(view.op.len())?;
        let mut found = 0;
        for row in 0..view.rows() {
            let inner = view.a[row as usize];
            let is_double = is_plain_not(&view, row) && is_plain_not(&view, inner);
            forwards[row as usize] = if is_double { view.a[inner as usize] } else { row };
            found += u64::from(is_double);
        }
        if found > 0 {
            run.forward(forwards);
            run.count("double negations", found);
        }
        Ok(found > 0)
    }
}

vyre_plugin::plugin! {
    name: "rusty",
    version: "1.0",
    opsets: 1..=sys::VYRE_OPSET_ANY,
    passes: [Nots],
}
