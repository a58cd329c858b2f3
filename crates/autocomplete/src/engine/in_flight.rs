//! Requests in flight, and whether their responses are still wanted.

use std::time::Duration;

use base::{Bias, ByteOffset, Span};
use model::{ModelId, NextEditFormat};
use text::{Change, Snapshot};

use crate::cache::CaretText;
use crate::context::PromptWindow;
use crate::validate::{CompletionStream, StreamControl};
use crate::{EditorState, SuggestionId};

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
        /// The same position in the current text.
        at: ByteOffset,
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
        match &mut self.expected {
            ExpectedReply::Gap { at, .. } => {
                if !matches!(self.purpose, RequestPurpose::Ahead(_)) {
                    *at = change.map(*at, Bias::Left);
                }
            }
            ExpectedReply::NextEdit { since, .. } => {
                since.1 = since.1.compose(change);
            }
        }
    }

    /// Whether the response may still be useful. A request ahead becomes a current one when its
    /// text is reached.
    pub(super) fn is_wanted(
        &mut self,
        state: &EditorState,
        now: &CaretText,
        candidates: &[SuggestionId],
    ) -> bool {
        match &mut self.expected {
            ExpectedReply::Gap {
                caret_text,
                at,
                stream,
            } => {
                if let RequestPurpose::Ahead(basis) = self.purpose {
                    if candidates.contains(&basis) {
                        return true;
                    }
                    if !caret_text.leads_to("", now) {
                        return false;
                    }
                    self.purpose = RequestPurpose::Now;
                    *at = state.caret;
                }
                if state.caret < *at || state.caret - *at > MAX_TYPED_BYTES {
                    return false;
                }
                let typed = state.snapshot.text(Span::new(*at, state.caret));
                let came = stream.raw();
                let agrees = came.starts_with(typed.as_ref()) || typed.starts_with(came);
                agrees && caret_text.leads_to(&typed, now)
            }
            ExpectedReply::NextEdit {
                since: (_, change), ..
            } => {
                let typed: usize = change.splices.iter().map(|it| it.new.len()).sum();
                change.splices.len() <= 2 && typed <= MAX_TYPED_BYTES
            }
        }
    }
}
