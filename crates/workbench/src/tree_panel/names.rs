//! Names of files people type, and names made up for copies.
//!
//! Pure. Start at `read_name` and `copy_name`.

use base::AbsPath;

/// What a typed name means in a folder, or why it cannot be one.
pub(super) fn read_name(typed: &str, folder: &AbsPath) -> Result<AbsPath, String> {
    let name = typed.trim();
    if name.is_empty() {
        return Err("a name is needed".to_owned());
    }
    if name.contains('\0') {
        return Err("a name cannot hold the character NUL".to_owned());
    }
    let trimmed = name.trim_end_matches('/');
    let broken = trimmed
        .split('/')
        .find(|part| matches!(*part, "" | "." | ".."));
    if trimmed.is_empty() || broken.is_some() {
        return Err(format!(
            "\"{name}\" is not a name; write it without \".\" and \"..\""
        ));
    }
    if let Some(long) = trimmed.split('/').find(|part| part.len() > 255) {
        let start: String = long.chars().take(24).collect();
        return Err(format!(
            "\"{start}…\" is longer than a name can be (255 bytes)"
        ));
    }
    Ok(folder.join(trimmed))
}

/// How much of a name is selected when one starts to rename: all but the last ending.
pub(super) fn stem_length(name: &str) -> usize {
    match name.rfind('.') {
        Some(0) | None => name.len(),
        Some(dot) => dot,
    }
}

/// A name for a copy that `is_taken` does not know: `a copy.rs`, `a copy 2.rs`.
pub(super) fn copy_name(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let (stem, ending) = name.split_at(stem_length(name));
    let stem = strip_copy(stem);
    let first = format!("{stem} copy{ending}");
    if !is_taken(&first) {
        return first;
    }
    (2..)
        .map(|count| format!("{stem} copy {count}{ending}"))
        .find(|name| !is_taken(name))
        .unwrap_or(first)
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
    use super::{copy_name, read_name, stem_length};
    use base::AbsPath;

    #[test]
    fn typed_names_are_checked() {
        let folder = AbsPath::new("/p").expect("absolute");
        let good = |typed: &str, path: &str| {
            let read = read_name(typed, &folder).map(|p| p.to_string());
            assert_eq!(read.as_deref(), Ok(path), "{typed}");
        };
        good("a.rs", "/p/a.rs");
        good(" b ", "/p/b");
        good("x/y/z.rs", "/p/x/y/z.rs");
        good("folder/", "/p/folder");
        good(".env", "/p/.env");
        for bad in ["", "  ", ".", "..", "../x", "a//b", "/a", "/"] {
            assert!(read_name(bad, &folder).is_err(), "{bad:?}");
        }
        assert!(read_name(&"x".repeat(256), &folder).is_err());
    }

    #[test]
    fn copies_get_free_names() {
        let check = |name: &str, taken: &[&str], expect: &str| {
            assert_eq!(copy_name(name, |n| taken.contains(&n)), expect);
        };
        check("a.rs", &[], "a copy.rs");
        check("a.rs", &["a copy.rs"], "a copy 2.rs");
        check("a copy.rs", &["a copy.rs"], "a copy 2.rs");
        check("a copy 2.rs", &["a copy.rs", "a copy 2.rs"], "a copy 3.rs");
        check("Makefile", &[], "Makefile copy");
        check(".env", &[], ".env copy");
        check("chapter 2.md", &[], "chapter 2 copy.md");
        assert_eq!(stem_length("a.tar.gz"), 5);
        assert_eq!(stem_length(".gitignore"), 10);
    }
}
