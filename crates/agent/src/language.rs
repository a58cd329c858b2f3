//! Queries to the language servers of a session's tree, as plain values.
//!
//! Knows: paths relative to the root with `/`; lines and columns in chars, counted from 1. Must not know: the protocol,
//! processes, which server answers.
//! Invariant: an answer is about the files as they were when it was asked for.
//! Start at `LanguageQueries`; `EditDiagnostics` compares the diagnostics before and after an edit.

mod edit_diagnostics;
#[cfg(test)]
pub(crate) mod scripted;

use std::time::Duration;

use futures::future::BoxFuture;

use crate::error::Error;

pub(crate) use edit_diagnostics::EditDiagnostics;

/// The language servers of a tree, which start with the first query.
pub trait LanguageQueries: Send + Sync {
    /// Opens files in their servers, so that later queries are answered sooner. Returns at once. Files without a server
    /// are ignored.
    fn open(&self, paths: Vec<String>);

    /// Returns the diagnostics of all open files. Opens `paths` first, and waits until their reports are about the
    /// current texts, at most for `time`; without `paths`, it waits for the reports of all open files.
    fn diagnostics(
        &self,
        paths: Vec<String>,
        time: Duration,
    ) -> BoxFuture<'static, Result<DiagnosticsAnswer, Error>>;

    /// Returns the places that have this relation to the symbol at `position`; empty if there are none.
    fn locations(
        &self,
        relation: SymbolRelation,
        position: SymbolPosition,
    ) -> BoxFuture<'static, Result<Vec<SymbolLocation>, Error>>;

    /// Returns the description of the symbol at `position`; `None` if there is none.
    fn hover(&self, position: SymbolPosition) -> BoxFuture<'static, Result<Option<String>, Error>>;

    /// Returns the changes that give the symbol at `position` another name. Changes nothing.
    fn rename(
        &self,
        position: SymbolPosition,
        new_name: String,
    ) -> BoxFuture<'static, Result<Vec<TextChange>, Error>>;

    /// Returns the code actions for lines of a file.
    fn code_actions(
        &self,
        lines: LineRange,
    ) -> BoxFuture<'static, Result<Vec<OfferedAction>, Error>>;

    /// Returns the changes of the code action with this title for lines of a file. Changes nothing.
    fn code_action_changes(
        &self,
        lines: LineRange,
        title: String,
    ) -> BoxFuture<'static, Result<Vec<TextChange>, Error>>;
}

/// The relation of places to a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolRelation {
    /// Its definition.
    Definition,
    /// Its uses and its declaration.
    References,
}

/// The position of a symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolPosition {
    /// The file.
    pub path: String,
    /// The line, counted from 1.
    pub line: u32,
    /// The column in chars, counted from 1.
    pub column: u32,
}

/// Whole lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineRange {
    /// The file.
    pub path: String,
    /// The first line, counted from 1.
    pub first: u32,
    /// The last line.
    pub last: u32,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SymbolLocation {
    /// The file: relative to the root, or absolute if it is outside.
    pub path: String,
    /// The line, counted from 1.
    pub line: u32,
    /// The text of the line; empty for a file outside the root or one that may hold secrets.
    pub text: String,
}

/// A change of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextChange {
    /// The file.
    pub path: String,
    /// The text before the change; `None` if the change creates the file.
    pub old: Option<String>,
    /// The text after the change.
    pub new: String,
}

/// A code action that a server offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedAction {
    /// The title, by which it is chosen.
    pub title: String,
    /// The kind, such as `quickfix`; empty if the server names none.
    pub kind: String,
    /// Whether the server recommends it.
    pub is_preferred: bool,
}

/// The diagnostics of the open files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiagnosticsAnswer {
    /// The files whose reports are about their current texts, sorted by path.
    pub files: Vec<ReportedFile>,
    /// The requested files without such a report, with a clause that says why.
    pub unreported: Vec<(String, String)>,
}

/// The diagnostics of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedFile {
    /// The file.
    pub path: String,
    /// Its diagnostics, sorted by line.
    pub diagnostics: Vec<FileDiagnostic>,
}

/// A diagnostic of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDiagnostic {
    /// The line, counted from 1.
    pub line: u32,
    /// Whether it is an error rather than a warning or a hint.
    pub is_error: bool,
    /// The message of the server, with the tool that found the problem and its code.
    pub message: String,
}
