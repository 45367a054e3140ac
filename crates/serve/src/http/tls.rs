//! TLS 1.3 at the door.

use std::path::PathBuf;
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::ServeError;

/// What speaks TLS with a certificate chain and its key, which are PEM files.
///
/// # Errors
/// They cannot be read, or do not belong together.
pub fn tls([certificate, key]: &[PathBuf; 2]) -> Result<TlsAcceptor, ServeError> {
    let problem = |problem: String| ServeError::Tls {
        certificate: certificate.clone(),
        key: key.clone(),
        problem,
    };
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect)
        .map_err(|error| problem(format!("the certificate: {error}")))?;
    let key =
        PrivateKeyDer::from_pem_file(key).map_err(|error| problem(format!("the key: {error}")))?;
    let config = ServerConfig::builder().with_no_client_auth();
    let config = config.with_single_cert(chain, key);
    let mut config = config.map_err(|error| problem(error.to_string()))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};
    use tokio_rustls::TlsConnector;
    use tokio_rustls::rustls::{ClientConfig, RootCertStore};

    use super::*;

    fn files() -> [PathBuf; 2] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tls");
        ["certificate.pem", "key.pem"].map(|name| folder.join(name))
    }

    #[test]
    fn who_trusts_the_certificate_is_answered() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.unwrap().block_on(greeting());
    }

    async fn greeting() {
        let acceptor = tls(&files()).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let answering = tokio::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let mut stream = acceptor.accept(stream).await.unwrap();
            stream.write_all(b"here").await.unwrap();
            stream.shutdown().await.unwrap();
        });
        let mut roots = RootCertStore::empty();
        roots
            .add(CertificateDer::from_pem_file(&files()[0]).unwrap())
            .unwrap();
        let client = ClientConfig::builder().with_root_certificates(roots);
        let client = TlsConnector::from(Arc::new(client.with_no_client_auth()));
        let stream = TcpStream::connect(address).await.unwrap();
        let name = "localhost".try_into().unwrap();
        let mut stream = client.connect(name, stream).await.unwrap();
        let mut said = String::new();
        stream.read_to_string(&mut said).await.unwrap();
        assert_eq!(said, "here");
        answering.await.unwrap();
    }

    #[test]
    fn files_that_do_not_fit_are_named() {
        let [certificate, key] = files();
        let wrong = tls(&[key.clone(), certificate.clone()]).err().unwrap();
        assert!(wrong.to_string().contains("key.pem"), "{wrong}");
        let missing = tls(&[certificate, PathBuf::from("none.pem")])
            .err()
            .unwrap();
        assert!(missing.to_string().contains("the key: "), "{missing}");
    }
}
