//! Requests that the service makes: to URLs on origins that who runs it allows, and to no others.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::HOST;
use axum::http::uri::Scheme;
use axum::http::{Request, StatusCode, Uri};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::ServeError;

/// How long a request may take, with its answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Letters of a URL.
const LONGEST: usize = 2_000;

/// What a URL names before its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    is_tls: bool,
    host: String,
    /// Of TCP.
    pub port: u16,
}

impl Origin {
    /// That of a URL without a name of a user; nothing if it is none of `http` or `https`.
    pub fn of(url: &Uri) -> Option<Origin> {
        let authority = url.authority()?;
        let is_tls = url.scheme() == Some(&Scheme::HTTPS);
        let is_known = is_tls || url.scheme() == Some(&Scheme::HTTP);
        let is_plain = !authority.as_str().contains('@') && !authority.host().is_empty();
        (is_known && is_plain).then(|| Origin {
            is_tls,
            host: authority.host().to_ascii_lowercase(),
            port: authority
                .port_u16()
                .unwrap_or(if is_tls { 443 } else { 80 }),
        })
    }
}

/// A URL to which the service may send.
#[derive(Debug)]
pub struct Target {
    origin: Origin,
    url: Uri,
}

/// Sends to allowed origins.
pub struct Client {
    /// Those that are allowed.
    pub origins: Vec<Origin>,
    tls: TlsConnector,
}

impl Client {
    /// One that trusts the authorities that the system trusts.
    ///
    /// # Errors
    /// An origin is none, or the system trusts no authority.
    pub fn new(origins: &[String]) -> Result<Client, ServeError> {
        let parsed = |text: &String| text.parse().ok().and_then(|url| Origin::of(&url));
        let no_origin = |text| ServeError::Webhooks(format!("{text} is no origin"));
        let origins: Vec<Origin> = origins
            .iter()
            .map(|text| parsed(text).ok_or_else(|| no_origin(text)))
            .collect::<Result<_, _>>()?;
        let mut roots = RootCertStore::empty();
        if origins.iter().any(|origin| origin.is_tls) {
            let found = rustls_native_certs::load_native_certs();
            roots.add_parsable_certificates(found.certs);
            if roots.is_empty() {
                let why = found.errors.first().map(|error| format!(" ({error})"));
                return Err(ServeError::Webhooks(format!(
                    "this system trusts no authority{}: name a file of them in SSL_CERT_FILE",
                    why.unwrap_or_default()
                )));
            }
        }
        Ok(Client::trusting(origins, roots))
    }

    fn trusting(origins: Vec<Origin>, roots: RootCertStore) -> Client {
        let config = ClientConfig::builder().with_root_certificates(roots);
        let tls = TlsConnector::from(Arc::new(config.with_no_client_auth()));
        Client { origins, tls }
    }

    /// A URL that the service may send to.
    ///
    /// # Errors
    /// It is none, or is on no allowed origin: in words for who sent it.
    pub fn target(&self, text: &str) -> Result<Target, String> {
        let url: Option<Uri> = text.parse().ok().filter(|_| text.len() <= LONGEST);
        let found = url.and_then(|url| Some((Origin::of(&url)?, url)));
        let (origin, url) = found.ok_or("a URL of https or http is wanted, without a user")?;
        match self.origins.contains(&origin) {
            true => Ok(Target { origin, url }),
            false => Err(format!(
                "this service sends nothing to {}: who runs it has to allow it",
                origin.host
            )),
        }
    }

