// SPDX-License-Identifier: Apache-2.0
//! Compares all constants, and the sizes and offsets of all structs, with those of the C compiler.
use std::process::Command;

#[rustfmt::skip]
mod facts;

/// Returns the compiler option for vyre's headers.
fn include_option() -> String {
    if let Ok(dir) = std::env::var("VYRE_INCLUDE_DIR") {
        return format!("-I{dir}");
    }
    let output = Command::new("pkg-config").args(["--cflags", "vyre"]).output().expect("pkg-config runs");
    assert!(output.status.success(), "no headers of vyre\nFix: set VYRE_INCLUDE_DIR to the folder that contains vyre/");
    String::from_utf8(output.stdout).unwrap().trim().to_string()
}

#[test]
fn declarations_are_those_of_c() {
    let program = concat!(env!("CARGO_TARGET_TMPDIR"), "/facts");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/facts/facts.c");
    let compiled = Command::new("cc").args([&include_option(), source, "-o", program]).status().expect("cc runs");
    assert!(compiled.success());
    let c = String::from_utf8(Command::new(program).output().unwrap().stdout).unwrap();
    let mut lines = c.lines();
    facts::list(&mut |name, value| assert_eq!(lines.next(), Some(format!("{name} {value}").as_str())));
    assert_eq!(lines.next(), None);
}
