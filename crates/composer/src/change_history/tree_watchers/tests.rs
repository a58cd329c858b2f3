//! Recording of the changes that tools make on a real disk.

use std::sync::atomic::{AtomicBool, Ordering};

use agent::services::SessionServices;
use agent::tool::{CallInput, LockScope as Touched, Tool, ToolAccess, ToolCall};
use agent::user_prompts::UserPrompts;
use host::{FakeClock, RealFiles};
use model::{Profile, ToolSpec};
use serde_json::Value;

use super::*;
use crate::change_history::FakeBase;
use crate::change_history::tests::Place;

type Act = Box<dyn Fn() + Send + Sync>;

/// A tool that does something to the disk.
struct Fake {
    class: ToolClass,
    writes: Vec<Touched>,
    act: Act,
    shows: Option<ToolDisplay>,
    /// A call that never ends.
    hangs: AtomicBool,
}

impl Tool for Fake {
    fn name(&self) -> &str {
        "fake"
    }

    fn spec(&self, _profile: &Profile) -> Option<ToolSpec> {
        None
    }

    fn class(&self) -> ToolClass {
        self.class
    }

    fn access(&self, _call: &ToolCall, _context: &ToolContext) -> Result<ToolAccess, ToolResult> {
        Ok(ToolAccess {
            writes: self.writes.clone(),
            command: (self.class == ToolClass::Execute).then(|| "make".to_owned()),
            ..ToolAccess::default()
        })
    }

    fn run<'a>(
        &'a self,
        _call: &'a ToolCall,
        _access: &'a ToolAccess,
        _context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            (self.act)();
            if self.hangs.load(Ordering::Relaxed) {
                std::future::pending::<()>().await;
            }
            let answer = ToolResult::ok("done");
            match &self.shows {
                Some(shown) => answer.with_display(shown.clone()),
                None => answer,
            }
        })
    }
}

struct World {
    place: Arc<Place>,
    watchers: TreeWatchers,
    authored: Arc<Mutex<ChangeHistory>>,
    gate: CallGate,
    stop: watch::Sender<bool>,
}

impl World {
    fn new() -> Self {
        let place = Arc::new(Place::new(&[]));
        let authored = Arc::new(Mutex::new(place.open(FakeBase::default())));
        let watchers = TreeWatchers::default();
        let gate = watchers.add(authored.clone());
        Self {
            place,
            watchers,
            authored,
            gate,
            stop: watch::channel(false).0,
        }
    }

    fn tool(&self, class: ToolClass, writes: &[Touched], files: &'static [&'static str]) -> Fake {
        let place = self.place.clone();
        Fake {
            class,
            writes: writes.to_vec(),
            act: Box::new(move || files.iter().for_each(|path| place.write(path, "x\n"))),
            shows: None,
            hangs: AtomicBool::new(false),
        }
    }

    fn context(&self, turn: u64) -> ToolContext {
        let sources = SessionServices {
            files: Arc::new(RealFiles),
            clock: Arc::new(FakeClock::at(1)),
            state: self.place.state.path().clone(),
            buffers: None,
            search: None,
        };
        ToolContext {
            session: "s".into(),
            turn,
            root: self.place.root.path().clone(),
            sources: Arc::new(sources),
            sandbox: None,
            prompts: UserPrompts::empty(),
            stop: self.stop.subscribe(),
            profile: Arc::new(Profile::harmless()),
            output_tokens: 1000,
            progress: tokio::sync::mpsc::channel(1).0,
            control_changes: tokio::sync::mpsc::unbounded_channel().0,
        }
    }

    async fn call(&self, tool: Fake, turn: u64) {
        observed(&self.watchers, tool, &self.context(turn)).await;
    }

    fn told(&self) -> Vec<String> {
        let authored = lock(&self.authored);
        let changes = authored.changes().iter();
        changes
            .map(|it| format!("{}: {}", it.path, it.author))
            .collect()
    }
}

/// Runs a call of the tool as the engine does.
async fn observed(watchers: &TreeWatchers, tool: Fake, context: &ToolContext) -> ToolResult {
    let call = call();
    let access = tool.access(&call, context).expect("a valid call");
    let observed = ObservedCall {
        class: tool.class(),
        call: &call,
        access: &access,
        context,
    };
    let run = tool.run(&call, &access, context);
    watchers.observe(observed, run).await
}

fn call() -> ToolCall {
    ToolCall {
        id: "c".to_owned(),
        tool: "fake".to_owned(),
        input: CallInput::Json(Value::Null),
        waits: false,
    }
}

fn path(path: &str) -> Touched {
    Touched::Path(path.to_owned())
}

fn tree() -> Touched {
    Touched::Tree(String::new())
}

