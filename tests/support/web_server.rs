//! A web server on loopback for components that send requests. The path selects the behavior; requests are recorded.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{Request, Response, header};
use futures_util::stream;
use serde_json::json;

/// A hook that runs while a request is answered; its argument is the request's number.
type RequestHook = Box<dyn Fn(usize) + Send>;

/// A running server; it ends with the test's runtime.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    state: Arc<ServerState>,
}

/// The recorded requests, and the hook.
#[derive(Default)]
struct ServerState {
    requests: Mutex<Vec<String>>,
    on_request: Mutex<Option<RequestHook>>,
}

impl Server {
    /// Starts the server.
    pub(crate) async fn start() -> Server {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a free port");
        let address = listener.local_addr().expect("an address");
        let state = Arc::new(ServerState::default());
        let router = Router::new().fallback(answer).with_state(state.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Server { address, state }
    }

    /// `127.0.0.1` and the port.
    pub(crate) fn authority(&self) -> String {
        self.address.to_string()
    }

    /// The URL of a page.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The recorded requests: method and path.
    pub(crate) fn received(&self) -> Vec<String> {
        locked(&self.state.requests).clone()
    }

    /// Runs `work` for each request before it is answered, with the number of earlier requests.
    pub(crate) fn on_request(&self, work: impl Fn(usize) + Send + 'static) {
        *locked(&self.state.on_request) = Some(Box::new(work));
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn answer(State(state): State<Arc<ServerState>>, request: Request<Body>) -> Response<Body> {
    let (head, body) = request.into_parts();
    let query = head.uri.query().unwrap_or_default().to_owned();
    let before = {
        let mut requests = locked(&state.requests);
        requests.push(format!("{} {}", head.method, head.uri));
        requests.len() - 1
    };
    if let Some(work) = &*locked(&state.on_request) {
        work(before);
    }
    let number = || query.parse::<usize>().expect("a number of bytes");
    let plain = |body: Body| Response::new(body);
    match head.uri.path() {
        "/page" => plain(Body::from(
            "<!doctype html><html><head><title>Tea &amp; scones</title>\
             <meta name=\"description\" content=\"How to bake.\"></head><body>…</body></html>",
        )),
        // Redirects to the URL in the query.
        "/to" => Response::builder()
            .status(302)
            .header(header::LOCATION, query)
            .body(Body::empty())
            .expect("a response"),
        // A body of this many bytes, with a length or chunked.
        "/large" => plain(Body::from(vec![b'x'; number()])),
        "/flood" => plain(Body::from_stream(stream::iter(
            (0..number().div_ceil(4096))
                .map(|_| Ok::<_, Infallible>(Bytes::from_static(&[b'x'; 4096]))),
        ))),
        // Never responds; or responds with an endless body.
        "/silent" => std::future::pending().await,
        "/trickle" => plain(Body::from_stream(stream::unfold((), |()| async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            Some((Ok::<_, Infallible>(Bytes::from_static(b".")), ()))
        }))),
        "/echo" => {
            let headers: Vec<(String, String)> = head
                .headers
                .iter()
                .map(|(name, value)| {
                    (
                        name.to_string(),
                        String::from_utf8_lossy(value.as_bytes()).into_owned(),
                    )
                })
                .collect();
            let body = axum::body::to_bytes(body, usize::MAX).await;
            let echoed = json!({"headers": headers, "body": body.map_or(0, |body| body.len())});
            plain(Body::from(echoed.to_string()))
        }
        _ => Response::builder()
            .status(404)
            .body(Body::empty())
            .expect("a response"),
    }
}
