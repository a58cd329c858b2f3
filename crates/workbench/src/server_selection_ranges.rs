//! Pieces of syntax that language servers know around offsets, for expanding selections.

use std::pin::pin;
use std::time::Duration;

use base::{ByteOffset, Span};
use editor::{DocumentModel, Editor, SelectionRangeSource};
use futures::future::{Either, select};
use gpui_kit::{AppContext as _, BackgroundExecutor, Context, Task, WeakEntity};
use text::Snapshot;

use crate::folder::OpenFolder;

/// Time for an answer, after which the text alone decides how a selection expands.
const MAX_TIME: Duration = Duration::from_millis(300);

/// Asks the language servers of a text.
pub(crate) struct ServerSelectionRanges {
    model: WeakEntity<DocumentModel>,
}

impl ServerSelectionRanges {
    /// Creates the source for a text, whichever servers it has when it is asked.
    pub(crate) fn new(model: WeakEntity<DocumentModel>) -> Self {
        Self { model }
    }
}

impl SelectionRangeSource for ServerSelectionRanges {
    fn ranges(
        &self,
        _: &Snapshot,
        offsets: Vec<ByteOffset>,
        cx: &mut Context<Editor>,
    ) -> Option<Task<Vec<Vec<Span>>>> {
        let (servers, path) = OpenFolder::servers_of(&self.model.upgrade()?, cx)?;
        let servers = servers.read(cx).servers_of(&path);
        let mut servers = servers.iter();
        // The primary server comes first, and ranges of several servers cannot be joined.
        let request =
            servers.find_map(|server| server.connection.selection_ranges(&path, &offsets))?;
        let executor = cx.background_executor().clone();
        Some(cx.background_spawn(async move {
            let answer = async move { request.await.unwrap_or_default() };
            answer_in_time(answer, &executor).await
        }))
    }
}

/// Waits for the spans of a server; none if the server takes longer than `MAX_TIME`. The request is dropped then.
async fn answer_in_time(
    answer: impl Future<Output = Vec<Vec<Span>>>,
    executor: &BackgroundExecutor,
) -> Vec<Vec<Span>> {
    let timer = executor.timer(MAX_TIME);
    match select(pin!(answer), timer).await {
        Either::Left((spans, _)) => spans,
        Either::Right(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use futures::future::{pending, ready};
    use gpui_kit::TestAppContext;

    use super::*;

    /// Checks the answer before and after `MAX_TIME`.
    fn check(
        answer: impl Future<Output = Vec<Vec<Span>>> + Send + 'static,
        [before, after]: [Option<Vec<Vec<Span>>>; 2],
        cx: &mut TestAppContext,
    ) {
        let executor = cx.executor();
        let mut task = cx.background_spawn(async move { answer_in_time(answer, &executor).await });
        cx.run_until_parked();
        let early = (&mut task).now_or_never();
        assert_eq!(early, before);
        if early.is_none() {
            cx.executor().advance_clock(MAX_TIME);
            cx.run_until_parked();
            assert_eq!(task.now_or_never(), after);
        }
    }

    #[gpui_kit::test]
    fn a_server_that_hangs_yields_no_spans(cx: &mut TestAppContext) {
        let spans = vec![vec![Span::from(0..2)]];
        check(ready(spans.clone()), [Some(spans), None], cx);
        check(pending(), [None, Some(Vec::new())], cx);
    }
}
