//! What is shown, and how keys, answers and time change it. No IO: what has to be asked comes out as values.

use crate::clean::Clean;
use crate::keys::Key;
use crate::seen::{Answered, Detail, Explained, Fabric, Fold, Id, Page, Row};
use crate::source::{Ask, Trouble};

/// What is on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// All sessions.
    List,
    /// One session's fabric.
    Session,
    /// One fold.
    Fold,
    /// What became of a text.
    Answer,
    /// The keys.
    Help,
}

/// The order of the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// The newest change first.
    #[default]
    Changed,
    /// The fullest window first.
    Fill,
    /// The costliest first.
    Cost,
    /// The most folds first.
    Folds,
}

impl Sort {
    fn next(self) -> Self {
        match self {
            Self::Changed => Self::Fill,
            Self::Fill => Self::Cost,
            Self::Cost => Self::Folds,
            Self::Folds => Self::Changed,
        }
    }

    /// For the title.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Changed => "newest change first",
            Self::Fill => "fullest first",
            Self::Cost => "costliest first",
            Self::Folds => "most folds first",
        }
    }
}

/// A session that was opened.
#[derive(Clone, Debug)]
pub(crate) struct Opened {
    pub id: Id,
    /// The change that it was last read at.
    pub tick: Option<u64>,
    pub detail: Option<Detail>,
    pub fabric: Option<Fabric>,
    /// The chosen fold; none follows the newest.
    pub at: Option<usize>,
    pub fold: Option<Fold>,
}

impl Opened {
    fn new(id: Id) -> Self {
        Self { id, tick: None, detail: None, fabric: None, at: None, fold: None }
    }

    /// The place of the chosen fold.
    pub fn chosen(&self) -> Option<usize> {
        let last = self.fabric.as_ref()?.folds.len().checked_sub(1)?;
        Some(self.at.unwrap_or(last).min(last))
    }

    /// The number of the chosen fold.
    pub fn number(&self) -> Option<u64> {
        self.fabric.as_ref()?.folds.get(self.chosen()?)?.number
    }

    /// The chosen fold, once it was read.
    pub fn read(&self) -> Option<&Fold> {
        self.fold.as_ref().filter(|fold| fold.fold.number == self.number())
    }

    /// What has to be asked for the chosen fold.
    fn wants(&self) -> Vec<Ask> {
        match (self.read(), self.number()) {
            (None, Some(number)) => vec![Ask::Fold(self.id.clone(), number)],
            _ => Vec::new(),
        }
    }
}

/// A text that was asked for.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub id: Id,
    pub text: String,
    pub found: Option<Explained>,
}

/// What is shown.
#[derive(Clone, Debug)]
pub struct State {
    pub(crate) place: Clean,
    pub(crate) color: bool,
    pub(crate) now: u64,
    /// Columns and rows of the screen.
    pub(crate) size: (u16, u16),
    /// None before the first answer.
    pub(crate) rows: Option<Vec<Row>>,
    /// There are older sessions that are not listed.
    pub(crate) more: bool,
    pub(crate) sort: Sort,
    pub(crate) chosen: Option<Id>,
    /// The last one is on the screen.
    views: Vec<View>,
    pub(crate) opened: Option<Opened>,
    pub(crate) question: Option<Question>,
    /// What is being typed, and of which session.
    pub(crate) prompt: Option<(Id, String)>,
    pub(crate) scroll: usize,
    pub(crate) trouble: Option<Trouble>,
    /// As far as keys lead in what is on the screen.
    reach: Reach,
    is_done: bool,
}

/// As far as keys lead in what is on the screen: whoever draws it knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Lines of a page.
    pub page: usize,
    /// How far it can be scrolled.
    pub furthest: usize,
}

impl State {
    /// Before the first answer. `place` is where the sessions are.
    #[must_use]
    pub fn new(place: &str, color: bool, now: u64) -> Self {
        Self {
            place: Clean::new(place),
            color,
            now,
            size: (80, 24),
            rows: None,
            more: false,
            sort: Sort::default(),
            chosen: None,
            views: vec![View::List],
            opened: None,
            question: None,
            prompt: None,
            scroll: 0,
            trouble: None,
            reach: Reach::default(),
            is_done: false,
        }
    }

