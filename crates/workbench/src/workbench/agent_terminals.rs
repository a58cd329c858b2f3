//! Commands of agents in the terminals of a window, and the window's terminals in prompts for agents.
//!
//! Invariant: engines get the output of a terminal only if the user mentioned it.
//! Start at `open_command` and `mention_terminal`.

use std::sync::{Arc, Weak};

use base::{LineFeeds, printable};
use composer_panel::ComposerPanel;
use composer_panel::actions::ShowAgentTerminals;
use composer_panel::agents::{
    AgentCommand, AgentCommandId, AgentService, CommandConnection, CommandControl,
    CommandFeedEvent, CommandInput,
};
use futures::StreamExt as _;
use futures::future::{AbortHandle, Abortable};
use futures::stream::BoxStream;
use gpui_kit::{AppContext as _, Context, Entity, WeakEntity, Window};
use host::process::{ProcessExit, TerminalSize};
use terminal_panel::{
    AttachedInput, AttachedProgram, MentionedOutput, ProgramControl, TerminalRequest, TerminalView,
};
use ui::ActiveSettings as _;

use super::{Workbench, editor_terminals, terminals};
use crate::pickers::choices;

/// Key of the notices of this module.
const NOTICE: &str = "agent-terminals";
/// Maximum numbers of characters of an agent's name and of a command in the title of a tab.
const MAX_NAME: usize = 40;
const MAX_COMMAND: usize = 60;
/// Number of mentioned terminals whose quotes are kept for prompts that are not sent yet.
const MAX_MENTIONED: usize = 16;

/// The terminals of a window as far as agents are concerned.
#[derive(Default)]
pub(super) struct AgentTerminals {
    /// The terminals that show commands of agents.
    attached: Vec<(AgentCommandId, WeakEntity<TerminalView>)>,
    /// The ids and the quotes of the terminals that prompts mention, latest last.
    pub(super) mentioned: Vec<(String, String)>,
}

/// Ends a task when it is dropped.
struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Handler of an action: lets the user choose among the running commands of all sessions.
pub(super) fn show_agent_terminals(
    workbench: &mut Workbench,
    _: &ShowAgentTerminals,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let panel = workbench.agents.panel.clone();
    let lists = panel.read(cx).service().map(|it| it.running_commands());
    let Some(mut lists) = lists else {
        return workbench.tell(NOTICE, "This window has no agents.", window, cx);
    };
    cx.spawn_in(window, async move |this, cx| {
        let commands = lists.next().await.unwrap_or_default();
        // The window may be gone.
        this.update_in(cx, |this, window, cx| {
            if commands.is_empty() {
                return this.tell(NOTICE, "No command of an agent runs now.", window, cx);
            }
            let (this_window, listed) = (cx.weak_entity(), commands.clone());
            let choices = choices::agent_commands(&commands, move |at, window, cx| {
                let (panel, command) = (panel.clone(), listed[at].clone());
                let this = this_window.clone();
                // After the list has closed.
                window.defer(cx, move |window, cx| {
                    this.update(cx, |this, cx| {
                        open_command(this, &panel, &command, window, cx);
                    })
                    .ok();
                });
            });
            this.pick(choices, window, cx);
        })
        .ok();
    })
    .detach();
}

/// Shows a command of an agent in a terminal, which is opened if the window has none for it, and focuses it.
pub(super) fn open_command(
    workbench: &mut Workbench,
    panel: &Entity<ComposerPanel>,
    command: &AgentCommand,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let agents = panel.read(cx).service().cloned();
    let dock = terminals::panel(workbench, window, cx);
    let (Some(agents), Some(dock)) = (agents, dock) else {
        return terminals::show(workbench, window, cx);
    };
    let attached = &mut workbench.terminals.agents.attached;
    attached.retain(|(_, view)| view.upgrade().is_some());
    let known = attached.iter().find(|(id, _)| *id == command.id);
    let known = known.and_then(|(_, view)| view.upgrade());
    if let Some(view) = &known
        && editor_terminals::focus(workbench, view, window, cx)
    {
        return;
    }
    let is_shown =
        known.is_some_and(|view| dock.update(cx, |dock, cx| dock.reveal(&view, window, cx)));
    if !is_shown {
        let program = attach(&agents, command, cx);
        let agent = match command.agent.as_str() {
            "" => panel.read(cx).session_title(&command.id.session),
            agent => agent.to_owned(),
        };
        let request = TerminalRequest {
            // The paths of another machine are no files of this one.
            folder: agents.machine().is_none().then(|| command.folder.clone()),
            title: Some(title(&agent, &command.command)),
            sandbox: Some(command.sandbox.clone()),
            ..TerminalRequest::default()
        };
        let view = dock.update(cx, |dock, cx| {
            dock.open_attached(request, program, window, cx)
        });
        let attached = &mut workbench.terminals.agents.attached;
        attached.retain(|(id, _)| *id != command.id);
        attached.push((command.id.clone(), view.downgrade()));
    }
    terminals::show(workbench, window, cx);
}

