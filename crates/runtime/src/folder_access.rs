//! The rights of agents in a folder: gathered for the user, and changed as the user asks.
//!
//! Invariant: a consent covers exactly the text that was shown.
//! Start at `gather`.

use std::sync::Arc;

use agent::access::{
    FolderAccess, GuideAccess, HookAccess, HookFileAccess, KeptRule, RuleList, RuleOrigin,
    ServerAccess, ServerDecision, ServerTool,
};
use agent::context::{guides, named_context};
use agent::hooks;
use agent::rules::PermissionRules;
use agent::store::SessionStore;
use base::AbsPath;
use connect::mcp::{
    Approval, Approvals as _, McpTool, ServerEntry, ServerOrigin, ServerState, ServerStatus,
};
use host::{Clock as _, Dirs, RealClock, RealFiles};

use crate::hook_runs::{self, LatestRuns};
use crate::mcp_pool::{self, Consents, FolderServers, RunningServer};
use crate::permissions::Permissions;
use crate::session_factory::SessionFactory;
use crate::{sandbox_policy, trust};

/// Gathers the rights of agents in a folder. Blocks on the disk.
pub(crate) fn gather(factory: &SessionFactory, root: &AbsPath) -> FolderAccess {
    let dirs = factory.dirs();
    let mut access = trust_and_hooks(dirs, factory.store(), root);
    let permissions = Permissions::read(dirs);
    let (rules, problems) = permissions.rules(root);
    access.problems.extend(problems);
    access.rules = permissions.kept_rules();
    for policy in factory.session_policies(root) {
        let of_session = policy.session_rules().into_iter();
        access.rules.extend(of_session.map(|rule| KeptRule {
            rule,
            list: RuleList::Allow,
            origin: RuleOrigin::Session,
        }));
    }
    let (sandbox, problems) = sandbox_policy::describe(dirs, root);
    access.sandbox = sandbox;
    access.problems.extend(problems);
    access.servers = servers(factory, root, &rules, &mut access.problems);
    access
}

/// Gathers the trust in a folder, its hooks with their latest runs, and its instructions; the other
/// parts are empty. Blocks on the disk.
pub fn trust_and_hooks(dirs: &Dirs, store: &SessionStore, root: &AbsPath) -> FolderAccess {
    let mut problems = Vec::new();
    let trusted_folders = trust::trusted_folders(&RealFiles, dirs).unwrap_or_else(|error| {
        problems.push(error.to_string());
        Vec::new()
    });
    let latest = hook_runs::latest(store, root, RealClock::default().wall_ms());
    let latest = latest.unwrap_or_else(|error| {
        problems.push(error.to_string());
        LatestRuns::new()
    });
    let is_trusted = trust::is_trusted(&RealFiles, dirs, root);
    FolderAccess {
        trusted_folders,
        is_trusted,
        hooks: hook_files(dirs, root, &latest, &mut problems),
        guides: guide_list(dirs, root, is_trusted),
        problems,
        ..FolderAccess::default()
    }
}

fn servers(
    factory: &SessionFactory,
    root: &AbsPath,
    rules: &PermissionRules,
    problems: &mut Vec<String>,
) -> Vec<ServerAccess> {
    let configured = FolderServers::read(Arc::new(RealFiles), factory.dirs(), root);
    let consents = Consents::new(Arc::new(RealFiles), &factory.dirs().state);
    problems.extend(configured.problems);
    problems.extend(consents.problems(&configured.entries));
    let running = factory.running_servers(root);
    let entries = configured.entries.into_iter();
    let servers = entries.map(|entry| {
        let running = running.iter().find(|it| it.state.entry == entry);
        let decision = decision(&entry, &consents);
        server((factory.dirs(), root), &entry, decision, running, rules)
    });
    servers.collect()
}

/// Returns whether a configured server may run.
fn decision(entry: &ServerEntry, consents: &Consents) -> ServerDecision {
    if entry.is_disabled {
        return ServerDecision::Disabled;
    }
    if entry.origin == ServerOrigin::User {
        return ServerDecision::Allowed;
    }
    match consents.approval(entry) {
        Approval::Allowed => ServerDecision::Allowed,
        Approval::Refused => ServerDecision::Refused,
        Approval::Unasked => ServerDecision::Undecided,
    }
}

