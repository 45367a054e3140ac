//! A picture that grows element by element.

use std::fmt::{Arguments, Write};

use crate::words::shortened;

/// Colour of text and axes.
pub const INK: &str = "#1f2933";
/// Colour of text that explains.
pub const GREY: &str = "#52606d";
/// Colour of the lines of a grid.
pub const GRID: &str = "#e4e7eb";

/// A title has at most so many characters.
const TITLE: usize = 70;

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stroke<'a> {
    /// Its colour.
    pub colour: &'a str,
    /// Its width in pixels.
    pub width: f64,
    /// Whether it is dashed.
    pub dashed: bool,
}

/// Which part of a text stands at its x.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its first letter.
    Start,
    /// Its middle.
    Middle,
    /// Its last letter.
    End,
}

impl Anchor {
    fn name(self) -> &'static str {
        match self {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        }
    }
}

/// One self-contained SVG. Distances are pixels from the upper left corner.
#[derive(Debug)]
pub struct Svg {
    text: String,
}

impl Svg {
    /// A white picture; `label` says what it shows to those who do not see it. Any text is safe.
    pub fn new(width: f64, height: f64, label: &str) -> Svg {
        let label = escape(label);
        let mut svg = Svg {
            text: String::new(),
        };
        svg.put(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{label}\" \
             font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">"
        ));
        svg.put(format_args!(
            "<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>"
        ));
        svg
    }

    /// Adds an element as it stands, and ends the line.
    pub fn put(&mut self, element: Arguments) {
        self.text
            .write_fmt(element)
            .expect("a String takes every text");
        self.text.push('\n');
    }

    /// Adds `words` in a style such as [`plain`] gives; any text is safe.
    pub fn text(&mut self, x: f64, y: f64, anchor: Anchor, style: &str, words: &str) {
        let (anchor, words) = (anchor.name(), escape(words));
        self.put(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" {style}>{words}</text>"
        ));
    }

    /// Joins points by straight lines.
    pub fn polyline(&mut self, points: &[(f64, f64)], stroke: &Stroke<'_>) {
        let Stroke {
            colour,
            width,
            dashed,
        } = *stroke;
        let dashes = if dashed {
            " stroke-dasharray=\"6 4\""
        } else {
            ""
        };
        let points: Vec<String> = points
            .iter()
            .map(|(x, y)| format!("{x:.1},{y:.1}"))
            .collect();
        let points = points.join(" ");
        self.put(format_args!(
            "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"{dashes} \
             stroke-linejoin=\"round\" points=\"{points}\"/>"
        ));
    }

    /// Adds a title, shortened to what fits, and a line below it, both from `left` on.
    pub fn heading(&mut self, left: f64, title: &str, subtitle: &str) {
        let title = shortened(title, TITLE);
        self.text(left, 36.0, Anchor::Start, &bold(20, INK), &title);
        self.text(left, 60.0, Anchor::Start, &plain(14, GREY), subtitle);
    }

    /// The file.
    pub fn finish(mut self) -> String {
        self.text.push_str("</svg>\n");
        self.text
    }
}

/// The style of text of a size in pixels.
pub fn plain(size: u32, colour: &str) -> String {
    format!("font-size=\"{size}\" fill=\"{colour}\"")
}

/// The style of bold text of a size in pixels.
pub fn bold(size: u32, colour: &str) -> String {
    format!("font-size=\"{size}\" font-weight=\"bold\" fill=\"{colour}\"")
}

/// Text that is safe in an element and in a quoted attribute. Control characters, which XML
/// forbids, become spaces.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            control if control.is_control() || matches!(control, '\u{fffe}' | '\u{ffff}') => {
                escaped.push(' ')
            }
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_is_safe() {
        assert_eq!(
            escape("<script>\"&'\u{1}\u{ffff}ü"),
            "&lt;script&gt;&quot;&amp;'  ü"
        );
        let mut svg = Svg::new(10.0, 20.5, "\"<");
        svg.text(1.0, 2.25, Anchor::End, &plain(9, INK), "</svg>");
        let lines: Vec<String> = svg.finish().lines().map(String::from).collect();
        assert!(lines[0].contains("viewBox=\"0 0 10 20.5\""), "{lines:?}");
        assert!(lines[0].contains("aria-label=\"&quot;&lt;\""), "{lines:?}");
        let text = "<text x=\"1.0\" y=\"2.2\" text-anchor=\"end\" font-size=\"9\" fill=\"#1f2933\">\
                    &lt;/svg&gt;</text>";
        assert_eq!(lines[2..], [text, "</svg>"]);
    }

    #[test]
    fn titles_fit() {
        let mut svg = Svg::new(960.0, 100.0, "");
        svg.heading(0.0, &"x".repeat(71), "");
        assert!(svg.finish().contains(&format!(">{}…<", "x".repeat(69))));
    }
}
