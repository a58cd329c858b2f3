//! The file with the saved terminals of a folder: a line of JSON that names the panes, then their bytes.

use std::iter;

use base::{AbsPath, path_text};
use host::{ContentHash, Dirs, Files};
use serde::{Deserialize, Serialize};
use terminal::{MAX_SAVED_BYTES, SavedTerminal};
use terminal_panel::SavedPane;

const VERSION: u32 = 1;
/// Maximum number of terminals that are kept.
const MAX_PANES: usize = 32;
/// Maximum size of the file, in bytes.
const MAX_FILE: usize = MAX_PANES * (MAX_SAVED_BYTES + 1024);

#[derive(Serialize, Deserialize)]
struct Header {
    version: u32,
    panes: Vec<PaneHeader>,
}

#[derive(Serialize, Deserialize)]
struct PaneHeader {
    tab: u32,
    name: Option<String>,
    #[serde(default)]
    editor: Option<u64>,
    /// The shell, if it may go on without its window.
    #[serde(default)]
    shell: Option<String>,
    /// Size of the terminal, in bytes.
    size: usize,
}

/// The reason that saved terminals cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub(super) enum SavedError {
    /// The disk refused.
    #[error(transparent)]
    File(#[from] host::Error),
    /// The file is not one that `store` wrote.
    #[error("{} is damaged", .0.printable())]
    Damaged(AbsPath),
    /// The names of the panes cannot be written.
    #[error(transparent)]
    Header(#[from] serde_json::Error),
}

/// Returns the file of a window's folder, or of windows without one.
pub(super) fn file(dirs: &Dirs, root: Option<&AbsPath>) -> AbsPath {
    let name = match root {
        Some(root) => format!("{:032x}", ContentHash::of(path_text(root).as_bytes()).0),
        None => "none".to_owned(),
    };
    folder(dirs).join(name)
}

fn folder(dirs: &Dirs) -> AbsPath {
    dirs.state.join("terminals")
}

/// Reads the terminals. A missing file has none; terminals that cannot be read are left out.
pub(super) fn load(files: &dyn Files, file: &AbsPath) -> Result<Vec<SavedPane>, SavedError> {
    let bytes = match files.read(file, MAX_FILE as u64) {
        Ok(bytes) => bytes,
        Err(error) if error.is_not_found() => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    parse(&bytes).ok_or_else(|| SavedError::Damaged(file.clone()))
}

fn parse(bytes: &[u8]) -> Option<Vec<SavedPane>> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let (header, mut rest) = bytes.split_at_checked(end)?;
    rest = rest.get(1..)?;
    let header: Header = serde_json::from_slice(header).ok()?;
    if header.version != VERSION {
        return None;
    }
    let mut panes = Vec::new();
    for pane in header.panes {
        let (terminal, after) = rest.split_at_checked(pane.size)?;
        rest = after;
        if let Ok(terminal) = SavedTerminal::from_bytes(terminal) {
            panes.push(SavedPane {
                tab: pane.tab,
                name: pane.name,
                editor: pane.editor,
                terminal,
                shell: pane.shell,
            });
        }
    }
    Some(panes)
}

/// Writes the terminals in place of the earlier ones; removes the file if there are none.
pub(super) fn store(
    files: &dyn Files,
    file: &AbsPath,
    panes: &[SavedPane],
) -> Result<(), SavedError> {
    if panes.is_empty() {
        return match files.remove(file) {
            Err(error) if !error.is_not_found() => Err(error.into()),
            _ => Ok(()),
        };
    }
    if let Some(folder) = file.parent()
        && !files.exists(&folder)
    {
        files.create_folder(&folder)?;
    }
    let content = content(panes)?;
    Ok(files.write_private(file, &content)?)
}

fn content(panes: &[SavedPane]) -> Result<Vec<u8>, serde_json::Error> {
    let panes = &panes[..panes.len().min(MAX_PANES)];
    let bytes: Vec<Vec<u8>> = panes.iter().map(|pane| pane.terminal.to_bytes()).collect();
    let headers = iter::zip(panes, &bytes).map(|(pane, bytes)| PaneHeader {
        tab: pane.tab,
        name: pane.name.clone(),
        editor: pane.editor,
        shell: pane.shell.clone(),
        size: bytes.len(),
    });
    let header = Header {
        version: VERSION,
        panes: headers.collect(),
    };
    let mut content = serde_json::to_vec(&header)?;
    content.push(b'\n');
    content.extend(bytes.concat());
    Ok(content)
}

#[cfg(test)]
mod tests {
    use host::{Dirs, FakeFiles, Files as _};
    use terminal::SavedTerminal;
    use terminal_panel::SavedPane;

    use super::{AbsPath, file, load, store};

    fn path(path: &str) -> AbsPath {
        AbsPath::new(path).expect("absolute")
    }

    fn pane(tab: u32, title: &str) -> SavedPane {
        SavedPane {
            tab,
            name: (tab == 1).then(|| "server".to_owned()),
            editor: (tab == 1).then_some(7),
            terminal: SavedTerminal {
                rows: Vec::new(),
                columns: 80,
                folder: Some(path("/p")),
                title: Some(title.to_owned()),
                commands: Vec::new(),
            },
            shell: (tab == 1).then(|| "7-0".to_owned()),
        }
    }

    #[test]
    fn terminals_are_kept_for_each_folder() {
        let files = FakeFiles::new();
        let dirs = Dirs::under(&path("/burin"));
        files.create_folder(&dirs.state).expect("a folder");
        let (here, there) = (file(&dirs, Some(&path("/p"))), file(&dirs, None));
        let panes = [pane(0, "one"), pane(1, "two")];
        store(&files, &here, &panes).expect("stored");
        assert_eq!(load(&files, &here).expect("read"), panes);
        assert_eq!(load(&files, &there).expect("read"), []);
        store(&files, &here, &[]).expect("removed");
        assert!(!files.exists(&here));
        store(&files, &here, &[]).expect("nothing to remove");
    }

    #[test]
    fn a_damaged_file_is_refused_and_a_damaged_terminal_left_out() {
        let files = FakeFiles::new();
        let dirs = Dirs::under(&path("/burin"));
        files.create_folder(&dirs.state).expect("a folder");
        let file = file(&dirs, None);
        store(&files, &file, &[pane(0, "one"), pane(1, "two")]).expect("stored");
        let whole = files.read(&file, 1 << 20).expect("read");
        files.write(&file, &whole[..whole.len() - 1]);
        let error = load(&files, &file).expect_err("the end is missing");
        assert!(error.to_string().ends_with("is damaged"), "{error}");
        let mut wrong = whole.clone();
        let start = whole
            .iter()
            .position(|byte| *byte == b'\n')
            .expect("a line");
        wrong[start + 1] ^= 0xff;
        files.write(&file, &wrong);
        assert_eq!(load(&files, &file).expect("read"), [pane(1, "two")]);
        files.write(&file, "no terminals");
        assert!(load(&files, &file).is_err());
    }
}
