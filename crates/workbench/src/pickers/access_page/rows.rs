//! The rows of the lists of agents' rights: plain data, from the rights to texts and actions.

use base::AbsPath;
use composer_panel::age;
use composer_panel::agents::{
    AccessChange, CommandGrant, FolderAccess, GuideAccess, HookFileAccess, KeptRule, RuleList,
    RuleOrigin, ServerAccess, ServerDecision, ServerTool,
};
use gpui_kit::SharedString;
use ui::Icon;

use super::AccessTopic;

/// The circumstances of a list.
#[derive(Clone, Debug)]
pub(crate) struct PageContext {
    /// The folder.
    pub(crate) root: AbsPath,
    /// The file with the user's rules.
    pub(crate) permissions: AbsPath,
    /// The present time, in milliseconds since 1970.
    pub(crate) now_ms: u64,
}

/// A row: a fact about the rights, or an action that changes them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AccessRow {
    /// Heading above the row and its neighbours.
    pub(crate) section: SharedString,
    pub(crate) title: String,
    pub(crate) detail: String,
    /// State at the end of the row.
    pub(crate) end: Option<&'static str>,
    pub(crate) icon: Icon,
    /// Further text, for the pane beside the list.
    pub(crate) text: String,
    /// `None` for a row that only informs.
    pub(crate) action: Option<AccessAction>,
}

/// The effect of a row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AccessAction {
    /// Changes the rights at once: they become stricter, or only less convenient.
    Change(AccessChange),
    /// Changes the rights after a question that shows the whole text.
    Ask(AccessQuestion),
    /// Signs in to a server.
    SignIn(String),
    /// Opens a file.
    OpenFile(AbsPath),
    /// Opens a text in a tab.
    ShowText(String),
}

/// A change that the user has to confirm.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AccessQuestion {
    pub(crate) title: String,
    /// The text that the user agrees to.
    pub(crate) text: String,
    /// The label of the answer that agrees.
    pub(crate) agree: &'static str,
    pub(crate) change: AccessChange,
}

impl AccessRow {
    fn fact(section: &SharedString, title: impl Into<String>) -> Self {
        Self {
            section: section.clone(),
            title: title.into(),
            detail: String::new(),
            end: None,
            icon: Icon::Info,
            text: String::new(),
            action: None,
        }
    }

    fn action(
        section: &SharedString,
        title: impl Into<String>,
        icon: Icon,
        action: AccessAction,
    ) -> Self {
        Self {
            icon,
            action: Some(action),
            ..Self::fact(section, title)
        }
    }

    fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }

    fn text(mut self, text: impl Into<String>) -> Self {
        self.text = text.into();
        self
    }

    /// Returns everything that the row says.
    pub(crate) fn whole_text(&self) -> String {
        let parts = [self.title.as_str(), &self.text, &self.detail];
        let parts = parts.into_iter().filter(|it| !it.is_empty());
        parts.collect::<Vec<_>>().join("\n\n")
    }
}

/// Returns the rows of a topic.
pub(crate) fn rows(
    topic: AccessTopic,
    access: &FolderAccess,
    context: &PageContext,
) -> Vec<AccessRow> {
    let section = SharedString::from("Problems");
    let problems = access.problems.iter();
    let problems = problems.map(|problem| AccessRow {
        icon: Icon::Warning,
        ..AccessRow::fact(&section, problem)
    });
    let mut rows: Vec<AccessRow> = problems.collect();
    match topic {
        AccessTopic::Permissions => permission_rows(access, context, &mut rows),
        AccessTopic::Servers => access
            .servers
            .iter()
            .for_each(|server| server_rows(server, &mut rows)),
        AccessTopic::Trust => trust_rows(access, context, &mut rows),
    }
    rows
}

fn permission_rows(access: &FolderAccess, context: &PageContext, rows: &mut Vec<AccessRow>) {
    let here = RuleOrigin::Project(context.root.to_string());
    // Rules that apply here come first.
    let rank = |rule: &&KeptRule| match &rule.origin {
        RuleOrigin::Session => 0,
        origin if *origin == here => 1,
        RuleOrigin::User => 2,
        RuleOrigin::Project(_) => 3,
    };
    let mut kept: Vec<&KeptRule> = access.rules.iter().collect();
    kept.sort_by_key(rank);
    rows.extend(kept.into_iter().map(|rule| rule_row(rule, &here)));
    let section = SharedString::from("Sandbox of commands");
    let sentences = access.sandbox.sentences.iter();
    rows.extend(sentences.map(|sentence| AccessRow::fact(&section, sentence)));
    rows.extend(access.sandbox.grants.iter().map(grant_row));
    let section = SharedString::from("File");
    let open = AccessAction::OpenFile(context.permissions.clone());
    rows.push(
        AccessRow::action(&section, "Open permissions.json", Icon::FileText, open)
            .detail(context.permissions.to_string()),
    );
}

