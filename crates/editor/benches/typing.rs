//! Measures the CPU time from a key to its scene, with real shaping and no screen.
//!
//! It is the time of the painting thread, so that other programs do not count; wall-clock time is printed beside
//! it.
//!
//! Prints one line of JSON for each figure. The argument `completions` measures the list of completions instead;
//! `without-list` turns off that the list opens while one types.
//! `BURIN_BENCH_TEXT` names a file whose lines are repeated instead of this crate's source, so that two builds measure the
//! same text. `BURIN_PICTURE=file.png` also paints what the view shows.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark reads clocks and prints; it is not linked into the product"
)]

#[path = "typing/completing.rs"]
mod completing;

use std::sync::Arc;
use std::time::{Duration, Instant};

use autocomplete::{SuggestedEdit, Suggestion, SuggestionId, SuggestionSource};
use base::{AbsPath, Point, Span};
use cpu_time::ThreadTime;
use editor::{DocumentEnvironment, DocumentModel, Editor, Reveal, fixture};
use gpui_kit::{
    AnyWindowHandle, AppContext as _, Bounds, DevicePixels, Entity, Focusable as _,
    HeadlessAppContext, KeyBinding, Keystroke, PlatformAtlas, PlatformHeadlessRenderer, Scene,
    Size, WindowBounds, WindowOptions, px, size,
};
use host::{FakeFiles, RealClock};
use image::RgbaImage;
use settings::Settings;

/// Number of measured keys per text.
const KEYS: usize = 2_000;

fn main() {
    let text_system = gpui_kit::platform::current_platform(true).text_system();
    let wants_picture = std::env::var_os("BURIN_PICTURE");
    let mut cx = HeadlessAppContext::with_platform(text_system, Arc::new(ui::Assets), || {
        let renderer = gpui_kit::platform::current_headless_renderer()?;
        Ok(renderer.map(|renderer| Box::new(Unpainted(renderer)) as _))
    });
    cx.update(|cx| {
        gpui_kit::init(cx);
        ui::init(base::Platform::Linux, cx);
        cx.bind_keys([KeyBinding::new("enter", editor::Newline, Some("Editor"))]);
    });
    if std::env::args().any(|argument| argument == "completions") {
        return completing::measure(&mut cx);
    }
    if std::env::args().any(|argument| argument == "without-list") {
        let mut settings = Settings::default();
        settings.completions.auto = false;
        cx.update(|cx| ui::set_settings(Arc::new(settings), cx));
    }
    let rust = rust_text(25_000);
    let log = log_text(1_000_000);
    measure(
        "rust file of 25,000 lines",
        "/bench.rs",
        &rust,
        12_000,
        Typed::Alone,
        &mut cx,
    );
    measure(
        "rust file of 25,000 lines, along a suggestion of three lines",
        "/bench.rs",
        &rust,
        12_000,
        Typed::AlongSuggestion,
        &mut cx,
    );
    measure(
        "log of 1,000,000 lines, at 24,000",
        "/bench.log",
        &log,
        24_000,
        Typed::Alone,
        &mut cx,
    );
    measure(
        "log of 1,000,000 lines, at 24,000, along a suggestion of three lines",
        "/bench.log",
        &log,
        24_000,
        Typed::AlongSuggestion,
        &mut cx,
    );
    if let Some(path) = wants_picture {
        picture(&rust, &path, &mut cx);
    }
}

/// Accepts scenes and paints them only for pictures. Glyphs share textures as on a screen. Without a renderer, the
/// toolkit's stand-in gives each glyph its own texture, and sorting by texture then takes a fifth of the frame.
struct Unpainted(Box<dyn PlatformHeadlessRenderer>);

impl PlatformHeadlessRenderer for Unpainted {
    fn render_scene_to_image(
        &mut self,
        scene: &Scene,
        size: Size<DevicePixels>,
    ) -> gpui_kit::Result<RgbaImage> {
        self.0.render_scene_to_image(scene, size)
    }

