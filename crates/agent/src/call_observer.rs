//! The hook around every tool call: a caller outside sees what a call accesses before it runs.
//!
//! Start at `CallObserver`. The engine calls it once per permitted call, after the start of the call
//! is recorded.

use futures::future::BoxFuture;

use crate::tool::{LockScope, ToolAccess, ToolCall, ToolClass, ToolContext, ToolResult};

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

    /// Awaits `run`, the hooks after a call, exactly once. Formatters are such hooks.
    fn observe_hooks<'a>(
        &'a self,
        _call: ObservedCall<'a>,
        run: BoxFuture<'a, ()>,
    ) -> BoxFuture<'a, ()> {
        run
    }
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

/// The files that a call may change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PossibleChanges {
    /// These files, or files below these folders: paths relative to the root of the session.
    Paths(Vec<String>),
    /// Any file below the root of the session.
    All,
}

impl ObservedCall<'_> {
    /// Returns the files below the root of its session that the call may change; `None` if it changes none.
    pub fn possible_changes(&self) -> Option<PossibleChanges> {
        match self.class {
            ToolClass::Read | ToolClass::Interact | ToolClass::Delegate => return None,
            ToolClass::Execute | ToolClass::Foreign => return Some(PossibleChanges::All),
            ToolClass::Edit | ToolClass::Network => {}
        }
        let mut paths = Vec::new();
        for scope in &self.access.writes {
            match scope {
                LockScope::Tree(_) => return Some(PossibleChanges::All),
                LockScope::Path(path) if !path.starts_with('/') => paths.push(path.clone()),
                LockScope::Path(_) | LockScope::Own(_) => {}
            }
        }
        (!paths.is_empty()).then_some(PossibleChanges::Paths(paths))
    }
}
