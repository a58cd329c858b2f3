//! Suggestions in words and in JSON.

use autocomplete::{Suggestion, SuggestionShape, SuggestionSource};
use base::{Span, count_of};
use serde_json::{Value, json};
use text::Snapshot;

use super::text::CharPosition;
use super::{CompletionOutcome, CompletionQuery};

/// Prints one line for each replacement, and the new text below it.
pub(super) fn text(question: &CompletionQuery<'_>, found: &CompletionOutcome) -> String {
    let state = question.past.state(&question.state);
    let mut text = String::new();
    for suggestion in &found.suggestions {
        for edit in &suggestion.edits {
            let place = suggestion
                .file
                .is_none()
                .then(|| CharPosition::of(edit.span.start, &state.snapshot));
            let place = match (place, &suggestion.file) {
                (_, Some(file)) => file.to_string(),
                (Some(place), None) => format!("{}:{}", place.line, place.column),
                (None, None) => String::new(),
            };
            let likely = suggestion.confidence * 100.0;
            let source = source(&suggestion.source);
            text.push_str(&format!("{place}  {source}, {likely:.0} % likely\n"));
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

pub(super) fn json(question: &CompletionQuery<'_>, found: &CompletionOutcome, ms: f64) -> Value {
    let state = question.past.state(&question.state);
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
    let suggestions: Vec<Value> = found
        .suggestions
        .iter()
        .map(|suggestion| {
            let file = suggestion.file.as_ref().or(question.state.path.as_ref());
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
                "file": file.map(|file| question.project.display_path(file)),
                "source": source(&suggestion.source),
                "confidence": suggestion.confidence,
                "shape": shape(suggestion),
                "edits": edits,
            })
        })
        .collect();
    json!({
        "provider": found.provider, "ms": ms, "status": found.status, "suggestions": suggestions,
    })
}

/// Line and column where the text is at hand, else bytes.
fn span_positions(span: Span, text: Option<&Snapshot>) -> (Value, Value) {
    let place = |offset| match text {
        Some(text) => {
            let place = CharPosition::of(offset, text);
            json!([place.line, place.column])
        }
        None => json!({ "byte": offset.0 }),
    };
    (place(span.start), place(span.end))
}

fn source(source: &SuggestionSource) -> String {
    match source {
        SuggestionSource::Propagation { places } => {
            format!("the edits before ({})", count_of(*places as usize, "place"))
        }
        SuggestionSource::Continuation => "the like elsewhere".to_owned(),
        SuggestionSource::Syntax => "the grammar".to_owned(),
        SuggestionSource::Gap(model) | SuggestionSource::NextEdit(model) => model.to_string(),
    }
}
