//! The running commands of agents: a button on the card of each, which opens it in a terminal of the window.

use std::sync::Arc;

use futures::StreamExt as _;
use gpui_kit::{
    AnyElement, Context, IntoElement as _, ParentElement as _, Styled as _, Task, Window, div,
};
use ui::{Button, ButtonStyle, dp};

use super::{ComposerPanel, PanelEvent};
use crate::actions::OpenTerminal;
use crate::agents::{AgentCommand, AgentService};
use crate::transcript::TranscriptEntry;

/// The running commands of all sessions.
#[derive(Default)]
pub(super) struct RunningCommands {
    list: Vec<AgentCommand>,
    _follow: Option<Task<()>>,
}

impl ComposerPanel {
    /// Returns the engines; `None` without any.
    pub fn service(&self) -> Option<&Arc<dyn AgentService>> {
        self.agents.as_ref()
    }

    pub(super) fn follow_commands(&mut self, cx: &mut Context<Self>) {
        let Some(mut lists) = self.agents.as_ref().map(|it| it.running_commands()) else {
            return;
        };
        self.commands._follow = Some(cx.spawn(async move |this, cx| {
            while let Some(list) = lists.next().await {
                let taken = this.update(cx, |this, cx| this.set_commands(list, cx));
                // The panel may be gone.
                if taken.is_err() {
                    return;
                }
            }
        }));
    }

    fn set_commands(&mut self, list: Vec<AgentCommand>, cx: &mut Context<Self>) {
        if self.commands.list == list {
            return;
        }
        let before = std::mem::replace(&mut self.commands.list, list);
        let after = &self.commands.list;
        if let Some(open) = &self.open {
            let is_changed = |call: &str| {
                let runs = |list: &[AgentCommand]| list.iter().any(|it| it.id.call == call);
                runs(&before) != runs(after)
            };
            // Their cards get or lose a button.
            for (at, item) in open.transcript.items().iter().enumerate() {
                if matches!(item, TranscriptEntry::Call(call) if is_changed(&call.id)) {
                    open.list.remeasure_items(at..at + 1);
                }
            }
        }
        cx.notify();
    }

    /// Returns the running command that a call of the open session started.
    fn command_of(&self, call: &str) -> Option<&AgentCommand> {
        let session = self.open.as_ref()?.live.id.as_str();
        let mut commands = self.commands.list.iter().rev();
        commands.find(|it| it.id.session == session && it.id.call == call)
    }

    /// Returns the running command of the selected call, or else the latest one of the open session.
    fn selected_command(&self) -> Option<&AgentCommand> {
        let open = self.open.as_ref()?;
        let selected = open.selected.and_then(|at| open.transcript.items().get(at));
        let of_selected = match selected {
            Some(TranscriptEntry::Call(call)) => self.command_of(&call.id),
            _ => None,
        };
        let mut commands = self.commands.list.iter().rev();
        of_selected.or_else(|| commands.find(|it| it.id.session == open.live.id))
    }

    /// Opens the terminal of the selected call's command, or of the latest one that runs.
    pub fn open_terminal(&mut self, _: &OpenTerminal, _: &mut Window, cx: &mut Context<Self>) {
        match self.selected_command().cloned() {
            Some(command) => cx.emit(PanelEvent::OpenTerminal(command)),
            None => self.report_session_problem("No command of this session runs now.", cx),
        }
    }

    /// Renders the button that opens the command of a call in a terminal. Returns `None` if it runs none.
    pub(super) fn terminal_button(
        &self,
        at: usize,
        call: &str,
        cx: &Context<Self>,
    ) -> Option<AnyElement> {
        let command = self.command_of(call)?.clone();
        let button = Button::new(("agent-terminal", at), "Open in terminal")
            .style(ButtonStyle::Plain)
            .on_click(cx.listener(move |_, _, _, cx| {
                cx.emit(PanelEvent::OpenTerminal(command.clone()));
            }));
        let row = div().flex().pl(dp(26.0)).pt(dp(4.0)).child(button);
        Some(row.into_any_element())
    }
}
