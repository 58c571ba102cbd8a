// SPDX-License-Identifier: Apache-2.0
//! Makes tests and examples find libvyre where the linker found it.
fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if let Ok(dir) = std::env::var("DEP_VYRE_LIBDIR") {
        println!("cargo:rustc-link-arg=-Wl,-rpath,{dir}");
    }
}
