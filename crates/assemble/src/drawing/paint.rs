//! A laid out graph as elements of a picture.

use std::fmt::Write;

use gyrase_picture::words::{self, grouped, shortened, things};
use gyrase_picture::{Anchor, GREY, INK, Svg, escape, plain};

use super::Drawing;
use super::pack::{Packed, pack};
use super::stress::Point;
use crate::graph::Way;

/// Pixels at the sides.
const MARGIN: f64 = 24.0;
/// Pixels of a title.
const HEAD: f64 = 44.0;
/// Pixels of a line of text.
const LINE: f64 = 20.0;
/// Pixels of a letter of 13.
const LETTER: f64 = 6.9;
/// Pixels of the picture for each band with a name, and the letters of one.
const NAMED: f64 = 40.0;
const NAME: usize = 26;
/// Pixels of a band that gets one.
const LEAST_NAMED: f64 = 34.0;
const LINK: &str = "#7b8794";

/// Depths as parts of the median, from which on a colour stands for them, and what is said of it.
const DEPTHS: [(f64, &str, &str); 5] = [
    (0.0, "#9aa5b1", "below half"),
    (0.5, "#2f6fc4", "1 ×"),
    (1.5, "#2d8a4e", "2 ×"),
    (2.5, "#c97a12", "3 to 5 ×"),
    (5.5, "#c8372d", "6 × or more"),
];

impl Drawing {
    /// The picture, so many pixels wide. `title` may be any text, or nothing.
    pub fn svg(&self, title: &str, width: f64) -> Svg {
        let inner = width - 2.0 * MARGIN;
        let extents: Vec<Point> = self.placed.iter().map(|placed| placed.extent).collect();
        let packed = pack(&extents, inner);
        let facts = wrapped(&facts(self), inner);
        let head = if title.is_empty() { 0.0 } else { HEAD };
        let top = head + LINE * facts.len() as f64 + 30.0;
        let legend = Legend::of(self, &packed, inner);
        let below = top + packed.height + 34.0;
        let height = below + LINE * legend.lines as f64 + 12.0;
        let mut svg = Svg::new(width, height, &format!("assembly graph {title}"));
        if !title.is_empty() {
            let title = shortened(title, (inner / 11.0) as usize);
            svg.heading(MARGIN, &title, "");
        }
        for (line, words) in facts.iter().enumerate() {
            let y = head + LINE * (line as f64 + 1.0);
            svg.text(MARGIN, y, Anchor::Start, &plain(14, GREY), words);
        }
        let canvas = Canvas {
            drawing: self,
            packed: &packed,
            top,
        };
        canvas.links(&mut svg);
        canvas.bands(&mut svg);
        canvas.names(&mut svg, width);
        legend.paint(&mut svg, below);
        svg
    }
}

/// What is said of the graph in a line.
fn facts(drawing: &Drawing) -> String {
    let bands = &drawing.bands;
    if bands.is_empty() {
        return "The graph has no segment.".to_owned();
    }
    let bases: u64 = bands.iter().map(|band| band.length).sum();
    let (more, of_them) = drawing.left_out;
    let all = drawing.placed.len() as u64 + more;
    let mut facts = format!(
        "{}, {}, {}",
        things(bands.len() as u64, "segment"),
        words::bases(bases as f64, 0.0),
        things(all, "component")
    );
    if more > 0 {
        let _ = write!(
            facts,
            "; {} with {} not drawn",
            things(more, "component"),
            things(of_them, "segment")
        );
    }
    facts
}

/// Words in lines that fit.
fn wrapped(text: &str, width: f64) -> Vec<String> {
    let most = (width / LETTER) as usize;
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.len() - 1;
        if !lines[last].is_empty() && lines[last].len() + word.len() >= most {
            lines.push(word.to_owned());
        } else {
            let before = if lines[last].is_empty() { "" } else { " " };
            let _ = write!(lines[last], "{before}{word}");
        }
    }
    lines
}

/// Where the graph is in the picture.
struct Canvas<'d> {
    drawing: &'d Drawing,
    packed: &'d Packed,
    top: f64,
}

