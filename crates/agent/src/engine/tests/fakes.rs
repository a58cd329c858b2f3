//! Test fixtures for sessions: a temporary ledger, scripted models, tools controlled by their
//! arguments.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use base::AbsPath;
use futures::FutureExt;
use futures::future::BoxFuture;
use host::{FakeClock, FakeFiles, TempFolder};
use ledger::Ledger;
use model::{Profile, ResponseScript, ScriptedClient, ToolInput, ToolSpec};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::super::{
    Compactor, ContextProvider, Harness, HarnessParts, ScriptedGateway, SessionChannels,
    SessionLimits, SessionOptions, start,
};
use super::doubles::{NoContext, PlainCompactor, RuleContext};
use crate::budget::BudgetLimits;
use crate::compact::PlannedCompactor;
use crate::outcome::CallOutcome;
use crate::permission::{PermissionPolicy, PermissionVerdict};
use crate::record::{SessionMode, SessionRecord, Stored, TurnEnd};
use crate::services::SessionServices;
use crate::session::{AgentEvent, SessionCommand, UserPrompt};
use crate::store::SessionStore;
use crate::tool::{
    CallInput, LockScope, Tool, ToolAccess, ToolCall, ToolClass, ToolContext, ToolResult,
};
use crate::transcript::{Transcript, problems};
use crate::user_prompts::PermissionDecision;

/// Allows every call.
pub(super) struct AllowAll;

impl PermissionPolicy for AllowAll {
    fn evaluate(
        &self,
        _: &dyn Tool,
        _: &ToolCall,
        _: &ToolAccess,
        _: SessionMode,
    ) -> PermissionVerdict {
        PermissionVerdict::Allow
    }

    fn remember(
        &self,
        _: &dyn Tool,
        _: &ToolCall,
        _: &ToolAccess,
        _: &PermissionDecision,
    ) -> Result<(), crate::Error> {
        Ok(())
    }
}

/// Log of the tools, in order: `+id` when a call starts and `-id` when it ends.
pub(super) type Log = Arc<Mutex<Vec<String>>>;

/// A tool controlled by its arguments: `ms` to wait, `say`, `fill` with this many characters,
/// `reads`, `writes`, `fail`, `panic`, `heeds` the stop, `ask`.
pub(super) struct FakeTool {
    pub(super) name: &'static str,
    pub(super) class: ToolClass,
    pub(super) log: Log,
}

impl Tool for FakeTool {
    fn name(&self) -> &str {
        self.name
    }

    fn spec(&self, _profile: &Profile) -> Option<ToolSpec> {
        Some(ToolSpec {
            name: self.name.to_owned(),
            description: format!("A fake called {}.", self.name),
            input: ToolInput::Json(json!({
                "type": "object",
                "properties": { "ms": { "type": "integer" }, "say": { "type": "string" } },
            })),
        })
    }

    fn class(&self) -> ToolClass {
        self.class
    }

    fn access(&self, call: &ToolCall, _context: &ToolContext) -> Result<ToolAccess, ToolResult> {
        let paths = |name: &str| -> Vec<LockScope> {
            let list = value(call).get(name).and_then(Value::as_array).cloned();
            let paths = list.unwrap_or_default();
            let paths = paths.iter().filter_map(Value::as_str);
            paths.map(|path| LockScope::Path(path.to_owned())).collect()
        };
        Ok(ToolAccess {
            reads: paths("reads"),
            writes: paths("writes"),
            title: format!("{} {}", self.name, call.id),
            ..ToolAccess::default()
        })
    }

    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        _access: &'a ToolAccess,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult> {
        async move {
            let input = value(call);
            let text = |name: &str| input.get(name).and_then(Value::as_str);
            self.log(format!("+{}", call.id));
            let pause = Duration::from_millis(input.get("ms").and_then(Value::as_u64).unwrap_or(0));
            let mut stop = context.stop.clone();
            if input.get("heeds") == Some(&Value::Bool(true)) {
                tokio::select! {
                    () = tokio::time::sleep(pause) => {}
                    stopped = stop.wait_for(|stop| *stop) => {
                        assert!(stopped.is_ok());
                        self.log(format!("!{}", call.id));
                        return ToolResult::new(CallOutcome::UserAborted, "stopped half way");
                    }
                }
            } else if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
            if let Some(question) = text("ask") {
                let answer = context.prompts.ask(crate::user_prompts::UserQuestion {
                    text: question.to_owned(),
                    options: Vec::new(),
                });
                let answer = answer.await.unwrap_or_else(|| "nobody".to_owned());
                return ToolResult::ok(answer);
            }
            assert!(text("panic").is_none(), "the fake was told to");
            self.log(format!("-{}", call.id));
            match text("fail") {
                Some(why) => ToolResult::new(CallOutcome::UnexpectedEnvironment, why),
                None => {
                    let fill = input.get("fill").and_then(Value::as_u64).unwrap_or(0);
                    let said = text("say").unwrap_or("done");
                    ToolResult::ok(format!("{said}{}", "x".repeat(fill as usize)))
                }
            }
        }
        .boxed()
    }
}

