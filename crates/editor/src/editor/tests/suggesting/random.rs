//! Tests random sessions of keys, edits by others and suggestions of every kind: shown and accepted suggestions are
//! compared with the text.

use autocomplete::Suggestion;
use base::{ByteOffset, Revision, Row, Span};
use display::{DisplayRow, SegmentKind};
use gpui_kit::{Entity, TestAppContext, VisualTestContext};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use text::{Author, Edit, Snapshot};

use super::{Heard, open_with_keys, suggestion};
use crate::{Editor, SuggestionEvent};

const START: &str = "fn one(a: u32) {\n    let b = a;\n    \n\n}\n\nstruct S {\n    x: u8,\n}\nˇ\n";

const KEYS: &[&str] = &[
    "a",
    "x",
    "(",
    "enter",
    "space",
    "backspace",
    "left",
    "right",
    "up",
    "down",
    "home",
    "end",
    "escape",
    "ctrl-z",
    "ctrl-y",
    "ctrl-home",
    "ctrl-end",
    "shift-right",
    "shift-alt-down",
    "alt-]",
];

const NEW: &[&str] = &[
    "x",
    "ab c",
    "    ",
    "    y();",
    "a {\n    b\n}",
    "\n",
    "x\ny",
    "",
    "größe(",
    "()",
    "\tz",
];

struct Session<'a> {
    rng: StdRng,
    editor: Entity<Editor>,
    heard: Heard,
    cx: &'a mut VisualTestContext,
    log: Vec<String>,
    /// Counts of shown and accepted suggestions.
    seen: u32,
    took: u32,
    jumps: u32,
}

