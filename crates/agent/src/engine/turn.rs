//! A turn: from a prompt until the model, the user or a limit ends it.

use model::policy::route::SwitchBoundary;
use model::{FailureClass, MessagePart, PartContent, StopReason};

use super::ask::{AnswerAction, failed_end};
use super::prompt::TurnProgress;
use super::session::{SessionTask, TurnStop};
use super::session_hooks::PromptVerdict;
use super::shared::{ContextAdditions, ContextRequest};
use crate::hooks::HookEvent;
use crate::images::{self, ImageDefect, ImageLimits};
use crate::loops::{LoopDetector, LoopVerdict};
use crate::record::{
    PromptOrigin, PromptPosition, QueueChange, QueuedPrompt, SessionRecord, StoredPart, TurnEnd,
};
use crate::session::UserPrompt;
use crate::stored_parts;

/// Maximum number of responses that reach their token limit, since the last one with calls, before
/// the turn ends.
const MAX_CUT_OFFS: u32 = 3;
/// Maximum number of pauses by a provider since the last response with calls.
const MAX_PAUSES: u32 = 64;
/// Maximum number of attempts to shorten a conversation that the model refused as too long, since
/// the last response with calls.
const MAX_TOO_LONG: u32 = 16;
/// Maximum number of retries in a turn without refused parts.
const MAX_REFUSALS: u32 = 64;
/// Maximum number of times that hooks may send a model back to work at the end of a turn.
const MAX_SENT_BACK: u32 = 3;

/// Counters of a turn.
#[derive(Default)]
struct Counts {
    step: u64,
    /// Responses since the last one with calls that reached their token limit.
    cut_offs: u32,
    pauses: u32,
    sent_back: u32,
    /// Refusals of the conversation's length since the last response with calls.
    too_long: u32,
    refusals: u32,
    stalls: u32,
}

/// The next step after a response.
enum TurnStep {
    /// Send another model request.
    Ask,
    End(TurnEnd),
}

impl SessionTask {
    /// Runs a turn from the user's prompt to its end, and records both; `entry` leaves the queue
    /// with it. A hook that blocks the prompt ends the turn before the first request.
    pub(super) async fn turn(
        &mut self,
        prompt: &UserPrompt,
        entry: Option<u64>,
    ) -> Result<TurnEnd, TurnStop> {
        self.turn += 1;
        self.judge_turn_before(&prompt.text, entry.is_some());
        self.loops = LoopDetector::default();
        if let Some(spawn) = &self.spawn {
            spawn.set(&self.model, self.mode);
        }
        let changed = self.apply_alarms();
        let mut records = self.session_start_records().await?;
        records.extend(changed);
        let verdict = self.prompt_hook(&prompt.text).await?;
        records.append(&mut self.hook_notes);
        match verdict {
            PromptVerdict::Accept(joined) => self.joining.extend(joined),
            PromptVerdict::Block { reason } => {
                let what = format!("a hook blocks this prompt: {reason}");
                records.push(SessionRecord::Noted { text: what.clone() });
                self.write(records).await?;
                let class = "hook".to_owned();
                return Ok(TurnEnd::Failed { class, what });
            }
        }
        records.extend(self.before_prompt(&prompt.text).await?);
        records.extend(self.prompt_records(prompt, false));
        self.write_sent(records, entry.into_iter().collect())
            .await?;
        self.is_written = true;
        self.steps(&prompt.text).await
    }

    /// Sends requests and runs their calls until the turn ends, and returns its end. `prompt` is
    /// the user's text. Fails if the user stops the turn or a record cannot be written.
    async fn steps(&mut self, prompt: &str) -> Result<TurnEnd, TurnStop> {
        let mut counts = Counts::default();
        let mut boundary = SwitchBoundary::NewTurn;
        loop {
            counts.step += 1;
            self.apply_pending_changes().await?;
            if self.inbox.is_stopped() {
                return Err(TurnStop::Stopped);
            }
            if self.context_fill().is_full() && self.compact(REASON_FULL).await? {
                boundary = SwitchBoundary::Compacted;
            }
            let now = self.harness().parts.sources.clock.elapsed();
            if let Some(what) = self.budget.exhausted_reason(now) {
                return Ok(TurnEnd::OutOfBudget { what });
            }
            let standing = TurnProgress {
                boundary,
                stalls: counts.stalls,
            };
            let action = self.ask(counts.step, prompt, standing).await?;
            boundary = match counts.stalls {
                0 => SwitchBoundary::Within,
                _ => SwitchBoundary::Stalled,
            };
            match self.after_answer(action, &mut counts).await? {
                TurnStep::Ask => {}
                TurnStep::End(end) => return Ok(end),
            }
        }
    }

