//! The tests of a window's folder: their results, the runs, and the files that run again after they are saved.
//!
//! Invariant: one command runs at a time; further ones wait.
//! Invariant: output is read in the background; the window's thread only takes reports.
//! Invariant: views are updated at most every 100 milliseconds while a command prints, and at its begin and end.
//! Start at `WindowTests::run`.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use async_channel::{Receiver, TryRecvError};
use base::AbsPath;
use futures::future::BoxFuture;
use gpui_kit::{
    App, AppContext as _, AsyncApp, Context, Entity, EntityId, EventEmitter, Subscription, Task,
    WeakEntity,
};
use host::Files;
use test_runner::{
    OutputParser, TestId, TestProject, TestReport, TestRunEnd, TestState, TestTarget,
};
use ui::Tone;

use super::documents::WatchedTestDocument;
use super::scan::FolderScan;
use crate::folder::OpenFolder;
use crate::language_servers::{FindingSource, Findings};
use crate::notices::Notice;
use crate::services::Services;
use crate::test_service::{TestOutput, TestRun, TestService, TestServiceError};

/// Time between two updates of the views while a command prints results, at least.
const PAUSE: Duration = Duration::from_millis(100);
/// Maximum number of chunks that are read at once.
const MAX_GATHERED: usize = 64;

/// The tests of a window's folder.
pub(crate) struct WindowTests {
    /// The name of its failures among the problems of the folder.
    pub(super) source: FindingSource,
    pub(super) root: AbsPath,
    pub(super) files: Arc<dyn Files>,
    pub(super) folder: Entity<OpenFolder>,
    service: Arc<dyn TestService>,
    pub(super) state: TestState,
    pub(super) documents: HashMap<EntityId, WatchedTestDocument>,
    pub(super) scan: FolderScan,
    queue: VecDeque<PlannedRun>,
    running: Option<RunningTests>,
    /// The latest request, for running it again.
    last: Option<RunRequest>,
    /// Whether all tests run when the scan of the folder ends.
    runs_all: bool,
    /// The files whose tests run after each save.
    on_save: BTreeSet<AbsPath>,
    /// The failures as they are shown, by file.
    pub(super) failures: Findings,
    /// The files whose results changed since they were shown.
    unshown: BTreeSet<AbsPath>,
    /// The pause after the results were shown; `None` if it is over.
    pause: Option<Task<()>>,
    _folder_changes: Subscription,
    _release: Subscription,
}

/// The tests to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RunRequest {
    /// All tests of the folder.
    All,
    /// Tests, suites and files.
    Tests(Vec<TestId>),
}

/// An event of the tests, for the window.
pub(crate) enum TestsEvent {
    /// A message for the user.
    Report(Notice),
    /// A run did not start, because the user does not trust the folder.
    Untrusted,
}

impl EventEmitter<TestsEvent> for WindowTests {}

/// A command that waits.
struct PlannedRun {
    project: Arc<TestProject>,
    /// Empty for all tests of the project.
    targets: Vec<TestTarget>,
    /// The tests whose results are expected.
    tests: Vec<TestId>,
}

/// A command that runs.
struct RunningTests {
    run: PlannedRun,
    /// `None` until it has started, and after it was stopped.
    stop: Option<Box<dyn FnOnce() + Send>>,
    is_stopped: bool,
    _task: Task<()>,
}

/// The end of a command.
struct FinishedRun {
    end: Result<TestRunEnd, TestServiceError>,
    /// The last lines of the output that are no reports.
    tail: String,
}

impl WindowTests {
    /// Creates the tests of a folder; `None` if this process has no service for tests.
    pub(crate) fn open(folder: &Entity<OpenFolder>, cx: &mut App) -> Option<Entity<Self>> {
        let services = Services::of(cx);
        let open = services.tests.clone()?;
        let root = folder.read(cx).root().clone();
        let service = open(&root);
        let folder = folder.clone();
        Some(cx.new(|cx| Self {
            source: FindingSource::Tests(cx.entity_id()),
            root,
            files: services.files,
            _folder_changes: cx.subscribe(&folder, Self::folder_event),
            folder,
            service,
            state: TestState::default(),
            documents: HashMap::new(),
            scan: FolderScan::default(),
            queue: VecDeque::new(),
            running: None,
            last: None,
            runs_all: false,
            on_save: BTreeSet::new(),
            failures: Findings::default(),
            unshown: BTreeSet::new(),
            pause: None,
            _release: cx.on_release(Self::released),
        }))
    }

    /// Returns the tests with their results.
    pub(crate) fn state(&self) -> &TestState {
        &self.state
    }

    /// Returns the folder.
    pub(crate) fn root(&self) -> &AbsPath {
        &self.root
    }