    fn render_scene(&mut self, _: &Scene, _: Size<DevicePixels>) -> gpui_kit::Result<()> {
        Ok(())
    }

    fn sprite_atlas(&self) -> Arc<dyn PlatformAtlas> {
        self.0.sprite_atlas()
    }
}

/// Whether the typed text was suggested before.
#[derive(Clone, Copy, PartialEq)]
enum Typed {
    Alone,
    AlongSuggestion,
}

fn measure(
    name: &str,
    path: &str,
    text: &str,
    row: u32,
    along: Typed,
    cx: &mut HeadlessAppContext,
) {
    let (window, editor) = open(path, text, row, cx);
    let mut shown = 0;
    let (mut times, mut walls) = (Vec::with_capacity(KEYS), Vec::with_capacity(KEYS));
    let typed = "    let total = sum(first, second) + 1;\n";
    for (ix, key) in typed.chars().cycle().take(KEYS + 50).enumerate() {
        let keystroke = keystroke(key);
        if along == Typed::AlongSuggestion && ix % typed.len() == 0 {
            cx.update(|cx| suggest(typed.trim_end(), &editor, cx));
            cx.run_until_parked();
        }
        let (start, wall) = (ThreadTime::now(), Instant::now());
        // In tests the window is drawn as part of the update that made it dirty.
        let edited = cx.update_window(window, |_, window, cx| {
            window.dispatch_keystroke(keystroke, cx);
            start.elapsed()
        });
        let time = (edited.expect("the window is open"), start.elapsed());
        let wall = wall.elapsed();
        shown += u32::from(cx.update(|cx| editor.read(cx).shows_suggestion()));
        // The first keys shape words that are not cached yet.
        if ix >= 50 {
            times.push(time);
            walls.push(wall);
        }
        // Background work runs between two keys and is not timed.
        cx.advance_clock(Duration::from_millis(150));
        cx.run_until_parked();
    }
    if along == Typed::AlongSuggestion {
        println!(
            "{{\"name\": \"keys behind which the suggestion is shown on, {name}\", \"value\": {shown}, \"unit\": \"keys\", \"n\": {}, \"goal\": null}}",
            KEYS + 50,
        );
    }
    let mut edits: Vec<Duration> = times.iter().map(|(edit, _)| *edit).collect();
    let mut times: Vec<Duration> = times.into_iter().map(|(_, whole)| whole).collect();
    times.sort();
    edits.sort();
    walls.sort();
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e3;
    let half = edits[edits.len() / 2].as_secs_f64() * 1e3;
    println!(
        "{{\"name\": \"of that until the text is edited p50, {name}\", \"value\": {half:.3}, \"unit\": \"ms\", \"n\": {}, \"goal\": null}}",
        times.len(),
    );
    println!(
        "{{\"name\": \"the same by the clock p50, {name}\", \"value\": {:.3}, \"unit\": \"ms\", \"n\": {}, \"goal\": null}}",
        walls[walls.len() / 2].as_secs_f64() * 1e3,
        walls.len(),
    );
    for (label, part, goal) in [
        ("p50", 0.5, "0.5"),
        ("p99", 0.99, "2.0"),
        ("most", 1.0, "null"),
    ] {
        println!(
            "{{\"name\": \"key to scene {label}, {name}\", \"value\": {:.3}, \"unit\": \"ms\", \"n\": {}, \"goal\": {goal}}}",
            at(part),
            times.len(),
        );
    }
}

/// Suggests a line and two more at the caret.
fn suggest(line: &str, editor: &Entity<Editor>, cx: &mut gpui_kit::App) {
    editor.update(cx, |editor, cx| {
        let scene = editor.scene(cx);
        let new = format!("{line}\n    let next = total + 1;\n    finish(next)");
        let edit = SuggestedEdit::new(Span::at(scene.caret), &new, &scene.snapshot);
        let suggestion = Suggestion {
            id: SuggestionId(1),
            file: None,
            revision: scene.snapshot.revision(),
            edits: vec![edit],
            source: SuggestionSource::Continuation,
            confidence: 0.9,
        };
        editor.set_suggestion(Some(suggestion), cx);
    });
}

