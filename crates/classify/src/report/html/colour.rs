//! The colour of a taxon, the same in every page.

/// The colour of a taxid as `#rrggbb`: light enough for dark letters, and told by the taxid alone.
///
/// One of 24 hues, three lightnesses and two chromas of OKLCH (Ottosson 2020), in which colours of
/// one lightness look equally light.
pub fn colour(taxid: u32) -> String {
    // Multiplied by the golden ratio, taxids that follow each other are far apart.
    let mixed = (taxid ^ (taxid >> 15)).wrapping_mul(0x9e37_79b1) >> 8;
    let hue = f64::from(mixed % 24) * 15.0;
    let lightness = 0.74 + 0.065 * f64::from(mixed / 24 % 3);
    let chroma = 0.085 + 0.04 * f64::from(mixed / 72 % 2);
    let [red, green, blue] = srgb(lightness, chroma, hue.to_radians());
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// From OKLCH to the bytes of sRGB; what a screen cannot show is cut off.
fn srgb(lightness: f64, chroma: f64, hue: f64) -> [u8; 3] {
    let (a, b) = (chroma * hue.cos(), chroma * hue.sin());
    let cube = |x: f64| x * x * x;
    let long = cube(lightness + 0.396_337_777_4 * a + 0.215_803_757_3 * b);
    let middle = cube(lightness - 0.105_561_345_8 * a - 0.063_854_172_8 * b);
    let short = cube(lightness - 0.089_484_177_5 * a - 1.291_485_548_0 * b);
    let linear = [
        4.076_741_662_1 * long - 3.307_711_591_3 * middle + 0.230_969_929_2 * short,
        -1.268_438_004_6 * long + 2.609_757_401_1 * middle - 0.341_319_396_5 * short,
        -0.004_196_086_3 * long - 0.703_418_614_7 * middle + 1.707_614_701_0 * short,
    ];
    linear.map(|part| {
        let part = part.clamp(0.0, 1.0);
        let shown = if part <= 0.003_130_8 {
            12.92 * part
        } else {
            1.055 * part.powf(1.0 / 2.4) - 0.055
        };
        (255.0 * shown).round() as u8
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Contrast of a colour with the dark ink of labels, as WCAG 2 defines it.
    fn contrast(colour: &str) -> f64 {
        let luminance = |colour: &str| {
            let part = |at: usize| {
                let part = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
                match part <= 0.04045 {
                    true => part / 12.92,
                    false => ((part + 0.055) / 1.055).powf(2.4),
                }
            };
            0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
        };
        (luminance(colour) + 0.05) / (luminance("#1f2933") + 0.05)
    }

    #[test]
    fn colours_are_many_and_letters_on_them_legible() {
        assert_eq!(srgb(1.0, 0.0, 0.0), [255; 3]);
        // Red of sRGB, by the author's own figures.
        assert_eq!(srgb(0.627_955, 0.257_683, 0.510_15), [255, 0, 0]);
        let colours: HashSet<String> = (1..5000).map(colour).collect();
        assert!(colours.len() > 130, "{}", colours.len());
        for colour in colours {
            assert!(contrast(&colour) > 4.5, "{colour}");
        }
    }
}
