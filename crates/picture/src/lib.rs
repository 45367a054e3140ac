//! Pictures and pages that are one file each, without scripts or fonts from elsewhere.
//!
//! - [`Svg`] is a picture that grows element by element, and ends as SVG or PNG; [`Axes`] are a
//!   plot in it, with a grid, round [`ticks`] and titles; [`Categories`] one of bars and lines over
//!   names.
//! - [`Page`] is the shell of an HTML page that forbids itself the network.
//! - [`words`] are numbers, sizes and times as a person reads them.
//! - [`escape`] makes any text safe in both.
//!
//! ```
//! use gyrase_picture::{Axes, Scale, Svg};
//!
//! let axes = Axes {
//!     left: 60.0,
//!     right: 300.0,
//!     top: 70.0,
//!     bottom: 150.0,
//!     x_end: 3.0,
//!     y_end: 1200.0,
//!     scale: Scale::Linear,
//!     x_title: "Multiplicity",
//!     y_title: "k-mers",
//! };
//! let mut svg = Svg::new(320.0, 200.0, "three steps");
//! svg.heading(axes.left, "Three steps", "k = 31");
//! axes.grid(&mut svg);
//! let edges = [0.0, 1.0, 2.0, 3.0].map(|x| axes.x(x));
//! axes.steps(&mut svg, "#1c5d99", &edges, &[1200.0, 300.0, 20.0]);
//! axes.outline(&mut svg);
//! assert!(svg.finish().contains(">1,000</text>"));
//! ```

mod axes;
mod categories;
mod letters;
mod page;
mod png;
mod svg;
pub mod words;

pub use axes::{Axes, LOWEST, Scale, ticks};
pub use categories::{Categories, Heights, Swatch, legend};
pub use page::{Page, put_line};
pub use svg::{Anchor, GREY, GRID, INK, Stroke, Svg, bold, escape, plain};
