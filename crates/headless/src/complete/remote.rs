//! A suggestion from a model: the pipeline of Tab, driven until it shows something or has nothing to wait for.

use std::time::Duration;

use autocomplete::context::NoSource;
use autocomplete::engine::{Ask, Effect, Engine, Input, Options, RequestId, TabKind, TabModel};
use futures::StreamExt;
use futures::stream::{BoxStream, SelectAll, select_all};
use host::{Clock, Dirs, Files, RealClock};
use model::policy::{AgentId, Caller, Class, TurnId};
use model::{Event, FailureClass, FimFormat, ModelId};
use router::actor::{Ask as Asked, LaneConfig, Question as What, RouterHandle, Terms, Told};

use super::{Found, Question};
use crate::ask::{open_book, start};
use crate::models::setup::{self, DEMO, Setup};
use crate::{Streams, tell};

/// Nobody waits longer for a suggestion.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a model suggests.
pub(super) fn ask(
    name: &str,
    question: &Question<'_>,
    (files, dirs): (&dyn Files, &Dirs),
    streams: &mut Streams<'_>,
) -> Result<Found, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start: {error}"))?;
    runtime.block_on(async {
        let mut setup = Setup::find(files, dirs).await;
        for problem in std::mem::take(&mut setup.problems) {
            tell(streams, &problem);
        }
        let (model, lanes) = choose(name, &mut setup)?;
        let (book, _) = open_book(dirs, streams)?;
        let router = start(lanes, &setup.settings, book.clone());
        let found = drive(&router, model, question).await;
        router.idle().await;
        if let Err(error) = book.flush() {
            tell(
                streams,
                &format!("{error}; what was spent is not written down"),
            );
        }
        Ok(found)
    })
}

/// The model that is meant, and every way to a model.
pub(super) fn choose(name: &str, setup: &mut Setup) -> Result<(TabModel, Vec<LaneConfig>), String> {
    if name == DEMO {
        let mut lane = setup::demo()?;
        lane.profile.fim = Some(FimFormat::Endpoint);
        let id = lane.lane.model.clone();
        let kind = TabKind::Gap;
        return Ok((TabModel { id, kind }, vec![lane]));
    }
    if name != "auto" {
        let id = ModelId::parse(name).ok_or_else(|| {
            format!("\"{name}\" is nobody who could be asked: write local, auto, {DEMO}, or provider/model")
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

/// A piece of an answer, and to which request.
type Piece = (RequestId, Told);

pub(super) async fn drive(
    router: &RouterHandle,
    model: TabModel,
    question: &Question<'_>,
) -> Found {
    let clock = RealClock::default();
    let provider = model.id.to_string();
    let mut engine = Engine::new(Options {
        root: Some(question.project.root.clone()),
        model: Some(model),
        threshold: 0.0,
    });
    let mut answers: SelectAll<BoxStream<'static, Piece>> = select_all([]);
    for edit in question.past.edits() {
        // What was typed before is known, and not asked about.
        let input = Input::Edited(Box::new(edit.clone()));
        drop(engine.handle(clock.elapsed(), input, &NoSource));
    }
    let scene = question.past.scene(&question.scene);
    let mut effects = engine.handle(clock.elapsed(), Input::Requested { scene }, &NoSource);
    let mut failure = None;
    let mut open = Vec::new();
    loop {
        for effect in effects.drain(..) {
            match effect {
                Effect::Ask { request, what } => {
                    open.push(request);
                    let told = router.submit(self::question(what));
                    answers.push(told.map(move |told| (request, told)).boxed());
                }
                Effect::Cancel { request } => open.retain(|it| *it != request),
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
        let Told::Event(event) = told else {
            continue;
        };
        if let Event::Failed(failed) = &event {
            failure = Some(failed.class);
        }
        let is_last = event.is_last();
        effects = engine.handle(clock.elapsed(), Input::Stream { request, event }, &NoSource);
        // Whatever is asked for ahead is for somebody who goes on typing.
        if is_last || engine.in_flight() == 0 {
            break;
        }
    }
    found(&engine, provider, failure)
}

fn found(engine: &Engine, provider: String, failure: Option<FailureClass>) -> Found {
    Found {
        provider,
        suggestions: engine.shown().cloned().into_iter().collect(),
        status: engine.status().to_string(),
        failure,
    }
}

/// What is asked for Tab, as the router takes it.
pub(crate) fn question(what: Ask) -> Asked {
    match what {
        Ask::Fim(fim) => Asked::fim(*fim, AgentId(1)),
        Ask::Chat(request) => Asked {
            what: What::Chat(request),
            terms: Terms::named(),
            caller: Caller {
                class: Class::Tab,
                agent: AgentId(1),
                turn: TurnId(0),
            },
        },
    }
}
