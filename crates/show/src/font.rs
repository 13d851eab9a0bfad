//! A small stroke font of our own, drawn with round pens at any size.
//!
//! A glyph is a few strokes on a grid. A point is two characters, x and y, each `0`–`9` then `a`–`d`; the baseline
//! is at y = 3, small letters reach to 9, capitals to c (12), descenders to 0. A `*` before a point makes it the
//! control point of a quadratic curve to the next one. Strokes are parted by spaces.

use crate::Image;
use glam::Vec2;

/// Rows from baseline to the top of a capital.
const CAPITAL: f32 = 9.0;
const BASELINE: f32 = 3.0;
/// Between two glyphs, in grid units.
const GAP: f32 = 2.4;
const SPACE: f32 = 2.6;

fn strokes(c: char) -> Option<&'static str> {
    Some(match c {
        ' ' => "",
        '!' => "1c16 1313",
        '"' => "1c19 3c39",
        '#' => "2c13 5c43 0969 0666",
        '$' => "6a*6c3c*0c0a*0838*6865*6333*0305 3d32",
        '%' => "6c03 1c*2c2b*2a1a*0a0b*0c1c 55*6564*6353*4344*4555",
        '&' => "6329*1c3c*5c4a17*0323*4366",
        '\'' => "1c19",
        '(' => "2d*0a07*0421",
        ')' => "0d*2a27*2401",
        '*' => "3b37 1a58 5a18",
        '+' => "3a34 0767",
        ',' => "1401",
        '-' => "0747",
        '.' => "1313",
        '/' => "024c",
        '0' => "3c*6c6966*6333*030609*0c3c",
        '1' => "1a3c33 1353",
        '2' => "0a*0c3c*6c6a*680363",
        '3' => "0b*1c3c*6c6a*6838*6865*6333*1304",
        '4' => "535c0666",
        '5' => "5c0c0839*6966*6333*1304",
        '6' => "5b*4c3c*0c0806*0333*6366*6939*0906",
        '7' => "0c6c23",
        '8' => "38*080a*0c3c*6c6a*6838*6865*6333*0305*0838",
        '9' => "14*2333*636769*6c3c*0c09*0636*6669",
        ':' => "1818 1313",
        ';' => "1818 1401",
        '<' => "5a0754",
        '=' => "0969 0565",
        '>' => "0a5704",
        '?' => "0a*0c3c*6c6a*683836 3333",
        '@' => "6333*0307*0c3c*6c67*6555*5559 58*3a37*3555",
        'A' => "033c63 1656",
        'B' => "030c3c*6c6a*683808 38*6865*633303",
        'C' => "6a*6c3c*0c0906*0333*6365",
        'D' => "030c2c*6c6966*632303",
        'E' => "5c0c0353 0848",
        'F' => "5c0c03 0848",
        'G' => "6a*6c3c*0c0906*0333*63656747",
        'H' => "0c03 6c63 0868",
        'I' => "1c13",
        'J' => "4c46*4323*0305",
        'K' => "0c03 6c06 2863",
        'L' => "0c0353",
        'M' => "030c376c63",
        'N' => "030c636c",
        'O' => "3c*6c6966*6333*030609*0c3c",
        'P' => "030c3c*6c69*673707",
        'Q' => "3c*6c6966*6333*030609*0c3c 4562",
        'R' => "030c3c*6c69*673707 3763",
        'S' => "6a*6c3c*0c0a*0838*6865*6333*0305",
        'T' => "0c6c 3c33",
        'U' => "0c06*0333*63666c",
        'V' => "0c336c",
        'W' => "0c133a536c",
        'X' => "0c63 036c",
        'Y' => "0c376c 3733",
        'Z' => "0c6c0363",
        '[' => "2d0d0121",
        '\\' => "0c42",
        ']' => "0d2d2101",
        '^' => "1a3c5a",
        '_' => "0161",
        '`' => "0c1a",
        'a' => "3929*0906*032333*5356*5939 5953",
        'b' => "3929*0906*032333*5356*5939 0c03",
        'c' => "57*593929*0906*032333*5355",
        'd' => "3929*0906*032333*5356*5939 5c53",
        'e' => "0656*593929*0906*032333*4354",
        'f' => "4c3c*1c1a13 0939",
        'g' => "3929*0906*032333*5356*5939 5952*503020*0001",
        'h' => "0c03 06*0939*595653",
        'i' => "1913 1b1b",
        'j' => "1911*1000 1b1b",
        'k' => "0c03 5905 2753",
        'l' => "1c15*1323",
        'm' => "0903 06*0919*393633 36*3949*696663",
        'n' => "0903 06*0939*595653",
        'o' => "3929*0906*032333*5356*5939",
        'p' => "3929*0906*032333*5356*5939 0900",
        'q' => "3929*0906*032333*5356*5939 5950",
        'r' => "0903 06*0939",
        's' => "58*593929*0908*062636*5654*533323*0304",
        't' => "1c15*1333 0939",
        'u' => "0906*0323*5356 5953",
        'v' => "092349",
        'w' => "0913385369",
        'x' => "0953 0359",
        'y' => "0923 4910",
        'z' => "09590353",
        '{' => "2d*1d1a*1707*1714*1121",
        '|' => "1d10",
        '}' => "0d*1d1a*1727*1714*1101",
        '~' => "06*1927*3558",
        '°' => "1c*2c2b*2a1a*0a0b*0c1c",
        '±' => "3b35 0868 0363",
        '×' => "0945 0549",
        'µ' => "0900 06*0323*5356 5953",
        'ρ' => "0006*092939*5956*533323*0306",
        '–' | '—' => "0767",
        '·' => "1717",
        '→' => "0767 496745",
        '≤' => "5b0855 0353",
        _ => return None,
    })
}

