//! An agent that executes its prompt as a command, for tests of both sides of the protocol.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crate::acp::agent::{
    AgentBackend, AgentIdentity, EditorClient, HistoryReplay, OpenedSession, RequestRefusal,
    SessionList, SessionRequest,
};
use crate::acp::protocol::{
    AgentMode, AgentModes, CallContent, CallKind, CallLocation, CallStatus, CallUpdate,
    ConfigOption, ContextUsage, MessageContent, OptionAbout, OptionChoice, OptionValue,
    PermissionChoice, PermissionChoiceKind, PlanItem, PlanState, PromptStop, SessionInfo,
    SlashCommand, Update, Voice,
};
use agent_client_protocol as acp;
use agent_client_protocol::v1::schema as v1;
use futures::future::{BoxFuture, ready};
use tokio::sync::watch;

/// The agent and its sessions.
#[derive(Clone, Default)]
pub struct EchoAgent {
    sessions: Arc<Mutex<HashMap<String, Session>>>,
}

#[derive(Clone)]
struct Session {
    editor: EditorClient,
    folder: PathBuf,
    servers: usize,
    model: String,
    stop: watch::Sender<bool>,
}

fn value(id: &str) -> AgentMode {
    AgentMode {
        id: id.to_owned(),
        name: id.to_uppercase(),
        description: Some(format!("The {id} one.")),
    }
}

fn options(model: &str) -> Vec<ConfigOption> {
    vec![
        ConfigOption {
            id: "model".to_owned(),
            name: "Model".to_owned(),
            description: None,
            about: OptionAbout::Model,
            value: OptionValue::One {
                now: model.to_owned(),
                all: vec![value("small"), value("large")],
            },
        },
        ConfigOption {
            id: "loud".to_owned(),
            name: "Loud".to_owned(),
            description: None,
            about: OptionAbout::Other,
            value: OptionValue::Truth(false),
        },
    ]
}

impl EchoAgent {
    fn begin(&self, id: &str, wanted: SessionRequest, editor: EditorClient) -> OpenedSession {
        let (stop, _) = watch::channel(false);
        let title = Update::Title(Some("Not asked yet".to_owned()));
        let after = if wanted.folder.ends_with("titled") {
            vec![title]
        } else {
            Vec::new()
        };
        let session = Session {
            editor,
            folder: wanted.folder,
            servers: wanted.servers.len(),
            model: "small".to_owned(),
            stop,
        };
        self.sessions
            .lock()
            .expect("a lock")
            .insert(id.to_owned(), session);
        OpenedSession {
            session: id.to_owned(),
            modes: Some(AgentModes {
                all: vec![value("build"), value("plan")],
                now: "build".to_owned(),
            }),
            options: options("small"),
            after,
        }
    }

    /// Returns a copy of an open session; fails with `NotFound` if there is none.
    fn session(&self, id: &str) -> Result<Session, RequestRefusal> {
        let found = self.sessions.lock().expect("a lock").get(id).cloned();
        found.ok_or_else(|| RequestRefusal::NotFound(format!("there is no session {id}")))
    }
}

fn refused(error: acp::Error) -> RequestRefusal {
    RequestRefusal::Failed(error.message)
}

fn said(voice: Voice, text: &str) -> Update {
    Update::Said {
        voice,
        id: Some("m1".to_owned()),
        piece: MessageContent::Text(text.to_owned()),
    }
}

impl AgentBackend for EchoAgent {
    fn identity(&self) -> AgentIdentity {
        AgentIdentity {
            name: "echo".to_owned(),
            title: "Echo".to_owned(),
            version: "1".to_owned(),
            sees: true,
            roams: true,
        }
    }

