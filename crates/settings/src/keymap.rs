//! Keymaps: lists of `{ "context": …, "bindings": { keys: action } }`.
//!
//! Knows the syntax of keys and names, but neither the existing actions nor the meaning of a
//! context: the window checks those when it installs the bindings, and reports them with the
//! positions kept here.

use crate::document::{self, Member, NodeValue, SpannedValue};
use crate::problem::{ConfigProblem, SourceText};
use crate::suggest;

/// Blocks of a keymap file in source order; later bindings take precedence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Keymap {
    /// Display name of the file.
    pub source: String,
    /// One block for each valid `{ "context", "bindings" }`.
    pub blocks: Vec<KeymapBlock>,
}

/// Bindings of a keymap that apply in one context.
#[derive(Clone, Debug, PartialEq)]
pub struct KeymapBlock {
    /// Context in which the bindings apply, such as `Editor && !menu`; `None` for everywhere.
    pub context: Option<String>,
    /// Line and column of the context, or of the block; both counted from 1.
    pub context_place: (u32, u32),
    /// Whether macOS moves these keys to their equivalents on keyboard layouts that cannot type
    /// them, as it does for menus; no effect elsewhere.
    pub use_key_equivalents: bool,
    /// Bindings in source order.
    pub bindings: Vec<KeymapBinding>,
}

/// A key sequence and the action that it runs.
#[derive(Clone, Debug, PartialEq)]
pub struct KeymapBinding {
    /// Keystrokes separated by spaces, such as `ctrl-k ctrl-s`.
    pub keys: String,
    /// Action run by the keys.
    pub action: BoundAction,
    /// Line and column of the keys; both counted from 1.
    pub place: (u32, u32),
}

/// Effect of a key binding: run an action, or remove earlier bindings of the keys.
#[derive(Clone, Debug, PartialEq)]
pub enum BoundAction {
    /// Runs the action `namespace::Name`.
    Run {
        /// Name of the action: `namespace::Name`.
        name: String,
        /// Argument of the action; `None` for actions without one.
        argument: Option<serde_json::Value>,
    },
    /// Removes earlier bindings of the keys in this context.
    Nothing,
}

/// Parses a keymap; `source` is the file's name in problems. Never fails: invalid entries are
/// dropped and reported. Whether an action exists is not checked.
pub fn parse_keymap(source: &str, text: &str) -> (Keymap, Vec<ConfigProblem>) {
    let origin = SourceText::new(source, text);
    let mut reader = KeymapReader {
        origin: &origin,
        problems: Vec::new(),
    };
    let blocks = match document::parse(&origin) {
        Ok(Some(root)) => reader.blocks(&root),
        Ok(None) => Vec::new(),
        Err(problem) => {
            reader.problems.push(problem);
            Vec::new()
        }
    };
    (
        Keymap {
            source: source.to_owned(),
            blocks,
        },
        reader.problems,
    )
}

struct KeymapReader<'a> {
    origin: &'a SourceText<'a>,
    problems: Vec<ConfigProblem>,
}

