//! Suggestions as text and as JSON.

use autocomplete::{Suggestion, SuggestionShape, SuggestionSource};
use base::{Span, count_of};
use serde_json::{Value, json};
use text::Snapshot;

use super::text::CharPosition;
use super::{CompletionOutcome, CompletionQuery};

/// Prints one line for each replacement, and the new text below it.
pub(super) fn text(query: &CompletionQuery<'_>, outcome: &CompletionOutcome) -> String {
    let state = query.past.state(&query.state);
    let mut text = String::new();
    for suggestion in &outcome.suggestions {
        for edit in &suggestion.edits {
            let location = match &suggestion.file {
                Some(file) => file.to_string(),
                None => {
                    let start = CharPosition::of(edit.span.start, &state.snapshot);
                    format!("{}:{}", start.line, start.column)
                }
            };
            let likely = suggestion.confidence * 100.0;
            let source = source(&suggestion.source);
            text.push_str(&format!("{location}  {source}, {likely:.0} % likely\n"));
            for (sign, side) in [('-', &edit.old), ('+', &edit.new)] {
                if !side.is_empty() {
                    let lines = side.lines().map(|line| format!("{sign}{line}\n"));
                    text.extend(lines);
                }
            }
        }
    }
    text
}

/// Formats the outcome as JSON. `ms` is the duration of the completion, in milliseconds.
pub(super) fn json(query: &CompletionQuery<'_>, outcome: &CompletionOutcome, ms: f64) -> Value {
    let state = query.past.state(&query.state);
    let shape = |suggestion: &Suggestion| match suggestion.shape(
        state.caret,
        state.rows,
        &state.snapshot,
    ) {
        SuggestionShape::Ghost(_) => "ghost",
        SuggestionShape::Change => "change",
        SuggestionShape::Jump(_) => "jump",
        SuggestionShape::OtherFile(_) => "portal",
    };
    let suggestions: Vec<Value> = outcome
        .suggestions
        .iter()
        .map(|suggestion| {
            let file = suggestion.file.as_ref().or(query.state.path.as_ref());
            let text = suggestion.file.is_none().then_some(&state.snapshot);
            let edits: Vec<Value> = suggestion
                .edits
                .iter()
                .map(|edit| {
                    let (start, end) = span_positions(edit.span, text);
                    json!({ "start": start, "end": end, "old": *edit.old, "new": *edit.new })
                })
                .collect();
            json!({
                "file": file.map(|file| query.project.display_path(file)),
                "source": source(&suggestion.source),
                "confidence": suggestion.confidence,
                "shape": shape(suggestion),
                "edits": edits,
            })
        })
        .collect();
    json!({
        "provider": outcome.provider, "ms": ms, "status": outcome.status, "suggestions": suggestions,
    })
}

/// Returns the ends of a span as line and column if the text is given, otherwise as byte offsets.
fn span_positions(span: Span, text: Option<&Snapshot>) -> (Value, Value) {
    let position = |offset| match text {
        Some(text) => {
            let position = CharPosition::of(offset, text);
            json!([position.line, position.column])
        }
        None => json!({ "byte": offset.0 }),
    };
    (position(span.start), position(span.end))
}

fn source(source: &SuggestionSource) -> String {
    match source {
        SuggestionSource::Propagation { places } => {
            format!(
                "your previous edits ({})",
                count_of(*places as usize, "place")
            )
        }
        SuggestionSource::Continuation => "similar code elsewhere in the project".to_owned(),
        SuggestionSource::Syntax => "the syntax".to_owned(),
        SuggestionSource::Gap(model) | SuggestionSource::NextEdit(model) => model.to_string(),
    }
}
