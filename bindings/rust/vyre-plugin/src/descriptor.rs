// SPDX-License-Identifier: Apache-2.0
//! The descriptor of a plugin, and the entry of a run.
use crate::run::Run;
use crate::{c_text, sys, Failure, Pass, Reason};
use std::any::Any;
use std::mem::size_of;
use std::ops::RangeInclusive;
use std::os::raw::c_char;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering};

/// The version of the plugin API that `Run` uses.
const NEEDED_ABI: u32 = 1 << 16 | 1;

/// The op set of the headers that this crate was made from.
pub const DEFAULT_OPSETS: RangeInclusive<u32> = sys::VYRE_OPSET_VERSION..=sys::VYRE_OPSET_VERSION;

/// A parameter of a pass, `name<factor=4;quiet>`.
pub struct Param {
    kind: sys::vyre_param_type,
    name: &'static str,
    summary: &'static str,
    range: [u64; 3],
    words: &'static str,
}

impl Param {
    const fn new(kind: u32, name: &'static str, summary: &'static str, range: [u64; 3], words: &'static str) -> Self {
        Param { kind, name, summary, range, words }
    }

    /// Returns a flag, which is false by default.
    pub const fn flag(name: &'static str, summary: &'static str) -> Self {
        Param::new(sys::VYRE_PARAM_FLAG, name, summary, [0; 3], "")
    }

    /// Returns a number from `minimum` to `maximum`.
    pub const fn uint(name: &'static str, summary: &'static str, minimum: u64, maximum: u64, default: u64) -> Self {
        Param::new(sys::VYRE_PARAM_UINT, name, summary, [minimum, maximum, default], "")
    }

    /// Returns a choice of words, `fast|small`. The first one is the default.
    pub const fn word(name: &'static str, summary: &'static str, words: &'static str) -> Self {
        Param::new(sys::VYRE_PARAM_WORD, name, summary, [0; 3], words)
    }

    /// Returns a text. Help prints `placeholder` as its value.
    pub const fn text(name: &'static str, summary: &'static str, placeholder: &'static str) -> Self {
        Param::new(sys::VYRE_PARAM_TEXT, name, summary, [0; 3], placeholder)
    }
}

/// Returns a copy of the text for C, or NULL for an empty text. The copy is never freed.
fn keep_text(text: &str) -> *const c_char {
    if text.is_empty() {
        return null();
    }
    c_text(text).into_raw()
}

/// Moves a value to memory that is never freed, and returns the address.
fn keep<T>(value: T) -> *const T {
    Box::into_raw(Box::new(value))
}

fn describe_param(param: &Param) -> sys::vyre_param {
    let [minimum, maximum, fallback] = param.range;
    sys::vyre_param {
        struct_size: size_of::<sys::vyre_param>() as u32,
        type_: param.kind,
        name: keep_text(param.name),
        summary: keep_text(param.summary),
        minimum,
        maximum,
        fallback,
        words: keep_text(param.words),
    }
}

/// Returns the descriptor of a pass. For [`plugin!`](crate::plugin).
#[doc(hidden)]
pub fn describe_pass<P: Pass>() -> sys::vyre_pass {
    let params: Vec<_> = P::PARAMS.iter().map(describe_param).collect();
    sys::vyre_pass {
        struct_size: size_of::<sys::vyre_pass>() as u32,
        flags: 0,
        name: keep_text(P::NAME),
        long_name: null(),
        summary: keep_text(P::SUMMARY),
        help: keep_text(P::HELP),
        param_count: params.len() as u32,
        params: params.leak().as_ptr(),
        requires_: P::REQUIRES,
        preserves: P::PRESERVES,
        provides: 0,
        run: Some(run::<P>),
        phases: null(),
        prepare: None,
        finish: None,
    }
}

/// Returns the descriptor of a plugin. The first call makes the descriptor and stores it in `made`. For [`plugin!`](crate::plugin).
///
/// # Safety
/// `host` is the table of a host.
#[doc(hidden)]
pub unsafe fn describe(
    host: *const sys::vyre_host,
    made: &AtomicPtr<sys::vyre_plugin>,
    [name, version]: [&str; 2],
    opsets: RangeInclusive<u32>,
    passes: &[fn() -> sys::vyre_pass],
) -> *const sys::vyre_plugin {
    if (*host).abi >> 16 != NEEDED_ABI >> 16 {
        return null(); // a host with an older minor version reports both versions
    }
    if made.load(Ordering::Acquire).is_null() {
        let passes: Vec<_> = passes.iter().map(|describe| keep(describe())).collect();
        let plugin = sys::vyre_plugin {
            struct_size: size_of::<sys::vyre_plugin>() as u32,
            abi: NEEDED_ABI,
            name: keep_text(name),
            version: keep_text(version),
            opset_min: *opsets.start(),
            opset_max: *opsets.end(),
            pass_count: passes.len() as u32,
            passes: passes.leak().as_ptr(),
        };
        made.store(keep(plugin) as *mut _, Ordering::Release);
    }
    made.load(Ordering::Acquire)
}

/// Returns the message of a panic.
fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}

/// Runs a pass. No panic unwinds through the host.
unsafe extern "C" fn run<P: Pass>(
    ctx: *mut sys::vyre_pass_ctx,
    module: *mut sys::vyre_module,
    out: *mut sys::vyre_result,
) -> sys::vyre_status {
    let mut run = Run::new(ctx, module);
    let result = catch_unwind(AssertUnwindSafe(|| P::run(&mut run)))
        .unwrap_or_else(|panic| Err(Failure::new(0, format!("the pass panicked: {}", panic_message(&*panic)))));
    let host = (*ctx).host;
    *out = if matches!(result, Ok(true)) { sys::VYRE_CHANGED } else { sys::VYRE_UNCHANGED };
    match result {
        Ok(_) => null_mut(),
        Err(Failure(Reason::AtRow(row, message))) => ((*host).error)(ctx, row, c_text(&message).as_ptr()),
        Err(Failure(Reason::OutOfMemory)) => ((*host).out_of_memory)(ctx),
        Err(Failure(Reason::Status(status))) => status,
    }
}
