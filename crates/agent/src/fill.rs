//! The fill of a model's context: for the meter of a view, and for the decision to compact.
//!
//! Knows: origins of texts. Must not know: how a conversation is kept, how a request is counted.
//! Invariant: the parts of a fill add up to its tokens.
//! Start at `ContextFill`.

use serde::{Deserialize, Serialize};

use crate::record::PromptOrigin;

/// The fill of the context of the model that answers next. The default is an empty context of
/// unknown size.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextFill {
    /// Tokens of the last request and its answer as the provider counted them, and an estimate of
    /// the texts since.
    pub tokens: u64,
    /// Whether no count of a provider applies: after a compaction, after a switch of models, and in
    /// a session that was opened again.
    pub is_estimate: bool,
    /// The size of the model's context, in tokens.
    pub window: u64,
    /// The number of tokens from which the conversation is compacted.
    pub compact_at: u64,
    /// The tokens of each part that takes any, in the order of `FillPart`. They are in proportion to
    /// the sizes of the texts, and scaled to `tokens`.
    pub parts: Vec<(FillPart, u64)>,
}

/// A part of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum FillPart {
    /// The system prompt.
    System,
    /// The descriptions of the tools.
    Tools,
    /// Instructions, rules and skills.
    Rules,
    /// Mentioned files, and files that the agent read.
    Files,
    /// Other results of calls.
    Results,
    /// Messages, answers and calls.
    Messages,
    /// Pinned texts that were sent again.
    Pinned,
}

impl FillPart {
    /// All parts, in order.
    pub const ALL: [Self; 7] = [
        Self::System,
        Self::Tools,
        Self::Rules,
        Self::Files,
        Self::Results,
        Self::Messages,
        Self::Pinned,
    ];

    /// Returns the name of the part for a user.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "System prompt",
            Self::Tools => "Tools",
            Self::Rules => "Rules and skills",
            Self::Files => "Files",
            Self::Results => "Other results",
            Self::Messages => "Messages",
            Self::Pinned => "Pinned texts",
        }
    }

    /// Returns the part to which a text of this origin belongs. `is_system` says whether the text is
    /// in the system prompt.
    pub fn of(origin: &PromptOrigin, is_system: bool) -> Self {
        match origin {
            PromptOrigin::Rules { .. } | PromptOrigin::Skill { .. } => Self::Rules,
            _ if is_system => Self::System,
            PromptOrigin::ToolSpec { .. } => Self::Tools,
            PromptOrigin::Mention { .. } => Self::Files,
            PromptOrigin::Tool { tool, .. } => Self::of_result(tool),
            PromptOrigin::Pinned { .. } => Self::Pinned,
            PromptOrigin::Pack { .. }
            | PromptOrigin::Header
            | PromptOrigin::Person
            | PromptOrigin::Model { .. }
            | PromptOrigin::Hook { .. }
            | PromptOrigin::Summary
            | PromptOrigin::Harness => Self::Messages,
        }
    }

    /// Returns the part to which the results of a tool belong, by the tool's own name.
    pub(crate) fn of_result(tool: &str) -> Self {
        match tool {
            "read" => Self::Files,
            _ => Self::Results,
        }
    }
}

/// Sizes of the parts of a context, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartSizes([u64; FillPart::ALL.len()]);

impl PartSizes {
    /// Adds a text to a part.
    pub fn add(&mut self, part: FillPart, bytes: u64) {
        self.0[part as usize] += bytes;
    }

    /// Returns the size of all parts.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Distributes `tokens` over the parts in proportion to their sizes. The shares add up to
    /// `tokens`, unless all parts are empty.
    pub fn shares(&self, tokens: u64) -> Vec<(FillPart, u64)> {
        let total = u128::from(self.total());
        let mut shares = Vec::new();
        let (mut bytes, mut given) = (0_u128, 0_u64);
        for (part, size) in FillPart::ALL.into_iter().zip(self.0) {
            if size == 0 {
                continue;
            }
            // Each share ends where the sum of all before it ends, so that rounding loses nothing.
            bytes += u128::from(size);
            let end = u64::try_from(bytes * u128::from(tokens) / total).unwrap_or(u64::MAX);
            shares.push((part, end - given));
            given = end;
        }
        shares
    }
}

impl ContextFill {
    /// Returns the used share of the context in percent, rounded down; `None` if the size of the
    /// context is unknown.
    pub fn percent(&self) -> Option<u64> {
        (self.window > 0).then(|| self.tokens.saturating_mul(100) / self.window)
    }

    /// Returns whether the conversation is to be compacted before the next request.
    pub fn is_full(&self) -> bool {
        self.tokens > self.compact_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_in_proportion_and_add_up() {
        let mut sizes = PartSizes::default();
        assert_eq!(sizes.shares(100), []);
        sizes.add(FillPart::Tools, 1_000);
        sizes.add(FillPart::Messages, 3_000);
        assert_eq!(
            sizes.shares(401),
            [(FillPart::Tools, 100), (FillPart::Messages, 301)]
        );
        for part in FillPart::ALL {
            sizes.add(part, 7);
        }
        for tokens in [0, 1, 2, 5, 999, u64::MAX] {
            let shares = sizes.shares(tokens);
            assert_eq!(shares.iter().map(|(_, share)| share).sum::<u64>(), tokens);
        }
    }

    #[test]
    fn texts_belong_to_the_part_of_their_origin() {
        let check = |origin: PromptOrigin, is_system: bool, expected: FillPart| {
            assert_eq!(FillPart::of(&origin, is_system), expected, "{origin:?}");
        };
        let rules = PromptOrigin::Rules {
            path: "AGENTS.md".to_owned(),
        };
        check(rules.clone(), true, FillPart::Rules);
        check(rules, false, FillPart::Rules);
        check(PromptOrigin::Header, true, FillPart::System);
        check(PromptOrigin::Person, false, FillPart::Messages);
        let result = |tool: &str| PromptOrigin::Tool {
            call: "1".to_owned(),
            tool: tool.to_owned(),
        };
        check(result("read"), false, FillPart::Files);
        check(result("exec_command"), false, FillPart::Results);
    }

    #[test]
    fn a_context_of_unknown_size_has_no_share() {
        let fill = ContextFill {
            tokens: 30,
            window: 200,
            compact_at: 29,
            ..ContextFill::default()
        };
        assert_eq!((fill.percent(), fill.is_full()), (Some(15), true));
        assert_eq!(ContextFill::default().percent(), None);
    }
}
