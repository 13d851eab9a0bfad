//! What the viewer has to say.

/// One thing said.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// In full sentences, with the file it is about.
    pub text: String,
    /// Something could not be done.
    pub fault: bool,
    /// Seconds for which it is still shown.
    pub left_secs: f64,
}

/// The latest things said, oldest first.
#[derive(Clone, Debug, Default)]
pub struct Messages {
    list: Vec<Message>,
}

/// More would cover the picture.
const MOST: usize = 4;
/// A frame makes what is said no older than this, however long it took: a tab in the background draws none, and what was
/// said meanwhile is still to be read. Where a frame takes seconds, as on a software driver, messages still go.
const OLDER_SECS: f64 = 2.0;

impl Messages {
    /// Says that something was done.
    pub fn say(&mut self, text: impl Into<String>) {
        self.add(text.into(), false, 6.0);
    }

    /// Says that something could not be done.
    pub fn fault(&mut self, text: impl Into<String>) {
        self.add(text.into(), true, 20.0);
    }

    fn add(&mut self, text: String, fault: bool, left_secs: f64) {
        self.list.retain(|m| m.text != text);
        self.list.push(Message { text, fault, left_secs });
        if self.list.len() > MOST {
            self.list.remove(0);
        }
    }

    /// Lets the time of a frame go by: old messages go.
    pub fn advance(&mut self, secs: f64) {
        let secs = secs.min(OLDER_SECS);
        self.list.iter_mut().for_each(|m| m.left_secs -= secs);
        self.list.retain(|m| m.left_secs > 0.0);
    }

    /// Takes all away.
    pub fn clear(&mut self) {
        self.list.clear();
    }

    /// What is shown now.
    pub fn shown(&self) -> &[Message] {
        &self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_stay_longer_and_nothing_is_said_twice() {
        let mut said = Messages::default();
        said.say("opened walk.bvh");
        said.fault("broken.glb: no");
        said.fault("broken.glb: no");
        assert_eq!(said.shown().len(), 2);
        // Nothing was drawn for an hour.
        said.advance(3600.0);
        assert_eq!(said.shown().len(), 2);
        (0..70).for_each(|_| said.advance(0.1));
        assert_eq!(said.shown().iter().map(|m| m.fault).collect::<Vec<_>>(), [true]);
        (0..9).for_each(|k| said.say(format!("{k}")));
        assert_eq!(said.shown().len(), MOST);
    }
}
