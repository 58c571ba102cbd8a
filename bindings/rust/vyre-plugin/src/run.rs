// SPDX-License-Identifier: Apache-2.0
//! A run of a pass: the columns of the module, and the functions of the host.
//!
//! Safety of all calls: the context, the module and the host's table are valid during the run. The host checks rows, ops
//! and parameters of each call. A call with a wrong argument has no effect, and the run fails.
use crate::{c_text, sys, Failure, Reason, Result};
use std::borrow::Cow;
use std::ffi::{CStr, CString};
use std::marker::PhantomData;
use std::mem::size_of;
use std::os::raw::{c_char, c_void};
use std::ptr::null;
use std::slice::{from_raw_parts, from_raw_parts_mut};
use std::sync::{Mutex, PoisonError};

/// Returns the op word of an opcode, a type and flags (`sys::VYRE_ROW_IMM` and others).
pub const fn word(opcode: u32, kind: u8, flags: u32) -> u32 {
    opcode | (kind as u32) << 16 | flags << 24
}

/// The columns of a module, with an element for each row. Element 0 is that of the null row. The column of an analysis is
/// empty, unless the pass requires the analysis. Rows that the pass made have 0 in the column of an analysis.
#[derive(Clone, Copy)]
#[allow(missing_docs)] // types.h describes each column
pub struct View<'v> {
    pub op: &'v [u32],
    pub imm: &'v [u32],
    pub imm_hi: &'v [u32],
    pub a: &'v [u32],
    pub b: &'v [u32],
    pub c: &'v [u32],
    pub parent: &'v [u32],
    pub prev: &'v [u32],
    pub next: &'v [u32],
    pub first: &'v [u32],
    pub last: &'v [u32],
    pub loop_: &'v [u32],
    pub loop_next: &'v [u32],
    pub loop_exit: &'v [u32],
    pub end: &'v [u32],
    pub level: &'v [u32],
    pub depth: &'v [u32],
    pub hash: &'v [u32],
    pub canonical: &'v [u32],
    pub version: &'v [u32],
    pub joins: &'v [sys::vyre_join],
    pub parts: &'v [sys::vyre_part],
    view: &'v sys::vyre_view,
}

/// Returns the elements of a column, or an empty slice if the view lacks the column.
unsafe fn slice<'v, T>(column: *const T, count: u32) -> &'v [T] {
    if column.is_null() {
        return &[];
    }
    from_raw_parts(column, count as usize)
}

impl<'v> View<'v> {
    unsafe fn new(view: &'v sys::vyre_view) -> Self {
        let rows = view.rows;
        View {
            op: slice(view.op, rows),
            imm: slice(view.imm, rows),
            imm_hi: slice(view.imm_hi, rows),
            a: slice(view.a, rows),
            b: slice(view.b, rows),
            c: slice(view.c, rows),
            parent: slice(view.parent, rows),
            prev: slice(view.prev, rows),
            next: slice(view.next, rows),
            first: slice(view.first, rows),
            last: slice(view.last, rows),
            loop_: slice(view.loop_, rows),
            loop_next: slice(view.loop_next, rows),
            loop_exit: slice(view.loop_exit, rows),
            end: slice(view.end, rows),
            level: slice(view.level, rows),
            depth: slice(view.depth, rows),
            hash: slice(view.hash, rows),
            canonical: slice(view.canonical, rows),
            version: slice(view.version, rows),
            joins: slice(view.joins, view.join_count),
            parts: slice(view.parts, view.part_count),
            view,
        }
    }

    /// Returns the number of rows, the null row included.
    pub fn rows(&self) -> u32 {
        self.view.rows
    }

    /// Returns the opcode of a row, `sys::VYRE_OP_add` for example.
    pub fn opcode(&self, row: u32) -> u32 {
        self.op[row as usize] & 0xffff
    }

    /// Returns the type of a row: a kind (`sys::VYRE_U32`) << 2 | lanes - 1.
    pub fn type_of(&self, row: u32) -> u8 {
        (self.op[row as usize] >> 16) as u8
    }

    /// Returns the flags of a row, `sys::VYRE_ROW_IMM` and others.
    pub fn flags(&self, row: u32) -> u32 {
        self.op[row as usize] >> 24
    }

    /// Returns the 64 bits of a row's payload.
    pub fn imm64(&self, row: u32) -> u64 {
        u64::from(self.imm_hi[row as usize]) << 32 | u64::from(self.imm[row as usize])
    }

