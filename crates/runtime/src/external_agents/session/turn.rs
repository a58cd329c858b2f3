//! The turns of an external agent.

use agent::AgentEvent;
use agent::record::{SessionRecord, StoredContent, StoredPart, TurnEnd};
use agent::session::UserPrompt;
use agent::stored_parts;
use connect::acp::host::HostedAgentCommand;
use connect::acp::protocol::{MessageContent, PromptStop};
use model::PartContent;

use super::HostedSession;
use crate::Error;
use crate::external_agents::recorder::{RecorderOutput, TurnRecorder, turn_end};

impl HostedSession {
    /// Whether a prompt could begin a turn but for the gate.
    pub(super) fn is_held(&self) -> bool {
        self.can_begin() && self.parts.gate.is_closed()
    }

    fn can_begin(&self) -> bool {
        self.is_ready && self.running.is_none() && !self.is_closing && !self.queue.is_empty()
    }

    /// Begins a turn with the next prompt, if the agent is ready for it.
    pub(super) async fn begin_next_turn(&mut self) -> Result<(), Error> {
        if self.process.is_none() && !self.queue.is_empty() && !self.is_closing {
            self.launch().await?;
        }
        if !self.can_begin() || self.parts.gate.is_closed() {
            return Ok(());
        }
        let Some(prompt) = self.queue.pop_front() else {
            return Ok(());
        };
        self.begin_turn(&prompt).await?;
        self.send_prompt(prompt).await
    }

    /// Sends the prompt of the running turn.
    pub(super) async fn send_prompt(&mut self, prompt: UserPrompt) -> Result<(), Error> {
        self.sent = Some(prompt.clone());
        let message = self.message(prompt).await?;
        self.tell(HostedAgentCommand::Prompt(message)).await;
        Ok(())
    }

    /// Records the beginning of a turn.
    async fn begin_turn(&mut self, prompt: &UserPrompt) -> Result<(), Error> {
        self.turn += 1;
        self.is_stopping = false;
        let mut records = std::mem::take(&mut self.waiting_records);
        records.push(SessionRecord::Prompted {
            turn: self.turn,
            parts: parts(prompt),
            is_steering: false,
        });
        let problems = self.parts.tree.begin_turn(self.turn).await;
        let noted = problems
            .into_iter()
            .map(|text| SessionRecord::Noted { text });
        records.extend(noted);
        let name = self.model_name();
        self.running = Some(TurnRecorder::new(
            &self.parts.root,
            self.turn,
            name,
            self.cost,
        ));
        self.write(records).await
    }

    /// Returns the name of the agent with its model.
    pub(super) fn model_name(&self) -> String {
        match self.offer.model() {
            Some(model) => format!("{} ({model})", self.parts.agent.name),
            None => self.parts.agent.name.clone(),
        }
    }

    /// Converts a prompt for the agent. An agent without support for images gets the text alone.
    async fn message(&mut self, prompt: UserPrompt) -> Result<Vec<MessageContent>, Error> {
        let mut message = vec![MessageContent::Text(prompt.text)];
        if !prompt.images.is_empty() && !self.about.sees {
            let name = &self.parts.agent.name;
            let text = format!("{name} takes no images; your message was sent without them.");
            self.note(text).await?;
            return Ok(message);
        }
        let images = prompt.images.iter().filter_map(image);
        message.extend(images.map(|(media_type, data)| MessageContent::Image { media_type, data }));
        Ok(message)
    }

    /// Handles the outputs of the fold in order.
    pub(super) async fn put(&mut self, outputs: Vec<RecorderOutput>) -> Result<(), Error> {
        let mut records = Vec::new();
        for output in outputs {
            match output {
                RecorderOutput::Record(record) => records.push(*record),
                RecorderOutput::Event(event) => {
                    self.write(std::mem::take(&mut records)).await?;
                    self.show(event);
                }
                RecorderOutput::CallEnded { call, tool } => {
                    // The changes are attributed before the end is seen.
                    let problems = self.parts.tree.end_call(&call, &tool).await;
                    let noted = problems
                        .into_iter()
                        .map(|text| SessionRecord::Noted { text });
                    records.extend(noted);
                }
            }
        }
        self.write(records).await
    }

    /// Ends the running turn: attributes its last changes and records its end.
    pub(super) async fn end_turn(&mut self, stop: PromptStop) -> Result<(), Error> {
        let Some(mut recorder) = self.running.take() else {
            return Ok(());
        };
        self.sent = None;
        let is_killed = self.is_stopping && matches!(stop, PromptStop::Failed(_));
        let end = turn_end(stop, self.is_stopping);
        self.requests.clear();
        self.questions.clear();
        let problems = self.parts.tree.end_turn().await;
        let noted = problems
            .into_iter()
            .map(|text| SessionRecord::Noted { text });
        let mut records: Vec<SessionRecord> = noted.collect();
        if is_killed && !self.is_closing {
            let name = &self.parts.agent.name;
            let text = format!("{name} did not stop on request, so its process was ended.");
            records.push(SessionRecord::Noted { text });
        }
        self.write(records).await?;
        let outputs = recorder.end(&end, self.now_ms());
        self.cost = recorder.cost();
        self.put(outputs).await?;
        self.is_stopping = false;
        self.emit(AgentEvent::Idle(end)).await;
        Ok(())
    }

    /// Ends the session's work with a reason: the running turn, or else the next prompt, which is
    /// recorded with the reason. Other prompts are given back.
    pub(super) async fn fail(&mut self, why: &str) {
        let stop = PromptStop::Failed(why.to_owned());
        if self.running.is_none()
            && let Some(prompt) = self.queue.pop_front()
            && let Err(error) = self.begin_turn(&prompt).await
        {
            self.running = None;
            log::error!("a prompt is not recorded: {error}");
            self.emit(AgentEvent::GivenBack(prompt)).await;
        }
        self.give_back_queue().await;
        if self.running.is_none() {
            // The next prompt starts the agent again, and is recorded with its own reason.
            log::warn!("{why}");
            return;
        }
        if let Err(error) = self.end_turn(stop).await {
            log::error!("the end of a turn is not recorded: {error}");
            let end = TurnEnd::Failed {
                class: "ledger".to_owned(),
                what: error.to_string(),
            };
            self.emit(AgentEvent::Idle(end)).await;
        }
    }
}

/// Returns the stored form of a prompt.
fn parts(prompt: &UserPrompt) -> Vec<StoredPart> {
    let images = prompt
        .images
        .iter()
        .filter_map(stored_parts::stored_content);
    let images = images.map(|content| StoredPart {
        content,
        opaque: None,
    });
    std::iter::once(stored_parts::text(prompt.text.clone()))
        .chain(images)
        .collect()
}

/// Returns the media type and the bytes in base64 of an image.
fn image(part: &PartContent) -> Option<(String, String)> {
    match stored_parts::stored_content(part)? {
        StoredContent::Image { media_type, data } => Some((media_type, data)),
        _ => None,
    }
}
