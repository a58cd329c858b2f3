//! What modes forbid is tested where turns run; here is what they say.

use super::{build_prompt, mode_note};
use crate::record::Mode;

#[test]
fn a_mode_is_told_where_it_begins() {
    assert_eq!(mode_note(Mode::Build, None), None);
    let told = mode_note(Mode::Build, Some(Mode::Plan)).expect("a note");
    assert!(told.contains("you may change files"), "{told}");
    let told = mode_note(Mode::Plan, None).expect("a note");
    assert!(told.contains(".burin/plans/"), "{told}");
    assert!(build_prompt(".burin/plans/a.md").contains("@.burin/plans/a.md"));
}
