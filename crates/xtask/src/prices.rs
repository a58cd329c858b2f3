//! `cargo xtask prices`: generates `assets/models/prices.json` from two downloaded tables.
//!
//! A pure merge: the same files give the same bytes, and nothing is fetched. To get the files: `pip download
//! litellm --no-deps` and unzip `litellm/model_prices_and_context_window_backup.json`; crate `rig-core`, file
//! `src/catalog/models.json`, an extract of models.dev. Both are under the MIT licence. If both have a field,
//! litellm's value wins, because litellm distinguishes more kinds of cached tokens.

use std::collections::BTreeSet;

use model::{FactsRow, PriceRow, Prices, RowKind, TierRow};
use serde_json::{Map, Value};

/// Providers of the first table whose rows are kept, with Burin's names for them.
const LITELLM: &[(&str, &str)] = &[
    ("anthropic", "anthropic"),
    ("cerebras", "cerebras"),
    ("codestral", "mistral"),
    ("deepseek", "deepseek"),
    ("gemini", "gemini"),
    ("groq", "groq"),
    ("inception", "inception"),
    ("mistral", "mistral"),
    ("moonshot", "moonshot"),
    ("openai", "openai"),
    ("xai", "xai"),
    ("zai", "zai"),
];

/// Providers of the second table whose rows are kept, by Burin's names.
const MODELS_DEV: &[&str] = &[
    "anthropic",
    "deepseek",
    "gemini",
    "groq",
    "mistral",
    "moonshot",
    "openai",
    "openrouter",
    "xai",
    "zai",
];

/// Makers whose models at OpenRouter are kept; it offers hundreds.
const OPENROUTER: &[&str] = &[
    "anthropic",
    "deepseek",
    "google",
    "inception",
    "meta-llama",
    "minimax",
    "mistralai",
    "moonshotai",
    "openai",
    "openrouter",
    "qwen",
    "x-ai",
    "z-ai",
];

/// One downloaded table.
pub(crate) struct Table {
    pub(crate) text: String,
    /// Name and version of the table, repeated in each row.
    pub(crate) source: String,
    /// Date of the table.
    pub(crate) date: String,
}

/// Returns the merged table as the text of a file, and a list of errors and contradictions.
pub(crate) fn merge(litellm: &Table, models_dev: &Table) -> (String, Vec<String>) {
    let (theirs, mut notes) =
        Prices::from_models_dev(&models_dev.text, &models_dev.source, &models_dev.date);
    let kept = theirs.rows().filter(|row| is_kept(row)).cloned();
    let below = Prices::from_rows(kept);
    let above = match serde_json::from_str::<Map<String, Value>>(&litellm.text) {
        Ok(entries) => Prices::from_rows(entries.iter().filter_map(|(name, entry)| {
            let row = litellm_row(name, entry)?;
            Some(FactsRow {
                source: litellm.source.clone(),
                date: litellm.date.clone(),
                ..row
            })
        })),
        Err(error) => {
            notes.push(format!(
                "the table of {} cannot be read: {error}",
                litellm.source
            ));
            Prices::default()
        }
    };
    notes.extend(contradictions(&below, &above));
    let table = below.overlaid(above);
    let names: BTreeSet<_> = table
        .rows()
        .map(|row| (row.provider.clone(), row.model.clone()))
        .collect();
    // Drops references to models that the table lacks.
    let rows = table.rows().cloned().map(|mut row| {
        row.same_as = row.same_as.filter(|same| {
            let (maker, model) = same.split_once('/').unwrap_or_default();
            names.contains(&(maker.to_owned(), model.to_owned()))
        });
        row
    });
    (Prices::from_rows(rows).to_json(), notes)
}

fn is_kept(row: &FactsRow) -> bool {
    let is_wanted = match row.provider.as_str() {
        "openrouter" => {
            let maker = row.model.split('/').next().unwrap_or_default();
            OPENROUTER.contains(&maker) && row.tools == Some(true)
        }
        provider => MODELS_DEV.contains(&provider),
    };
    // A row without limits and price adds nothing to a profile.
    is_wanted && !is_of_other_use(&row.model) && (row.price.is_some() || row.context.is_some())
}

/// Returns whether the name of a model shows that it produces images or sound, or guards other
/// models.
fn is_of_other_use(model: &str) -> bool {
    let words = [
        "audio",
        "tts",
        "image",
        "whisper",
        "realtime",
        "live",
        "guard",
        "lyria",
        "robotics",
        "dall-e",
        "moderation",
        "transcribe",
        "orpheus",
        "chirp",
        "nano-banana",
        "container",
        "video",
    ];
    words.iter().any(|word| model.contains(word)) || model.starts_with("ft:")
}

