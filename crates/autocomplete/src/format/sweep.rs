//! Sweep: other files, recent edits as original and updated text, the window before the last edit
//! and now; the response is the updated window.
//!
//! Source of the format: the open models `sweep-next-edit`, tuned from Qwen2.5-Coder.

use crate::context::EditContext;

const SEPARATOR: &str = "<|file_sep|>";

pub(super) const TOKENS: &[&str] = &[
    SEPARATOR,
    "<|endoftext|>",
    "<|fim_prefix|>",
    "<|fim_middle|>",
    "<|fim_suffix|>",
    "<|fim_pad|>",
    "<|repo_name|>",
    "<|im_start|>",
    "<|im_end|>",
];

pub(super) fn prompt(context: &EditContext) -> String {
    let mut text = String::new();
    let mut part = |name: &str, body: &str| {
        let body = body.strip_suffix('\n').unwrap_or(body);
        text.push_str(&format!("{SEPARATOR}{name}\n{body}\n"));
    };
    for file in context.files.iter().rev() {
        part(&file.path, &file.text);
    }
    for edit in &context.edits {
        let (old, new) = (
            edit.old.trim_end_matches('\n'),
            edit.new.trim_end_matches('\n'),
        );
        let body = format!("original:\n{old}\nupdated:\n{new}");
        part(&format!("{}.diff", edit.path), &body);
    }
    let window = &context.window;
    let before = window.before.as_deref().unwrap_or(window.region());
    part(&format!("original/{}", context.path), before);
    part(&format!("current/{}", context.path), window.region());
    text.push_str(&format!("{SEPARATOR}updated/{}\n", context.path));
    text
}
