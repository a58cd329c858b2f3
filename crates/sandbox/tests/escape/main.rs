//! Attempts to escape the sandbox, each compared with a control run without one, which must
//! succeed.
//!
//! `BURIN_BATTERY=all` runs every attempt for every user in every scene; otherwise each attempt
//! runs for every user in one scene, in turn. `BURIN_RACES` and `BURIN_KILLS` set the number of
//! repetitions of races and kills.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "figures are for whoever reads the run; attacks and their controls touch the machine itself, in scenes of their own"
)]

mod attempts;
mod battery;
mod effects;
mod everyday;
mod hostile;
mod kills;
mod layers;
mod planted;
mod policies;
mod races;
mod scene;
mod work;
