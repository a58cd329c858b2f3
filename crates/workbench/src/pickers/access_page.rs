//! The rights of agents in a folder: one list each for permissions, MCP servers, and trust with hooks and
//! instructions.
//!
//! A row is a fact, an action, or both; the pane beside the list shows the whole text of the selected one.
//! Invariant: nothing is allowed in here before the user saw all of its text, which `Workbench` asks about.
//! Start at `AccessPage`; `rows` are plain data.

pub(crate) mod rows;

use std::sync::Arc;

use base::AbsPath;
use composer_panel::agents::{AccessChange, AgentService, Error, FolderAccess};
use gpui_kit::{
    AnyElement, App, Context, InteractiveElement as _, IntoElement as _, ParentElement as _, Role,
    SharedString, StatefulInteractiveElement as _, Styled as _, Task, TestSupportExt as _,
    WeakEntity, Window, div,
};
use ui::picker::{
    AfterConfirm, Confirm, ConfirmKind, FooterHint, Picker, PickerDelegate, PickerRow,
};
use ui::{ActiveTheme as _, Label, dp};

use self::rows::{AccessAction, AccessRow, PageContext};
use crate::workbench::Workbench;
use crate::workbench::agent_access;

/// Height of the pane beside the list, in design pixels: that of the longest list.
const PANE_HEIGHT: f32 = 336.0;

/// The part of the rights that a list shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessTopic {
    /// Kept rules, and the sandbox.
    Permissions,
    /// MCP servers.
    Servers,
    /// Trust, hooks and instructions.
    Trust,
}

/// Picker delegate that shows the rights of agents, and changes them.
pub(crate) struct AccessPage {
    workbench: WeakEntity<Workbench>,
    agents: Arc<dyn AgentService>,
    topic: AccessTopic,
    context: PageContext,
    rows: Vec<AccessRow>,
    /// Indices of the rows that match the query.
    matching: Vec<usize>,
    /// The last query.
    query: String,
    /// The state of the latest change, or its error.
    status: Option<SharedString>,
    changing: Option<Task<()>>,
}

impl AccessPage {
    /// Creates the list of a topic with these rights.
    pub(crate) fn new(
        topic: AccessTopic,
        access: &FolderAccess,
        context: PageContext,
        agents: Arc<dyn AgentService>,
        workbench: WeakEntity<Workbench>,
    ) -> Self {
        let rows = rows::rows(topic, access, &context);
        Self {
            workbench,
            agents,
            topic,
            matching: (0..rows.len()).collect(),
            context,
            rows,
            query: String::new(),
            status: None,
            changing: None,
        }
    }

    fn matching(&self, query: &str) -> Vec<usize> {
        let query = query.trim().to_lowercase();
        let holds = |part: &str| part.to_lowercase().contains(&query);
        let is_match =
            |row: &AccessRow| holds(&row.title) || holds(&row.detail) || holds(&row.section);
        let all = self.rows.iter().enumerate();
        all.filter(|(_, row)| is_match(row))
            .map(|(ix, _)| ix)
            .collect()
    }

    fn matched(&self, ix: usize) -> Option<&AccessRow> {
        self.matching.get(ix).and_then(|ix| self.rows.get(*ix))
    }

    /// Applies a change; the list stays open and shows its effect.
    fn change(
        &mut self,
        change: AccessChange,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) {
        self.status = Some("Working\u{2026}".into());
        let root: AbsPath = self.context.root.clone();
        let changed = self.agents.change_access(root, change.clone());
        self.changing = Some(cx.spawn_in(window, async move |picker, cx| {
            let changed = changed.await;
            let shown = picker.update_in(cx, |picker, window, cx| {
                let delegate = picker.delegate_mut();
                delegate.changed(changed, &change, cx);
                picker.refresh(window, cx);
            });
            // The list may have been closed.
            shown.ok();
        }));
    }

    fn changed(
        &mut self,
        changed: Result<FolderAccess, Error>,
        change: &AccessChange,
        cx: &mut Context<Picker<Self>>,
    ) {
        match changed {
            Ok(access) => {
                self.rows = rows::rows(self.topic, &access, &self.context);
                self.status = None;
                if let Some(workbench) = self.workbench.upgrade() {
                    workbench.update(cx, |workbench, cx| {
                        agent_access::note_change(workbench, change, cx);
                    });
                }
            }
            Err(error) => self.status = Some(ui::foreign::one_line(error.to_string())),
        }
    }
}