impl Session<'_> {
    fn snapshot(&mut self) -> Snapshot {
        self.editor
            .update(self.cx, |editor, cx| editor.model.read(cx).snapshot())
    }

    fn place(&mut self, snapshot: &Snapshot) -> ByteOffset {
        let at = ByteOffset(self.rng.random_range(0..=snapshot.len().0));
        snapshot.clip(at, base::Bias::Left)
    }

    fn step(&mut self) {
        match self.rng.random_range(0..12) {
            0..=3 => self.offer(),
            4..=6 => self.key(),
            7 => self.type_it(),
            8 => self.edit_by_another(),
            9 => self.take_part(["ctrl-right", "ctrl-down", "alt-l"]),
            _ => self.tab(),
        }
        self.cx.run_until_parked();
        self.check();
    }

    fn offer(&mut self) {
        let snapshot = self.snapshot();
        let head = self
            .editor
            .update(self.cx, |editor, cx| editor.selections(cx).primary().head);
        let at = if self.rng.random_bool(0.5) {
            head
        } else {
            self.place(&snapshot)
        };
        let mut span = Span::at(at);
        if self.rng.random_bool(0.3) {
            let len = self.rng.random_range(0..12);
            span.end = snapshot
                .clip((at + len).min(snapshot.len()), base::Bias::Left)
                .max(at);
        }
        let mut edits = vec![(span, NEW[self.rng.random_range(0..NEW.len())])];
        let next = self.place(&snapshot);
        if self.rng.random_bool(0.3) && next > span.end {
            edits.push((Span::at(next), NEW[self.rng.random_range(0..NEW.len())]));
        }
        edits.retain(|(span, new)| snapshot.text(*span) != *new);
        if edits.is_empty() {
            return;
        }
        let mut offered = suggestion(&self.editor, &edits, self.cx);
        if self.rng.random_bool(0.05) {
            offered.file = base::AbsPath::new("/b.rs");
        }
        self.log.push(format!("offer {:?}", offered.edits));
        self.editor.update(self.cx, |editor, cx| {
            editor.set_suggestion(Some(offered), cx)
        });
    }

    fn key(&mut self) {
        let key = KEYS[self.rng.random_range(0..KEYS.len())];
        self.log.push(key.to_owned());
        self.cx.simulate_keystrokes(key);
    }

    /// Types the next letters of the suggestion.
    fn type_it(&mut self) {
        let offered = self.offered();
        let Some(text) = offered.and_then(|offered| Some(offered.edits.first()?.new.clone()))
        else {
            return;
        };
        let count = self.rng.random_range(1..4);
        for letter in text.chars().take(count) {
            self.log.push(format!("type {letter:?}"));
            match letter {
                '\n' => self.cx.simulate_keystrokes("enter"),
                '\t' => {}
                letter => self.cx.simulate_input(&letter.to_string()),
            }
            self.check();
        }
    }

    fn edit_by_another(&mut self) {
        let snapshot = self.snapshot();
        let (a, b) = (self.place(&snapshot), self.place(&snapshot));
        let end = if self.rng.random_bool(0.7) {
            a
        } else {
            b.min(a + 5).max(a)
        };
        let span = Span::new(a, snapshot.clip(end, base::Bias::Left).max(a));
        let new = NEW[self.rng.random_range(0..NEW.len())];
        self.log.push(format!("another {span:?} {new:?}"));
        let edit = Edit::new(span, new);
        let model = self
            .editor
            .update(self.cx, |editor, _| editor.model.clone());
        self.cx
            .update(|_, cx| model.update(cx, |model, cx| model.edit(&[edit], Author::User, cx)));
    }

    fn offered(&mut self) -> Option<Suggestion> {
        self.editor
            .update(self.cx, |editor, _| editor.suggestion().cloned())
    }

    fn take_part(&mut self, keys: [&str; 3]) {
        let key = keys[self.rng.random_range(0..keys.len())];
        self.log.push(key.to_owned());
        self.press_and_compare(key);
    }

    /// Presses a key that may accept the suggestion. If it is accepted whole, the text must have its edits
    /// applied.
    fn press_and_compare(&mut self, key: &str) -> Option<Revision> {
        let before = self.snapshot();
        let offered = self.offered();
        let is_single = self
            .editor
            .update(self.cx, |editor, cx| editor.selections(cx).len() == 1);
        let heard = self.heard.borrow().len();
        self.cx.simulate_keystrokes(key);
        let after = self.snapshot();
        let heard: Vec<SuggestionEvent> = self.heard.borrow()[heard..].to_vec();
        let part = heard.iter().find_map(|event| match event {
            SuggestionEvent::Taken { part, change, .. } => Some((*part, change.after)),
            _ => None,
        });
        let Some((part, revision)) = part else {
            if heard
                .iter()
                .any(|event| matches!(event, SuggestionEvent::Jumped(_)))
            {
                self.take_after_jump(offered, &before);
            } else if !heard.is_empty() {
                assert_eq!(before.to_string(), after.to_string(), "{heard:?}");
            }
            return None;
        };
        let offered = offered.expect("what was taken was offered");
        assert!(offered.applies_to(&before));
        if is_single {
            let mut expected = before.to_string();
            for edit in offered.accept_edits(part).iter().rev() {
                expected.replace_range(edit.span.range(), &edit.text);
            }
            assert_eq!(after.to_string(), expected);
        }
        assert_eq!(revision, after.revision());
        self.took += 1;
        Some(revision)
    }

    /// A jump does not change the text; the next key accepts the suggestion.
    fn take_after_jump(&mut self, offered: Option<Suggestion>, before: &Snapshot) {
        assert_eq!(self.snapshot().to_string(), before.to_string());
        assert_eq!(self.offered(), offered);
        self.jumps += 1;
        if self.rng.random_bool(0.7) {
            let key = ["tab", "alt-l"][self.rng.random_range(0..2)];
            self.log.push(format!("{key} after a jump"));
            assert!(self.press_and_compare(key).is_some(), "{:?}", self.log);
        }
    }

    /// Presses Tab, which must not accept the suggestion if the row of a caret needs indentation.
    fn tab(&mut self) {
        self.log.push("tab".to_owned());
        let snapshot = self.snapshot();
        let (head, jumped) = self.editor.update(self.cx, |editor, cx| {
            let head = editor.selections(cx).primary().head;
            let jumped = editor.suggestion.has_jumped_to(head);
            (head, jumped)
        });
        let wants_indent = wants_indent(&snapshot, head);
        let selected = self.editor.update(self.cx, |editor, cx| {
            !editor.selections(cx).primary().is_empty()
        });
        let heard = self.heard.borrow().len();
        self.press_and_compare("tab");
        if (wants_indent && !jumped) || selected {
            let events = &self.heard.borrow()[heard..];
            assert!(
                events.is_empty(),
                "Tab led to {events:?} at {head:?} of {:?}",
                snapshot.to_string()
            );
        }
    }

    fn check(&mut self) {
        let log = &self.log;
        let seen = &mut self.seen;
        self.editor.update(self.cx, |editor, cx| {
            let text = editor.model.read(cx).snapshot();
            assert_eq!(editor.snapshot.revision(), text.revision());
            if let Some(offered) = editor.suggestion() {
                assert_eq!(offered.revision, text.revision());
                assert!(offered.applies_to(&text), "{log:?}");
            } else {
                assert!(!editor.shows_suggestion(), "{log:?}");
            }
            // Without inserted text, the rows equal those of the text.
            let mut shown = String::new();
            let mut put_in = String::new();
            let display = &editor.display;
            for row in (0..display.row_count()).map(DisplayRow) {
                let line = display.line(row);
                if line.buffer_row.is_some_and(|row| row.0 > 0) {
                    shown.push('\n');
                }
                for segment in &line.segments {
                    match segment.kind {
                        SegmentKind::Inlay(_) => put_in.push_str(&line.text[segment.text.clone()]),
                        SegmentKind::Tab => shown.push('\t'),
                        _ => shown.push_str(&line.text[segment.text.clone()]),
                    }
                }
            }
            assert_eq!(shown, text.to_string(), "{log:?}");
            let is_seen = editor
                .suggestion
                .in_text()
                .is_some_and(|shown| !shown.pieces.is_empty());
            *seen += u32::from(is_seen);
            assert!(is_seen || put_in.is_empty(), "{put_in:?} {log:?}");
        });
    }
}

