//! Effective settings of one view, and its overrides.

use caret::CaretOptions;
use gpui_kit::{App, Context, Entity, Window};
use settings::{CurrentLine, EditorSettings, LineNumbers, SoftWrap, Whitespace};
use ui::ActiveSettings as _;

use super::Editor;
use crate::model::DocumentModel;

/// Display options that the user changed for this view only. For an option that is `None`, the view
/// follows the settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Overrides {
    pub(crate) soft_wrap: Option<SoftWrap>,
    pub(crate) whitespace: Option<Whitespace>,
    /// Hard tabs or spaces, and the width of a level.
    indentation: Option<(bool, u32)>,
    /// Rulers of a view that is a field of a panel.
    field_rulers: Option<&'static [u32]>,
}

impl Editor {
    /// Applies the settings if they changed since the last call; otherwise takes constant time.
    pub(crate) fn follow_settings(&mut self, cx: &mut Context<Self>) {
        if !std::sync::Arc::ptr_eq(cx.settings(), &self.settings_source) {
            self.use_settings(cx);
        }
    }

    /// Applies the present settings for the language of the text; all rows are shaped again.
    pub(crate) fn use_settings(&mut self, cx: &mut Context<Self>) {
        let source = cx.settings().clone();
        self.settings_language = language_name(self, cx);
        self.settings = source.for_language(self.settings_language).clone();
        if let Some(rulers) = self.overrides.field_rulers {
            make_field(&mut self.settings, rulers);
        }
        self.settings_source = source;
        self.caret_options = fresh_caret_options(self, cx);
        self.rows.forget_shapes();
        self.show_caret(cx);
        super::vim_mode::follow_settings(self, cx);
    }

    /// Applies the language and indentation detected from the newly parsed text. Returns whether
    /// something changed, so that the rows are shaped again.
    pub(crate) fn follow_text(&mut self, cx: &mut Context<Self>) -> bool {
        if language_name(self, cx) != self.settings_language {
            self.use_settings(cx);
            return true;
        }
        let options = fresh_caret_options(self, cx);
        let is_other = options != self.caret_options;
        if is_other {
            self.caret_options = options;
            self.rows.forget_shapes();
        }
        is_other
    }

    /// Returns the soft wrap of this view: its override, or the setting.
    pub(crate) fn soft_wrap(&self) -> SoftWrap {
        self.overrides.soft_wrap.unwrap_or(self.settings.soft_wrap)
    }

    /// Returns the whitespace that this view shows: its override, or the setting.
    pub(crate) fn whitespace(&self) -> Whitespace {
        self.overrides
            .whitespace
            .unwrap_or(self.settings.whitespace)
    }

    /// Sets the indentation of typed text in this view, in place of settings and detection: hard
    /// tabs or spaces, and the width of a level in columns, from 1 to 16. Does not change the text.
    pub fn set_indentation(&mut self, hard_tabs: bool, tab_width: u32, cx: &mut Context<Self>) {
        self.overrides.indentation = Some((hard_tabs, tab_width.clamp(1, 16)));
        self.caret_options = fresh_caret_options(self, cx);
        self.rows.forget_shapes();
        cx.notify();
    }

    /// Shows this view as a field of a panel: without a gutter, with rulers at these columns, and lines wrapped at its
    /// edge.
    pub fn show_as_field(&mut self, rulers: &'static [u32], cx: &mut Context<Self>) {
        self.overrides.field_rulers = Some(rulers);
        self.use_settings(cx);
        cx.notify();
    }

    /// Returns whether typed indentation uses hard tabs, and the width of a level in columns.
    pub fn indentation(&self) -> (bool, u32) {
        (self.caret_options.hard_tabs, self.caret_options.tab_width)
    }
}

/// Keeps the rows of a view unwrapped whatever the settings say, such as beside another text, or follows the settings
/// again.
pub fn set_unwrapped(editor: &mut Editor, is_unwrapped: bool, cx: &mut Context<Editor>) {
    editor.overrides.soft_wrap = is_unwrapped.then_some(SoftWrap::Off);
    editor.scroll.x = 0.0;
    cx.notify();
}

/// Returns whether the view is a field of a panel.
pub(crate) fn is_field(editor: &Editor) -> bool {
    editor.overrides.field_rulers.is_some()
}