impl FakeTool {
    fn log(&self, what: String) {
        self.log.lock().expect("the log").push(what);
    }
}

fn value(call: &ToolCall) -> Value {
    match &call.input {
        CallInput::Json(value) => value.clone(),
        CallInput::Text(text) => Value::String(text.clone()),
    }
}

/// Everything that sessions need.
pub(super) struct World {
    /// Keeps the ledger alive: dropping the folder removes it.
    _folder: TempFolder,
    pub(super) client: ScriptedClient,
    pub(super) harness: Arc<Harness>,
    pub(super) log: Log,
}

pub(super) fn tools(log: &Log) -> Vec<Arc<dyn Tool>> {
    let tool = |name, class| {
        let log = log.clone();
        Arc::new(FakeTool { name, class, log }) as Arc<dyn Tool>
    };
    vec![
        tool("look", ToolClass::Read),
        tool("edit", ToolClass::Edit),
        tool("exec", ToolClass::Execute),
    ]
}

pub(super) fn world(scripts: impl IntoIterator<Item = ResponseScript>) -> World {
    world_with(
        ScriptedGateway::new(ScriptedClient::new(scripts)),
        SessionLimits::default(),
    )
}

pub(super) fn world_with(mind: ScriptedGateway, limits: SessionLimits) -> World {
    let client = mind.client.clone();
    world_of(Arc::new(mind), client, limits)
}

/// Creates a world whose models answer by a rule on the request.
pub(super) fn world_by(
    rule: impl Fn(&model::ModelRequest) -> ResponseScript + Send + Sync + 'static,
) -> World {
    let client = ScriptedClient::default();
    world_of(Arc::new(RuleMind(rule)), client, SessionLimits::default())
}

/// Creates a world with the compactor of the program, whose context adds a rule to the first prompt.
pub(super) fn world_planned(mind: ScriptedGateway, limits: SessionLimits, rule: &str) -> World {
    let client = mind.client.clone();
    let contexts = Arc::new(RuleContext(Some(rule.to_owned())));
    let compactor = Arc::new(PlannedCompactor);
    world_with_parts(Arc::new(mind), client, limits, (contexts, compactor))
}

fn world_of(
    mind: Arc<dyn super::super::ModelGateway>,
    client: ScriptedClient,
    limits: SessionLimits,
) -> World {
    let contexts = Arc::new(NoContext("You are a test.".to_owned()));
    let compactor = Arc::new(PlainCompactor);
    world_with_parts(mind, client, limits, (contexts, compactor))
}

fn world_with_parts(
    mind: Arc<dyn super::super::ModelGateway>,
    client: ScriptedClient,
    limits: SessionLimits,
    (contexts, compactor): (Arc<dyn ContextProvider>, Arc<dyn Compactor>),
) -> World {
    let folder = TempFolder::new().expect("a folder");
    let ledger = Ledger::open(&folder.path().join("ledger.db"), 1)
        .expect("a ledger")
        .ledger;
    let log = Log::default();
    let harness = Harness::new(HarnessParts {
        store: SessionStore::start(ledger).expect("a store"),
        sources: Arc::new(SessionServices {
            files: Arc::new(FakeFiles::new()),
            clock: Arc::new(FakeClock::at(1_000_000)),
            state: AbsPath::new("/state").expect("absolute"),
            buffers: None,
            search: None,
        }),
        models: mind,
        tools: tools(&log),
        observer: None,
        contexts,
        on_session_end: Arc::new(|_| {}),
        compactor,
        limits,
    });
    World {
        _folder: folder,
        client,
        harness,
        log,
    }
}

