//! Text as outlines, whatever fonts the machine has.

use std::fmt::Write;

use ttf_parser::{Face, GlyphId, OutlineBuilder};

const REGULAR: &[u8] = include_bytes!("../fonts/DejaVuSans.ttf");
const BOLD: &[u8] = include_bytes!("../fonts/DejaVuSans-Bold.ttf");

/// The fonts of pictures.
pub struct Letters {
    regular: Face<'static>,
    bold: Face<'static>,
}

impl Letters {
    /// Those that come with this crate.
    pub fn new() -> Letters {
        let face = |font| Face::parse(font, 0).expect("the fonts of this crate are whole");
        Letters {
            regular: face(REGULAR),
            bold: face(BOLD),
        }
    }

    /// A text element of an `Svg` as a path that looks alike.
    pub fn outlined(&self, element: &str) -> Option<String> {
        let (tag, words) = element.strip_prefix("<text ")?.split_once('>')?;
        let words = unescaped(words.strip_suffix("</text>")?);
        let number = |name: &str| attribute(tag, name)?.parse::<f32>().ok();
        let bold = attribute(tag, "font-weight") == Some("bold");
        let face = if bold { &self.bold } else { &self.regular };
        let scale = number("font-size")? / f32::from(face.units_per_em());
        let glyphs: Vec<GlyphId> = words
            .chars()
            .map(|letter| face.glyph_index(letter).unwrap_or_default())
            .collect();
        let advance = |glyph| scale * f32::from(face.glyph_hor_advance(glyph).unwrap_or(0));
        let width: f32 = glyphs.iter().map(|&glyph| advance(glyph)).sum();
        let before = match attribute(tag, "text-anchor")? {
            "middle" => width / 2.0,
            "end" => width,
            _ => 0.0,
        };
        let mut outline = Outline {
            path: String::new(),
            x: number("x")? - before,
            y: number("y")?,
            scale,
        };
        for glyph in glyphs {
            // A space has none.
            let _ = face.outline_glyph(glyph, &mut outline);
            outline.x += advance(glyph);
        }
        // The place of the text is in the outlines; its other attributes hold for them too.
        let style = tag.splitn(4, ' ').nth(3)?;
        let path = outline.path;
        Some(format!("<path {style} d=\"{path}\"/>"))
    }
}

/// The value of an attribute.
fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let starts = format!("{name}=\"");
    let at = tag.match_indices(&starts).map(|(at, _)| at);
    // `x` is the end of no other name.
    let mut at = at.filter(|&at| at == 0 || tag.as_bytes()[at - 1] == b' ');
    let value = &tag[at.next()? + starts.len()..];
    value.split('"').next()
}

/// Text as it was before `escape`.
fn unescaped(text: &str) -> String {
    let names = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&amp;", "&"),
    ];
    names.iter().fold(text.to_owned(), |text, (name, letter)| {
        text.replace(name, letter)
    })
}

/// Outlines of letters as the commands of a path.
struct Outline {
    path: String,
    /// Where the letter begins.
    x: f32,
    y: f32,
    scale: f32,
}

impl Outline {
    fn put(&mut self, command: char, points: &[(f32, f32)]) {
        self.path.push(command);
        for (x, y) in points {
            // Letters go up where pictures go down.
            let (x, y) = (self.x + self.scale * x, self.y - self.scale * y);
            write!(self.path, "{x:.2} {y:.2} ").expect("a String takes every text");
        }
    }
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        self.put('M', &[(x, y)]);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.put('L', &[(x, y)]);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.put('Q', &[(x1, y1), (x, y)]);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.put('C', &[(x1, y1), (x2, y2), (x, y)]);
    }

    fn close(&mut self) {
        self.put('Z', &[]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Anchor, INK, Svg, plain};

    /// Least and greatest x of the outlines of words at x = 100.
    fn ends(anchor: Anchor, words: &str) -> (f32, f32) {
        let mut svg = Svg::new(200.0, 40.0, "");
        svg.text(100.0, 20.0, anchor, &plain(10, INK), words);
        let svg = svg.finish();
        let path = Letters::new()
            .outlined(svg.lines().nth(2).unwrap())
            .unwrap();
        assert!(
            path.starts_with("<path font-size=\"10\" fill=\"#1f2933\" d=\"M"),
            "{path}"
        );
        let points = attribute(&path, "d")
            .unwrap()
            .split(|c: char| c.is_ascii_uppercase());
        let xs = points.flat_map(|points| {
            let numbers: Vec<f32> = points
                .split_whitespace()
                .map(|n| n.parse().unwrap())
                .collect();
            numbers.into_iter().step_by(2)
        });
        xs.fold((f32::MAX, f32::MIN), |(low, high), x| {
            (low.min(x), high.max(x))
        })
    }

    #[test]
    fn words_stand_where_their_anchor_says() {
        let (start, end) = ends(Anchor::Start, "homozygous");
        assert!(
            (100.0..101.0).contains(&start) && (150.0..170.0).contains(&end),
            "{start} {end}"
        );
        let width = end - start;
        let (left, right) = ends(Anchor::Middle, "homozygous");
        assert!(((left + right) / 2.0 - 100.0).abs() < 1.0 && (right - left - width).abs() < 0.1);
        let (left, right) = ends(Anchor::End, "homozygous");
        assert!((99.0..=100.0).contains(&right) && (right - left - width).abs() < 0.1);
        // A sign that is written by its name is one letter.
        assert_eq!(ends(Anchor::Start, "<"), ends(Anchor::Start, "<"));
        assert!(ends(Anchor::Start, "<").1 < 110.0 && ends(Anchor::Start, "&lt;").1 > 115.0);
    }

    #[test]
    fn what_is_no_text_stays() {
        let letters = Letters::new();
        for element in ["<path d=\"M0 0\"/>", "</svg>", "", "<text x=\"1\">a</text>"] {
            assert_eq!(letters.outlined(element), None);
        }
    }
}
