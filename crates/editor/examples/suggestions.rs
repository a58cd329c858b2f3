//! Screenshots of suggestions: ghost text, inline changes and jump signs, in dark and light.
//!
//! `cargo run -p editor --example suggestions FOLDER` writes one picture for each.
#![expect(clippy::print_stdout, reason = "an example says what it writes")]

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use autocomplete::{SuggestedEdit, Suggestion, SuggestionId, SuggestionSource};
use base::{AbsPath, ByteOffset, Row, Span};
use editor::{Editor, Reveal, SuggestionPlace, fixture};
use gpui_kit::test::TestWindowExt as _;
use gpui_kit::{
    AppContext as _, Bounds, Entity, Focusable as _, HeadlessAppContext, WindowBounds,
    WindowOptions, px, size,
};
use ui::ThemeLibrary;

const TEXT: &str = r#"//! Shapes and what they measure.

use std::fmt;

/// A box with sides along the axes.
#[derive(Clone, Copy, Debug)]
pub struct Rect {
    width: f32,
    height: f32,
}

impl Rect {
    pub fn new(width: f32, height: f32) -> Self {
        Self { width, height }
    }

    pub fn area(&self) -> f32 {
        self.width * self.height
    }

    pub fn scaled(&self, factor: f32) -> Self {
        let width = self.width * factor;
        CARET
        Self::new(width, self.height)
    }

    pub fn fits(&self, other: &Rect) -> bool {
        self.width <= other.width && self.height <= other.height
    }
}

impl fmt::Display for Rect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x {}", self.width, self.height)
    }
}

fn total(rects: &[Rect]) -> f32 {
    let mut sum = 0.0;
    for rect in rects {
        sum += rect.area();
    }
    sum
}

fn widest(rects: &[Rect]) -> Option<&Rect> {
    rects.iter().max_by(|a, b| a.width.total_cmp(&b.width))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_add_up() {
        let rects = [Rect::new(2.0, 3.0), Rect::new(1.0, 1.0)];
        assert_eq!(total(&rects), 7.0);
    }
}
"#;

/// One screenshot: the text at the caret, and the suggested edits as pairs of search text and replacement.
struct Scene {
    name: &'static str,
    at_caret: &'static str,
    edits: &'static [(&'static str, &'static str)],
    /// The suggested text at the caret.
    ghost: &'static str,
    note: Option<&'static str>,
    file: Option<&'static str>,
}

const PLAIN: Scene = Scene {
    name: "",
    at_caret: "",
    edits: &[],
    ghost: "",
    note: None,
    file: None,
};

const SCENES: &[Scene] = &[
    Scene {
        name: "ghost",
        at_caret: "let he",
        ghost: "ight = self.height * factor;",
        ..PLAIN
    },
    Scene {
        name: "ghost-lines",
        at_caret: "if fa",
        ghost: "ctor < 0.0 {\n            // A box has no negative sides.\n            return Self::new(0.0, 0.0);\n        }",
        note: Some("2 of 5"),
        ..PLAIN
    },
    Scene {
        name: "ghost-pieces",
        at_caret: "drop(wi)",
        edits: &[(
            ")\n        Self::new(w",
            "dth, \"narrow\") // kept\n        Self::new(w",
        )],
        ..PLAIN
    },
    Scene {
        name: "tab-indents",
        at_caret: "\u{8}",
        ghost: "        let height = self.height * factor;",
        ..PLAIN
    },
    Scene {
        name: "change",
        at_caret: "let height = self.height * factor;",
        edits: &[
            ("self.width * factor;", "self.width * factor.abs();"),
            ("self.height * factor", "self.height * ratio"),
            ("Self::new(width, self.height)", "Self::new(width, height)"),
        ],
        ..PLAIN
    },
    Scene {
        name: "change-rows",
        at_caret: "let height = self.height * factor;",
        edits: &[(
            "    pub fn fits(&self, other: &Rect) -> bool {\n        self.width <= other.width && self.height <= other.height",
            "    /// Whether it lies within another one.\n    pub fn fits(&self, other: &Rect) -> bool {\n        let (width, height) = (other.width, other.height);\n        self.width <= width && self.height <= height",
        )],
        ..PLAIN
    },
    Scene {
        name: "deletion",
        at_caret: "let height = self.height * factor;",
        edits: &[
            ("Clone, Copy, Debug", "Clone, Debug"),
            (
                "    pub fn area(&self) -> f32 {\n        self.width * self.height\n    }\n\n",
                "",
            ),
        ],
        ..PLAIN
    },
    Scene {
        name: "jump",
        at_caret: "let height = self.height * factor;",
        edits: &[("total(&rects), 7.0", "total(&rects), 7.5")],
        ..PLAIN
    },
    Scene {
        name: "portal",
        at_caret: "let height = self.height * factor;",
        edits: &[("total", "sum")],
        file: Some("/project/src/canvas.rs"),
        ..PLAIN
    },
];

