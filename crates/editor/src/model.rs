//! A text as shared by its views: the document, its syntax tree, its changes since the last commit, its
//! diagnostics, inlay hints and annotations.
//!
//! Invariant: the syntax tree receives every change in order, before any observer.
//! Invariant: every change is emitted as one `ModelEvent::Edited`; a journal records on that event,
//! through `mutate`.
//! Start at `DocumentModel::mutate`, through which every change passes.

mod annotations;
mod diagnostics;
mod editing;
mod first_frame;
mod gutter_marks;
mod hunks;
mod inlay_hints;
mod known_windows;
mod line_authors;
mod parsing;
mod resting;
mod saving;
mod settling;

pub use self::annotations::{
    AnnotationAnswer, AnnotationExtent, AnnotationKind, AnnotationQuery, AnnotationSet,
    AnnotationSource, AnnotationSources,
};
pub use self::diagnostics::{DiagnosticCounts, DiagnosticOrigin, DiagnosticSet, PlacedDiagnostic};
pub use self::first_frame::{HeldWork, hold_work};
pub use self::gutter_marks::{GutterIcon, GutterMark};
pub use self::inlay_hints::InlayHintSource;
pub use self::line_authors::LineAuthor;

use std::sync::Arc;

use base::AbsPath;
use gpui_kit::{AppContext as _, Context, Entity, EventEmitter, Task};
use host::{Clock, Files};
use project::{Document, DocumentState};
use syntax::{Language, SyntaxSnapshot, SyntaxTree};
use text::{Change, RowHunk, Snapshot, Timestamp};
use ui::RestTimer;

pub(crate) use annotations::{AnnotationValue, AnnotationsChanged};
pub(crate) use editing::EditSelections;
pub(crate) use inlay_hints::{InlayHintsChanged, PlacedHint, hint_bias};
pub(crate) use known_windows::map_window;
pub use saving::SaveFailure;

/// Files, clock and recovery folder of a document, so that tests can fake them.
#[derive(Clone)]
pub struct DocumentEnvironment {
    /// File system for reading and writing.
    pub files: Arc<dyn Files>,
    /// Source of the current time.
    pub clock: Arc<dyn Clock>,
    /// Folder for recovery records, written before a file is overwritten in place.
    pub recovery_folder: AbsPath,
}

/// An event of a document model, for its views and the window.
#[derive(Clone, Debug)]
pub enum ModelEvent {
    /// The text changed. Views already at the resulting revision may ignore it.
    Edited(Change),
    /// The text was written to its file.
    Saved,
    /// The document's state relative to its file changed: modified, clean, in conflict, deleted or
    /// renamed.
    StateChanged,
    /// The text was not edited for a while: the time for work that reads all of it.
    Rested,
    /// A newer tree or another language is available.
    SyntaxUpdated,
    /// The changes since the last commit were recomputed.
    HunksUpdated,
    /// The diagnostics were replaced.
    DiagnosticsUpdated,
    /// The marks or the authors of lines in the gutter were replaced.
    GutterMarksUpdated,
}

/// An open document and all that its views share: text, syntax tree, changes since the last commit.
/// Every change of the document goes through this entity.
pub struct DocumentModel {
    document: Document,
    environment: DocumentEnvironment,
    language: Option<Language>,
    tree: Option<SyntaxTree>,
    /// Cached snapshot of `tree`, so that queries are free.
    syntax: Option<SyntaxSnapshot>,
    parse_task: Option<Task<()>>,
    /// Number of parses to run in the background immediately, after one took too long here.
    parse_elsewhere: u32,
    /// Cost of the last parse after an edit, in progress checks.
    parse_checks: usize,
    settle_times: settling::SettleTimes,
    rest: RestTimer<DocumentModel>,
    head: Option<Snapshot>,
    hunks: Arc<[RowHunk]>,
    hunk_task: Option<Task<()>>,
    diagnostics: diagnostics::DocumentDiagnostics,
    gutter_marks: gutter_marks::GutterMarks,
    line_authors: line_authors::LineAuthors,
    inlay_hints: inlay_hints::InlayHints,
    annotations: annotations::DocumentAnnotations,
    /// State last emitted, to emit changes only.
    reported: (DocumentState, bool, Option<AbsPath>),
}

impl EventEmitter<ModelEvent> for DocumentModel {}

impl DocumentModel {
    /// Creates a model for a document, with the language detected from its name and first line.
    /// Parsing begins at once.
    pub fn new(
        document: Document,
        environment: DocumentEnvironment,
        cx: &mut Context<Self>,
    ) -> Self {
        let language = language_of(&document);
        let mut model = Self {
            reported: state_of(&document),
            document,
            environment,
            language: None,
            tree: None,
            syntax: None,
            parse_task: None,
            parse_elsewhere: 0,
            parse_checks: 0,
            settle_times: settling::SettleTimes::default(),
            rest: resting::timer(),
            head: None,
            hunks: Arc::from([]),
            hunk_task: None,
            diagnostics: diagnostics::DocumentDiagnostics::default(),
            gutter_marks: gutter_marks::GutterMarks::default(),
            line_authors: line_authors::LineAuthors::default(),
            inlay_hints: inlay_hints::InlayHints::default(),
            annotations: annotations::DocumentAnnotations::default(),
        };
        model.use_language(language, cx);
        model
    }