    /// Returns the facts about an op.
    pub fn info(&self, opcode: u32) -> &'v sys::vyre_op_info {
        assert!(opcode < self.view.op_count, "the host has no op {opcode}");
        let offset = opcode as usize * self.view.op_info_stride as usize;
        // SAFETY: the table has op_count elements. Later versions have larger elements.
        unsafe { &*self.view.op_infos.cast::<u8>().add(offset).cast() }
    }

    /// Returns whether the row is only a value: it may be merged, folded or removed.
    pub fn is_pure(&self, row: u32) -> bool {
        u32::from(self.info(self.opcode(row)).flags) & sys::VYRE_OP_PURE != 0
            && self.flags(row) & sys::VYRE_ROW_DECO == 0
    }
}

/// A run of a pass on a module. Rows, ops and payloads are those of `vyre/types.h`. Functions that make a row return 0 if
/// memory runs out, which the manager reports.
pub struct Run<'r> {
    host: *const sys::vyre_host,
    ctx: *mut sys::vyre_pass_ctx,
    module: *mut sys::vyre_module,
    run: PhantomData<&'r mut sys::vyre_module>,
}

/// Names of statistics, which the host keeps.
static NAMES: Mutex<Vec<CString>> = Mutex::new(Vec::new());

unsafe fn text<'r>(text: *const c_char) -> Cow<'r, str> {
    CStr::from_ptr(text).to_string_lossy()
}

impl<'r> Run<'r> {
    /// # Safety
    /// The pointers are those of a run.
    pub(crate) unsafe fn new(ctx: *mut sys::vyre_pass_ctx, module: *mut sys::vyre_module) -> Self {
        Run { host: (*ctx).host, ctx, module, run: PhantomData }
    }

