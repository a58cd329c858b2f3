//! Zeta 2: the suffix first, then other files, the edit history and the prefix, and the editable
//! part as one side of a merge conflict; the response is the other side.
//!
//! Source of the format: Zed's open model `zeta-2`, tuned from Seed-Coder; the format's name there
//! is V0211SeedCoder.

use super::RegionResponse;
use crate::context::{ContextSnippet, EditContext, PastEdit};

pub(super) const SUFFIX: &str = "<[fim-suffix]>";
pub(super) const PREFIX: &str = "<[fim-prefix]>";
pub(super) const MIDDLE: &str = "<[fim-middle]>";
pub(super) const FILE: &str = "<filename>";
pub(super) const CARET: &str = "<|user_cursor|>";
pub(super) const END: &str = ">>>>>>> UPDATED\n";
const START: &str = "<<<<<<< CURRENT\n";
const SEPARATOR: &str = "=======\n";
/// Response of the model if it proposes no change.
const NO_EDITS: &str = "NO_EDITS";

pub(super) const TOKENS: &[&str] = &[
    SUFFIX,
    PREFIX,
    MIDDLE,
    FILE,
    CARET,
    "<<<<<<< CURRENT",
    "=======\n",
    ">>>>>>> UPDATED",
    super::markers::SENTENCE_END,
];

pub(super) fn prompt(context: &EditContext) -> String {
    let window = &context.window;
    let region = line_end(window.marked(CARET));
    format!(
        "{}{PREFIX}{}{}{FILE}{}\n{}{START}{region}{SEPARATOR}{MIDDLE}",
        suffix(context),
        files(&context.files),
        history(&context.edits),
        context.path,
        window.before_region(),
    )
}

/// Returns the text after the editable part.
pub(super) fn suffix(context: &EditContext) -> String {
    format!(
        "{SUFFIX}{}",
        line_end(context.window.after_region().to_owned())
    )
}

/// Formats other files by rank, with the excerpts of one file joined under one name.
pub(super) fn files(files: &[ContextSnippet]) -> String {
    let mut text = String::new();
    let mut written: Vec<&str> = Vec::new();
    for file in files {
        if written.contains(&file.path.as_str()) {
            continue;
        }
        written.push(&file.path);
        let pieces = files.iter().filter(|it| it.path == file.path);
        let pieces: Vec<String> = pieces.map(|it| line_end(it.text.clone())).collect();
        text.push_str(&format!("{FILE}{}\n{}", file.path, pieces.join("...\n")));
    }
    if text.is_empty() { text } else { text + "\n" }
}

/// Formats the edits, the oldest first, and marks accepted predictions.
pub(super) fn history(edits: &[PastEdit]) -> String {
    if edits.is_empty() {
        return String::new();
    }
    let mut text = format!("{FILE}edit_history\n");
    for edit in edits {
        if edit.was_accepted {
            text.push_str("// User accepted prediction:\n");
        }
        text.push_str(&format!("--- a/{0}\n+++ b/{0}\n{1}", edit.path, edit.diff));
    }
    text + "\n"
}

/// Appends a line feed unless the text ends in one.
pub(super) fn line_end(mut text: String) -> String {
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

pub(super) fn read(answer: &str) -> RegionResponse {
    let answer = answer.replace(CARET, "");
    // The response may be cut inside the stop sequence.
    let body = answer.split(">>>>>>>").next().unwrap_or(&answer);
    match body.trim() {
        NO_EDITS => RegionResponse::Nothing,
        _ => RegionResponse::Region(body.to_owned()),
    }
}
