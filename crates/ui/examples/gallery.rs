//! Draws every control in every theme into pictures, without a display:
//! `cargo run -p ui --example gallery -- FOLDER`.

#[path = "gallery/menu.rs"]
mod menu;

use std::sync::Arc;

use base::Platform;
use gpui_kit::component::input::InputState;
use gpui_kit::test::TestWindowExt as _;
use gpui_kit::{
    AnyElement, App, AppContext as _, Bounds, Context, Entity, HeadlessAppContext, IntoElement,
    Keystroke, ParentElement as _, Render, SharedString, Styled as _, StyledText, Task, Window,
    WindowBounds, WindowOptions, div, px, size,
};
use ui::picker::{AfterConfirm, ConfirmKind, FooterHint, Picker, PickerDelegate, PickerRow};
use ui::{
    ActiveTheme as _, Badge, Banner, Button, ButtonStyle, Checkbox, Divider, Icon, IconButton,
    KeyHint, Label, Tab, TextField, ThemeLibrary, Toggle, Tone, TreeRow, dp, file_icon,
    folder_icon,
};

const CODE: &[&[(&str, &str)]] = &[
    &[(
        "comment.doc",
        "/// Reads a theme; what is missing comes from ours.",
    )],
    &[("attribute", "#[derive(Clone)]")],
    &[
        ("keyword", "pub fn "),
        ("function", "parse"),
        ("punctuation.bracket", "("),
        ("variable.parameter", "text"),
        ("punctuation", ": &"),
        ("type.builtin", "str"),
        ("punctuation.bracket", ") "),
        ("operator", "-> "),
        ("type", "Theme"),
        ("punctuation.bracket", " {"),
    ],
    &[
        ("keyword", "    let "),
        ("variable", "name"),
        ("operator", " = "),
        ("string", "\"burin\\n\""),
        ("operator", " + "),
        ("number", "42"),
        ("punctuation", "; "),
        ("comment", "// half"),
    ],
    &[
        ("keyword.control", "    match "),
        ("variable", "text"),
        ("function.method", ".len"),
        ("punctuation.bracket", "() {"),
    ],
    &[
        ("number", "        0 "),
        ("operator", "=> "),
        ("function.macro", "panic!"),
        ("punctuation.bracket", "("),
        ("string", "\"nothing\""),
        ("punctuation.bracket", "),"),
    ],
    &[
        ("constant", "        MAX "),
        ("operator", "=> "),
        ("constructor", "Some"),
        ("punctuation.bracket", "("),
        ("boolean", "true"),
        ("punctuation.bracket", "),"),
    ],
    &[
        ("diff.added", "+ added"),
        ("variable", "  "),
        ("diff.removed", "- removed"),
        ("variable", "  "),
        ("tag", "<tag>"),
        ("variable", " "),
        ("property", "field"),
        ("variable", " "),
        ("label", "'label"),
    ],
];

struct Files {
    found: Vec<(&'static str, &'static str)>,
}

impl PickerDelegate for Files {
    type Found = ();

    fn name(&self) -> SharedString {
        "Files".into()
    }

    fn placeholder(&self) -> SharedString {
        "Search files by name".into()
    }

    fn search(&mut self, _: &str, _: &mut Window, _: &mut Context<Picker<Self>>) -> Task<()> {
        Task::ready(())
    }

    fn accept(&mut self, (): (), _: &mut Context<Picker<Self>>) -> usize {
        1
    }

    fn count(&self) -> usize {
        self.found.len()
    }

    fn sections(&self) -> Vec<(usize, SharedString)> {
        vec![(0, "Open lately".into()), (2, "Project".into())]
    }

    fn row(&self, ix: usize, cx: &App) -> PickerRow {
        let (name, path) = self.found[ix];
        PickerRow::new(name)
            .matches([0, 1, 2])
            .detail(path)
            .start(file_icon(name, cx))
            .keys((ix == 0).then(|| "Ctrl+P".into()))
    }

    fn confirm(
        &mut self,
        _: usize,
        _: ConfirmKind,
        _: &mut Window,
        _: &mut Context<Picker<Self>>,
    ) -> AfterConfirm {
        AfterConfirm::Close
    }

    fn status(&self) -> Option<SharedString> {
        Some("2,304 files".into())
    }

    fn footer(&self) -> Vec<FooterHint> {
        vec![
            FooterHint::new(ui::picker::Confirm, "open"),
            FooterHint::new(ui::picker::ConfirmOther, "to the side"),
        ]
    }
}

