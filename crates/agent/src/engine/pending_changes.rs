//! Changes requested for the next model request: another model, another mode, a compaction.

use model::Effort;

use super::omitting::Omitted;
use super::open;
use super::session::{SessionTask, TurnStop};
use crate::error::Error;
use crate::handover;
use crate::permission::mode_note;
use crate::record::{Handover, PromptOrigin, PromptPosition, SessionMode, SessionRecord};
use crate::session::AgentEvent;

impl SessionTask {
    /// Applies the changes requested since the last model request.
    pub(super) async fn apply_pending_changes(&mut self) -> Result<(), TurnStop> {
        if let Some(mode) = self.inbox.mode.take() {
            self.set_mode(mode).await?;
        }
        if let Some(effort) = self.inbox.effort.take() {
            self.set_effort(effort).await?;
        }
        for (compaction, memory) in std::mem::take(&mut self.inbox.edited_summaries) {
            self.edit_summary(compaction, &memory).await?;
        }
        for (record, is_pinned) in std::mem::take(&mut self.inbox.pins) {
            self.pin(record, is_pinned).await?;
        }
        if std::mem::take(&mut self.inbox.compact) {
            if self.has_begun {
                self.compact("requested by the user").await?;
            } else {
                // The requester waits for the end event in any case.
                self.events
                    .send(AgentEvent::Compacting { is_over: true })
                    .await
            }
        }
        if let Some((model, how)) = self.inbox.switch.take() {
            self.switch(model, how).await?;
        }
        Ok(())
    }

    /// Switches the session to `mode`. A change after the session began is recorded, with a note
    /// for the model if there is one, and passed on to future subagents. Fails if it cannot be
    /// written.
    async fn set_mode(&mut self, mode: SessionMode) -> Result<(), TurnStop> {
        let before = std::mem::replace(&mut self.mode, mode);
        if before == mode || !self.has_begun {
            return Ok(());
        }
        let mut records = vec![SessionRecord::ModeSet { mode }];
        let note = match &self.context {
            Some(context) => context.mode(mode),
            None => mode_note(mode, Some(before)),
        };
        records.extend(note.map(super::turn::harness_note));
        if let Some(spawn) = &self.spawn {
            spawn.set(&self.model, mode);
        }
        self.write(records).await
    }

    /// Sets the reasoning effort. Before the session has begun, it is recorded with the first prompt.
    async fn set_effort(&mut self, effort: Effort) -> Result<(), TurnStop> {
        self.start.effort = Some(effort);
        if !self.has_begun {
            self.unrecorded_effort = Some(effort);
            return Ok(());
        }
        self.write(vec![SessionRecord::EffortSet { effort }]).await
    }

    /// Switches to the model `model`; without effect if it is in use. Before the session has begun,
    /// nothing is recorded and `how` does not matter. With `Handover::Fork` only the new session
    /// gets the model. Fails if the user stops the turn or a record cannot be written.
    async fn switch(&mut self, model: String, how: Handover) -> Result<(), TurnStop> {
        if model == self.model {
            return Ok(());
        }
        if !self.has_begun {
            self.model = model;
            self.update_tools();
            return Ok(());
        }
        if how == Handover::Fork {
            return self.fork(model).await;
        }
        if how == Handover::Summary {
            self.summarise_all().await?;
        }
        let from = std::mem::replace(&mut self.model, model.clone());
        // The new model may accept what the previous one refused.
        self.omitted = Omitted::default();
        self.update_tools();
        if let Some(spawn) = &self.spawn {
            spawn.set(&self.model, self.mode);
        }
        let records = self.switch_records(from, model, how);
        self.write(records).await?;
        self.report_fill();
        Ok(())
    }

    fn switch_records(&self, from: String, to: String, how: Handover) -> Vec<SessionRecord> {
        let offered = self
            .offered
            .specs
            .iter()
            .map(|(_, spec)| spec.name.as_str());
        let offered: Vec<&str> = offered.collect();
        let answered = self.transcript.last_model().unwrap_or(&from);
        let text = handover::note(answered, &to, &self.transcript.called(), &offered);
        vec![
            SessionRecord::Switched { from, to, how },
            SessionRecord::Joined {
                place: PromptPosition::BeforePrompt,
                origin: PromptOrigin::Harness,
                text,
            },
        ]
    }

    /// Continues with another model in a forked session; this one stays unchanged.
    async fn fork(&mut self, model: String) -> Result<(), TurnStop> {
        // The copy is made from the records on the disk.
        self.store().flush().await.map_err(TurnStop::Unwritten)?;
        let last = self.numbers.next().saturating_sub(1);
        let forked = open::fork(self.harness(), &self.id, last).await;
        let new = forked.map_err(TurnStop::Unwritten)?;
        let reader = self.store().clone();
        let name = new.clone();
        let read = tokio::task::spawn_blocking(move || reader.read(&name)).await;
        let past = read.map_err(|source| {
            TurnStop::Unwritten(Error::SessionTask {
                session: new.clone(),
                doing: "read",
                source,
            })
        })?;
        let past = past.map_err(TurnStop::Unwritten)?;
        let at_ms = self.harness().parts.sources.clock.wall_ms();
        let records = self.switch_records(self.model.clone(), model, Handover::Fork);
        let stored: Vec<crate::record::Stored> = (past.next_seq..)
            .zip(records)
            .map(|(seq, record)| crate::record::Stored { seq, at_ms, record })
            .collect();
        let written = self.store().append(&new, &stored).await;
        written.map_err(TurnStop::Unwritten)?;
        self.events.send(AgentEvent::Forked { session: new }).await;
        Ok(())
    }
}