fn keystroke(key: char) -> Keystroke {
    let (name, char) = match key {
        '\n' => ("enter".to_owned(), None),
        ' ' => ("space".to_owned(), Some(" ".to_owned())),
        key => (key.to_string(), Some(key.to_string())),
    };
    Keystroke {
        modifiers: Default::default(),
        key: name,
        key_char: char,
    }
}

fn open(
    path: &str,
    text: &str,
    row: u32,
    cx: &mut HeadlessAppContext,
) -> (AnyWindowHandle, Entity<Editor>) {
    let environment = DocumentEnvironment {
        files: Arc::new(FakeFiles::new()),
        clock: Arc::new(RealClock::default()),
        recovery_folder: AbsPath::new("/recovery").expect("the path starts at the root"),
    };
    let options = WindowOptions {
        window_bounds: Some(WindowBounds::Windowed(Bounds {
            origin: Default::default(),
            size: size(px(1200.0), px(900.0)),
        })),
        focus: true,
        show: false,
        ..Default::default()
    };
    let (window, editor) = cx
        .update(|cx| {
            let model: Entity<DocumentModel> = fixture::model(path, text, environment, cx);
            gpui_kit::open_window(options, cx, |window, cx| {
                cx.new(|cx| Editor::new(model, window, cx))
            })
        })
        .expect("a window without a screen");
    cx.run_until_parked();
    cx.update_window(window, |_, window, cx| {
        let focus = editor.read(cx).focus_handle(cx);
        window.focus(&focus, cx);
        editor.update(cx, |editor, cx| {
            let at = editor
                .model()
                .read(cx)
                .snapshot()
                .offset_at(Point::new(row, 0));
            editor.go_to(at, Reveal::Center, cx)
        });
    })
    .expect("the window is open");
    cx.run_until_parked();
    (window, editor)
}

fn picture(text: &str, path: &std::ffi::OsStr, cx: &mut HeadlessAppContext) {
    let (window, editor) = open("/picture.rs", text, 40, cx);
    cx.update_window(window, |_, _, cx| {
        editor.update(cx, |editor, cx| {
            let head = text.replacen("let ", "const ", 8);
            editor.model().update(cx, |model, cx| {
                model.set_head(Some(text::Snapshot::new(&head)), cx)
            });
        });
    })
    .expect("the window is open");
    cx.advance_clock(Duration::from_secs(1));
    cx.run_until_parked();
    let picture = cx.capture_screenshot(window).expect("a renderer");
    picture.save(path).expect("a place for the picture");
}

/// This crate's own source, repeated.
fn rust_text(rows: usize) -> String {
    let given = std::env::var_os("BURIN_BENCH_TEXT");
    let given =
        given.map(|path| std::fs::read_to_string(path).expect("BURIN_BENCH_TEXT names a text"));
    let sources = [
        include_str!("../src/editor.rs"),
        include_str!("../src/element/layout.rs"),
        include_str!("../src/frame/shape.rs"),
        include_str!("../src/mouse.rs"),
        include_str!("../src/find.rs"),
    ];
    let all = given.unwrap_or_else(|| sources.concat());
    let mut text = String::new();
    for line in all.lines().cycle().take(rows) {
        text.push_str(line);
        text.push('\n');
    }
    text
}

fn log_text(rows: usize) -> String {
    let mut text = String::with_capacity(rows * 80);
    for row in 0..rows {
        let (minute, second) = (row / 60 % 60, row % 60);
        text.push_str(&format!(
            "2026-03-04T10:{minute:02}:{second:02}Z INFO worker-{} finished job {row} in {} ms\n",
            row % 16,
            row * 7 % 113
        ));
    }
    text
}
