//! Translates a policy into a profile for macOS's sandbox.
//!
//! Knows: policies. Must not know: the disk; callers resolve links, since the system checks real
//! paths.
//! Invariant: the last matching rule decides, so a denial inside a granted path follows the grant.
//! Invariant: a path that cannot be expressed unambiguously in a profile refuses the policy.
//!
//! Linux gives a command its own view of the disk; macOS has rules on paths instead. Three things
//! are therefore weaker, and the profile errs on the strict side: scratch folders are read-only,
//! since nothing can be discarded; there is no private loopback, so only the proxy can be reached
//! there; and limits apply to single processes.
//! Three rules keep a protected path: it cannot be written, it cannot be linked to another name,
//! and no folder between it and the writable root can be renamed or removed.
//! Start at `profile`.

use std::collections::BTreeSet;
use std::ffi::OsString;

use base::AbsPath;

use crate::names::GIT_CONTROL;
use crate::{Network, Policy, SandboxError, SandboxLayer, SpawnRequest};

/// The program that runs a process under a profile.
pub const LAUNCHER: &str = "/usr/bin/sandbox-exec";

/// The context that a profile needs besides the policy.
#[derive(Clone, Debug)]
pub struct ProfileContext {
    /// A folder of this run alone, for temporary files; `TMPDIR` must name it.
    pub private: AbsPath,
    /// The port of the proxy on this machine's loopback, if hosts are granted.
    pub proxy: Option<u16>,
}

/// The rights that every program needs to start at all.
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

/// Folders shared by all programs of the machine.
const SHARED: &[&str] = &[
    "/private/tmp",
    "/private/var/tmp",
    "/private/var/run",
    "/private/var/folders",
    "/Volumes",
];

/// Returns the policy as a profile.
///
/// # Errors
/// If a path cannot be expressed in a profile, or hosts are granted without a proxy.
pub fn profile(policy: &Policy, place: &ProfileContext) -> Result<String, SandboxError> {
    let mut text = BASE.to_owned();
    reading(policy, place, &mut text)?;
    writing(policy, place, &mut text)?;
    protecting(policy, &mut text)?;
    network(policy, place, &mut text)?;
    Ok(text)
}

/// Wraps a request so that it runs under a profile.
///
/// # Errors
/// See `profile`.
pub fn wrap(
    policy: &Policy,
    place: &ProfileContext,
    order: SpawnRequest,
) -> Result<SpawnRequest, SandboxError> {
    let mut arguments: Vec<OsString> = ["-p".into(), profile(policy, place)?.into()].into();
    arguments.push("--".into());
    arguments.push(order.program);
    arguments.extend(order.arguments);
    let mut environment = policy.environment.clone();
    environment.extend(order.environment);
    environment.push(("TMPDIR".into(), place.private.as_path().into()));
    Ok(SpawnRequest {
        program: LAUNCHER.into(),
        arguments,
        environment,
        ..order
    })
}

/// Starts a request returned by `wrap`.
///
/// # Errors
/// If the launcher is missing, which is part of every macOS.
#[cfg(target_os = "macos")]
#[expect(
    clippy::disallowed_methods,
    reason = "the launcher receives the caller's descriptors, which host::process does not support"
)]
pub fn spawn(order: SpawnRequest) -> Result<std::process::Child, SandboxError> {
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
        .map_err(|cause| SandboxError::Missing {
            layer: SandboxLayer::Mounts,
            step: format!("starting {LAUNCHER}"),
            cause,
            advice: "it is part of macOS; check that it was not removed",
        })
}

/// Appends the rules about reading to the profile. Fails if a path cannot be expressed in it.
fn reading(policy: &Policy, place: &ProfileContext, text: &mut String) -> Result<(), SandboxError> {
    text.push_str("\n; Reading: the disk, but for what is hidden and what all programs share.\n");
    text.push_str("(allow file-read*)\n");
    for path in SHARED {
        text.push_str(&format!(
            "(deny file-read* file-write* (subpath \"{path}\"))\n"
        ));
    }
    if policy.without.contains(&SandboxLayer::Mounts) {
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

/// Appends the rules about writing to the profile. Fails if a path cannot be expressed in it.
fn writing(policy: &Policy, place: &ProfileContext, text: &mut String) -> Result<(), SandboxError> {
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
    // A set-user-id file would outlive the run.
    text.push_str("(deny file-write-setugid)\n");
    Ok(())
}

/// Appends the rules that keep protected paths to the profile, after those about writing. Fails if
/// a path or a name cannot be expressed in it.
fn protecting(policy: &Policy, text: &mut String) -> Result<(), SandboxError> {
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

/// Appends the rules about the network to the profile. Fails if a path cannot be expressed in it,
/// or if hosts are granted without a proxy.
fn network(policy: &Policy, place: &ProfileContext, text: &mut String) -> Result<(), SandboxError> {
    text.push_str("\n; The network.\n");
    if policy.without.contains(&SandboxLayer::Network) {
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
            return Err(SandboxError::Policy {
                reason: "hosts are granted, but there is no proxy to reach them".to_owned(),
            });
        }
        (Network::None | Network::Hosts(_), _) => {}
    }
    Ok(())
}

/// Quotes a path as a string of a profile.
fn quoted(path: &AbsPath) -> Result<String, SandboxError> {
    let text = plain(path)?;
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    Ok(format!("\"{text}\""))
}

/// Returns a regular expression for a name in a folder, in any case, and everything below it.
fn pattern(folder: &AbsPath, name: &str) -> Result<String, SandboxError> {
    let folder = plain(folder)?;
    let mut pattern = String::from("^");
    for letter in folder.trim_end_matches('/').chars() {
        push_literal(letter, &mut pattern);
    }
    pattern.push('/');
    for letter in name.chars() {
        if letter.is_ascii_alphabetic() {
            let (lower, upper) = (letter.to_ascii_lowercase(), letter.to_ascii_uppercase());
            pattern.push_str(&format!("[{lower}{upper}]"));
        } else {
            push_literal(letter, &mut pattern)
        }
    }
    pattern.push_str("(/|$)");
    if pattern.contains('"') {
        // A pattern cannot contain a quotation mark.
        Err(unwritable(&format!("{folder}/{name}")))
    } else {
        Ok(pattern)
    }
}

fn push_literal(letter: char, pattern: &mut String) {
    if r".^$*+?()[]{}|\".contains(letter) {
        pattern.push('\\');
    }
    pattern.push(letter);
}

/// Returns a path as text. Fails if it is not UTF-8 or contains a control character.
fn plain(path: &AbsPath) -> Result<&str, SandboxError> {
    let text = path.as_path().to_str();
    let is_plain = |text: &&str| !text.chars().any(char::is_control);
    text.filter(is_plain)
        .ok_or_else(|| unwritable(&path.to_string()))
}

fn unwritable(path: &str) -> SandboxError {
    SandboxError::Policy {
        reason: format!("{path:?} cannot be expressed in a macOS sandbox profile; rename it"),
    }
}

#[cfg(test)]
mod tests;
