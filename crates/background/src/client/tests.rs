//! Tests clients of a real background process in this program, with the demo model.

mod shells;
mod stdio;

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use agent::SessionCommand;
use agent::record::{SessionMode, SessionRecord, TurnEnd};
use agent::session::{SessionActivity, UserPrompt};
use agent::user_prompts::PermissionDecision;
use futures::executor::block_on;
use host::{Files as _, RealFiles, TempFolder};
use runtime::indexes::IndexRegistry;
use tokio::sync::oneshot;

use super::*;
use crate::server::{BackgroundOptions, BackgroundServer};
use crate::{ask_status, ask_to_stop, launch};

/// A running server and the folders of its user.
struct Served {
    folder: TempFolder,
    dirs: Dirs,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Served {
    fn start() -> Self {
        let folder = TempFolder::new().expect("a folder");
        let dirs = Dirs::under(&folder.path().join("own"));
        let mut served = Self {
            folder,
            dirs,
            end: None,
            thread: None,
        };
        served.run_server(Duration::from_secs(3600));
        served
    }

    fn run_server(&mut self, idle_time: Duration) {
        let options = BackgroundOptions {
            dirs: self.dirs.clone(),
            idle_time,
        };
        let server = BackgroundServer::open(options).expect("no other server");
        let (end, ended) = oneshot::channel();
        self.end = Some(end);
        self.thread = Some(thread::spawn(move || {
            let stopped = async {
                // The server also ends by itself.
                if ended.await.is_err() {
                    std::future::pending::<()>().await;
                }
            };
            let served = runtime().block_on(server.run(stopped));
            served.expect("served");
        }));
    }

    fn stop_server(&mut self) {
        if let Some(end) = self.end.take() {
            end.send(()).ok();
        }
        self.wait();
    }

    /// Waits until the server has ended.
    fn wait(&mut self) {
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the server ends");
        }
    }

    fn client(&self) -> BackgroundAgents {
        self.client_at(self.dirs.clone())
    }

    /// A client that looks for the server in other folders.
    fn client_at(&self, dirs: Dirs) -> BackgroundAgents {
        let own = Dirs::under(&self.folder.path().join("window"));
        own.create().expect("folders");
        let local = EngineServices::new(own.clone(), Arc::default(), IndexRegistry::new(&own));
        let program = no_program(self.folder.path());
        BackgroundAgents::new(dirs, program, Arc::new(local), Arc::default())
    }

    fn new_session(&self) -> NewSession {
        NewSession {
            root: self.folder.path().clone(),
            model: "demo".to_owned(),
            mode: SessionMode::Build,
        }
    }

    fn open(&self, client: &BackgroundAgents, id: &str) -> SessionConnection {
        let root = self.folder.path().clone();
        block_on(client.open(root, id.to_owned())).expect("it is stored")
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop_server();
    }
}

/// A program that does not exist.
fn no_program(folder: &AbsPath) -> ServerProgram {
    ServerProgram {
        path: folder.join("no-program"),
        arguments: Vec::new(),
    }
}

fn runtime() -> tokio::runtime::Runtime {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    runtime.expect("a runtime")
}

fn prompt(text: &str) -> SessionCommand {
    SessionCommand::Prompt(UserPrompt {
        text: text.to_owned(),
        images: Vec::new(),
    })
}

fn record(event: &AgentEvent) -> Option<(u64, &SessionRecord)> {
    match event {
        AgentEvent::Recorded(stored) => Some((stored.seq, &stored.record)),
        _ => None,
    }
}

fn is_turn_end(event: &AgentEvent) -> bool {
    matches!(
        record(event),
        Some((
            _,
            SessionRecord::TurnEnded {
                end: TurnEnd::Done,
                ..
            }
        ))
    )
}

/// Receives events until the turn ends, allows every call, and returns the records by number.
fn finish_turn(session: &mut SessionConnection) -> Vec<(u64, SessionRecord)> {
    let mut records = Vec::new();
    block_on(async {
        while let Some(event) = session.events.next().await {
            if let Some((number, record)) = record(&event) {
                records.push((number, record.clone()));
                if let SessionRecord::LeaveAsked { call, .. } = record {
                    (session.send)(SessionCommand::Decide {
                        call: call.clone(),
                        decision: PermissionDecision::Once,
                    });
                }
            }
            if is_turn_end(&event) {
                return;
            }
        }
        panic!("the session ended before its turn: {records:?}");
    });
    records
}

