// SPDX-License-Identifier: Apache-2.0
//! Errors and diagnostics.
use std::fmt;

/// The kinds of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    /// An error in the shader, or out of memory.
    Input,
    /// An error in the options, a pipeline or a plugin.
    Usage,
    /// No driver library, no device, or a device error.
    Device,
    /// A bug in vyre.
    Internal,
}

/// The kinds of diagnostics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Severity {
    /// An addition to the previous diagnostic.
    Note,
    /// An optimization that was made or missed.
    Remark,
    /// A probable mistake.
    Warning,
    /// A mistake.
    Error,
}

/// A message about a place in a shader. `Display` writes it as vyre's tools print it, with the source line.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The kind of the diagnostic.
    pub severity: Severity,
    /// Name of the shader or of an included file.
    pub file: Option<String>,
    /// Line from 1, or 0 if it is unknown.
    pub line: u32,
    /// Column in bytes from 1, or 0 if it is unknown.
    pub column: u32,
    /// The message, one line.
    pub message: String,
    /// Advice for the user.
    pub fix: Option<String>,
    pub(crate) text: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// An error of a call. `Display` writes the errors in the shader and the text.
#[derive(Clone, Debug)]
pub struct Error {
    pub(crate) code: Code,
    pub(crate) text: String,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl Error {
    /// Returns the kind of the error.
    pub fn code(&self) -> Code {
        self.code
    }

    /// Returns the text: the error, notes, and advice in lines that begin with `Fix:`.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns all messages about the shader, including remarks and warnings.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for diagnostic in self.diagnostics.iter().filter(|d| d.severity == Severity::Error) {
            writeln!(f, "{diagnostic}")?;
        }
        f.write_str(&self.text)
    }
}

impl std::error::Error for Error {}
