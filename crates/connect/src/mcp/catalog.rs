//! Resources and prompts of a server.

use rmcp::model::{
    ClientRequest, GetPromptRequest, GetPromptRequestParams, ListToolsRequest,
    PaginatedRequestParams, Prompt, ReadResourceRequest, ReadResourceRequestParams, Resource,
    ResourceTemplate, Role, ServerResult,
};
use serde_json::{Map, Value};

use super::answer::McpContent;
use super::call::{Connection, Replies, RequestOptions};
use super::error::{McpError, McpErrorKind};

/// A resource that a server offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpResource {
    /// The name of the server.
    pub server: String,
    /// The URI of the resource.
    pub uri: String,
    /// The name for display.
    pub name: String,
    /// The description of the resource.
    pub description: Option<String>,
    /// The media type of the resource.
    pub media_type: Option<String>,
    /// The size in bytes.
    pub size: Option<u64>,
}

/// A kind of resources that a server offers, with variables in their URIs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpResourceTemplate {
    /// The name of the server.
    pub server: String,
    /// The URI, with variables in braces.
    pub uri_template: String,
    /// The name for display.
    pub name: String,
    /// The description of the resources.
    pub description: Option<String>,
}

/// A prompt that a server offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpPrompt {
    /// The name of the server.
    pub server: String,
    /// The name of the prompt.
    pub name: String,
    /// The title for display.
    pub title: Option<String>,
    /// The purpose of the prompt.
    pub description: Option<String>,
    /// The arguments of the prompt.
    pub arguments: Vec<PromptArgument>,
}

/// An argument of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptArgument {
    /// The name of the argument.
    pub name: String,
    /// The description of the argument.
    pub description: Option<String>,
    /// Whether it must be given.
    pub is_required: bool,
}

/// A message of a prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct PromptMessage {
    /// Whether it is a message of the model rather than of the user.
    pub is_models: bool,
    /// The content of the message.
    pub content: McpContent,
}

/// Maximum number of pages of one list.
const MAX_PAGES: usize = 200;

impl Connection {
    /// Lists the tools of a server on all pages, each as unparsed JSON, so that an invalid one does
    /// not make the list unusable.
    pub(super) async fn tools(&self) -> Result<Vec<Value>, McpError> {
        let mut options = RequestOptions::short("its tools");
        let mut tools = Vec::new();
        let mut cursor = None;
        for _ in 0..MAX_PAGES {
            let params = PaginatedRequestParams::default().with_cursor(cursor);
            let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
            let answer = self.ask(request, &mut options).await?;
            let written = serde_json::to_value(&answer).unwrap_or_default();
            let Some(Value::Array(page)) = written.get("tools") else {
                return Err(self.invalid_response(&options, &answer));
            };
            tools.extend(page.iter().cloned());
            cursor = match written.get("nextCursor") {
                Some(Value::String(next)) if !next.is_empty() => Some(next.clone()),
                _ => return Ok(tools),
            };
        }
        Ok(tools)
    }

    /// Lists all resources of the server, from every page of the list.
    pub(super) async fn resources(&self) -> Result<Vec<McpResource>, McpError> {
        let found = self
            .listed("its resources", self.peer.list_all_resources())
            .await?;
        Ok(found.into_iter().map(|it| self.resource(it)).collect())
    }

    /// Lists all resource templates of the server, from every page of the list.
    pub(super) async fn resource_templates(&self) -> Result<Vec<McpResourceTemplate>, McpError> {
        let list = self.peer.list_all_resource_templates();
        let found = self.listed("its resource templates", list).await?;
        let template = |it: ResourceTemplate| McpResourceTemplate {
            server: self.handler.server.clone(),
            uri_template: it.uri_template,
            name: it.title.unwrap_or(it.name),
            description: it.description,
        };
        Ok(found.into_iter().map(template).collect())
    }

    /// Lists all prompts of the server, from every page of the list.
    pub(super) async fn prompts(&self) -> Result<Vec<McpPrompt>, McpError> {
        let found = self
            .listed("its prompts", self.peer.list_all_prompts())
            .await?;
        Ok(found.into_iter().map(|it| self.prompt(it)).collect())
    }

    /// Reads the resource with this URI, which may have several parts.
    pub(super) async fn read(&self, uri: &str) -> Result<Vec<McpContent>, McpError> {
        let mut options = RequestOptions::short(format!("the resource {uri}"));
        let params = ReadResourceRequestParams::new(uri);
        let request = |replies: Replies| {
            let mut params = params.clone();
            params.input_responses = replies.responses;
            params.request_state = replies.state;
            ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params))
        };
        match self.ask_through(&request, &mut options).await? {
            ServerResult::ReadResourceResult(result) => {
                let contents = result.contents.into_iter();
                Ok(contents.filter_map(McpContent::resource).collect())
            }
            other => Err(self.invalid_response(&options, &other)),
        }
    }

    /// Expands the prompt with this name and these arguments to messages.
    pub(super) async fn spell_out(
        &self,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Result<Vec<PromptMessage>, McpError> {
        let mut options = RequestOptions::short(format!("the prompt {name}"));
        let mut params = GetPromptRequestParams::new(name);
        params.arguments = (!arguments.is_empty()).then_some(arguments);
        let request = |replies: Replies| {
            let mut params = params.clone();
            params.input_responses = replies.responses;
            params.request_state = replies.state;
            ClientRequest::GetPromptRequest(GetPromptRequest::new(params))
        };
        match self.ask_through(&request, &mut options).await? {
            ServerResult::GetPromptResult(result) => {
                let messages = result.messages.into_iter().filter_map(|message| {
                    Some(PromptMessage {
                        is_models: message.role == Role::Assistant,
                        content: McpContent::new(message.content)?,
                    })
                });
                Ok(messages.collect())
            }
            other => Err(self.invalid_response(&options, &other)),
        }
    }

    /// Waits for all pages of a list, with the timeout of a lookup.
    pub(super) async fn listed<T>(
        &self,
        purpose: &str,
        list: impl Future<Output = Result<Vec<T>, rmcp::ServiceError>>,
    ) -> Result<Vec<T>, McpError> {
        let options = RequestOptions::short(purpose);
        match tokio::time::timeout(options.timeouts.total, list).await {
            Ok(Ok(found)) => Ok(found),
            Ok(Err(error)) => Err(self.failed(&options, error).await),
            Err(_) => {
                let text = format!("{} did not list {purpose} in time", self.name());
                Err(McpError::new(McpErrorKind::Timeout, text))
            }
        }
    }

    fn resource(&self, resource: Resource) -> McpResource {
        McpResource {
            server: self.handler.server.clone(),
            uri: resource.uri,
            name: resource.title.unwrap_or(resource.name),
            description: resource.description,
            media_type: resource.mime_type,
            size: resource.size,
        }
    }

    fn prompt(&self, prompt: Prompt) -> McpPrompt {
        let arguments = prompt.arguments.unwrap_or_default().into_iter();
        let arguments = arguments.map(|argument| PromptArgument {
            name: argument.name,
            description: argument.description,
            is_required: argument.required == Some(true),
        });
        McpPrompt {
            server: self.handler.server.clone(),
            name: prompt.name,
            title: prompt.title,
            description: prompt.description,
            arguments: arguments.collect(),
        }
    }
}
