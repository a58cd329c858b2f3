//! Suggestions shown and accepted while a text is typed, for any threshold.
//!
//! All suggestions are recorded after every keystroke; accepting one leads to a later one of these carets, so that one
//! run covers all thresholds.

use autocomplete::{AcceptGranularity, EditorState, Suggestion};
use base::Span;

use crate::typing::{agrees, one_key};

/// Suggestions at one caret, the most useful first.
pub struct CaretSuggestions {
    ideas: Vec<Idea>,
    /// Suggestions after an explicit request.
    asked: Vec<Idea>,
    /// Words that the command that completes words cycles through.
    words: Vec<String>,
}

struct Idea {
    confidence: f32,
    all: String,
    line: String,
    word: String,
}

/// Counts of typing a text.
#[derive(Clone, Copy, Default)]
pub struct TypingCounts {
    pub keys: usize,
    pub shown: usize,
    pub wrong: usize,
    /// Number of wrong ones whose first word is wrong already.
    pub useless: usize,
}

/// Use of commands where nothing is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Asking {
    Never,
    /// One keystroke requests suggestions that are too unlikely to be shown, wherever that pays off.
    WhereItPays,
    /// One keystroke inserts the first matching word, and each further one the next, wherever that pays off.
    ForWords,
}

impl TypingCounts {
    /// Adds the counts of another text.
    pub fn add(&mut self, other: Self) {
        self.keys += other.keys;
        self.shown += other.shown;
        self.wrong += other.wrong;
        self.useless += other.useless;
    }
}

impl CaretSuggestions {
    pub fn at(
        state: &EditorState,
        known: &[Suggestion],
        asked: &[Suggestion],
        words: &[Suggestion],
    ) -> Self {
        let text = |it: &Suggestion, part: AcceptGranularity| {
            let taken = it.accept_edits(part);
            taken
                .first()
                .map_or(String::new(), |edit| edit.text.clone())
        };
        let ideas = |suggestions: &[Suggestion]| {
            let here = suggestions.iter().filter(|it| is_here(it, state));
            here.map(|it| Idea {
                confidence: it.confidence,
                all: text(it, AcceptGranularity::All),
                line: text(it, AcceptGranularity::Line),
                word: text(it, AcceptGranularity::Word),
            })
            .collect()
        };
        Self {
            ideas: ideas(known),
            asked: ideas(asked),
            words: words
                .iter()
                .map(|it| text(it, AcceptGranularity::All))
                .collect(),
        }
    }

    /// Returns the ideas with the visible one first, and whether there is one.
    fn visible_ideas(&self, threshold: f32) -> (Vec<&Idea>, bool) {
        let mut ideas: Vec<&Idea> = self.ideas.iter().collect();
        let shown = ideas.iter().position(|it| it.confidence >= threshold);
        if let Some(shown) = shown {
            ideas[..=shown].rotate_right(1);
        }
        (ideas, shown.is_some())
    }
}

/// Types a text; `said[at]` holds the suggestions after its first `at` bytes.
pub fn type_with(
    text: &str,
    said: &[Option<CaretSuggestions>],
    threshold: f32,
    asking: Asking,
) -> TypingCounts {
    let mut typed = TypingCounts::default();
    let mut at = 0;
    // Rest of the previous suggestion; its continuation does not count as a new one.
    let mut expected: Option<String> = None;
    while at < text.len() {
        let left = &text[at..];
        let (ideas, is_shown) = match said.get(at) {
            Some(Some(said)) => said.visible_ideas(threshold),
            _ => (Vec::new(), false),
        };
        match ideas.first().filter(|_| is_shown) {
            Some(first) => {
                if expected.as_ref() != Some(&first.all) {
                    typed.shown += 1;
                    typed.wrong += usize::from(!agrees(left, &first.all));
                    typed.useless += usize::from(!agrees(left, &first.word));
                }
                expected = Some(first.all.clone());
            }
            None => expected = None,
        }
        let asked = match said.get(at) {
            Some(Some(said)) if asking == Asking::WhereItPays => said.asked.as_slice(),
            _ => &[],
        };
        let words = match said.get(at) {
            Some(Some(said)) if asking == Asking::ForWords => said.words.as_slice(),
            _ => &[],
        };
        let seen = ideas.into_iter().filter(|_| is_shown).enumerate();
        // The request, each step to an alternative, and the acceptance cost one keystroke each.
        let asked = asked.iter().enumerate().map(|(ix, idea)| (ix + 1, idea));
        let ways = seen.chain(asked).flat_map(|(steps, idea)| {
            [&idea.all, &idea.line, &idea.word].map(|part| (part.len(), steps + 1, part))
        });
        // A word is inserted by its keystroke and needs no acceptance.
        let words = words.iter().enumerate();
        let ways = ways.chain(words.map(|(ix, word)| (word.len(), ix + 1, word)));
        let right = ways.filter(|(bytes, _, part)| *bytes > 0 && agrees(left, part));
        let best = right
            .map(|(bytes, keys, _)| (saving(left, bytes, keys), bytes, keys))
            .filter(|(saving, ..)| *saving > 0)
            .max_by_key(|(saving, ..)| *saving);
        let (bytes, keys) = best.map_or((one_key(left), 1), |(_, bytes, keys)| (bytes, keys));
        if let Some(expected) = &mut expected {
            *expected = expected.get(bytes..).unwrap_or_default().to_owned();
        }
        typed.keys += keys;
        at += bytes;
    }
    typed
}

/// Returns the keystrokes saved by inserting some bytes with a number of keystrokes.
fn saving(left: &str, bytes: usize, keys: usize) -> isize {
    let mut letters = 0;
    let mut at = 0;
    while at < bytes {
        at += one_key(&left[at..]).max(1);
        letters += 1;
    }
    letters - keys as isize
}

fn is_here(suggestion: &Suggestion, state: &EditorState) -> bool {
    let [edit] = suggestion.edits.as_slice() else {
        return false;
    };
    suggestion.file.is_none() && edit.span == Span::at(state.caret)
}
