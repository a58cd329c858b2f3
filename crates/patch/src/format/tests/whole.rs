//! Tests whole files.

use super::*;

#[test]
fn files_between_fences_and_between_markers() {
    check(
        EditFormat::Whole,
        "I write two files.\n\nsrc/a.rs\n```rust\nfn a() {}\n```\n\n`docs/b.md`:\n\n````md\n```\nx\n```\n````\n\
         \\ No newline at end of file\n```text c.txt\n```\n*** Write File: d e.txt\n```\r\n*** End of File\n",
        "write src/a.rs \"fn a() {}\\n\"\nwrite docs/b.md \"```\\nx\\n```\"\nwrite c.txt \"\"\n\
         write d e.txt \"```\\r\\n\"",
    );
}

#[test]
fn shell_blocks_and_blocks_of_no_file() {
    check(
        EditFormat::Whole,
        "First do this, then that.\n```sh\nls\n```\n\nLook at it now:\n```\nx\n```\n",
        "shell \"ls\\n\"\nlost line 7: this block names no file; put its path alone on the line \
         before the fence",
    );
}

#[test]
fn what_is_cut_off_is_lost() {
    check(
        EditFormat::Whole,
        "a\n```\nx\n",
        "lost line 4: the last file is cut off: the closing \"```\" is missing",
    );
    check(
        EditFormat::Whole,
        "*** Write File: a\nx\n",
        "lost line 3: the last file is cut off: \"*** End of File\" is missing",
    );
    check(
        EditFormat::Whole,
        "words",
        "lost line 2: there is no file here: write its path on a line, and then its whole content \
         between fences",
    );
}
