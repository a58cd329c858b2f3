//! The agents panel at the right edge of a window.

use composer_panel::actions::{
    AllowHooks, ChooseModel, DistrustFolder, FocusPanel, NewSession, ShowBoard, ShowSessions, Stop,
    TogglePanel, TrustFolder,
};
use composer_panel::{ComposerPanel, PanelEvent};
use gpui_kit::{
    AnyElement, App, AppContext as _, Context, Empty, Entity, Focusable as _,
    InteractiveElement as _, IntoElement as _, ParentElement as _, Pixels,
    StatefulInteractiveElement as _, StyleRefinement, Styled as _, Window, div, px, relative,
};
use ui::{ActiveTheme as _, Tone};

use super::{GoToPosition, OpenOptions, Workbench};
use crate::notices::Notice;
use crate::pickers::choices;
use crate::region::region;
use crate::services::Services;
use crate::session::SavedDock;
use crate::target::LineColumn;

/// Drag of the panel's border.
pub(super) struct DraggedAgentsBorder;

/// Minimum and maximum width of the panel while dragging, in pixels.
const WIDTHS: (f32, f32) = (280.0, 1200.0);
/// Window width, in pixels, below which the panel overlays the text.
const NARROW_FOR_AGENTS: f32 = 900.0;

/// Visibility and width of the panel.
pub(super) struct AgentsDock {
    pub(super) panel: Entity<ComposerPanel>,
    pub(super) is_shown: bool,
    pub(super) width: Pixels,
}

impl AgentsDock {
    pub(super) fn new(window: &mut Window, cx: &mut Context<Workbench>) -> Self {
        let engines = Services::of(cx).agents;
        Self {
            panel: cx.new(|cx| ComposerPanel::new(engines, None, window, cx)),
            is_shown: false,
            width: px(420.0),
        }
    }

    pub(super) fn saved(&self) -> SavedDock {
        SavedDock {
            is_shown: self.is_shown,
            width: f32::from(self.width),
        }
    }

    pub(super) fn restore(
        &mut self,
        saved: &SavedDock,
        window: &mut Window,
        cx: &mut Context<Workbench>,
    ) {
        self.is_shown = saved.is_shown;
        self.width = px(saved.width.clamp(WIDTHS.0, WIDTHS.1));
        if self.is_shown {
            self.panel.update(cx, |panel, cx| panel.wake(window, cx));
        }
    }
}

impl Workbench {
    /// Returns the agents panel.
    pub fn agents(&self) -> &Entity<ComposerPanel> {
        &self.agents.panel
    }

    /// Returns whether the agents panel is visible. In a narrow window it overlays the text, so it
    /// is hidden while the text has the focus.
    pub(crate) fn is_agents_visible(&self, window: &Window, cx: &App) -> bool {
        let is_in_text = || {
            let item = self.active_item();
            item.is_some_and(|item| item.focus_handle(cx).contains_focused(window, cx))
        };
        self.agents.is_shown && !(is_narrow_for_agents(window) && is_in_text())
    }

    pub(super) fn toggle_agents(
        &mut self,
        _: &TogglePanel,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        if self.is_agents_visible(window, cx) {
            self.hide_agents(window, cx)
        } else {
            self.show_agents(window, cx)
        }
    }

    pub(super) fn focus_agents(
        &mut self,
        _: &FocusPanel,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let focus = self.agents.panel.read(cx).focus_handle(cx);
        if self.agents.is_shown && focus.contains_focused(window, cx) {
            self.focus_active(window, cx)
        } else {
            self.show_agents(window, cx)
        }
    }

    fn show_agents(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.agents.is_shown = true;
        self.agents.panel.update(cx, |panel, cx| {
            panel.wake(window, cx);
            panel.focus_prompt(window, cx);
        });
        self.layout_changed(cx);
    }

    fn hide_agents(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.agents.is_shown = false;
        self.focus_active(window, cx);
        self.layout_changed(cx);
    }

    pub(super) fn new_agent_session(
        &mut self,
        _: &NewSession,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.show_agents(window, cx);
        self.agents
            .panel
            .update(cx, |panel, cx| panel.open_new_session(window, cx));
    }

    pub(super) fn trust_folder(
        &mut self,
        action: &TrustFolder,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.show_agents(window, cx);
        self.agents
            .panel
            .update(cx, |panel, cx| panel.trust_folder(action, window, cx));
    }

