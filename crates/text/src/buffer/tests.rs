//! Random edits against a plain `String`, and the editing traces.

use std::collections::HashMap;

use base::{Bias, ByteOffset, Revision, Row, Span};

use crate::anchors::AnchorId;
use crate::buffer::Buffer;
use crate::change::Change;
use crate::edit::{Author, Edit, EditKind, EditOrigin, Timestamp};
use crate::history::{CheckpointId, NodeId};
use crate::random::SeededRng;
use crate::selection::{Selection, SelectionSet};

mod steps;
mod traces;

const AUTHORS: [Author; 3] = [
    Author::User,
    Author::Agent {
        session: 7,
        turn: 1,
    },
    Author::Formatter,
];

/// A buffer and its expected state.
struct Model {
    buffer: Buffer,
    text: String,
    /// Text of every state of the undo tree.
    states: HashMap<NodeId, String>,
    checkpoints: Vec<CheckpointId>,
    anchors: Vec<(AnchorId, ByteOffset)>,
    selections: SelectionSet,
    /// Texts of earlier revisions, to check the change log.
    past: Vec<(Revision, String)>,
    now: u64,
}

impl Model {
    fn new(text: &str) -> Self {
        let mut buffer = Buffer::new(text);
        buffer.set_recording(true);
        Self {
            buffer,
            text: text.to_owned(),
            states: HashMap::from([(NodeId(0), text.to_owned())]),
            checkpoints: Vec::new(),
            anchors: Vec::new(),
            selections: SelectionSet::single(Selection::caret(ByteOffset(0))),
            past: vec![(Revision(0), text.to_owned())],
            now: 0,
        }
    }

    /// Applies a change to the expected state and checks its splices.
    fn took(&mut self, change: &Change) {
        let after = self.buffer.snapshot().to_string();
        check_change(change, &self.text, &after);
        self.text = after;
        for (anchor, expected) in &mut self.anchors {
            *expected = change.map(*expected, anchor.bias());
        }
        self.selections = self.selections.map(change);
        self.past.push((change.after, self.text.clone()));
        if self.past.len() > 20 {
            self.past.remove(0);
        }
    }

    fn edit(&mut self, random: &mut SeededRng) {
        let count = if random.one_in(4) {
            random.next_below(4)
        } else {
            1
        };
        let mut ends: Vec<ByteOffset> = (0..2 * count)
            .map(|_| random.boundary(&self.text))
            .collect();
        ends.sort();
        let mut edits: Vec<Edit> = ends
            .chunks(2)
            .map(|pair| {
                let far = pair[1].0 - pair[0].0 > 30 && !random.one_in(8);
                let end = if far || random.one_in(2) {
                    pair[0]
                } else {
                    pair[1]
                };
                Edit::new(Span::new(pair[0], end), random.text(3))
            })
            .collect();
        let mut expected = self.text.clone();
        for edit in edits.iter().rev() {
            expected.replace_range(edit.span.range(), &edit.text);
        }
        if random.one_in(3) {
            edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
        }
        let kinds = [EditKind::Typing, EditKind::Deleting, EditKind::Other];
        self.now += random.next() % 1500;
        let origin = EditOrigin::new(
            AUTHORS[random.next_below(3)],
            kinds[random.next_below(3)],
            Timestamp(self.now),
        );
        let change = self.buffer.edit(&edits, &origin);
        self.took(&change);
        assert_eq!(self.text, expected);
        self.states
            .insert(self.buffer.history().current(), expected);
    }

    /// Types and deletes at one place, like a user.
    fn type_run(&mut self, random: &mut SeededRng) {
        let mut at = random.boundary(&self.text);
        for _ in 0..random.next_below(12) {
            self.now += random.next() % 300;
            let backwards = self.text[..at.0].chars().next_back();
            if random.one_in(4)
                && let Some(char) = backwards
            {
                let span = Span::new(at - char.len_utf8(), at);
                let kind = if random.one_in(2) {
                    EditKind::Typing
                } else {
                    EditKind::Deleting
                };
                let origin = EditOrigin::new(Author::User, kind, Timestamp(self.now));
                let change = self.buffer.replace(span, "", &origin);
                at = span.start;
                self.took(&change);
            } else {
                let text = random.text(1);
                let change = self.buffer.replace(
                    Span::at(at),
                    &text,
                    &EditOrigin::typing(Timestamp(self.now)),
                );
                at += text.len();
                self.took(&change);
            }
            self.states
                .insert(self.buffer.history().current(), self.text.clone());
        }
    }

    fn travel(&mut self, random: &mut SeededRng) {
        let buffer = &mut self.buffer;
        let target = NodeId(random.next_below(self.states.len()) as u32);
        let restored = match random.next_below(5) {
            0 => buffer.redo(),
            1 => buffer.go_to(target),
            2 if !self.checkpoints.is_empty() => {
                let checkpoint = self.checkpoints[random.next_below(self.checkpoints.len())];
                buffer.restore(checkpoint)
            }
            3 => buffer.undo_by(&AUTHORS[random.next_below(3)], Timestamp(self.now)),
            _ => buffer.undo(),
        };
        if let Some(restored) = restored {
            self.took(&restored.change);
            let current = self.buffer.history().current();
            let known = self
                .states
                .entry(current)
                .or_insert_with(|| self.text.clone());
            assert_eq!(*known, self.text, "state {current:?}");
        }
    }

