//! The fields of a request, from wherever they come.

use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{Method, Request, StatusCode};
use futures_util::stream;
use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;

use super::app::App;
use super::refusal::Refusal;

/// How long a request may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(60);
/// Fields of a request.
const MOST: usize = 200;

/// Names and values, in their order.
#[derive(Debug, Default)]
pub struct Fields {
    all: Vec<(String, Vec<u8>)>,
    /// The memory that they take, for as long as they live.
    room: Option<OwnedSemaphorePermit>,
}

impl Fields {
    /// Those of the address and of the body, which has at most so many bytes. A body that is no
    /// form is the field `whole`.
    ///
    /// # Errors
    /// The body is too long, too slow, or not what it says; others take the memory for it.
    pub async fn read(
        app: &App,
        request: Request<Body>,
        most: u64,
        whole: &'static str,
    ) -> Result<Fields, Refusal> {
        let mut fields = Fields::of_address(&request);
        let (head, body) = request.into_parts();
        if matches!(head.method, Method::GET | Method::HEAD | Method::DELETE) {
            return fields.within_bounds();
        }
        let length = head.headers.get(CONTENT_LENGTH);
        let length = length.and_then(|length| length.to_str().ok()?.parse().ok());
        fields.room = Some(app.may_send(length.unwrap_or(most).min(most)).await?);
        let body = tokio::time::timeout(ARRIVAL, to_bytes(body, most as usize)).await;
        let body = body.map_err(|_| Refusal::slow())?.map_err(|_| {
            let message = format!("a request has at most {most} bytes: compress it, or divide it");
            Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, message)
        })?;
        let kind = head
            .headers
            .get(CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok());
        let kind = kind.unwrap_or_default().to_ascii_lowercase();
        match kind.split(';').next().unwrap_or_default().trim() {
            "application/x-www-form-urlencoded" => fields.add_form(&body),
            "multipart/form-data" => {
                let kind = head.headers[CONTENT_TYPE].to_str().unwrap_or_default();
                fields.add_parts(kind, body).await?;
            }
            "application/json" => fields.add_json(&body)?,
            _ if body.is_empty() => {}
            _ => fields.all.push((whole.into(), body.to_vec())),
        }
        fields.within_bounds()
    }

    /// Those of the address.
    pub fn of_address(request: &Request<Body>) -> Fields {
        let mut fields = Fields::default();
        fields.add_form(request.uri().query().unwrap_or_default().as_bytes());
        fields
    }

    /// Adds a field, of which nothing is kept that is empty.
    ///
    /// # Errors
    /// There are too many.
    pub fn add(&mut self, name: String, value: Vec<u8>) -> Result<(), Refusal> {
        if !value.is_empty() {
            self.all.push((name, value));
        }
        self.check_number()
    }

    fn within_bounds(self) -> Result<Fields, Refusal> {
        self.check_number()?;
        Ok(self)
    }

    fn check_number(&self) -> Result<(), Refusal> {
        match self.all.len() > MOST {
            true => Err(Refusal::bad(format!("a request has at most {MOST} fields"))),
            false => Ok(()),
        }
    }

    fn add_form(&mut self, text: &[u8]) {
        let pairs = form_urlencoded::parse(text).take(MOST + 1);
        self.all.extend(
            pairs.map(|(name, value)| (name.into_owned(), value.into_owned().into_bytes())),
        );
    }

    async fn add_parts(&mut self, kind: &str, body: Bytes) -> Result<(), Refusal> {
        let wrong = |error: multer::Error| Refusal::bad(format!("the form is damaged: {error}"));
        let boundary = multer::parse_boundary(kind).map_err(wrong)?;
        let body = stream::once(async { Ok::<_, std::io::Error>(body) });
        let mut parts = multer::Multipart::new(body, boundary);
        while let Some(part) = parts.next_field().await.map_err(wrong)? {
            let name = part.name().unwrap_or_default().to_string();
            let value = part.bytes().await.map_err(wrong)?;
            // A file that was not chosen is an empty part.
            if !value.is_empty() {
                self.all.push((name, value.to_vec()));
            }
            if self.all.len() > MOST {
                break;
            }
        }
        Ok(())
    }

    fn add_json(&mut self, body: &[u8]) -> Result<(), Refusal> {
        let wrong = |error| Refusal::bad(format!("the body is no JSON: {error}"));
        let object: Value = serde_json::from_slice(body).map_err(wrong)?;
        let Value::Object(members) = object else {
            return Err(Refusal::bad("the body is no JSON object"));
        };
        for (name, value) in members {
            let text = match value {
                Value::String(text) => text,
                Value::Number(number) => number.to_string(),
                Value::Bool(is) => is.to_string(),
                Value::Null => continue,
                _ => {
                    return Err(Refusal::bad(format!(
                        "{name}: a text or a number is wanted"
                    )));
                }
            };
            self.all.push((name, text.into_bytes()));
        }
        Ok(())
    }

    /// Makes all names upper-case, as NCBI's interface takes them.
    pub fn upper_case(mut self) -> Fields {
        self.all
            .iter_mut()
            .for_each(|(name, _)| name.make_ascii_uppercase());
        self
    }

    /// The names, in their order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|(name, _)| name.as_str())
    }

    /// The bytes of a field; none where it is missing or empty.
    ///
    /// # Errors
    /// There are several of the name.
    pub fn bytes(&self, name: &str) -> Result<Option<&[u8]>, Refusal> {
        let mut own = self
            .all
            .iter()
            .filter(|(own, value)| own == name && !value.is_empty());
        match (own.next(), own.next()) {
            (_, Some(_)) => Err(Refusal::bad(format!("the field {name} is there twice"))),
            (found, None) => Ok(found.map(|(_, value)| value.as_slice())),
        }
    }

    /// The text of a field, without space around it.
    ///
    /// # Errors
    /// There are several of the name, or it is no UTF-8.
    pub fn text(&self, name: &str) -> Result<Option<&str>, Refusal> {
        let Some(bytes) = self.bytes(name)? else {
            return Ok(None);
        };
        let text = std::str::from_utf8(bytes);
        let text = text.map_err(|_| Refusal::bad(format!("the field {name} is no UTF-8")))?;
        Ok(Some(text.trim()).filter(|text| !text.is_empty()))
    }
}
