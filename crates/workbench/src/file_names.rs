//! Parses file names that users type, and generates names for copies.
//!
//! Pure. Start at `read_name` and `copy_name`.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use base::{AbsPath, path_text, text_path};

use crate::error::Error;

/// Treatment of blanks at the ends of a typed name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndBlanks {
    /// Keep them: the name may have had them before.
    Keep,
    /// Trim them as typing mistakes.
    Trim,
}

/// Parses a typed name, the text form of a path below `folder`. The error explains why it is
/// invalid.
pub(crate) fn read_name(
    typed: &str,
    folder: &AbsPath,
    end_blanks: EndBlanks,
) -> Result<AbsPath, Error> {
    let name = match end_blanks {
        EndBlanks::Keep => typed,
        EndBlanks::Trim => typed.trim(),
    };
    if name.is_empty() {
        return Err(Error::NameMissing);
    }
    let path = text_path(name);
    let bytes = path.as_os_str().as_bytes();
    if bytes.contains(&0) {
        return Err(Error::NameWithNul);
    }
    let length = bytes.iter().rposition(|byte| *byte != b'/');
    let bytes = &bytes[..length.map_or(0, |last| last + 1)];
    let mut parts = bytes.split(|byte| *byte == b'/');
    if parts.any(|part| matches!(part, b"" | b"." | b"..")) {
        return Err(Error::NotAName(name.to_owned()));
    }
    if let Some(long) = bytes
        .split(|byte| *byte == b'/')
        .find(|part| part.len() > 255)
    {
        let long = path_text(OsStr::from_bytes(long));
        let start: String = long.chars().take(24).collect();
        return Err(Error::NameTooLong(start));
    }
    Ok(folder.join(OsStr::from_bytes(bytes)))
}

/// Returns the length of the name's stem, which is selected when renaming starts: all but the last
/// extension.
pub(crate) fn stem_length(name: &str) -> usize {
    match name.rfind('.') {
        Some(0) | None => name.len(),
        Some(dot) => dot,
    }
}

/// Returns a name for a copy that is not taken: `a copy.rs`, `a copy 2.rs`.
pub(crate) fn copy_name(name: &OsStr, is_taken: impl Fn(&OsStr) -> bool) -> OsString {
    let name = path_text(name);
    let (stem, ending) = name.split_at(stem_length(&name));
    let stem = strip_copy(stem);
    let named = |copy: String| text_path(&format!("{stem}{copy}{ending}")).into_os_string();
    let counted = (2..).map(|count| format!(" copy {count}"));
    std::iter::once(" copy".to_owned())
        .chain(counted)
        .map(named)
        .find(|name| !is_taken(name))
        .unwrap_or_default()
}

fn strip_copy(stem: &str) -> &str {
    let base = match stem.rsplit_once(' ') {
        Some((base, count)) if count.bytes().all(|b| b.is_ascii_digit()) && !count.is_empty() => {
            base
        }
        _ => stem,
    };
    base.strip_suffix(" copy").unwrap_or(stem)
}

#[cfg(test)]
mod tests {
    use super::{EndBlanks, copy_name, read_name, stem_length};
    use base::AbsPath;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    #[test]
    fn typed_names_are_checked() {
        let folder = AbsPath::new("/p").expect("absolute");
        let good = |typed: &str, path: &str| {
            let read = read_name(typed, &folder, EndBlanks::Trim).map(|p| p.to_string());
            assert_eq!(read.expect("a name"), path, "{typed}");
        };
        good("a.rs", "/p/a.rs");
        good(" b ", "/p/b");
        good("x/y/z.rs", "/p/x/y/z.rs");
        good("folder/", "/p/folder");
        good(".env", "/p/.env");
        for bad in ["", "  ", ".", "..", "../x", "a//b", "/a", "/"] {
            assert!(read_name(bad, &folder, EndBlanks::Trim).is_err(), "{bad:?}");
        }
        assert!(read_name(&"x".repeat(256), &folder, EndBlanks::Trim).is_err());
    }

    #[test]
    fn kept_blanks_and_escapes_are_part_of_the_name() {
        let folder = AbsPath::new("/p").expect("absolute");
        let check = |typed: &str, name: &[u8]| {
            let read = read_name(typed, &folder, EndBlanks::Keep).expect("a name");
            assert_eq!(read.file_name().as_bytes(), name, "{typed}");
        };
        check(" lead", b" lead");
        check("trail ", b"trail ");
        check(" ", b" ");
        check("nl\\u{A}", b"nl\n");
        check("caf\\xE9.txt", b"caf\xe9.txt");
        check("a\\b", b"a\\b");
        for bad in ["a\\x00b", "\\x2E\\x2E/x", "\\x2F"] {
            assert!(read_name(bad, &folder, EndBlanks::Keep).is_err(), "{bad}");
        }
    }

    #[test]
    fn copies_get_free_names() {
        let check = |name: &str, taken: &[&str], expect: &str| {
            let is_taken = |name: &OsStr| taken.iter().any(|taken| *taken == name);
            assert_eq!(copy_name(OsStr::new(name), is_taken), expect);
        };
        check("a.rs", &[], "a copy.rs");
        check("a.rs", &["a copy.rs"], "a copy 2.rs");
        check("a copy.rs", &["a copy.rs"], "a copy 2.rs");
        check("a copy 2.rs", &["a copy.rs", "a copy 2.rs"], "a copy 3.rs");
        check("Makefile", &[], "Makefile copy");
        check(".env", &[], ".env copy");
        check("chapter 2.md", &[], "chapter 2 copy.md");
        check(" lead.txt", &[], " lead copy.txt");
        check("end\n", &[], "end\n copy");
        let bytes = copy_name(OsStr::from_bytes(b"caf\xe9.txt"), |_| false);
        assert_eq!(bytes.as_bytes(), b"caf\xe9 copy.txt");
        assert_eq!(stem_length("a.tar.gz"), 5);
        assert_eq!(stem_length(".gitignore"), 10);
    }
}
