//! The wire protocol of Gemini's `streamGenerateContent`.

mod decode;
mod encode;

pub(crate) use decode::decoder;
pub(crate) use encode::encode;

#[cfg(test)]
mod tests;
