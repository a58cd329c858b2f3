//! The title bar of a window: the menus, if they are not native, and the search field.

use base::Platform;
use gpui_kit::TestSupportExt as _;
use gpui_kit::component::TitleBar;
use gpui_kit::component::menu::{AppMenuBar, PopupMenu};
use gpui_kit::{
    Anchor, Context, DismissEvent, Entity, FocusHandle, InteractiveElement as _, IntoElement,
    MouseButton, ParentElement as _, Render, Role, SharedString, StatefulInteractiveElement as _,
    Styled as _, Subscription, Window, anchored, deferred, div, prelude::FluentBuilder as _, px,
};
use settings::MenuBar;
use ui::foreign::one_line;
use ui::{
    ActivePlatform as _, ActiveSettings as _, ActiveTheme as _, Icon, IconButton, IconSize,
    KeyHint, Label, Menu, Tooltip, dp,
};

use crate::actions::{app, file, go, view};
use crate::folder::OpenFolder;
use crate::menus;

/// The title bar of one window.
pub(crate) struct TitleStrip {
    folder: Option<Entity<OpenFolder>>,
    bar: Entity<AppMenuBar>,
    open: Option<OpenMenu>,
}

struct OpenMenu {
    menu: Entity<PopupMenu>,
    before: Option<FocusHandle>,
    _dismissed: Subscription,
}

/// Height of the title bar, in design pixels.
pub(crate) const HEIGHT: f32 = 36.0;

/// Window width, in pixels, below which only essential items are shown.
const NARROW: f32 = 720.0;

impl TitleStrip {
    /// Creates the title bar of a window without a folder.
    pub(crate) fn new(cx: &mut Context<Self>) -> Self {
        Self {
            folder: None,
            bar: AppMenuBar::new(cx),
            open: None,
        }
    }

    /// Sets the open folder.
    pub(crate) fn set_folder(
        &mut self,
        folder: Option<Entity<OpenFolder>>,
        cx: &mut Context<Self>,
    ) {
        self.folder = folder;
        cx.notify();
    }

    /// Opens the menu of the menu button, or closes it if it is open. Does nothing on macOS, whose
    /// menu bar is the system's.
    pub(crate) fn open_menu(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        if self.open.is_some() {
            self.close_menu(window, cx);
            return;
        }
        if cx.platform() == Platform::MacOs {
            return;
        }
        let before = window.focused(cx);
        let context = before.clone();
        let menu = PopupMenu::build(window, cx, |popup, window, cx| {
            let menu = context.into_iter().fold(Menu::new(), Menu::focus);
            let menu = menus::menus(cx.platform())
                .into_iter()
                .fold(menu, |menu, submenu| {
                    let name = submenu.name.clone();
                    let items = submenu.owned();
                    menu.submenu(name, move || inner(&items))
                });
            menu.fill(popup, window, cx)
        });
        let dismissed = cx.subscribe_in(&menu, window, |this, _, _: &DismissEvent, window, cx| {
            this.close_menu(window, cx);
        });
        gpui_kit::Focusable::focus_handle(menu.read(cx), cx).focus(window, cx);
        self.open = Some(OpenMenu {
            menu,
            before,
            _dismissed: dismissed,
        });
        cx.notify();
    }

    fn close_menu(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let Some(open) = self.open.take() else {
            return;
        };
        let menu = gpui_kit::Focusable::focus_handle(open.menu.read(cx), cx);
        // The chosen action may already have moved the focus.
        let is_still_here = menu.contains_focused(window, cx) || window.focused(cx).is_none();
        if let Some(before) = open.before.filter(|_| is_still_here) {
            before.focus(window, cx);
        }
        cx.notify();
    }

    /// Renders the menus as a bar or behind a button, as the setting says. Returns `None` if it
    /// hides them.
    fn render_menu(&self, cx: &mut Context<Self>) -> Option<gpui_kit::AnyElement> {
        match cx.settings().window.menu {
            MenuBar::Hidden => None,
            MenuBar::Bar => Some(div().h_full().child(self.bar.clone()).into_any_element()),
            MenuBar::Button => {
                let menu = self.open.as_ref().map(|open| {
                    deferred(
                        anchored()
                            .anchor(Anchor::TopLeft)
                            .snap_to_window()
                            .child(div().pt(dp(28.0)).child(open.menu.clone())),
                    )
                    .with_priority(2)
                });
                let button = IconButton::new("menu", Icon::Menu, "Menu")
                    .small()
                    .on_click(cx.listener(|this, _, window, cx| this.open_menu(window, cx)));
                Some(
                    div()
                        .relative()
                        .child(button)
                        .children(menu)
                        .into_any_element(),
                )
            }
        }
    }

