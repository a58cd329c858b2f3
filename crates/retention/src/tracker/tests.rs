//! Units, their measurements and their fates.

mod histories;
mod oracle;
mod scripts;

use std::sync::Arc;

use text::{Buffer, Edit, EditOrigin, Snapshot, Timestamp};

use crate::{
    Fate, Measurement, Milestone, Remainder, RetentionEvent, RetentionTracker, TokenLoss, Writer,
    WriterCall, WriterKind,
};

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

fn writer(kind: WriterKind) -> Writer {
    Writer { kind, call: None }
}

/// Returns a writer by a letter.
fn by(letter: char) -> Writer {
    writer(match letter {
        'a' => WriterKind::Agent,
        't' => WriterKind::Tab,
        'f' => WriterKind::Formatter,
        'p' => WriterKind::Person,
        'u' => WriterKind::Undo,
        'g' => WriterKind::Git,
        _ => WriterKind::Unknown,
    })
}

fn measurements(events: &[RetentionEvent]) -> Vec<&Measurement> {
    let measured = events.iter().filter_map(|event| match event {
        RetentionEvent::Measured(measurement) => Some(measurement),
        RetentionEvent::Began(_) => None,
    });
    measured.collect()
}

/// Writes a remainder as `kept/tokens`, with the moved tokens and the losses.
fn written(left: &Remainder) -> String {
    let mut text = format!("{}/{}", left.kept, left.tokens);
    if left.moved > 0 {
        text += &format!(" moved {}", left.moved);
    }
    for TokenLoss { fate, tokens, .. } in &left.losses {
        text += &format!(" {fate:?} {tokens}");
    }
    text
}

/// Gives the tracker a text and then its later states, each with the letter of its writer and a minute after the
/// one before. Checks what is left of the tokens that the first change inserted or removed, a day later.
fn check_side(states: &[&str], expected: &str, side: impl Fn(&Measurement) -> &Remainder) {
    let mut tracker = RetentionTracker::default();
    tracker.open("a.rs", Snapshot::new(states[0]));
    let mut now = 0;
    for state in &states[1..] {
        now += MINUTE;
        let (letter, text) = state.split_once(':').expect("a writer");
        let letter = letter.chars().next().expect("a letter");
        tracker.observe("a.rs", Snapshot::new(text), &by(letter), now);
        tracker.assert_invariants();
    }
    tracker.advance(2 * DAY);
    let events = tracker.take_events();
    let measured = measurements(&events);
    let last = measured
        .iter()
        .find(|it| it.unit.0 == 0 && it.milestone == Milestone::Day);
    let last = last.expect("the first unit after a day");
    assert_eq!(written(side(last)), expected, "{states:?}");
}

fn check(states: &[&str], expected: &str) {
    check_side(states, expected, |it| &it.inserted);
}

fn check_removed(states: &[&str], expected: &str) {
    check_side(states, expected, |it| &it.removed);
}

#[test]
fn kept_tokens_are_counted() {
    check(&["x\n", "a:x\nlet y = 1;\n"], "5/5");
    check(
        &["x\n", "a:x\nlet y = 1;\n", "p:x\nlet y = 2;\n"],
        "4/5 ReworkedByPerson 1",
    );
    check(
        &["x\n", "a:x\nlet y = 1;\n", "a:x\nlet yy = 1;\n"],
        "4/5 ReworkedByAgent 1",
    );
    check(
        &["x\n", "a:x\nlet y = 1;\n", "f:x\n    let y =\n        1;\n"],
        "5/5",
    );
    check(
        &["x\n", "a:x\nlet y = 1;\n", "d:x\nlet y = 3;\n"],
        "4/5 ChangedByOthers 1",
    );
    check(
        &["x\n", "a:x\nlet y = 'z';\n", "f:x\nlet y = \"z\";\n"],
        "5/7 Reformatted 2",
    );
    check(
        &["x\n", "p:x\nlet y = 1;\n", "t:x\nlet y = 1 + 2;\n"],
        "5/5",
    );
}

