//! Places of definitions and uses of a symbol, and its highlights in one document.

use base::{AbsPath, ByteOffset, Span};
use serde_json::{Value, json};

use crate::answer::{Reading, read_list};
use crate::hover::position_params;
use crate::position::PositionEncoding;
use crate::range::{ServerRange, WireRange};
use crate::request::Request;
use crate::request_document::RequestDocument;
use crate::server::LanguageServer;
use crate::uri::uri_path;

/// Maximum number of locations or highlights in one answer.
const MAX_LOCATIONS: usize = 100_000;

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file.
    pub path: AbsPath,
    /// The whole place, such as a function with its body.
    pub range: ServerRange,
    /// The part to select, such as the name of the function; equal to `range` if the server names
    /// no smaller part.
    pub selection: ServerRange,
}

/// The relation of locations to a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocationKind {
    /// The definition of the symbol.
    Definition,
    /// The declaration of the symbol.
    Declaration,
    /// The definition of the symbol's type.
    TypeDefinition,
    /// The implementations of an interface or its method.
    Implementation,
    /// The uses of the symbol.
    References {
        /// Whether the declaration counts as a use.
        include_declaration: bool,
    },
}

/// A use of a symbol in the document of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Highlight {
    /// The use, in the request's text.
    pub span: Span,
    /// The kind of the use.
    pub kind: HighlightKind,
}

/// The kind of a use of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HighlightKind {
    /// An occurrence of the text.
    Text,
    /// The symbol is read.
    Read,
    /// The symbol is written.
    Write,
}

impl LocationKind {
    fn method(self) -> &'static str {
        match self {
            Self::Definition => "textDocument/definition",
            Self::Declaration => "textDocument/declaration",
            Self::TypeDefinition => "textDocument/typeDefinition",
            Self::Implementation => "textDocument/implementation",
            Self::References { .. } => "textDocument/references",
        }
    }
}

impl LanguageServer {
    /// Asks for locations related to the symbol at `offset` of the text that was passed on last.
    /// Locations outside of local files are omitted.
    pub fn locations(
        &self,
        kind: LocationKind,
        path: &AbsPath,
        offset: ByteOffset,
    ) -> Option<Request<Vec<Location>>> {
        let params = |document: &RequestDocument| {
            let mut params = position_params(document, offset)?;
            if let LocationKind::References {
                include_declaration,
            } = kind
            {
                params["context"] = json!({ "includeDeclaration": include_declaration });
            }
            Some(params)
        };
        self.ask_document(kind.method(), path, params, |json, document, violations| {
            let locations = read_list::<_, MAX_LOCATIONS>(json, violations, |item, _| {
                read_location(item, document.encoding)
            });
            Ok(locations?.into_iter().flatten().collect())
        })
    }

    /// Asks for the uses of the symbol at `offset` in its document.
    pub fn highlights(
        &self,
        path: &AbsPath,
        offset: ByteOffset,
    ) -> Option<Request<Vec<Highlight>>> {
        let params = |document: &RequestDocument| position_params(document, offset);
        let method = "textDocument/documentHighlight";
        self.ask_document(method, path, params, |json, document, violations| {
            let highlights = read_list::<_, MAX_LOCATIONS>(json, violations, |item, violations| {
                read_highlight(item, &mut Reading::new(document, violations))
            });
            Ok(highlights?.into_iter().flatten().collect())
        })
    }
}

/// Reads a `Location` or a `LocationLink`; `None` if it is malformed, `Some(None)` if it lies outside
/// of local files.
pub(crate) fn read_location(item: &Value, encoding: PositionEncoding) -> Option<Option<Location>> {
    let (uri, range, selection) = match item.get("targetUri") {
        Some(uri) => {
            let range = item.get("targetRange")?;
            (
                uri,
                range,
                item.get("targetSelectionRange").unwrap_or(range),
            )
        }
        None => {
            let range = item.get("range")?;
            (item.get("uri")?, range, range)
        }
    };
    let path = uri_path(uri.as_str()?);
    let range = WireRange::of(range)?.server_range(encoding);
    let selection = WireRange::of(selection)?.server_range(encoding);
    Some(path.map(|path| Location {
        path,
        range,
        selection,
    }))
}

/// Reads a `DocumentHighlight`; `None` if it is malformed, `Some(None)` if it lies beyond the text.
fn read_highlight(item: &Value, reading: &mut Reading<'_>) -> Option<Option<Highlight>> {
    let range = WireRange::of(item.get("range")?)?;
    let kind = match item.get("kind").and_then(Value::as_u64) {
        Some(2) => HighlightKind::Read,
        Some(3) => HighlightKind::Write,
        _ => HighlightKind::Text,
    };
    let span = reading.wire_span(range);
    Some(span.map(|span| Highlight { span, kind }))
}

#[cfg(test)]
mod tests {
    use base::{AbsPath, Row, Span};
    use serde_json::{Value, json};
    use text::Snapshot;

    use super::{HighlightKind, read_highlight, read_location};
    use crate::answer::Reading;
    use crate::position::PositionEncoding;
    use crate::testing::{document, violations_of};

    fn range(row: u32, start: u32, end: u32) -> Value {
        json!({ "start": { "line": row, "character": start }, "end": { "line": row, "character": end } })
    }

    #[test]
    fn a_location_is_plain_or_a_link() {
        let plain = json!({ "uri": "file:///w/a%2Ers", "range": range(1, 1, 2) });
        let link = json!({
            "targetUri": "file:///w/a.rs", "targetRange": range(1, 0, 3),
            "targetSelectionRange": range(1, 1, 2), "originSelectionRange": range(0, 0, 1),
        });
        for (item, whole) in [(plain, 6..7), (link, 3..7)] {
            let location = read_location(&item, PositionEncoding::Utf16);
            let location = location.flatten().expect("a location");
            assert_eq!(location.path, AbsPath::new("/w/a.rs").expect("absolute"));
            assert_eq!(location.range.row(), Row(1));
            let text = Snapshot::new("ab\n語b");
            assert_eq!(location.selection.span(&text), Some(Span::from(6..7)));
            assert_eq!(location.range.span(&text), Some(Span::from(whole)));
            assert_eq!(location.range.span(&Snapshot::new("one row")), None);
        }
    }

    #[test]
    fn a_location_outside_of_files_is_omitted() {
        let outside = json!({ "uri": "jdt://x", "range": range(0, 0, 1) });
        assert_eq!(read_location(&outside, PositionEncoding::Utf8), Some(None));
        for malformed in [
            json!(7),
            json!({}),
            json!({ "uri": "file:///a", "range": 1 }),
        ] {
            assert_eq!(read_location(&malformed, PositionEncoding::Utf8), None);
        }
    }

    #[test]
    fn a_highlight_without_a_kind_is_text() {
        let document = document("abc");
        let ((), counted) = violations_of(|violations| {
            let mut reading = Reading::new(&document, violations);
            let mut read = |kind: Value| {
                let item = json!({ "range": range(0, 0, 1), "kind": kind });
                let highlight = read_highlight(&item, &mut reading).flatten();
                highlight.expect("a highlight").kind
            };
            assert_eq!(read(Value::Null), HighlightKind::Text);
            assert_eq!(read(json!(2)), HighlightKind::Read);
            assert_eq!(read(json!(3)), HighlightKind::Write);
            let beyond = json!({ "range": range(1, 0, 1) });
            assert_eq!(read_highlight(&beyond, &mut reading), Some(None));
        });
        assert_eq!(counted, ["1 out-of-range position"]);
    }
}
