//! What models answered lately, by the text around the caret.
//!
//! An answer also fits where some of it has been typed since: what is left of it is handed out.
//! Invariant: at most `MOST` answers and `MOST_BYTES`; the least lately used go first.

use std::collections::VecDeque;

use base::{AbsPath, Bias, Span};
use model::ModelId;

use crate::Scene;

/// Answers that are kept.
const MOST: usize = 256;
/// Bytes of all answers together.
const MOST_BYTES: usize = 512 * 1_024;
/// So much of the text before the caret and behind it must be the same, in bytes.
const BEFORE: usize = 256;
const BEHIND: usize = 128;
/// Closing signs that an editor may have put behind the caret since.
const MOST_CLOSERS: usize = 3;

/// A caret with the text around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    path: Option<AbsPath>,
    before: String,
    behind: String,
    /// Whether the text begins within what is kept of it.
    is_start: bool,
}

/// Answers by place and model.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    /// The latest used last.
    answers: VecDeque<Answer>,
    bytes: usize,
}

#[derive(Debug)]
struct Answer {
    place: Place,
    model: ModelId,
    text: String,
}

impl Place {
    /// The caret's place in a scene.
    pub(crate) fn of(scene: &Scene) -> Self {
        let snapshot = &scene.snapshot;
        let caret = scene.caret.min(snapshot.len());
        // Some more than is compared, since an answer may have been typed in part.
        let start = snapshot.clip(caret - 2 * BEFORE, Bias::Right);
        let end = snapshot.clip(caret + BEHIND, Bias::Left);
        Self {
            path: scene.path.clone(),
            before: snapshot.text(Span::new(start, caret)).into_owned(),
            behind: snapshot.text(Span::new(caret, end)).into_owned(),
            is_start: start.0 == 0,
        }
    }

    /// What of `text`, an answer for this place, is left at `now`: all of it if that is the same place, the rest where
    /// its beginning has been typed, `None` where anything else happened.
    pub(crate) fn rest<'a>(&self, text: &'a str, now: &Place) -> Option<&'a str> {
        if self.path != now.path || !self.is_before(now) {
            return None;
        }
        let mut cuts = text.char_indices().map(|(at, _)| at).chain([text.len()]);
        cuts.find(|cut| self.is_typed(&text[..*cut], now))
            .map(|cut| &text[cut..])
    }

    /// Whether the text behind is the same, but for closing signs that came.
    fn is_before(&self, now: &Place) -> bool {
        let closers = |ch: &char| matches!(ch, ')' | ']' | '}' | '>' | '"' | '\'' | '`');
        let most = now
            .behind
            .chars()
            .take(MOST_CLOSERS)
            .take_while(closers)
            .count();
        (0..=most).any(|count| {
            let now = &now.behind[count..];
            let length = now.len().min(self.behind.len());
            let (a, b) = (now.as_bytes(), self.behind.as_bytes());
            // The end of what is kept of both is no difference.
            a[..length] == b[..length] && (length + MOST_CLOSERS >= BEHIND || a.len() == b.len())
        })
    }

    /// Whether `typed`, put at the place, leads to `now`.
    pub(crate) fn leads_to(&self, typed: &str, now: &Place) -> bool {
        self.path == now.path && self.is_before(now) && self.is_typed(typed, now)
    }

    /// Whether `typed` was put at the place and leads to `now`.
    fn is_typed(&self, typed: &str, now: &Place) -> bool {
        let Some(before) = now.before.strip_suffix(typed) else {
            return false;
        };
        let length = before.len().min(self.before.len()).min(BEFORE);
        let (a, b) = (before.as_bytes(), self.before.as_bytes());
        let is_whole = length == BEFORE || self.is_start && now.is_start && a.len() == b.len();
        is_whole && a[a.len() - length..] == b[b.len() - length..]
    }
}

impl Cache {
    /// Keeps an answer; an empty one says that there is nothing to say.
    pub(crate) fn put(&mut self, place: Place, model: ModelId, text: String) {
        self.answers.retain(|answer| {
            let is_same = answer.place == place && answer.model == model && answer.text == text;
            if is_same {
                self.bytes -= answer.text.len();
            }
            !is_same
        });
        self.bytes += text.len();
        self.answers.push_back(Answer { place, model, text });
        while self.answers.len() > MOST || self.bytes > MOST_BYTES {
            let Some(oldest) = self.answers.pop_front() else {
                return;
            };
            self.bytes -= oldest.text.len();
        }
    }

    /// What is left of each answer that fits a place, the latest first. An empty one was asked for at this very place.
    pub(crate) fn find(&mut self, now: &Place, model: &ModelId) -> Vec<String> {
        let mut found = Vec::new();
        let mut used = Vec::new();
        for (ix, answer) in self.answers.iter().enumerate().rev() {
            if answer.model != *model {
                continue;
            }
            let rest = answer.place.rest(&answer.text, now);
            // An answer that was typed to its end says nothing of what follows.
            if let Some(rest) = rest.filter(|rest| !rest.is_empty() || answer.text.is_empty())
                && !found.iter().any(|known| known == rest)
            {
                found.push(rest.to_owned());
                used.push(ix);
            }
        }
        for ix in used.into_iter().take(1) {
            if let Some(answer) = self.answers.remove(ix) {
                self.answers.push_back(answer);
            }
        }
        found
    }
}

#[cfg(test)]
mod tests;