    fn note(&mut self, random: &mut SeededRng) {
        match random.next_below(8) {
            0 => self.buffer.begin_step(),
            1 if self.buffer.history().is_step_open() => self.buffer.end_step(),
            2 => self.buffer.seal_step(),
            3 => {
                let checkpoint = self.buffer.checkpoint("here");
                self.checkpoints.push(checkpoint);
            }
            4 => self.buffer.note_selections_before(&self.selections),
            5 => self.buffer.note_selections_after(&self.selections),
            _ => {
                let bias = if random.one_in(2) {
                    Bias::Left
                } else {
                    Bias::Right
                };
                let offset = random.boundary(&self.text);
                self.anchors
                    .push((self.buffer.create_anchor(offset, bias), offset));
                if random.one_in(4) {
                    let ix = random.next_below(self.anchors.len());
                    self.buffer.release_anchor(self.anchors.swap_remove(ix).0);
                }
            }
        }
    }

    fn check(&self) {
        self.buffer.assert_invariants();
        self.selections.assert_invariants();
        let snapshot = self.buffer.snapshot();
        assert_eq!(snapshot.to_string(), self.text);
        assert_eq!(
            snapshot.row_count() as usize,
            self.text.matches('\n').count() + 1
        );
        assert_eq!(
            snapshot.utf16_at(snapshot.len()),
            self.text.encode_utf16().count()
        );
        for (anchor, expected) in &self.anchors {
            assert_eq!(self.buffer.resolve(*anchor), *expected, "{anchor:?}");
        }
        for selection in self.selections.iter() {
            assert!(self.text.is_char_boundary(selection.head.0));
            assert!(self.text.is_char_boundary(selection.anchor.0));
        }
        for (revision, text) in &self.past {
            let change = self
                .buffer
                .changes_since(*revision)
                .expect("the log is long enough");
            check_change(&change, text, &self.text);
        }
    }
}

/// Asserts that both texts agree outside the splices, and that the splices are in normal form.
fn check_change(change: &Change, before: &str, after: &str) {
    let (mut old, mut new) = (0, 0);
    for (ix, splice) in change.splices.iter().enumerate() {
        let kept = splice.old.start.0 - old;
        assert!(ix == 0 || kept > 0, "splices touch: {change:?}");
        assert_eq!(kept, splice.new.start.0 - new, "{change:?}");
        assert_eq!(
            before[old..old + kept],
            after[new..new + kept],
            "{change:?}"
        );
        assert!(!splice.old.is_empty() || !splice.new.is_empty());
        (old, new) = (splice.old.end.0, splice.new.end.0);
    }
    assert_eq!(before[old..], after[new..], "{change:?}");
}

#[test]
fn random_edits_agree_with_a_plain_string() {
    for seed in 0..40 {
        println!("seed {seed}");
        let mut random = SeededRng::new(seed);
        let start = random.text(if seed % 3 == 0 { 2000 } else { 30 });
        let mut model = Model::new(&start);
        for _ in 0..150 {
            match random.next_below(10) {
                0..4 => model.edit(&mut random),
                4..6 => model.type_run(&mut random),
                6..8 => model.travel(&mut random),
                _ => model.note(&mut random),
            }
            model.check();
        }
        // Every state of the tree is reachable from every other.
        for _ in 0..20 {
            let target = NodeId(random.next_below(model.states.len()) as u32);
            model.buffer.go_to(target);
            assert_eq!(model.buffer.snapshot().to_string(), model.states[&target]);
        }
        replays_to_the_same(&start, &mut model.buffer);
    }
}

/// Asserts that replaying the operations gives the same text, tree and selections.
fn replays_to_the_same(start: &str, buffer: &mut Buffer) {
    let operations = buffer.take_operations();
    let mut copy = Buffer::new(start);
    copy.set_recording(true);
    for operation in &operations {
        copy.apply_operation(operation);
    }
    assert_eq!(copy.take_operations(), operations);
    assert_eq!(copy.snapshot().to_string(), buffer.snapshot().to_string());
    assert_eq!(copy.revision(), buffer.revision());
    let (ours, theirs) = (copy.history(), buffer.history());
    assert!(ours.steps().eq(theirs.steps()));
    assert_eq!(ours.current(), theirs.current());
    assert!(ours.checkpoints().eq(theirs.checkpoints()));
    while let Some(restored) = buffer.undo() {
        assert_eq!(copy.undo(), Some(restored));
    }
    assert_eq!(copy.undo(), None);
}

