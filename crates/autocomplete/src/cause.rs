//! Origin of a text change.

/// Origin of a text change, as far as Tab distinguishes it: typed, undone, an accepted suggestion,
/// or another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangeCause {
    /// The user typed, deleted or pasted.
    Typed,
    /// The user undid or redid an edit.
    Undone,
    /// The user accepted a suggestion, whole or in part.
    Accepted,
    /// Any other source: an agent, a formatter, a reload from disk, a project-wide replacement.
    Other,
}
