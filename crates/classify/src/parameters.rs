//! How the references of a database are sketched, and the names of its sections.

use gyrase_kmer::{Choice, SketchShape};
use serde::{Deserialize, Serialize};

/// The sections of a database.
pub(crate) const PARAMETERS: &str = "parameters";
pub(crate) const TARGETS: &str = "targets";
pub(crate) const TAXONOMY: &str = "taxonomy";
pub(crate) const DISTINCT: &str = "distinct";
pub(crate) const FULL: &str = "full";

/// How the windows of a database are sketched, and how many locations a feature keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// Length of k-mers, length and stride of windows, and which k-mers become features.
    pub sketch: SketchShape,
    /// The most locations that a feature keeps, 1 to 254.
    pub locations: u8,
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters {
            sketch: SketchShape::default(),
            locations: 254,
        }
    }
}

/// The parameters as they are stored: either the features of a sketch, or of how many k-mers one is
/// chosen.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    k: usize,
    window: usize,
    stride: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    features: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    one_in: Option<usize>,
    locations: u8,
}

impl Parameters {
    /// Their JSON.
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let Parameters { sketch, locations } = self;
        let (features, one_in) = match sketch.choice() {
            Choice::Smallest(features) => (Some(features), None),
            Choice::OneIn(one_in) => (None, Some(one_in)),
        };
        let (window, stride) = (sketch.window(), sketch.stride());
        let stored = Stored {
            k: sketch.k(),
            window,
            stride,
            features,
            one_in,
            locations,
        };
        serde_json::to_vec(&stored).expect("numbers are valid JSON")
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Parameters> {
        let Stored {
            k,
            window,
            stride,
            features,
            one_in,
            locations,
        } = serde_json::from_slice(bytes).ok()?;
        let sketch = match (features, one_in) {
            (Some(features), None) => SketchShape::new(k, window, stride, features),
            (None, Some(one_in)) => SketchShape::sampled(k, window, stride, one_in),
            _ => return None,
        };
        (1..=254).contains(&locations).then_some(Parameters {
            sketch: sketch.ok()?,
            locations,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_either_choice_are_read_back() {
        let sampled = SketchShape::sampled(32, 200, 90, 7).unwrap();
        let smallest = SketchShape::new(16, 127, 112, 16).unwrap();
        for (sketch, text) in [
            (
                sampled,
                r#"{"k":32,"window":200,"stride":90,"one_in":7,"locations":9}"#,
            ),
            (
                smallest,
                r#"{"k":16,"window":127,"stride":112,"features":16,"locations":9}"#,
            ),
        ] {
            let parameters = Parameters {
                sketch,
                locations: 9,
            };
            assert_eq!(str::from_utf8(&parameters.to_bytes()).unwrap(), text);
            assert_eq!(Parameters::from_bytes(text.as_bytes()), Some(parameters));
        }
        let default = Parameters::default();
        assert_eq!(Parameters::from_bytes(&default.to_bytes()), Some(default));
    }

    #[test]
    fn senseless_parameters_are_refused() {
        for text in [
            r#"{"k":24,"window":135,"stride":112,"one_in":5,"locations":0}"#,
            r#"{"k":24,"window":135,"stride":112,"one_in":5,"locations":255}"#,
            r#"{"k":24,"window":135,"stride":112,"one_in":0,"locations":9}"#,
            r#"{"k":24,"window":135,"stride":112,"features":16,"locations":9}"#,
            r#"{"k":16,"window":135,"stride":112,"features":16,"one_in":5,"locations":9}"#,
            r#"{"k":16,"window":135,"stride":112,"locations":9}"#,
            r#"{"k":24,"window":135,"stride":112,"one_in":5,"locations":9,"seeds":2}"#,
            "",
        ] {
            assert_eq!(Parameters::from_bytes(text.as_bytes()), None, "{text}");
        }
    }
}
