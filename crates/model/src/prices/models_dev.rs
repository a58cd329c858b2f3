//! Parses the table that models.dev serves.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::{FactsRow, PriceRow, Prices, RowKind, TierRow};

/// Providers whose name on models.dev differs from ours.
const NAMES: &[(&str, &str)] = &[
    ("google", "gemini"),
    ("gcp.gemini", "gemini"),
    ("moonshotai", "moonshot"),
    ("zhipuai", "zai"),
    ("z-ai", "zai"),
    ("x-ai", "xai"),
    ("mistralai", "mistral"),
    ("lmstudio", "lm_studio"),
];

#[derive(Deserialize)]
struct ListedProvider {
    #[serde(default)]
    models: BTreeMap<String, Value>,
}

/// The fields in use; unknown ones are ignored, as the service adds fields from time to time.
#[derive(Deserialize)]
struct ListedModel {
    canonical_model_id: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    reasoning: Option<bool>,
    #[serde(default)]
    reasoning_options: Vec<ReasoningOption>,
    tool_call: Option<bool>,
    temperature: Option<bool>,
    modalities: Option<Modalities>,
    limit: Option<ListedLimit>,
    cost: Option<ListedCost>,
}

#[derive(Deserialize)]
struct ReasoningOption {
    #[serde(default)]
    values: Vec<Value>,
}

#[derive(Deserialize)]
struct Modalities {
    #[serde(default)]
    input: Vec<String>,
    #[serde(default)]
    output: Vec<String>,
}

#[derive(Deserialize)]
struct ListedLimit {
    context: Option<u64>,
    output: Option<u64>,
}

#[derive(Deserialize)]
struct ListedCost {
    input: Option<f64>,
    output: Option<f64>,
    cache_read: Option<f64>,
    cache_write: Option<f64>,
    #[serde(default)]
    tiers: Vec<CostTier>,
    context_over_200k: Option<Box<ListedCost>>,
}

#[derive(Deserialize)]
struct CostTier {
    #[serde(flatten)]
    cost: ListedCost,
    tier: TierBound,
}

#[derive(Deserialize)]
struct TierBound {
    #[serde(rename = "type")]
    kind: String,
    size: u64,
}

/// Parses the JSON that models.dev serves; see `Prices::from_models_dev`. Skips models that neither
/// read nor write text.
pub(super) fn parse(text: &str, source: &str, date: &str) -> (Prices, Vec<String>) {
    let providers: BTreeMap<String, ListedProvider> = match serde_json::from_str(text) {
        Ok(providers) => providers,
        Err(error) => {
            let problem = format!("the table of {source} cannot be read: {error}");
            return (Prices::default(), vec![problem]);
        }
    };
    let mut rows = Vec::new();
    let mut problems = Vec::new();
    for (provider, ListedProvider { models }) in providers {
        for (name, model) in models {
            match serde_json::from_value::<ListedModel>(model) {
                Ok(model) => rows.extend(row(&provider, &name, model).map(|row| FactsRow {
                    source: source.to_owned(),
                    date: date.to_owned(),
                    ..row
                })),
                Err(error) => problems.push(format!("{provider}/{name} of {source}: {error}")),
            }
        }
    }
    (Prices::from_rows(rows), problems)
}

fn ours(provider: &str) -> &str {
    let name = NAMES.iter().find(|(theirs, _)| *theirs == provider);
    name.map_or(provider, |(_, ours)| ours)
}

/// Returns `None` for models that neither read nor write text.
fn row(provider: &str, name: &str, model: ListedModel) -> Option<FactsRow> {
    let reads = |kind: &str| {
        let modalities = model.modalities.as_ref();
        modalities.map(|one| one.input.iter().any(|input| input == kind))
    };
    let writes_text = model.modalities.as_ref().is_none_or(|one| {
        one.output.is_empty() || one.output.iter().any(|output| output == "text")
    });
    let kind = match model.kind.as_deref() {
        Some("embedding") => RowKind::Embedding,
        _ if name.contains("embed") => RowKind::Embedding,
        _ if !writes_text => return None,
        _ => RowKind::Chat,
    };
    // A limit of zero means that none was entered.
    let limit = |part: fn(&ListedLimit) -> Option<u64>| {
        model
            .limit
            .as_ref()
            .and_then(part)
            .filter(|tokens| *tokens > 0)
    };
    let efforts = model.reasoning_options.iter().flat_map(|one| &one.values);
    // Refers to the model at its maker; the maker's own row needs no reference.
    let same_as = model.canonical_model_id.as_deref().and_then(|id| {
        let (maker, id) = id.split_once('/')?;
        (ours(maker) != ours(provider)).then(|| format!("{}/{id}", ours(maker)))
    });
    Some(FactsRow {
        provider: ours(provider).to_owned(),
        model: name.to_owned(),
        kind: Some(kind),
        context: limit(|limit| limit.context),
        output: limit(|limit| limit.output),
        price: model
            .cost
            .and_then(|cost| price(&cost, name.ends_with(":free"))),
        tools: model.tool_call,
        vision: reads("image"),
        reasoning: model.reasoning,
        sampling: model.temperature,
        efforts: efforts
            .filter_map(|value| value.as_str().map(str::to_owned))
            .collect(),
        same_as,
        ..FactsRow::default()
    })
}

/// A price of zero means that none was entered, unless the model is named as free.
fn price(cost: &ListedCost, is_free: bool) -> Option<PriceRow> {
    let is_paid = cost.input.is_some_and(|input| input > 0.0)
        || cost.output.is_some_and(|output| output > 0.0);
    if !is_paid && !is_free {
        return None;
    }
    let mut above: Vec<TierRow> = cost
        .tiers
        .iter()
        .filter(|tier| tier.tier.kind == "context")
        .map(|tier| TierRow {
            tokens: tier.tier.size,
            price: rates(&tier.cost),
        })
        .collect();
    if let Some(over) = &cost.context_over_200k
        && above.is_empty()
    {
        above.push(TierRow {
            tokens: 200_000,
            price: rates(over),
        });
    }
    above.sort_by_key(|tier| tier.tokens);
    Some(PriceRow {
        above,
        ..rates(cost)
    })
}

fn rates(cost: &ListedCost) -> PriceRow {
    PriceRow {
        input: cost.input.and_then(micro),
        output: cost.output.and_then(micro),
        cache_read: cost.cache_read.and_then(micro),
        cache_write_5m: cost.cache_write.and_then(micro),
        cache_write_1h: None,
        above: Vec::new(),
    }
}

/// Converts dollars to micro-dollars; `None` for an impossible price.
fn micro(dollars: f64) -> Option<u64> {
    let micro = (dollars * 1e6).round();
    (0.0..1e15).contains(&micro).then_some(micro as u64)
}
