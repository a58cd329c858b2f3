//! The time that an edit costs until it is queued for a server, and the server's text after many edits.

use std::time::{Duration, Instant};

use base::{ByteOffset, Span};
use serde_json::{Value, json};
use text::{Buffer, Edit, EditOrigin, Timestamp};

use super::server::{PipeServer, connect, path};
use crate::figure::Figure;
use crate::interleave::{Dice, quantile};

const ENCODINGS: [&str; 3] = ["utf-8", "utf-16", "utf-32"];
/// Edits for each encoding without `BURIN_BENCH_TRIALS`.
const EDITS: usize = 3_000;
const ROWS: usize = 3_000;
const INSERTED: [&str; 9] = [
    "x",
    "é",
    "🦀",
    "\n",
    "\r\n",
    "",
    "let a = 1;\n",
    "語語",
    "e\u{301}",
];

pub(super) fn run() -> Result<Vec<Figure>, String> {
    let edits = crate::lsp::trials(EDITS)?;
    let mut times = Vec::new();
    let mut different = 0;
    for (ix, encoding) in ENCODINGS.into_iter().enumerate() {
        let (is_equal, mut spent) = edit(encoding, edits, ix as u64 + 1)?;
        different += usize::from(!is_equal);
        times.append(&mut spent);
    }
    let at = |share| quantile(times.iter().map(|time| time.as_secs_f64() * 1e3), share);
    let n = times.len();
    Ok(vec![
        Figure::alone(
            "edit to its queued message p50",
            at(0.5),
            "ms",
            n,
            Some(0.2),
        ),
        Figure::alone("edit to its queued message p99", at(0.99), "ms", n, None),
        Figure::alone(
            "texts that differ from the server's",
            different as f64,
            "texts",
            ENCODINGS.len(),
            Some(0.0),
        ),
    ])
}

/// Makes random edits; returns whether the server has the same text afterwards, and the times of the calls.
fn edit(encoding: &str, edits: usize, seed: u64) -> Result<(bool, Vec<Duration>), String> {
    let capabilities = json!({ "textDocumentSync": 2, "positionEncoding": encoding });
    let (client, _events, server) = connect(&capabilities)?;
    let row = "    let größe = \"🦀 語\".len(); // a row of usual length\r\n";
    let mut buffer = Buffer::new(&row.repeat(ROWS));
    let document = path("/w/a.rs");
    client.open_document(&document, "rust", &buffer.snapshot());
    let encoding = encoding.to_owned();
    let copy = std::thread::spawn(move || follow(server, &encoding));
    let mut dice = Dice::new(seed);
    let mut times = Vec::with_capacity(edits);
    for _ in 0..edits {
        let text = buffer.snapshot();
        let start = boundary(&text.to_string(), dice.below(text.len().0 + 1));
        let end = boundary(
            &text.to_string(),
            (start + dice.below(12)).min(text.len().0),
        );
        let new = INSERTED[dice.below(INSERTED.len())];
        let edit = Edit::new(
            Span::new(ByteOffset(start), ByteOffset(end.max(start))),
            new,
        );
        let change = buffer.edit(&[edit], &EditOrigin::user(Timestamp(0)));
        let text = buffer.snapshot();
        let start = Instant::now();
        client.change_document(&document, &change, &text);
        times.push(start.elapsed());
    }
    client.close_document(&document);
    let copy = copy.join().map_err(|_| "the server panicked".to_owned())?;
    Ok((copy? == buffer.snapshot().to_string(), times))
}

/// Returns the last char boundary at or before an offset that does not split a line ending.
fn boundary(text: &str, offset: usize) -> usize {
    let offset = text.floor_char_boundary(offset);
    let splits = text[..offset].ends_with('\r') && text[offset..].starts_with('\n');
    offset - usize::from(splits)
}

/// Applies the changes that arrive, by the letter of the protocol, until the document is closed. Returns the text.
fn follow(mut server: PipeServer, encoding: &str) -> Result<String, String> {
    let opened = server.expect("textDocument/didOpen")?;
    let mut text = opened["params"]["textDocument"]["text"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    while let Some(message) = server.read() {
        match message["method"].as_str() {
            Some("textDocument/didChange") => {
                let changes = message["params"]["contentChanges"].as_array();
                for change in changes.into_iter().flatten() {
                    apply(&mut text, change, encoding)?;
                }
            }
            Some("textDocument/didClose") => break,
            _ => {}
        }
    }
    Ok(text)
}

fn apply(text: &mut String, change: &Value, encoding: &str) -> Result<(), String> {
    let new = change["text"].as_str().ok_or("a change without text")?;
    let range = &change["range"];
    if range.is_null() {
        new.clone_into(text);
        return Ok(());
    }
    let start = offset(text, &range["start"], encoding)?;
    let end = offset(text, &range["end"], encoding)?;
    text.replace_range(start..end, new);
    Ok(())
}

fn offset(text: &str, position: &Value, encoding: &str) -> Result<usize, String> {
    let number = |name: &str| {
        position[name]
            .as_u64()
            .and_then(|it| usize::try_from(it).ok())
    };
    let (row, mut left) = (
        number("line").ok_or("no line")?,
        number("character").ok_or("no character")?,
    );
    let mut start = 0;
    for _ in 0..row {
        let length = text[start..].find('\n').ok_or("a row beyond the text")?;
        start += length + 1;
    }
    let mut offset = start;
    for char in text[start..].chars() {
        if left == 0 || char == '\n' {
            break;
        }
        let units = match encoding {
            "utf-8" => char.len_utf8(),
            "utf-16" => char.len_utf16(),
            _ => 1,
        };
        left = left.checked_sub(units).ok_or("a position within a char")?;
        offset += char.len_utf8();
    }
    Ok(offset)
}
