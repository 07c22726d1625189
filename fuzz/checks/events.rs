//! Any bytes are events of JSON or take a closer look, and reading them never panics.

use std::sync::LazyLock;

use rankscope_log::blocks::batch::Batch;
use rankscope_log::blocks::list::Limits;
use rankscope_log::logged::events::Span;
use rankscope_log::logged::json;
use rankscope_log::logged::names::Names;
use rankscope_log::logged::objects::Decoder;

static DECODER: LazyLock<Decoder> = LazyLock::new(|| {
    let names = |pairs: &[(&'static str, &'static str)]| Names::new(pairs.iter().copied()).unwrap();
    let limits = Limits {
        items: 100,
        id_bytes: 64,
        attributes: 10,
        name_bytes: 32,
        value_bytes: 64,
        labels: 10,
        rank: 1000,
        depth: 8,
    };
    let rankings = [
        ("event_id", "event_id"),
        ("ranking_id", "ranking_id"),
        ("time", "time"),
        ("query", "query_key"),
        ("user_id", "user_id"),
        ("model", "model"),
        ("version", "version"),
        ("environment", "environment"),
        ("attributes", "attributes"),
        ("items", "items"),
    ];
    let items = [("id", "doc_id"), ("rank", "rank"), ("score", "score"), ("rel", "relevance")];
    let columns = [("doc_ids", "doc_id"), ("scores", "score"), ("ranks", "rank")];
    let labels = [
        ("ranking_id", "ranking_id"),
        ("doc_id", "doc_id"),
        ("time", "time"),
        ("labels", "labels"),
        ("value", "value"),
    ];
    Decoder {
        limits,
        rankings: names(&rankings),
        columns: names(&columns),
        items: names(&items),
        labels: names(&labels),
        lists: names(&[("items", "items")]),
        moved: Vec::new(),
    }
});

/// Reads some bytes as one text, and as a list of them.
pub fn check(data: &[u8]) {
    let span = Span { from: i64::MIN / 2, to: i64::MAX / 2 };
    let whole = [data];
    let parts = json::split(data).unwrap_or_default();
    for texts in [&whole[..], &parts[..]] {
        for decoded in [DECODER.read_rankings(texts, span), DECODER.read_labels(texts, span)] {
            let batch = &decoded.batch;
            assert_eq!(batch.counts.len() + decoded.left.len(), texts.len());
            let said: usize = decoded.remarks.iter().map(|(_, objects)| objects).sum();
            assert_eq!(said, batch.counts.len());
            let events: i64 = batch.counts.iter().sum();
            assert_eq!(usize::try_from(events), Ok(batch.len()));
            let known =
                |&code: &i64| usize::try_from(code).is_ok_and(|at| at < batch.contexts.len());
            assert!(batch.rankings.contexts.iter().all(known));
            let sent = Batch::from_bytes(&batch.to_bytes()).unwrap();
            assert_eq!(sent.to_bytes(), batch.to_bytes());
        }
    }
}