    /// Decides the next step after a response, and updates `counts`: runs its calls, or asks again
    /// after one that was cut off, paused, too long or refused, up to the limit of each. Fails if
    /// the user stops the turn or a record cannot be written.
    async fn after_answer(
        &mut self,
        action: AnswerAction,
        counts: &mut Counts,
    ) -> Result<TurnStep, TurnStop> {
        match action {
            AnswerAction::Calls(calls) => {
                (counts.cut_offs, counts.pauses, counts.too_long) = (0, 0, 0);
                self.after_calls(calls, counts).await
            }
            AnswerAction::Done(StopReason::MaxTokens) => {
                counts.cut_offs += 1;
                if counts.cut_offs > MAX_CUT_OFFS {
                    return Ok(TurnStep::End(TurnEnd::Failed {
                        class: "max_tokens".to_owned(),
                        what: format!(
                            "{MAX_CUT_OFFS} responses in a row were longer than the model's output limit"
                        ),
                    }));
                }
                self.joining
                    .push((PromptOrigin::Harness, CUT_OFF.to_owned()));
                self.join_pending().await?;
                Ok(TurnStep::Ask)
            }
            AnswerAction::Done(StopReason::Pause) if counts.pauses < MAX_PAUSES => {
                counts.pauses += 1;
                Ok(TurnStep::Ask)
            }
            AnswerAction::Done(StopReason::Refusal) => Ok(TurnStep::End(TurnEnd::Refused)),
            AnswerAction::Done(_) => self.on_model_done(counts).await,
            AnswerAction::TooLong(failure) => {
                counts.too_long += 1;
                if counts.too_long > MAX_TOO_LONG
                    || !self.make_fit(&failure, counts.too_long).await?
                {
                    return Ok(TurnStep::End(self.too_long_end(failure)));
                }
                Ok(TurnStep::Ask)
            }
            AnswerAction::Refused(failure) => {
                counts.refusals += 1;
                if counts.refusals <= MAX_REFUSALS && self.omit_refused(&failure).await? {
                    return Ok(TurnStep::Ask);
                }
                self.note_failure(counts.step, &failure).await;
                Ok(TurnStep::End(failed_end(failure)))
            }
            AnswerAction::Failed(failure) if failure.class == FailureClass::Cancelled => {
                Err(TurnStop::Stopped)
            }
            AnswerAction::Failed(failure) => Ok(TurnStep::End(failed_end(failure))),
        }
    }

    /// Runs calls (id, the model's name for the tool, arguments) and adds the pending texts to the
    /// prompt. Ends the turn if the loop detector says so, else asks again. Fails if the user stops
    /// the turn or a record cannot be written.
    async fn after_calls(
        &mut self,
        calls: Vec<(String, String, String)>,
        counts: &mut Counts,
    ) -> Result<TurnStep, TurnStop> {
        let seen = self.run_calls(calls).await?;
        for seen in seen {
            match self.loops.push(seen) {
                None => {}
                Some(LoopVerdict::Warn(text)) => {
                    counts.stalls += 1;
                    self.joining.push((PromptOrigin::Harness, text));
                }
                Some(LoopVerdict::End(what)) => return Ok(TurnStep::End(TurnEnd::Looped { what })),
            }
        }
        self.join_pending().await?;
        Ok(TurnStep::Ask)
    }

    /// Ends the turn once the model is done, unless there is more input.
    async fn on_model_done(&mut self, counts: &mut Counts) -> Result<TurnStep, TurnStop> {
        // Background agents must finish before the turn can end.
        while !self.inbox.children.is_empty() && self.joining.is_empty() {
            let late = self.inbox.during(self.late.recv()).await?;
            match late {
                Some(late) => self.joining.push(late),
                None => break,
            }
        }
        if counts.sent_back < MAX_SENT_BACK
            && self.joining.is_empty()
            && self.inbox.steering.is_empty()
            && !self.inbox.journal.has_for_request()
            && let Some(reason) = self.stop_hook(counts.sent_back > 0).await?
        {
            counts.sent_back += 1;
            self.joining.push(reason);
        }
        if self.join_pending().await? {
            Ok(TurnStep::Ask)
        } else {
            Ok(TurnStep::End(TurnEnd::Done))
        }
    }