/// Returns the title of the tab of a command.
fn title(agent: &str, command: &str) -> String {
    let short = |text: &str, most: usize| {
        let text = printable(text.trim(), LineFeeds::Escape);
        match text.char_indices().nth(most) {
            Some((end, _)) => format!("{}\u{2026}", &text[..end]),
            None => text.into_owned(),
        }
    };
    format!(
        "{}: {}",
        short(agent, MAX_NAME),
        short(command, MAX_COMMAND)
    )
}

/// Attaches a terminal to a command. The command is detached when the terminal is dropped.
fn attach(
    agents: &Arc<dyn AgentService>,
    command: &AgentCommand,
    cx: &mut Context<Workbench>,
) -> Arc<AttachedProgram> {
    let CommandConnection { send, events } = agents.watch_command(command.id.clone(), 0);
    let (abort, registration) = AbortHandle::new_pair();
    let following = AbortOnDrop(abort);
    let (rows, columns) = command.size;
    let size = TerminalSize { rows, columns };
    let scrollback = cx.settings().terminal.scrollback_lines;
    let program = AttachedProgram::new(size, scrollback, command.has_terminal, move |input| {
        // Held as long as the terminal.
        let _following = &following;
        send(command_input(input));
    });
    let program = Arc::new(program);
    let follow = follow(events, Arc::downgrade(&program));
    cx.background_spawn(Abortable::new(follow, registration))
        .detach();
    program
}

fn command_input(input: AttachedInput) -> CommandInput {
    match input {
        AttachedInput::Typed(bytes) => CommandInput::Typed(bytes),
        AttachedInput::Reply(bytes) => CommandInput::Reply(bytes),
        AttachedInput::Resize(TerminalSize { rows, columns }) => {
            CommandInput::Resize { rows, columns }
        }
        AttachedInput::TakeOver => CommandInput::TakeOver,
        AttachedInput::GiveBack => CommandInput::GiveBack,
    }
}

/// Passes the events of a command on to its terminal.
async fn follow(mut events: BoxStream<'static, CommandFeedEvent>, program: Weak<AttachedProgram>) {
    let mut read = 0;
    while let Some(event) = events.next().await {
        let Some(program) = program.upgrade() else {
            return;
        };
        match event {
            CommandFeedEvent::Attached(_) => {}
            CommandFeedEvent::Output {
                offset,
                bytes,
                is_backlog,
            } => {
                if offset > read {
                    program.skip(offset - read);
                }
                read = offset + bytes.len() as u64;
                program.feed(&bytes, is_backlog);
            }
            CommandFeedEvent::Control(control) => program.note_control(match control {
                CommandControl::Agent => ProgramControl::Agent,
                CommandControl::You => ProgramControl::You,
                CommandControl::OtherWindow => ProgramControl::OtherWindow,
            }),
            CommandFeedEvent::Ended(Some(code)) => program.end(ProcessExit::Exited(code)),
            CommandFeedEvent::Ended(None) => program.end(ProcessExit::TimedOut),
        }
    }
    // Without an end the command is not reached any more.
    if let Some(program) = program.upgrade() {
        program.end(ProcessExit::TimedOut);
    }
}

/// Says that the command of a closed terminal goes on.
pub(super) fn note_detached(
    workbench: &mut Workbench,
    title: &str,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let sentence = format!(
        "\u{201c}{title}\u{201d} goes on under the control of its agent; only the terminal was closed."
    );
    workbench.tell(NOTICE, sentence, window, cx);
}

/// Passes the last command of a terminal on to the engines, because the user mentioned the terminal in a prompt.
pub(super) fn mention_terminal(
    workbench: &mut Workbench,
    id: &str,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let dock = workbench.terminals.panel();
    let quoted = dock.and_then(|dock| dock.read(cx).mentioned_output(id, cx));
    let Some(MentionedOutput { id, text }) = quoted else {
        let sentence =
            "Another command ran in this terminal since. Choose it after @terminal again.";
        return workbench.tell(NOTICE, sentence, window, cx);
    };
    keep_quote(workbench, id, text, cx);
}

/// Keeps the quote of a terminal that a prompt mentions, for the engines and for the panel, which shows it.
pub(super) fn keep_quote(
    workbench: &mut Workbench,
    id: String,
    text: String,
    cx: &mut Context<Workbench>,
) {
    let mentioned = &mut workbench.terminals.agents.mentioned;
    mentioned.retain(|(known, _)| *known != id);
    mentioned.push((id, text));
    let over = mentioned.len().saturating_sub(MAX_MENTIONED);
    mentioned.drain(..over);
    let quotes = mentioned.clone();
    let panel = workbench.agents.panel.clone();
    panel.update(cx, |panel, cx| panel.set_terminal_quotes(&quotes, cx));
    workbench.note_open_files(cx);
}
