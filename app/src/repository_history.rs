//! The history of a repository for the windows, over the user's git.
//!
//! Invariant: no process starts for a folder that the user does not trust; libgit2 then shows what it can read.
//! Start at `services`. Nothing blocks the caller: each request runs on a thread of its own.

mod commands;
mod in_process;
mod log;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::thread;

use async_channel::Sender;
use base::AbsPath;
use futures::channel::oneshot;
use futures::future::{BoxFuture, FutureExt as _};
use git_history::{
    BlameRequest, CommitCommand, CommitPage, HistoryAnswer, HistoryError, HistoryService, LogBatch,
    OpenHistory, RunningQuery, VersionPair,
};
use git_program::{
    BlameOptions, BlamedLines, Cancellation, ChangeLetter, CheckoutTrust, CommittedChange,
    GitProgram, LogQuery, ReflogState, UndoPlan, find_program, undo_plan,
};
use host::environment::{self, Recipient};
use host::{Dirs, Files as _, RealFiles};
use runtime::trust::is_trusted;

/// Answers that wait for the window; the query waits while there are more.
const WAITING: usize = 8;
/// Largest file whose versions are shown, in bytes.
const MAX_BYTES: usize = 16 << 20;
/// Movements of HEAD that are read for the plan that undoes the last.
const REFLOG: usize = 200;
/// Mode of a submodule.
const SUBMODULE: u32 = 0o160_000;
/// Blamed lines of an answer.
const BLAME_BATCH: usize = 64;

/// Returns the function that makes the service for the repository around a folder.
pub(crate) fn services(dirs: Dirs) -> OpenHistory {
    Arc::new(move |root| {
        Arc::new(RepositoryHistory {
            place: RepositoryPlace {
                dirs: dirs.clone(),
                root: root.clone(),
            },
            top: OnceLock::new(),
        })
    })
}

/// The history of the repository around one folder.
struct RepositoryHistory {
    place: RepositoryPlace,
    /// The root of the working tree, once it was found.
    top: OnceLock<AbsPath>,
}

/// A folder in a repository, with the folders in which the trust is recorded.
#[derive(Clone)]
struct RepositoryPlace {
    dirs: Dirs,
    root: AbsPath,
}

impl RepositoryPlace {
    /// Returns the root of the working tree.
    fn top(&self) -> Result<AbsPath, HistoryError> {
        let mut above = Some(self.root.clone());
        while let Some(folder) = above {
            if RealFiles.exists(&folder.join(".git")) {
                return Ok(folder);
            }
            above = folder.parent();
        }
        Err(HistoryError::NoRepository)
    }

    /// Returns the user's git in the working tree. Trust is looked up each time, because it can be withdrawn.
    fn program(&self) -> Result<GitProgram, HistoryError> {
        let top = self.top()?;
        if !is_trusted(&RealFiles, &self.dirs, &top) {
            return Err(HistoryError::Untrusted);
        }
        let variables = environment::variables(Recipient::Personal);
        let program = find_program("git", &variables).ok_or_else(|| {
            let sentence = "git is not installed, or not in the PATH of your shell";
            HistoryError::Failed(sentence.to_owned())
        })?;
        GitProgram::new(program, top, variables, CheckoutTrust::Trusted).map_err(failure)
    }

    fn repository(&self) -> Result<git::Repository, HistoryError> {
        git::Repository::discover(&self.root).map_err(|error| match error {
            git::Error::NoRepository(_) => HistoryError::NoRepository,
            error => HistoryError::Failed(error.to_string()),
        })
    }
}

fn failure(error: git_program::Error) -> HistoryError {
    match error {
        git_program::Error::Untrusted { .. } => HistoryError::Untrusted,
        git_program::Error::NoRepository { .. } => HistoryError::NoRepository,
        error => HistoryError::Failed(error.to_string()),
    }
}

