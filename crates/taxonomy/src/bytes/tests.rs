//! What is written is read back; what was changed is refused.

use crate::tests::{arbitrary, small};
use crate::{Taxonomy, TaxonomyError};
use proptest::prelude::*;

/// The bytes with the checksum that belongs to them, so that what lies behind it is reached.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let body = bytes.len() - 4;
    let checksum = crc32fast::hash(&bytes[..body]);
    bytes[body..].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

/// Written by another program, from the description in `docs/formats.md`; it is never made again.
const GOLDEN: &[u8] = include_bytes!("../../tests/golden/v1/taxonomy.bin");

#[test]
fn the_first_version_is_read_and_written() {
    assert_eq!(Taxonomy::from_bytes(GOLDEN).expect("version 1"), small());
    assert_eq!(small().to_bytes(), GOLDEN);
}

#[test]
fn other_versions_are_refused_by_number() {
    let mut bytes = small().to_bytes();
    bytes[8] = 7;
    let error = Taxonomy::from_bytes(&bytes).expect_err("version 7");
    assert!(matches!(error, TaxonomyError::Version { found: 7, .. }));
}

#[test]
fn every_truncation_and_extension_is_refused() {
    let bytes = small().to_bytes();
    for end in 0..bytes.len() {
        assert!(Taxonomy::from_bytes(&bytes[..end]).is_err(), "{end}");
        if end >= 8 {
            assert!(
                Taxonomy::from_bytes(&sealed(bytes[..end].to_vec())).is_err(),
                "{end}, sealed"
            );
        }
    }
    let longer = [&bytes[..], &[0]].concat();
    assert!(Taxonomy::from_bytes(&longer).is_err());
    assert!(Taxonomy::from_bytes(&sealed(longer)).is_err());
}

#[test]
fn every_changed_bit_is_refused() {
    let bytes = small().to_bytes();
    for bit in 0..8 * bytes.len() {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(Taxonomy::from_bytes(&changed).is_err(), "bit {bit}");
    }
}

/// With a right checksum a change gives another taxonomy, written with the same bytes, or an error.
#[test]
fn what_is_accepted_is_canonical() {
    let bytes = small().to_bytes();
    let mut accepted = 0;
    for bit in 0..8 * (bytes.len() - 4) {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        let changed = sealed(changed);
        if let Ok(read) = Taxonomy::from_bytes(&changed) {
            accepted += 1;
            assert_eq!(read.to_bytes(), changed, "bit {bit}");
        }
    }
    assert!(accepted > 100, "letters of names may change: {accepted}");
}

proptest! {
    #[test]
    fn what_is_written_is_read(taxonomy in arbitrary(60)) {
        let bytes = taxonomy.to_bytes();
        prop_assert_eq!(Taxonomy::from_bytes(&bytes).expect("just written"), taxonomy);
    }

    #[test]
    fn noise_is_no_taxonomy(noise in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut bytes = small().to_bytes();
        bytes.splice(12.., noise);
        let _ = Taxonomy::from_bytes(&bytes).map(|read| panic!("accepted {read:?}"));
        if bytes.len() > 16 && let Ok(read) = Taxonomy::from_bytes(&sealed(bytes.clone())) {
            prop_assert_eq!(read.to_bytes(), sealed(bytes));
        }
    }
}
