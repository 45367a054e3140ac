//! TLS 1.3 between two ends that know each other's keys.

use std::fmt::{self, Display, Formatter};
use std::io;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{AlwaysResolvesClientRawPublicKeys, Resumption};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, ring, verify_tls13_signature_with_raw_key,
};
use rustls::pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{AlwaysResolvesServerRawPublicKeys, NoServerSessionStorage};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, ConnectionCommon, DigitallySignedStruct,
    DistinguishedName, Error, OtherError, ServerConfig, ServerConnection, SideData,
    SignatureScheme, StreamOwned,
};

use crate::cause::{broken, of_tls};
use crate::error::TransferError;
use crate::key::{PublicKey, SecretKey};
use crate::line::Line;
use crate::patient::{Patient, Until};

/// What both ends must speak: another version of `wire` has another name.
const LANGUAGE: &[u8] = b"gyrase-send/1";
/// How long a handshake may take: until then nobody knows who the other end is.
const HANDSHAKE: Duration = Duration::from_secs(20);

/// What an end shows, and whom it takes.
#[derive(Clone)]
pub(crate) struct Ends {
    own: SecretKey,
    taken: Vec<PublicKey>,
}

impl Ends {
    pub fn new(own: &SecretKey, taken: &[PublicKey]) -> Ends {
        Ends {
            own: own.clone(),
            taken: taken.to_vec(),
        }
    }

    /// The end of whoever was called.
    pub fn accept(&self, socket: TcpStream, until: &Until) -> Result<Line, TransferError> {
        let peer = socket.peer_addr().map_or_else(
            |_| "somebody who is gone".into(),
            |address| address.to_string(),
        );
        let server = ServerConnection::new(self.server()).map_err(io::Error::other);
        self.shake_hands(server, socket, peer, until)
    }

    /// The end of who calls.
    pub fn connect(
        &self,
        socket: TcpStream,
        peer: &str,
        until: &Until,
    ) -> Result<Line, TransferError> {
        let name = ServerName::try_from("receiver").expect("it is a name");
        let client = ClientConnection::new(self.client(), name).map_err(io::Error::other);
        self.shake_hands(client, socket, peer.into(), until)
    }

    fn shake_hands<C, S>(
        &self,
        made: io::Result<C>,
        socket: TcpStream,
        peer: String,
        until: &Until,
    ) -> Result<Line, TransferError>
    where
        C: std::ops::DerefMut<Target = ConnectionCommon<S>> + Send + 'static,
        S: SideData + 'static,
    {
        let shaken = made.and_then(|mut connection| {
            let beside = socket.try_clone()?;
            let mut patient = Patient::new(socket, until)?;
            patient.deadline = Some(Instant::now() + HANDSHAKE);
            while connection.is_handshaking() {
                connection.complete_io(&mut patient)?;
            }
            patient.deadline = None;
            Ok((StreamOwned::new(connection, patient), beside))
        });
        let (stream, socket) = match shaken {
            Ok(shaken) => shaken,
            Err(source) => return Err(self.unshaken(peer, source)),
        };
        let shown = stream.conn.peer_certificates().unwrap_or_default();
        let key = shown.first().and_then(|shown| PublicKey::of(shown));
        let key = key.expect("the verifier took it");
        Ok(Line::new(
            Box::new(stream),
            socket,
            peer,
            key,
            self.own.public(),
        ))
    }

    /// Why there is no connection.
    fn unshaken(&self, peer: String, source: io::Error) -> TransferError {
        match other_key(&source) {
            Some(found) => TransferError::OtherKey { peer, found },
            None => broken(peer, "before it stood".into(), source, self.own.public()),
        }
    }

    fn server(&self) -> Arc<ServerConfig> {
        let provider = provider();
        let verifier = self.verifier(&provider);
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .expect("the provider has TLS 1.3")
            .with_client_cert_verifier(verifier)
            .with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(
                self.own.certified(),
            )));
        config.alpn_protocols = vec![LANGUAGE.to_vec()];
        // What can be read is a word of the other end then, and nothing of TLS.
        config.send_tls13_tickets = 0;
        config.session_storage = Arc::new(NoServerSessionStorage {});
        Arc::new(config)
    }

    fn client(&self) -> Arc<ClientConfig> {
        let provider = provider();
        let verifier = self.verifier(&provider);
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .expect("the provider has TLS 1.3")
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_client_cert_resolver(Arc::new(AlwaysResolvesClientRawPublicKeys::new(
                self.own.certified(),
            )));
        config.alpn_protocols = vec![LANGUAGE.to_vec()];
        config.enable_sni = false;
        config.resumption = Resumption::disabled();
        Arc::new(config)
    }

    fn verifier(&self, provider: &CryptoProvider) -> Arc<Pinned> {
        Arc::new(Pinned {
            taken: self.taken.clone(),
            algorithms: provider.signature_verification_algorithms,
        })
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// The key of the other end, where it is none that is taken.
fn other_key(error: &io::Error) -> Option<PublicKey> {
    match of_tls(error)? {
        Error::InvalidCertificate(CertificateError::Other(OtherError(other))) => {
            other.downcast_ref().map(|NotTaken(key)| *key)
        }
        _ => None,
    }
}

/// A key that is not taken.
#[derive(Debug)]
struct NotTaken(PublicKey);

impl Display for NotTaken {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "the key {} is not taken", self.0)
    }
}

impl std::error::Error for NotTaken {}

/// Takes some keys, and nobody's word for others.
#[derive(Debug)]
struct Pinned {
    taken: Vec<PublicKey>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Pinned {
    fn check(&self, shown: &CertificateDer) -> Result<(), Error> {
        let Some(key) = PublicKey::of(shown) else {
            return Err(CertificateError::BadEncoding.into());
        };
        if self.taken.contains(&key) {
            return Ok(());
        }
        Err(CertificateError::Other(OtherError(Arc::new(NotTaken(key)))).into())
    }

    fn check_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let key = SubjectPublicKeyInfoDer::from(shown.as_ref());
        verify_tls13_signature_with_raw_key(message, &key, signed, &self.algorithms)
    }
}

/// What no version but 1.3 asks for.
fn never<T>() -> Result<T, Error> {
    Err(Error::General("only TLS 1.3 is spoken".into()))
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(shown).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        never()
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.check_signature(message, shown, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        shown: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(shown).map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        never()
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.check_signature(message, shown, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}
