//! Converts the output of external tools to results: long texts are truncated and saved, and images
//! are validated if the model accepts them.
//!
//! Independent of the tools' source. Start at `answer`.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::future::BoxFuture;
use model::PartContent;

use super::{ToolStates, blocking, truncate};
use crate::images::{self, ImageDefect, ImageLimits};
use crate::outcome::CallOutcome;
use crate::tool::{ToolContext, ToolResult};

/// Maximum number of images taken from one result.
const PICTURES: usize = 8;

/// The output of an external tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalOutput {
    /// The class of the result.
    pub outcome: CallOutcome,
    /// Its text, which names the images in place.
    pub text: String,
    /// Its images, in order.
    pub pictures: Vec<ExternalImage>,
}

/// An image as received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalImage {
    /// The declared media type, such as `image/png`.
    pub media_type: String,
    /// The bytes in base64.
    pub data: String,
}

/// Converts the output of an external tool to the result of a call: a long text is truncated and
/// saved in full, images the model cannot take are left out with a note. Works on a blocking
/// thread.
pub fn answer(
    states: &Arc<ToolStates>,
    context: &ToolContext,
    said: ExternalOutput,
) -> BoxFuture<'static, ToolResult> {
    let (states, context) = (states.clone(), context.clone());
    blocking(move || {
        let ExternalOutput {
            outcome,
            mut text,
            pictures,
        } = said;
        let (taken, left_out) = take(&context, pictures);
        for why in left_out {
            text.push_str(&format!("\n[{why}]"));
        }
        let mut answer = truncate::answer(&context, &states.of(&context), text);
        answer.outcome = outcome;
        answer.content.extend(taken);
        answer
    })
}

/// Returns the images the model accepts, and the reasons for omitting others.
fn take(context: &ToolContext, pictures: Vec<ExternalImage>) -> (Vec<PartContent>, Vec<String>) {
    let bounds = ImageLimits::of(&context.profile);
    let (mut taken, mut left_out) = (Vec::new(), Vec::new());
    for (ix, picture) in pictures.into_iter().enumerate() {
        let number = ix + 1;
        let refused = match picture.content(&bounds) {
            _ if context.profile.vision == Some(false) => {
                "this model does not see pictures".to_owned()
            }
            _ if ix >= PICTURES => "it is one too many".to_owned(),
            Ok(content) => {
                taken.push(content);
                continue;
            }
            Err(why) => format!("it {why}"),
        };
        left_out.push(format!("picture {number} is left out: {refused}"));
    }
    (taken, left_out)
}

impl ExternalImage {
    /// Decodes and validates the image; its media type is that of its bytes, not the declared one.
    /// Fails with the reason for which the model does not get it.
    fn content(&self, bounds: &ImageLimits) -> Result<PartContent, ImageDefect> {
        if self.data.len() as u64 > bounds.encoded.saturating_mul(2) {
            return Err(ImageDefect::LargerThan(bounds.bytes()));
        }
        // Some servers break base64 into lines.
        let data: String = self.data.split_ascii_whitespace().collect();
        let bytes = STANDARD.decode(data).map_err(|_| ImageDefect::NotBase64)?;
        let media_type = images::check(&bytes, bounds)?.media_type.to_owned();
        Ok(PartContent::Image {
            media_type,
            bytes: bytes.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use host::{FakeClock, FakeFiles};
    use model::Profile;

    use super::*;
    use crate::outcome::Detail;
    use crate::tools::tests::context_of;

    fn context() -> ToolContext {
        let files = Arc::new(FakeFiles::new());
        for folder in ["/r", "/state"] {
            files.folder(&base::AbsPath::new(folder).expect("absolute"));
        }
        context_of(files, Arc::new(FakeClock::at(0)), "/r")
    }

    fn picture(media_type: &str, bytes: &[u8]) -> ExternalImage {
        ExternalImage {
            media_type: media_type.to_owned(),
            data: STANDARD.encode(bytes),
        }
    }

    fn said(text: impl Into<String>, pictures: Vec<ExternalImage>) -> ExternalOutput {
        ExternalOutput {
            outcome: CallOutcome::Ok,
            text: text.into(),
            pictures,
        }
    }

    #[tokio::test]
    async fn a_long_text_is_cut_and_kept_whole() {
        let (states, context) = (Arc::default(), context());
        let long = "a line of it\n".repeat(10_000);
        let found = answer(&states, &context, said(long.clone(), Vec::new())).await;
        assert_eq!(found.detail, Some(Detail::OutputTruncated));
        assert!(found.text().contains("whole output: out-1"), "{found:?}");
        let path = states.of(&context).whole.path("out-1").expect("a handle");
        let kept = context
            .sources
            .files
            .read(&path, 1 << 20)
            .expect("it is kept");
        assert_eq!(kept, long.as_bytes());
    }

    #[tokio::test]
    async fn images_are_validated_and_need_a_vision_model() {
        let mut context = context();
        let states = Arc::default();
        let png = picture("image/jpeg", &crate::images::tests::png());
        let all = vec![
            png.clone(),
            picture("image/png", b"GIF8"),
            picture("image/svg+xml", b"<svg/>"),
        ];
        let found = answer(&states, &context, said("look", all.clone())).await;
        let images = |answer: &ToolResult| {
            let is_image = |it: &&PartContent| matches!(it, PartContent::Image { .. });
            answer.content.iter().filter(is_image).count()
        };
        assert_eq!(images(&found), 1);
        let why = "is left out: it is not a PNG, JPEG, GIF or WebP image]";
        let text = format!("look\n[picture 2 {why}\n[picture 3 {why}");
        assert_eq!(found.text(), text);
        let many = vec![png; PICTURES + 1];
        let found = answer(&states, &context, said("", many)).await;
        assert_eq!(images(&found), PICTURES);
        context.profile = Arc::new(Profile {
            vision: Some(false),
            ..Profile::harmless()
        });
        let found = answer(&states, &context, said("", all)).await;
        assert_eq!(images(&found), 0);
        assert!(found.text().contains("does not see pictures"), "{found:?}");
    }
}