impl World {
    pub(super) fn begin(&self) -> SessionOptions {
        self.begin_with(Arc::new(AllowAll))
    }

    pub(super) fn begin_with(&self, judge: Arc<dyn PermissionPolicy>) -> SessionOptions {
        SessionOptions {
            harness: self.harness.clone(),
            tools: Vec::new(),
            root: AbsPath::new("/work").expect("absolute"),
            model: "test/model".to_owned(),
            mode: SessionMode::Build,
            variant: None,
            call_judge: judge,
            has_user: true,
            budget: BudgetLimits::default(),
            effort: None,
            hooks: None,
            sandbox: None,
            edit_diagnostics: None,
            prompt_sources: None,
            parent: None,
        }
    }

    pub(super) fn open(&self) -> Talk {
        Talk::new(start(self.begin()))
    }

    pub(super) fn log(&self) -> Vec<String> {
        self.log.lock().expect("the log").clone()
    }

    /// Returns the records of a session in the ledger, once all are on the disk.
    pub(super) async fn kept(&self, session: &str) -> Vec<Stored> {
        self.harness.store().flush().await.expect("flushed");
        self.harness.store().read(session).expect("read").records
    }
}

/// A session and its events so far.
pub(super) struct Talk {
    pub(super) id: Arc<str>,
    pub(super) commands: mpsc::Sender<SessionCommand>,
    events: mpsc::Receiver<AgentEvent>,
    pub(super) told: Vec<AgentEvent>,
}

impl Talk {
    pub(super) fn new(opened: SessionChannels) -> Self {
        Self {
            id: opened.id,
            commands: opened.commands,
            events: opened.events,
            told: Vec::new(),
        }
    }

    pub(super) async fn tell(&self, command: SessionCommand) {
        self.commands.send(command).await.expect("it listens");
    }

    pub(super) async fn say(&self, text: &str) {
        self.tell(SessionCommand::Prompt(prompt(text))).await;
    }

    /// Waits for the next event.
    pub(super) async fn next(&mut self) -> AgentEvent {
        // No timeout: the paused clock would jump to it while the ledger's thread writes.
        let event = self.events.recv().await.expect("it is there");
        self.told.push(event.clone());
        event
    }

    /// Takes the events that are already there.
    pub(super) fn drain(&mut self) {
        while let Ok(event) = self.events.try_recv() {
            self.told.push(event);
        }
    }

    /// Waits for an event of this kind.
    pub(super) async fn until(&mut self, is_it: impl Fn(&AgentEvent) -> bool) -> AgentEvent {
        loop {
            let event = self.next().await;
            if is_it(&event) {
                return event;
            }
        }
    }

    /// Waits for the end of the turn.
    pub(super) async fn end(&mut self) -> TurnEnd {
        match self
            .until(|event| matches!(event, AgentEvent::Idle(_)))
            .await
        {
            AgentEvent::Idle(end) => end,
            _ => unreachable!("it was looked for"),
        }
    }

    /// Pins or unpins a record and waits for the record of it.
    pub(super) async fn ask_pin(&mut self, record: u64, is_pinned: bool) {
        self.tell(SessionCommand::Pin { record, is_pinned }).await;
        let kind = if is_pinned { "pinned" } else { "unpinned" };
        self.until(|event| matches!(event, AgentEvent::Recorded(it) if it.record.kind() == kind))
            .await;
    }

    /// Sends a prompt and waits for the end of the turn.
    pub(super) async fn ask(&mut self, text: &str) -> TurnEnd {
        self.say(text).await;
        self.end().await
    }

