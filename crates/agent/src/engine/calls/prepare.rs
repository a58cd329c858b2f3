//! Prepares a call: resolves the tool, its input and its access.

use std::sync::Arc;

use futures::future::{BoxFuture, Shared};
use tokio::sync::mpsc;

use super::super::session::{SessionTask, TurnStop};
use crate::arguments;
use crate::call_observer::CallObserver;
use crate::language::EditDiagnostics;
use crate::outcome::{CallOutcome, Detail};
use crate::permission;
use crate::tool::{Tool, ToolAccess, ToolCall, ToolContext, ToolResult};

/// Capacity of the progress channel.
const PROGRESS_CAPACITY: usize = 64;

/// A call with valid arguments, known access and its context, ready for hooks and permission.
pub(super) struct PreparedCall {
    pub(super) tool: Arc<dyn Tool>,
    pub(super) call: ToolCall,
    pub(super) access: ToolAccess,
    pub(super) context: ToolContext,
    pub(super) observer: Option<Arc<dyn CallObserver>>,
    pub(super) edit_diagnostics: Option<Arc<EditDiagnostics>>,
    pub(super) progress: mpsc::Receiver<String>,
    /// Ends of the preceding calls, if the call asks to wait for them.
    pub(super) predecessors: Vec<Shared<BoxFuture<'static, ()>>>,
}

/// The outcome of preparing a call: it may go on, or its answer is known already.
pub(super) enum Preparation {
    Ready(Box<PreparedCall>),
    /// The call does not run; this is its answer.
    Answered {
        tool: String,
        answer: Box<ToolResult>,
    },
}

/// Returns the preparation of a call that does not run.
fn answered(tool: &dyn Tool, answer: ToolResult) -> Preparation {
    Preparation::Answered {
        tool: tool.name().to_owned(),
        answer: Box::new(answer),
    }
}

impl SessionTask {
    /// Resolves a call of the model: `name` is the model's name for the tool, `arguments` its JSON
    /// text. An unknown tool, invalid arguments and invalid access give an answer for the model.
    /// Fails if the user stops the turn meanwhile.
    pub(super) async fn prepare(
        &mut self,
        id: &str,
        name: &str,
        arguments: &str,
    ) -> Result<Preparation, TurnStop> {
        let (tool, call) = match self.resolve(id, name, arguments) {
            Ok(resolved) => resolved,
            Err(answered) => return Ok(answered),
        };
        let (context, progress) = self.tool_context();
        let access = match tool.planned_access(&call, &context) {
            Some(planned) => self.inbox.during(planned).await?,
            None => tool.access(&call, &context),
        };
        let access = match access {
            Ok(access) => access,
            Err(answer) => return Ok(answered(&*tool, answer)),
        };
        if let Some(reason) = permission::forbidden_reason(self.mode, &*tool, &access) {
            let text = format!("This call was not run: {reason}.");
            let answer = ToolResult::new(CallOutcome::UserAborted, text);
            return Ok(answered(&*tool, answer.with_detail(Detail::Denied)));
        }
        Ok(Preparation::Ready(Box::new(PreparedCall {
            tool,
            call,
            access,
            context,
            observer: self.harness().parts.observer.clone(),
            edit_diagnostics: self.edit_diagnostics.clone(),
            progress,
            predecessors: Vec::new(),
        })))
    }

    /// Resolves the tool and the input of a call, or returns its answer.
    fn resolve(
        &self,
        id: &str,
        name: &str,
        arguments: &str,
    ) -> Result<(Arc<dyn Tool>, ToolCall), Preparation> {
        let Some(tool) = self.offered.tools.get(name).cloned() else {
            return Err(Preparation::Answered {
                tool: name.to_owned(),
                answer: Box::new(self.unknown_tool(name)),
            });
        };
        let offered = self
            .offered
            .specs
            .iter()
            .find(|(_, spec)| spec.name == name);
        let Some((_, spec)) = offered else {
            return Err(answered(&*tool, self.unknown_tool(name)));
        };
        let (input, waits) = match arguments::read(&spec.input, arguments) {
            Ok(read) => read,
            Err(error) => {
                let text = format!("This call of {name} was not run: {error}.");
                let answer = ToolResult::new(CallOutcome::InvalidArguments, text);
                return Err(answered(&*tool, answer));
            }
        };
        let call = ToolCall {
            id: id.to_owned(),
            tool: tool.name().to_owned(),
            input,
            waits,
        };
        Ok((tool, call))
    }

    /// Returns the context of a new call, and the receiver of the progress texts that it sends.
    fn tool_context(&self) -> (ToolContext, mpsc::Receiver<String>) {
        let (progress, shown) = mpsc::channel(PROGRESS_CAPACITY);
        let answered = self.transcript.last_model().unwrap_or(&self.model);
        let context = ToolContext {
            session: self.id.clone(),
            turn: self.turn,
            root: self.start.root.clone(),
            sources: self.harness().parts.sources.clone(),
            sandbox: self.start.sandbox.clone(),
            prompts: self.prompts.clone(),
            stop: self.inbox.stop_watch(),
            profile: self.in_window(self.adapted_profile(answered)),
            output_tokens: self.output_tokens(),
            progress,
            control_changes: self.inbox.control_changes.clone(),
        };
        (context, shown)
    }

    /// Returns the maximum tokens of a result: at most a quarter of the model's window.
    fn output_tokens(&self) -> u64 {
        let most = (self.context_size().0 / 4).max(256);
        self.harness().parts.limits.output_tokens.min(most)
    }

    fn unknown_tool(&self, name: &str) -> ToolResult {
        let names = self
            .offered
            .specs
            .iter()
            .map(|(_, spec)| spec.name.as_str());
        let near = arguments::nearest(name, names);
        let text = if near.is_empty() {
            format!("There is no tool {name}; there are no tools at all.")
        } else {
            format!(
                "There is no tool {name}; the nearest are {}.",
                near.join(", ")
            )
        };
        ToolResult::new(CallOutcome::InvalidArguments, text)
    }
}
