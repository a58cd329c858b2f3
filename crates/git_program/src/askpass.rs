//! Prompts of Git and ssh for passwords, passphrases and host keys, answered by the user.
//!
//! Git and ssh run a small program with the prompt as its argument (`client`). It connects to a private socket of this
//! process, and prints the answer.
//! Invariant: an answer is in no argument, variable or log; its memory is wiped.
//! Invariant: a connection without the token of a running call gets no prompt shown.
//! Invariant: nothing here answers a prompt; a prompt that is dropped is refused.
//! Start at `PromptServer`.

mod client;
mod kind;
mod server;
#[cfg(test)]
mod tests;
mod wire;

pub use client::askpass_client;
pub use kind::PromptKind;
pub use server::{Prompt, PromptReply, PromptServer};

pub(crate) use server::PromptSession;