    /// Returns whether a command runs or waits.
    pub(crate) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Returns the latest request.
    pub(crate) fn last_request(&self) -> Option<RunRequest> {
        self.last.clone()
    }

    /// Runs the tests of a file after each save from now on, or no longer. Returns whether they run now.
    pub(crate) fn toggle_watch(&mut self, file: &AbsPath) -> bool {
        let is_watched = self.on_save.remove(file);
        if !is_watched {
            self.on_save.insert(file.clone());
        }
        !is_watched
    }

    /// Runs the tests of a file if the user asked for it after each save.
    pub(super) fn file_saved(&mut self, file: &AbsPath, cx: &mut Context<Self>) {
        let is_wanted = self.on_save.contains(file) && self.state.file(file).is_some();
        if is_wanted {
            self.start(vec![TestId::of_file(file)], cx);
        }
    }

    /// Runs tests as the user asked for it.
    pub(crate) fn run(&mut self, request: RunRequest, cx: &mut Context<Self>) {
        self.last = Some(request.clone());
        match request {
            RunRequest::Tests(ids) => self.start(ids, cx),
            RunRequest::All if self.scan.is_complete() => self.start_all(cx),
            RunRequest::All => {
                self.runs_all = true;
                self.scan_folder(cx);
            }
        }
    }

    /// Ends the running command, and drops those that wait.
    pub(crate) fn stop(&mut self, cx: &mut Context<Self>) {
        self.queue.clear();
        self.runs_all = false;
        if let Some(running) = &mut self.running {
            running.is_stopped = true;
            if let Some(stop) = running.stop.take() {
                stop();
            }
        }
        cx.notify();
    }

    /// Continues what waits for the tests of the whole folder.
    pub(super) fn scan_ended(&mut self, cx: &mut Context<Self>) {
        if std::mem::take(&mut self.runs_all) {
            self.start_all(cx);
        }
    }

    fn start_all(&mut self, cx: &mut Context<Self>) {
        let mut runs: Vec<PlannedRun> = Vec::new();
        for tests in self.state.files() {
            let id = TestId::of_file(&tests.file);
            let is_same = |run: &&mut PlannedRun| {
                let project = &run.project;
                project.framework == tests.project.framework && project.base == tests.project.base
            };
            let known = runs.iter_mut().find(is_same);
            let within = self.state.tests_within(&id);
            match known {
                Some(run) => run.tests.extend(within),
                None => runs.push(PlannedRun {
                    project: tests.project.clone(),
                    targets: Vec::new(),
                    tests: within,
                }),
            }
        }
        self.enqueue(runs, cx);
    }

    fn start(&mut self, ids: Vec<TestId>, cx: &mut Context<Self>) {
        let mut runs: Vec<PlannedRun> = Vec::new();
        for id in ids {
            let Some(tests) = self.state.file(&id.file) else {
                continue;
            };
            let (target, within) = (self.state.target(&id), self.state.tests_within(&id));
            let known = runs.iter_mut().find(|run| run.project == tests.project);
            match known {
                Some(run) => {
                    run.targets.push(target);
                    run.tests.extend(within);
                }
                None => runs.push(PlannedRun {
                    project: tests.project.clone(),
                    targets: vec![target],
                    tests: within,
                }),
            }
        }
        self.enqueue(runs, cx);
    }

    fn enqueue(&mut self, runs: Vec<PlannedRun>, cx: &mut Context<Self>) {
        if runs.is_empty() {
            let notice = Notice::new(Tone::Info, "There are no tests to run").key("tests");
            return cx.emit(TestsEvent::Report(notice));
        }
        self.queue.extend(runs);
        self.start_next(cx);
    }

    fn start_next(&mut self, cx: &mut Context<Self>) {
        if self.running.is_some() {
            return;
        }
        let Some(run) = self.queue.pop_front() else {
            return;
        };
        self.state.begin(&run.tests);
        let started = self.service.start(run.project.command(&run.targets));
        let parser = OutputParser::new(&run.project);
        let task = cx.spawn(async move |this, cx| {
            if let Some(finished) = follow(&this, started, parser, cx).await {
                // The window may have been closed.
                this.update(cx, |this, cx| this.run_ended(finished, cx))
                    .ok();
            }
        });
        let files: BTreeSet<AbsPath> = run.tests.iter().map(|id| id.file.clone()).collect();
        self.running = Some(RunningTests {
            run,
            stop: None,
            is_stopped: false,
            _task: task,
        });
        self.unshown.extend(files);
        self.show_results(cx);
    }

    fn run_started(&mut self, stop: Box<dyn FnOnce() + Send>) {
        let Some(running) = &mut self.running else {
            return stop();
        };
        if running.is_stopped {
            stop();
        } else {
            running.stop = Some(stop);
        }
    }

