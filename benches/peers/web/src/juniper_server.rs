//! A juniper server on the HTTP stack of our server, without its access checks, counters and
//! timeouts.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::rows::by_juniper::{Schema, schema};
use crate::wrk::{self, Load};

pub(crate) struct Server {
    address: SocketAddr,
    /// Dropping it ends its threads.
    _runtime: Runtime,
}

impl Server {
    pub(crate) fn start() -> Server {
        let router = Router::new().route("/graphql", post(answer).with_state(Arc::new(schema())));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            // As many threads as our server.
            .worker_threads(std::thread::available_parallelism().map_or(1, usize::from).min(4))
            .enable_all()
            .build()
            .expect("threads");
        let listener = runtime.block_on(TcpListener::bind(("127.0.0.1", 0))).expect("a port");
        let address = listener.local_addr().expect("an address");
        runtime.spawn(serve(listener, router));
        Server { address, _runtime: runtime }
    }

    pub(crate) fn ask(&self, seconds: u32) -> Load {
        wrk::run(&crate::target(self.address), seconds)
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
                    let answer = TowerToHyperService::new(router).call(request.map(Body::new)).await;
                    Ok::<_, Infallible>(answer.into_response())
                }
            });
            let protocols = Builder::new(TokioExecutor::new());
            let _ = protocols.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn answer(State(schema): State<Arc<Schema>>, body: Bytes) -> Response {
    let request: juniper::http::GraphQLRequest = serde_json::from_slice(&body).expect("a request");
    let answer = request.execute_sync(&schema, &());
    let text = serde_json::to_vec(&answer).expect("JSON");
    ([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], text).into_response()
}
