//! A harness with real tools, files and ledger, and a scripted model that answers at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use ::agent::budget::BudgetLimits;
use ::agent::compact::PlannedCompactor;
use ::agent::context::{ProjectContexts, SessionEnvironment, TrustedFolders};
use ::agent::engine::{
    Harness, HarnessParts, ModelGateway, SessionChannels, SessionLimits, SessionOptions, start,
};
use ::agent::record::{SessionMode, TurnEnd};
use ::agent::rules::{PermissionRules, RulePolicy, UnmatchedCalls};
use ::agent::services::SessionServices;
use ::agent::session::{AgentEvent, SessionCommand, UserPrompt};
use ::agent::store::SessionStore;
use ::agent::tool::ToolResult;
use ::agent::tools::{self, ToolOptions};
use ::agent::{CallObserver, ObservedCall};
use base::{AbsPath, NameRules};
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt};
use host::{RealClock, RealFiles};
use ledger::Ledger;
use model::{ParallelTools, Price, Profile, StopReason, StreamEvent as Piece, TokenCount, Usage};
use router::actor::{RequestPayload, RouterEvent, RouterRequest};
use serde_json::Value;
use tempfile::TempDir;

/// The calls of one answer: tool and arguments.
pub(super) type Calls = Vec<(&'static str, Value)>;
/// Returns the calls of the model in a step, counted from 0; no calls end the turn.
pub(super) type Plan = dyn Fn(usize) -> Calls + Send + Sync;

/// An event in a session.
#[derive(Clone, Debug)]
pub(super) enum Moment {
    /// The model was asked.
    Asked,
    /// Its answer was delivered completely.
    Answered,
    /// A tool began.
    Began,
    /// A tool ended.
    Ended,
}

/// The events so far with their times, in order.
pub(super) type Moments = Arc<Mutex<Vec<(Moment, Instant)>>>;

/// A project folder for sessions; removed on drop.
pub(super) struct World {
    harness: Arc<Harness>,
    root: AbsPath,
    pub(super) moments: Moments,
    _folder: TempDir,
}

/// A running session.
pub(super) struct Session(SessionChannels);

impl World {
    /// Creates a world whose model follows `plan` in every session.
    pub(super) fn new(plan: Arc<Plan>) -> Result<Self, String> {
        let folder =
            tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
        let real = folder.path().canonicalize();
        let real = real.map_err(|error| format!("no temporary folder: {error}"))?;
        let path = AbsPath::new(real).ok_or("the temporary folder has no absolute path")?;
        let root = path.join("project");
        std::fs::create_dir_all(&root).map_err(|error| format!("no project: {error}"))?;
        let sources = Arc::new(SessionServices {
            files: Arc::new(RealFiles),
            clock: Arc::new(RealClock::default()),
            state: path.join("state"),
            buffers: None,
            search: None,
        });
        let opened = Ledger::open(&path.join("ledger.db"), 1).map_err(|error| error.to_string())?;
        let mut options = ToolOptions::new(&sources);
        options.reaches_private = true;
        let rooms = options.states.clone();
        let moments = Moments::default();
        let contexts = ProjectContexts::new(sources.clone(), TrustedFolders::all(), None, |_| {
            SessionEnvironment::of_machine(None)
        });
        let harness = Harness::new(HarnessParts {
            store: SessionStore::start(opened.ledger).map_err(|error| error.to_string())?,
            models: Arc::new(Playing {
                plan,
                steps: Mutex::default(),
                moments: moments.clone(),
                profile: Arc::new(Profile {
                    tools: Some(true),
                    context: TokenCount(10_000_000),
                    parallel: ParallelTools::Allowed,
                    ..Profile::harmless()
                }),
            }),
            tools: tools::all(&options),
            observer: Some(Arc::new(TimedCalls(moments.clone()))),
            contexts: Arc::new(contexts),
            compactor: Arc::new(PlannedCompactor),
            limits: SessionLimits::default(),
            on_session_end: Arc::new(move |session| rooms.close_session(session)),
            sources,
        });
        Ok(Self {
            harness,
            root,
            moments,
            _folder: folder,
        })
    }

    /// Writes a file of the project.
    pub(super) fn write(&self, path: &str, text: &str) -> Result<(), String> {
        std::fs::write(self.root.join(path), text).map_err(|error| format!("{path}: {error}"))
    }

    /// Starts a session.
    pub(super) fn session(&self) -> Session {
        let (allowed, _) =
            PermissionRules::of(&serde_json::json!({ "allow": ["*"] }), "", NameRules::EXACT);
        Session(start(SessionOptions {
            tools: Vec::new(),
            harness: self.harness.clone(),
            root: self.root.clone(),
            model: "bench/model".to_owned(),
            mode: SessionMode::Build,
            call_judge: Arc::new(RulePolicy::new(
                allowed,
                UnmatchedCalls::Ordinary,
                |_, _| Ok(()),
            )),
            has_user: false,
            budget: BudgetLimits::default(),
            effort: None,
            hooks: None,
            sandbox: None,
            edit_diagnostics: None,
            prompt_sources: None,
            parent: None,
            variant: None,
        }))
    }

    /// Returns the events since the last call.
    pub(super) fn take(&self) -> Vec<(Moment, Instant)> {
        std::mem::take(&mut *lock(&self.moments))
    }
}

impl Session {
    /// Runs a turn to its end.
    pub(super) async fn turn(&mut self) -> Result<(), String> {
        let prompt = UserPrompt {
            text: "Go on.".to_owned(),
            images: Vec::new(),
        };
        let sent = self.0.commands.send(SessionCommand::Prompt(prompt)).await;
        sent.map_err(|_| "the session has ended".to_owned())?;
        while let Some(event) = self.0.events.recv().await {
            match event {
                AgentEvent::Idle(TurnEnd::Done) => return Ok(()),
                AgentEvent::Idle(end) => return Err(format!("a turn ended otherwise: {end:?}")),
                _ => {}
            }
        }
        Err("the session has ended".to_owned())
    }
}

/// A model that follows the plan.
struct Playing {
    plan: Arc<Plan>,
    /// Number of requests of each session.
    steps: Mutex<HashMap<String, usize>>,
    moments: Moments,
    profile: Arc<Profile>,
}

impl ModelGateway for Playing {
    fn ask(&self, ask: RouterRequest) -> BoxStream<'static, RouterEvent> {
        note(&self.moments, Moment::Asked);
        let session = match ask.payload {
            RequestPayload::Chat(request) => request.conversation.unwrap_or_default(),
            RequestPayload::Fim(_) => String::new(),
        };
        let mut steps = lock(&self.steps);
        let step = steps.entry(session).or_default();
        let calls = (self.plan)(*step);
        let pieces = pieces(*step, &calls);
        *step += 1;
        let moments = self.moments.clone();
        let told = stream::iter(pieces).inspect(move |piece| {
            if matches!(piece, Piece::Stop { .. }) {
                note(&moments, Moment::Answered);
            }
        });
        told.map(RouterEvent::Event).boxed()
    }

    fn profile(&self, _model: &str) -> Arc<Profile> {
        self.profile.clone()
    }

    fn price(&self, _model: &str) -> Option<Price> {
        Some(Price::FREE)
    }
}

