//! Shapes of diagnostics, and reports of several sources.

use base::{AbsPath, Row, Span};
use serde_json::{Value, json};
use text::{Buffer, EditOrigin, Snapshot, Timestamp};

use super::wire::{WirePublish, read_items};
use super::{
    Diagnostic, DiagnosticReport, DiagnosticSeverity, DiagnosticTags, DocumentReports,
    RelatedInformation, ReportSource, headline,
};
use crate::position::PositionEncoding;
use crate::violations::Violations;

const TEXT: &str = "let é = 1;\nx\n";

fn read(items: &Value) -> (Vec<Diagnostic>, Vec<String>) {
    let json = json!({ "uri": "file:///a", "diagnostics": items }).to_string();
    let publish: WirePublish<'_> = serde_json::from_str(&json).expect("a report");
    let mut violations = Violations::default();
    let text = Snapshot::new(TEXT);
    let encoding = PositionEncoding::Utf16;
    let items = read_items(&publish.diagnostics, &text, encoding, &mut violations);
    assert_eq!(items.items.len(), items.sources.len());
    (items.items, violations.phrases())
}

fn range(start: (u64, u64), end: (u64, u64)) -> Value {
    let position = |(line, character)| json!({ "line": line, "character": character });
    json!({ "start": position(start), "end": position(end) })
}

/// Reads one diagnostic with the members of `extra`.
fn read_one(extra: Value) -> Diagnostic {
    let mut item = json!({ "range": range((0, 4), (0, 5)), "message": "m" });
    let members = extra.as_object().cloned().unwrap_or_default();
    item.as_object_mut().expect("an object").extend(members);
    let (items, violations) = read(&json!([item]));
    assert_eq!(violations, [""; 0], "{extra}");
    items.into_iter().next().expect("a diagnostic")
}

#[test]
fn every_detail_of_a_diagnostic_is_read() {
    let diagnostic = read_one(json!({
        "severity": 2,
        "code": "E1",
        "codeDescription": { "href": "https://x/E1" },
        "source": "tool",
        "tags": [1, 2, 9],
        "relatedInformation": [
            { "location": { "uri": "file:///b", "range": range((7, 0), (7, 1)) }, "message": "here" },
            { "message": "nowhere" },
        ],
        "data": { "x": 1 },
    }));
    let expected = Diagnostic {
        span: Span::from(4..6),
        severity: DiagnosticSeverity::Warning,
        message: "m".to_owned(),
        code: Some("E1".to_owned()),
        code_url: Some("https://x/E1".to_owned()),
        source: Some("tool".to_owned()),
        tags: DiagnosticTags {
            unnecessary: true,
            deprecated: true,
        },
        related: vec![RelatedInformation {
            path: AbsPath::new("/b"),
            row: Row(7),
            message: "here".to_owned(),
        }],
    };
    assert_eq!(diagnostic, expected);
}

#[test]
fn codes_and_messages_have_several_shapes() {
    for (code, expected) in [
        (json!(7), Some("7")),
        (json!("a"), Some("a")),
        (
            json!({ "value": "no-x", "target": "https://x" }),
            Some("no-x"),
        ),
        (json!(null), None),
        (json!([1]), None),
    ] {
        let diagnostic = read_one(json!({ "code": code }));
        assert_eq!(diagnostic.code.as_deref(), expected, "{code}");
    }
    for (message, expected) in [
        (json!({ "kind": "markdown", "value": "*m*" }), "*m*"),
        (json!(7), "7"),
    ] {
        assert_eq!(read_one(json!({ "message": message })).message, expected);
    }
    assert_eq!(
        read_one(json!({ "severity": 77 })).severity,
        DiagnosticSeverity::Error
    );
    assert_eq!(
        read_one(json!({ "source": 5, "tags": "x", "severity": "x" })).source,
        None
    );
}

#[test]
fn ranges_beyond_the_text_are_clamped_and_counted() {
    for (start, end, expected, count) in [
        ((0, 4), (0, 999), 4..11, 0),
        ((0, 4), (0, u64::MAX), 4..11, 0),
        ((1, 0), (3, 0), 12..14, 1),
        ((u64::MAX, 0), (u64::MAX, 0), 14..14, 2),
        ((1, 1), (0, 0), 0..13, 0),
    ] {
        let item = json!({ "range": range(start, end), "message": "m" });
        let (items, violations) = read(&json!([item]));
        assert_eq!(items[0].span, Span::from(expected), "{start:?}");
        let phrases = match count {
            0 => vec![],
            1 => vec!["1 out-of-range position".to_owned()],
            _ => vec![format!("{count} out-of-range positions")],
        };
        assert_eq!(violations, phrases);
    }
}