    /// Adds all pending texts to the prompt as records: late answers of subagents, notes, messages
    /// for the running turn. Returns whether there were any.
    pub(super) async fn join_pending(&mut self) -> Result<bool, TurnStop> {
        self.gather_joining();
        let mut records: Vec<SessionRecord> = self
            .joining
            .drain(..)
            .map(|(origin, text)| SessionRecord::Joined {
                place: PromptPosition::AfterResults,
                origin,
                text,
            })
            .collect();
        let touched = std::mem::take(&mut self.touched);
        if let Some(context) = &mut self.context
            && !touched.is_empty()
        {
            let joining = self.inbox.during(context.touched(touched)).await?;
            records.extend(addition_records(joining));
        }
        // They stay where they are until they are recorded, since a stop may come first.
        let steering = self.inbox.steering.clone();
        let queued = self.inbox.journal.take_for_request();
        let from_queue = queued.iter().map(QueuedPrompt::prompt);
        for prompt in steering.iter().cloned().chain(from_queue) {
            records.extend(self.before_prompt(&prompt.text).await?);
            records.extend(self.prompt_records(&prompt, true));
        }
        let has_any = !records.is_empty();
        if has_any {
            let entries = queued.iter().map(|entry| entry.id).collect();
            self.write_sent(records, entries).await?;
            self.inbox.steering.drain(..steering.len());
        }
        Ok(has_any)
    }

    /// Collects the texts that wait elsewhere: late answers of subagents, and notes about commands that the
    /// user gave back.
    fn gather_joining(&mut self) {
        while let Ok(late) = self.late.try_recv() {
            self.joining.push(late);
        }
        let notes = self.inbox.take_control_notes().into_iter();
        self.joining
            .extend(notes.map(|text| (PromptOrigin::Harness, text)));
    }

    /// Writes records of prompts, and with them that these entries leave the queue.
    async fn write_sent(
        &mut self,
        mut records: Vec<SessionRecord>,
        entries: Vec<u64>,
    ) -> Result<(), TurnStop> {
        // Their additions to the queue come first.
        self.inbox.flush_queue().await;
        let sent: Vec<QueueChange> = entries
            .into_iter()
            .map(|id| QueueChange::Sent { id })
            .collect();
        let changes = sent.iter().cloned();
        records.extend(changes.map(|change| SessionRecord::Queued { change }));
        self.write(records).await?;
        for change in &sent {
            self.inbox.journal.note(change);
        }
        self.inbox.journal.end_sending();
        Ok(())
    }

    /// Returns the records that start a session; none if it has already started.
    async fn session_start_records(&mut self) -> Result<Vec<SessionRecord>, TurnStop> {
        let joining = self.open_context().await?;
        if self.has_begun {
            return Ok(Vec::new());
        }
        self.record_exposure();
        let mut records = vec![SessionRecord::Began {
            root: self.start.root.as_path().to_string_lossy().into_owned(),
            parent: self.start.parent.as_ref().map(|it| it.parent.clone()),
            forked_from: None,
            mode: self.mode,
            model: self.model.clone(),
        }];
        let effort = self.unrecorded_effort.take();
        records.extend(effort.map(|effort| SessionRecord::EffortSet { effort }));
        records.extend(joining);
        let hooked = self.start_hook().await?;
        records.extend(
            hooked
                .into_iter()
                .map(|(origin, text)| SessionRecord::Joined {
                    place: PromptPosition::BeforePrompt,
                    origin,
                    text,
                }),
        );
        Ok(records)
    }

    /// Creates the context if there is none yet. Returns the additions at the start of a session.
    async fn open_context(&mut self) -> Result<Vec<SessionRecord>, TurnStop> {
        if self.context.is_some() && self.has_begun {
            return Ok(Vec::new());
        }
        let specs = self.offered.specs.iter();
        let about = ContextRequest {
            root: self.start.root.clone(),
            profile: self.profile(),
            tools: specs
                .map(|(own, spec)| (own.clone(), spec.name.clone()))
                .collect(),
            is_subagent: self.start.parent.is_some(),
            mode: self.mode,
            prompt_sources: self.start.prompt_sources.clone(),
        };
        let opening = self.harness().parts.contexts.open(about, self.past.clone());
        let (context, joining) = self.inbox.during(opening).await?;
        self.past = Vec::new();
        self.context = Some(context);
        Ok(addition_records(joining))
    }

