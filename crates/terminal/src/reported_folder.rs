//! Folders that shells report, as paths of this machine.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use base::AbsPath;

use crate::scanner::ReportedFolder;

/// Bytes of a path, at most.
const MAX_PATH: usize = 4_096;

/// Returns the path of a folder on this machine, whose name is `host_name`; `None` if the folder is on another machine, or
/// is no absolute path.
pub(crate) fn local_folder(folder: &ReportedFolder, host_name: Option<&str>) -> Option<AbsPath> {
    match folder {
        ReportedFolder::Address(address) => local_file(address, host_name),
        ReportedFolder::Path(path) => absolute(path.clone().into_bytes()),
    }
}

/// Returns the path of a `file://` address; `None` if it is on another machine.
pub(crate) fn local_file(address: &str, host_name: Option<&str>) -> Option<AbsPath> {
    let (rest, is_encoded) = match address.strip_prefix("file://") {
        Some(rest) => (rest, true),
        None => (address.strip_prefix("kitty-shell-cwd://")?, false),
    };
    let (host, path) = rest.split_at(rest.find('/')?);
    if !is_own_host(host, host_name) {
        return None;
    }
    if is_encoded {
        absolute(percent_decode(path)?)
    } else {
        absolute(path.as_bytes().to_vec())
    }
}

/// Returns whether `host` names this machine.
fn is_own_host(host: &str, host_name: Option<&str>) -> bool {
    let short = |name: &str| name.split('.').next().unwrap_or_default().to_lowercase();
    host.is_empty()
        || host.eq_ignore_ascii_case("localhost")
        || host_name.is_some_and(|own| {
            own.eq_ignore_ascii_case(host)
                // One of both may lack the domain.
                || (own.contains('.') != host.contains('.') && short(own) == short(host))
        })
}

fn absolute(bytes: Vec<u8>) -> Option<AbsPath> {
    let is_plain = bytes.len() <= MAX_PATH && !bytes.iter().any(u8::is_ascii_control);
    is_plain
        .then(|| AbsPath::new(OsString::from_vec(bytes)))
        .flatten()
}

/// Resolves `%HH`; `None` if digits are missing.
fn percent_decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = std::str::from_utf8(after.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &after[2..];
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_this_machine_are_accepted() {
        let cases = [
            ("file:///tmp/a%20b", Some("/tmp/a b")),
            ("file://localhost/tmp", Some("/tmp")),
            ("file://box.example/tmp/%c3%a4", Some("/tmp/ä")),
            ("file://BOX/tmp", Some("/tmp")),
            ("file://box.other/tmp", None),
            ("file://far/tmp", None),
            ("file:///tmp/%4", None),
            ("file:///tmp/a%0ab", None),
            ("file:relative", None),
            ("http://box/tmp", None),
            ("kitty-shell-cwd://box/tmp/a%20b", Some("/tmp/a%20b")),
        ];
        for (address, expected) in cases {
            let found = local_file(address, Some("box.example"));
            assert_eq!(found, expected.and_then(AbsPath::new), "{address}");
        }
    }
}