    /// Sends JSON with more headers; gives the status of the answer, of which nothing else is read.
    ///
    /// # Errors
    /// There was none in time.
    pub async fn post(
        &self,
        target: &Target,
        headers: &[(&'static str, String)],
        body: String,
    ) -> Result<StatusCode, String> {
        let answered = tokio::time::timeout(PATIENCE, self.answer(target, headers, body)).await;
        let seconds = PATIENCE.as_secs();
        answered.map_err(|_| format!("no answer within {seconds} seconds"))?
    }

    async fn answer(
        &self,
        target: &Target,
        headers: &[(&'static str, String)],
        body: String,
    ) -> Result<StatusCode, String> {
        let Target { origin, url } = target;
        let host = origin.host.trim_matches(['[', ']']);
        let unreached = |error| format!("cannot reach {host}: {error}");
        let stream = TcpStream::connect((host, origin.port)).await;
        let stream = stream.map_err(unreached)?;
        let authority = url.authority().map_or("", |authority| authority.as_str());
        let path = url.path_and_query().map_or("/", |path| path.as_str());
        let mut request = Request::post(path)
            .header(HOST, authority)
            .header("user-agent", concat!("gyrase/", env!("CARGO_PKG_VERSION")))
            .header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let request = request.body(Body::from(body));
        let request = request.map_err(|error| error.to_string())?;
        match origin.is_tls {
            false => status(stream, request).await,
            true => {
                let name = ServerName::try_from(host.to_string());
                let name = name.map_err(|error| error.to_string())?;
                let stream = self.tls.connect(name, stream).await;
                status(stream.map_err(unreached)?, request).await
            }
        }
    }
}

/// The status of the answer to a request.
async fn status(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    request: Request<Body>,
) -> Result<StatusCode, String> {
    let failed = |error: hyper::Error| error.to_string();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(failed)?;
    let mut answer = pin!(sender.send_request(request));
    let answer = tokio::select! {
        answer = &mut answer => answer,
        // An answer may be there although its connection has ended.
        _ = connection => answer.await,
    };
    answer.map(|answer| answer.status()).map_err(failed)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio_rustls::rustls::pki_types::CertificateDer;
    use tokio_rustls::rustls::pki_types::pem::PemObject;

    use super::*;

    #[test]
    fn urls_are_on_allowed_origins() {
        let origins = ["https://hooks.lab.org", "http://[::1]:8000"].map(String::from);
        let client = Client::new(&origins[1..]).unwrap();
        let origins = origins.map(|text| Origin::of(&text.parse().unwrap()).unwrap());
        let client = Client {
            origins: origins.to_vec(),
            ..client
        };
        for right in [
            "https://hooks.lab.org",
            "HTTPS://Hooks.Lab.ORG:443/a?b=c#d",
            "http://[::1]:8000/",
        ] {
            assert!(client.target(right).is_ok(), "{right}");
        }
        for wrong in [
            "http://hooks.lab.org/",
            "https://hooks.lab.org:444/",
            "https://hooks.lab.org.evil.net/",
            "https://hooks.lab.org@evil.net/",
            "https://a:b@hooks.lab.org/",
            "https://evil.net/hooks.lab.org",
            "http://[::1]/",
            "file://hooks.lab.org/etc/passwd",
            "//hooks.lab.org/",
            "hooks.lab.org",
            "https://hooks.lab.org/\r\nHost: evil.net",
            &format!("https://hooks.lab.org/{}", "a".repeat(LONGEST)),
        ] {
            assert!(client.target(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn requests_go_through_tls_to_who_is_trusted() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.unwrap().block_on(requests());
    }

    async fn requests() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tls");
        let files = ["certificate.pem", "key.pem"].map(|name| folder.join(name));
        let acceptor = super::super::tls(&files).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let answering = tokio::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let mut stream = acceptor.accept(stream).await.unwrap();
            let mut request = vec![0; 4096];
            let length = stream.read(&mut request).await.unwrap();
            stream.write_all(b"HTTP/1.1 204 No\r\n\r\n").await.unwrap();
            let (stream, _) = listener.accept().await.unwrap();
            assert!(acceptor.accept(stream).await.is_err());
            String::from_utf8_lossy(&request[..length]).into_owned()
        });
        let url = format!("https://localhost:{port}/hook?a=b");
        let origin = Origin::of(&url.parse().unwrap()).unwrap();
        let mut roots = RootCertStore::empty();
        roots
            .add(CertificateDer::from_pem_file(&files[0]).unwrap())
            .unwrap();
        let post = async |roots| {
            let client = Client::trusting(vec![origin.clone()], roots);
            let target = client.target(&url).unwrap();
            let headers = [("webhook-id", "x".to_string())];
            client.post(&target, &headers, "{}".into()).await
        };
        assert_eq!(post(roots).await, Ok(StatusCode::NO_CONTENT));
        let untrusted = post(RootCertStore::empty()).await.unwrap_err();
        assert!(
            untrusted.starts_with("cannot reach localhost: "),
            "{untrusted}"
        );
        let request = answering.await.unwrap();
        assert!(
            request.starts_with("POST /hook?a=b HTTP/1.1\r\n"),
            "{request}"
        );
        assert!(
            request.contains(&format!("host: localhost:{port}\r\n")),
            "{request}"
        );
        assert!(request.contains("webhook-id: x\r\n") && request.ends_with("\r\n\r\n{}"));
    }
}
