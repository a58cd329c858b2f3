//! The rows of the history, in batches.

use std::ops::ControlFlow;

use git_history::{HistoryError, LogBatch};
use git_program::{Cancellation, LogQuery, LogRow};
use host::{Files as _, RealFiles};

use super::{Answers, RepositoryPlace, failure, in_process};

/// Rows of the first batch, and of the later ones.
const FIRST: usize = 200;
const LATER: usize = 1_000;
/// Rows of the batches of a query that finds few.
const SPARSE: usize = 1;
/// Rows after which such a query is no longer one that finds few.
const FEW: usize = 50;

/// Git's words about a branch without a commit.
const UNBORN: &str = "does not have any commits yet";

/// Passes the rows of a query on as Git finds them.
pub(super) fn read(
    place: &RepositoryPlace,
    query: LogQuery,
    cancellation: &Cancellation,
    answers: &Answers<LogBatch>,
) -> Result<(), HistoryError> {
    let program = match place.program() {
        Ok(program) => program,
        Err(HistoryError::Untrusted) => return in_process::log(place, &query, answers),
        Err(error) => return Err(error),
    };
    let is_shallow = RealFiles.exists(&program.root().join(".git/shallow"));
    let limits = is_shallow.then(|| {
        "This clone is shallow: commits before the last ones shown are not here. \u{201c}git fetch --unshallow\u{201d} gets them."
            .to_owned()
    });
    let is_sparse = query.pickaxe.is_some() || query.lines.is_some() || query.path.is_some();
    let (mut batch, mut count) = (Vec::new(), 0_usize);
    let ended = program.log(&query, cancellation, &mut |row: LogRow| {
        batch.push(row);
        count += 1;
        let size = match count {
            _ if is_sparse && count <= FEW => SPARSE,
            ..=FIRST => FIRST,
            _ => LATER,
        };
        if batch.len() < size {
            return ControlFlow::Continue(());
        }
        let rows = std::mem::take(&mut batch);
        send(rows, limits.clone(), answers)
    });
    match ended.map_err(failure) {
        Err(HistoryError::Failed(sentence)) if sentence.contains(UNBORN) => {}
        other => other?,
    }
    if !batch.is_empty() {
        // Nothing follows, whether the window is there or not.
        let _flow: ControlFlow<()> = send(batch, limits, answers);
    }
    Ok(())
}

/// Passes rows on; breaks if the window is gone.
pub(super) fn send(
    rows: Vec<LogRow>,
    limits: Option<String>,
    answers: &Answers<LogBatch>,
) -> ControlFlow<()> {
    match answers.send_blocking(Ok(LogBatch { rows, limits })) {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    }
}

/// Passes a batch on and empties it; breaks if the window is gone.
pub(super) fn pass_on<T>(batch: &mut Vec<T>, answers: &Answers<Vec<T>>) -> ControlFlow<()> {
    match answers.send_blocking(Ok(std::mem::take(batch))) {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    }
}
