//! Measures GraphQL servers in process, from the query's text to the answer's text.

use std::future::Future;
use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use crate::QUERY;
use crate::rows::{ROWS, by_hand, by_juniper, statically, texts};

/// Microseconds per query; `None` for an unknown peer.
pub(crate) fn measure(peer: &str, is_quick: bool) -> Option<f64> {
    let count = if is_quick { 100 } else { 5_000 };
    match peer {
        "juniper" => {
            let schema = by_juniper::schema();
            Some(each(count, || {
                let request = juniper::http::GraphQLRequest::new(QUERY.to_owned(), None, None);
                let answer: juniper::http::GraphQLResponse = request.execute_sync(&schema, &());
                serde_json::to_string(&answer).expect("JSON")
            }))
        }
        "async-graphql" => {
            let schema = statically::schema();
            Some(each(count, || serde_json::to_string(&now(schema.execute(QUERY))).expect("JSON")))
        }
        "hand" => {
            let rows: Vec<_> = (0..ROWS).map(texts).collect();
            Some(each(count, || by_hand(black_box(&rows))))
        }
        _ => None,
    }
}

fn each(count: u32, answer: impl Fn() -> String) -> f64 {
    let said = answer();
    // A query that fails would be fast.
    assert_eq!(said.matches("\"PENDING\"").count(), ROWS, "{said}");
    let begin = Instant::now();
    for _ in 0..count {
        black_box(answer());
    }
    begin.elapsed().as_secs_f64() * 1e6 / f64::from(count)
}

/// Runs a future that never waits: one poll completes it.
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("nothing waits"),
    }
}
