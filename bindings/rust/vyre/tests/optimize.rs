// SPDX-License-Identifier: Apache-2.0
//! Compares outputs with those of vyre-passmgr (in the folder VYRE_BIN_DIR or the search path), and checks wrong use.
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use vyre::{Code, Error, Options, Severity};

const EMPTY: &str = "#version 450\nlayout(local_size_x = 64) in;\nvoid main() {}";
const FRAGMENT: &[u8] = b"#version 450\nvoid main() {}";

/// Returns the paths and contents of the example shaders.
fn shaders() -> Vec<(PathBuf, Vec<u8>)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/shaders");
    let paths = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let shaders = paths.filter(|path| path.extension().map_or(false, |e| e == "comp"));
    let shaders: Vec<_> = shaders.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect();
    assert!(shaders.len() >= 10);
    shaders
}

fn passmgr(path: &Path, options: &[&str]) -> Vec<u8> {
    let bin = std::env::var("VYRE_BIN_DIR").map(|dir| dir + "/").unwrap_or_default();
    let output = Command::new(bin + "vyre-passmgr").args(options).arg(path).output();
    let output = output.expect("vyre-passmgr runs\nFix: set VYRE_BIN_DIR to its folder");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn assert_fails(result: Result<Vec<u8>, Error>, code: Code, text: &str) -> Error {
    let error = result.unwrap_err();
    assert_eq!(error.code(), code, "{error}");
    assert!(error.to_string().contains(text), "{error}");
    error
}

#[test]
fn outputs_are_those_of_the_tool() {
    for (path, shader) in shaders() {
        let options = Options::new().path(&path);
        assert_eq!(options.optimize(&shader).unwrap(), passmgr(&path, &["-O2"]), "{path:?}");
        let glsl = options.passes("canon,cf,dce").emit("glsl").strip().debug().optimize(&shader).unwrap();
        assert_eq!(glsl, passmgr(&path, &["-passes=canon,cf,dce", "-emit=glsl", "-strip", "-g"]), "{path:?}");
    }
}

#[test]
fn threads_compute_the_same_bytes() {
    let compile = Options::new().passes("");
    let modules: Vec<_> = shaders().iter().map(|(p, s)| compile.clone().path(p).optimize(s).unwrap()).collect();
    let expected: Vec<_> = modules.iter().map(|module| vyre::optimize(module).unwrap()).collect();
    thread::scope(|scope| {
        for first in 0..4 {
            let (modules, expected) = (&modules, &expected);
            scope.spawn(move || {
                for i in (first..first + 1000).map(|i| i % modules.len()) {
                    assert_eq!(vyre::optimize(&modules[i]).unwrap(), expected[i]);
                }
            });
        }
    });
    let many: Vec<_> = modules.iter().cycle().take(100).map(|module| ("module.spv", module)).collect();
    for (i, result) in Options::new().optimize_many(&many, 4).into_iter().enumerate() {
        assert_eq!(result.unwrap(), expected[i % expected.len()]);
    }
}

#[test]
fn a_wrong_shader_fails_alone() {
    let wrong = EMPTY.replace("{}", "{\n  x = 1;\n}");
    let shaders =
        [("a.comp", EMPTY), ("dir/b.comp", &wrong), ("c\0.comp", EMPTY), ("d.spv", "no module"), ("e.comp", EMPTY)];
    for threads in [0, 1, 3, 9] {
        let results = Options::new().optimize_many(&shaders, threads);
        let codes: Vec<_> = results.iter().map(|result| result.as_ref().err().map(Error::code)).collect();
        assert_eq!(codes, [None, Some(Code::Input), Some(Code::Usage), Some(Code::Input), None]);
        let error = assert_fails(results[1].clone(), Code::Input, "dir/b.comp:4: error: 'x'");
        let diagnostic = &error.diagnostics()[0];
        assert_eq!((diagnostic.severity, diagnostic.line), (Severity::Error, 4));
        assert_eq!(diagnostic.file.as_deref(), Some("dir/b.comp"));
    }
    assert!(Options::new().optimize_many::<&str, &[u8]>(&[], 4).is_empty());
}

#[test]
fn wrong_use_is_an_error() {
    let new = Options::new;
    let optimize = |options: Options| options.optimize(EMPTY.as_bytes());
    assert_fails(optimize(new().passes("nosuch")), Code::Usage, "unknown pass 'nosuch'");
    assert_fails(optimize(new().passes("dce(")), Code::Usage, "passes:1:");
    assert_fails(optimize(new().emit("wasm")), Code::Usage, "'wasm' is not an output format");
    assert_fails(optimize(new().target_env("vulkan9")), Code::Usage, "'vulkan9' is not a target environment");
    assert_fails(optimize(new().language("cobol")), Code::Usage, "'cobol' is not a language");
    assert_fails(optimize(new().stage("opera")), Code::Usage, "'opera' is not a stage");
    assert_fails(optimize(new().plugin("/nosuch.so")), Code::Usage, "cannot load plugin '/nosuch.so'");
    assert_fails(optimize(new().spec("7", 1)), Code::Input, "there is no specialization constant '7'");
    assert!(optimize(new().optional_spec("7", 1)).is_ok());
    for options in [new().passes("a\0b"), new().define("a\0b"), new().include_dir("a\0b").emit("spirv")] {
        assert_fails(optimize(options), Code::Usage, "the option 'a\\0b' has a zero byte\nFix:");
    }
    assert_fails(vyre::optimize(b""), Code::Input, "cannot detect the language");
    assert_fails(vyre::optimize(&0x0723_0203_u32.to_le_bytes()), Code::Input, "truncated");
    assert_fails(new().path("a.spv").optimize(b"no module"), Code::Input, "not a SPIR-V module");
    let error = assert_fails(new().path("a.vir").optimize(b"program"), Code::Input, "a.vir:1:8: error: expected");
    assert_eq!(error.diagnostics()[0].column, 8);
    assert!(error.text().contains("\nFix: "));
}

#[test]
fn diagnostics_reach_the_callback() {
    let mut severities = Vec::new();
    let unchanged = Options::new().stage("frag").on_diagnostic(|d| severities.push(d.severity)).optimize(FRAGMENT);
    assert!(unchanged.is_ok());
    assert_eq!(severities, [Severity::Remark]);
}

#[test]
fn a_panic_of_the_callback_continues_after_the_call() {
    let mut calls = 0;
    let options = Options::new().stage("frag").on_diagnostic(|_| {
        calls += 1;
        assert_ne!(calls, 1, "the first one");
    });
    let panic = catch_unwind(AssertUnwindSafe(|| options.optimize(FRAGMENT))).unwrap_err();
    assert!(panic.downcast_ref::<String>().unwrap().contains("the first one"));
    assert!(options.optimize(FRAGMENT).is_ok());
    drop(options);
    assert_eq!(calls, 2);
    let options = Options::new().stage("frag").on_diagnostic(|_| panic!("in a thread"));
    let shaders = [("a", FRAGMENT); 8];
    assert!(catch_unwind(AssertUnwindSafe(|| options.optimize_many(&shaders, 4))).is_err());
}

#[test]
fn types_may_cross_threads() {
    fn check<T: Send + Sync>() {}
    check::<Options>();
    check::<Error>();
    check::<vyre::Diagnostic>();
}