    /// What is on the screen.
    #[must_use]
    pub fn view(&self) -> View {
        self.views.last().copied().unwrap_or(View::List)
    }

    /// Whether somebody quit.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.is_done
    }

    /// The screen has this many columns and rows.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        self.size = (columns, rows);
    }

    /// What is on the screen reaches so far.
    pub fn reached(&mut self, reach: Reach) {
        self.reach = reach;
        self.scroll = self.scroll.min(reach.furthest);
    }

    /// Time goes on. Returns what to ask.
    #[must_use]
    pub fn tick(&mut self, now: u64) -> Vec<Ask> {
        self.now = now;
        vec![Ask::Sessions]
    }

    /// Opens a session. Returns what to ask.
    #[must_use]
    pub fn open(&mut self, id: &Id) -> Vec<Ask> {
        self.opened = Some(Opened::new(id.clone()));
        self.chosen = Some(id.clone());
        self.show(View::Session);
        vec![Ask::Detail(id.clone()), Ask::Fabric(id.clone())]
    }

    fn show(&mut self, view: View) {
        if self.view() != view {
            self.views.push(view);
        }
        self.scroll = 0;
    }

    /// An answer came. Returns what to ask next.
    #[must_use]
    pub fn answered(&mut self, ask: &Ask, answer: Result<Answered, Trouble>) -> Vec<Ask> {
        let answered = match answer {
            Ok(answered) => answered,
            Err(trouble) => {
                self.trouble = Some(trouble);
                return Vec::new();
            }
        };
        self.trouble = None;
        match (ask, answered) {
            (Ask::Sessions, Answered::Sessions(page)) => return self.listed(page),
            (Ask::Explain(id, text), Answered::Explained(found)) => {
                let same = |asked: &&mut Question| asked.id == *id && asked.text == *text;
                if let Some(question) = self.question.as_mut().filter(same) {
                    question.found = Some(*found);
                }
            }
            (Ask::Detail(id) | Ask::Fabric(id) | Ask::Fold(id, _), answered) => {
                // One that was left meanwhile is not asked about any more.
                let Some(opened) = self.opened.as_mut().filter(|opened| opened.id == *id) else {
                    return Vec::new();
                };
                match answered {
                    Answered::Detail(detail) => {
                        opened.tick = Some(detail.row.tick);
                        opened.detail = Some(*detail);
                    }
                    Answered::Fabric(fabric) => {
                        opened.fabric = Some(*fabric);
                        return opened.wants();
                    }
                    Answered::Fold(fold) => opened.fold = Some(*fold),
                    _ => {}
                }
            }
            _ => {}
        }
        Vec::new()
    }

    fn listed(&mut self, page: Page) -> Vec<Ask> {
        self.more = page.next.is_some();
        self.rows = Some(page.sessions);
        self.sort_rows();
        if self.chosen.is_none() {
            self.choose(0);
        }
        let Some(opened) = &self.opened else { return Vec::new() };
        let row = self.rows.iter().flatten().find(|row| row.id == opened.id);
        match (row, opened.tick) {
            (Some(row), Some(tick)) if row.tick != tick => {
                vec![Ask::Detail(opened.id.clone()), Ask::Fabric(opened.id.clone())]
            }
            _ => Vec::new(),
        }
    }

    fn sort_rows(&mut self) {
        let Some(rows) = &mut self.rows else { return };
        let cost = |row: &Row| row.cost.map_or(0.0, |cost| cost.sent);
        rows.sort_by(|a, b| {
            let newest = b.tick.cmp(&a.tick);
            match self.sort {
                Sort::Changed => newest,
                Sort::Fill => b.filled().total_cmp(&a.filled()).then(newest),
                Sort::Cost => cost(b).total_cmp(&cost(a)).then(newest),
                Sort::Folds => b.folds.cmp(&a.folds).then(newest),
            }
        });
    }

    /// The place of the chosen session in the list.
    pub(crate) fn at(&self) -> usize {
        let rows = self.rows.as_deref().unwrap_or_default();
        rows.iter().position(|row| Some(&row.id) == self.chosen.as_ref()).unwrap_or(0)
    }

    /// The chosen session.
    pub(crate) fn row(&self) -> Option<&Row> {
        self.rows.as_ref()?.get(self.at())
    }

    fn choose(&mut self, at: usize) {
        let rows = self.rows.as_deref().unwrap_or_default();
        let row = rows.get(at.min(rows.len().saturating_sub(1)));
        self.chosen = row.map(|row| row.id.clone());
    }

    /// A key was pressed. Returns what to ask.
    #[must_use]
    pub fn press(&mut self, key: Key) -> Vec<Ask> {
        if key == Key::Interrupt {
            self.is_done = true;
            return Vec::new();
        }
        if self.prompt.is_some() {
            return self.typed(key);
        }
        match key {
            Key::Esc | Key::Char('q') => self.back(),
            Key::Char('?') => self.show(View::Help),
            Key::Char('/') => self.prompt = self.asked_of().map(|id| (id, String::new())),
            Key::Char('o') if self.view() == View::List => {
                self.sort = self.sort.next();
                self.sort_rows();
            }
            Key::Enter => return self.enter(),
            key => return self.moved(key),
        }
        Vec::new()
    }

    fn back(&mut self) {
        self.scroll = 0;
        self.views.pop();
        self.is_done = self.views.is_empty();
        if !self.views.contains(&View::Session) {
            self.opened = None;
        }
    }

    /// The session that a question is about: the opened one, else the chosen one.
    fn asked_of(&self) -> Option<Id> {
        let opened = self.opened.as_ref().map(|opened| &opened.id);
        opened.or(self.row().map(|row| &row.id)).cloned()
    }

    fn typed(&mut self, key: Key) -> Vec<Ask> {
        let Some((id, text)) = &mut self.prompt else { return Vec::new() };
        match key {
            Key::Char(c) => text.push(c),
            Key::Backspace => {
                text.pop();
            }
            Key::Esc => self.prompt = None,
            Key::Enter if !text.trim().is_empty() => {
                let (id, text) = (id.clone(), text.trim().to_owned());
                self.prompt = None;
                self.question = Some(Question { id: id.clone(), text: text.clone(), found: None });
                self.show(View::Answer);
                return vec![Ask::Explain(id, text)];
            }
            Key::Enter => self.prompt = None,
            _ => {}
        }
        Vec::new()
    }

    fn enter(&mut self) -> Vec<Ask> {
        match self.view() {
            View::List => match self.row().map(|row| row.id.clone()) {
                Some(id) => self.open(&id),
                None => Vec::new(),
            },
            View::Session => {
                let wanted = self.opened.as_ref().and_then(|opened| opened.number());
                if wanted.is_some() {
                    self.show(View::Fold);
                }
                Vec::new()
            }
            View::Fold | View::Answer | View::Help => Vec::new(),
        }
    }

    fn moved(&mut self, key: Key) -> Vec<Ask> {
        let page = self.reach.page.max(1);
        let (at, last) = match self.view() {
            View::List => (self.at(), self.rows.as_ref().map_or(0, Vec::len).saturating_sub(1)),
            View::Session => {
                let folds = self.opened.as_ref().and_then(|opened| opened.fabric.as_ref());
                let folds = folds.map_or(0, |fabric| fabric.folds.len());
                let at = self.opened.as_ref().and_then(Opened::chosen).unwrap_or(0);
                (at, folds.saturating_sub(1))
            }
            _ => (self.scroll, self.reach.furthest),
        };
        let to = match key {
            Key::Up | Key::Char('k') => at.saturating_sub(1),
            Key::Down | Key::Char('j') => at + 1,
            Key::PageUp => at.saturating_sub(page),
            Key::PageDown | Key::Char(' ') => at + page,
            Key::Home | Key::Char('g') => 0,
            Key::End | Key::Char('G') => last,
            _ => return Vec::new(),
        };
        let to = to.min(last);
        match self.view() {
            View::List => self.choose(to),
            View::Session => {
                if let Some(opened) = &mut self.opened {
                    opened.at = Some(to).filter(|to| *to < last);
                    return opened.wants();
                }
            }
            _ => self.scroll = to,
        }
        Vec::new()
    }
}
