//! The same policy in the words of macOS: a profile for its sandbox.
//!
//! Knows: policies. Must not know: the disk; links are resolved by who calls, since the system judges real paths.
//! Invariant: the last rule that fits decides, so what is denied within something given stands behind it.
//! Invariant: a path that cannot be written in a profile without doubt refuses the policy.
//!
//! What Linux does with a disk of its own, macOS does with rules on paths. So three things are weaker here, and the
//! profile leans to the strict side: scratch folders are read-only, since there is nothing to throw away; there is no
//! loopback of its own, so nothing but the proxy is reached there; and limits are those of the process alone.
//! A protected path is kept by three rules: nothing writes it, nothing links it to another name, and no folder between
//! it and the writable top can be renamed or removed.
//! Start at `profile`.

use std::collections::BTreeSet;
use std::ffi::OsString;

use base::AbsPath;

use crate::names::GIT_CONTROL;
use crate::{Layer, Network, Order, Policy, Refused};

/// The program that puts a process into a profile.
pub const LAUNCHER: &str = "/usr/bin/sandbox-exec";

/// What a profile needs to know beside the policy.
#[derive(Clone, Debug)]
pub struct Place {
    /// A folder of this run alone, for temporary files; `TMPDIR` must name it.
    pub private: AbsPath,
    /// The port of the proxy on this machine's loopback, when hosts are given.
    pub proxy: Option<u16>,
}

/// What every program needs of the system to start at all.
const BASE: &str = r#"(version 1)
(deny default)

; Processes of its own.
(allow process-exec process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow process-info-pidinfo process-info-setcontrol (target self))
(allow sysctl-read)
(allow ipc-posix-sem)
(allow user-preference-read)
(allow mach-lookup
  (global-name "com.apple.system.logger")
  (global-name "com.apple.system.notification_center")
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.opendirectoryd.membership")
  (global-name "com.apple.trustd.agent")
  (global-name "com.apple.logd"))

