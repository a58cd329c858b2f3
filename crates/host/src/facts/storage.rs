//! Facts about Burin's folders and free space.

use std::fs;

use base::AbsPath;

use super::Fact;
use crate::dirs::Dirs;

/// Less free space than this, in bytes, is reported.
const LOW_SPACE_BYTES: u64 = 1 << 30;

pub(super) fn facts(dirs: &Dirs) -> Vec<Fact> {
    vec![
        folder("config folder", &dirs.config),
        folder("state folder", &dirs.state),
        folder("cache folder", &dirs.cache),
        space(&dirs.state),
    ]
}

fn folder(name: &'static str, path: &AbsPath) -> Fact {
    let advice = |error: &dyn std::fmt::Display| {
        format!("{error}; give yourself write permission, or name another folder, see README")
    };
    if let Err(error) = crate::dirs::create_private(path) {
        return Fact::bad(name, path.to_string(), advice(&error.reason));
    }
    let probe = path.join(format!(".probe-{}", std::process::id()));
    match fs::write(&probe, b"probe").and_then(|()| fs::remove_file(&probe)) {
        Ok(()) => Fact::good(name, path.to_string()),
        Err(error) => Fact::bad(name, path.to_string(), advice(&error)),
    }
}

fn space(path: &AbsPath) -> Fact {
    let name = "free space";
    let existing = path
        .as_path()
        .ancestors()
        .find_map(|folder| rustix::fs::statvfs(folder).ok());
    let Some(volume) = existing else {
        return Fact::warn(name, "unknown", format!("check that {path} can be reached"));
    };
    let free = volume.f_bavail.saturating_mul(volume.f_frsize);
    let value = format!(
        "{:.1} GiB for the state folder",
        free as f64 / (1 << 30) as f64
    );
    if free < LOW_SPACE_BYTES {
        let advice = "free some space: the journals of unsaved text need it";
        return Fact::warn(name, value, advice);
    }
    Fact::good(name, value)
}

/// Returns whether names that differ in case are different files beside this folder; `None` if its
/// name has no letter, or it does not exist.
#[cfg(any(test, target_os = "macos"))]
pub(super) fn is_case_sensitive(folder: &AbsPath) -> Option<bool> {
    use std::os::unix::fs::MetadataExt as _;

    let path = folder.as_path();
    let name = path.file_name()?.to_str()?;
    let swap = |char: char| {
        if char.is_ascii_lowercase() {
            char.to_ascii_uppercase()
        } else {
            char.to_ascii_lowercase()
        }
    };
    let other: String = name.chars().map(swap).collect();
    if other == name {
        return None;
    }
    let own = fs::metadata(path).ok()?;
    let same = fs::metadata(path.with_file_name(other));
    Some(!same.is_ok_and(|same| (same.dev(), same.ino()) == (own.dev(), own.ino())))
}

#[cfg(test)]
mod tests {
    use super::is_case_sensitive;
    use crate::files::Files as _;
    use crate::real::RealFiles;
    use crate::temp::TempFolder;

    #[test]
    fn a_link_under_the_other_case_is_the_same_folder() {
        let folder = TempFolder::new().expect("a folder");
        if RealFiles.name_rules(folder.path()).folds_case {
            return test_support::skip("the temporary folder folds case");
        }
        let project = folder.path().join("project");
        assert_eq!(is_case_sensitive(&project), None);
        std::fs::create_dir(project.as_path()).expect("a folder");
        assert_eq!(is_case_sensitive(&project), Some(true));
        let other = folder.path().join("PROJECT");
        std::os::unix::fs::symlink(project.as_path(), other.as_path()).expect("a link");
        assert_eq!(is_case_sensitive(&project), Some(false));
        let digits = folder.path().join("123");
        std::fs::create_dir(digits.as_path()).expect("a folder");
        assert_eq!(is_case_sensitive(&digits), None);
    }
}
