//! The change of a file by a commit: the text before it, with the lines that came and went.
//!
//! Start at `open`; `stepping` shows the neighbours of a version in the same tab.

use base::{AbsPath, Row};
use editor::{DocumentEnvironment, DocumentModel, Editor, ProposedChange, Reveal, show_proposal};
use git_history::VersionPair;
use git_program::CommittedChange;
use gpui_kit::{AppContext as _, Context, Window};
use project::Document;
use text::{RowHunk, Snapshot};

use super::{service_or_tell, short, stepping};
use crate::item::TabItem;
use crate::layout::{ItemId, TabOpenMode};
use crate::workbench::Workbench;

/// The text that is shown, with the differences from the other side.
pub(super) struct ShownVersion {
    text: String,
    changes: Vec<ProposedChange>,
}

/// Opens the change of a file by a commit in a tab. `commits` are those of the history of the file, the newest first, for
/// stepping through them; empty if it was opened from another list.
pub(super) fn open(
    workbench: &mut Workbench,
    (id, change): (String, CommittedChange),
    commits: Vec<String>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(service) = service_or_tell(workbench, window, cx) else {
        return;
    };
    let answer = service.versions(id.clone(), change.clone());
    cx.spawn_in(window, async move |this, cx| {
        let pair = match answer.await {
            Ok(pair) => pair,
            Err(error) => {
                let sentence = base::sentence(&error.to_string());
                let told = this.update_in(cx, |this, window, cx| {
                    this.report_error(sentence, window, cx);
                });
                // The window may be gone by then.
                told.ok();
                return;
            }
        };
        let path = pair.path.clone();
        let shown = cx.background_spawn(async move { compare(pair) }).await;
        let opened = this.update_in(cx, |this, window, cx| {
            let item = show(this, (path, shown), &id, None, window, cx);
            stepping::remember(this, item, commits, (&id, &change));
        });
        // The window may be gone by then.
        opened.ok();
    })
    .detach();
}

/// Compares both sides. A file that was added or deleted shows its only text.
pub(super) fn compare(pair: VersionPair) -> ShownVersion {
    let (before, after) = match (pair.before, pair.after) {
        (Some(before), Some(after)) => (before, after),
        (Some(text), None) | (None, Some(text)) => {
            return ShownVersion {
                text,
                changes: Vec::new(),
            };
        }
        (None, None) => (String::new(), String::new()),
    };
    let (old, new) = (Snapshot::new(&before), Snapshot::new(&after));
    let hunks = old.diff_rows(&new).into_iter();
    ShownVersion {
        changes: hunks.map(|hunk| proposed(&hunk, &new)).collect(),
        text: before,
    }
}

fn proposed(hunk: &RowHunk, new: &Snapshot) -> ProposedChange {
    let rows = hunk.after.start.0..hunk.after.end.0;
    ProposedChange {
        removed: hunk.before,
        added: rows
            .map(|row| new.row_text(Row(row)).into_owned())
            .collect(),
    }
}

/// Shows a version of the file at `path` by a commit in a new tab, or in the tab `item`; returns the tab.
pub(super) fn show(
    workbench: &mut Workbench,
    (path, version): (AbsPath, ShownVersion),
    id: &str,
    item: Option<ItemId>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> ItemId {
    let title = format!("{} ({})", path.printable_name(), short(id));
    let reason = format!("this is the text before commit {}", short(id));
    let document = Document::of_version(path, &version.text, &reason);
    let changes = version.changes;
    let environment = DocumentEnvironment {
        files: workbench.services.files.clone(),
        clock: workbench.services.clock.clone(),
        recovery_folder: workbench.services.dirs.recovery(),
    };
    let model = DocumentModel::open(document, environment, cx);
    let editor = Editor::open(model, window, cx);
    editor.update(cx, |editor, cx| {
        let first = changes.first().map(|change| change.removed.start);
        show_proposal(editor, changes, cx);
        if let Some(first) = first {
            let snapshot = editor.model().read(cx).snapshot();
            let row = first.min(snapshot.last_row());
            editor.go_to(snapshot.row_start(row), Reveal::Center, cx);
        }
    });
    let tab = TabItem::Excerpts(editor, title.into());
    let item = match item {
        Some(item) => {
            let subscriptions = workbench.subscribe_to(item, &tab, window, cx);
            workbench.keep_item(item, tab, subscriptions, cx);
            workbench.layout_changed(cx);
            item
        }
        None => {
            workbench.leave_place(cx);
            let pane = workbench.layout.active_pane();
            workbench.add_item(tab, pane, TabOpenMode::Lasting, window, cx)
        }
    };
    workbench.focus_active(window, cx);
    item
}

#[cfg(test)]
mod tests {
    use base::AbsPath;
    use git_history::VersionPair;

    use super::compare;

    fn pair(before: Option<&str>, after: Option<&str>) -> VersionPair {
        VersionPair {
            path: AbsPath::new("/p/a").expect("absolute"),
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
        }
    }

    #[test]
    fn the_text_before_has_the_lines_that_came_and_went() {
        let shown = compare(pair(Some("a\nb\nc\n"), Some("a\nx\ny\nc\n")));
        assert_eq!(shown.text, "a\nb\nc\n");
        assert_eq!(shown.changes.len(), 1);
        let change = &shown.changes[0];
        assert_eq!((change.removed.start.0, change.removed.end.0), (1, 2));
        assert_eq!(change.added, ["x", "y"]);
    }

    #[test]
    fn an_added_or_deleted_file_shows_its_only_text() {
        for pair in [pair(None, Some("a")), pair(Some("a"), None)] {
            let shown = compare(pair);
            assert_eq!(shown.text, "a");
            assert!(shown.changes.is_empty());
        }
    }
}
