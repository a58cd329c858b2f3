//! A virtual display that detects when text is visible on it.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use x11rb::connection::Connection;
use x11rb::protocol::xproto::{
    ConnectionExt, ImageFormat, InputFocus, KEY_PRESS_EVENT, KEY_RELEASE_EVENT,
};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::rust_connection::RustConnection;

/// The area of the screen that is searched for text, in pixels. It lies inside the text area of the measured
/// program, and its right edge is beyond the ends of the lines.
#[derive(Clone, Copy)]
pub(crate) struct Area {
    pub(crate) left: i16,
    pub(crate) top: i16,
    pub(crate) width: u16,
    pub(crate) height: u16,
}

/// The area of Burin and of the bare window.
pub(crate) const OURS: Area = Area {
    left: 380,
    top: 130,
    width: 620,
    height: 420,
};

/// Timeout for a window to appear.
const PATIENCE: Duration = Duration::from_secs(20);
/// A window that is absent for this long does not reappear.
const STILLNESS: Duration = Duration::from_millis(150);

/// A virtual X server, ended when dropped.
pub(crate) struct Screen {
    server: Child,
    display: String,
    connection: RustConnection,
    root: u32,
}

/// A started program, ended when dropped.
pub(crate) struct Program(Child);

impl Screen {
    /// Starts a server of 1400 × 900 pixels without the Composite extension, which software
    /// rendering needs.
    pub(crate) fn start() -> Result<Self, String> {
        let number = 90 + std::process::id() % 400;
        let display = format!(":{number}");
        let server = Command::new("Xvfb")
            .args([
                &display,
                "-screen",
                "0",
                "1400x900x24",
                "-extension",
                "Composite",
                "-nolisten",
                "tcp",
            ])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|_| {
                "the peer Xvfb is missing; install it with: apt-get install xvfb".to_owned()
            })?;
        let start = Instant::now();
        loop {
            if let Ok((connection, screen)) = x11rb::connect(Some(&display)) {
                let root = connection.setup().roots[screen].root;
                return Ok(Self {
                    server,
                    display,
                    connection,
                    root,
                });
            }
            if start.elapsed() > PATIENCE {
                return Err("Xvfb does not answer".to_owned());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Starts a program on this screen with folders of its own for state and settings.
    pub(crate) fn run(
        &self,
        program: &Path,
        arguments: &[&str],
        home: &Path,
    ) -> Result<Program, String> {
        let mut command = Command::new(program);
        command.args(arguments).stderr(Stdio::null());
        self.start_program(command, home)
    }

    /// Like `run`, for a prepared command.
    pub(crate) fn start_program(
        &self,
        mut command: Command,
        home: &Path,
    ) -> Result<Program, String> {
        command
            .env("DISPLAY", &self.display)
            // There is no session bus here, for which some programs would wait.
            .env("NO_AT_BRIDGE", "1")
            .env("GSETTINGS_BACKEND", "memory")
            .env_remove("WAYLAND_DISPLAY")
            .env("XDG_RUNTIME_DIR", home)
            .env("BURIN_CONFIG_DIR", home.join("config"))
            .env("BURIN_STATE_DIR", home.join("state"))
            .env("BURIN_CACHE_DIR", home.join("cache"))
            .stdout(Stdio::null())
            .spawn()
            .map(Program)
            .map_err(|error| format!("cannot start {}: {error}", command.get_program().display()))
    }

    /// Waits until at least `lines` lines of text are visible; returns the milliseconds since
    /// `start`.
    pub(crate) fn wait_for_text(
        &self,
        area: Area,
        lines: usize,
        start: Instant,
    ) -> Result<f64, String> {
        while start.elapsed() < PATIENCE {
            if self.lines_of_text(area)? >= lines {
                return Ok(start.elapsed().as_secs_f64() * 1_000.0);
            }
            std::thread::sleep(Duration::from_millis(3));
        }
        Err(format!(
            "no {lines} lines of text appeared within {PATIENCE:?}"
        ))
    }

    /// Waits until no text has been visible for `STILLNESS`.
    pub(crate) fn wait_for_nothing(&self, area: Area) -> Result<(), String> {
        let start = Instant::now();
        let mut empty_since = None;
        while start.elapsed() < PATIENCE {
            if self.lines_of_text(area)? > 0 {
                empty_since = None;
            } else if empty_since.get_or_insert_with(Instant::now).elapsed() > STILLNESS {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Err("the window of the program before does not go away".to_owned())
    }

    /// Gives the keyboard focus to the program's window, since there is no window manager.
    pub(crate) fn focus_top_window(&self) -> Result<(), String> {
        let tree = self
            .connection
            .query_tree(self.root)
            .map_err(|error| error.to_string())?
            .reply()
            .map_err(|error| error.to_string())?;
        let mut widest = None;
        for window in tree.children {
            let geometry = self
                .connection
                .get_geometry(window)
                .map_err(|error| error.to_string())?;
            if let Ok(geometry) = geometry.reply() {
                widest = widest.max(Some((geometry.width, window)));
            }
        }
        let (_, window) = widest.ok_or("the program shows no window")?;
        self.connection
            .set_input_focus(InputFocus::PARENT, window, x11rb::CURRENT_TIME)
            .map_err(|error| error.to_string())?;
        self.connection.flush().map_err(|error| error.to_string())
    }

    /// Presses and releases the key of an ASCII letter.
    pub(crate) fn press(&self, letter: u8) -> Result<(), String> {
        self.chord(&[u32::from(letter)])
    }

    /// Presses keys, given as keysyms, in order and releases them in reverse order.
    pub(crate) fn chord(&self, symbols: &[u32]) -> Result<(), String> {
        let codes: Result<Vec<u8>, String> = symbols
            .iter()
            .map(|symbol| self.key_code(*symbol))
            .collect();
        let codes = codes?;
        let down = codes.iter().map(|code| (KEY_PRESS_EVENT, *code));
        let up = codes.iter().rev().map(|code| (KEY_RELEASE_EVENT, *code));
        for (kind, code) in down.chain(up) {
            self.connection
                .xtest_fake_input(kind, code, x11rb::CURRENT_TIME, self.root, 0, 0, 0)
                .map_err(|error| error.to_string())?;
        }
        self.connection.flush().map_err(|error| error.to_string())
    }

    fn key_code(&self, symbol: u32) -> Result<u8, String> {
        let setup = self.connection.setup();
        let (first, last) = (setup.min_keycode, setup.max_keycode);
        let mapping = self
            .connection
            .get_keyboard_mapping(first, last - first + 1)
            .map_err(|error| error.to_string())?
            .reply()
            .map_err(|error| error.to_string())?;
        let per_code = usize::from(mapping.keysyms_per_keycode).max(1);
        let place = mapping
            .keysyms
            .chunks(per_code)
            .position(|symbols| symbols.first() == Some(&symbol));
        place
            .and_then(|place| u8::try_from(usize::from(first) + place).ok())
            .ok_or_else(|| format!("no key has the symbol {symbol:#x}"))
    }

    /// Counts runs of pixel rows with ink whose height fits a line of text.
    fn lines_of_text(&self, area: Area) -> Result<usize, String> {
        let image = self
            .connection
            .get_image(
                ImageFormat::Z_PIXMAP,
                self.root,
                area.left,
                area.top,
                area.width,
                area.height,
                !0,
            )
            .map_err(|error| error.to_string())?
            .reply()
            .map_err(|error| error.to_string())?;
        let rows = image.data.chunks_exact(usize::from(area.width) * 4);
        let (mut lines, mut height) = (0, 0);
        for row in rows {
            let pixels: Vec<&[u8]> = row.chunks_exact(4).collect();
            // The right edge of the area is beyond the lines, so it shows the background.
            let ground = pixels[pixels.len() - 1];
            let ink = pixels.iter().filter(|pixel| differs(pixel, ground)).count();
            if ink >= 4 && ink < pixels.len() * 9 / 10 {
                height += 1;
            } else {
                lines += usize::from((3..40).contains(&height));
                height = 0;
            }
        }
        Ok(lines)
    }
}

/// Returns whether two pixels differ by more than the anti-aliased edge of a border.
fn differs(a: &[u8], b: &[u8]) -> bool {
    a.iter().zip(b).take(3).any(|(a, b)| a.abs_diff(*b) > 40)
}

impl Program {
    /// Returns whether the program is still running.
    pub(crate) fn is_alive(&self) -> bool {
        std::fs::read_to_string(format!("/proc/{}/stat", self.0.id()))
            .is_ok_and(|stat| !stat.contains(") Z "))
    }

    /// Returns the share of one core used during `span`, in percent.
    pub(crate) fn cpu_percent(&self, span: Duration) -> Result<f64, String> {
        let before = self.cpu_seconds()?;
        std::thread::sleep(span);
        let seconds = self.cpu_seconds()? - before;
        Ok(100.0 * seconds / span.as_secs_f64())
    }

    /// Returns the proportional set size in megabytes.
    pub(crate) fn pss(&self) -> Result<f64, String> {
        let path = format!("/proc/{}/smaps_rollup", self.0.id());
        let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
        let line = text
            .lines()
            .find(|line| line.starts_with("Pss:"))
            .ok_or("no Pss line")?;
        let kilobytes: f64 = line
            .split_whitespace()
            .nth(1)
            .and_then(|number| number.parse().ok())
            .ok_or("no number in the Pss line")?;
        Ok(kilobytes / 1024.0)
    }

    /// Returns the CPU time of all threads, from counters in nanoseconds: a clock tick would already be a quarter of
    /// a percent of four seconds.
    fn cpu_seconds(&self) -> Result<f64, String> {
        let folder = format!("/proc/{}/task", self.0.id());
        let threads = std::fs::read_dir(folder).map_err(|error| error.to_string())?;
        let mut nanoseconds = 0.0;
        for thread in threads.flatten() {
            // A thread may have ended meanwhile.
            let told = std::fs::read_to_string(thread.path().join("schedstat")).unwrap_or_default();
            let first = told.split_whitespace().next();
            nanoseconds += first
                .and_then(|first| first.parse::<f64>().ok())
                .unwrap_or(0.0);
        }
        Ok(nanoseconds / 1e9)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.server.kill().ok();
        self.server.wait().ok();
    }
}