    pub(super) fn distrust_folder(
        &mut self,
        action: &DistrustFolder,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.show_agents(window, cx);
        self.agents
            .panel
            .update(cx, |panel, cx| panel.distrust_folder(action, window, cx));
    }

    pub(super) fn allow_hooks(
        &mut self,
        action: &AllowHooks,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.show_agents(window, cx);
        self.agents
            .panel
            .update(cx, |panel, cx| panel.allow_hooks(action, window, cx));
    }

    pub(super) fn show_agent_sessions(
        &mut self,
        _: &ShowSessions,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.show_agents(window, cx);
        self.agents
            .panel
            .update(cx, |panel, cx| panel.list_sessions(window, cx));
    }

    pub(super) fn show_agent_board(
        &mut self,
        _: &ShowBoard,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.show_agents(window, cx);
        self.agents
            .panel
            .update(cx, |panel, cx| panel.open_board(window, cx));
    }

    pub(super) fn stop_agent(&mut self, _: &Stop, _: &mut Window, cx: &mut Context<Self>) {
        self.agents.panel.read(cx).stop_turn();
    }

    pub(super) fn choose_model_action(
        &mut self,
        _: &ChooseModel,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.choose_model(window, cx);
    }

    fn choose_model(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let choices = choices::models(self.agents.panel.clone(), cx);
        self.pick(choices, window, cx);
    }

    pub(super) fn agents_event(
        &mut self,
        _: &Entity<ComposerPanel>,
        event: &PanelEvent,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        match event {
            PanelEvent::ChooseModel => self.choose_model(window, cx),
            PanelEvent::OpenFile(path, line) => {
                let how = OpenOptions::lasting()
                    .at(line.map(|line| GoToPosition::Place(LineColumn::new(line, 1))));
                self.open_path(path.clone(), how, window, cx);
            }
            PanelEvent::BoardChanged => self.refresh_review(cx),
            PanelEvent::WriteDispute { agent, path, draft } => {
                self.write_dispute(agent, path, draft, window, cx);
            }
            PanelEvent::ChooseTurn { agent, turns } => {
                let choices =
                    choices::turn_picker(self.agents.panel.clone(), agent.clone(), *turns);
                self.pick(choices, window, cx);
            }
            PanelEvent::Problem(sentence) => {
                let notice = Notice::new(Tone::Warning, sentence.clone()).key(sentence);
                self.report(notice, window, cx);
            }
            PanelEvent::Leave => self.focus_active(window, cx),
        }
    }

    pub(super) fn drag_agents_border(&mut self, at: Pixels, room: Pixels, cx: &mut Context<Self>) {
        let most = WIDTHS.1.min(f32::from(room) * 0.8).max(WIDTHS.0);
        let width = f32::from(room - at).clamp(WIDTHS.0, most);
        self.agents.width = px(width);
        self.store_soon(cx);
        cx.notify();
    }

    pub(super) fn render_agents(&self, window: &Window, cx: &Context<Self>) -> Option<AnyElement> {
        if !self.is_agents_visible(window, cx) {
            return None;
        }
        let colors = cx.theme().colors;
        let handle = div()
            .id("agents-border")
            .absolute()
            .top_0()
            .bottom_0()
            .left(px(-3.0))
            .w(px(6.0))
            .cursor_col_resize()
            .occlude()
            .on_drag(DraggedAgentsBorder, |_, _, _, cx| cx.new(|_| Empty));
        let dock = div()
            .relative()
            .flex_none()
            .h_full()
            .w(self.agents.width)
            .max_w(relative(0.9))
            .bg(colors.raised)
            .border_l_1()
            .border_color(colors.border)
            .child(region(
                self.agents.panel.clone(),
                StyleRefinement::default().size_full(),
                window,
            ))
            .child(gpui_kit::deferred(handle));
        Some(if is_narrow_for_agents(window) {
            let dock = dock.absolute().top_0().bottom_0().right_0();
            gpui_kit::deferred(dock.shadow_lg().occlude()).into_any_element()
        } else {
            dock.into_any_element()
        })
    }
}

fn is_narrow_for_agents(window: &Window) -> bool {
    f32::from(window.viewport_size().width) < NARROW_FOR_AGENTS
}
