//! Tests that `auto` fits the model to the step, keeps it within a turn, and falls back in order.

use super::*;
use crate::policy::{KeyName, StepDescription, StepPurpose, complexity};
use crate::random::TestRng;
use crate::{FimFormat, Rates, TokenRate};

fn route(model: &str, key: &str) -> Route {
    Route {
        model: ModelId::parse(model).expect("provider/model"),
        key: KeyName(key.to_owned()),
    }
}

/// Builds a route of a tier; `dollars` is the price per million input tokens, and output costs five
/// times as much.
fn candidate(model: &str, tier: Tier, dollars: u64) -> RouteCandidate {
    let rate = |dollars| Some(TokenRate(dollars * 1_000_000));
    RouteCandidate {
        route: route(model, "KEY"),
        profile: Profile {
            tier,
            tools: Some(true),
            context: TokenCount(200_000),
            ..Profile::harmless()
        },
        price: Some(Price {
            base: Rates {
                input: rate(dollars),
                output: rate(dollars * 5),
                cache_read: Some(TokenRate(dollars * 100_000)),
                ..Rates::default()
            },
            tiers: Vec::new(),
        }),
        same_as: None,
        privacy: Privacy::Private,
        is_allowed: true,
        failure_ratio: 0.0,
        latency: Some(Duration::from_secs(5)),
        warm: TokenCount(0),
    }
}

fn need(prompt: &str, purpose: StepPurpose) -> RouteRequirements {
    let (complexity, features) = complexity(&StepDescription {
        prompt,
        purpose,
        files_touched: 0,
        diff_lines: 0,
        plan_depth: 0,
        context_fill: 0,
        stalls: 0,
    });
    RouteRequirements {
        wanted: RequestedModel::Auto,
        complexity,
        features,
        abilities: Abilities {
            tools: true,
            ..Abilities::default()
        },
        prompt: TokenCount(20_000),
        output: TokenCount(1_000),
        cost_cap: None,
        privacy: Privacy::Any,
        fallback: FallbackScope::AnyTier,
        current: None,
        boundary: SwitchBoundary::NewTurn,
    }
}

fn simple() -> RouteRequirements {
    need("rename foo to bar", StepPurpose::Work)
}

fn decided(need: &RouteRequirements, candidates: &[RouteCandidate]) -> RouteDecision {
    decide(need, candidates, &RouteWeights::default())
}

fn three() -> Vec<RouteCandidate> {
    vec![
        candidate("a/fast", Tier::Fast, 1),
        candidate("a/standard", Tier::Standard, 3),
        candidate("a/strong", Tier::Strong, 10),
    ]
}

fn chosen(decision: &RouteDecision) -> String {
    decision
        .chosen
        .as_ref()
        .map_or("nobody".to_owned(), |route| route.model.to_string())
}

#[test]
fn auto_matches_the_tier_to_the_step() {
    assert_eq!(chosen(&decided(&simple(), &three())), "a/fast");
    let plan = need("add dark mode to the settings page", StepPurpose::Plan);
    assert_eq!(chosen(&decided(&plan, &three())), "a/strong");
    let long = RouteRequirements {
        prompt: TokenCount(150_000),
        ..plan
    };
    assert_eq!(
        chosen(&decided(&long, &three())),
        "a/strong",
        "even if it is dear"
    );
}

#[test]
fn missing_abilities_exclude_a_model() {
    let check =
        |change: fn(&mut RouteCandidate), need: &RouteRequirements, expected: ExclusionReason| {
            let mut candidates = three();
            change(&mut candidates[0]);
            let decision = decided(need, &candidates);
            let fast = decision
                .considered
                .iter()
                .find(|one| one.route.model.model == "fast");
            assert_eq!(
                fast.expect("considered").verdict,
                CandidateVerdict::Excluded(expected)
            );
            assert_eq!(chosen(&decision), "a/standard");
            assert!(
                decision
                    .chain
                    .iter()
                    .all(|link| link.route.model.model != "fast")
            );
        };
    check(
        |one| one.profile.tools = Some(false),
        &simple(),
        ExclusionReason::NoTools,
    );
    check(
        |one| one.profile.tools = None,
        &simple(),
        ExclusionReason::ToolsUnknown,
    );
    check(
        |one| one.is_allowed = false,
        &simple(),
        ExclusionReason::NotAllowed,
    );
    check(
        |one| (one.is_allowed, one.profile.deprecated) = (false, true),
        &simple(),
        ExclusionReason::Deprecated,
    );
    check(
        |one| one.profile.context = TokenCount(20_999),
        &simple(),
        ExclusionReason::ContextTooSmall {
            has: TokenCount(20_999),
            needs: TokenCount(21_000),
        },
    );
    let private = RouteRequirements {
        privacy: Privacy::Private,
        ..simple()
    };
    check(
        |one| one.privacy = Privacy::Any,
        &private,
        ExclusionReason::Private {
            allowed: Privacy::Private,
        },
    );
    let capped = RouteRequirements {
        cost_cap: Some(Cost::dollars(1)),
        ..simple()
    };
    check(
        |one| one.price = None,
        &capped,
        ExclusionReason::PriceUnknown,
    );
    check(
        |one| one.price.as_mut().expect("priced").base.input = Some(TokenRate(100_000_000)),
        &capped,
        ExclusionReason::TooDear {
            expected: Cost(2_005_000_000),
            cap: Cost::dollars(1),
        },
    );
    let mut candidates = three();
    candidates[2].profile.fim = Some(FimFormat::Endpoint);
    let mut fim = simple();
    fim.abilities.fim = true;
    assert_eq!(chosen(&decided(&fim, &candidates)), "a/strong");
    let mut vision = simple();
    vision.abilities.vision = true;
    let decision = decided(&vision, &three());
    assert_eq!(
        (chosen(&decision), decision.reason),
        ("nobody".to_owned(), RouteReason::NoneEligible)
    );
}

