//! The changes of an edit of several files, for the user to confirm.

use base::{AbsPath, LineFeeds, printable};
use futures::channel::oneshot;
use gpui_kit::{App, Context, SharedString, Task, Window};
use text::{Edit, Snapshot};
use ui::picker::{
    AfterConfirm, Confirm, ConfirmKind, FooterHint, Picker, PickerDelegate, PickerRow,
};

use crate::file_operations::FileOperation;
use crate::refactoring::{EditPlan, PlannedStep};

/// Maximum number of rows in the list.
const MAX_ROWS: usize = 2_000;
/// Maximum number of characters of a row.
const MAX_CHARS: usize = 200;

/// A change of one row, or an operation on a file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PreviewRow {
    /// The row after the edit, or the operation.
    text: String,
    /// The file and the line.
    place: String,
}

/// Picker delegate that lists the changes and filters them.
pub(crate) struct EditPreview {
    title: SharedString,
    rows: Vec<PreviewRow>,
    /// Number of changes beyond those in the list.
    left_out: usize,
    matching: Vec<usize>,
    reply: Option<oneshot::Sender<()>>,
}

impl EditPreview {
    /// Creates the preview. `display` returns the text form of a path; `reply` gets a message if the user confirms.
    pub(crate) fn new(
        title: &str,
        plan: &EditPlan,
        display: &dyn Fn(&AbsPath) -> String,
        reply: oneshot::Sender<()>,
    ) -> Self {
        let mut rows: Vec<PreviewRow> = plan
            .steps
            .iter()
            .map(|step| step_row(step, display))
            .collect();
        for file in &plan.files {
            rows.extend(changed_rows(&display(&file.path), &file.text, &file.edits));
        }
        let left_out = rows.len().saturating_sub(MAX_ROWS);
        rows.truncate(MAX_ROWS);
        Self {
            title: printable(title, LineFeeds::Escape).into_owned().into(),
            matching: (0..rows.len()).collect(),
            rows,
            left_out,
            reply: Some(reply),
        }
    }
}

fn step_row(step: &PlannedStep, display: &dyn Fn(&AbsPath) -> String) -> PreviewRow {
    let (text, path) = match step {
        PlannedStep::Create { path, .. } => ("Create this file".to_owned(), path),
        PlannedStep::Operation(operation) => match operation {
            FileOperation::Move { from, to } => (format!("Move to {}", display(to)), from),
            FileOperation::Trash(path) => ("Move to the trash".to_owned(), path),
            FileOperation::Restore { path, .. } => ("Restore from the trash".to_owned(), path),
            FileOperation::CreateFile(path) => ("Create this file".to_owned(), path),
            FileOperation::CreateFolder(path) => ("Create this folder".to_owned(), path),
            FileOperation::CopyInto { from, folder } => {
                (format!("Copy into {}", display(folder)), from)
            }
        },
    };
    PreviewRow {
        text,
        place: display(path),
    }
}

/// Returns the rows that edits change, as they are afterwards; of removed rows, the row that follows.
fn changed_rows(name: &str, before: &Snapshot, edits: &[Edit]) -> Vec<PreviewRow> {
    let mut after = before.to_string();
    for edit in edits.iter().rev() {
        after.replace_range(edit.span.range(), &edit.text);
    }
    let after = Snapshot::new(&after);
    let mut rows = Vec::new();
    let mut shift = 0_isize;
    let mut last = None;
    for edit in edits {
        let start = edit.span.start.0.saturating_add_signed(shift);
        shift += edit.text.len() as isize - edit.span.len() as isize;
        let row = after.point_at(base::ByteOffset(start)).row;
        if last.replace(row) == Some(row) {
            continue;
        }
        let text = after.row_text(row);
        let text: String = text.trim().chars().take(MAX_CHARS).collect();
        rows.push(PreviewRow {
            text: printable(&text, LineFeeds::Escape).into_owned(),
            place: format!("{name}:{}", row.0 + 1),
        });
    }
    rows
}

impl PickerDelegate for EditPreview {
    type Found = Vec<usize>;

    fn name(&self) -> SharedString {
        "Changes".into()
    }

    fn heading(&self) -> Option<SharedString> {
        Some(self.title.clone())
    }

    fn placeholder(&self) -> SharedString {
        "Search the changes".into()
    }

    fn search(
        &mut self,
        query: &str,
        _: &mut Window,
        _: &mut Context<Picker<Self>>,
    ) -> Task<Self::Found> {
        let query = query.to_lowercase();
        let is_match = |row: &PreviewRow| {
            let text = format!("{} {}", row.text, row.place).to_lowercase();
            query.split_whitespace().all(|word| text.contains(word))
        };
        let rows = self.rows.iter().enumerate();
        let matching = rows.filter(|(_, row)| is_match(row)).map(|(ix, _)| ix);
        Task::ready(matching.collect())
    }

    fn accept(&mut self, matching: Self::Found, _: &mut Context<Picker<Self>>) -> usize {
        self.matching = matching;
        0
    }

    fn count(&self) -> usize {
        self.matching.len()
    }

    fn row(&self, ix: usize, _: &App) -> PickerRow {
        let row = self.matching.get(ix).and_then(|ix| self.rows.get(*ix));
        let Some(PreviewRow { text, place }) = row else {
            return PickerRow::default();
        };
        PickerRow::new(text.clone()).detail(place.clone())
    }

    fn status(&self) -> Option<SharedString> {
        match (self.rows.len(), self.left_out) {
            (1, 0) => Some("1 change".into()),
            (count, 0) => Some(format!("{count} changes").into()),
            (count, more) => Some(format!("{count} changes shown, {more} more").into()),
        }
    }

    fn footer(&self) -> Vec<FooterHint> {
        vec![FooterHint::new(Confirm, "apply all changes")]
    }

    fn confirm(
        &mut self,
        _: usize,
        _: ConfirmKind,
        _: &mut Window,
        _: &mut Context<Picker<Self>>,
    ) -> AfterConfirm {
        if let Some(reply) = self.reply.take() {
            // The window may have been closed.
            reply.send(()).ok();
        }
        AfterConfirm::Close
    }
}

#[cfg(test)]
mod tests {
    use base::Span;

    use super::*;

    fn check(before: &str, edits: &[(usize, usize, &str)], expected: &[(&str, &str)]) {
        let edits: Vec<Edit> = edits
            .iter()
            .map(|(start, end, text)| Edit::new(Span::from(*start..*end), *text))
            .collect();
        let rows = changed_rows("a", &Snapshot::new(before), &edits);
        let rows: Vec<(&str, &str)> = rows
            .iter()
            .map(|row| (row.place.as_str(), row.text.as_str()))
            .collect();
        assert_eq!(rows, expected);
    }

    #[test]
    fn each_changed_row_is_listed_once_as_it_will_be() {
        check(
            "old old\n  old\nx",
            &[(0, 3, "new"), (4, 7, "new"), (10, 13, "new")],
            &[("a:1", "new new"), ("a:2", "new")],
        );
        check("a\nb\n", &[(0, 2, "")], &[("a:1", "b")]);
        check("a\nb", &[(2, 2, "x\ny\n")], &[("a:2", "x")]);
    }
}