#[test]
fn a_damaged_recording_does_no_harm() {
    for seed in 0..100 {
        let mut random = SeededRng::new(seed);
        let mut model = Model::new(&random.text(30));
        for _ in 0..40 {
            match random.next_below(4) {
                0 => model.travel(&mut random),
                1 => model.note(&mut random),
                _ => model.edit(&mut random),
            }
        }
        let mut operations = model.buffer.take_operations();
        for _ in 0..5 {
            operations.remove(random.next_below(operations.len()));
        }
        let other = random.next_below(operations.len());
        operations.swap(0, other);
        let mut buffer = Buffer::new(&random.text(20));
        for operation in &operations {
            buffer.apply_operation(operation);
            buffer.assert_invariants();
        }
    }
}

#[test]
fn change_log_drops_old_changes() {
    let mut buffer = Buffer::new("");
    for _ in 0..5000 {
        buffer.replace(Span::default(), "x", &EditOrigin::typing(Timestamp(0)));
    }
    assert_eq!(buffer.changes_since(Revision(0)), None);
    assert_eq!(buffer.changes_since(Revision(6000)), None);
    let change = buffer.changes_since(Revision(4500)).expect("recent");
    assert_eq!(change.splices[0].new, Span::from(0..500));
    assert!(
        buffer
            .changes_since(Revision(5000))
            .is_some_and(|change| change.is_empty())
    );
}

#[test]
fn change_log_has_a_batch_as_one_change() {
    let mut buffer = Buffer::new("");
    let origin = EditOrigin::typing(Timestamp(0));
    buffer.replace(Span::default(), "ab", &origin);
    let before = buffer.snapshot().revision();
    buffer.begin_batch();
    for _ in 0..3000 {
        buffer.replace(Span::from(1..1), "x", &origin);
    }
    buffer.end_batch(before);
    let change = buffer.changes_since(before).expect("the batch");
    assert_eq!(change.splices[0].new, Span::from(1..3001));
    assert_eq!(buffer.changes_since(Revision(before.0 + 1)), None);
    buffer.replace(Span::default(), "y", &origin);
    let change = buffer.changes_since(before).expect("the batch and more");
    assert_eq!(change.after, buffer.snapshot().revision());
    let whole = buffer.changes_since(Revision(0)).expect("all");
    assert_eq!(whole.splices[0].new, Span::from(0..3003));
}

#[test]
fn long_texts_share_storage_and_are_restored() {
    let page = "a line of text, and some more of it\r\n".repeat(2000);
    let mut buffer = Buffer::new(&page);
    let span = Span::from(1000..60_000);
    let origin = EditOrigin::user(Timestamp(0));
    buffer.replace(span, &page, &origin);
    let edits = [
        Edit::new(Span::from(0..5000), &*page),
        Edit::new(Span::from(9000..9001), "é"),
    ];
    buffer.edit(&edits, &origin);
    let last = buffer.snapshot().to_string();
    buffer.undo();
    assert_eq!(buffer.len(), ByteOffset(page.len() * 2 - span.len()));
    buffer.undo();
    assert_eq!(buffer.snapshot().to_string(), page);
    buffer.redo();
    buffer.redo();
    assert_eq!(buffer.snapshot().to_string(), last);
    buffer.assert_invariants();
}

#[test]
fn large_edits_undo_by_swapping_whole_texts() {
    let page = "some text, é\r\n".repeat(20_000);
    let mut buffer = Buffer::new(&page);
    let origin = |now| EditOrigin::typing(Timestamp(now));
    let all = buffer.snapshot().full_span();
    buffer.replace(all, "x", &origin(0));
    buffer.replace(Span::from(1..1), "y", &origin(1));
    buffer.replace(Span::from(1..1), &page, &origin(2));
    buffer.replace(Span::from(0..1), "", &EditOrigin::deleting(Timestamp(3)));
    let edits = [
        Edit::new(Span::from(0..4), "z"),
        Edit::new(Span::from(9..200_000), ""),
    ];
    buffer.edit(&edits, &EditOrigin::user(Timestamp(4)));
    let mut states = vec![buffer.snapshot().to_string()];
    while buffer.undo().is_some() {
        buffer.assert_invariants();
        states.push(buffer.snapshot().to_string());
    }
    assert_eq!(states.last(), Some(&page));
    while buffer.redo().is_some() {
        states.pop();
        assert_eq!(Some(&buffer.snapshot().to_string()), states.last());
    }
    assert_eq!(states.len(), 1);
}

#[test]
fn line_ending_follows_the_start_of_the_text() {
    let check = |text: &str, expected: &str| {
        assert_eq!(
            Buffer::new(text).line_ending().as_str(),
            expected,
            "{text:?}"
        );
    };
    check("", "\n");
    check("a\nb\r\nc\n", "\n");
    check("a\r\nb\r\nc\n", "\r\n");
    assert_eq!(
        Buffer::new("a\r\nb").snapshot().row_end(Row(0)),
        ByteOffset(1)
    );
}

#[test]
fn snapshots_are_send_and_sync() {
    fn sent<T: Send>(_: &T) {}
    fn shared<T: Sync>(_: &T) {}
    let buffer = Buffer::new("");
    sent(&buffer);
    sent(&buffer.snapshot());
    shared(&buffer.snapshot());
}
