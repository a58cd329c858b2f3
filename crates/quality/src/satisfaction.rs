//! Satisfaction with a turn of an agent, from what the user does next.
//!
//! No model is asked. Each rule answers only where its sign is clear; everything else is unknown, and so is a turn with
//! signs of both kinds. The rules know English and German.
//!
//! Invariant: a turn without a clear sign is unknown. Unknown turns count in no share.
//! Start at `judge`; `Satisfaction::with_actions` adds what the user did instead of writing.

mod words;

use std::collections::BTreeSet;

use crate::record::JudgementRecord;

/// Time in milliseconds after the end of a turn within which the next message is about it.
const MESSAGE_MS: u64 = 600_000;
/// Time in milliseconds within which an edit by hand is a correction.
const EDIT_MS: u64 = 60_000;
/// Minimum number of content words of a message that can change the topic.
const MIN_TOPIC_WORDS: usize = 4;

/// A turn as it ended.
#[derive(Clone, Copy, Debug, Default)]
pub struct TurnFacts<'a> {
    /// The text of the prompt.
    pub prompt: &'a str,
    /// The paths of the files that the turn changed.
    pub changed: &'a [String],
}

/// The user's actions after a turn, besides messages.
#[derive(Clone, Copy, Debug, Default)]
pub struct TurnActions {
    /// Time until the user edited a file that the turn had changed, in milliseconds.
    pub edited_ms: Option<u64>,
    /// Whether the user took changes of the turn back.
    pub is_undone: bool,
}

/// The judgement of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Satisfaction {
    /// The user was satisfied.
    Satisfied(Sign),
    /// The user was not satisfied.
    Dissatisfied(Sign),
    /// No sign is clear.
    Unknown,
}

/// The sign from which a judgement follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sign {
    /// The user thanked or praised.
    Praised,
    /// The user asked to commit, push or merge the work.
    Accepted,
    /// The user began another topic.
    MovedOn,
    /// The user took changes back.
    Undone,
    /// The user pasted an error after a turn that changed files.
    PastedError,
    /// The user objected.
    Objected,
    /// The user edited a changed file by hand at once.
    EditedByHand,
}

impl Sign {
    /// All signs.
    const ALL: [Self; 7] = [
        Self::Praised,
        Self::Accepted,
        Self::MovedOn,
        Self::Undone,
        Self::PastedError,
        Self::Objected,
        Self::EditedByHand,
    ];

    /// Returns the name of the sign.
    pub fn name(self) -> &'static str {
        match self {
            Self::Praised => "praised",
            Self::Accepted => "accepted",
            Self::MovedOn => "moved_on",
            Self::Undone => "undone",
            Self::PastedError => "pasted_error",
            Self::Objected => "objected",
            Self::EditedByHand => "edited_by_hand",
        }
    }

    fn is_good(self) -> bool {
        match self {
            Self::Praised | Self::Accepted | Self::MovedOn => true,
            Self::Undone | Self::PastedError | Self::Objected | Self::EditedByHand => false,
        }
    }
}

impl JudgementRecord {
    /// Returns the row of a judgement by rules.
    pub fn by_rules(session: &str, turn: u64, judged: Satisfaction, at_ms: u64) -> Self {
        let sign = match judged {
            Satisfaction::Satisfied(sign) | Satisfaction::Dissatisfied(sign) => sign.name(),
            Satisfaction::Unknown => "",
        };
        Self {
            session: session.to_owned(),
            turn,
            sign: sign.to_owned(),
            at_ms,
        }
    }

    /// Returns the judgement. A sign of a newer program is unknown.
    pub fn satisfaction(&self) -> Satisfaction {
        match Sign::ALL.iter().find(|sign| sign.name() == self.sign) {
            Some(sign) if sign.is_good() => Satisfaction::Satisfied(*sign),
            Some(sign) => Satisfaction::Dissatisfied(*sign),
            None => Satisfaction::Unknown,
        }
    }
}

/// Counts of judgements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SatisfactionCounts {
    /// Number of satisfied turns.
    pub satisfied: u64,
    /// Number of dissatisfied turns.
    pub dissatisfied: u64,
    /// Number of turns about which nothing is known.
    pub unknown: u64,
}

impl SatisfactionCounts {
    /// Counts a judgement.
    pub fn add(&mut self, satisfaction: Satisfaction) {
        match satisfaction {
            Satisfaction::Satisfied(_) => self.satisfied += 1,
            Satisfaction::Dissatisfied(_) => self.dissatisfied += 1,
            Satisfaction::Unknown => self.unknown += 1,
        }
    }

    /// Returns the share of satisfied turns among the known ones; `None` without any.
    pub fn share(&self) -> Option<f64> {
        let known = self.satisfied + self.dissatisfied;
        (known > 0).then(|| self.satisfied as f64 / known as f64)
    }
}

/// Judges a turn by the next message of the user, which came this many milliseconds after its end.
pub fn judge(turn: &TurnFacts<'_>, (after_ms, message): (u64, &str)) -> Satisfaction {
    if after_ms > MESSAGE_MS {
        return Satisfaction::Unknown;
    }
    let text = message.trim();
    match (good_sign(turn, text), bad_sign(turn, text)) {
        (Some(_), Some(_)) | (None, None) => Satisfaction::Unknown,
        (Some(sign), None) => Satisfaction::Satisfied(sign),
        (None, Some(sign)) => Satisfaction::Dissatisfied(sign),
    }
}

impl Satisfaction {
    /// Returns the judgement that follows from the words and the actions. Contradictions are unknown.
    pub fn with_actions(self, actions: &TurnActions) -> Self {
        let is_edited = actions.edited_ms.is_some_and(|after| after <= EDIT_MS);
        let sign = match (actions.is_undone, is_edited) {
            (true, _) => Sign::Undone,
            (false, true) => Sign::EditedByHand,
            (false, false) => return self,
        };
        match self {
            Self::Satisfied(_) => Self::Unknown,
            Self::Dissatisfied(known) => Self::Dissatisfied(known),
            Self::Unknown => Self::Dissatisfied(sign),
        }
    }
}

fn bad_sign(turn: &TurnFacts<'_>, text: &str) -> Option<Sign> {
    if words::has_error(text) && !turn.changed.is_empty() {
        Some(Sign::PastedError)
    } else if words::objects(text) {
        Some(Sign::Objected)
    } else {
        None
    }
}

fn good_sign(turn: &TurnFacts<'_>, text: &str) -> Option<Sign> {
    if words::has_error(text) {
        None
    } else if words::praises(text) {
        Some(Sign::Praised)
    } else if words::accepts(text) {
        Some(Sign::Accepted)
    } else if moves_on(turn, text) {
        Some(Sign::MovedOn)
    } else {
        None
    }
}

/// Returns whether a message begins another topic: a request that shares no content word with the prompt or the names
/// of the changed files, and does not refer to anything before it.
fn moves_on(turn: &TurnFacts<'_>, text: &str) -> bool {
    let asks = text.contains('?');
    if asks || words::refers_back(text) || !words::is_request(text) {
        return false;
    }
    let new = words::content(text);
    let mut old: BTreeSet<String> = words::content(turn.prompt);
    old.extend(turn.changed.iter().flat_map(|path| words::content(path)));
    new.len() >= MIN_TOPIC_WORDS && new.is_disjoint(&old)
}

#[cfg(test)]
mod tests;
