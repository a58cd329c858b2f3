//! A conversation that has grown too long is made shorter: results first, then a summary.

use futures::StreamExt;
use model::Event as Piece;
use router::actor::Told;

use super::session::{Halt, Session};
use super::shared::{CompactLimits, Compaction, SummaryWanted};
use crate::record::Record;
use crate::transcript::View;

/// Bytes to a token, where nothing was counted yet.
pub(super) const BYTES_PER_TOKEN: u64 = 3;

impl Session {
    /// Whether the next prompt would leave too little room.
    pub(super) fn is_full(&self) -> bool {
        let bytes = self.transcript.fingerprint(&self.offered.specs).bytes();
        let most = self.context().0 as f64 * self.harness().parts.limits.compact_at;
        self.tokens(bytes) as f64 > most
    }

    /// Tokens of a prompt of so many bytes, from what the last one had.
    fn tokens(&self, bytes: u64) -> u64 {
        match self.filled {
            Some((tokens, asked)) => tokens + bytes.saturating_sub(asked) / BYTES_PER_TOKEN,
            None => bytes / BYTES_PER_TOKEN,
        }
    }

    /// Makes the conversation shorter. Whether it did.
    pub(super) async fn compact(&mut self, why: &str) -> Result<bool, Halt> {
        if !self.may_compact(why).await? {
            return Ok(false);
        }
        let bytes = self.transcript.fingerprint(&self.offered.specs).bytes();
        let context = self.context().0 as f64 * self.harness().parts.limits.compact_to;
        let limits = CompactLimits {
            bytes,
            target: (context as u64)
                .saturating_mul(BYTES_PER_TOKEN)
                .min(bytes / 2),
        };
        let plan = self.plan(limits);
        let Some(plan) = plan else {
            let text = format!("{why}, and nothing of it can give way");
            self.note(vec![Record::Noted { text }]).await;
            return Ok(false);
        };
        self.give_way(plan, bytes).await
    }

    /// Replaces all of the conversation by a summary, for a model that takes over.
    pub(super) async fn summarise_all(&mut self) -> Result<(), Halt> {
        let bytes = self.transcript.fingerprint(&self.offered.specs).bytes();
        let limits = CompactLimits { bytes, target: 0 };
        if let Some(plan) = self.plan(limits) {
            self.give_way(plan, bytes).await?;
        }
        Ok(())
    }

    fn plan(&self, limits: CompactLimits) -> Option<Compaction> {
        let view: View<'_> = self.transcript.view();
        self.harness().parts.compactor.plan(&view, limits)
    }

    async fn give_way(&mut self, plan: Compaction, bytes: u64) -> Result<bool, Halt> {
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
        self.filled = None;
        self.write(vec![record(bytes_after)]).await?;
        Ok(true)
    }

    /// Has a summary written. Where no model can, what is known without one stands for it.
    async fn summary(&mut self, wanted: SummaryWanted) -> Result<String, Halt> {
        let ask = self.side_question(&wanted.question);
        let name = ask.what.model().to_string();
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
                    self.spent.nano += cost.map_or(0, |cost| cost.0);
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
        let said = match is_whole && !text.trim().is_empty() {
            true => text.trim(),
            false => wanted.fallback.as_str(),
        };
        Ok(format!("{}\n\n{said}", wanted.verbatim.trim_end())
            .trim()
            .to_owned())
    }
}
