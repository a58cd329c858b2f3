//! Reading texts that join a prompt: inside a folder, as text, of a bounded length.

use base::AbsPath;
use host::{FileKind, Files};

/// The most bytes of a file that are looked at.
const FILE_LIMIT: u64 = 4 << 20;

/// A text that was read, and whether it is all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) text: String,
    /// Bytes of the whole.
    pub(crate) whole: usize,
}

/// Reads a text file that lies inside `fence`, links followed. `Ok(None)` where there is none; a sentence where it
/// must not or cannot be read.
pub(crate) fn read_inside(
    files: &dyn Files,
    path: &AbsPath,
    fence: &AbsPath,
) -> Result<Option<Text>, String> {
    match files.stat(path) {
        Ok(stat) if stat.kind == FileKind::File => {}
        Ok(_) => return Ok(None),
        Err(error) if error.is_not_found() => return Ok(None),
        Err(error) => return Err(error.to_string()),
    }
    let real = files
        .canonicalize(path)
        .map_err(|error| error.to_string())?;
    let real_fence = files.canonicalize(fence).unwrap_or_else(|_| fence.clone());
    if !real.is_within(&real_fence) {
        return Err(format!(
            "{path} leads out of {fence} and was not read: it would bring in a file of another place"
        ));
    }
    let bytes = files
        .read(&real, FILE_LIMIT)
        .map_err(|error| error.to_string())?;
    if bytes.contains(&0) {
        return Err(format!("{path} is no text and was not read"));
    }
    let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
    let whole = text.len();
    Ok(Some(Text { text, whole }))
}

/// Cuts a text at a line end so that it has at most `limit` bytes, and says so in its last line.
pub(crate) fn cut(text: &str, limit: usize, path: &str) -> String {
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
        "{kept}{newline}[cut: these are the first {lines} of {all} lines of {path}; read the rest where you need it]\n"
    )
}

/// A path relative to `root`, with `/`; absolute where it lies elsewhere.
pub(crate) fn shown(path: &AbsPath, root: &AbsPath) -> String {
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
    fn a_long_text_is_cut_at_a_line_and_says_so() {
        let check = |text: &str, limit: usize, kept: &str| {
            let result = cut(text, limit, "a.md");
            assert!(result.starts_with(kept), "{result}");
            assert_eq!(result.contains("[cut:"), text.len() > limit, "{result}");
        };
        check("one\ntwo\n", 100, "one\ntwo\n");
        check(
            "one\ntwo\nthree\n",
            9,
            "one\ntwo\n[cut: these are the first 2 of 3 lines of a.md",
        );
        check("äöü", 3, "ä\n[cut");
    }

    #[test]
    fn a_link_that_leads_out_is_not_followed() {
        let files = FakeFiles::new();
        let path = |path: &str| AbsPath::new(path).unwrap();
        files.write(&path("/secret/key"), "k");
        files.write(&path("/p/real.md"), "hello\r\n");
        files.link(&path("/p/AGENTS.md"), "/secret/key");
        files.link(&path("/p/CLAUDE.md"), "/p/real.md");
        let read = |name: &str| read_inside(&files, &path(name), &path("/p"));
        assert!(read("/p/AGENTS.md").unwrap_err().contains("leads out of"));
        assert_eq!(read("/p/CLAUDE.md").unwrap().unwrap().text, "hello\n");
        assert_eq!(read("/p/none").unwrap(), None);
        files.write(&path("/p/bin"), [1, 0, 2]);
        assert!(read("/p/bin").unwrap_err().contains("no text"));
    }
}
