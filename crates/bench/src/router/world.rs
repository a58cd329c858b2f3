//! The inputs of the router benchmarks: routes, requests, and a client that answers at once.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use futures::stream::{self, BoxStream, StreamExt};
use model::policy::route::Privacy;
use model::policy::{
    AgentId, Caller, Caps, KeyName, RequestClass, Retry, Route, RouteLimits, StepDescription,
    StepPurpose, TurnId,
};
use model::{
    Fim, FimFormat, Message, ModelClient, ModelId, ModelRequest, Price, Profile, Role, StopReason,
    StreamEvent, SystemBlock, Tier, TokenCount, Usage,
};
use router::actor::{
    NoUsageStore, RouteConfig, Router, RouterConfig, RouterHandle, StallLimits, UsageStore,
    WallClock, patient_retry,
};
use router::http::{HttpClient, Providers};
use router::keys::SystemSecrets;
use serde_json::json;

/// Answers every request at once with a few events.
pub(super) struct AtOnce;

impl ModelClient for AtOnce {
    fn send(&self, _: ModelRequest) -> BoxStream<'static, StreamEvent> {
        stream::iter([
            StreamEvent::Start {
                id: "1".to_owned(),
                model: "m".to_owned(),
            },
            StreamEvent::TextDelta("yes".to_owned()),
            StreamEvent::Usage(Usage::default()),
            StreamEvent::Stop {
                reason: StopReason::EndTurn,
                raw: "stop".to_owned(),
            },
        ])
        .boxed()
    }

    fn complete(&self, _: Fim) -> BoxStream<'static, StreamEvent> {
        stream::empty().boxed()
    }
}

pub(crate) fn start_router(lanes: Vec<RouteConfig>) -> RouterHandle {
    start_with(lanes, Caps::default(), Arc::new(NoUsageStore))
}

pub(super) fn start_with(
    lanes: Vec<RouteConfig>,
    caps: Caps,
    book: Arc<dyn UsageStore>,
) -> RouterHandle {
    Router::start(RouterConfig {
        routes: lanes,
        auto: Vec::new(),
        caps,
        retry: Retry::default(),
        retry_alone: patient_retry(),
        usage_store: book,
        clock: WallClock::new(|| {
            let since = SystemTime::now().duration_since(UNIX_EPOCH);
            since.map_or(0, |since| since.as_millis() as u64)
        }),
        seed: 1,
    })
}

/// Returns `count` routes to as many models; the first is `test/0`.
pub(super) fn lanes_of(count: usize, client: Arc<dyn ModelClient>) -> Vec<RouteConfig> {
    (0..count)
        .map(|ix| lane("test", &ix.to_string(), client.clone()))
        .collect()
}

/// Returns HTTP routes to the server's models `big`, for agents, and `tab`, for completions.
pub(crate) fn wire_lanes(url: &str) -> Vec<RouteConfig> {
    let (mut providers, _) = Providers::builtin();
    let own = json!({ "mock": {
        "wire": "chat", "base_url": format!("{url}/v1"), "needs_key": false,
        "fim": { "wire": "mistral", "path": { "base": "fim/completions" } },
    } });
    if let Some(own) = own.as_object() {
        providers.add(own);
    }
    let profiles = Arc::new(|_: &ModelId| Some(profile()));
    let client: Arc<dyn ModelClient> = Arc::new(HttpClient::new(
        providers,
        profiles,
        Arc::new(SystemSecrets {
            variable: |name| std::env::var(name).ok(),
            environment: Vec::new(),
        }),
    ));
    vec![
        lane("mock", "big", client.clone()),
        lane("mock", "tab", client),
    ]
}

fn lane(provider: &str, model: &str, client: Arc<dyn ModelClient>) -> RouteConfig {
    RouteConfig {
        route: Route {
            model: ModelId {
                provider: provider.to_owned(),
                model: model.to_owned(),
            },
            key: KeyName::default(),
        },
        client,
        price: Some(Price::FREE),
        profile: profile(),
        same_as: None,
        privacy: Privacy::Any,
        auto: true,
        limits: RouteLimits::default(),
        max_concurrency: 64,
        stall: StallLimits::default(),
    }
}

fn profile() -> Profile {
    Profile {
        tier: Tier::Standard,
        tools: Some(true),
        context: TokenCount(200_000),
        fim: Some(FimFormat::Endpoint),
        ..Profile::harmless()
    }
}

pub(super) fn caller(class: RequestClass, agent: u64) -> Caller {
    Caller {
        class,
        agent: AgentId(agent),
        turn: TurnId(1),
    }
}

/// Returns a request of typical size: a long system prompt and a conversation of some turns.
pub(super) fn request() -> ModelRequest {
    request_for("test/0")
}

pub(super) fn request_for(model: &str) -> ModelRequest {
    let id = ModelId::parse(model).unwrap_or(ModelId {
        provider: "test".to_owned(),
        model: "0".to_owned(),
    });
    let messages = (0..20).map(|ix| {
        let role = if ix % 2 == 0 {
            Role::User
        } else {
            Role::Assistant
        };
        Message::text(
            role,
            "what was said, and what was found in the files. ".repeat(20),
        )
    });
    let mut request = ModelRequest::new(id, messages.collect(), TokenCount(4_000));
    request.system.push(SystemBlock {
        text: "be careful and brief. ".repeat(400),
        cache: model::CacheMark::Short,
    });
    request
}

pub(super) fn fim() -> Fim {
    let model = ModelId {
        provider: "mock".to_owned(),
        model: "tab".to_owned(),
    };
    Fim::gap(model, "fn main() {\n    let x = ", ";\n}\n", TokenCount(64))
}

pub(super) fn step() -> StepDescription<'static> {
    StepDescription {
        prompt: "rename the function and its callers in src/main.rs",
        purpose: StepPurpose::Work,
        files_touched: 2,
        diff_lines: 10,
        plan_depth: 0,
        context_fill: 20,
        stalls: 0,
    }
}
