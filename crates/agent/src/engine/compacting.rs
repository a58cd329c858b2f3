//! A conversation that has grown too long is made shorter: results first, then a summary.

use futures::StreamExt;
use model::{Content, Event as Piece, Failure, FailureClass, Part, Request};
use router::actor::Told;

use super::ask::failed_end;
use super::prompt::model_id;
use super::session::{Halt, Session};
use super::shared::{Compaction, Room, SummaryWanted};
use super::turn::HOW_TOO_LONG;
use crate::compact::ends;
use crate::record::{Omission, Record, TurnEnd};
use crate::session::Event;
use crate::transcript::View;

/// Bytes of a text that stay in any case.
const LEAST: u64 = 256;
/// Bytes that a token of a window has at least, as a bound on what fits.
const TOKEN: u64 = 3;
/// How often a summary is asked for with less to read.
const SUMMARIES: usize = 5;

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

    /// Makes a conversation fit that the model refused for its length: a compaction first, then the longest texts are
    /// cut to their ends, shorter with each attempt; pictures go last. `attempt` counts from 1. Whether anything gave
    /// way.
    pub(super) async fn make_fit(&mut self, failure: &Failure, attempt: u32) -> Result<bool, Halt> {
        let sent = self.fingerprint.bytes();
        self.learn_window(failure).await?;
        if attempt == 1 && self.compact(HOW_TOO_LONG).await? {
            return Ok(true);
        }
        let room = sent.min(self.context_size().0.saturating_mul(TOKEN));
        let mut keep = room >> attempt.min(32);
        loop {
            keep = (keep / 2).max(LEAST);
            let long = self.transcript.longer_than(keep as usize);
            if !long.is_empty() {
                self.cut_middles(long, keep as usize).await?;
                return Ok(true);
            }
            if keep == LEAST {
                let is_shorter = attempt > 1 && self.compact(HOW_TOO_LONG).await?;
                return Ok(is_shorter || self.omit_pictures(HOW_TOO_LONG).await?);
            }
        }
    }

    async fn cut_middles(&mut self, long: Vec<u64>, keep: usize) -> Result<(), Halt> {
        let text = match long.len() {
            1 => format!("{HOW_TOO_LONG}: its longest text was cut to {keep} bytes"),
            count => format!("{HOW_TOO_LONG}: its {count} longest texts were cut to {keep} bytes"),
        };
        let cut = long.into_iter().map(|seq| Record::Omitted {
            what: Omission::Middle { seq, keep },
            text: String::new(),
        });
        self.write(cut.chain([Record::Noted { text }]).collect())
            .await
    }

    /// A provider that says how many tokens fit knows it better than a profile.
    async fn learn_window(&mut self, failure: &Failure) -> Result<(), Halt> {
        let Some(window) = failure.window.map(|window| window.0) else {
            return Ok(());
        };
        let known = self.context_size().0;
        if window >= known {
            return Ok(());
        }
        let text = format!(
            "{} takes {window} tokens here, and not {known}: results and history are kept shorter",
            self.model
        );
        let omitted = Record::Omitted {
            what: Omission::Beyond { window },
            text: String::new(),
        };
        self.write(vec![omitted, Record::Noted { text }]).await
    }

    /// How a turn ends whose conversation cannot be made to fit. Where instructions and tools fill the window by
    /// themselves, they are named instead of the conversation.
    pub(super) fn too_long_end(&self, failure: Failure) -> TurnEnd {
        let all = self.transcript.fingerprint(&self.offered.specs).bytes();
        let said: u64 = self.transcript.view().items.iter().map(|it| it.bytes).sum();
        let fixed = self.estimator.estimate(all.saturating_sub(said)).0;
        let window = self.context_size().0;
        if fixed < window / 2 {
            return failed_end(failure);
        }
        TurnEnd::Failed {
            class: failure.class.name().to_owned(),
            what: format!(
                "The instructions and the {} tools take about {fixed} of the {window} tokens that {} takes, before \
                 anything is said. Choose a model with a larger window, or offer fewer tools: MCP servers bring most \
                 of them. ({})",
                self.offered.specs.len(),
                self.model,
                failure.message
            ),
        }
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
        let mut request = (wanted.question)(model_id(&name));
        request.max_output = request.max_output.min(self.profile().max_output);
        for _ in 0..SUMMARIES {
            let failure = match self.summarised(request.clone()).await? {
                Ok(text) => return Ok((wanted.beginning)(Some(text.trim()))),
                Err(Some(failure)) => failure,
                Err(None) => break,
            };
            if failure.class != FailureClass::ContextOverflow || !halve(&mut request) {
                let text = format!("no summary could be written: {}", failure.message);
                self.note(vec![Record::Noted { text }]).await;
                break;
            }
        }
        Ok((wanted.beginning)(None))
    }

    /// Asks for a summary. Fails with the reason, where there is one.
    async fn summarised(
        &mut self,
        request: Request,
    ) -> Result<Result<String, Option<Failure>>, Halt> {
        let mut model = request.model.to_string();
        let ask = self.side_question(request);
        let mind = self.start.harness.parts.mind.clone();
        let mut told = mind.ask(ask);
        let (mut text, mut is_whole, mut failed) = (String::new(), false, None);
        while let Some(next) = self.inbox.during(told.next()).await? {
            match next {
                Told::Event(Piece::TextDelta(more)) => text.push_str(&more),
                Told::Event(Piece::Restart) => text.clear(),
                Told::Event(Piece::Stop { .. }) => is_whole = true,
                Told::Event(Piece::Failed(failure)) => failed = Some(failure),
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
        Ok(match is_whole && !text.trim().is_empty() {
            true => Ok(text),
            false => Err(failed),
        })
    }
}

/// Halves the texts of a request. Whether there was anything to halve.
fn halve(request: &mut Request) -> bool {
    let mut is_shorter = false;
    for part in request.messages.iter_mut().flat_map(|it| &mut it.parts) {
        if let Content::Text(text) = &part.content
            && text.len() as u64 > 2 * LEAST
        {
            *part = Part::text(ends(text, text.len() / 2)).into();
            is_shorter = true;
        }
    }
    is_shorter
}
