//! The events of the agent's process.

use agent::record::SessionRecord;
use agent::user_prompts::PermissionDecision;
use connect::acp::host::{HostedAgentCommand, HostedAgentEvent};
use connect::acp::protocol::{
    AgentModes, CallUpdate, ConfigOption, Filled, PermissionChoice, SignInMethod, Update,
};
use serde_json::Map;

use super::{HostedSession, UserAnswer};
use crate::Error;
use crate::external_agents::permission::{OpenRequest, details};
use crate::external_agents::{recorder, sign_in};
use crate::form;

impl HostedSession {
    pub(super) async fn on_host_event(
        &mut self,
        event: Option<HostedAgentEvent>,
    ) -> Result<(), Error> {
        match event.unwrap_or(HostedAgentEvent::Closed(None)) {
            HostedAgentEvent::Hello(about) => self.about = about,
            HostedAgentEvent::Began {
                session,
                modes,
                options,
            } => return self.on_began(session, modes, options).await,
            HostedAgentEvent::NeedsSignIn { methods, why } => self.ask_to_sign_in(methods, &why),
            HostedAgentEvent::Update(update) => return self.on_update(update).await,
            HostedAgentEvent::Asking {
                number,
                call,
                choices,
            } => return self.on_request(number, &call, choices).await,
            HostedAgentEvent::Form { number, form } => {
                let (prompts, answers) = (self.prompts.clone(), self.answer_sender.clone());
                let name = self.parts.agent.name.clone();
                tokio::spawn(async move {
                    let filled = form::fill(&prompts, &name, &form).await;
                    let filled = HostedAgentCommand::Fill { number, filled };
                    // The session may have ended.
                    answers.send(UserAnswer::Filled(filled)).await.ok();
                });
            }
            HostedAgentEvent::Page { number, url, why } => {
                let (prompts, answers) = (self.prompts.clone(), self.answer_sender.clone());
                let name = self.parts.agent.name.clone();
                tokio::spawn(async move {
                    let filled = if form::open(&prompts, &name, &url, &why).await {
                        Filled::Accepted(Map::new())
                    } else {
                        Filled::Declined
                    };
                    let filled = HostedAgentCommand::Fill { number, filled };
                    // The session may have ended.
                    answers.send(UserAnswer::Filled(filled)).await.ok();
                });
            }
            HostedAgentEvent::Overdue(left) => {
                let name = &self.parts.agent.name;
                self.show_waiting(format!(
                    "{name} has not stopped yet; its process ends in {} s.",
                    left.as_secs()
                ));
            }
            HostedAgentEvent::Problem(text) => {
                let name = &self.parts.agent.name;
                let text = format!("{name}: {text}");
                return self.note(text).await;
            }
            HostedAgentEvent::Noise(text) => log::info!("{}: {text}", self.parts.agent.name),
            HostedAgentEvent::TurnEnded(stop) => {
                self.end_turn(stop).await?;
                return self.begin_next_turn().await;
            }
            HostedAgentEvent::Closed(why) => self.on_closed(why).await,
            // Whole trees are compared instead; the other events are for hosts of several sessions.
            HostedAgentEvent::TurnBegan
            | HostedAgentEvent::Changed(_)
            | HostedAgentEvent::Sessions(_) => {}
        }
        Ok(())
    }

    /// Takes over the agent's session, and sets the options again that the user chose before.
    async fn on_began(
        &mut self,
        session: String,
        modes: Option<AgentModes>,
        options: Vec<ConfigOption>,
    ) -> Result<(), Error> {
        self.offer.begin(modes, options);
        for command in self.offer.restoring(&self.earlier) {
            self.tell(command).await;
        }
        let name = self.parts.agent.name.clone();
        let is_lost = self
            .hosted
            .as_ref()
            .is_some_and(|hosted| *hosted != session);
        let mut records = Vec::new();
        if is_lost {
            let text =
                format!("{name} cannot go on with its earlier conversation; it starts without it.");
            records.push(SessionRecord::Noted { text });
        }
        if self.hosted.as_ref() != Some(&session) {
            records.push(SessionRecord::Hosted {
                agent: name,
                session: session.clone(),
                takes_images: self.about.sees,
                can_continue: self.about.resumes || self.about.loads,
            });
        }
        records.extend(self.offered());
        self.hosted = Some(session);
        self.is_ready = true;
        self.waiting_records.extend(records);
        match self.sent.clone() {
            // The agent started again within a turn, after a sign-in.
            Some(prompt) if self.running.is_some() => self.send_prompt(prompt).await,
            _ => self.begin_next_turn().await,
        }
    }

