//! Folding ranges: the rows of a document that can be folded.

use base::{AbsPath, Row, Span};
use serde_json::{Value, json};

use crate::answer::{Reading, read_list};
use crate::capabilities::MAX_FOLDS;
use crate::request::Request;
use crate::request_document::RequestDocument;
use crate::server::LanguageServer;
use crate::violations::Violation;

/// Rows that can be folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoldingRange {
    /// The part to hide: from the end of the first row to the end of the last one.
    pub span: Span,
    /// The kind; `None` if the server gave none that is known.
    pub kind: Option<FoldingKind>,
}

/// The kind of a folding range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoldingKind {
    /// A comment.
    Comment,
    /// Imports.
    Imports,
    /// A region that the author of the text marked.
    Region,
}

impl LanguageServer {
    /// Asks for the rows of a document that can be folded. They are sorted by their first rows; of
    /// those that begin in one row, the longest counts.
    pub fn folding_ranges(&self, path: &AbsPath) -> Option<Request<Vec<FoldingRange>>> {
        let params = |_: &RequestDocument| Some(json!({}));
        let method = "textDocument/foldingRange";
        self.ask_document(method, path, params, |json, document, violations| {
            let ranges = read_list::<_, MAX_FOLDS>(json, violations, |item, violations| {
                read_range(item, &mut Reading::new(document, violations))
            });
            Ok(sorted(ranges?.into_iter().flatten().collect()))
        })
    }
}

/// Sorts ranges by their first rows, and removes all but the longest of those that begin in one row.
fn sorted(mut ranges: Vec<FoldingRange>) -> Vec<FoldingRange> {
    ranges.sort_by_key(|range| (range.span.start, std::cmp::Reverse(range.span.end)));
    ranges.dedup_by_key(|range| range.span.start);
    ranges
}

/// Reads a range; `None` if it is malformed, `Some(None)` if it begins beyond the text or has one row
/// only.
fn read_range(item: &Value, reading: &mut Reading<'_>) -> Option<Option<FoldingRange>> {
    let row = |name: &str| {
        let row = item.get(name)?.as_u64()?;
        Some(Row(u32::try_from(row).unwrap_or(u32::MAX)))
    };
    let (first, last) = (row("startLine")?, row("endLine")?);
    let end_of_text = reading.text.last_row();
    if first > end_of_text {
        reading.violations.count(Violation::PositionBeyondText, 1);
        return Some(None);
    }
    let last = last.min(end_of_text);
    if last <= first {
        return Some(None);
    }
    let kind = match item.get("kind").and_then(Value::as_str) {
        Some("comment") => Some(FoldingKind::Comment),
        Some("imports") => Some(FoldingKind::Imports),
        Some("region") => Some(FoldingKind::Region),
        _ => None,
    };
    let span = Span::new(reading.text.row_end(first), reading.text.row_end(last));
    Some(Some(FoldingRange { span, kind }))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{FoldingKind, read_range, sorted};
    use crate::answer::Reading;
    use crate::testing::{document, violations_of};

    /// Reads ranges of a text with the rows `a`, `b`, `c`, `d`.
    fn check(
        items: &[Value],
        expected: &[(usize, usize, Option<FoldingKind>)],
        violations: &[&str],
    ) {
        let document = document("a\nb\nc\nd");
        let (ranges, counted) = violations_of(|it| {
            let items = items.iter();
            let ranges =
                items.filter_map(|item| read_range(item, &mut Reading::new(&document, it)));
            sorted(ranges.flatten().collect())
        });
        let ranges: Vec<_> = ranges
            .iter()
            .map(|it| (it.span.start.0, it.span.end.0, it.kind))
            .collect();
        assert_eq!(ranges, expected, "{items:?}");
        assert_eq!(counted, violations, "{items:?}");
    }

    fn range(first: u32, last: u32, kind: &str) -> Value {
        json!({ "startLine": first, "endLine": last, "kind": kind, "endCharacter": 1 })
    }

    #[test]
    fn the_longest_range_of_a_row_counts() {
        check(
            &[
                range(1, 2, "x"),
                range(0, 1, "imports"),
                range(0, 3, "comment"),
            ],
            &[(1, 7, Some(FoldingKind::Comment)), (3, 5, None)],
            &[],
        );
    }

    #[test]
    fn rows_beyond_the_text_are_clamped_or_omitted() {
        check(
            &[range(2, 99, "region"), range(9, 12, "x")],
            &[(5, 7, Some(FoldingKind::Region))],
            &["1 out-of-range position"],
        );
        check(&[range(1, 1, "x"), range(2, 1, "x")], &[], &[]);
        check(&[json!({ "startLine": 0 }), json!(7)], &[], &[]);
    }
}
