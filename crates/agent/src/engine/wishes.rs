//! What the person wishes for the next request: another model, another mode, a shorter conversation.

use super::omitting::Omitted;
use super::open;
use super::session::{Halt, Session};
use crate::handover;
use crate::leave::mode_note;
use crate::record::{Handover, Mode, Origin, PromptPlace, Record};
use crate::session::Event;

impl Session {
    /// Does what was wished since the last request.
    pub(super) async fn apply_wishes(&mut self) -> Result<(), Halt> {
        if let Some(mode) = self.inbox.mode.take() {
            self.set_mode(mode).await?;
        }
        if std::mem::take(&mut self.inbox.compact) {
            match self.has_begun {
                true => {
                    self.compact("the person asked for it").await?;
                }
                // Whoever asked waits for the end all the same.
                false => self.events.tell(Event::Compacting { is_over: true }).await,
            }
        }
        if let Some((model, how)) = self.inbox.switch.take() {
            self.switch(model, how).await?;
        }
        Ok(())
    }

    async fn set_mode(&mut self, mode: Mode) -> Result<(), Halt> {
        let before = std::mem::replace(&mut self.mode, mode);
        if before == mode || !self.has_begun {
            return Ok(());
        }
        let mut records = vec![Record::ModeSet { mode }];
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

    async fn switch(&mut self, model: String, how: Handover) -> Result<(), Halt> {
        if model == self.model {
            return Ok(());
        }
        if !self.has_begun {
            self.model = model;
            self.offer();
            return Ok(());
        }
        if how == Handover::Fork {
            return self.fork(model).await;
        }
        if how == Handover::Summary {
            self.summarise_all().await?;
        }
        let from = std::mem::replace(&mut self.model, model.clone());
        // What the one before did not take, this one may.
        self.omitted = Omitted::default();
        self.offer();
        if let Some(spawn) = &self.spawn {
            spawn.set(&self.model, self.mode);
        }
        let records = self.switched(from, model, how);
        self.write(records).await
    }

    fn switched(&self, from: String, to: String, how: Handover) -> Vec<Record> {
        let offered = self
            .offered
            .specs
            .iter()
            .map(|(_, spec)| spec.name.as_str());
        let offered: Vec<&str> = offered.collect();
        let answered = self.transcript.last_model().unwrap_or(&from);
        let text = handover::note(answered, &to, &self.transcript.called(), &offered);
        vec![
            Record::Switched { from, to, how },
            Record::Joined {
                place: PromptPlace::BeforePrompt,
                origin: Origin::Harness,
                text,
            },
        ]
    }

    /// The other model goes on in a session of its own; this one stays as it is.
    async fn fork(&mut self, model: String) -> Result<(), Halt> {
        // The copy is made from what is on the disk.
        self.store().flush().await.map_err(Halt::Unwritten)?;
        let last = self.next_seq.saturating_sub(1);
        let forked = open::fork(&self.start, &self.id, last).await;
        let new = forked.map_err(Halt::Unwritten)?;
        let reader = self.store().clone();
        let name = new.clone();
        let read = tokio::task::spawn_blocking(move || reader.read(&name)).await;
        let past = read.map_err(|error| Halt::Unwritten(error.to_string()))?;
        let past = past.map_err(Halt::Unwritten)?;
        let at_ms = self.harness().parts.sources.clock.wall_ms();
        let records = self.switched(self.model.clone(), model, Handover::Fork);
        let stored: Vec<crate::record::Stored> = (past.next_seq..)
            .zip(records)
            .map(|(seq, record)| crate::record::Stored { seq, at_ms, record })
            .collect();
        let written = self.store().append(&new, &stored).await;
        written.map_err(Halt::Unwritten)?;
        self.events.tell(Event::Forked { session: new }).await;
        Ok(())
    }
}
