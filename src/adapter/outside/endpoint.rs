//! Where a post goes, as an operator wrote it: a scheme, a host, a port and a path.
//!
//! Invariants: there is one way to write each host, so that a list of hosts can be compared with it; what is printed is
//! never more than scheme, host and port, because a path is often half of a secret.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use thiserror::Error;

use crate::limits;

/// How a connection is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// In the clear; to the loopback only.
    Http,
    /// Over TLS.
    Https,
}

/// Where a post goes.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    scheme: Scheme,
    host: Box<str>,
    address: Option<IpAddr>,
    port: u16,
    path: Box<str>,
}

/// What is wrong with the URL of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EndpointFault {
    /// Too long.
    #[error("it is longer than {} bytes", limits::ENDPOINT_BYTES.value)]
    TooLong,
    /// Neither of the two schemes.
    #[error("it must begin with https:// (or http://, for the loopback)")]
    Scheme,
    /// A character that has no place in a URL.
    #[error("it holds a character that must be percent-encoded")]
    Character,
    /// A name or password in front of the host.
    #[error("it holds a user name; what has to be secret belongs into a signing key")]
    UserInfo,
    /// A host that is none.
    #[error("its host is no name of letters, digits and hyphens; write other alphabets as punycode")]
    Host,
    /// An address in another notation than the usual one.
    #[error("its host is an address in an unusual notation; write four decimal numbers with dots, or [IPv6]")]
    Address,
    /// A port that is none.
    #[error("its port is not a number from 1 to 65535")]
    Port,
    /// A part that is never sent.
    #[error("it has a fragment, which is never sent")]
    Fragment,
}

impl Endpoint {
    /// Reads a URL.
    ///
    /// # Errors
    /// [`EndpointFault`].
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

    /// How the connection is made.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The host in lower case; an IPv6 address without brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The address, where the host is one.
    pub fn address(&self) -> Option<IpAddr> {
        self.address
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The path, with the query.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// What the `Host` header says.
    pub(super) fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.to_string() };
        match (self.scheme, self.port) {
            (Scheme::Https, 443) | (Scheme::Http, 80) => host,
            (_, port) => format!("{host}:{port}"),
        }
    }
}

/// Scheme, host and port: what a log may hold.
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
        // With its brackets it would be no name, and without them no address.
        return if host.contains(':') { Ok((host, port)) } else { Err(EndpointFault::Address) };
    }
    match authority.split_once(':') {
        None => Ok((authority, None)),
        Some((host, port)) => Ok((host, Some(port))),
    }
}

fn read_port(port: &str) -> Option<u16> {
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
    // A name that ends in a number is an address to many resolvers, in one of a dozen notations.
    let last = host.rsplit('.').next().unwrap_or_default();
    let is_number = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
    let is_hex =
        last.strip_prefix("0x").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_hexdigit()));
    if is_number || is_hex {
        let address: Ipv4Addr = host.parse().map_err(|_| EndpointFault::Address)?;
        return Ok((host.into(), Some(address.into())));
    }
    if host.len() > 253 || !host.split('.').all(is_label) {
        return Err(EndpointFault::Host);
    }
    Ok((host.into(), None))
}
