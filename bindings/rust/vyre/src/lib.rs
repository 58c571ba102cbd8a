// SPDX-License-Identifier: Apache-2.0
//! Optimizes GPU compute shaders: GLSL, HLSL, SPIR-V or `.vir` in, SPIR-V or a text out.
//!
//! ```
//! let shader = "#version 450
//! layout(local_size_x = 64) in;
//! layout(binding = 0) buffer X { uint x[]; };
//! void main() { x[gl_GlobalInvocationID.x] *= 8; }";
//! let spirv = vyre::optimize(shader.as_bytes())?;
//! assert_eq!(spirv[..4], 0x0723_0203_u32.to_le_bytes());
//! # Ok::<(), vyre::Error>(())
//! ```
//!
//! [`Options`] has a pipeline, the output's language, macros, specialization constants and other settings.
//!
//! The library keeps pipelines and modules between calls. Any number of threads may call the library at a time.
#![deny(warnings, missing_docs)]

mod call;
mod error;

pub use error::{Code, Diagnostic, Error, Severity};

use std::ffi::{CString, OsStr};
use std::fmt::Display;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Optimizes a shader with the default options.
pub fn optimize(shader: &[u8]) -> Result<Vec<u8>, Error> {
    Options::new().optimize(shader)
}

type Callback<'a> = dyn FnMut(&Diagnostic) + Send + 'a;

/// The options of a call. The call fails if a text contains a NUL.
///
/// ```
/// let shader = b"#version 450
/// layout(local_size_x_id = 0) in;
/// layout(binding = 0) buffer Values { uint values[]; };
/// void main() { values[gl_LocalInvocationIndex] += X; }";
/// let glsl = vyre::Options::new()
///     .passes("default<O2>")
///     .target_env("vulkan1.1")
///     .spec("0", 64)
///     .freeze_spec()
///     .define("X=1")
///     .emit("glsl")
///     .optimize(shader)?;
/// assert!(String::from_utf8(glsl).unwrap().contains("local_size_x = 64"));
/// # Ok::<(), vyre::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Options<'a> {
    passes: Option<CString>,
    emit: Option<CString>,
    path: Option<CString>,
    language: Option<CString>,
    target_env: Option<CString>,
    stage: Option<CString>,
    entry_point: Option<CString>,
    plugins: Vec<CString>,
    specs: Vec<CString>,
    optional_specs: Vec<CString>,
    defines: Vec<CString>,
    include_dirs: Vec<CString>,
    freeze_spec: bool,
    debug: bool,
    strip: bool,
    keep_vectors: bool,
    max_growth: u32,
    callback: Option<Arc<Mutex<Callback<'a>>>>,
    /// The first text that contains a NUL.
    wrong: Option<String>,
}

impl<'a> Options<'a> {
    /// Returns the default options: the pipeline `default<O2>`, and SPIR-V as output.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the pipeline of passes. With an empty text, no pass runs.
    pub fn passes(mut self, pipeline: &str) -> Self {
        self.passes = self.text(pipeline);
        self
    }

    /// Sets the output: `spirv`, `spvasm`, `glsl`, `hlsl`, `msl`, `reflection` (JSON), `vir`, `c` or `ptx`.
    pub fn emit(mut self, format: &str) -> Self {
        self.emit = self.text(format);
        self
    }

    /// Sets the name of the input. Messages begin with the name, and its ending helps to detect the language and the
    /// stage. Its folder is searched for `#include` files.
    pub fn path(mut self, path: impl AsRef<Path>) -> Self {
        self.path = self.text(path.as_ref());
        self
    }

    /// Sets the language of a text: `glsl`, `hlsl` or `spvasm`.
    pub fn language(mut self, language: &str) -> Self {
        self.language = self.text(language);
        self
    }

    /// Sets the target environment of GLSL and HLSL: `vulkan1.0` to `vulkan1.3`, or `opengl4.5`.
    pub fn target_env(mut self, environment: &str) -> Self {
        self.target_env = self.text(environment);
        self
    }

    /// Sets the stage of GLSL and HLSL, for example `comp`.
    pub fn stage(mut self, stage: &str) -> Self {
        self.stage = self.text(stage);
        self
    }

    /// Sets the entry function of HLSL, or the entry point of GLSL, HLSL and MSL output.
    pub fn entry_point(mut self, name: &str) -> Self {
        self.entry_point = self.text(name);
        self
    }

    /// Adds a plugin, a shared object with passes. A process loads a plugin once. The plugin's code must be trusted.
    pub fn plugin(mut self, path: impl AsRef<Path>) -> Self {
        let text = self.text(path.as_ref());
        self.plugins.extend(text);
        self
    }

    /// Sets the default of a specialization constant, by its name or id. A shader without the constant is an error.
    pub fn spec(mut self, constant: &str, value: impl Display) -> Self {
        let text = self.text(&format!("{constant}={value}"));
        self.specs.extend(text);
        self
    }

