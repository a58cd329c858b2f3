//! Keystrokes that become edits, and edits that become diffs.

use std::time::Duration;

use base::{AbsPath, Span};
use expect_test::{Expect, expect};
use text::{Buffer, EditOrigin, Timestamp};

use super::EditHistory;
use crate::ChangeCause;
use crate::context::{PromptWindow, WindowLimits};
use crate::samples::state_of;

struct World {
    buffer: Buffer,
    trail: EditHistory,
    now: Duration,
}

impl World {
    fn new(text: &str) -> Self {
        Self {
            buffer: Buffer::new(text),
            trail: EditHistory::default(),
            now: Duration::ZERO,
        }
    }

    fn edit(&mut self, span: std::ops::Range<usize>, new: &str, cause: ChangeCause) {
        let before = self.buffer.snapshot();
        let change = self
            .buffer
            .replace(Span::from(span), new, &EditOrigin::typing(Timestamp(0)));
        let path = AbsPath::new("/p/src/a.rs");
        let why = (cause, self.now);
        self.trail.edited(
            path.as_ref(),
            (&before, &self.buffer.snapshot()),
            &change,
            why,
        );
        self.now += Duration::from_millis(100);
    }

    fn check(&self, expected: &Expect) {
        let root = AbsPath::new("/p").expect("absolute");
        let edits = self.trail.newest_first(Some(&root));
        let shown: Vec<String> = edits
            .map(|edit| {
                let taken = if edit.was_accepted { " taken" } else { "" };
                format!("{}{taken}\n{}", edit.path, edit.diff)
            })
            .collect();
        expected.assert_eq(&shown.join(""));
    }
}

fn lines(count: usize) -> String {
    (0..count).map(|line| format!("line {line}\n")).collect()
}

#[test]
fn keystrokes_in_one_place_are_one_edit() {
    let mut world = World::new(&lines(12));
    let at = lines(6).len() - 1;
    for (ix, letter) in ["x", "y", "z"].into_iter().enumerate() {
        world.edit(at + ix..at + ix, letter, ChangeCause::Typed);
    }
    world.check(&expect![[r#"
        src/a.rs
        @@ -3,7 +3,7 @@
         line 2
         line 3
         line 4
        -line 5
        +line 5xyz
         line 6
         line 7
         line 8
    "#]]);
}

#[test]
fn what_is_far_away_or_accepted_is_another() {
    let mut world = World::new(&lines(30));
    world.edit(0..0, "first ", ChangeCause::Typed);
    let end = world.buffer.len().0;
    world.edit(end..end, "last\n", ChangeCause::Typed);
    let end = world.buffer.len().0;
    world.edit(end..end, "taken\n", ChangeCause::Accepted);
    world.check(&expect![[r#"
        src/a.rs taken
        @@ -29,3 +29,4 @@
         line 28
         line 29
         last
        +taken
        src/a.rs
        @@ -28,3 +28,4 @@
         line 27
         line 28
         line 29
        +last
        src/a.rs
        @@ -1,4 +1,4 @@
        -line 0
        +first line 0
         line 1
         line 2
         line 3
    "#]]);
}

#[test]
fn undone_and_foreign_edits_are_not_in_the_history() {
    let mut world = World::new("one\ntwo\n");
    world.edit(3..3, "!", ChangeCause::Typed);
    world.edit(3..4, "", ChangeCause::Typed);
    world.check(&expect![[""]]);
    world.edit(0..0, "agent\n", ChangeCause::Other);
    world.check(&expect![[""]]);
    world.edit(6..6, "agent\n", ChangeCause::Other);
    world.edit(6..6, "mine\n", ChangeCause::Typed);
    world.check(&expect![[r#"
        src/a.rs
        @@ -1,4 +1,5 @@
         agent
        +mine
         agent
         one
         two
    "#]]);
}

#[test]
fn a_window_knows_what_it_was_before_the_last_edit() {
    let mut world = World::new("one\ntwo\nthree\n");
    world.edit(4..7, "2", ChangeCause::Typed);
    let mut state = state_of(&world.buffer, "", 5.into());
    state.path = AbsPath::new("/p/src/a.rs");
    let frame = WindowLimits::Rows {
        above: 1,
        below: 0,
        around: 0,
    };
    let window = PromptWindow::for_editor(&state, frame);
    assert_eq!(window.region(), "one\n2\n");
    assert_eq!(
        world.trail.before(&state, &window).as_deref(),
        Some("one\ntwo\n")
    );
}
