//! Tests lenient parsing, overlays by the user's rows, and that unknown prices are never zero.

use super::*;
use crate::{Cost, Usage};

const TABLE: &str = r#"{"format": 1, "rows": [
    {"provider": "p", "model": "m", "context": 1000, "tools": true, "source": "s", "date": "2026-01-01",
     "price": {"input": 2000000, "output": 10000000, "cache_read": 200000, "cache_write_5m": 2500000,
               "above": [{"tokens": 200000, "price": {"input": 4000000}}]}},
    {"provider": "p", "model": "broken", "context": "many"},
    {"provider": "p", "model": "unpriced", "source": "s", "date": "2026-01-01"}]}"#;

fn usage(input: u64, cache_read: u64, write_5m: u64, write_1h: u64, output: u64) -> Usage {
    Usage {
        input: TokenCount(input),
        cache_read: TokenCount(cache_read),
        cache_write_5m: TokenCount(write_5m),
        cache_write_1h: TokenCount(write_1h),
        output: TokenCount(output),
        ..Usage::default()
    }
}

#[test]
fn invalid_row_is_reported_and_others_are_read() {
    let (prices, problems) = Prices::parse(TABLE);
    assert_eq!(prices.rows().count(), 2);
    assert_eq!(problems.len(), 1);
    assert!(
        problems[0].contains("row 2") && problems[0].contains("broken"),
        "{problems:?}"
    );
    for text in ["", "[]", "{\"format\": 2, \"rows\": []}"] {
        let (prices, problems) = Prices::parse(text);
        assert_eq!((prices.rows().count(), problems.len()), (0, 1), "{text}");
    }
}

#[test]
fn costs_are_exact() {
    let (prices, _) = Prices::parse(TABLE);
    let price = prices
        .find("p", "m")
        .and_then(|facts| facts.price)
        .expect("priced");
    // 1000 × 2 + 10 000 × 0.2 + 100 × 2.5 + 50 × 10 = 4750 micro-dollars.
    assert_eq!(
        price.cost(&usage(1000, 10_000, 100, 0, 50)),
        Some(Cost(4_750_000))
    );
    assert_eq!(price.cost(&usage(0, 0, 0, 0, 0)), Some(Cost::ZERO));
    // One token read from the cache costs 0.2 micro-dollars.
    assert_eq!(price.cost(&usage(0, 1, 0, 0, 0)), Some(Cost(200)));
    // Beyond the bound the tier bills the whole prompt; rates missing from the tier remain.
    assert_eq!(
        price.cost(&usage(200_001, 0, 0, 0, 1)),
        Some(Cost(800_004_000 + 10_000))
    );
    assert_eq!(
        price.cost(&usage(200_000, 0, 0, 0, 1)),
        Some(Cost(400_000_000 + 10_000))
    );
    assert_eq!(
        price.cost(&usage(1, 0, 0, 1, 1)),
        None,
        "no rate for an hour"
    );
    assert_eq!(
        price.cost(&usage(u64::MAX, 0, 0, 0, u64::MAX)),
        Some(Cost(u64::MAX))
    );
}

#[test]
fn costs_are_rounded_up_once() {
    let row = r#"{"format": 1, "rows": [{"provider": "p", "model": "m", "price": {"input": 1, "output": 1}}]}"#;
    let price = Prices::parse(row)
        .0
        .find("p", "m")
        .and_then(|facts| facts.price)
        .expect("priced");
    assert_eq!(price.cost(&usage(1, 0, 0, 0, 1)), Some(Cost(1)));
    assert_eq!(price.cost(&usage(1000, 0, 0, 0, 0)), Some(Cost(1)));
    assert_eq!(price.cost(&usage(1000, 0, 0, 0, 1)), Some(Cost(2)));
}

#[test]
fn unknown_price_is_not_zero() {
    let (prices, _) = Prices::parse(TABLE);
    assert_eq!(prices.find("p", "unpriced").expect("a row").price, None);
    assert_eq!(prices.find("p", "nobody"), None);
    assert_eq!(prices.find("q", "m"), None);
}

#[test]
fn maximum_cost_is_an_upper_bound() {
    let (prices, _) = Prices::parse(TABLE);
    let price = prices
        .find("p", "m")
        .and_then(|facts| facts.price)
        .expect("priced");
    let mut random = crate::random::TestRng::new(1);
    for _ in 0..2000 {
        let usage = usage(
            random.next_below(250_000),
            random.next_below(250_000),
            random.next_below(9999),
            0,
            random.next_below(9999),
        );
        let most = price.max_cost(usage.prompt(), usage.output, crate::CacheUse::Short);
        assert!(most >= price.cost(&usage), "{usage:?}");
    }
}

#[test]
fn user_rows_override_field_by_field() {
    let own = r#"{"format": 1, "rows": [
        {"provider": "p", "model": "m", "tools": false, "price": {"input": 7}},
        {"provider": "local", "model": "q", "context": 5}]}"#;
    let prices = Prices::parse(TABLE).0.overlaid(Prices::parse(own).0);
    let facts = prices.find("p", "m").expect("a row");
    assert_eq!(
        (facts.row.tools, facts.context()),
        (Some(false), Some(TokenCount(1000)))
    );
    let rates = facts.price.expect("priced").base;
    assert_eq!(
        (rates.input, rates.output),
        (Some(TokenRate(7)), Some(TokenRate(10_000_000)))
    );
    assert_eq!(facts.row.source, "s");
    assert!(prices.find("local", "q").is_some());
}

#[test]
fn written_table_is_read_back() {
    let (prices, _) = Prices::parse(TABLE);
    let (again, problems) = Prices::parse(&prices.to_json());
    assert_eq!((again, problems), (prices, Vec::new()));
}

#[test]
fn models_dev_table_is_parsed() {
    let text = r#"{"google": {"id": "google", "models": {
        "g-1": {"name": "G", "canonical_model_id": "google/g-1", "reasoning": true, "tool_call": true,
            "reasoning_options": [{"type": "effort", "values": ["low", "high", null]}, {"type": "toggle"}],
            "modalities": {"input": ["text", "image"], "output": ["text"]}, "limit": {"context": 10, "output": 5},
            "cost": {"input": 1.25, "output": 10, "context_over_200k": {"input": 2.5, "output": 15}}},
        "draws": {"modalities": {"input": ["text"], "output": ["image"]}},
        "odd": {"limit": "none"}}},
      "new": {"models": {"g": {"canonical_model_id": "google/g-1", "cost": {"input": 0, "output": 0}}}}}"#;
    let (prices, problems) = Prices::from_models_dev(text, "models.dev", "2026-11-21");
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(prices.rows().count(), 2);
    let facts = prices.find("gemini", "g-1").expect("named as ours");
    assert_eq!((facts.row.vision, facts.same_as()), (Some(true), None));
    assert_eq!(facts.row.efforts, ["low", "high"]);
    let price = facts.price.expect("priced");
    assert_eq!(
        price.rates(TokenCount(200_001)).output,
        Some(TokenRate(15_000_000))
    );
    let other = prices.find("new", "g").expect("a row");
    assert_eq!(other.price, None, "nothing is not free");
    assert_eq!(other.same_as(), ModelId::parse("gemini/g-1"));
    let (none, problems) = Prices::from_models_dev("<html>", "models.dev", "2026-11-21");
    assert_eq!((none.rows().count(), problems.len()), (0, 1));
}
