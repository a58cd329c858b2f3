//! Names of kinds.

use super::HighlightKind;

#[test]
fn names_and_kinds_are_inverse() {
    for &kind in HighlightKind::all() {
        assert_eq!(HighlightKind::named(kind.name()), Some(kind));
    }
}

#[test]
fn captures_fall_back_along_the_dots() {
    let check = |capture, kind| assert_eq!(HighlightKind::of_capture(capture), kind, "{capture}");
    check(
        "function.method.builtin",
        Some(HighlightKind::FunctionMethod),
    );
    check("keyword.return", Some(HighlightKind::KeywordControl));
    check("string.special.symbol", Some(HighlightKind::StringSpecial));
    check("nonsense", None);
}
