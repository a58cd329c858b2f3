//! Compacts a conversation that has grown too long: results first, then a summary.

use futures::StreamExt;
use model::{Failure, FailureClass, MessagePart, ModelRequest, PartContent, StreamEvent as Piece};
use router::actor::RouterEvent;

use super::ask::failed_end;
use super::prompt::model_id;
use super::session::{SessionTask, TurnStop};
use super::shared::{CompactionChanges, ContextBudget, SummaryRequest};
use super::turn::REASON_TOO_LONG;
use crate::excerpt::head_and_tail;
use crate::record::{Omission, SessionRecord, TurnEnd};
use crate::session::AgentEvent;
use crate::summary_memory::with_memory;
use crate::transcript::ConversationView;

/// Minimum bytes kept of a text.
const MIN_TEXT_BYTES: u64 = 256;
/// Minimum bytes per token, to bound the bytes that fit a window.
const MIN_TOKEN_BYTES: u64 = 3;
/// Maximum attempts at a summary, each with a shorter input.
const MAX_SUMMARY_ATTEMPTS: usize = 5;

impl SessionTask {
    /// Compacts the conversation for the reason `why`, which is recorded, and reports begin and end
    /// to the view. Returns whether anything changed.
    pub(super) async fn compact(&mut self, why: &str) -> Result<bool, TurnStop> {
        let compacting = |is_over| AgentEvent::Compacting { is_over };
        self.events.send(compacting(false)).await;
        let done = self.make_shorter(why).await;
        self.events.send(compacting(true)).await;
        self.report_fill();
        done
    }

    /// Shrinks a conversation that the model refused as too long: first a compaction, then the
    /// longest texts keep only their ends, shorter with each attempt; images go last. `attempt`
    /// counts from 1. Returns whether anything changed.
    pub(super) async fn make_fit(
        &mut self,
        failure: &Failure,
        attempt: u32,
    ) -> Result<bool, TurnStop> {
        let sent = self.fingerprint.bytes();
        self.learn_window(failure).await?;
        if attempt == 1 && self.compact(REASON_TOO_LONG).await? {
            return Ok(true);
        }
        let room = sent.min(self.context_size().0.saturating_mul(MIN_TOKEN_BYTES));
        let mut keep = room >> attempt.min(32);
        loop {
            keep = (keep / 2).max(MIN_TEXT_BYTES);
            let long = self.transcript.longer_than(keep as usize);
            if !long.is_empty() {
                self.cut_middles(long, keep as usize).await?;
                return Ok(true);
            }
            if keep == MIN_TEXT_BYTES {
                let is_shorter = attempt > 1 && self.compact(REASON_TOO_LONG).await?;
                return Ok(is_shorter || self.omit_pictures(REASON_TOO_LONG).await?);
            }
        }
    }

    /// Records that texts of the records `long`, by sequence number, are sent with `keep` bytes of
    /// their ends from now on, and a note about it. Fails if that cannot be written.
    async fn cut_middles(&mut self, long: Vec<u64>, keep: usize) -> Result<(), TurnStop> {
        let text = match long.len() {
            1 => format!("{REASON_TOO_LONG}: its longest text was cut to {keep} bytes"),
            count => {
                format!("{REASON_TOO_LONG}: its {count} longest texts were cut to {keep} bytes")
            }
        };
        let cut = long.into_iter().map(|seq| SessionRecord::Omitted {
            what: Omission::Middle { seq, keep },
            text: String::new(),
        });
        self.write(cut.chain([SessionRecord::Noted { text }]).collect())
            .await
    }

    /// Records the window size that the provider reports, which is more reliable than the
    /// profile's.
    async fn learn_window(&mut self, failure: &Failure) -> Result<(), TurnStop> {
        let Some(window) = failure.window.map(|window| window.0) else {
            return Ok(());
        };
        let known = self.context_size().0;
        if window >= known {
            return Ok(());
        }
        let text = format!(
            "{} accepts {window} tokens here, not {known}: results and history are shortened",
            self.model
        );
        let omitted = SessionRecord::Omitted {
            what: Omission::Beyond { window },
            text: String::new(),
        };
        self.write(vec![omitted, SessionRecord::Noted { text }])
            .await
    }

    /// Returns the end of a turn whose conversation cannot be shrunk to fit. If instructions and
    /// tools fill the window by themselves, the message names them instead.
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

    /// Compacts the conversation, unless a hook forbids it. Returns whether anything changed: false
    /// if a hook forbids it, if nothing can be shortened, which is noted, or if the result would
    /// not be shorter.
    async fn make_shorter(&mut self, why: &str) -> Result<bool, TurnStop> {
        if !self.hooks_allow_compaction(why).await? {
            return Ok(false);
        }
        match self.plan(false) {
            Some(plan) => self.apply_plan(plan, why).await,
            None => {
                let text = format!("{why}, and nothing can be shortened");
                self.write_later(vec![SessionRecord::Noted { text }]).await;
                Ok(false)
            }
        }
    }

    /// Summarises as much of the conversation as possible, for a model that takes over.
    pub(super) async fn summarise_all(&mut self) -> Result<(), TurnStop> {
        if let Some(plan) = self.plan(true) {
            self.apply_plan(plan, "for the model that takes over")
                .await?;
        }
        Ok(())
    }