/// A glyph's strokes as straight pieces, and its width; characters it does not have come out as a small box.
fn outline(c: char) -> (Vec<[Vec2; 2]>, f32) {
    if c == ' ' {
        return (Vec::new(), SPACE);
    }
    let digit = |b: u8| f32::from(if b.is_ascii_digit() { b - b'0' } else { 10 + b - b'a' });
    let mut pieces = Vec::new();
    for stroke in strokes(c).unwrap_or("030c5c5303").split(' ') {
        let mut bytes = stroke.bytes();
        let mut at: Option<Vec2> = None;
        let mut control: Option<Vec2> = None;
        while let Some(first) = bytes.next() {
            let bend = first == b'*';
            let x = if bend { bytes.next() } else { Some(first) };
            let (Some(x), Some(y)) = (x, bytes.next()) else { break };
            let p = Vec2::new(digit(x), digit(y) - BASELINE);
            if bend {
                control = Some(p);
                continue;
            }
            match (at, control.take()) {
                (None, _) => {
                    if stroke.len() == 2 {
                        pieces.push([p, p]);
                    }
                }
                (Some(a), None) => pieces.push([a, p]),
                (Some(a), Some(c)) => {
                    let on = |t: f32| a.lerp(c, t).lerp(c.lerp(p, t), t);
                    pieces.extend((0..6).map(|k| [on(k as f32 / 6.0), on((k + 1) as f32 / 6.0)]));
                }
            }
            at = Some(p);
        }
    }
    let xs = || pieces.iter().flatten().map(|p| p.x);
    let (left, right) = (xs().fold(f32::MAX, f32::min), xs().fold(0.0, f32::max));
    if c.is_ascii_digit() {
        // Figures under each other must line up.
        return (pieces, 6.0);
    }
    for p in pieces.iter_mut().flatten() {
        p.x -= left;
    }
    (pieces, right - left)
}

/// How wide a line of text is, in pixels, with capitals `size` pixels high.
pub(crate) fn width(text: &str, size: f32) -> f32 {
    let units: f32 = text.chars().map(|c| outline(c).1 + GAP).sum();
    (units - GAP).max(0.0) * size / CAPITAL
}

/// Writes one line with its first capital's top left corner at `x`, `y`. `pen` widens the stroke, in pixels: text
/// written first with a wide pen in another colour stands out from any background.
pub(crate) fn write(
    image: &mut Image,
    text: &str,
    x: f32,
    y: f32,
    size: f32,
    pen: f32,
    colour: [u8; 3],
    alpha: f32,
) {
    let unit = size / CAPITAL;
    let half = (0.072 * size).max(0.6) + 0.5 * pen;
    let mut left = x;
    for c in text.chars() {
        let (pieces, wide) = outline(c);
        let place = |p: Vec2| Vec2::new(left + p.x * unit, y + (CAPITAL - p.y) * unit);
        let pieces: Vec<[Vec2; 2]> = pieces.iter().map(|s| s.map(place)).collect();
        if !pieces.is_empty() {
            let reach = Vec2::splat(half + 1.0);
            let lo = pieces.iter().flatten().fold(Vec2::MAX, |m, p| m.min(*p)) - reach;
            let hi = pieces.iter().flatten().fold(Vec2::MIN, |m, p| m.max(*p)) + reach;
            for row in lo.y.floor() as i32..=hi.y.ceil() as i32 {
                for column in lo.x.floor() as i32..=hi.x.ceil() as i32 {
                    let p = Vec2::new(column as f32 + 0.5, row as f32 + 0.5);
                    let nearest = pieces.iter().map(|s| distance(p, *s)).fold(f32::MAX, f32::min);
                    let cover = (half + 0.5 - nearest).clamp(0.0, 1.0);
                    if cover > 0.0 {
                        image.blend(column, row, colour, alpha * cover);
                    }
                }
            }
        }
        left += (wide + GAP) * unit;
    }
}

fn distance(p: Vec2, [a, b]: [Vec2; 2]) -> f32 {
    let along = b - a;
    let t =
        if along == Vec2::ZERO { 0.0 } else { ((p - a).dot(along) / along.length_squared()).clamp(0.0, 1.0) };
    p.distance(a + t * along)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printable_character_has_well_formed_strokes_inside_the_cell() {
        for c in ('!'..='~').chain("°±×µρ–·→≤".chars()) {
            let text = strokes(c).unwrap_or_else(|| panic!("no glyph for {c}"));
            for stroke in text.split(' ') {
                let points = stroke.replace('*', "");
                assert!(points.len() % 2 == 0 && !points.is_empty(), "{c}: {stroke}");
                assert!(points.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'd')), "{c}: {stroke}");
                assert!(!stroke.starts_with('*'), "{c} begins with a control point");
            }
            let (pieces, wide) = outline(c);
            assert!(!pieces.is_empty() && wide <= 7.0, "{c}");
        }
    }

    #[test]
    fn text_puts_ink_where_it_says_and_nowhere_else() {
        let mut image = Image::new(80, 30, [255; 4]);
        let wide = width("Il1 8", 12.0);
        write(&mut image, "Il1 8", 5.0, 8.0, 12.0, 0.0, [0, 0, 0], 1.0);
        let dark = |x0: u32, x1: u32, y0: u32, y1: u32| {
            (y0..y1)
                .flat_map(|y| (x0..x1).map(move |x| (x, y)))
                .filter(|&(x, y)| image.at(x, y)[0] < 128)
                .count()
        };
        assert!(dark(4, 6 + wide as u32, 7, 22) > 40);
        assert_eq!(dark(0, 80, 0, 5), 0);
        assert_eq!(dark(8 + wide as u32, 80, 0, 30), 0);
    }
}
