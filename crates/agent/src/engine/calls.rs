//! The calls of one answer: judged, allowed, run side by side where nothing is in the way, and ended, each in a
//! record.
//!
//! A call goes through these stops: prepared (arguments, access, mode) → hooks → leave → its turn among all that
//! touch the same → begun, on the disk → ended. Independent calls pass each other; results are ordered by the
//! transcript.

mod prepare;
mod run;

use std::future::pending;

use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use model::Content;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until};

use super::session::{Halt, Session};
use crate::ask::Decision;
use crate::compact::ends;
use crate::hooks::{HookTold, LeaveWord};
use crate::leave::{self, Verdict};
use crate::locks::Ticket;
use crate::loops::Seen;
use crate::outcome::{Detail, Outcome};
use crate::parts;
use crate::record::Record;
use crate::session::Event;
use crate::tool::{Answer, Scope};

use prepare::{Prepared, Ready};

/// Something that happened to a call.
enum Step {
    /// The hooks have spoken.
    Hooked(usize, Result<HookTold, String>),
    /// The person has decided; `None` where they never will.
    Decided(usize, Option<Decision>),
    /// Nobody is in the way any more.
    Free(usize),
    /// It is over.
    Ended(usize, Box<run::Ended>),
}

type Steps = FuturesUnordered<BoxFuture<'static, Step>>;

/// The calls of one answer on their way.
struct Batch {
    slots: Vec<Slot>,
    steps: Steps,
}

/// A call on its way.
struct Slot {
    id: String,
    /// The model's word for the tool.
    name: String,
    /// The tool's own name; the model's word where there is no such tool.
    tool: String,
    arguments: String,
    ready: Option<Ready>,
    /// Kept from the beginning, so that calls go in their order.
    ticket: Option<std::sync::Arc<Ticket>>,
    running: Option<AbortHandle>,
    began: Option<Instant>,
    seen: Option<Seen>,
    /// Ready when the call is over, for those that wait for it.
    over: Option<oneshot::Sender<()>>,
}

impl Slot {
    fn is_over(&self) -> bool {
        self.seen.is_some()
    }
}

impl Session {
    /// Runs the calls of an answer to their ends. Answers what was seen, in call order.
    pub(super) async fn run_calls(
        &mut self,
        calls: Vec<(String, String, String)>,
    ) -> Result<Vec<Seen>, Halt> {
        let mut batch = Batch {
            slots: Vec::with_capacity(calls.len()),
            steps: FuturesUnordered::new(),
        };
        let came = Instant::now();
        let mut befores: Vec<futures::future::Shared<BoxFuture<'static, ()>>> = Vec::new();
        for (id, name, arguments) in calls {
            let ix = batch.slots.len();
            let prepared = self.prepare(&id, &name, &arguments);
            let (over, is_over) = oneshot::channel::<()>();
            let mut slot = Slot {
                tool: name.clone(),
                id,
                name,
                arguments,
                ready: None,
                ticket: None,
                running: None,
                began: None,
                seen: None,
                over: Some(over),
            };
            match prepared {
                Prepared::Answered { tool, answer } => {
                    slot.tool = tool;
                    batch.slots.push(slot);
                    self.end_call(&mut batch, ix, *answer, 0).await;
                }
                Prepared::Ready(mut ready) => {
                    ready.tool.name().clone_into(&mut slot.tool);
                    if ready.call.waits {
                        ready.befores = befores.clone();
                    }
                    slot.ticket = Some(std::sync::Arc::new(self.locks.queue(&ready.access)));
                    let hooked = self.pre_tool_use(&slot.tool, &ready.call);
                    batch
                        .steps
                        .push(hooked.map(move |told| Step::Hooked(ix, told)).boxed());
                    slot.ready = Some(*ready);
                    batch.slots.push(slot);
                }
            }
            befores.push(is_over.map(|_| ()).boxed().shared());
        }
        let done = self.drive(&mut batch).await;
        if let Err(halt) = done {
            self.abort(&mut batch, came).await;
            return Err(halt);
        }
        Ok(batch
            .slots
            .into_iter()
            .filter_map(|slot| slot.seen)
            .collect())
    }

