//! Shells in real pseudo-terminals, without a connection.

use std::sync::Arc;
use std::time::Duration;

use host::environment::{self, Recipient};
use host::{FakeClock, Files as _, RealFiles, TempFolder};
use terminal::ColorSlot;

use super::*;

/// Time after which a program that does not react fails a test.
const DEADLINE: Duration = Duration::from_secs(60);

struct ShellWorld {
    folder: TempFolder,
    clock: Arc<FakeClock>,
    shells: KeptShells,
}

impl ShellWorld {
    fn new() -> Self {
        let clock = Arc::new(FakeClock::at(0));
        Self {
            folder: TempFolder::new().expect("a folder"),
            shells: KeptShells::new("run".to_owned(), clock.clone()),
            clock,
        }
    }

    async fn start(&self, arguments: &[&str]) -> String {
        let launch = launch(self.folder.path(), arguments);
        self.shells.start(launch).await.expect("bash runs")
    }

    fn attach(&self, id: &str, from: u64) -> ReadShell {
        ReadShell {
            watch: self.shells.watch(id, from).expect("it runs"),
            output: Vec::new(),
            from,
        }
    }
}

/// Returns the launch of bash in a folder.
pub(crate) fn launch(folder: &AbsPath, arguments: &[&str]) -> ShellLaunch {
    let mut variables = environment::variables(Recipient::Personal);
    variables.retain(|(name, _)| name != "HOME" && name != "PROMPT_COMMAND" && name != "PS1");
    variables.push(("HOME".into(), folder.as_path().into()));
    variables.push(("PS1".into(), "ready> ".into()));
    // Another program's terminal, in which the window was started.
    variables.push(("BURIN_TREE_1_2_3".into(), "1".into()));
    ShellLaunch {
        root: Some(folder.clone()),
        program: "bash".into(),
        arguments: arguments.iter().map(OsString::from).collect(),
        folder: folder.clone(),
        variables,
        integration: None,
        size: (24, 80),
        scrollback: 1_000,
        colors: vec![(10, 11, 12); ColorSlot::COUNT],
        restored: None,
    }
}

/// Whether no process with this id runs. One that ended and was not collected has no command line.
pub(crate) fn is_gone(pid: &str) -> bool {
    let path = AbsPath::new(format!("/proc/{pid}/cmdline")).expect("absolute");
    let line = RealFiles.read(&path, 1 << 20);
    line.map_or(true, |line| line.is_empty())
}

/// A window that reads the output of a shell.
struct ReadShell {
    watch: ShellWatch,
    output: Vec<u8>,
    from: u64,
}

impl ReadShell {
    async fn next(&mut self) -> ShellEvent {
        let next = tokio::time::timeout(DEADLINE, self.watch.next()).await;
        let event = next.unwrap_or_else(|_| panic!("nothing came after\n{}", self.text()));
        let event = event.expect("the shell runs");
        if let ShellEvent::Output { offset, bytes, .. } = &event {
            assert_eq!(*offset, self.from + self.output.len() as u64);
            self.output.extend(bytes);
        }
        event
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.output).into_owned()
    }

    /// Reads until the output contains `text`.
    async fn shows(&mut self, text: &str) {
        while !self.text().contains(text) {
            self.next().await;
        }
    }

    /// Types lines, after each of which the program prints its size and the line, until the size is this one.
    async fn comes_to_size(&mut self, size: &str) {
        let mut seen = self.output.len();
        while !self.text().contains(size) {
            self.type_text("again\r");
            while !String::from_utf8_lossy(&self.output[seen..]).contains("got again") {
                self.next().await;
            }
            seen = self.output.len();
        }
    }

    fn type_text(&self, text: &str) {
        self.watch.sender()(ShellInput::Typed(text.as_bytes().to_vec()));
    }

    fn resize(&self, rows: u16, columns: u16) {
        self.watch.sender()(ShellInput::Resize { rows, columns });
    }
}

