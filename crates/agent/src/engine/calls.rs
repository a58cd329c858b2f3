//! Runs the calls of one response: checked, permitted, run in parallel where possible, and ended,
//! each with a record.
//!
//! Stages of a call: prepared (arguments, access, mode) → hooks → permission → its turn among the
//! calls with overlapping access → started, on the disk → ended. Independent calls overtake each
//! other; the transcript orders the results.

mod prepare;
mod run;

use std::future::pending;

use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use model::PartContent;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until};

use super::session::{SessionTask, TurnStop};
use crate::excerpt::head_and_tail;
use crate::hooks::{HookPermission, HookReply};
use crate::locks::LockTicket;
use crate::loops::CallFingerprint;
use crate::outcome::{CallOutcome, Detail};
use crate::permission::{self, PermissionVerdict};
use crate::record::SessionRecord;
use crate::session::AgentEvent;
use crate::stored_parts;
use crate::tool::{LockScope, ToolResult};
use crate::user_prompts::PermissionDecision;

use prepare::{Preparation, PreparedCall};

/// An event in the life of a call.
enum CallEvent {
    /// The hooks have answered.
    Hooked(usize, HookReply),
    /// The user has decided; `None` if there will be no decision.
    Decided(usize, Option<PermissionDecision>),
    /// The call holds its locks and can start.
    Free(usize),
    /// The call has ended.
    Ended(usize, Box<run::FinishedCall>),
}

type CallEvents = FuturesUnordered<BoxFuture<'static, CallEvent>>;

/// The calls of one response in progress.
struct CallBatch {
    calls: Vec<ActiveCall>,
    events: CallEvents,
}

/// A call in progress.
struct ActiveCall {
    id: String,
    /// The model's name for the tool.
    name: String,
    /// The tool's own name, or the model's name if there is no such tool.
    tool: String,
    arguments: String,
    ready: Option<PreparedCall>,
    /// Place in the lock queue, taken at the start so that calls keep their order.
    ticket: Option<std::sync::Arc<LockTicket>>,
    running: Option<AbortHandle>,
    began: Option<Instant>,
    seen: Option<CallFingerprint>,
    /// Resolves when the call is over, for calls that wait for it.
    over: Option<oneshot::Sender<()>>,
}

impl ActiveCall {
    /// Returns whether the call has its result.
    fn is_over(&self) -> bool {
        self.seen.is_some()
    }
}

impl SessionTask {
    /// Runs the calls of a response (id, the model's name for the tool, arguments) to their ends,
    /// each with its records. Returns the fingerprints of calls and results in call order. If the
    /// user stops the turn, running calls are stopped and all calls still get a result.
    pub(super) async fn run_calls(
        &mut self,
        calls: Vec<(String, String, String)>,
    ) -> Result<Vec<CallFingerprint>, TurnStop> {
        let mut batch = CallBatch {
            calls: Vec::with_capacity(calls.len()),
            events: FuturesUnordered::new(),
        };
        let received_at = Instant::now();
        let mut befores: Vec<futures::future::Shared<BoxFuture<'static, ()>>> = Vec::new();
        for (position, (id, name, arguments)) in calls.iter().cloned().enumerate() {
            let ix = batch.calls.len();
            let prepared = match self.prepare(&id, &name, &arguments).await {
                Ok(prepared) => prepared,
                Err(halt) => {
                    self.abort(&mut batch, received_at).await;
                    self.abort_unstarted(&calls[position..]).await;
                    return Err(halt);
                }
            };
            let (over, is_over) = oneshot::channel::<()>();
            let mut slot = ActiveCall {
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
                Preparation::Answered { tool, answer } => {
                    slot.tool = tool;
                    batch.calls.push(slot);
                    self.end_call(&mut batch, ix, *answer, 0).await;
                }
                Preparation::Ready(mut ready) => {
                    ready.tool.name().clone_into(&mut slot.tool);
                    if ready.call.waits {
                        ready.predecessors = befores.clone();
                    }
                    slot.ticket = Some(std::sync::Arc::new(self.locks.queue(&ready.access)));
                    let hooked = self.pre_tool_use(&slot.tool, &ready.call);
                    batch.events.push(
                        hooked
                            .map(move |reply| CallEvent::Hooked(ix, reply))
                            .boxed(),
                    );
                    slot.ready = Some(*ready);
                    batch.calls.push(slot);
                }
            }
            befores.push(is_over.map(|_| ()).boxed().shared());
        }
        let done = self.drive(&mut batch).await;
        if let Err(halt) = done {
            self.abort(&mut batch, received_at).await;
            return Err(halt);
        }
        Ok(batch
            .calls
            .into_iter()
            .filter_map(|slot| slot.seen)
            .collect())
    }

