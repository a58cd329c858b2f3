//! Handles a start while Burin is running: the arguments go to the running program.
//!
//! Only programs with the same display and state folder find each other.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::sync::Arc;

use base::AbsPath;
use gpui_kit::App;
use host::{Files, HandoffReceiver, Instance};
use workbench::{Services, windows};

use crate::arguments;

/// The process that opens the requested paths: this process, or one that is already running.
pub(crate) enum InstanceClaim {
    /// This process opens the paths. Later starts send their arguments to the receiver, if there is
    /// one.
    First(Option<HandoffReceiver>),
    /// Another Burin is running and opens the requested paths.
    Other,
}

/// Sends `paths` to the running program with the same display and state folder. If there is no such
/// program, this process receives the paths of later starts. Returns `First` without a receiver if
/// this process cannot receive them, or if the running program does not answer.
pub(crate) fn claim_instance(services: &Services, paths: &[OsString]) -> InstanceClaim {
    let message = encode(&services.working_folder, paths);
    let claimed = host::claim(
        services.files.as_ref(),
        &services.dirs.state,
        &display_id(),
        &message,
    );
    match claimed {
        Ok(Instance::First(handed)) => InstanceClaim::First(Some(handed)),
        Ok(Instance::Other) => InstanceClaim::Other,
        Ok(Instance::Silent) => {
            log::warn!("Burin runs already but does not answer: this start opens a window itself");
            InstanceClaim::First(None)
        }
        // Some paths are too long, and some file systems have no sockets: then every start has its
        // own windows.
        Err(error) => {
            log::warn!("later starts will open windows of their own: {error}");
            InstanceClaim::First(None)
        }
    }
}

/// Opens the paths of later starts until the program ends.
pub(crate) fn listen(handed: HandoffReceiver, files: Arc<dyn Files>, cx: &mut App) {
    cx.spawn(async move |cx| {
        while let Some(message) = handed.next().await {
            let Some((folder, paths)) = decode(&message) else {
                log::warn!("another instance sent a message that is not a list of paths");
                continue;
            };
            let request = arguments::resolve(&paths, &folder, files.as_ref());
            cx.update(|cx| windows::open_request(request, cx));
        }
    })
    .detach();
}

/// Returns a name for the display, because a window on another display would not be seen.
fn display_id() -> String {
    let variable = |name| std::env::var(name).unwrap_or_default();
    let display = format!("{}{}", variable("WAYLAND_DISPLAY"), variable("DISPLAY"));
    let display: String = display
        .chars()
        .map(|char| {
            if char.is_ascii_alphanumeric() {
                char
            } else {
                '-'
            }
        })
        .take(32)
        .collect();
    format!("running{display}")
}

/// Encodes the folder, then the paths, each ended by a NUL, which no path contains.
fn encode(folder: &AbsPath, paths: &[OsString]) -> Vec<u8> {
    let mut message = Vec::new();
    let folder = folder.as_path().as_os_str();
    for part in std::iter::once(folder).chain(paths.iter().map(OsString::as_os_str)) {
        message.extend_from_slice(part.as_bytes());
        message.push(0);
    }
    message
}

fn decode(message: &[u8]) -> Option<(AbsPath, Vec<OsString>)> {
    let body = message.strip_suffix(&[0])?;
    let mut parts = body
        .split(|byte| *byte == 0)
        .map(|part| OsString::from_vec(part.to_vec()));
    let folder = AbsPath::new(parts.next()?)?;
    Some((folder, parts.collect()))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use base::AbsPath;

    use super::{decode, encode};

    #[test]
    fn what_is_sent_is_what_arrives() {
        let folder = AbsPath::new("/w x").expect("absolute");
        for paths in [vec![], vec!["a"], vec!["a b:3:1", "", "ä"]] {
            let paths: Vec<OsString> = paths.into_iter().map(OsString::from).collect();
            let message = encode(&folder, &paths);
            assert_eq!(decode(&message), Some((folder.clone(), paths)));
        }
        for wrong in [&b""[..], b"a\0", b"/a", b"\0"] {
            assert_eq!(decode(wrong), None, "{wrong:?}");
        }
    }
}
