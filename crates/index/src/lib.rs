//! The semantic index of a codebase: files cut into chunks, found again by words and by meaning.
//!
//! Knows: `project`, `git`, `syntax`, `text`, `host`. Must not know: agents, windows, how anything is drawn.
//! Invariant: everything kept on disk can be made again; what is torn, foreign or of another version is rebuilt.
//! Invariant: an answer is the same whatever way the index came to what it holds.
//! Start at `Index`; what a file becomes is in `prepare`, what is kept in `store`, how a question is answered in
//! `search` and `rank`.

mod answer;
mod bits;
mod build;
mod changes;
mod chunk;
mod delta;
mod disk;
mod entries;
mod ground;
mod hit;
mod index;
mod map;
mod meaning;
#[cfg(feature = "minilm")]
pub mod minilm;
mod policy;
mod prepare;
mod query;
mod rank;
mod record;
mod rough;
mod search;
mod second_look;
mod shared;
mod sieve;
mod status;
mod store;
mod symbols;
pub mod table;
pub mod trigram;
mod view;
pub mod wordpiece;
pub mod words;
mod worker;

pub use hit::{Answer, Hit, Parts};
pub use index::{Index, Options, TextSearch, root_folder, trigram_folder};
pub use query::{Means, Query};
pub use rank::Weights;
pub use second_look::{Encoder, LOOKED_AT, SecondLook};
pub use status::{LeftOut, Phase, Status};
