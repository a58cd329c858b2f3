//! Prompt packs: the words that a model family understands best, with the gaps filled in.
//!
//! A pack is a text in `assets/prompts`. `{{edit}}`, `{{parallel}}`, `{{verify}}` and `{{safety}}` stand for texts
//! that packs share; `{{tool:read}}` for the name by which a tool is offered. A line that names a tool that is not
//! offered is left out.

use model::{EditTool, ParallelTools, Profile};

use crate::record::Mode;

/// The system prompt of a profile before it knows which tools there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pack {
    /// Its name, as profiles have it.
    pub name: &'static str,
    text: &'static str,
}

/// What the agent is there for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Post {
    /// It works for a person.
    #[default]
    Person,
    /// It works for another agent.
    Agent,
}

const PACKS: [Pack; 5] = [
    Pack {
        name: "generic",
        text: include_str!("../../../../assets/prompts/generic.md"),
    },
    Pack {
        name: "claude",
        text: include_str!("../../../../assets/prompts/claude.md"),
    },
    Pack {
        name: "gpt",
        text: include_str!("../../../../assets/prompts/gpt.md"),
    },
    Pack {
        name: "gemini",
        text: include_str!("../../../../assets/prompts/gemini.md"),
    },
    Pack {
        name: "small",
        text: include_str!("../../../../assets/prompts/small.md"),
    },
];

macro_rules! part {
    ($name:literal) => {
        include_str!(concat!("../../../../assets/prompts/parts/", $name, ".md"))
    };
}

impl Pack {
    /// The pack that a profile names; the general one where there is none of that name.
    pub fn of(profile: &Profile) -> Self {
        let named = PACKS.iter().find(|pack| pack.name == profile.prompt_pack);
        *named.unwrap_or(&PACKS[0])
    }

    /// The system prompt: gaps filled for this profile, with the names by which the tools are offered (own name,
    /// offered name). The same input gives the same bytes.
    pub fn text(&self, profile: &Profile, post: Post, tools: &[(String, String)]) -> String {
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
        if post == Post::Agent {
            text.push('\n');
            text.push_str(part!("subagent"));
        }
        name_tools(&text, tools)
    }
}

/// What a model is told when a session works in another way from now on.
pub fn mode_text(mode: Mode, tools: &[(String, String)]) -> String {
    let text = match mode {
        Mode::Build => part!("mode-build"),
        Mode::Plan => part!("mode-plan"),
        Mode::Ask => part!("mode-ask"),
    };
    name_tools(text, tools)
}

/// The system prompt of the model that writes summaries.
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

/// Fills the names of tools in, line by line. A sentence with a tool that is not offered goes; the rest of its line
/// stays.
fn name_tools(text: &str, tools: &[(String, String)]) -> String {
    let mut whole = String::with_capacity(text.len());
    for line in text.lines() {
        let Some(line) = named_line(line, tools) else {
            continue;
        };
        // Two blank lines in a row are what a line left out leaves behind.
        if line.is_empty() && whole.ends_with("\n\n") {
            continue;
        }
        whole.push_str(&line);
        whole.push('\n');
    }
    whole
}

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
