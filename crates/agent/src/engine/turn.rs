//! A turn: from a prompt to the moment at which the model, the person or a bound ends it.

use model::policy::route::Boundary;
use model::{Content, FailureClass, Part, StopReason};

use super::ask::{Heard, failed_end};
use super::prompt::Standing;
use super::session::{Halt, Session};
use super::shared::{About, Joining};
use crate::hooks::HookEvent;
use crate::loops::{Circle, Loops};
use crate::parts;
use crate::picture::{self, Bounds};
use crate::record::{Origin, PromptPlace, Record, StoredPart, TurnEnd};
use crate::session::Prompt;

/// How often an answer may break off at its limit before the turn ends.
const CUT_OFFS: u32 = 3;
/// How often a provider may pause one after the other.
const PAUSES: u32 = 64;
/// How often a conversation is made shorter within a turn because the model refused its length.
const TOO_LONG: u32 = 16;
/// How often parts that a provider refuses are left out within a turn.
const REFUSALS: u32 = 64;
/// How often hooks may send a model back to work at the end of a turn.
const SENT_BACK: u32 = 3;

/// What is counted within a turn.
#[derive(Default)]
struct Counts {
    step: u64,
    /// Answers in a row that broke off at their limit.
    cut_offs: u32,
    pauses: u32,
    sent_back: u32,
    /// How often in a row the model refused the conversation's length.
    too_long: u32,
    refusals: u32,
    stalls: u32,
}

/// What comes after an answer.
enum Next {
    /// Another request.
    Ask,
    End(TurnEnd),
}

impl Session {
    /// Runs a turn to its end.
    pub(super) async fn turn(&mut self, prompt: &Prompt) -> Result<TurnEnd, Halt> {
        self.turn += 1;
        self.loops = Loops::default();
        if let Some(spawn) = &self.spawn {
            spawn.set(&self.model, self.mode);
        }
        let mut records = self.beginning().await?;
        match self.submitted(&prompt.text).await? {
            Ok(joined) => self.joining.extend(joined),
            Err(reason) => {
                let what = format!("a hook does not let this prompt through: {reason}");
                records.push(Record::Noted { text: what.clone() });
                self.write(records).await?;
                let class = "hook".to_owned();
                return Ok(TurnEnd::Failed { class, what });
            }
        }
        records.extend(self.before_prompt(&prompt.text).await?);
        records.extend(self.prompted(prompt, false));
        self.write(records).await?;
        self.is_written = true;
        self.steps(&prompt.text).await
    }

    async fn steps(&mut self, prompt: &str) -> Result<TurnEnd, Halt> {
        let mut counts = Counts::default();
        let mut boundary = Boundary::NewTurn;
        loop {
            counts.step += 1;
            self.apply_wishes().await?;
            if self.inbox.is_stopped() {
                return Err(Halt::Stopped);
            }
            if self.is_full() && self.compact(HOW_FULL).await? {
                boundary = Boundary::Compacted;
            }
            if let Some(what) = self.purse.is_empty() {
                return Ok(TurnEnd::OutOfBudget { what });
            }
            let standing = Standing {
                boundary,
                stalls: counts.stalls,
            };
            let heard = self.ask(counts.step, prompt, standing).await?;
            boundary = match counts.stalls {
                0 => Boundary::Within,
                _ => Boundary::Stalled,
            };
            match self.after(heard, &mut counts).await? {
                Next::Ask => {}
                Next::End(end) => return Ok(end),
            }
        }
    }

