//! The peers: async-graphql's static types over finished rows, and hand-written JSON. Both use the
//! HTTP stack of our server, without its access checks, counters and timeouts.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;

use async_graphql::{EmptyMutation, EmptySubscription, Enum, ID, Object, Schema, SimpleObject};
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Router, http};
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::wrk::Target;

/// A finished row.
#[derive(Clone, SimpleObject)]
pub(crate) struct Row {
    schedule_id: ID,
    kind: Kind,
    status: Status,
    fire_at: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
enum Kind {
    Message,
}

#[derive(Clone, Copy, PartialEq, Eq, Enum)]
enum Status {
    Pending,
}

impl Row {
    pub(crate) fn new(schedule_id: String, fire_at: String) -> Row {
        Row { schedule_id: ID(schedule_id), kind: Kind::Message, status: Status::Pending, fire_at }
    }
}

struct Root(Arc<Vec<Row>>);

#[Object]
impl Root {
    async fn schedules(&self) -> &[Row] {
        &self.0
    }
}

type Static = Schema<Root, EmptyMutation, EmptySubscription>;

/// A server of finished rows.
pub(crate) struct Peer {
    address: SocketAddr,
    /// Dropping it ends its threads.
    _runtime: Runtime,
}

impl Peer {
    pub(crate) fn start(rows: Vec<Row>) -> Peer {
        let rows = Arc::new(rows);
        let schema = Schema::new(Root(Arc::clone(&rows)), EmptyMutation, EmptySubscription);
        let router = Router::new()
            .route("/graphql", post(by_schema).with_state(schema))
            .route("/hand", post(by_hand).with_state(rows));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            // As many threads as our server.
            .worker_threads(std::thread::available_parallelism().map_or(1, usize::from).min(4))
            .enable_all()
            .build()
            .expect("threads");
        let listener = runtime.block_on(TcpListener::bind(("127.0.0.1", 0))).expect("a port");
        let address = listener.local_addr().expect("an address");
        runtime.spawn(serve(listener, router));
        Peer { address, _runtime: runtime }
    }

    pub(crate) fn graphql(&self) -> (&'static str, Target) {
        let query = "{ schedules { scheduleId kind status fireAt } }";
        ("GraphQL, async-graphql's static types", self.target("/graphql", query))
    }

    pub(crate) fn by_hand(&self) -> (&'static str, Target) {
        ("JSON by hand", self.target("/hand", "{ schedules }"))
    }

    fn target(&self, path: &'static str, query: &str) -> Target {
        let body = serde_json::json!({ "query": query }).to_string();
        // A token that nobody reads, so that the requests are as long as ours.
        let tokens = vec!["0".repeat(64)];
        Target { address: self.address, path, content_type: "application/json", body, tokens }
    }
}

async fn serve(listener: TcpListener, router: Router) {
    while let Ok((stream, _)) = listener.accept().await {
        let router = router.clone();
        let _ = stream.set_nodelay(true);
        tokio::spawn(async move {
            let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
                let router = router.clone();
                async move {
                    Ok::<_, Infallible>(
                        TowerToHyperService::new(router).call(request.map(Body::new)).await.into_response(),
                    )
                }
            });
            let protocols = Builder::new(TokioExecutor::new());
            let _ = protocols.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn by_schema(State(schema): State<Static>, body: Bytes) -> Response {
    let request: async_graphql::Request = serde_json::from_slice(&body).expect("a request");
    json(serde_json::to_vec(&schema.execute(request).await).expect("JSON"))
}

async fn by_hand(State(rows): State<Arc<Vec<Row>>>, body: Bytes) -> Response {
    let request: async_graphql::Request = serde_json::from_slice(&body).expect("a request");
    // Parsed and not used: parsing the request is part of any server's work.
    drop(request);
    let mut text = String::with_capacity(16_384);
    text.push_str("{\"data\":{\"schedules\":[");
    for (place, row) in rows.iter().enumerate() {
        text.push_str(if place > 0 { "," } else { "" });
        let _ = write!(
            text,
            "{{\"scheduleId\":\"{}\",\"kind\":\"{}\",\"status\":\"{}\",\"fireAt\":\"{}\"}}",
            row.schedule_id.as_str(),
            match row.kind {
                Kind::Message => "MESSAGE",
            },
            match row.status {
                Status::Pending => "PENDING",
            },
            row.fire_at
        );
    }
    text.push_str("]}}");
    json(text.into_bytes())
}

fn json(text: Vec<u8>) -> Response {
    let kind = http::HeaderValue::from_static("application/json");
    ([(CONTENT_TYPE, kind)], text).into_response()
}