#[test]
fn route_is_kept_within_a_turn() {
    let mut need = need("plan a migration of the entire codebase", StepPurpose::Plan);
    need.current = Some(route("a/fast", "KEY"));
    need.boundary = SwitchBoundary::Within;
    let decision = decided(&need, &three());
    assert_eq!(
        (chosen(&decision), decision.reason),
        ("a/fast".to_owned(), RouteReason::Sticky)
    );
    need.boundary = SwitchBoundary::NewTurn;
    assert_eq!(chosen(&decided(&need, &three())), "a/strong");
    need.boundary = SwitchBoundary::Within;
    let mut candidates = three();
    candidates[0].failure_ratio = 1.0;
    assert_eq!(chosen(&decided(&need, &candidates)), "a/strong");
    candidates.remove(0);
    assert_eq!(decided(&need, &candidates).reason, RouteReason::Displaced);
}

#[test]
fn warm_cache_keeps_the_current_route() {
    let mut candidates = three();
    let mut other = candidate("b/fast", Tier::Fast, 1);
    other.latency = Some(Duration::from_secs(4));
    candidates.push(other);
    let mut need = simple();
    need.prompt = TokenCount(150_000);
    assert_eq!(chosen(&decided(&need, &candidates)), "b/fast");
    candidates[0].warm = TokenCount(140_000);
    assert_eq!(chosen(&decided(&need, &candidates)), "a/fast");
}

#[test]
fn named_model_is_never_replaced_silently() {
    let mut need = simple();
    need.wanted = RequestedModel::Model(route("a/strong", "").model);
    need.fallback = FallbackScope::SameModel;
    let mut candidates = three();
    candidates[2].is_allowed = false;
    candidates[2].profile.tools = None;
    candidates.push(RouteCandidate {
        same_as: Some(candidates[2].route.model.clone()),
        ..candidate("router/a/strong", Tier::Strong, 11)
    });
    let decision = decided(&need, &candidates);
    assert_eq!(
        (chosen(&decision), decision.reason),
        ("a/strong".to_owned(), RouteReason::Named)
    );
    let chain: Vec<_> = decision
        .chain
        .iter()
        .map(|link| (link.route.model.to_string(), link.kind))
        .collect();
    assert_eq!(
        chain,
        [
            ("a/strong".to_owned(), FallbackKind::Chosen),
            ("router/a/strong".to_owned(), FallbackKind::SameModel)
        ]
    );
    need.wanted = RequestedModel::Model(route("a/none", "").model);
    let decision = decided(&need, &candidates);
    assert_eq!(decision.reason, RouteReason::NoneEligible);
    assert!(
        decision
            .to_string()
            .starts_with("no model: a/none is not among"),
        "{decision}"
    );
}

