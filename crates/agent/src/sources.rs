//! What a session is given of the world: the border to files, time and whatever is plugged in.

use std::sync::Arc;

use base::AbsPath;
use futures::future::BoxFuture;
use host::{Clock, Files};
use project::search::Sieve;

/// The world of a session. Everything optional is plugged in by whoever starts sessions.
pub struct Sources {
    /// Files.
    pub files: Arc<dyn Files>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// A private folder for whole outputs and recovery records.
    pub state: AbsPath,
    /// Texts that the editor holds and has not saved.
    pub buffers: Option<Arc<dyn Buffers>>,
    /// Search by meaning, and symbols.
    pub search: Option<Arc<dyn CodeSearch>>,
    /// What language servers and linters complain about.
    pub diagnostics: Option<Arc<dyn Diagnostics>>,
    /// Search on the web.
    pub web: Option<Arc<dyn WebSearch>>,
}

/// Texts of open files, newer than the disk. A file whose unsaved text differs from the disk is not edited;
/// one that is open and saved is edited on the disk, where the editor notices.
pub trait Buffers: Send + Sync {
    /// The text of an open file, if it is open.
    fn text(&self, path: &AbsPath) -> Option<String>;

    /// The open files whose text was not saved.
    fn unsaved(&self) -> Vec<AbsPath> {
        Vec::new()
    }
}

/// Search by meaning, below the root of whoever asks.
pub trait CodeSearch: Send + Sync {
    /// The best places for a question in plain words, the best first.
    fn by_meaning(
        &self,
        root: &AbsPath,
        question: String,
        folder: Option<String>,
        limit: usize,
    ) -> BoxFuture<'static, Result<Vec<Place>, String>>;
    /// Where symbols of this name, or like it, are defined.
    fn symbols(
        &self,
        root: &AbsPath,
        name: String,
        limit: usize,
    ) -> BoxFuture<'static, Result<Vec<Place>, String>>;
    /// What spares text search the files that cannot match, if the same index knows.
    fn sieve(&self, _root: &AbsPath) -> Option<Arc<dyn Sieve>> {
        None
    }
}

/// What language servers and linters complain about.
pub trait Diagnostics: Send + Sync {
    /// The complaints about these files, all known ones where none is named.
    fn of(&self, paths: Vec<AbsPath>) -> BoxFuture<'static, Result<Vec<Complaint>, String>>;
}

/// Search on the web.
pub trait WebSearch: Send + Sync {
    /// Pages for a question.
    fn search(&self, question: String) -> BoxFuture<'static, Result<Vec<Page>, String>>;
}

/// A page that a search on the web found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Its title.
    pub title: String,
    /// Its address.
    pub url: String,
    /// A piece of its text.
    pub excerpt: String,
}

/// A place in a file that a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Relative to the root.
    pub path: String,
    /// First and last line, from 1.
    pub lines: (u32, u32),
    /// The symbol there.
    pub symbol: Option<String>,
    /// Its text.
    pub text: String,
    /// How good it is; only comparable within one answer.
    pub score: f32,
}

/// A complaint about a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// Relative to the root.
    pub path: String,
    /// From 1.
    pub line: u32,
    /// Whether it is an error, not a warning.
    pub is_error: bool,
    /// Who complains, and about what.
    pub message: String,
}
