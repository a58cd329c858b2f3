//! Blocks of a document as elements.

use gpui_kit::{
    AnyElement, Context, FontWeight, InteractiveElement as _, IntoElement as _, MouseButton,
    ParentElement as _, Role, SharedString, StatefulInteractiveElement as _, Styled as _,
    StyledText, TestSupportExt as _, div, img, prelude::FluentBuilder as _, px,
};
use preview::{BlockKind, InlineImage, ListMarker, MarkdownBlock};
use text::{Author, Edit};
use ui::foreign::{multi_line, one_line};
use ui::{ActiveTheme as _, Icon, IconSize, Label, Tooltip, dp};

use super::MarkdownPreview;
use super::links::tooltip_text;
use super::pictures::Picture;
use crate::event::PreviewEvent;
use crate::loading::Loaded;

/// Maximum number of lines of code that are drawn.
const MAX_LINES: usize = 400;
/// Maximum length of code that is drawn, in bytes.
const MAX_CODE: usize = 64 << 10;
/// Maximum number of quotes and lists around a block that move it to the right.
const MAX_DEPTH: usize = 12;
/// Width of a level of a list, in design pixels.
const LEVEL: f32 = 24.0;
/// Sizes of headings from level 1 on, in design pixels.
const HEADINGS: [f32; 6] = [26.0, 21.0, 18.0, 16.0, 14.0, 13.0];

impl MarkdownPreview {
    /// Renders a block, or an empty element if there is no such block.
    pub(super) fn render_block(&mut self, ix: usize, cx: &mut Context<Self>) -> AnyElement {
        // The document is taken meanwhile: a copy of a block would cost as much as the block is long.
        let document = std::mem::replace(&mut self.content, Loaded::Waiting);
        let block = document.ready().and_then(|it| it.blocks().get(ix));
        let element = block.map(|block| self.render_framed(ix, block, cx));
        self.content = document;
        element.unwrap_or_else(|| div().into_any_element())
    }

    /// Renders a block between its bars and behind its mark.
    fn render_framed(
        &mut self,
        ix: usize,
        block: &MarkdownBlock,
        cx: &mut Context<Self>,
    ) -> AnyElement {
        let content = self.render_content(ix, block, cx);
        let colors = cx.theme().colors;
        let bars = (0..block.quotes.min(MAX_DEPTH)).map(|_| {
            div()
                .flex_none()
                .w(dp(3.0))
                .mr(dp(12.0))
                .bg(colors.border_strong)
        });
        let bars: Vec<_> = bars.collect();
        let is_quote = block.quotes > 0;
        let levels = block.indent.min(MAX_DEPTH);
        let left = levels.saturating_sub(1) as f32 * LEVEL;
        let space = match &block.kind {
            BlockKind::Heading { .. } => 10.0,
            BlockKind::TableRow { .. } => 0.0,
            _ if block.indent > 0 => 2.0,
            _ => 6.0,
        };
        let marker = (levels > 0).then(|| self.render_marker(ix, block, cx));
        div()
            .flex()
            .w_full()
            .px(dp(24.0))
            .children(bars)
            .child(
                div()
                    .flex()
                    .flex_1()
                    .min_w_0()
                    .pl(dp(left))
                    .py(dp(space))
                    .when(is_quote, |this| this.text_color(colors.muted))
                    .children(marker)
                    .child(div().flex_1().min_w_0().child(content)),
            )
            .into_any_element()
    }

    fn render_content(
        &mut self,
        ix: usize,
        block: &MarkdownBlock,
        cx: &mut Context<Self>,
    ) -> AnyElement {
        let colors = cx.theme().colors;
        match &block.kind {
            BlockKind::Heading { level, text, .. } => {
                let level_ix = usize::from(*level).clamp(1, HEADINGS.len()) - 1;
                let content = self.render_inline(("heading-text", ix), text, cx);
                div()
                    .id(("heading", ix))
                    .role(Role::Heading)
                    .aria_label(one_line(text.text.clone()))
                    .text_size(dp(HEADINGS[level_ix]))
                    .font_weight(FontWeight::SEMIBOLD)
                    .when(*level <= 2, |this| {
                        this.pb(dp(4.0)).border_b_1().border_color(colors.border)
                    })
                    .child(content)
                    .into_any_element()
            }
            BlockKind::Paragraph(text) => self.render_inline(("paragraph", ix), text, cx),
            BlockKind::Images(images) => self.render_images(ix, images, cx),
            BlockKind::Code { info, code } => self.render_code(ix, info, code, cx),
            BlockKind::TableRow {
                columns,
                cells,
                is_head,
            } => self.render_table_row(ix, columns, cells, *is_head, cx),
            BlockKind::Rule => div()
                .w_full()
                .h(px(1.0))
                .my(dp(8.0))
                .bg(colors.border_strong)
                .into_any_element(),
            BlockKind::Html(html) => {
                let (shown, more) = cut(html);
                code_frame(ix, "HTML, as it is written", more, cx)
                    .text_color(colors.muted)
                    .child(StyledText::new(multi_line(shown.to_owned())))
                    .into_any_element()
            }
        }
    }

