//! A plot over categories: bars side by side, marks that lines join, and what tells them apart.

use crate::axes::ticks;
use crate::svg::{Anchor, GRID, INK, Stroke, Svg, plain};

/// Part of a category that its bars take.
const BARS: f64 = 0.8;

/// So many powers of two have names each; of more, every second or third.
const POWERS: i32 = 12;

/// How values become heights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Heights {
    /// From 0 to a value above it, each as far from the next.
    Linear(f64),
    /// From one power of two to a higher one, by their exponents; each as far from twice as much.
    Doubling(i32, i32),
}

impl Heights {
    /// From 0 to a little above the largest of the values.
    pub fn linear(values: impl IntoIterator<Item = f64>) -> Heights {
        let most = values.into_iter().fold(0.0, f64::max);
        Heights::Linear(if most > 0.0 { most * 1.08 } else { 1.0 })
    }

    /// From the power of two below all of the values to one above all.
    pub fn doubling(values: impl IntoIterator<Item = f64>) -> Heights {
        let (mut low, mut high) = (f64::MAX, 0.0f64);
        for value in values.into_iter().filter(|value| *value > 0.0) {
            (low, high) = (low.min(value), high.max(value));
        }
        if high == 0.0 {
            return Heights::Doubling(0, 1);
        }
        let (low, high) = (low.log2().floor() as i32, high.log2().ceil() as i32);
        Heights::Doubling(low, high.max(low + 1))
    }

    /// How far up a value lies, 0 to 1.
    fn part(self, value: f64) -> f64 {
        let part = match self {
            Heights::Linear(end) => value / end,
            Heights::Doubling(low, high) => {
                (value.max(f64::MIN_POSITIVE).log2() - f64::from(low)) / f64::from(high - low)
            }
        };
        part.clamp(0.0, 1.0)
    }

    /// Values that lines are drawn at, with their names.
    fn ticks(self) -> Vec<(f64, String)> {
        match self {
            Heights::Linear(end) if end < 5.0 => {
                let tenths = ticks(end * 10.0)
                    .into_iter()
                    .map(|tenths| tenths as f64 / 10.0);
                tenths.map(|value| (value, format!("{value:.1}"))).collect()
            }
            Heights::Linear(end) => {
                let named = |value: u64| (value as f64, crate::words::grouped(value));
                ticks(end).into_iter().map(named).collect()
            }
            Heights::Doubling(low, high) => {
                let step = 1 + (high - low) / POWERS;
                let value = |power: i32| f64::from(power).exp2();
                let powers = (low..=high).step_by(step as usize);
                powers
                    .map(|power| (value(power), value(power).to_string()))
                    .collect()
            }
        }
    }
}

/// Axes of a plot over categories, and what stands beside them.
#[derive(Clone, Copy, Debug)]
pub struct Categories<'a> {
    /// Where the plot begins, in pixels.
    pub left: f64,
    /// Where it ends.
    pub right: f64,
    /// Where the vertical axis ends.
    pub top: f64,
    /// Where it begins.
    pub bottom: f64,
    /// The categories, from the left.
    pub names: &'a [String],
    /// The vertical axis.
    pub heights: Heights,
    /// What the categories are of.
    pub x_title: &'a str,
    /// What the heights are; it stands above the axis.
    pub y_title: &'a str,
}

