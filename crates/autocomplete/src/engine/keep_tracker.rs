//! Measures how much of an accepted suggestion remains in the text after a while.
//!
//! Limitations: text counts as removed if its file is closed too early; at most `MAX_TEXTS` texts
//! are tracked.

use std::collections::VecDeque;
use std::time::Duration;

use base::{AbsPath, Bias, Span};
use text::Change;

use super::TabEvent;
use crate::{SuggestionId, SuggestionSource};

/// Times after acceptance at which the remainder is measured.
const LOOKS: [Duration; 2] = [Duration::from_secs(10), Duration::from_secs(30)];
/// Maximum number of texts tracked at once.
const MAX_TEXTS: usize = 64;

/// Accepted texts that are being tracked.
#[derive(Debug, Default)]
pub(super) struct KeepTracker {
    taken: VecDeque<AcceptedText>,
}

#[derive(Debug)]
struct AcceptedText {
    id: SuggestionId,
    source: SuggestionSource,
    file: Option<AbsPath>,
    at: Duration,
    bytes: usize,
    /// Spans that remain, sorted.
    left: Vec<Span>,
    looks: usize,
}

impl KeepTracker {
    /// Starts tracking the text that a change inserted by accepting a suggestion.
    pub(super) fn record_accepted(
        &mut self,
        (id, source): (SuggestionId, &SuggestionSource),
        file: Option<&AbsPath>,
        change: &Change,
        now: Duration,
    ) {
        let left: Vec<Span> = change.splices.iter().map(|splice| splice.new).collect();
        let bytes = left.iter().map(Span::len).sum();
        if bytes == 0 {
            return;
        }
        if self.taken.len() == MAX_TEXTS {
            self.taken.pop_front();
        }
        self.taken.push_back(AcceptedText {
            id,
            source: source.clone(),
            file: file.cloned(),
            at: now,
            bytes,
            left,
            looks: 0,
        });
    }

    /// Updates the tracked spans after a change.
    pub(super) fn edited(&mut self, file: Option<&AbsPath>, change: &Change) {
        for taken in self.taken.iter_mut().filter(|it| it.file.as_ref() == file) {
            let left = std::mem::take(&mut taken.left);
            taken.left = left
                .into_iter()
                .flat_map(|span| left_of(span, change))
                .collect();
        }
    }

    /// Returns the measurements that are due.
    pub(super) fn due(&mut self, now: Duration) -> Vec<TabEvent> {
        let mut due = Vec::new();
        for taken in &mut self.taken {
            while let Some(after) = LOOKS.get(taken.looks).filter(|it| taken.at + **it <= now) {
                taken.looks += 1;
                due.push(TabEvent::Kept {
                    id: taken.id,
                    source: taken.source.clone(),
                    after: *after,
                    bytes: taken.bytes,
                    kept: taken.left.iter().map(Span::len).sum(),
                });
            }
        }
        self.taken.retain(|taken| taken.looks < LOOKS.len());
        due
    }

    /// Returns the time of the next measurement.
    pub(super) fn next(&self) -> Option<Duration> {
        let next = |taken: &AcceptedText| Some(taken.at + *LOOKS.get(taken.looks)?);
        self.taken.iter().filter_map(next).min()
    }
}

/// Returns the parts of a span that survive a change, in the text after it.
fn left_of(span: Span, change: &Change) -> Vec<Span> {
    let mut left = Vec::new();
    let mut start = span.start;
    let inside = change
        .splices
        .iter()
        .filter(|splice| splice.old.start < span.end && span.start < splice.old.end);
    let cuts: Vec<Span> = inside.map(|splice| splice.old).collect();
    let insertions = change.splices.iter().filter(|splice| {
        splice.old.is_empty() && span.start < splice.old.start && splice.old.start < span.end
    });
    let mut cuts: Vec<Span> = cuts
        .into_iter()
        .chain(insertions.map(|it| it.old))
        .collect();
    cuts.sort();
    for cut in cuts {
        left.push(Span::new(start, cut.start.max(start)));
        start = cut.end.min(span.end);
    }
    left.push(Span::new(start, span.end));
    left.retain(|span| !span.is_empty());
    let moved = left.into_iter().map(|span| {
        let start = change.map(span.start, Bias::Right);
        Span::new(start, change.map(span.end, Bias::Left).max(start))
    });
    moved.collect()
}

#[cfg(test)]
mod tests;
