//! A picture as pixels, for whoever takes no SVG.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

use crate::letters::Letters;
use crate::svg::Svg;

/// Pixels for one of the SVG, so that letters are sharp in print and on fine screens.
const SCALE: f32 = 2.0;

impl Svg {
    /// The picture as a PNG, with the same bytes on every machine: its letters are those of fonts
    /// that are in this crate. Letters that they lack become boxes.
    pub fn finish_png(self) -> Vec<u8> {
        let letters = Letters::new();
        let mut drawn = String::new();
        for line in self.finish().lines() {
            let outlined = letters.outlined(line);
            drawn.push_str(outlined.as_deref().unwrap_or(line));
            drawn.push('\n');
        }
        let tree = Tree::from_str(&drawn, &Options::default()).expect("an Svg is well-formed");
        let size = tree.size().to_int_size().scale_by(SCALE);
        let mut pixels = size
            .and_then(|size| Pixmap::new(size.width(), size.height()))
            .expect("a picture has an area");
        resvg::render(
            &tree,
            Transform::from_scale(SCALE, SCALE),
            &mut pixels.as_mut(),
        );
        pixels.encode_png().expect("memory takes every byte")
    }
}

#[cfg(test)]
mod tests {
    use crate::{Anchor, INK, Svg, plain};

    /// Width and height in the header of a PNG.
    fn size(png: &[u8]) -> [u32; 2] {
        assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
        [16, 20].map(|at| u32::from_be_bytes(png[at..at + 4].try_into().expect("four bytes")))
    }

    #[test]
    fn a_png_has_twice_the_pixels_and_all_letters() {
        let draw = |words: &str| {
            let mut svg = Svg::new(120.0, 40.0, "");
            svg.text(10.0, 20.0, Anchor::Start, &plain(14, INK), words);
            svg.finish_png()
        };
        let empty = draw("");
        assert_eq!(size(&empty), [240, 80]);
        // Each letter that pictures use draws something of its own, no box for a missing one.
        let missing = draw("\u{1f600}");
        let drawn: Vec<_> = "aA0,.×·—…%<(é"
            .chars()
            .map(|letter| draw(&letter.to_string()))
            .collect();
        for (place, png) in drawn.iter().enumerate() {
            assert!(*png != empty && *png != missing, "letter {place}");
            assert!(!drawn[..place].contains(png), "letter {place}");
        }
    }
}
