//! Words that a suggestion cuts off.
//!
//! A response that is cut within a word looks like one that ends with a short word. It is recognised
//! only if the short word stands nowhere near, and a longer one that begins with it does.

use base::Span;
use syntax::SyntaxScope;

use super::suffix::is_word;
use super::{text_from, text_up_to};
use crate::{EditorState, SuggestedEdit};

/// Bytes before and after the edit in which words are known.
const NEAR: usize = 16 * 1_024;
/// Shorter words, in bytes, say nothing.
const MIN_WORD: usize = 2;
/// Ends of words that make another word of a whole one.
const ENDINGS: [&str; 10] = ["s", "es", "d", "ed", "r", "er", "ing", "ly", "able", "ion"];

/// Evidence on whether a word is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WordUse {
    /// It stands in the text.
    Whole,
    /// A longer word that begins with it stands in the text.
    Cut,
    Unknown,
}

/// Whether an edit ends within a word of code.
pub(super) fn is_cut(state: &EditorState, edit: &SuggestedEdit) -> bool {
    let text = &state.snapshot;
    let head = edit.new.trim_end_matches(is_word);
    let last = &edit.new[head.len()..];
    let behind = text_from(text, edit.span.end, NEAR);
    if last.is_empty() || behind.starts_with(is_word) || is_prose(state, edit) {
        return false;
    }
    let before = text_up_to(text, edit.span.start, NEAR);
    let (before, word) = if head.is_empty() {
        let known = before.trim_end_matches(is_word);
        (known, format!("{}{last}", &before[known.len()..]))
    } else {
        (before.as_str(), last.to_owned())
    };
    if word.len() < MIN_WORD || word.starts_with(|ch: char| ch.is_ascii_digit()) {
        return false;
    }
    let mut keywords = state
        .language
        .into_iter()
        .flat_map(|language| language.keywords(&word).collect::<Vec<_>>());
    let mut uses = [WordUse::Unknown; 4];
    for (place, found) in uses.iter_mut().zip([head, before, &behind]) {
        *place = use_of(&word, found);
    }
    uses[3] = match keywords.next() {
        Some(keyword) if keyword == word => WordUse::Whole,
        Some(_) => WordUse::Cut,
        None => WordUse::Unknown,
    };
    !uses.contains(&WordUse::Whole) && uses.contains(&WordUse::Cut)
}

/// Whether the edit ends in a comment or a string, where other words are as likely.
fn is_prose(state: &EditorState, edit: &SuggestedEdit) -> bool {
    let text = &state.snapshot;
    let scope = state
        .syntax
        .as_ref()
        .map(|syntax| syntax.scope_at(text, edit.span.start));
    if scope.is_some_and(|scope| scope != SyntaxScope::Code) {
        return true;
    }
    let row = text.row_start(text.point_at(edit.span.start).row);
    let begun = text.text(Span::new(row, edit.span.start));
    let line = format!("{begun}{}", edit.new);
    let line = line.rsplit('\n').next().unwrap_or_default();
    let comment = state.language.and_then(|it| it.config().line_comment);
    comment.is_some_and(|marker| line.contains(marker))
        || line.trim_start().starts_with(['*', '#'])
        || ['"', '\'', '`']
            .iter()
            .any(|quote| line.matches(*quote).count() % 2 == 1)
}

/// Returns how a word is used in a text.
fn use_of(word: &str, text: &str) -> WordUse {
    let mut found = WordUse::Unknown;
    for (at, _) in text.match_indices(word) {
        if text[..at].ends_with(is_word) {
            continue;
        }
        let rest = &text[at + word.len()..];
        let rest = &rest[..rest.find(|ch| !is_word(ch)).unwrap_or(rest.len())];
        if rest.is_empty() {
            return WordUse::Whole;
        }
        // After `user`, `user_id` and `userId` begin another word.
        if rest.starts_with(char::is_lowercase) && !ENDINGS.contains(&rest) {
            found = WordUse::Cut;
        }
    }
    found
}

#[cfg(test)]
mod tests;
