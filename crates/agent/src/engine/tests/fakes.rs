//! A world for sessions: a ledger of their own, scripted models, tools that do what their arguments say.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use base::AbsPath;
use futures::FutureExt;
use futures::future::BoxFuture;
use host::{FakeClock, FakeFiles, TempFolder};
use ledger::Ledger;
use model::{Profile, Script, ScriptedClient, ToolInput, ToolSpec};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::super::{
    Harness, HarnessParts, Limits, NoContext, Opened, PlainCompactor, ScriptedMind, Start, start,
};
use crate::ask::Decision;
use crate::leave::{Judge, Verdict};
use crate::outcome::Outcome;
use crate::record::{Mode, Record, Stored, TurnEnd};
use crate::session::{Command, Event, Prompt};
use crate::sources::Sources;
use crate::store::Store;
use crate::tool::{Access, Answer, Call, Input, Scope, Tool, ToolClass, ToolContext};
use crate::transcript::{Transcript, problems};

/// Allows every call.
pub(super) struct AllowAll;

impl Judge for AllowAll {
    fn judge(&self, _: &dyn Tool, _: &Call, _: &Access, _: Mode) -> Verdict {
        Verdict::Allow
    }

    fn learn(&self, _: &dyn Tool, _: &Call, _: &Access, _: &Decision) -> Result<(), String> {
        Ok(())
    }
}

/// What tools did, in order: `+id` where a call begins and `-id` where it ends.
pub(super) type Log = Arc<Mutex<Vec<String>>>;

