//! Where components lie in a picture.

use super::stress::Point;

/// Pixels between components, horizontally and vertically.
const APART: Point = [28.0, 26.0];
/// Pixels of a step at most: small graphs are not blown up.
const LARGEST: f64 = 15.0;
/// The height of the largest component, as a part of the width of the picture.
const HIGHEST: f64 = 0.8;

/// Components in rows, in their order.
#[derive(Debug)]
pub struct Packed {
    /// Pixels of a step.
    pub scale: f64,
    /// The upper left corner of each component, in pixels.
    pub corners: Vec<Point>,
    /// Pixels of all.
    pub height: f64,
}

/// Packs components of these extents, in steps, into so many pixels.
pub fn pack(extents: &[Point], width: f64) -> Packed {
    let most = |axis: usize| {
        extents
            .iter()
            .map(|extent| extent[axis])
            .fold(1e-9, f64::max)
    };
    let scale = LARGEST.min(width / most(0)).min(HIGHEST * width / most(1));
    let (mut corners, mut row) = (Vec::new(), 0.0f64);
    let [mut x, mut y] = [0.0, 0.0];
    for extent in extents {
        let [wide, high] = extent.map(|steps| steps * scale);
        if x > 0.0 && x + wide > width {
            (x, y, row) = (0.0, y + row + APART[1], 0.0);
        }
        corners.push([x, y]);
        x += wide + APART[0];
        row = row.max(high);
    }
    Packed {
        scale,
        corners,
        height: y + row,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_lies_on_another_or_outside() {
        let extents = [
            [100.0, 70.0],
            [30.0, 0.0],
            [50.0, 20.0],
            [8.0, 8.0],
            [1.0, 0.0],
        ];
        for width in [300.0, 900.0] {
            let packed = pack(&extents, width);
            let boxes: Vec<[f64; 4]> = extents
                .iter()
                .zip(&packed.corners)
                .map(|(extent, [x, y])| {
                    let [wide, high] = extent.map(|steps| steps * packed.scale);
                    [*x, *y, x + wide, y + high]
                })
                .collect();
            for (place, one) in boxes.iter().enumerate() {
                assert!(one[2] <= width + 1e-6 && one[3] <= packed.height + 1e-6);
                for other in &boxes[..place] {
                    let apart = other[2] < one[0] || one[2] < other[0];
                    assert!(apart || other[3] < one[1] || one[3] < other[1], "{boxes:?}");
                }
            }
        }
        assert_eq!(pack(&[], 100.0).height, 0.0);
    }
}