    pub(super) async fn close(mut self) -> Vec<AgentEvent> {
        self.tell(SessionCommand::Close).await;
        self.until(|event| matches!(event, AgentEvent::Closed))
            .await;
        self.told
    }

    /// Returns the records received as events.
    pub(super) fn records(&self) -> Vec<Stored> {
        records(&self.told)
    }

    /// Returns the end of each call: id, outcome, text.
    pub(super) fn ends(&self) -> Vec<(String, CallOutcome, String)> {
        let records = self.records();
        let ends = records.iter().filter_map(|stored| match &stored.record {
            SessionRecord::CallEnded {
                call,
                outcome,
                content,
                ..
            } => Some((call.clone(), *outcome, crate::stored_parts::texts(content))),
            _ => None,
        });
        ends.collect()
    }
}

pub(super) fn records(events: &[AgentEvent]) -> Vec<Stored> {
    let records = events.iter().filter_map(|event| match event {
        AgentEvent::Recorded(stored) => Some(stored.as_ref().clone()),
        _ => None,
    });
    records.collect()
}

pub(super) fn prompt(text: &str) -> UserPrompt {
    UserPrompt {
        text: text.to_owned(),
        images: Vec::new(),
    }
}

/// Returns the kinds of records, in order.
pub(super) fn kinds(records: &[Stored]) -> Vec<&'static str> {
    records.iter().map(|stored| stored.record.kind()).collect()
}

/// Asserts that every call ended exactly once, sequence numbers have no gap, and every wire accepts
/// the transcript.
pub(super) fn assert_whole(records: &[Stored]) {
    let mut open = std::collections::BTreeMap::new();
    for (ix, stored) in records.iter().enumerate() {
        assert_eq!(stored.seq, ix as u64, "numbers have no gap");
        match &stored.record {
            SessionRecord::Answered { parts, .. } => {
                for part in parts {
                    if let crate::record::StoredContent::Call { id, .. } = &part.content {
                        open.insert(id.clone(), 0);
                    }
                }
            }
            SessionRecord::CallEnded { call, .. } => *open.entry(call.clone()).or_insert(0) += 1,
            _ => {}
        }
    }
    assert!(
        open.values().all(|ends| *ends == 1),
        "each call ends once: {open:?}"
    );
    let found = problems(&Transcript::of(records).messages());
    assert_eq!(found, Vec::<String>::new());
}

/// A model that answers by a rule on the request. Keeps no state.
pub(super) struct RuleMind<F>(pub(super) F);

impl<F: Fn(&model::ModelRequest) -> ResponseScript + Send + Sync> super::super::ModelGateway
    for RuleMind<F>
{
    fn ask(
        &self,
        ask: router::actor::RouterRequest,
    ) -> futures::stream::BoxStream<'static, router::actor::RouterEvent> {
        let router::actor::RequestPayload::Chat(request) = &ask.payload else {
            panic!("nobody fills gaps here");
        };
        let script = (self.0)(request);
        ScriptedGateway::new(ScriptedClient::new([script])).ask(ask)
    }

    fn profile(&self, _model: &str) -> Arc<Profile> {
        ScriptedGateway::new(ScriptedClient::default()).profile
    }

    fn price(&self, _model: &str) -> Option<model::Price> {
        Some(model::Price::FREE)
    }
}

/// Returns the texts of the last message, and its number of results.
pub(super) fn last(request: &model::ModelRequest) -> (String, usize) {
    let parts = request.messages.last().map_or(&[][..], |last| &last.parts);
    let texts = parts.iter().filter_map(|part| match &part.content {
        model::PartContent::Text(text) => Some(text.as_str()),
        _ => None,
    });
    let text = texts.collect();
    let results = parts
        .iter()
        .filter(|part| matches!(part.content, model::PartContent::ToolResult { .. }));
    (text, results.count())
}

/// Returns the number of calls in a conversation, which is the next call's number.
pub(super) fn calls(request: &model::ModelRequest) -> usize {
    let parts = request.messages.iter().flat_map(|message| &message.parts);
    let calls = parts.filter(|part| matches!(part.content, model::PartContent::ToolCall { .. }));
    calls.count()
}
