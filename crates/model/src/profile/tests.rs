//! Tests overlays with the user's entries on top, and conservative defaults for unknown models.

use super::*;
use crate::Prices;

fn model(name: &str) -> ModelId {
    ModelId::parse(name).expect("provider/model")
}

fn check(pattern: &str, name: &str, expected: bool) {
    assert_eq!(matches(pattern, name), expected, "{pattern} on {name}");
}

#[test]
fn patterns() {
    check("*", "anything/at/all", true);
    check("openai/*", "openai/gpt-5", true);
    check("openai/*", "openrouter/openai/gpt-5", false);
    check("*claude-*", "openrouter/anthropic/claude-opus-5", true);
    check("*claude-*haiku*", "anthropic/claude-haiku-5-5", true);
    check("*claude-*haiku*", "anthropic/claude-opus-5", false);
    check("a/b", "a/b", true);
    check("a/b", "a/bc", false);
    check("a*b*b", "ab", false);
    check("a*b*b", "abb", true);
    check("*ab", "aab", true);
    check("", "", true);
    check("", "a", false);
}

#[test]
fn unknown_model_gets_a_conservative_profile() {
    let (profiles, _) = Profiles::parse(r#"{"profiles": []}"#);
    let profile = profiles.resolve(&model("x/y"), None);
    assert_eq!(profile, Profile::harmless());
    assert_eq!((profile.tools, profile.sampling), (None, false));
}

#[test]
fn later_entries_override_and_user_entries_come_last() {
    let (profiles, problems) = Profiles::parse(
        r#"{"profiles": [
            {"match": ["*"], "context": 10000, "tier": "fast"},
            {"match": ["*M-1*"], "tier": "strong", "edit": "apply_patch"},
            {"match": ["p/*"], "edit": "whole_file"}]}"#,
    );
    assert_eq!(problems, Vec::<String>::new());
    let facts = r#"{"format": 1, "rows": [{"provider": "p", "model": "m-1", "context": 70000, "tools": true,
        "sampling": true, "efforts": ["none", "low", "xhigh", "max", "ultra"]}]}"#;
    let facts = Prices::parse(facts).0.find("p", "m-1");
    let profile = profiles.resolve(&model("p/m-1"), facts.as_ref());
    assert_eq!(profile.tier, Tier::Strong);
    assert_eq!(profile.edit, EditTool::WholeFile);
    assert_eq!(profile.context, TokenCount(70_000));
    assert_eq!((profile.tools, profile.sampling), (Some(true), true));
    assert_eq!(profile.efforts.len(), 3);
    let max = EffortSetting::Word("max".to_owned());
    assert_eq!(profile.effort(Effort::Max), Some(&max));
    let low = EffortSetting::Word("low".to_owned());
    assert_eq!(profile.effort(Effort::High), Some(&low));

    let (own, _) = Profiles::parse(
        r#"{"profiles": [{"match": ["p/m-1"], "tools": false, "context": 5, "edit": "hashline"}]}"#,
    );
    let profile = profiles
        .overlaid(own)
        .resolve(&model("p/m-1"), facts.as_ref());
    assert_eq!(
        (profile.tools, profile.context),
        (Some(false), TokenCount(5))
    );
    assert_eq!(
        (profile.edit, profile.tier),
        (EditTool::Hashline, Tier::Strong)
    );

    let (own, _) =
        Profiles::parse(r#"{"profiles": [{"match": ["*"], "vision": false, "context": 6}]}"#);
    let (shipped, _) = Profiles::parse(r#"{"profiles": [{"match": ["p/*"], "context": 7}]}"#);
    let profile = shipped
        .overlaid(own)
        .resolve(&model("p/m-1"), facts.as_ref());
    assert_eq!(
        (profile.vision, profile.context),
        (Some(false), TokenCount(6))
    );
}

#[test]
fn errors_are_reported_and_the_rest_is_read() {
    let (profiles, problems) = Profiles::parse(
        r#"{"profiles": [{"match": ["*"], "colour": "red"}, {"tier": "fast"}, 7,
            {"match": ["*"], "tier": "best"}, {"match": ["*"], "tier": "fast"}]}"#,
    );
    assert_eq!(profiles.entries.len(), 1);
    assert_eq!(problems.len(), 4);
    for (problem, word) in problems.iter().zip(["colour", "match", "object", "best"]) {
        assert!(problem.contains(word), "{problem}");
    }
}

#[test]
fn withdrawal_date_deprecates_unless_the_user_overrides() {
    let facts =
        r#"{"format": 1, "rows": [{"provider": "p", "model": "m-1", "deprecated": "2027-01-14"}]}"#;
    let facts = Prices::parse(facts).0.find("p", "m-1");
    let (profiles, _) = Profiles::parse(r#"{"profiles": [{"match": ["*"], "tier": "fast"}]}"#);
    let resolve = |profiles: &Profiles, facts| profiles.resolve(&model("p/m-1"), facts).deprecated;
    assert!(!resolve(&profiles, None));
    assert!(resolve(&profiles, facts.as_ref()));
    let own = r#"{"profiles": [{"match": ["p/m-1"], "deprecated": false}]}"#;
    let profiles = profiles.overlaid(Profiles::parse(own).0);
    assert!(!resolve(&profiles, facts.as_ref()));
}

#[test]
fn entries_adapt_a_profile_of_matching_models() {
    let entries = r#"{"profiles": [{"match": ["p/*"], "edit": "whole_file"}, {"match": ["*m-1"], "context": 9}]}"#;
    let (entries, problems) = Profiles::parse(entries);
    assert_eq!(problems, Vec::<String>::new());
    let usual = Profile::harmless();
    let adapted = entries.adapted("P/m-1", &usual).expect("it matches");
    assert_eq!(
        (adapted.edit, adapted.context),
        (EditTool::WholeFile, TokenCount(9))
    );
    assert_eq!(adapted.tier, usual.tier);
    assert_eq!(entries.adapted("auto", &usual), None);
}
