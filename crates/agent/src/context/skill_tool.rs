//! The tool that reads skills for the model.

use std::sync::Arc;

use base::AbsPath;
use futures::future::BoxFuture;
use model::{Profile, ToolInput, ToolNames, ToolSpec};
use serde_json::json;

use super::TrustedFolders;
use super::reading::{display_path, read_inside, truncate};
use super::skills::{Skill, Skills};
use crate::error::sentence;
use crate::outcome::CallOutcome;
use crate::tool::{
    CallInput, LockScope, Tool, ToolAccess, ToolCall, ToolClass, ToolContext, ToolResult,
};

/// Maximum bytes of a body or file returned at once; about five thousand tokens.
const MAX_SKILL_BYTES: usize = 20_000;

/// Reads a skill's body, or a file in its folder.
pub struct SkillTool {
    trust: TrustedFolders,
    config: Option<AbsPath>,
}

impl SkillTool {
    /// Creates the tool. `trust` decides which projects' skills may be read; `config` is Burin's
    /// settings folder.
    pub fn new(trust: TrustedFolders, config: Option<AbsPath>) -> Self {
        Self { trust, config }
    }

    fn find(&self, context: &ToolContext) -> Skills {
        let is_trusted = self.trust.is_trusted(&context.root);
        let files = context.sources.files.as_ref();
        Skills::find(files, &context.root, is_trusted, self.config.as_ref())
    }

    /// Returns the skill that a call names, and the argument `file` if given. Finds the skills on
    /// the disk. Fails with the result of the call if its arguments are invalid or no skill has the
    /// name.
    fn named(
        &self,
        call: &ToolCall,
        context: &ToolContext,
    ) -> Result<(Skill, Option<String>), ToolResult> {
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
        let there = if names.is_empty() {
            "there are none in this project".to_owned()
        } else {
            format!("there are {}", names.join(", "))
        };
        let text = format!("There is no skill {name:?}: {there}.");
        Err(ToolResult::new(CallOutcome::InvalidArguments, text))
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

    fn access(&self, call: &ToolCall, _: &ToolContext) -> Result<ToolAccess, ToolResult> {
        let (name, file) = arguments(call)?;
        let title = match &file {
            Some(file) => format!("read {file} of the skill {name}"),
            None => format!("read the skill {name}"),
        };
        Ok(ToolAccess {
            reads: vec![LockScope::Own(format!("skill {name}"))],
            title,
            ..ToolAccess::default()
        })
    }

    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        _access: &'a ToolAccess,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolResult> {
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
                Err(_) => ToolResult::new(
                    CallOutcome::UnexpectedEnvironment,
                    "The skill could not be read: reading was cancelled.",
                ),
            }
        })
    }
}

/// Returns the arguments `name` and `file`; an absent, null or empty `file` is `None`. Fails with
/// the result of the call if the input is not JSON, `name` is not a string, or `file` has another
/// type.
fn arguments(call: &ToolCall) -> Result<(String, Option<String>), ToolResult> {
    let wrong = |text: &str| ToolResult::new(CallOutcome::InvalidArguments, text);
    let CallInput::Json(value) = &call.input else {
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

fn body_of(skill: &Skill, files: &dyn host::Files, root: &AbsPath) -> ToolResult {
    let body = match skill.body(files) {
        Ok(body) => body,
        Err(error) => {
            return ToolResult::new(CallOutcome::UnexpectedEnvironment, sentence(&error));
        }
    };
    let folder = display_path(&skill.folder, root);
    let mut text = format!("<skill name=\"{}\" folder=\"{folder}\">\n", skill.name);
    text.push_str(&truncate(&body, MAX_SKILL_BYTES, "SKILL.md"));
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let others = skill.files(files);
    if !others.is_empty() {
        text.push_str(&format!("Files of this skill: {}\n", others.join(", ")));
    }
    text.push_str("</skill>");
    ToolResult::ok(text)
}

fn file_of(skill: &Skill, file: &str, files: &dyn host::Files) -> ToolResult {
    let path = skill.folder.join(file);
    match read_inside(files, &path, &skill.folder) {
        Ok(Some(text)) if text.text.is_empty() => ToolResult::ok(format!("{file} is empty.")),
        Ok(Some(text)) => ToolResult::ok(truncate(&text.text, MAX_SKILL_BYTES, file)),
        Ok(None) => ToolResult::new(
            CallOutcome::UnexpectedEnvironment,
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
        Err(error) => ToolResult::new(CallOutcome::UnexpectedEnvironment, sentence(&error)),
    }
}

#[cfg(test)]
mod tests;
