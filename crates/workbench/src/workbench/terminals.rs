//! The terminals below the panes of a window.
//!
//! Start at `TerminalsDock`. The panel is created when the terminals are first shown, so that a window without them does not
//! start more slowly.

use std::ops::RangeInclusive;

use gpui_kit::{
    AnyElement, App, AppContext as _, Context, Div, Empty, Entity, InteractiveElement as _,
    IntoElement as _, ParentElement as _, Pixels, Stateful, StatefulInteractiveElement as _,
    StyleRefinement, Styled as _, Subscription, Window, div, px, relative,
};
use terminal_panel::actions::{FocusPanel, NewTerminal, TogglePanel};
use terminal_panel::{TerminalPanel, TerminalPanelEvent, TerminalRequest};
use ui::{ActiveSettings as _, ActiveTheme as _};

use super::agent_terminals::{self, AgentTerminals};
use super::{Workbench, WorkbenchRegion, editor_terminals, failed_commands, tasks};
use crate::drag::DraggedTab;
use crate::open_options::{GoToPosition, OpenOptions};
use crate::region::region;
use crate::session::SavedTerminals;
use crate::system_notices;
use crate::target::LineColumn;

/// Minimum and maximum height of the terminals while dragging, in pixels.
const HEIGHTS: RangeInclusive<f32> = 80.0..=2000.0;
/// Share of the panes' area that the terminals take at most.
const MAX_SHARE: f32 = 0.85;

/// Registers the actions of this module.
pub(super) fn with_actions(element: Stateful<Div>, cx: &mut Context<Workbench>) -> Stateful<Div> {
    element
        .on_action(cx.listener(toggle))
        .on_action(cx.listener(focus_or_return))
        .on_action(cx.listener(new_terminal))
        .on_action(cx.listener(failed_commands::explain_last_failure))
        .on_action(cx.listener(failed_commands::fix_last_failure))
}

/// Drag of the upper border of the terminals.
pub(super) struct DraggedTerminalsBorder;

/// The terminals of a window, with their visibility and height.
pub(super) struct TerminalsDock {
    /// `None` until the terminals are first shown.
    open: Option<OpenDock>,
    is_shown: bool,
    height: Pixels,
    pub(super) agents: AgentTerminals,
}

struct OpenDock {
    panel: Entity<TerminalPanel>,
    _subscriptions: [Subscription; 2],
}

impl TerminalsDock {
    /// Creates the hidden dock with its default height.
    pub(super) fn new() -> Self {
        let saved = SavedTerminals::default();
        Self {
            open: None,
            is_shown: saved.is_shown,
            height: px(saved.height),
            agents: AgentTerminals::default(),
        }
    }

    /// Returns the visibility and the height to store.
    pub(super) fn saved(&self) -> SavedTerminals {
        SavedTerminals {
            is_shown: self.is_shown,
            height: f32::from(self.height),
        }
    }

    pub(super) fn panel(&self) -> Option<&Entity<TerminalPanel>> {
        self.open.as_ref().map(|open| &open.panel)
    }
}

impl Workbench {
    /// Returns the panel of terminals, which exists once it was shown for the first time.
    pub fn terminals(&self) -> Option<&Entity<TerminalPanel>> {
        self.terminals.panel()
    }

    /// Returns whether the terminals are visible.
    pub(crate) fn are_terminals_visible(&self) -> bool {
        self.terminals.is_shown && self.terminals.open.is_some()
    }

    /// Returns the number of commands that run in terminals and that closing the window asks about.
    pub(crate) fn running_commands(&self, cx: &App) -> usize {
        let panel = self.terminals.panel();
        let panel = panel.filter(|_| cx.settings().terminal.confirm_close);
        panel.map_or(0, |panel| panel.read(cx).running_count(cx))
    }
}

/// Restores the visibility and the height.
pub(super) fn restore(
    workbench: &mut Workbench,
    saved: &SavedTerminals,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let height = saved.height.clamp(*HEIGHTS.start(), *HEIGHTS.end());
    workbench.terminals.height = px(height);
    if saved.is_shown && panel(workbench, window, cx).is_some() {
        set_shown(workbench, true, cx);
    }
}