    /// The record of the present options and commands; `None` if there are none.
    fn offered(&self) -> Option<SessionRecord> {
        let (options, commands) = (self.offer.options(), self.offer.commands());
        let is_empty = options.is_empty() && commands.is_empty();
        (!is_empty).then(|| SessionRecord::Offered {
            options: options.to_vec(),
            commands: commands.to_vec(),
        })
    }

    async fn on_update(&mut self, update: Update) -> Result<(), Error> {
        let is_offer = match &update {
            Update::Options(options) => {
                self.offer.set_options(options.clone());
                true
            }
            Update::Mode(mode) => self.offer.set_mode(mode),
            Update::Commands(commands) => {
                self.offer.set_commands(commands.clone());
                true
            }
            _ => false,
        };
        if is_offer {
            let record = self.offered();
            if self.running.is_none() {
                let is_offered = |it: &SessionRecord| matches!(it, SessionRecord::Offered { .. });
                self.waiting_records.retain(|it| !is_offered(it));
                self.waiting_records.extend(record);
                return Ok(());
            }
            return self.write(record.into_iter().collect()).await;
        }
        let now_ms = self.now_ms();
        // Updates outside of a turn are the past of a session that goes on, which is known.
        let Some(recorder) = &mut self.running else {
            return Ok(());
        };
        let outputs = recorder.apply(update, now_ms);
        self.put(outputs).await
    }

    /// Handles a permission request: asks the user, or answers for them as they decided before.
    async fn on_request(
        &mut self,
        number: u64,
        call: &CallUpdate,
        choices: Vec<PermissionChoice>,
    ) -> Result<(), Error> {
        let request = OpenRequest { number, choices };
        let now_ms = self.now_ms();
        let Some(recorder) = &mut self.running else {
            let choice = None;
            self.tell(HostedAgentCommand::Decide { number, choice })
                .await;
            return Ok(());
        };
        let outputs = recorder.call(call.clone(), now_ms);
        let (id, whole) = (recorder.call_id(&call.id), recorder.merged_call(call));
        self.put(outputs).await?;
        if self.parts.allows_all || !self.parts.has_user {
            let choice = if self.parts.allows_all {
                let once = request.choice(&PermissionDecision::Once);
                once.or_else(|| request.choice(&PermissionDecision::Session))
            } else {
                request.choice(&PermissionDecision::Refuse { instead: None })
            };
            self.tell(HostedAgentCommand::Decide { number, choice })
                .await;
            return Ok(());
        }
        let name = &self.parts.agent.name;
        let asked = SessionRecord::LeaveAsked {
            call: id.clone(),
            title: recorder::title(&whole),
            details: details(&whole),
            reason: format!("{name} asks for permission"),
            rules: request.rules(),
        };
        self.requests.insert(id, request);
        self.write(vec![asked]).await
    }

    fn ask_to_sign_in(&self, methods: Vec<SignInMethod>, why: &str) {
        let question = sign_in::question(&self.parts.agent, &methods, why);
        let (prompts, answers) = (self.prompts.clone(), self.answer_sender.clone());
        tokio::spawn(async move {
            let answer = sign_in::ask(prompts, question, methods).await;
            // The session may have ended.
            answers.send(UserAnswer::SignIn(answer)).await.ok();
        });
    }

    /// Handles the end of the agent's process: what was running fails with the reason.
    async fn on_closed(&mut self, why: Option<String>) {
        self.process = None;
        self.is_ready = false;
        let name = &self.parts.agent.name;
        let why = match why {
            Some(why) if why.starts_with(name.as_str()) => why,
            Some(why) => format!("{name}: {why}"),
            None => format!("{name} has ended"),
        };
        if self.running.is_some() || !self.queue.is_empty() {
            self.fail(&why).await;
        }
    }
}
