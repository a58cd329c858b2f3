//! Changes of the rights of agents in a fake.

use crate::agents::{AccessChange, FolderAccess, ServerDecision};

/// Applies a change of the rights as far as stories look at it.
pub(super) fn apply_access(access: &mut FolderAccess, change: &AccessChange) {
    match change {
        AccessChange::RemoveRule(rule) => access.rules.retain(|it| it != rule),
        AccessChange::RemoveGrant(grant) => access.sandbox.grants.retain(|it| it != grant),
        AccessChange::SetTool { name, is_on } => {
            let tools = access.servers.iter_mut().flat_map(|it| &mut it.tools);
            tools
                .filter(|tool| tool.name == *name)
                .for_each(|tool| tool.is_on = *is_on);
        }
        AccessChange::SetTrusted { folder, is_trusted } => {
            access.trusted_folders.retain(|it| it != folder);
            if *is_trusted {
                access.trusted_folders.push(folder.clone());
            }
            access.is_trusted = !access.trusted_folders.is_empty();
        }
        AccessChange::AllowServer(shown) | AccessChange::RefuseServer(shown) => {
            let decision = match change {
                AccessChange::AllowServer(_) => ServerDecision::Allowed,
                _ => ServerDecision::Refused,
            };
            let servers = access.servers.iter_mut();
            servers
                .filter(|it| it.entry == *shown)
                .for_each(|it| it.decision = decision);
        }
        AccessChange::AllowHooks(shown) | AccessChange::RevokeHooks(shown) => {
            let is_allowed = matches!(change, AccessChange::AllowHooks(_));
            let files = access.hooks.iter_mut();
            files
                .filter(|it| it.file == *shown)
                .for_each(|it| it.is_allowed = is_allowed);
        }
        AccessChange::StartServer(name) => {
            let servers = access.servers.iter_mut();
            servers
                .filter(|it| it.entry.name == *name)
                .for_each(|it| it.is_started = true);
        }
    }
}
