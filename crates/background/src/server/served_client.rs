//! A connection of one client.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use agent_service::AgentService as _;
use base::{AbsPath, Span};
use project::{Document, DocumentKey};
use text::{EditOrigin, Timestamp};
use tokio::net::UnixStream;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use super::BackgroundState;
use super::outbox::{Outbox, outbox};
use super::served_stream;
use crate::connection::{read_message, write_message};
use crate::protocol::{
    ClientMessage, ClientReport, Hello, PROTOCOL, ServiceRequest, StreamCommand,
};
use crate::{Error, launch};

/// Time for a client to say hello.
const HELLO_TIME: Duration = Duration::from_secs(5);

/// One client and its open streams.
struct ServedClient<'a> {
    state: &'a Arc<BackgroundState>,
    id: String,
    outbox: Outbox,
    streams: HashMap<u64, ServedStream>,
    /// The documents with the client's unsaved texts.
    texts: HashMap<AbsPath, DocumentKey>,
}

struct ServedStream {
    /// Unbounded: a user sends few commands.
    commands: mpsc::UnboundedSender<(u64, StreamCommand)>,
    task: AbortHandle,
}

/// Serves a client until it disconnects. Fails if it belongs to another user, if its messages cannot
/// be read, or if the connection breaks.
pub(super) async fn serve(state: &Arc<BackgroundState>, stream: UnixStream) -> Result<(), Error> {
    launch::check_user(&stream)?;
    let (mut reader, mut writer) = stream.into_split();
    let hello = tokio::time::timeout(HELLO_TIME, read_message::<Hello>(&mut reader)).await;
    let Some(hello) = hello.unwrap_or(Ok(None))? else {
        return Ok(());
    };
    write_message(&mut writer, &state.hello).await?;
    if hello.protocol != PROTOCOL {
        return Ok(());
    }
    let (outbox, messages) = outbox();
    let mut client = ServedClient {
        state,
        id: hello.id,
        outbox,
        streams: HashMap::new(),
        texts: HashMap::new(),
    };
    let read = async {
        while let Some(message) = read_message::<ClientMessage>(&mut reader).await? {
            client.handle(message);
        }
        Ok(())
    };
    tokio::select! {
        read = read => read,
        written = messages.write_to(&mut writer) => written,
    }
}