#[tokio::test]
async fn a_program_goes_on_without_a_window() {
    let world = ShellWorld::new();
    let script =
        "echo begin [$BURIN_TREE_1_2_3]; read -r line; seq 1 2000; echo got $line; sleep 1000";
    let id = world.start(&["-c", script]).await;
    let mut first = world.attach(&id, 0);
    first.shows("begin []").await;
    first.type_text("go\r");
    let seen = first.output.clone();
    // The window is killed.
    drop(first);
    let mut second = world.attach(&id, seen.len() as u64);
    second.shows("got go").await;
    let mut whole = world.attach(&id, 0);
    whole.shows("got go").await;
    let joined = [seen, second.output.clone()].concat();
    let length = joined.len().min(whole.output.len());
    assert!(joined[..length] == whole.output[..length]);
    let text = whole.text();
    let numbers: Vec<u32> = text
        .lines()
        .filter_map(|it| it.trim().parse().ok())
        .collect();
    assert_eq!(numbers, (1..=2000).collect::<Vec<_>>());
    world.shells.end(&id).await;
}

#[tokio::test]
async fn closing_a_shell_leaves_no_process() {
    let world = ShellWorld::new();
    let script = "sleep 1000 & echo pid $! $$ up; wait";
    let id = world.start(&["-c", script]).await;
    let mut window = world.attach(&id, 0);
    window.shows("up").await;
    let text = window.text();
    let line = text.lines().find(|line| line.starts_with("pid"));
    let pids: Vec<&str> = line.expect("the ids").split(' ').skip(1).take(2).collect();
    assert_eq!(world.shells.list().await.len(), 1);
    world.shells.end(&id).await;
    assert!(world.shells.list().await.is_empty());
    while !matches!(window.next().await, ShellEvent::Ended(None)) {}
    assert!(pids.iter().all(|pid| is_gone(pid)), "{pids:?}");
    assert!(world.shells.watch(&id, 0).is_none());
}

#[tokio::test]
async fn the_shells_of_a_folder_are_listed_with_their_age() {
    let world = ShellWorld::new();
    let id = world.start(&["-c", "echo up; sleep 1000"]).await;
    let mut window = world.attach(&id, 0);
    window.shows("up").await;
    world.clock.advance(Duration::from_secs(90));
    let listed = world.shells.list_of(Some(world.folder.path())).await;
    let [shell] = listed.as_slice() else {
        panic!("{listed:?}");
    };
    assert_eq!((shell.program.as_str(), shell.age_s), ("bash", 90));
    assert!(shell.is_attached && !shell.has_ended);
    assert!(world.shells.list_of(None).await.is_empty());
    world.shells.end_all().await;
    assert!(world.shells.list().await.is_empty());
}

#[tokio::test]
async fn queries_are_answered_without_a_window() {
    let world = ShellWorld::new();
    let script = "stty -echo; printf 'ask\\e[6n'; IFS= read -r -d R reply; printf '%q' \"$reply\"; \
         printf '\\e]11;?\\a'; IFS= read -r -d $'\\a' color; printf '%q done' \"$color\"; sleep 1000";
    let id = world.start(&["-c", script]).await;
    // The program waits for its answers while no window is attached.
    world.clock.advance(Duration::from_secs(1));
    let mut window = world.attach(&id, 0);
    window.shows("done").await;
    let text = window.text();
    assert!(text.contains("[1;4'"), "{text}");
    assert_eq!(text.matches("rgb:0a0a/0b0b/0c0c").count(), 1, "{text}");
    world.shells.end(&id).await;
}

