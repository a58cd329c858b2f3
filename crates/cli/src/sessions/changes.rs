//! The changes of a session in its folder: lists, keeps and takes them out.

use std::fmt::Write as _;

use agent::change_origin::{CallOrigins, ChangeOrigin};
use agent::comments::{CommentState, CommentThread, CommentThreads};
use agent::record::Stored;
use agent::store::SessionStore;
use base::AbsPath;
use clap::Args;
use composer::change_history::TreeWatchers;
use composer::folder_review::{
    FolderAction, FolderChanges, FolderHunk, FolderReviews, ReviewTarget, UndoOutcome,
};
use host::Dirs;
use runtime::folder_changes::SessionReviews;
use serde_json::json;

use crate::error_text;

/// A selection of a session's changes; all of them without an option.
#[derive(Args)]
pub(super) struct ChangeSelection {
    /// The ID of the session
    id: String,
    /// Only this change, by the ID that `sessions changes` prints
    #[arg(long, conflicts_with_all = ["file", "turn", "call"])]
    hunk: Option<String>,
    /// Only changes of this file, relative to the folder
    #[arg(long, conflicts_with_all = ["turn", "call"])]
    file: Option<String>,
    /// Only changes of this turn, from 1
    #[arg(long, conflicts_with = "call")]
    turn: Option<u64>,
    /// Only changes of this tool call
    #[arg(long)]
    call: Option<String>,
}

/// The changes of one session.
pub(super) struct SessionFolder {
    reviews: SessionReviews,
    root: AbsPath,
    id: String,
}

impl SessionFolder {
    pub(super) fn open(dirs: &Dirs, store: SessionStore, id: &str) -> Result<Self, String> {
        let sessions = store.sessions(usize::MAX).map_err(error_text)?;
        let session = sessions.into_iter().find(|it| it.id == id);
        let session = session.ok_or_else(|| format!("there is no session {id}"))?;
        let root = AbsPath::new(&session.root);
        let root = root.ok_or_else(|| format!("{} is not a folder", session.root))?;
        let folders = FolderReviews::new(dirs, TreeWatchers::default(), None);
        Ok(Self {
            reviews: SessionReviews::new(folders, store),
            root,
            id: id.to_owned(),
        })
    }

    pub(super) fn changes(&self) -> Result<FolderChanges, String> {
        let changes = self.reviews.changes(&self.root, &self.id);
        Ok(changes.map_err(error_text)?.unwrap_or_default())
    }

    fn run(&self, action: &FolderAction) -> Result<UndoOutcome, String> {
        self.reviews
            .run(&self.root, &self.id, action)
            .map_err(error_text)
    }
}

impl ChangeSelection {
    fn target(&self, folder: &SessionFolder) -> Result<ReviewTarget, String> {
        if let Some(id) = &self.hunk {
            let changes = folder.changes()?;
            let mut found = changes
                .hunks
                .iter()
                .filter(|it| it.id.starts_with(id.as_str()));
            return match (found.next(), found.next()) {
                (Some(hunk), None) => Ok(ReviewTarget::Hunk {
                    path: hunk.path.clone(),
                    hunk: hunk.id.clone(),
                }),
                (Some(_), Some(_)) => Err(format!(
                    "several changes start with \"{id}\"; give more digits"
                )),
                (None, _) => Err(format!("there is no change \"{id}\"")),
            };
        }
        Ok(match (&self.file, self.turn, &self.call) {
            (Some(path), _, _) => ReviewTarget::File(path.clone()),
            (None, Some(turn), _) => ReviewTarget::Turn(turn),
            (None, None, Some(call)) => ReviewTarget::Call(call.clone()),
            (None, None, None) => ReviewTarget::All,
        })
    }

    /// Keeps the selected changes, and returns the text to print.
    pub(super) fn keep(&self, dirs: &Dirs, store: SessionStore) -> Result<String, String> {
        let folder = SessionFolder::open(dirs, store, &self.id)?;
        let target = self.target(&folder)?;
        folder.run(&FolderAction::Keep(target))?;
        let open = folder.changes()?.hunks.len();
        Ok(format!("kept; {open} changes left to review\n"))
    }

    /// Takes the selected changes out, and returns the text to print.
    pub(super) fn reject(&self, dirs: &Dirs, store: SessionStore) -> Result<String, String> {
        let folder = SessionFolder::open(dirs, store, &self.id)?;
        let target = self.target(&folder)?;
        Ok(outcome_text(&folder.run(&FolderAction::Reject(target))?))
    }
}

/// The origin of each hunk, and the comments on it.
struct ChangeNotes(Vec<HunkNote>);

type HunkNote = (Option<ChangeOrigin>, Vec<CommentThread>);

impl ChangeNotes {
    fn new(changes: &FolderChanges, records: &[Stored]) -> Self {
        let origins = CallOrigins::of(records);
        let threads = CommentThreads::of(records);
        let of_hunks = changes.threads(threads.threads()).into_iter();
        let notes = changes.hunks.iter().zip(of_hunks).map(|(hunk, threads)| {
            let calls = hunk.calls.iter().map(|it| (it.turn, it.call.as_str()));
            (
                origins.origin(calls),
                threads.into_iter().cloned().collect(),
            )
        });
        Self(notes.collect())
    }
}

/// Lists the changes of a session as text, or as JSON.
pub(super) fn list(
    dirs: &Dirs,
    store: SessionStore,
    id: &str,
    is_json: bool,
) -> Result<String, String> {
    let changes = SessionFolder::open(dirs, store.clone(), id)?.changes()?;
    let records = store.read(id).map_err(error_text)?.records;
    let notes = ChangeNotes::new(&changes, &records);
    Ok(if is_json {
        format!("{}\n", to_json(&changes, &notes))
    } else {
        to_text(&changes, &notes)
    })
}

