//! What a change asks for and where it came from.
//!
//! Must not know: the clock. Whoever edits says when.

use base::Span;

/// Puts `text` in place of the bytes of `span`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What goes away, in the revision the edit is applied to.
    pub span: Span,
    /// What comes instead.
    pub text: String,
}

impl Edit {
    /// An edit that puts `text` in place of `span`.
    pub fn new(span: Span, text: impl Into<String>) -> Self {
        Self {
            span,
            text: text.into(),
        }
    }
}

/// Whose hand changed the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Author {
    /// The person at the keyboard.
    User,
    /// A coding agent: which conversation, and which turn of it.
    Agent {
        /// The conversation.
        session: u64,
        /// The turn within the conversation.
        turn: u32,
    },
    /// A formatter, or fixes applied on save.
    Formatter,
    /// A command run in a shell.
    Shell,
    /// The file changed on disk and was read again.
    Disk,
}

/// How an edit came about; decides which edits share an undo step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EditKind {
    /// Characters typed one after the other.
    Typing,
    /// Characters deleted one after the other.
    Deleting,
    /// Everything else: always a step of its own.
    Other,
}

/// Milliseconds since a moment that the caller chooses, usually the Unix epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub u64);

/// Who edits, how, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Whose edit it is.
    pub author: Author,
    /// How it came about.
    pub kind: EditKind,
    /// When it happened.
    pub at: Timestamp,
}

impl Origin {
    /// The person, with an edit that is neither typing nor deleting.
    pub fn user(at: Timestamp) -> Self {
        Self::new(Author::User, EditKind::Other, at)
    }

    /// The person typing.
    pub fn typing(at: Timestamp) -> Self {
        Self::new(Author::User, EditKind::Typing, at)
    }

    /// The person deleting.
    pub fn deleting(at: Timestamp) -> Self {
        Self::new(Author::User, EditKind::Deleting, at)
    }

    /// An origin of these three parts.
    pub fn new(author: Author, kind: EditKind, at: Timestamp) -> Self {
        Self { author, kind, at }
    }
}