fn wait_for_activity(client: &BackgroundAgents, id: &str, expected: Option<SessionActivity>) {
    let mut running = client.running();
    block_on(async {
        while let Some(now) = running.next().await {
            let now = now.iter().find(|it| it.id == id).map(|it| it.activity);
            if now == expected {
                return;
            }
        }
        panic!("the list of running sessions ended");
    });
}

#[test]
fn a_session_goes_on_without_its_window_and_is_shown_again() {
    let served = Served::start();
    let window = served.client();
    let session = block_on(window.start(served.new_session())).expect("started");
    let id = session.id.clone();
    (session.send)(prompt("Fix the failing test"));
    wait_for_activity(&window, &id, Some(SessionActivity::WaitingForUser));
    // The window is closed: nothing of it is left.
    drop((session, window));

    let window = served.client();
    wait_for_activity(&window, &id, Some(SessionActivity::WaitingForUser));
    let mut session = served.open(&window, &id);
    let records = finish_turn(&mut session);
    let numbers: Vec<u64> = records.iter().map(|it| it.0).collect();
    let expected: Vec<u64> = (0..numbers.len() as u64).collect();
    assert_eq!(numbers, expected);
    let listed = block_on(window.sessions(served.folder.path().clone())).expect("listed");
    assert_eq!(listed.len(), 1);
}

/// Reads the events of a command to its end. Returns its output, which has no gap from `from` on.
fn whole_output(mut events: BoxStream<'static, CommandFeedEvent>, from: u64) -> Vec<u8> {
    let mut output = Vec::new();
    block_on(async {
        while let Some(one) = events.next().await {
            match one {
                CommandFeedEvent::Output { offset, bytes, .. } => {
                    assert_eq!(offset, from + output.len() as u64);
                    output.extend(bytes);
                }
                CommandFeedEvent::Ended(code) => {
                    assert!(code.is_some());
                    return output;
                }
                CommandFeedEvent::Attached(_) | CommandFeedEvent::Control(_) => {}
            }
        }
        panic!("the command has no end");
    })
}

#[test]
fn the_output_of_a_command_arrives_from_any_offset_on() {
    let served = Served::start();
    let window = served.client();
    let mut session = block_on(window.start(served.new_session())).expect("started");
    (session.send)(prompt("Fix the failing test"));
    let records = finish_turn(&mut session);
    let call = records.iter().find_map(|(_, record)| match record {
        SessionRecord::CallBegan { call, tool, .. } if tool == "exec_command" => Some(call.clone()),
        _ => None,
    });
    let id = AgentCommandId {
        session: session.id.clone(),
        call: call.expect("the demo runs a command"),
        number: 0,
    };
    let whole = whole_output(window.watch_command(id.clone(), 0).events, 0);
    assert!(whole.len() > 10, "{}", String::from_utf8_lossy(&whole));
    let rest = whole_output(window.watch_command(id.clone(), 7).events, 7);
    assert_eq!(rest, whole[7..]);
    // Another run of the process has no such command.
    let other = AgentCommandId { number: 999, ..id };
    let mut events = window.watch_command(other, 0).events;
    assert_eq!(block_on(events.next()), None);
}

#[test]
fn errors_of_the_engines_arrive_as_sentences() {
    let served = Served::start();
    let window = served.client();
    let root = served.folder.path().clone();
    let opened = block_on(window.open(root, "nothing".to_owned()));
    let error = opened.err().expect("there is no such session").to_string();
    assert!(error.contains("nothing"), "{error}");
    let marked = block_on(window.mark_session("nothing".to_owned(), SessionMark::Read));
    assert!(marked.is_err());
}

#[test]
fn only_one_process_serves_a_folder() {
    let served = Served::start();
    let options = BackgroundOptions {
        dirs: served.dirs.clone(),
        idle_time: Duration::from_secs(3600),
    };
    let second = BackgroundServer::open(options).err();
    assert!(matches!(second, Some(crate::Error::RunsAlready)));
}

