//! Encodes an edit in every format as a model without mistakes would write it.

use patch::format::HunkSide;

use super::truth::{Block, Edit};

/// Returns SEARCH/REPLACE blocks; `None` if the lines contain what looks like markers of every
/// length.
pub(super) fn search_replace(path: &str, blocks: &[Block]) -> Option<String> {
    let mut text = String::new();
    for block in blocks {
        // Markers usually have seven characters.
        let signs = [7, 9, 8, 5]
            .into_iter()
            .find(|signs| !has_marker(block, *signs))?;
        let marker = |sign: &str| sign.repeat(signs);
        text += &format!("{path}\n```\n{} SEARCH\n", marker("<"));
        push(&mut text, "", block.side(HunkSide::Old));
        text += &format!("{}\n", marker("="));
        push(&mut text, "", block.side(HunkSide::New));
        text += &format!("{} REPLACE\n```\n\n", marker(">"));
    }
    Some(text)
}

fn has_marker(block: &Block, signs: usize) -> bool {
    let lines = block.lines.iter().map(|(_, line)| line.trim());
    let sign = |sign: &str| sign.repeat(signs);
    let markers = [
        sign("="),
        format!("{} SEARCH", sign("<")),
        format!("{} REPLACE", sign(">")),
    ];
    lines
        .into_iter()
        .any(|line| markers.iter().any(|marker| marker == line))
}

fn push<'a>(text: &mut String, prefix: &str, lines: impl Iterator<Item = &'a str>) {
    for line in lines {
        text.push_str(prefix);
        text.push_str(line);
        text.push('\n');
    }
}

fn push_block(text: &mut String, block: &Block) {
    for (side, line) in &block.lines {
        text.push(match side {
            HunkSide::Both => ' ',
            HunkSide::Old => '-',
            HunkSide::New => '+',
        });
        text.push_str(line);
        text.push('\n');
    }
}

/// Returns a `*** Begin Patch` patch.
pub(super) fn apply_patch(path: &str, blocks: &[Block]) -> String {
    let mut text = format!("*** Begin Patch\n*** Update File: {path}\n");
    for block in blocks {
        text.push_str("@@\n");
        push_block(&mut text, block);
    }
    text.push_str("*** End Patch\n");
    text
}

/// Git's notice that the last line has no line feed.
const BARE: &str = "\\ No newline at end of file\n";

/// Returns a unified diff as git writes it.
pub(super) fn unified(edit: &Edit, blocks: &[Block]) -> String {
    let path = &edit.path;
    let mut text = format!("diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n");
    let ends = |text: &str, rows: usize| (!text.ends_with('\n')).then(|| count(text) == rows);
    for block in blocks {
        let (old, new) = (block.count(HunkSide::Old), block.count(HunkSide::New));
        let number = |row: usize, count: usize| if count == 0 { row } else { row + 1 };
        text += &format!(
            "@@ -{},{old} +{},{new} @@\n",
            number(block.old_row, old),
            number(block.new_row, new)
        );
        let old_is_bare = ends(&edit.old, block.old_row + old) == Some(true);
        let new_is_bare = ends(&edit.new, block.new_row + new) == Some(true);
        push_bare(&mut text, block, old_is_bare, new_is_bare);
    }
    text
}

/// Appends the lines of a block, with a notice after the last line of a side that has no line feed.
fn push_bare(text: &mut String, block: &Block, old_is_bare: bool, new_is_bare: bool) {
    let last = |of: HunkSide| {
        let mut lines = block.lines.iter();
        lines.rposition(|(side, _)| *side == of || *side == HunkSide::Both)
    };
    let (last_old, last_new) = (last(HunkSide::Old), last(HunkSide::New));
    for (ix, line) in block.lines.iter().enumerate() {
        let one = Block {
            lines: vec![line.clone()],
            ..*block
        };
        push_block(text, &one);
        let is_bare =
            (old_is_bare && last_old == Some(ix)) || (new_is_bare && last_new == Some(ix));
        if is_bare {
            text.push_str(BARE);
        }
    }
}

fn count(text: &str) -> usize {
    super::truth::lines(text).len()
}

/// Returns the whole new text between fences that are long enough.
pub(super) fn whole(edit: &Edit) -> String {
    let longest = edit.new.lines().map(|line| {
        let line = line.trim();
        line.len() - line.trim_start_matches('`').len()
    });
    let fence = "`".repeat(longest.max().unwrap_or(0).max(2) + 1);
    let (feed, bare) = if edit.new.is_empty() || edit.new.ends_with('\n') {
        ("", "")
    } else {
        ("\n", BARE)
    };
    format!("{}\n{fence}\n{}{feed}{fence}\n{bare}", edit.path, edit.new)
}

/// Returns the edit with lines addressed by number and hash; `hash` returns the hash of a row of
/// the old text.
pub(super) fn anchors(edit: &Edit, hash: impl Fn(usize) -> String) -> String {
    let mut text = format!("*** File: {}\n", edit.path);
    let new = super::truth::lines(&edit.new);
    let last = count(&edit.old).saturating_sub(1);
    let anchor = |row: usize| format!("{}#{}", row + 1, hash(row));
    for change in edit.changes() {
        let lines = &new[change.new.clone()];
        let range = || match change.old.len() {
            1 => anchor(change.old.start),
            _ => format!(
                "{}..{}",
                anchor(change.old.start),
                anchor(change.old.end - 1)
            ),
        };
        text += &match (change.old.is_empty(), lines.is_empty()) {
            (true, _) if change.old.start > last => format!("after {}\n", anchor(last)),
            (true, _) => format!("before {}\n", anchor(change.old.start)),
            (false, true) => format!("delete {}\n", range()),
            (false, false) => format!("replace {}\n", range()),
        };
        push(&mut text, "+", lines.iter().copied());
    }
    text
}
