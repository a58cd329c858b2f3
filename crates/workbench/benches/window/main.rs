//! Measures keys in a whole window, with real shaping and no screen: the window has a file tree, tabs, the board of
//! eight running agents, an index at work, and Git marks.
//!
//! `frames`: how often the frame of a key shows the suggestion known by then, and the time that Tab adds to that frame.
//! `conflicts`: a text with 200 conflicts, from the key to the scene with their blocks.
//! `flood`: key to scene with an open list of completions while a language server floods the window with diagnostics.
//! `git REPOSITORY`: key to scene while a status, a blame and a log run; `cargo xtask bench git` makes the repository.
//! `sessions`: key to scene while eight agents stream into a long transcript, the opening of that transcript, and the
//! list of many sessions.
//! `terminal`: key to cell in a terminal, and frames and keys of the editor while a program floods a terminal.
//! `typing FILE…`: key to scene and CPU time of all threads, with Tab, without it, and in the editor alone, interleaved;
//! `cargo xtask bench type` writes the files.
//!
//! Prints one line of JSON for each figure.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a benchmark reads clocks, makes files and prints; it is not linked into the product"
)]

mod agents;
mod alone;
mod conflicts;
mod flood;
mod frames;
mod git_beside;
mod index_beside;
mod known_model;
mod person;
mod printed;
mod project_folder;
mod sessions;
mod stage;
mod terminal;
mod typing;
mod world;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Cargo passes `--bench` as well.
    let arguments = std::env::args().skip(1).filter(|it| it != "--bench");
    let arguments: Vec<String> = arguments.collect();
    match arguments.split_first() {
        Some((mode, [])) if mode == "frames" => frames::run(),
        Some((mode, [])) if mode == "conflicts" => conflicts::run(),
        Some((mode, [])) if mode == "flood" => flood::run(),
        Some((mode, [repository])) if mode == "git" => git_beside::run(Path::new(repository)),
        Some((mode, [])) if mode == "sessions" => sessions::run(),
        Some((mode, [])) if mode == "terminal" => terminal::run(),
        Some((mode, [])) if mode == flood::SERVER => flood::server::run(),
        Some((mode, files)) if mode == "typing" && !files.is_empty() => {
            let files: Vec<&Path> = files.iter().map(Path::new).collect();
            typing::run(&files);
        }
        _ => {
            eprintln!(
                "usage: window conflicts | window flood | window frames | window git REPOSITORY | window sessions | window terminal | window typing FILE…"
            );
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
