//! Images attached to the prompt: pasted, dropped, restored with a draft or given back.
//!
//! Invariant: an image that is still being prepared or cannot be sent is never left out silently;
//! it keeps the prompt from being sent until it is ready or removed.
//! Start at `ComposerPanel::paste_images`.

use agent::record::StoredPart;
use agent::session::UserPrompt;
use agent::stored_parts;
use base::{AbsPath, LineFeeds, path_text, printable};
use gpui_kit::{
    AnyElement, AppContext as _, ClipboardEntry, ClipboardItem, Context, ExternalPaths,
    InteractiveElement as _, IntoElement as _, ParentElement as _, Role,
    StatefulInteractiveElement as _, Styled as _, Task, TestSupportExt as _, Window, div, px,
};
use model::{MessagePart, PartContent};
use ui::{ActiveTheme as _, Icon, IconButton, Label, dp};

use super::ComposerPanel;
use crate::agents::Error;
use crate::prompt_image::{ImageProblem, PreparedImage};

/// The largest image file that is read, in bytes.
const MAX_FILE: u64 = 64 << 20;
/// File endings of images.
const ENDINGS: [&str; 6] = ["png", "jpg", "jpeg", "gif", "webp", "bmp"];

/// The images attached to the prompt.
#[derive(Default)]
pub(super) struct PromptImages {
    images: Vec<AttachedImage>,
    last_id: u64,
    /// A model, and whether it accepts images; `None` if that is unknown.
    support: Option<(String, Option<bool>)>,
    check: Option<Task<()>>,
}

struct AttachedImage {
    id: u64,
    name: String,
    state: ImageState,
}

enum ImageState {
    Preparing {
        _task: Task<()>,
    },
    Ready(PreparedImage),
    /// The reason as the end of a sentence that begins with the name.
    Failed(String),
}

/// The reason why an image cannot be attached.
#[derive(Debug, thiserror::Error)]
enum AttachError {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(Error),
    /// The content cannot be sent.
    #[error(transparent)]
    Unusable(#[from] ImageProblem),
}

impl PromptImages {
    /// Whether no image is attached.
    pub(super) fn is_empty(&self) -> bool {
        self.images.is_empty()
    }

    /// Returns the images in the form in which drafts are kept.
    pub(super) fn stored(&self) -> Vec<StoredPart> {
        let parts = self.ready().map(|image| image.content.clone());
        let parts = parts.map(MessagePart::new);
        parts
            .filter_map(|part| stored_parts::to_stored(&part))
            .collect()
    }

    /// Replaces the images by those of a draft.
    pub(super) fn restore(&mut self, stored: &[StoredPart]) {
        self.images.clear();
        self.add_ready(
            stored
                .iter()
                .map(|part| stored_parts::to_part(part).content),
        );
    }

    /// Adds images that came back with a prompt.
    pub(super) fn add_ready(&mut self, images: impl IntoIterator<Item = PartContent>) {
        for image in images.into_iter().filter_map(PreparedImage::restored) {
            self.push("Image".to_owned(), |_| ImageState::Ready(image));
        }
    }

    fn ready(&self) -> impl Iterator<Item = &PreparedImage> {
        self.images.iter().filter_map(|image| match &image.state {
            ImageState::Ready(image) => Some(image),
            _ => None,
        })
    }

    fn push(&mut self, name: String, state: impl FnOnce(u64) -> ImageState) {
        self.last_id += 1;
        let id = self.last_id;
        self.images.push(AttachedImage {
            id,
            name,
            state: state(id),
        });
    }

    /// Returns the reason why the prompt cannot be sent with its images to `model`.
    fn obstacle(&self, model: &str) -> Option<String> {
        let image = self.images.iter().find_map(|image| match &image.state {
            ImageState::Preparing { .. } => {
                Some(format!("{} is still being prepared.", image.name))
            }
            ImageState::Failed(why) => Some(format!("{} {why}. Remove it to send.", image.name)),
            ImageState::Ready(_) => None,
        });
        let is_refused =
            !self.is_empty() && matches!(&self.support, Some((of, Some(false))) if of == model);
        image.or_else(|| {
            is_refused.then(|| {
                format!("{model} takes no images. Choose another model, or remove the images.")
            })
        })
    }
}

impl ComposerPanel {
    /// Attaches the images of the clipboard, and mentions its files. Returns whether there are any.
    pub(super) fn paste_images(
        &mut self,
        item: &ClipboardItem,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> bool {
        let mut is_taken = false;
        for entry in item.entries() {
            match entry {
                ClipboardEntry::Image(image) if !image.bytes.is_empty() => {
                    is_taken = true;
                    let bytes = image.bytes.clone();
                    self.attach("Pasted image".to_owned(), Task::ready(Ok(bytes)), cx);
                }
                ClipboardEntry::ExternalPaths(paths) => {
                    is_taken = true;
                    self.drop_files(paths, window, cx);
                }
                _ => {}
            }
        }
        is_taken
    }

    /// Attaches the images among dropped files, and mentions the others.
    pub(super) fn drop_files(
        &mut self,
        paths: &ExternalPaths,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        for path in paths.paths() {
            let Some(path) = AbsPath::new(path) else {
                continue;
            };
            let name = path.name();
            let ending = name.rsplit_once('.').map(|(_, it)| it.to_lowercase());
            let is_image = ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str()));
            match (&self.agents, is_image) {
                (Some(agents), true) => {
                    let read = agents.read_file(path, MAX_FILE);
                    self.attach(name, cx.background_spawn(read), cx);
                }
                _ if self.machine().is_some() => self.refuse_file(&name, cx),
                _ => {
                    let inside = self.root.as_ref();
                    let inside = inside.and_then(|root| path.relative_to(root));
                    let name = inside.map_or_else(|| path.to_string(), path_text);
                    self.mention_at_caret(&name, window, cx);
                }
            }
        }
    }

