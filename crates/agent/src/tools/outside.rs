//! Answers of tools that come from outside, in the form that answers of our own have: long texts are cut and kept
//! whole, pictures are taken where they are pictures and the model has eyes.
//!
//! Knows nothing of where the tools come from. Start at `answer`.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::future::BoxFuture;
use model::Content;

use super::{Rooms, blocking, cut};
use crate::outcome::Outcome;
use crate::picture::{self, Bounds};
use crate::tool::{Answer, ToolContext};

/// The most pictures that are taken from one answer.
const PICTURES: usize = 8;

/// What a tool from outside answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// How the call ended.
    pub outcome: Outcome,
    /// Its text. Pictures are named in it where they stand.
    pub text: String,
    /// Its pictures, in order.
    pub pictures: Vec<Picture>,
}

/// A picture as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// What it is called, such as `image/png`.
    pub media_type: String,
    /// Its bytes in base64.
    pub data: String,
}

/// The answer to a call, made of what came from outside.
pub fn answer(rooms: &Arc<Rooms>, context: &ToolContext, said: Said) -> BoxFuture<'static, Answer> {
    let (rooms, context) = (rooms.clone(), context.clone());
    blocking(move || {
        let Said {
            outcome,
            mut text,
            pictures,
        } = said;
        let (taken, left_out) = take(&context, pictures);
        for why in left_out {
            text.push_str(&format!("\n[{why}]"));
        }
        let mut answer = cut::answer(&context, &rooms.of(&context), text);
        answer.outcome = outcome;
        answer.content.extend(taken);
        answer
    })
}

/// The pictures that a model can be shown, and why it is not shown the others.
fn take(context: &ToolContext, pictures: Vec<Picture>) -> (Vec<Content>, Vec<String>) {
    let bounds = Bounds::of(&context.profile);
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

impl Picture {
    fn content(&self, bounds: &Bounds) -> Result<Content, String> {
        if self.data.len() as u64 > bounds.encoded.saturating_mul(2) {
            return Err(format!("is larger than {} bytes", bounds.bytes()));
        }
        // Some servers break base64 into lines.
        let data: String = self.data.split_ascii_whitespace().collect();
        let bytes = STANDARD
            .decode(data)
            .map_err(|_| "is not in base64".to_owned())?;
        let media_type = picture::check(&bytes, bounds)?.media_type.to_owned();
        Ok(Content::Image {
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

    fn picture(media_type: &str, bytes: &[u8]) -> Picture {
        Picture {
            media_type: media_type.to_owned(),
            data: STANDARD.encode(bytes),
        }
    }

    fn said(text: impl Into<String>, pictures: Vec<Picture>) -> Said {
        Said {
            outcome: Outcome::Ok,
            text: text.into(),
            pictures,
        }
    }

    #[tokio::test]
    async fn a_long_text_is_cut_and_kept_whole() {
        let (rooms, context) = (Arc::default(), context());
        let long = "a line of it\n".repeat(10_000);
        let found = answer(&rooms, &context, said(long.clone(), Vec::new())).await;
        assert_eq!(found.detail, Some(Detail::OutputTruncated));
        assert!(found.text().contains("whole output: out-1"), "{found:?}");
        let path = rooms.of(&context).whole.path("out-1").expect("a handle");
        let kept = context
            .sources
            .files
            .read(&path, 1 << 20)
            .expect("it is kept");
        assert_eq!(kept, long.as_bytes());
    }

    #[tokio::test]
    async fn pictures_are_taken_where_they_are_pictures_and_somebody_sees_them() {
        let mut context = context();
        let rooms = Arc::default();
        let png = picture("image/jpeg", &crate::picture::tests::png());
        let all = vec![
            png.clone(),
            picture("image/png", b"GIF8"),
            picture("image/svg+xml", b"<svg/>"),
        ];
        let found = answer(&rooms, &context, said("look", all.clone())).await;
        let images = |answer: &Answer| {
            let is_image = |it: &&Content| matches!(it, Content::Image { .. });
            answer.content.iter().filter(is_image).count()
        };
        assert_eq!(images(&found), 1);
        let why = "is left out: it is no PNG, JPEG, GIF or WebP]";
        let text = format!("look\n[picture 2 {why}\n[picture 3 {why}");
        assert_eq!(found.text(), text);
        let many = vec![png; PICTURES + 1];
        let found = answer(&rooms, &context, said("", many)).await;
        assert_eq!(images(&found), PICTURES);
        context.profile = Arc::new(Profile {
            vision: Some(false),
            ..Profile::harmless()
        });
        let found = answer(&rooms, &context, said("", all)).await;
        assert_eq!(images(&found), 0);
        assert!(found.text().contains("does not see pictures"), "{found:?}");
    }
}
