//! A run with an agent of another machine: the session belongs to the background process there, and this
//! command shows it.
//!
//! Invariant: the end of this command, or of its connection, does not end the session.

use std::process::ExitCode;

use agent::SessionCommand;
use agent::record::{SessionMode, SessionRecord, TurnEnd};
use agent::session::AgentEvent;
use agent_service::{AgentService as _, NewSession, SessionConnection};
use futures::StreamExt as _;
use futures::stream::BoxStream;
use host::Dirs;
use serde_json::json;
use tokio::sync::mpsc;

use super::show::{EventPrinter, OutputFormat, print_json_line};
use super::terminal_ui::TerminalUi;
use super::{exit_code, prompt};
use crate::machine::MachineAgents;
use crate::{Streams, error_text, print_notice, write_error};

/// Number of commands that wait for the connection; the user sends few.
const COMMANDS: usize = 64;

/// A run on another machine.
pub(super) struct MachineRun<'a> {
    /// Name of the machine in the settings.
    pub(super) machine: &'a str,
    /// The task; `None` only shows a session.
    pub(super) task: Option<String>,
    /// The model of a new session, or for the rest of an earlier one.
    pub(super) model: Option<&'a str>,
    /// The earlier session.
    pub(super) resume: Option<&'a str>,
    pub(super) is_plan: bool,
    pub(super) form: OutputFormat,
}

impl MachineRun<'_> {
    /// Starts or opens the session, sends the task and prints the events until its turn ends. Returns an
    /// exit code for the end of the turn.
    pub(super) async fn perform(
        self,
        dirs: &Dirs,
        streams: &mut Streams<'_>,
    ) -> Result<ExitCode, String> {
        let far = MachineAgents::find(dirs, self.machine)?;
        let mut problems = far.agents.link_problems();
        let mut session = self.connect(&far).await?;
        for notice in &session.notices {
            print_notice(streams, notice);
        }
        let mut printer = EventPrinter::new(self.form, false);
        if self.form == OutputFormat::Json {
            let root = session.root.as_path().to_string_lossy();
            let line = json!({ "event": "session", "id": session.id, "root": root, "machine": self.machine });
            print_json_line(streams, &line).map_err(write_error)?;
        }
        self.begin(&session);
        let end = self
            .follow(&mut session, &mut problems, &mut printer, streams)
            .await?;
        let resumed = format!("{} --machine {}", session.id, self.machine);
        printer
            .print_turn_end(&resumed, &end, streams)
            .map_err(write_error)?;
        Ok(exit_code(&end))
    }

    async fn connect(&self, far: &MachineAgents) -> Result<SessionConnection, String> {
        let root = far.folder.clone();
        if let Some(id) = self.resume {
            let opened = far.agents.open(root, id.to_owned()).await;
            return opened.map_err(error_text);
        }
        let model = match self.model {
            Some(model) => model.to_owned(),
            None => {
                let models = far.agents.models().await;
                if models.models.is_empty() && !models.advice.is_empty() {
                    return Err(models.advice);
                }
                models.default
            }
        };
        let mode = if self.is_plan {
            SessionMode::Plan
        } else {
            SessionMode::Build
        };
        let started = far.agents.start(NewSession { root, model, mode });
        started.await.map_err(error_text)
    }

    /// Sends what the user asked for.
    fn begin(&self, session: &SessionConnection) {
        let Some(task) = &self.task else {
            return;
        };
        if self.resume.is_some() && self.is_plan {
            (session.send)(SessionCommand::SetMode(SessionMode::Plan));
        }
        if let (Some(_), Some(model)) = (self.resume, self.model) {
            (session.send)(SessionCommand::Switch {
                model: model.to_owned(),
                how: agent::record::Handover::Full,
            });
        }
        (session.send)(prompt(task.clone()));
    }

    /// Prints the events until the turn of the task ends; without a task, the past, and the turn that
    /// runs.
    async fn follow(
        &self,
        session: &mut SessionConnection,
        problems: &mut BoxStream<'static, Option<String>>,
        printer: &mut EventPrinter,
        streams: &mut Streams<'_>,
    ) -> Result<TurnEnd, String> {
        let (sender, mut commands) = mpsc::channel(COMMANDS);
        let mut ui = TerminalUi::new(sender, self.form, true);
        let mut progress = TurnProgress::new(session.past, self.task.is_some());
        let mut asked = Vec::new();
        loop {
            let event = tokio::select! {
                event = session.events.next() => event,
                Some(command) = commands.recv() => {
                    (session.send)(command);
                    continue;
                }
                command = ui.next(streams) => {
                    (session.send)(command);
                    continue;
                }
                Some(problem) = problems.next() => {
                    if let Some(problem) = problem {
                        print_notice(streams, &problem);
                    }
                    continue;
                }
            };
            let Some(event) = event.filter(|event| !matches!(event, AgentEvent::Closed)) else {
                return Err("the session ended without saying how".to_owned());
            };
            if let AgentEvent::GivenBack(prompt) = &event {
                return Err(format!(
                    "the agent did not get the task; send it again: {}",
                    prompt.text
                ));
            }
            let is_new = progress.apply(&event);
            if is_new || self.task.is_none() {
                printer.print_event(&event, streams).map_err(write_error)?;
            }
            if is_new {
                ui.on_event(&event, streams);
            } else {
                note_asked(&mut asked, event);
            }
            if progress.past.is_none() {
                asked
                    .drain(..)
                    .for_each(|event| ui.on_event(&event, streams));
            }
            if let Some(end) = progress.end() {
                return Ok(end);
            }
        }
    }
}

