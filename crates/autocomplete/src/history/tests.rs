//! Levels at which changes are joined.

use std::time::Duration;

use base::{ByteOffset, Span};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use text::{Buffer, EditOrigin, Timestamp};

use super::EditHistory;
use crate::samples::state_of;
use crate::{ChangeCause, DocumentEdit};

struct World {
    buffer: Buffer,
    history: EditHistory,
    now: Duration,
}

impl World {
    fn new(text: &str) -> Self {
        Self {
            buffer: Buffer::new(text),
            history: EditHistory::default(),
            now: Duration::ZERO,
        }
    }

    /// Replaces a span after a pause in milliseconds.
    fn edit(&mut self, pause: u64, span: std::ops::Range<usize>, new: &str, cause: ChangeCause) {
        let before = self.buffer.snapshot();
        let origin = EditOrigin::typing(Timestamp(0));
        let change = self.buffer.replace(Span::from(span), new, &origin);
        self.now += Duration::from_millis(pause);
        let edit = DocumentEdit {
            before,
            state: state_of(&self.buffer, "", ByteOffset(0)),
            change,
            cause,
        };
        self.history.record(&edit, self.now);
    }

    /// The number of the open edit, the number of passages, and the deleted text.
    fn levels(&self) -> (Option<u64>, usize, Option<&str>) {
        (
            self.history.open_edit().map(|open| open.number),
            self.history.passages().count(),
            self.history.deletion().map(|run| run.text.as_str()),
        )
    }
}

#[test]
fn a_short_pause_ends_an_edit_and_a_long_one_a_passage() {
    let mut world = World::new("one\n");
    world.edit(0, 3..3, "a", ChangeCause::Typed);
    world.edit(4_000, 4..4, "b", ChangeCause::Typed);
    assert_eq!(world.levels(), (Some(1), 1, None));
    world.edit(4_001, 5..5, "c", ChangeCause::Typed);
    assert_eq!(world.levels(), (Some(2), 1, None));
    world.edit(10_000, 6..6, "d", ChangeCause::Typed);
    assert_eq!(world.levels(), (Some(3), 2, None));
}

#[test]
fn distance_ends_an_edit_before_it_ends_a_passage() {
    let mut world = World::new(&"line\n".repeat(10));
    world.edit(0, 0..0, "a", ChangeCause::Typed);
    world.edit(80, 11..11, "b", ChangeCause::Typed);
    assert_eq!(world.levels(), (Some(2), 1, None));
    world.edit(80, 40..40, "c", ChangeCause::Typed);
    assert_eq!(world.levels(), (Some(3), 2, None));
}

#[test]
fn deletions_in_both_directions_are_one_run() {
    let mut world = World::new("call(alpha)");
    world.edit(0, 6..7, "", ChangeCause::Typed);
    world.edit(80, 5..6, "", ChangeCause::Typed);
    world.edit(5_000, 5..6, "", ChangeCause::Typed);
    assert_eq!(world.levels().2, Some("alp"));
    world.edit(80, 4..7, "", ChangeCause::Typed);
    assert_eq!(world.levels().2, Some("(haalp"));
    world.edit(80, 4..4, "x", ChangeCause::Typed);
    assert_eq!(world.levels().2, None);
    world.edit(80, 0..1, "", ChangeCause::Typed);
    assert_eq!(world.levels().2, Some("c"));
}

#[test]
fn foreign_changes_end_every_level() {
    let mut world = World::new("one two\n");
    world.edit(0, 0..1, "", ChangeCause::Typed);
    world.edit(80, 5..6, "", ChangeCause::Other);
    assert_eq!(world.levels(), (None, 1, None));
    world.edit(80, 0..1, "", ChangeCause::Typed);
    assert_eq!(world.levels().1, 2);
    assert_eq!(world.levels().2, Some("n"));
}

#[test]
fn random_passages_consist_of_whole_edits() {
    for seed in 0..200 {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut world = World::new(&"some words\n".repeat(6));
        let mut caret = 0;
        for _ in 0..60 {
            let len = world.buffer.len().0;
            let is_jump = rng.random_bool(0.2);
            let start = if is_jump {
                rng.random_range(0..=len)
            } else {
                caret
            };
            let end = (start + rng.random_range(0..4)).min(len);
            let new = ["", "x", "\n", "yz"][rng.random_range(0..4)];
            caret = start + new.len();
            let cause = match rng.random_range(0..10) {
                0 => ChangeCause::Undone,
                1 => ChangeCause::Accepted,
                2 => ChangeCause::Other,
                _ => ChangeCause::Typed,
            };
            let known = world.levels().0;
            let passages: Vec<_> = world
                .history
                .passages()
                .map(|it| it.before.revision())
                .collect();
            let pause = rng.random_range(0..6_000);
            world.edit(pause, start..end, new, cause);
            let last = world.history.passages().next_back();
            if known.is_some() && world.levels().0 == known {
                let last = last.expect("a passage");
                assert_eq!(
                    passages.last(),
                    Some(&last.before.revision()),
                    "seed {seed}"
                );
                assert_eq!(
                    last.after.revision(),
                    world.buffer.revision(),
                    "seed {seed}"
                );
            }
        }
    }
}
