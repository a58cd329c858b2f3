//! Tools of servers, and the names that models know them by.

use std::collections::BTreeSet;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::schema::normalized;

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
    /// JSON schema of its arguments: an object with properties, without combinations at its top.
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
    /// Reads a tool as a server lists it. The error is a sentence that names the tool: the others of its server are
    /// of use without it.
    pub(crate) fn read(server: &str, written: &Value) -> Result<Self, String> {
        let text = |name: &str| written.get(name).and_then(Value::as_str);
        let tool = text("name").unwrap_or_default();
        if tool.is_empty() {
            return Err("a tool without a name is left out".to_owned());
        }
        let schema = written.get("inputSchema").unwrap_or(&Value::Null);
        let schema = normalized(schema)
            .map_err(|why| format!("the tool \"{tool}\" is left out: its inputSchema {why}"))?;
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

/// What a model knows a tool by.
fn name(server: &str, tool: &str) -> String {
    let plain = format!("mcp__{}__{}", server_letters(server), letters(tool));
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
    let mark = mark(&[server, tool]);
    let kept: String = name.chars().take(LONGEST_NAME - 1 - mark.len()).collect();
    format!("{kept}_{mark}")
}

/// A server's name within a tool's. A rule for all tools of the server `files` is `mcp__files`, and must not speak of a
/// server that calls itself `files__more` or `files.`: whatever is not taken as it is gets a few letters that follow
/// from the whole name.
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
    format!("{}_{}", name.trim_end_matches('_'), mark(&[server]))
}

/// Eight letters that follow from these texts.
fn mark(texts: &[&str]) -> String {
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

    fn tool(server: &str, tool: &str) -> ForeignTool {
        let written = serde_json::json!({ "name": tool, "inputSchema": {} });
        ForeignTool::read(server, &written).expect("a tool")
    }

    #[test]
    fn a_bad_tool_is_refused_by_name() {
        let refused = |written: Value| ForeignTool::read("s", &written).expect_err("refused");
        let bad =
            refused(serde_json::json!({ "name": "bad", "inputSchema": { "type": "string" } }));
        let told =
            "the tool \"bad\" is left out: its inputSchema describes \"string\", and no object";
        assert_eq!(bad, told);
        let nameless = refused(serde_json::json!({ "inputSchema": {} }));
        assert_eq!(nameless, "a tool without a name is left out");
        // What else is wrong costs nothing.
        let odd = serde_json::json!({ "name": "odd", "title": 1, "description": [], "annotations": "x", "icons": 7 });
        let odd = ForeignTool::read("s", &odd).expect("a tool");
        assert_eq!((odd.title, odd.description.as_str()), (None, ""));
    }

    #[test]
    fn names_are_what_every_provider_takes() {
        assert_eq!(name("files", "read_file"), "mcp__files__read_file");
        assert_eq!(name("my_files", "a.b/c"), "mcp__my_files__a_b_c");
        let long = name("files", &"x".repeat(100));
        assert_eq!(long.len(), 64);
        assert_ne!(long, name("files", &"x".repeat(101)));
        assert!(name("ä", "ü").starts_with("mcp___"));
    }

    #[test]
    fn no_rule_for_one_server_speaks_of_another() {
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
    fn tools_that_sound_alike_are_told_apart() {
        let mut tools = [tool("s", "a b"), tool("s", "a_b"), tool("s", "a.b")];
        make_unique(&mut tools);
        let names: BTreeSet<_> = tools.iter().map(|tool| &tool.name).collect();
        assert_eq!(names.len(), 3, "{names:?}");
        assert_eq!(tools[0].name, "mcp__s__a_b");
    }
}