impl KeymapReader<'_> {
    fn blocks(&mut self, root: &SpannedValue) -> Vec<KeymapBlock> {
        let Some(nodes) = root.as_array() else {
            self.problem(
                root,
                format!("a keymap is a list [ … ], found {}", root.kind()),
            );
            return Vec::new();
        };
        nodes.iter().filter_map(|node| self.block(node)).collect()
    }

    /// Parses one block of a keymap. Adds the problems found; returns `None` if the block is not an
    /// object or its context is not a string.
    fn block(&mut self, node: &SpannedValue) -> Option<KeymapBlock> {
        let Some(members) = node.as_object() else {
            self.problem(
                node,
                format!(
                    "expected {{ \"context\", \"bindings\" }}, found {}",
                    node.kind()
                ),
            );
            return None;
        };
        let mut block = KeymapBlock {
            context: None,
            context_place: self.origin.line_and_column(node.span.start),
            use_key_equivalents: false,
            bindings: Vec::new(),
        };
        for member in members {
            match member.key.as_str() {
                "context" => match member.value.as_str() {
                    Some(context) => {
                        block.context = (!context.trim().is_empty()).then(|| context.to_owned());
                        block.context_place = self.origin.line_and_column(member.value.span.start);
                    }
                    None => {
                        self.problem(
                            &member.value,
                            "a context is a string, such as \"Editor\"".to_owned(),
                        );
                        return None;
                    }
                },
                "use_key_equivalents" => match &member.value.value {
                    NodeValue::Bool(is_used) => block.use_key_equivalents = *is_used,
                    _ => {
                        let found = member.value.kind();
                        let message = format!("expected true or false, found {found}");
                        self.problem(&member.value, message);
                    }
                },
                "bindings" => block.bindings = self.bindings(&member.value),
                key => {
                    let hint = suggest::hint(key, ["context", "use_key_equivalents", "bindings"]);
                    let message = format!("unknown key \"{key}\" in a keymap{hint}");
                    self.problems
                        .push(self.origin.problem(&member.key_span, message));
                }
            }
        }
        Some(block)
    }

    fn bindings(&mut self, node: &SpannedValue) -> Vec<KeymapBinding> {
        let Some(members) = node.as_object() else {
            self.problem(
                node,
                format!(
                    "bindings are an object {{ keys: action }}, found {}",
                    node.kind()
                ),
            );
            return Vec::new();
        };
        members
            .iter()
            .filter_map(|member| self.binding(member))
            .collect()
    }

    /// Parses one binding. Adds a problem and returns `None` if its keys or its action are invalid.
    fn binding(&mut self, member: &Member) -> Option<KeymapBinding> {
        let mut keys = Vec::new();
        for keystroke in member.key.split_whitespace() {
            if let Err(error) = check_keystroke(keystroke) {
                let problem = self.origin.problem(&member.key_span, error.to_string());
                self.problems.push(problem);
                return None;
            }
            keys.push(keystroke);
        }
        if keys.is_empty() {
            self.problems.push(
                self.origin
                    .problem(&member.key_span, "a binding needs a key"),
            );
            return None;
        }
        let action = self.action(&member.value)?;
        let place = self.origin.line_and_column(member.key_span.start);
        Some(KeymapBinding {
            keys: keys.join(" "),
            action,
            place,
        })
    }

    /// Parses the action of a binding: `null`, a name, or a list of a name and an optional
    /// argument. Adds a problem and returns `None` for anything else.
    fn action(&mut self, node: &SpannedValue) -> Option<BoundAction> {
        let (name_node, argument) = match &node.value {
            NodeValue::Null => return Some(BoundAction::Nothing),
            NodeValue::String(_) => (node, None),
            NodeValue::Array(nodes) => match nodes.as_slice() {
                [name] => (name, None),
                [name, argument] => (name, Some(argument.to_json())),
                _ => {
                    self.problem(
                        node,
                        "expected [\"namespace::Action\", argument]".to_owned(),
                    );
                    return None;
                }
            },
            _ => {
                let message = format!(
                    "expected an action such as \"editor::Undo\", found {}",
                    node.kind()
                );
                self.problem(node, message);
                return None;
            }
        };
        match name_node.as_str() {
            Some(name) if is_action_name(name) => Some(BoundAction::Run {
                name: name.to_owned(),
                argument,
            }),
            Some(name) => {
                self.problem(
                    name_node,
                    format!("\"{name}\" is not an action; write namespace::Action"),
                );
                None
            }
            None => {
                self.problem(
                    name_node,
                    format!("expected the name of an action, found {}", name_node.kind()),
                );
                None
            }
        }
    }

    fn problem(&mut self, node: &SpannedValue, message: String) {
        self.problems.push(self.origin.problem(&node.span, message));
    }
}

/// Whether a name has at least two parts of letters, digits and underscores, separated by `::`.
fn is_action_name(name: &str) -> bool {
    let word = |part: &str| {
        !part.is_empty()
            && part
                .chars()
                .all(|char| char.is_alphanumeric() || char == '_')
    };
    let mut parts = name.split("::");
    parts.clone().count() >= 2 && parts.all(word)
}

const MODIFIERS: [&str; 9] = [
    "ctrl",
    "alt",
    "shift",
    "cmd",
    "super",
    "win",
    "fn",
    "secondary",
    "function",
];

const NAMED_KEYS: [&str; 26] = [
    "space",
    "tab",
    "enter",
    "escape",
    "backspace",
    "delete",
    "insert",
    "home",
    "end",
    "pageup",
    "pagedown",
    "up",
    "down",
    "left",
    "right",
    "back",
    "forward",
    "menu",
    "capslock",
    "pause",
    "cut",
    "copy",
    "paste",
    "new",
    "open",
    "save",
];

/// Reason a keystroke is invalid.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum KeystrokeError {
    #[error("unknown modifier \"{modifier}\" in \"{keystroke}\"{hint}")]
    UnknownModifier {
        modifier: String,
        keystroke: String,
        hint: String,
    },
    #[error("unknown key \"{key}\" in \"{keystroke}\"{hint}")]
    UnknownKey {
        key: String,
        keystroke: String,
        hint: String,
    },
}

/// Validates `modifier-…-key`; a key is one character, a name, or f1 to f35.
fn check_keystroke(keystroke: &str) -> Result<(), KeystrokeError> {
    let (modifiers, key) = if keystroke == "-" {
        ("", "-")
    } else if let Some(modifiers) = keystroke.strip_suffix("--") {
        (modifiers, "-")
    } else {
        keystroke.rsplit_once('-').unwrap_or(("", keystroke))
    };
    for modifier in modifiers.split('-').filter(|modifier| !modifier.is_empty()) {
        if !MODIFIERS.contains(&modifier) {
            return Err(KeystrokeError::UnknownModifier {
                modifier: modifier.to_owned(),
                keystroke: keystroke.to_owned(),
                hint: suggest::hint(modifier, MODIFIERS),
            });
        }
    }
    let function_key = key
        .strip_prefix('f')
        .and_then(|number| number.parse::<u8>().ok());
    let known = key.chars().count() == 1
        || NAMED_KEYS.contains(&key)
        || function_key.is_some_and(|number| (1..=35).contains(&number));
    if known {
        Ok(())
    } else {
        Err(KeystrokeError::UnknownKey {
            key: key.to_owned(),
            keystroke: keystroke.to_owned(),
            hint: suggest::hint(key, NAMED_KEYS),
        })
    }
}

#[cfg(test)]
mod tests;
