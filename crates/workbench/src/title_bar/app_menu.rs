//! The application menus in the title bar: a bar of names, or one button with a submenu for each.

use std::cell::Cell;
use std::rc::Rc;

use base::Platform;
use gpui_kit::prelude::FluentBuilder as _;
use gpui_kit::{
    AnyElement, App, Bounds, ClickEvent, Context, DismissEvent, Entity, InteractiveElement as _,
    IntoElement, MouseButton, MouseDownEvent, ParentElement as _, Pixels, Render, Role,
    SharedString, StatefulInteractiveElement as _, Styled as _, Subscription, TestSupportExt as _,
    Window, canvas, div,
};
use settings::MenuBar;
use ui::{
    ActivePlatform as _, ActiveSettings as _, ActiveTheme as _, AdjacentMenu, Icon, IconButton,
    Menu, MenuAnchor, PopupMenu, dp,
};

use crate::menus;

/// The application menus of one window.
pub(crate) struct AppMenu {
    /// Bounds of the button in the last frame.
    button: Rc<Cell<Bounds<Pixels>>>,
    names: Vec<MenuName>,
    open: Option<OpenMenu>,
}

/// A menu in the bar.
struct MenuName {
    name: SharedString,
    /// Bounds in the last frame.
    bounds: Rc<Cell<Bounds<Pixels>>>,
}

struct OpenMenu {
    control: MenuControl,
    popup: Entity<PopupMenu>,
    _subscriptions: [Subscription; 2],
}

/// A control that opens a menu.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MenuControl {
    /// The button, with all menus.
    Button,
    /// The name with this index in the bar.
    Name(usize),
}

impl AppMenu {
    /// Creates the menus of a platform, closed.
    pub(crate) fn new(platform: Platform) -> Self {
        let names = menus::menus(platform).into_iter().map(|menu| MenuName {
            name: menu.name,
            bounds: Rc::default(),
        });
        Self {
            button: Rc::default(),
            names: names.collect(),
            open: None,
        }
    }

    /// Opens the menus for a key press, or closes the open one.
    pub(crate) fn toggle(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        if self.open.is_some() {
            return self.close(window, cx);
        }
        let control = match cx.settings().window.menu {
            MenuBar::Bar => MenuControl::Name(0),
            MenuBar::Button | MenuBar::Hidden => MenuControl::Button,
        };
        self.open(control, window, cx);
    }

    /// Opens the menu of a control, or closes it.
    fn press(&mut self, control: MenuControl, window: &mut Window, cx: &mut Context<Self>) {
        if self.is_open(control) {
            self.close(window, cx);
        } else {
            self.open(control, window, cx);
        }
    }

    fn is_open(&self, control: MenuControl) -> bool {
        let open = self.open.as_ref();
        open.is_some_and(|open| open.control == control)
    }

    fn open(&mut self, control: MenuControl, window: &mut Window, cx: &mut Context<Self>) {
        // The focus returns first: the actions of this menu are dispatched there.
        PopupMenu::close_open(window, cx);
        let menu = content(control, cx.platform());
        let menu = window.focused(cx).into_iter().fold(menu, Menu::focus);
        let bounds = match control {
            MenuControl::Button => self.button.get(),
            MenuControl::Name(ix) => self
                .names
                .get(ix)
                .map(|name| name.bounds.get())
                .unwrap_or_default(),
        };
        let popup = PopupMenu::open(menu, MenuAnchor::Below(bounds), window, cx);
        let dismissed = cx.subscribe(&popup, |this, _, _: &DismissEvent, cx| {
            this.open = None;
            cx.notify();
        });
        let adjacent = cx.subscribe_in(
            &popup,
            window,
            |this, _, adjacent: &AdjacentMenu, window, cx| {
                this.open_adjacent(*adjacent, window, cx);
            },
        );
        self.open = Some(OpenMenu {
            control,
            popup,
            _subscriptions: [dismissed, adjacent],
        });
        cx.notify();
    }

    fn close(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        if let Some(open) = self.open.take() {
            open.popup.update(cx, |popup, cx| popup.close(window, cx));
            cx.notify();
        }
    }

    /// Opens the menu beside the open one in the bar. The first menu follows the last one.
    fn open_adjacent(
        &mut self,
        adjacent: AdjacentMenu,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let Some(OpenMenu {
            control: MenuControl::Name(ix),
            ..
        }) = self.open
        else {
            return;
        };
        let count = self.names.len();
        let ix = match adjacent {
            AdjacentMenu::Previous => (ix + count - 1) % count,
            AdjacentMenu::Next => (ix + 1) % count,
        };
        self.open(MenuControl::Name(ix), window, cx);
    }

