//! One feature set for outside crates, whichever program is built.
//!
//! Cargo compiles a crate once for every set of its features, and unites only the features of the packages that are
//! built together. Without this crate, `cargo run -p cli` after `make run` compiles hundreds of crates again.
//! Invariant: a crate is named here only if each program that depends on this crate uses it anyway.
//! Start at the manifest; the test `features` in `xtask` names what is missing there.
