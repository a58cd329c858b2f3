//! Requests in flight, and what their responses may still be used for.

use std::time::Duration;

use model::{ModelId, NextEditFormat};
use text::{Change, Snapshot};

use crate::SuggestionId;
use crate::cache::CaretText;
use crate::context::PromptWindow;
use crate::validate::{CompletionStream, StreamControl};

/// Maximum bytes typed since the request before its response no longer applies.
const MAX_TYPED_BYTES: usize = 64;
/// Maximum bytes of a next-edit response; longer ones are cut.
const MAX_REPLY_BYTES: usize = 64 * 1_024;

/// Identifies a request within one run of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// A request in flight.
pub(super) struct ActiveRequest {
    pub(super) id: RequestId,
    pub(super) purpose: RequestPurpose,
    pub(super) model: ModelId,
    pub(super) asked: Duration,
    pub(super) expected: ExpectedReply,
    /// Whether the response cannot answer the current position, only an earlier one.
    pub(super) is_outdated: bool,
}

/// What the response to a request may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestValue {
    /// To complete the current text, or the text after the visible suggestion.
    Current,
    /// To complete the text at its position if the user returns there.
    Later,
    None,
}

/// Purpose of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestPurpose {
    /// Completes the current text.
    Now,
    /// Continues the text after the given suggestion is accepted.
    Ahead(SuggestionId),
    /// Provides an alternative to the visible suggestion.
    Another,
}

/// Expected response of a request, with its state so far.
pub(super) enum ExpectedReply {
    /// Text that fills a gap.
    Gap {
        /// Position for which it was requested.
        caret_text: CaretText,
        stream: Box<CompletionStream>,
    },
    /// A region rewritten by the model.
    NextEdit {
        format: NextEditFormat,
        window: Box<PromptWindow>,
        /// Snapshot for which it was requested, and the change since then.
        since: (Snapshot, Change),
        text: String,
    },
}

impl ActiveRequest {
    /// Adds a fragment of the response.
    pub(super) fn push(&mut self, piece: &str) -> StreamControl {
        match &mut self.expected {
            ExpectedReply::Gap { stream, .. } => stream.push(piece),
            ExpectedReply::NextEdit { text, .. } => {
                text.push_str(piece);
                if text.len() > MAX_REPLY_BYTES {
                    StreamControl::Enough
                } else {
                    StreamControl::More
                }
            }
        }
    }

    /// Discards the response so far, as it starts over.
    pub(super) fn restart(&mut self) {
        match &mut self.expected {
            ExpectedReply::Gap { stream, .. } => stream.restart(),
            ExpectedReply::NextEdit { text, .. } => text.clear(),
        }
    }

    /// Maps the request through a change of the current text.
    pub(super) fn follow(&mut self, change: &Change) {
        if let ExpectedReply::NextEdit { since, .. } = &mut self.expected {
            since.1 = since.1.compose(change);
        }
    }

    /// Returns what the response may be used for at the position `now`. A request ahead becomes a
    /// current one when its text is reached.
    pub(super) fn value(&mut self, now: &CaretText, candidates: &[SuggestionId]) -> RequestValue {
        match &self.expected {
            ExpectedReply::Gap { caret_text, stream } => {
                let came = stream.raw();
                let typed = caret_text.typed_since(now);
                let agrees = |typed: &str| came.starts_with(typed) || typed.starts_with(came);
                match (typed.filter(|typed| agrees(typed)), self.purpose) {
                    (Some(_), RequestPurpose::Another) => RequestValue::Current,
                    (Some(_), _) => {
                        self.purpose = RequestPurpose::Now;
                        RequestValue::Current
                    }
                    (None, RequestPurpose::Ahead(basis)) if candidates.contains(&basis) => {
                        RequestValue::Current
                    }
                    (None, _) => RequestValue::Later,
                }
            }
            ExpectedReply::NextEdit {
                since: (_, change), ..
            } => {
                let typed: usize = change.splices.iter().map(|it| it.new.len()).sum();
                if change.splices.len() <= 2 && typed <= MAX_TYPED_BYTES {
                    RequestValue::Current
                } else {
                    RequestValue::None
                }
            }
        }
    }
}