    async fn after(&mut self, heard: Heard, counts: &mut Counts) -> Result<Next, Halt> {
        match heard {
            Heard::Calls(calls) => {
                (counts.cut_offs, counts.pauses, counts.too_long) = (0, 0, 0);
                self.after_calls(calls, counts).await
            }
            Heard::Done(StopReason::MaxTokens) => {
                counts.cut_offs += 1;
                if counts.cut_offs > CUT_OFFS {
                    return Ok(Next::End(TurnEnd::Failed {
                        class: "max_tokens".to_owned(),
                        what: format!(
                            "{CUT_OFFS} answers in a row were longer than the model may write at once"
                        ),
                    }));
                }
                self.joining.push((Origin::Harness, CUT_OFF.to_owned()));
                self.join().await?;
                Ok(Next::Ask)
            }
            Heard::Done(StopReason::Pause) if counts.pauses < PAUSES => {
                counts.pauses += 1;
                Ok(Next::Ask)
            }
            Heard::Done(StopReason::Refusal) => Ok(Next::End(TurnEnd::Refused)),
            Heard::Done(_) => self.at_end(counts).await,
            Heard::TooLong(failure) => {
                counts.too_long += 1;
                if counts.too_long > TOO_LONG || !self.make_fit(&failure, counts.too_long).await? {
                    return Ok(Next::End(self.too_long_end(failure)));
                }
                Ok(Next::Ask)
            }
            Heard::Refused(failure) => {
                counts.refusals += 1;
                if counts.refusals <= REFUSALS && self.omit_refused(&failure).await? {
                    return Ok(Next::Ask);
                }
                self.note_failure(counts.step, &failure).await;
                Ok(Next::End(failed_end(failure)))
            }
            Heard::Failed(failure) if failure.class == FailureClass::Cancelled => {
                Err(Halt::Stopped)
            }
            Heard::Failed(failure) => Ok(Next::End(failed_end(failure))),
        }
    }

    async fn after_calls(
        &mut self,
        calls: Vec<(String, String, String)>,
        counts: &mut Counts,
    ) -> Result<Next, Halt> {
        let seen = self.run_calls(calls).await?;
        for seen in seen {
            match self.loops.push(seen) {
                None => {}
                Some(Circle::Warn(text)) => {
                    counts.stalls += 1;
                    self.joining.push((Origin::Harness, text));
                }
                Some(Circle::End(what)) => return Ok(Next::End(TurnEnd::Looped { what })),
            }
        }
        self.join().await?;
        Ok(Next::Ask)
    }

    /// The model is done. The turn is, too, unless somebody has more to say.
    async fn at_end(&mut self, counts: &mut Counts) -> Result<Next, Halt> {
        // Who was sent away has to come back before the turn can end.
        while !self.inbox.children.is_empty() && self.joining.is_empty() {
            let late = self.inbox.during(self.late.recv()).await?;
            match late {
                Some(late) => self.joining.push(late),
                None => break,
            }
        }
        if counts.sent_back < SENT_BACK
            && self.joining.is_empty()
            && self.inbox.steering.is_empty()
            && let Some(reason) = self.stop_hook(counts.sent_back > 0).await?
        {
            counts.sent_back += 1;
            self.joining.push(reason);
        }
        match self.join().await? {
            true => Ok(Next::Ask),
            false => Ok(Next::End(TurnEnd::Done)),
        }
    }

    /// Lets everything join that waits: notes, late answers, what the person steers with. Whether there was any.
    pub(super) async fn join(&mut self) -> Result<bool, Halt> {
        while let Ok(late) = self.late.try_recv() {
            self.joining.push(late);
        }
        let mut records: Vec<Record> = self
            .joining
            .drain(..)
            .map(|(origin, text)| Record::Joined {
                place: PromptPlace::AfterResults,
                origin,
                text,
            })
            .collect();
        let touched = std::mem::take(&mut self.touched);
        if let Some(context) = &mut self.context
            && !touched.is_empty()
        {
            let joining = self.inbox.during(context.touched(touched)).await?;
            records.extend(told(joining));
        }
        for prompt in std::mem::take(&mut self.inbox.steering) {
            records.extend(self.before_prompt(&prompt.text).await?);
            records.extend(self.prompted(&prompt, true));
        }
        let has_any = !records.is_empty();
        if has_any {
            self.write(records).await?;
        }
        Ok(has_any)
    }

    /// The records with which a session begins; none where it has begun.
    async fn beginning(&mut self) -> Result<Vec<Record>, Halt> {
        let joining = self.open_context().await?;
        if self.has_begun {
            return Ok(Vec::new());
        }
        let mut records = vec![Record::Began {
            root: self.start.root.as_path().to_string_lossy().into_owned(),
            parent: self.start.parent.as_ref().map(|it| it.parent.clone()),
            forked_from: None,
            mode: self.mode,
            model: self.model.clone(),
        }];
        records.extend(joining);
        let hooked = self.start_hook().await?;
        records.extend(hooked.into_iter().map(|(origin, text)| Record::Joined {
            place: PromptPlace::BeforePrompt,
            origin,
            text,
        }));
        Ok(records)
    }

