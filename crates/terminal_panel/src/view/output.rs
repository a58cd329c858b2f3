//! News of the program: output, requests, its end.

use std::time::Duration;

use gpui_kit::{ClipboardItem, Context, SharedString, Window};
use terminal::{
    ClipboardKind, CommandId, CommandState, TerminalEvent, TerminalNotification, TerminalProgress,
};
use ui::primary;

use super::questions::Question;
use super::{ProgramState, TerminalView, TerminalViewEvent, control};
use crate::frame::CellColors;
use crate::program::read_emulator;

/// Time for which a message over the text is shown.
pub(super) const NOTICE_TIME: Duration = Duration::from_secs(4);

/// Run time from which the end of a command is worth a notification.
const LONG_COMMAND: Duration = Duration::from_secs(10);

impl TerminalView {
    /// Handles what happened since the last call, and plans a frame if the view is shown.
    pub(super) fn take_output(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let Some(program) = self.program().cloned() else {
            return;
        };
        program.acknowledge();
        for event in program.take_events() {
            self.handle_event(event, window, cx);
        }
        control::note_control(self, program.control(), cx);
        self.note_exit(cx);
        cx.emit(TerminalViewEvent::Output);
        self.contents.is_stale = true;
        if self.is_shown {
            cx.notify();
        } else if !self.has_new_output {
            self.has_new_output = true;
            cx.emit(TerminalViewEvent::Changed);
        }
    }

    fn note_exit(&mut self, cx: &mut Context<Self>) {
        if let ProgramState::Running {
            program,
            exit: exit @ None,
            ..
        } = &mut self.state
        {
            *exit = program.exit();
            if exit.is_some() {
                self.command_line = None;
                self.blink.stop();
                cx.emit(TerminalViewEvent::Changed);
            }
        }
    }

    fn handle_event(&mut self, event: TerminalEvent, window: &mut Window, cx: &mut Context<Self>) {
        let is_focused = self.focus.is_focused(window) && window.is_window_active();
        match event {
            // The session wrote it.
            TerminalEvent::Reply(_) => {}
            TerminalEvent::Title(title) => {
                self.title = title;
                cx.emit(TerminalViewEvent::Changed);
            }
            TerminalEvent::Bell => {
                if !is_focused && !std::mem::replace(&mut self.has_bell, true) {
                    cx.emit(TerminalViewEvent::Changed);
                }
            }
            TerminalEvent::ClipboardWrite { clipboard, text } if is_focused => {
                self.write_clipboard(clipboard, text, cx);
            }
            TerminalEvent::ClipboardWrite { .. } => {}
            TerminalEvent::ClipboardRead(query) => {
                if is_focused && self.question.is_none() {
                    self.ask(Question::clipboard_read(query, cx), window, cx);
                }
            }
            TerminalEvent::ColorQuery(query) => {
                let theme = ui::ActiveTheme::theme(&**cx).source().terminal;
                let color = CellColors::new(theme, &self.contents.snapshot.colors).slot(query.slot);
                if let Some(program) = self.running_program() {
                    program.reply(query.answer(color.r, color.g, color.b));
                }
            }
            TerminalEvent::Notification(notification) => {
                if !is_focused {
                    self.notify_user(notification, cx);
                }
            }
            TerminalEvent::Progress(progress) => self.set_progress(progress, cx),
            TerminalEvent::Folder(folder) => {
                self.shell_folder = Some(folder);
                cx.emit(TerminalViewEvent::Changed);
            }
            TerminalEvent::PromptShown(_) => cx.emit(TerminalViewEvent::Changed),
            TerminalEvent::CommandStarted(_) => self.note_running_command(cx),
            TerminalEvent::CommandEnded(id) => {
                self.note_running_command(cx);
                if !is_focused {
                    self.notify_end(id, cx);
                }
            }
        }
    }

    /// Notes the command that runs now. Of several commands since the last look, only some are reported.
    fn note_running_command(&mut self, cx: &mut Context<Self>) {
        let last = self.program().and_then(|program| {
            read_emulator(&**program, |emulator| emulator.commands().last().cloned())
        });
        let running = last
            .flatten()
            .filter(|it| it.state == CommandState::Running);
        self.command_line = running.map(|command| {
            let line = command.line.map(|line| line.text);
            line.unwrap_or_else(|| "A command".to_owned())
        });
        cx.emit(TerminalViewEvent::Changed);
    }

    fn notify_end(&mut self, id: CommandId, cx: &mut Context<Self>) {
        let command = self.program().and_then(|program| {
            read_emulator(&**program, |emulator| emulator.commands().get(id).cloned())
        });
        let Some(command) = command.flatten() else {
            return;
        };
        if command
            .duration
            .is_none_or(|duration| duration < LONG_COMMAND)
        {
            return;
        }
        let text = command.line.map(|line| line.text).unwrap_or_default();
        let title = match command.state {
            CommandState::Finished(Some(code)) if code != 0 => {
                format!("Command failed with code {code}")
            }
            _ => "Command finished".to_owned(),
        };
        cx.emit(TerminalViewEvent::Notify {
            title: title.into(),
            text: text.into(),
        });
    }

    fn notify_user(&mut self, notification: TerminalNotification, cx: &mut Context<Self>) {
        let title = notification.title.map(SharedString::from);
        cx.emit(TerminalViewEvent::Notify {
            title: title.unwrap_or_else(|| self.title()),
            text: notification.body.into(),
        });
    }

    fn set_progress(&mut self, progress: TerminalProgress, cx: &mut Context<Self>) {
        if self.progress != progress {
            self.progress = progress;
            cx.emit(TerminalViewEvent::Changed);
        }
    }

    fn write_clipboard(&mut self, clipboard: ClipboardKind, text: String, cx: &mut Context<Self>) {
        let count = text.chars().count();
        let item = ClipboardItem::new_string(text);
        match clipboard {
            ClipboardKind::Clipboard => cx.write_to_clipboard(item),
            ClipboardKind::Primary => primary::write(item, cx),
        }
        let message = format!("The program copied {count} characters to the clipboard");
        self.show_notice(message, cx);
    }

    /// Shows a message over the text for a moment.
    pub(super) fn show_notice(&mut self, message: impl Into<SharedString>, cx: &mut Context<Self>) {
        self.notice = Some(message.into());
        self.notice_timer.put_off(cx);
        cx.notify();
    }

    pub(super) fn hide_notice(&mut self, cx: &mut Context<Self>) {
        self.notice = None;
        cx.notify();
    }
}