#[tokio::test]
async fn the_size_is_that_of_the_window_that_attached_last() {
    let world = ShellWorld::new();
    let script = "stty -echo; echo up; while read -r line; do stty size; echo got $line; done";
    let id = world.start(&["-c", script]).await;
    let mut first = world.attach(&id, 0);
    first.shows("up").await;
    first.resize(30, 100);
    first.comes_to_size("30 100").await;
    let second = world.attach(&id, 0);
    second.resize(40, 90);
    first.comes_to_size("40 90").await;
    first.resize(50, 110);
    first.type_text("c\r");
    first.shows("got c").await;
    assert!(!first.text().contains("50 110"), "{}", first.text());
    drop(second);
    first.comes_to_size("50 110").await;
    // A later window gets the sizes with the output.
    let mut third = world.attach(&id, 0);
    let mut sizes = Vec::new();
    loop {
        match third.next().await {
            ShellEvent::Size(rows, columns) => sizes.push((rows, columns)),
            ShellEvent::CaughtUp { modes } => {
                assert!(modes.is_empty(), "nothing is missing");
                break;
            }
            _ => {}
        }
    }
    assert_eq!(sizes.first(), Some(&(24, 80)));
    assert!(
        sizes.contains(&(30, 100)) && sizes.contains(&(40, 90)),
        "{sizes:?}"
    );
    world.shells.end(&id).await;
}

#[tokio::test]
async fn an_idle_shell_without_a_window_ends() {
    let world = ShellWorld::new();
    let id = world.start(&["--noprofile", "--norc", "-i"]).await;
    let mut window = world.attach(&id, 0);
    window.shows("ready> ").await;
    for _ in 0..10 {
        world.shells.end_unused(false, 3).await;
    }
    // An attached window uses it, and so does a program that is connected.
    drop(window);
    for _ in 0..10 {
        world.shells.end_unused(true, 3).await;
    }
    for _ in 0..3 {
        world.shells.end_unused(false, 3).await;
        assert_eq!(world.shells.list().await.len(), 1);
    }
    world.shells.end_unused(false, 3).await;
    assert!(world.shells.list().await.is_empty());
}

#[tokio::test]
async fn a_running_command_keeps_its_shell() {
    let world = ShellWorld::new();
    let id = world.start(&["--noprofile", "--norc", "-i"]).await;
    let mut window = world.attach(&id, 0);
    window.shows("ready> ").await;
    window.type_text("sleep 1000\r");
    loop {
        if let ShellEvent::Processes(2..) = window.next().await {
            break;
        }
    }
    drop(window);
    for _ in 0..10 {
        world.shells.end_unused(false, 3).await;
    }
    let listed = world.shells.list().await;
    assert!(listed.iter().all(|shell| shell.is_busy) && listed.len() == 1);
    world.shells.end(&id).await;
}

#[tokio::test]
async fn lost_output_is_followed_by_the_modes_of_the_program() {
    let world = ShellWorld::new();
    let script =
        "printf '\\e[?2004h'; yes 0123456789 | head -c 3000000; echo; echo end; sleep 1000";
    let id = world.start(&["-c", script]).await;
    let mut whole = world.shells.watch(&id, 0).expect("it runs");
    // The end of the output is known before the later window attaches.
    let mut tail: Vec<u8> = Vec::new();
    while !String::from_utf8_lossy(&tail).contains("end") {
        let next = tokio::time::timeout(DEADLINE, whole.next()).await;
        if let ShellEvent::Output { bytes, .. } = next.expect("news").expect("it runs") {
            // The word may be cut.
            tail.drain(..tail.len().saturating_sub(8));
            tail.extend(bytes);
        }
    }
    let mut watch = world.shells.watch(&id, 0).expect("it runs");
    loop {
        let next = tokio::time::timeout(DEADLINE, watch.next()).await;
        match next.expect("news").expect("it runs") {
            ShellEvent::Output { offset, .. } => assert!(offset > 0),
            ShellEvent::CaughtUp { modes } => {
                assert_eq!(modes, b"\x1b[?2004h");
                break;
            }
            _ => {}
        }
    }
    world.shells.end(&id).await;
}
