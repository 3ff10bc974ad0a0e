//! Checks the address of a post: only public internet addresses are allowed, and the loopback if it
//! was configured.
//!
//! An IPv6 address that carries an IPv4 address is judged by that one, in every form of embedding,
//! because a translator on the way would unwrap it. Every address that is not known to be public is
//! refused. Source: the special-purpose registries of IANA (RFC 6890 and its successors);
//! reliability S16.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Why a post may not go to an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Forbidden {
    /// Loopback, which was not configured.
    Loopback,
    /// The unspecified address: `0.0.0.0/8`, `::`.
    Unspecified,
    /// A private network: `10/8`, `172.16/12`, `192.168/16`, `fc00::/7`, `fec0::/10`.
    Private,
    /// Shared between carrier and customer: `100.64/10`.
    Shared,
    /// Link-local, where clouds serve their metadata: `169.254/16`, `fe80::/10`.
    LinkLocal,
    /// A cloud's metadata service on a public address.
    Metadata,
    /// Reserved for documentation and benchmarks.
    Documentation,
    /// Multicast or broadcast.
    Multicast,
    /// Reserved, or not assigned.
    Reserved,
    /// A tunnel or translation whose other end is not visible in the address.
    Tunnel,
}

impl Forbidden {
    /// Returns the kind of address in one word.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Forbidden::Loopback => "loopback",
            Forbidden::Unspecified => "unspecified",
            Forbidden::Private => "private",
            Forbidden::Shared => "shared",
            Forbidden::LinkLocal => "link-local",
            Forbidden::Metadata => "metadata",
            Forbidden::Documentation => "documentation",
            Forbidden::Multicast => "multicast",
            Forbidden::Reserved => "reserved",
            Forbidden::Tunnel => "tunnel",
        }
    }
}

impl fmt::Display for Forbidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Checks whether a post may go to this address.
///
/// # Errors
/// [`Forbidden`], with the kind of network that the address belongs to.
pub fn check_address(address: IpAddr) -> Result<(), Forbidden> {
    match address {
        IpAddr::V4(address) => check_v4(address),
        IpAddr::V6(address) => check_v6(address),
    }
}

fn check_v4(address: Ipv4Addr) -> Result<(), Forbidden> {
    let [a, b, c, _] = address.octets();
    let forbidden = match (a, b, c) {
        // Azure's WireServer, which has an address in a public range.
        (168, 63, 129) if address == Ipv4Addr::new(168, 63, 129, 16) => Forbidden::Metadata,
        (0, ..) => Forbidden::Unspecified,
        (127, ..) => Forbidden::Loopback,
        (10, ..) | (172, 16..=31, _) | (192, 168, _) => Forbidden::Private,
        (100, 64..=127, _) => Forbidden::Shared,
        (169, 254, _) => Forbidden::LinkLocal,
        (192, 0, 2) | (198, 51, 100) | (203, 0, 113) | (198, 18..=19, _) => Forbidden::Documentation,
        // IETF protocol assignments, and below them the anycast relays of 6to4.
        (192, 0, 0) => Forbidden::Reserved,
        (192, 88, 99) => Forbidden::Tunnel,
        (224..=239, ..) => Forbidden::Multicast,
        (240..=255, ..) => Forbidden::Reserved,
        _ => return Ok(()),
    };
    Err(forbidden)
}

fn check_v6(address: Ipv6Addr) -> Result<(), Forbidden> {
    if address.is_unspecified() {
        return Err(Forbidden::Unspecified);
    }
    if address.is_loopback() {
        return Err(Forbidden::Loopback);
    }
    // ISATAP: the interface identifier carries an IPv4 address in any network, so both are checked.
    if let [.., 0 | 0x200, 0x5efe, high, low] = address.segments() {
        check_v4(v4(high, low))?;
    }
    if let Some(embedded) = embedded_v4(address) {
        return check_v4(embedded);
    }
    let [a, b, c, ..] = address.segments();
    let forbidden = match (a, b) {
        (0xff00..=0xffff, _) => Forbidden::Multicast,
        (0xfe80..=0xfebf, _) => Forbidden::LinkLocal,
        (0xfc00..=0xfdff | 0xfec0..=0xfeff, _) => Forbidden::Private,
        // NAT64 with a local prefix (RFC 8215), where only that network knows the position of the
        // IPv4 address; and Teredo.
        (0x64, 0xff9b) | (0x2001, 0) => Forbidden::Tunnel,
        (0x2001, 0xdb8) | (0x3fff, 0..=0x0fff) => Forbidden::Documentation,
        (0x2001, 0x2) if c == 0 => Forbidden::Documentation,
        // IETF protocol assignments: 2001::/23.
        (0x2001, 1..=0x1ff) => Forbidden::Reserved,
        // Only 2000::/3 is assigned for global unicast.
        (0x2000..=0x3fff, _) => return Ok(()),
        _ => Forbidden::Reserved,
    };
    Err(forbidden)
}

/// Returns the IPv4 address that an IPv6 address embeds, as the whole address or in its prefix.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    match address.segments() {
        // IPv4-compatible, IPv4-mapped, IPv4-translated (SIIT), and NAT64 with the well-known
        // prefix.
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(v4(high, low)),
        // 6to4 carries the address of the site's router in the prefix.
        [0x2002, high, low, ..] => Some(v4(high, low)),
        _ => None,
    }
}

fn v4(high: u16, low: u16) -> Ipv4Addr {
    let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
    Ipv4Addr::new(a, b, c, d)
}
