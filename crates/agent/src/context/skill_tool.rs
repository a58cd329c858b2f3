//! The tool with which a model reads a skill.

use std::sync::Arc;

use base::AbsPath;
use futures::future::BoxFuture;
use model::{Profile, ToolInput, ToolNames, ToolSpec};
use serde_json::json;

use super::Trust;
use super::reading::{cut, read_inside, shown};
use super::skills::{Skill, Skills};
use crate::outcome::Outcome;
use crate::tool::{Access, Answer, Call, Input, Scope, Tool, ToolClass, ToolContext};

/// Bytes of a body or a file that are given at once; about five thousand tokens.
const LIMIT: usize = 20_000;

/// Reads a skill's body, or a file of its folder.
pub struct SkillTool {
    trust: Trust,
    config: Option<AbsPath>,
}

impl SkillTool {
    /// `trust` tells which projects' skills may be read; `config` is Burin's folder of settings.
    pub fn new(trust: Trust, config: Option<AbsPath>) -> Self {
        Self { trust, config }
    }

    fn find(&self, context: &ToolContext) -> Skills {
        let is_trusted = self.trust.of(&context.root);
        let files = context.sources.files.as_ref();
        Skills::find(files, &context.root, is_trusted, self.config.as_ref())
    }

    fn named(&self, call: &Call, context: &ToolContext) -> Result<(Skill, Option<String>), Answer> {
        let (name, file) = arguments(call)?;
        let skills = self.find(context);
        if let Some(skill) = skills.named(&name) {
            return Ok((skill.clone(), file));
        }
        let names: Vec<&str> = skills
            .skills
            .iter()
            .map(|skill| skill.name.as_str())
            .collect();
        let there = match names.is_empty() {
            true => "there are none in this project".to_owned(),
            false => format!("there are {}", names.join(", ")),
        };
        let text = format!("There is no skill {name:?}: {there}.");
        Err(Answer::new(Outcome::InvalidArguments, text))
    }
}

impl Tool for SkillTool {
    fn name(&self) -> &str {
        "skill"
    }

    fn spec(&self, profile: &Profile) -> Option<ToolSpec> {
        let name = match profile.tool_names {
            ToolNames::Snake => "skill",
            ToolNames::Pascal => "Skill",
        };
        Some(ToolSpec {
            name: name.to_owned(),
            description: "Reads a skill from the list in the system prompt: how something is done in this project. \
                Without `file` you get its body and the names of its other files; with `file`, that file."
                .to_owned(),
            input: ToolInput::Json(json!({
                "type": "object",
                "properties": {
                    "name": {"type": "string", "description": "The skill's name, as in the list."},
                    "file": {"type": "string", "description": "A file of the skill, relative to its folder."}
                },
                "required": ["name"],
                "additionalProperties": false
            })),
        })
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn access(&self, call: &Call, _: &ToolContext) -> Result<Access, Answer> {
        let (name, file) = arguments(call)?;
        let title = match &file {
            Some(file) => format!("read {file} of the skill {name}"),
            None => format!("read the skill {name}"),
        };
        Ok(Access {
            reads: vec![Scope::Own(format!("skill {name}"))],
            title,
            ..Access::default()
        })
    }

    fn run<'a>(&'a self, call: &'a Call, context: &'a ToolContext) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let (skill, file) = match self.named(call, context) {
                Ok(named) => named,
                Err(answer) => return answer,
            };
            let sources = Arc::clone(&context.sources);
            let root = context.root.clone();
            let read = tokio::task::spawn_blocking(move || {
                let files = sources.files.as_ref();
                match file {
                    Some(file) => file_of(&skill, &file, files),
                    None => body_of(&skill, files, &root),
                }
            });
            match read.await {
                Ok(answer) => answer,
                Err(_) => Answer::new(
                    Outcome::UnexpectedEnvironment,
                    "The skill could not be read: reading it was given up.",
                ),
            }
        })
    }
}

fn arguments(call: &Call) -> Result<(String, Option<String>), Answer> {
    let wrong = |text: &str| Answer::new(Outcome::InvalidArguments, text);
    let Input::Json(value) = &call.input else {
        return Err(wrong(
            "Give the tool skill an object with the `name` of a skill.",
        ));
    };
    let Some(name) = value.get("name").and_then(|name| name.as_str()) else {
        return Err(wrong(
            "The name of the skill is missing: give it as `name`, a text.",
        ));
    };
    match value.get("file") {
        None | Some(serde_json::Value::Null) => Ok((name.to_owned(), None)),
        Some(serde_json::Value::String(file)) if file.is_empty() => Ok((name.to_owned(), None)),
        Some(serde_json::Value::String(file)) => Ok((name.to_owned(), Some(file.clone()))),
        Some(_) => Err(wrong(
            "`file` must be a text: a path inside the skill's folder.",
        )),
    }
}

fn body_of(skill: &Skill, files: &dyn host::Files, root: &AbsPath) -> Answer {
    let body = match skill.body(files) {
        Ok(body) => body,
        Err(problem) => return Answer::new(Outcome::UnexpectedEnvironment, sentence(&problem)),
    };
    let folder = shown(&skill.folder, root);
    let mut text = format!("<skill name=\"{}\" folder=\"{folder}\">\n", skill.name);
    text.push_str(&cut(&body, LIMIT, "SKILL.md"));
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let others = skill.files(files);
    if !others.is_empty() {
        text.push_str(&format!("Files of this skill: {}\n", others.join(", ")));
    }
    text.push_str("</skill>");
    Answer::ok(text)
}

fn file_of(skill: &Skill, file: &str, files: &dyn host::Files) -> Answer {
    let path = skill.folder.join(file);
    match read_inside(files, &path, &skill.folder) {
        Ok(Some(text)) if text.text.is_empty() => Answer::ok(format!("{file} is empty.")),
        Ok(Some(text)) => Answer::ok(cut(&text.text, LIMIT, file)),
        Ok(None) => Answer::new(
            Outcome::UnexpectedEnvironment,
            match skill.files(files).join(", ").as_str() {
                "" => format!(
                    "The skill {} has no file {file:?} and no other; leave out `file`.",
                    skill.name
                ),
                others => format!(
                    "The skill {} has no file {file:?}; name one of these: {others}.",
                    skill.name
                ),
            },
        ),
        Err(problem) => Answer::new(Outcome::UnexpectedEnvironment, sentence(&problem)),
    }
}

fn sentence(problem: &str) -> String {
    let mut letters = problem.chars();
    let first: String = letters
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .collect();
    format!("{first}{}.", letters.as_str())
}

#[cfg(test)]
mod tests;
