//! `auto` fits the model to the step, keeps to it within a turn, and falls back in order.

use super::*;
use crate::policy::{KeyName, Purpose, Task, complexity};
use crate::random::Random;
use crate::{FimFormat, Rate, Rates};

fn lane(model: &str, key: &str) -> Lane {
    Lane {
        model: ModelId::parse(model).expect("provider/model"),
        key: KeyName(key.to_owned()),
    }
}

/// A lane of a tier; `dollars` are the price of a million input tokens, an output token costs five times that.
fn candidate(model: &str, tier: Tier, dollars: u64) -> Candidate {
    let rate = |dollars| Some(Rate(dollars * 1_000_000));
    Candidate {
        lane: lane(model, "KEY"),
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
                cache_read: Some(Rate(dollars * 100_000)),
                ..Rates::default()
            },
            tiers: Vec::new(),
        }),
        same_as: None,
        privacy: Privacy::Private,
        is_allowed: true,
        sickness: 0.0,
        latency: Some(Duration::from_secs(5)),
        warm: TokenCount(0),
    }
}

fn need(prompt: &str, purpose: Purpose) -> Need {
    let (complexity, features) = complexity(&Task {
        prompt,
        purpose,
        files_touched: 0,
        diff_lines: 0,
        plan_depth: 0,
        context_fill: 0,
        stalls: 0,
    });
    Need {
        wanted: Wanted::Auto,
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
        fallback: Fallback::AnyTier,
        current: None,
        boundary: Boundary::NewTurn,
    }
}

fn simple() -> Need {
    need("rename foo to bar", Purpose::Work)
}

fn decided(need: &Need, candidates: &[Candidate]) -> RouteDecision {
    decide(need, candidates, &Weights::default())
}

fn three() -> Vec<Candidate> {
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
        .map_or("nobody".to_owned(), |lane| lane.model.to_string())
}

