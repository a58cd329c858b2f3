//! A double for tests: a history in memory, which notes what it was asked.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::AbsPath;
use futures::future::{BoxFuture, FutureExt as _, ready};
use git_program::{
    BlamedLines, Cancellation, ChangeLetter, CommitDetails, CommitPerson, CommittedChange,
    LogQuery, LogRow, ReflogState, UndoPlan,
};

use crate::blame::BlameRequest;
use crate::service::{
    CommitCommand, CommitPage, HistoryAnswer, HistoryError, HistoryService, LogBatch, RunningQuery,
    VersionPair,
};

/// Rows of a batch.
const BATCH: usize = 200;

/// A history in memory.
#[derive(Clone, Default)]
pub struct FakeHistory(Arc<Mutex<FakeHistoryState>>);

#[derive(Default)]
struct FakeHistoryState {
    rows: Vec<LogRow>,
    error: Option<HistoryError>,
    limits: Option<String>,
    head: Option<String>,
    blamed: Vec<BlamedLines>,
    plan: Option<UndoPlan>,
    states: Vec<ReflogState>,
    queries: Vec<LogQuery>,
    commands: Vec<(String, CommitCommand)>,
    blames: Vec<BlameRequest>,
    undone: usize,
}

impl FakeHistory {
    /// Replaces the history by commits in a line, the newest first, each as its author and its subject. Their ids are
    /// the digits of their numbers from the end, counted from 1, repeated.
    pub fn set_line_of_commits(&self, commits: &[(&str, &str)]) {
        let id = |number: usize| (number % 10).to_string().repeat(40);
        let rows = commits.iter().enumerate().map(|(ix, (author, subject))| {
            let number = commits.len() - ix;
            LogRow {
                id: id(number),
                parents: (number > 1).then(|| id(number - 1)).into_iter().collect(),
                author: (*author).to_owned(),
                address: format!("{}@example.org", author.to_lowercase()),
                seconds: i64::try_from(number).unwrap_or(i64::MAX),
                refs: Vec::new(),
                subject: (*subject).to_owned(),
            }
        });
        let mut state = self.lock();
        state.rows = rows.collect();
        state.head = state.rows.first().map(|row| row.id.clone());
    }

    /// Makes every reading call fail.
    pub fn fail_reads(&self, error: HistoryError) {
        self.lock().error = Some(error);
    }

    /// Sets the sentence about the parts that cannot be shown.
    pub fn set_history_limits(&self, limits: &str) {
        self.lock().limits = Some(limits.to_owned());
    }

    /// Moves HEAD, as another program does.
    pub fn move_head(&self, id: &str) {
        self.lock().head = Some(id.to_owned());
    }

    /// Sets the answer of every blame.
    pub fn set_blamed_lines(&self, lines: Vec<BlamedLines>) {
        self.lock().blamed = lines;
    }

    /// Sets the plan that undoes the last action.
    pub fn set_undo_plan(&self, plan: UndoPlan) {
        self.lock().plan = Some(plan);
    }

    /// Sets the former states of HEAD.
    pub fn set_reflog_states(&self, states: Vec<ReflogState>) {
        self.lock().states = states;
    }

    /// Returns the queries of the history since the last call.
    pub fn take_log_queries(&self) -> Vec<LogQuery> {
        std::mem::take(&mut self.lock().queries)
    }

    /// Returns the commands that were run since the last call, with their commits.
    pub fn take_commit_commands(&self) -> Vec<(String, CommitCommand)> {
        std::mem::take(&mut self.lock().commands)
    }

    /// Returns the blames that were asked for since the last call.
    pub fn take_blame_requests(&self) -> Vec<BlameRequest> {
        std::mem::take(&mut self.lock().blames)
    }

    /// Returns the number of plans that were carried out.
    pub fn undone_plans(&self) -> usize {
        self.lock().undone
    }

    fn lock(&self) -> MutexGuard<'_, FakeHistoryState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer<T: Send + 'static>(&self, value: T) -> HistoryAnswer<T> {
        let error = self.lock().error.clone();
        ready(error.map_or(Ok(value), Err)).boxed()
    }

