//! Does nothing: without a build script, Cargo ignores the build-dependencies.

fn main() {}
