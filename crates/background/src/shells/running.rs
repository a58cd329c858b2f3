//! One shell: its program, its latest output, and the windows that are attached to it.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::AbsPath;
use host::process::{OutputBacklog, ProcessExit, TerminalSize};
use host::{Clock, environment};
use terminal::{
    ClipboardAccess, ColorQuery, ColorSlot, CommandState, CursorShape, EmulatorOptions,
    OutputObserver, SavedTerminal, ShellIntegration, ShellKind, TerminalEvent, TerminalSession,
    TerminalSpec, WakeUp,
};
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use super::{KeptShell, MAX_BACKLOG, RestoredText, ShellInput, ShellLaunch};

/// Lines of the scrollback of the emulator that answers queries, at most.
const OWN_SCROLLBACK: u32 = 1_000;
/// Maximum number of sizes that are kept for the kept output.
const MAX_SIZES: usize = 256;
/// Time after output in which the processes are counted.
const COUNT_PAUSE: Duration = Duration::from_secs(1);
/// Time for the programs of a shell to end when its terminal closes.
const GRACE: Duration = Duration::from_millis(500);

/// A shell that was started.
pub(super) struct RunningShell {
    id: String,
    root: Option<AbsPath>,
    program: String,
    folder: AbsPath,
    /// Time of the clock at its start.
    started: Duration,
    clock: Arc<dyn Clock>,
    pub(super) restored: Option<RestoredText>,
    pub(super) nonce: Option<String>,
    pub(super) feed: Arc<ShellFeed>,
    session: TerminalSession,
}

/// The output of a shell and the windows that read it.
pub(super) struct ShellFeed {
    state: Mutex<ShellFeedState>,
    /// Sends after each change of the state.
    changed: watch::Sender<()>,
    /// Notified by the program's threads.
    woken: Notify,
}

/// The part of a feed that changes.
pub(super) struct ShellFeedState {
    pub(super) backlog: OutputBacklog,
    /// Each size that the terminal had, with the offset in bytes of the first output at that size. Has at least one entry.
    sizes: VecDeque<(u64, TerminalSize)>,
    colors: Vec<(u8, u8, u8)>,
    /// The attached windows, in the order in which they came.
    watchers: Vec<AttachedWindow>,
    next_watcher: u64,
    pub(super) processes: usize,
    pub(super) exit: Option<ProcessExit>,
    /// Number of looks since the shell was last in use.
    unused_looks: u32,
}

struct AttachedWindow {
    number: u64,
    size: Option<TerminalSize>,
}

