//! Words that one key writes, the next in place of the last: what is asked for by hand, cut behind its first word.

use std::sync::Arc;

use base::Span;

use super::token::is_word_char;
use crate::{Scene, Suggestion};

/// A key that writes one sign saves none.
const LEAST_CHARS: usize = 2;

/// The suggestions that put something in at the caret, each up to the end of its first word, in their order. Every word
/// comes once, with the suggestion that says it first; what begins with a line end is no word.
pub(super) fn words(asked: Vec<Suggestion>, scene: &Scene) -> Vec<Suggestion> {
    let mut words: Vec<Suggestion> = Vec::new();
    for mut suggestion in asked {
        let Some(word) = word(&suggestion, scene) else {
            continue;
        };
        if words.iter().all(|known| known.edits[0].new != word) {
            suggestion.edits[0].new = word;
            words.push(suggestion);
        }
    }
    words
}

/// The first word that a suggestion puts in at the caret, with the signs before it; none where it does something else.
fn word(suggestion: &Suggestion, scene: &Scene) -> Option<Arc<str>> {
    let [edit] = suggestion.edits.as_slice() else {
        return None;
    };
    let is_here = suggestion.file.is_none() && edit.span == Span::at(scene.caret);
    let row = edit.new.lines().next().filter(|_| is_here)?;
    let start = row.find(is_word_char).unwrap_or(row.len());
    let length = row[start..].find(|ch| !is_word_char(ch));
    let word = length.map_or(row, |length| &row[..start + length]);
    (word.chars().count() >= LEAST_CHARS).then(|| Arc::from(word))
}

#[cfg(test)]
mod tests {
    use super::super::story::Story;

    fn check(text: &str, expected: &[&str]) {
        let mut story = Story::new("Rust", text);
        story.work();
        let words = story.words(0);
        let told: Vec<&str> = words.iter().map(|it| it.edits[0].new.as_ref()).collect();
        assert_eq!(told, expected, "{text}");
        for it in &words {
            assert!(it.stands_in(&story.scene(0).snapshot));
        }
    }

    #[test]
    fn each_word_that_begins_so_comes_once() {
        let text =
            "fn remember() {}\nfn release() {}\nfn a() {\n    remember();\n    qux(re|);\n}\n";
        check(text, &["member", "lease"]);
    }

    #[test]
    fn a_longer_suggestion_is_cut_behind_its_first_word() {
        let rows = "    let total = count_all + more(items);\n    report(total);\n";
        let text =
            format!("fn a() {{\n{rows}}}\nfn b() {{\n{rows}}}\nfn c() {{\n    let total|\n}}\n");
        let mut story = Story::new("Rust", &text);
        let all = story.asked(0);
        assert!(all[0].edits[0].new.starts_with(" = count_all"), "{all:?}");
        let words = story.words(0);
        assert_eq!(words[0].edits[0].new.as_ref(), " = count_all");
    }

    #[test]
    fn what_begins_with_a_line_end_or_is_one_sign_is_no_word() {
        let text = "fn a() {\n    f(x);\n    g();\n}\nfn b() {\n    f(x)|\n}\n";
        let mut story = Story::new("Rust", text);
        let told = story.words(0);
        assert!(told.iter().all(|it| it.edits[0].new.chars().count() > 1));
        assert!(told.iter().all(|it| !it.edits[0].new.contains('\n')));
    }
}
