//! The tab bar of one pane.
//!
//! Reads the workbench; changes it only through its methods.

use gpui_kit::TestSupportExt as _;
use gpui_kit::{
    App, AppContext as _, Context, InteractiveElement as _, IntoElement, MouseButton,
    ParentElement as _, Rems, Render, Role, ScrollHandle, SharedString,
    StatefulInteractiveElement as _, Styled as _, WeakEntity, Window, div,
    prelude::FluentBuilder as _, px,
};
use preview_view::actions::{OpenToTheSide, OpenWith};
use project::DocumentState;
use settings::TabCloseButton;
use terminal_panel::actions::{MoveTerminalIntoPanel, RenameTerminal};
use terminal_panel::{DraggedTerminal, tab};
use ui::{
    ActiveSettings as _, ActiveTheme as _, Icon, IconButton, Menu, MenuExt as _, Tab, TabMark,
    Tooltip, dp,
};

use crate::actions::{file, pane};
use crate::drag::DraggedTab;
use crate::folder_diagnostics;
use crate::item::TabItem;
use crate::layout::{CloseScope, ItemId, PaneId, TabState as TabData};
use crate::workbench::{Workbench, editor_terminals};

/// The tabs of one pane.
pub(crate) struct TabStrip {
    pane: PaneId,
    workbench: WeakEntity<Workbench>,
    scroll: ScrollHandle,
    shown: Option<ItemId>,
}

/// Drag image of a tab.
struct DraggedTabView {
    title: SharedString,
}

impl TabStrip {
    /// Creates the tab bar of a pane.
    pub(crate) fn new(pane: PaneId, workbench: WeakEntity<Workbench>) -> Self {
        Self {
            pane,
            workbench,
            scroll: ScrollHandle::new(),
            shown: None,
        }
    }

    /// Returns the height of a tab bar.
    pub(crate) fn height() -> Rems {
        dp(32.0)
    }

    /// Renders the tab at `index`. Returns `None` if its item no longer exists.
    fn render_tab(
        &self,
        index: usize,
        tab: TabData,
        active: Option<ItemId>,
        workbench: &Workbench,
        cx: &App,
    ) -> Option<impl IntoElement + use<>> {
        let item = workbench.item(tab.item)?;
        let (id, pane) = (tab.item, self.pane);
        let window_settings = &cx.settings().window;
        let title = item.title(cx);
        let (this, menu_this) = (self.workbench.clone(), self.workbench.clone());
        let (clicked, closed, dropped) = (this.clone(), this.clone(), this.clone());
        let entered = this.clone();
        let accent = cx.theme().colors.accent;
        let is_conflict = matches!(
            item.state(cx),
            Some(DocumentState::Conflict | DocumentState::DeletedOnDisk)
        );
        let start = window_settings.file_icons.then(|| {
            if is_conflict {
                Icon::Warning
                    .color(cx.theme().colors.warning)
                    .into_any_element()
            } else {
                item.icon(cx)
            }
        });
        let path = item.path(cx).map(|path| workbench.display_path(&path, cx));
        let dragged = DraggedTab {
            item: id,
            title: title.to_string(),
            is_terminal: item.terminal().is_some(),
        };
        let mut element = Tab::new(("tab", id.0), title.clone())
            .detail(detail(tab.item, item, pane, workbench, cx))
            .active(active == Some(id))
            .inactive_pane(workbench.layout().active_pane() != pane)
            .preview(tab.preview)
            .dirty(item.is_dirty(cx))
            .mark(mark(item, active == Some(id), workbench, cx))
            .pinned(tab.pinned)
            .close_left(window_settings.tab_close_button == TabCloseButton::Left)
            .on_click(move |event, window, cx| {
                let keeps = event.click_count() == 2;
                clicked
                    .update(cx, |workbench, cx| {
                        if keeps {
                            workbench.keep_open(id, cx);
                        }
                        workbench.activate(id, window, cx);
                    })
                    .ok();
            });
        if let Some(start) = start {
            element = element.start(start);
        }
        if window_settings.tab_close_button != TabCloseButton::Hidden {
            element = element.on_close(move |window, cx| {
                closed
                    .update(cx, |workbench, cx| {
                        workbench.close(CloseScope::One(id), window, cx)
                    })
                    .ok();
            });
        }
        let element = element
            .on_drag(dragged, |dragged, _, _, cx| {
                let title = dragged.title.clone().into();
                cx.new(|_| DraggedTabView { title })
            })
            .drag_over::<DraggedTab>(move |style, _, _, _| style.border_l_2().border_color(accent))
            .on_drop(move |dragged: &DraggedTab, window, cx| {
                dropped
                    .update(cx, |workbench, cx| {
                        workbench.move_tab_to(dragged.item, pane, index, window, cx)
                    })
                    .ok();
            })
            .on_drop(move |dragged: &DraggedTerminal, window, cx| {
                drop_terminal(&entered, dragged, pane, window, cx);
            })
            .when_some(path, |this, path| this.tooltip(Tooltip::text(path)));
        let framed = div()
            .id(("tab-frame", id.0))
            .flex_none()
            .child(element)
            .menu_on_right_click(move |window, cx| tab_menu(&menu_this, id, window, cx));
        Some(framed)
    }
}