/// Changes settings to those of a field.
fn make_field(settings: &mut EditorSettings, rulers: &[u32]) {
    settings.rulers = rulers.to_vec();
    settings.soft_wrap = SoftWrap::Window;
    settings.line_numbers = LineNumbers::Off;
    settings.current_line = CurrentLine::Off;
    settings.fold_arrows = false;
    settings.change_bars = false;
    settings.sticky_scroll = false;
    settings.scroll_beyond_last_line = false;
    settings.overview_marks = false;
    settings.indent_guides = false;
}

/// Returns the name of the text's language; `None` if the language is unknown.
fn language_name(editor: &Editor, cx: &App) -> Option<&'static str> {
    let language = editor.model.read(cx).language();
    language.map(|language| language.name())
}

fn fresh_caret_options(editor: &Editor, cx: &App) -> CaretOptions {
    let mut options = caret_options(&editor.settings, &editor.model, cx);
    options.page_rows = editor.caret_options.page_rows;
    if let Some((hard_tabs, tab_width)) = editor.overrides.indentation {
        (options.hard_tabs, options.tab_width) = (hard_tabs, tab_width);
    }
    options
}

/// Turns soft wrap off for this view or, if it is off, on at the width of the view, even where the
/// settings wrap at a column. Overrides the settings and scrolls back to the left edge.
pub(crate) fn toggle_soft_wrap(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    editor.overrides.soft_wrap = Some(match editor.soft_wrap() {
        SoftWrap::Off => SoftWrap::Window,
        SoftWrap::Window | SoftWrap::Column => SoftWrap::Off,
    });
    editor.scroll.x = 0.0;
    cx.notify();
}

/// Shows all whitespace in this view or, if all is shown, none. Overrides the settings.
pub(crate) fn toggle_whitespace(editor: &mut Editor, _: &mut Window, cx: &mut Context<Editor>) {
    editor.overrides.whitespace = Some(match editor.whitespace() {
        Whitespace::All => Whitespace::None,
        _ => Whitespace::All,
    });
    editor.rows.forget_shapes();
    cx.notify();
}

/// Returns the options for caret commands, from the settings and the detected style of the text.
pub(crate) fn caret_options(
    settings: &EditorSettings,
    model: &Entity<DocumentModel>,
    cx: &App,
) -> CaretOptions {
    let model = model.read(cx);
    let hint = model.language().and_then(|language| language.config().tab);
    let detected = settings
        .detect_indentation
        .then(|| detect(&model.snapshot()))
        .flatten();
    let (hard_tabs, tab_width) = match (detected, hint) {
        (Some((true, _)), _) => (true, settings.tab_size),
        (Some((false, width)), _) => (false, width),
        (None, Some(hint)) if settings.detect_indentation => (hint.hard, hint.width),
        (None, _) => (settings.hard_tabs, settings.tab_size),
    };
    CaretOptions {
        tab_width: tab_width.max(1),
        hard_tabs,
        auto_close: settings.auto_close,
        auto_surround: settings.auto_surround,
        smart_indent: settings.smart_indent,
        continue_comments: settings.smart_indent,
        page_rows: 1,
    }
}

/// Detects hard tabs, or the number of spaces per level, from the first rows.
fn detect(snapshot: &text::Snapshot) -> Option<(bool, u32)> {
    const ROWS: u32 = 200;
    let (mut tabs, mut steps, mut before) = (0u32, [0u32; 9], 0usize);
    for row in 0..snapshot.row_count().min(ROWS) {
        let start = snapshot.row_start(base::Row(row));
        let blanks: String = snapshot
            .chars_at(start)
            .take(80)
            .take_while(|c| *c == ' ' || *c == '\t')
            .collect();
        if blanks.starts_with('\t') {
            tabs += 1;
            continue;
        }
        if snapshot.row_len(base::Row(row)).0 as usize == blanks.len() {
            continue;
        }
        let step = blanks.len().abs_diff(before);
        if (2..=8).contains(&step) {
            steps[step] += 1;
        }
        before = blanks.len();
    }
    let spaced: u32 = steps.iter().sum();
    if tabs > spaced {
        return Some((true, 0));
    }
    let width = (2..=8)
        .max_by_key(|step| steps[*step])
        .filter(|step| steps[*step] >= 2)?;
    Some((false, width as u32))
}

#[cfg(test)]
mod tests;
