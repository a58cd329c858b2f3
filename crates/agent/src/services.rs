//! The services a session depends on: files, time and optional extensions.

use std::sync::Arc;

use base::AbsPath;
use futures::future::BoxFuture;
use host::{Clock, Files};
use project::search::Prefilter;

use crate::error::Error;

/// The services of a session. The code that starts sessions supplies the optional ones.
pub struct SessionServices {
    /// The file system the session works on.
    pub files: Arc<dyn Files>,
    /// The clock for all timestamps.
    pub clock: Arc<dyn Clock>,
    /// A private folder for saved outputs and recovery records.
    pub state: AbsPath,
    /// Texts of files with unsaved changes in the editor.
    pub buffers: Option<Arc<dyn Buffers>>,
    /// Semantic search and symbol search.
    pub search: Option<Arc<dyn CodeSearch>>,
}

/// Unsaved texts of open files, newer than the disk. A file whose unsaved text differs from the
/// disk is not edited; an open file without unsaved changes is edited on the disk, where the editor
/// notices.
pub trait Buffers: Send + Sync {
    /// Returns the editor's text of a file that is open with unsaved changes; `None` if it has none
    /// or is not open.
    fn text(&self, path: &AbsPath) -> Option<String>;

    /// Returns the open files with unsaved changes.
    fn unsaved(&self) -> Vec<AbsPath> {
        Vec::new()
    }
}

/// Semantic search and symbol search below a root. Paths in the answers are relative to that root.
pub trait CodeSearch: Send + Sync {
    /// Returns at most `limit` matches for a natural-language question, best first, of files below
    /// `folder` (relative to the root) if it is given. Empty if nothing matches.
    fn by_meaning(
        &self,
        root: &AbsPath,
        question: String,
        folder: Option<String>,
        limit: usize,
    ) -> BoxFuture<'static, Result<Vec<CodeMatch>, Error>>;
    /// Returns at most `limit` definitions of symbols with this or a similar name, best first.
    fn symbols(
        &self,
        root: &AbsPath,
        name: String,
        limit: usize,
    ) -> BoxFuture<'static, Result<Vec<CodeMatch>, Error>>;
    /// Returns a prefilter that excludes files from text search, if the index provides one.
    fn prefilter(&self, _root: &AbsPath) -> Option<Arc<dyn Prefilter>> {
        None
    }
}

/// A code location found by a search.
#[derive(Clone, Debug, PartialEq)]
pub struct CodeMatch {
    /// The path relative to the root.
    pub path: String,
    /// First and last line, from 1.
    pub lines: (u32, u32),
    /// The symbol at this location.
    pub symbol: Option<String>,
    /// The text of these lines.
    pub text: String,
    /// The relevance; only comparable within one answer.
    pub score: f32,
}