    /// Plans a compaction of the conversation; `None` if nothing can be shortened. `is_for_another`
    /// says that another model takes over.
    fn plan(&self, is_for_another: bool) -> Option<CompactionChanges> {
        let view: ConversationView<'_> = self.transcript.view();
        let all = self.transcript.fingerprint(&self.offered.specs).bytes();
        let bytes = view.items.iter().map(|item| item.bytes).sum();
        let profile = self.profile();
        let room = ContextBudget {
            profile: &profile,
            fixed_bytes: all.saturating_sub(bytes),
            bytes,
            estimator: &self.estimator,
            is_for_another,
            todos: &self.todos,
        };
        self.harness().parts.compactor.plan(&view, room)
    }

    /// Requests the summary that the plan wants, then records the compaction. Returns false without
    /// recording it if the conversation would not get shorter. Fails if the user stops the turn or
    /// a record cannot be written.
    async fn apply_plan(&mut self, plan: CompactionChanges, why: &str) -> Result<bool, TurnStop> {
        let tokens = self.context_fill().tokens;
        let bytes = self.transcript.fingerprint(&self.offered.specs).bytes();
        let (through, summary) = match plan.summary {
            Some(wanted) => (wanted.through, self.write_summary(wanted).await?),
            None => (0, String::new()),
        };
        let mut after = self.transcript.clone();
        let record = |bytes_after, tokens_after| SessionRecord::Compacted {
            through,
            reduced: plan.reduced.clone(),
            dropped: plan.dropped.clone(),
            summary: summary.clone(),
            bytes: (bytes, bytes_after),
            tokens: Some((tokens, tokens_after)),
            why: why.to_owned(),
        };
        after.apply(&crate::record::Stored {
            seq: self.numbers.next(),
            at_ms: 0,
            record: record(0, 0),
        });
        let bytes_after = after.fingerprint(&self.offered.specs).bytes();
        drop(after);
        if bytes_after >= bytes {
            return Ok(false);
        }
        let tokens_after = self.estimator.estimate(bytes_after).0;
        self.write(vec![record(bytes_after, tokens_after)]).await?;
        Ok(true)
    }

    /// Records the user's text of a summary. If a later compaction replaced the summary, the user is
    /// informed instead.
    pub(super) async fn edit_summary(
        &mut self,
        compaction: u64,
        memory: &str,
    ) -> Result<(), TurnStop> {
        let Some(before) = self.transcript.summary(compaction) else {
            let text = "The edit was dropped: a later compaction replaced this summary.".to_owned();
            self.write_later(vec![SessionRecord::Noted { text }]).await;
            return Ok(());
        };
        let summary = with_memory(before, memory);
        if summary == before || memory.trim().is_empty() {
            return Ok(());
        }
        self.write(vec![SessionRecord::SummaryEdited {
            compaction,
            summary,
        }])
        .await?;
        self.report_fill();
        Ok(())
    }

    /// Writes a summary. If no model can, the fallback made without a model is used.
    async fn write_summary(&mut self, wanted: SummaryRequest) -> Result<String, TurnStop> {
        let name = self.harness().parts.limits.summary_model.as_ref();
        let name = name.unwrap_or(&self.model).clone();
        let mut request = (wanted.build_request)(model_id(&name));
        request.max_output = request.max_output.min(self.profile().max_output);
        for _ in 0..MAX_SUMMARY_ATTEMPTS {
            let failure = match self.request_summary(request.clone()).await? {
                Ok(text) => return Ok((wanted.render)(Some(text.trim()))),
                Err(Some(failure)) => failure,
                Err(None) => break,
            };
            if failure.class != FailureClass::ContextOverflow || !halve(&mut request) {
                let text = format!("no summary could be written: {}", failure.message);
                self.write_later(vec![SessionRecord::Noted { text }]).await;
                break;
            }
        }
        Ok((wanted.render)(None))
    }

    /// Requests a summary. Fails with the reason, if there is one.
    async fn request_summary(
        &mut self,
        request: ModelRequest,
    ) -> Result<Result<String, Option<Failure>>, TurnStop> {
        let mut model = request.model.to_string();
        let ask = self.side_request(request);
        let gateway = self.start.harness.parts.models.clone();
        let mut told = gateway.ask(ask);
        let (mut text, mut is_whole, mut failed) = (String::new(), false, None);
        while let Some(next) = self.inbox.during(told.next()).await? {
            match next {
                RouterEvent::Event(Piece::TextDelta(more)) => text.push_str(&more),
                RouterEvent::Event(Piece::Restart) => text.clear(),
                RouterEvent::Event(Piece::Stop { .. }) => is_whole = true,
                RouterEvent::Event(Piece::Failed(failure)) => failed = Some(failure),
                RouterEvent::Event(Piece::Usage(usage)) => {
                    let cost = self
                        .models()
                        .price(&model)
                        .and_then(|price| price.cost(&usage));
                    self.budget.spend(cost);
                    self.measure_answer(&model, &usage);
                }
                RouterEvent::Decided(decision) => {
                    if let Some(route) = &decision.chosen {
                        model = route.model.to_string();
                    }
                }
                RouterEvent::Waiting { .. } | RouterEvent::Event(_) => {}
            }
        }
        Ok(if is_whole && !text.trim().is_empty() {
            Ok(text)
        } else {
            Err(failed)
        })
    }
}

/// Halves the texts of a request. Returns whether anything was left to halve.
fn halve(request: &mut ModelRequest) -> bool {
    let mut is_shorter = false;
    for part in request.messages.iter_mut().flat_map(|it| &mut it.parts) {
        if let PartContent::Text(text) = &part.content
            && text.len() as u64 > 2 * MIN_TEXT_BYTES
        {
            *part = MessagePart::text(head_and_tail(text, text.len() / 2)).into();
            is_shorter = true;
        }
    }
    is_shorter
}