fn rule_row(rule: &KeptRule, here: &RuleOrigin) -> AccessRow {
    let section = match &rule.origin {
        RuleOrigin::Session => "Running sessions of this folder".to_owned(),
        origin if origin == here => "This folder".to_owned(),
        RuleOrigin::User => "All folders".to_owned(),
        RuleOrigin::Project(path) => path.clone(),
    };
    let (what, icon) = match rule.list {
        RuleList::Deny => ("denied", Icon::CircleX),
        RuleList::Ask => ("asked about", Icon::CircleAlert),
        RuleList::Allow => ("allowed", Icon::CircleCheck),
    };
    let change = AccessChange::RemoveRule(rule.clone());
    let action = if rule.list == RuleList::Allow {
        AccessAction::Change(change)
    } else {
        AccessAction::Ask(AccessQuestion {
            title: "Remove a rule that restricts agents?".to_owned(),
            text: format!(
                "The rule {} is removed from the list \u{201c}{}\u{201d}. Calls that match it are no longer {what}. \
                 Running sessions keep the rule.",
                rule.rule,
                rule.list.name()
            ),
            agree: "Remove",
            change,
        })
    };
    AccessRow {
        end: Some(rule.list.name()),
        ..AccessRow::action(&section.into(), &rule.rule, icon, action)
    }
    .detail("Remove this rule")
    .text(format!("Calls that match this rule are {what}."))
}

fn grant_row(grant: &CommandGrant) -> AccessRow {
    let section = match &grant.origin {
        RuleOrigin::Project(_) => "Exceptions of the sandbox in this folder",
        RuleOrigin::User | RuleOrigin::Session => "Exceptions of the sandbox in all folders",
    };
    let action = AccessAction::Change(AccessChange::RemoveGrant(grant.clone()));
    let title = format!("{}: {}", grant.rule, grant.access);
    AccessRow::action(&section.into(), title, Icon::CircleCheck, action)
        .detail("Withdraw this access")
        .text("Commands that match the rule have this access. Running sessions keep it.")
}

fn server_rows(server: &ServerAccess, rows: &mut Vec<AccessRow>) {
    let name = &server.entry.name;
    let section = ui::foreign::one_line(name.clone());
    rows.push(
        AccessRow::fact(&section, format!("{name} {}", server.status))
            .detail(server.origin.clone())
            .text(format!("Configuration:\n{}", server.entry.written)),
    );
    rows.extend(decision_rows(server, &section));
    if server.decision == ServerDecision::Allowed {
        let verb = if server.is_started {
            "Reconnect"
        } else {
            "Start"
        };
        let start = AccessAction::Change(AccessChange::StartServer(name.clone()));
        rows.push(AccessRow::action(
            &section,
            format!("{verb} {name}"),
            Icon::Refresh,
            start,
        ));
    }
    if server.needs_sign_in {
        let sign_in = AccessAction::SignIn(name.clone());
        let title = format!("Sign in to {name}\u{2026}");
        rows.push(AccessRow::action(
            &section,
            title,
            Icon::ArrowRight,
            sign_in,
        ));
    }
    if !server.log.is_empty() {
        let log = server.log.join("\n");
        let show = AccessAction::ShowText(log.clone());
        let title = format!("Show log of {name}");
        let row = AccessRow::action(&section, title, Icon::FileText, show);
        let last = server.log.last().cloned().unwrap_or_default();
        rows.push(row.detail(last).text(log));
    }
    let open = AccessAction::OpenFile(server.entry.path.clone());
    let title = format!("Open the configuration of {name}");
    let row = AccessRow::action(&section, title, Icon::FileText, open);
    rows.push(row.detail(server.entry.path.to_string()));
    rows.extend(server.tools.iter().map(|tool| tool_row(tool, &section)));
}

/// Returns the rows that decide whether a server of the project may run.
fn decision_rows(server: &ServerAccess, section: &SharedString) -> Vec<AccessRow> {
    let (name, entry) = (&server.entry.name, &server.entry);
    let allow = || {
        let question = AccessQuestion {
            title: format!("Let the MCP server \u{201c}{name}\u{201d} run?"),
            text: format!(
                "It runs with your rights, outside the sandbox, as {} configures it:\n\n{}",
                entry.path, entry.written
            ),
            agree: "Allow",
            change: AccessChange::AllowServer(entry.clone()),
        };
        let title = format!("Allow {name}\u{2026}");
        AccessRow::action(section, title, Icon::Check, AccessAction::Ask(question))
    };
    let refuse = |title: String| {
        let action = AccessAction::Change(AccessChange::RefuseServer(entry.clone()));
        AccessRow::action(section, title, Icon::CircleX, action)
    };
    match server.decision {
        _ if server.is_own => Vec::new(),
        ServerDecision::Undecided => vec![allow(), refuse(format!("Refuse {name}"))],
        ServerDecision::Refused => vec![allow()],
        ServerDecision::Allowed => vec![refuse(format!("Revoke approval of {name}"))],
        ServerDecision::Disabled => Vec::new(),
    }
}

