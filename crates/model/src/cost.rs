//! Money in whole nano-dollars, so that sums are exact.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{TokenCount, Usage};

/// An amount of money in nano-dollars: 1 000 000 000 of them make a dollar.
///
/// An unknown cost is `None`, never zero.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Cost(pub u64);

/// Price per token in pico-dollars, which equals the price per million tokens in micro-dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TokenRate(pub u64);

/// Price of a model per kind of token, with higher rates for long prompts where the provider has
/// them. `None` means that the table lacks the price, not that the price is zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// Rates for prompts up to the first tier's bound.
    pub base: Rates,
    /// Rates for longer prompts, sorted by `above`.
    pub tiers: Vec<TieredRates>,
}

/// Rates for prompts longer than a bound. They apply to the whole request, not only to the excess.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TieredRates {
    /// The rates apply to prompts with more tokens than this.
    pub above: TokenCount,
    /// Unknown rates are billed as in the tier below.
    pub rates: Rates,
}

/// One rate for each kind of token in `Usage`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rates {
    /// Prompt tokens outside any cache.
    pub input: Option<TokenRate>,
    /// Tokens that the model writes.
    pub output: Option<TokenRate>,
    /// Prompt tokens read from a cache. If unknown they are billed as `input`, which is never less.
    pub cache_read: Option<TokenRate>,
    /// Prompt tokens written to a five-minute cache.
    pub cache_write_5m: Option<TokenRate>,
    /// Prompt tokens written to a one-hour cache.
    pub cache_write_1h: Option<TokenRate>,
}

impl Cost {
    /// A cost known to be zero.
    pub const ZERO: Self = Self(0);

    /// Creates a cost of whole dollars.
    pub const fn dollars(dollars: u64) -> Self {
        Self(dollars.saturating_mul(1_000_000_000))
    }

    /// Returns the saturating sum.
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Returns the difference, at least zero.
    pub fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Converts to floating point for scores and charts; sums must use `Cost`.
    pub fn as_dollars(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl fmt::Display for Cost {
    /// Formats dollars with enough digits to distinguish the amount from zero.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (dollars, nano) = (self.0 / 1_000_000_000, self.0 % 1_000_000_000);
        let digits = match self.0 {
            0 => 2,
            1..=99_999 => 9,
            100_000..=99_999_999 => 4,
            _ => 2,
        };
        let unit = 10u64.pow(9 - digits);
        // Rounded up like every cost, so that the displayed amount is never below the billed one.
        let part = nano.div_ceil(unit);
        let (dollars, part) = if part == 10u64.pow(digits) {
            (dollars + 1, 0)
        } else {
            (dollars, part)
        };
        write!(f, "${dollars}.{part:0width$}", width = digits as usize)
    }
}

impl Price {
    /// Price of a model that runs on the user's own machine.
    pub const FREE: Self = Self {
        base: Rates {
            input: Some(TokenRate(0)),
            output: Some(TokenRate(0)),
            cache_read: Some(TokenRate(0)),
            cache_write_5m: Some(TokenRate(0)),
            cache_write_1h: Some(TokenRate(0)),
        },
        tiers: Vec::new(),
    };

    /// Returns the cost of `usage`, rounded up once to a nano-dollar. Returns `None` if `usage`
    /// contains a kind of token with an unknown rate.
    pub fn cost(&self, usage: &Usage) -> Option<Cost> {
        let rates = self.rates(usage.prompt());
        let kinds = [
            (usage.input, rates.input),
            (usage.cache_read, rates.cache_read.or(rates.input)),
            (usage.cache_write_5m, rates.cache_write_5m),
            (usage.cache_write_1h, rates.cache_write_1h),
            (usage.output, rates.output),
        ];
        let mut pico = 0u128;
        for (tokens, rate) in kinds {
            if tokens.0 > 0 {
                pico = pico.saturating_add(u128::from(tokens.0) * u128::from(rate?.0));
            }
        }
        Some(Cost(u64::try_from(pico.div_ceil(1000)).unwrap_or(u64::MAX)))
    }

    /// Returns the maximum cost of a request: the cost if the whole prompt misses the cache and is
    /// written to the most expensive cache that the request may use. Returns `None` if the rate for
    /// input or output is unknown.
    pub fn max_cost(
        &self,
        prompt: TokenCount,
        output: TokenCount,
        caches: CacheUse,
    ) -> Option<Cost> {
        let rates = self.rates(prompt);
        let write = match caches {
            CacheUse::None => None,
            CacheUse::Short => rates.cache_write_5m,
            CacheUse::Long => rates.cache_write_1h.max(rates.cache_write_5m),
        };
        let input = rates.input?.max(write.unwrap_or_default());
        let written = u128::from(output.0) * u128::from(rates.output?.0);
        let pico = (u128::from(prompt.0) * u128::from(input.0)).saturating_add(written);
        Some(Cost(u64::try_from(pico.div_ceil(1000)).unwrap_or(u64::MAX)))
    }

    /// Returns the rates for a whole request with a prompt of this length: the base rates,
    /// overridden by each tier that the prompt exceeds.
    pub fn rates(&self, prompt: TokenCount) -> Rates {
        let mut rates = self.base;
        for tier in self.tiers.iter().filter(|tier| prompt > tier.above) {
            rates = rates.overlaid(&tier.rates);
        }
        rates
    }
}

/// The prompt caches that a request may write, for the estimate of its cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheUse {
    /// No cache, or automatic caching that is not billed.
    None,
    /// A cache that lives five minutes.
    Short,
    /// A cache that lives an hour, possibly next to a five-minute one.
    Long,
}

impl Rates {
    fn overlaid(self, over: &Self) -> Self {
        Self {
            input: over.input.or(self.input),
            output: over.output.or(self.output),
            cache_read: over.cache_read.or(self.cache_read),
            cache_write_5m: over.cache_write_5m.or(self.cache_write_5m),
            cache_write_1h: over.cache_write_1h.or(self.cache_write_1h),
        }
    }
}

impl Usage {
    /// Returns all tokens of the prompt, cached or not.
    pub fn prompt(&self) -> TokenCount {
        let kinds = [
            self.input,
            self.cache_read,
            self.cache_write_5m,
            self.cache_write_1h,
        ];
        TokenCount(kinds.iter().fold(0, |sum, kind| sum.saturating_add(kind.0)))
    }

    /// Returns all tokens of prompt and answer.
    pub fn total(&self) -> TokenCount {
        TokenCount(self.prompt().0.saturating_add(self.output.0))
    }
}
