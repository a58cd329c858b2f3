//! Tests diffs by tools and by models.

use super::*;

#[track_caller]
fn diff(text: &str, expected: &str) {
    check(EditFormat::UnifiedDiff, text, expected);
}

#[test]
fn a_diff_of_git() {
    diff(
        "diff --git a/src/a.rs b/src/a.rs\nindex 1..2 100644\n--- a/src/a.rs\n+++ b/src/a.rs\n\
         @@ -1,3 +1,3 @@ fn main() {\n one\n-two\n+2\n three\n@@ -9 +9,2 @@\n x\n+y\n",
        "update src/a.rs\n  \"one\\ntwo\\nthree\\n\" -> \"one\\n2\\nthree\\n\" at 0\n  \
         \"x\\n\" -> \"x\\ny\\n\" at 8 at the end",
    );
}

#[test]
fn files_appear_vanish_and_move() {
    diff(
        "diff --git a/new b/new\nnew file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1,2 @@\n+a\n+b\n\
         diff --git a/empty b/empty\nnew file mode 100644\nindex 0..1\n\
         diff --git a/old b/old\ndeleted file mode 100644\n--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n\
         diff --git a/x y b/z y\nsimilarity index 90%\nrename from x y\nrename to z y\n\
         --- a/x y\t\n+++ b/z y\t\n@@ -1 +1 @@\n-a\n+b\n\
         diff --git a/p b/q\nsimilarity index 100%\nrename from p\nrename to q\n",
        "create new \"a\\nb\\n\"\ncreate empty \"\"\ndelete old \"a\\n\"\n\
         update x y -> z y\n  \"a\\n\" -> \"b\\n\" at 0\nupdate p -> q",
    );
}

#[test]
fn quoted_names_and_plain_ones() {
    diff(
        "--- \"a/caf\\303\\251 \\\"x\\\".txt\"\n+++ \"b/caf\\303\\251 \\\"x\\\".txt\"\n@@ -1 +1 @@\n-a\n+b\n",
        "update café \"x\".txt\n  \"a\\n\" -> \"b\\n\" at 0",
    );
    diff(
        "--- a.txt\t2020-01-01 00:00:00\n+++ a.txt\t2021-01-01 00:00:00\n@@ -1 +1 @@\n-a\n+b\n",
        "update a.txt\n  \"a\\n\" -> \"b\\n\" at 0",
    );
    diff(
        "--- a.txt.orig\n+++ a.txt\n@@ -1 +1 @@\n-a\n+b\n",
        "update a.txt\n  \"a\\n\" -> \"b\\n\" at 0\n\
         tolerated line 2: the two names differ; the second is the file that changes",
    );
}

#[test]
fn a_missing_final_newline_is_kept_added_and_taken() {
    let end = "\\ No newline at end of file\n";
    let head = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n c\n";
    diff(
        &format!("{head}-a\n{end}+b\n{end}"),
        "update x\n  \"c\\na\\n\" -> \"c\\nb\\n\" at 0 at the end",
    );
    diff(
        &format!("{head}-a\n{end}+a\n"),
        "update x\n  \"c\\na\" -> \"c\\na\\n\" at 0 at the end as text",
    );
    diff(
        &format!("{head}-a\n+a\n{end}"),
        "update x\n  \"c\\na\\n\" -> \"c\\na\" at 0 at the end as text",
    );
    diff(
        &format!("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n{end}"),
        "create x \"a\"",
    );
}

#[test]
fn wrong_counts_are_tolerated() {
    diff(
        "--- a/x\n+++ b/x\n@@ -1,9 +1,2 @@\n-a\n+b\n c\n--- a/y\n+++ b/y\n@@ -3 +3 @@\n-d\n+e\n f\n",
        "update x\n  \"a\\nc\\n\" -> \"b\\nc\\n\" at 0\nupdate y\n  \"d\\nf\\n\" -> \"e\\nf\\n\" at 2\n\
         tolerated line 3: the counts in this hunk's header do not match its lines\n\
         tolerated line 9: the counts in this hunk's header do not match its lines",
    );
    diff(
        "--- a/x\n+++ b/x\n@@ ... @@ fn f\n-a\n\n+b\n",
        "update x\n  \"a\\n\\n\" -> \"\\nb\\n\" in [\"fn f\"]",
    );
}

#[test]
fn counts_distinguish_hunk_lines_from_headers() {
    diff(
        "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n c\n--- sql\n+++ cpp\n@@ -9 +9 @@\n-a\n+b\n",
        "update x\n  \"c\\n-- sql\\n\" -> \"c\\n++ cpp\\n\" at 0 at the end\n  \"a\\n\" -> \"b\\n\" at 8",
    );
}

#[test]
fn a_mail_ends_in_a_signature() {
    diff(
        "Subject: x\n\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n-- \n2.40.0\n\n- a list\n",
        "update x\n  \"a\\n\" -> \"b\\n\" at 0",
    );
}

#[test]
fn what_cannot_be_applied_is_said() {
    diff(
        "diff --git a/x b/x\nindex 1..2\nBinary files a/x and b/x differ\n",
        "lost line 3: a change of a binary file is not applied",
    );
    diff(
        "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n",
        "tolerated line 3: the file's mode stays as it is",
    );
    diff(
        "@@ -1 +1 @@\n-a\n+b\n",
        "lost line 1: this hunk names no file; write \"--- a/path\" and \"+++ b/path\" first\n\
         lost line 4: there is no diff here: a file begins with \"--- a/path\" and \"+++ b/path\"",
    );
}