fn tool_row(tool: &ServerTool, section: &SharedString) -> AccessRow {
    let change = AccessChange::SetTool {
        name: tool.name.clone(),
        is_on: !tool.is_on,
    };
    let (end, verb, icon) = if tool.is_on {
        (
            "on",
            "Turn this tool off for new sessions in this folder",
            Icon::CircleCheck,
        )
    } else {
        (
            "off",
            "Turn this tool on for new sessions in this folder",
            Icon::Circle,
        )
    };
    AccessRow {
        end: Some(end),
        ..AccessRow::action(section, &tool.name, icon, AccessAction::Change(change))
    }
    .detail(verb)
    .text(tool.about.clone())
}

fn trust_rows(access: &FolderAccess, context: &PageContext, rows: &mut Vec<AccessRow>) {
    let section = SharedString::from("This folder");
    if access.is_trusted {
        rows.push(AccessRow::fact(&section, "This folder is trusted").text(
            "Its instructions, rules and skills join prompts, and its language servers start.",
        ));
    } else {
        let trust = AccessQuestion {
            title: "Trust this folder?".to_owned(),
            text: format!(
                "Agents follow the instructions, rules and skills in {}, and its language servers, tasks and Git \
                 hooks run code of the project.",
                context.root
            ),
            agree: "Trust",
            change: AccessChange::SetTrusted {
                folder: context.root.clone(),
                is_trusted: true,
            },
        };
        let action = AccessAction::Ask(trust);
        let row = AccessRow::action(&section, "Trust this folder\u{2026}", Icon::Check, action);
        let row = row.text(
            "Until then, its instructions, rules and skills stay out of prompts, and no language server starts in it.",
        );
        rows.push(row.detail("It is not trusted"));
    }
    let section = SharedString::from("Trusted folders");
    rows.extend(access.trusted_folders.iter().map(|folder| {
        let revoke = AccessChange::SetTrusted {
            folder: folder.clone(),
            is_trusted: false,
        };
        let action = AccessAction::Change(revoke);
        AccessRow::action(&section, folder.to_string(), Icon::CircleCheck, action)
            .detail("Revoke trust")
            .text("Trust covers the folders within. It counts for sessions that start later.")
    }));
    for file in &access.hooks {
        hook_rows(file, context, rows);
    }
    let section = SharedString::from("Instructions, rules and skills");
    rows.extend(access.guides.iter().map(|guide| guide_row(guide, &section)));
}

fn hook_rows(file: &HookFileAccess, context: &PageContext, rows: &mut Vec<AccessRow>) {
    let path = &file.file.path;
    let inner = path.relative_to(&context.root);
    let shown = inner.map_or_else(|| path.to_string(), |inner| inner.display().to_string());
    let section = ui::foreign::one_line(format!("Hooks in {shown}"));
    let commands = file.file.commands.join("\n");
    let row = if file.is_allowed {
        let revoke = AccessAction::Change(AccessChange::RevokeHooks(file.file.clone()));
        AccessRow::action(
            &section,
            "Revoke consent to these hooks",
            Icon::CircleX,
            revoke,
        )
        .detail("They run in sessions")
    } else {
        let question = AccessQuestion {
            title: format!("Let the hooks in {shown} run?"),
            text: format!("They run these commands automatically while agents work:\n\n{commands}"),
            agree: "Allow",
            change: AccessChange::AllowHooks(file.file.clone()),
        };
        let action = AccessAction::Ask(question);
        AccessRow::action(&section, "Allow these hooks\u{2026}", Icon::Check, action)
            .detail("They do not run")
    };
    rows.push(row.text(commands));
    rows.extend(file.hooks.iter().map(|hook| {
        let last = match &hook.last {
            Some(last) => {
                let age = age(context.now_ms.saturating_sub(last.at_ms));
                format!("{}, {age}", last.result)
            }
            None => "has not run yet".to_owned(),
        };
        AccessRow::fact(&section, format!("{}: {}", hook.event, hook.command)).detail(last)
    }));
    let open = AccessAction::OpenFile(path.clone());
    let title = format!("Open {shown}");
    rows.push(AccessRow::action(&section, title, Icon::FileText, open));
}

fn guide_row(guide: &GuideAccess, section: &SharedString) -> AccessRow {
    let end = if guide.is_active {
        "active"
    } else {
        "not active"
    };
    let row = AccessRow::fact(section, &guide.name).detail(guide.about.clone());
    AccessRow {
        end: Some(end),
        icon: Icon::Book,
        ..row
    }
}
