//! Removed text, which suggestions must not restore for a while.

use std::time::Duration;

use base::{ByteOffset, Span};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use text::{Buffer, EditOrigin, Timestamp};

use super::{LASTS, MAX_ENTRIES, RecentEdits};
use crate::samples::{state_of, suggestion};
use crate::validate::tests::{after_an_edit, recent_after};
use crate::validate::{RejectReason, check};
use crate::{ChangeCause, DocumentEdit, EditHistory, EditorState};

#[test]
fn deleted_text_is_not_suggested() {
    let text = "one\n    gone(x);\ntwo\n";
    let deleted = ("    gone(x);\n", "");
    let refused = Err(RejectReason::JustGone);
    assert_eq!(
        after_an_edit(text, deleted, ChangeCause::Typed, (4, "    gone(x);\n")),
        refused
    );
    assert_eq!(
        after_an_edit(text, deleted, ChangeCause::Typed, (3, "\n    gone(x);")),
        refused
    );
    assert_eq!(
        after_an_edit(text, deleted, ChangeCause::Typed, (3, "\n    gone_too(x);")),
        Ok(())
    );
    assert_eq!(
        after_an_edit(text, deleted, ChangeCause::Accepted, (3, "\n    gone(x);")),
        Ok(())
    );
}

#[test]
fn a_deleted_letter_counts_only_at_its_offset() {
    let deleted = ("b", "");
    assert_eq!(
        after_an_edit("ab c", deleted, ChangeCause::Typed, (1, "b")),
        Err(RejectReason::JustGone)
    );
    assert_eq!(
        after_an_edit("ab c", deleted, ChangeCause::Typed, (1, "bx")),
        Ok(())
    );
    assert_eq!(
        after_an_edit("ab c", deleted, ChangeCause::Typed, (3, "b")),
        Ok(())
    );
}

#[test]
fn undone_text_stays_removed_and_restored_text_stays() {
    let undone = |offered| after_an_edit("a(new);", ("new", ""), ChangeCause::Undone, offered);
    assert_eq!(undone((2, "new")), Err(RejectReason::JustGone));
    assert_eq!(undone((2, "newer")), Ok(()));
    let mut buffer = Buffer::new("x = ;\n");
    let before = buffer.snapshot();
    let change = buffer.replace(Span::from(4..4), "value", &EditOrigin::user(Timestamp(0)));
    let state = state_of(&buffer, "", ByteOffset(9));
    let edit = DocumentEdit {
        before,
        state: state.clone(),
        change,
        cause: ChangeCause::Undone,
    };
    let recent = recent_after(&edit);
    let away = suggestion(&state, Span::from(4..9), "other");
    assert_eq!(check(&state, &away, &recent), Err(RejectReason::JustGone));
}

#[test]
fn only_the_whole_text_comes_back() {
    let after = |gone: &str, at: usize, offered: &str| {
        let text = format!("let x = {gone};\nend();\n");
        after_an_edit(&text, (gone, ""), ChangeCause::Typed, (at, offered))
    };
    let refused = Err(RejectReason::JustGone);
    assert_eq!(after("f(a)", 8, "f(a)"), refused);
    assert_eq!(after("f(a)", 8, "f(a))"), refused, "a closer more");
    assert_eq!(after("f(a)", 8, "f(a, b)"), Ok(()));
    assert_eq!(after("f(a)", 8, "f(a).b()"), Ok(()));
    assert_eq!(after("f(a)", 8, "f("), Ok(()));
    assert_eq!(after("alpha", 8, "alphabet"), Ok(()));
    assert_eq!(after("f(a)", 10, " let y = f(a);"), Ok(()), "elsewhere");
}

