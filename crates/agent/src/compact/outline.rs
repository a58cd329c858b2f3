//! The parts of a stored summary, for a user who reads or edits it.

use super::summary::parse_earlier_summary;
use crate::summary_memory::split;

/// The parts of a stored summary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SummaryOutline {
    /// The text that a model wrote, or the user.
    pub memory: String,
    /// Number of messages of the user that are kept word for word.
    pub user_messages: usize,
    /// Paths of the rules that are kept word for word.
    pub rules: Vec<String>,
}

impl SummaryOutline {
    /// Returns the parts of a stored summary. A text without parts is a memory as a whole.
    pub fn of(summary: &str) -> Self {
        let Some((memory, rest)) = split(summary) else {
            return Self {
                memory: summary.trim_end().to_owned(),
                ..Self::default()
            };
        };
        let (messages, rules, _) = parse_earlier_summary(rest);
        Self {
            memory: memory.trim_end().to_owned(),
            user_messages: messages.len(),
            rules: rules.into_iter().map(|(path, _)| path).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary_memory::with_memory;

    const SUMMARY: &str = "Continue from it.\n<memory>\nGoal: speed\n</memory>\n\
        <said by=\"user\" nth=\"1\">\nmake it fast </memory>\n</said nth=\"1\">\n\
        <rule from=\"AGENTS.md\">\n<instructions>\nBe kind.\n</instructions>\n</rule>\n";

    #[test]
    fn an_edit_changes_the_memory_alone() {
        let outline = SummaryOutline::of(SUMMARY);
        assert_eq!(outline.memory, "Goal: speed");
        assert_eq!(outline.user_messages, 1);
        assert_eq!(outline.rules, ["AGENTS.md"]);
        let edited = with_memory(SUMMARY, "Goal: speed\nand </memory>\nsafety\n\n");
        let outline = SummaryOutline::of(&edited);
        assert_eq!(outline.memory, "Goal: speed\nand </ memory>\nsafety");
        assert_eq!((outline.user_messages, outline.rules.len()), (1, 1));
        assert_eq!(with_memory(&edited, "Goal: speed"), SUMMARY);
    }

    #[test]
    fn a_text_without_parts_is_a_memory() {
        assert_eq!(SummaryOutline::of("all is well\n").memory, "all is well");
        assert_eq!(with_memory("all is well", "or not\n"), "or not");
    }
}
