//! A virtual display that takes keys and returns pictures.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A display with a window manager and a temporary home; all end on drop.
pub(crate) struct Desk {
    display: String,
    home: tempfile::TempDir,
    servers: Vec<Child>,
    /// The accessibility bus, if it was requested.
    bus: Option<String>,
}

/// A running program, killed when dropped.
pub(crate) struct Running(Child);

impl Desk {
    /// Starts a display; `None` if the programs for it are missing.
    pub(crate) fn new() -> Option<Self> {
        let home = tempfile::tempdir().ok()?;
        let number_file = home.path().join("display");
        let numbers = std::fs::File::create(&number_file).ok()?;
        for needed in ["xdotool", "git"] {
            quiet(needed).arg("--version").status().ok()?;
        }
        let server = Command::new("Xvfb")
            .args([
                "-displayfd",
                "1",
                "-screen",
                "0",
                "1400x900x24",
                "-extension",
                "Composite",
                "-nolisten",
                "tcp",
            ])
            .stdout(numbers)
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut desk = Self {
            display: String::new(),
            home,
            servers: vec![server],
            bus: None,
        };
        desk.until("the display", 20, || {
            std::fs::read_to_string(&number_file).is_ok_and(|number| number.ends_with('\n'))
        });
        let number = std::fs::read_to_string(&number_file).ok()?;
        desk.display = format!(":{}", number.trim());
        // Windows open without a window manager too, but without a frame.
        desk.servers
            .extend(desk.on_display(quiet("openbox")).spawn());
        desk.wait(500);
        Some(desk)
    }

    /// Starts a session bus with the accessibility bus, as on a desktop with a screen reader.
    /// Returns `false` if the programs for it are missing.
    pub(crate) fn listen(&mut self) -> bool {
        const LAUNCHER: &str = "/usr/libexec/at-spi-bus-launcher";
        let address_file = self.home.path().join("bus");
        let has_reader = quiet("/usr/bin/python3")
            .args(["-c", "import pyatspi"])
            .status()
            .is_ok_and(|status| status.success());
        let Ok(addresses) = std::fs::File::create(&address_file) else {
            return false;
        };
        if !has_reader || !Path::new(LAUNCHER).exists() {
            return false;
        }
        let bus = Command::new("dbus-daemon")
            .args(["--session", "--nofork", "--print-address"])
            .stdout(addresses)
            .stderr(Stdio::null())
            .spawn();
        let Ok(bus) = bus else {
            return false;
        };
        self.servers.push(bus);
        self.until("the bus", 20, || {
            std::fs::read_to_string(&address_file).is_ok_and(|address| address.ends_with('\n'))
        });
        let address = std::fs::read_to_string(&address_file).unwrap_or_default();
        self.bus = Some(address.trim().to_owned());
        let mut launcher = quiet(LAUNCHER);
        launcher.args(["--launch-immediately", "--a11y=1", "--screen-reader=1"]);
        let launcher = self.on_display(launcher).spawn();
        self.servers.extend(launcher);
        self.wait(1_000);
        true
    }

