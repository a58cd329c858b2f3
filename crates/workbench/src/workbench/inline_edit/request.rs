//! The request of an inline edit: the model, and what is known of the lines.

use std::sync::Arc;

use base::{AbsPath, Span, path_text};
use composer_panel::ComposerPanel;
use editor::DocumentModel;
use gpui_kit::{App, SharedString, WeakEntity};
use rewrite::{EarlierRewrite, LineRewrite, RewriteQuery, RewriteRegion};
use ui::ActiveSettings as _;

use crate::rewrite_models::RewriteModels;
use crate::services::Services;
use crate::workbench::Workbench;

/// The value of the setting `inline_edit.model` that selects the model of the agents panel.
const PANEL: &str = "panel";

/// Builds and sends the requests of an inline edit.
pub(super) struct RewriteSource {
    models: Option<Arc<dyn RewriteModels>>,
    panel: WeakEntity<ComposerPanel>,
    root: Option<AbsPath>,
}

impl RewriteSource {
    /// Creates the source of a window.
    pub(super) fn new(workbench: &Workbench, cx: &App) -> Self {
        Self {
            models: Services::of(cx).rewrite,
            panel: workbench.agents.local.downgrade(),
            root: workbench.root(cx),
        }
    }

    /// Returns the models; `None` in a program without engines.
    pub(super) fn models(&self) -> Option<Arc<dyn RewriteModels>> {
        self.models.clone()
    }

    /// Returns the model of the settings, or else of the panel. `None` before the panel knows one.
    fn model(&self, cx: &App) -> Option<String> {
        let setting = cx.settings().inline_edit.model.trim();
        if !setting.is_empty() && setting != PANEL {
            return Some(setting.to_owned());
        }
        let panel = self.panel.upgrade()?;
        let model = panel.read(cx).model().to_owned();
        Some(model).filter(|model| !model.is_empty())
    }

    /// Returns the name of the model, as it is shown.
    pub(super) fn model_name(&self, cx: &App) -> SharedString {
        let Some(model) = self.model(cx) else {
            return "Default model".into();
        };
        let panel = self.panel.upgrade();
        let name = panel.and_then(|panel| {
            let entries = &panel.read(cx).models().models;
            let entry = entries.iter().find(|entry| entry.id == model)?;
            Some(entry.name.clone())
        });
        name.unwrap_or(model).into()
    }

    /// Builds the request for the lines of a text, which are at `span` now.
    pub(super) fn query(
        &self,
        model: &DocumentModel,
        (region, span): (&RewriteRegion, Span),
        earlier: &[EarlierRewrite],
        instruction: &str,
        cx: &App,
    ) -> RewriteQuery {
        let file = model.path().cloned();
        let root = self.root.as_ref();
        let path = file.as_ref().map(|file| {
            let relative = root.and_then(|root| file.relative_to(root));
            path_text(relative.unwrap_or(file.as_path()))
        });
        let text = model.snapshot();
        let problems = model.diagnostics_in(span).into_iter().map(|placed| {
            let row = text.point_at(placed.span.start).row;
            format!("line {}: {}", row.0 + 1, placed.diagnostic.message)
        });
        RewriteQuery {
            rewrite: LineRewrite {
                path: path.unwrap_or_default(),
                language: model.language().map(|it| it.name().to_owned()),
                region: region.clone(),
                problems: problems.collect(),
                rules: Vec::new(),
                earlier: earlier.to_vec(),
                instruction: instruction.to_owned(),
            },
            model: self.model(cx),
            file,
            root: root.cloned(),
        }
    }
}
