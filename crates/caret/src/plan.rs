//! The one entrance: a command and its context in, a plan out.
//!
//! Start at `plan`.

use text::{EditKind, SelectionSet};

use crate::command::Command;
use crate::context::{Context, Memory, Plan};

/// What `command` would do. Changes nothing; the caller applies the edits and sets the selections.
// tidy: table
pub fn plan(command: &Command, ctx: &Context) -> Plan {
    match command {
        _ => Plan::nothing(ctx),
    }
}

impl Plan {
    /// Leaves everything as it is.
    pub fn nothing(ctx: &Context) -> Plan {
        Plan {
            edits: Vec::new(),
            selections: ctx.selections.clone(),
            kind: EditKind::Other,
            memory: ctx.memory.clone(),
        }
    }

    /// Other selections, no edits.
    pub(crate) fn select(selections: SelectionSet) -> Plan {
        Plan {
            edits: Vec::new(),
            selections,
            kind: EditKind::Other,
            memory: Memory::default(),
        }
    }
}
