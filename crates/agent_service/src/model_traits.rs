//! Facts about a model that help to choose it, as text.

use model::{Effort, Price, Tier, TokenCount, TokenRate, Usage};
use serde::{Deserialize, Serialize};

use crate::token_text::token_text;

/// Facts about a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelTraits {
    /// Strength of the model.
    pub tier: Tier,
    /// Price of the model; `None` if it is unknown.
    pub price: Option<Price>,
    /// Maximum tokens of prompt and answer together.
    pub context: u64,
    /// The efforts that it takes, weakest first; empty if it takes none.
    pub efforts: Vec<Effort>,
    /// Whether it accepts images; `None` if that is unknown.
    pub takes_images: Option<bool>,
}

impl ModelTraits {
    /// Returns all facts in one line: `strong · $3 in, $15 out per million · 200k context · low to
    /// max effort · images`.
    pub fn line(&self) -> String {
        let efforts = match (self.efforts.first(), self.efforts.last()) {
            (Some(first), Some(last)) if first != last => {
                let (first, last) = (effort_name(*first), effort_name(*last));
                Some(format!("{first} to {last} effort"))
            }
            _ => None,
        };
        let images = match self.takes_images {
            Some(true) => Some("images".to_owned()),
            Some(false) => Some("no images".to_owned()),
            None => None,
        };
        let parts = [
            Some(tier_name(self.tier).to_owned()),
            Some(self.price_text()),
            Some(format!("{} context", token_text(self.context))),
            efforts,
            images,
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        parts.join(" \u{b7} ")
    }

    /// Returns the cost of a prompt of so many tokens of which nothing is cached, in billionths of a
    /// US dollar; `None` if the price is unknown.
    pub fn resend_nano(&self, tokens: u64) -> Option<u64> {
        let usage = Usage {
            input: TokenCount(tokens),
            ..Usage::default()
        };
        let cost = self.price.as_ref()?.cost(&usage)?;
        Some(cost.0)
    }

    fn price_text(&self) -> String {
        let rates = self.price.as_ref().map(|price| price.base);
        match rates.and_then(|rates| rates.input.zip(rates.output)) {
            None => "price unknown".to_owned(),
            Some((TokenRate(0), TokenRate(0))) => "free".to_owned(),
            Some((input, output)) => {
                let (input, output) = (per_million(input), per_million(output));
                format!("{input} in, {output} out per million")
            }
        }
    }
}

/// Returns the name of an effort.
pub fn effort_name(effort: Effort) -> &'static str {
    match effort {
        Effort::None => "none",
        Effort::Minimal => "minimal",
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
        Effort::Max => "max",
    }
}

fn tier_name(tier: Tier) -> &'static str {
    match tier {
        Tier::Small => "small",
        Tier::Fast => "fast",
        Tier::Standard => "standard",
        Tier::Strong => "strong",
    }
}

/// Formats a rate, in micro-dollars per million tokens, in dollars without trailing zeros.
fn per_million(TokenRate(micro): TokenRate) -> String {
    let text = format!("{:.3}", micro as f64 / 1e6);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("${text}")
}

#[cfg(test)]
mod tests {
    use model::Rates;

    use super::*;

    fn traits() -> ModelTraits {
        ModelTraits {
            tier: Tier::Strong,
            price: Some(Price {
                base: Rates {
                    input: Some(TokenRate(3_000_000)),
                    output: Some(TokenRate(15_500_000)),
                    ..Rates::default()
                },
                tiers: Vec::new(),
            }),
            context: 200_000,
            efforts: vec![Effort::Low, Effort::High],
            takes_images: Some(true),
        }
    }

    #[test]
    fn a_line_states_all_facts() {
        assert_eq!(
            traits().line(),
            "strong \u{b7} $3 in, $15.5 out per million \u{b7} 200k context \u{b7} low to high effort \u{b7} images"
        );
        let plain = ModelTraits {
            tier: Tier::Small,
            price: Some(Price::FREE),
            context: 8_192,
            efforts: Vec::new(),
            takes_images: None,
        };
        assert_eq!(plain.line(), "small \u{b7} free \u{b7} 8.2k context");
        let unknown = ModelTraits {
            price: None,
            takes_images: Some(false),
            ..plain
        };
        assert!(unknown.line().ends_with("context \u{b7} no images"));
        assert_eq!(unknown.resend_nano(10), None);
    }

    #[test]
    fn sending_a_history_again_costs_its_input() {
        assert_eq!(traits().resend_nano(1_000_000), Some(3_000_000_000));
    }
}