    async fn drive(&mut self, batch: &mut Batch) -> Result<(), Halt> {
        while batch.slots.iter().any(|slot| !slot.is_over()) {
            let Some(first) = self.inbox.during(batch.steps.next()).await? else {
                base::never!("a call that is not over has a next step");
                return Ok(());
            };
            // What is ready at the same time is written down at once: one trip to the disk for all.
            let mut steps = vec![first];
            while let Some(Some(step)) = batch.steps.next().now_or_never() {
                steps.push(step);
            }
            let mut free = Vec::new();
            for step in steps {
                match step {
                    Step::Hooked(ix, told) => self.hooked(batch, ix, told).await?,
                    Step::Decided(ix, decision) => self.decided(batch, ix, decision).await?,
                    Step::Free(ix) => free.push(ix),
                    Step::Ended(ix, ended) => self.ended(batch, ix, *ended).await,
                }
            }
            self.begin(batch, free).await?;
        }
        Ok(())
    }

    /// The hooks have spoken: now the rules do, and then, where it is needed, the person.
    async fn hooked(
        &mut self,
        batch: &mut Batch,
        ix: usize,
        told: Result<HookTold, String>,
    ) -> Result<(), Halt> {
        let told = told.unwrap_or_default();
        self.joining.extend(told.context);
        for problem in told.problems {
            self.note(vec![Record::Noted { text: problem }]).await;
        }
        if let Some((_, reason)) = told.block {
            self.deny(batch, ix, format!("a hook forbids it: {reason}"))
                .await;
            return Ok(());
        }
        let Some(ready) = batch.slots[ix].ready.as_ref() else {
            return Ok(());
        };
        let judged = self
            .start
            .judge
            .judge(&*ready.tool, &ready.call, &ready.access, self.mode);
        // A hook may loosen what would be asked, never what is forbidden.
        let verdict = match (judged, told.leave) {
            (Verdict::Deny { reason }, _) => Verdict::Deny { reason },
            (_, Some(LeaveWord::Deny(reason))) => Verdict::Deny { reason },
            (_, Some(LeaveWord::Ask(reason))) => Verdict::Ask { reason },
            (_, Some(LeaveWord::Allow)) => Verdict::Allow,
            (verdict, None) => verdict,
        };
        match verdict {
            Verdict::Allow => self.queue(batch, ix),
            Verdict::Deny { reason } => self.deny(batch, ix, reason).await,
            Verdict::Ask { reason } => self.ask_leave(batch, ix, reason).await?,
        }
        Ok(())
    }

    async fn ask_leave(
        &mut self,
        batch: &mut Batch,
        ix: usize,
        reason: String,
    ) -> Result<(), Halt> {
        let slot = &batch.slots[ix];
        let Some(ready) = &slot.ready else {
            return Ok(());
        };
        let id = slot.id.clone();
        let title = ready.access.title.clone();
        let details = leave::details(&ready.call, &ready.access);
        let rules = self.start.judge.rules(&*ready.tool, &ready.access);
        if !self.start.has_person {
            let why = format!(
                "it needs leave ({reason}), and nobody is there to give it. Do without it, or say what has to be \
                 allowed"
            );
            self.deny(batch, ix, why).await;
            return Ok(());
        }
        let decided = self.inbox.leave(&id);
        let hooked = self.permission_request(&title, &slot.tool, &ready.call, &reason);
        batch.steps.push(
            async move {
                // A hook may decide in the person's place; the first to speak counts.
                let hooked = async {
                    match hooked.await {
                        Some(decision) => decision,
                        None => pending().await,
                    }
                };
                tokio::select! {
                    decision = decided => Step::Decided(ix, decision.ok()),
                    decision = hooked => Step::Decided(ix, Some(decision)),
                }
            }
            .boxed(),
        );
        self.write(vec![Record::LeaveAsked {
            call: id,
            title,
            details,
            reason,
            rules,
        }])
        .await
    }

