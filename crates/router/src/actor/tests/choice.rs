//! Tests of the automatic choice of models.

use super::*;
use crate::actor::RoutingOptions;
use model::policy::route::{RouteReason, SwitchBoundary};
use model::policy::{StepDescription, StepPurpose};

fn auto(prompt: &str, boundary: SwitchBoundary) -> RouterRequest {
    let step = StepDescription {
        prompt,
        purpose: StepPurpose::Work,
        files_touched: 0,
        diff_lines: 0,
        plan_depth: 0,
        context_fill: 0,
        stalls: 0,
    };
    let mut ask = ask(prompt);
    ask.options = RoutingOptions::auto(&step, boundary);
    if let crate::actor::RequestPayload::Chat(request) = &mut ask.payload {
        request.conversation = Some("talk".to_owned());
    }
    ask
}

fn tiered(name: &str, tier: Tier, client: &ScriptedClient) -> RouteConfig {
    RouteConfig {
        profile: Profile { tier, ..profile() },
        ..route(name, client.clone())
    }
}

async fn decided(router: &RouterHandle, ask: RouterRequest) -> Arc<RouteDecision> {
    let routed: Vec<RouterEvent> = router.submit(ask).collect().await;
    let mut decisions = routed.into_iter().filter_map(|event| match event {
        RouterEvent::Decided(decision) => Some(decision),
        _ => None,
    });
    decisions.next_back().expect("a decision")
}

fn chosen(decision: &RouteDecision) -> String {
    let route = decision.chosen.as_ref().expect("somebody answers");
    route.model.to_string()
}

const HARD: &str = "Plan the redesign of the whole architecture: investigate the race and the deadlock, then migrate";

#[tokio::test(start_paused = true)]
async fn hard_steps_use_strong_models_and_simple_ones_fast() {
    let client = ScriptedClient::new((0..9).map(|_| ResponseScript::text("ok")));
    let router = Router::start(config(vec![
        tiered("test/fast", Tier::Fast, &client),
        tiered("test/strong", Tier::Strong, &client),
    ]));
    let simple = decided(&router, auto("fix the typo", SwitchBoundary::NewTurn)).await;
    assert_eq!(chosen(&simple), "test/fast");
    let within = decided(&router, auto(HARD, SwitchBoundary::Within)).await;
    assert_eq!(
        (chosen(&within).as_str(), within.reason),
        ("test/fast", RouteReason::Sticky)
    );
    let hard = decided(&router, auto(HARD, SwitchBoundary::NewTurn)).await;
    assert_eq!(chosen(&hard), "test/strong");
    let within = decided(&router, auto("fix the typo", SwitchBoundary::Within)).await;
    assert_eq!(chosen(&within), "test/strong", "until the next turn");
    let asked: Vec<String> = client
        .requests()
        .iter()
        .map(|it| it.model.to_string())
        .collect();
    assert_eq!(
        asked,
        ["test/fast", "test/fast", "test/strong", "test/strong"]
    );
}

#[tokio::test(start_paused = true)]
async fn shortlist_of_many_routes_follows_their_health() {
    let well = ScriptedClient::new((0..20).map(|_| ResponseScript::text("ok")));
    let ill =
        ScriptedClient::new((0..20).map(|_| ResponseScript::fails(failure(FailureClass::Quota))));
    let mut routes: Vec<RouteConfig> = (0..300)
        .map(|ix| tiered(&format!("test/{ix}"), Tier::Strong, &well))
        .collect();
    routes[7] = tiered("test/best", Tier::Fast, &ill);
    routes[211] = tiered("test/second", Tier::Fast, &well);
    let router = Router::start(config(routes));
    let mut ask = auto("fix the typo", SwitchBoundary::NewTurn);
    ask.options.complexity = model::policy::Complexity(20);
    let first = decided(&router, ask.clone()).await;
    assert_eq!(chosen(&first), "test/second", "the best has no quota left");
    assert!(first.considered.len() <= 40, "{}", first.considered.len());
    let next = decided(&router, ask.clone()).await;
    assert_eq!(chosen(&next), "test/second");
    assert_eq!(ill.requests().len(), 1, "it is not asked again");
    tokio::time::sleep(Duration::from_secs(120)).await;
    let later = decided(&router, ask).await;
    assert_eq!(chosen(&later), "test/second");
}

/// Offers two models of the required tier; the better one is deprecated.
#[tokio::test(start_paused = true)]
async fn deprecated_model_is_used_only_by_name() {
    let start = |allowed: &[&str]| {
        let old = ScriptedClient::new((0..9).map(|_| ResponseScript::text("old")));
        let new = ScriptedClient::new(
            (0..9).map(|_| ResponseScript::fails(failure(FailureClass::Quota))),
        );
        let mut withdrawn = tiered("test/old", Tier::Fast, &old);
        withdrawn.profile.deprecated = true;
        let mut config = config(vec![withdrawn, tiered("test/new", Tier::Strong, &new)]);
        config.auto = allowed.iter().map(|name| model(name)).collect();
        (Router::start(config), old)
    };
    let typo = || auto("fix the typo", SwitchBoundary::NewTurn);
    let (router, old) = start(&[]);
    let decision = decided(&router, typo()).await;
    assert_eq!(chosen(&decision), "test/new");
    assert!(
        decision
            .to_string()
            .contains("its provider has deprecated it"),
        "{decision}"
    );
    assert_eq!(old.requests().len(), 0, "not even when the other fails");

    let mut named = ask("hi");
    if let crate::actor::RequestPayload::Chat(request) = &mut named.payload {
        request.model = model("test/old");
    }
    assert_eq!(assemble(&events(router.submit(named)).await).text, "old");

    let (router, _) = start(&["test/old", "test/new"]);
    let decision = decided(&router, typo()).await;
    assert_eq!(chosen(&decision), "test/old");
}
