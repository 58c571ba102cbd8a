//! An example of a pass in Rust: `not(not x)` is x.
//!
//! A plugin is a C interface: vyre/plugin.h says what the structs below are.  Of each only its beginning is declared, as far as
//! it is used here, which is how the interface grows: a field keeps its offset, and struct_size says how many there are.
//!
//!     rustc --edition 2021 --crate-type cdylib -O nots.rs -o nots.so
//!
//! No panic leaves the pass: the manager is C.
//!
//! requires: nothing      preserves: nothing
//!
//! SPDX-License-Identifier: Apache-2.0

use std::ffi::c_void;
use std::mem::size_of;
use std::os::raw::c_char;
use std::panic::catch_unwind;
use std::ptr::null;

/// VYRE_ABI(1, 0), the least that it needs.
const NEEDED_ABI: u32 = 1 << 16;
/// It looks at one op, so ops that it does not know are none of its business.
const OPSET_MIN: u32 = 1;
const OPSET_ANY: u32 = u32::MAX;
/// VYRE_OP_not of vyre/ops.def.
const OP_NOT: u32 = 147;
const ROW_DECO: u32 = 2;
const UNCHANGED: u32 = 0;
const CHANGED: u32 = 1;

/// A vyre_status: NULL is success, and all others come from the host.
type Status = *mut c_void;
/// A vyre_module.
type Module = *mut c_void;

#[repr(C)]
struct View {
    struct_size: u32,
    rows: u32,
    op: *const u32,
    imm: *const u32,
    imm_hi: *const u32,
    a: *const u32,
}

#[repr(C)]
struct Host {
    struct_size: u32,
    abi: u32,
    view: unsafe extern "C" fn(Module) -> *const View,
    error: unsafe extern "C" fn(*mut Context, u32, *const c_char) -> Status,
    remark: unsafe extern "C" fn(*mut Context, u32, *const c_char),
    count: unsafe extern "C" fn(*mut Context, *const c_char, u64),
    alloc: unsafe extern "C" fn(*mut Context, usize) -> *mut c_void,
    out_of_memory: unsafe extern "C" fn(*mut Context) -> Status,
    not_used: [*const c_void; 7], // param to kill
    forward: unsafe extern "C" fn(Module, *mut u32),
}

#[repr(C)]
struct Context {
    struct_size: u32,
    host: *const Host,
}

#[repr(C)]
struct Pass {
    struct_size: u32,
    flags: u32,
    name: *const c_char,
    long_name: *const c_char,
    summary: *const c_char,
    help: *const c_char,
    params: *const c_void,
    param_count: u32,
    requires: u32,
    preserves: u32,
    provides: u32,
    run: extern "C" fn(*mut Context, Module, *mut u32) -> Status,
}

#[repr(C)]
struct Plugin {
    struct_size: u32,
    abi: u32,
    name: *const c_char,
    version: *const c_char,
    opset_min: u32,
    opset_max: u32,
    passes: *const *const Pass,
    pass_count: u32,
}

/// What is constant data may be shared, whatever it points to.
struct Shared<T>(T);
unsafe impl<T> Sync for Shared<T> {}

fn op_of(word: u32) -> u32 {
    word & 0xffff
}

/// Forwards each `not` of a `not` to what is under both; how many there are.
fn find(op: &[u32], a: &[u32], fwd: &mut [u32]) -> u64 {
    let mut found = 0;
    for (row, &word) in op.iter().enumerate() {
        fwd[row] = row as u32;
        let inner = a[row] as usize;
        let plain = (word | op[inner]) >> 24 & ROW_DECO == 0;
        if op_of(word) == OP_NOT && op_of(op[inner]) == OP_NOT && plain {
            fwd[row] = a[inner];
            found += 1;
        }
    }
    found
}

unsafe fn work(ctx: *mut Context, module: Module, out: *mut u32) -> Status {
    let host = &*(*ctx).host;
    let view = &*(host.view)(module);
    let rows = view.rows as usize;
    let fwd = (host.alloc)(ctx, rows * size_of::<u32>()) as *mut u32;
    if fwd.is_null() {
        return (host.out_of_memory)(ctx);
    }
    let op = std::slice::from_raw_parts(view.op, rows);
    let a = std::slice::from_raw_parts(view.a, rows);
    let found = find(op, a, std::slice::from_raw_parts_mut(fwd, rows));
    if found > 0 {
        (host.forward)(module, fwd);
        (host.count)(ctx, "double negations\0".as_ptr().cast(), found);
        *out = CHANGED;
    }
    null::<c_void>() as Status
}

extern "C" fn run(ctx: *mut Context, module: Module, out: *mut u32) -> Status {
    unsafe { *out = UNCHANGED };
    catch_unwind(|| unsafe { work(ctx, module, out) })
        .unwrap_or_else(|_| unsafe { ((*(*ctx).host).error)(ctx, 0, "it panicked\0".as_ptr().cast()) })
}

static PASS: Shared<Pass> = Shared(Pass {
    struct_size: size_of::<Pass>() as u32,
    flags: 0,
    name: "rusty.nots\0".as_ptr().cast(),
    long_name: null(),
    summary: "not(not x) is x\0".as_ptr().cast(),
    help: null(),
    params: null(),
    param_count: 0,
    requires: 0,
    preserves: 0,
    provides: 0,
    run,
});
static PASSES: Shared<[*const Pass; 1]> = Shared([&PASS.0]);
static PLUGIN: Shared<Plugin> = Shared(Plugin {
    struct_size: size_of::<Plugin>() as u32,
    abi: NEEDED_ABI,
    name: "rusty\0".as_ptr().cast(),
    version: "1.0\0".as_ptr().cast(),
    opset_min: OPSET_MIN,
    opset_max: OPSET_ANY,
    passes: PASSES.0.as_ptr(),
    pass_count: 1,
});

/// What the host finds.  It refuses a host whose tables are smaller than what it declares of them.
///
/// # Safety
/// `host` is a vyre_host.
#[no_mangle]
pub unsafe extern "C" fn vyre_plugin_query_v1(host: *const c_void) -> *const c_void {
    let struct_size = *(host as *const u32);
    if (struct_size as usize) < size_of::<Host>() {
        return null();
    }
    (&PLUGIN.0 as *const Plugin).cast()
}
