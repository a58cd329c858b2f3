//! A tool of a server as a tool of a session.

use std::sync::Arc;

use agent::outcome::Outcome;
use agent::tool::{Access, Answer, Call, Input, Scope, Tool, ToolClass, ToolContext};
use agent::tools::Rooms;
use agent::tools::outside::{self, Picture, Said};
use base::{LineFeeds, printable};
use connect::mcp::{
    ForeignAnswer, ForeignCall, ForeignClass, ForeignContent, ForeignError, ForeignTool, Patience,
    Progress,
};
use futures::future::BoxFuture;
use model::{Profile, Tier, ToolInput, ToolSpec};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use super::Servers;

/// Characters of a server's description that a good model reads, and a small one.
const DESCRIPTION: usize = 2_000;
const SHORT_DESCRIPTION: usize = 500;
/// Characters of a call's arguments in its title.
const TITLE: usize = 120;
/// Steps of progress that may wait.
const STEPS: usize = 16;

/// A tool of a server.
pub(super) struct Foreign {
    tool: ForeignTool,
    servers: Arc<Servers>,
    rooms: Arc<Rooms>,
}

impl Foreign {
    pub(super) fn new(tool: ForeignTool, servers: Arc<Servers>, rooms: Arc<Rooms>) -> Self {
        Self {
            tool,
            servers,
            rooms,
        }
    }

    async fn call(
        &self,
        arguments: Map<String, Value>,
        context: &ToolContext,
    ) -> Result<ForeignAnswer, ForeignError> {
        // What the server asks back meanwhile is for whoever looks at this session.
        let server = &self.tool.server;
        let _sitting = self.servers.desks.sit(server, context.desk.clone());
        let (told, mut steps) = mpsc::channel(STEPS);
        let calling = self.servers.hub.call(ForeignCall {
            server: server.clone(),
            tool: self.tool.tool.clone(),
            arguments,
            patience: Patience::default(),
            progress: told,
            stop: context.stop.clone(),
        });
        tokio::pin!(calling);
        // Progress is dropped where nobody keeps up.
        let show = |step: &Progress| drop(context.progress.try_send(line(step)));
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

impl Tool for Foreign {
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

    fn access(&self, call: &Call, _context: &ToolContext) -> Result<Access, Answer> {
        let arguments = arguments(call)?;
        // Nobody knows which files it touches. What it says of itself decides only what may run beside it, never
        // whether it may run.
        let everything = vec![Scope::Tree(String::new())];
        let (reads, writes) = match self.tool.hints.is_read_only {
            Some(true) => (everything, Vec::new()),
            _ => (Vec::new(), everything),
        };
        Ok(Access {
            reads,
            writes,
            title: title(&self.tool, &arguments),
            ..Access::default()
        })
    }

    fn run<'a>(&'a self, call: &'a Call, context: &'a ToolContext) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let arguments = match arguments(call) {
                Ok(arguments) => arguments,
                Err(answer) => return answer,
            };
            let said = match self.call(arguments, context).await {
                Ok(answer) => said(&answer),
                Err(error) => refused(&error),
            };
            outside::answer(&self.rooms, context, said).await
        })
    }
}

fn description(tool: &ForeignTool, most: usize) -> String {
    let whole = match tool.description.trim() {
        "" => tool.title.as_deref().unwrap_or(&tool.tool),
        description => description,
    };
    match whole.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &whole[..end]),
        None => whole.to_owned(),
    }
}

/// The schema as providers take it: an object with properties, and no word about which draft it follows.
fn schema(written: &Value) -> Value {
    let mut schema = written.as_object().cloned().unwrap_or_default();
    schema.remove("$schema");
    schema.insert("type".to_owned(), json!("object"));
    schema.entry("properties").or_insert_with(|| json!({}));
    Value::Object(schema)
}

