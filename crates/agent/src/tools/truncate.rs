//! Truncation of long texts to a budget: the beginning, a line that describes the gap, and the end.

use std::sync::Arc;

use crate::outcome::Detail;
use crate::services::SessionServices;
use crate::tool::{ToolContext, ToolResult};

use super::state::ToolState;

/// Estimated bytes per token.
const TOKEN: usize = 4;
/// Percentage of a budget for the beginning. The end is more informative, above all in command
/// output.
const HEAD_PERCENT: usize = 40;
/// Maximum number of tokens of a result, whatever a call requests.
const MAX_TOKENS: u64 = 50_000;

/// A text that was truncated.
pub(super) struct TruncatedText {
    pub(super) head: String,
    pub(super) tail: String,
    /// Number of lines omitted between the two, in whole or in part.
    pub(super) lines: usize,
}

impl TruncatedText {
    /// Joins head and tail with a line that describes the gap; `handle` names the saved whole
    /// output, if it could be saved.
    pub(super) fn render(&self, handle: Option<&str>) -> String {
        let whole = match handle {
            Some(handle) => format!("; whole output: {handle}, read it with `offset` and `limit`"),
            None => "; the whole could not be kept".to_owned(),
        };
        let lines = match self.lines {
            1 => "1 line".to_owned(),
            lines => format!("{lines} lines"),
        };
        let feed = if self.head.ends_with('\n') { "" } else { "\n" };
        format!(
            "{}{feed}[… {lines} omitted{whole} …]\n{}",
            self.head, self.tail
        )
    }
}

/// Returns the byte budget of a call's result: the tokens that the call requests in `asked`, up to
/// half the model's window, or the session's default.
pub(super) fn budget(context: &ToolContext, asked: Option<u64>) -> usize {
    let window = (context.profile.context.0 / 2).max(64);
    let tokens = match asked {
        Some(asked) => asked.clamp(64, MAX_TOKENS.min(window)),
        None => context.output_tokens.clamp(64, MAX_TOKENS),
    };
    usize::try_from(tokens)
        .unwrap_or(usize::MAX)
        .saturating_mul(TOKEN)
}

/// Truncates a text to about `budget` bytes; `None` if it fits. Splits between lines if they are
/// short enough, else between characters.
pub(super) fn truncate(text: &str, budget: usize) -> Option<TruncatedText> {
    if text.len() <= budget {
        return None;
    }
    let head_room = budget * HEAD_PERCENT / 100;
    let tail_room = budget - head_room;
    let head = &text[..floor(text, head_room)];
    // A line longer than half the room is shown in part.
    let head = match head.rfind('\n') {
        Some(at) if at * 2 >= head.len() => &head[..=at],
        _ => head,
    };
    let tail = &text[ceil(text, text.len() - tail_room)..];
    let tail = match tail.find('\n') {
        Some(at) if at * 2 <= tail.len() => &tail[at + 1..],
        _ => tail,
    };
    let middle = &text[head.len()..text.len() - tail.len()];
    let lines = middle.matches('\n').count() + usize::from(!middle.ends_with('\n'));
    Some(TruncatedText {
        head: head.to_owned(),
        tail: tail.to_owned(),
        lines,
    })
}

/// Returns a result with a text, truncated to the budget and then saved in full.
pub(super) fn answer(context: &ToolContext, room: &Arc<ToolState>, text: String) -> ToolResult {
    let budget = budget(context, None);
    match truncate(&text, budget) {
        None => ToolResult::ok(text),
        Some(cut) => {
            let handle = save_output(&context.sources, room, text.as_bytes());
            ToolResult::ok(cut.render(handle.as_deref())).with_detail(Detail::OutputTruncated)
        }
    }
}

/// Saves a text in full. Returns `None` if that fails, which the truncated text mentions.
pub(super) fn save_output(
    sources: &SessionServices,
    room: &ToolState,
    bytes: &[u8],
) -> Option<String> {
    match room.whole.save(sources.files.as_ref(), bytes) {
        Ok(handle) => Some(handle),
        Err(error) => {
            base::report(&format!("an output was not kept: {error}"));
            None
        }
    }
}

/// Returns the last character boundary up to `at`.
pub(super) fn floor(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0)
}

/// Returns the first character boundary from `at` on.
pub(super) fn ceil(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (at..=text.len())
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_lie_between_lines_or_chars() {
        assert!(truncate("short", 5).is_none());
        let lines: String = (0..100).map(|ix| format!("line {ix}\n")).collect();
        let found = truncate(&lines, 200).expect("too long");
        assert!(found.head.starts_with("line 0\n") && found.head.ends_with('\n'));
        assert!(found.tail.starts_with("line ") && found.tail.ends_with("line 99\n"));
        let kept = found.head.lines().count() + found.tail.lines().count();
        assert_eq!(kept + found.lines, 100);
        assert!(found.head.len() + found.tail.len() <= 200);
        let wide = "ä€😀".repeat(50);
        for budget in 60..75 {
            let found = truncate(&wide, budget).expect("too long");
            assert!(wide.starts_with(&found.head) && wide.ends_with(&found.tail));
            assert_eq!(found.lines, 1);
        }
    }
}
