//! A tool of a server as a tool of a session.

use std::sync::Arc;

use agent::outcome::CallOutcome;
use agent::tool::{
    CallInput, LockScope, Tool, ToolAccess, ToolCall, ToolClass, ToolContext, ToolResult,
};
use agent::tools::ToolStates;
use agent::tools::external::{self, ExternalImage, ExternalOutput};
use base::{LineFeeds, printable};
use connect::mcp::{
    CallProgress, McpContent, McpError, McpErrorKind, McpTool, McpToolCall, McpToolResult,
    RequestTimeouts,
};
use futures::future::BoxFuture;
use model::{Profile, Tier, ToolInput, ToolSpec};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use super::McpServers;

/// Characters of a server's description that a good model reads, and a small one.
const DESCRIPTION: usize = 2_000;
const SHORT_DESCRIPTION: usize = 500;
/// Characters of a call's arguments in its title.
const TITLE: usize = 120;
/// Steps of progress that may wait.
const STEPS: usize = 16;

/// A tool of a server.
pub(super) struct McpToolAdapter {
    tool: McpTool,
    servers: Arc<McpServers>,
    states: Arc<ToolStates>,
}

impl McpToolAdapter {
    /// Wraps a tool of one of `servers`.
    pub(super) fn new(tool: McpTool, servers: Arc<McpServers>, states: Arc<ToolStates>) -> Self {
        Self {
            tool,
            servers,
            states,
        }
    }

    /// Calls the tool and reports its progress to the session. Returns an error if the server
    /// cannot be reached, rejects the call, or takes too long.
    async fn call(
        &self,
        arguments: Map<String, Value>,
        context: &ToolContext,
    ) -> Result<McpToolResult, McpError> {
        // Elicitations during this call go to the session that makes it.
        let server = &self.tool.server;
        let _sitting = self
            .servers
            .elicitations
            .register(server, context.prompts.clone());
        let (sender, mut steps) = mpsc::channel(STEPS);
        let calling = self.servers.clients.call(McpToolCall {
            server: server.clone(),
            tool: self.tool.tool.clone(),
            arguments,
            timeouts: RequestTimeouts::default(),
            progress: sender,
            stop: context.stop.clone(),
        });
        tokio::pin!(calling);
        // Progress is dropped while the receiver is full.
        let show = |step: &CallProgress| drop(context.progress.try_send(progress_line(step)));
        let answered = loop {
            tokio::select! {
                answered = &mut calling => break answered,
                Some(step) = steps.recv() => show(&step),
            }
        };
        while let Ok(step) = steps.try_recv() {
            show(&step);
        }
        answered
    }
}

impl Tool for McpToolAdapter {
    fn name(&self) -> &str {
        &self.tool.name
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let most = match profile.tier {
            Tier::Small | Tier::Fast => SHORT_DESCRIPTION,
            Tier::Standard | Tier::Strong => DESCRIPTION,
        };
        Some(ToolSpec {
            name: self.tool.name.clone(),
            description: description(&self.tool, most),
            input: ToolInput::Json(schema(&self.tool.schema)),
        })
    }

    fn class(&self) -> ToolClass {
        ToolClass::Foreign
    }

    fn access(&self, call: &ToolCall, _context: &ToolContext) -> Result<ToolAccess, ToolResult> {
        let arguments = arguments(call)?;
        // The files that the tool touches are unknown. Its hints decide only what may run in
        // parallel, never whether it may run.
        let everything = vec![LockScope::Tree(String::new())];
        let (reads, writes) = match self.tool.hints.is_read_only {
            Some(true) => (everything, Vec::new()),
            _ => (Vec::new(), everything),
        };
        Ok(ToolAccess {
            reads,
            writes,
            title: title(&self.tool, &arguments),
            ..ToolAccess::default()
        })
    }

    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        _access: &'a ToolAccess,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move {
            let arguments = match arguments(call) {
                Ok(arguments) => arguments,
                Err(answer) => return answer,
            };
            let output = match self.call(arguments, context).await {
                Ok(answer) => tool_output(&answer),
                Err(error) => tool_error(&error),
            };
            external::answer(&self.states, context, output).await
        })
    }
}

fn description(tool: &McpTool, most: usize) -> String {
    let whole = match tool.description.trim() {
        "" => tool.title.as_deref().unwrap_or(&tool.tool),
        description => description,
    };
    match whole.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &whole[..end]),
        None => whole.to_owned(),
    }
}

/// Returns the schema in the form that providers accept: an object with properties, without `$schema`.
fn schema(written: &Value) -> Value {
    let mut schema = written.as_object().cloned().unwrap_or_default();
    schema.remove("$schema");
    schema.insert("type".to_owned(), json!("object"));
    schema.entry("properties").or_insert_with(|| json!({}));
    Value::Object(schema)
}

/// Returns the arguments of a call, empty if there are none. Returns the result to give the model
/// if they are not an object.
fn arguments(call: &ToolCall) -> Result<Map<String, Value>, ToolResult> {
    match &call.input {
        CallInput::Json(Value::Object(arguments)) => Ok(arguments.clone()),
        CallInput::Json(Value::Null) => Ok(Map::new()),
        CallInput::Json(_) | CallInput::Text(_) => {
            let text = format!("{} takes an object with its arguments.", call.tool);
            Err(ToolResult::new(CallOutcome::InvalidArguments, text))
        }
    }
}

