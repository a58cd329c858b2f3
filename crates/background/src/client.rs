//! The engines of the background process, as a window uses them.

mod connector;
mod link;
mod linked_stream;
mod shells;
mod unsaved_texts;

use std::sync::Arc;

use agent::context::{NamedContext, OpenFiles};
use agent::drafts::KeptPrompts;
use agent::{AgentEvent, SessionCommand};
use agent_service::board::{BoardConnection, Event};
use agent_service::{
    AccessChange, AgentCommand, AgentCommandId, AgentService, AutomationChange, AutomationEntry,
    CommandConnection, CommandFeedEvent, Consent, Error, ExternalAgentEntry, FolderAccess,
    FolderAction, FolderState, FolderTrust, ModelList, NewSession, QualityReport, RunningSession,
    ServerContent, SessionChange, SessionConnection, SessionEntry, SessionMark, SignInStep,
    SpendNotice, Spending, StoredChange, ToolAlarm, UndoOutcome,
};
use base::AbsPath;
use futures::channel::mpsc::UnboundedReceiver;
use futures::future::{BoxFuture, FutureExt as _};
use futures::stream::{BoxStream, StreamExt as _};
use host::Dirs;
use project::UnsavedTexts;
use serde::de::DeserializeOwned;

use crate::engines::EngineServices;
use crate::launch::LocalServer;
use crate::protocol::{ClientReport, ServiceRequest, StreamCommand, StreamItem, StreamRequest};
use crate::{AgentMachine, ServerProgram};

use connector::Connector;
use link::{ServerLink, StreamGuard};

pub use shells::{BackgroundShells, ShellConnection, ShellSender};

/// The way of commands into a session, and its events.
type SessionEnds = (
    Arc<dyn Fn(SessionCommand) + Send + Sync>,
    BoxStream<'static, AgentEvent>,
);

/// The engines of the background process. The process starts with the first session that is started
/// or opened; one that runs already is used from the beginning.
///
/// On this computer, models, drafts and files come from the engines of this program. From another
/// machine everything comes over the connection; only images that the user drops are files of this
/// computer.
pub struct BackgroundAgents {
    local: Arc<EngineServices>,
    /// The other machine, if the process runs there.
    machine: Option<AgentMachine>,
    link: ServerLink,
}

impl BackgroundAgents {
    /// Creates the client. `program` becomes the background process; `unsaved` are the unsaved texts of the windows, which the agents see.
    pub fn new(
        dirs: Dirs,
        program: ServerProgram,
        local: Arc<EngineServices>,
        unsaved: Arc<UnsavedTexts>,
    ) -> Self {
        let connector = Connector::Local(LocalServer { dirs, program });
        Self {
            local,
            machine: None,
            link: ServerLink::new(connector, unsaved),
        }
    }

    /// Creates the client of the background process of another machine, which starts with the first
    /// request. Unsaved texts and open files of this computer are not sent.
    pub fn on_machine(machine: AgentMachine, local: Arc<EngineServices>) -> Self {
        Self {
            local,
            machine: Some(machine.clone()),
            link: ServerLink::new(Connector::Remote(machine), Arc::default()),
        }
    }

    /// Returns the user's shells of the process, over the same connection.
    pub fn shells(&self) -> BackgroundShells {
        BackgroundShells::new(self.link.clone())
    }

    /// Asks the process of another machine for something that this program finds by itself for this
    /// computer.
    fn ask_remote<T: DeserializeOwned + Send + 'static>(
        &self,
        request: impl FnOnce() -> ServiceRequest,
    ) -> Option<BoxFuture<'static, Result<T, Error>>> {
        self.machine.as_ref()?;
        Some(self.link.ask(request()))
    }

    /// Opens a session and waits for its first item.
    fn connect(
        &self,
        request: StreamRequest,
    ) -> BoxFuture<'static, Result<SessionConnection, Error>> {
        let (guard, mut items) = self.link.open(request);
        async move {
            match items.next().await {
                Some(StreamItem::Opened {
                    id,
                    root,
                    notices,
                    past,
                }) => {
                    let (send, events) = ends(guard, items);
                    Ok(SessionConnection {
                        id,
                        root,
                        send,
                        past,
                        events,
                        notices,
                    })
                }
                Some(StreamItem::Failed(failure)) => Err(failure.into()),
                _ => Err(Error::Unavailable(
                    "the background process ended the session".to_owned(),
                )),
            }
        }
        .boxed()
    }

    /// Streams the items of a list that changes.
    fn list<T: Send + 'static>(
        &self,
        request: StreamRequest,
        of_item: impl Fn(StreamItem) -> Option<T> + Send + 'static,
    ) -> BoxStream<'static, T> {
        let (guard, items) = self.link.open(request);
        let items = items.filter_map(move |item| {
            // Held as long as the stream.
            let _open = &guard;
            std::future::ready(of_item(item))
        });
        items.boxed()
    }
}

