//! A plot in a picture: where values lie, the grid, the numbers beside it.

use std::fmt::Write;

use crate::svg::{Anchor, GRID, INK, Svg, plain};
use crate::words::grouped;

/// How values become distances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// From 0 on, each as far from the next.
    #[default]
    Linear,
    /// From [`LOWEST`] on, each as far from twice as much.
    Log,
}

/// The first value of a logarithmic axis: counts begin at 1, and 1 is to be seen.
pub const LOWEST: f64 = 0.5;

impl Scale {
    /// How far on an axis to `end` a value lies, 0 to 1.
    fn part(self, value: f64, end: f64) -> f64 {
        let part = match self {
            Scale::Linear => value / end,
            Scale::Log => (value.max(LOWEST) / LOWEST).ln() / (end / LOWEST).ln(),
        };
        part.clamp(0.0, 1.0)
    }

    fn ticks(self, end: f64) -> Vec<u64> {
        match self {
            Scale::Linear => ticks(end),
            Scale::Log => decades(end),
        }
    }
}

/// Two axes and what stands beside them.
#[derive(Clone, Copy, Debug)]
pub struct Axes<'a> {
    /// Where the plot begins, in pixels.
    pub left: f64,
    /// Where the plot ends.
    pub right: f64,
    /// Where the vertical axis ends.
    pub top: f64,
    /// Where the vertical axis begins.
    pub bottom: f64,
    /// The value at the right, above 0.
    pub x_end: f64,
    /// The value at the top, above 0.
    pub y_end: f64,
    /// The scale of both.
    pub scale: Scale,
    /// What the horizontal axis shows.
    pub x_title: &'a str,
    /// What the vertical axis shows.
    pub y_title: &'a str,
}

impl Axes<'_> {
    /// Pixels of a value from the left of the picture; values beyond the axis lie at its end.
    pub fn x(&self, value: f64) -> f64 {
        self.left + (self.right - self.left) * self.scale.part(value, self.x_end)
    }

    /// Pixels of a value from the top of the picture; values beyond the axis lie at its end.
    pub fn y(&self, value: f64) -> f64 {
        self.bottom - (self.bottom - self.top) * self.scale.part(value, self.y_end)
    }

    /// The value at a part of the horizontal axis, 0 to 1.
    pub fn x_at(&self, part: f64) -> f64 {
        match self.scale {
            Scale::Linear => part * self.x_end,
            Scale::Log => LOWEST * (self.x_end / LOWEST).powf(part),
        }
    }

    /// Draws the lines of the grid, the numbers and the titles of the axes.
    pub fn grid(&self, svg: &mut Svg) {
        let (left, right, bottom) = (self.left, self.right, self.bottom);
        let style = plain(13, INK);
        for value in self.scale.ticks(self.y_end) {
            let y = self.y(value as f64);
            svg.put(format_args!(
                "<path d=\"M{left} {y:.1}H{right}\" stroke=\"{GRID}\"/>"
            ));
            svg.text(left - 10.0, y + 4.5, Anchor::End, &style, &grouped(value));
        }
        for value in self.scale.ticks(self.x_end) {
            let x = self.x(value as f64);
            svg.put(format_args!(
                "<path d=\"M{x:.1} {bottom}v6\" stroke=\"{INK}\"/>"
            ));
            svg.text(x, bottom + 22.0, Anchor::Middle, &style, &grouped(value));
        }
        self.titles(svg);
    }

    fn titles(&self, svg: &mut Svg) {
        let style = plain(14, INK);
        let middle = (self.left + self.right) / 2.0;
        svg.text(
            middle,
            self.bottom + 47.0,
            Anchor::Middle,
            &style,
            self.x_title,
        );
        let middle = (self.top + self.bottom) / 2.0;
        let turned = format!("{style} transform=\"rotate(-90 22 {middle})\"");
        svg.text(22.0, middle, Anchor::Middle, &turned, self.y_title);
    }

    /// Fills a step of each height from one of the `edges`, in pixels, to the next.
    pub fn steps(&self, svg: &mut Svg, colour: &str, edges: &[f64], heights: &[f64]) {
        let Some((first, edges)) = edges.split_first() else {
            return;
        };
        let mut path = String::new();
        for (&edge, &height) in edges.iter().zip(heights) {
            write!(path, "V{:.2}H{edge:.2}", self.y(height)).expect("a String takes every text");
        }
        let bottom = self.bottom;
        if !path.is_empty() {
            svg.put(format_args!(
                "<path fill=\"{colour}\" d=\"M{first:.2} {bottom}{path}V{bottom}Z\"/>"
            ));
        }
    }

    /// Draws the axes themselves, over what is filled.
    pub fn outline(&self, svg: &mut Svg) {
        let (left, top, bottom, right) = (self.left, self.top, self.bottom, self.right);
        svg.put(format_args!(
            "<path d=\"M{left} {top}V{bottom}H{right}\" fill=\"none\" stroke=\"{INK}\"/>"
        ));
    }
}