/// Runs work on a thread; the answer is its result.
fn answer<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, HistoryError> + Send + 'static,
) -> HistoryAnswer<T> {
    let (sender, receiver) = oneshot::channel();
    let started = thread::Builder::new()
        .name("history".to_owned())
        .spawn(move || {
            // The window may be gone.
            sender.send(work()).ok();
        });
    async move {
        if let Err(error) = started {
            let sentence = format!("cannot read the history: {error}");
            return Err(HistoryError::Failed(sentence));
        }
        receiver.await.unwrap_or_else(|_| {
            let sentence = "cannot read the history: the task ended early";
            Err(HistoryError::Failed(sentence.to_owned()))
        })
    }
    .boxed()
}

/// The sending end of a query.
type Answers<T> = Sender<Result<T, HistoryError>>;

/// Runs a query on a thread until it ends or its receiver is dropped.
fn stream<T: Send + 'static>(
    work: impl FnOnce(&Cancellation, &Answers<T>) -> Result<(), HistoryError> + Send + 'static,
) -> RunningQuery<T> {
    let (sender, items) = async_channel::bounded(WAITING);
    let cancellation = Cancellation::default();
    let passed = cancellation.clone();
    let failed = sender.clone();
    let started = thread::Builder::new()
        .name("history".to_owned())
        .spawn(move || {
            if let Err(error) = work(&passed, &sender)
                && !passed.is_cancelled()
            {
                // The window may be gone.
                sender.send_blocking(Err(error)).ok();
            }
        });
    if let Err(error) = started {
        let sentence = format!("cannot read the history: {error}");
        // There is room for one answer.
        failed.try_send(Err(HistoryError::Failed(sentence))).ok();
    }
    RunningQuery::new(items, cancellation)
}

/// Returns the text of a version; an error if it is no text.
fn text_of(bytes: &[u8]) -> Result<String, HistoryError> {
    let text = text::decode_text(bytes).ok_or_else(|| {
        let sentence = "this file is not text; its versions are not compared";
        HistoryError::Failed(sentence.to_owned())
    })?;
    Ok(text.into_owned())
}

/// Returns the text of a file at a commit.
fn version(
    program: &GitProgram,
    revision: &str,
    path: &Path,
    (mode, id): (u32, &str),
) -> Result<String, HistoryError> {
    if mode == SUBMODULE {
        return Ok(format!("Subproject commit {id}\n"));
    }
    let shown = program.show(revision, path, MAX_BYTES, &Cancellation::default());
    text_of(&shown.map_err(failure)?)
}

fn versions(
    place: &RepositoryPlace,
    id: &str,
    change: &CommittedChange,
) -> Result<VersionPair, HistoryError> {
    let program = match place.program() {
        Ok(program) => program,
        Err(HistoryError::Untrusted) => return in_process::versions(place, id, change),
        Err(error) => return Err(error),
    };
    let [old_mode, new_mode] = change.modes;
    let [old_id, new_id] = &change.ids;
    let source = change
        .source
        .as_ref()
        .map_or(&change.path, |(path, _)| path);
    let before = match change.letter {
        ChangeLetter::Added => None,
        _ => {
            let parent = format!("{id}^");
            Some(version(
                &program,
                &parent,
                source,
                (old_mode, old_id.as_str()),
            )?)
        }
    };
    let after = match change.letter {
        ChangeLetter::Deleted => None,
        _ => Some(version(
            &program,
            id,
            &change.path,
            (new_mode, new_id.as_str()),
        )?),
    };
    Ok(VersionPair {
        path: program.root().join(&change.path),
        before,
        after,
    })
}

fn commit_page(place: &RepositoryPlace, id: &str) -> Result<CommitPage, HistoryError> {
    let program = match place.program() {
        Ok(program) => program,
        Err(HistoryError::Untrusted) => return in_process::commit_page(place, id),
        Err(error) => return Err(error),
    };
    let cancellation = Cancellation::default();
    let details = program.commit_details(id, &cancellation).map_err(failure)?;
    let files = program.changed_files(None, id, &cancellation);
    Ok(CommitPage {
        details,
        files: files.map_err(failure)?,
    })
}

