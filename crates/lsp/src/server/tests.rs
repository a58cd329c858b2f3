//! A client against a scripted server over pipes.

mod diagnostics;
mod fake;
mod hostile;
mod life;
mod requests;
