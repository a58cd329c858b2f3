//! Answers of models: any bytes, whole and in pieces, give the same events and one last one.

use model::{
    CacheMark, Event, Fim, ModelId, Request, Sampling, SystemBlock, TokenCount, ToolChoice,
    ToolInput, ToolSpec,
};
use router::wire::{Decoder, Dialect, FimOptions, FimWire, Path, Site, Wire, decoder, fim_decoder};

/// Reads `data` as an answer on this wire.
pub fn chat(wire: Wire, data: &[u8]) {
    let mut dialect = Dialect::default();
    dialect.reasoning_details = true;
    check(data, || decoder(wire, &dialect, &request(), site()));
}

/// Reads `data` as what fills a gap.
pub fn gap(wire: FimWire, data: &[u8]) {
    let fim = FimOptions {
        wire,
        path: Path::Root("x".to_owned()),
        template: None,
        most_output: 0,
        stop_limit: 4,
    };
    let request = Fim {
        model: model(),
        prefix: String::new(),
        suffix: String::new(),
        files: Vec::new(),
        max_output: TokenCount(10),
        sampling: Sampling::default(),
        stop: Vec::new(),
    };
    check(data, || fim_decoder(&fim, &request, site()));
}

fn check(data: &[u8], decoder: impl Fn() -> Decoder) {
    let mut whole = decoder();
    let mut events = whole.feed(data);
    events.extend(whole.finish());
    let last = events.iter().filter(|event| event.is_last()).count();
    assert_eq!(last, 1);
    assert!(events.last().is_some_and(Event::is_last));

    let mut decoder = decoder();
    let mut pieces = Vec::new();
    let mut rest = data;
    while let Some(first) = rest.first() {
        let cut = usize::from(first % 16 + 1).min(rest.len());
        pieces.extend(decoder.feed(&rest[..cut]));
        rest = &rest[cut..];
    }
    pieces.extend(decoder.finish());
    assert_eq!(pieces, events);
}

fn model() -> ModelId {
    ModelId {
        provider: "maker".to_owned(),
        model: "m".to_owned(),
    }
}

fn site() -> Site {
    Site {
        provider: "Maker".to_owned(),
        host: "maker.example".to_owned(),
        model: "m".to_owned(),
    }
}

fn request() -> Request {
    Request {
        model: model(),
        system: vec![SystemBlock {
            text: "s".to_owned(),
            cache: CacheMark::None,
        }],
        messages: Vec::new(),
        // Free text comes wrapped in JSON: its reader is under test, too.
        tools: vec![ToolSpec {
            name: "patch".to_owned(),
            description: String::new(),
            input: ToolInput::Text { grammar: None },
        }],
        tool_choice: ToolChoice::Auto,
        parallel_tools: true,
        max_output: TokenCount(10),
        effort: None,
        sampling: Sampling::default(),
        response_schema: None,
        stop: Vec::new(),
        conversation: None,
    }
}
