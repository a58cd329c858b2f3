//! Tests texts of models from parsing to the file, with the tolerance of the tools that the models
//! were trained on.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::*;
use crate::format::{EditFormat, parse};
use crate::set::{Completeness, FileEffect, FileLookup, TextSource, plan_set};

struct Files(BTreeMap<&'static str, &'static str>);

impl TextSource for Files {
    fn find(&self, path: &str) -> FileLookup<'_> {
        let text = self.0.get(path);
        text.map_or(FileLookup::Missing, |text| {
            FileLookup::Text(Cow::Borrowed(*text))
        })
    }
}

/// Applies the text to `files` and returns the changed files; `None` if anything is refused.
fn made(
    format: EditFormat,
    files: &[(&'static str, &'static str)],
    text: &str,
) -> Option<BTreeMap<String, String>> {
    let parsed = parse(format, text);
    if parsed.has_losses() || parsed.files.is_empty() {
        return None;
    }
    let files = Files(files.iter().copied().collect());
    let plan = plan_set(&files, &parsed.files, Completeness::All);
    let mut after: BTreeMap<String, String> = files
        .0
        .iter()
        .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
        .collect();
    for file in &plan.files {
        match &file.effect {
            FileEffect::Create { text, .. } | FileEffect::Modify { text, .. } => {
                after.insert(file.path.clone(), text.clone());
            }
            FileEffect::Delete => {
                after.remove(&file.path);
            }
        }
    }
    plan.is_complete().then_some(after)
}

#[track_caller]
fn gives(format: EditFormat, before: &'static str, text: &str, after: &str) {
    let made = made(format, &[("a.py", before)], text);
    let made = made.as_ref().and_then(|files| files.get("a.py"));
    assert_eq!(made.map(String::as_str), Some(after), "{text}");
}

fn patch(body: &str) -> String {
    format!("*** Begin Patch\n*** Update File: a.py\n{body}*** End Patch\n")
}

const CLASS: &str = "import os\n\nclass A:\n    def one(self):\n        return 1\n\n    def two(self):\n        return 2\n";

#[test]
fn patches_of_codex() {
    for (body, from, to) in [
        // Unchanged lines without the leading space.
        (
            "@@\nimport os\n+import sys\n",
            "import os\n",
            "import os\nimport sys\n",
        ),
        (
            "@@ class A:\n    def two(self):\n-        return 2\n+        return 3\n",
            "return 2",
            "return 3",
        ),
        (
            "@@\n    def two(self):\n-        return 2\n+        return 3\n",
            "return 2",
            "return 3",
        ),
        // Blank lines around unchanged lines.
        (
            "@@\n     def two(self):\n-        return 2\n+        return 3\n \n",
            "return 2",
            "return 3",
        ),
        (
            "@@\n     def two(self):\n-        return 2\n+        return 3\n\n\n",
            "return 2",
            "return 3",
        ),
        (
            "@@\n \n import os\n+import sys\n",
            "import os\n",
            "import os\nimport sys\n",
        ),
        // Headers.
        (
            "@@ class A:\n@@     def one(self):\n-        return 1\n+        return 3\n",
            "return 1",
            "return 3",
        ),
        (
            "@@ def one(self): @@\n-        return 1\n+        return 3\n",
            "return 1",
            "return 3",
        ),
        (
            "@@ -4,2 +4,2 @@ class A:\n     def one(self):\n-        return 1\n+        return 3\n",
            "return 1",
            "return 3",
        ),
        (
            "@@\n     def two(self):\n-        return 2\n+        return 3\n*** End of File\n",
            "return 2",
            "return 3",
        ),
        (
            " import os\n+import sys\n",
            "import os\n",
            "import os\nimport sys\n",
        ),
        (
            "--- a/a.py\n+++ b/a.py\n@@\n import os\n+import sys\n",
            "import os\n",
            "import os\nimport sys\n",
        ),
        // Unchanged lines with different white space or punctuation.
        (
            "@@\n def two(self):\n-    return 2\n+    return 3\n",
            "return 2",
            "return 3",
        ),
        (
            "@@\n     def two(self):  \n-        return 2\n+        return 3\n",
            "return 2",
            "return 3",
        ),
    ] {
        gives(
            EditFormat::ApplyPatch,
            CLASS,
            &patch(body),
            &CLASS.replacen(from, to, 1),
        );
    }
    for around in [
        |text: &str| format!("apply_patch <<'EOF'\n{text}EOF\n"),
        |text: &str| format!("bash -lc \"apply_patch <<\\\"EOF\\\"\n{text}EOF\"\n"),
        |text: &str| format!("Here it is:\n\n```diff\n{text}```\n"),
        |text: &str| text.trim_end().to_owned(),
        |text: &str| text.replace('\n', "\r\n"),
        |text: &str| text.replace("a.py", "`a.py`"),
        |text: &str| text.replace("a.py", "**a.py**"),
    ] {
        let text = around(&patch("@@\n import os\n+import sys\n"));
        gives(
            EditFormat::ApplyPatch,
            CLASS,
            &text,
            &CLASS.replace("import os\n", "import os\nimport sys\n"),
        );
    }
}

