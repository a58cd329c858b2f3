//! Tests of the machine.

mod differential;
mod fixture;
mod generator;
mod neovim;