    fn attach(&mut self, name: String, read: Task<Result<Vec<u8>, Error>>, cx: &mut Context<Self>) {
        let name = printable(&name, LineFeeds::Escape).into_owned();
        self.images.push(name, |id| ImageState::Preparing {
            _task: cx.spawn(async move |this, cx| {
                let prepared = match read.await {
                    Ok(bytes) => {
                        let prepare = async move { PreparedImage::of(&bytes) };
                        let prepared = cx.background_executor().spawn(prepare).await;
                        prepared.map_err(AttachError::from)
                    }
                    Err(error) => Err(AttachError::Unreadable(error)),
                };
                // The panel may be gone by then.
                this.update(cx, |this, cx| this.image_prepared(id, prepared, cx))
                    .ok();
            }),
        });
        self.check_image_model(cx);
        cx.notify();
    }

    fn image_prepared(
        &mut self,
        id: u64,
        prepared: Result<PreparedImage, AttachError>,
        cx: &mut Context<Self>,
    ) {
        if let Some(image) = self.images.images.iter_mut().find(|image| image.id == id) {
            image.state = match prepared {
                Ok(prepared) => ImageState::Ready(prepared),
                Err(error) => ImageState::Failed(error.to_string()),
            };
            self.draft_changed(cx);
            cx.notify();
        }
    }

    /// Asks whether the model of the next prompt accepts images.
    pub(super) fn check_image_model(&mut self, cx: &mut Context<Self>) {
        let model = self.model().to_owned();
        let is_known = matches!(&self.images.support, Some((of, _)) if *of == model);
        let Some(agents) = self.agents.clone().filter(|_| !is_known) else {
            return;
        };
        if self.images.is_empty() {
            return;
        }
        self.images.check = Some(cx.spawn(async move |this, cx| {
            let support = agents.takes_images(model.clone()).await;
            // The panel may be gone by then.
            this.update(cx, |this, cx| {
                this.images.support = Some((model, support));
                cx.notify();
            })
            .ok();
        }));
    }

    /// Takes the images for a prompt. Returns `None`, and says why, if one cannot be sent.
    pub(super) fn take_images(&mut self, cx: &mut Context<Self>) -> Option<Vec<PartContent>> {
        if let Some(obstacle) = self.images.obstacle(self.model()) {
            self.error = Some(obstacle);
            cx.notify();
            return None;
        }
        let images = self.images.ready().map(|image| image.content.clone());
        let images = images.collect();
        self.images.images.clear();
        Some(images)
    }

    /// Attaches the images of prompts that came back.
    pub(super) fn return_images<'a>(&mut self, prompts: impl IntoIterator<Item = &'a UserPrompt>) {
        for prompt in prompts {
            self.images.add_ready(prompt.images.iter().cloned());
        }
    }

    /// Renders the attached images as chips. Returns `None` if there are none.
    pub(super) fn render_images(&self, cx: &mut Context<Self>) -> Option<AnyElement> {
        if self.images.is_empty() {
            return None;
        }
        let colors = cx.theme().colors;
        let chips = self.images.images.iter().map(|image| {
            let id = image.id;
            let (about, color) = match &image.state {
                ImageState::Preparing { .. } => ("preparing\u{2026}".to_owned(), colors.muted),
                ImageState::Ready(image) => (about(image), colors.muted),
                ImageState::Failed(why) => (why.clone(), colors.error),
            };
            div()
                .id(("image", id))
                .role(Role::Group)
                .aria_label(format!("{}, {about}", image.name))
                .test_support()
                .flex()
                .items_center()
                .gap(dp(4.0))
                .px(dp(4.0))
                .rounded(px(4.0))
                .border_1()
                .border_color(colors.border)
                .child(Icon::FileImage.color(color))
                .child(Label::new(image.name.clone()).small())
                .child(Label::new(about).tiny().color(color))
                .child(
                    IconButton::new(("image-remove", id), Icon::Close, "Remove image")
                        .small()
                        .on_click(cx.listener(move |this, _, _, cx| {
                            this.images.images.retain(|image| image.id != id);
                            this.draft_changed(cx);
                            cx.notify();
                        })),
                )
        });
        let chips: Vec<_> = chips.collect();
        let obstacle = self.images.obstacle(self.model());
        let obstacle = obstacle.map(|it| Label::new(it).small().color(colors.warning));
        Some(
            div()
                .flex()
                .flex_col()
                .gap(dp(4.0))
                .child(div().flex().flex_wrap().gap(dp(4.0)).children(chips))
                .children(obstacle)
                .into_any_element(),
        )
    }
}

/// The size of an image in pixels and bytes.
fn about(image: &PreparedImage) -> String {
    let (width, height) = image.size;
    let kilobytes = image.bytes.div_ceil(1024);
    format!("{width}\u{d7}{height}, {kilobytes} KB")
}