    fn open(
        &self,
        wanted: SessionRequest,
        editor: EditorClient,
    ) -> BoxFuture<'static, Result<OpenedSession, RequestRefusal>> {
        let count = self.sessions.lock().expect("a lock").len();
        let opened = match std::env::var_os("ECHO_WANTS_SIGN_IN") {
            Some(_) => Err(RequestRefusal::NeedsUser("sign in first".to_owned())),
            None => Ok(self.begin(&format!("s{count}"), wanted, editor)),
        };
        Box::pin(ready(opened))
    }

    fn reopen(
        &self,
        session: String,
        wanted: SessionRequest,
        replay: HistoryReplay,
        editor: EditorClient,
    ) -> BoxFuture<'static, Result<OpenedSession, RequestRefusal>> {
        if session == "unknown" {
            let refusal = RequestRefusal::NotFound("there is no session unknown".to_owned());
            return Box::pin(ready(Err(refusal)));
        }
        if replay == HistoryReplay::All {
            editor.send_update(&session, said(Voice::User, "an old question"));
            editor.send_update(&session, said(Voice::Agent, "an old answer"));
        }
        let opened = self.begin(&session, wanted, editor);
        Box::pin(ready(Ok(opened)))
    }

    fn list(
        &self,
        folder: Option<PathBuf>,
        _: Option<String>,
    ) -> BoxFuture<'static, Result<SessionList, RequestRefusal>> {
        let session = SessionInfo {
            id: "old".to_owned(),
            folder: folder.unwrap_or_else(|| PathBuf::from("/")),
            title: Some("An old one".to_owned()),
            updated: Some("2026-01-01T00:00:00Z".to_owned()),
        };
        let listed = SessionList {
            sessions: vec![session],
            cursor: None,
        };
        Box::pin(ready(Ok(listed)))
    }

    fn prompt(
        &self,
        id: String,
        prompt: Vec<MessageContent>,
    ) -> BoxFuture<'static, Result<PromptStop, RequestRefusal>> {
        let session = self.session(&id);
        if let Ok(session) = &session {
            // Before the future, since a cancellation may arrive before the future is first polled.
            session.stop.send_replace(false);
        }
        Box::pin(async move {
            let session = session?;
            let text: String = prompt.iter().map(MessageContent::text).collect();
            let (verb, rest) = text.split_once(' ').unwrap_or((&text, ""));
            session.perform(&id, verb, rest).await
        })
    }

    fn cancel(&self, session: String) -> BoxFuture<'static, ()> {
        if let Ok(session) = self.session(&session) {
            session.stop.send_replace(true);
        }
        Box::pin(ready(()))
    }

    fn set_mode(
        &self,
        session: String,
        mode: String,
    ) -> BoxFuture<'static, Result<(), RequestRefusal>> {
        let known = self.session(&session).map(|_| ());
        let known = known.and_then(|()| match mode.as_str() {
            "build" | "plan" => Ok(()),
            _ => Err(RequestRefusal::Invalid(format!("there is no mode {mode}"))),
        });
        Box::pin(ready(known))
    }

    fn set_option(
        &self,
        session: String,
        option: String,
        chosen: OptionChoice,
    ) -> BoxFuture<'static, Result<Vec<ConfigOption>, RequestRefusal>> {
        let mut sessions = self.sessions.lock().expect("a lock");
        let set = match (sessions.get_mut(&session), option.as_str(), chosen) {
            (Some(session), "model", OptionChoice::One(model)) => {
                session.model = model;
                Ok(options(&session.model))
            }
            _ => Err(RequestRefusal::Invalid(format!(
                "there is no option {option}"
            ))),
        };
        Box::pin(ready(set))
    }

    fn close(&self, session: String) -> BoxFuture<'static, Result<(), RequestRefusal>> {
        self.sessions.lock().expect("a lock").remove(&session);
        Box::pin(ready(Ok(())))
    }
}

impl Session {
    fn tell(&self, id: &str, update: Update) {
        self.editor.send_update(id, update);
    }

