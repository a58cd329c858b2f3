//! Parses the command line.

use std::ffi::OsString;
use std::path::Path;

use base::{AbsPath, path_text, text_path};
use host::{FileKind, Files};
use workbench::target::{LineColumn, Target};
use workbench::windows::OpenRequest;

use crate::error::Error;

/// The text that `--help` prints.
pub(crate) const HELP: &str = "\
Burin, a code editor

Usage: burin [OPTION]... [PATH[:LINE[:COLUMN]]]...

  PATH              a folder opens in a window of its own, a file in a tab;
                    a file that is not there yet is created when it is saved
  PATH:12:5         goes to line 12, column 5

  -n, --new-window  open a new window for the files, or an empty one
  -h, --help        print this
  -V, --version     print the version

Without a PATH the windows of the last session come back, which a start for
files alone leaves as they are. When Burin runs already, it is asked to open
the PATHs, and this start ends.
BURIN_CONFIG_DIR, BURIN_STATE_DIR and BURIN_CACHE_DIR name other folders for
settings, for what must survive a restart, and for what may be thrown away.
BURIN_STALLS=100 reports on the standard error output when the window stood still
for 100 milliseconds or more.
";

/// The option that windows start the background process with. It is for them alone, so the usage does not name it.
pub(crate) const SERVE_AGENTS: &str = "--serve-agents";

/// The action that the command line requests.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum StartupAction {
    /// Print the usage.
    Help,
    /// Print the version.
    Version,
    /// Run the background process that owns agents, as a window starts it.
    ServeAgents,
    /// Open paths, or the last session if there are none.
    Open(OpenArguments),
}

/// Paths of a command line, and the window that they open in.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct OpenArguments {
    /// Paths with optional positions, as the user wrote them.
    pub(crate) paths: Vec<OsString>,
    /// Whether files open in a new window of the running program. The first start has no other window.
    pub(crate) in_new_window: bool,
}

/// The option for a new window, which a later start passes on.
pub(crate) const NEW_WINDOW: &str = "--new-window";

/// Reads the arguments, which do not include the program's name. The first option decides the
/// action: `--help` and `--version` discard all paths, and any other option is an error. Every
/// argument after `--` is a path. A lone `-` is always a path.
pub(crate) fn read(arguments: impl IntoIterator<Item = OsString>) -> Result<StartupAction, Error> {
    let mut open = OpenArguments::default();
    let mut only_paths = false;
    for argument in arguments {
        match argument.to_str() {
            Some("--") if !only_paths => only_paths = true,
            Some("-h" | "--help") if !only_paths => return Ok(StartupAction::Help),
            Some("-V" | "--version") if !only_paths => return Ok(StartupAction::Version),
            Some(SERVE_AGENTS) if !only_paths => return Ok(StartupAction::ServeAgents),
            Some("-n" | NEW_WINDOW) if !only_paths => open.in_new_window = true,
            Some(option) if !only_paths && option.starts_with('-') && option.len() > 1 => {
                return Err(Error::UnknownOption(option.to_owned()));
            }
            _ => open.paths.push(argument),
        }
    }
    Ok(StartupAction::Open(open))
}

/// Splits the arguments into folders and files with positions. Resolves relative paths against
/// `working_folder`. If a path does not exist, splits off a trailing position. A path that still
/// does not exist is a file to create. Blocks on the disk.
pub(crate) fn resolve(
    paths: &[OsString],
    working_folder: &AbsPath,
    files: &dyn Files,
) -> OpenRequest {
    let mut request = OpenRequest::default();
    for path in paths {
        let (path, place) = split(path, working_folder, files);
        match files.stat(&path) {
            Ok(stat) if stat.kind == FileKind::Folder => request.folders.push(path),
            _ => request.files.push((path, place)),
        }
    }
    request
}

fn split(
    path: &OsString,
    working_folder: &AbsPath,
    files: &dyn Files,
) -> (AbsPath, Option<LineColumn>) {
    let whole = working_folder.join(Path::new(path));
    // A name may contain a colon, so an existing path is taken literally.
    if files.exists(&whole) {
        return (whole, None);
    }
    let text = path_text(path);
    let (blanks, text) = text.split_at(text.len() - text.trim_start().len());
    let target = Target::parse(text);
    if target.place.is_none() {
        return (whole, None);
    }
    let named = text_path(&format!("{blanks}{}", target.path));
    (working_folder.join(named), target.place)
}

#[cfg(test)]
mod tests {
    use super::{OpenArguments, StartupAction, read, resolve};
    use base::AbsPath;
    use host::FakeFiles;
    use std::ffi::OsString;

    fn arguments(list: &[&str]) -> Vec<OsString> {
        list.iter().map(OsString::from).collect()
    }

    #[test]
    fn options_are_told_from_paths() {
        let check = |list: &[&str], expect: Result<StartupAction, ()>| {
            assert_eq!(read(arguments(list)).map_err(|_| ()), expect, "{list:?}");
        };
        check(&["--help"], Ok(StartupAction::Help));
        check(&["a", "-V"], Ok(StartupAction::Version));
        let open = |in_new_window, paths: &[&str]| {
            Ok(StartupAction::Open(OpenArguments {
                paths: arguments(paths),
                in_new_window,
            }))
        };
        check(&["a", "-"], open(false, &["a", "-"]));
        check(&["--", "--help"], open(false, &["--help"]));
        check(&["a", "-n"], open(true, &["a"]));
        check(&["--", "-n"], open(false, &["-n"]));
        check(&["--loud"], Err(()));
        check(&[], open(false, &[]));
    }

    #[test]
    fn help_names_every_option_of_users() {
        for option in ["-n, --new-window", "-h, --help", "-V, --version"] {
            assert!(super::HELP.contains(option), "{option}");
            let long = option.split(", ").last().unwrap_or_default();
            assert!(read(arguments(&[long])).is_ok(), "{long}");
        }
    }

    #[test]
    fn paths_become_folders_files_and_places() {
        let files = FakeFiles::new();
        let path = |path: &str| AbsPath::new(path).expect("absolute");
        files.write(&path("/w/src/a.rs"), "");
        files.write(&path("/w/odd:3"), "");
        let list = arguments(&["src", "src/a.rs:4:2", "odd:3", "/w/new.rs:7"]);
        let request = resolve(&list, &path("/w"), &files);
        assert_eq!(request.folders, [path("/w/src")]);
        let found: Vec<_> = request
            .files
            .iter()
            .map(|(path, place)| {
                (
                    path.to_string(),
                    place.map(|place| (place.line, place.column)),
                )
            })
            .collect();
        let expect = [
            ("/w/src/a.rs", Some((4, 2))),
            ("/w/odd:3", None),
            ("/w/new.rs", Some((7, 1))),
        ];
        assert_eq!(found, expect.map(|(path, place)| (path.to_owned(), place)));
    }

    #[test]
    fn position_suffix_keeps_the_bytes_of_the_name() {
        use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
        let folder = AbsPath::new("/w").expect("absolute");
        for name in [&b" lead.txt"[..], b"caf\xe9.txt", b"nl\nx", b"a\\x41"] {
            let mut argument = name.to_vec();
            argument.extend_from_slice(b":12:5");
            let list = [OsString::from_vec(argument)];
            let request = resolve(&list, &folder, &FakeFiles::new());
            let (path, place) = &request.files[0];
            assert_eq!(path.file_name().as_bytes(), name);
            assert_eq!(place.map(|place| (place.line, place.column)), Some((12, 5)));
        }
    }
}
