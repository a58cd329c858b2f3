//! Running servers with a scripted server: documents, diagnostics, crashes, and processes that are left.

mod sharing;

use std::collections::BTreeSet;

use base::Span;
use host::process::{ProcessRequest, run};
use host::{Files, RealClock, RealFiles, TempFolder};
use lsp::FileChangeType;
use settings::SettingsSource;
use text::{Buffer, Edit, EditOrigin, Timestamp};

use super::*;
use crate::InstalledServers;

/// A folder with a scripted server for SQL.
struct World {
    folder: TempFolder,
    running: RunningServers,
    changed: Receiver<()>,
}

impl World {
    fn new(behaviour: &str, is_trusted: bool) -> Self {
        let folder = TempFolder::new().expect("a folder");
        let root = folder.path().join("p");
        RealFiles.create_folder(&root).expect("a folder");
        let script = test_support::data("language-server.sh");
        let server = serde_json::json!({
            "command": script.canonicalize().expect("the script"),
            "args": [behaviour],
            "languages": ["SQL"],
        });
        let text = serde_json::json!({ "lsp": { "servers": { "script": server } } }).to_string();
        let (settings, problems) =
            settings::parse(&[(SettingsSource::User, "settings.json", &text)]);
        assert_eq!(problems, []);
        let installed = InstalledServers::new(folder.path().join("servers"));
        let files: Arc<dyn Files> = Arc::new(RealFiles);
        let open = move || FolderServers::open(files, root, settings, installed, is_trusted);
        let (running, changed) = RunningServers::start(RunningOptions {
            open: Box::new(open),
            logs: folder.path().join("logs"),
            clock: Arc::new(RealClock::default()),
        });
        Self {
            folder,
            running,
            changed,
        }
    }

    fn path(&self, name: &str) -> AbsPath {
        self.folder.path().join("p").join(name)
    }

    /// Waits for changes until `result` returns something.
    fn wait<T>(&self, mut result: impl FnMut(&RunningServers) -> Option<T>) -> T {
        loop {
            if let Some(result) = result(&self.running) {
                return result;
            }
            self.changed.recv_blocking().expect("servers that live");
        }
    }

    fn wait_for_state(&self, wanted: impl Fn(&ServerState) -> bool) -> ServerStatus {
        self.wait(|running| {
            let mut statuses = running.statuses().into_iter();
            statuses.find(|status| wanted(&status.state))
        })
    }

    /// Waits until a document has current diagnostics, and returns their messages.
    fn messages(&self, path: &AbsPath, text: &Snapshot) -> Vec<String> {
        self.wait(|running| {
            let (_, found) = running.diagnostics(path).into_iter().next()?;
            let is_current = found.is_current && found.text.revision() == text.revision();
            let messages = found.items.into_iter().map(|item| item.message);
            is_current.then(|| messages.collect())
        })
    }

    /// The ids of all processes that the script had.
    fn pids(&self) -> Vec<String> {
        let bytes = RealFiles.read(&self.path("server-pids"), 1 << 20);
        let text = String::from_utf8(bytes.unwrap_or_default()).expect("text");
        text.lines().map(str::to_owned).collect()
    }

    /// Those of its processes that live.
    fn living(&self) -> BTreeSet<String> {
        let pids = self.pids().into_iter();
        pids.filter(|pid| is_alive(pid, self.folder.path()))
            .collect()
    }
}

/// Returns whether a process lives. A zombie does not.
fn is_alive(pid: &str, folder: &AbsPath) -> bool {
    let request = ProcessRequest::new("ps", folder);
    let output = run(&request.with_arguments(["-o", "stat=", "-p", pid])).expect("ps runs");
    let state = output.text();
    !matches!(state.trim().chars().next(), None | Some('Z'))
}

fn is_running(state: &ServerState) -> bool {
    matches!(state, ServerState::Running { .. })
}

#[test]
fn edits_reach_the_server_and_diagnostics_come_back() {
    let world = World::new("echo", true);
    let path = world.path("a.sql");
    let mut buffer = Buffer::new("one\n");
    world.running.open_document(&path, &buffer.snapshot());
    assert_eq!(world.messages(&path, &buffer.snapshot()), ["one"]);
    let edits = [Edit::new(Span::from(0..3), "two")];
    let change = buffer.edit(&edits, &EditOrigin::user(Timestamp(0)));
    let text = buffer.snapshot();
    world.running.change_document(&path, &change, &text);
    assert_eq!(world.messages(&path, &text), ["two"]);
    world.running.close_document(&path);
    assert!(world.running.diagnostics(&path).is_empty());
}

