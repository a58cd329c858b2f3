//! Doubles for tests: programs whose output comes from a test, which also reads their input, and a service of them.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base::AbsPath;
use futures::channel::oneshot;
use futures::future::{BoxFuture, FutureExt as _, ready};
use host::process::{ProcessExit, TerminalSize};
use terminal::{
    ClipboardAccess, CursorShape, Emulator, EmulatorOptions, OutputObserver, TerminalEvent, WakeUp,
};

use crate::program::TerminalProgram;
use crate::service::{
    ProgramLaunch, SavedPane, ServiceAnswer, TerminalService, TerminalServiceError,
};

/// The nonce of command lines in fake programs.
const NONCE: &str = "0123456789abcdef";

/// A program whose output comes from a test.
#[derive(Clone)]
pub struct FakeProgram {
    state: Arc<Mutex<FakeProgramState>>,
    wake: WakeUp,
    output: Option<OutputObserver>,
}

struct FakeProgramState {
    emulator: Emulator,
    /// Bytes that were written to the program.
    input: Vec<u8>,
    now: Duration,
    exit: Option<ProcessExit>,
    size: TerminalSize,
    /// Sizes that the program received.
    told_sizes: Vec<TerminalSize>,
    processes: usize,
    events: Vec<TerminalEvent>,
    /// Whether the next change wakes the view.
    is_awake: bool,
    /// The id by which a later window attaches to it.
    kept_id: Option<String>,
}

impl FakeProgram {
    fn new(launch: &ProgramLaunch, kept_id: Option<String>, wake: WakeUp) -> Self {
        let mut emulator = Emulator::new(EmulatorOptions {
            size: launch.size,
            scrollback: launch.settings.scrollback_lines,
            cursor_shape: CursorShape::Block,
            clipboard: ClipboardAccess::WriteAndRead,
            nonce: Some(NONCE.to_owned()),
            host_name: Some("here".to_owned()),
        });
        if let Some(restored) = &launch.restored {
            emulator.show_saved(&restored.saved, &restored.notice);
        }
        let state = FakeProgramState {
            emulator,
            input: Vec::new(),
            now: Duration::ZERO,
            exit: None,
            size: launch.size,
            told_sizes: Vec::new(),
            processes: 1,
            events: Vec::new(),
            is_awake: true,
            kept_id,
        };
        Self {
            state: Arc::new(Mutex::new(state)),
            wake,
            output: launch.output.clone(),
        }
    }

    /// Returns the program as another window sees it.
    fn seen_by(&self, wake: WakeUp) -> Self {
        self.with(|state| state.is_awake = true);
        Self {
            state: self.state.clone(),
            wake,
            output: None,
        }
    }

    fn with<T>(&self, change: impl FnOnce(&mut FakeProgramState) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn wake_up(&self) {
        if self.with(|state| std::mem::take(&mut state.is_awake)) {
            (self.wake)();
        }
    }

    /// Prints output.
    pub fn print(&self, output: &str) {
        if let Some(observer) = &self.output {
            observer.notify(output.as_bytes());
        }
        self.with(|state| {
            let now = state.now;
            state.emulator.feed(output.as_bytes(), now);
            for event in state.emulator.take_events() {
                match event {
                    TerminalEvent::Reply(reply) => state.input.extend(reply),
                    event => state.events.push(event),
                }
            }
        });
        self.wake_up();
    }

    /// Prints the marks and the text of a shell that runs a command with this output and exit code.
    pub fn run_command(&self, line: &str, output: &str, code: i32) {
        self.print(&format!(
            "\x1b]133;A\x07$ \x1b]133;B\x07{line}\x1b]633;E;{line};{NONCE}\x07\r\n\x1b]133;C\x07"
        ));
        self.advance(Duration::from_secs(2));
        self.print(&format!("{output}\x1b]133;D;{code}\x07"));
    }

    /// Prints the prompt of a shell.
    pub fn show_prompt(&self) {
        self.print("\x1b]133;A\x07$ \x1b]133;B\x07");
    }

    /// Moves the clock of the program.
    pub fn advance(&self, time: Duration) {
        self.with(|state| state.now += time);
    }

    /// Ends the program.
    pub fn end(&self, exit: ProcessExit) {
        self.with(|state| state.exit = Some(exit));
        self.wake_up();
    }

    /// Takes the bytes that were written to the program.
    pub fn take_input(&self) -> String {
        let input = self.with(|state| std::mem::take(&mut state.input));
        String::from_utf8_lossy(&input).into_owned()
    }

    /// Returns the sizes that the program received.
    pub fn told_sizes(&self) -> Vec<TerminalSize> {
        self.with(|state| state.told_sizes.clone())
    }

    /// Sets the number of processes.
    pub fn set_processes(&self, count: usize) {
        self.with(|state| state.processes = count);
    }
}

impl TerminalProgram for FakeProgram {
    fn acknowledge(&self) {
        self.with(|state| state.is_awake = true);
    }

    fn take_events(&self) -> Vec<TerminalEvent> {
        self.with(|state| std::mem::take(&mut state.events))
    }

    fn visit_emulator(&self, read: &mut dyn FnMut(&mut Emulator)) {
        self.with(|state| read(&mut state.emulator));
    }

    fn write(&self, bytes: Vec<u8>) -> bool {
        self.with(|state| {
            let runs = state.exit.is_none();
            if runs {
                state.input.extend(bytes);
            }
            runs
        })
    }

    fn resize_grid(&self, size: TerminalSize) {
        self.with(|state| {
            state.size = size;
            state.emulator.resize(size);
        });
    }

