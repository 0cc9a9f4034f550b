//! The way out through a proxy of the network.

use std::sync::{Arc, Mutex};

use midfold_serve::{OutgoingProxy, ProxyAddress, ProxyAddressError, UpstreamTable};
use midfold_testkit::upstream::UpstreamSettings;
use midfold_testkit::upstream::WireDialect;
use midfold_testkit::upstream::agent::ClientAgent;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

use crate::setting::{Setting, rules};
use crate::stub::Stub;

const CHAT: &str = r#"{"model":"m","messages":[{"role":"user","content":"a"}]}"#;

/// A proxy that leads every tunnel to one address; answers its own, and what it was asked for.
async fn proxy(to: String) -> (String, Arc<Mutex<Vec<String>>>) {
    let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", tcp.local_addr().unwrap());
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((mut client, _)) = tcp.accept().await {
            let (heard, to) = (Arc::clone(&heard), to.clone());
            tokio::spawn(async move {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(client.read_u8().await.unwrap());
                }
                let head = String::from_utf8(head).unwrap();
                heard.lock().unwrap().push(head.lines().next().unwrap().to_owned());
                let mut server = TcpStream::connect(to).await.unwrap();
                client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
                let _ = copy_bidirectional(&mut client, &mut server).await;
            });
        }
    });
    (url, asked)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_go_through_the_proxy_of_the_network_but_for_what_is_excepted() {
    let stub = Stub::quiet().await;
    let (url, asked) = proxy(stub.url.replace("http://", "")).await;
    let outgoing = OutgoingProxy {
        http_proxy: Some(url.parse().unwrap()),
        no_proxy: Some("excepted.invalid".to_owned()),
        ..OutgoingProxy::default()
    };
    let setting = Setting::with(UpstreamSettings::default(), |config| {
        let mut upstreams = UpstreamTable::default();
        upstreams.set("openai=http://provider.invalid:8080").unwrap();
        upstreams.set("usual=http://usual.invalid").unwrap();
        upstreams.set("excepted=http://excepted.invalid:8080").unwrap();
        upstreams.set(&format!("here={}", stub.url)).unwrap();
        config.upstreams = upstreams;
        config.outgoing = outgoing;
        config.rules = rules().window(8_000);
    })
    .await;
    let agent = ClientAgent::new(WireDialect::Chat, &setting.url());
    assert_eq!(agent.post("/v1/chat/completions", CHAT).await.status, 200);
    assert_eq!(*asked.lock().unwrap(), ["CONNECT provider.invalid:8080 HTTP/1.1"]);
    assert_eq!(stub.last().path, "/v1/chat/completions");
    // The port of `http://` addresses, where none is named.
    assert_eq!(agent.post("/to/usual/v1/chat/completions", CHAT).await.status, 200);
    assert_eq!(asked.lock().unwrap().pop().unwrap(), "CONNECT usual.invalid:80 HTTP/1.1");
    // No name has this address, and the proxy is not asked.
    assert_eq!(agent.post("/to/excepted/v1/chat/completions", CHAT).await.status, 502);
    // This machine is reached directly.
    assert_eq!(agent.post("/to/here/v1/chat/completions", CHAT).await.status, 200);
    assert_eq!(asked.lock().unwrap().len(), 1);
}

#[test]
fn only_http_proxies_have_an_address() {
    for usable in ["http://p:3128", "HTTP://p", "p.example:3128", "http://user:word@p:1"] {
        assert!(usable.parse::<ProxyAddress>().is_ok(), "{usable}");
    }
    for (text, scheme) in [
        ("socks5://p:1080", "socks5"),
        ("SOCKS5H://p:1080", "socks5h"),
        ("https://user:word@p", "https"),
    ] {
        let error = text.parse::<ProxyAddress>().unwrap_err();
        assert_eq!(error, ProxyAddressError::Scheme(scheme.to_owned()));
        assert!(!error.to_string().contains("word"));
    }
    for text in ["", "http://", "a b", "/path"] {
        assert_eq!(text.parse::<ProxyAddress>(), Err(ProxyAddressError::Address), "{text}");
    }
    let shown = format!("{:?}", "http://user:word@p:1".parse::<ProxyAddress>().unwrap());
    assert!(!shown.contains("word"), "{shown}");
}
