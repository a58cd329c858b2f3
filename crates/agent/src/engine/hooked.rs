//! Where a session asks the hooks.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};

use super::session::{Halt, Session};
use crate::ask::Decision;
use crate::hooks::{HookEvent, HookFacts, HookTold, Hooks, LeaveWord};
use crate::record::{Origin, Record};
use crate::tool::{Answer, Call, Input, Tool};

/// Hooks that look at what a call answered.
pub(super) struct PostHooks {
    hooks: Arc<Hooks>,
    facts: HookFacts,
}

impl PostHooks {
    pub(super) async fn after(&self, tool: &dyn Tool, call: &Call, answer: &Answer) -> HookTold {
        let mut more = call_members(tool.name(), call);
        let response = json!({ "outcome": answer.outcome.name(), "text": answer.text() });
        more.insert("tool_response".to_owned(), response);
        self.hooks
            .run(HookEvent::PostToolUse, self.facts.clone(), more)
            .await
    }
}

impl Session {
    pub(super) fn hook_facts(&self) -> HookFacts {
        HookFacts {
            session: self.id.clone(),
            root: self.start.root.clone(),
            mode: self.mode,
        }
    }

    /// Runs the hooks of an event; the person can stop them. What they want said joins the prompt.
    pub(super) async fn run_hooks(
        &mut self,
        event: HookEvent,
        more: Map<String, Value>,
    ) -> Result<Option<HookTold>, Halt> {
        let Some(hooks) = self.start.hooks.clone() else {
            return Ok(None);
        };
        let running = hooks.run(event, self.hook_facts(), more);
        let mut told = self.inbox.during(running).await?;
        for text in std::mem::take(&mut told.problems) {
            log::warn!("session {}: {text}", self.id);
        }
        Ok(Some(told))
    }

    /// Shows a prompt to the hooks: what joins it, or why it does not pass.
    pub(super) async fn submitted(
        &mut self,
        prompt: &str,
    ) -> Result<Result<Vec<(Origin, String)>, String>, Halt> {
        let more = [("prompt".to_owned(), Value::from(prompt))];
        let told = self
            .run_hooks(HookEvent::UserPromptSubmit, more.into_iter().collect())
            .await?;
        let told = told.unwrap_or_default();
        Ok(match told.block {
            Some((_, reason)) => Err(reason),
            None => Ok(told.context),
        })
    }

    /// What hooks say where a session begins.
    pub(super) async fn start_hook(&mut self) -> Result<Vec<(Origin, String)>, Halt> {
        let more = [("source".to_owned(), Value::from("startup"))];
        let told = self
            .run_hooks(HookEvent::SessionStart, more.into_iter().collect())
            .await?;
        Ok(told.map(|told| told.context).unwrap_or_default())
    }

    pub(super) fn pre_tool_use(
        &self,
        tool: &str,
        call: &Call,
    ) -> BoxFuture<'static, Result<HookTold, String>> {
        let Some(hooks) = self.start.hooks.clone() else {
            return std::future::ready(Ok(HookTold::default())).boxed();
        };
        let (facts, more) = (self.hook_facts(), call_members(tool, call));
        async move { Ok(hooks.run(HookEvent::PreToolUse, facts, more).await) }.boxed()
    }

    /// What hooks decide where the person is asked; `None` where they leave it to the person. Tells that something
    /// waits for them, too.
    pub(super) fn permission_request(
        &self,
        title: &str,
        tool: &str,
        call: &Call,
        reason: &str,
    ) -> BoxFuture<'static, Option<Decision>> {
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
            let (_, told) = futures::join!(noticed, asked);
            match (told.block, told.leave) {
                (Some((_, reason)), _) | (None, Some(LeaveWord::Deny(reason))) => {
                    let instead = Some(reason).filter(|reason| !reason.is_empty());
                    Some(Decision::Refuse { instead })
                }
                (None, Some(LeaveWord::Allow)) => Some(Decision::Once),
                (None, Some(LeaveWord::Ask(_)) | None) => None,
            }
        }
        .boxed()
    }

    pub(super) fn post_hooks(&self) -> Option<PostHooks> {
        let hooks = self.start.hooks.clone()?;
        hooks.has(HookEvent::PostToolUse).then(|| PostHooks {
            hooks,
            facts: self.hook_facts(),
        })
    }

    /// Hooks that hear of a compaction can forbid it.
    pub(super) async fn may_compact(&mut self, why: &str) -> Result<bool, Halt> {
        let more = [("trigger".to_owned(), Value::from(why))];
        let told = self
            .run_hooks(HookEvent::PreCompact, more.into_iter().collect())
            .await?;
        match told.and_then(|told| told.block) {
            None => Ok(true),
            Some((_, reason)) => {
                let text = format!("a hook forbids to make the conversation shorter: {reason}");
                self.note(vec![Record::Noted { text }]).await;
                Ok(false)
            }
        }
    }
}

fn call_members(tool: &str, call: &Call) -> Map<String, Value> {
    let input = match &call.input {
        Input::Json(value) => value.clone(),
        Input::Text(text) => json!({ "input": text }),
    };
    let members = json!({ "tool_name": tool, "tool_input": input, "tool_use_id": call.id });
    members.as_object().cloned().unwrap_or_default()
}