struct Gallery {
    field: Entity<InputState>,
    picker: Entity<Picker<Files>>,
}

impl Gallery {
    fn new(window: &mut Window, cx: &mut Context<Self>) -> Self {
        let files = Files {
            found: vec![
                ("searcher.rs", "crates/core/src/searcher.rs"),
                ("settings.json", "assets/settings.json"),
                (
                    "style.css",
                    "docs/a/very/long/folder/name/that/does/not/fit/into/the/row/at/all/style.css",
                ),
                ("README.md", "README.md"),
                ("Makefile", "Makefile"),
            ],
        };
        Self {
            field: cx.new(|cx| InputState::new(window, cx).placeholder("Find in files")),
            picker: cx.new(|cx| Picker::new(files, window, cx)),
        }
    }

    fn code(cx: &App) -> AnyElement {
        let theme = cx.theme();
        let lines = CODE.iter().enumerate().map(|(row, parts)| {
            let text: String = parts.iter().map(|(_, text)| *text).collect();
            let mut at = 0;
            let runs: Vec<_> = parts
                .iter()
                .filter_map(|(kind, text)| {
                    let range = at..at + text.len();
                    at = range.end;
                    theme.syntax(kind).map(|style| (range, style))
                })
                .collect();
            let ground = match row {
                3 => theme.colors.current_line,
                5 => theme.colors.selection,
                6 => theme.colors.find_match,
                _ => theme.colors.surface.opacity(0.0),
            };
            div()
                .flex()
                .h(theme.code_line_height())
                .bg(ground)
                .child(
                    div()
                        .w(dp(32.0))
                        .text_color(theme.colors.line_number)
                        .child((row + 117).to_string()),
                )
                .child(StyledText::new(text).with_highlights(runs))
        });
        div()
            .p(dp(12.0))
            .bg(theme.colors.surface)
            .font(theme.code_font())
            .text_size(theme.code_size())
            .children(lines.collect::<Vec<_>>())
            .into_any_element()
    }

    fn controls(&self) -> AnyElement {
        let row = || div().flex().items_center().gap(dp(8.0));
        div()
            .flex()
            .flex_col()
            .gap(dp(10.0))
            .p(dp(12.0))
            .child(
                row()
                    .child(
                        Button::new("a", "Land 3 hunks")
                            .style(ButtonStyle::Primary)
                            .icon(Icon::Check),
                    )
                    .child(Button::new("b", "Compare"))
                    .child(Button::new("c", "Discard").style(ButtonStyle::Danger))
                    .child(Button::new("d", "Later").style(ButtonStyle::Ghost))
                    .child(Button::new("e", "Cannot").disabled(Some("nothing to do".into()))),
            )
            .child(
                row()
                    .child(IconButton::new("f", Icon::CaseSensitive, "Case").pressed(true))
                    .child(IconButton::new("g", Icon::WholeWord, "Word").pressed(false))
                    .child(IconButton::new("h", Icon::Regex, "Regex"))
                    .child(Checkbox::new("i", "Whole word", true))
                    .child(Toggle::new("j", "Soft wrap", true))
                    .child(Badge::new("12").tone(Tone::Accent))
                    .child(Badge::new("error").tone(Tone::Error)),
            )
            .child(
                row()
                    .children(hints(Platform::Linux))
                    .children(hints(Platform::MacOs)),
            )
            .child(TextField::new(&self.field, "Find").icon(Icon::Search))
            .child(
                TextField::new(&self.field, "Find")
                    .error(Some("unclosed group at column 4".into())),
            )
            .into_any_element()
    }
}