impl AgentService for BackgroundAgents {
    fn outlives_windows(&self) -> bool {
        true
    }

    fn machine(&self) -> Option<String> {
        self.machine.as_ref().map(AgentMachine::name)
    }

    fn link_problems(&self) -> BoxStream<'static, Option<String>> {
        match &self.machine {
            Some(_) => self.link.problems(),
            None => futures::stream::empty().boxed(),
        }
    }

    fn models(&self) -> BoxFuture<'static, ModelList> {
        match self.ask_remote::<ModelList>(|| ServiceRequest::Models) {
            Some(models) => async { models.await.unwrap_or_else(without_models) }.boxed(),
            None => self.local.models(),
        }
    }

    fn sessions(&self, root: AbsPath) -> BoxFuture<'static, Result<Vec<SessionEntry>, Error>> {
        self.link.ask(ServiceRequest::Sessions(root))
    }

    fn start(&self, session: NewSession) -> BoxFuture<'static, Result<SessionConnection, Error>> {
        self.connect(StreamRequest::Start(session))
    }

    fn open(
        &self,
        root: AbsPath,
        id: String,
    ) -> BoxFuture<'static, Result<SessionConnection, Error>> {
        self.connect(StreamRequest::Session(root, id))
    }

    fn running(&self) -> BoxStream<'static, Vec<RunningSession>> {
        self.list(StreamRequest::Running, |item| match item {
            StreamItem::Running(sessions) => Some(sessions),
            _ => None,
        })
    }

    fn running_commands(&self) -> BoxStream<'static, Vec<AgentCommand>> {
        self.list(StreamRequest::Commands, |item| match item {
            StreamItem::Commands(commands) => Some(commands),
            _ => None,
        })
    }

    fn watch_command(&self, id: AgentCommandId, from: u64) -> CommandConnection {
        let (guard, items) = self.link.open(StreamRequest::Command(id, from));
        let sender = guard.clone();
        let events = items.filter_map(move |item| {
            let event = match item {
                StreamItem::Command(event) => Some(event),
                _ => None,
            };
            if let Some(CommandFeedEvent::Output { offset, bytes, .. }) = &event {
                guard.send(StreamCommand::Read(offset + bytes.len() as u64));
            }
            std::future::ready(event)
        });
        CommandConnection {
            send: Arc::new(move |input| sender.send(StreamCommand::Command(input))),
            events: events.boxed(),
        }
    }

    fn session_changes(&self) -> BoxStream<'static, SessionChange> {
        self.list(StreamRequest::SessionChanges, |item| match item {
            StreamItem::Changed(change) => Some(change),
            _ => None,
        })
    }

    fn stored_changes(&self) -> BoxStream<'static, StoredChange> {
        self.list(StreamRequest::StoredChanges, |item| match item {
            StreamItem::Stored(change) => Some(change),
            _ => None,
        })
    }

    fn spending(&self, days: u64) -> BoxFuture<'static, Result<Spending, Error>> {
        // The costs of both processes of a machine are in its ledger.
        self.ask_remote(|| ServiceRequest::Spending(days))
            .unwrap_or_else(|| self.local.spending(days))
    }

    fn budget_notices(&self) -> BoxStream<'static, SpendNotice> {
        self.list(StreamRequest::BudgetNotices, |item| match item {
            StreamItem::Budget(notice) => Some(notice),
            _ => None,
        })
    }

    fn quality(&self, days: u64) -> BoxFuture<'static, Result<QualityReport, Error>> {
        // The rows of both processes of a machine are in its ledger.
        self.ask_remote(|| ServiceRequest::Quality(days))
            .unwrap_or_else(|| self.local.quality(days))
    }

    fn tool_alarms(&self) -> BoxStream<'static, ToolAlarm> {
        self.list(StreamRequest::ToolAlarms, |item| match item {
            StreamItem::Alarm(alarm) => Some(alarm),
            _ => None,
        })
    }

    fn problems(&self) -> BoxStream<'static, String> {
        let of_process = self.list(StreamRequest::Problems, |item| match item {
            StreamItem::Problem(problem) => Some(problem),
            _ => None,
        });
        match &self.machine {
            Some(_) => of_process,
            None => futures::stream::select(of_process, self.local.problems()).boxed(),
        }
    }

    fn mark_session(&self, id: String, mark: SessionMark) -> BoxFuture<'static, Result<(), Error>> {
        self.link.ask(ServiceRequest::Mark(id, mark))
    }

    fn fork_session(
        &self,
        root: AbsPath,
        id: String,
        after: u64,
    ) -> BoxFuture<'static, Result<String, Error>> {
        self.link.ask(ServiceRequest::Fork(root, id, after))
    }

    fn export_session(&self, id: String) -> BoxFuture<'static, Result<String, Error>> {
        self.link.ask(ServiceRequest::Export(id))
    }

    fn set_open_files(&self, root: AbsPath, files: OpenFiles) {
        // The files of this computer are no files of another machine.
        if self.machine.is_none() {
            self.link.report(ClientReport::OpenFiles(root, files));
        }
    }

    fn board(&self, root: AbsPath) -> BoxFuture<'static, Result<BoardConnection, Error>> {
        let (guard, mut items) = self.link.open(StreamRequest::Board(root));
        async move {
            let first = match items.next().await {
                Some(StreamItem::Failed(failure)) => return Err(failure.into()),
                Some(first) => first,
                None => {
                    let why = "the background process ended the board";
                    return Err(Error::Unavailable(why.to_owned()));
                }
            };
            // Unbounded: the panel takes states as they come.
            let (sender, events) = futures::channel::mpsc::unbounded();
            let mut items = futures::stream::iter([first]).chain(items);
            let send = guard.clone();
            let forward = async move {
                while let Some(item) = items.next().await {
                    let event = match item {
                        StreamItem::Board(board) => Event::Board(board),
                        StreamItem::Undelivered(prompt) => Event::Undelivered(prompt),
                        _ => continue,
                    };
                    if sender.unbounded_send(event).is_err() {
                        return;
                    }
                }
            };
            guard.spawn(forward);
            Ok(BoardConnection {
                send: Arc::new(move |command| send.send(StreamCommand::Board(command))),
                events,
            })
        }
        .boxed()
    }

    fn watch(
        &self,
        root: AbsPath,
        id: String,
    ) -> BoxFuture<'static, Result<SessionConnection, Error>> {
        self.connect(StreamRequest::Job(root, id))
    }

    fn folder_changes(&self, root: AbsPath, session: String) -> BoxStream<'static, FolderState> {
        self.list(
            StreamRequest::FolderChanges(root, session),
            |item| match item {
                StreamItem::Folder(state) => Some(state),
                _ => None,
            },
        )
    }

    fn file_saved(&self, path: AbsPath, unformatted: Option<String>) {
        if self.machine.is_none() {
            self.link.report(ClientReport::Saved(path, unformatted));
        }
    }

    fn change_folder(
        &self,
        root: AbsPath,
        session: String,
        action: FolderAction,
    ) -> BoxFuture<'static, Result<UndoOutcome, Error>> {
        let request = ServiceRequest::ChangeFolder(root, session, action);
        self.link.ask(request)
    }

    fn takes_images(&self, model: String) -> BoxFuture<'static, Option<bool>> {
        match self.ask_remote(|| ServiceRequest::TakesImages(model.clone())) {
            Some(takes) => async { takes.await.unwrap_or(None) }.boxed(),
            None => self.local.takes_images(model),
        }
    }

    fn read_file(&self, path: AbsPath, limit: u64) -> BoxFuture<'static, Result<Vec<u8>, Error>> {
        self.local.read_file(path, limit)
    }

    fn named_context(&self, root: AbsPath) -> BoxFuture<'static, Vec<NamedContext>> {
        match self.ask_remote(|| ServiceRequest::NamedContext(root.clone())) {
            Some(names) => async { names.await.unwrap_or_default() }.boxed(),
            None => self.local.named_context(root),
        }
    }

    fn server_contents(&self, root: AbsPath) -> BoxFuture<'static, Vec<ServerContent>> {
        let contents = self
            .link
            .ask::<Vec<ServerContent>>(ServiceRequest::ServerContents(root));
        contents.map(Result::unwrap_or_default).boxed()
    }

    fn kept_prompts(&self, root: AbsPath) -> BoxFuture<'static, KeptPrompts> {
        match self.machine {
            Some(_) => kept_prompts(self.link.clone(), root).boxed(),
            None => self.local.kept_prompts(root),
        }
    }

    fn keep_prompts(
        &self,
        root: AbsPath,
        kept: KeptPrompts,
    ) -> BoxFuture<'static, Result<(), Error>> {
        match self.machine {
            Some(_) => self.link.ask(ServiceRequest::KeepPrompts(root, kept)),
            None => self.local.keep_prompts(root, kept),
        }
    }

    fn folder_access(&self, root: AbsPath) -> BoxFuture<'static, Result<FolderAccess, Error>> {
        self.link.ask(ServiceRequest::Access(root))
    }

    fn change_access(
        &self,
        root: AbsPath,
        change: AccessChange,
    ) -> BoxFuture<'static, Result<FolderAccess, Error>> {
        self.link.ask(ServiceRequest::ChangeAccess(root, change))
    }

    fn sign_in(&self, root: AbsPath, server: String) -> BoxStream<'static, SignInStep> {
        match &self.machine {
            // Its pages would lead to a port of this computer.
            Some(machine) => {
                let why = format!(
                    "Sign in on \"{}\" itself: `burin-agent mcp sign-in {server}` in the folder there.",
                    machine.name()
                );
                let step = SignInStep::Done(Err(Error::Failed(why)));
                futures::stream::iter([step]).boxed()
            }
            // The tokens are files; the process reads them when it connects to the server again.
            None => self.local.sign_in(root, server),
        }
    }

    fn folder_trust(&self, root: AbsPath) -> BoxFuture<'static, Result<FolderTrust, Error>> {
        self.ask_remote(|| ServiceRequest::Trust(root.clone()))
            .unwrap_or_else(|| self.local.folder_trust(root))
    }

    fn external_agents(&self) -> BoxFuture<'static, Result<Vec<ExternalAgentEntry>, Error>> {
        self.ask_remote(|| ServiceRequest::ExternalAgents)
            .unwrap_or_else(|| self.local.external_agents())
    }

    fn automations(
        &self,
        root: AbsPath,
    ) -> BoxFuture<'static, Result<Vec<AutomationEntry>, Error>> {
        self.link.ask(ServiceRequest::Automations(root))
    }

    fn change_automation(
        &self,
        root: AbsPath,
        change: AutomationChange,
    ) -> BoxFuture<'static, Result<Vec<AutomationEntry>, Error>> {
        self.link
            .ask(ServiceRequest::ChangeAutomation(root, change))
    }

    fn install_agent(&self, id: String) -> BoxFuture<'static, Result<ExternalAgentEntry, Error>> {
        match self.machine {
            Some(_) => self.link.ask(ServiceRequest::InstallAgent(id)),
            None => self.local.install_agent(id),
        }
    }

    fn consent(
        &self,
        root: AbsPath,
        consent: Consent,
    ) -> BoxFuture<'static, Result<FolderTrust, Error>> {
        self.link.ask(ServiceRequest::Consent(root, consent))
    }
}