#[test]
fn what_patches_do_not_say_is_not_guessed() {
    for body in [
        "@@\nimport nothing\n+import sys\n",
        "@@\n     def two(self):\n forgotten\n-        return 2\n+        return 3\n",
    ] {
        assert_eq!(
            made(EditFormat::ApplyPatch, &[("a.py", CLASS)], &patch(body)),
            None,
            "{body}"
        );
    }
}

#[test]
fn blocks_of_aider() {
    const BLOCK: &str = "<<<<<<< SEARCH\nimport os\n=======\nimport sys\n>>>>>>> REPLACE\n";
    let after = CLASS.replace("import os", "import sys");
    let fenced = |head: &str| format!("Some words.\n\n{head}\n```python\n{BLOCK}```\n");
    for head in [
        "a.py",
        "**a.py**",
        "**`a.py`**:",
        "**a.py:**",
        "`a.py`",
        "`a.py`:",
        "### a.py",
        "### File: `a.py`",
        "#### **a.py**",
        "a.py:",
        "File: a.py",
        "**File:** `a.py`",
        "1. `a.py`",
        "- **a.py**",
        "a.py (modified)",
        "In `a.py`, use the other module:",
        "a.py\n",
        "`a.py`:\n\n",
        "### a.py\n",
    ] {
        gives(EditFormat::SearchReplace, CLASS, &fenced(head), &after);
    }
    for text in [
        format!("```python\na.py\n{BLOCK}```\n"),
        format!("```python\n# a.py\n{BLOCK}```\n"),
        format!("```js\n// a.py\n{BLOCK}```\n"),
        format!("````python a.py\n{BLOCK}````\n"),
        format!("a.py\n{BLOCK}"),
        format!("a.py\n\n{BLOCK}"),
        format!("a.py\n```\n{}\n```", BLOCK.trim_end()),
        format!("a.py\n{}", BLOCK.trim_end()),
        format!("a.py\n~~~\n{BLOCK}~~~\n"),
        format!("a.py\n```\n{}```\n", BLOCK.replace("SEARCH", "SEARCH>")),
        format!(" ```python\na.py\n```\n```python\n{BLOCK}```\n"),
        fenced("a.py").replace('\n', "\r\n"),
        // Inside a list item.
        fenced("a.py").replace("\n", "\n   "),
        format!("a.py\n   ```\n{BLOCK}   ```\n"),
    ] {
        gives(EditFormat::SearchReplace, CLASS, &text, &after);
    }
    let block = |old: &str, new: &str| {
        format!("a.py\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n")
    };
    for (old, new, from, to) in [
        // A leading blank line that the file does not have.
        ("\nimport os\n", "\nimport sys\n", "import os", "import sys"),
        (
            "def two(self):\n    return 2\n",
            "def two(self):\n    return 3\n",
            "return 2",
            "return 3",
        ),
        (
            "        return 2\n\n",
            "        return 3\n\n",
            "return 2",
            "return 3",
        ),
        (
            "class A:\n...\n        return 2\n",
            "class A:\n...\n        return 3\n",
            "return 2",
            "return 3",
        ),
    ] {
        gives(
            EditFormat::SearchReplace,
            CLASS,
            &block(old, new),
            &CLASS.replace(from, to),
        );
    }
}

#[test]
fn sentences_are_no_paths() {
    let text = "Now I change it, as in the text.\n\n```\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```\n";
    assert!(parse(EditFormat::SearchReplace, text).has_losses());
}