    /// Returns the accessibility nodes of the program's windows: for each its role, its name and
    /// its bounds.
    pub(crate) fn accessible_nodes(&self) -> Vec<Node> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/desktop/accessible.py");
        let output = self
            .on_display(Command::new("/usr/bin/python3"))
            .args([script, "burin"])
            .output()
            .expect("python runs");
        let text = String::from_utf8_lossy(&output.stdout);
        let problems = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{problems}");
        text.lines().map(Node::read).collect()
    }

    pub(crate) fn folder(&self) -> &Path {
        self.home.path()
    }

    fn burin(&self, arguments: &[&OsStr]) -> Command {
        let mut command = self.on_display(Command::new(env!("CARGO_BIN_EXE_burin")));
        let home = self.home.path();
        command
            .args(arguments)
            .env_remove("WAYLAND_DISPLAY")
            .env("XDG_RUNTIME_DIR", home)
            .env("BURIN_CONFIG_DIR", home.join("config"))
            .env("BURIN_STATE_DIR", home.join("state"))
            .env("BURIN_CACHE_DIR", home.join("cache"));
        command
    }

    /// Starts Burin while it is running; returns whether the second start handed its arguments over
    /// and exited successfully.
    pub(crate) fn start_again(&self, arguments: &[&OsStr]) -> bool {
        let again = self.burin(arguments).spawn().expect("Burin starts");
        let again = std::cell::RefCell::new(again);
        self.until("the second start to end", 20, || {
            again
                .borrow_mut()
                .try_wait()
                .is_ok_and(|status| status.is_some())
        });
        again
            .into_inner()
            .wait()
            .is_ok_and(|status| status.success())
    }

    /// Starts Burin and waits for its window.
    pub(crate) fn start(&self, arguments: &[&OsStr]) -> Running {
        let running = self.burin(arguments).spawn().expect("Burin starts");
        let running = Running(running);
        let pid = running.0.id().to_string();
        self.until("the window", 60, || {
            let mut search = self.on_display(quiet("xdotool"));
            search
                .args(["search", "--onlyvisible", "--pid", &pid])
                .status()
                .is_ok_and(|status| status.success())
        });
        self.until("the window's contents", 60, || {
            is_drawn(&self.screen()) && self.stands_still(3)
        });
        running
    }

    /// Runs `act`, then waits until it has changed the screen and nothing else changes it.
    pub(crate) fn showing(&self, what: &str, act: impl FnOnce(&Self)) {
        let before = self.screen();
        act(self);
        self.until(what, 60, || self.screen() != before && self.stands_still(3));
    }

    /// Waits until the title of a window contains `text`.
    pub(crate) fn titled(&self, text: &str) {
        self.until(text, 60, || {
            let mut search = self.on_display(quiet("xdotool"));
            let status = search
                .args(["search", "--onlyvisible", "--name", text])
                .status();
            status.is_ok_and(|status| status.success())
        });
    }

    /// Presses keys one after another, given by xdotool's names.
    pub(crate) fn keys(&self, keys: &[&str]) {
        for key in keys {
            self.xdotool(&["key", "--clearmodifiers", key]);
            self.wait(120);
        }
    }

    pub(crate) fn type_text(&self, text: &str) {
        self.xdotool(&["type", "--clearmodifiers", "--delay", "30", text]);
        self.wait(150);
    }

    /// Saves a screenshot in `target/desktop`.
    pub(crate) fn picture(&self, name: &str) {
        let folder = pictures();
        if std::fs::create_dir_all(&folder).is_err() {
            return;
        }
        let file = folder.join(format!("{name}.png"));
        let mut import = self.on_display(quiet("import"));
        // The test does not depend on the screenshot.
        import.args(["-window", "root"]).arg(file).status().ok();
    }

    /// Returns a screenshot, as bytes that are equal for equal pictures.
    pub(crate) fn screen(&self) -> Vec<u8> {
        let mut import = self.on_display(Command::new("import"));
        let output = import.args(["-window", "root", "ppm:-"]).output();
        output.expect("import runs").stdout
    }

    /// Returns whether this many screenshots, 400 ms apart, are equal.
    pub(crate) fn stands_still(&self, pictures: usize) -> bool {
        let first = self.screen();
        (1..pictures).all(|_| {
            self.wait(400);
            self.screen() == first
        })
    }

    pub(crate) fn git(&self, folder: &Path, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@example.org"])
            .args(arguments)
            .current_dir(folder)
            .env("HOME", self.home.path())
            .output()
            .expect("git runs");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub(crate) fn wait(&self, milliseconds: u64) {
        sleep(Duration::from_millis(milliseconds));
    }

    /// Waits until `done` returns true; fails after `seconds`.
    pub(crate) fn until(&self, what: &str, seconds: u64, done: impl Fn() -> bool) {
        let start = Instant::now();
        while !done() {
            if start.elapsed() > Duration::from_secs(seconds) {
                self.picture("failed");
                panic!("{what} did not come within {seconds} s");
            }
            sleep(Duration::from_millis(100));
        }
    }

    fn xdotool(&self, arguments: &[&str]) {
        let status = self
            .on_display(quiet("xdotool"))
            .args(arguments)
            .status()
            .expect("xdotool runs");
        assert!(status.success(), "xdotool {arguments:?}");
    }

    fn on_display(&self, mut command: Command) -> Command {
        command.env("DISPLAY", &self.display);
        if let Some(bus) = &self.bus {
            command.env("DBUS_SESSION_BUS_ADDRESS", bus);
        }
        command
    }
}

/// Returns whether a screenshot has more colours than an empty window.
fn is_drawn(screen: &[u8]) -> bool {
    const FEW: usize = 16;
    let mut colors = std::collections::HashSet::new();
    screen
        .chunks_exact(3)
        .any(|pixel| colors.insert(pixel) && colors.len() > FEW)
}

/// An element that a screen reader can reach.
pub(crate) struct Node {
    pub(crate) role: String,
    pub(crate) name: String,
    pub(crate) path: String,
    pub(crate) is_focusable: bool,
}

impl Node {
    fn read(line: &str) -> Self {
        let value: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
        let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
        Self {
            role: text("role"),
            name: text("name"),
            path: text("path"),
            is_focusable: value["focusable"].as_bool().unwrap_or_default(),
        }
    }
}

impl Running {
    /// Returns how often the drawing thread has slept and been woken so far.
    pub(crate) fn wakes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id()));
        let status = status.expect("the program runs");
        let wakes = status
            .lines()
            .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        wakes
            .and_then(|wakes| wakes.trim().parse().ok())
            .expect("the kernel counts them")
    }

    /// Hides the window and shows it again, with the keyboard focus.
    pub(crate) fn hide_and_show(&self, desk: &Desk) {
        let pid = self.0.id().to_string();
        let mut search = desk.on_display(Command::new("xdotool"));
        search.args(["search", "--onlyvisible", "--pid", &pid]);
        let output = search.output().expect("xdotool runs");
        let windows = String::from_utf8_lossy(&output.stdout);
        let window = windows.lines().last().expect("the window is shown");
        for step in ["windowunmap", "windowmap", "windowfocus"] {
            desk.xdotool(&[step, window]);
            desk.wait(1_000);
        }
    }

    /// Kills the program, as a crash would.
    pub(crate) fn kill(&mut self) {
        self.0.kill().expect("it was running");
        self.0.wait().expect("it ends");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        for server in self.servers.iter_mut().rev() {
            server.kill().ok();
            server.wait().ok();
        }
    }
}

fn quiet(program: &str) -> Command {
    let mut command = Command::new(program);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn pictures() -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_burin"));
    let target = program.ancestors().nth(2).unwrap_or(Path::new("target"));
    target.join("desktop")
}
