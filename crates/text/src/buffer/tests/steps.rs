//! Grouping of edits into undo steps, and undo, redo and checkpoints over these steps.

use base::{ByteOffset, Row, Span};

use crate::buffer::Buffer;
use crate::edit::{Author, Edit, EditKind, EditOrigin, Timestamp};
use crate::random::SeededRng;
use crate::selection::{Selection, SelectionSet};

fn text(buffer: &Buffer) -> String {
    buffer.snapshot().to_string()
}

/// Types the texts at the end, each after this many milliseconds, then undoes everything.
fn check_steps(typed: &[(&str, u64)], expected: &[&str]) {
    let mut buffer = Buffer::new("");
    let mut now = 0;
    for (text, wait) in typed {
        now += wait;
        buffer.replace(
            Span::at(buffer.len()),
            text,
            &EditOrigin::typing(Timestamp(now)),
        );
    }
    let mut states = vec![text(&buffer)];
    while buffer.undo().is_some() {
        states.push(text(&buffer));
    }
    states.reverse();
    assert_eq!(states, expected, "{typed:?}");
}

#[test]
fn typing_is_undone_word_by_word() {
    check_steps(&[("h", 0), ("i", 100)], &["", "hi"]);
    check_steps(
        &[("h", 0), ("i", 100), (" ", 100), ("y", 9)],
        &["", "hi", "hi y"],
    );
    check_steps(
        &[("a", 0), (" ", 1), (" ", 1), ("b", 1)],
        &["", "a", "a  b"],
    );
    check_steps(&[("a", 0), ("\n", 1), ("b", 1)], &["", "a", "a\nb"]);
    check_steps(
        &[("a", 0), ("\n", 1), ("\n", 1)],
        &["", "a", "a\n", "a\n\n"],
    );
    check_steps(&[("a", 0), ("b", 999), ("c", 1000)], &["", "ab", "abc"]);
    check_steps(&[], &[""]);
}

#[test]
fn deleting_joins_deleting_on_either_side() {
    let mut buffer = Buffer::new("one two three");
    let mut delete = |range: std::ops::Range<usize>, now| {
        buffer.replace(range.into(), "", &EditOrigin::deleting(Timestamp(now)));
    };
    delete(6..7, 0);
    delete(5..6, 10);
    delete(5..6, 20);
    delete(0..1, 30);
    assert_eq!(text(&buffer), "ne tthree");
    buffer.undo();
    assert_eq!(text(&buffer), "one tthree");
    buffer.undo();
    assert_eq!(text(&buffer), "one two three");
    assert!(!buffer.history().can_undo());
}

#[test]
fn typing_at_several_carets_is_one_step() {
    let mut buffer = Buffer::new("a\nb\nc");
    for (ix, char) in ["x", "y", "z"].iter().enumerate() {
        let edits: Vec<Edit> = (0..3)
            .map(|row| Edit::new(Span::at(ByteOffset(1 + 2 * row + ix * (row + 1))), *char))
            .collect();
        buffer.edit(&edits, &EditOrigin::typing(Timestamp(ix as u64)));
    }
    assert_eq!(text(&buffer), "axyz\nbxyz\ncxyz");
    assert_eq!(buffer.history().len(), 1);
    buffer.undo();
    assert_eq!(text(&buffer), "a\nb\nc");
    buffer.redo();
    assert_eq!(text(&buffer), "axyz\nbxyz\ncxyz");
}

#[test]
fn typing_inside_a_pair_continues_its_step() {
    let mut buffer = Buffer::new("");
    buffer.replace(Span::default(), "()", &EditOrigin::typing(Timestamp(0)));
    buffer.replace(Span::from(1..1), "x", &EditOrigin::typing(Timestamp(1)));
    buffer.replace(Span::from(2..3), ")", &EditOrigin::typing(Timestamp(2)));
    assert_eq!((text(&buffer).as_str(), buffer.history().len()), ("(x)", 1));
}

#[test]
fn explicit_step_contains_all_edits() {
    let mut buffer = Buffer::new("abc");
    let other = |now| EditOrigin::user(Timestamp(now));
    buffer.begin_step();
    buffer.replace(Span::from(0..1), "A", &other(0));
    buffer.begin_step();
    buffer.replace(Span::from(2..3), "C", &other(5000));
    buffer.end_step();
    buffer.replace(Span::from(1..2), "B", &other(9000));
    buffer.end_step();
    buffer.replace(Span::from(3..3), "!", &other(9001));
    assert_eq!(buffer.history().len(), 2);
    buffer.undo();
    assert_eq!(text(&buffer), "ABC");
    let restored = buffer.undo().expect("a step");
    assert_eq!(restored.change.splices.len(), 1);
    assert_eq!(text(&buffer), "abc");
}

