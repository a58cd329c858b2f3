//! Places at the end of paths.

use super::{LineColumn, Target};

#[test]
fn places_are_split_off() {
    let check = |text: &str, path: &str, place: Option<(u32, u32)>| {
        let target = Target::parse(text);
        let found = target.place.map(|p| (p.line, p.column));
        assert_eq!((target.path.as_str(), found), (path, place), "{text}");
    };
    check("src/lib.rs", "src/lib.rs", None);
    check("src/lib.rs:12", "src/lib.rs", Some((12, 1)));
    check("src/lib.rs:12:5", "src/lib.rs", Some((12, 5)));
    check("src/lib.rs:12:5: error: no", "src/lib.rs", Some((12, 5)));
    check("src/lib.rs:12:", "src/lib.rs", Some((12, 1)));
    check("src/lib.rs:", "src/lib.rs", None);
    check("src/lib.rs:0:0", "src/lib.rs", Some((1, 1)));
    check("a:b/c.rs:7", "a:b/c.rs", Some((7, 1)));
    check("main.c(3,9)", "main.c", Some((3, 9)));
    check("notes (old)", "notes (old)", None);
    check("lib.rs#L40-L44", "lib.rs", Some((40, 1)));
    check(":12", ":12", None);
    check("x:99999999999", "x", Some((u32::MAX, 1)));
    check("", "", None);
}

#[test]
fn lines_alone_are_read() {
    assert_eq!(LineColumn::parse("12"), Some(LineColumn::new(12, 1)));
    assert_eq!(LineColumn::parse(" 12 : 3 "), Some(LineColumn::new(12, 3)));
    assert_eq!(LineColumn::parse("12,3"), Some(LineColumn::new(12, 3)));
    assert_eq!(LineColumn::parse("12:"), Some(LineColumn::new(12, 1)));
    assert_eq!(LineColumn::parse("x"), None);
    assert_eq!(LineColumn::parse(""), None);
}
