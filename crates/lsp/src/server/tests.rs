//! A client against a scripted server over pipes.

mod annotations;
mod answers;
mod diagnostics;
mod edits;
mod fake;
mod folders;
mod hostile;
mod hostile_answers;
mod life;
mod regressions;
mod requests;
mod shapes;
mod typed_annotations;
mod typed_random;
mod watched_files;
mod workspace_diagnostics;
