//! Money, counted in whole nano-dollars so that sums are exact.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{TokenCount, Usage};

/// An amount of money in nano-dollars: 1 000 000 000 of them make a dollar.
///
/// A cost that nobody knows is `None` where a `Cost` is asked for, never zero.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Cost(pub u64);

/// What one token costs, in pico-dollars; the same figure is the price of a million tokens in micro-dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Rate(pub u64);

/// What a model costs per kind of token. `None` is a price that the table does not know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Price {
    /// For prompts up to the first tier's bound.
    pub base: Rates,
    /// Other rates for longer prompts, sorted by `above`.
    pub tiers: Vec<Tiered>,
}

/// Rates for prompts longer than a bound. The whole request is billed by them, not only its excess.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tiered {
    /// The rates hold where the prompt has more tokens than this.
    pub above: TokenCount,
    /// What is not known here is billed as in the tier below.
    pub rates: Rates,
}

/// One rate per kind of token that `Usage` tells apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rates {
    /// Prompt tokens outside any cache.
    pub input: Option<Rate>,
    /// Tokens the model writes.
    pub output: Option<Rate>,
    /// Prompt tokens read from a cache. Where it is unknown they are billed as `input`, which is never less.
    pub cache_read: Option<Rate>,
    /// Prompt tokens written to a cache of five minutes.
    pub cache_write_5m: Option<Rate>,
    /// Prompt tokens written to a cache of an hour.
    pub cache_write_1h: Option<Rate>,
}

impl Cost {
    /// Nothing at all, and known to be nothing.
    pub const ZERO: Self = Self(0);

    /// So many whole dollars.
    pub const fn dollars(dollars: u64) -> Self {
        Self(dollars.saturating_mul(1_000_000_000))
    }

    /// The sum; what does not fit stays at the most.
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The difference, at least zero.
    pub fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// For scores and charts; sums are made of `Cost`s.
    pub fn as_dollars(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl fmt::Display for Cost {
    /// Dollars with as many digits as the amount needs to be told from nothing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (dollars, nano) = (self.0 / 1_000_000_000, self.0 % 1_000_000_000);
        let digits = match self.0 {
            0 => 2,
            1..=99_999 => 9,
            100_000..=99_999_999 => 4,
            _ => 2,
        };
        let unit = 10u64.pow(9 - digits);
        // Rounded up, like every cost: what is shown is never less than what is billed.
        let part = nano.div_ceil(unit);
        let (dollars, part) = match part == 10u64.pow(digits) {
            true => (dollars + 1, 0),
            false => (dollars, part),
        };
        write!(f, "${dollars}.{part:0width$}", width = digits as usize)
    }
}

impl Price {
    /// The price of a model that runs on the person's own machine.
    pub const FREE: Self = Self {
        base: Rates {
            input: Some(Rate(0)),
            output: Some(Rate(0)),
            cache_read: Some(Rate(0)),
            cache_write_5m: Some(Rate(0)),
            cache_write_1h: Some(Rate(0)),
        },
        tiers: Vec::new(),
    };

    /// What `usage` costs, rounded up to a nano-dollar once. `None` where a rate that it needs is unknown.
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

    /// The most that a request can cost: no token of its prompt is read from a cache, and all of them are
    /// written to the dearest cache it may ask for.
    pub fn most(&self, prompt: TokenCount, output: TokenCount, caches: CacheUse) -> Option<Cost> {
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

    /// The rates for a prompt of this length.
    pub fn rates(&self, prompt: TokenCount) -> Rates {
        let mut rates = self.base;
        for tier in self.tiers.iter().filter(|tier| prompt > tier.above) {
            rates = rates.overlaid(&tier.rates);
        }
        rates
    }
}

/// Which caches a request asks to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheUse {
    /// None, or the provider caches by itself and bills nothing for it.
    None,
    /// One of five minutes.
    Short,
    /// One of an hour, perhaps beside one of five minutes.
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
    /// All tokens of the prompt, wherever they came from.
    pub fn prompt(&self) -> TokenCount {
        let kinds = [
            self.input,
            self.cache_read,
            self.cache_write_5m,
            self.cache_write_1h,
        ];
        TokenCount(kinds.iter().fold(0, |sum, kind| sum.saturating_add(kind.0)))
    }

    /// All tokens, the written ones included.
    pub fn total(&self) -> TokenCount {
        TokenCount(self.prompt().0.saturating_add(self.output.0))
    }
}
