//! Resources and prompts of the running servers, for prompts of the user.
//!
//! Invariant: all texts of servers are untrusted; a list is bounded, and a server that answers with an error has an empty
//! one.
//! Start at `McpServers::contents`.

use agent::Error;
use agent::prompt_sources::{ServerContent, ServerContentKind};
use base::{LineFeeds, printable};
use connect::mcp::{McpContent, McpError, ServerStatus};
use serde_json::{Map, Value};

use super::McpServers;

/// Maximum number of resources, of templates and of prompts of one server that are listed.
const MAX_LISTED: usize = 200;
/// Maximum length of a description, in bytes.
const MAX_ABOUT: usize = 200;

impl McpServers {
    /// Returns the resources, resource templates and prompts of the servers that are ready, by
    /// server.
    pub(crate) async fn contents(&self) -> Vec<ServerContent> {
        let states = self.clients.servers().into_iter();
        let ready = states.filter(|it| matches!(it.status, ServerStatus::Ready { .. }));
        let listed = ready.map(|state| self.contents_of(state.entry.name));
        let listed = futures::future::join_all(listed).await;
        listed.into_iter().flatten().collect()
    }

    async fn contents_of(&self, server: String) -> Vec<ServerContent> {
        let clients = &self.clients;
        let (prompts, resources, templates) = tokio::join!(
            clients.prompts(&server),
            clients.resources(&server),
            clients.resource_templates(&server)
        );
        let content = |title: &str, about: Option<&str>, kind| ServerContent {
            server: server.clone(),
            title: printable(title, LineFeeds::Escape).into_owned(),
            about: short(about.unwrap_or_default()),
            kind,
        };
        let prompts = listed(prompts).map(|it| {
            let arguments = it.arguments.into_iter();
            let kind = ServerContentKind::Prompt {
                arguments: arguments.map(|it| (it.name, it.is_required)).collect(),
                name: it.name.clone(),
            };
            let title = it.title.as_ref().unwrap_or(&it.name);
            content(title, it.description.as_deref(), kind)
        });
        let resources = listed(resources).map(|it| {
            let kind = ServerContentKind::Resource(it.uri);
            content(&it.name, it.description.as_deref(), kind)
        });
        let templates = listed(templates).map(|it| {
            let kind = ServerContentKind::Template(it.uri_template);
            content(&it.name, it.description.as_deref(), kind)
        });
        prompts.chain(resources).chain(templates).collect()
    }

    /// Returns the text of a resource. Fails if the server is not ready or has no such resource.
    pub(crate) async fn resource_text(&self, server: &str, uri: &str) -> Result<String, Error> {
        let parts = self.clients.read(server, uri).await.map_err(unread)?;
        let texts: Vec<String> = parts.iter().map(McpContent::text).collect();
        Ok(texts.join("\n"))
    }

    /// Returns the messages of a prompt with these arguments as one text. Fails if the server is not
    /// ready, has no such prompt or rejects the arguments.
    pub(crate) async fn prompt_text(
        &self,
        server: &str,
        name: &str,
        arguments: Vec<(String, String)>,
    ) -> Result<String, Error> {
        let arguments = arguments.into_iter();
        let arguments: Map<String, Value> = arguments
            .map(|(name, value)| (name, Value::String(value)))
            .collect();
        let messages = self.clients.prompt(server, name, arguments).await;
        let texts = messages.map_err(unread)?.into_iter().map(|message| {
            let text = message.content.text();
            if message.is_models {
                format!("[answer of the assistant]\n{text}")
            } else {
                text
            }
        });
        Ok(texts.collect::<Vec<_>>().join("\n\n"))
    }
}

fn unread(error: McpError) -> Error {
    Error::SourceUnread(printable(&error.message, LineFeeds::Keep).into_owned())
}

fn listed<T>(found: Result<Vec<T>, McpError>) -> impl Iterator<Item = T> {
    // Most servers offer only one kind, and reject the requests for the others.
    found.unwrap_or_default().into_iter().take(MAX_LISTED)
}

/// Returns the first line of a description, shortened.
fn short(about: &str) -> String {
    let line = about.trim().lines().next().unwrap_or_default();
    let line = &line[..line.floor_char_boundary(MAX_ABOUT)];
    printable(line, LineFeeds::Escape).into_owned()
}
