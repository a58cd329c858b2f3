//! The editor alone in a window, as large as the text of a whole window.

use std::sync::Arc;
use std::time::Duration;

use base::{AbsPath, ByteOffset, Row};
use editor::{DocumentEnvironment, DocumentModel, Editor, Reveal, fixture};
use gpui_kit::{
    AppContext as _, Bounds, Entity, Focusable as _, KeyBinding, Keystroke, WindowBounds,
    WindowOptions, px, size,
};
use host::{FakeClock, FakeFiles};
use text::Snapshot;

use crate::project_folder::{EditedFile, committed};
use crate::stage::{Pace, Stage, context};

/// Width of the text of a whole window: without the tree and the agents.
const WIDTH: f32 = 1280.0 - 240.0 - 420.0;
/// Height of a first window, which gives the height of a row.
const FIRST_HEIGHT: f32 = 700.0;

pub(crate) struct Alone {
    stage: Stage,
    editor: Entity<Editor>,
}

impl Alone {
    /// Opens a view with as many visible rows.
    pub(crate) fn open(file: &EditedFile<'_>, rows: u32) -> Self {
        let first = Self::with_height(file, FIRST_HEIGHT).visible_rows();
        Self::with_height(file, FIRST_HEIGHT * rows as f32 / first.max(1) as f32)
    }

    fn with_height(file: &EditedFile<'_>, height: f32) -> Self {
        let clock = Arc::new(FakeClock::at(1_700_000_000_000));
        let environment = DocumentEnvironment {
            files: Arc::new(FakeFiles::new()),
            clock: clock.clone(),
            recovery_folder: AbsPath::new("/recovery").expect("the path starts at the root"),
        };
        let mut cx = context();
        cx.update(|cx| {
            gpui_kit::init(cx);
            ui::init(base::Platform::Linux, cx);
            cx.bind_keys([KeyBinding::new("enter", editor::Newline, Some("Editor"))]);
        });
        let options = WindowOptions {
            window_bounds: Some(WindowBounds::Windowed(Bounds {
                origin: Default::default(),
                size: size(px(WIDTH), px(height)),
            })),
            focus: true,
            show: false,
            ..Default::default()
        };
        let path = format!("/p/{}", file.name);
        let opened = cx.update(|cx| {
            let model: Entity<DocumentModel> = fixture::model(&path, file.text, environment, cx);
            model.update(cx, |model, cx| {
                model.set_head(Some(Snapshot::new(&committed(file.text))), cx)
            });
            gpui_kit::open_window(options, cx, |window, cx| {
                cx.new(|cx| Editor::new(model, window, cx))
            })
        });
        let (window, editor) = opened.expect("a window without a screen");
        let mut alone = Self {
            stage: Stage { cx, window, clock },
            editor,
        };
        alone.stage.cx.run_until_parked();
        alone.go_to_start(file);
        alone.pass(Duration::from_secs(2), Pace::Free);
        alone
    }

    /// Puts the caret where typing begins.
    fn go_to_start(&mut self, file: &EditedFile<'_>) {
        let editor = self.editor.clone();
        let moved = self
            .stage
            .cx
            .update_window(self.stage.window, |_, window, cx| {
                let focus = editor.read(cx).focus_handle(cx);
                window.focus(&focus, cx);
                editor.update(cx, |editor, cx| {
                    let snapshot = editor.model().read(cx).snapshot();
                    let at: ByteOffset = snapshot.row_end(Row(file.place.line - 1));
                    editor.go_to(at, Reveal::Center, cx);
                });
            });
        moved.expect("the window is open");
    }

    pub(crate) fn press(&mut self, keystroke: Keystroke) -> f64 {
        self.stage.press(keystroke)
    }

    pub(crate) fn pass(&mut self, time: Duration, pace: Pace) {
        self.stage.pass(time, pace, |_| {});
    }

    pub(crate) fn text(&mut self) -> String {
        let editor = self.editor.clone();
        self.stage
            .cx
            .update(|cx| editor.read(cx).model().read(cx).snapshot().to_string())
    }

    fn visible_rows(&mut self) -> u32 {
        let editor = self.editor.clone();
        self.stage.cx.update(|cx| visible_rows(&editor, cx))
    }
}

/// Returns the number of rows in sight of a view.
pub(crate) fn visible_rows(editor: &Entity<Editor>, cx: &mut gpui_kit::App) -> u32 {
    let rows = editor.update(cx, |editor, cx| editor.scene(cx).rows);
    rows.1.0.saturating_sub(rows.0.0)
}
