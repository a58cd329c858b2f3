//! The wire protocol of Anthropic Messages.

mod cache;
mod decode;
mod encode;

pub(crate) use decode::decoder;
pub(crate) use encode::encode;

#[cfg(test)]
mod tests;
