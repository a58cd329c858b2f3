//! Accessibility: the disabled state of controls, and controls without an accessible name, which tests
//! and the inspection of a running window find.

mod disabled;

use gpui_kit::Window;
use serde_json::Value;

pub(crate) use disabled::DisabledElement;

/// Returns the unnamed controls in the accessibility tree of the window's last frame, as `role
/// (element)`.
///
/// Returns `None` without a tree, which is built only while a screen reader is connected. UI tests
/// have no tree: they query the kit's observed elements, and `needs_name` says which need a name.
pub fn unnamed(window: &Window) -> Option<Vec<String>> {
    window.debug_a11y_tree_json().map(|json| unnamed_in(&json))
}

/// Returns whether a control of this role (as printed by `Role`'s `Debug`) needs a name. An alert needs none: screen
/// readers read its content.
pub fn needs_name(role: &str) -> bool {
    const SILENT: [&str; 11] = [
        "Alert",
        "Unknown",
        "GenericContainer",
        "Group",
        "Pane",
        "Label",
        "TextRun",
        "Paragraph",
        "Image",
        "ScrollView",
        "Splitter",
    ];
    !SILENT.contains(&role)
}

fn unnamed_in(json: &str) -> Vec<String> {
    let Ok(tree) = serde_json::from_str::<Value>(json) else {
        return vec!["the accessibility tree cannot be read".to_owned()];
    };
    let Some(nodes) = tree.get("nodes").and_then(Value::as_object) else {
        return Vec::new();
    };
    nodes.values().filter_map(complaint).collect()
}

/// Returns the role and element of a control that needs a name and has none; `None` for all others.
fn complaint(node: &Value) -> Option<String> {
    let text = |of: &Value, key: &str| of.get(key).and_then(Value::as_str).map(str::to_owned);
    let aria = node.get("aria").unwrap_or(node);
    let role = text(aria, "role")?;
    let named = text(aria, "label").is_some_and(|label| !label.trim().is_empty());
    (needs_name(&role) && !named && role != "Window")
        .then(|| format!("{role} ({})", text(node, "element_id").unwrap_or_default()))
}

#[cfg(test)]
mod tests;
