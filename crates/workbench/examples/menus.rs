//! Draws the menus of both platforms with the keys that the system shows beside them, and a small window with an open
//! menu, without a display: `cargo run -p workbench --example menus -- FOLDER`.

use std::error::Error;
use std::sync::Arc;

use base::{AbsPath, Platform};
use gpui_kit::test::TestWindowExt as _;
use gpui_kit::{
    Action, AnyElement, App, AppContext as _, Bounds, Context, HeadlessAppContext, IntoElement,
    KeyBinding, KeyContext, Keymap, OwnedMenu, OwnedMenuItem, ParentElement as _, Render,
    SharedString, Styled as _, Window, WindowBounds, WindowOptions, div, px, size,
};
use host::{Dirs, FakeClock, FakeFiles};
use project::WalkBackend;
use ui::{ActiveTheme as _, Divider, Label, ThemeLibrary, dp};
use workbench::Services;
use workbench::windows::{self, OpenRequest};

/// An item of a menu: its name and keys; `None` is a separator.
type MenuRow = Option<(SharedString, SharedString)>;

struct MenuPicture(Vec<(SharedString, Vec<MenuRow>)>);

impl Render for MenuPicture {
    fn render(&mut self, _: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let colors = cx.theme().colors;
        let menus = self.0.iter().map(|(name, rows)| {
            let rows: Vec<AnyElement> = rows.iter().map(render_row).collect();
            div()
                .flex()
                .flex_col()
                .child(div().p(dp(4.0)).child(Label::new(name.clone()).strong()))
                .child(
                    div()
                        .min_w(dp(250.0))
                        .p(dp(4.0))
                        .rounded(px(6.0))
                        .border_1()
                        .border_color(colors.border_strong)
                        .bg(colors.raised)
                        .children(rows),
                )
        });
        let menus: Vec<_> = menus.collect();
        div()
            .size_full()
            .p(dp(12.0))
            .flex()
            .flex_wrap()
            .content_start()
            .gap(dp(12.0))
            .bg(colors.surface)
            .children(menus)
    }
}

fn render_row(row: &MenuRow) -> AnyElement {
    match row {
        None => div()
            .py(dp(3.0))
            .child(Divider::horizontal())
            .into_any_element(),
        Some((name, keys)) => div()
            .flex()
            .justify_between()
            .gap(dp(16.0))
            .px(dp(6.0))
            .py(dp(1.0))
            .child(Label::new(name.clone()))
            .child(Label::new(keys.clone()).muted())
            .into_any_element(),
    }
}

/// The keys beside an item, as the toolkit chooses them for a native menu, and as Burin does for its own.
fn keys(action: &dyn Action, keymap: &Keymap, platform: Platform) -> SharedString {
    let mut context = KeyContext::default();
    for name in ["Workspace", "Pane", "Editor"] {
        context.add(name);
    }
    let is_here = |binding: &&KeyBinding| {
        let predicate = binding.predicate();
        predicate.is_none_or(|predicate| predicate.eval(std::slice::from_ref(&context)))
    };
    let mut here = keymap.bindings_for_action(action).filter(is_here);
    let binding = match platform {
        Platform::MacOs => {
            let first = || keymap.bindings_for_action(action).next();
            let shown = here.next().or_else(first);
            shown.filter(|binding| binding.keystrokes().len() == 1)
        }
        Platform::Linux => here.next_back(),
    };
    binding.map_or_else(SharedString::default, |binding| {
        ui::keys_text(binding, platform)
    })
}

fn rows(menu: &OwnedMenu, platform: Platform, cx: &App) -> Vec<MenuRow> {
    let keymap = cx.key_bindings();
    let keymap = keymap.borrow();
    let row = |item: &OwnedMenuItem| match item {
        OwnedMenuItem::Separator => None,
        OwnedMenuItem::Submenu(menu) => Some((menu.name.clone(), "\u{25b8}".into())),
        OwnedMenuItem::SystemMenu(menu) => Some((menu.name.clone(), "\u{25b8}".into())),
        OwnedMenuItem::Action { name, action, .. } => Some((
            name.clone().into(),
            keys(action.as_ref(), &keymap, platform),
        )),
    };
    menu.items.iter().map(row).collect()
}

