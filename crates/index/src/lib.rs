//! The semantic index of a codebase: files split into chunks, retrieved by words and by embeddings.
//!
//! Knows: `trigram`, `project`, `git`, `syntax`, `text`, `host`. Must not know: agents, windows, how anything
//! is drawn.
//! Invariant: everything on disk can be rebuilt; damaged or foreign data and data of another
//! version is rebuilt.
//! Invariant: an answer does not depend on the history of changes that led to the index's state.
//! Start at `Index`; `prepare` makes a file's record, `store` keeps the records, `search` and
//! `rank` answer queries.

mod answer;
mod build;
mod changes;
mod chunk;
mod chunk_set;
mod delta;
pub mod embedding;
mod hit;
mod index;
mod lexical;
mod mapped_file;
#[cfg(feature = "minilm")]
pub mod minilm;
mod options;
mod policy;
mod prepare;
mod query;
mod rank;
mod record;
mod record_log;
mod repo_layout;
mod rerank;
mod rough;
mod search;
mod similarity;
mod state;
mod status;
mod store;
mod symbols;
mod view;
pub mod wordpiece;
pub mod words;
mod worker;

pub use hit::{ScoreParts, SearchAnswer, SearchHit};
pub use index::{Index, WeakIndex};
pub use options::{IndexOptions, TextSearch, root_folder, trigram_folder};
pub use query::{IndexQuery, QueryMode};
pub use rank::RankWeights;
pub use rerank::{Encoder, RERANK_HITS, RerankError, Reranker};
pub use status::{IndexPhase, IndexStatus, LeftOut};
/// The prefilter of text search, for programs that search once, without an open index.
pub use trigram;
