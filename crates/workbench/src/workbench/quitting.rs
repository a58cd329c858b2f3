//! The question that comes before the end of the program, or of a window, while agents are at work or commands run in
//! terminals.
//!
//! Unsaved text is kept in the journal, so only these can lose something. `lifecycle` asks it when the user quits.

use base::Platform;
use composer_panel::AgentCounts;
use gpui_kit::{App, Context, EntityId, SharedString, Window};
use ui::{ActivePlatform as _, ButtonStyle};

use super::Workbench;
use crate::question::QuestionSpec;
use crate::window_registry;

/// Index of the answer with which the user goes on.
const GO_ON: usize = 1;

/// The way in which the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProgramEnd {
    /// The program ends.
    Quit,
    /// The program ends and starts again, as after an update.
    Restart,
}

impl ProgramEnd {
    /// Ends the program.
    fn carry_out(self, cx: &mut App) {
        match self {
            Self::Quit => window_registry::shut_down(cx),
            Self::Restart => window_registry::restart(cx),
        }
    }

    /// Returns the verb, alone and at the start of a sentence with its consequences.
    fn verbs(self) -> (&'static str, &'static str) {
        match self {
            Self::Quit => ("Quit", "Quitting"),
            Self::Restart => ("Restart", "Restarting"),
        }
    }
}

/// Work that ends with the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RunningWork {
    /// The agents at work.
    pub(crate) agents: AgentCounts,
    /// The number of commands that run in terminals.
    pub(crate) commands: usize,
}

/// Asks whether to go on, if closing the window of `workbench` would end agents at work or running commands. Returns
/// whether it asked; then the window must stay open.
pub(crate) fn asks_before_closing(
    workbench: &mut Workbench,
    this: EntityId,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> bool {
    let commands = workbench.running_commands(cx);
    let others = window_registry::others(this, cx);
    if cx.platform() != Platform::Linux || !others.is_empty() {
        if commands > 0 {
            ask_to_close(workbench, commands, window, cx);
        }
        return commands > 0;
    }
    let agents = agents_that_end(workbench, cx);
    let work = RunningWork { agents, commands };
    if work == RunningWork::default() {
        return false;
    }
    ask_to_end(workbench, work, ProgramEnd::Quit, window, cx);
    true
}

/// Counts the agents that end with the last window.
fn agents_that_end(workbench: &Workbench, cx: &App) -> AgentCounts {
    if workbench.agents_outlive_windows() {
        return AgentCounts::default();
    }
    let panel = workbench.local_agents().read(cx);
    let mut agents = panel.agent_counts();
    let root = workbench.root(cx);
    add(&mut agents, panel.agents_outside(root.as_slice()));
    agents
}

/// Asks whether to close the window, and closes it if the user says so.
fn ask_to_close(
    workbench: &mut Workbench,
    commands: usize,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let spec = QuestionSpec {
        title: format!("Close the window while {}?", commands_run(commands)).into(),
        detail: "Closing the window ends the programs in its terminals.".into(),
        answers: answers("Close window"),
        safest: 0,
    };
    let answer = workbench.ask(spec, window, cx);
    cx.spawn_in(window, async move |this, cx| {
        if answer.await == Ok(GO_ON) {
            // The window may be gone by then.
            this.update_in(cx, |this, window, cx| {
                this.store_now(window, cx);
                window.remove_window();
            })
            .ok();
        }
    })
    .detach();
}

/// Asks whether to end the program, and does so if the user agrees.
pub(crate) fn ask_to_end(
    workbench: &mut Workbench,
    work: RunningWork,
    end: ProgramEnd,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let answer = workbench.ask(question(work, end), window, cx);
    cx.spawn(async move |_, cx| {
        if answer.await == Ok(GO_ON) {
            cx.update(|cx| end.carry_out(cx));
        }
    })
    .detach();
}

/// Adds counts of other agents.
pub(crate) fn add(agents: &mut AgentCounts, more: AgentCounts) {
    agents.working += more.working;
    agents.waiting += more.waiting;
}

fn question(work: RunningWork, end: ProgramEnd) -> QuestionSpec {
    let (verb, ending) = end.verbs();
    let count = work.agents.working + work.agents.waiting;
    let agents = match count {
        0 => None,
        1 => Some("an agent is at work".to_owned()),
        _ => Some(format!("{count} agents are at work")),
    };
    let commands = (work.commands > 0).then(|| commands_run(work.commands));
    let reasons: Vec<String> = agents.into_iter().chain(commands).collect();
    let stopped = match count {
        0 => None,
        1 => Some(("it", "Its session stays")),
        _ => Some(("them", "Their sessions stay")),
    };
    let agents = stopped.map(|(them, sessions)| {
        format!(
            "{ending} stops {them}. {sessions} in the list and can go on at the next start; the \
             outcome of a tool call that is running now may stay unknown."
        )
    });
    let terminals = format!("{ending} ends the programs in the terminals.");
    let terminals = (work.commands > 0).then_some(terminals);
    let details: Vec<String> = agents.into_iter().chain(terminals).collect();
    QuestionSpec {
        title: format!("{verb} while {}?", reasons.join(" and ")).into(),
        detail: details.join(" ").into(),
        answers: answers(verb),
        safest: 0,
    }
}

/// Returns the number of running commands as a clause.
fn commands_run(count: usize) -> String {
    match count {
        1 => "a command runs in a terminal".to_owned(),
        _ => format!("{count} commands run in terminals"),
    }
}

fn answers(go_on: &'static str) -> Vec<(SharedString, ButtonStyle)> {
    vec![
        ("Cancel".into(), ButtonStyle::Plain),
        (go_on.into(), ButtonStyle::Danger),
    ]
}
