//! The rules as a session asks them, with what the person decided meanwhile.

use std::sync::{PoisonError, RwLock};

use super::{Rules, Verdict};
use crate::ask::Decision;
use crate::leave::{self, Judge};
use crate::record::Mode;
use crate::tool::{Access, Call, Tool};

/// Judges by rules, and learns from decisions.
pub struct RuleJudge {
    rules: RwLock<Rules>,
    unasked: Unasked,
    keep: Box<Keep>,
}

/// What becomes of a call that the rules would ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unasked {
    /// It is asked for.
    #[default]
    Nothing,
    /// It is allowed, unless only the person may answer. What is denied stays denied.
    Ordinary,
}

/// Keeps rules for good; fails with a sentence.
pub type Keep = dyn Fn(Reach, &[String]) -> Result<(), String> + Send + Sync;

/// Where rules hold that are kept for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// In the session's project.
    Project,
    /// In all projects.
    Everywhere,
}

impl RuleJudge {
    /// Begins with these rules. `keep` writes down what the person allows for good.
    pub fn new(
        rules: Rules,
        unasked: Unasked,
        keep: impl Fn(Reach, &[String]) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        Self {
            rules: RwLock::new(rules),
            unasked,
            keep: Box::new(keep),
        }
    }
}

impl Judge for RuleJudge {
    fn judge(&self, tool: &dyn Tool, call: &Call, access: &Access, mode: Mode) -> leave::Verdict {
        let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner);
        match rules.judge(tool, call, access, mode) {
            Verdict::Allow => leave::Verdict::Allow,
            Verdict::Ask { is_firm: false, .. } if self.unasked == Unasked::Ordinary => {
                leave::Verdict::Allow
            }
            Verdict::Ask { reason, .. } => leave::Verdict::Ask { reason },
            Verdict::Deny { reason } => leave::Verdict::Deny { reason },
        }
    }

    fn rules(&self, tool: &dyn Tool, access: &Access) -> Vec<String> {
        let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner);
        rules.rules_for(tool, access)
    }

    fn learn(
        &self,
        tool: &dyn Tool,
        _call: &Call,
        access: &Access,
        decision: &Decision,
    ) -> Result<(), String> {
        let reach = match decision {
            Decision::Once | Decision::Refuse { .. } => return Ok(()),
            Decision::Session => None,
            Decision::Always => Some(Reach::Project),
            Decision::Everywhere => Some(Reach::Everywhere),
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
