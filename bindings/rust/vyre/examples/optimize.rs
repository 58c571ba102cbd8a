// SPDX-License-Identifier: Apache-2.0
//! Optimizes a shader: `optimize INPUT OUTPUT`.
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let shader = std::fs::read(&files[0])?;
    let spirv = vyre::Options::new().path(&files[0]).optimize(&shader)?;
    std::fs::write(&files[1], spirv)?;
    Ok(())
}
