// SPDX-License-Identifier: Apache-2.0
//! Builds the example plugins and runs their passes with vyre-passmgr, from the folder VYRE_BIN_DIR or the search path.
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const NOTS: &str = "program @nots workgroup(64, 1, 1) {
  buffer %x : u32[] storage rw set(0) binding(0)
  %i = gid.x
  store %x[%i], not(not(%i))
}
";

/// Builds an example, and returns its shared object.
fn build(example: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(example);
    let built = Command::new(env!("CARGO"))
        .args(["build", "--offline", "--quiet", "-j1", "--package=vyre-plugin", "--example", example, "--target-dir"])
        .arg(&dir)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .expect("cargo runs");
    assert!(built.success());
    dir.join(format!("debug/examples/lib{example}.so"))
}

/// Runs a pipeline on a text, and returns the output and the messages.
fn run(plugin: &Path, passes: &str, text: &str) -> (String, String) {
    let bin = std::env::var("VYRE_BIN_DIR").map(|dir| dir + "/").unwrap_or_default();
    let mut child = Command::new(bin + "vyre-passmgr")
        .args([&format!("-load={}", plugin.display()), &format!("-passes={passes}")])
        .args(["-verify-each", "-stats", "-v", "-emit=vir", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("vyre-passmgr runs\nFix: set VYRE_BIN_DIR to its folder");
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn nots_removes_double_negations() {
    let expected = "program @nots workgroup(64, 1, 1) {
  buffer %x : u32[] storage rw set(0) binding(0)
  %i = gid.x
  store %x[%i], %i
}
";
    let plugin = build("nots");
    let (output, messages) = run(&plugin, "rusty.nots,dce", NOTS);
    assert_eq!(output, expected, "{messages}");
    assert!(messages.contains("1  rusty.nots: double negations"), "{messages}");
    let (output, messages) = run(&plugin, "nots", &NOTS.replace("not(not(%i))", "neg(not(%i))"));
    assert!(output.contains("neg") && !messages.contains("double negations"), "{output}{messages}");
}

#[test]
fn calls_reach_the_host() {
    let plugin = build("calls");
    let run = |passes: &str| run(&plugin, passes, NOTS);
    assert!(run("calls.add").0.contains("%sum = add %1, 7u32"));
    assert!(run("calls.add<amount=3;literal>").0.contains("%sum = add %1, 3u32"));
    let (_, messages) = run("calls.facts");
    assert!(messages.contains("in bounds false, alias true, pinned 0, level 4, pure true"), "{messages}");
}

#[test]
fn failures_are_errors_of_the_run() {
    let plugin = build("calls");
    for (passes, message) in [
        ("calls.panics", "'calls.panics': the pass panicked: index out of bounds"),
        ("calls.fails", "no file\n  at row 2, const, of program @nots"),
        ("calls.fails<wrong>", "host->kill: row is row 4294967295"),
        ("calls.fails<file=/nosuch>", "cannot read '/nosuch'"),
        ("calls.add<amount=100>", "amount"),
    ] {
        let (output, messages) = run(&plugin, passes, NOTS);
        assert!(output.is_empty() && messages.contains(message), "{passes}: {messages}");
    }
}

#[test]
fn another_major_version_is_refused() {
    let made = std::sync::atomic::AtomicPtr::default();
    let query = |abi: u32| {
        let host = [8, abi]; // the start of a host's table
                             // SAFETY: only the first two fields of the table are read.
        unsafe { vyre_plugin::describe(host.as_ptr().cast(), &made, ["a", "1.0"], 1..=2, &[]) }
    };
    assert!(query(2 << 16).is_null());
    assert!(!query(1 << 16).is_null());
    assert_eq!(query(1 << 16), query(1 << 16 | 9));
}
