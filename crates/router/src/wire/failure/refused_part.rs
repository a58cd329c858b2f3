//! Identifies the part of a request that a refusal is about.
//!
//! Providers identify it by a path into the request body (`tools.3.custom.name`,
//! `input[2].content[1]`), by the name of a tool or a member, or only in words. A path is resolved
//! in the body itself, so that one implementation serves every wire, and the part is described by
//! its content: an image's bytes, a tool's name.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::{FailureClass, RefusedPart};
use serde_json::Value;

use super::body::ErrorBody;
use crate::wire::omit;

/// Members of a tool that belong to the tool rather than to the provider's options.
const OF_A_TOOL: &[&str] = &[
    "name",
    "description",
    "input_schema",
    "parameters",
    "parametersjsonschema",
    "parameters_json_schema",
    "format",
];

/// Phrases stating that a model accepts no images.
const NO_IMAGES: &[&str] = &[
    "not support image",
    "not support vision",
    "not support multimodal",
    "not support input image",
    "image input is not",
    "image inputs are not",
    "images are not supported",
    "image is not supported",
    "image_url is not supported",
    "image_url is only supported",
    "support image input",
    "not a multimodal model",
    "not multimodal",
    "variant `image_url`",
    "variant `image`",
    "type 'image_url'",
    "content type. image_url",
    "at most 0 image",
    "data required for image",
    "mmproj",
];

/// Phrases in messages about images.
const IMAGE: &[&str] = &[
    "image",
    "picture",
    "base64",
    "media type",
    "media_type",
    "mime type",
    "mimetype",
    "inline_data",
    "inlinedata",
    "pixel",
];

/// Phrases stating that a model does not support tool calls.
const NO_TOOLS: &[&str] = &[
    "not support tool",
    "not support function",
    "not support `tools`",
    "tools are not supported",
    "tool use is not supported",
    "tool calling is not",
    "function calling is not",
    "support tool use",
    "enable-auto-tool-choice",
    "requires --jinja",
];

/// Phrases stating that there are too many tools.
const MANY_TOOLS: &[&str] = &[
    "too many tools",
    "too many functions",
    "too many function",
    "number of tools",
    "number of functions",
    "number of function",
    "tools are allowed",
    "tools allowed",
    "more than the maximum tools",
];

/// Phrases about reasoning that was sent back.
const REASONING: &[&str] = &[
    "encrypted content",
    "encrypted_content",
    "thought signature",
    "thought_signature",
    "thoughtsignature",
    "`signature` in `thinking`",
    "signature in thinking",
    "invalid signature",
    "thinking block",
    "redacted_thinking",
    "of type 'reasoning'",
];

/// Phrases stating that a member of the body is not supported.
const UNSUPPORTED: &[&str] = &[
    "unsupported",
    "not support",
    "not permitted",
    "not allowed",
    "unrecognized",
    "unrecognised",
    "unknown",
    "unexpected",
    "not available",
    "not enabled",
    "deprecated",
    "cannot be used",
    "not compatible",
    "cannot find field",
    "invalid value",
];

/// Aliases by which refusals refer to members of the body.
const ALIASES: &[(&str, &[&str])] = &[
    (
        "thinking",
        &[
            "thinking",
            "think",
            "thinkingConfig",
            "reasoning",
            "reasoning_effort",
        ],
    ),
    (
        "reasoning",
        &["reasoning", "reasoning_effort", "include_reasoning"],
    ),
    (
        "effort",
        &["effort", "reasoning_effort", "output_config", "reasoning"],
    ),
    ("caching", &["cache_control", "prompt_cache_key"]),
];

/// Returns the part that a refusal of this class is about; `None` if it is unknown or there is
/// none.
pub(super) fn refused(class: FailureClass, body: &ErrorBody, sent: &[u8]) -> Option<RefusedPart> {
    let is_whole = match class {
        FailureClass::InvalidRequest => true,
        // Local servers report this with the statuses of other errors.
        FailureClass::ServerError | FailureClass::NoSuchModel => false,
        _ => return None,
    };
    let refusal = RefusalContext {
        words: body.message.to_lowercase(),
        said: &body.message,
        codes: body.codes.join(" "),
        sent: serde_json::from_slice(sent).unwrap_or_default(),
    };
    let by_paths = || {
        let said = body.message.split_whitespace().filter(|word| is_path(word));
        let mut paths = body.paths.iter().map(String::as_str).chain(said);
        paths.find_map(|path| refusal.by_path(path))
    };
    let lacks_ability = || refusal.lacks_ability();
    if is_whole {
        lacks_ability()
            .or_else(by_paths)
            .or_else(|| refusal.by_words())
    } else {
        lacks_ability().or_else(|| refusal.broken_picture())
    }
}

