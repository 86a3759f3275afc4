//! The encoding of a stored body: brotli, gzip or none.
//!
//! Always: the gateway compresses only bodies that are the same for everybody, and each once. It
//! does not compress answers of the interface. They may hold a token beside a client's own text,
//! and the compressed length would tell of the token (BREACH).

use std::io::Write;

use axum::http::{HeaderMap, HeaderValue, header::ACCEPT_ENCODING};

/// Brotli's effort, of eleven, while a client waits for the body.
const BROTLI_QUALITY: i32 = 5;

/// An encoding of a body; preferred ones come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Brotli,
    Gzip,
    Identity,
}

impl Encoding {
    /// Returns the `Content-Encoding` header, where there is one.
    pub(crate) fn header(self) -> Option<HeaderValue> {
        match self {
            Self::Brotli => Some(HeaderValue::from_static("br")),
            Self::Gzip => Some(HeaderValue::from_static("gzip")),
            Self::Identity => None,
        }
    }

    /// Returns the body in this encoding.
    pub(crate) fn pack(self, body: &[u8]) -> Vec<u8> {
        match self {
            Self::Brotli => brotli_of(body),
            Self::Gzip => gzip_of(body),
            Self::Identity => body.to_vec(),
        }
    }
}

fn brotli_of(body: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    let params = brotli::enc::BrotliEncoderParams {
        quality: BROTLI_QUALITY,
        size_hint: body.len(),
        ..Default::default()
    };
    // A write to memory cannot fail.
    let _ = brotli::BrotliCompress(&mut &*body, &mut packed, &params);
    packed
}

fn gzip_of(body: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    // A write to memory cannot fail.
    let _ = gzip.write_all(body);
    gzip.finish().unwrap_or_default()
}

/// A client's weight for each encoding (RFC 9110, section 12.5.3), 0 to 1000.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Accepted {
    brotli: u16,
    gzip: u16,
    identity: u16,
}

/// Returns the encodings that a client takes, the best one first. Never empty: a plain body
/// serves better than none.
pub(crate) fn accepted(headers: &HeaderMap) -> Vec<Encoding> {
    let weights = Accepted::read(headers);
    let mut all = [
        (weights.brotli, Encoding::Brotli),
        (weights.gzip, Encoding::Gzip),
        (weights.identity, Encoding::Identity),
    ];
    // The sort is stable: of two equal weights, the encoding that we prefer comes first.
    all.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
    let taken = all.into_iter().filter(|(weight, _)| *weight > 0);
    let mut taken: Vec<Encoding> = taken.map(|(_, encoding)| encoding).collect();
    if !taken.contains(&Encoding::Identity) {
        taken.push(Encoding::Identity);
    }
    taken
}

impl Accepted {
    fn read(headers: &HeaderMap) -> Self {
        let (mut brotli, mut gzip, mut identity, mut any) = (None, None, None, None);
        let lines = headers.get_all(ACCEPT_ENCODING).iter();
        let lines = lines.filter_map(|line| line.to_str().ok());
        for member in lines.flat_map(|line| line.split(',')) {
            let (name, weight) = weighed(member);
            match name.to_ascii_lowercase().as_str() {
                "br" => brotli = Some(weight),
                "gzip" | "x-gzip" => gzip = Some(weight),
                "identity" => identity = Some(weight),
                "*" => any = Some(weight),
                // The gateway has no other encodings.
                _ => {}
            }
        }
        let unnamed = any.unwrap_or(0);
        Self {
            brotli: brotli.unwrap_or(unnamed),
            gzip: gzip.unwrap_or(unnamed),
            // A client takes it unless it refuses it; its default weight is the lowest.
            identity: identity.or(any).unwrap_or(1),
        }
    }
}

/// Splits a member of the list into its name and weight; an unreadable weight is 0.
fn weighed(member: &str) -> (&str, u16) {
    let Some((name, parameters)) = member.split_once(';') else {
        return (member.trim(), 1000);
    };
    let weight = parameters.trim().strip_prefix(['q', 'Q']);
    let weight = weight.and_then(|text| text.trim_start().strip_prefix('='));
    let weight = weight.and_then(|text| text.trim().parse::<f32>().ok());
    let weight = weight.filter(|weight| (0.0..=1.0).contains(weight));
    // A weight has three digits behind the point.
    let thousandths = weight.map_or(0, |weight| (weight * 1000.0).round() as u16);
    (name.trim(), thousandths)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(lines: &[&str]) -> Encoding {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(ACCEPT_ENCODING, line.parse().unwrap());
        }
        accepted(&headers)[0]
    }

    #[test]
    fn a_client_gets_what_it_would_rather_have() {
        for (lines, wanted) in [
            (&[][..], Encoding::Identity),
            (&[""], Encoding::Identity),
            (&["gzip, deflate, br, zstd"], Encoding::Brotli),
            (&["gzip", "br"], Encoding::Brotli),
            (&["gzip;q=1.0, br;q=0.5"], Encoding::Gzip),
            (&["br;q=0, gzip;q=0.001"], Encoding::Gzip),
            (&["GZIP;Q=0.8"], Encoding::Gzip),
            (&["x-gzip"], Encoding::Gzip),
            (&["deflate"], Encoding::Identity),
            (&["*"], Encoding::Brotli),
            (&["*;q=0"], Encoding::Identity),
            (&["br;q=0, *"], Encoding::Gzip),
            (&["identity, gzip;q=0.5"], Encoding::Identity),
            (&["identity;q=0.5, gzip;q=0.6"], Encoding::Gzip),
            (&["gzip;q=7, br;q=x"], Encoding::Identity),
            (&["gzip ; q = 0.5"], Encoding::Gzip),
        ] {
            assert_eq!(best(lines), wanted, "{lines:?}");
        }
    }
}
