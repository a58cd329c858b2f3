//! Zeta 2: what stands behind first, then other files, the history and what stands before, and the part to rewrite as
//! one side of a conflict; the answer is the other side.
//!
//! Source of the format: Zed's open model `zeta-2`, tuned from Seed-Coder; the format's name there is V0211SeedCoder.

use super::Answer;
use crate::context::{Context, Excerpt, PastEdit};

pub(super) const SUFFIX: &str = "<[fim-suffix]>";
pub(super) const PREFIX: &str = "<[fim-prefix]>";
pub(super) const MIDDLE: &str = "<[fim-middle]>";
pub(super) const FILE: &str = "<filename>";
pub(super) const CARET: &str = "<|user_cursor|>";
pub(super) const END: &str = ">>>>>>> UPDATED\n";
const START: &str = "<<<<<<< CURRENT\n";
const SEPARATOR: &str = "=======\n";
/// What the model writes where it would change nothing.
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

pub(super) fn prompt(context: &Context) -> String {
    let window = &context.window;
    let region = line_end(window.marked(CARET));
    format!(
        "{}{PREFIX}{}{}{FILE}{}\n{}{START}{region}{SEPARATOR}{MIDDLE}",
        suffix(context),
        files(&context.files),
        history(&context.edits),
        context.path,
        window.above(),
    )
}

/// What stands behind the part to rewrite.
pub(super) fn suffix(context: &Context) -> String {
    format!("{SUFFIX}{}", line_end(context.window.below().to_owned()))
}

/// Other files by rank, pieces of one file under one name with dots between them.
pub(super) fn files(files: &[Excerpt]) -> String {
    let mut text = String::new();
    let mut told: Vec<&str> = Vec::new();
    for file in files {
        if told.contains(&file.path.as_str()) {
            continue;
        }
        told.push(&file.path);
        let pieces = files.iter().filter(|it| it.path == file.path);
        let pieces: Vec<String> = pieces.map(|it| line_end(it.text.clone())).collect();
        text.push_str(&format!("{FILE}{}\n{}", file.path, pieces.join("...\n")));
    }
    match text.is_empty() {
        true => text,
        false => text + "\n",
    }
}

/// The edits, the oldest first, those that were taken from a model marked.
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

/// A text that ends its last line.
pub(super) fn line_end(mut text: String) -> String {
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

pub(super) fn read(answer: &str) -> Answer {
    let answer = answer.replace(CARET, "");
    // The stop text may have been cut within.
    let body = answer.split(">>>>>>>").next().unwrap_or(&answer);
    match body.trim() {
        NO_EDITS => Answer::Nothing,
        _ => Answer::Region(body.to_owned()),
    }
}
