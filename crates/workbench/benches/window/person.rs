//! A simulated user who types lines, moves back now and then, and accepts suggestions.

use std::time::Duration;

use autocomplete::Suggestion;
use gpui_kit::Keystroke;

use crate::frames::TYPED;
use crate::known_model::is_of_model;
use crate::stage::{Pace, keystroke};
use crate::world::World;

/// The rest of one in this many lines is accepted with Tab if it is shown; in the others the caret moves back
/// and forth once.
const TAKEN: usize = 3;
/// Time between keys, long enough for all background work to end.
const BETWEEN: Duration = Duration::from_millis(250);
/// Time for which the user looks at a suggestion before accepting it.
const LOOK: Duration = Duration::from_secs(1);
/// Number of typed chars after which the caret moves back, or the rest is accepted.
const MIDDLE: usize = 12;

/// The situation of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// After background work ended, a new suggestion of the local tier was shown.
    Local,
    /// The key typed the next char of a shown suggestion, and a suggestion is still shown after background
    /// work ended.
    Through,
    /// Like `Through`, but no suggestion is left: the key closed an open bracket or quote, or inserted a closing
    /// one too.
    Withdrawn,
    /// The caret returned to a place where a suggestion was shown.
    Back,
    /// A whole suggestion was accepted.
    Taken,
}

/// The result of a key.
pub(crate) struct Seen {
    /// `None` if no suggestion was expected.
    pub(crate) key: Option<Key>,
    /// Whether the frame of the key shows the expected suggestion; one of the local tier, the frame after it.
    pub(crate) is_painted: bool,
    /// Milliseconds up to the end of the frame, with and without Tab; `None` if the two windows received
    /// different keys.
    pub(crate) took: Option<(f64, f64)>,
}

/// Types a line and `enter` into both windows.
pub(crate) fn type_line(line: &str, with: &mut World, without: &mut World, seen: &mut Vec<Seen>) {
    let ix = TYPED.lines().position(|it| it == line).unwrap_or_default();
    let next = TYPED.lines().cycle().nth(ix + 1).unwrap_or_default();
    if let Some(model) = &with.model {
        model.expect(line, next);
    }
    for (at, ch) in line.char_indices() {
        if at == MIDDLE && with.model.is_some() {
            if ix % TAKEN == 0 && take(&line[at..], with, without, seen) {
                break;
            }
            back(with, without, seen);
        }
        key(ch, with, without, seen);
    }
    assert_eq!(with.text(), without.text(), "both windows hold the same");
    key('\n', with, without, seen);
}

fn key(ch: char, with: &mut World, without: &mut World, seen: &mut Vec<Seen>) {
    let before = with.painted();
    let took = (with.press(keystroke(ch)), without.press(keystroke(ch)));
    let frame = with.painted();
    // The local tier answers after the key, in no time of the clock.
    with.pass(Duration::ZERO, Pace::Free);
    let next_frame = with.painted();
    with.pass(BETWEEN, Pace::Free);
    without.pass(BETWEEN, Pace::Free);
    let rest = with.painted();
    let through = before.as_ref().and_then(|it| new(it).strip_prefix(ch));
    let is_new = |it: &&Suggestion| !is_of_model(it);
    let (key, is_painted) = match (through, rest.as_ref().filter(is_new)) {
        (Some(left), _) if !left.is_empty() => {
            if frame.is_some() || rest.is_some() {
                (Some(Key::Through), frame.is_some())
            } else {
                (Some(Key::Withdrawn), true)
            }
        }
        (_, Some(local)) => {
            let is_same = next_frame.is_some_and(|frame| new(&frame) == new(local));
            (Some(Key::Local), is_same)
        }
        _ => (None, false),
    };
    seen.push(Seen {
        key,
        is_painted,
        took: Some(took),
    });
}

/// Moves the caret to the left and back.
fn back(with: &mut World, without: &mut World, seen: &mut Vec<Seen>) {
    let before = with.painted().filter(is_of_model);
    let asked = with.asked();
    for name in ["left", "right"] {
        with.press(named(name));
        without.press(named(name));
    }
    let frame = with.painted();
    let is_known = with.asked() == asked;
    with.pass(BETWEEN, Pace::Free);
    without.pass(BETWEEN, Pace::Free);
    seen.push(Seen {
        key: before.is_some().then_some(Key::Back),
        is_painted: frame.is_some() && is_known,
        took: None,
    });
}

/// Accepts the rest of the line with Tab if it is shown, and types it into the other window. Returns whether it was
/// shown.
fn take(rest: &str, with: &mut World, without: &mut World, seen: &mut Vec<Seen>) -> bool {
    with.pass(LOOK, Pace::Free);
    without.pass(LOOK, Pace::Free);
    let is_rest = with
        .painted()
        .is_some_and(|it| new(&it) == rest && is_of_model(&it));
    if !is_rest {
        return false;
    }
    let asked = with.asked();
    with.press(named("tab"));
    let frame = with.painted();
    let is_known = with.asked() == asked;
    rest.chars().for_each(|ch| {
        without.press(keystroke(ch));
    });
    with.pass(BETWEEN, Pace::Free);
    without.pass(BETWEEN, Pace::Free);
    seen.push(Seen {
        key: Some(Key::Taken),
        is_painted: is_known && frame.as_ref().is_some_and(is_of_model),
        took: None,
    });
    true
}

/// Returns the text that the first edit of a suggestion inserts.
fn new(suggestion: &Suggestion) -> &str {
    suggestion.edits.first().map_or("", |edit| &edit.new)
}

fn named(name: &'static str) -> Keystroke {
    Keystroke {
        modifiers: Default::default(),
        key: name.to_owned(),
        key_char: None,
    }
}
