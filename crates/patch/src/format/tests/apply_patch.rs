//! Tests patches: tolerated deviations and refused ones.

use super::*;

#[track_caller]
fn patch(body: &str, expected: &str) {
    check(
        EditFormat::ApplyPatch,
        &format!("*** Begin Patch\n{body}*** End Patch\n"),
        expected,
    );
}

#[test]
fn every_kind_of_change() {
    patch(
        "*** Add File: new.txt\n+one\n+\n+two\n\
         *** Delete File: old.txt\n\
         *** Update File: a.py\n*** Move to: b.py\n\
         @@ class A:\n@@     def f(self):\n     keep\n-old\n+new\n\n@@\n-x\n*** End of File\n\
         *** Update File: c.py\n*** Move to: d.py\n",
        "create new.txt \"one\\n\\ntwo\\n\"\n\
         delete old.txt\n\
         update a.py -> b.py\n  \
         \"    keep\\nold\\n\" -> \"    keep\\nnew\\n\" in [\"class A:\", \"    def f(self):\"]\n  \
         \"x\\n\" -> \"\" at the end\n\
         update c.py -> d.py",
    );
}

#[test]
fn the_first_hunk_needs_no_header() {
    patch(
        "*** Update File: a\n import os\n+import sys\n",
        "update a\n  \"import os\\n\" -> \"import os\\nimport sys\\n\"",
    );
}

#[test]
fn adding_without_a_place_adds_at_the_end() {
    patch(
        "*** Update File: a\n@@\n+x\n",
        "update a\n  \"\" -> \"x\\n\" at the end",
    );
    patch(
        "*** Update File: a\n@@ fn f\n+x\n",
        "update a\n  \"\" -> \"x\\n\" in [\"fn f\"]",
    );
}

#[test]
fn blank_lines_stay_inside_and_vanish_before_headers() {
    patch(
        "*** Update File: a\n@@\n-x\n\n y\n\n\n*** Delete File: b\n\n",
        "update a\n  \"x\\n\\ny\\n\" -> \"\\ny\\n\"\ndelete b",
    );
    patch(
        "*** Update File: a\n@@\n\n+x\n",
        "update a\n  \"\\n\" -> \"\\nx\\n\"",
    );
}

#[test]
fn numbers_in_a_header_are_a_hint() {
    patch(
        "*** Update File: a\n@@ -10,2 +10,2 @@ fn main() {\n-x\n+y\n",
        "update a\n  \"x\\n\" -> \"y\\n\" at 9",
    );
}

#[test]
fn spaces_around_markers_are_tolerated() {
    check(
        EditFormat::ApplyPatch,
        " *** Begin Patch \n  *** Update File: a \n@@\n-one\n+two\n *** End Patch \n",
        "update a\n  \"one\\n\" -> \"two\\n\"",
    );
    // If more of the hunk follows, the marker is a line of the file.
    check(
        EditFormat::ApplyPatch,
        "*** Begin Patch\n*** Update File: a\n@@\n *** End Patch\n-one\n*** End Patch\n",
        "update a\n  \"*** End Patch\\none\\n\" -> \"*** End Patch\\n\"",
    );
}

#[test]
fn a_line_that_stays_may_lack_its_space() {
    patch(
        "*** Update File: a\n@@\n-x\nforgotten\n+y\n@@\n-z\n",
        "update a\n  \"x\\nforgotten\\n\" -> \"forgotten\\ny\\n\"\n  \"z\\n\" -> \"\"\ntolerated line 5: \
         an unchanged line lacks its leading space",
    );
}

#[test]
fn a_here_document_is_unwrapped() {
    for (head, tail) in [
        ("apply_patch <<'EOF'\n", "EOF\n"),
        ("bash -lc apply_patch <<\"EOF\"\n", "EOF"),
        ("Here it is:\n```\n", "```\nDone.\n"),
    ] {
        let body = "*** Begin Patch\n*** Delete File: a\n*** End Patch\n";
        check(
            EditFormat::ApplyPatch,
            &format!("{head}{body}{tail}"),
            "delete a",
        );
    }
}

#[test]
fn what_cannot_be_read_is_lost_with_a_reason() {
    patch("", "lost line 2: the patch changes nothing");
    patch(
        "*** Update File: a\n",
        "lost line 3: the update before this line contains no changes",
    );
    patch(
        "*** Frobnicate File: a\n",
        "lost line 2: \"*** Frobnicate File: a\" is not a header; use \"*** Add File: path\", \
         \"*** Delete File: path\" or \"*** Update File: path\"",
    );
    patch(
        "*** Update File: a\n@@\n-x\n*** End of File\nstray\n+y\n@@\n-z\n",
        "update a\n  \"x\\n\" -> \"\" at the end\n  \"z\\n\" -> \"\"\nlost line 6: this line belongs to \
         no hunk; a hunk begins with \"@@\", and each of its lines with \" \" when it stays, \"-\" when it \
         goes away, \"+\" when it appears",
    );
    check(
        EditFormat::ApplyPatch,
        "*** Begin Patch\n*** Update File: a\n@@\n-x\n@@\n-y\n",
        "update a\n  \"x\\n\" -> \"\"\nlost line 7: the patch is cut off: \"*** End Patch\" is missing",
    );
    check(
        EditFormat::ApplyPatch,
        "nothing",
        "lost line 2: there is no patch here: it begins with \"*** Begin Patch\"",
    );
}

#[test]
fn the_shared_scenarios_are_read() {
    #[expect(clippy::disallowed_methods, reason = "test data is read where it lies")]
    let entries = std::fs::read_dir(test_support::data("apply-patch")).expect("the test data");
    let mut count = 0;
    for entry in entries {
        let entry = entry.expect("an entry");
        #[expect(clippy::disallowed_methods, reason = "test data is read where it lies")]
        let Ok(text) = std::fs::read_to_string(entry.path().join("patch.txt")) else {
            continue;
        };
        count += 1;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_malformed = ["005", "008", "013"]
            .iter()
            .any(|number| name.starts_with(number));
        let parsed = parse(EditFormat::ApplyPatch, &text);
        assert_eq!(parsed.has_losses(), is_malformed, "{name}: {parsed:?}");
    }
    assert_eq!(count, 23);
}
