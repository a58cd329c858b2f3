//! Highlighting of code within Markdown: in hover cards, documentation and transcripts of agents.
//!
//! Invariant: highlighting a block takes bounded time; a longer block is plain, and one of a language
//! whose queries are not compiled yet is plain until a background thread has compiled them.
//! Start at `highlight_code_blocks`.

use std::ops::Range;

use async_channel::Sender;
use gpui_kit::base::TextViewDefaults;
use gpui_kit::base::text::CodeBlock;
use gpui_kit::{App, AppContext as _, Global, HighlightStyle};
use syntax::{HighlightKind, Language, language_named, parse_whole};
use text::Snapshot;
use ui::{ActiveTheme as _, Theme};

/// Maximum length of a highlighted block, in bytes.
const MAX_CODE: usize = 8 << 10;
/// Maximum number of times that the parser asks for its budget: some milliseconds.
const MAX_STEPS: u32 = 500;

/// The theme whose colours the highlighter has.
struct CodeBlockTheme(u64);

impl Global for CodeBlockTheme {}

/// Takes the languages of blocks that are plain because their queries are not compiled.
struct MissingLanguages(Sender<Language>);

impl Global for MissingLanguages {}

/// Styles by highlight kind.
struct CodeStyles(Vec<Option<HighlightStyle>>);

/// Highlights the code of all Markdown in the colours of the theme, also after a change of the theme.
pub fn highlight_code_blocks(cx: &mut App) {
    let (sender, missing) = async_channel::unbounded::<Language>();
    cx.set_global(MissingLanguages(sender));
    cx.spawn(async move |cx| {
        while let Ok(language) = missing.recv().await {
            if language.is_prepared() {
                continue;
            }
            let preparing = cx.background_spawn(async move { language.prepare() });
            preparing.await;
            cx.update(|cx| {
                // The views keep the styles that a highlighter returned, so they get another one.
                install(cx);
                cx.refresh_windows();
            });
        }
    })
    .detach();
    install(cx);
    cx.observe_global::<Theme>(prepare).detach();
}

/// Installs the highlighter for all Markdown, unless the one of the active theme is installed.
pub(crate) fn prepare(cx: &mut App) {
    let known = cx.try_global::<CodeBlockTheme>().map(|theme| theme.0);
    let is_installed = TextViewDefaults::global(cx).has_code_block_highlighter();
    // A change of the theme installs other defaults.
    if known != Some(cx.theme().generation) || !is_installed {
        install(cx);
    }
}

fn install(cx: &mut App) {
    let styles = CodeStyles::of_theme(cx);
    let missing = cx.try_global::<MissingLanguages>().map(|it| it.0.clone());
    let highlight = move |block: &CodeBlock| {
        let Some(info) = block.lang() else {
            return Vec::new();
        };
        if let (Some(missing), Some(language)) = (&missing, language_of(&info))
            && !language.is_prepared()
        {
            // An unbounded channel; it is closed only when the program ends.
            missing.try_send(language).ok();
        }
        styles.highlights(&info, &block.code())
    };
    let generation = cx.theme().generation;
    let defaults = TextViewDefaults::global(cx);
    defaults.with_code_block_highlighter(highlight).install(cx);
    cx.set_global(CodeBlockTheme(generation));
}

/// Returns the language that the info string of a block begins with.
fn language_of(info: &str) -> Option<Language> {
    language_named(info.split([',', ' ']).next().unwrap_or_default())
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
        let language = language_of(info);
        let language = language.filter(|it| it.is_prepared() && code.len() <= MAX_CODE);
        let Some(language) = language else {
            return Vec::new();
        };
        let text = Snapshot::new(code);
        let Some(parsed) = parse_whole(language, &text, MAX_STEPS) else {
            return Vec::new();
        };
        let highlights = parsed.highlights(&text, text.full_span());
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

    use super::{
        CodeBlockTheme, CodeStyles, MAX_CODE, MissingLanguages, TextViewDefaults,
        highlight_code_blocks, prepare,
    };

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

    #[gpui_kit::test]
    fn a_missing_language_is_prepared_and_the_highlighter_renewed(cx: &mut TestAppContext) {
        let language = language_named("lua").expect("a language");
        cx.update(|cx| {
            gpui_kit::init(cx);
            ui::init(base::Platform::Linux, cx);
            highlight_code_blocks(cx);
            // Another highlighter was not asked for, so this mark stays until one is installed.
            cx.set_global(CodeBlockTheme(u64::MAX));
            let missing = cx.global::<MissingLanguages>().0.clone();
            missing.try_send(language).expect("the task waits");
        });
        cx.run_until_parked();
        assert!(language.is_prepared());
        cx.update(|cx| {
            let theme = cx.global::<CodeBlockTheme>().0;
            assert_ne!(theme, u64::MAX);
        });
    }
}
