//! Empty: the stories are tests; see `main.rs` in the package's root.