#[test]
fn undo_restores_selections() {
    let caret = |offset| SelectionSet::single(Selection::caret(ByteOffset(offset)));
    let mut buffer = Buffer::new("ab");
    for (ix, char) in ["x", "y"].iter().enumerate() {
        buffer.note_selections_before(&caret(1 + ix));
        buffer.replace(
            Span::from(1 + ix..1 + ix),
            char,
            &EditOrigin::typing(Timestamp(0)),
        );
        buffer.note_selections_after(&caret(2 + ix));
    }
    assert_eq!(buffer.undo().expect("a step").selections, Some(caret(1)));
    assert_eq!(buffer.redo().expect("a step").selections, Some(caret(3)));
}

#[test]
fn branches_stay_reachable() {
    let mut buffer = Buffer::new("");
    let other = EditOrigin::user(Timestamp(0));
    buffer.replace(Span::from(0..0), "a", &other);
    let first = buffer.history().current();
    buffer.undo();
    buffer.replace(Span::from(0..0), "b", &other);
    let second = buffer.history().current();
    assert!(!buffer.history().can_redo());
    buffer.go_to(first);
    assert_eq!(text(&buffer), "a");
    buffer.undo();
    buffer.redo();
    assert_eq!(text(&buffer), "a", "redo goes where one was last");
    buffer.go_to(second);
    assert_eq!(text(&buffer), "b");
    assert_eq!(buffer.go_to(second), None);
    assert_eq!(buffer.history().children(crate::NodeId(0)).count(), 2);
}

#[test]
fn restoring_a_checkpoint_can_be_undone() {
    let mut buffer = Buffer::new("");
    let other = EditOrigin::user(Timestamp(0));
    buffer.replace(Span::from(0..0), "a", &other);
    let checkpoint = buffer.checkpoint("before the agent");
    buffer.undo();
    buffer.replace(Span::from(0..0), "bc", &other);
    buffer.restore(checkpoint);
    assert_eq!(text(&buffer), "a");
    buffer.undo();
    assert_eq!(text(&buffer), "bc");
    buffer.redo();
    assert_eq!(text(&buffer), "a");
    buffer.undo();
    buffer.undo();
    assert_eq!(text(&buffer), "");
    buffer.redo();
    assert_eq!(
        text(&buffer),
        "bc",
        "once one goes on, the jump is forgotten"
    );
}

#[test]
fn edits_after_a_checkpoint_do_not_change_it() {
    let mut buffer = Buffer::new("");
    buffer.begin_step();
    buffer.replace(Span::from(0..0), "a", &EditOrigin::typing(Timestamp(0)));
    let checkpoint = buffer.checkpoint("a");
    buffer.replace(Span::from(1..1), "b", &EditOrigin::typing(Timestamp(1)));
    buffer.end_step();
    buffer.restore(checkpoint);
    assert_eq!(text(&buffer), "a");
}

#[test]
fn undo_by_reverts_one_author_among_others() {
    let agent = Author::Agent {
        session: 1,
        turn: 1,
    };
    let by = |author, now| EditOrigin::new(author, EditKind::Other, Timestamp(now));
    let mut buffer = Buffer::new("one\ntwo\nthree\n");
    buffer.replace(Span::from(4..7), "TWO!", &by(agent, 0));
    buffer.replace(Span::from(0..0), "zero\n", &by(Author::User, 1));
    buffer.replace(Span::from(9..13), "Two", &by(agent, 2));
    buffer.replace(Span::from(19..19), "four\n", &by(Author::User, 3));
    assert_eq!(text(&buffer), "zero\none\nTwo\nthree\nfour\n");
    assert!(buffer.undo_by(&agent, Timestamp(4)).is_some());
    assert_eq!(text(&buffer), "zero\none\nTWO!\nthree\nfour\n");
    assert!(
        buffer.undo_by(&agent, Timestamp(5)).is_some(),
        "its own later step does not count"
    );
    assert_eq!(text(&buffer), "zero\none\ntwo\nthree\nfour\n");
    assert!(
        buffer.undo_by(&agent, Timestamp(6)).is_none(),
        "nothing is left"
    );
    buffer.undo();
    assert_eq!(text(&buffer), "zero\none\nTWO!\nthree\nfour\n");
    assert!(
        buffer.undo_by(&agent, Timestamp(7)).is_some(),
        "undone, it can be taken back again"
    );
    assert_eq!(text(&buffer), "zero\none\ntwo\nthree\nfour\n");
}