#[test]
fn changes_of_files_reach_a_server_that_watches_them() {
    let world = World::new("watch", true);
    let (path, text) = (world.path("a.sql"), Snapshot::new("a\n"));
    assert!(!world.running.watches_files());
    world.running.open_document(&path, &text);
    world.wait(|_| (world.messages(&path, &text) == ["it watches"]).then_some(()));
    assert!(world.running.watches_files());
    let event = |name: &str| FileEvent {
        path: world.path(name),
        change: FileChangeType::Changed,
    };
    // An open document is no exception.
    let events = ["a.sql", "b/c.sql", "d.txt"].map(event);
    world.running.files_changed(&events);
    world.wait(|_| (world.messages(&path, &text) == ["changes: 2"]).then_some(()));
}

#[test]
fn a_document_of_an_unknown_language_starts_nothing() {
    let world = World::new("push", true);
    let (other, path) = (world.path("a.unknown"), world.path("a.sql"));
    let text = Snapshot::new("a\n");
    world.running.open_document(&other, &text);
    world
        .running
        .open_document(&path, &Snapshot::new("aé🙂b\n"));
    let status = world.wait_for_state(is_running);
    assert_eq!((status.documents, world.pids().len()), (1, 1));
    assert!(world.running.servers_of(&other).is_empty());
    assert_eq!(world.running.servers_of(&path).len(), 1);
}

#[test]
fn a_crashed_server_starts_again_with_its_documents() {
    let world = World::new("crash-once", true);
    let (path, text) = (world.path("a.sql"), Snapshot::new("aé🙂b\n"));
    world.running.open_document(&path, &text);
    assert_eq!(world.messages(&path, &text), ["it is wrong"]);
    assert_eq!(world.pids().len(), 2);
}

#[test]
fn a_server_that_always_crashes_stays_stopped_until_it_is_restarted() {
    let world = World::new("crash", true);
    world
        .running
        .open_document(&world.path("a.sql"), &Snapshot::new("a\n"));
    let is_failed = |state: &ServerState| matches!(state, ServerState::Failed(_));
    let status = world.wait_for_state(is_failed);
    let reason = "the server exited with code 3: fatal: it fell over; it crashed 5 times";
    assert_eq!(status.state, ServerState::Failed(reason.to_owned()));
    assert_eq!(world.pids().len(), 5);
    world.running.restart(&status.key);
    world.wait(|_| (world.pids().len() > 5).then_some(()));
    world.wait_for_state(is_failed);
    assert_eq!(world.pids().len(), 10);
}

#[test]
fn a_stopped_server_leaves_no_process_and_no_diagnostics() {
    let world = World::new("push", true);
    let (path, text) = (world.path("a.sql"), Snapshot::new("aé🙂b\n"));
    world.running.open_document(&path, &text);
    assert_eq!(world.messages(&path, &text), ["it is wrong"]);
    let key = world.wait_for_state(is_running).key;
    world.running.stop(&key);
    world.wait_for_state(|state| *state == ServerState::Stopped);
    assert_eq!(world.living(), BTreeSet::new());
    assert!(world.running.diagnostics(&path).is_empty());
    world.running.restart(&key);
    assert_eq!(world.messages(&path, &text), ["it is wrong"]);
    assert_eq!(world.pids().len(), 2);
}

#[test]
fn diagnostics_of_a_closed_document_go_with_its_server() {
    let world = World::new("push", true);
    let (path, text) = (world.path("a.sql"), Snapshot::new("aé🙂b\n"));
    world.running.open_document(&path, &text);
    assert_eq!(world.messages(&path, &text), ["it is wrong"]);
    assert!(world.running.closed_diagnostics(&path).is_empty());
    world.running.close_document(&path);
    let closed = world.wait(|running| running.closed_diagnostics(&path).pop());
    assert_eq!(closed.1.message, "it is wrong");
    assert_eq!(closed.1.range.span(&text), Some(Span::from(1..3)));
    let key = world.wait_for_state(is_running).key;
    world.running.take_changes();
    world.running.stop(&key);
    world.wait_for_state(|state| *state == ServerState::Stopped);
    assert!(world.running.closed_diagnostics(&path).is_empty());
    assert!(world.running.take_changes().diagnostics.contains(&path));
}