    fn render_code(&self, ix: usize, info: &str, code: &str, cx: &Context<Self>) -> AnyElement {
        let (shown, more) = cut(code);
        let language = info.split([',', ' ', '{']).next().unwrap_or_default();
        let caption: SharedString = match language {
            "" => SharedString::default(),
            "mermaid" => "mermaid, as its source".into(),
            language => one_line(language.to_owned()),
        };
        let visible = multi_line(shown.to_owned());
        // Hidden characters that became visible would shift the colours.
        let styles = if visible.as_ref() == shown {
            self.highlights.styles(info, code, cx)
        } else {
            Vec::new()
        };
        let styles = styles
            .into_iter()
            .filter(|(range, _)| range.end <= shown.len());
        code_frame(ix, caption, more, cx)
            .child(StyledText::new(visible).with_highlights(styles))
            .into_any_element()
    }

    /// Renders the mark of an item, or the space below one.
    fn render_marker(&self, ix: usize, block: &MarkdownBlock, cx: &Context<Self>) -> AnyElement {
        let colors = cx.theme().colors;
        let slot = div()
            .flex()
            .flex_none()
            .min_w(dp(LEVEL))
            .pr(dp(8.0))
            .justify_end()
            .text_color(colors.muted);
        match &block.marker {
            None => slot.into_any_element(),
            Some(ListMarker::Bullet) => slot.child("\u{2022}").into_any_element(),
            Some(ListMarker::Number(number)) => slot.child(format!("{number}.")).into_any_element(),
            Some(ListMarker::Footnote(name)) => {
                let name: String = name.chars().take(20).collect();
                slot.child(one_line(format!("[{name}]"))).into_any_element()
            }
            Some(ListMarker::Task(is_done)) => {
                let (icon, name) = if *is_done {
                    (Icon::CircleCheck, "Done; reopen the task")
                } else {
                    (Icon::Circle, "Open; mark the task as done")
                };
                let row = block.rows.start;
                slot.child(
                    div()
                        .id(("task", ix))
                        .role(Role::CheckBox)
                        .test_support()
                        .aria_label(name)
                        .cursor_pointer()
                        .pt(dp(3.0))
                        .child(icon.size(IconSize::Medium))
                        .on_click(cx.listener(move |this, _, _, cx| this.toggle_task(row, cx))),
                )
                .into_any_element()
            }
        }
    }

    /// Checks the box of the task in a row of the text, or clears it.
    pub(super) fn toggle_task(&mut self, row: u32, cx: &mut Context<Self>) {
        let model = self.model.clone();
        let done = model.update(cx, |model, cx| {
            if !model.document().can_edit() {
                return false;
            }
            let snapshot = model.snapshot();
            let row = base::Row(row).min(snapshot.last_row());
            let start = snapshot.row_start(row);
            let line: String = snapshot
                .chars_at(start)
                .take_while(|char| *char != '\n')
                .take(MAX_CODE)
                .collect();
            let Some((at, mark)) = task_mark(&line) else {
                return false;
            };
            let span = base::Span::new(start + at, start + (at + 1));
            model.edit(&[Edit::new(span, mark)], Author::User, cx);
            true
        });
        if !done {
            cx.emit(PreviewEvent::Tell(
                "This task cannot be changed here".into(),
            ));
        }
    }

    fn render_images(
        &mut self,
        ix: usize,
        images: &[InlineImage],
        cx: &mut Context<Self>,
    ) -> AnyElement {
        const MAX_IN_A_ROW: usize = 64;
        let shown = images.iter().take(MAX_IN_A_ROW).enumerate();
        let elements: Vec<AnyElement> = shown
            .map(|(number, image)| self.render_picture(ix * MAX_IN_A_ROW + number, image, cx))
            .collect();
        div()
            .flex()
            .flex_wrap()
            .items_end()
            .gap(dp(6.0))
            .max_w_full()
            .children(elements)
            .into_any_element()
    }