#[test]
fn undo_by_reverts_splices_that_now_touch() {
    let by = |author, now| EditOrigin::new(author, EditKind::Other, Timestamp(now));
    let mut buffer = Buffer::new("one, two");
    let edits = [
        Edit::new(Span::from(0..3), "1"),
        Edit::new(Span::from(5..8), "2"),
    ];
    buffer.edit(&edits, &by(Author::Formatter, 0));
    buffer.replace(Span::from(1..3), "", &by(Author::User, 1));
    assert_eq!(text(&buffer), "12");
    let restored = buffer
        .undo_by(&Author::Formatter, Timestamp(2))
        .expect("nothing overlaps");
    assert_eq!(text(&buffer), "onetwo");
    assert_eq!(restored.change.splices.len(), 1);
    buffer.undo();
    assert_eq!(text(&buffer), "12");
}

#[test]
fn undo_by_refuses_overlapping_work() {
    let by = |author, now| EditOrigin::new(author, EditKind::Other, Timestamp(now));
    let check = |range: std::ops::Range<usize>, text_in: &str, expected: Option<&str>| {
        let mut buffer = Buffer::new("one two three");
        buffer.replace(Span::from(4..7), "2222", &by(Author::Formatter, 0));
        buffer.replace(range.clone().into(), text_in, &by(Author::User, 1));
        let done = buffer.undo_by(&Author::Formatter, Timestamp(2)).is_some();
        let text = done.then(|| text(&buffer));
        assert_eq!(text.as_deref(), expected, "{range:?} {text_in:?}");
    };
    check(5..6, "x", None);
    check(6..6, "x", None);
    check(0..5, "", None);
    check(3..9, "", None);
    check(8..8, "x", Some("one twox three"));
    check(4..4, "x", Some("one xtwo three"));
    check(0..4, "", Some("two three"));
    check(8..9, "", Some("one twothree"));
}

#[test]
fn undo_by_agent_keeps_user_edits() {
    for seed in 0..200 {
        let mut random = SeededRng::new(seed);
        let mut buffer = Buffer::new(&"row\n".repeat(40));
        let mut alone = Buffer::new(&"row\n".repeat(40));
        for now in 0..random.next_below(60) as u64 {
            // Even rows belong to the agent, odd rows to the user, so nothing overlaps.
            let row = Row(random.next_below(40) as u32);
            let author = if row.0.is_multiple_of(2) {
                Author::Formatter
            } else {
                Author::User
            };
            let origin = EditOrigin::new(author, EditKind::Other, Timestamp(now * 5000));
            let text = random.text(3).replace(['\n', '\r'], "x");
            let from = random.boundary(&buffer.snapshot().row_text(row));
            let place = |buffer: &Buffer| {
                let span = buffer.snapshot().row_span(row);
                Span::new((span.start + from.0).min(span.end), span.end)
            };
            if row.0 % 2 == 1 {
                let span = place(&alone);
                alone.replace(span, &text, &origin);
            }
            let span = place(&buffer);
            buffer.replace(span, &text, &origin);
            if random.one_in(5) {
                buffer.undo_by(&Author::Formatter, Timestamp(now));
            }
        }
        while buffer.undo_by(&Author::Formatter, Timestamp(0)).is_some() {}
        assert_eq!(text(&buffer), text(&alone), "seed {seed}");
    }
}

#[test]
fn a_sealed_state_does_not_grow_within_a_step() {
    let mut buffer = Buffer::new("");
    buffer.begin_step();
    buffer.replace(Span::from(0..0), "a", &EditOrigin::typing(Timestamp(0)));
    buffer.seal_step();
    let saved = buffer.history().current();
    buffer.replace(Span::from(1..1), "b", &EditOrigin::typing(Timestamp(1)));
    buffer.end_step();
    assert_ne!(buffer.history().current(), saved);
}