    fn resize_program(&self) {
        self.with(|state| state.told_sizes.push(state.size));
    }

    fn exit(&self) -> Option<ProcessExit> {
        self.with(|state| state.exit)
    }

    fn process_count(&self) -> usize {
        self.with(|state| state.processes)
    }

    fn stop(&self) {
        self.end(ProcessExit::TimedOut);
    }

    fn kept_id(&self) -> Option<String> {
        self.with(|state| state.kept_id.clone())
    }

    fn close(&self) {
        if self.kept_id().is_some() {
            self.stop();
        }
    }
}

/// A service of fake programs.
#[derive(Clone, Default)]
pub struct FakeTerminals {
    state: Arc<Mutex<FakeTerminalsState>>,
}

#[derive(Default)]
struct FakeTerminalsState {
    programs: Vec<FakeProgram>,
    launches: Vec<ProgramLaunch>,
    refusal: Option<String>,
    held: Option<oneshot::Receiver<()>>,
    paths: HashSet<AbsPath>,
    saved: Vec<SavedPane>,
    /// Whether programs go on without their windows.
    keeps_programs: bool,
    /// Shells that were ended before a view attached to them.
    ended_shells: Vec<String>,
}

impl FakeTerminals {
    fn with<T>(&self, change: impl FnOnce(&mut FakeTerminalsState) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the programs that were started, in order.
    pub fn programs(&self) -> Vec<FakeProgram> {
        self.with(|state| state.programs.clone())
    }

    /// Returns what was asked to start, in order.
    pub fn launches(&self) -> Vec<ProgramLaunch> {
        self.with(|state| state.launches.clone())
    }

    /// Lets later starts fail with this sentence.
    pub fn refuse(&self, why: &str) {
        self.with(|state| state.refusal = Some(why.to_owned()));
    }

    /// Delays the next start until the result is dropped.
    pub fn hold_starts(&self) -> oneshot::Sender<()> {
        let (release, held) = oneshot::channel();
        self.with(|state| state.held = Some(held));
        release
    }

    fn start(
        &self,
        launch: ProgramLaunch,
        wake: WakeUp,
    ) -> Result<Arc<dyn TerminalProgram>, TerminalServiceError> {
        self.with(|state| {
            state.launches.push(launch.clone());
            if let Some(kept) = state.kept_program(launch.shell.as_deref()) {
                let program: Arc<dyn TerminalProgram> = Arc::new(kept.seen_by(wake));
                return Ok(program);
            }
            if let Some(why) = &state.refusal {
                return Err(TerminalServiceError(why.clone()));
            }
            let kept_id = state
                .keeps_programs
                .then(|| format!("s{}", state.programs.len()));
            let program = FakeProgram::new(&launch, kept_id, wake);
            state.programs.push(program.clone());
            let program: Arc<dyn TerminalProgram> = Arc::new(program);
            Ok(program)
        })
    }

    /// Lets programs go on without their windows, or forgets those that do.
    #[cfg(test)]
    pub(crate) fn keep_programs(&self, keeps: bool) {
        self.with(|state| state.keeps_programs = keeps);
    }

    /// Returns the shells that were ended before a view attached to them.
    #[cfg(test)]
    pub(crate) fn ended_shells(&self) -> Vec<String> {
        self.with(|state| state.ended_shells.clone())
    }

    /// Adds a file.
    pub fn add_path(&self, path: &AbsPath) {
        self.with(|state| state.paths.insert(path.clone()));
    }

    /// Sets the saved terminals.
    pub fn set_saved(&self, saved: Vec<SavedPane>) {
        self.with(|state| state.saved = saved);
    }

    /// Returns the saved terminals.
    pub fn saved(&self) -> Vec<SavedPane> {
        self.with(|state| state.saved.clone())
    }
}

impl FakeTerminalsState {
    fn kept_program(&self, shell: Option<&str>) -> Option<FakeProgram> {
        let shell = shell.filter(|_| self.keeps_programs)?;
        let mut programs = self.programs.iter();
        let has_id = |program: &&FakeProgram| program.kept_id().as_deref() == Some(shell);
        programs.find(has_id).cloned()
    }
}

impl TerminalService for FakeTerminals {
    fn open(&self, launch: ProgramLaunch, wake: WakeUp) -> ServiceAnswer<Arc<dyn TerminalProgram>> {
        let (this, held) = (self.clone(), self.with(|state| state.held.take()));
        async move {
            if let Some(held) = held {
                // It ends when the test drops the other side.
                held.await.ok();
            }
            this.start(launch, wake)
        }
        .boxed()
    }

    fn end_shell(&self, id: String) {
        self.with(|state| state.ended_shells.push(id));
    }

    fn existing_paths(&self, paths: Vec<AbsPath>) -> BoxFuture<'static, Vec<AbsPath>> {
        let existing = self.with(|state| {
            let exists = |path: &AbsPath| state.paths.contains(path);
            paths.into_iter().filter(exists).collect()
        });
        ready(existing).boxed()
    }

    fn home_folder(&self) -> Option<AbsPath> {
        AbsPath::new("/home/me")
    }

    fn host_name(&self) -> Option<String> {
        Some("here".to_owned())
    }

    fn time_of_day(&self) -> String {
        "14:02".to_owned()
    }

    fn load_saved(&self) -> ServiceAnswer<Vec<SavedPane>> {
        ready(Ok(self.saved())).boxed()
    }

    fn save(&self, panes: Vec<SavedPane>) -> ServiceAnswer<()> {
        self.set_saved(panes);
        ready(Ok(())).boxed()
    }
}
