//! Tools of servers, and the names that models know them by.

use std::collections::BTreeSet;

use rmcp::model::Tool;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// The longest name of a tool that every provider takes.
const LONGEST_NAME: usize = 64;

/// A tool of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignTool {
    /// The server.
    pub server: String,
    /// The server's own name for it.
    pub tool: String,
    /// What a model knows it by: `mcp__server__tool`, unique among all, at most 64 letters, digits, `_` and `-`.
    pub name: String,
    /// What people are shown.
    pub title: Option<String>,
    /// What it does, in the server's words: untrusted text.
    pub description: String,
    /// JSON schema of its arguments.
    pub schema: Value,
    /// JSON schema of its structured answer.
    pub answer_schema: Option<Value>,
    /// What the server says of its effects. Nobody has to believe it.
    pub hints: Hints,
}

/// What a server says of a tool's effects; `None` where it says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// It changes nothing.
    pub is_read_only: Option<bool>,
    /// It may destroy something.
    pub is_destructive: Option<bool>,
    /// Twice is the same as once.
    pub is_idempotent: Option<bool>,
    /// It reaches beyond the server.
    pub is_open_world: Option<bool>,
}

impl ForeignTool {
    pub(crate) fn new(server: &str, tool: Tool) -> Self {
        let annotations = tool.annotations.unwrap_or_default();
        Self {
            server: server.to_owned(),
            name: name(server, &tool.name),
            tool: tool.name.into_owned(),
            title: tool.title.or(annotations.title),
            description: tool.description.unwrap_or_default().into_owned(),
            schema: Value::Object(tool.input_schema.as_ref().clone()),
            answer_schema: tool
                .output_schema
                .map(|it| Value::Object(it.as_ref().clone())),
            hints: Hints {
                is_read_only: annotations.read_only_hint,
                is_destructive: annotations.destructive_hint,
                is_idempotent: annotations.idempotent_hint,
                is_open_world: annotations.open_world_hint,
            },
        }
    }
}

/// What a model knows a tool by.
fn name(server: &str, tool: &str) -> String {
    let plain = format!("mcp__{}__{}", letters(server), letters(tool));
    match plain.len() > LONGEST_NAME {
        true => distinguished(&plain, server, tool),
        false => plain,
    }
}

/// Gives tools whose names became the same others that say which is which.
pub(crate) fn make_unique(tools: &mut [ForeignTool]) {
    let mut seen = BTreeSet::new();
    for tool in tools {
        if !seen.insert(tool.name.clone()) {
            tool.name = distinguished(&tool.name, &tool.server, &tool.tool);
            seen.insert(tool.name.clone());
        }
    }
}

/// The name, shortened where it must be, with a few letters that follow from whose it is.
fn distinguished(name: &str, server: &str, tool: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(server);
    hash.update([0]);
    hash.update(tool);
    let mark: String = hash
        .finalize()
        .iter()
        .take(4)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let kept: String = name.chars().take(LONGEST_NAME - 1 - mark.len()).collect();
    format!("{kept}_{mark}")
}

fn letters(text: &str) -> String {
    let letter = |letter: char| match letter {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => letter,
        _ => '_',
    };
    text.chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(server: &str, tool: &str) -> ForeignTool {
        let schema = serde_json::Map::new();
        ForeignTool::new(server, Tool::new_with_raw(tool.to_owned(), None, schema))
    }

    #[test]
    fn names_are_what_every_provider_takes() {
        assert_eq!(name("files", "read_file"), "mcp__files__read_file");
        assert_eq!(name("my files", "a.b/c"), "mcp__my_files__a_b_c");
        let long = name("files", &"x".repeat(100));
        assert_eq!(long.len(), 64);
        assert_ne!(long, name("files", &"x".repeat(101)));
        assert_eq!(name("ä", "ü"), "mcp______");
    }

    #[test]
    fn tools_that_sound_alike_are_told_apart() {
        let mut tools = [tool("a b", "t"), tool("a_b", "t"), tool("a.b", "t")];
        make_unique(&mut tools);
        let names: BTreeSet<_> = tools.iter().map(|tool| &tool.name).collect();
        assert_eq!(names.len(), 3, "{names:?}");
        assert_eq!(tools[0].name, "mcp__a_b__t");
    }
}
