//! Selection ranges: the pieces of syntax around a position, each within the next.

use base::{AbsPath, ByteOffset, Span};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::answer::{AnswerError, Reading};
use crate::bounded::RawItems;
use crate::range::{WireRange, position_value};
use crate::request::Request;
use crate::request_document::RequestDocument;
use crate::server::LanguageServer;
use crate::violations::{Violation, Violations};

/// Maximum number of positions in one request.
const MAX_POSITIONS: usize = 1_000;
/// Maximum number of ranges around one position.
const MAX_DEPTH: usize = 100;
/// Maximum length of the ranges around one position, in bytes. The text of a range contains those of its parents, so
/// reading takes time in proportion to the depth times the length.
const MAX_ITEM: usize = 16 << 10;

/// A range with the one that encloses it.
#[derive(Deserialize)]
struct WireSelectionRange<'a> {
    range: WireRange,
    #[serde(borrow, default)]
    parent: Option<&'a RawValue>,
}

impl LanguageServer {
    /// Asks for the pieces of syntax around offsets of the text that was passed on last. The answer
    /// has one list for each offset, in their order: spans that contain the offset, each larger than
    /// the one before it; empty if the server gave none. `None` also if there are too many offsets.
    pub fn selection_ranges(
        &self,
        path: &AbsPath,
        offsets: &[ByteOffset],
    ) -> Option<Request<Vec<Vec<Span>>>> {
        if offsets.len() > MAX_POSITIONS {
            return None;
        }
        let params = |document: &RequestDocument| {
            let positions = offsets.iter();
            let positions =
                positions.map(|it| position_value(&document.text, *it, document.encoding));
            Some(json!({ "positions": positions.collect::<Vec<_>>() }))
        };
        let asked = offsets.to_vec();
        let read = move |json: &str, document: &RequestDocument, violations: &mut Violations| {
            read_ranges(json, &asked, &mut Reading::new(document, violations))
        };
        self.ask_document("textDocument/selectionRange", path, params, read)
    }
}

/// Reads the spans around each of `offsets`.
fn read_ranges(
    json: &str,
    offsets: &[ByteOffset],
    reading: &mut Reading<'_>,
) -> Result<Vec<Vec<Span>>, AnswerError> {
    let items: RawItems<'_, MAX_POSITIONS> = serde_json::from_str(json)?;
    let dropped = items.dropped();
    reading
        .violations
        .count(Violation::ItemBeyondBound, dropped);
    let mut items = items.iter();
    let spans = offsets.iter().map(|offset| {
        let item = items.next().map(|item| item.get());
        item.map_or_else(Vec::new, |item| read_chain(item, *offset, reading))
    });
    Ok(spans.collect())
}

/// Reads the spans around one offset. A span that does not contain the one before it ends the list.
fn read_chain(item: &str, offset: ByteOffset, reading: &mut Reading<'_>) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    if item.len() > MAX_ITEM {
        reading.violations.count(Violation::ItemBeyondBound, 1);
        return spans;
    }
    let mut next = Some(item);
    // Without recursion, since a server decides on the depth.
    for depth in 0.. {
        let Some(item) = next else {
            break;
        };
        if depth == MAX_DEPTH {
            reading.violations.count(Violation::ItemBeyondBound, 1);
            break;
        }
        let Ok(wire) = serde_json::from_str::<WireSelectionRange<'_>>(item) else {
            reading.violations.count(Violation::MalformedItem, 1);
            break;
        };
        let Some(span) = reading.wire_span(wire.range) else {
            break;
        };
        let within = spans.last().copied().unwrap_or(Span::at(offset));
        if !span.covers(within) {
            reading.violations.count(Violation::MalformedItem, 1);
            break;
        }
        if spans.last() != Some(&span) {
            spans.push(span);
        }
        next = wire.parent.map(RawValue::get);
    }
    spans
}

#[cfg(test)]
mod tests {
    use base::ByteOffset;
    use serde_json::{Value, json};