    /// Sets the default of a specialization constant, if the shader has the constant.
    pub fn optional_spec(mut self, constant: &str, value: impl Display) -> Self {
        let text = self.text(&format!("{constant}={value}"));
        self.optional_specs.extend(text);
        self
    }

    /// Makes all specialization constants ordinary constants.
    pub fn freeze_spec(mut self) -> Self {
        self.freeze_spec = true;
        self
    }

    /// Adds a macro of GLSL and HLSL, `NAME` or `NAME=VALUE`.
    pub fn define(mut self, definition: &str) -> Self {
        let text = self.text(definition);
        self.defines.extend(text);
        self
    }

    /// Adds a folder that is searched for `#include` files.
    pub fn include_dir(mut self, dir: impl AsRef<Path>) -> Self {
        let text = self.text(dir.as_ref());
        self.include_dirs.extend(text);
        self
    }

    /// Keeps the source lines of GLSL and HLSL as debug information.
    pub fn debug(mut self) -> Self {
        self.debug = true;
        self
    }

    /// Omits names, lines and sources of SPIR-V.
    pub fn strip(mut self) -> Self {
        self.strip = true;
        self
    }

    /// Keeps vectors in one piece if loops or branches change them. The SPIR-V is smaller, but less optimized.
    pub fn keep_vectors(mut self) -> Self {
        self.keep_vectors = true;
        self
    }

    /// Keeps a module unchanged if inlining would make it larger than 16 MiB and `factor` times its size. Default: 8.
    pub fn max_growth(mut self, factor: u32) -> Self {
        self.max_growth = factor;
        self
    }

    /// Sets the function that receives remarks and warnings, and the errors of a text. Diagnostics are emitted one at a
    /// time. The function must not use the same options. If it panics, it receives no more diagnostics of the shader,
    /// and the panic continues after the call.
    ///
    /// ```
    /// let mut remarks = Vec::new();
    /// let fragment = b"#version 450\nvoid main() {}";
    /// vyre::Options::new().stage("frag").on_diagnostic(|d| remarks.push(d.to_string())).optimize(fragment)?;
    /// assert!(remarks[0].contains("not optimized"));
    /// # Ok::<(), vyre::Error>(())
    /// ```
    pub fn on_diagnostic(mut self, function: impl FnMut(&Diagnostic) + Send + 'a) -> Self {
        self.callback = Some(Arc::new(Mutex::new(function)));
        self
    }

    /// Optimizes a shader and returns the output. A module that vyre cannot convert, and stages other than compute, are
    /// returned unchanged, with a remark.
    pub fn optimize(&self, shader: &[u8]) -> Result<Vec<u8>, Error> {
        call::optimize(self, &[(None, shader)], 1).remove(0)
    }

    /// Optimizes many shaders, each with its path, on at most `threads` threads. If `threads` is 0, uses a thread for each
    /// processor. The results are in the order of the shaders.
    ///
    /// ```
    /// let shaders = [("a.comp", "#version 450\nvoid main() {}"), ("b.comp", "#version 450\nvoid main() { x = 1; }")];
    /// let results = vyre::Options::new().optimize_many(&shaders, 0);
    /// assert!(results[0].is_ok());
    /// assert_eq!(results[1].as_ref().unwrap_err().diagnostics()[0].line, 2);
    /// ```
    pub fn optimize_many<P, S>(&self, shaders: &[(P, S)], threads: usize) -> Vec<Result<Vec<u8>, Error>>
    where
        P: AsRef<Path>,
        S: AsRef<[u8]>,
    {
        let path_of = |(path, _): &(P, S)| CString::new(path.as_ref().as_os_str().as_bytes());
        let paths: Vec<_> = shaders.iter().map(path_of).collect();
        let pairs = paths.iter().zip(shaders);
        let valid =
            pairs.filter_map(|(path, (_, shader))| path.as_deref().ok().map(|path| (Some(path), shader.as_ref())));
        let mut results = call::optimize(self, &valid.collect::<Vec<_>>(), threads).into_iter();
        let result_of = |(path, (name, _)): (Result<_, _>, &(P, S))| match path {
            Ok(_) => results.next().expect("a result for each valid path"),
            Err(_) => Err(call::zero_byte(&shown(name.as_ref()))),
        };
        paths.into_iter().zip(shaders).map(result_of).collect()
    }

    /// Returns the text for C. If the text contains a NUL, sets `wrong` and returns `None`.
    fn text(&mut self, text: impl AsRef<OsStr>) -> Option<CString> {
        let text = text.as_ref();
        let result = CString::new(text.as_bytes()).ok();
        if result.is_none() && self.wrong.is_none() {
            self.wrong = Some(shown(text));
        }
        result
    }
}

/// Returns a text for a message, with its zero bytes as `\0`.
fn shown(text: impl AsRef<OsStr>) -> String {
    text.as_ref().to_string_lossy().replace('\0', "\\0")
}

#[cfg(doctest)]
#[doc = include_str!("../../../../docs/rust.md")]
struct Readme;
