//! The rows of the vendored table, as its file holds them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Prices;

/// What a file says of one model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactsRow {
    /// The kind of provider, such as `anthropic`.
    pub provider: String,
    /// The model's name as that provider spells it.
    pub model: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<RowKind>,
    /// Tokens that prompt and answer may have together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<u64>,
    /// The most tokens that it writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// What it costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<PriceRow>,
    /// Whether it calls tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<bool>,
    /// Whether it sees pictures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vision: Option<bool>,
    /// Whether it thinks before it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<bool>,
    /// Whether it thinks as long as it sees fit, instead of within a budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adaptive_thinking: Option<bool>,
    /// Whether temperature and the like may be set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling: Option<bool>,
    /// Whether the beginning of its answer may be given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefill: Option<bool>,
    /// Whether system messages may come in the middle of a conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mid_system: Option<bool>,
    /// Whether it can be made to call a tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forced_tool: Option<bool>,
    /// The words for how hard to think, as its wire spells them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub efforts: Vec<String>,
    /// The fewest tokens that a cached prefix may have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_min: Option<u64>,
    /// The same model's name at its maker, `provider/model`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_as: Option<String>,
    /// The day on which the provider withdraws it, year-month-day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<String>,
    /// Who says so.
    #[serde(default)]
    pub source: String,
    /// As of which day, year-month-day.
    #[serde(default)]
    pub date: String,
}

/// What a model is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowKind {
    /// Conversations.
    Chat,
    /// Going on with a text, or filling a gap in it.
    Completion,
    /// Vectors.
    Embedding,
}

/// Prices in micro-dollars per million tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the fields are those of `Rates`")]
pub struct PriceRow {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_5m: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_1h: Option<u64>,
    /// Other prices for longer prompts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub above: Vec<AboveRow>,
}

/// Prices for prompts of more than `tokens`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AboveRow {
    /// The bound.
    pub tokens: u64,
    /// The prices beyond it.
    pub price: PriceRow,
}

impl FactsRow {
    /// Lays `over` above this row: what it says wins. A price counts as one thing but for rates that only the
    /// row below knows, as tables differ in how many kinds of token they tell apart.
    pub(super) fn overlay(&mut self, over: Self) {
        let price = match (self.price.take(), over.price) {
            (Some(below), Some(over)) => Some(below.overlaid(over)),
            (below, over) => over.or(below),
        };
        let is_told = !over.source.is_empty();
        *self = Self {
            provider: over.provider,
            model: over.model,
            kind: over.kind.or(self.kind),
            context: over.context.or(self.context),
            output: over.output.or(self.output),
            price,
            tools: over.tools.or(self.tools),
            vision: over.vision.or(self.vision),
            reasoning: over.reasoning.or(self.reasoning),
            adaptive_thinking: over.adaptive_thinking.or(self.adaptive_thinking),
            sampling: over.sampling.or(self.sampling),
            prefill: over.prefill.or(self.prefill),
            mid_system: over.mid_system.or(self.mid_system),
            forced_tool: over.forced_tool.or(self.forced_tool),
            efforts: match over.efforts.is_empty() {
                true => std::mem::take(&mut self.efforts),
                false => over.efforts,
            },
            cache_min: over.cache_min.or(self.cache_min),
            same_as: over.same_as.or(self.same_as.take()),
            deprecated: over.deprecated.or(self.deprecated.take()),
            source: match is_told {
                true => over.source,
                false => std::mem::take(&mut self.source),
            },
            date: match is_told {
                true => over.date,
                false => std::mem::take(&mut self.date),
            },
        };
    }
}

impl PriceRow {
    fn overlaid(self, over: Self) -> Self {
        Self {
            input: over.input.or(self.input),
            output: over.output.or(self.output),
            cache_read: over.cache_read.or(self.cache_read),
            cache_write_5m: over.cache_write_5m.or(self.cache_write_5m),
            cache_write_1h: over.cache_write_1h.or(self.cache_write_1h),
            above: match over.above.is_empty() {
                true => self.above,
                false => over.above,
            },
        }
    }
}

#[derive(Deserialize)]
struct File {
    format: u32,
    rows: Vec<Value>,
}

pub(super) fn parse(text: &str) -> (Prices, Vec<String>) {
    let file: File = match serde_json::from_str(text) {
        Ok(file) => file,
        Err(error) => {
            let problem = format!("the price table cannot be read: {error}");
            return (Prices::default(), vec![problem]);
        }
    };
    if file.format != 1 {
        let problem = format!(
            "the price table has format {}; this version reads format 1",
            file.format
        );
        return (Prices::default(), vec![problem]);
    }
    let mut prices = Prices::default();
    let mut problems = Vec::new();
    for (ix, row) in file.rows.into_iter().enumerate() {
        let name = row["model"].as_str().unwrap_or("without a name").to_owned();
        match serde_json::from_value(row) {
            Ok(row) => prices.add(row),
            Err(error) => {
                problems.push(format!(
                    "row {} of the price table, {name}: {error}",
                    ix + 1
                ));
            }
        }
    }
    (prices, problems)
}

pub(super) fn write<'a>(rows: impl Iterator<Item = &'a FactsRow>) -> String {
    let rows: Vec<String> = rows
        .filter_map(|row| serde_json::to_string(row).ok())
        .collect();
    format!("{{\"format\": 1, \"rows\": [\n{}\n]}}\n", rows.join(",\n"))
}