#[test]
fn fallbacks_prefer_the_same_model_then_similar_ones() {
    let mut candidates = three();
    candidates.push(candidate("b/fast", Tier::Fast, 2));
    candidates.push(candidate("b/small", Tier::Small, 1));
    candidates.push(RouteCandidate {
        route: route("a/standard", "OTHER_KEY"),
        ..candidate("a/standard", Tier::Standard, 3)
    });
    candidates.push(RouteCandidate {
        failure_ratio: 1.0,
        ..candidate("c/standard", Tier::Standard, 3)
    });
    candidates.push(candidate("d/standard", Tier::Standard, 9));
    let mut need = simple();
    need.wanted = RequestedModel::Model(route("a/standard", "").model);
    let names = |need: &RouteRequirements| {
        let decision = decided(need, &candidates);
        let links = decision.chain.iter();
        links
            .map(|link| format!("{} {}", link.route.model, link.kind))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        names(&need),
        [
            "a/standard chosen",
            "a/standard the same model",
            "d/standard as strong",
            "c/standard as strong",
            "a/fast weaker",
            "b/fast weaker",
            "b/small weaker",
            "a/strong stronger",
        ]
    );
    need.fallback = FallbackScope::SameTier;
    assert_eq!(names(&need).len(), 4);
    need.fallback = FallbackScope::Never;
    assert_eq!(names(&need).len(), 1);
}

#[test]
fn decision_formats_as_readable_text() {
    let mut candidates = three();
    candidates[1].price = None;
    candidates[2].profile.tools = Some(false);
    let decision = decided(&simple(), &candidates);
    expect_test::expect![[r#"
        a/fast with KEY: it scores best for a step that needs a fast model
          complexity 15 of 100 (fast suffices), any step +25, easy words -10
          a/fast with KEY (fast): 0.96 = fit 1.00 - cost 0.01 ($0.0250) - time 0.03 (5.0 s)
          a/standard with KEY (standard): 0.52 = fit 0.85 - cost 0.30 (unknown) - time 0.03 (5.0 s)
          a/strong with KEY (strong): it does not support tool calls
          if it cannot answer: a/standard with KEY (stronger)"#]]
    .assert_eq(&decision.to_string());
    let json = serde_json::to_string(&decision).expect("it is serialised");
    assert_eq!(
        serde_json::from_str::<RouteDecision>(&json).expect("and read"),
        decision
    );
}

/// For all candidates the chain ends, with no route twice and none that is excluded.
#[test]
fn fallback_chains_are_finite() {
    let tiers = [Tier::Small, Tier::Fast, Tier::Standard, Tier::Strong];
    for seed in 0..2000 {
        let mut random = TestRng::new(seed);
        let candidates: Vec<RouteCandidate> = (0..random.next_below(12))
            .map(|_| {
                let name = format!("p{}/m{}", random.next_below(3), random.next_below(4));
                let mut one = candidate(&name, *random.pick(&tiers), 1 + random.next_below(20));
                one.is_allowed = !random.one_in(4);
                one.failure_ratio = random.next_below(5) as f64 / 4.0;
                one.profile.tools = *random.pick(&[Some(true), Some(true), Some(false), None]);
                one.latency = random
                    .one_in(2)
                    .then(|| Duration::from_secs(random.next_below(60)));
                one.price = one.price.filter(|_| random.next_below(4) > 0);
                one.same_as = random.one_in(3).then(|| route("maker/m", "").model);
                one.warm = TokenCount(random.next_below(40_000));
                one
            })
            .collect();
        let mut need = simple();
        need.fallback = *random.pick(&[
            FallbackScope::Never,
            FallbackScope::SameModel,
            FallbackScope::SameTier,
            FallbackScope::AnyTier,
        ]);
        if let Some(one) = candidates.first() {
            need.current = random.one_in(2).then(|| one.route.clone());
            if random.one_in(2) {
                need.wanted = RequestedModel::Model(one.route.model.clone());
            }
        }
        need.boundary = *random.pick(&[
            SwitchBoundary::Within,
            SwitchBoundary::NewTurn,
            SwitchBoundary::Failed,
        ]);
        need.cost_cap = random.one_in(4).then(|| Cost(random.next_below(1 << 28)));
        let decision = decided(&need, &candidates);
        assert_eq!(decision, decided(&need, &candidates), "seed {seed}");
        assert_eq!(
            decision.chosen.is_none(),
            decision.chain.is_empty(),
            "seed {seed}"
        );
        assert!(decision.chain.len() <= candidates.len(), "seed {seed}");
        for (ix, link) in decision.chain.iter().enumerate() {
            assert!(
                decision.chain[..ix]
                    .iter()
                    .all(|one| one.route != link.route),
                "seed {seed}"
            );
            let is_eligible = decision.considered.iter().any(|one| {
                one.route == link.route && matches!(one.verdict, CandidateVerdict::Scored(_))
            });
            assert!(is_eligible, "seed {seed}: {}", link.route);
        }
        if let (RequestedModel::Model(model), Some(chosen)) = (&need.wanted, &decision.chosen) {
            assert_eq!(chosen.model, *model, "seed {seed}");
        }
        assert!(!decision.to_string().is_empty());
    }
}