    use super::{MAX_ITEM, MAX_POSITIONS, read_ranges};
    use crate::answer::Reading;
    use crate::testing::{document, violations_of};

    fn ranges(spans: &[(u32, u32)]) -> Value {
        let position = |character: u32| json!({ "line": 0, "character": character });
        let parents = spans.iter().rev();
        parents.fold(Value::Null, |parent, (start, end)| {
            let range = json!({ "start": position(*start), "end": position(*end) });
            json!({ "range": range, "parent": parent })
        })
    }

    fn check(answer: Value, expected: &[&[(usize, usize)]], violations: &[&str]) {
        let document = document("f(é, b)");
        let offsets = [ByteOffset(4), ByteOffset(6)];
        let (read, counted) = violations_of(|it| {
            let mut reading = Reading::new(&document, it);
            read_ranges(&answer.to_string(), &offsets, &mut reading)
        });
        let read = read.expect("an answer");
        let read: Vec<Vec<_>> = read
            .into_iter()
            .map(|spans| spans.iter().map(|it| (it.start.0, it.end.0)).collect())
            .collect();
        assert_eq!(read, expected, "{answer}");
        assert_eq!(counted, violations, "{answer}");
    }

    #[test]
    fn each_position_gets_growing_spans() {
        let first = ranges(&[(2, 3), (2, 3), (1, 7), (0, 7)]);
        let second = ranges(&[(5, 6), (0, 7)]);
        check(
            json!([first, second]),
            &[&[(2, 4), (1, 8), (0, 8)], &[(6, 7), (0, 8)]],
            &[],
        );
        check(json!([first]), &[&[(2, 4), (1, 8), (0, 8)], &[]], &[]);
        check(Value::Null, &[&[], &[]], &[]);
    }

    #[test]
    fn a_wrong_element_keeps_its_position() {
        let second = ranges(&[(5, 6)]);
        check(json!([7, second]), &[&[], &[(6, 7)]], &["1 malformed item"]);
        // The parent is smaller.
        check(
            json!([ranges(&[(1, 7), (2, 3)]), second]),
            &[&[(1, 8)], &[(6, 7)]],
            &["1 malformed item"],
        );
        // The range lies beside the position.
        check(
            json!([ranges(&[(5, 6)]), second]),
            &[&[], &[(6, 7)]],
            &["1 malformed item"],
        );
    }

    /// Checks the number of spans around the start of a text with this number of growing ranges.
    fn check_bounds(count: u32, padding: usize, expected: usize, violations: &[&str]) {
        let document = document(&"x".repeat(300));
        let spans: Vec<_> = (1..=count).map(|end| (0, end)).collect();
        let mut answer = ranges(&spans);
        answer["padding"] = "p".repeat(padding).into();
        let (read, counted) = violations_of(|it| {
            let mut reading = Reading::new(&document, it);
            read_ranges(&json!([answer]).to_string(), &[ByteOffset(0)], &mut reading)
        });
        assert_eq!(read.expect("an answer")[0].len(), expected, "{count}");
        assert_eq!(counted, violations, "{count}");
    }

    #[test]
    fn the_depth_and_the_length_are_bounded() {
        let beyond = "1 dropped item";
        check_bounds(100, 0, 100, &[]);
        check_bounds(101, 0, 100, &[beyond]);
        check_bounds(150, 0, 100, &[beyond]);
        check_bounds(1, MAX_ITEM, 0, &[beyond]);
    }

    #[test]
    fn more_answers_than_positions_can_have_are_counted() {
        let items = vec![ranges(&[(0, 1)]); MAX_POSITIONS + 2];
        let document = document("ab");
        let (read, counted) = violations_of(|it| {
            let mut reading = Reading::new(&document, it);
            read_ranges(&json!(items).to_string(), &[ByteOffset(0)], &mut reading)
        });
        assert_eq!(read.expect("an answer").len(), 1);
        assert_eq!(counted, ["2 dropped items"]);
    }
}
