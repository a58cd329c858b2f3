//! Find state of a view: query and matches, without windows or threads.
//!
//! Invariant: `matches` are sorted and disjoint, and are mapped through edits until a new search
//! finishes.

use std::sync::atomic::AtomicBool;

use base::{Bias, ByteOffset, Span};
use caret::find::{
    CaseMatching, FindQuery, LetterCase, MatchCount, MatchLimit, MatchList, Matcher, PatternKind,
    WordBounds,
};
use text::{Change, Snapshot};

/// Maximum number of matches that are kept. If a search finds more, the find bar shows the count as
/// `10000+`.
pub(crate) const MAX_MATCHES: usize = 10_000;

/// Maximum length of changed rows that are searched at once, in bytes.
const MAX_CHANGED_BYTES: usize = 16 * 1024;

/// Query and matches of the search in one view. The search itself runs elsewhere.
pub(crate) struct FindState {
    is_open: bool,
    pub(crate) text: String,
    pub(crate) replacement: String,
    pub(crate) pattern: PatternKind,
    pub(crate) case: CaseMatching,
    pub(crate) words: WordBounds,
    pub(crate) letter_case: LetterCase,
    /// Spans to search in; `None` for the whole text.
    pub(crate) within: Option<Vec<Span>>,
    matcher: Option<Matcher>,
    /// Error message of an invalid query.
    error: Option<String>,
    matches: Vec<Span>,
    is_complete: bool,
    /// Whether a search finished since the query changed.
    is_known: bool,
    /// Positions of matches as fractions of the text, at most one per thousandth.
    overview: Vec<f32>,
}

impl Default for FindState {
    fn default() -> Self {
        Self {
            is_open: false,
            text: String::new(),
            replacement: String::new(),
            pattern: PatternKind::Literal,
            case: CaseMatching::Insensitive,
            words: WordBounds::Anywhere,
            letter_case: LetterCase::AsTyped,
            within: None,
            matcher: None,
            error: None,
            matches: Vec::new(),
            is_complete: false,
            is_known: false,
            overview: Vec::new(),
        }
    }
}

impl FindState {
    /// Returns whether matches are shown.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Shows or hides matches. Hiding also discards the matches and the limit to selections.
    pub(crate) fn set_open(&mut self, is_open: bool) {
        self.is_open = is_open;
        if !is_open {
            self.within = None;
            self.matches.clear();
            self.overview.clear();
            self.is_known = false;
        }
    }

    /// Compiles the query after any part of it changed. An empty or invalid query clears the
    /// matches, and an invalid one also sets `error`.
    pub(crate) fn compile(&mut self) {
        self.is_known = false;
        self.matcher = None;
        self.error = None;
        if self.text.is_empty() {
            self.matches.clear();
            self.overview.clear();
            return;
        }
        let query = FindQuery {
            text: self.text.clone(),
            pattern: self.pattern,
            case: self.case,
            words: self.words,
        };
        match query.compile() {
            Ok(matcher) => self.matcher = Some(matcher),
            Err(error) => {
                self.error = Some(error.to_string());
                self.matches.clear();
                self.overview.clear();
            }
        }
    }

    /// Returns the compiled query. Returns `None` if the query is empty or invalid.
    pub(crate) fn matcher(&self) -> Option<&Matcher> {
        self.matcher.as_ref()
    }

    /// Returns the error message of an invalid query. Returns `None` for a valid or empty one.
    pub(crate) fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Returns the spans to search in: the selections to which the search is limited, or the whole
    /// text if there is no such limit.
    pub(crate) fn spans(&self, whole: Span) -> Vec<Span> {
        self.within.clone().unwrap_or_else(|| vec![whole])
    }

    /// Stores the result of a search. `overview` are the positions for the scrollbar, see
    /// `overview_of`.
    pub(crate) fn take(&mut self, found: MatchList, overview: Vec<f32>) {
        self.is_complete = found.is_complete;
        self.matches = found.spans;
        self.overview = overview;
        self.is_known = true;
    }

