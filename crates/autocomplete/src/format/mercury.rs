//! Mercury: one message with recently viewed code, the file with a marked part and the caret, and
//! the edits; the response is the rewritten part, or `None`.
//!
//! Source of the format: the documentation of Inception's `/v1/edit/completions`.

use super::RegionResponse;
use super::zeta1::without_fence;
use crate::context::EditContext;

const CARET: &str = "<|cursor|>";
const EDIT_START: &str = "<|code_to_edit|>";
const EDIT_END: &str = "<|/code_to_edit|>";

pub(super) const TOKENS: &[&str] = &[
    CARET,
    EDIT_START,
    EDIT_END,
    "<|recently_viewed_code_snippet|>",
    "<|/recently_viewed_code_snippet|>",
    "<|recently_viewed_code_snippets|>",
    "<|/recently_viewed_code_snippets|>",
    "<|current_file_content|>",
    "<|/current_file_content|>",
    "<|edit_diff_history|>",
    "<|/edit_diff_history|>",
];

pub(super) fn prompt(context: &EditContext) -> String {
    let mut text = "<|recently_viewed_code_snippets|>\n".to_owned();
    for file in context.files.iter().rev() {
        text.push_str(&format!(
            "<|recently_viewed_code_snippet|>\ncode_snippet_file_path: {}\n{}\n<|/recently_viewed_code_snippet|>\n",
            file.path,
            file.text.trim_end_matches('\n'),
        ));
    }
    text.push_str("<|/recently_viewed_code_snippets|>\n\n");
    let window = &context.window;
    let region = window.marked(CARET);
    text.push_str(&format!(
        "<|current_file_content|>\ncurrent_file_path: {}\n{}{EDIT_START}\n{}\n{EDIT_END}\n{}\n<|/current_file_content|>\n\n",
        context.path,
        window.before_region(),
        region.strip_suffix('\n').unwrap_or(&region),
        window.after_region().trim_end_matches('\n'),
    ));
    text.push_str("<|edit_diff_history|>\n");
    for edit in &context.edits {
        text.push_str(&format!("--- {0}\n+++ {0}\n{1}", edit.path, edit.diff));
    }
    text.push_str("<|/edit_diff_history|>");
    text
}

pub(super) fn read(answer: &str) -> RegionResponse {
    let answer = answer.replace(CARET, "");
    let body = without_fence(&answer);
    if body.trim() == "None" {
        return RegionResponse::Nothing;
    }
    let body = match body.split_once(EDIT_START) {
        Some((_, body)) => body.strip_prefix('\n').unwrap_or(body),
        None => body,
    };
    let body = body.split(EDIT_END).next().unwrap_or(body);
    if body.trim().is_empty() {
        RegionResponse::Unreadable
    } else {
        RegionResponse::Region(body.to_owned())
    }
}
