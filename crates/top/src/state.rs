//! The state of the program, and how keys, answers and time change it. It does no IO: questions to ask are returned as
//! values.

use crate::clean::Clean;
use crate::keys::PressedKey;
use crate::source::{SourceQuestion, SourceTrouble};
use crate::views::{
    ExplainedText, FabricColumns, FoldPage, SessionId, SessionRow, SessionView, SessionsPage,
    SourceAnswer,
};

/// The views.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TopView {
    /// The list of all sessions.
    List,
    /// The fabric of one session.
    Session,
    /// One fold.
    Fold,
    /// The answer to a question about a text.
    Answer,
    /// The help.
    Help,
}

/// The order of the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListOrder {
    /// The newest change first.
    #[default]
    Changed,
    /// The fullest window first.
    Fill,
    /// The highest cost first.
    Cost,
    /// The most folds first.
    Folds,
}

impl ListOrder {
    fn next(self) -> Self {
        match self {
            Self::Changed => Self::Fill,
            Self::Fill => Self::Cost,
            Self::Cost => Self::Folds,
            Self::Folds => Self::Changed,
        }
    }

    /// The name, for the title.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Changed => "newest change first",
            Self::Fill => "fullest first",
            Self::Cost => "costliest first",
            Self::Folds => "most folds first",
        }
    }
}

/// The session that is open.
#[derive(Clone, Debug)]
pub(crate) struct OpenedSession {
    pub id: SessionId,
    /// The tick of the change at which it was last read; `None` before the first answer.
    pub tick: Option<u64>,
    pub detail: Option<SessionView>,
    pub fabric: Option<FabricColumns>,
    /// The index of the chosen fold; `None` means the newest one, also after further folds.
    pub at: Option<usize>,
    pub fold: Option<FoldPage>,
}

impl OpenedSession {
    fn new(id: SessionId) -> Self {
        Self { id, tick: None, detail: None, fabric: None, at: None, fold: None }
    }

    /// The index of the chosen fold; `None` if there is no fold.
    pub fn chosen(&self) -> Option<usize> {
        let last = self.fabric.as_ref()?.folds.len().checked_sub(1)?;
        Some(self.at.unwrap_or(last).min(last))
    }

    /// The number of the chosen fold in the session.
    pub fn number(&self) -> Option<u64> {
        self.fabric.as_ref()?.folds.get(self.chosen()?)?.number
    }

    /// The chosen fold; `None` until it is read.
    pub fn read(&self) -> Option<&FoldPage> {
        self.fold.as_ref().filter(|fold| fold.fold.number == self.number())
    }

    /// The questions that the chosen fold needs.
    fn wants(&self) -> Vec<SourceQuestion> {
        match (self.read(), self.number()) {
            (None, Some(number)) => vec![SourceQuestion::Fold(self.id.clone(), number)],
            _ => Vec::new(),
        }
    }
}

/// A question about a text.
#[derive(Clone, Debug)]
pub(crate) struct TextQuestion {
    pub id: SessionId,
    pub text: String,
    pub answer: Option<ExplainedText>,
}

/// The state of the program.
#[derive(Clone, Debug)]
pub struct TopState {
    pub(crate) place: Clean,
    pub(crate) color: bool,
    pub(crate) now: u64,
    /// The columns and rows of the screen.
    pub(crate) size: (u16, u16),
    /// The sessions; `None` before the first answer.
    pub(crate) rows: Option<Vec<SessionRow>>,
    /// Whether there are older sessions that are not listed.
    pub(crate) more: bool,
    pub(crate) sort: ListOrder,
    pub(crate) chosen: Option<SessionId>,
    /// The stack of views; the last one is shown.
    views: Vec<TopView>,
    pub(crate) opened: Option<OpenedSession>,
    pub(crate) question: Option<TextQuestion>,
    /// The question that is being typed, with its session; `None` if none is.
    pub(crate) prompt: Option<(SessionId, String)>,
    pub(crate) scroll: usize,
    pub(crate) trouble: Option<SourceTrouble>,
    /// The questions that failed. They are asked again once the source answers.
    failed: Vec<SourceQuestion>,
    /// How far keys can move in the current view.
    reach: KeyReach,
    is_done: bool,
}

/// How far keys can move in the current view. Only the code that draws it knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyReach {
    /// The number of lines of a page.
    pub page: usize,
    /// The largest scroll offset, in lines.
    pub furthest: usize,
}

impl TopState {
    /// The state before the first answer. `place` is the place of the source.
    #[must_use]
    pub fn new(place: &str, color: bool, now: u64) -> Self {
        Self {
            place: Clean::new(place),
            color,
            now,
            size: (80, 24),
            rows: None,
            more: false,
            sort: ListOrder::default(),
            chosen: None,
            views: vec![TopView::List],
            opened: None,
            question: None,
            prompt: None,
            scroll: 0,
            trouble: None,
            failed: Vec::new(),
            reach: KeyReach::default(),
            is_done: false,
        }
    }

    /// The view that is shown.
    #[must_use]
    pub fn view(&self) -> TopView {
        self.views.last().copied().unwrap_or(TopView::List)
    }

