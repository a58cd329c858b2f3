//! The points at which a session runs hooks.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};

use super::session::{SessionTask, TurnStop};
use crate::hooks::{HookEvent, HookInput, HookPermission, HookReply, Hooks};
use crate::record::{PromptOrigin, SessionRecord};
use crate::tool::{CallInput, Tool, ToolCall, ToolResult};
use crate::user_prompts::PermissionDecision;

/// The hooks that run after a call, with the session's data that they receive.
pub(super) struct PostHooks {
    hooks: Arc<Hooks>,
    facts: HookInput,
}

/// The hooks' decision about a prompt.
pub(super) enum PromptVerdict {
    /// The prompt is sent with these additions.
    Accept(Vec<(PromptOrigin, String)>),
    /// The prompt is not sent.
    Block { reason: String },
}

impl PostHooks {
    /// Runs the hooks after a call of `tool` with its result `answer`.
    pub(super) async fn after(
        &self,
        tool: &dyn Tool,
        call: &ToolCall,
        answer: &ToolResult,
    ) -> HookReply {
        let mut more = call_members(tool.name(), call);
        let response = json!({ "outcome": answer.outcome.name(), "text": answer.text() });
        more.insert("tool_response".to_owned(), response);
        self.hooks
            .run(HookEvent::PostToolUse, self.facts.clone(), more)
            .await
    }
}

impl SessionTask {
    /// Returns the session's data that every hook receives.
    pub(super) fn hook_facts(&self) -> HookInput {
        HookInput {
            session: self.id.clone(),
            root: self.start.root.clone(),
            mode: self.mode,
        }
    }

    /// Runs the hooks of an event; the user can stop them. Their output is added to the prompt, and
    /// their problems are recorded as notes, at the latest with the turn's prompt.
    pub(super) async fn run_hooks(
        &mut self,
        event: HookEvent,
        more: Map<String, Value>,
    ) -> Result<Option<HookReply>, TurnStop> {
        let Some(hooks) = self.start.hooks.clone() else {
            return Ok(None);
        };
        let running = hooks.run(event, self.hook_facts(), more);
        let mut reply = self.inbox.during(running).await?;
        let problems = std::mem::take(&mut reply.problems);
        let notes = problems
            .into_iter()
            .map(|text| SessionRecord::Noted { text });
        if self.is_written {
            self.write_later(notes.collect()).await;
        } else {
            self.hook_notes.extend(notes);
        }
        Ok(Some(reply))
    }

    /// Runs the hooks for a prompt of the user before it is sent. The first hook that blocks
    /// decides.
    pub(super) async fn prompt_hook(&mut self, prompt: &str) -> Result<PromptVerdict, TurnStop> {
        let more = [("prompt".to_owned(), Value::from(prompt))];
        let reply = self
            .run_hooks(HookEvent::UserPromptSubmit, more.into_iter().collect())
            .await?;
        let reply = reply.unwrap_or_default();
        Ok(match reply.block {
            Some((_, reason)) => PromptVerdict::Block { reason },
            None => PromptVerdict::Accept(reply.context),
        })
    }

    /// Runs the hooks for the start of a session. Returns the texts that they add to the prompt.
    pub(super) async fn start_hook(&mut self) -> Result<Vec<(PromptOrigin, String)>, TurnStop> {
        let more = [("source".to_owned(), Value::from("startup"))];
        let reply = self
            .run_hooks(HookEvent::SessionStart, more.into_iter().collect())
            .await?;
        Ok(reply.map(|reply| reply.context).unwrap_or_default())
    }

    /// Starts the hooks before a call; the future gives their merged reply, empty without hooks.
    pub(super) fn pre_tool_use(
        &self,
        tool: &str,
        call: &ToolCall,
    ) -> BoxFuture<'static, HookReply> {
        let Some(hooks) = self.start.hooks.clone() else {
            return std::future::ready(HookReply::default()).boxed();
        };
        let (facts, more) = (self.hook_facts(), call_members(tool, call));
        async move { hooks.run(HookEvent::PreToolUse, facts, more).await }.boxed()
    }

    /// Runs the hooks for a permission request; `None` leaves the decision to the user. Also sends
    /// a notification that a decision is pending.
    pub(super) fn permission_request(
        &self,
        title: &str,
        tool: &str,
        call: &ToolCall,
        reason: &str,
    ) -> BoxFuture<'static, Option<PermissionDecision>> {
        let Some(hooks) = self.start.hooks.clone() else {
            return std::future::ready(None).boxed();
        };
        let facts = self.hook_facts();
        let message = format!("{title}: {reason}");
        let mut more = call_members(tool, call);
        more.insert("title".to_owned(), title.into());
        more.insert("message".to_owned(), message.into());
        async move {
            let noticed = hooks.run(HookEvent::Notification, facts.clone(), more.clone());
            let asked = hooks.run(HookEvent::PermissionRequest, facts, more);
            let (_, reply) = futures::join!(noticed, asked);
            match (reply.block, reply.permission) {
                (Some((_, reason)), _) | (None, Some(HookPermission::Deny(reason))) => {
                    let instead = Some(reason).filter(|reason| !reason.is_empty());
                    Some(PermissionDecision::Refuse { instead })
                }
                (None, Some(HookPermission::Allow)) => Some(PermissionDecision::Once),
                (None, Some(HookPermission::Ask(_)) | None) => None,
            }
        }
        .boxed()
    }

    /// Returns the hooks to run after calls; `None` if there are none.
    pub(super) fn post_hooks(&self) -> Option<PostHooks> {
        let hooks = self.start.hooks.clone()?;
        hooks.has(HookEvent::PostToolUse).then(|| PostHooks {
            hooks,
            facts: self.hook_facts(),
        })
    }

    /// Runs the hooks for a compaction that happens because of `why`. Returns whether none of them
    /// forbids it; a refusal is recorded as a note.
    pub(super) async fn hooks_allow_compaction(&mut self, why: &str) -> Result<bool, TurnStop> {
        let more = [("trigger".to_owned(), Value::from(why))];
        let reply = self
            .run_hooks(HookEvent::PreCompact, more.into_iter().collect())
            .await?;
        match reply.and_then(|reply| reply.block) {
            None => Ok(true),
            Some((_, reason)) => {
                let text = format!("a hook blocks the compaction: {reason}");
                self.write_later(vec![SessionRecord::Noted { text }]).await;
                Ok(false)
            }
        }
    }
}

fn call_members(tool: &str, call: &ToolCall) -> Map<String, Value> {
    let input = match &call.input {
        CallInput::Json(value) => value.clone(),
        CallInput::Text(text) => json!({ "input": text }),
    };
    let members = json!({ "tool_name": tool, "tool_input": input, "tool_use_id": call.id });
    members.as_object().cloned().unwrap_or_default()
}
