//! The title bar of a window: the menus, if they are not native, and the search field.

mod app_menu;

use base::Platform;
use gpui_kit::TestSupportExt as _;
use gpui_kit::component::TitleBar;
use gpui_kit::{
    AppContext as _, Context, Entity, InteractiveElement as _, IntoElement, MouseButton,
    ParentElement as _, Render, Role, SharedString, StatefulInteractiveElement as _, Styled as _,
    Window, div, prelude::FluentBuilder as _, px,
};
use ui::foreign::one_line;
use ui::{
    ActivePlatform as _, ActiveTheme as _, Icon, IconButton, IconSize, KeyHint, Label, Tooltip, dp,
};

use self::app_menu::AppMenu;
use crate::actions::{app, file, go, view};
use crate::folder::OpenFolder;

/// The title bar of one window.
pub(crate) struct TitleStrip {
    folder: Option<Entity<OpenFolder>>,
    menu: Entity<AppMenu>,
}

/// Height of the title bar, in design pixels.
pub(crate) const HEIGHT: f32 = 36.0;

/// Window width, in pixels, below which only essential items are shown.
const NARROW: f32 = 720.0;

impl TitleStrip {
    /// Creates the title bar of a window without a folder.
    pub(crate) fn new(cx: &mut Context<Self>) -> Self {
        let platform = cx.platform();
        Self {
            folder: None,
            menu: cx.new(|_| AppMenu::new(platform)),
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

    /// Opens the menus, or closes them if they are open. Does nothing on macOS, whose menu bar is the
    /// system's.
    pub(crate) fn toggle_menu(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        if cx.platform() == Platform::Linux {
            self.menu.update(cx, |menu, cx| menu.toggle(window, cx));
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

impl Render for TitleStrip {
    fn render(&mut self, window: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let colors = cx.theme().colors;
        let is_wide = f32::from(window.viewport_size().width) >= NARROW;
        // On macOS the system shows the menus.
        let menu = (cx.platform() == Platform::Linux).then(|| self.menu.clone());
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
                    .children(menu)
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