fn litellm_row(name: &str, entry: &Value) -> Option<FactsRow> {
    let theirs = entry["litellm_provider"].as_str()?;
    let (_, provider) = LITELLM.iter().find(|(name, _)| *name == theirs)?;
    let kind = match entry["mode"].as_str()? {
        "chat" | "responses" => RowKind::Chat,
        "completion" => RowKind::Completion,
        "embedding" => RowKind::Embedding,
        _ => return None,
    };
    // Some models are listed twice, with and without the provider as a prefix.
    let model = name.strip_prefix(&format!("{theirs}/")).unwrap_or(name);
    if is_of_other_use(model) {
        return None;
    }
    // A limit of 0 means that the limit is unknown.
    let limit = |name: &str| entry[name].as_u64().filter(|tokens| *tokens > 0);
    let flag = |name: &str| entry[format!("supports_{name}")].as_bool();
    let efforts = [
        ("none", flag("none_reasoning_effort")),
        ("minimal", flag("minimal_reasoning_effort")),
        ("xhigh", flag("xhigh_reasoning_effort")),
        ("max", flag("max_reasoning_effort")),
    ];
    // The table lists only efforts other than low, medium and high.
    let efforts: Vec<&str> = efforts
        .into_iter()
        .filter(|(_, has)| *has == Some(true))
        .map(|(word, _)| word)
        .collect();
    let efforts = if efforts.is_empty() {
        Vec::new()
    } else {
        let order = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
        let usual = ["low", "medium", "high"];
        let has = |word: &&str| usual.contains(word) || efforts.contains(word);
        order.into_iter().filter(has).map(str::to_owned).collect()
    };
    Some(FactsRow {
        provider: (*provider).to_owned(),
        model: model.to_owned(),
        kind: Some(kind),
        context: limit("max_input_tokens"),
        output: limit("max_output_tokens").filter(|_| kind != RowKind::Embedding),
        price: litellm_price(entry),
        tools: flag("function_calling"),
        vision: flag("vision"),
        reasoning: flag("reasoning"),
        adaptive_thinking: flag("adaptive_thinking"),
        sampling: flag("sampling_params"),
        prefill: flag("assistant_prefill"),
        mid_system: flag("mid_conversation_system"),
        forced_tool: flag("forced_tool_use"),
        efforts,
        cache_min: entry["prompt_cache_min_tokens"].as_u64(),
        deprecated: entry["deprecation_date"].as_str().map(str::to_owned),
        ..FactsRow::default()
    })
}

/// Returns the price; `None` if input and output cost 0, which means that the price is unknown.
fn litellm_price(entry: &Value) -> Option<PriceRow> {
    let base = litellm_rates(entry, "");
    if base.input.unwrap_or(0) == 0 && base.output.unwrap_or(0) == 0 {
        return None;
    }
    let mut above = Vec::new();
    for thousands in [32, 100, 128, 200, 256, 272, 512] {
        let price = litellm_rates(entry, &format!("_above_{thousands}k_tokens"));
        if price != PriceRow::default() {
            above.push(TierRow {
                tokens: thousands * 1000,
                price,
            });
        }
    }
    Some(PriceRow { above, ..base })
}

fn litellm_rates(entry: &Value, suffix: &str) -> PriceRow {
    let rate = |name: &str| entry[format!("{name}{suffix}")].as_f64().and_then(pico);
    PriceRow {
        input: rate("input_cost_per_token"),
        output: rate("output_cost_per_token"),
        cache_read: rate("cache_read_input_token_cost"),
        cache_write_5m: rate("cache_creation_input_token_cost"),
        cache_write_1h: rate("cache_creation_input_token_cost_above_1hr"),
        above: Vec::new(),
    }
}

/// Converts dollars per token to micro-dollars per million tokens; `None` if out of range.
fn pico(dollars: f64) -> Option<u64> {
    let pico = (dollars * 1e12).round();
    (0.0..1e15).contains(&pico).then_some(pico as u64)
}

fn contradictions(below: &Prices, above: &Prices) -> Vec<String> {
    let mut notes = Vec::new();
    for row in above.rows() {
        let Some(other) = below.find(&row.provider, &row.model) else {
            continue;
        };
        let rates =
            |price: &Option<PriceRow>| price.as_ref().map(|price| (price.input, price.output));
        if let (Some(ours), Some(theirs)) = (rates(&row.price), rates(&other.row.price))
            && ours != theirs
        {
            notes.push(format!(
                "{}/{}: {} says {ours:?}, {} says {theirs:?}",
                row.provider, row.model, row.source, other.row.source
            ));
        }
    }
    notes
}

#[cfg(test)]
mod tests;
