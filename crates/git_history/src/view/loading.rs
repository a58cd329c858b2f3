//! Reading of the rows: batches arrive as far as they are looked at, with room to scroll.
//!
//! Invariant: a query reads ahead of the rows in sight by at most `AHEAD`; then its process waits.

use std::time::Duration;

use git_program::{CommitGraph, LogQuery, LogRow};
use gpui_kit::{App, AsyncApp, Context, SharedString, Task, WeakEntity};

use super::{HistoryRow, HistoryView, ShownCommit};
use crate::filter::{has_graph, parse_filter};
use crate::lanes;
use crate::service::{HistoryError, LogBatch, RunningQuery};

/// Time that the filter or the selection rests before the service is asked.
pub(super) const REST: Duration = Duration::from_millis(120);
/// Rows that are read before they are scrolled to.
const AHEAD: usize = 20_000;

/// State of the query.
#[derive(Default)]
pub(super) struct LoadState {
    pub(super) progress: LoadProgress,
    /// The reason why it ended early.
    pub(super) error: Option<HistoryError>,
    /// A sentence about the parts that cannot be shown.
    pub(super) limits: Option<SharedString>,
    /// The last row that was drawn.
    pub(super) seen: usize,
    /// Wakes the reading task when more rows are wanted.
    wake: Option<async_channel::Sender<()>>,
    task: Option<Task<()>>,
}

/// Progress of the query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum LoadProgress {
    /// Rows arrive.
    #[default]
    Reading,
    /// All rows are there, or it failed.
    Ended,
}

impl HistoryView {
    /// Drops the rows and the query, and starts another.
    pub(super) fn reload(&mut self, cx: &mut Context<Self>) {
        let query = self.wanted_query(cx);
        let mut graph = has_graph(&query).then(CommitGraph::<String>::default);
        self.query = query.clone();
        self.rows.clear();
        self.lanes = 0;
        self.selected = None;
        self.shown = ShownCommit::None;
        self.is_in_files = false;
        let (wake, woken) = async_channel::bounded(1);
        let running = self.service.log(query);
        let task = cx.spawn(async move |this, cx| {
            read(&running, &woken, graph.as_mut(), &this, cx).await;
        });
        self.load = LoadState {
            wake: Some(wake),
            task: Some(task),
            ..LoadState::default()
        };
        cx.notify();
    }

    /// Reads the history anew if the filter means another query.
    pub(super) fn follow_filter(&mut self, cx: &mut Context<Self>) {
        if self.wanted_query(cx) != self.query {
            self.reload(cx);
        }
    }

    fn wanted_query(&self, cx: &App) -> LogQuery {
        parse_filter(&self.filter.read(cx).value(), self.is_all)
    }

    /// Notes the last row in sight, and reads on if it is near the end.
    pub(super) fn note_seen(&mut self, last: usize) {
        self.load.seen = self.load.seen.max(last);
        if self.wants_more()
            && let Some(wake) = &self.load.wake
        {
            // A full channel means that the task is about to look.
            wake.try_send(()).ok();
        }
    }

    pub(super) fn wants_more(&self) -> bool {
        self.rows.len() < self.load.seen + AHEAD
    }

    fn take_batch(
        &mut self,
        batch: LogBatch,
        graph: Option<&mut CommitGraph<String>>,
        cx: &mut Context<Self>,
    ) {
        let first = self.rows.len();
        match graph {
            Some(graph) => {
                for commit in batch.rows {
                    let row = graph.place(&commit.id, &commit.parents);
                    self.lanes = self.lanes.max(lanes::width(&row));
                    self.rows.push(HistoryRow {
                        commit,
                        graph: Some(row),
                    });
                }
            }
            None => {
                let plain = |commit: LogRow| HistoryRow {
                    commit,
                    graph: None,
                };
                self.rows.extend(batch.rows.into_iter().map(plain));
            }
        }
        if let Some(limits) = batch.limits {
            self.load.limits = Some(limits.into());
        }
        self.select_awaited(first, cx);
        cx.notify();
    }

    /// Selects the commit that is waited for if it is among the rows from `first` on, else the first commit.
    fn select_awaited(&mut self, first: usize, cx: &mut Context<Self>) {
        if let Some(id) = &self.awaited {
            let found = self.rows[first..]
                .iter()
                .position(|row| row.commit.id == *id);
            if let Some(found) = found {
                self.awaited = None;
                return self.select(first + found, cx);
            }
        }
        if self.selected.is_none() && self.awaited.is_none() && !self.rows.is_empty() {
            self.select(0, cx);
        }
    }

    fn end_load(&mut self, error: Option<HistoryError>, cx: &mut Context<Self>) {
        self.load.progress = LoadProgress::Ended;
        self.load.error = error;
        self.load.wake = None;
        self.load.task = None;
        // The commit that was waited for is not among the rows.
        if self.awaited.take().is_some() && self.selected.is_none() && !self.rows.is_empty() {
            self.select(0, cx);
        }
        cx.notify();
    }
}

/// Takes batches until the query or the view ends.
async fn read(
    running: &RunningQuery<LogBatch>,
    woken: &async_channel::Receiver<()>,
    mut graph: Option<&mut CommitGraph<String>>,
    this: &WeakEntity<HistoryView>,
    cx: &mut AsyncApp,
) {
    loop {
        let answer = running.items.recv().await;
        let (error, is_over) = match answer {
            Ok(Ok(batch)) => {
                let graph = graph.as_deref_mut();
                let taken = this.update(cx, |view, cx| view.take_batch(batch, graph, cx));
                if taken.is_err() {
                    // The view was closed.
                    return;
                }
                (None, false)
            }
            Ok(Err(error)) => (Some(error), true),
            Err(_) => (None, true),
        };
        if is_over {
            // The view may have been closed.
            this.update(cx, |view, cx| view.end_load(error, cx)).ok();
            return;
        }
        while this
            .read_with(cx, |view, _| !view.wants_more())
            .unwrap_or(false)
        {
            if woken.recv().await.is_err() {
                return;
            }
        }
    }
}