impl ServedClient<'_> {
    fn handle(&mut self, message: ClientMessage) {
        match message {
            ClientMessage::Ask { id, request } => self.answer(id, request),
            ClientMessage::Open { id, stream } => {
                let (commands, receiver) = mpsc::unbounded_channel();
                let context = served_stream::StreamContext {
                    state: self.state.clone(),
                    client: self.id.clone(),
                    id,
                    outbox: self.outbox.clone(),
                };
                let task = tokio::spawn(served_stream::run(context, stream, receiver));
                let task = task.abort_handle();
                self.streams.insert(id, ServedStream { commands, task });
            }
            ClientMessage::Send {
                id,
                number,
                command,
            } => {
                if let Some(stream) = self.streams.get(&id) {
                    // A stream that has ended takes no commands.
                    stream.commands.send((number, command)).ok();
                }
            }
            ClientMessage::Close { id } => {
                self.streams.remove(&id);
                self.state.memory.forget(&self.id, id);
            }
            ClientMessage::Report(report) => self.note(report),
            ClientMessage::Alive => {}
        }
    }

    /// Answers a request beside the connection.
    fn answer(&self, id: u64, request: ServiceRequest) {
        let (state, outbox) = (self.state.clone(), self.outbox.clone());
        let engines = state.engines.clone();
        tokio::spawn(async move {
            match request {
                ServiceRequest::Sessions(root) => outbox.result(id, engines.sessions(root).await),
                ServiceRequest::Mark(session, mark) => {
                    outbox.result(id, engines.mark_session(session, mark).await);
                }
                ServiceRequest::Fork(root, session, after) => {
                    outbox.result(id, engines.fork_session(root, session, after).await);
                }
                ServiceRequest::Export(session) => {
                    outbox.result(id, engines.export_session(session).await);
                }
                ServiceRequest::ChangeFolder(root, session, action) => {
                    outbox.result(id, engines.change_folder(root, session, action).await);
                }
                ServiceRequest::Trust(root) => outbox.result(id, engines.folder_trust(root).await),
                ServiceRequest::Consent(root, consent) => {
                    outbox.result(id, engines.consent(root, consent).await);
                }
                ServiceRequest::Access(root) => {
                    outbox.result(id, engines.folder_access(root).await);
                }
                ServiceRequest::ChangeAccess(root, change) => {
                    outbox.result(id, engines.change_access(root, change).await);
                }
                ServiceRequest::Models => outbox.result(id, Ok(engines.models().await)),
                ServiceRequest::TakesImages(model) => {
                    outbox.result(id, Ok(engines.takes_images(model).await));
                }
                ServiceRequest::Spending(days) => outbox.result(id, engines.spending(days).await),
                ServiceRequest::Quality(days) => outbox.result(id, engines.quality(days).await),
                ServiceRequest::NamedContext(root) => {
                    outbox.result(id, Ok(engines.named_context(root).await));
                }
                ServiceRequest::KeptPrompts(root) => {
                    outbox.result(id, Ok(engines.kept_prompts(root).await));
                }
                ServiceRequest::KeepPrompts(root, kept) => {
                    outbox.result(id, engines.keep_prompts(root, kept).await);
                }
                ServiceRequest::ExternalAgents => {
                    outbox.result(id, engines.external_agents().await);
                }
                ServiceRequest::InstallAgent(agent) => {
                    outbox.result(id, engines.install_agent(agent).await);
                }
                ServiceRequest::ServerContents(root) => {
                    outbox.result(id, Ok(engines.server_contents(root).await));
                }
                ServiceRequest::Automations(root) => {
                    outbox.result(id, engines.automations(root).await);
                }
                ServiceRequest::ChangeAutomation(root, change) => {
                    outbox.result(id, engines.change_automation(root, change).await);
                }
                ServiceRequest::StartShell(launch) => {
                    outbox.result(id, state.shells.start(*launch).await);
                }
                ServiceRequest::EndShell(shell) => {
                    state.shells.end(&shell).await;
                    outbox.result(id, Ok(()));
                }
                ServiceRequest::Status => outbox.result(id, Ok(state.status().await)),
                ServiceRequest::Stop { with_sessions } => {
                    let ends = with_sessions || !state.status().await.is_busy();
                    outbox.result(id, Ok(ends));
                    if ends {
                        state.end.notify_one();
                    }
                }
            }
        });
    }

    fn note(&mut self, report: ClientReport) {
        match report {
            ClientReport::OpenFiles(root, files) => self.state.engines.set_open_files(root, files),
            ClientReport::Saved(path, unformatted) => {
                self.state.engines.file_saved(path, unformatted);
            }
            ClientReport::Unsaved(path, text) => {
                if let Some(key) = self.texts.remove(&path) {
                    self.state.unsaved.forget(key);
                }
                if let Some(text) = text {
                    let document = unsaved_document(path.clone(), &text);
                    self.state.unsaved.note(&document);
                    self.texts.insert(path, document.key());
                }
            }
        }
    }
}

impl Drop for ServedClient<'_> {
    fn drop(&mut self) {
        for key in self.texts.values() {
            self.state.unsaved.forget(*key);
        }
    }
}

impl Drop for ServedStream {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Returns a document whose unsaved text is `text`.
fn unsaved_document(path: AbsPath, text: &str) -> Document {
    let mut document = Document::new_at(path);
    let origin = EditOrigin::user(Timestamp(0));
    let start = Span::at(document.snapshot().len());
    document.buffer_mut().replace(start, text, &origin);
    document
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unsaved_text_is_the_text_of_the_client() {
        for text in ["", "one", "one\ntwo\n", "\r\n"] {
            let unsaved = project::UnsavedTexts::default();
            let path = AbsPath::new("/p/a").expect("absolute");
            unsaved.note(&unsaved_document(path.clone(), text));
            assert_eq!(unsaved.text(&path).as_deref(), Some(text));
        }
    }
}
