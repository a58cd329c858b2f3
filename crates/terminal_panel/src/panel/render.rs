//! Renders the panel: tabs, buttons, and the terminals of the shown tab side by side.

use gpui_kit::prelude::FluentBuilder as _;
use gpui_kit::{
    AnyElement, App, AppContext as _, Context, InteractiveElement as _, IntoElement,
    ParentElement as _, Render, Role, SharedString, StatefulInteractiveElement as _, Styled as _,
    TestSupportExt as _, Window, div,
};
use ui::{
    ActiveTheme as _, Button, ButtonStyle, EmptyState, Icon, IconButton, Menu, MenuExt as _, Tab,
    TabMark, TextField, dp, foreign,
};

use super::{DraggedTerminal, PanelTab, TerminalPanel, TerminalPanelEvent};
use crate::actions::{
    CloseAllTerminals, CloseTerminal, MoveTerminalIntoEditorArea, NewTerminal, RenameTerminal,
    SplitTerminal,
};
use crate::tab;
use crate::view::{AgentProgramState, TerminalView, agent_state};

/// The image of a terminal that is being dragged.
struct DraggedTerminalView {
    title: SharedString,
}

impl PanelTab {
    fn views<'a>(&self, cx: &'a App) -> Vec<&'a TerminalView> {
        let panes = self.panes.iter();
        panes.map(|pane| pane.view.read(cx)).collect()
    }

    /// Returns the mark behind the title.
    fn mark(&self, is_shown: bool, cx: &App) -> Option<TabMark> {
        tab::mark_of(&self.views(cx), self.agent_state(cx), is_shown, cx)
    }

    /// Returns the state of an agent's program, if the tab shows one alone.
    fn agent_state(&self, cx: &App) -> Option<AgentProgramState> {
        match self.panes.as_slice() {
            [pane] => agent_state(pane.view.read(cx)),
            _ => None,
        }
    }

    /// Returns the value that is dragged with the tab: the terminal that has or had the focus.
    fn dragged(&self, cx: &App) -> Option<DraggedTerminal> {
        let pane = self.panes.get(self.active)?;
        Some(DraggedTerminal {
            view: pane.view.clone(),
            title: self.title(cx),
        })
    }
}

impl TerminalPanel {
    fn render_tab(&self, ix: usize, tab: &PanelTab, cx: &Context<Self>) -> AnyElement {
        let is_shown = ix == self.active;
        let id = tab.id;
        let naming = self.naming.as_ref().filter(|naming| naming.tab == id);
        if let Some(naming) = naming {
            let field = TextField::new(&naming.field, "Name of the terminal");
            return div()
                .id(("terminal-naming", id))
                .w(dp(180.0))
                .px(dp(4.0))
                .key_context("TerminalNaming")
                .child(field)
                .into_any_element();
        }
        let this = cx.weak_entity();
        let element = Tab::new(("terminal-tab", id), tab.title_with_note(cx))
            .active(is_shown)
            .detail(tab.agent_state(cx).map(|it| it.sandbox.into()))
            .start(tab::icon_of(&tab.views(cx), cx))
            .mark(tab.mark(is_shown, cx))
            .on_click(
                cx.listener(move |this, event: &gpui_kit::ClickEvent, window, cx| {
                    this.activate(ix, window, cx);
                    if event.click_count() == 2 {
                        this.rename(&RenameTerminal, window, cx);
                    }
                }),
            )
            .on_close(move |window, cx| {
                // The window may be gone.
                this.update(cx, |this, cx| this.close_tab(id, window, cx))
                    .ok();
            })
            .when_some(tab.dragged(cx), |element, dragged| {
                element.on_drag(dragged, |dragged, _, _, cx| {
                    let title = dragged.title.clone();
                    cx.new(|_| DraggedTerminalView { title })
                })
            });
        let this = cx.weak_entity();
        let menu = move |window: &mut Window, cx: &mut App| {
            // The window may be gone.
            this.update(cx, |this, cx| this.activate(ix, window, cx))
                .ok();
            Menu::new()
                .action("New terminal", Box::new(NewTerminal))
                .action("Split", Box::new(SplitTerminal))
                .action("Rename\u{2026}", Box::new(RenameTerminal))
                .action(
                    "Move into editor area",
                    Box::new(MoveTerminalIntoEditorArea),
                )
                .separator()
                .action("Close", Box::new(CloseTerminal))
                .action("Close all", Box::new(CloseAllTerminals))
        };
        div()
            .id(("terminal-tab-menu", id))
            .child(element)
            .menu_on_right_click(menu)
            .into_any_element()
    }