    fn stream<T>(&self, items: Vec<T>) -> RunningQuery<T> {
        let (sender, receiver) = async_channel::unbounded();
        let error = self.lock().error.clone();
        let items = items.into_iter().map(Ok).collect();
        let answers: Vec<Result<T, HistoryError>> = error.map_or(items, |error| vec![Err(error)]);
        for answer in answers {
            // The receiver is below.
            sender.try_send(answer).ok();
        }
        RunningQuery::new(receiver, Cancellation::default())
    }
}

/// Returns whether a row has what a query asks for, as far as the double knows it.
fn matches(row: &LogRow, query: &LogQuery) -> bool {
    let has = |text: &str, part: &Option<String>| {
        let part = part.as_deref().unwrap_or_default().to_lowercase();
        text.to_lowercase().contains(&part)
    };
    has(&row.subject, &query.text) && has(&row.author, &query.author)
}

fn page_of(row: &LogRow) -> CommitPage {
    let person = CommitPerson {
        name: row.author.clone(),
        address: row.address.clone(),
        seconds: row.seconds,
    };
    CommitPage {
        details: CommitDetails {
            id: row.id.clone(),
            parents: row.parents.clone(),
            author: person.clone(),
            committer: person,
            refs: row.refs.clone(),
            message: format!("{}\n\nThe whole message.", row.subject),
        },
        files: vec![CommittedChange {
            path: "src/main.rs".into(),
            letter: ChangeLetter::Modified,
            modes: [0o100_644; 2],
            ids: [String::new(), String::new()],
            source: None,
        }],
    }
}

impl HistoryService for FakeHistory {
    fn path_in_repository(&self, file: &AbsPath) -> Option<PathBuf> {
        let root = AbsPath::new("/p")?;
        file.relative_to(&root).map(PathBuf::from)
    }

    fn log(&self, query: LogQuery) -> RunningQuery<LogBatch> {
        let mut batches: Vec<LogBatch> = Vec::new();
        {
            let mut state = self.lock();
            let rows: Vec<LogRow> = state
                .rows
                .iter()
                .filter(|row| matches(row, &query))
                .cloned()
                .collect();
            batches.extend(rows.chunks(BATCH).map(|rows| LogBatch {
                rows: rows.to_vec(),
                limits: state.limits.clone(),
            }));
            state.queries.push(query);
        }
        self.stream(batches)
    }

    fn commit(&self, id: String) -> HistoryAnswer<CommitPage> {
        let page = {
            let state = self.lock();
            state.rows.iter().find(|row| row.id == id).map(page_of)
        };
        match page {
            Some(page) => self.answer(page),
            None => ready(Err(HistoryError::Failed(format!("no commit {id}")))).boxed(),
        }
    }

    fn versions(&self, id: String, change: CommittedChange) -> HistoryAnswer<VersionPair> {
        let path = AbsPath::new("/p").map(|root| root.join(&change.path));
        match path {
            Some(path) => self.answer(VersionPair {
                path,
                before: Some("fn main() {}\n".to_owned()),
                after: Some(format!("fn main() {{\n    // {id}\n}}\n")),
            }),
            None => ready(Err(HistoryError::NoRepository)).boxed(),
        }
    }

    fn blame(&self, request: BlameRequest) -> RunningQuery<Vec<BlamedLines>> {
        let lines = {
            let mut state = self.lock();
            state.blames.push(request);
            state.blamed.clone()
        };
        self.stream(lines.into_iter().map(|lines| vec![lines]).collect())
    }

    fn head(&self) -> BoxFuture<'static, Option<String>> {
        ready(self.lock().head.clone()).boxed()
    }

    fn run(&self, id: String, command: CommitCommand) -> HistoryAnswer<String> {
        let told = format!("Done at {id}");
        self.lock().commands.push((id, command));
        self.answer(told)
    }

    fn undo_plan(&self) -> HistoryAnswer<Option<UndoPlan>> {
        let plan = self.lock().plan.clone();
        self.answer(plan)
    }

    fn reflog_states(&self) -> HistoryAnswer<Vec<ReflogState>> {
        let states = self.lock().states.clone();
        self.answer(states)
    }

    fn undo(&self, _: UndoPlan) -> HistoryAnswer<()> {
        self.lock().undone += 1;
        self.answer(())
    }

    fn commit_page(&self, id: String) -> BoxFuture<'static, Option<String>> {
        let page = crate::host_page::commit_page("https://example.org/a/b.git", &id);
        ready(page).boxed()
    }
}
