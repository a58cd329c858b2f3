//! Facts about displays, graphics and fonts.

use std::collections::BTreeSet;
use std::env;
use std::fmt;
use std::fs;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use crate::facts::{Fact, FactVerdict, PROBE_TIMEOUT, output_of};

pub(super) fn facts() -> Vec<Fact> {
    let mut facts = vec![wayland(), x11()];
    // One display server is enough.
    let works = |fact: &Fact| fact.verdict == FactVerdict::Good && fact.value != UNSET;
    if !facts.iter().any(works) {
        facts.push(Fact::bad(
            "display",
            "none responds",
            "start Burin in a desktop session, or under Xvfb; or use burin-agent, which needs none",
        ));
    }
    let devices = names_in(Path::new("/dev/dri"));
    let devices: BTreeSet<_> = devices
        .filter(|device| device.starts_with("renderD") || device.starts_with("card"))
        .collect();
    let has_device = !devices.is_empty();
    facts.extend([graphics(devices), vulkan(has_device), opengl(), fonts()]);
    facts
}

/// Returns the reason that no window can be opened, as a sentence; `None` if a display server
/// answers.
///
/// Probes the server that windows would use: Wayland's if its variable is set, X11's otherwise.
pub fn no_display() -> Option<String> {
    let wayland = wayland();
    let fact = if wayland.value == UNSET {
        x11()
    } else {
        wayland
    };
    let why = match fact.verdict {
        _ if fact.value == UNSET => "neither DISPLAY nor WAYLAND_DISPLAY is set".to_owned(),
        FactVerdict::Good => return None,
        FactVerdict::Warn(advice) | FactVerdict::Bad(advice) => {
            format!("the {} {}; {advice}", fact.name, fact.value)
        }
    };
    Some(format!(
        "burin needs a display: {why}. \"burin-agent\" needs none; \"burin-agent doctor\" reports what this machine \
         offers"
    ))
}

const UNSET: &str = "not set";

fn wayland() -> Fact {
    let name = "Wayland display";
    let Some(display) = env::var_os("WAYLAND_DISPLAY").filter(|value| !value.is_empty()) else {
        return Fact::good(name, UNSET);
    };
    let folder = env::var_os("XDG_RUNTIME_DIR").unwrap_or_default();
    let socket = Path::new(&folder).join(&display);
    let shown = display.to_string_lossy();
    match UnixStream::connect(&socket) {
        Ok(_) => Fact::good(name, format!("{shown} answers")),
        Err(error) => Fact::warn(
            name,
            format!("{shown} does not answer: {error}"),
            "check WAYLAND_DISPLAY and XDG_RUNTIME_DIR, or unset WAYLAND_DISPLAY to use X11",
        ),
    }
}

fn x11() -> Fact {
    let name = "X11 display";
    let Some(display) = env::var("DISPLAY").ok().filter(|value| !value.is_empty()) else {
        return Fact::good(name, UNSET);
    };
    match connect_x11(&display) {
        Ok(()) => Fact::good(name, format!("{display} answers")),
        Err(error) => Fact::warn(
            name,
            format!("{display} does not answer: {error}"),
            "check DISPLAY, or start an X server such as Xvfb",
        ),
    }
}

/// The reason that an X server cannot be used.
#[derive(Debug)]
pub(super) enum X11Error {
    /// The server did not answer within `PROBE_TIMEOUT`.
    Silent,
    /// The connection failed.
    Refused(x11rb::errors::ConnectError),
}

impl fmt::Display for X11Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Silent => {
                let seconds = PROBE_TIMEOUT.as_secs();
                write!(f, "no response for {seconds} seconds")
            }
            Self::Refused(error) => write!(f, "{error}"),
        }
    }
}

/// Connects to an X server, named as in `DISPLAY`, and disconnects again. `Ok` without trying if
/// the server is on another machine. Blocks for at most `PROBE_TIMEOUT`.
pub(super) fn connect_x11(display: &str) -> Result<(), X11Error> {
    // A connection to another machine could hang.
    let host = display.rsplit_once(':').map_or("", |(host, _)| host);
    if !matches!(host, "" | "unix" | "localhost") {
        return Ok(());
    }
    // A local server that is stopped, or that forwards to another machine, can hang as well.
    let (sender, receiver) = std::sync::mpsc::channel();
    let display = display.to_owned();
    std::thread::spawn(move || {
        let connected = x11rb::connect(Some(&display));
        let answer = connected.map(drop).map_err(X11Error::Refused);
        // The receiver may have timed out.
        sender.send(answer).ok();
    });
    receiver
        .recv_timeout(PROBE_TIMEOUT)
        .unwrap_or(Err(X11Error::Silent))
}

