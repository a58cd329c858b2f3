//! Highlighting of code within Markdown, such as in hover cards and documentation.
//!
//! Invariant: highlighting a block takes bounded time; a longer block, and one of a language whose
//! queries are not compiled yet, is plain.
//! Start at `prepare`.

use std::ops::Range;

use gpui_kit::base::TextViewDefaults;
use gpui_kit::base::text::CodeBlock;
use gpui_kit::{App, Global, HighlightStyle};
use syntax::{Budget, HighlightKind, ParseStatus, SyntaxTree, language_named};
use text::Snapshot;
use ui::ActiveTheme as _;

/// Maximum length of a highlighted block, in bytes.
const MAX_CODE: usize = 8 << 10;
/// Maximum number of times that the parser asks for its budget: some milliseconds.
const MAX_STEPS: u32 = 500;

/// The theme whose colours the highlighter has.
struct CodeBlockTheme(u64);

impl Global for CodeBlockTheme {}

/// Styles by highlight kind.
struct CodeStyles(Vec<Option<HighlightStyle>>);

/// Installs the highlighter for all Markdown, unless the one of the active theme is installed.
pub(crate) fn prepare(cx: &mut App) {
    let generation = cx.theme().generation;
    let defaults = TextViewDefaults::global(cx);
    let known = cx.try_global::<CodeBlockTheme>().map(|theme| theme.0);
    // A change of the theme installs other defaults.
    if known == Some(generation) && defaults.has_code_block_highlighter() {
        return;
    }
    let styles = CodeStyles::of_theme(cx);
    let highlight = move |block: &CodeBlock| {
        let language = block.lang();
        language.map_or_else(Vec::new, |name| styles.highlights(&name, &block.code()))
    };
    defaults.with_code_block_highlighter(highlight).install(cx);
    cx.set_global(CodeBlockTheme(generation));
}

/// Returns the styles of the parts of `code`, in bytes; none for code that is too long and for a
/// language that is not known or not prepared.
pub(crate) fn highlights(
    language: &str,
    code: &str,
    cx: &App,
) -> Vec<(Range<usize>, HighlightStyle)> {
    CodeStyles::of_theme(cx).highlights(language, code)
}

impl CodeStyles {
    fn of_theme(cx: &App) -> Self {
        let theme = cx.theme();
        let kinds = HighlightKind::all().iter();
        Self(kinds.map(|kind| theme.syntax(kind.name())).collect())
    }

    /// Returns the styles of the parts of `code`, in bytes. `info` begins with the name of the language.
    fn highlights(&self, info: &str, code: &str) -> Vec<(Range<usize>, HighlightStyle)> {
        let name = info.split([',', ' ']).next().unwrap_or_default();
        let language = language_named(name);
        let language = language.filter(|it| it.is_prepared() && code.len() <= MAX_CODE);
        let Some(language) = language else {
            return Vec::new();
        };
        let text = Snapshot::new(code);
        let mut tree = SyntaxTree::new(language);
        let mut steps = 0;
        let mut is_spent = || {
            steps += 1;
            steps > MAX_STEPS
        };
        match tree.parse(&text, &mut Budget::until(&mut is_spent)) {
            ParseStatus::Done | ParseStatus::Unsettled => {}
            ParseStatus::Running | ParseStatus::Pending(_) => return Vec::new(),
        }
        let highlights = tree.snapshot().highlights(&text, text.full_span());
        let styled = highlights.into_iter().filter_map(|highlight| {
            let style = self.0.get(highlight.kind as usize).copied().flatten()?;
            Some((highlight.span.start.0..highlight.span.end.0, style))
        });
        styled.collect()
    }
}

#[cfg(test)]
mod tests {
    use gpui_kit::{HighlightStyle, TestAppContext};
    use syntax::{HighlightKind, language_named};

    use super::{CodeStyles, MAX_CODE, TextViewDefaults, prepare};

    /// Checks the parts of a block that have a style.
    fn check(info: &str, code: &str, expected: &[&str]) {
        let style = Some(HighlightStyle::default());
        let styles = CodeStyles(HighlightKind::all().iter().map(|_| style).collect());
        let parts = styles.highlights(info, code);
        let parts: Vec<&str> = parts
            .iter()
            .map(|(range, _)| &code[range.clone()])
            .collect();
        assert_eq!(parts, expected, "{info} {code}");
    }

    #[test]
    fn code_of_a_prepared_language_is_highlighted() {
        language_named("rust").expect("a language").prepare();
        check("rust", "use a;", &["use", "a", ";"]);
        check("rust,ignore", "use a;", &["use", "a", ";"]);
        check("unknown", "use a;", &[]);
        check("rust", &"use a;".repeat(MAX_CODE), &[]);
    }

    #[gpui_kit::test]
    fn the_highlighter_is_installed_for_the_theme(cx: &mut TestAppContext) {
        cx.update(|cx| {
            gpui_kit::init(cx);
            ui::init(base::Platform::Linux, cx);
            prepare(cx);
            assert!(TextViewDefaults::global(cx).has_code_block_highlighter());
        });
    }
}
