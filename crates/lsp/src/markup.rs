//! Texts for the user that may be Markdown.

use serde_json::Value;

/// Maximum length of a text, in bytes.
const MAX_TEXT: usize = 1 << 20;
/// Maximum number of parts of one text.
const MAX_PARTS: usize = 1000;

/// A text for the user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MarkupText {
    /// The text as the server wrote it.
    pub value: String,
    /// Whether the text is Markdown; plain otherwise.
    pub is_markdown: bool,
}

impl MarkupText {
    /// Reads a documentation: a plain text or `MarkupContent`. `None` if it is empty.
    pub(crate) fn documentation(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Self::cut(text, false),
            _ => Self::content(value),
        }
    }

    /// Reads the contents of a hover: `MarkupContent`, a Markdown text, a code block as
    /// `{language, value}`, or a list of the latter two. `None` if it is empty.
    pub(crate) fn contents(value: &Value) -> Option<Self> {
        if let Value::Array(parts) = value {
            let parts = parts.iter().take(MAX_PARTS).filter_map(Self::contents);
            let parts: Vec<String> = parts.map(|part| part.value).collect();
            return Self::cut(&parts.join("\n\n"), true);
        }
        match value {
            Value::String(text) => Self::cut(text, true),
            _ => Self::content(value).or_else(|| Self::code_block(value)),
        }
    }

    /// Reads `MarkupContent`.
    fn content(value: &Value) -> Option<Self> {
        let kind = value.get("kind")?.as_str()?;
        Self::cut(value.get("value")?.as_str()?, kind == "markdown")
    }

    /// Reads `{language, value}` as a fenced block.
    fn code_block(value: &Value) -> Option<Self> {
        let code = value.get("value")?.as_str()?;
        if code.trim().is_empty() {
            return None;
        }
        let language = value.get("language").and_then(Value::as_str);
        // A line break in the name of the language would end the opening of the fence.
        let language = language.unwrap_or_default().lines().next();
        let language = language.unwrap_or_default();
        let fence = fence(code);
        Self::cut(&format!("{fence}{language}\n{code}\n{fence}"), true)
    }

    /// Creates a text of at most 1 MiB; `None` if it is blank.
    fn cut(text: &str, is_markdown: bool) -> Option<Self> {
        let text = &text[..text.floor_char_boundary(MAX_TEXT)];
        (!text.trim().is_empty()).then(|| Self {
            value: text.to_owned(),
            is_markdown,
        })
    }
}

/// Returns a fence that is longer than every run of backticks in the code.
fn fence(code: &str) -> String {
    let (mut longest, mut run) = (0, 0);
    for char in code.chars() {
        run = if char == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    "`".repeat((longest + 1).max(3))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::MarkupText;

    fn check(contents: Value, expected: Option<(&str, bool)>) {
        let text = MarkupText::contents(&contents);
        let text = text.as_ref().map(|it| (it.value.as_str(), it.is_markdown));
        assert_eq!(text, expected, "{contents}");
    }

    #[test]
    fn contents_have_four_shapes() {
        check(json!("*a*"), Some(("*a*", true)));
        let code = json!({ "language": "rust", "value": "fn f()" });
        check(code.clone(), Some(("```rust\nfn f()\n```", true)));
        let parts = json!([code, "", "text"]);
        check(parts, Some(("```rust\nfn f()\n```\n\ntext", true)));
        check(
            json!({ "kind": "markdown", "value": "*a*" }),
            Some(("*a*", true)),
        );
        check(
            json!({ "kind": "plaintext", "value": "*a*" }),
            Some(("*a*", false)),
        );
    }

    #[test]
    fn empty_and_malformed_contents_give_none() {
        for contents in [
            json!(""),
            json!(" \n"),
            json!([]),
            json!({}),
            json!(7),
            Value::Null,
        ] {
            check(contents, None);
        }
        check(json!({ "kind": "markdown", "value": "" }), None);
        check(json!({ "language": "rust", "value": "" }), None);
    }

    #[test]
    fn a_fence_is_longer_than_the_backticks_within() {
        let code = json!({ "language": "md\nx", "value": "````" });
        check(code, Some(("`````md\n````\n`````", true)));
    }

    #[test]
    fn documentation_without_a_kind_is_plain() {
        let text = MarkupText::documentation(&json!("*a*")).expect("a text");
        assert!(!text.is_markdown);
        assert_eq!(MarkupText::documentation(&json!({ "value": "x" })), None);
    }
}
