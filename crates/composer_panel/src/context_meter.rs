//! The meter of a model's context: texts and shares, without a window.
//!
//! Knows: the fill that a session reports. Must not know: how it is drawn.
//! Start at `ContextMeter::of`.

use agent::fill::{ContextFill, FillPart};

use agent_service::token_text;

/// The meter of the context of the model that answers next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ContextMeter {
    fill: ContextFill,
}

impl ContextMeter {
    /// Returns the meter for a fill that a session reported; `None` if the size of the context is
    /// unknown. `next_window` is the size of the context of a model that was chosen since: the fill
    /// is an estimate for it.
    pub(crate) fn of(fill: &ContextFill, next_window: Option<u64>) -> Option<Self> {
        if fill.window == 0 {
            return None;
        }
        let mut fill = fill.clone();
        if let Some(window) = next_window.filter(|window| *window > 0) {
            let line = u128::from(fill.compact_at) * u128::from(window) / u128::from(fill.window);
            fill.compact_at = u64::try_from(line).unwrap_or(window);
            fill.window = window;
            fill.is_estimate = true;
        }
        Some(Self { fill })
    }

    /// The filled share of the meter, from 0 to 1.
    pub(crate) fn share(&self) -> f32 {
        ratio(self.fill.tokens, self.fill.window)
    }

    /// The position of the line from which the conversation is compacted, from 0 to 1.
    pub(crate) fn line(&self) -> f32 {
        ratio(self.fill.compact_at, self.fill.window)
    }

    /// Whether the next request compacts the conversation first.
    pub(crate) fn is_full(&self) -> bool {
        self.fill.is_full()
    }

    /// The text beside the meter.
    pub(crate) fn label(&self) -> String {
        let about = self.about();
        let used = token_text(self.fill.tokens);
        let window = token_text(self.fill.window);
        format!("{about}{} % \u{b7} {used} of {window}", self.percent())
    }

    /// The name of the meter for accessibility.
    pub(crate) fn name(&self) -> String {
        format!(
            "Context: {}{} of {} tokens, {} %, {}",
            self.about(),
            token_text(self.fill.tokens),
            token_text(self.fill.window),
            self.percent(),
            self.line_text()
        )
    }

    /// The sentences about the whole, for the list of parts.
    pub(crate) fn summary(&self) -> String {
        let begin = if self.fill.is_estimate {
            "An estimate until the next answer is counted"
        } else {
            "Counted by the provider with the last answer"
        };
        format!("{begin}. The conversation is {}.", self.line_text())
    }

    /// The parts with their names, tokens, and shares of the used tokens from 0 to 1.
    pub(crate) fn parts(&self) -> Vec<(FillPart, String, f32)> {
        let parts = self.fill.parts.iter();
        parts
            .map(|(part, tokens)| (*part, token_text(*tokens), ratio(*tokens, self.fill.tokens)))
            .collect()
    }

    fn line_text(&self) -> String {
        if self.is_full() {
            "compacted with the next request".to_owned()
        } else {
            format!(
                "compacted from {} tokens on",
                token_text(self.fill.compact_at)
            )
        }
    }

    fn about(&self) -> &'static str {
        if self.fill.is_estimate { "about " } else { "" }
    }

    fn percent(&self) -> u64 {
        self.fill.percent().unwrap_or(0)
    }
}

fn ratio(part: u64, whole: u64) -> f32 {
    (part as f32 / whole.max(1) as f32).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill() -> ContextFill {
        ContextFill {
            tokens: 24_300,
            is_estimate: false,
            window: 200_000,
            compact_at: 160_000,
            parts: vec![(FillPart::Tools, 4_300), (FillPart::Messages, 20_000)],
        }
    }

    #[test]
    fn a_counted_fill_is_exact() {
        let meter = ContextMeter::of(&fill(), None).expect("a window");
        assert_eq!(meter.label(), "12 % \u{b7} 24.3k of 200k");
        assert_eq!(
            meter.name(),
            "Context: 24.3k of 200k tokens, 12 %, compacted from 160k tokens on"
        );
        assert_eq!((meter.line(), meter.is_full()), (0.8, false));
    }

    #[test]
    fn the_fill_for_another_model_is_an_estimate() {
        let meter = ContextMeter::of(&fill(), Some(25_000)).expect("a window");
        assert_eq!(meter.label(), "about 97 % \u{b7} 24.3k of 25k");
        assert!(meter.is_full(), "its line is at 20k");
        assert!(meter.name().ends_with("compacted with the next request"));
        assert_eq!(
            ContextMeter::of(&ContextFill::default(), Some(25_000)),
            None
        );
    }

    #[test]
    fn parts_are_shares_of_the_used_tokens() {
        let meter = ContextMeter::of(&fill(), None).expect("a window");
        let parts = meter.parts();
        let names: Vec<&str> = parts.iter().map(|(part, _, _)| part.name()).collect();
        assert_eq!(names, ["Tools", "Messages"]);
        let sum: f32 = parts.iter().map(|(_, _, share)| share).sum();
        assert!((sum - 1.0).abs() < 1e-6, "{sum}");
    }
}