    fn render_picture(
        &mut self,
        id: usize,
        image: &InlineImage,
        cx: &mut Context<Self>,
    ) -> AnyElement {
        let colors = cx.theme().colors;
        let alt = one_line(if image.alt.is_empty() {
            image.target.clone()
        } else {
            image.alt.clone()
        });
        let link = image.link.clone();
        let frame = div()
            .id(("picture", id))
            .role(Role::Image)
            .test_support()
            .aria_label(alt.clone())
            .max_w_full();
        let content = match self.picture(&image.target, cx) {
            Picture::Ready(ready) => {
                let picture = img(ready.image);
                frame.child(picture.w(px(ready.width)).max_w_full())
            }
            Picture::Waiting => frame.child(Label::new(format!("{alt} \u{2026}")).muted()),
            Picture::Refused(reason) => frame
                .flex()
                .items_center()
                .gap(dp(6.0))
                .px(dp(8.0))
                .py(dp(4.0))
                .rounded(dp(4.0))
                .border_1()
                .border_color(colors.border)
                .child(Icon::FileImage.size(IconSize::Small).color(colors.muted))
                .child(Label::new(alt).small())
                .child(Label::new(reason).small().muted()),
        };
        match link {
            Some(target) => {
                let tip = tooltip_text(&target);
                content
                    .cursor_pointer()
                    .tooltip(Tooltip::text(tip))
                    .on_mouse_up(
                        MouseButton::Left,
                        cx.listener(move |this, _, _, cx| this.open_link(&target, cx)),
                    )
                    .into_any_element()
            }
            None => content.into_any_element(),
        }
    }
}

/// Returns the place of the mark in the box of a task, in bytes of its line, and the mark that it gets.
fn task_mark(line: &str) -> Option<(usize, &'static str)> {
    let open = line.find("[ ]").map(|at| (at + 1, "x"));
    let done = line.find("[x]").or_else(|| line.find("[X]"));
    let done = done.map(|at| (at + 1, " "));
    // The box comes first; the text of the task may have others.
    open.into_iter().chain(done).min_by_key(|(at, _)| *at)
}

/// Cuts a code to what is drawn; returns the number of lines that are left out as well.
fn cut(code: &str) -> (&str, usize) {
    let lines = code.match_indices('\n').nth(MAX_LINES - 1);
    let mut end = lines.map_or(code.len(), |(at, _)| at).min(MAX_CODE);
    while !code.is_char_boundary(end) {
        end -= 1;
    }
    let rest = code[end..].trim_start_matches('\n');
    let more = if rest.is_empty() {
        0
    } else {
        rest.lines().count()
    };
    (&code[..end], more)
}

/// Renders the frame around code, with its language and a note about lines that are left out.
fn code_frame(
    ix: usize,
    caption: impl Into<SharedString>,
    more: usize,
    cx: &Context<MarkdownPreview>,
) -> gpui_kit::Stateful<gpui_kit::Div> {
    let (theme, caption) = (cx.theme(), caption.into());
    let caption = match (more, caption.as_ref()) {
        (0, "") => None,
        (0, caption) => Some(caption.to_owned()),
        (1, caption) => Some(
            format!("{caption} 1 more line is in the text")
                .trim()
                .to_owned(),
        ),
        (more, caption) => Some(
            format!("{caption} {more} more lines are in the text")
                .trim()
                .to_owned(),
        ),
    };
    div()
        .id(("code", ix))
        .role(Role::Code)
        .aria_label("Code")
        .w_full()
        .px(dp(12.0))
        .py(dp(8.0))
        .rounded(dp(4.0))
        .bg(theme.colors.sunken)
        .font(theme.code_font())
        .text_size(theme.code_size())
        .children(caption.map(|caption| Label::new(caption).tiny().muted()))
}

#[cfg(test)]
mod tests {
    use super::{MAX_LINES, cut, task_mark};

    #[test]
    fn the_first_box_of_a_line_is_that_of_the_task() {
        assert_eq!(task_mark("- [ ] a [x] b"), Some((3, "x")));
        assert_eq!(task_mark("  1. [X] a"), Some((6, " ")));
        assert_eq!(task_mark("- a"), None);
    }

    #[test]
    fn long_code_is_cut_and_counted() {
        let code = "x\n".repeat(MAX_LINES + 3);
        let (shown, more) = cut(code.trim_end());
        assert_eq!((shown.lines().count(), more), (MAX_LINES, 3));
        assert_eq!(cut("a\nb"), ("a\nb", 0));
        assert_eq!(cut(""), ("", 0));
    }
}
