//! Document synchronisation against a server that applies changes by the letter of the protocol.

use base::{AbsPath, ByteOffset, Span};
use gen_lsp_types::{Position, TextDocumentContentChangeEvent};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use text::{Buffer, Edit, EditOrigin, Snapshot, Timestamp};

use super::OpenDocument;
use crate::capabilities::SyncKind;
use crate::diagnostics::{Diagnostic, DiagnosticSeverity, DiagnosticTags};
use crate::position::PositionEncoding::{self, Utf8, Utf16, Utf32};
use crate::random;

/// The copy of a server, for which `\n`, `\r\n` and `\r` end a line.
struct ServerCopy {
    text: String,
    encoding: PositionEncoding,
}

impl ServerCopy {
    fn apply(&mut self, events: Vec<TextDocumentContentChangeEvent>) {
        for event in events {
            match event {
                TextDocumentContentChangeEvent::TextDocumentContentChangePartial(partial) => {
                    let range = self.offset(partial.range.start)..self.offset(partial.range.end);
                    self.text.replace_range(range, &partial.text);
                }
                TextDocumentContentChangeEvent::TextDocumentContentChangeWholeDocument(whole) => {
                    self.text = whole.text;
                }
            }
        }
    }

    /// Panics on a position that does not exist.
    fn offset(&self, position: Position) -> usize {
        let bytes = self.text.as_bytes();
        let mut start = 0;
        for _ in 0..position.line {
            let end = start + self.text[start..].find(['\r', '\n']).expect("a line");
            start = end
                + if bytes[end..].starts_with(b"\r\n") {
                    2
                } else {
                    1
                };
        }
        let mut left = position.character as usize;
        let mut offset = start;
        for char in self.text[start..].chars() {
            if left == 0 {
                break;
            }
            assert!(char != '\n' && char != '\r', "the character exists");
            left -= match self.encoding {
                Utf8 => char.len_utf8(),
                Utf16 => char.len_utf16(),
                Utf32 => 1,
            };
            offset += char.len_utf8();
        }
        assert_eq!(left, 0);
        offset
    }
}

fn origin() -> EditOrigin {
    EditOrigin::user(Timestamp(0))
}

fn open(text: &Snapshot) -> OpenDocument {
    let path = AbsPath::new("/w/a.rs").expect("absolute");
    OpenDocument::new(path, "rust", text.clone(), 1)
}

/// Returns the offset before a line ending that `offset` splits, unless it may split one.
fn outside_endings(text: &str, offset: ByteOffset, may_split: bool) -> ByteOffset {
    let (before, after) = text.split_at(offset.0);
    let splits = before.ends_with('\r') && after.starts_with('\n');
    if splits && !may_split {
        offset - 1
    } else {
        offset
    }
}

/// Returns disjoint edits of a text, which may insert lone carriage returns.
fn random_edits(rng: &mut StdRng, text: &str, lone_returns: bool) -> Vec<Edit> {
    let count = rng.random_range(1..4) * 2;
    let mut bounds: Vec<ByteOffset> = (0..count)
        .map(|_| outside_endings(text, random::boundary(rng, text), lone_returns))
        .collect();
    bounds.sort();
    bounds
        .chunks_exact(2)
        .map(|pair| {
            let mut inserted = random::text(rng, 3);
            if lone_returns && rng.random_range(0..20) == 0 {
                inserted.push('\r');
            }
            // Long removals would keep the text empty.
            let end = pair[1].min(pair[0] + 12);
            let end = ByteOffset(text.floor_char_boundary(end.0));
            let end = outside_endings(text, end, lone_returns);
            Edit::new(Span::new(pair[0], end.max(pair[0])), inserted)
        })
        .collect()
}

fn check_random(kind: SyncKind, encoding: PositionEncoding, lone_returns: bool, edits: usize) {
    let mut rng = StdRng::seed_from_u64(encoding as u64);
    let mut buffer = Buffer::new("");
    let mut document = open(&buffer.snapshot());
    let mut copy = ServerCopy {
        text: String::new(),
        encoding,
    };
    let mut version = 1;
    for round in 0..edits {
        if round % 500 == 0 {
            // A text without lone returns is sent incrementally again.
            buffer = Buffer::new(&random::text(&mut rng, 200));
            let events = document.replace(&buffer.snapshot(), version, kind);
            copy.apply(events);
        }
        let text = buffer.snapshot().to_string();
        let change = match rng.random_range(0..8) {
            0 => match buffer.undo() {
                Some(undone) => undone.change,
                None => continue,
            },
            _ => buffer.edit(&random_edits(&mut rng, &text, lone_returns), &origin()),
        };
        version += 1;
        let events = document.change(&change, &buffer.snapshot(), version, (kind, encoding));
        if kind == SyncKind::Incremental && !lone_returns {
            assert!(!document.has_lone_return, "ranges are sent");
        }
        copy.apply(events);
        assert_eq!(
            copy.text,
            buffer.snapshot().to_string(),
            "{encoding:?} round {round}"
        );
    }
}

#[test]
fn random_edits_leave_the_server_with_an_equal_text() {
    let edits = random::rounds(1_500, 100_000);
    for encoding in [Utf8, Utf16, Utf32] {
        check_random(SyncKind::Incremental, encoding, false, edits);
        check_random(SyncKind::Incremental, encoding, true, edits / 3);
    }
    check_random(SyncKind::Full, Utf16, true, edits / 10);
}