    fn render_place(&self, cx: &mut Context<Self>) -> gpui_kit::AnyElement {
        let colors = cx.theme().colors;
        let Some(folder) = &self.folder else {
            return Label::new("Burin").muted().into_any_element();
        };
        let folder = folder.read(cx);
        let branch = folder.branch().map(|branch| {
            div()
                .flex()
                .items_center()
                .min_w_0()
                .gap(dp(4.0))
                .child(Icon::GitBranch.size(IconSize::Small).color(colors.muted))
                .child(Label::new(branch.name.clone()).muted())
        });
        let name: SharedString = folder.name().into();
        let path = folder.root().printable();
        div()
            .flex()
            .items_center()
            .min_w_0()
            .gap(dp(8.0))
            .child(
                div()
                    .id("folder-name")
                    .role(Role::Button)
                    .test_support()
                    .aria_label(one_line(format!("Folder {name}, open another")))
                    .px(dp(4.0))
                    .rounded(px(4.0))
                    .cursor_pointer()
                    .hover(|style| style.bg(colors.hover))
                    .on_mouse_down(MouseButton::Left, |_, window, cx| {
                        window.prevent_default();
                        cx.stop_propagation();
                    })
                    .on_click(|_, window, cx| {
                        window.dispatch_action(Box::new(file::OpenRecent), cx)
                    })
                    .tooltip(Tooltip::text(path))
                    .child(Label::new(name).strong()),
            )
            .children(branch)
            .into_any_element()
    }

    fn render_field(&self, window: &mut Window, cx: &mut Context<Self>) -> gpui_kit::AnyElement {
        let colors = cx.theme().colors;
        let keys = KeyHint::for_action(&go::Search, window, cx);
        div()
            .id("find-field")
            .role(Role::Button)
            .test_support()
            .aria_label("Search files, symbols, meaning")
            .flex()
            .flex_1()
            .max_w(dp(420.0))
            .min_w_0()
            .h(dp(24.0))
            .px(dp(8.0))
            .gap(dp(8.0))
            .items_center()
            .rounded(px(4.0))
            .border_1()
            .border_color(colors.border)
            .bg(colors.surface)
            .cursor_pointer()
            .hover(|style| style.border_color(colors.border_strong))
            .on_mouse_down(MouseButton::Left, |_, window, cx| {
                window.prevent_default();
                cx.stop_propagation();
            })
            .on_click(|_, window, cx| window.dispatch_action(Box::new(go::Search), cx))
            .child(Icon::Search.size(IconSize::Small).color(colors.muted))
            .child(
                div().flex_1().min_w_0().child(
                    Label::new("Search files, symbols, meaning\u{2026}")
                        .small()
                        .muted(),
                ),
            )
            .children(keys)
            .into_any_element()
    }
}

fn inner(menu: &gpui_kit::OwnedMenu) -> Menu {
    menu.items
        .iter()
        .fold(Menu::new(), |menu, item| match item {
            gpui_kit::OwnedMenuItem::Action { name, action, .. } => {
                menu.action(name.clone(), action.boxed_clone())
            }
            gpui_kit::OwnedMenuItem::Separator => menu.separator(),
            gpui_kit::OwnedMenuItem::Submenu(_) | gpui_kit::OwnedMenuItem::SystemMenu(_) => menu,
        })
}

impl Render for TitleStrip {
    fn render(&mut self, window: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let colors = cx.theme().colors;
        let is_wide = f32::from(window.viewport_size().width) >= NARROW;
        let menu = self.render_menu(cx);
        let side = match cx.platform() {
            Platform::Linux => menu,
            // The system shows the menus.
            Platform::MacOs => None,
        };
        TitleBar::new()
            .h(dp(HEIGHT))
            .bg(colors.sunken)
            .border_color(colors.border)
            .on_close_window(|_, window, cx| window.dispatch_action(Box::new(app::CloseWindow), cx))
            .child(
                div()
                    .flex()
                    .flex_1()
                    .min_w_0()
                    .h_full()
                    .items_center()
                    .gap(dp(8.0))
                    .children(side)
                    .child(div().flex().flex_1().min_w_0().child(self.render_place(cx)))
                    .child(self.render_field(window, cx))
                    .child(
                        div()
                            .flex()
                            .flex_1()
                            .justify_end()
                            .items_center()
                            .gap(dp(4.0))
                            .pr(dp(4.0))
                            .when(is_wide, |this| {
                                this.child(
                                    IconButton::new("toggle-tree", Icon::PanelLeft, "Project tree")
                                        .small()
                                        .action(Box::new(view::ToggleProjectTree)),
                                )
                                .child(
                                    IconButton::new("toggle-agents", Icon::Bot, "Agents")
                                        .small()
                                        .action(Box::new(composer_panel::actions::TogglePanel)),
                                )
                            }),
                    ),
            )
    }
}