    /// Makes the context where there is none yet. What joins at the beginning of a session.
    async fn open_context(&mut self) -> Result<Vec<Record>, Halt> {
        if self.context.is_some() && self.has_begun {
            return Ok(Vec::new());
        }
        let specs = self.offered.specs.iter();
        let about = About {
            root: self.start.root.clone(),
            profile: self.profile(),
            tools: specs
                .map(|(own, spec)| (own.clone(), spec.name.clone()))
                .collect(),
            is_subagent: self.start.parent.is_some(),
            mode: self.mode,
        };
        let opening = self.harness().parts.contexts.open(about, self.past.clone());
        let (context, joining) = self.inbox.during(opening).await?;
        self.past = Vec::new();
        self.context = Some(context);
        Ok(told(joining))
    }

    async fn before_prompt(&mut self, prompt: &str) -> Result<Vec<Record>, Halt> {
        let mut records = Vec::new();
        while let Ok(late) = self.late.try_recv() {
            self.joining.push(late);
        }
        let own = self.joining.drain(..).map(|(origin, text)| Record::Joined {
            place: PromptPlace::BeforePrompt,
            origin,
            text,
        });
        records.extend(own);
        if let Some(context) = &mut self.context {
            let joining = self.inbox.during(context.prompt(prompt)).await?;
            records.extend(told(joining));
        }
        Ok(records)
    }

    /// What the person says, and what of it cannot be sent.
    fn prompted(&self, prompt: &Prompt, is_steering: bool) -> Vec<Record> {
        // Every wire wants the person to say something before the model does.
        let is_blank = prompt.text.trim().is_empty() && prompt.images.is_empty();
        let text = if is_blank { NO_WORDS } else { &prompt.text };
        let mut said: Vec<StoredPart> = vec![parts::text(text)];
        let bounds = Bounds::of(&self.profile());
        let mut records = Vec::new();
        for (ix, image) in prompt.images.iter().enumerate() {
            let checked = match image {
                Content::Image { bytes, .. } => {
                    picture::check(bytes, &bounds).map(|it| (it, bytes))
                }
                _ => Err("cannot be read".to_owned()),
            };
            match checked {
                Ok((picture, bytes)) => said.extend(parts::stored(&Part::new(Content::Image {
                    media_type: picture.media_type.to_owned(),
                    bytes: bytes.clone(),
                }))),
                Err(why) => {
                    let text = format!("picture {} of the prompt is left out: it {why}", ix + 1);
                    said.push(parts::text(format!("[{text}]")));
                    records.push(Record::Noted { text });
                }
            }
        }
        records.push(Record::Prompted {
            turn: self.turn,
            parts: said,
            is_steering,
        });
        records
    }

    /// Asks the hooks at the end of a turn; what they answer sends the model back to work.
    async fn stop_hook(&mut self, was_sent_back: bool) -> Result<Option<(Origin, String)>, Halt> {
        let event = match self.start.parent {
            Some(_) => HookEvent::SubagentStop,
            None => HookEvent::Stop,
        };
        let more = [("stop_hook_active".to_owned(), was_sent_back.into())];
        let told = self.run_hooks(event, more.into_iter().collect()).await?;
        Ok(told.and_then(|told| told.block))
    }
}

/// What stands for a prompt that says nothing.
const NO_WORDS: &str = "(an empty message)";
const CUT_OFF: &str = "Your answer was cut off: it was longer than what you may write at once. What you had begun to \
                       call was not run. Go on where you stopped, in smaller pieces.";
pub(super) const HOW_FULL: &str = "the conversation has grown long";
pub(super) const HOW_TOO_LONG: &str = "the conversation is longer than the model takes";

/// What joins, and what could not, for the person.
fn told(joining: Joining) -> Vec<Record> {
    let problems = joining.problems.into_iter();
    let problems = problems.map(|text| Record::Noted { text });
    joining.records.into_iter().chain(problems).collect()
}

/// A note of the harness in front of what comes next.
pub(super) fn harness_note(text: String) -> Record {
    Record::Joined {
        place: PromptPlace::BeforePrompt,
        origin: Origin::Harness,
        text,
    }
}
