//! The two layouts of a CSV sheet, and TOML.

use super::{PROPERTIES, Sheet, property};

type Found = (Vec<Sheet>, Vec<String>);

/// Lower case without spaces, dashes and what stands in brackets: `B-1 (gf·cm²/cm)` is `b1`.
fn bare(text: &str) -> String {
    let end = text.find(['(', '[']).unwrap_or(text.len());
    text[..end].chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Which directions a heading names.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Direction {
    Warp,
    Weft,
    Both,
}

const SUFFIXES: [(&str, Direction); 9] = [
    ("", Direction::Both),
    ("mean", Direction::Both),
    ("1", Direction::Warp),
    ("warp", Direction::Warp),
    ("wale", Direction::Warp),
    ("2", Direction::Weft),
    ("weft", Direction::Weft),
    ("filling", Direction::Weft),
    ("course", Direction::Weft),
];

/// Other words that sheets have.
const WORDS: [(&str, &str); 6] = [
    ("bendinglength", "C"),
    ("massperarea", "GSM"),
    ("thickness", "T"),
    ("weight", "W"),
    ("em", "EMT"),
    ("bendingrigidity", "B"),
];

/// `2HB-1` is the bending hysteresis along the warp.
fn heading(text: &str) -> Option<(&'static str, Direction)> {
    let text = bare(text);
    let keys = PROPERTIES.iter().map(|p| (p.key.to_lowercase(), p.key));
    let words = WORDS.iter().map(|(word, key)| (word.to_string(), *key));
    for (name, key) in keys.chain(words) {
        if let Some(rest) = text.strip_prefix(&name)
            && let Some((_, direction)) = SUFFIXES.iter().find(|(suffix, _)| *suffix == rest)
        {
            return Some((key, *direction));
        }
    }
    None
}

/// Puts a value where it belongs; a second value for the same place is a fault.
fn put(sheet: &mut Sheet, key: &'static str, direction: Direction, v: f64) {
    let [mut warp, mut weft] = sheet.get(key).unwrap_or([f64::NAN; 2]);
    if direction != Direction::Weft {
        warp = v;
    }
    if direction != Direction::Warp {
        weft = v;
    }
    sheet.set(key, [warp, weft]);
}

/// A property of which only one direction was given has it in both.
fn complete(sheet: &mut Sheet) {
    for p in &PROPERTIES {
        if let Some([warp, weft]) = sheet.get(p.key) {
            let or = |a: f64, b: f64| if a.is_nan() { b } else { a };
            sheet.set(p.key, [or(warp, weft), or(weft, warp)]);
        }
    }
}

struct Csv {
    /// Line number and cells.
    rows: Vec<(usize, Vec<String>)>,
    /// Sheets with semicolons have decimal commas.
    comma: bool,
}

fn split(text: &str) -> Csv {
    let first = text.lines().find(|l| !l.trim().is_empty()).unwrap_or_default();
    let separator = [';', '\t', ','].into_iter().find(|s| first.contains(*s)).unwrap_or(',');
    let mut rows = Vec::new();
    for (n, line) in text.lines().enumerate() {
        let line = line.trim_start_matches('\u{feff}');
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            continue;
        }
        let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
        for c in line.chars() {
            match c {
                '"' => quoted = !quoted,
                c if c == separator && !quoted => cells.push(std::mem::take(&mut cell)),
                c => cell.push(c),
            }
        }
        cells.push(cell);
        rows.push((n + 1, cells.into_iter().map(|c| c.trim().to_string()).collect()));
    }
    Csv { rows, comma: separator != ',' }
}

impl Csv {
    fn number(&self, line: usize, what: &str, cell: &str, faults: &mut Vec<String>) -> Option<f64> {
        let plain = if self.comma { cell.replace(',', ".") } else { cell.to_string() };
        match plain.parse::<f64>() {
            Ok(v) if v.is_finite() => Some(v),
            _ => {
                faults.push(format!("line {line}: {what}: `{cell}` is no number"));
                None
            }
        }
    }
}

