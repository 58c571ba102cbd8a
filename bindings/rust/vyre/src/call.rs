// SPDX-License-Identifier: Apache-2.0
//! Calls the C library.
use crate::{Callback, Code, Diagnostic, Error, Options, Severity};
use std::any::Any;
use std::ffi::{CStr, CString};
use std::mem::{size_of, zeroed};
use std::os::raw::{c_char, c_void};
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::ptr::{null, null_mut};
use std::sync::{Mutex, PoisonError};
use vyre_sys::*;

/// Receives the diagnostics of a shader.
struct Collector<'c, 'a> {
    callback: Option<&'c Mutex<Callback<'a>>>,
    diagnostics: Vec<Diagnostic>,
    /// The panic of the callback.
    panic: Option<Box<dyn Any + Send>>,
}

/// Returns a copy of a text.
///
/// # Safety
/// The text is NULL or ends with a zero byte.
unsafe fn copy_text(text: *const c_char) -> Option<String> {
    (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
}

/// Returns a copy of a diagnostic.
///
/// # Safety
/// The library made the diagnostic.
unsafe fn copy_diagnostic(diagnostic: &vyre_diagnostic) -> Diagnostic {
    let size = vyre_diagnostic_format(diagnostic, std::ptr::null_mut(), 0) + 1;
    let mut text = vec![0; size];
    vyre_diagnostic_format(diagnostic, text.as_mut_ptr().cast(), size);
    let severity = match diagnostic.severity {
        VYRE_NOTE => Severity::Note,
        VYRE_REMARK => Severity::Remark,
        VYRE_WARNING => Severity::Warning,
        _ => Severity::Error,
    };
    Diagnostic {
        severity,
        file: copy_text(diagnostic.file),
        line: diagnostic.line,
        column: diagnostic.column,
        message: copy_text(diagnostic.message).unwrap_or_default(),
        fix: copy_text(diagnostic.fix),
        text: String::from_utf8_lossy(&text[..size - 1]).trim_end().to_string(),
    }
}

/// Keeps a diagnostic and calls the callback. No panic unwinds through C.
unsafe extern "C" fn emit(user: *mut c_void, diagnostic: *const vyre_diagnostic) {
    let collector = &mut *user.cast::<Collector>();
    let diagnostic = copy_diagnostic(&*diagnostic);
    if let (Some(callback), None) = (collector.callback, &collector.panic) {
        let mut callback = callback.lock().unwrap_or_else(PoisonError::into_inner);
        collector.panic = catch_unwind(AssertUnwindSafe(|| callback(&diagnostic))).err();
    }
    collector.diagnostics.push(diagnostic);
}

fn pointer(text: &Option<CString>) -> *const c_char {
    text.as_ref().map_or(null(), |text| text.as_ptr())
}

fn pointers(texts: &[CString]) -> Vec<*const c_char> {
    texts.iter().map(|text| text.as_ptr()).collect()
}

/// Returns the error of a status, with the diagnostics.
///
/// # Safety
/// The status is not NULL.
unsafe fn copy_status(status: vyre_status, diagnostics: Vec<Diagnostic>) -> Error {
    let code = match vyre_status_code(status) {
        VYRE_CODE_INPUT => Code::Input,
        VYRE_CODE_USAGE => Code::Usage,
        VYRE_CODE_DEVICE => Code::Device,
        _ => Code::Internal,
    };
    Error { code, text: copy_text(vyre_status_text(status)).unwrap_or_default(), diagnostics }
}

/// Returns the error of an option with a zero byte.
pub(crate) fn zero_byte(option: &str) -> Error {
    let text = format!("the option '{option}' has a zero byte\nFix: remove the zero byte");
    Error { code: Code::Usage, text, diagnostics: Vec::new() }
}

/// Copies an array of the library to a vector, and frees the array.
///
/// # Safety
/// The library made the array, or all its bytes are zero.
unsafe fn take_bytes(bytes: &mut vyre_bytes) -> Vec<u8> {
    let output = match bytes.size {
        0 => Vec::new(),
        size => std::slice::from_raw_parts(bytes.data.cast::<u8>(), size).to_vec(),
    };
    vyre_bytes_free(bytes);
    output
}

/// Optimizes shaders. A shader without a path has the path of the options. The results are in the order of the shaders.
pub(crate) fn optimize(
    options: &Options,
    shaders: &[(Option<&CStr>, &[u8])],
    threads: usize,
) -> Vec<Result<Vec<u8>, Error>> {
    if let Some(wrong) = &options.wrong {
        return shaders.iter().map(|_| Err(zero_byte(wrong))).collect();
    }
    let (plugins, defines) = (pointers(&options.plugins), pointers(&options.defines));
    let (specs, optional_specs) = (pointers(&options.specs), pointers(&options.optional_specs));
    let include_dirs = pointers(&options.include_dirs);
    let c_options = vyre_optimize_options {
        struct_size: size_of::<vyre_optimize_options>(),
        passes: pointer(&options.passes),
        emit: pointer(&options.emit),
        path: pointer(&options.path),
        plugins: plugins.as_ptr(),
        plugin_count: plugins.len() as u32,
        max_growth: options.max_growth,
        specialization: vyre_specialization {
            values: specs.as_ptr(),
            count: specs.len() as u32,
            optional: optional_specs.as_ptr(),
            optional_count: optional_specs.len() as u32,
            freeze: options.freeze_spec,
        },
        language: pointer(&options.language),
        target_env: pointer(&options.target_env),
        stage: pointer(&options.stage),
        entry_point: pointer(&options.entry_point),
        defines: defines.as_ptr(),
        define_count: defines.len() as u32,
        include_dir_count: include_dirs.len() as u32,
        include_dirs: include_dirs.as_ptr(),
        debug: options.debug,
        strip: options.strip,
        keep_vectors: options.keep_vectors,
        diagnostics: vyre_diagnostics { emit: None, user: null_mut() }, // each item has its own
        allocator: null(),
    };
    let callback = options.callback.as_deref();
    let new_collector = |_| Collector { callback, diagnostics: Vec::new(), panic: None };
    let mut collectors: Vec<Collector> = shaders.iter().map(new_collector).collect();
    let new_item = |((path, shader), collector): (&(Option<&CStr>, &[u8]), &mut Collector)| vyre_optimize_item {
        path: path.map_or(null(), CStr::as_ptr),
        data: shader.as_ptr().cast(),
        size: shader.len(),
        // SAFETY: all zero is an empty array of bytes.
        out: unsafe { zeroed() },
        status: null_mut(),
        diagnostics: vyre_diagnostics { emit: Some(emit), user: (collector as *mut Collector).cast() },
    };
    let mut items: Vec<_> = shaders.iter().zip(&mut collectors).map(new_item).collect();
    let threads = u32::try_from(threads).unwrap_or(u32::MAX);
    // SAFETY: all pointers are valid during the call, and no other code uses the collectors during the call.
    unsafe {
        let size = size_of::<vyre_optimize_item>();
        let status = vyre_optimize_many(&c_options, items.as_mut_ptr(), size, items.len() as u32, threads);
        let has_failed = items.iter().any(|item| !item.status.is_null()); // otherwise, `status` reports wrong options
        let mut results = Vec::new();
        let mut panic = None;
        for (mut item, collector) in items.into_iter().zip(collectors) {
            let output = take_bytes(&mut item.out);
            let reason = if has_failed { item.status } else { status };
            results.push(if reason.is_null() { Ok(output) } else { Err(copy_status(reason, collector.diagnostics)) });
            vyre_status_free(item.status);
            panic = panic.or(collector.panic);
        }
        vyre_status_free(status);
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
        results
    }
}