#[test]
fn deleted_rows_come_back_only_as_a_whole() {
    let after = |offered: &str| {
        let text = "a();\n    first(1);\n    second(2);\nb();\n";
        let gone = "    first(1);\n    second(2);\n";
        after_an_edit(text, (gone, ""), ChangeCause::Typed, (5, offered))
    };
    let refused = Err(RejectReason::JustGone);
    assert_eq!(after("    first(1);\n    second(2);\n"), refused);
    assert_eq!(after("zero();\n    first(1);\n    second(2);\n"), refused);
    assert_eq!(after("    first(1);\n    second(3);\n"), Ok(()));
    assert_eq!(after("    first(1);"), Ok(()));
}

#[test]
fn deleted_rows_in_a_new_block_do_not_come_back() {
    let after = |offered: &str| {
        let text = "a();\n    first(1);\n    second(2);\nb();\n";
        let gone = "    first(1);\n    second(2);\n";
        after_an_edit(text, (gone, ""), ChangeCause::Typed, (5, offered))
    };
    let block = "    if x {\n        first(1);\n        second(2);\n    }\n";
    assert_eq!(after(block), Ok(()));
    let row = |offered: &str| {
        let text = "a();\n    first(1);\nb();\n";
        after_an_edit(text, ("first(1);", ""), ChangeCause::Typed, (9, offered))
    };
    assert_eq!(row("if x {\n        first(1);\n    }"), Ok(()));
    assert_eq!(row("zero();\n    first(1);"), Err(RejectReason::JustGone));
}

#[test]
fn text_in_another_row_is_not_the_text_that_was_removed() {
    let removed = || {
        let mut world = World::new("call(alpha(1)); x\n");
        world.edit(5..13, "", ChangeCause::Typed);
        world
    };
    assert_eq!(
        removed().offered(5, "alpha(1)"),
        Err(RejectReason::JustGone)
    );
    assert_eq!(
        removed().offered(5, " alpha(1)"),
        Err(RejectReason::JustGone)
    );
    assert_eq!(removed().offered(5, "\n    alpha(1)"), Ok(()));
    let mut world = removed();
    world.edit(5..5, "\n    ", ChangeCause::Typed);
    assert_eq!(
        world.offered(10, "alpha(1)"),
        Ok(()),
        "the user broke the row"
    );
}

#[test]
fn typing_something_else_ends_it() {
    let mut world = World::new("call(alpha); x\n");
    world.edit(5..10, "", ChangeCause::Typed);
    assert_eq!(world.offered(5, "alpha"), Err(RejectReason::JustGone));
    world.edit(5..5, "a", ChangeCause::Typed);
    assert_eq!(world.offered(6, "lpha"), Err(RejectReason::JustGone));
    world.edit(6..6, "x", ChangeCause::Typed);
    world.edit(6..7, "", ChangeCause::Typed);
    assert_eq!(world.offered(6, "lpha"), Ok(()));
}

/// A text with its recent edits.
struct World {
    buffer: Buffer,
    history: EditHistory,
    recent: RecentEdits,
    now: Duration,
}

impl World {
    fn new(text: &str) -> Self {
        Self {
            buffer: Buffer::new(text),
            history: EditHistory::default(),
            recent: RecentEdits::default(),
            now: Duration::ZERO,
        }
    }

    fn edit(&mut self, span: std::ops::Range<usize>, new: &str, cause: ChangeCause) {
        let before = self.buffer.snapshot();
        let origin = EditOrigin::typing(Timestamp(0));
        let change = self.buffer.replace(Span::from(span), new, &origin);
        let edit = DocumentEdit {
            before,
            state: state_of(&self.buffer, "", ByteOffset(0)),
            change,
            cause,
        };
        self.now += Duration::from_millis(100);
        self.history.record(&edit, self.now);
        self.recent.edited(&edit, &self.history, self.now);
    }

    fn offered(&self, at: usize, new: &str) -> Result<(), RejectReason> {
        let state: EditorState = state_of(&self.buffer, "", ByteOffset(at));
        check(
            &state,
            &suggestion(&state, Span::at(ByteOffset(at)), new),
            &self.recent,
        )
    }
}