#[test]
fn files_appear_where_an_empty_one_is() {
    let block = "a.py\n<<<<<<< SEARCH\n=======\nnew\n>>>>>>> REPLACE\n";
    gives(EditFormat::SearchReplace, "", block, "new\n");
    gives(EditFormat::SearchReplace, "\n", block, "new\n");
    assert_eq!(
        made(EditFormat::SearchReplace, &[("a.py", "old\n")], block),
        None
    );
    // In a list, the lines are indented together with their markers.
    let listed = "- a.py\n  ```\n  <<<<<<< SEARCH\n  =======\n  def f():\n      pass\n  >>>>>>> REPLACE\n  ```\n";
    gives(
        EditFormat::SearchReplace,
        "",
        listed,
        "def f():\n    pass\n",
    );
}

#[test]
fn nothing_is_written_over_a_file() {
    let files = [("a.py", "a\n"), ("b.py", "b\n")];
    for body in [
        "*** Add File: a.py\n+x\n",
        "*** Update File: b.py\n*** Move to: a.py\n@@\n-b\n+c\n",
        "*** Update File: b.py\n*** Move to: a.py\n",
    ] {
        let text = format!("*** Begin Patch\n{body}*** End Patch\n");
        assert_eq!(made(EditFormat::ApplyPatch, &files, &text), None, "{body}");
    }
    let diff = "--- /dev/null\n+++ b/a.py\n@@ -0,0 +1 @@\n+x\n";
    assert_eq!(made(EditFormat::UnifiedDiff, &files, diff), None);
}

#[test]
fn diffs_of_models() {
    const HEAD: &str = "--- a/a.py\n+++ b/a.py\n";
    for (hunk, from, to) in [
        (
            "@@ -1,2 +1,3 @@\nimport os\n+import sys\n \n",
            "import os\n",
            "import os\nimport sys\n",
        ),
        (
            "@@ ... @@\n import os\n+import sys\n",
            "import os\n",
            "import os\nimport sys\n",
        ),
        (
            "@@ -7,9 +7,9 @@\n     def two(self):\n-        return 2\n+        return 3\n",
            "return 2",
            "return 3",
        ),
        (
            "@@ -4,3 +4,3 @@\n     def one(self):\n-        return 1\n+        return 3\n\n     def two(self):\n",
            "return 1",
            "return 3",
        ),
        (
            "@@ class A: @@\n     def one(self):\n-        return 1\n+        return 3\n",
            "return 1",
            "return 3",
        ),
        (
            "@@ -1,2 +1,2 @@\n-import os\n+import sys\n ",
            "import os",
            "import sys",
        ),
    ] {
        gives(
            EditFormat::UnifiedDiff,
            CLASS,
            &format!("{HEAD}{hunk}"),
            &CLASS.replacen(from, to, 1),
        );
    }
    // The old name says that there was no file, but the lines say that there was.
    let diff = "--- /dev/null\n+++ a.py\n@@ ... @@\n-import os\n+import sys\n";
    gives(
        EditFormat::UnifiedDiff,
        CLASS,
        diff,
        &CLASS.replace("import os", "import sys"),
    );
}

#[test]
fn a_file_is_deleted_by_a_diff_that_quotes_it() {
    let diff = |lines: &str| format!("--- a/a.py\n+++ /dev/null\n@@ -1,2 +0,0 @@\n{lines}");
    let files = [("a.py", "a\nb\n")];
    let all = diff("-a\n-b\n");
    assert_eq!(
        made(EditFormat::UnifiedDiff, &files, &all),
        Some(BTreeMap::new())
    );
    for lines in ["-a\n-c\n", "-a\n", "-a\n-b\n-c\n", "-b\n-a\n", " a\n-b\n"] {
        assert_eq!(
            made(EditFormat::UnifiedDiff, &files, &diff(lines)),
            None,
            "{lines}"
        );
    }
    let by_name = "diff --git a/a.py b/a.py\ndeleted file mode 100644\nindex e69de29..0000000\n";
    assert_eq!(made(EditFormat::UnifiedDiff, &files, by_name), None);
    assert_eq!(
        made(EditFormat::UnifiedDiff, &[("a.py", "")], by_name),
        Some(BTreeMap::new())
    );
    let bare = diff("-a\n-b\n\\ No newline at end of file\n");
    assert_eq!(
        made(EditFormat::UnifiedDiff, &[("a.py", "a\nb")], &bare),
        Some(BTreeMap::new())
    );
    let patch = "*** Begin Patch\n*** Delete File: a.py\n*** End Patch\n";
    assert_eq!(
        made(EditFormat::ApplyPatch, &files, patch),
        Some(BTreeMap::new())
    );
}

