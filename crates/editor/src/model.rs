//! One text as its views share it: the document, its syntax tree, its changes since the last commit.
//!
//! Invariant: the syntax tree hears of every change in order, before anybody else.
//! Invariant: every change leaves as one `ModelEvent::Edited`; whoever keeps a journal records on that
//! event, through `mutate`.
//! Start at `DocumentModel::mutate`, through which every change passes.

mod editing;
mod first_frame;
mod hunks;
mod parsing;
mod saving;

pub use self::first_frame::{HeldWork, hold_work};

use std::sync::Arc;

use base::AbsPath;
use gpui_kit::{AppContext as _, Context, Entity, EventEmitter, Task};
use host::{Clock, Files};
use project::{Document, DocumentState};
use syntax::{Language, SyntaxSnapshot, SyntaxTree};
use text::{Change, RowHunk, Snapshot, Timestamp};

pub(crate) use editing::Around;
pub use saving::SaveFailure;

/// The world outside, as a document needs it.
#[derive(Clone)]
pub struct Environment {
    /// Where files are read and written.
    pub files: Arc<dyn Files>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Where a record goes before a file is overwritten in place.
    pub recovery_folder: AbsPath,
}

/// What views and panels hear from a document.
#[derive(Clone, Debug)]
pub enum ModelEvent {
    /// The text changed. Views that already know the revision it leads to may ignore it.
    Edited(Change),
    /// The text was written to its file.
    Saved,
    /// The document stands otherwise to its file now: dirty, clean, in conflict, gone, renamed.
    StateChanged,
    /// There is a newer tree, or another language.
    SyntaxUpdated,
    /// The changes since the last commit were computed anew.
    HunksUpdated,
}

/// One text and everything its views share.
pub struct DocumentModel {
    document: Document,
    environment: Environment,
    language: Option<Language>,
    tree: Option<SyntaxTree>,
    /// What `tree` shows now, so that asking costs nothing.
    syntax: Option<SyntaxSnapshot>,
    parse_task: Option<Task<()>>,
    /// How many parses go to the background at once, since the last took too long here.
    parse_elsewhere: u32,
    settle_task: Option<Task<()>>,
    head: Option<Snapshot>,
    hunks: Arc<[RowHunk]>,
    hunk_task: Option<Task<()>>,
    /// What was last told about the state, to tell of changes only.
    told: (DocumentState, bool, Option<AbsPath>),
}

impl EventEmitter<ModelEvent> for DocumentModel {}

impl DocumentModel {
    /// A model of a document, with the language that its name and first line speak for.
    pub fn new(document: Document, environment: Environment, cx: &mut Context<Self>) -> Self {
        let language = language_of(&document);
        let mut model = Self {
            told: state_of(&document),
            document,
            environment,
            language: None,
            tree: None,
            syntax: None,
            parse_task: None,
            parse_elsewhere: 0,
            settle_task: None,
            head: None,
            hunks: Arc::from([]),
            hunk_task: None,
        };
        model.use_language(language, cx);
        model
    }

    /// An entity of such a model.
    pub fn open(
        document: Document,
        environment: Environment,
        cx: &mut gpui_kit::App,
    ) -> Entity<Self> {
        cx.new(|cx| Self::new(document, environment, cx))
    }

    /// The document itself.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// The text as it is now.
    pub fn snapshot(&self) -> Snapshot {
        self.document.snapshot()
    }

    /// The world this document lives in.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// The language of the text; none is plain text.
    pub fn language(&self) -> Option<Language> {
        self.language
    }

    /// What is known of the syntax; may show an older structure, with the offsets of now.
    pub fn syntax(&self) -> Option<&SyntaxSnapshot> {
        self.syntax.as_ref()
    }

    /// The changes since the last commit, by rows. Follow the text at once, and are right again soon.
    pub fn hunks(&self) -> &Arc<[RowHunk]> {
        &self.hunks
    }

    /// The text in the last commit, if it was handed in.
    pub fn head(&self) -> Option<&Snapshot> {
        self.head.as_ref()
    }

    /// Says that we renamed the file.
    pub fn set_path(&mut self, path: AbsPath, cx: &mut Context<Self>) {
        self.mutate(cx, |document| document.set_path(path));
        let language = language_of(&self.document);
        if language.is_some() && language != self.language {
            self.use_language(language, cx);
        }
    }

    /// Changes how the text will lie in its file: encoding, byte order mark.
    pub fn set_format(&mut self, format: text::FileFormat, cx: &mut Context<Self>) {
        self.mutate(cx, |document| document.set_format(format));
    }

    /// The time for an edit made now.
    pub(crate) fn now(&self) -> Timestamp {
        Timestamp(self.environment.clock.wall_ms())
    }

    /// Lets `change` do anything to the document, and afterwards tells everybody who must know.
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
            self.follow_syntax(before, &after, &change, cx);
            self.follow_hunks(before, &after, &change, cx);
            cx.emit(ModelEvent::Edited(change));
            cx.notify();
        }
        self.tell_state(cx);
    }

    fn tell_state(&mut self, cx: &mut Context<Self>) {
        // Between two keys nothing of this changes, and comparing costs no allocation.
        let state = state_of(&self.document);
        if state != self.told {
            self.told = state;
            cx.emit(ModelEvent::StateChanged);
            cx.notify();
        }
    }
}

fn state_of(document: &Document) -> (DocumentState, bool, Option<AbsPath>) {
    (
        document.state(),
        document.is_dirty(),
        document.path().cloned(),
    )
}

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

/// A change of everything, for when the log does not reach back far enough.
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