    /// Handles the events of the calls until each has its result. Fails when the user stops the
    /// turn or a record cannot be written; calls may still run then.
    async fn drive(&mut self, batch: &mut CallBatch) -> Result<(), TurnStop> {
        while batch.calls.iter().any(|slot| !slot.is_over()) {
            let Some(first) = self.inbox.during(batch.events.next()).await? else {
                base::never!("a call that is not over has a next step");
                return Ok(());
            };
            // Events that are ready together are recorded together, with one write to the disk.
            let mut steps = vec![first];
            while let Some(Some(step)) = batch.events.next().now_or_never() {
                steps.push(step);
            }
            let mut free = Vec::new();
            for step in steps {
                match step {
                    CallEvent::Hooked(ix, reply) => self.on_hooks_done(batch, ix, reply).await?,
                    CallEvent::Decided(ix, decision) => {
                        self.on_decision(batch, ix, decision).await?
                    }
                    CallEvent::Free(ix) => free.push(ix),
                    CallEvent::Ended(ix, ended) => self.on_call_end(batch, ix, *ended).await,
                }
            }
            self.start_calls(batch, free).await?;
        }
        Ok(())
    }

    /// Continues after the hooks: applies the permission rules, then asks the user if necessary.
    async fn on_hooks_done(
        &mut self,
        batch: &mut CallBatch,
        ix: usize,
        reply: HookReply,
    ) -> Result<(), TurnStop> {
        self.joining.extend(reply.context);
        for problem in reply.problems {
            self.write_later(vec![SessionRecord::Noted { text: problem }])
                .await;
        }
        if let Some((_, reason)) = reply.block {
            self.deny(batch, ix, format!("blocked by a hook: {reason}"))
                .await;
            return Ok(());
        }
        let Some(ready) = batch.calls[ix].ready.as_ref() else {
            return Ok(());
        };
        let judged =
            self.start
                .call_judge
                .evaluate(&*ready.tool, &ready.call, &ready.access, self.mode);
        // A hook can turn a question into permission, but never override a denial.
        let verdict = match (judged, reply.permission) {
            (PermissionVerdict::Deny { reason }, _) => PermissionVerdict::Deny { reason },
            (_, Some(HookPermission::Deny(reason))) => PermissionVerdict::Deny { reason },
            (_, Some(HookPermission::Ask(reason))) => PermissionVerdict::Ask { reason },
            (_, Some(HookPermission::Allow)) => PermissionVerdict::Allow,
            (verdict, None) => verdict,
        };
        match verdict {
            PermissionVerdict::Allow => self.queue(batch, ix),
            PermissionVerdict::Deny { reason } => self.deny(batch, ix, reason).await,
            PermissionVerdict::Ask { reason } => self.ask_permission(batch, ix, reason).await?,
        }
        Ok(())
    }

    /// Asks the user and the hooks for permission of the call `ix`; the first decision arrives as
    /// `CallEvent::Decided`. Denies the call at once if the session has no user. Fails if the
    /// question cannot be recorded.
    async fn ask_permission(
        &mut self,
        batch: &mut CallBatch,
        ix: usize,
        reason: String,
    ) -> Result<(), TurnStop> {
        let slot = &batch.calls[ix];
        let Some(ready) = &slot.ready else {
            return Ok(());
        };
        let id = slot.id.clone();
        let title = ready.access.title.clone();
        let details = permission::details(&ready.call, &ready.access);
        let rules = self.start.call_judge.rules(&*ready.tool, &ready.access);
        if !self.start.has_user {
            let why = format!(
                "permission required ({reason}), and no user is attached. Do without it, or say what has to be \
                 allowed"
            );
            self.deny(batch, ix, why).await;
            return Ok(());
        }
        let decided = self.inbox.await_decision(&id);
        let hooked = self.permission_request(&title, &slot.tool, &ready.call, &reason);
        batch.events.push(
            async move {
                // A hook can decide instead of the user; the first decision counts.
                let hooked = async {
                    match hooked.await {
                        Some(decision) => decision,
                        None => pending().await,
                    }
                };
                tokio::select! {
                    decision = decided => CallEvent::Decided(ix, decision.ok()),
                    decision = hooked => CallEvent::Decided(ix, Some(decision)),
                }
            }
            .boxed(),
        );
        self.write(vec![SessionRecord::LeaveAsked {
            call: id,
            title,
            details,
            reason,
            rules,
        }])
        .await
    }

