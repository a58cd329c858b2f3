//! Edits and their origin.
//!
//! Must not know: the clock. The caller passes the time.

use base::Span;

/// An edit that replaces the bytes of `span` by `text`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Span to replace, in the revision to which the edit is applied.
    pub span: Span,
    /// Replacement for the span.
    pub text: String,
}

impl Edit {
    /// Creates an edit that replaces `span` by `text`.
    pub fn new(span: Span, text: impl Into<String>) -> Self {
        Self {
            span,
            text: text.into(),
        }
    }
}

/// The author of an edit: the user, an agent in one turn, a formatter, a shell command, or the file
/// on disk. `Buffer::undo_by` reverts by author.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Author {
    /// The user at the keyboard.
    User,
    /// A coding agent, identified by session and turn.
    Agent {
        /// Id of the session.
        session: u64,
        /// Number of the turn within the session.
        turn: u32,
    },
    /// A formatter, or fixes applied on save.
    Formatter,
    /// A command run in a shell.
    Shell,
    /// The file changed on disk and was read again.
    Disk,
}

/// The kind of an edit, which decides on its undo step: typing and deleting join earlier edits of
/// their kind, any other edit is a step of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EditKind {
    /// Characters typed in succession.
    Typing,
    /// Characters deleted in succession.
    Deleting,
    /// Anything else: always a step of its own.
    Other,
}

/// Milliseconds since an epoch chosen by the caller, usually the Unix epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub u64);

/// Author, kind and time of an edit; the buffer notes it in the undo tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EditOrigin {
    /// Author of the edit.
    pub author: Author,
    /// Kind of the edit.
    pub kind: EditKind,
    /// Time of the edit.
    pub at: Timestamp,
}

impl EditOrigin {
    /// Creates the origin of a user's edit other than typing or deleting.
    pub fn user(at: Timestamp) -> Self {
        Self::new(Author::User, EditKind::Other, at)
    }

    /// Creates the origin of a user's typing.
    pub fn typing(at: Timestamp) -> Self {
        Self::new(Author::User, EditKind::Typing, at)
    }

    /// Creates the origin of a user's deletion.
    pub fn deleting(at: Timestamp) -> Self {
        Self::new(Author::User, EditKind::Deleting, at)
    }

    /// Creates an origin from its parts.
    pub fn new(author: Author, kind: EditKind, at: Timestamp) -> Self {
        Self { author, kind, at }
    }
}