    /// Takes reports of the running command.
    fn take(&mut self, reports: Vec<TestReport>, cx: &mut Context<Self>) {
        let Some(running) = &self.running else {
            return;
        };
        let project = running.run.project.clone();
        for report in reports {
            let files = self.state.apply(&project, report);
            self.unshown.extend(files);
        }
        if self.pause.is_none() && !self.unshown.is_empty() {
            self.show_results(cx);
        }
    }

    fn run_ended(&mut self, finished: FinishedRun, cx: &mut Context<Self>) {
        let Some(running) = self.running.take() else {
            return;
        };
        let end = match &finished.end {
            Ok(_) if running.is_stopped => TestRunEnd::Stopped,
            Ok(end) => end.clone(),
            Err(error) => TestRunEnd::NotStarted(error.to_string()),
        };
        let tests = &running.run.tests;
        self.state.finish(tests, &end, &finished.tail);
        let files: BTreeSet<AbsPath> = tests.iter().map(|id| id.file.clone()).collect();
        match finished.end {
            Err(TestServiceError::Untrusted) => {
                self.queue.clear();
                cx.emit(TestsEvent::Untrusted);
            }
            Err(error) => {
                let notice = Notice::new(Tone::Error, error.to_string()).key("tests");
                cx.emit(TestsEvent::Report(notice));
            }
            Ok(_) => {}
        }
        self.unshown.extend(files);
        self.show_results(cx);
        self.start_next(cx);
    }

    /// Shows the results that changed in the gutter, among the problems and in the panel, and pauses.
    fn show_results(&mut self, cx: &mut Context<Self>) {
        let files = std::mem::take(&mut self.unshown);
        self.show_marks(&files, cx);
        self.show_failures(cx);
        cx.notify();
        self.pause = Some(cx.spawn(async move |this, cx| {
            cx.background_executor().timer(PAUSE).await;
            // The window may have been closed.
            this.update(cx, Self::pause_ended).ok();
        }));
    }

    fn pause_ended(&mut self, cx: &mut Context<Self>) {
        self.pause = None;
        if !self.unshown.is_empty() {
            self.show_results(cx);
        }
    }

    /// Removes the failures from the problems of the folder, which other windows may show.
    fn released(&mut self, cx: &mut App) {
        if !self.failures.is_empty() {
            let source = self.source.clone();
            let servers = self.folder.read(cx).language_servers().clone();
            servers.update(cx, |servers, cx| {
                servers.set_findings(source, Findings::new(), cx);
            });
        }
    }
}

/// Follows a command to its end. `None` if the window was closed.
async fn follow(
    this: &WeakEntity<WindowTests>,
    started: BoxFuture<'static, Result<TestRun, TestServiceError>>,
    mut parser: OutputParser,
    cx: &mut AsyncApp,
) -> Option<FinishedRun> {
    let TestRun { output, stop } = match started.await {
        Ok(run) => run,
        Err(error) => {
            return Some(FinishedRun {
                end: Err(error),
                tail: String::new(),
            });
        }
    };
    this.update(cx, |this, _| this.run_started(stop)).ok()?;
    loop {
        let (chunks, end) = gather(&output).await;
        let is_over = end.is_some();
        let read = cx.background_spawn(async move {
            let reports = read_chunks(&mut parser, &chunks, is_over);
            (parser, reports)
        });
        let reports;
        (parser, reports) = read.await;
        this.update(cx, |this, cx| this.take(reports, cx)).ok()?;
        if let Some(end) = end {
            return Some(FinishedRun {
                end: Ok(end),
                tail: parser.tail(),
            });
        }
    }
}

/// Waits for output, and takes what has come until then. A command whose channel ends has ended.
async fn gather(output: &Receiver<TestOutput>) -> (Vec<Vec<u8>>, Option<TestRunEnd>) {
    let mut chunks = Vec::new();
    let mut next = output.recv().await.map_err(|_| ());
    loop {
        match next {
            Ok(TestOutput::Chunk(chunk)) => chunks.push(chunk),
            Ok(TestOutput::Ended(end)) => return (chunks, Some(end)),
            Err(()) => {
                let lost = "the end of the run is unknown".to_owned();
                return (chunks, Some(TestRunEnd::NotStarted(lost)));
            }
        }
        if chunks.len() >= MAX_GATHERED {
            return (chunks, None);
        }
        next = match output.try_recv() {
            Ok(message) => Ok(message),
            Err(TryRecvError::Empty) => return (chunks, None),
            Err(TryRecvError::Closed) => Err(()),
        };
    }
}

fn read_chunks(parser: &mut OutputParser, chunks: &[Vec<u8>], is_over: bool) -> Vec<TestReport> {
    let mut reports = Vec::new();
    for chunk in chunks {
        reports.extend(parser.feed(chunk));
    }
    if is_over {
        reports.extend(parser.finish());
    }
    reports
}