    /// Records the decision about the call `ix` and stores the rules it implies, then queues or
    /// denies the call. `None` counts as a refusal. Fails if the decision cannot be recorded; rules
    /// that cannot be stored only give a note.
    async fn on_decision(
        &mut self,
        batch: &mut CallBatch,
        ix: usize,
        decision: Option<PermissionDecision>,
    ) -> Result<(), TurnStop> {
        let decision = decision.unwrap_or(PermissionDecision::Refuse { instead: None });
        let call = batch.calls[ix].id.clone();
        self.write(vec![SessionRecord::LeaveGiven {
            call,
            decision: decision.clone(),
        }])
        .await?;
        if let Some(ready) = &batch.calls[ix].ready {
            let judge = self.start.call_judge.clone();
            let learned = judge.remember(&*ready.tool, &ready.call, &ready.access, &decision);
            if let Err(error) = learned {
                let text = error.to_string();
                self.write_later(vec![SessionRecord::Noted { text }]).await;
            }
        }
        match decision {
            PermissionDecision::Once
            | PermissionDecision::Session
            | PermissionDecision::Always
            | PermissionDecision::Everywhere => {
                self.queue(batch, ix);
            }
            PermissionDecision::Refuse { instead } => {
                let instead = instead.map(|instead| format!(". They say: {instead}"));
                let why = format!("the user refused it{}", instead.unwrap_or_default());
                self.deny(batch, ix, why).await;
            }
        }
        Ok(())
    }

    /// Queues a permitted call for its locks.
    fn queue(&mut self, batch: &mut CallBatch, ix: usize) {
        let slot = &mut batch.calls[ix];
        let befores = slot
            .ready
            .as_mut()
            .map(|ready| std::mem::take(&mut ready.predecessors));
        let ticket = slot.ticket.clone();
        batch.events.push(
            async move {
                futures::future::join_all(befores.unwrap_or_default()).await;
                if let Some(ticket) = ticket {
                    ticket.turn().await;
                }
                CallEvent::Free(ix)
            }
            .boxed(),
        );
    }

