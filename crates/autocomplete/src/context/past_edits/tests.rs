//! Passages as diffs in a prompt.

use std::time::Duration;

use base::{AbsPath, Span};
use expect_test::{Expect, expect};
use text::{Buffer, EditOrigin, Timestamp};

use super::{newest_first, region_before};
use crate::context::{PromptWindow, WindowLimits};
use crate::samples::state_of;
use crate::{ChangeCause, DocumentEdit, EditHistory, EditorState};

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

    fn edit(&mut self, span: std::ops::Range<usize>, new: &str, cause: ChangeCause) {
        let before = self.buffer.snapshot();
        let change = self
            .buffer
            .replace(Span::from(span), new, &EditOrigin::typing(Timestamp(0)));
        let edit = DocumentEdit {
            before,
            state: self.state(0),
            change,
            cause,
        };
        self.history.record(&edit, self.now);
        self.now += Duration::from_millis(100);
    }

    fn state(&self, caret: usize) -> EditorState {
        EditorState {
            path: AbsPath::new("/p/src/a.rs"),
            ..state_of(&self.buffer, "", caret.into())
        }
    }

    fn check(&self, expected: &Expect) {
        let root = AbsPath::new("/p").expect("absolute");
        let edits = newest_first(&self.history, Some(&root));
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
fn keystrokes_at_one_place_are_one_diff() {
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
fn distant_and_accepted_edits_are_separate_diffs() {
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
fn undone_and_foreign_edits_are_not_shown() {
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
fn a_window_has_its_text_before_the_last_edit() {
    let mut world = World::new("one\ntwo\nthree\n");
    world.edit(4..7, "2", ChangeCause::Typed);
    let state = world.state(5);
    let frame = WindowLimits::Rows {
        above: 1,
        below: 0,
        around: 0,
    };
    let window = PromptWindow::for_editor(&state, frame);
    assert_eq!(window.region(), "one\n2\n");
    assert_eq!(
        region_before(&world.history, &state, &window).as_deref(),
        Some("one\ntwo\n")
    );
}