#[test]
fn a_malformed_diagnostic_hides_no_other() {
    let good = json!({ "range": range((0, 0), (0, 1)), "message": "m" });
    let bad = json!({ "message": "m" });
    let (items, violations) = read(&json!([bad, good, 7, null]));
    assert_eq!(items.len(), 1);
    assert_eq!(violations, ["3 malformed diagnostics"]);
}

#[test]
fn reports_are_bounded() {
    let item = json!({ "range": range((0, 0), (0, 1)), "message": "m".repeat(40_000) });
    let (items, _) = read(&Value::Array(vec![item; 100]));
    assert!(items.iter().all(|item| item.message.len() == 16 << 10));
    assert!((50..60).contains(&items.len()));
    let huge = json!({ "range": range((0, 0), (0, 1)), "message": "m".repeat(200_000) });
    assert_eq!(read(&json!([huge])).1, ["1 dropped diagnostic"]);
}

fn report(version: i32, spans: &[(usize, usize)]) -> DiagnosticReport {
    let items = spans.iter().map(|(start, end)| Diagnostic {
        span: Span::from(*start..*end),
        ..read_one(json!({}))
    });
    DiagnosticReport {
        result_id: Some("r".to_owned()),
        version,
        items: items.collect(),
        sources: Vec::new(),
    }
}

fn spans(reports: &DocumentReports, text: &Snapshot, version: i32) -> Vec<(usize, usize)> {
    let diagnostics = reports.diagnostics(text, version).expect("a report");
    let spans = diagnostics.items.iter().map(|item| item.span);
    spans.map(|span| (span.start.0, span.end.0)).collect()
}

#[test]
fn sources_replace_their_own_reports_only() {
    let text = Snapshot::new(TEXT);
    let pull = |name: &str| ReportSource::Pull(Some(name.to_owned()));
    let mut reports = DocumentReports::default();
    assert!(reports.diagnostics(&text, 1).is_none());
    reports.replace(ReportSource::Push, report(1, &[(8, 9), (0, 3)]));
    reports.replace(pull("a"), report(1, &[(0, 3), (4, 6)]));
    reports.replace(pull("b"), report(1, &[(4, 5)]));
    assert_eq!(spans(&reports, &text, 1), [(0, 3), (4, 5), (4, 6), (8, 9)]);
    reports.replace(pull("a"), report(1, &[]));
    reports.replace(ReportSource::Push, report(1, &[(0, 3)]));
    assert_eq!(spans(&reports, &text, 1), [(0, 3), (4, 5)]);
}

#[test]
fn edits_move_diagnostics_and_outdate_them() {
    let mut buffer = Buffer::new(TEXT);
    let mut reports = DocumentReports::default();
    reports.replace(ReportSource::Push, report(1, &[(4, 6)]));
    let origin = EditOrigin::user(Timestamp(0));
    reports.apply(&buffer.replace(Span::from(0..0), "pub ", &origin));
    let text = buffer.snapshot();
    assert_eq!(spans(&reports, &text, 2), [(8, 10)]);
    assert!(!reports.diagnostics(&text, 2).expect("a report").is_current);
    assert!(reports.confirm(&ReportSource::Push, None, 2));
    assert!(reports.diagnostics(&text, 2).expect("a report").is_current);
    assert_eq!(reports.result_id(&ReportSource::Push), Some("r"));
    assert!(!reports.confirm(&ReportSource::Pull(None), None, 2));
}

#[test]
fn headlines_omit_codes_blanks_and_later_lines() {
    for (message, code, expected) in [
        ("unused variable: `x`", None, "unused variable: `x`"),
        ("unused  variable\n  note: here", None, "unused variable"),
        ("\n unused variable [-Wunused]", None, "unused variable"),
        (
            "mismatched types [E0308]",
            Some("E0308"),
            "mismatched types",
        ),
        ("not assignable (2322)", None, "not assignable"),
        ("not found (no-undef)", Some("no-undef"), "not found"),
        ("call of (f)", None, "call of (f)"),
        ("[E0308]", Some("E0308"), "[E0308]"),
        ("", None, ""),
    ] {
        assert_eq!(headline(message, code), expected, "{message:?}");
    }
}
