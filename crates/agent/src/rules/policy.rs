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
    /// The rules that the user allowed for the session only. Locked after `rules`.
    of_session: RwLock<Vec<String>>,
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
            of_session: RwLock::default(),
            unasked,
            keep: Box::new(keep),
        }
    }

    /// Returns the rules that the user allowed for this session only.
    pub fn session_rules(&self) -> Vec<String> {
        let rules = self.of_session.read();
        rules.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Stops allowing calls by this rule, wherever it is kept.
    pub fn forget(&self, rule: &str) {
        let mut rules = self.rules.write().unwrap_or_else(PoisonError::into_inner);
        *rules = rules.without_allowed(rule);
        let mut of_session = self
            .of_session
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        of_session.retain(|known| known != rule);
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
            Some(_) => Ok(()),
            None => {
                let mut of_session = self
                    .of_session
                    .write()
                    .unwrap_or_else(PoisonError::into_inner);
                for rule in more {
                    if !of_session.contains(&rule) {
                        of_session.push(rule);
                    }
                }
                Ok(())
            }
        }
    }
}