    /// Executes a prompt: its first word `verb` with the `rest` as its argument. Fails with
    /// `Invalid` for an unknown verb.
    async fn perform(
        &self,
        id: &str,
        verb: &str,
        rest: &str,
    ) -> Result<PromptStop, RequestRefusal> {
        let path = PathBuf::from(rest);
        match verb {
            "say" => self.tell(id, said(Voice::Agent, rest)),
            "show" => self.show(id),
            "where" => {
                let text = format!("{} {}", self.folder.display(), self.servers);
                self.tell(id, said(Voice::Agent, &text));
            }
            "ask" => {
                let chosen = self.ask(id).await;
                self.tell(id, said(Voice::Agent, &format!("{chosen:?}")));
            }
            "read" => {
                let read = self.editor.read(id, path).await;
                self.tell(id, said(Voice::Agent, &format!("{read:?}")));
            }
            "write" => {
                let written = self.editor.write(id, path, "by the agent".to_owned()).await;
                self.tell(id, said(Voice::Agent, &format!("{written:?}")));
            }
            "touch" => self.touch(id, rest)?,
            "run" => {
                let ran = self.run(id, rest).await;
                self.tell(id, said(Voice::Agent, &ran.map_err(refused)?));
            }
            "start" => {
                let started = self.start(id, rest).await;
                self.tell(id, said(Voice::Agent, &started.map_err(refused)?));
            }
            "end" => {
                let ended = self.end(id, rest).await;
                self.tell(id, said(Voice::Agent, &ended.map_err(refused)?));
            }
            "hang" => {
                let mut stop = self.stop.subscribe();
                stop.wait_for(|stop| *stop)
                    .await
                    .expect("the session lives");
                return Ok(PromptStop::Stopped);
            }
            "deaf" => std::future::pending().await,
            "fail" => return Ok(PromptStop::Failed(rest.to_owned())),
            "refuse" => return Ok(PromptStop::Refused),
            "die" => {
                #[expect(clippy::print_stderr, reason = "what a dying program says")]
                {
                    eprintln!("the disk is full");
                }
                std::process::exit(9);
            }
            _ => return Err(RequestRefusal::Invalid(format!("{verb} is not known"))),
        }
        Ok(PromptStop::Done)
    }

    /// Requests permission from the editor; returns the id of the choice, or `None` if it was
    /// cancelled.
    async fn ask(&self, id: &str) -> Option<String> {
        let call = CallUpdate {
            title: Some("rm -rf build".to_owned()),
            kind: Some(CallKind::Execute),
            state: Some(CallStatus::Pending),
            ..CallUpdate::new("c1")
        };
        self.tell(id, Update::Call(call.clone()));
        let choice = |id: &str, kind| PermissionChoice {
            id: id.to_owned(),
            name: id.to_owned(),
            kind,
        };
        let choices = vec![
            choice("yes", PermissionChoiceKind::AllowOnce),
            choice("always", PermissionChoiceKind::AllowAlways),
            choice("no", PermissionChoiceKind::RejectOnce),
        ];
        let chosen = self.editor.ask(id, call, choices).await;
        chosen.answer().map(str::to_owned)
    }

    /// Starts a shell line in a terminal of the editor and returns the terminal's id.
    async fn start(&self, id: &str, line: &str) -> Result<String, acp::Error> {
        let request = v1::CreateTerminalRequest::new(id.to_owned(), line.to_owned());
        let connection = self.editor.connection();
        let created = connection.send_request(request).block_task().await?;
        Ok(created.terminal_id.to_string())
    }

    /// Runs a shell line in a terminal of the editor and returns its exit code and its output.
    async fn run(&self, id: &str, line: &str) -> Result<String, acp::Error> {
        let terminal = self.start(id, line).await?;
        let request = v1::WaitForTerminalExitRequest::new(id.to_owned(), terminal.clone());
        let connection = self.editor.connection();
        let ended = connection.send_request(request).block_task().await?;
        let output = self.output(id, &terminal).await?;
        let code = ended.exit_status.exit_code;
        Ok(format!("{code:?} {output:?}"))
    }