/// Does what its arguments say: `ms` to wait, `say`, `fill` with so many letters, `reads`, `writes`, `fail`, `panic`, `heeds` the stop, `ask`.
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

    fn access(&self, call: &Call, _context: &ToolContext) -> Result<Access, Answer> {
        let paths = |name: &str| -> Vec<Scope> {
            let list = value(call).get(name).and_then(Value::as_array).cloned();
            let paths = list.unwrap_or_default();
            let paths = paths.iter().filter_map(Value::as_str);
            paths.map(|path| Scope::Path(path.to_owned())).collect()
        };
        Ok(Access {
            reads: paths("reads"),
            writes: paths("writes"),
            title: format!("{} {}", self.name, call.id),
            ..Access::default()
        })
    }

    fn run<'a>(&'a self, call: &'a Call, context: &'a ToolContext) -> BoxFuture<'a, Answer> {
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
                        return Answer::new(Outcome::UserAborted, "stopped half way");
                    }
                }
            } else if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
            if let Some(question) = text("ask") {
                let answer = context.desk.ask(crate::ask::Question {
                    text: question.to_owned(),
                    options: Vec::new(),
                });
                let answer = answer.await.unwrap_or_else(|| "nobody".to_owned());
                return Answer::ok(answer);
            }
            assert!(text("panic").is_none(), "the fake was told to");
            self.log(format!("-{}", call.id));
            match text("fail") {
                Some(why) => Answer::new(Outcome::UnexpectedEnvironment, why),
                None => {
                    let fill = input.get("fill").and_then(Value::as_u64).unwrap_or(0);
                    let said = text("say").unwrap_or("done");
                    Answer::ok(format!("{said}{}", "x".repeat(fill as usize)))
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

fn value(call: &Call) -> Value {
    match &call.input {
        Input::Json(value) => value.clone(),
        Input::Text(text) => Value::String(text.clone()),
    }
}

/// Everything that sessions need.
pub(super) struct World {
    /// Kept, since dropping it removes the ledger.
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

pub(super) fn world(scripts: impl IntoIterator<Item = Script>) -> World {
    world_with(
        ScriptedMind::new(ScriptedClient::new(scripts)),
        Limits::default(),
    )
}

pub(super) fn world_with(mind: ScriptedMind, limits: Limits) -> World {
    let client = mind.client.clone();
    world_of(Arc::new(mind), client, limits)
}

/// A world whose models answer by what they are asked.
pub(super) fn world_by(rule: impl Fn(&model::Request) -> Script + Send + Sync + 'static) -> World {
    let client = ScriptedClient::default();
    world_of(Arc::new(RuleMind(rule)), client, Limits::default())
}

fn world_of(mind: Arc<dyn super::super::Mind>, client: ScriptedClient, limits: Limits) -> World {
    let folder = TempFolder::new().expect("a folder");
    let ledger = Ledger::open(&folder.path().join("ledger.db"), 1)
        .expect("a ledger")
        .ledger;
    let log = Log::default();
    let harness = Harness::new(HarnessParts {
        store: Store::start(ledger).expect("a store"),
        sources: Arc::new(Sources {
            files: Arc::new(FakeFiles::new()),
            clock: Arc::new(FakeClock::at(1_000_000)),
            state: AbsPath::new("/state").expect("absolute"),
            buffers: None,
            search: None,
            diagnostics: None,
            web: None,
        }),
        mind,
        tools: tools(&log),
        contexts: Arc::new(NoContext("You are a test.".to_owned())),
        farewell: Arc::new(|_| {}),
        compactor: Arc::new(PlainCompactor),
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
    pub(super) fn begin(&self) -> Start {
        self.begin_with(Arc::new(AllowAll))
    }

    pub(super) fn begin_with(&self, judge: Arc<dyn Judge>) -> Start {
        Start {
            harness: self.harness.clone(),
            tools: Vec::new(),
            root: AbsPath::new("/work").expect("absolute"),
            model: "test/model".to_owned(),
            mode: Mode::Build,
            judge,
            has_person: true,
            budget: None,
            effort: None,
            hooks: None,
            sandbox: None,
            parent: None,
        }
    }

    pub(super) fn open(&self) -> Talk {
        Talk::new(start(self.begin()))
    }

    pub(super) fn log(&self) -> Vec<String> {
        self.log.lock().expect("the log").clone()
    }

    /// What the ledger has of a session, once everything is on the disk.
    pub(super) async fn kept(&self, session: &str) -> Vec<Stored> {
        self.harness.store().flush().await.expect("flushed");
        self.harness.store().read(session).expect("read").records
    }
}

/// A session and what it told so far.
pub(super) struct Talk {
    pub(super) id: Arc<str>,
    pub(super) commands: mpsc::Sender<Command>,
    events: mpsc::Receiver<Event>,
    pub(super) told: Vec<Event>,
}

impl Talk {
    pub(super) fn new(opened: Opened) -> Self {
        Self {
            id: opened.id,
            commands: opened.commands,
            events: opened.events,
            told: Vec::new(),
        }
    }

    pub(super) async fn tell(&self, command: Command) {
        self.commands.send(command).await.expect("it listens");
    }

    pub(super) async fn say(&self, text: &str) {
        self.tell(Command::Prompt(prompt(text))).await;
    }

    /// The next event.
    pub(super) async fn next(&mut self) -> Event {
        // No timeout: the clock stands still, and would jump to it while the ledger's thread writes.
        let event = self.events.recv().await.expect("it is there");
        self.told.push(event.clone());
        event
    }

    /// Waits for an event of this kind.
    pub(super) async fn until(&mut self, is_it: impl Fn(&Event) -> bool) -> Event {
        loop {
            let event = self.next().await;
            if is_it(&event) {
                return event;
            }
        }
    }

    /// Waits for the end of the turn.
    pub(super) async fn end(&mut self) -> TurnEnd {
        match self.until(|event| matches!(event, Event::Idle(_))).await {
            Event::Idle(end) => end,
            _ => unreachable!("it was looked for"),
        }
    }

    /// Says something and waits for the end of the turn.
    pub(super) async fn ask(&mut self, text: &str) -> TurnEnd {
        self.say(text).await;
        self.end().await
    }

    pub(super) async fn close(mut self) -> Vec<Event> {
        self.tell(Command::Close).await;
        self.until(|event| matches!(event, Event::Closed)).await;
        self.told
    }

    /// The records that were told.
    pub(super) fn records(&self) -> Vec<Stored> {
        records(&self.told)
    }

    /// How each call ended: id, outcome, text.
    pub(super) fn ends(&self) -> Vec<(String, Outcome, String)> {
        let records = self.records();
        let ends = records.iter().filter_map(|stored| match &stored.record {
            Record::CallEnded {
                call,
                outcome,
                content,
                ..
            } => Some((call.clone(), *outcome, crate::parts::texts(content))),
            _ => None,
        });
        ends.collect()
    }
}

pub(super) fn records(events: &[Event]) -> Vec<Stored> {
    let records = events.iter().filter_map(|event| match event {
        Event::Recorded(stored) => Some(stored.as_ref().clone()),
        _ => None,
    });
    records.collect()
}

pub(super) fn prompt(text: &str) -> Prompt {
    Prompt {
        text: text.to_owned(),
        images: Vec::new(),
    }
}

/// The kinds of records in order.
pub(super) fn kinds(records: &[Stored]) -> Vec<&'static str> {
    records.iter().map(|stored| stored.record.kind()).collect()
}

/// Every call has ended exactly once, numbers have no gap, and every wire takes the transcript.
pub(super) fn assert_whole(records: &[Stored]) {
    let mut open = std::collections::BTreeMap::new();
    for (ix, stored) in records.iter().enumerate() {
        assert_eq!(stored.seq, ix as u64, "numbers have no gap");
        match &stored.record {
            Record::Answered { parts, .. } => {
                for part in parts {
                    if let crate::record::StoredContent::Call { id, .. } = &part.content {
                        open.insert(id.clone(), 0);
                    }
                }
            }
            Record::CallEnded { call, .. } => *open.entry(call.clone()).or_insert(0) += 1,
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

/// A model that answers by what it is asked. Keeps nothing.
pub(super) struct RuleMind<F>(pub(super) F);

impl<F: Fn(&model::Request) -> Script + Send + Sync> super::super::Mind for RuleMind<F> {
    fn ask(
        &self,
        ask: router::actor::Ask,
    ) -> futures::stream::BoxStream<'static, router::actor::Told> {
        let router::actor::Question::Chat(request) = &ask.what else {
            panic!("nobody fills gaps here");
        };
        let script = (self.0)(request);
        ScriptedMind::new(ScriptedClient::new([script])).ask(ask)
    }

    fn profile(&self, _model: &str) -> Arc<Profile> {
        ScriptedMind::new(ScriptedClient::default()).profile
    }

    fn price(&self, _model: &str) -> Option<model::Price> {
        Some(model::Price::FREE)
    }
}

/// The texts of the last message, and how many results it holds.
pub(super) fn last(request: &model::Request) -> (String, usize) {
    let parts = request.messages.last().map_or(&[][..], |last| &last.parts);
    let texts = parts.iter().filter_map(|part| match &part.content {
        model::Content::Text(text) => Some(text.as_str()),
        _ => None,
    });
    let text = texts.collect();
    let results = parts
        .iter()
        .filter(|part| matches!(part.content, model::Content::ToolResult { .. }));
    (text, results.count())
}

/// How many calls a conversation holds: the next one's number.
pub(super) fn calls(request: &model::Request) -> usize {
    let parts = request.messages.iter().flat_map(|message| &message.parts);
    let calls = parts.filter(|part| matches!(part.content, model::Content::ToolCall { .. }));
    calls.count()
}