    /// Records the start of calls, then starts them.
    async fn start_calls(
        &mut self,
        batch: &mut CallBatch,
        free: Vec<usize>,
    ) -> Result<(), TurnStop> {
        if free.is_empty() {
            return Ok(());
        }
        let mut records = Vec::new();
        for &ix in &free {
            let slot = &batch.calls[ix];
            if let Some(ready) = &slot.ready {
                records.push(SessionRecord::CallBegan {
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
            let slot = &mut batch.calls[ix];
            let Some(ready) = slot.ready.take() else {
                continue;
            };
            self.note_changed(ready.tool.class(), &ready.access);
            let scopes = ready.access.reads.iter().chain(&ready.access.writes);
            self.touched.extend(scopes.filter_map(|scope| match scope {
                LockScope::Path(path) if !path.starts_with('/') => Some(path.clone()),
                _ => None,
            }));
            let (abort, ended) = run::spawn(ready, &self.events, self.post_hooks());
            slot.began = Some(Instant::now());
            slot.running = Some(abort);
            batch.events.push(
                ended
                    .map(move |ended| CallEvent::Ended(ix, Box::new(ended)))
                    .boxed(),
            );
        }
        Ok(())
    }

    async fn on_call_end(&mut self, batch: &mut CallBatch, ix: usize, ended: run::FinishedCall) {
        self.joining.extend(ended.hook_answer.context);
        if let Some(blocked) = ended.hook_answer.block {
            self.joining.push(blocked);
        }
        for problem in ended.hook_answer.problems {
            self.write_later(vec![SessionRecord::Noted { text: problem }])
                .await;
        }
        let millis = ended.took.as_millis() as u64;
        self.end_call(batch, ix, ended.answer, millis).await;
    }

    async fn deny(&mut self, batch: &mut CallBatch, ix: usize, reason: String) {
        let answer = ToolResult::new(
            CallOutcome::UserAborted,
            format!("This call was not run: {reason}."),
        );
        self.end_call(batch, ix, answer.with_detail(Detail::Denied), 0)
            .await;
    }

    /// Records the end of a call.
    async fn end_call(
        &mut self,
        batch: &mut CallBatch,
        ix: usize,
        answer: ToolResult,
        millis: u64,
    ) {
        let slot = &mut batch.calls[ix];
        if slot.is_over() {
            return;
        }
        (slot.ready, slot.ticket, slot.running) = (None, None, None);
        slot.over.take().map(|over| over.send(()).is_ok());
        let is_error = answer.outcome.is_error();
        slot.seen = Some(CallFingerprint::new(
            &slot.tool,
            &slot.arguments,
            &answer.text(),
            is_error,
        ));
        let (call, tool) = (slot.id.clone(), slot.tool.clone());
        self.record_end(call, tool, answer, millis).await;
    }

    async fn record_end(
        &mut self,
        call: String,
        tool: String,
        mut answer: ToolResult,
        millis: u64,
    ) {
        self.limit_answer(&mut answer);
        self.measure_call(&call, &tool, answer.outcome, millis);
        let planned = answer.display.iter().find_map(|shown| match shown {
            crate::tool::ToolDisplay::Plan(todos) => Some(SessionRecord::Planned {
                todos: todos.clone(),
            }),
            _ => None,
        });
        if let Some(SessionRecord::Planned { todos }) = &planned {
            self.todos.clone_from(todos);
        }
        let ended = SessionRecord::CallEnded {
            turn: self.turn,
            call,
            tool,
            outcome: answer.outcome,
            detail: answer.detail,
            content: stored_parts::stored_answer(&answer.content),
            shown: answer.display,
            millis,
        };
        self.write_later(std::iter::once(ended).chain(planned).collect())
            .await;
    }

    /// Limits an answer to what every model accepts: no text is longer than half of the window, and
    /// none contains a NUL, which some providers refuse. Tools limit their own answers; this
    /// catches those that do not.
    fn limit_answer(&self, answer: &mut ToolResult) {
        let most = (self.context_size().0.saturating_mul(3) / 2).max(2_000) as usize;
        for content in &mut answer.content {
            if let PartContent::Text(text) = content {
                if text.len() > most {
                    *text = head_and_tail(text, most);
                }
                if text.contains('\0') {
                    *text = text.replace('\0', "\u{fffd}");
                }
            }
        }
    }

    /// Stops everything that runs: a call gets a short grace period to report its work and is then
    /// dropped. Every call gets an answer.
    async fn abort(&mut self, batch: &mut CallBatch, received_at: Instant) {
        let deadline = Instant::now() + self.harness().parts.limits.grace;
        while batch.calls.iter().any(|slot| slot.running.is_some()) {
            tokio::select! {
                biased;
                Some(step) = batch.events.next() => if let CallEvent::Ended(ix, ended) = step {
                    self.on_call_end(batch, ix, *ended).await;
                },
                () = sleep_until(deadline) => break,
            }
        }
        for slot in &batch.calls {
            if let Some(running) = &slot.running {
                running.abort();
            }
        }
        // Dropping these cancels every question and releases the tickets.
        batch.events.clear();
        for ix in 0..batch.calls.len() {
            let slot = &batch.calls[ix];
            let text = match slot.began {
                Some(began) => format!(
                    "aborted by the user after {} s; it may have done part of its work",
                    began.elapsed().as_secs()
                ),
                None => format!(
                    "aborted by the user after {} s, before it began",
                    received_at.elapsed().as_secs()
                ),
            };
            let millis = slot
                .began
                .map_or(0, |began| began.elapsed().as_millis() as u64);
            let answer = ToolResult::new(CallOutcome::UserAborted, text);
            self.end_call(batch, ix, answer, millis).await;
        }
    }

    /// Answers calls that will not run, since the turn was stopped while the model still streamed.
    pub(super) async fn abort_unstarted(&mut self, calls: &[(String, String, String)]) {
        for (id, name, _) in calls {
            let tool = self.offered.tools.get(name);
            let tool = tool.map_or_else(|| name.clone(), |tool| tool.name().to_owned());
            let answer = ToolResult::new(
                CallOutcome::UserAborted,
                "aborted by the user before it began",
            );
            self.record_end(id.clone(), tool, answer, 0).await;
        }
    }

    /// Sends a line of a running call's progress to the view; drops it if the channel is full.
    pub(super) fn send_progress(events: &super::inbox::EventSender, call: &str, text: String) {
        events.send_lossy(AgentEvent::Progress {
            call: call.to_owned(),
            text,
        });
    }
}
