//! WGSL with what is fixed for a model written out.
//!
//! Registers have no index: a tile of sums that lives in them is written out one by one. Between the lines
//! `//: repeat i 8` and `//: end` text is repeated with `$i` replaced by 0 … 7 (`$+i` by 4 … 11); the count may be
//! one of the constants. Everything else is plain WGSL.

/// Numbers that are constants in the text.
pub(super) struct Constants(pub Vec<(&'static str, u32)>);

impl Constants {
    fn count(&self, word: &str) -> usize {
        let named = self.0.iter().find(|(name, _)| *name == word).map(|(_, v)| *v as usize);
        named.or_else(|| word.parse().ok()).expect("a repeat has a number or the name of a constant")
    }

    /// The constants as WGSL, and then the parts with their repetitions written out.
    pub fn source(&self, parts: &[&str]) -> String {
        let mut out = String::new();
        for part in parts.iter().filter(|p| p.starts_with("enable")) {
            out += part;
        }
        for (name, value) in &self.0 {
            out += &format!("const {name} = {value}u;\n");
        }
        for part in parts.iter().filter(|p| !p.starts_with("enable")) {
            let lines: Vec<&str> = part.lines().collect();
            self.expand(&lines, &mut out);
        }
        out
    }

    fn expand(&self, lines: &[&str], out: &mut String) {
        let mut at = 0;
        while at < lines.len() {
            let Some(repeat) = lines[at].trim().strip_prefix("//: repeat ") else {
                out.push_str(lines[at]);
                out.push('\n');
                at += 1;
                continue;
            };
            let (name, count) = repeat.split_once(' ').expect("a repeat has a name and a count");
            let end = at + 1 + matching_end(&lines[at + 1..]);
            let mut body = String::new();
            self.expand(&lines[at + 1..end], &mut body);
            for i in 0..self.count(count) {
                let later = body.replace(&format!("$+{name}"), &(i + 4).to_string());
                out.push_str(&later.replace(&format!("${name}"), &i.to_string()));
            }
            at = end + 1;
        }
    }
}

fn matching_end(lines: &[&str]) -> usize {
    let mut depth = 0;
    for (i, line) in lines.iter().enumerate() {
        let line = line.trim();
        if line.starts_with("//: repeat") {
            depth += 1;
        } else if line == "//: end" {
            if depth == 0 {
                return i;
            }
            depth -= 1;
        }
    }
    unreachable!("every repeat ends")
}

#[cfg(test)]
mod tests {
    use super::Constants;

    #[test]
    fn repetitions_are_written_out_inside_each_other() {
        let text = "a\n//: repeat i N\n//: repeat k 2\nx$i_$k y$+k\n//: end\n//: end\nb\n";
        let out = Constants(vec![("N", 2)]).source(&[text]);
        assert_eq!(out, "const N = 2u;\na\nx0_0 y4\nx0_1 y5\nx1_0 y4\nx1_1 y5\nb\n");
    }
}
