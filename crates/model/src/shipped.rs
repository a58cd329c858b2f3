//! Tests the files in `assets/models` against the code that reads them.

use crate::{EditTool, ModelId, Prices, Profiles, RowKind, Tier};

const PRICES: &str = include_str!("../../../assets/models/prices.json");
const PROFILES: &str = include_str!("../../../assets/models/profiles.json");

fn prices() -> Prices {
    let (prices, problems) = Prices::parse(PRICES);
    assert_eq!(problems, Vec::<String>::new());
    prices
}

fn profiles() -> Profiles {
    let (profiles, problems) = Profiles::parse(PROFILES);
    assert_eq!(problems, Vec::<String>::new());
    profiles
}

#[test]
fn the_price_table_is_sorted_dated_and_small() {
    let prices = prices();
    assert!(prices.rows().count() > 300);
    assert!(PRICES.len() < 400_000, "{} bytes", PRICES.len());
    // Serializing yields the same bytes: sorted, without duplicates, one row per line.
    assert_eq!(prices.to_json(), PRICES);
    for row in prices.rows() {
        let name = format!("{}/{}", row.provider, row.model);
        assert!(!row.source.is_empty(), "{name} has no source");
        let date: Vec<&str> = row.date.split('-').collect();
        let is_date = date.len() == 3
            && date.iter().map(|part| part.len()).eq([4, 2, 2])
            && date
                .iter()
                .all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
        assert!(is_date, "{name} has the date {:?}", row.date);
        assert!(row.kind.is_some(), "{name} has no kind");
        if let Some(same) = &row.same_as {
            let same = ModelId::parse(same).expect("provider/model");
            assert!(prices.find(&same.provider, &same.model).is_some(), "{name}");
        }
    }
}

#[test]
fn prices_are_plausible() {
    for row in prices().rows() {
        let Some(price) = &row.price else { continue };
        let name = format!("{}/{}", row.provider, row.model);
        let (input, output) = (price.input.unwrap_or(0), price.output.unwrap_or(0));
        let is_free = row.model.ends_with(":free");
        assert!(is_free || input + output > 0, "{name} costs nothing");
        // This is a thousand dollars per million tokens.
        assert!(input <= 1_000_000_000 && output <= 1_000_000_000, "{name}");
        assert!(
            price.cache_read.unwrap_or(0) <= input,
            "{name}: a cache read is dearer"
        );
    }
}

#[test]
fn every_listed_model_has_a_usable_profile() {
    let profiles = profiles();
    let prices = prices();
    for row in prices.rows().filter(|row| row.kind == Some(RowKind::Chat)) {
        let model = ModelId {
            provider: row.provider.clone(),
            model: row.model.clone(),
        };
        let facts = prices.find(&row.provider, &row.model);
        let profile = profiles.resolve(&model, facts.as_ref());
        assert!(profile.context.0 > 0 && profile.max_output.0 > 0, "{model}");
        if let Some(context) = row.context {
            assert_eq!(profile.context.0, context, "{model}");
        }
        if row.sampling == Some(false) && row.provider == "anthropic" {
            assert!(!profile.sampling, "{model}");
        }
        let packs = ["generic", "small", "claude", "gpt", "gemini"];
        assert!(packs.contains(&profile.prompt_pack.as_str()), "{model}");
    }
}

#[test]
fn model_families_get_their_native_edit_tool() {
    let check = |name: &str, edit: EditTool, tier: Tier| {
        let model = ModelId::parse(name).expect("provider/model");
        let facts = prices().find(&model.provider, &model.model);
        let profile = profiles().resolve(&model, facts.as_ref());
        assert_eq!((profile.edit, profile.tier), (edit, tier), "{name}");
    };
    check(
        "anthropic/claude-opus-5",
        EditTool::StrReplace,
        Tier::Strong,
    );
    check(
        "anthropic/claude-haiku-4-5",
        EditTool::StrReplace,
        Tier::Fast,
    );
    check(
        "openrouter/anthropic/claude-sonnet-5",
        EditTool::StrReplace,
        Tier::Strong,
    );
    check("openai/gpt-5.5", EditTool::ApplyPatch, Tier::Strong);
    check("openai/gpt-5.4-nano", EditTool::ApplyPatch, Tier::Small);
    check("groq/openai/gpt-oss-120b", EditTool::StrReplace, Tier::Fast);
    check(
        "gemini/gemini-3.5-flash-lite",
        EditTool::StrReplace,
        Tier::Fast,
    );
    check(
        "deepseek/deepseek-v4-pro",
        EditTool::StrReplace,
        Tier::Strong,
    );
    check(
        "ollama/qwen2.5-coder:7b",
        EditTool::SearchReplace,
        Tier::Small,
    );
    check(
        "local/nobody-knows-it",
        EditTool::StrReplace,
        Tier::Standard,
    );
}

#[test]
fn predictions_are_taken_by_the_models_that_document_them() {
    let check = |name: &str, expected: bool| {
        let model = ModelId::parse(name).expect("provider/model");
        let facts = prices().find(&model.provider, &model.model);
        let profile = profiles().resolve(&model, facts.as_ref());
        assert_eq!(profile.predicted_output, expected, "{name}");
    };
    check("openai/gpt-4o", true);
    check("openai/gpt-4o-mini-2024-07-18", true);
    check("openai/gpt-4.1-nano", true);
    check("openai/gpt-4o-search-preview", false);
    check("openai/gpt-5.5", false);
    check("openrouter/openai/gpt-4o", false);
    check("mistral/mistral-large-latest", true);
    check("mistral/codestral-latest", true);
    check("mistral/codestral-embed", false);
    check("cerebras/gpt-oss-120b", true);
    check("groq/openai/gpt-oss-120b", false);
    check("anthropic/claude-opus-5", false);
}

#[test]
fn unknown_models_have_an_unknown_cost() {
    assert_eq!(prices().find("local", "nobody-knows-it"), None);
    let model = ModelId::parse("local/nobody-knows-it").expect("provider/model");
    let profile = profiles().resolve(&model, None);
    assert_eq!(
        (profile.tools, profile.vision, profile.sampling),
        (None, None, false)
    );
}
