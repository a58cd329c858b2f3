//! Diagnostics as servers write them.
//!
//! Only the range and the message of a diagnostic are required: a malformed detail counts as absent,
//! so that it hides no error.

use base::{ByteOffset, Row, Span};
use serde::Deserialize;
use serde_json::Value;
use text::Snapshot;

use crate::bounded::{RawItems, RawMembers, bounded_id};
use crate::diagnostics::{
    Diagnostic, DiagnosticSeverity, DiagnosticTags, ReadDiagnostics, RelatedInformation,
    UnopenedDiagnostic,
};
use crate::position::PositionEncoding;
use crate::range::{WirePosition, WireRange};
use crate::uri::uri_path;
use crate::violations::{Violation, Violations};

/// Maximum number of diagnostics in one report.
const MAX_ITEMS: usize = 5_000;
/// Maximum length of one diagnostic as JSON text, and of all diagnostics in one report, in bytes.
const MAX_ITEM_BYTES: usize = 128 << 10;
const MAX_REPORT_BYTES: usize = 2 << 20;
/// Maximum number of documents in one answer, besides the one that was asked about.
const MAX_DOCUMENTS: usize = 1024;
/// Maximum length of a text within a diagnostic, in bytes.
const MAX_TEXT: usize = 16 << 10;
/// Maximum number of related places of a diagnostic.
const MAX_RELATED: usize = 64;

/// The parameters of `textDocument/publishDiagnostics`.
#[derive(Deserialize)]
pub(crate) struct WirePublish<'a> {
    pub(crate) uri: String,
    #[serde(default)]
    version: Value,
    #[serde(borrow, default)]
    pub(crate) diagnostics: RawItems<'a, MAX_ITEMS>,
}

/// The report about a document in an answer to `textDocument/diagnostic`.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WireReport<'a> {
    #[serde(default)]
    pub(crate) kind: String,
    #[serde(default)]
    result_id: Option<String>,
    #[serde(borrow, default)]
    pub(crate) items: RawItems<'a, MAX_ITEMS>,
    /// Reports about other documents, by URI.
    #[serde(borrow, default)]
    pub(crate) related_documents: RawMembers<'a, MAX_DOCUMENTS>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireDiagnostic {
    range: WireRange,
    message: Value,
    #[serde(default)]
    severity: Value,
    #[serde(default)]
    code: Value,
    #[serde(default)]
    code_description: Value,
    #[serde(default)]
    source: Value,
    #[serde(default)]
    tags: Value,
    #[serde(default)]
    related_information: Value,
}

/// Reads a report about `text`. Malformed diagnostics are counted and omitted.
pub(crate) fn read_items(
    items: &RawItems<'_, MAX_ITEMS>,
    text: &Snapshot,
    encoding: PositionEncoding,
    violations: &mut Violations,
) -> ReadDiagnostics {
    violations.count(Violation::DiagnosticBeyondBound, items.dropped());
    let mut bytes = 0;
    let mut diagnostics = ReadDiagnostics::default();
    for item in items.iter() {
        bytes += item.get().len();
        if bytes > MAX_REPORT_BYTES || item.get().len() > MAX_ITEM_BYTES {
            violations.count(Violation::DiagnosticBeyondBound, 1);
            continue;
        }
        match WireDiagnostic::parse(item.get()) {
            Some(diagnostic) => {
                let diagnostic = diagnostic.read(text, encoding, violations);
                diagnostics.items.push(diagnostic);
                diagnostics.sources.push(item.get().into());
            }
            None => violations.count(Violation::MalformedDiagnostic, 1),
        }
    }
    diagnostics
}

/// Reads a report about a file of which the text is not known. Malformed diagnostics and those beyond the bounds are
/// omitted.
pub(crate) fn read_unplaced(
    items: &RawItems<'_, MAX_ITEMS>,
    encoding: PositionEncoding,
) -> Vec<UnopenedDiagnostic> {
    let mut bytes = 0;
    let within_bounds = items.iter().filter(|item| {
        bytes += item.get().len();
        bytes <= MAX_REPORT_BYTES && item.get().len() <= MAX_ITEM_BYTES
    });
    within_bounds
        .filter_map(|item| {
            let item = WireDiagnostic::parse(item.get())?;
            Some(UnopenedDiagnostic {
                range: item.range.server_range(encoding),
                severity: severity(&item.severity),
                message: message(&item.message),
                code: code(&item.code),
                source: item.source.as_str().map(cut),
            })
        })
        .collect()
}

