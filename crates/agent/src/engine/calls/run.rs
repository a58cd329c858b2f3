//! Runs a call in its own task, so that a busy tool blocks nothing else and a panic stays
//! contained.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::Instant;

use super::super::inbox::EventSender;
use super::super::session::SessionTask;
use super::super::session_hooks::PostHooks;
use super::prepare::PreparedCall;
use crate::call_observer::ObservedCall;
use crate::hooks::HookReply;
use crate::outcome::CallOutcome;
use crate::tool::{ToolClass, ToolResult};

/// The end of a call that was started.
pub(super) struct FinishedCall {
    pub(super) answer: ToolResult,
    pub(super) took: Duration,
    /// Answers of the hooks.
    pub(super) hook_answer: HookReply,
}

/// Aborts its task when it is dropped.
struct CallTask(JoinHandle<FinishedCall>);

impl Drop for CallTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Starts a call in its own task, and its hooks after it. Returns the handle to abort it and the
/// future of its end; a panic of the tool becomes a result. Dropping the future cancels the call.
pub(super) fn spawn(
    ready: PreparedCall,
    events: &EventSender,
    hooks: Option<PostHooks>,
) -> (AbortHandle, BoxFuture<'static, FinishedCall>) {
    let events = events.clone();
    let name = ready.tool.name().to_owned();
    let began = Instant::now();
    let task = tokio::spawn(run(ready, events, hooks, began));
    let abort = task.abort_handle();
    let mut task = CallTask(task);
    let ended = async move {
        match (&mut task.0).await {
            Ok(ended) => ended,
            Err(error) => FinishedCall {
                answer: if error.is_cancelled() {
                    ToolResult::new(CallOutcome::UserAborted, "aborted by the user")
                } else {
                    panic_answer(&name, &*error.into_panic())
                },
                took: began.elapsed(),
                hook_answer: HookReply::default(),
            },
        }
    };
    (abort, ended.boxed())
}

async fn run(
    ready: PreparedCall,
    events: EventSender,
    hooks: Option<PostHooks>,
    began: Instant,
) -> FinishedCall {
    let PreparedCall {
        tool,
        call,
        access,
        context,
        observer,
        edit_diagnostics,
        mut progress,
        ..
    } = ready;
    let shown = {
        let id = call.id.clone();
        async move {
            while let Some(text) = progress.recv().await {
                SessionTask::send_progress(&events, &id, text);
            }
        }
    };
    let observed = || ObservedCall {
        class: tool.class(),
        call: &call,
        access: &access,
        context: &context,
    };
    let answer = {
        // A tool may start its work when `run` is called, so the observer comes first.
        let mut running = async { tool.run(&call, &access, &context).await }.boxed();
        if let Some(observer) = &observer {
            running = observer.observe(observed(), running);
        }
        if let Some(diagnostics) = &edit_diagnostics {
            diagnostics.note_reads(tool.class(), &access);
            if tool.class() == ToolClass::Edit {
                running = diagnostics.report(&access, &context, running).boxed();
            }
        }
        let running = AssertUnwindSafe(running).catch_unwind();
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
        Err(panic) => panic_answer(tool.name(), &*panic),
    };
    if answer.content.is_empty() {
        answer
            .content
            .push(model::PartContent::Text("(no output)".to_owned()));
    }
    let took = began.elapsed();
    let told = match hooks {
        Some(hooks) => {
            let mut reply = HookReply::default();
            let mut running = async { reply = hooks.after(&*tool, &call, &answer).await }.boxed();
            if let Some(observer) = &observer {
                running = observer.observe_hooks(observed(), running);
            }
            running.await;
            reply
        }
        None => HookReply::default(),
    };
    FinishedCall {
        answer,
        took,
        hook_answer: told,
    }
}

/// Returns the answer for a tool that panicked, which counts as a bug of ours.
fn panic_answer(tool: &str, panic: &(dyn Any + Send)) -> ToolResult {
    let what = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no reason given".to_owned());
    log::error!("the tool {tool} panicked: {what}");
    ToolResult::new(
        CallOutcome::Unknown,
        format!(
            "The tool {tool} failed unexpectedly ({what}). This is a bug in the editor, not in your \
             call. It may have done part of its work; try another way."
        ),
    )
}
