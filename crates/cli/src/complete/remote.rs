//! Suggestions from a model: drives the engine of Tab until the response ends.

use std::time::Duration;

use autocomplete::context::EmptyContextSource;
use autocomplete::engine::{
    CompletionEngine, EngineEffect, EngineInput, EngineOptions, RequestId, TabKind, TabModel,
};
use futures::StreamExt;
use futures::stream::{BoxStream, SelectAll, select_all};
use host::{Clock, Dirs, Files, RealClock};
use model::{FailureClass, FimFormat, ModelId, StreamEvent};
use router::actor::{RouteConfig, RouterEvent, RouterHandle};
use runtime::agent_services::router_request;
use runtime::models::setup::{self, DEMO, Setup};
use runtime::routing;

use super::{CompletionOutcome, CompletionQuery};
use crate::ask::open_ledger;
use crate::{Streams, error_text, print_notice};

/// The maximum wait for a suggestion.
const PATIENCE: Duration = Duration::from_secs(60);

/// Asks a model for suggestions and waits for the model's response. If the model fails, returns an
/// outcome with the failure. Returns an error only if no model was asked.
pub(super) fn ask(
    name: &str,
    query: &CompletionQuery<'_>,
    (files, dirs): (&dyn Files, &Dirs),
    streams: &mut Streams<'_>,
) -> Result<CompletionOutcome, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start: {error}"))?;
    runtime.block_on(async {
        let mut setup = Setup::find(files, dirs).await;
        for problem in std::mem::take(&mut setup.problems) {
            print_notice(streams, &problem);
        }
        let (model, routes) = choose(name, &mut setup)?;
        let (usage_store, _) = open_ledger(dirs, streams)?;
        let router = routing::start(routes, &setup.settings, usage_store.clone());
        let outcome = drive(&router, model, query).await;
        router.idle().await;
        if let Err(error) = usage_store.flush() {
            print_notice(streams, &error.to_string());
        }
        Ok(outcome)
    })
}

/// Returns the model that `name` denotes, and the routes to all models.
pub(super) fn choose(
    name: &str,
    setup: &mut Setup,
) -> Result<(TabModel, Vec<RouteConfig>), String> {
    if name == DEMO {
        let mut route = setup::demo().map_err(error_text)?;
        route.profile.fim = Some(FimFormat::Endpoint);
        let id = route.route.model.clone();
        let kind = TabKind::Gap;
        let model = TabModel {
            id,
            kind,
            is_serial: false,
        };
        return Ok((model, vec![route]));
    }
    if name != "auto" {
        let id = ModelId::parse(name).ok_or_else(|| {
            format!("unknown provider \"{name}\": write local, auto, {DEMO}, or provider/model")
        })?;
        setup.add_named(&id).ok_or_else(|| {
            format!(
                "there is no provider \"{}\"; `burin-agent models` lists them",
                id.provider
            )
        })?;
    }
    let chosen = autocomplete::choose(name, &setup.tab_candidates());
    let chosen = chosen.map_err(|error| error.to_string())?;
    let model = chosen.ok_or(
        "there is no model for Tab: start a server with one that fills gaps or predicts edits, or set the variable of \
         a provider that has one; `--provider local` needs none",
    )?;
    Ok((model, setup.routes()))
}

/// An event of a response, with its request.
type RequestEvent = (RequestId, RouterEvent);

/// Drives the engine of Tab with this model until the model's response ends.
pub(super) async fn drive(
    router: &RouterHandle,
    model: TabModel,
    query: &CompletionQuery<'_>,
) -> CompletionOutcome {
    let clock = RealClock::default();
    let provider = model.id.to_string();
    let mut engine = CompletionEngine::new(EngineOptions {
        root: Some(query.project.root.clone()),
        ..EngineOptions::model(model)
    });
    let mut answers: SelectAll<BoxStream<'static, RequestEvent>> = select_all([]);
    for edit in query.past.edits() {
        // Earlier edits become history and cause no requests.
        let input = EngineInput::EditedElsewhere(Box::new(edit.clone()));
        drop(engine.handle(clock.elapsed(), input, &EmptyContextSource));
    }
    let state = query.past.state(&query.state);
    let mut effects = engine.handle(
        clock.elapsed(),
        EngineInput::Requested { state },
        &EmptyContextSource,
    );
    let mut failure = None;
    let mut open = Vec::new();
    loop {
        for effect in effects.drain(..) {
            match effect {
                EngineEffect::Ask { request, body } => {
                    open.push(request);
                    let events = router.submit(router_request(body));
                    answers.push(events.map(move |event| (request, event)).boxed());
                }
                EngineEffect::Cancel { request } => open.retain(|it| *it != request),
                _ => {}
            }
        }
        let next = tokio::time::timeout(PATIENCE, answers.next()).await;
        let Ok(Some((request, event))) = next else {
            break;
        };
        if !open.contains(&request) {
            continue;
        }
        let RouterEvent::Event(event) = event else {
            continue;
        };
        if let StreamEvent::Failed(failed) = &event {
            failure = Some(failed.class);
        }
        let is_last = event.is_last();
        effects = engine.handle(
            clock.elapsed(),
            EngineInput::Stream { request, event },
            &EmptyContextSource,
        );
        // A prefetch is only useful while the user keeps typing.
        if is_last || engine.in_flight() == 0 {
            break;
        }
    }
    outcome(&engine, provider, failure)
}

fn outcome(
    engine: &CompletionEngine,
    provider: String,
    failure: Option<FailureClass>,
) -> CompletionOutcome {
    CompletionOutcome {
        provider,
        suggestions: engine.current_suggestion().cloned().into_iter().collect(),
        status: engine.status().to_string(),
        failure,
    }
}