    /// Searches the rows that a change touched; `text` is the text after it. The matches must have
    /// followed the change. Does nothing until a search has finished, and if the rows are long: the
    /// next search of the whole text finds their matches.
    pub(crate) fn search_changed_rows(&mut self, text: &Snapshot, change: &Change) {
        let Some(matcher) = self.matcher.as_ref().filter(|_| self.is_known) else {
            return;
        };
        let rows = change.splices.iter().map(|splice| {
            let (start, end) = (splice.new.start, splice.new.end);
            let start = text.row_start(text.point_at(start).row);
            Span::new(start, text.row_end(text.point_at(end).row))
        });
        let rows: Vec<Span> = rows.collect();
        if rows.iter().map(Span::len).sum::<usize>() > MAX_CHANGED_BYTES {
            return;
        }
        let within = self.spans(text.full_span());
        for rows in rows {
            let within: Vec<Span> = within.iter().filter_map(|it| common(*it, rows)).collect();
            let limit = MatchLimit(MAX_MATCHES);
            let found = matcher.find_all(text, &within, limit, &AtomicBool::new(false));
            let first = self.matches.partition_point(|it| it.end < rows.start);
            let last = self.matches.partition_point(|it| it.start <= rows.end);
            self.matches.splice(first..last.max(first), found.spans);
        }
    }

    /// Returns all matches of the current query. Returns `None` if its search has not finished, or
    /// found more than `MAX_MATCHES`.
    pub(crate) fn complete(&self) -> Option<&[Span]> {
        (self.is_known && self.is_complete).then_some(&self.matches[..])
    }

    /// Returns the known matches that touch a span, in order. Returns an empty slice while matches
    /// are hidden.
    pub(crate) fn matches_in(&self, span: Span) -> &[Span] {
        if !self.is_open {
            return &[];
        }
        let first = self.matches.partition_point(|found| found.end < span.start);
        let last = self
            .matches
            .partition_point(|found| found.start <= span.end);
        self.matches.get(first..last).unwrap_or_default()
    }

    /// Returns the positions of matches as fractions of the text, from 0 to 1. Returns an empty
    /// slice while matches are hidden.
    pub(crate) fn overview(&self) -> &[f32] {
        if self.is_open { &self.overview } else { &[] }
    }

    /// Maps the matches through a change of the text. The mapped matches are used until a new
    /// search finishes.
    pub(crate) fn follow(&mut self, change: &Change) {
        if let Some(within) = &mut self.within {
            within.iter_mut().for_each(|span| {
                let start = change.map(span.start, Bias::Left);
                *span = Span::new(start, change.map(span.end, Bias::Right).max(start));
            });
        }
        let (Some(first), Some(last)) = (change.splices.first(), change.splices.last()) else {
            return;
        };
        let from = self
            .matches
            .partition_point(|found| found.end < first.old.start);
        let to = self
            .matches
            .partition_point(|found| found.start <= last.old.end);
        let shifted = |offset: ByteOffset| last.new.end + (offset - last.old.end);
        for found in &mut self.matches[to..] {
            *found = Span::new(shifted(found.start), shifted(found.end));
        }
        // Deleted matches are dropped; the search will find matches in inserted text.
        let mut near: Vec<Span> = self.matches[from..to]
            .iter()
            .map(|found| (found.is_empty(), change.map_span(*found)))
            .filter(|(was_empty, found)| *was_empty || !found.is_empty())
            .map(|(_, found)| found)
            .collect();
        near.dedup();
        self.matches.splice(from..to, near);
    }

    /// Returns the summary for the find bar: `3 of 17`, `17`, `no matches`. `at` is the selection.
    pub(crate) fn summary(&self, at: Span) -> String {
        if self.text.is_empty() || self.error.is_some() {
            return String::new();
        }
        if !self.is_known {
            return "…".to_owned();
        }
        let count = MatchCount {
            number: self.matches.len(),
            is_capped: !self.is_complete,
        };
        if count.number == 0 {
            return "no matches".to_owned();
        }
        match self
            .matches
            .binary_search_by_key(&at.start, |found| found.start)
        {
            Ok(ix) if self.matches[ix] == at => format!("{} of {count}", ix + 1),
            _ => count.to_string(),
        }
    }

