//! Names of the origins of texts that join a prompt.

use agent::record::PromptOrigin;

/// Describes the origin of a text in a few words, such as `skill deploy`.
pub fn origin_name(origin: &PromptOrigin) -> String {
    match origin {
        PromptOrigin::Pack { name } => format!("prompt {name}"),
        PromptOrigin::Rules { path } => path.clone(),
        PromptOrigin::Skill { name } => format!("skill {name}"),
        PromptOrigin::Header => "project state".to_owned(),
        PromptOrigin::Mention { what } => what.clone(),
        PromptOrigin::Person => "you".to_owned(),
        PromptOrigin::Model { model } => model.clone(),
        PromptOrigin::Tool { tool, .. } => format!("result of {tool}"),
        PromptOrigin::ToolSpec { tool } => format!("tool {tool}"),
        PromptOrigin::Hook { command } => format!("hook {command}"),
        PromptOrigin::Summary => "summary".to_owned(),
        PromptOrigin::Pinned { .. } => "pinned text".to_owned(),
        PromptOrigin::Harness => "note".to_owned(),
    }
}
