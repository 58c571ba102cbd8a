// SPDX-License-Identifier: Apache-2.0
//! A call of the C library.
use crate::{Callback, Code, Diagnostic, Error, Options, Severity};
use std::any::Any;
use std::ffi::{CStr, CString};
use std::mem::{size_of, zeroed};
use std::os::raw::{c_char, c_void};
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::ptr::null;
use std::sync::{Mutex, PoisonError};
use vyre_sys::*;

/// Receives the diagnostics of a call.
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

/// # Safety
/// The diagnostic is one of the library.
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

/// Returns the error that a status stands for.
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

/// Optimizes a shader.
pub(crate) fn optimize(options: &Options, shader: &[u8]) -> Result<Vec<u8>, Error> {
    if let Some(wrong) = &options.wrong {
        let text = format!("the option '{wrong}' has a zero byte\nFix: remove the zero byte");
        return Err(Error { code: Code::Usage, text, diagnostics: Vec::new() });
    }
    let (plugins, defines) = (pointers(&options.plugins), pointers(&options.defines));
    let (specs, optional_specs) = (pointers(&options.specs), pointers(&options.optional_specs));
    let include_dirs = pointers(&options.include_dirs);
    let callback = options.callback.as_deref();
    let mut collector = Collector { callback, diagnostics: Vec::new(), panic: None };
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
        diagnostics: vyre_diagnostics { emit: Some(emit), user: (&mut collector as *mut Collector).cast() },
        allocator: null(),
    };
    // SAFETY: all pointers are valid during the call, and all zero is an empty array of bytes.
    let (output, error) = unsafe {
        let mut bytes: vyre_bytes = zeroed();
        let status = vyre_optimize(&c_options, shader.as_ptr().cast(), shader.len(), &mut bytes);
        let output = match bytes.size {
            0 => Vec::new(),
            size => std::slice::from_raw_parts(bytes.data.cast::<u8>(), size).to_vec(),
        };
        vyre_bytes_free(&mut bytes);
        let error = (!status.is_null()).then(|| copy_status(status, collector.diagnostics));
        vyre_status_free(status);
        (output, error)
    };
    match (collector.panic, error) {
        (Some(panic), _) => resume_unwind(panic),
        (None, Some(error)) => Err(error),
        (None, None) => Ok(output),
    }
}