fn blame(
    place: &RepositoryPlace,
    request: BlameRequest,
    cancellation: &Cancellation,
    answers: &Answers<Vec<BlamedLines>>,
) -> Result<(), HistoryError> {
    let program = place.program()?;
    let options = BlameOptions {
        content: request.content,
        with_ignored_revisions: true,
        ..BlameOptions::default()
    };
    let mut batch: Vec<BlamedLines> = Vec::new();
    // The first lines are passed on at once, later ones in batches.
    let mut size = 1;
    let ended = program.blame(&request.path, options, cancellation, &mut |lines| {
        batch.push(lines);
        if batch.len() < size {
            return ControlFlow::Continue(());
        }
        size = (size * 2).min(BLAME_BATCH);
        log::pass_on(&mut batch, answers)
    });
    ended.map_err(failure)?;
    if !batch.is_empty() {
        // The window may be gone.
        answers.send_blocking(Ok(batch)).ok();
    }
    Ok(())
}

impl HistoryService for RepositoryHistory {
    fn path_in_repository(&self, file: &AbsPath) -> Option<PathBuf> {
        let top = match self.top.get() {
            Some(top) => top,
            None => {
                let top = self.place.top().ok()?;
                self.top.get_or_init(|| top)
            }
        };
        file.relative_to(top).map(PathBuf::from)
    }

    fn log(&self, query: LogQuery) -> RunningQuery<LogBatch> {
        let place = self.place.clone();
        stream(move |cancellation, answers| log::read(&place, query, cancellation, answers))
    }

    fn commit(&self, id: String) -> HistoryAnswer<CommitPage> {
        let place = self.place.clone();
        answer(move || commit_page(&place, &id))
    }

    fn versions(&self, id: String, change: CommittedChange) -> HistoryAnswer<VersionPair> {
        let place = self.place.clone();
        answer(move || versions(&place, &id, &change))
    }

    fn blame(&self, request: BlameRequest) -> RunningQuery<Vec<BlamedLines>> {
        let place = self.place.clone();
        stream(move |cancellation, answers| blame(&place, request, cancellation, answers))
    }

    fn head(&self) -> BoxFuture<'static, Option<String>> {
        let place = self.place.clone();
        let head = answer(move || in_process::head(&place));
        async move { head.await.ok() }.boxed()
    }

    fn run(&self, id: String, command: CommitCommand) -> HistoryAnswer<String> {
        let place = self.place.clone();
        answer(move || commands::run(&place.program()?, &id, command))
    }

    fn undo_plan(&self) -> HistoryAnswer<Option<UndoPlan>> {
        let place = self.place.clone();
        answer(move || {
            let entries = place.program()?.reflog(REFLOG, &Cancellation::default());
            Ok(undo_plan(&entries.map_err(failure)?))
        })
    }

    fn reflog_states(&self) -> HistoryAnswer<Vec<ReflogState>> {
        let place = self.place.clone();
        answer(move || {
            let states = place
                .program()?
                .reflog_states(REFLOG, &Cancellation::default());
            states.map_err(failure)
        })
    }

    fn undo(&self, plan: UndoPlan) -> HistoryAnswer<()> {
        let place = self.place.clone();
        answer(move || {
            let undone = place.program()?.undo(&plan, &Cancellation::default());
            undone.map_err(failure)
        })
    }

    fn commit_page(&self, id: String) -> BoxFuture<'static, Option<String>> {
        let place = self.place.clone();
        let page = answer(move || {
            let remotes = place.repository()?.remote_urls().into_iter();
            let mut pages = remotes.filter_map(|url| git_history::commit_page(&url, &id));
            Ok(pages.next())
        });
        async move { page.await.ok().flatten() }.boxed()
    }
}
