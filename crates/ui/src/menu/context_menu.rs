//! Context menus: the menu of an element, opened by a right click or by a key.

use std::rc::Rc;

use gpui_kit::{
    App, Context, DismissEvent, ElementId, Entity, Global, IntoElement, Modifiers, MouseButton,
    MouseDownEvent, ParentElement, Pixels, PlatformInput, Point, RenderOnce,
    StatefulInteractiveElement, Subscription, Window,
};

use super::{Menu, MenuAnchor, PopupMenu};

type BuildMenu = Rc<dyn Fn(&mut Window, &mut App) -> Menu>;

/// Adds a context menu to an element. Of nested elements with a context menu, the innermost opens its own.
pub trait MenuExt: StatefulInteractiveElement + ParentElement + IntoElement + 'static {
    /// Opens the menu built by `menu` at the time of the click.
    fn menu_on_right_click(
        self,
        menu: impl Fn(&mut Window, &mut App) -> Menu + 'static,
    ) -> ContextMenu<Self> {
        ContextMenu {
            element: self,
            menu: Rc::new(menu),
        }
    }
}

impl<E: StatefulInteractiveElement + ParentElement + IntoElement + 'static> MenuExt for E {}

/// An element with a context menu.
#[derive(IntoElement)]
pub struct ContextMenu<E: StatefulInteractiveElement + ParentElement + IntoElement + 'static> {
    element: E,
    menu: BuildMenu,
}

/// The open context menu of an element, which renders it as a child.
#[derive(Default)]
pub(crate) struct ContextMenuState(Option<(Entity<PopupMenu>, Subscription)>);

impl ContextMenuState {
    /// Returns the open menu.
    pub(crate) fn popup(&self) -> Option<Entity<PopupMenu>> {
        self.0.as_ref().map(|(popup, _)| popup.clone())
    }

    /// Opens a menu in place of the open one.
    pub(crate) fn open(
        &mut self,
        menu: Menu,
        position: Point<Pixels>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let popup = PopupMenu::open(menu, MenuAnchor::Point(position), window, cx);
        let dismissed = cx.subscribe(&popup, |this, _, _: &DismissEvent, cx| {
            this.0 = None;
            cx.notify();
        });
        self.0 = Some((popup, dismissed));
        cx.notify();
    }
}

impl<E: StatefulInteractiveElement + ParentElement + IntoElement + 'static> RenderOnce
    for ContextMenu<E>
{
    fn render(mut self, window: &mut Window, cx: &mut App) -> impl IntoElement {
        let id = self.element.interactivity().element_id.clone();
        let key = id.map_or(ElementId::from("context-menu"), |id| {
            (id, "context-menu").into()
        });
        let state = window.use_keyed_state(key, cx, |_, _| ContextMenuState::default());
        let popup = state.read(cx).popup();
        let (state, menu) = (state.downgrade(), self.menu);
        self.element
            .on_mouse_down(MouseButton::Right, move |event, window, cx| {
                if !take_press(window, cx) {
                    return;
                }
                let (state, menu, position) = (state.clone(), menu.clone(), event.position);
                // The press still reaches other listeners, which may move the focus or the selection
                // that the menu is about.
                window.defer(cx, move |window, cx| {
                    let menu = menu(window, cx);
                    if menu.is_empty() {
                        return;
                    }
                    let opened =
                        state.update(cx, |state, cx| state.open(menu, position, window, cx));
                    // The element may be gone by now.
                    opened.ok();
                });
            })
            .children(popup)
    }
}

/// Whether an element has taken the press that is being dispatched.
#[derive(Default)]
struct TakenPress(bool);

impl Global for TakenPress {}

/// Takes the press that is being dispatched for the menu of an element, so that no element around it
/// opens its own. Returns false if an element inside has taken it.
pub(crate) fn take_press(window: &mut Window, cx: &mut App) -> bool {
    if std::mem::replace(&mut cx.default_global::<TakenPress>().0, true) {
        return false;
    }
    window.defer(cx, |_, cx| cx.default_global::<TakenPress>().0 = false);
    true
}

/// Opens the context menu at a position for a key press, by simulating a right click.
pub fn open_menu_at(position: Point<Pixels>, window: &mut Window, cx: &mut App) {
    let press = MouseDownEvent {
        button: MouseButton::Right,
        position,
        modifiers: Modifiers::default(),
        click_count: 1,
        first_mouse: false,
    };
    // The view handling the key is borrowed now, and the click may reach it again.
    window.defer(cx, move |window, cx| {
        window.dispatch_event(PlatformInput::MouseDown(press), cx);
    });
}
