//! The view of one terminal: its program, what is in view, and everything that the user does in it.
//!
//! The emulator belongs to the program and changes on its threads. The view copies the visible rows when something
//! changed (`contents`), and draws the copy.

mod blink;
mod clipboard;
mod commands;
mod contents;
mod control;
mod copy_mode;
mod drawing;
mod element;
mod failures;
mod input;
mod keys;
mod links;
mod mention;
mod menu;
mod mouse;
mod output;
mod placement;
mod questions;
mod render;
mod saved_text;
mod scrolling;
mod search;
mod search_bar;
mod starting;
mod view_actions;

#[cfg(test)]
pub(crate) mod tests;

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use base::AbsPath;
use gpui_kit::{
    App, Context, EventEmitter, FocusHandle, Focusable, SharedString, Subscription, Task, Window,
};
use host::process::{ProcessExit, TerminalSize};
use terminal::{SavedTerminal, TerminalProgress};
use ui::{ActiveSettings as _, RestTimer};

pub(crate) use contents::ViewContents;
pub(crate) use control::{AgentProgramState, agent_state, detached};
pub(crate) use failures::failed_command;
pub use failures::{FailedCommand, FailureRequest};
pub(crate) use mention::{mention_id, quote, quoted_command};
pub(crate) use mouse::listen;
pub(crate) use placement::{EditorPlacement, give_saved, is_restorable};

use crate::attached::AttachedProgram;
use crate::frame::{Geometry, Palette, RowCache};
use crate::program::{ProgramControl, TerminalProgram, read_emulator};
use crate::service::{TerminalRequest, TerminalService};

/// Delay before a program learns a new size, so that it draws once while an edge is dragged.
const RESIZE_DELAY: Duration = Duration::from_millis(50);

/// Bytes that are kept for a program that is being started, at most about.
const MAX_EARLY_INPUT: usize = 64 << 10;

/// The size of a grid before the first layout.
const FIRST_SIZE: TerminalSize = TerminalSize {
    rows: 24,
    columns: 80,
};

/// A terminal: draws a program's screen and passes keys, text and mouse to it.
pub struct TerminalView {
    service: Arc<dyn TerminalService>,
    request: TerminalRequest,
    /// The program of an agent, until the view follows it.
    attached: Option<Arc<AttachedProgram>>,
    /// The control of a program that an agent runs.
    control: Option<ProgramControl>,
    state: ProgramState,
    /// The title that the program set.
    title: Option<String>,
    /// The note behind the title of its tab, such as the end of a task.
    pub(crate) note: Option<SharedString>,
    /// Its place among the texts of the window; `None` in the panel.
    pub(crate) placement: Option<EditorPlacement>,
    progress: TerminalProgress,
    /// The line of the command that runs in the shell.
    command_line: Option<String>,
    focus: FocusHandle,
    is_shown: bool,
    has_new_output: bool,
    has_bell: bool,
    contents: ViewContents,
    rows: RowCache,
    palette: Option<Rc<Palette>>,
    geometry: Option<Geometry>,
    size: TerminalSize,
    resize: RestTimer<Self>,
    /// The size of a cell that the emulator knows, in pixels of the screen.
    cell_pixels: Option<(u16, u16)>,
    blink: blink::CursorBlink,
    preedit: Option<input::Preedit>,
    mouse: mouse::TerminalMouse,
    question: Option<questions::Question>,
    search: search::SearchSession,
    copy_search: copy_mode::CopySearch,
    link: links::HoveredLink,
    /// The text of an earlier run, until the program starts.
    saved: Option<SavedTerminal>,
    /// The shell of an earlier window, until the view attaches to it.
    shell: Option<String>,
    /// Whether the program ended before and is started again.
    is_restarted: bool,
    /// The folder that the shell reported last.
    shell_folder: Option<AbsPath>,
    send_all_keys: bool,
    /// Input for the program that is being started.
    early_input: Vec<u8>,
    /// A short message over the text, such as that a program copied text.
    notice: Option<SharedString>,
    notice_timer: RestTimer<Self>,
    /// Number of layouts, for tests of idle terminals.
    layouts: u64,
    _subscriptions: Vec<Subscription>,
}

/// The program of a view.
enum ProgramState {
    /// It starts when the terminal is first seen.
    Waiting,
    /// It is being started.
    Starting { _task: Task<()> },
    /// It runs, or ended with this exit; its text stays.
    Running {
        program: Arc<dyn TerminalProgram>,
        exit: Option<ProcessExit>,
        _wakes: Task<()>,
    },
    /// It could not be started, for this reason.
    Failed(SharedString),
    /// The view was closed.
    Closed,
}

/// The state of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalStatus {
    /// The program is not started yet, or is being started.
    Starting,
    /// The program runs.
    Running,
    /// The program ended with this code; `None` if it was killed.
    Ended(Option<i32>),
    /// The program could not be started.
    Failed,
}

