//! Tests messages for models and users.

use std::borrow::Cow;

use super::*;
use crate::format::{EditFormat, parse};
use crate::set::{Completeness, FileLookup, TextSource, plan_set};

struct One;

impl TextSource for One {
    fn find(&self, path: &str) -> FileLookup<'_> {
        match path {
            "a.rs" => FileLookup::Text(Cow::Borrowed(
                "fn one() {\n    first();\n}\n\nfn two() {\n    second();\n}\n",
            )),
            _ => FileLookup::Missing,
        }
    }
}

fn plan(edits: &str, completeness: Completeness) -> SetPlan {
    let parsed = parse(EditFormat::SearchReplace, edits);
    assert!(!parsed.has_losses(), "{:?}", parsed.problems);
    plan_set(&One, &parsed.files, completeness)
}

const EDITS: &str = "a.rs\n<<<<<<< SEARCH\nfirst();\n=======\nfirst(1);\n>>>>>>> REPLACE\n\na.rs\n<<<<<<< SEARCH\nfn two() {\n    third();\n}\n=======\nfn two() {\n    second();\n}\n>>>>>>> REPLACE\n";

#[test]
fn the_model_is_told_what_would_help() {
    let message = for_model(&plan(EDITS, Completeness::All));
    let expected = "\
Nothing was changed: 1 of 2 hunks could not be applied.

a.rs, hunk 2: the old text is not in the file; quote the lines as they are now.
The new text is already in the file, from line 5. Is this change still needed?
Did you mean these lines, from line 5:
```
fn two() {
    second();
}
```
Or these, from line 1:
```
fn one() {
    first();
}
```
a.rs, hunk 1: fits at line 2, but was not applied; matched although these differ: indentation.
Send all hunks again, the failed ones corrected.
";
    assert_eq!(message, expected);
    let message = for_model(&plan(EDITS, Completeness::Partial));
    assert!(
        message.starts_with("1 of 2 hunks could not be applied.\n"),
        "{message}"
    );
    assert!(
        message.ends_with("Send only the failed hunks again; the others are in the files now.\n"),
        "{message}"
    );
}

#[test]
fn what_landed_in_spite_of_differences_is_quoted() {
    let message = for_model(&plan(EDITS, Completeness::Partial));
    let quoted = "differ: indentation.\nIt now reads, from line 2:\n```\n    first(1);\n```\n";
    assert!(message.contains(quoted), "{message}");
}
