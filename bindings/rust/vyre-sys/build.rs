// SPDX-License-Identifier: Apache-2.0
//! Finds libvyre: in `VYRE_LIB_DIR`, otherwise with pkg-config.
use std::path::Path;
use std::process::{exit, Command};

/// Returns the folder of libvyre, or "" if the linker searches it anyway.
fn find_library() -> Result<String, String> {
    if let Ok(dir) = std::env::var("VYRE_LIB_DIR") {
        let is_there = Path::new(&dir).join("libvyre.so").exists();
        return if is_there { Ok(dir) } else { Err(format!("VYRE_LIB_DIR: there is no libvyre.so in '{dir}'")) };
    }
    match Command::new("pkg-config").args(["--libs-only-L", "vyre"]).output() {
        Ok(output) if output.status.success() => {
            Ok(String::from_utf8_lossy(&output.stdout).trim().trim_start_matches("-L").to_string())
        }
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_string()),
        Err(error) => Err(format!("cannot run pkg-config: {error}")),
    }
}

fn main() {
    println!("cargo:rerun-if-env-changed=VYRE_LIB_DIR");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    if std::env::var_os("CARGO_FEATURE_LINK").is_none() {
        return;
    }
    let dir = find_library().unwrap_or_else(|reason| {
        eprintln!("cannot find libvyre: {reason}");
        eprintln!("Fix: set VYRE_LIB_DIR to the folder of libvyre.so, or PKG_CONFIG_PATH to the folder of vyre.pc");
        exit(1);
    });
    if !dir.is_empty() {
        println!("cargo:rustc-link-search=native={dir}");
        println!("cargo:libdir={dir}");
    }
}
