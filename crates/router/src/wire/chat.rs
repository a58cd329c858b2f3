//! The wire protocol of OpenAI Chat Completions, in the dialects of its servers.

mod decode;
mod encode;
mod slots;

pub(crate) use decode::{decoder, usage};
pub(crate) use encode::encode;

#[cfg(test)]
mod tests;