/// Tells the terminals in which folder new ones start.
pub(super) fn follow_folder(workbench: &Workbench, cx: &mut Context<Workbench>) {
    if let Some(panel) = workbench.terminals.panel() {
        let root = workbench.root(cx);
        panel.update(cx, |panel, _| panel.set_folder(root));
    }
}

/// Returns the panel, which is created if it was never shown; `None` if there is no service for terminals.
pub(super) fn panel(
    workbench: &mut Workbench,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> Option<Entity<TerminalPanel>> {
    if let Some(panel) = workbench.terminals.panel() {
        return Some(panel.clone());
    }
    let open = workbench.services.terminals.clone()?;
    let root = workbench.root(cx);
    let service = open(root.as_ref());
    let panel = cx.new(|cx| TerminalPanel::new(service, root, window, cx));
    let focus = panel.read(cx).region_focus().clone();
    let subscriptions = [
        cx.subscribe_in(&panel, window, panel_event),
        cx.on_focus_in(&focus, window, |this, _, _| {
            this.focused_region = WorkbenchRegion::Terminals;
        }),
    ];
    workbench.terminals.open = Some(OpenDock {
        panel: panel.clone(),
        _subscriptions: subscriptions,
    });
    Some(panel)
}

/// Shows the terminals; the focus stays where it is.
pub(super) fn reveal(workbench: &mut Workbench, cx: &mut Context<Workbench>) {
    if !workbench.are_terminals_visible() {
        set_shown(workbench, true, cx);
    }
}

fn set_shown(workbench: &mut Workbench, is_shown: bool, cx: &mut Context<Workbench>) {
    workbench.terminals.is_shown = is_shown;
    if let Some(panel) = workbench.terminals.panel() {
        panel.update(cx, |panel, cx| panel.set_visible(is_shown, cx));
    }
    workbench.layout_changed(cx);
}

/// Shows the terminals and focuses them; opens one if there is none.
pub(super) fn show(workbench: &mut Workbench, window: &mut Window, cx: &mut Context<Workbench>) {
    let Some(panel) = panel(workbench, window, cx) else {
        return tell_unavailable(workbench, window, cx);
    };
    set_shown(workbench, true, cx);
    panel.update(cx, |panel, cx| panel.focus(window, cx));
    workbench.focused_region = WorkbenchRegion::Terminals;
}

/// Says that the window has no service for terminals.
pub(super) fn tell_unavailable(
    workbench: &mut Workbench,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let sentence = "This window cannot open terminals.";
    workbench.tell("terminals", sentence, window, cx);
}

fn hide(workbench: &mut Workbench, window: &mut Window, cx: &mut Context<Workbench>) {
    set_shown(workbench, false, cx);
    workbench.focus_active(window, cx);
}

fn has_focus(workbench: &Workbench, window: &Window, cx: &App) -> bool {
    let panel = workbench.terminals.panel();
    let panel = panel.filter(|_| workbench.terminals.is_shown);
    panel.is_some_and(|panel| panel.read(cx).region_focus().contains_focused(window, cx))
}

fn toggle(
    workbench: &mut Workbench,
    _: &TogglePanel,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if has_focus(workbench, window, cx) {
        hide(workbench, window, cx);
    } else {
        show(workbench, window, cx);
    }
}

fn focus_or_return(
    workbench: &mut Workbench,
    _: &FocusPanel,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if has_focus(workbench, window, cx) {
        return workbench.focus_active(window, cx);
    }
    let panel = workbench.terminals.panel();
    let is_empty = panel.is_some_and(|panel| panel.read(cx).is_empty());
    match editor_terminals::last(workbench, cx).filter(|_| is_empty) {
        Some(view) => {
            editor_terminals::focus(workbench, &view, window, cx);
        }
        None => show(workbench, window, cx),
    }
}

fn new_terminal(
    workbench: &mut Workbench,
    _: &NewTerminal,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(panel) = panel(workbench, window, cx) else {
        return show(workbench, window, cx);
    };
    panel.update(cx, |panel, cx| {
        panel.open(TerminalRequest::default(), window, cx);
    });
    show(workbench, window, cx);
}

/// Handles a request of the panel to the window.
fn panel_event(
    workbench: &mut Workbench,
    _: &Entity<TerminalPanel>,
    event: &TerminalPanelEvent,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    match event {
        TerminalPanelEvent::OpenFile { path, line, column } => {
            let place = line.map(|line| LineColumn::new(line, column.unwrap_or(1)));
            let options = OpenOptions::lasting().at(place.map(GoToPosition::Place));
            workbench.open_path(path.clone(), options, window, cx);
        }
        TerminalPanelEvent::OpenUrl(url) => cx.open_url(url),
        TerminalPanelEvent::Notify { title, text } => {
            if !window.is_window_active() {
                system_notices::terminal(cx.entity_id(), title, text, cx);
            }
        }
        TerminalPanelEvent::SendToAgent(text) => {
            workbench.add_to_prompt(&fenced(text), window, cx);
        }
        TerminalPanelEvent::AskAgent(request, failed) => {
            failed_commands::ask_agent(workbench, *request, failed, window, cx);
        }
        TerminalPanelEvent::Detached(title) => {
            agent_terminals::note_detached(workbench, title, window, cx);
        }
        TerminalPanelEvent::RerunRequested(label) => {
            tasks::start(workbench, label.clone(), window, cx);
        }
        TerminalPanelEvent::CloseRequested => hide(workbench, window, cx),
        TerminalPanelEvent::ClosedInEditor(view) => {
            if editor_terminals::remove_tab(workbench, view, cx) {
                workbench.focus_active(window, cx);
            }
        }
        TerminalPanelEvent::Changed => editor_terminals::note_change(workbench, cx),
    }
}

/// Returns output of a program as a code block, whose fence does not occur in it.
fn fenced(text: &str) -> String {
    let ticks = text.split(|it| it != '`').map(str::len).max();
    let fence = "`".repeat(ticks.unwrap_or(0).max(2) + 1);
    format!("{fence}\n{}\n{fence}\n", text.trim_end())
}

/// Sets the height, within limits, while the user drags the border to `at` from the top of the area of panes and
/// terminals, which is `room` high.
pub(super) fn drag_border(
    workbench: &mut Workbench,
    at: Pixels,
    room: Pixels,
    cx: &mut Context<Workbench>,
) {
    let most = (f32::from(room) * MAX_SHARE).max(*HEIGHTS.start());
    let height = f32::from(room - at).clamp(*HEIGHTS.start(), most);
    workbench.terminals.height = px(height);
    workbench.store_soon(cx);
    cx.notify();
}

/// Draws the terminals with their border. Returns `None` if they are not visible.
pub(super) fn render_terminals(
    workbench: &Workbench,
    window: &Window,
    cx: &Context<Workbench>,
) -> Option<AnyElement> {
    if !workbench.terminals.is_shown {
        return None;
    }
    let panel = workbench.terminals.panel()?.clone();
    let colors = cx.theme().colors;
    let handle = div()
        .id("terminals-border")
        .absolute()
        .left_0()
        .right_0()
        .top(px(-3.0))
        .h(px(6.0))
        .cursor_row_resize()
        .occlude()
        .on_drag(DraggedTerminalsBorder, |_, _, _, cx| cx.new(|_| Empty));
    let accent = colors.accent;
    let dock = div()
        .relative()
        .flex_none()
        .drag_over::<DraggedTab>(move |style, tab, _, _| {
            if tab.is_terminal {
                style.border_color(accent)
            } else {
                style
            }
        })
        .on_drop(cx.listener(|this, tab: &DraggedTab, window, cx| {
            editor_terminals::drop_on_panel(this, tab.item, window, cx);
        }))
        .w_full()
        .h(workbench.terminals.height)
        .max_h(relative(MAX_SHARE))
        .border_t_1()
        .border_color(colors.border)
        .child(region(
            panel,
            StyleRefinement::default().size_full(),
            window,
        ))
        .child(gpui_kit::deferred(handle));
    Some(dock.into_any_element())
}

#[cfg(test)]
mod tests {
    use super::fenced;

    #[test]
    fn fences_are_longer_than_those_in_the_output() {
        assert_eq!(fenced("a\nb\n"), "```\na\nb\n```\n");
        assert_eq!(fenced("```x```"), "````\n```x```\n````\n");
        assert_eq!(fenced(""), "```\n\n```\n");
    }
}
