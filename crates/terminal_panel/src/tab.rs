//! The looks of a terminal's tab, in the panel and among the texts of the window.

use gpui_kit::{AnyElement, App, IntoElement as _, SharedString};
use ui::{ActiveTheme as _, Icon, IconSize, TabMark};

use crate::view::{AgentProgramState, TerminalStatus, TerminalView, agent_state, is_restorable};

/// Returns the title of a terminal among the texts: the name that the user gave to its tab or the title of its program,
/// with a note such as the end of a task.
pub fn title(view: &TerminalView) -> SharedString {
    let title = name(view);
    match &view.note {
        Some(note) => format!("{title} \u{b7} {note}").into(),
        None => title,
    }
}

/// Returns the title of a terminal among the texts without the note, for renaming it.
pub fn name(view: &TerminalView) -> SharedString {
    let placement = view.placement.as_ref();
    let name = placement.and_then(|placement| placement.name.clone());
    name.map_or_else(|| view.title(), SharedString::from)
}

/// Returns the text behind the title: the sandbox of a program that an agent runs.
pub fn detail(view: &TerminalView) -> Option<SharedString> {
    agent_state(view).map(|agent| agent.sandbox.into())
}

/// Returns the icon of the state: a running command, an idle shell, or an ended program.
pub fn icon(view: &TerminalView, cx: &App) -> AnyElement {
    icon_of(&[view], cx)
}

/// Returns the mark behind the title: the end of a program, the bell, or output that was not seen.
pub fn mark(view: &TerminalView, is_shown: bool, cx: &App) -> Option<TabMark> {
    mark_of(&[view], agent_state(view), is_shown, cx)
}

/// Returns the number under which the window stores the tab of a terminal among the texts; `None` for a terminal that
/// another run of Burin cannot show again.
pub fn saved_id(view: &TerminalView) -> Option<u64> {
    let placement = view.placement.as_ref().filter(|_| is_restorable(view))?;
    Some(placement.id)
}

/// Returns the icon of the tab of several terminals.
pub(crate) fn icon_of(views: &[&TerminalView], cx: &App) -> AnyElement {
    let colors = cx.theme().colors;
    let is_over = |view: &&TerminalView| matches!(view.status(), TerminalStatus::Ended(_));
    let icon = if views.iter().any(|view| view.is_busy()) {
        Icon::CircleDot.size(IconSize::Small).color(colors.info)
    } else if views.iter().all(is_over) {
        Icon::CircleX.size(IconSize::Small).color(colors.muted)
    } else {
        Icon::Terminal.size(IconSize::Small).color(colors.muted)
    };
    icon.into_any_element()
}

/// Returns the mark of the tab of several terminals. `agent` is the state of an agent's program, which is alone.
pub(crate) fn mark_of(
    views: &[&TerminalView],
    agent: Option<AgentProgramState>,
    is_shown: bool,
    cx: &App,
) -> Option<TabMark> {
    let colors = cx.theme().colors;
    let mark = |color, count: &str, spoken: &str| TabMark {
        color,
        count: count.to_owned().into(),
        spoken: spoken.to_owned().into(),
    };
    if !is_shown && views.iter().any(|view| view.has_bell()) {
        return Some(mark(colors.warning, "!", "bell"));
    }
    if let Some(agent) = agent {
        let color = if agent.is_users {
            colors.accent
        } else {
            colors.muted
        };
        let spoken = format!("{}, {}", agent.sandbox, agent.state);
        return Some(mark(color, &agent.state, &spoken));
    }
    let failed = views.iter().find_map(|view| match view.status() {
        TerminalStatus::Ended(code) if code != Some(0) => Some(code),
        _ => None,
    });
    if let Some(code) = failed {
        let code = code.map_or("killed".to_owned(), |code| code.to_string());
        let spoken = format!("ended with {code}");
        return Some(mark(colors.error, &code, &spoken));
    }
    let is_new = !is_shown && views.iter().any(|view| view.has_new_output());
    is_new.then(|| mark(colors.text, "\u{2022}", "new output"))
}
