//! A low window with an open menu and a submenu in it.

use std::error::Error;

use gpui_kit::test::TestWindowExt as _;
use gpui_kit::{
    App, AppContext as _, Bounds, Context, FocusHandle, HeadlessAppContext,
    InteractiveElement as _, IntoElement, KeyBinding, Render, Styled as _, Window, WindowBounds,
    WindowOptions, div, point, px, size,
};
use ui::{ActiveTheme as _, Icon, Menu, MenuExt as _};

gpui_kit::actions!(
    gallery,
    [
        Cut, Copy, Paste, SelectAll, Format, Settings, Pin, Wrap, Split
    ]
);

struct MenuHost {
    focus: FocusHandle,
}

fn menu() -> Menu {
    let layout = Menu::new()
        .action_with_icon("Split right", Icon::PanelLeft, Box::new(Split))
        .action("Settings file", Box::new(Settings))
        .separator()
        .toggle("Soft wrap", Box::new(Wrap), true);
    Menu::new()
        .action("Cut", Box::new(Cut))
        .action("Copy", Box::new(Copy))
        .action_if("Paste", Box::new(Paste), false)
        .separator()
        .action("Select all", Box::new(SelectAll))
        .action("Format document", Box::new(Format))
        .separator()
        .toggle("Pinned", Box::new(Pin), true)
        .toggle("Soft wrap", Box::new(Wrap), false)
        .separator()
        .submenu("Layout", layout)
        .action("Settings", Box::new(Settings))
}

impl Render for MenuHost {
    fn render(&mut self, _: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        div()
            .id("menu-host")
            .size_full()
            .bg(cx.theme().colors.surface)
            .track_focus(&self.focus)
            .menu_on_right_click(|_, _| menu())
    }
}

/// Binds the keys that the menu shows.
pub(crate) fn bind_keys(cx: &mut App) {
    cx.bind_keys([
        KeyBinding::new("ctrl-x", Cut, None),
        KeyBinding::new("ctrl-c", Copy, None),
        KeyBinding::new("ctrl-v", Paste, None),
        KeyBinding::new("ctrl-a", SelectAll, None),
        KeyBinding::new("ctrl-k ctrl-d", Format, None),
        KeyBinding::new("ctrl-,", Settings, None),
    ]);
}

/// Draws windows that are high and low enough for the menu to fit and not to fit.
pub(crate) fn draw(
    name: &str,
    folder: &str,
    cx: &mut HeadlessAppContext,
) -> Result<(), Box<dyn Error>> {
    for (what, height, keys) in [
        ("menu", 380.0, ["l", "right", "down"]),
        ("low menu", 200.0, ["end", "up", "right"]),
    ] {
        let options = WindowOptions {
            window_bounds: Some(WindowBounds::Windowed(Bounds {
                origin: Default::default(),
                size: size(px(640.0), px(height)),
            })),
            focus: false,
            show: false,
            ..Default::default()
        };
        let (window, host) = cx.update(|cx| {
            gpui_kit::open_window(options, cx, |_, cx| {
                cx.new(|cx| MenuHost {
                    focus: cx.focus_handle(),
                })
            })
        })?;
        cx.update_window(window, |_, window, cx| {
            window.render_frame(cx);
            host.read(cx).focus.clone().focus(window, cx);
            ui::open_menu_at(point(px(60.0), px(24.0)), window, cx);
        })?;
        for key in keys {
            cx.run_until_parked();
            cx.update_window(window, |_, window, cx| {
                window.render_frame(cx);
                window.press(key, cx);
            })?;
        }
        cx.run_until_parked();
        cx.update_window(window, |_, window, cx| window.render_frame(cx))?;
        cx.capture_screenshot(window)?
            .save(format!("{folder}/{name}, {what}.png"))?;
    }
    Ok(())
}
