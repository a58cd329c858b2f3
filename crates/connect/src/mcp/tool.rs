//! MCP tools, and the names under which models see them.

use std::collections::BTreeSet;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::schema::normalized;
use crate::error::Error;

/// Maximum length of a tool name that every provider accepts.
const MAX_NAME_LEN: usize = 64;

/// A tool of an MCP server.
#[derive(Clone, Debug, PartialEq)]
pub struct McpTool {
    /// The name of the server.
    pub server: String,
    /// The server's own name for it.
    pub tool: String,
    /// The name for models: `mcp__server__tool`, globally unique, at most 64 letters, digits, `_`
    /// and `-`.
    pub name: String,
    /// The title for display.
    pub title: Option<String>,
    /// The server's description: untrusted text.
    pub description: String,
    /// JSON schema of its arguments: an object with properties, without combinations at its top
    /// level.
    pub schema: Value,
    /// JSON schema of its structured result.
    pub answer_schema: Option<Value>,
    /// The server's claims about its effects: untrusted.
    pub hints: Hints,
}

/// A server's claims about a tool's effects; `None` where it makes none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// The tool changes nothing.
    pub is_read_only: Option<bool>,
    /// It may destroy something.
    pub is_destructive: Option<bool>,
    /// Repeating a call has no further effect.
    pub is_idempotent: Option<bool>,
    /// It accesses systems beyond the server.
    pub is_open_world: Option<bool>,
}

impl McpTool {
    /// Parses a tool from a server's list. The error names the tool; the server's other
    /// tools remain usable.
    pub(crate) fn read(server: &str, written: &Value) -> Result<Self, Error> {
        let text = |name: &str| written.get(name).and_then(Value::as_str);
        let tool = text("name").unwrap_or_default();
        if tool.is_empty() {
            let text = "a tool without a name is left out";
            return Err(Error::Invalid(text.to_owned()));
        }
        let schema = written.get("inputSchema").unwrap_or(&Value::Null);
        let schema = normalized(schema).map_err(|why| {
            Error::Invalid(format!(
                "the tool \"{tool}\" is left out: its inputSchema {why}"
            ))
        })?;
        let annotation = |name: &str| written.pointer(&format!("/annotations/{name}"));
        let hint = |name: &str| annotation(name).and_then(Value::as_bool);
        let title = text("title").or_else(|| annotation("title")?.as_str());
        Ok(Self {
            server: server.to_owned(),
            name: name(server, tool),
            tool: tool.to_owned(),
            title: title.map(str::to_owned),
            description: text("description").unwrap_or_default().to_owned(),
            schema,
            answer_schema: written
                .get("outputSchema")
                .filter(|it| it.is_object())
                .cloned(),
            hints: Hints {
                is_read_only: hint("readOnlyHint"),
                is_destructive: hint("destructiveHint"),
                is_idempotent: hint("idempotentHint"),
                is_open_world: hint("openWorldHint"),
            },
        })
    }
}

/// Returns the name of a tool for models.
fn name(server: &str, tool: &str) -> String {
    let plain = format!("mcp__{}__{}", server_letters(server), letters(tool));
    if plain.len() > MAX_NAME_LEN {
        distinguished(&plain, server, tool)
    } else {
        plain
    }
}

/// Renames tools whose names for models are identical, so that each name is unique. The first tool
/// with a name keeps it.
pub(crate) fn make_unique(tools: &mut [McpTool]) {
    let mut seen = BTreeSet::new();
    for tool in tools {
        if !seen.insert(tool.name.clone()) {
            tool.name = distinguished(&tool.name, &tool.server, &tool.tool);
            seen.insert(tool.name.clone());
        }
    }
}

/// Returns the name, truncated if necessary, with a hash of server and tool appended.
fn distinguished(name: &str, server: &str, tool: &str) -> String {
    let short_hash = short_hash(&[server, tool]);
    let kept: String = name
        .chars()
        .take(MAX_NAME_LEN - 1 - short_hash.len())
        .collect();
    format!("{kept}_{short_hash}")
}

/// Returns a server's name as part of a tool's name. A rule for all tools of the server `files` is
/// `mcp__files`, and must not match a server named `files__more` or `files.`: a name that must be
/// changed gets a hash of the original appended.
fn server_letters(server: &str) -> String {
    let is_plain = letters(server) == server && !server.contains("__") && !server.ends_with('_');
    if is_plain {
        return server.to_owned();
    }
    let mut name = String::new();
    for letter in letters(server).chars() {
        if letter != '_' || !name.ends_with('_') {
            name.push(letter);
        }
    }
    format!("{}_{}", name.trim_end_matches('_'), short_hash(&[server]))
}

/// Returns a hash of these texts, as eight characters.
fn short_hash(texts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for (ix, text) in texts.iter().enumerate() {
        if ix > 0 {
            hash.update([0]);
        }
        hash.update(text);
    }
    let bytes = hash.finalize();
    bytes
        .iter()
        .take(4)
        .map(|byte| format!("{byte:02x}"))
        .collect()
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

    fn tool(server: &str, tool: &str) -> McpTool {
        let written = serde_json::json!({ "name": tool, "inputSchema": {} });
        McpTool::read(server, &written).expect("a tool")
    }

    #[test]
    fn a_bad_tool_is_refused_by_name() {
        let refused = |written: Value| {
            McpTool::read("s", &written)
                .expect_err("refused")
                .to_string()
        };
        let bad =
            refused(serde_json::json!({ "name": "bad", "inputSchema": { "type": "string" } }));
        let reason =
            "the tool \"bad\" is left out: its inputSchema describes \"string\", not an object";
        assert_eq!(bad, reason);
        let nameless = refused(serde_json::json!({ "inputSchema": {} }));
        assert_eq!(nameless, "a tool without a name is left out");
        // Other defects are tolerated.
        let odd = serde_json::json!({ "name": "odd", "title": 1, "description": [], "annotations": "x", "icons": 7 });
        let odd = McpTool::read("s", &odd).expect("a tool");
        assert_eq!((odd.title, odd.description.as_str()), (None, ""));
    }

    #[test]
    fn names_are_valid_for_every_provider() {
        assert_eq!(name("files", "read_file"), "mcp__files__read_file");
        assert_eq!(name("my_files", "a.b/c"), "mcp__my_files__a_b_c");
        let long = name("files", &"x".repeat(100));
        assert_eq!(long.len(), 64);
        assert_ne!(long, name("files", &"x".repeat(101)));
        assert!(name("ä", "ü").starts_with("mcp___"));
    }

    #[test]
    fn rules_for_one_server_do_not_match_another() {
        let begins = |server: &str, with: &str| name(server, "x").starts_with(with);
        for server in [
            "files__more",
            "files.",
            "files_",
            "files__",
            "files ",
            "fi_les_",
        ] {
            assert!(!begins(server, "mcp__files__"), "{}", name(server, "x"));
            assert!(!begins(server, "mcp__fi_les__"), "{}", name(server, "x"));
        }
        assert_ne!(name("a b", "x"), name("a_b", "x"));
        assert_eq!(name("files", "_x"), "mcp__files___x");
    }

    #[test]
    fn tools_with_equal_names_are_distinguished() {
        let mut tools = [tool("s", "a b"), tool("s", "a_b"), tool("s", "a.b")];
        make_unique(&mut tools);
        let names: BTreeSet<_> = tools.iter().map(|tool| &tool.name).collect();
        assert_eq!(names.len(), 3, "{names:?}");
        assert_eq!(tools[0].name, "mcp__s__a_b");
    }
}
