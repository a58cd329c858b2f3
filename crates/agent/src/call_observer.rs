//! The hook around every tool call: a caller outside sees what a call accesses before it runs.
//!
//! Start at `CallObserver`. The engine calls it once per permitted call, after the start of the call
//! is recorded.

use futures::future::BoxFuture;

use crate::tool::{ToolAccess, ToolCall, ToolClass, ToolContext, ToolResult};

/// Observes the tool calls of all sessions that share a `Harness`, for example to record the changes
/// that each call makes, or to hold calls back while a session is paused. Invisible to the model.
pub trait CallObserver: Send + Sync {
    /// Awaits `run` exactly once and returns its result unchanged, with the observer's own work
    /// before and after. The call starts when `run` is first polled. Dropping the returned future
    /// cancels it.
    fn observe<'a>(
        &'a self,
        call: ObservedCall<'a>,
        run: BoxFuture<'a, ToolResult>,
    ) -> BoxFuture<'a, ToolResult>;
}

/// A permitted call that is about to run, as an observer sees it; its start is already recorded.
#[derive(Clone, Copy)]
pub struct ObservedCall<'a> {
    /// The class of the tool's effects.
    pub class: ToolClass,
    /// The call.
    pub call: &'a ToolCall,
    /// The access that was permitted.
    pub access: &'a ToolAccess,
    /// The context in which the call runs.
    pub context: &'a ToolContext,
}