fn title(tool: &McpTool, arguments: &Map<String, Value>) -> String {
    let mut given = if arguments.is_empty() {
        String::new()
    } else {
        format!(" {}", Value::Object(arguments.clone()))
    };
    if let Some((end, _)) = given.char_indices().nth(TITLE) {
        given.truncate(end);
        given.push('…');
    }
    let title = format!("{}: {}{given}", tool.server, tool.tool);
    printable(&title, LineFeeds::Escape).into_owned()
}

fn progress_line(step: &CallProgress) -> String {
    let message = step.message.as_deref().unwrap_or_default();
    match step.total {
        Some(total) => format!("{} of {total} {message}\n", step.done),
        None => format!("{} {message}\n", step.done),
    }
}

fn tool_output(answer: &McpToolResult) -> ExternalOutput {
    let pictures = answer.content.iter().filter_map(|content| match content {
        McpContent::Image { media_type, data } => Some(ExternalImage {
            media_type: media_type.clone(),
            data: data.clone(),
        }),
        _ => None,
    });
    ExternalOutput {
        // A tool that reports a failure failed because of its input or its findings.
        outcome: if answer.is_error {
            CallOutcome::UnexpectedEnvironment
        } else {
            CallOutcome::Ok
        },
        text: answer.text(),
        pictures: pictures.collect(),
    }
}

fn tool_error(error: &McpError) -> ExternalOutput {
    let (outcome, next) = match error.class {
        McpErrorKind::NotFound => (
            CallOutcome::UnexpectedEnvironment,
            "Do it without this tool.",
        ),
        McpErrorKind::NeedsUser => (
            CallOutcome::UnexpectedEnvironment,
            "Only the user can do that; continue without this tool, and tell them.",
        ),
        McpErrorKind::InvalidArguments => (CallOutcome::InvalidArguments, "Correct the arguments."),
        McpErrorKind::Disconnected => (
            CallOutcome::ProviderError,
            "It may work again in a while; what it had done by then is not known.",
        ),
        McpErrorKind::Failed => (CallOutcome::ProviderError, "Try it another way."),
        McpErrorKind::InvalidResponse => (CallOutcome::ProviderError, "Do it without this tool."),
        McpErrorKind::Timeout => (
            CallOutcome::Timeout,
            "It may have done part of it; look before you try again.",
        ),
        McpErrorKind::Stopped => (CallOutcome::UserAborted, "It may have done part of it."),
    };
    ExternalOutput {
        outcome,
        text: format!("{}. {next}", error.message.trim_end_matches('.')),
        pictures: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(description: &str) -> McpTool {
        McpTool {
            server: "it".to_owned(),
            tool: "do\u{1b}[2J".to_owned(),
            name: "mcp__it__do".to_owned(),
            title: Some("Does it".to_owned()),
            description: description.to_owned(),
            schema: json!({ "$schema": "x", "properties": { "a": {} } }),
            answer_schema: None,
            hints: connect::mcp::Hints::default(),
        }
    }

    #[test]
    fn tool_output_is_bounded_and_printable() {
        assert_eq!(description(&tool(" "), 10), "Does it");
        assert_eq!(description(&tool("äöü"), 2), "äö…");
        assert_eq!(
            schema(&tool("").schema),
            json!({ "type": "object", "properties": { "a": {} } })
        );
        assert_eq!(
            schema(&json!(true)),
            json!({ "type": "object", "properties": {} })
        );
        let arguments = json!({ "text": "line\n".repeat(100) });
        let title = title(&tool(""), arguments.as_object().expect("an object"));
        assert!(
            title.starts_with("it: do␛[2J {\"text\":\"line\\n"),
            "{title}"
        );
        assert!(title.ends_with('…') && title.chars().count() < 150);
    }

    #[test]
    fn every_tool_error_has_a_class_and_advice() {
        let check = |class, outcome| {
            let message = "The server \"it\" says no".to_owned();
            let output = tool_error(&McpError { class, message });
            assert_eq!(output.outcome, outcome, "{class:?}");
            assert!(
                output.text.starts_with("The server \"it\" says no. "),
                "{}",
                output.text
            );
        };
        check(McpErrorKind::NotFound, CallOutcome::UnexpectedEnvironment);
        check(McpErrorKind::NeedsUser, CallOutcome::UnexpectedEnvironment);
        check(
            McpErrorKind::InvalidArguments,
            CallOutcome::InvalidArguments,
        );
        check(McpErrorKind::Disconnected, CallOutcome::ProviderError);
        check(McpErrorKind::Failed, CallOutcome::ProviderError);
        check(McpErrorKind::InvalidResponse, CallOutcome::ProviderError);
        check(McpErrorKind::Timeout, CallOutcome::Timeout);
        check(McpErrorKind::Stopped, CallOutcome::UserAborted);
    }
}
