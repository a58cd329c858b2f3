//! Exports a session as Markdown for people to read.
//!
//! Must not know: files, windows. Start at `markdown`.

use crate::record::{SessionRecord, Stored, StoredPart, control_notice};
use crate::stored_parts::texts;

/// Returns the messages, calls and notices of a session as Markdown. `title` becomes the heading.
pub fn markdown(title: &str, records: &[Stored]) -> String {
    let mut text = format!("# {}\n", one_line(title));
    for stored in records {
        if let Some(section) = section(&stored.record) {
            text.push('\n');
            text.push_str(&section);
            text.push('\n');
        }
    }
    text
}

/// Returns the paragraph of a record; `None` if people do not read it.
fn section(record: &SessionRecord) -> Option<String> {
    Some(match record {
        SessionRecord::Began { root, model, .. } => format!("*{model} in {root}*"),
        SessionRecord::Prompted { parts, .. } => format!("## You\n\n{}", texts(parts).trim()),
        SessionRecord::Answered { model, parts, .. } => {
            let text = texts(parts);
            let text = text.trim();
            if text.is_empty() {
                return None;
            }
            format!("## {model}\n\n{text}")
        }
        SessionRecord::CallBegan { title, .. } => format!("- {}", one_line(title)),
        SessionRecord::CallEnded {
            tool,
            outcome,
            content,
            millis,
            ..
        } => format!(
            "  {tool}: {}, {millis} ms\n{}",
            outcome.name(),
            fenced(content)
        ),
        SessionRecord::Failed { message, .. } => format!("*{}*", one_line(message)),
        SessionRecord::Noted { text } => format!("*{}*", one_line(text)),
        SessionRecord::TerminalControl {
            command,
            is_taken,
            typed,
            ..
        } => format!("*{}.*", control_notice(command, *is_taken, *typed)),
        SessionRecord::Routed { model, reason, .. } => format!("*Auto chose {model}: {reason}.*"),
        SessionRecord::Switched { from, to, .. } => format!("*The model changed: {from} to {to}.*"),
        SessionRecord::SummaryEdited { summary, .. } => {
            format!("*You edited the summary.*\n\n{summary}")
        }
        SessionRecord::Pinned { text, .. } => {
            format!("*You pinned: {}*", one_line(&shortened(text)))
        }
        SessionRecord::Compacted { summary, .. } => {
            format!("*Older parts of the conversation were shortened.*\n\n{summary}")
                .trim()
                .to_owned()
        }
        SessionRecord::TurnEnded { end, .. } => format!("*{}*", one_line(&end.to_string())),
        _ => return None,
    })
}

/// Returns the texts of parts as a fenced block below a list item; empty without a text.
fn fenced(parts: &[StoredPart]) -> String {
    let text = texts(parts);
    let text = text.trim_end();
    if text.is_empty() {
        return String::new();
    }
    // A fence ends at a line with as many backticks.
    let longest = text.split(|char| char != '`').map(str::len).max();
    let fence = "`".repeat(longest.unwrap_or(0).max(2) + 1);
    let lines: String = text.lines().map(|line| format!("  {line}\n")).collect();
    format!("\n  {fence}text\n{lines}  {fence}")
}

/// Returns the beginning of a long text.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}\u{2026}", &text[..end]),
        None => text.to_owned(),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::CallOutcome;
    use crate::record::{SessionMode, StoredUsage, TurnEnd};
    use crate::stored_parts;

    fn check(record: SessionRecord, expected: Option<&str>) {
        assert_eq!(section(&record).as_deref(), expected);
    }

    #[test]
    fn each_record_has_its_paragraph() {
        check(
            SessionRecord::Prompted {
                turn: 1,
                parts: vec![stored_parts::text("Mend\n\nthe roof\n")],
                is_steering: false,
            },
            Some("## You\n\nMend\n\nthe roof"),
        );
        let answered = |text: &str| SessionRecord::Answered {
            turn: 1,
            step: 1,
            model: "far/big".to_owned(),
            parts: vec![stored_parts::text(text)],
            usage: StoredUsage::default(),
            cost_nano: None,
            stop: "end_turn".to_owned(),
        };
        check(answered("It is done."), Some("## far/big\n\nIt is done."));
        check(answered(" "), None);
        check(
            SessionRecord::CallEnded {
                turn: 1,
                call: "c".to_owned(),
                tool: "read".to_owned(),
                outcome: CallOutcome::Ok,
                detail: None,
                content: vec![stored_parts::text("a\n```\nb\n")],
                shown: Vec::new(),
                millis: 5,
            },
            Some("  read: ok, 5 ms\n\n  ````text\n  a\n  ```\n  b\n  ````"),
        );
        let ended = |end| SessionRecord::TurnEnded { turn: 1, end };
        check(ended(TurnEnd::Stopped), Some("*stopped*"));
        let mode = SessionMode::Plan;
        check(SessionRecord::ModeSet { mode }, None);
    }

    #[test]
    fn the_title_is_the_heading() {
        assert_eq!(markdown("Mend the\nroof", &[]), "# Mend the roof\n");
    }
}