/// A stored session of one small window.
const SMALL_WINDOW: &str = r#"{ "session": { "windows": [{ "bounds": { "x": 0, "y": 0, "width": 700, "height": 520 } }] } }"#;

fn services() -> Result<Services, Box<dyn Error>> {
    let home = AbsPath::new("/home/me").ok_or("no absolute path")?;
    let dirs = Dirs::under(&home);
    let files = FakeFiles::new();
    files.write(&dirs.state.join("windows.json"), SMALL_WINDOW);
    Ok(Services {
        files: Arc::new(files.clone()),
        clock: Arc::new(FakeClock::at(1_700_000_000_000)),
        dirs,
        ground: WalkBackend::Listed(Arc::new(files)),
        home: Some(home.clone()),
        agents: None,
        machine_agents: None,
        index: None,
        language_servers: None,
        tab: None,
        rewrite: None,
        terminals: None,
        history: None,
        tests: None,
        git: None,
        task_trust: None,
        install: None,
        facts: None,
        program: None,
        unsaved: Arc::default(),
        working_folder: home,
    })
}

/// Starts the program without opening a window.
fn start(platform: Platform) -> Result<HeadlessAppContext, Box<dyn Error>> {
    let text_system = gpui_kit::platform::current_platform(true).text_system();
    let mut cx = HeadlessAppContext::with_platform(
        text_system,
        Arc::new(ui::Assets),
        gpui_kit::platform::current_headless_renderer,
    );
    let services = services()?;
    cx.update(|cx| {
        gpui_kit::init(cx);
        ui::init(platform, cx);
        services.set(cx);
        let _problems = workbench::init(cx);
        if let Some(theme) = ThemeLibrary::builtin().themes().first() {
            ui::set_theme(theme, cx);
        }
    });
    Ok(cx)
}

/// Draws all items of the menus.
fn picture(platform: Platform, path: &str) -> Result<(), Box<dyn Error>> {
    let mut cx = start(platform)?;
    let menus = cx.update(|cx| {
        let menus = cx.get_menus().unwrap_or_default();
        let menus = menus
            .iter()
            .map(|menu| (menu.name.clone(), rows(menu, platform, cx)));
        menus.collect()
    });
    let options = WindowOptions {
        window_bounds: Some(WindowBounds::Windowed(Bounds {
            origin: Default::default(),
            size: size(px(1340.0), px(1060.0)),
        })),
        focus: false,
        show: false,
        ..Default::default()
    };
    let (window, _) =
        cx.update(|cx| gpui_kit::open_window(options, cx, |_, cx| cx.new(|_| MenuPicture(menus))))?;
    cx.run_until_parked();
    cx.update_window(window, |_, window, cx| window.render_frame(cx))?;
    cx.capture_screenshot(window)?.save(path)?;
    Ok(())
}

/// Draws a small window with the File menu scrolled to its end, as the keys open it.
fn small_window(path: &str) -> Result<(), Box<dyn Error>> {
    let mut cx = start(Platform::Linux)?;
    cx.update(|cx| windows::start(OpenRequest::default(), Vec::new(), cx));
    let open = cx.update(|cx| windows::all(cx).pop());
    let (window, _) = open.ok_or("no window")?;
    for key in ["f10", "down", "right", "end"] {
        cx.run_until_parked();
        cx.update_window(window, |_, window, cx| {
            window.render_frame(cx);
            window.press(key, cx);
        })?;
    }
    cx.run_until_parked();
    cx.update_window(window, |_, window, cx| window.render_frame(cx))?;
    cx.capture_screenshot(window)?.save(path)?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    picture(Platform::MacOs, &format!("{folder}/menus-macos.png"))?;
    picture(Platform::Linux, &format!("{folder}/menus-linux.png"))?;
    small_window(&format!("{folder}/menu-open.png"))
}
