//! Tests blocks as models write them, valid and malformed.

use super::*;

#[track_caller]
fn blocks(text: &str, expected: &str) {
    check(EditFormat::SearchReplace, text, expected);
}

#[test]
fn a_path_stands_above_the_fence_or_in_it() {
    let block = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```\n";
    for head in [
        "src/a.rs\n```rust\n",
        "**src/a.rs**\n```rust\n",
        "### `src/a.rs`:\n~~~~rust\n",
        "```rust\nsrc/a.rs\n",
        "```rust src/a.rs\n",
        "```rust:src/a.rs\n",
        "```\nsrc/a.rs\n```\n```rust\n",
        "src/a.rs\n<source>rust\n",
    ] {
        blocks(
            &format!("Some words.\n\n{head}{block}"),
            "update src/a.rs\n  \"a\\n\" -> \"b\\n\"",
        );
    }
}

#[test]
fn a_block_without_a_path_means_the_file_before() {
    blocks(
        "a.rs\n```\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```\n\
         And also:\n\n```\n<<<<< SEARCH\nc\n=====\n>>>>> REPLACE\n```\n\
         b.rs\n```\n<<<<<<< SEARCH\nd\n=======\ne\n>>>>>>> REPLACE\n```\n",
        "update a.rs\n  \"a\\n\" -> \"b\\n\"\n  \"c\\n\" -> \"\"\nupdate b.rs\n  \"d\\n\" -> \"e\\n\"",
    );
    blocks(
        "Change this please:\n```\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```\n",
        "lost line 3: this block names no file; put its path alone on the line before the fence",
    );
}

#[test]
fn a_block_with_nothing_to_find_creates() {
    blocks(
        "a.rs\n```\n<<<<<<< SEARCH\n=======\nnew\n>>>>>>> REPLACE\n```\n\
         ```\n<<<<<<< SEARCH\nnew\n=======\nnewer\n>>>>>>> REPLACE\n```\n",
        "create a.rs \"new\\n\"\nupdate a.rs\n  \"new\\n\" -> \"newer\\n\"",
    );
}

#[test]
fn markers_have_five_to_nine_characters_and_may_differ() {
    blocks(
        "a\n<<<<<<<<< SEARCH\nx\n=======\ny\n=========\nz\n>>>>>>> REPLACE\n>>>>>>>>> REPLACE\n",
        "update a\n  \"x\\n=======\\ny\\n\" -> \"z\\n>>>>>>> REPLACE\\n\"",
    );
    blocks(
        "a\n<<<<<<< SEARCH\nx\n=====\ny\n>>>>>>>> REPLACE\nwords\n",
        "update a\n  \"x\\n\" -> \"y\\n\"",
    );
    blocks(
        "a\n<<<<<<< SEARCH\nx\n=====\ny\n>>>>>>> REPLACE\nwords\n",
        "update a\n  \"x\\n\" -> \"y\\n\"",
    );
    blocks(
        "a\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>> REPLACE\nwords\n",
        "update a\n  \"x\\n\" -> \"y\\n\"",
    );
}

#[test]
fn two_dividers_are_refused_and_not_guessed() {
    blocks(
        "a\n<<<<<<< SEARCH\nTitle\n=======\nText\n=======\nOther\n>>>>>>> REPLACE\n",
        "lost line 8: this block has more than one \"=======\", so that it is unclear where its \
         second half begins; write its three markers with nine signs, as in \"<<<<<<<<< SEARCH\"",
    );
    blocks(
        "a\n<<<<<<< SEARCH\nold\n=======\nSection\n=======\n>>>>>>> REPLACE\n",
        "lost line 7: this block has more than one \"=======\", so that it is unclear where its \
         second half begins; write its three markers with nine signs, as in \"<<<<<<<<< SEARCH\"",
    );
}

#[test]
fn a_truncated_block_is_lost_and_others_are_kept() {
    blocks(
        "a\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n<<<<<<< SEARCH\nz\n",
        "update a\n  \"x\\n\" -> \"y\\n\"\nlost line 9: the last block is not complete: \"=======\" \
         is missing",
    );
    blocks(
        "a\n<<<<<<< SEARCH\nx\n=======\ny\n<<<<<<< SEARCH\nz\n=======\nw\n>>>>>>> REPLACE\n",
        "update a\n  \"z\\n\" -> \"w\\n\"\nlost line 6: the block before this one has no \
         \">>>>>>> REPLACE\"",
    );
}

#[test]
fn shell_blocks_are_told_apart_from_edits_of_scripts() {
    blocks(
        "Run\n```bash\ncargo test\ncargo doc\n```\n",
        "shell \"cargo test\\ncargo doc\\n\"",
    );
    blocks(
        "```bash\nrun.sh\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n```\n",
        "update run.sh\n  \"x\\n\" -> \"y\\n\"",
    );
}

#[test]
fn line_ends_of_the_message_do_not_matter() {
    blocks(
        "a\r\n<<<<<<< SEARCH\r\nx\r\n=======\r\ny\r\n>>>>>>> REPLACE\r\n",
        "update a\n  \"x\\n\" -> \"y\\n\"",
    );
}
