//! Key to scene while a status, a blame and a log run, with the panel of changes and the authors of lines in sight.
//!
//! The status is that of the window's project, in process. Blame and log are those of a long history, by the real git; the
//! edited text is its largest file. They are slowed down so that they last about as long as a line is typed, as they do in
//! larger histories. Only keys during which both run are counted; a status begins with each of them.

mod history;
mod service;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use base::AbsPath;
use git_history::HistoryService;
use git_history::actions::git::{ShowHistory, ToggleBlame};
use git_panel::actions::ShowChanges;
use git_panel::{FakeGit, GitService, GitTick};
use workbench::actions::file::Save;
use workbench::target::LineColumn;

use crate::flood::pump;
use crate::frames::TYPED;
use crate::printed::{Figure, Goal, quantile};
use crate::project_folder::EditedFile;
use crate::stage::keystroke;
use crate::world::{Models, MoreServices, Tab, World};
use history::BenchHistory;
use service::BenchGit;

/// The largest file of the history, as `crates/bench/src/git/history.rs` makes it.
const LARGE: &str = "src/large.rs";
/// The name of the edited file.
const EDITED: &str = "typed.rs";
/// Number of typed lines, and of lines that are not counted: they shape words that are not cached yet.
const LINES: usize = 16;
const FIRST_LINES: usize = 2;
/// Time between keys: eight a second. A status begins this long before each key.
const BETWEEN: Duration = Duration::from_millis(120);
const BEFORE_KEY: Duration = Duration::from_millis(5);
/// Time after which queries that do not begin fail the benchmark.
const PATIENCE: Duration = Duration::from_secs(60);
/// Fewest keys of which the quantiles are worth printing.
const MIN_KEYS: usize = 100;
/// Goal in milliseconds.
const KEY_P99: f64 = 2.0;

/// The queries that were started and that ended.
#[derive(Default)]
struct QueryCount {
    started: AtomicUsize,
    ended: AtomicUsize,
}

/// The queries of a window.
#[derive(Default)]
struct QueryCounts {
    statuses: QueryCount,
    blames: QueryCount,
    logs: QueryCount,
}

impl QueryCount {
    fn begin(&self) {
        self.started.fetch_add(1, Ordering::SeqCst);
    }

    fn end(&self) {
        self.ended.fetch_add(1, Ordering::SeqCst);
    }

    fn started(&self) -> usize {
        self.started.load(Ordering::SeqCst)
    }

    fn is_running(&self) -> bool {
        self.ended.load(Ordering::SeqCst) < self.started()
    }
}

/// Milliseconds on the window's thread.
#[derive(Default)]
struct Times {
    /// Keys beside a blame and a log.
    keys: Vec<f64>,
    /// Each update by an answer, with its frame.
    updates: Vec<f64>,
}

/// A window with its queries.
struct GitWorld {
    world: World,
    queries: Arc<QueryCounts>,
    /// Reports changes to the panel.
    git: FakeGit,
}

pub(crate) fn run(repository: &Path) {
    let repository = repository.canonicalize().expect("the repository exists");
    let repository = AbsPath::new(repository).expect("an absolute path");
    let mut git_world = GitWorld::open(&repository);
    let mut times = Times::default();
    for (ix, line) in TYPED.lines().cycle().take(LINES).enumerate() {
        if ix == FIRST_LINES {
            times = Times::default();
        }
        git_world.type_line(line, &mut times);
        git_world.restart_queries(&mut times);
    }
    let statuses = git_world.queries.statuses.started();
    assert!(times.keys.len() >= MIN_KEYS, "blame and log last too short");
    assert!(
        statuses >= times.keys.len(),
        "a status begins with each key"
    );
    let name = "key to scene while a status, a blame and a log run";
    print(&format!("{name} p50"), &times.keys, 0.5, Goal::None);
    let goal = Goal::AtMost(KEY_P99);
    print(&format!("{name} p99"), &times.keys, 0.99, goal);
    let name = "update of the window by a status, a blame or a log, with its frame";
    print(&format!("{name} p50"), &times.updates, 0.5, Goal::None);
    print(&format!("{name} p99"), &times.updates, 0.99, Goal::None);
}

fn print(name: &str, times: &[f64], share: f64, goal: Goal) {
    let figure = Figure {
        name,
        value: quantile(times, share),
        unit: "ms",
        n: times.len(),
    };
    figure.print(goal);
}

impl GitWorld {
    /// Opens a window with the history in a tab behind the text, the panel of changes and the authors of lines.
    fn open(repository: &AbsPath) -> Self {
        let large = std::fs::read_to_string(repository.join(LARGE).as_path());
        let large = large.expect("the history has its largest file");
        let text = format!("{large}\nfn typed() {{\n    \n}}\n");
        let file = EditedFile {
            name: EDITED,
            text: &text,
            place: LineColumn::new(large.lines().count() as u32 + 3, 5),
        };
        let (queries, git) = (Arc::<QueryCounts>::default(), FakeGit::default());
        let more = services(repository, &queries, &git);
        let mut world = World::open_with(Models::None, Tab::Off, more, &file);
        world.act(ShowHistory);
        world.show(world.edited(), file.place);
        world.act(ShowChanges);
        world.focus_text();
        world.act(ToggleBlame);
        Self {
            world,
            queries,
            git,
        }
    }

    /// Saves the text, after which the window finds another HEAD, and waits until it blames and reads the history anew.
    fn restart_queries(&mut self, times: &mut Times) {
        let before = (self.queries.blames.started(), self.queries.logs.started());
        self.world.act(Save);
        let start = Instant::now();
        loop {
            self.pass(BETWEEN, times);
            let queries = &self.queries;
            let is_anew = queries.blames.started() > before.0 && queries.logs.started() > before.1;
            if is_anew && queries.blames.is_running() && queries.logs.is_running() {
                return;
            }
            assert!(
                start.elapsed() < PATIENCE,
                "a save leads to a blame and a log: {before:?}"
            );
        }
    }

    fn type_line(&mut self, line: &str, times: &mut Times) {
        let root = self.world.root();
        for key in line.chars().chain(['\n']) {
            self.git.send_tick(&GitTick::Repository(root.clone()));
            self.pass(BEFORE_KEY, times);
            let is_counted = self.queries.blames.is_running() && self.queries.logs.is_running();
            let took = self.world.press(keystroke(key));
            if is_counted {
                times.keys.push(took);
            }
            self.pass(BETWEEN, times);
        }
    }

    fn pass(&mut self, time: Duration, times: &mut Times) {
        self.world.stage.clock.advance(time);
        pump(&mut self.world.stage.cx, time, &mut times.updates);
    }
}

fn services(repository: &AbsPath, queries: &Arc<QueryCounts>, git: &FakeGit) -> MoreServices {
    let history: Arc<dyn HistoryService> = Arc::new(BenchHistory::new(repository, queries));
    let (git, queries) = (git.clone(), queries.clone());
    MoreServices {
        git: Some(Arc::new(move |root: &AbsPath| {
            let service = BenchGit::new(&git, root, &queries);
            Arc::new(service) as Arc<dyn GitService>
        })),
        history: Some(Arc::new(move |_: &AbsPath| history.clone())),
        ..MoreServices::default()
    }
}
