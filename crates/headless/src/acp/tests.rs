//! Sessions as an editor has them: a scripted model behind the real tools, the protocol's lines in front. Every line
//! that is sent fits the protocol's schema.

mod asking;
mod peer;
mod remembered;
mod turns;