impl Canvas<'_> {
    fn at(&self, component: usize, point: Point) -> Point {
        let [x, y] = self.packed.corners[component];
        let scale = self.packed.scale;
        [
            MARGIN + x + scale * point[0],
            self.top + y + scale * point[1],
        ]
    }

    fn points(&self, component: usize, place: usize) -> Vec<Point> {
        let points = self.drawing.placed[component].points(place).iter();
        points.map(|&point| self.at(component, point)).collect()
    }

    /// The bands, component by component, each with its place in the component.
    fn all(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        let placed = self.drawing.placed.iter().enumerate();
        placed.flat_map(|(component, placed)| {
            let segments = placed.segments.iter().enumerate();
            segments.map(move |(place, &segment)| (component, place, segment))
        })
    }

    fn links(&self, svg: &mut Svg) {
        let mut lines = String::new();
        for (component, _, segment) in self.all() {
            let placed = &self.drawing.placed[component];
            let way = Way::forward(segment);
            for way in [way, way.flipped()] {
                for &to in self.drawing.edges.next(way) {
                    if (to.flipped(), way.flipped()) < (way, to) {
                        continue;
                    }
                    let ends = [placed.end(way), placed.end(to.flipped())];
                    let [[x, y], [to_x, to_y]] = ends.map(|end| self.at(component, end));
                    // An end that meets itself has a loop.
                    let _ = match way == to.flipped() {
                        true => write!(lines, "M{x:.1} {y:.1}a4 4 0 1 1 .1 .1"),
                        false => write!(lines, "M{x:.1} {y:.1}L{to_x:.1} {to_y:.1}"),
                    };
                }
            }
        }
        if !lines.is_empty() {
            svg.put(format_args!(
                "<path fill=\"none\" stroke=\"{LINK}\" stroke-width=\"1.5\" d=\"{lines}\"/>"
            ));
        }
    }

    fn bands(&self, svg: &mut Svg) {
        let thick = (0.6 * self.packed.scale).clamp(3.0, 8.0);
        for (component, place, segment) in self.all() {
            let band = &self.drawing.bands[segment];
            let part = self.part(segment);
            let width = thick * part.unwrap_or(1.0).sqrt().clamp(0.5, 2.5);
            let colour = DEPTHS[class(part)].1;
            let curve = curve(&self.points(component, place));
            let (name, length) = (escape(&band.name), grouped(band.length));
            let depth = band
                .depth
                .map_or(String::new(), |depth| format!(", depth {depth:.1}"));
            svg.put(format_args!(
                "<path fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width:.1}\" \
                 d=\"{curve}\"><title>{name}: {length} bases{depth}</title></path>"
            ));
        }
    }

    /// The depth of a segment as a part of the median.
    fn part(&self, segment: usize) -> Option<f64> {
        let depth = self.drawing.bands[segment].depth?;
        let median = self.drawing.median_depth.filter(|&median| median > 0.0)?;
        Some(depth / median)
    }

    /// Names beside the longest bands, where there is room.
    fn names(&self, svg: &mut Svg, width: f64) {
        let mut all: Vec<(usize, usize, usize)> = self.all().collect();
        all.sort_by_key(|found| std::cmp::Reverse(self.drawing.bands[found.2].length));
        let mut taken: Vec<[f64; 4]> = Vec::new();
        for (component, place, segment) in all.into_iter().take((width / NAMED) as usize) {
            let band = &self.drawing.bands[segment];
            let points = self.points(component, place);
            if length(&points) < LEAST_NAMED {
                continue;
            }
            let size = words::bases(band.length as f64, 0.0);
            let words = format!("{}, {size}", shortened(&band.name, NAME));
            let half = LETTER * 0.92 * words.chars().count() as f64 / 2.0;
            let middle = points[points.len() / 2];
            let x = middle[0].clamp(half + 4.0, (width - half - 4.0).max(half + 4.0));
            let y = middle[1] - 9.0;
            let own = [x - half, y - 11.0, x + half, y + 3.0];
            let free = |other: &[f64; 4]| {
                other[2] < own[0] || own[2] < other[0] || other[3] < own[1] || own[3] < other[1]
            };
            if taken.iter().all(free) {
                taken.push(own);
                let style = plain(12, INK);
                let halo = "class=\"halo\" stroke=\"#ffffff\" stroke-width=\"3\" \
                            paint-order=\"stroke\"";
                let style = format!("{style} {halo}");
                svg.text(x, y, Anchor::Middle, &style, &words);
            }
        }
    }
}

