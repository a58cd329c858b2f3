//! The roles of agents, as data.
//!
//! Built-in roles are in `assets/roles/roles.json`; the user's roles come from a file of the same
//! format and override built-in ones of the same name.
//! Start at `RoleSet::load`; `RolePolicy` enforces the restrictions of a role.

use std::sync::Arc;

use agent::permission::{PermissionPolicy, PermissionVerdict};
use agent::record::SessionMode;
use agent::tool::{Tool, ToolAccess, ToolCall};
use agent::user_prompts::PermissionDecision;
use model::Effort;
use serde::Deserialize;

use crate::Error;

/// The built-in roles, as JSON.
const BUILTIN: &str = include_str!("../../../assets/roles/roles.json");
/// The default role of an agent.
pub const DEFAULT_ROLE: &str = "builder";

/// Returns the name of the built-in role for an agent that the user starts in `mode`. A role of the
/// user with the same name replaces the built-in role, including its mode.
pub(crate) fn role_for(mode: SessionMode) -> &'static str {
    match mode {
        SessionMode::Build => DEFAULT_ROLE,
        SessionMode::Plan => "planner",
        SessionMode::Ask => "advisor",
    }
}

/// The role of an agent: its instructions, mode and tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobRole {
    /// Name of the role.
    pub name: String,
    /// A short description for display.
    pub about: String,
    /// Instructions put before the task; may be empty.
    pub prompt: String,
    /// The mode in which the agent works.
    pub mode: SessionMode,
    /// Names of the allowed tools; `None` allows all.
    pub tools: Option<Vec<String>>,
    /// The kind of model that suits the role: `small`, `standard` or `frontier`. A hint for model
    /// selection.
    pub tier: String,
    /// The reasoning effort of this role; `None` leaves it to the settings.
    pub effort: Option<Effort>,
}

/// The roles that are available.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleSet(Vec<JobRole>);

#[derive(Deserialize)]
struct RolesFile {
    roles: Vec<RoleEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RoleEntry {
    name: String,
    #[serde(default)]
    about: String,
    #[serde(default)]
    prompt: String,
    #[serde(default)]
    mode: SessionMode,
    #[serde(default)]
    tools: Option<Vec<String>>,
    #[serde(default = "standard")]
    tier: String,
    #[serde(default)]
    effort: Option<Effort>,
}

fn standard() -> String {
    "standard".to_owned()
}

impl RoleSet {
    /// Loads the built-in roles and the roles in `own`, the text of the user's file, which may be
    /// empty. A role of the user replaces the built-in role of the same name. If a text cannot be
    /// parsed, its roles are missing, and the returned list contains a sentence about the problem.
    pub fn load(own: &str) -> (Self, Vec<String>) {
        let mut problems = Vec::new();
        let mut roles: Vec<JobRole> = Vec::new();
        for (text, whose) in [(BUILTIN, "ours"), (own, "yours")] {
            if text.trim().is_empty() {
                continue;
            }
            match serde_json::from_str::<RolesFile>(text) {
                Ok(file) => {
                    for role in file.roles.into_iter().map(JobRole::from) {
                        roles.retain(|it| it.name != role.name);
                        roles.push(role);
                    }
                }
                Err(error) => problems.push(format!("cannot read the roles ({whose}): {error}")),
            }
        }
        (Self(roles), problems)
    }

    /// Finds a role by its name; the error lists the available ones.
    pub fn named(&self, name: &str) -> Result<&JobRole, Error> {
        let found = self.0.iter().find(|role| role.name == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = self.0.iter().map(|role| role.name.as_str()).collect();
            Error::NotFound(format!(
                "there is no role \"{name}\"; available roles: {}",
                names.join(", ")
            ))
        })
    }

    /// All roles, in order.
    pub fn all(&self) -> &[JobRole] {
        &self.0
    }
}