#[test]
fn a_working_agent_keeps_the_process_alive() {
    let mut served = Served::start();
    let window = served.client();
    let session = block_on(window.start(served.new_session())).expect("started");
    (session.send)(prompt("Fix the failing test"));
    wait_for_activity(&window, &session.id, Some(SessionActivity::WaitingForUser));
    let status = |dirs: &Dirs| runtime().block_on(ask_status(dirs)).expect("it answers");
    let stop = |dirs: &Dirs, force| runtime().block_on(ask_to_stop(dirs, force));
    let now = status(&served.dirs).expect("it runs");
    assert!(now.is_busy(), "{now:?}");
    assert!(!stop(&served.dirs, false).expect("it answers"));
    assert!(stop(&served.dirs, true).expect("it answers"));
    served.wait();
    assert_eq!(status(&served.dirs), None);
    let again = stop(&served.dirs, true);
    assert!(matches!(again, Err(crate::Error::NotRunning)));
}

#[test]
fn an_idle_process_ends() {
    let mut served = Served::start();
    served.stop_server();
    served.run_server(Duration::from_millis(20));
    served.wait();
    let status = runtime().block_on(ask_status(&served.dirs));
    assert_eq!(status.expect("no process"), None);
}

#[test]
fn unsaved_texts_reach_the_process_before_a_prompt() {
    let served = Served::start();
    let unsaved = Arc::new(project::UnsavedTexts::default());
    let own = Dirs::under(&served.folder.path().join("window"));
    own.create().expect("folders");
    let local = EngineServices::new(own.clone(), Arc::default(), IndexRegistry::new(&own));
    let program = no_program(served.folder.path());
    let local = Arc::new(local);
    let window = BackgroundAgents::new(served.dirs.clone(), program, local, unsaved.clone());
    let mut session = block_on(window.start(served.new_session())).expect("started");
    let path = session.root.join("README.md");
    assert!(
        RealFiles.stat(&path).is_ok(),
        "the sample project has the file"
    );
    let mut document = project::Document::new_at(path);
    let origin = text::EditOrigin::user(text::Timestamp(1));
    let start = base::Span::at(base::ByteOffset(0));
    document
        .buffer_mut()
        .replace(start, "unsaved words", &origin);
    unsaved.note(&document);
    (session.send)(prompt("Read @README.md"));
    let records = finish_turn(&mut session);
    let has_text = records.iter().any(|(_, record)| {
        matches!(record, SessionRecord::Joined { text, .. } if text.contains("unsaved words"))
    });
    assert!(has_text, "{records:?}");
}

/// A socket in other folders, whose connections are cut after a number of bytes.
struct Relay {
    dirs: Dirs,
    cuts: Arc<AtomicUsize>,
}

impl Relay {
    /// Connects to the socket of `to`. The sizes say after how many bytes of the server each
    /// connection is cut; later connections stay.
    fn start(folder: &AbsPath, to: &Dirs, sizes: Vec<usize>) -> Self {
        let dirs = Dirs::under(&folder.join("relay"));
        dirs.create().expect("folders");
        let listener = UnixListener::bind(launch::socket(&dirs).expect("a path").as_path());
        let listener = listener.expect("a socket");
        let target = launch::socket(to).expect("a path");
        let cuts: Arc<AtomicUsize> = Arc::default();
        let counted = cuts.clone();
        thread::spawn(move || {
            let sizes = Mutex::new(sizes.into_iter());
            for client in listener.incoming() {
                let client = client.expect("a client");
                let server = UnixStream::connect(target.as_path()).expect("the server");
                let limit = sizes.lock().expect("one thread").next();
                let (from, to) = (client.try_clone(), server.try_clone());
                let (mut from, mut to) = (from.expect("a socket"), to.expect("a socket"));
                thread::spawn(move || std::io::copy(&mut from, &mut to));
                let counted = counted.clone();
                thread::spawn(move || pass_on(server, client, limit, &counted));
            }
        });
        Self { dirs, cuts }
    }
}

