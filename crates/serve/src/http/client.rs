//! Who asks.

use std::net::{IpAddr, SocketAddr};

use axum::http::HeaderMap;

/// The address of the other end of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub SocketAddr);

/// The name of the token that a request came with.
#[derive(Clone, Debug)]
pub struct Holder(pub String);

/// The address of a client. What a header says is believed of proxies alone that are trusted, and
/// of those that they name the last that is not one of them.
pub fn address(peer: Peer, headers: &HeaderMap, trusted: &[IpAddr]) -> IpAddr {
    let peer = peer.0.ip().to_canonical();
    if !trusted.contains(&peer) {
        return peer;
    }
    let named = headers.get_all("x-forwarded-for").iter();
    let named = named.filter_map(|value| value.to_str().ok());
    let named: Vec<&str> = named.flat_map(|value| value.split(',')).collect();
    let mut client = peer;
    for text in named.iter().rev() {
        let Ok(address) = text.trim().parse::<IpAddr>() else {
            break;
        };
        client = address.to_canonical();
        if !trusted.contains(&client) {
            break;
        }
    }
    client
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_trusted_proxies_say_who_asks() {
        let peer = |text: &str| Peer(SocketAddr::new(text.parse().unwrap(), 1));
        let mut headers = HeaderMap::new();
        headers.insert(
            "x-forwarded-for",
            "6.6.6.6, 10.0.0.9, 10.0.0.2".parse().unwrap(),
        );
        let trusted = ["10.0.0.1", "10.0.0.2"].map(|text| text.parse().unwrap());
        let of = |text, trusted: &[IpAddr]| address(peer(text), &headers, trusted).to_string();
        assert_eq!(of("10.0.0.1", &trusted), "10.0.0.9");
        assert_eq!(of("10.0.0.1", &[]), "10.0.0.1");
        assert_eq!(of("7.7.7.7", &trusted), "7.7.7.7");
        assert_eq!(of("::ffff:10.0.0.1", &trusted), "10.0.0.9");
    }
}