#[test]
fn auto_takes_the_fast_for_the_simple_and_the_strong_for_planning() {
    assert_eq!(chosen(&decided(&simple(), &three())), "a/fast");
    let plan = need("add dark mode to the settings page", Purpose::Plan);
    assert_eq!(chosen(&decided(&plan, &three())), "a/strong");
    let long = Need {
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
fn what_it_must_be_able_to_do_is_no_matter_of_points() {
    let check = |change: fn(&mut Candidate), need: &Need, expected: Exclusion| {
        let mut candidates = three();
        change(&mut candidates[0]);
        let decision = decided(need, &candidates);
        let fast = decision
            .considered
            .iter()
            .find(|one| one.lane.model.model == "fast");
        assert_eq!(
            fast.expect("considered").verdict,
            Verdict::Excluded(expected)
        );
        assert_eq!(chosen(&decision), "a/standard");
        assert!(
            decision
                .chain
                .iter()
                .all(|link| link.lane.model.model != "fast")
        );
    };
    check(
        |one| one.profile.tools = Some(false),
        &simple(),
        Exclusion::NoTools,
    );
    check(
        |one| one.profile.tools = None,
        &simple(),
        Exclusion::ToolsUnknown,
    );
    check(
        |one| one.is_allowed = false,
        &simple(),
        Exclusion::NotAllowed,
    );
    check(
        |one| (one.is_allowed, one.profile.deprecated) = (false, true),
        &simple(),
        Exclusion::Deprecated,
    );
    check(
        |one| one.profile.context = TokenCount(20_999),
        &simple(),
        Exclusion::ContextTooSmall {
            has: TokenCount(20_999),
            needs: TokenCount(21_000),
        },
    );
    let private = Need {
        privacy: Privacy::Private,
        ..simple()
    };
    check(
        |one| one.privacy = Privacy::Any,
        &private,
        Exclusion::Private {
            allowed: Privacy::Private,
        },
    );
    let capped = Need {
        cost_cap: Some(Cost::dollars(1)),
        ..simple()
    };
    check(|one| one.price = None, &capped, Exclusion::PriceUnknown);
    check(
        |one| one.price.as_mut().expect("priced").base.input = Some(Rate(100_000_000)),
        &capped,
        Exclusion::TooDear {
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
        ("nobody".to_owned(), Reason::Nobody)
    );
}

#[test]
fn within_a_turn_the_lane_is_kept() {
    let mut need = need("plan a migration of the entire codebase", Purpose::Plan);
    need.current = Some(lane("a/fast", "KEY"));
    need.boundary = Boundary::Within;
    let decision = decided(&need, &three());
    assert_eq!(
        (chosen(&decision), decision.reason),
        ("a/fast".to_owned(), Reason::Sticky)
    );
    need.boundary = Boundary::NewTurn;
    assert_eq!(chosen(&decided(&need, &three())), "a/strong");
    need.boundary = Boundary::Within;
    let mut candidates = three();
    candidates[0].sickness = 1.0;
    assert_eq!(chosen(&decided(&need, &candidates)), "a/strong");
    candidates.remove(0);
    assert_eq!(decided(&need, &candidates).reason, Reason::Displaced);
}

#[test]
fn a_warm_cache_keeps_a_conversation_where_it_is() {
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
fn a_named_model_is_taken_and_never_exchanged_for_another_silently() {
    let mut need = simple();
    need.wanted = Wanted::Model(lane("a/strong", "").model);
    need.fallback = Fallback::SameModel;
    let mut candidates = three();
    candidates[2].is_allowed = false;
    candidates[2].profile.tools = None;
    candidates.push(Candidate {
        same_as: Some(candidates[2].lane.model.clone()),
        ..candidate("router/a/strong", Tier::Strong, 11)
    });
    let decision = decided(&need, &candidates);
    assert_eq!(
        (chosen(&decision), decision.reason),
        ("a/strong".to_owned(), Reason::Named)
    );
    let chain: Vec<_> = decision
        .chain
        .iter()
        .map(|link| (link.lane.model.to_string(), link.kind))
        .collect();
    assert_eq!(
        chain,
        [
            ("a/strong".to_owned(), LinkKind::Chosen),
            ("router/a/strong".to_owned(), LinkKind::SameModel)
        ]
    );
    need.wanted = Wanted::Model(lane("a/none", "").model);
    let decision = decided(&need, &candidates);
    assert_eq!(decision.reason, Reason::Nobody);
    assert!(
        decision
            .to_string()
            .starts_with("no model: there is no a/none among"),
        "{decision}"
    );
}

#[test]
fn falling_back_goes_from_the_same_model_to_the_nearest() {
    let mut candidates = three();
    candidates.push(candidate("b/fast", Tier::Fast, 2));
    candidates.push(candidate("b/small", Tier::Small, 1));
    candidates.push(Candidate {
        lane: lane("a/standard", "OTHER_KEY"),
        ..candidate("a/standard", Tier::Standard, 3)
    });
    candidates.push(Candidate {
        sickness: 1.0,
        ..candidate("c/standard", Tier::Standard, 3)
    });
    candidates.push(candidate("d/standard", Tier::Standard, 9));
    let mut need = simple();
    need.wanted = Wanted::Model(lane("a/standard", "").model);
    let names = |need: &Need| {
        let decision = decided(need, &candidates);
        let links = decision.chain.iter();
        links
            .map(|link| format!("{} {}", link.lane.model, link.kind))
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
    need.fallback = Fallback::SameTier;
    assert_eq!(names(&need).len(), 4);
    need.fallback = Fallback::Never;
    assert_eq!(names(&need).len(), 1);
}

#[test]
fn a_decision_can_be_read() {
    let mut candidates = three();
    candidates[1].price = None;
    candidates[2].profile.tools = Some(false);
    let decision = decided(&simple(), &candidates);
    expect_test::expect![[r#"
        a/fast with KEY: it scores best for a step that needs a fast model
          complexity 15 of 100 (fast suffices), any step +25, easy words -10
          a/fast with KEY (fast): 0.96 = fit 1.00 - cost 0.01 ($0.0250) - time 0.03 (5.0 s)
          a/standard with KEY (standard): 0.52 = fit 0.85 - cost 0.30 (unknown) - time 0.03 (5.0 s)
          a/strong with KEY (strong): it does not call tools
          if it cannot answer: a/standard with KEY (stronger)"#]]
    .assert_eq(&decision.to_string());
    let json = serde_json::to_string(&decision).expect("it is serialised");
    assert_eq!(
        serde_json::from_str::<RouteDecision>(&json).expect("and read"),
        decision
    );
}

/// Whatever the candidates are: the chain ends, holds no lane twice and none that is excluded.
#[test]
fn falling_back_always_ends() {
    let tiers = [Tier::Small, Tier::Fast, Tier::Standard, Tier::Strong];
    for seed in 0..2000 {
        let mut random = Random::new(seed);
        let candidates: Vec<Candidate> = (0..random.below(12))
            .map(|_| {
                let name = format!("p{}/m{}", random.below(3), random.below(4));
                let mut one = candidate(&name, *random.pick(&tiers), 1 + random.below(20));
                one.is_allowed = !random.one_in(4);
                one.sickness = random.below(5) as f64 / 4.0;
                one.profile.tools = *random.pick(&[Some(true), Some(true), Some(false), None]);
                one.latency = random
                    .one_in(2)
                    .then(|| Duration::from_secs(random.below(60)));
                one.price = one.price.filter(|_| random.below(4) > 0);
                one.same_as = random.one_in(3).then(|| lane("maker/m", "").model);
                one.warm = TokenCount(random.below(40_000));
                one
            })
            .collect();
        let mut need = simple();
        need.fallback = *random.pick(&[
            Fallback::Never,
            Fallback::SameModel,
            Fallback::SameTier,
            Fallback::AnyTier,
        ]);
        if let Some(one) = candidates.first() {
            need.current = random.one_in(2).then(|| one.lane.clone());
            if random.one_in(2) {
                need.wanted = Wanted::Model(one.lane.model.clone());
            }
        }
        need.boundary = *random.pick(&[Boundary::Within, Boundary::NewTurn, Boundary::Failed]);
        need.cost_cap = random.one_in(4).then(|| Cost(random.below(1 << 28)));
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
                decision.chain[..ix].iter().all(|one| one.lane != link.lane),
                "seed {seed}"
            );
            let is_eligible = decision
                .considered
                .iter()
                .any(|one| one.lane == link.lane && matches!(one.verdict, Verdict::Scored(_)));
            assert!(is_eligible, "seed {seed}: {}", link.lane);
        }
        if let (Wanted::Model(model), Some(chosen)) = (&need.wanted, &decision.chosen) {
            assert_eq!(chosen.model, *model, "seed {seed}");
        }
        assert!(!decision.to_string().is_empty());
    }
}
