//! Sessions from an editor's view: a scripted model behind the real tools, protocol messages in
//! front. Every message that is sent matches the protocol's schema.

mod asking;
mod peer;
mod remembered;
mod turns;
