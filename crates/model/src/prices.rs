//! Facts about models: prices, limits and abilities, each row with its source and date.
//!
//! Knows: the format of the vendored table and of models.dev. Must not know: where the files are.
//! Invariant: a fact without a row is `None`; an unknown price is never a price of zero.
//!
//! The table is `assets/models/prices.json`, made by `cargo xtask prices`. It contains `format`,
//! which is 1, and `rows`, one per line, sorted by provider and model. A row has `provider`,
//! `model`, `source`, `date` and the further fields that its source provides; money is in
//! micro-dollars per million tokens. The user's own rows have the same format and override field by
//! field, as does a refresh: the JSON that models.dev serves (`{provider: {models: {name: {cost:
//! {input, output, cache_read, cache_write, tiers}, limit: {context, output}, tool_call, reasoning,
//! temperature, modalities, …}}}}`, dollars per million tokens).

use std::collections::BTreeMap;

use crate::{ModelId, Price, Rates, TokenCount, TokenRate};

mod models_dev;
mod row;

pub use row::{FactsRow, PriceRow, RowKind, TierRow};

/// A table of model facts (prices, limits, abilities), by provider and model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prices {
    rows: BTreeMap<(String, String), FactsRow>,
}

/// Facts about one model, ready for use. `None` is an unknown fact.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelFacts {
    /// Price of the model; parts of it may be unknown.
    pub price: Option<Price>,
    /// The row itself: limits, abilities, source and date.
    pub row: FactsRow,
}

impl Prices {
    /// Parses a table in the format of `assets/models/prices.json`. Skips rows that cannot be read
    /// and reports them as problems. For unreadable JSON or another format, returns an empty table
    /// and a problem.
    pub fn parse(text: &str) -> (Self, Vec<String>) {
        row::parse(text)
    }

    /// Parses the data of models.dev for a refresh; `source` and `date` go into each row. Providers
    /// are renamed to our names where they differ. Unreadable models are skipped and reported as
    /// problems.
    pub fn from_models_dev(text: &str, source: &str, date: &str) -> (Self, Vec<String>) {
        models_dev::parse(text, source, date)
    }

    /// Serializes the table, sorted, one row per line.
    pub fn to_json(&self) -> String {
        row::write(self.rows.values())
    }

    /// Creates a table from rows; for one model the later row overrides field by field.
    pub fn from_rows(rows: impl IntoIterator<Item = FactsRow>) -> Self {
        let mut table = Self::default();
        for row in rows {
            table.add(row);
        }
        table
    }

    /// Overlays `over` on this table; its rows override field by field.
    pub fn overlaid(mut self, over: Self) -> Self {
        for row in over.rows.into_values() {
            self.add(row);
        }
        self
    }

    /// Returns all rows, sorted by provider and model.
    pub fn rows(&self) -> impl Iterator<Item = &FactsRow> {
        self.rows.values()
    }

    /// Returns the facts about a model, or `None` if the table has no row for it. `provider` is the
    /// provider's kind in the table, not the provider's name in the configuration.
    pub fn find(&self, provider: &str, model: &str) -> Option<ModelFacts> {
        let key = (provider.to_owned(), model.to_owned());
        let row = self.rows.get(&key)?;
        Some(ModelFacts {
            price: row.price.as_ref().map(price),
            row: row.clone(),
        })
    }

    fn add(&mut self, row: FactsRow) {
        let key = (row.provider.clone(), row.model.clone());
        match self.rows.get_mut(&key) {
            Some(below) => below.overlay(row),
            None => {
                self.rows.insert(key, row);
            }
        }
    }
}

impl ModelFacts {
    /// Returns the provider-independent name of the model, for fallbacks to another provider, or
    /// `None` if the row has none.
    pub fn same_as(&self) -> Option<ModelId> {
        self.row.same_as.as_deref().and_then(ModelId::parse)
    }

    /// Returns the context window: the maximum tokens of prompt and answer together. Returns `None`
    /// if the context window is unknown.
    pub fn context(&self) -> Option<TokenCount> {
        self.row.context.map(TokenCount)
    }

    /// Returns the maximum output tokens of an answer, or `None` if the maximum is unknown.
    pub fn max_output(&self) -> Option<TokenCount> {
        self.row.output.map(TokenCount)
    }
}

fn price(row: &PriceRow) -> Price {
    let rates = |row: &PriceRow| Rates {
        input: row.input.map(TokenRate),
        output: row.output.map(TokenRate),
        cache_read: row.cache_read.map(TokenRate),
        cache_write_5m: row.cache_write_5m.map(TokenRate),
        cache_write_1h: row.cache_write_1h.map(TokenRate),
    };
    let mut tiers: Vec<_> = row
        .above
        .iter()
        .map(|tier| crate::TieredRates {
            above: TokenCount(tier.tokens),
            rates: rates(&tier.price),
        })
        .collect();
    tiers.sort_by_key(|tier| tier.above);
    Price {
        base: rates(row),
        tiers,
    }
}

#[cfg(test)]
mod tests;