    /// Returns the records that precede the user's text `prompt`, without writing them: the pending
    /// texts, which it takes, and the additions of the context. Fails if the user stops the turn.
    async fn before_prompt(&mut self, prompt: &str) -> Result<Vec<SessionRecord>, TurnStop> {
        let mut records = Vec::new();
        self.gather_joining();
        let own = self
            .joining
            .drain(..)
            .map(|(origin, text)| SessionRecord::Joined {
                place: PromptPosition::BeforePrompt,
                origin,
                text,
            });
        records.extend(own);
        if let Some(context) = &mut self.context {
            let joining = self.inbox.during(context.prompt(prompt)).await?;
            records.extend(addition_records(joining));
        }
        Ok(records)
    }

    /// Returns the records of a prompt, and of the parts that cannot be sent.
    fn prompt_records(&self, prompt: &UserPrompt, is_steering: bool) -> Vec<SessionRecord> {
        // Every wire requires a user message before the model's.
        let is_blank = prompt.text.trim().is_empty() && prompt.images.is_empty();
        let text = if is_blank {
            EMPTY_MESSAGE
        } else {
            &prompt.text
        };
        let mut said: Vec<StoredPart> = Vec::new();
        // Providers refuse empty texts beside images.
        if !text.trim().is_empty() {
            said.push(stored_parts::text(text));
        }
        let bounds = ImageLimits::of(&self.profile());
        let mut records = Vec::new();
        for (ix, image) in prompt.images.iter().enumerate() {
            let checked = match image {
                PartContent::Image { bytes, .. } => {
                    images::check(bytes, &bounds).map(|it| (it, bytes))
                }
                _ => Err(ImageDefect::NotAnImage),
            };
            match checked {
                Ok((picture, bytes)) => said.extend(stored_parts::to_stored(&MessagePart::new(
                    PartContent::Image {
                        media_type: picture.media_type.to_owned(),
                        bytes: bytes.clone(),
                    },
                ))),
                Err(why) => {
                    let text = format!("image {} of the prompt was omitted: it {why}", ix + 1);
                    said.push(stored_parts::text(format!("[{text}]")));
                    records.push(SessionRecord::Noted { text });
                }
            }
        }
        records.push(SessionRecord::Prompted {
            turn: self.turn,
            parts: said,
            is_steering,
        });
        records
    }

    /// Runs the stop hooks; an answer from them sends the model back to work.
    async fn stop_hook(
        &mut self,
        was_sent_back: bool,
    ) -> Result<Option<(PromptOrigin, String)>, TurnStop> {
        let event = match self.start.parent {
            Some(_) => HookEvent::SubagentStop,
            None => HookEvent::Stop,
        };
        let more = [("stop_hook_active".to_owned(), was_sent_back.into())];
        let reply = self.run_hooks(event, more.into_iter().collect()).await?;
        Ok(reply.and_then(|reply| reply.block))
    }
}

/// Replacement for an empty prompt.
const EMPTY_MESSAGE: &str = "(an empty message)";
const CUT_OFF: &str = "Your answer was cut off: it was longer than what you may write at once. What you had begun to \
                       call was not run. Go on where you stopped, in smaller pieces.";
/// The reason of a compaction before a request: the conversation fills the model's context.
pub(super) const REASON_FULL: &str = "the conversation has grown long";
/// The reason of a compaction after a request that the model refused as too long.
pub(super) const REASON_TOO_LONG: &str = "the conversation is longer than the model takes";

/// Returns the records of additions, including the messages for the user.
fn addition_records(joining: ContextAdditions) -> Vec<SessionRecord> {
    let problems = joining.problems.into_iter();
    let problems = problems.map(|text| SessionRecord::Noted { text });
    joining.records.into_iter().chain(problems).collect()
}

/// Returns a note from the harness that precedes the next message.
pub(super) fn harness_note(text: String) -> SessionRecord {
    SessionRecord::Joined {
        place: PromptPosition::BeforePrompt,
        origin: PromptOrigin::Harness,
        text,
    }
}
