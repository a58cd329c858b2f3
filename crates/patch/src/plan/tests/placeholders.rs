//! New text that abbreviates lines of the file, in every kind of edit.

use super::*;
use crate::edit::{AnchoredAction, AnchoredEdit, LineAnchor};

const BEFORE: &str = "class A:\n    def one(self):\n        return 1\n\n    def two(self):\n        return 2\n\n    def three(self):\n        return 3\n";

const LINES: [&str; 12] = [
    "    # ... existing code ...",
    "    # (rest of methods ...)",
    "    # rest of the methods unchanged",
    "    // ... rest of class ...",
    "    /* ... */",
    "    <!-- ... unchanged ... -->",
    "    {/* ... existing code ... */}",
    "    -- ...",
    "    …",
    "    ... remaining methods ...",
    "    # remaining code stays the same",
    "    # same as before",
];

fn whole(before: &str, path: &str, text: &str) -> EditPlan {
    let text = text.to_owned();
    let file = FileText::new(before).with_path(path);
    plan(&file, &PatchOperation::Overwrite { text }, StaleGuard::Off)
}

fn is_elided(planned: &EditPlan) -> bool {
    matches!(
        planned.hunks[0].refusal,
        Some(HunkRefusal::ElidedReplacement(_))
    )
}

#[test]
fn a_whole_file_with_a_placeholder_is_refused() {
    for line in LINES {
        let text = format!("class A:\n    def one(self):\n        return 10\n\n{line}\n");
        let planned = whole(BEFORE, "a.py", &text);
        assert!(is_elided(&planned), "{line}: {planned:?}");
        assert_eq!(planned.replacements, []);
    }
}

#[test]
fn new_text_with_a_placeholder_is_refused() {
    for line in LINES {
        let new = format!("class A:\n    def one(self):\n        return 10\n\n{line}\n");
        assert!(is_elided(&run(BEFORE, &[hunk(BEFORE, &new)])), "{line}");
        assert!(
            is_elided(&run(BEFORE, &[text_hunk(BEFORE, &new)])),
            "{line}"
        );
    }
}

#[test]
fn anchored_lines_with_a_placeholder_are_refused() {
    let anchor = |row: u32| LineAnchor {
        row: Row(row),
        hash: crate::anchor::line_hash(BEFORE.lines().nth(row as usize).expect("a line")),
    };
    for line in LINES {
        let operations = vec![AnchoredEdit {
            first: anchor(0),
            last: anchor(8),
            action: AnchoredAction::Replace(format!("class B:\n{line}\n")),
            source: 0..0,
        }];
        let change = PatchOperation::Anchored { operations };
        let planned = plan(&FileText::new(BEFORE), &change, StaleGuard::Off);
        assert!(is_elided(&planned), "{line}");
    }
}

#[test]
fn a_placeholder_of_the_file_stays() {
    let before = "a = 1\n# ... existing code ...\nb = 2\n# rest unchanged\n";
    let after = before.replace("a = 1", "a = 3");
    assert_eq!(whole(before, "a.py", &after).apply(before), after);
    lands(before, hunk(before, &after), MatchStrategy::Exact, &after);
    // Parts that both sides leave out stay, too.
    let old = "class A:\n    # ... existing code ...\n    def three(self):\n        return 3\n";
    let new = old.replace("return 3", "return 4");
    let after = BEFORE.replace("return 3", "return 4");
    lands(BEFORE, hunk(old, &new), MatchStrategy::Elided, &after);
}

#[test]
fn a_new_file_may_hold_placeholders() {
    let text = "# ... existing code ...\n";
    assert_eq!(whole("", "a.py", text).apply(""), text);
}

#[test]
fn prose_may_speak_of_what_stays() {
    let before = "# Title\n\nOne.\n\nTwo.\n";
    let text =
        "# Title\n\n## Unchanged\n\n* same as before\n\nThe rest of the file is unchanged.\n";
    assert_eq!(whole(before, "a.md", text).apply(before), text);
    let text = "# Title\n\n... rest of the document ...\n";
    assert!(is_elided(&whole(before, "a.md", text)));
}

#[test]
fn the_refusal_says_to_write_the_lines_out() {
    let planned = whole(BEFORE, "a.py", "class A:\n    # ... existing code ...\n");
    let refusal = planned.hunks[0].refusal.clone().expect("a refusal");
    assert_eq!(
        refusal.to_string(),
        "the line \"# ... existing code ...\" of the new text abbreviates lines that it would delete; \
         write those lines out in full"
    );
}
