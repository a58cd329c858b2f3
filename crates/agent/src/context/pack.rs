//! Prompt packs: system prompts written for a model family, with placeholders.
//!
//! A pack is a text in `assets/prompts`. `{{edit}}`, `{{parallel}}`, `{{verify}}` and `{{safety}}`
//! are texts shared by the packs; `{{tool:read}}` is the name under which a tool is offered. A
//! sentence that names a tool which is not offered is dropped.

use model::{EditTool, ParallelTools, Profile};

use crate::record::SessionMode;

/// The system prompt template of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptPack {
    /// Name by which profiles refer to it.
    pub name: &'static str,
    text: &'static str,
}

/// The role of an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AgentRole {
    /// Works for the user.
    #[default]
    Main,
    /// Works for another agent.
    Subagent,
}

const PACKS: [PromptPack; 5] = [
    PromptPack {
        name: "generic",
        text: include_str!("../../../../assets/prompts/generic.md"),
    },
    PromptPack {
        name: "claude",
        text: include_str!("../../../../assets/prompts/claude.md"),
    },
    PromptPack {
        name: "gpt",
        text: include_str!("../../../../assets/prompts/gpt.md"),
    },
    PromptPack {
        name: "gemini",
        text: include_str!("../../../../assets/prompts/gemini.md"),
    },
    PromptPack {
        name: "small",
        text: include_str!("../../../../assets/prompts/small.md"),
    },
];

macro_rules! part {
    ($name:literal) => {
        include_str!(concat!("../../../../assets/prompts/parts/", $name, ".md"))
    };
}

impl PromptPack {
    /// Returns the pack that a profile names, or the general one if there is no such pack.
    pub fn of(profile: &Profile) -> Self {
        let named = PACKS.iter().find(|pack| pack.name == profile.prompt_pack);
        *named.unwrap_or(&PACKS[0])
    }

    /// Renders the system prompt: fills the placeholders for this profile and these tools (own
    /// name, offered name). The same input gives the same bytes.
    pub fn text(&self, profile: &Profile, post: AgentRole, tools: &[(String, String)]) -> String {
        let mut text = self.text.to_owned();
        let shared = [
            ("{{edit}}", edit_part(profile.edit)),
            ("{{parallel}}", parallel_part(profile.parallel)),
            ("{{verify}}", part!("verify")),
            ("{{safety}}", part!("safety")),
        ];
        for (gap, part) in shared {
            text = text.replace(gap, part.trim_end());
        }
        if post == AgentRole::Subagent {
            text.push('\n');
            text.push_str(part!("subagent"));
        }
        name_tools(&text, tools)
    }
}

/// Returns the message to the model on a change of mode.
pub fn mode_text(mode: SessionMode, tools: &[(String, String)]) -> String {
    let text = match mode {
        SessionMode::Build => part!("mode-build"),
        SessionMode::Plan => part!("mode-plan"),
        SessionMode::Ask => part!("mode-ask"),
    };
    name_tools(text, tools)
}

/// Returns the system prompt of the model that writes summaries.
pub fn summary_prompt() -> &'static str {
    part!("summary")
}

fn edit_part(edit: EditTool) -> &'static str {
    match edit {
        EditTool::StrReplace => part!("edit-str-replace"),
        EditTool::ApplyPatch => part!("edit-apply-patch"),
        EditTool::Hashline => part!("edit-hashline"),
        EditTool::SearchReplace => part!("edit-search-replace"),
        EditTool::WholeFile => part!("edit-whole-file"),
    }
}

fn parallel_part(parallel: ParallelTools) -> &'static str {
    match parallel {
        ParallelTools::Never => part!("parallel-never"),
        ParallelTools::Allowed => part!("parallel-allowed"),
        ParallelTools::Hinted => part!("parallel-hinted"),
    }
}

/// Fills in tool names, line by line. A sentence with a tool that is not offered is dropped; the
/// rest of its line stays.
fn name_tools(text: &str, tools: &[(String, String)]) -> String {
    let mut whole = String::with_capacity(text.len());
    for line in text.lines() {
        let Some(line) = named_line(line, tools) else {
            continue;
        };
        // A dropped line leaves two blank lines in a row.
        if line.is_empty() && whole.ends_with("\n\n") {
            continue;
        }
        whole.push_str(&line);
        whole.push('\n');
    }
    whole
}

/// Fills in the tool names of one line; a line without placeholders is unchanged. `tools` holds
/// pairs of a tool's own and offered name. `None` if no sentence of the line remains. If the first
/// sentence of a list item goes, the rest keeps the `- `.
fn named_line(line: &str, tools: &[(String, String)]) -> Option<String> {
    if !line.contains("{{tool:") {
        return Some(line.to_owned());
    }
    let mut named = String::new();
    for sentence in line.split_inclusive(". ") {
        if let Some(sentence) = named_sentence(sentence, tools) {
            named.push_str(&sentence);
        }
    }
    let named = named.trim_end();
    let bare = named.trim_start_matches(['-', ' ']);
    (!bare.is_empty()).then(|| match (line.starts_with("- "), named.starts_with("- ")) {
        (true, false) => format!("- {named}"),
        _ => named.to_owned(),
    })
}

/// Replaces each `{{tool:name}}` by the offered name in backticks. `None` if one of the tools is
/// not offered or a placeholder is not closed. `tools` holds pairs of a tool's own and offered
/// name.
fn named_sentence(sentence: &str, tools: &[(String, String)]) -> Option<String> {
    let mut named = String::new();
    let mut rest = sentence;
    while let Some((before, after)) = rest.split_once("{{tool:") {
        let (own, after) = after.split_once("}}")?;
        let (_, offered) = tools.iter().find(|(name, _)| name == own)?;
        named.push_str(before);
        named.push('`');
        named.push_str(offered);
        named.push('`');
        rest = after;
    }
    named.push_str(rest);
    Some(named)
}

#[cfg(test)]
mod tests;
