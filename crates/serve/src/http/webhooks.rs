//! Where the service may tell of jobs that ended, and how messages are signed: as Standard Webhooks
//! says, whose libraries check them.
//! <https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md>

use std::path::Path;
use std::sync::atomic::AtomicU64;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ring::hmac;

use super::outgoing::Client;
use crate::ServeError;
use crate::access::secret_text;
use crate::config::Config;

/// Bytes of a secret, at least.
const SECRET: usize = 24;

/// Tells of jobs that ended.
pub struct Webhooks {
    /// What sends.
    pub client: Client,
    secret: Option<hmac::Key>,
    /// Webhooks that were taken, and attempts that were not.
    pub sent: [AtomicU64; 2],
}

impl Webhooks {
    /// What tells the origins of a service; nothing where it has none.
    ///
    /// # Errors
    /// The secret cannot be read, or no authority is known.
    pub fn of(config: &Config) -> Result<Option<Webhooks>, ServeError> {
        if config.webhook_origins.is_empty() {
            return Ok(None);
        }
        Ok(Some(Webhooks {
            client: Client::new(&config.webhook_origins)?,
            secret: config.webhook_secret.as_deref().map(secret).transpose()?,
            sent: Default::default(),
        }))
    }

    /// What goes with a message of a job, in its head.
    pub fn headers(&self, id: &str, time: i64, body: &str) -> Vec<(&'static str, String)> {
        let mut headers = vec![
            ("webhook-id", id.to_string()),
            ("webhook-timestamp", time.to_string()),
        ];
        if let Some(secret) = &self.secret {
            let tag = hmac::sign(secret, format!("{id}.{time}.{body}").as_bytes());
            let signature = format!("v1,{}", BASE64_STANDARD.encode(tag));
            headers.push(("webhook-signature", signature));
        }
        headers
    }
}

/// The secret of a file.
fn secret(path: &Path) -> Result<hmac::Key, ServeError> {
    let problem = |problem| ServeError::Webhooks(format!("{}: {problem}", path.display()));
    let text = secret_text(path).map_err(|error| problem(error.to_string()))?;
    let encoded = text.trim().strip_prefix("whsec_");
    let bytes = encoded.and_then(|encoded| BASE64_STANDARD.decode(encoded).ok());
    let bytes = bytes.filter(|bytes| bytes.len() >= SECRET);
    let wanted = || format!("write whsec_ and {SECRET} bytes or more in base64");
    let bytes = bytes.ok_or_else(|| problem(wanted()))?;
    Ok(hmac::Key::new(hmac::HMAC_SHA256, &bytes))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn signatures_are_those_of_standard_webhooks() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        let write = |text: &str| {
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
            secret(&path)
        };
        for wrong in [
            "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "whsec_short",
            "whsec_!",
            "",
        ] {
            assert!(write(wrong).is_err(), "{wrong}");
        }
        let webhooks = Webhooks {
            client: Client::new(&[]).unwrap(),
            secret: Some(write("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n").unwrap()),
            sent: Default::default(),
        };
        let id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
        let headers = webhooks.headers(id, 1_614_265_330, r#"{"test": 2432232314}"#);
        assert_eq!(headers[1], ("webhook-timestamp", "1614265330".into()));
        // The example of the libraries of Standard Webhooks.
        let signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
        assert_eq!(headers[2], ("webhook-signature", signature.into()));
    }
}