/// Returns whether a word may be a path into a body.
fn is_path(word: &str) -> bool {
    let is_indexed = word.contains('[')
        || word
            .split('.')
            .any(|step| !step.is_empty() && step.bytes().all(|it| it.is_ascii_digit()));
    (is_indexed || word.contains('.') || word.ends_with(':')) && word.len() > 3
}

struct RefusalContext<'a> {
    /// The message in lower case.
    words: String,
    said: &'a str,
    codes: String,
    sent: Value,
}

/// A resolved path: the values on the way, innermost last, each with the step that led to it.
type Trail<'a> = Vec<(String, &'a Value)>;

impl RefusalContext<'_> {
    /// Returns whether the message contains one of these phrases, which are in lower case.
    fn mentions(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.words.contains(word))
    }

    /// Detects a request for an ability that the model lacks.
    fn lacks_ability(&self) -> Option<RefusedPart> {
        if self.mentions(NO_IMAGES) && self.may_have_images() {
            return Some(RefusedPart::Image {
                named: Vec::new(),
                is_any: true,
            });
        }
        let has_tools = self.sent.is_null() || self.sent.get("tools").is_some();
        (self.mentions(NO_TOOLS) && has_tools).then_some(RefusedPart::ToolCount { most: Some(0) })
    }

    /// Detects an image that the server could not read, reported with an unrelated status.
    fn broken_picture(&self) -> Option<RefusedPart> {
        let is_broken = self.mentions(&[
            "failed to load image",
            "illegal base64",
            "unable to process input image",
            "cannot identify image",
            "unknown format",
            "could not process image",
            "invalid image",
        ]);
        (is_broken && self.may_have_images()).then(|| RefusedPart::Image {
            named: Vec::new(),
            is_any: false,
        })
    }

    /// Returns whether the request contains an image, or its body is unknown.
    fn may_have_images(&self) -> bool {
        self.sent.is_null() || !images(&self.sent).is_empty()
    }

    /// Identifies the part at a path: a tool, a part of the conversation, or an optional member.
    /// Returns `None` if the path leads into none of them, or if the message does not tell what is
    /// wrong with it.
    fn by_path(&self, path: &str) -> Option<RefusedPart> {
        let trail = follow_path(&self.sent, path);
        let has_gone =
            |names: &[&str]| trail.iter().any(|(step, _)| names.contains(&step.as_str()));
        if has_gone(&["tools", "functionDeclarations"]) {
            return self.of_tools(path, &trail);
        }
        if has_gone(&["messages", "input", "contents"]) {
            return self.of_messages(&trail);
        }
        let name = last_name(path)?;
        let root = steps(path).find(|step| omit::is_optional(step))?;
        self.member(&name).or_else(|| self.member(root))
    }

    /// Identifies what a path into the tools refers to: an option on a tool, or the tool itself. If
    /// `trail` reaches no named tool, identifies the number of tools if the message speaks of a
    /// limit, else returns `None`.
    fn of_tools(&self, path: &str, trail: &Trail<'_>) -> Option<RefusedPart> {
        let tool = trail.iter().rev().find_map(|(_, value)| tool_name(value));
        let Some(name) = tool else {
            return self.too_many_tools();
        };
        // Anything below the tool's own members belongs to the tool; the options on the tool itself
        // are ours.
        let is_own = steps(path).any(|step| OF_A_TOOL.contains(&step.to_lowercase().as_str()));
        if !is_own
            && let Some(option) = last_name(path)
            && let Some(member) = self.member(&option)
        {
            return Some(member);
        }
        Some(RefusedPart::Tool { name: Some(name) })
    }

    /// Identifies what a path into the conversation refers to: reasoning, an image, or a member
    /// that the message names as unsupported. Returns `None` if it is none of these. Several images
    /// on the path count only if the message speaks of images.
    fn of_messages(&self, trail: &Trail<'_>) -> Option<RefusedPart> {
        if self.mentions(REASONING) || trail.iter().any(|(_, value)| is_thought(value)) {
            return Some(self.reasoning());
        }
        let mut innermost = trail.iter().rev().map(|(_, value)| images(value));
        let named = innermost.find(|images| !images.is_empty());
        if let Some(named) = named
            && (self.mentions(IMAGE) || named.len() == 1)
        {
            return Some(RefusedPart::Image {
                named,
                is_any: false,
            });
        }
        self.listed_member()
    }

    fn reasoning(&self) -> RefusedPart {
        // Thinking requires its earlier reasoning; without it, thinking is disabled.
        if self.mentions(&["must start with a thinking block", "expected `thinking`"]) {
            RefusedPart::Member {
                name: "thinking".to_owned(),
            }
        } else {
            RefusedPart::Reasoning
        }
    }

    /// Identifies the part by the phrases of the message and by the codes; `None` if none of them
    /// is known.
    fn by_words(&self) -> Option<RefusedPart> {
        if self.mentions(REASONING) || self.codes.contains("encrypted_content") {
            return Some(self.reasoning());
        }
        if self.mentions(MANY_TOOLS)
            || (self.mentions(&["tool"]) && self.mentions(&["array too long"]))
        {
            return self.too_many_tools();
        }
        if self.is_about_image() {
            return Some(RefusedPart::Image {
                named: Vec::new(),
                is_any: false,
            });
        }
        if let Some(name) = self.quoted_tool() {
            return Some(RefusedPart::Tool { name: Some(name) });
        }
        if let Some(member) = self.listed_member() {
            return Some(member);
        }
        let is_schema = self.mentions(&["schema"])
            && self.mentions(&["tool", "function", "input_schema"])
            || self.mentions(&["json schema conversion", "failed to parse tools"])
            || self.codes.contains("invalid_function_parameters");
        is_schema.then_some(RefusedPart::Tool { name: None })
    }

    /// Returns whether the message or a code speaks of images, and the request may contain one.
    fn is_about_image(&self) -> bool {
        (self.mentions(IMAGE) || self.codes.contains("image")) && self.may_have_images()
    }

    /// Returns the number of tools as the refused part, with the maximum if the message gives it.
    /// Returns `None` if the message does not speak of a limit.
    fn too_many_tools(&self) -> Option<RefusedPart> {
        if !self.mentions(&[
            "too long",
            "too many",
            "maximum",
            "at most",
            "limit",
            "number of",
        ]) {
            return None;
        }
        let after = [
            "maximum length",
            "at most",
            "maximum of",
            "maximum",
            "up to",
            "limit",
        ];
        let most = after.iter().find_map(|word| {
            let at = self.words.find(word)? + word.len();
            first_number(&self.words[at..])
        });
        Some(RefusedPart::ToolCount { most })
    }

    /// Finds a tool whose name occurs in the message as a whole word.
    fn quoted_tool(&self) -> Option<String> {
        let mut names = Vec::new();
        tool_names(self.sent.get("tools")?, &mut names);
        let is_about_tools = self.mentions(&["tool", "function", "schema"]);
        let mut named = names.into_iter().filter(|name| has_word(self.said, name));
        named.find(|_| is_about_tools)
    }

    /// Finds a member of the request that the message names as unsupported.
    fn listed_member(&self) -> Option<RefusedPart> {
        let is_unsupported = self.mentions(UNSUPPORTED)
            || self.codes.contains("unsupported")
            || self.codes.contains("unknown_parameter");
        if !is_unsupported {
            return None;
        }
        let sent = omit::members(&self.sent);
        let mut named: Vec<&String> = sent
            .iter()
            .filter(|name| name.len() > 3 && has_word(self.said, name))
            .collect();
        // The longest name is the most specific one: `reasoning_effort` rather than `reasoning`.
        named.sort_by_key(|name| std::cmp::Reverse(name.len()));
        if let Some(name) = named.first() {
            return Some(RefusedPart::Member {
                name: (*name).clone(),
            });
        }
        let aliases = ALIASES.iter().filter(|(word, _)| self.words.contains(word));
        let mut aliases = aliases.flat_map(|(_, names)| names.iter());
        let name = aliases.find(|name| sent.iter().any(|sent| sent == *name))?;
        Some(RefusedPart::Member {
            name: (*name).to_owned(),
        })
    }

    /// Finds a member of the request by name, in any spelling.
    fn member(&self, name: &str) -> Option<RefusedPart> {
        let sent = omit::members(&self.sent);
        let found = sent.into_iter().find(|sent| is_same(sent, name))?;
        Some(RefusedPart::Member { name: found })
    }
}

