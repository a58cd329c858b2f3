//! What is known of models: prices, limits and abilities, each row with its source and its date.
//!
//! Knows: the vendored table's form and that of models.dev. Must not know: where the files lie.
//! Invariant: what no row says stays `None`; an unknown price is never a price of zero.
//!
//! The table is `assets/models/prices.json`, made by `cargo xtask prices`. It holds `format`, which is 1, and
//! `rows`, one a line, sorted by provider and model. A row has `provider`, `model`, `source`, `date` and as much
//! of the rest as its source tells; money is in micro-dollars per million tokens. A person's own rows have the
//! same form and win field by field, as does a refresh: the JSON that models.dev serves
//! (`{provider: {models: {name: {cost: {input, output, cache_read, cache_write, tiers}, limit: {context, output},
//! tool_call, reasoning, temperature, modalities, …}}}}`, dollars per million tokens).

use std::collections::BTreeMap;

use crate::{ModelId, Price, Rate, Rates, TokenCount};

mod models_dev;
mod row;

pub use row::{AboveRow, FactsRow, PriceRow, RowKind};

/// A table of models.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prices {
    rows: BTreeMap<(String, String), FactsRow>,
}

/// What the table says of one model, ready for use. `None` is what it does not say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelFacts {
    /// What it costs; a part of it may be unknown.
    pub price: Option<Price>,
    /// The row itself: limits, abilities, source and date.
    pub row: FactsRow,
}

impl Prices {
    /// Reads a table. A row that cannot be read is left out and named among the problems.
    pub fn parse(text: &str) -> (Self, Vec<String>) {
        row::parse(text)
    }

    /// Reads what models.dev serves, for a refresh; `source` and `date` go into each row. Providers are named
    /// as ours are; those that we have no name for keep theirs.
    pub fn from_models_dev(text: &str, source: &str, date: &str) -> (Self, Vec<String>) {
        models_dev::parse(text, source, date)
    }

    /// The table as a file: sorted, one row a line.
    pub fn to_json(&self) -> String {
        row::write(self.rows.values())
    }

    /// A table of these rows; of two rows for one model the later wins, field by field.
    pub fn from_rows(rows: impl IntoIterator<Item = FactsRow>) -> Self {
        let mut table = Self::default();
        for row in rows {
            table.add(row);
        }
        table
    }

    /// Lays `over` above this table: its rows win, field by field.
    pub fn overlaid(mut self, over: Self) -> Self {
        for row in over.rows.into_values() {
            self.add(row);
        }
        self
    }

    /// All rows, sorted by provider and model.
    pub fn rows(&self) -> impl Iterator<Item = &FactsRow> {
        self.rows.values()
    }

    /// What is known of a model. `provider` is the kind of provider, as the table names it, whatever the
    /// configuration calls it.
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
    /// The name that the same model has at every provider, for falling back to another one.
    pub fn same_as(&self) -> Option<ModelId> {
        self.row.same_as.as_deref().and_then(ModelId::parse)
    }

    /// The tokens that prompt and answer may have together.
    pub fn context(&self) -> Option<TokenCount> {
        self.row.context.map(TokenCount)
    }

    /// The most that it writes.
    pub fn max_output(&self) -> Option<TokenCount> {
        self.row.output.map(TokenCount)
    }
}

fn price(row: &PriceRow) -> Price {
    let rates = |row: &PriceRow| Rates {
        input: row.input.map(Rate),
        output: row.output.map(Rate),
        cache_read: row.cache_read.map(Rate),
        cache_write_5m: row.cache_write_5m.map(Rate),
        cache_write_1h: row.cache_write_1h.map(Rate),
    };
    let mut tiers: Vec<_> = row
        .above
        .iter()
        .map(|tier| crate::Tiered {
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