    /// Returns the match after (`forward`) or before the selection, wrapping around. Returns `None`
    /// if `matches` is empty. `matches` must be sorted.
    pub(crate) fn step(matches: &[Span], selected: Span, forward: bool) -> Option<Span> {
        if forward {
            let next =
                matches.partition_point(|found| found.start < selected.end || *found == selected);
            matches.get(next).or(matches.first()).copied()
        } else {
            let before =
                matches.partition_point(|found| found.end <= selected.start && *found != selected);
            let before = before.checked_sub(1).or(matches.len().checked_sub(1))?;
            matches.get(before).copied()
        }
    }
}

/// Returns the part of a span that lies in another; `None` if they do not touch.
fn common(a: Span, b: Span) -> Option<Span> {
    let (start, end) = (a.start.max(b.start), a.end.min(b.end));
    (start <= end).then(|| Span::new(start, end))
}

/// Returns the positions of matches as fractions of a text of `len` bytes, at most one per
/// thousandth.
pub(crate) fn overview_of(spans: &[Span], len: ByteOffset) -> Vec<f32> {
    let mut marks: Vec<u32> = spans
        .iter()
        .map(|span| (span.start.0 as f64 / len.0.max(1) as f64 * 1000.0) as u32)
        .collect();
    marks.dedup();
    marks.into_iter().map(|mark| mark as f32 / 1000.0).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use base::{ByteOffset, Span};
    use caret::find::MatchLimit;
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};
    use text::{Buffer, Edit, EditOrigin, Snapshot, Timestamp};

    use super::{FindState, MAX_MATCHES, overview_of};

    fn search(find: &mut FindState, text: &Snapshot) {
        let matcher = find.matcher().expect("a query");
        let within = find.spans(text.full_span());
        let limit = MatchLimit(MAX_MATCHES);
        let found = matcher.find_all(text, &within, limit, &AtomicBool::new(false));
        let overview = overview_of(&found.spans, text.len());
        find.take(found, overview);
    }

    fn random_edits(rng: &mut StdRng, len: usize) -> Vec<Edit> {
        let mut edits: Vec<Edit> = Vec::new();
        for _ in 0..rng.random_range(1..4) {
            let start = rng.random_range(0..=len);
            let end = (start + rng.random_range(0..4)).min(len);
            let span = Span::new(ByteOffset(start), ByteOffset(end));
            let is_apart = |it: &Edit| it.span.end < span.start || span.end < it.span.start;
            if edits.iter().all(is_apart) {
                let text = ["", "a", "b", "ab", "\n", "a\nb"][rng.random_range(0..6)];
                edits.push(Edit::new(span, text));
            }
        }
        edits
    }

    #[test]
    fn matches_follow_random_edits_like_a_new_search() {
        let seed = rand::random();
        println!("seed {seed}");
        let mut rng = StdRng::seed_from_u64(seed);
        let mut buffer = Buffer::new(&"ab a b\nabab\n\n".repeat(20));
        let mut find = FindState {
            text: "ab".to_owned(),
            ..FindState::default()
        };
        find.set_open(true);
        find.compile();
        search(&mut find, &buffer.snapshot());
        for _ in 0..200 {
            let edits = random_edits(&mut rng, buffer.len().0);
            let change = buffer.edit(&edits, &EditOrigin::user(Timestamp(0)));
            let text = buffer.snapshot();
            find.follow(&change);
            find.search_changed_rows(&text, &change);
            let followed = find.matches.clone();
            search(&mut find, &text);
            assert_eq!(followed, find.matches, "{:?}", text.to_string());
        }
    }

    #[test]
    fn steps_go_round() {
        let matches: Vec<Span> = [0..2, 4..6, 8..10].map(Span::from).into();
        let check =
            |selected: std::ops::Range<usize>, forward: bool, expect: std::ops::Range<usize>| {
                let found = FindState::step(&matches, Span::from(selected.clone()), forward);
                assert_eq!(found, Some(Span::from(expect)), "{selected:?} {forward}");
            };
        check(0..2, true, 4..6);
        check(3..3, true, 4..6);
        check(8..10, true, 0..2);
        check(8..10, false, 4..6);
        check(0..2, false, 8..10);
        check(5..5, false, 0..2);
        assert_eq!(FindState::step(&[], Span::default(), true), None);
        assert_eq!(FindState::step(&[], Span::default(), false), None);
    }
}
