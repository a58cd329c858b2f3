//! Rows of the vendored table in their file format.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Prices;

/// Facts about one model, as stored in a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactsRow {
    /// Kind of the provider, such as `anthropic`.
    pub provider: String,
    /// Name of the model in the provider's spelling.
    pub model: String,
    /// Purpose of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<RowKind>,
    /// Maximum tokens of prompt and answer together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<u64>,
    /// Maximum output tokens of an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// Price of the model, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<PriceRow>,
    /// Whether the model supports tool calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<bool>,
    /// Whether the model accepts images.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vision: Option<bool>,
    /// Whether the model reasons before it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<bool>,
    /// Whether the model chooses its reasoning length, instead of following a budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adaptive_thinking: Option<bool>,
    /// Whether sampling parameters such as temperature may be set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling: Option<bool>,
    /// Whether the start of the answer may be prefilled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefill: Option<bool>,
    /// Whether system messages may occur within a conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mid_system: Option<bool>,
    /// Whether a tool call can be forced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forced_tool: Option<bool>,
    /// Names of the reasoning efforts, as on the wire.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub efforts: Vec<String>,
    /// Minimum tokens of a cached prefix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_min: Option<u64>,
    /// Name of the same model at its maker, `provider/model`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_as: Option<String>,
    /// Date of withdrawal by the provider, year-month-day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<String>,
    /// Source of the facts.
    #[serde(default)]
    pub source: String,
    /// Date of the facts, year-month-day.
    #[serde(default)]
    pub date: String,
}

/// Purpose of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowKind {
    /// Holds conversations with tool calls.
    Chat,
    /// Continues a text or completes between prefix and suffix.
    Completion,
    /// Computes embedding vectors of texts.
    Embedding,
}

/// Prices in micro-dollars per million tokens, as stored in a file. `None` means that the price is
/// unknown.
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
    pub above: Vec<TierRow>,
}

/// Prices for prompts of more than `tokens`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TierRow {
    /// Bound in prompt tokens.
    pub tokens: u64,
    /// The prices beyond the bound.
    pub price: PriceRow,
}

impl FactsRow {
    /// Overlays `over` on this row; its fields override. A price overrides as a whole, except for
    /// rates that only the lower row has, since tables differ in the kinds of token that they
    /// distinguish.
    pub(super) fn overlay(&mut self, over: Self) {
        let price = match (self.price.take(), over.price) {
            (Some(below), Some(over)) => Some(below.overlaid(over)),
            (below, over) => over.or(below),
        };
        let has_source = !over.source.is_empty();
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
            efforts: if over.efforts.is_empty() {
                std::mem::take(&mut self.efforts)
            } else {
                over.efforts
            },
            cache_min: over.cache_min.or(self.cache_min),
            same_as: over.same_as.or(self.same_as.take()),
            deprecated: over.deprecated.or(self.deprecated.take()),
            source: if has_source {
                over.source
            } else {
                std::mem::take(&mut self.source)
            },
            date: if has_source {
                over.date
            } else {
                std::mem::take(&mut self.date)
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
            above: if over.above.is_empty() {
                self.above
            } else {
                over.above
            },
        }
    }
}

#[derive(Deserialize)]
struct PriceFile {
    format: u32,
    rows: Vec<Value>,
}

/// Parses a table file of format 1; see `Prices::parse`.
pub(super) fn parse(text: &str) -> (Prices, Vec<String>) {
    let file: PriceFile = match serde_json::from_str(text) {
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

/// Serializes the rows in the given order, one per line, as a table file of format 1.
pub(super) fn write<'a>(rows: impl Iterator<Item = &'a FactsRow>) -> String {
    let rows: Vec<String> = rows
        .filter_map(|row| serde_json::to_string(row).ok())
        .collect();
    format!("{{\"format\": 1, \"rows\": [\n{}\n]}}\n", rows.join(",\n"))
}
