//! Zeta 1: instructions, edits as fenced diffs, an excerpt with a marked region; the answer is the region anew.
//!
//! Source of the format: Zed's open model `zeta`, a tuned Qwen2.5-Coder that is asked without a chat.

use super::Answer;
use crate::context::{Context, PastEdit};

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

pub(super) fn prompt(context: &Context) -> String {
    let edits: Vec<String> = context.edits.iter().map(told).collect();
    let edits = edits.join("\n\n");
    let excerpt = excerpt(context);
    format!("{INSTRUCTION}{edits}\n\n### User Excerpt:\n\n{excerpt}\n\n### Response:\n")
}

fn told(edit: &PastEdit) -> String {
    let diff = edit.diff.trim_end();
    format!("User edited \"{}\":\n```diff\n{diff}\n```", edit.path)
}

fn excerpt(context: &Context) -> String {
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
        window.above(),
        window.below().trim_end_matches('\n'),
    )
}

/// What stands between the marks of the region; all of it where the model left them out.
pub(super) fn read(answer: &str) -> Answer {
    let answer = answer.replace(CARET, "");
    let body = match answer.split_once(REGION_START) {
        Some((_, body)) => body.strip_prefix('\n').unwrap_or(body),
        None => without_fence(&answer),
    };
    let body = body.split(REGION_END).next().unwrap_or(body);
    match body.trim().is_empty() {
        true => Answer::Unreadable,
        false => Answer::Region(body.to_owned()),
    }
}

/// A text without the fence that chat models put around code.
pub(super) fn without_fence(text: &str) -> &str {
    let Some(inner) = text.trim().strip_prefix("```") else {
        return text;
    };
    let inner = inner.split_once('\n').map_or("", |(_, inner)| inner);
    inner.rsplit_once("```").map_or(inner, |(inner, _)| inner)
}
