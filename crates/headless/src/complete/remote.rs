//! A suggestion from a model: the pipeline of Tab, driven until it shows something or has nothing to wait for.

use std::time::Duration;

use autocomplete::context::EmptyContextSource;
use autocomplete::engine::{
    CompletionEngine, CompletionRequest, EngineEffect, EngineInput, EngineOptions, RequestId,
    TabKind, TabModel,
};
use futures::StreamExt;
use futures::stream::{BoxStream, SelectAll, select_all};
use host::{Clock, Dirs, Files, RealClock};
use model::policy::{AgentId, Caller, RequestClass, TurnId};
use model::{FailureClass, FimFormat, ModelId, StreamEvent};
use router::actor::{
    RequestPayload as What, RouteConfig, RouterEvent, RouterHandle, RouterRequest as Asked,
    RoutingOptions,
};

use super::{CompletionOutcome, CompletionQuery};
use crate::ask::{open_book, start};
use crate::models::setup::{self, DEMO, Setup};
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
        let (model, lanes) = choose(name, &mut setup)?;
        let (book, _) = open_book(dirs, streams)?;
        let router = start(lanes, &setup.settings, book.clone());
        let found = drive(&router, model, question).await;
        router.idle().await;
        if let Err(error) = book.flush() {
            print_notice(
                streams,
                &format!("{error}; what was spent is not written down"),
            );
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
        let mut lane = setup::demo()?;
        lane.profile.fim = Some(FimFormat::Endpoint);
        let id = lane.route.model.clone();
        let kind = TabKind::Gap;
        return Ok((TabModel { id, kind }, vec![lane]));
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
    Ok((model, setup.lanes()))
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
    let state = question.past.state(&question.state);
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
                EngineEffect::Ask { request, what } => {
                    open.push(request);
                    let told = router.submit(self::question(what));
                    answers.push(told.map(move |told| (request, told)).boxed());
                }
                EngineEffect::Cancel { request } => open.retain(|it| *it != request),
                _ => {}
            }
        }
        let next = tokio::time::timeout(PATIENCE, answers.next()).await;
        let Ok(Some((request, told))) = next else {
            break;
        };
        if !open.contains(&request) {
            continue;
        }
        let RouterEvent::Event(event) = told else {
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

/// Converts a Tab request for the router.
pub(crate) fn question(what: CompletionRequest) -> Asked {
    match what {
        CompletionRequest::Fim(fim) => Asked::fim(*fim, AgentId(1)),
        CompletionRequest::Chat(request) => Asked {
            payload: What::Chat(request),
            options: RoutingOptions::named(),
            caller: Caller {
                class: RequestClass::Tab,
                agent: AgentId(1),
                turn: TurnId(0),
            },
        },
    }
}