    /// Whether the user has quit.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.is_done
    }

    /// Sets the size of the screen.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        self.size = (columns, rows);
    }

    /// Sets how far keys can move in the current view.
    pub fn note_reached(&mut self, reach: KeyReach) {
        self.reach = reach;
        self.scroll = self.scroll.min(reach.furthest);
    }

    /// Sets the time, and returns what to ask.
    #[must_use]
    pub fn tick(&mut self, now: u64) -> Vec<SourceQuestion> {
        self.now = now;
        vec![SourceQuestion::Sessions]
    }

    /// Opens a session, and returns what to ask.
    #[must_use]
    pub fn open(&mut self, id: &SessionId) -> Vec<SourceQuestion> {
        self.opened = Some(OpenedSession::new(id.clone()));
        self.chosen = Some(id.clone());
        self.show(TopView::Session);
        vec![SourceQuestion::Detail(id.clone()), SourceQuestion::Fabric(id.clone())]
    }

    fn show(&mut self, view: TopView) {
        if self.view() != view {
            self.views.push(view);
        }
        self.scroll = 0;
    }

    /// Takes an answer, and returns what to ask next.
    #[must_use]
    pub fn note_answer(
        &mut self,
        ask: &SourceQuestion,
        answer: Result<SourceAnswer, SourceTrouble>,
    ) -> Vec<SourceQuestion> {
        let answered = match answer {
            Ok(answered) => answered,
            Err(trouble) => {
                self.trouble = Some(trouble);
                // The list is asked for at every tick anyway.
                if *ask != SourceQuestion::Sessions && !self.failed.contains(ask) {
                    self.failed.push(ask.clone());
                }
                return Vec::new();
            }
        };
        self.trouble = None;
        match (ask, answered) {
            (SourceQuestion::Sessions, SourceAnswer::Sessions(page)) => {
                return self.note_list(page);
            }
            (SourceQuestion::Explain(id, text), SourceAnswer::Explained(explained)) => {
                let same = |open: &&mut TextQuestion| open.id == *id && open.text == *text;
                if let Some(question) = self.question.as_mut().filter(same) {
                    question.answer = Some(*explained);
                }
            }
            (
                SourceQuestion::Detail(id)
                | SourceQuestion::Fabric(id)
                | SourceQuestion::Fold(id, _),
                answered,
            ) => {
                // The session may have been closed before its answer came.
                let Some(opened) = self.opened.as_mut().filter(|opened| opened.id == *id) else {
                    return Vec::new();
                };
                match answered {
                    SourceAnswer::Detail(detail) => {
                        opened.tick = Some(detail.row.tick);
                        opened.detail = Some(*detail);
                    }
                    SourceAnswer::Fabric(fabric) => {
                        opened.fabric = Some(*fabric);
                        return opened.wants();
                    }
                    SourceAnswer::Fold(fold) => opened.fold = Some(*fold),
                    _ => {}
                }
            }
            _ => {}
        }
        Vec::new()
    }

    /// Takes the list of sessions. If the open session has changed since it was read, it is asked for again, and so is
    /// what failed.
    fn note_list(&mut self, page: SessionsPage) -> Vec<SourceQuestion> {
        self.more = page.next.is_some();
        self.rows = Some(page.sessions);
        self.sort_rows();
        if self.chosen.is_none() {
            self.choose(0);
        }
        let mut asks = Vec::new();
        if let Some(opened) = &self.opened
            && let Some(row) = self.rows.iter().flatten().find(|row| row.id == opened.id)
            && opened.tick.is_some_and(|tick| tick != row.tick)
        {
            asks.push(SourceQuestion::Detail(opened.id.clone()));
            asks.push(SourceQuestion::Fabric(opened.id.clone()));
        }
        for ask in std::mem::take(&mut self.failed) {
            if self.is_wanted(&ask) && !asks.contains(&ask) {
                asks.push(ask);
            }
        }
        asks
    }

    /// Whether the answer to a question would still be shown.
    fn is_wanted(&self, ask: &SourceQuestion) -> bool {
        match ask {
            SourceQuestion::Sessions => true,
            SourceQuestion::Detail(id) | SourceQuestion::Fabric(id) => {
                self.opened.as_ref().is_some_and(|opened| opened.id == *id)
            }
            SourceQuestion::Fold(id, number) => self.opened.as_ref().is_some_and(|opened| {
                opened.id == *id && opened.number() == Some(*number) && opened.read().is_none()
            }),
            SourceQuestion::Explain(id, text) => self.question.as_ref().is_some_and(|question| {
                question.id == *id && question.text == *text && question.answer.is_none()
            }),
        }
    }

    fn sort_rows(&mut self) {
        let Some(rows) = &mut self.rows else { return };
        let cost = |row: &SessionRow| row.cost.map_or(0.0, |cost| cost.sent);
        rows.sort_by(|a, b| {
            let newest = b.tick.cmp(&a.tick);
            match self.sort {
                ListOrder::Changed => newest,
                ListOrder::Fill => b.filled().total_cmp(&a.filled()).then(newest),
                ListOrder::Cost => cost(b).total_cmp(&cost(a)).then(newest),
                ListOrder::Folds => b.folds.cmp(&a.folds).then(newest),
            }
        });
    }

    /// The index of the chosen session in the list.
    pub(crate) fn at(&self) -> usize {
        let rows = self.rows.as_deref().unwrap_or_default();
        rows.iter().position(|row| Some(&row.id) == self.chosen.as_ref()).unwrap_or(0)
    }

    /// The chosen session; `None` if there are no sessions.
    pub(crate) fn row(&self) -> Option<&SessionRow> {
        self.rows.as_ref()?.get(self.at())
    }

    fn choose(&mut self, at: usize) {
        let rows = self.rows.as_deref().unwrap_or_default();
        let row = rows.get(at.min(rows.len().saturating_sub(1)));
        self.chosen = row.map(|row| row.id.clone());
    }

    /// Handles a key, and returns what to ask.
    #[must_use]
    pub fn press(&mut self, key: PressedKey) -> Vec<SourceQuestion> {
        if key == PressedKey::Interrupt {
            self.is_done = true;
            return Vec::new();
        }
        if self.prompt.is_some() {
            return self.type_character(key);
        }
        match key {
            PressedKey::Esc | PressedKey::Char('q') => self.back(),
            PressedKey::Char('?') => self.show(TopView::Help),
            PressedKey::Char('/') => self.prompt = self.asked_of().map(|id| (id, String::new())),
            PressedKey::Char('o') if self.view() == TopView::List => {
                self.sort = self.sort.next();
                self.sort_rows();
            }
            PressedKey::Enter => return self.enter(),
            key => return self.move_by(key),
        }
        Vec::new()
    }

    fn back(&mut self) {
        self.scroll = 0;
        self.views.pop();
        self.is_done = self.views.is_empty();
        // Help and answers lie on top of the session, which stays open below them.
        if !self.views.contains(&TopView::Session) {
            self.opened = None;
        }
    }

    /// The session that a question is about: the open one, or else the chosen one.
    fn asked_of(&self) -> Option<SessionId> {
        let opened = self.opened.as_ref().map(|opened| &opened.id);
        opened.or(self.row().map(|row| &row.id)).cloned()
    }

    /// Handles a key while a question is being typed.
    fn type_character(&mut self, key: PressedKey) -> Vec<SourceQuestion> {
        let Some((id, text)) = &mut self.prompt else { return Vec::new() };
        match key {
            PressedKey::Char(c) => text.push(c),
            PressedKey::Backspace => {
                text.pop();
            }
            PressedKey::Esc => self.prompt = None,
            PressedKey::Enter if !text.trim().is_empty() => {
                let (id, text) = (id.clone(), text.trim().to_owned());
                self.prompt = None;
                self.question =
                    Some(TextQuestion { id: id.clone(), text: text.clone(), answer: None });
                self.show(TopView::Answer);
                return vec![SourceQuestion::Explain(id, text)];
            }
            PressedKey::Enter => self.prompt = None,
            _ => {}
        }
        Vec::new()
    }

    fn enter(&mut self) -> Vec<SourceQuestion> {
        match self.view() {
            TopView::List => match self.row().map(|row| row.id.clone()) {
                Some(id) => self.open(&id),
                None => Vec::new(),
            },
            TopView::Session => {
                let wanted = self.opened.as_ref().and_then(|opened| opened.number());
                if wanted.is_some() {
                    self.show(TopView::Fold);
                }
                Vec::new()
            }
            TopView::Fold | TopView::Answer | TopView::Help => Vec::new(),
        }
    }

    /// Moves the choice, or scrolls, depending on the view.
    fn move_by(&mut self, key: PressedKey) -> Vec<SourceQuestion> {
        let page = self.reach.page.max(1);
        let (at, last) = match self.view() {
            TopView::List => (self.at(), self.rows.as_ref().map_or(0, Vec::len).saturating_sub(1)),
            TopView::Session => {
                let folds = self.opened.as_ref().and_then(|opened| opened.fabric.as_ref());
                let folds = folds.map_or(0, |fabric| fabric.folds.len());
                let at = self.opened.as_ref().and_then(OpenedSession::chosen).unwrap_or(0);
                (at, folds.saturating_sub(1))
            }
            _ => (self.scroll, self.reach.furthest),
        };
        let to = match key {
            PressedKey::Up | PressedKey::Char('k') => at.saturating_sub(1),
            PressedKey::Down | PressedKey::Char('j') => at + 1,
            PressedKey::PageUp => at.saturating_sub(page),
            PressedKey::PageDown | PressedKey::Char(' ') => at + page,
            PressedKey::Home | PressedKey::Char('g') => 0,
            PressedKey::End | PressedKey::Char('G') => last,
            _ => return Vec::new(),
        };
        let to = to.min(last);
        match self.view() {
            TopView::List => self.choose(to),
            TopView::Session => {
                if let Some(opened) = &mut self.opened {
                    // A choice of the newest fold moves on with the folds that come.
                    opened.at = Some(to).filter(|to| *to < last);
                    return opened.wants();
                }
            }
            _ => self.scroll = to,
        }
        Vec::new()
    }
}
