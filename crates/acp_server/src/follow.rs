//! The task that follows one session: forwards its events to the editor and carries its questions
//! and the answers.
//!
//! Invariant: every update of a turn is sent before the turn's end.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use agent::record::{SessionRecord, TurnEnd};
use agent::session::{AgentEvent, SessionCommand};
use agent::user_prompts::UserQuestion;
use connect::acp::agent::PermissionOutcome;
use connect::acp::protocol::{self, CallContent, CallStatus, CallUpdate, MessageContent, Update};
use runtime::live_sessions::through_subagents;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, sleep_until};

use crate::permissions;
use crate::session::{AcpSession, Awaited};
use crate::update_mapper::{UpdateMapper, child_call};

/// The interval at which buffered command output is sent.
const GATHERED: Duration = Duration::from_millis(100);

/// The state that the follower task owns.
struct Follower {
    session: Arc<AcpSession>,
    mapper: UpdateMapper,
    /// The pending requests to the editor; dropping them cancels them.
    requests: JoinSet<()>,
    /// The pending permission requests, by the ids of their calls.
    about: HashMap<String, AbortHandle>,
    /// Whether the conversation was compacted since the last request to compact it.
    was_compacted: bool,
}

/// Follows a session until its events end: sends its updates to the editor, asks the editor the
/// session's questions, and ends the prompts that wait for the session.
pub(crate) async fn follow(
    live: Arc<AcpSession>,
    mut events: mpsc::Receiver<AgentEvent>,
    mapper: UpdateMapper,
) {
    let mut follower = Follower {
        session: live,
        mapper,
        requests: JoinSet::new(),
        about: HashMap::new(),
        was_compacted: false,
    };
    let mut due: Option<Instant> = None;
    loop {
        let gathered = async {
            match due {
                Some(due) => sleep_until(due).await,
                None => std::future::pending().await,
            }
        };
        let event = tokio::select! {
            biased;
            () = gathered => {
                due = None;
                let held = follower.mapper.flush_output();
                held.into_iter().for_each(|update| follower.session.send_update(update));
                continue;
            }
            event = events.recv() => event,
        };
        let Some(event) = event else {
            break;
        };
        follower.on_event(&event);
        due = if follower.mapper.has_pending_output() {
            due.or_else(|| Some(Instant::now() + GATHERED))
        } else {
            None
        };
        if matches!(event, AgentEvent::Closed) {
            break;
        }
    }
    follower.session.on_session_end();
}

impl Follower {
    fn on_event(&mut self, event: &AgentEvent) {
        for update in self.mapper.on_event(event) {
            self.session.send_update(update);
        }
        self.track_requests(event, Vec::new());
        match event {
            AgentEvent::Recorded(stored) => {
                self.was_compacted |= matches!(stored.record, SessionRecord::Compacted { .. });
            }
            AgentEvent::Compacting { is_over: true } => self.compacted(),
            AgentEvent::Idle(end) => {
                self.requests.abort_all();
                self.about.clear();
                self.session.finish_awaited(Awaited::Turn, to_turn_end(end));
            }
            _ => {}
        }
        while self.requests.try_join_next().is_some() {}
    }

    /// Reports a requested compaction as text, since no model message mentions it.
    fn compacted(&mut self) {
        let became_shorter = std::mem::take(&mut self.was_compacted);
        if self.session.awaited() == Some(Awaited::Compaction) {
            self.session.send_text(if became_shorter {
                "The conversation was compacted."
            } else {
                "There is nothing to compact."
            });
            self.session
                .finish_awaited(Awaited::Compaction, protocol::PromptStop::Done);
        }
    }

    /// Tracks permission requests and questions, here and in subagents.
    fn track_requests(&mut self, event: &AgentEvent, mut path: Vec<Arc<str>>) {
        match event {
            AgentEvent::Child { session, event } => {
                path.push(session.clone());
                self.track_requests(event, path);
            }
            AgentEvent::Recorded(stored) => match &stored.record {
                SessionRecord::LeaveAsked {
                    call,
                    title,
                    details,
                    reason,
                    rules,
                } => {
                    let asked = permissions::PermissionPrompt {
                        title,
                        details,
                        reason,
                        input: self.mapper.input(&id_of(call, &path)),
                    };
                    self.ask_permission(call, &asked, rules, path);
                }
                SessionRecord::CallEnded { call, .. } => {
                    // Another view of the session has decided on the user's behalf.
                    if let Some(asking) = self.about.remove(&id_of(call, &path)) {
                        asking.abort();
                    }
                }
                _ => {}
            },
            AgentEvent::Asking { number, question } => self.ask(*number, question.clone(), path),
            _ => {}
        }
    }

