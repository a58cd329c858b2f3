//! Nothing: the stories are tests, see `main.rs` beside this folder.