fn graphics(found: BTreeSet<String>) -> Fact {
    let name = "graphics devices";
    if found.is_empty() {
        return Fact::warn(
            name,
            "none in /dev/dri",
            "drawing will be done by the processor, which works but is slower; on a machine with \
             a graphics card install its driver, in a container pass /dev/dri in",
        );
    }
    Fact::good(name, found.into_iter().collect::<Vec<_>>().join(", "))
}

fn vulkan(has_device: bool) -> Fact {
    let name = "Vulkan drivers";
    let folders = [
        "/usr/share/vulkan/icd.d",
        "/etc/vulkan/icd.d",
        "/usr/local/share/vulkan/icd.d",
        "/run/opengl-driver/share/vulkan/icd.d",
    ];
    let mut found: BTreeSet<_> = folders
        .iter()
        .flat_map(|folder| names_in(Path::new(folder)))
        .filter_map(|file| Some(file.strip_suffix(".json")?.to_owned()))
        .collect();
    for variable in ["VK_ICD_FILENAMES", "VK_DRIVER_FILES"] {
        if let Some(files) = env::var_os(variable) {
            let files = env::split_paths(&files)
                .filter_map(|file| Some(file.file_stem()?.to_string_lossy().into_owned()));
            found.extend(files);
        }
    }
    let is_software = |driver: &String| driver.starts_with("lvp") || driver.contains("swiftshader");
    let listed = found.iter().cloned().collect::<Vec<_>>().join(", ");
    if found.is_empty() {
        let advice = "install mesa-vulkan-drivers (Debian, Ubuntu) or the card maker's driver";
        return Fact::warn(name, "none found", advice);
    }
    if !has_device {
        return if found.iter().any(is_software) {
            Fact::good(
                name,
                format!("{listed}; the software driver without a device"),
            )
        } else {
            Fact::warn(
                name,
                format!("{listed}, all for missing devices"),
                "install mesa-vulkan-drivers (Debian, Ubuntu), which includes a software renderer",
            )
        };
    }
    if found.iter().all(is_software) {
        let value = format!("{listed} (software only)");
        return Fact::warn(
            name,
            value,
            "install the driver of the graphics card, if there is one",
        );
    }
    Fact::good(name, listed)
}

fn opengl() -> Fact {
    let name = "OpenGL libraries";
    let folders = [
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/usr/lib64",
        "/usr/lib",
    ];
    let wanted = ["libEGL.so.1", "libGL.so.1", "libGLESv2.so.2"];
    let is_there = |library: &&str| {
        folders
            .iter()
            .any(|folder| Path::new(folder).join(library).exists())
    };
    let found: Vec<_> = wanted.into_iter().filter(is_there).collect();
    if found.is_empty() {
        Fact::warn(
            name,
            "none found",
            "install libegl1 and libgl1 (Debian, Ubuntu)",
        )
    } else {
        Fact::good(name, found.join(", "))
    }
}

fn fonts() -> Fact {
    let name = "fonts";
    if let Some(text) = output_of("fc-list", &["--format", "%{family[0]}\n"]) {
        let families: BTreeSet<_> = text.lines().filter(|line| !line.is_empty()).collect();
        return counted(name, families.len(), "families known to fontconfig");
    }
    let home = env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let folders = [
        PathBuf::from("/usr/share/fonts"),
        PathBuf::from("/usr/local/share/fonts"),
        home.join(".local/share/fonts"),
    ];
    let count = folders.iter().map(|folder| count_fonts(folder, 4)).sum();
    counted(name, count, "font files")
}

fn counted(name: &'static str, count: usize, what: &str) -> Fact {
    if count == 0 {
        let advice = "Burin's own fonts are used; install fonts-noto for other scripts and emoji";
        return Fact::warn(name, format!("no {what}"), advice);
    }
    Fact::good(name, format!("{count} {what}"))
}

/// Counts the font files in a folder and down to `depth` levels of subfolders, by their extensions.
/// Unreadable folders count as empty, and symlinks to folders are not followed.
fn count_fonts(folder: &Path, depth: usize) -> usize {
    let Ok(entries) = fs::read_dir(folder) else {
        return 0;
    };
    let counts = entries.flatten().map(|entry| {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth > 0 => count_fonts(&path, depth - 1),
            _ => {
                let ending = path.extension().and_then(|ending| ending.to_str());
                usize::from(matches!(ending, Some("ttf" | "otf" | "ttc" | "pfb")))
            }
        }
    });
    counts.sum()
}

fn names_in(folder: &Path) -> impl Iterator<Item = String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned())
}