/// Runs an action on the changes of a session, and returns the text to print.
pub(super) fn run(
    dirs: &Dirs,
    store: SessionStore,
    id: &str,
    action: &FolderAction,
) -> Result<String, String> {
    let folder = SessionFolder::open(dirs, store, id)?;
    Ok(outcome_text(&folder.run(action)?))
}

fn outcome_text(outcome: &UndoOutcome) -> String {
    let mut text = String::new();
    for path in &outcome.paths {
        // Writing to a string cannot fail.
        writeln!(text, "changed {path}").ok();
    }
    for place in &outcome.contested {
        writeln!(text, "left as it is: {place}").ok();
    }
    text
}

fn to_text(changes: &FolderChanges, notes: &ChangeNotes) -> String {
    if changes.hunks.is_empty() {
        return "this session has no changes to review\n".to_owned();
    }
    let mut text = format!(
        "{} files changed, +{} \u{2212}{}\n",
        changes.files, changes.added, changes.removed
    );
    for (hunk, (origin, threads)) in changes.hunks.iter().zip(&notes.0) {
        text.push_str(&hunk_text(hunk));
        if let Some(origin) = origin.as_ref().map(origin_text) {
            text.push_str(&origin);
        }
        threads
            .iter()
            .for_each(|thread| text.push_str(&thread_text(thread)));
    }
    for turn in &changes.turns {
        let files = turn.files.len();
        writeln!(
            text,
            "message {}: a restore changes {files} files",
            turn.turn
        )
        .ok();
    }
    text
}

fn hunk_text(hunk: &FolderHunk) -> String {
    let id = hunk.id.get(..8).unwrap_or(&hunk.id);
    let calls = hunk.calls.iter();
    let calls: Vec<String> = calls
        .map(|call| format!("turn {} {} {}", call.turn, call.tool, call.call))
        .collect();
    let note = hunk.note.iter().map(|note| format!("  {note}"));
    let contested = hunk
        .contested
        .iter()
        .map(|who| format!("  changed since by {who}"));
    let about: String = note.chain(contested).collect();
    let head = format!(
        "{id}  {}:{}  {}{about}\n",
        hunk.path,
        hunk.line,
        calls.join(", ")
    );
    let gone = hunk.before.iter().map(|line| format!("    -{line}\n"));
    let come = hunk.after.iter().map(|line| format!("    +{line}\n"));
    std::iter::once(head).chain(gone).chain(come).collect()
}

/// The origin of a hunk, each part on its line.
fn origin_text(origin: &ChangeOrigin) -> String {
    let step = origin.step.clone().unwrap_or_default();
    let checks = origin.checks.join(", ");
    let parts = [
        ("prompt", &origin.prompt),
        ("step", &step),
        ("call", &origin.call),
        ("passed since", &checks),
    ];
    let parts = parts.into_iter().filter(|(_, text)| !text.is_empty());
    let lines = parts.map(|(name, text)| format!("    {name}: {text}\n"));
    lines.collect()
}

fn thread_text(thread: &CommentThread) -> String {
    let (state, answer) = match &thread.state {
        CommentState::Queued(_) => ("queued", ""),
        CommentState::Waiting => ("waiting", ""),
        CommentState::Answered(answer) => ("answered", answer.as_str()),
        CommentState::Failed(why) => ("not answered", why.as_str()),
    };
    let words = thread.comment.words.replace('\n', "\n      ");
    let answer = answer.replace('\n', "\n      ");
    format!("    comment: {words}\n    {state}: {answer}\n")
}

fn to_json(changes: &FolderChanges, notes: &ChangeNotes) -> serde_json::Value {
    let comment = |thread: &CommentThread| {
        let (state, answer) = match &thread.state {
            CommentState::Queued(_) => ("queued", None),
            CommentState::Waiting => ("waiting", None),
            CommentState::Answered(answer) => ("answered", Some(answer)),
            CommentState::Failed(why) => ("failed", Some(why)),
        };
        json!({"text": thread.comment.words, "state": state, "answer": answer})
    };
    let hunk = |(hunk, (origin, threads)): (&FolderHunk, &HunkNote)| {
        json!({
            "id": hunk.id,
            "path": hunk.path,
            "line": hunk.line,
            "before": hunk.before,
            "after": hunk.after,
            "note": hunk.note,
            "calls": hunk.calls,
            "contested": hunk.contested,
            "prompt": origin.as_ref().map(|it| &it.prompt),
            "step": origin.as_ref().and_then(|it| it.step.as_ref()),
            "call": origin.as_ref().map(|it| &it.call),
            "checks": origin.as_ref().map(|it| &it.checks),
            "comments": threads.iter().map(comment).collect::<Vec<_>>(),
        })
    };
    let turns = changes.turns.iter().map(|it| {
        let files: Vec<&str> = it.files.iter().map(|it| it.0.as_str()).collect();
        json!({"turn": it.turn, "at_ms": it.at_ms, "files": files})
    });
    json!({
        "session": changes.session,
        "files": changes.files,
        "added": changes.added,
        "removed": changes.removed,
        "can_undo": changes.can_undo,
        "hunks": changes.hunks.iter().zip(&notes.0).map(hunk).collect::<Vec<_>>(),
        "turns": turns.collect::<Vec<_>>(),
    })
}
