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
            self.hunks = all_moved(&self.hunks, before, after, change);
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

/// Maps the rows of hunks through a change. Looks up only the hunks at the change; those after it
/// are shifted.
fn all_moved(
    hunks: &[RowHunk],
    before: &Snapshot,
    after: &Snapshot,
    change: &Change,
) -> Arc<[RowHunk]> {
    let (Some(first), Some(last)) = (change.splices.first(), change.splices.last()) else {
        return hunks.into();
    };
    let first = before.point_at(first.old.start).row;
    let last = before.point_at(last.old.end).row;
    let rest = hunks.partition_point(|hunk| hunk.after.start <= last);
    let shifted = |row: Row| Row(after.row_count() - (before.row_count() - row.0));
    let near = hunks[..rest].iter().map(|hunk| {
        if hunk.after.end < first {
            *hunk
        } else {
            moved(hunk, before, after, change)
        }
    });
    let rest = hunks[rest..].iter().map(|hunk| RowHunk {
        before: hunk.before,
        after: RowSpan {
            start: shifted(hunk.after.start),
            end: shifted(hunk.after.end),
        },
    });
    near.chain(rest).collect()
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

#[cfg(test)]
mod tests {
    use base::{ByteOffset, Row, Span};
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};
    use text::{Buffer, Edit, EditOrigin, RowHunk, RowSpan, Timestamp};

    use super::{all_moved, moved};

    fn random_hunks(rng: &mut StdRng, rows: u32) -> Vec<RowHunk> {
        let mut hunks = Vec::new();
        let mut start = 0;
        loop {
            start += rng.random_range(0..3);
            let end = start + rng.random_range(0..3);
            if end > rows {
                return hunks;
            }
            let after = RowSpan {
                start: Row(start),
                end: Row(end),
            };
            hunks.push(RowHunk {
                before: after,
                after,
            });
            start = end + 1;
        }
    }

    #[test]
    fn hunks_move_together_as_they_do_alone() {
        let seed = rand::random();
        println!("seed {seed}");
        let mut rng = StdRng::seed_from_u64(seed);
        for _ in 0..300 {
            let mut buffer = Buffer::new(&"a\nbc\n\n".repeat(8));
            let before = buffer.snapshot();
            let hunks = random_hunks(&mut rng, before.row_count());
            let mut edits: Vec<Edit> = Vec::new();
            for _ in 0..rng.random_range(1..4) {
                let start = rng.random_range(0..=before.len().0);
                let end = (start + rng.random_range(0..6)).min(before.len().0);
                let span = Span::new(ByteOffset(start), ByteOffset(end));
                let is_apart = |it: &Edit| it.span.end < span.start || span.end < it.span.start;
                if edits.iter().all(is_apart) {
                    edits.push(Edit::new(
                        span,
                        ["", "x", "\n", "y\nz\n"][rng.random_range(0..4)],
                    ));
                }
            }
            let change = buffer.edit(&edits, &EditOrigin::user(Timestamp(0)));
            let after = buffer.snapshot();
            let alone: Vec<RowHunk> = hunks
                .iter()
                .map(|hunk| moved(hunk, &before, &after, &change))
                .collect();
            let together = all_moved(&hunks, &before, &after, &change);
            assert_eq!(together[..], alone[..], "{hunks:?} {edits:?}");
        }
    }
}
