//! Tests of the machine.

mod commands;
mod differential;
pub(crate) mod fixture;
mod generator;
mod neovim;
mod recorded;