    async fn decided(
        &mut self,
        batch: &mut Batch,
        ix: usize,
        decision: Option<Decision>,
    ) -> Result<(), Halt> {
        let decision = decision.unwrap_or(Decision::Refuse { instead: None });
        let call = batch.slots[ix].id.clone();
        self.write(vec![Record::LeaveGiven {
            call,
            decision: decision.clone(),
        }])
        .await?;
        if let Some(ready) = &batch.slots[ix].ready {
            let judge = self.start.judge.clone();
            let learned = judge.learn(&*ready.tool, &ready.call, &ready.access, &decision);
            if let Err(text) = learned {
                self.note(vec![Record::Noted { text }]).await;
            }
        }
        match decision {
            Decision::Once | Decision::Session | Decision::Always | Decision::Everywhere => {
                self.queue(batch, ix);
            }
            Decision::Refuse { instead } => {
                let instead = instead.map(|instead| format!(". They say: {instead}"));
                let why = format!("the person refused it{}", instead.unwrap_or_default());
                self.deny(batch, ix, why).await;
            }
        }
        Ok(())
    }

    /// Lets an allowed call wait for its turn.
    fn queue(&mut self, batch: &mut Batch, ix: usize) {
        let slot = &mut batch.slots[ix];
        let befores = slot
            .ready
            .as_mut()
            .map(|ready| std::mem::take(&mut ready.befores));
        let ticket = slot.ticket.clone();
        batch.steps.push(
            async move {
                futures::future::join_all(befores.unwrap_or_default()).await;
                if let Some(ticket) = ticket {
                    ticket.turn().await;
                }
                Step::Free(ix)
            }
            .boxed(),
        );
    }

    /// Writes down that calls begin, and begins them.
    async fn begin(&mut self, batch: &mut Batch, free: Vec<usize>) -> Result<(), Halt> {
        if free.is_empty() {
            return Ok(());
        }
        let mut records = Vec::new();
        for &ix in &free {
            let slot = &batch.slots[ix];
            if let Some(ready) = &slot.ready {
                records.push(Record::CallBegan {
                    turn: self.turn,
                    call: slot.id.clone(),
                    tool: slot.tool.clone(),
                    name: slot.name.clone(),
                    class: ready.tool.class(),
                    title: ready.access.title.clone(),
                    input: ready.call.input.value(),
                });
            }
        }
        self.write(records).await?;
        for ix in free {
            let slot = &mut batch.slots[ix];
            let Some(ready) = slot.ready.take() else {
                continue;
            };
            let scopes = ready.access.reads.iter().chain(&ready.access.writes);
            self.touched.extend(scopes.filter_map(|scope| match scope {
                Scope::Path(path) if !path.starts_with('/') => Some(path.clone()),
                _ => None,
            }));
            let (abort, ended) = run::spawn(ready, &self.events, self.post_hooks());
            slot.began = Some(Instant::now());
            slot.running = Some(abort);
            batch.steps.push(
                ended
                    .map(move |ended| Step::Ended(ix, Box::new(ended)))
                    .boxed(),
            );
        }
        Ok(())
    }

    async fn ended(&mut self, batch: &mut Batch, ix: usize, ended: run::Ended) {
        self.joining.extend(ended.told.context);
        if let Some(blocked) = ended.told.block {
            self.joining.push(blocked);
        }
        for problem in ended.told.problems {
            self.note(vec![Record::Noted { text: problem }]).await;
        }
        let millis = ended.took.as_millis() as u64;
        self.end_call(batch, ix, ended.answer, millis).await;
    }

    async fn deny(&mut self, batch: &mut Batch, ix: usize, reason: String) {
        let answer = Answer::new(
            Outcome::UserAborted,
            format!("This call was not run: {reason}."),
        );
        self.end_call(batch, ix, answer.with_detail(Detail::Denied), 0)
            .await;
    }

