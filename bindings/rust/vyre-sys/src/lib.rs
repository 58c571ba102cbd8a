// SPDX-License-Identifier: Apache-2.0
//! Declarations of vyre's C API: `vyre/optimize.h`, `vyre/status.h` and `vyre/plugin.h`. The headers document them.
//!
//! Fields whose names are keywords of Rust end with `_`. The crate `vyre` has safe functions, `vyre-plugin` passes.
#![allow(non_camel_case_types, non_upper_case_globals)]

#[rustfmt::skip]
mod generated;
pub use generated::*;
