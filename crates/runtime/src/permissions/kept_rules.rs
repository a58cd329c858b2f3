//! The rules and grants that the permissions file keeps, listed and changed one by one.

use agent::access::{CommandGrant, KeptRule, RuleList, RuleOrigin};
use host::Dirs;
use serde_json::{Value, json};

use super::{Permissions, add, path, remove};
use crate::Error;

impl Permissions {
    /// Returns all rules of the file, those for all projects first.
    pub fn kept_rules(&self) -> Vec<KeptRule> {
        let mut kept = Vec::new();
        match self.get("permissions") {
            Some(rules) => push(&mut kept, &rules, &RuleOrigin::User),
            // Rules may also be at the top of the file.
            None => {
                for list in RuleList::ALL {
                    let rules = json!({ list.name(): self.get(list.name()) });
                    push(&mut kept, &rules, &RuleOrigin::User);
                }
            }
        }
        let projects = self.get("projects");
        for (project, rules) in projects.iter().filter_map(Value::as_object).flatten() {
            push(&mut kept, rules, &RuleOrigin::Project(project.clone()));
        }
        kept
    }

    /// Returns the accesses that the file grants to commands: those for all projects, and those of
    /// `project`.
    pub fn grants(&self, project: &str) -> Vec<CommandGrant> {
        let sandbox = self.get("sandbox").unwrap_or_default();
        let projects = self.get("projects").unwrap_or_default();
        let own = projects.get(project).and_then(|it| it.get("commands"));
        let everywhere = sandbox.get("commands").map(|it| (it, RuleOrigin::User));
        let own = own.map(|it| (it, RuleOrigin::Project(project.to_owned())));
        let mut grants = Vec::new();
        for (commands, origin) in everywhere.into_iter().chain(own) {
            for (rule, accesses) in commands.as_object().into_iter().flatten() {
                let accesses = accesses.as_array().into_iter().flatten();
                grants.extend(
                    accesses
                        .filter_map(Value::as_str)
                        .map(|access| CommandGrant {
                            rule: rule.clone(),
                            access: access.to_owned(),
                            origin: origin.clone(),
                        }),
                );
            }
        }
        grants
    }
}

fn push(kept: &mut Vec<KeptRule>, rules: &Value, origin: &RuleOrigin) {
    for list in RuleList::ALL {
        let rules = rules.get(list.name()).and_then(Value::as_array);
        let rules = rules.into_iter().flatten().filter_map(Value::as_str);
        kept.extend(rules.map(|rule| KeptRule {
            rule: rule.to_owned(),
            list,
            origin: origin.clone(),
        }));
    }
}

/// Returns the keys of the list that has a rule of this origin; `None` for a rule of a session,
/// which the file does not keep.
fn list_keys(
    permissions: &Permissions,
    list: RuleList,
    origin: &RuleOrigin,
) -> Option<Vec<String>> {
    let name = list.name().to_owned();
    Some(match origin {
        RuleOrigin::Project(project) => vec!["projects".to_owned(), project.clone(), name],
        RuleOrigin::User if permissions.get("permissions").is_none() => vec![name],
        RuleOrigin::User => vec!["permissions".to_owned(), name],
        RuleOrigin::Session => return None,
    })
}

/// Removes a kept rule from the file. Blocks on the disk. Fails with `Error::Unknown` if the file
/// does not have it there.
pub fn remove_rule(dirs: &Dirs, rule: &KeptRule) -> Result<(), Error> {
    let permissions = Permissions::read(dirs);
    // An unreadable file is the reason, not a missing rule.
    permissions.check()?;
    let keys = list_keys(&permissions, rule.list, &rule.origin);
    let keys = keys.filter(|_| permissions.kept_rules().contains(rule));
    let missing = || {
        let place = place(&rule.origin);
        Error::Unknown(format!("there is no rule {} for {place}", rule.rule))
    };
    let keys = keys.ok_or_else(missing)?;
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    remove(&path(dirs), &keys, &rule.rule)?
        .then_some(())
        .ok_or_else(missing)
}

/// Adds a rule to the file, unless it has the rule there. Blocks on the disk. Fails with
/// `Error::Unknown` for a rule of a session.
pub fn add_rule(dirs: &Dirs, rule: &KeptRule) -> Result<(), Error> {
    let permissions = Permissions::read(dirs);
    permissions.check()?;
    if permissions.kept_rules().contains(rule) {
        return Ok(());
    }
    let keys = list_keys(&permissions, rule.list, &rule.origin).ok_or_else(|| {
        Error::Unknown("the rules of a session are not kept in a file".to_owned())
    })?;
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    add(&path(dirs), &keys, std::slice::from_ref(&rule.rule))
}

/// Removes a granted access from the file. Blocks on the disk. Fails with `Error::Unknown` if the
/// file does not grant it there.
pub fn remove_grant(dirs: &Dirs, grant: &CommandGrant) -> Result<(), Error> {
    let keys = match &grant.origin {
        RuleOrigin::Project(project) => vec!["projects", project, "commands", &grant.rule],
        RuleOrigin::User | RuleOrigin::Session => vec!["sandbox", "commands", &grant.rule],
    };
    Permissions::read(dirs).check()?;
    if remove(&path(dirs), &keys, &grant.access)? {
        return Ok(());
    }
    let (rule, place) = (&grant.rule, place(&grant.origin));
    Err(Error::Unknown(format!(
        "{rule} has no access \"{}\" in {place}",
        grant.access
    )))
}

/// Names the projects to which a rule of this origin applies.
fn place(origin: &RuleOrigin) -> &str {
    match origin {
        RuleOrigin::User => "all projects",
        RuleOrigin::Project(project) => project,
        RuleOrigin::Session => "this session",
    }
}