    /// Returns the current columns.
    pub fn view(&self) -> View<'_> {
        unsafe { View::new(&*((*self.host).view)(self.module)) }
    }

    /// Emits a message at a row, or at no row if `row` is 0. The option
    /// `-remarks` selects messages that begin with `missed: ` or `passed: `.
    pub fn remark(&self, row: u32, message: &str) {
        unsafe { ((*self.host).remark)(self.ctx, row, c_text(message).as_ptr()) }
    }

    /// Adds an amount to a statistic of `-stats`.
    pub fn count(&self, name: &'static str, amount: u64) {
        let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        let known = names.iter().position(|known| known.as_bytes() == name.as_bytes());
        let index = known.unwrap_or_else(|| {
            names.push(c_text(name));
            names.len() - 1
        });
        unsafe { ((*self.host).count)(self.ctx, names[index].as_ptr(), amount) }
    }

    /// Returns zeroed scratch memory of this run.
    pub fn alloc(&self, words: usize) -> Result<&'r mut [u32]> {
        let bytes = words.checked_mul(size_of::<u32>()).ok_or(Failure(Reason::OutOfMemory))?;
        let memory = unsafe { ((*self.host).alloc)(self.ctx, bytes) }.cast::<u32>();
        if memory.is_null() {
            return Err(Failure(Reason::OutOfMemory));
        }
        Ok(unsafe { from_raw_parts_mut(memory, words) })
    }

    /// Returns the value of a parameter: 0 or 1 for a flag, and the index for a word.
    pub fn param(&self, name: &str) -> u64 {
        unsafe { ((*self.host).param)(self.ctx, c_text(name).as_ptr()) }
    }

    /// Returns a text parameter, or "" if it is not given.
    pub fn param_text(&self, name: &str) -> Cow<'r, str> {
        unsafe { text(((*self.host).param_text)(self.ctx, c_text(name).as_ptr())) }
    }

    /// Returns the contents of the file that a text parameter names, or `None` if the parameter is not given.
    pub fn param_file(&self, name: &str) -> Result<Option<&'r [u8]>> {
        let (mut data, mut size) = (null(), 0);
        let status = unsafe { ((*self.host).param_file)(self.ctx, c_text(name).as_ptr(), &mut data, &mut size) };
        if !status.is_null() {
            return Err(Failure(Reason::Status(status)));
        }
        Ok((!data.is_null()).then(|| unsafe { from_raw_parts(data.cast(), size) }))
    }

    /// Inserts a row before another row.
    pub fn insert_row(&mut self, before: u32, op: u32, imm: u64, [a, b, c]: [u32; 3]) -> u32 {
        unsafe { ((*self.host).insert_row)(self.module, before, op, imm as u32, (imm >> 32) as u32, a, b, c) }
    }

    /// Appends a row to a region.
    pub fn append_row(&mut self, region: u32, op: u32, imm: u64, [a, b, c]: [u32; 3]) -> u32 {
        unsafe { ((*self.host).append_row)(self.module, region, op, imm as u32, (imm >> 32) as u32, a, b, c) }
    }

    /// Returns the `const` row of near_row's program with these bits.
    pub fn constant(&mut self, near_row: u32, kind: u8, bits: u64) -> u32 {
        unsafe { ((*self.host).constant)(self.module, near_row, kind, bits) }
    }

    /// Replaces op, payload and operands of a row.
    pub fn rewrite(&mut self, row: u32, op: u32, imm: u64, [a, b, c]: [u32; 3]) {
        unsafe { ((*self.host).rewrite)(self.module, row, op, imm as u32, (imm >> 32) as u32, a, b, c) }
    }

    /// Replaces operand `which`, 0 to 2, of a row.
    pub fn set_operand(&mut self, row: u32, which: u32, operand: u32) {
        unsafe { ((*self.host).set_operand)(self.module, row, which, operand) }
    }

    /// Moves a row before another row.
    pub fn move_before(&mut self, row: u32, before: u32) {
        unsafe { ((*self.host).move_before)(self.module, row, before) }
    }

    /// Removes a row and all rows in it.
    pub fn kill(&mut self, row: u32) {
        unsafe { ((*self.host).kill)(self.module, row) }
    }

    /// Replaces all uses of row i by `replacements[i]`, in one sweep.
    pub fn forward(&mut self, replacements: &mut [u32]) {
        assert_eq!(replacements.len(), self.view().op.len(), "forward: an element for each row");
        unsafe { ((*self.host).forward)(self.module, replacements.as_mut_ptr()) }
    }

    /// Copies a row and all rows in it. Operands become `map[operand]` if this is not 0. `map` receives the copies.
    pub fn clone_row(&mut self, row: u32, before: u32, map: &mut [u32]) -> u32 {
        unsafe { ((*self.host).clone)(self.module, row, before, map.as_mut_ptr(), map.len() as u32) }
    }

    /// Adds a buffer of scalars or vectors to near_row's program. The binding is a set and a number.
    pub fn add_buffer(&mut self, near_row: u32, element: u8, count: u32, space: u32, binding: [u32; 2]) -> u32 {
        let [set, number] = binding;
        unsafe { ((*self.host).add_buffer)(self.module, near_row, element, count, space, set, number) }
    }

    /// Reports analyses that this run preserved.
    pub fn preserved(&mut self, analyses: u32) {
        unsafe { ((*self.host).preserved)(self.ctx, analyses) }
    }

    /// Returns the type and lanes of a pure row with literal operands, if all devices compute the same result.
    pub fn fold(&self, row: u32) -> Option<(u8, [u64; 4])> {
        let (mut kind, mut lanes) = (0, [0; 4]);
        unsafe { ((*self.host).fold)(self.module, row, &mut kind, lanes.as_mut_ptr()) }.then(|| (kind, lanes))
    }

    /// Returns whether a path always leads to a location in bounds.
    pub fn in_bounds(&self, path: u32) -> bool {
        unsafe { ((*self.host).in_bounds)(self.module, path) }
    }

    /// Returns, for each buffer row, the first buffer that may be the same memory. The flag `sys::VYRE_ALIAS_SHARED` marks a
    /// buffer with coherent or volatile accesses.
    pub fn aliases(&self) -> Result<Vec<u32>> {
        let mut out = vec![0; self.view().op.len()];
        match unsafe { ((*self.host).aliases)(self.module, out.as_mut_ptr()) } {
            true => Ok(out),
            false => Err(Failure(Reason::OutOfMemory)),
        }
    }

    /// Returns the rows that lengths of types use. A pass keeps them.
    pub fn pinned(&self) -> Vec<u32> {
        unsafe extern "C" fn pin(rows: *mut c_void, row: u32) {
            (*rows.cast::<Vec<u32>>()).push(row);
        }
        let mut rows = Vec::new();
        unsafe { ((*self.host).each_pinned)(self.module, pin, (&mut rows as *mut Vec<u32>).cast()) };
        rows
    }

    /// Returns the name of a row.
    pub fn name(&self, row: u32) -> Option<Cow<'_, str>> {
        let name = unsafe { ((*self.host).name)(self.module, row) };
        (!name.is_null()).then(|| unsafe { text(name) })
    }

    /// Sets the name of a row that is not a program. "" removes it.
    pub fn set_name(&mut self, row: u32, name: &str) {
        unsafe { ((*self.host).set_name)(self.module, row, c_text(name).as_ptr()) }
    }

    /// Returns the source line of a row, from 1, or 0 if it is unknown.
    pub fn line(&self, row: u32) -> u32 {
        let (mut file, mut column) = (null(), 0);
        unsafe { ((*self.host).line)(self.module, row, &mut file, &mut column) }
    }

    /// Returns the C interface, for the functions of the host that have no method here.
    pub fn raw(&mut self) -> (*const sys::vyre_host, *mut sys::vyre_pass_ctx, *mut sys::vyre_module) {
        (self.host, self.ctx, self.module)
    }
}
