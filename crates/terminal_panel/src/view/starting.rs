//! Starting, following, restarting and ending the program.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use futures::channel::mpsc::{UnboundedReceiver, unbounded};
use gpui_kit::{AppContext as _, Context, Task, Window};
use terminal::WakeUp;
use ui::ActiveSettings as _;

use super::{ProgramState, TerminalView, TerminalViewEvent, ViewContents};
use crate::actions::RestartTerminal;
use crate::frame::CellColors;
use crate::program::TerminalProgram;
use crate::service::{ProgramLaunch, RestoredOutput, TerminalServiceError};

/// Time between two frames of output, at least.
const FRAME: Duration = Duration::from_millis(16);

/// Time between two looks at a terminal that is not shown.
const HIDDEN: Duration = Duration::from_millis(100);

impl TerminalView {
    /// Starts the program unless that was done before. Called when the terminal is seen, or by its panel.
    pub(crate) fn ensure_started(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        if !matches!(self.state, ProgramState::Waiting) {
            return;
        }
        let (sender, wakes) = unbounded();
        // A view that was closed does not look.
        let wake: WakeUp = Arc::new(move || drop(sender.unbounded_send(())));
        if let Some(attached) = self.attached.take() {
            attached.connect(wake);
            return self.note_opened(Ok(attached), wakes, window, cx);
        }
        let restored = self.restored_output();
        let launch = ProgramLaunch {
            folder: self.request.folder.clone(),
            program: self.request.program.clone(),
            settings: cx.settings().terminal.clone(),
            size: self.size,
            colors: theme_colors(cx),
            shell: self.shell.clone(),
            restored,
            output: self.request.output.clone(),
        };
        let opening = self.service.open(launch, wake);
        let task = cx.spawn_in(window, async move |this, cx| {
            let opened = opening.await;
            let noted = this.update_in(cx, |this, window, cx| {
                this.note_opened(opened, wakes, window, cx);
            });
            // The view may be closed.
            noted.ok();
        });
        self.state = ProgramState::Starting { _task: task };
        cx.emit(TerminalViewEvent::Changed);
    }

    /// Returns the text of an earlier run with a line that says what happened then.
    fn restored_output(&self) -> Option<RestoredOutput> {
        let saved = self.saved.clone()?;
        let what = if self.is_restarted {
            "started again"
        } else {
            "restored"
        };
        let time = self.service.time_of_day();
        let notice = if self.shell.is_some() {
            format!("{what}, {time}; its shell has ended")
        } else {
            format!("{what}, {time}")
        };
        Some(RestoredOutput { saved, notice })
    }

    fn note_opened(
        &mut self,
        opened: Result<Arc<dyn TerminalProgram>, TerminalServiceError>,
        wakes: UnboundedReceiver<()>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let program = match opened {
            Ok(program) => program,
            Err(error) => {
                self.state = ProgramState::Failed(error.to_string().into());
                cx.emit(TerminalViewEvent::Changed);
                cx.notify();
                return;
            }
        };
        self.saved = None;
        self.shell = None;
        self.cell_pixels = None;
        // The size may have changed meanwhile.
        program.resize_grid(self.size);
        program.resize_program();
        self.state = ProgramState::Running {
            program,
            exit: None,
            _wakes: Self::follow(wakes, window, cx),
        };
        self.contents.is_stale = true;
        let early = std::mem::take(&mut self.early_input);
        self.send(early, cx);
        self.take_output(window, cx);
        self.report_focus(self.focus.is_focused(window), cx);
        cx.emit(TerminalViewEvent::Changed);
    }

    /// Looks at the terminal after each wake-up, at most once in a frame.
    fn follow(
        mut wakes: UnboundedReceiver<()>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> Task<()> {
        cx.spawn_in(window, async move |this, cx| {
            while wakes.next().await.is_some() {
                let is_shown = this.update_in(cx, |this, window, cx| {
                    this.take_output(window, cx);
                    this.is_shown
                });
                // The view may be closed.
                let Ok(is_shown) = is_shown else {
                    return;
                };
                let pause = if is_shown { FRAME } else { HIDDEN };
                cx.background_executor().timer(pause).await;
            }
        })
    }

    /// Returns whether the program ended or did not start, so that it can be started again.
    pub(crate) fn is_over(&self) -> bool {
        matches!(
            self.state,
            ProgramState::Running { exit: Some(_), .. } | ProgramState::Failed(_)
        )
    }

    /// Handler of an action: starts the program again after its end. The old text stays above.
    pub(super) fn restart(
        &mut self,
        _: &RestartTerminal,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if !self.is_over() || self.is_agents() {
            return;
        }
        if self.is_task() {
            cx.emit(TerminalViewEvent::RerunRequested);
            return;
        }
        self.saved = self.text_to_save().read();
        self.is_restarted = true;
        let folder = self.folder();
        self.request.folder = folder;
        self.release_program(ProgramState::Waiting, cx);
        self.contents = ViewContents::empty(self.size);
        self.rows.clear();
        self.ensure_started(window, cx);
        cx.notify();
    }

    /// Ends the program: the view is closed.
    pub(crate) fn end(&mut self, cx: &mut Context<Self>) {
        if let Some(shell) = self.shell.take() {
            self.service.end_shell(shell);
        }
        self.release_program(ProgramState::Closed, cx);
        cx.emit(TerminalViewEvent::Changed);
    }

    /// Stops the program in the background; its text stays.
    pub fn stop(&self, cx: &mut Context<Self>) {
        if let Some(program) = self.running_program().cloned() {
            cx.background_spawn(async move { program.stop() }).detach();
        }
    }

    /// Ends the program, unless an agent runs it. That may take a moment, so it happens in the background.
    fn release_program(&mut self, next: ProgramState, cx: &mut Context<Self>) {
        self.command_line = None;
        if let ProgramState::Running { program, .. } = std::mem::replace(&mut self.state, next) {
            cx.background_spawn(async move { program.close() }).detach();
        }
    }
}

/// Returns the colours of the theme that a program can query.
fn theme_colors(cx: &Context<TerminalView>) -> Vec<(u8, u8, u8)> {
    let theme = ui::ActiveTheme::theme(&**cx).source().terminal;
    CellColors::new(theme, &[]).queried()
}
