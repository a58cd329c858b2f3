//! Shells of a background process whose windows are closed, killed or cut off.
//!
//! `BURIN_WINDOW_KILLS` sets the number of killed windows.

use std::sync::mpsc::{Receiver, channel};

use super::*;
use crate::shells::tests::{is_gone, launch};
use crate::shells::{ShellEvent, ShellInput};

/// Time after which a shell that does not react fails a test.
const DEADLINE: Duration = Duration::from_secs(60);

/// A shell as a window shows it.
struct ShownShell {
    sender: ShellSender,
    events: Receiver<ShellEvent>,
    output: Vec<u8>,
}

impl ShownShell {
    fn new(shells: &BackgroundShells, id: &str) -> Option<Self> {
        let connection = block_on(shells.attach(id.to_owned())).ok()??;
        let sender = connection.sender();
        let (events, received) = channel();
        connection.follow(move |event| {
            // The test may have ended.
            events.send(event).ok();
        });
        Some(Self {
            sender,
            events: received,
            output: Vec::new(),
        })
    }

    fn type_text(&self, text: &str) {
        self.sender
            .send(ShellInput::Typed(text.as_bytes().to_vec()));
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.output).into_owned()
    }

    /// Reads until the output contains `text`.
    fn shows(&mut self, text: &str) {
        while !self.text().contains(text) {
            let event = self.events.recv_timeout(DEADLINE);
            let event = event.unwrap_or_else(|_| panic!("no {text} after\n{}", self.text()));
            match event {
                ShellEvent::Output { offset, bytes, .. } => {
                    assert_eq!(offset, self.output.len() as u64);
                    self.output.extend(bytes);
                }
                ShellEvent::Ended(code) => panic!("{code:?} after\n{}", self.text()),
                _ => {}
            }
        }
    }

    /// Reads to the end of the shell.
    fn ends(&self) {
        let next = || self.events.recv_timeout(DEADLINE).expect("the end");
        while !matches!(next(), ShellEvent::Ended(_)) {}
    }
}

fn start(served: &Served, shells: &BackgroundShells, script: &str) -> String {
    let launch = launch(served.folder.path(), &["-c", script]);
    block_on(shells.start(launch)).expect("bash runs")
}

const ECHO: &str = "stty -echo; echo pid $$ up; while read -r line; do echo got $line; done";

/// Returns the process id that `ECHO` prints.
fn pid(text: &str) -> String {
    let line = text.lines().find(|line| line.starts_with("pid "));
    let word = line.and_then(|line| line.split(' ').nth(1));
    word.expect("the id").to_owned()
}

#[test]
fn killed_windows_end_no_shell() {
    let kills: usize =
        std::env::var("BURIN_WINDOW_KILLS").map_or(4, |count| count.parse().expect("a number"));
    let served = Served::start();
    let first = served.client();
    let id = start(&served, &first.shells(), ECHO);
    drop(first);
    let mut expected = String::new();
    let mut pids = Vec::new();
    for kill in 0..kills {
        let window = served.client();
        let shells = window.shells();
        let root = Some(served.folder.path().clone());
        let listed = block_on(shells.list(root));
        assert!(listed.iter().any(|it| it.id == id), "{listed:?}");
        let mut shown = ShownShell::new(&shells, &id).expect("it runs");
        shown.shows("up");
        if kill % 2 == 0 {
            shown.type_text(&format!("n{kill}\r"));
            expected.push_str(&format!("got n{kill}\r\n"));
            shown.shows(&expected);
        }
        // A shell whose terminal is closed ends, whatever happens to its window.
        let other = start(&served, &shells, ECHO);
        let mut closed = ShownShell::new(&shells, &other).expect("it runs");
        closed.shows("up");
        pids.push(pid(&closed.text()));
        block_on(shells.end(other)).expect("it ends");
        closed.ends();
    }
    let window = served.client();
    let shells = window.shells();
    let listed = block_on(shells.list(Some(served.folder.path().clone())));
    assert_eq!(listed.len(), 1, "{listed:?}");
    let mut shown = ShownShell::new(&shells, &id).expect("it runs");
    shown.shows(&expected);
    assert_eq!(shown.text().matches("got ").count(), kills.div_ceil(2));
    pids.push(pid(&shown.text()));
    block_on(shells.end(id)).expect("it ends");
    shown.ends();
    assert!(pids.iter().all(|pid| is_gone(pid)), "{pids:?}");
}

#[test]
fn connections_that_break_lose_and_double_no_output() {
    let served = Served::start();
    let direct = served.client();
    let script =
        "stty -echo; echo up; read -r line; echo got $line; seq 1 5000; echo finished; sleep 1000";
    let id = start(&served, &direct.shells(), script);
    let sizes = [3, 250, 1_000, 1_700, 4_000, 9_000, 20_000];
    let relay = Relay::start(served.folder.path(), &served.dirs, sizes.to_vec());
    let window = served.client_at(relay.dirs.clone());
    let shells = window.shells();
    let mut shown = loop {
        if let Some(shown) = ShownShell::new(&shells, &id) {
            break shown;
        }
    };
    shown.type_text("go\r");
    shown.shows("finished");
    assert!(relay.cuts.load(Ordering::Relaxed) >= 4, "nothing was cut");
    let text = shown.text();
    assert_eq!(text.matches("got go").count(), 1, "input came once");
    let numbers: Vec<u32> = text
        .lines()
        .filter_map(|it| it.trim().parse().ok())
        .collect();
    assert_eq!(numbers, (1..=5000).collect::<Vec<_>>());
}

#[test]
fn the_process_ends_with_its_shells() {
    let mut served = Served::start();
    let window = served.client();
    let shells = window.shells();
    let id = start(&served, &shells, "sleep 1000 & echo pid $$ up; wait");
    let mut shown = ShownShell::new(&shells, &id).expect("it runs");
    shown.shows("up");
    let status = runtime().block_on(ask_status(&served.dirs));
    let status = status.expect("it answers").expect("it runs");
    assert!(status.is_busy(), "{status:?}");
    let stop = |force| runtime().block_on(ask_to_stop(&served.dirs, force));
    assert!(!stop(false).expect("it answers"), "a command runs");
    assert!(stop(true).expect("it answers"));
    served.wait();
    assert!(is_gone(&pid(&shown.text())));
}

#[test]
fn a_shell_of_another_run_is_not_found() {
    let mut served = Served::start();
    let window = served.client();
    let id = start(&served, &window.shells(), ECHO);
    served.stop_server();
    served.run_server(Duration::from_secs(3600));
    let again = served.client();
    assert!(ShownShell::new(&again.shells(), &id).is_none());
    let root = Some(served.folder.path().clone());
    assert!(block_on(again.shells().list(root)).is_empty());
}
