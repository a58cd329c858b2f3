//! Commands of external agents in a real sandbox, as users watch them.

use std::sync::Mutex;

use agent::SessionRecord;
use agent::command_feed::{CommandFeedEvent, CommandInput};
use base::AbsPath;
use host::process::{Denial, ProcessExit, SandboxSpawner};
use host::{Files as _, RealFiles, TempFolder};

use super::*;
use crate::sandbox_policy::{Confinement, SessionRoot};

struct World {
    _folder: TempFolder,
    root: AbsPath,
    terminals: HostedTerminals,
    changes: mpsc::UnboundedReceiver<ControlChange>,
}

/// The output that the agent gets.
type Output = Arc<Mutex<Vec<u8>>>;

impl World {
    fn new() -> Self {
        let folder = TempFolder::new().expect("a folder");
        let root = folder.path().join("tree");
        RealFiles.create_folder(&root).expect("a folder");
        let root = RealFiles.canonicalize(&root).expect("it exists");
        let dirs = Dirs::under(&folder.path().join("own"));
        dirs.create().expect("folders");
        let session_root = SessionRoot::for_user_folder(&root);
        let (sandbox, _) = sandbox_policy::sandbox(&dirs, session_root, &Confinement::default());
        let (sender, changes) = mpsc::unbounded_channel();
        let terminals = HostedTerminals {
            session: "s1".to_owned(),
            conditions: CommandConditions {
                feeds: Arc::default(),
                sandbox: Some(sandbox.expect("a sandbox")),
                variables: sandbox_policy::command_variables(&dirs),
            },
            changes: sender,
        };
        Self {
            _folder: folder,
            root,
            terminals,
            changes,
        }
    }

    fn start(&self, line: &str) -> (Arc<dyn TerminalProcess>, Output) {
        let command = TerminalCommand {
            terminal: "term-1".to_owned(),
            program: "sh".to_owned(),
            arguments: vec!["-c".to_owned(), line.to_owned()],
            line: line.to_owned(),
            folder: self.root.clone(),
            variables: vec![("PAGER".into(), "own".into())],
        };
        let output = Output::default();
        let kept = output.clone();
        let sink = Box::new(move |bytes: &[u8]| kept.lock().expect("a lock").extend(bytes));
        let started = self.terminals.start(command, sink);
        (started.expect("it starts"), output)
    }
}

async fn ended(process: &dyn TerminalProcess) -> ProcessExit {
    let mut exit = process.exit();
    let report = *exit.wait_for(Option::is_some).await.expect("an exit");
    report.expect("it ended").exit
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.lock().expect("a lock")).into_owned()
}

#[tokio::test]
async fn a_command_is_watched_taken_over_and_given_back() {
    let mut world = World::new();
    let line = "read line; echo \"got $line with $PAGER\"; echo x > ../outside";
    let (process, output) = world.start(line);
    let feeds = world.terminals.conditions.feeds.clone();
    let running = feeds.running().borrow().clone();
    let [command] = running.as_slice() else {
        panic!("{running:?}");
    };
    assert_eq!(
        (command.command.as_str(), command.sandbox.as_str()),
        (line, "sandbox")
    );
    assert_eq!(
        (command.id.session.as_str(), command.id.call.as_str()),
        ("s1", "term-1")
    );
    assert!(command.has_terminal);
    let mut watch = feeds.watch(&command.id, 0).expect("it runs");
    watch.sender()(CommandInput::Typed(b"hello\r".to_vec()));
    ended(&*process).await;
    let mut printed = Vec::new();
    while let Some(event) = watch.next().await {
        if let CommandFeedEvent::Output { bytes, .. } = event {
            printed.extend(bytes);
        }
    }
    let printed = String::from_utf8_lossy(&printed).into_owned();
    assert!(printed.contains("got hello with own\r\n"), "{printed}");
    assert!(feeds.running().borrow().is_empty());

    let taken = world.changes.recv().await.expect("taken").into_record();
    let given = world.changes.recv().await.expect("given back");
    let given = given.into_record();
    assert!(
        matches!(&taken, SessionRecord::TerminalControl { command, is_taken: true, .. } if command == line),
        "{taken:?}"
    );
    assert!(
        matches!(
            given,
            SessionRecord::TerminalControl {
                is_taken: false,
                typed: 6,
                ..
            }
        ),
        "{given:?}"
    );
    // The agent gets text, and learns what the user typed.
    let text = text(&output);
    assert!(text.contains("got hello with own\n"), "{text}");
    assert!(text.contains("hello<Enter>"), "{text}");
    let outside = world.root.parent().expect("a folder").join("outside");
    assert!(!RealFiles.exists(&outside), "it ran in the sandbox");
}

#[tokio::test]
async fn a_killed_command_ends_and_is_no_longer_listed() {
    let world = World::new();
    let (process, _) = world.start("sleep 300");
    let feeds = world.terminals.conditions.feeds.clone();
    assert_eq!(feeds.running().borrow().len(), 1);
    process.kill();
    assert_ne!(ended(&*process).await, ProcessExit::Exited(0));
    assert!(feeds.running().borrow().is_empty());
}

/// A sandbox that this machine cannot set up.
struct MissingSandbox;

fn missing() -> Result<Arc<dyn SandboxSpawner>, agent::Error> {
    let why = "no layer works here".to_owned();
    Err(agent::Error::SandboxUnavailable(why))
}

impl CommandSandbox for MissingSandbox {
    fn bounds(&self, _: &[Denial]) -> Result<Arc<dyn SandboxSpawner>, agent::Error> {
        missing()
    }

    fn read_only_bounds(&self) -> Result<Arc<dyn SandboxSpawner>, agent::Error> {
        missing()
    }

    fn granted(&self, _: &str) -> Vec<Denial> {
        Vec::new()
    }

    fn rules(&self, _: &str) -> Vec<String> {
        Vec::new()
    }

    fn grant(&self, _: &str, _: &[Denial]) -> Result<(), agent::Error> {
        Ok(())
    }

    fn has_own_worktree(&self) -> bool {
        true
    }
}

#[tokio::test]
async fn without_its_sandbox_no_command_runs() {
    let mut world = World::new();
    world.terminals.conditions.sandbox = Some(Arc::new(MissingSandbox));
    let command = TerminalCommand {
        terminal: "term-1".to_owned(),
        program: "touch".to_owned(),
        arguments: vec!["made".to_owned()],
        line: "touch made".to_owned(),
        folder: world.root.clone(),
        variables: Vec::new(),
    };
    let started = world.terminals.start(command, Box::new(|_: &[u8]| {}));
    assert!(matches!(started, Err(connect::Error::Start(why)) if why.contains("no layer")));
    let feeds = &world.terminals.conditions.feeds;
    assert!(feeds.running().borrow().is_empty());
    assert!(!RealFiles.exists(&world.root.join("made")));
}
