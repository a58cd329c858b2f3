//! The question that comes before the end of the program while agents are at work.
//!
//! Unsaved text is kept in the journal, so only agents can lose something. `lifecycle` asks it when
//! the user quits.

use base::Platform;
use composer_panel::AgentCounts;
use gpui_kit::{Context, EntityId, Window};
use ui::{ActivePlatform as _, ButtonStyle};

use super::Workbench;
use crate::question::QuestionSpec;
use crate::window_registry;

const QUIT: usize = 1;

/// Asks whether to quit, if closing the window of `workbench` would end the program while agents
/// are at work. Returns whether it asked; then the window must stay open.
pub(crate) fn asks_before_closing(
    workbench: &mut Workbench,
    this: EntityId,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> bool {
    let others = window_registry::others(this, cx);
    if cx.platform() != Platform::Linux || !others.is_empty() {
        return false;
    }
    if workbench.agents_outlive_windows() {
        return false;
    }
    let mut agents = workbench.local_agents().read(cx).agent_counts();
    let root = workbench.root(cx);
    let elsewhere = workbench
        .local_agents()
        .read(cx)
        .agents_outside(root.as_slice());
    add(&mut agents, elsewhere);
    if agents == AgentCounts::default() {
        return false;
    }
    ask_to_quit(workbench, agents, window, cx);
    true
}

/// Asks whether to quit, and quits if the user says so.
pub(crate) fn ask_to_quit(
    workbench: &mut Workbench,
    agents: AgentCounts,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let answer = workbench.ask(question(agents), window, cx);
    cx.spawn(async move |_, cx| {
        if answer.await == Ok(QUIT) {
            cx.update(window_registry::shut_down);
        }
    })
    .detach();
}

/// Adds counts of other agents.
pub(crate) fn add(agents: &mut AgentCounts, more: AgentCounts) {
    agents.working += more.working;
    agents.waiting += more.waiting;
}

fn question(agents: AgentCounts) -> QuestionSpec {
    let count = agents.working + agents.waiting;
    let (what, them, sessions) = match count {
        1 => ("an agent is".to_owned(), "it", "Its session stays"),
        _ => (format!("{count} agents are"), "them", "Their sessions stay"),
    };
    QuestionSpec {
        title: format!("Quit while {what} at work?").into(),
        detail: format!(
            "Quitting stops {them}. {sessions} in the list and can go on at the next start; the \
             outcome of a tool call that is running now may stay unknown."
        )
        .into(),
        answers: vec![
            ("Cancel".into(), ButtonStyle::Plain),
            ("Quit".into(), ButtonStyle::Danger),
        ],
        safest: 0,
    }
}
