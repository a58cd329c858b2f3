//! A call that runs: in a task of its own, so that one that computes holds nobody up and one that panics takes
//! nobody along.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::Instant;

use super::super::hooked::PostHooks;
use super::super::inbox::Events;
use super::super::session::Session;
use super::prepare::Ready;
use crate::hooks::HookTold;
use crate::outcome::Outcome;
use crate::tool::Answer;

/// How a call ended.
pub(super) struct Ended {
    pub(super) answer: Answer,
    pub(super) took: Duration,
    /// What hooks said about it.
    pub(super) told: HookTold,
}

/// Ends its task when it is dropped.
struct Task(JoinHandle<Ended>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Begins a call. Dropping the future gives it up.
pub(super) fn spawn(
    ready: Ready,
    events: &Events,
    hooks: Option<PostHooks>,
) -> (AbortHandle, BoxFuture<'static, Ended>) {
    let events = events.clone();
    let name = ready.tool.name().to_owned();
    let began = Instant::now();
    let task = tokio::spawn(run(ready, events, hooks, began));
    let abort = task.abort_handle();
    let mut task = Task(task);
    let ended = async move {
        match (&mut task.0).await {
            Ok(ended) => ended,
            Err(error) => Ended {
                answer: match error.is_cancelled() {
                    true => Answer::new(Outcome::UserAborted, "aborted by the user"),
                    false => defect(&name, &*error.into_panic()),
                },
                took: began.elapsed(),
                told: HookTold::default(),
            },
        }
    };
    (abort, ended.boxed())
}

async fn run(ready: Ready, events: Events, hooks: Option<PostHooks>, began: Instant) -> Ended {
    let Ready {
        tool,
        call,
        context,
        mut progress,
        ..
    } = ready;
    let shown = {
        let id = call.id.clone();
        async move {
            while let Some(text) = progress.recv().await {
                Session::shown_progress(&events, &id, text);
            }
        }
    };
    let answer = {
        let running = AssertUnwindSafe(tool.run(&call, &context)).catch_unwind();
        tokio::pin!(running, shown);
        loop {
            tokio::select! {
                biased;
                answer = &mut running => break answer,
                () = &mut shown => {}
            }
        }
    };
    let mut answer = match answer {
        Ok(answer) => answer,
        Err(panic) => defect(tool.name(), &*panic),
    };
    if answer.content.is_empty() {
        answer
            .content
            .push(model::Content::Text("(no output)".to_owned()));
    }
    let took = began.elapsed();
    let told = match hooks {
        Some(hooks) => hooks.after(&*tool, &call, &answer).await,
        None => HookTold::default(),
    };
    Ended { answer, took, told }
}

/// A tool that panicked is a defect of ours, and is counted as one.
fn defect(tool: &str, panic: &(dyn Any + Send)) -> Answer {
    let what = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no reason given".to_owned());
    log::error!("the tool {tool} panicked: {what}");
    Answer::new(
        Outcome::Unknown,
        format!(
            "The tool {tool} failed in a way it never should ({what}). This is a defect of the editor, not of your \
             call. It may have done part of its work; try another way."
        ),
    )
}
