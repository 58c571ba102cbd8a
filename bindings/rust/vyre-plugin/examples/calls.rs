// SPDX-License-Identifier: Apache-2.0
//! Passes that call the host in many ways, and passes that fail. The tests run them.
use vyre_plugin::{sys, word, Failure, Param, Pass, Result, Run};

/// Inserts `x + AMOUNT` before each store of x, and stores the sum.
struct Add;

impl Pass for Add {
    const NAME: &'static str = "calls.add";
    const SUMMARY: &'static str = "add to stored values";
    const HELP: &'static str = "Changes the results of a program.";
    const PARAMS: &'static [Param] =
        &[Param::uint("amount", "the addend", 1, 99, 7), Param::word("how", "the operand", "row|literal")];

    fn run(run: &mut Run) -> Result<bool> {
        let (amount, is_literal) = (run.param("amount"), run.param("how") == 1);
        for store in 1..run.view().rows() {
            let view = run.view();
            if view.opcode(store) != sys::VYRE_OP_store {
                continue;
            }
            let value = view.b[store as usize];
            let kind = view.type_of(value);
            let sum = if is_literal {
                run.insert_row(store, word(sys::VYRE_OP_add, kind, sys::VYRE_ROW_IMM), amount, [value, 0, 0])
            } else {
                let amount = run.constant(store, kind, amount);
                run.insert_row(store, word(sys::VYRE_OP_add, kind, 0), 0, [value, amount, 0])
            };
            run.set_name(sum, "sum");
            run.set_operand(store, 1, sum);
            run.remark(store, &format!("passed: line {}, named {:?}", run.line(store), run.name(sum)));
        }
        Ok(true)
    }
}

/// Reports facts about the path of each store.
struct Facts;

impl Pass for Facts {
    const NAME: &'static str = "calls.facts";
    const SUMMARY: &'static str = "report facts";
    const REQUIRES: u32 = sys::VYRE_LEVELS;

    fn run(run: &mut Run) -> Result<bool> {
        let view = run.view();
        let aliases = run.aliases()?;
        for store in (1..view.rows()).filter(|&row| view.opcode(row) == sys::VYRE_OP_store) {
            let path = view.a[store as usize];
            let buffer = view.a[path as usize];
            let message = format!(
                "in bounds {}, alias {}, pinned {}, level {}, pure {}",
                run.in_bounds(path),
                aliases[buffer as usize] == buffer,
                run.pinned().len(),
                view.level[store as usize],
                view.is_pure(path),
            );
            run.remark(store, &message);
        }
        Ok(false)
    }
}

struct Panics;

impl Pass for Panics {
    const NAME: &'static str = "calls.panics";
    const SUMMARY: &'static str = "read a column that the pass does not require";

    fn run(run: &mut Run) -> Result<bool> {
        Ok(run.view().level[1] == 0)
    }
}

struct Fails;

impl Pass for Fails {
    const NAME: &'static str = "calls.fails";
    const SUMMARY: &'static str = "report an error at a row";
    const PARAMS: &'static [Param] =
        &[Param::text("file", "a file to read", "FILE"), Param::flag("wrong", "call the host with a wrong row")];

    fn run(run: &mut Run) -> Result<bool> {
        if run.param("wrong") == 1 {
            run.kill(u32::MAX);
            return Ok(true);
        }
        let file = run.param_file("file")?.unwrap_or(b"no file");
        Err(Failure::new(2, format!("{}: {}", run.param_text("file"), String::from_utf8_lossy(file))))
    }
}

vyre_plugin::plugin! { name: "calls", version: "0.1", passes: [Add, Facts, Panics, Fails] }
