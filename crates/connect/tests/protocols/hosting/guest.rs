//! An agent under test, with its events.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use base::AbsPath;
use connect::Variables;
use connect::acp::host::{
    AgentLaunch, HostedAgentCommand, HostedAgentEvent, SessionStart, SignIn, StopTimeouts,
    TerminalRunner, start,
};
use connect::acp::protocol::{CallUpdate, MessageContent, PromptStop, Update, Voice};
use host::{RealFiles, TempFolder};
use tokio::sync::mpsc;

use super::shell_terminals::ShellTerminals;

const PATIENCE: Duration = Duration::from_secs(120);

/// An agent under test.
pub(super) struct Guest {
    pub(super) folder: TempFolder,
    commands: mpsc::Sender<HostedAgentCommand>,
    receiver: mpsc::Receiver<HostedAgentEvent>,
    /// All events so far, in order.
    pub(super) events: Vec<HostedAgentEvent>,
}

/// Changes to the default launch configuration.
pub(super) struct Program {
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<String>,
    pub(super) environment: Variables,
    pub(super) begin: SessionStart,
    pub(super) sign_in: Option<SignIn>,
    pub(super) auth_meta: serde_json::Map<String, serde_json::Value>,
    pub(super) terminals: Option<Arc<dyn TerminalRunner>>,
}

impl Program {
    pub(super) fn new(program: impl Into<PathBuf>, arguments: &[&str]) -> Self {
        let path = std::env::var("PATH").expect("a PATH");
        Self {
            program: program.into(),
            arguments: arguments.iter().map(|it| (*it).to_owned()).collect(),
            environment: [("PATH".to_owned(), path)].into(),
            begin: SessionStart::New,
            sign_in: None,
            auth_meta: serde_json::Map::new(),
            terminals: Some(Arc::new(ShellTerminals)),
        }
    }

    pub(super) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.environment.insert(name.to_owned(), value.into());
        self
    }

    pub(super) fn start(self) -> Guest {
        let folder = TempFolder::new().expect("a folder");
        let real = folder.path().as_path().canonicalize().expect("a real path");
        let top = AbsPath::new(real).expect("absolute");
        let root = top.join("root");
        for name in ["root", "state"] {
            std::fs::create_dir(top.join(name)).expect("a folder");
        }
        let (commands, receiver) = start(AgentLaunch {
            name: "the guest".to_owned(),
            program: self.program.display().to_string(),
            arguments: self.arguments,
            environment: self.environment,
            root,
            session: self.begin,
            servers: Vec::new(),
            sign_in: self.sign_in,
            auth_meta: self.auth_meta,
            terminals: self.terminals,
            signs_in_by_terminal: true,
            sandbox: None,
            stop: StopTimeouts {
                notice: Duration::from_secs(1),
                kill: Duration::from_secs(2),
            },
            files: Arc::new(RealFiles),
            ignore: Arc::new(|_, _| false),
            recovery: top.join("state"),
        });
        Guest {
            folder,
            commands,
            receiver,
            events: Vec::new(),
        }
    }
}

impl Guest {
    pub(super) fn root(&self) -> PathBuf {
        let real = self
            .folder
            .path()
            .as_path()
            .canonicalize()
            .expect("a real path");
        real.join("root")
    }

    pub(super) async fn say(&self, command: HostedAgentCommand) {
        self.commands.send(command).await.expect("it listens");
    }

    pub(super) async fn prompt(&self, text: &str) {
        self.say(HostedAgentCommand::Prompt(vec![MessageContent::Text(
            text.to_owned(),
        )]))
        .await;
    }

    /// Waits for an event that `wanted` accepts.
    pub(super) async fn until<T>(
        &mut self,
        mut wanted: impl FnMut(&HostedAgentEvent) -> Option<T>,
    ) -> T {
        loop {
            let event = tokio::time::timeout(PATIENCE, self.receiver.recv()).await;
            let event =
                event.unwrap_or_else(|_| panic!("too late; events so far: {:#?}", self.events));
            let event =
                event.unwrap_or_else(|| panic!("it ended; events so far: {:#?}", self.events));
            let found = wanted(&event);
            self.events.push(event);
            if let Some(found) = found {
                return found;
            }
        }
    }

    /// Waits until the session began, and returns its id.
    pub(super) async fn begun(&mut self) -> String {
        self.until(|event| match event {
            HostedAgentEvent::Began { session, .. } => Some(session.clone()),
            HostedAgentEvent::Closed(why) => panic!("it closed: {why:?}"),
            HostedAgentEvent::NeedsSignIn { methods, why } => panic!("{why}: {methods:?}"),
            _ => None,
        })
        .await
    }

    pub(super) async fn ended(&mut self) -> PromptStop {
        self.until(|event| match event {
            HostedAgentEvent::TurnEnded(end) => Some(end.clone()),
            _ => None,
        })
        .await
    }

    pub(super) async fn closed(&mut self) -> Option<String> {
        self.until(|event| match event {
            HostedAgentEvent::Closed(why) => Some(why.clone()),
            _ => None,
        })
        .await
    }

    /// Runs a whole turn and returns the agent's text.
    pub(super) async fn turn(&mut self, text: &str) -> (String, PromptStop) {
        let before = self.events.len();
        self.prompt(text).await;
        let end = self.ended().await;
        (agent_text(&self.events[before..]), end)
    }

    /// Returns the final state of every tool call.
    pub(super) fn calls(&self) -> Vec<CallUpdate> {
        let mut calls: Vec<CallUpdate> = Vec::new();
        for event in &self.events {
            if let HostedAgentEvent::Update(Update::Call(update)) = event {
                match calls.iter_mut().find(|call| call.id == update.id) {
                    Some(call) => call.merge(update.clone()),
                    None => calls.push(update.clone()),
                }
            }
        }
        calls
    }
}

/// Returns the location of an optional test dependency: from a variable, or in the cache folder.
pub(super) fn cached(variable: &str, name: &str) -> PathBuf {
    let named = std::env::var_os(variable).map(PathBuf::from);
    named.unwrap_or_else(|| {
        let home = std::env::var_os("HOME").unwrap_or_default();
        PathBuf::from(home).join(".cache/burin").join(name)
    })
}

/// Joins the agent's text chunks.
pub(super) fn agent_text(events: &[HostedAgentEvent]) -> String {
    let chunks = events.iter().filter_map(|event| match event {
        HostedAgentEvent::Update(Update::Said {
            voice: Voice::Agent,
            piece,
            ..
        }) => Some(piece.text()),
        _ => None,
    });
    chunks.collect()
}