/// Resolves a path as far as possible. Steps without a match are the provider's own and are
/// skipped.
fn follow_path<'a>(body: &'a Value, path: &str) -> Trail<'a> {
    let mut trail = Trail::new();
    let mut at = body;
    for step in steps(path) {
        let next = match at {
            Value::Array(items) => step.parse::<usize>().ok().and_then(|ix| items.get(ix)),
            Value::Object(members) => members
                .iter()
                .find(|(name, _)| is_same(name, step))
                .map(|(_, value)| value),
            _ => None,
        };
        let Some(next) = next else { continue };
        let name = match at {
            Value::Object(members) => members.keys().find(|name| is_same(name, step)),
            _ => None,
        };
        trail.push((name.cloned().unwrap_or_else(|| step.to_owned()), next));
        at = next;
    }
    trail
}

fn steps(path: &str) -> impl Iterator<Item = &str> {
    let is_edge = |letter: char| matches!(letter, '.' | '[' | ']' | '\'' | '"' | '`' | ',' | ':');
    path.split(is_edge).filter(|step| !step.is_empty())
}

/// Returns the last step of a path that is a name rather than an index; `None` if there is none.
fn last_name(path: &str) -> Option<String> {
    let names = steps(path).filter(|step| step.parse::<usize>().is_err());
    names.last().map(str::to_owned)
}