impl Categories<'_> {
    fn width(&self) -> f64 {
        (self.right - self.left) / self.names.len().max(1) as f64
    }

    /// Pixels of the middle of a category from the left of the picture.
    pub fn x(&self, category: usize) -> f64 {
        self.left + self.width() * (category as f64 + 0.5)
    }

    /// Pixels of a value from the top of the picture; values beyond the axis lie at its end.
    pub fn y(&self, value: f64) -> f64 {
        self.bottom - (self.bottom - self.top) * self.heights.part(value)
    }

    /// Draws the grid, the axis, the names and the titles.
    pub fn grid(&self, svg: &mut Svg) {
        let (left, right, bottom) = (self.left, self.right, self.bottom);
        let style = plain(13, INK);
        for (value, name) in self.heights.ticks() {
            let y = self.y(value);
            svg.put(format_args!(
                "<path d=\"M{left} {y:.1}H{right}\" stroke=\"{GRID}\"/>"
            ));
            svg.text(left - 8.0, y + 4.5, Anchor::End, &style, &name);
        }
        svg.put(format_args!(
            "<path d=\"M{left} {bottom}H{right}\" stroke=\"{INK}\"/>"
        ));
        for (category, name) in self.names.iter().enumerate() {
            svg.text(
                self.x(category),
                bottom + 19.0,
                Anchor::Middle,
                &style,
                name,
            );
        }
        let middle = (left + right) / 2.0;
        svg.text(middle, bottom + 40.0, Anchor::Middle, &style, self.x_title);
        svg.text(
            left - 30.0,
            self.top - 12.0,
            Anchor::Start,
            &style,
            self.y_title,
        );
    }

    /// Draws the bar number `place` of the `of` that a category has; gives the middle of its top.
    pub fn bar(
        &self,
        svg: &mut Svg,
        category: usize,
        (place, of): (usize, usize),
        value: f64,
        colour: &str,
    ) -> (f64, f64) {
        let width = BARS * self.width() / of.max(1) as f64;
        let x = self.x(category) + width * (place as f64 - of as f64 / 2.0);
        let (y, inner) = (self.y(value), width * 0.92);
        let height = self.bottom - y;
        svg.put(format_args!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{inner:.1}\" height=\"{height:.1}\" \
             fill=\"{colour}\"/>"
        ));
        (x + inner / 2.0, y)
    }

    /// Joins the values of the categories, each with a mark.
    pub fn line(&self, svg: &mut Svg, values: &[f64], stroke: &Stroke) {
        let place = |(category, value): (usize, &f64)| (self.x(category), self.y(*value));
        let points: Vec<(f64, f64)> = values.iter().enumerate().map(place).collect();
        svg.polyline(&points, stroke);
        for (x, y) in points {
            let colour = stroke.colour;
            svg.put(format_args!(
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{colour}\"/>"
            ));
        }
    }
}

/// What a colour of a plot stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Swatch<'a> {
    /// Bars.
    Bar(&'a str),
    /// A line.
    Line(Stroke<'a>),
}

/// Draws what colours stand for in a row from `left` on; `width` is how much each entry has.
pub fn legend(svg: &mut Svg, (left, y): (f64, f64), width: f64, entries: &[(Swatch<'_>, &str)]) {
    for (i, (key, words)) in entries.iter().enumerate() {
        let x = left + width * i as f64;
        match key {
            Swatch::Bar(colour) => svg.put(format_args!(
                "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"22\" height=\"12\" fill=\"{colour}\"/>",
                y - 6.0
            )),
            Swatch::Line(stroke) => svg.polyline(&[(x, y), (x + 26.0, y)], stroke),
        }
        svg.text(x + 32.0, y + 4.5, Anchor::Start, &plain(13, INK), words);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights_hold_the_values() {
        assert_eq!(Heights::doubling([3.0, 17.0]), Heights::Doubling(1, 5));
        assert_eq!(Heights::doubling([4.0]), Heights::Doubling(2, 3));
        assert_eq!(Heights::doubling([0.0]), Heights::Doubling(0, 1));
        assert_eq!(Heights::linear([]), Heights::Linear(1.0));
        let names = |heights: Heights| -> Vec<String> {
            heights.ticks().into_iter().map(|(_, name)| name).collect()
        };
        assert_eq!(names(Heights::Doubling(-1, 2)), ["0.5", "1", "2", "4"]);
        assert_eq!(names(Heights::Linear(1.1))[..3], ["0.0", "0.2", "0.4"]);
        assert_eq!(names(Heights::Linear(2400.0))[..2], ["0", "500"]);
        let part = |value| Heights::Doubling(0, 4).part(value);
        assert_eq!(
            [0.0, 1.0, 4.0, 16.0, 99.0].map(part),
            [0.0, 0.0, 0.5, 1.0, 1.0]
        );
    }

    #[test]
    fn bars_stand_side_by_side() {
        let names = ["a", "<b>"].map(String::from);
        let plot = Categories {
            left: 0.0,
            right: 200.0,
            top: 0.0,
            bottom: 100.0,
            names: &names,
            heights: Heights::Linear(10.0),
            x_title: "x",
            y_title: "y",
        };
        let mut svg = Svg::new(200.0, 120.0, "");
        plot.grid(&mut svg);
        assert_eq!(plot.bar(&mut svg, 1, (0, 2), 5.0, "red"), (128.4, 50.0));
        plot.line(
            &mut svg,
            &[0.0, 10.0],
            &Stroke {
                colour: "red",
                width: 2.0,
                dashed: true,
            },
        );
        let text = svg.finish();
        assert!(
            text.contains("<rect x=\"110.0\" y=\"50.0\" width=\"36.8\" height=\"50.0\""),
            "{text}"
        );
        assert!(text.contains("points=\"50.0,100.0 150.0,0.0\"") && text.contains("&lt;b&gt;"));
    }
}
