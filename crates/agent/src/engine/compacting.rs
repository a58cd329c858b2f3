//! A conversation that has grown too long is made shorter: results first, then a summary.

use futures::StreamExt;
use model::Event as Piece;
use router::actor::Told;

use super::prompt::model_id;
use super::session::{Halt, Session};
use super::shared::{Compaction, Room, SummaryWanted};
use crate::record::Record;
use crate::session::Event;
use crate::transcript::View;

impl Session {
    /// Whether the next prompt would leave too little room.
    pub(super) fn is_full(&self) -> bool {
        let bytes = self.transcript.fingerprint(&self.offered.specs).bytes();
        let most = self.context_size().0 as f64 * self.harness().parts.limits.compact_at;
        self.estimator.estimate(bytes).0 as f64 > most
    }

    /// Makes the conversation shorter. Whether it did.
    pub(super) async fn compact(&mut self, why: &str) -> Result<bool, Halt> {
        let compacting = |is_over| Event::Compacting { is_over };
        self.events.tell(compacting(false)).await;
        let done = self.make_shorter(why).await;
        self.events.tell(compacting(true)).await;
        done
    }

    async fn make_shorter(&mut self, why: &str) -> Result<bool, Halt> {
        if !self.may_compact(why).await? {
            return Ok(false);
        }
        match self.plan(false) {
            Some(plan) => self.give_way(plan).await,
            None => {
                let text = format!("{why}, and nothing of it can give way");
                self.note(vec![Record::Noted { text }]).await;
                Ok(false)
            }
        }
    }

    /// Replaces what can be replaced of the conversation by a summary, for a model that takes over.
    pub(super) async fn summarise_all(&mut self) -> Result<(), Halt> {
        if let Some(plan) = self.plan(true) {
            self.give_way(plan).await?;
        }
        Ok(())
    }

    fn plan(&self, is_for_another: bool) -> Option<Compaction> {
        let view: View<'_> = self.transcript.view();
        let all = self.transcript.fingerprint(&self.offered.specs).bytes();
        let bytes = view.items.iter().map(|item| item.bytes).sum();
        let profile = self.profile();
        let room = Room {
            profile: &profile,
            fixed_bytes: all.saturating_sub(bytes),
            bytes,
            estimator: &self.estimator,
            is_for_another,
            todos: &self.todos,
        };
        self.harness().parts.compactor.plan(&view, room)
    }

    async fn give_way(&mut self, plan: Compaction) -> Result<bool, Halt> {
        let bytes = self.transcript.fingerprint(&self.offered.specs).bytes();
        let (through, summary) = match plan.summary {
            Some(wanted) => (wanted.through, self.summary(wanted).await?),
            None => (0, String::new()),
        };
        let mut after = self.transcript.clone();
        let record = |bytes_after| Record::Compacted {
            through,
            reduced: plan.reduced.clone(),
            dropped: plan.dropped.clone(),
            summary: summary.clone(),
            bytes: (bytes, bytes_after),
        };
        after.apply(&crate::record::Stored {
            seq: self.next_seq,
            at_ms: 0,
            record: record(0),
        });
        let bytes_after = after.fingerprint(&self.offered.specs).bytes();
        drop(after);
        if bytes_after >= bytes {
            return Ok(false);
        }
        self.write(vec![record(bytes_after)]).await?;
        Ok(true)
    }

    /// Has a summary written. Where no model can, what is known without one stands for it.
    async fn summary(&mut self, wanted: SummaryWanted) -> Result<String, Halt> {
        let name = self.harness().parts.limits.summary_model.as_ref();
        let name = name.unwrap_or(&self.model).clone();
        let ask = self.side_question((wanted.question)(model_id(&name)));
        let mind = self.start.harness.parts.mind.clone();
        let mut told = mind.ask(ask);
        let (mut text, mut is_whole) = (String::new(), false);
        let mut model = name;
        while let Some(next) = self.inbox.during(told.next()).await? {
            match next {
                Told::Event(Piece::TextDelta(more)) => text.push_str(&more),
                Told::Event(Piece::Restart) => text.clear(),
                Told::Event(Piece::Stop { .. }) => is_whole = true,
                Told::Event(Piece::Failed(failure)) => {
                    let text = format!("no summary could be written: {}", failure.message);
                    self.note(vec![Record::Noted { text }]).await;
                }
                Told::Event(Piece::Usage(usage)) => {
                    let cost = self
                        .mind()
                        .price(&model)
                        .and_then(|price| price.cost(&usage));
                    self.purse.pay(cost);
                    self.measure_answer(&model, &usage);
                }
                Told::Decided(decision) => {
                    if let Some(lane) = &decision.chosen {
                        model = lane.model.to_string();
                    }
                }
                Told::Waiting { .. } | Told::Event(_) => {}
            }
        }
        let said = (is_whole && !text.trim().is_empty()).then(|| text.trim());
        Ok((wanted.beginning)(said))
    }
}
