//! The end of the program at the user's command, and the question that comes first while agents
//! are at work.
//!
//! Unsaved text is kept in the journal, so only agents can lose something. The system's own
//! requests to end, as at log-out, do not ask (`lifecycle`).

use base::Platform;
use composer_panel::AgentCounts;
use gpui_kit::{App, Context, EntityId, Window};
use ui::{ActivePlatform as _, ButtonStyle};

use crate::question::QuestionSpec;
use crate::workbench::Workbench;
use crate::{window_registry, windows};

const QUIT: usize = 1;

/// Ends the program. Asks in the front window first if agents are at work.
pub(crate) fn quit(cx: &mut App) {
    let agents = agents_at_work(cx);
    let active = cx.active_window();
    let mut open = windows::all(cx);
    open.sort_by_key(|(window, _)| Some(*window) == active);
    let front = open.pop().filter(|_| agents != AgentCounts::default());
    let Some((window, workbench)) = front else {
        return windows::shut_down(cx);
    };
    let asked = window.update(cx, |_, window, cx| {
        window.activate_window();
        workbench.update(cx, |workbench, cx| {
            ask_to_quit(workbench, agents, window, cx);
        });
    });
    // A window that closes at this moment cannot ask.
    if asked.is_err() {
        windows::shut_down(cx);
    }
}

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
    let mut agents = workbench.agents().read(cx).agent_counts();
    let root = workbench.root(cx);
    let elsewhere = workbench.agents().read(cx).agents_outside(root.as_slice());
    add(&mut agents, elsewhere);
    if agents == AgentCounts::default() {
        return false;
    }
    ask_to_quit(workbench, agents, window, cx);
    true
}

fn ask_to_quit(
    workbench: &mut Workbench,
    agents: AgentCounts,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let answer = workbench.ask(question(agents), window, cx);
    cx.spawn(async move |_, cx| {
        if answer.await == Ok(QUIT) {
            cx.update(windows::shut_down);
        }
    })
    .detach();
}

/// Counts the agents of the whole program: those of every window, and sessions that go on without
/// one.
fn agents_at_work(cx: &App) -> AgentCounts {
    let open = windows::all(cx);
    let roots: Vec<_> = open
        .iter()
        .filter_map(|(_, it)| it.read(cx).root(cx))
        .collect();
    let mut agents = AgentCounts::default();
    for (_, workbench) in &open {
        add(
            &mut agents,
            workbench.read(cx).agents().read(cx).agent_counts(),
        );
    }
    // Each panel knows all sessions of the program once it was shown.
    let panels = open.iter().map(|(_, it)| it.read(cx).agents().read(cx));
    let outside = panels.map(|panel| panel.agents_outside(&roots));
    add(
        &mut agents,
        outside
            .max_by_key(|it| it.working + it.waiting)
            .unwrap_or_default(),
    );
    agents
}

fn add(agents: &mut AgentCounts, more: AgentCounts) {
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