    fn render_bar(&self, cx: &Context<Self>) -> impl IntoElement + use<> {
        let colors = cx.theme().colors;
        let tabs: Vec<AnyElement> = self
            .tabs
            .iter()
            .enumerate()
            .map(|(ix, tab)| self.render_tab(ix, tab, cx))
            .collect();
        let list = div()
            .id("terminal-tabs")
            .role(Role::TabList)
            .aria_label("Terminals")
            .flex()
            .flex_1()
            .min_w_0()
            .overflow_x_scroll()
            .children(tabs);
        let buttons = [
            IconButton::new("terminal-new", Icon::Plus, "New terminal")
                .small()
                .action(Box::new(NewTerminal)),
            IconButton::new("terminal-split", Icon::Columns, "Split terminal")
                .small()
                .disabled(self.tabs.is_empty())
                .action(Box::new(SplitTerminal)),
            IconButton::new("terminal-hide", Icon::Close, "Hide terminals")
                .small()
                .on_click(cx.listener(|_, _, _, cx| cx.emit(TerminalPanelEvent::CloseRequested))),
        ];
        div()
            .flex()
            .flex_none()
            .items_center()
            .h(dp(32.0))
            .bg(colors.sunken)
            .border_b_1()
            .border_color(colors.border)
            .child(list)
            .child(
                div()
                    .flex()
                    .flex_none()
                    .gap(dp(4.0))
                    .px(dp(6.0))
                    .children(buttons),
            )
    }

    fn render_body(&self, cx: &Context<Self>) -> AnyElement {
        let Some(tab) = self.tabs.get(self.active) else {
            let open = Button::new("terminal-open", "New terminal")
                .style(ButtonStyle::Primary)
                .action(Box::new(NewTerminal))
                .with_keys();
            let empty = EmptyState::new("No terminal is open")
                .icon(Icon::Terminal)
                .detail("A terminal runs your shell in the folder of this window.")
                .child(open);
            return empty.into_any_element();
        };
        let border = cx.theme().colors.border;
        let panes = tab.panes.iter().enumerate().map(|(ix, pane)| {
            div()
                .flex_1()
                .min_w_0()
                .h_full()
                .when(ix > 0, |pane| pane.border_l_1().border_color(border))
                .child(pane.view.clone())
        });
        div()
            .flex()
            .size_full()
            .children(panes.collect::<Vec<_>>())
            .into_any_element()
    }
}

impl Render for TerminalPanel {
    fn render(&mut self, _: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let colors = cx.theme().colors;
        let name: SharedString = match self.tabs.len() {
            1 => "Terminal".into(),
            _ => "Terminals".into(),
        };
        div()
            .id("terminal-panel")
            .role(Role::Region)
            .aria_label(name)
            .test_support()
            .track_focus(&self.focus)
            .key_context("TerminalPanel")
            .on_action(cx.listener(Self::new_terminal))
            .on_action(cx.listener(Self::split))
            .on_action(cx.listener(Self::close_terminal))
            .on_action(cx.listener(Self::close_all))
            .on_action(cx.listener(Self::next_terminal))
            .on_action(cx.listener(Self::previous_terminal))
            .on_action(cx.listener(Self::focus_next_split))
            .on_action(cx.listener(Self::rename))
            .on_action(
                cx.listener(|this, _: &crate::actions::DismissQuestion, window, cx| {
                    this.finish_naming(None, window, cx);
                }),
            )
            .size_full()
            .flex()
            .flex_col()
            .bg(colors.surface)
            .text_color(colors.text)
            .text_size(dp(13.0))
            .child(self.render_bar(cx))
            .children(self.render_closing(cx))
            .child(
                div()
                    .flex_1()
                    .min_h_0()
                    .overflow_hidden()
                    .child(self.render_body(cx)),
            )
    }
}

impl Render for DraggedTerminalView {
    fn render(&mut self, _: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let colors = cx.theme().colors;
        div()
            .px(dp(10.0))
            .py(dp(4.0))
            .rounded(dp(4.0))
            .border_1()
            .border_color(colors.border_strong)
            .bg(colors.raised)
            .text_color(colors.text)
            .text_size(dp(13.0))
            .child(foreign::one_line(self.title.clone()))
    }
}
