//! Turns action names into the labels shown to users.

/// Formats an action name as a label: `editor::MoveRowsUp` becomes `Editor: Move Lines Up`.
pub(crate) fn human_name(action: &str) -> String {
    let name = match action.rsplit_once("::") {
        Some((space, last)) => format!("{}: {}", title_case(space), title_case(last)),
        None => title_case(action),
    };
    in_lines(&name)
}

/// Replaces "row" by "line" in `text`: the code says rows, but every other editor says lines.
pub(crate) fn in_lines(text: &str) -> String {
    let words = text.split_inclusive(|char: char| !char.is_alphanumeric());
    words
        .map(|word| {
            let end = word.trim_end_matches(|char: char| !char.is_alphanumeric());
            let line = match end {
                "row" => "line",
                "rows" => "lines",
                "Row" => "Line",
                "Rows" => "Lines",
                _ => return word.to_owned(),
            };
            format!("{line}{}", &word[end.len()..])
        })
        .collect()
}

/// Splits an identifier into capitalised words: `project_tree` becomes `Project Tree`, `GoToLine2`
/// becomes `Go To Line 2`.
fn title_case(name: &str) -> String {
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
    use super::{human_name, in_lines};

    #[test]
    fn names_are_words() {
        let check = |action: &str, expect: &str| assert_eq!(human_name(action), expect);
        check("editor::MoveRowsUp", "Editor: Move Lines Up");
        check("project_tree::NewFile", "Project Tree: New File");
        check("pane::ActivateTab", "Pane: Activate Tab");
        check("file::SaveAs", "File: Save As");
        check("editor::InsertUTF8", "Editor: Insert UTF 8");
        check("Quit", "Quit");
    }

    #[test]
    fn rows_are_called_lines() {
        let check = |text: &str, expect: &str| assert_eq!(in_lines(text), expect);
        check(
            "Joins rows, or a row with the next.",
            "Joins lines, or a line with the next.",
        );
        check("Row", "Line");
        check("Browse the arrows; throws", "Browse the arrows; throws");
    }
}
