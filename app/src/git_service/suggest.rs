//! The staged changes as a text for the small model, on request of the user.

use std::sync::Arc;

use background::EngineServices;
use base::AbsPath;
use composer_panel::Error;
use futures::future::FutureExt as _;
use git::changes::ChangeGroup;
use git::merge::TreePath;
use git::staging::{FileDiff, Side};
use git_panel::{DiffRequest, GitAnswer, GitFailure, GitFailureKind};
use runtime::commit_messages::StagedFileDiff;
use text::RowSpan;

use super::door::RepositoryAccess;
use super::failures::{failure, other};
use super::folder_state::GitFolderState;
use super::queues::on_thread;
use super::reads;

/// Number of files whose changes are read; further ones are only named.
const MAX_FILES: usize = 100;
/// Length of the text of one file, in bytes, after which no further line is added.
const MAX_FILE_BYTES: usize = 8_000;

/// Asks the small model for a message for the staged changes.
pub(super) fn message(
    access: Arc<RepositoryAccess>,
    folder: Arc<GitFolderState>,
    engines: Arc<EngineServices>,
) -> GitAnswer<String> {
    let staged = on_thread(move || staged_files(&access, &folder));
    let asked = async move {
        let files = staged.await?;
        let answer = engines.with(move |services| async move {
            let drafted = services.draft_commit_message(&files).await;
            drafted.map_err(|error| Error::Failed(error.to_string()))
        });
        answer.await.map_err(|error| other(error.to_string()))
    };
    asked.boxed()
}

/// Returns the diffs of the staged files. Files that hold secrets are named without their content.
fn staged_files(
    access: &RepositoryAccess,
    folder: &GitFolderState,
) -> Result<Vec<StagedFileDiff>, GitFailure> {
    let changes = reads::changes(access, folder)?;
    let staged = changes
        .entries
        .into_iter()
        .filter(|change| change.group == ChangeGroup::Staged);
    let mut files = Vec::new();
    for (ix, change) in staged.enumerate() {
        let path = change.path.to_string();
        let text = if ix < MAX_FILES && !project::is_secret(&path) {
            let note = change.note.as_ref().map(ToString::to_string);
            note.unwrap_or_else(|| diff_text(access, folder, &change.path))
        } else {
            String::new()
        };
        files.push(StagedFileDiff { path, text });
    }
    if files.is_empty() {
        let sentence = nothing_staged(&access.root);
        return Err(failure(sentence, GitFailureKind::NothingStaged));
    }
    Ok(files)
}

fn nothing_staged(root: &AbsPath) -> String {
    format!("nothing is staged in {root}; stage the changes first")
}

/// Returns the changed lines of a file; a remark if they cannot be read.
fn diff_text(access: &RepositoryAccess, folder: &GitFolderState, path: &TreePath) -> String {
    let request = DiffRequest {
        path: path.clone(),
        side: Side::Staged,
        buffer: None,
    };
    match reads::file_diff(access, folder, &request) {
        Ok(diff) => match (&diff.note, diff.whole) {
            (Some(note), Some(_)) => note.to_string(),
            _ => changed_lines(&diff),
        },
        Err(error) => format!("(not shown: {})", error.sentence),
    }
}

fn changed_lines(diff: &FileDiff) -> String {
    let lines = |bytes: &[u8]| -> Vec<String> {
        let text = String::from_utf8_lossy(bytes).into_owned();
        text.lines().map(str::to_owned).collect()
    };
    let (base, work) = (lines(&diff.base), lines(&diff.work));
    let mut text = String::new();
    for hunk in &diff.hunks {
        let rows = |span: RowSpan, lines: &[String], sign: char| -> String {
            let (start, end) = (span.start.0 as usize, span.end.0 as usize);
            let shown = lines.iter().take(end).skip(start);
            shown.map(|line| format!("{sign}{line}\n")).collect()
        };
        text.push_str(&rows(hunk.base, &base, '-'));
        text.push_str(&rows(hunk.work, &work, '+'));
        if text.len() > MAX_FILE_BYTES {
            break;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use git::merge::{EntryMode, TreePath};
    use git::staging::{FileDiff, Side};

    use super::changed_lines;

    #[test]
    fn changed_lines_have_their_signs() {
        let content = |text: &str| Some((EntryMode::Plain, text.into()));
        let diff = FileDiff::of_contents(
            &TreePath::from("a"),
            Side::Staged,
            content("one\ntwo\n"),
            content("one\n2\nthree"),
        );
        assert_eq!(changed_lines(&diff), "-two\n+2\n+three\n");
    }
}
