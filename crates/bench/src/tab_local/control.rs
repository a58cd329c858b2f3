//! Wrong text that the checks of suggestions refuse: the control of the probe.
//!
//! The new text of hunks is typed up to a few carets, anywhere and at the starts of rows, and there the checks get text
//! that is wrong in one of ten ways. The cases depend only on a seed and the repositories, so that two builds are measured
//! with the same cases.

use autocomplete::{ChangeCause, SuggestedEdit};
use base::Span;

use super::asker::{Asker, Names, at_caret, each_typed_hunk, suggestion};
use super::hunks::Hunk;
use super::local_tier::OpenFile;
use super::typing::one_key;
use super::wrong::{self, Caret};
use crate::figure::Figure;
use crate::interleave::Dice;
use replay::ChangedFile;

/// Number of wrong responses of each kind in all repositories.
pub(super) const CASES: usize = 2_000;
const SEED: u64 = 0x5eed_cafe;
/// Maximum number of carets of a hunk at which every kind is tried: some anywhere, and some at the starts of rows, of
/// which few others are.
const CARETS: usize = 3;
const ROW_STARTS: usize = 2;

/// The way in which a response is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The rest of the row with a closing bracket that does not match the innermost open one.
    Unbalanced,
    /// The row up to the caret once more, and then the right text.
    JoinedWrongly,
    /// The right text, and then the rows behind it, which are there already.
    RepeatsSuffix,
    /// The rows above the caret.
    RepeatsAbove,
    /// The text that was just deleted.
    Deleted,
    /// The text that was just undone.
    Undone,
    /// A text that was just rejected.
    Rejected,
    /// The right text up to the middle of a word.
    CutInWord,
    /// Code in another language.
    OtherLanguage,
    /// A closing bracket that is behind the caret.
    DuplicatedCloser,
}

pub(super) const KINDS: [Kind; 10] = [
    Kind::Unbalanced,
    Kind::JoinedWrongly,
    Kind::RepeatsSuffix,
    Kind::RepeatsAbove,
    Kind::Deleted,
    Kind::Undone,
    Kind::Rejected,
    Kind::CutInWord,
    Kind::OtherLanguage,
    Kind::DuplicatedCloser,
];

/// Counts of wrong responses so far.
pub(super) struct Tally {
    /// Responses and refused ones, by kind.
    counts: [(usize, usize); KINDS.len()],
    /// Maximum number of responses of a kind from here on.
    limit: usize,
    hunks: u64,
    prints_misses: bool,
}

impl Tally {
    pub(super) fn new() -> Self {
        Self {
            counts: [(0, 0); KINDS.len()],
            limit: 0,
            hunks: 0,
            prints_misses: std::env::var_os("BURIN_BENCH_MISSES").is_some(),
        }
    }

    /// Sets the maximum number of responses of each kind.
    pub(super) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// Types the hunks of a commit, unless there are enough responses of all kinds.
    pub(super) fn commit(&mut self, files: &[ChangedFile]) {
        if self.counts.iter().all(|(count, _)| *count >= self.limit) {
            return;
        }
        each_typed_hunk(files, |asker, open, hunk| self.hunk(asker, open, hunk));
    }

