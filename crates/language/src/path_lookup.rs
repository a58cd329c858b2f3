//! Executable files in the folders of `PATH`.

use std::ffi::OsStr;

use base::AbsPath;
use host::environment::Variable;
use host::{FileKind, Files};

/// Returns the value of a variable.
pub(crate) fn value<'a>(variables: &'a [Variable], name: &str) -> Option<&'a OsStr> {
    let variable = variables.iter().find(|(known, _)| known == name);
    variable.map(|(_, value)| value.as_os_str())
}

/// Returns the first program with this name in `PATH` that `may_use` accepts. Relative folders of `PATH`
/// are ignored.
pub(crate) fn in_path(
    files: &dyn Files,
    variables: &[Variable],
    program: &str,
    may_use: &dyn Fn(&AbsPath) -> bool,
) -> Option<AbsPath> {
    let path = value(variables, "PATH")?;
    let mut programs = std::env::split_paths(path)
        .filter_map(AbsPath::new)
        .map(|folder| folder.join(program));
    programs.find(|path| is_program(files, path) && may_use(path))
}

/// Returns whether a path is an executable file.
pub(crate) fn is_program(files: &dyn Files, path: &AbsPath) -> bool {
    let stat = files.stat(path);
    stat.is_ok_and(|stat| stat.kind == FileKind::File && stat.mode & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use host::FakeFiles;

    use super::*;

    fn path(text: &str) -> AbsPath {
        AbsPath::new(text).expect("absolute")
    }

    #[test]
    fn only_executable_files_in_absolute_folders_are_programs() {
        let files = FakeFiles::new();
        files.write(&path("/a/x"), "");
        files.set_mode(&path("/a/x"), 0o644);
        files.write(&path("/b/x"), "");
        files.set_mode(&path("/b/x"), 0o755);
        files.folder(&path("/c/y"));
        let variables = [("PATH".into(), "/a:./b:/b:/c".into())];
        let find = |name: &str| in_path(&files, &variables, name, &|_| true);
        assert_eq!(find("x"), Some(path("/b/x")));
        assert_eq!(find("y"), None);
        assert_eq!(in_path(&files, &[], "x", &|_| true), None);
    }
}