/// Applies one edit and returns the changes sent, as JSON.
fn changes(text: &str, span: (usize, usize), inserted: &str, kind: SyncKind) -> String {
    let mut buffer = Buffer::new(text);
    let mut document = open(&buffer.snapshot());
    let change = buffer.replace(Span::from(span.0..span.1), inserted, &origin());
    let events = document.change(&change, &buffer.snapshot(), 2, (kind, Utf16));
    serde_json::to_string(&events).expect("JSON")
}

fn partial(start: (u32, u32), end: (u32, u32), text: &str) -> String {
    let position = |(line, character)| format!(r#"{{"line":{line},"character":{character}}}"#);
    format!(
        r#"[{{"range":{{"start":{},"end":{}}},"text":{text:?}}}]"#,
        position(start),
        position(end)
    )
}

#[test]
fn one_edit_is_one_range() {
    let kind = SyncKind::Incremental;
    assert_eq!(
        changes("a🦀b", (1, 5), "x", kind),
        partial((0, 1), (0, 3), "x")
    );
    assert_eq!(
        changes("a\r\nb", (3, 3), "x", kind),
        partial((1, 0), (1, 0), "x")
    );
    assert_eq!(
        changes("a", (1, 1), "x", SyncKind::Full),
        r#"[{"text":"ax"}]"#
    );
    assert_eq!(changes("a", (1, 1), "x", SyncKind::None), "[]");
}

#[test]
fn a_range_never_splits_a_line_ending() {
    let kind = SyncKind::Incremental;
    // A line feed typed between `\r` and `\n`.
    assert_eq!(
        changes("a\r\nb", (2, 2), "\n", kind),
        partial((0, 1), (1, 0), "\r\n\n")
    );
    assert_eq!(
        changes("a\r\nb", (1, 2), "", kind),
        partial((0, 1), (1, 0), "\n")
    );
}

#[test]
fn lone_returns_are_sent_as_whole_texts() {
    let kind = SyncKind::Incremental;
    assert_eq!(changes("a\r\nb", (2, 3), "", kind), r#"[{"text":"a\rb"}]"#);
    assert_eq!(changes("ab", (1, 1), "\r", kind), r#"[{"text":"a\rb"}]"#);
    assert_eq!(changes("ab", (2, 2), "\r", kind), r#"[{"text":"ab\r"}]"#);
    assert_eq!(changes("a\rb", (0, 0), "x", kind), r#"[{"text":"xa\rb"}]"#);
    // Typing before a whole line ending is not such a case.
    assert_eq!(
        changes("a\r\nb", (1, 1), "é", kind),
        partial((0, 1), (0, 1), "é")
    );
}

#[test]
fn a_gap_in_the_changes_sends_the_whole_text() {
    let mut buffer = Buffer::new("one");
    let mut document = open(&buffer.snapshot());
    buffer.replace(Span::from(0..0), "x", &origin());
    let second = buffer.replace(Span::from(0..0), "y", &origin());
    let form = (SyncKind::Incremental, Utf8);
    let events = document.change(&second, &buffer.snapshot(), 2, form);
    let json = serde_json::to_string(&events).expect("JSON");
    assert_eq!(json, r#"[{"text":"yxone"}]"#);
}

fn diagnostic(span: Span) -> Diagnostic {
    Diagnostic {
        span,
        severity: DiagnosticSeverity::Error,
        message: String::new(),
        code: None,
        code_url: None,
        source: None,
        tags: DiagnosticTags::default(),
        related: Vec::new(),
    }
}

#[test]
fn a_late_report_is_carried_over_later_edits() {
    let mut buffer = Buffer::new("let x = y");
    let mut document = open(&buffer.snapshot());
    let form = (SyncKind::Incremental, Utf8);
    for version in 2..40 {
        let change = buffer.replace(Span::from(0..0), "ab", &origin());
        document.change(&change, &buffer.snapshot(), version, form);
    }
    let mut items = [diagnostic(Span::from(8..9))];
    assert!(document.carry(1, &mut items));
    assert_eq!(items[0].span, Span::from(84..85));
    assert_eq!(
        document.basis(Some(1)).map(|basis| basis.text.len()),
        Some(ByteOffset(9))
    );
    assert!(!document.carry(77, &mut items));
    assert!(document.basis(Some(77)).is_none());
}

#[test]
fn positions_follow_a_replaced_text() {
    let mut document = open(&Snapshot::new("éé one two"));
    let mut items = [diagnostic(Span::from(9..12))];
    document.replace(&Snapshot::new("é one and two"), 2, SyncKind::Full);
    assert!(document.carry(1, &mut items));
    assert_eq!(items[0].span, Span::from(11..14));
}

#[test]
fn only_recent_versions_are_kept() {
    let mut buffer = Buffer::new("");
    let mut document = open(&buffer.snapshot());
    let form = (SyncKind::None, Utf8);
    for version in 2..1_000 {
        let change = buffer.replace(Span::from(0..0), "a", &origin());
        document.change(&change, &buffer.snapshot(), version, form);
    }
    assert!(document.basis(Some(700)).is_none());
    assert!(document.basis(Some(900)).is_some());
}