#[test]
fn changes_that_are_taken_back_count_as_reverted() {
    check(&["x\n", "a:x\nlet y = 1;\n", "p:x\n"], "0/5 Reverted 5");
    check(&["x\n", "a:x\nlet y = 1;\n", "u:x\n"], "0/5 Reverted 5");
    check(
        &["one two\n", "a:one three four\n", "p:one two\n"],
        "0/2 Reverted 2",
    );
    // The agent's own correction is no judgement of the user.
    check(
        &["x\n", "a:x\nlet y = 1;\n", "a:x\n"],
        "0/5 ReworkedByAgent 5",
    );
    // A part that was reworked before keeps its reason.
    check(
        &["x\n", "a:x\nlet y = 1;\n", "p:x\nlet y = 2;\n", "p:x\n"],
        "0/5 ReworkedByPerson 1 Reverted 4",
    );
    // Something else in its place is a rework.
    check(
        &["x\n", "a:x\nlet y = 1;\n", "p:x\nreturn;\n"],
        "1/5 ReworkedByPerson 4",
    );
}

#[test]
fn text_that_comes_back_is_kept_again() {
    check(
        &[
            "x\nz\n",
            "a:x\nlet y = 1;\nz\n",
            "p:x\nz\n",
            "p:x\nlet y = 1;\nz\n",
        ],
        "5/5",
    );
    check(
        &[
            "x\nz\n",
            "a:x\nlet y = 1;\nz\n",
            "g:x\nz\n",
            "g:x\nlet y = 1;\nz\n",
        ],
        "5/5",
    );
    check(
        &["x\nz\n", "a:x\nlet y = 1;\nz\n", "g:x\nz\n"],
        "0/5 CheckedOut 5",
    );
    // Another text at the same place has some tokens in common by accident.
    check(
        &[
            "x\nz\n",
            "a:x\nlet y = f(1);\nz\n",
            "p:x\nz\n",
            "p:x\nreturn a.b(c, d) + e(g);\nz\n",
        ],
        "0/8 Reverted 8",
    );
}

#[test]
fn removed_tokens_are_kept_until_they_come_back() {
    check_removed(&["one two three\n", "a:one three\n"], "1/1");
    check_removed(
        &["one two three\n", "a:one three\n", "p:one two three\n"],
        "0/1 Reverted 1",
    );
    check_removed(&["a\nb c\nd\n", "a:a\nd\n", "p:a\nx\nd\n"], "2/2");
    check_removed(
        &["a\nb c\nd\n", "a:a\nd\n", "a:a\nb c\nd\n"],
        "0/2 ReworkedByAgent 2",
    );
    check_removed(
        &["a\nb c\nd\n", "a:a\nd\n", "p:a\nb c\nd\n", "p:a\nd\n"],
        "2/2",
    );
}

#[test]
fn moved_tokens_are_kept() {
    let moved = "fn f(a: u8) -> u8 {\n    a + 1\n}\n";
    let rest = "one two three four five six seven eight nine ten\neleven twelve\nfor you and me\n";
    let states = [
        rest.to_owned(),
        format!("a:{moved}{rest}"),
        format!("p:{rest}{moved}"),
    ];
    check(&states.each_ref().map(String::as_str), "15/15 moved 15");
    let changed = format!("p:{rest}{}", moved.replace("+ 1", "+ 2"));
    let states = [&states[0], &states[1], &changed];
    // The last two tokens are too few to be recognized.
    check(
        &states.map(String::as_str),
        "13/15 moved 13 ReworkedByPerson 2",
    );
}

#[test]
fn text_moves_between_documents() {
    let moved = "fn f(a: u8) -> u8 {\n    a + 1\n}\n";
    let mut tracker = RetentionTracker::default();
    tracker.open("a.rs", Snapshot::new(""));
    tracker.open("b.rs", Snapshot::new("mod a;\n"));
    tracker.observe("a.rs", Snapshot::new(moved), &by('a'), 0);
    tracker.observe("a.rs", Snapshot::new(""), &by('p'), MINUTE);
    let other = format!("mod a;\n{moved}");
    tracker.observe("b.rs", Snapshot::new(&other), &by('p'), MINUTE + 5_000);
    tracker.observe(
        "b.rs",
        Snapshot::new(&other.replace('1', "2")),
        &by('p'),
        HOUR,
    );
    tracker.assert_invariants();
    tracker.advance(2 * DAY);
    let events = tracker.take_events();
    let days = measurements(&events).into_iter();
    let mut days = days.filter(|it| it.milestone == Milestone::Day);
    let first = days.next().expect("the agent's unit");
    assert_eq!(
        written(&first.inserted),
        "14/15 moved 14 ReworkedByPerson 1"
    );
    // The user wrote and removed nothing but the digit.
    let tokens: Vec<(u32, u32)> = days
        .map(|it| (it.inserted.tokens, it.removed.tokens))
        .collect();
    assert_eq!(tokens, [(0, 0), (1, 1)]);
}