    fn ask_permission(
        &mut self,
        call: &str,
        asked: &permissions::PermissionPrompt<'_>,
        rules: &[String],
        path: Vec<Arc<str>>,
    ) {
        let id = id_of(call, &path);
        let asked = permissions::permission_call(id.clone(), asked, self.mapper.kind(&id));
        let (live, call) = (self.session.clone(), call.to_owned());
        let choices = permissions::permission_choices(rules);
        let asking = self.requests.spawn(async move {
            let chosen = live.editor.ask(&live.id, asked, choices).await;
            if chosen == PermissionOutcome::Cancelled {
                return live.stop();
            }
            let decision = permissions::decision(chosen.answer());
            let decide = SessionCommand::Decide { call, decision };
            // A session that has ended needs no decision.
            live.commands()
                .send(through_subagents(path, decide))
                .await
                .ok();
        });
        self.about.insert(id, asking);
    }

    fn ask(&mut self, number: u64, question: UserQuestion, path: Vec<Arc<str>>) {
        let live = self.session.clone();
        let reply = move |text| {
            let reply = SessionCommand::Reply {
                question: number,
                text,
            };
            through_subagents(path.clone(), reply)
        };
        if question.options.is_empty() {
            live.send_update(Update::Notice {
                is_warning: true,
                text: format!(
                    "The agent asks: {} Only questions with answers to choose from can be asked here, so it decides \
                     by itself.",
                    question.text
                ),
            });
            self.requests.spawn(async move {
                // A session that has ended needs no reply.
                live.commands().send(reply(None)).await.ok();
            });
            return;
        }
        let running = self.mapper.running("ask_user");
        let own = running.unwrap_or_else(|| format!("question {number}"));
        let call = permissions::question_call(own, &question);
        self.requests.spawn(async move {
            live.send_update(Update::Call(call.clone()));
            let id = call.id.clone();
            let choices = permissions::reply_choices(&question);
            let chosen = live.editor.ask(&live.id, call, choices).await;
            if chosen == PermissionOutcome::Cancelled {
                return live.stop();
            }
            let text = permissions::reply(&question, chosen.answer());
            live.send_update(Update::Call(answered(id, text.as_deref())));
            live.commands().send(reply(text)).await.ok();
        });
    }
}

/// A question that was answered.
fn answered(id: String, text: Option<&str>) -> CallUpdate {
    let text = text.unwrap_or("The agent is to decide.").to_owned();
    CallUpdate {
        state: Some(CallStatus::Done),
        content: Some(vec![CallContent::Piece(MessageContent::Text(text))]),
        ..CallUpdate::new(id)
    }
}

/// The id under which the editor knows a call.
fn id_of(call: &str, path: &[Arc<str>]) -> String {
    match path.last() {
        Some(session) => child_call(session, call),
        None => call.to_owned(),
    }
}

/// Maps the end of a turn to the protocol; an end that the user must know about becomes a failure.
fn to_turn_end(end: &TurnEnd) -> protocol::PromptStop {
    match end {
        TurnEnd::Done => protocol::PromptStop::Done,
        TurnEnd::Stopped => protocol::PromptStop::Stopped,
        TurnEnd::Refused => protocol::PromptStop::Refused,
        TurnEnd::Looped { what } => {
            protocol::PromptStop::Failed(format!("the agent repeated itself: {what}"))
        }
        TurnEnd::OutOfBudget { what } | TurnEnd::Failed { what, .. } => {
            protocol::PromptStop::Failed(what.clone())
        }
        TurnEnd::Interrupted => protocol::PromptStop::Failed("the turn broke off".to_owned()),
    }
}