    fn hunk(&mut self, asker: &mut Asker, open: &mut OpenFile, hunk: &Hunk) {
        self.hunks += 1;
        let mut dice = Dice::new(SEED ^ self.hunks.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let gone = open.buffer.snapshot().text(hunk.old).into_owned();
        open.caret = hunk.old.start;
        if !hunk.old.is_empty() {
            asker.replace(open, hunk.old, "", ChangeCause::Typed);
            self.deleted(asker, open, &gone, &hunk.new);
        }
        let mut typed = 0;
        for at in carets(open, &hunk.new, &mut dice) {
            type_in(asker, open, &hunk.new[typed..at]);
            typed = at;
            asker.read_names(open);
            self.caret(asker, open, &hunk.new[at..], &mut dice);
        }
        type_in(asker, open, &hunk.new[typed..]);
        self.undone(asker, open, hunk, &gone);
    }

    /// Suggests the text that was just deleted, if other text is typed now.
    fn deleted(&mut self, asker: &Asker, open: &OpenFile, gone: &str, new: &str) {
        let gone = gone.trim_end();
        if is_telling(gone) && !new.starts_with(gone) {
            self.count(Kind::Deleted, open, gone, || {
                asker.refusal(open, &at_caret(open, gone), Names::Known)
            });
        }
    }

    /// Undoes a hunk, suggests its text again, and redoes it.
    fn undone(&mut self, asker: &mut Asker, open: &mut OpenFile, hunk: &Hunk, gone: &str) {
        let span = Span::new(hunk.old.start, hunk.old.start + hunk.new.len());
        asker.replace(open, span, gone, ChangeCause::Undone);
        let new = hunk.new.trim_end();
        if is_telling(new) {
            open.caret = hunk.old.start;
            let snapshot = open.buffer.snapshot();
            let edit = SuggestedEdit::new(hunk.old, new, &snapshot);
            if !edit.is_empty() {
                self.count(Kind::Undone, open, new, || {
                    asker.refusal(open, &suggestion(open, edit), Names::Known)
                });
            }
        }
        asker.replace(open, hunk.old, &hunk.new, ChangeCause::Undone);
    }

    /// Suggests text of every kind that depends on the caret alone.
    fn caret(&mut self, asker: &Asker, open: &mut OpenFile, left: &str, dice: &mut Dice) {
        let caret = Caret::new(open, left);
        let cases = [
            (Kind::Unbalanced, wrong::unbalanced(&caret, dice)),
            (Kind::JoinedWrongly, wrong::joined_wrongly(&caret)),
            (Kind::RepeatsSuffix, wrong::repeats_suffix(&caret, dice)),
            (Kind::RepeatsAbove, wrong::repeats_above(&caret, dice)),
            (Kind::CutInWord, wrong::cut_in_word(&caret, dice)),
            (Kind::OtherLanguage, wrong::other_language(&caret, dice)),
        ];
        for (kind, text) in cases {
            if let Some(text) = text {
                self.count(kind, open, &text, || {
                    asker.refusal(open, &at_caret(open, &text), Names::Known)
                });
            }
        }
        let line = caret.line().to_owned();
        if is_telling(&line) {
            self.count(Kind::Rejected, open, &line, || {
                asker.refusal_of_rejected(open, &at_caret(open, &line))
            });
        }
        if let Some((text, closer)) = wrong::duplicated_closer(&caret) {
            let at = open.caret;
            // The editor closes a bracket when it is opened; neither change is the user's.
            open.edit(Span::at(at), &closer, 0, ChangeCause::Other);
            open.caret = at;
            self.count(Kind::DuplicatedCloser, open, &text, || {
                asker.refusal(open, &at_caret(open, &text), Names::Known)
            });
            let span = Span::new(at, at + closer.len());
            open.edit(span, "", 0, ChangeCause::Other);
            open.caret = at;
        }
    }

    /// Counts a wrong response, unless there are enough of its kind.
    fn count(
        &mut self,
        kind: Kind,
        open: &OpenFile,
        text: &str,
        check: impl FnOnce() -> Option<String>,
    ) {
        let (count, refused) = &mut self.counts[kind as usize];
        if *count >= self.limit {
            return;
        }
        let refusal = check();
        *count += 1;
        *refused += usize::from(refusal.is_some());
        if refusal.is_none() && self.prints_misses {
            let snapshot = open.buffer.snapshot();
            let row = snapshot.row_start(snapshot.point_at(open.caret).row);
            let before = snapshot.text(Span::new(row, open.caret));
            println!("shown: {kind:?}: {before:?} | {text:?}");
        }
    }

    /// Returns the number of responses of a kind and of refused ones.
    #[cfg(test)]
    pub(super) fn count_of(&self, kind: Kind) -> (usize, usize) {
        self.counts[kind as usize]
    }

    pub(super) fn figures(&self) -> Vec<Figure> {
        let figure = |name: String, count: usize, refused: usize| {
            let percent = refused as f64 * 100.0 / count.max(1) as f64;
            Figure::alone(name, percent, "%", count, None).no_less_than_before()
        };
        let kinds = KINDS.into_iter().zip(self.counts);
        let kinds = kinds.map(|(kind, (count, refused))| {
            figure(
                format!("wrong text refused, {}", kind.name()),
                count,
                refused,
            )
        });
        let sum = |of: fn(&(usize, usize)) -> usize| self.counts.iter().map(of).sum::<usize>();
        let all = figure(
            "wrong text refused, all kinds".to_owned(),
            sum(|counts| counts.0),
            sum(|counts| counts.1),
        );
        kinds.chain([all]).collect()
    }
}

/// Inserts a text at the caret.
fn type_in(asker: &mut Asker, open: &mut OpenFile, text: &str) {
    if !text.is_empty() {
        let caret = Span::at(open.caret);
        asker.replace(open, caret, text, ChangeCause::Typed);
    }
}

/// Returns some places at which a keystroke begins in a text that is typed at the caret, in order.
fn carets(open: &OpenFile, text: &str, dice: &mut Dice) -> Vec<usize> {
    let snapshot = open.buffer.snapshot();
    let row = snapshot.row_start(snapshot.point_at(open.caret).row);
    let mut is_row_start = snapshot.text(Span::new(row, open.caret)).trim().is_empty();
    let (mut places, mut row_starts) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < text.len() {
        places.push(at);
        if is_row_start {
            row_starts.push(at);
        }
        is_row_start = text[at..].starts_with('\n');
        at += one_key(&text[at..]).max(1);
    }
    draw(&mut places, CARETS, dice);
    draw(&mut row_starts, ROW_STARTS, dice);
    places.append(&mut row_starts);
    places.sort_unstable();
    places.dedup();
    places
}

/// Removes random places until at most `most` are left.
fn draw(places: &mut Vec<usize>, most: usize, dice: &mut Dice) {
    while places.len() > most {
        places.remove(dice.below(places.len()));
    }
}

/// Whether a text is more than a few signs.
fn is_telling(text: &str) -> bool {
    text.chars().filter(|ch| ch.is_alphanumeric()).count() >= 4
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Unbalanced => "unbalanced",
            Self::JoinedWrongly => "repeats the row up to the caret",
            Self::RepeatsSuffix => "repeats the rows behind",
            Self::RepeatsAbove => "repeats the rows above",
            Self::Deleted => "just deleted",
            Self::Undone => "just undone",
            Self::Rejected => "just rejected",
            Self::CutInWord => "cut within a word",
            Self::OtherLanguage => "in another language",
            Self::DuplicatedCloser => "duplicates a closing bracket",
        }
    }
}