#[test]
fn measurements_describe_their_moment() {
    let mut tracker = RetentionTracker::default();
    tracker.open("a", Snapshot::new(""));
    tracker.observe("a", Snapshot::new("b c d e"), &by('a'), 1_000);
    tracker.observe("a", Snapshot::new("b c d"), &by('p'), 1_000 + MINUTE);
    tracker.observe("a", Snapshot::new("b c"), &by('p'), 1_000 + 30 * MINUTE);
    tracker.advance(10 * DAY);
    let events = tracker.take_events();
    let measured = measurements(&events);
    let first: Vec<(u64, u32)> = measured
        .iter()
        .filter(|it| it.unit.0 == 0)
        .map(|it| (it.after_ms / 1_000, it.inserted.kept))
        .collect();
    let expected = [(30, 4), (120, 3), (600, 3), (3_600, 2), (86_400, 2)];
    assert_eq!(first, expected);
    let losses: Vec<(u64, u32)> = measured[measured.len() - 3]
        .inserted
        .losses
        .iter()
        .map(|it| (it.after_ms, it.tokens))
        .collect();
    assert_eq!(losses, [(MINUTE, 1), (30 * MINUTE, 1)]);
}

#[test]
fn closed_units_are_not_lost() {
    let mut tracker = RetentionTracker::default();
    tracker.open("a", Snapshot::new(""));
    tracker.observe("a", Snapshot::new("b c d"), &by('a'), 0);
    tracker.observe("a", Snapshot::new("b c"), &by('p'), MINUTE);
    tracker.close_all(5 * MINUTE);
    tracker.advance(2 * DAY);
    let events = tracker.take_events();
    let measured = measurements(&events);
    let closed: Vec<(Milestone, u64, String)> = measured
        .iter()
        .filter(|it| it.unit.0 == 0)
        .map(|it| (it.milestone, it.after_ms, written(&it.inserted)))
        .collect();
    let lost = "2/3 ReworkedByPerson 1".to_owned();
    assert_eq!(
        closed,
        [
            (Milestone::HalfMinute, 30_000, "3/3".to_owned()),
            (Milestone::TwoMinutes, 120_000, lost.clone()),
            (Milestone::Closed, 300_000, lost),
        ]
    );
}

#[test]
fn commits_and_landings_are_measured_once() {
    let mut tracker = RetentionTracker::default();
    tracker.open("lease/a", Snapshot::new("one\n"));
    tracker.open("user/a", Snapshot::new("zero\none\n"));
    tracker.observe(
        "lease/a",
        Snapshot::new("one\ntwo three\nfour\n"),
        &by('a'),
        0,
    );
    // The user rejects one row of the change.
    tracker.land(
        "lease/a",
        "user/a",
        &Snapshot::new("zero\none\ntwo three\n"),
        HOUR,
    );
    tracker.observe(
        "user/a",
        Snapshot::new("zero\none\ntwo three\n"),
        &by('g'),
        HOUR,
    );
    tracker.observe(
        "user/a",
        Snapshot::new("zero\none\ntwo 3\n"),
        &by('p'),
        2 * HOUR,
    );
    tracker.commit("user/a", &Snapshot::new("zero\none\ntwo three\n"), 3 * HOUR);
    tracker.commit("user/a", &Snapshot::new("zero\none\n"), 4 * HOUR);
    tracker.assert_invariants();
    let events = tracker.take_events();
    let measured = measurements(&events);
    let moments: Vec<(Milestone, u64, String)> = measured
        .iter()
        .filter(|it| it.unit.0 == 0 && it.milestone >= Milestone::Commit)
        .map(|it| (it.milestone, it.after_ms / HOUR, written(&it.inserted)))
        .collect();
    let landed = "2/3 ReworkedByPerson 1".to_owned();
    assert_eq!(
        moments,
        [
            (Milestone::Landing, 1, landed.clone()),
            (Milestone::Commit, 3, landed)
        ]
    );
}

