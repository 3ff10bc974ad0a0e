//! Endpoints: URLs that posts go to, parsed strictly into scheme, host, port and path.
//!
//! Invariants: each host has one spelling, so that endpoints can be compared with a list of hosts;
//! an endpoint prints at most scheme, host and port, because a path often contains a secret.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use thiserror::Error;

use crate::limits;

/// The protocol of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// HTTP without encryption; to the loopback only.
    Http,
    /// HTTP over TLS.
    Https,
}

/// The URL of a receiver of posts.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    scheme: Scheme,
    host: Box<str>,
    address: Option<IpAddr>,
    port: u16,
    path: Box<str>,
}

/// Why a URL is not accepted as an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EndpointFault {
    /// The URL is too long.
    #[error("it is longer than {} bytes", limits::ENDPOINT_BYTES.value)]
    TooLong,
    /// The scheme is neither `http` nor `https`.
    #[error("it must begin with https:// (or http://, for the loopback)")]
    Scheme,
    /// The URL holds a character that must be percent-encoded.
    #[error("it holds a character that must be percent-encoded")]
    Character,
    /// The URL holds a user name or password.
    #[error("it holds a user name; what has to be secret belongs into a signing key")]
    UserInfo,
    /// The host is not a valid name.
    #[error("its host is no name of letters, digits and hyphens; write other alphabets as punycode")]
    Host,
    /// The host is an address in an unusual notation.
    #[error("its host is an address in an unusual notation; write four decimal numbers with dots, or [IPv6]")]
    Address,
    /// The port is not a number from 1 to 65535.
    #[error("its port is not a number from 1 to 65535")]
    Port,
    /// The URL has a fragment, which is never sent.
    #[error("it has a fragment, which is never sent")]
    Fragment,
}

impl Endpoint {
    /// Parses a URL.
    ///
    /// # Errors
    /// [`EndpointFault`] if the URL is not accepted.
    pub fn parse(url: &str) -> Result<Endpoint, EndpointFault> {
        if url.len() as u64 > limits::ENDPOINT_BYTES.value {
            return Err(EndpointFault::TooLong);
        }
        let (scheme, rest) = split_scheme(url).ok_or(EndpointFault::Scheme)?;
        if rest.contains('#') {
            return Err(EndpointFault::Fragment);
        }
        if !rest.bytes().all(|byte| byte.is_ascii_graphic() && !br#""<>\^`{|}"#.contains(&byte)) {
            return Err(EndpointFault::Character);
        }
        let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        if authority.contains('@') {
            return Err(EndpointFault::UserInfo);
        }
        let (host, port) = split_port(authority)?;
        let (host, address) = read_host(host)?;
        let port = match port {
            None => {
                if scheme == Scheme::Https {
                    443
                } else {
                    80
                }
            }
            Some(port) => read_port(port).ok_or(EndpointFault::Port)?,
        };
        let path = if path.starts_with('/') { path.into() } else { format!("/{path}").into() };
        Ok(Endpoint { scheme, host, address, port, path })
    }

    /// Returns the scheme.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Returns the host in lower case; an IPv6 address without brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the address, if the host is one.
    pub fn address(&self) -> Option<IpAddr> {
        self.address
    }

    /// Returns the port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the path, with the query.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// Returns the value of the `Host` header.
    pub(super) fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.to_string() };
        match (self.scheme, self.port) {
            // The default port is left out, as RFC 9110 §4.2.3 normalizes it.
            (Scheme::Https, 443) | (Scheme::Http, 80) => host,
            (_, port) => format!("{host}:{port}"),
        }
    }
}

/// Prints scheme, host and port, which is what a log may hold.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
        };
        write!(f, "{scheme}://{}", self.authority())
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn split_scheme(url: &str) -> Option<(Scheme, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    if scheme.eq_ignore_ascii_case("https") {
        Some((Scheme::Https, rest))
    } else {
        scheme.eq_ignore_ascii_case("http").then_some((Scheme::Http, rest))
    }
}

fn split_port(authority: &str) -> Result<(&str, Option<&str>), EndpointFault> {
    if let Some(rest) = authority.strip_prefix('[') {
        let (host, rest) = rest.split_once(']').ok_or(EndpointFault::Address)?;
        let port = match rest {
            "" => None,
            _ => Some(rest.strip_prefix(':').ok_or(EndpointFault::Port)?),
        };
        // Without a colon, the text in brackets is no IPv6 address, and with its brackets it is no
        // name.
        return if host.contains(':') { Ok((host, port)) } else { Err(EndpointFault::Address) };
    }
    match authority.split_once(':') {
        None => Ok((authority, None)),
        Some((host, port)) => Ok((host, Some(port))),
    }
}

fn read_port(port: &str) -> Option<u16> {
    // No leading zero, so that each port has one spelling.
    let is_plain = port.bytes().all(|byte| byte.is_ascii_digit()) && !port.starts_with('0');
    is_plain.then(|| port.parse().ok()).flatten()
}

fn read_host(host: &str) -> Result<(Box<str>, Option<IpAddr>), EndpointFault> {
    if host.contains(':') {
        let address: Ipv6Addr = host.parse().map_err(|_| EndpointFault::Address)?;
        return Ok((address.to_string().into(), Some(address.into())));
    }
    let host = host.to_ascii_lowercase();
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    // Many resolvers take a name that ends in a number for an address, in one of a dozen notations.
    // Only dotted decimal is accepted, so that no other spelling of a private address gets through.
    let last = host.rsplit('.').next().unwrap_or_default();
    let is_number = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
    let is_hex =
        last.strip_prefix("0x").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_hexdigit()));
    if is_number || is_hex {
        let address: Ipv4Addr = host.parse().map_err(|_| EndpointFault::Address)?;
        return Ok((host.into(), Some(address.into())));
    }
    // 253 bytes: the longest name that DNS can carry.
    if host.len() > 253 || !host.split('.').all(is_label) {
        return Err(EndpointFault::Host);
    }
    Ok((host.into(), None))
}
