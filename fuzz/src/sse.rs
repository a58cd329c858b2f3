//! Decodes answers of models: any bytes, whole or divided, yield the same events and exactly one
//! last event.

use model::{
    CacheMark, Fim, ModelId, ModelRequest, Sampling, StreamEvent, SystemBlock, TokenCount,
    ToolChoice, ToolInput, ToolSpec,
};
use router::wire::{
    ChatDialect, Decoder, EndpointPath, FimOptions, FimWire, RequestTarget, WireProtocol, decoder,
    fim_decoder,
};

/// Decodes `data` as an answer of `wire`.
pub fn chat(wire: WireProtocol, data: &[u8]) {
    let mut dialect = ChatDialect::default();
    dialect.reasoning_details = true;
    check(data, || decoder(wire, &dialect, &request(), target()));
}

/// Decodes `data` as a fill-in-the-middle answer of `wire`.
pub fn gap(wire: FimWire, data: &[u8]) {
    let fim = FimOptions {
        wire,
        path: EndpointPath::Root("x".to_owned()),
        template: None,
        max_output: 0,
        stop_limit: 4,
        edit: None,
    };
    let request = Fim::gap(model(), "", "", TokenCount(10));
    check(data, || fim_decoder(&fim, &request, target()));
}

fn check(data: &[u8], decoder: impl Fn() -> Decoder) {
    let mut whole = decoder();
    let mut events = whole.feed(data);
    events.extend(whole.finish());
    let last = events.iter().filter(|event| event.is_last()).count();
    assert_eq!(last, 1);
    assert!(events.last().is_some_and(StreamEvent::is_last));

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

fn target() -> RequestTarget {
    RequestTarget {
        provider: "Maker".to_owned(),
        host: "maker.example".to_owned(),
        model: "m".to_owned(),
    }
}

fn request() -> ModelRequest {
    ModelRequest {
        model: model(),
        system: vec![SystemBlock {
            text: "s".to_owned(),
            cache: CacheMark::None,
        }],
        messages: Vec::new(),
        // Free text arrives wrapped in JSON, so this covers its reader as well.
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
        omit: Vec::new(),
    }
}
