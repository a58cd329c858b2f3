//! How a text came to change.

/// Who or what changed a text, as far as Tab cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// The person typed, deleted or pasted.
    Typed,
    /// The person undid or redid something.
    Undone,
    /// A suggestion was taken, whole or in part.
    Accepted,
    /// An agent, a formatter, the disk, a replacement in many files.
    Other,
}