/// Returns whether the caret is within the leading blanks of a row that is indented less than the
/// enclosing brackets require. Counts braces, the only brackets in these texts.
fn wants_indent(snapshot: &Snapshot, head: ByteOffset) -> bool {
    let row = snapshot.point_at(head).row;
    let text = snapshot.row_text(row).into_owned();
    let blanks = text.len() - text.trim_start_matches([' ', '\t']).len();
    let is_in_blanks = (head - snapshot.row_start(row)) <= blanks;
    let above = row
        .0
        .checked_sub(1)
        .map(|row| snapshot.row_text(Row(row)).into_owned());
    let Some(above) = above else {
        return false;
    };
    let opens = above.starts_with("fn one(a: u32) {") && above.ends_with('{');
    is_in_blanks && opens && blanks == 0
}

fn run(seed: u64, cx: &mut TestAppContext) {
    let far: String = (0..80).map(|row| format!("// row {row}\n")).collect();
    let text = format!("{START}{far}");
    let (editor, heard, _heard, cx) = open_with_keys("/a.rs", &text, cx);
    let mut session = Session {
        rng: StdRng::seed_from_u64(seed),
        editor,
        heard,
        cx,
        log: Vec::new(),
        seen: 0,
        took: 0,
        jumps: 0,
    };
    for _ in 0..110 {
        session.step();
    }
    assert!(
        session.seen > 10 && session.took + session.jumps > 0,
        "{} {} {}",
        session.seen,
        session.took,
        session.jumps
    );
}

#[gpui_kit::test(iterations = 8)]
fn accepting_yields_exactly_the_shown_suggestion(cx: &mut TestAppContext, rng: StdRng) {
    let mut rng = rng;
    run(rng.random(), cx);
}