impl PickerDelegate for AccessPage {
    type Found = Vec<usize>;

    fn name(&self) -> SharedString {
        match self.topic {
            AccessTopic::Permissions => "Permissions of agents",
            AccessTopic::Servers => "MCP servers",
            AccessTopic::Trust => "Trust, hooks and instructions",
        }
        .into()
    }

    fn placeholder(&self) -> SharedString {
        match self.topic {
            AccessTopic::Permissions => "Filter kept rules and the sandbox",
            AccessTopic::Servers => "Filter MCP servers and their tools",
            AccessTopic::Trust => "Filter trusted folders, hooks, rules and skills",
        }
        .into()
    }

    fn heading(&self) -> Option<SharedString> {
        Some(self.name())
    }

    fn search(
        &mut self,
        query: &str,
        _: &mut Window,
        _: &mut Context<Picker<Self>>,
    ) -> Task<Self::Found> {
        query.clone_into(&mut self.query);
        Task::ready(self.matching(query))
    }

    fn accept(&mut self, matching: Self::Found, _: &mut Context<Picker<Self>>) -> usize {
        self.matching = matching;
        0
    }

    fn count(&self) -> usize {
        self.matching.len()
    }

    fn sections(&self) -> Vec<(usize, SharedString)> {
        let mut sections: Vec<(usize, SharedString)> = Vec::new();
        for (place, ix) in self.matching.iter().enumerate() {
            let Some(row) = self.rows.get(*ix) else {
                continue;
            };
            let is_new = sections
                .last()
                .is_none_or(|(_, section)| *section != row.section);
            if is_new {
                sections.push((place, row.section.clone()));
            }
        }
        sections
    }

    fn nothing_found(&self, query: &str) -> SharedString {
        if !query.is_empty() {
            return "No matching entries".into();
        }
        match self.topic {
            AccessTopic::Permissions => "No rule is kept",
            AccessTopic::Servers => {
                "No MCP server: write them into mcp.json beside your settings, or .mcp.json of the project"
            }
            AccessTopic::Trust => "This folder has no hooks, rules or skills",
        }
        .into()
    }

    fn row(&self, ix: usize, _: &App) -> PickerRow {
        let Some(row) = self.matched(ix) else {
            return PickerRow::new("");
        };
        let shown = PickerRow::new(row.title.clone())
            .detail(row.detail.clone())
            .prose()
            .start(row.icon);
        let shown = match row.end {
            Some(end) => shown.end_text(end),
            None => shown,
        };
        match row.action {
            Some(_) => shown,
            None => shown.muted(),
        }
    }

    fn copy_text(&self, ix: usize) -> Option<String> {
        self.matched(ix).map(AccessRow::whole_text)
    }

    fn status(&self) -> Option<SharedString> {
        self.status.clone()
    }

    fn footer(&self) -> Vec<FooterHint> {
        vec![FooterHint::new(Confirm, "Choose")]
    }

    fn confirm(
        &mut self,
        ix: usize,
        _: ConfirmKind,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> AfterConfirm {
        let action = self.matched(ix).and_then(|row| row.action.clone());
        let (Some(action), Some(workbench)) = (action, self.workbench.upgrade()) else {
            return AfterConfirm::Stay;
        };
        if let AccessAction::Change(change) = action {
            self.change(change, window, cx);
            return AfterConfirm::Stay;
        }
        let (topic, query) = (self.topic, self.query.clone());
        // The picker closes first: the action may open a question in its place.
        window.defer(cx, move |window, cx| {
            workbench.update(cx, |workbench, cx| {
                agent_access::run_action(workbench, action, (topic, &query), window, cx);
            });
        });
        AfterConfirm::Close
    }

    fn preview(
        &self,
        ix: usize,
        _: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> Option<AnyElement> {
        let row = self.matched(ix)?;
        let text = ui::foreign::multi_line(row.whole_text());
        let pane = div()
            .id("access-details")
            .role(Role::Group)
            .aria_label(text.clone())
            .test_support()
            .h(dp(PANE_HEIGHT))
            .p(dp(12.0))
            .overflow_y_scroll()
            .flex()
            .flex_col()
            .gap(dp(8.0))
            .child(Label::new(row.section.clone()).small().muted())
            .child(
                div()
                    .text_size(dp(13.0))
                    .text_color(cx.theme().colors.text)
                    .child(text),
            );
        Some(pane.into_any_element())
    }
}