fn pieces(step: usize, calls: &Calls) -> Vec<Piece> {
    let mut pieces = vec![
        Piece::Start {
            id: format!("answer-{step}"),
            model: "model".to_owned(),
        },
        Piece::TextDelta(format!("Step {step}.")),
    ];
    for (index, (tool, arguments)) in (0..).zip(calls) {
        pieces.push(Piece::ToolStart {
            index,
            id: format!("call-{step}-{index}"),
            name: (*tool).to_owned(),
        });
        pieces.push(Piece::ToolArgsDelta {
            index,
            fragment: arguments.to_string(),
        });
        pieces.push(Piece::ToolEnd { index });
    }
    pieces.push(Piece::Usage(Usage::default()));
    let (reason, raw) = if calls.is_empty() {
        (StopReason::EndTurn, "end_turn")
    } else {
        (StopReason::ToolUse, "tool_use")
    };
    let raw = raw.to_owned();
    pieces.push(Piece::Stop { reason, raw });
    pieces
}

/// Records the start and end of every call.
struct TimedCalls(Moments);

impl CallObserver for TimedCalls {
    fn observe<'a>(
        &'a self,
        _call: ObservedCall<'a>,
        run: BoxFuture<'a, ToolResult>,
    ) -> BoxFuture<'a, ToolResult> {
        async move {
            note(&self.0, Moment::Began);
            let answer = run.await;
            note(&self.0, Moment::Ended);
            answer
        }
        .boxed()
    }
}

fn note(moments: &Moments, moment: Moment) {
    lock(moments).push((moment, Instant::now()));
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
