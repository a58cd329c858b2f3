//! An agent that does what its prompt says: for tests of both sides of the protocol.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use connect::acp::agent::{About, Editor, Engine, Listed, Opened, Refusal, Replay, Wanted};
use connect::acp::words::{
    CallContent, CallKind, CallState, CallUpdate, Chosen, ConfigOption, LeaveChoice, LeaveKind,
    Mode, Modes, OptionAbout, OptionValue, Piece, Place, PlanItem, PlanState, SessionInfo,
    SlashCommand, TurnEnd, Update, Usage, Voice,
};
use futures::future::{BoxFuture, ready};
use tokio::sync::watch;

/// The agent.
#[derive(Clone, Default)]
pub struct Echo {
    sessions: Arc<Mutex<HashMap<String, Session>>>,
}

#[derive(Clone)]
struct Session {
    editor: Editor,
    folder: PathBuf,
    servers: usize,
    model: String,
    stop: watch::Sender<bool>,
}

fn value(id: &str) -> Mode {
    Mode {
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

impl Echo {
    fn begin(&self, id: &str, wanted: Wanted, editor: Editor) -> Opened {
        let (stop, _) = watch::channel(false);
        let title = Update::Title(Some("Not asked yet".to_owned()));
        let after = match wanted.folder.ends_with("titled") {
            true => vec![title],
            false => Vec::new(),
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
        Opened {
            session: id.to_owned(),
            modes: Some(Modes {
                all: vec![value("build"), value("plan")],
                now: "build".to_owned(),
            }),
            options: options("small"),
            after,
        }
    }

    fn session(&self, id: &str) -> Result<Session, Refusal> {
        let found = self.sessions.lock().expect("a lock").get(id).cloned();
        found.ok_or_else(|| Refusal::NotThere(format!("there is no session {id}")))
    }
}

fn said(voice: Voice, text: &str) -> Update {
    Update::Said {
        voice,
        id: Some("m1".to_owned()),
        piece: Piece::Text(text.to_owned()),
    }
}

impl Engine for Echo {
    fn about(&self) -> About {
        About {
            name: "echo".to_owned(),
            title: "Echo".to_owned(),
            version: "1".to_owned(),
            sees: true,
            roams: true,
        }
    }

    fn open(&self, wanted: Wanted, editor: Editor) -> BoxFuture<'static, Result<Opened, Refusal>> {
        let count = self.sessions.lock().expect("a lock").len();
        let opened = match std::env::var_os("ECHO_WANTS_SIGN_IN") {
            Some(_) => Err(Refusal::NeedsPerson("sign in first".to_owned())),
            None => Ok(self.begin(&format!("s{count}"), wanted, editor)),
        };
        Box::pin(ready(opened))
    }

    fn reopen(
        &self,
        session: String,
        wanted: Wanted,
        replay: Replay,
        editor: Editor,
    ) -> BoxFuture<'static, Result<Opened, Refusal>> {
        if session == "unknown" {
            let refusal = Refusal::NotThere("there is no session unknown".to_owned());
            return Box::pin(ready(Err(refusal)));
        }
        if replay == Replay::All {
            editor.tell(&session, said(Voice::Person, "an old question"));
            editor.tell(&session, said(Voice::Agent, "an old answer"));
        }
        let opened = self.begin(&session, wanted, editor);
        Box::pin(ready(Ok(opened)))
    }

    fn list(
        &self,
        folder: Option<PathBuf>,
        _: Option<String>,
    ) -> BoxFuture<'static, Result<Listed, Refusal>> {
        let session = SessionInfo {
            id: "old".to_owned(),
            folder: folder.unwrap_or_else(|| PathBuf::from("/")),
            title: Some("An old one".to_owned()),
            updated: Some("2026-01-01T00:00:00Z".to_owned()),
        };
        let listed = Listed {
            sessions: vec![session],
            cursor: None,
        };
        Box::pin(ready(Ok(listed)))
    }

    fn prompt(
        &self,
        id: String,
        prompt: Vec<Piece>,
    ) -> BoxFuture<'static, Result<TurnEnd, Refusal>> {
        let session = self.session(&id);
        if let Ok(session) = &session {
            // Before the future: a cancellation may come before that is looked at.
            session.stop.send_replace(false);
        }
        Box::pin(async move {
            let session = session?;
            let text: String = prompt.iter().map(Piece::text).collect();
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

    fn set_mode(&self, session: String, mode: String) -> BoxFuture<'static, Result<(), Refusal>> {
        let known = self.session(&session).map(|_| ());
        let known = known.and_then(|()| match mode.as_str() {
            "build" | "plan" => Ok(()),
            _ => Err(Refusal::Invalid(format!("there is no mode {mode}"))),
        });
        Box::pin(ready(known))
    }

    fn set_option(
        &self,
        session: String,
        option: String,
        chosen: Chosen,
    ) -> BoxFuture<'static, Result<Vec<ConfigOption>, Refusal>> {
        let mut sessions = self.sessions.lock().expect("a lock");
        let set = match (sessions.get_mut(&session), option.as_str(), chosen) {
            (Some(session), "model", Chosen::One(model)) => {
                session.model = model;
                Ok(options(&session.model))
            }
            _ => Err(Refusal::Invalid(format!("there is no option {option}"))),
        };
        Box::pin(ready(set))
    }

    fn close(&self, session: String) -> BoxFuture<'static, Result<(), Refusal>> {
        self.sessions.lock().expect("a lock").remove(&session);
        Box::pin(ready(Ok(())))
    }
}

