//! Sends one request and reads its answer, even if that breaks off.

use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

/// A client for plain HTTP that keeps its connections open.
#[derive(Clone, Debug)]
pub(super) struct HttpClient {
    client: Client<HttpConnector, Full<Bytes>>,
}

/// The answer to a request.
#[derive(Debug, Default)]
pub(super) struct HttpAnswer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// The reason why the answer is incomplete. `None` where it is complete.
    pub broken: Option<String>,
}

impl HttpClient {
    pub fn new() -> Self {
        // The client does not repeat a request on its own: tests count the attempts.
        let client =
            Client::builder(TokioExecutor::new()).retry_canceled_requests(false).build_http();
        Self { client }
    }

    pub async fn post(&self, url: &str, headers: &[(String, String)], body: String) -> HttpAnswer {
        let mut request = Request::post(url).header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let request = match request.body(Full::new(Bytes::from(body))) {
            Ok(request) => request,
            Err(error) => {
                return HttpAnswer { broken: Some(error.to_string()), ..HttpAnswer::default() };
            }
        };
        let response = match self.client.request(request).await {
            Ok(response) => response,
            Err(error) => {
                return HttpAnswer { broken: Some(error.to_string()), ..HttpAnswer::default() };
            }
        };
        let (head, mut stream) = response.into_parts();
        let headers = head.headers.iter().map(|(name, value)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        });
        let mut got = HttpAnswer {
            status: head.status.as_u16(),
            headers: headers.collect(),
            ..HttpAnswer::default()
        };
        while let Some(frame) = stream.frame().await {
            match frame {
                Ok(frame) => got.body.extend(frame.data_ref().into_iter().flatten()),
                Err(error) => {
                    got.broken = Some(error.to_string());
                    break;
                }
            }
        }
        got
    }
}