pub(super) fn from_csv(text: &str, stem: &str) -> Found {
    let csv = split(text);
    let Some((_, head)) = csv.rows.first() else { return (Vec::new(), Vec::new()) };
    match head.first().map(|h| bare(h)).as_deref() {
        Some("property" | "parameter" | "test" | "value") => by_rows(&csv, stem),
        _ => by_columns(&csv, stem),
    }
}

/// A column for each property, a row for each cloth.
fn by_columns(csv: &Csv, stem: &str) -> Found {
    let (mut sheets, mut faults) = (Vec::new(), Vec::new());
    let head = &csv.rows[0].1;
    let names = head.iter().position(|h| matches!(bare(h).as_str(), "name" | "fabric" | "sample" | "cloth"));
    let columns: Vec<_> = head.iter().map(|h| heading(h)).collect();
    let known: Vec<&str> = PROPERTIES.iter().map(|p| p.key).collect();
    if columns.iter().all(Option::is_none) {
        return (sheets, vec![format!("line {}: no column is one of {}", csv.rows[0].0, known.join(", "))]);
    }
    for (line, cells) in &csv.rows[1..] {
        let name = names.and_then(|n| cells.get(n)).filter(|n| !n.is_empty()).cloned();
        let count = csv.rows.len() - 1;
        let plain = if count > 1 { format!("{stem}-{}", sheets.len() + 1) } else { stem.to_string() };
        let mut sheet = Sheet::new(name.unwrap_or(plain));
        for (column, cell) in columns.iter().zip(cells) {
            if let Some((key, direction)) = column.filter(|_| !cell.is_empty())
                && let Some(v) = csv.number(*line, key, cell, &mut faults)
            {
                put(&mut sheet, key, direction, v);
            }
        }
        complete(&mut sheet);
        sheets.push(sheet);
    }
    (sheets, faults)
}

/// A row for each property, columns for warp and weft or one value, and the unit.
fn by_rows(csv: &Csv, stem: &str) -> Found {
    let (mut sheet, mut faults) = (Sheet::new(stem), Vec::new());
    let head: Vec<String> = csv.rows[0].1.iter().map(|h| bare(h)).collect();
    for (line, cells) in &csv.rows[1..] {
        let label = cells[0].as_str();
        if matches!(bare(label).as_str(), "name" | "fabric" | "sample" | "cloth") {
            sheet.name = cells.iter().skip(1).find(|c| !c.is_empty()).cloned().unwrap_or(stem.into());
            continue;
        }
        // What the sheet has beyond what is used, as LC or SMD, is not read.
        let Some((key, of_row)) = heading(label) else { continue };
        for (column, cell) in head.iter().zip(cells).skip(1).filter(|(_, c)| !c.is_empty()) {
            let direction = match column.as_str() {
                "unit" | "units" => {
                    faults.extend(other_unit(*line, key, cell));
                    continue;
                }
                "value" | "mean" | "both" => of_row,
                name => match SUFFIXES.iter().find(|(suffix, _)| *suffix == name) {
                    Some((_, direction)) => *direction,
                    None => continue,
                },
            };
            if let Some(v) = csv.number(*line, key, cell, &mut faults) {
                put(&mut sheet, key, direction, v);
            }
        }
    }
    complete(&mut sheet);
    (vec![sheet], faults)
}

/// A unit that is not the usual one would be read as if it were.
fn other_unit(line: usize, key: &str, unit: &str) -> Option<String> {
    let plain = |text: &str| -> String {
        let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, '²' | '%' | '/'));
        kept.collect::<String>().replace('²', "2").replace("degree", "deg").to_lowercase()
    };
    let p = &PROPERTIES[property(key)?];
    let fits = plain(unit) == plain(p.unit) || p.unit.is_empty() && matches!(plain(unit).as_str(), "" | "1");
    let wants = if p.unit.is_empty() { "no unit" } else { p.unit };
    (!fits && unit != "-").then(|| format!("line {line}: {key} is in {unit}; sheets have it in {wants}"))
}

