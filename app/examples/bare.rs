//! The smallest window that the toolkit can open, with one line of text. Benchmarks compare
//! start-up times with it.

use gpui_kit::{
    AppContext, Context, IntoElement, ParentElement, Render, Styled, Window, WindowOptions, div,
    px, white,
};

struct Line;

impl Render for Line {
    fn render(&mut self, _: &mut Window, _: &mut Context<Self>) -> impl IntoElement {
        div()
            .size_full()
            .bg(gpui_kit::black())
            .text_color(white())
            .pt(px(300.))
            .pl(px(400.))
            .child("one line of text, one line of text, one line of text")
    }
}

fn main() {
    gpui_kit::application().run(|cx| {
        gpui_kit::init(cx);
        let opened = gpui_kit::open_window(WindowOptions::default(), cx, |_, cx| cx.new(|_| Line));
        if opened.is_err() {
            cx.quit();
        }
    });
}
