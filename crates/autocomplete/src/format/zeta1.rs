//! Zeta 1: instructions, edits as fenced diffs, an excerpt with a marked region; the response is
//! the rewritten region.
//!
//! Source of the format: Zed's open model `zeta`, a tuned Qwen2.5-Coder that is queried without a
//! chat template.

use super::RegionResponse;
use crate::context::{EditContext, PastEdit};

pub(super) const REGION_START: &str = "<|editable_region_start|>";
pub(super) const REGION_END: &str = "<|editable_region_end|>";
pub(super) const CARET: &str = "<|user_cursor_is_here|>";
const FILE_START: &str = "<|start_of_file|>";

pub(super) const TOKENS: &[&str] = &[
    REGION_START,
    REGION_END,
    CARET,
    FILE_START,
    "<|im_start|>",
    "<|im_end|>",
    "<|endoftext|>",
];

const INSTRUCTION: &str = "### Instruction:\nYou are a code completion assistant and your task is to analyze user edits and then \
rewrite an excerpt that the user provides, suggesting the appropriate edits within the excerpt, taking into account the cursor \
location.\n\n### User Edits:\n\n";

pub(super) fn prompt(context: &EditContext) -> String {
    let edits: Vec<String> = context.edits.iter().map(render_edit).collect();
    let edits = edits.join("\n\n");
    let excerpt = excerpt(context);
    format!("{INSTRUCTION}{edits}\n\n### User Excerpt:\n\n{excerpt}\n\n### Response:\n")
}

fn render_edit(edit: &PastEdit) -> String {
    let diff = edit.diff.trim_end();
    format!("User edited \"{}\":\n```diff\n{diff}\n```", edit.path)
}

fn excerpt(context: &EditContext) -> String {
    let window = &context.window;
    let first = match window.start.0 {
        0 => format!("{FILE_START}\n"),
        _ => String::new(),
    };
    let region = window.marked(CARET);
    let region = region.strip_suffix('\n').unwrap_or(&region);
    format!(
        "```{}\n{first}{}{REGION_START}\n{region}\n{REGION_END}\n{}\n```",
        context.path,
        window.before_region(),
        window.after_region().trim_end_matches('\n'),
    )
}

/// Returns the text between the region markers, or the whole response if the model left them out.
pub(super) fn read(answer: &str) -> RegionResponse {
    let answer = answer.replace(CARET, "");
    let body = match answer.split_once(REGION_START) {
        Some((_, body)) => body.strip_prefix('\n').unwrap_or(body),
        None => without_fence(&answer),
    };
    let body = body.split(REGION_END).next().unwrap_or(body);
    if body.trim().is_empty() {
        RegionResponse::Unreadable
    } else {
        RegionResponse::Region(body.to_owned())
    }
}

/// Removes the code fence that chat models put around code.
pub(super) fn without_fence(text: &str) -> &str {
    let Some(inner) = text.trim().strip_prefix("```") else {
        return text;
    };
    let inner = inner.split_once('\n').map_or("", |(_, inner)| inner);
    inner.rsplit_once("```").map_or(inner, |(inner, _)| inner)
}