fn server(
    (dirs, root): (&Dirs, &AbsPath),
    entry: &ServerEntry,
    decision: ServerDecision,
    running: Option<&RunningServer>,
    rules: &PermissionRules,
) -> ServerAccess {
    let state = running.map(|it| &it.state);
    let tools = running.into_iter().flat_map(|it| &it.tools);
    ServerAccess {
        entry: trust::shown_server(dirs, entry),
        is_own: entry.origin == ServerOrigin::User,
        origin: mcp_pool::origin(entry, root),
        decision,
        status: status(entry, decision, state),
        needs_sign_in: state
            .is_some_and(|state| matches!(state.status, ServerStatus::NeedsSignIn { .. })),
        is_started: state.is_some_and(|state| {
            matches!(
                state.status,
                ServerStatus::Starting | ServerStatus::Ready { .. }
            )
        }),
        tools: tools.map(|tool| server_tool(tool, rules)).collect(),
        log: running.map(|it| it.log.clone()).unwrap_or_default(),
    }
}

/// Describes the state of a server, to follow its name.
fn status(entry: &ServerEntry, decision: ServerDecision, state: Option<&ServerState>) -> String {
    if let Some(state) = state {
        return mcp_pool::describe_status(&state.status);
    }
    match (decision, &entry.reach) {
        (ServerDecision::Disabled, _) => mcp_pool::describe_status(&ServerStatus::Disabled),
        (ServerDecision::Refused, _) => mcp_pool::describe_status(&ServerStatus::Refused),
        (ServerDecision::Undecided, _) => mcp_pool::describe_status(&ServerStatus::Unapproved),
        (ServerDecision::Allowed, Err(error)) => {
            let why = error.to_string();
            mcp_pool::describe_status(&ServerStatus::Broken { why, again: None })
        }
        (ServerDecision::Allowed, Ok(_)) => "starts with the next session".to_owned(),
    }
}

fn server_tool(tool: &McpTool, rules: &PermissionRules) -> ServerTool {
    let about = tool.title.as_ref().unwrap_or(&tool.description);
    ServerTool {
        name: tool.name.clone(),
        about: about.lines().next().unwrap_or_default().to_owned(),
        is_on: !rules.denies_tool(&tool.name),
    }
}

fn hook_files(
    dirs: &Dirs,
    root: &AbsPath,
    latest: &LatestRuns,
    problems: &mut Vec<String>,
) -> Vec<HookFileAccess> {
    let files = hooks::find(&RealFiles, &dirs.state, root).into_iter();
    let files = files.map(|file| {
        let unclear = file.problems.iter();
        problems.extend(unclear.map(|problem| format!("{}: {problem}", file.path)));
        let hooks = file.hooks.iter().map(|hook| {
            let (event, command) = (hook.event().name().to_owned(), hook.command().to_owned());
            HookAccess {
                last: latest.get(&(event.clone(), command.clone())).cloned(),
                event,
                command,
            }
        });
        HookFileAccess {
            hooks: hooks.collect(),
            is_allowed: file.has_consent,
            file: trust::shown_hooks(&file),
        }
    });
    files.collect()
}

/// Returns the instruction files, rules and skills that a folder and the user have.
fn guide_list(dirs: &Dirs, root: &AbsPath, is_trusted: bool) -> Vec<GuideAccess> {
    let files = guides(&RealFiles, root).into_iter();
    // Folders with rules and skills are listed by their contents.
    let files = files.filter(|name| !name.contains('/'));
    let files = files.map(|name| GuideAccess {
        about: "instructions for every session".to_owned(),
        name,
        is_active: is_trusted,
    });
    let active = named_context(&RealFiles, root, is_trusted, &dirs.config);
    let named = named_context(&RealFiles, root, true, &dirs.config).into_iter();
    let named = named.map(|it| GuideAccess {
        is_active: active.contains(&it),
        about: if it.is_skill {
            format!("skill: {}", it.about)
        } else {
            it.about
        },
        name: it.name,
    });
    files.chain(named).collect()
}
