//! A picture of matches: the reference from left to right, the queries from bottom to top.

use gyrase_picture::words::{grouped, shortened};
use gyrase_picture::{Axes, GREY, Scale, Stroke, Svg};

use super::ExactMatch;
use super::queries::Strand;
use crate::texts::Texts;

/// Matches that are drawn, the longest; more are dots upon dots.
const MOST: usize = 20_000;
/// Borders between sequences that are drawn; more are a grey plane.
const MOST_BORDERS: usize = 200;
/// The side of the plot, in pixels.
const SIDE: f64 = 720.0;
/// Characters of a name that are written.
const MOST_OF_A_NAME: usize = 70;
const LEFT: f64 = 110.0;
const TOP: f64 = 70.0;
const FORWARD: &str = "#1f6fb2";
const REVERSE: &str = "#c2452d";

/// A match on its way to a picture. The longest is the first, and of equals the first in the order
/// of queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Dot {
    shorter: u64,
    query: u64,
    reference: u64,
    reverse: bool,
}

/// What a picture of matches needs: the longest of them, and where queries begin.
#[derive(Clone, Debug, Default)]
pub struct Dots {
    dots: Vec<Dot>,
    /// Matches that came.
    all: u64,
    /// Where queries begin behind each other.
    borders: Vec<u64>,
    /// Letters of all queries.
    letters: u64,
}

impl Dots {
    /// One that takes what is merged later.
    pub(super) fn blank(&self) -> Dots {
        Dots::default()
    }

    pub(super) fn add(&mut self, strand: &Strand, found: &ExactMatch) {
        let (length, place) = (strand.letters.len(), found.query - strand.letters.start);
        let place = match strand.reverse {
            true => length - place - found.length,
            false => place,
        };
        self.all += 1;
        self.dots.push(Dot {
            shorter: u64::MAX - found.length as u64,
            query: strand.start + place as u64,
            reference: found.reference as u64,
            reverse: strand.reverse,
        });
        self.keep_longest(2 * MOST);
    }

    pub(super) fn begin(&mut self, strand: &Strand) {
        if !strand.reverse {
            let start = strand.start;
            self.borders.push(start);
            self.letters = start + strand.letters.len() as u64;
        }
    }

    pub(super) fn merge(&mut self, other: Dots) {
        self.dots.extend(other.dots);
        self.all += other.all;
        self.borders.extend(other.borders);
        self.letters = self.letters.max(other.letters);
        self.keep_longest(2 * MOST);
    }

    /// Where there are more than `most`, keeps those that are drawn.
    fn keep_longest(&mut self, most: usize) {
        if self.dots.len() > most {
            self.dots.select_nth_unstable(MOST);
            self.dots.truncate(MOST);
        }
    }

    /// How many matches are drawn, and how many there are.
    pub fn drawn(&self) -> (u64, u64) {
        ((self.dots.len() as u64).min(MOST as u64), self.all)
    }

    /// The picture; `names` are those of the reference and of the queries.
    pub fn svg(mut self, reference: &Texts, names: [&str; 2]) -> Svg {
        self.keep_longest(MOST);
        self.dots.sort_unstable();
        let (drawn, all) = self.drawn();
        let [x_title, y_title] = names.map(|name| shortened(name, MOST_OF_A_NAME));
        let label = format!("exact matches of {y_title} with {x_title}");
        let mut svg = Svg::new(LEFT + SIDE + 30.0, TOP + SIDE + 80.0, &label);
        let (title, told) = match drawn == all {
            true => (format!("{} exact matches", grouped(all)), String::new()),
            false => (
                format!("The {} longest exact matches", grouped(drawn)),
                format!("of {}; ", grouped(all)),
            ),
        };
        let told = format!("{told}forward blue, reverse complement red");
        svg.heading(LEFT, &title, &told);
        let axes = Axes {
            left: LEFT,
            right: LEFT + SIDE,
            top: TOP,
            bottom: TOP + SIDE,
            x_end: (reference.letters.len() as f64).max(1.0),
            y_end: (self.letters as f64).max(1.0),
            scale: Scale::Linear,
            x_title: &x_title,
            y_title: &y_title,
        };
        axes.grid(&mut svg);
        self.draw_borders(&mut svg, &axes, reference);
        let mut last = None;
        for dot in &self.dots {
            let line = dot.line(&axes);
            if last.replace(line.clone()) != Some(line.clone()) {
                svg.put(format_args!("{line}"));
            }
        }
        axes.outline(&mut svg);
        svg
    }

    fn draw_borders(&self, svg: &mut Svg, axes: &Axes, reference: &Texts) {
        let stroke = Stroke {
            colour: GREY,
            width: 0.4,
            dashed: true,
        };
        let starts: Vec<f64> = reference
            .texts
            .iter()
            .map(|text| text.start as f64)
            .collect();
        if starts.len() <= MOST_BORDERS {
            for x in starts.iter().skip(1).map(|&start| axes.x(start)) {
                svg.polyline(&[(x, axes.top), (x, axes.bottom)], &stroke);
            }
        }
        if self.borders.len() <= MOST_BORDERS {
            for y in self
                .borders
                .iter()
                .skip(1)
                .map(|&start| axes.y(start as f64))
            {
                svg.polyline(&[(axes.left, y), (axes.right, y)], &stroke);
            }
        }
    }
}

impl Dot {
    fn line(&self, axes: &Axes) -> String {
        let length = (u64::MAX - self.shorter) as f64;
        let (x, y) = (self.reference as f64, self.query as f64);
        let [left, right] = [x, x + length].map(|x| axes.x(x));
        let [mut low, mut high] = [y, y + length].map(|y| axes.y(y));
        let colour = if self.reverse { REVERSE } else { FORWARD };
        if self.reverse {
            std::mem::swap(&mut low, &mut high);
        }
        // What is shorter than a pixel is seen by its cap.
        format!(
            "<path d=\"M{left:.1} {low:.1}L{right:.1} {high:.1}\" stroke=\"{colour}\" \
             stroke-width=\"1.2\" stroke-linecap=\"round\"/>"
        )
    }
}