pub(super) fn from_toml(text: &str, stem: &str) -> Found {
    let table: toml::Table = match toml::from_str(text) {
        Ok(table) => table,
        Err(e) => {
            let start = e.span().map_or(0, |s| s.start.min(text.len()));
            let line = text.as_bytes()[..start].iter().filter(|b| **b == b'\n').count() + 1;
            return (Vec::new(), vec![format!("line {line}: {}", e.message())]);
        }
    };
    let (mut sheet, mut faults) = (Sheet::new(stem), Vec::new());
    for (label, value) in &table {
        if label == "name" {
            sheet.name = value.as_str().unwrap_or(stem).to_string();
            continue;
        }
        let Some((key, direction)) = heading(label) else {
            let known: Vec<&str> = PROPERTIES.iter().map(|p| p.key).collect();
            faults.push(format!("`{label}` is none of {}", known.join(", ")));
            continue;
        };
        let number = |v: &toml::Value| v.as_float().or_else(|| v.as_integer().map(|i| i as f64));
        let both = match value {
            toml::Value::Array(two) if two.len() == 2 => number(&two[0]).zip(number(&two[1])),
            toml::Value::Table(t) => t.get("warp").and_then(number).zip(t.get("weft").and_then(number)),
            one => number(one).map(|v| (v, v)),
        };
        match both.filter(|(a, b)| a.is_finite() && b.is_finite()) {
            Some((warp, weft)) => {
                if direction != Direction::Weft {
                    put(&mut sheet, key, Direction::Warp, warp);
                }
                if direction != Direction::Warp {
                    put(&mut sheet, key, Direction::Weft, weft);
                }
            }
            None => {
                faults.push(format!("`{label}` wants a number, or warp and weft: {label} = [0.12, 0.09]"))
            }
        }
    }
    complete(&mut sheet);
    (vec![sheet], faults)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_of_many_kinds_are_known() {
        assert_eq!(heading("2HB-1 (gf·cm/cm)"), Some(("2HB", Direction::Warp)));
        assert_eq!(heading("2HG5"), Some(("2HG5", Direction::Both)));
        assert_eq!(heading("G weft"), Some(("G", Direction::Weft)));
        assert_eq!(heading("Bending length 2 [cm]"), Some(("C", Direction::Weft)));
        assert_eq!(heading("SMD"), None);
    }

    #[test]
    fn the_three_layouts_say_the_same() {
        let columns = "name,B-1,B-2,G,MIU,LC\nblend,0.12,0.09,0.8,0.2,0.3\n";
        let rows =
            "property;warp;weft;unit\nname;blend\nB;0,12;0,09;gf.cm2/cm\nG;0,8;;gf/(cm·deg)\nMIU;0,2;0,2;-\n";
        let toml = "name = \"blend\"\nB = [0.12, 0.09]\nG = 0.8\nMIU = { warp = 0.2, weft = 0.2 }\n";
        let (a, fa) = from_csv(columns, "x");
        let (b, fb) = from_csv(rows, "x");
        let (c, fc) = from_toml(toml, "x");
        assert!(fa.is_empty() && fb.is_empty() && fc.is_empty(), "{fa:?} {fb:?} {fc:?}");
        assert_eq!(a[0].get("B"), Some([0.12, 0.09]));
        assert_eq!(a, b);
        assert_eq!(b, c);
    }

    #[test]
    fn a_wrong_unit_and_a_wrong_number_are_both_said() {
        let (_, faults) = from_csv("property,warp,weft,unit\nB,0.1,0.1,N m\nG,much,0.8,\n", "x");
        assert_eq!(faults.len(), 2, "{faults:?}");
        assert!(faults[0].contains("line 2") && faults[0].contains("gf·cm²/cm"));
        assert!(faults[1].contains("line 3: G: `much` is no number"));
    }
}
