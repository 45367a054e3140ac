//! Who is who: Ed25519 keys, made once and kept in a file.

use std::fmt::{self, Debug, Display, Formatter};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use rustls::crypto::ring::{default_provider, sign::any_eddsa_type};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::sign::{CertifiedKey, SigningKey};

const BYTES: usize = 32;
/// What stands before the 32 bytes of a public Ed25519 key (SubjectPublicKeyInfo, RFC 8410).
const PUBLIC: [u8; 12] = [
    0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
];
/// What stands before the 32 bytes of a secret one (PKCS #8, RFC 8410).
const SECRET: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];
/// What the file of a key says of itself.
const HEAD: &str = "# The secret key of gyrase send and receive: who has it is taken for you.\n";
/// Rights of others, which a file of a key must not have.
const OF_OTHERS: u32 = 0o077;

/// The half of a key pair that others know: 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PublicKey([u8; BYTES]);

/// The half of a key pair that nobody else knows.
#[derive(Clone)]
pub struct SecretKey {
    seed: [u8; BYTES],
    signs: Arc<dyn SigningKey>,
}

/// A key that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// Text that is no key.
    #[error("a key has 64 hexadecimal digits, and not {found:?}")]
    Digits {
        /// The text.
        found: String,
    },
    /// A file of a key that cannot be read or made.
    #[error("the key in {} cannot be used: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said, or what is wrong.
        source: io::Error,
    },
}

impl PublicKey {
    /// The key that an end of a connection has shown.
    pub(crate) fn of(shown: &[u8]) -> Option<PublicKey> {
        let bytes = shown.strip_prefix(&PUBLIC)?;
        bytes.try_into().ok().map(PublicKey)
    }
}

impl Display for PublicKey {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

impl Debug for PublicKey {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(self, out)
    }
}

impl FromStr for PublicKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<PublicKey, KeyError> {
        let found = || text.to_string();
        bytes_of(text)
            .map(PublicKey)
            .ok_or_else(|| KeyError::Digits { found: found() })
    }
}

fn bytes_of(digits: &str) -> Option<[u8; BYTES]> {
    let is_key = digits.len() == 2 * BYTES && digits.bytes().all(|one| one.is_ascii_hexdigit());
    let byte = |at: usize| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16);
    is_key.then(|| std::array::from_fn(|at| byte(at).expect("all are hexadecimal digits")))
}

impl SecretKey {
    /// A key that was never there.
    ///
    /// # Panics
    /// The system has no random numbers.
    pub fn generate() -> SecretKey {
        let mut seed = [0; BYTES];
        let filled = default_provider().secure_random.fill(&mut seed);
        filled.expect("the system has random numbers");
        SecretKey::of(seed)
    }

    fn of(seed: [u8; BYTES]) -> SecretKey {
        let pkcs8 = PrivatePkcs8KeyDer::from([&SECRET[..], &seed].concat());
        let signs = any_eddsa_type(&pkcs8).expect("any 32 bytes are a key");
        SecretKey { seed, signs }
    }

    /// The key in a file, which is made where there is none.
    ///
    /// # Errors
    /// It cannot be read or made, others may read it, or it holds something else.
    pub fn open_or_make(path: &Path) -> Result<SecretKey, KeyError> {
        let done = match SecretKey::make(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => SecretKey::read(path),
            made => made,
        };
        let path = path.to_path_buf();
        done.map_err(|source| KeyError::File { path, source })
    }

    fn make(path: &Path) -> io::Result<SecretKey> {
        if path.exists() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        if let Some(folder) = path.parent().filter(|folder| *folder != Path::new("")) {
            std::fs::create_dir_all(folder)?;
        }
        let key = SecretKey::generate();
        let digits: String = key.seed.iter().map(|byte| format!("{byte:02x}")).collect();
        // Of two processes that begin at once, the second reads the whole of the first's key.
        let mut own = path.as_os_str().to_owned();
        own.push(format!(".{}", key.public()));
        let own = PathBuf::from(own);
        let mut options = OpenOptions::new();
        let file = options.write(true).create_new(true).mode(0o600).open(&own);
        let written = file.and_then(|mut file| {
            file.write_all(format!("{HEAD}{digits}\n").as_bytes())?;
            file.sync_all()
        });
        let named = written.and_then(|()| std::fs::hard_link(&own, path));
        let _ = std::fs::remove_file(&own);
        named?;
        Ok(key)
    }

    fn read(path: &Path) -> io::Result<SecretKey> {
        if path.metadata()?.mode() & OF_OTHERS != 0 {
            return Err(io::Error::other("others may read it: chmod 600"));
        }
        let text = std::fs::read_to_string(path)?;
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        let seed = lines.next().and_then(|line| bytes_of(line.trim()));
        let seed = seed.ok_or_else(|| io::Error::other("it holds no key of gyrase"))?;
        Ok(SecretKey::of(seed))
    }

    /// The half that others know.
    pub fn public(&self) -> PublicKey {
        let shown = self.signs.public_key().expect("a key of Ed25519 has it");
        PublicKey::of(&shown).expect("it is one of Ed25519")
    }

    /// What TLS shows and signs with.
    pub(crate) fn certified(&self) -> Arc<CertifiedKey> {
        let shown = [&PUBLIC[..], &self.public().0].concat();
        let shown = CertificateDer::from(shown);
        Arc::new(CertifiedKey::new(vec![shown], Arc::clone(&self.signs)))
    }
}

impl Debug for SecretKey {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "the secret key of {}", self.public())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_and_nobody_else_may_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gyrase/key");
        let made = SecretKey::open_or_make(&path).unwrap();
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
        assert_eq!(
            SecretKey::open_or_make(&path).unwrap().public(),
            made.public()
        );
        assert_ne!(SecretKey::generate().public(), made.public());
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
        let error = SecretKey::open_or_make(&path).unwrap_err().to_string();
        assert!(error.contains("chmod 600"), "{error}");
    }

    #[test]
    fn who_begin_at_once_have_one_key() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..30 {
            let path = folder.path().join(number.to_string());
            let open = || SecretKey::open_or_make(&path).unwrap().public();
            let keys = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
                let joined = threads.into_iter().map(|thread| thread.join().unwrap());
                joined.collect::<Vec<_>>()
            });
            assert!(keys.iter().all(|key| *key == keys[0]), "{keys:?}");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 30);
    }

    #[test]
    fn digits_are_the_key() {
        // RFC 8032, section 7.1, test 1.
        let secret = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
        let public = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
        let key = SecretKey::of(bytes_of(secret).unwrap());
        assert_eq!(key.public().to_string(), public);
        assert_eq!(public.parse::<PublicKey>().unwrap(), key.public());
        for wrong in ["", &public[1..], &public.replace('d', "x"), "ä"] {
            assert!(wrong.parse::<PublicKey>().is_err());
        }
    }
}
