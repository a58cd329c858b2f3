//! Time of a check of a suggestion, in files of several sizes and languages.
//!
//! In each of many rows, the second half of a statement is deleted and suggested again, once the tree is parsed and, like
//! in the frame of a keystroke in a large file, before.

use autocomplete::validate::{RecentEdits, check};
use autocomplete::{EditorState, SuggestedEdit, Suggestion, SuggestionId, SuggestionSource};
use base::{Row, Span};
use cpu_time::ThreadTime;
use syntax::{Budget, SyntaxTree, language_named};
use text::{Buffer, EditOrigin, Timestamp};

use crate::figure::Figure;
use crate::interleave::quantile;
use crate::samples::{Sample, samples};

/// Number of checks in each file.
const CHECKS: usize = 200;
/// Maximum time of the 99th percentile, in milliseconds.
const P99: f64 = 1.0;

/// Measures the figures of all files.
pub(super) fn run() -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    for sample in samples()? {
        figures.extend(measure(&sample)?);
    }
    Ok(figures)
}

fn measure(sample: &Sample) -> Result<Vec<Figure>, String> {
    let language = language_named(sample.language)
        .ok_or_else(|| format!("there is no grammar for {}", sample.language))?;
    language.prepare();
    let mut buffer = Buffer::new(&sample.text);
    let mut tree = SyntaxTree::new(language);
    // The parse is complete, because its budget is not limited.
    drop(tree.parse(&buffer.snapshot(), &mut Budget::unlimited()));
    let (mut parsed, mut pending) = (Vec::new(), Vec::new());
    for row in rows(&sample.text) {
        let before = buffer.snapshot();
        let (start, end) = (before.row_start(row), before.row_end(row));
        let line = before.text(Span::new(start, end)).into_owned();
        let indent = line.len() - line.trim_start().len();
        let half = line.floor_char_boundary(indent + (line.len() - indent) / 2);
        let origin = EditOrigin::typing(Timestamp(0));
        let change = buffer.replace(Span::new(start + half, end), "", &origin);
        let after = buffer.snapshot();
        tree.edit(&before, &after, &change);
        let state = |tree: &SyntaxTree| EditorState {
            path: None,
            snapshot: after.clone(),
            syntax: Some(tree.snapshot()),
            language: Some(language),
            caret: start + half,
            rows: (Row(row.0.saturating_sub(30)), Row(row.0 + 30)),
            indent: "    ".to_owned(),
        };
        pending.push(time_of_check(&state(&tree), &line[half..]));
        drop(tree.parse(&after, &mut Budget::unlimited()));
        parsed.push(time_of_check(&state(&tree), &line[half..]));
        // The next row is measured in the whole text.
        let change = buffer.replace(Span::at(start + half), &line[half..], &origin);
        tree.edit(&after, &buffer.snapshot(), &change);
        drop(tree.parse(&buffer.snapshot(), &mut Budget::unlimited()));
    }
    let figures = [("", &parsed), (" before the parse", &pending)];
    let figures = figures.into_iter().flat_map(|(when, times)| {
        [(0.5, "p50", None), (0.99, "p99", Some(P99))].map(|(share, name, goal)| {
            let time = quantile(times.iter().copied(), share);
            let name = format!("check of a suggestion{when} {name}, {}", sample.label);
            Figure::alone(name, time, "ms", times.len(), goal)
        })
    });
    Ok(figures.collect())
}

/// Returns rows with enough code, spread over a text.
fn rows(text: &str) -> Vec<Row> {
    let rows = text.lines().zip(0..);
    let rows: Vec<Row> = rows
        .filter(|(line, _)| (8..=120).contains(&line.trim().len()))
        .map(|(_, row)| Row(row))
        .collect();
    let step = (rows.len() / CHECKS).max(1);
    rows.into_iter().step_by(step).take(CHECKS).collect()
}

/// Returns the milliseconds for checking a text that is suggested at the caret.
fn time_of_check(state: &EditorState, text: &str) -> f64 {
    let suggestion = Suggestion {
        id: SuggestionId(1),
        file: None,
        revision: state.snapshot.revision(),
        edits: vec![SuggestedEdit {
            span: Span::at(state.caret),
            old: "".into(),
            new: text.into(),
        }],
        source: SuggestionSource::Continuation,
        confidence: 0.5,
    };
    let recent = RecentEdits::default();
    let start = ThreadTime::now();
    let verdict = check(state, &suggestion, &recent);
    let took = start.elapsed().as_secs_f64() * 1_000.0;
    // Whether it passes depends on the row.
    drop(verdict);
    took
}
