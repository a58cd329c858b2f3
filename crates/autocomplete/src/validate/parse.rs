//! Whether a suggestion fits the syntax of the text around it.
//!
//! The parser reads a short excerpt with the suggestion. A suggestion fits if the excerpt has no
//! more errors than before. It also fits if it is unfinished: the parser reads up to its end
//! without a new error, it closes nothing that the text after it closes too, and it stops where a
//! line can end. What it leaves open is closed by the text that follows later.
//!
//! Limitation: the errors of an unfinished text depend on how the parser recovers, so their number
//! is compared only where reading the suggestion finds no error.

use syntax::{Budget, Damage, TrialParse, readable_bytes};

use super::brackets::{OpenBrackets, closers};
use super::literals;
use super::stop::is_line_end;
use super::trial::Trial;
use crate::{EditorState, SuggestedEdit};

/// Maximum number of progress checks of a parse, one per hundred parser steps. Bounds a parse of an
/// excerpt to about a millisecond.
const MAX_PARSE_STEPS: u32 = 60;

/// Bytes by which an error may grow without counting as worse, for a blank or an adjacent bracket.
const SLACK: usize = 16;

/// Effect of a suggestion on the syntax of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SyntaxFit {
    /// The text has fewer errors with it.
    Mends,
    /// The text has no errors, with it and without it.
    Keeps,
    /// The text has errors, with it and without it, or it stops inside a construct: the text that
    /// follows can complete it.
    Unfinished,
    /// It is wrong whatever follows.
    Breaks,
}

/// Returns how edits, which are sorted, fit. Returns `None` if that is unknown: without a tree, or
/// if the excerpt is too long.
pub(super) fn fit(state: &EditorState, edits: &[SuggestedEdit]) -> Option<SyntaxFit> {
    Judge::new(Trial::new(state, edits)?).fit()
}

/// Whether the text with an edit has no more errors than without it; true if that is unknown.
pub(crate) fn parses_no_worse(state: &EditorState, edit: &SuggestedEdit) -> bool {
    let edits = std::slice::from_ref(edit);
    let judge = Trial::new(state, edits).map(Judge::new);
    let errors = judge.and_then(|judge| {
        let after = judge.parse(&judge.trial.after(""))?.damage();
        Some((judge.parse(&judge.trial.before())?.damage(), after))
    });
    errors.is_none_or(|(before, after)| !is_worse(before, after, edit.new.len()))
}

/// A trial with the offsets of the new text.
struct Judge {
    trial: Trial,
    /// Offset of the new text.
    start: usize,
    /// Length of the new text, in bytes.
    length: usize,
}

/// Extent to which the parser reads the text up to the end of the new text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    /// Nowhere: a correct text could begin like this.
    Whole,
    /// At an error of the new text.
    New,
    /// At an earlier error.
    Earlier,
}

impl Judge {
    fn new(trial: Trial) -> Self {
        Self {
            start: trial.prefix.len(),
            length: trial.new.len(),
            trial,
        }
    }

    fn fit(&self) -> Option<SyntaxFit> {
        let whole = self.trial.after("");
        let after = self.parse(&whole)?;
        let before_text = self.trial.before();
        let before = self.parse(&before_text)?;
        let (old, new) = (before.damage(), after.damage());
        let is_clean = new == Damage::default();
        if is_clean && old == new {
            return Some(SyntaxFit::Keeps);
        }
        if is_clean {
            return Some(SyntaxFit::Mends);
        }
        let open = Nesting::new(self, (&before, &before_text), (&after, &whole));
        let (reading, literal) = self.reading()?;
        let is_at_row_end = is_end_of_row(self.trial.rest_of_row());
        // In a broken row, the rest may belong to text that is missing.
        let is_closed_later = (is_at_row_end || old == Damage::default() || self.doubles_bracket())
            && !self.is_before_later_row();
        if reading == Reading::New || is_closed_later && open.closes_too_much() {
            return Some(SyntaxFit::Breaks);
        }
        if !is_worse(old, new, self.length) {
            let mends = new.places < old.places;
            return Some(if mends {
                SyntaxFit::Mends
            } else {
                SyntaxFit::Unfinished
            });
        }
        let is_line = reading == Reading::Whole
            && (is_at_row_end || self.is_row_apart(old))
            && is_line_end(&self.trial, open.own(self.start), literal);
        // A deletion stops nowhere.
        let is_explained = !self.trial.new.trim().is_empty()
            && (is_line
                || self.is_word()
                || self.is_around(&whole, &open)?
                || !(is_at_row_end && reading == Reading::Whole)
                    && self.is_completed(old, &open, literal));
        Some(if is_explained {
            SyntaxFit::Unfinished
        } else {
            SyntaxFit::Breaks
        })
    }

