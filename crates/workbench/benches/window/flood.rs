//! Key to scene while a language server floods the window with diagnostics and a list of completions is open.
//!
//! The server is this program, started by the product's own code. It reports 10,000 diagnostics of the edited file and
//! 100 of each of 100 other files, again and again, as fast as the window reads them. Tab is off: its ghost text would
//! take the place of the list.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use gpui_kit::{App, HeadlessAppContext};
use host::{RealClock, RealFiles};
use language::{FolderServers, InstalledServers, RunningOptions};
use settings::SettingsSource;
use workbench::services::OpenLanguageServers;
use workbench::target::LineColumn;

use crate::printed::{Figure, Goal, quantile};
use crate::project_folder::EditedFile;
use crate::stage::keystroke;
use crate::world::{Models, MoreServices, Tab, World};

pub(crate) mod server;

/// The argument with which this program is the server.
pub(crate) const SERVER: &str = "flood-server";
/// The edited file has this text a few times before the caret, and as often after it.
const TEXT: &str = include_str!("../../src/prediction.rs");
const COPIES: usize = 2;
/// Number of typed words, and the first letters of each, which match a part of the items.
const WORDS: usize = 80;
const WORD: &str = "alpha";
/// Time between keys: eight a second.
const BETWEEN: Duration = Duration::from_millis(125);
/// Time for the server to start and to flood.
const START_TIME: Duration = Duration::from_secs(60);
/// Goal for a key with the list open, in milliseconds.
const P99: f64 = 2.0;

/// Milliseconds on the window's thread.
#[derive(Default)]
struct Times {
    /// Keys with the list open.
    keys: Vec<f64>,
    /// Each update by a report or an answer, with its frame.
    updates: Vec<f64>,
}

pub(crate) fn run() {
    let before = format!("{}\nfn typed() {{\n    ", TEXT.repeat(COPIES));
    let text = format!("{before}\n}}\n{}", TEXT.repeat(COPIES));
    let file = EditedFile {
        name: "typed.rs",
        text: &text,
        place: LineColumn::new(before.lines().count() as u32, 5),
    };
    let more = MoreServices {
        servers: Some(servers()),
        ..MoreServices::default()
    };
    let mut world = World::open_with(Models::None, Tab::Off, more, &file);
    let start = Instant::now();
    while diagnostics(&mut world) == 0 {
        assert!(
            start.elapsed() < START_TIME,
            "the server reports diagnostics"
        );
        pump(&mut world.stage.cx, BETWEEN, &mut Vec::new());
    }
    let mut times = Times::default();
    for _ in 0..WORDS {
        type_word(&mut world, &mut times);
    }
    let print = |name: &str, values: &[f64], share: f64, goal: Goal| {
        let figure = Figure {
            name,
            value: quantile(values, share),
            unit: "ms",
            n: values.len(),
        };
        figure.print(goal);
    };
    let keys = "key to scene, list open, under a flood of diagnostics";
    print(&format!("{keys} p50"), &times.keys, 0.5, Goal::None);
    print(&format!("{keys} p99"), &times.keys, 0.99, Goal::AtMost(P99));
    let updates = "update of the window by the flood, with its frame";
    print(&format!("{updates} p50"), &times.updates, 0.5, Goal::None);
    print(&format!("{updates} p99"), &times.updates, 0.99, Goal::None);
}

/// Types a word. Waits after the first letter until the list has the items of the server: a list of words alone, which
/// comes first, has nothing for the later letters. The list stays open for these.
fn type_word(world: &mut World, times: &mut Times) {
    world.press(keystroke(' '));
    pump(&mut world.stage.cx, BETWEEN, &mut times.updates);
    let mut keys = WORD.chars().map(keystroke);
    world.press(keys.next().expect("a word has letters"));
    let start = Instant::now();
    while !shows_items(world) {
        assert!(start.elapsed() < START_TIME, "the server answers");
        pump(&mut world.stage.cx, BETWEEN, &mut times.updates);
    }
    for key in keys {
        times.keys.push(world.press(key));
        assert!(shows_items(world), "the list stays open");
        pump(&mut world.stage.cx, BETWEEN, &mut times.updates);
    }
}

/// Returns whether the list is open with the items of the server that match the word.
fn shows_items(world: &mut World) -> bool {
    let editor = world.editor();
    let shown = |cx: &mut App| editor.read(cx).shown_completions();
    let (labels, _) = world.stage.cx.update(shown).unwrap_or_default();
    labels
        .iter()
        .any(|label| label.starts_with(server::MATCHING))
}

/// Runs tasks for some time, and adds the milliseconds of each foreground task. The test scheduler runs background tasks
/// on the same thread, so they are run separately and not timed. Under the flood there is always one more to run.
pub(crate) fn pump(cx: &mut HeadlessAppContext, time: Duration, updates: &mut Vec<f64>) {
    let dispatcher = cx.background_executor().dispatcher().clone();
    let dispatcher = dispatcher.as_test().expect("a scheduler for tests");
    cx.advance_clock(time);
    let start = Instant::now();
    while start.elapsed() < time {
        if dispatcher.tick(true) {
            continue;
        }
        let before = ThreadTime::now();
        if dispatcher.tick(false) {
            updates.push(before.elapsed().as_secs_f64() * 1e3);
        } else {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Returns the number of diagnostics in the edited file.
fn diagnostics(world: &mut World) -> usize {
    let editor = world.editor();
    world
        .stage
        .cx
        .update(|cx| editor.read(cx).model().read(cx).diagnostics().count())
}

/// Returns how this program is started as the only server.
fn servers() -> OpenLanguageServers {
    let program = std::env::current_exe().expect("the path of this program");
    let settings = serde_json::json!({
        "lsp": {
            "load_environment": false,
            "servers": { "flood": { "command": program, "args": [SERVER], "languages": ["Rust"] } },
        },
        "languages": { "Rust": { "language_servers": ["flood"] } },
    });
    let (settings, problems) =
        settings::parse(&[(SettingsSource::User, "settings.json", &settings.to_string())]);
    assert!(problems.is_empty(), "{problems:?}");
    Arc::new(move |root| {
        let (root, settings) = (root.clone(), settings.clone());
        let folder = std::env::temp_dir();
        let own = base::AbsPath::new(&folder)
            .expect("an absolute path")
            .join("burin-flood");
        let installed = InstalledServers::new(own.join("servers"));
        let open =
            move || FolderServers::open(Arc::new(RealFiles), root, settings, installed, true);
        RunningOptions {
            open: Box::new(open),
            logs: own.join("logs"),
            clock: Arc::new(RealClock::default()),
        }
    })
}
