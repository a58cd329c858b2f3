//! Reads text files for the prompt: inside a folder, as text, with a size limit.

use base::AbsPath;
use host::{FileKind, Files};

use crate::error::Error;

/// Maximum bytes read of a file.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// Text read from a file, possibly truncated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReadText {
    pub(crate) text: String,
    /// Total bytes of the file.
    pub(crate) whole: usize,
}

/// Reads a text file that lies inside `fence` after following links. `Ok(None)` if there is no
/// file, or it is something else; an error if it is outside of `fence`, not text, or unreadable.
pub(crate) fn read_inside(
    files: &dyn Files,
    path: &AbsPath,
    fence: &AbsPath,
) -> Result<Option<ReadText>, Error> {
    match files.stat(path) {
        Ok(stat) if stat.kind == FileKind::File => {}
        Ok(_) => return Ok(None),
        Err(error) if error.is_not_found() => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    let real = files.canonicalize(path)?;
    let real_fence = files.canonicalize(fence).unwrap_or_else(|_| fence.clone());
    if !real.is_within(&real_fence) {
        let (path, fence) = (path.clone(), fence.clone());
        return Err(Error::OutsideFence { path, fence });
    }
    let bytes = files.read(&real, MAX_FILE_BYTES)?;
    if bytes.contains(&0) {
        return Err(Error::NotText(path.clone()));
    }
    let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
    let whole = text.len();
    Ok(Some(ReadText { text, whole }))
}

/// Truncates a text at a line end to at most `limit` bytes, with a note as its last line that names
/// `path`. A text within the limit is unchanged.
pub(crate) fn truncate(text: &str, limit: usize, path: &str) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let mut end = limit;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let end = text[..end].rfind('\n').map_or(end, |at| at + 1);
    let kept = &text[..end];
    let (lines, all) = (kept.lines().count(), text.lines().count());
    let newline = if kept.ends_with('\n') || kept.is_empty() {
        ""
    } else {
        "\n"
    };
    format!(
        "{kept}{newline}[truncated: the first {lines} of {all} lines of {path}; read the rest if you need it]\n"
    )
}

/// Returns the path relative to `root`, with `/`; the absolute path if it is outside.
pub(crate) fn display_path(path: &AbsPath, root: &AbsPath) -> String {
    match path.relative_to(root) {
        Some(relative) if relative.as_os_str().is_empty() => ".".to_owned(),
        Some(relative) => relative.to_string_lossy().into_owned(),
        None => path.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::FakeFiles;

    #[test]
    fn long_text_is_truncated_at_a_line_with_note() {
        let check = |text: &str, limit: usize, kept: &str| {
            let result = truncate(text, limit, "a.md");
            assert!(result.starts_with(kept), "{result}");
            assert_eq!(
                result.contains("[truncated:"),
                text.len() > limit,
                "{result}"
            );
        };
        check("one\ntwo\n", 100, "one\ntwo\n");
        check(
            "one\ntwo\nthree\n",
            9,
            "one\ntwo\n[truncated: the first 2 of 3 lines of a.md",
        );
        check("äöü", 3, "ä\n[truncated");
    }

    #[test]
    fn links_out_of_the_fence_are_refused() {
        let files = FakeFiles::new();
        let path = |path: &str| AbsPath::new(path).unwrap();
        files.write(&path("/secret/key"), "k");
        files.write(&path("/p/real.md"), "hello\r\n");
        files.link(&path("/p/AGENTS.md"), "/secret/key");
        files.link(&path("/p/CLAUDE.md"), "/p/real.md");
        let read = |name: &str| {
            let text = read_inside(&files, &path(name), &path("/p"));
            text.map_err(|error| error.to_string())
        };
        assert!(read("/p/AGENTS.md").unwrap_err().contains("leads out of"));
        assert_eq!(read("/p/CLAUDE.md").unwrap().unwrap().text, "hello\n");
        assert_eq!(read("/p/none").unwrap(), None);
        files.write(&path("/p/bin"), [1, 0, 2]);
        assert!(read("/p/bin").unwrap_err().contains("not a text file"));
    }
}