    fn parse(&self, text: &str) -> Option<TrialParse> {
        TrialParse::new(self.trial.language, text, &mut Budget::until(&mut steps()))
    }

    /// Whether the rest of the row need not belong to the new text: it begins a row, or the text is
    /// broken, as it is while the user types.
    fn is_row_apart(&self, old: Damage) -> bool {
        self.trial.begun().trim().is_empty()
            || self.trial.new.contains('\n')
            || old != Damage::default()
    }

    /// Whether the new text ends with the closing bracket that the rest of the row begins with.
    fn doubles_bracket(&self) -> bool {
        let last = self.trial.new.trim_end().chars().next_back();
        let rest = self.trial.rest_of_row().trim_start();
        last.is_some_and(|last| matches!(last, ')' | ']' | '}') && rest.starts_with(last))
    }

    /// Whether the rest of the row belongs to a row that is still to come: the new text begins the
    /// row, or it ends like the rest. A model's response that merely repeats the rest replaces it
    /// (see `joined`); a single closing character may still be one too many.
    fn is_before_later_row(&self) -> bool {
        let (new, rest) = (self.trial.new.trim(), self.trial.rest_of_row().trim());
        let begins_row = self.trial.begun().trim().is_empty() && !rest.is_empty();
        let ends_like_rest = rest.len() > 1 && is_end_of_row(rest) && new.ends_with(rest);
        let is_row = !new.contains('\n') && new.contains(super::suffix::is_word);
        begins_row || ends_like_rest && is_row
    }

    /// Returns where the parser stops, and the closer of a comment or a string that is still open
    /// there. It is closed first, because the parser takes it for an error otherwise.
    fn reading(&self) -> Option<(Reading, &'static str)> {
        let text = self.trial.up_to_end();
        let end = text.trim_end().len();
        let (mut read, mut literal) = (self.read(&text)?, "");
        for close in literals::closers(self.trial.language, &text) {
            if read >= end {
                break;
            }
            let closed = self.read(&format!("{text}{close}"))?;
            if closed > read {
                (read, literal) = (closed, close);
            }
        }
        let next = read + text.get(read..).map_or(0, leading_blanks);
        let reading = if read >= end {
            Reading::Whole
        } else if next >= self.start {
            Reading::New
        } else {
            Reading::Earlier
        };
        Some((reading, literal))
    }

    fn read(&self, text: &str) -> Option<usize> {
        readable_bytes(self.trial.language, text, &mut Budget::until(&mut steps()))
    }

    /// Whether the new text is a single word, after which anything may follow.
    fn is_word(&self) -> bool {
        let word = self.trial.new.trim();
        !word.is_empty() && word.chars().all(super::suffix::is_word)
    }

    /// Whether the rest of the row goes on in a bracket that the new text leaves open, up to
    /// closing characters: the closing bracket can follow later.
    fn is_around(&self, whole: &str, open: &Nesting) -> Option<bool> {
        let rest = self.trial.rest_of_row();
        if open.own(self.start).is_empty() || is_end_of_row(rest) {
            return Some(false);
        }
        let end = self.start + self.length;
        let read = self.read(whole)?.max(end);
        let unread = whole.get(read..end + rest.len());
        Some(unread.is_none_or(is_end_of_row))
    }