/// Keeps the calls of the past that still wait for a decision.
fn note_asked(asked: &mut Vec<AgentEvent>, event: AgentEvent) {
    let AgentEvent::Recorded(stored) = &event else {
        return;
    };
    match &stored.record {
        SessionRecord::LeaveAsked { .. } => asked.push(event),
        SessionRecord::CallEnded { call: ended, .. } => asked.retain(|event| match event {
            AgentEvent::Recorded(stored) => !matches!(
                &stored.record,
                SessionRecord::LeaveAsked { call, .. } if call == ended
            ),
            _ => true,
        }),
        SessionRecord::TurnEnded { .. } => asked.clear(),
        _ => {}
    }
}

/// The way of a session from its past to the end of the turn that is waited for.
struct TurnProgress {
    /// The latest record of the past that did not come yet.
    past: Option<u64>,
    /// The turn whose end is waited for, once it is known.
    turn: Option<u64>,
    /// Whether the turn is still to begin.
    is_task_sent: bool,
    latest_end: Option<(u64, TurnEnd)>,
}

impl TurnProgress {
    fn new(past: Option<u64>, is_task_sent: bool) -> Self {
        Self {
            past,
            turn: None,
            is_task_sent,
            latest_end: None,
        }
    }

    /// Follows an event. Returns whether it is news for the user: not from the past, unless its turn still
    /// runs.
    fn apply(&mut self, event: &AgentEvent) -> bool {
        let AgentEvent::Recorded(stored) = event else {
            return self.past.is_none();
        };
        let is_past = self.past.is_some_and(|past| stored.seq <= past);
        match &stored.record {
            SessionRecord::Prompted {
                turn,
                is_steering: false,
                ..
            } if !self.is_task_sent || !is_past => {
                self.turn = Some(self.turn.unwrap_or(*turn).max(*turn))
            }
            SessionRecord::TurnEnded { turn, end } => self.latest_end = Some((*turn, end.clone())),
            _ => {}
        }
        if self.past.is_some_and(|past| stored.seq >= past) {
            self.past = None;
        }
        !is_past
    }

    /// Returns how the turn ended, once it has.
    fn end(&self) -> Option<TurnEnd> {
        if self.past.is_some() {
            return None;
        }
        let (ended, end) = self.latest_end.as_ref()?;
        let turn = self.turn.or((!self.is_task_sent).then_some(*ended))?;
        (*ended >= turn).then(|| end.clone())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use agent::Stored;

    use super::*;

    fn record(seq: u64, record: SessionRecord) -> AgentEvent {
        AgentEvent::Recorded(Arc::new(Stored {
            seq,
            at_ms: 0,
            record,
        }))
    }

    fn prompted(seq: u64, turn: u64) -> AgentEvent {
        let is_steering = false;
        let parts = Vec::new();
        record(
            seq,
            SessionRecord::Prompted {
                turn,
                parts,
                is_steering,
            },
        )
    }

    fn ended(seq: u64, turn: u64) -> AgentEvent {
        let end = TurnEnd::Done;
        record(seq, SessionRecord::TurnEnded { turn, end })
    }

    /// Returns the number of events after which the progress ends.
    fn length(past: Option<u64>, is_task_sent: bool, events: &[AgentEvent]) -> Option<usize> {
        let mut progress = TurnProgress::new(past, is_task_sent);
        let mut ends = events.iter().map(|event| {
            progress.apply(event);
            progress.end().is_some()
        });
        ends.position(|is_end| is_end).map(|at| at + 1)
    }

    #[test]
    fn a_run_ends_with_the_turn_of_its_task() {
        let new = [prompted(1, 1), ended(2, 1)];
        assert_eq!(length(None, true, &new), Some(2));
        let again = [prompted(1, 1), ended(2, 1), prompted(3, 2), ended(4, 2)];
        assert_eq!(length(Some(2), true, &again), Some(4));
        // The turn that ran when the task came ends first.
        assert_eq!(length(Some(1), true, &again), Some(4));
        // Without a task, the end of the turn that runs.
        assert_eq!(length(Some(2), false, &again), Some(2));
        assert_eq!(length(Some(1), false, &again), Some(2));
        assert_eq!(length(Some(3), false, &again), Some(4));
    }
}
