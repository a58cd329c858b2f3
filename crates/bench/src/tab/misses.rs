//! Causes for which the engine shows nothing right before a keystroke.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use super::future::Future;
use super::keys::Session;

/// Maximum number of responses and refusals that are compared with a keystroke.
const MAX_COMPARED: usize = 500;

/// Cause of a miss.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MissCause {
    /// The keystroke does not continue the previous edit.
    FirstOfRun,
    /// The visible suggestion begins with other text.
    WrongShown,
    /// Validation refused text that begins with the keystroke, by the named rule.
    Refused {
        rule: &'static str,
        /// Whether all of the refused text is typed afterwards.
        is_right: bool,
    },
    /// A response that begins with the keystroke arrived but was neither shown nor refused.
    NotShown,
    /// A response that begins with the keystroke is expected.
    InFlight,
    /// Only responses that are wrong or for another position are expected.
    UselessInFlight,
    /// The engine waits before it sends a request.
    Delay,
    /// No request was sent.
    NotAsked,
}

/// A text proposed after an event.
pub(super) struct ProposedText {
    pub(super) event: usize,
    /// Bytes after the event at which it begins.
    pub(super) ahead: usize,
    pub(super) text: String,
}

/// Texts proposed in a session, as far as the engine reported them.
#[derive(Default)]
pub(super) struct Proposals {
    received: Vec<ProposedText>,
    refused: Vec<(ProposedText, &'static str)>,
}

impl ProposedText {
    /// Whether the text continues what is typed up to the keystroke `ix`, and predicts it.
    pub(super) fn predicts(&self, session: &Session, future: &Future, ix: usize) -> bool {
        let (then, key) = (&session.events[self.event], &session.events[ix]);
        let start = then.run_end + self.ahead;
        let place = key.run_end - key.inserted.len();
        if then.run != key.run || start > place {
            return false;
        }
        let typed = future
            .truth(session, self.event, self.ahead)
            .get(..place - start);
        let rest = typed.and_then(|typed| self.text.strip_prefix(typed));
        rest.is_some_and(|rest| rest.starts_with(&key.inserted))
    }
}

impl Proposals {
    /// Records a response that was handed to the engine.
    pub(super) fn received(&mut self, text: ProposedText) {
        self.received.push(text);
    }

    /// Records a text that validation refused.
    pub(super) fn refused(&mut self, text: ProposedText, rule: &'static str) {
        self.refused.push((text, rule));
    }

    /// Returns why no text that predicts the keystroke `ix` is shown, although one was proposed.
    pub(super) fn cause(&self, session: &Session, future: &Future, ix: usize) -> Option<MissCause> {
        let mut refused = self.refused.iter().rev().take(MAX_COMPARED);
        let refused = refused.find(|(text, _)| text.predicts(session, future, ix));
        if let Some((text, rule)) = refused {
            let truth = future.truth(session, text.event, text.ahead);
            return Some(MissCause::Refused {
                rule,
                is_right: truth.starts_with(&text.text),
            });
        }
        let mut received = self.received.iter().rev().take(MAX_COMPARED);
        let is_received = received.any(|text| text.predicts(session, future, ix));
        is_received.then_some(MissCause::NotShown)
    }
}

/// Counts the misses among the keystrokes that a peer covers, the most frequent cause first.
pub(super) fn count(
    misses: &[(usize, MissCause)],
    covered_by_peer: &HashSet<usize>,
) -> Vec<(MissCause, usize)> {
    let mut counts: BTreeMap<MissCause, usize> = BTreeMap::new();
    for (_, cause) in misses.iter().filter(|(ix, _)| covered_by_peer.contains(ix)) {
        *counts.entry(cause.clone()).or_default() += 1;
    }
    let mut counts: Vec<(MissCause, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}

impl fmt::Display for MissCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FirstOfRun => f.write_str("first key at a new position"),
            Self::WrongShown => f.write_str("wrong suggestion shown"),
            Self::Refused {
                rule,
                is_right: true,
            } => write!(f, "right text refused ({rule})"),
            Self::Refused {
                rule,
                is_right: false,
            } => {
                write!(f, "text refused that is wrong further on ({rule})")
            }
            Self::NotShown => f.write_str("response received, not shown"),
            Self::InFlight => f.write_str("response in flight"),
            Self::UselessInFlight => f.write_str("useless response in flight"),
            Self::Delay => f.write_str("delay before the request"),
            Self::NotAsked => f.write_str("no request"),
        }
    }
}
