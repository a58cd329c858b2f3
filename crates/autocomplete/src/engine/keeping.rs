//! Text that was taken from suggestions, watched for a while to see what is kept of it.
//!
//! Limitations: what is watched counts as gone where its file is closed before the time; at most `MOST` are watched.

use std::collections::VecDeque;
use std::time::Duration;

use base::{AbsPath, Bias, Span};
use text::Change;

use super::Happened;
use crate::{Source, SuggestionId};

/// When it is looked at.
const LOOKS: [Duration; 2] = [Duration::from_secs(10), Duration::from_secs(30)];
/// Texts that are watched at once.
const MOST: usize = 64;

/// What is watched.
#[derive(Debug, Default)]
pub(super) struct Keeping {
    taken: VecDeque<Taken>,
}

#[derive(Debug)]
struct Taken {
    id: SuggestionId,
    source: Source,
    file: Option<AbsPath>,
    at: Duration,
    bytes: usize,
    /// What stands there still, sorted.
    left: Vec<Span>,
    looks: usize,
}

impl Keeping {
    /// Some of a suggestion was taken by a change.
    pub(super) fn taken(
        &mut self,
        (id, source): (SuggestionId, &Source),
        file: Option<&AbsPath>,
        change: &Change,
        now: Duration,
    ) {
        let left: Vec<Span> = change.splices.iter().map(|splice| splice.new).collect();
        let bytes = left.iter().map(Span::len).sum();
        if bytes == 0 {
            return;
        }
        if self.taken.len() == MOST {
            self.taken.pop_front();
        }
        self.taken.push_back(Taken {
            id,
            source: source.clone(),
            file: file.cloned(),
            at: now,
            bytes,
            left,
            looks: 0,
        });
    }

    /// A text changed.
    pub(super) fn edited(&mut self, file: Option<&AbsPath>, change: &Change) {
        for taken in self.taken.iter_mut().filter(|it| it.file.as_ref() == file) {
            let left = std::mem::take(&mut taken.left);
            taken.left = left
                .into_iter()
                .flat_map(|span| left_of(span, change))
                .collect();
        }
    }

    /// What is to be told by now.
    pub(super) fn due(&mut self, now: Duration) -> Vec<Happened> {
        let mut told = Vec::new();
        for taken in &mut self.taken {
            while let Some(after) = LOOKS.get(taken.looks).filter(|it| taken.at + **it <= now) {
                taken.looks += 1;
                told.push(Happened::Kept {
                    id: taken.id,
                    source: taken.source.clone(),
                    after: *after,
                    bytes: taken.bytes,
                    kept: taken.left.iter().map(Span::len).sum(),
                });
            }
        }
        self.taken.retain(|taken| taken.looks < LOOKS.len());
        told
    }

    /// When the next is to be looked at.
    pub(super) fn next(&self) -> Option<Duration> {
        let next = |taken: &Taken| Some(taken.at + *LOOKS.get(taken.looks)?);
        self.taken.iter().filter_map(next).min()
    }
}

/// What a change leaves of a span, in the text behind it.
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
