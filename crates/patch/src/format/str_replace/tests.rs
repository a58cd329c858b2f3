//! Tests parsing of a call's arguments.

use super::*;

fn call(old: &str, occurrences: Occurrences) -> FileEdit {
    StrReplace {
        path: "a.rs".to_owned(),
        old_string: old.to_owned(),
        new_string: "new".to_owned(),
        occurrences,
        row: Some(Row(3)),
    }
    .into_file_edit()
}

#[test]
fn any_text_may_be_replaced_once_or_everywhere() {
    for occurrences in [Occurrences::One, Occurrences::All] {
        let PatchOperation::Update { hunks, .. } = call("ol", occurrences).change else {
            panic!("an update");
        };
        let hunk = &hunks[0];
        assert_eq!((hunk.old.as_str(), hunk.new.as_str()), ("ol", "new"));
        assert_eq!((hunk.grain, hunk.occurrences), (Grain::Text, occurrences));
        assert_eq!(hunk.row, Some(Row(3)));
    }
}

#[test]
fn nothing_to_find_creates_the_file() {
    let text = "new".to_owned();
    assert_eq!(
        call("", Occurrences::One).change,
        PatchOperation::Create { text }
    );
}
