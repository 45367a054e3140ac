//! Who may ask: whoever has a token, where there is a file of them.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

use crate::ServeError;

/// Letters of a token, at least: nobody guesses it, however often he tries.
const LETTERS: usize = 20;
/// Rights of others, which the file must not have.
const OF_OTHERS: u32 = 0o077;

/// The tokens of those who may ask.
pub struct Access {
    /// Names, and SHA-256 of tokens: how long a comparison takes tells nothing of the token.
    tokens: Vec<(String, [u8; 32])>,
}

impl Access {
    /// Reads a file of lines `NAME TOKEN`; lines that begin with `#` are for people.
    ///
    /// # Errors
    /// It cannot be read, others may read it, or a line is something else.
    pub fn read(path: &Path) -> Result<Access, ServeError> {
        read(path).map_err(|source| ServeError::Tokens {
            path: path.to_path_buf(),
            source,
        })
    }

    /// The name of who sends these headers: his token is that of `Bearer`, or the password of
    /// `Basic`, of any user.
    pub fn name_of(&self, headers: &HeaderMap) -> Option<&str> {
        let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
        let (scheme, rest) = value.split_once(' ')?;
        let token = match scheme.to_ascii_lowercase().as_str() {
            "bearer" => rest.trim().as_bytes().to_vec(),
            "basic" => {
                let pair = BASE64_STANDARD.decode(rest.trim()).ok()?;
                let colon = pair.iter().position(|&byte| byte == b':')?;
                pair[colon + 1..].to_vec()
            }
            _ => return None,
        };
        let digest: [u8; 32] = Sha256::digest(&token).into();
        let mut all = self.tokens.iter();
        let found = all.find(|(_, known)| *known == digest);
        found.map(|(name, _)| name.as_str())
    }
}

/// The text of a file that nobody else may read.
///
/// # Errors
/// Others may, or it cannot be read.
pub fn secret_text(path: &Path) -> io::Result<String> {
    if path.metadata()?.mode() & OF_OTHERS != 0 {
        return Err(io::Error::other("others may read it: chmod 600"));
    }
    fs::read_to_string(path)
}

fn read(path: &Path) -> io::Result<Access> {
    let text = secret_text(path)?;
    let mut tokens = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [name, token] = words[..] else {
            let wrong = format!("line {}: write NAME TOKEN", number + 1);
            return Err(io::Error::other(wrong));
        };
        if token.len() < LETTERS {
            let line = number + 1;
            let short = format!("line {line}: a token has {LETTERS} letters at least");
            return Err(io::Error::other(short));
        }
        tokens.push((name.to_string(), Sha256::digest(token.as_bytes()).into()));
    }
    match tokens.is_empty() {
        true => Err(io::Error::other("it has no token")),
        false => Ok(Access { tokens }),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn tokens_have_names_and_nobody_else_may_read_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        let write = |text: &str, mode| {
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
            Access::read(&path)
        };
        let why = |text, mode| write(text, mode).err().unwrap().to_string();
        let good = "# of 2026\nada 0123456789abcdefghij\n\nbob  0123456789abcdefghik\n";
        assert!(why(good, 0o644).ends_with("chmod 600"));
        assert!(why("ada short\n", 0o600).contains("line 1: a token has 20 letters"));
        assert!(why("\nada\n", 0o600).contains("line 2: write NAME TOKEN"));
        assert!(why("# nobody\n", 0o600).ends_with("it has no token"));
        let access = write(good, 0o600).unwrap();
        let of = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, value.parse().unwrap());
            access.name_of(&headers).map(str::to_string)
        };
        assert_eq!(of("Bearer 0123456789abcdefghij").as_deref(), Some("ada"));
        let pair = BASE64_STANDARD.encode("any:0123456789abcdefghik");
        assert_eq!(of(&format!("basic {pair}")).as_deref(), Some("bob"));
        for wrong in [
            "Bearer 0123456789abcdefghi",
            "Bearer",
            "Basic !",
            "Basic YQ==",
        ] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
        assert_eq!(access.name_of(&HeaderMap::new()), None);
    }
}