#[tokio::test]
async fn edits_are_the_agents_and_side_effects_the_commands() {
    let world = World::new();
    world.place.write("mine", "x\n");
    let edit = world.tool(ToolClass::Edit, &[path("a")], &["a"]);
    world.call(edit, 1).await;
    let command = world.tool(ToolClass::Execute, &[tree()], &["b", "c"]);
    world.call(command, 2).await;
    let read = world.tool(ToolClass::Read, &[], &[]);
    world.call(read, 3).await;
    let mut told = world.told();
    told[2..].sort();
    assert_eq!(
        told,
        [
            "a: the agent s (turn 1)",
            "mine: another program",
            "b: a command of the agent s (turn 2)",
            "c: a command of the agent s (turn 2)",
        ]
    );
    let authored = lock(&world.authored);
    let begun: Vec<(u64, u64)> = authored
        .checkpoints()
        .iter()
        .map(|it| (it.turn, it.next.0))
        .collect();
    assert_eq!(begun, [(1, 0), (2, 1), (3, 4)]);
}

#[tokio::test]
async fn background_command_changes_are_attributed_to_the_agent() {
    let world = World::new();
    let mut command = world.tool(ToolClass::Execute, &[tree()], &[]);
    command.shows = Some(ToolDisplay::Command {
        command: "serve".to_owned(),
        code: None,
        output: String::new(),
    });
    world.call(command, 1).await;
    world.place.write("late", "x\n");
    let edit = world.tool(ToolClass::Edit, &[path("late"), path("a")], &["a"]);
    world.call(edit, 2).await;
    assert_eq!(
        world.told(),
        [
            "late: a command of the agent s (turn 1)",
            "a: the agent s (turn 2)"
        ]
    );
}

#[tokio::test]
async fn changes_of_a_cancelled_call_are_recorded() {
    let world = World::new();
    let command = world.tool(ToolClass::Execute, &[tree()], &["half"]);
    command.hangs.store(true, Ordering::Relaxed);
    let (watchers, context) = (world.watchers.clone(), world.context(1));
    let given_up = tokio::spawn(async move {
        observed(&watchers, command, &context).await;
    });
    while world.place.read("half").is_none() {
        tokio::task::yield_now().await;
    }
    given_up.abort();
    while world.told().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(world.told(), ["half: a command of the agent s (turn 1)"]);
}

#[tokio::test]
async fn closed_gate_holds_calls_until_open_or_stop() {
    let world = World::new();
    world.gate.close();
    let tool = world.tool(ToolClass::Edit, &[path("a")], &["a"]);
    let (watchers, context) = (world.watchers.clone(), world.context(1));
    let held = tokio::spawn(async move { observed(&watchers, tool, &context).await.text() });
    let mut waiting = world.gate.waiting();
    waiting.wait_for(|count| *count == 1).await.unwrap();
    assert_eq!(world.place.read("a"), None);
    world.stop.send_replace(true);
    held.await.unwrap();
    assert_eq!(*world.gate.waiting().borrow(), 0);
}

#[tokio::test]
async fn calls_below_an_unregistered_root_are_not_recorded() {
    let world = World::new();
    world.watchers.remove(world.place.root.path());
    let edit = world.tool(ToolClass::Edit, &[path("a")], &["a"]);
    world.call(edit, 1).await;
    assert_eq!(world.told(), Vec::<String>::new());
    assert_eq!(world.place.read("a").as_deref(), Some("x\n"));
}

#[tokio::test]
async fn changes_that_cannot_be_recorded_are_reported() {
    let world = World::new();
    let failure = world.gate.failure();
    let edit = |file: &'static str, text: &'static str| {
        let place = world.place.clone();
        Fake {
            act: Box::new(move || place.write(file, text)),
            ..world.tool(ToolClass::Edit, &[path(file)], &[])
        }
    };
    world.call(edit("a", "one\n"), 1).await;
    assert_eq!(*failure.borrow(), None);
    std::fs::remove_dir_all(world.place.state.path()).unwrap();
    world.call(edit("b", "two\n"), 1).await;
    let sentence = failure.borrow().clone();
    assert!(
        sentence.is_some_and(|sentence| sentence.starts_with("cannot record")),
        "the content has no place"
    );
}

#[tokio::test]
async fn a_hook_that_formats_an_edit_is_a_formatter() {
    let world = World::new();
    world
        .call(world.tool(ToolClass::Edit, &[path("a")], &["a"]), 1)
        .await;
    let tool = world.tool(ToolClass::Edit, &[path("a")], &["a"]);
    let (call, context) = (call(), world.context(1));
    let access = tool.access(&call, &context).expect("a valid call");
    let observed = ObservedCall {
        class: tool.class(),
        call: &call,
        access: &access,
        context: &context,
    };
    let place = world.place.clone();
    let hooks = Box::pin(async move {
        place.write("a", "formatted\n");
        place.write("other", "x\n");
    });
    world.watchers.observe_hooks(observed, hooks).await;
    assert_eq!(
        world.told(),
        [
            "a: the agent s (turn 1)",
            "a: a formatter after an edit of the agent s (turn 1)",
        ]
    );
    assert!(lock(&world.authored).changes()[1].author.is_by_session("s"));
}
