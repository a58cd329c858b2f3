//! The task beside a session: passes on what it tells, and carries its questions to the editor and the answers back.
//!
//! Invariant: what is told during a turn is told before its end is.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use agent::ask::Question;
use agent::record::{Record, TurnEnd};
use agent::session::{Command, Event};
use connect::acp::agent::PermissionOutcome;
use connect::acp::words::{self, CallContent, CallState, CallUpdate, Piece, Update};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, sleep_until};

use super::asking;
use super::live::{Awaited, Live};
use super::teller::{Teller, child_call};
use crate::run::person::through;

/// How long output is gathered before it is told.
const GATHERED: Duration = Duration::from_millis(100);

/// What the task owns.
struct Follower {
    live: Arc<Live>,
    teller: Teller,
    /// Questions that the editor was asked; dropping them takes them back.
    asking: JoinSet<()>,
    /// Those about calls, by the calls' ids.
    about: HashMap<String, AbortHandle>,
    /// Whether the conversation became shorter since that was asked for.
    was_compacted: bool,
}

/// Follows a session to its end.
pub(super) async fn follow(live: Arc<Live>, mut events: mpsc::Receiver<Event>, teller: Teller) {
    let mut follower = Follower {
        live,
        teller,
        asking: JoinSet::new(),
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
                let held = follower.teller.held();
                held.into_iter().for_each(|update| follower.live.tell(update));
                continue;
            }
            event = events.recv() => event,
        };
        let Some(event) = event else {
            break;
        };
        follower.take(&event);
        due = match follower.teller.has_held() {
            true => due.or_else(|| Some(Instant::now() + GATHERED)),
            false => None,
        };
        if matches!(event, Event::Closed) {
            break;
        }
    }
    follower.live.gone();
}

impl Follower {
    fn take(&mut self, event: &Event) {
        for update in self.teller.hear(event) {
            self.live.tell(update);
        }
        self.look(event, Vec::new());
        match event {
            Event::Recorded(stored) => {
                self.was_compacted |= matches!(stored.record, Record::Compacted { .. });
            }
            Event::Compacting { is_over: true } => self.compacted(),
            Event::Idle(end) => {
                self.asking.abort_all();
                self.about.clear();
                self.live.ended(Awaited::Turn, end_of(end));
            }
            _ => {}
        }
        while self.asking.try_join_next().is_some() {}
    }

    /// What was asked for by itself is answered in words, since no model says anything about it.
    fn compacted(&mut self) {
        let became_shorter = std::mem::take(&mut self.was_compacted);
        if self.live.awaited() == Some(Awaited::Compaction) {
            self.live.say(match became_shorter {
                true => "The conversation is shorter now.",
                false => "There is nothing that could be made shorter.",
            });
            self.live.ended(Awaited::Compaction, words::TurnEnd::Done);
        }
    }

    /// Notices what is asked, here or in subagents.
    fn look(&mut self, event: &Event, mut path: Vec<Arc<str>>) {
        match event {
            Event::Child { session, event } => {
                path.push(session.clone());
                self.look(event, path);
            }
            Event::Recorded(stored) => match &stored.record {
                Record::LeaveAsked {
                    call,
                    title,
                    details,
                    reason,
                    rules,
                } => {
                    let asked = asking::Asked {
                        title,
                        details,
                        reason,
                        input: self.teller.input(&id_of(call, &path)),
                    };
                    self.ask_leave(call, &asked, rules, path);
                }
                Record::CallEnded { call, .. } => {
                    // Whoever else decided did it for the person.
                    if let Some(asking) = self.about.remove(&id_of(call, &path)) {
                        asking.abort();
                    }
                }
                _ => {}
            },
            Event::Asking { number, question } => self.ask(*number, question.clone(), path),
            _ => {}
        }
    }

    fn ask_leave(
        &mut self,
        call: &str,
        asked: &asking::Asked<'_>,
        rules: &[String],
        path: Vec<Arc<str>>,
    ) {
        let id = id_of(call, &path);
        let asked = asking::leave_call(id.clone(), asked, self.teller.kind(&id));
        let (live, call) = (self.live.clone(), call.to_owned());
        let choices = asking::leave_choices(rules);
        let asking = self.asking.spawn(async move {
            let chosen = live.editor.ask(&live.id, asked, choices).await;
            if chosen == PermissionOutcome::Cancelled {
                return live.stop();
            }
            let decision = asking::decision(chosen.answer());
            let decide = Command::Decide { call, decision };
            // A session that has ended needs no decision.
            live.commands().send(through(path, decide)).await.ok();
        });
        self.about.insert(id, asking);
    }

    fn ask(&mut self, number: u64, question: Question, path: Vec<Arc<str>>) {
        let live = self.live.clone();
        let reply = move |text| {
            let reply = Command::Reply {
                question: number,
                text,
            };
            through(path.clone(), reply)
        };
        if question.options.is_empty() {
            live.tell(Update::Notice {
                is_warning: true,
                text: format!(
                    "The agent asks: {} Only questions with answers to choose from can be asked here, so it decides \
                     by itself.",
                    question.text
                ),
            });
            self.asking.spawn(async move {
                // A session that has ended needs no answer.
                live.commands().send(reply(None)).await.ok();
            });
            return;
        }
        let running = self.teller.running("ask_user");
        let own = running.unwrap_or_else(|| format!("question {number}"));
        let call = asking::question_call(own, &question);
        self.asking.spawn(async move {
            live.tell(Update::Call(call.clone()));
            let id = call.id.clone();
            let choices = asking::reply_choices(&question);
            let chosen = live.editor.ask(&live.id, call, choices).await;
            if chosen == PermissionOutcome::Cancelled {
                return live.stop();
            }
            let text = asking::reply(&question, chosen.answer());
            live.tell(Update::Call(answered(id, text.as_deref())));
            live.commands().send(reply(text)).await.ok();
        });
    }
}

/// A question that was answered.
fn answered(id: String, text: Option<&str>) -> CallUpdate {
    let text = text.unwrap_or("The agent is to decide.").to_owned();
    CallUpdate {
        state: Some(CallState::Done),
        content: Some(vec![CallContent::Piece(Piece::Text(text))]),
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

/// How a turn ended, in the words of the protocol. What a person has to know of it is told as a failure.
fn end_of(end: &TurnEnd) -> words::TurnEnd {
    match end {
        TurnEnd::Done => words::TurnEnd::Done,
        TurnEnd::Stopped => words::TurnEnd::Stopped,
        TurnEnd::Refused => words::TurnEnd::Refused,
        TurnEnd::Looped { what } => {
            words::TurnEnd::Failed(format!("the agent went in circles: {what}"))
        }
        TurnEnd::OutOfBudget { what } | TurnEnd::Failed { what, .. } => {
            words::TurnEnd::Failed(what.clone())
        }
        TurnEnd::Interrupted => words::TurnEnd::Failed("the turn broke off".to_owned()),
    }
}
