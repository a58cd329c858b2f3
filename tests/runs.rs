//! Agents at work as a whole program: the real `burin-agent run` or the real workshop of sessions, with real
//! commands and files, against a scripted server on loopback.
//!
//! The default counts are small; these variables set others: `BURIN_KILLS`, `BURIN_CANCELS`, `BURIN_FLOOD_MB`,
//! `BURIN_CALLS`, `BURIN_TURNS`.

mod cancels;
mod diagnostics;
mod kills;
mod memory;
mod modes;
mod prefix;
mod reviewed;
mod seat;
mod wires;
mod world;
