//! Finds conflict markers left by a merge: `<<<<<<< name`, `||||||| name`, `=======`,
//! `>>>>>>> name`.
//!
//! Knows: bytes. A marker with a name, as Git writes it, counts by itself; one without a name
//! counts only within a complete block. Underlined headings are therefore no markers.

use std::sync::Arc;

/// Number of characters in a marker.
const MARKER_LENGTH: usize = 7;

/// A conflict marker in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConflictMarker {
    /// Line number, from 1.
    pub(crate) line: u32,
    /// The text of the line.
    pub(crate) text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MarkerKind {
    Begin,
    Base,
    Divide,
    End,
}

/// The markers of a text, in order. A binary file has none.
pub(crate) fn markers(bytes: &[u8]) -> Vec<ConflictMarker> {
    if !has_any(bytes) || bytes.contains(&0) {
        return Vec::new();
    }
    let lines: Vec<(u32, &[u8], MarkerKind, bool)> = (1..)
        .zip(bytes.split(|byte| *byte == b'\n'))
        .filter_map(|(number, line)| {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let (kind, is_named) = kind(line)?;
            Some((number, line, kind, is_named))
        })
        .collect();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some((number, line, kind, is_named)) = lines.get(at) {
        let is_block = *kind == MarkerKind::Begin && is_block(&lines[at + 1..]);
        if is_block || (*is_named && *kind != MarkerKind::Divide) {
            found.push(ConflictMarker {
                line: *number,
                text: String::from_utf8_lossy(line).into_owned(),
            });
        }
        at += 1;
    }
    found
}

/// Returns the first marker that a change adds in `after`. `before` holds the previous contents of
/// the changed files. Existing markers may move, since tests and manuals quote them.
pub(crate) fn first_added(before: &[Arc<[u8]>], after: &[u8]) -> Option<ConflictMarker> {
    let mut known: Vec<String> = before
        .iter()
        .flat_map(|bytes| markers(bytes))
        .map(|marker| marker.text)
        .collect();
    markers(after).into_iter().find(|marker| {
        let old = known.iter().position(|text| *text == marker.text);
        old.map(|old| known.swap_remove(old)).is_none()
    })
}

/// Whether the lines behind a begin marker contain a divider and an end marker before another
/// begin.
fn is_block(rest: &[(u32, &[u8], MarkerKind, bool)]) -> bool {
    let mut is_divided = false;
    for (_, _, kind, _) in rest {
        match kind {
            MarkerKind::Base => {}
            MarkerKind::Divide => is_divided = true,
            MarkerKind::End => return is_divided,
            MarkerKind::Begin => return false,
        }
    }
    false
}

/// Returns the kind of a line that consists of a marker, and whether a name follows it; `None` for
/// any other line.
fn kind(line: &[u8]) -> Option<(MarkerKind, bool)> {
    let sign = *line.first()?;
    let kind = match sign {
        b'<' => MarkerKind::Begin,
        b'|' => MarkerKind::Base,
        b'=' => MarkerKind::Divide,
        b'>' => MarkerKind::End,
        _ => return None,
    };
    let count = line.iter().take_while(|byte| **byte == sign).count();
    if count != MARKER_LENGTH {
        return None;
    }
    match &line[MARKER_LENGTH..] {
        [] => Some((kind, false)),
        [b' ', name @ ..] if kind != MarkerKind::Divide => Some((kind, !name.is_empty())),
        _ => None,
    }
}

/// Returns whether seven marker characters in a row occur anywhere, not only at the start of a
/// line. A row of `=` alone does not count.
fn has_any(bytes: &[u8]) -> bool {
    let mut windows = bytes.windows(MARKER_LENGTH);
    windows.any(|window| matches!(window, b"<<<<<<<" | b">>>>>>>" | b"|||||||"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[u32]) {
        let found = markers(text.as_bytes());
        let lines: Vec<u32> = found.iter().map(|marker| marker.line).collect();
        assert_eq!(lines, expected, "{text:?}");
    }

    #[test]
    fn markers_are_found_as_git_writes_them() {
        check("a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> other\n", &[2, 6]);
        check(
            "<<<<<<< ours\r\nb\r\n||||||| base\r\n=======\r\n>>>>>>> t\r\n",
            &[1, 3, 5],
        );
        // Names may be missing within a block, and half of a block may be left.
        check("<<<<<<<\nb\n=======\nc\n>>>>>>>\n", &[1]);
        check("done\n>>>>>>> other\n", &[2]);
        check("<<<<<<< HEAD\n", &[1]);
    }

    #[test]
    fn lines_that_only_look_alike_are_none() {
        check("Heading\n=======\n\ntext\n", &[]);
        check("<<<<<<<\nonly a rule\n", &[]);
        check(">>>>>>>> eight\n<<<<<< six\n", &[]);
        check("    <<<<<<< indented\n", &[]);
        check("a <<<<<<< b\n>>>>>>>quoted\n", &[]);
        check("\0<<<<<<< HEAD\n", &[]);
    }

    #[test]
    fn only_what_a_change_adds_counts() {
        let quoted: Arc<[u8]> = (*b"x\n<<<<<<< HEAD\n=======\n>>>>>>> b\n").into();
        let moved = b"x\ny\n<<<<<<< HEAD\nz\n=======\n>>>>>>> b\n";
        assert_eq!(first_added(std::slice::from_ref(&quoted), moved), None);
        let twice = [&quoted[..], &b"<<<<<<< HEAD\n=======\n>>>>>>> b\n"[..]].concat();
        let found = first_added(std::slice::from_ref(&quoted), &twice).expect("another one");
        assert_eq!((found.line, found.text.as_str()), (5, "<<<<<<< HEAD"));
        assert_eq!(first_added(&[], &quoted).map(|it| it.line), Some(2));
    }
}
