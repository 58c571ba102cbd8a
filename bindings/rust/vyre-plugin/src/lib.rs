// SPDX-License-Identifier: Apache-2.0
//! Passes for vyre in Rust, as shared objects that `vyre-passmgr -load=FILE.so` loads.
//!
//! ```
//! use vyre_plugin::{sys, Pass, Result, Run};
//!
//! struct CountStores;
//!
//! impl Pass for CountStores {
//!     const NAME: &'static str = "acme.count-stores";
//!     const SUMMARY: &'static str = "count stores";
//!     fn run(run: &mut Run) -> Result<bool> {
//!         let view = run.view();
//!         let stores = (0..view.rows()).filter(|&row| view.opcode(row) == sys::VYRE_OP_store).count();
//!         run.count("stores", stores as u64);
//!         Ok(false)
//!     }
//! }
//!
//! vyre_plugin::plugin! { name: "acme", version: "1.0", passes: [CountStores] }
//! ```
//!
//! The crate type is `cdylib`. The plugin links nothing of vyre. `docs/plugins.md` has the rules for passes.
//!
//! A panic becomes an error of the run, if the profile does not set `panic = "abort"`.
#![deny(warnings, missing_docs)]

mod descriptor;
mod run;

pub use descriptor::{describe, describe_pass, Param, DEFAULT_OPSETS};
pub use run::{word, Run, View};
/// The declarations of `vyre/plugin.h`: opcodes, flags, analyses.
pub use vyre_sys as sys;

use std::ffi::CString;

/// The result of a run.
pub type Result<T> = std::result::Result<T, Failure>;

/// The reason why a run fails. The manager adds pass, program and source line, and discards the module.
#[derive(Debug)]
pub struct Failure(pub(crate) Reason);

#[derive(Debug)]
pub(crate) enum Reason {
    AtRow(u32, String),
    OutOfMemory,
    Status(sys::vyre_status),
}

impl Failure {
    /// Returns a failure at a row, or at no row if `row` is 0.
    pub fn new(row: u32, message: impl Into<String>) -> Self {
        Failure(Reason::AtRow(row, message.into()))
    }
}

/// A pass. Several threads may call `run` at a time, each with its own `Run`.
pub trait Pass {
    /// The name, `plugin.pass`.
    const NAME: &'static str;
    /// One line for the list of passes.
    const SUMMARY: &'static str;
    /// A longer text for `-help-pass`.
    const HELP: &'static str = "";
    /// The parameters.
    const PARAMS: &'static [Param] = &[];
    /// The analyses that the pass uses: `sys::VYRE_LOOPS` and others.
    const REQUIRES: u32 = 0;
    /// The analyses that stay valid after a change.
    const PRESERVES: u32 = 0;

    /// Runs the pass, and returns whether the module changed.
    fn run(run: &mut Run) -> Result<bool>;
}

/// Exports a plugin with these passes, which are types that implement [`Pass`].
///
/// `opsets`, after the version, is the range of op sets that the passes support. Default: the op set of this crate. With
/// `1..=sys::VYRE_OPSET_ANY`, the passes run on all modules, and handle unknown ops by their flags.
#[macro_export]
macro_rules! plugin {
    (name: $name:expr, version: $version:expr, passes: $passes:tt $(,)?) => {
        $crate::plugin! { name: $name, version: $version, opsets: $crate::DEFAULT_OPSETS, passes: $passes }
    };
    (name: $name:expr, version: $version:expr, opsets: $opsets:expr, passes: [$($pass:ty),+ $(,)?] $(,)?) => {
        /// Returns the descriptor, or NULL for a host of another major version.
        ///
        /// # Safety
        /// `host` is the table of a host.
        #[no_mangle]
        pub unsafe extern "C" fn vyre_plugin_query_v1(
            host: *const $crate::sys::vyre_host,
        ) -> *const $crate::sys::vyre_plugin {
            static MADE: std::sync::atomic::AtomicPtr<$crate::sys::vyre_plugin> =
                std::sync::atomic::AtomicPtr::new(std::ptr::null_mut());
            $crate::describe(host, &MADE, [$name, $version], $opsets, &[$($crate::describe_pass::<$pass>),+])
        }
    };
}

/// Returns a text for C, without the zero bytes in it.
pub(crate) fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}