/// The colour of a part of the median depth: the place among all.
fn class(part: Option<f64>) -> usize {
    let part = part.unwrap_or(1.0);
    DEPTHS
        .iter()
        .rposition(|depth| part >= depth.0)
        .unwrap_or(0)
}

fn length(points: &[Point]) -> f64 {
    let of = |two: &[Point]| {
        let [x, y] = [two[1][0] - two[0][0], two[1][1] - two[0][1]];
        (x * x + y * y).sqrt()
    };
    points.windows(2).map(of).sum()
}

/// A smooth line through points.
fn curve(points: &[Point]) -> String {
    let mut path = format!("M{:.1} {:.1}", points[0][0], points[0][1]);
    let last = points.len() - 1;
    for at in 0..last {
        let [before, from, to, behind] =
            [at.saturating_sub(1), at, at + 1, (at + 2).min(last)].map(|place| points[place]);
        let one = [0, 1].map(|axis| from[axis] + (to[axis] - before[axis]) / 6.0);
        let other = [0, 1].map(|axis| to[axis] - (behind[axis] - from[axis]) / 6.0);
        let _ = match last {
            1 => write!(path, "L{:.1} {:.1}", to[0], to[1]),
            _ => write!(
                path,
                "C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}",
                one[0], one[1], other[0], other[1], to[0], to[1]
            ),
        };
    }
    path
}

/// What colours and lengths mean.
struct Legend {
    /// x, line, colour, words.
    entries: Vec<(f64, usize, &'static str, String)>,
    lines: usize,
    /// Pixels of the bar, and what it stands for.
    bar: Option<(f64, String)>,
}

impl Legend {
    fn of(drawing: &Drawing, packed: &Packed, width: f64) -> Legend {
        let mut legend = Legend {
            entries: Vec::new(),
            lines: 0,
            bar: bar(drawing, packed),
        };
        legend.lines += usize::from(legend.bar.is_some());
        let Some(median) = drawing.median_depth else {
            return legend;
        };
        let mut x = width;
        for (_, colour, words) in DEPTHS {
            let words = match words {
                "1 ×" => format!("depth {median:.1} (median)"),
                words => words.to_owned(),
            };
            let wide = 34.0 + LETTER * words.chars().count() as f64;
            if x + wide > width {
                (x, legend.lines) = (0.0, legend.lines + 1);
            }
            legend.entries.push((x, legend.lines, colour, words));
            x += wide;
        }
        legend
    }

    fn paint(&self, svg: &mut Svg, top: f64) {
        let style = plain(13, GREY);
        if let Some((length, words)) = &self.bar {
            let y = top - 5.0;
            svg.put(format_args!(
                "<path fill=\"none\" stroke=\"{LINK}\" stroke-width=\"1.5\" \
                 d=\"M{MARGIN} {:.1}v8m0 -4h{length:.1}m0 -4v8\"/>",
                y - 4.0
            ));
            svg.text(MARGIN + length + 10.0, top, Anchor::Start, &style, words);
        }
        for (x, line, colour, words) in &self.entries {
            let (x, y) = (MARGIN + x, top + LINE * (*line as f64 - 1.0));
            svg.put(format_args!(
                "<path stroke=\"{colour}\" stroke-width=\"7\" d=\"M{x:.1} {:.1}h16\"/>",
                y - 4.5
            ));
            svg.text(x + 22.0, y, Anchor::Start, &style, words);
        }
    }
}

/// A round number of bases that is seen well.
fn bar(drawing: &Drawing, packed: &Packed) -> Option<(f64, String)> {
    let bases = packed.scale / drawing.step as f64;
    let powers = (0..12).map(|power| 10u64.pow(power));
    let round = powers.flat_map(|power| [power, 2 * power, 5 * power]);
    let fits = |&length: &u64| length as f64 * bases >= 50.0;
    let length = round
        .into_iter()
        .find(fits)
        .filter(|_| !drawing.placed.is_empty())?;
    let shortest = words::bases(drawing.step as f64, 0.0);
    let words = match drawing.step {
        1 => words::bases(length as f64, 0.0),
        _ => format!(
            "{}; no band is shorter than {shortest}",
            words::bases(length as f64, 0.0)
        ),
    };
    Some((length as f64 * bases, words))
}