/// Moves a terminal of the panel into a tab of a pane.
fn drop_terminal(
    workbench: &WeakEntity<Workbench>,
    dragged: &DraggedTerminal,
    pane: PaneId,
    window: &mut Window,
    cx: &mut App,
) {
    let view = dragged.view.clone();
    let moved = workbench.update(cx, |workbench, cx| {
        editor_terminals::drop_on_pane(workbench, view, pane, window, cx);
    });
    // The window may be gone.
    moved.ok();
}

/// Returns the mark behind the title: the state of a terminal, or the errors and warnings of a file.
fn mark(item: &TabItem, is_shown: bool, workbench: &Workbench, cx: &App) -> Option<TabMark> {
    match item.terminal() {
        Some(view) => tab::mark(view.read(cx), is_shown, cx),
        None => diagnostic_mark(item, workbench, cx),
    }
}

/// Returns the mark of a tab whose file has errors or warnings.
fn diagnostic_mark(item: &TabItem, workbench: &Workbench, cx: &App) -> Option<TabMark> {
    let counts = match item.document(cx) {
        Some(document) => document.read(cx).diagnostic_counts(),
        None => {
            let servers = workbench.language_servers(cx)?;
            servers.read(cx).diagnostics().counts_of(&item.path(cx)?)
        }
    };
    let color = folder_diagnostics::color(counts, &cx.theme().colors)?;
    Some(TabMark {
        color,
        count: (counts.errors + counts.warnings).to_string().into(),
        spoken: folder_diagnostics::phrase(counts).into(),
    })
}

/// Returns the folder that distinguishes tabs with the same title, or the sandbox of an agent's terminal.
fn detail(
    id: ItemId,
    item: &TabItem,
    pane: PaneId,
    workbench: &Workbench,
    cx: &App,
) -> Option<SharedString> {
    if let Some(view) = item.terminal() {
        return tab::detail(view.read(cx));
    }
    let title = item.title(cx);
    let tabs = workbench.layout().tabs(pane)?.tabs();
    let others = tabs
        .iter()
        .filter(|tab| tab.item != id)
        .filter_map(|tab| workbench.item(tab.item));
    if !others.into_iter().any(|other| other.title(cx) == title) {
        return None;
    }
    let folder = item.path(cx)?.parent()?;
    let parts = workbench.display_path(&folder, cx);
    Some(
        parts
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .to_owned()
            .into(),
    )
}

fn tab_menu(
    workbench: &WeakEntity<Workbench>,
    id: ItemId,
    window: &mut Window,
    cx: &mut App,
) -> Menu {
    // The actions apply to the active tab, so the tab under the pointer is activated first.
    workbench
        .update(cx, |workbench, cx| workbench.activate(id, window, cx))
        .ok();
    let pinned = workbench.upgrade().is_some_and(|workbench| {
        let layout = workbench.read(cx).layout();
        let tabs = layout.pane_of(id).and_then(|pane| layout.tabs(pane));
        tabs.is_some_and(|tabs| tabs.tabs().iter().any(|tab| tab.item == id && tab.pinned))
    });
    let is_terminal = workbench.upgrade().is_some_and(|workbench| {
        let item = workbench.read(cx).item(id);
        item.and_then(TabItem::terminal).is_some()
    });
    let menu = Menu::new()
        .action("Close", Box::new(pane::CloseTab))
        .action("Close others", Box::new(pane::CloseOtherTabs))
        .action("Close to the right", Box::new(pane::CloseTabsToTheRight))
        .action("Close saved", Box::new(pane::CloseSavedTabs))
        .action("Close all", Box::new(pane::CloseAllTabs))
        .separator()
        .toggle("Pinned", Box::new(pane::TogglePinTab), pinned)
        .action("Keep open", Box::new(pane::KeepTab))
        .separator();
    let menu = if is_terminal {
        menu.action("Rename\u{2026}", Box::new(RenameTerminal))
            .action("Move into panel", Box::new(MoveTerminalIntoPanel))
    } else {
        file_section(menu)
    };
    menu.separator()
        .action("Split right", Box::new(pane::SplitRight))
        .action("Split down", Box::new(pane::SplitDown))
}

