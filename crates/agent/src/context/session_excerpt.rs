//! The state of another session as text for a prompt: its summary, and its latest messages.
//!
//! Start at `session_excerpt`.

use crate::excerpt::head_and_tail;
use crate::record::{SessionRecord, Stored};
use crate::stored_parts::texts;
use crate::summary_memory;

/// Number of the latest messages that are quoted.
const MAX_MESSAGES: usize = 8;
/// Maximum bytes of one message.
const MAX_MESSAGE_BYTES: usize = 4_000;
/// Maximum bytes of the summary.
const MAX_SUMMARY_BYTES: usize = 8_000;

/// Returns a session in a few thousand words: its title, the memory of its latest compaction, the
/// first message of the user and the latest messages of both sides. Calls and their results are left
/// out.
pub fn session_excerpt(title: &str, records: &[Stored]) -> String {
    let mut messages: Vec<(&str, String)> = Vec::new();
    let mut summary = None;
    for stored in records {
        match &stored.record {
            SessionRecord::Prompted { parts, .. } => messages.push(("user", texts(parts))),
            SessionRecord::Answered { parts, .. } => messages.push(("agent", texts(parts))),
            SessionRecord::Compacted { summary: text, .. }
            | SessionRecord::SummaryEdited { summary: text, .. }
                if !text.trim().is_empty() =>
            {
                summary = Some(text);
            }
            _ => {}
        }
    }
    messages.retain(|(_, text)| !text.trim().is_empty());
    let latest = messages.len().saturating_sub(MAX_MESSAGES);
    let first = messages.iter().take(latest.min(1));
    let mut text = format!("title: {}\n", title.replace('\n', " "));
    if let Some(summary) = summary {
        let memory = summary_memory::split(summary).map_or(summary.as_str(), |(memory, _)| memory);
        let memory = head_and_tail(memory.trim(), MAX_SUMMARY_BYTES);
        text.push_str(&format!("summary of its earlier part:\n{memory}\n"));
    }
    let mut push = |(who, said): &(&str, String)| {
        let said = head_and_tail(said.trim(), MAX_MESSAGE_BYTES);
        text.push_str(&format!("\n{who}:\n{said}\n"));
    };
    first.for_each(&mut push);
    messages[latest..].iter().for_each(&mut push);
    if latest > 1 {
        text.push_str(&format!("\n[{} messages left out]\n", latest - 1));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::StoredUsage;
    use crate::stored_parts;

    fn records(turns: u64) -> Vec<Stored> {
        let said = (1..=turns).flat_map(|turn| {
            let prompted = SessionRecord::Prompted {
                turn,
                parts: vec![stored_parts::text(format!("question {turn}"))],
                is_steering: false,
            };
            let answered = SessionRecord::Answered {
                turn,
                step: 1,
                model: "a/b".to_owned(),
                parts: vec![stored_parts::text(
                    "word ".repeat(2_000) + &turn.to_string(),
                )],
                usage: StoredUsage::default(),
                cost_nano: None,
                stop: "end_turn".to_owned(),
            };
            [prompted, answered]
        });
        (0..)
            .zip(said)
            .map(|(seq, record)| Stored {
                seq,
                at_ms: 0,
                record,
            })
            .collect()
    }

    #[test]
    fn an_excerpt_has_the_first_and_the_latest_messages() {
        let text = session_excerpt("Fix\nit", &records(2));
        assert!(
            text.starts_with("title: Fix it\n\nuser:\nquestion 1\n"),
            "{text}"
        );
        let long = session_excerpt("Fix it", &records(40));
        assert!(long.contains("question 1\n") && long.contains("question 40\n"));
        assert!(!long.contains("question 20\n"));
        assert!(long.contains("[71 messages left out]"), "{long}");
        assert!(long.len() < 30_000, "{}", long.len());
    }

    #[test]
    fn an_excerpt_has_the_memory_of_the_latest_compaction() {
        let mut records = records(1);
        records.push(Stored {
            seq: 9,
            at_ms: 0,
            record: SessionRecord::Compacted {
                through: 1,
                reduced: Vec::new(),
                dropped: Vec::new(),
                summary: "<summary>\n<memory>\ngoal: tests\n</memory>\nrest".to_owned(),
                bytes: (2, 1),
                tokens: None,
                why: String::new(),
            },
        });
        let text = session_excerpt("t", &records);
        assert!(text.contains("earlier part:\ngoal: tests\n"), "{text}");
        assert!(!text.contains("rest"), "{text}");
    }
}
