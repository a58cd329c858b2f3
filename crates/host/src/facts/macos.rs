//! Facts about macOS, judged from what its programs print.

use super::{Fact, FactVerdict};

/// The answers of the probes of this machine. `None` where a probe failed.
#[derive(Clone, Debug, Default)]
pub(super) struct MacProbe {
    /// `launchctl managername`: `Aqua` in a session with a window server.
    pub(super) session: Option<String>,
    /// `system_profiler SPDisplaysDataType`.
    pub(super) displays: Option<String>,
    /// `sysctl -n sysctl.proc_translated`: `1` under Rosetta.
    pub(super) translated: Option<String>,
    /// The exit code of `sandbox-exec` with a profile that allows everything.
    pub(super) sandbox_exec: Option<i32>,
    /// `csrutil status`.
    pub(super) integrity: Option<String>,
    /// Folders with the volumes that they are on.
    pub(super) volumes: Vec<(&'static str, Volume)>,
}

/// A mounted file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Volume {
    /// Its type, such as `apfs`.
    pub(super) kind: String,
    /// Whether it is a disk of this machine.
    pub(super) is_local: bool,
    /// Whether names that differ in case are different; `None` if unknown.
    pub(super) is_case_sensitive: Option<bool>,
}

/// Judges what the probes returned.
pub(super) fn judge(probe: &MacProbe) -> Vec<Fact> {
    let mut facts = vec![
        window_server(probe.session.as_deref()),
        metal(probe.displays.as_deref()),
        architecture(probe.translated.as_deref()),
        seatbelt(probe.sandbox_exec),
        integrity(probe.integrity.as_deref()),
    ];
    let volumes = probe.volumes.iter();
    facts.extend(volumes.map(|(name, volume)| file_system(name, volume)));
    facts
}

/// Returns the name and build of the system, from `sw_vers`.
pub(super) fn version(sw_vers: &str) -> Option<String> {
    let value = |name: &str| {
        let mut lines = sw_vers.lines().filter_map(|line| line.split_once(':'));
        let found = lines.find(|(known, _)| known.trim() == name);
        found.map(|(_, value)| value.trim().to_owned())
    };
    let (name, version) = (value("ProductName")?, value("ProductVersion")?);
    let build = value("BuildVersion").map_or(String::new(), |build| format!(" ({build})"));
    Some(format!("{name} {version}{build}"))
}

fn window_server(session: Option<&str>) -> Fact {
    let name = "window server";
    match session.map(str::trim) {
        Some("Aqua") => Fact::good(name, "available"),
        Some(other) => Fact::warn(
            name,
            format!("not available in a session of type {other}"),
            "log in at the screen to open windows; burin-agent needs none",
        ),
        None => Fact::warn(
            name,
            "unknown: launchctl did not answer",
            "log in at the screen to open windows; burin-agent needs none",
        ),
    }
}

fn metal(displays: Option<&str>) -> Fact {
    let name = "Metal";
    let lines = displays.unwrap_or_default().lines();
    let of = |wanted: &[&str]| {
        let mut pairs = lines
            .clone()
            .filter_map(|line| line.trim().split_once(": "));
        let found = pairs.find(|(known, _)| wanted.contains(known));
        found.map(|(_, value)| value.trim().to_owned())
    };
    let chip = of(&["Chipset Model"]).map_or(String::new(), |chip| format!(", {chip}"));
    match of(&["Metal Support", "Metal", "Metal Family"]) {
        Some(support) if !support.starts_with("Not") => {
            Fact::good(name, format!("{support}{chip}"))
        }
        Some(support) => Fact::bad(
            name,
            format!("{support}{chip}"),
            "windows are drawn with Metal; use burin-agent on this machine",
        ),
        None => Fact::warn(
            name,
            "unknown: system_profiler named no device",
            "windows are drawn with Metal; without a device use burin-agent",
        ),
    }
}

fn architecture(translated: Option<&str>) -> Fact {
    let name = "translation";
    match translated.map(str::trim) {
        Some("1") => Fact::warn(
            name,
            "this program runs under Rosetta",
            "install the build for Apple silicon, which is faster",
        ),
        _ => Fact::good(name, "none"),
    }
}

/// `sandbox-exec` exits with 65 if a profile does not compile, and with 71 if it cannot be applied.
fn seatbelt(exit: Option<i32>) -> Fact {
    let name = "sandbox";
    match exit {
        Some(0) => Fact::good(name, "Seatbelt"),
        Some(71) => Fact::bad(
            name,
            "this program is sandboxed itself",
            "start Burin outside of the other program's sandbox; one sandbox cannot be put into \
             another",
        ),
        Some(code) => Fact::bad(
            name,
            format!("sandbox-exec exits with {code}"),
            "agents' commands cannot be confined; look for sandbox errors in the Console",
        ),
        None => Fact::bad(
            name,
            "sandbox-exec does not run",
            "agents' commands cannot be confined; restore /usr/bin/sandbox-exec, a part of macOS",
        ),
    }
}

fn integrity(status: Option<&str>) -> Fact {
    let name = "system integrity";
    let Some(status) = status else {
        return Fact::good(name, "unknown");
    };
    let state = status.lines().next().unwrap_or_default();
    let state = state.trim_end_matches('.').rsplit(": ").next();
    match state {
        Some("enabled") => Fact::good(name, "on"),
        state => Fact::warn(
            name,
            state.unwrap_or("unknown"),
            "agents' commands could change the system; turn it on with \"csrutil enable\" in recovery",
        ),
    }
}

fn file_system(name: &'static str, volume: &Volume) -> Fact {
    let case = match volume.is_case_sensitive {
        Some(true) => ", case-sensitive",
        Some(false) => ", not case-sensitive",
        None => "",
    };
    let value = format!("{}{case}", volume.kind);
    let verdict = match (volume.kind.as_str(), volume.is_local) {
        (_, false) => FactVerdict::Warn(
            "changes by other machines are noticed late; use a folder on a disk of this one"
                .to_owned(),
        ),
        ("apfs", true) => FactVerdict::Good,
        _ => FactVerdict::Warn(
            "worktrees for agents are copied in full there; an APFS volume shares equal blocks"
                .to_owned(),
        ),
    };
    Fact {
        name,
        value,
        verdict,
    }
}

#[cfg(test)]
mod tests;