    /// Whether the text has no more errors than `old` once the brackets and the `literal` that the
    /// new text leaves open are closed, and once it is separated from the rest of its row.
    fn is_completed(&self, old: Damage, open: &Nesting, literal: &str) -> bool {
        let own = format!("{literal}{}", closers(open.own(self.start)));
        let row = self.trial.rest_of_row().len();
        let at_row_end = self.start + self.length + row;
        let mut closed_later = self.trial.after("");
        closed_later.insert_str(at_row_end, &closers(&open.newly_unclosed()));
        let mut texts = vec![self.trial.after(&own), closed_later];
        if self.is_row_apart(old) {
            texts.push(self.trial.after(&format!("{own}\n")));
        }
        texts.iter().any(|text| {
            let parsed = self.parse(text);
            parsed.is_some_and(|it| !is_worse(old, it.damage(), self.length))
        })
    }
}

/// The brackets around a suggestion.
struct Nesting {
    /// Brackets that are open after the prefix and the old text.
    before: OpenBrackets,
    /// Brackets that are open after the prefix and the new text.
    after: OpenBrackets,
    /// Brackets of the suffix, as read after the old text and after the new text. They differ after
    /// a string that one of them leaves open.
    suffixes: [Vec<(usize, char)>; 2],
}

impl Nesting {
    /// Reads the brackets of the two texts.
    fn new(judge: &Judge, before: (&TrialParse, &str), after: (&TrialParse, &str)) -> Self {
        let split = |(parsed, text): (&TrialParse, &str), length: usize| {
            let brackets = parsed.brackets(text);
            let at = brackets.partition_point(|(at, _)| *at < judge.start + length);
            let (inner, suffix) = brackets.split_at(at);
            (OpenBrackets::of(inner), suffix.to_vec())
        };
        let (before, suffix_before) = split(before, judge.trial.old.len());
        let (after, suffix_after) = split(after, judge.length);
        Self {
            before,
            after,
            suffixes: [suffix_before, suffix_after],
        }
    }

    /// Whether the new text closes a bracket that the suffix closes, too.
    fn closes_too_much(&self) -> bool {
        self.suffixes.iter().all(|suffix| {
            let stray = |open: &OpenBrackets| open.closed_by(suffix).stray;
            stray(&self.after) > stray(&self.before)
        })
    }

    /// Returns the brackets that the new text leaves open. `start` is its offset.
    fn own(&self, start: usize) -> &[(usize, char)] {
        self.after.from(start)
    }

    /// Returns the brackets that the suffix leaves open after the new text, but not after the old.
    fn newly_unclosed(&self) -> Vec<(usize, char)> {
        let [suffix, _] = &self.suffixes;
        let known = self.before.closed_by(suffix).unclosed;
        let mut unclosed = self.after.closed_by(suffix).unclosed;
        unclosed.retain(|bracket| !known.contains(bracket));
        unclosed
    }
}

/// Whether there are new errors, or errors that grow by much more than the inserted text of `came`
/// bytes.
fn is_worse(before: Damage, after: Damage, came: usize) -> bool {
    let swallowed = after.bytes > before.bytes + 2 * came + SLACK;
    after.places > before.places || swallowed
}

/// Whether the rest of a row is blank, or closes what is open.
fn is_end_of_row(rest: &str) -> bool {
    rest.chars()
        .all(|ch| ch.is_whitespace() || super::suffix::is_closer(ch))
}

/// Returns the length of the white space at the start of a text.
fn leading_blanks(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

/// Returns a function that ends a parse after `MAX_PARSE_STEPS` calls.
fn steps() -> impl FnMut() -> bool {
    let mut steps = 0;
    move || {
        steps += 1;
        steps > MAX_PARSE_STEPS
    }
}

#[cfg(test)]
mod tests;
