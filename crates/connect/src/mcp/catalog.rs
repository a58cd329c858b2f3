//! Resources and prompts of a server.

use rmcp::model::{
    ClientRequest, GetPromptRequest, GetPromptRequestParams, ListToolsRequest,
    PaginatedRequestParams, Prompt, ReadResourceRequest, ReadResourceRequestParams, Resource, Role,
    ServerResult,
};
use serde_json::{Map, Value};

use super::answer::ForeignContent;
use super::call::{Connection, Replies, Terms};
use super::error::{ForeignClass, ForeignError};

/// A resource that a server offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignResource {
    /// The server.
    pub server: String,
    /// Its address.
    pub uri: String,
    /// What people are shown.
    pub name: String,
    /// What it is.
    pub description: Option<String>,
    /// Its media type.
    pub media_type: Option<String>,
    /// Its size in bytes.
    pub size: Option<u64>,
}

/// A prompt that a server offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignPrompt {
    /// The server.
    pub server: String,
    /// Its name.
    pub name: String,
    /// What people are shown.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// What it is given.
    pub arguments: Vec<PromptArgument>,
}

/// Something that a prompt is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// What it is about.
    pub description: Option<String>,
    /// Whether it must be there.
    pub is_required: bool,
}

/// A message of a prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct PromptMessage {
    /// Whether it stands for the model's words, not the person's.
    pub is_models: bool,
    /// What it says.
    pub content: ForeignContent,
}

/// Pages of one list that are read.
const PAGES: usize = 200;

impl Connection {
    /// The tools that a server lists, all pages of them, each as it is written: one that is none does not make the
    /// list unreadable.
    pub(super) async fn tools(&self) -> Result<Vec<Value>, ForeignError> {
        let mut terms = Terms::short("its tools");
        let mut tools = Vec::new();
        let mut cursor = None;
        for _ in 0..PAGES {
            let params = PaginatedRequestParams::default().with_cursor(cursor);
            let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
            let answer = self.ask(request, &mut terms).await?;
            let written = serde_json::to_value(&answer).unwrap_or_default();
            let Some(Value::Array(page)) = written.get("tools") else {
                return Err(self.nonsense(&terms, &answer));
            };
            tools.extend(page.iter().cloned());
            cursor = match written.get("nextCursor") {
                Some(Value::String(next)) if !next.is_empty() => Some(next.clone()),
                _ => return Ok(tools),
            };
        }
        Ok(tools)
    }

    pub(super) async fn resources(&self) -> Result<Vec<ForeignResource>, ForeignError> {
        let found = self
            .listed("its resources", self.peer.list_all_resources())
            .await?;
        Ok(found.into_iter().map(|it| self.resource(it)).collect())
    }

    pub(super) async fn prompts(&self) -> Result<Vec<ForeignPrompt>, ForeignError> {
        let found = self
            .listed("its prompts", self.peer.list_all_prompts())
            .await?;
        Ok(found.into_iter().map(|it| self.prompt(it)).collect())
    }

    pub(super) async fn read(&self, uri: &str) -> Result<Vec<ForeignContent>, ForeignError> {
        let mut terms = Terms::short(format!("the resource {uri}"));
        let params = ReadResourceRequestParams::new(uri);
        let request = |replies: Replies| {
            let mut params = params.clone();
            params.input_responses = replies.responses;
            params.request_state = replies.state;
            ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params))
        };
        match self.ask_through(&request, &mut terms).await? {
            ServerResult::ReadResourceResult(result) => {
                let contents = result.contents.into_iter();
                Ok(contents.filter_map(ForeignContent::resource).collect())
            }
            other => Err(self.nonsense(&terms, &other)),
        }
    }

    pub(super) async fn spell_out(
        &self,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Result<Vec<PromptMessage>, ForeignError> {
        let mut terms = Terms::short(format!("the prompt {name}"));
        let mut params = GetPromptRequestParams::new(name);
        params.arguments = (!arguments.is_empty()).then_some(arguments);
        let request = |replies: Replies| {
            let mut params = params.clone();
            params.input_responses = replies.responses;
            params.request_state = replies.state;
            ClientRequest::GetPromptRequest(GetPromptRequest::new(params))
        };
        match self.ask_through(&request, &mut terms).await? {
            ServerResult::GetPromptResult(result) => {
                let messages = result.messages.into_iter().filter_map(|message| {
                    Some(PromptMessage {
                        is_models: message.role == Role::Assistant,
                        content: ForeignContent::new(message.content)?,
                    })
                });
                Ok(messages.collect())
            }
            other => Err(self.nonsense(&terms, &other)),
        }
    }

    /// Waits for a list, all of its pages, as long as looking something up may take.
    pub(super) async fn listed<T>(
        &self,
        what: &str,
        list: impl Future<Output = Result<Vec<T>, rmcp::ServiceError>>,
    ) -> Result<Vec<T>, ForeignError> {
        let terms = Terms::short(what);
        match tokio::time::timeout(terms.patience.total, list).await {
            Ok(Ok(found)) => Ok(found),
            Ok(Err(error)) => Err(self.failed(&terms, error).await),
            Err(_) => {
                let text = format!("{} did not list {what} in time", self.name());
                Err(ForeignError::new(ForeignClass::Timeout, text))
            }
        }
    }

    fn resource(&self, resource: Resource) -> ForeignResource {
        ForeignResource {
            server: self.guest.server.clone(),
            uri: resource.uri,
            name: resource.title.unwrap_or(resource.name),
            description: resource.description,
            media_type: resource.mime_type,
            size: resource.size,
        }
    }

    fn prompt(&self, prompt: Prompt) -> ForeignPrompt {
        let arguments = prompt.arguments.unwrap_or_default().into_iter();
        let arguments = arguments.map(|argument| PromptArgument {
            name: argument.name,
            description: argument.description,
            is_required: argument.required == Some(true),
        });
        ForeignPrompt {
            server: self.guest.server.clone(),
            name: prompt.name,
            title: prompt.title,
            description: prompt.description,
            arguments: arguments.collect(),
        }
    }
}