impl Render for Gallery {
    fn render(&mut self, _: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let theme = cx.theme().clone();
        let c = theme.colors;
        let tabs = div()
            .flex()
            .bg(c.sunken)
            .child(
                Tab::new("t1", "searcher.rs")
                    .start(file_icon("searcher.rs", cx))
                    .active(true)
                    .dirty(true)
                    .on_close(|_, _| {}),
            )
            .child(
                Tab::new("t2", "lib.rs")
                    .start(file_icon("lib.rs", cx))
                    .preview(true)
                    .detail(Some("core".into()))
                    .on_close(|_, _| {}),
            )
            .child(
                Tab::new("t3", "README.md")
                    .pinned(true)
                    .start(file_icon("README.md", cx))
                    .on_close(|_, _| {}),
            );
        let tree = div()
            .w(dp(220.0))
            .p(dp(4.0))
            .bg(c.raised)
            .child(
                TreeRow::new("r1", "crates", 0)
                    .expanded(Some(true))
                    .child(folder_icon("crates", true, cx))
                    .child(Label::new("crates")),
            )
            .child(
                TreeRow::new("r2", "main.rs", 1)
                    .selected(true)
                    .focused(true)
                    .child(file_icon("main.rs", cx))
                    .child(Label::new("main.rs").color(c.changed)),
            )
            .child(
                TreeRow::new("r3", "new.py", 1)
                    .child(file_icon("new.py", cx))
                    .child(Label::new("new.py").color(c.added)),
            )
            .child(
                TreeRow::new("r4", "target", 0)
                    .expanded(Some(false))
                    .child(folder_icon("target", false, cx))
                    .child(Label::new("target").color(c.ignored)),
            )
            .child(Divider::horizontal())
            .children(theme.agents.iter().enumerate().map(|(ix, color)| {
                Label::new(format!("● Agent {}", ix + 1))
                    .color(*color)
                    .into_any_element()
            }));
        div()
            .size_full()
            .flex()
            .flex_col()
            .bg(c.surface)
            .font_family(theme.fonts.ui_family.clone())
            .text_size(dp(13.0))
            .text_color(c.text)
            .child(tabs)
            .child(
                Banner::new(
                    "banner",
                    Tone::Warning,
                    "main.rs changed on disk and has unsaved text.",
                )
                .child(Button::new("x", "Compare")),
            )
            .child(
                div().flex().flex_1().min_h_0().child(tree).child(
                    div()
                        .flex()
                        .flex_col()
                        .flex_1()
                        .child(Self::code(cx))
                        .child(self.controls())
                        .child(
                            div()
                                .m(dp(12.0))
                                .border_1()
                                .border_color(c.border_strong)
                                .rounded(px(6.0))
                                .bg(c.raised)
                                .child(self.picker.clone()),
                        ),
                ),
            )
    }
}

/// Returns the hints of some strokes as a platform shows them.
fn hints(platform: Platform) -> Vec<KeyHint> {
    let strokes = match platform {
        Platform::Linux => ["ctrl-k ctrl-s", "ctrl-shift-p", "alt-backspace", "escape"],
        Platform::MacOs => [
            "cmd-k cmd-s",
            "ctrl-alt-shift-cmd-p",
            "alt-backspace",
            "escape",
        ],
    };
    let text = |keys: &'static str| {
        let strokes = keys
            .split(' ')
            .filter_map(|keys| Keystroke::parse(keys).ok());
        let strokes: Vec<_> = strokes
            .map(|stroke| ui::keystroke_text(&stroke, platform))
            .collect();
        KeyHint::text(strokes.join(" "))
    };
    strokes.map(text).into()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let text_system = gpui_kit::platform::current_platform(true).text_system();
    let mut cx = HeadlessAppContext::with_platform(
        text_system,
        Arc::new(ui::Assets),
        gpui_kit::platform::current_headless_renderer,
    );
    cx.update(|cx| {
        gpui_kit::init(cx);
        ui::init(Platform::Linux, cx);
        let vscode = settings::KeymapBase::VsCode;
        let (name, text) = settings::builtin::keymap(vscode, Platform::Linux);
        // Actions of the crates above do not exist here; those of pickers do.
        ui::install_keymaps(&[settings::parse_keymap(name, text).0], cx);
        menu::bind_keys(cx);
    });
    for theme in ThemeLibrary::builtin().themes() {
        cx.update(|cx| ui::set_theme(theme, cx));
        let options = WindowOptions {
            window_bounds: Some(WindowBounds::Windowed(Bounds {
                origin: Default::default(),
                size: size(px(900.0), px(720.0)),
            })),
            focus: false,
            show: false,
            ..Default::default()
        };
        let (window, _) = cx.update(|cx| {
            gpui_kit::open_window(options, cx, |window, cx| {
                cx.new(|cx| Gallery::new(window, cx))
            })
        })?;
        cx.run_until_parked();
        cx.update_window(window, |_, window, cx| window.render_frame(cx))?;
        cx.capture_screenshot(window)?
            .save(format!("{folder}/{}.png", theme.name))?;
        menu::draw(&theme.name, &folder, &mut cx)?;
    }
    Ok(())
}