/// Round numbers from 0 to `end`, five to eleven of them where `end` is not below 5.
pub fn ticks(end: f64) -> Vec<u64> {
    let mut unit = 1u64;
    while (unit as f64) * 10.0 < end && unit < u64::MAX / 100 {
        unit *= 10;
    }
    let step = [unit / 5, unit / 2, unit, unit * 2]
        .into_iter()
        .find(|&step| step > 0 && end / step as f64 <= 10.0)
        .unwrap_or(unit * 2);
    (0..=(end / step as f64) as u64).map(|i| i * step).collect()
}

/// Powers of ten up to `end`, and what lies between where these are few.
fn decades(end: f64) -> Vec<u64> {
    let between: &[u64] = if end < 1000.0 { &[1, 2, 5] } else { &[1] };
    let powers = (0..19).map(|power| 10u64.pow(power));
    let all = powers.flat_map(|power| between.iter().map(move |times| times * power));
    all.take_while(|&tick| tick as f64 <= end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks(8.0), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(ticks(98.0), [0, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
        assert_eq!(ticks(1.0), [0, 1]);
        for end in [1.0, 2.5, 11.0, 23.0, 101.0, 340_000.0, 1e9, 1.8e19] {
            assert!((2..=11).contains(&ticks(end).len()), "{end}");
        }
    }

    #[test]
    fn logarithmic_axes_have_equal_distances_for_equal_ratios() {
        assert_eq!(decades(60.0), [1, 2, 5, 10, 20, 50]);
        assert_eq!(decades(2e4), [1, 10, 100, 1000, 10_000]);
        let part = |value| Scale::Log.part(value, 512.0);
        assert_eq!([0.0, 0.5, 512.0, 1e9].map(part), [0.0, 0.0, 1.0, 1.0]);
        for value in [1.0, 2.0, 64.0] {
            assert!((part(2.0 * value) - part(value) - 0.1).abs() < 1e-12);
        }
    }

    #[test]
    fn steps_have_the_heights_of_the_values() {
        let axes = Axes {
            left: 10.0,
            right: 110.0,
            top: 0.0,
            bottom: 50.0,
            x_end: 4.0,
            y_end: 100.0,
            scale: Scale::Linear,
            x_title: "<x>",
            y_title: "y",
        };
        assert_eq!([-1.0, 1.0, 9.0].map(|x| axes.x(x)), [10.0, 35.0, 110.0]);
        assert_eq!([-1.0, 20.0, 900.0].map(|y| axes.y(y)), [50.0, 40.0, 0.0]);
        let draw = |edges: &[f64], heights: &[f64]| {
            let mut svg = Svg::new(120.0, 100.0, "");
            axes.steps(&mut svg, "red", edges, heights);
            svg.finish()
        };
        let two = "d=\"M10.00 50V40.00H35.00V0.00H110.00V50Z\"";
        assert!(draw(&[10.0, 35.0, 110.0], &[20.0, 900.0]).contains(two));
        assert!(!draw(&[], &[]).contains("path") && !draw(&[10.0], &[]).contains("path"));
        let mut svg = Svg::new(120.0, 100.0, "");
        axes.grid(&mut svg);
        assert!(svg.finish().contains("&lt;x&gt;"));
    }
}
