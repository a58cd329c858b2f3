//! Long texts cut to a budget: the beginning, a line that says what is missing, and the end.

use std::sync::Arc;

use crate::outcome::Detail;
use crate::sources::Sources;
use crate::tool::{Answer, ToolContext};

use super::rooms::Room;

/// Bytes that a token is reckoned at.
const TOKEN: usize = 4;
/// The share of a budget that goes to the beginning; the end says more, above all of a command's output.
const HEAD_PERCENT: usize = 40;
/// The most tokens that a result may have, whatever a call asks for.
const MOST: u64 = 50_000;

/// A text that was cut.
pub(super) struct Cut {
    pub(super) head: String,
    pub(super) tail: String,
    /// Lines left out between the two, in part or whole.
    pub(super) lines: usize,
}

impl Cut {
    /// Head and tail with the gap named.
    pub(super) fn shown(&self, handle: Option<&str>) -> String {
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

/// The bytes that a call may answer with: what it asks for, up to half of the model's window, else what the session
/// gives.
pub(super) fn budget(context: &ToolContext, asked: Option<u64>) -> usize {
    let window = (context.profile.context.0 / 2).max(64);
    let tokens = match asked {
        Some(asked) => asked.clamp(64, MOST.min(window)),
        None => context.output_tokens.clamp(64, MOST),
    };
    usize::try_from(tokens)
        .unwrap_or(usize::MAX)
        .saturating_mul(TOKEN)
}

/// Cuts a text to about `budget` bytes; `None` where it fits. Between lines where lines are short enough,
/// else between chars.
pub(super) fn cut(text: &str, budget: usize) -> Option<Cut> {
    if text.len() <= budget {
        return None;
    }
    let head_room = budget * HEAD_PERCENT / 100;
    let tail_room = budget - head_room;
    let head = &text[..floor(text, head_room)];
    // A line that is longer than half the room is shown in part.
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
    Some(Cut {
        head: head.to_owned(),
        tail: tail.to_owned(),
        lines,
    })
}

/// An answer with a text that may be long: cut to the budget, and then kept whole.
pub(super) fn answer(context: &ToolContext, room: &Arc<Room>, text: String) -> Answer {
    let budget = budget(context, None);
    match cut(&text, budget) {
        None => Answer::ok(text),
        Some(cut) => {
            let handle = keep(&context.sources, room, text.as_bytes());
            Answer::ok(cut.shown(handle.as_deref())).with_detail(Detail::OutputTruncated)
        }
    }
}

/// Keeps a text whole; `None` where that fails, which the cut text says.
pub(super) fn keep(sources: &Sources, room: &Room, bytes: &[u8]) -> Option<String> {
    match room.whole.keep(sources.files.as_ref(), bytes) {
        Ok(handle) => Some(handle),
        Err(error) => {
            base::report(&format!("an output was not kept: {error}"));
            None
        }
    }
}

/// The last char boundary up to `at`.
pub(super) fn floor(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0)
}

/// The first char boundary from `at` on.
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
        assert!(cut("short", 5).is_none());
        let lines: String = (0..100).map(|ix| format!("line {ix}\n")).collect();
        let found = cut(&lines, 200).expect("too long");
        assert!(found.head.starts_with("line 0\n") && found.head.ends_with('\n'));
        assert!(found.tail.starts_with("line ") && found.tail.ends_with("line 99\n"));
        let kept = found.head.lines().count() + found.tail.lines().count();
        assert_eq!(kept + found.lines, 100);
        assert!(found.head.len() + found.tail.len() <= 200);
        let wide = "ä€😀".repeat(50);
        for budget in 60..75 {
            let found = cut(&wide, budget).expect("too long");
            assert!(wide.starts_with(&found.head) && wide.ends_with(&found.tail));
            assert_eq!(found.lines, 1);
        }
    }
}
