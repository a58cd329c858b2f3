//! OpenAI Chat Completions, in the dialect of whichever server speaks it.

mod decode;
mod encode;
mod slots;

pub(crate) use decode::{decoder, usage};
pub(crate) use encode::encode;

#[cfg(test)]
mod tests;
