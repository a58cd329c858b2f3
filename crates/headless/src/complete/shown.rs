//! Suggestions in words and in JSON.

use autocomplete::{Shape, Source, Suggestion};
use base::{Span, count_of};
use serde_json::{Value, json};
use text::Snapshot;

use super::text::Place;
use super::{Found, Question};

/// One line a replacement, and below it what comes in.
pub(super) fn text(question: &Question<'_>, found: &Found) -> String {
    let scene = question.past.scene(&question.scene);
    let mut text = String::new();
    for suggestion in &found.suggestions {
        for edit in &suggestion.edits {
            let place = suggestion
                .file
                .is_none()
                .then(|| Place::of(edit.span.start, &scene.snapshot));
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

pub(super) fn json(question: &Question<'_>, found: &Found, ms: f64) -> Value {
    let scene = question.past.scene(&question.scene);
    let shape = |suggestion: &Suggestion| match suggestion.shape(
        scene.caret,
        scene.rows,
        &scene.snapshot,
    ) {
        Shape::Ghost(_) => "ghost",
        Shape::Change => "change",
        Shape::Jump(_) => "jump",
        Shape::Portal(_) => "portal",
    };
    let suggestions: Vec<Value> = found
        .suggestions
        .iter()
        .map(|suggestion| {
            let file = suggestion.file.as_ref().or(question.scene.path.as_ref());
            let text = suggestion.file.is_none().then_some(&scene.snapshot);
            let edits: Vec<Value> = suggestion
                .edits
                .iter()
                .map(|edit| {
                    let (start, end) = places(edit.span, text);
                    json!({ "start": start, "end": end, "old": *edit.old, "new": *edit.new })
                })
                .collect();
            json!({
                "file": file.map(|file| question.project.shown(file)),
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
fn places(span: Span, text: Option<&Snapshot>) -> (Value, Value) {
    let place = |offset| match text {
        Some(text) => {
            let place = Place::of(offset, text);
            json!([place.line, place.column])
        }
        None => json!({ "byte": offset.0 }),
    };
    (place(span.start), place(span.end))
}

fn source(source: &Source) -> String {
    match source {
        Source::Propagation { places } => {
            format!("the edits before ({})", count_of(*places as usize, "place"))
        }
        Source::Continuation => "the like elsewhere".to_owned(),
        Source::Syntax => "the grammar".to_owned(),
        Source::Gap(model) | Source::NextEdit(model) => model.to_string(),
    }
}