impl RunningShell {
    /// Starts a shell. Blocks until the program runs.
    pub(super) fn start(
        id: String,
        launch: ShellLaunch,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, host::Error> {
        let (rows, columns) = launch.size;
        let feed = Arc::new(ShellFeed::new(
            TerminalSize { rows, columns },
            launch.colors,
        ));
        let kind = ShellKind::of(&launch.program);
        let integration = launch.integration.zip(kind);
        let integration = integration.map(|(given, kind)| ShellIntegration {
            kind,
            nonce: given.nonce,
            arguments: given.arguments,
            variables: given.variables,
        });
        let nonce = integration.as_ref().map(|it| it.nonce.clone());
        let restored = launch.restored.as_ref().and_then(|restored| {
            let saved = SavedTerminal::from_bytes(&restored.saved).ok()?;
            Some((saved, restored.notice.clone()))
        });
        // The window may run in a terminal of another program, with which the shell must not end.
        let mut variables = launch.variables;
        environment::remove_marks(&mut variables);
        let (output, woken) = (Arc::clone(&feed), Arc::clone(&feed));
        let wake: WakeUp = Arc::new(move || woken.woken.notify_one());
        let spec = TerminalSpec {
            program: launch.program.clone(),
            arguments: launch.arguments,
            folder: launch.folder.clone(),
            variables,
            integration,
            sandbox: None,
            emulator: EmulatorOptions {
                size: TerminalSize { rows, columns },
                scrollback: launch.scrollback.min(OWN_SCROLLBACK),
                cursor_shape: CursorShape::Block,
                clipboard: ClipboardAccess::None,
                nonce: nonce.clone(),
                host_name: host::host_name(),
            },
            restored,
            output: Some(OutputObserver::new(move |bytes| output.push(bytes))),
        };
        let started = clock.elapsed();
        let session = TerminalSession::start(spec, Arc::clone(&clock), wake)?;
        Ok(Self {
            id,
            root: launch.root,
            program: program_name(&launch.program),
            folder: launch.folder,
            started,
            clock,
            restored: launch.restored,
            nonce,
            feed,
            session,
        })
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn root(&self) -> Option<&AbsPath> {
        self.root.as_ref()
    }

    /// Describes the shell. Blocks while its processes are searched.
    pub(super) fn describe(&self) -> KeptShell {
        let folder = self
            .session
            .with_emulator(|emulator| emulator.folder().cloned());
        let is_busy = self.is_busy();
        let state = self.feed.lock();
        KeptShell {
            id: self.id.clone(),
            root: self.root.clone(),
            program: self.program.clone(),
            folder: folder.unwrap_or_else(|| self.folder.clone()),
            age_s: self.clock.elapsed().saturating_sub(self.started).as_secs(),
            is_busy,
            is_attached: !state.watchers.is_empty(),
            has_ended: state.exit.is_some(),
        }
    }

    /// Returns whether a command runs: a process besides the shell, or a program that replaced it. Blocks while its
    /// processes are searched.
    pub(super) fn is_busy(&self) -> bool {
        let runs_command = self.session.with_emulator(|emulator| {
            let last = emulator.commands().last();
            last.is_some_and(|last| last.state == CommandState::Running)
        });
        !self.has_ended() && (runs_command || self.session.members().len() > 1)
    }

    pub(super) fn has_ended(&self) -> bool {
        self.feed.lock().exit.is_some()
    }

    /// Counts a look at the shell. Returns the number of looks since it was last in use. Blocks as `is_busy` does.
    pub(super) fn look(&self, is_connected: bool) -> u32 {
        let is_used = is_connected || self.is_busy();
        let mut state = self.feed.lock();
        let is_used = is_used || !state.watchers.is_empty();
        state.unused_looks = if is_used { 0 } else { state.unused_looks + 1 };
        state.unused_looks
    }

    /// Ends the shell and all its descendants. Blocks for a moment.
    pub(super) fn hang_up(&self) {
        self.session.hang_up(GRACE);
    }

    /// Answers the queries of the program and notes its end, until then.
    pub(super) async fn follow(self: Arc<Self>) {
        let mut count_at: Option<Instant> = None;
        loop {
            let at = count_at.unwrap_or_else(Instant::now);
            tokio::select! {
                () = self.feed.woken.notified() => {
                    if self.note_output() {
                        return;
                    }
                    count_at.get_or_insert_with(|| Instant::now() + COUNT_PAUSE);
                }
                () = tokio::time::sleep_until(at), if count_at.is_some() => {
                    count_at = None;
                    self.count_processes().await;
                }
            }
        }
    }

    /// Returns whether the program has ended.
    fn note_output(&self) -> bool {
        self.session.acknowledge();
        for event in self.session.take_events() {
            if let TerminalEvent::ColorQuery(query) = event {
                self.answer(&query);
            }
        }
        let exit = self.session.exit();
        if let Some(report) = exit {
            self.feed.end(report.exit);
        }
        exit.is_some()
    }

    fn answer(&self, query: &ColorQuery) {
        let slot = query.slot;
        let changed = self
            .session
            .with_emulator(|emulator| emulator.changed_color(slot));
        let color = changed.or_else(|| self.feed.lock().colors.get(slot.index()).copied());
        let (red, green, blue) = color.unwrap_or_default();
        // A program that does not read its input gets no answers.
        self.session.write(query.answer(red, green, blue));
    }

    /// Counts the processes for the windows.
    async fn count_processes(self: &Arc<Self>) {
        if self.feed.lock().watchers.is_empty() {
            return;
        }
        let shell = Arc::clone(self);
        let counted = tokio::task::spawn_blocking(move || shell.session.members().len());
        if let Ok(count) = counted.await {
            self.feed.change(|state| state.processes = count);
        }
    }

    /// Returns the sequences that set the modes of the program.
    pub(super) fn mode_sequences(&self) -> Vec<u8> {
        self.session
            .with_emulator(|emulator| emulator.mode_sequences())
    }

    /// Carries out an input of a window. It never waits.
    pub(super) fn input(&self, watcher: u64, input: ShellInput) {
        match input {
            ShellInput::Typed(bytes) => {
                // A program that does not read its input gets no more.
                self.session.write(bytes);
            }
            ShellInput::Resize { rows, columns } => {
                let size = TerminalSize { rows, columns };
                self.feed.lock().set_size(watcher, size);
                self.follow_size();
            }
            ShellInput::Colors(colors) => {
                if colors.len() == ColorSlot::COUNT {
                    self.feed.lock().colors = colors;
                }
            }
        }
    }

    /// Adds a window and returns its number.
    pub(super) fn attach(&self) -> u64 {
        let mut state = self.feed.lock();
        let number = state.next_watcher;
        state.next_watcher += 1;
        state.watchers.push(AttachedWindow { number, size: None });
        number
    }

    /// Removes a window. The shell goes on.
    pub(super) fn detach(&self, watcher: u64) {
        let mut state = self.feed.lock();
        state.watchers.retain(|it| it.number != watcher);
        drop(state);
        self.follow_size();
    }

    /// Gives the terminal the size of the window that attached last.
    fn follow_size(&self) {
        let mut state = self.feed.lock();
        let size = state.watchers.iter().rev().find_map(|it| it.size);
        let changed = size.filter(|size| state.note_size(*size));
        drop(state);
        if let Some(size) = changed {
            self.session.resize_grid(size);
            self.session.resize_program();
        }
    }
}

impl ShellFeed {
    fn new(size: TerminalSize, colors: Vec<(u8, u8, u8)>) -> Self {
        Self {
            state: Mutex::new(ShellFeedState {
                backlog: OutputBacklog::new(MAX_BACKLOG),
                sizes: VecDeque::from([(0, size)]),
                colors,
                watchers: Vec::new(),
                next_watcher: 0,
                processes: 1,
                exit: None,
                unused_looks: 0,
            }),
            changed: watch::Sender::new(()),
            woken: Notify::new(),
        }
    }

    /// Adds output.
    fn push(&self, bytes: &[u8]) {
        self.change(|state| {
            state.backlog.push(bytes);
            state.forget_sizes();
        });
    }

    fn end(&self, exit: ProcessExit) {
        self.change(|state| state.exit = Some(exit));
    }

    fn change(&self, change: impl FnOnce(&mut ShellFeedState)) {
        change(&mut self.lock());
        self.changed.send_replace(());
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, ShellFeedState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ShellFeedState {
    /// Returns the size of the terminal for the output at `offset`, and the offset at which the next size begins.
    pub(super) fn size_at(&self, offset: u64) -> (TerminalSize, u64) {
        let later = self.sizes.iter().find(|(from, _)| *from > offset);
        let until = later.map_or(u64::MAX, |(from, _)| *from);
        let mut earlier = self.sizes.iter().rev().filter(|(from, _)| *from <= offset);
        let size = earlier.next().or_else(|| self.sizes.front());
        let size = size.map_or(
            TerminalSize {
                rows: 24,
                columns: 80,
            },
            |(_, size)| *size,
        );
        (size, until)
    }

    fn set_size(&mut self, watcher: u64, size: TerminalSize) {
        let window = self.watchers.iter_mut().find(|it| it.number == watcher);
        if let Some(window) = window {
            window.size = Some(size);
        }
    }

    /// Notes the size for the output that follows. Returns whether it is another one.
    fn note_size(&mut self, size: TerminalSize) -> bool {
        if self.sizes.back().is_some_and(|(_, last)| *last == size) {
            return false;
        }
        self.sizes.push_back((self.backlog.end(), size));
        self.forget_sizes();
        true
    }

    /// Forgets the sizes of output that is not kept any more.
    fn forget_sizes(&mut self) {
        let start = self.backlog.start();
        while self.sizes.len() > MAX_SIZES
            || self.sizes.get(1).is_some_and(|(from, _)| *from <= start)
        {
            self.sizes.pop_front();
        }
    }
}

fn program_name(program: &OsStr) -> String {
    let name = Path::new(program).file_name().unwrap_or(program);
    name.to_string_lossy().into_owned()
}
