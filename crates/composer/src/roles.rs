//! What an agent is there for: roles, as data.
//!
//! Those we bring are in `assets/roles/roles.json`; a person's own stand in a file of the same form and take the place
//! of ours of the same name.
//! Start at `Roles::of`; what a role forbids is forbidden by `RoleJudge`.

use std::sync::Arc;

use agent::ask::Decision;
use agent::leave::{Judge, Verdict};
use agent::record::Mode;
use agent::tool::{Access, Call, Tool};
use model::Effort;
use serde::Deserialize;

/// The roles that we bring.
const BUILTIN: &str = include_str!("../../../assets/roles/roles.json");
/// The role of who was given none.
pub const USUAL: &str = "builder";

/// What an agent is there for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// A word.
    pub name: String,
    /// A few words for people.
    pub about: String,
    /// What the agent is told in front of its task; empty where that says all.
    pub prompt: String,
    /// How it works.
    pub mode: Mode,
    /// The tools it may use, by their own names; `None` where it may use all.
    pub tools: Option<Vec<String>>,
    /// Which kind of model suits it: `small`, `standard` or `frontier`. Advice for who chooses.
    pub tier: String,
    /// How hard models think in this role; `None` where the role leaves it to the settings.
    pub effort: Option<Effort>,
}

/// The roles there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roles(Vec<Role>);

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
    mode: Mode,
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

impl Roles {
    /// Ours, and those of a person's file, empty where there is none. What cannot be read comes as a sentence.
    pub fn of(own: &str) -> (Self, Vec<String>) {
        let mut problems = Vec::new();
        let mut roles: Vec<Role> = Vec::new();
        for (text, whose) in [(BUILTIN, "ours"), (own, "yours")] {
            if text.trim().is_empty() {
                continue;
            }
            match serde_json::from_str::<RolesFile>(text) {
                Ok(file) => {
                    for role in file.roles.into_iter().map(Role::from) {
                        roles.retain(|it| it.name != role.name);
                        roles.push(role);
                    }
                }
                Err(error) => problems.push(format!("the roles ({whose}) cannot be read: {error}")),
            }
        }
        (Self(roles), problems)
    }

    /// A role by its name, or a sentence that names those there are.
    pub fn named(&self, name: &str) -> Result<&Role, String> {
        let found = self.0.iter().find(|role| role.name == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = self.0.iter().map(|role| role.name.as_str()).collect();
            format!(
                "there is no role \"{name}\"; there are {}",
                names.join(", ")
            )
        })
    }

    /// All of them.
    pub fn all(&self) -> &[Role] {
        &self.0
    }
}

impl From<RoleEntry> for Role {
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

impl Role {
    /// A task as an agent of this role is told it.
    pub fn tell(&self, task: &str) -> String {
        match self.prompt.is_empty() {
            true => task.to_owned(),
            false => format!("{}\n\n{task}", self.prompt),
        }
    }

    /// Its judge, over the one that judges by rules.
    pub fn judge(&self, rules: Arc<dyn Judge>) -> Arc<dyn Judge> {
        match &self.tools {
            None => rules,
            Some(tools) => Arc::new(RoleJudge {
                role: self.name.clone(),
                tools: tools.clone(),
                rules,
            }),
        }
    }
}

/// Forbids tools that a role does not use; the rest is judged by rules.
struct RoleJudge {
    role: String,
    tools: Vec<String>,
    rules: Arc<dyn Judge>,
}

impl Judge for RoleJudge {
    fn judge(&self, tool: &dyn Tool, call: &Call, access: &Access, mode: Mode) -> Verdict {
        match self.tools.iter().any(|name| name == tool.name()) {
            true => self.rules.judge(tool, call, access, mode),
            false => Verdict::Deny {
                reason: format!(
                    "a {} does not use {}: say what you found, and leave the rest to others",
                    self.role,
                    tool.name()
                ),
            },
        }
    }

    fn rules(&self, tool: &dyn Tool, access: &Access) -> Vec<String> {
        self.rules.rules(tool, access)
    }

    fn learn(
        &self,
        tool: &dyn Tool,
        call: &Call,
        access: &Access,
        decision: &Decision,
    ) -> Result<(), String> {
        self.rules.learn(tool, call, access, decision)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_are_there_and_those_of_the_person_take_their_place() {
        let (roles, problems) = Roles::of("");
        assert_eq!(problems, Vec::<String>::new());
        let names: Vec<&str> = roles.all().iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["builder", "planner", "debugger", "reviewer"]);
        assert_eq!(roles.named("planner").unwrap().mode, Mode::Plan);
        assert_eq!(roles.named("planner").unwrap().effort, Some(Effort::High));
        assert_eq!(roles.named(USUAL).unwrap().effort, None);
        assert_eq!(roles.named(USUAL).unwrap().tell("do it"), "do it");
        let reviewer = roles.named("reviewer").unwrap();
        assert!(
            reviewer
                .tools
                .as_ref()
                .is_some_and(|it| !it.contains(&"edit".to_owned()))
        );
        let told = roles.named("painter").unwrap_err();
        assert!(told.contains("there are builder, planner"), "{told}");

        let own =
            r#"{ "roles": [{ "name": "builder", "prompt": "Be brief." }, { "name": "painter" }] }"#;
        let (roles, _) = Roles::of(own);
        assert_eq!(roles.named("builder").unwrap().tell("x"), "Be brief.\n\nx");
        assert!(roles.named("painter").is_ok());

        let (roles, problems) = Roles::of("{ not");
        assert!(
            problems[0].contains("(yours) cannot be read"),
            "{problems:?}"
        );
        assert_eq!(roles.all().len(), 4);
    }
}