; Devices that hold nothing.
(allow file-read* file-write-data file-ioctl
  (literal "/dev/null")
  (literal "/dev/zero")
  (literal "/dev/random")
  (literal "/dev/urandom")
  (literal "/dev/tty")
  (literal "/dev/ptmx")
  (regex #"^/dev/ttys[0-9]+$")
  (regex #"^/dev/fd/[0-9]+$"))
(allow pseudo-tty)
"#;

/// Folders that all programs of the machine share.
const SHARED: &[&str] = &[
    "/private/tmp",
    "/private/var/tmp",
    "/private/var/run",
    "/private/var/folders",
    "/Volumes",
];

/// The policy as a profile.
///
/// # Errors
/// When a path cannot be written in a profile, or hosts are given and there is no proxy.
pub fn profile(policy: &Policy, place: &Place) -> Result<String, Refused> {
    let mut text = BASE.to_owned();
    reading(policy, place, &mut text)?;
    writing(policy, place, &mut text)?;
    protecting(policy, &mut text)?;
    network(policy, place, &mut text)?;
    Ok(text)
}

/// An order as the one that runs it in a profile.
///
/// # Errors
/// As `profile`.
pub fn wrapped(policy: &Policy, place: &Place, order: Order) -> Result<Order, Refused> {
    let mut arguments: Vec<OsString> = ["-p".into(), profile(policy, place)?.into()].into();
    arguments.push("--".into());
    arguments.push(order.program);
    arguments.extend(order.arguments);
    let mut environment = policy.environment.clone();
    environment.extend(order.environment);
    environment.push(("TMPDIR".into(), place.private.as_path().into()));
    Ok(Order {
        program: LAUNCHER.into(),
        arguments,
        environment,
        ..order
    })
}

/// Starts an order that `wrapped` made.
///
/// # Errors
/// When the launcher is missing, which no macOS has been without.
#[cfg(target_os = "macos")]
#[expect(
    clippy::disallowed_methods,
    reason = "the launcher is given descriptors of the caller, which host::process has no word for"
)]
pub fn spawn(order: Order) -> Result<std::process::Child, Refused> {
    use std::os::unix::process::CommandExt as _;
    let [input, output, errors] = order.streams;
    std::process::Command::new(&order.program)
        .args(&order.arguments)
        .current_dir(order.folder.as_path())
        .env_clear()
        .envs(order.environment)
        .stdin(input)
        .stdout(output)
        .stderr(errors)
        .process_group(0)
        .spawn()
        .map_err(|cause| Refused::Missing {
            layer: Layer::Mounts,
            step: format!("starting {LAUNCHER}"),
            cause,
            advice: "it is a part of macOS; see that it was not removed",
        })
}

fn reading(policy: &Policy, place: &Place, text: &mut String) -> Result<(), Refused> {
    text.push_str("\n; Reading: the disk, but for what is hidden and what all programs share.\n");
    text.push_str("(allow file-read*)\n");
    for path in SHARED {
        text.push_str(&format!(
            "(deny file-read* file-write* (subpath \"{path}\"))\n"
        ));
    }
    if policy.without.contains(&Layer::Mounts) {
        return Ok(());
    }
    for path in &policy.hidden {
        let path = quoted(path)?;
        text.push_str(&format!("(deny file-read* file-write* (subpath {path}))\n"));
    }
    let given = [&policy.workspace, &place.private];
    for path in policy.readable.iter().chain(&policy.writable).chain(given) {
        let path = quoted(path)?;
        text.push_str(&format!("(allow file-read* (subpath {path}))\n"));
    }
    Ok(())
}

fn writing(policy: &Policy, place: &Place, text: &mut String) -> Result<(), Refused> {
    text.push_str("\n; Writing.\n");
    let given = [&policy.workspace, &place.private];
    for path in given.into_iter().chain(&policy.writable) {
        let path = quoted(path)?;
        text.push_str(&format!("(allow file-write* (subpath {path}))\n"));
    }
    for path in &policy.protected.repositories {
        let path = quoted(path)?;
        text.push_str(&format!("(allow file-write* (subpath {path}))\n"));
    }
    // A file that runs as its owner for everybody would outlast the run.
    text.push_str("(deny file-write-setugid)\n");
    Ok(())
}

fn protecting(policy: &Policy, text: &mut String) -> Result<(), Refused> {
    text.push_str("\n; What makes other programs run code.\n");
    let protected = &policy.protected;
    let mut pinned: BTreeSet<AbsPath> = BTreeSet::new();
    let is_inside = |path: &&AbsPath| tops(policy).any(|top| path.is_within(top));
    let mut leaves: Vec<AbsPath> = protected.paths.iter().filter(is_inside).cloned().collect();
    for repository in &protected.repositories {
        leaves.extend(GIT_CONTROL.iter().map(|name| repository.join(name)));
    }
    for root in [&policy.workspace].into_iter().chain(&policy.writable) {
        for name in &protected.names {
            let pattern = pattern(root, name)?;
            text.push_str(&format!(
                "(deny file-write* file-link (regex #\"{pattern}\"))\n"
            ));
        }
    }
    if !protected
        .repositories
        .iter()
        .any(|path| path.is_within(&policy.workspace))
    {
        let pattern = pattern(&policy.workspace, ".git")?;
        text.push_str(&format!(
            "(deny file-write* file-link (regex #\"{pattern}\"))\n"
        ));
    }
    for leaf in &leaves {
        let path = quoted(leaf)?;
        text.push_str(&format!("(deny file-write* file-link (subpath {path}))\n"));
        let mut above = leaf.parent();
        while let Some(folder) = above {
            let is_inside = tops(policy).any(|top| folder.is_within(top));
            if !is_inside {
                break;
            }
            above = folder.parent();
            pinned.insert(folder);
        }
    }
    pinned.extend(tops(policy).cloned());
    for folder in pinned {
        let path = quoted(&folder)?;
        text.push_str(&format!("(deny file-write-unlink (literal {path}))\n"));
    }
    Ok(())
}

fn tops(policy: &Policy) -> impl Iterator<Item = &AbsPath> {
    let repositories = policy.protected.repositories.iter();
    [&policy.workspace]
        .into_iter()
        .chain(&policy.writable)
        .chain(repositories)
}

fn network(policy: &Policy, place: &Place, text: &mut String) -> Result<(), Refused> {
    text.push_str("\n; The network.\n");
    if policy.without.contains(&Layer::Network) {
        text.push_str("(allow network*)\n(allow system-socket)\n");
        return Ok(());
    }
    let private = quoted(&place.private)?;
    text.push_str(&format!(
        "(allow network* (local unix-socket (subpath {private})))\n\
         (allow network-outbound (remote unix-socket (subpath {private})))\n"
    ));
    match (&policy.network, place.proxy) {
        (Network::Hosts(hosts), Some(port)) if !hosts.is_empty() => {
            let remote = format!("(remote ip \"localhost:{port}\")");
            text.push_str(&format!("(allow network-outbound {remote})\n"));
        }
        (Network::Hosts(hosts), None) if !hosts.is_empty() => {
            return Err(Refused::Policy {
                reason: "hosts are given, and there is no proxy to reach them through".to_owned(),
            });
        }
        (Network::None | Network::Hosts(_), _) => {}
    }
    Ok(())
}

/// A path as a string of a profile.
fn quoted(path: &AbsPath) -> Result<String, Refused> {
    let text = plain(path)?;
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    Ok(format!("\"{text}\""))
}

/// A name in a folder, in any case, and all below it, as a pattern.
fn pattern(folder: &AbsPath, name: &str) -> Result<String, Refused> {
    let folder = plain(folder)?;
    let mut pattern = String::from("^");
    for letter in folder.trim_end_matches('/').chars() {
        push_literal(letter, &mut pattern);
    }
    pattern.push('/');
    for letter in name.chars() {
        match letter.is_ascii_alphabetic() {
            true => {
                let (lower, upper) = (letter.to_ascii_lowercase(), letter.to_ascii_uppercase());
                pattern.push_str(&format!("[{lower}{upper}]"));
            }
            false => push_literal(letter, &mut pattern),
        }
    }
    pattern.push_str("(/|$)");
    match pattern.contains('"') {
        // A pattern has no way to write a quotation mark.
        true => Err(unwritable(&format!("{folder}/{name}"))),
        false => Ok(pattern),
    }
}

fn push_literal(letter: char, pattern: &mut String) {
    if r".^$*+?()[]{}|\".contains(letter) {
        pattern.push('\\');
    }
    pattern.push(letter);
}

fn plain(path: &AbsPath) -> Result<&str, Refused> {
    let text = path.as_path().to_str();
    let is_plain = |text: &&str| !text.chars().any(char::is_control);
    text.filter(is_plain)
        .ok_or_else(|| unwritable(&path.to_string()))
}

fn unwritable(path: &str) -> Refused {
    Refused::Policy {
        reason: format!("{path:?} cannot be written in a profile of macOS; rename it"),
    }
}

#[cfg(test)]
mod tests;