    /// Kills the command of a terminal, and returns its output and whether the terminal is gone after its release.
    async fn end(&self, id: &str, terminal: &str) -> Result<String, acp::Error> {
        let connection = self.editor.connection();
        let request = v1::KillTerminalRequest::new(id.to_owned(), terminal.to_owned());
        connection.send_request(request).block_task().await?;
        let request = v1::WaitForTerminalExitRequest::new(id.to_owned(), terminal.to_owned());
        connection.send_request(request).block_task().await?;
        let output = self.output(id, terminal).await?;
        let request = v1::ReleaseTerminalRequest::new(id.to_owned(), terminal.to_owned());
        connection.send_request(request).block_task().await?;
        let is_gone = self.output(id, terminal).await.is_err();
        Ok(format!("{output:?} {is_gone}"))
    }

    async fn output(&self, id: &str, terminal: &str) -> Result<String, acp::Error> {
        let request = v1::TerminalOutputRequest::new(id.to_owned(), terminal.to_owned());
        let connection = self.editor.connection();
        let output = connection.send_request(request).block_task().await?;
        Ok(output.output)
    }

    /// Writes a file below the folder by its own means, without a method of the protocol.
    fn touch(&self, id: &str, name: &str) -> Result<(), RequestRefusal> {
        let call = CallUpdate {
            title: Some(format!("touch {name}")),
            kind: Some(CallKind::Execute),
            state: Some(CallStatus::Running),
            input: Some(serde_json::json!({ "command": format!("touch {name}") })),
            ..CallUpdate::new(format!("touch-{name}"))
        };
        self.tell(id, Update::Call(call));
        #[expect(clippy::disallowed_methods, reason = "the agent's own tool")]
        let written = std::fs::write(self.folder.join(name), "by its own tool\n");
        written.map_err(|error| RequestRefusal::Failed(error.to_string()))?;
        let done = CallUpdate {
            state: Some(CallStatus::Done),
            ..CallUpdate::new(format!("touch-{name}"))
        };
        self.tell(id, Update::Call(done));
        Ok(())
    }

    fn show(&self, id: &str) {
        self.tell(id, said(Voice::Thought, "let me see"));
        let item = PlanItem {
            text: "look".to_owned(),
            state: PlanState::Doing,
            is_urgent: true,
        };
        self.tell(id, Update::Plan(vec![item]));
        let call = CallUpdate {
            title: Some("edit a.txt".to_owned()),
            kind: Some(CallKind::Edit),
            state: Some(CallStatus::Running),
            places: Some(vec![CallLocation {
                path: self.folder.join("a.txt"),
                line: Some(3),
            }]),
            input: Some(serde_json::json!({ "path": "a.txt" })),
            ..CallUpdate::new("c2")
        };
        self.tell(id, Update::Call(call));
        let done = CallUpdate {
            state: Some(CallStatus::Done),
            content: Some(vec![
                CallContent::Diff {
                    path: self.folder.join("a.txt"),
                    old: Some("one".to_owned()),
                    new: "two".to_owned(),
                },
                CallContent::Piece(MessageContent::Text("done".to_owned())),
            ]),
            ..CallUpdate::new("c2")
        };
        self.tell(id, Update::Call(done));
        let command = SlashCommand {
            name: "review".to_owned(),
            description: "Looks at the changes.".to_owned(),
            hint: Some("what to look at".to_owned()),
        };
        self.tell(id, Update::Commands(vec![command]));
        self.tell(id, Update::Mode("plan".to_owned()));
        self.tell(id, Update::Options(options(&self.model)));
        self.tell(id, Update::Title(Some("A title".to_owned())));
        let usage = ContextUsage {
            used: 10,
            size: 100,
            cost: Some((0.5, "USD".to_owned())),
        };
        self.tell(id, Update::Usage(usage));
        let notice = Update::Notice {
            is_warning: true,
            text: "slow today".to_owned(),
        };
        self.tell(id, notice);
        let compaction = |is_over, summary: Option<&str>| Update::Compaction {
            id: "k".to_owned(),
            is_over,
            summary: summary.map(str::to_owned),
        };
        self.tell(id, compaction(false, None));
        self.tell(id, compaction(false, Some("in short")));
        self.tell(id, compaction(true, None));
        self.tell(id, said(Voice::Agent, "all shown"));
    }
}