/// Passes bytes on until `limit`, then cuts the connection in both directions.
fn pass_on(mut from: UnixStream, mut to: UnixStream, limit: Option<usize>, cuts: &AtomicUsize) {
    let mut left = limit.unwrap_or(usize::MAX);
    let mut buffer = [0; 4096];
    while left > 0 {
        let size = left.min(buffer.len());
        let Ok(read @ 1..) = from.read(&mut buffer[..size]) else {
            break;
        };
        if to.write_all(&buffer[..read]).is_err() {
            break;
        }
        left -= read;
    }
    if left == 0 {
        cuts.fetch_add(1, Ordering::Relaxed);
    }
    from.shutdown(Shutdown::Both).ok();
    to.shutdown(Shutdown::Both).ok();
}

#[test]
fn connections_that_break_anywhere_lose_and_double_nothing() {
    let served = Served::start();
    // After the first bytes of the hello, within records, between them.
    let sizes = [3, 250, 1_000, 1_700, 2_500, 4_000, 6_001, 9_000];
    let relay = Relay::start(served.folder.path(), &served.dirs, sizes.to_vec());
    let window = served.client_at(relay.dirs.clone());
    let mut session = loop {
        // A start that the process may have received is not repeated by itself.
        if let Ok(session) = block_on(window.start(served.new_session())) {
            break session;
        }
    };
    let id = session.id.clone();
    (session.send)(prompt("Fix the failing test"));
    let mut seen: BTreeMap<u64, SessionRecord> = BTreeMap::new();
    for (number, record) in finish_turn(&mut session) {
        assert_eq!(
            seen.insert(number, record),
            None,
            "record {number} came twice"
        );
    }
    assert!(relay.cuts.load(Ordering::Relaxed) >= 4, "nothing was cut");
    // Another window, whose connection is whole, shows the same records.
    let other = served.client();
    let mut again = served.open(&other, &id);
    let expected: BTreeMap<u64, SessionRecord> = finish_turn(&mut again).into_iter().collect();
    assert_eq!(seen, expected);
    let prompts = expected.values();
    let prompts = prompts.filter(|it| matches!(it, SessionRecord::Prompted { .. }));
    assert_eq!(prompts.count(), 1);
}

#[test]
fn a_new_run_of_the_process_gives_prompts_back_that_may_be_lost() {
    let mut served = Served::start();
    let window = served.client();
    let mut session = block_on(window.start(served.new_session())).expect("started");
    let id = session.id.clone();
    (session.send)(prompt("Fix the failing test"));
    wait_for_activity(&window, &id, Some(SessionActivity::WaitingForUser));
    served.stop_server();
    (session.send)(prompt("And then the docs"));
    served.run_server(Duration::from_secs(3600));
    let given = block_on(async {
        while let Some(event) = session.events.next().await {
            if let AgentEvent::GivenBack(prompt) = event {
                return prompt.text;
            }
        }
        panic!("the session ended");
    });
    assert_eq!(given, "And then the docs");
    let listed = block_on(window.sessions(served.folder.path().clone())).expect("listed");
    assert_eq!(listed.iter().filter(|it| it.id == id).count(), 1);
}

#[test]
fn without_a_process_nothing_is_started_for_lists() {
    let folder = TempFolder::new().expect("a folder");
    let dirs = Dirs::under(folder.path());
    dirs.create().expect("folders");
    let local = EngineServices::new(dirs.clone(), Arc::default(), IndexRegistry::new(&dirs));
    let program = no_program(folder.path());
    let window = BackgroundAgents::new(dirs.clone(), program, Arc::new(local), Arc::default());
    let mut running = window.running();
    assert_eq!(block_on(running.next()), Some(Vec::new()));
    // A session needs the process, and says why it cannot be had.
    let started = block_on(window.start(NewSession {
        root: folder.path().clone(),
        model: "demo".to_owned(),
        mode: SessionMode::Build,
    }));
    let error = started.err().expect("there is no program").to_string();
    assert!(error.contains("agents.background"), "{error}");
    assert!(RealFiles.stat(&dirs.state.join("agents.lock")).is_err());
}
