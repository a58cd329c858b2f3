//! The permission policy of a session: the rules, with the decisions the user made in the session.

use std::sync::{PoisonError, RwLock};

use super::{PermissionRules, RuleVerdict};
use crate::error::Error;
use crate::permission::{self, PermissionPolicy};
use crate::record::SessionMode;
use crate::tool::{Tool, ToolAccess, ToolCall};
use crate::user_prompts::PermissionDecision;

/// Decides by rules, and adds rules from the user's decisions.
pub struct RulePolicy {
    rules: RwLock<PermissionRules>,
    unasked: UnmatchedCalls,
    keep: Box<SaveRules>,
}

/// The treatment of calls that the rules would ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnmatchedCalls {
    /// The user is asked.
    #[default]
    Nothing,
    /// The call is allowed, unless only the user may answer. Denied calls stay denied.
    Ordinary,
}

/// Saves rules permanently. Fails with `Error::PermissionNotSaved`.
pub type SaveRules = dyn Fn(RuleScope, &[String]) -> Result<(), Error> + Send + Sync;

/// The projects to which saved rules apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleScope {
    /// The session's project only.
    Project,
    /// All projects of the user.
    Everywhere,
}

impl RulePolicy {
    /// Starts with these rules. `keep` saves the rules that the user allows permanently.
    pub fn new(
        rules: PermissionRules,
        unasked: UnmatchedCalls,
        keep: impl Fn(RuleScope, &[String]) -> Result<(), Error> + Send + Sync + 'static,
    ) -> Self {
        Self {
            rules: RwLock::new(rules),
            unasked,
            keep: Box::new(keep),
        }
    }
}

impl PermissionPolicy for RulePolicy {
    fn evaluate(
        &self,
        tool: &dyn Tool,
        call: &ToolCall,
        access: &ToolAccess,
        mode: SessionMode,
    ) -> permission::PermissionVerdict {
        let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner);
        match rules.evaluate(tool, call, access, mode) {
            RuleVerdict::Allow => permission::PermissionVerdict::Allow,
            RuleVerdict::Ask { is_firm: false, .. } if self.unasked == UnmatchedCalls::Ordinary => {
                permission::PermissionVerdict::Allow
            }
            RuleVerdict::Ask { reason, .. } => permission::PermissionVerdict::Ask { reason },
            RuleVerdict::Deny { reason } => permission::PermissionVerdict::Deny { reason },
        }
    }

    fn rules(&self, tool: &dyn Tool, access: &ToolAccess) -> Vec<String> {
        let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner);
        rules.rules_for(tool, access)
    }

    fn remember(
        &self,
        tool: &dyn Tool,
        _call: &ToolCall,
        access: &ToolAccess,
        decision: &PermissionDecision,
    ) -> Result<(), Error> {
        let reach = match decision {
            PermissionDecision::Once | PermissionDecision::Refuse { .. } => return Ok(()),
            PermissionDecision::Session => None,
            PermissionDecision::Always => Some(RuleScope::Project),
            PermissionDecision::Everywhere => Some(RuleScope::Everywhere),
        };
        let mut rules = self.rules.write().unwrap_or_else(PoisonError::into_inner);
        let more = rules.rules_for(tool, access);
        *rules = rules.with_allowed(&more);
        match reach {
            Some(reach) if !more.is_empty() => (self.keep)(reach, &more),
            _ => Ok(()),
        }
    }
}
