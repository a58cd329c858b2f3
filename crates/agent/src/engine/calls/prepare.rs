//! A call before anything happens: which tool, with what, touching what.

use std::sync::Arc;

use futures::future::{BoxFuture, Shared};
use tokio::sync::mpsc;

use super::super::session::Session;
use crate::arguments;
use crate::leave;
use crate::outcome::{Detail, Outcome};
use crate::tool::{Access, Answer, Call, Tool, ToolContext};

/// Pieces of progress that may wait.
const PROGRESS: usize = 64;

/// A call whose arguments make sense.
pub(super) struct Ready {
    pub(super) tool: Arc<dyn Tool>,
    pub(super) call: Call,
    pub(super) access: Access,
    pub(super) context: ToolContext,
    pub(super) progress: mpsc::Receiver<String>,
    /// What must be over first, where the call asks for that.
    pub(super) befores: Vec<Shared<BoxFuture<'static, ()>>>,
}

pub(super) enum Prepared {
    Ready(Box<Ready>),
    /// It never runs.
    Answered {
        tool: String,
        answer: Box<Answer>,
    },
}

impl Session {
    pub(super) fn prepare(&self, id: &str, name: &str, arguments: &str) -> Prepared {
        let Some(tool) = self.offered.tools.get(name).cloned() else {
            return Prepared::Answered {
                tool: name.to_owned(),
                answer: Box::new(self.unknown_tool(name)),
            };
        };
        let answered = |answer: Answer| Prepared::Answered {
            tool: tool.name().to_owned(),
            answer: Box::new(answer),
        };
        let offered = self
            .offered
            .specs
            .iter()
            .find(|(_, spec)| spec.name == name);
        let Some((_, spec)) = offered else {
            return answered(self.unknown_tool(name));
        };
        let (input, waits) = match arguments::read(&spec.input, arguments) {
            Ok(read) => read,
            Err(sentence) => {
                let text = format!("This call of {name} was not run: {sentence}.");
                return answered(Answer::new(Outcome::InvalidArguments, text));
            }
        };
        let call = Call {
            id: id.to_owned(),
            tool: tool.name().to_owned(),
            input,
            waits,
        };
        let (context, progress) = self.tool_context();
        let access = match tool.access(&call, &context) {
            Ok(access) => access,
            Err(answer) => return answered(answer),
        };
        if let Some(reason) = leave::forbids(self.mode, &*tool, &access) {
            let text = format!("This call was not run: {reason}.");
            let answer = Answer::new(Outcome::UserAborted, text);
            return answered(answer.with_detail(Detail::Denied));
        }
        Prepared::Ready(Box::new(Ready {
            tool,
            call,
            access,
            context,
            progress,
            befores: Vec::new(),
        }))
    }

    fn tool_context(&self) -> (ToolContext, mpsc::Receiver<String>) {
        let (progress, shown) = mpsc::channel(PROGRESS);
        let answered = self.transcript.last_model().unwrap_or(&self.model);
        let context = ToolContext {
            session: self.id.clone(),
            turn: self.turn,
            root: self.start.root.clone(),
            sources: self.harness().parts.sources.clone(),
            sandbox: self.start.sandbox.clone(),
            desk: self.desk.clone(),
            stop: self.inbox.stop_watch(),
            profile: self.in_window(self.mind().profile(answered)),
            output_tokens: self.output_tokens(),
            progress,
        };
        (context, shown)
    }

    /// The most tokens of a result: never more than a quarter of what the model takes.
    fn output_tokens(&self) -> u64 {
        let most = (self.context_size().0 / 4).max(256);
        self.harness().parts.limits.output_tokens.min(most)
    }

    fn unknown_tool(&self, name: &str) -> Answer {
        let names = self
            .offered
            .specs
            .iter()
            .map(|(_, spec)| spec.name.as_str());
        let near = arguments::nearest(name, names);
        let text = match near.is_empty() {
            true => format!("There is no tool {name}; there are no tools at all."),
            false => format!(
                "There is no tool {name}; the nearest are {}.",
                near.join(", ")
            ),
        };
        Answer::new(Outcome::InvalidArguments, text)
    }
}
