//! Sizes of a prompt by part, for the fill of a model's context.

use model::ToolSpec;

use super::Transcript;
use super::segments::{SegmentRole, SegmentSource, part_bytes, spec_text};
use crate::fill::{FillPart, PartSizes};

impl Transcript {
    /// Returns the sizes of the prompt's parts, counted as `PromptFingerprint::bytes` counts.
    pub fn part_sizes(&self, tools: &[(String, ToolSpec)]) -> PartSizes {
        let mut sizes = PartSizes::default();
        for (_, spec) in tools {
            sizes.add(FillPart::Tools, spec_text(spec).len() as u64);
        }
        self.walk(&mut |piece| {
            let part = match piece.source {
                SegmentSource::Said(origin) => {
                    FillPart::of(origin, piece.role == SegmentRole::System)
                }
                SegmentSource::Tool { tool, .. } => FillPart::of_result(tool),
                SegmentSource::Model(_) | SegmentSource::Harness => FillPart::Messages,
            };
            sizes.add(part, part_bytes(&piece.part));
        });
        sizes
    }
}