    /// Lets the open menu of the bar follow the pointer.
    fn hover(&mut self, ix: usize, window: &mut Window, cx: &mut Context<Self>) {
        let control = MenuControl::Name(ix);
        if self.open.is_some() && !self.is_open(control) {
            self.open(control, window, cx);
        }
    }

    /// Handles a press on a control. It moves neither the focus nor the window.
    fn on_press(
        control: MenuControl,
        cx: &Context<Self>,
    ) -> impl Fn(&MouseDownEvent, &mut Window, &mut App) + use<> {
        let this = cx.weak_entity();
        move |_, window, cx| {
            window.prevent_default();
            cx.stop_propagation();
            let pressed = this.update(cx, |this, cx| this.press(control, window, cx));
            // A window that closes has no menus.
            pressed.ok();
        }
    }

    fn render_button(&self, cx: &Context<Self>) -> AnyElement {
        let button = IconButton::new("menu", Icon::Menu, "Menu")
            .small()
            .on_click(cx.listener(|this, event: &ClickEvent, window, cx| {
                // The press has opened it already.
                if !matches!(event, ClickEvent::Mouse(_)) {
                    this.press(MenuControl::Button, window, cx);
                }
            }));
        div()
            .on_mouse_down(MouseButton::Left, Self::on_press(MenuControl::Button, cx))
            .child(button)
            .into_any_element()
    }

    fn render_bar(&self, cx: &Context<Self>) -> AnyElement {
        let names = self.names.iter().enumerate();
        let names: Vec<AnyElement> = names
            .map(|(ix, name)| self.render_name(ix, name, cx))
            .collect();
        div()
            .id("menu-bar")
            .test_support()
            .role(Role::MenuBar)
            .aria_label("Menus")
            .flex()
            .h_full()
            .min_w_0()
            .overflow_x_scroll()
            .children(names)
            .into_any_element()
    }

    fn render_name(&self, ix: usize, name: &MenuName, cx: &Context<Self>) -> AnyElement {
        let colors = cx.theme().colors;
        let is_open = self.is_open(MenuControl::Name(ix));
        div()
            .id(("menu-name", ix))
            .test_support()
            .role(Role::MenuItem)
            .aria_label(name.name.clone())
            .aria_expanded(is_open)
            .relative()
            .flex()
            .flex_none()
            .items_center()
            .h_full()
            .px(dp(8.0))
            .text_size(dp(13.0))
            .text_color(colors.text)
            .hover(|style| style.bg(colors.hover))
            .when(is_open, |name| name.bg(colors.selected))
            .on_mouse_down(MouseButton::Left, Self::on_press(MenuControl::Name(ix), cx))
            .on_hover(cx.listener(move |this, hovered: &bool, window, cx| {
                if *hovered {
                    this.hover(ix, window, cx);
                }
            }))
            .child(name.name.clone())
            .child(measure(&name.bounds))
            .into_any_element()
    }
}

/// Returns the content of the menu that a control opens.
fn content(control: MenuControl, platform: Platform) -> Menu {
    let menus = menus::menus(platform);
    let mut menus = menus.into_iter().map(gpui_kit::Menu::owned);
    match control {
        MenuControl::Name(ix) => menus.nth(ix).map_or_else(Menu::new, |menu| (&menu).into()),
        MenuControl::Button => menus.fold(Menu::new(), |all, menu| {
            all.submenu(menu.name.clone(), (&menu).into())
        }),
    }
}

/// An invisible element that keeps the bounds of its parent, which has a relative position.
fn measure(bounds: &Rc<Cell<Bounds<Pixels>>>) -> impl IntoElement + use<> {
    let bounds = bounds.clone();
    canvas(move |here, _, _| bounds.set(here), |_, (), _, _| {})
        .absolute()
        .top_0()
        .left_0()
        .size_full()
}

impl Render for AppMenu {
    fn render(&mut self, _: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let control = match cx.settings().window.menu {
            MenuBar::Hidden => None,
            MenuBar::Bar => Some(self.render_bar(cx)),
            MenuBar::Button => Some(self.render_button(cx)),
        };
        div()
            .relative()
            .flex()
            .h_full()
            .min_w_0()
            .items_center()
            .child(measure(&self.button))
            .children(control)
            .children(self.open.as_ref().map(|open| open.popup.clone()))
    }
}
