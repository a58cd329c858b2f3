//! Tests operations on lines addressed by number and hash.

use super::*;

#[test]
fn every_operation() {
    check(
        EditFormat::Anchors,
        "I change two files.\n*** File: src/a.rs\nreplace 12#a3f\n+x\n\nreplace 15#9bc..17#0d1:\n+\n+ y\n\
         delete 20#77e\nbefore 3#5c0\n+b\nafter 40#e19\n+c\n*** File: b\ndelete 1#a..2#b\n",
        "anchored src/a.rs\n  replace 11#a3f..11#a3f \"x\\n\"\n  replace 14#9bc..16#0d1 \"\\n y\\n\"\n  \
         replace 19#77e..19#77e \"\"\n  before 2#5c0..2#5c0 \"b\\n\"\n  after 39#e19..39#e19 \"c\\n\"\n\
         anchored b\n  replace 0#a..1#b \"\"",
    );
}

#[test]
fn what_makes_no_sense_is_lost() {
    let no_operation = "this is not an operation; write \"replace 12#a3f..14#0c9\", \"delete 12#a3f\", \
                        \"before 12#a3f\" or \"after 12#a3f\"";
    for line in [
        "swap 1#a",
        "replace 0#a",
        "replace 1",
        "replace 1#",
        "replace 2#a..1#b",
    ] {
        check(
            EditFormat::Anchors,
            &format!("*** File: a\n{line}\n+x\ndelete 1#a\n"),
            &format!("anchored a\n  replace 0#a..0#a \"\"\nlost line 2: {no_operation}"),
        );
    }
    check(
        EditFormat::Anchors,
        "*** File: a\nreplace 1#a\n",
        "lost line 2: no lines follow this operation; added lines begin with \"+\", and \
         \"delete\" takes lines away",
    );
    check(
        EditFormat::Anchors,
        "*** File: a\ndelete 1#a\n+x\n",
        "lost line 3: \"delete\" takes no lines; use \"replace\"",
    );
    check(
        EditFormat::Anchors,
        "",
        "lost line 1: there is no edit here: a file begins with \"*** File: path\"",
    );
}
