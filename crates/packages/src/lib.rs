//! Packages of registries as training data: pinned lists, their archives and licences.
//!
//! Knows: files, the registries' clients. Must not know: what is learned from a package.
//! Invariant: a list names every package with its version, the SHA-256 of its archive and its
//! licence, and only permissive licences.
//! Start at `sources::read`; `fetch::run` downloads what is missing, `archive::each_file` reads it.
#![expect(
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "trainers talk to the terminal and start programs; none of it is linked into the product"
)]

pub mod archive;
mod error;
pub mod fetch;
pub mod sources;

pub use error::Error;