fn suggestion(scene: &Scene, text: &str, caret: usize, snapshot: &text::Snapshot) -> Suggestion {
    let replace = |start: usize, old: &str, new: &str| SuggestedEdit {
        span: Span::from(start..start + old.len()),
        old: Arc::from(old),
        new: Arc::from(new),
    };
    let mut edits: Vec<SuggestedEdit> = scene
        .edits
        .iter()
        .filter_map(|(old, new)| Some(replace(text.find(old)?, old, new).trimmed()))
        .collect();
    if !scene.ghost.is_empty() {
        edits.push(replace(caret, "", scene.ghost));
    }
    Suggestion {
        id: SuggestionId(1),
        file: scene.file.and_then(AbsPath::new),
        revision: snapshot.revision(),
        edits,
        source: SuggestionSource::Continuation,
        confidence: 0.9,
    }
}

fn show(scene: &Scene, editor: &Entity<Editor>, caret: usize, cx: &mut gpui_kit::App) {
    editor.update(cx, |editor, cx| {
        editor.go_to(ByteOffset(caret), Reveal::Nearest, cx);
        let snapshot = editor.model().read(cx).snapshot();
        let offered = suggestion(scene, &snapshot.to_string(), caret, &snapshot);
        editor.set_suggestion(Some(offered), cx);
        editor.set_suggestion_note(scene.note.map(Into::into), cx);
        if scene.file.is_some() {
            let place = SuggestionPlace {
                row: Some(Row(41)),
                preview: "let total = sum(&rects);".into(),
            };
            editor.set_suggestion_place(Some(place), cx);
        }
    });
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let text_system = gpui_kit::platform::current_platform(true).text_system();
    let mut cx = HeadlessAppContext::with_platform(
        text_system,
        Arc::new(ui::Assets),
        gpui_kit::platform::current_headless_renderer,
    );
    cx.update(|cx| {
        gpui_kit::init(cx);
        ui::init(base::Platform::Linux, cx);
        let base = settings::KeymapBase::VsCode;
        let (file, text) = settings::builtin::keymap(base, base::Platform::Linux);
        // Actions of the panels above are not known here.
        ui::install_keymaps(&[settings::parse_keymap(file, text).0], cx);
    });
    for theme in ThemeLibrary::builtin().themes() {
        let name = theme.name.clone();
        if !["Burin Dark", "Burin Light"].contains(&name.as_str()) {
            continue;
        }
        cx.update(|cx| ui::set_theme(theme, cx));
        for scene in SCENES {
            let path = format!(
                "{folder}/{}-{}.png",
                scene.name,
                name.replace(' ', "-").to_lowercase()
            );
            picture(scene, &path, &mut cx)?;
            println!("{path}");
        }
    }
    Ok(())
}

fn picture(scene: &Scene, path: &str, cx: &mut HeadlessAppContext) -> Result<(), Box<dyn Error>> {
    let options = WindowOptions {
        window_bounds: Some(WindowBounds::Windowed(Bounds {
            origin: Default::default(),
            size: size(px(820.0), px(720.0)),
        })),
        focus: true,
        show: false,
        ..Default::default()
    };
    let indent = "        ";
    let (marked, at_caret) = match scene.at_caret {
        "\u{8}" => (TEXT.replace(&format!("{indent}CARET"), "CARET"), ""),
        at_caret => (TEXT.to_owned(), at_caret),
    };
    let start = marked.find("CARET").unwrap_or_default();
    let caret = start + at_caret.trim_end_matches(')').len();
    let text = marked.replace("CARET", at_caret);
    let (window, editor) = cx.update(|cx| {
        let model = fixture::model("/project/src/shapes.rs", &text, fixture::environment(), cx);
        gpui_kit::open_window(options, cx, |window, cx| {
            cx.new(|cx| Editor::new(model, window, cx))
        })
    })?;
    cx.run_until_parked();
    cx.update_window(window, |_, window, cx| {
        let focus = editor.read(cx).focus_handle(cx);
        window.focus(&focus, cx);
        window.render_frame(cx);
        show(scene, &editor, caret, cx);
    })?;
    cx.advance_clock(Duration::from_secs(1));
    cx.run_until_parked();
    cx.update_window(window, |_, window, cx| window.render_frame(cx))?;
    cx.capture_screenshot(window)?.save(path)?;
    Ok(())
}
