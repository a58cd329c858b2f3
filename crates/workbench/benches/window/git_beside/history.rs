//! The history of a repository and its blame, by the real git and at a pace of our own.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use async_channel::Sender;
use base::AbsPath;
use futures::future::{BoxFuture, FutureExt as _, ready};
use git_history::{
    BlameRequest, CommitCommand, CommitPage, HistoryAnswer, HistoryError, HistoryService, LogBatch,
    RunningQuery, VersionPair,
};
use git_program::{
    BlameOptions, BlamedLines, Cancellation, CheckoutTrust, CommittedChange, Error, GitProgram,
    LogQuery, LogRow, ReflogState, UndoPlan, find_program,
};
use host::environment::{Recipient, variables};

use super::{EDITED, LARGE, QueryCount, QueryCounts};

/// Rows and groups of lines in an answer, and the pauses before each.
const ROWS: usize = 200;
const ROWS_PAUSE: Duration = Duration::from_millis(50);
const GROUPS: usize = 64;
const GROUPS_PAUSE: Duration = Duration::from_millis(150);
/// Answers that wait for the window.
const WAITING: usize = 8;

/// The sending end of a query.
type Answers<T> = Sender<Result<T, HistoryError>>;

/// Reads one repository, whatever the folder of the window. HEAD is another commit at each look.
pub(super) struct BenchHistory {
    program: Arc<GitProgram>,
    queries: Arc<QueryCounts>,
    looks: AtomicU64,
}

impl BenchHistory {
    pub(super) fn new(repository: &AbsPath, queries: &Arc<QueryCounts>) -> Self {
        let environment = variables(Recipient::Personal);
        let git = find_program("git", &environment).expect("git is installed");
        let root = repository.clone();
        let program = GitProgram::new(git, root, environment, CheckoutTrust::Trusted);
        Self {
            program: Arc::new(program.expect("the repository is trusted")),
            queries: queries.clone(),
            looks: AtomicU64::new(0),
        }
    }
}

/// Runs a query on a thread, and counts it.
fn stream<T: Send + 'static>(
    queries: &Arc<QueryCounts>,
    count: fn(&QueryCounts) -> &QueryCount,
    work: impl FnOnce(&Cancellation, &Answers<T>) -> Result<(), Error> + Send + 'static,
) -> RunningQuery<T> {
    let (sender, items) = async_channel::bounded(WAITING);
    let cancellation = Cancellation::default();
    let (passed, queries) = (cancellation.clone(), queries.clone());
    count(&queries).begin();
    thread::spawn(move || {
        let ended = work(&passed, &sender);
        count(&queries).end();
        if let Err(error) = ended
            && !passed.is_cancelled()
        {
            eprintln!("git failed: {error}");
        }
    });
    RunningQuery::new(items, cancellation)
}

/// Passes an answer on after a pause; breaks if the window wants no more.
fn pass_on<T>(answer: T, pause: Duration, answers: &Answers<T>) -> ControlFlow<()> {
    thread::sleep(pause);
    match answers.send_blocking(Ok(answer)) {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    }
}

fn not_measured<T: Send + 'static>() -> HistoryAnswer<T> {
    let sentence = "commits are not shown here".to_owned();
    ready(Err(HistoryError::Failed(sentence))).boxed()
}

impl HistoryService for BenchHistory {
    fn path_in_repository(&self, file: &AbsPath) -> Option<PathBuf> {
        (file.name() == EDITED).then(|| LARGE.into())
    }

    fn log(&self, query: LogQuery) -> RunningQuery<LogBatch> {
        let program = self.program.clone();
        let work = move |cancellation: &Cancellation, answers: &Answers<LogBatch>| {
            let mut rows = Vec::new();
            program.log(&query, cancellation, &mut |row: LogRow| {
                rows.push(row);
                if rows.len() < ROWS {
                    return ControlFlow::Continue(());
                }
                let batch = LogBatch {
                    rows: std::mem::take(&mut rows),
                    limits: None,
                };
                pass_on(batch, ROWS_PAUSE, answers)
            })
        };
        stream(&self.queries, |queries| &queries.logs, work)
    }

    fn reflog_states(&self) -> HistoryAnswer<Vec<ReflogState>> {
        not_measured()
    }

    fn commit(&self, _: String) -> HistoryAnswer<CommitPage> {
        not_measured()
    }

    fn versions(&self, _: String, _: CommittedChange) -> HistoryAnswer<VersionPair> {
        not_measured()
    }

    fn blame(&self, request: BlameRequest) -> RunningQuery<Vec<BlamedLines>> {
        let program = self.program.clone();
        let options = BlameOptions {
            content: request.content,
            ..BlameOptions::default()
        };
        let path = request.path;
        let work = move |cancellation: &Cancellation, answers: &Answers<Vec<BlamedLines>>| {
            let mut groups = Vec::new();
            program.blame(&path, options, cancellation, &mut |lines: BlamedLines| {
                groups.push(lines);
                if groups.len() < GROUPS {
                    return ControlFlow::Continue(());
                }
                pass_on(std::mem::take(&mut groups), GROUPS_PAUSE, answers)
            })
        };
        stream(&self.queries, |queries| &queries.blames, work)
    }

    fn head(&self) -> BoxFuture<'static, Option<String>> {
        let look = self.looks.fetch_add(1, Ordering::SeqCst);
        ready(Some(format!("{look:040x}"))).boxed()
    }

    fn run(&self, _: String, _: CommitCommand) -> HistoryAnswer<String> {
        not_measured()
    }

    fn undo_plan(&self) -> HistoryAnswer<Option<UndoPlan>> {
        not_measured()
    }

    fn undo(&self, _: UndoPlan) -> HistoryAnswer<()> {
        not_measured()
    }

    fn commit_page(&self, _: String) -> BoxFuture<'static, Option<String>> {
        ready(None).boxed()
    }
}