    /// Creates a model entity for a document.
    pub fn open(
        document: Document,
        environment: DocumentEnvironment,
        cx: &mut gpui_kit::App,
    ) -> Entity<Self> {
        cx.new(|cx| Self::new(document, environment, cx))
    }

    /// Returns the underlying document.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// Returns the current snapshot of the text.
    pub fn snapshot(&self) -> Snapshot {
        self.document.snapshot()
    }

    /// Returns the environment of this document.
    pub fn environment(&self) -> &DocumentEnvironment {
        &self.environment
    }

    /// Returns the language of the text; `None` for plain text.
    pub fn language(&self) -> Option<Language> {
        self.language
    }

    /// Returns the syntax snapshot. Its offsets are those of the current text, while its structure
    /// may be that of an older text. Returns `None` for plain text and large files.
    pub fn syntax(&self) -> Option<&SyntaxSnapshot> {
        self.syntax.as_ref()
    }

    /// Returns the changes since the last commit, by rows. Mapped through edits immediately, and
    /// recomputed soon after.
    pub fn hunks(&self) -> &Arc<[RowHunk]> {
        &self.hunks
    }

    /// Returns the committed text, with which the current text is compared. Returns `None` if the
    /// file is untracked.
    pub fn head(&self) -> Option<&Snapshot> {
        self.head.as_ref()
    }

    /// Records that Burin renamed the file. Switches to the language detected from the new name, or
    /// keeps the present language if none is detected.
    pub fn set_path(&mut self, path: AbsPath, cx: &mut Context<Self>) {
        self.mutate(cx, |document| document.set_path(path));
        let language = language_of(&self.document);
        if language.is_some() && language != self.language {
            self.use_language(language, cx);
        }
    }

    /// Sets the encoding and byte order mark with which the next save writes the file. The text
    /// does not change.
    pub fn set_format(&mut self, format: text::FileFormat, cx: &mut Context<Self>) {
        self.mutate(cx, |document| document.set_format(format));
    }

    /// Returns the current wall-clock time, for the origin of an edit.
    pub(crate) fn now(&self) -> Timestamp {
        Timestamp(self.environment.clock.wall_ms())
    }

    /// Lets `change` modify the document, then updates the tree and emits events for what changed.
    /// Returns the result of `change`.
    pub fn mutate<R>(
        &mut self,
        cx: &mut Context<Self>,
        change: impl FnOnce(&mut Document) -> R,
    ) -> R {
        let before = self.document.snapshot();
        let result = change(&mut self.document);
        self.after(&before, cx);
        result
    }

    fn after(&mut self, before: &Snapshot, cx: &mut Context<Self>) {
        let after = self.document.snapshot();
        if after.revision() != before.revision() {
            let since = self.document.buffer().changes_since(before.revision());
            let change = since.unwrap_or_else(|| whole_change(before, &after));
            self.rest.put_off(cx);
            self.follow_syntax(before, &after, &change, cx);
            self.follow_hunks(before, &after, &change);
            self.diagnostics.map(&change);
            self.gutter_marks.follow(&change);
            self.line_authors.follow(&change, &after);
            self.inlay_hints.follow(&change, &after);
            self.annotations.follow(&change, &after);
            cx.emit(ModelEvent::Edited(change));
            cx.notify();
        }
        self.report_state(cx);
    }

    fn report_state(&mut self, cx: &mut Context<Self>) {
        // The state rarely changes between two keystrokes, and the comparison does not allocate.
        let state = state_of(&self.document);
        if state != self.reported {
            self.reported = state;
            cx.emit(ModelEvent::StateChanged);
            cx.notify();
        }
    }
}

/// Returns the parts of a document whose change is reported: its state, whether it is modified, and
/// its path.
fn state_of(document: &Document) -> (DocumentState, bool, Option<AbsPath>) {
    (
        document.state(),
        document.is_dirty(),
        document.path().cloned(),
    )
}

/// Detects the language from the path and the first 200 chars of the first row. Returns `None` for
/// a large or untitled document, and if the language is unknown.
fn language_of(document: &Document) -> Option<Language> {
    if document.is_large() {
        return None;
    }
    let snapshot = document.snapshot();
    let first: String = snapshot
        .chars_at(base::ByteOffset(0))
        .take(200)
        .take_while(|char| *char != '\n')
        .collect();
    let path = document.path()?;
    syntax::language_for(path.as_path(), &first)
}

/// Returns a change of the whole text, for when the log does not reach back far enough.
fn whole_change(before: &Snapshot, after: &Snapshot) -> Change {
    let mut change = Change::none(before.revision());
    change.after = after.revision();
    change.splices.push(text::Splice {
        old: before.full_span(),
        new: after.full_span(),
    });
    change
}

#[cfg(test)]
mod tests;