impl Session {
    fn tell(&self, id: &str, update: Update) {
        self.editor.tell(id, update);
    }

    async fn perform(&self, id: &str, verb: &str, rest: &str) -> Result<TurnEnd, Refusal> {
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
            "hang" => {
                let mut stop = self.stop.subscribe();
                stop.wait_for(|stop| *stop)
                    .await
                    .expect("the session lives");
                return Ok(TurnEnd::Stopped);
            }
            "deaf" => std::future::pending().await,
            "fail" => return Ok(TurnEnd::Failed(rest.to_owned())),
            "refuse" => return Ok(TurnEnd::Refused),
            "die" => {
                eprintln!("the disk is full");
                std::process::exit(9);
            }
            _ => return Err(Refusal::Invalid(format!("{verb} is not known"))),
        }
        Ok(TurnEnd::Done)
    }

    async fn ask(&self, id: &str) -> Option<String> {
        let call = CallUpdate {
            title: Some("rm -rf build".to_owned()),
            kind: Some(CallKind::Execute),
            state: Some(CallState::Pending),
            ..CallUpdate::new("c1")
        };
        self.tell(id, Update::Call(call.clone()));
        let choice = |id: &str, kind| LeaveChoice {
            id: id.to_owned(),
            name: id.to_owned(),
            kind,
        };
        let choices = vec![
            choice("yes", LeaveKind::AllowOnce),
            choice("always", LeaveKind::AllowAlways),
            choice("no", LeaveKind::RejectOnce),
        ];
        let chosen = self.editor.ask(id, call, choices).await;
        chosen.answer().map(str::to_owned)
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
            state: Some(CallState::Running),
            places: Some(vec![Place {
                path: self.folder.join("a.txt"),
                line: Some(3),
            }]),
            input: Some(serde_json::json!({ "path": "a.txt" })),
            ..CallUpdate::new("c2")
        };
        self.tell(id, Update::Call(call));
        let done = CallUpdate {
            state: Some(CallState::Done),
            content: Some(vec![
                CallContent::Diff {
                    path: self.folder.join("a.txt"),
                    old: Some("one".to_owned()),
                    new: "two".to_owned(),
                },
                CallContent::Piece(Piece::Text("done".to_owned())),
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
        let usage = Usage {
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
