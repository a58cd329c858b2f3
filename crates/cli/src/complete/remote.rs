//! A suggestion from a model: the pipeline of Tab, driven until it shows something or has nothing to wait for.

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
use crate::{Streams, print_notice};

/// The maximum wait for a suggestion.
const PATIENCE: Duration = Duration::from_secs(60);

/// Returns a model's suggestions.
pub(super) fn ask(
    name: &str,
    question: &CompletionQuery<'_>,
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
        let found = drive(&router, model, question).await;
        router.idle().await;
        if let Err(error) = usage_store.flush() {
            print_notice(streams, &error.to_string());
        }
        Ok(found)
    })
}

/// The model that is meant, and every way to a model.
pub(super) fn choose(
    name: &str,
    setup: &mut Setup,
) -> Result<(TabModel, Vec<RouteConfig>), String> {
    if name == DEMO {
        let mut route = setup::demo()?;
        route.profile.fim = Some(FimFormat::Endpoint);
        let id = route.route.model.clone();
        let kind = TabKind::Gap;
        return Ok((TabModel { id, kind }, vec![route]));
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
    let chosen = autocomplete::choose(name, &setup.tab_candidates())?;
    let model = chosen.ok_or(
        "there is no model for Tab: start a server with one that fills gaps or predicts edits, or set the variable of \
         a provider that has one; `--provider local` needs none",
    )?;
    Ok((model, setup.routes()))
}

/// An event of an answer, with its request.
type Piece = (RequestId, RouterEvent);

pub(super) async fn drive(
    router: &RouterHandle,
    model: TabModel,
    question: &CompletionQuery<'_>,
) -> CompletionOutcome {
    let clock = RealClock::default();
    let provider = model.id.to_string();
    let mut engine = CompletionEngine::new(EngineOptions {
        root: Some(question.project.root.clone()),
        model: Some(model),
        threshold: 0.0,
    });
    let mut answers: SelectAll<BoxStream<'static, Piece>> = select_all([]);
    for edit in question.past.edits() {
        // Earlier edits become history and cause no requests.
        let input = EngineInput::Edited(Box::new(edit.clone()));
        drop(engine.handle(clock.elapsed(), input, &EmptyContextSource));
    }
    let scene = question.past.scene(&question.scene);
    let mut effects = engine.handle(
        clock.elapsed(),
        EngineInput::Requested { scene },
        &EmptyContextSource,
    );
    let mut failure = None;
    let mut open = Vec::new();
    loop {
        for effect in effects.drain(..) {
            match effect {
                EngineEffect::Ask { request, what } => {
                    open.push(request);
                    let events = router.submit(router_request(what));
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