/// Reads the prompts that another machine keeps, as soon as it is reached: what is stored later must not
/// replace them unread.
async fn kept_prompts(link: ServerLink, root: AbsPath) -> KeptPrompts {
    let mut problems = link.problems();
    loop {
        let kept = link.ask(ServiceRequest::KeptPrompts(root.clone())).await;
        if let Ok(kept) = kept {
            return kept;
        }
        loop {
            match problems.next().await {
                Some(Some(_)) => {}
                Some(None) => break,
                None => return KeptPrompts::default(),
            }
        }
    }
}

/// Returns the list for a machine that is not reached: the reason is its advice.
fn without_models(error: Error) -> ModelList {
    ModelList {
        advice: error.to_string(),
        ..ModelList::default()
    }
}

/// Returns both ends of an open session. The session is left when both are dropped.
fn ends(guard: Arc<StreamGuard>, items: UnboundedReceiver<StreamItem>) -> SessionEnds {
    let sender = guard.clone();
    let events = items.filter_map(move |item| {
        // Held as long as the stream.
        let _open = &guard;
        std::future::ready(event(item))
    });
    let send = move |command| sender.send(StreamCommand::Session(command));
    (Arc::new(send), events.boxed())
}

fn event(item: StreamItem) -> Option<AgentEvent> {
    match item {
        StreamItem::Event(event) => Some(event),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