#[test]
fn characters_deleted_in_turn_are_one_deletion() {
    let mut world = World::new("call(alpha)");
    for end in (5..10).rev() {
        world.edit(end..end + 1, "", ChangeCause::Typed);
    }
    assert_eq!(world.offered(5, "alpha"), Err(RejectReason::JustGone));
    assert_eq!(world.offered(5, "beta"), Ok(()));
    let mut world = World::new("call(alpha)");
    for _ in 0..5 {
        world.edit(5..6, "", ChangeCause::Typed);
    }
    assert_eq!(world.offered(5, "alpha"), Err(RejectReason::JustGone));
    world.edit(5..5, "al", ChangeCause::Typed);
    assert_eq!(
        world.offered(7, "pha"),
        Err(RejectReason::JustGone),
        "nor its rest"
    );
}

#[test]
fn text_typed_again_may_be_suggested_again() {
    let mut world = World::new("f(alpha); ");
    world.edit(2..7, "", ChangeCause::Typed);
    world.edit(2..2, "alpha", ChangeCause::Typed);
    assert_eq!(world.offered(10, "alpha"), Ok(()));
}

#[test]
fn deletions_expire_and_are_bounded() {
    let mut world = World::new("f(alpha); ");
    world.edit(2..7, "", ChangeCause::Typed);
    world.now += LASTS;
    world.edit(5..5, " ", ChangeCause::Typed);
    assert_eq!(world.offered(2, "alpha"), Ok(()));
    for at in 0..200 {
        let text = format!("x{at}y");
        world.edit(0..0, &text, ChangeCause::Typed);
        world.edit(0..text.len(), "", ChangeCause::Typed);
        world.edit(0..0, " ", ChangeCause::Typed);
    }
    assert!(world.recent.entries.len() <= MAX_ENTRIES);
}

#[test]
fn a_dismissed_text_is_not_suggested_again() {
    let mut world = World::new("let a = ;\n");
    let state = state_of(&world.buffer, "", ByteOffset(8));
    let offered = suggestion(&state, Span::at(ByteOffset(8)), "compute()");
    world.recent.rejected(&state, &offered, world.now);
    assert_eq!(world.offered(8, "compute()"), Err(RejectReason::JustGone));
    world.edit(8..8, "c", ChangeCause::Typed);
    assert_eq!(world.offered(9, "ompute()"), Err(RejectReason::JustGone));
    assert_eq!(world.offered(9, "ount()"), Ok(()));
}

#[test]
fn never_offers_a_deletion_back_in_random_sessions() {
    let mut rng = StdRng::seed_from_u64(7);
    for round in 0..300 {
        let words: Vec<String> = (0..20).map(|at| format!("word{at}")).collect();
        let mut world = World::new(&words.join(" "));
        for _ in 0..rng.random_range(0..10) {
            let len = world.buffer.len().0;
            let at = rng.random_range(0..=len);
            if rng.random_bool(0.5) {
                world.edit(at..at, "typed", ChangeCause::Typed)
            } else {
                world.edit(at..(at + 3).min(len), "", ChangeCause::Typed)
            }
        }
        let text = world.buffer.snapshot().to_string();
        let len = text.len();
        let start = rng.random_range(0..len - 4);
        let end = (start + rng.random_range(1..12)).min(len);
        let gone = text[start..end].to_owned();
        world.edit(start..end, "", ChangeCause::Typed);
        if gone.trim().is_empty() {
            continue;
        }
        // Other edits in between do not make it forget.
        if start > 0 {
            world.edit(0..0, "x", ChangeCause::Typed);
        }
        let at = start + usize::from(start > 0);
        let behind = world.buffer.snapshot().to_string();
        let verdict = world.offered(at, &gone);
        assert!(
            verdict.is_err(),
            "round {round}: {gone:?} at {at} of {behind:?}"
        );
    }
}
