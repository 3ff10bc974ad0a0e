//! Trust anchors of posts: the operating system's certificate authorities, and those that an
//! operator adds.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use thiserror::Error;
use tokio_rustls::TlsConnector;

/// The certificate authorities that a client trusts.
#[derive(Clone)]
pub struct Trust {
    roots: RootCertStore,
}

/// Why an authority cannot be added.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TrustFault {
    /// The text holds no certificate.
    #[error("there is no certificate in it; it must be PEM")]
    Empty,
    /// One of the certificates is not valid.
    #[error("certificate {number} cannot be read: {detail}")]
    Certificate {
        /// Which certificate, counted from 1.
        number: usize,
        /// What is wrong with it.
        detail: Box<str>,
    },
}

impl Trust {
    /// Trusts no authority yet.
    pub fn none() -> Trust {
        Trust { roots: RootCertStore::empty() }
    }

    /// Trusts the operating system's authorities. Files of its store that cannot be read are
    /// skipped: fewer authorities mean fewer trusted endpoints, never more.
    pub fn system() -> Trust {
        let mut trust = Trust::none();
        trust.roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        trust
    }

    /// Adds the authorities of a PEM text.
    ///
    /// # Errors
    /// [`TrustFault`] if the text holds no certificate, or an invalid one.
    pub fn add(&mut self, pem: &[u8]) -> Result<(), TrustFault> {
        let mut number = 0;
        for certificate in CertificateDer::pem_slice_iter(pem) {
            number += 1;
            let fault = |detail: String| TrustFault::Certificate { number, detail: detail.into() };
            let certificate = certificate.map_err(|error| fault(error.to_string()))?;
            self.roots.add(certificate).map_err(|error| fault(error.to_string()))?;
        }
        if number == 0 { Err(TrustFault::Empty) } else { Ok(()) }
    }

    /// Makes the TLS connector for this trust: for these protocols only, without a client certificate.
    pub(super) fn connector(self, protocols: &[&[u8]]) -> Result<TlsConnector, rustls::Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(self.roots)
            .with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        Ok(TlsConnector::from(Arc::new(config)))
    }
}
