//! Word completion: cuts requested suggestions to their first word, for a command that cycles
//! through them.
//!
//! The likeliest word comes first, whatever follows it in its suggestion, since each step of the
//! cycle costs a key. Of equally likely words the one used nearest to the caret comes first.

use std::cmp::Reverse;
use std::sync::Arc;

use base::Span;

use super::token::is_word_char;
use crate::{EditorState, Suggestion};

/// Shortest word worth a keystroke, in characters.
const MIN_CHARS: usize = 2;

/// Rank of the first word of a suggestion; the least comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WordRank {
    /// Probability in percent. Smaller differences are below the precision of the tables.
    percent: Reverse<u8>,
    /// Number of tokens between the caret and the nearest use.
    distance: usize,
}

impl WordRank {
    /// Creates the rank of a word with this probability, from 0 to 1. `distance` is the number of
    /// tokens between the caret and the nearest use, if there is one.
    pub(super) fn new(likelihood: f32, distance: Option<usize>) -> Self {
        Self {
            percent: Reverse((likelihood * 100.0) as u8),
            distance: distance.unwrap_or(usize::MAX),
        }
    }
}

/// Cuts the suggestions that insert text at the caret to their first word, and sorts them by rank;
/// equal ones keep their order. Duplicate words and text that begins with a line break are dropped.
pub(super) fn word_suggestions(
    mut asked: Vec<(Suggestion, WordRank)>,
    state: &EditorState,
) -> Vec<Suggestion> {
    asked.sort_by_key(|(_, rank)| *rank);
    let mut words: Vec<Suggestion> = Vec::new();
    for (mut suggestion, _) in asked {
        let Some(word) = first_word(&suggestion, state) else {
            continue;
        };
        if words.iter().all(|known| known.edits[0].new != word) {
            suggestion.edits[0].new = word;
            words.push(suggestion);
        }
    }
    words
}

/// Returns the first word that a suggestion inserts at the caret, with the punctuation before it;
/// `None` for other suggestions.
fn first_word(suggestion: &Suggestion, state: &EditorState) -> Option<Arc<str>> {
    let [edit] = suggestion.edits.as_slice() else {
        return None;
    };
    let is_here = suggestion.file.is_none() && edit.span == Span::at(state.caret);
    let row = edit.new.lines().next().filter(|_| is_here)?;
    let start = row.find(is_word_char).unwrap_or(row.len());
    let length = row[start..].find(|ch| !is_word_char(ch));
    let word = length.map_or(row, |length| &row[..start + length]);
    (word.chars().count() >= MIN_CHARS).then(|| Arc::from(word))
}

#[cfg(test)]
mod tests {
    use super::super::story::Story;
    use super::WordRank;

    fn check(text: &str, expected: &[&str]) {
        let mut story = Story::new("Rust", text);
        story.work();
        let suggestions = story.word_suggestions(0);
        let mut words: Vec<&str> = suggestions
            .iter()
            .map(|it| it.edits[0].new.as_ref())
            .collect();
        // The tables determine the order.
        words.sort_unstable();
        assert_eq!(words, expected, "{text}");
        for it in &suggestions {
            assert!(it.applies_to(&story.state(0).snapshot));
        }
    }

    #[test]
    fn each_matching_word_is_listed_once() {
        let text =
            "fn remember() {}\nfn release() {}\nfn a() {\n    remember();\n    qux(re|);\n}\n";
        check(text, &["lease", "member"]);
    }

    #[test]
    fn a_longer_suggestion_is_cut_after_its_first_word() {
        let rows = "    let total = count_all + more(items);\n    report(total);\n";
        let text =
            format!("fn a() {{\n{rows}}}\nfn b() {{\n{rows}}}\nfn c() {{\n    let total|\n}}\n");
        let mut story = Story::new("Rust", &text);
        let all = story.requested_suggestions(0);
        assert!(all[0].edits[0].new.starts_with(" = count_all"), "{all:?}");
        let words = story.word_suggestions(0);
        assert_eq!(words[0].edits[0].new.as_ref(), " = count_all");
    }

    #[test]
    fn equally_likely_words_come_nearest_first() {
        let far = "fn restart_everything() {}\nfn a() {}\n";
        let filler = "fn b() {\n    call(1, 2, 3);\n}\n".repeat(4);
        let near = "fn review() {}\nfn c() {\n    qux(re|);\n}\n";
        let mut story = Story::new("Rust", &format!("{far}{filler}{near}"));
        let words = story.word_suggestions(0);
        let words: Vec<&str> = words.iter().map(|it| it.edits[0].new.as_ref()).collect();
        assert_eq!(words, ["view", "start_everything"]);
    }

    #[test]
    fn ranks_compare_percents_and_then_distances() {
        let likely = WordRank::new(0.35, None);
        let near = WordRank::new(0.301, Some(3));
        let far = WordRank::new(0.306, Some(40));
        let unlikely = WordRank::new(0.2, Some(1));
        assert!(likely < near && near < far && far < unlikely);
    }

    #[test]
    fn line_breaks_and_single_characters_are_not_words() {
        let text = "fn a() {\n    f(x);\n    g();\n}\nfn b() {\n    f(x)|\n}\n";
        let mut story = Story::new("Rust", text);
        let words = story.word_suggestions(0);
        assert!(words.iter().all(|it| it.edits[0].new.chars().count() > 1));
        assert!(words.iter().all(|it| !it.edits[0].new.contains('\n')));
    }
}
