//! A window over files in memory, with a manual clock and optionally a model that knows the typed lines.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use autocomplete::engine::{CompletionRequest, TabKind, TabModel};
use autocomplete::{Suggestion, SuggestionSource};
use base::AbsPath;
use cpu_time::ThreadTime;
use editor::Editor;
use futures::future::{BoxFuture, FutureExt as _};
use futures::stream::{BoxStream, StreamExt as _};
use gpui_kit::{AnyWindowHandle, Entity, HeadlessAppContext, Keystroke};
use host::{Dirs, FakeClock, FakeFiles};
use model::{ModelId, StopReason, StreamEvent};
use project::WalkBackend;
use workbench::target::LineColumn;
use workbench::{Services, TabItem, TabModels, Workbench, windows};

/// The typed lines, repeated: similar to lines of the project, with a few different words.
pub(crate) const LINES: &str = include_str!("lines.txt");

/// The project: this crate's own files.
const FILES: [(&str, &str); 8] = [
    (
        "around.rs",
        include_str!("../../src/prediction/folder_context.rs"),
    ),
    (
        "asking.rs",
        include_str!("../../src/prediction/model_requests.rs"),
    ),
    (
        "background.rs",
        include_str!("../../src/prediction/background.rs"),
    ),
    ("documents.rs", include_str!("../../src/documents.rs")),
    ("folder.rs", include_str!("../../src/folder.rs")),
    (
        "shown_suggestions.rs",
        include_str!("../../src/prediction/shown_suggestions.rs"),
    ),
    (
        "reading.rs",
        include_str!("../../src/prediction/folder_reader.rs"),
    ),
    ("windows.rs", include_str!("../../src/windows.rs")),
];
/// The edited file, and the text around the caret.
const TYPED: &str = include_str!("../../src/prediction.rs");
const PLACE: &str = "\nfn typed(&mut self, cx: &mut Context<Self>) {\n    ";
/// Step by which the clock advances.
const TICK: Duration = Duration::from_millis(50);

/// Models that suggest in addition to the local tier.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Models {
    /// No model at all.
    None,
    /// A model that knows the text to be typed.
    Known,
}

/// Whether anything is suggested.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Tab {
    On,
    Off,
}

/// A window.
pub(crate) struct World {
    cx: HeadlessAppContext,
    window: AnyWindowHandle,
    workbench: Entity<Workbench>,
    clock: Arc<FakeClock>,
    pub(crate) model: Option<Arc<Knowing>>,
}

/// A model that knows the line being typed and the next one.
#[derive(Default)]
pub(crate) struct Knowing {
    lines: Mutex<(String, String)>,
    asked: Mutex<usize>,
}

impl World {
    pub(crate) fn open(models: Models, tab: Tab) -> Self {
        let text_system = gpui_kit::platform::current_platform(true).text_system();
        let mut cx = HeadlessAppContext::with_asset_source(text_system, Arc::new(ui::Assets));
        let files = FakeFiles::new();
        for (name, text) in FILES {
            files.write(&path("/p/src").join(name), text);
        }
        let typed = format!("{TYPED}{PLACE}\n}}\n");
        files.write(&path("/p/src/typed.rs"), &typed);
        if tab == Tab::Off {
            let settings = r#"{ "tab": { "show": "off" } }"#;
            files.write(&path("/burin/config/settings.json"), settings);
        }
        let clock = Arc::new(FakeClock::at(1_700_000_000_000));
        let model = (models == Models::Known).then(Arc::<Knowing>::default);
        let services = Services {
            files: Arc::new(files.clone()),
            clock: clock.clone(),
            dirs: Dirs::under(&path("/burin")),
            ground: WalkBackend::Listed(Arc::new(files)),
            home: None,
            agents: None,
            index: None,
            tab: model.clone().map(|model| model as Arc<dyn TabModels>),
            unsaved: Arc::default(),
            install: None,
            working_folder: path("/p"),
        };
        let place = LineColumn {
            line: (TYPED.matches('\n').count() + PLACE.matches('\n').count() + 1) as u32,
            column: 5,
        };
        cx.update(|cx| {
            gpui_kit::init(cx);
            ui::init(base::Platform::Linux, cx);
            services.set(cx);
            let started = workbench::init(cx);
            let request = windows::OpenRequest {
                folders: vec![path("/p")],
                files: vec![(path("/p/src/typed.rs"), Some(place))],
            };
            windows::start(request, started.problems, cx);
        });
        cx.run_until_parked();
        let open = cx.update(|cx| windows::all(cx));
        let (window, workbench) = open.into_iter().next().expect("a window");
        let mut world = Self {
            cx,
            window,
            workbench,
            clock,
            model,
        };
        world
            .cx
            .update_window(window, |_, window, _| window.activate_window())
            .expect("the window is open");
        world.pass(2_000);
        world
    }

