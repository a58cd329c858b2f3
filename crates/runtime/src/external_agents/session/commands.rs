//! The commands of the user to a session of an external agent.

use std::time::Duration;

use agent::record::TurnEnd;
use agent::session::{QueueCommand, SessionCommand, UserPrompt};
use agent::user_prompts::PermissionDecision;
use agent::{AgentEvent, SessionRecord};
use connect::acp::host::HostedAgentCommand;
use connect::acp::protocol::PromptStop;

use super::{HostedSession, UserAnswer};
use crate::Error;
use crate::external_agents::sign_in::SignInAnswer;

/// The time that an agent has to end after its session was closed.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(12);

impl HostedSession {
    pub(super) async fn on_command(&mut self, command: SessionCommand) -> Result<(), Error> {
        match command {
            SessionCommand::Prompt(prompt)
            | SessionCommand::Steer(prompt)
            | SessionCommand::Queue(QueueCommand::Add { prompt, .. }) => {
                self.queue.push_back(prompt);
                self.begin_next_turn().await
            }
            SessionCommand::Decide { call, decision } => self.decide(&call, decision).await,
            SessionCommand::Reply { question, text } => {
                if let Some(answer) = self.questions.remove(&question) {
                    // A form that was cancelled meanwhile needs no answer.
                    answer.send(text).ok();
                }
                Ok(())
            }
            SessionCommand::Stop => self.stop().await,
            SessionCommand::SetOption { option, value } => self.set_option(&option, &value).await,
            SessionCommand::Compact if self.offer.has_command("compact") => {
                self.queue.push_back(UserPrompt {
                    text: "/compact".to_owned(),
                    images: Vec::new(),
                });
                self.begin_next_turn().await
            }
            SessionCommand::Compact => {
                let name = &self.parts.agent.name;
                let text = format!("{name} has no command that compacts its conversation.");
                self.note(text).await
            }
            SessionCommand::Switch { .. }
            | SessionCommand::SetMode(_)
            | SessionCommand::SetEffort(_) => {
                let name = &self.parts.agent.name;
                let text = format!(
                    "{name} has its own models and modes: the menu Agents lists them under \u{201c}Option of the external \
                     agent\u{201d}."
                );
                self.note(text).await
            }
            SessionCommand::Pin { .. } => {
                let name = &self.parts.agent.name;
                let text =
                    format!("{name} keeps its conversation itself, so that nothing can be pinned.");
                self.note(text).await
            }
            // The summaries of an external agent are its own.
            SessionCommand::EditSummary { .. }
            | SessionCommand::Queue(_)
            | SessionCommand::Child { .. }
            | SessionCommand::Close => Ok(()),
        }
    }

    /// Answers a permission request. Unknown calls are ignored.
    async fn decide(&mut self, call: &str, decision: PermissionDecision) -> Result<(), Error> {
        let Some(request) = self.requests.remove(call) else {
            return Ok(());
        };
        self.write(vec![SessionRecord::LeaveGiven {
            call: call.to_owned(),
            decision: decision.clone(),
        }])
        .await?;
        self.tell(HostedAgentCommand::Decide {
            number: request.number,
            choice: request.choice(&decision),
        })
        .await;
        Ok(())
    }

    /// Stops the running turn and gives the waiting prompts back. Without a turn, the session ends
    /// what it was about to do.
    async fn stop(&mut self) -> Result<(), Error> {
        self.give_back_queue().await;
        self.questions.clear();
        if self.running.is_some() {
            self.is_stopping = true;
            self.tell(HostedAgentCommand::Stop).await;
        } else {
            self.emit(AgentEvent::Idle(TurnEnd::Stopped)).await;
        }
        Ok(())
    }

    /// Sets an option of the agent. Its answer changes the offer.
    async fn set_option(&mut self, option: &str, value: &str) -> Result<(), Error> {
        if !self.is_ready {
            // It is set as soon as the agent's session begins.
            match self.earlier.iter_mut().find(|it| it.id == option) {
                Some(earlier) => value.clone_into(&mut earlier.now),
                None => log::debug!("the option {option} is not known yet"),
            }
            return Ok(());
        }
        match self.offer.command_for(option, value) {
            Some(command) => {
                self.tell(command).await;
                Ok(())
            }
            None => {
                let name = &self.parts.agent.name;
                let text = format!("{name} does not offer the value {value} any more.");
                self.note(text).await
            }
        }
    }

    pub(super) async fn on_answer(&mut self, answer: UserAnswer) -> Result<(), Error> {
        match answer {
            UserAnswer::Filled(command) => self.tell(command).await,
            UserAnswer::SignIn(SignInAnswer::Method(sign_in)) => {
                self.show_waiting(format!("Signing in to {}.", self.parts.agent.name));
                self.tell(HostedAgentCommand::SignIn(sign_in)).await;
            }
            UserAnswer::SignIn(SignInAnswer::Restart) => {
                self.end_process().await;
                self.launch().await?;
            }
            UserAnswer::SignIn(SignInAnswer::Declined) => {
                let why = format!("{} needs you to sign in", self.parts.agent.name);
                if self.running.is_some() {
                    self.note(why).await?;
                    self.tell(HostedAgentCommand::Stop).await;
                } else {
                    self.fail(&why).await;
                }
            }
        }
        Ok(())
    }

    /// Ends the agent and the turn that is still running.
    pub(super) async fn close(&mut self) {
        self.is_closing = true;
        self.questions.clear();
        self.end_process().await;
        if self.running.is_some() {
            self.is_stopping = true;
            let ended = self.end_turn(PromptStop::Stopped).await;
            if let Err(error) = ended {
                log::error!("the end of a turn is not recorded: {error}");
            }
        }
    }

    /// Ends the agent's process, and handles its last events.
    async fn end_process(&mut self) {
        let Some(mut process) = self.process.take() else {
            return;
        };
        // One that has ended needs no command.
        process.commands.send(HostedAgentCommand::Close).await.ok();
        let gone = async { while process.events.recv().await.is_some() {} };
        if tokio::time::timeout(CLOSE_TIMEOUT, gone).await.is_err() {
            log::warn!("{} did not end in time", self.parts.agent.name);
        }
        self.is_ready = false;
    }
}
