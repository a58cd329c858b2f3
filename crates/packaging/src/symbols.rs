//! Symbols of the programs. Packages contain programs without them; they are kept beside the packages, so that the addresses
//! in a note about a crash can be resolved: `cargo xtask symbolise`.

use std::fs;
use std::path::Path;

use crate::error::Error;
use crate::tools;

/// A program for packages, and its symbols.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SplitProgram {
    /// The program without symbols.
    pub(crate) program: Vec<u8>,
    /// The names and addresses of its functions. `None` where they stay in the program.
    pub(crate) symbols: Option<Vec<u8>>,
}

/// Splits the program `name` of a folder for an operating system, as Rust names it. Works in `work`, which exists and has
/// no file of this name.
pub(crate) fn split(
    folder: &Path,
    name: &str,
    system: &str,
    work: &Path,
) -> Result<SplitProgram, Error> {
    let (from, stripped) = (folder.join(name), work.join(name));
    if system == "macos" {
        let mut strip = tools::command("strip");
        // The names of functions stay: without them, no address in a note could be resolved here.
        strip.arg("-S").arg("-o").arg(&stripped).arg(&from);
        tools::output(&mut strip, "Run: xcode-select --install")?;
        return Ok(SplitProgram {
            program: read(&stripped)?,
            symbols: None,
        });
    }
    let symbols = work.join(format!("{name}.debug"));
    objcopy(&["--only-keep-debug"], &from, &symbols)?;
    // The note with the build id stays: it names the program in a note about a crash.
    let without = ["--strip-all", "--remove-section=.comment"];
    objcopy(&without, &from, &stripped)?;
    Ok(SplitProgram {
        program: read(&stripped)?,
        symbols: Some(read(&symbols)?),
    })
}

fn objcopy(options: &[&str], from: &Path, to: &Path) -> Result<(), Error> {
    let mut objcopy = tools::command("objcopy");
    tools::output(objcopy.args(options).arg(from).arg(to), "Install binutils")?;
    Ok(())
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(Error::io("read", path))
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use super::split;
    use crate::tools;

    /// The names that `nm` lists in a file; empty if it has no symbols.
    fn names(path: &Path) -> String {
        let output = Command::new("nm").arg(path).output().expect("nm");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    #[test]
    fn a_program_loses_its_symbols_and_still_runs() {
        if tools::find("objcopy").is_none() || tools::find("nm").is_none() {
            return test_support::skip("binutils are not installed");
        }
        if std::env::consts::OS != "linux" {
            return test_support::skip("the test program is no ELF file");
        }
        // This test is a program with symbols.
        let own = std::env::current_exe().expect("this program");
        let (folder, name) = (own.parent().expect("a folder"), own.file_name());
        let name = name.and_then(|name| name.to_str()).expect("a name");
        let split_in = |work: &Path| split(folder, name, "linux", work).expect("split");
        let work = tempfile::tempdir().expect("a folder");
        let parts = split_in(work.path());
        let again = tempfile::tempdir().expect("a folder");
        assert!(parts == split_in(again.path()), "the same bytes");
        assert!(names(&own).contains("split"));
        assert_eq!(names(&work.path().join(name)), "");
        let symbols = work.path().join(format!("{name}.debug"));
        assert!(names(&symbols).contains("split"));
        assert!(parts.symbols.is_some_and(|symbols| !symbols.is_empty()));
        let listed = Command::new(work.path().join(name)).arg("--list").output();
        let listed = listed.expect("it starts").stdout;
        assert!(String::from_utf8_lossy(&listed).contains("a_program_loses_its_symbols"));
    }
}
