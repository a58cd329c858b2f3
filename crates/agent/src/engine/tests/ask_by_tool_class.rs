//! A permission policy without rules.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use crate::error::Error;
use crate::permission::{PermissionPolicy, PermissionVerdict};
use crate::record::SessionMode;
use crate::tool::{Tool, ToolAccess, ToolCall, ToolClass};
use crate::user_prompts::PermissionDecision;

/// Asks before every call that changes something or leaves the machine. A session-wide decision
/// covers the same command, host or tool.
#[derive(Debug, Default)]
pub(super) struct AskByToolClass {
    allowed: Mutex<HashSet<String>>,
}

impl PermissionPolicy for AskByToolClass {
    fn evaluate(
        &self,
        tool: &dyn Tool,
        _call: &ToolCall,
        access: &ToolAccess,
        _mode: SessionMode,
    ) -> PermissionVerdict {
        let reason = match tool.class() {
            ToolClass::Read | ToolClass::Interact | ToolClass::Delegate => {
                return PermissionVerdict::Allow;
            }
            ToolClass::Edit => "it changes files",
            ToolClass::Execute => "it runs a program, without a sandbox",
            ToolClass::Network => "it accesses other machines",
            ToolClass::Foreign => "it comes from outside",
        };
        let allowed = self.allowed.lock().unwrap_or_else(PoisonError::into_inner);
        if allowed.contains(&grant_key(tool, access)) {
            PermissionVerdict::Allow
        } else {
            PermissionVerdict::Ask {
                reason: reason.to_owned(),
            }
        }
    }

    fn remember(
        &self,
        tool: &dyn Tool,
        _call: &ToolCall,
        access: &ToolAccess,
        decision: &PermissionDecision,
    ) -> Result<(), Error> {
        let mut allowed = self.allowed.lock().unwrap_or_else(PoisonError::into_inner);
        match decision {
            PermissionDecision::Session => {
                allowed.insert(grant_key(tool, access));
                Ok(())
            }
            PermissionDecision::Always | PermissionDecision::Everywhere => {
                allowed.insert(grant_key(tool, access));
                {
                    let reason = "there are no rules to save it in: it applies to this session";
                    Err(Error::PermissionNotSaved(reason.to_owned()))
                }
            }
            PermissionDecision::Once | PermissionDecision::Refuse { .. } => Ok(()),
        }
    }
}

/// Returns the key that identifies similar calls.
fn grant_key(tool: &dyn Tool, access: &ToolAccess) -> String {
    let what = access.command.as_deref().or(access.host.as_deref());
    format!("{}\n{}", tool.name(), what.unwrap_or_default())
}
