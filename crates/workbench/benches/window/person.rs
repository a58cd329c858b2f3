//! Who types lines, looks back now and then, and takes what is shown.

use std::time::Duration;

use autocomplete::Suggestion;
use gpui_kit::Keystroke;

use crate::frames::TYPED;
use crate::known_model::is_of_model;
use crate::stage::{Pace, keystroke};
use crate::world::World;

/// Of so many lines, one is taken with Tab where it is shown; in the others the caret goes back and forth once.
const TAKEN: usize = 3;
/// Time between keys, long enough for everything that runs beside to end.
const BETWEEN: Duration = Duration::from_millis(250);
/// Time for which a suggestion that may be taken is looked at.
const LOOK: Duration = Duration::from_secs(1);
/// Chars of a line before which the caret goes back, or the rest is taken.
const MIDDLE: usize = 12;

/// What a key was about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// Once everything came to rest, a suggestion of the local tier was shown that none was typed of before.
    Local,
    /// It was the next of a suggestion that was shown, and one is shown still once everything came to rest.
    Through,
    /// The same, but nothing is known any more: the key closed what was open, or brought a closing sign in with it.
    Withdrawn,
    /// The caret came back to where something was shown.
    Back,
    /// All of a suggestion was taken.
    Taken,
}

/// What came of a key.
pub(crate) struct Seen {
    /// None where nothing was to be shown.
    pub(crate) key: Option<Key>,
    /// Whether the frame of the key shows what it should.
    pub(crate) is_painted: bool,
    /// Milliseconds up to the end of the frame, with Tab and without; none where the two did different things.
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
            let is_same = frame.as_ref().is_some_and(|frame| new(frame) == new(local));
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

/// The caret goes to the left and comes back.
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

/// Tab takes the rest of the line, if that is what is shown; the other window has it typed. Says whether it is done.
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

/// What comes in by a suggestion first.
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