/// Reads a diagnostic from its JSON text and places it at `span`; `None` if it is malformed.
pub(crate) fn read_at(source: &str, span: Span) -> Option<Diagnostic> {
    Some(WireDiagnostic::parse(source)?.at(span))
}

impl<'a> WireReport<'a> {
    /// Reads a report, which must be an object.
    pub(crate) fn parse(json: &'a str) -> serde_json::Result<Self> {
        // The parser would take a list for an object without names.
        if json.starts_with('[') {
            return Err(serde::de::Error::custom("a list instead of a report"));
        }
        serde_json::from_str(json)
    }

    /// Returns the identifier of the report; `None` if it is too long to be kept.
    pub(crate) fn result_id(&self) -> Option<String> {
        bounded_id(self.result_id.clone())
    }
}

impl WirePublish<'_> {
    /// Returns the version of the document that the report is about; `None` if the server names
    /// none.
    pub(crate) fn version(&self) -> Option<i32> {
        // A number beyond the protocol's bounds is no version of ours.
        let version = self.version.as_i64()?;
        Some(i32::try_from(version).unwrap_or(i32::MIN))
    }
}

impl WireDiagnostic {
    fn parse(item: &str) -> Option<Self> {
        serde_json::from_str(item).ok()
    }

    fn read(
        self,
        text: &Snapshot,
        encoding: PositionEncoding,
        violations: &mut Violations,
    ) -> Diagnostic {
        // A position beyond the text does not hide the message.
        let mut offset = |position: WirePosition| -> ByteOffset {
            encoding
                .offset(text, position.position())
                .unwrap_or_else(|_| {
                    violations.count(Violation::PositionBeyondText, 1);
                    text.len()
                })
        };
        let span = Span::new(offset(self.range.start), offset(self.range.end));
        self.at(span)
    }

    /// Returns the diagnostic at `span`.
    fn at(self, span: Span) -> Diagnostic {
        Diagnostic {
            span,
            severity: severity(&self.severity),
            message: message(&self.message),
            code: code(&self.code),
            code_url: self.code_url(),
            source: self.source.as_str().map(cut),
            tags: tags(&self.tags),
            related: related(&self.related_information),
        }
    }

    /// Returns the page about the code; an old form puts it into the code.
    fn code_url(&self) -> Option<String> {
        let url = self.code_description.get("href");
        let url = url.or_else(|| self.code.get("target"));
        url.and_then(Value::as_str).map(cut)
    }
}

fn severity(severity: &Value) -> DiagnosticSeverity {
    match severity.as_u64() {
        Some(2) => DiagnosticSeverity::Warning,
        Some(3) => DiagnosticSeverity::Information,
        Some(4) => DiagnosticSeverity::Hint,
        _ => DiagnosticSeverity::Error,
    }
}

/// Returns the text of a message, which may be markup.
fn message(message: &Value) -> String {
    let text = message.as_str().or_else(|| message.get("value")?.as_str());
    text.map_or_else(|| cut(&message.to_string()), cut)
}

fn code(code: &Value) -> Option<String> {
    match code {
        Value::String(code) => Some(cut(code)),
        Value::Number(code) => Some(code.to_string()),
        Value::Object(old) => self::code(old.get("value")?),
        _ => None,
    }
}

fn tags(tags: &Value) -> DiagnosticTags {
    let has = |tag: u64| {
        tags.as_array()
            .is_some_and(|tags| tags.iter().any(|it| it.as_u64() == Some(tag)))
    };
    DiagnosticTags {
        unnecessary: has(1),
        deprecated: has(2),
    }
}

fn related(related: &Value) -> Vec<RelatedInformation> {
    let items = related.as_array().into_iter().flatten();
    items
        .take(MAX_RELATED)
        .filter_map(|item| {
            let location = item.get("location")?;
            let line = location.pointer("/range/start/line")?.as_u64()?;
            Some(RelatedInformation {
                path: uri_path(location.get("uri")?.as_str()?),
                row: Row(u32::try_from(line).unwrap_or(u32::MAX)),
                message: cut(item.get("message")?.as_str()?),
            })
        })
        .collect()
}

/// Returns the start of a text, at most 16 KiB.
fn cut(text: &str) -> String {
    text[..text.floor_char_boundary(MAX_TEXT)].to_owned()
}
