//! The state of an answer.

/// The state of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerProgress {
    /// The model is still writing.
    Partial,
    /// The answer has ended.
    Complete,
}