    /// Presses a key; returns this thread's CPU milliseconds up to the end of the frame.
    pub(crate) fn press(&mut self, keystroke: Keystroke) -> f64 {
        let start = ThreadTime::now();
        // In tests the window is drawn as part of the update that made it dirty.
        self.cx
            .update_window(self.window, |_, window, cx| {
                window.dispatch_keystroke(keystroke, cx);
            })
            .expect("the window is open");
        start.elapsed().as_secs_f64() * 1e3
    }

    /// Advances the clock in steps and runs everything that becomes due.
    pub(crate) fn pass(&mut self, ms: u64) {
        let end = Duration::from_millis(ms);
        let mut passed = Duration::ZERO;
        self.cx.run_until_parked();
        while passed < end {
            self.clock.advance(TICK);
            self.cx.advance_clock(TICK);
            self.cx.run_until_parked();
            passed += TICK;
        }
    }

    /// Returns the suggestion in the last frame, if that frame shows the current text.
    pub(crate) fn painted(&mut self) -> Option<Suggestion> {
        self.read(|editor, cx| {
            let revision = editor.model().read(cx).snapshot().revision();
            let suggestion = editor.suggestion()?;
            let is_painted = editor.last_painted() == Some((suggestion.id, revision));
            (is_painted && editor.shows_suggestion()).then(|| suggestion.clone())
        })
    }

    /// Returns the number of requests to the model.
    pub(crate) fn asked(&self) -> usize {
        self.model.as_ref().map_or(0, |model| *lock(&model.asked))
    }

    pub(crate) fn text(&mut self) -> String {
        self.read(|editor, cx| Some(editor.model().read(cx).snapshot().to_string()))
            .unwrap_or_default()
    }

    fn read<R>(&mut self, read: impl FnOnce(&Editor, &gpui_kit::App) -> Option<R>) -> Option<R> {
        let workbench = self.workbench.clone();
        self.cx.update(|cx| {
            let editor = workbench.read(cx).active_item().and_then(TabItem::editor)?;
            read(editor.read(cx), cx)
        })
    }
}

impl Knowing {
    /// Sets the line being typed and the next one.
    pub(crate) fn expect(&self, line: &str, next: &str) {
        *lock(&self.lines) = (line.to_owned(), next.to_owned());
    }

    fn answer(&self, what: &CompletionRequest) -> String {
        let CompletionRequest::Fim(fim) = what else {
            return String::new();
        };
        let (line, next) = lock(&self.lines).clone();
        let row = fim.prefix.rsplit('\n').next().unwrap_or_default();
        match line.strip_prefix(row.trim_start()) {
            Some("") => format!("\n    {next}"),
            Some(rest) => rest.to_owned(),
            None => String::new(),
        }
    }
}

impl TabModels for Knowing {
    fn choose(&self, _: String) -> BoxFuture<'static, Result<Option<TabModel>, workbench::Error>> {
        let id = ModelId::parse("loopback/known").expect("a name");
        let kind = TabKind::Gap;
        std::future::ready(Ok(Some(TabModel {
            id,
            kind,
            is_serial: false,
        })))
        .boxed()
    }

    fn ask(&self, what: CompletionRequest) -> BoxStream<'static, StreamEvent> {
        *lock(&self.asked) += 1;
        let stop = StreamEvent::Stop {
            reason: StopReason::EndTurn,
            raw: "stop".to_owned(),
        };
        let events = [StreamEvent::TextDelta(self.answer(&what)), stop];
        futures::stream::iter(events).boxed()
    }

    fn record_metric(&self, _: &'static str, _: f64, _: String) {}
}

/// Returns whether a suggestion comes from a model.
pub(crate) fn is_of_model(suggestion: &Suggestion) -> bool {
    matches!(
        suggestion.source,
        SuggestionSource::Gap(_) | SuggestionSource::NextEdit(_)
    )
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn path(text: &str) -> AbsPath {
    AbsPath::new(text).expect("the path starts at the root")
}
