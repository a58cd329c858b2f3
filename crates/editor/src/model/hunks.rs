//! Changes since the last commit: mapped through edits immediately, recomputed in the background when
//! typing rests.

use std::sync::Arc;
use std::time::Duration;

use base::Row;
use gpui_kit::{AppContext as _, Context};
use text::{Change, RowHunk, RowSpan, Snapshot};

use super::{DocumentModel, ModelEvent};

impl DocumentModel {
    /// Sets the committed text, and compares the current text with it in the background. Pass
    /// `None` if the file is untracked.
    pub fn set_head(&mut self, head: Option<Snapshot>, cx: &mut Context<Self>) {
        self.head = head;
        self.compare_with_head(Duration::ZERO, cx);
    }

    pub(super) fn follow_hunks(&mut self, before: &Snapshot, after: &Snapshot, change: &Change) {
        // The next pause compares again.
        self.hunk_task = None;
        if before.row_count() != after.row_count() && !self.hunks.is_empty() {
            self.hunks = self
                .hunks
                .iter()
                .map(|hunk| moved(hunk, before, after, change))
                .collect();
        }
    }

    /// Compares the text with the committed one. Comparing reads both: the larger they are, the
    /// longer the pause must last.
    pub(super) fn compare_at_rest(&mut self, cx: &mut Context<Self>) {
        if self.head.is_some() {
            let megabytes = (self.document.snapshot().len().0 >> 20) as u32;
            self.compare_with_head(Duration::from_millis(40) * megabytes, cx);
        }
    }

    fn compare_with_head(&mut self, rest: Duration, cx: &mut Context<Self>) {
        let Some(head) = self.head.clone() else {
            self.hunk_task = None;
            self.take_hunks(Arc::from([]), cx);
            return;
        };
        self.hunk_task = Some(cx.spawn(async move |this, cx| {
            if !rest.is_zero() {
                cx.background_executor().timer(rest).await;
            }
            let Ok(snapshot) = this.update(cx, |model, _| model.document.snapshot()) else {
                return;
            };
            let revision = snapshot.revision();
            let hunks = cx
                .background_spawn(async move { head.diff_rows(&snapshot) })
                .await;
            this.update(cx, |model, cx| {
                // A later edit has started another comparison, which cancels this one.
                if model.document.buffer().revision() == revision {
                    model.take_hunks(hunks.into(), cx);
                }
            })
            .ok();
        }));
    }

    fn take_hunks(&mut self, hunks: Arc<[RowHunk]>, cx: &mut Context<Self>) {
        if self.hunks != hunks {
            self.hunks = hunks;
            cx.emit(ModelEvent::HunksUpdated);
            cx.notify();
        }
    }
}

/// Maps the rows of a hunk through a change.
fn moved(hunk: &RowHunk, before: &Snapshot, after: &Snapshot, change: &Change) -> RowHunk {
    let row = |row: Row| {
        let offset = change.map(before.row_start(row), base::Bias::Right);
        if row.0 >= before.row_count() {
            Row(after.row_count())
        } else {
            after.point_at(offset).row
        }
    };
    let (start, end) = (row(hunk.after.start), row(hunk.after.end));
    RowHunk {
        before: hunk.before,
        after: RowSpan {
            start,
            end: end.max(start),
        },
    }
}