#[test]
fn renamed_documents_keep_their_units() {
    let mut tracker = RetentionTracker::default();
    tracker.open("a", Snapshot::new(""));
    tracker.observe("a", Snapshot::new("b c d"), &by('a'), 0);
    tracker.rename("a", "z", MINUTE);
    tracker.observe("z", Snapshot::new("b c"), &by('p'), 2 * MINUTE);
    assert!(!tracker.is_open("a") && tracker.is_open("z"));
    tracker.assert_invariants();
    tracker.advance(DAY);
    let events = tracker.take_events();
    let measured = measurements(&events);
    let day = measured.iter().find(|it| it.milestone == Milestone::Day);
    assert_eq!(
        written(&day.expect("a day").inserted),
        "2/3 ReworkedByPerson 1"
    );
}

#[test]
fn typing_is_one_unit_until_the_writer_pauses() {
    let mut tracker = RetentionTracker::default();
    let mut buffer = Buffer::new("start\n");
    tracker.open("a", buffer.snapshot());
    let mut now = 0;
    let mut edit =
        |tracker: &mut RetentionTracker, range: std::ops::Range<usize>, text: &str, pause: u64| {
            now += pause;
            let origin = EditOrigin::typing(Timestamp(now));
            let change = buffer.edit(&[Edit::new(range.into(), text)], &origin);
            tracker.edit("a", (&change, &buffer.snapshot()), &by('p'), now);
        };
    for (ix, letter) in "one twp".chars().enumerate() {
        edit(&mut tracker, 6 + ix..6 + ix, &letter.to_string(), 100);
    }
    // A corrected letter within the burst is no rework.
    edit(&mut tracker, 12..13, "o", 500);
    edit(&mut tracker, 13..13, " three", 10_000);
    // The second unit extends a word of the first one.
    edit(&mut tracker, 13..13, "s", 10_000);
    tracker.advance(DAY);
    tracker.assert_invariants();
    let events = tracker.take_events();
    let began: Vec<(u64, u32, u32)> = events
        .iter()
        .filter_map(|event| match event {
            RetentionEvent::Began(unit) => Some((unit.at_ms, unit.inserted, unit.removed)),
            RetentionEvent::Measured(_) => None,
        })
        .collect();
    assert_eq!(began, [(1_200, 2, 0), (11_200, 1, 0), (21_200, 1, 1)]);
    tracker.advance(2 * DAY);
    let events = [events, tracker.take_events()].concat();
    let measured = measurements(&events);
    let days = measured.iter().filter(|it| it.milestone == Milestone::Day);
    let days: Vec<String> = days.map(|it| written(&it.inserted)).collect();
    assert_eq!(days, ["1/2 ReworkedByPerson 1", "1/1", "1/1"]);
}

#[test]
fn texts_of_git_and_other_programs_are_no_units() {
    let mut tracker = RetentionTracker::default();
    tracker.open("a", Snapshot::new("one\n"));
    for (letter, text) in [('g', "one\ntwo\n"), ('d', "one\nthree\n"), ('u', "one\n")] {
        tracker.observe("a", Snapshot::new(text), &by(letter), 0);
    }
    tracker.advance(DAY);
    assert_eq!(tracker.take_events(), []);
    let call = WriterCall {
        session: "s".to_owned(),
        turn: 1,
        call: "c".to_owned(),
        tool: "edit".to_owned(),
    };
    let agent = Writer {
        kind: WriterKind::Agent,
        call: Some(Arc::new(call)),
    };
    tracker.observe(
        "a",
        Snapshot::new("one\ntwo\nthree four\n"),
        &agent,
        2 * DAY,
    );
    let events = tracker.take_events();
    let [RetentionEvent::Began(unit)] = events.as_slice() else {
        panic!("{events:?}");
    };
    assert_eq!((unit.inserted, unit.removed, unit.rows), (3, 0, 2));
    assert_eq!(unit.writer, agent);
}

#[test]
fn large_texts_are_not_followed() {
    let mut tracker = RetentionTracker::default();
    let large = "word ".repeat(crate::MAX_TEXT_BYTES / 5 + 1);
    tracker.open("a", Snapshot::new("small"));
    tracker.observe("a", Snapshot::new("small text"), &by('a'), 0);
    tracker.observe("a", Snapshot::new(&large), &by('a'), MINUTE);
    assert!(!tracker.is_open("a"));
    let events = tracker.take_events();
    let last = measurements(&events)
        .into_iter()
        .next_back()
        .expect("a measurement");
    assert_eq!((last.milestone, last.inserted.kept), (Milestone::Closed, 1));
    assert_eq!(Fate::ALL.len(), 6);
}
