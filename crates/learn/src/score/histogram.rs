//! Distances counted in bins: percentiles without keeping every number.

/// Bins of a tenth of a millimetre up to a metre.
pub(crate) struct Histogram {
    bins: Vec<u64>,
    count: u64,
    pub sum: f64,
    pub max: f64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { bins: vec![0; 10_001], count: 0, sum: 0.0, max: 0.0 }
    }
}

impl Histogram {
    pub fn add(&mut self, metres: f32) {
        let bin = ((metres * 10_000.0) as usize).min(self.bins.len() - 1);
        self.bins[bin] += 1;
        self.count += 1;
        self.sum += f64::from(metres);
        self.max = self.max.max(f64::from(metres));
    }

    pub fn merge(&mut self, other: &Self) {
        self.bins.iter_mut().zip(&other.bins).for_each(|(a, b)| *a += b);
        self.count += other.count;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    pub fn mean_cm(&self) -> f64 {
        100.0 * self.sum / self.count.max(1) as f64
    }

    pub fn percentile_cm(&self, share: f64) -> f64 {
        let target = (share * self.count as f64) as u64;
        let mut seen = 0;
        for (bin, count) in self.bins.iter().enumerate() {
            seen += count;
            if seen > target {
                return (bin as f64 + 0.5) / 100.0;
            }
        }
        0.0
    }
}