    /// Writes down how a call ended.
    async fn end_call(&mut self, batch: &mut Batch, ix: usize, answer: Answer, millis: u64) {
        let slot = &mut batch.slots[ix];
        if slot.is_over() {
            return;
        }
        (slot.ready, slot.ticket, slot.running) = (None, None, None);
        slot.over.take().map(|over| over.send(()).is_ok());
        let is_error = answer.outcome.is_error();
        slot.seen = Some(Seen::new(
            &slot.tool,
            &slot.arguments,
            &answer.text(),
            is_error,
        ));
        let (call, tool) = (slot.id.clone(), slot.tool.clone());
        self.record_end(call, tool, answer, millis).await;
    }

    async fn record_end(&mut self, call: String, tool: String, mut answer: Answer, millis: u64) {
        self.bound(&mut answer);
        self.measure_call(&tool, answer.outcome, millis);
        let planned = answer.shown.iter().find_map(|shown| match shown {
            crate::tool::Shown::Plan(todos) => Some(Record::Planned {
                todos: todos.clone(),
            }),
            _ => None,
        });
        if let Some(Record::Planned { todos }) = &planned {
            self.todos.clone_from(todos);
        }
        let ended = Record::CallEnded {
            turn: self.turn,
            call,
            tool,
            outcome: answer.outcome,
            detail: answer.detail,
            content: parts::stored_answer(&answer.content),
            shown: answer.shown,
            millis,
        };
        self.note(std::iter::once(ended).chain(planned).collect())
            .await;
    }

    /// Keeps an answer within what any model takes: no text is longer than half of the window, and none holds a NUL,
    /// which some providers refuse. Tools bound their answers themselves; this is for those that do not.
    fn bound(&self, answer: &mut Answer) {
        let most = (self.context_size().0.saturating_mul(3) / 2).max(2_000) as usize;
        for content in &mut answer.content {
            if let Content::Text(text) = content {
                if text.len() > most {
                    *text = ends(text, most);
                }
                if text.contains('\0') {
                    *text = text.replace('\0', "\u{fffd}");
                }
            }
        }
    }

    /// Ends everything that runs: what can say what it did has a moment to, then it is dropped. Every call is
    /// answered.
    async fn abort(&mut self, batch: &mut Batch, came: Instant) {
        let deadline = Instant::now() + self.harness().parts.limits.grace;
        while batch.slots.iter().any(|slot| slot.running.is_some()) {
            tokio::select! {
                biased;
                Some(step) = batch.steps.next() => if let Step::Ended(ix, ended) = step {
                    self.ended(batch, ix, *ended).await;
                },
                () = sleep_until(deadline) => break,
            }
        }
        for slot in &batch.slots {
            if let Some(running) = &slot.running {
                running.abort();
            }
        }
        // Dropping these takes back every question, and the tickets with them.
        batch.steps.clear();
        for ix in 0..batch.slots.len() {
            let slot = &batch.slots[ix];
            let text = match slot.began {
                Some(began) => format!(
                    "aborted by the user after {} s; it may have done part of its work",
                    began.elapsed().as_secs()
                ),
                None => format!(
                    "aborted by the user after {} s, before it began",
                    came.elapsed().as_secs()
                ),
            };
            let millis = slot
                .began
                .map_or(0, |began| began.elapsed().as_millis() as u64);
            let answer = Answer::new(Outcome::UserAborted, text);
            self.end_call(batch, ix, answer, millis).await;
        }
    }

    /// Answers calls that will not be run, since the turn was stopped while the model still wrote.
    pub(super) async fn abort_unbegun(&mut self, calls: &[(String, String, String)]) {
        for (id, name, _) in calls {
            let tool = self.offered.tools.get(name);
            let tool = tool.map_or_else(|| name.clone(), |tool| tool.name().to_owned());
            let answer = Answer::new(Outcome::UserAborted, "aborted by the user before it began");
            self.record_end(id.clone(), tool, answer, 0).await;
        }
    }

    pub(super) fn shown_progress(events: &super::inbox::Events, call: &str, text: String) {
        events.show(Event::Progress {
            call: call.to_owned(),
            text,
        });
    }
}