#[test]
fn files_that_are_not_open_are_diagnosed_again_after_a_save() {
    let world = World::new("workspace", true);
    let (path, text) = (world.path("a.sql"), Snapshot::new("a\n"));
    let other = world.path("b.sql");
    world.running.open_document(&path, &text);
    let found = |running: &RunningServers| running.closed_diagnostics(&other).pop();
    let (server, first) = world.wait(found);
    assert_eq!(server, "script");
    assert!(first.message.starts_with("request "), "{first:?}");
    let status = world.wait_for_state(is_running);
    assert!(status.is_responding);
    world.running.save_document(&path);
    world.wait(|running| found(running).filter(|(_, it)| it.message != first.message));
    assert!(world.running.closed_diagnostics(&path).is_empty());
}

#[test]
fn a_restarted_server_gets_the_latest_text() {
    let world = World::new("echo", true);
    let path = world.path("a.sql");
    let mut buffer = Buffer::new("one\n");
    world.running.open_document(&path, &buffer.snapshot());
    let key = world.wait_for_state(is_running).key;
    world.running.restart(&key);
    let edits = [Edit::new(Span::from(0..3), "two")];
    let change = buffer.edit(&edits, &EditOrigin::user(Timestamp(0)));
    let text = buffer.snapshot();
    world.running.change_document(&path, &change, &text);
    world.wait(|_| (world.pids().len() == 2).then_some(()));
    assert_eq!(world.messages(&path, &text), ["two"]);
    assert_eq!(world.living().len(), 1);
}

#[test]
fn a_crashed_server_leaves_no_children() {
    let world = World::new("brood", true);
    world
        .running
        .open_document(&world.path("a.sql"), &Snapshot::new("a\n"));
    world.wait_for_state(|state| matches!(state, ServerState::Failed(_)));
    assert_eq!(world.pids().len(), 10);
    assert_eq!(world.living(), BTreeSet::new());
}

#[test]
fn a_server_that_hangs_is_reported_until_it_is_restarted() {
    let world = World::new("hang", true);
    let (path, text) = (world.path("a.sql"), Snapshot::new("a\n"));
    world.running.open_document(&path, &text);
    let status = world.wait_for_state(is_running);
    assert!(status.is_responding);
    let server = world.running.servers_of(&path).remove(0).connection;
    let request = server.probe(&path).expect("it is offered");
    world.wait(|running| (!running.statuses()[0].is_responding).then_some(()));
    drop(request);
    world.running.restart(&status.key);
    world.wait(|running| running.statuses()[0].is_responding.then_some(()));
    world.wait(|_| (world.pids().len() == 2).then_some(()));
    world.wait_for_state(is_running);
    assert_eq!(world.living().len(), 1);
}

#[test]
fn the_status_has_the_name_and_the_memory_of_a_server() {
    let world = World::new("silent", true);
    let path = world.path("a.sql");
    world.running.open_document(&path, &Snapshot::new("a\n"));
    let status = world.wait_for_state(is_running);
    assert_eq!(status.name.as_deref(), Some("scripted"));
    let version = Some("1.2".to_owned());
    assert_eq!(status.state, ServerState::Running { version });
    assert_eq!(status.memory, None);
    world.running.measure_memory();
    let memory = world.running.statuses()[0].memory.expect("measured");
    assert!((100_000..100_000_000).contains(&memory), "{memory}");
    let capabilities = world.running.capabilities(&status.key);
    let capabilities = capabilities.expect("connected");
    assert!(capabilities["capabilities"].is_object(), "{capabilities}");
    world.running.stop(&status.key);
    let stopped = world.wait_for_state(|state| *state == ServerState::Stopped);
    assert_eq!((stopped.name, stopped.memory), (None, None));
}

#[test]
fn nothing_starts_in_an_untrusted_folder() {
    let world = World::new("push", false);
    world
        .running
        .open_document(&world.path("a.sql"), &Snapshot::new("a\n"));
    let refusal = world.wait(RunningServers::refusal);
    assert_eq!(refusal, StartRefusal::Untrusted);
    assert!(world.running.statuses().is_empty());
    assert_eq!(world.pids(), Vec::<String>::new());
}

#[test]
fn no_process_is_left_when_the_folder_is_closed() {
    let world = World::new("stubborn", true);
    world
        .running
        .open_document(&world.path("a.sql"), &Snapshot::new("a\n"));
    world.wait_for_state(is_running);
    let World {
        folder,
        running,
        changed,
    } = world;
    drop(running);
    // The channel closes when the last thread of the servers has ended.
    while changed.recv_blocking().is_ok() {}
    let pids = RealFiles.read(&folder.path().join("p/server-pids"), 1 << 20);
    let pids = String::from_utf8(pids.expect("a file")).expect("text");
    for pid in pids.lines() {
        assert!(!is_alive(pid, folder.path()), "{pid}");
    }
}
