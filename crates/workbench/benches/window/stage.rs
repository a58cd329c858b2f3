//! A window without a screen, and its clock.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use gpui_kit::{
    AnyWindowHandle, DevicePixels, HeadlessAppContext, Keystroke, PlatformAtlas,
    PlatformHeadlessRenderer, Scene, Size,
};
use host::FakeClock;
use image::RgbaImage;

/// Step of the clock.
const TICK: Duration = Duration::from_millis(25);

/// Speed at which time passes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// As fast as the due work is done.
    Free,
    /// As fast as real time, so that background threads do as much between keys as for a user.
    Real,
}

/// A window with its clock, which is advanced manually.
pub(crate) struct Stage {
    pub(crate) cx: HeadlessAppContext,
    pub(crate) window: AnyWindowHandle,
    pub(crate) clock: Arc<FakeClock>,
}

/// Creates the context of a window.
pub(crate) fn context() -> HeadlessAppContext {
    let text_system = gpui_kit::platform::current_platform(true).text_system();
    let cx = HeadlessAppContext::with_platform(text_system, Arc::new(ui::Assets), || {
        let renderer = gpui_kit::platform::current_headless_renderer()?;
        Ok(renderer.map(|renderer| Box::new(Unpainted(renderer)) as _))
    });
    // From here on the threads of the journal and of the index may wake tasks.
    cx.allow_parking();
    cx.forbid_parking();
    cx
}

impl Stage {
    /// Presses a key; returns this thread's CPU milliseconds up to the end of the frame.
    pub(crate) fn press(&mut self, keystroke: Keystroke) -> f64 {
        let start = ThreadTime::now();
        // In tests the window is drawn as part of the update that made it dirty.
        self.cx
            .update_window(self.window, |_, window, cx| {
                window.dispatch_keystroke(keystroke, cx);
            })
            .expect("the window is open");
        start.elapsed().as_secs_f64() * 1e3
    }

    /// Advances the clock in steps and runs everything that becomes due. Calls `each` with the number of every step.
    pub(crate) fn pass(&mut self, time: Duration, pace: Pace, mut each: impl FnMut(u32)) {
        let start = Instant::now();
        let ticks = time.as_micros().div_ceil(TICK.as_micros()) as u32;
        self.cx.run_until_parked();
        for tick in 1..=ticks {
            if pace == Pace::Real {
                let due = start + TICK * tick;
                std::thread::sleep(due.saturating_duration_since(Instant::now()));
            }
            each(tick);
            self.clock.advance(TICK);
            self.cx.advance_clock(TICK);
            self.cx.run_until_parked();
        }
    }
}

/// Returns the keystroke that types a character.
pub(crate) fn keystroke(key: char) -> Keystroke {
    let (name, char) = match key {
        '\n' => ("enter".to_owned(), None),
        ' ' => ("space".to_owned(), Some(" ".to_owned())),
        key => (key.to_string(), Some(key.to_string())),
    };
    Keystroke {
        modifiers: Default::default(),
        key: name,
        key_char: char,
    }
}

/// Accepts scenes without painting them. Glyphs are in the same textures as on a screen; without a renderer each glyph
/// would have its own texture, and sorting by texture would take a fifth of the frame.
struct Unpainted(Box<dyn PlatformHeadlessRenderer>);

impl PlatformHeadlessRenderer for Unpainted {
    fn render_scene_to_image(
        &mut self,
        scene: &Scene,
        size: Size<DevicePixels>,
    ) -> gpui_kit::Result<RgbaImage> {
        self.0.render_scene_to_image(scene, size)
    }

    fn render_scene(&mut self, _: &Scene, _: Size<DevicePixels>) -> gpui_kit::Result<()> {
        Ok(())
    }

    fn sprite_atlas(&self) -> Arc<dyn PlatformAtlas> {
        self.0.sprite_atlas()
    }
}