/// Returns whether two spellings are of the same name: `inline_data` and `inlineData`.
fn is_same(one: &str, other: &str) -> bool {
    let letters = |name: &str| name.replace('_', "").to_lowercase();
    one == other || letters(one) == letters(other)
}

/// Returns all images within a value, in order.
fn images(value: &Value) -> Vec<Arc<[u8]>> {
    let mut found = Vec::new();
    collect_images(value, &mut found);
    found
}

fn collect_images(value: &Value, found: &mut Vec<Arc<[u8]>>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_images(item, found)),
        Value::Object(members) => {
            let data = members.get("data").and_then(Value::as_str);
            let is_picture = ["media_type", "mimeType", "mime_type"]
                .iter()
                .filter_map(|name| members.get(*name).and_then(Value::as_str))
                .any(|kind| kind.starts_with("image/"));
            match data {
                Some(data) if is_picture => found.extend(bytes(data)),
                _ => members
                    .values()
                    .for_each(|value| collect_images(value, found)),
            }
        }
        Value::String(text) => {
            if let Some(rest) = text.strip_prefix("data:image/")
                && let Some((_, data)) = rest.split_once(";base64,")
            {
                found.extend(bytes(data));
            }
        }
        _ => {}
    }
}

/// Decodes base64; `None` if it is invalid.
fn bytes(data: &str) -> Option<Arc<[u8]>> {
    STANDARD.decode(data).ok().map(Into::into)
}

/// Returns whether a value is a part with reasoning, on any wire.
fn is_thought(value: &Value) -> bool {
    let kind = value.get("type").and_then(Value::as_str);
    let is_kind =
        kind.is_some_and(|kind| matches!(kind, "thinking" | "redacted_thinking" | "reasoning"));
    is_kind || value.get("thought") == Some(&Value::Bool(true))
}

/// Returns the name of a tool definition, on any wire; `None` if the value has no name.
fn tool_name(value: &Value) -> Option<String> {
    let name = value
        .get("name")
        .or_else(|| value.pointer("/function/name"))?;
    Some(name.as_str()?.to_owned())
}

fn tool_names(value: &Value, names: &mut Vec<String>) {
    match (tool_name(value), value) {
        (Some(name), _) => names.push(name),
        (None, Value::Array(items)) => items.iter().for_each(|item| tool_names(item, names)),
        (None, Value::Object(members)) => {
            if let Some(declared) = members.get("functionDeclarations") {
                tool_names(declared, names);
            }
        }
        _ => {}
    }
}

/// Returns whether a name occurs in a text as a whole word.
fn has_word(text: &str, name: &str) -> bool {
    let is_letter = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-');
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        !before.is_some_and(is_letter) && !after.is_some_and(is_letter)
    })
}

/// Returns the first number in a text; `None` if there is none within the first 24 bytes, or if it
/// is too large.
fn first_number(text: &str) -> Option<usize> {
    let begin = text.find(|letter: char| letter.is_ascii_digit())?;
    // The number must be adjacent to its word.
    if begin > 24 {
        return None;
    }
    let mut digits = text[begin..].split(|letter: char| !letter.is_ascii_digit());
    digits.next()?.parse().ok()
}

#[cfg(test)]
mod tests;
