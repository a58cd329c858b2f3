//! Requests that are under way, and whether their answers are still wanted.

use std::time::Duration;

use base::{Bias, ByteOffset, Span};
use model::{ModelId, NextEditFormat};
use text::{Change, Snapshot};

use crate::cache::Place;
use crate::context::Window;
use crate::validate::{Flow, Stream};
use crate::{Scene, SuggestionId};

/// More typed than this, and an answer is for another text.
const MOST_TYPED: usize = 64;
/// Longer answers of models that predict edits are cut, in bytes.
const MOST_BYTES: usize = 64 * 1_024;

/// Names a request within one run of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// A request that is under way.
pub(super) struct Flight {
    pub(super) request: RequestId,
    pub(super) purpose: Purpose,
    pub(super) model: ModelId,
    pub(super) asked: Duration,
    pub(super) expected: Expected,
}

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The text of now.
    Now,
    /// The text behind taking this suggestion.
    Ahead(SuggestionId),
    /// Another answer beside the one that is shown.
    Another,
}

/// What comes back.
pub(super) enum Expected {
    /// What fills a gap.
    Gap {
        /// Where it was asked for.
        place: Place,
        /// The same, in the text of now.
        at: ByteOffset,
        stream: Box<Stream>,
    },
    /// A region anew.
    NextEdit {
        format: NextEditFormat,
        window: Box<Window>,
        /// The text it was asked for, and what happened to that since.
        since: (Snapshot, Change),
        text: String,
    },
}

impl Flight {
    /// Takes in a piece of the answer.
    pub(super) fn push(&mut self, piece: &str) -> Flow {
        match &mut self.expected {
            Expected::Gap { stream, .. } => stream.push(piece),
            Expected::NextEdit { text, .. } => {
                text.push_str(piece);
                match text.len() > MOST_BYTES {
                    true => Flow::Enough,
                    false => Flow::More,
                }
            }
        }
    }

    /// The answer begins again.
    pub(super) fn restart(&mut self) {
        match &mut self.expected {
            Expected::Gap { stream, .. } => stream.restart(),
            Expected::NextEdit { text, .. } => text.clear(),
        }
    }

    /// The text in front changed.
    pub(super) fn follow(&mut self, change: &Change) {
        match &mut self.expected {
            Expected::Gap { at, .. } => {
                if !matches!(self.purpose, Purpose::Ahead(_)) {
                    *at = change.map(*at, Bias::Left);
                }
            }
            Expected::NextEdit { since, .. } => {
                since.1 = since.1.compose(change);
            }
        }
    }

    /// Whether the answer may still be worth something. One that was asked for ahead becomes one for now when its text
    /// is there.
    pub(super) fn is_wanted(
        &mut self,
        scene: &Scene,
        now: &Place,
        offers: &[SuggestionId],
    ) -> bool {
        match &mut self.expected {
            Expected::Gap { place, at, stream } => {
                if let Purpose::Ahead(basis) = self.purpose {
                    if offers.contains(&basis) {
                        return true;
                    }
                    if !place.leads_to("", now) {
                        return false;
                    }
                    self.purpose = Purpose::Now;
                    *at = scene.caret;
                }
                if scene.caret < *at || scene.caret - *at > MOST_TYPED {
                    return false;
                }
                let typed = scene.snapshot.text(Span::new(*at, scene.caret));
                let came = stream.raw();
                let agrees = came.starts_with(typed.as_ref()) || typed.starts_with(came);
                agrees && place.leads_to(&typed, now)
            }
            Expected::NextEdit {
                since: (_, change), ..
            } => {
                let typed: usize = change.splices.iter().map(|it| it.new.len()).sum();
                change.splices.len() <= 2 && typed <= MOST_TYPED
            }
        }
    }
}
