//! How actions are called where people read them.

/// `editor::MoveRowsUp` becomes `Editor: Move Rows Up`.
pub(crate) fn human_name(action: &str) -> String {
    match action.rsplit_once("::") {
        Some((space, last)) => format!("{}: {}", words(space), words(last)),
        None => words(action),
    }
}

/// `project_tree` becomes `Project Tree`, `GoToLine2` becomes `Go To Line 2`.
fn words(name: &str) -> String {
    let mut text = String::with_capacity(name.len() + 4);
    let mut before: Option<char> = None;
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '_' || c == '-' {
            before = None;
            continue;
        }
        let next_is_small = chars.peek().is_some_and(|c| c.is_lowercase());
        let starts = match before {
            None => true,
            Some(b) => {
                (c.is_uppercase() && (b.is_lowercase() || b.is_numeric() || next_is_small))
                    || (c.is_numeric() && !b.is_numeric())
            }
        };
        if starts {
            if !text.is_empty() {
                text.push(' ');
            }
            text.extend(c.to_uppercase());
        } else {
            text.push(c);
        }
        before = Some(c);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::human_name;

    #[test]
    fn names_are_words() {
        let check = |action: &str, expect: &str| assert_eq!(human_name(action), expect);
        check("editor::MoveRowsUp", "Editor: Move Rows Up");
        check("project_tree::NewFile", "Project Tree: New File");
        check("pane::ActivateTab", "Pane: Activate Tab");
        check("file::SaveAs", "File: Save As");
        check("editor::InsertUTF8", "Editor: Insert UTF 8");
        check("Quit", "Quit");
    }
}
