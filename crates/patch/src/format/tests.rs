//! Tests parsing of each format, whole and in pieces.

mod anchors;
mod apply_patch;
mod gold;
mod pieces;
mod search_replace;
mod unified;
mod whole;

use crate::edit::{AnchoredAction, PatchOperation};

use super::*;

/// Formats edits and problems, one per line.
fn shown(parsed: &Parsed) -> String {
    let mut lines = Vec::new();
    for file in &parsed.files {
        lines.push(match &file.change {
            PatchOperation::Create { text } => format!("create {} {text:?}", file.path),
            PatchOperation::Delete { content: None } => format!("delete {}", file.path),
            PatchOperation::Delete {
                content: Some(content),
            } => format!("delete {} {content:?}", file.path),
            PatchOperation::Overwrite { text } => format!("write {} {text:?}", file.path),
            PatchOperation::Update { move_to, .. } => match move_to {
                Some(to) => format!("update {} -> {to}", file.path),
                None => format!("update {}", file.path),
            },
            PatchOperation::Anchored { .. } => format!("anchored {}", file.path),
        });
        match &file.change {
            PatchOperation::Update { hunks, .. } => lines.extend(hunks.iter().map(hunk)),
            PatchOperation::Anchored { operations } => {
                lines.extend(operations.iter().map(operation))
            }
            _ => {}
        }
    }
    lines.extend(
        parsed
            .shell_blocks
            .iter()
            .map(|block| format!("shell {:?}", block.text)),
    );
    lines.extend(
        parsed
            .problems
            .iter()
            .map(|problem| match problem.severity {
                Severity::Lost => format!("lost {problem}"),
                Severity::Tolerated => format!("tolerated {problem}"),
            }),
    );
    lines.join("\n")
}

fn hunk(hunk: &PatchHunk) -> String {
    let mut line = format!("  {:?} -> {:?}", hunk.old, hunk.new);
    if !hunk.context.is_empty() {
        line.push_str(&format!(" in {:?}", hunk.context));
    }
    if let Some(row) = hunk.row {
        line.push_str(&format!(" at {}", row.0));
    }
    if hunk.at_end {
        line.push_str(" at the end");
    }
    if hunk.grain == crate::edit::Grain::Text {
        line.push_str(" as text");
    }
    line
}

fn operation(edit: &AnchoredEdit) -> String {
    let (what, text) = match &edit.action {
        AnchoredAction::Replace(text) => ("replace", text),
        AnchoredAction::InsertBefore(text) => ("before", text),
        AnchoredAction::InsertAfter(text) => ("after", text),
    };
    let (first, last) = (&edit.first, &edit.last);
    format!(
        "  {what} {}#{}..{}#{} {text:?}",
        first.row.0, first.hash, last.row.0, last.hash
    )
}

#[track_caller]
fn check(format: EditFormat, text: &str, expected: &str) {
    assert_eq!(shown(&parse(format, text)), expected.trim_end());
}