#[test]
fn whole_files_between_indented_fences() {
    gives(
        EditFormat::Whole,
        "old\n",
        "1. `a.py`:\n\n   ```python\n   def f():\n       pass\n\n   ```\n",
        "def f():\n    pass\n\n",
    );
    gives(
        EditFormat::Whole,
        "old\n",
        "a.py\n  ```\ndef f():\n    pass\n  ```\n",
        "def f():\n    pass\n",
    );
    gives(
        EditFormat::Whole,
        "old\n",
        "**a.py**\n````\n```\nx\n```\n````",
        "```\nx\n```\n",
    );
}

#[test]
fn text_matches_at_the_end_without_a_line_feed() {
    let at = |old: &str, new: &str| text_hunk(old, new);
    lands(
        "a\nb c",
        at("b c\n", "b d\n"),
        MatchStrategy::Normalised,
        "a\nb d",
    );
    lands(
        "a\nb c",
        at("c\n", "d\n"),
        MatchStrategy::Normalised,
        "a\nb d",
    );
    lands(
        "a\nb c",
        at("c\n", "d"),
        MatchStrategy::Normalised,
        "a\nb d",
    );
    lands("a\nb", at("a\nb\n", "a\n"), MatchStrategy::Normalised, "a");
}

/// Asserts that the text, cut inside its last line, gives the same result as the whole, or none.
#[track_caller]
fn check_torn(format: EditFormat, before: &'static str, text: &str) {
    let whole = made(format, &[("a.py", before)], text);
    assert!(whole.is_some(), "{text}");
    let start = text
        .trim_end_matches('\n')
        .rfind('\n')
        .map_or(0, |at| at + 1);
    for end in start..text.len() {
        if text.is_char_boundary(end) {
            let torn = made(format, &[("a.py", before)], &text[..end]);
            assert!(
                torn.is_none() || torn == whole,
                "{:?} gives {torn:?}",
                &text[..end]
            );
        }
    }
}

#[test]
fn what_is_cut_in_its_last_line_is_refused() {
    const HEAD: &str = "--- a/a.py\n+++ b/a.py\n";
    for hunk in [
        "@@ -1,3 +1,4 @@\n import os\n+import sys\n \n class A:\n",
        "@@ -8 +8,2 @@\n         return 2\n+        # the last line\n",
        "@@ -8 +8,3 @@\n         return 2\n+\n+x = 1\n",
        "@@ -7,2 +7 @@\n     def two(self):\n-        return 2\n",
        "@@ ... @@\n         return 2\n+        # the last line\n",
        "@@ -1 +1 @@\n-import os\n+import sys\n@@ -5 +5 @@\n-        return 1\n+        return 10\n",
    ] {
        check_torn(EditFormat::UnifiedDiff, CLASS, &format!("{HEAD}{hunk}"));
    }
    let two = format!(
        "{HEAD}@@ -1 +1 @@\n-import os\n+import sys\ndiff --git a/b b/b\nnew file mode 100644\n--- /dev/null\n+++ b/b\n@@ -0,0 +1 @@\n+x\n"
    );
    let whole = made(EditFormat::UnifiedDiff, &[("a.py", CLASS)], &two);
    for (end, _) in two.char_indices().skip(HEAD.len() + 40) {
        let torn = made(EditFormat::UnifiedDiff, &[("a.py", CLASS)], &two[..end]);
        let is_cut_between_lines = two[..end].ends_with('\n');
        assert!(
            torn.is_none() || torn == whole || is_cut_between_lines,
            "{:?}",
            &two[..end]
        );
    }
    check_torn(
        EditFormat::ApplyPatch,
        CLASS,
        &patch("@@\n import os\n+import sys\n"),
    );
    check_torn(
        EditFormat::ApplyPatch,
        CLASS,
        "*** Begin Patch\n*** Add File: b\n+x\n*** End Patch\n",
    );
    let block =
        "a.py\n<<<<<<< SEARCH\nimport os\n=======\nTitle\n=======\nimport sys\n>>>>>>> REPLACE\n";
    for (end, _) in block.char_indices() {
        let torn = made(EditFormat::SearchReplace, &[("a.py", CLASS)], &block[..end]);
        assert_eq!(torn, None, "{:?}", &block[..end]);
    }
    check_torn(
        EditFormat::SearchReplace,
        CLASS,
        "a.py\n```\n<<<<<<< SEARCH\nimport os\n=======\nimport sys\n>>>>>>> REPLACE\n",
    );
    check_torn(EditFormat::Whole, CLASS, "a.py\n```\nx\n```\n");
    check_torn(
        EditFormat::Whole,
        CLASS,
        "*** Write File: a.py\nx\n*** End of File\n",
    );
}
