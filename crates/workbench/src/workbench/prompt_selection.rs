//! Adds the selected lines to the prompt of the agents panel.

use base::path_text;
use composer_panel::actions::AddSelection;
use editor::Editor;
use gpui_kit::{App, Context, Entity, Window};
use text::Snapshot;

use super::Workbench;
use super::inline_edit::selected_rows;
use crate::item::TabItem;

/// Maximum size of the quoted lines, in bytes.
const MAX_QUOTED: usize = 64 << 10;

/// Adds the rows of each selection, or of the caret, to the prompt, after the draft, and focuses it. The
/// open session stays.
pub(super) fn add_selection(
    workbench: &mut Workbench,
    _: &AddSelection,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(editor) = workbench.active_item().and_then(TabItem::editor).cloned() else {
        return workbench.tell(
            "add-selection",
            "Open a text to add its lines to the prompt.",
            window,
            cx,
        );
    };
    let text = quoted_selections(workbench, &editor, cx);
    workbench.add_to_prompt(&text, window, cx);
}

fn quoted_selections(workbench: &Workbench, editor: &Entity<Editor>, cx: &mut App) -> String {
    let model = editor.read(cx).model().read(cx);
    let root = workbench.root(cx);
    let path = model.path().map(|path| {
        let relative = root.as_ref().and_then(|root| path.relative_to(root));
        path_text(relative.unwrap_or(path.as_path()))
    });
    let language = model.language().map(|it| it.name().to_lowercase());
    let text = model.snapshot();
    let mut rows: Vec<(u32, u32)> = editor.update(cx, |editor, cx| {
        let selections = editor.selections(cx).iter();
        let rows = selections.map(|it| selected_rows(it, &text));
        rows.map(|rows| (rows.start.0, rows.end.0)).collect()
    });
    rows.sort_unstable();
    rows.dedup();
    let quotes = rows.into_iter().map(|(start, end)| {
        quote(
            path.as_deref().unwrap_or("Untitled"),
            language.as_deref().unwrap_or_default(),
            &text,
            (start, end),
        )
    });
    quotes.collect::<Vec<_>>().join("\n")
}

/// Quotes rows of a text below their place, `path:first-last`.
fn quote(path: &str, language: &str, text: &Snapshot, (start, end): (u32, u32)) -> String {
    let place = match end - start {
        1 => format!("{path}:{end}"),
        _ => format!("{path}:{}-{end}", start + 1),
    };
    let mut lines = String::new();
    for row in start..end {
        let line = text.row_text(base::Row(row));
        if lines.len() + line.len() > MAX_QUOTED {
            // The agent reads the rest in the file.
            lines.push_str("\u{2026}\n");
            break;
        }
        lines.push_str(&line);
        lines.push('\n');
    }
    format!("{place}\n{}", rewrite::fenced(language, &lines))
}

#[cfg(test)]
mod tests {
    use text::Snapshot;

    use super::quote;

    #[test]
    fn quotes_name_their_lines() {
        let text = Snapshot::new("a\r\nb\r\n```\r\nc");
        assert_eq!(
            quote("x.rs", "rust", &text, (0, 2)),
            "x.rs:1-2\n```rust\na\nb\n```\n"
        );
        assert_eq!(quote("x", "", &text, (3, 4)), "x:4\n```\nc\n```\n");
        assert_eq!(quote("x", "", &text, (2, 3)), "x:3\n````\n```\n````\n");
        let long = Snapshot::new(&"x".repeat(70_000));
        assert_eq!(quote("x", "", &long, (0, 1)), "x:1\n```\n\u{2026}\n```\n");
    }
}
