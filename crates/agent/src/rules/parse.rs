//! Parsing of the permissions file.

use base::NameRules;
use serde_json::Value;

use super::pattern::RulePattern;
use super::{PermissionProblem, PermissionRules};

/// The lists of a set of rules.
const LISTS: [&str; 3] = ["allow", "ask", "deny"];
/// All keys at the top of the file.
const TOP: [&str; 8] = [
    "permissions",
    "projects",
    "sandbox",
    "allow",
    "ask",
    "deny",
    "edits",
    "$schema",
];
/// The key of the rules for all projects.
const EVERYWHERE: &str = "permissions";
/// The key of the rules by project.
const PROJECTS: &str = "projects";

pub(super) fn rules(
    settings: &Value,
    project: &str,
    names: NameRules,
) -> (PermissionRules, Vec<PermissionProblem>) {
    let mut reader = RuleReader::default();
    reader.rules.names = names;
    if !settings.is_object() {
        reader.problem(&[], "the permissions must be an object", true);
    }
    match settings.get(EVERYWHERE) {
        Some(everywhere) => {
            // Rules outside that object would be ignored silently.
            for name in LISTS
                .into_iter()
                .filter(|name| settings.get(name).is_some())
            {
                let message = format!("`{name}` must be within `{EVERYWHERE}`");
                reader.problem(&[name], message, true);
            }
            reader.set(&[EVERYWHERE], everywhere);
        }
        None => reader.set(&[], settings),
    }
    for (name, value) in settings.as_object().into_iter().flatten() {
        if !TOP.contains(&name.as_str()) {
            let message = format!("`{name}` is not one of {}", TOP.join(", "));
            reader.problem(&[name], message, value.is_object() || value.is_array());
        }
    }
    match settings.get(PROJECTS) {
        None => {}
        Some(Value::Object(projects)) => {
            let own = projects
                .iter()
                .filter(|(path, _)| names.is_same(path, project));
            for (path, rules) in own {
                reader.set(&[PROJECTS, path], rules);
            }
        }
        Some(_) => reader.problem(&[PROJECTS], "`projects` must be an object", true),
    }
    let mut rules = reader.rules;
    rules.closed = reader
        .problems
        .iter()
        .find(|problem| problem.closes)
        .map(|problem| format!("the permissions are not understood: {}", problem.message));
    (rules, reader.problems)
}

#[derive(Default)]
struct RuleReader {
    rules: PermissionRules,
    problems: Vec<PermissionProblem>,
}

impl RuleReader {
    /// Adds a set of rules: `allow`, `ask`, `deny`, `edits`.
    fn set(&mut self, path: &[&str], set: &Value) {
        let Some(object) = set.as_object() else {
            return self.problem(path, "the rules must be an object", true);
        };
        // The top of the file contains other keys as well.
        if !path.is_empty() {
            for name in object.keys().filter(|name| !is_known(name)) {
                let at = [path, &[name.as_str()]].concat();
                let message = format!("`{name}` is not one of allow, ask, deny and edits");
                self.problem(&at, message, true);
            }
        }
        for name in LISTS {
            let patterns = self.list(&[path, &[name]].concat(), name, set.get(name));
            match name {
                "allow" => self.rules.allow.extend(patterns),
                "ask" => self.rules.ask.extend(patterns),
                _ => self.rules.deny.extend(patterns),
            }
        }
        match set.get("edits") {
            None => {}
            Some(Value::String(word)) if word == "allow" => self.rules.asks_for_edits = false,
            Some(Value::String(word)) if word == "ask" => self.rules.asks_for_edits = true,
            Some(other) => {
                self.rules.asks_for_edits = true;
                let message = format!("`edits` is \"ask\" or \"allow\", not {other}");
                self.problem(&[path, &["edits"]].concat(), message, false);
            }
        }
    }

    fn list(&mut self, path: &[&str], name: &str, list: Option<&Value>) -> Vec<RulePattern> {
        // Losing an allow rule makes the permissions stricter; losing a deny or ask rule makes them
        // weaker.
        let closes = name != "allow";
        let rules = match list {
            None | Some(Value::Null) => return Vec::new(),
            Some(Value::Array(rules)) => rules,
            Some(_) => {
                self.problem(path, format!("`{name}` must be a list of rules"), closes);
                return Vec::new();
            }
        };
        let mut patterns = Vec::new();
        for (ix, rule) in rules.iter().enumerate() {
            let ix = ix.to_string();
            let path = [path, &[ix.as_str()]].concat();
            let Some(rule) = rule.as_str() else {
                self.problem(
                    &path,
                    format!("{rule} is not a rule; write it as a string"),
                    closes,
                );
                continue;
            };
            match RulePattern::read(rule).and_then(|it| it.of_known_tool(closes)) {
                Ok(pattern) => patterns.push(pattern.with_names(self.rules.names)),
                Err(error) => {
                    self.problem(&path, error.to_string(), closes);
                    if closes {
                        patterns.extend(RulePattern::whole_tool(rule));
                    }
                }
            }
        }
        patterns
    }

    fn problem(&mut self, path: &[&str], message: impl Into<String>, closes: bool) {
        self.problems.push(PermissionProblem {
            path: path.iter().map(|name| (*name).to_owned()).collect(),
            message: message.into(),
            closes,
        });
    }
}

/// Returns whether a key is allowed in a set of rules; `commands` holds the sandbox permissions of
/// single commands.
fn is_known(name: &str) -> bool {
    LISTS.contains(&name) || matches!(name, "edits" | "commands")
}