fn arguments(call: &Call) -> Result<Map<String, Value>, Answer> {
    match &call.input {
        Input::Json(Value::Object(arguments)) => Ok(arguments.clone()),
        Input::Json(Value::Null) => Ok(Map::new()),
        Input::Json(_) | Input::Text(_) => {
            let text = format!("{} takes an object with its arguments.", call.tool);
            Err(Answer::new(Outcome::InvalidArguments, text))
        }
    }
}

fn title(tool: &ForeignTool, arguments: &Map<String, Value>) -> String {
    let mut given = match arguments.is_empty() {
        true => String::new(),
        false => format!(" {}", Value::Object(arguments.clone())),
    };
    if let Some((end, _)) = given.char_indices().nth(TITLE) {
        given.truncate(end);
        given.push('…');
    }
    let title = format!("{}: {}{given}", tool.server, tool.tool);
    printable(&title, LineFeeds::Escape).into_owned()
}

fn line(step: &Progress) -> String {
    let message = step.message.as_deref().unwrap_or_default();
    match step.total {
        Some(total) => format!("{} of {total} {message}\n", step.done),
        None => format!("{} {message}\n", step.done),
    }
}

fn said(answer: &ForeignAnswer) -> Said {
    let pictures = answer.content.iter().filter_map(|content| match content {
        ForeignContent::Image { media_type, data } => Some(Picture {
            media_type: media_type.clone(),
            data: data.clone(),
        }),
        _ => None,
    });
    Said {
        // A tool that says that it failed did so over what it was given and what it found.
        outcome: match answer.is_error {
            true => Outcome::UnexpectedEnvironment,
            false => Outcome::Ok,
        },
        text: answer.text(),
        pictures: pictures.collect(),
    }
}

fn refused(error: &ForeignError) -> Said {
    let (outcome, next) = match error.class {
        ForeignClass::NotThere => (Outcome::UnexpectedEnvironment, "Do it without this tool."),
        ForeignClass::NeedsPerson => (
            Outcome::UnexpectedEnvironment,
            "Only the person can do that; go on without this tool, and tell them.",
        ),
        ForeignClass::InvalidArguments => (Outcome::InvalidArguments, "Correct the arguments."),
        ForeignClass::Gone => (
            Outcome::ProviderError,
            "It may work again in a while; what it had done by then is not known.",
        ),
        ForeignClass::Failed => (Outcome::ProviderError, "Try it another way."),
        ForeignClass::Nonsense => (Outcome::ProviderError, "Do it without this tool."),
        ForeignClass::Timeout => (
            Outcome::Timeout,
            "It may have done part of it; look before you try again.",
        ),
        ForeignClass::Stopped => (Outcome::UserAborted, "It may have done part of it."),
    };
    Said {
        outcome,
        text: format!("{}. {next}", error.message.trim_end_matches('.')),
        pictures: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(description: &str) -> ForeignTool {
        ForeignTool {
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
    fn what_models_and_people_read_is_bounded_and_tame() {
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
    fn every_refusal_has_a_class_of_its_own_and_a_next_step() {
        let check = |class, outcome| {
            let message = "The server \"it\" says no".to_owned();
            let said = refused(&ForeignError { class, message });
            assert_eq!(said.outcome, outcome, "{class:?}");
            assert!(
                said.text.starts_with("The server \"it\" says no. "),
                "{}",
                said.text
            );
        };
        check(ForeignClass::NotThere, Outcome::UnexpectedEnvironment);
        check(ForeignClass::NeedsPerson, Outcome::UnexpectedEnvironment);
        check(ForeignClass::InvalidArguments, Outcome::InvalidArguments);
        check(ForeignClass::Gone, Outcome::ProviderError);
        check(ForeignClass::Failed, Outcome::ProviderError);
        check(ForeignClass::Nonsense, Outcome::ProviderError);
        check(ForeignClass::Timeout, Outcome::Timeout);
        check(ForeignClass::Stopped, Outcome::UserAborted);
    }
}
