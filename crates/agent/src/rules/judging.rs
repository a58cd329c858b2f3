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
    keep: Box<Keep>,
}

/// Keeps rules for good; fails with a sentence.
pub type Keep = dyn Fn(&[String]) -> Result<(), String> + Send + Sync;

impl RuleJudge {
    /// Begins with these rules. `keep` writes down what the person allows for good.
    pub fn new(
        rules: Rules,
        keep: impl Fn(&[String]) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        Self {
            rules: RwLock::new(rules),
            keep: Box::new(keep),
        }
    }
}

impl Judge for RuleJudge {
    fn judge(&self, tool: &dyn Tool, call: &Call, access: &Access, mode: Mode) -> leave::Verdict {
        let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner);
        match rules.judge(tool, call, access, mode) {
            Verdict::Allow => leave::Verdict::Allow,
            Verdict::Ask { reason } => leave::Verdict::Ask { reason },
            Verdict::Deny { reason } => leave::Verdict::Deny { reason },
        }
    }

    fn learn(
        &self,
        tool: &dyn Tool,
        _call: &Call,
        access: &Access,
        decision: &Decision,
    ) -> Result<(), String> {
        if !matches!(decision, Decision::Session | Decision::Always) {
            return Ok(());
        }
        let mut rules = self.rules.write().unwrap_or_else(PoisonError::into_inner);
        let more = rules.rules_for(tool, access);
        *rules = rules.with_allowed(&more);
        match decision {
            Decision::Always => (self.keep)(&more),
            _ => Ok(()),
        }
    }
}
