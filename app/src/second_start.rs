//! Handles a start while Burin is running: the arguments go to the running program.
//!
//! Only programs with the same display and state folder find each other.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::sync::Arc;

use base::AbsPath;
use gpui_kit::App;
use host::{Files, HandoffReceiver, Instance};
use workbench::{Services, windows};

use crate::arguments::{self, OpenArguments, StartupAction};

/// The process that opens the requested paths: this process, or one that is already running.
pub(crate) enum InstanceClaim {
    /// This process opens the paths. Later starts send their arguments to the receiver, if there is
    /// one.
    First(Option<HandoffReceiver>),
    /// Another Burin is running and opens the requested paths.
    Other,
}

/// Sends the arguments to the running program with the same display and state folder. If there is no such
/// program, this process receives the arguments of later starts. Returns `First` without a receiver if
/// this process cannot receive them, or if the running program does not answer.
pub(crate) fn claim_instance(services: &Services, open: &OpenArguments) -> InstanceClaim {
    let message = encode(&services.working_folder, open);
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
            let Some((folder, open)) = decode(&message) else {
                log::warn!("another instance sent a message that is not a list of paths");
                continue;
            };
            let request = arguments::resolve(&open.paths, &folder, files.as_ref());
            cx.update(|cx| {
                if open.in_new_window {
                    windows::open_in_new_window(request, cx);
                } else {
                    windows::open_request(request, cx);
                }
            });
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

/// Encodes the folder, then the arguments, each ended by a NUL, which no path contains.
fn encode(folder: &AbsPath, open: &OpenArguments) -> Vec<u8> {
    let option = open.in_new_window.then_some(arguments::NEW_WINDOW);
    let options = option.into_iter().chain(["--"]).map(OsStr::new);
    let paths = open.paths.iter().map(OsString::as_os_str);
    let mut message = Vec::new();
    for part in std::iter::once(folder.as_path().as_os_str())
        .chain(options)
        .chain(paths)
    {
        message.extend_from_slice(part.as_bytes());
        message.push(0);
    }
    message
}

fn decode(message: &[u8]) -> Option<(AbsPath, OpenArguments)> {
    let body = message.strip_suffix(&[0])?;
    let mut parts = body
        .split(|byte| *byte == 0)
        .map(|part| OsString::from_vec(part.to_vec()));
    let folder = AbsPath::new(parts.next()?)?;
    match arguments::read(parts) {
        Ok(StartupAction::Open(open)) => Some((folder, open)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use base::AbsPath;

    use super::{OpenArguments, decode, encode};

    #[test]
    fn sent_arguments_arrive_unchanged() {
        let folder = AbsPath::new("/w x").expect("absolute");
        let lists = [vec![], vec!["a"], vec!["a b:3:1", "", "ä"], vec!["--help"]];
        for paths in lists {
            for in_new_window in [false, true] {
                let sent = OpenArguments {
                    paths: paths.iter().map(OsString::from).collect(),
                    in_new_window,
                };
                let message = encode(&folder, &sent);
                assert_eq!(decode(&message), Some((folder.clone(), sent)));
            }
        }
        for wrong in [&b""[..], b"a\0", b"/a", b"\0", b"/a\0--help\0"] {
            assert_eq!(decode(wrong), None, "{wrong:?}");
        }
    }
}
