//! Instinct: a system prompt and one message with other files, edits, and an excerpt with a marked
//! region; the response is the rewritten region.
//!
//! Source of the format: Continue's open model `instinct`.
//! Limitations: the system prompt paraphrases the model's own in fewer words.

use super::zeta1::{CARET, REGION_END, REGION_START};
use crate::context::EditContext;

const FILE: &str = "<|context_file|>";
const SNIPPET: &str = "<|snippet|>";

pub(super) const TOKENS: &[&str] = &[
    REGION_START,
    REGION_END,
    CARET,
    FILE,
    SNIPPET,
    "<|im_start|>",
    "<|im_end|>",
    "<|endoftext|>",
];

pub(super) const SYSTEM: &str = "You are Instinct, an intelligent next-edit predictor. Predict the next edit that the developer makes \
between <|editable_region_start|> and <|editable_region_end|>.\n\n\
- \"### Context:\" holds pieces of other files, each behind <|context_file|>, its path, and <|snippet|>. Some may not matter.\n\
- \"### User Edits:\" holds the developer's latest changes as unified diffs.\n\
- \"### User Excerpt:\" holds the path of the current file and an excerpt of it; <|user_cursor_is_here|> is where the developer is.\n\n\
Write the code between the two markers as it should be, without the markers. Keep its indentation. Do not repeat code from \
outside of them, and do not take back the developer's last change.";

pub(super) fn prompt(context: &EditContext) -> String {
    let files: Vec<String> = context
        .files
        .iter()
        .map(|file| {
            format!(
                "{FILE}: {}\n{SNIPPET}\n{}",
                file.path,
                file.text.trim_end_matches('\n')
            )
        })
        .collect();
    // The newest edit comes first, unlike for the other models.
    let edits: Vec<String> = context
        .edits
        .iter()
        .rev()
        .map(|edit| {
            format!(
                "User edited file \"{}\"\n\n```diff\n{}\n```",
                edit.path,
                edit.diff.trim_end()
            )
        })
        .collect();
    let window = &context.window;
    let region = window.marked(CARET);
    format!(
        "### Context:\n{}\n\n### User Edits:\n\n{}\n\n### User Excerpt:\n{}\n\n{}{REGION_START}\n{}\n{REGION_END}\n{}\n\n### Response:",
        files.join("\n\n"),
        edits.join("\n\n"),
        context.path,
        window.before_region(),
        region.strip_suffix('\n').unwrap_or(&region),
        window.after_region().trim_end_matches('\n'),
    )
}