/// A message of a terminal to its panel.
#[derive(Clone, Debug, PartialEq)]
pub enum TerminalViewEvent {
    /// Title or state changed.
    Changed,
    /// The text changed.
    Output,
    /// It got the focus.
    Focused,
    /// Close it: the user asked for that.
    CloseRequested,
    /// Open a file; line and column count from 1.
    OpenFile {
        /// The file or folder.
        path: AbsPath,
        /// The line.
        line: Option<u32>,
        /// The column.
        column: Option<u32>,
    },
    /// Open an address of the web.
    OpenUrl(String),
    /// Notify the user.
    Notify {
        /// The title.
        title: SharedString,
        /// The text.
        text: SharedString,
    },
    /// Add a text to the prompt for the agent.
    SendToAgent(String),
    /// Ask the agent about a failed command.
    AskAgent(FailureRequest, FailedCommand),
    /// Run the task of this terminal again.
    RerunRequested,
}

impl EventEmitter<TerminalViewEvent> for TerminalView {}

impl Focusable for TerminalView {
    fn focus_handle(&self, _: &App) -> FocusHandle {
        self.focus.clone()
    }
}

impl TerminalView {
    /// Creates a view whose program starts when the view is first drawn. `saved` is the text of an earlier run.
    pub(crate) fn new(
        request: TerminalRequest,
        saved: Option<SavedTerminal>,
        service: Arc<dyn TerminalService>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> Self {
        let focus = cx.focus_handle().tab_stop(true);
        let subscriptions = vec![
            cx.on_focus(&focus, window, Self::on_focus),
            cx.on_blur(&focus, window, Self::on_blur),
            cx.observe_window_activation(window, Self::on_activation),
            keys::intercept_keys(window, cx),
        ];
        Self {
            title: saved.as_ref().and_then(|saved| saved.title.clone()),
            note: None,
            placement: None,
            service,
            request,
            attached: None,
            control: None,
            state: ProgramState::Waiting,
            progress: TerminalProgress::None,
            command_line: None,
            focus,
            is_shown: true,
            has_new_output: false,
            has_bell: false,
            contents: ViewContents::empty(FIRST_SIZE),
            rows: RowCache::default(),
            palette: None,
            geometry: None,
            size: FIRST_SIZE,
            resize: RestTimer::new(RESIZE_DELAY, |it| &mut it.resize, Self::resize_program),
            cell_pixels: None,
            blink: blink::CursorBlink::new(window),
            preedit: None,
            mouse: mouse::TerminalMouse::default(),
            question: None,
            search: search::SearchSession::default(),
            copy_search: copy_mode::CopySearch::default(),
            link: links::HoveredLink::default(),
            saved,
            shell: None,
            is_restarted: false,
            shell_folder: None,
            send_all_keys: cx.settings().terminal.send_all_keys_to_shell,
            early_input: Vec::new(),
            notice: None,
            notice_timer: RestTimer::new(
                output::NOTICE_TIME,
                |it| &mut it.notice_timer,
                Self::hide_notice,
            ),
            layouts: 0,
            _subscriptions: subscriptions,
        }
    }

    /// Returns the title: that of the request, of the program, or the name of the program and its folder.
    pub fn title(&self) -> SharedString {
        let own = self.request.title.as_ref().or(self.title.as_ref());
        if let Some(title) = own.filter(|title| !title.trim().is_empty()) {
            return title.clone().into();
        }
        let program = self.request.program.as_ref().map(|it| it.name.as_str());
        let program = program.map(|name| name.rsplit('/').next().unwrap_or(name).to_owned());
        let name = program.or_else(|| self.folder().map(|folder| folder.name()));
        let name = name.filter(|name| !name.is_empty());
        name.unwrap_or_else(|| "Terminal".to_owned()).into()
    }

    /// Returns the state of the program.
    pub fn status(&self) -> TerminalStatus {
        match &self.state {
            ProgramState::Waiting | ProgramState::Starting { .. } => TerminalStatus::Starting,
            ProgramState::Running { exit: None, .. } => TerminalStatus::Running,
            ProgramState::Running { exit, .. } => TerminalStatus::Ended(match exit {
                Some(ProcessExit::Exited(code)) => Some(*code),
                _ => None,
            }),
            ProgramState::Failed(_) | ProgramState::Closed => TerminalStatus::Failed,
        }
    }

    /// Returns the reason why the program could not be started.
    pub fn failure(&self) -> Option<SharedString> {
        match &self.state {
            ProgramState::Failed(reason) => Some(reason.clone()),
            _ => None,
        }
    }

    /// Returns whether the terminal runs a task of the window.
    pub(crate) fn is_task(&self) -> bool {
        self.request.output.is_some()
    }

    /// Returns whether a command runs in it: a command of the shell, or a program that is no shell.
    pub fn is_busy(&self) -> bool {
        let runs = self.running_program().is_some();
        let is_shell = self.request.program.is_none() && !self.is_agents();
        runs && (!is_shell || self.command_line.is_some())
    }

    /// Attaches to this shell of an earlier window when the terminal is first seen, if it still runs.
    pub(crate) fn set_shell(&mut self, shell: Option<String>) {
        self.shell = shell;
    }

    /// Returns the shell that goes on without the window.
    pub(crate) fn kept_shell(&self) -> Option<String> {
        let program = self.running_program();
        let running = program.and_then(|program| program.kept_id());
        running.or_else(|| self.shell.clone())
    }

    /// Returns the name of what would be stopped with the terminal; `None` if its shell is idle. Without marks of the
    /// shell, its descendants tell whether it is idle.
    pub(crate) fn running_command(&self) -> Option<String> {
        let program = self.running_program().filter(|_| !self.is_agents())?;
        if let Some(command) = &self.request.program {
            let label = self.request.title.as_ref().filter(|_| self.is_task());
            return Some(label.unwrap_or(&command.name).clone());
        }
        let is_marked = self.contents.has_commands;
        let has_descendants = !is_marked && program.process_count() > 1;
        let unknown = has_descendants.then(|| "A command".to_owned());
        self.command_line.clone().or(unknown)
    }

    /// Returns the last folder that the shell reported, or the one in which it starts.
    pub fn folder(&self) -> Option<AbsPath> {
        self.shell_folder.clone().or(self.request.folder.clone())
    }

    /// Returns whether there is output that was not seen.
    pub(crate) fn has_new_output(&self) -> bool {
        self.has_new_output
    }

    /// Returns whether the bell rang since the terminal was last seen.
    pub(crate) fn has_bell(&self) -> bool {
        self.has_bell
    }

    /// Tells the view whether it is shown. A hidden view draws nothing.
    pub(crate) fn set_shown(&mut self, is_shown: bool, cx: &mut Context<Self>) {
        if self.is_shown == is_shown {
            return;
        }
        self.is_shown = is_shown;
        if is_shown {
            self.has_new_output = false;
            self.has_bell = false;
            self.contents.is_stale = true;
        } else {
            self.blink.stop();
        }
        cx.notify();
    }

    /// Returns whether the program will run soon.
    fn is_starting(&self) -> bool {
        matches!(self.status(), TerminalStatus::Starting)
    }

    /// Returns whether input reaches the program, now or when it has started.
    fn takes_input(&self) -> bool {
        self.is_starting() || self.running_program().is_some()
    }

    /// Returns the program, also after its end.
    fn program(&self) -> Option<&Arc<dyn TerminalProgram>> {
        match &self.state {
            ProgramState::Running { program, .. } => Some(program),
            _ => None,
        }
    }

    /// Returns the program while it runs.
    fn running_program(&self) -> Option<&Arc<dyn TerminalProgram>> {
        match &self.state {
            ProgramState::Running {
                program,
                exit: None,
                ..
            } => Some(program),
            _ => None,
        }
    }

    /// Calls `read` with the emulator; `None` without a program. Marks the copy in view as outdated.
    fn change_emulator<T>(
        &mut self,
        cx: &mut Context<Self>,
        read: impl FnOnce(&mut terminal::Emulator) -> T,
    ) -> Option<T> {
        let program = self.program()?.clone();
        let result = read_emulator(&*program, read);
        self.contents.is_stale = true;
        cx.notify();
        result
    }

    /// Sends bytes to the program, and returns to the newest line. Ends copy mode.
    fn send(&mut self, bytes: Vec<u8>, cx: &mut Context<Self>) {
        if bytes.is_empty() || !control::may_type(self, cx) {
            return;
        }
        copy_mode::end_copy_mode(self, cx);
        if let Some(program) = self.running_program().cloned() {
            scrolling::follow_output(self, cx);
            program.write(bytes);
            self.show_cursor(cx);
        } else if self.is_starting() && self.early_input.len() < MAX_EARLY_INPUT {
            self.early_input.extend(bytes);
        }
    }

    fn on_focus(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.report_focus(window.is_window_active(), cx);
        self.show_cursor(cx);
        cx.emit(TerminalViewEvent::Focused);
        cx.notify();
    }

    fn on_blur(&mut self, _: &mut Window, cx: &mut Context<Self>) {
        self.report_focus(false, cx);
        self.preedit = None;
        self.blink.stop();
        links::end_link(self, cx);
        cx.notify();
    }

    fn on_activation(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        if self.focus.is_focused(window) {
            self.report_focus(window.is_window_active(), cx);
            self.show_cursor(cx);
            cx.notify();
        }
    }

    /// Tells the program whether the terminal has the focus, if it asked for that.
    fn report_focus(&mut self, is_focused: bool, _: &mut Context<Self>) {
        let report = terminal::encode_focus(is_focused, &self.contents.snapshot.modes);
        if let (Some(report), Some(program)) = (report, self.running_program()) {
            program.reply(report.to_vec());
        }
    }

    fn resize_program(&mut self, _: &mut Context<Self>) {
        if let Some(program) = self.running_program() {
            program.resize_program();
        }
    }
}