/// Adds the actions for the file of a tab.
fn file_section(menu: Menu) -> Menu {
    menu.action("Open preview to the side", Box::new(OpenToTheSide))
        .action("Open with\u{2026}", Box::new(OpenWith))
        .separator()
        .action("Copy path", Box::new(file::CopyPath))
        .action("Copy relative path", Box::new(file::CopyRelativePath))
        .action("Show in project tree", Box::new(file::RevealInTree))
        .action("Show in file manager", Box::new(file::RevealInFileManager))
}

impl TabStrip {
    /// Renders the space after the last tab: a drop target, and a double click creates an untitled
    /// text.
    fn render_rest(&self, count: usize, cx: &App) -> impl IntoElement + use<> {
        let (pane, hover) = (self.pane, cx.theme().colors.hover);
        let (dropped, pressed) = (self.workbench.clone(), self.workbench.clone());
        let entered = self.workbench.clone();
        div()
            .id(("tab-rest", pane.0))
            .flex_1()
            .min_w(dp(16.0))
            .h_full()
            .drag_over::<DraggedTab>(move |style, _, _, _| style.bg(hover))
            .on_drop(move |dragged: &DraggedTab, window, cx| {
                dropped
                    .update(cx, |workbench, cx| {
                        workbench.move_tab_to(dragged.item, pane, count, window, cx)
                    })
                    .ok();
            })
            .drag_over::<DraggedTerminal>(move |style, _, _, _| style.bg(hover))
            .on_drop(move |dragged: &DraggedTerminal, window, cx| {
                drop_terminal(&entered, dragged, pane, window, cx);
            })
            .on_mouse_down(MouseButton::Left, move |event, window, cx| {
                let starts_new = event.click_count == 2;
                pressed
                    .update(cx, |workbench, cx| workbench.focus_pane(pane, window, cx))
                    .ok();
                if starts_new {
                    window.dispatch_action(Box::new(file::New), cx);
                }
            })
    }

    fn render_split_button(&self) -> impl IntoElement + use<> {
        let button = IconButton::new(("split", self.pane.0), Icon::Columns, "Split right")
            .small()
            .tab_stop(false)
            .action(Box::new(pane::SplitRight));
        div()
            .flex()
            .flex_none()
            .items_center()
            .px(dp(4.0))
            .child(button)
    }

    /// Scrolls to the active tab when it changed.
    fn show_active(&mut self, active: Option<ItemId>, at: Option<usize>) {
        if active != self.shown {
            self.shown = active;
            if let Some(at) = at {
                self.scroll.scroll_to_item(at);
            }
        }
    }
}

impl Render for TabStrip {
    fn render(&mut self, _: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let nothing = div()
            .id(("tab-bar", self.pane.0))
            .flex_none()
            .into_any_element();
        let Some(workbench) = self
            .workbench
            .upgrade()
            .filter(|_| cx.settings().window.tabs)
        else {
            return nothing;
        };
        let workbench = workbench.read(cx);
        let layout = workbench.layout();
        let Some(tabs) = layout.tabs(self.pane).filter(|tabs| !tabs.is_empty()) else {
            return nothing;
        };
        let active = tabs.active();
        let elements: Vec<_> = tabs
            .tabs()
            .iter()
            .enumerate()
            .filter_map(|(index, tab)| self.render_tab(index, *tab, active, workbench, cx))
            .collect();
        let split = (layout.active_pane() == self.pane).then(|| self.render_split_button());
        let rest = self.render_rest(tabs.tabs().len(), cx);
        let at = active.and_then(|item| tabs.index_of(item));
        let colors = cx.theme().colors;
        self.show_active(active, at);
        div()
            .id(("tab-bar", self.pane.0))
            .role(Role::TabList)
            .test_support()
            .aria_label("Tabs")
            .flex()
            .flex_none()
            .w_full()
            .h(Self::height())
            .bg(colors.sunken)
            .border_b_1()
            .border_color(colors.border)
            .child(
                div()
                    .id(("tab-scroll", self.pane.0))
                    .flex()
                    .flex_1()
                    .min_w_0()
                    .overflow_x_scroll()
                    .track_scroll(&self.scroll)
                    .children(elements)
                    .child(rest),
            )
            .children(split)
            .into_any_element()
    }
}

impl Render for DraggedTabView {
    fn render(&mut self, _: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let colors = cx.theme().colors;
        div()
            .px(dp(10.0))
            .py(dp(4.0))
            .rounded(px(4.0))
            .border_1()
            .border_color(colors.border_strong)
            .bg(colors.raised)
            .text_color(colors.text)
            .text_size(dp(13.0))
            .child(ui::foreign::one_line(self.title.clone()))
    }
}