impl From<RoleEntry> for JobRole {
    fn from(entry: RoleEntry) -> Self {
        Self {
            name: entry.name,
            about: entry.about,
            prompt: entry.prompt,
            mode: entry.mode,
            tools: entry.tools,
            tier: entry.tier,
            effort: entry.effort,
        }
    }
}

impl JobRole {
    /// Returns the prompt for a task in this role: the role's instructions, a blank line, the task.
    pub fn task_prompt(&self, task: &str) -> String {
        if self.prompt.is_empty() {
            task.to_owned()
        } else {
            format!("{}\n\n{task}", self.prompt)
        }
    }

    /// Restricts a permission policy to the tools of this role. Calls of other tools are denied;
    /// `rules` decides about the remaining calls.
    pub fn restrict(&self, rules: Arc<dyn PermissionPolicy>) -> Arc<dyn PermissionPolicy> {
        match &self.tools {
            None => rules,
            Some(tools) => Arc::new(RolePolicy {
                role: self.name.clone(),
                tools: tools.clone(),
                rules,
            }),
        }
    }
}

/// Denies tools that a role does not use; leaves the rest to the rules.
struct RolePolicy {
    role: String,
    tools: Vec<String>,
    rules: Arc<dyn PermissionPolicy>,
}

impl PermissionPolicy for RolePolicy {
    fn evaluate(
        &self,
        tool: &dyn Tool,
        call: &ToolCall,
        access: &ToolAccess,
        mode: SessionMode,
    ) -> PermissionVerdict {
        if self.tools.iter().any(|name| name == tool.name()) {
            self.rules.evaluate(tool, call, access, mode)
        } else {
            PermissionVerdict::Deny {
                reason: format!(
                    "the {} role cannot use {}: report your findings and leave the change to other \
                     agents",
                    self.role,
                    tool.name()
                ),
            }
        }
    }

    fn rules(&self, tool: &dyn Tool, access: &ToolAccess) -> Vec<String> {
        self.rules.rules(tool, access)
    }

    fn remember(
        &self,
        tool: &dyn Tool,
        call: &ToolCall,
        access: &ToolAccess,
        decision: &PermissionDecision,
    ) -> Result<(), agent::Error> {
        self.rules.remember(tool, call, access, decision)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_roles_override_builtin_roles() {
        let (roles, problems) = RoleSet::load("");
        assert_eq!(problems, Vec::<String>::new());
        let names: Vec<&str> = roles.all().iter().map(|it| it.name.as_str()).collect();
        assert_eq!(
            names,
            ["builder", "planner", "advisor", "debugger", "reviewer"]
        );
        for mode in [SessionMode::Build, SessionMode::Plan, SessionMode::Ask] {
            assert_eq!(roles.named(role_for(mode)).unwrap().mode, mode);
        }
        assert_eq!(roles.named("planner").unwrap().effort, Some(Effort::High));
        assert_eq!(roles.named(DEFAULT_ROLE).unwrap().effort, None);
        assert_eq!(
            roles.named(DEFAULT_ROLE).unwrap().task_prompt("do it"),
            "do it"
        );
        let reviewer = roles.named("reviewer").unwrap();
        assert!(
            reviewer
                .tools
                .as_ref()
                .is_some_and(|it| !it.contains(&"edit".to_owned()))
        );
        let refusal = roles.named("painter").unwrap_err().to_string();
        assert!(
            refusal.contains("available roles: builder, planner"),
            "{refusal}"
        );

        let own =
            r#"{ "roles": [{ "name": "builder", "prompt": "Be brief." }, { "name": "painter" }] }"#;
        let (roles, _) = RoleSet::load(own);
        assert_eq!(
            roles.named("builder").unwrap().task_prompt("x"),
            "Be brief.\n\nx"
        );
        assert!(roles.named("painter").is_ok());

        let (roles, problems) = RoleSet::load("{ not");
        assert!(
            problems[0].contains("cannot read the roles (yours)"),
            "{problems:?}"
        );
        assert_eq!(roles.all().len(), 5);
    }
}
