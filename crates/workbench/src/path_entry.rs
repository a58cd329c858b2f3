//! Parses a partially typed path into the folder to list and the prefix of its last name.
//!
//! Pure. Must not know: the disk. Start at `PathEntry::read`.

use std::path::Path;

use base::{AbsPath, path_text, text_path};

/// A partially typed path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathEntry {
    /// The folder whose entries complete the path.
    pub folder: AbsPath,
    /// The typed prefix of the last name.
    pub partial: String,
}

impl PathEntry {
    /// Parses `text` as a path: `~` is `home`, and relative paths are resolved against `base`.
    pub(crate) fn read(text: &str, base: &AbsPath, home: Option<&AbsPath>) -> Self {
        let (folder, partial) = match text.rfind('/') {
            Some(slash) => (&text[..=slash], &text[slash + 1..]),
            None if text == "~" && home.is_some() => ("~/", ""),
            None => ("", text),
        };
        Self {
            folder: resolve(folder, base, home),
            partial: partial.to_owned(),
        }
    }

    /// Returns the path typed so far.
    pub(crate) fn path(&self) -> AbsPath {
        if self.partial.is_empty() {
            self.folder.clone()
        } else {
            self.folder.join(text_path(&self.partial))
        }
    }

    /// Returns whether to list names that begin with a dot.
    pub(crate) fn wants_hidden(&self) -> bool {
        self.partial.starts_with('.')
    }
}

/// Resolves `text`, in the text form of paths, to an absolute path. A leading `~` means `home` if
/// `home` is known, and a relative path lies below `base`. Does not read the disk.
pub(crate) fn resolve(text: &str, base: &AbsPath, home: Option<&AbsPath>) -> AbsPath {
    match (text.strip_prefix('~'), home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            home.join(text_path(rest.trim_start_matches('/')))
        }
        _ => base.join(text_path(text)),
    }
}

/// Returns `path` for the clipboard: verbatim if it is valid text, else in the text form that Burin
/// reads.
pub(crate) fn clipboard_text(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    path.to_str().map_or_else(|| path_text(path), str::to_owned)
}

/// Returns the text form of `path`, with the home folder written as `~`. A path outside of the home
/// folder stays whole.
pub(crate) fn shorten(path: &AbsPath, home: Option<&AbsPath>) -> String {
    match home.and_then(|home| path.relative_to(home)) {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", path_text(rest)),
        None => path_text(path),
    }
}

#[cfg(test)]
mod tests {
    use super::{PathEntry, shorten};
    use base::AbsPath;

    #[test]
    fn typed_paths_name_a_folder_and_a_part() {
        let base = AbsPath::new("/code/app").expect("absolute");
        let home = AbsPath::new("/home/me").expect("absolute");
        let check = |text: &str, folder: &str, partial: &str| {
            let entry = PathEntry::read(text, &base, Some(&home));
            let found = (entry.folder.to_string(), entry.partial);
            assert_eq!(found, (folder.to_owned(), partial.to_owned()), "{text}");
        };
        check("", "/code/app", "");
        check("src", "/code/app", "src");
        check("src/li", "/code/app/src", "li");
        check("../", "/code", "");
        check("/", "/", "");
        check("/etc/ho", "/etc", "ho");
        check("~", "/home/me", "");
        check("~/", "/home/me", "");
        check("~/a/b", "/home/me/a", "b");
        check("~name/x", "/code/app/~name", "x");
        let odd = home.join("\u{202e}x\n");
        let typed = shorten(&odd, Some(&home));
        assert_eq!(typed, "~/\\u{202E}x\\u{A}");
        assert_eq!(PathEntry::read(&typed, &base, Some(&home)).path(), odd);
        assert_eq!(shorten(&home, Some(&home)), "~");
        assert_eq!(shorten(&home.join("x/y"), Some(&home)), "~/x/y");
        assert_eq!(shorten(&base, Some(&home)), "/code/app");
    }
}
